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
//! (This is conservative parallel simulation [Chandy and Misra 1979; Bryant 1977] on one thread.)
//!
//! It is exact. The order of the arrivals at a station is that of their events, by (time, kind,
//! index). At a sample, and at any other event of the calendar, all parts have been computed up to
//! that time and no further. `tests/shortcuts.rs` compares runs with and without windows.

use crate::arrivals::{Arrival, Cause, Coming, Sorter};
use crate::calendar::Kind;
use crate::hop::Hop;
use crate::pool::{Place, Pool};
use crate::ring::Ring;
use crate::wire::Form;
use accord_aqm::{AnyAqm, Aqm};
use accord_scenario::{LinkId, Scenario};
use accord_units::{Duration, Time};
use std::collections::BTreeMap;

/// The parts of a network that is run in windows.
pub struct Windows {
    pub stations: Vec<Station>,
    /// The index of each link's station, if it is one.
    of: Vec<usize>,
    /// The acknowledgements on their way from the last station, by flow.
    pub replies: Vec<Replies>,
    /// The parts that feed the senders.
    pub feeds: Vec<Feed>,
    /// The lanes that senders feed.
    pub lanes: Vec<Onward>,
    /// The time before which all of the senders' events have been handled.
    pub clock: Time,
    /// What puts arrivals in order.
    pub sorter: Sorter,
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
    /// The time at which the queue discipline wants its timer.
    pub timer: Time,
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
    pub fn new(scenario: &Scenario, forms: &[Form], fused: &[bool]) -> Windows {
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
                    timer: Time::MAX,
                })
                .collect(),
            lanes: lanes_of(None),
            of,
            replies: scenario.flows.iter().map(Replies::new).collect(),
            feeds: list(senders),
            clock: Time::ZERO,
            sorter: Sorter::default(),
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

    /// Returns the time up to which a part with these feeds can be computed now.
    pub fn horizon(&self, feeds: &[Feed], end: Time) -> Time {
        let known = feeds.iter().map(|feed| {
            let clock = feed.from.map_or(self.clock, |id| self.stations[id].clock);
            clock + feed.delay
        });
        known.fold(end, Time::min)
    }
}
