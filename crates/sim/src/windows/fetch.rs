//! Prefetches for runs whose flows and packets exceed the near caches. A window touches all of
//! them, so each was last touched a round trip ago.
//!
//! The order of use is known in advance: senders follow each other by index, and the arrivals of a window are
//! sorted. An address that is itself in far memory is fetched a few steps earlier.

use super::arrivals::Arrival;
use super::engine::{REPLIES_AHEAD, Replies, WindowsEngine};
use crate::flow::Flow;
use crate::hop::Hop;
use crate::memory::{fetch, fetch_all, fetch_bytes, fetch_lines};
use crate::packet::Packet;
use accord_transport::{Receiver, Sender};
use accord_units::Time;

/// The distances, in arrivals at a shared link, at which the packet, the objects on its way and the
/// boxes of these objects are prefetched.
const PACKET: usize = 12;
const WAY: usize = 6;
const BOXES: usize = 3;

impl WindowsEngine<'_> {
    /// Prefetches the data of senders that are advanced after the current one and have replies before
    /// `until`. `later` returns the sender at a distance.
    #[inline(always)]
    pub fn fetch_senders(&self, later: impl Fn(usize) -> Option<usize>, until: Time) {
        let busy = |after| {
            let id = later(after)?;
            let replies: &Replies = &self.senders.replies[id];
            (replies.time() < until).then_some((id, replies))
        };
        if let Some(id) = later(10) {
            self.senders.replies[id].queue.fetch_first();
        }
        if let Some((id, _)) = busy(6) {
            fetch_lines(&self.core.flows[id], Flow::SENDER);
        }
        if let Some((id, replies)) = busy(3) {
            for reply in (0..REPLIES_AHEAD).map_while(|i| replies.queue.get(i)) {
                self.core.pool.prepare_packet(reply.handle);
            }
            let flow = &self.core.flows[id];
            let hop: Hop = self.net.paths.hops[flow.path as usize];
            if hop.is_cut_through_link() {
                fetch_all(&self.net.cut_through[hop.index()]);
            }
            match &flow.sender {
                Sender::Tunnel(ingress) => fetch_all(&**ingress),
                Sender::Stream(stream) => fetch_bytes(stream.controller().place()),
                Sender::Datagrams(_) | Sender::Logged(_) => {}
            }
        }
        if let Some((id, _)) = busy(1)
            && let Sender::Tunnel(ingress) = &self.core.flows[id].sender
        {
            fetch_bytes(ingress.controller().place());
        }
    }

    /// Prefetches the data of the arrivals after arrival `i` of a shared link.
    #[inline(always)]
    pub fn fetch_arrivals(&self, arrivals: &[Arrival], i: usize) {
        if let Some(later) = arrivals.get(i + PACKET) {
            self.core.pool.prepare_packet(later.handle);
        }
        if let Some(packet) = self.later_packet(arrivals, i + WAY) {
            self.fetch_way(packet);
        }
        if self.net.has_tunnels
            && let Some(packet) = self.later_packet(arrivals, i + BOXES)
            && let Receiver::Tunnel(egress) = &self.core.flows[packet.flow as usize].receiver
        {
            fetch_all(&**egress);
        }
    }

    #[inline(always)]
    fn later_packet(&self, arrivals: &[Arrival], i: usize) -> Option<&Packet> {
        let later = arrivals.get(i)?;
        self.core.pool.get(later.handle)
    }

    /// Prefetches the objects that a packet passes after a shared link, up to the next part.
    #[inline(always)]
    fn fetch_way(&self, packet: &Packet) {
        let flow = packet.flow as usize;
        // The hops of the reverse path follow those of the path.
        for &hop in &self.net.paths.hops[packet.hop as usize + 1..] {
            if hop.is_cut_through_link() {
                fetch_all(&self.net.cut_through[hop.index()]);
            } else if hop == Hop::END_CUT_THROUGH {
                fetch_lines(&self.core.flows[flow], Flow::RECEIVER);
            } else if hop == Hop::END {
                return fetch(&self.senders.replies[flow]);
            } else if hop.is_uncontended() {
                fetch(&self.net.paths.uncontended_paths[hop.index()]);
            } else {
                return;
            }
        }
    }
}
