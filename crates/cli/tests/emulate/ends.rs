//! Ends at several nodes, in namespaces of others, alongside other traffic and next to packets.

use super::{PORT, Place, exchange, program, text};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::net::{Ipv4Addr, TcpListener, TcpStream, ToSocketAddrs};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Connects to a program that may not listen yet: a busy machine starts it later. It has a minute.
#[expect(clippy::disallowed_methods, reason = "it waits for another process")]
pub fn connect(to: impl ToSocketAddrs + std::fmt::Debug) -> TcpStream {
    let until = Instant::now() + Duration::from_secs(60);
    loop {
        match TcpStream::connect(&to) {
            Ok(stream) => return stream,
            Err(e) => assert!(Instant::now() < until, "{to:?} does not listen: {e}"),
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Passes two megabytes on that the server at the node c has, to one connection.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn relay() {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).expect("a port");
    let (mut near, _) = listener.accept().expect("a connection");
    let c = std::env::var("ACCORD_C").expect("it is set");
    let mut far = connect((c, PORT));
    assert_eq!(std::io::copy(&mut far, &mut near).expect("data"), 2_000_000);
}

/// Reads two megabytes from each of two nodes.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn reader() {
    for name in ["ACCORD_B", "ACCORD_C"] {
        let to = std::env::var(name).expect("it is set");
        let mut stream = connect((to, PORT));
        assert_eq!(std::io::copy(&mut stream, &mut std::io::sink()).expect("data"), 2_000_000);
    }
}

const STAR: &str = r#"
duration = "1 s"
link.a = { from = "a", to = "hub", rate = "50 Mbps", delay = "1 ms" }
link.b = { from = "b", to = "hub", rate = "50 Mbps", delay = "1 ms" }
link.c = { from = "c", to = "hub", rate = "50 Mbps", delay = "1 ms" }
"#;

/// Three programs reach each other over the links of a scenario, in new namespaces and in those of others.
#[test]
fn programs_at_three_nodes_reach_each_other() {
    let place = Place::new("three");
    std::fs::write(place.0.join("star.toml"), STAR).expect("it is written");
    let (relay, server) = (program("ends::relay").join(" "), program("server").join(" "));
    let reader = program("ends::reader");
    let reader: Vec<_> = reader.iter().map(String::as_str).collect();
    let ends = ["star.toml", "--from", "a", "--at", "b", &relay, "--at", "c", &server];
    let Some(output) = place.emulate(&ends, &reader) else { return };
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    // Data, or acknowledgements, go each way.
    for of in ["a-to-b", "b-to-a", "b-to-c", "c-to-b", "a-to-c", "c-to-a"] {
        assert!(place.mean("runs/star", of, "throughput") > 0.0, "{of}");
    }
    assert!(place.mean("runs/star", "c-to-b", "throughput") > 1e5);
    let joined = [Other::new(), Other::new(), Other::new()];
    let [Some(a), Some(b), Some(c)] = &joined else { return };
    let before = [a, b, c].map(Other::state);
    let [b_is, c_is] = [("b", b), ("c", c)].map(|(name, other)| format!("{name}={}", other.0.id()));
    let join = ["--join", &a.0.id().to_string(), "--join", &b_is, "--join", &c_is];
    let Some(output) = place.emulate(&[&ends[..], &join].concat(), &reader) else { return };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let line = "accord is in the namespace of b, with 198.18.0.2; a is 198.18.0.1, c is 198.18.0.3";
    assert!(said.contains(line), "{said}");
    assert_eq!(before, [a, b, c].map(Other::state));
}

/// A process in a network namespace of its own, until the end of a test.
struct Other(Child);

impl Other {
    fn new() -> Option<Other> {
        Other::running(&["sleep".into(), "600".into()])
    }

    fn running(line: &[String]) -> Option<Other> {
        let mut child = Command::new("unshare").arg("-n").args(line).spawn().ok()?;
        let own = std::fs::read_link("/proc/self/ns/net").ok()?;
        loop {
            let its = std::fs::read_link(format!("/proc/{}/ns/net", child.id())).ok()?;
            if its != own {
                return Some(Other(child));
            }
            if child.try_wait().ok()?.is_some() {
                return None;
            }
            std::thread::yield_now();
        }
    }

    /// The devices, and the routes of IPv4.
    fn state(&self) -> String {
        let read = |table: &str| {
            let table = std::fs::read_to_string(format!("/proc/{}/net/{table}", self.0.id()));
            let table = table.expect("it runs");
            let words = table.lines().filter_map(|line| line.split_whitespace().next());
            // An empty table may have no head.
            words.filter(|word| *word != "Iface").collect::<Vec<_>>().join(" ")
        };
        format!("{}; {}", read("dev"), read("route"))
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn namespaces_of_others_are_joined_and_left_as_they_were() {
    let place = Place::new("join");
    let (Some(a), Some(b)) = (Other::new(), Other::new()) else { return };
    let before = [a.state(), b.state()];
    let ids = format!("{},{}", a.0.id(), b.0.id());
    let (server, client) = (program("server").join(" "), program("client"));
    let client: Vec<_> = client.iter().map(String::as_str).collect();
    let options =
        ["--rate", "50 Mbps", "--join", &ids, "--route", "192.0.2.0/24", "--server", &server];
    let Some(output) = place.emulate(&options, &client) else { return };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("accord is in the namespace of server, with 198.18.0.2"), "{said}");
    assert_eq!(before, [a.state(), b.state()]);
    // These would not cross the path, or would cross it without end, or are no networks.
    let (one, own) = (a.0.id().to_string(), "/proc/self/ns/net".to_string());
    let same = format!("{one},{one}");
    for (join, route, code, what) in [
        (&same, "192.0.2.0/24", 2, "the same network namespace"),
        (&own, "192.0.2.0/24", 2, "into the path again"),
        (&one, "10.0.0.1/8", 2, "beyond its prefix of 8"),
    ] {
        let refused =
            place.emulate(&["--rate", "9 Mbps", "--join", join, "--route", route], &["true"]);
        let refused = refused.expect("it was possible before");
        let said = text(&refused.stderr);
        assert_eq!(refused.status.code(), Some(code), "{said}");
        assert!(said.contains(what), "{said}");
    }
    assert_eq!(before, [a.state(), b.state()]);
    // Without a command it lasts until an interruption, and it may be killed.
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_accord"));
        child.current_dir(&place.0).args(["emulate", "--rate", "9 Mbps", "--join", &ids]);
        child.stderr(Stdio::null());
        let mut child = child.spawn().expect("it starts");
        while !b.state().contains("accord") {
            assert!(child.try_wait().expect("it is ours").is_none());
            std::thread::yield_now();
        }
        let number = i32::try_from(child.id()).expect("a number");
        kill(Pid::from_raw(number), signal).expect("it runs");
        let code = child.wait().expect("it ends").code();
        assert!(signal == Signal::SIGKILL || code == Some(0), "{code:?}");
        while before != [a.state(), b.state()] {
            std::thread::yield_now();
        }
    }
}

/// Listens, and says so.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn idler() {
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    std::fs::write("idler", "").expect("it is written");
    while listener.accept().is_ok() {}
}

