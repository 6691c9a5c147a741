//! Runs of applications in windows equal, bit for bit, those with an event per packet that reaches a link:
//! transfers, sources that pause, web users, video, and flows without congestion control.

use crate::common::scenario;
use crate::windows::compared;
use accord_sim::{Plan, plan};
use proptest::prelude::*;

/// The kinds of flows: the controller, the demand and other keys.
const FLOWS: [&str; 19] = [
    "controller = \"newreno\"",
    "controller = \"newreno\"\ndemand = { size = \"300 kB\" }",
    "controller = \"cubic\"\ndemand = { size = \"700 kB\" }\npacing = true",
    "controller = { name = \"cubic\", rack = true }\n\
     demand = { on_off = { burst = \"40 kB\", pause = { exponential = \"100 ms\" } } }",
    "controller = \"vegas\"\n\
     demand = { on_off = { rate = \"4 Mbps\", burst = \"30 kB\", pause = { pareto = { mean = \"90 ms\", shape = 1.5 } } } }",
    "controller = \"newreno\"\ndemand = { on_off = { burst = \"1500 B\", pause = \"20 ms\" } }",
    "controller = \"cubic\"\ndemand = { web = { think_least = \"50 ms\", off_scale = \"10 ms\" } }",
    "controller = \"bbr3\"\ndemand = { web = { think_least = \"70 ms\", off_scale = \"20 ms\" } }",
    "controller = \"bbr3\"",
    "controller = \"copa\"\ndemand = { size = \"2 MB\" }",
    "controller = \"monaco\"",
    "controller = \"monaco\"\ndemand = { size = \"500 kB\" }",
    "controller = \"monaco\"\n\
     demand = { on_off = { rate = \"5 Mbps\", burst = \"60 kB\", pause = { exponential = \"150 ms\" } } }",
    "controller = \"none\"\ndemand = { constant = \"2 Mbps\" }\nprocessing = \"packet\"",
    "controller = \"none\"\ndemand = { poisson = \"3 Mbps\" }",
    "controller = \"none\"\ndemand = { poisson = \"3 Mbps\" }\n\
     packet = { mix = { \"200 B\" = 9, \"1500 B\" = 1 } }",
    "controller = \"none\"\n\
     demand = { on_off = { rate = \"6 Mbps\", burst = \"20 kB\", pause = { exponential = \"50 ms\" } } }",
    "controller = \"cubic\"\ndemand = { media = {} }",
    "controller = \"newreno\"\ndemand = { constant = \"8 Mbps\" }",
];

/// Flows over a bottleneck and, some of them, a second link.
fn mixed(flows: &[(usize, &str, &str, usize)], queue: &str, more: &str) -> String {
    let mut text = format!(
        "duration = \"4 s\"\nsample = \"37 ms\"\n\
         [link.ab]\nfrom = \"a\"\nto = \"b\"\nrate = \"16 Mbps\"\ndelay = \"9 ms\"\n{more}\
         queue = {{ discipline = \"{queue}\", limit = \"30 pkt\" }}\n\
         [link.bc]\nfrom = \"b\"\nto = \"c\"\nrate = \"12 Mbps\"\ndelay = \"4 ms\"\n\
         queue = {{ discipline = \"droptail\", limit = \"25 pkt\" }}\n"
    );
    for (i, (kind, from, to, count)) in flows.iter().enumerate() {
        let access = if i % 2 == 0 {
            "access = { rate = \"80 Mbps\", delay = \"2 ms\" }\n"
        } else {
            "egress = { rate = \"16 Mbps\", delay = \"1 ms\" }\n"
        };
        let times = match i % 4 {
            0 => "",
            1 => "start = \"400 ms\"\n",
            2 => "start = { uniform = [\"0 s\", \"1 s\"] }\nstop = \"3 s\"\n",
            _ => "start = \"37 ms\"\nstop = \"2 s\"\n",
        };
        text += &format!(
            "[flow.f{i}]\nfrom = \"{from}\"\nto = \"{to}\"\ncount = {count}\n{}\n{access}{times}",
            FLOWS[*kind]
        );
    }
    text
}

/// Each kind of flow, alongside a greedy one.
#[test]
fn each_application_alone() {
    for (kind, text) in FLOWS.iter().enumerate() {
        let s = scenario(&mixed(&[(kind, "a", "b", 3), (0, "a", "c", 1)], "droptail", ""));
        assert!(matches!(plan(&s), Plan::Windows(_)), "{text}: {}", plan(&s));
        let (_, hops) = compared(&s);
        assert!(hops > 5_000, "{text}: {hops} hops");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Applications of all kinds together, in both directions, with losses on a wire, with and without
    /// waiting at links.
    #[test]
    fn applications_together(
        flows in prop::collection::vec(
            (
                0..FLOWS.len(),
                prop::sample::select(vec![("a", "b"), ("a", "c"), ("b", "a"), ("c", "a"), ("b", "c")]),
                1..4usize,
            ),
            2..6,
        ),
        queue in prop::sample::select(vec!["droptail", "red", "codel", "fq-codel", "pie", "dualpi2"]),
        more in prop::sample::select(vec!["", "loss = \"0.5 %\"\n"]),
    ) {
        let flows: Vec<_> =
            flows.into_iter().map(|(kind, (from, to), count)| (kind, from, to, count)).collect();
        let s = scenario(&mixed(&flows, queue, more));
        prop_assert!(matches!(plan(&s), Plan::Windows(_)), "{}", plan(&s));
        compared(&s);
    }
}
