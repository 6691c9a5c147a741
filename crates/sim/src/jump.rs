//! Observation of steady states, and jumps over time without changes (`skip.rs`).

use crate::calendar::EventKind;
use crate::core::{Core, Limits};
use crate::flow::Flow;
use crate::gauge::Links;
use crate::skip::Skip;
use crate::steady::{Readings, Steadiness};
use accord_scenario::{Entity, LinkId, Metric, State, Window};
use accord_traffic::Demand;
use accord_units::{Duration, Time};

/// The largest relative distance from theory.
const NEAR: f64 = 0.05;
/// The least number of samples for the means of a jump.
const SAMPLES: usize = 4;
/// The number of round trips between the end of a jump and the next event.
const ROUND_TRIPS: u64 = 4;
/// The resolution of backlogs, in packets.
const FEW_PACKETS: f64 = 10.0;

impl Core<'_> {
    /// Takes a reading of all observed quantities, if one is due.
    pub fn watch(&mut self, links: &mut dyn Links) {
        let Some(mut skip) = self.skip.take_if(|skip| skip.next == self.now) else {
            return;
        };
        if skip.passes_edge(self.reported(self.now)) {
            self.restart_observation(&mut skip, links);
        } else {
            self.read(&mut skip, links);
            // All quantities have the same number of readings.
            let any = |is: fn(&Readings) -> bool| skip.watched.iter().any(|w| is(&w.readings));
            let (enough, full) = (any(Readings::are_enough), any(Readings::are_full));
            if enough {
                self.judge(&mut skip);
            }
            if full {
                skip.period += skip.period;
                for watched in &mut skip.watched {
                    watched.readings.thin_out();
                    watched.drops.thin_out();
                }
                skip.next = self.now + skip.period;
            }
        }
        self.await_reading(&skip);
        self.skip = Some(skip);
    }

    /// Begins the observation.
    pub fn begin_to_watch(&mut self, links: &mut dyn Links) {
        if let Some(mut skip) = self.skip.take() {
            skip.passes_edge(self.now);
            self.restart_observation(&mut skip, links);
            self.await_reading(&skip);
            self.skip = Some(skip);
        }
    }

    /// Restarts the observation.
    fn restart_observation(&mut self, skip: &mut Skip, links: &mut dyn Links) {
        skip.settled = None;
        skip.period = skip.shortest;
        for watched in &mut skip.watched {
            watched.readings.clear();
            watched.drops.clear();
        }
        self.read(skip, links);
    }

    fn await_reading(&mut self, skip: &Skip) {
        self.calendar.push(skip.next, EventKind::Watch, 0);
        self.limits = Limits::new(self.limits.end, self.next_sample.min(skip.next));
    }

    fn read(&mut self, skip: &mut Skip, links: &mut dyn Links) {
        let now = self.now;
        links.settle(now);
        for watched in &mut skip.watched {
            let sum = match watched.entity {
                Entity::Link(id) => {
                    let port = links.port(id);
                    port.advance(now);
                    let dropped = port.counters().dropped().packets;
                    watched.drops.add(dropped as f64);
                    port.area(now).bytes as f64 * 1e-12
                }
                _ => {
                    let flows = self.flows[watched.flows.clone()].iter_mut();
                    let delivered = flows.map(|flow| {
                        flow.deliver_until(now);
                        flow.delivered.bytes
                    });
                    delivered.sum::<u64>() as f64
                }
            };
            watched.readings.add(sum);
        }
        skip.next = now + skip.period;
    }

    /// Judges whether all observed quantities are steady.
    fn judge(&self, skip: &mut Skip) {
        let readings = skip.watched.first().map_or(0, |w| w.readings.len());
        let window = skip.period * (readings / 2) as u64;
        match self.unsettled(skip, window) {
            Some(why) => (skip.settled, skip.why) = (None, why),
            None => {
                skip.settled = Some(before(self.now, window));
                skip.why = "no time was left before the next event".into();
            }
        }
    }

    /// Returns the reason, if any, why time cannot be skipped. `window` is the length of the later
    /// half of the observation.
    fn unsettled(&self, skip: &Skip, window: Duration) -> Option<String> {
        let busy = (0..self.flows.len()).filter(|&id| is_busy(&self.flows[id], id, &self.state));
        let mut works = vec![false; self.flows.len()];
        for id in busy {
            works[id] = true;
            if let Some(what) = uncertain(self.state.demand(id)) {
                return Some(format!("{} is {what}", self.scenario.flows[id].name));
            }
        }
        let now = self.reported(self.now);
        let phase =
            Window { start: before(now, window), end: skip.edges.last().copied().unwrap_or(now) };
        let memory = self.memory(&works);
        if window < memory {
            return Some(format!(
                "at {now} the observation spanned {window}, less than the memory of {memory}"
            ));
        }
        let longer = phase.end.since(now).as_secs_f64() / window.as_secs_f64().max(1e-12);
        for watched in &skip.watched {
            let name = watched.name(self.scenario);
            let is_link = matches!(watched.entity, Entity::Link(_));
            let (what, grain) = if is_link {
                ("the backlog of", FEW_PACKETS * skip.packet)
            } else {
                ("the rate of", skip.packet / skip.period.as_secs_f64())
            };
            if let Entity::Link(id) = watched.entity
                && self.fills(id, &works)
                && watched.drops.recent() == 0.0
            {
                return Some(format!("at {now} {name} was overloaded, and its queue had room"));
            }
            let percent = |part: f64| format!("{:.1} %", 100.0 * part);
            let mean = match (watched.readings).judge(skip.period.as_secs_f64(), grain, longer) {
                Steadiness::Settled(mean) => mean,
                Steadiness::Drifts(drift) => {
                    let drift = percent(drift);
                    return Some(format!("at {now} {what} {name} drifted by {drift} per jump"));
                }
                Steadiness::Varies(part) => {
                    let part = percent(part);
                    return Some(format!(
                        "at {now} {what} {name} varied so much that a drift of {part} in {window} \
                         could go unseen"
                    ));
                }
            };
            if is_link {
                continue;
            }
            if mean <= 0.0 && works[watched.flows.clone()].contains(&true) {
                return Some(format!("at {now} {name} had data and delivered none"));
            }
            let theory =
                skip.theory.and_then(|run| run.mean(Metric::Throughput, watched.entity, phase));
            if let Some(expected) = theory
                && (8.0 * mean - expected).abs() > NEAR * expected
            {
                let off = percent((8.0 * mean - expected) / expected);
                return Some(format!("at {now} {what} {name} differed from theory by {off}"));
            }
        }
        None
    }

    /// Returns true if open-loop sources offer a link at least its rate.
    fn fills(&self, link: LinkId, works: &[bool]) -> bool {
        let open = (0..self.flows.len()).filter(|&id| works[id] && self.flows[id].sender.is_open());
        let comes = open.filter(|&id| self.state.path(id).contains(&link));
        let load: f64 = comes.filter_map(|id| self.state.demand(id).mean_rate()).sum();
        load > 0.0 && load >= self.state.rate[link].as_bps_f64()
    }

    /// Returns the longest memory of an active controller, or the longest time that a token bucket
    /// takes to fill, whichever is longer.
    fn memory(&self, works: &[bool]) -> Duration {
        let flows = self.flows.iter().zip(works).filter(|(_, works)| **works);
        let remembered = flows.map(|(flow, _)| flow.sender.memory());
        let parts = self.scenario.links.iter().filter_map(|l| l.parts.as_deref());
        let buckets = parts.flat_map(|parts| [parts.policer, parts.shaper]);
        let filled = buckets.flatten().map(|b| b.rate.transmission(b.burst));
        remembered.chain(filled).max().unwrap_or_default()
    }

    /// Jumps at a sample if all observed quantities are steady.
    pub fn skip_steady(&mut self, links: &mut dyn Links) {
        let Some(mut skip) = self.skip.take() else {
            return;
        };
        let now = self.reported(self.now);
        if skip.passes_edge(now) || self.jump(&mut skip, now) {
            self.restart_observation(&mut skip, links);
            self.await_reading(&skip);
        }
        self.skip = Some(skip);
    }

    fn jump(&mut self, skip: &mut Skip, now: Time) -> bool {
        let (Some(since), Some(edge)) = (skip.settled, skip.edges.last()) else {
            return false;
        };
        let since = self.reported(since);
        if self.recorder.samples_since(since) < SAMPLES {
            return false;
        }
        let until = before(*edge, self.longest_round_trip() * ROUND_TRIPS);
        let end = self.recorder.repeat(since, until);
        let by = end.since(now);
        if by.is_zero() {
            return false;
        }
        self.ahead += by;
        self.limits.end = before(self.limits.end, by);
        self.calendar.bring_forward(by);
        self.digest.skipped(now, by);
        skip.jumps.push(Window { start: now, end });
        true
    }

    /// Returns the longest round-trip time of a flow.
    fn longest_round_trip(&self) -> Duration {
        let base = |id: LinkId| self.state.base_rtt(id);
        let round_trips = self.flows.iter().enumerate();
        let round_trips =
            round_trips.map(|(id, f)| f.sender.view().rtt.unwrap_or_default().max(base(id)));
        round_trips.max().unwrap_or_default()
    }
}

/// Returns the time that is `span` before `time`.
fn before(time: Time, span: Duration) -> Time {
    Time::ZERO + (time.since_start() - span)
}

/// Returns true if a flow has, or may soon have, data to send or in flight.
fn is_busy(flow: &Flow, id: usize, network: &State) -> bool {
    let session = &flow.session;
    let done = match network.demand(id) {
        Demand::Size(_) => !session.is_transferring(),
        _ => session.is_stopped(),
    };
    session.is_started() && (!done || flow.in_network() > 0)
}

/// Returns the name of the application if its demand is not stationary.
fn uncertain(demand: Demand) -> Option<&'static str> {
    match demand {
        Demand::Greedy | Demand::Constant(_) | Demand::Poisson(_) => None,
        Demand::Size(_) => Some("a transfer"),
        Demand::OnOff { .. } => Some("an on-off source"),
        Demand::Web(_) => Some("a web user"),
        Demand::Media(_) => Some("a video"),
    }
}
