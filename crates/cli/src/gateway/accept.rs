//! `accord gateway accept`: a service activation test of a tunnel in steps of its contracts, after ITU-T
//! Y.1564.

use super::args::Accept;
use super::parts::{answer, named, read};
use crate::fail::Failure;
use crate::output::{data, json, note};
use accord::units::Rate;
use accord_gateway::config::{PeerConfig, Site};
use serde::Serialize;
use serde_json::Value;
use std::time::Duration;

/// The steps in percent of the contract. The last one is above it.
const STEPS: [u64; 5] = [25, 50, 75, 100, 125];
/// The fraction of the contract that has to arrive while more is sent.
const KEPT: f64 = 0.99;

/// The lateness of this machine, in seconds, from which a failed step says nothing about the path. A gateway makes
/// up for a millisecond, and looks every 0.2 ms.
const LATE: f64 = 0.005;

/// The result of a step.
#[derive(Serialize)]
struct Outcome {
    class: String,
    percent: u64,
    sent_bps: f64,
    arrived_bps: f64,
    loss_ratio: f64,
    round_trip_s: f64,
    delay_variation_s: f64,
    /// The longest time by which the gateway here queued a packet late.
    late_s: f64,
    passed: bool,
}

impl Outcome {
    /// Returns whether the step failed on a machine that was late.
    fn is_void(&self) -> bool {
        !self.passed && self.late_s > LATE
    }
}

/// Carries out the command. `Ok(false)` means that a step failed.
pub fn run(args: &Accept) -> Result<bool, Failure> {
    let site = read(&args.site)?;
    let peer = named(&site, &args.peer)?;
    let classes = classes(&site, peer, args.class.as_deref())?;
    let row = |cells: [&str; 8]| {
        let mut line = format!("{:<12}", cells[0]);
        for cell in &cells[1..7] {
            line += &format!("  {cell:>10}");
        }
        data(format!("{line}  {}", cells[7]).trim_end())
    };
    if !args.json {
        row(["class", "step", "sent", "arrived", "lost", "round trip", "variation", ""])?;
        row(["", "%", "Mbps", "Mbps", "%", "ms", "ms", ""])?;
    }
    let mut outcomes = Vec::new();
    for (class, name, contract) in classes {
        for percent in STEPS {
            let bps = u128::from(contract.as_bps()) * u128::from(percent) / 100;
            let rate = Rate::from_bps(u64::try_from(bps).unwrap_or(u64::MAX).max(1));
            let outcome = step(args, class, &name, percent, rate, contract)?;
            if !args.json {
                row([
                    &name,
                    &percent.to_string(),
                    &format!("{:.2}", outcome.sent_bps / 1e6),
                    &format!("{:.2}", outcome.arrived_bps / 1e6),
                    &format!("{:.3}", 100.0 * outcome.loss_ratio),
                    &format!("{:.2}", 1e3 * outcome.round_trip_s),
                    &format!("{:.2}", 1e3 * outcome.delay_variation_s),
                    match outcome.passed {
                        true => "passed",
                        false if outcome.is_void() => "late",
                        false => "failed",
                    },
                ])?;
            }
            outcomes.push(outcome);
        }
    }
    if args.json {
        json(&outcomes)?;
    }
    let failed = outcomes.iter().filter(|o| !o.passed).count();
    note(format!("{} of {} steps passed", outcomes.len() - failed, outcomes.len()));
    let void = outcomes.iter().filter(|o| o.is_void());
    let (count, late) = void.fold((0, 0f64), |(n, most), o| (n + 1, most.max(o.late_s)));
    if count > 0 && count == failed {
        return Err(Failure::Unable(format!(
            "this machine, not the path, was late: packets of {count} failed steps were queued up to \
             {:.0} ms late; repeat the test while the machine is less busy",
            1e3 * late
        )));
    }
    Ok(failed == 0)
}

/// Returns the classes to test: their indices, names and contracts.
fn classes(
    site: &Site,
    peer: &PeerConfig,
    only: Option<&str>,
) -> Result<Vec<(usize, String, Rate)>, Failure> {
    let names = site.classes.iter().map(|c| c.name.clone());
    let names: Vec<String> = names.chain(["default".into()]).collect();
    let all = names.iter().zip(&peer.shares).enumerate();
    let all = all.map(|(i, (name, share))| (i, name.clone(), share.contract));
    let mut found: Vec<_> = all.filter(|(_, _, contract)| *contract > Rate::ZERO).collect();
    let default = names.len() - 1;
    if found.iter().all(|(i, _, _)| *i != default) && peer.service.contract > Rate::ZERO {
        found.push((default, "default".into(), peer.service.contract));
    }
    if let Some(only) = only {
        if !names.iter().any(|n| n == only) {
            let failure = Failure::new(format!("unknown class {only}"));
            return Err(failure.hint(format!("classes are {}", names.join(", "))));
        }
        found.retain(|(_, name, _)| name == only);
    }
    if found.is_empty() {
        let failure = Failure::new(format!("there is no contract with {} to test", peer.name));
        return Err(failure.hint("write service = { contract = \"10 Mbps\" } below the peer"));
    }
    Ok(found)
}

/// Makes a trial at a rate, and judges it.
#[expect(clippy::disallowed_methods, reason = "it waits for the running gateway")]
fn step(
    args: &Accept,
    class: usize,
    name: &str,
    percent: u64,
    rate: Rate,
    contract: Rate,
) -> Result<Outcome, Failure> {
    let peer = &args.peer;
    let length = Duration::from_secs_f64(args.step.as_secs_f64());
    let what = format!("POST /trial/{peer}/{class}/{}/{}", rate.as_bps(), length.as_millis());
    answer(&args.site, &what)?;
    std::thread::sleep(length);
    let found = loop {
        std::thread::sleep(Duration::from_millis(200));
        let text = answer(&args.site, &format!("GET /trial/{peer}"))?;
        let found: Value = serde_json::from_str(&text)
            .map_err(|e| Failure::new(format!("the gateway's answer cannot be read: {e}")))?;
        if found["over"] == true {
            break found;
        }
    };
    let number = |key: &str| found[key].as_f64();
    let (Some(loss_ratio), Some(arrived)) = (number("loss_ratio"), number("rate_bytes_per_s"))
    else {
        return Err(Failure::Unable(format!(
            "{peer} does not count trials: it is plain WireGuard, an earlier version, or unreachable"
        )));
    };
    let arrived_bps = 8.0 * arrived;
    let delay_variation_s = number("delay_variation_s").unwrap_or(0.0);
    let passed = if percent <= 100 {
        loss_ratio <= args.most_lost
            && args.most_variation.is_none_or(|most| delay_variation_s <= most.as_secs_f64())
    } else {
        arrived_bps >= KEPT * contract.as_bps_f64()
    };
    Ok(Outcome {
        class: name.to_string(),
        percent,
        sent_bps: rate.as_bps_f64(),
        arrived_bps,
        loss_ratio,
        round_trip_s: number("round_trip_s").unwrap_or(0.0),
        delay_variation_s,
        late_s: number("late_s").unwrap_or(0.0),
        passed,
    })
}
