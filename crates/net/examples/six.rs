//! A connection of another stack behind six bottlenecks, in packets and live between namespaces, as a
//! table of `docs/src/stacks.md`:
//!
//! ```sh
//! cargo build --release -p accord-net --example six
//! target/release/examples/six smoltcp
//! ```
//!
//! Live runs need root, an idle machine and six minutes. `tools/stacks/six.py` is the same for quinn.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "it is a program")]

use accord::scenario::Scenario;
use accord_net::{Error, Net, Outcome, Rate, network};

#[path = "../../../integrations/noq/src/lib.rs"]
#[expect(dead_code, reason = "of its controllers, one is used here")]
mod noq;
#[path = "../../../integrations/smoltcp/src/lib.rs"]
mod smoltcp;
#[path = "../../../integrations/str0m/src/lib.rs"]
mod str0m;

/// The number of runs.
const PACKETS: u64 = 8;
const LIVE: u64 = 3;
/// Student's quantiles for 95 % intervals over these runs.
const STUDENT: [f64; 2] = [2.365, 4.303];

/// The network of `tools/stacks/six.toml`, with a flow of the stack.
fn net(stack: &str, seed: u64) -> Net {
    let text = include_str!("../../../tools/stacks/six.toml")
        .replace("quic = \"quinn\"\n", "")
        .replace("quinn-cubic", "cubic")
        .replace("flow.quinn", "flow.mine");
    let net = network(&text).seed(seed);
    match stack {
        "noq" => net.carry("mine", noq::with(noq::CongestionControl::Cubic)),
        "smoltcp" => net.carry("mine", smoltcp::with(smoltcp::CongestionControl::Cubic)),
        "str0m" => {
            let most = Rate::from_bps(30_000_000);
            net.carry("mine", str0m::with(str0m::Encoder { most, ..str0m::Encoder::default() }))
        }
        _ => panic!("no stack {stack}: there are noq, smoltcp and str0m"),
    }
}

/// Runs the stack behind all bottlenecks. Live runs that the machine was too busy for are named.
fn run(stack: &str, seed: u64, live: bool) -> Result<Outcome, Error> {
    let net = net(stack, seed);
    if !live {
        return net.run();
    }
    let outcome = net.live().run()?;
    for (scenario, run) in outcome.runs() {
        run.unfit.iter().for_each(|why| eprintln!("{}: {why}", name(scenario)));
    }
    Ok(outcome)
}

/// Returns the name of a bottleneck.
fn name(scenario: &Scenario) -> String {
    scenario.point.iter().map(|(_, value)| value.as_str()).collect()
}

/// Returns the mean of a quantity at a point, and the half width of its 95 % interval.
fn mean(outcomes: &[Outcome], point: usize, quantity: &str, student: f64) -> (f64, f64) {
    let values = outcomes.iter().map(|o| o.mean(point, quantity, "mine").expect("it is recorded"));
    let values: Vec<f64> = values.collect();
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, student * (variance / n).sqrt())
}

fn main() -> Result<(), Error> {
    let stack = std::env::args().nth(1).unwrap_or_default();
    let packets =
        (1..=PACKETS).map(|seed| run(&stack, seed, false)).collect::<Result<Vec<_>, _>>()?;
    let live = (1..=LIVE).map(|_| run(&stack, 1, true)).collect::<Result<Vec<_>, _>>()?;
    println!(
        "| bottleneck | throughput, packets | throughput, live | round-trip time, packets | round-trip time, live |"
    );
    println!("|---|---|---|---|---|");
    for (point, (scenario, _)) in packets[0].runs().iter().enumerate() {
        print!("| {} |", name(scenario));
        for (quantity, scale, unit, places) in
            [("throughput", 1e-6, "Mbps", 1), ("rtt", 1e3, "ms", 1)]
        {
            for (outcomes, student) in [&packets, &live].into_iter().zip(STUDENT) {
                let (mean, half) = mean(outcomes, point, quantity, student);
                print!(" {:.places$} ± {:.places$} {unit} |", mean * scale, half * scale);
            }
        }
        println!();
    }
    Ok(())
}
