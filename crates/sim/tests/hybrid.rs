//! Packets over a fluid, against closed forms and against packets alone.

use crate::common::{scenario, window};
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_sim::{Shortcuts, SimError, run, run_audited, run_with};
use accord_units::Duration;

/// A link of 10 Mbps with these flows on it.
fn link(queue: &str, flows: &str) -> Scenario {
    scenario(&format!(
        "duration = \"40 s\"\nsteady = [\"15 s\", \"40 s\"]\n[link.core]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"10 Mbps\"\ndelay = \"20 ms\"\nqueue = {queue}\n{flows}"
    ))
}

fn flow(name: &str, keys: &str) -> String {
    format!("[flow.{name}]\nfrom = \"a\"\nto = \"b\"\nprocessing = \"0 s\"\n{keys}\n")
}

fn constant(name: &str, rate: &str, more: &str) -> String {
    let keys = format!("controller = \"none\"\ndemand = {{ constant = \"{rate}\" }}\n{more}");
    flow(name, &keys)
}

const FLUID: &str = "as = \"fluid\"";
const FIFO: &str = "{ discipline = \"droptail\", limit = \"100 KB\" }";

fn mean(run: &Run, scenario: &Scenario, metric: Metric, name: &str) -> f64 {
    let flows = scenario.flows.iter().position(|f| f.name == name);
    let links = scenario.links.iter().position(|l| l.name == name);
    let entity = flows.map(Entity::Flow).or(links.map(Entity::Link));
    let entity = entity.expect("there is such a flow or link");
    let mean = run.mean(metric, entity, scenario.steady);
    mean.unwrap_or_else(|| panic!("{name} has a {metric}"))
}

fn close(what: &str, found: f64, expected: f64, within: f64) {
    let error = (found - expected).abs() / expected;
    assert!(error <= within, "{what}: {found}, not {expected}");
}

/// 8 Mbps of fluid and 5 Mbps of packets into 10 Mbps: both lose 3/13, and a packet that gets in
/// waits for a full queue.
#[test]
fn packets_and_fluid_lose_alike() {
    let flows = constant("crowd", "8 Mbps", FLUID) + &constant("own", "5 Mbps", "");
    let scenario = link(FIFO, &flows);
    let run = run(&scenario, &mut Quiet).expect("it runs");
    let of = |metric, name| mean(&run, &scenario, metric, name);
    close(
        "own",
        of(Metric::Throughput, "own"),
        5e6 * 10.0 / 13.0,
        0.01,
    );
    close(
        "crowd",
        of(Metric::Throughput, "crowd"),
        8e6 * 10.0 / 13.0,
        0.01,
    );
    close("lost", of(Metric::LossRatio, "core"), 3.0 / 13.0, 0.01);
    close("backlog", of(Metric::Backlog, "core"), 100e3, 0.01);
    let delay = 20e-3 + 1000.0 * 8.0 / 10e6 + 100e3 * 8.0 / 10e6;
    close("delay", of(Metric::OneWayDelay, "own"), delay, 0.01);
}

/// Fluid and packets that fit leave no queue but that of a packet itself.
#[test]
fn what_fits_does_not_wait() {
    let flows = constant("crowd", "5 Mbps", FLUID) + &constant("own", "4 Mbps", "");
    let scenario = link(FIFO, &flows);
    let run = run(&scenario, &mut Quiet).expect("it runs");
    close(
        "own",
        mean(&run, &scenario, Metric::Throughput, "own"),
        4e6,
        0.001,
    );
    close(
        "served",
        mean(&run, &scenario, Metric::Utilisation, "core"),
        0.9,
        0.002,
    );
    let delay = mean(&run, &scenario, Metric::OneWayDelay, "own");
    close("delay", delay, 20e-3 + 1000.0 * 8.0 / 10e6, 0.001);
}

