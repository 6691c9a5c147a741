//! BBR version 1 as in Linux (`net/ipv4/tcp_bbr.c`, version 6; Cardwell16).
//!
//! ```text
//! bw        = the largest delivery rate of this round trip and the ten before
//! min_rtt   = the smallest round-trip time of ten seconds
//! pace      = 0.99·pacing_gain·bw
//! cwnd      ≤ cwnd_gain·bw·min_rtt + extra_acked + 3 quanta, 4 packets at least
//!
//! Startup   gains 2.89, 2.89   until bw grew by less than a quarter in each of three round trips
//! Drain     gains 0.34, 2.89   until no more than bw·min_rtt is in flight
//! ProbeBW   gains 1.25, 0.75 and six times 1 in turn, each for min_rtt; cwnd gain 2
//! ProbeRTT  4 packets for 200 ms and a round trip, when min_rtt is ten seconds old
//! loss      a round trip of packet conservation; the window comes back after the recovery
//! policer   where two intervals lose a fifth at the same rate, that rate for 48 round trips
//! ```
//!
//! Departures from the source: `docs/src/models/bbr1.md`.

mod policer;

use crate::bbr3::paced;
use crate::prelude::*;
use crate::{scrambled, tcp_window};
use accord_family::kind::number;
use policer::Policer;

const LINUX: &str = "[Linux tcp_bbr.c]";

const GAIN: Param = number("2.89", 1.0, 10.0).source(LINUX).declared(
    "high_gain",
    "The pace over the bandwidth, and the window over the bandwidth-delay product, in Startup.",
);

accord_family::params! {
    /// The parameters of BBR version 1.
    pub struct Config of FAMILY => Bbr1(packet: Bytes) {
        pub initial_window: Size = tcp_window::TEN_PACKETS,
        pub high_gain: f64 = GAIN,
        /// The window over the bandwidth-delay product in ProbeBW.
        pub cwnd_gain: f64 = number("2", 1.0, 10.0).source(LINUX),
        /// Memory of the largest delivery rate: the current round trip and this number before it.
        pub bw_rounds: u64 = integer("10", 1, 100).source(LINUX),
        /// Memory of the smallest round-trip time.
        pub min_rtt_window: Duration = duration("10 s").source(LINUX),
        /// Least duration of ProbeRTT.
        pub probe_rtt_duration: Duration = duration("200 ms").source(LINUX),
        /// Looks for a policer, and keeps to its rate.
        pub policer: bool = flag("true").source(LINUX),
        /// Finds losses by time, those of repairs too, and probes for lost tails (RACK-TLP).
        pub rack: bool = flag("true").source("[RFC 8985]"),
    }
}

/// The declaration of BBR version 1.
pub static FAMILY: Family = Family {
    doc: "BBRv1: paces at the bandwidth that it measures, as in Linux.",
    source: "[Cardwell16, Linux tcp_bbr.c]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "it steps through states by single samples, probes and timers, and no law of a window or \
         of a rate describes them together",
    ),
    kernel: Some("bbr"),
    inner: &[
        Inner::new(
            "bbr1.state",
            Quantity::State(&["startup", "drain", "probe_bw", "probe_rtt"]),
            "The state.",
        ),
        Inner::new("bbr1.pacing_gain", Quantity::Number, "The gain of the pace."),
        Inner::new(
            "bbr1.max_bw",
            Quantity::Rate,
            "The largest bandwidth of the last round trips, or the rate of a policer.",
        ),
        Inner::new(
            "bbr1.min_rtt",
            Quantity::Seconds,
            "The smallest round-trip time of the last 10 seconds.",
        ),
    ],
    page: "models/bbr1.md",
    maker: &Maker::stream(|v, p| AnyController::Bbr1(Box::new(Bbr1::new(v, p)))),
    ..Family::new("bbr1", Role::Controller(|_| Objective::Other))
};

/// The states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The rate doubles per round trip.
    Startup,
    /// The queue that Startup made drains.
    Drain,
    /// The flow sends the bandwidth, and more and less in turn.
    ProbeBw,
    /// The flow sends little, to see the base round-trip time.
    ProbeRtt,
}

