//! A live run: it sets up the network, starts the stations, collects their samples, and summarises.

use crate::collect::{Collector, digest};
use crate::connection;
use crate::deciders;
use crate::driver::{Counters, Driver, Medium};
use crate::fabric::Fabric;
use crate::namespace;
use crate::plan::Plan;
use crate::quality::quality;
use crate::quic::{self, Logs};
use crate::riders;
use crate::socket::{BATCH, Exchange};
use crate::{Cost, Effort, LiveError, Mode, Setting};
use accord_elements::ends;
use accord_host::Clock;
use accord_record::{Interrupted, Manifest, Observer, Run, Stalls, Statistics, Transfers};
use accord_scenario::{Carrier, Congestion, Engine, Flow, NodeId, Scenario};
use accord_transport::wire::header;
use accord_units::{Duration, Time};
use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::mpsc;

/// The time from the end of the set-up to the start.
const NOTICE: Duration = Duration::from_ms(50);

/// The maximum share of time that a gateway waits for a processor in a judged run. With twice as
/// much the queue of a bottleneck sometimes ran dry.
const MOST_WAITED: f64 = 0.1;

/// Runs a scenario for [`crate::run`].
pub fn run(
    written: &Scenario,
    setting: &Setting,
    observer: &mut dyn Observer,
) -> Result<(Run, Cost), LiveError> {
    let mode = setting.mode;
    let scenario = &*riders::carried(written, setting)?;
    check(scenario, mode)?;
    let Fabric { sockets, next, mut ends, mut deciders, mut gateways, namespaces } = match mode {
        Mode::Loopback => Fabric::loopback(scenario)?,
        Mode::Namespaces => Fabric::namespaces(scenario, setting.gateway.as_ref())?,
    };
    let logs = if observer.wants_logs() { Logs::of(scenario) } else { Logs::default() };
    for (ends, pair) in ends.iter_mut().zip(quic::ends(scenario, &logs)?) {
        [ends.client, ends.server] = match pair {
            Some(pair) => pair.map(Some),
            None => [None, None],
        };
    }
    gateways.meet(scenario, &ends, &mut || observer.progress(Time::ZERO).is_err())?;
    let clock = Clock::starting_in(NOTICE);
    let plan = Plan {
        log: observer.wants_logs(),
        ..Plan::new(scenario, run_number(), observer.wants_packets())
    };
    let medium = Medium::new(clock, next);
    let (parts, collected) = mpsc::channel();
    let mut sockets: Vec<_> = sockets.into_iter().map(Some).collect();
    let drivers: Vec<Driver> = (crews(scenario).into_iter())
        .map(|crew| {
            let own = crew.into_iter();
            let own = own.filter_map(|node| Some((node, sockets[node].take()?)));
            Driver::new(&plan, &medium, own.collect(), &mut ends, parts.clone())
        })
        .collect::<std::io::Result<_>>()
        .map_err(|e| LiveError::system("listen to connections", e))?;
    drop(parts);
    let mut collector = Collector::new(scenario, drivers.len());
    let (heard, counters) = std::thread::scope(|scope| {
        let threads: Vec<_> = (drivers.into_iter())
            .map(|driver| {
                scope.spawn(|| {
                    let counters = driver.run();
                    if counters.is_err() {
                        medium.stop.store(true, Ordering::Relaxed);
                    }
                    counters
                })
            })
            .collect();
        let heard = collector.listen(&collected, &logs, observer);
        if heard.is_err() {
            medium.stop.store(true, Ordering::Relaxed);
        }
        let counters: Vec<_> = threads.into_iter().map(|t| t.join()).collect();
        (heard, counters)
    });
    // Stacks write the last lines at their ends.
    logs.show(observer);
    let mut all = Vec::new();
    for counters in counters {
        match counters {
            Ok(counters) => all.push(counters.map_err(|e| LiveError::system("move packets", e))?),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
    heard.map_err(|Interrupted| LiveError::Interrupted)?;
    drain(&plan, &medium, &mut all).map_err(|e| LiveError::system("move packets", e))?;
    let states = deciders.finish()?;
    gateways.look()?;
    let waited = gateways.waited();
    drop(gateways);
    drop(namespaces);
    let (mut run, cost) = record(scenario, mode, collector, &all);
    let (notes, unfit) = deciders::notes(&states);
    run.notes.extend(notes);
    if unfit.is_some() {
        // The packet engine cannot replay that.
        (run.unfit, run.stalls) = (unfit, Vec::new());
    }
    if let Some(waited) = waited {
        let part = waited.as_secs_f64() / scenario.duration.as_secs_f64();
        let percent = format!("{:.1} % of the time", part * 100.0);
        run.notes.push(format!("a gateway waited for a processor for {percent}"));
        if part > MOST_WAITED && run.unfit.is_none() {
            run.unfit = Some(format!(
                "this machine was too busy: a gateway waited for a processor for {percent}"
            ));
        }
    }
    // The scenario's hash is that of the original, not of the one with substituted flows.
    run.manifest.scenario_hash = written.hash();
    Ok((run, cost))
}

/// Reads the packets that were in flight when the stations ended. Any that are still missing were
/// lost by the kernel.
fn drain(plan: &Plan, medium: &Medium, counters: &mut [Counters]) -> std::io::Result<()> {
    let mut exchange = Exchange::new();
    for station in counters {
        for (_, socket) in station.nodes.iter() {
            let mut left = 0;
            while socket.receive(&mut exchange, &medium.clock, |received| {
                let ours = header(received.datagram).is_ok_and(|h| h.run == plan.run);
                left += u64::from(ours);
            })? == BATCH
            {}
            station.taken += left;
        }
    }
    Ok(())
}

fn record(
    scenario: &Scenario,
    mode: Mode,
    collector: Collector,
    counters: &[Counters],
) -> (Run, Cost) {
    let (time, series) = collector.finish();
    let mut quality = quality(scenario, counters);
    let place = match mode {
        Mode::Loopback => "on the loopback device",
        Mode::Namespaces => "between network namespaces",
    };
    let threads = counters.len();
    let priority = if counters.iter().all(|b| b.first) { "real-time" } else { "ordinary" };
    let how = format!("UDP datagrams {place}, moved by {threads} threads of {priority} priority");
    quality.notes.insert(0, how);
    quality.notes.extend(kernels(scenario.flows.iter()));
    quality.notes.extend(stacks(scenario));
    let mut transfers = Transfers::default();
    counters.iter().for_each(|b| transfers.merge(b.transfers.clone()));
    let (transfers, note) = transfers.finish();
    quality.notes.extend(note);
    let stalls = if quality.only_late { stalls(scenario, counters) } else { Vec::new() };
    let efforts = crews(scenario).into_iter().zip(counters);
    let cost = Cost {
        threads: efforts.map(|(nodes, b)| Effort { nodes, cpu: b.cpu, system: b.system }).collect(),
        late: quality.late.0,
        late_p99: quality.late.1,
    };
    let digest = digest(scenario.seed, &time, &series);
    let run = Run {
        transfers,
        statistics: Statistics {
            packet_hops: counters.iter().map(|b| b.hops).sum(),
            steps: counters.iter().map(|b| b.steps).sum(),
        },
        notes: quality.notes,
        unfit: quality.unfit,
        broken: counters.iter().flat_map(|b| b.broken_off.iter().cloned()).collect(),
        stalls,
        ..Run::new(Manifest::new(Engine::Live, scenario, digest), time, series)
    };
    (run, cost)
}

/// Returns the spans in which the links of each thread handed packets over late.
fn stalls(scenario: &Scenario, counters: &[Counters]) -> Vec<Stalls> {
    let of_crew = |(nodes, counters): (Vec<NodeId>, &Counters)| {
        let links = scenario.links.iter().enumerate();
        Stalls {
            links: (links.filter(|(_, l)| nodes.contains(&l.from))).map(|(id, _)| id).collect(),
            spans: counters.spans.clone(),
        }
    };
    crews(scenario).into_iter().zip(counters).map(of_crew).collect()
}

/// Returns a note on the kernel whose connections the run used, since congestion controls differ
/// between kernels.
pub fn kernels<'a>(flows: impl Iterator<Item = &'a Flow>) -> Option<String> {
    let names = congestions(flows);
    let names: Vec<&str> = names.into_iter().map(|c| c.name()).collect();
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    (!names.is_empty()).then(|| format!("connections of Linux {release}: {}", names.join(", ")))
}

/// Returns a note on the QUIC stacks that carried flows.
fn stacks(scenario: &Scenario) -> Option<String> {
    let flows = scenario.flows.iter();
    let names = flows.filter_map(|flow| match &flow.carrier {
        Carrier::Quic(stack) => {
            let controller = flow.controller.family().name;
            Some(format!("{} with {controller}", stack.name))
        }
        Carrier::Ours | Carrier::Kernel(_) => None,
    });
    let names: Vec<_> = names.collect::<BTreeSet<_>>().into_iter().collect();
    (!names.is_empty()).then(|| format!("QUIC connections of {}", names.join(", ")))
}

/// Returns the reason why live runs of these scenarios are impossible here, for
/// [`crate::obstacle`].
pub fn obstacle(setting: &Setting, scenarios: &[Scenario]) -> Option<LiveError> {
    let carried = scenarios.iter().map(|s| riders::carried(s, setting));
    let scenarios = match carried.collect::<Result<Vec<_>, _>>() {
        Ok(scenarios) => scenarios,
        Err(why) => return Some(why),
    };
    let flows = || scenarios.iter().flat_map(|s| &s.flows);
    match setting.mode {
        Mode::Loopback => {
            flows().filter(|f| matches!(f.carrier, Carrier::Kernel(_))).map(not_on_loopback).next()
        }
        Mode::Namespaces => {
            let kernels = congestions(flows());
            // One controller is attached to find out.
            let attached = flows().find(|f| f.carrier == Carrier::Kernel(Congestion::Accord));
            namespace::obstacle()
                .or_else(|| connection::obstacle(&kernels))
                .or_else(|| deciders::Deciders::start(attached).err())
        }
    }
}

/// Returns the congestion controls of the flows that are connections of the kernel.
fn congestions<'a>(flows: impl Iterator<Item = &'a Flow>) -> BTreeSet<&'a Congestion> {
    let names = flows.filter_map(|flow| match &flow.carrier {
        Carrier::Kernel(congestion) => Some(congestion),
        Carrier::Ours | Carrier::Quic(_) => None,
    });
    names.collect()
}

