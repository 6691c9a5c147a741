//! Equilibria that are not those of a plain problem, and the notes of theory on them.

use accord_family::Catalogue;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

pub const VEGAS: &str =
    "{ name = \"vegas\", alpha = \"2 pkt\", beta = \"2 pkt\", base_rtt = \"known\" }";

pub fn scenario(text: &str) -> Scenario {
    let file = File::parse("test.toml", text).unwrap_or_else(|e| panic!("{e}"));
    let points = file.points(&CATALOGUE, None);
    points.unwrap_or_else(|e| panic!("{e}")).remove(0)
}

pub fn run(text: &str) -> (Scenario, Run) {
    let s = scenario(text);
    let run = accord_theory::run(&s, &mut Quiet).expect("a valid problem");
    (s, run)
}

/// A dumbbell of 10 Mbps and 10 ms with flows.
pub fn dumbbell(queue: &str, flows: &str) -> String {
    format!(
        "duration = \"60 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n\
         queue = {queue}\n{flows}"
    )
}

pub const PLAIN: &str = "{ discipline = \"droptail\", limit = \"200 pkt\" }";

pub fn group(name: &str, from: &str, to: &str, controller: &str, more: &str) -> String {
    format!("[flow.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ncontroller = {controller}\n{more}\n")
}

pub fn of(s: &Scenario, run: &Run, metric: Metric, flow: &str) -> f64 {
    let id = s.flows.iter().position(|f| f.name == flow).expect("a flow");
    run.mean(metric, Entity::Flow(id), s.steady).expect("a value")
}

pub fn of_link(s: &Scenario, run: &Run, metric: Metric, link: &str) -> f64 {
    let id = s.links.iter().position(|l| l.name == link).expect("a link");
    run.mean(metric, Entity::Link(id), s.steady).expect("a value")
}

pub fn says(run: &Run, what: &str) -> bool {
    run.notes.iter().any(|note| note.contains(what))
}

/// The control packets of a Monaco flow, in bit/s: there, a control pair of 64 bytes each per round trip,
/// and back, a report of 64 and a count of 64 for each packet of 1000.
fn control(s: &Scenario, run: &Run, flow: &str) -> [f64; 2] {
    let once = 64.0 * 8.0 / of(s, run, Metric::Rtt, flow);
    [2.0 * once, once + 0.064 * of(s, run, Metric::Throughput, flow)]
}

/// The control packets of Monaco pass the 60 KB of the way back, which take 48 ms. Acknowledgements
/// of Vegas wait for them.
#[test]
fn control_packets_pass_the_queue_of_the_way_back() {
    let full = group("b", "right", "left", "{ name = \"monaco\", target = \"60 kB\" }", "");
    let queued = |controller: &str| {
        let (s, run) =
            run(&dumbbell(PLAIN, &(group("a", "left", "right", controller, "") + &full)));
        let rate = of(&s, &run, Metric::Throughput, "a");
        (of(&s, &run, Metric::Rtt, "a") - of(&s, &run, Metric::MinRtt, "a"), rate)
    };
    let (wait, rate) = queued("\"monaco\"");
    assert!((wait - 3000.0 * 8.0 / rate).abs() < 1e-6 && rate > 9e6, "{wait} at {rate}");
    assert!(queued(VEGAS).0 >= 0.048, "{:?}", queued(VEGAS));
}

/// x·(q + b) = α: both queues together hold the 2000 bytes of a flow. Data and the acknowledgements of
/// 40 bytes per 1000 fill each way: x + 0.04·x = 10 Mbps.
#[test]
fn vegas_both_ways_shares_its_backlog_with_the_way_back() {
    let flows = group("a", "left", "right", VEGAS, "") + &group("b", "right", "left", VEGAS, "");
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    for flow in ["a", "b"] {
        assert!((of(&s, &run, Metric::Throughput, flow) - 10e6 / 1.04).abs() < 1.0);
        let queued = of(&s, &run, Metric::Rtt, flow) - of(&s, &run, Metric::MinRtt, flow);
        assert!((queued - 1.04 * 1.6e-3).abs() < 1e-9, "{queued}");
        let believed = of(&s, &run, Metric::AccumulationEstimate, flow);
        assert!((believed - 2000.0).abs() < 1e-3, "{believed}");
    }
    let backlog = of_link(&s, &run, Metric::Backlog, "bottleneck");
    assert!((backlog - 1.04 * 1000.0).abs() < 1e-3, "{backlog}");
    let names = "the delays of bottleneck, bottleneck.reverse are not unique";
    assert!(says(&run, names), "{:?}", run.notes);
    let served = of_link(&s, &run, Metric::ServedRate, "bottleneck");
    assert!((served - 10e6).abs() < 1.0, "{served}");
    assert!(run.certificates[0].stationarity < 1e-9);
}

