//! The protocol in a network with a rival.

mod carry;

use accord_net::{Error, network};

const DUEL: &str = include_str!("duel.toml");

#[test]
fn it_holds_its_own_against_cubic() -> Result<(), Error> {
    network(DUEL).carry("mine", carry::connect).run()?.verdict()
}

#[test]
fn a_file_arrives() -> Result<(), Error> {
    let net = network(DUEL).set("flow.mine.demand", "{ size = \"1 MB\" }");
    let outcome = net.carry("mine", carry::connect).run()?;
    let (_, run) = &outcome.runs()[0];
    let [file] = &run.transfers[..] else {
        panic!("one transfer: {:?}", run.transfers);
    };
    assert!(file.duration < 30.0, "{} s", file.duration);
    Ok(())
}
