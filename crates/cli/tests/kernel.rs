//! Controllers in the kernel's TCP, over a shaped bottleneck between network namespaces.
//!
//! The test needs root, a kernel with BTF, and iproute2; otherwise it reports that it skipped. It has
//! no harness, because it starts itself as a program with faulty controllers of its own.

#![expect(
    clippy::print_stdout,
    reason = "without a harness it names its tests itself"
)]

mod common;

use accord::control::{
    Acked, Allowance, AnyController, Congestion, Controller, Maker, PathView, Transport,
};
use accord::family::{Family, Objective, Role};
use accord::units::{Bytes, Rate, Time};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{getsockopt, setsockopt, sockopt::TcpCongestion};
use nix::unistd::Pid;
use nix::{getsockopt_impl, libc, sockopt_impl};
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const SELF: &str = "ACCORD_KERNEL_TEST";
/// The maximum time of any operation: a slower one hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A controller with invalid decisions.
#[derive(Clone, Debug)]
struct Bad {
    kind: &'static str,
    acks: u64,
}

impl Controller for Bad {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {
        self.acks += 1;
        assert!(self.kind != "panics" || self.acks < 20, "it was to panic");
    }

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {}

    fn allowance(&self) -> Allowance {
        let window = match self.kind {
            "nothing" => Bytes::ZERO,
            "not a number" => Bytes::from_f64(f64::NAN),
            "2^63" => Bytes::new(1 << 63),
            _ => Bytes::new(30_000),
        };
        Allowance {
            window,
            pacing: (self.kind == "no pace").then_some(Rate::ZERO),
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }
}

macro_rules! bad {
    ($name:ident, $family:literal, $kind:literal) => {
        static $name: Family = Family {
            maker: &Maker {
                build: |_, _| {
                    AnyController::foreign(Bad {
                        kind: $kind,
                        acks: 0,
                    })
                },
                transport: Transport::Stream,
            },
            ..Family::new($family, Role::Controller(|_| Objective::Other))
        };
    };
}
bad!(PANICS, "bad-panics", "panics");
bad!(NOTHING, "bad-nothing", "nothing");
bad!(NAN, "bad-nan", "not a number");
bad!(HUGE, "bad-huge", "2^63");
bad!(NO_PACE, "bad-no-pace", "no pace");
static BAD: &[&Family] = &[&PANICS, &NOTHING, &NAN, &HUGE, &NO_PACE];

fn main() -> ExitCode {
    match std::env::var(SELF).as_deref() {
        Ok("program") => return accord_cli::main_with(BAD, &[]),
        Ok("sockets") => return sockets(),
        Ok("echo") => return echo(),
        _ => {}
    }
    refused();
    flows_refuse();
    println!("test what cannot run is refused with the reason ... ok");
    if let Some(why) = missing() {
        println!("SKIPPED: controllers in the kernel's TCP: {why}");
        return ExitCode::SUCCESS;
    }
    let tests: [(&str, fn()); 8] = [
        ("controllers carry data", controllers_carry_data),
        ("flows of a live run have their controllers", flows_have_it),
        ("connections survive kill -9", connections_survive_a_kill),
        ("connections beyond the slots carry data", many_connections),
        ("connections survive bad controllers", bad_decisions),
        ("connections survive a full ring", full_ring),
        ("a client detaches", a_client_detaches),
        ("a command has the controller", a_command_has_it),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

/// Returns the program, with the bad controllers.
fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("its own path"));
    command
        .args(arguments)
        .env(SELF, "program")
        .env("NO_COLOR", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn ended(arguments: &[&str]) -> common::Ended {
    common::end(program(arguments).spawn().expect("it starts"))
}

fn refused() {
    for (arguments, why) in [
        (
            &["attach", "--controller", "monaco"][..],
            "pairs of control packets",
        ),
        (&["attach", "--controller", "none"], "TCP needs a window"),
        (
            &["attach", "--controller", "reno", "--name", "a b"],
            "not a valid name of a congestion control",
        ),
        (&["attach", "--controller", "rano"], "did you mean"),
        (
            &["attach", "--controller", "{ name = \"copa\""],
            "--controller:1",
        ),
        (
            &["attach", "--controller", "copa", "--name", "accord"],
            "means the controller of a flow",
        ),
        (
            &["attach", "--controller", "{ name = \"copa\", gain = 1 }"],
            "gain",
        ),
        (&["status", "accord_nobody"], "no controller accord_nobody"),
    ] {
        let ended = ended(&[&["kernel"], arguments].concat()).with(2);
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
    }
}

/// Returns the missing requirement of this machine.
fn missing() -> Option<String> {
    for tool in ["ip", "tc"] {
        if Command::new(tool).arg("-V").output().is_err() {
            return Some(format!("{tool} of iproute2 is not there"));
        }
    }
    let name = name("try");
    let mut child = program(&["kernel", "attach", "--controller", "reno", "--name", &name]);
    let mut child = child.spawn().expect("it starts");
    match answers(&name, &mut child) {
        true => {
            let detached = ended(&["kernel", "detach", &name]);
            assert_eq!(detached.code, Some(0), "{detached:?}");
            common::end(child).with(0);
            None
        }
        false => {
            let ended = common::end(child).with(3);
            Some(ended.stderr.trim().to_string())
        }
    }
}

/// Returns a unique name.
fn name(what: &str) -> String {
    format!("a{}_{what}", std::process::id() % 1_000_000)
}

/// Waits until a controller is attached and answers, or its process ends.
fn answers(name: &str, child: &mut Child) -> bool {
    loop {
        if child.try_wait().expect("a child").is_some() {
            return false;
        }
        if ended(&["kernel", "status", name]).code == Some(0) {
            return true;
        }
        pause();
    }
}

#[expect(clippy::disallowed_methods, reason = "it waits for another process")]
fn pause() {
    std::thread::sleep(Duration::from_millis(50));
}

fn available(name: &str) -> bool {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text = std::fs::read_to_string(path).expect("it is there");
    text.split_whitespace().any(|word| word == name)
}

/// An attached controller. Its process is killed when this is dropped.
struct Attached {
    name: String,
    child: Child,
}

impl Attached {
    fn new(controller: &str, name: String) -> Attached {
        let arguments = ["kernel", "attach", "--controller", controller];
        let arguments = [&arguments[..], &["--name", &name]].concat();
        let mut command = program(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        assert!(answers(&name, &mut child), "{controller} is not attached");
        assert!(available(&name));
        Attached { name, child }
    }

    fn status(&self) -> Value {
        let ended = ended(&["kernel", "status", &self.name, "--json"]);
        ended.with(0).json()
    }

    /// Polls the state until the condition holds.
    fn until(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let mut status = self.status();
        for _ in 0..600 {
            if wanted(&status) {
                return status;
            }
            pause();
            status = self.status();
        }
        panic!("{what}: {status:#}");
    }

    fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).expect("a pid");
        kill(Pid::from_raw(pid), signal).expect("it is there");
    }
}

impl Drop for Attached {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A network namespace without a name.
struct Namespace(File);

impl Namespace {
    fn new() -> Namespace {
        let make = || {
            unshare(CloneFlags::CLONE_NEWNET).expect("root may");
            File::open("/proc/thread-self/ns/net").expect("it is there")
        };
        let file = std::thread::spawn(make).join().expect("no panic");
        let namespace = Namespace(file);
        namespace.does("ip link set lo up");
        namespace
    }

    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }

    fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                setns(&self.0, CloneFlags::CLONE_NEWNET).expect("root may");
                work()
            });
            thread.join().expect("no panic")
        })
    }

    fn does(&self, line: &str) {
        let words: Vec<&str> = line.split(' ').collect();
        let output = self.within(|| Command::new(words[0]).args(&words[1..]).output());
        let output = output.expect("it starts");
        assert!(output.status.success(), "{line}: {output:?}");
    }
}

