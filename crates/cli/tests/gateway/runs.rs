//! Commands with gateways that run.

use crate::accept::{ACCEPT, Running};
use crate::common::{accord, end, program, signal, skipped};
use crate::site;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Gateways are found by their processes, and asked by their doors.
#[test]
fn gateways_of_the_host_are_listed() {
    let folder = site();
    let dir = folder.path();
    // A shell by the name of the program, with a script by the name of the command: its words are those
    // of a gateway.
    std::os::unix::fs::symlink("/bin/sh", dir.join("accord")).expect("made");
    std::fs::write(dir.join("gateway"), "read line\n").expect("written");
    let mut process = Command::new(dir.join("accord"))
        .args(["gateway", "run", "site.toml"])
        .current_dir(dir)
        .stdin(Stdio::piped())
        .spawn()
        .expect("it runs");
    let own = |line: &&str| line.contains(&dir.display().to_string());
    let silent = accord(dir, &["gateway", "list"]).with(0);
    let line = silent.stdout.lines().find(own).expect("it is listed");
    assert!(line.contains("the gateway does not answer"), "{line}");
    let running = Running::new(dir, |_| {
        "{\"peers\":[{\"up\":true,\"reason\":null,\"contract_kept\":1.2},\
         {\"up\":true,\"reason\":\"its limit\",\"contract_kept\":0.4},{\"up\":false,\"reason\":\"no\"}]}"
            .into()
    });
    let listed = accord(dir, &["gateway", "list"]).with(0);
    let line = listed.stdout.lines().find(own).expect("it is listed");
    let cells: Vec<&str> = line.split_whitespace().skip(1).collect();
    assert_eq!(cells, [&process.id().to_string(), "3", "2", "2", "40"]);
    running.end();
    drop(process.stdin.take());
    process.wait().expect("it ends");
    assert_eq!(accord(dir, &["gateway", "list"]).with(0).stdout.lines().find(own), None);
}

/// A trace begins, prints the lines of the gateway, and ends after its time.
#[test]
fn a_trace_prints_the_lines_of_the_gateway() {
    let folder = site();
    let dir = folder.path();
    let running = Running::new(dir, |_| "level=debug event=report peer=berlin\n".into());
    let trace = |words: &[&str]| accord(dir, &[&["gateway", "trace", "site.toml"], words].concat());
    let traced = trace(&["berlin", "--for", "300 ms"]).with(0);
    assert!(traced.stdout.starts_with("level=debug event=report peer=berlin\n"), "{traced:?}");
    assert!(trace(&["rome"]).with(2).stderr.contains("peers are berlin, paris"));
    assert!(trace(&["berlin", "--for", "2"]).with(2).stderr.contains("--for"));
    assert_eq!(running.end(), ["POST /trace/berlin/300 HTTP/1.1"]);
}

/// Two namespaces with a wire between them, and the gateways in them, which are removed when this is dropped.
struct Walk {
    ends: [String; 2],
    gateways: Vec<std::process::Child>,
}

impl Walk {
    /// Returns the namespaces, or why there are none.
    fn new() -> Result<Walk, String> {
        let ends = ["a", "b"].map(|end| format!("walk{}{end}", std::process::id()));
        let walk = Walk { ends: ends.clone(), gateways: Vec::new() };
        let [a, b] = &ends;
        let mut commands = vec![format!("netns add {a}"), format!("netns add {b}")];
        commands.push(format!("link add w netns {a} type veth peer name w netns {b}"));
        for (end, address) in [(a, "192.0.2.5/24"), (b, "192.0.2.6/24")] {
            commands.push(format!("-n {end} address add {address} dev w"));
            commands.push(format!("-n {end} link set w up"));
            commands.push(format!("-n {end} link set lo up"));
        }
        for command in commands {
            let ended = Command::new("ip").args(command.split(' ')).output();
            let ended = ended.map_err(|e| format!("ip cannot be run: {e}"))?;
            if !ended.status.success() {
                let why = String::from_utf8_lossy(&ended.stderr).into_owned();
                return Err(format!("ip {command}: {}", why.trim()));
            }
        }
        Ok(walk)
    }

