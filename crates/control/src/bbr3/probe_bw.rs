//! ProbeBW [draft-ietf-ccwg-bbr-06 §5.3.3].

use super::{Bbr3, MIN_PIPE_CWND, State, model};
use crate::{Delivery, PathView, scrambled};
use accord_units::{Duration, Time};

/// BBR.ack_phase [§2.14].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AckPhase {
    #[default]
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// The state of probing for bandwidth [§2.14].
#[derive(Clone, Debug, Default)]
pub(super) struct Probe {
    pub ack_phase: AckPhase,
    /// BBR.is_bw_probe_sample.
    pub is_sample: bool,
    /// BBR.prev_probe_too_high and BBR.prev_probe_precautionary.
    pub prev_too_high: bool,
    prev_precautionary: bool,
    /// BBR.bw_probe_up_acked, BBR.probe_up_acked_per_inc and BBR.bw_probe_up_rounds.
    up_acked: u64,
    acked_per_inc: u64,
    up_rounds: u32,
    /// BBR.rounds_since_probe_up.
    pub rounds_since_up: u64,
    /// BBR.bw_probe_wait and BBR.cycle_stamp.
    wait: Duration,
    cycle_stamp: Time,
}

impl Probe {
    pub fn new() -> Probe {
        Probe { acked_per_inc: u64::MAX, ..Probe::default() }
    }
}

/// The maximum number of round trips between probes, as Reno would have them [§5.3.3.8.2].
const RENO_ROUNDS: u64 = 63;

impl Bbr3 {
    /// IsInAProbeBWState() [§5.3.3.9].
    pub(super) fn is_in_probe_bw(&self) -> bool {
        matches!(
            self.state,
            State::ProbeBwDown | State::ProbeBwCruise | State::ProbeBwRefill | State::ProbeBwUp
        )
    }

