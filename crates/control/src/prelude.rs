//! The names that most controllers use.

pub(crate) use crate::{
    Acked, Allowance, AnyController, Burst, Capabilities, Congestion, Controller, Delivery, Lost,
    Maker, Marks, PathView, Recovery, Report, Transport,
};
pub(crate) use accord_family::{
    Dynamics, Family, FlowFacts, Meaning, Objective, Param, Role, Service, Value, Values,
    WindowDynamics, WindowLaw,
};
pub(crate) use accord_units::{Bytes, Duration, Rate, Size, Time};
