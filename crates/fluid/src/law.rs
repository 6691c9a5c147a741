//! The dynamics of windows, integrated.
//!
//! With w the window, d the base round-trip time, q the queuing delay and v the virtual delay
//! that have come back to the source, rtt = d + q and x = w / rtt:
//!
//! ```text
//! accumulation a = x·(q + v)                                    [Xia05 §IV-B.1, Low02 eq. 18]
//! excess       e = a − a*; with a contract x̂, a weight and a limit A
//!                = max(a·(1 − x̂/x)⁺ − a*, a − A), a* times the weight [Har02 algorithm 1]
//! p      dw/dt = −κ/rtt · e, at most a packet per rtt           [Xia05 eq. 6, Har02 §II]
//!        (no bound with `increase = "policy"`                   [Xia05 eq. 10])
//! mw     dw/dt = −κ·d/rtt · e/w, likewise                       [Xia05 eq. 5]
//! aiad   dw/dt = −κ/rtt · sgn(e)                                [Xia05 eq. 3]
//! vegas  dw/dt = packet/rtt · (1 if a < α, −1 if a > β, else 0) [Low02 eqs. 17-18]
//!        and with REM a = x·p̂, p̂ the price that marks tell     [Low02 eq. 33]
//! reno   dw/dt = (1 − m)·packet/rtt, m the share lost or marked [RFC 5681, Low02 §3.2]
//! cubic  see `cubic.rs`                                          [RFC 9438]
//! any    dw/dt −= w/2 · min(losses per second, 1/rtt)           at a loss, or a mark for one
//!        with `loss = "accumulation"` and P the part of round trips that lose something,
//!        min(w·losses per packet, 1):
//!        dw/dt = (1 − P)·dw/dt + P/rtt · min(rtt·dw/dt, −(x − x̂)⁺·(q + v)/2)
//!                                                            [accord-control, loss.rs]
//! ```
//!
//! Smooth laws are integrated by Heun's method. The laws of the sign have a surface, the
//! window at which a equals its target; the step moves towards it and stops on it, so that a
//! flow that has reached its surface stays there as Filippov's solution does, whatever the
//! step. Slow start grows a window by the factor 2 a round trip (or two round trips, where
//! the controller does so); the instant at which it ends is located within the step.
//!
//! Departures: the rate that a service is held by is the source's, where the controllers take the
//! rate at which data leaves, a round trip's mean; below one packet the window goes on shrinking (the controllers pace instead);
//! the way back to a contract (`recovery`) is not modelled. Repairs of losses, timeouts, whole packets, slow
//! starts that end one by one and the rounds of HyStart++ are, if flows are a background of packets.

use crate::cubic::{Cubic, Epoch, counted};
use accord_family::{FlowFacts, GivesUp, Reads, Repairs, WindowDynamics, WindowLaw};
use accord_scenario::Flow;
use accord_traffic::Demand;

/// A flow's service beside its weight, which multiplies its target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Service {
    /// The contracted rate in bytes per second.
    pub contract: f64,
    /// The accumulation limit in bytes.
    pub limit: f64,
}

impl Service {
    /// Neither contract nor limit.
    pub const FAIR: Service = Service {
        contract: 0.0,
        limit: f64::INFINITY,
    };

    /// Returns the excess over the target, for an accumulation `a` that waits `delay`.
    #[inline]
    pub fn excess(&self, a: f64, delay: f64, target: f64) -> f64 {
        // With a = x·delay this is a·(1 − x̂/x)⁺.
        let shared = (a - self.contract * delay).max(0.0);
        (shared - target).max(a - self.limit)
    }

    /// Whether a flow at rest is held by its limit, not by its target.
    pub fn limited(&self, rate: f64, delay: f64, target: f64) -> bool {
        rate * delay - self.limit > (rate - self.contract) * delay - target
    }
}

/// The part of a flow that does not change while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Control {
    /// A flow that has lost something neither halves again nor grows for a round trip, so that of a
    /// kind of flows a part is spared. If not, all halve by the mean at most once a round trip.
    pub spares: bool,
    /// The dynamics of its controller's family.
    pub dynamics: WindowDynamics,
    pub service: Service,
    pub packet: f64,
    /// The least time after which the timer sends again, in seconds.
    pub min_rto: f64,
}