/// The fewest packets that are in flight.
const MIN_CWND: u64 = 4;
/// The pacing gains of ProbeBW.
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// The fraction of the bandwidth that is used.
const MARGIN: f64 = 0.99;
/// The number of round trips after which the aggregation filter drops its older half.
const EXTRA_ACKED_ROUNDS: u64 = 5;
/// The largest unit in bytes: GSO_LEGACY_MAX_SIZE less one and the longest headers.
const LARGEST_UNIT: f64 = 65_215.0;
/// The most that aggregation may widen the window by, in seconds at the estimated bandwidth.
const EXTRA_ACKED_MOST: f64 = 0.1;

/// BBR version 1.
#[derive(Clone, Debug)]
pub struct Bbr1 {
    config: Config,
    packet: u64,
    initial_cwnd: u64,
    state: State,
    cwnd: u64,
    prior_cwnd: u64,
    /// The pace in bytes per second, and as a [`Rate`] for the transport.
    pacing_rate: f64,
    pace: Rate,
    has_seen_rtt: bool,
    /// The largest delivery rate in each remembered round trip, in bytes per second.
    bw: Vec<f64>,
    round: u64,
    round_start: bool,
    next_round: u64,
    delivered: u64,
    min_rtt: Duration,
    min_rtt_stamp: Time,
    probe_rtt_done: Option<Time>,
    probe_rtt_round_done: bool,
    full_bw_reached: bool,
    full_bw: f64,
    full_bw_count: u32,
    phase: usize,
    phase_stamp: Time,
    idle_restart: bool,
    in_recovery: bool,
    packet_conservation: bool,
    /// The bytes lost since the last acknowledgement, apart from those of a time-out.
    losses: u64,
    /// The time-out since the last acknowledgement.
    timed_out: Option<Time>,
    /// The time of the last acknowledgement.
    acked_at: Time,
    policer: Policer,
    ack_epoch: Time,
    ack_epoch_acked: u64,
    extra_acked: [u64; 2],
    extra_acked_round: u64,
}

impl Bbr1 {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> Bbr1 {
        let config = Config::from(values);
        let initial = config.initial_window.bytes_f64(packet).round() as u64;
        let packet = packet.get().max(1);
        let initial_cwnd = initial.max(packet);
        let pacing_rate = config.high_gain * MARGIN * initial_cwnd as f64 / 1e-3;
        Bbr1 {
            packet,
            initial_cwnd,
            state: State::Startup,
            cwnd: initial_cwnd,
            prior_cwnd: 0,
            pacing_rate,
            pace: paced(pacing_rate),
            has_seen_rtt: false,
            bw: vec![0.0; config.bw_rounds as usize + 1],
            round: 0,
            round_start: false,
            next_round: 0,
            delivered: 0,
            min_rtt: Duration::MAX,
            min_rtt_stamp: Time::ZERO,
            probe_rtt_done: None,
            probe_rtt_round_done: false,
            full_bw_reached: false,
            full_bw: 0.0,
            full_bw_count: 0,
            phase: 0,
            phase_stamp: Time::ZERO,
            idle_restart: false,
            in_recovery: false,
            packet_conservation: false,
            losses: 0,
            timed_out: None,
            acked_at: Time::ZERO,
            policer: Policer::default(),
            ack_epoch: Time::ZERO,
            ack_epoch_acked: 0,
            extra_acked: [0; 2],
            extra_acked_round: 0,
            config,
        }
    }

    /// The state.
    pub fn state(&self) -> State {
        self.state
    }

    /// The bandwidth: the largest of the filter, or the rate of a policer.
    pub fn bandwidth(&self) -> Rate {
        Rate::from_bps_f64(self.bw() * 8.0)
    }

    /// Returns true while the flow keeps to the rate of a policer.
    pub fn is_policed(&self) -> bool {
        self.policer.rate().is_some()
    }

    fn max_bw(&self) -> f64 {
        self.bw.iter().copied().fold(0.0, f64::max)
    }

    fn bw(&self) -> f64 {
        self.policer.rate().unwrap_or_else(|| self.max_bw())
    }

