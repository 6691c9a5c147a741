//! The recorder of series. It samples at a period and is bounded in memory: when the columns are
//! full, pairs of samples are merged and the period doubles.

use crate::derive::{RateCurve, complete};
use crate::fairness::Fairness;
use crate::inner::{self, Columns};
use crate::quantiles::{Members, Quantiles};
use crate::reading::{
    AggregateReading, Counts, FlowMetric, FlowReading, LinkMetric, LinkPeriod, LinkReading, Needs,
    OF_AGGREGATES, OF_FLOWS, OF_LINKS,
};
use crate::run::Series;
use accord_family::InnerState;
use accord_scenario::{Entity, Fold, LinkId, Metric, Recorded, Scenario};
use accord_units::{Duration, Time};

/// The maximum number of values of all columns together (128 MiB).
const BUDGET: usize = 1 << 24;
/// The maximum number of values of a column, and the fewest, whatever the budget.
const LONGEST: usize = 1 << 16;
const SHORTEST: usize = 64;
/// The number of samples taken as rows before they are put into the columns, which are many and far
/// apart. `SHORTEST` and, because it is clamped, every capacity is a multiple of it.
const BLOCK: usize = 32;

/// A group that has series of its own.
#[derive(Clone, Debug)]
struct Group {
    /// The state of a group that is recorded as one.
    one: Option<One>,
    /// True if the group has a fairness index.
    index: bool,
    /// The first flow of the group, and its place among the individually recorded flows, if they
    /// are recorded individually.
    alone: Option<(usize, usize)>,
}

/// A group recorded as a whole: the sum over its flows, the sum at the last sample, and the flows.
#[derive(Clone, Debug)]
struct One {
    now: FlowReading,
    last: Counts,
    members: Members,
}

/// The latest reading of an individually recorded flow, and its counts at the last sample.
#[derive(Clone, Debug, Default)]
struct Alone {
    now: FlowReading,
    last: Counts,
    /// The flow's number and the columns of its inner state, if the scenario asks for it.
    inner: Option<(usize, Columns)>,
}

/// The series of a run in progress.
#[derive(Clone, Debug)]
pub struct Recorder {
    period: Duration,
    time: Vec<f64>,
    columns: Vec<Series>,
    /// The samples that are not yet in the columns, one after the other.
    rows: Vec<f64>,
    capacity: usize,
    /// The recorded links, with their last readings.
    links: Vec<(LinkId, LinkReading)>,
    /// The rates of these links.
    rates_of_links: Vec<RateCurve>,
    /// The latest counts of all flows.
    flows: Vec<Counts>,
    /// The groups of the flows.
    group_of: Vec<u32>,
    /// The individually recorded flows.
    alone: Vec<Alone>,
    of_flows: Vec<FlowMetric>,
    /// The groups that have series.
    groups: Vec<Group>,
    sums: Vec<FlowMetric>,
    quantiles: Quantiles,
    /// The metrics that links have in this scenario.
    of_links: Vec<LinkMetric>,
    fairness: Fairness,
    /// The rates of the flows, for the fairness indices.
    rates: Vec<f64>,
    last: Time,
}

