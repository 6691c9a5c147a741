//! Vegas with REM: Vegas's window, moved by the price that links convey with marks instead of
//! queuing delay.
//!
//! Once per round trip, with x the rate of the round that ended and p̂ the price that follows from
//! the share of marks (see [`MarkEstimator`]):
//!
//! ```text
//! slow start            as Vegas
//! congestion avoidance  cwnd ← cwnd + 1 packet if x·p̂ < α·d,
//!                       cwnd ← cwnd − 1 packet if x·p̂ > α·d    [Low02 §5]
//! loss, timeout, idle   as Vegas
//! ```
//!
//! In equilibrium x = α·d / p [Low02 eq. 33]. This is the allocation of Vegas, without the queue
//! that Vegas needs to measure the price. Because queues are short, the smallest round-trip time is
//! the true base regardless of when the flow begins.
//!
//! The source does not give the number of packets over which the share of marks is taken. N is our
//! choice. The price needs every mark, so the receiver's echo has to be accurate, unlike the latch
//! of RFC 3168. The packets of the flow are always ECN-capable.

use crate::estimator::MarkEstimator;
use crate::prelude::*;
use crate::tcp_window::{INITIAL_WINDOW, SACK};
use crate::vegas::{self, Thresholds, Vegas};
use accord_family::{Reads, Target};

accord_family::params! {
    /// The parameters of Vegas/REM.
    pub struct Config of FAMILY => VegasRem(packet: Bytes) {
        /// Rate times price that the flow keeps to; 2 pkt where no rate is given.
        pub alpha: Option<Size> = size("").symbol("α·d").source("[Low02 eq. 33]"),
        /// Instead of alpha: the amount per base round-trip time.
        pub alpha_rate: Option<Rate> = rate("").symbol("α").source("[Low02 §6.3]"),
        /// Base of the marking; has to be that of the links.
        pub phi: f64 = number("1.1", 1.000001, 10.0).symbol("φ").source("[Low02 §6.3]"),
        /// Number of packets over which the share of marks is averaged.
        pub memory: u64 = integer("64", 1, 1_000_000).meaning(Meaning::Packets).symbol("N"),
        pub gamma: Size = vegas::GAMMA,
        pub base_rtt: vegas::BaseRttSource = vegas::BASE_RTT,
        pub initial_window: Size = INITIAL_WINDOW,
        pub sack: bool = SACK,
    }
}

/// The declaration of Vegas with REM.
pub static FAMILY: Family = Family {
    doc: "Vegas with the price of its path from REM's marks instead of from queuing delay.",
    source: "[Low02 §5]",
    params: Config::PARAMS,
    check: |values| match (values.size_opt("alpha"), values.rate_opt("alpha_rate")) {
        (Some(_), Some(_)) => {
            Err("alpha is an amount, alpha_rate the same per base round-trip time; give one or \
             the other"
                .into())
        }
        _ => Ok(()),
    },
    absent: |values, name| match name {
        "alpha" if values.rate_opt("alpha_rate").is_none() => Value::Size(DEFAULT_TARGET),
        _ => Value::Absent,
    },
    dynamics: Dynamics::Window(dynamics),
    page: "models/vegas-rem.md",
    maker: &Maker::stream(|v, p| AnyController::VegasRem(Box::new(VegasRem::new(v, p)))),
    ..Family::new(
        "vegas-rem",
        Role::Controller(|values| Objective::Marks {
            target: target(values),
            phi: values.number("phi"),
        }),
    )
};

/// The target where neither an amount nor a rate is given.
const DEFAULT_TARGET: Size = Size::Packets(2.0);

fn target(values: &Values) -> Target {
    match values.rate_opt("alpha_rate") {
        Some(rate) => Target::PerRoundTrip(rate),
        None => Target::Amount(values.size_opt("alpha").unwrap_or(DEFAULT_TARGET)),
    }
}

fn thresholds(values: &Values, packet: Bytes) -> Thresholds {
    match target(values) {
        Target::Amount(size) => {
            let bytes = size.bytes_f64(packet);
            Thresholds::Amounts(bytes, bytes)
        }
        Target::PerRoundTrip(rate) => {
            let rate = rate.as_bps_f64() / 8.0;
            Thresholds::Rates(rate, rate)
        }
    }
}

fn dynamics(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    WindowDynamics {
        law: thresholds(values, facts.packet).law(facts.weight),
        reads: Reads::Marks {
            ln_phi: libm::log(values.number("phi")),
            memory: values.integer("memory") as f64 * facts.packet.as_f64(),
        },
        base: vegas::known_or_smallest(values),
        ecn: true,
        ..vegas::window_dynamics(values, facts)
    }
}

/// Vegas with REM.
#[derive(Clone, Debug)]
pub struct VegasRem {
    vegas: Vegas,
    /// The estimator of the price. It is boxed, so controllers of other kinds stay small.
    marks: Box<MarkEstimator>,
}

impl VegasRem {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> VegasRem {
        VegasRem {
            vegas: Vegas::with(values, packet, thresholds(values, packet), Marks::Price),
            marks: MarkEstimator::new(values.number("phi"), values.integer("memory")).into(),
        }
    }
}

impl Controller for VegasRem {
    #[inline]
    fn on_ack(&mut self, ack: &Acked, path: &PathView, _: Time) {
        // The share is also kept up to date in slow start [Low02 §6.3].
        let packets = ack.bytes.as_f64() / path.packet.as_f64();
        self.marks.on_ack(packets, ack.marked as f64);
        if self.vegas.listen(ack).is_some() {
            let pays = self.vegas.rate() * self.marks.price() * 1e-3;
            self.vegas.avoid_congestion(pays, ack.window_limited);
        }
    }

    fn on_spurious(&mut self, now: Time) {
        self.vegas.on_spurious(now);
    }

    fn on_idle(&mut self) {
        self.vegas.on_idle();
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
        self.vegas.on_congestion(what, path, now);
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.vegas.allowance()
    }

    fn ssthresh(&self) -> Option<Bytes> {
        self.vegas.ssthresh()
    }

    fn accumulation_estimate(&self) -> Option<f64> {
        self.vegas.accumulation_estimate()
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        self.vegas.base_rtt_estimate()
    }

    fn capabilities(&self) -> Capabilities {
        self.vegas.capabilities()
    }

    fn set_base_rtt(&mut self, base_rtt: Duration) {
        self.vegas.set_base_rtt(base_rtt);
    }
}
