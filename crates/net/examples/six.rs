//! A connection of another stack behind six bottlenecks, in packets and live between namespaces, as a
//! table of `docs/src/stacks.md`:
//!
//! ```sh
//! cargo build --release -p accord-net --example six
//! target/release/examples/six smoltcp
//! ```
//!
//! Live runs need root, an idle machine and six minutes. `tools/stacks/six.py` is the same for quinn.
//! `six smoltcp "1 ms"` is a table of packets alone, whose sender has this jitter.
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
fn net(stack: &str, seed: u64, jitter: &str) -> Net {
    let text = include_str!("../../../tools/stacks/six.toml")
        .replace("quic = \"quinn\"\n", "")
        .replace("quinn-cubic", "cubic")
        .replace("flow.quinn", "flow.mine");
    let mut net = network(&text).seed(seed);
    if !jitter.is_empty() {
        let jitter = format!("{{ uniform = \"{jitter}\" }}");
        net = net.set("flow.mine.access.jitter", &jitter);
    }
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

/// Runs the stack live behind all bottlenecks, and names runs that the machine was too busy for.
fn live(stack: &str) -> Result<Outcome, Error> {
    let outcome = net(stack, 1, "").live().run()?;
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
    let mut arguments = std::env::args().skip(1);
    let mut next = || arguments.next().unwrap_or_default();
    let (stack, jitter) = (next(), next());
    let packets = (1..=PACKETS).map(|seed| net(&stack, seed, &jitter).run());
    let packets = packets.collect::<Result<Vec<_>, _>>()?;
    let lives = if jitter.is_empty() { LIVE } else { 0 };
    let lives = (0..lives).map(|_| live(&stack)).collect::<Result<Vec<_>, _>>()?;
    let columns = [("packets", &packets), ("live", &lives)];
    let columns =
        columns.into_iter().zip(STUDENT).filter(|((_, outcomes), _)| !outcomes.is_empty());
    let columns: Vec<_> = columns.collect();
    let quantities = [("throughput", 1e-6, "Mbps"), ("rtt", 1e3, "ms")];
    print!("| bottleneck |");
    for ((quantity, ..), ((engine, _), _)) in
        quantities.iter().flat_map(|q| columns.iter().map(move |c| (q, c)))
    {
        print!(" {quantity}, {engine} |");
    }
    println!("\n|{}", "---|".repeat(1 + quantities.len() * columns.len()));
    for (point, (scenario, _)) in packets[0].runs().iter().enumerate() {
        print!("| {} |", name(scenario));
        for (quantity, scale, unit) in quantities {
            for ((_, outcomes), student) in &columns {
                let (mean, half) = mean(outcomes, point, quantity, *student);
                print!(" {:.1} ± {:.1} {unit} |", mean * scale, half * scale);
            }
        }
        println!();
    }
    Ok(())
}
