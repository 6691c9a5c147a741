//! Controllers that are attached, and their connections.

use crate::common;
use crate::host::{Attached, SELF, answers, available, ended, name, program};
use crate::network::{Network, SERVER, SERVER_V6, has_v6, transfer};
use nix::sys::signal::Signal;
use nix::sys::socket::{getsockopt, setsockopt, sockopt::TcpCongestion};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::ExitCode;

pub fn refused() {
    for (arguments, why) in [
        (&["attach", "--controller", "monaco"][..], "pairs of control packets"),
        (&["attach", "--controller", "none"], "TCP needs a window"),
        (
            &["attach", "--controller", "reno", "--name", "a b"],
            "not a valid name of a congestion control",
        ),
        (&["attach", "--controller", "rano"], "did you mean"),
        (&["attach", "--controller", "{ name = \"copa\""], "--controller:1"),
        (&["attach", "--controller", "copa", "--name", "accord"], "means the controller of a flow"),
        (&["attach", "--controller", "{ name = \"copa\", gain = 1 }"], "gain"),
        (&["status", "accord_nobody"], "no controller accord_nobody"),
        (&["attach", "--controller", "keeper.py"], "a program of Python"),
        (&["attach", "--controller", "none.toml"], "cannot be read"),
        (
            &["attach", "--controller", "reno", "--metrics", "0.0.0.0:1"],
            "expected a loopback address and a port",
        ),
    ] {
        let ended = ended(&[&["kernel"], arguments].concat()).with(2);
        assert!(ended.stderr.contains(why), "{}", ended.stderr);
    }
}

/// Every family that TCP can run, those of quinn among them.
pub fn controllers_carry_data() {
    const BYTES: usize = 2_000_000;
    let network = Network::new(Some(30));
    let catalogue = accord::catalogue_with(accord_quinn::FAMILIES, &[]);
    let families = catalogue.controllers.iter();
    let families = families.filter(|family| family.defaults().unfit_for_tcp().is_none());
    let names: Vec<&str> = families.map(|family| family.name).collect();
    for some in ["reno", "bbr3", "copa", "vegas", "ledbat-pp", "prague", "quinn-cubic"] {
        assert!(names.contains(&some), "{some} of {names:?}");
    }
    for (i, controller) in names.into_iter().enumerate() {
        let attached = Attached::new(controller, name(&i.to_string()));
        let client = transfer(network.connect(&attached.name), BYTES, || {});
        let status = attached.until("nearly all was delivered", |status| {
            let delivered = &status["connections"][0]["delivered_bytes"];
            // Reports come once per round trip, so of the last one may be missing.
            delivered.as_u64().is_some_and(|n| n >= BYTES as u64 * 9 / 10)
        });
        let connection = &status["connections"][0];
        assert_eq!(status["controller"], controller);
        assert!(connection["error"].is_null(), "{status:#}");
        let peer = connection["peer"].as_str().expect("text");
        assert!(peer.starts_with("10.9.2.1:"), "{status:#}");
        drop(client);
        attached.until("the connection is closed", |status| {
            status["connections"] == Value::Array(Vec::new())
        });
    }
}

/// Two controllers at the same time, over IPv6 if the kernel has it, each for its own connection.
pub fn two_controllers_have_their_own() {
    let network = Network::new(Some(30));
    let both = ["bbr3", "ledbat-pp"].map(|family| Attached::new(family, name(&family[..3])));
    let server: IpAddr = if has_v6() { SERVER_V6.into() } else { SERVER.into() };
    std::thread::scope(|scope| {
        for attached in &both {
            let (client, other) = network.open(server);
            setsockopt(&client, TcpCongestion, &attached.name[..].into()).expect("attached");
            let peer = client.peer_addr().expect("it is open").to_string();
            scope.spawn(move || {
                let client = transfer((client, other), 1_000_000, || {});
                let status = attached.until("nearly all was delivered", |status| {
                    let delivered = &status["connections"][0]["delivered_bytes"];
                    delivered.as_u64() >= Some(900_000)
                });
                assert_eq!(status["connections_total"], 1, "{status:#}");
                assert_eq!(status["connections"][0]["peer"], peer);
                drop(client);
            });
        }
    });
}

