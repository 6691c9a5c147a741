//! Comparison of runs: a row per quantity, and a column per engine or directory.

use crate::estimate::Estimate;
use crate::measure::Figure;
use crate::show::{clean, name, once};
use accord_record::Run;
use accord_scenario::{
    Across, Change, Engine, Entity, Expectation, Metric, MetricUnit, Of, Over, QUANTILES, Recorded,
    Scenario, Table, Window,
};
use accord_units::{Duration, Time};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The part of a scenario that a comparison uses. It is small enough to be stored with the series,
/// and suffices to compare runs of different scenarios by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// The scenario's id.
    pub id: String,
    /// The title for people, one line.
    pub title: String,
    /// The source of the experiment, or "".
    pub source: String,
    /// Notes for reading the result, or "".
    pub notes: String,
    /// The point of the sweep: the keys that were set and their values.
    pub point: Vec<(String, String)>,
    /// The start and the end of the steady part, in seconds.
    pub steady_s: (f64, f64),
    /// The groups with the names of their flows. The numbers of flows continue from group to group.
    pub groups: Vec<GroupOutline>,
    /// All directed links, in the scenario's order.
    pub links: Vec<LinkOutline>,
    /// The names of the aggregates, in the scenario's order.
    pub aggregates: Vec<String>,
    /// The size of the largest data packets, in bytes. Directories of earlier programs have none.
    #[serde(default)]
    pub packet_bytes: f64,
    /// The longest base round-trip time of a flow, in seconds. Directories of earlier programs have
    /// none.
    #[serde(default)]
    pub round_trip_s: f64,
    /// The unit of the rates and windows of measurements, such as "payload", or "" for runs, which count
    /// [`WHOLE`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub counted: String,
    /// The places of groups, which are found at the first use.
    #[serde(skip)]
    pub places: Places,
}

/// The index and the first flow of each group, by name: thousands of groups are looked up for each quantity.
#[derive(Clone, Debug, Default)]
pub struct Places(OnceLock<BTreeMap<String, (usize, usize)>>);

/// The groups determine it.
impl PartialEq for Places {
    fn eq(&self, _: &Places) -> bool {
        true
    }
}

/// The words for data packets with all headers.
pub const WHOLE: &str = "whole packets";

/// A group of flows by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupOutline {
    /// The name.
    pub name: String,
    /// The names of its flows.
    pub flows: Vec<String>,
    /// True if the series of the group are sums over its flows.
    pub as_one: bool,
}

impl GroupOutline {
    /// Returns the name with the number of flows: "web (500 flows)".
    pub fn title(&self, limit: usize) -> String {
        let name = name(&self.name, limit);
        match (self.flows.len(), self.as_one) {
            (0..=1, _) => name,
            (n, false) => format!("{name} ({n} flows)"),
            (n, true) => format!("{name} ({n} flows in all)"),
        }
    }
}

/// A directed link by name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkOutline {
    /// The name.
    pub name: String,
    /// True if tables and plots show the link. Such a link belongs to the network and carries data:
    /// it is neither an attachment of a host nor a path for acknowledgements only.
    pub shown: bool,
    /// True if the queue discipline distinguishes aggregates.
    pub aggregates: bool,
}

impl Outline {
    /// Returns the outline of `scenario`.
    pub fn of(scenario: &Scenario) -> Outline {
        let mut data = vec![false; scenario.links.len()];
        let routes = scenario.events.iter().filter_map(|e| match &e.change {
            Change::Route { path, .. } => Some(path),
            Change::Delay(..) | Change::Rate(..) | Change::Demand { .. } => None,
        });
        let paths = scenario.flows.iter().map(|f| &f.path);
        for &link in paths.chain(routes).flatten() {
            data[link] = true;
        }
        let network = scenario.at(Time::ZERO);
        let flows = 0..scenario.flows.len();
        let round_trips = flows.map(|f| network.base_rtt(f).as_secs_f64());
        Outline {
            round_trip_s: round_trips.fold(0.0, f64::max),
            id: scenario.id.clone(),
            title: scenario.title.clone(),
            source: scenario.source.clone(),
            notes: scenario.notes.clone(),
            point: scenario.point.clone(),
            steady_s: (scenario.steady.start.as_secs_f64(), scenario.steady.end.as_secs_f64()),
            groups: scenario
                .groups
                .iter()
                .map(|g| GroupOutline {
                    name: g.name.clone(),
                    flows: g.flows.clone().map(|f| scenario.flows[f].name.clone()).collect(),
                    as_one: g.recorded == Recorded::Group,
                })
                .collect(),
            links: scenario
                .links
                .iter()
                .zip(data)
                .map(|(link, data)| LinkOutline {
                    name: link.name.clone(),
                    shown: data && !link.attachment,
                    aggregates: link.queue.discipline.aggregates().len() > 0,
                })
                .collect(),
            aggregates: scenario.aggregates.clone(),
            counted: String::new(),
            places: Places::default(),
            packet_bytes: (scenario.flows.iter()).map(|f| f.packet.as_f64()).fold(0.0, f64::max),
        }
    }

