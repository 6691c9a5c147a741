//! The sender's half of accumulation-based congestion control on a tunnel: an estimate
//! comes back once per round trip, a policy moves the window, the window over the
//! round-trip time is the rate [Xia05 §IV-B.2, Har02 algorithm 1].

use crate::{Acked, Allowance, Congestion, Controller, PathView, Policy, Report};
use accord_units::{Bytes, Duration, Rate, Time};

/// How the window governs what is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clocking {
    /// As printed: the window only sets the rate, cwnd / srtt.
    Paced,
    /// The window also bounds what is in flight, as far as reports tell.
    Conserving,
}

/// Keeps accumulation at a target.
#[derive(Clone, Debug)]
pub struct Acc {
    policy: Policy,
    clocking: Clocking,
    /// Target accumulation a* in bytes.
    target: f64,
    packet: f64,
    cwnd: f64,
    ssthresh: f64,
    /// Rate as a fraction of cwnd / srtt; below one only in the low-rate regime.
    slowdown: f64,
    /// The report in hand was measured with the present window. Slow start waits for that
    /// under [`Clocking::Conserving`], so that it doubles once per window felt.
    felt: bool,
    srtt: f64,
    estimate: f64,
}

impl Acc {
    /// Starts with a window of one packet, in slow start.
    pub fn new(policy: Policy, clocking: Clocking, target: f64, packet: Bytes) -> Acc {
        Acc {
            policy,
            clocking,
            target,
            packet: packet.as_f64(),
            cwnd: packet.as_f64(),
            ssthresh: f64::INFINITY,
            slowdown: 1.0,
            felt: true,
            srtt: 0.0,
            estimate: 0.0,
        }
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
    }

    fn on_report(&mut self, report: &Report, path: &PathView, _: Time) {
        // Steps as numbered in Har02 algorithm 1, with the contracted rate zero.
        let a = report.accumulation; // (1)
        self.estimate = a;
        self.srtt = path.srtt.as_secs_f64();
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
        let step = self.policy.step(a, self.target, self.cwnd, path.min_rtt);
        self.cwnd = (self.cwnd + step.min(self.packet)).max(self.packet); // (5)
        let congested = a > self.target;
        if congested {
            self.ssthresh = self.cwnd; // (6)
        } else {
            if pwnd + self.packet >= self.ssthresh {
                self.ssthresh = self.ssthresh.max(self.cwnd); // (7.1)
            }
            if self.felt || self.clocking == Clocking::Paced {
                let before = self.cwnd;
                self.cwnd = self.cwnd.max((2.0 * pwnd).min(self.ssthresh)); // (7.2)
                self.felt = self.cwnd == before;
            } else {
                self.felt = true;
            }
        }
        self.low_rate(congested);
    }

    fn allowance(&self) -> Allowance {
        // (8); before the first sample one packet a second; never so slow that it stops.
        let bps = match self.srtt {
            0.0 => self.packet * 8.0,
            srtt => self.slowdown * self.cwnd * 8.0 / srtt,
        };
        let rate = Rate::from_bps_f64(bps.max(1.0));
        let window = match self.clocking {
            Clocking::Paced => Bytes::new(u64::MAX),
            Clocking::Conserving => Bytes::from_f64(self.cwnd),
        };
        Allowance {
            window,
            pacing: Some(rate),
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
