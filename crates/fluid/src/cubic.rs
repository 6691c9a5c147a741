//! CUBIC's window as a fluid has it.
//!
//! A window is a function of the time s since its flow's last loss and of the window W_max before that
//! loss. With λ losses of a flow per second, windows in packets [VHT18]:
//!
//! ```text
//! W = max(C·(s − K)³ + W_max, W_est),  K = ∛(W_max·(1 − β)/C)    [RFC 9438 eqs. 1, 2]
//! ds/dt     = 1 − s·λ
//! dW_max/dt = (W − W_max)·λ
//! dW_est/dt = α/rtt + (β·W − W_est)·λ,  α = 3·(1 − β)/(1 + β)    [RFC 9438 eq. 4]
//! ```
//!
//! At rest s is K, so that W is (C/(1 − β))^(1/4)·(rtt/p)^(3/4). RFC 9438 §5.1 has 0.981 of it, for
//! losses at equal distances. W grows by no more than half per round trip [RFC 9438 §4.2].
//!
//! Departures: fast convergence, and α = 1 beyond the window before the loss, are in the part of losses
//! that counts where flows are spared ([`counted`]).

/// What a flow knows of its last loss, in the mean of its kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Epoch {
    /// s.
    since: f64,
    w_max: f64,
    w_est: f64,
}

/// The parameters of CUBIC.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cubic {
    pub c: f64,
    pub beta: f64,
}

/// Growth per round trip at most, as a part of the window [RFC 9438 §4.2].
const STEEPEST: f64 = 0.5;

/// Returns the part of losses that counts at random ones. Losses differ in their distances, so that
/// windows go beyond W_max, and rest higher than the means do: CUBIC's law, integrated over independent
/// losses, has 1.114 and 1.214 of the window above, with fast convergence and without
/// (`tools/studies/hybrid.py cubic`).
pub(crate) fn counted(fast_convergence: bool) -> f64 {
    match fast_convergence {
        true => 0.866,
        false => 0.772,
    }
}

impl Epoch {
    /// Congestion avoidance begins at a window that no loss has ended.
    pub fn begin(cubic: &Cubic, window: f64) -> Epoch {
        let mut epoch = Epoch {
            since: 0.0,
            w_max: window,
            w_est: window,
        };
        epoch.since = epoch.k(cubic);
        epoch
    }

    fn k(&self, cubic: &Cubic) -> f64 {
        (self.w_max * (1.0 - cubic.beta) / cubic.c).cbrt()
    }

    /// Returns the window after `h`, with so many losses per second.
    pub fn advance(&mut self, cubic: &Cubic, window: f64, rtt: f64, losses: f64, h: f64) -> f64 {
        // The parts of flows that lose something, and the time by which those that do not age.
        let lose = -(-losses * h).exp_m1();
        let ages = match lose > 1e-9 {
            true => lose / losses,
            false => h,
        };
        let alpha = 3.0 * (1.0 - cubic.beta) / (1.0 + cubic.beta);
        self.since = self.since * (1.0 - lose) + ages;
        self.w_max += lose * (window - self.w_max);
        self.w_est += alpha * h / rtt + lose * (cubic.beta * window - self.w_est);
        let curve = cubic.c * (self.since - self.k(cubic)).powi(3) + self.w_max;
        let most = window * (1.0 + STEEPEST * h / rtt);
        if curve > most {
            // Time does not pass while the window cannot follow.
            self.since = self.k(cubic) + ((most - self.w_max) / cubic.c).cbrt();
        }
        self.w_est = self.w_est.min(most);
        curve.max(self.w_est).min(most)
    }
}
