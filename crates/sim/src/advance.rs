//! How a simulation goes through windows (`windows.rs`): part by part, without events of packets.

use crate::SimError;
use crate::arrivals::{Arrival, Cause};
use crate::calendar::Kind;
use crate::engine::Simulation;
use crate::memory;
use crate::wire::Line;
use accord_record::Observer;
use accord_scenario::LinkId;
use accord_units::Time;

/// The number of rounds after which the observer is asked again.
const PROGRESS: u32 = 1 << 8;

/// The number of arrivals for which the packet is fetched ahead. It was touched a window ago.
const AHEAD: usize = 8;

/// The number of acknowledgements of a flow that are fetched ahead.
const REPLIES_AHEAD: usize = 3;

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
                observer.progress(self.reported(self.now))?;
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
            self.known = until;
            for id in 0..self.flows.len() {
                if self.pool.is_large() {
                    self.fetch_senders(id, until);
                }
                self.advance_sender(id, until);
            }
            self.known = Time::ZERO;
            self.advance_lanes(None);
        }
        until == end
    }

    /// Has the processor fetch what it takes to advance the senders that come after `id`, if they have
    /// acknowledgements before `until`. All of it was touched a window ago.
    #[inline]
    fn fetch_senders(&self, id: usize, until: Time) {
        let Some(windows) = &self.windows else {
            return;
        };
        let busy = |id: usize| {
            let replies = windows.replies.get(id);
            replies.filter(|replies| replies.time() < until)
        };
        // What tells where the rest lies comes first.
        if busy(id + 4).is_some() {
            memory::fetch_all(&self.flows[id + 4]);
        }
        if let Some(replies) = busy(id + 2) {
            for (_, place) in (0..REPLIES_AHEAD).map_while(|i| replies.queue.get(i)) {
                self.pool.prepare_packet(place);
            }
            let flow = &self.flows[id + 2];
            if let Some(host) = flow.host.as_deref() {
                memory::fetch_all(host);
            }
            let hop = self.wiring.hops[flow.path as usize];
            if !hop.is_end() && !hop.is_stretch() {
                memory::fetch_all(&self.wires[hop.link()]);
            }
        }
    }

    /// Handles the acknowledgements and timers of a flow before `until`.
    fn advance_sender(&mut self, id: usize, until: Time) {
        while let Some(windows) = &mut self.windows {
            let replies = &mut windows.replies[id];
            let (reply, wake) = (replies.time(), self.wakes[id]);
            if reply.min(wake) >= until {
                break;
            }
            self.events += 1;
            if wake <= reply {
                (self.now, self.cause) = (wake, Cause::new(Kind::Wake, id));
                self.wake(id);
            } else if let Some((_, place)) = replies.queue.pop() {
                if let Some((_, later)) = replies.queue.get(REPLIES_AHEAD - 1) {
                    self.pool.prepare_packet(later);
                }
                (self.now, self.cause) = (reply, replies.cause);
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
        let mut from = std::mem::replace(&mut station.clock, until);
        let link = station.link;
        let line = &self.wires[link.link()].line;
        let is_express = matches!(line, Line::Express(_));
        let holds = matches!(line, Line::Port(_));
        let mut timer = station.timer;
        while let Some(windows) = &mut self.windows {
            let coming = &mut windows.stations[id].coming;
            let (arrivals, before) = windows.sorter.take(coming, from, until);
            self.events += arrivals.len() as u64;
            if is_express {
                self.advance_express(link.link(), &arrivals, before.min(self.limits.end));
            } else {
                for (i, arrival) in arrivals.iter().enumerate() {
                    if let Some(later) = arrivals.get(i + AHEAD) {
                        self.pool.prepare_packet(later.place);
                    }
                    if timer <= arrival.at {
                        timer = self.act(id, arrival.at, Kind::Start);
                    }
                    if holds {
                        self.serve(link.link(), arrival.at);
                    }
                    self.now = arrival.at;
                    self.go(arrival.place, link, arrival.at);
                }
            }
            if let Some(windows) = &mut self.windows {
                windows.sorter.give_back(arrivals);
            }
            if before == until {
                break;
            }
            from = before;
        }
        if timer <= until {
            // A window may end with a sample. Nothing happens after the end of the run.
            match until <= self.limits.end {
                true => self.act(id, until, Kind::Sample),
                false => self.act(id, self.limits.end, Kind::Start),
            };
        }
        if holds {
            self.serve(link.link(), until.min(self.limits.end));
        }
        self.advance_lanes(Some(id));
        until == end
    }

    /// Handles the arrivals at a station with two priorities, and the services that end by `until`.
    #[inline(never)]
    fn advance_express(&mut self, link: LinkId, mut arrivals: &[Arrival], until: Time) {
        while let Line::Express(express) = &mut self.wires[link].line {
            let (place, passed) = loop {
                let before = arrivals.first().map_or(until, |arrival| arrival.at);
                let end = express.next();
                if end <= before {
                    (self.now, self.events) = (end, self.events + 1);
                    let (place, sent) = express.follow(&self.pool);
                    break (place, Ok(sent));
                }
                let Some((&Arrival { at, place, .. }, others)) = arrivals.split_first() else {
                    return;
                };
                if let Some(later) = others.get(AHEAD - 1) {
                    self.pool.prepare_packet(later.place);
                }
                (self.now, arrivals) = (at, others);
                if let Some(passed) = express.offer(at, place, self.pool.packet(place)) {
                    break (place, passed);
                }
            };
            match passed {
                Ok(at) => {
                    let came = self.leaves(link, at);
                    self.glide_on(place, came);
                }
                Err(_) => self.lost(place),
            }
        }
    }

    /// Has the timer of a station run out as often as it does before an event of `kind` at `until`.
    /// Returns the time at which it runs out next.
    #[inline(never)]
    fn act(&mut self, id: usize, until: Time, kind: Kind) -> Time {
        while let Some(windows) = &mut self.windows {
            let station = &mut windows.stations[id];
            let at = station.timer;
            if (at, Kind::Discipline) >= (until, kind) {
                return at;
            }
            station.timer = Time::MAX;
            let link = station.link.link();
            self.serve(link, at);
            (self.now, self.events) = (at, self.events + 1);
            self.discipline(link);
        }
        Time::MAX
    }

    /// Has the lanes go on that a part feeds, as far as it knows what arrives there.
    fn advance_lanes(&mut self, part: Option<usize>) {
        for i in 0.. {
            let Some(windows) = &self.windows else {
                return;
            };
            let (clock, lanes) = match part {
                None => (windows.clock, &windows.lanes),
                Some(id) => (windows.stations[id].clock, &windows.stations[id].lanes),
            };
            let Some(lane) = lanes.get(i) else {
                return;
            };
            self.clear(lane.link, clock + lane.delay);
        }
    }

    /// Sends the packets that wait in a lane and whose service begins by `until`.
    pub fn clear(&mut self, link: LinkId, until: Time) {
        while let Line::Lane(lane) = &mut self.wires[link].line
            && let Some((place, sent)) = lane.begin(&self.pool, until, self.limits.end)
        {
            self.depart(link, place, sent);
        }
    }
}
