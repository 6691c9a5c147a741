//! Equilibria by sums of rates, and roots that solve characteristic equations written out by hand.

use crate::common::{near, scenario, solves};
use accord_margins::{Complex, Rest, linearise, rightmost_roots, stability};
use accord_scenario::Scenario;
use accord_units::Time;

const MODELS: [&str; 2] = ["integrator", "ack-clocked"];
/// Bytes per second of 10 Mbps, and a packet.
const C: f64 = 1.25e6;
const PACKET: f64 = 1000.0;

fn red(ecn: bool) -> String {
    format!(
        "discipline = \"red\", min_threshold = \"5 pkt\", max_threshold = \"100 pkt\", max_probability = 0.2, weight = 0.02, ecn = {ecn}, limit = \"unlimited\""
    )
}

/// A link of 10 Mbps and 20 ms, whose acknowledgements do not wait, with a loss on the wire.
fn dumbbell(model: &str, queue: &str, loss: f64, flows: &str) -> Scenario {
    scenario(&format!(
        "duration = \"1 s\"\nfluid = {{ link_model = \"{model}\" }}\n[topology.dumbbell]\nrate = \"10 Mbps\"\n\
         delay = \"20 ms\"\nloss = {loss}\nqueue = {{ {queue} }}\n\
         reverse = {{ queue = {{ discipline = \"droptail\", limit = \"unlimited\" }} }}\n{flows}"
    ))
}

fn flow(name: &str, controller: &str, more: &str) -> String {
    format!("[flow.{name}]\nfrom = \"left\"\nto = \"right\"\ncontroller = {controller}\n{more}\n")
}

fn reno(ecn: bool) -> String {
    format!("{{ name = \"reno\", ecn = {ecn} }}")
}

fn rest(s: &Scenario) -> Vec<Rest> {
    linearise(s, Time::ZERO).expect("at rest").1
}

/// The mean window of independent losses is 1.31/√p packets [Ott, Kemperman, Mathis 1996].
#[test]
fn a_window_rests_by_the_losses_of_the_wire() {
    let none = "discipline = \"droptail\", limit = \"unlimited\"";
    let all = rest(&dumbbell("ack-clocked", none, 4e-3, &flow("f", &reno(false), "")));
    near(all[0].rate * all[0].base_rtt, PACKET * 1.31 / f64::sqrt(4e-3), 5e-3);
    assert_eq!(all[0].queue, 0.0);
}

/// A flow of 2 Mbps leaves the rest to another, which alone moves.
#[test]
fn a_flow_that_its_application_bounds_does_not_move() {
    let flows =
        flow("b", &reno(true), "demand = { constant = \"2 Mbps\" }") + &flow("c", &reno(true), "");
    for model in MODELS {
        let all = rest(&dumbbell(model, &red(true), 0.0, &flows));
        assert_eq!(all.len(), 1, "{all:?}");
        near(all[0].rate, 0.8 * C, 1e-8);
    }
}

/// Two hops, a long flow and one at each hop: what passes the second hop is its capacity. Marks take
/// nothing away before it, drops and losses of the wire do.
#[test]
fn the_second_hop_is_full_of_what_comes_there() {
    for (ecn, loss) in [(true, 0.0), (false, 0.0), (true, 2e-4)] {
        let hop = |name: &str, from: &str, to: &str, loss: f64| {
            format!(
                "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"10 Mbps\"\ndelay = \"10 ms\"\nloss = {loss}\nqueue = {{ {} }}\n",
                red(ecn)
            )
        };
        let flow = |name: &str, from: &str, to: &str| {
            format!("[flow.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\ncontroller = {}\n", reno(ecn))
        };
        let s = scenario(
            &("duration = \"1 s\"\n".to_owned()
                + &hop("one", "a", "b", loss)
                + &hop("two", "b", "c", 0.0)
                + &flow("long", "a", "c")
                + &flow("x", "a", "b")
                + &flow("y", "b", "c")),
        );
        let all = rest(&s);
        let [long, x, y] = [&all[0], &all[1], &all[2]];
        // Independent losses hold a window of 1.31/√p packets, and even ones of m hold √(2/m).
        let independent = (2.0 / (1.31 * 1.31) - 1.0) * loss;
        let passes = |flow: &Rest| 1.0 - flow.signal + independent;
        // The share of the first hop is that of the flow there, less its losses on the wire.
        let first = passes(x) / (1.0 - loss);
        let passed = if ecn { 1.0 } else { first };
        let kept = if ecn { 1.0 } else { 1.0 - y.signal };
        near((long.rate * (1.0 - loss) * passed + y.rate) * kept, C, 1e-7);
        near((long.rate + x.rate) * passed, C, 1e-7);
        near(passes(long), passes(x) * (1.0 - y.signal), 1e-7);
    }
}

