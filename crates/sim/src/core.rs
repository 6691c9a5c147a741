//! The state that both engines share: flows, packets, the calendar and the record of a run.

use crate::calendar::{Calendar, EventKind};
use crate::carrier::stack;
use crate::digest::Digest;
use crate::flow::Flow;
use crate::gateway::Gateway;
use crate::packet::Packet;
use crate::pool::{Handle, Pool};
use crate::skip::Skip;
use accord_aqm::Ecn;
use accord_record::{Interrupted, Observer, Recorder, Transfers};
use accord_scenario::{Scenario, State};
use accord_traffic::Step;
use accord_transport::{Receiver, Segment, Sender, View};
use accord_units::{Bytes, Duration, Time};
use std::collections::BTreeMap;
use std::ops::Range;
use tracing::{debug, trace};

/// The number of events between two reports of progress.
const PROGRESS: u64 = 1 << 18;

/// The times up to which an engine may run ahead of the clock.
#[derive(Clone, Copy)]
pub struct Limits {
    /// The end of the run, after which nothing happens.
    pub end: Time,
    /// The time of the next reading of counters. At the end of the run all counters are read.
    pub unread: Time,
}

impl Limits {
    /// Creates the limits of a run that ends at `end` and next reads counters at `next`.
    pub fn new(end: Time, next: Time) -> Limits {
        let unread = next.min(end + Duration::from_ps(1));
        Limits { end, unread }
    }
}

/// A transfer that has ended.
#[derive(Clone, Copy)]
pub struct Ended {
    pub flow: usize,
    /// The start, in reported time.
    pub start: Time,
    pub size: Bytes,
    pub took: Duration,
}

/// A run in progress, without its links.
pub struct Core<'a> {
    pub scenario: &'a Scenario,
    /// The plan of the run, in words.
    pub plan: String,
    /// The current state of the network.
    pub state: State<'a>,
    pub now: Time,
    /// The end of the run, and the time of the next reading.
    pub limits: Limits,
    /// The time of the next sample.
    pub next_sample: Time,
    pub calendar: Calendar,
    pub pool: Pool,
    pub flows: Vec<Flow>,
    /// The pending wake-up of each flow, or `Time::MAX`. They are stored apart from the flows,
    /// because the windows engine reads all of them in every window.
    pub wakes: Vec<Time>,
    /// The flows that the next sample reads, in any order.
    pub awake: Vec<u32>,
    /// The next action of each application, or `Time::MAX`. The list is empty in the events engine,
    /// where actions are in the calendar.
    pub actions: Vec<Time>,
    /// The tunnels between gateways.
    pub tunnels: Vec<usize>,
    pub recorder: Recorder,
    pub transfers: Transfers,
    /// The states of third-party stacks' sending ends at the latest sample, by flow.
    pub views: BTreeMap<usize, View>,
    /// The queued bytes of each flow, and the latest departure among the data that would have
    /// arrived over empty queues. A buffer for [`Core::sample`].
    pub queued: Vec<(u64, Option<Time>)>,
    pub digest: Digest,
    pub events: u64,
    /// The state of skipping, if time may be skipped.
    pub skip: Option<Box<Skip<'a>>>,
    /// The skipped time: reported time minus engine time.
    pub ahead: Duration,
}

