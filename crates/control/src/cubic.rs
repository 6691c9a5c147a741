//! CUBIC: a window that is a cubic function of the time since the last loss.
//!
//! With t the time since congestion avoidance began, windows in packets and times in seconds:
//!
//! ```text
//! W_cubic(t) = C·(t − K)³ + W_max                             [RFC 9438 eq. 1]
//! K          = ∛((W_max − cwnd_epoch) / C)                    [RFC 9438 eq. 2]
//! each ACK   cwnd ← cwnd + (target − cwnd) / cwnd,
//!            target = W_cubic(t + RTT) within cwnd .. 1.5·cwnd [RFC 9438 §4.2, 4.4, 4.5]
//! Reno's     W_est ← W_est + α·segments_acked / cwnd, cwnd ← W_est where W_cubic(t) < W_est;
//!            α = 3·(1 − β) / (1 + β), 1 once W_est is the window before the loss
//!                                                             [RFC 9438 eq. 4, §4.3]
//! loss       W_max ← cwnd, or cwnd·(1 + β)/2 where that is below the last W_max;
//!            cwnd ← ssthresh ← max(β·in flight, 2 packets)    [RFC 9438 §4.6, 4.7]
//! timeout    ssthresh as above, cwnd ← 1 packet; then K = 0, W_max = cwnd
//!                                                             [RFC 9438 §4.8]
//! mark       as a loss, once per round trip, but cwnd ← 1 packet at least
//!                                                             [RFC 9438 §4.6]
//! timeout of the same, idle time   as Reno
//! ```
//!
//! `slow_start` chooses the first slow start: HyStart++ [RFC 9406] by default. The later ones are that of RFC 5681;
//! HyStart as in Linux and SEARCH begin again after a time-out.
//!
//! Departures from the source: `docs/src/models/cubic.md`.

use crate::prelude::*;
pub use crate::start::SlowStart;
use crate::start::{Later, OVER, STAGES, Start, Step};
use crate::tcp_window::{
    ECN, RACK, SACK, TEN_PACKETS, TcpWindow, marks, rack, recovery, shows_window,
};
use accord_family::Field;

const SEARCH: &str = "[draft-chung-ccwg-search]";

accord_family::params! {
    /// The parameters of CUBIC.
    pub struct Config of FAMILY => Cubic(packet: Bytes) {
        /// Steepness of the cubic function, in packets per cubic second.
        pub c: f64 = number("0.4", 0.001, 100.0).symbol("C").source("[RFC 9438 §4.1]"),
        /// Part of the window that remains after a loss.
        pub beta: f64 = number("0.7", 0.1, 0.95).symbol("β").source("[RFC 9438 §4.6]"),
        /// Leaves room for newcomers: remembers less than the window that a loss ended, where windows fall.
        pub fast_convergence: bool = flag("true").source("[RFC 9438 §4.7]"),
        /// Reno's window grows by a packet per round trip once it is the window before the loss; Linux goes on with less.
        pub alpha_one: bool = flag("true").source("[RFC 9438 §4.3]"),
        /// First slow start: until a loss (plain), HyStart++, the HyStart of Linux, SEARCH or Rapid Start.
        pub slow_start: SlowStart = choice("hystart-plus", SlowStart::WORDS).source("hystart-plus is [RFC 9406], search is [draft-chung-ccwg-search], rapid is [draft-kazuho-ccwg-rapid-start-02]"),
        /// Window over which SEARCH counts deliveries, in first round-trip times.
        pub search_window: f64 = number("3.5", 1.0, 100.0).source(SEARCH),
        /// Bins of this window.
        pub search_bins: u64 = integer("10", 2, 1000).symbol("W").source(SEARCH),
        /// Bins kept beyond the window, for round-trip times that grow.
        pub search_extra: u64 = integer("15", 3, 1000).source(SEARCH),
        /// Part of the expected deliveries whose absence ends slow start.
        pub search_threshold: f64 = number("0.35", 0.01, 1.0).source(SEARCH),
        /// The end of SEARCH takes the data of two round trips off the window.
        pub search_rollback: bool = flag("false").source(SEARCH),
        /// Rise of the round-trip time, as a part of the smallest, up to which Rapid Start triples the window.
        pub rapid_rise: f64 = number("0.1", 0.0, 10.0).source("[draft-kazuho-ccwg-rapid-start-02 §3.2]"),
        /// Largest such rise.
        pub rapid_rise_time: Duration = duration("4 ms").source("[draft-kazuho-ccwg-rapid-start-02 §3.2]"),
        /// Weight of the acknowledged data in the recovery after Rapid Start.
        pub rapid_k: f64 = number("0.6667", 0.0, 1.0).symbol("K").source("[draft-kazuho-ccwg-rapid-start-02 §3.3.1]"),
        /// W_max after that recovery, in estimates of the data that path and queue hold.
        pub rapid_w_max: f64 = number("2", 1.0, 3.0).source("[draft-kazuho-ccwg-rapid-start, working copy §3.3.3]"),
        pub initial_window: Size = TEN_PACKETS,
        pub sack: bool = SACK.default("true"),
        pub rack: bool = RACK,
        pub ecn: bool = ECN,
    }
}