/// Two hosts, and a router between them whose links are shaped.
struct Network {
    client: Namespace,
    server: Namespace,
    _router: Namespace,
}

const SERVER: Ipv4Addr = Ipv4Addr::new(10, 9, 2, 1);

impl Network {
    /// Creates the network with a rate in Mbps, or without a limit.
    fn new(rate: Option<u32>) -> Network {
        let (client, router, server) = (Namespace::new(), Namespace::new(), Namespace::new());
        for (host, device, of) in [(&client, "left", 1), (&server, "right", 2)] {
            let netns = host.path();
            router.does(&format!(
                "ip link add {device} type veth peer name eth netns {netns}"
            ));
            router.does(&format!("ip addr add 10.9.{of}.2/24 dev {device}"));
            router.does(&format!("ip link set {device} up"));
            host.does(&format!("ip addr add 10.9.{of}.1/24 dev eth"));
            host.does("ip link set eth up");
            host.does(&format!("ip route add default via 10.9.{of}.2"));
            if let Some(rate) = rate {
                router.does(&format!(
                    "tc qdisc add dev {device} root tbf rate {rate}mbit burst 20kb limit 100kb"
                ));
            }
        }
        router.within(|| std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").expect("root may"));
        Network {
            client,
            server,
            _router: router,
        }
    }

    /// Opens a connection with a congestion control. Returns the client's and the server's end.
    fn connect(&self, name: &str) -> (TcpStream, TcpStream) {
        let listener = self.server.within(|| TcpListener::bind((SERVER, 0)));
        let listener = listener.expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let connect = || TcpStream::connect_timeout(&address, PATIENCE);
        let client = self.client.within(connect).expect("a connection");
        let (server, _) = listener.accept().expect("a connection");
        setsockopt(&client, TcpCongestion, &name.into()).expect("it is attached");
        for stream in [&client, &server] {
            stream.set_nodelay(true).expect("a socket");
            stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
            stream.set_write_timeout(Some(PATIENCE)).expect("a socket");
        }
        (client, server)
    }
}

/// Sends `bytes` bytes, runs `middle` halfway, and checks each byte at the other end. Returns the
/// client's end, which is still open.
fn transfer(ends: (TcpStream, TcpStream), bytes: usize, middle: impl FnOnce()) -> TcpStream {
    let (mut client, mut server) = ends;
    let content = |i: usize| (i % 251) as u8;
    let receiver = std::thread::spawn(move || {
        let (mut part, mut taken) = (vec![0; 1 << 16], 0);
        while taken < bytes {
            let n = server.read(&mut part).expect("the data come");
            assert!(n > 0, "{taken} of {bytes} bytes came");
            for (i, byte) in part[..n].iter().enumerate() {
                assert_eq!(*byte, content(taken + i), "at {}", taken + i);
            }
            taken += n;
        }
        server.write_all(b"x").expect("it is heard");
        // The server's end is open until the client's is closed.
        let _ = server.read(&mut part);
    });
    let data: Vec<u8> = (0..bytes).map(content).collect();
    let (first, second) = data.split_at(bytes / 2);
    client.write_all(first).expect("the data go");
    middle();
    client.write_all(second).expect("the data go");
    client.read_exact(&mut [0]).expect("all has come");
    drop(receiver);
    client
}

fn controllers_carry_data() {
    const BYTES: usize = 4_000_000;
    let network = Network::new(Some(30));
    for controller in ["copa", "bbr3", "vegas", "reno", "cubic", "prague"] {
        let attached = Attached::new(controller, name(controller));
        let client = transfer(network.connect(&attached.name), BYTES, || {});
        let status = attached.until("all was delivered", |status| {
            let delivered = &status["connections"][0]["delivered_bytes"];
            delivered.as_u64().is_some_and(|n| n >= BYTES as u64)
        });
        let connection = &status["connections"][0];
        assert_eq!(status["controller"], controller);
        assert!(connection["error"].is_null(), "{status:#}");
        let peer = connection["peer"].as_str().expect("text");
        assert!(peer.starts_with("10.9.2.1:"), "{status:#}");
        let metrics = ended(&["kernel", "status", &attached.name, "--metrics"]).with(0);
        let line = "accord_kernel_connections 1";
        assert!(metrics.stdout.lines().any(|l| l == line), "{metrics:?}");
        drop(client);
        attached.until("the connection is closed", |status| {
            status["connections"] == Value::Array(Vec::new())
        });
    }
}

/// Returns the arguments of a run of this scenario, which is written into the folder.
fn run_of(dir: &Path, flow: &str, more: &[&str]) -> Command {
    let text = format!(
        "id = \"kernel\"\nduration = \"3 s\"\nsample = \"50 ms\"\n\
         topology.dumbbell = {{ rate = \"10 Mbps\", delay = \"10 ms\" }}\n\
         [flow.f]\ncount = 2\nfrom = \"left\"\nto = \"right\"\npacket = \"1500 B\"\n\
         kernel = \"accord\"\n{flow}\n"
    );
    std::fs::write(dir.join("kernel.toml"), text).expect("it is writable");
    let mut command = program(&[&["run", "kernel.toml", "--fresh"], more].concat());
    command.current_dir(dir);
    command
}

/// The controllers of flows are refused when the file is read, and without namespaces.
fn flows_refuse() {
    let dir = tempfile::tempdir().expect("a folder");
    let end = |flow: &str, more: &[&str]| {
        let mut command = run_of(dir.path(), flow, more);
        common::end(command.spawn().expect("it starts"))
    };
    let ended = end("controller = \"monaco\"", &[]).with(2);
    for words in [
        "kernel.toml:11:14",
        "pairs of control packets",
        "leave out `kernel`",
    ] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    let ended = end("", &[]).with(2);
    assert!(
        ended.stderr.contains("`controller` is missing"),
        "{}",
        ended.stderr
    );
    let loopback = ["--engine", "live", "--live", "loopback"];
    let ended = end("controller = \"copa\"", &loopback).with(3);
    assert!(
        ended.stderr.contains("--live namespaces"),
        "{}",
        ended.stderr
    );
}

/// Returns the names of the controllers that live runs of a process have attached.
fn of_runs(process: u32) -> Vec<String> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let text = std::fs::read_to_string(path).expect("it is there");
    let all = text.split_whitespace().map(String::from);
    all.filter(|name| name.starts_with(&format!("a{process:x}_")))
        .collect()
}

