//! The parts of difficult links.

use super::assert_prints_to_itself;
use crate::common::{points, refused};
use accord_scenario::{Bucket, Jitter, Limit, Parts, Reorder, Scenario};
use accord_traffic::{Delay, Demand};
use accord_units::{Bytes, Duration, Rate, Time};

fn text(link: &str) -> String {
    format!(
        "duration = \"10 s\"\n[link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbps\"\ndelay = \"1 ms\"\n{link}\n\
         [flow.a]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"reno\"\n"
    )
}

fn one(text: &str) -> Scenario {
    let scenario = points(text).unwrap_or_else(|e| panic!("{e}")).remove(0);
    assert_prints_to_itself(&scenario);
    scenario
}

/// A shaper serves the queue, so limits in time and in BDP take its rate if it is less than the line's. A
/// policer drops ahead of the queue.
#[test]
fn limits_take_the_rate_of_a_shaper() {
    let limit = |parts: &str, limit: &str| {
        let queue = format!("{parts}queue = {{ discipline = \"droptail\", limit = \"{limit}\" }}");
        one(&text(&queue)).links[0].queue.limit
    };
    let shaper = |rate: &str| format!("shaper = {{ rate = \"{rate}\", burst = \"2 KB\" }}\n");
    let bytes = |n: u64| Limit::Bytes(Bytes::new(n));
    assert_eq!(limit("", "20 ms"), bytes(20_000));
    assert_eq!(limit(&shaper("2 Mbps"), "20 ms"), bytes(5000));
    assert_eq!(limit(&shaper("80 Mbps"), "20 ms"), bytes(20_000));
    let policer = "policer = { rate = \"2 Mbps\", burst = \"2 KB\" }\n";
    assert_eq!(limit(policer, "20 ms"), bytes(20_000));
    let (Limit::Bytes(slow), Limit::Bytes(fast)) =
        (limit(&shaper("2 Mbps"), "100 BDP"), limit("", "100 BDP"))
    else {
        panic!("they are in bytes");
    };
    assert!((fast.as_f64() / slow.as_f64() - 4.0).abs() < 0.01, "{slow:?} {fast:?}");
}

#[test]
fn parts_are_read_and_the_reverse_can_be_without_them() {
    let ms = Duration::from_ms;
    let s = one(&text(
        "jitter = { normal = \"5 ms\" }\n\
         reorder = { share = \"2 %\", delay = \"7 ms\", gap = 3 }\n\
         policer = { rate = \"5 Mbps\", burst = \"30 KB\" }\n\
         shaper = { rate = \"6 Mbps\", burst = \"2 KB\" }\n\
         ack_aggregation = \"4 ms\"\nack_thinning = true\n\
         reverse = { jitter = { uniform = \"1 ms\", reorder = true }, reorder = \"off\", policer = \"off\", \
         shaper = \"off\", ack_aggregation = \"off\", ack_thinning = false }\n",
    ));
    let expected = Parts {
        jitter: Some(Jitter {
            law: Delay::Normal { deviation: ms(5), longest: ms(15) },
            reorder: false,
        }),
        reorder: Some(Reorder { share: 0.02, delay: ms(7), gap: 3 }),
        policer: Some(Bucket { rate: Rate::from_bps(5_000_000), burst: Bytes::new(30_000) }),
        shaper: Some(Bucket { rate: Rate::from_bps(6_000_000), burst: Bytes::new(2000) }),
        ack_aggregation: Some(ms(4)),
        ack_thinning: true,
        ..Parts::default()
    };
    assert_eq!(s.links[0].parts.as_deref(), Some(&expected));
    assert_eq!(s.links[0].capacity(s.links[0].rate), Rate::from_bps(5_000_000));
    let reverse = Parts {
        jitter: Some(Jitter { law: Delay::Uniform(ms(1)), reorder: true }),
        ..Parts::default()
    };
    assert_eq!(s.links[1].parts.as_deref(), Some(&reverse));
    // A link without parts has none, also if it says so.
    assert_eq!(one(&text("jitter = \"off\"")).links[0].parts, None);
    assert_eq!(
        one(&text("ack_thinning = true")).links[1].parts,
        one(&text("ack_thinning = true")).links[0].parts
    );
}

/// A scenario whose flow has this demand.
fn with_demand(demand: &str) -> String {
    text("") + &format!("demand = {demand}\n")
}

#[test]
fn live_video_has_the_defaults_of_its_rfc() {
    let s = one(&with_demand("{ media = { pause = [\"4 s\", \"6 s\"] } }"));
    let Demand::Media(media) = s.flows[0].demand else {
        panic!("{:?}", s.flows[0].demand);
    };
    let rates = [media.least, media.most].map(Rate::as_bps);
    assert_eq!((rates, media.fps), ([150_000, 1_500_000], 30.0));
    assert_eq!((media.latency, media.burst), (Duration::from_ms(200), 8));
    let at = |s| Time::ZERO + Duration::from_secs(s);
    assert_eq!(media.pause, Some((at(4), at(6))));
    let said = refused(&with_demand("{ media = { min = \"2 Mbps\" } }"));
    assert!(said.contains("min, 2 Mbps, is more than max, 1.5 Mbps"), "{said}");
    let said = refused(&(with_demand("{ media = {} }") + "kernel = \"cubic\"\n"));
    assert!(said.contains("does not report an allowed rate to the source of a flow"), "{said}");
}