/// Five flows come the other way. A flow keeps two packets in their queue by its acknowledgements, as each
/// of them does, and has no queue of its own: 5·x + 0.04·x = 10 Mbps.
#[test]
fn one_vegas_against_five_has_a_fifth_of_the_link() {
    let five = group("b", "right", "left", VEGAS, "count = 5");
    let (s, run) = run(&dumbbell(PLAIN, &(group("a", "left", "right", VEGAS, "") + &five)));
    let fifth = 10e6 / 5.04;
    assert!((of(&s, &run, Metric::Throughput, "a") / fifth - 1.0).abs() < 1e-9);
    assert!((of(&s, &run, Metric::Throughput, "b.1") / fifth - 1.0).abs() < 1e-9);
    assert_eq!(of_link(&s, &run, Metric::Backlog, "bottleneck"), 0.0);
    // An application of 1 Mbps keeps its rate, one of 3 Mbps does not.
    for (offered, expected) in [("1 Mbps", 1e6), ("3 Mbps", fifth)] {
        let one = format!("demand = {{ constant = \"{offered}\" }}");
        let flows = group("a", "left", "right", VEGAS, &one) + &five;
        let (s, run) = self::run(&dumbbell(PLAIN, &flows));
        let found = of(&s, &run, Metric::Throughput, "a");
        assert!((found / expected - 1.0).abs() < 1e-9, "{found}");
    }
}

/// Control pairs measure the way there alone. Each packet of 1000 bytes is answered by a count of 64 the
/// other way.
#[test]
fn tunnels_do_not_see_the_way_back() {
    let monaco = "\"monaco\"";
    let flows =
        group("a", "left", "right", monaco, "") + &group("b", "right", "left", monaco, "count = 5");
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    let back = 5.0 * control(&s, &run, "b.1")[1];
    let all = of(&s, &run, Metric::Throughput, "a") + control(&s, &run, "a")[0] + back;
    assert!((all - 10e6).abs() < 1.0, "{all}");
    let served = of_link(&s, &run, Metric::ServedRate, "bottleneck");
    assert!((served - 10e6).abs() < 1.0, "{served}");
}

/// Over a way back of 3 Mbps 30 Mbps of data have counts of 6.4 %, and the data back has the rest.
#[test]
fn counts_take_their_part_of_a_slow_way_back() {
    let monaco = "\"monaco\"";
    let flows =
        group("there", "left", "right", monaco, "") + &group("back", "right", "left", monaco, "");
    let queue =
        "{ discipline = \"droptail\", limit = \"unlimited\" }\nreverse = { rate = \"3 Mbps\" }";
    let (s, run) =
        run(&dumbbell(queue, &flows).replace("rate = \"10 Mbps\"", "rate = \"30 Mbps\""));
    for (flow, other, rate) in [("there", "back", 30e6), ("back", "there", 3e6)] {
        let data = of(&s, &run, Metric::Throughput, flow);
        let all = data + control(&s, &run, flow)[0] + control(&s, &run, other)[1];
        assert!((all / rate - 1.0).abs() < 1e-8, "{flow}: {data}, in all {all}");
    }
    assert!(run.certificates[0].feasibility < 1e-9);
}

/// Ten counts per round trip are a third of those of each packet, with 34 packets per round trip.
#[test]
fn counts_per_round_trip_are_fewer() {
    let ten = "{ name = \"monaco\", counts = 10 }";
    let host = "access = { rate = \"1 Gbps\", delay = \"10 ms\" }";
    let flows = group("a", "left", "right", ten, host) + &group("b", "right", "left", ten, host);
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    let found = of(&s, &run, Metric::Throughput, "a");
    let rtt = of(&s, &run, Metric::Rtt, "a");
    // 10 counts of 64 bytes in a round trip and half the distance of two packets each.
    let counts = 640.0 * 8.0 / (rtt + 10.0 * 0.5 * 8000.0 / found);
    let pairs = 3.0 * 64.0 * 8.0 / rtt;
    assert!((found + counts + pairs - 10e6).abs() < 1.0, "{found} {counts}");
    assert!(found > 9.7e6, "{found}");
}

