//! The variables of controllers that runs record if a scenario asks for them.

use crate::{Catalogue, Family};
use std::sync::{PoisonError, RwLock};

/// A variable of a controller's inner state, named as in its source. A [`Family`] declares its variables. Its
/// controllers return the values in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inner {
    /// The name in files and tables, such as "bbr3.max_bw": the name of the family, a dot and the
    /// name of the variable.
    pub name: &'static str,
    /// The kind of its values.
    pub quantity: Quantity,
    /// The meaning, one sentence.
    pub doc: &'static str,
}

/// The kind of the values of an [`Inner`] variable, with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quantity {
    /// A rate in bit/s.
    Rate,
    /// Data in bytes.
    Bytes,
    /// A time in seconds.
    Seconds,
    /// Packets.
    Packets,
    /// A plain number.
    Number,
    /// A state: the index of one of these names.
    State(&'static [&'static str]),
}

impl Inner {
    /// Creates a variable from its name, the kind of its values and its meaning.
    pub const fn new(name: &'static str, quantity: Quantity, doc: &'static str) -> Inner {
        Inner { name, quantity, doc }
    }

    /// Returns the names of the states, or an empty list for a variable that is not a state.
    pub const fn states(&self) -> &'static [&'static str] {
        match self.quantity {
            Quantity::State(states) => states,
            _ => &[],
        }
    }
}

/// The inner state of a sender at the instant of a sample.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InnerState {
    /// The data in flight by the sender's count, in bytes.
    pub in_flight: Option<u64>,
    /// The rate of pacing in bit/s.
    pub pacing: Option<f64>,
    /// The bytes that the sender knows to have arrived since the start.
    pub acknowledged: Option<u64>,
    /// The [`Inner`] variables of its controller, in the order of the declarations of the family. A value is
    /// NaN if there is none.
    pub variables: Vec<f64>,
}

/// The variables of the families in this process, in the order of their names.
static DECLARED: RwLock<Vec<&'static Inner>> = RwLock::new(Vec::new());

/// Returns the variables of all families in the catalogues that were [declared](Catalogue::declare), in the
/// order of their names.
pub fn declared() -> Vec<&'static Inner> {
    DECLARED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

impl Catalogue {
    /// Registers the variables of the controllers under their names, which files and command lines use. A
    /// catalogue may be declared repeatedly.
    pub fn declare(&self) {
        let new = self.controllers.iter().flat_map(|family: &&Family| family.inner);
        let known = declared();
        let new: Vec<_> = new.filter(|inner| known.binary_search(inner).is_err()).collect();
        if new.is_empty() {
            return;
        }
        let mut all = DECLARED.write().unwrap_or_else(PoisonError::into_inner);
        all.extend(new);
        all.sort_unstable();
        all.dedup();
    }
}
