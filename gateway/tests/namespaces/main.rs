//! Two gateways in network namespaces, over a bottleneck of the kernel. It takes root, or it is
//! skipped with the reason.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "it says why it is skipped")]
#![allow(clippy::disallowed_methods, reason = "real time passes here")]

#[path = "../common/mod.rs"]
mod common;
mod routes;

use accord_gateway::RENEWAL;
use common::{
    INNER, INNER_V6, OUTER, Path_, Queue, Sites, UPLINK, is_back, obstacle, rates, reached, waited,
};
use std::time::{Duration, Instant};

/// The seconds for which ping and curl wait for an answer.
const WAIT: &str = "30";

fn path(queue: Queue) -> Path_ {
    Path_ { mbps: 20, buffer: 50_000, queue, delay: Duration::from_millis(10), loss_permille: 0 }
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
        assert!(sites.wait_for(end, "controlled"), "{}", sites.status(end));
    }
    sites
}

/// Does two things at the same time, each with sites of its own. They mostly wait.
fn both<T: Send>(one: impl FnOnce() -> T + Send, other: impl FnOnce() -> T) -> (T, T) {
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().expect("its assertions hold"), other)
    })
}

const CONTRACT: &str = "cap = \"50 Mbps\"\nservice = { contract = \"10 Mbps\" }\n";

#[test]
fn hosts_of_two_sites_reach_each_other() {
    if !possible() {
        return;
    }
    let sites = joined(&path(Queue::Fifo), CONTRACT);
    let ping = ["ping", "-c", "3", "-i", "0.2", "-W", WAIT, INNER[1]];
    match sites.command(0, &ping) {
        Some((succeeded, said)) => assert!(succeeded && said.contains(" 0% packet loss"), "{said}"),
        None => eprintln!("there is no ping here"),
    }
    // A packet of the largest size goes through, and one that is larger does not.
    let sized =
        |size| sites.command(0, &["ping", "-c", "1", "-W", WAIT, "-M", "do", "-s", size, INNER[1]]);
    assert!(sized("1392").is_none_or(|(succeeded, _)| succeeded));
    assert!(sized("1393").is_none_or(|(succeeded, _)| !succeeded));
    let server = sites.serve_http(8080, "it is here");
    let url = format!("http://{}:8080/", INNER[1]);
    match sites.command(0, &["curl", "-sS", "--max-time", WAIT, &url]) {
        Some((succeeded, said)) => assert!(succeeded && said == "it is here", "{said}"),
        None => eprintln!("there is no curl here"),
    }
    drop(server);
    let peer = &sites.status(0)["peers"][0];
    assert_eq!(peer["state"], "controlled");
    assert!(peer["rx_packets"].as_u64() > Some(3), "{peer}");
}

/// The hub has two uplinks, and answers from the one that was called. The link of the first is cut in the
/// middle of a transfer: the spoke calls the second one, and the same connection goes on. The gap in
/// virtual time is in `hostile/uplinks.rs`; here a busy machine may make it longer.
#[test]
fn a_second_uplink_takes_over() {
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo)).with_uplink();
    let files = sites.write(CONTRACT);
    let text = std::fs::read_to_string(&files[0]).expect("readable");
    let one = format!("endpoint = \"{}:51820\"", OUTER[1]);
    let two = format!("endpoint = [\"{}:51820\", \"{UPLINK}:51820\"]", OUTER[1]);
    assert!(text.contains(&one), "{text}");
    std::fs::write(&files[0], text.replace(&one, &two)).expect("written");
    let text = std::fs::read_to_string(&files[1]).expect("readable");
    let hub: String = (text.lines().filter(|line| !line.starts_with("endpoint")))
        .map(|line| match line.starts_with("listen") {
            true => "listen = \"0.0.0.0:51820\"\n".to_string(),
            false => format!("{line}\n"),
        })
        .collect();
    std::fs::write(&files[1], hub).expect("written");
    for (end, file) in files.iter().enumerate() {
        sites.start(end, file);
    }
    assert!(sites.wait_for(0, "controlled"), "{}", sites.status(0));
    let tunnel = sites.tcp(INNER[1], 5001, "cubic");
    assert!(reached(&tunnel, 1.0) > 1.0);
    sites.cut_first_uplink();
    let cut = Instant::now();
    let endpoint = |sites: &Sites| sites.status(0)["peers"][0]["endpoint"].to_string();
    assert!(waited(|| endpoint(&sites).contains(UPLINK)), "{}", sites.status(0));
    let rate = reached(&tunnel, 1.0);
    eprintln!("{rate:.1} Mbps again {:?} after the cut", cut.elapsed());
    assert!(rate > 1.0, "{rate} Mbps");
    let told = sites.log(0);
    let line = told.iter().find(|l| l.contains("event=endpoint ") && l.contains(UPLINK));
    assert!(line.is_some_and(|l| l.contains("the peer is silent")), "{told:?}");
}

