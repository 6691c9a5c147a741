//! Controllers of Accord in s2n-quic, through its unstable trait.
//!
//! [s2n-quic]'s trait carries more than quinn's: the time at which the next packet may leave, stored data of
//! a packet until it is acknowledged or lost, each lost packet, the number of marks and the latest round-trip
//! time. Controllers that need a pace, samples of the delivery rate or counts of marks therefore run, too.
//! Only control packets are missing.
//!
//! ```
//! use accord_s2n::Endpoint;
//!
//! let family = |name| accord_control::FAMILIES.iter().find(|f| f.name == name).unwrap();
//! assert!(Endpoint::new(&family("bbr3").defaults()).is_ok());
//! let refused = Endpoint::new(&family("monaco").defaults()).unwrap_err();
//! assert_eq!(refused.to_string(), "monaco cannot run in s2n-quic: it does not run on a stream");
//! ```
//!
//! [s2n-quic]: https://github.com/aws/s2n-quic

mod deliveries;

use accord_control::{
    Acked, AnyController, Capabilities, Congestion, Controller, Lost, Maker, Marks, PathView,
    Transport,
};
use accord_family::{Service, Values};
use accord_units::{Bytes, Duration, Rate, Time};
use deliveries::Deliveries;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::RttEstimator;
use s2n_quic_core::recovery::congestion_controller::{self, PathInfo, Publisher};
use s2n_quic_core::time::Timestamp;

pub use deliveries::Packet;

/// The windows per smoothed round-trip time at which packets are spaced, for a controller without a
/// pace [RFC 9002 §7.7].
const PACE: f64 = 1.25;

