//! The way out: to services of the host, by IPv6 and by names, and its remains.

use super::{PORT, Place, ping, program, text};
use std::fs::read_to_string;
use std::io::{Read, Write};
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, TcpListener, TcpStream, ToSocketAddrs, UdpSocket,
};
use std::path::Path;
use std::process::Command;

/// The addresses of the host of these tests [RFC 5737, RFC 3849].
const V4: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1);
/// The types of records with these addresses.
const A: u16 = 1;
const AAAA: u16 = 28;

/// Returns the answer of a name server that has one name.
fn answer(query: &[u8]) -> Vec<u8> {
    const HEAD: usize = 12;
    let name = query[HEAD..].iter().position(|byte| *byte == 0).expect("a name");
    let end = HEAD + name + 1 + 4;
    let kind = u16::from_be_bytes([query[end - 4], query[end - 3]]);
    let data = match kind {
        A => V4.octets().to_vec(),
        AAAA => V6.octets().to_vec(),
        _ => Vec::new(),
    };
    let mut all = query[..2].to_vec();
    all.extend([0x81, 0x80, 0, 1, 0, u8::from(!data.is_empty()), 0, 0, 0, 0]);
    all.extend(&query[HEAD..end]);
    if !data.is_empty() {
        all.extend([0xc0, 12]);
        all.extend(kind.to_be_bytes());
        all.extend([0, 1, 0, 0, 0, 60, 0, data.len() as u8]);
        all.extend(data);
    }
    all
}

/// A host with a name server, and a service at both of its addresses.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn host() {
    let names = UdpSocket::bind((Ipv4Addr::LOCALHOST, 53)).expect("a port");
    std::thread::spawn(move || {
        let mut query = [0; 512];
        while let Ok((length, from)) = names.recv_from(&mut query) {
            names.send_to(&answer(&query[..length]), from).expect("it goes");
        }
    });
    let [v4, v6] = [TcpListener::bind((V4, PORT)), TcpListener::bind((V6, PORT))];
    let serve = |listener: TcpListener| {
        while let Ok((mut stream, _)) = listener.accept() {
            stream.write_all(b"hello").expect("it reads");
        }
    };
    let listener = v6.expect("IPv6");
    std::thread::spawn(move || serve(listener));
    std::fs::write("ready", "").expect("it is written");
    serve(v4.expect("IPv4"));
}

/// Finds the host by its name, and reads from both of its addresses.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn guest() {
    let found: Vec<_> = ("far.example", PORT).to_socket_addrs().expect("names").collect();
    for wanted in [IpAddr::from(V4), V6.into()] {
        let found = found.iter().find(|address| address.ip() == wanted);
        let mut stream = TcpStream::connect(found.expect("an address")).expect("it listens");
        let mut all = String::new();
        stream.read_to_string(&mut all).expect("data");
        assert_eq!(all, "hello");
    }
}

/// In a namespace that has a device with a way out, and a name server that only its loopback device reaches.
#[test]
fn names_and_ipv6_lead_out() {
    let place = Place::new("names");
    let [host, guest] = ["way_out::host", "way_out::guest"].map(|name| program(name).join(" "));
    let script = format!(
        "ip link set lo up && ip link add d0 type dummy && ip addr add {V4}/24 dev d0 && \
         ip -6 addr add {V6}/64 dev d0 nodad && ip link set d0 up && ip route add default dev d0 && \
         ip -6 route add default dev d0 || exit 77\n\
         echo nameserver 127.0.0.1 > names && mount --bind names $(realpath /etc/resolv.conf) || exit 77\n\
         {host} > log 2>&1 & host=$!\n\
         while ! test -e ready && kill -0 $host; do :; done\n\
         {} emulate --rate '20 Mbps' --delay '1 ms' -q -- {guest}; code=$?; kill $host; exit $code",
        env!("CARGO_BIN_EXE_accord")
    );
    let mut command = Command::new("unshare");
    within_namespaces(command.current_dir(&place.0).args(["-n", "-m", "sh", "-c", &script]));
}

