//! The passes by which a network is laid out to be run in windows. Each takes the result of the pass
//! before it.

use super::arrivals::Coming;
use super::fused::{Fused, Line, Place};
use super::hop::Hop;
use super::lines::{Calm, Express, Lane};
use super::network::{Feed, Held, Lossy, Network, Onward, Paths, Queue, Station, horizon};
use super::stretch::{self, Stretch};
use crate::because::Because;
use crate::flow::Flow;
use crate::pipe::Pipe;
use crate::survey::{self, Form, Ports};
use accord_aqm::{AnyAqm, Aqm};
use accord_elements::{Loss, dice, ledger, port, timeline};
use accord_scenario::{LinkId, Scenario};
use accord_traffic::Demand;
use accord_transport::Sender;
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::BTreeMap;

/// The rate up to which no two packets come out of a link at one time.
const FASTEST: Rate = Rate::from_bps(1_000_000_000_000);

/// The number of rounds by which the length of a window is found.
const ROUNDS: u64 = 8;

/// The third pass: nothing in the scenario needs events. There is no event but those of packets and few
/// others: each of the others ends a window. Nobody sees what receivers know ahead of time.
struct Suited<'a> {
    scenario: &'a Scenario,
    ports: &'a Ports,
}

/// The fourth pass: the links that take packets before their time.
struct Early<'a> {
    suited: Suited<'a>,
    /// The size of the packets of each link on which none waits.
    free: Vec<Option<u16>>,
    /// Those links, and the links whose packets come in order.
    early: Vec<bool>,
}

/// The least times from one part to another, by the part that packets come from: a station, or none for
/// the senders.
type Feeds = BTreeMap<Option<usize>, Duration>;

/// The fifth pass: the parts of the network, and the times between them.
struct Parts<'a> {
    early: Early<'a>,
    places: Vec<Place>,
    /// The link of each station, and what feeds it.
    stations: Vec<(LinkId, Vec<Feed>)>,
    /// The link of each fused link, calm port and idle port.
    fused: Vec<LinkId>,
    calms: Vec<(LinkId, u16)>,
    idle: Vec<LinkId>,
    /// The feeds of the senders.
    senders: Vec<Feed>,
    /// The lanes, by the part that feeds them.
    lanes: Vec<(Option<usize>, Onward)>,
}

/// The sixth pass: windows are long enough.
struct Long<'a>(Parts<'a>);

/// The last pass: the network, to be run in windows.
pub struct Layout {
    pub(super) network: Network,
    /// The feeds of the senders.
    pub(super) senders: Vec<Feed>,
    /// The lanes that senders feed.
    pub(super) lanes: Vec<Onward>,
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
        for (link, form) in scenario.links.iter().zip(&ports.forms) {
            let because = |what| Err(Because::Link(link.name.clone(), what));
            if *form == Form::Shared {
                return Err(Because::Fluid);
            } else if link.parts.is_some() {
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
            } else if f.demand != Demand::Greedy {
                return because("is not greedy");
            } else if flow.receiver.wants_truth() {
                return because("has an estimator of the true accumulation");
            } else if !matches!(flow.sender, Sender::Stream(_) | Sender::Tunnel(_)) {
                return because("has no congestion control");
            }
        }
        Ok(Suited { scenario, ports })
    }

    fn early(self, flows: &[Flow]) -> Early<'a> {
        let Suited { scenario, ports } = self;
        let free = stretch::find(scenario, flows, &ports.forms);
        let early = (0..free.len()).map(|id| {
            let ordered = ports.survey.feeds[id] != survey::Feed::Several;
            ports.forms[id] == Form::Pipe && ordered || free[id].is_some()
        });
        Early {
            early: early.collect(),
            free,
            suited: self,
        }
    }
}