/// The controller cannot run in s2n-quic, since it does not run on a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0} cannot run in s2n-quic: it does not run on a stream")]
pub struct Refused(pub &'static str);

/// Creates a controller of Accord for each path. Pass it to `with_congestion_controller` of a server's or
/// client's builder.
#[derive(Clone, Debug)]
pub struct Endpoint {
    values: Values,
}

impl Endpoint {
    /// Creates an endpoint with the controllers that `values` describes.
    ///
    /// # Errors
    /// Fails if the controller does not run on a stream.
    pub fn new(values: &Values) -> Result<Endpoint, Refused> {
        let family = values.family();
        match family.maker.downcast_ref::<Maker>() {
            Some(maker) if matches!(maker.transport, Transport::Stream) => {
                Ok(Endpoint { values: values.clone() })
            }
            _ => Err(Refused(family.name)),
        }
    }

    /// Returns a controller for packets of `max_datagram_size` bytes.
    pub fn controller(&self, max_datagram_size: u16) -> Ours {
        let packet = Bytes::new(u64::from(max_datagram_size));
        let mut controller = AnyController::build(&self.values, packet);
        controller.set_service(&Service::default());
        Ours::new(controller, packet)
    }
}

impl congestion_controller::Endpoint for Endpoint {
    type CongestionController = Ours;

    fn new_congestion_controller(&mut self, path: PathInfo) -> Ours {
        self.controller(path.max_datagram_size)
    }
}

/// A controller of Accord in a path of s2n-quic.
#[derive(Clone, Debug)]
pub struct Ours {
    inner: AnyController,
    capabilities: Capabilities,
    packet: Bytes,
    mtu: u64,
    /// The time of the first event, the zero of times.
    zero: Option<Timestamp>,
    deliveries: Deliveries,
    in_flight: u64,
    /// True if the application had too little to send when the last packet left.
    app_limited: bool,
    /// The round trip ends when this packet is acknowledged.
    round_end: u64,
    /// Packets sent until then belong to congestion that was answered.
    answered: Option<Time>,
    /// The marked packets not yet reported to the controller.
    marked: u64,
    /// True if a retransmission may exceed the window.
    repair: bool,
    /// The time at which the next packet may leave.
    next: Option<Timestamp>,
    srtt: Duration,
    rtt: Duration,
    min_rtt: Duration,
}

impl Ours {
    fn new(inner: AnyController, packet: Bytes) -> Ours {
        Ours {
            capabilities: inner.capabilities(),
            inner,
            packet,
            mtu: packet.get(),
            zero: None,
            deliveries: Deliveries::default(),
            in_flight: 0,
            app_limited: false,
            round_end: 0,
            answered: None,
            marked: 0,
            repair: false,
            next: None,
            srtt: Duration::ZERO,
            rtt: Duration::ZERO,
            min_rtt: Duration::MAX,
        }
    }

    /// The controller of Accord.
    pub fn controller(&self) -> &AnyController {
        &self.inner
    }

    fn time(&mut self, at: Timestamp) -> Time {
        let zero = *self.zero.get_or_insert(at);
        Time::ZERO + Duration::from(at.saturating_duration_since(zero))
    }

    /// The window, at least two packets [RFC 9002 §7.2].
    fn window(&self) -> u64 {
        self.inner.allowance().window.get().max(2 * self.mtu)
    }

    fn path(&self, in_flight: u64) -> PathView {
        PathView {
            packet: self.packet,
            srtt: self.srtt,
            rtt: self.rtt,
            min_rtt: self.min_rtt,
            in_flight: Bytes::new(in_flight),
            ..PathView::default()
        }
    }

    fn measure(&mut self, rtt: &RttEstimator) {
        self.srtt = Duration::from(rtt.smoothed_rtt());
        self.rtt = Duration::from(rtt.latest_rtt());
        self.min_rtt = Duration::from(rtt.min_rtt());
    }

    fn is_answered(&self, sent: Time) -> bool {
        self.answered.is_some_and(|answered| sent <= answered)
    }

    /// Sets the time at which the next packet may leave.
    fn pace(&mut self, sent: Timestamp, bytes: u64) {
        let srtt = self.srtt.as_secs_f64();
        let own = self.inner.allowance().pacing.map(Rate::as_bps_f64);
        let rate = own.or((srtt > 0.0).then(|| PACE * 8.0 * self.window() as f64 / srtt));
        let Some(rate) = rate.filter(|rate| *rate > 0.0) else {
            return;
        };
        let span = (bytes as f64 * 8.0 / rate).min(60.0);
        let from = self.next.filter(|next| *next > sent).unwrap_or(sent);
        self.next = from.checked_add(std::time::Duration::from_secs_f64(span));
    }
}

fn in_u32(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

impl congestion_controller::CongestionController for Ours {
    type PacketInfo = Packet;

    fn congestion_window(&self) -> u32 {
        in_u32(self.window())
    }

    fn bytes_in_flight(&self) -> u32 {
        in_u32(self.in_flight)
    }

    fn is_congestion_limited(&self) -> bool {
        self.window().saturating_sub(self.in_flight) < self.mtu
    }

    fn requires_fast_retransmission(&self) -> bool {
        self.repair
    }

    fn on_packet_sent<P: Publisher>(
        &mut self,
        time_sent: Timestamp,
        sent_bytes: usize,
        app_limited: Option<bool>,
        _: &RttEstimator,
        _: &mut P,
    ) -> Packet {
        let (now, bytes) = (self.time(time_sent), sent_bytes as u64);
        if bytes > 0 {
            self.repair = false;
            self.app_limited = app_limited.unwrap_or(self.app_limited);
            let idle = self.in_flight == 0;
            self.in_flight += bytes;
            if self.capabilities.deliveries {
                if idle && self.deliveries.is_app_limited() {
                    self.inner.on_restart(now);
                }
                self.inner.on_sent(Bytes::new(bytes), now);
            }
            self.pace(time_sent, bytes);
        }
        (self.deliveries).send(bytes, self.in_flight, self.app_limited, now)
    }

    fn on_rtt_update<P: Publisher>(
        &mut self,
        _: Timestamp,
        _: Timestamp,
        rtt: &RttEstimator,
        _: &mut P,
    ) {
        self.measure(rtt);
    }

    fn on_ack<P: Publisher>(
        &mut self,
        _: Timestamp,
        bytes_acknowledged: usize,
        newest: Packet,
        rtt: &RttEstimator,
        _: &mut dyn Generator,
        ack_receive_time: Timestamp,
        _: &mut P,
    ) {
        let (now, bytes) = (self.time(ack_receive_time), bytes_acknowledged as u64);
        self.measure(rtt);
        self.in_flight = self.in_flight.saturating_sub(bytes);
        let round_ended = newest.number >= self.round_end;
        if round_ended {
            self.round_end = self.deliveries.next();
        }
        let in_recovery = self.is_answered(newest.sent);
        let path = self.path(self.in_flight);
        let sampled = self.deliveries.acknowledge(bytes, &newest, now);
        if self.capabilities.deliveries {
            let limited = !self.app_limited;
            let sample = sampled.sample(self.rtt, self.min_rtt, in_recovery, limited);
            if self.inner.on_delivery(&sample, &path, now) {
                self.deliveries.mark_app_limited(self.in_flight);
            }
        }
        let ack = Acked {
            bytes: Bytes::new(bytes),
            rtt: Some(self.rtt),
            round_ended,
            window_limited: !self.app_limited,
            in_recovery,
            marked: std::mem::take(&mut self.marked),
        };
        self.inner.on_ack(&ack, &path, now);
    }

    fn on_packet_lost<P: Publisher>(
        &mut self,
        lost_bytes: u32,
        packet: Packet,
        persistent_congestion: bool,
        _: bool,
        _: &mut dyn Generator,
        timestamp: Timestamp,
        _: &mut P,
    ) {
        let (now, bytes) = (self.time(timestamp), u64::from(lost_bytes));
        let lost: Lost = self.deliveries.lose(bytes, &packet);
        if self.capabilities.deliveries {
            self.inner.on_lost(&lost, now);
        }
        if persistent_congestion || !self.is_answered(packet.sent) {
            self.answered = Some(now);
            self.repair = true;
            let what = if persistent_congestion { Congestion::Timeout } else { Congestion::Loss };
            let path = self.path(self.in_flight);
            self.inner.on_congestion(what, &path, now);
        }
        self.in_flight = self.in_flight.saturating_sub(bytes);
    }

    fn on_explicit_congestion<P: Publisher>(
        &mut self,
        ce_count: u64,
        event_time: Timestamp,
        _: &mut P,
    ) {
        let now = self.time(event_time);
        self.marked += ce_count;
        // Once per round trip. s2n-quic does not identify marked packets.
        let known = self.answered.is_some_and(|at| now.since(at) < self.srtt);
        if self.capabilities.marks == Marks::Loss && !known {
            self.answered = Some(now);
            let path = self.path(self.in_flight);
            self.inner.on_congestion(Congestion::Ecn, &path, now);
        }
    }

    fn on_mtu_update<P: Publisher>(&mut self, max_data_size: u16, _: &mut P) {
        self.mtu = u64::from(max_data_size);
    }

    fn on_packet_discarded<P: Publisher>(&mut self, bytes_sent: usize, _: &mut P) {
        self.in_flight = self.in_flight.saturating_sub(bytes_sent as u64);
    }

    fn earliest_departure_time(&self) -> Option<Timestamp> {
        self.next
    }
}
