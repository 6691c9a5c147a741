//! BBR version 3: a model of the path's bandwidth and round-trip time sets the pace and the window
//! [draft-ietf-ccwg-bbr-06].
//!
//! The sections of the draft are divided among the files:
//!
//! | file | what | sections |
//! |---|---|---|
//! | `bbr3.rs` | the declaration, the steps of each event, Startup, Drain | 5.2, 5.3.1, 5.3.2, 5.4 |
//! | `bbr3/model.rs` | rounds, bandwidth, aggregation, what losses change | 5.5 |
//! | `bbr3/probe_bw.rs` | ProbeBW | 5.3.3 |
//! | `bbr3/probe_rtt.rs` | min_rtt and ProbeRTT | 5.3.4 |
//! | `bbr3/control.rs` | the pace and the window | 5.6 |
//!
//! Names are those of the draft; "Infinity" is `u64::MAX` or `f64::INFINITY`.
//!
//! Departures from the source: `docs/src/models/bbr3.md`.

mod control;
mod model;
mod probe_bw;
mod probe_rtt;

use crate::prelude::*;
use crate::tcp_window;
use model::{Model, Rounds};
use probe_bw::{AckPhase, Probe};
use probe_rtt::MinRtt;

accord_family::params! {
    /// The parameters of BBR version 3.
    pub struct Config of FAMILY => Bbr3(packet: Bytes) {
        pub initial_window: Size = tcp_window::TEN_PACKETS,
        /// The pace in Startup, over the bandwidth.
        pub startup_pacing_gain: f64 = number("2.77", 1.0, 10.0).source("[draft-ietf-ccwg-bbr-06 §2.5]"),
        /// The pace in Drain, over the bandwidth.
        pub drain_pacing_gain: f64 = number("0.5", 0.01, 1.0).source("[draft-ietf-ccwg-bbr-06 §2.5]"),
        /// The window over the bandwidth-delay product.
        pub cwnd_gain: f64 = number("2", 1.0, 10.0).source("[draft-ietf-ccwg-bbr-06 §2.6]"),
        /// The pace in ProbeBW_UP, over the bandwidth.
        pub probe_up_pacing_gain: f64 = number("1.25", 1.0, 10.0).source("[draft-ietf-ccwg-bbr-06 §5.3.3.5]"),
        /// The window in ProbeBW_UP, over the bandwidth-delay product.
        pub probe_up_cwnd_gain: f64 = number("2.25", 1.0, 10.0).source("[draft-ietf-ccwg-bbr-06 §5.3.3.5]"),
        /// The pace in ProbeBW_DOWN, over the bandwidth.
        pub probe_down_pacing_gain: f64 = number("0.9", 0.01, 1.0).source("[draft-ietf-ccwg-bbr-06 §5.3.3.1]"),
        /// The loss ratio of a round trip above which a probe went too high.
        pub loss_thresh: f64 = number("0.02", 0.0, 1.0).source("[draft-ietf-ccwg-bbr-06 §2.8]"),
        /// Least part of the bounds that remains after a round trip with losses.
        pub beta: f64 = number("0.7", 0.01, 1.0).source("[draft-ietf-ccwg-bbr-06 §2.8]"),
        /// The part of the long-term bound in flight that is left to others.
        pub headroom: f64 = number("0.15", 0.0, 1.0).source("[draft-ietf-ccwg-bbr-06 §2.8]"),
        /// Memory of the smallest round-trip time.
        pub min_rtt_filter_len: Duration = duration("10 s").source("[draft-ietf-ccwg-bbr-06 §2.16.1]"),
        /// The window in ProbeRTT, over the bandwidth-delay product.
        pub probe_rtt_cwnd_gain: f64 = number("0.5", 0.01, 1.0).source("[draft-ietf-ccwg-bbr-06 §2.16.2]"),
        /// Least duration of ProbeRTT.
        pub probe_rtt_duration: Duration = duration("200 ms").source("[draft-ietf-ccwg-bbr-06 §2.16.2]"),
        /// Time without a smaller round-trip time after which ProbeRTT begins.
        pub probe_rtt_interval: Duration = duration("5 s").source("[draft-ietf-ccwg-bbr-06 §2.16.2]"),
        /// Finds losses by time, those of repairs too, and probes for lost tails (RACK-TLP).
        pub rack: bool = flag("true").source("[RFC 8985]"),
    }
}

