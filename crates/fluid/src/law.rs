//! The dynamics of windows, integrated.
//!
//! With w the window, d the base round-trip time, q the queuing delay and v the virtual delay
//! as seen by the source, rtt = d + q and x = w / rtt:
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
//! Smooth laws are integrated by Heun's method. Sign laws have a surface, the window at which a equals its
//! target. The step moves towards the surface and stops on it, so a flow on its surface stays there for any
//! step, as Filippov's solution does. Slow start doubles a window per round trip (or per two round trips,
//! where the controller does so). Its end is located within the step.
//!
//! Departures: a contract applies to the sending rate (controllers use the mean delivery rate of a round
//! trip); below one packet the window continues to shrink (controllers pace instead); the recovery to a
//! contract (`recovery`), loss repair, timeouts, whole packets, ends of slow start flow by flow and the
//! rounds of HyStart++ and Vegas are not modelled.

use crate::cubic::{Cubic, Epoch};
use accord_family::{FlowFacts, GivesUp, Reads, WindowDynamics, WindowLaw};
use accord_scenario::Flow;
use accord_traffic::Demand;
use accord_units::Rate;

/// The factors of [`Control::even_losses`]: of windows that are halved, and of CUBIC with β = 0.7 where it
/// follows Reno and where it follows its curve. The last is by the mean window of its law with fast
/// convergence, of independent losses, which is [`MEAN_CUBIC`]·(rtt/p)^¾ for C = 0.4.
const EVEN_HALVES: f64 = 1.165_73;
const EVEN_FRIENDLY: f64 = 1.0875;
const EVEN_CUBIC: f64 = 0.8673;
const MEAN_CUBIC: f64 = 1.1957;
/// The mean of √p·w where CUBIC follows Reno, of independent losses.
const MEAN_FRIENDLY: f64 = 1.274;

/// The contract and limit of a flow's service. The weight multiplies its target and is not part of
/// it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Service {
    /// The contracted rate in bytes per second.
    pub contract: f64,
    /// The accumulation limit in bytes.
    pub limit: f64,
}

impl Service {
    /// No contract and no limit.
    pub const FAIR: Service = Service { contract: 0.0, limit: f64::INFINITY };

    /// Returns the excess of an accumulation `a` with delay `delay` over the target.
    #[inline(always)]
    pub fn excess(&self, a: f64, delay: f64, target: f64) -> f64 {
        // With a = x·delay this is a·(1 − x̂/x)⁺.
        let shared = (a - self.contract * delay).max(0.0);
        (shared - target).max(a - self.limit)
    }

    /// Returns true if the limit, not the target, holds a flow in equilibrium.
    pub fn limited(&self, rate: f64, delay: f64, target: f64) -> bool {
        rate * delay - self.limit > (rate - self.contract) * delay - target
    }
}

/// The parameters of a flow that do not change while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Control {
    /// The dynamics of its controller's family.
    pub dynamics: WindowDynamics,
    /// The contract and the limit of its service.
    pub service: Service,
    /// The size of a packet in bytes.
    pub packet: f64,
}

