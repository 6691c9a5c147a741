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
use nix::sys::signal::{Signal, kill};
use nix::sys::socket::{getsockopt, setsockopt, sockopt::TcpCongestion};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs::File;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Child, Command, ExitCode, Stdio};
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
        _ => {}
    }
    refused();
    println!("test what cannot run is refused with the reason ... ok");
    if let Some(why) = missing() {
        println!("SKIPPED: controllers in the kernel's TCP: {why}");
        return ExitCode::SUCCESS;
    }
    let tests: [(&str, fn()); 6] = [
        ("controllers carry data", controllers_carry_data),
        ("connections survive kill -9", connections_survive_a_kill),
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

fn connections_survive_a_kill() {
    let network = Network::new(Some(30));
    let mut attached = Attached::new("copa", name("kill"));
    let ends = network.connect(&attached.name);
    transfer(ends, 6_000_000, || {
        attached.signal(Signal::SIGKILL);
        attached.child.wait().expect("a child");
    });
    // Without a process that holds it, the kernel has removed it.
    assert!(!available(&attached.name));
    let listed = ended(&["kernel", "list"]).with(0);
    assert!(!listed.stdout.contains(&attached.name), "{listed:?}");
}

fn bad_decisions() {
    const BYTES: usize = 500_000;
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
