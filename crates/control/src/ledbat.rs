//! LEDBAT: background traffic that keeps a queuing delay at a target [RFC 6817].
//!
//! ```text
//! off_target = (TARGET − queuing delay)/TARGET                     [RFC 6817 §2.4.2]
//! ack        cwnd ← cwnd + GAIN·off_target·acked·packet/cwnd       [RFC 6817 §2.4.2]
//!            cwnd ≤ flight + ALLOWED_INCREASE, cwnd ≥ MIN_CWND     [RFC 6817 §2.4.2]
//! loss       cwnd ← cwnd/2, once per round trip                    [RFC 6817 §2.4.2]
//! timeout    cwnd ← 1 packet                                       [RFC 6817 §2.4.2]
//! ```
//!
//! The queuing delay is the smallest of the latest samples less the smallest sample of several
//! minutes.
//!
//! MIN_CWND is two packets. Departures from the source: `docs/src/models/ledbat.md`.

use crate::estimator::QueuingDelay;
use crate::prelude::*;
use crate::tcp_window::INITIAL_WINDOW;
use accord_family::kind::integer;

const SOURCE: &str = "[RFC 6817 §2.5]";

/// Memory of the smallest delays.
pub(crate) const BASE_HISTORY: Param = integer("10", 1, 100)
    .symbol("BASE_HISTORY")
    .source(SOURCE)
    .declared("base_history", "Memory of the smallest round-trip time, in minutes.");

/// The number of samples whose smallest is the current delay.
pub(crate) const CURRENT_FILTER: Param =
    integer("4", 1, 1000).symbol("CURRENT_FILTER").source(SOURCE).declared(
        "current_filter",
        "Number of samples of which the current round-trip time is the smallest.",
    );

accord_family::params! {
    /// The parameters of LEDBAT.
    pub struct Config of FAMILY => Ledbat(packet: Bytes) {
        /// The queuing delay kept.
        pub target: Duration = duration("100 ms").symbol("TARGET").source(SOURCE),
        /// Packets that the window grows by in a round trip without a queue.
        pub gain: f64 = number("1", 0.001, 1.0).symbol("GAIN").source(SOURCE),
        pub base_history: u64 = BASE_HISTORY,
        pub current_filter: u64 = CURRENT_FILTER,
        /// Most that the window exceeds the data in flight by.
        pub allowed_increase: Size = size("1 pkt").symbol("ALLOWED_INCREASE").source(SOURCE),
        pub initial_window: Size = INITIAL_WINDOW.source(SOURCE),
    }
}

/// The declaration of LEDBAT.
pub static FAMILY: Family = Family {
    doc: "LEDBAT: background traffic that keeps the queuing delay at a target.",
    source: "[RFC 6817]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "it steers the queuing delay, and the fluid's laws steer the amount that a flow has queued",
    ),
    inner: &[Inner::new(
        "ledbat.base_delay",
        Quantity::Seconds,
        "The base delay: the smallest of the last minutes, here of round-trip times.",
    )],
    page: "models/ledbat.md",
    maker: &Maker::stream(|v, p| AnyController::Ledbat(Box::new(Ledbat::new(v, p)))),
    ..Family::new("ledbat", Role::Controller(|_| Objective::Other))
};

/// MIN_CWND, in packets.
const MIN_CWND: f64 = 2.0;

/// LEDBAT.
#[derive(Clone, Debug)]
pub struct Ledbat {
    packet: f64,
    /// The congestion window, in bytes.
    cwnd: f64,
    /// TARGET in seconds, and GAIN.
    target: f64,
    gain: f64,
    allowed_increase: f64,
    delay: QueuingDelay,
    /// The window before the last response to a loss, or zero after an undo.
    before: f64,
    /// The maximum number of bytes in flight in this round trip.
    flight: f64,
    /// Losses before this time belong to a round trip that was already answered.
    answered_until: Time,
    /// The window in whole bytes.
    window: Bytes,
}

impl Ledbat {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> Ledbat {
        let config = Config::from(values);
        let bytes = packet.get().max(1) as f64;
        let cwnd = config.initial_window.bytes_f64(packet).round().max(bytes);
        Ledbat {
            packet: bytes,
            cwnd,
            target: config.target.as_secs_f64(),
            gain: config.gain,
            allowed_increase: config.allowed_increase.bytes_f64(packet),
            delay: QueuingDelay::new(config.base_history as usize, config.current_filter as usize),
            before: 0.0,
            flight: 0.0,
            answered_until: Time::ZERO,
            window: Bytes::new(cwnd as u64),
        }
    }
}

impl Controller for Ledbat {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
        let Some(rtt) = ack.rtt else { return };
        let queuing = self.delay.push(rtt, now).as_secs_f64();
        let off_target = (self.target - queuing) / self.target.max(1e-12);
        if ack.in_recovery && off_target > 0.0 {
            return;
        }
        let acked = ack.bytes.as_f64();
        // A single acknowledgement counts as at most one window, and a delay cannot take more than
        // all of it.
        let part = (acked / self.cwnd).min(1.0);
        self.cwnd += (self.gain * off_target * part * self.packet).max(-self.cwnd);
        // The data in flight falls while a burst of the application is acknowledged.
        let before = if ack.round_ended { 0.0 } else { self.flight };
        self.flight = before.max(path.in_flight.as_f64() + acked);
        self.cwnd = self.cwnd.min(self.flight + self.allowed_increase);
        self.cwnd = self.cwnd.max(MIN_CWND * self.packet);
        self.window = Bytes::new(self.cwnd as u64);
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
        if what != Congestion::RepeatedTimeout {
            self.before = self.cwnd;
        }
        match what {
            Congestion::Timeout | Congestion::RepeatedTimeout => self.cwnd = self.packet,
            _ if now < self.answered_until => {}
            _ => {
                let half = (self.cwnd / 2.0).max(MIN_CWND * self.packet);
                self.cwnd = self.cwnd.min(half);
                self.answered_until = now + path.srtt;
            }
        }
        self.window = Bytes::new(self.cwnd as u64);
    }

    fn on_spurious(&mut self, now: Time) {
        self.cwnd = self.cwnd.max(std::mem::take(&mut self.before));
        self.window = Bytes::new(self.cwnd as u64);
        self.answered_until = now;
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { window: self.window, pacing: None }
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        self.delay.base_delay()
    }

    fn inner(&self, values: &mut Vec<f64>) {
        values.push(seconds(self.base_rtt_estimate()));
    }

    fn memory(&self) -> Duration {
        self.delay.memory()
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { recovery: Recovery::Sack, ..Capabilities::default() }
    }
}
