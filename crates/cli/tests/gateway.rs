//! Commands of the gateway, which need a build with it: `cargo test -p accord-cli --features
//! lab,gateway --test gateway`.

#![cfg(all(feature = "gateway", unix))]
#![allow(clippy::disallowed_methods, reason = "real time passes here")]

mod common;

use common::{accord, end, program, signal, skipped};
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// Returns a folder with a site of two peers and a class, over an uplink of 30 Mbps.
fn site() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let made = accord(dir, &["gateway", "keys", "site.key"]).with(0);
    let own = made.stdout.trim();
    let key = |file: &str| accord(dir, &["gateway", "keys", file]).with(0).stdout;
    let (berlin, paris) = (key("berlin.key"), key("paris.key"));
    assert_ne!(own, berlin.trim());
    let text = format!(
        "[gateway]\nkey = \"site.key\"\nlisten = \"127.0.0.1:0\"\nuplink = \"30 Mbps\"\n\
         status = \"site.sock\"\n[class.voice]\ndscp = [\"EF\"]\n\
         [peer.berlin]\npublic_key = \"{}\"\nnetworks = [\"10.2.0.0/24\"]\ncap = \"50 Mbps\"\n\
         service = {{ contract = \"10 Mbps\", weight = 2 }}\n\
         [peer.berlin.class.voice]\ncontract = \"1 Mbps\"\n\
         [peer.paris]\npublic_key = \"{}\"\nnetworks = [\"10.3.0.0/24\"]\ncap = \"50 Mbps\"\n",
        berlin.trim(),
        paris.trim()
    );
    std::fs::write(dir.join("site.toml"), text).expect("written");
    folder
}

const PREDICT: &[&str] =
    &["gateway", "predict", "site.toml", "--path", "berlin=40 ms", "--path", "paris=20 ms"];

/// No command shows a key of a file of wg-quick, or of a site file with a key at a wrong place.
#[test]
fn no_command_shows_a_key() {
    let folder = site();
    let dir = folder.path();
    let secret = std::fs::read_to_string(dir.join("berlin.key")).expect("readable");
    let secret = secret.trim();
    let text = std::fs::read_to_string(dir.join("site.toml")).expect("readable");
    let files = [
        format!("[Interface]\nPrivateKey = {secret}\n[Peer]\nAllowedIPs = 0.0.0.0/0\n"),
        text.replacen("site.key", secret, 1),
        text.replacen("[peer.paris]", &format!("preshared_key = \"{secret}\"\n[peer.paris]"), 1),
        text.replacen("50 Mbps", secret, 1),
        text.replacen("[peer.paris]", &format!("{secret}\n[peer.paris]"), 1),
    ];
    for file in files {
        std::fs::write(dir.join("wrong.toml"), &file).expect("written");
        for words in [
            &["check", "wrong.toml"][..],
            &["check", "wrong.toml", "--json"],
            &["run", "wrong.toml"],
            &["status", "wrong.toml"],
            &["predict", "wrong.toml", "--path", "berlin=40 ms"],
            &["accept", "wrong.toml", "berlin"],
            &["mode", "wrong.toml", "berlin", "shadow"],
        ] {
            let words: Vec<&str> = ["gateway"].iter().chain(words).copied().collect();
            let shown = accord(dir, &words);
            let said = format!("{}{}", shown.stdout, shown.stderr);
            assert!(!said.contains(&secret[..20]) && !said.is_empty(), "{words:?}: {said}");
        }
    }
}

/// An error in the file does not hide the running gateway.
#[test]
fn status_works_with_an_invalid_file() {
    let folder = site();
    let dir = folder.path();
    let running = Running::new(dir, |_| "fine".into());
    let path = dir.join("site.toml");
    let text = std::fs::read_to_string(&path).expect("readable");
    std::fs::write(&path, text.replacen("\"50 Mbps\"", "\"much\"", 1)).expect("written");
    let status = ["gateway", "status", "site.toml", "--metrics"];
    let shown = accord(dir, &status).with(0);
    assert_eq!(shown.stdout, "fine\n");
    assert!(shown.stderr.contains("site.toml:11:7: \"much\" does not"), "{shown:?}");
    // Commands with an effect need a valid file.
    accord(dir, &["gateway", "mode", "site.toml", "berlin", "shadow"]).with(2);
    running.end();
}

