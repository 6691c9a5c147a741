//! Boundary cases of an equilibrium's rules: measured bases, limits, packets, marks and transfers.

use crate::assumptions::{PLAIN, VEGAS, dumbbell, group, of, of_link, run, says, scenario};
use accord_record::Quiet;
use accord_scenario::{Change, Entity, Metric};
use accord_units::{Rate, Time};

const MEASURED: &str = "{ name = \"vegas\", alpha = \"2 pkt\", beta = \"2 pkt\" }";

fn late(text: String) -> String {
    text.replace("\n[topology", "\nsteady = [\"50 s\", \"60 s\"]\n[topology")
}

/// A path that grows by 40 ms after 5 ms: no sample shows the 5 ms, but the flow has measured its base in
/// them. It takes the difference for a queue, so 2 packets last for 40 ms [Xia05 figure 5].
#[test]
fn a_base_that_was_measured_before_any_sample_is_kept() {
    let change = "[[event]]\nat = \"5 ms\"\nlink = \"bottleneck\"\ndirection = \"forward\"\ndelay = \"50 ms\"\n";
    let text = dumbbell(PLAIN, &group("f", "left", "right", MEASURED, "")) + change;
    let (s, run) = run(&text);
    let rate = of(&s, &run, Metric::Throughput, "f");
    assert!((rate - 16e3 / 0.04).abs() < 1.0, "{rate}");
}

/// The round-trip time of a flow that starts on the way back has the queue of the way there in it: 2000
/// bytes at 10 Mbps. It then keeps its packets in both queues, less that.
#[test]
fn a_queue_of_the_way_back_counts_in_a_measured_base() {
    let alone = group("b", "right", "left", MEASURED, "start = \"20 s\"");
    let both = group("a", "left", "right", MEASURED, "") + &alone;
    let base = |flows: &str| {
        let (s, run) = run(&late(dumbbell(PLAIN, flows)));
        let believed = of(&s, &run, Metric::AccumulationEstimate, "b");
        assert!((believed - 2000.0).abs() < 1e-3, "{believed}");
        of(&s, &run, Metric::MinRtt, "b")
    };
    let excess = base(&both) - base(&alone);
    assert!((excess - 1.6e-3).abs() < 1e-9, "{excess}");
}

/// A flow's accumulation is on its way there; the queue of its way back is another's. The backlog has the
/// acknowledgements of the other flow, 40 bytes per 1000, too.
#[test]
fn accumulations_add_up_to_the_backlog_of_the_way_there() {
    let flows = group("a", "left", "right", VEGAS, "") + &group("b", "right", "left", VEGAS, "");
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    let (queued, backlog) =
        (of(&s, &run, Metric::Accumulation, "a"), of_link(&s, &run, Metric::Backlog, "bottleneck"));
    assert!((1.04 * queued - backlog).abs() < 1e-6 && backlog > 500.0, "{queued} {backlog}");
    let believed = of(&s, &run, Metric::AccumulationEstimate, "a");
    assert!((believed - 2000.0).abs() < 1e-3, "{believed}");
}

/// Each round leaves 6.4 % of the difference between the counts of the last solution and those of this one,
/// and the certificate has the remainder.
#[test]
fn what_is_left_of_a_fixed_point_is_in_the_certificate() {
    let monaco = "\"monaco\"";
    let flows = group("a", "left", "right", monaco, "") + &group("b", "right", "left", monaco, "");
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    let left = (of_link(&s, &run, Metric::ServedRate, "bottleneck") / 10e6 - 1.0).abs();
    assert!(left > 1e-14, "{left:e}");
    assert!(left <= 1.01 * run.certificates[0].feasibility, "{left:e} {:?}", run.certificates);
}

/// The feasibility of a certificate is the overload that the load shows.
#[test]
fn feasibility_is_the_overload_of_the_load() {
    for count in [13, 14, 16] {
        let more = format!(
            "count = {count}\naccess = {{ rate = \"7 Mbps\", delay = [\"1 ms\", \"2 ms\"] }}"
        );
        let flows = group("f", "left", "right", &VEGAS.replace("2 pkt", "3 pkt"), &more);
        let (s, run) = run(&dumbbell(PLAIN, &flows));
        let link = s.links.iter().position(|l| l.name == "bottleneck").expect("a link");
        let load = run.series(Metric::ServedRate, Entity::Link(link)).expect("recorded").values[0];
        let (excess, found) = (load / 10e6 - 1.0, run.certificates[0].feasibility);
        assert!(found > 1e-14 && (found - excess).abs() < 2e-15, "{found:e} {excess:e}");
    }
}