/// A listener of others in a joined namespace is not the server.
#[test]
fn the_command_waits_for_its_server_and_not_for_another() {
    let place = Place::new("waits");
    let own = program("ends::idler").join(" ");
    let idler = format!("cd {} && exec {own}", place.0.display());
    let Some(mut other) = Other::running(&["sh", "-c", &idler].map(String::from)) else { return };
    while !place.0.join("idler").exists() {
        assert!(other.0.try_wait().expect("it is ours").is_none());
        std::thread::yield_now();
    }
    let join = format!("server={}", other.0.id());
    let server = format!("sleep 0.2; touch ready; {own}");
    let options = ["--rate", "9 Mbps", "-q", "--join", &join, "--server", &server];
    let line = "test -e ready || cat /proc/uptime > late";
    let uptime = |path: &Path| -> Option<f64> {
        std::fs::read_to_string(path).ok()?.split_whitespace().next()?.parse().ok()
    };
    let begun = uptime(Path::new("/proc/uptime")).expect("Linux has it");
    let Some(output) = place.emulate(&options, &["sh", "-c", line]) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // A server that takes longer is waited for two seconds.
    let waited = uptime(&place.0.join("late")).map(|late| late - begun);
    assert!(waited.is_none_or(|seconds| seconds > 1.9), "the command waited for {waited:?} s");
}

