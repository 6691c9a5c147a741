//! A queue per flow, served by deficit round robin [RFC 8290], optionally with isolation of hosts
//! \[HTM18\].
//!
//! The parameters and their meaning are in `aqm/src/fq_codel.rs` and `aqm/src/host_fq.rs`.

use crate::{Hosts, PortPacket};
use accord_aqm::{Aqm, Codel, Entropy, FqCodel, QueueView, Verdict};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::{BTreeMap, VecDeque};

/// The number of units of credit per byte. The units are fractions so that a quantum can be
/// divided.
const BYTE: i64 = 1 << 16;

/// The queue of the flows with one hash.
#[derive(Clone, Debug)]
struct FlowQueue<P> {
    packets: VecDeque<(Time, P)>,
    bytes: u64,
    /// The credit of the queue in this round, in units of 1/[`BYTE`] byte. It is negative after a
    /// packet larger than the credit.
    credit: i64,
    codel: Codel,
    list: ListState,
    /// The flows whose packets the queue holds, or has held since it was idle. It is used only with
    /// several ways.
    flows: Vec<u32>,
    /// The source and the destination of the first flow in the queue.
    hosts: [u32; 2],
}

/// The list that a queue is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListState {
    /// No list. The queue is empty.
    Idle,
    /// The list of new queues.
    New,
    /// The list of old queues. The queue was empty when it entered the list.
    OldEmpty,
    /// The list of old queues. The queue counts for its hosts.
    Old,
}

/// The hosts of flows, and the numbers of their queues.
#[derive(Clone, Debug)]
struct Isolation {
    of: Hosts,
    /// The number of queues that count for each host, as the source and as the destination.
    queues: [BTreeMap<u32, i64>; 2],
}

impl Isolation {
    /// Returns the number of queues that share the quantum of a queue of these hosts.
    fn load(&self, hosts: [u32; 2]) -> i64 {
        let of = |side: usize| self.queues[side].get(&hosts[side]).copied();
        of(0).max(of(1)).unwrap_or(1)
    }

    /// Adds `change` to the counts of two hosts.
    fn count(&mut self, hosts: [u32; 2], change: i64) {
        for (queues, host) in self.queues.iter_mut().zip(hosts) {
            let count = queues.entry(host).or_default();
            *count += change;
            if *count == 0 {
                queues.remove(&host);
            }
        }
    }
}

/// The queues per flow, and their lists.
#[derive(Clone, Debug)]
pub(crate) struct FlowQueues<P> {
    config: FqCodel,
    /// The secret of the hash. It is drawn when the first packet arrives.
    secret: Option<u64>,
    /// The index in `queues` of the queue for each hash, or `NONE` until a packet has arrived for
    /// it.
    places: Box<[u32]>,
    queues: Vec<FlowQueue<P>>,
    /// The newly backlogged queues, which are served first [RFC 8290 §4.2].
    new: VecDeque<u32>,
    /// The other queues that hold packets, or held packets in their last round.
    old: VecDeque<u32>,
    /// The flow and the size of the latest packet, if it passed while all queues were idle. Its
    /// queue enters a list only if another packet arrives before this one has left.
    alone: Option<(u32, Bytes)>,
    /// The hosts of the flows, if the discipline shares by host.
    isolation: Option<Isolation>,
}

const NONE: u32 = u32::MAX;

/// The number of packets for which an idle queue keeps memory. Without this limit a queue would
/// keep the memory of its longest backlog.
const KEPT: usize = 16;

impl<P: PortPacket> FlowQueues<P> {
    /// Creates queues without packets.
    pub fn new(config: FqCodel) -> FlowQueues<P> {
        FlowQueues {
            secret: None,
            places: vec![NONE; config.queues as usize].into(),
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            alone: None,
            isolation: None,
            config,
        }
    }

    /// Sets the hosts of the flows, if the discipline shares by host.
    pub fn set_hosts(&mut self, hosts: impl FnOnce() -> Hosts) {
        self.isolation =
            self.config.hosts.then(|| Isolation { of: hosts(), queues: Default::default() });
    }

    /// Sets the times of CoDel in all queues.
    pub fn set_times(&mut self, target: Duration, interval: Duration) {
        self.config.codel.set_times(target, interval);
        for queue in &mut self.queues {
            queue.codel.set_times(target, interval);
        }
    }

