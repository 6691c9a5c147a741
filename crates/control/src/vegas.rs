//! TCP Vegas: keeps a few packets of its own queued on the path.
//!
//! Once per round trip, with the backlog a of [`VegasEstimator`], which is a real number:
//!
//! ```text
//! slow start            cwnd doubles every second round trip [Low02 §1.1]; once a > γ,
//!                       cwnd ← 7/8 · cwnd, and on with congestion avoidance
//! congestion avoidance  cwnd ← cwnd + 1 packet if a < α,
//!                       cwnd ← cwnd − 1 packet if a > β       [Low02 eq. 1, Xia05 eq. 9]
//! early loss            cwnd ← 3/4 · cwnd, once per round trip
//! loss, mark, timeout, idle time   as Reno
//! ```
//!
//! Thresholds are amounts (proportional fairness), or rates times the base round-trip time
//! (fairness weighted by propagation delay, Low02's α_s·d_s). With α = β, as in Low02, the window
//! rests only if the backlog equals both. With early retransmission the transport checks a
//! fine-grained timer on the first duplicate acknowledgements [Low02 §1.1].
//!
//! With a [`Service`], α and β times the weight bound the backlog in excess of the contracted
//! rate's. The window also shrinks while more is queued than the limit [Har02 eq. 8].
//!
//! Departures from the source: `docs/src/models/vegas.md`.

mod thresholds;

pub(crate) use thresholds::Thresholds;

use crate::estimator::VegasEstimator;
use crate::prelude::*;
use crate::service::Held;
use crate::tcp_window::{ECN, INITIAL_WINDOW, SACK, TcpWindow, marks, recovery, shows_window};
use accord_family::{
    BaseRtt, Reads, Target,
    kind::{choice, integer, rate, size},
};
use std::f64::consts::LN_2;
use thresholds::{absent, check, target};

pub(crate) const ALPHA: Param = size("")
    .symbol("α, ε₁")
    .source("[Xia05 eq. 9]")
    .declared("alpha", "The window grows while fewer are queued; 1 pkt where no rates are given.");

const BETA: Param = size("")
    .symbol("β, ε₂")
    .source("[Xia05 eq. 9]")
    .declared("beta", "The window shrinks while more are queued; 3 pkt where no rates are given.");

pub(crate) const ALPHA_RATE: Param = rate("")
    .symbol("α_s")
    .source("[Low02 eq. 1]")
    .declared("alpha_rate", "Instead of alpha: the amount per base round-trip time.");

const BETA_RATE: Param = rate("")
    .symbol("β_s")
    .source("[Low02 §2.1]")
    .declared("beta_rate", "Instead of beta: the amount per base round-trip time.");

pub(crate) const GAMMA: Param = size("1 pkt")
    .symbol("γ")
    .source("[Low02 §1.1]")
    .declared("gamma", "Slow start ends when more are queued.");

pub(crate) const BASE_RTT: Param = choice("measured", BaseRttSource::WORDS)
    .meaning(Meaning::BaseRtt("known"))
    .symbol("d")
    .source("[Low02 §6.2]")
    .declared(
        "base_rtt",
        "Whether the base round-trip time is the smallest sample, or the true one of the \
          network, which no real sender knows.",
    );

const K: Param = integer("50", 1, 1_000_000)
    .meaning(Meaning::Packets)
    .symbol("k")
    .source("[Xia05 §IV-A]")
    .declared("k", "Number of round-trip time samples of which the base is the smallest.");

accord_family::params! {
    /// The parameters of Vegas.
    pub struct Config of VEGAS => Vegas(packet: Bytes) {
        pub alpha: Option<Size> = ALPHA,
        pub beta: Option<Size> = BETA,
        pub alpha_rate: Option<Rate> = ALPHA_RATE,
        pub beta_rate: Option<Rate> = BETA_RATE,
        pub gamma: Size = GAMMA,
        pub base_rtt: BaseRttSource = BASE_RTT,
        pub initial_window: Size = INITIAL_WINDOW,
        pub sack: bool = SACK,
        pub ecn: bool = ECN,
    }
}

/// The variables of Vegas and Vegas-k.
const INNER: &[Inner] = &[
    Inner::new(
        "vegas.estimate",
        Quantity::Bytes,
        "The estimated data of the flow in queues, diff.",
    ),
    Inner::new("vegas.alpha", Quantity::Bytes, "The threshold α below which the window grows."),
    Inner::new("vegas.beta", Quantity::Bytes, "The threshold β above which the window shrinks."),
];

