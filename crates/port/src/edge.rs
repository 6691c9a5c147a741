//! The queue of a tunnel at its edge: FQ-CoDel for each class, and a scheduler of the classes.
//!
//! The controller keeps the network nearly empty, so packets wait here and the site decides their
//! order. A class below its contracted rate is served first. The others share the rest of the rate
//! by their weights (start-time fair queueing). One packet is taken out ahead of its departure, so
//! its size is known.

use crate::{DropReason, Limit, Port, PortPacket};
use accord_aqm::FqCodel;
use accord_aqm::fq_codel::Config;
use accord_family::Service;
use accord_units::{Bytes, Duration, Rate, Time};

/// The port sends instantly, because the sender paces the tunnel.
const AT_ONCE: Rate = Rate::from_bps(1_000_000_000_000);

/// The burst of a class at its contracted rate, in packets of the largest size.
const BURST: f64 = 2.0;

/// The least interval of CoDel and the target that belongs to it [RFC 8289 §4.3, §4.4].
const INTERVAL: Duration = Duration::from_ms(100);
const TARGET: Duration = Duration::from_ms(5);
/// The interval in round trips of the tunnel. The flows inside have a longer round trip, because they wait at
/// the edge and for packets that are sent again.
const ROUND_TRIPS: u64 = 4;
/// The growth of the target as a fraction of the interval's excess over its least value.
const GROWTH: f64 = 0.1;

/// The packets of a class.
#[derive(Debug)]
struct ClassQueue<P> {
    port: Port<P, FqCodel>,
    share: Service,
    /// The bytes that the class may send ahead of the others, as of `since`.
    credit: f64,
    since: Time,
    /// The virtual finish time of the class: bytes sent at its shared rate, over its weight.
    got: f64,
}

/// The next packet to send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head<P> {
    /// The packet.
    pub packet: P,
    /// The class of the packet.
    pub class: usize,
}

/// The queues of a tunnel.
#[derive(Debug)]
pub struct Edge<P> {
    queues: Vec<ClassQueue<P>>,
    head: Option<Head<P>>,
    /// The virtual start time of the packet that was sent last at the shared rate.
    virtual_time: f64,
    /// The state of the generator from which FQ-CoDel draws its hash.
    secret: u64,
    /// The largest size of a packet.
    largest: f64,
    /// The interval of CoDel.
    interval: Duration,
}

/// The counts of a class.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassCounts {
    /// The packets and bytes that wait.
    pub waiting: (u64, u64),
    /// The packets that were dropped because they had waited too long.
    pub late: u64,
    /// The packets that were dropped for lack of room.
    pub overflowed: u64,
    /// The packets that were marked.
    pub marked: u64,
}

impl<P: PortPacket> Edge<P> {
    /// Creates queues of at most `limit` bytes each, for classes with these shares. No packet is
    /// larger than `largest`.
    pub fn new(shares: &[Service], limit: Bytes, largest: Bytes, secret: u64) -> Edge<P> {
        let queue = |share: &Service| {
            let discipline = Config::default().build();
            let discipline = discipline.expect("the defaults are within their ranges");
            ClassQueue {
                port: Port::new(AT_ONCE, Limit::bytes(limit), discipline, secret),
                share: *share,
                credit: 0.0,
                since: Time::ZERO,
                got: 0.0,
            }
        };
        Edge {
            queues: shares.iter().map(queue).collect(),
            head: None,
            virtual_time: 0.0,
            secret,
            largest: largest.as_f64(),
            interval: INTERVAL,
        }
    }

    /// Sets the shares of the classes. The number of classes does not change.
    pub fn set_shares(&mut self, shares: &[Service]) {
        for (queue, share) in self.queues.iter_mut().zip(shares) {
            queue.share = *share;
        }
    }

    /// Sets the round-trip time of the tunnel, with which CoDel distinguishes a standing queue from a burst.
    pub fn set_round_trip(&mut self, round_trip: Duration) {
        let interval = INTERVAL.max(round_trip * ROUND_TRIPS);
        // Changes are kept rare, because each one visits all flows.
        if interval > self.interval.mul_f64(1.25) || interval < self.interval.mul_f64(0.75) {
            self.interval = interval;
            let target = TARGET + interval.saturating_sub(INTERVAL).mul_f64(GROWTH);
            for queue in &mut self.queues {
                queue.port.set_codel(target, interval);
            }
        }
    }

