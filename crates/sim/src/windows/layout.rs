//! The passes that lay out a network for the windows engine. Each takes the result of the previous
//! pass.

use super::arrivals::ArrivalQueue;
use super::cut_through::{CutThroughLink, CutThroughPort, LinkIndex};
use super::network::{FedPipe, Feed, LinkPort, Network, Routes, SharedLink, safe_time};
use super::ports::{PriorityPipe, PriorityPort, UncontendedPort};
use super::uncontended::{self, UncontendedPath};
use crate::because::Because;
use crate::buffered::BufferedPort;
use crate::flow::Flow;
use crate::hop::Hop;
use crate::memory;
use crate::pipe::Pipe;
use crate::survey::{self, Form, Ports};
use accord_aqm::{AnyAqm, Aqm};
use accord_elements::{Loss, dice, port_state, timeline};
use accord_scenario::{Carrier, LinkId, Scenario};
use accord_transport::Sender;
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::BTreeMap;

/// The rate up to which packets leave a link at distinct times.
const FASTEST: Rate = Rate::from_bps(1_000_000_000_000);

/// The largest number of shared links per packet of the mean window. With 25 links per packet
/// `tcpeval/data-centre` takes twice the CPU time of events. With 2.5 links per packet
/// `tcpeval/access` takes a tenth less.
const LINKS_PER_PACKET: usize = 4;

/// The number of rounds over which the length of windows is averaged.
const ROUNDS: u64 = 8;

/// The third pass: packets of the scenario need no events. Starts, stops and samples remain, and each of them ends
/// a window. No observer can see that receivers are ahead of the clock.
struct Suited<'a> {
    scenario: &'a Scenario,
    ports: &'a Ports,
}

/// The fourth pass: the cut-through links.
struct CutThrough<'a> {
    suited: Suited<'a>,
    /// The packet size of each uncontended link.
    free: Vec<Option<u16>>,
    /// True for each uncontended link, and for each pipe with packets in order of arrival.
    cut_through: Vec<bool>,
}

/// The lookahead from each part that feeds a part. The parts are shared links, or `None` for the
/// senders.
type Feeds = BTreeMap<Option<usize>, Duration>;

/// The fifth pass: the parts of the network, and the lookahead between them.
struct Parts<'a> {
    links: CutThrough<'a>,
    indices: Vec<LinkIndex>,
    /// The link and the feeds of each shared link.
    shared_links: Vec<(LinkId, Vec<Feed>)>,
    /// The links that are cut-through, uncontended and unused, in the order of their lists.
    cut_through: Vec<LinkId>,
    uncontended_ports: Vec<(LinkId, u16)>,
    unused: Vec<LinkId>,
    /// The feeds of the senders.
    senders: Vec<Feed>,
    /// The priority pipes, with the parts that feed them.
    priority_pipes: Vec<(Option<usize>, FedPipe)>,
}

/// The sixth pass: windows are long enough.
struct LongEnough<'a>(Parts<'a>);

/// The last pass: the network in the form for windows.
pub struct WindowsLayout {
    pub(super) network: Network,
    /// The feeds of the senders.
    pub(super) senders: Vec<Feed>,
    /// The priority pipes that senders feed.
    pub(super) priority_pipes: Vec<FedPipe>,
    /// The mean length of windows that no event ends.
    pub(super) window: Duration,
    /// The least base round-trip time.
    pub(super) round_trip: Duration,
}