/// The declaration of CUBIC.
pub static FAMILY: Family = Family {
    doc: "TCP CUBIC: a cubic function of the time since the last loss, Reno's window where larger.",
    source: "[RFC 9438]",
    params: Config::PARAMS,
    dynamics: Dynamics::Window(dynamics),
    inner: &[
        Inner::new(
            "cubic.w_max",
            Quantity::Bytes,
            "W_max, the window at which the plateau of the cubic function is; absent before a loss.",
        ),
        Inner::new(
            "cubic.k",
            Quantity::Seconds,
            "K, the time from the last loss to the plateau; absent outside of congestion avoidance.",
        ),
        Inner::new(
            "cubic.w_est",
            Quantity::Bytes,
            "W_est, the window of Reno in its place; absent outside of congestion avoidance.",
        ),
        Inner::new("cubic.slow_start", Quantity::State(STAGES), "The stage of slow start."),
        Inner::new(
            "cubic.missing",
            Quantity::Number,
            "The part of the expected deliveries that SEARCH misses; absent before its first verdict.",
        ),
    ],
    kernel: Some("cubic"),
    page: "models/cubic.md",
    maker: &Maker::stream(|v, p| AnyController::Cubic(Cubic::new(v, p))),
    ..Family::new("cubic", Role::Controller(|_| Objective::Loss))
};

fn dynamics(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    WindowDynamics {
        law: WindowLaw::Cubic {
            c: values.number("c"),
            beta: values.number("beta"),
            hystart: matches!(
                SlowStart::of(values, "slow_start"),
                SlowStart::HyStartPlus | SlowStart::HyStart
            ),
        },
        initial: values.size("initial_window").bytes_f64(facts.packet),
        window_clocked: true,
        ecn: values.flag("ecn"),
        ..WindowDynamics::UNRESPONSIVE
    }
}

/// Reno's increase α after W_est has returned to the window before the loss.
const RENO: f64 = 1.0;
/// The largest target in windows.
const STEEPEST: f64 = 1.5;

/// TCP CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    cwnd: TcpWindow,
    /// The growth of the window that does not yet make a whole byte, in bytes.
    fraction: f64,
    capabilities: Capabilities,
    /// The state of CUBIC. It is boxed, so controllers of other kinds stay small.
    state: Box<State>,
}

#[derive(Clone, Debug)]
struct State {
    c: f64,
    beta: f64,
    fast_convergence: bool,
    alpha_one: bool,
    /// The state of the first slow start, until that and a recovery of its own are over.
    start: Option<Start>,
    later: Later,
    /// W_max in packets. It is zero if the last congestion avoidance did not end by a loss.
    w_max: f64,
    /// The window before the last reduction, in packets.
    prior: f64,
    epoch: Option<Epoch>,
    /// The state (`w_max`, `prior`, `epoch`, `start`) before the last response to a loss.
    before: Option<Box<State>>,
    /// The time at which the last acknowledgement arrived.
    heard: Time,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    began: Time,
    /// The time K, in seconds.
    k: f64,
    /// W_max of this stage, in packets.
    w_max: f64,
    /// Reno's window, in packets.
    w_est: f64,
}

