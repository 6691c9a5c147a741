//! CUBIC's window in the fluid model.
//!
//! The window is a function of the time s since the flow's last loss and of the window W_max before
//! that loss. With λ losses per flow and second, windows in packets [VHT18]:
//!
//! ```text
//! W = max(C·E[(s − K)³] + W_max, W_est),  K = ∛(W_max·(1 − β)/C) [RFC 9438 eqs. 1, 2]
//! ds/dt     = 1 − s·λ
//! dW_max/dt = (W − W_max)·λ
//! dW_est/dt = α/rtt + (β·W − W_est)·λ,  α = 3·(1 − β)/(1 + β)    [RFC 9438 eq. 4]
//! ```
//!
//! In equilibrium s = K, so W = (C/(1 − β))^(1/4)·(rtt/p)^(3/4). RFC 9438 §5.1 has 0.981 of
//! this, for equidistant losses. W grows by at most half per round trip [RFC 9438 §4.2], and not for
//! the flows that lose a packet in it.
//!
//! E is the mean over the flows of a class: (s − K)³ + 3·(s − K)·v²·s² if their times since a loss have the
//! variance v²·s². The variance is 0.7·s² at random losses, and 0 if all flows lose together. With variance
//! 0, the plateau is flat and W converges ever more slowly: it is 5 % below equilibrium after 1000 s. The
//! small variance used ([`AGES`]) avoids that, and keeps the return to W_max close to that of a single flow.
//!
//! Departures: fast convergence, and α = 1 beyond the window before the loss, are left out.

/// The mean memory that a class of flows has of the last loss.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Epoch {
    /// s.
    since: f64,
    w_max: f64,
    w_est: f64,
    /// K.
    k: f64,
}

/// The parameters of CUBIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cubic {
    pub c: f64,
    pub beta: f64,
}

/// v².
const AGES: f64 = 0.05;

/// The maximum growth per round trip, as a fraction of the window [RFC 9438 §4.2].
const STEEPEST: f64 = 0.5;

impl Epoch {
    /// Begins congestion avoidance at a window that was reached without a loss.
    pub fn begin(cubic: &Cubic, window: f64) -> Epoch {
        let k = libm::cbrt(window * (1.0 - cubic.beta) / cubic.c);
        Epoch { since: k, w_max: window, w_est: window, k }
    }

    /// Updates K after a change of W_max. For a small change, a step of Halley's method suffices, with a
    /// relative error of up to 1e-13.
    #[inline]
    fn update_k(&mut self, cubic: &Cubic) {
        let (cube, new) = (self.k.powi(3), self.w_max * (1.0 - cubic.beta) / cubic.c);
        self.k = if (new - cube).abs() < 1e-4 * new {
            self.k * (cube + 2.0 * new) / (2.0 * cube + new)
        } else {
            libm::cbrt(new)
        };
    }

    /// Returns the window after `h`, with `losses` losses per second.
    pub fn advance(&mut self, cubic: &Cubic, window: f64, rtt: f64, losses: f64, h: f64) -> f64 {
        // The fraction of flows that lose a packet, and the time by which the others age.
        let mean = mean_exp(losses * h);
        let (lose, ages) = (losses * h * mean, h * mean);
        let alpha = 3.0 * (1.0 - cubic.beta) / (1.0 + cubic.beta);
        let rounds = h / rtt;
        self.since = self.since * (1.0 - lose) + ages;
        if lose > 0.0 {
            self.w_max += lose * (window - self.w_max);
            self.update_k(cubic);
        }
        self.w_est += alpha * rounds + lose * (cubic.beta * window - self.w_est);
        let past = self.since - self.k;
        let cube = past.powi(3) + 3.0 * past * AGES * self.since.powi(2);
        let curve = cubic.c * cube + self.w_max;
        let most = window * (1.0 + STEEPEST * rounds);
        // The flows that lose a packet in this round trip do not grow.
        let growth = STEEPEST * (1.0 - (losses * rtt).min(1.0));
        let bound = window * (1.0 + growth * rounds);
        if curve > bound {
            // Time does not pass while the window is bounded.
            self.since = self.k + libm::cbrt((bound - self.w_max) / cubic.c);
        }
        self.w_est = self.w_est.min(most);
        curve.min(bound).max(self.w_est)
    }
}