    fn gains(&self) -> (f64, f64) {
        let high = self.config.high_gain;
        match self.state {
            State::Startup => (high, high),
            State::Drain => (1.0 / high, high),
            State::ProbeBw if self.is_policed() => (1.0, self.config.cwnd_gain),
            State::ProbeBw => (CYCLE[self.phase], self.config.cwnd_gain),
            State::ProbeRtt => (1.0, 1.0),
        }
    }

    fn bdp(&self, bw: f64, gain: f64) -> u64 {
        if self.min_rtt == Duration::MAX {
            return self.initial_cwnd;
        }
        (gain * bw * self.min_rtt.as_secs_f64()).ceil() as u64
    }

    /// The packets that Linux would send as a unit: a millisecond's worth up to [`LARGEST_UNIT`], and
    /// at least two above 1.2 Mbps.
    fn quantum(&self) -> u64 {
        let least = if self.pacing_rate < 150e3 { 1 } else { 2 };
        let packets = (self.pacing_rate / 1024.0).min(LARGEST_UNIT) as u64 / self.packet;
        packets.clamp(least, 127) * self.packet
    }

    fn with_budget(&self, window: u64) -> u64 {
        let window = window.saturating_add(3 * self.quantum());
        let window = window.checked_next_multiple_of(2 * self.packet);
        let window = window.unwrap_or(u64::MAX);
        if self.state == State::ProbeBw && self.phase == 0 {
            window.saturating_add(2 * self.packet)
        } else {
            window
        }
    }

    fn inflight(&self, bw: f64, gain: f64) -> u64 {
        self.with_budget(self.bdp(bw, gain))
    }

    fn update_bw(&mut self, rs: &Delivery, now: Time) {
        self.round_start = false;
        if rs.rate == Rate::ZERO {
            return;
        }
        if rs.prior >= self.next_round {
            self.next_round = rs.total;
            self.round += 1;
            self.round_start = true;
            self.packet_conservation = false;
            let slot = (self.round % self.bw.len() as u64) as usize;
            self.bw[slot] = 0.0;
        }
        self.sample_policer(rs, self.losses > 0, self.round_start, now);
        let rate = rs.rate.as_bps_f64() / 8.0;
        if !rs.app_limited || rate >= self.max_bw() {
            let slot = (self.round % self.bw.len() as u64) as usize;
            self.bw[slot] = self.bw[slot].max(rate);
        }
    }

    fn sample_policer(&mut self, rs: &Delivery, losses: bool, round_start: bool, now: Time) {
        if !self.config.policer {
            return;
        }
        let probing = self.state == State::ProbeBw;
        if (self.policer).sample(rs, losses, round_start, probing, now) {
            self.start_probe_bw(now);
        }
    }

    fn update_extra_acked(&mut self, rs: &Delivery, now: Time) {
        if rs.rate == Rate::ZERO {
            return;
        }
        if self.round >= self.extra_acked_round + EXTRA_ACKED_ROUNDS {
            self.extra_acked_round = self.round;
            self.extra_acked = [0, self.extra_acked[0]];
        }
        let mut expected = self.bw() * now.since(self.ack_epoch).as_secs_f64();
        if self.ack_epoch_acked as f64 <= expected {
            self.ack_epoch_acked = 0;
            self.ack_epoch = now;
            expected = 0.0;
        }
        self.ack_epoch_acked = self.ack_epoch_acked.saturating_add(rs.acked);
        let extra = (self.ack_epoch_acked as f64 - expected).max(0.0) as u64;
        self.extra_acked[0] = self.extra_acked[0].max(extra.min(self.cwnd));
    }