/// A way back of 200 Kbps carries the acknowledgements of 5 Mbps. Vegas sees that queue, and keeps its
/// packets there.
#[test]
fn acknowledgements_that_fill_the_way_back_hold_their_flows() {
    let queue = format!("{PLAIN}\nreverse = {{ rate = \"200 Kbps\" }}");
    let (s, run) = run(&dumbbell(&queue, &group("v", "left", "right", VEGAS, "count = 2")));
    let found = of(&s, &run, Metric::Throughput, "v.1");
    assert!((found - 2.5e6).abs() < 1.0, "{found}");
    assert!((of(&s, &run, Metric::AccumulationEstimate, "v.1") - 2000.0).abs() < 1e-3);
    assert_eq!(of_link(&s, &run, Metric::Backlog, "bottleneck"), 0.0);
}

/// A flow with a contract sees the queue of the way back: x = x̂ + w/(q + b).
#[test]
fn a_contract_and_a_queue_on_the_way_back() {
    let contract = "service = { contract = \"2 Mbps\" }";
    let five = group("b", "right", "left", VEGAS, "count = 5");
    let (s, run) = run(&dumbbell(PLAIN, &(group("a", "left", "right", VEGAS, contract) + &five)));
    let (a, b) = (of(&s, &run, Metric::Throughput, "a"), of(&s, &run, Metric::Throughput, "b.1"));
    assert!((a - 2e6 - b).abs() < 1.0, "{a} {b}");
    assert!((5.0 * b + 0.04 * a - 10e6).abs() < 1.0, "{a} {b}");
}

/// Forty packets would wait where RED drops some from five on. Two would not meet it.
#[test]
fn a_discipline_that_drops_the_queue_of_an_equilibrium_leaves_none() {
    for (queue, fails) in [
        ("{ discipline = \"red\", limit = \"200 pkt\" }", true),
        (
            "{ discipline = \"red\", limit = \"200 pkt\", min_threshold = \"60 pkt\", max_threshold = \"90 pkt\" }",
            false,
        ),
        ("{ discipline = \"codel\", limit = \"200 pkt\" }", true),
        ("{ discipline = \"codel\", limit = \"200 pkt\", target = \"50 ms\" }", false),
        ("{ discipline = \"avq\", limit = \"200 pkt\" }", true),
        ("{ discipline = \"pie\", limit = \"200 pkt\" }", true),
        ("{ discipline = \"fq-codel\", limit = \"200 pkt\" }", true),
        ("{ discipline = \"avd\", limit = \"200 pkt\" }", true),
        ("{ discipline = \"rem\", limit = \"200 pkt\" }", true),
        (PLAIN, false),
    ] {
        let flows = group("f", "left", "right", VEGAS, "count = 20");
        let (s, run) = run(&dumbbell(queue, &flows));
        let rate = run.mean(Metric::Throughput, Entity::Flow(0), s.steady);
        assert_eq!(rate.is_none(), fails, "{queue}: {rate:?}");
        assert_eq!(says(&run, "no equilibrium"), fails, "{queue}: {:?}", run.notes);
    }
}

/// Two links of 10 Mbps in a row: packets wait at the first.
#[test]
fn the_first_of_equal_links_has_the_queue() {
    let text = format!(
        "duration = \"60 s\"\n[topology.parking_lot]\nbottlenecks = 2\nrate = \"10 Mbps\"\n\
         delay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n{}",
        group("f", "r0", "r2", VEGAS, "")
    );
    let (s, run) = run(&text);
    assert!((of_link(&s, &run, Metric::Backlog, "hop1") - 2000.0).abs() < 1e-3);
    assert_eq!(of_link(&s, &run, Metric::Backlog, "hop2"), 0.0);
    assert!(says(&run, "any split of their delay is optimal"), "{:?}", run.notes);
}