    /// The number of classes.
    pub fn classes(&self) -> usize {
        self.queues.len()
    }

    /// Adds a packet of a class. Passes packets for which there is no room to `dropped`.
    pub fn push(
        &mut self,
        packet: P,
        class: usize,
        now: Time,
        dropped: &mut dyn FnMut(P, DropReason),
    ) {
        let class = class.min(self.queues.len() - 1);
        let queue = &mut self.queues[class];
        if queue.port.held().packets == 0 {
            // An idle class does not save up its share.
            queue.got = queue.got.max(self.virtual_time);
        }
        let mut secret = || (self.secret >> 11) as f64 / (1u64 << 53) as f64;
        queue.port.offer(now, packet, &mut secret, dropped);
    }

    /// Returns the next packet. Passes packets that waited too long to `dropped`.
    pub fn head(&mut self, now: Time, dropped: &mut dyn FnMut(P, DropReason)) -> Option<&Head<P>> {
        if self.head.is_none() {
            self.head = self.next(now, dropped);
        }
        self.head.as_ref()
    }

    /// Takes the packet that [`Edge::head`] returned.
    pub fn take(&mut self) -> Option<Head<P>> {
        self.head.take()
    }

    /// The packets that wait, the head included.
    pub fn packets(&self) -> impl Iterator<Item = &P> {
        let waiting = self.queues.iter().flat_map(|q| q.port.waiting());
        waiting.chain(self.head.iter().map(|head| &head.packet))
    }

    /// The number of packets that wait, the head included.
    pub fn len(&self) -> u64 {
        let waiting = self.queues.iter().map(|q| q.port.held().packets);
        waiting.sum::<u64>() + u64::from(self.head.is_some())
    }

    /// Returns whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The counts of each class.
    pub fn counts(&self) -> Vec<ClassCounts> {
        let counts = |queue: &ClassQueue<P>| {
            let (packets, bytes) = queue.port.backlog();
            let counters = queue.port.counters();
            ClassCounts {
                waiting: (packets, bytes.get()),
                late: counters.refused.packets,
                overflowed: counters.overflowed.packets,
                marked: counters.marked.packets,
            }
        };
        self.queues.iter().map(counts).collect()
    }

    fn next(&mut self, now: Time, dropped: &mut dyn FnMut(P, DropReason)) -> Option<Head<P>> {
        loop {
            let (class, floor) = self.next_class(now)?;
            let queue = &mut self.queues[class];
            let Some((packet, _)) = queue.port.begin(now, dropped) else {
                // CoDel dropped all packets of the class.
                continue;
            };
            queue.port.complete();
            let size = packet.meta().size.as_f64();
            if floor {
                queue.credit -= size
            } else {
                self.virtual_time = queue.got;
                queue.got += size / queue.share.weight;
            }
            return Some(Head { packet, class });
        }
    }