impl<'a> Core<'a> {
    /// Creates a run before its start. The calendar holds the first sample, and the starts and stops of the
    /// flows whose senders are `here`.
    pub fn new(
        scenario: &'a Scenario,
        state: State<'a>,
        flows: Vec<Flow>,
        plan: String,
        here: impl Fn(usize) -> bool,
    ) -> Core<'a> {
        let end = scenario.end();
        let first = Time::ZERO + scenario.sample;
        let mut calendar = Calendar::new(end);
        for (id, f) in scenario.flows.iter().enumerate().filter(|(id, _)| here(*id)) {
            calendar.push(f.start, EventKind::Start, id);
            if let Some(stop) = f.stop {
                calendar.push(stop, EventKind::Stop, id);
            }
        }
        calendar.push(first, EventKind::Sample, 0);
        let ids = 0..flows.len();
        Core {
            scenario,
            plan,
            state,
            now: Time::ZERO,
            limits: Limits::new(end, first),
            next_sample: first,
            calendar,
            pool: Pool::new(),
            wakes: vec![Time::MAX; flows.len()],
            awake: Vec::new(),
            actions: Vec::new(),
            tunnels: ids.filter(|&id| scenario.flows[id].tunnel.is_some()).collect(),
            recorder: Recorder::new(scenario),
            transfers: Transfers::default(),
            views: BTreeMap::new(),
            queued: vec![(0, None); flows.len()],
            digest: Digest::new(scenario.seed),
            events: 0,
            skip: None,
            ahead: Duration::ZERO,
            flows,
        }
    }

    /// Converts engine time to reported time.
    #[inline]
    pub fn reported(&self, time: Time) -> Time {
        time + self.ahead
    }

    /// Advances the clock to an event.
    #[inline]
    pub fn event(&mut self, time: Time) {
        debug_assert!(time >= self.now, "the clock goes back");
        self.now = time;
        self.events += 1;
    }

    /// Reports progress to the observer once per [`PROGRESS`] events.
    ///
    /// # Errors
    /// Fails if the observer stops the run.
    pub fn progress(&self, observer: &mut dyn Observer) -> Result<(), Interrupted> {
        if self.events.is_multiple_of(PROGRESS) {
            observer.progress(self.reported(self.now))?;
        }
        Ok(())
    }

    /// Starts the logs of senders if the observer wants them.
    pub fn begin_logs(&mut self, observer: &dyn Observer) {
        if !observer.wants_logs() {
            return;
        }
        let flows = self.scenario.flows.iter().zip(&mut self.flows);
        // A connection of a third-party stack has no log of this kind.
        for (f, flow) in flows.filter(|(f, _)| stack(f).is_none()) {
            flow.keep_log(f.controller.family().inner);
        }
    }

    /// Passes the logs since the last call to the observer if it wants them.
    pub fn show_logs(&mut self, observer: &mut dyn Observer) {
        if !observer.wants_logs() {
            return;
        }
        for (id, flow) in self.flows.iter_mut().enumerate() {
            let records = flow.sender.take_log().unwrap_or_default();
            observer.log(id, &records);
        }
    }

    /// Marks a flow as awake, so the next sample reads it.
    #[inline]
    pub fn wake_up(&mut self, id: usize) {
        if self.flows[id].wake_up() {
            self.awake.push(id as u32);
        }
    }

    /// Starts the application of a flow.
    pub fn start(&mut self, id: usize) {
        let application = self.state.application(id);
        debug!(event = "start", t = self.now.as_secs_f64(), flow = self.scenario.flows[id].name);
        self.flows[id].session.start(application);
    }

    /// Stops a flow.
    pub fn stop(&mut self, id: usize) {
        debug!(event = "stop", t = self.now.as_secs_f64(), flow = self.scenario.flows[id].name);
        self.wake_up(id);
        let flow = &mut self.flows[id];
        flow.session.stop();
        flow.sender.stop();
    }

    /// Runs the next action of a flow's application, and schedules the one after it.
    pub fn step(&mut self, id: usize) -> Option<Step> {
        self.wake_up(id);
        let flow = &mut self.flows[id];
        flow.session.allow(&flow.sender, self.now);
        let step = flow.session.act(self.now)?;
        if let Some(span) = step.again {
            self.await_action(id, self.now + span);
        }
        Some(step)
    }

    /// Records the next action of an application.
    fn await_action(&mut self, id: usize, at: Time) {
        match self.actions.get_mut(id) {
            Some(next) => {
                debug_assert!(*next == Time::MAX, "two actions are pending");
                *next = at
            }
            None => self.calendar.push(at, EventKind::Application, id),
        }
    }

    /// Runs the next action of a flow's application. Returns true if its sender may have something
    /// to send.
    pub fn act(&mut self, id: usize) -> bool {
        let Some(step) = self.step(id) else {
            return false;
        };
        let flow = &mut self.flows[id];
        if step.new_connection {
            let f = &self.scenario.flows[id];
            let base_rtt = self.state.base_rtt(id);
            (flow.sender).reconnect(&f.controller, &f.service, base_rtt, self.now);
        }
        flow.sender.supply(step.supply);
        true
    }

    /// Records the next wake-up of a sender: `again`, or the time that the sender asks for. Returns
    /// the time if it is before the pending wake-up.
    #[inline]
    pub fn await_wake(&mut self, id: usize, again: Time) -> Option<Time> {
        let at = again.min(self.flows[id].sender.next_wake());
        (at < self.wakes[id]).then(|| {
            self.wakes[id] = at;
            at
        })
    }

    /// Records the next wake-up as [`Core::await_wake`] does, after [`Core::acknowledge`] has
    /// returned packets.
    #[inline(always)]
    pub fn await_next_wake(&mut self, id: usize) -> Option<Time> {
        // Most wake-ups have been pending since an earlier acknowledgement.
        if self.wakes[id] <= self.flows[id].sender.earliest_wake() {
            return None;
        }
        self.await_wake(id, Time::MAX)
    }

    /// Wakes the sender of a flow if its pending wake-up is now. Returns true if it did. A wake-up
    /// event may be stale, because an earlier deadline was set and handled after it was scheduled.
    #[inline]
    pub fn wake(&mut self, id: usize) -> bool {
        if self.wakes[id] != self.now {
            return false;
        }
        self.wakes[id] = Time::MAX;
        self.flows[id].sender.on_wake(self.now);
        true
    }

    /// Ends the transfer of a flow, if it has one and its sender is done.
    #[inline]
    pub fn end_transfer(&mut self, id: usize) {
        if let Some(ended) = self.take_transfer(id) {
            self.add_transfer(ended);
        }
    }

    /// Ends the transfer of a flow, if it has one, after all of it has been delivered.
    pub fn transferred(&mut self, id: usize) {
        if let Some(ended) = self.take_delivered(id) {
            self.add_transfer(ended);
        }
    }

    /// Ends a transfer as [`Core::end_transfer`] does. Returns it for [`Core::add_transfer`].
    #[inline]
    pub fn take_transfer(&mut self, id: usize) -> Option<Ended> {
        let flow = &self.flows[id];
        let is_done = flow.session.is_transferring() && flow.sender.is_done();
        if is_done { self.take_delivered(id) } else { None }
    }

    fn take_delivered(&mut self, id: usize) -> Option<Ended> {
        let done = self.flows[id].session.end()?;
        if let Some(pause) = done.pause {
            self.await_action(id, self.now + pause);
        }
        Some(Ended {
            flow: id,
            start: self.reported(done.start),
            size: done.size,
            took: self.now.since(done.start),
        })
    }

    /// Records a transfer that has ended. Transfers come in the order of their ends.
    pub fn add_transfer(&mut self, Ended { flow, start, size, took }: Ended) {
        self.transfers.add(self.scenario, flow, start, size, Some(took));
    }

    /// Creates the packet for a segment of a sender. Returns the packet, the index of its first
    /// hop, and the time at which the host has processed it, if that takes time.
    #[inline(always)]
    pub fn put(&mut self, id: usize, segment: Segment) -> (Handle, u32, Option<Time>) {
        if let Segment::Data { number, .. } = segment {
            return self.put_data(id, number);
        }
        let flow = &mut self.flows[id];
        let (handle, packet) = self.pool.place();
        *packet = Packet {
            segment,
            flow: id as u32,
            hop: flow.path,
            virtual_s: flow.virtual_s,
            size: flow.control,
            ecn: Ecn::NotCapable,
            aggregate: flow.aggregate,
        };
        (handle, flow.path, None)
    }

    /// Creates the data packet of this number, as [`Core::put`] does.
    #[inline(always)]
    pub fn put_data(&mut self, id: usize, number: u64) -> (Handle, u32, Option<Time>) {
        let (flow, now) = (&mut self.flows[id], self.now);
        let (handle, packet) = self.pool.place();
        *packet = Packet {
            segment: Segment::Data { number, sent: now },
            flow: id as u32,
            hop: flow.path,
            virtual_s: flow.virtual_s,
            size: flow.data,
            ecn: flow.ecn,
            aggregate: flow.aggregate,
        };
        flow.host.load(packet, &mut flow.sender, now);
        let at = flow.host.take(now);
        flow.sent.add(packet.bytes());
        flow.remember(now);
        (handle, flow.path, at)
    }

    /// Delivers an acknowledgement of a stream to its sender. Returns the flow, and the packets that
    /// the sender sends now, if they are known: see [`Sender::burst`].
    #[inline(always)]
    pub fn acknowledge(&mut self, handle: Handle) -> (usize, Option<Range<u64>>) {
        let now = self.now;
        let (packet, id) = self.pool.free(handle);
        let Segment::Ack { next, block, block_len, echo, marked } = packet.segment else {
            debug_assert!(false, "it is an acknowledgement");
            return (id as usize, None);
        };
        self.digest.ack(now, id, next, block);
        let flow = &mut self.flows[id as usize];
        if flow.wake_up() {
            self.awake.push(id);
        }
        match flow.sender.acknowledge(next, block, block_len, echo, marked, now) {
            Some(numbers) => (id as usize, numbers),
            None => {
                let ack = Segment::Ack { next, block, block_len, echo, marked };
                flow.sender.on_reply(&ack, now);
                (id as usize, None)
            }
        }
    }

    /// Delivers a reply of any kind to its sender. Returns the flow.
    #[inline(never)]
    pub fn reply(&mut self, handle: Handle) -> usize {
        let (now, packet) = (self.now, self.pool.remove(handle));
        self.digest.delivered(now, packet.flow, &packet.segment);
        let flow = &mut self.flows[packet.flow as usize];
        if flow.wake_up() {
            self.awake.push(packet.flow);
        }
        flow.sender.on_reply(&packet.segment, now);
        packet.flow as usize
    }

    /// Delivers a report or a count to the sender of tunnel `id`.
    #[inline(always)]
    pub fn reply_to_tunnel(&mut self, id: usize, handle: Handle) {
        let now = self.now;
        let (packet, number) = self.pool.free(handle);
        let flow = &mut self.flows[id];
        if flow.wake_up() {
            self.awake.push(number);
        }
        match (&mut flow.sender, &packet.segment) {
            (Sender::Tunnel(ingress), &Segment::Count { received, virtual_s }) => {
                self.digest.count(now, number, received);
                ingress.on_count(received, f64::from(virtual_s));
            }
            (sender, reply) => {
                self.digest.delivered(now, number, reply);
                sender.on_reply(reply, now);
            }
        }
    }

    /// Delivers a packet ahead of the clock: the receiver takes it now, as of `at`. The answer replaces the
    /// packet. Returns whether there is an answer.
    #[inline(always)]
    pub fn deliver_ahead(&mut self, handle: Handle, at: Time) -> bool {
        let packet = self.pool.packet(handle);
        let Segment::Data { number, sent } = packet.segment else {
            return self.deliver_control_ahead(handle, at);
        };
        let id = packet.flow;
        let flow = &mut self.flows[id as usize];
        self.digest.data(at, id, number);
        // Each answer is written in place, because a copy takes longer.
        let reply = match &mut flow.receiver {
            Receiver::Stream(r) => match r.on_next(number, packet.ecn == Ecn::Marked) {
                Some((next, marked)) => {
                    flow.deliver_later(self.limits.unread, at, sent, packet.size, true);
                    let ack = Segment::Ack { next, block: 0, block_len: 0, echo: sent, marked };
                    *packet = flow.answer(id, packet.aggregate, ack);
                    return true;
                }
                None => return self.deliver_out_of_order(handle, number, sent, at),
            },
            Receiver::Tunnel(r) => r.on_data(packet.bytes(), f64::from(packet.virtual_s), at),
            Receiver::Datagrams => None,
        };
        flow.deliver_later(self.limits.unread, at, sent, packet.size, true);
        let is_answered = reply.is_some();
        if let Some(reply) = reply {
            *packet = flow.answer(id, packet.aggregate, reply);
        }
        is_answered
    }

    /// Delivers a data packet of a stream that is not the next one, as [`Core::deliver_ahead`] does.
    #[cold]
    #[inline(never)]
    fn deliver_out_of_order(&mut self, handle: Handle, number: u64, sent: Time, at: Time) -> bool {
        let packet = self.pool.packet(handle);
        let flow = &mut self.flows[packet.flow as usize];
        let Receiver::Stream(r) = &mut flow.receiver else {
            return false;
        };
        let (fresh, ack) = r.out_of_order(number, sent);
        flow.deliver_later(self.limits.unread, at, sent, packet.size, fresh);
        *packet = flow.answer(packet.flow, packet.aggregate, ack);
        true
    }

    /// Delivers a control packet of a tunnel ahead of the clock.
    #[inline(never)]
    fn deliver_control_ahead(&mut self, handle: Handle, at: Time) -> bool {
        let packet = self.pool.packet(handle);
        self.digest.delivered(at, packet.flow, &packet.segment);
        let id = packet.flow;
        let flow = &mut self.flows[id as usize];
        let Some(reply) = flow.receive(packet, at).reply else {
            return false;
        };
        *packet = flow.answer(id, packet.aggregate, reply);
        true
    }

    /// Removes a lost packet, and counts it.
    #[cold]
    pub fn lost(&mut self, handle: Handle) {
        let packet = self.pool.remove(handle);
        self.lose(&packet);
    }

    /// Counts a lost packet.
    pub fn lose(&mut self, packet: &Packet) {
        self.digest.lost(self.now, packet);
        trace!(
            event = "drop",
            t = self.now.as_secs_f64(),
            flow = self.scenario.flows[packet.flow as usize].name,
            packet = ?packet.segment,
            bytes = packet.bytes().get(),
        );
        self.wake_up(packet.flow as usize);
        let now = self.now;
        let flow = &mut self.flows[packet.flow as usize];
        flow.losses += 1;
        if let Segment::Data { number, .. } = packet.segment {
            flow.data_lost.add(packet.bytes());
            // The packet in a datagram is lost with the datagram, unless it is sent again.
            if let Some(inner) = flow.gateway_mut().and_then(|g| g.lose(number, now)) {
                self.lose(&inner);
            }
        }
    }

    /// Returns the bytes on the way from an end: 0 is the end at the source.
    pub fn away(&self, flow: usize, end: usize) -> Bytes {
        if end == 0 {
            return Bytes::new(self.flows[flow].in_network());
        }
        let answers = self.packets().filter(|p| p.flow as usize == flow && p.is_answer());
        answers.map(Packet::bytes).sum()
    }

    /// Counts the packets that the edge queue of a tunnel has dropped.
    pub fn count_edge(&mut self, tunnel: usize) {
        let gateway = self.flows[tunnel].gateway_mut();
        let dropped = gateway.map(Gateway::take_dropped);
        for packet in dropped.into_iter().flatten() {
            self.lose(&packet);
        }
    }

    /// Counts the packets that edge queues have dropped. Packets that a queue drops when a datagram
    /// leaves are counted at the tunnel's next event or at the next sample.
    pub fn count_edges(&mut self) {
        for i in 0..self.tunnels.len() {
            self.count_edge(self.tunnels[i]);
        }
    }

    /// Returns all packets in the network, except those delivered ahead of the clock.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let tunnels = self.tunnels.iter();
        let carried = tunnels.filter_map(|&flow| self.flows[flow].gateway());
        let carried = carried.flat_map(Gateway::packets);
        self.pool.iter().chain(carried)
    }
}
