//! C4, Christian's Congestion Control Code: a nominal rate and a nominal maximum round-trip time set the
//! pace and the window [draft-huitema-ccwg-c4-spec-04].
//!
//! ```text
//! nominal rate  grows to the largest delivery rate; congestion cuts it                [§3.1, 5.5]
//! nominal max   the longest round-trip time of eras without a push; else it fades by
//!               an eighth of the difference per era                                   [§3.2]
//! pace          alpha·rate                                                            [§4.1]
//! cwnd          pace·(max + min(max/4, 15 ms)), in the initial state bytes by acknowledgements
//!                                                                                     [§4.1, 4.2]
//! sensitivity   0 up to 50 kB/s, 0.94 at 1 MB/s, 1 from 10 MB/s on                    [§5.1]
//!
//! initial   alpha 2             until the rate has not grown by a quarter for three eras
//! recovery  alpha 15/16, 7/8    an era; then pushing after a growth, else cruising
//! cruising  alpha 1             two eras at least, one after marks, and until the application has enough to send
//! probing   alpha 17/16, 33/32  an era; the latter after marks
//! pushing   alpha 1.2266        while the rate grows by three quarters of that in an era
//! ```
//!
//! An era is a round trip: it ends when a packet sent after its begin is acknowledged. Names are those of the
//! draft. Where the draft and the authors' program (picoquic, `c4.c`) differ, this is the program.
//!
//! | file | what |
//! |---|---|
//! | `c4.rs` | the declaration, the samples, the pace and the window |
//! | `c4/states.rs` | the states and the growth of the rate |
//! | `c4/signals.rs` | the signals of congestion and their thresholds |
//!
//! Departures from the source: `docs/src/models/c4.md`.

mod signals;
mod states;

use crate::bbr3::paced;
use crate::prelude::*;
use crate::tcp_window;
use signals::{LossRatio, MarkShare, Peak};

accord_family::params! {
    /// The parameters of C4.
    pub struct Config of FAMILY => C4(packet: Bytes) {
        pub initial_window: Size = tcp_window::TEN_PACKETS,
        /// The pace in the initial state, over the nominal rate.
        pub initial_alpha: f64 = number("2", 1.0, 10.0).source("[draft-huitema-ccwg-c4-spec-04 §4.1]"),
        /// The pace in recovery, over the nominal rate.
        pub recovery_alpha: f64 = number("0.9375", 0.01, 1.0).source("[draft-huitema-ccwg-c4-spec-04 §4.1]"),
        /// The pace in recovery after more congestion, over the nominal rate.
        pub drain_alpha: f64 = number("0.875", 0.01, 1.0).source("[picoquic c4.c]"),
        /// The pace of a probe, over the nominal rate.
        pub probe_alpha: f64 = number("1.0625", 1.0, 10.0).source("[draft-huitema-ccwg-c4-spec-04 §4.6]"),
        /// The pace of a probe where marks answered the last one, over the nominal rate.
        pub probe_alpha_marks: f64 = number("1.03125", 1.0, 10.0).source("[draft-huitema-ccwg-c4-spec-04 §4.6]"),
        /// The pace of a push, over the nominal rate.
        pub push_alpha: f64 = number("1.2265625", 1.0, 10.0).source("[picoquic c4.c]"),
        /// Least number of eras between a recovery and a probe.
        pub cruise_eras: u64 = integer("2", 1, 1000).source("[draft-huitema-ccwg-c4-spec-04 §4.5]"),
        /// The largest part of the nominal rate that a congestion signal takes.
        pub beta: f64 = number("0.25", 0.001, 0.9).source("[draft-huitema-ccwg-c4-spec-04 §5.5.1]"),
        /// The largest queuing delay that does not count as congestion.
        pub max_delay_threshold: Duration = duration("25 ms").source("[draft-huitema-ccwg-c4-spec-04 §5.2]"),
        /// The most by which the nominal maximum round-trip time exceeds the smallest one.
        pub max_jitter: Duration = duration("250 ms").source("[draft-huitema-ccwg-c4-spec-04 §3.2]"),
        /// The round-trip time that the window allows beyond the nominal maximum; at most a quarter of that.
        pub margin: Duration = duration("15 ms").source("[draft-huitema-ccwg-c4-spec-04 §4.1]"),
        /// Sends ECT(1), and takes the share of marks for a signal.
        pub ecn: bool = flag("true").source("[draft-huitema-ccwg-c4-spec-04 §5.4]"),
        /// Finds losses by time, those of repairs too, and probes for lost tails (RACK-TLP).
        pub rack: bool = flag("true").source("[RFC 8985]"),
    }
}

