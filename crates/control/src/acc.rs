//! The sender's half of accumulation-based congestion control on a tunnel: an estimate
//! comes back once per round trip, a policy moves the window, and the window gives the rate
//! [Xia05 §IV-B.2, Har02 algorithm 1].
//!
//! With the switches of [`Law`] as printed it is their algorithm 1. Ours departs from it by
//! [`Recovery::Contract`], [`LowRate::Smooth`], [`Mu::Received`], [`RoundTrip::Latest`], and
//! by [`Clocking::Mixed`] with all that comes with it:
//! - The rate is not cwnd / rtt. With it a queue that the flow moves integrates a rate that is one
//!   round trip old, and oscillates. See [`Acc::egress_clocked`]. As far as others move the queue,
//!   cwnd / rtt is right, and the egress clock oscillates. The flow learns which is the case
//!   ([`crate::share`]), and lengthens its steps while an error lasts ([`crate::secant`]).
//! - A virtual queue is one more queue that the window fills: virtual delay is part of the
//!   round trip, and what is virtually queued part of what is in flight. Where only the
//!   physical ones count, a virtual queue integrates rates and oscillates as above.
//! - Slow start ends at the window for which the queuing delay in hand gives the target,
//!   not one doubling after it, and sends at most [`PROBE`] times as fast as what it sent
//!   before came out. Twenty flows that start together then lose nothing at Xia05 figure 6.
//!   If it ends by congestion, the window is what came out and the target.
//! - No smallest round-trip time is kept. The one over empty queues is that of the report in hand
//!   less its queuing delay, so that a longer route is no queue.

use crate::law::{Clocking, Increase, Law, LowRate, Mu, Recovery, RoundTrip};
use crate::loss::{Losses, OnLoss};
use crate::secant::{FARTHEST, Secant};
use crate::service::Held;
use crate::share::{Round, Share};
use crate::{Acked, Allowance, Congestion, Controller, PathView, Report};
use accord_family::Service;
use accord_units::{Bytes, Duration, Rate, Time};

/// The smallest window of [`LowRate::Smooth`], and the lowest rate of [`LowRate::Halve`], as a
/// part of a packet and of a packet per round trip.
const LEAST: f64 = 1e-3;

/// Slow start sends so many times as fast as data arrived over the last round trip: more
/// than 1, or it would never grow; less than 2, or many flows fill a buffer in one round.
const PROBE: f64 = 1.5;

/// The rate is clocked by the egress rate as far as the learned share times 1, or times this and the
/// share if that is more, and by cwnd / rtt beyond that. From half of the queue's motion on it is
/// clocked only. A share that was learned half as large as it is costs a flow alone nothing then. At
/// small shares it is as little clocked as can be, because the margin there is that of cwnd / rtt.
pub(crate) const CLOCKED: f64 = 4.0;

/// Part of a wrong amount in flight that is put right in each round trip. The egress rate is
/// a mean over some round trips, and correcting faster than it follows oscillates.
pub(crate) const CORRECTION: f64 = 0.25;

/// Part of the way to its contract's window that a flow goes in each round trip. What is in
/// flight follows the window with [`CORRECTION`]; more would run ahead of it.
const RECOVERY: f64 = 0.25;

/// Part of the memory of a large accumulation that fades in each round trip. A queue that
/// goes up and down within a few round trips tells a flow at its limit to stay there. A swing of
/// a flow at its limit takes some 17, from twice the limit to half of it and less: the memory lasts
/// longer, or the flow would go for its contract in each of them.
const MEMORY: f64 = 0.0625;

/// Part of the target that has to be queued for the queue to tell something of the path.
const PRICE: f64 = 0.25;

/// Keeps accumulation at a target.
#[derive(Clone, Debug)]
pub struct Acc {
    law: Law,
    service: Held,
    packet: f64,
    cwnd: f64,
    ssthresh: f64,
    /// Sending rate in bytes per second; before the first report one packet a second.
    rate: f64,
    /// Rate as a fraction of what the window gives; below one only with [`LowRate::Halve`].
    slowdown: f64,
    estimate: f64,
    /// The largest accumulation of late, fading with [`MEMORY`].
    crest: f64,
    /// The rate at which data arrived, as of the report before, in bytes per second.
    delivered: f64,
    /// Of [`Clocking::Mixed`].
    learned: Option<Box<Learned>>,
    losses: Losses,
}

