//! Loops of flows that keep an accumulation: their equations by hand, and which of their limits counts.

use crate::common::{near, scenario, solves};
use accord_family::{Pace, Rounds};
use accord_fluid::Model;
use accord_margins::{Stability, largest, linearise, margins, stability};
use accord_scenario::Scenario;
use accord_units::Time;

const MODELS: [&str; 2] = ["integrator", "ack-clocked"];
/// Bytes per second of 10 Mbps.
const C: f64 = 1.25e6;
const PLAIN: &str = "discipline = \"droptail\", limit = \"unlimited\"";
const AVD: &str = "discipline = \"avd\", utilisation = 0.9, gain = 0.3, limit = \"unlimited\"";
/// The pace and turns of Monaco.
const ROUNDS: Rounds = Rounds { pace: Pace::Latest, turns: true };

fn hop(name: &str, from: &str, to: &str, rate: &str, queue: &str) -> String {
    format!(
        "[link.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nrate = \"{rate}\"\ndelay = \"10 ms\"\nqueue = {{ {queue} }}\n"
    )
}

fn flow(name: &str, from: &str, to: &str, controller: &str, more: &str) -> String {
    format!(
        "[flow.{name}]\nfrom = \"{from}\"\nto = \"{to}\"\nprocessing = \"0 s\"\ncontroller = {controller}\n{more}\n"
    )
}

fn monaco(more: &str) -> String {
    format!("{{ name = \"monaco\", {more} }}")
}

fn parsed(model: &str, text: &str) -> Scenario {
    scenario(&format!("duration = \"1 s\"\nfluid = {{ link_model = \"{model}\" }}\n{text}"))
}

fn found(s: &Scenario) -> Stability {
    stability(s, Time::ZERO).expect("at rest")
}

/// A link of 10 Mbps with two flows of these parameters.
fn one(parameters: &str) -> Stability {
    let flows = flow("f", "a", "b", &monaco(parameters), "count = 2");
    found(&parsed("ack-clocked", &(hop("one", "a", "b", "10 Mbps", PLAIN) + &flows)))
}

/// N flows of x over a virtual queue of C̃ = γ·c, whose delay is v: dV/dt = y − C̃, dC̃/dt = α·(γ·c − y), v = V/C̃,
/// and a window that answers by κ/D·(x − x̂) to v and by κ·v/D² to itself.
#[test]
fn a_virtual_queue_and_a_contract_have_their_equation() {
    for (model, contract) in MODELS.into_iter().flat_map(|m| [(m, 0.0), (m, 1e6)]) {
        let more = format!("count = 3\nservice = {{ contract = \"{contract} bps\" }}");
        let controller = monaco("gain = 0.3, target = \"6 pkt\"");
        let s = parsed(
            model,
            &(hop("one", "a", "b", "10 Mbps", AVD) + &flow("f", "a", "b", &controller, &more)),
        );
        let all = found(&s);
        let r = &all.rest[0];
        let (x, v, d) = (r.rate, r.virtual_delay, r.base_rtt);
        near(3.0 * x, 0.9 * C, 1e-9);
        near((x - contract / 8.0) * v, 6000.0, 1e-8);
        solves(&s, |s| {
            let arrives = 3.0 / d * (-s * d).exp();
            let shown = ((1.0 + 0.3 / s) / s + v * 0.3 / s) / (0.9 * C);
            s + 0.3 * v / (d * d) + 0.3 / d * (x - contract / 8.0) * arrives * shown
        });
        // The delay is not of data outstanding: no loop of round trips is known.
        assert!(r.mode.is_none() && r.bound.is_none(), "{r:?}");
        assert!(all.unknown.expect("a reason").contains("virtual queue"));
        if contract == 0.0 {
            near(r.halving_jitter(), v, 1e-9);
        }
    }
}

