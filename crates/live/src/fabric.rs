//! The fabric between the nodes: a socket per node, and the addresses of the links' far ends.

use crate::connection::{self, Ends};
use crate::deciders::Deciders;
use crate::gateway::Gateways;
use crate::namespace::{Namespace, join};
use crate::socket::Socket;
use crate::{LiveError, Program};
use accord_scenario::{Carrier, Flow, NodeId, Scenario};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::OnceLock;

/// The sockets and addresses of a run.
pub struct Fabric {
    /// The socket of each node.
    pub sockets: Vec<Socket>,
    /// The address of each link's far end, by link.
    pub next: Vec<SocketAddrV4>,
    /// The ends of connections of other stacks, by flow.
    pub ends: Vec<Ends>,
    /// The controllers in the kernel's TCP.
    pub deciders: Deciders,
    /// The gateways of tunnels.
    pub gateways: Gateways,
    /// The namespaces of the network, which exist while they are held.
    pub namespaces: Vec<Namespace>,
}

/// The port of all nodes in namespaces. On loopback the kernel chooses.
const PORT: u16 = 7_471;

/// The files of a connection of the kernel: two devices, and sockets that connect, listen and are
/// accepted.
const FILES: usize = 5;
/// The files of a tunnel: two namespaces, two devices in each, two pipes, and a socket.
const TUNNEL_FILES: usize = 9;

/// Raises the limit of open files for all nodes. Each takes a file or two. The default limit is
/// about a thousand, and a process may raise it.
pub fn make_room(scenario: &Scenario, files_each: usize) -> Result<(), LiveError> {
    let nodes = scenario.nodes.len();
    let kernel = |f: &&Flow| matches!(f.carrier, Carrier::Kernel(_));
    let kernels = scenario.flows.iter().filter(kernel);
    let tunnels = scenario.flows.iter().filter(|f| f.tunnel.is_some());
    let carried = kernels.count() * FILES + tunnels.count() * TUNNEL_FILES;
    // The program has a few other files.
    let needed = (nodes * files_each + carried) as u64 + 64;
    match allow(needed) {
        Some(hard) if hard < needed => Err(LiveError::Unable(format!(
            "{nodes} nodes need {needed} open files; at most {hard} are allowed (ulimit -Hn)"
        ))),
        _ => Ok(()),
    }
}

/// The limit of open files before this process raised it.
static BEFORE: OnceLock<u64> = OnceLock::new();

/// Returns the limit of open files for programs that this process starts: its own limit before it raised it, or
/// zero if it never did.
pub fn limit_before() -> u64 {
    BEFORE.get().copied().unwrap_or_default()
}

/// Raises the limit of open files to `needed`, or as far as this process may. Returns the most that it may
/// have, if it is known.
pub fn allow(needed: u64) -> Option<u64> {
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).ok()?;
    let _ = BEFORE.set(soft);
    if soft < needed.min(hard) {
        let _ = setrlimit(Resource::RLIMIT_NOFILE, needed.min(hard), hard);
    }
    Some(hard)
}

impl Fabric {
    /// Creates all nodes on the loopback interface.
    pub fn loopback(scenario: &Scenario) -> Result<Fabric, LiveError> {
        make_room(scenario, 1)?;
        let sockets: Vec<Socket> = (scenario.nodes.iter())
            .map(|_| Socket::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)))
            .collect::<Result<_, _>>()
            .map_err(|e| LiveError::system("open a UDP socket on loopback", e))?;
        let ports: Vec<u16> = (sockets.iter())
            .map(Socket::port)
            .collect::<Result<_, _>>()
            .map_err(|e| LiveError::system("read a socket's address", e))?;
        let to = |node: NodeId| SocketAddrV4::new(Ipv4Addr::LOCALHOST, ports[node]);
        Ok(Fabric {
            next: scenario.links.iter().map(|l| to(l.to)).collect(),
            sockets,
            ends: scenario.flows.iter().map(|_| Ends::default()).collect(),
            deciders: Deciders::default(),
            gateways: Gateways::default(),
            namespaces: Vec::new(),
        })
    }

    /// Creates a namespace per node, and a pair of virtual Ethernet devices per two linked nodes.
    /// Tunnels have gateways of `program`.
    pub fn namespaces(scenario: &Scenario, program: Option<&Program>) -> Result<Fabric, LiveError> {
        make_room(scenario, 2)?;
        let mut namespaces: Vec<Namespace> =
            (scenario.nodes.iter()).map(|_| Namespace::new()).collect::<Result<_, _>>()?;
        let wires = wires(scenario);
        for ((a, b), [here, there]) in &wires {
            join((&namespaces[*a], *here), (&namespaces[*b], *there))?;
        }
        let mut sockets = Vec::new();
        for namespace in &namespaces {
            let any = SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, PORT);
            let socket = namespace.within(|| Socket::bind(any))?;
            sockets.push(socket.map_err(|e| LiveError::system("open a UDP socket", e))?);
        }
        let far = |from: NodeId, to: NodeId| {
            let [low, high] = wires[&(from.min(to), from.max(to))];
            SocketAddrV4::new(if to > from { high } else { low }, PORT)
        };
        let deciders = Deciders::start(&scenario.flows)?;
        let places = |flow: usize| {
            let (source, sink) = scenario.ends(flow);
            Some((&namespaces[source], &namespaces[sink]))
        };
        let mut ends = connection::ends(scenario, places, &deciders)?;
        let gateways = match program.filter(|_| scenario.has_tunnels()) {
            Some(program) => Gateways::start(scenario, program, &mut ends, &mut namespaces)?,
            None => Gateways::default(),
        };
        Ok(Fabric {
            next: scenario.links.iter().map(|l| far(l.from, l.to)).collect(),
            sockets,
            ends,
            deciders,
            gateways,
            namespaces,
        })
    }
}

/// Returns the linked pairs of nodes, and the addresses of the two ends.
pub fn wires(scenario: &Scenario) -> BTreeMap<(NodeId, NodeId), [Ipv4Addr; 2]> {
    let pairs = scenario.links.iter();
    let pairs: BTreeMap<_, ()> =
        pairs.map(|l| ((l.from.min(l.to), l.from.max(l.to)), ())).collect();
    (pairs.into_keys().enumerate())
        .map(|(i, pair)| {
            // The networks have four addresses each, from 10.0.0.0 up.
            let first = u32::from(Ipv4Addr::new(10, 0, 0, 0)) + 4 * i as u32;
            (pair, [1, 2].map(|host| Ipv4Addr::from(first + host)))
        })
        .collect()
}
