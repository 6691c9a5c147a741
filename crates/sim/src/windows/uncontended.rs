//! Uncontended paths: consecutive links on which no packet ever waits.
//!
//! A port delays packets only by their transmission time if they arrive at least a transmission
//! time apart. This holds after a bottleneck that is no faster, and for the answers to packets that
//! have passed a bottleneck. The port then only adds a constant delay for each size of packets. A
//! packet passes consecutive links of this kind in a single step.
//!
//! Without uncontended paths `newreno-10` and `newreno-250` take 1.2 times the CPU time.

use super::cut_through::{CutThroughLink, CutThroughPort, LinkIndex};
use super::ports::UncontendedPort;
use crate::core::Limits;
use crate::flow::Flow;
use crate::hop::WireExit;
use crate::survey::{Form, Ports};
use accord_aqm::{AnyAqm, Aqm};
use accord_scenario::{Limit, Link, LinkId, Scenario};
use accord_transport::Sender;
use accord_units::{Bytes, Duration, Time};

/// An uncontended part of a flow's path. There are one or two per flow, so they are small.
pub struct UncontendedPath {
    /// The delay of a packet over the path.
    span: Duration,
    /// The number of packets that have passed.
    passed: u64,
    /// The last link.
    last: u32,
    /// The ports with recorded series, if any.
    counting: Option<Box<Counting>>,
}

/// The recorded ports of a path.
struct Counting {
    ports: Box<[CountingPort]>,
    /// The delay from the start of the path to the last port.
    to_last: Duration,
    /// The number of packets that the ports have not yet counted and that reach all of them before
    /// the next reading, and the latest arrival among them.
    unknown: u64,
    exit: Time,
    /// The arrivals, in order, of the other packets that some port has not yet counted.
    arrivals: Vec<Time>,
}

/// A port that counts packets in batches.
struct CountingPort {
    /// The index of the port.
    port: usize,
    /// The delay from the start of the path to the port.
    after: Duration,
    /// The number of packets of `arrivals` that the port has counted.
    known: usize,
}

impl UncontendedPath {
    /// Creates the path over `links` for packets of `size`. `indices` is the index of each link of
    /// the network.
    pub fn new(
        scenario: &Scenario,
        indices: &[LinkIndex],
        links: &[LinkId],
        size: Bytes,
    ) -> UncontendedPath {
        let (mut span, mut last) = (Duration::ZERO, 0);
        let mut ports = Vec::new();
        for &id in links {
            let link = &scenario.links[id];
            if let LinkIndex::Uncontended(port) = indices[id] {
                ports.push(CountingPort { port: port as usize, after: span, known: 0 });
            }
            (span, last) = (span + link.rate.transmission(size) + link.delay, id);
        }
        let counting = ports.last().map(|port| port.after).map(|to_last| {
            Box::new(Counting {
                ports: ports.into(),
                to_last,
                unknown: 0,
                exit: Time::ZERO,
                arrivals: Vec::new(),
            })
        });
        UncontendedPath { span, passed: 0, last: last as u32, counting }
    }

    /// Passes a packet that arrives at `at`. Returns its exit unless that is after the end of the
    /// run.
    #[inline(always)]
    pub fn pass(&mut self, at: Time, limits: Limits) -> Option<WireExit> {
        if let Some(counting) = &mut self.counting {
            counting.enter(at, limits);
        }
        let exit = WireExit { link: self.last as LinkId, at: at + self.span };
        if exit.at > limits.end {
            return None;
        }
        self.passed += 1;
        Some(exit)
    }

    /// Updates the counters of the recorded ports with arrivals before `until`.
    pub fn settle(&mut self, uncontended_ports: &mut [UncontendedPort], until: Time) {
        if let Some(counting) = &mut self.counting {
            counting.settle(uncontended_ports, until);
        }
    }

    /// Counts the packets that have reached each pipe of the path by the end of the run, `end`. `rest` is the
    /// path of the flow from here on, and `late` the arrivals of the packets that come out after the end.
    /// Returns the path of the flow after this one.
    pub fn count<'a>(
        &self,
        scenario: &Scenario,
        (indices, pipes): (&[LinkIndex], &mut [CutThroughLink]),
        rest: &'a [LinkId],
        size: Bytes,
        late: impl Iterator<Item = Time> + Clone,
        end: Time,
    ) -> &'a [LinkId] {
        let mut there = Duration::ZERO;
        let last = rest.iter().position(|&id| id == self.last as LinkId);
        let (links, rest) = rest.split_at(last.map_or(rest.len(), |last| last + 1));
        for &id in links {
            let link = &scenario.links[id];
            let sent = there + link.rate.transmission(size);
            if let LinkIndex::CutThrough(i) = indices[id]
                && let CutThroughPort::Pipe(pipe) = &mut pipes[i as usize].port
            {
                pipe.count(self.passed, size, true);
                for at in late.clone().filter(|&at| at + there <= end) {
                    pipe.count(1, size, at + sent <= end);
                }
            }
            there = sent + link.delay;
        }
        rest
    }
}

impl Counting {
    /// Counts a packet that enters the path at `at`.
    #[inline(always)]
    fn enter(&mut self, at: Time, limits: Limits) {
        if at + self.to_last < limits.unread {
            (self.unknown, self.exit) = (self.unknown + 1, at);
        } else {
            self.arrivals.push(at);
        }
    }