/// While packets overload the link for half a second, the queue is the arrivals less the service
/// [Lindley], including the fluid.
#[test]
fn a_burst_waits_for_the_fluid_before_it() {
    let burst = "controller = \"none\"\ndemand = { constant = \"12 Mbps\" }\nstart = \"20 s\"\nstop = \"20.5 s\"";
    let flows = constant("crowd", "4 Mbps", FLUID) + &flow("own", burst);
    let scenario = link("{ discipline = \"droptail\", limit = \"10 MB\" }", &flows);
    let run = run(&scenario, &mut Quiet).expect("it runs");
    let core = scenario.links.iter().position(|l| l.name == "core");
    let core = Entity::Link(core.expect("it is there"));
    let longest = run
        .series(Metric::BacklogMax, core)
        .expect("it is recorded");
    let longest = longest.values.iter().copied().fold(0.0, f64::max);
    // 4 + 12 − 10 Mbps for half a second.
    close("longest", longest, 6e6 / 8.0 * 0.5, 0.01);
}

/// 60 Mbps of packets for ten seconds and 8 Mbps of fluid, into 10 Mbps and a queue of 100 KB,
/// which is full after a few milliseconds: both get 10/68 of their traffic.
#[test]
fn a_burst_loses_what_it_makes_overflow() {
    let burst = "controller = \"none\"\ndemand = { constant = \"60 Mbps\" }\nstart = \"20 s\"\nstop = \"30 s\"";
    let flows = constant("crowd", "8 Mbps", FLUID) + &flow("own", burst);
    let scenario = link(FIFO, &flows);
    let run = run(&scenario, &mut Quiet).expect("it runs");
    let got = |flow| {
        let mean = run.mean(Metric::Throughput, Entity::Flow(flow), window(20.5, 30.0));
        mean.expect("it is recorded")
    };
    close("own", got(1), 60e6 * 10.0 / 68.0, 0.03);
    close("crowd", got(0), 8e6 * 10.0 / 68.0, 0.05);
}

const MIX: &str = "count = 5\ncontroller = \"monaco\"\nstart = { uniform = [\"0 s\", \"2 s\"] }\n";

fn mix(form: &str) -> Scenario {
    let flows = flow("crowd", &format!("{MIX}{form}")) + &flow("own", MIX);
    link("{ discipline = \"droptail\" }", &flows)
}

/// Ten Monaco flows, five of them as a fluid: the shares and the queue of ten flows of packets.
#[test]
fn monaco_over_a_fluid_is_as_among_packets() {
    let (hybrid, packets) = (mix(FLUID), mix(""));
    let runs = [&hybrid, &packets].map(|s| run(s, &mut Quiet).expect("it runs"));
    let pairs = [
        (Metric::Throughput, "own.1", 0.02),
        (Metric::Throughput, "own.5", 0.02),
        (Metric::Throughput, "crowd.3", 0.02),
        (Metric::Rtt, "own.2", 0.02),
        (Metric::Backlog, "core", 0.05),
    ];
    for (metric, name, within) in pairs {
        let [fluid, packet] = [(&runs[0], &hybrid), (&runs[1], &packets)]
            .map(|(run, scenario)| mean(run, scenario, metric, name));
        close(&format!("{metric} of {name}"), fluid, packet, within);
    }
    assert!(runs[0].notes.iter().any(|n| n.contains("5 flows")));
}