impl Control {
    /// Returns the flow's controller as the fluid has it, or the reason why there is no law for it.
    pub fn of(flow: &Flow) -> Result<Control, &'static str> {
        let values = &flow.controller;
        let facts = FlowFacts {
            packet: flow.packet,
            weight: flow.service.weight,
        };
        let dynamics = match flow.demand {
            // Connections that come and go are a load, which no window bounds.
            Demand::Web(_) => WindowDynamics::UNRESPONSIVE,
            _ => values.family().window_dynamics()?(values, &facts),
        };
        let limit = flow.service.limit.map(|limit| limit.as_f64());
        Ok(Control {
            spares: false,
            dynamics,
            service: Service {
                contract: flow.service.contract.as_bps_f64() / 8.0,
                limit: limit.unwrap_or(f64::INFINITY),
            },
            packet: flow.packet.as_f64(),
            min_rto: flow.min_rto.as_secs_f64(),
        })
    }

    /// What stands for a flow of packets, which is not integrated.
    pub fn packets(flow: &Flow) -> Control {
        Control {
            spares: false,
            dynamics: WindowDynamics::UNRESPONSIVE,
            service: Service::FAIR,
            packet: flow.packet.as_f64(),
            min_rto: 0.0,
        }
    }

    /// Whether Heun's method applies.
    pub fn is_smooth(&self) -> bool {
        !matches!(
            self.dynamics.law,
            WindowLaw::Additive { .. } | WindowLaw::Vegas { .. }
        )
    }
}

/// The signals that a source sees at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Queuing delay, that of acknowledgements included where it matters.
    pub queue: f64,
    /// The price beside the queue as it knows it, in seconds: the virtual delay, less the queuing
    /// delay that does not show in what is measured; or the price that marks tell.
    pub price: f64,
    /// Fraction of what was sent by which it backs off.
    pub loss: f64,
}

/// The window of a flow and what it remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub window: f64,
    pub slow_start: bool,
    /// The base round-trip time as it knows it.
    pub min_rtt: f64,
    /// What losses have done to the flows of its kind, see [`Control::spares`].
    pub trouble: Trouble,
    /// What CUBIC knows of its last loss.
    pub epoch: Epoch,
}

/// What losses have done to flows of a kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trouble {
    /// S: the part that sends again what was lost.
    pub repairing: f64,
    /// T: the part that waits for the timer, or is in slow start after it.
    pub timed_out: f64,
    /// What the mean window lacks because of these.
    pub missing: f64,
    /// The part of packets that is lost, in the mean of about a round trip.
    pub loss: f64,
    /// The losses of this round trip, and its time so far; and the part that the one before lost.
    round: (f64, f64),
    before: f64,
    /// Those that are still in their first slow start.
    starting: Starting,
}

impl Trouble {
    /// The part `loss` is lost in a step of `h`.
    fn hear(&mut self, loss: f64, rtt: f64, h: f64) {
        self.loss += (loss - self.loss) * -(-h / rtt).exp_m1();
        let (lost, time) = &mut self.round;
        *lost += loss * h;
        *time += h;
        if *time >= rtt {
            self.before = *lost / *time;
            self.round = (0.0, 0.0);
        }
    }
}

/// The flows of a kind that are in their first slow start, if not all are.
#[derive(Clone, Copy, Debug, Default)]
struct Starting {
    /// s: the part of the flows; 0 before the first step.
    part: f64,
    /// v: the window of these, and the mean window of the others.
    window: f64,
    others: f64,
    rounds: Rounds,
}

/// The rounds of HyStart++ [RFC 9406 §4.2]. A round is a round trip, and the smallest round-trip time in it
/// is that at its start.
#[derive(Clone, Copy, Debug, Default)]
struct Rounds {
    /// The time since the start of the round.
    elapsed: f64,
    /// The round-trip time at the start of the round before; 0 if there was none.
    last: f64,
    /// Conservative slow start: the round-trip time that began it, and its rounds.
    careful: Option<(f64, u32)>,
}