/// The price of REM follows the arrivals, dropped ones included.
#[test]
fn rem_rests_where_arrivals_are_the_capacity() {
    let rem = "discipline = \"rem\", gain = 0.02, phi = 1.05, ecn = false, limit = \"unlimited\"";
    let all = rest(&dumbbell("ack-clocked", rem, 0.0, &flow("f", &reno(false), "count = 5")));
    near(5.0 * all[0].rate, C, 1e-8);
    near(all[0].rate * all[0].base_rtt / PACKET, f64::sqrt(2.0 / all[0].signal - 2.0), 1e-8);
}

/// Acknowledgements wait in the queue of the other direction, which a load of 11 Mbps keeps at its twenty
/// packets, 16 ms.
#[test]
fn a_round_trip_has_the_queue_of_the_way_back() {
    let load = flow("g", "\"none\"", "demand = { constant = \"11 Mbps\" }")
        .replace("to = \"right\"", "to = \"left\"")
        .replace("from = \"left\"", "from = \"right\"");
    let s =
        dumbbell("ack-clocked", &red(true), 0.0, &(flow("f", &reno(true), "count = 4") + &load));
    let mut s = s;
    for link in s.links.iter_mut().filter(|l| l.name == "bottleneck.reverse") {
        link.queue.limit = accord_scenario::Limit::Packets(20);
    }
    let r = &rest(&s)[0];
    near(4.0 * r.rate, C, 1e-8);
    let window = PACKET * f64::sqrt(2.0 * (1.0 - r.signal) / r.signal);
    near(r.rate * (r.base_rtt + r.queue), window, 1e-8);
    let p = 0.2 * ((r.queue - 0.016) * C / PACKET - 5.0) / 95.0;
    near(r.signal, 2.0 * p / (1.0 + p), 1e-6);
    assert_eq!(r.virtual_delay, 0.0);
}

/// Host links with queues of their own are as many as flows: each flow rests as one alone does.
#[test]
fn private_queues_of_three_flows_are_those_of_one() {
    let of = |model: &str, count: u32| {
        let access = "access = { rate = \"2 Mbps\", delay = \"5 ms\", queue = { discipline = \"droptail\", limit = \"20 pkt\" } }";
        let flows = flow("f", &reno(false), &format!("count = {count}\n{access}"));
        let s = dumbbell(model, "discipline = \"droptail\", limit = \"unlimited\"", 0.0, &flows);
        let (linear, rest) = linearise(&s, Time::ZERO).expect("at rest");
        near(rest[0].rate * (1.0 - rest[0].signal), 0.2 * C, 1e-7);
        rightmost_roots(&linear, 1.0)[0]
    };
    for model in MODELS {
        let (one, three) = (of(model, 1), of(model, 3));
        assert!((one - three).norm() < 1e-6 * one.norm(), "{model}: {one} {three}");
    }
}

