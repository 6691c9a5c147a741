//! The live engine: the endpoints, ports and queue disciplines of the packet engine, exchanging
//! real packets through a real kernel on a real clock.
//!
//! Every node of the scenario has a UDP socket. A packet that crosses a link to the node of another
//! thread crosses the kernel, from the socket of one node to that of the next. A node that feeds links
//! of the network is a router and has its own thread. Hosts share one. A thread drives a machine of
//! the packet engine (`driver.rs`).
//!
//! Nodes are joined by the loopback device. Alternatively each has a network namespace, and they
//! are joined by pairs of virtual Ethernet devices ([`Mode`]). The rest is the same in both modes,
//! except that connections of the kernel's own TCP (`connection.rs`) need namespaces. Connections
//! of QUIC stacks (`quic.rs`) do not: their ends are state machines in the machines of the
//! threads.
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

// The modules that need Linux.
#[cfg(target_os = "linux")]
#[path = "."]
mod linux {
    pub mod achieved;
    pub mod arrived;
    pub mod collect;
    pub mod connection;
    pub mod deciders;
    pub mod driver;
    pub mod emulate;
    pub mod fabric;
    pub mod gateway;
    pub mod lateness;
    pub mod namespace;
    pub mod packet;
    pub mod plan;
    pub mod quality;
    pub mod quic;
    pub mod riders;
    pub mod run;
    pub mod site;
    pub mod socket;
    pub mod tcp_info;
    pub mod thread;
    pub mod tun;
}
#[cfg(target_os = "linux")]
pub use linux::namespace;
#[cfg(target_os = "linux")]
use linux::*;

use accord_record::{Observer, Run};
use accord_scenario::{Carrier, Congestion, Flow, NodeId, Scenario};
use accord_units::{Duration, Time, words};
use std::ffi::OsString;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitStatus;

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

/// The environment of a live run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The medium that joins the nodes.
    pub mode: Mode,
    /// The program whose gateways are at the ends of tunnels, if there is one.
    pub gateway: Option<Program>,
}

impl From<Mode> for Setting {
    /// Returns the setting without gateways.
    fn from(mode: Mode) -> Setting {
        Setting { mode, gateway: None }
    }
}

/// A program with the commands `gateway keys` and `gateway run`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The path of the program.
    pub path: PathBuf,
    /// The controller that steers its tunnels. Its site files set the parameters `target` and `loss`.
    pub controller: &'static str,
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
pub fn run(
    scenario: &Scenario,
    setting: impl Into<Setting>,
    observer: &mut dyn Observer,
) -> Result<Run, LiveError> {
    measure(scenario, setting, observer).map(|(run, _)| run)
}

/// Runs a scenario, and also returns the resources that it used.
///
/// # Errors
/// Fails as [`run`] does.
pub fn measure(
    scenario: &Scenario,
    setting: impl Into<Setting>,
    observer: &mut dyn Observer,
) -> Result<(Run, Cost), LiveError> {
    run::run(scenario, &setting.into(), observer)
}

/// An end of an emulation: a network namespace at a node, with a program.
#[derive(Clone, Debug, Default)]
pub struct End {
    /// The name. Its address is `{name}` in the arguments of all programs, and `ACCORD_NAME` in their
    /// environment.
    pub name: String,
    /// The program with its arguments, if there is one.
    pub line: Option<Vec<OsString>>,
    /// The existing namespace that the end joins, if it is not a new one.
    pub join: Option<PathBuf>,
}

/// The flows of the packets from one end of an emulation to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Way {
    /// The end that sends, by its place.
    pub from: usize,
    /// The end that receives.
    pub to: usize,
    /// The flows. Connections take turns among them.
    pub flows: Vec<usize>,
}

/// The programs of an emulation and their ends. `{server}` in an argument is the address of the second end, as is
/// the environment variable `ACCORD_SERVER`.
#[derive(Clone, Debug)]
pub struct Programs {
    /// The ends, at least two. The first has the command, and the emulation ends with it. Without a command the
    /// observer stops the emulation. The command starts when the other programs listen, or after two seconds. If
    /// the second end has neither a program nor a joined namespace, it leads into the network of the host.
    pub ends: Vec<End>,
    /// The line that starts [`guard`], without its arguments.
    pub guard: Vec<OsString>,
    /// Networks, in addition to the second end, to which the path leads from the first: `10.0.0.0/8` or `default`.
    pub routes: Vec<String>,
    /// Takes a line about each device in a joined namespace, before the start.
    pub announce: fn(&str),
}