/// Ten flows of packets over fifty more of them as a fluid, compared with sixty flows of packets:
/// means of three seeds of their rate, their round-trip time and the part of all that is lost. Of
/// sixty flows of packets, which are all alike, the rate is that of all, since that of ten has more
/// chance in it.
fn sixty(controller: &str, queue: &str, form: &str) -> [f64; 3] {
    let keys = format!(
        "controller = \"{controller}\"\nstart = {{ uniform = [\"0 s\", \"2 s\"] }}\n\
         access = {{ rate = \"1 Gbps\", delay = {{ spread = [\"1 ms\", \"20 ms\"] }} }}\n"
    );
    let flows = flow("crowd", &format!("count = 50\n{keys}{form}"))
        + &flow("own", &format!("count = 10\n{keys}"));
    let text = format!(
        "duration = \"30 s\"\nsteady = [\"10 s\", \"30 s\"]\n[link.core]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"240 Mbps\"\ndelay = \"20 ms\"\nqueue = {queue}\n{flows}"
    );
    let mut scenario = scenario(&text);
    let mut sums = [0.0; 3];
    for seed in 1..=3 {
        scenario.seed = seed;
        let run = run(&scenario, &mut Quiet).expect("it runs");
        let own = |metric| {
            let of = |i| mean(&run, &scenario, metric, &format!("own.{i}"));
            (1..=10).map(of).sum::<f64>() / 10.0
        };
        let lost = mean(&run, &scenario, Metric::LossRatio, "core");
        let rate = match form {
            "" => {
                let of = |i| mean(&run, &scenario, Metric::Throughput, &format!("crowd.{i}"));
                (10.0 * own(Metric::Throughput) + (1..=50).map(of).sum::<f64>()) / 60.0
            }
            _ => own(Metric::Throughput),
        };
        let found = [rate, own(Metric::Rtt), lost];
        sums.iter_mut()
            .zip(found)
            .for_each(|(sum, x)| *sum += x / 3.0);
    }
    sums
}

/// Laws and queues that a crowd may have, with how far flows of packets may be off in rate and round-trip
/// time, and losses.
#[test]
fn packets_over_a_crowd_are_as_among_packets() {
    let codel = "{ discipline = \"codel\", limit = \"4000 pkt\" }";
    let red = "{ discipline = \"red\", min_threshold = \"180 pkt\", max_threshold = \"900 pkt\", limit = \"4000 pkt\" }";
    for (controller, queue, rate, rtt, lost) in [
        ("newreno", codel, 0.05, 0.05, 0.15),
        ("cubic", codel, 0.05, 0.05, 0.15),
        ("cubic", red, 0.05, 0.05, 0.15),
    ] {
        let [fluid, packets] = ["as = \"fluid\"\n", ""].map(|form| sixty(controller, queue, form));
        println!("{controller} over {queue}: {fluid:?} for {packets:?}");
        let of = |what| format!("{what} of {controller} over {queue}");
        close(&of("rate"), fluid[0], packets[0], rate);
        close(&of("round trip"), fluid[1], packets[1], rtt);
        close(&of("loss"), fluid[2], packets[2], lost);
    }
}

/// Flows of packets over a crowd of their own kind in a deep buffer, as long after the start as the
/// first overshoot matters: neither kind is driven out. Means of three seeds of the rate of the
/// packet flows, relative to the fair share. Among packets they have 0.9 to 1.1 of it, and 7 of it
/// if the crowd leaves slow start by the first loss of any flow.
#[test]
fn a_crowd_outlives_the_overshoot_of_its_start() {
    for controller in ["newreno", "cubic"] {
        let keys = format!(
            "controller = \"{controller}\"\nstart = {{ uniform = [\"0 s\", \"2 s\"] }}\n\
             access = {{ rate = \"1 Gbps\", delay = {{ spread = [\"1 ms\", \"20 ms\"] }} }}\n"
        );
        let flows = flow("crowd", &format!("count = 100\n{keys}{FLUID}"))
            + &flow("own", &format!("count = 10\n{keys}"));
        let mut scenario = scenario(&format!(
            "duration = \"10 s\"\n[link.core]\nfrom = \"a\"\nto = \"b\"\nrate = \"440 Mbps\"\n\
             delay = \"20 ms\"\nqueue = {{ discipline = \"droptail\", limit = \"6600 pkt\" }}\n{flows}"
        ));
        let mut share = 0.0;
        for seed in 1..=3 {
            scenario.seed = seed;
            let run = run(&scenario, &mut Quiet).expect("it runs");
            let of = |flow| {
                let mean = run.mean(Metric::Throughput, Entity::Flow(flow), window(5.0, 10.0));
                mean.expect("it is recorded") / 4e6
            };
            share += (100..110).map(of).sum::<f64>() / 30.0;
        }
        println!("{controller}: {share}");
        assert!((0.4..2.2).contains(&share), "{controller}: {share}");
    }
}