/// One gateway hears peers of IPv4 and of IPv6, as WireGuard does.
#[test]
fn a_gateway_of_both_families_is_reached_over_each() {
    if !possible() {
        return;
    }
    for v6 in [false, true] {
        let mut sites = Sites::new(&path(Queue::Fifo)).with_v6();
        let files = if v6 { sites.write_v6(CONTRACT) } else { sites.write(CONTRACT) };
        for file in &files {
            let text = std::fs::read_to_string(file).expect("readable");
            let listen = text.lines().find(|l| l.starts_with("listen")).expect("it listens");
            let both = text.replace(listen, "listen = \"[::]:51820\"");
            std::fs::write(file, both).expect("written");
        }
        for (end, file) in files.iter().enumerate() {
            sites.start(end, file);
        }
        for end in 0..2 {
            let up = sites.wait_for(end, "controlled");
            assert!(up, "{v6}: {}", sites.status(end));
        }
        let endpoint = sites.status(0)["peers"][0]["endpoint"].to_string();
        assert_eq!(endpoint.contains("2001:db8"), v6, "{endpoint}");
        assert!(!endpoint.contains("ffff"), "{endpoint}");
    }
}

/// A hub knows no endpoints: its spokes call it. It keeps the addresses that they called from, so it can
/// call them when it starts again. Here the calls of the spoke are lost by then.
#[test]
fn a_hub_that_starts_again_calls_its_spokes() {
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo));
    let files = sites.write(CONTRACT);
    let text = std::fs::read_to_string(&files[1]).expect("readable");
    let hub: String = (text.lines().filter(|line| !line.starts_with("endpoint")))
        .map(|line| format!("{line}\n"))
        .collect();
    std::fs::write(&files[1], hub).expect("written");
    for (end, file) in files.iter().enumerate() {
        sites.start(end, file);
    }
    assert!(sites.wait_for(1, "controlled"));
    let tunnel = sites.tcp(INNER[1], 5001, "cubic");
    let kept = sites.folder.path().join("1.endpoints");
    assert!(waited(|| kept.exists()));
    let kept = std::fs::read_to_string(kept).expect("it is kept");
    assert!(kept.ends_with(" 192.0.2.1:51820\n"), "{kept}");
    sites.wire.lose_calls();
    sites.end(1);
    sites.start(1, &files[1]);
    let began = Instant::now();
    assert!(is_back(&tunnel, 1.0, "the start of the hub", began), "{}", sites.status(1));
    assert!(sites.wait_for(1, "controlled"), "{}", sites.status(1));
}

