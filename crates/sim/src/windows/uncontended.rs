//! Uncontended paths: consecutive links on which no packet ever waits.
//!
//! A port delays no packet beyond its transmission time if its packets arrive at least a
//! transmission time apart: behind a bottleneck that is no faster, or for the acknowledgements of
//! packets that have passed a bottleneck. The port then only adds a constant delay for each size of
//! packets. A packet passes consecutive links of this kind in one step.
//!
//! Without uncontended paths `newreno-10` and `newreno-250` take 1.2 times the CPU time.

use super::cut_through::{CutThroughLink, CutThroughPort, LinkIndex};
use super::ports::UncontendedPort;
use crate::core::Limits;
use crate::flow::Flow;
use crate::survey::Form;
use accord_aqm::{AnyAqm, Aqm};
use accord_scenario::{Limit, Link, LinkId, Scenario};
use accord_transport::Sender;
use accord_units::{Bytes, Duration, Time};

/// An uncontended part of a flow's path.
pub struct UncontendedPath {
    /// The last link.
    pub last: LinkId,
    /// The delay of a packet over the path.
    span: Duration,
    /// The number of packets that have passed.
    passed: u64,
    /// The arrivals of packets that do not pass by the end of the run.
    late: Vec<Time>,
    /// The ports of which a series is recorded.
    uncontended_ports: Vec<CountingPort>,
    /// The delay from the start of the path to the last recorded port.
    to_last_port: Duration,
    /// The number of packets that the recorded ports have not counted and that reach all of them
    /// before the next reading, and the latest arrival among them.
    unknown: u64,
    exit: Time,
    /// The arrivals of the other packets that not all recorded ports have counted, in order.
    arrivals: Vec<Time>,
    size: Bytes,
    pipes: Vec<PipeOffset>,
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

/// A pipe on the path.
struct PipeOffset {
    /// The index of the link.
    cut_through: usize,
    /// The delay from the start of the path to the arrival at the port.
    there: Duration,
    /// The delay from the start of the path to the departure from the port.
    sent: Duration,
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
        let (mut uncontended_ports, mut pipes) = (Vec::new(), Vec::new());
        for &id in links {
            let (link, there) = (&scenario.links[id], span);
            let sent = there + link.rate.transmission(size);
            match indices[id] {
                LinkIndex::Uncontended(port) => uncontended_ports.push(CountingPort {
                    port,
                    after: there,
                    known: 0,
                }),
                LinkIndex::CutThrough(cut_through) => pipes.push(PipeOffset {
                    cut_through,
                    there,
                    sent,
                }),
                LinkIndex::Shared(_) | LinkIndex::Unused(_) => {
                    debug_assert!(false, "packets wait at shared links");
                }
            }
            (span, last) = (sent + link.delay, id);
        }
        UncontendedPath {
            to_last_port: uncontended_ports
                .last()
                .map_or(Duration::ZERO, |port| port.after),
            uncontended_ports,
            arrivals: Vec::new(),
            unknown: 0,
            exit: Time::ZERO,
            pipes,
            span,
            last,
            passed: 0,
            late: Vec::new(),
            size,
        }
    }

    /// Passes a packet that arrives at `at`. Returns its exit time, if that is not after the end of
    /// the run.
    #[inline(always)]
    pub fn pass(&mut self, at: Time, limits: Limits) -> Option<Time> {
        let there = at + self.span;
        if !self.uncontended_ports.is_empty() {
            if at + self.to_last_port < limits.unread {
                (self.unknown, self.exit) = (self.unknown + 1, at);
            } else {
                self.arrivals.push(at);
            }
        }
        if there > limits.end {
            self.late.push(at);
            return None;
        }
        self.passed += 1;
        Some(there)
    }

    /// Updates the counters of the recorded ports with arrivals before `until`.
    pub fn settle(&mut self, uncontended_ports: &mut [UncontendedPort], until: Time) {
        let unknown = std::mem::take(&mut self.unknown);
        for counting in &mut self.uncontended_ports {
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
        if let Some(known) = self.uncontended_ports.last().map(|port| port.known) {
            self.arrivals.drain(..known);
            self.uncontended_ports
                .iter_mut()
                .for_each(|port| port.known -= known);
        }
    }

    /// Counts the packets that have reached each pipe by the end of the run.
    pub fn count(&self, links: &mut [CutThroughLink], end: Time) {
        for step in &self.pipes {
            let CutThroughPort::Pipe(pipe) = &mut links[step.cut_through].port else {
                continue;
            };
            pipe.count(self.passed, self.size, true);
            for &exit in self.late.iter().filter(|&&exit| exit + step.there <= end) {
                pipe.count(1, self.size, exit + step.sent <= end);
            }
        }
    }
}

/// Finds the uncontended links, and the size of the packets on each.
///
/// Packets leave a port at least a transmission time apart. If all packets of a link left one port
/// the same time ago, they arrive in that order and as far apart.
pub fn find(scenario: &Scenario, flows: &[Flow], forms: &[Form]) -> Vec<Option<u16>> {
    let may = |((link, form), sizes): ((&Link, &Form), &Sizes)| match (form, sizes) {
        (Form::Pipe, &Sizes::All(size)) => Some(size),
        // A place that becomes free as a packet arrives may count as taken, so that two packets
        // have to fit.
        (Form::Timeline | Form::Port, &Sizes::All(size))
            if ignores(link) && fits(link, 2, size) =>
        {
            Some(size)
        }
        _ => None,
    };
    let sizes = sizes(scenario, flows);
    let links = scenario.links.iter().zip(forms).zip(&sizes);
    let mut free: Vec<Option<u16>> = links.map(may).collect();
    // A contended link changes the spacing of packets at the links behind it.
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

/// Excludes from `free` the links on which packets wait, given that they do not wait on the others.
/// Returns true if there are any.
fn exclude(scenario: &Scenario, flows: &[Flow], free: &mut [Option<u16>]) -> bool {
    let mut excluded = false;
    // The links on which packets of several ports meet. The spacing of packets behind them is not
    // known yet.
    let mut mixed = vec![false; scenario.links.len()];
    // The port that the packets of each link left, and the delay since then.
    let mut origins = vec![None; scenario.links.len()];
    'flows: for (f, flow) in scenario.flows.iter().zip(flows) {
        // Packets leave their host at any spacing.
        let (mut gap, mut origin) = (Duration::ZERO, (LinkId::MAX, Duration::ZERO));
        // A stream acknowledges each packet of data.
        let path = f.path.iter().map(|&id| (id, flow.packet));
        for (id, size) in path.chain(f.reverse_path.iter().map(|&id| (id, flow.ack))) {
            if mixed[id] {
                continue 'flows;
            }
            let link = &scenario.links[id];
            let time = link.rate.transmission(Bytes::new(u64::from(size)));
            if free[id].is_some() {
                let bits = u128::from(size) * 8_000_000_000_000;
                let exact = bits % u128::from(link.rate.as_bps()) == 0;
                // A port that is never busy at an arrival carries no fraction of a picosecond over.
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
        // Tunnels also send control packets, which have a size of their own.
        let plain = matches!(flow.sender, Sender::Stream(_));
        for (path, size) in [(&f.path, flow.packet), (&f.reverse_path, flow.ack)] {
            for &id in path {
                sizes[id] = match sizes[id] {
                    Sizes::None | Sizes::All(_) if !plain => Sizes::Several,
                    Sizes::None => Sizes::All(size),
                    Sizes::All(known) if known != size => Sizes::Several,
                    known => known,
                };
            }
        }
    }
    sizes
}