/// The declaration of C4.
pub static FAMILY: Family = Family {
    doc: "C4: paces at a nominal rate that it probes for, and allows for jitter of the round-trip \
          time; for media over QUIC.",
    source: "[draft-huitema-ccwg-c4-spec-04, picoquic c4.c]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "it steps through states by single samples and counts of round trips, and no law of a \
         window or of a rate describes them together",
    ),
    inner: &[
        Inner::new(
            "c4.state",
            Quantity::State(&["initial", "recovery", "cruising", "probing", "pushing"]),
            "The state.",
        ),
        Inner::new("c4.alpha", Quantity::Number, "The pace over the nominal rate, alpha_current."),
        Inner::new("c4.nominal_rate", Quantity::Rate, "The nominal rate."),
        Inner::new(
            "c4.nominal_max_rtt",
            Quantity::Seconds,
            "The nominal maximum round-trip time; absent before the first sample.",
        ),
        Inner::new(
            "c4.running_min_rtt",
            Quantity::Seconds,
            "The running minimum of the round-trip time; absent before the first sample.",
        ),
        Inner::new(
            "c4.delay_threshold",
            Quantity::Seconds,
            "The queuing delay above which there is congestion.",
        ),
        Inner::new("c4.loss_ratio", Quantity::Number, "The smoothed loss ratio."),
        Inner::new("c4.ecn_alpha", Quantity::Number, "The average share of marks."),
    ],
    page: "models/c4.md",
    maker: &Maker::stream(|v, p| AnyController::C4(Box::new(C4::new(v, p)))),
    ..Family::new("c4", Role::Controller(|_| Objective::Other))
};

/// The states [§4].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The rate doubles per era.
    Initial,
    /// The flow sends less than the nominal rate, and sees the success of the state before.
    Recovery,
    /// The flow sends the nominal rate.
    Cruising,
    /// The flow sends slightly more than the nominal rate for an era.
    Probing,
    /// The flow sends much more than the nominal rate, after a growth.
    Pushing,
}

/// The variables of an era [§3.4].
#[derive(Clone, Copy, Debug)]
struct Era {
    /// The bytes delivered when it began.
    from: u64,
    max_rtt: Duration,
    min_rtt: Duration,
}

/// The state at the last judgement of the growth, and the events since then.
#[derive(Clone, Copy, Debug, Default)]
struct Push {
    /// The nominal rate, and the alpha under which it should have grown.
    rate: f64,
    alpha: f64,
    /// True after a congestion signal.
    congested: bool,
    /// True if the network limited the flow and not the application.
    not_limited: bool,
}

/// The smallest nominal maximum round-trip time [picoquic c4.c].
const MIN_MAX_RTT: Duration = Duration::from_ms(1);
/// The least pace in the initial state, in bytes per second [§4.1].
const INITIAL_PACE: f64 = 131_072.0;
/// The largest window, in bytes.
const LARGEST: f64 = 1e18;

/// C4.
#[derive(Clone, Debug)]
pub struct C4 {
    config: Config,
    /// The size of a packet and the window at the start, in bytes.
    packet: f64,
    initial: f64,
    state: State,
    /// In bytes per second.
    nominal_rate: f64,
    /// Zero before the first sample.
    nominal_max_rtt: Duration,
    /// `Duration::MAX` before the first sample.
    running_min_rtt: Duration,
    alpha: f64,
    previous_alpha: f64,
    era: Era,
    push: Push,
    /// The level of success of the last probes and pushes.
    level: u32,
    /// initial_cwnd, and the acknowledgements and losses in the initial state.
    initial_cwnd: f64,
    initial_events: u64,
    eras_without_growth: u32,
    cruise_left: u64,
    /// The largest rate since the last recovery, and the successive recoveries with congestion [§5.5.2].
    recent_rate: f64,
    congestions: u32,
    /// True once jitter has begun the initial state again.
    restarted: bool,
    /// True if marks were the signal of this recovery.
    excess_marks: bool,
    delay_threshold: Duration,
    delay_excess: Duration,
    losses: LossRatio,
    /// The losses since the last delivery: their numbers, and the bytes delivered then.
    lost: Vec<(u64, u64)>,
    marks: MarkShare,
    /// The latest delivery rate in bytes per second.
    rate: f64,
    peak: Peak,
    total: u64,
    srtt: Duration,
    /// True from a time-out until the next delivery: the window is one packet.
    timed_out: bool,
    /// The window in bytes, and the pace in bytes per second once there is one.
    window: f64,
    pace: Option<f64>,
}

