//! RED's signals to Reno, and Vegas' base round-trip time, against closed forms.

use crate::common::{fluid, last};
use accord_record::Run;
use accord_scenario::{Entity, Metric, Scenario};
use accord_solver::Demand;

const MODELS: [&str; 2] = ["integrator", "ack-clocked"];

/// The capacity of 10 Mbps, in packets of 1000 bytes per second.
const CAPACITY: f64 = 1250.0;

/// Returns the only recorded link.
fn bottleneck(s: &Scenario) -> Entity {
    Entity::Link(s.links.iter().position(|l| !l.attachment).unwrap())
}

/// Eight Reno flows over RED.
fn reno_over_red(model: &str, ecn: bool, times: &str) -> (Scenario, Run) {
    fluid(&format!(
        "{times}\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"20 ms\"\n\
         queue = {{ discipline = \"red\", min_threshold = \"20 pkt\", max_threshold = \"120 pkt\", max_probability = 0.1, weight = 0.0005, ecn = {ecn}, limit = \"unlimited\" }}\n\
         [flow.f]\ncount = 8\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"reno\", ecn = {ecn} }}\n\
         processing = \"0 s\"\n"
    ))
}

/// Returns the queue in packets and the dropped or marked share m: the average equals the queue, p
/// is on RED's line from 20 to 120 packets, marks are evenly spaced over 1 to 1/p packets, and
/// eight rates √(2·(1 − m)/m) over the round-trip time [Low02 §3.2] add up to `offered` times the
/// capacity.
fn rest(base_rtt: f64, offered: impl Fn(f64) -> f64) -> (f64, f64) {
    let share = |queue: f64| {
        let spacing = 0.5 * (1.0 + 100.0 / (0.1 * (queue - 20.0)));
        spacing.recip()
    };
    let (mut low, mut high) = (20.0, 120.0);
    for _ in 0..100 {
        let queue = 0.5 * (low + high);
        let m = share(queue);
        let round_trip = base_rtt + queue / CAPACITY;
        let reno = Demand::Reno { round_trip };
        if 8.0 * reno.rate(m) > offered(m) * CAPACITY { low = queue } else { high = queue }
    }
    (low, share(low))
}

/// Four CUBIC flows in their cubic region settle where RED's marking rate satisfies (C/(1 −
/// β))^(1/4)·(rtt/m)^(3/4) [RFC 9438 §5.1, with 1.0746 for 1.054].
#[test]
fn cubic_settles_at_red_s_marking_probability() {
    for model in MODELS {
        let (s, run) = fluid(&format!(
            "duration = \"400 s\"\nsample = \"200 ms\"\nfluid = {{ link_model = \"{model}\" }}\n\
             [topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"90 ms\"\n\
             queue = {{ discipline = \"red\", min_threshold = \"20 pkt\", max_threshold = \"120 pkt\", max_probability = 0.01, weight = 0.0005, ecn = true, limit = \"unlimited\" }}\n\
             [flow.f]\ncount = 4\nfrom = \"left\"\nto = \"right\"\ncontroller = {{ name = \"cubic\", ecn = true }}\n\
             processing = \"0 s\"\n"
        ));
        let queue = last(&run, Metric::BacklogPackets, bottleneck(&s));
        let rtt = last(&run, Metric::Rtt, Entity::Flow(0));
        let p = 0.01 * (queue - 20.0) / 100.0;
        let window = (0.4_f64 / 0.3).powf(0.25) * (rtt * (1.0 + p) / (2.0 * p)).powf(0.75);
        let rate = 4.0 * window / rtt;
        assert!((rate / CAPACITY - 1.0).abs() < 0.01, "{model}: {rate} at {queue} packets");
        assert!(
            window > 1.3 * (9.0 / 17.0 / 0.3 * (1.0 + p) / (2.0 * p)).sqrt(),
            "the cubic region"
        );
    }
}