/// A flow that measures round trips sees delays of the way back, no virtual ones.
#[test]
fn a_virtual_queue_of_the_way_back_is_not_seen() {
    let flows =
        group("a", "left", "right", VEGAS, "") + &group("b", "right", "left", "\"monaco\"", "");
    let text = dumbbell(PLAIN, &flows).replace(
        "\n[flow.a",
        "\nreverse = { queue = { discipline = \"avd\", limit = \"200 pkt\" } }\n[flow.a",
    );
    let (s, run) = run(&text);
    assert!(of_link(&s, &run, Metric::Price, "bottleneck.reverse") > 1e-4);
    let backlog = of_link(&s, &run, Metric::Backlog, "bottleneck");
    assert!((backlog - 2000.0).abs() < 1e-3, "{backlog}");
}

/// Packets of 500 bytes: arrivals and backlogs in packets are those in bytes over 500.
#[test]
fn packets_are_counted_in_their_size() {
    let flows = group("f", "left", "right", VEGAS, "packet = \"500 B\"");
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    let link = |metric| of_link(&s, &run, metric, "bottleneck");
    assert!((link(Metric::Backlog) / link(Metric::BacklogPackets) - 500.0).abs() < 1e-9);
    let seconds = s.steady.end.since(s.steady.start).as_secs_f64();
    let bits = link(Metric::Arrivals) * 4000.0 / seconds;
    assert!((bits / link(Metric::ServedRate) - 1.0).abs() < 1e-12, "{bits}");
}

/// The limits of RED and CoDel to the packet: forty wait, of which each is 0.8 ms.
#[test]
fn disciplines_drop_from_their_thresholds_on() {
    let red = |min: u32| {
        format!(
            "{{ discipline = \"red\", limit = \"200 pkt\", min_threshold = \"{min} pkt\", max_threshold = \"90 pkt\" }}"
        )
    };
    let codel = |target: u32| {
        format!("{{ discipline = \"codel\", limit = \"200 pkt\", target = \"{target} us\" }}")
    };
    for (queue, count, fails) in [
        (red(41), 20, false),
        (red(39), 20, true),
        (codel(33_000), 20, false),
        (codel(31_000), 20, true),
        // A single packet is never late.
        (codel(500), 1, false),
    ] {
        let vegas = if count == 1 { VEGAS.replace("2 pkt", "1 pkt") } else { VEGAS.into() };
        let flows = group("f", "left", "right", &vegas, &format!("count = {count}"));
        let (_, run) = run(&dumbbell(&queue, &flows));
        assert_eq!(says(&run, "no equilibrium"), fails, "{queue}: {:?}", run.notes);
    }
}

/// AVQ marks above 98 % of its rate; a flow that does not respond keeps its rate all the same.
#[test]
fn a_discipline_does_not_meddle_with_flows_that_do_not_respond() {
    let flows = group("f", "left", "right", "\"none\"", "demand = { constant = \"9900 Kbps\" }");
    let (s, run) = run(&dumbbell("{ discipline = \"avq\", limit = \"200 pkt\" }", &flows));
    assert!((of(&s, &run, Metric::Throughput, "f") - 9.9e6).abs() < 1.0);
}

/// A flow of a fixed rate over one of three links answers to no delay, and so determines none.
#[test]
fn fixed_rates_do_not_determine_delays() {
    let link = |name: &str, from: &str, to: &str, rate: u32| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbps\"\ndelay = \"2 ms\"\n"
        )
    };
    let text = "duration = \"60 s\"\n".to_owned()
        + &link("one", "a", "b", 6)
        + &link("two", "b", "c", 10)
        + &link("three", "c", "d", 5)
        + &group("f", "a", "c", VEGAS, "")
        + &group("g", "b", "d", VEGAS, "")
        + &group("h", "a", "b", "\"none\"", "demand = { constant = \"1 Mbps\" }");
    let (_, run) = run(&text);
    assert!(says(&run, "the delays of one, two, three are not unique"), "{:?}", run.notes);
}

