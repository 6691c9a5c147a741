//! Services as a fluid [Har02 algorithm 1]: integration settles at the equilibrium of theory.

use crate::common::{fluid, last, scenario, window};
use accord_fluid::run;
use accord_record::Quiet;
use accord_scenario::{Entity, Metric};

const MODELS: [&str; 2] = ["integrator", "ack-clocked"];

/// Returns the rates of the flows active at the end, in Mbit/s, after comparison with theory to six
/// digits.
fn settled(text: &str) -> Vec<f64> {
    let (s, run) = fluid(text);
    let theory = accord_theory::run(&s, &mut Quiet).expect("a problem");
    let mut rates = Vec::new();
    for f in (0..s.flows.len()).filter(|&f| s.flows[f].stop.is_none()) {
        let of = |run, metric| last(run, metric, Entity::Flow(f));
        let is = of(&run, Metric::SendingRate);
        let should = of(&theory, Metric::Throughput);
        let name = &s.flows[f].name;
        assert!((is / should - 1.0).abs() < 1e-6, "{name}: {is} {should}");
        let (is_queued, queued) =
            (of(&run, Metric::Accumulation), of(&theory, Metric::Accumulation));
        assert!((is_queued - queued).abs() < 1e-5 * queued + 1e-3, "{name}: {is_queued} {queued}");
        rates.push(is / 1e6);
    }
    for (l, link) in s.links.iter().enumerate().filter(|(_, l)| !l.attachment) {
        let of = |run| last(run, Metric::Price, Entity::Link(l));
        let (is, should) = (of(&run), of(&theory));
        assert!((is - should).abs() < 1e-6 * should.max(1e-4), "{}: {is} {should}", link.name);
    }
    rates
}

fn link(model: &str, seconds: u32, rate: &str, queue: &str) -> String {
    format!(
        "duration = \"{seconds} s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"{rate}\"\ndelay = \"10 ms\"\nqueue = {{ discipline = {queue}, limit = \"unlimited\" }}\n"
    )
}

fn flow(name: &str, policy: &str, gain: f64, service: &str) -> String {
    format!(
        "[flow.{name}]\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", policy = \"{policy}\", gain = {gain}, mw_gain = \"1 Mbps\" }}\nservice = {service}\n"
    )
}

/// 30 Mbit/s: contracts of 10 and 12, the second limited to 9 KB, weights 3 and 1. With eq. 18 the
/// 20 beyond the first contract are shared by 3 + 9 + 9 + 3 KB.
#[test]
fn contracts_weights_and_limits_settle_at_the_equilibrium() {
    for model in MODELS {
        for policy in ["p", "mw"] {
            let flow = |name, service| flow(name, policy, 0.25, service);
            let text = link(model, 240, "30 Mbps", "\"droptail\"")
                + &flow("a", "{ contract = \"10 Mbps\" }")
                + &flow("b", "{ contract = \"12 Mbps\", limit = \"9 KB\" }")
                + &flow("c", "{ weight = 3 }")
                + &flow("d", "{ contract = \"0 bps\", limit = \"1 MB\" }")
                + &flow("gone", "{ contract = \"5 Mbps\" }")
                + "start = \"20 s\"\nstop = \"40 s\"\n";
            for (is, should) in settled(&text).into_iter().zip([12.5, 7.5, 7.5, 2.5]) {
                assert!((is - should).abs() < 1e-4, "{model} {policy}: {is} {should}");
            }
        }
    }
}