/// A flow of Vegas alone leaves slow start by what waits of its own bursts, as a fluid with the window that it has
/// as packets, long before it fills its link.
#[test]
fn vegas_leaves_slow_start_as_packets_do() {
    for (rate, packets) in [("40 Mbps", 28.0), ("160 Mbps", 56.0), ("640 Mbps", 112.0)] {
        let found = [FLUID, ""].map(|form| {
            let keys = "controller = { name = \"vegas\", base_rtt = \"known\" }\n\
                        access = { rate = \"10 Gbps\", delay = \"1 ms\" }\n";
            let scenario = scenario(&format!(
                "duration = \"2 s\"\nsample = \"1 ms\"\n[link.core]\nfrom = \"a\"\nto = \"b\"\nrate = \"{rate}\"\n\
                 delay = \"20 ms\"\nqueue = {FIFO}\n{}",
                flow("vegas", &format!("{keys}{form}"))
            ));
            let run = run(&scenario, &mut Quiet).expect("it runs");
            let series = run.series(Metric::Cwnd, Entity::Flow(0)).expect("it is recorded");
            let windows: Vec<f64> = series.values.iter().copied().filter(|w| w.is_finite()).collect();
            let falls = windows.windows(2).find(|w| w[1] < w[0]);
            falls.expect("slow start ends")[1] / 1000.0
        });
        println!("{rate}: {found:?}");
        assert_eq!(found, [packets; 2], "{rate}");
    }
}

/// Two hundred fluid flows with two hundred round trips of 42 to 122 ms. In one group, near round
/// trips are merged. In ten groups of twenty flows, each flow is a class.
fn spread(controller: &str, groups: usize) -> Scenario {
    let keys = format!(
        "count = {}\ncontroller = \"{controller}\"\n{FLUID}\naccess = {{ rate = \"1 Gbps\", delay = \"1 ms\" }}\n\
         start = {{ uniform = [\"0 s\", \"2 s\"] }}\n",
        200 / groups
    );
    let crowd = (0..groups).map(|i| flow(&format!("crowd{i}"), &keys));
    let own = flow("own", "count = 10\ncontroller = \"newreno\"");
    let mut scenario = scenario(&format!(
        "duration = \"90 s\"\nsteady = [\"10 s\", \"90 s\"]\n[link.core]\nfrom = \"a\"\nto = \"b\"\n\
         rate = \"840 Mbps\"\ndelay = \"20 ms\"\nqueue = {{ discipline = \"red\", \
         min_threshold = \"600 pkt\", max_threshold = \"3000 pkt\", limit = \"12000 pkt\" }}\n{}{own}",
        crowd.collect::<String>()
    ));
    // Delays in an order of their own, so that they have nothing to do with starts.
    for i in 0..200 {
        let flow = &scenario.flows[i];
        let access = *flow.path.first().expect("it has a path");
        assert!(scenario.links[access].attachment);
        scenario.links[access].delay = Duration::from_us(1000 + 200 * ((i as u64 * 77) % 200));
    }
    scenario
}

/// The merging of near round trips changes neither the queue and its losses nor the rates of the
/// flows' quarters by round trip, which are not whole classes.
#[test]
fn near_round_trips_may_be_merged() {
    for controller in ["newreno", "cubic", "monaco"] {
        let runs = [1, 10].map(|groups| {
            let scenario = spread(controller, groups);
            let run = run(&scenario, &mut Quiet).expect("it runs");
            let mut sums = [0.0; 4];
            for i in 0..200 {
                let rate = run.mean(Metric::Throughput, Entity::Flow(i), scenario.steady);
                sums[(i * 77) % 200 / 50] += rate.expect("it is recorded");
            }
            let queue = mean(&run, &scenario, Metric::Backlog, "core");
            let lost = mean(&run, &scenario, Metric::LossRatio, "core");
            let note = run.notes.iter().find(|n| n.contains("classes"));
            println!("{controller}: {sums:?} {queue} {lost} {note:?}");
            (sums, queue, lost, note.expect("there is one").clone())
        });
        let [(merged, queue, lost, few), (exact, long, losses, all)] = runs;
        assert!(
            few.contains("200 flows in 6") && all.contains("200 flows in 200"),
            "{few}"
        );
        for (quarter, (merged, exact)) in merged.into_iter().zip(exact).enumerate() {
            close(
                &format!("{controller}, quarter {quarter}"),
                merged,
                exact,
                0.02,
            );
        }
        close("queue", queue, long, 0.01);
        close("lost", lost, losses, 0.01);
    }
}

