//! The sender's half of accumulation-based congestion control on a tunnel. An estimate arrives once
//! per round trip, and a policy moves the window. The window bounds the outstanding data and sets
//! the rate [Xia05 §IV-B.2, Har02 algorithm 1].
//!
//! [`Law`] holds the switches of the papers' laws and of our own law, which departs from eq. 10 of
//! Xia05: `docs/src/models/monaco.md`.

use crate::floor::Floor;
use crate::law::{Law, SlowStart};
use crate::loss::{Losses, OnLoss};
use crate::monaco;
use crate::prelude::*;
use crate::secant::{FARTHEST, Secant};
use crate::service::Held;
use accord_family::Pace;

/// The smallest window as a fraction of a packet. With [`Law::halves_rate`] also the lowest rate,
/// as a fraction of a packet per round trip.
const LEAST: f64 = 1e-3;

/// The largest ratio of the rate in slow start to the rate of delivery while no queue shows. At 1 or less the
/// rate would never grow. At 2 or more many flows would fill a buffer in one round. The value was chosen from
/// 1.5, 1.6 and 1.9 by its outcome: with 1.9 and the bounded window, 12 runs of figure 7 of Xia05 with other
/// starts and seeds lose no packet. They lose 348 with 1.5 and an unbounded window.
const PROBE: f64 = 1.9;

/// The same ratio once a queue shows. The link is then full, and any excess is queued.
const QUEUED_PROBE: f64 = 1.25;

/// The ratio of the data that a flow with a contract may have outstanding to the data of the
/// contracted rate. Between two reports, a queue that other flows fill lengthens the round trip by
/// a smaller factor.
const HEADROOM: f64 = 1.25;

/// The round-trip time that a flow with a contract expects before the first report, in seconds.
const FIRST: f64 = 0.1;

/// The fraction of the target that must be queued for the queue to be a signal.
const PRICE: f64 = 0.25;

/// Keeps accumulation at a target.
#[derive(Clone, Debug)]
pub struct Acc {
    law: Law,
    service: Held,
    packet: f64,
    cwnd: f64,
    ssthresh: f64,
    /// Sending rate in bytes per second; before the first report the initial window per second.
    rate: f64,
    /// Rate as a fraction of cwnd / rtt; below one only with [`Law::halves_rate`].
    slowdown: f64,
    estimate: f64,
    /// The least rate, if the law has one and the flow has a contract.
    floor: Floor,
    /// The window that carries the least rate, in bytes.
    least_window: f64,
    /// The rate of delivery in the previous report, in bytes per second.
    delivered: f64,
    /// The recent error, if steps lengthen.
    secant: Option<Box<Secant>>,
    /// True if pairs have shown a queue, and since then no data was lost without one.
    sees_queues: bool,
    losses: Losses,
    /// True if the last report cut the window.
    cut: bool,
}

/// The path as the window sees it: with its virtual queues, if the window holds them.
struct Seen {
    /// Round-trip time in seconds.
    rtt: f64,
    /// The fraction of the round trip that has passed since the last report. It is 1 if no delay is
    /// virtual.
    passed: f64,
    /// Rate at which data leaves, in bytes per second.
    egress: f64,
    /// Queuing delay in seconds.
    delay: f64,
    /// Rate at which data arrived since the last report, in bytes per second.
    delivered: f64,
}

impl Seen {
    fn new(law: &Law, report: &Report, path: &PathView) -> Seen {
        let physical = path.rtt.as_secs_f64();
        let egress = report.egress_rate.as_bps_f64() / 8.0;
        let behind = if law.holds_virtual { report.virtual_delay.as_secs_f64() } else { 0.0 };
        let rtt = physical + behind;
        Seen {
            rtt,
            passed: if behind > 0.0 { physical / rtt } else { 1.0 },
            egress,
            delay: report.accumulation / egress,
            delivered: path.delivery_rate.as_bps_f64() / 8.0,
        }
    }

    /// Returns the round-trip time over empty queues, in seconds, according to the current report.
    fn base(&self) -> f64 {
        if self.delay.is_finite() { (self.rtt - self.delay).max(0.0) } else { self.rtt }
    }
}

impl Acc {
    /// Creates a controller for packets of `packet` bytes, in slow start if its law has one.
    pub fn new(values: &Values, packet: Bytes) -> Acc {
        let law = monaco::law(values, packet);
        let packet = packet.as_f64();
        let cwnd = values.number("initial_window") * packet;
        Acc {
            law,
            service: Held::default(),
            packet,
            cwnd,
            ssthresh: match law.slow_start {
                SlowStart::None => cwnd,
                SlowStart::Doubles | SlowStart::Lands => f64::INFINITY,
            },
            rate: cwnd,
            slowdown: 1.0,
            estimate: 0.0,
            floor: Floor::default(),
            least_window: 0.0,
            delivered: 0.0,
            secant: law.longer_steps.then(Box::default),
            sees_queues: false,
            losses: Losses::default(),
            cut: false,
        }
    }

