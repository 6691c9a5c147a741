//! The model of the path [draft-ietf-ccwg-bbr-06 §5.5].

use super::{Bbr3, State};
use crate::{Delivery, Lost};
use accord_units::{Rate, Time};

/// Packet-timed round trips [§5.5.1].
#[derive(Clone, Debug, Default)]
pub(super) struct Rounds {
    /// BBR.round_count.
    pub count: u64,
    /// BBR.round_start.
    pub start: bool,
    /// BBR.next_round_delivered.
    pub next: u64,
}

/// The rounds over which the degree of aggregation is remembered: BBR.ExtraAckedFilterLen.
const EXTRA_ACKED_ROUNDS: usize = 10;

/// The state saved when a loss recovery begins [§5.5.11].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// True while a saved state can be restored: the recovery is not over.
    pub saved: bool,
    /// BBR.undo_state.
    pub state: Option<State>,
    /// BBR.undo_bw_shortterm, BBR.undo_inflight_shortterm and BBR.undo_inflight_longterm.
    bw_shortterm: f64,
    inflight_shortterm: u64,
    inflight_longterm: u64,
}

/// The model of the path.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    /// C.delivered at the last acknowledgement.
    pub delivered: u64,
    /// BBR.max_bw_filter: the largest samples of this cycle and of the one before, in bytes per
    /// second.
    max_bw: [f64; 2],
    /// BBR.bw_shortterm and BBR.bw.
    pub bw_shortterm: f64,
    bw: f64,
    /// BBR.inflight_shortterm and BBR.inflight_longterm.
    pub inflight_shortterm: u64,
    pub inflight_longterm: u64,
    /// The state to restore after a spurious loss.
    pub undo: Undo,
    /// BBR.bw_latest and BBR.inflight_latest.
    bw_latest: f64,
    pub inflight_latest: u64,
    /// BBR.is_loss_in_round, BBR.loss_round_delivered and BBR.loss_round_start.
    is_loss_in_round: bool,
    loss_round_delivered: u64,
    pub loss_round_start: bool,
    /// The ranges of packets lost in this round, and the packet after the last of them.
    pub loss_ranges: u32,
    after_loss: u64,
    /// BBR.extra_acked, and its samples: the round and the bytes of each.
    pub extra_acked: u64,
    extra_acked_filter: [(u64, u64); EXTRA_ACKED_ROUNDS],
    extra_acked_interval_start: Time,
    extra_acked_delivered: u64,
}

/// A rate in bytes per second.
pub(super) fn bytes_per_second(rate: Rate) -> f64 {
    rate.as_bps_f64() / 8.0
}

impl Model {
    pub fn new() -> Model {
        Model {
            bw_shortterm: f64::INFINITY,
            inflight_shortterm: u64::MAX,
            inflight_longterm: u64::MAX,
            after_loss: u64::MAX,
            ..Model::default()
        }
    }

    pub fn max_bw(&self) -> f64 {
        self.max_bw[0].max(self.max_bw[1])
    }

    pub fn bw(&self) -> f64 {
        self.bw
    }

    /// Begins an interval of aggregation [§5.4.1, §5.5.9].
    pub fn restart_aggregation(&mut self, now: Time) {
        self.extra_acked_delivered = 0;
        self.extra_acked_interval_start = now;
    }

    /// AdvanceMaxBwFilter() [§5.5.6].
    pub fn advance_max_bw_filter(&mut self) {
        self.max_bw = [0.0, self.max_bw[0]];
    }

    /// BoundBWForModel() [§5.5.10.3].
    pub fn bound_bw(&mut self) {
        self.bw = self.max_bw().min(self.bw_shortterm);
    }

    /// ResetCongestionSignals() [§5.5.10.3].
    pub fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0.0;
        self.inflight_latest = 0;
    }

    /// ResetShortTermModel() [§5.5.10.3].
    pub fn reset_short_term(&mut self) {
        self.bw_shortterm = f64::INFINITY;
        self.inflight_shortterm = u64::MAX;
    }

    /// AdvanceLatestDeliverySignals() [§5.5.10.3].
    pub fn advance_latest_delivery_signals(&mut self, rs: &Delivery) {
        if self.loss_round_start {
            self.bw_latest = bytes_per_second(rs.rate);
            self.inflight_latest = rs.delivered;
        }
    }
}

impl Bbr3 {
    /// StartRound() [§5.5.1].
    pub(super) fn start_round(&mut self) {
        self.rounds.next = self.model.delivered;
    }

    /// UpdateRound() [§5.5.1].
    fn update_round(&mut self, rs: &Delivery) {
        self.rounds.start = rs.prior >= self.rounds.next;
        if self.rounds.start {
            self.start_round();
            self.rounds.count += 1;
            self.probe.rounds_since_up += 1;
        }
    }

    /// UpdateMaxBw() [§5.5.5].
    fn update_max_bw(&mut self, rs: &Delivery) {
        self.update_round(rs);
        let rate = bytes_per_second(rs.rate);
        if rate > 0.0 && (rate >= self.model.max_bw() || !rs.app_limited) {
            let newest = &mut self.model.max_bw[0];
            *newest = newest.max(rate);
        }
    }

    /// UpdateLatestDeliverySignals() [§5.5.10.3].
    pub(super) fn update_latest_delivery_signals(&mut self, rs: &Delivery) {
        let m = &mut self.model;
        m.bw_latest = m.bw_latest.max(bytes_per_second(rs.rate));
        m.inflight_latest = m.inflight_latest.max(rs.delivered);
        m.loss_round_start = rs.prior >= m.loss_round_delivered;
        if m.loss_round_start {
            m.loss_round_delivered = rs.total;
        }
    }

