//! Verdicts of networks: expectations that are met, others that fail, and the place of the fault.

#[path = "../../../examples/own-stack/tests/carry/mod.rs"]
mod own;
#[path = "../../../examples/own-stack/src/lib.rs"]
mod stack;

// The adapter of the example names its crate.
extern crate self as own_stack;
pub use stack::{NUMBER, Receiver, Sender};

use accord_net::{Carried, Datagram, Ends, Error, Failed, Net, Setup, Time, View, network};

const ALONE: &str = r#"
    id = "alone"
    duration = "10 s"
    sample = "100 ms"
    steady = ["2 s", "10 s"]
    topology.dumbbell = { rate = "10 Mbps", delay = "20 ms", queue = { discipline = "droptail", limit = "1 BDP" } }
    [flow.mine]
    from = "left"
    to = "right"
    packet = "1500 B"
    controller = "newreno"
    [[expect]]
    name = "it fills the link"
    metric = "throughput"
    of = "mine"
    at_least = "9 Mbps"
    [[expect]]
    name = "theory has it, too"
    engine = "theory"
    metric = "throughput"
    of = "mine"
    at_least = "9 Mbps"
"#;

/// A sender that stops to send data at 5 s, in one way or another.
struct Ceasing {
    inner: Box<dyn Carried>,
    panics: bool,
}

impl Carried for Ceasing {
    fn receive(&mut self, payload: &[u8], ecn: u8, now: Time) -> bool {
        self.inner.receive(payload, ecn, now)
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        if now.as_secs_f64() > 5.0 {
            assert!(!self.panics, "it has had enough");
            return None;
        }
        self.inner.poll(now)
    }

    fn next_wake(&mut self) -> Time {
        self.inner.next_wake()
    }

    fn on_wake(&mut self, now: Time) {
        self.inner.on_wake(now);
    }

    fn supply(&mut self, packets: u64, is_transfer: bool, now: Time) {
        self.inner.supply(packets, is_transfer, now);
    }

    fn view(&self) -> View {
        self.inner.view()
    }
}

fn ceasing(panics: bool) -> impl Fn(&Setup<'_>) -> Result<Ends, String> {
    move |setup| {
        let [sender, receiver] = own::connect(setup)?;
        Ok([Box::new(Ceasing { inner: sender, panics }), receiver])
    }
}