    /// Moves the window. The steps are numbered as in Har02 algorithm 1. Without slow start, (1), (3) and (5)
    /// are Xia05 eq. 10.
    fn move_window(&mut self, report: &Report, path: &PathView, seen: &Seen) {
        let a = report.accumulation; // (1)
        self.estimate = a;
        self.sees_queues = self.shows_a_price() || self.sees_queues && !report.lost;
        self.losses.observe(report);
        let cut = std::mem::take(&mut self.cut);
        if report.lost && self.takes_for_congestion() {
            // The first report after a cut covers data sent before the cut. One window of data costs one cut
            // [RFC 5681 §4.3]; the papers cut once per round trip.
            if !cut || self.law.on_loss == OnLoss::Window {
                self.halve();
                self.slow_down(true);
                self.cut = true;
            }
            return;
        }
        let mu = if self.law.mu_is_sent {
            path.sent_in_round.as_f64() / path.srtt.as_secs_f64()
        } else {
            seen.egress
        }; // (2)
        let shown = match report.lost {
            // Pairs do not see the queue of a router without priorities, but the round-trip time
            // does.
            true => a.max(mu * path.rtt.saturating_sub(path.min_rtt).as_secs_f64()),
            false => a,
        };
        let excess = self.service.excess(shown, self.law.target, mu); // (3)
        let congested = excess > 0.0;
        let sent = (path.sent_in_round.as_f64() / seen.passed).max(self.packet);
        let pwnd = if sent + self.packet < self.cwnd { sent } else { self.cwnd }; // (4)
        // A flow that had too little to send earns no more than the window that it used.
        let used = if path.had_too_little { pwnd } else { self.cwnd };
        let base = Duration::from_secs_f64(seen.base());
        let factor = if report.lost {
            self.step_of_policy(used)
        } else {
            self.factor(used, excess, seen, base, path)
        };
        self.cwnd = self.moved(used, factor, excess, shown, seen.passed, base); // (5)
        if report.lost {
            let least = used.min(self.packet);
            let own = self.service.shared(shown, mu);
            self.cwnd = self.cwnd.min((used - own / 2.0).max(least));
            if used >= self.ssthresh {
                self.ssthresh = self.cwnd;
            }
        }
        let lands = self.law.slow_start == SlowStart::Lands;
        if congested && used < self.ssthresh && lands {
            self.cwnd = self.cwnd.min(self.exit_window(seen)).max(self.packet);
        }
        if congested || self.law.slow_start == SlowStart::None {
            self.ssthresh = self.cwnd; // (6)
        } else {
            if pwnd + self.packet >= self.ssthresh {
                self.ssthresh = self.ssthresh.max(self.cwnd); // (7.1)
            }
            let doubled = (pwnd * (1.0 + seen.passed)).min(self.probing(seen).max(self.packet));
            let full = self.full_window(seen);
            if full < doubled {
                self.ssthresh = self.ssthresh.min(self.cwnd.max(full));
            }
            // Only the policy moves a window below one packet.
            if used >= self.packet && !report.lost {
                self.cwnd = self.cwnd.max(doubled.min(self.ssthresh)); // (7.2)
            }
        }
        self.slow_down(congested);
    }

    /// Returns the window that the policy derives from `w`. The law bounds the increase, and the
    /// decrease stops at one packet.
    fn moved(&self, w: f64, factor: f64, excess: f64, a: f64, passed: f64, base: Duration) -> f64 {
        let step = self.law.policy.step(excess, w, base) * passed;
        if factor > 1.0 {
            // A lengthened step has its own bound. It is never shorter than the policy's step.
            let far = FARTHEST * w * passed;
            let least = step.min(-far);
            let most = step.min(self.packet * passed).max(far);
            return (w + (factor * step).clamp(least, most)).max(self.packet);
        }
        if w > self.packet || self.law.halves_rate {
            let most = if self.law.grows_by_packets { self.packet * passed } else { f64::INFINITY };
            return (w + step.min(most)).max(self.packet);
        }
        // The virtually queued data may exceed such a window. The policy's gain per byte would
        // make the loop unstable.
        let step = step * (w / a).min(1.0);
        (w + step).clamp(w / 2.0, 2.0 * w).max(self.packet * LEAST)
    }

    /// Returns the window that has no excess if the queuing delay stays the same. By Little's law
    /// the target divided by the delay is a rate. The result is infinite below a contracted rate,
    /// because the delay does not determine its window.
    fn full_window(&self, seen: &Seen) -> f64 {
        match self.law.slow_start {
            SlowStart::Lands if seen.delay > 0.0 => {
                self.service.rate(self.law.target, seen.delay, seen.delivered) * seen.rtt
            }
            _ => f64::INFINITY,
        }
    }

    /// Returns the window at which slow start ends: the rate of delivery times the round-trip time
    /// over empty queues, plus the target.
    fn exit_window(&self, seen: &Seen) -> f64 {
        let queued = self.service.rate(self.law.target, seen.delay, f64::INFINITY) * seen.delay;
        seen.delivered * seen.base() + queued
    }

