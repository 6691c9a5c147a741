//! Odd scenarios yield a clear error or finite numbers.

use crate::common::{last, scenario};
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
            assert!(
                s.values.iter().all(|v| v.is_finite() && *v >= 0.0),
                "{}",
                s.metric
            );
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
    for (demand, rate) in [
        ("{ constant = \"2 Mbps\" }", 2e6),
        ("{ poisson = \"2 Mbps\" }", 2e6),
    ] {
        let s = scenario(&text(
            HEAD,
            LINK,
            &format!("controller = \"monaco\"\ndemand = {demand}"),
        ));
        let run = run(&s, &mut Quiet).unwrap();
        assert!((last(&run, Metric::SendingRate, Entity::Flow(0)) / rate - 1.0).abs() < 1e-9);
    }
    let s = scenario(&text(
        HEAD,
        LINK,
        "controller = \"vegas\"\ndemand = { size = \"1 MB\" }",
    ));
    let run = run(&s, &mut Quiet).unwrap();
    let sent = &run
        .series(Metric::SendingRate, Entity::Flow(0))
        .unwrap()
        .values;
    let period = run.time[1] - run.time[0];
    let total: f64 = sent.iter().filter(|v| v.is_finite()).sum::<f64>() * period / 8.0;
    assert!((total - 1e6).abs() < 1.0, "{total}");
    let delivered = &run
        .series(Metric::Throughput, Entity::Flow(0))
        .unwrap()
        .values;
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
        "controller = \"monaco\"\npacket = \"64 B\"",
    ));
    assert!(matches!(
        run(&s, &mut Quiet),
        Err(FluidError::TooFine { .. })
    ));
    let s = scenario(&format!(
        "{}[flow.g]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"monaco\"\naccess = {{ rate = \"400 Gbps\", delay = \"100 s\" }}\n",
        text(
            "duration = \"1 ms\"",
            "rate = \"400 Gbps\"\ndelay = \"0 s\"",
            "controller = \"monaco\"\npacket = \"64 B\""
        )
    ));
    let refused = run(&s, &mut Quiet);
    assert!(
        matches!(refused, Err(FluidError::TooDeep { .. })),
        "{refused:?}"
    );
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
