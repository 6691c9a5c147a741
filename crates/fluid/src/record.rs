//! Samples: the quantities of every engine, from what the integration has.
//!
//! What leaves the network is found as the papers define accumulation, by arrival and service
//! curves [Xia03 eqs. 1-6]: the byte that leaves a FIFO queue at t entered it when the delay
//! that it met there had just passed. Walked back from the sink to the source, this gives the
//! instant at which the byte was sent, so the service curve of the path; the arrival curve,
//! later by the delay over empty queues, less the service curve is the accumulation
//! [Xia05 eq. 1].

use crate::integrate::Integration;
use crate::model::Model;
use accord_scenario::{Entity, Metric, Scenario, Series};

/// Flow metrics, in the order of [`Metric`].
const OF_FLOWS: [Metric; 9] = [
    Metric::Throughput,
    Metric::Goodput,
    Metric::SendingRate,
    Metric::Cwnd,
    Metric::Rtt,
    Metric::MinRtt,
    Metric::Accumulation,
    Metric::AccumulationEstimate,
    Metric::Losses,
];
const OF_LINKS: [Metric; 8] = [
    Metric::Backlog,
    Metric::BacklogPackets,
    Metric::QueuingDelay,
    Metric::Utilisation,
    Metric::Drops,
    Metric::Marks,
    Metric::MarkingProbability,
    Metric::Price,
];

/// The series of a run in the making.
pub(crate) struct Recorder {
    pub time: Vec<f64>,
    /// By kind, then metric.
    flows: Vec<[Vec<f64>; 9]>,
    links: Vec<[Vec<f64>; 8]>,
    last: Vec<Last>,
    /// Bytes sent by each kind at each sample, for a past that the rings have lost.
    sent: Vec<Vec<f64>>,
    since: f64,
}

#[derive(Clone, Copy, Default)]
struct Last {
    sent: f64,
    delivered: f64,
    lost: f64,
}

impl Recorder {
    /// For so many samples.
    pub fn new(model: &Model<'_>, samples: usize) -> Recorder {
        let columns = || std::array::from_fn(|_| Vec::with_capacity(samples));
        Recorder {
            time: Vec::with_capacity(samples),
            flows: model.kinds.iter().map(|_| columns()).collect(),
            links: vec![Default::default(); model.queues.len()],
            last: vec![Last::default(); model.kinds.len()],
            sent: vec![Vec::with_capacity(samples); model.kinds.len()],
            since: 0.0,
        }
    }

    /// Takes a sample.
    pub fn sample(&mut self, run: &mut Integration<'_, '_>, time: f64) {
        run.keep_queues();
        let period = time - self.since;
        self.since = time;
        self.time.push(time);
        for k in 0..run.flows.len() {
            self.flow(k, run, time, period);
        }
        for (q, columns) in self.links.iter_mut().enumerate() {
            let packet = run.model.packets[q];
            let queue = &mut run.queues[q];
            let sums = std::mem::take(&mut queue.sums);
            let delay = sums.delay / period;
            let backlog = delay * queue.capacity;
            let judged = match sums.arrived > 0.0 {
                true => sums.judged / sums.arrived,
                false => 0.0,
            };
            let values = [
                backlog,
                backlog / packet,
                delay,
                sums.served / (queue.capacity * period),
                sums.lost / packet,
                sums.marked / packet,
                judged,
                sums.price / period,
            ];
            columns.iter_mut().zip(values).for_each(|(c, v)| c.push(v));
        }
    }

    fn flow(&mut self, k: usize, run: &Integration<'_, '_>, time: f64, period: f64) {
        let flow = &run.flows[k];
        let path = &run.network.paths[k];
        let kind = &run.model.kinds[k];
        let delivered = self.sent_by(k, run, sent_at(k, run, time));
        let last = &mut self.last[k];
        let lost = flow.lost;
        // A change of the path may show bytes twice, which is not a negative rate.
        let arrived = (delivered - last.delivered).max(0.0);
        let out = (arrived - (lost - last.lost)).max(0.0) * 8.0 / period;
        let sent = run.motion.sent[k];
        let rate = (sent - last.sent) * 8.0 / period;
        let losses = (lost - last.lost) / kind.control.packet;
        *last = Last {
            sent,
            delivered,
            lost,
        };
        let due = self.sent_by(k, run, time - path.one_way);
        let accumulation = (due - delivered).max(0.0);
        let there = flow.active || rate > 0.0 || out > 0.0;
        let state = run.window(k);
        let seen = run.seen(k);
        let base_rtt = run.motion.base_rtt[k];
        let window = match state.window {
            w if w.is_finite() => w,
            _ => f64::NAN,
        };
        let runs = |v: f64| if flow.active { v } else { f64::NAN };
        let is = |v: f64| if there { v } else { f64::NAN };
        let values = [
            is(out),
            is(out),
            is(rate),
            runs(window),
            runs(base_rtt + seen.queue),
            runs(state.min_rtt),
            is(accumulation),
            runs(kind.control.estimate(base_rtt, &state, &seen)),
            is(losses),
        ];
        let columns = &mut self.flows[k];
        columns.iter_mut().zip(values).for_each(|(c, v)| c.push(v));
        self.sent[k].push(sent);
    }