/// A configuration that would not start is refused before.
#[test]
fn a_peer_with_the_gateways_own_key_is_refused() {
    let folder = site();
    let dir = folder.path();
    let checked = accord(dir, &["gateway", "check", "site.toml"]).with(0);
    let said = "site.toml is valid: 2 peers, ";
    assert!(checked.stdout.starts_with(said), "{checked:?}");
    for peer in ["berlin", "paris"] {
        let said =
            format!("warning: peer {peer}: its cap of 50 Mbps is above the uplink of 30 Mbps");
        assert!(checked.stderr.contains(&said), "{checked:?}");
    }
    let own = accord(dir, &["gateway", "keys", "site.key"]).with(0).stdout;
    let berlin = accord(dir, &["gateway", "keys", "berlin.key"]).with(0).stdout;
    let text = std::fs::read_to_string(dir.join("site.toml")).expect("readable");
    let text = text.replace(berlin.trim(), own.trim());
    std::fs::write(dir.join("own.toml"), text).expect("written");
    for command in ["check", "run"] {
        let refused = accord(dir, &["gateway", command, "own.toml"]).with(2);
        let message = "peer berlin has the key of this gateway itself";
        assert!(refused.stderr.contains(message), "{refused:?}");
    }
}

/// A file of wg-quick becomes the files of a gateway, which `check` takes. Keys are in files of their own, and on
/// no screen.
#[test]
fn a_file_of_wg_quick_is_imported() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let public = accord(dir, &["gateway", "keys", "own.key"]).with(0).stdout;
    let peer = accord(dir, &["gateway", "keys", "peer.key"]).with(0).stdout;
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).expect("readable");
    let (secret, shared) = (read("own.key"), read("peer.key"));
    let text = format!(
        "[Interface]\nPrivateKey = {secret}Address = 10.1.0.1/24\nDNS = 10.1.0.2\n\
         [Peer]\n# berlin\nPublicKey = {peer}PresharedKey = {shared}AllowedIPs = 0.0.0.0/0\n\
         Endpoint = gw.example.net:51820\nPersistentKeepalive = 25\n"
    );
    std::fs::write(dir.join("wg0.conf"), &text).expect("written");
    std::fs::create_dir(dir.join("to")).expect("made");
    let words = ["gateway", "import", "wg0.conf", "--cap", "50 Mbps", "--to", "to"];
    let made = accord(dir, &words).with(0);
    assert_eq!(made.stdout.trim(), "to/wg0.toml");
    assert!(made.stderr.contains("line 4: DNS is not taken"), "{made:?}");
    let own = accord(dir, &["gateway", "keys", "to/wg0.key"]).with(0);
    assert_eq!(own.stdout, public);
    assert_eq!(read("to/wg0-berlin.psk"), shared);
    for secret in ["to/wg0.key", "to/wg0-berlin.psk"] {
        let mode = dir.join(secret).metadata().expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{secret}");
    }
    let site = read("to/wg0.toml");
    assert!(site.contains("fwmark = 51820"), "{site}");
    let checked = accord(dir, &["gateway", "check", "to/wg0.toml"]).with(0);
    assert!(checked.stdout.contains("1 peer"), "{checked:?}");
    // No file is replaced, and a message names each fault with its place.
    let again = accord(dir, &words).with(2);
    assert!(again.stderr.contains("to/wg0.toml is there already"), "{again:?}");
    std::fs::write(dir.join("wg0.conf"), text.replace("0.0.0.0/0", "all")).expect("written");
    let wrong = accord(dir, &words).with(2);
    assert!(wrong.stderr.contains("wg0.conf:9"), "{wrong:?}");
    for said in [&made, &checked, &again, &wrong] {
        for key in [secret.trim(), shared.trim()] {
            assert!(!said.stderr.contains(key) && !said.stdout.contains(key), "{said:?}");
        }
        assert!(!site.contains(secret.trim()) && !site.contains(shared.trim()));
    }
}

/// A folder that is not there is made, and a disk that is full leaves no file that is in the way later.
#[test]
fn keys_are_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let made = accord(dir, &["gateway", "keys", "etc/accord/site.key"]).with(0);
    let again = accord(dir, &["gateway", "keys", "etc/accord/site.key"]).with(0);
    assert_eq!(made.stdout, again.stdout);
    // A file system of one page, which another file fills.
    std::fs::create_dir(dir.join("full")).expect("made");
    let script = "mount -t tmpfs -o size=4k none full && head -c 4096 /dev/zero > full/other && \
                  { \"$0\" gateway keys full/site.key; echo $? > code; ls full > list; }";
    let program = env!("CARGO_BIN_EXE_accord");
    let ran = Command::new("unshare")
        .args(["--mount", "sh", "-c", script, program])
        .current_dir(dir)
        .output();
    let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_default();
    match ran {
        Ok(ran) if read("code").is_empty() => {
            skipped(&format!("no file system: {}", String::from_utf8_lossy(&ran.stderr)));
        }
        Ok(ran) => {
            assert_ne!(read("code"), "0\n");
            assert_eq!(read("list"), "other\n");
            let said = String::from_utf8_lossy(&ran.stderr);
            assert!(said.contains("cannot be written"), "{said}");
        }
        Err(e) => skipped(&format!("unshare: {e}")),
    }
}

