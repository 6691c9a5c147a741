//! Runs without an event for each packet: windows of time in which nothing that a part of the
//! network does can reach another part.
//!
//! The parts are the senders, as one, and the *stations*: the links that are not fused (`wiring.rs`).
//! Fused links belong to the part that feeds them.
//! A packet that leaves a part meets the next one a propagation delay later at the earliest. So a
//! part whose feeders have been computed up to some times can be computed up to the least of these
//! times plus delays, on its own. It then handles all packets of that window in one go: a sender its
//! acknowledgements of a round trip, a link its arrivals in order. No calendar orders them; the
//! arrivals at a station are sorted once a window, and the ends of its services and the timer of its
//! queue discipline come in between. What a part needs stays in near caches meanwhile.
//! Many packets at a station go on by groups of flows, so that each flow is fetched once (`Groups`).
//! (This is conservative parallel simulation [Chandy and Misra 1979; Bryant 1977] on one thread.)
//!
//! It is exact. The order of the arrivals at a station is that of their events, by (time, kind,
//! index). At a sample, and at any other event of the calendar, all parts have been computed up to
//! that time and no further. `tests/shortcuts.rs` compares runs with and without windows.

use crate::arrivals::{Arrival, Cause, Coming, Sorter};
use crate::calendar::Kind;
use crate::flow::Flow;
use crate::hop::Hop;
use crate::pool::{Place, Pool};
use crate::ring::Ring;
use crate::stretch::{self, Sizes, Stretch};
use crate::wire::{Form, is_droptail};
use accord_aqm::{AnyAqm, Aqm};
use accord_scenario::{LinkId, Scenario};
use accord_units::{Bytes, Duration, Time};
use std::collections::BTreeMap;

/// The parts of a network that is run in windows.
pub struct Windows {
    pub stations: Vec<Station>,
    /// The index of each link's station, if it is one.
    of: Vec<usize>,
    /// The acknowledgements on their way from the last station, by flow.
    pub replies: Vec<Replies>,
    /// The ways from stations to senders, by the link over which packets come to the station. Only those of
    /// stations with groups that lead home are known.
    pub homes: Vec<Home>,
    /// The parts that feed the senders.
    pub feeds: Vec<Feed>,
    /// The lanes that senders feed.
    pub lanes: Vec<Onward>,
    /// The time before which all of the senders' events have been handled.
    pub clock: Time,
    /// What puts arrivals in order.
    pub sorter: Sorter,
    /// Whether what leaves the present station waits in groups until all have left it.
    pub gathers: bool,
}

/// The acknowledgements on their way to a sender.
pub struct Replies {
    /// The packets and their times. They are not linked in the pool: a packet is not touched when it comes
    /// here.
    pub queue: Ring<(Time, Place)>,
    /// The event that the arrival of one would be.
    pub cause: Cause,
}

/// A link that several feed, or whose queue matters.
pub struct Station {
    /// The hop to the link.
    pub link: Hop,
    /// The parts that feed it.
    pub feeds: Vec<Feed>,
    /// The time before which all arrivals have been handled.
    pub clock: Time,
    /// The packets that will arrive.
    pub coming: Coming,
    /// The lanes that it feeds.
    pub lanes: Vec<Onward>,
    /// In what the packets of different flows may go on in any order.
    pub groups: Option<Groups>,
    /// The time at which the queue discipline wants its timer.
    pub timer: Time,
}

/// A station behind which each fused link is of one flow. Then the packets of different flows may go on in any
/// order.
#[derive(Clone, Copy)]
pub struct Groups {
    /// The size of all its packets, if that decides on them and they come over links of one flow each: a
    /// packet's link tells its flow.
    pub size: Option<Bytes>,
    /// Whether these are acknowledgements, and nothing but pipes is between the station and their senders. Then
    /// no packet is looked at.
    pub lead_home: bool,
}

/// The way of packets from a station to their sender.
#[derive(Clone, Copy, Default)]
pub struct Home {
    /// The flow.
    pub flow: u32,
    /// The place of the hop behind the station.
    pub hop: u32,
}

/// A lane that a part feeds.
#[derive(Clone, Copy)]
pub struct Onward {
    /// The link.
    pub link: LinkId,
    /// The least time from the part to it.
    pub delay: Duration,
}

/// The number of rounds by which the length of a window is found.
const ROUNDS: u64 = 8;

/// What packets a part gets from another one.
pub struct Feed {
    /// The station that they leave, or none if senders do.
    from: Option<usize>,
    /// The least time that they take.
    delay: Duration,
}

impl Replies {
    /// The time at which the first of them arrives, or `Time::MAX` if there is none.
    #[inline]
    pub fn time(&self) -> Time {
        self.queue.first().map_or(Time::MAX, |(at, _)| at)
    }

