//! Difficult paths: traces, token buckets, jitter, reordering, and changes to acknowledgements. The
//! timetables were worked out by hand.
use crate::common;

use crate::common::scenario;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_sim::{Audit, Shortcuts, run_with};
use accord_traffic::Demand;
use accord_units::{Duration, Rate};

/// One link from a to b, with these keys, and a flow over it alone. Samples are of 1 ms.
fn one_link(duration: &str, link: &str, flow: &str) -> Scenario {
    scenario(&format!(
        "duration = \"{duration}\"\nsample = \"1 ms\"\n\
         [link.ab]\nfrom = \"a\"\nto = \"b\"\n{link}\n\
         [flow.f]\nfrom = \"a\"\nto = \"b\"\n{flow}\n"
    ))
}

/// Runs with all shortcuts and with none, which have to agree. The packets of every port and every
/// flow are conserved.
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

/// Returns the samples with deliveries, and the number of these.
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
    let expected = [(2, 1), (3, 2), (10, 1), (12, 2), (13, 3), (20, 1), (22, 2), (23, 3), (30, 1)];
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

/// Other queue disciplines judge the packets that wait for a trace, and endpoints have their loops
/// over it.
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
        let used = run.mean(Metric::Utilisation, Entity::Link(0), common::window(1.0, 3.0));
        assert!(used > Some(0.5), "{queue}, {controller}: {used:?}");
        assert!(ports[0].left.packets > 500, "{queue}, {controller}");
    }
}

/// The mean delay of a packet on its way, in milliseconds.
fn mean_delay(run: &Run, from: f64, to: f64) -> f64 {
    let window = common::window(from, to);
    let mean = run.mean(Metric::OneWayDelay, Entity::Flow(0), window);
    mean.expect("recorded") * 1e3
}

/// A packet takes 0.08 ms at the port and 5 ms on the wire.
fn jittery(jitter: &str, flow: &str) -> Scenario {
    let link = format!("rate = \"100 Mbps\"\ndelay = \"5 ms\"\njitter = {jitter}");
    one_link("40 s", &link, flow)
}

/// Bounds are four standard errors of the mean of 40 000 draws. If the order is kept, a packet sent
/// g = 1 ms after another takes at least that packet's delay less g. So its delay is at most x if
/// its own draw is at most x, that of the previous packet at most x + g, and so on. For draws
/// uniform up to 3 ms the mean is 3 ms − ∫ F(x)·F(x + g)·F(x + 2·g) dx = 1.6574 ms.
#[test]
fn jitter_has_the_mean_of_its_law() {
    for (law, expected, bound) in [
        ("{ uniform = \"3 ms\", reorder = true }", 1.5, 0.02),
        ("{ uniform = \"3 ms\" }", 1.6574, 0.025),
        ("{ exponential = \"2 ms\", reorder = true }", 2.0, 0.04),
        // |N(0, 5 ms)|, cut at 15 ms: 5 · (√(2/π) − 0.00076).
        ("{ normal = \"5 ms\", reorder = true }", 3.9856, 0.06),
    ] {
        let (run, _, flows) = run(&jittery(law, EACH_MS));
        let added = mean_delay(&run, 0.0, 40.0) - 5.08;
        assert!((added - expected).abs() < bound, "{law}: {added}");
        assert_eq!(flows[0].dropped.packets, 0);
        // Packets on the wire do not count as queued.
        let queued = run.series(Metric::Accumulation, Entity::Flow(0)).expect("recorded");
        let most = queued.values.iter().copied().fold(0.0, f64::max);
        assert!(most <= 1000.0, "{law}: {most} B");
    }
}

/// Jitter that keeps the order has nothing sent again. Jitter that does not is taken for losses.
#[test]
fn jitter_keeps_the_order_unless_told_otherwise() {
    let flow = "controller = \"newreno\"\nstop = \"5 s\"";
    let again = |jitter: &str| {
        let mut s = jittery(jitter, flow);
        s.links[0].queue.limit = accord_scenario::Limit::Unlimited;
        s.duration = Duration::from_secs(5);
        let (run, ..) = run(&s);
        let sent = run.mean(Metric::Retransmissions, Entity::Flow(0), common::window(0.0, 5.0));
        sent.expect("recorded")
    };
    assert_eq!(again("{ uniform = \"3 ms\" }"), 0.0);
    assert!(again("{ uniform = \"3 ms\", reorder = true }") > 10.0);
}

