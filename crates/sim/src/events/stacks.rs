//! The moves of packets of third-party stacks. Ends that are state machines are called here. Those outside
//! receive orders.

use super::engine::EventsEngine;
use super::other::{self, Order, Other, connect};
use super::parcel::{Parcel, Whole};
use crate::calendar::EventKind;
use crate::packet::Packet;
use crate::pool::Handle;
use accord_transport::wire::ECN;
use accord_transport::{Segment, ip};
use accord_units::{Bytes, Time};

impl EventsEngine<'_> {
    /// Returns true if a third-party stack carries a flow.
    #[inline]
    pub fn is_other(&self, flow: usize) -> bool {
        self.others.as_ref().is_some_and(|others| others.is_other(flow))
    }

    /// Returns true if a packet belongs to a third-party stack.
    pub fn is_whole(&mut self, handle: Handle) -> bool {
        let flow = self.core.pool.packet(handle).flow;
        self.is_other(flow as usize)
    }

    fn other(&mut self, flow: usize) -> Option<&mut Other> {
        self.others.as_mut()?.get_mut(flow)
    }

    /// Creates both ends of all connections of other stacks, with logs if they are kept. A connection that cannot
    /// be created counts as broken.
    pub fn connect_all(&mut self, keeps_logs: bool) {
        let (scenario, now) = (self.core.scenario, self.core.now);
        let Some(others) = &mut self.others else {
            return;
        };
        for flow in 0..scenario.flows.len() {
            let Some(other) = others.get_mut(flow) else {
                continue;
            };
            other.logs = keeps_logs.then(Default::default);
            match connect(scenario, flow, true, other.logs.as_ref()) {
                Ok(ends) => other.ends = ends.map(Some),
                Err(why) => others.break_off((flow, 0), now, format!("has no connection: {why}")),
            }
        }
    }

    /// Updates the states of third-party stacks for samples.
    pub fn look(&mut self) {
        if let Some(others) = &mut self.others {
            others.look(self.core.now, &mut self.core.views);
        }
    }

    /// Ends the connections of third-party stacks at the end of the run.
    pub fn end_others(&mut self) {
        if let Some(others) = &mut self.others {
            let flows = &self.core.flows;
            others.end(self.core.now, |flow| flows[flow].sent.packets > 0);
        }
    }

    /// Calls an end of a third-party stack at its node: 0 is the end at the source. Returns `None`
    /// if it is outside, or broken.
    fn call<T>(
        &mut self,
        flow: usize,
        end: usize,
        call: impl FnOnce(&mut other::CarriedEnd) -> T,
    ) -> Option<T> {
        let now = self.core.now;
        self.others.as_mut()?.call((flow, end), now, call)
    }

    /// Ends a connection, for this reason.
    #[cold]
    fn break_off(&mut self, flow: usize, end: usize, why: String) {
        let now = self.core.now;
        if let Some(others) = &mut self.others {
            others.break_off((flow, end), now, why);
        }
    }

    /// Returns true if an end of a flow is not, and never was, a state machine of this engine.
    fn is_outside(&mut self, flow: usize, end: usize) -> bool {
        self.other(flow).is_some_and(|other| other.ends[end].is_none() && !other.is_broken)
    }

    fn order(&mut self, order: Order) {
        if let Some(outside) = &mut self.outside {
            outside.orders.push(order);
        }
    }

    /// Runs the next action of the application of a flow.
    pub fn act_other(&mut self, flow: usize) {
        let Some(step) = self.core.step(flow) else {
            return;
        };
        if self.is_outside(flow, 0) {
            return self.order(Order::Supply(flow, step.supply));
        }
        let (now, sent) = (self.core.now, self.core.flows[flow].sent.bytes);
        let packet = self.core.scenario.flows[flow].packet.get();
        let mut is_first = false;
        if let Some(other) = self.other(flow)
            && step.supply > 0
        {
            is_first = other.supplied.replace(other.supplied.unwrap_or(now)).is_none();
            let size = Bytes::new(step.supply.saturating_mul(packet));
            other.transfer = step.is_transfer.then_some((size, Bytes::new(sent)));
        }
        self.call(flow, 0, |carried| carried.end.supply(step.supply, step.is_transfer, now));
        self.pump_other(flow, 0);
        // An end that receives may send first, as a client does that downloads.
        if is_first {
            self.pump_other(flow, 1);
        }
    }

    /// Stops a flow.
    pub fn stop_other(&mut self, flow: usize) {
        self.core.stop(flow);
        if self.is_outside(flow, 0) {
            return self.order(Order::Stop(flow));
        }
        let now = self.core.now;
        self.call(flow, 0, |carried| carried.end.stop(now));
        self.pump_other(flow, 0);
    }

    /// Sends the datagrams that an end may send, and sets its timer.
    fn pump_other(&mut self, flow: usize, end: usize) {
        let now = self.core.now;
        let most = self.core.scenario.flows[flow].packet;
        loop {
            let polled = self.call(flow, end, |carried| {
                let datagram = carried.end.poll(now)?;
                let unfit = other::unfit(&datagram, most);
                let ecn = datagram.ecn;
                Some((unfit.is_none().then(|| carried.wrap(datagram)), ecn, unfit))
            });
            let (bytes, tos, unfit) = match polled {
                None => return,
                Some(None) => break,
                Some(Some(polled)) => polled,
            };
            let bytes = bytes.unwrap_or_default();
            let (core, size) = (&self.core, Bytes::new(bytes.len() as u64));
            let other = self.others.as_mut().and_then(|others| others.get_mut(flow));
            let meter = other.map(|other| &mut other.meters[end]);
            let flood = meter.and_then(|meter| meter.send(now, size, || core.away(flow, end)));
            if let Some(why) = unfit.or(flood) {
                return self.break_off(flow, end, why);
            }
            let whole = Whole { tos, is_data: true, bytes: &bytes };
            let packet = self.whole(flow, end, &whole);
            self.send_parcel(Parcel { packet, bytes: Some(bytes.into()) });
        }
        let state = self.call(flow, end, |carried| {
            let end = &mut carried.end;
            (end.next_wake(), end.is_done(), end.broken())
        });
        let Some((at, is_done, broken)) = state else {
            return;
        };
        let spins = self.other(flow).and_then(|other| other.meters[end].spins(at));
        if let Some(why) = broken.map(|why| format!("closed: {why}")).or(spins) {
            return self.break_off(flow, end, why);
        }
        let is_done = end == 0 && is_done && self.core.flows[flow].session.is_transferring();
        let sent = Bytes::new(self.core.flows[flow].sent.bytes);
        if is_done && let Some(why) = self.other(flow).and_then(|other| other.claims(sent)) {
            return self.break_off(flow, end, why);
        }
        self.set_wake(flow, end, at);
        if is_done {
            self.core.transferred(flow);
        }
    }

    /// Sets the timer of an end.
    fn set_wake(&mut self, flow: usize, end: usize, at: Time) {
        let at = at.max(self.core.now);
        if let Some(other) = self.other(flow) {
            other.wakes[end] = at;
            if at < other.events[end] {
                other.events[end] = at;
                self.core.calendar.push(at, EventKind::WakeOther, 2 * flow + end);
            }
        }
    }

    /// Wakes an end if its timer is due. The timer may be later than its event.
    pub fn wake_other(&mut self, index: usize) {
        let (flow, end, now) = (index / 2, index % 2, self.core.now);
        let Some(other) = self.other(flow).filter(|other| other.events[end] == now) else {
            return;
        };
        let wanted = std::mem::replace(&mut other.wakes[end], Time::MAX);
        other.events[end] = Time::MAX;
        if wanted > now {
            return self.set_wake(flow, end, wanted);
        }
        other.meters[end].wake(now);
        self.core.wake_up(flow);
        self.call(flow, end, |carried| carried.end.on_wake(now));
        self.pump_other(flow, end);
    }

    /// Puts an IP packet of a flow into the first port of its path. `way` is 0 for the forward and 1
    /// for the reverse path.
    pub fn send_whole(&mut self, flow: usize, way: usize, whole: &Whole) {
        let packet = self.whole(flow, way, whole);
        self.send_parcel(Parcel { packet, bytes: Some(whole.bytes.into()) });
    }

    /// Returns a new packet of a third-party stack at the start of its path.
    fn whole(&self, flow: usize, way: usize, whole: &Whole) -> Packet {
        let f = &self.core.flows[flow];
        let hop = [f.path, f.reverse_path][way];
        Packet::whole(flow, way, hop, f.aggregate, whole, self.core.now)
    }

    /// Puts a packet of a third-party stack into the first port of its path.
    fn send_parcel(&mut self, parcel: Parcel) {
        let (now, packet) = (self.core.now, parcel.packet);
        let (flow, hop) = (packet.flow as usize, packet.hop);
        self.core.wake_up(flow);
        let f = &mut self.core.flows[flow];
        let mut processed = None;
        if let Segment::Data { .. } = packet.segment {
            f.sent.add(packet.bytes());
            f.remember(now);
            processed = f.host.take(now);
        }
        let handle = self.insert(parcel);
        match processed {
            None => self.send(handle, hop),
            Some(at) => self.process(flow, handle, hop, at),
        }
    }

    /// Delivers a packet of a third-party stack to its end.
    #[cold]
    pub fn deliver_whole(&mut self, handle: Handle) {
        let now = self.core.now;
        let parcel = self.remove(handle);
        let (flow, packet) = (parcel.packet.flow as usize, parcel.packet);
        self.core.digest.delivered(now, packet.flow, &packet.segment);
        self.core.wake_up(flow);
        let end = usize::from(!packet.is_answer());
        if self.is_outside(flow, end) {
            return self.order(Order::Deliver(parcel));
        }
        let mut inner = parcel.bytes.unwrap_or_default();
        // The ends do not understand marks unless they ask for them.
        let whole = ip::exit(&mut inner, packet.tos_of_whole());
        let inside = ip::Packet::new(&inner).filter(|_| whole);
        let inside = inside.and_then(|inside| Some((inside.udp()?, inside.tos & ECN)));
        let fresh = inside.and_then(|(payload, ecn)| {
            self.call(flow, end, |carried| carried.end.receive(payload, ecn, now))
        });
        if let Some(other) = self.other(flow) {
            other.meters[end].hear();
        }
        if let Segment::Data { sent, .. } = packet.segment {
            let delay = now.since(sent);
            self.core.flows[flow].deliver(fresh.unwrap_or(false), packet.size, delay);
        }
        self.pump_other(flow, end);
    }

    /// Counts a data packet that has arrived at an end outside.
    pub fn count_whole(&mut self, flow: usize, size: Bytes, fresh: bool) {
        let flow = &mut self.core.flows[flow];
        flow.delivered.add(size);
        flow.fresh_bytes += if fresh { size.get() } else { 0 };
    }

    /// Passes a packet to the gateway at the entry of a tunnel.
    pub fn enter_other_tunnel(&mut self, tunnel: usize, handle: Handle) {
        let parcel = self.remove(handle);
        self.order(Order::Enter(tunnel, parcel));
    }

    /// Forwards a packet of a flow that comes out of a tunnel.
    pub fn leave_other_tunnel(&mut self, flow: usize, whole: &Whole) {
        let (now, links) = (self.core.now, self.core.scenario.links.len());
        let f = &self.core.flows[flow];
        let mut hops = (f.path..).zip(self.paths.ahead(f.path));
        let edge = hops.find(|(_, hop)| hop.index() >= links);
        drop(hops);
        let Some((edge, _)) = edge else {
            return;
        };
        let packet = Packet::whole(flow, 0, edge + 1, f.aggregate, whole, now);
        let handle = self.insert(Parcel { packet, bytes: Some(whole.bytes.into()) });
        let hop = self.paths.hop(edge + 1);
        if hop.is_end() { self.deliver(handle) } else { self.traverse(handle, hop, now) }
    }
}