    /// Updates the counters of the ports with arrivals before `until`.
    fn settle(&mut self, uncontended_ports: &mut [UncontendedPort], until: Time) {
        let unknown = std::mem::take(&mut self.unknown);
        for counting in &mut self.ports {
            let port = &mut uncontended_ports[counting.port];
            if unknown > 0 {
                port.enter(unknown, self.exit + counting.after);
            }
            let others = &self.arrivals[counting.known..];
            let come = others.partition_point(|at| *at + counting.after < until);
            if let Some(last) = come.checked_sub(1) {
                port.enter(come as u64, others[last] + counting.after);
                counting.known += come;
            }
        }
        // The last port counts a packet last.
        if let Some(known) = self.ports.last().map(|port| port.known) {
            self.arrivals.drain(..known);
            self.ports.iter_mut().for_each(|port| port.known -= known);
        }
    }
}

/// Finds the uncontended links, and the size of the packets on each.
///
/// Packets leave a port at least a transmission time apart. If all packets of a link left the same
/// port, and the delay since then is the same, they arrive in that order and at that spacing.
pub fn find(scenario: &Scenario, flows: &[Flow], ports: &Ports) -> Vec<Option<u16>> {
    let sizes = sizes(scenario, flows);
    let may = |(id, link): (LinkId, &Link)| match (ports.forms[id], sizes[id]) {
        (Form::Pipe, Sizes::All(size)) => Some(size),
        // A place that becomes free as a packet arrives may count as taken, so two packets must
        // fit. The backlog that is recorded excludes out-of-band packets.
        (Form::Timeline | Form::Port, Sizes::All(size))
            if ignores(link) && fits(link, 2, size) && !ports.survey.control_first[id] =>
        {
            Some(size)
        }
        _ => None,
    };
    let mut free: Vec<Option<u16>> = scenario.links.iter().enumerate().map(may).collect();
    // A contended link changes the spacing of packets at later links.
    while exclude(scenario, flows, &mut free) {}
    free
}

/// Returns true if the discipline of a link has no effect while no packet waits.
fn ignores(link: &Link) -> bool {
    AnyAqm::build(&link.queue.discipline).ignores_lone()
}

/// Returns true if `packets` packets of `size` fit into the queue of a link.
fn fits(link: &Link, packets: u64, size: u16) -> bool {
    match link.queue.limit {
        Limit::Packets(limit) => packets <= limit,
        Limit::Bytes(limit) => packets * u64::from(size) <= limit.get(),
        Limit::Unlimited => true,
    }
}

/// Excludes from `free` the links on which packets wait, assuming that they do not wait on the
/// others. Returns true if there are any.
fn exclude(scenario: &Scenario, flows: &[Flow], free: &mut [Option<u16>]) -> bool {
    let mut excluded = false;
    // The links on which packets of several ports meet. The spacing of packets after them is not
    // yet known.
    let mut mixed = vec![false; scenario.links.len()];
    // The port that the packets of each link left, and the delay since then.
    let mut origins = vec![None; scenario.links.len()];
    'flows: for (f, flow) in scenario.flows.iter().zip(flows) {
        // Packets leave their host at any spacing.
        let (mut gap, mut origin) = (Duration::ZERO, (LinkId::MAX, Duration::ZERO));
        // The receiver answers each packet at most once. The smallest packets are closest together.
        let path = f.path.iter().map(|&id| (id, smallest(flow)));
        for (id, size) in path.chain(f.reverse_path.iter().map(|&id| (id, flow.answer))) {
            if mixed[id] {
                continue 'flows;
            }
            let link = &scenario.links[id];
            let time = link.rate.transmission(Bytes::new(u64::from(size)));
            if free[id].is_some() {
                let bits = u128::from(size) * 8_000_000_000_000;
                let exact = bits % u128::from(link.rate.as_bps()) == 0;
                // A port that is never busy at an arrival does not carry over a fraction of a
                // picosecond.
                let apart = gap > time || gap == time && exact;
                mixed[id] = *origins[id].get_or_insert(origin) != origin;
                if !apart || mixed[id] {
                    free[id] = None;
                    excluded = true;
                }
                if mixed[id] {
                    continue 'flows;
                }
            }
            if free[id].is_none() {
                (gap, origin) = (time, (id, Duration::ZERO));
            } else {
                origin.1 += time;
            }
            origin.1 += link.delay;
        }
    }
    excluded
}

/// Returns the size of the smallest packets that the sender of a flow sends.
fn smallest(flow: &Flow) -> u16 {
    match flow.sender {
        Sender::Tunnel(_) => flow.packet.min(flow.control),
        _ => flow.packet,
    }
}

/// The sizes of the packets on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sizes {
    /// The link has no packets.
    None,
    /// All packets have this size.
    All(u16),
    /// The sizes differ.
    Several,
}

/// Finds the sizes of the packets on each link.
fn sizes(scenario: &Scenario, flows: &[Flow]) -> Vec<Sizes> {
    let mut sizes = vec![Sizes::None; scenario.links.len()];
    for (f, flow) in scenario.flows.iter().zip(flows) {
        // Tunnels also send control packets of a different size. Zero stands for the other sizes of a host
        // that draws them.
        let other = if flow.host.is_plain() { smallest(flow) } else { 0 };
        for (path, size, other) in
            [(&f.path, flow.packet, other), (&f.reverse_path, flow.answer, flow.answer)]
        {
            for &id in path {
                sizes[id] = match sizes[id] {
                    _ if size != other => Sizes::Several,
                    Sizes::None => Sizes::All(size),
                    Sizes::All(known) if known != size => Sizes::Several,
                    known => known,
                };
            }
        }
    }
    sizes
}