    /// Returns the part of the run over which tables average.
    pub fn steady(&self) -> Window {
        Window {
            start: Time::from_secs_f64(self.steady_s.0),
            end: Time::from_secs_f64(self.steady_s.1),
        }
    }

    /// Returns the index and the first flow of a group.
    fn place(&self, group: &str) -> Option<(usize, usize)> {
        let places = self.places.0.get_or_init(|| {
            let mut first = 0;
            let place = |(i, group): (usize, &GroupOutline)| {
                let place = (i, first);
                first += group.flows.len();
                (group.name.clone(), place)
            };
            // The first of several groups of one name counts.
            let places: Vec<_> = self.groups.iter().enumerate().map(place).collect();
            places.into_iter().rev().collect()
        });
        places.get(group).copied()
    }

    /// Returns the entities that have a group's series: its flows, or the group itself.
    pub(crate) fn series_of(&self, group: usize) -> Vec<Entity> {
        let outline = &self.groups[group];
        match self.place(&outline.name) {
            Some((_, first)) if !outline.as_one => {
                (first..first + outline.flows.len()).map(Entity::Flow).collect()
            }
            _ => vec![Entity::Group(group)],
        }
    }

    /// Returns the entities of a row's subject that have a metric, by name: the flows of a group, the
    /// group itself, or a link.
    fn entities(&self, subject: &Subject, metric: Metric) -> Option<Vec<Entity>> {
        Some(match subject {
            Subject::Group(name) => {
                let (i, _) = self.place(name)?;
                if metric.of() == Of::Group { vec![Entity::Group(i)] } else { self.series_of(i) }
            }
            Subject::Link(name) => {
                let i = self.links.iter().position(|l| l.name == *name)?;
                vec![Entity::Link(i)]
            }
            Subject::Aggregate(name) => {
                let mut all = self.aggregates(|_| true);
                vec![all.find(|(n, _)| n == name)?.1]
            }
        })
    }

    /// Returns the name of a quantile over a group's flows: "crowd p95".
    pub fn quantile(&self, group: usize, percent: u8) -> String {
        format!("{} p{percent}", self.groups[group].name)
    }

    /// Returns the quantiles over the flows of groups recorded as a whole, by name.
    pub(crate) fn quantiles(&self) -> impl Iterator<Item = (String, Entity)> {
        let groups = self.groups.iter().enumerate().filter(|(_, g)| g.as_one);
        groups.flat_map(|(group, _)| {
            QUANTILES.map(|percent| {
                let entity = Entity::Quantile { group, percent };
                (self.quantile(group, percent), entity)
            })
        })
    }

    /// Returns the aggregates at the links that distinguish them, by name: "bottleneck.udp".
    pub(crate) fn aggregates(
        &self,
        which: impl Fn(&LinkOutline) -> bool,
    ) -> impl Iterator<Item = (String, Entity)> {
        let links = self.links.iter().enumerate();
        let telling = links.filter(move |(_, l)| l.aggregates && which(l));
        telling.flat_map(|(link, l)| {
            let aggregates = self.aggregates.iter().enumerate();
            aggregates.map(move |(aggregate, name)| {
                let entity = Entity::Aggregate { link, aggregate };
                (format!("{}.{name}", l.name), entity)
            })
        })
    }
}