/// The memory of [`Clocking::Mixed`].
#[derive(Clone, Debug)]
struct Learned {
    share: Share,
    secant: Secant,
}

/// The path as the window sees it: with its virtual queues, but under [`Clocking::Paced`].
struct Seen {
    /// Round-trip time in seconds.
    rtt: f64,
    /// The part of it that has passed since the last report; 1 where no delay is virtual.
    passed: f64,
    /// Bytes in flight.
    in_flight: f64,
    /// Rate at which data leaves, in bytes per second.
    egress: f64,
    /// Queuing delay in seconds.
    delay: f64,
    /// Rate at which data arrived since the last report, in bytes per second.
    delivered: f64,
}

impl Seen {
    fn new(clocking: Clocking, report: &Report, path: &PathView) -> Seen {
        let physical = path.rtt.as_secs_f64();
        let egress = report.egress_rate.as_bps_f64() / 8.0;
        let behind = match clocking {
            Clocking::Paced => 0.0,
            Clocking::Egress | Clocking::Mixed => report.virtual_delay.as_secs_f64(),
        };
        let rtt = physical + behind;
        Seen {
            rtt,
            passed: if behind > 0.0 { physical / rtt } else { 1.0 },
            in_flight: path.in_flight.as_f64() + egress * behind,
            egress,
            delay: report.accumulation / egress,
            delivered: path.delivery_rate.as_bps_f64() / 8.0,
        }
    }

    /// Returns the round-trip time over empty queues, in seconds, as the report in hand has it.
    fn base(&self) -> f64 {
        match self.delay.is_finite() {
            true => (self.rtt - self.delay).max(0.0),
            false => self.rtt,
        }
    }
}

impl Acc {
    /// Starts with a window of one packet, in slow start.
    pub fn new(law: Law, packet: Bytes) -> Acc {
        let learned = (law.clocking == Clocking::Mixed).then(|| {
            Box::new(Learned {
                share: Share::new(),
                secant: Secant::default(),
            })
        });
        Acc {
            law,
            service: Held::default(),
            packet: packet.as_f64(),
            cwnd: packet.as_f64(),
            ssthresh: f64::INFINITY,
            rate: packet.as_f64(),
            slowdown: 1.0,
            estimate: 0.0,
            crest: 0.0,
            delivered: 0.0,
            learned,
            losses: Losses::default(),
        }
    }

