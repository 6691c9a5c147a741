//! The two ends of a flow, of whichever transport its controller runs on.

use crate::{Segment, stream, tunnel};
use accord_control::{AnyController, Controller, Maker, Marks, Report, Transport};
use accord_family::{Service, Values};
use accord_units::{Bytes, Duration, Rate, Time};

/// The sending end.
#[derive(Clone, Debug)]
pub enum Sender {
    /// Acknowledged and repaired.
    Stream(stream::Sender),
    /// Steered by control pairs.
    Tunnel(tunnel::Ingress),
    /// Neither: packets as the application makes them.
    Datagrams(Datagrams),
}

/// The receiving end.
#[derive(Clone, Debug)]
pub enum Receiver {
    /// See [`Sender::Stream`].
    Stream(stream::Receiver),
    /// See [`Sender::Tunnel`].
    Tunnel(tunnel::Egress),
    /// See [`Sender::Datagrams`].
    Datagrams,
}

/// Sends what it is given, at once.
#[derive(Clone, Debug, Default)]
pub struct Datagrams {
    available: u64,
    sent: u64,
}

/// The state of a sender, as the recorder reads it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct View {
    /// Congestion window in bytes.
    pub cwnd: Option<Bytes>,
    /// Slow-start threshold in bytes.
    pub ssthresh: Option<Bytes>,
    /// Smoothed round-trip time.
    pub rtt: Option<Duration>,
    /// Base round-trip time as estimated.
    pub min_rtt: Option<Duration>,
    /// Accumulation as estimated, in bytes.
    pub accumulation: Option<f64>,
    /// Packets sent again so far.
    pub retransmissions: u64,
}

/// A receiver's answer to a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Receipt {
    /// For data: whether it arrived for the first time.
    pub data: Option<bool>,
    /// The packet to send back.
    pub reply: Option<Segment>,
}

