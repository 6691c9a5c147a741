//! Flows of a QUIC stack at a station.

use super::Station;
use crate::agenda::Due;
use crate::connection::Ends;
use crate::packet::Packet;
use accord_transport::{ip, wire};

impl Station<'_> {
    /// Takes the ends of connections at the nodes of the station. `ends` are by flow.
    pub fn connect(&mut self, ends: &mut [Ends]) {
        for (flow, ends) in ends.iter_mut().enumerate() {
            if let Some(i) = self.source_of[flow] {
                self.sources[i].quic = ends.client.take();
            }
            if let Some(i) = self.sink_of[flow] {
                self.sinks[i].quic = ends.server.take();
            }
        }
    }

    /// Returns true if a QUIC stack carries a flow with an end at this station.
    pub(super) fn is_quic(&self, flow: usize) -> bool {
        self.source_of[flow].is_some_and(|i| self.sources[i].quic.is_some())
            || self.sink_of[flow].is_some_and(|i| self.sinks[i].quic.is_some())
    }

    /// Sends the datagrams that the sending end of a flow may send, and sets its timer.
    pub(super) fn pump_client(&mut self, i: usize) {
        let flow = self.sources[i].flow;
        while let Some(quic) = &mut self.sources[i].quic {
            let Some(datagram) = quic.end.poll(self.now) else {
                let (at, done) = (quic.end.next_wake(), quic.end.is_done());
                self.agenda.set(Due::Wake(i), at);
                if done {
                    self.transferred(i);
                }
                break;
            };
            let inner = quic.wrap(&datagram);
            self.send_whole(flow, 0, datagram.ecn, &inner);
        }
    }

    /// Sends the datagrams that the receiving end of a flow may send, and sets its timer.
    pub(super) fn pump_server(&mut self, i: usize) {
        let flow = self.sinks[i].flow;
        while let Some(quic) = &mut self.sinks[i].quic {
            let Some(datagram) = quic.end.poll(self.now) else {
                self.agenda.set(Due::Answer(i), quic.end.next_wake());
                break;
            };
            let inner = quic.wrap(&datagram);
            self.send_whole(flow, 1, datagram.ecn, &inner);
        }
    }

    /// Processes the due timer of a flow's receiving end.
    pub(super) fn answer(&mut self, i: usize) {
        if let Some(quic) = &mut self.sinks[i].quic {
            quic.end.on_wake(self.now);
        }
        self.pump_server(i);
    }

    /// Delivers a packet to its end.
    pub(super) fn deliver_quic(&mut self, flow: usize, packet: &Packet) {
        let Ok((header, inner)) = wire::unwrap(&packet.datagram) else {
            self.tally.foreign += 1;
            return;
        };
        let mut inner = inner.to_vec();
        // The ends do not understand marks unless they ask for them.
        let whole = ip::exit(&mut inner, packet.tos);
        let Some(inside) = ip::Ipv4Packet::new(&inner).filter(|_| whole) else {
            return;
        };
        let Some(payload) = inside.udp() else { return };
        let ecn = inside.tos() & wire::ECN;
        if header.kind.is_reply() {
            if let Some(i) = self.source_of[flow]
                && let Some(quic) = &mut self.sources[i].quic
            {
                quic.end.receive(payload, ecn, self.now);
                self.pump(i);
            }
        } else {
            if let Some(i) = self.sink_of[flow]
                && let Some(quic) = &mut self.sinks[i].quic
            {
                let fresh = quic.end.receive(payload, ecn, self.now);
                self.sinks[i].count(header.size, fresh);
                self.pump_server(i);
            }
        }
    }
}
