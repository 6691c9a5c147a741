//! The congestion signals of C4: their thresholds and measures [draft-huitema-ccwg-c4-spec-04 §5].

use super::{C4, State};
use accord_units::{Duration, Time};

/// Linear interpolation of y at x between two points.
fn between(x: f64, from: (f64, f64), to: (f64, f64)) -> f64 {
    from.1 + (x - from.0) * (to.1 - from.1) / (to.0 - from.0)
}

/// Returns the sensitivity of a flow with this nominal rate in bytes per second, from 0 to 1 [§5.1]. The
/// value at 1 MB/s is that of the authors' program.
pub(super) fn sensitivity(rate: f64) -> f64 {
    let corners = [(5e4, 0.0), (1e6, 963.0 / 1024.0), (1e7, 1.0)];
    match rate {
        r if r <= corners[0].0 => 0.0,
        r if r <= corners[1].0 => between(r, corners[0], corners[1]),
        r if r <= corners[2].0 => between(r, corners[1], corners[2]),
        _ => 1.0,
    }
}

/// Returns the part of the nominal maximum round-trip time that may be queued [§5.2].
pub(super) fn delay_fraction(sensitivity: f64) -> f64 {
    (64.0 + (1.0 - sensitivity) * 196.0) / 1024.0
}

/// Returns the loss ratio above which losses are congestion [§5.3].
fn loss_threshold(sensitivity: f64) -> f64 {
    0.02 + 0.5 * (1.0 - sensitivity)
}

/// Returns the share of marks above which they are congestion [§5.4].
fn mark_threshold(sensitivity: f64) -> f64 {
    (2.0 - sensitivity) * 3.0 / 32.0
}

/// The smoothed loss ratio [§5.3].
#[derive(Clone, Debug, Default)]
pub(super) struct LossRatio {
    /// The average over packets.
    pub ratio: f64,
    /// The number of the last lost packet, and the bytes delivered when its loss was found.
    last: (u64, u64),
}

/// The weight of a packet in the loss ratio.
const WEIGHT: f64 = 1.0 / 16.0;
/// The maximum number of packets that arrive between two losses, as far as the ratio counts them.
const SCOPE: u64 = 32;

impl LossRatio {
    /// Counts the loss of packet `number`, which is found when `total` bytes are delivered. The loss of a
    /// repair counts like that of the next packet after those that arrived since the last loss.
    pub fn lose(&mut self, number: u64, total: u64, packet: f64) {
        let (last, delivered) = self.last;
        let packets = if number > last {
            number - last
        } else {
            (total.saturating_sub(delivered) as f64 / packet) as u64 + 1
        };
        for _ in 0..packets.min(SCOPE) {
            self.ratio *= 1.0 - WEIGHT;
        }
        self.ratio += (1.0 - self.ratio) * WEIGHT;
        self.last = (number.max(last), total);
    }
}

/// The share of marked packets [§5.4].
#[derive(Clone, Debug, Default)]
pub(super) struct MarkShare {
    /// ecn_alpha.
    pub alpha: f64,
    /// The packets that arrived since the last update, with and without a mark.
    marked: u64,
    plain: u64,
}

impl MarkShare {
    /// Counts arrivals.
    pub fn count(&mut self, marked: u64, plain: u64) {
        self.marked = self.marked.saturating_add(marked);
        self.plain = self.plain.saturating_add(plain);
    }

    /// Updates the average by the packets since the last update, if there are any.
    pub fn update(&mut self) {
        let all = self.marked.saturating_add(self.plain);
        if all == 0 {
            return;
        }
        let share = self.marked as f64 / all as f64;
        if share > self.alpha && share >= 0.5 {
            self.alpha = share;
        } else {
            self.alpha += (share - self.alpha) / 16.0;
        }
        (self.marked, self.plain) = (0, 0);
    }
}

/// The largest delivery rate over at least a millisecond, which bounds the pace of the initial state from
/// below [picoquic c4.c].
#[derive(Clone, Debug, Default)]
pub(super) struct Peak {
    /// Bytes per second.
    pub rate: f64,
    /// The bytes delivered at the last sample, its time, and the time when its packet was sent.
    last: Option<(u64, Time, Time)>,
}

