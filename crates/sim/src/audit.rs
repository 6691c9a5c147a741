//! The audit of every port and of every flow's data.

use crate::core::Core;
use crate::gateway::Gateway;
use crate::gauge::{Gauge, Links};
use crate::pool::Pool;
use accord_port::Count;
use accord_record::{Manifest, Run, Statistics};
use accord_scenario::Engine;
use accord_transport::Segment;
use accord_units::Duration;

/// Counts of the packets of a port, or of a flow's data: entered, left, dropped and held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audit {
    /// The packets that entered.
    pub entered: Count,
    /// The packets that left.
    pub left: Count,
    /// The packets that were dropped.
    pub dropped: Count,
    /// The packets that are still held.
    pub held: Count,
}

impl Audit {
    /// Returns the audit of a port.
    fn of(port: &dyn Gauge) -> Audit {
        let c = port.counters();
        Audit { entered: c.offered, left: c.served, dropped: c.dropped(), held: port.held() }
    }

    /// Returns the audit of an edge queue.
    fn edge(gateway: &Gateway) -> Audit {
        let [entered, left, dropped] = gateway.counts();
        Audit { entered, left, dropped, held: gateway.held() }
    }
}

impl Core<'_> {
    /// Counts the last deliveries and drops, and updates ports to the end of the run.
    pub fn settle_end(&mut self, links: &mut dyn Links) {
        let end = self.limits.end + Duration::from_ps(1);
        self.count_edges();
        for flow in &mut self.flows {
            flow.deliver_until(end);
        }
        links.settle(end);
        for id in 0..self.scenario.links.len() {
            links.port(id).advance(self.limits.end);
        }
    }

    /// Ends a run after [`Core::settle_end`]. Returns the run, and the audits of ports (by link,
    /// then the edge queues of tunnels) and of flows.
    pub fn finish(mut self, links: &mut dyn Links) -> (Run, Vec<Audit>, Vec<Audit>) {
        let mut in_network = vec![Count::default(); self.flows.len()];
        for p in self.packets() {
            if let Segment::Data { .. } = p.segment {
                in_network[p.flow as usize].add(p.bytes());
            }
        }
        // The manifest needs memory for the text of the scenario.
        self.pool = Pool::new();
        let ids = 0..self.scenario.links.len();
        let mut ports: Vec<Audit> = ids.map(|id| Audit::of(links.port(id))).collect();
        let packet_hops = ports.iter().map(|p| p.left.packets).sum();
        for &tunnel in &self.tunnels {
            let edge = self.flows[tunnel].gateway().map(Audit::edge);
            ports.push(edge.unwrap_or_default());
        }
        let (time, series) = self.recorder.finish(self.scenario);
        for (id, flow) in self.flows.iter_mut().enumerate() {
            if let Some(left) = flow.session.end() {
                let start = left.start + self.ahead;
                (self.transfers).add(self.scenario, id, start, left.size, None);
            }
        }
        // The recorder has freed its memory by now, which matters for a very large number of flows.
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
        let mut skipped = Vec::new();
        if let Some(skip) = self.skip {
            let (jumps, note) = skip.finish(self.scenario);
            skipped = jumps;
            notes.push(note);
        }
        let manifest = Manifest {
            plan: Some(self.plan),
            ..Manifest::new(Engine::Packet, self.scenario, self.digest.to_string())
        };
        let run = Run {
            transfers,
            statistics: Statistics { packet_hops, steps: self.events },
            notes,
            skipped,
            ..Run::new(manifest, time, series)
        };
        (run, ports, flows)
    }
}
