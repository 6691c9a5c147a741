//! Fluid flows in a scenario whose other flows are packets of another engine.
//!
//! This module integrates the queues of the links on the paths of fluid flows, from the fluid bytes
//! that arrive and the packet bytes that the other engine reports. For each step, the other engine
//! receives the backlog, the rate at which the fluid fills the queue, and the fraction of arrivals
//! that is dropped or marked ([`Shared`]). Windows set rates, as with `link_model = "integrator"`:
//! the model counts arriving bytes, and so can add those of packets.

use crate::error::{FluidError, MOST_WORK};
use crate::integrate::Integration;
use crate::model::Model;
use crate::queue::is_never;
use crate::record::Recorder;
use crate::run::step_of;
use accord_record::{FlowReading, LinkReading};
use accord_scenario::{Change, LinkId, LinkModel, Scenario};
use accord_units::{Bytes, Duration, Time};

/// The fluid flows of a scenario, in classes, before they run.
#[derive(Debug)]
pub struct Crowd<'s> {
    model: Model<'s>,
    step: f64,
    /// The times of starts and stops of flows, and of changes of the network.
    cuts: Vec<Time>,
}

impl<'s> Crowd<'s> {
    /// Groups identical fluid flows of a scenario into classes.
    ///
    /// # Errors
    /// Fails if there is no law for a controller or a discipline, if a link that packets share with the fluid
    /// changes, or if delays need more steps than is reasonable.
    pub fn new(scenario: &'s Scenario) -> Result<Crowd<'s>, FluidError> {
        let model = Model::of_fluid(scenario)?;
        for event in &scenario.events {
            if let Change::Rate(link, _) | Change::Delay(link, _) = event.change
                && model.queues.contains(&link)
            {
                let link = scenario.links[link].name.clone();
                return Err(FluidError::Changes { link });
            }
        }
        let mut cuts = vec![Time::ZERO];
        for class in &model.classes {
            cuts.push(class.start);
            cuts.extend(scenario.flows[class.members[0]].stop);
        }
        cuts.extend(scenario.events.iter().map(|e| e.at));
        cuts.sort_unstable();
        cuts.dedup();
        cuts.retain(|&cut| cut < scenario.end());
        let step = step_of(scenario, &model);
        let steps = scenario.duration.as_secs_f64() / step;
        let work = steps * (model.classes.len() + model.queues.len()) as f64;
        if work.is_nan() || work > MOST_WORK {
            let hint = "give fluid.step a larger value, or the run a shorter duration";
            return Err(FluidError::TooFine { step, work, hint });
        }
        Ok(Crowd { model, step, cuts })
    }

    /// Returns the links whose queues are integrated here, including those that packets share.
    pub fn links(&self) -> &[LinkId] {
        &self.model.queues
    }
}

/// The state of a link shared by packets and fluid, until the next step.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shared {
    /// The bytes queued.
    pub backlog: f64,
    /// The size of the buffer, in bytes.
    pub limit: f64,
    /// The fluid's arrival rate less the discipline's drops, in bytes per second.
    pub inflow: f64,
    /// The bytes that overflowed in the previous step, packets included.
    pub over: f64,
    /// The time over which packets take their fraction of the overflow, in seconds.
    pub memory: f64,
    /// The fraction of arrivals that the discipline drops, or marks where it can.
    pub judged: f64,
    /// True if the discipline marks capable packets.
    pub ecn: bool,
    /// The virtual delay of the discipline, in seconds.
    pub virtual_delay: f64,
}

/// A fluid during a run.
pub struct Background<'a> {
    crowd: &'a Crowd<'a>,
    state: Integration<'a, 'a>,
    recorder: Recorder,
    /// The steps up to the next cut or sample: start, end, number, and number taken.
    span: (Time, Time),
    count: u64,
    done: u64,
    next_cut: usize,
    sampled: Time,
    memory: f64,
    parts: Vec<Parts>,
    flows: Vec<Sums>,
    links: Vec<LinkSums>,
}

/// The fraction of arrivals that a queue's discipline drops or marks, taken over the latest step,
/// or over [`MEMORY`] packets if fewer arrived. Without that minimum, a step shorter than the
/// packet spacing would yield 0 or 1, depending on whether a packet arrived in it.
#[derive(Clone, Copy, Default)]
struct Parts {
    judged: f64,
    /// The bytes of packets that came in this step.
    arrived: f64,
}

/// The time over which packets take their fraction of the overflow, as a fraction of the shortest
/// round-trip time. Packets of a flow come in bursts, the fluid does not. Over a shorter time a
/// burst pays for its own overflow, so that packets lose more than the fluid. Over a longer time
/// the packets' losses come after those of the fluid.
const HALF: f64 = 0.5;

