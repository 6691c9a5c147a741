//! The sender's half of accumulation-based congestion control on a tunnel: an estimate
//! comes back once per round trip, a policy moves the window, and the window gives the rate
//! [Xia05 §IV-B.2, Har02 algorithm 1].
//!
//! Departures from the source, all under [`Clocking::Egress`]; [`Clocking::Paced`] has none:
//! - The rate is not cwnd / rtt. With it a queue integrates a rate that is one round trip
//!   old, and 0.5 is nearly the gain at which that oscillates. See [`Acc::egress_clocked`].
//! - Slow start ends at the window for which the queuing delay in hand gives the target,
//!   not one doubling after it, and sends at most [`PROBE`] times as fast as what it sent
//!   before came out. Twenty flows that start together then lose nothing at Xia05 figure 6.

use crate::service::Held;
use crate::{Acked, Allowance, Congestion, Controller, PathView, Policy, Report};
use accord_units::{Bytes, Duration, Rate, Service, Time};

/// How the window governs what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocking {
    /// As printed: the rate is cwnd / rtt.
    Paced,
    /// The rate is that at which data leaves the network, corrected so that the window is
    /// what is in flight, as acknowledgements clock a window.
    Egress,
}

/// Slow start sends so many times as fast as data arrived over the last round trip: more
/// than 1, or it would never grow; less than 2, or many flows fill a buffer in one round.
const PROBE: f64 = 1.5;

/// Part of a wrong amount in flight that is put right in each round trip. The egress rate is
/// a mean over four round trips, and correcting faster than it follows oscillates.
const CORRECTION: f64 = 0.25;

/// Keeps accumulation at a target.
#[derive(Clone, Debug)]
pub struct Acc {
    policy: Policy,
    clocking: Clocking,
    /// Target accumulation a* in bytes, of a flow of weight 1.
    target: f64,
    service: Held,
    packet: f64,
    cwnd: f64,
    ssthresh: f64,
    /// Sending rate in bytes per second; before the first report one packet a second.
    rate: f64,
    /// Rate as a fraction of what the window gives; below one only in the low-rate regime.
    slowdown: f64,
    estimate: f64,
}

impl Acc {
    /// Starts with a window of one packet, in slow start.
    pub fn new(policy: Policy, clocking: Clocking, target: f64, packet: Bytes) -> Acc {
        Acc {
            policy,
            clocking,
            target,
            service: Held::default(),
            packet: packet.as_f64(),
            cwnd: packet.as_f64(),
            ssthresh: f64::INFINITY,
            rate: packet.as_f64(),
            slowdown: 1.0,
            estimate: 0.0,
        }
    }

    /// Moves the window. Steps as numbered in Har02 algorithm 1. Step (2), the rate, is here
    /// what the receiver measures.
    fn move_window(&mut self, report: &Report, path: &PathView) {
        let a = report.accumulation; // (1)
        self.estimate = a;
        if report.lost {
            self.halve();
            self.low_rate(true);
            return;
        }
        let sent = path.sent_in_round.as_f64();
        let pwnd = if sent + self.packet >= self.cwnd {
            self.cwnd
        } else {
            sent
        }; // (4)
        let mu = report.egress_rate.as_bps_f64() / 8.0; // (2)
        let excess = self.service.excess(a, self.target, mu); // (3)
        let step = self.policy.step(excess, self.cwnd, path.min_rtt);
        self.cwnd = (self.cwnd + step.min(self.packet)).max(self.packet); // (5)
        let congested = excess > 0.0;
        if congested {
            self.ssthresh = self.cwnd; // (6)
        } else {
            if pwnd + self.packet >= self.ssthresh {
                self.ssthresh = self.ssthresh.max(self.cwnd); // (7.1)
            }
            let full = self.full_window(report, path);
            if full < 2.0 * pwnd {
                self.ssthresh = self.ssthresh.min(self.cwnd.max(full));
            }
            self.cwnd = self.cwnd.max((2.0 * pwnd).min(self.ssthresh)); // (7.2)
        }
        self.low_rate(congested);
    }

    /// The window without excess, were the queuing delay to stay what it is: the target over
    /// the delay is a rate, by Little's law.
    fn full_window(&self, report: &Report, path: &PathView) -> f64 {
        let egress = report.egress_rate.as_bps_f64() / 8.0;
        let delay = report.accumulation / egress;
        match self.clocking {
            Clocking::Egress if delay > 0.0 => {
                self.service.rate(self.target, delay) * path.rtt.as_secs_f64()
            }
            _ => f64::INFINITY,
        }
    }

    /// The rate until the next report, given the window `before` this one.
    fn set_rate(&mut self, before: f64, report: &Report, path: &PathView) {
        let even = self.cwnd / path.rtt.as_secs_f64(); // (8)
        let rate = match self.clocking {
            Clocking::Paced => even,
            Clocking::Egress if self.ssthresh.is_infinite() => {
                match path.delivery_rate.as_bps_f64() / 8.0 {
                    0.0 => even,
                    delivered => even.min(PROBE * delivered),
                }
            }
            Clocking::Egress => self.egress_clocked(before, report, path),
        };
        self.rate = self.slowdown * rate;
    }

    /// What an acknowledgement clock does, from one report per round trip. A sender with a
    /// window sends as data leaves, and more by as much as its window grows: its queue
    /// changes with its window only, not with its rate. The rate that data leaves at is here
    /// a mean, so what is in flight drifts from the window, and is led back slowly.
    fn egress_clocked(&self, before: f64, report: &Report, path: &PathView) -> f64 {
        let rtt = path.rtt.as_secs_f64();
        let even = self.cwnd / rtt;
        let egress = report.egress_rate.as_bps_f64() / 8.0;
        let growth = self.cwnd - before;
        let missing = before - path.in_flight.as_f64();
        (egress + (growth + CORRECTION * missing) / rtt).clamp(even / 2.0, even * 2.0)
    }

    /// Halves the window, which ends slow start.
    fn halve(&mut self) {
        self.cwnd = (self.cwnd / 2.0).max(self.packet);
        self.ssthresh = self.cwnd;
    }

    /// Below one packet per round trip the rate is halved instead [Har02 §V-A].
    fn low_rate(&mut self, congested: bool) {
        let at_floor = self.cwnd <= self.packet;
        self.slowdown = if at_floor && congested {
            (self.slowdown / 2.0).max(1e-3)
        } else {
            1.0
        };
    }
}

impl Controller for Acc {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {
        self.halve();
        self.rate /= 2.0;
    }

    fn on_report(&mut self, report: &Report, path: &PathView, _: Time) {
        let before = self.cwnd;
        self.move_window(report, path);
        self.set_rate(before, report, path);
    }

    fn set_service(&mut self, service: &Service) {
        self.service = Held::new(service);
    }

    fn allowance(&self) -> Allowance {
        Allowance {
            window: self.cwnd(),
            // Never so slow that it stops.
            pacing: Some(Rate::from_bps_f64((8.0 * self.rate).max(1.0))),
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh
            .is_finite()
            .then(|| Bytes::from_f64(self.ssthresh))
    }

    fn cwnd(&self) -> Bytes {
        Bytes::from_f64(self.cwnd)
    }

    fn accumulation_estimate(&self) -> Option<f64> {
        Some(self.estimate)
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        None
    }
}
