//! Rules on signals, demands and wires, each by an amount or a time that follows from it alone.

use crate::common::{fluid, last, scenario};
use accord_fluid::run;
use accord_record::{Quiet, Run};
use accord_scenario::{Change, Entity, Event, Metric, Scenario};
use accord_units::{Duration, Rate, Time};

const MODELS: [&str; 2] = ["integrator", "ack-clocked"];
const PLAIN: &str = "discipline = \"droptail\", limit = \"unlimited\"";

fn head(model: &str, seconds: u32, sample: &str) -> String {
    format!(
        "duration = \"{seconds} s\"\nsample = \"{sample}\"\nfluid = {{ link_model = \"{model}\" }}\n"
    )
}

fn hop(name: &str, from: &str, to: &str, rate: u32, more: &str) -> String {
    format!(
        "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate} Mbps\"\ndelay = \"10 ms\"\n{more}\n"
    )
}

fn flow(name: &str, from: &str, to: &str, controller: &str, more: &str) -> String {
    format!(
        "[flow.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nprocessing = \"0 s\"\ncontroller = {controller}\n{more}\n"
    )
}

fn constant(mbps: u32) -> String {
    format!("demand = {{ constant = \"{mbps} Mbps\" }}")
}

fn queue(what: &str) -> String {
    format!("queue = {{ {what} }}")
}

fn link(s: &Scenario, name: &str) -> Entity {
    Entity::Link(s.links.iter().position(|l| l.name == name).expect("a link"))
}

fn of(run: &Run, metric: Metric, entity: Entity) -> &[f64] {
    &run.series(metric, entity).expect("it is recorded").values
}

/// The end of the first sample with a positive value.
fn first(run: &Run, metric: Metric, entity: Entity) -> f64 {
    let at = of(run, metric, entity).iter().position(|v| *v > 1e-9);
    run.time[at.expect("some value is positive")]
}

fn near(is: f64, should: f64, within: f64) {
    assert!((is / should - 1.0).abs() < within, "{is} {should}");
}

/// 12 Mbps fill a buffer of 50 KB behind 10 Mbps in 0.2 s. The source sees a loss after the packets ahead of
/// it, 40 ms, and the way back; behind a second link, also after those that wait there.
#[test]
fn a_loss_is_missed_after_the_queues_ahead() {
    for model in MODELS {
        let full = queue("discipline = \"droptail\", limit = \"50 KB\"");
        let one = head(model, 1, "1 ms") + &hop("one", "a", "b", 10, &full);
        let single = one.clone() + &flow("f", "a", "b", "\"none\"", &constant(12));
        let (s, run) = fluid(&single);
        let flow_ = Entity::Flow(0);
        let drops = first(&run, Metric::Drops, link(&s, "one"));
        assert!((drops - 0.2).abs() < 4e-3, "{model}: {drops}");
        let base = last(&run, Metric::Rtt, flow_) - 0.04;
        let missed = first(&run, Metric::Losses, flow_);
        assert!((missed - (drops + 0.04 + base)).abs() < 4e-3, "{model}: {missed} {drops} {base}");
        // A second link of 8 Mbps has more than 60 ms of queue by then.
        let double = one
            + &hop("two", "b", "c", 8, &queue(PLAIN))
            + &flow("f", "a", "c", "\"none\"", &constant(12));
        let (s, run) = fluid(&double);
        let drops = first(&run, Metric::Drops, link(&s, "one"));
        let missed = first(&run, Metric::Losses, flow_);
        assert!(missed > drops + 0.04 + base + 0.06, "{model}: {missed} after {drops}");
    }
}

/// CoDel drops at departure: no packets are ahead of a drop.
#[test]
fn a_packet_that_codel_drops_is_missed_at_once() {
    for model in MODELS {
        let codel = queue("discipline = \"codel\", limit = \"unlimited\"");
        let text = head(model, 1, "1 ms")
            + &hop("one", "a", "b", 10, &codel)
            + &flow("f", "a", "b", "\"none\"", &constant(15));
        let (s, run) = fluid(&text);
        let drops = first(&run, Metric::Drops, link(&s, "one"));
        let missed = first(&run, Metric::Losses, Entity::Flow(0));
        let queued = of(&run, Metric::QueuingDelay, link(&s, "one"));
        let waits = queued[run.time.iter().position(|t| *t >= drops).expect("a sample")];
        assert!(waits > 0.04, "{model}: {waits}");
        assert!((missed - drops - 0.02).abs() < 5e-3, "{model}: {missed} {drops}");
    }
}

