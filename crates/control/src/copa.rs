//! Copa: steers its rate to one packet over δ times the queuing delay `[Arun18]`.
//!
//! ```text
//! d_q       = RTTstanding − RTTmin                          [Arun18 §2.1 eq. 2]
//! λ_t       = 1/(δ·d_q) packets per second                  [Arun18 eq. 1]
//! λ         = cwnd/RTTstanding
//! ack       cwnd ← cwnd ± v/(δ·cwnd), up while λ ≤ λ_t      [Arun18 §2.1 step 3]
//! window    v ← 2v once cwnd has kept its direction for three round trips, else v ← 1
//!                                                           [Arun18 §2.1 step 4]
//! pace      2·cwnd/RTTstanding                              [Arun18 §2.1]
//! slow start  cwnd doubles per round trip until λ > λ_t     [Arun18 §2.1]
//! ```
//!
//! RTTstanding is the smallest round-trip time of srtt/2, RTTmin that of ten seconds.
//!
//! Where the queue was never nearly empty in five round trips, other flows fill the buffer. Then
//! Copa competes: 1/δ grows by one per round trip and halves at a loss [Arun18 §2.2]. Nearly empty
//! is d_q below a tenth of RTTmax − RTTmin, with RTTmax the largest of four round trips.
//!
//! | symbol | field            | unit           | default | range     | source |
//! |--------|------------------|----------------|---------|-----------|--------|
//! | δ      | `delta`          | 1/packets      | 0.5     | 0.001 to 10 | Arun18 §2.2 |
//! | –      | `compete`        | –              | true    | –         | Arun18 §2.2 |
//! | IW     | `initial_window` | packets, bytes | 10 pkt  | > 0       | RFC 6928 |
//!
//! Departures from the source. v doubles a round trip later than after three in the same direction:
//! in equilibrium the window goes one way for two and a half round trips, and now and then for four
//! by the way they fall out. A change of direction within a round trip resets v at once, not at its
//! end. Both are as in mvfst. A queue of less than a packet counts as empty, too: with δ = 0.5 a
//! tenth of the swing is half a packet, and Copa would take its own queue for that of others. The
//! time of a packet is the smallest gap between acknowledgements of ten seconds. The window changes
//! by what is acknowledged at most, and keeps two packets. A timeout starts again from a packet, in
//! slow start; the source has no rule for it.

use crate::bbr3::paced;
use crate::estimator::{RecentMax, RecentMin};
use crate::tcp_window::INITIAL_WINDOW;
use crate::{Acked, Allowance, Capabilities, Congestion, Controller, PathView, Recovery};
use crate::{AnyController, Maker, Transport};
use accord_family::{Dynamics, Family, Kind, Objective, Param, Role, Values};
use accord_units::{Bytes, Duration, Size, Time};

/// The declaration of Copa.
pub static FAMILY: Family = Family {
    name: "copa",
    doc: "Copa: steers its rate to a packet over delta times the queuing delay.",
    source: "[Arun18]",
    params: &[
        Param {
            name: "delta",
            symbol: "δ",
            kind: Kind::Number {
                min: 0.001,
                max: 10.0,
            },
            default: "0.5",
            doc: "Aversion to delay: in equilibrium 1/delta packets are queued.",
            source: "[Arun18 §2.2]",
        },
        Param {
            name: "compete",
            symbol: "",
            kind: Kind::Flag,
            default: "true",
            doc: "Lowers delta where other flows fill the buffer.",
            source: "[Arun18 §2.2]",
        },
        Param {
            default: "10 pkt",
            source: "[RFC 6928]",
            ..INITIAL_WINDOW
        },
    ],
    check: |_| Ok(()),
    role: Role::Controller(|values| Objective::Accumulation {
        target: Size::Packets(1.0 / values.number("delta")),
    }),
    dynamics: Dynamics::Missing(
        "its window turns round once per five round trips by the smallest delay of half a round \
         trip, and a fluid's queue has no such minimum",
    ),
    kernel: None,
    stack: None,
    page: "models/copa.md",
    maker: &Maker {
        build: |values, packet| AnyController::Copa(Box::new(Copa::new(values, packet))),
        transport: Transport::Stream,
    },
};

