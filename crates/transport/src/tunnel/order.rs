//! The order of a flow's packets at the far end of a tunnel, while lost packets are sent again.
//!
//! A packet that is sent again arrives a round trip late. Its flow would presume it lost, and send less. So later
//! packets of the flow are held until it arrives, or for a bounded time. Packets of other flows pass. A hole in the
//! numbers of a flow counts only if a datagram is missing between the two datagrams around it. A packet dropped by
//! the edge queue also leaves a hole, and its flow must learn of it at once.

use accord_units::Time;
use std::collections::{BTreeMap, VecDeque};

/// The maximum number of flows that are known at once. If there are more, those without held packets are
/// dropped.
const MOST_FLOWS: usize = 1024;
/// The most packets, and the most bytes, that are held at once.
const MOST_HELD: usize = 8192;
const MOST_BYTES: usize = 8 << 20;
/// A distance in a flow that indicates another connection and not a hole.
const FAR: u32 = 1 << 24;

/// The part of a flow that a packet carries. Numbers are modulo 2³², as in TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The flow.
    pub flow: u64,
    /// The first number of the part.
    pub first: u32,
    /// The length of the part. A packet with a length of zero is not held.
    pub length: u32,
    /// True if the numbers of the flow begin here.
    pub begins: bool,
}

impl Part {
    /// The number after the part.
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

    /// Counts a part that is passed on.
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
    /// The time until which packets may be held.
    next: Time,
}

impl<P> Default for Order<P> {
    fn default() -> Order<P> {
        Order { flows: BTreeMap::new(), packets: 0, bytes: 0, next: Time::MAX }
    }
}

impl<P> Order<P> {
    /// Takes a packet of `bytes` bytes that arrived in the datagram with this counter. `is_missing` returns
    /// whether a datagram between two counters is missing. Packets in order are passed to `sink`. No packet
    /// is held beyond `until`.
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

#[cfg(test)]
mod tests {
    use super::*;
    use accord_units::Duration;
    use proptest::prelude::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_ms(ms)
    }

    fn part(flow: u64, first: u32, length: u32) -> Part {
        Part { flow, first, length, begins: false }
    }

    /// Passes packets of flow 1 with the numbers of their parts, and the counters of their datagrams. Returns
    /// those that were passed on.
    fn pass(order: &mut Order<u32>, packets: &[(u32, u64)], missing: &[u64]) -> Vec<u32> {
        let mut out = Vec::new();
        for (first, counter) in packets {
            let between = |a: u64, b: u64| missing.iter().any(|c| a < *c && *c < b);
            let what = (part(1, *first, 10), *counter, 100);
            order.push(*first, what, between, at(50), &mut |p| out.push(p));
        }
        out
    }

    #[test]
    fn packets_behind_a_missing_one_wait_for_it() {
        let mut order = Order::default();
        assert_eq!(pass(&mut order, &[(0, 1), (10, 2)], &[]), [0, 10]);
        assert_eq!(pass(&mut order, &[(30, 4), (40, 5), (60, 7)], &[3, 6]), []);
        assert_eq!((order.next(), order.held().count()), (at(50), 3));
        assert_eq!(pass(&mut order, &[(20, 8)], &[3, 6]), [20, 30, 40]);
        assert_eq!(pass(&mut order, &[(70, 9)], &[3, 6]), []);
        assert_eq!(pass(&mut order, &[(50, 10)], &[3, 6]), [50, 60, 70]);
        assert!(order.is_empty() && order.bytes == 0);
    }

    /// A flow must learn at once of a packet that was dropped before the tunnel.
    #[test]
    fn a_hole_without_a_missing_datagram_does_not_hold() {
        let mut order = Order::default();
        assert_eq!(pass(&mut order, &[(0, 1), (20, 3), (30, 4)], &[]), [0, 20, 30]);
        // The missing datagram was sent before the packet ahead of the hole.
        assert_eq!(pass(&mut order, &[(50, 6)], &[2]), [50]);
        // A packet that is sent again late is passed on.
        assert_eq!(pass(&mut order, &[(10, 7), (60, 8)], &[]), [10, 60]);
    }

