//! The check that flows may be a fluid among packets: the same scenario with fewer flows, in both
//! forms.
//!
//! Of each fluid group some flows are kept. A link carries less then, and is made slower in the same
//! proportion, so that each flow that is left has the rate that it had in the run. Limits and thresholds
//! of its queue shrink with it, so that delays stay. This smaller scenario runs with the groups as a
//! fluid and as packets, and the figures of both stand side by side.

use crate::engine::{Job, Options, run_all};
use crate::{Engine, Error, Run, Scenario};
use accord_family::{Raw, Value, Values};
use accord_record::Observer;
use accord_report::{AGREE, Column, Estimate, Outline, Row, Style, Subject, comparison_of, show};
use accord_scenario::{Change, Entity, Limit, Metric, Recorded};
use accord_traffic::Demand;
use accord_units::{Bytes, Rate, Size, Time};

/// The figures of a scenario with fewer flows, with its crowd as packets and as a fluid.
#[derive(Clone, Debug)]
pub struct CrowdCheck {
    /// The number of fluid flows that are kept.
    pub kept: usize,
    /// The number of fluid flows of the scenario.
    pub of: usize,
    /// The figures by packets, which is the reference, then with the fluid: for each group the rate, the
    /// round-trip time and the loss of its flows, or the completion time of its transfers; for each
    /// link of the crowd the backlog. Figures that a form lacks are left out.
    pub rows: Vec<Row>,
    outline: Outline,
    packets: Vec<Run>,
    fluid: Vec<Run>,
}

impl CrowdCheck {
    /// Returns the figures as a table.
    pub fn table(&self, style: Style) -> String {
        let columns = [("packets", &self.packets), ("fluid", &self.fluid)];
        let columns = columns.map(|(label, runs)| Column {
            label: label.into(),
            outline: &self.outline,
            runs: runs.iter().collect(),
        });
        comparison_of(&columns, &self.rows, style)
    }

    /// Returns whether all figures are within 5 % of those of packets.
    pub fn agrees(&self) -> bool {
        self.rows.iter().all(|row| row.agrees(AGREE) == Some(true))
    }

    /// Returns the verdict in one line, as a note of a run.
    pub fn note(&self) -> String {
        let near = |row: &&Row| row.agrees(AGREE) == Some(true);
        let met = self.rows.iter().filter(near).count();
        let mut text = format!(
            "crowd: with {} of {} fluid flows, {met} of {} within 5 % of packets",
            self.kept,
            self.of,
            show::count(self.rows.len(), "figure")
        );
        let far: Vec<String> = (self.rows.iter())
            .filter(|row| !near(row))
            .map(|row| {
                let (Subject::Group(of) | Subject::Link(of) | Subject::Aggregate(of)) = &row.of;
                let error = row.error().map_or(show::NONE.into(), show::error);
                format!("{of}: {} {error}", row.quantity.replace('_', " "))
            })
            .collect();
        if !far.is_empty() {
            text += &format!("; not {}", far.join(", "));
        }
        text
    }
}

/// Runs a scenario with about `flows` of its fluid flows, as a fluid and as packets. `runs` has the
/// unchanged scenario with each seed, and its run in the packet engine, which gives the rates of
/// the flows.
///
/// # Errors
/// Fails if the observer stops a run, or if a queue discipline cannot be as small.
///
/// # Panics
/// Panics if there are no runs, or no fluid flows.
pub fn check_crowd<O: Observer>(
    runs: &[(&Scenario, &Run)],
    flows: usize,
    observe: impl Fn(&Job) -> O + Sync,
) -> Result<CrowdCheck, Error> {
    let small: Vec<Scenario> = (runs.iter())
        .map(|(scenario, run)| smaller(scenario, run, flows))
        .collect::<Result<_, _>>()?;
    let packets: Vec<Scenario> = small.iter().map(as_packets).collect();
    let jobs: Vec<Job> = (packets.iter().chain(&small))
        .map(|scenario| Job {
            scenario,
            engine: Engine::Packet,
        })
        .collect();
    let mut packets = run_all(&jobs, &Options::default(), observe, |_, _| {})?;
    let fluid = packets.split_off(small.len());
    let count = |s: &Scenario| s.flows.iter().filter(|f| f.is_fluid).count();
    Ok(CrowdCheck {
        kept: count(&small[0]),
        of: count(runs[0].0),
        rows: rows(&small[0], &packets, &fluid),
        outline: Outline::of(&small[0]),
        packets,
        fluid,
    })
}

