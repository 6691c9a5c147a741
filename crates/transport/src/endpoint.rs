//! The two ends of a flow, on the transport of its controller.

use crate::qlog::Logged;
use crate::tos::{CAPABLE, SCALABLE};
use crate::{RoundTrip, Segment, stream, tunnel};
use accord_control::{AnyController, Controller, Maker, Marks, Report, Transport};
use accord_family::{Inner, InnerState, Service, Values};
use accord_units::{Bytes, Duration, Rate, Time};
use std::ops::Range;

/// The sending end.
#[expect(clippy::large_enum_variant, reason = "streams are the hot path, and most flows")]
#[derive(Clone, Debug)]
pub enum Sender {
    /// A stream: packets are acknowledged, and losses repaired.
    Stream(stream::StreamSender),
    /// A tunnel: control pairs steer packets. It is boxed, because most flows are streams.
    Tunnel(Box<tunnel::Ingress>),
    /// Datagrams: packets leave as the application makes them.
    Datagrams(Datagrams),
    /// A stream whose sender writes a log.
    Logged(Box<Logged>),
}

/// The receiving end.
#[derive(Clone, Debug)]
pub enum Receiver {
    /// The receiving end of [`Sender::Stream`].
    Stream(stream::StreamReceiver),
    /// The receiving end of [`Sender::Tunnel`].
    /// It is boxed, because most flows are streams, whose end is small.
    Tunnel(Box<tunnel::Egress>),
    /// The receiving end of [`Sender::Datagrams`].
    Datagrams,
}

/// A sender that sends supplied packets at once.
#[derive(Clone, Debug, Default)]
pub struct Datagrams {
    available: u64,
    sent: u64,
}

/// The state of a sender, as the recorder reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// The congestion window in bytes.
    pub cwnd: Option<Bytes>,
    /// The slow-start threshold in bytes.
    pub ssthresh: Option<Bytes>,
    /// The rate of pacing, if the controller sets one.
    pub pacing: Option<Rate>,
    /// The smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// The estimated base round-trip time.
    pub min_rtt: Option<Duration>,
    /// The estimated accumulation, in bytes.
    pub accumulation: Option<f64>,
    /// The packets sent again so far.
    pub retransmissions: u64,
}

/// A receiver's answer to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Receipt {
    /// True if a data packet arrived for the first time. It is `None` for other packets.
    pub data: Option<bool>,
    /// The packet to send back.
    pub reply: Option<Segment>,
}

/// Creates both ends of a flow with packets of `packet` bytes and a path whose base round-trip time
/// is `base_rtt`. `values` holds the parameters of its controller, and `service` is the service
/// that it should get.
pub fn endpoints(
    values: &Values,
    service: &Service,
    packet: Bytes,
    base_rtt: Duration,
    settings: stream::Settings,
) -> (Sender, Receiver) {
    let controller = controller(values, service, packet, base_rtt);
    match Maker::of(values.family()).transport {
        Transport::Open => (Sender::Datagrams(Datagrams::default()), Receiver::Datagrams),
        Transport::Tunnel { sending, meter, counts } => (
            Sender::Tunnel(Box::new(tunnel::Ingress::new(controller, packet, sending(values)))),
            Receiver::Tunnel(Box::new(tunnel::Egress::new(meter(values), counts(values)))),
        ),
        Transport::Stream => (
            Sender::Stream(stream::StreamSender::new(controller, packet, settings)),
            Receiver::Stream(stream::StreamReceiver::new()),
        ),
    }
}

fn controller(
    values: &Values,
    service: &Service,
    packet: Bytes,
    base_rtt: Duration,
) -> AnyController {
    let mut controller = AnyController::build(values, packet);
    controller.set_base_rtt(base_rtt);
    controller.set_service(service);
    controller
}

impl Sender {
    /// Adds packets of the application to send.
    pub fn supply(&mut self, packets: u64) {
        match self {
            Sender::Stream(s) => s.supply(packets),
            Sender::Logged(s) => s.sender_mut().supply(packets),
            Sender::Tunnel(s) => s.supply(packets),
            Sender::Datagrams(s) => s.available = s.available.saturating_add(packets),
        }
    }