impl Rounds {
    /// Returns whether slow start ends in a step of `h`, at the end of which the round-trip time is `rtt`.
    /// Rounds of few samples are not judged.
    fn passes(&mut self, rtt: f64, judged: bool, h: f64) -> bool {
        self.elapsed += h;
        if self.elapsed < rtt {
            return false;
        }
        self.elapsed = 0.0;
        let least = (self.last / 8.0).clamp(4e-3, 16e-3);
        let risen = judged && self.last > 0.0 && rtt - self.last >= least;
        self.last = rtt;
        match &mut self.careful {
            Some((baseline, _)) if rtt < *baseline => self.careful = None,
            Some((_, rounds)) => *rounds += 1,
            None if risen => self.careful = Some((rtt, 0)),
            None => {}
        }
        self.careful.is_some_and(|(_, rounds)| rounds >= CAREFUL)
    }
}

/// The part of flows that counts as none.
const LAST: f64 = 1e-3;

/// The samples of a round that HyStart++ takes, the e-folds per round trip of conservative slow start, which
/// grows by a quarter of what is acknowledged, and its rounds [RFC 9406 §4.3].
const SAMPLES: f64 = 8.0;
const QUARTER: f64 = 0.223_143_551_314_209_76;
const CAREFUL: u32 = 5;

/// How flows repair losses.
struct Repair {
    /// D/rtt: the round trips that it takes.
    round_trips: f64,
    /// Q: the part that ends by the timer.
    gives_out: f64,
    /// τ: the time that the timer and slow start take then.
    absence: f64,
}

impl Repair {
    /// Returns what a flow with the window `w` lacks of it in the mean of its absence: slow start brings it
    /// back to half of the window.
    fn misses(&self, w: f64, rtt: f64) -> f64 {
        w - (0.5 * w * rtt / self.absence).min(w)
    }
}

/// Returns the probability that more than `m` events of Poisson's happen where `n` are expected.
fn more_than(m: f64, n: f64) -> f64 {
    let (mut term, mut sum) = ((-n).exp(), 0.0);
    for i in 0..=(m.min(1e3) as u32) {
        sum += term;
        term *= n / f64::from(i + 1);
    }
    (1.0 - sum).max(0.0)
}

/// E[w²] over E[w]².
const SPREAD: f64 = 7.0 / 6.0;

impl Control {
    /// Accumulation as the controller takes it, per byte of window: a / w.
    #[inline]
    fn share(&self, base_rtt: f64, min_rtt: f64, seen: &Seen) -> f64 {
        let inverse = 1.0 / (base_rtt + seen.queue);
        match self.dynamics.reads {
            Reads::RoundTrip => (1.0 - min_rtt * inverse).max(0.0),
            Reads::Delay => (seen.queue + seen.price) * inverse,
            Reads::Marks { .. } => seen.price * inverse,
        }
    }

    /// Returns the same for slow start, which ignores marks.
    fn first_share(&self, base_rtt: f64, min_rtt: f64, seen: &Seen) -> f64 {
        let reads = match self.dynamics.reads {
            Reads::Marks { .. } => Reads::RoundTrip,
            reads => reads,
        };
        let dynamics = WindowDynamics {
            reads,
            ..self.dynamics
        };
        Control { dynamics, ..*self }.share(base_rtt, min_rtt, seen)
    }

    /// Accumulation as the controller takes it; no number without a window.
    pub fn estimate(&self, base_rtt: f64, window: f64, min_rtt: f64, seen: &Seen) -> f64 {
        if self.dynamics.law == WindowLaw::Unresponsive {
            return f64::NAN;
        }
        window * self.share(base_rtt, min_rtt, seen)
    }

    /// dw/dt of a smooth law outside slow start.
    #[inline]
    fn slope(&self, w: f64, base_rtt: f64, seen: &Seen) -> f64 {
        let inverse = 1.0 / (base_rtt + seen.queue);
        let delay = seen.queue + seen.price;
        let excess = |target| self.service.excess(w * delay * inverse, delay, target);
        let step = match self.dynamics.law {
            WindowLaw::Proportional { gain, target } => {
                (-gain * excess(target)).min(self.dynamics.most)
            }
            WindowLaw::MoWalrand { gain, target } => {
                (-gain * base_rtt * excess(target) / w).min(self.dynamics.most)
            }
            WindowLaw::Reno => self.packet * (1.0 - seen.loss),
            _ => 0.0,
        };
        if seen.loss <= 0.0 {
            return step * inverse;
        }
        match self.own(w, base_rtt, seen) {
            Some(own) => {
                let lossy = (w * seen.loss / self.packet).min(1.0);
                ((1.0 - lossy) * step + lossy * step.min(-0.5 * own)) * inverse
            }
            None => {
                let halve = 0.5 * w * (w * inverse * seen.loss / self.packet).min(inverse);
                step * inverse - halve
            }
        }
    }

