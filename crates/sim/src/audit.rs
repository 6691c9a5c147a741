//! The audit of every port and of every flow's data.

use crate::engine::Simulation;
use crate::gateway::Gateway;
use crate::wire::Line;
use accord_port::Count;
use accord_record::{Manifest, Run, Statistics};
use accord_scenario::Engine;
use accord_transport::Segment;
use accord_units::Duration;

/// The packets that came in, went out, were dropped and are there, of one flow's data or of one
/// port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// The packets that came in.
    pub entered: Count,
    /// The packets that went out.
    pub left: Count,
    /// The packets that were dropped.
    pub dropped: Count,
    /// The packets that are there.
    pub held: Count,
}

impl Simulation<'_> {
    /// Ends the simulation. Returns the run, and the audits of ports (by link, then the edge
    /// queues of tunnels) and of flows.
    pub fn finish(mut self) -> (Run, Vec<Audit>, Vec<Audit>) {
        self.count_edges();
        for flow in &mut self.flows {
            flow.deliver_until(self.limits.end + Duration::from_ps(1));
        }
        let mut in_network = vec![Count::default(); self.flows.len()];
        for p in self.packets() {
            if let Segment::Data { .. } = p.segment {
                in_network[p.flow as usize].add(p.bytes());
            }
        }
        self.wiring
            .tell(&mut self.wires, self.limits.end + Duration::from_ps(1));
        for wire in &mut self.wires {
            wire.advance(self.limits.end);
        }
        for stretch in &self.wiring.stretches {
            stretch.count(&mut self.wires, self.limits.end);
        }
        let ports: Vec<Audit> = (self.wires.iter())
            .map(|w| {
                if let Line::Edge(tunnel) = w.line {
                    let edge = self.flows[tunnel].gateway().map(edge);
                    return edge.unwrap_or_default();
                }
                let c = w.counters();
                Audit {
                    entered: c.offered,
                    left: c.served,
                    dropped: c.dropped(),
                    held: w.held(),
                }
            })
            .collect();
        let links = &ports[..self.scenario.links.len()];
        let packet_hops = links.iter().map(|p| p.left.packets).sum();
        let (time, series) = self.recorder.finish(self.scenario);
        for (id, flow) in self.flows.iter_mut().enumerate() {
            if let Some(left) = flow.session.end() {
                let start = left.start + self.ahead;
                (self.transfers).add(self.scenario, id, start, left.size, None);
            }
        }
        // There may be very many flows, and the recorder has let go of them by now.
        let flows = (self.flows.iter().zip(in_network))
            .map(|(f, held)| Audit {
                entered: f.sent,
                left: f.delivered,
                dropped: f.data_lost,
                held,
            })
            .collect();
        let (transfers, note) = self.transfers.finish();
        let mut notes: Vec<String> = note.into_iter().collect();
        if let Some(fluid) = &self.background {
            notes.extend(fluid.notes());
            self.digest.fluid(fluid.sent());
        }
        let mut skipped = Vec::new();
        if let Some(skip) = self.skip {
            let (jumps, note) = skip.finish(self.scenario);
            skipped = jumps;
            notes.push(note);
        }
        let manifest = Manifest::new(Engine::Packet, self.scenario, self.digest.to_string());
        let run = Run {
            transfers,
            statistics: Statistics {
                packet_hops,
                steps: self.events,
            },
            notes,
            skipped,
            ..Run::new(manifest, time, series)
        };
        (run, ports, flows)
    }
}

/// Returns the audit of an edge queue.
fn edge(gateway: &Gateway) -> Audit {
    let [entered, left, dropped] = gateway.counts();
    Audit {
        entered,
        left,
        dropped,
        held: gateway.held(),
    }
}