/// The subject of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A group of flows.
    Group(String),
    /// A directed link.
    Link(String),
    /// An aggregate at a directed link: "bottleneck.udp".
    Aggregate(String),
}

impl Subject {
    /// Returns "group", "link" or "aggregate".
    pub fn kind(&self) -> &'static str {
        match self {
            Subject::Group(_) => "group",
            Subject::Link(_) => "link",
            Subject::Aggregate(_) => "aggregate",
        }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        let (Subject::Group(name) | Subject::Link(name) | Subject::Aggregate(name)) = self;
        name
    }

    /// Returns the name of a quantity of the subject: "throughput of long".
    pub(crate) fn label(&self, quantity: &str, limit: usize) -> String {
        format!("{} of {}", quantity.replace('_', " "), name(self.name(), limit))
    }
}

/// Runs that share a column: repetitions of one engine's run.
#[derive(Clone, Debug)]
pub struct Column<'a> {
    /// The heading of the column.
    pub label: String,
    /// The names of the runs' flows and links.
    pub outline: &'a Outline,
    /// One run, or several with different seeds.
    pub runs: Vec<&'a Run>,
}

/// A quantity of a group or link over the steady window, with a value per column.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The subject.
    pub of: Subject,
    /// The quantity: a metric's name, "throughput_spread" (standard deviation over mean across the
    /// group's flows) or "estimator_bias" (estimated over true accumulation, less one).
    pub quantity: &'static str,
    /// The unit of the values.
    pub unit: MetricUnit,
    /// The values, one per column.
    pub values: Vec<Option<Estimate>>,
}

impl Row {
    /// Returns the units of its amounts, in the order of the columns, if some of them are measured: "whole
    /// packets and payload".
    pub fn counted(&self, columns: &[Column]) -> Option<String> {
        let amounts = matches!(self.unit, MetricUnit::BitPerSecond | MetricUnit::Bytes);
        if !amounts || !matches!(self.of, Subject::Group(_)) {
            return None;
        }
        let there = columns.iter().zip(&self.values).filter(|(_, value)| value.is_some());
        let all: Vec<&str> = there.map(|(column, _)| column.outline.counted.as_str()).collect();
        let is_measured = all.iter().any(|counted| !counted.is_empty());
        let words = all.iter().map(|counted| if counted.is_empty() { WHOLE } else { counted });
        is_measured.then(|| clean(&once(words).join(" and "), 60))
    }

    /// Returns the largest relative difference of any column from the first, signed. Returns `None` if there
    /// is no such ratio: a value is missing, the first value is zero or a rounding residue, or the quantity
    /// is itself a relative difference.
    pub fn error(&self) -> Option<f64> {
        let errors = self.against_first().map(|(first, v)| match first {
            0.0 => (v == 0.0).then_some(0.0),
            _ => Some((v - first) / first.abs()),
        });
        let errors: Vec<f64> = errors.collect::<Option<_>>()?;
        let larger = |a: f64, b: f64| if b.abs() > a.abs() { b } else { a };
        errors.into_iter().reduce(larger)
    }

    /// Returns whether all columns are within a relative `tolerance` of the first, or `None` if
    /// there is nothing to compare. A value differs from a missing one at any tolerance.
    pub fn agrees(&self, tolerance: f64) -> Option<bool> {
        self.against_first()
            .map(|(first, v)| (v - first).abs() <= tolerance * first.abs())
            .reduce(|a, b| a && b)
    }

    /// Returns the first column's mean with that of each other column that has one.
    fn against_first(&self) -> impl Iterator<Item = (f64, f64)> {
        let comparable = !matches!(self.quantity, SPREAD | BIAS);
        let first = self.values.first().copied().flatten();
        let first = (first.filter(|_| comparable)).map(|v| self.unit.settled(v.mean));
        let others = self.values.iter().skip(1).flatten();
        others.filter_map(move |v| Some((first?, self.unit.settled(v.mean))))
    }
}

pub(crate) const SPREAD: &str = "throughput_spread";
const BIAS: &str = "estimator_bias";

