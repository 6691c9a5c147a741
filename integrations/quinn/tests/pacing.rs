//! The bursts of quinn's pacer, in a connection of quinn and in the shim for its controllers.

#[path = "support/pair.rs"]
mod pair;

use accord::units::{Bytes, Duration as Span, Time};
use accord_quinn::Theirs;
use accord_transport::stream::{Settings, StreamSender};
use pair::{Link, Pair};
use quinn_proto::congestion::{self, ControllerFactory, ControllerMetrics};
use quinn_proto::{RttEstimator, TransportConfig};
use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The payload of quinn's packets.
const MTU: u16 = 1224;

static SENT: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

/// An almost constant window, and the times of packets sent.
#[derive(Clone)]
struct Fixed {
    window: u64,
}

impl congestion::Controller for Fixed {
    fn on_sent(&mut self, now: Instant, _: u64, _: u64) {
        SENT.lock().expect("no test panics").push(now);
    }

    /// quinn sizes its bucket when the window changes.
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, _: &RttEstimator) {
        self.window += 1;
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        self.window
    }

    fn metrics(&self) -> ControllerMetrics {
        ControllerMetrics::default()
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

impl ControllerFactory for Fixed {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn congestion::Controller> {
        Box::new((*self).clone())
    }
}

fn transport(window: u64) -> Arc<TransportConfig> {
    let mut config = TransportConfig::default();
    config
        .mtu_discovery_config(None)
        .initial_mtu(MTU)
        .max_idle_timeout(None)
        .congestion_controller_factory(Arc::new(Fixed { window }));
    Arc::new(config)
}

/// The first two bursts of a window after a pause, before its first acknowledgement: their packets, and
/// the time between them.
#[derive(Debug)]
struct Bursts {
    first: usize,
    second: usize,
    between: f64,
}

impl Bursts {
    fn of<T: Copy + PartialEq>(sent: &[T], seconds: impl Fn(T, T) -> f64) -> Bursts {
        let together =
            |from: usize| sent[from..].iter().take_while(|at| **at == sent[from]).count();
        let first = together(0);
        Bursts { first, second: together(first), between: seconds(sent[0], sent[first]) }
    }
}

/// A connection of quinn, with a round trip of a second.
fn bursts_of_quinn(packets: u64) -> Bursts {
    let window = packets * u64::from(MTU);
    let delay = Duration::from_millis(500);
    let link = Link { rate: 1_000_000_000_000_000, buffer: u64::MAX, delay };
    let mut pair = Pair::new(transport(window), transport(window), link);
    pair.connect();
    pair.send(1, Duration::from_secs(10));
    SENT.lock().expect("no test panics").clear();
    pair.send(window, Duration::from_secs(1));
    let sent = SENT.lock().expect("no test panics").clone();
    Bursts::of(&sent, |from, to| (to - from).as_secs_f64())
}

/// A stream of ours under the shim.
fn bursts_of_the_shim(packets: u64) -> Bursts {
    let window = packets * u64::from(MTU);
    let packet = Bytes::new(u64::from(MTU));
    let make = |_| Box::new(Fixed { window }) as Box<dyn congestion::Controller>;
    let shim = Theirs::new(make, packet, accord::control::Marks::Nothing);
    let mut sender = StreamSender::new(shim, packet, Settings::LINUX);
    let at = |s| Time::ZERO + Span::from_secs(s);
    sender.supply(1);
    sender.poll(at(0)).expect("there is room");
    sender.on_ack(1, 0, 0, at(0), 0, at(1));
    sender.supply(packets);
    let (mut now, mut sent) = (at(10), Vec::new());
    while now < at(11) {
        match sender.poll(now) {
            Ok(_) => sent.push(now),
            Err(next) => now = next,
        }
    }
    Bursts::of(&sent, |from, to| to.since(from).as_secs_f64())
}

/// quinn's bucket empties into a burst and is full again at the next. It fills only when it has too few
/// tokens, so the first burst after a pause is one bucket and the rest of the one before. A bucket of
/// the shim fills all the time.
#[test]
fn bursts_are_those_of_quinn() {
    for window in [100, 1000, 10_000] {
        let (quinn, shim) = (bursts_of_quinn(window), bursts_of_the_shim(window));
        let case = format!("{window}: {quinn:?} {shim:?}");
        assert!(quinn.first >= shim.first, "{case}");
        assert!(quinn.first <= 2 * shim.first, "{case}");
        assert!(quinn.second.abs_diff(shim.second) <= 1, "{case}");
        assert!((quinn.between / shim.between - 1.0).abs() < 0.1, "{case}");
    }
}