impl<'a> Suited<'a> {
    fn new(
        scenario: &'a Scenario,
        flows: &[Flow],
        ports: &'a Ports,
    ) -> Result<Suited<'a>, Because> {
        if !scenario.events.is_empty() {
            return Err(Because::Changes);
        }
        for link in &scenario.links {
            let because = |what| Err(Because::Link(link.name.clone(), what));
            if link.parts.is_some() {
                return because("has a trace, token buckets, jitter, reordering or a filter");
            } else if link.rate > FASTEST {
                return because("is faster than 1 Tbps");
            }
        }
        for (f, flow) in scenario.flows.iter().zip(flows) {
            let because = |what| Err(Because::Flow(f.name.clone(), what));
            if f.tunnel.is_some() {
                return because("is a tunnel between gateways");
            } else if f.through.is_some() {
                return because("rides in a tunnel");
            } else if matches!(f.carrier, Carrier::Quic(_)) {
                return because("is a connection of another stack");
            } else if flow.receiver.wants_truth() {
                return because("has an estimator of the true accumulation");
            }
        }
        Ok(Suited { scenario, ports })
    }

    fn cut_through(self, flows: &[Flow]) -> CutThrough<'a> {
        let Suited { scenario, ports } = self;
        let free = uncontended::find(scenario, flows, ports);
        let cut_through = (0..free.len()).map(|id| {
            let ordered = ports.survey.sources[id] != survey::PacketSource::Several;
            ports.forms[id] == Form::Pipe && ordered || free[id].is_some()
        });
        CutThrough { cut_through: cut_through.collect(), free, suited: self }
    }
}

impl<'a> CutThrough<'a> {
    /// Returns true if packets wait in a cut-through pipe, and the link serves control packets first.
    fn is_priority_pipe(&self, link: LinkId) -> bool {
        self.suited.ports.survey.control_first[link] && self.free[link].is_none()
    }

    fn parts(self) -> Parts<'a> {
        let Suited { scenario, ports } = self.suited;
        let links = scenario.links.len();
        let mut indices: Vec<Option<LinkIndex>> = vec![None; links];
        let (mut cut_through, mut uncontended_ports, mut unused) =
            (Vec::new(), Vec::new(), Vec::new());
        for id in (0..links).filter(|&id| self.cut_through[id]) {
            indices[id] = Some(match self.free[id] {
                Some(size) if ports.forms[id] != Form::Pipe => {
                    uncontended_ports.push((id, size));
                    LinkIndex::Uncontended(uncontended_ports.len() as u32 - 1)
                }
                _ => {
                    cut_through.push(id);
                    LinkIndex::CutThrough(cut_through.len() as u32 - 1)
                }
            });
        }
        let mut shared_links: Vec<(LinkId, Feeds)> = Vec::new();
        let mut senders = Feeds::new();
        let mut priority_pipes: Vec<(Option<usize>, FedPipe)> = Vec::new();
        let mut in_priority_pipes = vec![false; links];
        let feed = |feeds: &mut Feeds, from, delay: Duration| {
            let least = feeds.entry(from).or_insert(delay);
            *least = delay.min(*least);
        };
        for f in &scenario.flows {
            let (mut from, mut delay) = (None, Duration::ZERO);
            for &link in f.path.iter().chain(&f.reverse_path) {
                match indices[link] {
                    Some(LinkIndex::Shared(id)) => {
                        let id = id as usize;
                        feed(&mut shared_links[id].1, from, delay);
                        (from, delay) = (Some(id), Duration::ZERO);
                    }
                    Some(LinkIndex::CutThrough(index)) => {
                        let index = index as usize;
                        if self.is_priority_pipe(link) && !in_priority_pipes[link] {
                            in_priority_pipes[link] = true;
                            priority_pipes.push((from, FedPipe { index, delay }));
                        }
                    }
                    Some(LinkIndex::Uncontended(_) | LinkIndex::Unused(_)) => {}
                    None => {
                        let id = shared_links.len();
                        indices[link] = Some(LinkIndex::Shared(id as u32));
                        shared_links.push((link, Feeds::from([(from, delay)])));
                        (from, delay) = (Some(id), Duration::ZERO);
                    }
                }
                delay += scenario.links[link].delay;
            }
            feed(&mut senders, from, delay);
        }
        for (link, index) in indices.iter_mut().enumerate() {
            if index.is_some() {
                continue;
            }
            // Timers also run on links that no flow uses.
            let aqm = AnyAqm::build(&scenario.links[link].queue.discipline);
            *index = Some(if aqm.next_timer().is_some() {
                shared_links.push((link, Feeds::new()));
                LinkIndex::Shared(shared_links.len() as u32 - 1)
            } else {
                unused.push(link);
                LinkIndex::Unused(unused.len() as u32 - 1)
            });
        }
        let list = |feeds: Feeds| {
            let feeds = feeds.into_iter();
            feeds.map(|(from, lookahead)| Feed { from, lookahead }).collect()
        };
        let shared_links = shared_links.into_iter();
        Parts {
            indices: indices.into_iter().flatten().collect(),
            shared_links: shared_links.map(|(link, feeds)| (link, list(feeds))).collect(),
            cut_through,
            uncontended_ports,
            unused,
            senders: list(senders),
            priority_pipes,
            links: self,
        }
    }
}