#[test]
fn assumptions_that_a_run_does_not_meet_are_said() {
    let measured = "{ name = \"vegas\", alpha = \"2 pkt\", beta = \"2 pkt\" }";
    let between = "{ name = \"vegas\", alpha = \"1 pkt\", beta = \"3 pkt\", base_rtt = \"known\" }";
    let close = "count = 4\nstart = { uniform = [\"0 s\", \"1 s\"] }";
    for (controller, more, unknown, band) in [
        (measured, close, true, false),
        (measured, "count = 4", false, false),
        (VEGAS, close, false, false),
        (between, "count = 4", false, true),
    ] {
        let (_, run) = run(&dumbbell(PLAIN, &group("f", "left", "right", controller, more)));
        assert_eq!(says(&run, "are not known"), unknown, "{:?}", run.notes);
        assert_eq!(says(&run, "between its two thresholds"), band, "{:?}", run.notes);
    }
    // No flow finds a queue on a link that is not full.
    let slow = format!("{close}\ndemand = {{ constant = \"1 Mbps\" }}");
    let (_, run) = run(&dumbbell(PLAIN, &group("f", "left", "right", measured, &slow)));
    assert!(!says(&run, "are not known"), "{:?}", run.notes);
}

/// Three links in a row, of 5, 10 and 5 Mbps, a flow over the first two and one over the last two: all are
/// full, and only the sums of two delays are determined.
#[test]
fn all_links_of_a_dependent_set_are_named() {
    let link = |name: &str, from: &str, to: &str, rate: u32| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbps\"\ndelay = \"2 ms\"\n"
        )
    };
    let text = "duration = \"60 s\"\n".to_owned()
        + &link("one", "a", "b", 5)
        + &link("two", "b", "c", 10)
        + &link("three", "c", "d", 5)
        + &group("f", "a", "c", VEGAS, "")
        + &group("g", "b", "d", VEGAS, "");
    let (s, run) = run(&text);
    for flow in ["f", "g"] {
        assert!((of(&s, &run, Metric::Throughput, flow) - 5e6).abs() < 10.0);
    }
    let names = "the delays of one, two, three are not unique";
    assert!(says(&run, names), "{:?}", run.notes);
}

/// Forty packets wait, and one is in service: 41 are the least room.
#[test]
fn a_buffer_that_is_too_short_for_the_queue_is_said() {
    for (limit, short) in [("40 pkt", true), ("41 pkt", false), ("39 KB", true), ("41 KB", false)] {
        let queue = format!("{{ discipline = \"droptail\", limit = \"{limit}\" }}");
        let flows = group("f", "left", "right", VEGAS, "count = 20");
        let (_, run) = run(&dumbbell(&queue, &flows));
        assert_eq!(says(&run, "flows will lose packets"), short, "{limit}: {:?}", run.notes);
    }
}

/// Twenty flows of 500 Kbps have 3.3 packets in 53 ms, one of 10 Mbps has 28 in 22 ms.
#[test]
fn windows_of_few_packets_are_said() {
    for (count, few) in [(20, true), (1, false)] {
        let flows = group("f", "left", "right", VEGAS, &format!("count = {count}"));
        let (_, run) = run(&dumbbell(PLAIN, &flows));
        assert_eq!(says(&run, "windows of f are 3.3 pkt"), few, "{:?}", run.notes);
    }
}

#[test]
fn reasons_for_no_equilibrium_are_the_familys() {
    for (controller, expected) in
        [("newreno", "f (newreno) reacts to loss"), ("copa", "f meets its target only on average")]
    {
        let flows = group("f", "left", "right", &format!("\"{controller}\""), "");
        let (_, run) = run(&dumbbell(PLAIN, &flows));
        assert!(says(&run, expected), "{:?}", run.notes);
    }
}

/// Each flow believes that it keeps its 2 packets, though those that come later take the queue of the
/// earlier ones for propagation delay and keep more.
#[test]
fn late_flows_believe_that_they_keep_their_packets() {
    let measured = "{ name = \"vegas\", alpha = \"2 pkt\", beta = \"2 pkt\" }";
    let flows: String = (["a", "b", "c"].iter().zip([0, 20, 40]))
        .map(|(name, at)| group(name, "left", "right", measured, &format!("start = \"{at} s\"")))
        .collect();
    let text = dumbbell(PLAIN, &flows)
        .replace("\n[topology", "\nsteady = [\"50 s\", \"60 s\"]\n[topology");
    let (s, run) = run(&text);
    for flow in ["a", "b", "c"] {
        let believed = of(&s, &run, Metric::AccumulationEstimate, flow);
        assert!((believed - 2000.0).abs() < 1.0, "{flow}: {believed}");
    }
    let kept = ["b", "c"].map(|flow| of(&s, &run, Metric::Accumulation, flow));
    assert!(kept[0] > 2100.0 && kept[1] > kept[0], "{kept:?}");
}