#[test]
fn packets_stand_beside_an_emulation() {
    let place = Place::new("like");
    // One flow for each connection.
    let options =
        ["--rate", "20 Mbps", "--delay", "5 ms", "--flows", "2", "--like", "cubic", "--csv"];
    let Some(output) = exchange(&place, &options) else { return };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let run = std::fs::read_to_string(place.0.join("runs/emulate/summary.json"));
    let run: Value = serde_json::from_str(&run.expect("a summary")).expect("JSON");
    let rows = run["comparison"].as_array().expect("rows");
    let of = |group: &str| {
        let mut rows = rows.iter();
        let row = rows.find(|row| row["group"] == group && row["quantity"] == "throughput");
        let values = row.expect("a row")["values"].as_array().expect("columns");
        let find = |c: &str| values.iter().find(|v| v["column"] == c).map(|v| v["mean"].as_f64());
        (find("packet").flatten(), find("live").flatten())
    };
    let (packets, live) = of("to-client");
    // Means over the whole emulation, which may last far longer than the transfer.
    assert!(packets.is_some_and(|p| p > 1e5) && live.is_some_and(|l| l > 1e5), "{rows:?}");
    // Acknowledgements have no flow in packets.
    assert!(of("to-server").0.is_none_or(|p| p == 0.0), "{rows:?}");
    // A flow that sends nothing at a time has a rate of zero in both. Retransmissions of programs are unknown.
    let series = std::fs::read_to_string(place.0.join("runs/emulate/series.csv"));
    let series = series.expect("a table");
    for (of, is_known) in [
        (",packet,flow,to-client.1,throughput,", true),
        (",live,flow,to-client.1,throughput,", true),
        (",live,flow,to-client.1,retransmissions,", false),
    ] {
        let rows: Vec<&str> = series.lines().filter(|row| row.contains(of)).collect();
        assert!(!rows.is_empty(), "{of}: {series}");
        assert!(rows.iter().all(|row| row.ends_with(',') != is_known), "{of}: {rows:?}");
    }
    let wrong = place.emulate(&["--rate", "9 Mbps", "--like", "cubik"], &["true"]);
    let wrong = wrong.expect("it was possible before");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("cubic"), "{}", text(&wrong.stderr));
}

const RIVALS: &str = r#"
duration = "1 s"
[topology.dumbbell]
rate = "20 Mbps"
delay = "1 ms"
[flow]
ours = { from = "left", to = "right", controller = "cubic", packet = "1500 B" }
linux = { from = "left", to = "right", kernel = "reno", packet = "1500 B" }
"#;

#[test]
fn flows_of_the_scenario_are_cross_traffic() {
    let place = Place::new("rivals");
    std::fs::write(place.0.join("path.toml"), RIVALS).expect("it is written");
    let Some(output) = exchange(&place, &["path.toml", "-o", "run"]) else { return };
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for of in ["ours", "linux", "to-client"] {
        assert!(place.mean("run", of, "throughput") > 1e5, "{of}: {said}");
    }
    assert!(said.contains("connections of Linux"), "{said}");
}
