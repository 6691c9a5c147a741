//! Slow start: the growth of the window, and the instant within a step at which it ends.

use crate::cubic::Epoch;
use crate::law::{Control, Seen, Service, Window};
use crate::losses::Pairs;
use accord_family::{Reads, WindowDynamics, WindowLaw};

impl Control {
    /// Returns the share in slow start, which ignores marks.
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

    /// Returns true if the round-trip time grows fast enough per round trip for HyStart++ to end
    /// slow start [RFC 9406 §4.2].
    pub(crate) fn rises(&self, s: &Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> bool {
        let WindowLaw::Cubic { hystart: true, .. } = self.dynamics.law else {
            return false;
        };
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let least = (0.125 * s.min_rtt).clamp(4e-3, 16e-3);
        (to.queue - from.queue) * rtt > least * h
    }

    /// Grows the window. Returns the fraction of the step at which slow start ended; it ends in any
    /// case if `ends`.
    pub(crate) fn slow_start(
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

    /// Grows the window of Vegas, and ends its slow start.
    ///
    /// The window doubles as the first acknowledgements of every second round arrive [Low02 §1.1].
    /// Those of the next round measure the backlog of the doubled window, and slow start ends with
    /// that round if it exceeds γ.
    ///
    /// During a doubling, an acknowledgement sends two packets, twice the capacity of the slowest
    /// link, until w packets are sent. The last of these waits for w/2 packets of its own flow; the
    /// mean wait is w/4.
    pub(crate) fn every_second_round(
        &self,
        s: &mut Window,
        pairs: &mut Pairs,
        base_rtt: f64,
        to: &Seen,
        h: f64,
    ) {
        if !pairs.pass(base_rtt + to.queue, h) {
            return;
        }
        if pairs.rounds.is_multiple_of(2) {
            let own = 0.25 * s.window / self.packet * self.slot;
            let seen = Seen {
                queue: to.queue + own,
                ..*to
            };
            pairs.queued = s.window * self.first_share(base_rtt, s.min_rtt, &seen);
        } else if pairs.queued > self.dynamics.leave {
            s.slow_start = false;
            s.window *= self.dynamics.keep;
        } else {
            s.window *= 2.0;
        }
    }
}
