//! The names that most disciplines use.

pub(crate) use crate::{
    Aggregate, AnyAqm, Aqm, Class, Ecn, Entropy, Maker, PacketMeta, QueueView, Structure, Verdict,
};
pub(crate) use accord_family::{
    Dynamics, Family, Param, Price, QueueDynamics, QueueFacts, QueueLaw, Role, Value, Values,
};
pub(crate) use accord_units::{Bytes, Duration, Rate, Size, Time};