/// RED that drops, behind a wire that does not lose, or one that does, with N flows of rate x over D:
///
/// ```text
/// s + x·m/P + P·(1 − l)/(D·m)·e^(−s·b)·δm/δw = 0,  1 − m = (1 − l)·(1 − r)
/// (y·s + y/D·e^(−s·d))·δp = N/D·e^(−s·f)·δw − y/(1 − r)·δr,  or 0 = (1 − r)·(N·δw/D·e^(−s·f) − y/D·δp) − y·δr
/// ```
///
/// with y what arrives, r the share that RED drops, and b a round trip less f.
#[test]
fn red_that_drops_has_the_equation_of_hollot_with_what_enters() {
    for model in MODELS {
        let flows = flow("f", &reno(false), "count = 20\nprocessing = \"0 s\"");
        let s = dumbbell(model, &red(false), 0.0, &flows);
        let r = &rest(&s)[0];
        let (x, m, d) = (r.rate, r.signal, r.base_rtt);
        let round = d + r.queue;
        let arrives = 20.0 * x;
        near(arrives * (1.0 - m), C, 1e-7);
        let backlog = r.queue * C / PACKET;
        let p = 0.2 * (backlog - 5.0) / 95.0;
        near(m, 2.0 * p / (1.0 + p), 1e-7);
        // Per second of delay.
        let slope = 0.2 / 95.0 * 2.0 / (1.0 + p).powi(2) * C / PACKET;
        let pace = -(0.98f64.ln()) * arrives / PACKET;
        solves(&s, |s| {
            let average = slope * pace / (s + pace);
            // δp per δw and per δm, but for the delay to the queue.
            let (by_window, by_share) = match model {
                "integrator" => {
                    let left = arrives * s + arrives / round * (-s * d).exp();
                    (20.0 / round / left, -arrives / (1.0 - m) / left)
                }
                _ => (Complex::new(20.0 / arrives, 0.0), Complex::new(-round / (1.0 - m), 0.0)),
            };
            let share = average * by_window / (1.0 - average * by_share);
            s + x * m / PACKET + PACKET / (round * m) * (-s * (d + r.queue)).exp() * share
        });
    }
}

/// The number of losses, evenly spaced, that hold a window that is halved as low as one that comes by chance: the
/// square of E[S^(−1/2)] with S = Σ E/4ᵏ. The mean of exp(−tS) is Π 1/(1 + t/4ᵏ), so it is
/// 2/√π·∫ Π 1/(1 + u²/4ᵏ) du from 0.
fn even_halves() -> f64 {
    let product = |u: f64| (0..40).map(|k| 1.0 / (1.0 + u * u / 4f64.powi(k))).product::<f64>();
    // u = eˣ: the trapezoidal rule is exact to rounding.
    let step = 0.05;
    let sum: f64 =
        (-800..400).map(|i| f64::from(i) * step).map(|x| product(x.exp()) * x.exp()).sum();
    (2.0 / std::f64::consts::PI.sqrt() * sum * step).powi(2)
}

/// Losses of the wire in front of a queue that marks: fewer come there, and a mark is worth less.
#[test]
fn losses_of_the_wire_take_their_part_of_a_loop() {
    let hop = |name: &str, from: &str, to: &str, rate: &str, loss: f64, queue: &str| {
        format!(
            "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"10 ms\"\nloss = {loss}\nqueue = {{ {queue} }}\n"
        )
    };
    let (wire, flows) = (0.004, 10.0);
    let plain = "discipline = \"droptail\", limit = \"unlimited\"";
    for model in MODELS {
        let s = scenario(
            &(format!("duration = \"1 s\"\nfluid = {{ link_model = \"{model}\" }}\n")
                + &hop("one", "a", "b", "100 Mbps", wire, plain)
                + &hop("two", "b", "c", "10 Mbps", 0.0, &red(true))
                + &format!(
                    "[flow.f]\nfrom = \"a\"\nto = \"c\"\ncount = 10\nprocessing = \"0 s\"\ncontroller = {}\n",
                    reno(true)
                )),
        );
        let r = &rest(&s)[0];
        let (x, m, d) = (r.rate, r.signal, r.base_rtt);
        let round = d + r.queue;
        let marks = 1.0 - (1.0 - (m - (even_halves() - 1.0) * wire)) / (1.0 - wire);
        let come = flows * (1.0 - wire);
        near(come * x, C, 1e-7);
        let p = marks / (2.0 - marks);
        near(r.queue * C / PACKET, 5.0 + 95.0 * p / 0.2, 1e-6);
        let slope = 0.2 / 95.0 * 2.0 / (1.0 + p).powi(2) * C / PACKET;
        let pace = -(0.98f64.ln()) * C / PACKET;
        solves(&s, |s| {
            let queue = match model {
                "integrator" => come / C / (s * round + (-s * d).exp()),
                _ => Complex::new(come / C, 0.0),
            };
            let share = queue * slope * pace / (s + pace) * (1.0 - wire);
            s + x * m / PACKET + PACKET / (round * m) * (-s * round).exp() * share
        });
    }
}

