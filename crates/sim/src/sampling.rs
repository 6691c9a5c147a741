//! The samples of flows and links.

use crate::engine::Simulation;
use crate::flow::Flow;
use crate::gateway::Gateway;
use crate::packet::Packet;
use crate::wire::Wire;
use accord_elements as elements;
use accord_record::{FlowReading, LinkReading};
use accord_transport::Segment;
use accord_units::Time;

impl Simulation<'_> {
    /// Returns all packets on their way, except those that are certain to be delivered.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let tunnels = self.wiring.tunnels.iter();
        let carried = tunnels.filter_map(|&flow| self.flows[flow].gateway());
        let carried = carried.flat_map(Gateway::packets);
        self.pool.iter().chain(carried)
    }

    /// Finds the queued bytes of each flow that is awake: data that is on its way and would have
    /// arrived by now over empty queues [Xia05 eq. 1]. The others have no data on the way.
    fn find_queued(&mut self) {
        let mut queued = std::mem::take(&mut self.queued);
        for &id in &self.awake {
            let (queued, late) = &mut queued[id as usize];
            let flow = &mut self.flows[id as usize];
            *late = flow.late(self.now);
            *queued = flow.coming_late(*late);
        }
        // A loop would ask each time which of the chained iterators is next.
        self.packets().for_each(|p| {
            if let Segment::Data { sent, .. } = p.segment
                && let (queued, late) = &mut queued[p.flow as usize]
                && Some(sent) <= *late
            {
                *queued += u64::from(p.size);
            }
        });
        self.queued = queued;
    }

    /// Records a sample of everything.
    pub fn sample(&mut self) {
        let now = self.now;
        let reported = self.reported(now);
        self.count_edges();
        // The order in which flows woke up is of no meaning.
        self.awake.sort_unstable();
        for &id in &self.awake {
            self.flows[id as usize].deliver_until(now);
        }
        self.find_queued();
        self.wiring.tell(&mut self.wires, now);
        let Simulation {
            recorder,
            flows,
            wires,
            queued,
            awake,
            background,
            ..
        } = self;
        if let Some(fluid) = background {
            fluid.sample(now);
            for (flows, reading) in fluid.classes() {
                recorder.read_alike(now, flows, reading);
            }
        }
        let background = background.as_deref();
        let flow = |&id: &u32| {
            let id = id as usize;
            (id, read_flow(&flows[id], queued[id].0))
        };
        let readings = awake.iter().map(flow);
        recorder.sample(reported, readings, |id| {
            match background.and_then(|b| b.link(id)) {
                Some(reading) => reading,
                None => read_link(&mut wires[id], now),
            }
        });
        awake.retain(|&id| flows[id as usize].stays_awake());
    }
}

fn read_flow(f: &Flow, queued: u64) -> FlowReading {
    let counted = FlowReading {
        active: f.session.is_started() && !(f.session.is_stopped() && f.in_network() == 0),
        sent: f.sent.bytes,
        delivered: f.delivered.bytes,
        fresh: f.fresh_bytes,
        delays: Some(f.delays),
        losses: f.losses,
        lost: f.data_lost.bytes,
        accumulation: queued,
        edge: f.gateway().map(|g| (g.held().bytes, g.drops())),
        ..FlowReading::default()
    };
    elements::read_flow(counted, f.sender.view())
}

fn read_link(w: &mut Wire, now: Time) -> LinkReading {
    w.advance(now);
    let longest = w.take_longest();
    elements::read_link(
        &w.counters(),
        w.sent(now),
        w.area(now),
        longest,
        w.aqm(),
        now,
    )
}