    /// UpdateCongestionSignals() [§5.5.10.3].
    pub(super) fn update_congestion_signals(&mut self, rs: &Delivery) {
        self.update_max_bw(rs);
        if !self.model.loss_round_start {
            return;
        }
        if !self.is_probing_bw() && self.model.is_loss_in_round {
            self.lower_bounds();
        }
        self.model.is_loss_in_round = false;
    }

    /// InitLowerBounds() and LossLowerBounds() [§5.5.10.3].
    fn lower_bounds(&mut self) {
        let beta = self.config.beta;
        let m = &mut self.model;
        if m.bw_shortterm == f64::INFINITY {
            m.bw_shortterm = m.max_bw();
        }
        if m.inflight_shortterm == u64::MAX {
            m.inflight_shortterm = self.cwnd;
        }
        m.bw_shortterm = m.bw_latest.max(beta * m.bw_shortterm);
        let kept = (beta * m.inflight_shortterm as f64) as u64;
        m.inflight_shortterm = m.inflight_latest.max(kept);
    }

    /// UpdateACKAggregation() [§5.5.9].
    pub(super) fn update_ack_aggregation(&mut self, rs: &Delivery, now: Time) {
        let m = &mut self.model;
        let interval = now.since(m.extra_acked_interval_start).as_secs_f64();
        let mut expected = m.bw * interval;
        if m.extra_acked_delivered as f64 <= expected {
            m.restart_aggregation(now);
            expected = 0.0;
        }
        m.extra_acked_delivered = m.extra_acked_delivered.saturating_add(rs.acked);
        let extra = (m.extra_acked_delivered as f64 - expected).max(0.0) as u64;
        let extra = extra.min(self.cwnd);
        // In Startup only this round is remembered.
        let rounds = if self.full_bw_reached { EXTRA_ACKED_ROUNDS as u64 } else { 1 };
        let round = self.rounds.count;
        let slot = &mut m.extra_acked_filter[(round % EXTRA_ACKED_ROUNDS as u64) as usize];
        if slot.0 != round {
            *slot = (round, 0);
        }
        slot.1 = slot.1.max(extra);
        let recent = m.extra_acked_filter.iter();
        let recent = recent.filter(|(r, _)| r + rounds > round);
        m.extra_acked = recent.map(|(_, bytes)| *bytes).max().unwrap_or(0);
    }

    /// IsInflightTooHigh() [§5.5.10.2].
    pub(super) fn is_inflight_too_high(&self, lost: u64, tx_in_flight: u64) -> bool {
        lost as f64 > tx_in_flight as f64 * self.config.loss_thresh
    }

    /// HandleLostPacket() [§5.5.10.2].
    pub(super) fn handle_lost_packet(&mut self, packet: &Lost, now: Time) {
        let m = &mut self.model;
        m.delivered = packet.total;
        // NoteLoss().
        if !m.is_loss_in_round {
            m.loss_round_delivered = packet.total;
            self.save_cwnd();
            self.save_state_upon_loss();
        }
        let m = &mut self.model;
        m.is_loss_in_round = true;
        if packet.number != m.after_loss {
            m.loss_ranges = m.loss_ranges.saturating_add(1);
        }
        m.after_loss = packet.number.saturating_add(1);
        if !self.probe.is_sample || !self.is_inflight_too_high(packet.lost, packet.tx_in_flight) {
            return;
        }
        // InflightAtLoss().
        let thresh = self.config.loss_thresh;
        let inflight_prev = packet.tx_in_flight.saturating_sub(packet.size) as f64;
        let lost_prev = packet.lost.saturating_sub(packet.size) as f64;
        let lost_prefix = (thresh * inflight_prev - lost_prev) / (1.0 - thresh).max(1e-9);
        let tx_in_flight = inflight_prev + lost_prefix.max(0.0);
        self.handle_inflight_too_high(tx_in_flight as u64, packet.app_limited, now);
    }

    /// HandleInflightTooHigh() [§5.5.10.2].
    fn handle_inflight_too_high(&mut self, tx_in_flight: u64, app_limited: bool, now: Time) {
        self.probe.prev_too_high = true;
        self.probe.is_sample = false;
        if !app_limited {
            let kept = (self.target_inflight() as f64 * self.config.beta) as u64;
            self.model.inflight_longterm = tx_in_flight.max(kept);
        }
        if self.state == State::ProbeBwUp {
            self.model.undo.state = Some(State::ProbeBwUp);
            self.start_probe_bw_down(now);
        }
    }

    /// SaveStateUponLoss() [§5.5.11.1].
    fn save_state_upon_loss(&mut self) {
        let m = &mut self.model;
        if m.undo.saved {
            return;
        }
        m.undo = Undo {
            saved: true,
            state: None,
            bw_shortterm: m.bw_shortterm,
            inflight_shortterm: m.inflight_shortterm,
            inflight_longterm: m.inflight_longterm,
        };
    }

    /// HandleSpuriousLossDetection() [§5.5.11.2].
    pub(super) fn handle_spurious_loss(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.reset_full_bw();
        let m = &mut self.model;
        m.undo.saved = false;
        m.is_loss_in_round = false;
        m.bw_shortterm = m.bw_shortterm.max(m.undo.bw_shortterm);
        m.inflight_shortterm = m.inflight_shortterm.max(m.undo.inflight_shortterm);
        m.inflight_longterm = m.inflight_longterm.max(m.undo.inflight_longterm);
        let probing = self.state == State::ProbeRtt;
        match m.undo.state.take() {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_bw_reached = false;
                if !probing {
                    self.state = State::Startup;
                }
            }
            Some(State::ProbeBwUp) if self.state != State::ProbeBwUp && !probing => {
                self.start_probe_bw_refill();
            }
            _ => {}
        }
    }
}