    /// Returns the part of the accumulation of a window `w` that carries no contract, if that is what
    /// it halves at this loss.
    fn own(&self, w: f64, base_rtt: f64, seen: &Seen) -> Option<f64> {
        match self.dynamics.gives_up {
            GivesUp::Accumulation { bound } if seen.loss <= bound => {
                let rate = w / (base_rtt + seen.queue);
                Some((rate - self.service.contract).max(0.0) * (seen.queue + seen.price))
            }
            _ => None,
        }
    }

    /// Moves the window over a step of `h`, with what is seen at both its ends.
    #[inline]
    pub fn advance(&self, state: &mut Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) {
        if matches!(self.dynamics.law, WindowLaw::Unresponsive) {
            state.window = self.dynamics.initial;
            return;
        }
        if self.spares {
            let rtt = base_rtt + to.queue;
            state.trouble.hear(to.loss, rtt, h);
        }
        let mut left = h;
        let mut from = *from;
        if state.slow_start && self.spares {
            left = self.begin(state, base_rtt, &from, to, h);
            if left <= 0.0 {
                return;
            }
        } else if state.slow_start {
            let rises = self.rises(state, base_rtt, &from, to, h);
            let used =
                self.slow_start(state, base_rtt, &from, to, h, (self.dynamics.growth, rises));
            left = h - used;
            if left <= 0.0 {
                return;
            }
            let part = used / h;
            from.queue += part * (to.queue - from.queue);
            from.price += part * (to.price - from.price);
        }
        state.window = match self.spares {
            true => self.spare(state, base_rtt, &from, to, left),
            false => self.moved(state, base_rtt, &from, to, left),
        };
    }

    fn cubic(&self) -> Option<Cubic> {
        match self.dynamics.law {
            WindowLaw::Cubic { c, beta, .. } => Some(Cubic { c, beta }),
            _ => None,
        }
    }

