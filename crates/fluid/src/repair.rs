//! Loss repair by flows: its duration, and the cases that end in a timeout.

use crate::law::Control;
use accord_family::Repairs;

/// The repair of losses by flows.
pub(crate) struct Repair {
    /// D/rtt: the round trips that a repair takes.
    pub round_trips: f64,
    /// Q: the fraction of repairs that end in a timeout.
    pub gives_out: f64,
    /// τ: the duration of the timeout and the slow start after it.
    pub absence: f64,
}

impl Repair {
    /// Returns the mean shortfall of a flow with the window `w` during a timeout: slow start
    /// restores half of the window.
    pub(crate) fn misses(&self, w: f64, rtt: f64) -> f64 {
        w - (0.5 * w * rtt / self.absence).min(w)
    }
}

/// Returns the probability that a Poisson variable of mean `n` exceeds `m`.
fn more_than(m: f64, n: f64) -> f64 {
    let (mut term, mut sum) = ((-n).exp(), 0.0);
    for i in 0..=(m.min(1e3) as u32) {
        sum += term;
        term *= n / f64::from(i + 1);
    }
    (1.0 - sum).max(0.0)
}

impl Control {
    /// Returns the repair of losses of a window `w`, of which the fraction `p` is lost, and the
    /// fraction `again` of the retransmissions.
    pub(crate) fn repair(&self, w: f64, rtt: f64, p: f64, again: f64) -> Repair {
        // A window with a loss loses 1 + n packets, with n Poisson-distributed.
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Poisson distribution, from a table.
    #[test]
    fn more_than_two_of_one_are_rare() {
        assert!((more_than(2.0, 1.0) - 0.0803).abs() < 1e-4);
        assert!((more_than(2.9, 1.0) - 0.0803).abs() < 1e-4);
        assert!(more_than(0.0, 0.0).abs() < 1e-12);
    }
}