    /// Ends the supply: the application sends no more.
    pub fn stop(&mut self) {
        match self {
            Sender::Stream(s) => s.stop(),
            Sender::Logged(s) => s.sender_mut().stop(),
            Sender::Tunnel(s) => s.stop(),
            Sender::Datagrams(s) => s.available = s.sent,
        }
    }

    /// Starts a new connection for the data supplied from now on, with the controller of `values`
    /// on a path of this base round-trip time. A tunnel stays the same for all connections that it
    /// carries. Datagrams have no connections.
    pub fn reconnect(&mut self, values: &Values, service: &Service, base_rtt: Duration, now: Time) {
        if let Some(s) = self.stream_mut() {
            s.reconnect(controller(values, service, s.packet(), base_rtt), now);
        }
    }

    /// Names a stream in the log.
    pub fn set_name(&mut self, name: &str) {
        if let Some(s) = self.stream_mut() {
            s.set_name(name);
        }
    }

    /// Returns the longest memory of the controller.
    pub fn memory(&self) -> Duration {
        match self {
            Sender::Stream(s) => s.memory(),
            Sender::Logged(s) => s.sender().memory(),
            Sender::Tunnel(s) => s.controller().memory(),
            Sender::Datagrams(_) => Duration::ZERO,
        }
    }

    /// Returns true if the sender is open-loop.
    pub fn is_open(&self) -> bool {
        matches!(self, Sender::Datagrams(_))
    }

    /// Returns a packet to send, or the time at which to ask again.
    #[inline(always)]
    pub fn poll(&mut self, now: Time) -> Result<Segment, Time> {
        match self {
            Sender::Stream(s) => s.poll(now),
            Sender::Logged(s) => s.poll(now),
            Sender::Tunnel(s) => s.poll(now),
            Sender::Datagrams(s) if s.sent < s.available => {
                s.sent += 1;
                Ok(Segment::Data { number: s.sent - 1, sent: now })
            }
            Sender::Datagrams(_) => Err(Time::MAX),
        }
    }

    /// Returns the numbers of all data packets that [`Sender::poll`] would return one by one now,
    /// before it returns the time of the next reply or wake-up. Returns `None` if they are not
    /// known.
    #[inline(always)]
    pub fn burst(&mut self, now: Time) -> Option<Range<u64>> {
        match self {
            Sender::Stream(s) => s.burst(now),
            _ => None,
        }
    }

    /// The time at which the endpoint must be woken.
    #[inline]
    pub fn next_wake(&self) -> Time {
        match self {
            Sender::Stream(s) => s.next_wake(),
            Sender::Logged(s) => s.sender().next_wake(),
            Sender::Tunnel(s) => s.next_wake(),
            Sender::Datagrams(_) => Time::MAX,
        }
    }

    /// Notifies the endpoint that its wake time may have come.
    pub fn on_wake(&mut self, now: Time) {
        match self {
            Sender::Stream(s) => s.on_wake(now),
            Sender::Logged(s) => s.on_wake(now),
            Sender::Tunnel(s) => s.on_wake(now),
            Sender::Datagrams(_) => {}
        }
    }

    /// Sets the size of a tunnel's next data packet and the number of waiting packets, including
    /// this one. Only tunnels carry packets from elsewhere.
    pub fn set_head(&mut self, size: Option<Bytes>, packets: u64) {
        if let Sender::Tunnel(s) = self {
            s.set_head(size, packets);
        }
    }

    /// Returns true if all supplied data has arrived.
    pub fn is_done(&self) -> bool {
        match self {
            Sender::Stream(s) => s.is_done(),
            Sender::Logged(s) => s.sender().is_done(),
            Sender::Tunnel(s) => s.is_done(),
            Sender::Datagrams(s) => s.sent >= s.available,
        }
    }

