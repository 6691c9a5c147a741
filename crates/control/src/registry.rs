//! All controllers by name.

use crate::monaco;
use crate::{Acc, Acked, Allowance, Congestion, Controller, Meter, PathView, Recovery, Report};
use accord_units::param::{Family, Role, Values};
use accord_units::{Bytes, Duration, Objective, Time};

/// The absence of control as the scenario language sees it.
static NONE: Family = Family {
    name: "none",
    doc: "No control: sends what its demand says, whatever happens.",
    source: "",
    params: &[],
    check: |_| Ok(()),
    role: Role::Controller(|_| Objective::Unresponsive),
};

/// The controllers that a scenario can name.
pub static FAMILIES: &[&Family] = &[&monaco::FAMILY, &NONE];

/// No control.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unresponsive;

impl Controller for Unresponsive {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}
    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {}
    fn allowance(&self) -> Allowance {
        Allowance {
            window: Bytes::new(u64::MAX),
            pacing: None,
        }
    }
    fn ssthresh(&self) -> Option<Bytes> {
        None
    }
}

macro_rules! any_controller {
    ($($(#[$doc:meta])* $variant:ident($type:ty),)*) => {
        /// Any controller of the registry, dispatched without indirection.
        #[derive(Clone, Debug)]
        pub enum AnyController {
            $($(#[$doc])* $variant($type),)*
        }

        impl Controller for AnyController {
            #[inline]
            fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
                match self { $(AnyController::$variant(c) => c.on_ack(ack, path, now),)* }
            }
            fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
                match self { $(AnyController::$variant(c) => c.on_congestion(what, path, now),)* }
            }
            fn on_report(&mut self, report: &Report, path: &PathView, now: Time) {
                match self { $(AnyController::$variant(c) => c.on_report(report, path, now),)* }
            }
            #[inline]
            fn allowance(&self) -> Allowance {
                match self { $(AnyController::$variant(c) => c.allowance(),)* }
            }
            fn cwnd(&self) -> Bytes {
                match self { $(AnyController::$variant(c) => c.cwnd(),)* }
            }
            fn ssthresh(&self) -> Option<Bytes> {
                match self { $(AnyController::$variant(c) => c.ssthresh(),)* }
            }
            fn accumulation_estimate(&self) -> Option<f64> {
                match self { $(AnyController::$variant(c) => c.accumulation_estimate(),)* }
            }
            fn base_rtt_estimate(&self) -> Option<Duration> {
                match self { $(AnyController::$variant(c) => c.base_rtt_estimate(),)* }
            }
            fn recovery(&self) -> Recovery {
                match self { $(AnyController::$variant(c) => c.recovery(),)* }
            }
            #[inline]
            fn early_retransmission(&self) -> bool {
                match self { $(AnyController::$variant(c) => c.early_retransmission(),)* }
            }
        }
    };
}

any_controller! {
    /// See [`Acc`].
    Acc(Acc),
    /// See [`Unresponsive`].
    Unresponsive(Unresponsive),
}

impl AnyController {
    /// Builds the controller that `values` describes, for packets of `packet` bytes.
    pub fn build(values: &Values, packet: Bytes) -> AnyController {
        match values.family().name {
            "monaco" => AnyController::Acc(monaco::controller(values, packet)),
            "none" => AnyController::Unresponsive(Unresponsive),
            name => unreachable!("{name} is not in the registry"),
        }
    }
}

/// The receiver's half, for controllers that are fed by reports and so run on a tunnel;
/// `None` for those that run on a stream's acknowledgements.
pub fn meter(values: &Values) -> Option<Meter> {
    match values.family().name {
        "monaco" => Some(monaco::meter(values)),
        _ => None,
    }
}