/// The span of RTTmin [Arun18 §2.1].
const MIN_SPAN: Duration = Duration::from_secs(10);
/// The round trips after the first of one direction until v doubles. The paper has two or three
/// [Arun18 §2.1].
const STEADY: u32 = 4;
/// The round trips within which the queue has to be nearly empty once [Arun18 §2.2].
const EMPTY_WITHIN: u32 = 5;
/// The round trips of RTTmax [Arun18 §2.2].
const MAX_ROUNDS: u64 = 4;
/// The part of RTTmax − RTTmin below which the queue is nearly empty [Arun18 §2.2].
const NEARLY_EMPTY: f64 = 0.1;
/// The largest v, so that it stays finite where nothing limits the growth.
const FASTEST: f64 = 1e6;

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
    /// The window grew in the last round trip, and for how many in a row it has gone that way.
    up: bool,
    same: u32,
    /// The window when this round trip began.
    at_round: f64,
    min: RecentMin,
    standing: RecentMin,
    max: RecentMax,
    /// The gaps between acknowledgements, and the time of the last one.
    gaps: RecentMin,
    heard: Time,
    /// RTTmin and RTTstanding, once there was a sample.
    rtts: Option<(Duration, Duration)>,
    /// 1/δ while competing.
    competing: Option<f64>,
    /// The round trips since the queue was nearly empty.
    since_empty: u32,
    /// There was a loss in this round trip.
    lost: bool,
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
            same: 0,
            at_round: cwnd,
            min: RecentMin::default(),
            standing: RecentMin::default(),
            max: RecentMax::default(),
            gaps: RecentMin::default(),
            heard: Time::ZERO,
            rtts: None,
            competing: None,
            since_empty: 0,
            lost: false,
            allowance: Allowance {
                window: Bytes::new(cwnd as u64),
                pacing: None,
            },
        }
    }

    /// The present δ.
    pub fn delta(&self) -> f64 {
        match self.competing {
            Some(inverse) => 1.0 / inverse,
            None => self.delta,
        }
    }

    /// Whether it competes with flows that fill the buffer.
    pub fn is_competing(&self) -> bool {
        self.competing.is_some()
    }

    /// Ends a round trip: the mode, 1/δ and v.
    fn end_round(&mut self) {
        self.since_empty = self.since_empty.saturating_add(1);
        if !self.compete || self.since_empty <= EMPTY_WITHIN {
            self.competing = None;
        } else {
            let default = 1.0 / self.delta;
            let inverse = match self.competing {
                None => default,
                Some(inverse) if self.lost => inverse / 2.0,
                Some(inverse) => inverse + 1.0,
            };
            self.competing = Some(inverse.max(default));
        }
        self.lost = false;
        let up = self.cwnd > self.at_round;
        if up == self.up {
            self.same = self.same.saturating_add(1);
            if self.same >= STEADY {
                self.velocity = (2.0 * self.velocity).min(FASTEST);
            }
        } else {
            self.turn(up);
        }
        self.at_round = self.cwnd;
    }

    /// Goes the other way, with v = 1.
    fn turn(&mut self, up: bool) {
        self.up = up;
        self.same = 0;
        self.velocity = 1.0;
    }

    /// Moves the window for an acknowledgement of so many bytes.
    fn step(&mut self, acked: f64, faster: bool) {
        if self.velocity > 1.0 && faster != self.up {
            self.turn(faster);
            self.at_round = self.cwnd;
        }
        // v/(δ·cwnd) packets per packet acknowledged.
        let step = self.velocity * self.packet * acked / (self.delta() * self.cwnd);
        if faster {
            self.cwnd += step.min(acked);
        } else {
            self.cwnd = (self.cwnd - step.min(acked)).max(2.0 * self.packet);
        }
    }
}

impl Copa {
    /// Sets what may be sent by the window and RTTstanding.
    fn allow(&mut self) {
        self.allowance.window = Bytes::new(self.cwnd as u64);
        self.allowance.pacing = (self.rtts)
            .map(|(_, standing)| paced(2.0 * self.cwnd / standing.as_secs_f64().max(1e-12)));
    }

    /// Takes an acknowledgement with a round-trip time.
    fn listen(&mut self, ack: &Acked, rtt: Duration, path: &PathView, now: Time) {
        let min = self.min.push(rtt, MIN_SPAN, now);
        let half = Duration::from_ps(path.srtt.as_ps() / 2);
        let standing = self.standing.push(rtt, half, now);
        let rounds = Duration::from_ps(path.srtt.as_ps().saturating_mul(MAX_ROUNDS));
        let max = self.max.push(rtt, rounds, now);
        self.rtts = Some((min, standing));
        let queuing = standing.saturating_sub(min).as_secs_f64();
        let swing = max.saturating_sub(min).as_secs_f64();
        // The smallest gap is the time of a packet at the bottleneck, or less.
        let gap = self.gaps.push(now.since(self.heard), MIN_SPAN, now);
        self.heard = now;
        if queuing < (NEARLY_EMPTY * swing).max(gap.as_secs_f64()) || swing == 0.0 {
            self.since_empty = 0;
        }
        // λ ≤ λ_t, without dividing by a delay of zero.
        let rate = self.cwnd / self.packet / standing.as_secs_f64().max(1e-12);
        let faster = rate * self.delta() * queuing <= 1.0;
        if self.slow_start && !faster {
            self.slow_start = false;
            self.turn(false);
            self.at_round = self.cwnd;
        }
        let acked = ack.bytes.as_f64();
        if self.slow_start {
            if ack.window_limited {
                self.cwnd += acked;
            }
            return;
        }
        if ack.round_ended {
            self.end_round();
        }
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

    fn on_congestion(&mut self, what: Congestion, _: &PathView, _: Time) {
        self.lost = true;
        if matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout) {
            self.cwnd = self.packet;
            self.slow_start = true;
            self.turn(true);
            self.at_round = self.cwnd;
            self.allow();
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        self.allowance
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
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

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            recovery: Recovery::Sack,
            ..Capabilities::default()
        }
    }
}

accord_family::config! {
    /// The parameters of Copa.
    pub struct Config of FAMILY {
        /// Aversion to delay: in equilibrium 1/delta packets are queued.
        pub delta: f64,
        /// Lowers delta where other flows fill the buffer.
        pub compete: bool,
        /// Window at the start; at least one packet.
        pub initial_window: Size,
    }
}

impl Config {
    /// Makes the controller for packets of this size.
    ///
    /// # Errors
    /// As [`Config::values`].
    pub fn build(&self, packet: Bytes) -> Result<Copa, String> {
        Ok(Copa::new(&self.values()?, packet))
    }
}