    /// Enters the next phase of ProbeBW when it is due.
    fn update_phase(&mut self, rs: &Delivery, path: &PathView, now: Time) {
        if self.state != State::ProbeBw {
            return;
        }
        let full_length = now.since(self.phase_stamp) > self.min_rtt;
        // Before this acknowledgement.
        let in_flight = path.in_flight.get().saturating_add(rs.acked);
        let in_flight = in_flight.saturating_add(self.losses);
        let (gain, _) = self.gains();
        let bw = self.max_bw();
        let next = if gain == 1.0 {
            full_length
        } else if gain > 1.0 {
            // Adds the next unit less the data that arrives before it leaves: half of the unit on
            // average.
            let with_next = in_flight.saturating_add(self.quantum() / 2);
            full_length && (self.losses > 0 || with_next >= self.inflight(bw, gain))
        } else {
            full_length || in_flight <= self.inflight(bw, 1.0)
        };
        if next {
            self.phase = (self.phase + 1) % CYCLE.len();
            self.phase_stamp = now;
        }
    }

    fn check_full_bw_reached(&mut self, rs: &Delivery) {
        if self.full_bw_reached || !self.round_start || rs.app_limited {
            return;
        }
        let bw = self.max_bw();
        if bw >= 1.25 * self.full_bw {
            (self.full_bw, self.full_bw_count) = (bw, 0);
            return;
        }
        self.full_bw_count += 1;
        self.full_bw_reached = self.full_bw_count >= 3;
    }

    fn check_drain(&mut self, path: &PathView, now: Time) {
        if self.state == State::Startup && self.full_bw_reached {
            self.state = State::Drain;
        }
        let drained = path.in_flight.get() <= self.inflight(self.max_bw(), 1.0);
        if self.state == State::Drain && drained {
            self.start_probe_bw(now);
        }
    }

    /// Begins ProbeBW in any phase except the one with a gain of 0.75.
    fn start_probe_bw(&mut self, now: Time) {
        self.state = State::ProbeBw;
        let drawn = (scrambled(now) % 7) as usize;
        self.phase = (CYCLE.len() - drawn) % CYCLE.len();
        self.phase_stamp = now;
    }

    fn update_min_rtt(&mut self, rs: &Delivery, path: &PathView, now: Time) -> bool {
        let known = self.min_rtt != Duration::MAX;
        let expired = known && now > self.min_rtt_stamp + self.config.min_rtt_window;
        if rs.rtt <= self.min_rtt || expired {
            self.min_rtt = rs.rtt;
            self.min_rtt_stamp = now;
        }
        if expired && !self.idle_restart && self.state != State::ProbeRtt {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.probe_rtt_done = None;
        }
        let probing = self.state == State::ProbeRtt;
        if probing {
            self.handle_probe_rtt(path, now);
        }
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
        probing
    }

    fn handle_probe_rtt(&mut self, path: &PathView, now: Time) {
        if self.probe_rtt_done.is_none() {
            if path.in_flight.get() <= MIN_CWND * self.packet {
                self.probe_rtt_done = Some(now + self.config.probe_rtt_duration);
                self.probe_rtt_round_done = false;
                self.next_round = self.delivered;
            }
            return;
        }
        self.probe_rtt_round_done |= self.round_start;
        if self.probe_rtt_round_done {
            self.check_probe_rtt_done(now);
        }
    }

    fn check_probe_rtt_done(&mut self, now: Time) {
        if self.probe_rtt_done.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt_stamp = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.full_bw_reached { self.start_probe_bw(now) } else { self.state = State::Startup }
    }

    fn save_cwnd(&mut self) {
        self.prior_cwnd = if !self.in_recovery && self.state != State::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = gain * self.bw() * MARGIN;
        if rate > 0.0 && (self.full_bw_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
            self.pace = paced(rate);
        }
    }

    /// Sets the window for recovery. Returns whether packets are conserved.
    fn recover_or_restore(&mut self, rs: &Delivery, path: &PathView, was: bool) -> bool {
        let losses = std::mem::take(&mut self.losses);
        let conserved = path.in_flight.get().saturating_add(rs.acked);
        self.cwnd = self.cwnd.saturating_sub(losses).max(self.packet);
        if rs.in_recovery && !was {
            self.packet_conservation = true;
            self.next_round = rs.total;
            self.cwnd = conserved.max(self.packet);
        } else if was && !rs.in_recovery {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.packet_conservation = false;
        }
        if self.packet_conservation {
            self.cwnd = self.cwnd.max(conserved);
        }
        self.packet_conservation
    }