/// Returns the error that a flow of the kernel's TCP cannot run on the loopback device.
fn not_on_loopback(flow: &Flow) -> LiveError {
    let here = match namespace::obstacle() {
        Some(why) => format!("; here, {why}"),
        None => String::new(),
    };
    // The kernel loads no BPF programs for user namespaces.
    let who = match flow.carrier {
        Carrier::Kernel(Congestion::Accord) => "root",
        _ => "root, or `unshare -rn accord ...`",
    };
    LiveError::Unable(format!(
        "flow {} is a connection of the kernel, whose packets go through network namespaces and \
         TUN devices: --live namespaces, which needs CAP_SYS_ADMIN and CAP_NET_ADMIN ({who}), \
         iproute2 and /dev/net/tun{here}",
        flow.name
    ))
}

/// Rejects scenarios that only a simulator can run.
fn check(scenario: &Scenario, mode: Mode) -> Result<(), LiveError> {
    for flow in &scenario.flows {
        if flow.tunnel.is_some() {
            continue;
        }
        match (&flow.carrier, mode) {
            (Carrier::Ours, _) => {}
            (Carrier::Quic(_), _) | (Carrier::Kernel(_), Mode::Namespaces) => continue,
            (Carrier::Kernel(_), Mode::Loopback) => return Err(not_on_loopback(flow)),
        }
        let (_, receiver) = ends(flow, Duration::ZERO);
        if receiver.wants_truth() {
            return Err(LiveError::Scenario(format!(
                "flow {} has the ideal estimator, which only a simulator supports",
                flow.name
            )));
        }
    }
    Ok(())
}

/// Returns the nodes of each thread. A router, a node that feeds a link of the network, has its
/// own; hosts share one. If all flows are connections of the kernel, whose packets cross it at their ends,
/// one thread has all nodes.
pub fn crews(scenario: &Scenario) -> Vec<Vec<NodeId>> {
    let crosses =
        |flow: &Flow| matches!(flow.carrier, Carrier::Kernel(_)) && flow.through.is_none();
    if scenario.flows.iter().all(|flow| crosses(flow) && flow.tunnel.is_none()) {
        return vec![(0..scenario.nodes.len()).collect()];
    }
    let feeds = |node: NodeId| {
        let mut links = scenario.links.iter();
        links.any(|l| l.from == node && !l.attachment)
    };
    let nodes = 0..scenario.nodes.len();
    let (routers, hosts): (Vec<_>, Vec<_>) = nodes.partition(|n| feeds(*n));
    let crews = routers.into_iter().map(|router| vec![router]);
    crews.chain([hosts]).filter(|crew| !crew.is_empty()).collect()
}

/// Returns a number that differs from one run to the next.
#[allow(clippy::disallowed_methods, reason = "it is not to be repeatable")]
fn run_number() -> u32 {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    since.subsec_nanos() ^ std::process::id().rotate_left(16)
}
