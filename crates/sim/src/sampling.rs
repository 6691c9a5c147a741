//! What is recorded of flows and links at each sample.

use crate::engine::Simulation;
use crate::flow::Flow;
use crate::packet::Packet;
use crate::wire::Wire;
use accord_aqm::{Aggregate, AnyAqm, Aqm};
use accord_record::{AggregateReading, FlowReading, LinkReading};
use accord_transport::{Segment, View};
use accord_units::{Duration, Time};

impl Simulation<'_> {
    /// All packets on their way, but for those that are delivered for sure.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let held = self.wires.iter().flat_map(Wire::packets);
        self.pool.iter().chain(held)
    }

    /// Finds what is queued: data that is on its way and would have arrived by now over
    /// empty queues [Xia05 eq. 1].
    fn find_queued(&mut self) {
        let mut queued = std::mem::take(&mut self.queued);
        for ((queued, late), flow) in queued.iter_mut().zip(&mut self.flows) {
            *late = flow.late(self.now);
            *queued = flow.coming_late(*late);
        }
        for p in self.packets() {
            if let Segment::Data { sent, .. } = p.segment
                && let (queued, late) = &mut queued[p.flow as usize]
                && Some(sent) <= *late
            {
                *queued += u64::from(p.size);
            }
        }
        self.queued = queued;
    }

    /// Records a sample of everything.
    pub fn sample(&mut self) {
        let now = self.now;
        for flow in &mut self.flows {
            flow.deliver_until(now);
        }
        self.find_queued();
        let Simulation {
            recorder,
            flows,
            wires,
            queued,
            ..
        } = self;
        let flow = |id: usize| read_flow(&flows[id], queued[id].0);
        recorder.sample(now, flow, |id| read_link(&mut wires[id], now));
    }
}

fn read_flow(f: &Flow, queued: u64) -> FlowReading {
    let View {
        cwnd,
        ssthresh,
        rtt,
        min_rtt,
        accumulation,
        retransmissions,
    } = f.sender.view();
    FlowReading {
        active: f.started && !(f.stopped && f.in_network() == 0),
        sent: f.sent.bytes,
        delivered: f.delivered.bytes,
        fresh: f.fresh_bytes,
        delays: Some(f.delays),
        retransmissions,
        losses: f.losses,
        lost: f.data_lost.bytes,
        accumulation: queued,
        cwnd,
        ssthresh,
        rtt,
        min_rtt,
        accumulation_estimate: accumulation,
    }
}

fn read_link(w: &mut Wire, now: Time) -> LinkReading {
    w.advance(now);
    let area = w.area(now);
    let longest = w.take_longest();
    let c = w.counters();
    let virtual_delay = |aqm: &AnyAqm| aqm.virtual_delay(now);
    LinkReading {
        served: w.sent(now),
        offered: c.offered.packets,
        drops: c.dropped().packets,
        marks: c.marked.packets,
        judged: c.marked.packets + c.refused.packets,
        longest: (longest.packets, longest.bytes),
        packet_area: area.packets,
        area: area.bytes,
        price: w.aqm().and_then(Aqm::price),
        virtual_delay: w.aqm().map_or(Duration::ZERO, virtual_delay),
        excess_bandwidth: w.aqm().and_then(Aqm::excess_bandwidth),
        aggregates: w.aqm().map_or(Vec::new(), read_aggregates),
    }
}

fn read_aggregates(aqm: &AnyAqm) -> Vec<AggregateReading> {
    let known = (0..).map_while(|i| aqm.aggregate(i));
    let read = |a: Aggregate| AggregateReading {
        transmit_probability: a.transmit_probability,
        offered: a.offered,
        admitted: a.admitted,
        decrease_factor: a.decrease,
        rate_ratio: a.ratio,
    };
    known.map(read).collect()
}