/// Every third packet is delayed by a further 2.2 ms, so two others overtake it.
#[test]
fn packets_that_are_held_back_are_overtaken() {
    let link = "rate = \"80 Mbps\"\ndelay = \"500 us\"\nreorder = { delay = \"2.2 ms\", gap = 3 }";
    let (run, ..) = run(&one_link("12 ms", link, EACH_MS));
    // Packet k is sent at k + 0.5 ms and comes at k + 1.1 ms, or if it is held back at k + 3.3 ms.
    let expected = [(1, 1), (2, 1), (4, 1), (5, 2), (7, 1), (8, 2), (10, 1), (11, 2)];
    assert_eq!(timetable(&run), expected);
}

/// One byte per microsecond is allowed, and two are offered. The bucket of 3000 bytes lets packets
/// through at 0, 0.5, 1, 1.5 and 2 ms and is then empty, so every other packet finds its bytes.
#[test]
fn a_policer_drops_what_it_has_no_tokens_for() {
    let link = "rate = \"80 Mbps\"\ndelay = \"500 us\"\npolicer = { rate = \"8 Mbps\", burst = \"3000 B\" }";
    let flow = "controller = \"none\"\ndemand = { constant = \"16 Mbps\" }";
    let (run, ports, flows) = run(&one_link("99900 us", link, flow));
    assert_eq!(ports[0].entered.packets, 200);
    assert_eq!(ports[0].dropped.packets, 98);
    assert_eq!(flows[0].dropped.packets, 98);
    // No packet waits: all that pass find the line idle.
    let most = run.series(Metric::BacklogPacketsMax, Entity::Link(0));
    assert!(most.expect("recorded").values.iter().all(|n| *n <= 1.0));
}

/// Ten packets in a millisecond. The bucket of 2000 bytes sends two at once. Then a thousand bytes
/// come per millisecond, and a packet takes 0.1 ms more on the line.
#[test]
fn a_shaper_holds_what_it_has_no_tokens_for() {
    let link = "rate = \"80 Mbps\"\ndelay = \"500 us\"\nshaper = { rate = \"8 Mbps\", burst = \"2000 B\" }";
    let flow = "controller = \"none\"\ndemand = { constant = \"80 Mbps\" }\nstop = \"950 us\"";
    let mut s = one_link("10 ms", link, flow);
    s.links[0].queue.limit = accord_scenario::Limit::Unlimited;
    let (run, ports, _) = run(&s);
    let later = (1..9).map(|ms| (ms, 1));
    let expected: Vec<_> = std::iter::once((0, 2)).chain(later).collect();
    assert_eq!(timetable(&run), expected);
    assert_eq!(ports[0].dropped.packets, 0);
}

/// A scenario with data at 1 packet per millisecond, and acknowledgements over a link with these keys.
fn acknowledged(controller: &str, back: &str) -> Scenario {
    let link = format!("rate = \"80 Mbps\"\ndelay = \"500 us\"\n[link.ab.reverse]\n{back}");
    let flow = format!("controller = \"{controller}\"\ndemand = {{ constant = \"8 Mbps\" }}");
    one_link("4 s", &link, &flow)
}

/// A packet every 8 ms, at 0, 8, 6, 4 and 2 ms of the periods of 10 ms. Its acknowledgement is ready 1.104 ms
/// later. At the end of the period the round trip was 10, 2, 4, 6 and 8 ms long, 6 on average.
#[test]
fn acknowledgements_come_in_bursts() {
    let mut s = acknowledged("vegas", "ack_aggregation = \"10 ms\"");
    s.flows[0].demand = Demand::Constant(Rate::from_bps(1_000_000));
    let (run, ..) = run(&s);
    let rtt = run.mean(Metric::Rtt, Entity::Flow(0), common::window(1.0, 4.0));
    let rtt = rtt.expect("recorded") * 1e3;
    assert!((rtt - 6.0).abs() < 0.3, "{rtt}");
    let least = run.series(Metric::MinRtt, Entity::Flow(0)).expect("recorded");
    assert_eq!(least.values.last().map(|x| (x * 1e6).round()), Some(2000.0));
}