/// Returns the average of an old value, seven eighths, and a sample.
fn eighth(old: Duration, sample: Duration) -> Duration {
    let sum = 7 * u128::from(old.as_ps()) + u128::from(sample.as_ps());
    Duration::from_ps((sum / 8) as u64)
}

impl C4 {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> C4 {
        let config = Config::from(values);
        let packet = packet.as_f64().max(1.0);
        let initial = config.initial_window.bytes_f64(Bytes::new(packet as u64)).max(packet);
        let alpha = config.initial_alpha;
        C4 {
            config,
            packet,
            initial,
            state: State::Initial,
            nominal_rate: 0.0,
            nominal_max_rtt: Duration::ZERO,
            running_min_rtt: Duration::MAX,
            alpha,
            previous_alpha: alpha,
            era: Era { from: 0, max_rtt: Duration::ZERO, min_rtt: Duration::MAX },
            push: Push { alpha, ..Push::default() },
            level: 1,
            initial_cwnd: initial,
            initial_events: 0,
            eras_without_growth: 0,
            cruise_left: 0,
            recent_rate: 0.0,
            congestions: 0,
            restarted: false,
            excess_marks: false,
            delay_threshold: Duration::ZERO,
            delay_excess: Duration::ZERO,
            losses: LossRatio::default(),
            lost: Vec::new(),
            marks: MarkShare::default(),
            rate: 0.0,
            peak: Peak::default(),
            total: 0,
            srtt: Duration::ZERO,
            timed_out: false,
            window: initial,
            pace: None,
        }
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    fn sensitivity(&self) -> f64 {
        signals::sensitivity(self.nominal_rate)
    }

    /// Sets the delay threshold after a change of the nominal values [§5.2].
    fn set_delay_threshold(&mut self) {
        let fraction = signals::delay_fraction(self.sensitivity());
        let threshold = self.nominal_max_rtt.mul_f64(fraction);
        self.delay_threshold = threshold.min(self.config.max_delay_threshold);
    }

    fn set_nominal_max_rtt(&mut self, rtt: Duration) {
        self.nominal_max_rtt = rtt.max(MIN_MAX_RTT);
        self.set_delay_threshold();
    }

    /// The data of a nominal maximum round-trip time at this rate, in bytes.
    fn data_at(&self, rate: f64) -> f64 {
        rate * self.nominal_max_rtt.as_secs_f64()
    }

    fn begin_era(&mut self, from: u64) {
        self.era = Era { from, max_rtt: Duration::ZERO, min_rtt: Duration::MAX };
        self.previous_alpha = self.alpha;
        self.marks.update();
    }

    /// Updates the running minimum and the nominal maximum at the end of an era [§3.2].
    fn update_rtts(&mut self, rtt: Duration) {
        self.era.max_rtt = self.era.max_rtt.max(rtt);
        self.era.min_rtt = self.era.min_rtt.min(rtt);
        if self.previous_alpha > 1.0 {
            return;
        }
        let (max, min) = (self.era.max_rtt, self.era.min_rtt);
        self.running_min_rtt = match self.running_min_rtt {
            old if min < old => min,
            old => eighth(old, min),
        };
        let max = max.min(self.running_min_rtt + self.config.max_jitter);
        self.set_nominal_max_rtt(match self.nominal_max_rtt {
            old if max > old => max,
            old => eighth(old, max),
        });
    }

    /// Takes a sample of the delivery rate [§3.1].
    fn take_rate(&mut self, rs: &Delivery) {
        if rs.rate > Rate::ZERO {
            self.rate = rs.rate.as_bps_f64() / 8.0;
        }
        self.recent_rate = self.recent_rate.max(self.rate);
        let bounced = self.state == State::Recovery && self.push.congested;
        if self.rate > self.nominal_rate && !bounced {
            self.push.not_limited = true;
            self.nominal_rate = self.rate;
            self.set_delay_threshold();
        } else if rs.delivered as f64 > self.running_min_rtt.as_secs_f64() * self.nominal_rate {
            self.push.not_limited = true;
        }
    }