impl<'a> Parts<'a> {
    /// Checks that windows are long enough. Each window visits all shared links, so it should
    /// contain packets for some of them.
    fn long(self) -> Result<LongEnough<'a>, Because> {
        let scenario = self.links.suited.scenario;
        let fed = self.shared_links.iter().filter(|(_, feeds)| !feeds.is_empty());
        let rate = fed.map(|(link, _)| scenario.links[*link].rate).max();
        let packet = scenario.flows.iter().map(|f| f.packet.get()).max();
        let bytes = rate.unwrap_or_default().bytes_in(self.span()).get();
        let packets = bytes / packet.unwrap_or(1).max(1);
        if packets as usize * LINKS_PER_PACKET >= self.shared_links.len() {
            Ok(LongEnough(self))
        } else {
            Err(Because::Short)
        }
    }

    /// Returns the mean length of windows that no event ends.
    fn span(&self) -> Duration {
        let end = Time::ZERO + Duration::from_secs(1000);
        let (mut senders, mut clocks) = (Time::ZERO, vec![Time::ZERO; self.shared_links.len()]);
        for _ in 0..ROUNDS {
            senders = safe_time(&self.senders, senders, |id| clocks[id], end);
            for (id, (_, feeds)) in self.shared_links.iter().enumerate() {
                clocks[id] = safe_time(feeds, senders, |id| clocks[id], end);
            }
        }
        Duration::from_ps(senders.since(Time::ZERO).as_ps() / ROUNDS)
    }
}

impl LongEnough<'_> {
    fn lay(self, flows: &mut [Flow]) -> WindowsLayout {
        let window = self.0.span();
        let Parts {
            links,
            indices,
            shared_links,
            cut_through,
            uncontended_ports,
            unused,
            senders,
            priority_pipes,
        } = self.0;
        let Suited { scenario, ports } = links.suited;
        // The least round-trip time, which is about the length of a window.
        let state = scenario.at(Time::ZERO);
        let ids = 0..scenario.flows.len();
        let least = ids.map(|id| state.base_rtt(id)).min().unwrap_or_default();
        let priority_pipes_of = |part: Option<usize>| {
            let of_it = priority_pipes.iter().filter(|(from, _)| *from == part);
            of_it.map(|(_, pipe)| *pipe).collect::<Vec<_>>()
        };
        let port = |link| link_port(scenario, ports, link);
        let shared_links = shared_links.into_iter().enumerate().map(|(id, (link, feeds))| {
            let port = port(link);
            SharedLink {
                link,
                timer: port.next_timer(),
                service: Time::MAX,
                port,
                delay: scenario.links[link].delay,
                feeds,
                clock: Time::ZERO,
                arrivals: ArrivalQueue::new(least, scenario.flows.len()),
                priority_pipes: priority_pipes_of(Some(id)),
            }
        });
        let cut_through = cut_through.into_iter().map(|link| CutThroughLink {
            port: if links.is_priority_pipe(link) {
                CutThroughPort::Priority(Box::new(PriorityPipe::new(scenario.links[link].rate)))
            } else {
                CutThroughPort::Pipe(Pipe::new(scenario.links[link].rate))
            },
            delay: scenario.links[link].delay,
            link,
        });
        let uncontended_ports = uncontended_ports.into_iter().map(|(link, size)| {
            let size = Bytes::new(u64::from(size));
            UncontendedPort::new(scenario.links[link].rate, size)
        });
        let mut network = Network {
            shared_links: shared_links.collect(),
            cut_through: memory::collect_in_huge_pages(cut_through),
            uncontended_ports: uncontended_ports.collect(),
            unused: unused.into_iter().map(port).collect(),
            paths: Routes { hops: Vec::new(), uncontended_paths: Vec::new(), late: Vec::new() },
            indices,
            has_tunnels: flows.iter().any(|flow| matches!(flow.sender, Sender::Tunnel(_))),
        };
        for (f, flow) in scenario.flows.iter().zip(flows) {
            let mut add = |path, size, end| network.add(scenario, &links.free, path, size, end);
            flow.path = add(&f.path, flow.packet, Hop::END_CUT_THROUGH);
            flow.reverse_path = add(&f.reverse_path, flow.answer, Hop::END);
        }
        network.paths.hops.shrink_to_fit();
        network.paths.uncontended_paths.shrink_to_fit();
        let priority_pipes = priority_pipes_of(None);
        WindowsLayout { network, senders, priority_pipes, window, round_trip: least }
    }
}

