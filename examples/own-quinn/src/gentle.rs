//! A controller for quinn that grows while the queue is short and shrinks while it is long.
//!
//! Once per round trip, with q = srtt − min_rtt:
//!
//! ```text
//! slow start  doubles until q > target
//! then        cwnd ← cwnd + packet·clamp(1 − q/target, −1, 1)
//! loss, mark  cwnd ← 0.7 cwnd
//! ```

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::any::Any;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The settings, at their defaults in Accord.
#[derive(Debug)]
pub struct GentleConfig {
    /// The queuing delay at which the window stays.
    target: Duration,
}

impl Default for GentleConfig {
    fn default() -> GentleConfig {
        GentleConfig { target: Duration::from_millis(5) }
    }
}

impl ControllerFactory for GentleConfig {
    fn build(self: Arc<Self>, now: Instant, mtu: u16) -> Box<dyn Controller> {
        let packet = f64::from(mtu);
        Box::new(Gentle {
            config: self,
            packet,
            window: 10.0 * packet,
            starting: true,
            recovery: now,
        })
    }
}

#[derive(Clone, Debug)]
struct Gentle {
    config: Arc<GentleConfig>,
    packet: f64,
    window: f64,
    starting: bool,
    /// The beginning of the last recovery.
    recovery: Instant,
}

impl Controller for Gentle {
    fn on_ack(&mut self, _: Instant, sent: Instant, bytes: u64, idle: bool, rtt: &RttEstimator) {
        if idle || sent <= self.recovery {
            return;
        }
        let queued = rtt.get().saturating_sub(rtt.min());
        let excess = queued.as_secs_f64() / self.config.target.as_secs_f64();
        self.starting &= excess <= 1.0;
        // The acknowledgements of a round trip cover a window together.
        let growth = if self.starting {
            1.0
        } else {
            (1.0 - excess).clamp(-1.0, 1.0) * self.packet / self.window
        };
        self.window = (self.window + growth * bytes as f64).max(2.0 * self.packet);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, _: u64) {
        if sent <= self.recovery {
            return;
        }
        self.recovery = now;
        self.starting = false;
        let kept = if persistent { 0.0 } else { 0.7 * self.window };
        self.window = kept.max(2.0 * self.packet);
    }

    fn on_mtu_update(&mut self, mtu: u16) {
        self.packet = f64::from(mtu);
    }

    fn window(&self) -> u64 {
        self.window as u64
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        10 * self.packet as u64
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
