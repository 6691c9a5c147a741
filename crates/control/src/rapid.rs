//! Rapid Start: slow start that triples the window while there is no queue, and a first recovery in which the window
//! falls with the data acknowledged and lost [draft-kazuho-ccwg-rapid-start-02].
//!
//! With β that of the congestion avoidance that follows, W the window at the first loss or mark and K = `rapid_k`:
//!
//! ```text
//! growth     twice the acknowledged bytes while
//!            rtt_floor ≤ min(min_rtt + rapid_rise_time, min_rtt·(1 + rapid_rise)),
//!            else the acknowledged bytes                            [§3.2]
//! loss       cwnd ← (β + K·(1 − β))·W                               [§3.3]
//! recovery   cwnd ← cwnd − K·(1 − β)·acknowledged − (β + K·(1 − β))·lost,
//!            not below β·W/3, β·min(W, IW) and two packets          [§3.3]
//! ```
//!
//! rtt_floor is the smallest round-trip time of the latest four quarters of `min_rtt`, the last of which is under way. If all losses are of a full queue, the recovery ends
//! with β times the data that path and queue hold, whatever part was lost.

use crate::prelude::*;
use crate::tcp_window::TcpWindow;

/// The part of the window at the first loss that the path and its queue held at least: a window that triples
/// overshoots by this factor at most.
const OVERSHOOT: f64 = 3.0;

/// The state of a first slow start and of the recovery after it.
#[derive(Clone, Debug)]
pub(crate) struct Rapid {
    rise: f64,
    rise_time: Duration,
    beta: f64,
    /// K·(1 − β).
    acked_part: f64,
    /// W_max after the recovery, in windows that path and queue hold.
    plateau: f64,
    quarters: Quarters,
    triples: bool,
    /// The bytes found lost since the last acknowledgement outside of the recovery.
    lost: u64,
    recovery: Option<Recovery>,
}

/// The state of the recovery, in bytes.
#[derive(Clone, Copy, Debug)]
struct Recovery {
    window: f64,
    /// The least window.
    least: f64,
    /// The data in flight at the begin that is neither acknowledged nor lost yet. Later data does not count: in TCP a
    /// recovery lasts until the repairs have arrived.
    left: u64,
}

/// The smallest round-trip times of the latest quarters of a span, the newest first.
#[derive(Clone, Copy, Debug)]
struct Quarters {
    floors: [Duration; 4],
    /// The end of the quarter that is under way.
    end: Time,
}

impl Quarters {
    /// Adds a sample. Returns the smallest one of these quarters.
    fn floor(&mut self, rtt: Duration, span: Duration, now: Time) -> Duration {
        let quarter = Duration::from_ps((span.as_ps() / 4).max(1));
        if now >= self.end {
            let passed = now.since(self.end).as_ps() / quarter.as_ps() + 1;
            for _ in 0..passed.min(4) {
                self.floors.rotate_right(1);
                self.floors[0] = Duration::MAX;
            }
            self.end += quarter * passed;
        }
        self.floors[0] = self.floors[0].min(rtt);
        self.floors.into_iter().fold(rtt, Duration::min)
    }
}

impl Rapid {
    /// Creates the state for a congestion avoidance with the parameter `beta`.
    pub fn new(values: &Values) -> Rapid {
        let beta = values.number("beta");
        Rapid {
            rise: values.number("rapid_rise"),
            rise_time: values.duration("rapid_rise_time"),
            beta,
            acked_part: values.number("rapid_k") * (1.0 - beta),
            plateau: values.number("rapid_w_max"),
            quarters: Quarters { floors: [Duration::MAX; 4], end: Time::ZERO },
            triples: false,
            lost: 0,
            recovery: None,
        }
    }

    /// Returns the bytes that the window grows by for an acknowledgement.
    pub fn growth(&mut self, ack: &Acked, path: &PathView, now: Time) -> u64 {
        self.lost = 0;
        if let Some(rtt) = ack.rtt {
            let min_rtt = path.min_rtt.min(rtt);
            let floor = self.quarters.floor(rtt, min_rtt, now);
            self.triples =
                floor <= (min_rtt + self.rise_time).min(min_rtt.mul_f64(1.0 + self.rise));
        }
        ack.bytes.get().saturating_mul(1 + u64::from(self.triples))
    }

    /// Begins the recovery from this window with this data in flight. Returns the window then.
    pub fn begin_recovery(&mut self, cwnd: &TcpWindow, in_flight: Bytes) -> u64 {
        let before = cwnd.window as f64;
        let least = (self.beta * before / OVERSHOOT)
            .max(self.beta * before.min(cwnd.initial() as f64))
            .max(2.0 * cwnd.packet as f64);
        let window = (self.lost_part() * before).max(least);
        // The loss that begins a recovery has its cut already.
        let left = in_flight.get().min(cwnd.window).saturating_sub(cwnd.packet);
        self.recovery = Some(Recovery { window, least, left });
        let others = self.lost.saturating_sub(cwnd.packet);
        self.shrink(0, others).unwrap_or(cwnd.window)
    }

    /// Returns true in the recovery.
    pub fn recovers(&self) -> bool {
        self.recovery.is_some()
    }

    /// Returns true while the window triples.
    pub fn triples(&self) -> bool {
        self.triples
    }

    /// Takes bytes found lost. Returns the window if this changes it.
    pub fn lose(&mut self, bytes: u64) -> Option<u64> {
        self.lost = self.lost.saturating_add(bytes);
        self.shrink(0, bytes)
    }

    /// Takes bytes acknowledged and lost in the recovery. Returns its window.
    pub fn shrink(&mut self, acked: u64, lost: u64) -> Option<u64> {
        let (acked_part, lost_part) = (self.acked_part, self.lost_part());
        let recovery = self.recovery.as_mut()?;
        let lost = lost.min(recovery.left);
        let acked = acked.min(recovery.left - lost);
        recovery.left -= lost + acked;
        let less = acked_part * acked as f64 + lost_part * lost as f64;
        recovery.window = (recovery.window - less).max(recovery.least);
        Some(recovery.window.round() as u64)
    }

    /// Returns the estimate of the data that path and queue hold, of a window at the end of the recovery, and W_max.
    pub fn hand_over(&self, window: f64) -> (f64, f64) {
        let full = window / self.beta;
        (full, self.plateau * full)
    }

    /// The part of lost bytes that the window falls by, and of the window that remains at first.
    fn lost_part(&self) -> f64 {
        self.beta + self.acked_part
    }
}
