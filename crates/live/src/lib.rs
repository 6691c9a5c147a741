//! The live engine: the endpoints, ports and queue disciplines of the packet engine, exchanging
//! real packets through a real kernel on a real clock.
//!
//! Every node of the scenario has a UDP socket. Every packet that crosses a link crosses the
//! kernel, from the socket of one node to that of the next. A node that feeds links of the network
//! is a router and has its own thread. Hosts share one (`station.rs`).
//!
//! Nodes are joined by the loopback device. Alternatively each has a network namespace, and they
//! are joined by pairs of virtual Ethernet devices ([`Mode`]). The rest is the same in both modes,
//! except that connections of the kernel's own TCP (`connection.rs`) need namespaces. Connections
//! of QUIC stacks (`quic.rs`) do not: their ends are state machines in the stations.
//!
//! This crate needs Linux. On other systems [`run`] returns an error that says so.
//!
//! A run of a tenth of a second over the loopback device, which needs no privileges:
//!
//! ```
//! use accord_family::Catalogue;
//! use accord_language::File;
//! use accord_live::Mode;
//! use accord_record::Quiet;
//! use accord_scenario::Engine;
//!
//! let catalogue = Catalogue {
//!     controllers: accord_control::FAMILIES,
//!     disciplines: accord_aqm::FAMILIES,
//! };
//! let text = r#"
//!     duration = "100 ms"
//!     [topology.dumbbell]
//!     rate = "8 Mbps"
//!     delay = "20 ms"
//!     [flow.a]
//!     count = 2
//!     from = "left"
//!     to = "right"
//!     controller = "vegas"
//! "#;
//! let scenario = File::parse("small.toml", text)?.points(&catalogue, None)?.remove(0);
//!
//! let mode = Mode::Loopback;
//! assert!(accord_live::announcement(&scenario, mode).contains("needs no privileges"));
//! let run = accord_live::run(&scenario, mode, &mut Quiet)?;
//! assert_eq!(run.manifest.engine, Engine::Live);
//! // A run that the machine could not keep up with says so, and is not judged.
//! println!("{:?}", run.unfit);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(target_os = "linux")]
mod agenda;
#[cfg(target_os = "linux")]
mod arrived;
#[cfg(target_os = "linux")]
mod collect;
#[cfg(target_os = "linux")]
mod connection;
#[cfg(target_os = "linux")]
mod deciders;
#[cfg(target_os = "linux")]
mod driver;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod fabric;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod lateness;
#[cfg(target_os = "linux")]
mod link;
#[cfg(target_os = "linux")]
pub mod namespace;
#[cfg(target_os = "linux")]
mod packet;
#[cfg(all(test, target_os = "linux"))]
mod parity;
#[cfg(target_os = "linux")]
mod plan;
#[cfg(target_os = "linux")]
mod quality;
#[cfg(target_os = "linux")]
mod quic;
#[cfg(target_os = "linux")]
mod riders;
#[cfg(target_os = "linux")]
mod run;
mod setting;
#[cfg(target_os = "linux")]
mod site;
#[cfg(target_os = "linux")]
mod socket;
#[cfg(target_os = "linux")]
mod station;
#[cfg(target_os = "linux")]
mod tcp_info;
#[cfg(target_os = "linux")]
mod thread;
#[cfg(target_os = "linux")]
mod tun;

pub use setting::{Program, Setting};

use accord_record::{Observer, Run};
use accord_scenario::{Carrier, Congestion, Flow, NodeId, Scenario};
use accord_units::{Duration, words};
use std::fmt;

words! {
    /// The medium that joins the nodes of a network.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Mode by name {
        /// The loopback device. It needs no privileges and creates only sockets.
        Loopback = "loopback",
        /// A network namespace per node, and virtual Ethernet devices between them. It needs the
        /// capabilities CAP_SYS_ADMIN and CAP_NET_ADMIN, and iproute2.
        Namespaces = "namespaces",
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The resources used by a live run.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// The resources of each thread.
    pub threads: Vec<Effort>,
    /// The share of packets later than the limit for a judged run.
    pub late: f64,
    /// The 99 % quantile of the lateness.
    pub late_p99: Duration,
}

/// The resources used by one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct Effort {
    /// The nodes of the thread's station.
    pub nodes: Vec<NodeId>,
    /// The CPU time.
    pub cpu: Duration,
    /// The part of the CPU time that was spent in the kernel.
    pub system: Duration,
}

/// The reason why there is no live run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LiveError {
    /// The observer stopped the run.
    #[error("interrupted")]
    Interrupted,
    /// The machine or the user's permissions do not allow the run.
    #[error("{0}")]
    Unable(String),
    /// The scenario has a feature that no live run supports.
    #[error("{0}")]
    Scenario(String),
}

#[cfg(target_os = "linux")]
impl LiveError {
    /// Returns the error of a system call that failed.
    fn system(what: &str, e: std::io::Error) -> LiveError {
        LiveError::Unable(format!("cannot {what}: {e}"))
    }
}

