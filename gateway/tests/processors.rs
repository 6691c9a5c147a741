//! Several gateways on one host, each with a part of the peers: how one host uses several processors.
//! It takes root, or it is skipped with the reason.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "it says why it is skipped")]
#![allow(clippy::disallowed_methods, reason = "real time passes here")]

mod common;

use accord_door::log::LevelFilter;
use accord_gateway::keys::PrivateKey;
use accord_gateway::{Options, RENEWAL, run};
use common::{OUTER, PATIENCE, Path_, Queue, Sites, obstacle, rates, reached, waited};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// A gateway that runs.
struct Running {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(sites: &Sites, end: usize, path: PathBuf) -> Running {
        let (namespace, stop) = (sites.ends[end].clone(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let work = move || {
            let options = Options {
                path,
                stop: stopped,
                reload: Arc::default(),
                signals: false,
                renewal: RENEWAL,
                level: LevelFilter::OFF,
                log: Arc::new(|_: &str| ()),
            };
            run(&options).map(|_| ()).map_err(|e| e.to_string())
        };
        let thread = std::thread::spawn(move || {
            let ended = namespace.within(work).expect("it is entered");
            ended.expect("the gateway runs");
        });
        Running { stop, thread: Some(thread) }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.take().map(JoinHandle::join);
        if !std::thread::panicking() {
            ended.expect("a thread").expect("it does not panic");
        }
    }
}

/// The site file of the gateway of a host with this number, and of these peers: their keys, ports and
/// networks, and what else stands in their tables.
fn file(
    sites: &Sites,
    end: usize,
    number: usize,
    addresses: &str,
    peers: &[(&PrivateKey, usize, &str, &str)],
) -> PathBuf {
    let port = 51820 + number;
    let mut text = format!(
        "[gateway]\nkey = \"{end}{number}.key\"\nlisten = \"{}:{port}\"\ndevice = \"gw{number}\"\n\
         address = [{addresses}]\n",
        OUTER[end]
    );
    for (i, (key, number, network, more)) in peers.iter().enumerate() {
        text += &format!(
            "[peer.p{i}]\npublic_key = \"{}\"\nendpoint = \"{}:{}\"\nnetworks = [\"{network}\"]\n\
             {more}\n",
            key.public(),
            OUTER[1 - end],
            51820 + number
        );
    }
    let path = sites.folder.path().join(format!("{end}{number}.toml"));
    std::fs::write(&path, text).expect("written");
    path
}

/// Three peers of one host behind two gateways with a port and a device each. All are reached, the
/// contracts hold over a bottleneck that they share, and a gateway that ends takes its own peers along
/// and no others.
#[test]
fn gateways_of_one_host_share_its_peers() {
    if let Some(why) = obstacle() {
        eprintln!("SKIPPED: {why}");
        return;
    }
    let mut sites = Sites::new(&Path_ {
        mbps: 20,
        buffer: 50_000,
        queue: Queue::Fifo,
        delay: Duration::from_millis(10),
        loss_permille: 0,
    });
    let key = |name: &str| {
        let key = PrivateKey::random().expect("randomness");
        let path = sites.folder.path().join(format!("{name}.key"));
        key.write(&path).expect("written");
        key
    };
    // Both gateways of a host may have the key of the host.
    let ours = key("00");
    ours.write(&sites.folder.path().join("01.key")).expect("written");
    let theirs = ["10", "11", "12"].map(key);
    let contract = |mbps| format!("cap = \"50 Mbps\"\nservice = {{ contract = \"{mbps} Mbps\" }}");
    let (ten, five, cap) = (contract(10), contract(5), "cap = \"50 Mbps\"");
    let here = [
        file(
            &sites,
            0,
            0,
            "\"10.1.0.1/32\", \"10.1.0.2/32\"",
            &[(&theirs[0], 0, "10.2.0.0/24", &ten), (&theirs[1], 1, "10.3.0.0/24", cap)],
        ),
        file(&sites, 0, 1, "\"10.1.1.1/32\"", &[(&theirs[2], 2, "10.4.0.0/24", &five)]),
    ];
    let there = [
        file(&sites, 1, 0, "\"10.2.0.1/24\"", &[(&ours, 0, "10.1.0.1/32", cap)]),
        file(&sites, 1, 1, "\"10.3.0.1/24\"", &[(&ours, 0, "10.1.0.2/32", cap)]),
        file(&sites, 1, 2, "\"10.4.0.1/24\"", &[(&ours, 1, "10.1.1.1/32", cap)]),
    ];
    let _there = there.map(|path| Running::start(&sites, 1, path));
    let [first, second] = here;
    let first_runs = Running::start(&sites, 0, first.clone());
    let _second_runs = Running::start(&sites, 0, second);
    for (from, to) in [("10.1.0.1", "10.2.0.1"), ("10.1.0.2", "10.3.0.1"), ("10.1.1.1", "10.4.0.1")]
    {
        let until = Instant::now() + PATIENCE;
        let ping = ["ping", "-c", "1", "-W", "1", "-I", from, to];
        loop {
            match sites.command(0, &ping) {
                Some((true, _)) => break,
                Some((false, said)) => assert!(Instant::now() < until, "{from} to {to}: {said}"),
                None => return eprintln!("SKIPPED: there is no ping here"),
            }
        }
    }
    let a = sites.tcp("10.2.0.1", 5001, "cubic");
    let b = sites.tcp("10.4.0.1", 5002, "cubic");
    // In payload: 1380 of 1480 bytes on the wire.
    let part = 1380.0 / 1480.0;
    // Each for a second of its own: a busy machine seldom keeps both in the same one.
    for (tunnel, contract) in [(&a, 0.9 * 10.0 * part), (&b, 0.9 * 5.0 * part)] {
        let rate = reached(tunnel, contract);
        assert!(rate > contract, "{rate} Mbps");
    }
    drop(first_runs);
    assert!(waited(|| rates(&[&a], 2.0)[0] == 0.0), "its packets go on");
    let rate = reached(&b, 0.9 * 5.0 * part);
    assert!(rate > 0.9 * 5.0 * part, "{rate} Mbps");
    assert_eq!(rates(&[&a], 0.1), [0.0]);
    // The connection goes on where it was.
    let _first_runs = Running::start(&sites, 0, first);
    assert!(reached(&a, 0.0) > 0.0, "the first gateway is not back");
}
