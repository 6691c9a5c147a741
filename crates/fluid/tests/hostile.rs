//! Odd scenarios yield a clear error or finite numbers.

use crate::common::{fluid, last, scenario};
use accord_fluid::{FluidError, run};
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric};

fn text(head: &str, link: &str, flow: &str) -> String {
    format!(
        "{head}\n[topology.dumbbell]\n{link}\n[flow.f]\nfrom = \"left\"\nto = \"right\"\n{flow}\n"
    )
}

const HEAD: &str = "duration = \"20 s\"";
const LINK: &str = "rate = \"10 Mbps\"\ndelay = \"10 ms\"";

/// Checks that values are finite wherever a flow runs, and on links always, except shares of
/// arrivals where nothing arrives.
fn finite(run: &Run) {
    for s in &run.series {
        let ends = s.values.iter().all(|v| !v.is_infinite());
        assert!(ends, "{} of {:?}", s.metric, s.entity);
        let of_arrivals = matches!(s.metric, Metric::MarkingProbability | Metric::LossRatio);
        if of_arrivals {
            assert!(s.values.iter().all(|v| v.is_nan() || *v >= 0.0));
        } else if matches!(s.entity, Entity::Link(_)) {
            assert!(s.values.iter().all(|v| v.is_finite() && *v >= 0.0), "{}", s.metric);
        }
    }
    let rate = run.series(Metric::SendingRate, Entity::Flow(0)).unwrap();
    assert!(rate.values.iter().any(|v| v.is_finite()));
}

#[test]
fn every_controller_and_discipline_stays_finite() {
    let controllers = [
        "\"vegas\"",
        "\"vegas-k\"",
        "\"reno\"",
        "\"newreno\"",
        "\"monaco\"",
        "{ name = \"monaco\", policy = \"mw\", mw_gain = \"1 Gbps\" }",
        "{ name = \"monaco\", policy = \"mw\", mw_gain = \"1 bps\" }",
        "{ name = \"monaco\", policy = \"aiad\", gain = 10.0 }",
        "{ name = \"monaco\", gain = 10.0, target = \"1 B\" }",
        "{ name = \"vegas\", alpha_rate = \"1 Mbps\", beta_rate = \"1 Mbps\" }",
    ];
    let queues = [
        "\"droptail\", limit = \"3 pkt\"",
        "\"droptail\", limit = \"unlimited\"",
        "\"avd\", limit = \"unlimited\"",
        "\"avq\", limit = \"20 pkt\"",
        "\"red\", limit = \"50 pkt\"",
    ];
    for model in ["integrator", "ack-clocked"] {
        for controller in controllers {
            for queue in queues {
                let head = format!("{HEAD}\nfluid = {{ link_model = \"{model}\" }}");
                let link = format!("{LINK}\nqueue = {{ discipline = {queue} }}");
                let s = scenario(&text(
                    &head,
                    &link,
                    &format!(
                        "count = 2\nstart = {{ uniform = [\"0 s\", \"3 s\"] }}\ncontroller = {controller}"
                    ),
                ));
                finite(
                    &run(&s, &mut Quiet).unwrap_or_else(|e| panic!("{controller} {queue}: {e}")),
                );
            }
        }
    }
}

#[test]
fn demands_that_end_and_rates_that_are_capped() {
    for (demand, rate) in [("{ constant = \"2 Mbps\" }", 2e6), ("{ poisson = \"2 Mbps\" }", 2e6)] {
        let s = scenario(&text(HEAD, LINK, &format!("controller = \"monaco\"\ndemand = {demand}")));
        let run = run(&s, &mut Quiet).unwrap();
        assert!((last(&run, Metric::SendingRate, Entity::Flow(0)) / rate - 1.0).abs() < 1e-9);
    }
    let s = scenario(&text(HEAD, LINK, "controller = \"vegas\"\ndemand = { size = \"1 MB\" }"));
    let run = run(&s, &mut Quiet).unwrap();
    let sent = &run.series(Metric::SendingRate, Entity::Flow(0)).unwrap().values;
    let period = run.time[1] - run.time[0];
    let total: f64 = sent.iter().filter(|v| v.is_finite()).sum::<f64>() * period / 8.0;
    assert!((total - 1e6).abs() < 1.0, "{total}");
    let delivered = &run.series(Metric::Throughput, Entity::Flow(0)).unwrap().values;
    let total: f64 = delivered.iter().filter(|v| v.is_finite()).sum::<f64>() * period / 8.0;
    assert!((total - 1e6).abs() < 1e3, "{total}");
}

