//! Changes of rates, delays and routes, and outages: exact solutions and conservation laws.

use crate::common::with_outages;
use accord_fluid::run;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};

const MODELS: [&str; 2] = ["integrator", "ack-clocked"];

fn events(changes: &[(f64, &str)]) -> String {
    let event = |(at, what): &(f64, &str)| {
        format!("[[event]]\nat = \"{at:.6} s\"\nlink = \"bottleneck\"\n{what}\n")
    };
    changes.iter().map(event).collect()
}

/// A dumbbell of 10 Mbps.
fn dumbbell(model: &str, head: &str, delay: &str, flows: &str, events: &str) -> (Scenario, Run) {
    let s = with_outages(&format!(
        "{head}\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"{delay}\"\n\
         queue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n{flows}{events}"
    ));
    let run = run(&s, &mut Quiet).expect("it runs");
    (s, run)
}

const STEADY: &str = "[flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\ndemand = { constant = \"8 Mbps\" }\n";

fn of(run: &Run, metric: Metric, entity: Entity) -> &[f64] {
    &run.series(metric, entity).expect("it is recorded").values
}

fn bottleneck(s: &Scenario) -> Entity {
    Entity::Link(s.links.iter().position(|l| l.name == "bottleneck").unwrap())
}

/// 8 Mbps over a link that has r Mbps from 2 s to 3 s: B = (8 − r)·(t − 2)/8 MB until 3 s, then
/// it falls by 0.25 MB/s. The link is full until it is empty.
#[test]
fn a_step_down_and_an_outage_build_the_exact_queue() {
    for (model, r) in MODELS.into_iter().flat_map(|m| [(m, 4.0), (m, 0.0)]) {
        let down = match r {
            0.0 => "rate = \"1 bps\"",
            _ => "rate = \"4 Mbps\"",
        };
        let changes = events(&[(2.0, down), (3.0, "rate = \"10 Mbps\"")]);
        let head = "duration = \"10 s\"\nsample = \"50 ms\"";
        let (s, run) = dumbbell(model, head, "5 ms", STEADY, &changes);
        let link = bottleneck(&s);
        let (backlog, used, out) = (
            of(&run, Metric::Backlog, link),
            of(&run, Metric::Utilisation, link),
            of(&run, Metric::Throughput, Entity::Flow(0)),
        );
        let (growth, most) = ((8.0 - r) / 8.0 * 1e6, (8.0 - r) / 8.0 * 1e6);
        let empty = 3.0 + most / 0.25e6;
        for (i, &end) in run.time.iter().enumerate() {
            // The middle of a sample, and whether a change of slope is in it or just before.
            let t = end - 0.025;
            let knee = [2.0, 3.0, empty].iter().any(|k| end > *k - 1e-9 && end < k + 0.12);
            if t < 0.2 || knee {
                continue;
            }
            let (queue, rate) = match t {
                t if t < 2.0 => (0.0, 8.0),
                t if t < 3.0 => (growth * (t - 2.0), r),
                t if t < empty => (most - 0.25e6 * (t - 3.0), 10.0),
                _ => (0.0, 8.0),
            };
            let near = |what: &str, is: f64, should: f64, within: f64| {
                assert!((is - should).abs() <= within, "{model}, {r}, {end}: {what} {is} {should}");
            };
            near("backlog", backlog[i], queue, 20.0);
            near("throughput", out[i] / 1e6, rate, 1e-3);
            if r == 0.0 && t > 2.0 && t < 3.0 {
                assert!(used[i].is_nan(), "{}", used[i])
            } else {
                let full = if t > 2.0 && t < empty { 1.0 } else { 0.8 };
                near("utilisation", used[i], full, 1e-4);
            }
        }
    }
}

