//! A controller that keeps a target of its own data queued, judged by round-trip times.
//!
//! Once per round trip, with a = cwnd·(1 − min_rtt/srtt):
//!
//! ```text
//! slow start            doubles until a > target
//! congestion avoidance  cwnd ← cwnd − min(gain·(a − target), packet)
//! loss                  cwnd ← cwnd / 2
//! ```

use accord::control::{
    Acked, Allowance, AnyController, Congestion, Controller, Maker, PathView, Transport,
};
use accord::family::{
    BaseRtt, Dynamics, Family, FlowFacts, Objective, Reads, Role, Target, Values, WindowDynamics,
    WindowLaw,
    kind::{number, size},
};
use accord::units::{Bytes, Time};

pub static FAMILY: Family = Family {
    doc: "Keeps a target of its own data queued, by a proportional law.",
    params: &[
        size("10 pkt").symbol("a*").declared("target", "The target accumulation."),
        number("0.5", 0.01, 1.0)
            .symbol("κ")
            .declared("gain", "What part of the error one round trip takes away."),
    ],
    dynamics: Dynamics::Window(dynamics),
    maker: &Maker {
        build: |values, packet| AnyController::foreign(Keeper::new(values, packet)),
        transport: Transport::Stream,
    },
    ..Family::new("keeper", Role::Controller(objective))
};

/// Returns the target accumulation, for theory.
fn objective(values: &Values) -> Objective {
    Objective::MeasuredAccumulation { target: Target::Amount(values.size("target")) }
}

/// For the fluid engine: how it gets there.
fn dynamics(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    let target = facts.weight * values.size("target").bytes_f64(facts.packet);
    WindowDynamics {
        law: WindowLaw::Proportional { gain: values.number("gain"), target },
        reads: Reads::RoundTrip,
        base: BaseRtt::Smallest,
        initial: 2.0 * facts.packet.as_f64(),
        leave: target,
        window_clocked: true,
        ..WindowDynamics::UNRESPONSIVE
    }
}

/// For the engines that move packets: the controller itself.
#[derive(Clone, Debug)]
struct Keeper {
    window: f64,
    packet: f64,
    target: f64,
    gain: f64,
    starting: bool,
}

impl Keeper {
    fn new(values: &Values, packet: Bytes) -> Keeper {
        Keeper {
            window: 2.0 * packet.as_f64(),
            packet: packet.as_f64(),
            target: values.size("target").bytes_f64(packet),
            gain: values.number("gain"),
            starting: true,
        }
    }

    /// Returns the flow's accumulation, in bytes.
    fn queued(&self, path: &PathView) -> f64 {
        let (srtt, base) = (path.srtt.as_secs_f64(), path.min_rtt.as_secs_f64());
        self.window * (1.0 - base / srtt).max(0.0)
    }
}

impl Controller for Keeper {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, _: Time) {
        if ack.in_recovery || !ack.window_limited {
            return;
        }
        if self.starting {
            self.window += ack.bytes.as_f64();
        }
        if ack.round_ended {
            let excess = self.queued(path) - self.target;
            self.starting &= excess <= 0.0;
            if !self.starting {
                let moved = self.window - self.gain * excess;
                self.window = moved.clamp(self.packet, self.window + self.packet);
            }
        }
    }

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {
        self.starting = false;
        self.window = (self.window / 2.0).max(self.packet);
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::from_f64(self.window), pacing: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }
}