impl Recorder {
    /// Creates columns for every flow or group and for every link that is not an attachment.
    pub fn new(scenario: &Scenario) -> Recorder {
        let mut columns = Vec::new();
        let mut add = |entity, metric| {
            columns.push(Series { metric, entity, values: Vec::new() });
        };
        let aggregates_of = |link: LinkId| scenario.links[link].queue.discipline.aggregates().len();
        let recorded = scenario.links.iter().enumerate();
        let recorded = recorded.filter(|(_, l)| !l.attachment);
        let recorded: Vec<LinkId> = recorded.map(|(id, _)| id).collect();
        let fairness = Fairness::new(scenario, &recorded);
        let distinguishes = recorded.iter().any(|&l| aggregates_of(l) > 0);
        let met = |needs| match needs {
            Needs::Nothing => true,
            Needs::Tunnels => scenario.has_tunnels(),
            Needs::AggregateFairness => fairness.is_of_links(),
            Needs::Aggregates => distinguishes,
        };
        let of_links: Vec<_> = OF_LINKS.iter().copied().filter(|m| met(m.needs)).collect();
        let of_flows: Vec<_> = OF_FLOWS.iter().copied().filter(|m| met(m.needs)).collect();
        let sums: Vec<_> = of_flows.iter().copied().filter(|m| m.metric.adds()).collect();
        let mut alone = Vec::new();
        for flow in scenario.recorded_flows() {
            of_flows.iter().for_each(|m| add(Entity::Flow(flow), m.metric));
            let own = &scenario.flows[flow];
            let inner = scenario.inner.then(|| (flow, Columns::new(own)));
            if inner.is_some() {
                inner::metrics(own).for_each(|metric| add(Entity::Flow(flow), metric));
            }
            alone.push(Alone { inner, ..Alone::default() });
        }
        // A group always has sums, even if no flow is active.
        let nothing = FlowReading { active: true, ..FlowReading::default() };
        let mut groups = Vec::new();
        let mut placed = 0;
        let mut indices = fairness.groups().peekable();
        for (id, g) in scenario.groups.iter().enumerate() {
            let one = (g.recorded == Recorded::Group).then(|| One {
                now: nothing,
                last: nothing.counts(),
                members: Members::new(g.flows.start, g.flows.len()),
            });
            let alone = (g.recorded == Recorded::Flows).then_some((g.flows.start, placed));
            placed += alone.map_or(0, |_| g.flows.len());
            let index = indices.next_if_eq(&id).is_some();
            if one.is_some() {
                sums.iter().for_each(|m| add(Entity::Group(id), m.metric));
                Members::columns(id).for_each(|(entity, metric)| add(entity, metric));
            }
            if index {
                add(Entity::Group(id), Metric::FairnessIndex);
            }
            groups.push(Group { one, index, alone });
        }
        drop(indices);
        for &link in &recorded {
            of_links.iter().for_each(|m| add(Entity::Link(link), m.metric));
        }
        for &link in &recorded {
            for aggregate in 0..aggregates_of(link) {
                let entity = Entity::Aggregate { link, aggregate };
                OF_AGGREGATES.iter().for_each(|m| add(entity, m.metric));
            }
        }
        let idle = |link: LinkId| {
            let aggregates = vec![AggregateReading::default(); aggregates_of(link)];
            LinkReading { aggregates, ..LinkReading::default() }
        };
        let links = recorded.iter().map(|&link| (link, idle(link))).collect();
        let curve = |&link: &LinkId| RateCurve::new(scenario, link);
        let capacity = (BUDGET / columns.len().max(1)).clamp(SHORTEST, LONGEST);
        Recorder {
            period: scenario.sample,
            time: Vec::new(),
            columns,
            rows: Vec::new(),
            capacity: capacity - capacity % BLOCK,
            links,
            rates_of_links: recorded.iter().map(curve).collect(),
            flows: vec![Counts::default(); scenario.flows.len()],
            group_of: scenario.flows.iter().map(|f| f.group as u32).collect(),
            alone,
            of_flows,
            groups,
            sums,
            quantiles: Quantiles::default(),
            of_links,
            fairness,
            rates: vec![f64::NAN; scenario.flows.len()],
            last: Time::ZERO,
        }
    }

    /// The current sampling period.
    pub fn period(&self) -> Duration {
        self.period
    }

    /// Returns the recorded links, in the order of their readings.
    pub fn links(&self) -> impl Iterator<Item = LinkId> {
        self.links.iter().map(|(link, _)| *link)
    }

    /// Adds a sample: a reading of each flow that has changed since the last sample, in any order,
    /// and one of each recorded link. `inner` reads the inner state of a flow, and is called if the
    /// scenario asks for it. A flow may be left out only if its last two readings were equal.
    pub fn sample(
        &mut self,
        now: Time,
        flows: impl IntoIterator<Item = (usize, FlowReading)>,
        mut inner: impl FnMut(usize) -> InnerState,
        mut link: impl FnMut(LinkId) -> LinkReading,
    ) {
        let period = now.since(self.last).as_secs_f64();
        let (from, to) = (self.last.as_secs_f64(), now.as_secs_f64());
        self.last = now;
        self.time.push(now.as_secs_f64());
        let rows = &mut self.rows;
        for (id, reading) in flows {
            let last = std::mem::replace(&mut self.flows[id], reading.counts());
            let rate = reading.throughput(&last, period);
            let before = std::mem::replace(&mut self.rates[id], rate);
            let group = &mut self.groups[self.group_of[id] as usize];
            if let Some(one) = &mut group.one {
                one.now.change(&last, &reading);
                one.members.read(id, (&last, before), &reading, period);
            }
            if let Some((flow, place)) = group.alone {
                self.alone[place + id - flow].now = reading;
            }
        }
        for Alone { now, last, inner: columns } in &mut self.alone {
            now.record(&self.of_flows, last, period, rows);
            if let Some((flow, columns)) = columns {
                columns.record(&inner(*flow), now.active, period, rows);
            }
            *last = now.counts();
        }
        let mut indices = self.fairness.sample(now, &self.rates);
        for group in &mut self.groups {
            if let Some(one) = &mut group.one {
                one.now.record(&self.sums, &one.last, period, rows);
                one.last = one.now.counts();
                let latest = (&self.rates[..], &self.flows[..]);
                one.members.record(&mut self.quantiles, latest, rows);
            }
            if group.index {
                rows.extend(indices.next());
            }
        }
        drop(indices);
        let before = rows.len();
        let mut aggregates = Vec::new();
        for (place, (id, last)) in self.links.iter_mut().enumerate() {
            let mut reading = link(*id);
            reading.carry(last);
            let readings = LinkPeriod {
                now: &reading,
                last,
                period,
                rate: self.rates_of_links[place].mean(from, to),
                fairness: &|| self.fairness.of_link(place),
            };
            readings.record(&self.of_links, rows);
            for (now, then) in reading.aggregates.iter().zip(&last.aggregates) {
                now.record(then, period, &mut aggregates);
            }
            *last = reading;
        }
        debug_assert_eq!(rows.len() - before, self.links.len() * self.of_links.len());
        rows.append(&mut aggregates);
        if self.time.len().is_multiple_of(BLOCK) {
            self.flush();
        }
        if self.time.len() == self.capacity {
            self.merge_pairs();
        }
    }

