//! Links in a row on which no packet ever waits.
//!
//! A port whose packets come at least as far apart as it takes to send one holds none of them up: behind
//! a bottleneck that is no faster, or for the acknowledgements of what a bottleneck has let through. All
//! that it does to a packet is to take time, the same for each of one size. Such links in a row are one
//! stretch, which a packet passes in one step.
//!
//! Without stretches `newreno-10` takes 1.23 times the CPU time, and `newreno-250` 1.06 times.

use super::cut_through::{CutThroughLink, CutThroughPort, LinkIndex};
use super::ports::UncontendedPort;
use crate::core::Limits;
use crate::flow::Flow;
use crate::survey::Form;
use accord_aqm::{AnyAqm, Aqm};
use accord_scenario::{Limit, Link, LinkId, Scenario};
use accord_transport::Sender;
use accord_units::{Bytes, Duration, Time};

/// A stretch of the path of a flow.
pub struct UncontendedPath {
    /// Its last link.
    pub last: LinkId,
    /// The time that a packet takes for it.
    span: Duration,
    /// The packets that have passed it.
    passed: u64,
    /// The times at which packets came that do not pass it by the end of the run.
    late: Vec<Time>,
    /// Its ports of which something is recorded.
    uncontended_ports: Vec<CountingPort>,
    /// The time from its start to the last of these.
    to_last_port: Duration,
    /// The packets of which these do not know yet, all of which come there before anything is read, and
    /// the time at which the last of them came.
    unknown: u64,
    exit: Time,
    /// The times at which the other packets came of which not all of these know, in order.
    arrivals: Vec<Time>,
    size: Bytes,
    pipes: Vec<PipeOffset>,
}

/// A port of a stretch that learns of packets.
struct CountingPort {
    /// The index of the port.
    port: usize,
    /// The time from the start of the stretch to it.
    after: Duration,
    /// The packets of `arrivals` of which it knows.
    known: usize,
}

/// A pipe of a stretch.
struct PipeOffset {
    /// The index of the link.
    cut_through: usize,
    /// The time from the start of the stretch until a packet is in its port.
    there: Duration,
    /// The time until it has left the port.
    sent: Duration,
}

impl UncontendedPath {
    /// Creates the stretch over these links, which are at these places, for packets of `size`.
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
                    debug_assert!(false, "packets wait at stations");
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

    /// Passes a packet that comes at `at`. Returns the time at which it comes out, if that is not after
    /// the end of the run.
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

    /// Updates its ports with the packets that came there before `until` and of which they do not know yet.
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
        // The last port is the last to know.
        if let Some(known) = self.uncontended_ports.last().map(|port| port.known) {
            self.arrivals.drain(..known);
            self.uncontended_ports
                .iter_mut()
                .for_each(|port| port.known -= known);
        }
    }

    /// Has its pipes count the packets that were in them by the end of the run.
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

/// Finds the links on which no packet waits, in a run without events of packets, and the size of the
/// packets on each.
///
/// Packets leave a port one after the other, each not before it is sent. If all packets of a link left
/// one port the same time ago, they come in that order and as far apart.
pub fn find(scenario: &Scenario, flows: &[Flow], forms: &[Form]) -> Vec<Option<u16>> {
    let may = |((link, form), sizes): ((&Link, &Form), &Sizes)| match (form, sizes) {
        (Form::Pipe, &Sizes::All(size)) => Some(size),
        // A place that becomes free as a packet comes may count as taken, so that two have to fit.
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
    // A link on which packets wait changes how they come to those behind it.
    while exclude(scenario, flows, &mut free) {}
    free
}

/// Returns whether the discipline of a link does nothing where no packet waits.
fn ignores(link: &Link) -> bool {
    AnyAqm::build(&link.queue.discipline).ignores_lone()
}

/// Returns whether so many packets of `size` fit into the queue of a link.
fn fits(link: &Link, packets: u64, size: u16) -> bool {
    match link.queue.limit {
        Limit::Packets(limit) => packets <= limit,
        Limit::Bytes(limit) => packets * u64::from(size) <= limit.get(),
        Limit::Unlimited => true,
    }
}

/// Excludes links from `free` on which packets wait if they wait on none of the others. Returns whether
/// there are any.
fn exclude(scenario: &Scenario, flows: &[Flow], free: &mut [Option<u16>]) -> bool {
    let mut excluded = false;
    // The links on which packets of several ports meet. How packets come to those behind them is not
    // known yet.
    let mut mixed = vec![false; scenario.links.len()];
    // The port that the packets of each link left, and how long ago.
    let mut origins = vec![None; scenario.links.len()];
    'flows: for (f, flow) in scenario.flows.iter().zip(flows) {
        // Packets leave their host as close to each other as it likes.
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
                // A port that is never busy when a packet comes owes it no fraction of a picosecond.
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
    /// There are no packets.
    None,
    /// All have this one.
    All(u16),
    /// They differ.
    Several,
}

/// Finds the sizes of the packets on each link.
fn sizes(scenario: &Scenario, flows: &[Flow]) -> Vec<Sizes> {
    let mut sizes = vec![Sizes::None; scenario.links.len()];
    for (f, flow) in scenario.flows.iter().zip(flows) {
        // Tunnels send control packets of their own size among others.
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
