//! The smallest round-trip time, and ProbeRTT [draft-ietf-ccwg-bbr-06 §5.3.4].

use super::{AckPhase, Bbr3, MIN_PIPE_CWND, State};
use crate::{Delivery, PathView};
use accord_units::{Duration, Time};

/// The state of the smallest round-trip time [§2.16].
#[derive(Clone, Debug, Default)]
pub(super) struct MinRtt {
    /// BBR.min_rtt and BBR.min_rtt_stamp.
    pub min_rtt: Duration,
    stamp: Time,
    /// BBR.probe_rtt_min_delay, BBR.probe_rtt_min_stamp and BBR.probe_rtt_expired.
    probe_delay: Duration,
    probe_stamp: Time,
    expired: bool,
    /// BBR.probe_rtt_done_stamp and BBR.probe_rtt_round_done.
    done_stamp: Option<Time>,
    round_done: bool,
}

impl MinRtt {
    pub fn new() -> MinRtt {
        MinRtt { min_rtt: Duration::MAX, probe_delay: Duration::MAX, ..MinRtt::default() }
    }
}

impl Bbr3 {
    /// UpdateMinRTT() [§5.3.4.3].
    pub(super) fn update_min_rtt(&mut self, rs: &Delivery, now: Time) {
        let m = &mut self.min_rtt;
        // The stamps begin with the first sample, not at time zero: a flow may begin later.
        let first = m.probe_delay == Duration::MAX;
        m.expired = !first && now > m.probe_stamp + self.config.probe_rtt_interval;
        if rs.rtt < m.probe_delay || m.expired {
            m.probe_delay = rs.rtt;
            m.probe_stamp = now;
        }
        let min_rtt_expired = !first && now > m.stamp + self.config.min_rtt_filter_len;
        if m.probe_delay < m.min_rtt || min_rtt_expired {
            m.min_rtt = m.probe_delay;
            m.stamp = m.probe_stamp;
        }
    }

    /// CheckProbeRTT() [§5.3.4.3]. Returns whether samples should count as limited by the
    /// application.
    pub(super) fn check_probe_rtt(&mut self, rs: &Delivery, path: &PathView, now: Time) -> bool {
        if self.state != State::ProbeRtt && self.min_rtt.expired && !self.idle_restart {
            self.state = State::ProbeRtt;
            self.save_cwnd();
            self.min_rtt.done_stamp = None;
            self.probe.ack_phase = AckPhase::ProbeStopping;
            self.start_round();
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

    /// HandleProbeRTT() [§5.3.4.3].
    fn handle_probe_rtt(&mut self, path: &PathView, now: Time) {
        match self.min_rtt.done_stamp {
            None if path.in_flight.get() <= self.probe_rtt_cwnd() => {
                self.min_rtt.done_stamp = Some(now + self.config.probe_rtt_duration);
                self.min_rtt.round_done = false;
                self.start_round();
            }
            None => {}
            Some(_) => {
                self.min_rtt.round_done |= self.rounds.start;
                if self.min_rtt.round_done {
                    self.check_probe_rtt_done(now);
                }
            }
        }
    }

    /// CheckProbeRTTDone() [§5.3.4.3] and ExitProbeRTT() [§5.3.4.4].
    pub(super) fn check_probe_rtt_done(&mut self, now: Time) {
        if self.min_rtt.done_stamp.is_none_or(|done| now <= done) {
            return;
        }
        self.min_rtt.probe_stamp = now;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.model.reset_short_term();
        if self.full_bw_reached {
            self.start_probe_bw_down(now);
            self.start_probe_bw_cruise();
        } else {
            // EnterStartup() [§5.3.1.1].
            self.state = State::Startup;
        }
    }

    /// ProbeRTTCwnd() [§5.6.4.5].
    pub(super) fn probe_rtt_cwnd(&self) -> u64 {
        let cwnd = self.bdp_multiple(self.model.bw(), self.config.probe_rtt_cwnd_gain);
        cwnd.max(MIN_PIPE_CWND * self.smss)
    }
}
