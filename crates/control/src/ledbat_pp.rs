//! LEDBAT++: LEDBAT that shares fairly among its flows, by multiplicative decrease and regular
//! slowdowns [draft-irtf-iccrg-ledbat-plus-plus].
//!
//! ```text
//! GAIN        1/min(16, ⌈2·TARGET/base⌉)                                  [§4.2]
//! slow start  cwnd ← cwnd + GAIN·acked; the first one ends when the queuing delay is above
//!             3/4 of TARGET                                               [§4.1]
//! per round trip, at a delay up to TARGET
//!             W ← W + GAIN                                                [§4.3]
//! above it    W ← W + max(GAIN − Constant·W·(delay/TARGET − 1), −W/2)     [§4.3]
//! slowdown    two round trips after the first slow start, and nine times as long after a slowdown
//!             as that took: ssthresh ← cwnd, cwnd ← 2 packets for two round trips, then slow
//!             start up to ssthresh                                        [§4.4]
//! loss        cwnd ← cwnd/2, once per round trip; timeout: 1 packet       [RFC 6817 §2.4.2]
//! ```
//!
//! W is in packets; delays are round-trip times, filtered as in [`crate::ledbat`].
//!
//! Departures from the source: `docs/src/models/ledbat.md`.

use crate::estimator::QueuingDelay;
use crate::ledbat::{BASE_HISTORY, CURRENT_FILTER};
use crate::prelude::*;
use crate::tcp_window::INITIAL_WINDOW;

accord_family::params! {
    /// The parameters of LEDBAT++.
    pub struct Config of FAMILY => LedbatPp(packet: Bytes) {
        /// The queuing delay above which the window shrinks.
        pub target: Duration = duration("60 ms").symbol("TARGET").source("[draft-irtf-iccrg-ledbat-plus-plus §4.5]"),
        /// The part of the window that a round trip takes per part of the target that the delay is above it.
        pub constant: f64 = number("1", 0.001, 100.0).symbol("Constant").source("[draft-irtf-iccrg-ledbat-plus-plus §4.3]"),
        /// Slows down now and then, to see the base round-trip time.
        pub slowdowns: bool = flag("true").source("[draft-irtf-iccrg-ledbat-plus-plus §4.4]"),
        pub base_history: u64 = BASE_HISTORY,
        pub current_filter: u64 = CURRENT_FILTER,
        pub initial_window: Size = INITIAL_WINDOW.source("[RFC 6817 §2.5]"),
    }
}

/// The declaration of LEDBAT++.
pub static FAMILY: Family = Family {
    doc: "LEDBAT++: background traffic below a queuing delay, fair to its like.",
    source: "[draft-irtf-iccrg-ledbat-plus-plus]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "it steers the queuing delay and slows down by a timer, and the fluid's laws steer the \
         amount that a flow has queued",
    ),
    inner: &[
        Inner::new(
            "ledbat-pp.phase",
            Quantity::State(&["start", "avoid", "frozen", "ramp"]),
            "The phase: the first slow start, congestion avoidance, and the two packets and the slow \
             start of a slowdown.",
        ),
        Inner::new(
            "ledbat-pp.base_delay",
            Quantity::Seconds,
            "The base delay: the smallest of the last minutes, here of round-trip times.",
        ),
    ],
    page: "models/ledbat.md",
    maker: &Maker::stream(|v, p| AnyController::LedbatPp(Box::new(LedbatPp::new(v, p)))),
    ..Family::new("ledbat-pp", Role::Controller(|_| Objective::Other))
};

/// The fewest packets of the window.
const MIN_CWND: f64 = 2.0;
/// The largest divisor of GAIN.
const MOST_DIVISOR: f64 = 16.0;
/// The fraction of TARGET at which the first slow start ends.
const LEAVE: f64 = 0.75;
/// The number of round trips from the first slow start to a slowdown, and of those with its small
/// window.
const SLOW_ROUNDS: u64 = 2;
/// The ratio of the time between slowdowns to the duration of one.
const APART: u64 = 9;

/// The phases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The first slow start.
    Start,
    /// Congestion avoidance until the time of the next slowdown.
    Avoid { slowdown: Time },
    /// A window of two packets until `until`, in a slowdown that began at `began`.
    Frozen { began: Time, until: Time },
    /// Slow start up to the threshold, in a slowdown that began at `began`.
    Ramp { began: Time },
}

/// LEDBAT++.
#[derive(Clone, Debug)]
pub struct LedbatPp {
    packet: f64,
    /// The congestion window and the slow-start threshold, in bytes.
    cwnd: f64,
    ssthresh: f64,
    /// TARGET in seconds.
    target: f64,
    constant: f64,
    slowdowns: bool,
    phase: Phase,
    /// The window, the threshold and the phase before the last response to a loss, until that is undone.
    before: Option<(f64, f64, Phase)>,
    delay: QueuingDelay,
    /// Losses before this time belong to a round trip that was already answered.
    answered_until: Time,
    /// The window in whole bytes.
    window: Bytes,
}