    /// Returns the place of the first sample whose period begins at `since` or later.
    fn first_since(&self, since: Time) -> usize {
        let end = (since + self.period).as_secs_f64();
        self.time.partition_point(|at| *at < end)
    }

    /// Returns the number of samples whose periods begin at `since` or later.
    pub fn samples_since(&self, since: Time) -> usize {
        self.time.len() - self.first_since(since)
    }

    /// Adds the samples up to `until`, each with the means over the samples whose periods begin at `since` or
    /// later. The data sent is set to the sum of the data delivered and lost. Returns the time of the last
    /// sample.
    pub fn repeat(&mut self, since: Time, until: Time) -> Time {
        self.flush();
        let (first, observed) = (self.first_since(since), self.period);
        let mean = |column: &Series| {
            if column.metric.fold() == Fold::Last {
                return column.values.last().copied().unwrap_or(f64::NAN);
            }
            let values = column.values[first..].iter().filter(|v| !v.is_nan());
            let (sum, n) = values.fold((0.0, 0.0), |(sum, n), v| (sum + v, n + 1.0));
            // The result is NaN without values.
            sum / n
        };
        let mut means: Vec<f64> = self.columns.iter().map(mean).collect();
        let mut at = 0;
        for of_one in self.columns.chunk_by(|a, b| a.entity == b.entity) {
            let place = |metric| of_one.iter().position(|s| s.metric == metric);
            if let Some(sent) = place(Metric::SendingRate)
                && let (Some(arrived), Some(lost)) =
                    (place(Metric::Throughput), place(Metric::LostRate))
            {
                means[at + sent] = means[at + arrived] + means[at + lost];
            }
            at += of_one.len();
        }
        while self.last + self.period <= until {
            self.last += self.period;
            self.time.push(self.last.as_secs_f64());
            // A longer period contains more of the counted events.
            let longer = self.period.as_secs_f64() / observed.as_secs_f64();
            for (column, mean) in self.columns.iter_mut().zip(&means) {
                column.values.push(match column.metric.fold() {
                    Fold::Sum => mean * longer,
                    _ => *mean,
                });
            }
            if self.time.len() == self.capacity {
                self.merge_pairs();
            }
        }
        self.last
    }

    /// Moves the rows into the columns.
    fn flush(&mut self) {
        let width = self.columns.len();
        for (i, column) in self.columns.iter_mut().enumerate() {
            let values = self.rows.iter().skip(i).step_by(width);
            column.values.extend(values);
        }
        self.rows.clear();
    }

    fn merge_pairs(&mut self) {
        self.period = self.period + self.period;
        self.time = self.time.as_chunks().0.iter().map(|[_, second]| *second).collect();
        for column in &mut self.columns {
            let fold = column.metric.fold();
            let merge = |pair: &[f64; 2]| match (pair[0].is_nan(), pair[1].is_nan()) {
                (true, _) => pair[1],
                (_, true) => pair[0],
                _ if fold == Fold::Sum => pair[0] + pair[1],
                _ if fold == Fold::Max => pair[0].max(pair[1]),
                _ if fold == Fold::Last => pair[1],
                _ => (pair[0] + pair[1]) / 2.0,
            };
            column.values = column.values.as_chunks().0.iter().map(merge).collect();
        }
    }

    /// Returns the times of the samples and the series.
    pub fn finish(mut self, scenario: &Scenario) -> (Vec<f64>, Vec<Series>) {
        self.flush();
        let series = complete(scenario, &self.time, self.columns);
        (self.time, series)
    }
}