/// The rates of a group are the sums of its flows', in bits.
#[test]
fn a_group_has_the_sums_of_its_flows() {
    let flows = group("f", "left", "right", VEGAS, "count = 20\nrecord = \"group\"");
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    for metric in [Metric::Throughput, Metric::Goodput, Metric::SendingRate] {
        let sum = run.mean(metric, Entity::Group(0), s.steady).expect("a value");
        assert!((sum - 10e6).abs() < 1.0, "{metric:?}: {sum}");
    }
    let kept = run.mean(Metric::Accumulation, Entity::Group(0), s.steady);
    assert!((kept.expect("a value") - 40_000.0).abs() < 1e-3);
}

/// An application keeps its rate, although its flow starts late and mistakes a queue for propagation delay.
#[test]
fn a_late_application_gets_no_more_than_its_rate() {
    let measured = "{ name = \"vegas\", alpha = \"2 pkt\", beta = \"2 pkt\" }";
    let late = "start = \"20 s\"\ndemand = { constant = \"1 Mbps\" }";
    let flows =
        group("a", "left", "right", measured, "") + &group("b", "left", "right", measured, late);
    let text = dumbbell(PLAIN, &flows)
        .replace("\n[topology", "\nsteady = [\"50 s\", \"60 s\"]\n[topology");
    let (s, run) = run(&text);
    for (flow, expected) in [("a", 9e6), ("b", 1e6)] {
        let rate = of(&s, &run, Metric::Throughput, flow);
        assert!((rate - expected).abs() < 1.0, "{flow}: {rate}");
    }
}

/// A sample shows the phase at its middle, however short: that of 1 to 2 s has two flows.
#[test]
fn a_sample_shows_the_phase_at_its_middle() {
    let short = "start = \"1.3 s\"\nstop = \"1.7 s\"";
    let flows = group("a", "left", "right", VEGAS, "") + &group("b", "left", "right", VEGAS, short);
    let text = dumbbell(PLAIN, &flows)
        .replace("duration = \"60 s\"", "duration = \"4 s\"\nsample = \"1 s\"");
    let (s, run) = run(&text);
    let rates = |flow: &str| {
        let id = s.flows.iter().position(|f| f.name == flow).expect("a flow");
        let series = run.series(Metric::Throughput, Entity::Flow(id));
        let values = &series.expect("recorded").values;
        values.iter().map(|v| (v / 1e6).round()).collect::<Vec<_>>()
    };
    assert_eq!(rates("a"), [10.0, 5.0, 10.0, 10.0]);
    assert_eq!(rates("b")[1], 5.0);
}

const MANY: &str = "{ discipline = \"droptail\", limit = \"1000 pkt\" }";