fn as_packets(s: &Scenario) -> Scenario {
    let mut s = s.clone();
    s.flows.iter_mut().for_each(|f| f.is_fluid = false);
    s
}

/// Returns the scenario with about `flows` fluid flows, and links slower in proportion.
fn smaller(s: &Scenario, run: &Run, flows: usize) -> Result<Scenario, Error> {
    let kept = chosen(s, flows);
    let ratios = remaining(s, &rates(s, run), &kept);
    let mut small = s.clone();
    let slower = small
        .links
        .iter_mut()
        .zip(ratios)
        .filter(|(_, ratio)| *ratio < 1.0);
    for (link, ratio) in slower {
        link.rate = Rate::from_bps_f64((link.rate.as_bps_f64() * ratio).max(1.0));
        link.queue.limit = match link.queue.limit {
            Limit::Packets(n) => Limit::Packets(((n as f64 * ratio).round() as u64).max(1)),
            Limit::Bytes(b) => Limit::Bytes(Bytes::from_f64((b.as_f64() * ratio).max(1.0))),
            Limit::Unlimited => Limit::Unlimited,
        };
        let discipline = &mut link.queue.discipline;
        shrink(discipline, ratio).map_err(|why| {
            let discipline = discipline.family().name;
            Error::Crowd(format!("{discipline} on {}: {why}", link.name))
        })?;
    }
    thin(&mut small, &kept);
    Ok(small)
}

/// Returns which flows are kept: of fluid groups some, evenly over their paths and round-trip times.
fn chosen(s: &Scenario, flows: usize) -> Vec<bool> {
    let mut kept: Vec<bool> = s.flows.iter().map(|f| !f.is_fluid).collect();
    let all = kept.iter().filter(|kept| !**kept).count();
    let network = s.at(Time::ZERO);
    for group in &s.groups {
        let mut members: Vec<usize> = group
            .flows
            .clone()
            .filter(|&f| s.flows[f].is_fluid)
            .collect();
        if members.is_empty() {
            continue;
        }
        let shared = |f: usize| {
            let path = s.flows[f].path.iter().copied();
            path.filter(|&l| !s.links[l].attachment).collect::<Vec<_>>()
        };
        members.sort_by_cached_key(|&f| (shared(f), network.base_rtt(f)));
        let n = members.len();
        let wanted = ((n * flows) as f64 / all as f64).round().max(1.0) as usize;
        let wanted = wanted.min(n);
        // The middle of each of as many equal parts.
        (0..wanted).for_each(|i| kept[members[(2 * i + 1) * n / (2 * wanted)]] = true);
    }
    kept
}

/// Returns the mean rate of each flow over the steady part; while it is not active it has none.
fn rates(s: &Scenario, run: &Run) -> Vec<f64> {
    let within = run.within(s.steady);
    let mean = |entity| {
        let series = run.series(Metric::Throughput, entity);
        let values = series.map_or(&[][..], |series| &series.values[within.clone()]);
        let sum: f64 = values.iter().filter(|v| !v.is_nan()).sum();
        sum / within.len().max(1) as f64
    };
    let of_flow = |(id, f): (usize, &accord_scenario::Flow)| match s.groups[f.group].recorded {
        Recorded::Flows => mean(Entity::Flow(id)),
        Recorded::Group => mean(Entity::Group(f.group)) / s.groups[f.group].flows.len() as f64,
    };
    s.flows.iter().enumerate().map(of_flow).collect()
}