/// A flow over a virtual queue and then a real one, which another shares. The virtual delay of arrivals waits with
/// them in the second.
#[test]
fn a_virtual_delay_waits_in_the_queue_behind() {
    let controller = monaco("gain = 0.3, target = \"8 pkt\"");
    let s = parsed(
        "ack-clocked",
        &(hop("one", "a", "b", "10 Mbps", AVD)
            + &hop("two", "b", "c", "20 Mbps", PLAIN)
            + &flow("long", "a", "c", &controller, "")
            + &flow("x", "b", "c", &controller, "")),
    );
    let model = Model::new(&s).expect("laws");
    let network = model.network(Time::ZERO);
    let after = |class: usize, hop: usize| network.paths[class].hops[hop].after;
    let all = found(&s);
    let (long, other) = (&all.rest[0], &all.rest[1]);
    near(long.rate, 0.9 * C, 1e-8);
    near(long.rate + other.rate, 2.0 * C, 1e-8);
    let (v, q) = (long.virtual_delay, long.queue);
    near(long.rate * (q + v), 8000.0, 1e-8);
    near(other.rate * other.queue, 8000.0, 1e-8);
    let (big, small) = (long.base_rtt + q, other.base_rtt + q);
    let gain = 0.3;
    solves(&s, |s| {
        let late = |time: f64| (-s * time).exp();
        // δp of the second queue, by either window.
        let all = long.rate / big + other.rate / small;
        let (by_long, by_other) = (late(after(0, 1)) / big / all, late(after(1, 0)) / small / all);
        // The virtual delay, by the arrivals at the first.
        let shown = ((1.0 + 0.3 / s) / s + v * 0.3 / s) / (0.9 * C);
        let (v_long, v_other) = (
            shown * (late(after(0, 0)) / big - long.rate / big * by_long),
            shown * (-long.rate / big * by_other),
        );
        let real = gain / big
            * (long.rate - long.rate * (q + v) / big)
            * late(long.base_rtt - after(0, 1));
        let virtually = gain / big * long.rate * late(long.base_rtt - after(0, 0) + q);
        let own = gain * (q + v) / (big * big);
        let cross = gain / small
            * (other.rate - other.rate * q / small)
            * late(other.base_rtt - after(1, 0));
        let a = s + own + real * by_long + virtually * v_long;
        let b = real * by_other + virtually * v_other;
        let c = cross * by_long;
        let d = s + gain * q / (small * small) + cross * by_other;
        a * d - b * c
    });
}

/// A flow over two queues, the second of which another shares: windows over the sums of delays. The first link is
/// full of the long flow, x·δ(p + p′) = δw, and the second of both.
#[test]
fn two_queues_follow_from_both_windows() {
    let s = parsed(
        "ack-clocked",
        &(hop("one", "a", "b", "10 Mbps", PLAIN)
            + &hop("two", "b", "c", "20 Mbps", PLAIN)
            + &flow("long", "a", "c", &monaco("gain = 0.3, target = \"12 pkt\""), "")
            + &flow("x", "b", "c", &monaco("gain = 0.3, target = \"4 pkt\""), "")),
    );
    let model = Model::new(&s).expect("laws");
    let network = model.network(Time::ZERO);
    let after = |class: usize, hop: usize| network.paths[class].hops[hop].after;
    let all = found(&s);
    let (long, other) = (&all.rest[0], &all.rest[1]);
    near(other.queue, 4000.0 / C, 1e-8);
    near(long.queue, 12_000.0 / C, 1e-8);
    let (big, small) = (long.base_rtt + long.queue, other.base_rtt + other.queue);
    solves(&s, |s| {
        let late = |time: f64| (-s * time).exp();
        // The delays of the second queue and of both, by either window.
        let sum = late(after(0, 0)) / C;
        let second_long = (late(after(0, 1)) - late(after(0, 0))) / big * small / C;
        let second_other = late(after(1, 0)) / C;
        let gain = |round: f64, queue: f64| 0.3 / round * C * (1.0 - queue / round);
        let (k, l) = (gain(big, long.queue), gain(small, other.queue));
        let (one, two) = (late(long.base_rtt - after(0, 0)), late(long.base_rtt - after(0, 1)));
        let back = late(other.base_rtt - after(1, 0));
        let a = s
            + 0.3 * long.queue / (big * big)
            + k * ((sum - second_long) * one + second_long * two);
        let b = k * second_other * (two - one);
        let c = l * second_long * back;
        let d = s + 0.3 * other.queue / (small * small) + l * second_other * back;
        a * d - b * c
    });
}