/// The signal is the distance of pairs where the path forwards EF first, and the delay where it does
/// not. In both cases the queue in the network stays near the target of the service.
#[test]
fn the_signal_is_found_out() {
    if !possible() {
        return;
    }
    let found_out = |queue: Queue, signal: &str| {
        let mut sites = joined(&path(queue), CONTRACT);
        let tunnel = sites.tcp(INNER[1], 5001, "cubic");
        std::thread::sleep(Duration::from_secs(4));
        // More than the contract.
        let rate = reached(&tunnel, 10.0);
        let peer = || sites.status(0)["peers"][0].clone();
        let is_known = waited(|| peer()["signal"] == signal);
        eprintln!("{queue:?}: {rate:.1} Mbps, queued {} s", peer()["queue_delay_s"]);
        assert!(is_known, "{signal}: {}", peer());
        assert!(rate > 10.0, "{rate} Mbps");
    };
    both(|| found_out(Queue::Fifo, "delay"), || found_out(Queue::Expedited, "pairs"));
}

/// A kernel CUBIC flow fills the same FIFO queue. The contract is 10 Mbps of 20, and half of the link
/// belongs to the tunnel. Losses keep it from getting all of it: docs/src/gateway.md says how much.
#[test]
fn a_contract_is_worth_something_beside_cubic() {
    if !possible() {
        return;
    }
    let measured = |contract: &str| {
        let peer = format!("cap = \"50 Mbps\"\nservice = {{ contract = \"{contract}\" }}\n");
        let mut sites = joined(&path(Queue::Fifo), &peer);
        let tunnel: Vec<_> = (0..4).map(|i| sites.tcp(INNER[1], 5001 + i, "cubic")).collect();
        let beside = sites.tcp(OUTER[1], 6001, "cubic");
        std::thread::sleep(Duration::from_secs(5));
        let counters: Vec<_> = tunnel.iter().chain([&beside]).map(|c| &**c).collect();
        let rates = rates(&counters, 10.0);
        (rates[..4].iter().sum::<f64>(), rates[4])
    };
    // A window of ten seconds depends on the losses of CUBIC, and on the load of the machine: one of three
    // is as it should be.
    let held = (0..3).any(|_| {
        let ((without, _), (with, beside)) = both(|| measured("0 Mbps"), || measured("10 Mbps"));
        eprintln!(
            "without a contract {without:.1} Mbps, with 10 Mbps {with:.1} beside {beside:.1}"
        );
        // The contract is worth something, and the other flow is not starved.
        with > 4.0 && with > 1.5 * without && beside > 4.0
    });
    assert!(held, "in none of three windows");
}

/// Sends packets of the largest size to the other site, and returns the output of ping.
fn largest_pings(sites: &Sites) -> Option<String> {
    let ping = ["ping", "-c", "3", "-i", "0.2", "-W", WAIT, "-M", "do", "-s", "1392", INNER[1]];
    sites.command(0, &ping).map(|(_, said)| said)
}

/// In mode bypass the path MTU is not discovered. So the router cuts datagrams that are too large for
/// its next link, and the kernel those that are too large for the first one. It goes on joining
/// datagrams.
#[test]
fn what_is_not_probed_may_be_cut() {
    if !possible() {
        return;
    }
    let cut_at = |end: usize| {
        let mut sites = Sites::new(&path(Queue::Fifo));
        let files = sites.write("cap = \"50 Mbps\"\nmode = \"bypass\"\n");
        for (end, file) in files.iter().enumerate() {
            sites.start(end, file);
        }
        let up = sites.wait_for(0, "unknown");
        assert!(up, "{}", sites.status(0));
        // The answers of the other end are as long.
        assert!(sites.ask(1, "POST /mode/other/bypass").0.contains("200"));
        let offloads = sites.status(0)["offloads"].clone();
        sites.set_mtu(end, 1400);
        let ping = largest_pings(&sites);
        assert!(ping.is_none_or(|said| said.contains(" 0% packet loss")), "{end}");
        let tunnel = sites.tcp(INNER[1], 5001, "cubic");
        let rate = reached(&tunnel, 1.0);
        eprintln!("{rate:.1} Mbps in pieces");
        // Nothing would arrive otherwise.
        assert!(rate > 1.0, "{rate} Mbps");
        assert_eq!(sites.status(0)["offloads"], offloads);
    };
    both(|| cut_at(0), || cut_at(1));
}

