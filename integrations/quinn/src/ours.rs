//! Controllers of Accord in connections of quinn.
//!
//! quinn's trait lacks a pace, samples of the delivery rate, the identity of lost packets and the number of
//! marked ones, and control packets (`docs/src/quinn.md`). [`Factory::new`] rejects the controllers that need
//! one of these: see [`Refused`]. The pace of Copa is two windows per round trip, which only makes its
//! packets less bursty. quinn's own pace replaces it. quinn probes the packet size of its path, and increases
//! it. A controller here has a constant packet size as its unit: [`Factory::packet`].

use crate::clock::Clock;
use accord_control::{
    Acked, AnyController, Capabilities, Congestion, Controller, Maker, Marks, PathView, Transport,
};
use accord_family::{Family, Service, Values};
use accord_units::{Bytes, Duration, Rate, Time};
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};
use std::any::Any;
use std::sync::Arc;
use std::time::Instant;

/// The controller cannot run in quinn, because quinn lacks an input that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} cannot run in quinn: it {why}")]
pub struct Refused {
    /// The controller.
    pub name: &'static str,
    /// The reason, as the rest of a sentence about the controller.
    pub why: &'static str,
}

/// Creates a controller of Accord for each path of a connection of quinn. It is set as
/// [`quinn_proto::TransportConfig::congestion_controller_factory`].
///
/// ```
/// use accord_quinn::Factory;
/// use quinn_proto::TransportConfig;
/// use std::sync::Arc;
///
/// let vegas = accord_control::FAMILIES.iter().find(|f| f.name == "vegas").expect("it is there");
/// let factory = Factory::new(&vegas.defaults())?;
/// let mut config = TransportConfig::default();
/// config.congestion_controller_factory(Arc::new(factory));
///
/// let bbr3 = accord_control::FAMILIES.iter().find(|f| f.name == "bbr3").expect("it is there");
/// let refused = Factory::new(&bbr3.defaults()).expect_err("it needs a pace");
/// assert!(refused.to_string().starts_with("bbr3 cannot run in quinn"));
/// # Ok::<(), accord_quinn::Refused>(())
/// ```
#[derive(Clone, Debug)]
pub struct Factory {
    values: Values,
    packet: Bytes,
}

/// The largest packets that quinn probes by default: those of Ethernet.
const PACKET: Bytes = Bytes::new(1452);

impl Factory {
    /// Creates a factory of the controllers that `values` describes.
    ///
    /// # Errors
    ///
    /// Fails if the controller needs an input that quinn lacks.
    pub fn new(values: &Values) -> Result<Factory, Refused> {
        let family = values.family();
        match obstacle(family, values) {
            Some(why) => Err(Refused { name: family.name, why }),
            None => Ok(Factory { values: values.clone(), packet: PACKET }),
        }
    }

    /// Sets the packet size that is the controller's unit. The default is 1452 bytes, the maximum that quinn
    /// probes. Set it for a path with smaller packets, or a connection that does not probe.
    pub fn packet(&mut self, packet: Bytes) -> &mut Factory {
        self.packet = packet;
        self
    }
}

/// Returns the reason why a controller cannot run in quinn, if there is one.
fn obstacle(family: &Family, values: &Values) -> Option<&'static str> {
    let Some(maker) = family.maker.downcast_ref::<Maker>() else {
        return Some("is a queue discipline");
    };
    match maker.transport {
        Transport::Stream => {}
        Transport::Tunnel { .. } => {
            return Some("needs pairs of control packets, and QUIC has acknowledgements only");
        }
        Transport::Open => {
            return Some("does not respond to the network, and quinn needs a window");
        }
    }
    let controller = (maker.build)(values, PACKET);
    let wants = controller.capabilities();
    if wants.deliveries {
        Some(
            "needs samples of the delivery rate and a pace of its own, and quinn's trait carries \
             neither",
        )
    } else if wants.marks == Marks::Price || counts_marks(&controller, PACKET) {
        Some("counts marked packets, and quinn reports only that there were some")
    } else {
        None
    }
}

/// Returns true if the number of marked packets in acknowledgements affects the controller.
fn counts_marks(controller: &AnyController, packet: Bytes) -> bool {
    let window = |marked| {
        let mut c = controller.clone();
        let rtt = Duration::from_ms(20);
        let path = PathView {
            packet,
            srtt: rtt,
            rtt,
            min_rtt: rtt,
            in_flight: Bytes::new(20 * packet.get()),
            ..PathView::default()
        };
        let mut now = Time::ZERO;
        for i in 0..100 {
            now += Duration::from_ms(2);
            let ack = Acked {
                bytes: packet,
                rtt: Some(rtt),
                round_ended: i % 10 == 9,
                window_limited: true,
                in_recovery: false,
                marked,
            };
            c.on_ack(&ack, &path, now);
        }
        c.on_congestion(Congestion::Ecn, &path, now);
        c.allowance().window
    };
    window(0) != window(1)
}

