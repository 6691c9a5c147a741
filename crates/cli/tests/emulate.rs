//! `accord emulate` with programs that are parts of this test. They are skipped, with a line, where network
//! namespaces are not allowed.

#![cfg(target_os = "linux")]

use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn, recv, sendto, socket,
};
use nix::unistd::Pid;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};

#[path = "emulate/ends.rs"]
mod ends;
#[path = "emulate/way_out.rs"]
mod way_out;

const PORT: u16 = 7_000;

/// A directory of a test, which is removed at its end.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let place =
            std::env::temp_dir().join(format!("accord-emulate-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&place).expect("a directory");
        Place(place)
    }

    #[expect(clippy::print_stderr, reason = "what is skipped is said")]
    /// Runs `accord emulate` here, or returns `None` where it is not allowed.
    fn emulate(&self, options: &[&str], line: &[&str]) -> Option<Output> {
        let mut command = Command::new(env!("CARGO_BIN_EXE_accord"));
        command.current_dir(&self.0).arg("emulate").args(options).arg("--").args(line);
        let output = command.output().expect("the program runs");
        if output.status.code() == Some(3) && text(&output.stderr).contains("namespace") {
            eprintln!("SKIPPED: {}", text(&output.stderr).trim_end());
            return None;
        }
        Some(output)
    }

    /// The mean of a quantity of a flow or a link in the last run.
    fn mean(&self, run: &str, of: &str, quantity: &str) -> f64 {
        let path = self.0.join(run).join("summary.json");
        let summary: Value =
            serde_json::from_str(&std::fs::read_to_string(path).expect("a summary")).expect("JSON");
        let rows = summary["comparison"].as_array().expect("rows");
        let row = rows.iter().find(|row| row["group"] == of && row["quantity"] == quantity);
        let row = row.unwrap_or_else(|| panic!("no {quantity} of {of} in {rows:?}"));
        row["values"][0]["mean"].as_f64().expect("a value")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The command line of a program of this test.
fn program(name: &str) -> Vec<String> {
    let this = std::env::current_exe().expect("a path").display().to_string();
    [&this, name, "--exact", "--ignored", "--nocapture"].map(String::from).to_vec()
}

/// Sends two megabytes to each of two connections, one after the other.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn server() {
    let both = TcpListener::bind((Ipv6Addr::UNSPECIFIED, PORT));
    let listener = both.or_else(|_| TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)));
    let listener = listener.expect("a port");
    for _ in 0..2 {
        let (mut stream, _) = listener.accept().expect("a connection");
        stream.write_all(&vec![7; 2_000_000]).expect("the data goes");
    }
}

/// Reads from two connections to the end.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn client() {
    let address = |name: &str| -> IpAddr {
        std::env::var(name).expect("it is set").parse().expect("an address")
    };
    // Some kernels have no IPv6.
    let v6 = Path::new("/proc/sys/net/ipv6").exists();
    for name in ["ACCORD_SERVER", if v6 { "ACCORD_SERVER6" } else { "ACCORD_SERVER" }] {
        let mut stream = ends::connect((address(name), PORT));
        stream.shutdown(Shutdown::Write).expect("it is open");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("data");
        assert!(all.len() == 2_000_000 && all.iter().all(|byte| *byte == 7));
    }
}

