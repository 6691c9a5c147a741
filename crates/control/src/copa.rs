//! Copa: steers its rate to one packet over δ times the queuing delay `[Arun18]`.
//!
//! ```text
//! d_q       = RTTstanding − RTTmin                          [Arun18 §2.1 eq. 2]
//! λ_t       = 1/(δ·d_q) packets per second                  [Arun18 eq. 1]
//! λ         = cwnd/RTTstanding
//! ack       cwnd ← cwnd ± v/(δ·cwnd), up while λ < λ_t      [Arun18 §2.1 step 3]
//! round     v ← 2v if most steps went the way of the rounds before, else v ← 1
//!                                                           [Arun18 §2.1 step 4, genericCC]
//! ack       v ← max(v/2, 1) while v > δ·cwnd                [genericCC]
//! pace      2·cwnd/RTTstanding                              [Arun18 §2.1]
//! slow start  cwnd doubles per round trip until λ ≥ λ_t     [Arun18 §2.1]
//! ```
//!
//! RTTstanding is the smallest round-trip time within srtt/2, RTTmin the smallest within ten seconds. The
//! rules for v are those of the authors' program (genericCC, `markoviancc.cc`): a direction counts from its
//! first round trip, and within a round trip only that bound changes v. So a step is at most one packet per
//! packet acknowledged.
//!
//! If the queue was never nearly empty in four round trips, other flows fill the buffer. Copa then
//! competes: 1/δ grows by one per round trip and halves at a loss [Arun18 §2.2]. A queue is nearly
//! empty up to a tenth of RTTmax − RTTmin above RTTmin, where RTTmax is the largest round-trip time
//! within four round trips.
//!
//! Departures from the source: `docs/src/models/copa.md`.

use crate::bbr3::paced;
use crate::estimator::Recent;
use crate::prelude::*;
use crate::tcp_window::TEN_PACKETS;

accord_family::params! {
    /// The parameters of Copa.
    pub struct Config of FAMILY => Copa(packet: Bytes) {
        /// Aversion to delay: in equilibrium 1/delta packets are queued.
        pub delta: f64 = number("0.5", 0.001, 10.0).meaning(Meaning::PerPacket).symbol("δ").source("[Arun18 §2.2]"),
        /// Lowers delta where other flows fill the buffer.
        pub compete: bool = flag("true").source("[Arun18 §2.2]"),
        pub initial_window: Size = TEN_PACKETS,
    }
}

/// The declaration of Copa.
pub static FAMILY: Family = Family {
    doc: "Copa: steers its rate to a packet over delta times the queuing delay.",
    source: "[Arun18]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "its window turns round once per five round trips by the smallest delay of half a round \
         trip, and a fluid's queue has no such minimum",
    ),
    inner: &[
        Inner::new(
            "copa.mode",
            Quantity::State(&["default", "competitive"]),
            "The mode: competitive while the queue does not become nearly empty.",
        ),
        Inner::new("copa.velocity", Quantity::Number, "The velocity v."),
        Inner::new("copa.delta", Quantity::Number, "The current δ."),
        Inner::new("copa.standing_rtt", Quantity::Seconds, "RTTstanding."),
    ],
    page: "models/copa.md",
    maker: &Maker::stream(|v, p| AnyController::Copa(Box::new(Copa::new(v, p)))),
    ..Family::new(
        "copa",
        Role::Controller(|values| {
            let target = Size::Packets(1.0 / values.number("delta"));
            Objective::AccumulationUnlessOthers { target }
        }),
    )
};

/// The span of RTTmin [Arun18 §2.1].
const MIN_SPAN: Duration = Duration::from_secs(10);
/// The span of RTTmax in round trips. Within it the queue must be nearly empty once.
const ROUNDS: u64 = 4;
/// The fraction of RTTmax − RTTmin below which the queue is nearly empty [Arun18 §2.2].
const NEARLY_EMPTY: f64 = 0.1;
/// The largest v, which keeps it finite if nothing limits the growth.
const FASTEST: f64 = 1e6;

/// The window, slow start and 1/δ with its time.
type Before = (f64, bool, Option<(f64, Time)>);

/// Copa.
#[derive(Clone, Debug)]
pub struct Copa {
    delta: f64,
    compete: bool,
    packet: f64,
    /// The congestion window, in bytes.
    cwnd: f64,
    slow_start: bool,
    /// v.
    velocity: f64,
    /// True if the window rose in the previous round trips.
    up: bool,
    /// The steps up less the steps down of this round trip, which began at `round`.
    steps: i64,
    round: Time,
    min: Recent,
    standing: Recent,
    /// The smallest and the largest round-trip times over the last few round trips.
    low: Recent,
    high: Recent,
    /// RTTmin and RTTstanding, once there is a sample.
    rtts: Option<(Duration, Duration)>,
    /// 1/δ while competing, and the time of its last change.
    competing: Option<(f64, Time)>,
    /// The window, slow start and 1/δ before the last response to a loss, until that is undone.
    before: Option<Before>,
    /// The window and the pace.
    allowance: Allowance,
}

impl Copa {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> Copa {
        let packet_bytes = packet.get().max(1) as f64;
        let initial = values.size("initial_window").bytes_f64(packet);
        let cwnd = initial.round().max(packet_bytes);
        Copa {
            delta: values.number("delta"),
            compete: values.flag("compete"),
            packet: packet_bytes,
            cwnd,
            slow_start: true,
            velocity: 1.0,
            up: true,
            steps: 1,
            round: Time::ZERO,
            min: Recent::default(),
            standing: Recent::default(),
            low: Recent::default(),
            high: Recent::default(),
            rtts: None,
            competing: None,
            before: None,
            allowance: Allowance { window: Bytes::new(cwnd as u64), pacing: None },
        }
    }