/// The example of a hub and two spokes: with the keys in their places, each file is right.
#[test]
fn the_example_of_a_hub_is_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let sites = ["hamburg", "berlin", "munich"];
    let keys = sites.map(|site| {
        let key = accord(dir, &["gateway", "keys", &format!("{site}.key")]).with(0);
        key.stdout.trim().to_string()
    });
    for site in sites {
        let path = format!("../../docs/examples/gateway/hub/{site}.toml");
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
        let mut text = std::fs::read_to_string(path).expect("readable");
        let file = format!("{site}.toml");
        std::fs::write(dir.join(&file), &text).expect("written");
        let refused = accord(dir, &["gateway", "check", &file]).with(2);
        assert!(refused.stderr.contains("expected a key"), "{refused:?}");
        for (of, key) in sites.iter().zip(&keys) {
            text = text.replace(&format!("(the key of {of})"), key);
        }
        std::fs::write(dir.join(&file), &text).expect("written");
        let checked = accord(dir, &["gateway", "check", &file]).with(0);
        assert!(!checked.stderr.contains("warning"), "{checked:?}");
    }
}

/// The files of a hub and fifty spokes: each is right, without a warning.
#[test]
fn the_files_of_a_hub_and_fifty_spokes_are_right() {
    let folder = tempfile::tempdir().expect("a folder");
    let dir = folder.path();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../gateway/tools/hub.py");
    let made = Command::new("python3")
        .arg(script)
        .args([env!("CARGO_BIN_EXE_accord"), "--spokes", "50", "--to", "hub"])
        .current_dir(dir)
        .output();
    match made {
        Ok(made) => assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr)),
        Err(e) => return skipped(&format!("python3: {e}")),
    }
    for site in ["hub", "site1", "site50"] {
        let file = format!("hub/{site}.toml");
        let checked = accord(dir, &["gateway", "check", &file]).with(0);
        assert!(!checked.stderr.contains("warning"), "{checked:?}");
        let peers = if site == "hub" { 50 } else { 1 };
        let yields = "yields while the path's queue is longer than 250 ms";
        assert_eq!(checked.stdout.matches(yields).count(), peers, "{checked:?}");
    }
    assert_eq!(dir.join("hub").read_dir().expect("there").count(), 2 * 51);
}

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

/// A step has a unit, and bounds.
#[test]
fn the_length_of_a_step_has_a_unit() {
    let folder = site();
    for (step, says) in [("5", "--step"), ("0.5 s", "from 1 s"), ("2 h", "--step")] {
        let words = ["gateway", "accept", "site.toml", "berlin", "--step", step];
        let refused = accord(folder.path(), &words).with(2);
        assert!(refused.stderr.contains(says), "{step}: {refused:?}");
    }
}

