//! Samples: the metrics of all engines, from the state of the integration.
//!
//! Departures from the network follow from arrival and service curves, as the papers define
//! accumulation [Xia03 eqs. 1-6]: a FIFO queue has served by t the bytes that had entered by u,
//! where u is the time at which the bytes entered equal the bytes served at t. Both curves are
//! kept, so this holds for any changes of rate. Following a byte back from the sink to the
//! source yields its sending time, and thus the service curve of the path.
//!
//! - The fraction of the sent bytes that queues lost does not arrive.
//! - ACK-clocked sources learn of a queue's delay a round trip late, and may have sent more or less
//!   than the queue took. The served bytes are then divided in proportion.
//! - Bytes do not overtake each other, and links deliver no more than their rate: when a delay
//!   falls, bytes that become due at once wait for capacity.
//!
//! The accumulation of a flow is its share of each queue [Xia05 eq. 1]: in proportion to the bytes
//! that flows sent during the time in which the queued bytes entered.

use crate::integrate::{Counter, Entries, Integration, Passage};
use crate::model::Model;
use crate::path::{Hop, Network};
use crate::queue::is_never;
use crate::wire::Wire;
use accord_record::{Quantiles, Series, complete};
use accord_scenario::{Entity, Metric, QUANTILES, Scenario};

/// The metrics of flows, in the order of [`Metric`].
const OF_FLOWS: [Metric; 10] = [
    Metric::Throughput,
    Metric::Goodput,
    Metric::SendingRate,
    Metric::Cwnd,
    Metric::Rtt,
    Metric::MinRtt,
    Metric::Accumulation,
    Metric::AccumulationEstimate,
    Metric::Losses,
    Metric::LostRate,
];
const OF_LINKS: [Metric; 11] = [
    Metric::Backlog,
    Metric::ServedBacklog,
    Metric::BacklogPackets,
    Metric::BacklogMax,
    Metric::BacklogPacketsMax,
    Metric::ServedRate,
    Metric::Arrivals,
    Metric::Drops,
    Metric::Marks,
    Metric::Judged,
    Metric::Price,
];

/// The series of a run in progress.
#[derive(Clone)]
pub(crate) struct Recorder {
    pub time: Vec<f64>,
    flows: Table<{ OF_FLOWS.len() }>,
    links: Table<{ OF_LINKS.len() }>,
    last: Vec<Last>,
    /// The bytes sent by each class at each sample except the latest, for times older than the rings.
    sent: Vec<f64>,
    since: f64,
}

/// Columns by class or queue, then by metric. Rows are added first and moved to the columns in
/// blocks, since thousands of columns exceed the cache.
#[derive(Clone)]
struct Table<const N: usize> {
    columns: Vec<[Vec<f64>; N]>,
    rows: Vec<[f64; N]>,
}

/// The number of rows moved at a time.
const ROWS: usize = 16;

impl<const N: usize> Table<N> {
    fn new(columns: usize, samples: usize) -> Table<N> {
        let empty = || std::array::from_fn(|_| Vec::with_capacity(samples));
        Table {
            columns: (0..columns).map(|_| empty()).collect(),
            rows: Vec::with_capacity(columns * ROWS),
        }
    }

    /// Adds the values of the next class or queue. After the last one the first follows.
    fn push(&mut self, values: [f64; N]) {
        if self.rows.len() == self.columns.len() * ROWS {
            self.flush();
        }
        self.rows.push(values);
    }

    fn flush(&mut self) {
        let width = self.columns.len();
        let whole = self.rows.len() == width * ROWS;
        for (k, columns) in self.columns.iter_mut().enumerate() {
            let rows = || self.rows[k..].iter().step_by(width);
            if !whole {
                for (i, column) in columns.iter_mut().enumerate() {
                    column.extend(rows().map(|row| row[i]));
                }
                continue;
            }
            let block: [&[f64; N]; ROWS] = std::array::from_fn(|r| &self.rows[r * width + k]);
            for (i, column) in columns.iter_mut().enumerate() {
                column.extend_from_slice(&block.map(|row| row[i]));
            }
        }
        self.rows.clear();
    }
}