fn exchange(place: &Place, options: &[&str]) -> Option<Output> {
    let (server, client) = (program("server").join(" "), program("client"));
    let mut all = vec!["--server", &server];
    all.extend(options);
    place.emulate(&all, &client.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn a_program_s_data_crosses_the_path_whole() {
    let place = Place::new("whole");
    let options =
        ["--rate", "20 Mbps", "--delay", "5 ms", "--queue", "fq_codel:limit=1000", "--flows", "2"];
    let Some(output) = exchange(&place, &options) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // Both connections have their flow.
    let crossed = |of: &str| place.mean("runs/emulate", of, "throughput");
    assert!(crossed("to-client") > 0.0 && crossed("to-server") > 0.0);
    // Each connection has a row per direction, with its delays.
    let rows = std::fs::read_to_string(place.0.join("runs/emulate/connections.csv"));
    let rows = rows.expect("a table");
    let data: Vec<Vec<&str>> = rows.lines().skip(1).map(|l| l.split(',').collect()).collect();
    assert!(data.len() >= 4, "{rows}");
    for row in &data[..2] {
        let [bytes, delivered, delay]: [f64; 3] =
            [5, 7, 9].map(|column: usize| row[column].parse().expect("a number"));
        assert!(row[0] == "tcp" && bytes >= delivered && delivered > 2e6 && delay > 5e-3, "{rows}");
    }
    assert!(place.0.join("runs/emulate/connections.parquet").exists());
    let series = std::fs::metadata(place.0.join("runs/emulate/series.parquet"));
    assert!(series.is_ok_and(|file| file.len() > 0));
    // Packets that the kernel passes on in one piece are cut.
    for row in &data {
        let [packets, bytes]: [f64; 2] =
            [4, 5].map(|column: usize| row[column].parse().expect("a number"));
        assert!(bytes <= 1500.0 * packets, "{rows}");
    }
    // The record is a scenario for another emulation, with the congestion control of this host.
    let written = std::fs::read_to_string(place.0.join("runs/emulate/scenario.toml"));
    let host = std::fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control");
    let kernel = format!("kernel = \"{}\"", host.expect("Linux has it").trim());
    assert_eq!(written.expect("it is there").matches(&kernel).count(), 2, "{kernel}");
    let ends = ["--from", "client", "--to", "server"];
    let again = [&["runs/emulate/scenario.toml", "-q", "-o", "again"][..], &ends].concat();
    let Some(output) = place.emulate(&again, &["true"]) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    // Another run has its own directory. At this rate packets are joined.
    let Some(output) = exchange(&place, &["--rate", "10 Gbps", "-q"]) else { return };
    assert_eq!(text(&output.stderr), "", "{}", text(&output.stdout));
    assert!(place.0.join("runs/emulate-2/page.html").exists());
}

#[test]
fn the_exit_code_is_that_of_the_command_or_of_an_expectation() {
    let place = Place::new("codes");
    let path = ["--rate", "10 Mbps", "-q", "-o", "run"];
    // A server that is killed ends nothing.
    let killed = [&path[..], &["--server", "kill -9 $$"]].concat();
    let Some(output) = place.emulate(&killed, &["true"]) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    for (line, code) in
        [("exit 7", 7), ("kill -TERM $$", 143), ("test \"$ACCORD_SERVER\" = {server}", 0)]
    {
        let Some(output) = place.emulate(&path, &["sh", "-c", line]) else { return };
        assert_eq!(output.status.code(), Some(code), "{line}: {}", text(&output.stderr));
    }
    let path = "duration = \"1 s\"\n[topology.dumbbell]\nrate = \"10 Mbps\"\ndelay = \"1 ms\"\n\
                [[expect]]\nname = \"little\"\nmetric = \"drops\"\nof = \"bottleneck\"\nat_least = 1\n";
    std::fs::write(place.0.join("path.toml"), path).expect("it is written");
    let Some(output) = place.emulate(&["path.toml", "-o", "other"], &["sh", "-c", ":"]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
}

/// Starts `accord emulate` here and returns when its command is running, or `None` where it is not allowed.
fn started(place: &Place, options: &[&str], line: &str, mark: &str) -> Option<Child> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_accord"));
    child.current_dir(&place.0).arg("emulate").args(options).args(["--", "sh", "-c", line]);
    let mut child = child.spawn().expect("it starts");
    while processes(mark) == 0 {
        if child.try_wait().expect("it is ours").is_some() {
            return None;
        }
        std::thread::yield_now();
    }
    Some(child)
}

/// The number of processes of `sleep` with this argument.
fn processes(mark: &str) -> usize {
    let all = std::fs::read_dir("/proc").expect("Linux has it").flatten();
    let lines = all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.map(|line| text(&line)).filter(|l| l.starts_with("sleep\0") && l.contains(mark)).count()
}

/// Waits until no process is left that has this mark, or that is in the network namespace whose name is
/// in a file.
fn await_end(place: &Place, mark: &str) {
    let namespace = std::fs::read_to_string(place.0.join("namespace")).unwrap_or_default();
    let is_inside = || {
        let all = std::fs::read_dir("/proc").expect("Linux has it").flatten();
        let mut links =
            all.filter_map(|entry| std::fs::read_link(entry.path().join("ns/net")).ok());
        links.any(|link| link.to_string_lossy() == namespace.trim())
    };
    // A test that fails waits here.
    while processes(mark) > 0 || is_inside() {
        std::thread::yield_now();
    }
}

/// The mark of a test: the time that its processes sleep.
fn mark(number: u32) -> String {
    format!("9753{number}.{}", std::process::id())
}

const WHERE: &str = "readlink /proc/self/ns/net > namespace";

#[test]
fn children_that_the_command_leaves_behind_are_ended() {
    let place = Place::new("children");
    let mark = mark(1);
    // One is a child, one an orphan of a session of its own, and one belongs to another user.
    let nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups";
    let line = format!(
        "{WHERE}; sleep {mark} & setsid sh -c 'trap \"\" TERM; sleep {mark} & sleep {mark}' & \
         {nobody} sleep {mark} & while test $(pgrep -c -f {mark}) -lt 4; do :; done; exit 5"
    );
    let line = line
        .replace("pgrep -c -f", "cat /proc/[0-9]*/cmdline 2> /dev/null | tr '\\0' '\\n' | grep -c");
    let Some(output) = place.emulate(&["--rate", "10 Mbps", "-q"], &["sh", "-c", &line]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert_eq!(processes(&mark), 0, "a child of the command is left");
    await_end(&place, &mark);
}

#[test]
fn nothing_is_left_if_the_emulation_is_killed() {
    let place = Place::new("killed");
    let mark = mark(2);
    let line = format!("{WHERE}; setsid sleep {mark} & sleep {mark}");
    let server = format!("setsid sleep {mark} & sleep {mark}");
    let options = ["--rate", "10 Mbps", "-q", "--server", &server];
    let Some(mut child) = started(&place, &options, &line, &mark) else { return };
    child.kill().expect("it runs");
    child.wait().expect("it is gone");
    await_end(&place, &mark);
}

#[test]
fn an_interruption_ends_the_programs_and_the_record_is_written() {
    let place = Place::new("interrupted");
    let mark = mark(3);
    let line = format!("{WHERE}; exec sleep {mark}");
    let Some(mut child) = started(&place, &["--rate", "10 Mbps", "-q"], &line, &mark) else {
        return;
    };
    let number = i32::try_from(child.id()).expect("a number");
    kill(Pid::from_raw(number), Signal::SIGINT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    await_end(&place, &mark);
    assert!(place.0.join("runs/emulate/page.html").exists());
}

/// A server that does not listen is waited for. An interruption ends the wait, and no command is started.
#[test]
fn an_interruption_ends_the_wait_for_a_server() {
    let place = Place::new("waiting");
    let mark = mark(4);
    let server = format!("exec sleep {mark}");
    let options = ["--rate", "10 Mbps", "-q", "--server", &server];
    let Some(mut child) = started(&place, &options, "touch begun", &mark) else { return };
    let number = i32::try_from(child.id()).expect("a number");
    kill(Pid::from_raw(number), Signal::SIGINT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(!place.0.join("begun").exists());
    await_end(&place, &mark);
}

#[test]
fn a_command_that_is_killed_or_cannot_run_is_reported() {
    let place = Place::new("kills");
    std::fs::write(place.0.join("plain"), "no program").expect("it is written");
    let path = ["--rate", "10 Mbps", "-q", "-o", "run"];
    let missing = "no-such-program-at-all";
    for (line, code) in [
        (&["sh", "-c", "kill -9 $$"][..], 137),
        (&["./plain"], 126),
        (&[missing], 127),
        (&["./none"], 127),
    ] {
        let Some(output) = place.emulate(&path, line) else { return };
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line:?}: {said}");
        let what = format!("program not found: {}", line[0]);
        assert!(code != 127 || said.contains(&what), "{said}");
        // A command that did not begin has no run.
        let run = place.0.join("run");
        assert_eq!(run.exists(), code == 137, "{line:?}");
        let _ = std::fs::remove_dir_all(run);
    }
}

#[test]
fn a_server_that_fails_before_the_command_is_reported() {
    let place = Place::new("fails");
    let path = ["--rate", "10 Mbps", "--server", "exit 3", "-o", "run"];
    let Some(output) = place.emulate(&path, &["true"]) else { return };
    let said = text(&output.stderr).replace("\n  │ ", " ");
    let why = "the server at server ended with exit code 3 before the end of the command";
    assert!(output.status.success() && said.contains(why), "{said}");
}

#[test]
fn emulations_at_the_same_time_have_their_own_directories() {
    let place = Place::new("both");
    let mark = mark(5);
    let path = ["--rate", "10 Mbps", "-q"];
    let line = format!("{WHERE}; exec sleep {mark}");
    let Some(mut child) = started(&place, &path, &line, &mark) else { return };
    let output = place.emulate(&path, &["true"]).expect("the first one is allowed");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(place.0.join("runs/emulate-2/page.html").exists());
    let number = i32::try_from(child.id()).expect("a number");
    kill(Pid::from_raw(number), Signal::SIGINT).expect("it runs");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    await_end(&place, &mark);
    assert!(place.0.join("runs/emulate/page.html").exists());
}

#[test]
fn a_full_disk_is_reported_after_the_command() {
    let place = Place::new("full");
    std::fs::create_dir(place.0.join("small")).expect("a directory");
    let line = format!(
        "mount -t tmpfs -o size=16k none small || exit 77; cd small; \
         {} emulate --rate '10 Mbps' -q -- sh -c '{WHERE}; exit 5'",
        env!("CARGO_BIN_EXE_accord")
    );
    let mut command = Command::new("unshare");
    let output = command.current_dir(&place.0).args(["-m", "sh", "-c", &line]).output();
    let Ok(output) = output else { return };
    let said = text(&output.stderr);
    if output.status.code() == Some(77) || said.contains("namespace") {
        return;
    }
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("No space left"), "{said}");
}

/// Sends an echo request by a raw socket.
fn ping(to: Ipv4Addr) -> OwnedFd {
    let kind = (AddressFamily::Inet, SockType::Raw, SockProtocol::Icmp);
    let socket = socket(kind.0, kind.1, SockFlag::empty(), kind.2).expect("root may");
    let request = [8, 0, 0xf7, 0xfe, 0, 1, 0, 0];
    let to = SockaddrIn::from(std::net::SocketAddrV4::new(to, 0));
    sendto(socket.as_raw_fd(), &request, &to, MsgFlags::empty()).expect("it goes");
    socket
}

/// Sends an echo request by a raw socket, and a datagram to a group.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn raw() {
    let server: Ipv4Addr =
        std::env::var("ACCORD_SERVER").expect("it is set").parse().expect("IPv4");
    let socket = ping(server);
    let mut answer = [0; 128];
    let length = recv(socket.as_raw_fd(), &mut answer, MsgFlags::empty()).expect("it comes");
    assert_eq!(&answer[20..length], [0, 0, 0xff, 0xfe, 0, 1, 0, 0]);
    let group = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port");
    // Without a way to the group there is no route.
    let _ = group.send_to(b"who is there?", "224.0.0.251:5353");
}

#[test]
fn raw_sockets_cross_the_path_and_groups_do_not() {
    let place = Place::new("raw");
    let line = program("raw");
    let line: Vec<_> = line.iter().map(String::as_str).collect();
    // A full packet would take 1.5 s, and each of these takes 28 ms. Hosts add none.
    let Some(output) = place.emulate(&["--rate", "8 kbps", "-q", "--server", "sleep 3"], &line)
    else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let rows = std::fs::read_to_string(place.0.join("runs/emulate/connections.csv"));
    let rows = rows.expect("a table");
    let delays = rows.lines().filter(|row| row.starts_with("icmp,")).map(|row| {
        let delay = row.split(',').nth(9).expect("a mean delay");
        delay.parse::<f64>().expect("a number")
    });
    let delays: Vec<f64> = delays.collect();
    assert!(delays.len() == 2 && delays.iter().all(|delay| *delay < 0.5), "{rows}");
}

#[test]
fn a_path_of_zero_rate_delivers_later() {
    let place = Place::new("outage");
    // The duration of the file does not count.
    let path = "duration = \"200 ms\"\n[topology.dumbbell]\nrate = \"20 Mbps\"\ndelay = \"1 ms\"\n\
                [[event]]\nat = \"100 ms\"\nlink = \"bottleneck\"\nrate = \"0 bps\"\n\
                [[event]]\nat = \"1 s\"\nlink = \"bottleneck\"\nrate = \"20 Mbps\"\n";
    std::fs::write(place.0.join("path.toml"), path).expect("it is written");
    let Some(output) = exchange(&place, &["path.toml", "-o", "run", "--csv"]) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

#[test]
fn means_are_over_the_steady_part_that_the_scenario_states() {
    let place = Place::new("steady");
    let path = "duration = \"10 s\"\nsteady = [\"200 ms\", \"400 ms\"]\n[topology.dumbbell]\n\
                rate = \"20 Mbps\"\ndelay = \"1 ms\"\n";
    std::fs::write(place.0.join("path.toml"), path).expect("it is written");
    let Some(output) = place.emulate(&["path.toml", "-q", "-o", "run"], &["sleep", "1"]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let summary = std::fs::read_to_string(place.0.join("run/summary.json")).expect("a summary");
    let summary: Value = serde_json::from_str(&summary).expect("JSON");
    assert_eq!(summary["steady_s"], serde_json::json!([0.2, 0.4]));
}

#[test]
fn a_capture_has_the_packets_of_the_program() {
    let place = Place::new("capture");
    let options = ["--rate", "20 Mbps", "-q", "--pcap", "all.pcapng"];
    let Some(output) = exchange(&place, &options) else { return };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let bytes = std::fs::read(place.0.join("all.pcapng")).expect("it is written");
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
    let (mut at, mut data) = (0, 0);
    while at < bytes.len() {
        if word(at) == 6 && word(at + 24) > 1000 {
            let packet = &bytes[at + 28..];
            let v4 = packet[0] >> 4 == 4;
            let ports = if v4 { &packet[20..24] } else { &packet[40..44] };
            assert!(ports[..2] == PORT.to_be_bytes(), "another packet: {packet:?}");
            data += u64::from(word(at + 24));
        }
        at += word(at + 4) as usize;
    }
    // All that arrived has left a port.
    assert!(data > 4_000_000, "{data}");
}

#[test]
fn command_lines_of_mahimahi_run() {
    let place = Place::new("mahimahi");
    std::fs::write(place.0.join("up"), "1\n2\n").expect("it is written");
    std::fs::write(place.0.join("down"), "1\n").expect("it is written");
    let words = ["mm-delay", "5", "mm-link", "up", "down", "--uplink-queue=droptail"];
    let line = [&words[..], &["--uplink-queue-args=packets=50", "true"]].concat();
    let run = |first: &[&str], line: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_accord"));
        command.current_dir(&place.0).arg("emulate").args(first).args(line);
        command.output().expect("the program runs")
    };
    let output = run(&["--print"], &line);
    let (scenario, said) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(scenario.contains("50 pkt") && scenario.contains("5 ms"), "{scenario}");
    let output = run(&["-q"], &line);
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 3)), "{code:?}: {}", text(&output.stderr));
    let output = run(&["--print", "--rate", "9 Mbps", "--loss", "0.01"], &[]);
    assert!(text(&output.stdout).contains("loss = 0.01"), "{}", text(&output.stderr));
    let output = run(&["--rate", "9 Mbps", "--loss", "1"], &["--", "true"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let output = run(&["--print", "--rate", "9 Mbps", "--queue", "fq-codel"], &[]);
    assert!(text(&output.stdout).contains("limit = \"1000 pkt\""), "{}", text(&output.stderr));
    // The scenario is shown without all of a trace.
    let times: Vec<String> = (1..1000).map(|ms| ms.to_string()).collect();
    std::fs::write(place.0.join("long"), times.join("\n")).expect("it is written");
    let long = place.0.join("long").display().to_string();
    let output = run(&["-o", "long-run"], &["mm-link", &long, "down", "true"]);
    let said = text(&output.stderr);
    assert!(said.contains("[link.link]"), "{said}");
    assert!(said.lines().all(|line| line.chars().count() < 500), "{said}");
    let output = run(&[], &["mm-loss", "uplink", "2", "true"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
}

/// Sends to the server as long as it may, in each of two instances.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn sender() {
    let to = std::env::var("ACCORD_SERVER").expect("it is set");
    let instance: u16 = std::env::var("ACCORD_INSTANCE").expect("it is set").parse().expect("one");
    assert!(instance < 2);
    let mut stream = ends::connect((to, PORT));
    while stream.write_all(&[7; 10_000]).is_ok() {}
}

/// Reads all that two connections bring.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn sink() {
    assert_eq!(std::env::var("ACCORD_INSTANCES").as_deref(), Ok("2"));
    let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT)).expect("a port");
    let read = |mut stream: TcpStream| std::io::copy(&mut stream, &mut std::io::sink());
    let threads = [(); 2].map(|()| {
        let (stream, _) = listener.accept().expect("a connection");
        std::thread::spawn(move || read(stream))
    });
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

const PACK: &str = r#"
name = "mine"
title = "A program"
source = "ours"
subject = "controller"
rivals = []

[[measure]]
name = "goodput"
metric = "throughput"
of = "subject"
across = "sum"
during = ["1 s", "4 s"]
better = "more"

[[section]]
number = "1"
title = "Data"
asks = "Sends."

[[section.rule]]
require = "goodput > 1 Mbps"
source = "ours"
because = "It sends."

[[section.case]]
name = "two"
title = "Two flows"
scenario = "two"
subject = ["flow.subject.controller"]
measures = ["goodput"]
"#;

const TWO: &str = r#"
duration = "4 s"
[topology.dumbbell]
rate = "8 Mbps"
delay = "5 ms"
[flow.subject]
from = "left"
to = "right"
count = 2
controller = "cubic"
packet = "1500 B"
"#;

/// A program is the subject of an evaluation. A busy machine gives no verdict, and no other one.
#[test]
fn a_program_is_evaluated() {
    let place = Place::new("evaluate");
    std::fs::create_dir(place.0.join("mine")).expect("a directory");
    std::fs::write(place.0.join("mine/pack.toml"), PACK).expect("a file");
    std::fs::write(place.0.join("mine/two.toml"), TWO).expect("a file");
    let evaluate = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_accord"));
        let sink = program("sink").join(" ");
        let subject = format!("command: {line}");
        command.current_dir(&place.0).args(["evaluate", "--pack", "./mine", "--reps", "2"]);
        command.args(["--json", "-q", "-o", "out", "--server", &sink, "--subject", &subject]);
        command.output().expect("the program runs")
    };
    let output = evaluate(&program("sender").join(" "));
    if output.status.code() == Some(3) {
        eprintln!("SKIPPED: {}", text(&output.stderr).trim_end());
        return;
    }
    let record: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let outcome = &record["sections"][0]["outcome"];
    assert!(outcome == "PASS" || outcome == "INCONCLUSIVE", "{record}");
    assert_eq!(output.status.code(), Some(0), "{record}");
    // One that fails is a failure of the subject.
    let output = evaluate("sleep 0.2; echo no; exit 3");
    let record: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(output.status.code(), Some(1), "{record}");
    assert!(record["failures"][0].to_string().contains("the program failed"), "{record}");
    let log = std::fs::read_to_string(place.0.join("out/programs.log")).expect("a log");
    assert!(log.contains("no\nexit code 3\n"), "{log}");
}

