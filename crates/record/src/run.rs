//! The record of a run: the same for every engine.

use crate::transfer::{Transfer, of_entity};
use accord_scenario::{Engine, Entity, Fold, LinkId, Metric, Of, Scenario, Window};
use accord_units::{Duration, Time};

/// The result of an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The manifest for repeating the run.
    pub manifest: Manifest,
    /// The end of each sampling period, in seconds. The periods are evenly spaced, and times
    /// increase.
    pub time: Vec<f64>,
    /// The recorded series, each as long as `time`, ordered by entity and then metric.
    pub series: Vec<Series>,
    /// The finished transfers, by flow and start, from engines that see transfers.
    pub transfers: Vec<Transfer>,
    /// The work done by the run.
    pub statistics: Statistics,
    /// The precision of the equilibria, phase by phase, from an engine that computes them. A phase
    /// without an equilibrium has no certificate, and a note gives the reason.
    pub certificates: Vec<Certificate>,
    /// Notes for readers, for example on a phase without equilibrium or on coarser sampling.
    pub notes: Vec<String>,
    /// The reason, if any, why the run allows no verdict: the machine did not keep up, or its kernel
    /// closed a connection.
    pub unfit: Option<String>,
    /// The connections of third-party stacks that broke, in order of time. The notes also mention them.
    pub broken: Vec<Broken>,
    /// The skipped parts of the run, in order and disjoint. Their samples repeat the means of the
    /// preceding samples.
    pub skipped: Vec<Window>,
    /// The window over which each series has its single value, for a run without samples
    /// ([`Run::means_over`]).
    pub only_over: Option<Window>,
    /// The times at which the machine did not keep up, for a live run with no other fault. Run
    /// directories do not contain them.
    pub stalls: Vec<Stalls>,
}

/// The times at which links of a live run handed over packets late.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Stalls {
    /// The links, which a single thread served.
    pub links: Vec<LinkId>,
    /// The spans, in order and disjoint. Packets that left the links during a span were handed over
    /// at its end.
    pub spans: Vec<(Time, Time)>,
}

impl Stalls {
    /// Returns the time at which a packet that leaves one of the links at `at` is handed over.
    pub fn handed_over(&self, at: Time) -> Time {
        let next = self.spans.partition_point(|(_, end)| *end <= at);
        match self.spans.get(next) {
            Some((start, end)) if *start <= at => *end,
            _ => at,
        }
    }
}

/// The distance of a phase's equilibrium from the optimum: the residuals of the Karush-Kuhn-Tucker
/// conditions, as fractions. They are zero at the optimum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Certificate {
    /// The start of the phase.
    pub start: Time,
    /// The end of the phase.
    pub end: Time,
    /// The largest difference between a flow's rate and its demand at the price of its path.
    pub stationarity: f64,
    /// The largest excess of a link's load over its capacity.
    pub feasibility: f64,
    /// The largest price of unused capacity, as a fraction of the payments of the link's flows.
    pub complementarity: f64,
    /// The bound on the missing utility, as a fraction of the payments of all flows.
    pub gap: f64,
}

impl Certificate {
    /// Returns the residuals with their names.
    pub fn residuals(&self) -> [(&'static str, f64); 4] {
        [
            ("stationarity", self.stationarity),
            ("feasibility", self.feasibility),
            ("complementarity", self.complementarity),
            ("gap", self.gap),
        ]
    }
}

/// The facts for repeating a run and verifying the repetition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// The engine.
    pub engine: Engine,
    /// The version of Accord.
    pub version: String,
    /// The hash of the resolved scenario, in hexadecimal.
    pub scenario_hash: String,
    /// The seed.
    pub seed: u64,
    /// The digest of everything that happened, in hexadecimal. Runs with equal digests are equal.
    pub digest: String,
    /// The plan of the packet engine: "windows", or "events: " and the reason for events. The plan has no
    /// effect on the digest. Other engines have no plan.
    pub plan: Option<String>,
}

impl Manifest {
    /// Returns the manifest of a run of a scenario by an engine of this version.
    pub fn new(engine: Engine, scenario: &Scenario, digest: String) -> Manifest {
        Manifest {
            engine,
            version: env!("CARGO_PKG_VERSION").into(),
            scenario_hash: scenario.hash(),
            seed: scenario.seed,
            digest,
            plan: None,
        }
    }