    /// Returns the next class to serve, and whether it is served at its contracted rate.
    fn next_class(&mut self, now: Time) -> Option<(usize, bool)> {
        let burst = BURST * self.largest;
        let mut best: Option<(usize, bool, f64)> = None;
        for (class, queue) in self.queues.iter_mut().enumerate() {
            let rate = queue.share.contract.as_bps_f64() / 8.0;
            let earned = rate * now.since(queue.since).as_secs_f64();
            queue.credit = (queue.credit + earned).min(burst);
            queue.since = queue.since.max(now);
            if queue.port.held().packets == 0 {
                continue;
            }
            let floor = rate > 0.0 && queue.credit > 0.0;
            let key = if floor { -queue.credit } else { queue.got };
            let better = best.is_none_or(|(_, other, least)| match (floor, other) {
                (true, false) => true,
                (false, true) => false,
                _ => key < least,
            });
            if better {
                best = Some((class, floor, key));
            }
        }
        best.map(|(class, floor, _)| (class, floor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_aqm::{Class, Ecn, PacketMeta};
    use accord_units::Duration;

    /// A packet of 1000 bytes of a flow.
    struct Data(u32);

    impl PortPacket for Data {
        fn meta(&self) -> PacketMeta {
            PacketMeta {
                size: Bytes::new(1000),
                class: Class::Data,
                ecn: Ecn::NotCapable,
                aggregate: 0,
                flow: self.0,
            }
        }

        fn mark(&mut self) {}

        fn add_virtual_delay(&mut self, _: Duration) {}
    }

    fn share(contract_bps: u64, weight: f64) -> Service {
        Service { contract: Rate::from_bps(contract_bps), weight, limit: None }
    }

    fn push(edge: &mut Edge<Data>, class: usize, flow: u32, now: Time) {
        edge.push(Data(flow), class, now, &mut |_, _| ());
    }

    fn head(edge: &mut Edge<Data>, now: Time) -> Option<&Head<Data>> {
        edge.head(now, &mut |_, _| ())
    }

    /// Sends at 8 Mbps (a packet of 1000 bytes per ms) for a second with all classes backlogged. Returns the
    /// number of packets of each class.
    fn sent(shares: &[Service]) -> Vec<u64> {
        let mut edge = Edge::new(shares, Bytes::new(100_000), Bytes::new(1000), 1);
        let mut sent = vec![0; shares.len()];
        for ms in 0..1000 {
            let now = Time::ZERO + Duration::from_ms(ms);
            for class in 0..shares.len() {
                for _ in 0..2 {
                    push(&mut edge, class, class as u32, now);
                }
            }
            head(&mut edge, now).expect("all are full");
            sent[edge.take().expect("a head").class] += 1;
        }
        sent
    }

    #[test]
    fn weights_share_what_contracts_leave() {
        let close = |a: u64, b: u64| a.abs_diff(b) <= 5;
        let got = sent(&[share(0, 1.0), share(0, 3.0)]);
        assert!(close(got[0], 250) && close(got[1], 750), "{got:?}");
        let got = sent(&[share(4_000_000, 1.0), share(0, 1.0), share(0, 3.0)]);
        // 500 packets by contract, and the other 500 in the ratio 1:1:3.
        assert!(close(got[0], 600), "{got:?}");
        assert!(close(got[1], 100) && close(got[2], 300), "{got:?}");
    }

    #[test]
    fn a_class_that_was_idle_has_saved_nothing_up() {
        let shares = [share(0, 1.0), share(0, 1.0)];
        let mut edge = Edge::new(&shares, Bytes::new(1_000_000), Bytes::new(1000), 1);
        for _ in 0..300 {
            push(&mut edge, 0, 1, Time::ZERO);
        }
        for _ in 0..100 {
            head(&mut edge, Time::ZERO);
            edge.take();
        }
        for _ in 0..100 {
            push(&mut edge, 1, 1, Time::ZERO);
        }
        let mut second = 0;
        for _ in 0..100 {
            head(&mut edge, Time::ZERO);
            second += edge.take().expect("a head").class;
        }
        assert!((45..=55).contains(&second), "{second}");
    }

    /// A class that was idle sends at most two packets ahead under its contract.
    #[test]
    fn a_contract_saves_up_two_packets() {
        let shares = [share(0, 1.0), share(4_000_000, 1.0)];
        let mut edge = Edge::new(&shares, Bytes::new(1_000_000), Bytes::new(1000), 1);
        assert_eq!(edge.classes(), 2);
        for _ in 0..300 {
            push(&mut edge, 0, 1, Time::ZERO);
        }
        for _ in 0..100 {
            head(&mut edge, Time::ZERO);
            edge.take();
        }
        let now = Time::ZERO + Duration::from_secs(1);
        for _ in 0..100 {
            push(&mut edge, 1, 1, now);
        }
        let mut sent = Vec::new();
        for left in (290..300).rev() {
            head(&mut edge, now);
            assert_eq!(edge.len(), left + 1, "the head counts");
            sent.push(edge.take().expect("a head").class);
        }
        // Two by contract, and then by equal weights, where class 0 is one packet ahead.
        assert_eq!(sent, [1, 1, 1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn memory_is_bounded_and_the_longest_flow_pays() {
        let mut edge = Edge::new(&[share(0, 1.0)], Bytes::new(50_000), Bytes::new(1000), 1);
        push(&mut edge, 0, 2, Time::ZERO);
        for _ in 0..1000 {
            push(&mut edge, 0, 1, Time::ZERO);
        }
        assert!(edge.counts()[0].waiting.1 <= 50_000);
        let mut flows = Vec::new();
        while head(&mut edge, Time::ZERO).is_some() {
            flows.push(edge.take().expect("a head").packet.0);
        }
        assert!(flows.contains(&2), "the other flow keeps its packet");
    }
}
