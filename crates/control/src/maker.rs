//! Makers of controllers, for the engines that move packets.

use crate::{AnyController, Controller, Meter, Sending};
use accord_family::{Family, Values};
use accord_units::Bytes;
use dyn_clone::DynClone;
use std::fmt;

/// The [`Family::maker`] of a family of controllers.
#[derive(Clone, Copy, Debug)]
pub struct Maker {
    /// Makes the controller described by the parameters, for packets of the given size.
    pub build: fn(&Values, Bytes) -> AnyController,
    /// The transport below the controller.
    pub transport: Transport,
}

/// The transport below a controller.
#[derive(Clone, Copy, Debug)]
pub enum Transport {
    /// A stream, which acknowledges packets and repairs losses.
    Stream,
    /// A tunnel, which sends control pairs. The receiver's meter answers them with reports.
    Tunnel {
        /// The sender's use of its window.
        sending: fn(&Values) -> Sending,
        /// The constructor of the receiver's meter.
        meter: fn(&Values) -> Meter,
        /// The number of counts of received data per round trip, at most one per packet. It is 0
        /// for none.
        counts: fn(&Values) -> f64,
    },
    /// Neither: packets leave as the application makes them, and are not acknowledged.
    Open,
}

impl Maker {
    /// Creates the maker of controllers on streams.
    pub const fn stream(build: fn(&Values, Bytes) -> AnyController) -> Maker {
        Maker { build, transport: Transport::Stream }
    }

    /// Returns the maker of a family of controllers.
    ///
    /// # Panics
    /// Panics if the family has no maker.
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

    /// Wraps a controller of another crate. Each call to it goes through a pointer.
    pub fn foreign(controller: impl Foreign + 'static) -> AnyController {
        AnyController::Foreign(Box::new(controller))
    }
}

/// A controller of another crate: a [`Controller`] that can be copied and printed, and that threads
/// can share. Every such type implements it.
pub trait Foreign: Controller + DynClone + fmt::Debug + Send + Sync {}

impl<C: Controller + DynClone + fmt::Debug + Send + Sync> Foreign for C {}

dyn_clone::clone_trait_object!(Foreign);