/// A change in the middle of a sample: half of it at 10 Mbps, half at 1 Mbps. The utilisation is
/// bytes sent over bytes that could have been sent.
#[test]
fn utilisation_of_a_sample_counts_its_actual_rates() {
    let changes = events(&[(5.05, "rate = \"1 Mbps\""), (7.05, "rate = \"10 Mbps\"")]);
    for (model, controller) in
        MODELS.into_iter().flat_map(|m| [(m, "monaco"), (m, "vegas"), (m, "newreno")])
    {
        let flow =
            format!("[flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n");
        let head = "duration = \"10 s\"\nsample = \"100 ms\"";
        let (s, run) = dumbbell(model, head, "25 ms", &flow, &changes);
        let used = of(&run, Metric::Utilisation, bottleneck(&s));
        for (u, t) in used.iter().zip(&run.time) {
            assert!(*u <= 1.0 + 1e-9, "{model} {controller} {t}: {u}");
        }
        assert!((used[50] - 1.0).abs() < 1e-6, "{model} {controller}: {}", used[50]);
    }
}

/// A reproducible sequence of numbers from 0 to 1.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Random changes of the rate, including outages: the total goodput is the service of the link,
/// delayed to the sink; no flow exceeds the rate of the link; and the accumulations add up to the
/// queue.
#[test]
fn goodput_equals_service_under_random_rates() {
    for seed in 1..=6u64 {
        for model in MODELS {
            let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            let mut rates = vec![(0.0, 10e6)];
            let mut changes = Vec::new();
            let mut at = 1.0;
            while at < 7.0 {
                let rate = match dice.roll() {
                    x if x < 0.2 => 1.0,
                    x => (1e6 * 40f64.powf(x)).round(),
                };
                changes.push((at, format!("rate = \"{rate} bps\"")));
                rates.push((at, if rate == 1.0 { 0.0 } else { rate }));
                at += 0.02 + 1.2 * dice.roll();
            }
            changes.push((8.0, "rate = \"10 Mbps\"".into()));
            rates.push((8.0, 10e6));
            let list: Vec<_> = changes.iter().map(|(t, w)| (*t, w.as_str())).collect();
            let flows = ["monaco", "vegas", "newreno"].map(|c| {
                format!("[flow.{c}]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{c}\"\naccess = {{ rate = \"100 Mbps\", delay = \"{} ms\" }}\n", 2.0 + 9.0 * dice.roll())
            });
            let head = "duration = \"12 s\"\nsample = \"20 ms\"";
            let (s, run) = dumbbell(model, head, "4 ms", &flows.concat(), &events(&list));
            let link = bottleneck(&s);
            let could = |from: f64, to: f64| -> f64 {
                let ends = rates.iter().skip(1).map(|r| r.0).chain([f64::INFINITY]);
                let part = |((start, rate), end): (&(f64, f64), f64)| {
                    rate * (to.min(end) - from.max(*start)).max(0.0)
                };
                rates.iter().zip(ends).map(part).sum()
            };
            let used = of(&run, Metric::Utilisation, link);
            let backlog = of(&run, Metric::Backlog, link);
            let mut served = vec![0.0];
            let mut arrived = 0.0;
            let mut before = 0.0;
            for (i, &t) in run.time.iter().enumerate() {
                let room = could(t - 0.02, t);
                let u = if used[i].is_nan() { 0.0 } else { used[i] };
                assert!(u <= 1.0 + 1e-9, "{model} {seed} {t}: {u}");
                served.push(served[i] + u * room);
                let sum = |metric| -> f64 {
                    let flows = (0..3).map(|f| of(&run, metric, Entity::Flow(f))[i]);
                    flows.filter(|v| v.is_finite()).sum()
                };
                arrived += 0.02 * sum(Metric::Throughput);
                // The delay from the queue to the sink is between 4 ms and a sample.
                let (low, high) = (served[i], served[i + 1]);
                assert!(
                    arrived > low - 2e4 && arrived < high + 1e4,
                    "{model} {seed} {t}: {low} < {arrived} < {high}"
                );
                let most = could(t - 0.04, t - 0.0).max(room);
                assert!(0.02 * sum(Metric::Throughput) <= most + 1.0, "{model} {seed} {t}");
                let queued = sum(Metric::Accumulation);
                let rough = 0.02 * 40e6 / 8.0 + 3e3;
                let mean = 0.5 * (queued + before);
                assert!(
                    (mean - backlog[i]).abs() < rough,
                    "{model} {seed} {t}: {mean} {}",
                    backlog[i]
                );
                before = queued;
            }
            let rest = run.time.len() - 1;
            let queued: f64 =
                (0..3).map(|f| of(&run, Metric::Accumulation, Entity::Flow(f))[rest]).sum();
            println!("{model} {seed}: {arrived} {} {queued} {}", served[rest + 1], backlog[rest]);
        }
    }
}