/// A wire loses a tenth of 10 Mbps, and a queue behind it a third of the rest: four tenths in all.
#[test]
fn losses_of_a_wire_and_a_queue_multiply() {
    for model in MODELS {
        let text = head(model, 10, "100 ms")
            + &hop("one", "a", "b", 20, &format!("{}\nloss = 0.1", queue(PLAIN)))
            + &hop("two", "b", "c", 6, &queue("discipline = \"droptail\", limit = \"20 KB\""))
            + &flow("f", "a", "c", "\"none\"", &constant(10));
        let (_, run) = fluid(&text);
        near(last(&run, Metric::LostRate, Entity::Flow(0)), 4e6, 2e-3);
        near(last(&run, Metric::Throughput, Entity::Flow(0)), 6e6, 2e-3);
    }
}

/// Marks of two links, and what waits for its weight of them, settle at the equilibrium of theory.
#[test]
fn marks_of_two_links_settle_at_their_prices() {
    let rem = queue("discipline = \"rem\", limit = \"unlimited\", phi = 1.1");
    let controller = "{ name = \"vegas-rem\", phi = 1.1 }";
    let text = head("ack-clocked", 120, "1 s")
        + &hop("one", "a", "b", 10, &rem)
        + &hop("two", "b", "c", 10, &rem)
        + &flow("f", "a", "c", controller, "count = 5")
        + &flow("g", "a", "b", controller, "count = 5")
        + &flow("h", "b", "c", controller, "count = 5");
    let (s, run) = fluid(&text);
    let theory = accord_theory::run(&s, &mut Quiet).expect("a problem");
    for (metric, entity) in [
        (Metric::Price, link(&s, "one")),
        (Metric::Price, link(&s, "two")),
        (Metric::SendingRate, Entity::Flow(0)),
    ] {
        near(last(&run, metric, entity), last(&theory, metric, entity), 0.03);
    }
}

/// A wire of 100 ms that becomes one of 10 ms brings its data at the rate of its line of 20 Mbps, which the
/// next link takes at once. Where it becomes one of 300 ms, nothing comes for 0.2 s.
#[test]
fn a_wire_that_changes_brings_no_more_than_its_line() {
    for (model, delay) in MODELS.into_iter().flat_map(|m| [(m, 10), (m, 300)]) {
        let text = head(model, 4, "10 ms")
            + &hop("one", "a", "b", 20, &queue(PLAIN)).replace("10 ms", "100 ms")
            + &hop("two", "b", "c", 40, &queue(PLAIN))
            + &flow("f", "a", "c", "\"none\"", &constant(10))
            + &format!(
                "[[event]]\nat = \"2 s\"\nlink = \"one\"\ndirection = \"forward\"\ndelay = \"{delay} ms\"\n"
            );
        let (s, run) = fluid(&text);
        let two = link(&s, "two");
        let longest = of(&run, Metric::BacklogMax, two).iter().copied().fold(0.0, f64::max);
        assert!(longest < 1100.0, "{model}, {delay} ms: {longest}");
        let arrivals = of(&run, Metric::Arrivals, two);
        let least = arrivals.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(least >= 0.0, "{model}, {delay} ms: {least}");
        let most = arrivals.iter().copied().fold(0.0, f64::max) * 8000.0 / 0.01;
        assert!(most < 20e6 * (1.0 + 1e-6), "{model}, {delay} ms: {most}");
        // Conserved windows set the rate at once.
        if delay == 300 && model == "integrator" {
            let period = run.time[1] - run.time[0];
            let gap = run.time.iter().zip(arrivals).filter(|(t, a)| **t > 1.0 && **a == 0.0);
            let gap = period * gap.count() as f64;
            assert!((gap - 0.2).abs() < 2.0 * period && period < 0.03, "{model}: {gap} {period}");
        }
    }
}