/// Acknowledgements of 40 bytes take 32 ms at 10 Kbps. One is in service and the latest one waits.
#[test]
fn acknowledgements_that_wait_are_thinned_out() {
    for queue in ["droptail", "codel", "fq-codel"] {
        let back = format!(
            "rate = \"10 Kbps\"\nack_thinning = true\nqueue = {{ discipline = \"{queue}\", limit = \"unlimited\" }}"
        );
        let (run, ports, flows) = run(&acknowledged("newreno", &back));
        let longest = run.series(Metric::BacklogPacketsMax, Entity::Link(1));
        let longest = &longest.expect("recorded").values;
        assert!(longest.iter().all(|n| *n <= 2.0), "{queue}");
        assert!(longest.contains(&2.0), "{queue}");
        // The first is ready after 0.6 ms.
        assert_eq!(ports[1].left.packets, (4000 - 1) / 32, "{queue}");
        assert!(ports[1].dropped.packets > 2000, "{queue}");
        // No data is lost or sent again.
        assert_eq!(flows[0].dropped.packets, 0);
        let again = run.mean(Metric::Retransmissions, Entity::Flow(0), common::window(0.0, 4.0));
        assert_eq!(again, Some(0.0), "{queue}");
    }
}

/// An acknowledgement with a gap is kept, so recovery with its blocks continues.
#[test]
fn thinning_keeps_acknowledgements_of_gaps() {
    let link = "rate = \"8 Mbps\"\ndelay = \"10 ms\"\nloss = 0.01\n[link.ab.reverse]\nrate = \"50 Kbps\"\nack_thinning = true\nloss = 0";
    let (run, ports, _) = run(&one_link("20 s", link, "controller = \"cubic\""));
    assert!(ports[1].dropped.packets > 100, "{:?}", ports[1]);
    let rate = run.mean(Metric::Goodput, Entity::Flow(0), common::window(5.0, 20.0));
    assert!(rate > Some(1e6), "{rate:?}");
}

/// Everything at once, with tunnels and streams, over links before and behind.
#[test]
fn all_parts_together_are_conserved_and_the_same_with_shortcuts() {
    let parts = "jitter = { exponential = \"500 us\", reorder = true }, reorder = { share = 0.05, delay = \"3 ms\" }, \
         policer = { rate = \"18 Mbps\", burst = \"60 KB\" }, shaper = { rate = \"15 Mbps\", burst = \"5 KB\" }, \
         ack_aggregation = \"4 ms\", ack_thinning = true, loss = 0.001";
    let s = scenario(&format!(
        "duration = \"5 s\"\n\
         topology.dumbbell = {{ rate = \"20 Mbps\", delay = \"10 ms\", {parts} }}\n\
         [flow.f]\ncount = 3\nfrom = \"left\"\nto = \"right\"\ncontroller = \"cubic\"\n\
         access = {{ rate = \"50 Mbps\", delay = \"1 ms\" }}\negress = {{ rate = \"50 Mbps\", delay = \"1 ms\" }}\n\
         [flow.t]\ncount = 2\nfrom = \"right\"\nto = \"left\"\ncontroller = \"monaco\"\n\
         access = {{ rate = \"50 Mbps\", delay = \"2 ms\" }}\negress = {{ rate = \"50 Mbps\", delay = \"1 ms\" }}\n\
         [[event]]\nat = \"2 s\"\nlink = \"bottleneck\"\ndelay = \"3 ms\"\n"
    ));
    let (first, ports, _) = run(&s);
    assert!(ports[0].left.packets > 500 && ports[1].left.packets > 500, "{ports:?}");
    let (again, ..) = run(&s);
    assert_eq!(first.manifest.digest, again.manifest.digest);
    let mut other = s.clone();
    other.seed += 1;
    assert_ne!(run(&other).0.manifest.digest, first.manifest.digest);
}

