//! Shared by the tests of controllers.
#![allow(dead_code, reason = "each test file uses its own part")]

use accord_control::{Acked, AnyController, Congestion, Controller, FAMILIES, PathView};
use accord_family::{Family, Raw, Values};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// The packet of all these tests.
pub const PACKET: u64 = 1000;

pub fn family(name: &str) -> &'static Family {
    FAMILIES.iter().find(|f| f.name == name).expect("known")
}

pub fn text(s: &str) -> Raw {
    Raw::Text(s.into())
}

/// The family's parameters with some of them changed; checked as a scenario's are.
pub fn values(name: &str, changes: &[(&str, Raw)]) -> Values {
    let mut values = family(name).defaults();
    for (param, raw) in changes {
        values.set(param, raw).expect("in range");
    }
    (family(name).check)(&values).expect("consistent");
    values
}

pub fn build(name: &str, changes: &[(&str, Raw)]) -> AnyController {
    AnyController::build(&values(name, changes), Bytes::new(PACKET))
}

/// A path with `in_flight` packets in flight.
pub fn path(in_flight: u64) -> PathView {
    PathView {
        packet: Bytes::new(PACKET),
        srtt: Duration::from_ms(100),
        rtt: Duration::from_ms(100),
        min_rtt: Duration::from_ms(100),
        in_flight: Bytes::new(in_flight * PACKET),
        sent_in_round: Bytes::ZERO,
        had_too_little: false,
        delivery_rate: Rate::ZERO,
    }
}

/// The acknowledgement of one packet, within a round.
pub const ACK: Acked = Acked {
    bytes: Bytes::new(PACKET),
    rtt: Some(Duration::from_ms(100)),
    round_ended: false,
    window_limited: true,
    in_recovery: false,
    marked: 0,
};

/// The window in packets.
pub fn window(c: &AnyController) -> f64 {
    c.allowance().window.as_f64() / PACKET as f64
}

/// An ideal path: one queue without limit that serves a packet in 1 ms, then a delay.
/// Only the controller under test sends on it, always as much as it may.
pub struct Fifo {
    pub controller: AnyController,
    pub now: Time,
    /// Round trip without queuing, transmission not included.
    pub propagation: Duration,
    /// Packets queued for others, which the next packet has to wait for.
    pub cross: u64,
    /// Queuing behind others that goes on for ever.
    pub standing: Duration,
    free: Time,
    /// Sent at, back at.
    flying: VecDeque<(Time, Time)>,
    round_began: Time,
}

impl Fifo {
    pub const SERVICE: Duration = Duration::from_ms(1);

    pub fn new(controller: AnyController, propagation: Duration) -> Fifo {
        Fifo {
            controller,
            now: Time::ZERO,
            propagation,
            cross: 0,
            standing: Duration::ZERO,
            free: Time::ZERO,
            flying: VecDeque::new(),
            round_began: Time::ZERO,
        }
    }

    fn send(&mut self) {
        while self.flying.len() < window(&self.controller) as usize {
            let start = self.free.max(self.now) + Fifo::SERVICE * std::mem::take(&mut self.cross);
            self.free = start + Fifo::SERVICE;
            self.flying.push_back((self.now, self.free + self.propagation + self.standing));
        }
    }

    /// Until the next acknowledgement has been taken; `true` when it ended a round.
    pub fn step(&mut self) -> bool {
        self.send();
        let (sent, back) = self.flying.pop_front().expect("a window of one at least");
        // A path that got shorter does not reorder.
        self.now = back.max(self.now);
        let round_ended = sent >= self.round_began;
        if round_ended {
            self.round_began = self.now;
        }
        let rtt = self.now.since(sent);
        let ack = Acked { rtt: Some(rtt), round_ended, ..ACK };
        let view = PathView { srtt: rtt, rtt, ..path(self.flying.len() as u64) };
        self.controller.on_ack(&ack, &view, self.now);
        self.send();
        round_ended
    }

    /// Runs `n` rounds. Returns the window in packets after each.
    pub fn rounds(&mut self, n: usize) -> Vec<f64> {
        let mut windows = Vec::new();
        while windows.len() < n {
            if self.step() {
                windows.push(window(&self.controller));
            }
        }
        windows
    }
}

/// A path that gives a window back in every round trip, evenly, whatever the window: the
/// round-trip time of the models that relate windows to loss.
pub struct Paced {
    pub controller: AnyController,
    pub now: Time,
    rtt: Duration,
}

impl Paced {
    pub fn new(controller: AnyController, rtt: Duration) -> Paced {
        let now = Time::ZERO;
        Paced { controller, now, rtt }
    }

    fn view(&self) -> PathView {
        PathView {
            srtt: self.rtt,
            rtt: self.rtt,
            min_rtt: self.rtt,
            in_flight: self.controller.cwnd(),
            ..path(0)
        }
    }

    /// One packet is acknowledged.
    pub fn step(&mut self) {
        self.now += Duration::from_secs_f64(self.rtt.as_secs_f64() / window(&self.controller));
        let ack = Acked { rtt: Some(self.rtt), ..ACK };
        self.controller.on_ack(&ack, &self.view(), self.now);
    }

    pub fn until(&mut self, end: Time) {
        while self.now < end {
            self.step();
        }
    }

    /// A packet is lost.
    pub fn lose(&mut self) {
        let view = self.view();
        self.controller.on_congestion(Congestion::Loss, &view, self.now);
    }

    /// The window over time, in packets, when one packet of each `every` is lost: the mean
    /// of the second half of `losses` losses.
    pub fn mean_window(&mut self, every: u64, losses: u64) -> f64 {
        let mut began = self.now;
        for loss in 0..losses {
            if loss == losses / 2 {
                began = self.now;
            }
            (0..every).for_each(|_| self.step());
            self.lose();
        }
        // As many packets as a window in each round trip.
        let round_trips = self.now.since(began).as_secs_f64() / self.rtt.as_secs_f64();
        (every * (losses - losses / 2)) as f64 / round_trips
    }
}