/// Returns for each link the share of its load that belongs to the flows that are kept, or their
/// share of the flows if the link carries no data.
fn remaining(s: &Scenario, rates: &[f64], kept: &[bool]) -> Vec<f64> {
    #[derive(Clone, Copy, Default)]
    struct Sums {
        all: f64,
        left: f64,
    }
    let (mut data, mut users) = (
        vec![Sums::default(); s.links.len()],
        vec![Sums::default(); s.links.len()],
    );
    let add = |sums: &mut Sums, amount: f64, kept: bool| {
        sums.all += amount;
        sums.left += if kept { amount } else { 0.0 };
    };
    for ((f, &rate), &kept) in s.flows.iter().zip(rates).zip(kept) {
        f.path.iter().for_each(|&l| add(&mut data[l], rate, kept));
        let both = f.path.iter().chain(&f.reverse_path);
        both.for_each(|&l| add(&mut users[l], 1.0, kept));
    }
    let part = |(data, users): (&Sums, &Sums)| match (data.left > 0.0, users.left > 0.0) {
        (true, _) => data.left / data.all,
        (false, true) => users.left / users.all,
        // No flow is left that uses it.
        (false, false) => 1.0,
    };
    data.iter().zip(&users).map(part).collect()
}

/// Parameters of disciplines per packet: the weight of a packet in an average, and the step for
/// each excess packet.
const WEIGHT: &str = "weight";
const GAIN: (&str, &str) = ("rem", "gain");
/// A size that does not grow with the capacity.
const PACKET: &str = "packet";

/// Divides the sizes of a discipline, and speeds up its reactions per packet to match. Its
/// reactions per time stay.
fn shrink(values: &mut Values, ratio: f64) -> Result<(), String> {
    let name = values.family().name;
    let given: Vec<_> = values.iter().collect();
    for (p, value) in given {
        let raw = match value {
            Value::Size(Size::Bytes(b)) if p.name != PACKET => {
                let bytes = (b.as_f64() * ratio).round().max(1.0);
                Raw::Text(format!("{bytes} B"))
            }
            Value::Size(Size::Packets(n)) if p.name != PACKET => {
                Raw::Text(format!("{:.6} pkt", n * ratio))
            }
            Value::Number(w) if p.name == WEIGHT => Raw::Number(-((-w).ln_1p() / ratio).exp_m1()),
            Value::Number(gain) if (name, p.name) == GAIN => Raw::Number(gain / ratio),
            _ => continue,
        };
        (values.set(p.name, &raw)).map_err(|why| format!("{} with fewer flows: {why}", p.name))?;
    }
    Ok(())
}

/// Leaves out all flows that are not kept.
fn thin(s: &mut Scenario, kept: &[bool]) {
    let mut places = Vec::with_capacity(kept.len());
    let mut next = 0;
    for &kept in kept {
        places.push(kept.then_some(next));
        next += usize::from(kept);
    }
    let before = |flow: usize| kept[..flow].iter().filter(|k| **k).count();
    for group in &mut s.groups {
        group.flows = before(group.flows.start)..before(group.flows.end);
        if group.flows.len() <= MOST_RECORDED {
            group.recorded = Recorded::Flows;
        }
    }
    let mut flow = 0;
    s.flows.retain(|_| {
        flow += 1;
        kept[flow - 1]
    });
    for f in &mut s.flows {
        f.through = f.through.and_then(|tunnel| places[tunnel]);
    }
    s.events.retain_mut(|e| match &mut e.change {
        Change::Demand { flow, .. } | Change::Route { flow, .. } => match places[*flow] {
            Some(place) => {
                *flow = place;
                true
            }
            None => false,
        },
        Change::Rate(..) | Change::Delay(..) => true,
    });
    s.expectations.clear();
}

/// Groups up to this many flows are recorded flow by flow.
const MOST_RECORDED: usize = 1000;

const OF_FLOWS: [Metric; 3] = [Metric::Throughput, Metric::Rtt, Metric::PathLossRatio];