/// Runs a scenario in real time, for its whole duration.
///
/// # Errors
/// Fails if the observer stops the run, or if the machine or the scenario does not allow it.
#[cfg(target_os = "linux")]
pub fn run(
    scenario: &Scenario,
    setting: impl Into<Setting>,
    observer: &mut dyn Observer,
) -> Result<Run, LiveError> {
    run::run(scenario, &setting.into(), observer).map(|(run, _)| run)
}

/// Runs a scenario, and also returns the resources that it used.
///
/// # Errors
/// Fails as [`run`] does.
#[cfg(target_os = "linux")]
pub fn measure(
    scenario: &Scenario,
    setting: impl Into<Setting>,
    observer: &mut dyn Observer,
) -> Result<(Run, Cost), LiveError> {
    run::run(scenario, &setting.into(), observer)
}

/// Runs a scenario.
///
/// # Errors
/// Always fails, because live runs need Linux.
#[cfg(not(target_os = "linux"))]
pub fn run(_: &Scenario, _: impl Into<Setting>, _: &mut dyn Observer) -> Result<Run, LiveError> {
    Err(LiveError::Unable("the live engine needs Linux".into()))
}

/// Runs a scenario.
///
/// # Errors
/// Always fails, because live runs need Linux.
#[cfg(not(target_os = "linux"))]
pub fn measure(
    _: &Scenario,
    _: impl Into<Setting>,
    _: &mut dyn Observer,
) -> Result<(Run, Cost), LiveError> {
    Err(LiveError::Unable("the live engine needs Linux".into()))
}

/// Returns the reason why live runs of these scenarios in this setting are impossible here, if
/// there is one. It tries the mode.
#[cfg(target_os = "linux")]
pub fn obstacle(setting: impl Into<Setting>, scenarios: &[Scenario]) -> Option<LiveError> {
    let setting = setting.into();
    let carried = scenarios.iter().map(|s| riders::carried(s, &setting));
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
#[cfg(target_os = "linux")]
fn congestions<'a>(
    flows: impl Iterator<Item = &'a Flow>,
) -> std::collections::BTreeSet<&'a Congestion> {
    let names = flows.filter_map(|flow| match &flow.carrier {
        Carrier::Kernel(congestion) => Some(congestion),
        Carrier::Ours | Carrier::Quic(_) => None,
    });
    names.collect()
}

/// Returns the error that a flow of the kernel's TCP cannot run on the loopback device.
#[cfg(target_os = "linux")]
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

/// Returns the reason why live runs are not possible here.
#[cfg(not(target_os = "linux"))]
pub fn obstacle(_: impl Into<Setting>, _: &[Scenario]) -> Option<LiveError> {
    Some(LiveError::Unable("the live engine needs Linux".into()))
}

/// Returns a sentence that lists everything that a run of this scenario creates.
pub fn announcement(scenario: &Scenario, mode: Mode) -> String {
    let nodes = scenario.nodes.len();
    match mode {
        Mode::Loopback => format!(
            "{nodes} UDP sockets on the loopback device; needs no privileges, changes nothing"
        ),
        Mode::Namespaces => {
            let mut pairs: Vec<_> =
                (scenario.links.iter()).map(|l| (l.from.min(l.to), l.from.max(l.to))).collect();
            pairs.sort_unstable();
            pairs.dedup();
            let pairs = match pairs.len() {
                1 => "a pair".into(),
                n => format!("{n} pairs"),
            };
            let kernel = |f: &&Flow| matches!(f.carrier, Carrier::Kernel(_)) || f.through.is_some();
            let tunnels = scenario.flows.iter().filter(|f| f.tunnel.is_some()).count();
            let gateways = match tunnels {
                0 => String::new(),
                n => format!(
                    ", and {} processes of `accord gateway run`, each in such a namespace with 3 TUN \
                     devices",
                    2 * n
                ),
            };
            let devices = match scenario.flows.iter().filter(kernel).count() {
                0 => String::new(),
                1 => ", with 2 TUN devices for a connection of the kernel".into(),
                n => format!(", with {} TUN devices for {n} connections of the kernel", 2 * n),
            };
            let attached = |f: &&Flow| f.carrier == Carrier::Kernel(Congestion::Accord);
            let congestion = match scenario.flows.iter().find(attached) {
                Some(_) => {
                    ", and a BPF program in the kernel for each controller of these connections"
                }
                None => "",
            };
            format!(
                "{nodes} network namespaces without names, joined by {pairs} of virtual Ethernet \
                 devices{devices}{congestion}{gateways}; needs CAP_SYS_ADMIN and CAP_NET_ADMIN, and all of it goes with \
                 this process"
            )
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use accord_family::Catalogue;
    use accord_language::File;
    use accord_scenario::Scenario;

    /// Returns a scenario with a bottleneck of 1 Mbps and 20 ms.
    pub fn dumbbell() -> Scenario {
        read(
            r#"
            id = "small"
            duration = "1 s"
            [topology.dumbbell]
            rate = "1 Mbps"
            delay = "20 ms"
            [flow.a]
            from = "left"
            to = "right"
            controller = "monaco"
            "#,
        )
    }

    /// Returns the scenario of this text.
    pub fn read(text: &str) -> Scenario {
        let catalogue =
            Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };
        let file = File::parse("small.toml", text).expect("it is TOML");
        file.points(&catalogue, None).expect("it is valid").remove(0)
    }
}
