//! Slow start: the growth of the window, and the instant within a step at which it ends.

use crate::cubic::Epoch;
use crate::law::{Control, Seen, Service, Window};
use accord_family::{Reads, WindowDynamics, WindowLaw};

impl Control {
    /// Returns the share in slow start, which ignores marks.
    fn first_share(&self, base_rtt: f64, min_rtt: f64, seen: &Seen) -> f64 {
        let reads = match self.dynamics.reads {
            Reads::Marks { .. } => Reads::RoundTrip,
            reads => reads,
        };
        let dynamics = WindowDynamics { reads, ..self.dynamics };
        Control { dynamics, ..*self }.share(base_rtt, min_rtt, seen)
    }

    /// Returns true if the round-trip time grows fast enough per round trip for HyStart++ to end
    /// slow start [RFC 9406 §4.2].
    fn rises(&self, s: &Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> bool {
        let WindowLaw::Cubic { hystart: true, .. } = self.dynamics.law else {
            return false;
        };
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let least = (0.125 * s.min_rtt).clamp(4e-3, 16e-3);
        (to.queue - from.queue) * rtt > least * h
    }

    /// Grows the window. Returns the time until slow start ended, or `h`.
    pub(crate) fn slow_start(
        &self,
        s: &mut Window,
        base_rtt: f64,
        from: &Seen,
        to: &Seen,
        h: f64,
    ) -> f64 {
        let (growth, ends) = (self.dynamics.growth, self.rises(s, base_rtt, from, to, h));
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let grown = s.window * (growth * h / rtt).exp();
        // Vegas uses its service only after slow start.
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
}
