//! The queues of a port, in the structure that its discipline requires.

use crate::PortPacket;
use crate::dual_queue::DualQueues;
use crate::flow_queues::FlowQueues;
use accord_aqm::{Aqm, Entropy, QueueView, Structure, Verdict};
use accord_units::Time;
use std::collections::VecDeque;

/// The queues of a port, in one form per [`Structure`].
#[derive(Clone, Debug)]
pub(crate) enum Queues<P> {
    Fifo(VecDeque<P>),
    /// A FIFO queue with the arrival time of each packet.
    Stamped(VecDeque<(Time, P)>),
    Flows(Box<FlowQueues<P>>),
    Dual(Box<DualQueues<P>>),
}

impl<P: PortPacket> Queues<P> {
    /// Creates the empty queues that `aqm` requires.
    pub fn new(aqm: &impl Aqm) -> Queues<P> {
        match aqm.structure() {
            Structure::Fifo => Queues::Fifo(VecDeque::new()),
            Structure::Stamped => Queues::Stamped(VecDeque::new()),
            Structure::Flows(config) => Queues::Flows(Box::new(FlowQueues::new(config))),
            Structure::Dual(aqm) => Queues::Dual(Box::new(DualQueues::new(aqm))),
        }
    }

    /// Adds a packet.
    pub fn push(&mut self, now: Time, packet: P, entropy: &mut dyn Entropy) {
        match self {
            Queues::Fifo(queue) => queue.push_back(packet),
            Queues::Stamped(queue) => queue.push_back((now, packet)),
            Queues::Flows(queues) => queues.push(now, packet, entropy),
            Queues::Dual(queues) => queues.push(now, packet),
        }
    }

    /// Takes the next packet, with the verdict on it and the time of its arrival. `all` is the
    /// waiting packets, including this one. `aqm` judges the packet, unless its queue has a
    /// discipline of its own.
    pub fn pop(
        &mut self,
        now: Time,
        aqm: &mut impl Aqm,
        all: &QueueView,
    ) -> Option<(P, Verdict, Time)> {
        match self {
            // Packets of a plain FIFO queue are never dropped here, so their times of arrival are
            // not kept.
            Queues::Fifo(queue) => Some((queue.pop_front()?, Verdict::Pass, now)),
            Queues::Stamped(queue) => {
                let (arrived, packet) = queue.pop_front()?;
                let meta = packet.meta();
                let mut behind = *all;
                behind.packets -= 1;
                behind.bytes -= meta.size;
                let verdict = aqm.on_departure(&meta, now.since(arrived), &behind, now);
                Some((packet, verdict, arrived))
            }
            Queues::Flows(queues) => queues.pop(now, all.rate),
            Queues::Dual(queues) => queues.pop(now),
        }
    }

    /// Takes the last packet for which `wanted` holds.
    pub fn take(&mut self, wanted: impl Fn(&P) -> bool) -> Option<P> {
        match self {
            Queues::Fifo(queue) => queue.remove(queue.iter().rposition(wanted)?),
            Queues::Stamped(queue) => {
                let found = queue.iter().rposition(|(_, packet)| wanted(packet));
                queue.remove(found?).map(|(_, packet)| packet)
            }
            Queues::Flows(queues) => queues.take(wanted),
            Queues::Dual(queues) => queues.take(wanted),
        }
    }

    /// Returns all packets. The packets of one flow are in order.
    pub fn iter(&self) -> impl Iterator<Item = &P> {
        let (fifo, stamped, flows, dual) = match self {
            Queues::Fifo(queue) => (Some(queue), None, None, None),
            Queues::Stamped(queue) => (None, Some(queue), None, None),
            Queues::Flows(queues) => (None, None, Some(queues), None),
            Queues::Dual(queues) => (None, None, None, Some(queues)),
        };
        let stamped = stamped.into_iter().flatten().map(|(_, packet)| packet);
        let flows = flows.into_iter().flat_map(|queues| queues.iter());
        let dual = dual.into_iter().flat_map(|queues| queues.iter());
        let ordered = fifo.into_iter().flatten().chain(stamped);
        ordered.chain(flows).chain(dual)
    }
}