/// The quantities in tables that are not metrics, with their definitions. They compare means and have no
/// series.
pub const DERIVED: [(&str, &str); 2] = [
    (SPREAD, "Standard deviation over mean of the throughputs of a group's flows."),
    (BIAS, "Estimated over true accumulation of a group, less one."),
];

/// Returns the metrics of a subject that are in every table, or those that are only in tables of
/// sweeps.
fn metrics_of(subject: &Subject, sweeps: bool) -> Vec<Metric> {
    let kinds: &[Of] = match subject {
        Subject::Group(_) => &[Of::Flow, Of::Group],
        Subject::Link(_) => &[Of::Link],
        Subject::Aggregate(_) => &[Of::Aggregate],
    };
    Metric::placed(|row| match row.table.filter(|_| kinds.contains(&row.of))? {
        Table::Every(place) => (!sweeps).then_some(place),
        Table::Sweeps(place) => sweeps.then_some(place),
    })
}

/// Returns the runs by engine, in the engines' order.
pub(crate) fn by_engine<'a>(runs: &[&'a Run]) -> Vec<(Engine, Vec<&'a Run>)> {
    let of = |engine| runs.iter().copied().filter(|run| run.manifest.engine == engine).collect();
    let all = Engine::ALL.map(|engine| (engine, of(engine)));
    all.into_iter().filter(|(_, runs): &(_, Vec<_>)| !runs.is_empty()).collect()
}

/// Returns the columns of one scenario's runs: one per engine.
pub fn columns<'a>(outline: &'a Outline, runs: &[&'a Run]) -> Vec<Column<'a>> {
    by_engine(runs)
        .into_iter()
        .map(|(engine, runs)| Column { label: engine.to_string(), outline, runs })
        .collect()
}

/// Returns the rows of a comparison for people: the key metrics that any column has, for each group and shown
/// link of any column, without uninformative ones. Every group and link has at least one row, with or without
/// a value.
pub fn rows(columns: &[Column]) -> Vec<Row> {
    let mut rows = data_rows(columns);
    rows.retain(|row| !row.is_known() || row.says_something());
    rows
}

/// Returns the rows of a comparison for programs, which expect a row even if nothing was lost,
/// marked or sent again.
pub(crate) fn data_rows(columns: &[Column]) -> Vec<Row> {
    let mut rows = Vec::new();
    for subject in subjects(columns) {
        let candidates = match &subject {
            Subject::Group(_) => of_group(columns, &subject),
            Subject::Link(_) | Subject::Aggregate(_) => of_one(columns, &subject),
        };
        let always = candidates.first().filter(|row| !row.is_known()).cloned();
        rows.extend(always);
        rows.extend(candidates.into_iter().filter(Row::is_known));
    }
    rows
}

/// Returns the mean over the steady part of a metric or of a quantity in [`DERIVED`], for the group, flow,
/// link or aggregate at a link of this name. Returns `None` if the run has no value of it.
pub fn mean_of(scenario: &Scenario, run: &Run, quantity: &str, of: &str) -> Option<f64> {
    let outline = Outline::of(scenario);
    let columns = columns(&outline, &[run]);
    let subjects = [Subject::Group, Subject::Link, Subject::Aggregate].map(|s| s(of.into()));
    if DERIVED.iter().any(|(name, _)| *name == quantity) {
        let rows = of_group(&columns, &subjects[0]);
        let row = rows.into_iter().find(|row| row.quantity == quantity)?;
        return Some(row.values[0]?.mean);
    }
    let metric: Metric = quantity.parse().ok()?;
    let named = |subject: &Subject| mean(&columns[0], &[run], subject, metric, Across::Mean);
    let flow = || {
        let flow = scenario.flows.iter().position(|f| f.name == of)?;
        run.mean(metric, Entity::Flow(flow), outline.steady())
    };
    let found = subjects.iter().find_map(named);
    found.map(|estimate| estimate.mean).or_else(flow)
}

/// Returns the rows of tables, including those that only sweeps show: the fairness and the losses of groups,
/// the delays of queues, and the metrics for which `scenario` has expectations.
pub fn all_rows(scenario: &Scenario, columns: &[Column]) -> Vec<Row> {
    let mut rows = data_rows(columns);
    for subject in subjects(columns) {
        let expected = scenario.expectations.iter();
        let expected = expected.filter(|e| expected_of(scenario, e).as_ref() == Some(&subject));
        let metrics = metrics_of(&subject, true).into_iter();
        for metric in metrics.chain(expected.map(|e| e.metric)) {
            if rows.iter().all(|r| r.of != subject || r.quantity != metric.name()) {
                let row = row(columns, &subject, metric, Across::Mean);
                rows.extend(Some(row).filter(Row::is_known));
            }
        }
    }
    rows
}

/// Returns the subject of the row of an expectation.
pub(crate) fn expected_of(scenario: &Scenario, expectation: &Expectation) -> Option<Subject> {
    use accord_scenario::Subject as Of;
    let group = |g: usize| Some(Subject::Group(scenario.groups.get(g)?.name.clone()));
    match expectation.of {
        Of::Flow(f) => scenario.flows.get(f).and_then(|f| group(f.group)),
        Of::Group(g) => group(g),
        Of::Link(l) => scenario.links.get(l).map(|l| Subject::Link(l.name.clone())),
        Of::Aggregate { link, aggregate } => {
            let (link, aggregates) = (scenario.links.get(link), &scenario.aggregates);
            let name = link.zip(aggregates.get(aggregate));
            name.map(|(l, a)| Subject::Aggregate(format!("{}.{a}", l.name)))
        }
    }
}

/// Returns the columns that have a value in any row. An engine without values, such as theory
/// without an equilibrium, is neither a column nor a reference. If no column has a value, returns
/// all.
pub fn with_values<'a>(columns: &[Column<'a>]) -> Vec<Column<'a>> {
    let rows = rows(columns);
    let says = |i: &usize| rows.iter().any(|row| row.values[*i].is_some());
    let kept: Vec<Column> = (0..columns.len()).filter(says).map(|i| columns[i].clone()).collect();
    if kept.is_empty() { columns.to_vec() } else { kept }
}