    /// The stream, if the sender is one.
    fn stream(&self) -> Option<&stream::StreamSender> {
        match self {
            Sender::Stream(s) => Some(s),
            Sender::Logged(s) => Some(s.sender()),
            Sender::Tunnel(_) | Sender::Datagrams(_) => None,
        }
    }

    fn stream_mut(&mut self) -> Option<&mut stream::StreamSender> {
        match self {
            Sender::Stream(s) => Some(s),
            Sender::Logged(s) => Some(s.sender_mut()),
            Sender::Tunnel(_) | Sender::Datagrams(_) => None,
        }
    }

    /// Returns the sender with a log, if it is a stream. `inner` are the variables of its controller's family.
    pub fn logged(self, inner: &'static [Inner]) -> Sender {
        match self {
            Sender::Stream(s) => Sender::Logged(Box::new(Logged::new(s, inner))),
            other => other,
        }
    }

    /// Takes the records of the log since the last call, if there is one: see [`crate::qlog`].
    pub fn take_log(&mut self) -> Option<String> {
        match self {
            Sender::Logged(s) => Some(s.take()),
            _ => None,
        }
    }

    /// Takes an acknowledgement as [`Sender::on_reply`] does, if it is the next one of a stream in
    /// order. Returns the result of [`Sender::burst`]. Otherwise returns `None` and does not take
    /// the acknowledgement.
    #[inline(always)]
    pub fn acknowledge(
        &mut self,
        next: u64,
        block: u32,
        block_len: u32,
        echo: Time,
        marked: u32,
        now: Time,
    ) -> Option<Option<Range<u64>>> {
        let Sender::Stream(s) = self else {
            return None;
        };
        let allowance = s.acknowledge(next, block, block_len, echo, marked, now)?;
        Some(s.next_burst(allowance, now))
    }

    /// A time at or before [`Sender::next_wake`] after [`Sender::acknowledge`].
    #[inline]
    pub fn earliest_wake(&self) -> Time {
        match self {
            Sender::Stream(s) => s.earliest_wake(),
            _ => Time::ZERO,
        }
    }

    /// Takes an answer of the receiver: an acknowledgement, a report or a count. Ignores any other packet.
    #[inline]
    pub fn on_reply(&mut self, reply: &Segment, now: Time) {
        let stream = match self {
            Sender::Stream(s) => s,
            other => return other.on_other_reply(reply, now),
        };
        if let Segment::Ack { next, block, block_len, echo, marked } = *reply
            && stream.acknowledge(next, block, block_len, echo, marked, now).is_none()
        {
            stream.on_ack(next, block, block_len, echo, marked, now);
        }
    }

    #[inline(never)]
    fn on_other_reply(&mut self, reply: &Segment, now: Time) {
        match (self, *reply) {
            (Sender::Logged(s), Segment::Ack { next, block, block_len, echo, marked }) => {
                s.on_ack(next, block, block_len, echo, marked, now)
            }
            (
                Sender::Tunnel(s),
                Segment::Report { pair, accumulation, lost, egress_bps, virtual_s, received },
            ) => {
                let report = Report {
                    number: pair,
                    accumulation: f64::from(accumulation),
                    egress_rate: Rate::from_bps_f64(f64::from(egress_bps)),
                    virtual_delay: Duration::from_secs_f64(f64::from(virtual_s)),
                    lost,
                    // The ingress knows the virtual delay.
                    lost_bytes: Bytes::ZERO,
                    received,
                };
                s.on_report(&report, now);
            }
            (Sender::Tunnel(s), Segment::Count { received, virtual_s }) => {
                s.on_count(received, f64::from(virtual_s))
            }
            _ => {}
        }
    }

    /// Returns the ECN codepoint of the data packets, which depends on the controller's reaction to
    /// marks: zero for none, ECT(0) or ECT(1).
    pub fn codepoint(&self) -> u8 {
        let Some(stream) = self.stream() else {
            return 0;
        };
        let capabilities = stream.controller().capabilities();
        match capabilities.marks {
            Marks::Nothing => 0,
            _ if capabilities.scalable => SCALABLE,
            _ => CAPABLE,
        }
    }