    #[test]
    fn no_packet_waits_longer_than_allowed() {
        let mut order = Order::default();
        assert_eq!(pass(&mut order, &[(0, 1), (20, 3)], &[2]), [0]);
        order.push(40, (part(1, 40, 10), 5, 100), |_, _| true, at(80), &mut |_| panic!("held"));
        let mut out = Vec::new();
        order.expire(at(49), &mut |p| out.push(p));
        assert!(out.is_empty());
        order.expire(at(50), &mut |p| out.push(p));
        assert_eq!((&out[..], order.next()), (&[20][..], at(80)));
        order.expire(at(80), &mut |p| out.push(p));
        assert_eq!((&out[..], order.next()), (&[20, 40][..], Time::MAX));
    }

    #[test]
    fn another_connection_begins_anew() {
        let mut order = Order::default();
        assert_eq!(pass(&mut order, &[(0, 1), (20, 3)], &[2]), [0]);
        let begins = Part { begins: true, ..part(1, 7_000_000, 1) };
        let mut out = Vec::new();
        order.push(9, (begins, 4, 100), |_, _| true, at(50), &mut |p| out.push(p));
        assert_eq!(out, [20, 9]);
        assert_eq!(pass(&mut order, &[(7_000_001, 5)], &[2]), [7_000_001]);
        // A distant number also indicates another connection, if its beginning was lost. Other flows of the
        // tunnel do not wait.
        assert_eq!(pass(&mut order, &[(100_000_000, 7)], &[6]), [100_000_000]);
        assert_eq!(pass(&mut order, &[(100_000_020, 9)], &[8]), []);
        order.push(1, (part(2, 5, 1), 10, 100), |_, _| true, at(50), &mut |p| out.push(p));
        order.push(2, (part(1, 5, 0), 11, 100), |_, _| true, at(50), &mut |p| out.push(p));
        assert_eq!(out[2..], [1, 2]);
    }

    /// Numbers are modulo 2³².
    #[test]
    fn numbers_begin_again() {
        let mut order = Order::default();
        let last = u32::MAX - 14;
        assert_eq!(pass(&mut order, &[(last, 1), (5, 3), (15, 4)], &[2]), [last]);
        assert_eq!(pass(&mut order, &[(last + 10, 5)], &[2]), [last + 10, 5, 15]);
    }

    proptest! {
        /// For any input from a peer, each packet is passed on once, and a bounded number is held.
        #[test]
        fn all_go_on_and_little_is_held(
            packets in prop::collection::vec((0..2000u64, any::<u32>(), 0..5000u32, any::<bool>(), any::<bool>()), 0..3000),
            near in any::<bool>(),
        ) {
            let mut order = Order::default();
            let mut out = vec![0u8; packets.len()];
            for (i, (flow, first, length, begins, missing)) in packets.iter().copied().enumerate() {
                let (flow, first) = if near { (flow % 3, first % 100_000) } else { (flow, first) };
                let what = (Part { flow, first, length, begins: begins && !near }, i as u64, 60_000);
                order.push(i, what, |_, _| missing, at(i as u64 + 7), &mut |p| out[p] += 1);
                order.expire(at(i as u64), &mut |p: usize| out[p] += 1);
                prop_assert!(order.packets <= MOST_HELD && order.bytes <= MOST_BYTES);
                prop_assert!(order.flows.len() <= MOST_FLOWS);
                prop_assert_eq!(order.held().count(), order.packets);
            }
            order.expire(at(1_000_000), &mut |p: usize| out[p] += 1);
            prop_assert!(order.is_empty() && order.bytes == 0 && order.next() == Time::MAX);
            prop_assert!(out.iter().all(|n| *n == 1));
        }
    }
}