impl Row {
    /// Returns whether any column has a value.
    pub(crate) fn is_known(&self) -> bool {
        self.values.iter().any(Option::is_some)
    }

    /// Returns whether a row is worth showing. In most networks, nothing is marked or sent again, so those
    /// metrics need no row.
    pub(crate) fn says_something(&self) -> bool {
        says_something(self.quantity, self.values.iter().flatten().map(|v| v.mean))
    }
}

/// Returns whether values of a quantity are worth showing.
pub(crate) fn says_something(quantity: &str, mut values: impl Iterator<Item = f64>) -> bool {
    let metric: Option<Metric> = quantity.parse().ok();
    let hidden = metric.is_some_and(|m| m.row().hidden_if_zero);
    !hidden || values.any(|v| v.is_finite() && v != 0.0)
}

/// Returns groups and then links, each in the order of the first column that has it.
fn subjects(columns: &[Column]) -> Vec<Subject> {
    let mut subjects: Vec<Subject> = Vec::new();
    let mut outlines: Vec<&Outline> = columns.iter().map(|c| c.outline).collect();
    // The engines of one scenario share their outline.
    outlines.dedup_by(|a, b| std::ptr::eq(*a, *b));
    let groups = outlines.iter().flat_map(|o| &o.groups);
    let groups = groups.map(|g| Subject::Group(g.name.clone()));
    let links = outlines.iter().flat_map(|o| &o.links).filter(|l| l.shown);
    let links = links.map(|l| Subject::Link(l.name.clone()));
    let aggregates = outlines.iter().flat_map(|o| o.aggregates(|l| l.shown));
    let aggregates = aggregates.map(|(name, _)| Subject::Aggregate(name));
    for subject in groups.chain(links).chain(aggregates) {
        if outlines.len() == 1 || !subjects.contains(&subject) {
            subjects.push(subject);
        }
    }
    subjects
}