/// Returns (1 − e^−x)/x, the mean of e^−t for t from 0 to x.
#[inline]
fn mean_exp(x: f64) -> f64 {
    if x < 1e-3 {
        // The next term is 1e-14.
        return 1.0 - x * (1.0 / 2.0 - x * (1.0 / 6.0 - x * (1.0 / 24.0)));
    }
    -libm::expm1(-x) / x
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The series and the step of Halley's method are as exact as the functions that they replace.
    #[test]
    fn series_and_steps_are_exact() {
        for i in 0..4000 {
            let x = f64::powf(10.0, f64::from(i) / 1000.0 - 4.5);
            let exact = -(-x).exp_m1() / x;
            assert!((mean_exp(x) / exact - 1.0).abs() < 1e-12, "{x}");
        }
        let mut epoch = Epoch::begin(&CUBIC, 100.0);
        for i in 0..10_000 {
            epoch.w_max *= 1.0 + 2e-4 * f64::sin(f64::from(i));
            epoch.update_k(&CUBIC);
            let exact = (epoch.w_max * 0.3 / 0.4).cbrt();
            assert!((epoch.k / exact - 1.0).abs() < 1e-12, "{} after {i}", epoch.k);
        }
    }

    const CUBIC: Cubic = Cubic { c: 0.4, beta: 0.7 };

    /// Returns the equilibrium window at the loss probability `p`.
    fn rest(p: f64, rtt: f64) -> f64 {
        let mut window = 10.0;
        let mut epoch = Epoch::begin(&CUBIC, window);
        for _ in 0..2_000_000 {
            window = epoch.advance(&CUBIC, window, rtt, window * p / rtt, 1e-3);
        }
        window
    }

    /// RFC 9438 §5.1: (C·(3 + β)/(4·(1 − β)))^(1/4)·(RTT/p)^(3/4) in the cubic region, for
    /// equidistant losses; and §4.3, eq. 3: that of Reno, √(3/2)/√p, where round trips are short.
    /// The fluid of Reno has √2/√p instead.
    #[test]
    fn windows_rest_where_the_rfc_has_them() {
        for (p, rtt) in [(1e-4, 0.1), (1e-4, 0.2), (1e-5, 0.05)] {
            let expected = f64::powf(0.4 * 3.7 / (4.0 * 0.3), 0.25) * f64::powf(rtt / p, 0.75);
            let found = rest(p, rtt);
            assert!((found / expected - 1.0).abs() < 0.025, "{found} for {expected}");
        }
        for (p, rtt) in [(1e-3, 0.01), (1e-2, 0.03)] {
            let found = rest(p, rtt) * f64::sqrt(p);
            assert!((1.22..1.42).contains(&found), "{found}");
        }
    }

    /// Without losses the window follows the cubic function, from β·W_max back to W_max in K.
    #[test]
    fn a_window_is_back_after_k() {
        let mut window = 100.0;
        let mut epoch = Epoch::begin(&CUBIC, window);
        // All flows lose a packet.
        window = epoch.advance(&CUBIC, window, 0.1, 1e6, 1e-3);
        assert!((window - 70.0).abs() < 0.5, "{window}");
        let k = f64::cbrt(100.0 * 0.3 / 0.4);
        let mut at = |seconds: f64| {
            for _ in 0..(seconds / 1e-3).round() as usize {
                window = epoch.advance(&CUBIC, window, 0.1, 0.0, 1e-3);
            }
            window
        };
        // Less 30/8, and 3·AGES/2 of that for the flows that lost a packet before.
        let half = at(0.5 * k);
        assert!((half - (100.0 - 30.0 / 8.0)).abs() < 0.8, "{half}");
        let whole = at(0.5 * k);
        assert!((whole - 100.0).abs() < 0.1, "{whole}");
    }

    /// A window does not grow if each flow loses a packet per round trip, however long it had grown before,
    /// and then shrinks.
    #[test]
    fn a_loss_per_round_trip_ends_the_growth_of_a_window() {
        let mut epoch = Epoch::begin(&CUBIC, 100.0);
        let mut window = 100.0;
        let mut after = |losses: f64, window: f64| epoch.advance(&CUBIC, window, 0.4, losses, 1e-3);
        while window < 1000.0 {
            window = after(0.0, window);
        }
        let most = window;
        for _ in 0..20_000 {
            window = after(2.5, window);
            assert!(window <= most, "{window}");
        }
        assert!(window < 100.0, "{window}");
    }

    /// The window grows by at most half per round trip, after any time without losses.
    #[test]
    fn growth_is_bounded() {
        let mut window = 10.0;
        let mut epoch = Epoch::begin(&CUBIC, window);
        for _ in 0..10_000 {
            let next = epoch.advance(&CUBIC, window, 0.1, 0.0, 1e-2);
            assert!(next <= 1.0501 * window, "{next} after {window}");
            window = next;
        }
        assert!(window.is_finite());
    }

    /// Without a loss a window begins on the plateau, and grows from there at once [RFC 9438 §4.10]: by C·t³ and
    /// the spread of ages, 0.4·125 packets in 5 s at least.
    #[test]
    fn a_window_begins_on_the_plateau() {
        let mut window = 100.0;
        let mut epoch = Epoch::begin(&CUBIC, window);
        for _ in 0..5000 {
            window = epoch.advance(&CUBIC, window, 0.1, 0.0, 1e-3);
        }
        assert!((150.0..190.0).contains(&window), "{window}");
    }
}
