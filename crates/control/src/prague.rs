//! Prague: DCTCP for the Internet. It shrinks the window by the share of marks, hardly depends on
//! the round-trip time if that is short, and paces
//! [draft-briscoe-iccrg-prague-congestion-control-04].
//!
//! ```text
//! rtt_virt   ← max(srtt, 25 ms)                                              [§2.4.4]
//! marks      alpha ← alpha + g·(marked / acked − alpha), once per rtt_virt,
//!            from 1 at the first mark on                                     [§2.4.1]
//! mark       cwnd ← ssthresh ← (1 − alpha/2)·cwnd, once per round trip       [§2.4.2],
//!            after 500 round trips once per rtt_virt                         [Linux tcp_prague.c]
//! growth     cwnd ← cwnd + (acked − marked)·ai/cwnd per acknowledgement, also in the round trip of
//!            a mark; ai = a packet, (srtt/rtt_virt)² packets after 500 round trips
//!                                                                            [§2.4.3, 2.4.4]
//! pace       cwnd / srtt, twice that in slow start below half of ssthresh    [§2.4.5]
//! loss, timeout, idle   as Reno                                              [§2.4.6]
//! ```
//!
//! Prague sends ECT(1), reacts to marks as a scalable controller and to losses as Reno, and detects losses by
//! time [RFC 9331 §4.1, §4.3]. Acknowledgements carry the receiver's count of marks, as accurate ECN does
//! [RFC 9768].
//!
//! Departures from the source: `docs/src/models/prague.md`.

use crate::prelude::*;
use crate::tcp_window::{RACK, TEN_PACKETS, TcpWindow, rack, restores_window, shows_window};

accord_family::params! {
    /// The parameters of Prague.
    pub struct Config of FAMILY => Prague(packet: Bytes) {
        /// Weight of a virtual round trip in the average share of marks.
        pub gain: f64 = number("0.0625", 1e-6, 1.0).symbol("g").source("[draft-briscoe-iccrg-prague-congestion-control-04 §2.4.1]"),
        /// Round-trip times below this count as this, once the flow has lasted.
        pub virtual_rtt: Duration = duration("25 ms").source("[draft-briscoe-iccrg-prague-congestion-control-04 §2.4.4]"),
        /// Round trips after slow start until they do.
        pub transition: u64 = integer("500", 0, 1_000_000).symbol("D").source("[draft-briscoe-iccrg-prague-congestion-control-04 §2.4.4]"),
        pub initial_window: Size = TEN_PACKETS,
        pub rack: bool = RACK.default("true"),
    }
}

/// The declaration of Prague.
pub static FAMILY: Family = Family {
    doc: "Prague: shrinks by the share of its packets that are marked, for queues with ECT(1).",
    source: "[draft-briscoe-iccrg-prague-congestion-control-04]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "it hears a share of marks, which the fluid has for losses only, and paces by a window \
         that depends on the age of the flow",
    ),
    inner: &[Inner::new(
        "prague.alpha",
        Quantity::Number,
        "The average share of marks; absent before the first mark.",
    )],
    page: "models/prague.md",
    maker: &Maker::stream(|v, p| AnyController::Prague(Box::new(Prague::new(v, p)))),
    ..Family::new("prague", Role::Controller(|_| Objective::Other))
};

/// Prague.
#[derive(Clone, Debug)]
pub struct Prague {
    cwnd: TcpWindow,
    /// The part of the window that is less than a whole byte, in bytes.
    fraction: f64,
    /// The average share of marks, or `None` before the first mark.
    alpha: Option<f64>,
    gain: f64,
    /// The bytes acknowledged and marked since the last update of the average, and its time.
    acked: u64,
    marked: u64,
    updated: Time,
    virtual_rtt: Duration,
    /// The time of the last cut for a mark.
    cut: Option<Time>,
    /// The number of round trips since slow start, and the number after which the flow is old.
    rounds: u64,
    transition: u64,
    srtt: Duration,
    capabilities: Capabilities,
}

impl Prague {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> Prague {
        Prague {
            cwnd: TcpWindow::new(values, packet),
            fraction: 0.0,
            alpha: None,
            gain: values.number("gain"),
            acked: 0,
            marked: 0,
            updated: Time::ZERO,
            virtual_rtt: values.duration("virtual_rtt"),
            cut: None,
            rounds: 0,
            transition: values.integer("transition"),
            srtt: Duration::ZERO,
            capabilities: Capabilities {
                marks: Marks::Loss,
                scalable: true,
                ..rack(values, Recovery::Sack)
            },
        }
    }

