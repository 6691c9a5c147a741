//! The network of the windows engine.

use super::arrivals::ArrivalQueue;
use super::cut_through::{CutThroughLink, CutThroughPort, LinkIndex};
use super::ports::{PriorityPort, UncontendedPort};
use super::uncontended::UncontendedPath;
use crate::buffered::BufferedPort;
use crate::core::Limits;
use crate::flow::Flow;
use crate::gauge::{Gauge, Links};
use crate::hop::{Hop, WireExit};
use crate::packet::Packet;
use crate::pipe::Pipe;
use accord_aqm::Aqm;
use accord_elements::Loss;
use accord_port::Timeline;
use accord_scenario::{LinkId, Scenario};
use accord_traffic::Dice;
use accord_units::{Bytes, Duration, Time};

/// The links of a network, and the paths over them.
pub struct Network {
    /// The index of each link.
    pub indices: Vec<LinkIndex>,
    pub shared_links: Vec<SharedLink>,
    pub cut_through: Vec<CutThroughLink>,
    pub uncontended_ports: Vec<UncontendedPort>,
    /// The ports without flows and timers.
    pub unused: Vec<LinkPort>,
    pub paths: Routes,
    /// True if a flow is a tunnel.
    pub has_tunnels: bool,
}

/// A link that several parts feed, or whose queue matters.
pub struct SharedLink {
    /// The link.
    pub link: LinkId,
    /// The port.
    pub port: LinkPort,
    /// The propagation delay.
    pub delay: Duration,
    /// The parts that feed the link.
    pub feeds: Vec<Feed>,
    /// The time before which all arrivals have been handled.
    pub clock: Time,
    /// The future arrivals.
    pub arrivals: ArrivalQueue,
    /// The priority pipes that the link feeds.
    pub priority_pipes: Vec<FedPipe>,
    /// The time of the queue discipline's timer.
    pub timer: Time,
    /// The end of the service that the port must handle, as of the last window, or `Time::MAX`.
    pub service: Time,
}

impl SharedLink {
    /// Returns true if nothing happens by `until`.
    #[inline]
    pub fn is_idle(&self, until: Time) -> bool {
        self.timer.min(self.service) > until && !self.arrivals.may_have(until)
    }

    /// Returns a time at or before the next arrival, timer or service.
    pub fn next(&self) -> Time {
        self.arrivals.next().min(self.timer).min(self.service)
    }

    /// Returns the exit of a packet that enters the wire at `sent`.
    #[inline(always)]
    pub fn leaves(&self, sent: Time) -> WireExit {
        WireExit { link: self.link, at: sent + self.delay }
    }
}

/// The port of a shared link.
pub enum LinkPort {
    /// Holds waiting packets. It is stepped if its wire loses packets.
    Buffered(Box<(BufferedPort, Option<Loss>)>),
    /// A droptail port with two priorities that leaves its packets in the pool. It is `None` while
    /// `pass_all` passes arrivals through it.
    Priority(Option<Box<PriorityPort>>),
    /// Has one FIFO queue at a fixed rate, with the random stream of its discipline. Departures are known
    /// at arrival.
    Timeline(Box<(Timeline, Dice)>),
    /// Has one FIFO queue at a fixed rate, without a limit. Its backlog is never read.
    Pipe(Pipe),
}

/// A priority pipe that a part feeds.
#[derive(Clone, Copy)]
pub struct FedPipe {
    /// The index of the cut-through link.
    pub index: usize,
    /// The least time from the part to the link.
    pub delay: Duration,
}

/// The feed of a part from another part.
pub struct Feed {
    /// The shared link that sends the packets, or `None` for the senders.
    pub from: Option<usize>,
    /// The lookahead: the least time that packets take from there.
    pub lookahead: Duration,
}

/// The paths of all flows.
pub struct Routes {
    /// The lists of hops, each closed by an endpoint. A packet carries its index.
    pub hops: Vec<Hop>,
    pub uncontended_paths: Vec<UncontendedPath>,
    /// The packets that enter an uncontended path and come out after the end of the run: the path,
    /// and the arrival.
    pub late: Vec<(u32, Time)>,
}

impl Routes {
    /// Moves a packet to its next hop, as [`Routes::reach`] does.
    #[inline(always)]
    pub fn step(
        &mut self,
        packet: &mut Packet,
        exit: &mut WireExit,
        limits: Limits,
    ) -> (Hop, bool) {
        packet.hop += 1;
        self.reach(&mut packet.hop, exit, limits)
    }