/// The state at the last sample, or since: bytes that arrive are counted between samples too.
#[derive(Clone, Default)]
struct Last {
    sent: f64,
    /// The bytes that have arrived since the last sample.
    arrived: f64,
    /// The sending time of the byte that arrived last, and the bytes sent by then.
    until: f64,
    due: f64,
    /// Two balances: the bytes due at the sink for which links had no capacity, and the bytes sent that no
    /// queue has taken, less those taken in advance. The bytes of the second arrive after the end of the
    /// flow.
    waiting: f64,
    withheld: f64,
    lost: f64,
    /// The wire to the first queue, or to the sink, and each queue of the path.
    wire: Option<Wire>,
    hops: Vec<Passed>,
}

/// A queue of the path: the time at which the byte served last had entered, its wait, and the wire
/// to the next queue or to the sink.
#[derive(Clone)]
struct Passed {
    queue: usize,
    entered: f64,
    wait: f64,
    wire: Wire,
    /// The times at which the latest byte left and entered the wire.
    out: f64,
    left: f64,
    /// The queue's counters at `entered` and `left`; `None` on a new path.
    counters: Option<[Entries; 2]>,
    /// The capacity of the wire since the last count, in bytes.
    room: f64,
}

/// The latest passage looked up in a sample, per queue: flows with the same remaining path look up
/// the same passage one after the other.
struct Passages(Vec<Option<Passage>>);

impl Passages {
    #[inline]
    fn of(&mut self, run: &Integration<'_, '_>, queue: usize, left: f64) -> &Passage {
        let known = &mut self.0[queue];
        if known.as_ref().is_none_or(|known| known.left != left) {
            *known = Some(run.passage(queue, left));
        }
        known.as_ref().expect("it has just been looked for")
    }
}

impl Recorder {
    /// Creates a recorder for `samples` samples.
    pub fn new(model: &Model<'_>, samples: usize) -> Recorder {
        let classes = model.classes.len();
        Recorder {
            time: Vec::with_capacity(samples),
            flows: Table::new(classes, samples),
            links: Table::new(model.queues.len(), samples),
            last: vec![Last::default(); classes],
            sent: Vec::with_capacity(samples * classes),
            since: 0.0,
        }
    }

    /// Changes the network from `time` on.
    pub fn enter(&mut self, network: &Network, time: f64) {
        for (last, path) in self.last.iter_mut().zip(&network.paths) {
            let hops = &path.hops[..path.forward];
            let ends = hops.iter().map(|h| (h.after, h.propagation));
            let ends = ends.chain([(path.one_way, path.propagation)]);
            // Propagation and transmission delays of the wires to each queue and to the sink.
            let mut from = (0.0, 0.0);
            let wires: Vec<(f64, f64)> = ends
                .map(|end| {
                    let (whole, wire) = (end.0 - from.0, end.1 - from.1);
                    from = end;
                    (wire, (whole - wire).max(0.0))
                })
                .collect();
            let same = last.hops.len() == hops.len()
                && (last.hops.iter().zip(hops)).all(|(p, h)| p.queue == h.queue);
            match &mut last.wire {
                Some(wire) if same => {
                    wire.change(time, wires[0].0, wires[0].1);
                    let old = last.hops.iter_mut().map(|p| &mut p.wire);
                    old.zip(&wires[1..])
                        .for_each(|(w, &(delay, sending))| w.change(time, delay, sending));
                }
                wire => {
                    // Data on an old path arrives over the new one, as if its queues had been empty
                    // when the last byte passed.
                    *wire = Some(Wire::new(wires[0].0, wires[0].1));
                    let new = |(h, &(delay, sending)): (&Hop, &(f64, f64))| Passed {
                        queue: h.queue,
                        entered: last.until + h.after,
                        wait: 0.0,
                        wire: Wire::new(delay, sending),
                        out: time,
                        left: time - delay - sending,
                        counters: None,
                        room: 0.0,
                    };
                    last.hops = hops.iter().zip(&wires[1..]).map(new).collect();
                }
            }
        }
    }

    /// Counts the bytes that have arrived, while the histories have the curves since the last call.
    pub fn count(&mut self, run: &mut Integration<'_, '_>, time: f64) {
        self.arrivals(run, &mut Passages(vec![None; run.queues.len()]), time);
    }

