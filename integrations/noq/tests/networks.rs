//! noq in simulated networks.

use accord_net::{Error, Net, network};
use accord_noq::{CongestionControl, with};

const ALONE: &str = include_str!("alone.toml");

fn alone(control: CongestionControl) -> Net {
    network(ALONE).carry("mine", with(control))
}

#[test]
fn cubic_and_newreno_fill_a_link() -> Result<(), Error> {
    for control in [CongestionControl::Cubic, CongestionControl::NewReno] {
        alone(control).run()?.verdict()?;
    }
    Ok(())
}

/// Random numbers of BBRv3 differ from run to run, so the bound is one that all runs meet.
#[test]
fn bbr_uses_a_link() -> Result<(), Error> {
    let net = network(&ALONE.replace("90 %", "50 %"));
    net.carry("mine", with(CongestionControl::Bbr3)).run()?.verdict()
}

#[test]
fn a_run_repeats_itself() -> Result<(), Error> {
    for control in [CongestionControl::Cubic, CongestionControl::NewReno] {
        let digest = || -> Result<String, Error> {
            let net = alone(control).set("duration", "8 s").set("steady", "[\"5 s\", \"8 s\"]");
            Ok(net.run()?.runs()[0].1.manifest.digest.clone())
        };
        assert_eq!(digest()?, digest()?, "{control:?}");
    }
    Ok(())
}

/// 1 MB takes 0.4 s at 20 Mbps.
#[test]
fn a_file_arrives_whole_alongside_a_rival() -> Result<(), Error> {
    let rival = format!(
        "{ALONE}\n[flow.rival]\nfrom = \"left\"\nto = \"right\"\npacket = \"1500 B\"\ncontroller = \"newreno\"\n"
    );
    let net = network(&rival).set("flow.mine.demand", "{ size = \"1 MB\" }");
    let outcome = net.carry("mine", with(CongestionControl::Cubic)).run()?;
    let (_, run) = &outcome.runs()[0];
    let [file] = &run.transfers[..] else {
        panic!("one transfer: {:?}", run.transfers);
    };
    assert!((0.4..30.0).contains(&file.duration), "{} s", file.duration);
    Ok(())
}

/// A run that fails leaves a qlog of both ends next to the capture.
#[test]
fn a_failure_leaves_the_qlog() {
    let folder = std::env::temp_dir().join(format!("accord-noq-{}", std::process::id()));
    let net = alone(CongestionControl::Cubic).set("duration", "6 s").folder(&folder);
    let net = net
        .set("steady", "[\"5 s\", \"6 s\"]")
        .set("flow.mine.demand", "{ constant = \"1 Mbps\" }");
    let Err(Error::Failed(failed)) = net.run().and_then(|outcome| outcome.verdict()) else {
        panic!("it passes");
    };
    assert!(failed.is_repeatable, "{failed}");
    let logs = failed.logs.expect("they were written");
    let stem = failed.capture.expect("a capture").with_extension("");
    let names = ["sender", "receiver"].map(|end| format!("{}.mine.{end}.sqlog", stem.display()));
    assert_eq!(logs, names.each_ref().map(std::path::PathBuf::from));
    let [sent, received] = names.map(|name| std::fs::read_to_string(name).expect("text"));
    std::fs::remove_dir_all(&folder).expect("removed");
    assert!(sent.contains("packet_sent") && sent.contains("recovery_metrics_updated"));
    assert!(received.contains("packet_received"));
}

/// Packets below the least size of QUIC are refused.
#[test]
fn small_packets_are_refused() {
    let net = alone(CongestionControl::Cubic).set("flow.mine.packet", "1227 B");
    let said = net.run().and_then(|outcome| outcome.verdict()).unwrap_err().to_string();
    assert!(said.contains("are below 1228 B of QUIC"), "{said}");
}
