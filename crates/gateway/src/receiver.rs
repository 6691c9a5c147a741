//! The receiving half of a tunnel: it measures what arrives, and answers each pair.
//!
//! What is queued in the network is known in two ways. Where the path forwards EF first, it is the
//! distance of the two halves of a pair [Xia05 §IV-B.1]: no clock is needed. Where all packets wait in
//! one queue, both halves wait alike, and their distance is nothing. Then it is the one-way delay
//! above its floor. Which is the case shows whenever something is queued: the out-of-band half has
//! waited as long as the in-band half, or it has not. Until something was queued the delay is taken,
//! which is right in both cases as long as the floor is known.

use crate::config::Signal;
use crate::floor::Floor;
use crate::message::{Answer, Half};
use accord_control::Meter;
use accord_transport::Segment;
use accord_transport::tunnel::Egress;
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// The out-of-band halves that are remembered.
const MOST_OUT: usize = 64;
/// The delay of an in-band half from which on the two halves can be told apart.
const TELLING: Duration = Duration::from_us(500);
/// The weight of what was seen before, for each pair that tells something.
const MEMORY: f64 = 0.9;
/// The pairs, the latest counting most, that show something together.
const ENOUGH: f64 = 3.0;
/// The distance of the halves as a part of the in-band half's delay: above the first the path forwards
/// EF first, below the second it does not.
const OVERTAKES: f64 = 0.5;
const WAITS: f64 = 0.2;
/// The mean distance of halves that wait in one queue is shorter than this. It is longer where they
/// do not and the delay grew for another reason, such as a longer route.
const TOGETHER: f64 = 250e-6;

/// What pairs have shown of late that found something queued.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    /// The seconds between their halves.
    distance: f64,
    /// The seconds above the floor of their in-band halves.
    above: f64,
    /// The number of pairs.
    pairs: f64,
}

/// The receiving half of a tunnel.
#[derive(Debug)]
pub struct Receiver {
    meter: Meter,
    egress: Egress,
    /// The run of the sender.
    run: Option<u32>,
    /// What the sender counts in addition to what was counted here. It is known from the first pair on.
    offset: Option<u64>,
    configured: Signal,
    by_delay: bool,
    shown: Shown,
    floor: Floor,
    /// The floor before the route is taken to have changed, until that shows.
    before: Option<Floor>,
    out: VecDeque<(u64, Time)>,
    /// The queuing delay of the latest pair.
    queued: Duration,
    pairs: u64,
}

impl Receiver {
    /// Creates a receiver that has received nothing. `meter` is that of the controller's family.
    pub fn new(meter: Meter, signal: Signal) -> Receiver {
        Receiver {
            egress: Egress::new(meter.clone()),
            meter,
            run: None,
            offset: None,
            configured: signal,
            by_delay: true,
            shown: Shown::default(),
            floor: Floor::default(),
            before: None,
            out: VecDeque::new(),
            queued: Duration::ZERO,
            pairs: 0,
        }
    }

    /// Sets the signal to go by.
    pub fn set_signal(&mut self, signal: Signal) {
        self.configured = signal;
    }

    /// Takes data that arrived.
    pub fn on_data(&mut self, size: Bytes, at: Time) {
        self.egress.on_data(size, at);
    }

    /// Takes the out-of-band half of a pair.
    pub fn on_out_of_band(&mut self, half: &Half, at: Time) {
        self.begin_run(half.run);
        self.floor.observe(raw(half, at), at);
        if self.out.len() == MOST_OUT {
            self.out.pop_front();
        }
        self.out.push_back((half.number, at));
    }

