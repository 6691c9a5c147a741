//! Links in a row on which no packet ever waits.
//!
//! A pipe whose packets come at least as far apart as it takes to send one holds none of them up: behind
//! a bottleneck that is no faster, or for the acknowledgements of what a bottleneck has let through. All
//! that it does to a packet is to take time, the same for each of one size. Such pipes in a row are one
//! stretch, which a packet passes in one step.

use crate::flow::Flow;
use crate::wire::{Form, Line, Wire};
use accord_scenario::{LinkId, Scenario};
use accord_transport::Sender;
use accord_units::{Bytes, Duration, Time};

/// A stretch of the path of a flow.
pub struct Stretch {
    /// The time that a packet takes for it.
    pub span: Duration,
    /// The place of the hop behind it.
    pub next: u32,
    /// Its last link.
    pub last: u32,
    /// The packets that have passed it.
    pub passed: u64,
    /// The times at which packets came that do not pass it by the end of the run.
    pub late: Vec<Time>,
    size: Bytes,
    steps: Vec<Step>,
}

/// A link of a stretch.
struct Step {
    link: LinkId,
    /// The time from the start of the stretch until a packet is in its port.
    there: Duration,
    /// The time until it has left the port.
    sent: Duration,
}

impl Stretch {
    /// Creates the stretch over these links for packets of `size`, before the hop at `next`.
    pub fn new(scenario: &Scenario, links: &[LinkId], size: Bytes, next: u32) -> Stretch {
        let mut span = Duration::ZERO;
        let steps = links.iter().map(|&id| {
            let (link, there) = (&scenario.links[id], span);
            let sent = there + link.rate.transmission(size);
            span = sent + link.delay;
            Step {
                link: id,
                there,
                sent,
            }
        });
        Stretch {
            steps: steps.collect(),
            span,
            next,
            last: links.last().map_or(0, |&link| link as u32),
            passed: 0,
            late: Vec::new(),
            size,
        }
    }

    /// Has its links count what was in them by the end of the run.
    pub fn count(&self, wires: &mut [Wire], end: Time) {
        for step in &self.steps {
            let Line::Pipe(pipe) = &mut wires[step.link].line else {
                continue;
            };
            pipe.count(self.passed, self.size, true);
            for &came in self.late.iter().filter(|&&came| came + step.there <= end) {
                pipe.count(1, self.size, came + step.sent <= end);
            }
        }
    }
}

/// Finds the links on which no packet waits, in a run without events of packets. `fused` says which ones
/// get packets from one place only.
pub fn find(scenario: &Scenario, flows: &[Flow], forms: &[Form], fused: &[bool]) -> Vec<bool> {
    let sizes = sizes(scenario, flows);
    let mut waits = vec![false; scenario.links.len()];
    for (f, flow) in scenario.flows.iter().zip(flows) {
        // Packets leave their host as close to each other as it likes.
        let mut gap = Duration::ZERO;
        let mut pass = |path: &[LinkId], size: u16| {
            for &id in path {
                let rate = scenario.links[id].rate;
                let time = rate.transmission(Bytes::new(u64::from(size)));
                let exact = u128::from(size) * 8_000_000_000_000 % u128::from(rate.as_bps()) == 0;
                // A port that is never busy when a packet comes owes it no fraction of a picosecond.
                let enough = gap > time || gap == time && exact;
                let apart = enough && sizes[id] == Sizes::All(size);
                if !(apart && fused[id] && forms[id] == Form::Pipe) {
                    waits[id] = true;
                    gap = time;
                }
            }
        };
        pass(&f.path, flow.packet);
        // A stream acknowledges each packet of data.
        pass(&f.reverse_path, flow.ack);
    }
    waits.iter().map(|waits| !waits).collect()
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
