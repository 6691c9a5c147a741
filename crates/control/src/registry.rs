//! All controllers by name.

use crate::{
    Acc, Cubic, MulTcp, Reno, Unresponsive, Vegas, VegasRem, cubic, monaco, multcp, reno,
    unresponsive, vegas, vegas_rem,
};
use crate::{
    Acked, Allowance, Congestion, Controller, Marks, Meter, PathView, Recovery, Report, Sending,
};
use accord_family::{Family, Service, Values};
use accord_units::{Bytes, Duration, Time};

macro_rules! any_controller {
    ($($family:path, $build:path => $(#[$doc:meta])* $variant:ident($type:ty),)*) => {
        /// The controllers that a scenario can name.
        pub static FAMILIES: &[&Family] = &[$(&$family),*];

        /// Any controller of the registry, dispatched without indirection.
        #[derive(Clone, Debug)]
        pub enum AnyController {
            $($(#[$doc])* $variant($type),)*
        }

        impl AnyController {
            /// Builds the controller that `values` describes, for packets of `packet` bytes.
            pub fn build(values: &Values, packet: Bytes) -> AnyController {
                match values.family().name {
                    $(name if name == $family.name => {
                        AnyController::$variant($build(values, packet))
                    })*
                    name => unreachable!("{name} is not in the registry"),
                }
            }
        }

        impl Controller for AnyController {
            #[inline]
            fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time) {
                match self { $(AnyController::$variant(c) => c.on_ack(ack, path, now),)* }
            }
            fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time) {
                match self { $(AnyController::$variant(c) => c.on_congestion(what, path, now),)* }
            }
            fn on_idle(&mut self) {
                match self { $(AnyController::$variant(c) => c.on_idle(),)* }
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
            fn marks(&self) -> Marks {
                match self { $(AnyController::$variant(c) => c.marks(),)* }
            }
            fn set_base_rtt(&mut self, base_rtt: Duration) {
                match self { $(AnyController::$variant(c) => c.set_base_rtt(base_rtt),)* }
            }
            fn set_service(&mut self, service: &Service) {
                match self { $(AnyController::$variant(c) => c.set_service(service),)* }
            }
            #[inline]
            fn early_retransmission(&self) -> bool {
                match self { $(AnyController::$variant(c) => c.early_retransmission(),)* }
            }
        }
    };
}

any_controller! {
    monaco::FAMILY, monaco::controller => /// See [`Acc`].
        Monaco(Acc),
    vegas::VEGAS, Vegas::new => /// See [`Vegas`].
        Vegas(Vegas),
    vegas::VEGAS_K, Vegas::new => /// See [`Vegas`].
        VegasK(Vegas),
    vegas_rem::FAMILY, VegasRem::new => /// See [`VegasRem`].
        VegasRem(VegasRem),
    reno::RENO, Reno::new => /// See [`Reno`].
        Reno(Reno),
    reno::NEWRENO, Reno::new => /// See [`Reno`].
        NewReno(Reno),
    cubic::FAMILY, Cubic::new => /// See [`Cubic`].
        Cubic(Cubic),
    multcp::FAMILY, MulTcp::new => /// See [`MulTcp`].
        MulTcp(MulTcp),
    unresponsive::FAMILY, Unresponsive::new => /// See [`Unresponsive`].
        Unresponsive(Unresponsive),
}

/// How the ends of a tunnel are made, for controllers that are fed by reports: how the sender
/// uses its window, and the receiver's meter. `None` for controllers that run on a stream's
/// acknowledgements.
pub fn tunnel(values: &Values) -> Option<(Sending, Meter)> {
    match values.family().name {
        "monaco" => Some((monaco::sending(values), monaco::meter(values))),
        _ => None,
    }
}