#[test]
fn an_overload_fills_its_buffer_and_loses_the_rest() {
    for model in ["integrator", "ack-clocked"] {
        let head = format!("{HEAD}\nfluid = {{ link_model = \"{model}\" }}");
        let link = format!("{LINK}\nqueue = {{ discipline = \"droptail\", limit = \"100 pkt\" }}");
        let s = scenario(&text(
            &head,
            &link,
            "controller = \"none\"\ndemand = { constant = \"15 Mbps\" }",
        ));
        let run = run(&s, &mut Quiet).unwrap();
        let backlog = last(&run, Metric::BacklogPackets, Entity::Link(0));
        let used = last(&run, Metric::Utilisation, Entity::Link(0));
        let out = last(&run, Metric::Throughput, Entity::Flow(0));
        assert!(
            (backlog - 100.0).abs() < 1e-6 && (used - 1.0).abs() < 1e-6,
            "{model}: {backlog} {used}"
        );
        assert!((out / 10e6 - 1.0).abs() < 1e-3, "{model}: {out}");
    }
}

#[test]
fn delays_that_ask_too_much_are_refused() {
    let s = scenario(&text(
        "duration = \"10000 s\"",
        "rate = \"400 Gbps\"\ndelay = \"0 s\"",
        "controller = \"monaco\"\npacket = \"64 B\"\ncontrol = \"64 B\"",
    ));
    assert!(matches!(run(&s, &mut Quiet), Err(FluidError::TooFine { .. })));
    let s = scenario(&format!(
        "{}[flow.g]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\naccess = {{ rate = \"400 Gbps\", delay = \"100 s\" }}\n",
        text(
            "duration = \"1 ms\"",
            "rate = \"400 Gbps\"\ndelay = \"0 s\"",
            "controller = \"monaco\"\npacket = \"64 B\"\ncontrol = \"64 B\""
        )
    ));
    let refused = run(&s, &mut Quiet);
    assert!(matches!(refused, Err(FluidError::TooDeep { .. })), "{refused:?}");
}

#[test]
fn a_controller_without_a_law_is_refused() {
    for controller in ["dctcp", "multcp"] {
        let flow = format!("controller = \"{controller}\"");
        let s = scenario(&text(HEAD, LINK, &flow));
        let said = run(&s, &mut Quiet).expect_err("no law").to_string();
        assert!(said.contains(&format!("no law for {controller}")), "{said}");
    }
}

#[test]
fn a_discipline_without_a_law_is_refused() {
    for discipline in ["pie", "fq-codel", "bat"] {
        let link = format!("{LINK}\nqueue = \"{discipline}\"");
        let s = scenario(&text(HEAD, &link, "controller = \"reno\""));
        let said = run(&s, &mut Quiet).expect_err("no law").to_string();
        let why = format!("bottleneck: the fluid engine has no law for {discipline}");
        assert!(said.contains(&why), "{said}");
    }
}

#[test]
fn runs_repeat_to_the_bit() {
    let s = scenario(&text(
        HEAD,
        LINK,
        "count = 3\ncontroller = \"vegas\"\nstart = { uniform = [\"0 s\", \"1 s\"] }",
    ));
    let digest = || run(&s, &mut Quiet).unwrap().manifest.digest;
    assert_eq!(digest(), digest());
}

