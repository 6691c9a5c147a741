//! The series of a theory run: samples of the equilibria.

use crate::equilibrium::Equilibrium;
use crate::signals::objective;
use accord_family::Objective;
use accord_record::{Quantiles, Series, complete};
use accord_scenario::{Entity, Metric, QUANTILES, Scenario};
use accord_units::{Duration, Time};

/// The maximum number of samples of a theory run.
const LONGEST: u64 = 4096;
/// The maximum total number of values (128 MiB), if that allows [`FEWEST`] samples.
const BUDGET: u64 = 1 << 24;
const FEWEST: u64 = 16;

/// The metrics of flows that theory has.
const OF_FLOWS: [Metric; 8] = [
    Metric::Throughput,
    Metric::Goodput,
    Metric::SendingRate,
    Metric::Cwnd,
    Metric::Rtt,
    Metric::MinRtt,
    Metric::Accumulation,
    Metric::AccumulationEstimate,
];

impl Equilibrium {
    /// Returns one of [`OF_FLOWS`] of a flow, NaN if the flow is not active. One without control has neither a
    /// window nor an estimate.
    fn of_flow(&self, scenario: &Scenario, metric: Metric, flow: usize) -> f64 {
        let controller = &scenario.flows[flow].controller;
        match metric {
            Metric::Cwnd | Metric::AccumulationEstimate
                if objective(controller) == Some(Objective::Unresponsive) =>
            {
                f64::NAN
            }
            Metric::Throughput | Metric::Goodput | Metric::SendingRate => self.rate[flow] * 8.0,
            Metric::Cwnd => self.rate[flow] * self.rtt[flow],
            Metric::Rtt => self.rtt[flow],
            Metric::MinRtt => self.base_rtt[flow],
            Metric::Accumulation => self.accumulation[flow],
            Metric::AccumulationEstimate => self.estimate[flow],
            _ => f64::NAN,
        }
    }
}

/// The series, on the scenario's sampling grid or a coarser one, filled phase by phase.
pub(crate) struct Table<'a> {
    scenario: &'a Scenario,
    pub(crate) period: Duration,
    time: Vec<f64>,
    /// The number of samples so far.
    filled: usize,
    columns: Vec<Series>,
    /// The values of a phase, by column.
    row: Vec<f64>,
}

impl<'a> Table<'a> {
    pub(crate) fn new(scenario: &'a Scenario) -> Table<'a> {
        let mut period = scenario.sample;
        let columns = 8 * scenario.flows.len() as u64 + 9 * scenario.links.len() as u64;
        let most = (BUDGET / columns.max(1)).clamp(FEWEST, LONGEST);
        while scenario.duration.as_ps() / period.as_ps().max(1) > most {
            period = period * 2;
        }
        let samples = scenario.duration.as_ps() / period.as_ps().max(1);
        let time: Vec<f64> = (1..=samples).map(|k| (period * k).as_secs_f64()).collect();
        let mut table =
            Table { scenario, period, time, filled: 0, columns: Vec::new(), row: Vec::new() };
        let mut columns = Vec::new();
        table.visit(None, |entity, metric, _| {
            columns.push(Series { metric, entity, values: Vec::with_capacity(samples as usize) });
        });
        table.columns = columns;
        table
    }

    /// Returns the middle of each sampling period, in seconds. It decides the phase of the sample.
    pub(crate) fn middles(&self) -> Vec<f64> {
        let half = self.period.as_secs_f64() / 2.0;
        self.time.iter().map(|t| t - half).collect()
    }

    /// Adds the samples up to the end of a phase. Phases without samples may be left out.
    pub(crate) fn add_until(&mut self, end: Time, equilibrium: Option<&Equilibrium>) {
        let half = self.period.as_secs_f64() / 2.0;
        let before = |t: &f64| t - half < end.as_secs_f64();
        let samples = self.time[self.filled..].partition_point(before);
        if samples == 0 {
            return;
        }
        self.filled += samples;
        let mut row = std::mem::take(&mut self.row);
        row.clear();
        self.visit(equilibrium, |_, _, value| row.push(value));
        for (column, value) in self.columns.iter_mut().zip(&row) {
            column.values.extend(std::iter::repeat_n(*value, samples));
        }
        self.row = row;
    }

    /// Calls `each` with the value of each column in a phase. Without an equilibrium there are no
    /// values.
    fn visit(&self, e: Option<&Equilibrium>, mut each: impl FnMut(Entity, Metric, f64)) {
        let scenario = self.scenario;
        let mut add = |entity, metric, value: &dyn Fn(&Equilibrium) -> f64| {
            each(entity, metric, e.map_or(f64::NAN, value));
        };
        for f in scenario.recorded_flows() {
            for metric in OF_FLOWS {
                add(Entity::Flow(f), metric, &|e| e.of_flow(scenario, metric, f));
            }
        }
        let mut quantiles = Quantiles::default();
        for g in scenario.recorded_groups() {
            let id = Entity::Group(g);
            let flows = || scenario.groups[g].flows.clone();
            // The sum is over the flows that are active. Without any it is 0, not -0.
            let sum = |of: &[f64]| {
                let there = flows().map(|f| of[f]).filter(|v| !v.is_nan());
                there.sum::<f64>() + 0.0
            };
            add(id, Metric::Throughput, &|e| sum(&e.rate) * 8.0);
            add(id, Metric::Goodput, &|e| sum(&e.rate) * 8.0);
            add(id, Metric::SendingRate, &|e| sum(&e.rate) * 8.0);
            add(id, Metric::Accumulation, &|e| sum(&e.accumulation));
            for metric in Metric::WITH_QUANTILES {
                let over_flows = |e: &Equilibrium| {
                    flows().for_each(|f| quantiles.add(e.of_flow(scenario, metric, f), 1));
                    quantiles.take()
                };
                let found = e.map(over_flows);
                for (i, &percent) in QUANTILES.iter().enumerate() {
                    let value = |_: &Equilibrium| found.map_or(f64::NAN, |found| found[i]);
                    add(Entity::Quantile { group: g, percent }, metric, &value);
                }
            }
        }
        for (l, _) in scenario.links.iter().enumerate().filter(|(_, link)| !link.attachment) {
            let id = Entity::Link(l);
            // A stopped link keeps its queue, and has no delay.
            let alive = |e: &Equilibrium, value: f64| {
                if e.rate_of_link[l] > 0.0 { value } else { f64::NAN }
            };
            for metric in [Metric::Backlog, Metric::ServedBacklog] {
                add(id, metric, &|e| alive(e, e.backlog(l)));
            }
            add(id, Metric::BacklogPackets, &|e| alive(e, e.backlog_packets[l]));
            add(id, Metric::ServedRate, &|e| e.load[l] * 8.0);
            let arrivals = |e: &Equilibrium| e.arrivals[l] * self.period.as_secs_f64();
            add(id, Metric::Arrivals, &arrivals);
            add(id, Metric::Judged, &|e| alive(e, e.marking[l]) * arrivals(e));
            add(id, Metric::Price, &|e| alive(e, e.price[l]));
        }
    }

    pub(crate) fn finish(self) -> (Vec<f64>, Vec<Series>) {
        let series = complete(self.scenario, &self.time, self.columns);
        (self.time, series)
    }
}