impl Cubic {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> Cubic {
        let is_rapid = SlowStart::of(values, "slow_start") == SlowStart::Rapid;
        let repair = rack(values, recovery(values));
        Cubic {
            cwnd: TcpWindow::new(values, packet),
            fraction: 0.0,
            capabilities: Capabilities {
                marks: marks(values),
                // Its recovery counts lost packets, and moves the window that the other one sets once.
                deliveries: is_rapid,
                proportional: repair.proportional && !is_rapid,
                ..repair
            },
            state: Box::new(State {
                c: values.number("c"),
                beta: values.number("beta"),
                fast_convergence: values.flag("fast_convergence"),
                alpha_one: values.flag("alpha_one"),
                start: Start::first(values),
                later: Later::new(values),
                w_max: 0.0,
                prior: 0.0,
                epoch: None,
                before: None,
                heard: Time::ZERO,
            }),
        }
    }

    /// The window in packets.
    fn packets(&self) -> f64 {
        (self.cwnd.window as f64 + self.fraction) / self.cwnd.packet as f64
    }

    fn slow_start(&mut self, ack: &Acked, path: &PathView, now: Time) {
        let Some(start) = &mut self.state.start else {
            if ack.window_limited {
                self.cwnd.grow_slow_start(ack.bytes);
            }
            return;
        };
        // Rounds and their samples count on each acknowledgement [RFC 9406 §4.2].
        let (window, packet) = (self.cwnd.window, self.cwnd.packet);
        match start.on_ack(ack, (window, packet), path, now) {
            Step::Grow(step) if ack.window_limited => self.cwnd.grow(step),
            Step::Grow(_) => {}
            Step::End(less) => {
                // SEARCH begins again after an idle time.
                if !matches!(start, Start::Search(_)) {
                    self.state.start = None;
                }
                self.cwnd.end_slow_start(less);
            }
        }
    }

    /// Takes an acknowledgement in a recovery.
    fn recover(&mut self, ack: &Acked) {
        match &mut self.state.start {
            Some(Start::Search(search)) => search.count(ack.bytes),
            Some(Start::Rapid(rapid)) => {
                if let Some(window) = rapid.shrink(ack.bytes.get(), 0) {
                    self.cwnd.settle(window);
                }
            }
            _ => {}
        }
    }

    /// Begins congestion avoidance after the recovery from Rapid Start.
    fn hand_over(&mut self) {
        let window = self.packets();
        if let Some(Start::Rapid(rapid)) = self.state.start.take() {
            (self.state.prior, self.state.w_max) = rapid.hand_over(window);
        }
    }

    fn avoid_congestion(&mut self, ack: &Acked, path: &PathView, now: Time) {
        let cwnd = self.packets();
        let packet = self.cwnd.packet as f64;
        let state = &mut *self.state;
        let epoch = state.epoch.get_or_insert_with(|| {
            let w_max = state.w_max.max(cwnd);
            Epoch { began: now, k: ((w_max - cwnd) / state.c).cbrt(), w_max, w_est: cwnd }
        });
        let segments_acked = ack.bytes.as_f64() / packet;
        let t = now.since(epoch.began).as_secs_f64();
        let w_cubic = |t: f64| state.c * (t - epoch.k).powi(3) + epoch.w_max;
        let alpha = if state.alpha_one && epoch.w_est >= state.prior {
            RENO
        } else {
            3.0 * (1.0 - state.beta) / (1.0 + state.beta)
        };
        epoch.w_est += alpha * segments_acked / cwnd;
        let next = if w_cubic(t) < epoch.w_est {
            cwnd.max(epoch.w_est)
        } else {
            let target = w_cubic(t + path.srtt.as_secs_f64()).clamp(cwnd, STEEPEST * cwnd);
            // The step is the same for each acknowledgement of at least a packet.
            cwnd + segments_acked.min(1.0) * (target - cwnd) / cwnd
        };
        let bytes = next * packet;
        self.cwnd.window = (bytes as u64).max(self.cwnd.window);
        self.fraction = (bytes - self.cwnd.window as f64).max(0.0);
    }