    /// Adds a packet to the queue of its flow [RFC 8290 §4.1].
    pub fn push(&mut self, now: Time, packet: P, entropy: &mut dyn Entropy) {
        let meta = packet.meta();
        if let Some((flow, size)) = self.alone.take() {
            self.queue(flow, entropy).pay(size);
        }
        let queue = self.queue(meta.flow, entropy);
        queue.packets.push_back((now, packet));
        queue.bytes += meta.size.get();
    }

    /// Passes a packet that leaves at its arrival, while all queues are empty.
    pub fn pass(&mut self, now: Time, packet: &P, entropy: &mut dyn Entropy) {
        let meta = packet.meta();
        let place = self.place(meta.flow, entropy);
        self.alone = Some((meta.flow, meta.size));
        let queue = &mut self.queues[place as usize];
        let behind = QueueView { packets: 0, bytes: Bytes::ZERO, rate: Rate::ZERO, capacity: None };
        let verdict = (queue.codel).on_departure(&meta, Duration::ZERO, &behind, now);
        debug_assert_eq!(verdict, Verdict::Pass, "it leaves none behind");
    }

    /// Empties the lists: no packet waits, and none is in service.
    #[inline]
    pub fn rest(&mut self) {
        if self.alone.take().is_none() {
            self.end_turns();
        }
    }

    #[inline(never)]
    fn end_turns(&mut self) {
        while let Some(place) = self.new.pop_front().or_else(|| self.old.pop_front()) {
            self.queues[place as usize].rest(&mut self.isolation);
        }
    }

    /// Returns the queue of a flow for a packet that arrives.
    #[inline]
    fn queue(&mut self, flow: u32, entropy: &mut dyn Entropy) -> &mut FlowQueue<P> {
        let place = self.place(flow, entropy);
        let queue = &mut self.queues[place as usize];
        match queue.list {
            ListState::Idle => {
                if let Some(isolation) = &self.isolation {
                    queue.hosts = isolation.of.of(flow);
                }
                queue.list = ListState::New;
                queue.credit = share(&self.config, self.isolation.as_ref(), queue.hosts);
                self.new.push_back(place);
            }
            ListState::OldEmpty => {
                queue.list = ListState::Old;
                count(&mut self.isolation, queue.hosts, 1);
            }
            ListState::New | ListState::Old => {}
        }
        queue
    }

    /// Returns the index of the queue for a flow.
    #[inline]
    fn place(&mut self, flow: u32, entropy: &mut dyn Entropy) -> u32 {
        let secret = self.secret.get_or_insert_with(|| entropy.uniform().to_bits());
        let bits = hash(u64::from(flow) ^ *secret) >> 32;
        let slot = ((bits * self.places.len() as u64) >> 32) as usize;
        if self.config.ways > 1 {
            return self.place_by_ways(slot, flow);
        }
        match self.places[slot] {
            NONE => self.create(slot),
            place => place,
        }
    }

    /// Creates the queue for this hash. Returns its index.
    #[cold]
    fn create(&mut self, index: usize) -> u32 {
        let place = self.queues.len() as u32;
        self.places[index] = place;
        self.queues.push(FlowQueue {
            packets: VecDeque::new(),
            bytes: 0,
            credit: 0,
            codel: self.config.codel.clone(),
            list: ListState::Idle,
            flows: Vec::new(),
            hosts: [0; 2],
        });
        place
    }

    /// Returns the index of the queue for a flow, where a hash has several ways.
    #[inline(never)]
    fn place_by_ways(&mut self, slot: usize, flow: u32) -> u32 {
        let index = self.way(slot, self.config.ways as usize, flow);
        let place = match self.places[index] {
            NONE => self.create(index),
            place => place,
        };
        let queue = &mut self.queues[place as usize];
        if queue.list == ListState::Idle {
            queue.flows.clear();
        }
        if !queue.flows.contains(&flow) {
            queue.flows.push(flow);
        }
        place
    }

    /// Returns the way that a flow takes: the one that holds its packets, so they stay in order, or
    /// else an idle one, or else the way of its hash.
    fn way(&self, slot: usize, ways: usize, flow: u32) -> usize {
        let first = slot - slot % ways;
        let all = || (0..ways).map(|k| first + (slot - first + k) % ways);
        let queue = |index: &usize| self.queues.get(self.places[*index] as usize);
        let own = |index: &usize| queue(index).is_some_and(|q| q.flows.contains(&flow));
        let idle = |index: &usize| queue(index).is_none_or(|q| q.list == ListState::Idle);
        all().find(own).or_else(|| all().find(idle)).unwrap_or(slot)
    }