#[test]
fn predict_prints_theorys_shares_and_writes_a_scenario_that_runs() {
    let folder = site();
    let dir = folder.path();
    let found = accord(dir, PREDICT).with(0);
    let share = |stdout: &str, peer: &str| -> f64 {
        let line = stdout.lines().find(|l| l.starts_with(peer));
        let cells: Vec<&str> = line.unwrap_or("").split_whitespace().collect();
        cells.get(2).and_then(|c| c.parse().ok()).unwrap_or(f64::NAN)
    };
    // 30 Mbps: the contract of 10, and 2:1 of the other 20.
    let (berlin, paris) = (share(&found.stdout, "berlin"), share(&found.stdout, "paris"));
    assert!((berlin - 70.0 / 3.0).abs() < 0.2 && (paris - 20.0 / 3.0).abs() < 0.2, "{found:?}");
    // A narrower path reduces the rate of one tunnel, and the other one gets the rest.
    let narrow = [&PREDICT[..6], &["paris=2 Mbps, 20 ms"]].concat();
    let found = accord(dir, &narrow).with(0);
    assert!((share(&found.stdout, "paris") - 2.0).abs() < 0.1, "{found:?}");
    assert!((share(&found.stdout, "berlin") - 28.0).abs() < 0.2, "{found:?}");
    // A cap below the rate of the path limits the hosts' demand.
    let text = std::fs::read_to_string(dir.join("site.toml")).expect("readable");
    let (peers, paris) = text.split_at(text.find("[peer.paris]").expect("a peer"));
    let text = format!("{peers}{}", paris.replace("50 Mbps", "5 Mbps"));
    std::fs::write(dir.join("capped.toml"), text).expect("written");
    let capped = [&["gateway", "predict", "capped.toml"], &PREDICT[3..]].concat();
    let found = accord(dir, &capped).with(0);
    // Control packets have the rest of 25 Mbps.
    for (peer, right) in [("paris", 5.0), ("berlin", 24.86)] {
        let share = share(&found.stdout, peer);
        assert!((share - right).abs() < 0.02, "{found:?}");
    }
    let write = [PREDICT, &["-o", "predicted.toml"]].concat();
    accord(dir, &write).with(0);
    // The tunnels with gateways, packet by packet, with connections of hosts in them. Sixteen keep
    // the edge backlogged; after losses of four it is sometimes empty, which costs share.
    let run = [
        "run",
        "predicted.toml",
        "-e",
        "theory,fluid,packet",
        "--json",
        "--set",
        "flow.berlin-hosts.count=16",
        "--set",
        "flow.paris-hosts.count=16",
    ];
    let table = accord(dir, &run).with(0).json();
    let mean = |group: &str, metric: &str, engine: &str| {
        let rows = table["points"][0]["means"].as_array().expect("rows");
        let mut rows = rows.iter();
        let row = rows.find(|r| r["group"] == group && r["quantity"] == metric);
        let values = row.and_then(|r| r["values"].as_array()).expect("values");
        let found = values.iter().find(|v| v["column"] == engine);
        found.and_then(|v| v["mean"].as_f64()).unwrap_or(f64::NAN)
    };
    for engine in ["fluid", "packet"] {
        for (peer, right) in [("berlin", 70e6 / 3.0), ("paris", 20e6 / 3.0)] {
            let rate = mean(peer, "throughput", engine);
            assert!((rate / right - 1.0).abs() < 0.05, "{engine}, {peer}: {rate}");
        }
    }
    // 60 of 1480 bytes are the tunnel's, and sixteen connections share the others.
    let share = 16.0 * mean("berlin-hosts", "throughput", "packet") * 1480.0 / 1420.0;
    let rate = mean("berlin", "throughput", "packet");
    assert!((share / rate - 1.0).abs() < 0.01, "{share} of {rate}");
    let again = accord(dir, &write).with(2);
    assert!(again.stderr.contains("--force"), "{again:?}");
    accord(dir, &[&write[..], &["--force"]].concat()).with(0);
}

#[test]
fn predict_says_what_it_does_not_know() {
    let folder = site();
    let dir = folder.path();
    let no_peer = [PREDICT, &["--path", "rome=1 ms"]].concat();
    for (args, code, says) in [
        (&PREDICT[..5], 3, "--path"),
        (&no_peer[..], 2, "rome"),
        (&["gateway", "predict", "nowhere.toml"][..], 2, "nowhere.toml"),
        (&[&PREDICT[..6], &["paris=fast"]].concat()[..], 2, "paris"),
    ] {
        let ended = accord(dir, args).with(code);
        assert!(ended.stderr.contains(says), "{args:?}: {ended:?}");
    }
}

/// Stands in for a running gateway: it takes trials, and answers each by `found`.
struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Vec<String>>>,
    socket: std::path::PathBuf,
}

impl Running {
    fn new(dir: &Path, found: fn(u64) -> String) -> Running {
        let socket = dir.join("site.sock");
        let listener = UnixListener::bind(&socket).expect("bound");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            let (mut asked, mut bps) = (Vec::new(), 0);
            while !stopped.load(Ordering::Relaxed) {
                let (mut client, _) = listener.accept().expect("a client");
                let (mut text, mut room) = (String::new(), [0; 1024]);
                while !text.contains("\r\n\r\n") {
                    match client.read(&mut room) {
                        Ok(n @ 1..) => text += &String::from_utf8_lossy(&room[..n]),
                        _ => break,
                    }
                }
                let line = text.lines().next().unwrap_or("").to_string();
                let parts: Vec<&str> = line.split(['/', ' ']).collect();
                let body = match parts.first() {
                    Some(&"POST") => {
                        bps = parts.get(5).and_then(|part| part.parse().ok()).unwrap_or(0);
                        asked.push(line.clone());
                        String::new()
                    }
                    _ => found(bps),
                };
                let length = body.len();
                let _ = write!(client, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{body}");
            }
            asked
        });
        Running { stop, thread: Some(thread), socket }
    }

    /// Stops it, and returns the requested trials.
    fn end(mut self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        let _ = UnixStream::connect(&self.socket);
        let thread = self.thread.take().expect("it runs");
        thread.join().expect("no panic")
    }
}