/// The declaration of BBR version 3.
pub static FAMILY: Family = Family {
    doc: "BBRv3: paces at the bandwidth that it measures, and bounds the data in flight by a model \
          of the path and by losses.",
    source: "[draft-ietf-ccwg-bbr-06]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "it steps through states by single samples, probes and timers, and no law of a window or \
         of a rate describes them together",
    ),
    inner: &[
        Inner::new(
            "bbr3.state",
            Quantity::State(&[
                "startup",
                "drain",
                "probe_bw_down",
                "probe_bw_cruise",
                "probe_bw_refill",
                "probe_bw_up",
                "probe_rtt",
            ]),
            "BBR.state.",
        ),
        Inner::new("bbr3.pacing_gain", Quantity::Number, "BBR.pacing_gain."),
        Inner::new("bbr3.max_bw", Quantity::Rate, "BBR.max_bw."),
        Inner::new("bbr3.bw", Quantity::Rate, "BBR.bw."),
        Inner::new("bbr3.min_rtt", Quantity::Seconds, "BBR.min_rtt."),
        Inner::new(
            "bbr3.inflight_hi",
            Quantity::Bytes,
            "BBR.inflight_longterm, the inflight_hi of earlier drafts; absent while it is infinite.",
        ),
        Inner::new(
            "bbr3.inflight_lo",
            Quantity::Bytes,
            "BBR.inflight_shortterm, the inflight_lo of earlier drafts; absent while it is infinite.",
        ),
        Inner::new("bbr3.extra_acked", Quantity::Bytes, "BBR.extra_acked."),
    ],
    page: "models/bbr3.md",
    maker: &Maker::stream(|v, p| AnyController::Bbr3(Box::new(Bbr3::new(v, p)))),
    ..Family::new("bbr3", Role::Controller(|_| Objective::Other))
};

/// The states [§5.1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The rate doubles per round trip.
    Startup,
    /// The queue that Startup made drains.
    Drain,
    /// The flow sends less than the bandwidth.
    ProbeBwDown,
    /// The flow sends the bandwidth.
    ProbeBwCruise,
    /// The flow sends the bandwidth, without its short-term bounds.
    ProbeBwRefill,
    /// The flow sends more than the bandwidth.
    ProbeBwUp,
    /// The flow sends little, to see the base round-trip time.
    ProbeRtt,
}

/// The variables of BBR that its draft names, at a moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// BBR.state.
    pub state: State,
    /// BBR.pacing_gain and BBR.cwnd_gain.
    pub gains: (f64, f64),
    /// BBR.max_bw.
    pub max_bw: Rate,
    /// BBR.bw.
    pub bw: Rate,
    /// BBR.bw_shortterm, if it is finite.
    pub bw_shortterm: Option<Rate>,
    /// BBR.min_rtt. It is `Duration::MAX` before the first sample.
    pub min_rtt: Duration,
    /// BBR.inflight_longterm, if it is finite.
    pub inflight_longterm: Option<Bytes>,
    /// BBR.inflight_shortterm, if it is finite.
    pub inflight_shortterm: Option<Bytes>,
    /// BBR.extra_acked.
    pub extra_acked: Bytes,
    /// BBR.round_count.
    pub round_count: u64,
    /// BBR.full_bw_reached.
    pub full_bw_reached: bool,
    /// BBR.full_bw_now.
    pub full_bw_now: bool,
    /// BBR.full_bw_count.
    pub full_bw_count: u32,
    /// BBR.idle_restart.
    pub idle_restart: bool,
}

/// BBR version 3.
#[derive(Clone, Debug)]
pub struct Bbr3 {
    config: Config,
    /// C.SMSS and C.InitialCwnd, in bytes.
    smss: u64,
    initial_cwnd: u64,
    state: State,
    /// C.cwnd and BBR.prior_cwnd, in bytes.
    cwnd: u64,
    prior_cwnd: u64,
    /// C.pacing_rate in bytes per second, and as a [`Rate`] for the transport.
    pacing_rate: f64,
    pace: Rate,
    /// True once a round-trip time has set the first pace.
    has_seen_rtt: bool,
    /// True if the connection was repairing losses at the last acknowledgement.
    in_recovery: bool,
    idle_restart: bool,
    full_bw_reached: bool,
    full_bw_now: bool,
    /// Bytes per second.
    full_bw: f64,
    full_bw_count: u32,
    drain_start_round: u64,
    rounds: Rounds,
    model: Model,
    probe: Probe,
    min_rtt: MinRtt,
}