/// The declaration of Vegas.
pub static VEGAS: Family = Family {
    doc: "TCP Vegas: keeps between alpha and beta of its own data queued on the path, \
          judged by round-trip times.",
    source: "[Low02 §1.1, Xia05 §IV-A]",
    params: Config::PARAMS,
    check,
    absent,
    dynamics: Dynamics::Window(|values, facts| dynamics(values, facts, known_or_smallest(values))),
    inner: INNER,
    page: "models/vegas.md",
    maker: &Maker::stream(|v, p| AnyController::Vegas(Box::new(Vegas::new(v, p)))),
    ..Family::new("vegas", Role::Controller(objective))
};

accord_family::params! {
    /// The parameters of Vegas-k.
    pub struct ConfigK of VEGAS_K => Vegas(packet: Bytes) {
        pub k: u64 = K,
        pub alpha: Option<Size> = ALPHA,
        pub beta: Option<Size> = BETA,
        pub alpha_rate: Option<Rate> = ALPHA_RATE,
        pub beta_rate: Option<Rate> = BETA_RATE,
        pub gamma: Size = GAMMA,
        pub initial_window: Size = INITIAL_WINDOW,
        pub sack: bool = SACK,
        pub ecn: bool = ECN,
    }
}

/// The declaration of Vegas-k.
pub static VEGAS_K: Family = Family {
    doc: "TCP Vegas that forgets: its base round-trip time is the smallest of the last k \
          samples.",
    source: "[Xia05 §IV-A]",
    params: ConfigK::PARAMS,
    check,
    absent,
    dynamics: Dynamics::Window(|values, facts| {
        let samples = values.integer("k") as f64;
        let bytes = samples * facts.packet.as_f64();
        dynamics(values, facts, BaseRtt::Last { bytes })
    }),
    inner: INNER,
    page: "models/vegas.md",
    maker: &Maker::stream(|v, p| AnyController::VegasK(Box::new(Vegas::new(v, p)))),
    ..Family::new("vegas-k", Role::Controller(true_objective))
};

/// Returns the objective by the smallest of all round-trip times, unless the true base round-trip
/// time is known.
fn objective(values: &Values) -> Objective {
    match values.choice("base_rtt") {
        "measured" => Objective::MeasuredAccumulation { target: target(values) },
        _ => true_objective(values),
    }
}

/// Returns the objective by a base round-trip time that is the true one, or becomes it.
fn true_objective(values: &Values) -> Objective {
    match target(values) {
        Target::Amount(target) => Objective::Accumulation { target },
        Target::PerRoundTrip(rate) => Objective::AccumulationPerRoundTrip { rate },
    }
}

/// Returns the base round-trip time in the fluid engine, for families that have the choice.
pub(crate) fn known_or_smallest(values: &Values) -> BaseRtt {
    match values.choice("base_rtt") {
        "known" => BaseRtt::Known,
        _ => BaseRtt::Smallest,
    }
}

fn dynamics(values: &Values, facts: &FlowFacts, base: BaseRtt) -> WindowDynamics {
    WindowDynamics {
        law: Thresholds::new(values, facts.packet).law(facts.weight),
        base,
        ecn: values.flag("ecn"),
        ..window_dynamics(values, facts)
    }
}

/// Returns the part of the dynamics that all controllers with Vegas's window share.
pub(crate) fn window_dynamics(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    let size = |name| values.size(name).bytes_f64(facts.packet);
    WindowDynamics {
        reads: Reads::RoundTrip,
        initial: size("initial_window"),
        growth: LN_2 / 2.0,
        leave: size("gamma"),
        keep: 7.0 / 8.0,
        window_clocked: true,
        ..WindowDynamics::UNRESPONSIVE
    }
}

/// TCP Vegas, or Vegas-k.
#[derive(Clone, Debug)]
pub struct Vegas {
    cwnd: TcpWindow,
    estimator: VegasEstimator,
    thresholds: Thresholds,
    /// The service of the flow. It is boxed to be small, because it is needed only once per round
    /// trip.
    service: Box<Held>,
    gamma: f64,
    /// True if the window grows in this round of slow start. The other rounds measure the effect.
    growing: bool,
    /// The value of `growing` before the last response to a loss.
    grew: bool,
    /// The time until which a further early loss belongs to a round trip that was already answered.
    answered_until: Time,
    capabilities: Capabilities,
}

/// Creates the estimator with the base round-trip time that `values` asks for.
fn estimator(values: &Values) -> VegasEstimator {
    if values.family().name == VEGAS_K.name {
        return VegasEstimator::last(usize::try_from(values.integer("k")).unwrap_or(usize::MAX));
    }
    match values.choice("base_rtt") {
        "known" => VegasEstimator::told(),
        _ => VegasEstimator::default(),
    }
}