impl Control {
    /// Returns the fluid model of a flow's controller, or the reason why there is no law for it.
    pub(crate) fn of(flow: &Flow) -> Result<Control, &'static str> {
        let values = &flow.controller;
        let facts = FlowFacts {
            packet: flow.packet,
            weight: flow.service.weight,
            has_contract: flow.service.contract > Rate::ZERO,
        };
        let dynamics = match flow.demand {
            // Connections that come and go are a load that no window bounds.
            Demand::Web(_) => WindowDynamics::UNRESPONSIVE,
            _ => values.family().window_dynamics()?(values, &facts),
        };
        let limit = flow.service.limit.map(|limit| limit.as_f64());
        Ok(Control {
            dynamics,
            service: Service {
                contract: flow.service.contract.as_bps_f64() / 8.0,
                limit: limit.unwrap_or(f64::INFINITY),
            },
            packet: flow.packet.as_f64(),
        })
    }

    /// Returns the bytes that the flow keeps queued at a base round-trip time, zero if its law keeps none.
    pub(crate) fn accumulation(&self, base_rtt: f64) -> f64 {
        match self.dynamics.law {
            WindowLaw::Proportional { target, .. }
            | WindowLaw::MoWalrand { target, .. }
            | WindowLaw::Additive { target, .. } => target.min(self.service.limit),
            WindowLaw::Vegas { low, high, per_second } => {
                0.5 * (low + high) * if per_second { base_rtt } else { 1.0 }
            }
            WindowLaw::Reno | WindowLaw::Cubic { .. } | WindowLaw::Unresponsive => 0.0,
        }
    }

    /// Returns the share of losses, evenly spaced, that holds the window where independent losses of the
    /// share `lost` hold it on average. With even losses, the laws rest at the root of the mean square of the
    /// window. With independent ones, the window varies and its mean is less.
    ///
    /// For one more packet per round trip and the part β of the window at a loss, V = w²/2 grows by one
    /// per packet and falls to β²·V at a loss. So before a loss it is S/p, with S = Σ β²ᵏ·E and
    /// exponential E of mean 1, and the mean window over time is √(2/p)/E[S^(−1/2)] [Ott, Kemperman,
    /// Mathis 1996]: 1.31/√p for a half, where even losses have √(2/p).
    pub fn even_losses(&self, lost: f64, rtt: f64) -> f64 {
        lost * match self.dynamics.law {
            WindowLaw::Cubic { c, .. } => {
                // Two regions [RFC 9438 §4.3, 4.4]; the mean window is the larger one.
                let curve = MEAN_CUBIC * libm::pow(c / 0.4, 0.25) * libm::pow(rtt / lost, 0.75);
                if curve * lost.sqrt() > MEAN_FRIENDLY { EVEN_CUBIC } else { EVEN_FRIENDLY }
            }
            _ => EVEN_HALVES,
        }
    }

    /// Returns true if Heun's method applies.
    #[inline(always)]
    pub(crate) fn is_smooth(&self) -> bool {
        !matches!(self.dynamics.law, WindowLaw::Additive { .. } | WindowLaw::Vegas { .. })
    }
}

/// The signals that a source sees at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The queuing delay, including that of acknowledgements where it matters.
    pub queue: f64,
    /// The source's price in addition to the queuing delay, in seconds: the virtual delay, less the queuing
    /// delay that the source cannot measure, or the price carried by marks.
    pub price: f64,
    /// The fraction of sent bytes that triggers back-off.
    pub loss: f64,
}

/// The window of a flow and its memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub window: f64,
    pub slow_start: bool,
    /// The source's estimate of the base round-trip time.
    pub min_rtt: f64,
    /// CUBIC's memory of the last loss.
    pub epoch: Epoch,
}

impl Control {
    /// Returns the controller's estimate of accumulation per byte of window: a / w.
    #[inline(always)]
    pub(crate) fn share(&self, base_rtt: f64, min_rtt: f64, seen: &Seen) -> f64 {
        let inverse = 1.0 / (base_rtt + seen.queue);
        match self.dynamics.reads {
            Reads::RoundTrip => (1.0 - min_rtt * inverse).max(0.0),
            Reads::Delay => (seen.queue + seen.price) * inverse,
            Reads::Marks { .. } => seen.price * inverse,
        }
    }

    /// Returns the controller's estimate of accumulation, or NaN for a window of 0.
    pub(crate) fn estimate(&self, base_rtt: f64, window: f64, min_rtt: f64, seen: &Seen) -> f64 {
        if self.dynamics.law == WindowLaw::Unresponsive {
            return f64::NAN;
        }
        window * self.share(base_rtt, min_rtt, seen)
    }