    /// Nothing is on its way to the sender of a flow.
    fn new(flow: &accord_scenario::Flow) -> Replies {
        let last = flow.reverse_path.last();
        Replies {
            queue: Ring::default(),
            cause: Cause::new(Kind::Arrive, last.copied().unwrap_or_default()),
        }
    }
}

impl Windows {
    /// Finds the parts of a network, with ports in these forms, some of them fused.
    pub fn new(scenario: &Scenario, flows: &[Flow], forms: &[Form], fused: &[bool]) -> Windows {
        let links = scenario.links.len();
        let mut of = vec![usize::MAX; links];
        let mut stations: Vec<(Hop, BTreeMap<Option<usize>, Duration>)> = Vec::new();
        let mut senders = BTreeMap::new();
        let mut lanes: Vec<(Option<usize>, Onward)> = Vec::new();
        let mut in_lanes = vec![false; links];
        let feed = |feeds: &mut BTreeMap<_, Duration>, from, delay: Duration| {
            let least = feeds.entry(from).or_insert(delay);
            *least = delay.min(*least);
        };
        for f in &scenario.flows {
            let (mut from, mut delay) = (None, Duration::ZERO);
            for &link in f.path.iter().chain(&f.reverse_path) {
                if !fused[link] {
                    if of[link] == usize::MAX {
                        of[link] = stations.len();
                        stations.push((Hop::station(link), BTreeMap::new()));
                    }
                    feed(&mut stations[of[link]].1, from, delay);
                    (from, delay) = (Some(of[link]), Duration::ZERO);
                } else if forms[link] == Form::Lane && !in_lanes[link] {
                    in_lanes[link] = true;
                    lanes.push((from, Onward { link, delay }));
                }
                delay += scenario.links[link].delay;
            }
            feed(&mut senders, from, delay);
        }
        // Timers run on links that no flow uses, too.
        for link in (0..links).filter(|&link| !fused[link]) {
            let aqm = || AnyAqm::build(&scenario.links[link].queue.discipline);
            if of[link] == usize::MAX && aqm().next_timer().is_some() {
                of[link] = stations.len();
                stations.push((Hop::station(link), BTreeMap::new()));
            }
        }
        // All that there is comes around in this time, so that it is about a window's.
        let network = scenario.at(Time::ZERO);
        let least = (0..scenario.flows.len())
            .map(|id| network.base_rtt(id))
            .min();
        let least = least.unwrap_or_default();
        let mut groups = find_groups(scenario, flows, forms, fused, &of, stations.len());
        let list = |feeds: BTreeMap<Option<usize>, Duration>| {
            let feeds = feeds.into_iter();
            feeds.map(|(from, delay)| Feed { from, delay }).collect()
        };
        let lanes_of = |part: Option<usize>| {
            let of_it = lanes.iter().filter(|(from, _)| *from == part);
            of_it.map(|(_, lane)| *lane).collect()
        };
        Windows {
            stations: (stations.into_iter().enumerate())
                .map(|(id, (link, feeds))| Station {
                    link,
                    feeds: list(feeds),
                    clock: Time::ZERO,
                    coming: Coming::new(least, scenario.flows.len()),
                    lanes: lanes_of(Some(id)),
                    groups: groups[id].take(),
                    timer: Time::MAX,
                })
                .collect(),
            lanes: lanes_of(None),
            of,
            replies: scenario.flows.iter().map(Replies::new).collect(),
            homes: Vec::new(),
            feeds: list(senders),
            clock: Time::ZERO,
            sorter: Sorter::default(),
            gathers: false,
        }
    }

    /// Finds the ways from stations to senders, which `hops` describe.
    pub fn find_homes(
        &mut self,
        flows: &[Flow],
        forms: &[Form],
        hops: &[Hop],
        stretches: &[Stretch],
    ) {
        self.homes = vec![Home::default(); forms.len()];
        for (id, flow) in flows.iter().enumerate() {
            // The last station on the way, the link before it, and the hop behind it on the way back.
            let mut last: Option<(usize, LinkId, Option<u32>)> = None;
            let mut before = LinkId::MAX;
            for first in [flow.path, flow.reverse_path] {
                let mut place = first;
                loop {
                    let hop = hops[place as usize];
                    if hop.is_end() {
                        break;
                    }
                    place += 1;
                    if hop.is_stretch() {
                        let stretch = &stretches[hop.link()];
                        (before, place) = (stretch.last as usize, stretch.next);
                        continue;
                    }
                    let link = hop.link();
                    if !hop.is_shortcut() {
                        if let Some((station, ..)) = last {
                            self.not_home(station);
                        }
                        let back = (first == flow.reverse_path).then_some(place);
                        last = Some((self.of[link], before, back));
                    } else if forms[link] != Form::Pipe
                        && let Some((station, ..)) = last
                    {
                        self.not_home(station);
                    }
                    before = link;
                }
            }
            match last {
                Some((station, before, Some(hop))) if self.leads_home(station) => {
                    self.homes[before] = Home {
                        flow: id as u32,
                        hop,
                    };
                }
                Some((station, ..)) => self.not_home(station),
                None => {}
            }
        }
    }