impl Vegas {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> Vegas {
        Vegas::with(values, packet, Thresholds::new(values, packet), marks(values))
    }

    pub(crate) fn with(
        values: &Values,
        packet: Bytes,
        thresholds: Thresholds,
        marks: Marks,
    ) -> Vegas {
        Vegas {
            cwnd: TcpWindow::new(values, packet),
            estimator: estimator(values),
            thresholds,
            service: Box::default(),
            gamma: values.size("gamma").bytes_f64(packet),
            growing: false,
            grew: false,
            answered_until: Time::ZERO,
            capabilities: Capabilities {
                recovery: recovery(values),
                marks,
                early_retransmission: true,
                ..Capabilities::default()
            },
        }
    }

    fn end_slow_start_round(&mut self, backlog: Option<f64>) {
        if self.growing {
            self.growing = false;
        } else if backlog.is_some_and(|a| a > self.gamma) {
            self.cwnd.continue_from(self.cwnd.window - self.cwnd.window / 8);
        } else {
            self.growing = true;
        }
    }

    /// Takes an acknowledgement, and moves the window while in slow start. Returns the backlog when
    /// a step of congestion avoidance is due.
    #[inline]
    pub(crate) fn listen(&mut self, ack: &Acked) -> Option<f64> {
        let backlog = self.estimator.on_ack(ack, self.cwnd.window);
        if ack.in_recovery {
            return None;
        }
        if !self.cwnd.in_slow_start() {
            return backlog;
        }
        if ack.round_ended {
            self.end_slow_start_round(backlog);
        }
        if self.growing && ack.window_limited {
            self.cwnd.grow_slow_start(ack.bytes);
        }
        None
    }

    /// Makes a step of congestion avoidance for a backlog in bytes, or for a substitute of it.
    pub(crate) fn avoid_congestion(&mut self, backlog: f64, may_grow: bool) {
        let base_rtt = self.estimator.base_rtt().unwrap_or(Duration::ZERO);
        let (alpha, beta) = self.thresholds.in_bytes(base_rtt);
        let excess = |target| self.service.excess(backlog, target, self.estimator.rate());
        if excess(alpha) < 0.0 {
            if may_grow {
                self.cwnd.increment();
            }
        } else if excess(beta) > 0.0 {
            self.cwnd.decrement();
        }
    }

    /// The rate of the last round in bytes per second, as [`VegasEstimator::rate`].
    pub(crate) fn rate(&self) -> f64 {
        self.estimator.rate()
    }
}

impl Controller for Vegas {
    #[inline]
    fn on_ack(&mut self, ack: &Acked, _: &PathView, _: Time) {
        if let Some(backlog) = self.listen(ack) {
            self.avoid_congestion(backlog, ack.window_limited);
        }
    }

    fn on_spurious(&mut self, now: Time) {
        self.answered_until = now;
        self.growing = self.grew;
        self.cwnd.undo();
    }

    fn on_idle(&mut self) {
        self.growing = false;
        self.cwnd.restart_idle();
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
        let timeout = matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout);
        if !timeout && now < self.answered_until {
            return;
        }
        self.answered_until = now + path.srtt;
        if what != Congestion::RepeatedTimeout {
            self.grew = self.growing;
        }
        self.growing = false;
        if what == Congestion::EarlyLoss {
            let window = self.cwnd.window;
            self.cwnd.save();
            self.cwnd.continue_from(window - window / 4);
        } else {
            self.cwnd.respond(what, path);
        }
    }

    shows_window! {}

    fn inner(&self, values: &mut Vec<f64>) {
        let base_rtt = self.estimator.base_rtt().unwrap_or(Duration::ZERO);
        let (alpha, beta) = self.thresholds.in_bytes(base_rtt);
        let estimate = self.estimator.accumulation().unwrap_or(f64::NAN);
        values.extend([estimate, self.service.own(alpha), self.service.own(beta)]);
    }

    fn accumulation_estimate(&self) -> Option<f64> {
        self.estimator.accumulation()
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        self.estimator.base_rtt()
    }

    fn set_service(&mut self, service: &Service) {
        *self.service = Held::new(service);
    }

    fn set_base_rtt(&mut self, base_rtt: Duration) {
        self.estimator.tell(base_rtt);
    }
}

accord_family::choice! {
    /// The source of the base round-trip time.
    pub enum BaseRttSource {
        /// The smallest sample.
        Measured = "measured",
        /// The network. No real sender can know it.
        Known = "known",
    }
}