    /// Sets the base round-trip time of the network.
    pub fn set_base_rtt(&mut self, base_rtt: Duration) {
        if let Some(s) = self.stream_mut() {
            s.set_base_rtt(base_rtt);
        }
    }

    /// Returns the state for the recorder.
    pub fn view(&self) -> View {
        let (controller, rtt, retransmissions) = match self {
            Sender::Stream(s) => s.facts(),
            Sender::Logged(s) => s.sender().facts(),
            Sender::Tunnel(s) => (s.controller(), s.round_trip(), 0),
            Sender::Datagrams(_) => return View::default(),
        };
        View {
            cwnd: Some(controller.cwnd()),
            ssthresh: controller.ssthresh(),
            pacing: controller.allowance().pacing,
            rtt: Some(rtt.smoothed()).filter(|d| !d.is_zero()),
            min_rtt: controller.base_rtt_estimate(),
            accumulation: controller.accumulation_estimate(),
            retransmissions,
        }
    }

    /// Returns the inner state for the recorder.
    pub fn inner(&self) -> InnerState {
        let (controller, in_flight, acknowledged) = match self {
            Sender::Stream(s) => s.inner(),
            Sender::Logged(s) => s.sender().inner(),
            Sender::Tunnel(s) => (s.controller(), s.in_flight(), s.arrived()),
            Sender::Datagrams(_) => return InnerState::default(),
        };
        let mut variables = Vec::new();
        controller.inner(&mut variables);
        InnerState {
            in_flight: Some(in_flight),
            pacing: controller.allowance().pacing.map(Rate::as_bps_f64),
            acknowledged: Some(acknowledged),
            variables,
        }
    }
}

impl stream::StreamSender {
    /// Returns the controller, and the bytes in flight and acknowledged.
    fn inner(&self) -> (&AnyController, u64, u64) {
        (self.controller(), self.bytes_in_flight().get(), self.bytes_acknowledged())
    }

    /// Returns the controller, the round-trip times and the number of packets sent again.
    fn facts(&self) -> (&AnyController, &RoundTrip, u64) {
        (self.controller(), self.round_trip(), self.retransmissions())
    }
}

impl Receiver {
    /// Takes a packet that arrived, with a congestion mark or without one. `virtual_delay` is the
    /// virtual delay that the packet has collected, in seconds. `truth` is the accumulation by its
    /// definition, for the ideal estimator. It is used only for in-band packets.
    #[inline]
    pub fn on_segment(
        &mut self,
        segment: &Segment,
        size: Bytes,
        marked: bool,
        virtual_delay: f64,
        truth: Option<f64>,
        now: Time,
    ) -> Receipt {
        match (self, *segment) {
            (Receiver::Stream(r), Segment::Data { number, sent }) => {
                let (fresh, ack) = r.on_data(number, sent, marked);
                Receipt { data: Some(fresh), reply: Some(ack) }
            }
            (Receiver::Tunnel(r), Segment::Data { .. }) => {
                Receipt { data: Some(true), reply: r.on_data(size, virtual_delay, now) }
            }
            (Receiver::Datagrams, Segment::Data { .. }) => {
                Receipt { data: Some(true), reply: None }
            }
            (Receiver::Tunnel(r), Segment::OutOfBand { pair, sent }) => {
                r.on_out_of_band(pair, sent, now);
                Receipt::default()
            }
            (Receiver::Tunnel(r), Segment::InBand { pair, sent_bytes }) => Receipt {
                data: None,
                reply: {
                    let virtual_delay = Duration::from_secs_f64(virtual_delay);
                    r.on_in_band(pair, sent_bytes, virtual_delay, truth, now)
                },
            },
            _ => Receipt::default(),
        }
    }

    /// Returns true if the estimator needs the truth.
    pub fn wants_truth(&self) -> bool {
        matches!(self, Receiver::Tunnel(r) if r.wants_truth())
    }
}