    fn set_cwnd(&mut self, rs: &Delivery, path: &PathView) {
        let was = std::mem::replace(&mut self.in_recovery, rs.in_recovery);
        if !self.recover_or_restore(rs, path, was) {
            let (_, gain) = self.gains();
            let bw = self.bw();
            let most = (bw * EXTRA_ACKED_MOST) as u64;
            let extra = self.extra_acked[0].max(self.extra_acked[1]).min(most);
            let extra = if self.full_bw_reached { extra } else { 0 };
            let target = self.with_budget(self.bdp(bw, gain).saturating_add(extra));
            let grown = self.cwnd.saturating_add(rs.acked);
            if self.full_bw_reached {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target || rs.total < self.initial_cwnd {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(MIN_CWND * self.packet);
        }
        if self.state == State::ProbeRtt {
            self.cwnd = self.cwnd.min(MIN_CWND * self.packet);
        }
    }
}

impl Controller for Bbr1 {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}

    fn on_delivery(&mut self, rs: &Delivery, path: &PathView, now: Time) -> bool {
        // A time-out ends a round trip of the detector, at the last delivery. The packets that it
        // lost are known by now.
        if self.timed_out.take().is_some() {
            let last = Delivery { total: self.delivered, app_limited: false, ..*rs };
            self.sample_policer(&last, true, true, self.acked_at);
        }
        (self.delivered, self.acked_at) = (rs.total, now);
        self.update_bw(rs, now);
        self.update_extra_acked(rs, now);
        self.update_phase(rs, path, now);
        self.check_full_bw_reached(rs);
        self.check_drain(path, now);
        let mark = self.update_min_rtt(rs, path, now);
        if !self.has_seen_rtt && !path.srtt.is_zero() {
            self.has_seen_rtt = true;
            let bw = self.initial_cwnd as f64 / path.srtt.as_secs_f64();
            self.pacing_rate = self.config.high_gain * MARGIN * bw;
            self.pace = paced(self.pacing_rate);
        }
        let (gain, _) = self.gains();
        self.set_pacing_rate(gain);
        self.set_cwnd(rs, path);
        mark
    }

    fn on_lost(&mut self, packet: &Lost, now: Time) {
        if self.timed_out != Some(now) {
            self.losses = self.losses.saturating_add(packet.size);
        }
        self.policer.lose(packet.size);
    }

    fn on_congestion(&mut self, what: Congestion, _: &PathView, now: Time) {
        self.save_cwnd();
        if matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout) {
            self.timed_out = Some(now);
            // Almost all data in flight is presumed lost, so packets are not conserved.
            self.in_recovery = true;
            self.packet_conservation = false;
            self.full_bw = 0.0;
            self.cwnd = self.packet;
        }
    }

    /// `bbr_undo_cwnd`. The window is restored as after any recovery.
    fn on_spurious(&mut self, now: Time) {
        (self.full_bw, self.full_bw_count) = (0.0, 0);
        self.policer.restart(self.delivered, now);
    }

    fn on_restart(&mut self, now: Time) {
        self.idle_restart = true;
        self.ack_epoch = now;
        self.ack_epoch_acked = 0;
        match self.state {
            State::ProbeBw => self.set_pacing_rate(1.0),
            State::ProbeRtt => self.check_probe_rtt_done(now),
            State::Startup | State::Drain => {}
        }
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new(self.cwnd), pacing: Some(self.pace) }
    }

    fn burst(&self) -> Burst {
        Burst::Unit(Bytes::new(self.quantum()))
    }

    fn inner(&self, values: &mut Vec<f64>) {
        let (state, gain) = (f64::from(self.state as u8), self.gains().0);
        values.extend([state, gain, 8.0 * self.bw(), seconds(self.base_rtt_estimate())]);
    }

    fn base_rtt_estimate(&self) -> Option<Duration> {
        Some(self.min_rtt).filter(|d| *d != Duration::MAX)
    }

    fn memory(&self) -> Duration {
        self.config.min_rtt_window + self.config.probe_rtt_duration
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            recovery: if self.config.rack { Recovery::Rack } else { Recovery::Sack },
            deliveries: true,
            ..Capabilities::default()
        }
    }
}