/// Converts a pace in bytes per second to a [`Rate`], which is never zero.
pub(crate) fn paced(bytes_per_second: f64) -> Rate {
    Rate::from_bps_f64(bytes_per_second * 8.0).max(Rate::from_bps(1))
}

/// The fewest bytes of BBR.MinPipeCwnd, in packets.
const MIN_PIPE_CWND: u64 = 4;
/// BBRStartupFullLossCnt: the fewest ranges of lost packets that end Startup [§5.3.1.3].
const STARTUP_FULL_LOSS_CNT: u32 = 6;

impl Bbr3 {
    /// Creates a controller for packets of `packet` bytes: OnInit() [§5.2.1].
    pub fn new(values: &Values, packet: Bytes) -> Bbr3 {
        let config = Config::from(values);
        let initial = config.initial_window.bytes_f64(packet).round() as u64;
        let smss = packet.get().max(1);
        let initial_cwnd = initial.max(smss);
        // InitPacingRate() [§5.6.2], with 1 ms as the round-trip time.
        let pacing_rate = config.startup_pacing_gain * initial_cwnd as f64 / 1e-3;
        Bbr3 {
            config,
            smss,
            initial_cwnd,
            state: State::Startup,
            cwnd: initial_cwnd,
            prior_cwnd: 0,
            pacing_rate,
            pace: paced(pacing_rate),
            has_seen_rtt: false,
            in_recovery: false,
            idle_restart: false,
            full_bw_reached: false,
            full_bw_now: false,
            full_bw: 0.0,
            full_bw_count: 0,
            drain_start_round: 0,
            rounds: Rounds::default(),
            model: Model::new(),
            probe: Probe::new(),
            min_rtt: MinRtt::new(),
        }
    }

    /// Returns the variables of the draft.
    pub fn view(&self) -> View {
        let rate = |bytes_per_second: f64| Rate::from_bps_f64(bytes_per_second * 8.0);
        let finite = |bytes| (bytes != u64::MAX).then_some(Bytes::new(bytes));
        let m = &self.model;
        View {
            state: self.state,
            gains: self.gains(),
            max_bw: rate(m.max_bw()),
            bw: rate(m.bw()),
            bw_shortterm: (m.bw_shortterm < f64::INFINITY).then(|| rate(m.bw_shortterm)),
            min_rtt: self.min_rtt.min_rtt,
            inflight_longterm: finite(m.inflight_longterm),
            inflight_shortterm: finite(m.inflight_shortterm),
            extra_acked: Bytes::new(m.extra_acked),
            round_count: self.rounds.count,
            full_bw_reached: self.full_bw_reached,
            full_bw_now: self.full_bw_now,
            full_bw_count: self.full_bw_count,
            idle_restart: self.idle_restart,
        }
    }

    /// UpdateModelAndState() [§5.2.3].
    fn update_model_and_state(&mut self, rs: &Delivery, path: &PathView, now: Time) -> bool {
        self.update_latest_delivery_signals(rs);
        self.update_congestion_signals(rs);
        self.update_ack_aggregation(rs, now);
        self.check_full_bw_reached(rs);
        self.check_startup_done(rs);
        self.check_drain_done(path, now);
        self.update_probe_bw_cycle_phase(rs, path, now);
        self.update_min_rtt(rs, now);
        let mark = self.check_probe_rtt(rs, path, now);
        self.model.advance_latest_delivery_signals(rs);
        self.model.bound_bw();
        mark
    }

    /// CheckStartupDone() [§5.3.1.1].
    fn check_startup_done(&mut self, rs: &Delivery) {
        self.check_startup_high_loss(rs);
        if self.state == State::Startup && self.full_bw_reached {
            // EnterDrain() [§5.3.2].
            self.state = State::Drain;
            self.drain_start_round = self.rounds.count;
        }
    }

    /// ResetFullBW() [§5.3.1.2].
    fn reset_full_bw(&mut self) {
        self.full_bw = 0.0;
        self.full_bw_count = 0;
        self.full_bw_now = false;
    }

