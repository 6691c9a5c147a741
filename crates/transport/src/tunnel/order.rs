//! Order of packets of a flow at the far end of a tunnel, while lost packets are sent again.
//!
//! A packet that is sent again arrives a round trip late. Its flow would take it for lost, and send less. So
//! packets of the flow behind it are held until it is there, or for a bounded time. Packets of other flows
//! go on. A hole in the numbers of a flow counts if a datagram is missing between the two that it is
//! between: a packet that the edge queue dropped makes a hole, too, and its flow is to know at once.

use accord_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// The most flows that are known at once. If there are more, those that hold nothing are forgotten.
const MOST_FLOWS: usize = 1024;
/// The most packets, and the most bytes, that are held at once.
const MOST_HELD: usize = 8192;
const MOST_BYTES: usize = 8 << 20;
/// A distance in a flow that is another connection, not a hole.
const FAR: u32 = 1 << 24;

/// The part of a flow that a packet carries. Numbers are modulo 2³², as those of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The flow.
    pub flow: u64,
    /// The first number of the part.
    pub first: u32,
    /// The length of the part. A packet without one is not held.
    pub length: u32,
    /// True if the numbers of the flow begin here.
    pub begins: bool,
}

impl Part {
    /// The number behind the part.
    fn end(&self) -> u32 {
        self.first.wrapping_add(self.length)
    }
}

/// Returns whether `a` is before `b`.
fn is_before(a: u32, b: u32) -> bool {
    (a.wrapping_sub(b) as i32) < 0
}

/// A packet that is held.
#[derive(Clone, Debug)]
struct Held<P> {
    part: Part,
    counter: u64,
    until: Time,
    bytes: usize,
    packet: P,
}

/// A flow in a tunnel.
#[derive(Clone, Debug)]
struct Flow<P> {
    /// The number that is due next.
    next: u32,
    /// The counter of the latest datagram whose packet was in order.
    latest: u64,
    /// The packets beyond a hole, by their first numbers.
    held: VecDeque<Held<P>>,
}

impl<P> Flow<P> {
    /// Passes on the packets that are due: those in order, and those before `forced`. Returns their number
    /// and their bytes.
    fn release(&mut self, forced: Option<u32>, sink: &mut impl FnMut(P)) -> (usize, usize) {
        let (mut packets, mut all) = (0, 0);
        while let Some(first) = self.held.front() {
            let is_due = !is_before(self.next, first.part.first)
                || forced.is_some_and(|end| is_before(first.part.first, end));
            if !is_due {
                break;
            }
            let Some(held) = self.held.pop_front() else { break };
            self.pass(held.part);
            self.latest = self.latest.max(held.counter);
            (packets, all) = (packets + 1, all + held.bytes);
            sink(held.packet);
        }
        (packets, all)
    }

    /// Counts a part that goes on.
    fn pass(&mut self, part: Part) {
        if is_before(self.next, part.end()) {
            self.next = part.end();
        }
    }
}

/// The packets that wait for others of their flows.
#[derive(Clone, Debug)]
pub struct Order<P> {
    flows: BTreeMap<u64, Flow<P>>,
    packets: usize,
    bytes: usize,
    /// No packet is held for longer than until then.
    next: Time,
}

impl<P> Default for Order<P> {
    fn default() -> Order<P> {
        Order { flows: BTreeMap::new(), packets: 0, bytes: 0, next: Time::MAX }
    }
}

impl<P> Order<P> {
    /// Takes a packet of `bytes` bytes that arrived in the datagram with this counter. `is_missing` returns
    /// whether a datagram between two counters is missing. Packets that go on are passed to `sink`. None is
    /// held beyond `until`.
    pub fn push(
        &mut self,
        packet: P,
        (part, counter, bytes): (Part, u64, usize),
        is_missing: impl Fn(u64, u64) -> bool,
        until: Time,
        sink: &mut impl FnMut(P),
    ) {
        if part.length == 0 {
            return sink(packet);
        }
        if self.flows.len() >= MOST_FLOWS {
            self.flows.retain(|_, flow| !flow.held.is_empty());
        }
        let Some(flow) = self.flows.get_mut(&part.flow) else {
            if self.flows.len() < MOST_FLOWS {
                let flow = Flow { next: part.end(), latest: counter, held: VecDeque::new() };
                self.flows.insert(part.flow, flow);
            }
            return sink(packet);
        };
        let ahead = part.first.wrapping_sub(flow.next);
        let is_far = (FAR..u32::MAX - FAR).contains(&ahead);
        let is_full = self.packets >= MOST_HELD || self.bytes + bytes > MOST_BYTES;
        let released = if part.begins || is_far {
            // Another connection.
            let all = flow.next.wrapping_add(u32::MAX / 2);
            let released = flow.release(Some(all), sink);
            (flow.next, flow.latest) = (part.end(), counter);
            sink(packet);
            released
        } else if !is_before(flow.next, part.first) {
            flow.pass(part);
            sink(packet);
            if flow.held.is_empty() {
                flow.latest = counter;
            }
            flow.release(None, sink)
        } else if is_full || flow.held.is_empty() && !is_missing(flow.latest, counter) {
            let released = flow.release(Some(part.first), sink);
            flow.pass(part);
            flow.latest = flow.latest.max(counter);
            sink(packet);
            let more = flow.release(None, sink);
            (released.0 + more.0, released.1 + more.1)
        } else {
            return self.hold(Held { part, counter, until, bytes, packet });
        };
        self.packets -= released.0;
        self.bytes -= released.1;
    }

    fn hold(&mut self, held: Held<P>) {
        (self.packets, self.bytes) = (self.packets + 1, self.bytes + held.bytes);
        self.next = self.next.min(held.until);
        let Some(flow) = self.flows.get_mut(&held.part.flow) else {
            return;
        };
        let at = flow.held.partition_point(|h| is_before(h.part.first, held.part.first));
        flow.held.insert(at, held);
    }

    /// Passes on the packets that have waited long enough.
    pub fn expire(&mut self, now: Time, sink: &mut impl FnMut(P)) {
        if now < self.next {
            return;
        }
        self.next = Time::MAX;
        for flow in self.flows.values_mut() {
            let over = flow.held.iter().filter(|h| h.until <= now);
            let end = over.map(|h| h.part.end()).reduce(|a, b| if is_before(a, b) { b } else { a });
            if end.is_some() {
                let (packets, bytes) = flow.release(end, sink);
                self.packets -= packets;
                self.bytes -= bytes;
            }
            let next = flow.held.iter().map(|h| h.until).min();
            self.next = self.next.min(next.unwrap_or(Time::MAX));
        }
    }

    /// The time at which to call [`Order::expire`].
    pub fn next(&self) -> Time {
        self.next
    }

    /// The packets that are held.
    pub fn held(&self) -> impl Iterator<Item = &P> {
        self.flows.values().flat_map(|flow| flow.held.iter().map(|h| &h.packet))
    }

    /// Returns whether no packet is held.
    pub fn is_empty(&self) -> bool {
        self.packets == 0
    }
}
