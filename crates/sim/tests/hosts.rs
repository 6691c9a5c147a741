//! A gateway that shares by host behind a shaper: shares, the rate, and the delay of a sparse flow.

use crate::common::scenario;
use accord_record::Quiet;
use accord_scenario::{Entity, Metric};
use accord_sim::run;

/// One host with one CUBIC flow, one with eight, and one that sends 100 Kbps, over a line of 100 Mbps
/// shaped to 20 Mbps, from homes to servers or the other way. Returns the mean goodput of each kind in
/// Mbps, that of the link in Mbps, and the mean one-way delay of the sparse flow beyond that of the
/// path in milliseconds.
fn outcome(queue: &str, way: [&str; 2]) -> ([f64; 3], f64, f64) {
    let s = scenario(&text(queue, way, 20));
    let run = run(&s, &mut Quiet).expect("runs");
    let of = |metric, entity| run.mean(metric, entity, s.steady).expect("recorded");
    let goodput = |flow| of(Metric::Goodput, Entity::Flow(flow)) / 1e6;
    let eight = (1..9).map(goodput).sum();
    let sparse = of(Metric::Throughput, Entity::Flow(9)) / 1e6;
    let link = s.links.iter().position(|l| l.name == "shaped");
    let served = of(Metric::ServedRate, Entity::Link(link.expect("there"))) / 1e6;
    let delay = of(Metric::OneWayDelay, Entity::Flow(9)) * 1e3 - 20.0;
    ([goodput(0), eight, sparse], served, delay)
}

/// Returns the goodput in Mbps of the host with one flow if it has half of the rate to itself.
fn alone(way: [&str; 2]) -> f64 {
    let mut s = scenario(&text("host-fq", way, 10));
    s.flows.truncate(1);
    s.groups.truncate(1);
    let run = run(&s, &mut Quiet).expect("runs");
    let goodput = run.mean(Metric::Goodput, Entity::Flow(0), s.steady);
    goodput.expect("recorded") / 1e6
}

/// The scenario, shaped to `mbps`.
fn text(queue: &str, way: [&str; 2], mbps: u32) -> String {
    let [from, to] = way;
    // Flows leave the home or go to it, and share by its hosts.
    let (home, far) = match from {
        "home" => ("access", "egress"),
        _ => ("egress", "access"),
    };
    format!(
        r#"
        duration = "60 s"
        steady = ["20 s", "60 s"]
        [link.shaped]
        from = "{from}"
        to = "{to}"
        rate = "100 Mbps"
        delay = "15 ms"
        queue = {{ discipline = "{queue}", limit = "1000 pkt" }}
        shaper = {{ rate = "{mbps} Mbps", burst = "1514 B" }}
        reverse = {{ shaper = "off" }}
        [flow.one]
        from = "{from}"
        to = "{to}"
        {home} = {{ rate = "1 Gbps", delay = "1 ms" }}
        {far} = {{ rate = "1 Gbps", delay = "4 ms" }}
        controller = {{ name = "cubic", rack = true }}
        packet = "1500 B"
        [flow.eight]
        count = 8
        from = "{from}"
        to = "{to}"
        {home} = {{ rate = "1 Gbps", delay = "1 ms", hosts = 1 }}
        {far} = {{ rate = "1 Gbps", delay = "4 ms" }}
        controller = {{ name = "cubic", rack = true }}
        packet = "1500 B"
        start = {{ uniform = ["0 s", "1 s"] }}
        [flow.sparse]
        from = "{from}"
        to = "{to}"
        {home} = {{ rate = "1 Gbps", delay = "1 ms" }}
        {far} = {{ rate = "1 Gbps", delay = "4 ms" }}
        controller = "none"
        demand = {{ poisson = "100 Kbps" }}
        packet = "200 B"
        "#
    )
}

/// The host with one flow gets the goodput that it would get alone over half the rate, whether the
/// flows leave from the hosts or go to them, and the other host gets the rest: a single CUBIC flow
/// over a queue of 5 ms does not quite use its half. FQ-CoDel gives the eight flows eight times as
/// much, within a tenth. The shaper sends its rate. The sparse flow waits little longer than the
/// 0.6 ms for the packet that waits for tokens.
#[test]
fn hosts_share_and_the_sparse_one_hardly_waits() {
    for way in [["home", "net"], ["net", "home"]] {
        let ([one, eight, sparse], served, delay) = outcome("host-fq", way);
        let half = alone(way);
        assert!((one / half - 1.0).abs() < 0.05, "{way:?}: {one} {half}");
        assert!(one + eight + sparse > 0.98 * served, "{way:?}: {one} {eight}");
        assert!((served / 20.0 - 1.0).abs() < 0.005, "{way:?}: {served}");
        assert!((sparse / 0.1 - 1.0).abs() < 0.05, "{way:?}: {sparse}");
        assert!(delay < 1.2, "{way:?}: {delay}");
        let ([one, eight, _], ..) = outcome("fq-codel", way);
        assert!((8.0 * one / eight - 1.0).abs() < 0.1, "{way:?}: {one} {eight}");
    }
}
