//! `accord emulate` with programs that are parts of this test. They are skipped, with a line, where network
//! namespaces are not allowed.

#![cfg(target_os = "linux")]

use serde_json::Value;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
#[ignore = "a program of other tests"]
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
#[ignore = "a program of other tests"]
fn client() {
    let address = |name: &str| -> IpAddr {
        std::env::var(name).expect("it is set").parse().expect("an address")
    };
    // Some kernels have no IPv6.
    let v6 = Path::new("/proc/sys/net/ipv6").exists();
    for name in ["ACCORD_SERVER", if v6 { "ACCORD_SERVER6" } else { "ACCORD_SERVER" }] {
        let mut stream = TcpStream::connect((address(name), PORT)).expect("it listens");
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
    let series = std::fs::metadata(place.0.join("runs/emulate/series.parquet"));
    assert!(series.is_ok_and(|file| file.len() > 0));
    // Another run has its own directory.
    let Some(output) = exchange(&place, &["--rate", "50 Mbps", "-q"]) else { return };
    assert_eq!(text(&output.stderr), "", "{}", text(&output.stdout));
    assert!(place.0.join("runs/emulate-2/page.html").exists());
}

#[test]
fn the_exit_code_is_that_of_the_command_or_of_an_expectation() {
    let place = Place::new("codes");
    let path = ["--rate", "10 Mbps", "-q", "-o", "run"];
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

#[test]
fn nothing_stays_behind() {
    let place = Place::new("children");
    let mark = format!("97531.{}", std::process::id());
    let line = format!("sleep {mark} & sleep {mark} & true");
    let Some(output) = place.emulate(&["--rate", "10 Mbps", "-q"], &["sh", "-c", &line]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!is_running(&mark), "a child of the command is left");
    // Nor if the program is killed.
    let mut child = Command::new(env!("CARGO_BIN_EXE_accord"));
    child.current_dir(&place.0).args(["emulate", "--rate", "10 Mbps", "-q", "--", "sleep", &mark]);
    let mut child = child.spawn().expect("it starts");
    while !is_running(&mark) {
        std::thread::yield_now();
    }
    child.kill().expect("it runs");
    child.wait().expect("it is gone");
    if Path::new("/usr/bin/setpriv").exists() {
        while is_running(&mark) {
            std::thread::yield_now();
        }
    }
}

/// Returns whether there is a process with this argument other than those of `accord`.
fn is_running(mark: &str) -> bool {
    let all = std::fs::read_dir("/proc").expect("Linux has it").flatten();
    all.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok()).any(|line| {
        let line = text(&line);
        line.starts_with("sleep\0") && line.contains(mark)
    })
}

#[test]
fn wrong_input_is_refused_with_a_hint() {
    let place = Place::new("wrong");
    for (options, line, what) in [
        (&["--rate", "10 furlongs"][..], "true", "--rate"),
        (
            &["--rate", "10 Mbps"],
            "no-such-program-at-all",
            "there is no program no-such-program-at-all",
        ),
        (&["--rate", "10 Mbps", "--queue", "cobalt"], "true", "cobalt"),
        (&["--rate", "10 Mbps", "--queue", "codel:target"], "true", "NAME=VALUE"),
        (&["no-such.toml"], "true", "no-such.toml"),
        (&["xia05-fig6"], "true", "sweep"),
        (&[], "true", "no path is given"),
    ] {
        let Some(output) = place.emulate(options, &[line]) else { return };
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{options:?}: {said}");
        assert!(said.contains(what), "{options:?}: {said}");
    }
}