/// The packets of programs that a flow has taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// The time of the first.
    pub first: Time,
    /// The time of the last.
    pub last: Time,
    /// The number of packets.
    pub packets: u64,
    /// The sum of their sizes, in bytes.
    pub bytes: u64,
}

/// The delays of packets, from their entry into the path to their arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delays {
    /// The mean.
    pub mean: Duration,
    /// The 99 % quantile, up to 1 % too long.
    pub p99: Duration,
    /// The longest.
    pub max: Duration,
}

/// The fate of a connection's packets in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The protocol's number, the sender and the receiver. Connections beyond a thousand count as one, with `None`.
    pub connection: Option<(u8, SocketAddr, SocketAddr)>,
    /// The flow that carried the last packet.
    pub flow: usize,
    /// The packets that the program sent, and their bytes.
    pub sent: (u64, u64),
    /// The packets that arrived, and their bytes. The others were dropped, or on the way at the end.
    pub delivered: (u64, u64),
    /// The packets that arrived with a congestion mark.
    pub marked: u64,
    /// The delays of the packets that arrived, if any did.
    pub delays: Option<Delays>,
}

/// The result of an emulation.
#[derive(Clone, Debug)]
pub struct Emulated {
    /// The scenario, at its actual length. The steady part ends with the command, or before if the scenario states
    /// it.
    pub scenario: Scenario,
    /// The record.
    pub run: Run,
    /// The packets of the programs, by flow.
    pub carried: Vec<Carried>,
    /// The connections of the programs, each way, those with the most bytes first.
    pub connections: Vec<Conversation>,
    /// The exit status of the command.
    pub status: ExitStatus,
    /// True if the observer ended it.
    pub interrupted: bool,
}

/// Runs programs whose packets cross the links of a scenario, with its flows. There is a way from each end to
/// each other one, whose flows lead from its node to the other's. An observer that stops it ends the
/// programs.
///
/// # Errors
/// Fails if the machine or the scenario does not allow it, or a program cannot be started.
///
/// # Panics
/// Panics if a way is missing or has no flow, or if there are fewer than two ends.
#[cfg(target_os = "linux")]
pub fn emulate(
    scenario: &Scenario,
    ways: &[Way],
    programs: &Programs,
    observer: &mut dyn Observer,
) -> Result<Emulated, LiveError> {
    emulate::emulate(scenario, ways, programs, observer)
}

/// Runs programs whose packets cross the links of a scenario: only on Linux.
///
/// # Errors
/// Always fails.
#[cfg(not(target_os = "linux"))]
pub fn emulate(
    _: &Scenario,
    _: &[Way],
    _: &Programs,
    _: &mut dyn Observer,
) -> Result<Emulated, LiveError> {
    Err(LiveError::Unable("an emulation needs Linux".into()))
}

/// The first argument of a program that must call [`guard`] with the others.
#[cfg(target_os = "linux")]
pub use emulate::guard::WORD as GUARD;
/// Guards the program of an emulation, as the first process of a PID namespace, which ends with it. The emulation
/// starts the guard. Returns the exit code of the program.
#[cfg(target_os = "linux")]
pub use emulate::guard::run as guard;

/// Returns the reason why live runs of these scenarios in this setting are impossible here, if
/// there is one. It tries the mode.
pub fn obstacle(setting: impl Into<Setting>, scenarios: &[Scenario]) -> Option<LiveError> {
    run::obstacle(&setting.into(), scenarios)
}

/// Live runs need Linux.
#[cfg(not(target_os = "linux"))]
mod run {
    use super::{Cost, LiveError, Observer, Run, Scenario, Setting};

    pub fn run(_: &Scenario, _: &Setting, _: &mut dyn Observer) -> Result<(Run, Cost), LiveError> {
        Err(LiveError::Unable("the live engine needs Linux".into()))
    }

    pub fn obstacle(_: &Setting, _: &[Scenario]) -> Option<LiveError> {
        Some(LiveError::Unable("the live engine needs Linux".into()))
    }
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

#[cfg(test)]
mod tests;
