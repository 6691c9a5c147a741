//! A queue per flow, served by deficit round robin [RFC 8290].
//!
//! The parameters and their meaning are in `aqm/src/fq_codel.rs`.

use crate::Packet;
use accord_aqm::{Aqm, Codel, Entropy, FqCodel, QueueView, Verdict};
use accord_units::{Bytes, Rate, Time};
use std::collections::VecDeque;

/// The queue of the flows with one hash.
#[derive(Clone, Debug)]
struct FlowQueue<P> {
    packets: VecDeque<(Time, P)>,
    bytes: u64,
    /// The bytes that the queue may still send in this turn. They are negative after a larger
    /// packet.
    credit: i64,
    codel: Codel,
    /// True if the queue is in one of the lists.
    listed: bool,
}

/// The queues per flow, and the order of their turns.
#[derive(Clone, Debug)]
pub(crate) struct FlowQueues<P> {
    config: FqCodel,
    /// The secret of the hash. It is drawn when the first packet arrives.
    secret: Option<u64>,
    /// The place of the queue for each hash, or `NONE` until a packet has arrived for it.
    places: Box<[u32]>,
    queues: Vec<FlowQueue<P>>,
    /// The queues that just began to hold packets. They are served first [RFC 8290 §4.2].
    new: VecDeque<u32>,
    /// The other queues that hold packets, or did in their last turn.
    old: VecDeque<u32>,
}

const NONE: u32 = u32::MAX;

impl<P: Packet> FlowQueues<P> {
    /// Creates queues without packets.
    pub fn new(config: FqCodel) -> FlowQueues<P> {
        FlowQueues {
            secret: None,
            places: vec![NONE; config.queues as usize].into(),
            queues: Vec::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            config,
        }
    }

    /// Adds a packet to the queue of its flow [RFC 8290 §4.1].
    pub fn push(&mut self, now: Time, packet: P, entropy: &mut dyn Entropy) {
        let meta = packet.meta();
        let place = self.place(meta.flow, entropy);
        let queue = &mut self.queues[place as usize];
        queue.packets.push_back((now, packet));
        queue.bytes += meta.size.get();
        if !queue.listed {
            queue.listed = true;
            queue.credit = self.config.quantum.get() as i64;
            self.new.push_back(place);
        }
    }

    /// Returns the place of the queue for a flow.
    fn place(&mut self, flow: u32, entropy: &mut dyn Entropy) -> u32 {
        let secret = self
            .secret
            .get_or_insert_with(|| entropy.uniform().to_bits());
        let bits = hash(u64::from(flow) ^ *secret) >> 32;
        let index = (bits * self.places.len() as u64) >> 32;
        let place = &mut self.places[index as usize];
        if *place == NONE {
            *place = self.queues.len() as u32;
            self.queues.push(FlowQueue {
                packets: VecDeque::new(),
                bytes: 0,
                credit: 0,
                codel: self.config.codel.clone(),
                listed: false,
            });
        }
        *place
    }

    /// Takes the packet whose turn it is, with the verdict on it [RFC 8290 §4.2]. A packet that is
    /// dropped costs its queue no credit.
    pub fn pop(&mut self, now: Time, rate: Rate) -> Option<(P, Verdict)> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let place = *list.front()?;
            let queue = &mut self.queues[place as usize];
            if queue.credit <= 0 {
                list.pop_front();
                queue.credit += self.config.quantum.get() as i64;
                self.old.push_back(place);
                continue;
            }
            let Some((came, packet)) = queue.packets.pop_front() else {
                list.pop_front();
                // A new queue that is empty waits for a turn among the old ones before it is new
                // again. Otherwise a flow could always be first.
                if is_new {
                    self.old.push_back(place);
                } else {
                    queue.listed = false;
                }
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
            let verdict = (queue.codel).on_departure(&meta, now.since(came), &behind, now);
            if verdict != Verdict::Drop {
                queue.credit -= meta.size.get() as i64;
            }
            return Some((packet, verdict));
        }
    }

    /// Makes room [RFC 8290 §4.1]: takes packets from the head of the queue that holds most bytes,
    /// until half of its bytes are gone or a batch of packets is.
    pub fn make_room(&mut self, mut dropped: impl FnMut(P)) {
        let most = |queue: &&mut FlowQueue<P>| (queue.bytes, queue.packets.len());
        let Some(queue) = self.queues.iter_mut().max_by_key(most) else {
            return;
        };
        let stays = queue.bytes / 2;
        for _ in 0..self.config.batch {
            let Some((_, packet)) = queue.packets.pop_front() else {
                return;
            };
            queue.bytes -= packet.meta().size.get();
            dropped(packet);
            if queue.bytes <= stays {
                return;
            }
        }
    }

    /// Takes the last packet of a queue that is `wanted`.
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

/// Returns a hash of `x` (the finaliser of splitmix64).
fn hash(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}