/// Mo and Walrand's law, κ·d/D·e/w, whose loop of a round trip has the gain κ·d/w.
#[test]
fn the_law_of_mo_and_walrand_has_its_equation() {
    let controller = monaco("policy = \"mw\", mw_gain = \"2 Mbps\", target = \"20 pkt\"");
    let s = parsed(
        "ack-clocked",
        &(hop("one", "a", "b", "10 Mbps", PLAIN) + &flow("f", "a", "b", &controller, "")),
    );
    let all = found(&s);
    let r = &all.rest[0];
    let (x, q, d) = (r.rate, r.queue, r.base_rtt);
    near(x, C, 1e-9);
    near(q, 20_000.0 / C, 1e-9);
    let round = d + q;
    let gain = 250_000.0 * d / (x * round);
    near(r.mode.expect("alone").gain, gain, 1e-9);
    solves(&s, |s| {
        s + gain * q / (round * round) + gain / round * (1.0 - q / round) * (-s * d).exp()
    });
}

/// With growth of a packet per round trip at most, deviations within a packet are the mode, and the whole loop a
/// bound; without, the whole loop is the mode if its limit is the lower one.
#[test]
fn the_lower_limit_of_a_round_trip_counts() {
    let bounded = one("gain = 0.3");
    let (mode, bound) = (bounded.rest[0].mode.unwrap(), bounded.rest[0].bound.unwrap());
    assert_eq!((mode.largest, bound.largest), (1.0, largest(ROUNDS)));
    near(bounded.margins.gain, 1.0 / 0.3, 1e-6);
    assert_eq!(bounded.bound, Some(bound));
    let free = one("gain = 0.3, increase = \"policy\"");
    assert_eq!(free.rest[0].mode.unwrap().largest, largest(ROUNDS));
    assert_eq!(free.rest[0].bound, None);
    near(free.margins.gain, largest(ROUNDS) / 0.3, 1e-6);
    // A bound beyond the margin is not a bound.
    let least = one("gain = 0.3, rtt = \"least\"");
    assert!(least.rest[0].bound.unwrap().largest > 1.3);
    assert_eq!(least.bound, None);
}

/// Beyond 1 the loop of a round trip grows, where the fluid is stable up to π/2; between the bound and 1 it
/// is stable, and not guaranteed to be.
#[test]
fn a_loop_that_grows_is_the_first_root() {
    let wild = one("gain = 1.1");
    assert!(!wild.is_stable() && !wild.is_guaranteed());
    assert!(wild.roots[0].re > 0.0 && wild.roots.len() > 1, "{:?}", wild.roots);
    assert!(wild.roots.is_sorted_by(|a, b| a.re >= b.re), "{:?}", wild.roots);
    assert_eq!(wild.margins.delay, 0.0);
    let between = one("gain = 0.8");
    assert!(between.is_stable() && !between.is_guaranteed());
    let slow = one("gain = 0.3");
    assert!(slow.is_stable() && slow.is_guaranteed());
}