    /// CheckFullBWReached() [§5.3.1.2].
    fn check_full_bw_reached(&mut self, rs: &Delivery) {
        if self.full_bw_now || !self.rounds.start || rs.app_limited {
            return;
        }
        let rate = model::bytes_per_second(rs.rate);
        if rate >= self.full_bw * 1.25 {
            self.reset_full_bw();
            self.full_bw = rate;
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_now = self.full_bw_count >= 3;
        if self.full_bw_now {
            self.full_bw_reached = true;
        }
    }

    /// CheckStartupHighLoss() [§5.3.1.3]: a round trip of recovery that lost more than LossThresh,
    /// in at least six ranges.
    fn check_startup_high_loss(&mut self, rs: &Delivery) {
        if self.model.loss_round_start {
            let high = self.model.loss_ranges >= STARTUP_FULL_LOSS_CNT
                && rs.in_recovery
                && self.is_inflight_too_high(rs.lost, rs.tx_in_flight);
            if !self.full_bw_reached && self.state == State::Startup && high {
                self.model.undo.state = Some(State::Startup);
                self.full_bw_reached = true;
                // Appendix A.2 does this, too.
                self.full_bw_now = true;
                self.model.inflight_longterm = self.bdp().max(self.model.inflight_latest);
            }
            self.model.loss_ranges = 0;
        }
    }

    /// CheckDrainDone() [§5.3.2].
    fn check_drain_done(&mut self, path: &PathView, now: Time) {
        if self.state == State::Drain
            && (path.in_flight.get() <= self.inflight(self.model.bw(), 1.0)
                || self.rounds.count > self.drain_start_round + 3)
        {
            // EnterProbeBW() [§5.3.3.9].
            self.start_probe_bw_down(now);
        }
    }
}

impl Controller for Bbr3 {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}

    /// UpdateOnACK() [§5.2.3].
    fn on_delivery(&mut self, rs: &Delivery, path: &PathView, now: Time) -> bool {
        self.model.delivered = rs.total;
        if !self.has_seen_rtt && !rs.rtt.is_zero() {
            self.has_seen_rtt = true;
            self.init_pacing_rate(path.srtt);
        }
        // RestoreCwnd() when losses are repaired [§5.6.4.4].
        if self.in_recovery && !rs.in_recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.model.undo.saved = false;
        }
        self.in_recovery = rs.in_recovery;
        let mark = self.update_model_and_state(rs, path, now);
        self.set_pacing_rate();
        self.set_cwnd(rs);
        mark
    }

    fn on_lost(&mut self, packet: &Lost, now: Time) {
        self.handle_lost_packet(packet, now);
    }

    /// OnEnterFastRecovery() and OnEnterRTO() [§5.6.4.4].
    fn on_congestion(&mut self, what: Congestion, _: &PathView, _: Time) {
        self.save_cwnd();
        self.in_recovery = true;
        if matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout) {
            // Packets that RACK spares do not count.
            self.cwnd = self.smss;
        }
    }

    fn on_spurious(&mut self, _: Time) {
        self.handle_spurious_loss();
    }

    /// HandleRestartFromIdle() [§5.4.1].
    fn on_restart(&mut self, now: Time) {
        self.idle_restart = true;
        self.model.restart_aggregation(now);
        if self.is_in_probe_bw() {
            self.set_pacing_rate_with_gain(1.0);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(now);
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new(self.cwnd), pacing: Some(self.pace) }
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        Some(self.min_rtt.min_rtt).filter(|d| *d != Duration::MAX)
    }

    fn inner(&self, values: &mut Vec<f64>) {
        let View { state, gains, max_bw, bw, inflight_longterm, inflight_shortterm, .. } =
            self.view();
        let bytes = |bytes: Option<Bytes>| bytes.map_or(f64::NAN, Bytes::as_f64);
        values.extend([
            f64::from(state as u8),
            gains.0,
            max_bw.as_bps_f64(),
            bw.as_bps_f64(),
            seconds(self.base_rtt_estimate()),
            bytes(inflight_longterm),
            bytes(inflight_shortterm),
            self.model.extra_acked as f64,
        ]);
    }

    fn memory(&self) -> Duration {
        (self.config.min_rtt_filter_len).max(self.config.probe_rtt_interval)
            + self.config.probe_rtt_duration
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            recovery: if self.config.rack { Recovery::Rack } else { Recovery::Sack },
            deliveries: true,
            ..Capabilities::default()
        }
    }
}