/// A congestion control of this kernel is the subject of an evaluation.
#[test]
fn a_controller_of_the_kernel_is_evaluated() {
    let place = Place::new("subject");
    std::fs::create_dir(place.0.join("mine")).expect("a directory");
    std::fs::write(place.0.join("mine/pack.toml"), PACK).expect("a file");
    std::fs::write(place.0.join("mine/two.toml"), TWO).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_accord"));
    command.current_dir(&place.0).args(["evaluate", "--pack", "./mine", "--reps", "2", "--json"]);
    let output = command.args(["-q", "-o", "out", "--subject", "kernel:reno"]).output();
    let output = output.expect("the program runs");
    if output.status.code() == Some(3) {
        eprintln!("SKIPPED: {}", text(&output.stderr).trim_end());
        return;
    }
    let record: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let outcome = &record["sections"][0]["outcome"];
    assert!(outcome == "PASS" || outcome == "INCONCLUSIVE", "{record}");
    assert!(record["failures"].as_array().is_none_or(Vec::is_empty), "{record}");
}

#[test]
fn wrong_input_is_refused_with_a_hint() {
    let place = Place::new("wrong");
    let own = "[topology.dumbbell]\nrate = \"9 Mbps\"\ndelay = \"1 ms\"\n[flow.to-client]\n\
               from = \"left\"\nto = \"right\"\ncontroller = \"cubic\"\n";
    std::fs::write(place.0.join("own.toml"), own).expect("it is written");
    for (options, line, what) in [
        (&["--rate", "10 furlongs"][..], "true", "--rate"),
        (&["--rate", "10 Mbps", "--queue", "cobalt"], "true", "cobalt"),
        (&["--rate", "10 Mbps", "--queue", "codel:target"], "true", "NAME=VALUE"),
        (&["no-such.toml"], "true", "no-such.toml"),
        (&["--rate", "10 Mbps", "--join", "no-such-name"], "true", "/run/netns/no-such-name"),
        (&["--rate", "10 Mbps", "--route", "10.0.0.0/8"], "true", "--join"),
        (&["--rate", "10 Mbps", "--join", "x", "--route", "10.0.0.0/33"], "true", "10.0.0.0/8"),
        (
            &["--rate", "10 Mbps", "--join", "x", "--route", "10.0.0.1/8"],
            "true",
            "beyond its prefix of 8",
        ),
        (&["--rate", "10 Mbps", "--join", ""], "true", "--join has no name"),
        (&["xia05-fig6"], "true", "sweep"),
        (&["own.toml"], "true", "another name"),
        (&[], "true", "no path is given"),
    ] {
        let Some(output) = place.emulate(options, &[line]) else { return };
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(what), "{options:?}: {said}");
    }
}