impl Network {
    /// Adds a path. Its `free` links are uncontended. Returns the index of its first hop.
    fn add(
        &mut self,
        scenario: &Scenario,
        free: &[Option<u16>],
        path: &[LinkId],
        size: u16,
        end: Hop,
    ) -> u32 {
        let (hops, uncontended_paths) = (&mut self.paths.hops, &mut self.paths.uncontended_paths);
        let first = hops.len() as u32;
        for links in path.chunk_by(|&a, &b| free[a].is_some() == free[b].is_some()) {
            if free[links[0]].is_some() {
                hops.push(Hop::uncontended(uncontended_paths.len()));
                let size = Bytes::new(u64::from(size));
                uncontended_paths.push(UncontendedPath::new(scenario, &self.indices, links, size));
                continue;
            }
            for &link in links {
                match self.indices[link] {
                    LinkIndex::Shared(id) => hops.push(Hop::link(id as usize)),
                    LinkIndex::CutThrough(id) => hops.push(Hop::cut_through(id as usize)),
                    LinkIndex::Uncontended(_) | LinkIndex::Unused(_) => {
                        debug_assert!(
                            false,
                            "uncontended links are free, and unused ones on no path"
                        );
                    }
                }
            }
        }
        hops.push(end);
        first
    }
}

/// Creates the port of a shared link.
fn link_port(scenario: &Scenario, ports: &Ports, id: LinkId) -> LinkPort {
    let (link, seed) = (&scenario.links[id], scenario.seed);
    let droptail = || survey::is_droptail(link);
    match ports.forms[id] {
        Form::Pipe | Form::Timeline if ports.survey.control_first[id] && droptail() => {
            LinkPort::Priority(Some(Box::new(PriorityPort::new(port_state(link, id, seed)))))
        }
        Form::Timeline if !ports.survey.control_first[id] => {
            LinkPort::Timeline(Box::new((timeline(link, id, seed), dice(id, seed))))
        }
        Form::Pipe => LinkPort::Pipe(Pipe::new(link.rate)),
        Form::Timeline | Form::Port | Form::Stepped => {
            let loss = Loss::of(link, id, seed);
            let port = BufferedPort::new(scenario, id, loss.is_some());
            LinkPort::Buffered(Box::new((port, loss)))
        }
    }
}

impl WindowsLayout {
    /// Lays out the network, and sets the paths of flows.
    ///
    /// # Errors
    /// Fails if the scenario needs events or is faster with events.
    pub fn new(
        ports: &Ports,
        scenario: &Scenario,
        flows: &mut [Flow],
    ) -> Result<WindowsLayout, Because> {
        let parts = Suited::new(scenario, flows, ports)?.cut_through(flows).parts();
        Ok(parts.long()?.lay(flows))
    }
}
