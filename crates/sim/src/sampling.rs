//! What is recorded of flows and links at each sample.

use crate::engine::Simulation;
use crate::flow::{Flow, Sampled};
use crate::packet::Packet;
use crate::recorder::Recorder;
use crate::wire::Wire;
use accord_aqm::Aqm;
use accord_scenario::{Metric, Scenario, Series};
use accord_transport::Segment;
use accord_units::{Bytes, Duration, Time};

/// The recorder, and the state at the last sample.
pub struct Sampler {
    recorder: Recorder,
    /// The recorded links with their sums at the last sample, for the differences.
    links: Vec<(usize, LinkSampled)>,
    last: Time,
    /// Bytes of each flow that are queued on its path; kept to be filled again.
    queued: Vec<u64>,
}

#[derive(Clone, Copy, Default)]
struct LinkSampled {
    served: u64,
    drops: u64,
    marks: u64,
    /// Packets marked or dropped by the discipline.
    judged: u64,
    offered: u64,
}

impl Sampler {
    /// Nothing recorded yet.
    pub fn new(scenario: &Scenario) -> Sampler {
        let recorded = |id: &usize| !scenario.links[*id].attachment;
        Sampler {
            recorder: Recorder::new(scenario),
            links: (0..scenario.links.len())
                .filter(recorded)
                .map(|id| (id, LinkSampled::default()))
                .collect(),
            last: Time::ZERO,
            queued: vec![0; scenario.flows.len()],
        }
    }

    /// The current sampling period.
    pub fn period(&self) -> Duration {
        self.recorder.period()
    }

    /// The series, and the times that they share.
    pub fn finish(self) -> (Vec<f64>, Vec<Series>) {
        self.recorder.finish()
    }
}

impl Simulation<'_> {
    /// All packets on their way, but for those that are delivered for sure.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let stepped = self.wires.iter().flat_map(Wire::packets);
        self.pool.iter().chain(stepped)
    }

    /// Finds what is queued: data that is on its way and would have arrived by now over
    /// empty queues [Xia05 eq. 1].
    fn find_queued(&mut self) {
        let mut queued = std::mem::take(&mut self.sampler.queued);
        for (queued, flow) in queued.iter_mut().zip(&mut self.flows) {
            *queued = flow.coming_late(self.now);
        }
        for p in self.packets() {
            if let Segment::Data { sent, .. } = p.segment
                && sent + self.flows[p.flow as usize].one_way <= self.now
            {
                queued[p.flow as usize] += u64::from(p.size);
            }
        }
        self.sampler.queued = queued;
    }

    /// Records a sample of everything.
    pub fn sample(&mut self) {
        let now = self.now;
        for flow in &mut self.flows {
            flow.deliver_until(now);
        }
        self.find_queued();
        let Simulation {
            sampler,
            flows,
            wires,
            ..
        } = self;
        let period = now.since(sampler.last).as_secs_f64();
        sampler.last = now;
        let Sampler {
            recorder,
            links,
            queued,
            ..
        } = sampler;
        recorder.sample(now, |row| {
            for (flow, queued) in flows.iter_mut().zip(queued) {
                sample_flow(row, flow, *queued, period);
            }
            for (id, last) in links {
                sample_link(row, &mut wires[*id], last, now, period);
            }
        });
    }
}

fn sample_flow(row: &mut Vec<f64>, f: &mut Flow, queued: u64, period: f64) {
    let v = f.sender.view();
    let last = f.sampled;
    f.sampled = Sampled {
        sent: f.sent.bytes,
        delivered: f.delivered.bytes,
        fresh: f.fresh_bytes,
        retransmissions: v.retransmissions,
        losses: f.losses,
    };
    let active = f.started && !(f.stopped && queued == 0);
    let rate = |now: u64, then: u64| (now - then) as f64 * 8.0 / period;
    let bytes = |b: Option<Bytes>| b.map_or(f64::NAN, Bytes::as_f64);
    let seconds = |d: Option<Duration>| d.map_or(f64::NAN, Duration::as_secs_f64);
    for metric in Metric::ALL.iter().filter(|m| !m.of_links()) {
        row.push(match metric {
            _ if !active => f64::NAN,
            Metric::Throughput => rate(f.delivered.bytes, last.delivered),
            Metric::Goodput => rate(f.fresh_bytes, last.fresh),
            Metric::SendingRate => rate(f.sent.bytes, last.sent),
            Metric::Cwnd => bytes(v.cwnd),
            Metric::Ssthresh => bytes(v.ssthresh),
            Metric::Rtt => seconds(v.rtt),
            Metric::MinRtt => seconds(v.min_rtt),
            Metric::Accumulation => queued as f64,
            Metric::AccumulationEstimate => v.accumulation.unwrap_or(f64::NAN),
            Metric::Retransmissions => (v.retransmissions - last.retransmissions) as f64,
            Metric::Losses => (f.losses - last.losses) as f64,
            _ => f64::NAN,
        });
    }
}

fn sample_link(row: &mut Vec<f64>, w: &mut Wire, last: &mut LinkSampled, now: Time, period: f64) {
    w.advance(now);
    let (packets, bytes) = w.backlog();
    let c = w.counters();
    let capacity = w.rate().as_bps_f64();
    let delay = bytes.bits_f64() / capacity;
    let price = w.aqm().map(|aqm| match aqm.price() {
        Some(price) => price,
        None => delay + aqm.virtual_delay(now).as_secs_f64(),
    });
    let s = *last;
    *last = LinkSampled {
        served: c.served.bytes,
        drops: c.dropped().packets,
        marks: c.marked.packets,
        judged: c.marked.packets + c.refused.packets,
        offered: c.offered.packets,
    };
    for metric in Metric::ALL.iter().filter(|m| m.of_links()) {
        row.push(match metric {
            Metric::Backlog => bytes.as_f64(),
            Metric::BacklogPackets => packets as f64,
            Metric::QueuingDelay => delay,
            Metric::Utilisation => (last.served - s.served) as f64 * 8.0 / period / capacity,
            Metric::Drops => (last.drops - s.drops) as f64,
            Metric::Marks => (last.marks - s.marks) as f64,
            Metric::MarkingProbability => {
                (last.judged - s.judged) as f64 / (last.offered - s.offered) as f64
            }
            Metric::Price => price.unwrap_or(delay),
            _ => f64::NAN,
        });
    }
}