/// Returns the figures that both forms have.
fn rows(s: &Scenario, packets: &[Run], fluid: &[Run]) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |of: Subject, metric: Metric, entities: &[Entity]| {
        let value = |run: &Run| {
            let each = entities
                .iter()
                .filter_map(|&e| run.mean(metric, e, s.steady));
            let each: Vec<f64> = each.collect();
            (!each.is_empty()).then(|| each.iter().sum::<f64>() / each.len() as f64)
        };
        let form = |runs: &[Run]| {
            let values: Option<Vec<f64>> = runs.iter().map(value).collect();
            Estimate::of(&values?)
        };
        let values = [form(packets), form(fluid)];
        let is_something = |v: &Option<Estimate>| v.is_some_and(|v| v.mean != 0.0);
        if values.iter().all(Option::is_some) && values.iter().any(is_something) {
            rows.push(Row {
                of,
                quantity: metric.name(),
                unit: metric.unit(),
                values: values.to_vec(),
            });
        }
    };
    for (g, group) in s.groups.iter().enumerate() {
        let of = || Subject::Group(group.name.clone());
        let waits = |f: usize| matches!(s.flows[f].demand, Demand::Size(_));
        if group.flows.clone().any(waits) {
            add(of(), Metric::CompletionTime, &[Entity::Group(g)]);
            continue;
        }
        let entities: Vec<Entity> = match group.recorded {
            Recorded::Flows => group.flows.clone().map(Entity::Flow).collect(),
            Recorded::Group => vec![Entity::Group(g)],
        };
        OF_FLOWS.iter().for_each(|&m| add(of(), m, &entities));
    }
    let crowded = |l: usize| s.flows.iter().any(|f| f.is_fluid && f.path.contains(&l));
    for (l, link) in s.links.iter().enumerate() {
        if !link.attachment && crowded(l) {
            add(
                Subject::Link(link.name.clone()),
                Metric::Backlog,
                &[Entity::Link(l)],
            );
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_record::Quiet;

    /// Three links in a row with a RED queue each; the first has packets of its own.
    const TEXT: &str = r#"
duration = "20 s"
steady = ["10 s", "20 s"]
[topology.parking_lot]
bottlenecks = 3
rate = "100 Mbps"
delay = "10 ms"
queue = { discipline = "red", min_threshold = "20 pkt", max_threshold = "200 pkt", weight = 0.001, limit = "500 pkt" }
[flow.crowd]
count = 40
from = "r0"
to = "r3"
controller = "newreno"
as = "fluid"
[flow.cross]
count = 30
from = "r1"
to = "r2"
controller = "newreno"
as = "fluid"
[flow.own]
count = 5
from = "r0"
to = "r1"
controller = "newreno"
demand = { constant = "2 Mbps" }
"#;

    fn run_of(s: &Scenario) -> Run {
        accord_sim::run(s, &mut Quiet).expect("it runs")
    }

    fn mean(s: &Scenario, run: &Run, group: usize, metric: Metric) -> f64 {
        let flows = s.groups[group].flows.clone();
        let n = flows.len() as f64;
        flows
            .map(|f| {
                run.mean(metric, Entity::Flow(f), s.steady)
                    .expect("a value")
            })
            .sum::<f64>()
            / n
    }

    /// A fluid is the same at any size, so the rates, delays and losses of its flows stay.
    #[test]
    fn flows_keep_their_rates_delays_and_losses() {
        let file = crate::File::parse("small.toml", TEXT).expect("TOML");
        let s = file
            .points(&crate::catalogue(), None)
            .expect("sound")
            .remove(0);
        let whole = run_of(&s);
        let small = smaller(&s, &whole, 14).expect("it can be smaller");
        let sizes: Vec<usize> = small.groups.iter().map(|g| g.flows.len()).collect();
        assert_eq!(sizes, [8, 6, 5]);
        let run = run_of(&small);
        for group in 0..3 {
            for metric in [Metric::Throughput, Metric::Rtt] {
                let [a, b] = [
                    mean(&s, &whole, group, metric),
                    mean(&small, &run, group, metric),
                ];
                assert!(
                    (b / a - 1.0).abs() < 0.02,
                    "{metric:?} of {group}: {b} for {a}"
                );
            }
        }
        for group in 0..2 {
            let loss = Metric::PathLossRatio;
            let [a, b] = [
                mean(&s, &whole, group, loss),
                mean(&small, &run, group, loss),
            ];
            assert!((b / a - 1.0).abs() < 0.05, "loss of {group}: {b} for {a}");
        }
        // The packets' own link has less of a crowd than the second one.
        let rate = |name: &str| {
            let link = small.links.iter().find(|l| l.name == name).expect("a link");
            link.rate.as_bps_f64() / 100e6
        };
        assert!((rate("hop2") - 0.2).abs() < 1e-3, "{}", rate("hop2"));
        assert!(rate("hop1") > 0.25, "{}", rate("hop1"));
    }
}