fn failed(net: Net) -> Failed {
    match net.run().expect("it runs").verdict() {
        Err(Error::Failed(failed)) => *failed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_expected_comes_true() {
    let run = || network(ALONE).carry("mine", own::connect).run().expect("it runs");
    run().verdict().expect("it is met");
    let digest = |outcome: &accord_net::Outcome| outcome.runs()[0].1.manifest.digest.clone();
    assert_eq!(digest(&run()), digest(&run()));
    let seeds = network(ALONE).seed(7).carry("mine", own::connect);
    assert_eq!(seeds.run().expect("it runs").runs()[0].0.seed, 7);
}

/// The capture is there, its packet is the first after the time, and the sentence has all of it.
#[test]
fn a_failure_has_the_expectation_the_time_the_packet_and_a_capture() {
    let dir = tempfile::tempdir().expect("a folder");
    let net = || network(ALONE).carry("mine", ceasing(false)).folder(dir.path().join("captures"));
    let failed = failed(net());
    assert_eq!(failed.faults.len(), 1, "{failed}");
    let fault = &failed.faults[0];
    assert_eq!(fault.expectation, "it fills the link");
    // The last packets leave the queue some 40 ms after 5 s.
    let at = fault.at.expect("a time").as_secs_f64();
    assert!((4.9..5.2).contains(&at), "{at}");
    let packet = fault.packet.expect("a packet");
    let path = failed.capture.as_ref().expect("a capture");
    let times = times(&std::fs::read(path).expect("it was written"));
    let (before, after) = times.split_at(packet as usize - 1);
    assert!(before.iter().all(|t| *t < at - 1e-9) && after[0] >= at - 1e-9);
    let text = failed.to_string();
    for part in [
        "scenario alone failed",
        "\"it fills the link\", flow mine: ",
        &format!("; first outside of it from {at:.6} s on (packet {packet})"),
        &format!("packets: {}", path.display()),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(failed.is_repeatable);
    assert_eq!(self::failed(net()), failed);
}

/// Returns the times of the packets in a capture.
fn times(bytes: &[u8]) -> Vec<f64> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let (mut at, mut times) = (0, Vec::new());
    while at < bytes.len() {
        if word(at) == 6 {
            let nanos = u64::from(word(at + 12)) << 32 | u64::from(word(at + 16));
            times.push(nanos as f64 / 1e9);
        }
        at += word(at + 4) as usize;
    }
    times
}

#[test]
fn a_stack_that_panics_fails_the_test() {
    let dir = tempfile::tempdir().expect("a folder");
    let failed = failed(network(ALONE).carry("mine", ceasing(true)).folder(dir.path()));
    let [broke, unmet] = &failed.faults[..] else {
        panic!("{failed}");
    };
    let said = "the connection of flow mine broke off at 5.0";
    assert!(
        broke.text.starts_with(said) && broke.text.ends_with("panicked: it has had enough"),
        "{broke}"
    );
    assert_eq!(unmet.expectation, "it fills the link");
}

/// Returns the begin of the names of the files of a failure.
fn stem(failed: &Failed) -> String {
    let name = failed.capture.as_ref().expect("a capture").file_name().expect("a name");
    name.to_string_lossy().strip_suffix(".pcapng").expect("its suffix").to_string()
}

/// Two tests of one scenario in one folder keep their files.
#[test]
fn failures_of_other_runs_have_files_of_their_own() {
    let dir = tempfile::tempdir().expect("a folder");
    let failed = |panics| failed(network(ALONE).carry("mine", ceasing(panics)).folder(dir.path()));
    let captures = [failed(false), failed(true)].map(|failed| failed.capture.expect("a capture"));
    assert!(captures[0] != captures[1] && captures.iter().all(|path| path.exists()));
}

/// A fault names the values of its sweep. A stack that breaks is a fault even without an expectation.
#[test]
fn faults_have_their_point_and_broken_stacks_are_faults() {
    let dir = tempfile::tempdir().expect("a folder");
    let expected = ALONE.split("[[expect]]").next().expect("a part");
    let sweep = "[sweep.rate]\nset = [\"topology.dumbbell.rate\"]\nvalues = [\"10 Mbps\"]\n";
    let net = network(&format!("{expected}\n{sweep}"));
    let failed = failed(net.carry("mine", ceasing(true)).folder(dir.path()));
    let [broke] = &failed.faults[..] else {
        panic!("{failed}");
    };
    assert!(broke.text.starts_with("at rate 10 Mbps: the connection of flow mine "), "{broke}");
    assert!(stem(&failed).starts_with("alone.10Mbps."), "{}", stem(&failed));
}

/// The time is that of the flow that is shown, and no time is better than that of another figure.
#[test]
fn a_time_is_that_of_the_figure() {
    let dir = tempfile::tempdir().expect("a folder");
    let at = |more: &str| {
        let two = ALONE.replace("packet = \"1500 B\"", "packet = \"1500 B\"\ncount = 2");
        let text = two.replacen("at_least = \"9 Mbps\"", more, 1);
        let failed = failed(network(&text).carry("mine", ceasing(false)).folder(dir.path()));
        failed.faults[0].at
    };
    assert!(at("at_least = \"9 Mbps\"").is_some());
    assert_eq!(at("at_least = \"19 Mbps\"\nacross = \"sum\""), None);
    assert_eq!(at("at_least = \"9 Mbps\"\nover = \"p95\""), None);
}

/// A value may be compared with that of an engine in which the controller stands for the stack.
#[test]
fn a_stack_is_compared_with_theory() {
    let text = |other: &str| {
        // Theory has an equilibrium of Vegas here.
        ALONE.replace("newreno", "vegas").replacen(
            "at_least = \"9 Mbps\"",
            &format!("equals = \"{other}\"\nwithin = \"10 %\""),
            1,
        )
    };
    for other in ["theory", "fluid"] {
        let net = network(&text(other)).carry("mine", own::connect);
        net.run().expect("it runs").verdict().expect("the flow fills the link");
    }
    let dir = tempfile::tempdir().expect("a folder");
    let failed = failed(network(&text("theory")).carry("mine", ceasing(false)).folder(dir.path()));
    assert_eq!(failed.faults.len(), 1, "{failed}");
    let fault = &failed.faults[0];
    assert!(
        fault.expectation == "it fills the link" && fault.text.contains("10 % allowed"),
        "{failed}"
    );
    assert_eq!(fault.at, None);
    match network(&text("live")).carry("mine", own::connect).run() {
        Err(e @ Error::NoReference(_)) => assert!(e.to_string().contains("\"theory\"")),
        other => panic!("{:?}", other.map(|_| ())),
    }
}

/// Each end has a log in the run of the capture, and only there. Logs without contents are not files.
#[test]
fn a_failure_has_the_logs_of_the_stacks() {
    use std::io::Write;
    let dir = tempfile::tempdir().expect("a folder");
    let connect = |setup: &Setup<'_>| {
        if let Some([sender, receiver]) = setup.logs {
            // The same log, whose clones are with both ends for the whole run.
            let (mut text, mut records) = (sender.clone(), receiver.clone());
            text.write_all(b"slow start\n").expect("in memory");
            if setup.packet.get() == 1500 {
                records.write_all(b"\x1e{}\n").expect("in memory");
            }
        }
        ceasing(false)(setup)
    };
    let two = ALONE.replace("packet = \"1500 B\"", "packet = \"1500 B\"\ncount = 2");
    let failed = failed(network(&two).carry("mine", connect).folder(dir.path()));
    let stem = stem(&failed);
    assert!(stem.starts_with("alone.") && stem.len() == "alone.".len() + 8, "{stem}");
    let names = ["1.sender.log", "1.receiver.sqlog", "2.sender.log", "2.receiver.sqlog"];
    let names = names.map(|name| format!("{stem}.mine.{name}"));
    assert_eq!(failed.logs, Ok(names.iter().map(|name| dir.path().join(name)).collect()));
    let text = std::fs::read_to_string(dir.path().join(&names[2])).expect("a log");
    assert_eq!(text, "slow start\n");
    assert!(failed.is_repeatable, "{failed}");
    let said = format!("\n  log: {}\n", dir.path().join(&names[1]).display());
    assert!(failed.to_string().contains(&said), "{failed}");
    let small = two.replace("1500 B", "1400 B");
    let failed = self::failed(network(&small).carry("mine", connect).folder(dir.path()));
    assert_eq!(failed.logs.map(|logs| logs.len()), Ok(2));
    // The verdict of a stack without logs names none.
    let none = self::failed(network(ALONE).carry("mine", ceasing(true)).folder(dir.path()));
    assert_eq!(none.logs, Ok(Vec::new()));
}

/// A flow of a group that a stack of its own carries has its own log, whichever of the group it is.
#[test]
fn a_log_is_that_of_its_flow() {
    use std::io::Write;
    let saying = |what: &'static str| {
        move |setup: &Setup<'_>| {
            if let Some([sender, _]) = setup.logs {
                sender.clone().write_all(what.as_bytes()).expect("in memory");
            }
            ceasing(false)(setup)
        }
    };
    let two = ALONE.replace("packet = \"1500 B\"", "packet = \"1500 B\"\ncount = 2");
    for (one, other) in [("mine.1", "mine.2"), ("mine.2", "mine.1")] {
        let dir = tempfile::tempdir().expect("a folder");
        let net = network(&two).carry("mine", saying("group")).carry(one, saying("one"));
        let failed = failed(net.folder(dir.path()));
        let stem = stem(&failed);
        let read = |flow: &str| {
            let path = dir.path().join(format!("{stem}.{flow}.sender.log"));
            std::fs::read_to_string(path).expect("a log")
        };
        assert_eq!((read(one), read(other)), ("one".into(), "group".into()));
    }
}

