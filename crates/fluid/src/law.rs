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
//! Smooth laws are integrated by Heun's method. Sign laws have a surface, the window at which a
//! equals its target. The step moves towards the surface and stops on it, so that a flow on its
//! surface stays there as Filippov's solution does, for any step. Slow start doubles a window per
//! round trip (or per two round trips, where the controller does so); the instant of its end is
//! located within the step.
//!
//! Departures: a contract applies to the sending rate, where controllers use the mean delivery rate
//! of a round trip; below one packet the window continues to shrink (controllers pace instead); the
//! recovery to a contract (`recovery`), loss repair, timeouts, whole packets, ends of slow start
//! flow by flow and the rounds of HyStart++ and Vegas are not modelled.

use crate::cubic::{Cubic, Epoch};
use accord_family::{FlowFacts, GivesUp, Reads, WindowDynamics, WindowLaw};
use accord_scenario::Flow;
use accord_traffic::Demand;
use accord_units::Rate;

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
    /// Neither contract nor limit.
    pub const FAIR: Service = Service { contract: 0.0, limit: f64::INFINITY };

    /// Returns the excess over the target of an accumulation `a` with the delay `delay`.
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
    /// Contract and limit of its service.
    pub service: Service,
    /// Size of a packet in bytes.
    pub packet: f64,
}

impl Control {
    /// Returns the fluid's controller of a flow, or the reason why there is no law for it.
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
    /// The source's price in addition to the queuing delay, in seconds: the virtual delay, less the
    /// queuing delay that it cannot measure; or the price carried by marks.
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

    /// Returns the controller's estimate of accumulation; NaN for a window of 0.
    pub(crate) fn estimate(&self, base_rtt: f64, window: f64, min_rtt: f64, seen: &Seen) -> f64 {
        if self.dynamics.law == WindowLaw::Unresponsive {
            return f64::NAN;
        }
        window * self.share(base_rtt, min_rtt, seen)
    }

    /// Returns dw/dt of a smooth law outside of slow start.
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

    /// Returns the part of the accumulation of a window `w` that carries no contract, if this loss
    /// halves that part.
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

    /// Returns the window after `h` outside of slow start.
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
