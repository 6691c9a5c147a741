//! The tunnels and flows in them that the live engine accepts. Their runs are tested with the
//! program: `cargo test -p accord-cli --features lab,gateway --test live_sites`.
#![cfg(target_os = "linux")]

mod common;

use accord_live::{LiveError, Mode, Program, Setting, obstacle, run};
use accord_record::Quiet;
use common::scenario;

const SITES: &str = r#"
    duration = "1 s"
    [link.core]
    from = "west"
    to = "hub"
    rate = "10 Mbps"
    delay = "5 ms"
    [flow.tunnel]
    from = "west"
    to = "hub"
    controller = { name = "monaco", target = "2 pkt" }
    packet = "1060 B"
    tunnel = {}
    [flow.users]
    through = "tunnel"
    controller = "cubic"
"#;

/// Returns the error of a run with gateways of a missing program.
fn refusal(text: &str) -> String {
    let setting = Setting {
        mode: Mode::Namespaces,
        gateway: Some(Program { path: "/nonexistent/accord".into(), controller: "monaco" }),
    };
    match obstacle(setting, &[scenario(text)]) {
        Some(LiveError::Scenario(why)) => why,
        other => format!("{other:?}"),
    }
}

#[test]
fn what_gateways_do_not_have_is_refused() {
    let with = |old: &str, new: &str| {
        assert!(SITES.contains(old));
        refusal(&SITES.replace(old, new))
    };
    for (old, new, said) in [
        ("target = \"2 pkt\"", "gain = 0.2", "do not support gain = 0.2"),
        ("tunnel = {}", "tunnel = { overhead = \"40 B\" }", "add 60 B"),
        ("tunnel = {}", "tunnel = {}\nstart = \"0.5 s\"", "start with the run"),
        ("1060 B", "20000 B", "packets of 576 to 9000 bytes"),
        ("\"cubic\"", "\"vegas\"", "kernel has no vegas; kernel ="),
        ("\"cubic\"", "\"cubic\"\ndemand = { web = {} }", "a web user"),
        ("\"cubic\"", "\"cubic\"\npacket = \"500 B\"", "too small"),
    ] {
        let why = with(old, new);
        assert!(why.contains(said), "{new}: {why}");
        assert!(why.contains("tunnel") || why.contains("users"), "{why}");
    }
}

#[test]
fn a_build_without_gateways_says_so() {
    let s = scenario(SITES);
    for mode in [Mode::Loopback, Mode::Namespaces] {
        for why in [obstacle(mode, std::slice::from_ref(&s)), run(&s, mode, &mut Quiet).err()] {
            let Some(LiveError::Unable(why)) = why else {
                panic!("{why:?}");
            };
            assert!(why.contains("--features gateway"), "{why}");
        }
    }
}

#[test]
fn gateways_need_namespaces() {
    let setting = Setting {
        mode: Mode::Loopback,
        gateway: Some(Program { path: "/nonexistent/accord".into(), controller: "monaco" }),
    };
    match obstacle(setting, &[scenario(SITES)]) {
        Some(LiveError::Unable(why)) => assert!(why.contains("--live namespaces"), "{why}"),
        other => panic!("{other:?}"),
    }
}

/// A program that is not a gateway ends the run at once, with its error.
#[test]
fn a_program_without_gateways_is_an_error() {
    let setting = Setting {
        mode: Mode::Namespaces,
        gateway: Some(Program { path: "/bin/false".into(), controller: "monaco" }),
    };
    let s = scenario(SITES);
    if obstacle(setting.clone(), std::slice::from_ref(&s)).is_some() {
        return;
    }
    match run(&s, setting, &mut Quiet) {
        Err(LiveError::Unable(why)) => assert!(why.contains("cannot make a key"), "{why}"),
        other => panic!("{other:?}"),
    }
}
