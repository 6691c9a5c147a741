//! The two ends of a flow, of whichever transport its controller runs on.

use accord_aqm::Ecn;
use accord_control::{AnyController, Controller, Marks, meter};
use accord_scenario::Flow;
use accord_transport::{Segment, stream, tunnel};
use accord_units::{Bytes, Duration, Time};

/// The sending end.
pub enum Sender {
    /// Acknowledged and repaired.
    Stream(stream::Sender),
    /// Steered by control pairs.
    Tunnel(tunnel::Ingress),
    /// Neither: packets as the application makes them.
    Datagrams(Datagrams),
}

/// The receiving end.
pub enum Receiver {
    /// See [`Sender::Stream`].
    Stream(stream::Receiver),
    /// See [`Sender::Tunnel`].
    Tunnel(tunnel::Egress),
    /// See [`Sender::Datagrams`].
    Datagrams,
}

/// Sends what it is given, at once.
#[derive(Default)]
pub struct Datagrams {
    available: u64,
    sent: u64,
}

/// What the recorder asks of a sender.
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

/// Both ends of a flow whose base round-trip time is `base_rtt`.
pub fn endpoints(flow: &Flow, base_rtt: Duration) -> (Sender, Receiver) {
    let mut controller = AnyController::build(&flow.controller, flow.packet);
    controller.set_base_rtt(base_rtt);
    match (controller, meter(&flow.controller)) {
        (AnyController::Unresponsive(_), _) => {
            (Sender::Datagrams(Datagrams::default()), Receiver::Datagrams)
        }
        (c, Some(meter)) => (
            Sender::Tunnel(tunnel::Ingress::new(c, flow.packet)),
            Receiver::Tunnel(tunnel::Egress::new(meter)),
        ),
        (c, None) => (
            Sender::Stream(stream::Sender::new(c, flow.packet)),
            Receiver::Stream(stream::Receiver::new()),
        ),
    }
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

    /// That time may have come.
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

    /// The codepoint of its data packets.
    pub fn ecn(&self) -> Ecn {
        match self {
            Sender::Stream(s) if s.controller().marks() != Marks::Nothing => Ecn::Capable,
            _ => Ecn::NotCapable,
        }
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
            Sender::Datagrams(_) => {
                return View {
                    cwnd: None,
                    ssthresh: None,
                    rtt: None,
                    min_rtt: None,
                    accumulation: None,
                    retransmissions: 0,
                };
            }
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