    /// Takes a sample.
    pub fn sample(&mut self, run: &mut Integration<'_, '_>, time: f64) {
        let period = time - self.since;
        self.since = time;
        self.time.push(time);
        let passages = &mut Passages(vec![None; run.queues.len()]);
        self.arrivals(run, passages, time);
        for k in 0..run.flows.len() {
            let arrived = std::mem::take(&mut self.last[k].arrived);
            let accumulation = self.accumulation(k, run, passages, time);
            self.flow(k, run, period, arrived, accumulation);
        }
        self.sent.extend(&run.motion.sent);
        for (q, (queue, packet)) in run.queues.iter_mut().zip(&run.model.packets).enumerate() {
            let sums = std::mem::take(&mut queue.sums);
            let backlog = sums.backlog / period;
            // A packet in service occupies the buffer as well.
            let served = if sums.served > 0.0 { *packet } else { 0.0 };
            let longest = (sums.longest + served).min(run.model.buffer(q));
            let values = [
                backlog,
                backlog,
                backlog / packet,
                longest,
                longest / packet,
                (sums.served + sums.taken) * 8.0 / period,
                sums.arrived / packet,
                sums.lost / packet,
                sums.marked / packet,
                sums.judged / packet,
                sums.price / sums.alive,
            ];
            self.links.push(values);
        }
    }

    /// Counts the bytes that arrived at the sink since the last call, for a flow of each class.
    fn arrivals(&mut self, run: &mut Integration<'_, '_>, passages: &mut Passages, time: f64) {
        run.keep_queues();
        let mut pending = vec![0.0; run.queues.len()];
        let mut room = vec![0.0f64; run.queues.len()];
        for k in 0..run.flows.len() {
            self.falls_due(k, run, passages, time);
            let last = &self.last[k];
            let path = &run.network.paths[k];
            for (hop, passed) in path.hops[..path.forward].iter().zip(&last.hops) {
                let many = if hop.private { 1.0 } else { run.flows[k].many };
                pending[hop.queue] += many * last.waiting;
                room[hop.queue] = room[hop.queue].max(passed.room);
            }
        }
        for (last, path) in self.last.iter_mut().zip(&run.network.paths) {
            let mut part = 1.0f64;
            for hop in &path.hops[..path.forward] {
                if pending[hop.queue] > room[hop.queue] {
                    part = part.min(room[hop.queue] / pending[hop.queue]);
                }
            }
            let arrived = part * last.waiting;
            last.arrived += arrived;
            last.waiting -= arrived;
        }
        // Withheld bytes of finished flows use the remaining capacity.
        for (k, last) in self.last.iter_mut().enumerate() {
            let path = &run.network.paths[k];
            if run.flows[k].active || last.withheld <= 0.0 {
                continue;
            }
            let hops = || path.hops[..path.forward].iter();
            let many = |hop: &Hop| if hop.private { 1.0 } else { run.flows[k].many };
            let left = |hop: &Hop| (room[hop.queue] - pending[hop.queue]) / many(hop);
            let more = hops().map(left).fold(last.withheld, f64::min).max(0.0);
            hops().for_each(|hop| pending[hop.queue] += more * many(hop));
            last.withheld -= more;
            last.arrived += more;
        }
    }