    /// Returns the digest for an engine without events beyond its series. It is FNV-1a over whole
    /// values, with a rotation so that every bit reaches all others.
    pub fn digest(series: &[Series]) -> String {
        let values = series.iter().flat_map(|s| &s.values);
        let hash = values.fold(0xcbf2_9ce4_8422_2325u64, |h, v| {
            (h ^ v.to_bits()).wrapping_mul(0x100_0000_01b3).rotate_left(23)
        });
        format!("{hash:016x}")
    }
}

/// The values of a metric of a flow or link over time.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// The quantity. Its unit is [`Metric::unit`].
    pub metric: Metric,
    /// The entity to which the values belong.
    pub entity: Entity,
    /// The values, one per sampling period. A missing value is NaN: the flow is not active or
    /// nothing was measured.
    pub values: Vec<f64>,
}

/// The work done by a run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The packets that crossed a link, summed over links (packet engine).
    pub packet_hops: u64,
    /// The events handled (packet engine) or the iterations (theory).
    pub steps: u64,
}

/// A connection of a third-party stack that broke: it closed, or the stack violated a rule of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The flow.
    pub flow: usize,
    /// The time.
    pub at: Time,
    /// The end and its fault: "the sending end panicked: ...".
    pub why: String,
}

impl Broken {
    /// Returns a sentence about the fault, with the name of the flow and the time.
    pub fn text(&self, scenario: &Scenario) -> String {
        let (name, at) = (&scenario.flows[self.flow].name, self.at.as_secs_f64());
        format!("the connection of flow {name} broke off at {at:.6} s: {}", self.why)
    }
}

impl Run {
    /// Returns a run of these samples, without transfers or notes.
    pub fn new(manifest: Manifest, time: Vec<f64>, series: Vec<Series>) -> Run {
        Run {
            manifest,
            time,
            series,
            transfers: Vec::new(),
            statistics: Statistics::default(),
            certificates: Vec::new(),
            notes: Vec::new(),
            unfit: None,
            broken: Vec::new(),
            skipped: Vec::new(),
            only_over: None,
            stalls: Vec::new(),
        }
    }

    /// Returns the series of a metric of a flow or link, if the engine has it.
    pub fn series(&self, metric: Metric, entity: Entity) -> Option<&Series> {
        let key = |s: &Series| (s.entity, s.metric);
        let i = self.series.binary_search_by_key(&(entity, metric), key).ok()?;
        Some(&self.series[i])
    }

    /// Returns the indices of the sampling periods that lie within `window`.
    pub fn within(&self, window: Window) -> std::ops::Range<usize> {
        if self.only_over.is_some() {
            return 0..usize::from(self.is_only_over(window));
        }
        let (start, end) = (window.start.as_secs_f64(), window.end.as_secs_f64());
        let period = self.time.first().copied().unwrap_or(0.0);
        // A period belongs to the window if most of it lies inside.
        let from = self.time.partition_point(|t| *t < start + period / 2.0);
        let to = self.time.partition_point(|t| *t < end + period / 2.0);
        from..to.max(from)
    }

    /// Returns whether only one value per series, over this window, is kept. Long windows in seconds are off
    /// by some picoseconds.
    pub fn is_only_over(&self, window: Window) -> bool {
        let apart = |a: Time, b: Time| a.since(b).max(b.since(a));
        let near = |a, b| apart(a, b) < Duration::from_ns(1);
        self.only_over.is_some_and(|o| near(o.start, window.start) && near(o.end, window.end))
    }

    /// Returns the time that was skipped.
    pub fn skipped(&self) -> Duration {
        let spans = self.skipped.iter().map(|part| part.end.since(part.start));
        spans.fold(Duration::ZERO, |sum, span| sum + span)
    }

    /// Returns whether the sample at this index was skipped.
    pub fn is_skipped(&self, sample: usize) -> bool {
        if self.only_over.is_some() {
            return false;
        }
        let at = self.time[sample];
        let inside = |part: &Window| part.start.as_secs_f64() < at && at <= part.end.as_secs_f64();
        self.skipped.iter().any(inside)
    }