    /// Takes the next packet, with the verdict on it [RFC 8290 §4.2] and the time of its arrival. A
    /// packet that is dropped costs its queue no credit.
    pub fn pop(&mut self, now: Time, rate: Rate) -> Option<(P, Verdict, Time)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let queue = &mut self.queues[place as usize];
            if queue.credit <= 0 {
                list.pop_front();
                if is_new {
                    queue.list =
                        if queue.packets.is_empty() { ListState::OldEmpty } else { ListState::Old };
                    if queue.list == ListState::Old {
                        count(&mut self.isolation, queue.hosts, 1);
                    }
                }
                queue.credit += share(&self.config, self.isolation.as_ref(), queue.hosts);
                self.old.push_back(place);
                continue;
            }
            let Some((arrived, packet)) = queue.packets.pop_front() else {
                list.pop_front();
                // An empty new queue becomes an old one before it can be new again. Otherwise a
                // flow could always be first.
                if is_new {
                    queue.list = ListState::OldEmpty;
                    self.old.push_back(place);
                    continue;
                }
                queue.rest(&mut self.isolation);
                continue;
            };
            let meta = packet.meta();
            queue.bytes -= meta.size.get();
            let behind = QueueView {
                packets: queue.packets.len() as u64,
                bytes: Bytes::new(queue.bytes),
                rate,
                capacity: None,
            };
            let verdict = (queue.codel).on_departure(&meta, now.since(arrived), &behind, now);
            if verdict != Verdict::Drop {
                queue.pay(meta.size);
            }
            return Some((packet, verdict, arrived));
        }
    }

    /// Makes room [RFC 8290 §4.1]: takes packets from the head of the queue with the most bytes,
    /// until half of its bytes or a batch of packets is gone.
    pub fn make_room(&mut self, mut dropped: impl FnMut(P, Time)) {
        let most = |queue: &&mut FlowQueue<P>| (queue.bytes, queue.packets.len());
        let Some(queue) = self.queues.iter_mut().max_by_key(most) else {
            return;
        };
        let stays = queue.bytes / 2;
        for _ in 0..self.config.batch {
            let Some((arrived, packet)) = queue.packets.pop_front() else {
                return;
            };
            queue.bytes -= packet.meta().size.get();
            dropped(packet, arrived);
            if queue.bytes <= stays {
                return;
            }
        }
    }

    /// Takes the last packet of a queue for which `wanted` holds.
    pub fn take(&mut self, wanted: impl Fn(&P) -> bool) -> Option<P> {
        self.queues.iter_mut().find_map(|queue| {
            let found = queue.packets.iter().rposition(|(_, packet)| wanted(packet));
            let (_, packet) = queue.packets.remove(found?)?;
            queue.bytes -= packet.meta().size.get();
            Some(packet)
        })
    }

    /// Returns all packets, queue by queue.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        let queues = self.queues.iter().flat_map(|queue| &queue.packets);
        queues.map(|(_, packet)| packet)
    }
}

impl<P> FlowQueue<P> {
    /// Subtracts the size of a packet from the credit.
    #[inline]
    fn pay(&mut self, size: Bytes) {
        self.credit -= size.get() as i64 * BYTE;
    }

    /// Marks the queue, which is empty, as idle.
    #[inline]
    fn rest(&mut self, isolation: &mut Option<Isolation>) {
        if self.list == ListState::Old {
            count(isolation, self.hosts, -1);
        }
        self.list = ListState::Idle;
        if self.packets.capacity() > KEPT {
            self.packets = VecDeque::new();
        }
    }
}

/// Returns the credit per round of a queue of these hosts.
#[inline]
fn share(config: &FqCodel, isolation: Option<&Isolation>, hosts: [u32; 2]) -> i64 {
    let quantum = config.quantum.get() as i64 * BYTE;
    isolation.map_or(quantum, |isolation| (quantum / isolation.load(hosts)).max(1))
}

/// Adds `change` to the counts of two hosts, if the discipline shares by host.
fn count(isolation: &mut Option<Isolation>, hosts: [u32; 2], change: i64) {
    if let Some(isolation) = isolation {
        isolation.count(hosts, change);
    }
}

/// Returns a hash of `x` (the finaliser of splitmix64).
fn hash(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
