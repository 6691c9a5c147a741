//! Margins for people.

use crate::{Margins, Stability};
use accord_scenario::Scenario;
use accord_units::Rate;

/// Returns the margins of an equilibrium as lines of text.
pub fn text(scenario: &Scenario, found: &Stability) -> String {
    let m = found.margins;
    let cycles = found.packets.is_some_and(|packets| packets.gain < 1.0);
    let mut out = match (found.is_stable(), found.is_guaranteed()) {
        (true, true) if cycles => String::from("stable as a fluid, but packets cycle\n"),
        (true, true) => String::from("stable\n"),
        (true, false) => String::from(
            "not guaranteed: no known mode grows, but the gain is beyond the limit of flows that decide once per round trip\n",
        ),
        (false, _) => String::from("NOT STABLE: small deviations grow\n"),
    };
    out += &margins(&m, found.is_stable());
    if let Some(packets) = found.packets {
        out += &format!(
            "  {:16} {:.4} ({:.2} dB), cycling at {:.3} rad/s: windows of flows differ, and a halved one takes effect over half a round trip\n",
            "in packets",
            packets.gain,
            20.0 * packets.gain.log10(),
            packets.gain_frequency
        );
    }
    if let Some(why) = found.unknown {
        out += &format!("  {:16} unknown: {why}\n", "in packets");
    }
    if let Some(bound) = found.bound.filter(|_| found.is_stable()) {
        out += &format!(
            "  {:16} up to {:.4} ({:.2} dB): a gain of {:.3} for flows that decide once per round trip\n",
            "guaranteed",
            bound.factor(),
            20.0 * bound.factor().log10(),
            bound.largest
        );
    }
    for (i, root) in found.roots.iter().take(3).enumerate() {
        let name = if i == 0 { "rightmost roots" } else { "" };
        let speed = if root.re < 0.0 {
            format!("decays by e in {}", time(-1.0 / root.re))
        } else {
            format!("grows by e in {}", time(1.0 / root.re))
        };
        let swing = if root.im > 1e-9 * root.re.abs() {
            format!(", period {}", time(2.0 * std::f64::consts::PI / root.im))
        } else {
            String::new()
        };
        out += &format!("  {name:16} {:.4} ± {:.4}j 1/s: {speed}{swing}\n", root.re, root.im);
    }
    let mut shown = std::collections::BTreeSet::new();
    let groups: Vec<_> = found.rest.iter().filter(|r| shown.insert(r.group)).collect();
    for (i, rest) in groups.iter().enumerate() {
        let name = if i == 0 { "at rest" } else { "" };
        let signal = if rest.signal > 0.0 {
            format!(", {:.3} % marked or lost", 100.0 * rest.signal)
        } else {
            String::new()
        };
        out += &format!(
            "  {name:16} {}: {} a flow, round trip {}{signal}\n",
            scenario.groups[rest.group].name,
            Rate::from_bps_f64(8.0 * rest.rate),
            time(rest.base_rtt + rest.queue),
        );
    }
    if groups.is_empty() {
        return out;
    }
    out += "  jitter: above twice the range that a flow's delay has at rest it may starve another; that range is zero for a loop that settles, so any lasting difference in jitter moves rates. It halves a rate at\n";
    for rest in groups {
        let group = &scenario.groups[rest.group].name;
        let jitter = match rest.halving_jitter() {
            jitter if jitter.is_finite() => time(jitter),
            _ => "none: half of it is contracted".into(),
        };
        out += &format!("  {group:16} {jitter}\n");
    }
    out
}

fn margins(m: &Margins, stable: bool) -> String {
    let gain = match (m.gain.is_finite() && m.gain > 0.0, stable) {
        (true, _) => format!(
            "{:.4} ({:.2} dB), cycling at {:.3} rad/s",
            m.gain,
            20.0 * m.gain.log10(),
            m.gain_frequency
        ),
        (false, true) => "no larger gain makes it cycle".into(),
        (false, false) => "no smaller gain makes it stable".into(),
    };
    let below = match m.least_gain {
        least if stable && least > 0.0 => {
            format!("; below {least:.4} ({:.2} dB) it also cycles", 20.0 * least.log10())
        }
        _ => String::new(),
    };
    let delay = match (m.delay.is_finite(), stable) {
        (true, true) => format!("{}, phase margin {:.1}°", time(m.delay), m.phase_degrees()),
        (false, _) => "no delay makes it cycle".into(),
        (true, false) => "none".into(),
    };
    format!("  {:16} {gain}{below}\n  {:16} {delay}\n", "gain margin", "delay margin")
}

fn time(seconds: f64) -> String {
    if !(seconds.is_finite() && seconds < 1e6) {
        return format!("{seconds:.1e} s");
    }
    match seconds {
        s if s >= 1.0 => format!("{s:.3} s"),
        s if s >= 1e-3 => format!("{:.3} ms", s * 1e3),
        s => format!("{:.3} us", s * 1e6),
    }
}
