//! Runs in windows equal, bit for bit, those with an event per packet that reaches a link. The
//! topologies here have parts that feed each other differently from a dumbbell. (`shortcuts.rs` has
//! dumbbells.)

use crate::common::{scenario, window};
use accord_record::Quiet;
use accord_scenario::{Entity, Metric, Scenario};
use accord_sim::{Because, Plan, Shortcuts, plan, run_with};
use proptest::prelude::*;

/// Compares the runs. Returns the events without windows and with them. Events of timers that were
/// moved do not happen in windows, so the two differ where there are windows.
fn same(s: &Scenario) -> [u64; 2] {
    let (events, hops) = compared(s);
    assert!(hops > 10_000, "too little happens");
    events
}

/// Compares as `same` does, even if little happens. Also returns the packet-hops.
pub fn compared(s: &Scenario) -> ([u64; 2], u64) {
    let [fused, windows] = [Shortcuts::CutThrough, Shortcuts::All].map(|shortcuts| {
        let (mut run, ports, flows) = run_with(s, &mut Quiet, shortcuts).expect("it runs");
        // Only the plan differs.
        run.manifest.plan = None;
        let values = run.series.iter().flat_map(|series| &series.values);
        let bits: Vec<u64> = values.map(|v| v.to_bits()).collect();
        // An incomplete transfer has no duration.
        let transfers: Vec<String> = run.transfers.iter().map(|t| format!("{t:?}")).collect();
        let (hops, steps) = (run.statistics.packet_hops, run.statistics.steps);
        ((run.manifest, bits, hops, ports, flows, transfers), steps)
    });
    assert!(fused.0 == windows.0, "the runs differ");
    ([fused.1, windows.1], fused.0.2)
}

#[test]
fn flows_without_access_links() {
    for (controller, more) in [("newreno", ""), ("vegas", ""), ("cubic", "pacing = true")] {
        let s = scenario(&format!(
            "duration = \"10 s\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"40 pkt\" }}\n\
             [flow.there]\nfrom = \"a\"\nto = \"b\"\ncount = 3\ncontroller = \"{controller}\"\n{more}\n\
             [flow.back]\nfrom = \"b\"\nto = \"a\"\ncount = 2\ncontroller = \"{controller}\"\nstart = \"1 s\"\n"
        ));
        let [fused, windows] = same(&s);
        assert!(windows < fused || controller != "newreno", "no windows");
    }
}

/// Three bottlenecks, a flow over all of them and others over some, both ways. Some have access
/// links without a delay, and most stop and start while others run.
#[test]
fn several_bottlenecks_that_feed_each_other() {
    let mut text = String::from("duration = \"8 s\"\nsample = \"37 ms\"\n");
    for (name, from, to, rate, delay, queue) in [
        ("ab", "a", "b", 30, 4, "{ discipline = \"droptail\", limit = \"50 pkt\" }"),
        ("bc", "b", "c", 20, 7, "{ discipline = \"red\", limit = \"90 pkt\" }"),
        ("cd", "c", "d", 25, 5, "{ discipline = \"avq\", limit = \"60 pkt\" }"),
    ] {
        text += &format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbps\"\n\
             delay = \"{delay} ms\"\nqueue = {queue}\n"
        );
    }
    for (name, from, to, more) in [
        ("long", "a", "d", "access = { rate = \"100 Mbps\", delay = \"0 s\" }"),
        ("first", "a", "b", "start = \"0.5 s\"\nstop = \"5 s\""),
        ("second", "b", "c", "egress = { rate = \"20 Mbps\", delay = \"3 ms\" }"),
        ("last", "b", "d", "start = \"1.7 s\""),
        ("back", "d", "a", "start = \"1 s\"\nstop = \"6 s\""),
    ] {
        text += &format!(
            "[flow.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ncontroller = \"newreno\"\n{more}\n"
        );
    }
    let [fused, windows] = same(&scenario(&text));
    assert!(windows < fused, "{windows} of {fused}");
}