/// CoDel increases its drop rate until an unresponsive flow fits: it drops the n-th packet
/// interval·Σ 1/√k, k < n, after the first [RFC 8289 §3.3], and in the long run an eleventh of 11
/// Mbps over 10.
#[test]
fn codel_increases_its_drop_rate_without_a_response() {
    let (s, run) = fluid(
        "duration = \"120 s\"\nsample = \"50 ms\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"20 ms\"\n\
         queue = { discipline = \"codel\", limit = \"unlimited\" }\n\
         [flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\nprocessing = \"0 s\"\n\
         demand = { constant = \"11 Mbps\" }\n",
    );
    let drops = &run.series(Metric::Drops, bottleneck(&s)).expect("it is recorded").values;
    // 5 ms are queued after 50 ms, and the first packet is dropped an interval later.
    let (mut at, mut found, mut sample) = (0.15, 0.0, 0);
    for n in 1..=100 {
        while run.time[sample] < at {
            found += drops[sample];
            sample += 1;
        }
        // A sample has up to 6 drops, and the staircase deviates from its middle by half a step.
        assert!((f64::from(n) - found).abs() < 7.0, "{found} for {n} at {at} s");
        at += 0.1 / f64::from(n).sqrt();
    }
    let half = drops.len() / 2;
    let lost: f64 = drops[half..].iter().sum();
    let came = 11e6 / 8e3 * 60.0;
    assert!((lost / came * 11.0 - 1.0).abs() < 0.02, "{lost} of {came}");
}

/// Marks take no capacity. Dropped packets do not enter the queue, so flows send much more and
/// the link is full.
#[test]
fn reno_settles_at_red_s_marking_probability() {
    for (model, ecn) in MODELS.into_iter().flat_map(|m| [(m, true), (m, false)]) {
        let (s, run) = reno_over_red(model, ecn, "duration = \"400 s\"\nsample = \"200 ms\"");
        let (link, flow) = (bottleneck(&s), Entity::Flow(7));
        let queue = last(&run, Metric::BacklogPackets, link);
        let base_rtt = last(&run, Metric::Rtt, flow) - queue / CAPACITY;
        let offered = |m: f64| if ecn { 1.0 } else { 1.0 / (1.0 - m) };
        let (expected, share) = rest(base_rtt, offered);
        let near = |what: &str, is: f64, should: f64| {
            let off = (is / should - 1.0).abs();
            assert!(off < 1e-6, "{model}, ecn {ecn}, {what}: {is} {should}");
        };
        near("queue", queue, expected);
        let sent = last(&run, Metric::SendingRate, flow) / 8e3;
        near("rate", sent, offered(share) * CAPACITY / 8.0);
        let count = |metric| last(&run, metric, link) / (0.2 * 8.0 * sent);
        let (signalled, other) = if ecn {
            (count(Metric::Marks), count(Metric::Drops))
        } else {
            (count(Metric::Drops), count(Metric::Marks))
        };
        near("share", signalled, share);
        near("served", last(&run, Metric::Utilisation, link), 1.0);
        assert_eq!(other, 0.0, "{model}, ecn {ecn}");
    }
}

/// An unresponsive flow fills the queue at r − c. The average lags behind by (r − c)/g in the end,
/// g = −ln(1 − w)·r: RED drops nothing until the average exceeds the threshold.
#[test]
fn red_acts_on_the_average_not_on_the_queue() {
    let (s, run) = fluid(
        "duration = \"2 s\"\nsample = \"2 ms\"\nfluid = { link_model = \"integrator\" }\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\n\
             queue = { discipline = \"red\", min_threshold = \"20 pkt\", max_threshold = \"120 pkt\", weight = 0.0005, limit = \"unlimited\" }\n\
             [flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\ndemand = { constant = \"11 Mbps\" }\n",
    );
    let of = |metric| &run.series(metric, bottleneck(&s)).unwrap().values;
    let (drops, queue) = (of(Metric::Drops), of(Metric::BacklogPackets));
    let first = drops.iter().position(|d| *d > 0.0).unwrap();
    let (growth, gain) = (1375.0 - CAPACITY, -(0.9995f64.ln()) * 1375.0);
    let time = queue[first] / growth;
    let average = growth * (time - (1.0 - (-gain * time).exp()) / gain);
    assert!((average - 20.0).abs() < 0.2, "{average}");
    assert!(queue[first] > 60.0, "{}", queue[first]);
}