/// Flows of two gains at a link, or of two full links, move apart: none has a mode of its own, each a bound,
/// of which the nearest counts.
#[test]
fn flows_that_do_not_move_together_have_bounds_only() {
    let link = hop("one", "a", "b", "10 Mbps", PLAIN);
    let two = link.clone()
        + &flow("f", "a", "b", &monaco("gain = 0.3"), "")
        + &flow("g", "a", "b", &monaco("gain = 0.5"), "");
    let all = found(&parsed("ack-clocked", &two));
    for (rest, gain) in all.rest.iter().zip([0.3, 0.5]) {
        assert!(rest.mode.is_none(), "{rest:?}");
        near(rest.bound.expect("a bound").gain, gain, 1e-12);
    }
    near(all.bound.expect("a bound").gain, 0.5, 1e-12);
    // The long flow is alone on the first link, and has the queue of the second in its round trip.
    let behind = link
        + &hop("two", "b", "c", "20 Mbps", PLAIN)
        + &flow("f", "a", "c", &monaco("gain = 0.3, target = \"6 pkt\""), "")
        + &flow("g", "b", "c", &monaco("gain = 0.3"), "");
    let all = found(&parsed("ack-clocked", &behind));
    assert!(all.rest[0].mode.is_none() && all.rest[0].bound.is_some(), "{:?}", all.rest[0]);
    let (long, other) = (&all.rest[0], &all.rest[1]);
    near(long.rate, C, 1e-9);
    assert!(long.queue > 1.5 * other.queue, "{all:?}");
}

/// The integrator has no windows that bound the data outstanding: its margins are those of the equations.
#[test]
fn the_integrator_has_no_loop_of_a_round_trip() {
    let flows = flow("f", "a", "b", &monaco("gain = 0.3"), "count = 2");
    let s = parsed("integrator", &(hop("one", "a", "b", "10 Mbps", PLAIN) + &flows));
    let (linear, _) = linearise(&s, Time::ZERO).expect("at rest");
    let all = found(&s);
    assert_eq!((all.bound, all.margins.gain), (None, margins(&linear, true).gain));
}

/// A flow that goes by marks keeps its window: half of its rate is gone after another round trip.
#[test]
fn jitter_of_a_round_trip_halves_a_window() {
    let full = "discipline = \"droptail\", limit = \"20 pkt\"";
    let flows = flow("f", "a", "b", "\"reno\"", "count = 8");
    let s = parsed("ack-clocked", &(hop("one", "a", "b", "10 Mbps", full) + &flows));
    let all = found(&s);
    let r = &all.rest[0];
    near(r.queue, 20_000.0 / C, 1e-9);
    near(r.halving_jitter(), r.base_rtt + 20_000.0 / C, 1e-9);
}

/// A single packet is never late to CoDel, however low its target: flows that keep less have margins.
#[test]
fn a_packet_behind_codel_is_an_equilibrium() {
    let codel = "discipline = \"codel\", target = \"200 us\", limit = \"unlimited\"";
    let flows = flow("f", "a", "b", &monaco("gain = 0.3, target = \"900 B\""), "");
    let all = found(&parsed("ack-clocked", &(hop("one", "a", "b", "10 Mbps", codel) + &flows)));
    near(all.rest[0].queue, 900.0 / C, 1e-8);
}

/// Equilibria that are not known are refused, with the reason.
#[test]
fn losses_of_wires_and_full_buffers_in_a_row_are_refused() {
    let lossy = hop("one", "a", "b", "10 Mbps", PLAIN) + "loss = 0.01\n";
    let s = parsed("ack-clocked", &(lossy + &flow("f", "a", "b", &monaco("gain = 0.3"), "")));
    let error = stability(&s, Time::ZERO).unwrap_err().to_string();
    assert!(error.contains("loses packets"), "{error}");
    let full = "discipline = \"droptail\", limit = \"9 pkt\"";
    let reno = |name, from, to| flow(name, from, to, "\"reno\"", "count = 4");
    let s = parsed(
        "integrator",
        &(hop("one", "a", "b", "10 Mbps", "discipline = \"red\", limit = \"unlimited\"")
            + &hop("two", "b", "c", "10 Mbps", full)
            + &reno("f", "a", "c")
            + &reno("g", "a", "b")
            + &reno("h", "b", "c")),
    );
    let error = stability(&s, Time::ZERO).unwrap_err().to_string();
    assert!(error.contains("answers at once"), "{error}");
}