    /// Moves the window. Steps as numbered in Har02 algorithm 1.
    fn move_window(&mut self, report: &Report, path: &PathView, seen: &Seen) {
        let a = report.accumulation; // (1)
        self.estimate = a;
        self.crest = a.max(self.crest * (1.0 - MEMORY * seen.passed));
        self.losses.observe(report);
        if report.lost && self.takes_for_congestion() {
            self.halve();
            self.slow_down(true);
            return;
        }
        let mu = match self.law.mu {
            Mu::Received => seen.egress,
            Mu::Sent => path.sent_in_round.as_f64() / path.srtt.as_secs_f64(),
        }; // (2)
        let shown = match report.lost {
            // Where the pairs are blind, the round-trip time is not.
            true => a.max(mu * path.rtt.saturating_sub(path.min_rtt).as_secs_f64()),
            false => a,
        };
        let excess = self.service.excess(shown, self.law.target, mu); // (3)
        let congested = excess > 0.0;
        let sent = (path.sent_in_round.as_f64() / seen.passed).max(self.packet);
        let pwnd = match sent + self.packet < self.cwnd {
            true => sent,
            false => self.cwnd,
        }; // (4)
        // A flow that had too little to send earns no more than the window that it used.
        let used = match path.had_too_little {
            true => pwnd,
            false => self.cwnd,
        };
        let base = match self.law.clocking {
            // As printed, the smallest round trip seen, which may be no longer so.
            Clocking::Paced => path.min_rtt,
            Clocking::Egress | Clocking::Mixed => Duration::from_secs_f64(seen.base()),
        };
        let factor = match report.lost {
            true => self.step_of_policy(used),
            false => self.factor(used, excess, seen, base, path),
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
        if congested && used < self.ssthresh && self.law.clocking != Clocking::Paced {
            self.cwnd = self.cwnd.min(self.landing(seen)).max(self.packet);
        }
        // Slow start gets there by itself, and what it sends lags its window.
        if !congested && !path.had_too_little && used >= self.ssthresh {
            let short = self.short_of_contract(sent, base, seen);
            if short > 0.0 {
                self.cwnd = self.cwnd.max(used + RECOVERY * seen.passed * short);
            }
        }
        if congested {
            self.ssthresh = self.cwnd; // (6)
        } else {
            if pwnd + self.packet >= self.ssthresh {
                self.ssthresh = self.ssthresh.max(self.cwnd); // (7.1)
            }
            let doubled = pwnd * (1.0 + seen.passed);
            let full = self.full_window(seen);
            if full < doubled {
                self.ssthresh = self.ssthresh.min(self.cwnd.max(full));
            }
            // Below a packet the policy alone moves it.
            if used >= self.packet && !report.lost {
                self.cwnd = self.cwnd.max(doubled.min(self.ssthresh)); // (7.2)
            }
        }
        self.slow_down(congested);
    }

    /// The window that follows the window `w`: as the policy says, with the increase bounded
    /// as the law has it, and down to one packet.
    fn moved(&self, w: f64, factor: f64, excess: f64, a: f64, passed: f64, base: Duration) -> f64 {
        let step = self.law.policy.step(excess, w, base) * passed;
        if factor > 1.0 {
            // What bounds a step of the policy bounds no longer one, and the other way round.
            let far = FARTHEST * w * passed;
            let least = step.min(-far);
            let most = step.min(self.packet * passed).max(far);
            return (w + (factor * step).clamp(least, most)).max(self.packet);
        }
        if w > self.packet || self.law.low_rate == LowRate::Halve {
            let most = match self.law.increase {
                Increase::Packet => self.packet * passed,
                Increase::Policy => f64::INFINITY,
            };
            return (w + step.min(most)).max(self.packet);
        }
        // More may be queued, virtually, than such a window holds: with the policy's gain for
        // each byte of it the loop would not be stable.
        let step = step * (w / a).min(1.0);
        (w + step).clamp(w / 2.0, 2.0 * w).max(self.packet * LEAST)
    }

    /// By how much the window is less than what the contract needs over empty queues, or than
    /// what was `sent` lets it be; 0 where it is not the window that holds the contract down.
    fn short_of_contract(&self, sent: f64, base: Duration, seen: &Seen) -> f64 {
        let below = self.service.below_contract(self.crest, seen.egress);
        if self.law.recovery == Recovery::Packet || !below {
            return 0.0;
        }
        let needed = self.service.window(base.as_secs_f64());
        (needed.min(PROBE * sent) - self.cwnd).max(0.0)
    }

    /// The window without excess, were the queuing delay to stay what it is: the target over
    /// the delay is a rate, by Little's law. While a contracted rate is not reached, the delay
    /// says nothing of the window that reaches it.
    fn full_window(&self, seen: &Seen) -> f64 {
        match self.law.clocking {
            Clocking::Egress | Clocking::Mixed if seen.delay > 0.0 => {
                self.service
                    .rate(self.law.target, seen.delay, seen.delivered)
                    * seen.rtt
            }
            _ => f64::INFINITY,
        }
    }

    /// The window at which slow start ends: what came out in the last round trip goes on to come
    /// out, with the target queued. What was sent since is too much and not asked for again.
    fn landing(&self, seen: &Seen) -> f64 {
        let queued = self
            .service
            .rate(self.law.target, seen.delay, f64::INFINITY)
            * seen.delay;
        seen.delivered * seen.base() + queued
    }

    /// The rate until the next report, given the window `before` this one.
    fn set_rate(&mut self, before: f64, path: &PathView, seen: &Seen) {
        let even = match self.law.round_trip {
            RoundTrip::Latest => self.cwnd / seen.rtt,
            RoundTrip::Smoothed => self.cwnd / path.srtt.as_secs_f64(),
        }; // (8)
        let rate = match self.law.clocking {
            Clocking::Egress | Clocking::Mixed if self.cwnd < self.ssthresh => {
                // What came out was sent a round trip ago, so that two chains of rates take turns.
                // The rate follows the larger of the two, or one would stay behind.
                match seen.delivered.max(self.delivered) {
                    0.0 => even,
                    delivered => even.min(PROBE * delivered),
                }
            }
            Clocking::Egress | Clocking::Mixed if self.cwnd > self.packet => {
                let share = self.share();
                let own = (share * (CLOCKED * share).max(1.0)).min(1.0);
                let rate = own * self.egress_clocked(before, seen) + (1.0 - own) * even;
                rate.clamp(even / 2.0, even * 2.0)
            }
            _ => even,
        };
        self.rate = self.slowdown * rate;
        self.delivered = seen.delivered;
    }

    /// What an acknowledgement clock does, from one report per round trip. A sender with a
    /// window sends as data leaves, and more by as much as its window grows: its queue
    /// changes with its window only, not with its rate. The rate that data leaves at is here
    /// a mean, so what is in flight drifts from the window, and is led back slowly.
    fn egress_clocked(&self, before: f64, seen: &Seen) -> f64 {
        let growth = (self.cwnd - before) / seen.passed;
        let missing = before - seen.in_flight;
        seen.egress + (growth + CORRECTION * missing) / seen.rtt
    }

    /// Returns the share of the queue's motion that is the flow's own, as far as it is learned, and
    /// 1 with [`Clocking::Egress`].
    fn share(&self) -> f64 {
        self.learned.as_ref().map_or(1.0, |l| l.share.value())
    }

    /// Learns the share from the round trip that the report ends.
    fn learn(&mut self, path: &PathView, seen: &Seen) {
        let (slow_start, queued) = (self.cwnd < self.ssthresh, self.shows_a_price());
        if let Some(learned) = &mut self.learned {
            let round = Round {
                rate: self.rate,
                rtt: seen.rtt,
                delay: seen.delay,
                period: path.rtt.as_secs_f64(),
                egress: seen.egress,
                slow_start,
                queued,
            };
            (learned.share).observe(&round, self.cwnd / self.packet, self.packet);
        }
    }

    /// Returns the factor of the policy's step: 1, or more while an error lasts, with
    /// [`Clocking::Mixed`].
    fn factor(&mut self, w: f64, excess: f64, seen: &Seen, base: Duration, path: &PathView) -> f64 {
        let small = w <= 2.0 * self.packet || !self.shows_a_price();
        let slow_start = self.cwnd < self.ssthresh;
        let (target, policy) = (self.service.own(self.law.target), self.law.policy);
        let Some(learned) = &mut self.learned else {
            return 1.0;
        };
        if slow_start || path.had_too_little || small {
            learned.secant.reset(w);
            return 1.0;
        }
        let least = (target / w).max(learned.share.value());
        let step = |error| policy.step(error, w, base);
        (learned.secant).factor(excess, w, target, least, seen.passed, step)
    }

    /// Returns 1, and forgets the error that lasted.
    fn step_of_policy(&mut self, w: f64) -> f64 {
        if let Some(learned) = &mut self.learned {
            learned.secant.reset(w);
        }
        1.0
    }

    /// Returns whether a loss halves the window.
    fn takes_for_congestion(&self) -> bool {
        match self.law.on_loss {
            OnLoss::Window => true,
            OnLoss::Accumulation { bound } => self.losses.part() > bound,
        }
    }

    /// Returns whether so much is queued that it tells what the path does with more. An empty queue
    /// stays empty whatever is sent, until the link is full.
    fn shows_a_price(&self) -> bool {
        self.estimate >= PRICE * self.law.target
    }

    /// Halves the window, which ends slow start.
    fn halve(&mut self) {
        self.cwnd = (self.cwnd / 2.0).max(self.packet);
        self.ssthresh = self.cwnd;
    }

    /// Below one packet per round trip the rate is halved instead [Har02 §V-A].
    fn slow_down(&mut self, congested: bool) {
        let at_floor = self.law.low_rate == LowRate::Halve && self.cwnd <= self.packet;
        self.slowdown = if at_floor && congested {
            (self.slowdown / 2.0).max(LEAST)
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
        let seen = Seen::new(self.law.clocking, report, path);
        self.move_window(report, path, &seen);
        self.learn(path, &seen);
        self.set_rate(before, path, &seen);
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
            .then(|| Bytes::from_f64(self.ssthresh.max(self.packet)))
    }

    fn cwnd(&self) -> Bytes {
        Bytes::from_f64(self.cwnd.max(self.packet))
    }

    fn accumulation_estimate(&self) -> Option<f64> {
        Some(self.estimate)
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        None
    }
}
