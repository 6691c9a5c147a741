//! The states of C4, and the judgement of their success [draft-huitema-ccwg-c4-spec-04 §4].

use super::signals::Signal;
use super::{C4, Config, LARGEST, MIN_MAX_RTT, Push, State};
use crate::Delivery;
use accord_units::Duration;

/// The growth of the rate since the last judgement of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Growth {
    None,
    Slow,
    Fast,
}

/// The levels of success: pushes follow from [`PUSHES`] on, and the initial state above [`MAX_LEVEL`].
const PUSHES: u32 = 2;
const MAX_LEVEL: u32 = 3;
/// The eras without growth that end the initial state [§4.2].
const ERAS_WITHOUT_GROWTH: u32 = 3;
/// A path that jitters, with at most this rate, begins again [picoquic c4.c].
const JITTER_RATE: f64 = 1e6;
const JITTER_RTT: Duration = Duration::from_ms(50);
/// An alpha up to this one is too small for a growth that can be measured.
const SMALL_ALPHA: f64 = 1.0625;

impl C4 {
    /// Begins to observe whether the rate grows.
    pub(super) fn observe_growth(&mut self) {
        self.push = Push { rate: self.nominal_rate, alpha: self.alpha, ..Push::default() };
    }

    /// Judges the growth of the rate: by a part of what alpha should give, or by any growth without
    /// congestion if alpha is too small for that.
    fn growth(&self) -> Growth {
        let Push { rate, alpha, congested, .. } = self.push;
        let grown = |part: f64| rate + part * (alpha - 1.0) * rate;
        if alpha <= SMALL_ALPHA {
            let grows = self.nominal_rate > rate && !congested;
            return if grows { Growth::Fast } else { Growth::None };
        }
        match self.nominal_rate {
            r if r > grown(0.75) => Growth::Fast,
            r if r >= grown(0.25) => Growth::Slow,
            _ => Growth::None,
        }
    }

    fn enter_initial(&mut self, from: u64) {
        self.state = State::Initial;
        self.initial_cwnd = self.window;
        self.level = 1;
        self.alpha = self.config.initial_alpha;
        self.initial_events = 0;
        self.begin_era(from);
        self.eras_without_growth = 0;
        self.marks.alpha = 0.0;
        self.observe_growth();
    }

    /// Ends the initial state, if there is a rate: half of the window was in the path [§4.2].
    pub(super) fn exit_initial(&mut self, from: u64) {
        if self.nominal_rate > 0.0 {
            let seconds = self.initial_cwnd / 2.0 / self.nominal_rate;
            self.set_nominal_max_rtt(Duration::from_secs_f64(seconds));
            self.eras_without_growth = 0;
            self.level = 1;
            self.enter_recovery(None, from);
        }
    }

    pub(super) fn enter_recovery(&mut self, signal: Option<Signal>, from: u64) {
        if self.state == State::Initial {
            self.observe_growth();
        }
        if self.state != State::Recovery {
            self.excess_marks = signal == Some(Signal::Marks);
            self.state = State::Recovery;
            self.begin_era(from);
            self.alpha = self.config.recovery_alpha;
        }
    }

    /// Ends recovery, and draws the conclusions from the state before it [§4.4].
    fn exit_recovery(&mut self, from: u64) {
        if self.growth() > Growth::None {
            if !self.excess_marks {
                self.level += 1;
            }
            self.congestions = 0;
        } else {
            if self.push.not_limited {
                self.level = u32::from(!self.excess_marks);
            }
            self.congestions = if self.push.congested { self.congestions + 1 } else { 0 };
            // Persistent congestion [§5.5.2].
            if self.congestions >= 2 && self.recent_rate > 0.0 {
                self.nominal_rate = self.nominal_rate.min(self.recent_rate);
            }
        }
        self.recent_rate = 0.0;
        self.observe_growth();
        self.delay_excess = Duration::ZERO;
        self.losses.ratio = 0.0;
        self.marks.alpha = 0.0;
        if self.level > MAX_LEVEL {
            self.enter_initial(from);
        } else if self.level >= PUSHES {
            self.enter_pushing(from);
        } else {
            self.enter_cruising(from);
        }
    }

    fn enter_cruising(&mut self, from: u64) {
        self.begin_era(from);
        if self.cruise_left == 0 {
            self.cruise_left = if self.level == 0 { 1 } else { self.config.cruise_eras };
        }
        self.alpha = 1.0;
        if self.srtt < MIN_MAX_RTT {
            // Pacers lag behind on such short paths.
            self.alpha += 3.0 / 64.0;
        }
        self.state = State::Cruising;
    }

    fn enter_probing(&mut self, from: u64) {
        let after_marks = self.level == 0;
        let Config { probe_alpha, probe_alpha_marks, .. } = self.config;
        self.alpha = if after_marks { probe_alpha_marks } else { probe_alpha };
        self.push.alpha = self.alpha;
        self.begin_era(from);
        self.state = State::Probing;
    }

    fn enter_pushing(&mut self, from: u64) {
        self.alpha = self.config.push_alpha;
        self.state = State::Pushing;
        self.eras_without_growth = 0;
        self.observe_growth();
        self.begin_era(from);
    }

    /// Continues a push while it makes the rate grow. Returns false if the rate does not grow.
    pub(super) fn goes_on_pushing(&mut self, from: u64) -> bool {
        let grows = self.growth() == Growth::Fast;
        if grows {
            self.observe_growth();
            self.begin_era(from);
        }
        grows
    }

    /// An acknowledgement in the initial state [§4.2].
    pub(super) fn grow_initially(&mut self, rs: &Delivery, era_ended: bool) {
        self.initial_events += 1;
        let slower = rs.acked >> (3 * self.eras_without_growth);
        self.initial_cwnd = (self.initial_cwnd + slower as f64).min(LARGEST);
        if !era_ended {
            return;
        }
        if self.growth() > Growth::None {
            self.eras_without_growth = 0;
        } else if self.push.not_limited && self.nominal_rate > 0.0 {
            self.eras_without_growth += 1;
        }
        self.begin_era(rs.total);
        if self.eras_without_growth >= ERAS_WITHOUT_GROWTH {
            self.exit_initial(rs.total);
        } else {
            self.observe_growth();
        }
    }

    /// Returns true once, on a slow path whose round-trip time varies a lot [§4.4.1].
    fn jitters(&self) -> bool {
        let (min, max) = (self.running_min_rtt.as_secs_f64(), self.nominal_max_rtt.as_secs_f64());
        !self.restarted
            && self.nominal_max_rtt > JITTER_RTT
            && self.nominal_rate < JITTER_RATE
            && 5.0 * min < 2.0 * max
    }

    /// The end of an era outside of the initial state.
    pub(super) fn end_era(&mut self, rs: &Delivery) {
        let from = rs.total;
        self.update_rtts(rs.rtt);
        if self.jitters() {
            self.restarted = true;
            self.enter_initial(from);
            return;
        }
        match self.state {
            State::Recovery => self.exit_recovery(from),
            State::Cruising => {
                self.cruise_left = self.cruise_left.saturating_sub(1);
                self.begin_era(from);
                if self.cruise_left == 0 && !rs.app_limited {
                    self.enter_probing(from);
                }
            }
            State::Probing => self.enter_recovery(None, from),
            State::Pushing => {
                if !self.goes_on_pushing(from) {
                    self.enter_recovery(None, from);
                }
            }
            State::Initial => {}
        }
    }
}