/// A peer that is plain WireGuard works, gets packets at the cap, and is shown as `plain`. It takes
/// wireguard-go: `go install golang.zx2c4.com/wireguard@latest`, and its path in `WIREGUARD_GO`.
#[test]
fn a_peer_that_is_plain_wireguard_works() {
    let Some(program) = std::env::var_os("WIREGUARD_GO") else {
        return eprintln!("SKIPPED: WIREGUARD_GO does not say where wireguard-go is");
    };
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo));
    let files = sites.write("cap = \"5 Mbps\"\n");
    let _plain = sites.start_wireguard(&program);
    sites.start(0, &files[0]);
    assert!(sites.wait_for(0, "plain"), "{}", sites.status(0));
    // It answers no probes, so the router may cut datagrams for its next link.
    sites.set_mtu(1, 1400);
    let ping = largest_pings(&sites);
    assert!(ping.is_none_or(|said| said.contains(" 0% packet loss")));
    let tunnel = sites.tcp(INNER[1], 5001, "cubic");
    let mut rate = 0.0;
    let is_close = waited(|| {
        rate = rates(&[&tunnel], 4.0)[0];
        (3.8..4.7).contains(&rate)
    });
    eprintln!("{rate:.2} Mbps to wireguard-go at a cap of 5 Mbps");
    assert!(is_close, "{rate} Mbps");
}

#[test]
fn ipv6_goes_over_ipv6() {
    if !possible() {
        return;
    }
    if !std::path::Path::new("/proc/net/if_inet6").exists() {
        return eprintln!("SKIPPED: this kernel has no IPv6");
    }
    let mut sites = Sites::new(&path(Queue::Fifo)).with_v6();
    let files = sites.write_v6(CONTRACT);
    for (end, file) in files.iter().enumerate() {
        sites.start(end, file);
    }
    let joined = sites.wait_for(0, "controlled");
    assert!(joined, "{}", sites.status(0));
    let tunnel = sites.tcp(&format!("[{}]", INNER_V6[1]), 5001, "cubic");
    let rate = reached(&tunnel, 10.0);
    assert!(rate > 10.0, "{rate} Mbps");
}

/// Both ends read their files again: the peer has a second key, and then the gateway has that key.
#[test]
fn a_key_changes_while_gateways_run() {
    if !possible() {
        return;
    }
    let sites = joined(&path(Queue::Fifo), CONTRACT);
    let change = |end: usize, edit: &dyn Fn(&str) -> String| {
        let file = sites.folder.path().join(format!("{end}.toml"));
        let text = std::fs::read_to_string(&file).expect("readable");
        std::fs::write(&file, edit(&text)).expect("written");
        sites.reload[end].store(true, std::sync::atomic::Ordering::Relaxed);
    };
    let key = |end: usize| sites.status(end)["peers"][0]["public_key"].clone();
    let wait_for = |what: &str, is: &dyn Fn() -> bool| {
        assert!(waited(is), "{what}: {} {:?}", sites.status(1), sites.log(0));
    };
    // Before the sessions are open, peers that take longer than a second are logged as down.
    let before = [0, 1].map(|end| sites.log(end).len());
    let old = key(1);
    let new = accord_gateway::keys::PrivateKey::random().expect("random");
    new.write(&sites.folder.path().join("new.key")).expect("written");
    let new = new.public().to_string();
    change(1, &|text| {
        let both = format!("public_key = [\"{new}\", {old}]");
        text.replace(&format!("public_key = {old}"), &both)
    });
    wait_for("reloaded", &|| sites.log(1).iter().any(|line| line.contains("event=reloaded")));
    assert_eq!((key(1), sites.status(1)["peers"][0]["up"].clone()), (old, true.into()));
    change(0, &|text| text.replace("key = \"0.key\"", "key = \"new.key\""));
    wait_for("the new key is in use", &|| key(1) == new);
    wait_for("it is logged", &|| sites.log(0).iter().any(|line| line.contains("event=keys")));
    for end in [0, 1] {
        let log = sites.log(end).split_off(before[end]);
        assert!(!log.iter().any(|line| line.contains("state=down")), "{log:?}");
    }
}