/// A stack whose second connection is another one is found out.
#[test]
fn a_stack_that_does_not_repeat_itself_is_named() {
    let count = std::sync::atomic::AtomicU64::new(0);
    let connect = move |setup: &Setup<'_>| {
        let number = count.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        if number == 0 { ceasing(false)(setup) } else { own::connect(setup) }
    };
    let dir = tempfile::tempdir().expect("a folder");
    let failed = failed(network(ALONE).carry("mine", connect).folder(dir.path()));
    assert!(!failed.is_repeatable && failed.faults[0].packet.is_none());
    assert!(failed.to_string().contains("a second run differs"), "{failed}");
}

#[test]
fn what_is_wrong_with_a_test_is_said() {
    let carried = |text: &str| network(text).carry("mine", own::connect);
    let wrong = |net: Net| match net.run().and_then(|outcome| outcome.verdict()) {
        Err(e) => e.to_string(),
        Ok(()) => panic!("it passes"),
    };
    let e = wrong(network(ALONE).carry("mien", own::connect));
    assert_eq!(e, "the scenario has no flow \"mien\" to carry (there are: mine)");
    let e = wrong(carried(&ALONE.replace("throughput", "thruput")));
    assert!(e.contains("network.toml:14:"), "{e}");
    let e = wrong(carried(ALONE.split("[[expect]]").next().expect("a part")));
    assert!(e.contains("no expectation of the packet engine"), "{e}");
    let e = wrong(accord_net::scenario("no-such-file.toml").carry("mine", own::connect));
    assert!(e.contains("no-such-file.toml"), "{e}");
    let tunnel = ALONE.replace("\"newreno\"", "\"monaco\"");
    let e = wrong(carried(&tunnel));
    assert_eq!(e, "flow mine cannot be carried: its controller does not run on a stream");
    for (more, why) in [
        ("demand = { web = { load = \"100 Kbps\" } }", "a web user has one for each file"),
        ("demand = { media = {} }", "does not report an allowed rate"),
    ] {
        let e =
            wrong(carried(&ALONE.replacen("controller", &format!("{more}\n    controller"), 1)));
        assert!(e.starts_with("flow mine cannot be carried: ") && e.contains(why), "{e}");
    }
    let e = wrong(carried(&ALONE.replace("1500 B", "30 B")));
    assert!(e.contains("packets of 30 B have no room for a number"), "{e}");
}

#[test]
fn a_scenario_is_read_from_a_file_and_its_sweep_is_run() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("duel.toml");
    let sweep =
        "[sweep.rate]\nset = [\"topology.dumbbell.rate\"]\nvalues = [\"10 Mbps\", \"20 Mbps\"]\n";
    std::fs::write(&path, format!("{}\n{sweep}", ALONE.replace("id = \"alone\"", "")))
        .expect("written");
    let net = accord_net::scenario(&path.display().to_string());
    let outcome = net.carry("mine", own::connect).run().expect("it runs");
    assert_eq!(outcome.runs().len(), 2);
    outcome.verdict().expect("both are met");
}
