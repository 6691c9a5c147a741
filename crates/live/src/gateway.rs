//! The gateways of tunnels: processes of `accord gateway run`.
//!
//! Each gateway has its own namespace with two TUN devices, whose other sides are here. One carries
//! its datagrams to and from the routers. The other carries the packets of the flows in the tunnel,
//! which leave it at the far end. The gateway creates a third device itself, and the kernel
//! forwards between them. Site files, keys and sockets are in a temporary folder, which is removed
//! when the run ends.
//!
//! A gateway ends with its standard input, which is a pipe from this process. So no gateway
//! outlives this process.

use crate::LiveError;
use crate::Program;
use crate::connection::Ends;
use crate::namespace::Namespace;
use crate::riders::{OVERHEAD, SET};
use crate::site::{LatestReport, Report, Site};
use crate::thread::LONGEST_WAIT;
use crate::tun::{Room, Tun};
use accord_family::{Signal, Value};
use accord_host::Clock;
use accord_scenario::{Change, Flow, Scenario};
use accord_sim::addresses;
use accord_units::{Bytes, Rate, Time};
use nix::poll::{PollFd, PollFlags};
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::Duration;

/// The UDP port of all gateways.
const PORT: u16 = 51_820;
/// The interval between queries of a gateway.
const PERIOD: Duration = Duration::from_millis(50);
/// The maximum time for a gateway's answer, and for its end.
const PATIENCE: Duration = Duration::from_secs(2);
/// The maximum time until two gateways have a session and report to each other.
const MEETING: accord_units::Duration = accord_units::Duration::from_secs(20);

/// The gateways of a run, which end when this is dropped.
#[derive(Debug, Default)]
pub struct Gateways {
    processes: Vec<Process>,
    /// Ends the polling thread.
    stop: Arc<AtomicBool>,
    asker: Option<JoinHandle<()>>,
    folder: Option<tempfile::TempDir>,
}

/// A gateway.
#[derive(Debug)]
struct Process {
    child: Child,
    /// The name of the tunnel.
    name: String,
    log: PathBuf,
    /// The time that it had waited for a processor when the run began.
    waited: accord_units::Duration,
}

impl Gateways {
    /// Starts the gateways of all tunnels, and adds their sites to `ends`, which are by flow, and
    /// their namespaces to `namespaces`.
    pub fn start(
        scenario: &Scenario,
        program: &Program,
        ends: &mut [Ends],
        namespaces: &mut Vec<Namespace>,
    ) -> Result<Gateways, LiveError> {
        let mut gateways = Gateways::default();
        let folder = tempfile::Builder::new().prefix("accord-").tempdir();
        let folder = folder.map_err(|e| LiveError::system("make a folder for site files", e))?;
        let mut asked = Vec::new();
        for (id, flow) in scenario.flows.iter().enumerate() {
            if flow.tunnel.is_none() {
                continue;
            }
            let riders: Vec<usize> = scenario.riders(id).collect();
            let sources = riders.iter().map(|rider| addresses(*rider).0).collect();
            let sinks = riders.iter().map(|rider| addresses(*rider).1).collect();
            let places: [Vec<Ipv4Addr>; 2] = [sources, sinks];
            let by_sink = riders.iter().map(|rider| (addresses(*rider).1, *rider));
            let by_sink: Arc<BTreeMap<_, _>> = Arc::new(by_sink.collect());
            let file = |end: usize, kind: &str| folder.path().join(format!("{id}-{end}.{kind}"));
            let keys = [key(program, &file(0, "key"))?, key(program, &file(1, "key"))?];
            let mut sites = [None, None];
            for end in 0..2 {
                let namespace = Namespace::new()?;
                for (variable, value) in [
                    ("net/ipv4/ip_forward", "1"),
                    ("net/ipv4/conf/all/rp_filter", "0"),
                    ("net/ipv4/conf/default/rp_filter", "0"),
                ] {
                    namespace.set(variable, value)?;
                }
                let (source, sink) = addresses(id);
                let here = [(source, sink), (sink, source)][end];
                let mtu = (flow.packet - OVERHEAD).get();
                let wan = Tun::open(&namespace, "wan", here, flow.packet.get(), false)?;
                let lan = Tun::open_onward(&namespace, "lan", &places[end], mtu)?;
                let stem = format!("{id}-{end}");
                let cap = cap(scenario, flow);
                let text = site_file(flow, end, &stem, &keys[1 - end], here, &places[1 - end], cap);
                let path = file(end, "toml");
                // In place: the folder goes with the run.
                std::fs::write(&path, text)
                    .map_err(|e| LiveError::system("write a site file", e))?;
                let name = format!("{} ({})", flow.name, ["here", "there"][end]);
                let process = start(program, &namespace, &path, name)?;
                gateways.processes.push(process);
                namespaces.push(namespace);
                let report = LatestReport::default();
                asked.push((file(end, "sock"), report.clone()));
                sites[end] = Some(Site { wan, lan, ends: here, riders: by_sink.clone(), report });
            }
            [ends[id].entry, ends[id].exit] = sites;
        }
        gateways.folder = Some(folder);
        let stop = gateways.stop.clone();
        gateways.asker = Some(spawn(move || ask_all(&asked, &stop)));
        Ok(gateways)
    }