#[test]
fn a_gateway_is_asked_and_told_while_it_runs() {
    if !possible() {
        return;
    }
    let sites = joined(&path(Queue::Fifo), CONTRACT);
    let file = sites.folder.path().join("0.toml");
    let peer = || sites.status(0)["peers"][0].clone();
    let wait_for = |what: &dyn Fn() -> bool| assert!(waited(what), "{}", sites.status(0));
    assert_eq!(peer()["contract_bytes_per_s"], 1.25e6);
    // A file that is right is taken, and the session stays.
    let text = std::fs::read_to_string(&file).expect("readable");
    let other = text.replace("10 Mbps", "16 Mbps");
    std::fs::write(&file, &other).expect("written");
    sites.reload[0].store(true, std::sync::atomic::Ordering::Relaxed);
    wait_for(&|| peer()["contract_bytes_per_s"] == 2e6);
    assert!(peer()["up"] == true && peer()["state"] == "controlled");
    // One that is wrong changes nothing, and the status says where it is wrong.
    std::fs::write(&file, other.replace("cap =", "cup =")).expect("written");
    sites.reload[0].store(true, std::sync::atomic::Ordering::Relaxed);
    wait_for(&|| sites.status(0)["config"]["error"].is_string());
    let error = sites.status(0)["config"]["error"].to_string();
    assert!(error.contains("line 11") && error.contains("\\\"cap\\\""), "{error}");
    assert_eq!(peer()["contract_bytes_per_s"], 2e6);
    // Modes change by command.
    assert!(sites.ask(0, "POST /mode/other/shadow").0.contains("200"));
    assert_eq!(peer()["mode"], "shadow");
    assert!(sites.ask(0, "POST /mode/nobody/shadow").0.contains("404"));
    let (head, metrics) = sites.ask(0, "GET /metrics");
    assert!(head.contains("text/plain; version=0.0.4"), "{head}");
    for line in [
        "accord_gateway_peer_up{peer=\"other\"} 1",
        "accord_gateway_mode{peer=\"other\",mode=\"shadow\"} 1",
        "accord_gateway_state{peer=\"other\",state=\"controlled\"} 1",
        "accord_gateway_config_last_reload_successful 0",
        "accord_gateway_tunnel_min_rate_bytes_per_second{peer=\"other\"} 2000000",
    ] {
        assert!(metrics.lines().any(|l| l == line), "{line} is not in\n{metrics}");
    }
    // Every sample has its family, whose name and kind stand there once.
    let mut told = std::collections::BTreeSet::new();
    for line in metrics.lines() {
        match line.strip_prefix("# TYPE ") {
            Some(family) => assert!(told.insert(family.split(' ').next().unwrap_or(""))),
            None if line.starts_with('#') => {}
            None => {
                let name = line.split(['{', ' ']).next().unwrap_or("");
                assert!(told.contains(name), "{line}");
            }
        }
    }
}