impl Peak {
    /// Takes an acknowledgement of a packet sent at `sent`. `total` bytes are delivered.
    pub fn observe(&mut self, total: u64, sent: Time, now: Time) {
        let Some((delivered, at, sent_before)) = self.last else {
            self.last = Some((total, now, sent));
            return;
        };
        let elapsed = now.since(at);
        if sent < sent_before || elapsed <= Duration::from_ms(1) {
            return;
        }
        let seconds = elapsed.max(sent.since(sent_before)).as_secs_f64();
        self.rate = self.rate.max(total.saturating_sub(delivered) as f64 / seconds);
        self.last = Some((total, now, sent));
    }
}

/// A congestion signal [§5].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    Delay,
    Marks,
    Loss,
}

/// The acknowledgements and losses in the initial state below which losses do not end it [§4.2].
const EVENTS_BEFORE_LOSS: u64 = 20;

impl C4 {
    /// Takes a sample of the round-trip time, and answers a queue that is too long [§5.2].
    pub(super) fn take_rtt(&mut self, rtt: Duration, from: u64) {
        self.era.max_rtt = self.era.max_rtt.max(rtt);
        self.era.min_rtt = self.era.min_rtt.min(rtt);
        self.running_min_rtt = self.running_min_rtt.min(rtt);
        self.delay_excess = Duration::ZERO;
        if self.nominal_max_rtt.is_zero() {
            self.set_nominal_max_rtt(rtt);
        } else {
            self.delay_excess = rtt - (self.nominal_max_rtt + self.delay_threshold);
        }
        if self.delay_excess.is_zero() {
            return;
        }
        if self.state == State::Initial {
            self.exit_initial_without_growth(from);
        } else if self.previous_alpha > 1.0 {
            self.notify(Signal::Delay, from);
        }
    }

    /// Ends the initial state at a queue that is too long, if the rate has stopped to grow [§4.2].
    fn exit_initial_without_growth(&mut self, from: u64) {
        let stopped = self.eras_without_growth > 1 && self.push.rate >= self.nominal_rate;
        if !self.delay_excess.is_zero() && stopped {
            self.exit_initial(from);
        }
    }

    /// Counts the losses of this acknowledgement, and answers too many [§5.3]. Those of packets sent before
    /// a recovery are part of it.
    pub(super) fn take_losses(&mut self, from: u64) {
        for (number, total) in std::mem::take(&mut self.lost) {
            if self.state == State::Recovery {
                return;
            }
            self.losses.lose(number, total, self.packet);
            if self.losses.ratio <= loss_threshold(self.sensitivity()) {
                continue;
            }
            if self.state != State::Initial {
                self.notify(Signal::Loss, from);
                continue;
            }
            self.initial_events += 1;
            if self.initial_events > EVENTS_BEFORE_LOSS {
                self.exit_initial(from);
            }
        }
    }

    /// Answers marks, if they are too many [§5.4].
    pub(super) fn take_marks(&mut self, from: u64) {
        self.marks.update();
        if self.marks.alpha <= mark_threshold(self.sensitivity()) {
            return;
        }
        if self.state == State::Initial {
            self.exit_initial_without_growth(from);
        } else {
            self.notify(Signal::Marks, from);
        }
    }

    /// The part of the nominal rate that a signal takes [§5.5.1].
    fn part(&self, signal: Signal) -> f64 {
        let excess = match signal {
            // Half of it depends on the sensitivity, as in the program.
            Signal::Loss => return self.config.beta * (1.0 + self.sensitivity()) / 2.0,
            Signal::Marks => self.marks.alpha / mark_threshold(self.sensitivity()) - 1.0,
            Signal::Delay => {
                let threshold = self.delay_threshold.as_ps().max(1) as f64;
                self.delay_excess.as_ps() as f64 / threshold
            }
        };
        excess.min(self.config.beta)
    }

    /// Answers a congestion signal [§5.5].
    fn notify(&mut self, signal: Signal, from: u64) {
        let part = self.part(signal);
        self.push.congested = true;
        if signal != Signal::Delay {
            self.delay_excess = Duration::ZERO;
        }
        if self.state == State::Recovery {
            if self.alpha == self.config.recovery_alpha {
                self.alpha = self.config.drain_alpha;
                self.era.from = from;
            }
            self.excess_marks |= signal == Signal::Marks;
            return;
        }
        // A signal of a probe or a push means that the nominal rate is right.
        if self.state == State::Cruising {
            self.nominal_rate *= 1.0 - part;
            if signal == Signal::Loss {
                self.set_nominal_max_rtt(self.nominal_max_rtt.mul_f64(1.0 - part));
            }
        }
        self.enter_recovery(Some(signal), from);
    }
}