/// All contracts of [Har02 figure 6] together, on a tenth of its capacity: every flow is at its
/// limit.
#[test]
fn an_oversubscribed_parking_lot_settles_at_the_limits() {
    for model in MODELS {
        let mut text = format!(
            "duration = \"120 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.parking_lot]\nbottlenecks = 3\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
             [flow.cross]\neach_hop = true\ncontroller = {{ name = \"monaco\", gain = 0.25 }}\nservice = {{ weight = 4 }}\n"
        );
        for (j, (contract, limit)) in
            [(3.0, 60), (3.5, 75), (5.0, 60), (1.0, 15)].into_iter().enumerate()
        {
            text += &format!(
                "[flow.long{j}]\nfrom = \"r0\"\nto = \"r3\"\ncontroller = {{ name = \"monaco\", gain = 0.25 }}\nservice = {{ contract = \"{contract} Mbps\", limit = \"{limit} KB\" }}\n"
            );
        }
        // Weights of 60, 75, 60, 15 on all three links, 12 on each: 10/246 per KB.
        let rates = settled(&text);
        let long = [60.0, 75.0, 60.0, 15.0].map(|limit| limit * 10.0 / 246.0);
        for (is, should) in rates[rates.len() - 4..].iter().zip(long) {
            assert!((is - should).abs() < 1e-4, "{model}: {is} {should}");
        }
    }
}

/// A virtual queue, whose backlog is shorter than its delay implies.
#[test]
fn a_contract_over_a_virtual_queue() {
    for model in MODELS {
        let big = |name, service: &str| {
            flow(name, "p", 0.2, service)
                .replace("name = \"monaco\"", "name = \"monaco\", target = \"60 pkt\"")
        };
        let text = link(model, 300, "30 Mbps", "\"avd\", utilisation = 0.9")
            + &big("a", "{ contract = \"12 Mbps\" }")
            + &big("b", "{ weight = 2 }");
        for (is, should) in settled(&text).into_iter().zip([17.0, 10.0]) {
            assert!((is - should).abs() < 1e-4, "{model}: {is} {should}");
        }
    }
}

/// Runs with extreme services end with finite values.
#[test]
fn wild_services_run() {
    for service in [
        "{ contract = \"0 bps\" }",
        "{ contract = \"1 bps\", weight = 1e-6, limit = \"1 KB\" }",
        "{ contract = \"100 Tbps\", limit = \"1 GB\" }",
        "{ contract = \"100 Tbps\" }",
        "{ weight = 1e6 }",
    ] {
        for policy in ["p", "mw", "aiad"] {
            let text =
                link("ack-clocked", 3, "10 Mbps", "\"droptail\"").replace("unlimited", "50 KB");
            let other = flow("g", policy, 0.3, "{ contract = \"3 Mbps\", limit = \"30 KB\" }");
            let s = scenario(&(text + &flow("f", policy, 0.3, service) + &other));
            let run = run(&s, &mut Quiet).expect("it runs");
            for f in 0..2 {
                let rate = last(&run, Metric::SendingRate, Entity::Flow(f));
                assert!(rate.is_finite() && rate >= 0.0, "{service} {policy}: {rate}");
            }
        }
    }
}

/// A buffer half as large as the targets of its four flows. Losses and growth balance at (1 −
/// P)·κ·(a* − a) = P·a / 2. With κ = 0.5 and a at half of the target, P is a half: each flow loses
/// half a packet per round trip. The loss fraction is the same for all flows, so equal flows
/// stay equal. The gain of this loop is a*/2 per packet and round trip: with a target of three
/// packets it cycles. A bound of 5 % would be exceeded before equilibrium, and windows would halve.
#[test]
fn where_a_loss_halves_what_is_queued_a_short_buffer_loses_half_a_packet_per_round_trip() {
    for model in MODELS {
        let text = format!(
            "duration = \"200 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"2000 B\" }}\n\
             [flow.f]\ncount = 4\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", target = \"1000 B\", loss = \"accumulation\", loss_bound = 0.5 }}\n"
        );
        let (s, run) = fluid(&text);
        let rtt = 0.0204 + 2000.0 * 8.0 / 20e6;
        for f in 0..s.flows.len() {
            let mean = |metric| {
                run.mean(metric, Entity::Flow(f), window(150.0, 200.0)).expect("it is recorded")
            };
            let lost = mean(Metric::SendingRate) - mean(Metric::Throughput);
            let expected = 0.5 * 8000.0 / rtt;
            assert!(
                (lost / expected - 1.0).abs() < 0.05,
                "{model}, flow {f}: {lost} bps of {expected}"
            );
            let queued = mean(Metric::Accumulation);
            assert!((queued / 500.0 - 1.0).abs() < 0.02, "{model}: {queued} B");
        }
    }
}

/// A slightly short buffer, and a contract of 8 Mbps. Losses spare the contract; they do not if
/// they halve windows.
#[test]
fn a_short_buffer_takes_no_contract_where_a_loss_halves_what_is_queued() {
    let rate = |loss: &str| {
        let (_, run) = fluid(&format!(
            "duration = \"100 s\"\n[topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"10 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"3400 B\" }}\n\
             [flow.site]\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", target = \"1000 B\", loss = \"{loss}\" }}\nservice = {{ contract = \"8 Mbps\" }}\n\
             [flow.f]\ncount = 3\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"monaco\", target = \"1000 B\", loss = \"{loss}\" }}\n"
        ));
        let mean = run.mean(Metric::Throughput, Entity::Flow(0), window(60.0, 100.0));
        mean.expect("it is recorded") / 1e6
    };
    let (halved, kept) = (rate("window"), rate("accumulation"));
    assert!(halved < 7.0 && kept > 7.9, "{halved} and {kept} Mbps");
}

/// A sample of 100 ms is hundreds of histories of this path long. What arrives is counted before it is forgotten, from
/// the first sample on, after a change of the path, and for a transfer of 16 ms.
#[test]
fn samples_may_be_longer_than_histories() {
    let constant = "duration = \"1 s\"\nsample = \"100 ms\"\n[link]\n\
         ab = { from = \"a\", to = \"b\", rate = \"1 Gbps\", delay = \"10 us\" }\n\
         ac = { from = \"a\", to = \"c\", rate = \"1 Gbps\", delay = \"10 us\" }\n\
         cb = { from = \"c\", to = \"b\", rate = \"1 Gbps\", delay = \"10 us\" }\n\
         [flow.x]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"none\"\ndemand = { constant = \"990 Mbps\" }\n\
         [[event]]\nat = \"500 ms\"\nflow = \"x\"\npath = [\"a\", \"c\", \"b\"]\n";
    let (_, run) = fluid(constant);
    let rates = &run.series(Metric::Throughput, Entity::Flow(0)).expect("it is recorded").values;
    assert_eq!(rates.len(), 10);
    for rate in rates {
        assert!((rate / 990e6 - 1.0).abs() < 2e-3, "{rates:?}");
    }
    let short = "duration = \"1 s\"\nsample = \"100 ms\"\n[link]\n\
         ab = { from = \"a\", to = \"b\", rate = \"10 Gbps\", delay = \"10 us\", queue = { discipline = \"droptail\", limit = \"1 MB\" } }\n\
         [flow]\nlong = { from = \"a\", to = \"b\", controller = \"monaco\" }\n\
         short = { from = \"a\", to = \"b\", controller = \"monaco\", demand = { size = \"10 MB\" }, start = \"600 ms\" }\n";
    let (_, run) = fluid(short);
    let rates = &run.series(Metric::Throughput, Entity::Flow(1)).expect("it is recorded").values;
    assert!((rates[6] / 800e6 - 1.0).abs() < 1e-4, "10 MB in 100 ms: {rates:?}");
    assert!(rates[7..].iter().all(|rate| rate.is_nan() || *rate < 1.0), "{rates:?}");
}

/// The next queue counts the drops of a queue before it, and the run says so.
#[test]
fn drops_that_load_the_next_queue_have_a_note() {
    let text = |first: u32| {
        format!(
            "duration = \"5 s\"\n[link]\n\
             ab = {{ from = \"a\", to = \"b\", rate = \"{first} Mbps\", delay = \"10 ms\", queue = {{ discipline = \"droptail\", limit = \"100 KB\" }} }}\n\
             bc = {{ from = \"b\", to = \"c\", rate = \"9 Mbps\", delay = \"10 ms\", queue = {{ discipline = \"droptail\", limit = \"100 KB\" }} }}\n\
             [flow.x]\nfrom = \"a\"\nto = \"c\"\ncontroller = \"none\"\ndemand = {{ constant = \"20 Mbps\" }}\n"
        )
    };
    for (first, says) in [(10, true), (30, false)] {
        let (_, run) = fluid(&text(first));
        let said = run.notes.iter().any(|note| note.contains("load bc all the same"));
        assert_eq!(said, says, "{first} Mbps: {:?}", run.notes);
    }
}