    /// Leaves out the time since the last acknowledgement, because the application was the limit.
    fn pause(&mut self, gap: Duration) {
        if let Some(epoch) = &mut self.state.epoch {
            epoch.began += gap;
        }
    }
}

impl Controller for Cubic {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
        let gap = now.since(std::mem::replace(&mut self.state.heard, now));
        // Acknowledgements arrive at least once per round trip while anything is in flight.
        if !ack.window_limited || gap > path.srtt * 2 {
            self.pause(gap);
        }
        if ack.in_recovery {
            self.recover(ack);
            return;
        }
        if self.state.start.as_ref().is_some_and(Start::recovers) {
            self.hand_over();
        }
        if self.cwnd.in_slow_start() {
            self.slow_start(ack, path, now);
        } else if ack.window_limited {
            self.avoid_congestion(ack, path, now);
        }
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
        let cwnd = self.packets();
        let state = &mut *self.state;
        if what != Congestion::RepeatedTimeout {
            state.before = None;
            state.before = Some(Box::new(state.clone()));
        }
        state.epoch = None;
        let timed_out = matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout);
        self.fraction = 0.0;
        if let Some(Start::Rapid(rapid)) = &mut state.start
            && !timed_out
            && !rapid.recovers()
        {
            self.cwnd.save();
            let window = rapid.begin_recovery(&self.cwnd, path.in_flight);
            self.cwnd.settle(window);
            return;
        }
        state.start = if timed_out { state.later.begin(now) } else { None };
        let beta = state.beta;
        // `prior` is the window when the threshold was last set [RFC 9438 §4.1.2].
        if what != Congestion::RepeatedTimeout {
            let falls = state.fast_convergence && cwnd < state.w_max;
            state.w_max = match what {
                Congestion::Timeout => 0.0,
                _ if falls => cwnd * (1.0 + beta) / 2.0,
                _ => cwnd,
            };
            state.prior = cwnd;
        }
        self.cwnd.respond_by(beta, what, path);
        if what == Congestion::Ecn {
            self.cwnd.allow_one_packet(beta, path);
        }
    }

    fn on_lost(&mut self, packet: &Lost, _: Time) {
        if let Some(Start::Rapid(rapid)) = &mut self.state.start
            && let Some(window) = rapid.lose(packet.size)
        {
            self.cwnd.settle(window);
        }
    }

    /// [RFC 9438 §4.9]: the stage resumes where it was, and its time has continued.
    fn on_spurious(&mut self, _: Time) {
        if let Some(before) = self.state.before.take() {
            *self.state = State { heard: self.state.heard, ..*before };
        }
        self.cwnd.undo();
    }

    fn on_idle(&mut self) {
        // Slow start leads back to the threshold, where a new stage begins.
        self.state.epoch = None;
        self.fraction = 0.0;
        if let Some(Start::Search(search)) = &mut self.state.start {
            search.reset();
        }
        self.cwnd.restart_idle();
    }

    fn inner(&self, values: &mut Vec<f64>) {
        let packet = self.cwnd.packet as f64;
        let State { epoch, w_max, start, .. } = &*self.state;
        let of_epoch = |of: fn(&Epoch) -> f64| epoch.as_ref().map_or(f64::NAN, of);
        let w_max = if *w_max > 0.0 { *w_max } else { f64::NAN };
        let stage = match start {
            Some(start) if self.cwnd.in_slow_start() || start.recovers() => start.stage(),
            None if self.cwnd.in_slow_start() => 0.0,
            _ => OVER,
        };
        let missing = start.as_ref().and_then(Start::missing);
        values.extend([
            packet * epoch.as_ref().map_or(w_max, |epoch| epoch.w_max),
            of_epoch(|epoch| epoch.k),
            packet * of_epoch(|epoch| epoch.w_est),
            stage,
            missing.unwrap_or(f64::NAN),
        ]);
    }

    shows_window! {}
}
