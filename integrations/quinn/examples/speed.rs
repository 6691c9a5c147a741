//! Runs connections of quinn over a bottleneck of 20 Mbps in packets, and prints the number of packets
//! that they sent: `speed STACK CONNECTIONS SECONDS`. `tools/stacks/speed.py` measures its CPU time.

#![expect(clippy::print_stdout, reason = "its result")]

use accord_family::Catalogue;
use accord_language::File;
use accord_record::Quiet;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let mut next = || args.next().ok_or("speed STACK CONNECTIONS SECONDS");
    let (stack, count, seconds) = (next()?, next()?, next()?);
    let text = format!(
        r#"
        duration = "{seconds} s"
        [topology.dumbbell]
        rate = "20 Mbps"
        delay = "20 ms"
        queue = {{ discipline = "droptail", limit = "1 BDP" }}
        [flow.quinn]
        count = {count}
        from = "left"
        to = "right"
        packet = "1500 B"
        {stack}
        controller = "quinn-cubic"
        "#
    );
    let controllers = [accord_control::FAMILIES, accord_quinn::FAMILIES].concat().leak();
    let catalogue = Catalogue { controllers, disciplines: accord_aqm::FAMILIES };
    let scenario = File::parse("speed.toml", &text)?.points(&catalogue, None)?.remove(0);
    let (run, ports, _) = accord_sim::run_audited(&scenario, &mut Quiet)?;
    // All flows share the first link of their paths, in either direction.
    let flow = &scenario.flows[0];
    let first = [flow.path[0], flow.reverse_path[0]];
    let packets: u64 = first.iter().map(|link| ports[*link].entered.packets).sum();
    println!("{packets} {}", run.manifest.digest);
    Ok(())
}
