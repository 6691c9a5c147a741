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
        let grown = s.window * libm::exp(growth * h / rtt);
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
        s.window *= self.dynamics.keep * libm::exp(growth * part * h / rtt);
        if let Some(cubic) = self.cubic() {
            s.epoch = Epoch::begin(&cubic, s.window / self.packet);
        }
        part * h
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::tests::control;
    use accord_family::GivesUp;

    const BASE: f64 = 0.1;

    fn window(min_rtt: f64) -> Window {
        Window { window: 10_000.0, slow_start: true, min_rtt, epoch: Epoch::default() }
    }

    fn seen(queue: f64) -> Seen {
        Seen { queue, price: 0.0, loss: 0.0 }
    }

    /// The end of slow start within a step of `h` in which a window of 10000 bytes does not grow.
    fn ends(control: &Control, from: &Seen, to: &Seen, h: f64) -> (f64, Window) {
        let mut still = *control;
        still.dynamics.growth = 0.0;
        let mut state = window(BASE);
        let used = still.slow_start(&mut state, BASE, from, to, h);
        (used, state)
    }

    /// The queue grows from 0 to 0.1 s: at the end half of the window is queued, and the 3000 bytes that end
    /// slow start are after 3/5 of the step. Half of the window is kept.
    #[test]
    fn slow_start_ends_within_a_step() {
        let p = control(WindowLaw::Proportional { gain: 0.5, target: 3000.0 });
        let (used, state) = ends(&p, &seen(0.0), &seen(0.1), 0.01);
        assert!((used - 0.006).abs() < 1e-12 && !state.slow_start, "{used}");
        assert!((state.window - 5000.0).abs() < 1e-9, "{state:?}");
    }

    /// [RFC 9406 §4.2]: an eighth of the least round-trip time more per round trip, of 4 to 16 ms.
    #[test]
    fn hystart_goes_by_an_eighth_within_bounds() {
        let cubic = control(WindowLaw::Cubic { c: 0.4, beta: 0.7, hystart: true });
        for (min_rtt, eta) in [(0.01, 4e-3), (0.08, 10e-3), (0.2, 16e-3)] {
            let rises = |growth: f64| {
                let (h, rtt) = (1e-3, BASE);
                // The mean round trip of the step is longer by a part of it, which is below 1 %.
                let to = seen(growth * h / rtt);
                cubic.rises(&window(min_rtt), BASE, &seen(0.0), &to, h)
            };
            assert!(rises(1.01 * eta) && !rises(0.98 * eta), "{min_rtt}");
        }
    }

    /// In slow start marks are ignored and round trips are read. The service of such a flow counts only later;
    /// one that reads delays has its contract from the start.
    #[test]
    fn signals_and_services_of_slow_start() {
        let ended = |reads: Reads, contract: f64| {
            let mut any = control(WindowLaw::Reno);
            any.dynamics.reads = reads;
            any.service.contract = contract;
            !ends(&any, &seen(0.1), &seen(0.1), 0.01).1.slow_start
        };
        assert!(ended(Reads::Marks { ln_phi: 0.1, memory: 1.0 }, 0.0));
        assert!(ended(Reads::RoundTrip, 1e5));
        assert!(ended(Reads::Delay, 0.0) && !ended(Reads::Delay, 1e5));
    }

    /// A loss ends slow start, unless it only takes from the accumulation.
    #[test]
    fn a_loss_ends_slow_start_of_a_flow_that_halves_its_window() {
        let ended = |gives_up: GivesUp| {
            let mut p = control(WindowLaw::Proportional { gain: 0.5, target: 3000.0 });
            p.dynamics.gives_up = gives_up;
            let lossy = Seen { loss: 0.01, ..seen(0.0) };
            !ends(&p, &seen(0.0), &lossy, 0.01).1.slow_start
        };
        assert!(ended(GivesUp::Window) && !ended(GivesUp::Accumulation { bound: 0.05 }));
    }

    /// CUBIC begins on the plateau of the window that slow start leaves.
    #[test]
    fn cubic_stays_at_the_window_that_slow_start_leaves() {
        let cubic = control(WindowLaw::Cubic { c: 0.4, beta: 0.7, hystart: false });
        let lossy = Seen { loss: 0.01, ..seen(0.0) };
        let (_, mut state) = ends(&cubic, &seen(0.0), &lossy, 0.01);
        let left = state.window;
        let next = cubic.moved(&mut state, BASE, &seen(0.0), &seen(0.0), 0.01);
        assert!((next / left - 1.0).abs() < 0.02, "{next} after {left}");
    }
}