/// A transfer that fits into a round trip of the narrowest link is not a part of an equilibrium; a larger one
/// is.
#[test]
fn a_transfer_counts_from_a_round_trip_of_the_narrowest_link_on() {
    let flows = |size: u64| {
        let short = format!(
            "demand = {{ size = \"{size} B\" }}\naccess = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}"
        );
        group("long", "left", "right", VEGAS, "") + &group("short", "left", "right", VEGAS, &short)
    };
    let s = scenario(&dumbbell(PLAIN, &flows(1000)));
    let pipe = 10e6 / 8.0 * s.at(Time::ZERO).base_rtt(1).as_secs_f64();
    for (part, left_out) in [(0.95, true), (1.05, false)] {
        let (_, run) = run(&dumbbell(PLAIN, &flows((part * pipe) as u64)));
        assert_eq!(says(&run, "transfers of short"), left_out, "{part}: {:?}", run.notes);
    }
}

/// Shares of a link in proportion to min(weight, limit), and a flow of limited rate has its limit as well:
/// limits of 1000 and 500 bytes against the 2000 of a third flow.
#[test]
fn a_limit_below_the_target_is_the_share() {
    let flows = ["a", "b", "c"].map(|name| group(name, "left", "right", VEGAS, ""));
    let mut s = scenario(&dumbbell(PLAIN, &flows.concat()));
    let limit = |bytes| Some(accord_units::Bytes::new(bytes));
    (s.flows[0].service.limit, s.flows[1].service.limit) = (limit(1000), limit(500));
    s.flows[1].demand = accord_traffic::Demand::Constant(Rate::from_bps(8_000_000));
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    for (flow, part) in [("a", 1000.0), ("b", 500.0), ("c", 2000.0)] {
        let rate = of(&s, &run, Metric::Throughput, flow);
        assert!((rate - 10e6 * part / 3500.0).abs() < 1.0, "{flow}: {rate}");
    }
}

/// A limit far above the target does not hold a flow that also sees the queue of its way back.
#[test]
fn a_queue_of_the_way_back_is_not_an_accumulation_limit() {
    let limited = "service = { limit = \"1 MB\" }";
    let flows =
        group("a", "left", "right", VEGAS, limited) + &group("b", "right", "left", VEGAS, "");
    let (_, run) = run(&dumbbell(PLAIN, &flows));
    assert!(!says(&run, "accumulation limit"), "{:?}", run.notes);
}

/// A contract that the application does not use up is not a contract, also where the flow sees the way back.
#[test]
fn an_application_below_its_contract_may_see_the_way_back() {
    let contracted =
        "demand = { constant = \"4 Mbps\" }\nservice = { contract = \"5 Mbps\", limit = \"1 MB\" }";
    let flows = group("a", "left", "right", VEGAS, contracted)
        + &group("b", "right", "left", VEGAS, "")
        + &group("c", "left", "right", VEGAS, "");
    let (s, run) = run(&dumbbell(PLAIN, &flows));
    // Acknowledgements of b, which has as much as c, take 4 % of its rate.
    for (flow, expected) in [("a", 4e6), ("c", 6e6 / 1.04)] {
        let rate = of(&s, &run, Metric::Throughput, flow);
        assert!((rate - expected).abs() < 1.0, "{flow}: {rate}");
    }
}