impl LedbatPp {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> LedbatPp {
        let config = Config::from(values);
        let bytes = packet.get().max(1) as f64;
        let cwnd = config.initial_window.bytes_f64(packet).round().max(bytes);
        LedbatPp {
            packet: bytes,
            cwnd,
            ssthresh: f64::INFINITY,
            target: config.target.as_secs_f64().max(1e-12),
            constant: config.constant,
            slowdowns: config.slowdowns,
            phase: Phase::Start,
            before: None,
            delay: QueuingDelay::new(config.base_history as usize, config.current_filter as usize),
            answered_until: Time::ZERO,
            window: Bytes::new(cwnd as u64),
        }
    }

    /// GAIN, which depends on the base round-trip time.
    fn gain(&self) -> f64 {
        let base = self.delay.base_delay().unwrap_or(Duration::ZERO);
        let divisor = (2.0 * self.target / base.as_secs_f64().max(1e-12)).ceil();
        1.0 / divisor.clamp(1.0, MOST_DIVISOR)
    }

    /// Enters the next phase when it is due.
    fn advance(&mut self, srtt: Duration, now: Time) {
        let rounds = Duration::from_ps(srtt.as_ps().saturating_mul(SLOW_ROUNDS));
        self.phase = match self.phase {
            Phase::Avoid { slowdown } if self.slowdowns && now >= slowdown => {
                self.ssthresh = self.cwnd;
                self.cwnd = MIN_CWND * self.packet;
                let until = now + rounds;
                Phase::Frozen { began: now, until }
            }
            Phase::Frozen { began, until } if now >= until => Phase::Ramp { began },
            Phase::Ramp { began } if self.cwnd >= self.ssthresh => {
                let took = now.since(began).as_ps();
                let slowdown = now + Duration::from_ps(took.saturating_mul(APART));
                Phase::Avoid { slowdown }
            }
            Phase::Start if self.cwnd >= self.ssthresh => Phase::Avoid { slowdown: now + rounds },
            same => same,
        };
    }

    /// Returns the change of the window per round trip, in packets. `delay` is the queuing delay
    /// divided by the target.
    fn change(&self, delay: f64) -> f64 {
        let gain = self.gain();
        if delay <= 1.0 {
            return gain;
        }
        let window = self.cwnd / self.packet;
        (gain - self.constant * window * (delay - 1.0)).max(-window / 2.0)
    }
}

impl Controller for LedbatPp {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
        let Some(rtt) = ack.rtt else { return };
        let delay = self.delay.push(rtt, now).as_secs_f64() / self.target;
        if self.phase == Phase::Start && delay > LEAVE {
            self.ssthresh = self.cwnd;
        }
        self.advance(path.srtt, now);
        let acked = ack.bytes.as_f64();
        let step = match self.phase {
            Phase::Frozen { .. } => 0.0,
            Phase::Start | Phase::Ramp { .. } => {
                let room = self.ssthresh - self.cwnd;
                (self.gain() * acked).min(room.max(0.0))
            }
            Phase::Avoid { .. } => self.change(delay) * self.packet * (acked / self.cwnd).min(1.0),
        };
        if step < 0.0 || ack.window_limited && !ack.in_recovery {
            self.cwnd = (self.cwnd + step).max(MIN_CWND * self.packet);
        }
        self.window = Bytes::new(self.cwnd as u64);
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
        let timeout = matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout);
        if !timeout && now < self.answered_until {
            return;
        }
        self.answered_until = now + path.srtt;
        if what != Congestion::RepeatedTimeout {
            self.before = Some((self.cwnd, self.ssthresh, self.phase));
        }
        let half = (self.cwnd / 2.0).max(MIN_CWND * self.packet);
        self.cwnd = if timeout { self.packet } else { self.cwnd.min(half) };
        self.ssthresh = half;
        // A timeout is a slowdown, too. A loss ends slow start.
        if timeout {
            self.phase = Phase::Ramp { began: now };
        }
        self.window = Bytes::new(self.cwnd as u64);
    }

    fn on_spurious(&mut self, now: Time) {
        if let Some((cwnd, ssthresh, phase)) = self.before.take() {
            (self.ssthresh, self.phase) = (ssthresh, phase);
            self.cwnd = self.cwnd.max(cwnd);
        }
        self.window = Bytes::new(self.cwnd as u64);
        self.answered_until = now;
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pacing: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        (self.ssthresh < f64::INFINITY).then_some(Bytes::new(self.ssthresh as u64))
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        self.delay.base_delay()
    }

    fn inner(&self, values: &mut Vec<f64>) {
        let phase = match self.phase {
            Phase::Start => 0.0,
            Phase::Avoid { .. } => 1.0,
            Phase::Frozen { .. } => 2.0,
            Phase::Ramp { .. } => 3.0,
        };
        values.extend([phase, seconds(self.base_rtt_estimate())]);
    }

    fn memory(&self) -> Duration {
        self.delay.memory()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { recovery: Recovery::Sack, ..Capabilities::default() }
    }
}