impl<'a> Early<'a> {
    fn parts(self) -> Parts<'a> {
        let Suited { scenario, ports } = self.suited;
        let links = scenario.links.len();
        let mut places: Vec<Option<Place>> = vec![None; links];
        let (mut fused, mut calms, mut idle) = (Vec::new(), Vec::new(), Vec::new());
        for id in (0..links).filter(|&id| self.early[id]) {
            places[id] = Some(match self.free[id] {
                Some(size) if ports.forms[id] != Form::Pipe => {
                    calms.push((id, size));
                    Place::Calm(calms.len() - 1)
                }
                _ => {
                    fused.push(id);
                    Place::Fused(fused.len() - 1)
                }
            });
        }
        let mut stations: Vec<(LinkId, Feeds)> = Vec::new();
        let mut senders = Feeds::new();
        let mut lanes: Vec<(Option<usize>, Onward)> = Vec::new();
        let mut in_lanes = vec![false; links];
        let feed = |feeds: &mut Feeds, from, delay: Duration| {
            let least = feeds.entry(from).or_insert(delay);
            *least = delay.min(*least);
        };
        for f in &scenario.flows {
            let (mut from, mut delay) = (None, Duration::ZERO);
            for &link in f.path.iter().chain(&f.reverse_path) {
                match places[link] {
                    Some(Place::Station(id)) => {
                        feed(&mut stations[id].1, from, delay);
                        (from, delay) = (Some(id), Duration::ZERO);
                    }
                    Some(Place::Fused(index)) => {
                        if ports.survey.control_first[link] && !in_lanes[link] {
                            in_lanes[link] = true;
                            let onward = Onward {
                                fused: index,
                                delay,
                            };
                            lanes.push((from, onward));
                        }
                    }
                    Some(Place::Calm(_) | Place::Idle(_)) => {}
                    None => {
                        let id = stations.len();
                        places[link] = Some(Place::Station(id));
                        stations.push((link, Feeds::from([(from, delay)])));
                        (from, delay) = (Some(id), Duration::ZERO);
                    }
                }
                delay += scenario.links[link].delay;
            }
            feed(&mut senders, from, delay);
        }
        for (link, place) in places.iter_mut().enumerate() {
            if place.is_some() {
                continue;
            }
            // Timers run on links that no flow uses, too.
            let aqm = AnyAqm::build(&scenario.links[link].queue.discipline);
            *place = Some(if aqm.next_timer().is_some() {
                stations.push((link, Feeds::new()));
                Place::Station(stations.len() - 1)
            } else {
                idle.push(link);
                Place::Idle(idle.len() - 1)
            });
        }
        let list = |feeds: Feeds| {
            let feeds = feeds.into_iter();
            feeds.map(|(from, delay)| Feed { from, delay }).collect()
        };
        let stations = stations.into_iter();
        Parts {
            places: places.into_iter().flatten().collect(),
            stations: stations.map(|(link, feeds)| (link, list(feeds))).collect(),
            fused,
            calms,
            idle,
            senders: list(senders),
            lanes,
            early: self,
        }
    }
}

impl<'a> Parts<'a> {
    /// Checks that windows are long enough: all parts are looked at in each of them, so that there should
    /// be a packet for each part.
    fn long(self) -> Result<Long<'a>, Because> {
        let scenario = self.early.suited.scenario;
        let fed = self.stations.iter().filter(|(_, feeds)| !feeds.is_empty());
        let rate = fed.map(|(link, _)| scenario.links[*link].rate).max();
        let packet = scenario.flows.iter().map(|f| f.packet.get()).max();
        let bytes = rate.unwrap_or_default().bytes_in(self.span()).get();
        let packets = bytes / packet.unwrap_or(1).max(1);
        let parts = scenario.flows.len() + self.stations.len();
        match packets as usize >= parts {
            true => Ok(Long(self)),
            false => Err(Because::Short),
        }
    }

    /// Returns how long a window is in the mean, where nothing else ends it.
    fn span(&self) -> Duration {
        let end = Time::ZERO + Duration::from_secs(1000);
        let (mut senders, mut clocks) = (Time::ZERO, vec![Time::ZERO; self.stations.len()]);
        for _ in 0..ROUNDS {
            senders = horizon(&self.senders, senders, |id| clocks[id], end);
            for (id, (_, feeds)) in self.stations.iter().enumerate() {
                clocks[id] = horizon(feeds, senders, |id| clocks[id], end);
            }
        }
        Duration::from_ps(senders.since(Time::ZERO).as_ps() / ROUNDS)
    }
}