    /// Exchanges the datagrams of all gateways, as over empty queues, until both ends of each
    /// tunnel have a session and report to each other.
    pub fn meet(
        &mut self,
        scenario: &Scenario,
        ends: &[Ends],
        stopped: &mut dyn FnMut() -> bool,
    ) -> Result<(), LiveError> {
        let network = scenario.at(Time::ZERO);
        let mut routes = Vec::new();
        for (id, ends) in ends.iter().enumerate() {
            if let (Some(entry), Some(exit)) = (&ends.entry, &ends.exit) {
                routes.push((entry, exit, network.path(id), VecDeque::new()));
                routes.push((exit, entry, network.reverse_path(id), VecDeque::new()));
            }
        }
        let clock = Clock::starting_in(Duration::ZERO.into());
        let mut room = Room::new();
        let end = Time::ZERO + MEETING;
        let mut next_look = Time::ZERO;
        loop {
            let now = clock.now();
            if now >= next_look {
                next_look = now + PERIOD.into();
                self.look()?;
                if stopped() {
                    return Err(LiveError::Interrupted);
                }
                if routes.iter().all(|(from, ..)| from.report.get().controlled) {
                    for process in &mut self.processes {
                        process.waited = waited(process.child.id());
                    }
                    return Ok(());
                }
            }
            if now >= end {
                let process = self.processes.first();
                let said = process.map(|p| said(&p.log)).unwrap_or_default();
                return Err(LiveError::Unable(format!(
                    "the gateways have no session after {MEETING}{said}"
                )));
            }
            for (from, to, path, queue) in &mut routes {
                let failed = |e| LiveError::system("move a gateway's datagrams", e);
                let mut take = |datagram: &[u8]| {
                    let size = Bytes::new(datagram.len() as u64);
                    queue.push_back((now + network.one_way(path, size), datagram.to_vec()));
                };
                while from.wan.receive(&mut room, &mut take).map_err(failed)? {}
                while queue.front().is_some_and(|(due, _)| *due <= now) {
                    if let Some((_, datagram)) = queue.pop_front() {
                        to.wan.send(&datagram).map_err(failed)?;
                    }
                }
            }
            let due = routes.iter().filter_map(|(.., queue)| queue.front());
            let due = due.map(|(due, _)| *due).min().unwrap_or(Time::MAX);
            let mut polls: Vec<PollFd> = (routes.iter())
                .map(|(from, ..)| PollFd::new(from.wan.as_fd(), PollFlags::POLLIN))
                .collect();
            clock.wait(due.min(next_look), LONGEST_WAIT, &mut polls);
        }
    }

    /// Returns the longest time that a gateway waited for a processor since the run began, or
    /// `None` if there are no gateways.
    pub fn waited(&self) -> Option<accord_units::Duration> {
        let since = |p: &Process| {
            let now = waited(p.child.id());
            now - p.waited.min(now)
        };
        self.processes.iter().map(since).max()
    }

    /// Fails if a gateway has ended.
    pub fn look(&mut self) -> Result<(), LiveError> {
        for process in &mut self.processes {
            if let Ok(Some(status)) = process.child.try_wait() {
                return Err(LiveError::Unable(format!(
                    "the gateway of tunnel {} has ended ({status}){}",
                    process.name,
                    said(&process.log)
                )));
            }
        }
        Ok(())
    }
}

impl Drop for Gateways {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for process in &mut self.processes {
            drop(process.child.stdin.take());
        }
        let tries = PATIENCE.as_millis() / 10;
        for _ in 0..tries {
            let ended = |p: &mut Process| !matches!(p.child.try_wait(), Ok(None));
            if self.processes.iter_mut().all(ended) {
                break;
            }
            pause(Duration::from_millis(10));
        }
        for process in &mut self.processes {
            // Harmless if the process has ended.
            let _ = process.child.kill();
            let _ = process.child.wait();
        }
        if let Some(asker) = self.asker.take() {
            let _ = asker.join();
        }
    }
}

#[allow(clippy::disallowed_methods, reason = "it waits for other processes")]
fn pause(length: Duration) {
    sleep(length);
}

/// Creates a private key in a file. Returns the public key.
fn key(program: &Program, file: &Path) -> Result<String, LiveError> {
    let made = Command::new(&program.path)
        .args(["gateway", "keys"])
        .arg(file)
        .stdin(Stdio::null())
        .output()
        .map_err(|e| LiveError::system("run the program for gateways", e))?;
    let key = String::from_utf8_lossy(&made.stdout).trim().to_string();
    if made.status.success() && !key.is_empty() {
        Ok(key)
    } else {
        Err(LiveError::Unable(format!(
            "cannot make a key: {}",
            String::from_utf8_lossy(&made.stderr).trim()
        )))
    }
}