fn flows_have_it() {
    let dir = tempfile::tempdir().expect("a folder");
    let engines = ["--engine", "packet,live", "--live", "namespaces", "--json"];
    let mut command = run_of(dir.path(), "controller = \"copa\"", &engines);
    let child = command.spawn().expect("it starts");
    let process = child.id();
    let ended = common::end(child);
    // A busy machine gives no verdict.
    let code = if ended.stderr.contains("too busy") {
        3
    } else {
        0
    };
    let ended = ended.with(code);
    let result = ended.json();
    let means = result["points"][0]["means"].as_array().expect("means");
    let throughput = means
        .iter()
        .find(|mean| mean["group"] == "f" && mean["quantity"] == "throughput");
    let columns = throughput.expect("it is recorded")["values"].as_array();
    let columns: Vec<_> = columns.expect("values").iter().collect();
    for engine in ["packet", "live"] {
        let value = columns
            .iter()
            .find(|v| v["column"] == engine)
            .expect(engine);
        assert!(value["mean"].as_f64() > Some(1e6), "{engine}: {value}");
    }
    assert_eq!(of_runs(process), [""; 0]);

    // Reno stands in for a controller that panics, and the run says so.
    let live = ["--engine", "live", "--live", "namespaces"];
    let mut command = run_of(dir.path(), "controller = \"bad-panics\"", &live);
    let child = command.spawn().expect("it starts");
    let process = child.id();
    let ended = common::end(child);
    assert_eq!(ended.code, Some(3), "{ended:?}");
    for words in ["had Reno in place of bad-panics", "it was to panic"] {
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    assert_eq!(of_runs(process), [""; 0]);

    // However the process ends, the kernel detaches them.
    let mut command = run_of(dir.path(), "controller = \"copa\"", &live);
    let mut child = command.spawn().expect("it starts");
    while of_runs(child.id()).is_empty() {
        assert!(
            child.try_wait().expect("a child").is_none(),
            "it is attached"
        );
        pause();
    }
    child.kill().expect("it runs");
    child.wait().expect("a child");
    assert_eq!(of_runs(child.id()), [""; 0]);
}

/// The words of the kernel's `struct tcp_info` up to 160 bytes.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct TcpInfo([u32; 40]);

sockopt_impl!(
    /// The state of a connection.
    Information, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, TcpInfo
);

impl TcpInfo {
    fn of(stream: &TcpStream) -> TcpInfo {
        getsockopt(stream, Information).expect("a socket")
    }

    /// The milliseconds since the last acknowledgement.
    fn silence_ms(&self) -> u32 {
        self.0[14]
    }

    /// The smoothed round-trip time in microseconds.
    fn srtt_us(&self) -> u32 {
        self.0[17]
    }

    fn cwnd(&self) -> u32 {
        self.0[20]
    }
}

/// The end of the process costs no byte, and the acknowledgements do not pause for four round trips.
/// The queue makes a round trip longer than the pauses of a busy machine, and the kernel counts the
/// time since the last acknowledgement itself.
fn connections_survive_a_kill() {
    let network = Network::new(Some(6));
    let mut attached = Attached::new("cubic", name("kill"));
    let ends = network.connect(&attached.name);
    let watched = ends.0.try_clone().expect("a socket");
    let killed = Mutex::new(None);
    let done = AtomicBool::new(false);
    let longest = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut longest = 0;
            while !done.load(Ordering::Relaxed) {
                pause();
                let info = TcpInfo::of(&watched);
                if killed.lock().expect("no panic").is_some() {
                    longest = longest.max(info.silence_ms());
                }
            }
            longest
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
    let killed = killed
        .into_inner()
        .expect("no panic")
        .expect("it was killed");
    let round_trip = killed.srtt_us() / 1000;
    println!(
        "  a round trip of {round_trip} ms, and at most {longest} ms without an acknowledgement"
    );
    assert!(longest < 4 * round_trip, "{longest} ms of {round_trip} ms");
    // The window was halved once, and Reno's grows by a packet per round trip.
    let left = TcpInfo::of(&watched).cwnd();
    assert!(left < killed.cwnd(), "{left} of {}", killed.cwnd());
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
fn echo() -> ExitCode {
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
fn many_connections() {
    const SLOTS: usize = 16_384;
    let count = (files() as usize).saturating_sub(500).min(16_500);
    let network = Network::new(None);
    let mut attached = Attached::new("cubic", name("many"));
    network.client.within(|| {
        let variable = "/proc/sys/net/ipv4/tcp_congestion_control";
        std::fs::write(variable, &attached.name).expect("root may");
    });
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
    let status = attached.until("all have been heard", |status| {
        status["connections_total"] == controlled
    });
    println!("  {count} connections");
    assert_eq!(status["refused_connections_total"], count - controlled);
    assert_eq!(status["failed_connections_total"], 0);
    let open = status["connections"].as_array().map(Vec::len);
    assert_eq!(open, Some(controlled));
    attached.signal(Signal::SIGKILL);
    attached.child.wait().expect("a child");
    exchange(2);
    drop(streams);
    assert!(other.wait().expect("a child").success());
}

fn bad_decisions() {
    const BYTES: usize = 150_000;
    let network = Network::new(Some(30));
    for (family, fails) in BAD.iter().zip([true, false, false, true, false]) {
        let attached = Attached::new(family.name, name("bad"));
        let client = transfer(network.connect(&attached.name), BYTES, || {});
        let status = attached.until("it says so", |status| {
            status["failed_connections_total"] == u64::from(fails)
        });
        let error = &status["connections"][0]["error"];
        assert_eq!(error.is_string(), fails, "{status:#}");
        drop(client);
    }
}

/// A stopped process reads no reports, and its ring fills. When it continues, it takes over again.
fn full_ring() {
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

fn a_client_detaches() {
    let network = Network::new(Some(30));
    let mut attached = Attached::new("{ name = \"copa\", delta = 0.25 }", name("end"));
    let again = [
        "kernel",
        "attach",
        "--controller",
        "reno",
        "--name",
        &attached.name,
    ];
    let again = ended(&again).with(3);
    assert!(again.stderr.contains("already"), "{}", again.stderr);
    let ends = network.connect(&attached.name);
    transfer(ends, 1_000_000, || {
        ended(&["kernel", "detach", &attached.name]).with(0);
        let status = attached.child.wait().expect("a child");
        assert!(status.success(), "{status}");
        assert!(!available(&attached.name));
    });
}

/// Reports the congestion control of this process's sockets.
fn sockets() -> ExitCode {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let address: SocketAddr = listener.local_addr().expect("it is bound");
    let client = TcpStream::connect(address).expect("a connection");
    let (server, _) = listener.accept().expect("a connection");
    for stream in [client, server] {
        let name = getsockopt(&stream, TcpCongestion).expect("a socket");
        println!("{}", name.to_string_lossy().trim_end_matches('\0'));
    }
    ExitCode::from(5)
}

fn a_command_has_it() {
    let own = std::env::current_exe().expect("its own path");
    let own = own.to_str().expect("text");
    let name = name("run");
    let inside = format!("{SELF}=sockets");
    let arguments = ["kernel", "run", "--controller", "copa", "--name", &name];
    let arguments = [&arguments[..], &["--", "env", &inside, own]].concat();
    // A command that fails makes the program end with 1.
    let ended = ended(&arguments).with(1);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines, [name.as_str(), &name], "{ended:?}");
    assert!(!available(&name));
}