/// A device for small packets has no IPv6, even if the host has a route for it.
#[test]
fn small_packets_lead_out_without_ipv6() {
    let place = Place::new("small");
    let script = format!(
        "ip link set lo up && ip -6 route add default dev lo || exit 77\n\
         exec {} emulate --rate '20 Mbps' --mtu 1000 -q -- true",
        env!("CARGO_BIN_EXE_accord")
    );
    within_namespaces(
        Command::new("unshare").current_dir(&place.0).args(["-n", "sh", "-c", &script]),
    );
}

/// The devices, addresses, routes, rules and mounts of this host.
fn state() -> Vec<String> {
    let columns = |table: &str, count: usize| {
        let text = read_to_string(Path::new("/proc/net").join(table)).unwrap_or_default();
        let row = |line: &str| line.split_whitespace().take(count).collect::<Vec<_>>().join(" ");
        text.lines().map(row).collect::<Vec<_>>().join("\n")
    };
    let printed = |line: &[&str]| {
        let output = Command::new(line[0]).args(&line[1..]).output();
        output.map_or_else(|e| e.to_string(), |output| text(&output.stdout))
    };
    // Named namespaces are mounts as well. Others may have some; `ip netns` shows those of this run.
    let mounts = read_to_string("/proc/self/mounts").unwrap_or_default();
    vec![
        columns("dev", 1),
        columns("route", 8),
        columns("if_inet6", 6),
        columns("ipv6_route", 5),
        columns("ip_tables_names", 1),
        read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap_or_default(),
        printed(&["ip", "rule"]),
        printed(&["nft", "list", "ruleset"]),
        printed(&["ip", "netns"]),
        mounts.lines().filter(|line| !line.contains("/run/netns/")).collect(),
    ]
}

/// Runs emulations, after which all is as it was before.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn unchanged() {
    let place = Place::new("host");
    let before = state();
    for server in [&[][..], &["--server", "sleep 1"]] {
        let options = [&["--rate", "10 Mbps", "-q"], server].concat();
        let Some(output) = place.emulate(&options, &["true"]) else { return };
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert_eq!(state(), before);
    }
}

/// The host of this test is a namespace of its own, where no other program changes devices, rules or mounts. It
/// has a device with a route, where the kernel has such a device.
#[test]
fn the_host_is_as_it_was() {
    let script = format!(
        "ip link set lo up && mkdir -p /run/netns && mount -t tmpfs none /run/netns || exit 77\n\
         ip tuntap add d0 mode tun && ip link set d0 addrgenmode none && \
         ip addr add {V4}/24 dev d0 && ip link set d0 up && ip route add default dev d0\n\
         exec {}",
        program("way_out::unchanged").join(" ")
    );
    within_namespaces(Command::new("unshare").args(["-n", "-m", "sh", "-c", &script]));
}

#[expect(clippy::print_stderr, reason = "what is skipped is said")]
/// Runs a script that ends with 77 where it is not possible.
fn within_namespaces(command: &mut Command) {
    let Ok(output) = command.output() else { return };
    let (said, code) = (text(&output.stderr) + &text(&output.stdout), output.status.code());
    if code == Some(77) || said.contains("unshare failed") || said.contains("cannot make") {
        eprintln!("SKIPPED: {}", said.trim_end());
        return;
    }
    assert_eq!(code, Some(0), "{said}");
}

/// Sends an echo request beyond the far end, and then opens a connection over the same queue.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn pinger() {
    let _socket = ping(V4);
    let server = std::env::var("ACCORD_SERVER").expect("it is set");
    // No program of the host is at this port.
    let closed = TcpStream::connect((server.as_str(), 1));
    drop(closed.and_then(|mut stream| stream.read(&mut [0])));
}

/// Only TCP and UDP lead out, so an echo request crosses the path, and nothing takes it.
#[test]
fn a_packet_that_is_refused_is_not_delivered() {
    let place = Place::new("refused");
    let line =
        format!("ip route replace {V4}/32 dev accord && {}", program("way_out::pinger").join(" "));
    let Some(output) = place.emulate(&["--rate", "20 Mbps", "-q"], &["sh", "-c", &line]) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
    let table = read_to_string(place.0.join("runs/emulate/connections.csv")).expect("a table");
    let mut rows = table.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let row = rows.find(|row| row[2].starts_with(&V4.to_string())).expect(&table);
    assert_eq!([row[0], row[4], row[6], row[7]], ["icmp", "1", "0", "0"], "{table}");
}