    /// IsProbingBW() [§5.3.3.9].
    pub(super) fn is_probing_bw(&self) -> bool {
        matches!(self.state, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }

    /// TargetInflight() [§5.3.3.8.3].
    pub(super) fn target_inflight(&self) -> u64 {
        self.bdp().min(self.cwnd)
    }

    /// PickProbeWait() [§5.3.3.8.3].
    fn pick_probe_wait(&mut self, now: Time) {
        let random = scrambled(now);
        self.probe.rounds_since_up = random & 1;
        let second = (random >> 11) as f64 / (1u64 << 53) as f64;
        self.probe.wait = Duration::from_secs_f64(2.0 + second);
    }

    /// StartProbeBW_DOWN() [§5.3.3.9].
    pub(super) fn start_probe_bw_down(&mut self, now: Time) {
        self.model.reset_congestion_signals();
        self.probe.acked_per_inc = u64::MAX;
        self.pick_probe_wait(now);
        self.probe.cycle_stamp = now;
        self.probe.ack_phase = AckPhase::ProbeStopping;
        self.start_round();
        self.state = State::ProbeBwDown;
    }

    /// StartProbeBW_CRUISE() [§5.3.3.9].
    pub(super) fn start_probe_bw_cruise(&mut self) {
        self.state = State::ProbeBwCruise;
    }

    /// StartProbeBW_REFILL() [§5.3.3.9].
    pub(super) fn start_probe_bw_refill(&mut self) {
        self.model.reset_short_term();
        self.probe.up_rounds = 0;
        self.probe.up_acked = 0;
        self.probe.prev_precautionary = false;
        self.probe.ack_phase = AckPhase::Refilling;
        self.start_round();
        self.state = State::ProbeBwRefill;
    }

    /// StartProbeBW_UP() [§5.3.3.9].
    fn start_probe_bw_up(&mut self, rs: &Delivery) {
        self.probe.ack_phase = AckPhase::ProbeStarting;
        self.start_round();
        self.reset_full_bw();
        self.full_bw = model::bytes_per_second(rs.rate);
        self.state = State::ProbeBwUp;
        self.raise_inflight_longterm_slope();
    }

    /// UpdateProbeBWCyclePhase() [§5.3.3.9].
    pub(super) fn update_probe_bw_cycle_phase(
        &mut self,
        rs: &Delivery,
        path: &PathView,
        now: Time,
    ) {
        if !self.full_bw_reached || self.adapt_long_term_model(rs) {
            return;
        }
        let state = self.state;
        match state {
            State::ProbeBwDown if self.is_time_to_probe_bw(now) => self.start_probe_bw_refill(),
            State::ProbeBwDown if self.is_time_to_cruise(path) => self.start_probe_bw_cruise(),
            State::ProbeBwCruise if self.is_time_to_probe_bw(now) => self.start_probe_bw_refill(),
            State::ProbeBwRefill if self.rounds.start => {
                self.probe.is_sample = true;
                self.start_probe_bw_up(rs);
            }
            State::ProbeBwUp if self.is_time_to_go_down(rs, path) => {
                self.probe.prev_too_high = false;
                self.start_probe_bw_down(now);
            }
            _ => {}
        }
    }

    /// IsTimeToProbeBW() [§5.3.3.8.3].
    fn is_time_to_probe_bw(&self, now: Time) -> bool {
        now > self.probe.cycle_stamp + self.probe.wait || self.is_reno_coexistence_probe_time()
    }

    /// IsRenoCoexistenceProbeTime() [§5.3.3.8.3], with the target in packets.
    fn is_reno_coexistence_probe_time(&self) -> bool {
        let reno_rounds = self.target_inflight() / self.smss;
        self.probe.rounds_since_up >= reno_rounds.min(RENO_ROUNDS)
    }

    /// IsTimeToCruise() [§5.3.3.9].
    fn is_time_to_cruise(&self, path: &PathView) -> bool {
        let in_flight = path.in_flight.get();
        in_flight <= self.inflight_with_headroom()
            && in_flight <= self.inflight(self.model.max_bw(), 1.0)
    }

    /// IsTimeToGoDown() [§5.3.3.9].
    fn is_time_to_go_down(&mut self, rs: &Delivery, path: &PathView) -> bool {
        let longterm = self.model.inflight_longterm;
        if self.probe.prev_too_high && path.in_flight.get() >= longterm {
            self.probe.prev_precautionary = true;
            return true;
        }
        if rs.window_limited && self.cwnd >= longterm {
            self.reset_full_bw();
            self.full_bw = model::bytes_per_second(rs.rate);
            return false;
        }
        self.full_bw_now
    }

    /// InflightWithHeadroom() [§5.3.3.9].
    pub(super) fn inflight_with_headroom(&self) -> u64 {
        let longterm = self.model.inflight_longterm;
        if longterm == u64::MAX {
            return u64::MAX;
        }
        let headroom = (self.config.headroom * longterm as f64) as u64;
        let left = longterm.saturating_sub(headroom.max(self.smss));
        left.max(MIN_PIPE_CWND * self.smss)
    }

    /// RaiseInflightLongtermSlope() [§5.3.3.9].
    fn raise_inflight_longterm_slope(&mut self) {
        let growth = 1u64 << self.probe.up_rounds;
        self.probe.up_rounds = (self.probe.up_rounds + 1).min(30);
        self.probe.acked_per_inc = (self.cwnd / growth).max(self.smss);
    }

    /// ProbeInflightLongtermUpward() [§5.3.3.9].
    fn probe_inflight_longterm_upward(&mut self, rs: &Delivery) {
        if !rs.window_limited || self.cwnd < self.model.inflight_longterm {
            return;
        }
        let probe = &mut self.probe;
        probe.up_acked = probe.up_acked.saturating_add(rs.acked);
        let delta = probe.up_acked / probe.acked_per_inc;
        probe.up_acked -= delta * probe.acked_per_inc;
        let longterm = &mut self.model.inflight_longterm;
        *longterm = longterm.saturating_add(delta.saturating_mul(self.smss));
        if self.rounds.start {
            self.raise_inflight_longterm_slope();
        }
    }

    /// AdaptLongTermModel() [§5.3.3.9]. Returns whether it chose a state.
    fn adapt_long_term_model(&mut self, rs: &Delivery) -> bool {
        if self.probe.ack_phase == AckPhase::ProbeStarting && self.rounds.start {
            self.probe.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.probe.ack_phase == AckPhase::ProbeStopping && self.rounds.start {
            self.probe.is_sample = false;
            self.probe.ack_phase = AckPhase::Init;
            if self.is_in_probe_bw() && !rs.app_limited {
                self.model.advance_max_bw_filter();
            }
            // Precautionary bandwidth probing: acceleration.
            let went_well = self.probe.prev_precautionary && !self.probe.prev_too_high;
            if self.is_in_probe_bw() && went_well {
                self.start_probe_bw_refill();
                return true;
            }
        }
        let longterm = self.model.inflight_longterm;
        if self.is_inflight_too_high(rs.lost, rs.tx_in_flight) || longterm == u64::MAX {
            return false;
        }
        self.model.inflight_longterm = longterm.max(rs.tx_in_flight);
        if self.state == State::ProbeBwUp {
            self.probe_inflight_longterm_upward(rs);
        }
        false
    }
}