    /// Returns the window of the largest rate in slow start. The window itself must not exceed it.
    /// Otherwise data that the rate held back would leave in a burst when slow start ends.
    fn probing(&self, seen: &Seen) -> f64 {
        // Data that arrived was sent a round trip ago, so two chains of rates take turns. The rate
        // follows the larger of the two, because otherwise one would fall behind.
        let delivered = seen.delivered.max(self.delivered);
        if self.law.slow_start != SlowStart::Lands || delivered == 0.0 {
            return f64::INFINITY;
        }
        let probe = if self.shows_a_price() { QUEUED_PROBE } else { PROBE };
        probe * delivered * seen.rtt
    }

    /// Sets the rate until the next report.
    fn set_rate(&mut self, path: &PathView, seen: &Seen) {
        let even = match self.law.round_trip {
            Pace::Latest => self.cwnd / seen.rtt,
            Pace::Smoothed => self.cwnd / path.srtt.as_secs_f64(),
            Pace::Least => self.cwnd / path.min_rtt.as_secs_f64(),
        }; // (8)
        let slow_start = self.cwnd < self.ssthresh;
        let rate = if slow_start { even.min(self.probing(seen) / seen.rtt) } else { even };
        self.rate = self.slowdown * rate;
        self.delivered = seen.delivered;
    }

    /// Returns the factor of the policy's step: 1, or more while an error lasts. An error that pairs cannot
    /// measure never ends: with a single FIFO queue they see no backlog, and only losses respond.
    fn factor(&mut self, w: f64, excess: f64, seen: &Seen, base: Duration, path: &PathView) -> f64 {
        let small = w <= 2.0 * self.packet;
        let slow_start = self.cwnd < self.ssthresh;
        if slow_start || path.had_too_little || small || !self.sees_queues {
            return self.step_of_policy(w);
        }
        let (target, policy) = (self.service.own(self.law.target), self.law.policy);
        let step = |error| policy.step(error, w, base);
        let secant = self.secant.as_mut();
        secant.map_or(1.0, |s| s.factor(excess, w, target, seen.passed, step))
    }

    /// Returns 1, and resets the lasting error.
    fn step_of_policy(&mut self, w: f64) -> f64 {
        if let Some(secant) = &mut self.secant {
            secant.reset(w);
        }
        1.0
    }

    /// Returns whether a loss halves the window.
    fn takes_for_congestion(&self) -> bool {
        match self.law.on_loss {
            OnLoss::Window => true,
            OnLoss::Contract { .. } if !self.service.has_contract() => true,
            OnLoss::Accumulation { bound } | OnLoss::Contract { bound } => {
                self.losses.part() > bound
            }
        }
    }

    /// Keeps the window at or above the one that carries the least rate.
    fn keep_floor(&mut self, report: &Report, seen: &Seen) {
        self.floor.on_report(report, self.losses.part(), seen.passed);
        self.least_window = self.floor.rate() * seen.rtt;
        self.cwnd = self.cwnd.max(self.least_window);
    }

    /// Returns true if enough is queued for the queue to be a signal.
    fn shows_a_price(&self) -> bool {
        self.estimate >= PRICE * self.law.target
    }

    /// Halves the window, which ends slow start.
    fn halve(&mut self) {
        self.cwnd = (self.cwnd / 2.0).max(self.packet);
        self.ssthresh = self.cwnd;
    }

    /// Halves the rate instead of the window below one packet per round trip [Har02 §V-A].
    fn slow_down(&mut self, congested: bool) {
        let at_floor = self.law.halves_rate && self.cwnd <= self.packet;
        self.slowdown = if at_floor && congested { (self.slowdown / 2.0).max(LEAST) } else { 1.0 };
    }
}

impl Controller for Acc {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {
        self.halve();
        self.rate /= 2.0;
    }

    fn on_report(&mut self, report: &Report, path: &PathView, _: Time) {
        let seen = Seen::new(&self.law, report, path);
        self.move_window(report, path, &seen);
        self.keep_floor(report, &seen);
        self.set_rate(path, &seen);
    }

    fn set_service(&mut self, service: &Service) {
        self.service = Held::new(service);
        if self.law.keeps_contract {
            self.floor.set_service(service);
            self.least_window = self.floor.rate() * FIRST;
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance {
            window: Bytes::from_f64(self.cwnd.max(HEADROOM * self.least_window))
                .max(Bytes::from_f64(self.packet)),
            // The rate never falls to zero.
            pacing: Some(Rate::from_bps_f64((8.0 * self.rate.max(self.floor.rate())).max(1.0))),
        }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.ssthresh.is_finite().then(|| Bytes::from_f64(self.ssthresh.max(self.packet)))
    }

    fn cwnd(&self) -> Bytes {
        Bytes::from_f64(self.cwnd.max(self.packet))
    }

    fn inner(&self, values: &mut Vec<f64>) {
        values.extend([self.estimate, self.service.own(self.law.target)]);
    }

    fn accumulation_estimate(&self) -> Option<f64> {
        Some(self.estimate)
    }
}