    /// Takes the in-band half of a pair. Returns the report to send back.
    pub fn on_in_band(&mut self, half: &Half, sent_bytes: u64, at: Time) -> Option<Answer> {
        self.begin_run(half.run);
        let above = self.floor.observe(raw(half, at), at);
        let first = self.out.iter().find(|(number, _)| *number == half.number);
        let distance = first.map(|(_, out)| at.since(*out));
        self.choose(distance, above);
        let queued = match distance {
            Some(distance) if !self.by_delay => distance,
            // The other half was lost, or the distance says nothing.
            _ => above,
        };
        self.queued = queued;
        let mut answer = Answer {
            run: half.run,
            number: half.number,
            received: 0,
            accumulation: 0.0,
            egress_bps: 0.0,
            queued: queued.as_secs_f64().min(60.0) as f32,
            lost: false,
            by_delay: self.by_delay,
        };
        if half.number == 0 {
            // A probe of a tunnel that has nothing to send.
            self.out.retain(|(number, _)| *number != 0);
            return Some(answer);
        }
        self.out.retain(|(number, _)| *number > half.number);
        // What was lost before the first pair is not known.
        let counted = self.egress.received().get();
        let offset = *self.offset.get_or_insert(sent_bytes.wrapping_sub(counted));
        // The meter's pair is one whose halves are as far apart as the signal says.
        let out = Time::from_ps(at.as_ps().saturating_sub(queued.as_ps()));
        self.egress.on_out_of_band(half.number, out);
        let sent = sent_bytes.wrapping_sub(offset);
        let reply = (self.egress).on_in_band(half.number, sent, Duration::ZERO, None, at)?;
        let Segment::Report {
            accumulation,
            lost,
            egress_bps,
            received,
            ..
        } = reply
        else {
            return None;
        };
        self.pairs += 1;
        answer.received = received.wrapping_add(offset);
        answer.accumulation = accumulation;
        answer.egress_bps = egress_bps;
        answer.lost = lost;
        Some(answer)
    }

    /// Finds out whether the path honours EF.
    fn choose(&mut self, distance: Option<Duration>, above: Duration) {
        match self.configured {
            Signal::Delay => self.by_delay = true,
            Signal::Pairs => self.by_delay = false,
            Signal::Auto => {
                if let Some(distance) = distance.filter(|_| above >= TELLING) {
                    self.learn(distance, above);
                }
            }
        }
    }

    fn learn(&mut self, distance: Duration, above: Duration) {
        let shown = &mut self.shown;
        shown.distance = MEMORY * shown.distance + distance.as_secs_f64();
        shown.above = MEMORY * shown.above + above.as_secs_f64();
        shown.pairs = MEMORY * shown.pairs + 1.0;
        if shown.pairs < ENOUGH {
            return;
        }
        let part = shown.distance / shown.above;
        if part > OVERTAKES {
            (self.by_delay, self.before) = (false, None);
        } else if part < WAITS && shown.distance / shown.pairs < TOGETHER && !self.by_delay {
            // The halves are late together: they wait in one queue, or the route has got longer. A new
            // floor tells: on another route the next queue is one that they are apart in.
            self.shown = Shown::default();
            match self.before.take() {
                None => self.before = Some(std::mem::take(&mut self.floor)),
                Some(floor) => (self.by_delay, self.floor) = (true, floor),
            }
        }
    }

    /// Forgets the numbers of another run of the sender. The path is the same one.
    fn begin_run(&mut self, run: u32) {
        if self.run != Some(run) {
            self.run = Some(run);
            self.offset = None;
            self.egress = Egress::new(self.meter.clone());
            (self.floor, self.before) = (Floor::default(), None);
            self.out.clear();
        }
    }

    /// The signal in use.
    pub fn signal(&self) -> Signal {
        match self.by_delay {
            true => Signal::Delay,
            false => Signal::Pairs,
        }
    }

    /// The queuing delay that the latest pair found.
    pub fn queued(&self) -> Duration {
        self.queued
    }

    /// The number of pairs that were answered.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }
}

/// The raw one-way delay of a half: the difference of the two clocks, which have no common zero.
fn raw(half: &Half, at: Time) -> i64 {
    at.as_ps().wrapping_sub(half.sent) as i64
}