    /// Advances the service curve of a class's path to `time`, and returns the bytes that become
    /// due.
    fn falls_due(
        &mut self,
        k: usize,
        run: &Integration<'_, '_>,
        passages: &mut Passages,
        time: f64,
    ) {
        let path = &run.network.paths[k];
        let forward = &path.hops[..path.forward];
        let last = &mut self.last[k];
        let mut at = time;
        let (mut kept, mut longest, mut taken) = (1.0, 0.0, 1.0);
        for (hop, passed) in forward.iter().zip(&mut last.hops).rev() {
            let left = passed.wire.left(at);
            let passage = passages.of(run, hop.queue, left);
            let there = |time| run.counters(hop.queue, run.clock.place(time));
            let (mut entered, mut entering) = (passage.entered, passage.entering);
            if entered > left || entered < passed.entered {
                entered = entered.min(left).max(passed.entered);
                entering = there(entered);
            }
            let first = || [there(passed.entered), there(passed.left)];
            let [entering_then, leaving_then] = passed.counters.unwrap_or_else(first);
            passed.counters = Some([entering, passage.leaving]);
            let since = |c: Counter| entering[c as usize] - entering_then[c as usize];
            let [came, stayed, lost] = [Counter::Came, Counter::Entered, Counter::Lost].map(since);
            let could = Counter::Could as usize;
            // After a fall of a delay, more time passes at the exit of the wire than at its entry.
            let (out, into) = (at - passed.out, left - passed.left);
            let part = if into > out { out / into } else { 1.0 };
            passed.room = part * (passage.leaving[could] - leaving_then[could]);
            (passed.out, passed.left) = (at, left);
            if stayed + lost > 0.0 {
                kept *= stayed / (stayed + lost);
            }
            let wait = (left - entered).max(0.0);
            if wait.max(passed.wait) > longest && came > 0.0 {
                longest = wait.max(passed.wait);
                taken = (stayed + lost) / came;
            }
            (passed.entered, passed.wait) = (entered, wait);
            at = entered;
        }
        if let Some(wire) = &mut last.wire {
            last.until = last.until.max(wire.left(at));
        }
        let until = last.until;
        let due = self.sent_by(k, run, until);
        let last = &mut self.last[k];
        let sent = path.passes * kept * (due - last.due).max(0.0);
        let arrives = taken * sent;
        last.withheld += sent - arrives;
        last.waiting += arrives;
        last.due = last.due.max(due);
    }

    /// Returns the bytes of a flow of a class in each queue of its path, at the time at which a
    /// byte that arrives now passed the queue.
    fn accumulation(
        &self,
        k: usize,
        run: &Integration<'_, '_>,
        passages: &mut Passages,
        time: f64,
    ) -> f64 {
        let path = &run.network.paths[k];
        let of = |hop: &Hop| {
            let at = time - (path.one_way - hop.after);
            let passage = passages.of(run, hop.queue, at);
            let (leaving, entering) = (&passage.leaving, &passage.entering);
            let backlog = leaving[Counter::Entered as usize] - leaving[Counter::Served as usize];
            let came = leaving[Counter::Came as usize] - entering[Counter::Came as usize];
            if backlog <= 0.0 || came <= 0.0 {
                return 0.0;
            }
            let sent = |time| self.sent_by(k, run, time - hop.after);
            backlog * hop.passes * (sent(at) - sent(passage.entered)).max(0.0) / came
        };
        path.hops[..path.forward].iter().map(of).sum()
    }

    fn flow(
        &mut self,
        k: usize,
        run: &Integration<'_, '_>,
        period: f64,
        arrived: f64,
        accumulation: f64,
    ) {
        let flow = &run.flows[k];
        let control = run.control(k);
        let out = arrived * 8.0 / period;
        let last = &mut self.last[k];
        let (sent, lost) = (run.motion.sent[k], run.motion.lost[k]);
        let rate = (sent - last.sent) * 8.0 / period;
        let newly = lost - last.lost;
        (last.sent, last.lost) = (sent, lost);
        let there = flow.active || rate > 0.0 || out > 0.0;
        let motion = &run.motion;
        let (window, min_rtt) = (motion.window[k], motion.min_rtt[k]);
        let seen = run.motion.seen(k);
        let base_rtt = motion.base_rtt[k];
        let estimate = control.estimate(base_rtt, window, min_rtt, &seen);
        let window = match window {
            w if w.is_finite() => w,
            _ => f64::NAN,
        };
        let runs = |v: f64| if flow.active { v } else { f64::NAN };
        // No round trip completes over a link with rate 0.
        let dead = is_never(seen.queue);
        let passes = |v: f64| {
            if dead || is_never(v) { f64::NAN } else { runs(v) }
        };
        let is = |v: f64| if there { v } else { f64::NAN };
        let values = [
            is(out),
            is(out),
            is(rate),
            runs(window),
            passes(base_rtt + seen.queue),
            if is_never(min_rtt) { f64::NAN } else { runs(min_rtt) },
            is(accumulation),
            passes(estimate),
            is(newly / control.packet),
            is(newly * 8.0 / period),
        ];
        self.flows.push(values);
    }

