//! How flows repair losses: the time that it takes, and when the timer has to.

use crate::law::Control;
use accord_family::Repairs;

/// How flows repair losses.
pub(crate) struct Repair {
    /// D/rtt: the round trips that it takes.
    pub round_trips: f64,
    /// Q: the part that ends by the timer.
    pub gives_out: f64,
    /// τ: the time that the timer and slow start take then.
    pub absence: f64,
}

impl Repair {
    /// Returns what a flow with the window `w` lacks of it in the mean of its absence: slow start brings it
    /// back to half of the window.
    pub(crate) fn misses(&self, w: f64, rtt: f64) -> f64 {
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

impl Control {
    /// Returns how flows repair the losses of a window `w`, of which the part `p` is lost and the part
    /// `again` of what is sent again.
    pub(crate) fn repair(&self, w: f64, rtt: f64, p: f64, again: f64) -> Repair {
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
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Poisson's distribution, by its table.
    #[test]
    fn more_than_two_of_one_are_rare() {
        assert!((more_than(2.0, 1.0) - 0.0803).abs() < 1e-4);
        assert!((more_than(2.9, 1.0) - 0.0803).abs() < 1e-4);
        assert!(more_than(0.0, 0.0).abs() < 1e-12);
    }
}