/// Returns the part of the run over which the means of a column are: whole samples, of which most lies in the steady
/// part.
pub(crate) fn covered(column: &Column) -> Window {
    let steady = column.outline.steady();
    let Some(run) = column.runs.first().filter(|run| run.only_over.is_none()) else {
        return steady;
    };
    let samples = run.within(steady);
    if samples.is_empty() {
        return steady;
    }
    let period = Duration::from_secs_f64(run.time[0]);
    let at = |sample: usize| Time::from_secs_f64(run.time[sample]);
    let (start, end) =
        (Time::ZERO + at(samples.start).since(Time::ZERO + period), at(samples.end - 1));
    // Times in seconds are off by some picoseconds.
    let near = |a: Time, b: Time| a.since(b).max(b.since(a)) < Duration::from_ns(1);
    Window {
        start: if near(start, steady.start) { steady.start } else { start },
        end: if near(end, steady.end) { steady.end } else { end },
    }
}

/// Returns the part of the steady window in which flows of a group are active. Their means are over that part alone.
/// Returns `None` if it is the whole window, or if it is not known.
pub(crate) fn active(column: &Column, group: &Subject) -> Option<Window> {
    let run = column.runs.first().filter(|run| run.only_over.is_none())?;
    let flows = column.outline.entities(group, Metric::Throughput)?;
    let series: Vec<_> = flows.iter().filter_map(|f| run.series(Metric::Throughput, *f)).collect();
    let is_active = |i: &usize| series.iter().any(|s| !s.values[*i].is_nan());
    let (mut window, all) = (column.outline.steady(), run.within(column.outline.steady()));
    let (first, last) = (all.clone().find(is_active)?, all.clone().rfind(is_active)?);
    if first == all.start && last + 1 == all.end {
        return None;
    }
    if first > all.start {
        window.start = Time::from_secs_f64(run.time[first - 1]);
    }
    if last + 1 < all.end {
        window.end = Time::from_secs_f64(run.time[last]);
    }
    Some(window)
}

fn of_group(columns: &[Column], group: &Subject) -> Vec<Row> {
    let mut rows = of_one(columns, group);
    let several = |c: &Column| {
        c.outline.entities(group, Metric::Throughput).is_some_and(|flows| flows.len() > 1)
    };
    if columns.iter().any(several) {
        let mut spread = row(columns, group, Metric::Throughput, Across::Variation);
        // The sum of a group that is recorded as one has no spread.
        let alone = columns.iter().map(|c| !several(c));
        let values = spread.values.iter_mut().zip(alone).filter(|(_, alone)| *alone);
        values.for_each(|(value, _)| *value = None);
        spread.quantity = SPREAD;
        spread.unit = MetricUnit::Ratio;
        rows.insert(1, spread);
    }
    rows.push(Row {
        of: group.clone(),
        quantity: BIAS,
        unit: MetricUnit::Ratio,
        values: columns
            .iter()
            .map(|column| {
                let biases = column.runs.iter().map(|run| bias(column, run, group));
                Estimate::of(&biases.collect::<Option<Vec<f64>>>()?)
            })
            .collect(),
    });
    rows
}

fn of_one(columns: &[Column], subject: &Subject) -> Vec<Row> {
    let metrics = metrics_of(subject, false).into_iter();
    metrics.map(|m| row(columns, subject, m, Across::Mean)).collect()
}

fn row(columns: &[Column], subject: &Subject, metric: Metric, across: Across) -> Row {
    Row {
        of: subject.clone(),
        quantity: metric.name(),
        unit: metric.unit(),
        values: columns
            .iter()
            .map(|column| mean(column, &column.runs, subject, metric, across))
            .collect(),
    }
}

fn mean(
    column: &Column,
    runs: &[&Run],
    subject: &Subject,
    metric: Metric,
    across: Across,
) -> Option<Estimate> {
    let figure = Figure { metric, over: Over::Mean, across, during: column.outline.steady() };
    figure.of(runs, &column.outline.entities(subject, metric)?)[0]
}

/// Returns the error of a group's estimator as a whole. In a mean of the flows' own ratios, the flow with the
/// least accumulation would dominate.
fn bias(column: &Column, run: &Run, group: &Subject) -> Option<f64> {
    let mean = |metric| Some(mean(column, &[run], group, metric, Across::Mean)?.mean);
    let truth = mean(Metric::Accumulation)?;
    let estimate = mean(Metric::AccumulationEstimate)?;
    let truth = MetricUnit::Bytes.settled(truth);
    (truth > 0.0).then(|| estimate / truth - 1.0)
}