const DISCIPLINES: [&str; 13] = [
    "droptail", "red", "pie", "codel", "fq-codel", "host-fq", "dualpi2", "avq", "avd", "rem",
    "bat", "bat-clcc", "step",
];

/// Ports with timers, that hold packets, and with two priorities, at one bottleneck after the other. A
/// packet takes 1 ms at the first one, so services end with samples, timers and arrivals.
#[test]
fn ports_with_events_of_their_own() {
    for discipline in DISCIPLINES {
        for controller in ["newreno", "monaco"] {
            let s = scenario(&format!(
                "duration = \"10 s\"\nsample = \"10 ms\"\n\
                 [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbps\"\ndelay = \"10 ms\"\n\
                 queue = {{ discipline = \"{discipline}\", limit = \"60 pkt\" }}\n\
                 [link.bc]\nfrom = \"b\"\nto = \"c\"\nrate = \"7 Mbps\"\ndelay = \"3 ms\"\n\
                 queue = {{ discipline = \"{discipline}\", limit = \"40 pkt\" }}\n\
                 [link.idle]\nfrom = \"c\"\nto = \"d\"\nrate = \"7 Mbps\"\ndelay = \"3 ms\"\n\
                 queue = {{ discipline = \"{discipline}\", limit = \"40 pkt\" }}\n\
                 [flow.there]\nfrom = \"a\"\nto = \"c\"\ncontroller = \"{controller}\"\n\
                 packet = \"1000 B\"\n\
                 [flow.near]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"{controller}\"\n\
                 access = {{ rate = \"8 Mbps\", delay = \"2 ms\" }}\n\
                 egress = {{ rate = \"4 Mbps\", delay = \"1 ms\" }}\n\
                 [flow.back]\nfrom = \"c\"\nto = \"a\"\ncontroller = \"newreno\"\n\
                 access = {{ rate = \"3 Mbps\", delay = \"0 s\" }}\n\
                 start = \"1 s\"\nstop = \"7 s\"\n"
            ));
            let [fused, windows] = same(&s);
            assert_ne!(windows, fused, "{discipline}, {controller}: no windows");
        }
    }
}

/// Access links of tunnels have two priorities and queues, and several flows share some of them.
#[test]
fn lanes_of_tunnels() {
    for (rate, loss) in [("3 Mbps", ""), ("20 Mbps", "loss = \"1 %\"\n")] {
        let s = scenario(&format!(
            "duration = \"10 s\"\nsample = \"33 ms\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\n{loss}\
             queue = {{ discipline = \"droptail\", limit = \"60 pkt\" }}\n\
             [flow.tunnel]\nfrom = \"a\"\nto = \"b\"\ncount = 5\ncontroller = \"monaco\"\n\
             access = {{ rate = \"{rate}\", delay = \"2 ms\" }}\n\
             egress = {{ rate = \"{rate}\", delay = \"1 ms\" }}\n\
             [flow.stream]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"vegas\"\n\
             access = {{ rate = \"100 Mbps\", delay = \"2 ms\" }}\n\
             [flow.back]\nfrom = \"b\"\nto = \"a\"\ncount = 2\ncontroller = \"monaco\"\n\
             access = {{ rate = \"{rate}\", delay = \"5 ms\" }}\nstart = \"2 s\"\n"
        ));
        let [fused, windows] = same(&s);
        assert!(windows < fused, "{windows} of {fused}");
    }
}