/// In the middle of a TCP transfer the path begins to lose packets above 1400 bytes, and no router
/// reports it. The gateway at the site sends ICMP to the kernel, and the connection goes on.
#[test]
fn tcp_survives_an_mtu_black_hole() {
    if !possible() {
        return;
    }
    let mut sites = joined(&path(Queue::Fifo), CONTRACT);
    let mtu = |sites: &Sites| sites.status(0)["peers"][0]["mtu_bytes"].as_u64();
    let tunnel = sites.tcp(INNER[1], 5001, "cubic");
    // The first search for the MTU has ended by then.
    std::thread::sleep(Duration::from_secs(3));
    assert!(reached(&tunnel, 5.0) > 5.0, "{}", sites.status(0));
    assert!(waited(|| mtu(&sites) == Some(1420)), "{:?}", mtu(&sites));
    sites.wire.set_longest(1400);
    let began = Instant::now();
    std::thread::sleep(Duration::from_millis(500));
    assert!(is_back(&tunnel, 5.0, "the change", began), "{}", sites.status(0));
    // The search ends, within 15 s on an idle machine.
    let right = |found: Option<u64>| (Some(1332)..=Some(1340)).contains(&found);
    assert!(waited(|| right(mtu(&sites))), "{:?}", mtu(&sites));
    let rate = reached(&tunnel, 10.0);
    assert!(rate > 10.0, "the same connection goes on: {rate} Mbps");
    assert!(right(mtu(&sites)), "{:?}", mtu(&sites));
    // The largest packet that fits goes through, and one that does not is answered by the gateway. The
    // kernel keeps to the MTU of the first message for ten minutes, unless it is made to forget.
    assert!(sites.command(0, &["ip", "route", "flush", "cache"]).is_some());
    let sized = |size: &str| {
        let words = ["ping", "-c", "1", "-W", WAIT, "-M", "do", "-s", size, INNER[1]];
        sites.command(0, &words)
    };
    assert!(sized("1300").is_none_or(|(succeeded, _)| succeeded));
    let told = sized("1380").is_none_or(|(_, said)| said.contains("+1 errors"));
    assert!(told, "{:?}", sized("1380"));
    // One that may be cut arrives.
    let cut = ["ping", "-c", "1", "-W", WAIT, "-M", "dont", "-s", "1380", INNER[1]];
    assert!(sites.command(0, &cut).is_none_or(|(succeeded, _)| succeeded));
}

/// A gateway is renewed before its clock is at its end: the device and its routes stay, and the same connection
/// goes on.
#[test]
fn a_gateway_is_renewed_in_time() {
    // Everything that is planned at that time is still planned in the future.
    let days = |n: u64| accord_units::Duration::from_secs(n * 24 * 3600);
    assert!(accord_units::Duration::MAX.saturating_sub(RENEWAL) > days(13));
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo));
    let files = sites.write(CONTRACT);
    sites.renewal = accord_units::Duration::from_secs(8);
    sites.start(0, &files[0]);
    sites.renewal = RENEWAL;
    sites.start(1, &files[1]);
    assert!(sites.wait_for(0, "controlled"), "{}", sites.status(0));
    let tunnel = sites.tcp(INNER[1], 5001, "cubic");
    let device = |sites: &Sites| sites.command(0, &["cat", "/sys/class/net/gw0/ifindex"]);
    let before = device(&sites);
    let renewed = |sites: &Sites| sites.log(0).iter().any(|l| l == "level=info event=renewed");
    assert!(waited(|| renewed(&sites)), "{:?}", sites.log(0));
    assert!(sites.wait_for(0, "controlled"), "{}", sites.status(0));
    assert!(reached(&tunnel, 0.3) > 0.3, "{}", sites.status(0));
    assert_eq!(device(&sites), before);
    assert!(!sites.log(0).iter().any(|line| line.contains("routes-set")), "{:?}", sites.log(0));
}

/// A gateway that ends without a word, as by kill -9, and is started again.
#[test]
fn a_gateway_that_starts_again_is_back() {
    if !possible() {
        return;
    }
    let mut sites = joined(&path(Queue::Fifo), CONTRACT);
    let files = [0, 1].map(|i| sites.folder.path().join(format!("{i}.toml")));
    let tunnel = sites.tcp(INNER[1], 5001, "cubic");
    assert!(reached(&tunnel, 1.0) > 1.0);
    sites.end(0);
    sites.start(0, &files[0]);
    let began = Instant::now();
    assert!(is_back(&tunnel, 1.0, "the start", began), "{}", sites.status(0));
    let rate = reached(&tunnel, 10.0);
    assert!(rate > 10.0, "the same connection goes on: {rate} Mbps");
}