    /// Returns dw/dt of a smooth law outside slow start.
    #[inline(always)]
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

    /// Returns the part of a window `w`'s accumulation that carries no contract, if this loss halves that part.
    #[inline(always)]
    pub(crate) fn own(&self, w: f64, base_rtt: f64, seen: &Seen) -> Option<f64> {
        match self.dynamics.gives_up {
            GivesUp::Accumulation { bound } if seen.loss <= bound => {
                let rate = w / (base_rtt + seen.queue);
                Some((rate - self.service.contract).max(0.0) * (seen.queue + seen.price))
            }
            _ => None,
        }
    }

    #[inline(always)]
    pub(crate) fn cubic(&self) -> Option<Cubic> {
        match self.dynamics.law {
            WindowLaw::Cubic { c, beta, .. } => Some(Cubic { c, beta }),
            _ => None,
        }
    }

    /// Returns the window after `h` outside slow start.
    #[inline]
    pub(crate) fn moved(
        &self,
        state: &mut Window,
        base_rtt: f64,
        from: &Seen,
        to: &Seen,
        h: f64,
    ) -> f64 {
        let w = state.window;
        match self.cubic() {
            Some(cubic) => self.grown(&cubic, &mut state.epoch, w, base_rtt + to.queue, to, h),
            None => self.next(w, base_rtt, state.min_rtt, from, to, h),
        }
    }

    /// Returns the window of CUBIC after `h`.
    #[inline(always)]
    pub(crate) fn grown(
        &self,
        cubic: &Cubic,
        epoch: &mut Epoch,
        w: f64,
        rtt: f64,
        to: &Seen,
        h: f64,
    ) -> f64 {
        let losses = (w / rtt * to.loss / self.packet).min(1.0 / rtt);
        self.floor(self.packet * epoch.advance(cubic, w / self.packet, rtt, losses, h))
    }

    /// Returns the window of a law without memory after `h`.
    #[inline(always)]
    pub(crate) fn next(
        &self,
        w: f64,
        base_rtt: f64,
        min_rtt: f64,
        from: &Seen,
        to: &Seen,
        h: f64,
    ) -> f64 {
        let next = if self.is_smooth() {
            let first = self.slope(w, base_rtt, from);
            let second = self.slope(self.floor(w + h * first), base_rtt, to);
            w + 0.5 * h * (first + second)
        } else {
            self.towards_surface(w, base_rtt, min_rtt, from, to, h)
        };
        self.floor(next)
    }

    /// Returns a lower bound of the window, far below a packet.
    #[inline(always)]
    pub(crate) fn floor(&self, w: f64) -> f64 {
        w.max(1e-3 * self.packet)
    }

