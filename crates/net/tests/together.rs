//! Four stacks at one bottleneck, in packets, and live together with the kernel's TCP.
#![cfg(target_os = "linux")]

use accord::live::{Mode, obstacle};
use accord_net::{Error, Outcome, Rate, network};

#[path = "../../../integrations/noq/src/lib.rs"]
#[expect(dead_code, reason = "of its controllers, one is used here")]
mod noq;
#[path = "../../../examples/own-stack/tests/carry/mod.rs"]
mod own;
#[path = "../../../integrations/smoltcp/src/lib.rs"]
mod smoltcp;
#[path = "../../../examples/own-stack/src/lib.rs"]
mod stack;
#[path = "../../../integrations/str0m/src/lib.rs"]
mod str0m;

// The adapter of the example names its crate.
extern crate self as own_stack;
pub use stack::{NUMBER, Receiver, Sender};

const FLOWS: [&str; 4] = ["own", "noq", "smoltcp", "str0m"];

/// Runs a flow of each stack, and others.
fn run(others: &str, live: bool) -> Result<Outcome, Error> {
    let mut text = "duration = \"5 s\"\nsteady = [\"2 s\", \"5 s\"]\n\
                    topology.dumbbell = { rate = \"20 Mbps\", delay = \"10 ms\" }\n"
        .to_string();
    for flow in FLOWS {
        text += &format!(
            "flow.{flow} = {{ from = \"left\", to = \"right\", packet = \"1500 B\", controller = \"cubic\" }}\n"
        );
    }
    let encoder = str0m::Encoder { most: Rate::from_bps(10_000_000), ..str0m::Encoder::default() };
    let net = network(&(text + others))
        .carry("own", own::connect)
        .carry("noq", noq::with(noq::CongestionControl::Cubic))
        .carry("smoltcp", smoltcp::with(smoltcp::CongestionControl::Cubic))
        .carry("str0m", str0m::with(encoder));
    if live { net.live().run() } else { net.run() }
}

/// The rates of flows, by name.
fn rates(outcome: &Outcome, flows: &[&str]) -> Vec<(String, f64)> {
    let (_, run) = &outcome.runs()[0];
    assert!(run.broken.is_empty(), "{:?}", run.broken);
    let rate = |flow: &&str| {
        let rate = outcome.mean(0, "throughput", flow).unwrap_or(0.0);
        (flow.to_string(), rate / 1e6)
    };
    flows.iter().map(rate).collect()
}

#[test]
fn four_stacks_share_a_link_in_packets() -> Result<(), Error> {
    let rates = rates(&run("", false)?, &FLOWS);
    let sum: f64 = rates.iter().map(|(_, rate)| rate).sum();
    assert!((18.0..=20.0).contains(&sum), "{rates:?}");
    assert!(rates.iter().all(|(_, rate)| *rate > 0.1), "{rates:?}");
    Ok(())
}

/// A busy machine has no verdict.
#[test]
fn four_stacks_and_the_kernel_share_a_link_live() -> Result<(), Error> {
    if let Some(why) = obstacle(Mode::Namespaces, &[]) {
        eprintln!("SKIPPED: {why}");
        return Ok(());
    }
    let mut others =
        "flow.kernel = { from = \"left\", to = \"right\", kernel = \"cubic\" }\n".to_string();
    for flow in FLOWS.iter().chain(&["kernel"]) {
        others += &format!(
            "[[expect]]\nname = \"{flow} has a share\"\nmetric = \"throughput\"\nof = \"{flow}\"\n\
             engine = \"live\"\nat_least = \"10 kbps\"\n"
        );
    }
    match run(&others, true)?.verdict() {
        Ok(()) | Err(Error::Late(..)) => Ok(()),
        Err(e) => Err(e),
    }
}