impl congestion::ControllerFactory for Factory {
    fn build(self: Arc<Self>, now: Instant, current_mtu: u16) -> Box<dyn congestion::Controller> {
        let mut controller = AnyController::build(&self.values, self.packet);
        controller.set_service(&Service::default());
        let mtu = u64::from(current_mtu);
        Box::new(Ours::new(controller, self.packet, mtu, now))
    }
}

/// A controller of Accord in a connection of quinn.
#[derive(Clone, Debug)]
pub struct Ours {
    inner: AnyController,
    capabilities: Capabilities,
    clock: Clock,
    packet: Bytes,
    mtu: u64,
    initial: u64,
    /// The acknowledgements of the current batch.
    batch: Batch,
    in_flight: u64,
    /// The newest packet sent.
    sent: u64,
    /// The round trip ends when a packet after this one is acknowledged.
    round_end: Option<u64>,
    /// Packets sent until then belong to congestion that was answered.
    answered: Option<Instant>,
    srtt: Duration,
    rtt: Duration,
    min_rtt: Duration,
}

/// Packets acknowledged together.
#[derive(Clone, Copy, Debug, Default)]
struct Batch {
    bytes: u64,
    /// The sending time of the newest packet.
    newest: Option<Instant>,
}

impl Ours {
    fn new(inner: AnyController, packet: Bytes, mtu: u64, now: Instant) -> Ours {
        let mut ours = Ours {
            capabilities: inner.capabilities(),
            inner,
            clock: Clock::starting_at(now),
            packet,
            mtu,
            initial: 0,
            batch: Batch::default(),
            in_flight: 0,
            sent: 0,
            round_end: None,
            answered: None,
            srtt: Duration::ZERO,
            rtt: Duration::ZERO,
            min_rtt: Duration::MAX,
        };
        ours.initial = congestion::Controller::window(&ours);
        ours
    }

    /// The controller of Accord.
    pub fn controller(&self) -> &AnyController {
        &self.inner
    }

    fn path(&self) -> PathView {
        PathView {
            packet: self.packet,
            srtt: self.srtt,
            rtt: self.rtt,
            min_rtt: self.min_rtt,
            in_flight: Bytes::new(self.in_flight),
            ..PathView::default()
        }
    }

    /// Returns true if a packet sent at this time belongs to congestion that was answered.
    fn is_answered(&self, sent: Instant) -> bool {
        self.answered.is_some_and(|answered| sent <= answered)
    }
}

impl congestion::Controller for Ours {
    fn on_sent(&mut self, _: Instant, bytes: u64, last_packet_number: u64) {
        self.in_flight += bytes;
        self.sent = last_packet_number;
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, rtt: &RttEstimator) {
        self.batch.bytes += bytes;
        self.batch.newest = self.batch.newest.max(Some(sent));
        let latest = now.saturating_duration_since(sent);
        self.rtt = Duration::from(latest);
        // quinn passes the estimator before this sample. Its smallest value may be the initial
        // estimate.
        self.srtt = Duration::from(rtt.get());
        self.min_rtt = Duration::from(rtt.min().min(latest));
    }

    fn on_end_acks(
        &mut self,
        now: Instant,
        in_flight: u64,
        app_limited: bool,
        largest_packet_num_acked: Option<u64>,
    ) {
        self.in_flight = in_flight;
        let batch = std::mem::take(&mut self.batch);
        let Some(newest) = batch.newest else {
            return;
        };
        let round_ended = largest_packet_num_acked >= self.round_end;
        if round_ended {
            self.round_end = Some(self.sent + 1);
        }
        let ack = Acked {
            bytes: Bytes::new(batch.bytes),
            rtt: Some(self.rtt),
            round_ended,
            window_limited: !app_limited,
            in_recovery: self.is_answered(newest),
            marked: 0,
        };
        let path = self.path();
        self.inner.on_ack(&ack, &path, self.clock.time(now));
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        let mark = lost_bytes == 0;
        let means_nothing = mark && self.capabilities.marks == Marks::Nothing;
        let known = self.is_answered(sent) && !is_persistent_congestion;
        if !known && !means_nothing {
            self.answered = Some(now);
            let what = match (is_persistent_congestion, mark) {
                (true, _) => Congestion::Timeout,
                (false, true) => Congestion::Ecn,
                (false, false) => Congestion::Loss,
            };
            let path = self.path();
            self.inner.on_congestion(what, &path, self.clock.time(now));
        }
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu = u64::from(new_mtu);
    }

    /// The window, at least two packets [RFC 9002 §7.2], and one byte more: quinn keeps the bytes
    /// in flight below its window, and a controller here allows bytes up to its window.
    fn window(&self) -> u64 {
        self.inner.allowance().window.get().max(2 * self.mtu) + 1
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.window();
        metrics.ssthresh = self.inner.ssthresh().map(Bytes::get);
        metrics.pacing_rate = self.inner.allowance().pacing.map(Rate::as_bps);
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.initial
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
