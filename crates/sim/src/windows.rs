//! Runs without an event for each packet: windows of time in which nothing that a part of the
//! network does can reach another part.
//!
//! The parts are the senders, as one, and the *stations*: the links that are not fused (`wiring.rs`).
//! A packet that leaves a part meets the next one a propagation delay later at the earliest. So a
//! part whose feeders have been computed up to some times can be computed up to the least of these
//! times plus delays, on its own. It then handles all packets of that window in one go: a sender its
//! acknowledgements of a round trip, a link its arrivals in order. No calendar orders them; the
//! arrivals at a station are sorted once a window. What a part needs stays in near caches meanwhile.
//! (This is conservative parallel simulation [Chandy and Misra 1979; Bryant 1977] on one thread.)
//!
//! It is exact. The order of the arrivals at a station is that of their events, by (time, kind,
//! index). At a sample, and at any other event of the calendar, all parts have been computed up to
//! that time and no further. `tests/shortcuts.rs` compares runs with and without windows.

use crate::SimError;
use crate::arrivals::{Arrival, Cause, Coming, Sorter};
use crate::calendar::Kind;
use crate::engine::Simulation;
use crate::flow::Flow;
use crate::pool::{Place, Pool, Queue};
use crate::wire::Form;
use crate::wiring::{Hop, Wiring};
use accord_record::Observer;
use accord_scenario::Scenario;
use accord_traffic::Demand;
use accord_transport::Sender;
use accord_units::{Duration, Rate, Time};
use std::collections::BTreeMap;

/// The parts of a network that is run in windows.
pub struct Windows {
    stations: Vec<Station>,
    /// The index of each link's station, if it is one.
    of: Vec<usize>,
    /// The acknowledgements on their way from the last station, by flow.
    replies: Vec<Queue>,
    /// The parts that feed the senders.
    feeds: Vec<Feed>,
    /// The time before which all of the senders' events have been handled.
    clock: Time,
    sorter: Sorter,
}

/// A link that several feed, or whose queue matters.
struct Station {
    link: Hop,
    feeds: Vec<Feed>,
    /// The time before which all arrivals have been handled.
    clock: Time,
    /// The packets that will arrive.
    coming: Coming,
}

/// What packets a part gets from another one.
struct Feed {
    /// The station that they leave, or none if senders do.
    from: Option<usize>,
    /// The least time that they take.
    delay: Duration,
}

/// The number of arrivals for which the packet is fetched ahead. It was touched a window ago.
const AHEAD: usize = 8;

/// The number of rounds after which the observer is asked again.
const PROGRESS: u32 = 1 << 8;

/// The rate up to which no two packets come out of a link at one time.
const FASTEST: Rate = Rate::from_bps(1_000_000_000_000);

impl Windows {
    /// Returns whether a scenario can be run in windows, and gains by it, with ports in these forms.
    /// There must be no event but those of packets and few others: each of the others ends a window.
    /// A packet has to take time from any station to the next.
    pub fn suit(scenario: &Scenario, flows: &[Flow], forms: &[Form], fused: &[bool]) -> bool {
        let plain = |(f, flow): (&accord_scenario::Flow, &Flow)| {
            f.demand == Demand::Greedy && matches!(flow.sender, Sender::Stream(_))
        };
        let known = scenario.links.iter().zip(forms);
        let known = known
            .into_iter()
            .all(|(link, form)| *form >= Form::Timeline && link.rate <= FASTEST);
        if !known || !scenario.events.is_empty() || !scenario.flows.iter().zip(flows).all(plain) {
            return false;
        }
        let stations = scenario
            .links
            .iter()
            .zip(fused)
            .filter(|(_, fused)| !**fused);
        let stations: Vec<_> = stations.map(|(link, _)| (link.delay, link.rate)).collect();
        let delay = stations.iter().map(|s| s.0).min().unwrap_or_default();
        let rate = stations.iter().map(|s| s.1).max().unwrap_or_default();
        // All parts are looked at in each window, which is at least this long. It is worth it if
        // there may be a packet for each of them.
        let packet = flows.iter().map(|flow| u64::from(flow.packet)).max();
        let packets = rate.bytes_in(delay).get() / packet.unwrap_or(1).max(1);
        packets as usize >= flows.len() + stations.len()
    }

