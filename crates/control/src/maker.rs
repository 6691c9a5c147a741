//! Makers of controllers, for the engines that move packets.

use crate::{AnyController, Controller, Meter, Sending};
use accord_family::{Family, Values};
use accord_units::Bytes;
use std::fmt;

/// The [`Family::maker`] of a family of controllers.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// Makes the controller that the parameters describe, for packets of so many bytes.
    pub build: fn(&Values, Bytes) -> AnyController,
    /// The transport below it.
    pub transport: Transport,
}

/// The transport below a controller.
#[derive(Clone, Copy, Debug)]
pub enum Transport {
    /// A stream: packets are acknowledged, and losses repaired.
    Stream,
    /// A tunnel: control pairs, which the receiver's meter answers by reports.
    Tunnel {
        /// The sender's use of its window.
        sending: fn(&Values) -> Sending,
        /// The receiver's meter.
        meter: fn(&Values) -> Meter,
    },
    /// Neither: packets leave as the application makes them, and nothing comes back.
    Open,
}

impl Maker {
    /// Returns the maker of a family of controllers.
    ///
    /// # Panics
    /// When the family has none.
    pub fn of(family: &Family) -> &'static Maker {
        let maker = family.maker.downcast_ref();
        maker.unwrap_or_else(|| panic!("{} has no maker of controllers", family.name))
    }
}

impl AnyController {
    /// Makes the controller that `values` describes, for packets of `packet` bytes.
    pub fn build(values: &Values, packet: Bytes) -> AnyController {
        (Maker::of(values.family()).build)(values, packet)
    }

    /// A controller of another crate. Each of its calls is one by pointer.
    pub fn foreign(controller: impl Foreign + 'static) -> AnyController {
        AnyController::Foreign(Box::new(controller))
    }
}

/// What a controller of another crate has to be: a [`Controller`] that can be copied and
/// printed, and that threads can share. Whatever is so, is this.
pub trait Foreign: Controller + fmt::Debug + Send + Sync {
    /// A copy.
    fn copy(&self) -> Box<dyn Foreign>;
}

impl<C: Controller + Clone + fmt::Debug + Send + Sync + 'static> Foreign for C {
    fn copy(&self) -> Box<dyn Foreign> {
        Box::new(self.clone())
    }
}

impl Clone for Box<dyn Foreign> {
    fn clone(&self) -> Self {
        (**self).copy()
    }
}
