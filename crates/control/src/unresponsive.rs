//! No control, for flows that send at the rate of their demand.

use crate::prelude::*;

/// The declaration of flows without control.
pub static FAMILY: Family = Family {
    doc: "No control: sends its demand, whatever happens.",
    source: "",
    dynamics: Dynamics::Window(|_, _| WindowDynamics::UNRESPONSIVE),
    page: "models/none.md",
    maker: &Maker {
        build: |_, _| AnyController::Unresponsive(Unresponsive),
        transport: Transport::Open,
    },
    ..Family::new("none", Role::Controller(|_| Objective::Unresponsive))
};

/// No control.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unresponsive;

impl Controller for Unresponsive {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}
    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {}
    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new(u64::MAX), pacing: None }
    }
}
