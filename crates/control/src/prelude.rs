//! The names that most controllers use.

pub(crate) use crate::{
    Acked, Allowance, AnyController, Burst, Capabilities, Congestion, Controller, Delivery, Lost,
    Maker, Marks, PathView, Recovery, Report, Transport,
};
pub(crate) use accord_family::{
    Dynamics, Family, FlowFacts, Inner, Meaning, Objective, Param, Quantity, Role, Service, Value,
    Values, WindowDynamics, WindowLaw,
};
pub(crate) use accord_units::{Bytes, Duration, Rate, Size, Time};

/// Returns a time in seconds for [`Controller::inner`], or NaN for `None`.
pub(crate) fn seconds(time: Option<Duration>) -> f64 {
    time.map_or(f64::NAN, Duration::as_secs_f64)
}