/// The minimum number of packets over which fractions are taken.
const MEMORY: f64 = 20.0;

impl Parts {
    /// Ends a step with `came` arrived bytes. The discipline judged the fraction `judged` of them.
    fn add(&mut self, came: f64, judged: f64, packet: f64) {
        let weight = -(-came / (MEMORY * packet)).exp_m1();
        self.judged += weight * (judged - self.judged);
    }
}

/// The bytes and packets of a flow of a class since the start of the run, and its latest state.
#[derive(Clone, Default)]
struct Sums {
    delivered: f64,
    lost: f64,
    losses: f64,
    reading: FlowReading,
}

/// The counts of a link since the start of the run.
#[derive(Clone, Default)]
struct LinkSums {
    offered: f64,
    drops: f64,
    marks: f64,
    judged: f64,
    reading: LinkReading,
}

impl<'a> Background<'a> {
    /// Creates the fluid at the start of a run.
    ///
    /// # Errors
    /// Fails if delays reach too far back for the shortest of them.
    pub fn new(crowd: &'a Crowd<'a>) -> Result<Background<'a>, FluidError> {
        let model = &crowd.model;
        let changes = model.scenario.events.iter().map(|e| e.at);
        let round_trips: Vec<f64> = std::iter::once(Time::ZERO)
            .chain(changes)
            .flat_map(|at| model.network(at).paths)
            .map(|p| p.base_rtt)
            .collect();
        let longest = round_trips.iter().copied().fold(0.0, f64::max);
        let shortest = round_trips.iter().copied().fold(f64::INFINITY, f64::min);
        let phases = crowd.cuts.len();
        let state = Integration::new(model, LinkModel::Integrator, longest, crowd.step, phases)?;
        let mut background = Background {
            crowd,
            state,
            recorder: Recorder::new(model, 0),
            span: (Time::ZERO, Time::ZERO),
            count: 0,
            done: 0,
            next_cut: 0,
            sampled: Time::ZERO,
            memory: HALF * shortest,
            parts: vec![Parts::default(); model.queues.len()],
            flows: vec![Sums::default(); model.classes.len()],
            links: vec![LinkSums::default(); model.queues.len()],
        };
        background.enter(Time::ZERO);
        Ok(background)
    }

    /// Enters the next phase of the scenario.
    fn enter(&mut self, now: Time) {
        let model = &self.crowd.model;
        if self.crowd.cuts.get(self.next_cut) != Some(&now) {
            return;
        }
        self.next_cut += 1;
        let network = model.network(now);
        self.recorder.enter(&network, now.as_secs_f64());
        self.state.enter(network, self.crowd.step);
        self.state.switch(model.running(now));
    }

    /// Returns the end of the next step, at most `sample`, the time of the next sample.
    pub fn next(&mut self, sample: Time) -> Time {
        let (from, to) = self.span;
        if self.done == self.count {
            let cut = self.crowd.cuts.get(self.next_cut);
            let end = cut.map_or(sample, |&cut| sample.min(cut));
            let seconds = end.since(to).as_secs_f64();
            self.span = (to, end);
            self.count = (seconds / self.crowd.step * (1.0 - 1e-12)).ceil().max(1.0) as u64;
            self.done = 0;
            return self.end(1);
        }
        debug_assert!(to <= sample && from < to);
        self.end(self.done + 1)
    }

    /// Returns the end of a step of the span.
    fn end(&self, step: u64) -> Time {
        let (from, to) = self.span;
        let whole = u128::from(to.since(from).as_ps()) * u128::from(step);
        from + Duration::from_ps((whole / u128::from(self.count)) as u64)
    }

    /// Takes the step that [`Background::next`] announced. `packets` has, for each link of
    /// [`Crowd::links`], the packet bytes that arrived since the previous step, and those that
    /// overflowed.
    pub fn step(&mut self, packets: impl Iterator<Item = (f64, f64)>) {
        for (q, (came, missed)) in packets.enumerate() {
            let queue = &mut self.state.queues[q];
            (queue.beside, queue.missed) = (came, missed);
            self.parts[q].arrived = came;
        }
        let (from, to) = self.span;
        let h = to.since(from).as_secs_f64() / self.count as f64;
        self.done += 1;
        let time = from.as_secs_f64() + self.done as f64 * h;
        self.state.step(time, h);
        for (q, parts) in self.parts.iter_mut().enumerate() {
            let queue = &self.state.queues[q];
            let came = parts.arrived + self.state.came_now(q);
            let judged = queue.dropped + queue.mark;
            parts.add(came, judged, self.crowd.model.packets[q]);
        }
        if self.done == self.count {
            self.enter(to);
        }
    }

    /// Returns the state of a link for packets, by its index in [`Crowd::links`].
    pub fn shared(&self, queue: usize) -> Shared {
        let (state, parts) = (&self.state.queues[queue], &self.parts[queue]);
        let enters = self.state.came_now(queue) * (1.0 - state.dropped);
        Shared {
            backlog: state.backlog,
            limit: self.crowd.model.buffer(queue),
            inflow: enters / self.state.clock.step(),
            over: state.over,
            memory: self.memory,
            judged: parts.judged,
            ecn: self.crowd.model.marks(queue),
            virtual_delay: state.discipline.virtual_delay(state.delay),
        }
    }

    /// Takes a sample at `now`, the end of the latest step.
    pub fn sample(&mut self, now: Time) {
        let period = now.since(self.sampled);
        self.sampled = now;
        let seconds = period.as_secs_f64();
        self.recorder.sample(&mut self.state, now.as_secs_f64());
        for (k, sums) in self.flows.iter_mut().enumerate() {
            let latest = self.recorder.latest_of_flow(k);
            sums.add(&latest, self.state.motion.sent[k], seconds);
        }
        for (q, sums) in self.links.iter_mut().enumerate() {
            let latest = self.recorder.latest_of_link(q);
            sums.add(&latest, self.state.queues[q].served, period);
        }
    }

    /// Returns the flows of each class, with the latest reading of one of them.
    pub fn classes(&self) -> impl Iterator<Item = (&[usize], FlowReading)> {
        let classes = self.crowd.model.classes.iter().zip(&self.flows);
        classes.map(|(class, sums)| (&class.members[..], sums.reading))
    }

    /// Returns the latest reading of a link, by its index in [`Crowd::links`].
    pub fn link(&self, queue: usize) -> LinkReading {
        self.links[queue].reading.clone()
    }

    /// Returns notes of a run: the classes, the step and the limits of the model.
    pub fn notes(&self) -> Vec<String> {
        let model = &self.crowd.model;
        let flows: usize = model.classes.iter().map(|k| k.members.len()).sum();
        let classes = model.classes.len();
        let mut notes = vec![format!(
            "fluid: {flows} flows in {classes} classes, in steps of {:.3e} s",
            self.crowd.step
        )];
        if model.widest > 1.0 {
            notes.push(format!(
                "fluid: flows whose round trips over empty queues differ by up to {:.1} % are one class, at their mean",
                100.0 * (model.widest - 1.0)
            ));
        }
        notes.extend(model.notes.iter().cloned());
        notes
    }

    /// Returns the bytes sent by a flow of each class.
    pub fn sent(&self) -> &[f64] {
        &self.state.motion.sent
    }
}