    /// Finds the parts of the network.
    pub fn new(scenario: &Scenario, wiring: &Wiring) -> Windows {
        let links = scenario.links.len();
        let mut of = vec![usize::MAX; links];
        let mut stations: Vec<(Hop, BTreeMap<Option<usize>, Duration>)> = Vec::new();
        let mut senders = BTreeMap::new();
        let feed = |feeds: &mut BTreeMap<_, Duration>, from, delay: Duration| {
            let least = feeds.entry(from).or_insert(delay);
            *least = delay.min(*least);
        };
        for f in &scenario.flows {
            let (mut from, mut delay) = (None, Duration::ZERO);
            for &link in f.path.iter().chain(&f.reverse_path) {
                if !wiring.is_fused(link) {
                    if of[link] == usize::MAX {
                        of[link] = stations.len();
                        stations.push((Hop::station(link), BTreeMap::new()));
                    }
                    feed(&mut stations[of[link]].1, from, delay);
                    (from, delay) = (Some(of[link]), Duration::ZERO);
                }
                delay += scenario.links[link].delay;
            }
            feed(&mut senders, from, delay);
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
        Windows {
            stations: (stations.into_iter())
                .map(|(link, feeds)| Station {
                    link,
                    feeds: list(feeds),
                    clock: Time::ZERO,
                    coming: Coming::new(least),
                })
                .collect(),
            of,
            replies: scenario.flows.iter().map(|_| Queue::EMPTY).collect(),
            feeds: list(senders),
            clock: Time::ZERO,
            sorter: Sorter::default(),
        }
    }

    /// Notes that a packet arrives at the station of `hop`, or at its sender if that is the end.
    /// `kind` and `index` are those of the event that this would be.
    #[inline(always)]
    pub fn put(&mut self, pool: &mut Pool, place: Place, hop: Hop, at: Time, cause: Cause) {
        if hop.is_end() {
            let flow = pool.packet(place).flow as usize;
            pool.push(&mut self.replies[flow], place, at);
        } else {
            let station = &mut self.stations[self.of[hop.link()]];
            debug_assert!(at >= station.clock, "the past is over");
            station.coming.push(Arrival { at, cause, place });
        }
    }

    /// Returns the time up to which a part with these feeds can be computed now.
    fn horizon(&self, feeds: &[Feed], end: Time) -> Time {
        let known = feeds.iter().map(|feed| {
            let clock = feed.from.map_or(self.clock, |id| self.stations[id].clock);
            clock + feed.delay
        });
        known.fold(end, Time::min)
    }
}

impl Simulation<'_> {
    /// Handles everything before `end` in windows, if the run has them.
    pub fn advance(&mut self, end: Time, observer: &mut dyn Observer) -> Result<(), SimError> {
        let stations = match &self.windows {
            Some(windows) => windows.stations.len(),
            None => return Ok(()),
        };
        for round in 1u32.. {
            let mut is_done = self.advance_senders(end);
            for id in 0..stations {
                is_done &= self.advance_station(id, end);
            }
            if is_done {
                break;
            }
            if round.is_multiple_of(PROGRESS) {
                observer.progress(self.now)?;
            }
        }
        Ok(())
    }

    /// Handles the events of the senders as far as they are known. Returns whether that is up to
    /// `end`.
    fn advance_senders(&mut self, end: Time) -> bool {
        let Some(windows) = &mut self.windows else {
            return true;
        };
        let until = windows.horizon(&windows.feeds, end);
        if until > windows.clock {
            windows.clock = until;
            for id in 0..self.flows.len() {
                self.advance_sender(id, until);
            }
        }
        until == end
    }

    /// Handles the acknowledgements and timers of a flow before `until`.
    fn advance_sender(&mut self, id: usize, until: Time) {
        while let Some(windows) = &mut self.windows {
            let (reply, wake) = (windows.replies[id].time(), self.flows[id].wake);
            if reply.min(wake) >= until {
                break;
            }
            self.events += 1;
            if wake <= reply {
                (self.now, self.cause) = (wake, Cause::new(Kind::Wake, id));
                self.wake(id);
            } else if let Some(place) = self.pool.pop(&mut windows.replies[id]) {
                let link = self.wiring.last(self.pool.packet(place).hop);
                (self.now, self.cause) = (reply, Cause::new(Kind::Arrive, link));
                self.deliver(place);
            }
        }
    }

    /// Handles the arrivals at a station as far as they are known. Returns whether that is up to
    /// `end`.
    fn advance_station(&mut self, id: usize, end: Time) -> bool {
        let Some(windows) = &mut self.windows else {
            return true;
        };
        let until = windows.horizon(&windows.stations[id].feeds, end);
        let station = &mut windows.stations[id];
        let from = std::mem::replace(&mut station.clock, until);
        let link = station.link;
        let sorted = windows.sorter.take(&mut station.coming, from, until);
        for (id, arrival) in sorted.iter().enumerate() {
            if let Some(later) = sorted.get(id + AHEAD) {
                self.pool.prepare_packet(later.place);
            }
            self.now = arrival.at;
            self.go(arrival.place, link, arrival.at);
        }
        self.events += sorted.len() as u64;
        if let Some(windows) = &mut self.windows {
            windows.sorter.give_back(sorted);
        }
        until == end
    }
}