/// One flow. At 2 s the base round-trip time grows by 40 ms.
fn longer_path(controller: &str, model: &str) -> (Scenario, Run) {
    fluid(&format!(
        "duration = \"25 s\"\nsample = \"20 ms\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"12 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
         [flow.f]\nfrom = \"left\"\nto = \"right\"\ncontroller = {controller}\n\
         [[event]]\nat = \"2 s\"\nlink = \"bottleneck\"\ndirection = \"forward\"\ndelay = \"52 ms\"\n"
    ))
}

/// The base round-trip time before the change: 24 ms, a data packet over links of 10, 10 and 10
/// Mbps and its acknowledgement of 40 bytes back.
const BASE: f64 = 24.832e-3;
const LONGER: f64 = 64.832e-3;

/// [Xia05 figure 5]: 40 ms of extra propagation look like a queue, in which Vegas keeps β = 3
/// packets.
#[test]
fn vegas_takes_a_longer_path_for_a_queue() {
    for model in MODELS {
        let (s, run) = longer_path("\"vegas\"", model);
        let flow = Entity::Flow(0);
        assert!((last(&run, Metric::MinRtt, flow) - BASE).abs() < 1e-9);
        assert!((last(&run, Metric::Rtt, flow) - LONGER).abs() < 1e-9);
        let rate = last(&run, Metric::SendingRate, flow) / 8e3;
        assert!((rate - 3.0 / 0.04).abs() < 1e-6, "{model}: {rate}");
        assert_eq!(last(&run, Metric::Backlog, bottleneck(&s)), 0.0);

        // With the known base round-trip time, it keeps one to three packets in the queue.
        let (s, run) = longer_path("{ name = \"vegas\", base_rtt = \"known\" }", model);
        assert!((last(&run, Metric::MinRtt, flow) - LONGER).abs() < 1e-9);
        let rate = last(&run, Metric::SendingRate, flow) / 8e3;
        assert!((rate / CAPACITY - 1.0).abs() < 1e-6, "{model}: {rate}");
        let queue = last(&run, Metric::BacklogPackets, bottleneck(&s));
        assert!((1.0..3.0).contains(&queue), "{model}: {queue}");
    }
}

/// Vegas-k learns the longer path after k packets, and a shorter one at once.
#[test]
fn vegas_k_learns_the_longer_path_after_k_packets() {
    for (model, k) in MODELS.into_iter().flat_map(|m| [(m, 700.0), (m, 1000.0)]) {
        let controller = format!("{{ name = \"vegas-k\", k = {k} }}");
        let (_, run) = longer_path(&controller, model);
        let of = |metric| &run.series(metric, Entity::Flow(0)).unwrap().values;
        let (base, rate) = (of(Metric::MinRtt), of(Metric::SendingRate));
        // Sample i covers the 20 ms that end at (i + 1)·20 ms.
        let change = 100;
        let learnt = (change..).find(|&i| base[i] > LONGER - 1e-9).unwrap();
        let packets: f64 = rate[change..=learnt].iter().map(|r| 0.02 * r / 8e3).sum();
        assert!((packets - k).abs() < 10.0, "{model}: {packets} for {k}");
        let rate = rate.last().unwrap() / 8e3;
        assert!((rate / CAPACITY - 1.0).abs() < 0.02, "{model}: {rate}");
    }
}