/// 5 Mbps over 200 ms that become 20 ms at 2.003 s: bytes on the wire arrive as before, until 2.203
/// s; then bytes sent since are due, and arrive at the 10 Mbps of the line, for 0.18 s.
#[test]
fn a_delay_that_falls_brings_bytes_at_the_rate_of_the_line() {
    for model in MODELS {
        let flow = STEADY.replace("8 Mbps", "5 Mbps");
        let changes = events(&[(2.003, "direction = \"forward\"\ndelay = \"20 ms\"")]);
        let head = "duration = \"4 s\"\nsample = \"10 ms\"";
        let (s, run) = dumbbell(model, head, "200 ms", &flow, &changes);
        let out = of(&run, Metric::Throughput, Entity::Flow(0));
        for (rate, t) in out.iter().zip(&run.time).filter(|(_, t)| **t > 1.0) {
            let expected = match t {
                t if *t < 2.2 || *t > 2.41 => 5e6,
                t if *t > 2.22 && *t < 2.375 => 10e6,
                _ => continue,
            };
            assert!((rate / expected - 1.0).abs() < 1e-6, "{model} {t}: {rate}");
        }
        // Bytes are conserved: those sent until the end, less those on the wires.
        let total: f64 = out.iter().map(|r| run.time[0] * r).sum();
        let sent = 5e6 * (4.0 - 0.02);
        assert!((total - sent).abs() < 3e4, "{model}: {total} {sent}");
        let queue = of(&run, Metric::Accumulation, Entity::Flow(0));
        assert!(queue.iter().all(|a| *a < 1.0), "{model}");
        assert!(of(&run, Metric::Backlog, bottleneck(&s)).iter().all(|b| *b < 1.0));
    }
}

/// A queue behind a wire whose delay falls receives the bytes on the wire at the line rate.
#[test]
fn a_queue_behind_a_falling_delay_overflows_at_the_line_rate() {
    for model in MODELS {
        let text = format!(
            "duration = \"4 s\"\nsample = \"10 ms\"\nfluid = {{ link_model = \"{model}\" }}\nnodes = [\"s\", \"m\", \"t\"]\n\
             [link.hop1]\nfrom = \"s\"\nto = \"m\"\nrate = \"10 Mbps\"\ndelay = \"200 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"100 pkt\" }}\n\
             [link.hop2]\nfrom = \"m\"\nto = \"t\"\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"20 pkt\" }}\n\
             [flow.a]\npath = [\"s\", \"m\", \"t\"]\ncontroller = \"none\"\ndemand = {{ constant = \"5 Mbps\" }}\n\
             [[event]]\nat = \"2.003 s\"\nlink = \"hop1\"\ndelay = \"20 ms\"\n"
        );
        let s = with_outages(&text);
        let run = run(&s, &mut Quiet).unwrap();
        let drops: f64 = (0..s.links.len())
            .filter_map(|l| run.series(Metric::Drops, Entity::Link(l)))
            .map(|d| d.values.iter().sum::<f64>())
            .sum();
        assert_eq!(drops, 0.0, "{model}");
        let total: f64 =
            of(&run, Metric::Throughput, Entity::Flow(0)).iter().map(|r| run.time[0] * r).sum();
        assert!((total / (5e6 * (4.0 - 0.0226)) - 1.0).abs() < 2e-3, "{model}: {total}");
        let estimate = of(&run, Metric::AccumulationEstimate, Entity::Flow(0));
        assert!(estimate.iter().all(|e| e.is_nan()), "no window, no estimate");
    }
}