impl Long<'_> {
    fn lay(self, flows: &mut [Flow]) -> Layout {
        let Parts {
            early,
            places,
            stations,
            fused,
            calms,
            idle,
            senders,
            lanes,
        } = self.0;
        let Suited { scenario, ports } = early.suited;
        // All packets come around in this time, so that it is about a window's.
        let state = scenario.at(Time::ZERO);
        let ids = 0..scenario.flows.len();
        let least = ids.map(|id| state.base_rtt(id)).min().unwrap_or_default();
        let lanes_of = |part: Option<usize>| {
            let of_it = lanes.iter().filter(|(from, _)| *from == part);
            of_it.map(|(_, lane)| *lane).collect::<Vec<_>>()
        };
        let queue = |link| queue(scenario, ports, link);
        let stations = stations.into_iter().enumerate().map(|(id, (link, feeds))| {
            let queue = queue(link);
            Station {
                link,
                timer: queue.next_timer(),
                queue,
                delay: scenario.links[link].delay,
                feeds,
                clock: Time::ZERO,
                coming: Coming::new(least, scenario.flows.len()),
                lanes: lanes_of(Some(id)),
            }
        });
        let fused = fused.into_iter().map(|link| Fused {
            line: match ports.survey.control_first[link] {
                true => Line::Lane(Box::new(Lane::new(scenario.links[link].rate))),
                false => Line::Pipe(Pipe::new(scenario.links[link].rate)),
            },
            delay: scenario.links[link].delay,
            link,
        });
        let calms = calms.into_iter().map(|(link, size)| {
            let size = Bytes::new(u64::from(size));
            Calm::new(scenario.links[link].rate, size)
        });
        let mut network = Network {
            stations: stations.collect(),
            fused: fused.collect(),
            calms: calms.collect(),
            idle: idle.into_iter().map(queue).collect(),
            paths: Paths {
                hops: Vec::new(),
                stretches: Vec::new(),
            },
            places,
        };
        for (f, flow) in scenario.flows.iter().zip(flows) {
            let mut add = |path, size, end| network.add(scenario, &early.free, path, size, end);
            flow.path = add(&f.path, flow.packet, Hop::RECEIVER);
            flow.reverse_path = add(&f.reverse_path, flow.ack, Hop::SENDER);
        }
        Layout {
            network,
            senders,
            lanes: lanes_of(None),
        }
    }
}

impl Network {
    /// Adds a path, on which the links that are `free` hold up no packet. Returns the first hop.
    fn add(
        &mut self,
        scenario: &Scenario,
        free: &[Option<u16>],
        path: &[LinkId],
        size: u16,
        end: Hop,
    ) -> u32 {
        let (hops, stretches) = (&mut self.paths.hops, &mut self.paths.stretches);
        let first = hops.len() as u32;
        for links in path.chunk_by(|&a, &b| free[a].is_some() == free[b].is_some()) {
            if free[links[0]].is_some() {
                hops.push(Hop::stretch(stretches.len()));
                let size = Bytes::new(u64::from(size));
                stretches.push(Stretch::new(scenario, &self.places, links, size));
                continue;
            }
            for &link in links {
                match self.places[link] {
                    Place::Station(id) => hops.push(Hop::station(id)),
                    Place::Fused(id) => hops.push(Hop::fused(id)),
                    Place::Calm(_) | Place::Idle(_) => {
                        debug_assert!(false, "calm links are free, and idle ones on no path");
                    }
                }
            }
        }
        hops.push(end);
        first
    }
}

/// Creates the port of a station.
fn queue(scenario: &Scenario, ports: &Ports, id: LinkId) -> Queue {
    let (link, seed) = (&scenario.links[id], scenario.seed);
    let droptail = || survey::is_droptail(link);
    match ports.forms[id] {
        Form::Pipe | Form::Timeline if ports.survey.control_first[id] && droptail() => {
            Queue::Express(Box::new(Express::new(ledger(link, id, seed))))
        }
        Form::Timeline if !ports.survey.control_first[id] => {
            Queue::Timeline(Box::new((timeline(link, id, seed), dice(id, seed))))
        }
        Form::Pipe => Queue::Pipe(Pipe::new(link.rate)),
        Form::Timeline | Form::Port | Form::Stepped | Form::Shared => {
            let lossy = |loss| {
                Box::new(Lossy {
                    loss,
                    serving: None,
                })
            };
            Queue::Held(Box::new(Held {
                port: port(scenario, id),
                dice: dice(id, seed),
                lossy: Loss::of(link, id, seed).map(lossy),
            }))
        }
    }
}

impl Layout {
    /// Lays the network out, and sets the paths of flows.
    ///
    /// # Errors
    /// Fails if the scenario needs events, or is faster with them.
    pub fn new(ports: &Ports, scenario: &Scenario, flows: &mut [Flow]) -> Result<Layout, Because> {
        let parts = Suited::new(scenario, flows, ports)?.early(flows).parts();
        Ok(parts.long()?.lay(flows))
    }
}