    /// Moves the window of a sign law by at most its step towards the window at which a meets its
    /// target (zero excess), and not across it.
    #[inline(always)]
    fn towards_surface(
        &self,
        w: f64,
        base_rtt: f64,
        min_rtt: f64,
        from: &Seen,
        to: &Seen,
        h: f64,
    ) -> f64 {
        let share = self.share(base_rtt, min_rtt, to);
        let (gain, low, high) = match self.dynamics.law {
            WindowLaw::Additive { gain, target } => (gain, target, target),
            WindowLaw::Vegas { low, high, per_second } => {
                let unit = if per_second { min_rtt } else { 1.0 };
                (self.packet, low * unit, high * unit)
            }
            _ => return w,
        };
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let most = gain * h / rtt;
        // Zero excess: the rate x̂ + a*/delay or A/delay, times the round-trip time.
        let contracted = self.service.contract * (base_rtt + to.queue);
        let surface = |target: f64| (contracted + target / share).min(self.service.limit / share);
        let (low, high) = (surface(low), surface(high));
        let moved = if w < low {
            (w + most).min(low)
        } else if w > high {
            (w - most).max(high)
        } else {
            w
        };
        if to.loss > 0.0 {
            let rate = w / rtt * to.loss / self.packet;
            let gone = self.own(w, base_rtt, to).unwrap_or(w);
            moved - 0.5 * gone * rate.min(1.0 / rtt) * h
        } else {
            moved
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use accord_family::BaseRtt;

    /// A control of 1000-byte packets without a service.
    pub(crate) fn control(law: WindowLaw) -> Control {
        let dynamics = WindowDynamics {
            law,
            reads: Reads::Delay,
            base: BaseRtt::Known,
            initial: 1000.0,
            leave: 3000.0,
            keep: 0.5,
            ..WindowDynamics::UNRESPONSIVE
        };
        Control { dynamics, service: Service::FAIR, packet: 1000.0 }
    }

    /// A round trip of 0.2 s, half of which is queue.
    const BASE: f64 = 0.1;

    fn lost(loss: f64) -> Seen {
        Seen { queue: 0.1, price: 0.0, loss }
    }

    fn near(is: f64, should: f64) {
        assert!((is - should).abs() < 1e-9 * should.abs(), "{is} {should}");
    }

    /// Of a window of 20000 bytes 10000 are queued: −κ·d/rtt·e/w [Xia05 eq. 5], of at most a packet per
    /// round trip.
    #[test]
    fn the_law_of_mo_and_walrand_by_hand() {
        let slope = |target: f64| {
            let mut mw = control(WindowLaw::MoWalrand { gain: 50_000.0, target });
            mw.dynamics.most = 1000.0;
            mw.slope(20_000.0, BASE, &lost(0.0))
        };
        near(slope(3000.0), -50_000.0 * 0.1 / 0.2 * 7000.0 / 20_000.0);
        near(slope(30_000.0), 1000.0 / 0.2);
    }

    /// Reno sends a packet more per round trip and halves its window at a loss, at most once per round trip:
    /// 1 loss per second at 1 %, and 5 instead of 50 at a half.
    #[test]
    fn a_window_is_halved_once_per_round_trip_at_most() {
        let reno = control(WindowLaw::Reno);
        near(reno.slope(20_000.0, BASE, &lost(0.01)), 0.99 * 5000.0 - 10_000.0);
        near(reno.slope(20_000.0, BASE, &lost(0.5)), 0.5 * 5000.0 - 5.0 * 10_000.0);
        let cubic = control(WindowLaw::Cubic { c: 0.4, beta: 0.7, hystart: true });
        let Some(law) = cubic.cubic() else { unreachable!("it is CUBIC") };
        let after = |loss: f64| {
            let mut epoch = Epoch::begin(&law, 20.0);
            cubic.grown(&law, &mut epoch, 20_000.0, 0.2, &lost(loss), 0.01)
        };
        assert_eq!(after(0.25), after(0.5));
        assert!(after(0.01) > after(0.25));
    }

    /// 1e5 B/s with a contract of 4e4 keep 6000 bytes of their own. A loss takes half of them, or the step if
    /// that is more, from the part of round trips that lose something; above the bound it halves the window.
    #[test]
    fn a_loss_halves_an_accumulation() {
        let slope = |gain: f64, loss: f64, bound: f64| {
            let mut p = control(WindowLaw::Proportional { gain, target: 3000.0 });
            p.service.contract = 4e4;
            p.dynamics.gives_up = GivesUp::Accumulation { bound };
            p.slope(20_000.0, BASE, &lost(loss))
        };
        near(slope(0.5, 0.02, 0.5), (0.6 * -1500.0 + 0.4 * -3000.0) / 0.2);
        near(slope(0.5, 0.2, 0.5), -3000.0 / 0.2);
        near(slope(2.0, 0.02, 0.5), -6000.0 / 0.2);
        near(slope(0.5, 0.2, 0.05), -1500.0 / 0.2 - 5.0 * 10_000.0);
    }

    /// Accumulations as they are read: by the queue and the virtual delay, by round-trip times, and by marks
    /// alone.
    #[test]
    fn a_share_is_of_the_delays_that_a_source_reads() {
        let seen = Seen { queue: 0.1, price: 0.02, loss: 0.0 };
        let share = |reads: Reads| {
            let mut any = control(WindowLaw::Reno);
            any.dynamics.reads = reads;
            any.share(BASE, 0.12, &seen)
        };
        near(share(Reads::Delay), 0.12 / 0.2);
        near(share(Reads::RoundTrip), 1.0 - 0.12 / 0.2);
        near(share(Reads::Marks { ln_phi: 0.1, memory: 1.0 }), 0.02 / 0.2);
    }

    /// The surface of a law of the sign: x̂ + a*/q or A/q, times the round trip. Windows move by a packet
    /// per round trip, and stop on it.
    #[test]
    fn laws_of_the_sign_stop_on_their_surface() {
        let next = |w: f64, limit: f64| {
            let mut aiad = control(WindowLaw::Additive { gain: 1000.0, target: 3000.0 });
            aiad.service = Service { contract: 4e4, limit };
            aiad.next(w, BASE, BASE, &lost(0.0), &lost(0.0), 0.2)
        };
        near(next(13_500.0, f64::INFINITY), 14_000.0);
        near(next(12_500.0, f64::INFINITY), 13_500.0);
        near(next(14_500.0, f64::INFINITY), 14_000.0);
        near(next(10_500.0, 5000.0), 10_000.0);
    }

    /// Vegas reads 1 − 0.12/0.2 of its window as queued. Its thresholds in packets per second are taken over
    /// the base round-trip time that it has measured.
    #[test]
    fn thresholds_per_second_are_over_the_measured_base() {
        let next = |unit: f64, per_second: bool| {
            let mut vegas = control(WindowLaw::Vegas { low: unit, high: unit, per_second });
            vegas.dynamics.reads = Reads::RoundTrip;
            vegas.next(6500.0, BASE, 0.12, &lost(0.0), &lost(0.0), 0.2)
        };
        near(next(20_000.0, true), 0.12 * 20_000.0 / 0.4);
        near(next(2400.0, false), 6000.0);
    }

    /// At its surface of 14000 bytes a law of the sign loses half of its window, or of its own 3000 bytes, per
    /// loss, and does so once per round trip at most.
    #[test]
    fn losses_move_laws_of_the_sign() {
        let next = |loss: f64, gives_up: GivesUp| {
            let mut aiad = control(WindowLaw::Additive { gain: 1000.0, target: 3000.0 });
            aiad.service.contract = 4e4;
            aiad.dynamics.gives_up = gives_up;
            aiad.next(14_000.0, BASE, BASE, &lost(loss), &lost(loss), 0.01)
        };
        near(next(0.01, GivesUp::Window), 14_000.0 - 0.5 * 14_000.0 * 0.7 * 0.01);
        near(next(0.5, GivesUp::Window), 14_000.0 - 0.5 * 14_000.0 * 5.0 * 0.01);
        let own = GivesUp::Accumulation { bound: 0.05 };
        near(next(0.01, own), 14_000.0 - 0.5 * 3000.0 * 0.7 * 0.01);
    }

    /// A flow below its contract has no accumulation to share; one of 1e5 B/s at 0.1 s is held by limits below
    /// 4000 bytes of contract and its target of 3000.
    #[test]
    fn a_contract_is_taken_off_and_a_limit_holds() {
        let with = |contract, limit| Service { contract, limit };
        assert_eq!(with(2e5, f64::INFINITY).excess(1e4, 0.1, 3000.0), -3000.0);
        near(with(4e4, 5000.0).excess(1e4, 0.1, 3000.0), 5000.0);
        assert!(with(4e4, 6999.0).limited(1e5, 0.1, 3000.0));
        assert!(!with(4e4, 7001.0).limited(1e5, 0.1, 3000.0));
    }
}
