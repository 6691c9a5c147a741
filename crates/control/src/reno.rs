//! TCP Reno and NewReno: fill the buffer and halve the window on loss.
//!
//! ```text
//! slow start            cwnd ← cwnd + min(acked, packet)     [RFC 5681 eq. 2]
//! congestion avoidance  cwnd ← cwnd + packet for each cwnd of bytes acknowledged
//!                                                            [RFC 5681 §3.1, RFC 3465 §2.1]
//! loss                  cwnd ← ssthresh ← max(in flight / 2, 2 packets)
//!                                                            [RFC 5681 eq. 4]
//! mark                  as a loss, once per round trip        [RFC 3168 §6.1.2]
//! timeout               ssthresh as above, cwnd ← 1 packet   [RFC 5681 §3.1]
//! timeout of the same   cwnd ← 1 packet                      [RFC 5681 §3.1]
//! after an idle time    cwnd ← min(cwnd, IW)                 [RFC 5681 §4.1]
//! ```
//!
//! Both have the same window. They differ in how the transport repairs losses. Reno's fast recovery
//! ends with the first new acknowledgement [RFC 5681 §3.2]. NewReno's continues through partial
//! acknowledgements [RFC 6582].
//!
//! Departures from the source: `docs/src/models/reno.md`.

use crate::prelude::*;
use crate::tcp_window::{
    ECN, IMPATIENT, INITIAL_WINDOW, RACK, SACK, TEN_PACKETS, TcpWindow, marks, rack,
    restores_window, shows_window,
};

accord_family::params! {
    /// The parameters of Reno.
    pub struct RenoConfig of RENO => Reno(packet: Bytes) {
        pub initial_window: Size = INITIAL_WINDOW,
        pub ecn: bool = ECN,
    }
}

/// The declaration of Reno.
pub static RENO: Family = Family {
    doc: "TCP Reno: additive increase, halving on loss, fast recovery of one loss a window.",
    source: "[RFC 5681]",
    params: RenoConfig::PARAMS,
    dynamics: Dynamics::Window(dynamics),
    page: "models/reno.md",
    maker: &Maker::stream(|v, p| AnyController::Reno(Reno::new(v, p))),
    ..Family::new("reno", Role::Controller(|_| Objective::Loss))
};

accord_family::params! {
    /// The parameters of NewReno.
    pub struct NewRenoConfig of NEWRENO => Reno(packet: Bytes) {
        pub initial_window: Size = TEN_PACKETS,
        pub impatient: bool = IMPATIENT,
        pub sack: bool = SACK,
        pub rack: bool = RACK,
        pub ecn: bool = ECN,
    }
}

/// The declaration of NewReno.
pub static NEWRENO: Family = Family {
    doc: "TCP NewReno: as Reno, and recovers from several losses per window.",
    source: "[RFC 5681, RFC 6582]",
    params: NewRenoConfig::PARAMS,
    dynamics: Dynamics::Window(dynamics),
    kernel: Some("reno"),
    page: "models/reno.md",
    maker: &Maker::stream(|v, p| AnyController::NewReno(Reno::new(v, p))),
    ..Family::new("newreno", Role::Controller(|_| Objective::Loss))
};

/// Returns the way in which Reno and NewReno repair losses.
fn repair(values: &Values) -> Capabilities {
    if values.family().name == RENO.name {
        return Capabilities { recovery: Recovery::Reno, ..Capabilities::default() };
    }
    let otherwise = if values.flag("sack") {
        Recovery::Sack
    } else if values.flag("impatient") {
        Recovery::NewReno
    } else {
        Recovery::SteadyNewReno
    };
    rack(values, otherwise)
}

fn dynamics(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    WindowDynamics {
        law: WindowLaw::Reno,
        initial: values.size("initial_window").bytes_f64(facts.packet),
        window_clocked: true,
        ecn: values.flag("ecn"),
        ..WindowDynamics::UNRESPONSIVE
    }
}

/// TCP Reno or NewReno. The fields are in the order of their use.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Reno {
    /// The bytes acknowledged in congestion avoidance that have not yet grown the window.
    counted: u64,
    cwnd: TcpWindow,
    capabilities: Capabilities,
}

impl Reno {
    /// Creates a controller for packets of `packet` bytes.
    pub fn new(values: &Values, packet: Bytes) -> Reno {
        Reno {
            cwnd: TcpWindow::new(values, packet),
            counted: 0,
            capabilities: Capabilities { marks: marks(values), ..repair(values) },
        }
    }
}

impl Controller for Reno {
    #[inline(always)]
    fn on_ack(&mut self, ack: &Acked, _: &PathView, _: Time) {
        if ack.in_recovery || !ack.window_limited {
            return;
        }
        if self.cwnd.in_slow_start() {
            self.cwnd.grow_slow_start(ack.bytes);
            return;
        }
        self.counted = self.counted.saturating_add(ack.bytes.get());
        if self.counted >= self.cwnd.window {
            // A single acknowledgement of more than a window counts as one window.
            self.counted = (self.counted - self.cwnd.window).min(self.cwnd.window);
            self.cwnd.increment();
        }
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, _: Time) {
        self.counted = 0;
        self.cwnd.respond(what, path);
    }

    restores_window! {}

    shows_window! {}

    fn takes_rounds(&self) -> bool {
        true
    }
}