/// A link that is up and down for a millisecond each has half its rate, and half a millisecond of
/// extra delay. Window flows use all of it.
#[test]
fn a_link_that_flaps_has_half_its_rate() {
    let mut changes = Vec::new();
    for i in 0..2000 {
        let what = ["rate = \"1 bps\"", "rate = \"10 Mbps\""][i % 2];
        changes.push((2.0 + 1e-3 * i as f64, what));
    }
    for model in MODELS {
        let head = "duration = \"5 s\"\nsample = \"50 ms\"";
        let (_, run) = dumbbell(model, head, "5 ms", STEADY, &events(&changes));
        let out = of(&run, Metric::Throughput, Entity::Flow(0));
        for (rate, t) in out.iter().zip(&run.time) {
            let expected = match t {
                t if *t > 2.12 && *t < 4.0 => 5e6,
                t if *t > 4.12 => 10e6,
                _ => continue,
            };
            assert!((rate / expected - 1.0).abs() < 0.025, "{model} {t}: {rate}");
        }
    }
}

/// After an outage every law continues as before.
#[test]
fn windows_survive_an_outage() {
    let changes = events(&[(8.0, "rate = \"1 bps\""), (9.0, "rate = \"10 Mbps\"")]);
    for model in MODELS {
        for controller in [
            "\"monaco\"",
            "{ name = \"monaco\", policy = \"aiad\" }",
            "\"vegas\"",
            "\"reno\"",
            "\"vegas-k\"",
            "\"cubic\"",
        ] {
            let flow = format!(
                "[flow.f]\ncount = 2\nfrom = \"left\"\nto = \"right\"\ncontroller = {controller}\n"
            );
            let head = "duration = \"20 s\"\nsample = \"100 ms\"";
            let (s, run) = dumbbell(model, head, "10 ms", &flow, &changes);
            for series in &run.series {
                assert!(
                    series.values.iter().all(|v| !v.is_infinite()),
                    "{} of {:?}",
                    series.metric,
                    series.entity
                );
            }
            let flow = |metric| of(&run, metric, Entity::Flow(0));
            let (before, after) = (flow(Metric::Throughput)[78], flow(Metric::Throughput)[198]);
            assert!((before / 5e6 - 1.0).abs() < 1e-3, "{model} {controller}: {before}");
            assert!((after / 5e6 - 1.0).abs() < 1e-3, "{model} {controller}: {after}");
            assert!(
                flow(Metric::Throughput)[82..89].iter().all(|x| *x < 1.0),
                "{model} {controller}"
            );
            assert!(flow(Metric::Rtt)[82..89].iter().all(|x| x.is_nan()), "{model} {controller}");
            let link = |metric| of(&run, metric, bottleneck(&s));
            for metric in [Metric::Utilisation, Metric::QueuingDelay, Metric::Price] {
                assert!(link(metric)[82..89].iter().all(|x| x.is_nan()), "{metric}");
            }
            // Two windows, and the bytes sent at the last delay seen, until the sources see the
            // outage.
            let queue = link(Metric::Backlog)[85];
            let windows = 2.0 * flow(Metric::Cwnd)[85];
            assert!(
                queue <= windows * 1.05 && queue > 0.5 * windows,
                "{model} {controller}: {queue} {windows}"
            );
        }
    }
}

/// A second at 1 Kbps: a packet would take 8 s, but a past rate delays no packet. Afterwards
/// arrivals equal the service of the link.
#[test]
fn a_past_rate_delays_no_packet() {
    for model in MODELS {
        let changes = events(&[(5.0, "rate = \"1 Kbps\""), (6.0, "rate = \"10 Mbps\"")]);
        let flow = "[flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"newreno\"\n";
        let head = "duration = \"12 s\"\nsample = \"100 ms\"";
        let (s, run) = dumbbell(model, head, "25 ms", flow, &changes);
        let out = of(&run, Metric::Throughput, Entity::Flow(0));
        let used = of(&run, Metric::Utilisation, bottleneck(&s));
        for (i, t) in run.time.iter().enumerate().filter(|(_, t)| **t > 6.2) {
            assert!(used[i] > 0.999, "{model} {t}: {}", used[i]);
            assert!((out[i] / 10e6 - 1.0).abs() < 2e-3, "{model} {t}: {}", out[i]);
        }
    }
}

