//! quinn in tests of others, by `accord-net`.

use accord_net::{Error, network};
use quinn_proto::congestion::CubicConfig;
use std::sync::Arc;

const DUEL: &str = r#"
    id = "duel"
    duration = "6 s"
    topology.dumbbell = { rate = "10 Mbps", delay = "10 ms" }
    flow.mine = { from = "left", to = "right", controller = "cubic", packet = "1500 B" }
    [[expect]]
    name = "it fills the link"
    metric = "utilisation"
    of = "bottleneck"
    during = ["2 s", "6 s"]
    at_least = "90 %"
"#;

/// With any controller of quinn's trait: a verdict, or the logs that quinn writes next to the capture.
#[test]
fn a_failure_leaves_its_qlog_beside_the_capture() -> Result<(), Error> {
    let carried = || accord_quinn::with(Arc::new(CubicConfig::default()));
    network(DUEL).carry("mine", carried()).run()?.verdict()?;
    let folder = tempfile::tempdir().expect("a place for temporary files");
    let net = network(DUEL).set("flow.mine.demand", "{ constant = \"1 Mbps\" }");
    let net = net.folder(folder.path()).carry("mine", carried());
    let Err(Error::Failed(failed)) = net.run()?.verdict() else {
        panic!("it passes");
    };
    assert!(failed.is_repeatable && failed.capture.is_ok(), "{failed}");
    let logs = failed.logs.expect("they were written");
    let stem = failed.capture.expect("a capture").with_extension("");
    let names = ["sender", "receiver"].map(|end| format!("{}.mine.{end}.sqlog", stem.display()));
    assert_eq!(logs, names.map(std::path::PathBuf::from));
    let read = |log: usize| std::fs::read_to_string(&logs[log]).expect("text");
    let (sent, received) = (read(0), read(1));
    assert!(sent.contains("packet_sent") && received.contains("packet_received"));
    Ok(())
}