/// Queues that bound each other: no link serves more than its rate, and the equations of the queues are solved.
/// Links had served 15 times their rate where a full buffer on the way back held the windows.
#[test]
fn no_link_serves_more_than_its_rate() {
    let link = |name: &str, ends: [&str; 2], rate: &str, delay: &str| {
        let [from, to] = ends;
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\n\
             queue = {{ discipline = \"droptail\", limit = \"1000 pkt\" }}\n"
        )
    };
    let ring = link("a", ["s", "m"], "10 Mbps", "5 ms")
        + &link("b", ["m", "t"], "10 Mbps", "5 ms")
        + &link("d", ["s", "t"], "2 Mbps", "1 ms");
    let both = |back: &str| {
        format!(
            "[topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"1000 pkt\" }}\nreverse = {{ rate = \"{back}\" }}\n"
        )
    };
    for controller in ["newreno", "cubic", "vegas", "monaco"] {
        let way = |name: &str, count: usize, path: &str, back: &str| {
            format!(
                "[flow.{name}]\ncount = {count}\npath = [{path}]\nreverse_path = [{back}]\ncontroller = \"{controller}\"\n"
            )
        };
        let round = ring.clone()
            + &way("x", 2, "\"s\", \"m\", \"t\"", "\"t\", \"s\"")
            + &way("y", 2, "\"t\", \"s\"", "\"s\", \"m\", \"t\"");
        let there = |back: &str| {
            both(back)
                + &way("a", 2, "\"left\", \"right\"", "\"right\", \"left\"")
                + &way("b", 3, "\"right\", \"left\"", "\"left\", \"right\"")
        };
        for (name, network) in
            [("ring", round), ("both", there("20 Mbps")), ("slow back", there("1 Mbps"))]
        {
            let (s, run) = fluid(&format!("duration = \"60 s\"\nsample = \"1 s\"\n{network}"));
            let links = (0..s.links.len()).map(Entity::Link);
            for link in links {
                let used = run.mean(Metric::Utilisation, link, s.steady).unwrap_or(0.0);
                assert!(used < 1.0 + 1e-3, "{controller}, {name}: {used}");
            }
            let unsolved = run.notes.iter().find(|n| n.contains("relative residual"));
            assert!(unsolved.is_none(), "{controller}, {name}: {unsolved:?}");
        }
    }
}

/// After an outage with a full buffer every law comes back to rest: CUBIC's windows had grown while all of its
/// flows lost a packet per round trip.
#[test]
fn a_full_buffer_after_an_outage_bounds_windows() {
    for controller in ["newreno", "cubic"] {
        let (s, run) = fluid(&format!(
            "duration = \"60 s\"\nsample = \"1 s\"\n[topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"1000 pkt\" }}\n\
             [flow.a]\ncount = 2\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n\
             [[event]]\nat = \"10 s\"\nlink = \"bottleneck\"\nrate = \"0 bps\"\n\
             [[event]]\nat = \"12 s\"\nlink = \"bottleneck\"\nrate = \"20 Mbps\"\n"
        ));
        let rate = run.mean(Metric::Throughput, Entity::Flow(0), s.steady);
        let window = run.mean(Metric::Cwnd, Entity::Flow(0), s.steady);
        let (rate, window) = (rate.expect("recorded"), window.expect("recorded"));
        assert!((rate / 10e6 - 1.0).abs() < 0.02, "{controller}: {rate}");
        // Half of the buffer and of the wires.
        assert!(window < 0.6e6, "{controller}: {window}");
    }
}

const PLAIN: &str = "{ discipline = \"droptail\", limit = \"1000 pkt\" }";

fn dumbbell(rate: &str, delay: &str, queue: &str, more: &str) -> String {
    format!(
        "duration = \"20 s\"\n[topology.dumbbell]\nrate = \"{rate}\"\ndelay = \"{delay}\"\nqueue = {queue}\n{more}\n"
    )
}

fn flow(name: &str, controller: &str, more: &str) -> String {
    format!(
        "[flow.{name}]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n{more}\n"
    )
}

/// Scenarios, and a piece of the note on each.
fn omissions() -> Vec<(String, &'static str)> {
    let fast = || dumbbell("20 Mbps", "10 ms", PLAIN, "");
    let short = "{ discipline = \"droptail\", limit = \"20 pkt\" }";
    let avd = "{ discipline = \"avd\", limit = \"1000 pkt\" }";
    let falls = "[[event]]\nat = \"5 s\"\nlink = \"bottleneck\"\ndelay = \"2 ms\"\n";
    vec![
        (
            dumbbell("20 Mbps", "10 ms", PLAIN, "reverse = { rate = \"400 Kbps\" }")
                + &flow("m", "monaco", "control = \"64 B\""),
            "acknowledgements would take 325.0 % of bottleneck.reverse",
        ),
        (
            dumbbell("10 Mbps", "10 ms", short, "")
                + &flow("r", "newreno", "count = 2")
                + &flow("x", "none", "demand = { constant = \"12 Mbps\" }"),
            "packets then often wait for time-outs",
        ),
        (
            dumbbell("20 Mbps", "250 ms", PLAIN, "") + &flow("v", "vegas", ""),
            "v grows by a packet per round trip",
        ),
        (
            fast() + &flow("m", "monaco", "packet = \"9000 B\""),
            "m keeps 3 KB queued, less than a packet of 9 KB",
        ),
        (
            dumbbell("200 Kbps", "10 ms", PLAIN, "") + &flow("m", "monaco", ""),
            "control packets of m wait for the packet in service, 20.0 ms",
        ),
        (fast() + &flow("m", "monaco", "") + falls, "the delay of bottleneck falls"),
        (
            fast()
                + &flow("m", "monaco", "packet = \"500 B\"")
                + &flow("n", "monaco", "packet = \"1500 B\""),
            "packets from 500 B to 1500 B share bottleneck",
        ),
        (
            dumbbell("20 Mbps", "10 ms", avd, "") + &flow("m", "monaco", ""),
            "bottleneck keeps a queue that is empty in equilibrium",
        ),
        (
            fast() + &flow("m", "monaco", "count = 4\ndemand = { constant = \"5 Mbps\" }"),
            "the demands of bottleneck are as large as its rate",
        ),
        (fast() + &flow("c", "cubic", "count = 2"), "bottleneck has 2 loss-based flows"),
        (fast() + &flow("k", "vegas-k", ""), "k takes the smallest of its latest round-trip times"),
        (fast() + &flow("v", "vegas", "count = 40"), "whole packets in a run"),
        (fast() + &flow("v", "vegas", "") + falls, "the delay of bottleneck falls"),
    ]
}

/// Notes by the means of a run on what packets do in addition.
#[test]
fn what_a_run_leaves_out_is_noted() {
    let cases = omissions();
    for (text, what) in &cases {
        let (_, run) = fluid(text);
        assert!(run.notes.iter().any(|n| n.contains(what)), "{what}: {:?}", run.notes);
    }
    let (_, run) = fluid(&(dumbbell("20 Mbps", "10 ms", PLAIN, "") + &flow("m", "monaco", "")));
    for (_, what) in &cases {
        let said = run.notes.iter().any(|n| n.contains(what));
        assert!(!said, "{what}: {:?}", run.notes);
    }
}