/// A demand that falls from 8 to 2 Mbps is sent at 2 Mbps, and its unused window does not grow.
#[test]
fn an_application_that_slows_down_sends_less() {
    for model in MODELS {
        for controller in ["\"none\"", "\"newreno\"", "\"monaco\""] {
            let text = head(model, 20, "1 s")
                + &hop("one", "a", "b", 10, &queue(PLAIN))
                + &flow("f", "a", "b", controller, &constant(8));
            let mut s = scenario(&text);
            let change = Change::Demand { flow: 0, rate: Rate::from_bps(2_000_000) };
            s.events.push(Event { at: Time::ZERO + Duration::from_secs(10), change });
            let run = run(&s, &mut Quiet).expect("it runs");
            let rates = of(&run, Metric::SendingRate, Entity::Flow(0));
            near(rates[8], 8e6, 1e-6);
            near(rates[18], 2e6, 1e-6);
            let window = last(&run, Metric::Cwnd, Entity::Flow(0));
            let most = 1e6 * last(&run, Metric::Rtt, Entity::Flow(0));
            assert!(window.is_nan() || window <= most * (1.0 + 1e-9), "{window} {most}");
        }
    }
}

/// A file is sent once, whatever changes afterwards.
#[test]
fn a_transfer_that_is_done_stays_done() {
    for model in MODELS {
        let text = head(model, 10, "100 ms")
            + &hop("one", "a", "b", 10, &queue(PLAIN))
            + &flow("f", "a", "b", "\"newreno\"", "demand = { size = \"500 KB\" }")
            + "[[event]]\nat = \"5 s\"\nlink = \"one\"\nrate = \"20 Mbps\"\n";
        let (_, run) = fluid(&text);
        let rates = of(&run, Metric::SendingRate, Entity::Flow(0));
        let bits: f64 = rates.iter().filter(|r| !r.is_nan()).map(|r| 0.1 * r).sum();
        near(bits, 4e6, 1e-9);
        let late = rates.iter().zip(&run.time).filter(|(_, t)| **t > 4.0);
        assert!(late.clone().all(|(r, _)| r.is_nan() || *r == 0.0), "{model}");
    }
}

/// Without a demand, a flow that does not respond sends at the rate of its first link.
#[test]
fn a_flood_is_as_fast_as_its_first_link() {
    for model in MODELS {
        let text = head(model, 2, "100 ms")
            + &hop("one", "a", "b", 20, &queue(PLAIN))
            + &hop("two", "b", "c", 10, &queue("discipline = \"droptail\", limit = \"20 KB\""))
            + &flow("f", "a", "c", "\"none\"", &constant(1));
        let mut s = scenario(&text);
        s.flows[0].demand = accord_traffic::Demand::Greedy;
        let run = run(&s, &mut Quiet).expect("it runs");
        near(last(&run, Metric::SendingRate, Entity::Flow(0)), 20e6, 1e-9);
        near(last(&run, Metric::ServedRate, link(&s, "two")), 10e6, 1e-6);
    }
}

/// A queue of 20 packets on the way back: acknowledgements wait there, and clock a window; control packets do
/// not. Acknowledgements of 40 bytes and counts of 64 to 1 Mbps of packets of 1000 take 0.104 of 10 Mbps.
#[test]
fn acknowledgements_wait_on_the_way_back() {
    for model in MODELS {
        let back = "reverse = { queue = { discipline = \"droptail\", limit = \"20 pkt\" } }";
        let text = |more: &str| {
            head(model, 20, "1 s")
                + &hop("one", "a", "b", 10, &format!("{}\n{back}", queue(PLAIN)))
                + &flow("f", "a", "b", "\"newreno\"", "demand = { constant = \"1 Mbps\" }")
                + &flow("g", "a", "b", "\"monaco\"", "demand = { constant = \"1 Mbps\" }")
                + more
        };
        let load = flow("h", "b", "a", "\"none\"", &constant(12));
        let ((_, idle), (_, busy)) = (fluid(&text("")), fluid(&text(&load)));
        let waits = |f: usize| {
            last(&busy, Metric::Rtt, Entity::Flow(f)) - last(&idle, Metric::Rtt, Entity::Flow(f))
        };
        near(waits(0), 20.0 * 8000.0 / (10e6 - 0.04e6), 1e-6);
        assert!(waits(1).abs() < 1e-9, "{model}: {}", waits(1));
    }
}

/// RED marks only if all flows of its queue may be marked.
#[test]
fn a_queue_with_flows_that_cannot_be_marked_drops() {
    let red = queue(
        "discipline = \"red\", min_threshold = \"5 pkt\", max_threshold = \"50 pkt\", ecn = true, limit = \"unlimited\"",
    );
    for (second, marks) in [("true", true), ("false", false)] {
        let reno = |ecn: &str| format!("{{ name = \"newreno\", ecn = {ecn} }}");
        let text = head("ack-clocked", 20, "1 s")
            + &hop("one", "a", "b", 10, &red)
            + &flow("f", "a", "b", &reno("true"), "count = 4")
            + &flow("g", "a", "b", &reno(second), "count = 4");
        let (s, run) = fluid(&text);
        let count = |metric| last(&run, metric, link(&s, "one"));
        assert_eq!(count(Metric::Marks) > 0.0, marks, "{second}");
        assert_eq!(count(Metric::Drops) > 0.0, !marks, "{second}");
    }
}

