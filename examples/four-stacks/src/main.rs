//! Four stacks and the kernel in one file, and one of them behind six bottlenecks, in packets or live:
//!
//! ```sh
//! four-stacks all packet
//! sudo four-stacks all live
//! sudo four-stacks smoltcp live
//! ```

use accord_net::{Ends, Error, Net, Setup, network, scenario};
use quinn_proto::congestion::CubicConfig;
use std::sync::Arc;

type Stack = Box<dyn Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync>;

const STACKS: [&str; 4] = ["quinn", "noq", "smoltcp", "str0m"];

/// Returns the stack of a name, with CUBIC or, for video, with the congestion control of WebRTC.
fn stack(name: &str) -> Option<Stack> {
    Some(match name {
        "quinn" => Box::new(accord_quinn::with(Arc::new(CubicConfig::default()))),
        "noq" => Box::new(accord_noq::with(accord_noq::CongestionControl::Cubic)),
        "smoltcp" => Box::new(accord_smoltcp::with(accord_smoltcp::CongestionControl::Cubic)),
        "str0m" => Box::new(accord_str0m::with(accord_str0m::Camera::default())),
        _ => return None,
    })
}

/// Returns `four.toml`, or `tools/stacks/six.toml` with the stack of this name.
fn net(name: &str) -> Option<Net> {
    let file = |path: &str| format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    if name == "all" {
        let net = scenario(&file("four.toml"));
        return Some(STACKS.iter().fold(net, |net, name| match stack(name) {
            Some(stack) => net.carry(name, stack),
            None => net,
        }));
    }
    let six = std::fs::read_to_string(file("../../tools/stacks/six.toml")).unwrap_or_default();
    let six = six.replace("quic = \"quinn\"\n", "").replace("quinn-cubic", "cubic");
    Some(network(&six).carry("quinn", stack(name)?))
}

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let (name, engine) = (args.next().unwrap_or_default(), args.next().unwrap_or_default());
    let Some(net) = net(&name) else {
        println!("four-stacks {} packet|live", [&STACKS[..], &["all"]].concat().join("|"));
        return Ok(());
    };
    let outcome = if engine == "live" { net.live() } else { net }.run()?;
    for (n, (scenario, run)) in outcome.runs().iter().enumerate() {
        let values: Vec<_> = scenario.point.iter().map(|(_, value)| value.as_str()).collect();
        for flow in &scenario.groups {
            let mean = |metric| outcome.mean(n, metric, &flow.name).unwrap_or(f64::NAN);
            let (rate, rtt) = (mean("throughput") / 1e6, mean("rtt") * 1e3);
            println!("{:<22} {:<8} {rate:6.2} Mbps {rtt:6.1} ms", values.join(" "), flow.name);
        }
        run.notes.iter().chain(&run.unfit).for_each(|note| println!("{note}"));
    }
    if name == "all" { outcome.verdict() } else { Ok(()) }
}