    /// Returns the hop at this index, and whether it takes the packet ahead of the clock. The
    /// packet passes an uncontended path at once. If its exit is after the end of the run, it stays
    /// there, and its time is `Time::MAX`.
    #[inline(always)]
    pub fn reach(&mut self, place: &mut u32, exit: &mut WireExit, limits: Limits) -> (Hop, bool) {
        let mut hop = self.hops[*place as usize];
        if hop.is_uncontended() {
            let uncontended = &mut self.uncontended_paths[hop.index()];
            let Some(there) = uncontended.pass(exit.at, limits) else {
                self.late.push((hop.index() as u32, exit.at));
                exit.at = Time::MAX;
                return (hop, false);
            };
            *place += 1;
            *exit = there;
            hop = self.hops[*place as usize];
        }
        (hop, hop.is_cut_through() && exit.at <= limits.end)
    }
}

/// Returns the safe time of a part: the lower bound on the time stamps of packets to come from its
/// feeds, given the clocks of senders and shared links. It is at most `end`.
pub fn safe_time(
    feeds: &[Feed],
    senders: Time,
    shared_link: impl Fn(usize) -> Time,
    end: Time,
) -> Time {
    let known = feeds.iter().map(|feed| feed.from.map_or(senders, &shared_link) + feed.lookahead);
    known.fold(end, Time::min)
}

impl Network {
    /// Counts the packets that have reached the pipes of uncontended paths by the end of the run,
    /// `end`.
    pub fn count_pipes(&mut self, scenario: &Scenario, flows: &[Flow], end: Time) {
        let Routes { hops, uncontended_paths, late } = &mut self.paths;
        late.sort_unstable();
        for (f, flow) in scenario.flows.iter().zip(flows) {
            let there = (flow.path, &f.path, flow.packet);
            for (first, path, size) in [there, (flow.reverse_path, &f.reverse_path, flow.answer)] {
                let (mut rest, size) = (&path[..], Bytes::new(u64::from(size)));
                let hops = hops[first as usize..].iter();
                for hop in hops.take_while(|hop| !hop.is_end()) {
                    if !hop.is_uncontended() {
                        rest = &rest[1..];
                        continue;
                    }
                    let index = hop.index() as u32;
                    let late = &late[late.partition_point(|&(path, _)| path < index)..];
                    let late = late.iter().take_while(|&&(path, _)| path == index);
                    let pipes = (&self.indices[..], &mut self.cut_through[..]);
                    let late = late.map(|&(_, at)| at);
                    let path = &uncontended_paths[hop.index()];
                    rest = path.count(scenario, pipes, rest, size, late, end);
                }
            }
        }
    }
}

impl LinkPort {
    /// The port, for readings.
    fn gauge(&mut self) -> &mut dyn Gauge {
        match self {
            LinkPort::Buffered(buffered) => &mut buffered.0,
            LinkPort::Priority(port) => port.as_deref_mut().expect("no arrivals pass the port"),
            LinkPort::Timeline(timeline) => &mut timeline.0,
            LinkPort::Pipe(pipe) => pipe,
        }
    }

    /// Returns the end of the service that the port must handle, or `Time::MAX`.
    #[inline]
    pub fn next_service(&self) -> Time {
        match self {
            LinkPort::Buffered(buffered) => buffered.0.next_end().unwrap_or(Time::MAX),
            LinkPort::Priority(port) => port.as_ref().map_or(Time::MAX, |port| port.next()),
            LinkPort::Timeline(_) | LinkPort::Pipe(_) => Time::MAX,
        }
    }

    /// Returns the time of the queue discipline's timer, or `Time::MAX`.
    pub fn next_timer(&self) -> Time {
        let at = match self {
            LinkPort::Buffered(buffered) => buffered.0.next_timer(),
            LinkPort::Timeline(timeline) => timeline.0.aqm().next_timer(),
            LinkPort::Priority(_) | LinkPort::Pipe(_) => None,
        };
        at.unwrap_or(Time::MAX)
    }
}

impl Links for Network {
    fn settle(&mut self, until: Time) {
        for uncontended in &mut self.paths.uncontended_paths {
            uncontended.settle(&mut self.uncontended_ports, until);
        }
    }

    fn port(&mut self, link: LinkId) -> &mut dyn Gauge {
        match self.indices[link] {
            LinkIndex::Shared(i) => self.shared_links[i as usize].port.gauge(),
            LinkIndex::CutThrough(i) => match &mut self.cut_through[i as usize].port {
                CutThroughPort::Pipe(pipe) => pipe,
                CutThroughPort::Priority(pipe) => &mut **pipe,
            },
            LinkIndex::Uncontended(i) => &mut self.uncontended_ports[i as usize],
            LinkIndex::Unused(i) => self.unused[i as usize].gauge(),
        }
    }
}