/// The same scenario gives the same run whatever events the engine leaves out, and another seed gives
/// another one.
#[test]
fn a_run_repeats() {
    let scenario = mix(FLUID);
    let digest = |scenario: &Scenario, shortcuts| {
        let (run, ports, flows) = run_with(scenario, &mut Quiet, shortcuts).expect("it runs");
        (run.manifest.digest, ports, flows)
    };
    let first = digest(&scenario, Shortcuts::All);
    assert_eq!(first, digest(&scenario, Shortcuts::All));
    assert_eq!(first, digest(&scenario, Shortcuts::None));
    let mut other = mix(FLUID);
    other.seed += 1;
    assert_ne!(first.0, digest(&other, Shortcuts::All).0);
}

/// The packets of every port and every flow are conserved.
#[test]
fn packets_are_conserved() {
    let flows =
        constant("crowd", "8 Mbps", FLUID) + &flow("own", "count = 3\ncontroller = \"newreno\"");
    let scenario = link(FIFO, &flows);
    let (_, ports, flows) = run_audited(&scenario, &mut Quiet).expect("it runs");
    for audit in ports.iter().chain(&flows) {
        let out = audit.left + audit.dropped + audit.held;
        assert_eq!(audit.entered, out, "{audit:?}");
    }
    assert!(ports.iter().any(|p| p.dropped.packets > 0));
}

/// When the fluid stops, packets have the whole link; before that, Monaco flows share it as if all
/// were packets.
#[test]
fn packets_take_what_a_fluid_leaves() {
    let crowd = format!("{MIX}{FLUID}\nstop = \"20 s\"");
    let flows = flow("crowd", &crowd) + &flow("own", "controller = \"monaco\"");
    let scenario = link("{ discipline = \"droptail\" }", &flows);
    let run = run(&scenario, &mut Quiet).expect("it runs");
    let own = Entity::Flow(5);
    let between = |from, to| {
        let mean = run.mean(Metric::Throughput, own, window(from, to));
        mean.expect("it is recorded")
    };
    close("beside it", between(10.0, 20.0), 10e6 / 6.0, 0.03);
    close("after it", between(25.0, 40.0), 10e6, 0.01);
}

/// A discipline that marks: packets that can be marked are, by the part that fluid is.
#[test]
fn marks_are_shared() {
    let red = "{ discipline = \"red\", min_threshold = \"5 pkt\", max_threshold = \"50 pkt\", ecn = true, limit = \"500 KB\" }";
    let keys = "count = 10\ncontroller = { name = \"newreno\", ecn = true }\n";
    let flows = flow("crowd", &format!("{keys}{FLUID}")) + &flow("own", keys);
    let scenario = link(red, &flows);
    let (run, ports, _) = run_audited(&scenario, &mut Quiet).expect("it runs");
    assert_eq!(
        ports.iter().map(|p| p.dropped.packets).sum::<u64>(),
        0,
        "all are marked"
    );
    assert!(mean(&run, &scenario, Metric::MarkingProbability, "core") > 0.01);
    assert!(mean(&run, &scenario, Metric::Utilisation, "core") > 0.9);
}

#[test]
fn a_shared_link_that_changes_is_refused() {
    let mut text = String::from("[[event]]\nat = \"5 s\"\nlink = \"core\"\nrate = \"5 Mbps\"\n");
    text.insert_str(
        0,
        &(constant("crowd", "8 Mbps", FLUID) + &constant("own", "1 Mbps", "")),
    );
    let scenario = link(FIFO, &text);
    let error = run(&scenario, &mut Quiet).expect_err("it cannot run");
    assert!(matches!(error, SimError::Fluid(_)));
    assert!(error.to_string().contains("core"), "{error}");
}
