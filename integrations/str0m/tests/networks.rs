//! str0m in simulated networks.

use accord_net::{Error, Net, Rate, network};
use accord_str0m::{Encoder, with};

const ALONE: &str = include_str!("alone.toml");

/// An encoder without a limit that matters at 5 Mbps.
fn encoder() -> Encoder {
    Encoder { most: Rate::from_bps(30_000_000), ..Encoder::default() }
}

fn alone(encoder: Encoder) -> Net {
    network(ALONE).carry("mine", with(encoder))
}

#[test]
fn a_call_uses_a_link() -> Result<(), Error> {
    alone(encoder()).run()?.verdict()
}

/// The video has the 2.5 Mbps of the default encoder, and its packets a tenth more at most.
#[test]
fn an_encoder_has_a_highest_rate() -> Result<(), Error> {
    let expect = "[[expect]]\nname = \"the rate is the encoder's\"\nmetric = \"throughput\"\n\
                  of = \"mine\"\nat_least = \"2.5 Mbps\"\nat_most = \"2.75 Mbps\"\n";
    let net = network(&format!("{}{expect}", ALONE.replace("70 %", "50 %")));
    net.carry("mine", with(Encoder::default())).run()?.verdict()
}

/// An application with 1 Mbps has less than the encoder would take.
#[test]
fn an_application_can_have_less() -> Result<(), Error> {
    let expect = "[[expect]]\nname = \"the rate is the application's\"\nmetric = \"throughput\"\n\
                  of = \"mine\"\nat_least = \"0.9 Mbps\"\nat_most = \"1.2 Mbps\"\n";
    let net = network(&format!("{}{expect}", ALONE.replace("70 %", "10 %")));
    let net = net.set("flow.mine.demand", "{ constant = \"1 Mbps\" }");
    net.carry("mine", with(encoder())).run()?.verdict()
}

/// The smallest packets, and packets larger than str0m's largest.
#[test]
fn no_datagram_is_too_large() -> Result<(), Error> {
    for packet in ["638 B", "9000 B"] {
        let net = network(&ALONE.replace("70 %", "10 %")).set("flow.mine.packet", packet);
        net.carry("mine", with(encoder())).run()?.verdict()?;
    }
    Ok(())
}

/// Data that come after a pause are not the frames of the pause.
#[test]
fn an_encoder_makes_no_frames_in_a_pause() -> Result<(), Error> {
    let expect = "[[expect]]\nname = \"it sends little\"\nmetric = \"throughput\"\n\
                  of = \"mine\"\nat_most = \"300 kbps\"\n";
    let net = network(&format!("{}{expect}", ALONE.replace("70 %", "1 %")));
    let net = net.set("flow.mine.demand", "{ constant = \"50 kbps\" }");
    net.carry("mine", with(encoder())).run()?.verdict()
}

/// A short queue loses packets, which are sent again.
#[test]
fn a_run_repeats_itself() -> Result<(), Error> {
    let digest = |seed| -> Result<String, Error> {
        let net = alone(encoder()).set("topology.dumbbell.queue.limit", "0.5 BDP").seed(seed);
        Ok(net.run()?.runs()[0].1.manifest.digest.clone())
    };
    assert_eq!(digest(1)?, digest(1)?);
    assert_ne!(digest(1)?, digest(2)?);
    Ok(())
}

/// Both share a link, and neither starves.
#[test]
fn a_call_and_a_rival_share_a_link() -> Result<(), Error> {
    let rival = format!(
        "{ALONE}\n[flow.rival]\nfrom = \"left\"\nto = \"right\"\npacket = \"1500 B\"\ncontroller = \"cubic\"\n\
         [[expect]]\nname = \"a rest for the call\"\nmetric = \"throughput\"\nof = \"mine\"\nat_least = \"200 kbps\"\n\
         [[expect]]\nname = \"a rest for CUBIC\"\nmetric = \"throughput\"\nof = \"rival\"\nat_least = \"200 kbps\"\n"
    );
    network(&rival).carry("mine", with(encoder())).run()?.verdict()
}

/// A call that stops ends its session, and no end breaks.
#[test]
fn a_call_stops() -> Result<(), Error> {
    let net = network(&ALONE.replace("70 %", "10 %")).set("flow.mine.stop", "15 s");
    let outcome = net.carry("mine", with(encoder())).run()?;
    assert!(outcome.runs()[0].1.broken.is_empty(), "{:?}", outcome.runs()[0].1.broken);
    outcome.verdict()
}

/// A transfer ends with the acknowledgement of its last byte, and a call has none.
#[test]
fn transfers_are_refused() {
    let net = alone(encoder()).set("flow.mine.demand", "{ size = \"1 MB\" }");
    let said = net.run().and_then(|outcome| outcome.verdict()).unwrap_err().to_string();
    assert!(said.contains("a call has no transfers"), "{said}");
}

#[test]
fn small_packets_and_odd_encoders_are_refused() {
    let refused = |net: Net, why: &str| {
        let said = net.run().and_then(|outcome| outcome.verdict()).unwrap_err().to_string();
        assert!(said.contains(why), "{said}");
    };
    refused(alone(encoder()).set("flow.mine.packet", "637 B"), "are below 638 B of str0m");
    refused(alone(Encoder { frame_rate: 0, ..encoder() }), "`frame_rate` from 1");
    refused(alone(Encoder { least: Rate::from_bps(40_000_000), ..encoder() }), "up to `most`");
}