/// A packet stays unmarked on its path with the probability φ to minus the sum of its prices
/// [Low02 eq. 32]: links mark that many packets together.
#[test]
fn two_links_mark_what_their_sum_of_prices_says() {
    let rem = "{ discipline = \"rem\", limit = \"200 pkt\", phi = 1.5 }";
    let controller = "{ name = \"vegas-rem\", phi = 1.5 }";
    let text = format!(
        "duration = \"60 s\"\n[topology.parking_lot]\nbottlenecks = 2\nrate = \"10 Mbps\"\n\
         delay = \"10 ms\"\nqueue = {rem}\n{}[flow.c]\neach_hop = true\ncontroller = {controller}\n",
        group("f", "r0", "r2", controller, ""),
    );
    let (s, run) = run(&text);
    let links = ["hop1", "hop2"];
    let price = links.map(|link| 1e3 * of_link(&s, &run, Metric::Price, link));
    let marked: f64 = links
        .map(|link| {
            of_link(&s, &run, Metric::MarkingProbability, link)
                * of_link(&s, &run, Metric::ServedRate, link)
        })
        .iter()
        .sum();
    let of_path = |price: f64| 1.0 - 1.5f64.powf(-price);
    let rate = |flow: usize| run.mean(Metric::Throughput, Entity::Flow(flow), s.steady).unwrap();
    let expected = rate(0) * of_path(price[0] + price[1])
        + rate(1) * of_path(price[0])
        + rate(2) * of_path(price[1]);
    assert!(price[0].min(price[1]) > 0.1, "{price:?}");
    assert!((marked / expected - 1.0).abs() < 1e-9, "{marked} {expected}");
}

/// Files of 0.5 and 10 MB share 20 Mbps from the start, and one of 30 MB from half a second on. The small one is
/// done at 0.4 s, and gives its part away at 0.5 s, when a phase ends: 75 Mbit of the second are left
/// then, and take 7.5 s of half the link, not more for a sample that is longer than the phase.
#[test]
fn a_transfer_sends_no_longer_than_its_phase() {
    let file = |name: &str, size: &str, start: &str| {
        let more = format!("demand = {{ size = \"{size}\" }}\nstart = \"{start}\"");
        group(name, "left", "right", VEGAS, &more)
    };
    let flows =
        file("a", "500 KB", "0 s") + &file("b", "10 MB", "0 s") + &file("c", "30 MB", "500 ms");
    let text = dumbbell(PLAIN, &flows)
        .replace("\"10 Mbps\"", "\"20 Mbps\"")
        .replace("\"60 s\"", "\"60 s\"\nsample = \"1 s\"");
    let (_, run) = run(&text);
    let rates = &run.series(Metric::Throughput, Entity::Flow(1)).expect("recorded").values;
    let done = rates.iter().position(|r| r.is_nan());
    assert_eq!(done, Some(8), "{rates:?}");
}

/// Two hundred files of different sizes are done at as many times within 20 s, and make a phase for each
/// second at most.
#[test]
fn transfers_that_are_done_within_a_sample_make_one_phase() {
    let more = "count = 200\ndemand = { size = \"100 KB\" }";
    let text = dumbbell(PLAIN, &group("f", "left", "right", VEGAS, more))
        .replace("\"60 s\"", "\"60 s\"\nsample = \"1 s\"");
    let mut s = scenario(&text);
    for (i, flow) in s.flows.iter_mut().enumerate() {
        let size = accord_units::Bytes::new(100_000 + 400 * i as u64);
        flow.demand = accord_traffic::Demand::Size(size);
    }
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    assert!((2..=60).contains(&run.certificates.len()), "{}", run.certificates.len());
}

/// A path of a rider's own that serves nothing stops it, and its tunnel with it.
#[test]
fn a_rider_behind_a_dead_link_is_still() {
    let mut s = crate::tunnels::scenario(
        "1 Gbps",
        &(crate::tunnels::rider("bulk", "a", crate::tunnels::GREEDY)
            + "[[event]]\nat = \"10 s\"\nlink = \"lan\"\nrate = \"1 Mbps\"\n"),
    );
    for event in &mut s.events {
        if let Change::Rate(_, rate) = &mut event.change {
            *rate = Rate::ZERO;
        }
    }
    let run = accord_theory::run(&s, &mut Quiet).expect("a problem");
    for (flow, before) in [("a", 30e6), ("bulk", 30e6 / 1.06)] {
        let id = s.flows.iter().position(|f| f.name == flow).expect("a flow");
        let rates = &run.series(Metric::Throughput, Entity::Flow(id)).expect("recorded").values;
        let (first, last) = (rates[0], rates[rates.len() - 1]);
        assert!((first / before - 1.0).abs() < 1e-4, "{flow}: {first}");
        assert_eq!(last, 0.0, "{flow}");
    }
}