#[test]
fn parts_that_make_no_sense_are_refused() {
    let said = |link: &str| refused(&text(link));
    for (link, expected) in [
        ("jitter = { normal = \"5 ms\", uniform = \"1 ms\" }", "expected one law"),
        ("jitter = { at_most = \"5 ms\" }", "expected one law"),
        ("jitter = { uniform = \"0 ms\" }", "must be more than zero"),
        ("jitter = \"5 ms\"", "\"5 ms\" is not known"),
        ("reorder = { share = 0.1 }", "`delay` is missing"),
        ("reorder = { delay = \"1 ms\", gap = 0 }", "0 is out of range"),
        (
            "policer = { rate = \"5 Mbps\", burst = \"900 B\" }",
            "no packet of 1 KB passes the policer of \"ab\": its burst is 900 B",
        ),
        ("shaper = { rate = \"0 bps\", burst = \"9 KB\" }", "a rate must be more than zero"),
        (
            "shaper = { rate = \"1 Mbps\", burst = \"9 KB\" }\n[[event]]\nat = \"1 s\"\nlink = \"ab\"\nrate = \"2 Mbps\"",
            "\"ab\" has a shaper, so its rate does not change",
        ),
        ("ack_aggregation = \"2 h\"", "is too much"),
        ("ack_thinning = 1", "expected true or false"),
    ] {
        let found = said(link);
        assert!(found.contains(expected), "{link}\n{found}");
    }
    let both = "duration = \"1 s\"\ntopology.dumbbell = { rate = { trace = [1] }, delay = \"1 ms\", shaper = { rate = \"1 Mbps\", burst = \"9 KB\" } }\n[flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"reno\"\n";
    assert!(refused(both).contains("a shaper does not go with a trace"));
}

/// A packet that an empty buffer or a full bucket has no room for never passes: of data, of a mix its largest
/// size, and of acknowledgements and counts on the way back.
#[test]
fn buffers_and_buckets_below_a_packet_are_refused() {
    let dumbbell = |link: &str, flow: &str| {
        format!(
            "duration = \"1 s\"\ntopology.dumbbell = {{ rate = \"10 Mbps\", delay = \"10 ms\", {link} }}\n\
             [flow.f]\nfrom = \"left\"\nto = \"right\"\n{flow}\n"
        )
    };
    let queue = |discipline: &str, limit: &str| {
        format!("queue = {{ discipline = \"{discipline}\", limit = \"{limit}\" }}")
    };
    let monaco = "controller = \"monaco\"";
    for discipline in ["droptail", "red", "avq", "avd"] {
        let text =
            dumbbell(&queue(discipline, "5 KB"), "controller = \"monaco\"\npacket = \"9000 B\"");
        let expected =
            "no packet of 9 KB fits into the buffer of \"bottleneck\": its limit is 5 KB";
        let said = refused(&text);
        assert!(said.contains(expected), "{discipline}: {said}");
        one(&dumbbell(&queue(discipline, "9 KB"), "controller = \"monaco\"\npacket = \"9000 B\""));
    }
    let back = |limit: &str| {
        format!("reverse = {{ queue = {{ discipline = \"droptail\", limit = \"{limit}\" }} }}")
    };
    let access = "controller = \"monaco\"\naccess = { rate = \"1 Gbps\", delay = \"1 ms\", queue = { discipline = \"droptail\", limit = \"900 B\" } }";
    let mix = "controller = \"none\"\ndemand = { constant = \"1 Mbps\" }\npacket = { mix = { \"200 B\" = 9, \"1500 B\" = 1 } }";
    let policer = "policer = { rate = \"5 Mbps\", burst = \"1400 B\" }";
    for (link, flow, expected) in [
        (back("30 B"), "controller = \"newreno\"", "no packet of 40 B fits into the buffer"),
        (back("50 B"), monaco, "no packet of 64 B fits into the buffer"),
        (queue("droptail", "9 KB"), access, "no packet of 1 KB fits into the buffer"),
        (queue("droptail", "1400 B"), mix, "no packet of 1.5 KB fits into the buffer"),
        (policer.into(), mix, "no packet of 1.5 KB passes the policer"),
    ] {
        let said = refused(&dumbbell(&link, flow));
        assert!(said.contains(expected), "{link} {flow}\n{said}");
    }
    // A limit in time is rounded up.
    one(&dumbbell(&queue("droptail", "1 us"), monaco));
}