    /// The arrival curve at the source: bytes sent by `time`.
    fn sent_by(&self, k: usize, run: &Integration<'_, '_>, time: f64) -> f64 {
        if time <= 0.0 {
            return 0.0;
        }
        let oldest = run.clock.time(run.clock.oldest());
        let flow = &run.flows[k];
        if !flow.active && run.motion.sent[k] == 0.0 {
            return 0.0;
        }
        if time >= oldest {
            let (at, part) = run.clock.place(time);
            let a = run.sent.get(k, at);
            return a + part * (run.sent.get(k, at + 1) - a);
        }
        let samples = &self.sent[k];
        let i = self.time[..samples.len()].partition_point(|t| *t <= time);
        let (t0, v0) = match i {
            0 => (0.0, 0.0),
            i => (self.time[i - 1], samples[i - 1]),
        };
        match samples.get(i) {
            Some(v1) => v0 + (v1 - v0) * (time - t0) / (self.time[i] - t0),
            None => v0,
        }
    }

    /// The series of all flows and links, in order.
    pub fn finish(mut self, scenario: &Scenario, model: &Model<'_>) -> (Vec<f64>, Vec<Series>) {
        let mut kind_of = vec![None; scenario.flows.len()];
        for (k, kind) in model.kinds.iter().enumerate() {
            kind.members.iter().for_each(|&f| kind_of[f] = Some(k));
        }
        let mut series = Vec::new();
        let mut add = |entity, metric, values| {
            series.push(Series {
                metric,
                entity,
                values,
            });
        };
        for f in scenario.recorded_flows() {
            let Some(k) = kind_of[f] else { continue };
            let last = model.kinds[k].members.last() == Some(&f);
            for (metric, values) in OF_FLOWS.into_iter().zip(&mut self.flows[k]) {
                // Whoever is the last of its kind need not leave them behind.
                let values = match last {
                    true => std::mem::take(values),
                    false => values.clone(),
                };
                add(Entity::Flow(f), metric, values);
            }
        }
        let samples = self.time.len();
        for g in scenario.recorded_groups() {
            let kinds: Vec<usize> = (scenario.groups[g].flows.clone())
                .filter_map(|f| kind_of[f])
                .collect();
            for (i, metric) in OF_FLOWS.into_iter().enumerate().filter(|(_, m)| m.adds()) {
                // Of flows that are there; NaN where none is.
                let sum = |t: usize| {
                    let there = kinds.iter().map(|&k| self.flows[k][i][t]);
                    let there = there.filter(|v| !v.is_nan());
                    there.reduce(|a, b| a + b).unwrap_or(f64::NAN)
                };
                add(Entity::Group(g), metric, (0..samples).map(sum).collect());
            }
        }
        for (l, _) in (scenario.links.iter().enumerate()).filter(|(_, link)| !link.attachment) {
            let queue = model.queues.iter().position(|&q| q == l);
            for (i, metric) in OF_LINKS.into_iter().enumerate() {
                let values = match queue {
                    Some(q) => self.links[q][i].clone(),
                    None => vec![0.0; samples],
                };
                add(Entity::Link(l), metric, values);
            }
        }
        (self.time, series)
    }
}

/// When the byte was sent that reaches the sink at `time`.
fn sent_at(k: usize, run: &Integration<'_, '_>, time: f64) -> f64 {
    let path = &run.network.paths[k];
    let mut at = time;
    let mut from = path.one_way;
    for hop in path.hops[..path.forward].iter().rev() {
        at = entered(hop.queue, run, at - (from - hop.after));
        from = hop.after;
    }
    at - from
}

/// When the byte entered a queue that it left at `time`: the u with u + p(u) = time.
fn entered(queue: usize, run: &Integration<'_, '_>, time: f64) -> f64 {
    let clock = &run.clock;
    let left = |at: usize| clock.time(at) + run.delays.get(queue, at);
    let (mut low, mut high) = (clock.oldest(), clock.now);
    if left(high) <= time {
        return time - run.delays.get(queue, high);
    }
    if left(low) >= time {
        return time - run.delays.get(queue, low);
    }
    while high - low > 1 {
        let middle = (low + high) / 2;
        if left(middle) <= time {
            low = middle;
        } else {
            high = middle;
        }
    }
    let (a, b) = (left(low), left(high));
    let part = if b > a { (time - a) / (b - a) } else { 0.0 };
    clock.time(low) + part * (clock.time(high) - clock.time(low))
}
