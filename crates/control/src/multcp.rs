//! MulTCP: one flow that takes the share of N Reno flows by making the sum of their steps [CO98:
//! Crowcroft and Oechslin, Differentiated end-to-end Internet services using a weighted
//! proportional fair sharing TCP, 1998].
//!
//! ```text
//! slow start            cwnd ← cwnd + 2·acked until cwnd is 3^k, with k = ln N / ln 1.5 the
//!                       round trip in which N flows that double have as much; then
//!                       cwnd ← cwnd + acked                    [CO98]
//! congestion avoidance  cwnd ← cwnd + N·acked / cwnd           [CO98]
//! loss                  cwnd ← ssthresh ← (1 − 1/(2N))·in flight: one of N flows halves
//!                                                              [CO98]
//! loss in slow start    half: all N were too fast
//! timeout               ssthresh ← half of the data in flight, cwnd ← 1 packet
//! timeout of the same, idle time   as Reno
//! mark                  as a loss, once per round trip
//! ```
//!
//! N is the weight of the flow's [`Service`]. It is 1 for a flow without one.
//!
//! Departures from the source: `docs/src/models/multcp.md`.

use crate::prelude::*;
use crate::tcp_window::{
    ECN, INITIAL_WINDOW, SACK, TcpWindow, marks, recovery, restores_window, shows_window,
};

accord_family::params! {
    /// The parameters of MulTCP.
    pub struct Config of FAMILY => MulTcp(packet: Bytes) {
        pub initial_window: Size = INITIAL_WINDOW,
        pub sack: bool = SACK.default("true"),
        pub ecn: bool = ECN,
    }
}

/// The declaration of MulTCP.
pub static FAMILY: Family = Family {
    doc: "MulTCP: one flow that increases and decreases as N Reno flows do together.",
    source: "[Crowcroft and Oechslin 1998]",
    params: Config::PARAMS,
    dynamics: Dynamics::Missing(
        "a loss costs it a part of its window that depends on how many flows it stands for, and \
         the fluid's losses halve windows",
    ),
    page: "models/multcp.md",
    maker: &Maker::stream(|v, p| AnyController::MulTcp(Box::new(MulTcp::new(v, p)))),
    ..Family::new("multcp", Role::Controller(|_| Objective::WeightedLoss))
};

/// MulTCP.
#[derive(Clone, Debug)]
pub struct MulTcp {
    cwnd: TcpWindow,
    /// The weight N.
    weight: f64,
    /// The window 3^k in bytes. Below it slow start triples the window per round trip.
    caught_up: f64,
    /// The growth of the window that does not yet make a whole byte, in bytes.
    fraction: f64,
    capabilities: Capabilities,
}

impl MulTcp {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> MulTcp {
        MulTcp {
            cwnd: TcpWindow::new(values, packet),
            weight: 1.0,
            caught_up: packet.as_f64(),
            fraction: 0.0,
            capabilities: Capabilities {
                recovery: recovery(values),
                marks: marks(values),
                ..Capabilities::default()
            },
        }
    }
}

impl Controller for MulTcp {
    #[inline]
    fn on_ack(&mut self, ack: &Acked, _: &PathView, _: Time) {
        if ack.in_recovery || !ack.window_limited {
            return;
        }
        let packet = self.cwnd.packet;
        if self.cwnd.in_slow_start() {
            let step = ack.bytes.get().min(packet);
            let catching_up = (self.cwnd.window as f64) < self.caught_up;
            self.cwnd.grow(if catching_up { 2 * step } else { step });
            return;
        }
        let acked = ack.bytes.get().min(packet) as f64;
        let step = self.weight * packet as f64 * acked / self.cwnd.window as f64;
        self.fraction += step.min(acked);
        self.cwnd.grow_whole(&mut self.fraction);
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, _: Time) {
        self.fraction = 0.0;
        let all = what == Congestion::Timeout || self.cwnd.in_slow_start();
        let kept = if all { 0.5 } else { 1.0 - 0.5 / self.weight };
        self.cwnd.respond_by(kept, what, path);
    }

    restores_window! {}

    fn set_service(&mut self, service: &Service) {
        self.weight = service.weight.max(1.0);
        let rounds = self.weight.ln() / 1.5f64.ln();
        self.caught_up = 3f64.powf(rounds) * self.cwnd.packet as f64;
    }

    shows_window! {}
}
