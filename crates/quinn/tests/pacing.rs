//! The bursts of quinn's pacer, in a connection of quinn and in the shim for its controllers.

use accord::control::{Allowance, Controller};
use accord::units::{Bytes, Duration as Span, Rate, Time};
use accord_quinn::Theirs;
use accord_quinn::pair::{Link, Pair};
use quinn_proto::congestion::{self, ControllerFactory, ControllerMetrics};
use quinn_proto::{RttEstimator, TransportConfig};
use std::any::Any;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// The payload of quinn's packets.
const MTU: u16 = 1224;

static SENT: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

/// A constant window, and the times of packets sent.
#[derive(Clone)]
struct Fixed {
    window: u64,
}

impl congestion::Controller for Fixed {
    fn on_sent(&mut self, now: Instant, _: u64, _: u64) {
        SENT.lock().expect("no test panics").push(now);
    }

    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, _: &RttEstimator) {}

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

/// The packets of a window that quinn sends after a pause, before the first acknowledgement: the
/// first burst, and the time to the next.
fn bursts_of_quinn(packets: u64) -> (u64, f64) {
    let window = packets * u64::from(MTU);
    let link = Link {
        delay: Duration::from_millis(500),
        ..Link::WIDE
    };
    let mut pair = Pair::new(transport(window), transport(window), link);
    pair.connect();
    pair.send(1, Duration::from_secs(10));
    SENT.lock().expect("no test panics").clear();
    pair.send(window, Duration::from_secs(1));
    let sent = SENT.lock().expect("no test panics").clone();
    let first = sent[0];
    let at_once = sent.iter().take_while(|at| **at == first).count();
    (at_once as u64, (sent[at_once] - first).as_secs_f64())
}

/// The same for the shim's bucket: its size, and the time to fill it.
fn bursts_of_the_shim(packets: u64) -> (u64, f64) {
    let window = packets * u64::from(MTU);
    let packet = Bytes::new(u64::from(MTU));
    let make = |_| Box::new(Fixed { window }) as Box<dyn congestion::Controller>;
    let mut shim = Theirs::new(make, packet, accord::control::Marks::Nothing);
    let rtt = Span::from_ms(1000);
    let path = accord::control::PathView {
        packet,
        srtt: rtt,
        rtt,
        min_rtt: rtt,
        in_flight: packet,
        sent_in_round: Bytes::ZERO,
        had_too_little: false,
        delivery_rate: Rate::ZERO,
    };
    let sample = accord::control::Delivery {
        total: packet.get(),
        acked: packet.get(),
        rtt,
        prior: 0,
        delivered: packet.get(),
        interval: rtt,
        rate: Rate::ZERO,
        app_limited: false,
        tx_in_flight: packet.get(),
        lost: 0,
        in_recovery: false,
        window_limited: false,
    };
    shim.on_delivery(&sample, &path, Time::ZERO + rtt);
    let Allowance { pacing, .. } = shim.allowance();
    let burst = shim.burst();
    let rate = pacing.expect("it has a pace");
    (
        burst.get() / packet.get(),
        rate.transmission(burst).as_secs_f64(),
    )
}

/// quinn sends no fewer packets at once after a pause, and continues after the same time. Its
/// round-trip time includes the handshake and the delay of acknowledgements, so that its times are
/// slightly longer.
#[test]
fn bursts_are_those_of_quinn() {
    for window in [20, 100, 1000] {
        let (quinn, shim) = (bursts_of_quinn(window), bursts_of_the_shim(window));
        let case = format!("{window}: {quinn:?} {shim:?}");
        assert!(quinn.0 >= shim.0, "{case}");
        assert!((quinn.1 / shim.1 - 1.0).abs() < 0.1, "{case}");
    }
}