/// Starts a gateway in a namespace.
fn start(
    program: &Program,
    namespace: &Namespace,
    site: &Path,
    name: String,
) -> Result<Process, LiveError> {
    let log = site.with_extension("log");
    let spawned = namespace.within(|| -> io::Result<Child> {
        Command::new(&program.path)
            .args(["gateway", "run", "--until-stdin-closes"])
            .arg(site)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(File::create(&log)?)
            .spawn()
    })?;
    let child = spawned.map_err(|e| LiveError::system("start a gateway", e))?;
    Ok(Process { child, name, log, waited: accord_units::Duration::ZERO })
}

/// Returns the time for which the threads of a process were ready to run but had no processor, or
/// zero if the kernel does not count it.
fn waited(process: u32) -> accord_units::Duration {
    let threads = std::fs::read_dir(format!("/proc/{process}/task"));
    let waits = threads.into_iter().flatten().flatten().filter_map(|thread| {
        let counts = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        counts.split(" ").nth(1)?.parse::<u64>().ok()
    });
    accord_units::Duration::from_ns(waits.sum())
}

/// Returns the last line of a gateway's log.
fn said(log: &Path) -> String {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let last = text.lines().rfind(|line| !line.trim().is_empty());
    last.map(|line| format!(": {line}")).unwrap_or_default()
}

/// Returns the site file of an end of a tunnel. `stem` is the prefix of its other files, `other`
/// the key of the other end, `here` the addresses of the two gateways, and `networks` the networks
/// behind the other one.
fn site_file(
    flow: &Flow,
    end: usize,
    stem: &str,
    other: &str,
    here: (Ipv4Addr, Ipv4Addr),
    networks: &[Ipv4Addr],
    cap: Rate,
) -> String {
    // Parameters that the flow leaves at the defaults of the law are left out of the site file.
    let set = |name: &str| match flow.controller.get(name) {
        Value::Absent => String::new(),
        value => format!("{name} = \"{value}\"\n"),
    };
    let set: String = SET.map(set).concat();
    let (queue, signal) = match flow.tunnel {
        Some(tunnel) => (tunnel.queue, tunnel.signal),
        None => (Bytes::ZERO, Signal::Auto),
    };
    // The sink sends no data of its own.
    let service = match end {
        0 => {
            let service = &flow.service;
            let limit = match service.limit {
                Some(limit) => format!(", limit = \"{limit}\""),
                // A site file has a limit of its own otherwise.
                None => ", limit = \"none\"".to_string(),
            };
            let (contract, weight) = (service.contract, service.weight);
            format!("service = {{ contract = \"{contract}\", weight = {weight}{limit} }}\n")
        }
        _ => String::new(),
    };
    let networks: Vec<String> = networks.iter().map(|n| format!("\"{n}/32\"")).collect();
    format!(
        "[gateway]\nkey = \"{stem}.key\"\nlisten = \"{}:{PORT}\"\nmtu = {}\nqueue = \"{queue}\"\n\
         status = \"{stem}.sock\"\n{set}[peer.other]\npublic_key = \"{other}\"\n\
         endpoint = \"{}:{PORT}\"\nnetworks = [{}]\ncap = \"{cap}\"\nsignal = \"{}\"\n{service}\
         breaker = {{ loss = 1, blind = \"never\" }}\n",
        here.0,
        (flow.packet - OVERHEAD).get(),
        here.1,
        networks.join(", "),
        signal.word(),
    )
}

/// Returns a cap of a tunnel above the rate of its path, since the other engines have no cap.
fn cap(scenario: &Scenario, flow: &Flow) -> Rate {
    let changes = scenario.events.iter().filter_map(|e| match e.change {
        Change::Rate(link, rate) => Some((link, rate)),
        _ => None,
    });
    let mut most: BTreeMap<usize, Rate> = BTreeMap::new();
    let lines = scenario.links.iter().enumerate().map(|(id, l)| (id, l.rate));
    for (link, rate) in lines.chain(changes) {
        let rates = most.entry(link).or_insert(rate);
        *rates = rate.max(*rates);
    }
    let narrowest = flow.path.iter().map(|link| most[link]).min();
    let path = narrowest.map_or(0.0, Rate::as_bps_f64);
    Rate::from_bps_f64((2.0 * path).max(2.0 * flow.service.contract.as_bps_f64()))
}

/// Polls the gateways at these sockets.
fn ask_all(gateways: &[(PathBuf, LatestReport)], stop: &AtomicBool) {
    while !stop.load(Ordering::Relaxed) {
        for (socket, report) in gateways {
            if let Ok(metrics) = ask(socket) {
                report.set(Report::read(&metrics));
            }
        }
        pause(PERIOD);
    }
}

/// Requests the metrics of a gateway.
fn ask(socket: &Path) -> io::Result<String> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.write_all(b"GET /metrics HTTP/1.1\r\nHost: gateway\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}