/// A server accepts connections with the default of its namespace, and its data has the controller.
/// Short connections leave nothing.
pub fn accepted_connections_have_the_default() {
    const COUNT: usize = 200;
    let network = Network::new(None);
    let attached = Attached::new("bbr3", name("sysctl"));
    network.server.has_default(&attached.name);
    for _ in 0..COUNT {
        let (client, server) = network.open(SERVER.into());
        transfer((server, client), 30_000, || {});
    }
    let status = attached
        .until("all are closed", |status| status["connections"] == Value::Array(Vec::new()));
    assert_eq!(status["connections_total"], COUNT);
    assert_eq!(status["failed_connections_total"], 0);
    assert_eq!(status["refused_connections_total"], 0);
}

/// Prometheus reads metrics at an address of TCP, and nothing else there.
pub fn metrics_have_an_address() {
    // All its ports are free.
    let network = Network::new(None);
    let (name, address) = (name("metrics"), "127.0.0.1:9587");
    let arguments = ["kernel", "attach", "--controller", "reno", "--name", &name];
    let arguments = [&arguments[..], &["--metrics", address]].concat();
    let spawn = || program(&arguments).spawn().expect("it starts");
    let taken = (network.client).within(|| TcpListener::bind(address).expect("a free port"));
    let refused = common::end(network.client.within(spawn)).with(3);
    for words in [address, "Address already in use"] {
        assert!(refused.stderr.contains(words), "{}", refused.stderr);
    }
    assert!(!available(&name));
    drop(taken);
    let mut child = network.client.within(spawn);
    assert!(answers(&name, &mut child), "it is attached");
    let ask = |what: &str| {
        let connect = || TcpStream::connect(address).expect("it listens");
        let mut stream = network.client.within(connect);
        write!(stream, "{what} HTTP/1.1\r\n\r\n").expect("it is heard");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    };
    let metrics = ask("GET /metrics");
    let line = "accord_kernel_connections 0";
    assert!(metrics.lines().any(|l| l == line), "{metrics}");
    for other in ["GET /status", "POST /detach"] {
        assert!(ask(other).starts_with("HTTP/1.1 404"), "{other}");
    }
    let own = ended(&["kernel", "status", &name, "--metrics"]).with(0);
    assert!(own.stdout.lines().any(|l| l == line), "{own:?}");
    ended(&["kernel", "detach", &name]).with(0);
    common::end(child).with(0);
}

pub fn a_client_detaches() {
    let network = Network::new(Some(30));
    let mut attached = Attached::new("{ name = \"copa\", delta = 0.25 }", name("end"));
    let again = ["kernel", "attach", "--controller", "reno", "--name", &attached.name];
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
pub fn sockets() -> ExitCode {
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

pub fn a_command_has_it() {
    let own = std::env::current_exe().expect("its own path");
    let own = own.to_str().expect("text");
    let name = name("run");
    let inside = format!("{SELF}=sockets");
    let arguments = ["kernel", "run", "--controller", "copa", "--name", &name];
    let arguments = [&arguments[..], &["--", "env", &inside, own]].concat();
    // The exit code is that of the command.
    let ended = ended(&arguments).with(5);
    let lines: Vec<&str> = ended.stdout.lines().collect();
    assert_eq!(lines, [name.as_str(), &name], "{ended:?}");
    assert!(!available(&name));
}

/// A command that cannot be started leaves nothing.
pub fn a_missing_command_leaves_nothing() {
    let name = name("none");
    let arguments = ["kernel", "run", "--controller", "reno", "--name", &name];
    let missing = ended(&[&arguments[..], &["--", "./no-such-program"]].concat()).with(127);
    assert!(missing.stderr.contains("program not found: ./no-such-program"), "{missing:?}");
    assert!(!available(&name));
}

/// A command begins with signals that end it, such as that of Ctrl-C.
pub fn a_command_has_its_signals() {
    let arguments = ["kernel", "run", "--controller", "reno", "--name", &name("mask")];
    let command = ["--", "grep", "SigBlk", "/proc/self/status"];
    let ended = ended(&[&arguments[..], &command].concat()).with(0);
    let mask = ended.stdout.trim().rsplit('\t').next().expect("a word");
    let mask = u64::from_str_radix(mask, 16).expect("a number");
    for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        assert_eq!(mask >> (signal as i32 - 1) & 1, 0, "{signal}: {mask:x}");
    }
}