/// Droptail ports of tunnels drop overflowing packets of both priorities. Packets of one size over
/// lines as fast as the bottleneck leave and arrive at the same instants.
#[test]
fn full_ports_of_tunnels() {
    for limit in ["6 pkt", "2 pkt", "9 kB"] {
        let s = scenario(&format!(
            "duration = \"10 s\"\nsample = \"10 ms\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbps\"\ndelay = \"10 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"{limit}\" }}\n\
             [flow.tunnel]\nfrom = \"a\"\nto = \"b\"\ncount = 3\ncontroller = \"monaco\"\n\
             packet = \"1000 B\"\naccess = {{ rate = \"8 Mbps\", delay = \"2 ms\" }}\n\
             [flow.stream]\nfrom = \"a\"\nto = \"b\"\ncount = 2\ncontroller = \"newreno\"\n\
             packet = \"1000 B\"\naccess = {{ rate = \"8 Mbps\", delay = \"3 ms\" }}\n\
             [flow.back]\nfrom = \"b\"\nto = \"a\"\ncontroller = \"monaco\"\n"
        ));
        let (run, ..) = run_with(&s, &mut Quiet, Shortcuts::All).expect("it runs");
        let drops = run.mean(Metric::Drops, Entity::Link(0), window(0.0, 10.0));
        assert!(drops > Some(1.0), "{limit}: {drops:?}");
        let [fused, windows] = same(&s);
        assert_ne!(windows, fused, "{limit}: no windows");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Links that are contended and uncontended, narrowly or by far: rates that divide a packet's
    /// time into whole picoseconds and rates that do not, packets of one size and of several, and a
    /// pair of hosts without a shared link between them.
    #[test]
    fn links_that_hold_up_packets_or_do_not(
        bottleneck in prop::sample::select(vec!["20 Mbps", "19.999999 Mbps", "7.7 Mbps", "30 Mbps"]),
        rates in prop::collection::vec(
            prop::sample::select(vec!["20 Mbps", "20.000001 Mbps", "19 Mbps", "7.7 Mbps", "100 Mbps"]),
            4,
        ),
        sizes in prop::collection::vec(prop::sample::select(vec![1000, 1500, 333]), 3),
        controller in prop::sample::select(vec!["newreno", "vegas", "cubic"]),
    ) {
        let mut text = format!(
            "duration = \"8 s\"\nsample = \"37 ms\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"{bottleneck}\"\ndelay = \"30 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"60 pkt\" }}\n"
        );
        for (name, to, size, count) in [("there", "b", 0, 3), ("more", "b", 1, 2), ("near", "a", 2, 1)] {
            text += &format!(
                "[flow.{name}]\nfrom = \"a\"\nto = \"{to}\"\ncount = {count}\n\
                 controller = \"{controller}\"\npacket = \"{} B\"\n\
                 access = {{ rate = \"{}\", delay = \"2 ms\" }}\n\
                 egress = {{ rate = \"{}\", delay = \"10 ms\" }}\n",
                sizes[size], rates[size], rates[size + 1],
            );
        }
        let [fused, windows] = same(&scenario(&text));
        prop_assert!(windows < fused, "{windows} of {fused}");
    }

    /// A port of acknowledgements with and without contention: flows at the same distance and at
    /// others, queues with and without room for two packets, and samples at the instants of
    /// arrivals and departures.
    #[test]
    fn ports_of_acknowledgements(
        delays in prop::collection::vec(prop::sample::select(vec!["10 ms", "11 ms"]), 2),
        egress in prop::sample::select(vec!["8 Mbps", "80 Mbps", "7.9 Mbps"]),
        back in prop::sample::select(vec!["8 Mbps", "320 kbps", "319 kbps"]),
        limit in prop::sample::select(vec!["60 pkt", "2 pkt", "1 pkt", "119 B"]),
        discipline in prop::sample::select(vec!["droptail", "red", "codel", "fq-codel"]),
        sample in prop::sample::select(vec!["1 ms", "37 ms"]),
        controller in prop::sample::select(vec!["newreno", "vegas"]),
        ack in prop::sample::select(vec![40, 80]),
    ) {
        let mut text = format!(
            "duration = \"9 s\"\nsample = \"{sample}\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"8 Mbps\"\ndelay = \"30 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"60 pkt\" }}\n\
             reverse = {{ rate = \"{back}\", queue = {{ discipline = \"{discipline}\", limit = \"{limit}\" }} }}\n"
        );
        for (f, delay) in delays.iter().enumerate() {
            text += &format!(
                "[flow.f{f}]\nfrom = \"a\"\nto = \"b\"\ncount = 2\ncontroller = \"{controller}\"\n\
                 packet = \"1000 B\"\nack = \"{ack} B\"\naccess = {{ rate = \"8 Mbps\", delay = \"2 ms\" }}\n\
                 egress = {{ rate = \"{egress}\", delay = \"{delay}\" }}\nstart = \"{f} s\"\n",
            );
        }
        let [fused, windows] = same(&scenario(&text));
        prop_assert!(windows < fused, "{windows} of {fused}");
    }
}

/// A flow starts before the other flows have been computed up to its start, which has no visible
/// effect. Some start at the same instant, at that of a sample, or stop where others start.
#[test]
fn many_flows_start_and_stop() {
    for controller in ["newreno", "monaco"] {
        let s = scenario(&format!(
            "duration = \"4 s\"\nsample = \"50 ms\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"50 Mbps\"\ndelay = \"10 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"80 pkt\" }}\n\
             [flow.early]\nfrom = \"a\"\nto = \"b\"\ncount = 20\ncontroller = \"{controller}\"\n\
             access = {{ rate = \"100 Mbps\", delay = \"2 ms\" }}\n\
             start = {{ uniform = [\"0 s\", \"1 s\"] }}\nstop = \"2 s\"\n\
             [flow.late]\nfrom = \"b\"\nto = \"a\"\ncount = 20\ncontroller = \"newreno\"\n\
             start = {{ uniform = [\"1 s\", \"3 s\"] }}\n\
             [flow.once]\nfrom = \"a\"\nto = \"b\"\ncount = 3\ncontroller = \"{controller}\"\nstart = \"2 s\"\n"
        ));
        let [fused, windows] = same(&s);
        assert!(windows < fused, "{controller}: {windows} of {fused}");
    }
}

/// Packets on their way to an uncontended port in a run that ends between two samples do not reach
/// it.
#[test]
fn a_run_ends_between_two_samples() {
    for more in ["", "egress = { rate = \"50 Mbps\", delay = \"20 ms\" }"] {
        let s = scenario(&format!(
            "duration = \"10.05 s\"\nsample = \"100 ms\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"20 Mbps\"\ndelay = \"30 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"60 pkt\" }}\n\
             [link.bc]\nfrom = \"b\"\nto = \"c\"\nrate = \"50 Mbps\"\ndelay = \"10 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"60 pkt\" }}\n\
             [flow.a]\nfrom = \"a\"\nto = \"c\"\ncount = 3\ncontroller = \"newreno\"\n{more}\n"
        ));
        let [fused, windows] = same(&s);
        assert!(windows < fused, "{windows} of {fused}");
    }
}

/// More packets in a window than near caches hold: behind ports that drop, mark, have timers, judge
/// departures, serve flows in turn and have two priorities, over separate links and without any.
#[test]
fn many_flows_go_on_one_after_the_other() {
    for (discipline, controller) in [
        ("droptail", "newreno"),
        ("droptail", "dctcp"),
        ("red", "dctcp"),
        ("pie", "dctcp"),
        ("codel", "dctcp"),
        ("fq-codel", "newreno"),
        ("droptail", "monaco"),
    ] {
        let s = scenario(&format!(
            "duration = \"0.3 s\"\nsample = \"70 ms\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"4 Gbps\"\ndelay = \"18 ms\"\n\
             queue = {{ discipline = \"{discipline}\", limit = \"4000 pkt\" }}\n\
             [link.bc]\nfrom = \"b\"\nto = \"c\"\nrate = \"3 Gbps\"\ndelay = \"2 ms\"\n\
             queue = {{ discipline = \"{discipline}\", limit = \"3000 pkt\" }}\n\
             [flow.near]\nfrom = \"a\"\nto = \"b\"\ncount = 400\ncontroller = \"newreno\"\n\
             access = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n\
             egress = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n\
             start = {{ uniform = [\"0 s\", \"20 ms\"] }}\n\
             [flow.far]\nfrom = \"a\"\nto = \"c\"\ncount = 400\ncontroller = \"{controller}\"\n\
             access = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n\
             start = {{ uniform = [\"0 s\", \"20 ms\"] }}\n"
        ));
        let [fused, windows] = same(&s);
        assert!(windows < fused || discipline == "pie", "{discipline}: {windows} of {fused}");
    }
}

/// Many acknowledgements on the last part of their way: over links that are faster than the bottleneck,
/// slower, and without some of them, and where some are dropped.
#[test]
fn many_acknowledgements() {
    let access = "access = { rate = \"100 Mbps\", delay = \"1 ms\" }\n";
    let egress = "egress = { rate = \"100 Mbps\", delay = \"1 ms\" }\n";
    let fast = "access = { rate = \"10 Gbps\", delay = \"1 ms\" }\n";
    let slow = "reverse = { rate = \"100 Mbps\" }\n";
    for (ends, back, samples) in [
        ([access, egress], "", "70 ms"),
        ([access, egress], slow, "70 ms"),
        ([fast, egress], "", "70 ms"),
        (["", egress], "", "31 ms"),
        ([access, ""], "", "70 ms"),
    ] {
        let s = scenario(&format!(
            "duration = \"0.6 s\"\nsample = \"{samples}\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"4 Gbps\"\ndelay = \"18 ms\"\n\
             queue = {{ discipline = \"droptail\", limit = \"4000 pkt\" }}\n\
             {back}[flow.a]\nfrom = \"a\"\nto = \"b\"\ncount = 800\ncontroller = \"newreno\"\n\
             {}{}start = {{ uniform = [\"0 s\", \"20 ms\"] }}\n",
            ends[0], ends[1]
        ));
        same(&s);
    }
}

/// The plan of a scenario is that of its run, and names the first reason against windows.
#[test]
fn a_plan_has_the_engine_and_the_reason() {
    let text = |link: &str, flow: &str, more: &str| {
        scenario(&format!(
            "duration = \"1 s\"\n\
             [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\n{link}\n\
             queue = {{ discipline = \"droptail\", limit = \"40 pkt\" }}\n\
             [flow.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n{more}"
        ))
    };
    let greedy = "controller = \"newreno\"";
    let change = "[[event]]\nat = \"0.5 s\"\nlink = \"ab\"\nrate = \"10 Mbps\"\n";
    for (s, expected) in [
        (text("", greedy, ""), "windows"),
        (text("", greedy, change), "events: the scenario has events"),
        (text("", "controller = \"newreno\"\ndemand = { size = \"1 MB\" }", ""), "windows"),
        (text("", "controller = \"none\"\ndemand = { poisson = \"9 Mbps\" }", ""), "windows"),
        (
            text("jitter = { normal = \"1 ms\" }", greedy, ""),
            "events: link ab has a trace, token buckets, jitter, reordering or a filter",
        ),
    ] {
        let run = accord_sim::run(&s, &mut Quiet).expect("it runs");
        assert_eq!(plan(&s).to_string(), expected);
        assert_eq!(run.manifest.plan.as_deref(), Some(expected));
    }
    let fused =
        run_with(&text("", greedy, ""), &mut Quiet, Shortcuts::CutThrough).expect("it runs");
    let asked = Plan::Events(Because::Asked).to_string();
    assert_eq!(fused.0.manifest.plan, Some(asked));
}

/// Windows would cost more than they save if hardly a packet fits into the shortest of them.
#[test]
fn short_links_have_events() {
    let s = scenario(
        "duration = \"10 s\"\n\
         [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"20 Mbps\"\ndelay = \"1 us\"\n\
         queue = { discipline = \"droptail\", limit = \"40 pkt\" }\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\ncount = 3\ncontroller = \"newreno\"\n",
    );
    let [fused, windows] = same(&s);
    assert_eq!(windows, fused);
    assert!(matches!(plan(&s), Plan::Events(Because::Short)));
}