    /// Returns the window after `h` outside of slow start.
    #[inline]
    fn moved(&self, state: &mut Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> f64 {
        let w = state.window;
        if let Some(cubic) = self.cubic() {
            let rtt = base_rtt + to.queue;
            let losses = (w / rtt * to.loss / self.packet).min(1.0 / rtt);
            return self
                .floor(self.packet * state.epoch.advance(&cubic, w / self.packet, rtt, losses, h));
        }
        let next = if self.is_smooth() {
            let first = self.slope(w, base_rtt, from);
            let second = self.slope(self.floor(w + h * first), base_rtt, to);
            w + 0.5 * h * (first + second)
        } else {
            self.towards_surface(state, base_rtt, from, to, h)
        };
        self.floor(next)
    }

    /// Returns the mean window after `h` outside of slow start, where flows are spared.
    ///
    /// Windows w of a kind differ, and the large ones lose more: at random losses E[w²] is 7/6 of E[w]²
    /// where they rest, by dE[w²]/dt = 0 and the third moment of a gamma distribution. A free flow
    /// loses λ times per second, and is spared from then on for D, in which it sends again what it
    /// lost. With probability Q that ends by the timer and in slow start, which take τ:
    ///
    /// ```text
    /// dS/dt = (1 − S − T)·λ·(1 − Q)·D/rtt − S/rtt
    /// dT/dt = (1 − S − T)·λ·Q − T/τ
    /// dw/dt = (1 − S − T)·(dw/dt without losses − λ·w/2)
    /// ```
    ///
    /// w is the window of those that have not timed out. Where all rests, S is of no meaning for it.
    /// Senders have whole packets on the way, and halve to whole packets: with w the packets on the
    /// way, Reno's window is half a packet larger in the mean, and halving takes w/2 + 3/4.
    fn spare(&self, state: &mut Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> f64 {
        let mut trouble = state.trouble;
        let w = state.window + trouble.missing;
        let rtt = base_rtt + to.queue;
        let losses = SPREAD * w / rtt * to.loss / self.packet;
        let repair = self.repair(w, rtt, trouble.loss, trouble.before);
        // S and T at the end of the step, and S in its mean, as if the rates stayed what they are.
        let there = 1.0 - trouble.timed_out;
        let begun = losses * (1.0 - repair.gives_out) * repair.round_trips;
        let pace = begun + 1.0 / rtt;
        let (rest, moved) = (there * begun / pace, -(-pace * h).exp_m1());
        let mean = rest + (trouble.repairing - rest) * moved / (pace * h);
        let free = (there - mean).max(0.0);
        trouble.repairing += moved * (rest - trouble.repairing);
        let left = (-h / repair.absence).exp();
        let came = free * losses * repair.gives_out * repair.absence;
        trouble.timed_out = (trouble.timed_out * left + came * (1.0 - left)).clamp(0.0, 0.99);

        let part = free / there;
        let w = if let WindowLaw::Cubic {
            c,
            beta,
            fast_convergence,
            ..
        } = self.dynamics.law
        {
            // A repair is no part of an epoch [RFC 9438 §4.2].
            let losses = losses / SPREAD * counted(fast_convergence);
            let (packets, h) = (w / self.packet, part * h);
            let moved = state
                .epoch
                .advance(&Cubic { c, beta }, packets, rtt, losses, h);
            self.floor(self.packet * moved)
        } else {
            let lossless = |seen: &Seen| Seen { loss: 0.0, ..*seen };
            let mut active = Window {
                window: w,
                ..*state
            };
            let grown = self.moved(&mut active, base_rtt, &lossless(from), &lossless(to), h);
            let gone = 0.5 * self.own(w, base_rtt, to).unwrap_or(w);
            let (kept, rounding) = match self.dynamics.law {
                WindowLaw::Reno => (w / (w + 0.5 * self.packet), 0.75 * self.packet),
                _ => (1.0, 0.0),
            };
            let moves = kept * (grown - w) - (gone + rounding) * losses * h;
            self.floor(w + part * moves)
        };
        trouble.missing = trouble.timed_out * repair.misses(w, rtt);
        state.trouble = trouble;
        w - trouble.missing
    }

    /// Moves flows that are spared while some of them are in slow start. Returns how much of the step is
    /// left when all have ended it together.
    ///
    /// A flow in slow start leaves it by its first loss, and not by those of others: of a part s of the
    /// flows with the window v the part v·p/rtt leaves per second, with half of v. It joins those that
    /// have left before, whose means are of more flows then:
    ///
    /// ```text
    /// ds/dt = −s·v·p/rtt,  (1 − s)·dw/dt = (1 − s)·(dw/dt of `spare`) + (v/2 − w)·s·v·p/rtt
    /// ```
    ///
    /// What a flow loses in the round trip of its first loss is v·p, by p as it is now: the queue stays
    /// full until those that lose have told it. Whether it loses that again goes by the round trip before,
    /// since the queue has been told then.
    fn begin(&self, state: &mut Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> f64 {
        let mut start = state.trouble.starting;
        if start.part <= 0.0 {
            start = Starting {
                part: 1.0,
                window: state.window,
                ..start
            };
        }
        if start.part < 1.0 {
            state.window = start.others;
            start.others = self.spare(state, base_rtt, from, to, h);
        }
        let lossless = |seen: &Seen| Seen { loss: 0.0, ..*seen };
        let mut first = Window {
            window: start.window,
            ..*state
        };
        let rtt = base_rtt + to.queue;
        let hystart = matches!(self.dynamics.law, WindowLaw::Cubic { hystart: true, .. });
        let ends = hystart
            && start
                .rounds
                .passes(rtt, start.window >= SAMPLES * self.packet, h);
        let growth = match start.rounds.careful {
            Some(_) => QUARTER,
            None => self.dynamics.growth,
        };
        let seen = (&lossless(from), &lossless(to));
        let used = self.slow_start(&mut first, base_rtt, seen.0, seen.1, h, (growth, ends));
        let v = first.window;
        let losses = match self.own(v, base_rtt, to) {
            Some(_) => 0.0,
            None => v / rtt * to.loss / self.packet,
        };
        let leave = match first.slow_start {
            true => -(-losses * h).exp_m1(),
            false => 1.0,
        };
        if leave > 0.0 {
            let joins = start.part * leave;
            let weight = joins / (1.0 - start.part + joins);
            let mut trouble = state.trouble;
            let repair = self.repair(v, rtt, to.loss, trouble.before);
            let (kept, repairing, timed_out, epoch) = match (first.slow_start, self.cubic()) {
                (false, _) => (v, 0.0, 0.0, first.epoch),
                (true, cubic) => {
                    let beta = cubic.map_or(0.5, |cubic| cubic.beta);
                    let packets = v / self.packet;
                    let stays = 1.0 - repair.gives_out;
                    let repairing = stays * repair.round_trips;
                    let epoch = Epoch::after_loss(packets, beta);
                    (beta * v, repairing, repair.gives_out, epoch)
                }
            };
            state.epoch.mix(&epoch, weight);
            trouble.repairing += weight * (repairing - trouble.repairing);
            trouble.timed_out += weight * (timed_out - trouble.timed_out);
            trouble.timed_out = trouble.timed_out.min(0.99);
            let w = start.others + trouble.missing;
            let w = w + weight * (kept - w);
            trouble.missing = trouble.timed_out * repair.misses(w, rtt);
            start.others = w - trouble.missing;
            state.trouble = trouble;
            start.part -= joins;
        }
        start.window = v;
        if start.part < LAST {
            state.slow_start = false;
            state.trouble.starting = Starting::default();
            state.window = start.others;
            return if used < h { h - used } else { 0.0 };
        }
        state.window = start.others + start.part * (v - start.others);
        state.trouble.starting = start;
        0.0
    }

    /// Returns how flows repair the losses of a window `w`, of which the part `p` is lost and the part
    /// `again` of what is sent again.
    fn repair(&self, w: f64, rtt: f64, p: f64, again: f64) -> Repair {
        // A window that loses something loses 1 + n packets, n of which are Poisson's.
        let n = w * p / self.packet;
        let rto = rtt.max(self.min_rto);
        let lost_again = 1.0 - (1.0 - again).max(0.0).powf(1.0 + n);
        let (round_trips, late, lost_again) = match self.dynamics.repairs {
            Repairs::All => (1.0, 0.0, 0.0),
            Repairs::Once => (1.0, 0.0, lost_again),
            Repairs::OneByOne { impatient: false } => (1.0 + n, 0.0, lost_again),
            Repairs::OneByOne { impatient: true } => {
                let most = rto / rtt;
                (1.0 + n.min(most), more_than(most, n), lost_again)
            }
        };
        let slow_start = (0.5 * w / self.packet).max(1.0).log2() * rtt;
        Repair {
            round_trips,
            gives_out: 1.0 - (1.0 - late) * (1.0 - lost_again),
            absence: rto / (1.0 - again).max(0.1) + slow_start,
        }
    }

    /// Far below any window that a packet makes.
    #[inline]
    fn floor(&self, w: f64) -> f64 {
        w.max(1e-3 * self.packet)
    }

    /// Returns whether the round-trip time rises by as much per round trip as HyStart++ takes for the end of
    /// slow start [RFC 9406 §4.2].
    fn rises(&self, s: &Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> bool {
        let WindowLaw::Cubic { hystart: true, .. } = self.dynamics.law else {
            return false;
        };
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let least = (0.125 * s.min_rtt).clamp(4e-3, 16e-3);
        (to.queue - from.queue) * rtt > least * h
    }

    /// Grows the window; gives how much of the step passed until slow start ended.
    /// It is over in any case if `ends`.
    fn slow_start(
        &self,
        s: &mut Window,
        base_rtt: f64,
        from: &Seen,
        to: &Seen,
        h: f64,
        (growth, ends): (f64, bool),
    ) -> f64 {
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let grown = s.window * (growth * h / rtt).exp();
        // Vegas heeds its service after slow start only.
        let service = match self.dynamics.reads {
            Reads::Delay => self.service,
            _ => Service::FAIR,
        };
        let excess = |window: f64, seen: &Seen| {
            let a = window * self.first_share(base_rtt, s.min_rtt, seen);
            service.excess(a, seen.queue + seen.price, self.dynamics.leave)
        };
        let (before, after) = (excess(s.window, from), excess(grown, to));
        let lost = to.loss > 0.0 && self.own(grown, base_rtt, to).is_none();
        if after <= 0.0 && !lost && !ends {
            s.window = grown;
            return h;
        }
        s.slow_start = false;
        let part = if lost || ends || after <= before {
            0.0
        } else {
            (-before / (after - before)).clamp(0.0, 1.0)
        };
        s.window *= self.dynamics.keep * (growth * part * h / rtt).exp();
        if let Some(cubic) = self.cubic() {
            s.epoch = Epoch::begin(&cubic, s.window / self.packet);
        }
        part * h
    }

    /// The laws of the sign: by at most their step towards the window at which a meets its
    /// target (its excess is nothing), and not across it.
    #[inline]
    fn towards_surface(&self, s: &Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> f64 {
        let share = self.share(base_rtt, s.min_rtt, to);
        let (gain, low, high) = match self.dynamics.law {
            WindowLaw::Additive { gain, target } => (gain, target, target),
            WindowLaw::Vegas {
                low,
                high,
                per_second,
            } => {
                let unit = if per_second { s.min_rtt } else { 1.0 };
                (self.packet, low * unit, high * unit)
            }
            _ => return s.window,
        };
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let most = gain * h / rtt;
        // Where the excess is nothing: the rate x̂ + a*/delay or A/delay, times the round trip.
        let contracted = self.service.contract * (base_rtt + to.queue);
        let surface = |target: f64| (contracted + target / share).min(self.service.limit / share);
        let (low, high) = (surface(low), surface(high));
        let moved = if s.window < low {
            (s.window + most).min(low)
        } else if s.window > high {
            (s.window - most).max(high)
        } else {
            s.window
        };
        if to.loss > 0.0 {
            let rate = s.window / rtt * to.loss / self.packet;
            let gone = self.own(s.window, base_rtt, to).unwrap_or(s.window);
            moved - 0.5 * gone * rate.min(1.0 / rtt) * h
        } else {
            moved
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_family::{BaseRtt, Reads};

    const PACKET: f64 = 1000.0;

    fn newreno() -> Control {
        Control {
            spares: true,
            dynamics: WindowDynamics {
                law: WindowLaw::Reno,
                reads: Reads::RoundTrip,
                base: BaseRtt::Smallest,
                initial: 10.0 * PACKET,
                repairs: Repairs::OneByOne { impatient: true },
                ..WindowDynamics::UNRESPONSIVE
            },
            service: Service::FAIR,
            packet: PACKET,
            min_rto: 0.2,
        }
    }

    fn after(seconds: f64, loss: f64, window: &mut Window) {
        let seen = Seen {
            loss,
            ..Seen::default()
        };
        for _ in 0..(seconds / 1e-3) as usize {
            newreno().advance(window, 0.1, &seen, &seen, 1e-3);
        }
    }

    fn window(packets: f64) -> Window {
        Window {
            window: packets * PACKET,
            slow_start: false,
            min_rtt: 0.1,
            trouble: Trouble::default(),
            epoch: Epoch::default(),
        }
    }

    /// Windows at random losses, in packets that arrive per round trip of 60 ms, over 1.3095/√p: as ten
    /// flows of packets have them, without SACK, to 3 % and 2 % (docs/src/validation.md).
    #[test]
    fn windows_rest_at_those_of_packets() {
        for (loss, packets) in [(1e-4, 0.992), (1e-3, 0.999), (1e-2, 0.909), (3e-2, 0.815)] {
            let seen = Seen {
                loss,
                ..Seen::default()
            };
            let mut w = window(30.0);
            for _ in 0..600_000 {
                newreno().advance(&mut w, 0.06, &seen, &seen, 1e-3);
            }
            let found = (1.0 - loss) * w.window / PACKET / (1.3095 / f64::sqrt(loss));
            assert!(
                (found / packets - 1.0).abs() < 0.03,
                "{found:.3}, not {packets} at {loss}"
            );
        }
    }

    /// CUBIC's windows at random losses, as packets have them to 5 % (docs/src/validation.md), in both
    /// regions.
    #[test]
    fn cubics_windows_rest_at_those_of_packets() {
        for (loss, rtt, packets) in [
            (1e-3, 0.03, 44.9),
            (1e-4, 0.03, 140.0),
            (1e-4, 0.1, 209.3),
            (3e-5, 0.1, 524.6),
        ] {
            let mut control = newreno();
            control.dynamics.law = WindowLaw::Cubic {
                c: 0.4,
                beta: 0.7,
                fast_convergence: true,
                hystart: true,
            };
            control.dynamics.repairs = Repairs::Once;
            let seen = Seen {
                loss,
                ..Seen::default()
            };
            let mut w = Window {
                slow_start: true,
                ..window(10.0)
            };
            for _ in 0..600_000 {
                control.advance(&mut w, rtt, &seen, &seen, 1e-3);
            }
            let found = (1.0 - loss) * w.window / PACKET / packets;
            assert!((found - 1.0).abs() < 0.03, "{found:.3} at {loss}, {rtt}");
        }
    }

    /// A flow of a kind leaves slow start by its own loss. With a = p/ln 2 of a window in packets the part
    /// exp(−a·(v − v₀)) has lost nothing by the window v, and those that have lost something have halved theirs:
    /// v·exp(−a·x) + ½·∫(y + v₀)·a·exp(−a·y) dy up to x = v − v₀, five round trips after v₀ = 10.
    #[test]
    fn flows_leave_slow_start_one_by_one() {
        let mut w = Window {
            slow_start: true,
            ..window(10.0)
        };
        after(0.5, 1e-3, &mut w);
        let found = w.window / PACKET;
        assert!(
            w.slow_start && (found / 232.3 - 1.0).abs() < 0.02,
            "{found}"
        );
        // Of those that lose a half of everything none is left in it.
        after(0.1, 0.5, &mut w);
        assert!(!w.slow_start);
    }

    /// HyStart++ where the round-trip time rises by a fifth of the time: a round without a round before, one
    /// that shows the rise, and five by a quarter. A round ends with the first packet of it, whose round trip
    /// is 1/0.8 of the one at its start, so that it has ∫dt/rtt = ln(1/0.8)/0.2 round trips.
    #[test]
    fn slow_start_ends_five_careful_rounds_after_a_rise() {
        let mut control = newreno();
        control.dynamics.law = WindowLaw::Cubic {
            c: 0.4,
            beta: 0.7,
            fast_convergence: true,
            hystart: true,
        };
        let mut w = Window {
            slow_start: true,
            ..window(10.0)
        };
        let (mut time, h) = (0.0, 1e-3);
        while w.slow_start && time < 10.0 {
            let seen = |t: f64| Seen {
                queue: 0.2 * t,
                ..Seen::default()
            };
            control.advance(&mut w, 0.1, &seen(time), &seen(time + h), h);
            time += h;
        }
        let round = -f64::ln(0.8) / 0.2;
        let grown = 2.0 * f64::ln(2.0) + 5.0 * f64::ln(1.25);
        let (found, expected) = (w.window / PACKET, 10.0 * f64::exp(round * grown));
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{found}, not {expected}"
        );
    }

    /// Poisson's distribution, by its table.
    #[test]
    fn more_than_two_of_one_are_rare() {
        assert!((more_than(2.0, 1.0) - 0.0803).abs() < 1e-4);
        assert!((more_than(2.9, 1.0) - 0.0803).abs() < 1e-4);
        assert!(more_than(0.0, 0.0).abs() < 1e-12);
    }

    /// However much is lost within a round trip, a window is halved once.
    #[test]
    fn a_burst_of_losses_halves_once() {
        let mut w = window(100.0);
        after(0.05, 0.5, &mut w);
        let found = w.window / PACKET;
        // A part of them comes back within this half of a round trip, and is halved again.
        assert!((35.0..=55.0).contains(&found), "{found}");
        let mut gentle = window(100.0);
        after(0.05, 0.01, &mut gentle);
        // 0.58 losses per flow: 1 − exp(−0.58) of the flows have one.
        let found = gentle.window / PACKET;
        let expected = 100.0 - 50.0 * (1.0 - f64::exp(-0.58));
        assert!((found - expected).abs() < 4.0, "{found}, not {expected}");
    }
}