/// A tenth is lost before a link of 5 Mbps to which 5.4 Mbps come: its backlog is the flow's accumulation. A
/// packet in service adds to the longest backlog.
#[test]
fn what_a_wire_loses_does_not_accumulate() {
    for model in MODELS {
        let text = head(model, 40, "100 ms")
            + &hop("one", "a", "b", 20, &format!("{}\nloss = 0.1", queue(PLAIN)))
            + &hop("two", "b", "c", 5, &queue(PLAIN))
            + &flow("f", "a", "c", "\"none\"", &constant(6));
        let (s, run) = fluid(&text);
        let two = link(&s, "two");
        let backlog = last(&run, Metric::Backlog, two);
        near(last(&run, Metric::Accumulation, Entity::Flow(0)), backlog, 0.01);
        // A sample in which the queue grows by 0.4 Mbps.
        let longest = last(&run, Metric::BacklogMax, two);
        near(longest - backlog, 1000.0 + 0.5 * 0.1 * 0.4e6 / 8.0, 1e-3);
    }
}

/// AVQ takes its virtual capacity down by α·(y − γ·c) while a flow sends more than γ·c. Its drops do not arrive,
/// though the link is not full [Xia05 §IV-D].
#[test]
fn data_that_a_discipline_drops_does_not_arrive() {
    for model in MODELS {
        let avq = "discipline = \"avq\", utilisation = 0.95, gain = 0.3, limit = \"unlimited\"";
        let text = head(model, 20, "100 ms")
            + &hop("one", "a", "b", 10, &queue(avq))
            + &flow("f", "a", "b", "\"none\"", "demand = { constant = \"9900 Kbps\" }");
        let (_, run) = fluid(&text);
        near(last(&run, Metric::Throughput, Entity::Flow(0)), 9.5e6 - 0.3 * 0.4e6 * 20.0, 0.01);
    }
}

/// A flow keeps its 3000 bytes at its host link, if that is the narrowest of its path.
#[test]
fn a_narrow_host_link_has_a_queue() {
    for model in MODELS {
        let access = "access = { rate = \"2 Mbps\", delay = \"1 ms\" }";
        let text = head(model, 60, "1 s")
            + "[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\n"
            + &flow("f", "left", "right", "\"monaco\"", access);
        let (s, run) = fluid(&text);
        let base = s.at(Time::ZERO).base_rtt(0).as_secs_f64();
        near(last(&run, Metric::SendingRate, Entity::Flow(0)), 2e6, 1e-6);
        near(last(&run, Metric::Rtt, Entity::Flow(0)) - base, 3000.0 * 8.0 / 2e6, 1e-3);
    }
}

/// 12 Mbps without control over 10 Mbps leave 250 KB more in the queue each second, and a window its few
/// packets: whatever the buffer, no window makes a queue longer than the data that arrived.
#[test]
fn a_queue_that_applications_overload_holds_what_has_arrived() {
    for (model, limit) in
        MODELS.iter().zip(["unlimited", "10000 pkt"]).chain([(&"ack-clocked", "unlimited")])
    {
        let buffer = queue(&format!("discipline = \"droptail\", limit = \"{limit}\""));
        let text = head(model, 20, "100 ms")
            + &hop("one", "a", "b", 10, &buffer)
            + &flow("window", "a", "b", "\"vegas\"", "")
            + &flow("open", "a", "b", "\"none\"", &constant(12));
        let (s, run) = fluid(&text);
        near(last(&run, Metric::Backlog, link(&s, "one")), 5e6, 0.02);
        assert_eq!(last(&run, Metric::Drops, link(&s, "one")), 0.0, "{model} {limit}");
        // At the lower load the equation holds: the window keeps its packets in the queue.
        let text = text.replace("12 Mbps", "9 Mbps");
        let (s, run) = fluid(&text);
        let left = last(&run, Metric::Backlog, link(&s, "one"));
        assert!(left < 1e5, "{model} {limit}: {left}");
    }
}
