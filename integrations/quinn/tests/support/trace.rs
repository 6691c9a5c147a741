//! The calls of quinn's trait to a controller, and its decisions: recorded in one stack, replayed
//! in another.
//!
//! A [`Recorder`] stands between a stack and a controller. It records each call with the window
//! after it. [`replay`] makes the same calls to another controller. A controller that depends on
//! other inputs yields another window somewhere.

use quinn_proto::RttEstimator;
use quinn_proto::congestion::{Controller, ControllerFactory, ControllerMetrics};
use std::any::Any;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

/// A call of quinn's trait.
#[derive(Clone, Copy)]
pub enum Call {
    /// `on_sent`.
    Sent { now: Instant, bytes: u64, last_packet_number: u64 },
    /// `on_ack`.
    Ack { now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: RttEstimator },
    /// `on_end_acks`.
    EndAcks {
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    },
    /// `on_congestion_event`.
    Congestion { now: Instant, sent: Instant, is_persistent_congestion: bool, lost_bytes: u64 },
    /// `on_mtu_update`.
    Mtu { new_mtu: u16 },
}

/// A call, and the window after it.
#[derive(Clone, Copy)]
pub struct Decision {
    /// The call.
    pub call: Call,
    /// The window after it, in bytes.
    pub window: u64,
}

/// The decisions of a controller, in order. Clones share the trace.
#[derive(Clone, Default)]
pub struct Trace(Arc<Mutex<Vec<Decision>>>);

impl Trace {
    /// Creates a trace without decisions.
    pub fn new() -> Trace {
        Trace::default()
    }

    /// Returns the decisions so far, and clears them.
    pub fn take(&self) -> Vec<Decision> {
        std::mem::take(&mut self.decisions())
    }

    fn decisions(&self) -> MutexGuard<'_, Vec<Decision>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes the calls of a trace to a controller. Returns its window after each of them.
pub fn replay(decisions: &[Decision], controller: &mut dyn Controller) -> Vec<u64> {
    let windows = decisions.iter().map(|decision| {
        match decision.call {
            Call::Sent { now, bytes, last_packet_number } => {
                controller.on_sent(now, bytes, last_packet_number)
            }
            Call::Ack { now, sent, bytes, app_limited, rtt } => {
                controller.on_ack(now, sent, bytes, app_limited, &rtt)
            }
            Call::EndAcks { now, in_flight, app_limited, largest_packet_num_acked } => {
                controller.on_end_acks(now, in_flight, app_limited, largest_packet_num_acked)
            }
            Call::Congestion { now, sent, is_persistent_congestion, lost_bytes } => {
                controller.on_congestion_event(now, sent, is_persistent_congestion, lost_bytes)
            }
            Call::Mtu { new_mtu } => controller.on_mtu_update(new_mtu),
        }
        controller.window()
    });
    windows.collect()
}

/// A controller with a trace of its calls, which are passed on unchanged.
pub struct Recorder {
    inner: Box<dyn Controller>,
    trace: Trace,
}

impl Recorder {
    /// Records `inner` in `trace`.
    pub fn new(inner: Box<dyn Controller>, trace: Trace) -> Recorder {
        Recorder { inner, trace }
    }

    fn note(&mut self, call: Call) {
        let window = self.inner.window();
        self.trace.decisions().push(Decision { call, window });
    }
}

impl Controller for Recorder {
    fn on_sent(&mut self, now: Instant, bytes: u64, last_packet_number: u64) {
        self.inner.on_sent(now, bytes, last_packet_number);
        self.note(Call::Sent { now, bytes, last_packet_number });
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.inner.on_ack(now, sent, bytes, app_limited, rtt);
        self.note(Call::Ack { now, sent, bytes, app_limited, rtt: *rtt });
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        (self.inner).on_end_acks(now, in_flight, app_limited, largest_packet_num_acked);
        self.note(Call::EndAcks { now, in_flight, app_limited, largest_packet_num_acked });
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        (self.inner).on_congestion_event(now, sent, is_persistent_congestion, lost_bytes);
        self.note(Call::Congestion { now, sent, is_persistent_congestion, lost_bytes });
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.inner.on_mtu_update(new_mtu);
        self.note(Call::Mtu { new_mtu });
    }

    fn window(&self) -> u64 {
        self.inner.window()
    }

    fn metrics(&self) -> ControllerMetrics {
        self.inner.metrics()
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Recorder::new(self.inner.clone_box(), self.trace.clone()))
    }

    fn initial_window(&self) -> u64 {
        self.inner.initial_window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self.inner.into_any()
    }
}

/// A factory whose controllers are recorded, all in one trace.
pub struct Recording {
    inner: Arc<dyn ControllerFactory + Send + Sync>,
    trace: Trace,
}

impl Recording {
    /// Records the controllers of `inner` in `trace`.
    pub fn new(inner: Arc<dyn ControllerFactory + Send + Sync>, trace: Trace) -> Recording {
        Recording { inner, trace }
    }
}

impl ControllerFactory for Recording {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn Controller> {
        let inner = self.inner.clone().build(now, current_mtu);
        Box::new(Recorder::new(inner, self.trace.clone()))
    }
}
