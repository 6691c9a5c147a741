//! The two ends of a flow, each at its node, with what is counted there.

use accord_scenario::{Application, Delays, Scenario, Sizer, State};
use accord_transport::stream::Settings;
use accord_transport::wire::{self, Header, Kind, tos};
use accord_transport::{Receiver, Segment, Sender, View, endpoints};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

use crate::connection::{Arrived, Connection, Drain};
use crate::packet::Packet;

/// The sending end.
#[derive(Debug)]
pub struct Source {
    /// The flow.
    pub flow: usize,
    /// The machine; idle where the flow is a connection of the kernel.
    pub sender: Sender,
    /// The connection of the kernel, if it is one.
    pub connection: Option<Connection>,
    /// What gives it something to send.
    pub application: Application,
    /// Draws the sizes of its packets, where they are random.
    pub sizes: Option<Sizer>,
    /// The application waits for all that it supplied to be delivered.
    transferring: bool,
    /// It has started, and stopped.
    pub started: bool,
    /// See `started`.
    pub stopped: bool,
    /// Data sent, in bytes.
    sent: u64,
    /// (time, bytes sent by then), as far back as matters.
    history: VecDeque<(Time, u64)>,
    /// Bytes that would have arrived by now over empty queues.
    due: u64,
}

/// What is known at the sending end at a sample; sums since the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceReading {
    /// The flow is on.
    pub started: bool,
    /// It has stopped.
    pub stopped: bool,
    /// Data bytes sent.
    pub sent: u64,
    /// Data bytes that would have arrived by now over empty queues.
    pub due: u64,
    /// The machine's state.
    pub view: View,
}

impl Source {
    /// The sending end of a flow that has not started.
    pub fn new(scenario: &Scenario, flow: usize) -> Source {
        let f = &scenario.flows[flow];
        let base_rtt = base_rtt(&scenario.at(Time::ZERO), flow);
        let settings = Settings {
            min_rto: f.min_rto,
            pacing: f.pacing,
        };
        let (sender, _) = endpoints(&f.controller, &f.service, f.packet, base_rtt, settings);
        Source {
            flow,
            sender,
            connection: None,
            application: Application::new(f, flow, scenario.seed),
            sizes: (f.sizes.as_ref()).map(|law| Sizer::new(law, flow, scenario.seed)),
            transferring: false,
            started: false,
            stopped: false,
            sent: 0,
            history: VecDeque::new(),
            due: 0,
        }
    }

    /// The application acts, in the network as it is; gives when it does so again.
    pub fn act(&mut self, now: Time, network: &State) -> Time {
        if self.stopped {
            return Time::MAX;
        }
        let step = self.application.act(now);
        if step.new_connection {
            let f = &network.scenario.flows[self.flow];
            let base_rtt = base_rtt(network, self.flow);
            (self.sender).reconnect(&f.controller, &f.service, base_rtt, now);
        }
        match &mut self.connection {
            Some(connection) => connection.supply(step.supply),
            None => self.sender.supply(step.supply),
        }
        self.transferring = step.is_transfer;
        step.again.map_or(Time::MAX, |span| now + span)
    }

    /// The flow stops: what is left of a transfer is never sent.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.transferring = false;
        match &mut self.connection {
            Some(connection) => connection.stop(),
            None => self.sender.stop(),
        }
    }

    /// The transfer that is done now, if the application waited for one: its size, when it
    /// began, and after which pause the application acts again.
    pub fn transferred(&mut self) -> Option<(Bytes, Time, Option<Duration>)> {
        let is_done = || match &self.connection {
            Some(connection) => connection.is_done(),
            None => self.sender.is_done(),
        };
        if !(self.transferring && is_done()) {
            return None;
        }
        self.transferring = false;
        let done = self.application.end()?;
        Some((done.size, done.start, done.pause))
    }

    /// The transfer that the end of the run finds under way.
    pub fn left(&mut self) -> Option<(Bytes, Time)> {
        self.application.end().map(|left| (left.size, left.start))
    }

    /// Data is sent.
    pub fn count(&mut self, now: Time, size: Bytes) {
        self.sent += size.get();
        self.history.push_back((now, self.sent));
    }

    /// Its state, where data takes `one_way` over empty queues.
    pub fn read(&mut self, now: Time, one_way: Duration) -> SourceReading {
        while let Some(&(sent, bytes)) = self.history.front()
            && sent + one_way <= now
        {
            self.due = bytes;
            self.history.pop_front();
        }
        SourceReading {
            started: self.started,
            stopped: self.stopped,
            sent: self.sent,
            due: self.due,
            view: match &mut self.connection {
                Some(connection) => connection.view(),
                None => self.sender.view(),
            },
        }
    }
}