    /// Returns the mean over `window`. It is the sum for a metric that counts, the maximum for a
    /// metric of greatest values, and the ratio of both metrics for a ratio. Returns `None` if
    /// there is no value in the window.
    pub fn mean(&self, metric: Metric, entity: Entity, window: Window) -> Option<f64> {
        if self.is_only_over(window)
            && let Some(series) = self.series(metric, entity)
        {
            return series.values.first().copied().filter(|value| !value.is_nan());
        }
        if self.lacks_equilibrium(metric, entity, window) {
            return None;
        }
        if let Fold::Ratio(over, under) = metric.fold() {
            let within = self.within(window);
            let values = |metric| Some(&self.series(metric, entity)?.values[within.clone()]);
            let (mut a, mut b) = (0.0, 0.0);
            for (x, y) in values(over)?.iter().zip(values(under)?) {
                if !(x.is_nan() || y.is_nan()) {
                    (a, b) = (a + x, b + y);
                }
            }
            return Metric::ratio(over, a, under, b);
        }
        if metric.fold() == Fold::Max {
            return self.samples(metric, entity, window).reduce(f64::max);
        }
        let values = self.values(metric, entity, window, true);
        let (sum, n) = values.fold((0.0, 0u32), |(sum, n), v| (sum + v, n + 1));
        (n > 0).then(|| match metric.fold() {
            Fold::Sum => sum,
            _ => sum / f64::from(n),
        })
    }

    /// Returns true if theory has no equilibrium in a part of `window` in which the link works or the flow is
    /// active. The mean over the rest is not that over the window.
    fn lacks_equilibrium(&self, metric: Metric, entity: Entity, window: Window) -> bool {
        if self.manifest.engine != Engine::Theory {
            return false;
        }
        let recorded = match metric.fold() {
            Fold::Ratio(over, _) => over,
            _ => metric,
        };
        let Some(values) = self.series(recorded, entity) else {
            return false;
        };
        if matches!(entity, Entity::Link(_)) {
            let Some(rates) = self.series(Metric::LinkRate, entity) else {
                return false;
            };
            return self.within(window).any(|i| values.values[i].is_nan() && rates.values[i] > 0.0);
        }
        // A flow without a value is not active, or has no equilibrium: it is active where it was before or is
        // after.
        let within = self.within(window);
        let Some(unsolved) =
            self.unsolved().filter(|unsolved| within.clone().any(|i| unsolved(&i)))
        else {
            return false;
        };
        let mut is_active = false;
        let mut lacks = |i: usize| {
            if unsolved(&i) {
                return is_active && within.contains(&i);
            }
            is_active = !values.values[i].is_nan();
            false
        };
        let all = 0..self.time.len();
        all.clone().any(&mut lacks) || all.rev().any(lacks)
    }

    /// Returns true if theory has an equilibrium in all of `window`.
    pub fn is_solved(&self, window: Window) -> bool {
        self.unsolved().is_none_or(|unsolved| !self.within(window).any(|i| unsolved(&i)))
    }

    /// Returns whether theory has no equilibrium at a sample: the first link works, and has no value of its queue.
    fn unsolved(&self) -> Option<impl Fn(&usize) -> bool> {
        let first = self.series.partition_point(|s| s.entity < Entity::Link(0));
        let rates = self.series[first..].iter().find(|s| s.metric == Metric::LinkRate)?;
        let queue = &self.series(Metric::Backlog, rates.entity)?.values;
        Some(move |i: &usize| queue[*i].is_nan() && rates.values[*i] > 0.0)
    }

    /// Returns the values in `window`: the samples of a series that were observed and not skipped, or one
    /// value per transfer that ended in it.
    pub fn samples(
        &self,
        metric: Metric,
        entity: Entity,
        window: Window,
    ) -> impl Iterator<Item = f64> {
        self.values(metric, entity, window, false)
    }

    /// Returns the values in `window`, with or without the skipped samples.
    fn values(
        &self,
        metric: Metric,
        entity: Entity,
        window: Window,
        skipped: bool,
    ) -> impl Iterator<Item = f64> {
        let (series, transfers) = if metric.of() == Of::Transfer {
            (None, of_entity(&self.transfers, entity))
        } else {
            (self.series(metric, entity), &[][..])
        };
        let within = self.within(window);
        let from = within.start;
        let series = series.map_or(&[][..], |s| &s.values[within]);
        let counts = move |(i, _): &(usize, &f64)| skipped || !self.is_skipped(from + i);
        let ended = transfers.iter().filter(move |t| t.ended_in(window));
        (series.iter().enumerate().filter(counts))
            .map(|(_, value)| *value)
            .chain(ended.map(move |t| t.value(metric)))
            .filter(|v| !v.is_nan())
    }
}