/// Conservation: sent bytes have been served or dropped, or are queued or on the wires, from the
/// first window on; and a link with a backlog serves at exactly its rate.
#[test]
fn bytes_are_conserved() {
    for model in MODELS {
        let times = "duration = \"60 s\"\nsample = \"5 ms\"";
        let (s, run) = reno_over_red(model, false, times);
        let of = |metric| &run.series(metric, bottleneck(&s)).unwrap().values;
        let (served, drops, queue) =
            (of(Metric::Utilisation), of(Metric::Drops), of(Metric::BacklogPackets));
        let rates: Vec<_> =
            (0..8).map(|f| run.series(Metric::SendingRate, Entity::Flow(f)).unwrap()).collect();
        let (mut came, mut went, mut book) = (0.0, 0.0, Vec::new());
        for i in 0..served.len() {
            let sent = rates.iter().map(|r| r.values[i]).sum::<f64>() / 8e3;
            came += 5e-3 * sent;
            went += 5e-3 * CAPACITY * served[i] + drops[i];
            assert!(served[i] < 1.0 + 1e-9, "{model}, {i}: {}", served[i]);
            if i > 0 && queue[i - 1].min(queue[i]) > 10.0 {
                assert!(served[i] > 1.0 - 1e-9, "{model}, {i}: {}", served[i]);
            }
            book.push(came - went - queue[i]);
        }
        // Samples of queues are means. ACK-clocked sources learn of the queue a round trip late.
        // While it grows the balance is off, by at most the queue; in equilibrium it must not
        // drift.
        let longest = queue.iter().copied().fold(0.0, f64::max);
        let most = if model == "integrator" { 6.0 } else { longest };
        let worst = book.iter().fold(0.0f64, |w, b| w.max(b.abs()));
        assert!(worst < most, "{model}: {worst} of {came}");
        let leak = book[book.len() - 1] - book[book.len() / 2];
        assert!(leak.abs() < 0.01, "{model}: {leak} of {came}");
        assert!(drops.iter().sum::<f64>() > 1000.0);
    }
}

/// 4 Mbps and 1 Mbps, of which the first wire loses a tenth: 4.5 Mbps come to the second link. A
/// second wire that loses a fifth leaves 2.88 Mbps of the larger flow.
#[test]
fn data_arrives_less_the_losses_of_the_wires() {
    for (second, left) in [(0.0, 3.6e6), (0.2, 2.88e6)] {
        let (s, run) = fluid(&format!(
            "duration = \"20 s\"\nsteady = [\"5 s\", \"20 s\"]\n\
             [link.one]\nfrom = \"a\"\nto = \"m\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nloss = 0.1\n\
             queue = {{ discipline = \"droptail\", limit = \"100 KB\" }}\n\
             [link.two]\nfrom = \"m\"\nto = \"b\"\nrate = \"10 Mbps\"\ndelay = \"5 ms\"\nloss = {second}\n\
             queue = {{ discipline = \"droptail\", limit = \"100 KB\" }}\n\
             [flow.f]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"none\"\ndemand = {{ constant = \"4 Mbps\" }}\n\
             [flow.p]\nfrom = \"a\"\nto = \"b\"\ncontroller = \"none\"\ndemand = {{ constant = \"1 Mbps\" }}\n"
        ));
        let two = s.links.iter().position(|l| l.name == "two").unwrap();
        for (metric, entity, expected) in [
            (Metric::Throughput, Entity::Flow(0), left),
            (Metric::SendingRate, Entity::Flow(0), 4e6),
            (Metric::ServedRate, Entity::Link(two), 4.5e6),
            (Metric::PathLossRatio, Entity::Flow(0), 1.0 - left / 4e6),
        ] {
            let found = run.mean(metric, entity, s.steady).unwrap();
            let error = (found / expected - 1.0).abs();
            assert!(error < 1e-3, "{metric}: {found}, not {expected}");
        }
    }
}

/// Returns the mean over time of a window that grows by a packet per round trip and is halved at a loss, of
/// independent losses of probability `p`: packet by packet, each of which takes the part 1/w of a round trip.
fn mean_window(p: f64) -> f64 {
    let (mut state, mut window, mut time) = (1u64, 10.0, 0.0);
    let packets = 4_000_000;
    for _ in 0..packets {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let draw = (state >> 11) as f64 / (1u64 << 53) as f64;
        time += 1.0 / window;
        window = if draw < p { 0.5 * window } else { window + 1.0 / window };
    }
    f64::from(packets) / time
}