    /// Returns the arrival curve at the source: bytes sent by `time`.
    #[inline]
    fn sent_by(&self, k: usize, run: &Integration<'_, '_>, time: f64) -> f64 {
        if time <= 0.0 {
            return 0.0;
        }
        if time >= run.clock.time(run.clock.oldest()) {
            run.sent.at(k, run.clock.place(time))
        } else {
            self.sent_long_ago(k, run, time)
        }
    }

    /// Returns the arrival curve at a time older than the rings.
    #[inline(never)]
    fn sent_long_ago(&self, k: usize, run: &Integration<'_, '_>, time: f64) -> f64 {
        if !run.flows[k].active && run.motion.sent[k] == 0.0 {
            return 0.0;
        }
        let classes = run.flows.len();
        let sent = |i: usize| self.sent.get(i * classes + k);
        let i = self.time[..self.sent.len() / classes].partition_point(|t| *t <= time);
        let (t0, v0) = match i {
            0 => (0.0, 0.0),
            i => (self.time[i - 1], sent(i - 1).copied().unwrap_or(0.0)),
        };
        match sent(i) {
            Some(v1) => v0 + (v1 - v0) * (time - t0) / (self.time[i] - t0),
            None => v0,
        }
    }

    /// Returns the series of all flows and links, in order.
    pub fn finish(mut self, scenario: &Scenario, model: &Model<'_>) -> (Vec<f64>, Vec<Series>) {
        self.flows.flush();
        self.links.flush();
        let (mut flows, links) = (self.flows.columns, self.links.columns);
        let mut class_of = vec![None; scenario.flows.len()];
        for (k, class) in model.classes.iter().enumerate() {
            class.members.iter().for_each(|&f| class_of[f] = Some(k));
        }
        let mut series = Vec::new();
        let mut add = |entity, metric, values| {
            series.push(Series { metric, entity, values });
        };
        for f in scenario.recorded_flows() {
            let Some(k) = class_of[f] else { continue };
            let last = model.classes[k].members.last() == Some(&f);
            for (metric, values) in OF_FLOWS.into_iter().zip(&mut flows[k]) {
                // The last flow of a class takes the values, the others copy them.
                let values = if last { std::mem::take(values) } else { values.clone() };
                add(Entity::Flow(f), metric, values);
            }
        }
        let samples = self.time.len();
        let mut quantiles = Quantiles::default();
        for g in scenario.recorded_groups() {
            let classes: Vec<usize> =
                (scenario.groups[g].flows.clone()).filter_map(|f| class_of[f]).collect();
            for (i, metric) in OF_FLOWS.into_iter().enumerate().filter(|(_, m)| m.adds()) {
                // The sum is only over samples in which the flow exists.
                let sum = |t: usize| {
                    let there = classes.iter().map(|&k| flows[k][i][t]);
                    let there = there.filter(|v| !v.is_nan());
                    // The sum of no numbers is -0.
                    there.sum::<f64>() + 0.0
                };
                add(Entity::Group(g), metric, (0..samples).map(sum).collect());
            }
            for metric in Metric::WITH_QUANTILES {
                let place = OF_FLOWS.iter().position(|m| *m == metric);
                let values = |k: usize, t| place.map_or(f64::NAN, |i| flows[k][i][t]);
                let over_flows: Vec<_> = (0..samples)
                    .map(|t| {
                        classes.iter().for_each(|&k| quantiles.add(values(k, t), 1));
                        quantiles.take()
                    })
                    .collect();
                for (i, &percent) in QUANTILES.iter().enumerate() {
                    let values = over_flows.iter().map(|of| of[i]).collect();
                    add(Entity::Quantile { group: g, percent }, metric, values);
                }
            }
        }
        for (l, _) in (scenario.links.iter().enumerate()).filter(|(_, link)| !link.attachment) {
            let queue = model.queues.iter().position(|&q| q == l);
            for (i, metric) in OF_LINKS.into_iter().enumerate() {
                let values = match queue {
                    Some(q) => links[q][i].clone(),
                    None => vec![0.0; samples],
                };
                add(Entity::Link(l), metric, values);
            }
        }
        let series = complete(scenario, &self.time, series);
        (self.time, series)
    }
}
