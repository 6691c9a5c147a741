//! Difficult paths: traces, token buckets, jitter, reordering, and what happens to
//! acknowledgements. The timetables were worked out by hand.
mod common;

use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_sim::{Audit, Shortcuts, run_with};
use common::scenario;

/// One link from a to b, with these keys, and a flow over it alone. Samples are of 1 ms.
fn one_link(duration: &str, link: &str, flow: &str) -> Scenario {
    scenario(&format!(
        "duration = \"{duration}\"\nsample = \"1 ms\"\n\
         [link.ab]\nfrom = \"a\"\nto = \"b\"\n{link}\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    ))
}

/// Runs with all shortcuts and with none, which have to agree. At every port and for every flow,
/// what came in has gone out, was dropped or is there.
fn run(s: &Scenario) -> (Run, Vec<Audit>, Vec<Audit>) {
    let (all, ports, flows) = run_with(s, &mut Quiet, Shortcuts::All).expect("it runs");
    let (none, other, _) = run_with(s, &mut Quiet, Shortcuts::None).expect("it runs");
    assert_eq!(all.manifest.digest, none.manifest.digest);
    assert!(ports == other, "the ports differ");
    for audit in ports.iter().chain(&flows) {
        assert_eq!(audit.entered, audit.left + audit.dropped + audit.held);
    }
    (all, ports, flows)
}

/// The packets that were delivered in each sample.
fn deliveries(run: &Run) -> Vec<u64> {
    let series = run.series(Metric::Deliveries, Entity::Flow(0));
    let values = &series.expect("recorded").values;
    values.iter().map(|x| x.round() as u64).collect()
}

/// The samples with deliveries, and how many.
fn timetable(run: &Run) -> Vec<(usize, u64)> {
    let all = deliveries(run).into_iter().enumerate();
    all.filter(|(_, n)| *n > 0).collect()
}

/// A packet of 1000 bytes per millisecond, at 0.5 ms, 1.5 ms and so on.
const EACH_MS: &str =
    "controller = \"none\"\ndemand = { constant = \"8 Mbps\" }\nstart = \"500 us\"";

/// Opportunities at 2, 3, 3 and 10 ms, then at 12, 13, 13 and 20 ms.
const TRACE: &str = "rate = { trace = [2, 3, 3, 10] }\ndelay = \"500 us\"\nqueue = { discipline = \"droptail\", limit = \"unlimited\" }";

#[test]
fn packets_leave_at_the_opportunities_of_a_trace() {
    let (run, _, flows) = run(&one_link("31 ms", TRACE, EACH_MS));
    // At 2 ms: the first packet and 504 bytes of the second. At 3 ms: the rest of it and the third
    // packet, and nothing waits for the second opportunity. At 10 ms: the fourth, and so on.
    let expected = [
        (2, 1),
        (3, 2),
        (10, 1),
        (12, 2),
        (13, 3),
        (20, 1),
        (22, 2),
        (23, 3),
        (30, 1),
    ];
    assert_eq!(timetable(&run), expected);
    // 0.5 to 30.5 ms
    assert_eq!(flows[0].entered.packets, 31);
}

/// The mean of a link rate over whole rounds is that of the trace, 4 × 1504 bytes in 10 ms, and a
/// saturated link is used in full.
#[test]
fn a_saturated_trace_is_used_in_full() {
    let flow = "controller = \"none\"\ndemand = { constant = \"20 Mbps\" }";
    let s = one_link("1 s", TRACE, flow);
    assert_eq!(s.links[0].rate.as_bps(), 4_812_800);
    let (run, ports, _) = run(&s);
    let mean = |metric| run.mean(metric, Entity::Link(0), common::window(0.1, 0.9));
    assert_eq!(mean(Metric::LinkRate).map(f64::round), Some(4_812_800.0));
    let used = mean(Metric::Utilisation).expect("recorded");
    assert!((used - 1.0).abs() < 1e-3, "{used}");
    // 100 rounds of 6016 bytes, less the packet in service.
    assert_eq!(ports[0].left.bytes / 1000, 601);
}

/// Other queue disciplines judge what waits for a trace, and endpoints have their loops over it.
#[test]
fn shortcuts_before_and_behind_a_trace_change_nothing() {
    for (queue, controller) in [
        ("droptail", "cubic"),
        ("codel", "newreno"),
        ("fq-codel", "cubic"),
        ("pie", "newreno"),
        ("droptail", "monaco"),
    ] {
        let s = scenario(&format!(
            "duration = \"3 s\"\n\
             topology.dumbbell = {{ rate = {{ trace = [2, 3, 3, 10] }}, delay = \"10 ms\", queue = {{ discipline = \"{queue}\", limit = \"50 pkt\" }} }}\n\
             [flow.f]\ncount = 3\nfrom = \"left\"\nto = \"right\"\ncontroller = \"{controller}\"\n\
             access = {{ rate = \"50 Mbps\", delay = \"1 ms\" }}\n\
             egress = {{ rate = \"50 Mbps\", delay = {{ spread = [\"1 ms\", \"9 ms\"] }} }}\n"
        ));
        let (run, ports, _) = run(&s);
        let used = run.mean(
            Metric::Utilisation,
            Entity::Link(0),
            common::window(1.0, 3.0),
        );
        assert!(used > Some(0.5), "{queue}, {controller}: {used:?}");
        assert!(ports[0].left.packets > 500, "{queue}, {controller}");
    }
}