    /// The current δ.
    pub fn delta(&self) -> f64 {
        match self.competing {
            Some((inverse, _)) => 1.0 / inverse,
            None => self.delta,
        }
    }

    /// Returns true while the flow competes with flows that fill the buffer.
    pub fn is_competing(&self) -> bool {
        self.competing.is_some()
    }

    /// Sets the mode and 1/δ.
    fn compete(&mut self, others: bool, rtt: Duration, now: Time) {
        self.competing = match self.competing {
            _ if !self.compete || !others => None,
            None => Some((1.0 / self.delta, now)),
            Some((inverse, since)) if now > since + rtt => Some((inverse + 1.0, now)),
            same => same,
        };
    }

    /// Ends the round trip once `rtt` has passed, and bounds v.
    fn speed(&mut self, rtt: Duration, now: Time) {
        if now > self.round + rtt {
            if self.steps > 0 && self.up || self.steps < 0 && !self.up {
                self.velocity = (2.0 * self.velocity).min(FASTEST);
            } else {
                self.velocity = 1.0;
                self.up = !self.up;
            }
            (self.round, self.steps) = (now, 0);
        }
        if self.velocity > self.delta() * self.cwnd / self.packet {
            self.velocity = (self.velocity / 2.0).max(1.0);
        }
    }

    /// Moves the window for an acknowledgement of `acked` bytes.
    fn step(&mut self, acked: f64, faster: bool) {
        // v/(δ·cwnd) packets per packet acknowledged.
        let step = self.velocity * self.packet * acked / (self.delta() * self.cwnd);
        if faster {
            self.steps += 1;
            self.cwnd += step.min(acked);
        } else {
            self.steps -= 1;
            self.cwnd = (self.cwnd - step.min(acked)).max(2.0 * self.packet);
        }
    }

    /// Sets the allowance from the window and RTTstanding.
    fn allow(&mut self) {
        self.allowance.window = Bytes::new(self.cwnd as u64);
        self.allowance.pacing = (self.rtts)
            .map(|(_, standing)| paced(2.0 * self.cwnd / standing.as_secs_f64().max(1e-12)));
    }

    /// Takes an acknowledgement with a round-trip time.
    fn listen(&mut self, ack: &Acked, rtt: Duration, path: &PathView, now: Time) {
        let min = self.min.min(rtt, MIN_SPAN, now);
        let half = Duration::from_ps(path.srtt.as_ps() / 2);
        let standing = self.standing.min(rtt, half, now);
        let rounds = Duration::from_ps(path.srtt.as_ps().saturating_mul(ROUNDS));
        let low = self.low.min(rtt, rounds, now).saturating_sub(min);
        let high = self.high.max(rtt, rounds, now).saturating_sub(min);
        self.rtts = Some((min, standing));
        let others = low.as_secs_f64() >= NEARLY_EMPTY * high.as_secs_f64() && !high.is_zero();
        self.compete(others, rtt, now);
        // λ < λ_t, without dividing by a delay of zero.
        let queuing = standing.saturating_sub(min).as_secs_f64();
        let rate = self.cwnd / self.packet / standing.as_secs_f64().max(1e-12);
        let faster = rate * self.delta() * queuing < 1.0;
        let acked = ack.bytes.as_f64();
        if self.slow_start {
            if ack.window_limited {
                self.cwnd += acked;
            }
            self.slow_start = faster;
            return;
        }
        self.speed(rtt, now);
        if !faster || ack.window_limited {
            self.step(acked, faster);
        }
    }
}

impl Controller for Copa {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
        if let Some(rtt) = ack.rtt {
            self.listen(ack, rtt, path, now);
            self.allow();
        }
    }

    fn on_congestion(&mut self, what: Congestion, _: &PathView, now: Time) {
        if what != Congestion::RepeatedTimeout {
            self.before = Some((self.cwnd, self.slow_start, self.competing));
        }
        if let Some((inverse, _)) = self.competing {
            self.competing = Some(((inverse / 2.0).max(1.0 / self.delta), now));
        }
        if matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout) {
            self.cwnd = self.packet;
            (self.velocity, self.up, self.steps) = (1.0, true, 1);
            self.allow();
        }
    }

    fn on_spurious(&mut self, _: Time) {
        if let Some((cwnd, slow_start, competing)) = self.before.take() {
            self.cwnd = self.cwnd.max(cwnd);
            (self.slow_start, self.competing) = (slow_start, competing);
            self.allow();
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn inner(&self, values: &mut Vec<f64>) {
        values.extend([
            f64::from(u8::from(self.competing.is_some())),
            self.velocity,
            self.delta(),
            seconds(self.rtts.map(|(_, standing)| standing)),
        ]);
    }

    fn accumulation_estimate(&self) -> Option<f64> {
        // The rate times the queuing delay.
        let (min, standing) = self.rtts?;
        let standing = standing.as_secs_f64().max(1e-12);
        Some(self.cwnd * (1.0 - min.as_secs_f64() / standing).max(0.0))
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        self.rtts.map(|(min, _)| min)
    }

    fn memory(&self) -> Duration {
        MIN_SPAN
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { recovery: Recovery::Sack, ..Capabilities::default() }
    }
}