/// A wire that loses a packet in a hundred, and no queue: the mean window is that of independent losses.
#[test]
fn newreno_responds_to_the_losses_of_a_wire() {
    let (s, run) = fluid(
        "duration = \"60 s\"\nsteady = [\"20 s\", \"60 s\"]\n\
         topology.dumbbell = { rate = \"1 Gbps\", delay = \"20 ms\", loss = 0.01 }\n\
         [flow.f]\ncount = 10\nfrom = \"left\"\nto = \"right\"\ncontroller = \"newreno\"\n",
    );
    let found = run.mean(Metric::Cwnd, Entity::Flow(0), s.steady).unwrap();
    let expected = mean_window(0.01) * s.flows[0].packet.as_f64();
    assert!((found / expected - 1.0).abs() < 0.02, "{found}, not {expected}");
}

/// 12 Mbps that cannot be marked over 10 Mbps, behind REM: with dropped packets among the arrivals the
/// price rises without end, without them it rests where five of six pass.
#[test]
fn rem_passes_the_rate_of_its_link_if_it_counts_what_enters() {
    for (counts, passes) in [(true, 0.0), (false, 1.0)] {
        let (s, run) = fluid(&format!(
            "duration = \"200 s\"\nsample = \"1 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"20 ms\"\n\
             queue = {{ discipline = \"rem\", limit = \"1000 pkt\", count_dropped = {counts} }}\n\
             [flow.u]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"none\"\ndemand = {{ constant = \"12 Mbps\" }}\n"
        ));
        let used = last(&run, Metric::Utilisation, bottleneck(&s));
        assert!((used - passes).abs() < 0.01, "{counts}: {used}");
    }
}

/// The fluid does not model the idle time after losses that few flows have together. By [Appenzeller,
/// Keslassy, McKeown 2004] n flows need 1/√n of the product, which is 50 packets.
#[test]
fn too_few_flows_for_a_buffer_are_noted() {
    for (controller, flows, packets, noted) in [
        ("newreno", 1, 10, true),
        ("newreno", 1, 60, false),
        ("newreno", 100, 10, false),
        ("cubic", 4, 10, true),
        ("vegas", 1, 10, false),
        ("vegas", 8, 10, true),
        ("monaco", 1, 10, false),
        ("monaco", 4, 10, true),
    ] {
        let (_, run) = fluid(&format!(
            "duration = \"1 s\"\ntopology.dumbbell = {{ rate = \"10 Mbps\", delay = \"20 ms\", \
             queue = {{ discipline = \"droptail\", limit = \"{packets} pkt\" }} }}\n\
             [flow.f]\ncount = {flows}\nfrom = \"left\"\nto = \"right\"\n\
             controller = \"{controller}\"\nprocessing = \"0 s\"\n"
        ));
        let notes = run.notes.join("\n");
        let found = notes.contains("bottleneck has too few flows for its buffer");
        assert_eq!(found, noted, "{controller} {flows} {packets}: {notes}");
    }
}

/// As above, for the thresholds of RED, and for REM, which keeps no queue.
#[test]
fn too_few_flows_for_a_discipline_are_noted() {
    for (discipline, controller, flows, noted) in [
        ("red", "newreno", 4, true),
        ("red", "newreno", 100, false),
        ("red", "monaco", 1, false),
        ("red", "monaco", 4, true),
        ("rem", "newreno", 4, true),
        ("rem", "vegas-rem", 4, false),
    ] {
        let (_, run) = fluid(&format!(
            "duration = \"1 s\"\ntopology.dumbbell = {{ rate = \"10 Mbps\", delay = \"20 ms\", \
             queue = {{ discipline = \"{discipline}\", limit = \"1000 pkt\" }} }}\n\
             [flow.f]\ncount = {flows}\nfrom = \"left\"\nto = \"right\"\n\
             controller = \"{controller}\"\nprocessing = \"0 s\"\n"
        ));
        let notes = run.notes.join("\n");
        let found = notes.contains("bottleneck has too few flows for its buffer");
        assert_eq!(found, noted, "{discipline} {controller} {flows}: {notes}");
    }
}