/// The round trip that a flow measures over empty queues. Hosts take the time that they take; none
/// is added.
pub fn base_rtt(network: &State, flow: usize) -> Duration {
    network.base_rtt(flow) - network.scenario.flows[flow].mean_processing()
}

/// The receiving end.
#[derive(Debug)]
pub struct Sink {
    /// The flow.
    pub flow: usize,
    receiver: Receiver,
    /// The receiving end of a connection of the kernel, if it is one, and what it has received.
    pub drain: Option<Drain>,
    arrived: Arrived,
    /// What is known at a sample.
    pub reading: SinkReading,
}

/// What is known at the receiving end; sums since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SinkReading {
    /// Data bytes that arrived.
    pub delivered: u64,
    /// Those that arrived for the first time.
    pub fresh: u64,
    /// Delays of data, of flows whose packets carry the time when they were sent.
    pub delays: Option<Delays>,
}

impl Sink {
    /// The receiving end of a flow.
    pub fn new(scenario: &Scenario, flow: usize) -> Sink {
        let f = &scenario.flows[flow];
        // The receiver depends neither on the path nor on how the sender sends.
        let (_, receiver) = endpoints(
            &f.controller,
            &f.service,
            f.packet,
            Duration::ZERO,
            Settings::LINUX,
        );
        Sink {
            flow,
            receiver,
            drain: None,
            arrived: Arrived::default(),
            reading: SinkReading::default(),
        }
    }

    /// A packet of a connection arrived, with these sequence numbers.
    pub fn arrived(&mut self, size: Bytes, numbers: Option<(u32, u32)>) {
        let fresh = numbers.is_none_or(|(first, count)| self.arrived.add(first, count));
        self.reading.delivered += size.get();
        self.reading.fresh += if fresh { size.get() } else { 0 };
    }

    /// A packet arrived, which takes `one_way` over empty queues; gives what to send back.
    pub fn receive(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        one_way: Duration,
        now: Time,
    ) -> Option<Segment> {
        let size = packet.header.size;
        let marked = packet.is_marked();
        let receipt = self.receiver.on_segment(segment, size, marked, None, now);
        if let Some(fresh) = receipt.data {
            self.reading.delivered += size.get();
            self.reading.fresh += if fresh { size.get() } else { 0 };
            if let Segment::Data { sent, .. } = segment {
                let delays = self.reading.delays.get_or_insert_default();
                delays.add(now.since(*sent), one_way);
            }
        }
        receipt.reply
    }
}

/// Writes the packet of a flow that carries a segment; `size` is that of data, where it is random.
pub fn packet(
    scenario: &Scenario,
    flow: usize,
    segment: &Segment,
    size: Option<Bytes>,
    ecn_capable: bool,
    route: u16,
    run: u32,
) -> Packet {
    let f = &scenario.flows[flow];
    let kind = Kind::of(segment);
    let header = Header {
        kind,
        size: match kind {
            Kind::Data => size.unwrap_or(f.packet),
            Kind::Ack => f.ack,
            Kind::OutOfBand | Kind::InBand | Kind::Report => f.control,
            // No segment is one.
            Kind::Ip | Kind::IpReply => f.packet,
        },
        flow: flow as u32,
        run,
        route,
    };
    let mut datagram = Vec::with_capacity(header.size.get() as usize);
    wire::encode(&header, segment, &mut datagram);
    Packet {
        datagram,
        header,
        tos: tos(kind, ecn_capable),
        aggregate: f.aggregate as u8,
    }
}