impl Sums {
    /// Adds the values of a sample, in the order of the recorder's.
    fn add(&mut self, latest: &[f64; 10], sent: f64, seconds: f64) {
        let [
            out,
            _,
            rate,
            window,
            rtt,
            min_rtt,
            queued,
            estimate,
            losses,
            lost,
        ] = *latest;
        let number = |v: f64| if v.is_nan() { 0.0 } else { v };
        let bytes = |v: f64| (!v.is_nan()).then(|| Bytes::from_f64(v));
        let span = |v: f64| (!v.is_nan() && !is_never(v)).then(|| Duration::from_secs_f64(v));
        self.delivered += number(out) * seconds / 8.0;
        self.lost += number(lost) * seconds / 8.0;
        self.losses += number(losses);
        self.reading = FlowReading {
            active: !rate.is_nan(),
            sent: sent as u64,
            delivered: self.delivered as u64,
            fresh: self.delivered as u64,
            losses: self.losses as u64,
            lost: self.lost as u64,
            accumulation: number(queued).max(0.0) as u64,
            cwnd: bytes(window),
            rtt: span(rtt),
            min_rtt: span(min_rtt),
            accumulation_estimate: (!estimate.is_nan()).then_some(estimate),
            ..FlowReading::default()
        };
    }
}

impl LinkSums {
    /// Adds the values of a sample, in the order of the recorder's.
    fn add(&mut self, latest: &[f64; 11], served: f64, period: Duration) {
        let [
            backlog,
            _,
            packets,
            longest,
            most,
            _,
            arrivals,
            drops,
            marks,
            judged,
            price,
        ] = *latest;
        let span = period.as_ps() as f64;
        self.offered += arrivals;
        self.drops += drops;
        self.marks += marks;
        self.judged += judged;
        let reading = &mut self.reading;
        reading.served = served;
        reading.offered = self.offered as u64;
        reading.drops = self.drops as u64;
        reading.marks = self.marks as u64;
        reading.judged = self.judged as u64;
        reading.longest = (most as u64, longest as u64);
        reading.packet_area += (packets * span) as u128;
        reading.area += (backlog * span) as u128;
        reading.price = Some(price);
    }
}
