//! Connections whose deciding process fails.

use crate::bad::BAD;
use crate::common;
use crate::host::{Attached, SELF, answers, available, ended, name, pause, program, send};
use crate::network::{Network, PATIENCE, SERVER, TcpInfo, transfer};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The end of the process costs no byte, and the acknowledgements do not pause for four round trips.
/// The queue makes a round trip longer than the pauses of a busy machine, and the kernel counts the
/// time since the last acknowledgement itself.
pub fn connections_survive_a_kill() {
    let network = Network::new(Some(6));
    let mut attached = Attached::new("cubic", name("kill"));
    let ends = network.connect(&attached.name);
    let watched = ends.0.try_clone().expect("a socket");
    let killed = Mutex::new(None);
    let done = AtomicBool::new(false);
    let (longest, least) = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let (mut longest, mut least) = (0, u32::MAX);
            while !done.load(Ordering::Relaxed) {
                pause();
                let info = TcpInfo::of(&watched);
                if killed.lock().expect("no panic").is_some() {
                    longest = longest.max(info.silence_ms());
                    least = least.min(info.cwnd());
                }
            }
            (longest, least)
        });
        transfer(ends, 3_000_000, || {
            let info = TcpInfo::of(&watched);
            attached.signal(Signal::SIGKILL);
            attached.child.wait().expect("a child");
            *killed.lock().expect("no panic") = Some(info);
        });
        done.store(true, Ordering::Relaxed);
        watch.join().expect("no panic")
    });
    let killed = killed.into_inner().expect("no panic").expect("it was killed");
    let round_trip = killed.srtt_us() / 1000;
    println!(
        "  a round trip of {round_trip} ms, and at most {longest} ms without an acknowledgement"
    );
    assert!(longest < 4 * round_trip, "{longest} ms of {round_trip} ms");
    // The window was halved. Until it is read, it grows by a few packets at most.
    let before = killed.cwnd();
    assert!(4 * least < 3 * before, "{least} of {before}");
    // Without a process that holds it, the kernel has removed it.
    assert!(!available(&attached.name));
    let listed = ended(&["kernel", "list"]).with(0);
    assert!(!listed.stdout.contains(&attached.name), "{listed:?}");
}

/// Returns a content of 3000 bytes that differs from one connection to the next.
fn content(connection: usize, turn: usize) -> Vec<u8> {
    let byte = |i: usize| ((connection * 31 + turn * 17 + i) % 251) as u8;
    (0..3000).map(byte).collect()
}

/// The port of the program that returns data.
const ECHO: u16 = 5000;

/// Raises the limit of open files, and returns it.
fn files() -> u64 {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).expect("there is a limit");
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).expect("it is allowed");
    hard
}

/// Accepts as many connections as the argument says, and returns the data of each in turn, until the
/// first one is closed.
pub fn echo() -> ExitCode {
    files();
    let count = std::env::args().nth(1).and_then(|text| text.parse().ok());
    let count: usize = count.expect("a number");
    let listener = TcpListener::bind((SERVER, ECHO)).expect("a free port");
    println!("ready");
    let accept = || listener.accept().expect("a connection").0;
    let mut streams: Vec<TcpStream> = (0..count).map(|_| accept()).collect();
    let mut data = vec![0; 3000];
    loop {
        for stream in &mut streams {
            if stream.read_exact(&mut data).is_err() {
                return ExitCode::SUCCESS;
            }
            stream.write_all(&data).expect("the data go");
        }
    }
}

/// More connections than slots, or as many as this process may have files, all with the congestion
/// control of their namespace. All carry data before and after the end of the deciding process.
pub fn many_connections() {
    const SLOTS: usize = 16_384;
    let count = (files() as usize).saturating_sub(500).min(16_500);
    let network = Network::new(None);
    let mut attached = Attached::new("cubic", name("many"));
    network.client.has_default(&attached.name);
    let mut other = Command::new(std::env::current_exe().expect("its own path"));
    other.arg(count.to_string()).env(SELF, "echo");
    other.stdout(Stdio::piped());
    let mut other = network.server.within(|| other.spawn().expect("it starts"));
    let mut ready = [0; 5];
    let mut said = other.stdout.take().expect("it is piped");
    said.read_exact(&mut ready).expect("it is ready");
    let address = (SERVER, ECHO).into();
    let connect = || {
        let stream = TcpStream::connect_timeout(&address, PATIENCE).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream
    };
    let mut streams: Vec<TcpStream> =
        (network.client).within(|| (0..count).map(|_| connect()).collect());
    let mut exchange = |turn: usize| {
        let mut came = vec![0; 3000];
        for (i, stream) in streams.iter_mut().enumerate() {
            stream.write_all(&content(i, turn)).expect("the data go");
            stream.read_exact(&mut came).expect("the data come");
            assert!(came == content(i, turn), "connection {i}, turn {turn}");
        }
    };
    exchange(0);
    exchange(1);
    let controlled = count.min(SLOTS);
    let status =
        attached.until("all have been heard", |status| status["connections_total"] == controlled);
    println!("  {count} connections");
    let refused = &status["refused_connections_total"];
    let lost = &status["lost_reports_total"];
    assert_eq!(*refused, count - controlled, "with {lost} reports lost");
    assert_eq!(status["failed_connections_total"], 0);
    let open = status["connections"].as_array().map(Vec::len);
    assert_eq!(open, Some(controlled));
    attached.signal(Signal::SIGKILL);
    attached.child.wait().expect("a child");
    exchange(2);
    drop(streams);
    assert!(other.wait().expect("a child").success());
}

