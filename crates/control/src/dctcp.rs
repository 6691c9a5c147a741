//! DCTCP: the window shrinks by the share of packets that come back with a mark [RFC 8257,
//! Alizadeh10].
//!
//! ```text
//! per acknowledgement   BytesAcked ← BytesAcked + acked, BytesMarked ← BytesMarked + marked
//!                                                            [RFC 8257 §3.3 steps 1-3]
//! per round trip        M ← BytesMarked / BytesAcked
//!                       Alpha ← (1 − g)·Alpha + g·M          [RFC 8257 §3.3 steps 5, 6]
//! mark                  cwnd ← ssthresh ← (1 − Alpha/2)·cwnd, once per round trip
//!                                                            [RFC 8257 §3.3 step 9]
//! growth                as Reno                              [RFC 8257 §3.4]
//! loss, timeout, idle   as Reno                              [RFC 8257 §3.5]
//! ```
//!
//! Departures from the source: `docs/src/models/dctcp.md`.

use crate::prelude::*;
use crate::tcp_window::{RACK, TEN_PACKETS, TcpWindow, rack, restores_window, shows_window};

accord_family::params! {
    /// The parameters of DCTCP.
    pub struct Config of FAMILY => Dctcp(packet: Bytes) {
        /// Weight of a round trip in the average share of marks.
        pub gain: f64 = number("0.0625", 1e-6, 1.0).symbol("g").source("[RFC 8257 §4.2]"),
        /// The average share of marks at the start.
        pub initial_alpha: f64 = number("1", 0.0, 1.0).source("[RFC 8257 §3.3]"),
        pub initial_window: Size = TEN_PACKETS,
        pub rack: bool = RACK,
    }
}

/// The declaration of DCTCP.
pub static FAMILY: Family = Family {
    doc: "DCTCP: shrinks its window by the share of its packets that are marked.",
    source: "[RFC 8257]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "its analysis needs marks that come a round trip late in a block, and the fluid spreads \
         them evenly",
    ),
    inner: &[Inner::new(
        "dctcp.alpha",
        Quantity::Number,
        "DCTCP.Alpha, the average share of marks.",
    )],
    page: "models/dctcp.md",
    maker: &Maker::stream(|v, p| AnyController::Dctcp(Box::new(Dctcp::new(v, p)))),
    ..Family::new("dctcp", Role::Controller(|_| Objective::Other))
};

/// DCTCP.
#[derive(Clone, Debug)]
pub struct Dctcp {
    cwnd: TcpWindow,
    /// The growth of the window that does not yet make a whole byte, in bytes.
    fraction: f64,
    /// DCTCP.Alpha and its gain.
    alpha: f64,
    gain: f64,
    capabilities: Capabilities,
    /// DCTCP.BytesAcked and DCTCP.BytesMarked.
    acked: u64,
    marked: u64,
}

impl Dctcp {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> Dctcp {
        Dctcp {
            cwnd: TcpWindow::new(values, packet),
            fraction: 0.0,
            alpha: values.number("initial_alpha"),
            gain: values.number("gain"),
            capabilities: Capabilities { marks: Marks::Loss, ..rack(values, Recovery::Sack) },
            acked: 0,
            marked: 0,
        }
    }

    /// DCTCP.Alpha, the average share of bytes that were marked.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Counts an acknowledgement, and ends the observation window if a round trip has passed.
    fn observe(&mut self, ack: &Acked) {
        self.acked = self.acked.saturating_add(ack.bytes.get());
        let marked = ack.marked.saturating_mul(self.cwnd.packet);
        self.marked = self.marked.saturating_add(marked);
        if ack.round_ended && self.acked > 0 {
            let share = (self.marked as f64 / self.acked as f64).min(1.0);
            self.alpha += self.gain * (share - self.alpha);
            (self.acked, self.marked) = (0, 0);
        }
    }
}

impl Controller for Dctcp {
    #[inline]
    fn on_ack(&mut self, ack: &Acked, _: &PathView, _: Time) {
        self.observe(ack);
        if ack.in_recovery || !ack.window_limited {
            return;
        }
        if self.cwnd.in_slow_start() {
            self.cwnd.grow_slow_start(ack.bytes);
            return;
        }
        // A packet per window [RFC 5681 eq. 3].
        let packet = self.cwnd.packet as f64;
        let acked = ack.bytes.as_f64().min(packet);
        self.fraction += packet * acked / self.cwnd.window as f64;
        self.cwnd.grow_whole(&mut self.fraction);
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, _: Time) {
        self.fraction = 0.0;
        if what == Congestion::Ecn {
            let kept = (self.cwnd.window as f64 * (1.0 - self.alpha / 2.0)).round() as u64;
            self.cwnd.window = kept.max(2 * self.cwnd.packet);
            self.cwnd.ssthresh = self.cwnd.window;
        } else {
            self.cwnd.respond_by(0.5, what, path);
        }
    }

    fn inner(&self, values: &mut Vec<f64>) {
        values.push(self.alpha);
    }

    restores_window! {}

    shows_window! {}
}
