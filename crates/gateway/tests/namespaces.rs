//! Two gateways in network namespaces, over a bottleneck of the kernel. It takes root, or it is
//! skipped with the reason.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "it says why it is skipped")]

mod common;

use common::{INNER, OUTER, Path_, Queue, Sites, obstacle, rates};
use std::time::Duration;

fn path(queue: Queue) -> Path_ {
    Path_ {
        mbps: 20,
        buffer: 50_000,
        queue,
        delay: Duration::from_millis(10),
        loss_permille: 0,
    }
}

/// Runs a test, or says why not.
fn possible() -> bool {
    let why = obstacle();
    if let Some(why) = &why {
        eprintln!("SKIPPED: {why}");
    }
    why.is_none()
}

/// Makes two sites with gateways that know each other.
fn joined(path: &Path_, peer: &str) -> Sites {
    let mut sites = Sites::new(path);
    let files = sites.write(peer);
    for (end, file) in files.iter().enumerate() {
        sites.start(end, file);
    }
    for end in 0..2 {
        assert!(
            sites.wait_for(end, "controlled", Duration::from_secs(10)),
            "{}",
            sites.status(end)
        );
    }
    sites
}

const CONTRACT: &str = "cap = \"50 Mbps\"\nservice = { contract = \"10 Mbps\" }\n";

#[test]
fn hosts_of_two_sites_reach_each_other() {
    if !possible() {
        return;
    }
    let sites = joined(&path(Queue::Fifo), CONTRACT);
    let ping = ["ping", "-c", "3", "-i", "0.2", "-W", "2", INNER[1]];
    match sites.command(0, &ping) {
        Some((succeeded, said)) => assert!(succeeded && said.contains(" 0% packet loss"), "{said}"),
        None => eprintln!("there is no ping here"),
    }
    // A packet of the largest size goes through, and one that is larger does not.
    let sized = |size| {
        sites.command(
            0,
            &[
                "ping", "-c", "1", "-W", "2", "-M", "do", "-s", size, INNER[1],
            ],
        )
    };
    assert!(sized("1392").is_none_or(|(succeeded, _)| succeeded));
    assert!(sized("1393").is_none_or(|(succeeded, _)| !succeeded));
    let server = sites.serve_http(8080, "it is here");
    let url = format!("http://{}:8080/", INNER[1]);
    match sites.command(0, &["curl", "-sS", "--max-time", "5", &url]) {
        Some((succeeded, said)) => assert!(succeeded && said == "it is here", "{said}"),
        None => eprintln!("there is no curl here"),
    }
    drop(server);
    let peer = &sites.status(0)["peers"][0];
    assert_eq!(peer["state"], "controlled");
    assert!(peer["rx_packets"].as_u64() > Some(3), "{peer}");
}

/// The signal is the distance of pairs where the path forwards EF first, and the delay where it does
/// not. In both cases the queue in the network stays near what the service asks for.
#[test]
fn the_signal_is_found_out() {
    if !possible() {
        return;
    }
    for (queue, signal) in [(Queue::Fifo, "delay"), (Queue::Expedited, "pairs")] {
        let mut sites = joined(&path(queue), CONTRACT);
        let tunnel = sites.tcp(INNER[1], 5001, "cubic");
        std::thread::sleep(Duration::from_secs(4));
        let rate = rates(&[&tunnel], 4.0)[0];
        let status = sites.status(0);
        let peer = &status["peers"][0];
        eprintln!(
            "{queue:?}: {rate:.1} Mbps, queued {} s",
            peer["queue_delay_s"]
        );
        assert_eq!(peer["signal"], signal, "{peer}");
        // 20 Mbps carry at most 18.5 Mbps of TCP in the tunnel's packets.
        assert!((12.0..18.6).contains(&rate), "{rate} Mbps");
    }
}

/// A kernel CUBIC flow fills the same FIFO queue. The contract is 10 Mbps of 20, and half of the link
/// belongs to the tunnel. Losses keep it from getting all of it: docs/src/gateway.md says how much.
#[test]
fn a_contract_is_worth_something_beside_cubic() {
    if !possible() {
        return;
    }
    let got = ["0 Mbps", "10 Mbps"].map(|contract| {
        let peer = format!("cap = \"50 Mbps\"\nservice = {{ contract = \"{contract}\" }}\n");
        let mut sites = joined(&path(Queue::Fifo), &peer);
        let tunnel: Vec<_> = (0..4)
            .map(|i| sites.tcp(INNER[1], 5001 + i, "cubic"))
            .collect();
        let beside = sites.tcp(OUTER[1], 6001, "cubic");
        std::thread::sleep(Duration::from_secs(5));
        let counters: Vec<_> = tunnel.iter().chain([&beside]).map(|c| &**c).collect();
        let rates = rates(&counters, 10.0);
        (rates[..4].iter().sum::<f64>(), rates[4])
    });
    let [(without, _), (with, beside)] = got;
    eprintln!("without a contract {without:.1} Mbps, with 10 Mbps {with:.1} beside {beside:.1}");
    assert!(with > 4.0 && with > 1.5 * without, "{got:?}");
    assert!(beside > 4.0, "the other flow is not starved: {got:?}");
}