/// Queues and flows, and a piece of the note on each.
fn omissions() -> Vec<(String, String, &'static str)> {
    let monaco = || group("m", "left", "right", "\"monaco\"", "count = 2");
    let vegas = |name: &str, from: &str, to: &str| group(name, from, to, VEGAS, "count = 2");
    let copa = |name: &str, delay: &str| {
        let access = format!("access = {{ rate = \"1 Gbps\", delay = \"{delay}\" }}");
        group(name, "left", "right", "{ name = \"copa\", compete = false }", &access)
    };
    let cross =
        |demand: &str| group("x", "left", "right", "\"none\"", &format!("demand = {demand}"));
    let slow = |back: &str| format!("{MANY}\nreverse = {{ rate = \"{back}\" }}");
    vec![
        (slow("200 Kbps"), monaco(), "acknowledgements would take 336.3 % of bottleneck.reverse"),
        (
            MANY.into(),
            vegas("v", "left", "right") + &vegas("w", "right", "left"),
            "windows that are not paced",
        ),
        (
            MANY.into(),
            group("k", "left", "right", "\"vegas-k\"", ""),
            "its latest round-trip times for its base",
        ),
        (
            MANY.into(),
            group("m", "left", "right", "\"monaco\"", "packet = \"9000 B\""),
            "less than a packet of 9 KB",
        ),
        (
            MANY.into(),
            group("m", "left", "right", "\"monaco\"", "packet = \"500 B\"")
                + &group("n", "left", "right", "\"monaco\"", "packet = \"1500 B\""),
            "packets from 500 B to 1.5 KB share bottleneck",
        ),
        (
            MANY.into(),
            copa("a", "1 ms") + &copa("b", "40 ms"),
            "a looks at the smallest delay of half a round trip",
        ),
        (
            MANY.into(),
            monaco()
                + &cross(
                    "{ on_off = { burst = \"300 KB\", pause = \"500 ms\", rate = \"5 Mbps\" } }",
                ),
            "random demands",
        ),
        (MANY.into(), monaco() + &cross("{ poisson = \"4 Mbps\" }"), "random demands"),
        (
            "{ discipline = \"avd\", limit = \"1000 pkt\" }".into(),
            monaco(),
            "no packet waits at bottleneck here",
        ),
        (
            MANY.into(),
            monaco() + "[[event]]\nat = \"10 s\"\nlink = \"bottleneck\"\ndelay = \"2 ms\"\n",
            "the delay of bottleneck has fallen",
        ),
        (
            format!(
                "{MANY}\nreverse = {{ queue = {{ discipline = \"rem\", limit = \"1000 pkt\" }} }}"
            ),
            vegas("v", "left", "right") + &group("r", "right", "left", "\"vegas-rem\"", ""),
            "rem drops them at bottleneck.reverse",
        ),
    ]
}

/// Notes on what packets do and an equilibrium leaves out, each with its scenario in which packets differ from
/// theory by more than 5 %.
#[test]
fn what_an_equilibrium_leaves_out_is_said() {
    for (queue, flows, what) in &omissions() {
        let (_, with) = run(&dumbbell(queue, flows));
        assert!(says(&with, what), "{what}: {:?}", with.notes);
    }
    let monaco = group("m", "left", "right", "\"monaco\"", "count = 2");
    let (_, plain) = run(&dumbbell(MANY, &monaco));
    assert!(plain.notes.is_empty(), "{:?}", plain.notes);
}

/// From a small window Vegas takes 300 s to 600 packets at a round trip of half a second.
#[test]
fn windows_that_grow_too_slowly_are_said() {
    let text = |delay: &str| {
        dumbbell(PLAIN, &group("v", "left", "right", VEGAS, ""))
            .replace("delay = \"10 ms\"", &format!("delay = \"{delay}\""))
    };
    let (_, slow) = run(&text("250 ms"));
    assert!(says(&slow, "v grows by a packet per round trip"), "{:?}", slow.notes);
    let (_, fast) = run(&text("10 ms"));
    assert!(!says(&fast, "grows by a packet"), "{:?}", fast.notes);
}

/// A low rate makes half a packet a part of the round trip of control packets.
#[test]
fn control_packets_behind_the_packet_in_service_are_said() {
    let text = dumbbell(PLAIN, &group("m", "left", "right", "\"monaco\"", ""));
    let (_, slow) = run(&text.replace("10 Mbps", "200 Kbps"));
    let waits = "control packets of m wait for the packet in service, 20.0 ms";
    assert!(says(&slow, waits), "{:?}", slow.notes);
}

/// Each pair of equal links has a note of its own.
#[test]
fn routes_side_by_side_have_their_own_notes() {
    let link = |name: &str, from: &str, to: &str| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nqueue = {PLAIN}\n"
        )
    };
    let flow = |name: &str, over: &str| {
        format!("[flow.{name}]\npath = [\"s\", \"{over}\", \"t\"]\ncontroller = {VEGAS}\n")
    };
    let links = [("a", "s", "m"), ("b", "m", "t"), ("c", "s", "n"), ("d", "n", "t")];
    let links: String = links.iter().map(|(name, from, to)| link(name, from, to)).collect();
    let (_, run) =
        run(&format!("duration = \"10 s\"\n{links}{}{}", flow("x", "m"), flow("y", "n")));
    for pair in ["the same flows fill a, b, one after the other", "the same flows fill c, d, one"] {
        assert!(says(&run, pair), "{:?}", run.notes);
    }
}