/// The way out takes many files, and raises the limit for itself only.
#[test]
fn a_program_has_the_limit_of_files_of_its_caller() {
    let place = Place::new("files");
    let accord = env!("CARGO_BIN_EXE_accord");
    let line =
        format!("ulimit -Sn 300; exec {accord} emulate --rate '20 Mbps' -q -- sh -c 'ulimit -Sn'");
    let output = Command::new("sh").current_dir(&place.0).args(["-c", &line]).output();
    let output = output.expect("a shell");
    if output.status.code() == Some(3) {
        return;
    }
    let said = text(&output.stdout);
    assert!(said.lines().any(|line| line == "300"), "{said}{}", text(&output.stderr));
}

#[test]
fn the_way_out_leads_to_the_host() {
    let place = Place::new("out");
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let datagrams = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    // Some kernels have no IPv6.
    let v6 = UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).ok();
    let (tcp, udp) =
        (listener.local_addr().expect("bound"), datagrams.local_addr().expect("bound"));
    let udp6 = v6.as_ref().map_or(0, |v6| v6.local_addr().expect("bound").port());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut all = Vec::new();
        stream.read_to_end(&mut all).expect("data");
        stream.write_all(&all).expect("it reads");
    });
    for socket in std::iter::once(datagrams).chain(v6) {
        std::thread::spawn(move || {
            let mut buffer = [0; 4000];
            while let Ok((length, from)) = socket.recv_from(&mut buffer) {
                socket.send_to(&buffer[..length], from).expect("it goes");
            }
        });
    }
    let ports = format!("TCP={} UDP={} UDP6={udp6} exec \"$@\"", tcp.port(), udp.port());
    let line = program("way_out::caller");
    let mut all = vec!["sh", "-c", &ports, "sh"];
    all.extend(line.iter().map(String::as_str));
    let Some(output) = place.emulate(&["--rate", "50 Mbps", "--delay", "2 ms", "-q"], &all) else {
        return;
    };
    assert_eq!(output.status.code(), Some(0), "{}{}", text(&output.stdout), text(&output.stderr));
}

/// Sends a megabyte and datagrams to services of the host, and gets them back. The longest datagrams cross
/// the path in parts.
#[test]
#[ignore = "not a test: other tests start it as their program"]
fn caller() {
    let number =
        |name: &str| -> u16 { std::env::var(name).expect("it is set").parse().expect("a number") };
    let server: IpAddr = std::env::var("ACCORD_SERVER").expect("it is set").parse().expect("IP");
    let mut stream = TcpStream::connect((server, number("TCP"))).expect("it listens");
    let sent: Vec<u8> = (0..1_000_000_u32).map(|n| n.to_be_bytes()[3]).collect();
    stream.write_all(&sent).expect("it reads");
    stream.shutdown(Shutdown::Write).expect("it is open");
    let mut back = Vec::new();
    stream.read_to_end(&mut back).expect("data");
    assert!(back == sent);
    for (any, name, port) in [
        (IpAddr::from(Ipv4Addr::UNSPECIFIED), "ACCORD_SERVER", number("UDP")),
        (Ipv6Addr::UNSPECIFIED.into(), "ACCORD_SERVER6", number("UDP6")),
    ] {
        if port == 0 {
            continue;
        }
        let server: IpAddr = std::env::var(name).expect("it is set").parse().expect("IP");
        let socket = UdpSocket::bind((any, 0)).expect("a port");
        socket.connect((server, port)).expect("a route");
        for (n, size) in (0..10_u8).zip([3000, 1000].into_iter().cycle()) {
            socket.send(&vec![n; size]).expect("it goes");
            let mut buffer = [0; 4000];
            assert_eq!(socket.recv(&mut buffer).expect("it comes"), size);
            assert!(buffer[0] == n && buffer[size - 1] == n);
        }
    }
    // No program of the host is at this port.
    let closed = TcpStream::connect((server, 1)).and_then(|mut s| s.read(&mut [0]).map(|n| n > 0));
    assert!(!closed.unwrap_or(false));
}