    /// The average share of marked packets, once there is a mark.
    pub fn alpha(&self) -> Option<f64> {
        self.alpha
    }

    /// Counts an acknowledgement, and updates the average once per virtual round trip.
    fn observe(&mut self, ack: &Acked, path: &PathView, now: Time) {
        let marked = ack.marked.saturating_mul(self.cwnd.packet);
        self.acked = self.acked.saturating_add(ack.bytes.get());
        self.marked = self.marked.saturating_add(marked);
        let Some(alpha) = &mut self.alpha else {
            // Before the first mark there is nothing to average. `on_congestion` sets it.
            (self.acked, self.marked) = (0, 0);
            self.updated = now;
            return;
        };
        let span = path.srtt.max(self.virtual_rtt);
        if now.since(self.updated) >= span && self.acked > 0 {
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            *alpha += self.gain * (share - *alpha);
            (self.acked, self.marked) = (0, 0);
            self.updated = now;
        }
    }

    /// Returns true once the flow is old enough not to depend on its round-trip time.
    fn is_old(&self) -> bool {
        self.rounds >= self.transition
    }

    /// The additive increase per round trip, in bytes.
    fn increase(&self, path: &PathView) -> f64 {
        let packet = self.cwnd.packet as f64;
        if !self.is_old() || path.srtt >= self.virtual_rtt {
            return packet;
        }
        let ratio = path.srtt.as_secs_f64() / self.virtual_rtt.as_secs_f64();
        packet * ratio * ratio
    }

    /// Sets the window to `bytes`, at least two packets.
    fn set(&mut self, bytes: f64) {
        let bytes = bytes.max(2.0 * self.cwnd.packet as f64).min(1e18);
        self.cwnd.window = bytes as u64;
        self.fraction = bytes - self.cwnd.window as f64;
    }
}

impl Controller for Prague {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
        self.srtt = path.srtt;
        self.observe(ack, path, now);
        if ack.round_ended && !self.cwnd.in_slow_start() {
            self.rounds += 1;
        }
        if ack.in_recovery || !ack.window_limited {
            return;
        }
        let marked = ack.marked.saturating_mul(self.cwnd.packet);
        let unmarked = ack.bytes.get().saturating_sub(marked);
        if self.cwnd.in_slow_start() {
            self.cwnd.grow_slow_start(Bytes::new(unmarked));
            return;
        }
        let window = self.cwnd.window as f64 + self.fraction;
        let acked = (unmarked as f64).min(window);
        self.set(window + self.increase(path) * acked / window);
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
        let recent = |cut| now.since(cut) < self.virtual_rtt;
        match what {
            Congestion::Ecn if self.is_old() && self.cut.is_some_and(recent) => {}
            Congestion::Ecn => {
                self.cut = Some(now);
                let alpha = *self.alpha.get_or_insert(1.0);
                let window = self.cwnd.window as f64 + self.fraction;
                self.set(window * (1.0 - alpha / 2.0));
                self.cwnd.ssthresh = self.cwnd.window;
            }
            _ => {
                if what != Congestion::RepeatedTimeout {
                    self.fraction = 0.0;
                }
                self.cwnd.respond_by(0.5, what, path);
            }
        }
    }

    fn inner(&self, values: &mut Vec<f64>) {
        values.push(self.alpha.unwrap_or(f64::NAN));
    }

    restores_window! {}

    fn allowance(&self) -> Allowance {
        let gain = if self.cwnd.window < self.cwnd.ssthresh / 2 { 2.0 } else { 1.0 };
        let seconds = self.srtt.as_secs_f64();
        let pacing = (seconds > 0.0).then(|| {
            Rate::from_bps_f64((gain * self.cwnd.window as f64 * 8.0 / seconds).clamp(1.0, 1e18))
        });
        Allowance {
            // The window is rounded up to whole packets. The pace follows its exact value.
            window: Bytes::new(self.cwnd.window.next_multiple_of(self.cwnd.packet)),
            pacing,
        }
    }

    fn cwnd(&self) -> Bytes {
        Bytes::new(self.cwnd.window)
    }

    shows_window! { threshold }
}