    fn leads_home(&self, station: usize) -> bool {
        self.stations[station]
            .groups
            .is_some_and(|groups| groups.lead_home)
    }

    fn not_home(&mut self, station: usize) {
        if let Some(groups) = &mut self.stations[station].groups {
            groups.lead_home = false;
        }
    }

    /// Returns whether windows are long enough: all parts are looked at in each of them, so that there
    /// should be a packet for each part.
    pub fn are_long(&mut self, scenario: &Scenario) -> bool {
        let fed = self.stations.iter().filter(|s| !s.feeds.is_empty());
        let rate = fed.map(|s| scenario.links[s.link.link()].rate).max();
        let packet = scenario.flows.iter().map(|f| f.packet.get()).max();
        let bytes = rate.unwrap_or_default().bytes_in(self.span()).get();
        let packets = bytes / packet.unwrap_or(1).max(1);
        packets as usize >= scenario.flows.len() + self.stations.len()
    }

    /// Returns how long a window is in the mean, where nothing else ends it.
    fn span(&mut self) -> Duration {
        let end = Time::ZERO + Duration::from_secs(1000);
        for _ in 0..ROUNDS {
            self.clock = self.horizon(&self.feeds, end);
            for id in 0..self.stations.len() {
                self.stations[id].clock = self.horizon(&self.stations[id].feeds, end);
            }
        }
        self.stations.iter_mut().for_each(|s| s.clock = Time::ZERO);
        let all = std::mem::take(&mut self.clock).since(Time::ZERO);
        Duration::from_ps(all.as_ps() / ROUNDS)
    }

    /// Sets the time at which the queue discipline of a station wants its timer.
    pub fn set_timer(&mut self, link: LinkId, at: Time) {
        self.stations[self.of[link]].timer = at;
    }

    /// Notes that a packet arrives at the station of `hop`, or at its sender if that is the end.
    /// `kind` and `index` are those of the event that this would be.
    #[inline(always)]
    pub fn put(&mut self, pool: &mut Pool, place: Place, hop: Hop, at: Time, cause: Cause) {
        if hop.is_end() {
            let flow = pool.packet(place).flow as usize;
            self.replies[flow].queue.push((at, place));
        } else {
            let station = &mut self.stations[self.of[hop.link()]];
            debug_assert!(at >= station.clock, "the past is over");
            station.coming.push(Arrival { at, cause, place });
        }
    }

    /// Puts a packet of a flow that leaves the present station at `at` into its group.
    #[inline]
    pub fn gather(&mut self, flow: u32, place: Place, at: Time) {
        let cause = Cause::new(Kind::Arrive, flow as usize);
        let group = self.sorter.group(cause);
        group.sent.push(Arrival { at, cause, place });
    }

    /// Returns the time up to which a part with these feeds can be computed now.
    pub fn horizon(&self, feeds: &[Feed], end: Time) -> Time {
        let known = feeds.iter().map(|feed| {
            let clock = feed.from.map_or(self.clock, |id| self.stations[id].clock);
            clock + feed.delay
        });
        known.fold(end, Time::min)
    }
}

/// Finds out about each station whether the packets of different flows may go on in any order.
fn find_groups(
    scenario: &Scenario,
    flows: &[Flow],
    forms: &[Form],
    fused: &[bool],
    of: &[usize],
    stations: usize,
) -> Vec<Option<Groups>> {
    let sizes = stretch::sizes(scenario, flows);
    let mut groups = vec![None; stations];
    for (link, form) in forms.iter().enumerate() {
        let holds = matches!(form, Form::Port | Form::Express | Form::Lane);
        if (holds || *form == Form::Timeline) && !fused[link] && of[link] != usize::MAX {
            let size = match sizes[link] {
                Sizes::All(size) if !holds && is_droptail(&scenario.links[link]) => Some(size),
                _ => None,
            };
            let size = size.map(|size| Bytes::new(u64::from(size)));
            let lead_home = size.is_some();
            groups[of[link]] = Some(Groups { size, lead_home });
        }
    }
    // The flow of each link, and its place on the flow's way there and back.
    let mut users = vec![None; forms.len()];
    for (id, f) in scenario.flows.iter().enumerate() {
        // The last station, and whether the last link is this flow's own.
        let (mut from, mut own) = (None, false);
        for (place, &link) in f.path.iter().chain(&f.reverse_path).enumerate() {
            let user = (id as u32, place as u32);
            if fused[link] {
                own = *users[link].get_or_insert(user) == user;
                if let Some(station) = from.filter(|_| !own) {
                    groups[station] = None;
                }
                continue;
            }
            let station = of[link];
            if let Some(groups) = groups[station].as_mut().filter(|_| !own) {
                (groups.size, groups.lead_home) = (None, false);
            }
            (from, own) = (Some(station), false);
        }
    }
    groups
}