pub fn bad_decisions() {
    const BYTES: usize = 150_000;
    let network = Network::new(Some(30));
    for (family, fails) in BAD.iter().zip([true, false, false, true, false]) {
        let attached = Attached::new(family.name, name("bad"));
        let client = transfer(network.connect(&attached.name), BYTES, || {});
        let status = attached
            .until("it says so", |status| status["failed_connections_total"] == u64::from(fails));
        let error = &status["connections"][0]["error"];
        assert_eq!(error.is_string(), fails, "{status:#}");
        drop(client);
    }
}

/// A stopped process reads no reports, and its ring fills. When it continues, it takes over again.
pub fn full_ring() {
    let network = Network::new(None);
    let attached = Attached::new("cubic", name("ring"));
    let (mut client, mut server) = network.connect(&attached.name);
    let echo = std::thread::spawn(move || {
        let mut byte = [0];
        while server.read_exact(&mut byte).is_ok() {
            server.write_all(&byte).expect("it is heard");
        }
    });
    let mut ping = |times: usize| {
        for i in 0..times {
            let mut byte = [i as u8];
            client.write_all(&byte).expect("the data go");
            client.read_exact(&mut byte).expect("an answer");
            assert_eq!(byte, [i as u8]);
        }
    };
    ping(100);
    attached.signal(Signal::SIGSTOP);
    // More reports than fit: 4 MiB.
    ping(40_000);
    attached.signal(Signal::SIGCONT);
    attached.until("reports were lost", |status| {
        status["lost_reports_total"].as_u64() > Some(0)
            && status["silences_total"].as_u64() > Some(0)
    });
    let mut alone = true;
    for _ in 0..600 {
        ping(20);
        let status = attached.status();
        alone = status["connections"][0]["alone"] == true;
        if !alone {
            break;
        }
    }
    assert!(!alone, "it takes over again");
    drop(client);
    echo.join().expect("no panic");
}

/// Signals end the process, without a word on results, and nothing stays registered.
pub fn signals_end_it() {
    for (signal, code) in [(Signal::SIGTERM, 0), (Signal::SIGINT, 130), (Signal::SIGHUP, 130)] {
        let name = name("signal");
        let mut child = program(&["kernel", "attach", "--controller", "reno", "--name", &name]);
        let mut child = child.spawn().expect("it starts");
        assert!(answers(&name, &mut child), "it is attached");
        send(&child, signal);
        let ended = common::end(child).with(code);
        assert!(!ended.stderr.contains("result"), "{}", ended.stderr);
        assert!(!available(&name), "{signal}");
    }
}

/// Starts a command with a controller, and waits until it is attached.
fn started(name: &str, line: &[&str]) -> Child {
    let arguments = ["kernel", "run", "--controller", "reno", "--name", name, "--"];
    let mut child = program(&[&arguments[..], line].concat());
    let mut child = child.spawn().expect("it starts");
    assert!(answers(name, &mut child), "it is attached");
    child
}

/// A command ends by SIGTERM with its controller, and without it once a client detached it.
pub fn commands_end_by_a_signal() {
    for detached in [false, true] {
        let name = name("run");
        let child = started(&name, &["sleep", "50"]);
        if detached {
            ended(&["kernel", "detach", &name]).with(0);
        }
        send(&child, Signal::SIGTERM);
        common::end(child).with(143);
        assert!(!available(&name));
    }
}

/// A stopped process is listed, and a request says that it does not answer.
pub fn a_stopped_process_does_not_answer() {
    let attached = Attached::new("reno", name("stopped"));
    attached.signal(Signal::SIGSTOP);
    let listed = ended(&["kernel", "list"]).with(0);
    assert!(listed.stdout.lines().any(|line| line == attached.name));
    let asked = ended(&["kernel", "status", &attached.name]).with(3);
    assert!(asked.stderr.contains("stopped or too busy"), "{asked:?}");
    attached.signal(Signal::SIGCONT);
    ended(&["kernel", "status", &attached.name]).with(0);
}

/// A full disk loses messages, and no controller.
pub fn a_full_disk_costs_messages() {
    let full = || File::options().write(true).open("/dev/full").expect("Linux has it");
    let name = name("full");
    let mut child = program(&["kernel", "attach", "--controller", "reno", "--name", &name]);
    let mut child = child.stderr(full()).spawn().expect("it starts");
    assert!(answers(&name, &mut child), "it is attached");
    let asked = program(&["kernel", "status", &name]).stdout(full()).spawn();
    let asked = common::end(asked.expect("it starts")).with(3);
    assert!(asked.stderr.contains("cannot write to stdout"), "{asked:?}");
    send(&child, Signal::SIGTERM);
    common::end(child).with(0);
}