/// Measures what is promised under which circumstances; the table is in the book.
#[test]
#[ignore = "it takes minutes, and measures"]
fn floors() {
    if let Some(why) = obstacle() {
        return eprintln!("SKIPPED: {why}");
    }
    for queue in [Queue::Fifo, Queue::Expedited] {
        for buffer in [25_000, 50_000, 150_000] {
            for contract in ["0 Mbps", "10 Mbps"] {
                let path = Path_ {
                    buffer,
                    ..path(queue)
                };
                let mut sites = Sites::new(&path);
                let service = format!("service = {{ contract = \"{contract}\", weight = 1 }}");
                let files = sites.write(&format!("cap = \"50 Mbps\"\n{service}\n"));
                for (end, file) in files.iter().enumerate() {
                    sites.start(end, file);
                }
                assert!(sites.wait_for(0, "controlled", Duration::from_secs(10)));
                let tunnel = sites.tcp(INNER[1], 5001, "cubic");
                std::thread::sleep(Duration::from_secs(3));
                let alone = rates(&[&tunnel], 7.0);
                let beside = sites.tcp(OUTER[1], 5002, "cubic");
                std::thread::sleep(Duration::from_secs(5));
                let both = rates(&[&tunnel, &beside], 30.0);
                let peer = &sites.status(0)["peers"][0];
                eprintln!(
                    "{queue:?} {buffer} B, contract {contract}: alone {:.1}; beside CUBIC {:.1} and {:.1}; signal {}, lost pairs {}, unanswered {}, srtt {}",
                    alone[0],
                    both[0],
                    both[1],
                    peer["signal"],
                    peer["lost_pairs"],
                    peer["unanswered_pairs"],
                    peer["srtt_s"]
                );
            }
        }
    }
}

/// Prints what a gateway knows, second by second.
#[test]
#[ignore = "it is for looking"]
fn watch() {
    if let Some(why) = obstacle() {
        return eprintln!("SKIPPED: {why}");
    }
    let var = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |v| v.parse().expect("a number"))
    };
    let path = Path_ {
        buffer: var("BUFFER", 50_000),
        ..path(Queue::Fifo)
    };
    let mut sites = Sites::new(&path);
    let files = sites.write("cap = \"50 Mbps\"\nservice = { contract = \"10 Mbps\" }\n");
    for (end, file) in files.iter().enumerate() {
        sites.start(end, file);
    }
    assert!(sites.wait_for(0, "controlled", Duration::from_secs(10)));
    let mut tunnels = Vec::new();
    for i in 0..var("FLOWS", 1) {
        tunnels.push(sites.tcp(INNER[1], 5001 + i as u16, "cubic"));
    }
    let mut beside = None;
    for second in 0..var("SECONDS", 20) {
        if second == var("BESIDE", 1000) {
            beside = Some(sites.tcp(OUTER[1], 6002, "cubic"));
        }
        let counters: Vec<_> = tunnels.iter().chain(&beside).map(|c| &**c).collect();
        let rates = rates(&counters, 1.0);
        let tunnel: f64 = rates[..tunnels.len()].iter().sum();
        let peer = &sites.status(0)["peers"][0];
        let class = &peer["classes"][0];
        let number = |v: &serde_json::Value, scale: f64| v.as_f64().unwrap_or(f64::NAN) * scale;
        eprintln!(
            "{second:3} tunnel {tunnel:5.1} beside {:5.1}  may {:6.2} egress {:6.2} acc {:7.0} q {:6.2} ms srtt {:6.2} ms lost {} unanswered {} waiting {} late {}",
            rates.get(tunnels.len()).copied().unwrap_or(0.0),
            number(&peer["rate_bytes_per_s"], 8e-6),
            number(&peer["egress_bytes_per_s"], 8e-6),
            number(&peer["accumulation_bytes"], 1.0),
            number(&peer["queue_delay_s"], 1e3),
            number(&peer["srtt_s"], 1e3),
            peer["lost_pairs"],
            peer["unanswered_pairs"],
            class["waiting_bytes"],
            class["late_packets"],
        );
    }
}
