//! smoltcp's TCP in simulated networks.

use accord_net::{Error, Net, network};
use accord_smoltcp::{CongestionControl, with};

const ALONE: &str = include_str!("alone.toml");

fn alone(control: CongestionControl) -> Net {
    network(ALONE).carry("mine", with(control))
}

#[test]
fn reno_fills_a_link() -> Result<(), Error> {
    alone(CongestionControl::Reno).run()?.verdict()
}

#[test]
fn a_run_repeats_itself() -> Result<(), Error> {
    let digest = || -> Result<String, Error> {
        let net = alone(CongestionControl::Cubic)
            .set("duration", "8 s")
            .set("steady", "[\"5 s\", \"8 s\"]");
        Ok(net.run()?.runs()[0].1.manifest.digest.clone())
    };
    assert_eq!(digest()?, digest()?);
    Ok(())
}

/// 1 MB takes 0.4 s at 20 Mbps.
#[test]
fn a_file_arrives_whole_alongside_a_rival() -> Result<(), Error> {
    let rival = format!(
        "{ALONE}\n[flow.rival]\nfrom = \"left\"\nto = \"right\"\npacket = \"1500 B\"\ncontroller = \"newreno\"\n"
    );
    let net = network(&rival).set("flow.mine.demand", "{ size = \"1 MB\" }");
    let outcome = net.carry("mine", with(CongestionControl::Reno)).run()?;
    let (_, run) = &outcome.runs()[0];
    let [file] = &run.transfers[..] else {
        panic!("one transfer: {:?}", run.transfers);
    };
    assert!((0.4..30.0).contains(&file.duration), "{} s", file.duration);
    Ok(())
}

/// Packets without room for data are refused.
#[test]
fn small_packets_are_refused() {
    let net = alone(CongestionControl::Reno).set("flow.mine.packet", "68 B");
    let said = net.run().and_then(|outcome| outcome.verdict()).unwrap_err().to_string();
    assert!(said.contains("packets of 68 B have no room for data"), "{said}");
}