    /// Sets the pace and the window [§4.1].
    fn apply(&mut self) {
        let pace = self.alpha * self.nominal_rate;
        let known = self.nominal_rate > 0.0 && !self.nominal_max_rtt.is_zero();
        let mut window = if known { self.data_at(pace) } else { self.initial };
        if self.state == State::Initial {
            window = window.max(self.initial_cwnd);
            let mut pace = pace;
            if self.initial_events > 0 {
                pace = pace.max(INITIAL_PACE);
                if self.peak.rate > pace {
                    pace = (pace + self.peak.rate) / 2.0;
                    window = window.max(self.srtt.as_secs_f64() * self.peak.rate / 2.0);
                }
            }
            self.pace = (pace > 0.0).then_some(pace);
            self.initial_cwnd = window.min(LARGEST);
        } else {
            let margin =
                self.config.margin.min(Duration::from_ps(self.nominal_max_rtt.as_ps() / 4));
            window += margin.as_secs_f64() * pace;
            if matches!(self.state, State::Probing | State::Pushing) {
                // At least a packet more, or the probe would not be seen.
                let more = self.data_at((self.alpha - 1.0) * self.nominal_rate);
                window += (self.packet - more).max(0.0);
            }
            self.pace = Some(pace);
        }
        self.window = window.clamp(2.0 * self.packet, LARGEST);
    }
}

impl Controller for C4 {
    /// Takes marks. The samples come with [`Controller::on_delivery`].
    fn on_ack(&mut self, ack: &Acked, _: &PathView, _: Time) {
        if !self.config.ecn {
            return;
        }
        let packets = (ack.bytes.as_f64() / self.packet).round() as u64;
        self.marks.count(ack.marked, packets.saturating_sub(ack.marked));
        if ack.marked > 0 {
            // The delivery of this acknowledgement may be reported later.
            self.take_marks(self.total.saturating_add(ack.bytes.get()));
            self.apply();
        }
    }

    fn on_delivery(&mut self, rs: &Delivery, path: &PathView, now: Time) -> bool {
        self.timed_out = false;
        self.total = rs.total;
        self.srtt = path.srtt;
        if rs.rtt.is_zero() {
            return false;
        }
        let sent = Time::from_ps(now.as_ps().saturating_sub(rs.rtt.as_ps()));
        self.take_rtt(rs.rtt, rs.total);
        self.peak.observe(rs.total, sent, now);
        self.take_losses(rs.total);
        if rs.delivered > 0 {
            self.take_rate(rs);
        }
        let era_ended = rs.prior >= self.era.from;
        if self.state == State::Initial {
            self.grow_initially(rs, era_ended);
        } else if era_ended {
            self.end_era(rs);
        } else if self.state == State::Pushing {
            self.goes_on_pushing(rs.total);
        }
        self.apply();
        false
    }

    fn on_lost(&mut self, packet: &Lost, _: Time) {
        // Packets that a time-out gives up are not a sign of congestion [§5.3.1].
        if !self.timed_out {
            self.lost.push((packet.number, packet.total));
        }
    }

    fn on_congestion(&mut self, what: Congestion, _: &PathView, _: Time) {
        if matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout) {
            self.timed_out = true;
        }
    }

    fn on_spurious(&mut self, _: Time) {
        self.timed_out = false;
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        let window = if self.timed_out { self.packet } else { self.window };
        Allowance { window: Bytes::new(window as u64), pacing: self.pace.map(paced) }
    }

    /// 4/1024 s of the pace, from two packets to 64 KiB [§4.1].
    fn burst(&self) -> Burst {
        let quantum = self.pace.map_or(0.0, |pace| pace * 4.0 / 1024.0);
        Burst::Bucket(Bytes::new(quantum.min(65536.0).max(2.0 * self.packet) as u64))
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        Some(self.running_min_rtt).filter(|d| *d != Duration::MAX)
    }

    fn inner(&self, values: &mut Vec<f64>) {
        let max = Some(self.nominal_max_rtt).filter(|d| !d.is_zero());
        values.extend([
            f64::from(self.state as u8),
            self.alpha,
            self.nominal_rate * 8.0,
            seconds(max),
            seconds(self.base_rtt_estimate()),
            self.delay_threshold.as_secs_f64(),
            self.losses.ratio,
            self.marks.alpha,
        ]);
    }

    /// The nominal maximum fades by an eighth per era, in half of the eras.
    fn memory(&self) -> Duration {
        self.nominal_max_rtt * 32
    }

    fn capabilities(&self) -> Capabilities {
        let recovery = if self.config.rack { Recovery::Rack } else { Recovery::Sack };
        let wanted = Capabilities { recovery, deliveries: true, ..Capabilities::default() };
        if self.config.ecn {
            Capabilities { marks: Marks::Loss, scalable: true, ..wanted }
        } else {
            wanted
        }
    }
}
