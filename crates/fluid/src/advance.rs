//! A step of a window: with losses of all flows together, or counted per flow.

use crate::cubic::{Cubic, Epoch, counted};
use crate::law::{Control, Seen, Window};
use crate::losses::{QUARTER, SAMPLES, Starting};
use accord_family::WindowLaw;

/// The fraction of flows that counts as zero.
const LAST: f64 = 1e-3;

/// `E[w²]` over `E[w]²`.
pub const SPREAD: f64 = 7.0 / 6.0;

impl Control {
    /// Advances the window by a step of `h`, with the signals at both its ends.
    #[inline]
    pub(crate) fn advance(
        &self,
        state: &mut Window,
        base_rtt: f64,
        from: &Seen,
        to: &Seen,
        h: f64,
    ) {
        if matches!(self.dynamics.law, WindowLaw::Unresponsive) {
            state.window = self.dynamics.initial;
            return;
        }
        if self.per_flow {
            let rtt = base_rtt + to.queue;
            state.losses.hear(to.loss, rtt, h);
        }
        let mut left = h;
        let mut from = *from;
        if state.slow_start && self.per_flow {
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
        state.window = match self.per_flow {
            true => self.with_losses(state, base_rtt, &from, to, left),
            false => self.moved(state, base_rtt, &from, to, left),
        };
    }

    /// Returns the mean window after `h` outside of slow start, with losses per flow.
    ///
    /// The windows w of a class differ, and large ones lose more: at random losses E[w²] is 7/6 of
    /// E[w]² in equilibrium, by dE[w²]/dt = 0 and the third moment of a gamma distribution. A free
    /// flow loses λ times per second, and is then in repair for D, in which it retransmits lost
    /// packets. With probability Q the repair ends in a timeout and slow start, which take τ:
    ///
    /// ```text
    /// dS/dt = (1 − S − T)·λ·(1 − Q)·D/rtt − S/rtt
    /// dT/dt = (1 − S − T)·λ·Q − T/τ
    /// dw/dt = (1 − S − T)·(dw/dt without losses − λ·w/2)
    /// ```
    ///
    /// w is the window of the flows that have not timed out. In equilibrium S does not affect it.
    /// Senders have whole packets in flight and halve to whole packets: with w the packets in
    /// flight, Reno's window is half a packet larger in the mean, and halving takes w/2 + 3/4.
    fn with_losses(
        &self,
        state: &mut Window,
        base_rtt: f64,
        from: &Seen,
        to: &Seen,
        h: f64,
    ) -> f64 {
        let mut memory = state.losses;
        let w = state.window + memory.missing;
        let rtt = base_rtt + to.queue;
        let losses = SPREAD * w / rtt * to.loss / self.packet;
        let repair = self.repair(w, rtt, memory.loss, memory.before);
        // S and T at the end of the step, and the mean of S, with constant coefficients.
        let there = 1.0 - memory.timed_out;
        let begun = losses * (1.0 - repair.gives_out) * repair.round_trips;
        let pace = begun + 1.0 / rtt;
        let (rest, moved) = (there * begun / pace, -(-pace * h).exp_m1());
        let mean = rest + (memory.repairing - rest) * moved / (pace * h);
        let free = (there - mean).max(0.0);
        memory.repairing += moved * (rest - memory.repairing);
        let left = (-h / repair.absence).exp();
        let came = free * losses * repair.gives_out * repair.absence;
        memory.timed_out = (memory.timed_out * left + came * (1.0 - left)).clamp(0.0, 0.99);

        let part = free / there;
        let w = if let WindowLaw::Cubic {
            c,
            beta,
            fast_convergence,
            ..
        } = self.dynamics.law
        {
            // A repair is not part of an epoch [RFC 9438 §4.2].
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
        memory.missing = memory.timed_out * repair.misses(w, rtt);
        state.losses = memory;
        w - memory.missing
    }

    /// Advances flows with losses per flow while some are in slow start. Returns the rest of the
    /// step if all have ended slow start together.
    ///
    /// A flow leaves slow start by its own first loss, not by those of others: of a fraction s of
    /// the flows with the window v, the fraction v·p/rtt leaves per second, with half of v. It
    /// joins the flows that left before, and enters their means:
    ///
    /// ```text
    /// ds/dt = −s·v·p/rtt,  (1 − s)·dw/dt = (1 − s)·(dw/dt of `with_losses`) + (v/2 − w)·s·v·p/rtt
    /// ```
    ///
    /// In the round trip of its first loss a flow loses v·p, with the present p: the queue stays
    /// full until its senders learn of the losses. The probability of losing a retransmission is
    /// that of the previous round trip, since by then the senders have slowed down.
    fn begin(&self, state: &mut Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> f64 {
        let mut start = state.losses.starting;
        if start.part <= 0.0 {
            start = Starting {
                part: 1.0,
                window: state.window,
                ..start
            };
        }
        if start.part < 1.0 {
            state.window = start.others;
            start.others = self.with_losses(state, base_rtt, from, to, h);
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
        let used = match self.dynamics.law {
            WindowLaw::Vegas { .. } => {
                self.every_second_round(&mut first, &mut start.pairs, base_rtt, to, h);
                h
            }
            _ => self.slow_start(&mut first, base_rtt, seen.0, seen.1, h, (growth, ends)),
        };
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
            let mut memory = state.losses;
            let repair = self.repair(v, rtt, to.loss, memory.before);
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
            memory.repairing += weight * (repairing - memory.repairing);
            memory.timed_out += weight * (timed_out - memory.timed_out);
            memory.timed_out = memory.timed_out.min(0.99);
            let w = start.others + memory.missing;
            let w = w + weight * (kept - w);
            memory.missing = memory.timed_out * repair.misses(w, rtt);
            start.others = w - memory.missing;
            state.losses = memory;
            start.part -= joins;
        }
        start.window = v;
        if start.part < LAST {
            state.slow_start = false;
            state.losses.starting = Starting::default();
            state.window = start.others;
            return if used < h { h - used } else { 0.0 };
        }
        state.window = start.others + start.part * (v - start.others);
        state.losses.starting = start;
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::Service;
    use crate::losses::Losses;
    use accord_family::{BaseRtt, Reads, Repairs, WindowDynamics};

    const PACKET: f64 = 1000.0;

    const CUBIC: WindowLaw = WindowLaw::Cubic {
        c: 0.4,
        beta: 0.7,
        fast_convergence: true,
        hystart: true,
    };

    fn newreno() -> Control {
        Control {
            per_flow: true,
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
            slot: 0.0,
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
            losses: Losses::default(),
            epoch: Epoch::default(),
        }
    }

    /// Windows at random losses, in packets that arrive per round trip of 60 ms, over 1.3095/√p:
    /// those of ten packet flows without SACK, to 3 % and 2 % (docs/src/validation.md).
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

    /// CUBIC's windows at random losses, those of packets to 5 % (docs/src/validation.md), in both
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
            control.dynamics.law = CUBIC;
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

    /// A flow of a class leaves slow start by its own loss. With a = p/ln 2 per packet of window,
    /// the fraction exp(−a·(v − v₀)) has lost nothing by the window v, and the others have halved
    /// theirs: v·exp(−a·x) + ½·∫(y + v₀)·a·exp(−a·y) dy up to x = v − v₀, five round trips after v₀
    /// = 10.
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
        // If half of all packets is lost, no flow remains in slow start.
        after(0.1, 0.5, &mut w);
        assert!(!w.slow_start);
    }

    /// HyStart++ with a round-trip time that grows by 0.2 s per second: one round without a
    /// predecessor, one that shows the rise, and five by a quarter. A round ends with the first
    /// packet sent in it, whose round-trip time is 1/0.8 of the one at its start, so that it has
    /// ∫dt/rtt = ln(1/0.8)/0.2 round trips.
    #[test]
    fn slow_start_ends_five_careful_rounds_after_a_rise() {
        let mut control = newreno();
        control.dynamics.law = CUBIC;
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

    /// Vegas alone on a wide link, with a round-trip time of 100 ms and 0.2 ms per packet: w/4
    /// packets queue from its own bursts. That exceeds one of its w packets from 2·√(100/0.2) =
    /// 44.7 on, so that it leaves at the next power of two, 64, of which it keeps 7/8. It is there
    /// after nine rounds, and leaves after two more.
    #[test]
    fn vegas_leaves_slow_start_by_its_own_bursts() {
        let mut control = newreno();
        control.dynamics.law = WindowLaw::Vegas {
            low: PACKET,
            high: PACKET,
            per_second: false,
        };
        control.dynamics.leave = PACKET;
        control.dynamics.keep = 7.0 / 8.0;
        control.slot = 0.2e-3;
        let mut w = Window {
            slow_start: true,
            ..window(2.0)
        };
        let mut time: f64 = 0.0;
        while w.slow_start && time < 10.0 {
            control.advance(&mut w, 0.1, &Seen::default(), &Seen::default(), 1e-3);
            time += 1e-3;
        }
        let packets = w.window / PACKET;
        assert!((packets - 56.0).abs() < 1e-9, "{packets}");
        assert!((time - 1.1).abs() < 0.02, "{time}");
    }

    /// A window is halved once for any number of losses within a round trip.
    #[test]
    fn a_burst_of_losses_halves_once() {
        let mut w = window(100.0);
        after(0.05, 0.5, &mut w);
        let found = w.window / PACKET;
        // Some of the flows return within this half of a round trip, and halve again.
        assert!((35.0..=55.0).contains(&found), "{found}");
        let mut gentle = window(100.0);
        after(0.05, 0.01, &mut gentle);
        // 0.58 losses per flow: the fraction 1 − exp(−0.58) of the flows has one.
        let found = gentle.window / PACKET;
        let expected = 100.0 - 50.0 * (1.0 - f64::exp(-0.58));
        assert!((found - expected).abs() < 4.0, "{found}, not {expected}");
    }
}
