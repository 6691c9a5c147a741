//! BBRv1's detector of token-bucket policers: two intervals with much loss and the same rate.

use crate::Delivery;
use accord_units::Time;

/// The fewest and the most round trips in an interval.
const ROUNDS: (u32, u32) = (4, 16);
/// The smallest ratio of lost to delivered bytes at which an interval counts.
const LOSSY: f64 = 50.0 / 256.0;
/// The relative and the absolute difference, in bytes per second, up to which two rates count as
/// equal.
const SAME: (f64, f64) = (1.0 / 8.0, 4000.0 / 8.0);
/// The round trips for which the rate of a policer is kept.
const KEPT: u32 = 48;

/// The detector.
#[derive(Clone, Debug, Default)]
pub(super) struct Policer {
    sampling: bool,
    rounds: u32,
    /// The rate of the last interval that counted, in bytes per second; zero for none.
    last: f64,
    /// True if the rate is that of a policer.
    found: bool,
    /// The beginning of the interval: its time, and the bytes delivered and lost until then.
    began: Time,
    delivered: u64,
    lost: u64,
    /// The bytes lost so far.
    all_lost: u64,
}

impl Policer {
    /// The rate of the policer in bytes per second, if one was found.
    pub fn rate(&self) -> Option<f64> {
        self.found.then_some(self.last)
    }

    /// Counts a loss.
    pub fn lose(&mut self, bytes: u64) {
        self.all_lost = self.all_lost.saturating_add(bytes);
    }

    fn begin(&mut self, delivered: u64, now: Time) {
        (self.began, self.delivered, self.lost) = (now, delivered, self.all_lost);
        self.rounds = 0;
    }

    /// Starts a search for a policer. `delivered` is the number of bytes delivered so far.
    pub fn restart(&mut self, delivered: u64, now: Time) {
        (self.last, self.found, self.sampling) = (0.0, false, false);
        self.begin(delivered, now);
    }

    /// Takes a sample. Returns true if the rate of a policer has been kept long enough, so
    /// probing restarts.
    pub fn sample(
        &mut self,
        rs: &Delivery,
        losses: bool,
        round_start: bool,
        probing: bool,
        now: Time,
    ) -> bool {
        if self.found {
            self.rounds += u32::from(round_start && probing);
            let over = self.rounds >= KEPT;
            if over {
                self.restart(rs.total, now);
            }
            return over;
        }
        if !self.sampling {
            // The first loss shows that the tokens are spent.
            if !losses {
                return false;
            }
            self.begin(rs.total, now);
            self.sampling = true;
        }
        self.rounds += u32::from(round_start);
        if rs.app_limited || self.rounds > ROUNDS.1 {
            self.restart(rs.total, now);
        } else if self.rounds >= ROUNDS.0 && losses {
            self.end(rs, now);
        }
        false
    }

    /// Ends an interval at a loss, if enough was lost in it.
    fn end(&mut self, rs: &Delivery, now: Time) {
        let lost = self.all_lost.saturating_sub(self.lost) as f64;
        let delivered = rs.total.saturating_sub(self.delivered) as f64;
        let seconds = now.since(self.began).as_secs_f64();
        if delivered == 0.0 || lost < LOSSY * delivered || seconds < 1e-3 {
            return;
        }
        let rate = delivered / seconds;
        let difference = (rate - self.last).abs();
        if self.last > 0.0 && (difference <= SAME.0 * self.last || difference <= SAME.1) {
            self.last = (rate + self.last) / 2.0;
            (self.found, self.rounds) = (true, 0);
            return;
        }
        self.last = rate;
        self.begin(rs.total, now);
    }
}