/// A path that becomes longer leaves the queue empty. The window then grows by the policy's
/// increase at an accumulation of 0, κ·a* = 1.5 packets per round trip [Xia05 eq. 10], or by its
/// bound of one packet [Har02 algorithm 1, step 5].
#[test]
fn a_longer_path_is_filled_as_fast_as_the_increase_allows() {
    for (increase, packets) in [("packet", 1.0), ("policy", 1.5)] {
        for model in MODELS {
            let flow = format!(
                "[flow.f]\nfrom = \"left\"\nto = \"right\"\naccess = {{ rate = \"1 Gbps\", delay = \"5 ms\" }}\n\
                 controller = {{ name = \"monaco\", law = \"har02\", increase = \"{increase}\", target = \"3 pkt\" }}\n"
            );
            let head = "duration = \"14 s\"\nsample = \"100 ms\"";
            let changes = events(&[(10.0, "delay = \"100 ms\"")]);
            let (_, run) = dumbbell(model, head, "10 ms", &flow, &changes);
            let window = of(&run, Metric::Cwnd, Entity::Flow(0));
            let rtt = of(&run, Metric::MinRtt, Entity::Flow(0));
            let packet = 1000.0;
            let grown = (window[130] - window[110]) / packet;
            let longer = of(&run, Metric::Rtt, Entity::Flow(0))[120];
            assert!(longer > 1.5 * rtt[90], "{longer} {}", rtt[90]);
            let expected = packets * 2.0 / longer;
            assert!(
                (grown / expected - 1.0).abs() < 0.02,
                "{model} {increase}: {grown} {expected}"
            );
        }
    }
}

/// 8 Mbps that move from a path of 10 ms to one of 110 ms at 5 s. Each link serves the bytes sent
/// while the route uses it, and all bytes arrive, except those in flight at the end.
#[test]
fn a_route_that_changes_moves_the_load_and_loses_nothing() {
    for model in MODELS {
        let s = with_outages(&format!(
            r#"
            duration = "10 s"
            sample = "50 ms"
            fluid = {{ link_model = "{model}" }}
            nodes = ["a", "b", "c"]
            [link.short]
            from = "a"
            to = "c"
            rate = "10 Mbps"
            delay = "10 ms"
            [link.near]
            from = "a"
            to = "b"
            rate = "10 Mbps"
            delay = "50 ms"
            [link.far]
            from = "b"
            to = "c"
            rate = "20 Mbps"
            delay = "60 ms"
            [flow.f]
            path = ["a", "c"]
            controller = "none"
            demand = {{ constant = "8 Mbps" }}
            [[event]]
            at = "5 s"
            flow = "f"
            path = ["a", "b", "c"]
            "#
        ));
        let run = run(&s, &mut Quiet).expect("it runs");
        let link = |name: &str| {
            let link = s.links.iter().position(|l| l.name == name).unwrap();
            of(&run, Metric::ServedRate, Entity::Link(link))
        };
        for (i, &end) in run.time.iter().enumerate() {
            // The load of the links, away from the start and the change.
            let before = (0.1..=5.0).contains(&end);
            if !before && end < 5.25 {
                continue;
            }
            let expected = if before { [8.0, 0.0, 0.0] } else { [0.0, 8.0, 8.0] };
            let is = ["short", "near", "far"].map(|name| link(name)[i] / 1e6);
            let near = is.iter().zip(expected).all(|(v, e)| (v - e).abs() < 1e-3);
            assert!(near, "{model} {end}: {is:?}");
        }
        let sum = |metric| of(&run, metric, Entity::Flow(0)).iter().sum::<f64>() * 0.05 / 8.0;
        let (sent, came) = (sum(Metric::SendingRate), sum(Metric::Throughput));
        assert!((sent / 10e6 - 1.0).abs() < 1e-6, "{model}: {sent}");
        // 110 ms of 1 MB/s, and packets in service.
        assert!((sent - came - 110e3).abs() < 2e3, "{model}: {}", sent - came);
    }
}