    /// Starts the program at one end.
    fn start(&mut self, end: usize, dir: &Path, words: &[&str]) {
        let here = program(dir, words);
        let mut there = Command::new("ip");
        there
            .args(["netns", "exec", &self.ends[end]])
            .arg(here.get_program())
            .args(here.get_args())
            .current_dir(dir)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        self.gateways.push(there.spawn().expect("it runs"));
    }
}

impl Drop for Walk {
    fn drop(&mut self) {
        for gateway in &mut self.gateways {
            let _ = gateway.kill();
            let _ = gateway.wait();
        }
        for end in &self.ends {
            let _ = Command::new("ip").args(["netns", "delete", end]).output();
        }
    }
}

/// The walk of the how-to, with its own site file: keys, check, predict, run, status, mode, accept and metrics.
/// The name is one of the first, since this test takes longest and tests start by name.
#[test]
fn a_walk_by_the_how_to_works() {
    let mut walk = match Walk::new() {
        Ok(walk) => walk,
        Err(why) => return skipped(&why),
    };
    if !Path::new("/dev/net/tun").exists() {
        return skipped("there is no /dev/net/tun");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let hamburg = accord(dir, &["gateway", "keys", "site.key"]).with(0).stdout;
    let berlin = accord(dir, &["gateway", "keys", "berlin.key"]).with(0).stdout;
    let example =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/gateway/hamburg.toml");
    let text = std::fs::read_to_string(example).expect("readable");
    let own = text
        .replace("(what accord gateway keys prints there)", berlin.trim())
        .replace("/run/accord-gateway-site/status.sock", "site.sock");
    let other = text
        .replace("(what accord gateway keys prints there)", hamburg.trim())
        .replace("/run/accord-gateway-site/status.sock", "berlin.sock")
        .replace("site.key", "berlin.key")
        .replace("10.2.0.0/24", "10.9.0.0/24")
        .replace("10.1.0.", "10.2.0.")
        .replace("10.9.0.0/24", "10.1.0.0/24")
        .replace("192.0.2.6", "192.0.2.5");
    for (file, text) in [("site.toml", own), ("berlin.toml", other)] {
        std::fs::write(dir.join(file), text).expect("written");
        let checked = accord(dir, &["gateway", "check", file]).with(0);
        assert!(!checked.stderr.contains("warning"), "{checked:?}");
    }
    let path = ["gateway", "predict", "site.toml", "--path", "berlin=40 ms"];
    assert!(accord(dir, &path).with(0).stdout.contains("berlin"));
    for (end, file) in ["site.toml", "berlin.toml"].iter().enumerate() {
        walk.start(end, dir, &["gateway", "run", file]);
    }
    let status = ["gateway", "status", "site.toml"];
    let state = |dir: &Path| {
        let ended =
            end(program(dir, &[&status[..], &["--json"]].concat()).spawn().expect("it runs"));
        let found: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        found["peers"][0]["state"].as_str().map(String::from)
    };
    let until = std::time::Instant::now() + Duration::from_secs(60);
    while state(dir).as_deref() != Some("controlled") {
        assert!(std::time::Instant::now() < until, "{:?}", accord(dir, &status));
        std::thread::sleep(Duration::from_millis(100));
    }
    let mode = ["gateway", "mode", "site.toml", "berlin", "enforce"];
    accord(dir, &mode).with(0);
    let table = accord(dir, &status).with(0).stdout;
    assert!(table.contains("berlin") && table.contains("enforce"), "{table}");
    // Its verdict is one on this machine, which may be late.
    let accepted = accord(dir, &[ACCEPT, &["--class", "voice"]].concat());
    assert_eq!(accepted.stdout.matches("voice").count(), 5, "{accepted:?}");
    assert!(accepted.stderr.contains("of 5 steps passed"), "{accepted:?}");
    let metrics = accord(dir, &[&status[..], &["--metrics"]].concat()).with(0).stdout;
    assert!(metrics.contains("accord_gateway_peer_up{peer=\"berlin\"} 1"), "{metrics}");
}

/// A network behind a peer that the host reaches through another device, such as that of plain WireGuard.
#[test]
fn a_check_finds_the_routes_of_other_devices() {
    let walk = match Walk::new() {
        Ok(walk) => walk,
        Err(why) => return skipped(&why),
    };
    let folder = site();
    let check = |words: &[&str]| {
        let here = program(folder.path(), &[&["gateway", "check", "site.toml"], words].concat());
        let mut there = Command::new("ip");
        there.args(["netns", "exec", &walk.ends[0]]).arg(here.get_program()).args(here.get_args());
        let ended = there.current_dir(folder.path()).output().expect("it runs");
        assert!(ended.status.success(), "{ended:?}");
        [ended.stdout, ended.stderr].map(|text| String::from_utf8_lossy(&text).into_owned())
    };
    assert!(!check(&[])[1].contains("already reaches"));
    // The longer prefix is not that of a peer.
    for network in ["10.2.0.0/24", "10.3.0.0/25"] {
        let add = ["-n", &walk.ends[0], "route", "add", network, "dev", "w"];
        assert!(Command::new("ip").args(add).status().expect("it runs").success());
    }
    let [_, warned] = check(&[]);
    assert!(warned.contains("already reaches 10.2.0.0/24 through w:"), "{warned}");
    assert!(!warned.contains("10.3.0.0"), "{warned}");
    let json: serde_json::Value = serde_json::from_str(&check(&["--json"])[0]).expect("JSON");
    assert_eq!(json["taken"], serde_json::json!([{ "network": "10.2.0.0/24", "device": "w" }]));
}

/// The log is on a full disk: the gateway still runs, answers, reloads and stops.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_does_not_stop_a_gateway() {
    let folder = site();
    let dir = folder.path();
    let text = std::fs::read_to_string(dir.join("site.toml")).expect("readable");
    let text = text.replace("127.0.0.1:0", "127.0.0.1:51820");
    std::fs::write(dir.join("site.toml"), &text).expect("written");
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full");
    // A private network namespace, so the machine's network is not changed.
    let mut command = Command::new("unshare");
    command
        .args(["-n", env!("CARGO_BIN_EXE_accord"), "gateway", "run", "site.toml"])
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(full().expect("there is /dev/full"))
        .stderr(full().expect("there is /dev/full"));
    let Ok(mut child) = command.spawn() else {
        return skipped("the program unshare is not installed");
    };
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let ask = ["gateway", "status", "site.toml", "--json"];
    let mut status = end(program(dir, &ask).spawn().expect("it can be started"));
    while status.code != Some(0) && std::time::Instant::now() < until {
        if child.try_wait().expect("it was started").is_some() {
            return skipped("a gateway takes root, /dev/net/tun and iproute2");
        }
        std::thread::sleep(Duration::from_millis(50));
        status = accord(dir, &ask);
    }
    assert_eq!(status.with(0).json()["peers"][0]["name"], "berlin");
    // A line of the log per mode and per reload.
    accord(dir, &["gateway", "mode", "site.toml", "berlin", "shadow"]).with(0);
    std::fs::write(dir.join("site.toml"), text.replace("10 Mbps", "12 Mbps")).expect("written");
    signal(&child, "-HUP");
    let until = std::time::Instant::now() + Duration::from_secs(60);
    let contract = || accord(dir, &ask).with(0).json()["peers"][0]["contract_bytes_per_s"].clone();
    while contract() != 1.5e6 && std::time::Instant::now() < until {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(contract(), 1.5e6);
    // A command that cannot print fails itself.
    let mut status = program(dir, &ask);
    let ended = end(status.stdout(full().expect("there is /dev/full")).spawn().expect("started"));
    assert!(ended.code != Some(0) && !ended.stderr.contains("panicked"), "{ended:?}");
    signal(&child, "-TERM");
    assert_eq!(child.wait().expect("it was started").code(), Some(0));
}