/// Live video over a link of this rate, for 30 s.
fn video(rate: &str, controller: &str, media: &str) -> (Run, Vec<Audit>) {
    let link = format!(
        "rate = \"{rate}\"\ndelay = \"50 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"300 ms\" }}"
    );
    let flow = format!(
        "controller = \"{controller}\"\npacket = \"500 B\"\ndemand = {{ media = {media} }}"
    );
    let (run, _, flows) = run(&one_link("30 s", &link, &flow));
    (run, flows)
}

fn goodput(run: &Run, from: f64, to: f64) -> f64 {
    let window = common::window(from, to);
    let mean = run.mean(Metric::Goodput, Entity::Flow(0), window);
    mean.expect("recorded")
}

/// The rate over 25 s has a standard error of 1 %: 750 frames vary by 21 % in size and in interval.
#[test]
fn live_video_has_its_highest_rate_where_there_is_room() {
    for controller in ["none", "cubic", "vegas", "bbr3"] {
        let (run, flows) = video("10 Mbps", controller, "{}");
        let rate = goodput(&run, 5.0, 30.0);
        assert!((rate / 1.5e6 - 1.0).abs() < 0.04, "{controller}: {rate}");
        assert_eq!(flows[0].dropped.packets, 0);
    }
}

/// On a link of 600 Kbps the source follows its controller: the link is used, and the source does
/// not exceed the arrivals for long, since no more is allowed.
#[test]
fn live_video_follows_what_is_allowed() {
    for controller in ["vegas", "copa", "monaco"] {
        let (run, flows) = video("600 Kbps", controller, "{}");
        let rate = goodput(&run, 10.0, 30.0);
        assert!((4.5e5..=6e5).contains(&rate), "{controller}: {rate}");
        let lost = flows[0].dropped.packets as f64 / flows[0].entered.packets as f64;
        assert!(lost < 0.01, "{controller}: {lost}");
    }
    // A source with a minimum rate keeps to it.
    let (run, _) = video("10 Mbps", "vegas", "{ min = \"1 Mbps\", max = \"1 Mbps\" }");
    let rate = goodput(&run, 5.0, 30.0);
    assert!((rate / 1e6 - 1.0).abs() < 0.04, "{rate}");
}

#[test]
fn live_video_pauses() {
    let (run, _) = video("10 Mbps", "cubic", "{ pause = [\"10 s\", \"20 s\"] }");
    assert_eq!(goodput(&run, 10.2, 20.0), 0.0);
    assert!(goodput(&run, 5.0, 10.0) > 1.2e6);
    assert!(goodput(&run, 22.0, 30.0) > 1.2e6);
}

/// A flow moves to a longer way, and back. Its packets take the time of the way, 0.8 ms at each
/// port and the delays, and none is lost.
#[test]
fn a_flow_changes_its_path() {
    let s = scenario(
        "duration = \"6 s\"\n\
         [link]\nab = \"a - b, 10 Mbps, 10 ms\"\nac = \"a - c, 10 Mbps, 30 ms\"\ncb = \"c - b, 10 Mbps, 30 ms\"\n\
         [flow.f]\npath = [\"a\", \"b\"]\ncontroller = \"none\"\ndemand = { constant = \"1 Mbps\" }\n\
         [[event]]\nat = \"2 s\"\nflow = \"f\"\npath = [\"a\", \"c\", \"b\"]\n\
         [[event]]\nat = \"4 s\"\nflow = \"f\"\npath = [\"a\", \"b\"]\n",
    );
    let (run, _, flows) = run(&s);
    for (from, to, expected) in [(0.5, 2.0, 10.8), (2.2, 4.0, 61.6), (4.2, 6.0, 10.8)] {
        let delay = mean_delay(&run, from, to);
        assert!((delay - expected).abs() < 0.01, "{delay}");
    }
    assert_eq!(flows[0].dropped.packets, 0);
}
