//! Trials: test traffic of a class at a rate, which the other gateway counts. Steps of trials form
//! a service activation test, after ITU-T Y.1564.
//!
//! The packets are control messages of the size of the largest packet that the path takes. They wait in the
//! edge queue of the class like any other packet, and the other end drops them after counting. So the result
//! is that of a flow of a site. After a trial the sender asks for the counts repeatedly until they come. A
//! second of the same traffic is sent beforehand and is not counted.

use crate::config::OVERHEAD;
use crate::message::{Counts, Test};
use accord_units::{Bytes, Duration, Rate, Time};
use serde::Serialize;

/// The time of sending before counting begins. The start is not part of the trial.
const WARM: Duration = Duration::from_secs(1);
/// The trial number of packets that do not count.
const UNCOUNTED: u64 = 0;
/// The time from the last packet to the question for the counts, for packets that still wait on the
/// way.
const REST: Duration = Duration::from_secs(1);
/// The time from one question to the next, and the number of questions.
const AGAIN: Duration = Duration::from_ms(200);
const QUESTIONS: u32 = 20;
/// The longest trial.
pub const LONGEST: Duration = Duration::from_secs(3600);

/// The next action of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Queue a packet.
    Packet(Test),
    /// Ask for the counts of this trial.
    Ask(u64),
    /// Wait until then.
    Wait(Time),
}

/// The sending half of a trial.
#[derive(Clone, Debug)]
pub struct Trial {
    id: u64,
    /// The class of its packets.
    pub class: usize,
    rate: Rate,
    packet: Bytes,
    /// The time at which counting begins, and the end of sending.
    from: Time,
    until: Time,
    next: Time,
    sent: u64,
    /// The longest smoothed round-trip time during the trial.
    round_trip: Duration,
    /// The longest time by which a packet was queued late.
    late: Duration,
    questions: u32,
    counts: Option<Counts>,
}

/// The state of a trial.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrialStatus {
    /// The number of the trial.
    pub id: u64,
    /// True if the state is final.
    pub over: bool,
    /// The number of packets that were queued.
    pub sent_packets: u64,
    /// The number of packets that arrived, or `None` if the other gateway did not answer.
    pub arrived_packets: Option<u64>,
    /// The fraction of packets lost.
    pub loss_ratio: Option<f64>,
    /// The rate at which they arrived, in bytes per second on the wire.
    pub rate_bytes_per_s: Option<f64>,
    /// The mean one-way delay above the least, in seconds.
    pub delay_above_least_s: Option<f64>,
    /// The largest one-way delay above the least, in seconds.
    pub delay_variation_s: Option<f64>,
    /// The longest smoothed round-trip time during the trial, in seconds.
    pub round_trip_s: f64,
    /// The longest time by which this gateway queued a packet late, in seconds.
    pub late_s: f64,
}

impl Trial {
    /// Begins a trial. `packet` is the size on the wire.
    pub fn new(
        id: u64,
        class: usize,
        rate: Rate,
        packet: Bytes,
        length: Duration,
        now: Time,
    ) -> Trial {
        Trial {
            id,
            class,
            rate,
            packet,
            from: now + WARM,
            until: now + WARM + length,
            next: now,
            sent: 0,
            round_trip: Duration::ZERO,
            late: Duration::ZERO,
            questions: 0,
            counts: None,
        }
    }

    /// The length of its packets inside the tunnel, in bytes.
    pub fn length(&self) -> usize {
        self.packet.get().saturating_sub(OVERHEAD) as usize
    }

    /// Returns the action at `now`. `round_trip` is the smoothed round-trip time.
    pub fn next(&mut self, round_trip: Duration, now: Time) -> Step {
        if self.is_over() {
            return Step::Wait(Time::MAX);
        }
        if now < self.next {
            return Step::Wait(self.next);
        }
        if self.next < self.until {
            self.round_trip = self.round_trip.max(round_trip);
            let counts = self.next >= self.from;
            if counts {
                self.late = self.late.max(now.since(self.next));
            }
            let test = Test {
                trial: if counts { self.id } else { UNCOUNTED },
                sent: now.as_ps(),
                index: self.sent,
            };
            self.sent += u64::from(counts);
            self.next += self.rate.transmission(self.packet);
            if self.next >= self.until {
                self.next = self.until + REST;
            }
            return Step::Packet(test);
        }
        self.questions += 1;
        self.next = now + AGAIN;
        Step::Ask(self.id)
    }

    /// Takes the counts of the other end.
    pub fn on_counts(&mut self, counts: &Counts) {
        if counts.trial == self.id && self.next >= self.until {
            self.counts = Some(*counts);
        }
    }

    fn is_over(&self) -> bool {
        self.counts.is_some() || self.questions > QUESTIONS
    }

    /// The state of the trial.
    pub fn status(&self) -> TrialStatus {
        let arrived = self.counts.map(|c| u64::from(c.packets));
        let seconds = self.sent as f64 * self.rate.transmission(self.packet).as_secs_f64();
        let rate = |n: u64| n as f64 * self.packet.as_f64() / seconds.max(1e-9);
        let lost = |n: u64| 1.0 - n.min(self.sent) as f64 / self.sent.max(1) as f64;
        TrialStatus {
            id: self.id,
            over: self.is_over(),
            sent_packets: self.sent,
            arrived_packets: arrived,
            loss_ratio: arrived.map(lost),
            rate_bytes_per_s: arrived.map(rate),
            delay_above_least_s: self.counts.map(|c| f64::from(c.mean)),
            delay_variation_s: self.counts.map(|c| f64::from(c.most)),
            round_trip_s: self.round_trip.as_secs_f64(),
            late_s: self.late.as_secs_f64(),
        }
    }
}

/// The receiving half: the arrivals of the latest trial.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    trial: u64,
    packets: u32,
    /// The least, the sum and the largest of raw one-way delays in seconds, relative to the first, because
    /// the clocks have no common zero.
    first: i64,
    least: f64,
    sum: f64,
    most: f64,
}

impl Tally {
    /// Takes a packet that arrived.
    pub fn on_test(&mut self, test: &Test, at: Time) {
        let raw = at.as_ps().wrapping_sub(test.sent) as i64;
        if self.trial != test.trial {
            *self = Tally { trial: test.trial, first: raw, ..Tally::default() };
        }
        let above = raw.wrapping_sub(self.first) as f64 * 1e-12;
        self.packets = self.packets.saturating_add(1);
        self.least = self.least.min(above);
        self.most = self.most.max(above);
        self.sum += above;
    }

    /// Returns the counts of a trial.
    pub fn counts(&self, trial: u64) -> Counts {
        if trial != self.trial || self.packets == 0 {
            return Counts { trial, packets: 0, mean: 0.0, most: 0.0 };
        }
        let mean = self.sum / f64::from(self.packets) - self.least;
        let bounded = |seconds: f64| seconds.clamp(0.0, 60.0) as f32;
        Counts {
            trial,
            packets: self.packets,
            mean: bounded(mean),
            most: bounded(self.most - self.least),
        }
    }
}