/// Both ends of a flow with packets of `packet` bytes and a path whose base round-trip time is
/// `base_rtt`; `values` says which controller it has, `service` what it is to get, and `settings`
/// how it sends if it is a stream.
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
        Transport::Tunnel { sending, meter } => (
            Sender::Tunnel(tunnel::Ingress::new(controller, packet, sending(values))),
            Receiver::Tunnel(tunnel::Egress::new(meter(values))),
        ),
        Transport::Stream => (
            Sender::Stream(stream::Sender::new(controller, packet, settings)),
            Receiver::Stream(stream::Receiver::new()),
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
    /// The application has more packets to send.
    pub fn supply(&mut self, packets: u64) {
        match self {
            Sender::Stream(s) => s.supply(packets),
            Sender::Tunnel(s) => s.supply(packets),
            Sender::Datagrams(s) => s.available = s.available.saturating_add(packets),
        }
    }

    /// The application sends no more.
    pub fn stop(&mut self) {
        match self {
            Sender::Stream(s) => s.stop(),
            Sender::Tunnel(s) => s.stop(),
            Sender::Datagrams(s) => s.available = s.sent,
        }
    }

    /// What is supplied next goes over a new connection, with the controller that `values`
    /// says on a path of this base round-trip time. A tunnel lasts, whatever connections go
    /// through it, and datagrams have none.
    pub fn reconnect(&mut self, values: &Values, service: &Service, base_rtt: Duration, now: Time) {
        if let Sender::Stream(s) = self {
            s.reconnect(controller(values, service, s.packet(), base_rtt), now);
        }
    }

    /// A packet to send, or when to ask again.
    #[inline]
    pub fn poll(&mut self, now: Time) -> Result<Segment, Time> {
        match self {
            Sender::Stream(s) => s.poll(now),
            Sender::Tunnel(s) => s.poll(now),
            Sender::Datagrams(s) if s.sent < s.available => {
                s.sent += 1;
                Ok(Segment::Data {
                    number: s.sent - 1,
                    sent: now,
                })
            }
            Sender::Datagrams(_) => Err(Time::MAX),
        }
    }

    /// When it wants to be woken.
    #[inline]
    pub fn next_wake(&self) -> Time {
        match self {
            Sender::Stream(s) => s.next_wake(),
            Sender::Tunnel(s) => s.next_wake(),
            Sender::Datagrams(_) => Time::MAX,
        }
    }

    /// Notifies the endpoint that this time may have come.
    pub fn on_wake(&mut self, now: Time) {
        match self {
            Sender::Stream(s) => s.on_wake(now),
            Sender::Tunnel(s) => s.on_wake(now),
            Sender::Datagrams(_) => {}
        }
    }

    /// All that it had to send has arrived.
    pub fn is_done(&self) -> bool {
        match self {
            Sender::Stream(s) => s.is_done(),
            Sender::Tunnel(s) => s.is_done(),
            Sender::Datagrams(s) => s.sent >= s.available,
        }
    }

    /// What came back from the receiver: an acknowledgement or a report. Anything else is
    /// ignored.
    #[inline]
    pub fn on_reply(&mut self, reply: &Segment, now: Time) {
        match (self, *reply) {
            (
                Sender::Stream(s),
                Segment::Ack {
                    next,
                    block,
                    block_len,
                    echo,
                    marked,
                },
            ) => s.on_ack(next, block, block_len, echo, marked, now),
            (
                Sender::Tunnel(s),
                Segment::Report {
                    pair,
                    accumulation,
                    lost,
                    egress_bps,
                    virtual_s,
                    received,
                },
            ) => {
                let report = Report {
                    number: pair,
                    accumulation: f64::from(accumulation),
                    egress_rate: Rate::from_bps_f64(f64::from(egress_bps)),
                    virtual_delay: Duration::from_secs_f64(f64::from(virtual_s)),
                    lost,
                    received,
                };
                s.on_report(&report, now);
            }
            _ => {}
        }
    }

    /// A mark on its data packets means something to it: they are sent as ECN-capable.
    pub fn is_ecn_capable(&self) -> bool {
        matches!(self, Sender::Stream(s) if s.controller().capabilities().marks != Marks::Nothing)
    }

    /// The base round-trip time of the network is now this.
    pub fn set_base_rtt(&mut self, base_rtt: Duration) {
        if let Sender::Stream(s) = self {
            s.set_base_rtt(base_rtt);
        }
    }

    /// Its state for the recorder.
    pub fn view(&self) -> View {
        let (controller, rtt, retransmissions) = match self {
            Sender::Stream(s) => (s.controller(), s.round_trip(), s.retransmissions()),
            Sender::Tunnel(s) => (s.controller(), s.round_trip(), 0),
            Sender::Datagrams(_) => return View::default(),
        };
        View {
            cwnd: Some(controller.cwnd()),
            ssthresh: controller.ssthresh(),
            rtt: Some(rtt.smoothed()).filter(|d| !d.is_zero()),
            min_rtt: controller.base_rtt_estimate(),
            accumulation: controller.accumulation_estimate(),
            retransmissions,
        }
    }
}

impl Receiver {
    /// A packet arrived, with a congestion mark or without. `truth` gives the accumulation by
    /// its definition, for the ideal estimator; it matters for in-band packets only.
    #[inline]
    pub fn on_segment(
        &mut self,
        segment: &Segment,
        size: Bytes,
        marked: bool,
        truth: Option<f64>,
        now: Time,
    ) -> Receipt {
        match (self, *segment) {
            (Receiver::Stream(r), Segment::Data { number, sent }) => {
                let (fresh, ack) = r.on_data(number, sent, marked);
                Receipt {
                    data: Some(fresh),
                    reply: Some(ack),
                }
            }
            (Receiver::Tunnel(r), Segment::Data { .. }) => {
                r.on_data(size, now);
                Receipt {
                    data: Some(true),
                    reply: None,
                }
            }
            (Receiver::Datagrams, Segment::Data { .. }) => Receipt {
                data: Some(true),
                reply: None,
            },
            (Receiver::Tunnel(r), Segment::OutOfBand { pair, .. }) => {
                r.on_out_of_band(pair, now);
                Receipt::default()
            }
            (
                Receiver::Tunnel(r),
                Segment::InBand {
                    pair,
                    sent_bytes,
                    virtual_delay,
                },
            ) => Receipt {
                data: None,
                reply: r.on_in_band(pair, sent_bytes, virtual_delay, truth, now),
            },
            _ => Receipt::default(),
        }
    }

    /// Its estimator asks for the truth.
    pub fn wants_truth(&self) -> bool {
        matches!(self, Receiver::Tunnel(r) if r.wants_truth())
    }
}
