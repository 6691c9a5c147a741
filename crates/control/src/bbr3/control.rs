//! The pace and the window [draft-ietf-ccwg-bbr-06 §5.6].

use super::{Bbr3, MIN_PIPE_CWND, State, paced};
use crate::Delivery;
use accord_units::Duration;

/// The fraction of the bandwidth that is used: 1 − BBR.PacingMarginPercent / 100.
const MARGIN: f64 = 0.99;

impl Bbr3 {
    /// BBR.pacing_gain and BBR.cwnd_gain of the state [§5.6.1].
    pub(super) fn gains(&self) -> (f64, f64) {
        let c = &self.config;
        match self.state {
            State::Startup => (c.startup_pacing_gain, c.cwnd_gain),
            State::Drain => (c.drain_pacing_gain, c.cwnd_gain),
            State::ProbeBwDown => (c.probe_down_pacing_gain, c.cwnd_gain),
            State::ProbeBwCruise | State::ProbeBwRefill => (1.0, c.cwnd_gain),
            State::ProbeBwUp => (c.probe_up_pacing_gain, c.probe_up_cwnd_gain),
            State::ProbeRtt => (1.0, c.probe_rtt_cwnd_gain),
        }
    }

    /// InitPacingRate() [§5.6.2], after the first round-trip time.
    pub(super) fn init_pacing_rate(&mut self, srtt: Duration) {
        let seconds = if srtt.is_zero() { 1e-3 } else { srtt.as_secs_f64() };
        let nominal_bandwidth = self.initial_cwnd as f64 / seconds;
        self.pacing_rate = self.config.startup_pacing_gain * nominal_bandwidth;
        self.pace = paced(self.pacing_rate);
    }

    /// SetPacingRate() [§5.6.2].
    pub(super) fn set_pacing_rate(&mut self) {
        let (pacing_gain, _) = self.gains();
        self.set_pacing_rate_with_gain(pacing_gain);
    }

    /// SetPacingRateWithGain() [§5.6.2].
    pub(super) fn set_pacing_rate_with_gain(&mut self, gain: f64) {
        let rate = gain * self.model.bw() * MARGIN;
        if rate > 0.0 && (self.full_bw_reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
            self.pace = paced(rate);
        }
    }

    /// BBR.bdp, in bytes.
    pub(super) fn bdp(&self) -> u64 {
        self.bdp_multiple(self.model.bw(), 1.0)
    }

    /// BDPMultiple() [§5.6.4.2].
    pub(super) fn bdp_multiple(&self, bw: f64, gain: f64) -> u64 {
        if self.min_rtt.min_rtt == Duration::MAX {
            return self.initial_cwnd;
        }
        (gain * bw * self.min_rtt.min_rtt.as_secs_f64()) as u64
    }

    /// QuantizationBudget() [§5.6.4.2], where a packet is sent at a time.
    fn quantization_budget(&self, inflight_cap: u64) -> u64 {
        let cap = inflight_cap.max(MIN_PIPE_CWND * self.smss);
        match self.state {
            State::ProbeBwUp => cap.saturating_add(2 * self.smss),
            _ => cap,
        }
    }

    /// Inflight() [§5.6.4.2].
    pub(super) fn inflight(&self, bw: f64, gain: f64) -> u64 {
        self.quantization_budget(self.bdp_multiple(bw, gain))
    }

    /// UpdateMaxInflight() [§5.6.4.2].
    fn max_inflight(&self) -> u64 {
        let (_, cwnd_gain) = self.gains();
        let cap = self.bdp_multiple(self.model.bw(), cwnd_gain);
        self.quantization_budget(cap.saturating_add(self.model.extra_acked))
    }

    /// SaveCwnd() [§5.6.4.4].
    pub(super) fn save_cwnd(&mut self) {
        self.prior_cwnd = if !self.in_recovery && self.state != State::ProbeRtt {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    /// SetCwnd() [§5.6.4.6].
    pub(super) fn set_cwnd(&mut self, rs: &Delivery) {
        let max_inflight = self.max_inflight();
        let grown = self.cwnd.saturating_add(rs.acked);
        if self.full_bw_reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight || rs.total < self.initial_cwnd {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(MIN_PIPE_CWND * self.smss);
        if self.state == State::ProbeRtt {
            // BoundCwndForProbeRTT() [§5.6.4.5].
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        self.bound_cwnd_for_model();
    }

    /// BoundCwndForModel() [§5.6.4.7].
    fn bound_cwnd_for_model(&mut self) {
        let cap = match self.state {
            State::ProbeRtt | State::ProbeBwCruise => self.inflight_with_headroom(),
            _ if self.is_in_probe_bw() => self.model.inflight_longterm,
            _ => u64::MAX,
        };
        let cap = cap.min(self.model.inflight_shortterm);
        self.cwnd = self.cwnd.min(cap.max(MIN_PIPE_CWND * self.smss));
    }
}