/// Returns a tunnel's answer to a trial with the capacity `most`: the excess is lost.
fn carries(most: u64, bps: u64) -> String {
    let arrived = bps.min(most) as f64;
    let lost = 1.0 - arrived / bps as f64;
    format!(
        "{{\"over\":true,\"loss_ratio\":{lost},\"rate_bytes_per_s\":{},\"round_trip_s\":0.02,\
         \"delay_variation_s\":0.004}}",
        arrived / 8.0
    )
}

fn ten_mbps(bps: u64) -> String {
    carries(10_000_000, bps)
}

fn six_mbps(bps: u64) -> String {
    carries(6_000_000, bps)
}

const ACCEPT: &[&str] = &["gateway", "accept", "site.toml", "berlin", "--step", "1 s"];

#[test]
fn accept_passes_a_tunnel_that_holds_its_contract() {
    let folder = site();
    let dir = folder.path();
    // Tests the tunnel's own contract; by default that of the voice class is also tested.
    let of_default = [ACCEPT, &["--class", "default"]].concat();
    let running = Running::new(dir, ten_mbps);
    let ended = accord(dir, &of_default).with(0);
    assert!(ended.stderr.contains("5 of 5 steps passed"), "{ended:?}");
    assert_eq!(ended.stdout.matches("passed").count(), 5, "{ended:?}");
    let asked = running.end();
    let rates = [2_500_000, 5_000_000, 7_500_000, 10_000_000, 12_500_000];
    let expected = rates.map(|bps| format!("POST /trial/berlin/1/{bps}/1000 HTTP/1.1"));
    assert_eq!(asked, expected);
}

#[test]
fn accept_fails_a_tunnel_that_does_not_hold_its_contract() {
    let folder = site();
    let dir = folder.path();
    let running = Running::new(dir, six_mbps);
    let ended = accord(dir, &[ACCEPT, &["--class", "default", "--json"]].concat()).with(1);
    let steps = ended.json();
    let passed = steps.as_array().expect("steps").iter();
    let passed: Vec<bool> = passed.map(|s| s["passed"] == true).collect();
    assert_eq!(passed, [true, true, false, false, false], "{ended:?}");
    running.end();
}

fn late(bps: u64) -> String {
    six_mbps(bps).replace("\"over\"", "\"late_s\":0.035,\"over\"")
}

/// A step that failed while the gateway's own machine was late says nothing of the path.
#[test]
fn accept_says_that_the_machine_was_late() {
    let folder = site();
    let dir = folder.path();
    let running = Running::new(dir, late);
    let words = [ACCEPT, &["--class", "default"]].concat();
    let ended = accord(dir, &words).with(3);
    let message = "this machine, not the path, was late: packets of 3 failed steps were queued up to 35 ms late";
    assert!(ended.stderr.contains(message), "{ended:?}");
    let marks = ended.stdout.lines().filter(|line| line.ends_with("late"));
    assert_eq!(marks.count(), 3, "{ended:?}");
    running.end();
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

#[test]
fn accept_says_what_is_missing() {
    let folder = site();
    let dir = folder.path();
    let ended = accord(dir, ACCEPT).with(3);
    assert!(ended.stderr.contains("site.sock"), "no gateway runs: {ended:?}");
    for (args, says) in [
        (&["gateway", "accept", "site.toml", "rome"][..], "peers are berlin, paris"),
        (&["gateway", "accept", "site.toml", "paris"][..], "contract"),
        (&[ACCEPT, &["--class", "video"]].concat()[..], "classes are voice, default"),
    ] {
        let ended = accord(dir, args).with(2);
        assert!(ended.stderr.contains(says), "{args:?}: {ended:?}");
    }
    let running = Running::new(dir, |_| "{\"over\":true}".into());
    let ended = accord(dir, ACCEPT).with(3);
    assert!(ended.stderr.contains("does not count trials"), "{ended:?}");
    running.end();
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
        return skipped("there is no program unshare");
    };
    let until = std::time::Instant::now() + Duration::from_secs(10);
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
    let until = std::time::Instant::now() + Duration::from_secs(5);
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