/// AVQ: m = 1 − C̃/y, dC̃/dt = α·(γ·c − y). REM that drops: dr/dt = γ·(y − c), m = 1 − φ^(−r). A full buffer: m = 1 −
/// c/y, with a queue that stays.
#[test]
fn disciplines_without_an_average_have_their_equations() {
    let avq = "discipline = \"avq\", utilisation = 0.95, gain = 0.3, limit = \"unlimited\", ecn = ";
    let rem = "discipline = \"rem\", gain = 0.02, phi = 1.05, ecn = false, limit = \"unlimited\"";
    let full = "discipline = \"droptail\", limit = \"8 pkt\"";
    for model in MODELS {
        for (queue, ecn) in [
            (format!("{avq}true"), true),
            (format!("{avq}false"), false),
            (rem.into(), false),
            (full.into(), false),
        ] {
            let flows = flow("f", &reno(ecn), "count = 20\nprocessing = \"0 s\"");
            let s = dumbbell(model, &queue, 0.0, &flows);
            let r = &rest(&s)[0];
            let (x, m, d) = (r.rate, r.signal, r.base_rtt);
            let (round, arrives) = (d + r.queue, 20.0 * x);
            let per_byte = |s: Complex<f64>| match &queue[14..17] {
                "avq" => (Complex::new(1.0 - m, 0.0) + 0.3 / s) / arrives,
                // The price is in milliseconds, and REM's gain is per packet of its queue.
                "rem" => Complex::new((1.0 - m) * 1.05f64.ln() * 0.02 / PACKET, 0.0) / s,
                _ => Complex::new((1.0 - m) / arrives, 0.0),
            };
            solves(&s, |s| {
                let share = per_byte(s) * 20.0 / round;
                s + x * m / PACKET + PACKET / (round * m) * (-s * round).exp() * share
            });
        }
    }
}

/// Windows of packets differ by E[w²] = 7/6·E[w]², and their halving takes a quarter of a round trip in the
/// mean: the margins of packets are those of a loop with this gain and this delay.
#[test]
fn packets_answer_by_seven_sixths_and_a_quarter_of_a_round_trip_later() {
    let flows = flow("f", &reno(true), "count = 20\nprocessing = \"0 s\"");
    let s = dumbbell("ack-clocked", &red(true), 0.0, &flows);
    let found = stability(&s, Time::ZERO).expect("at rest");
    let packets = found.packets.expect("red");
    let r = &found.rest[0];
    let (x, m, d) = (r.rate, r.signal, r.base_rtt);
    let round = d + r.queue;
    let p = m / (2.0 - m);
    let slope = 0.2 / 95.0 * 2.0 / (1.0 + p).powi(2) * C / PACKET;
    let pace = -(0.98f64.ln()) * C / PACKET;
    let plant = |w: f64| {
        let s = Complex::new(0.0, w);
        let share = 20.0 / C * slope * pace / (s + pace);
        7.0 / 6.0 * PACKET / (round * m) * (-s * 1.25 * round).exp() * share / (s + x * m / PACKET)
    };
    let at = plant(packets.gain_frequency);
    assert!(at.im.abs() < 1e-6 * at.norm() && at.re < 0.0, "{at}");
    near(packets.gain, 1.0 / at.norm(), 1e-6);
}
