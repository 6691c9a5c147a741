//! The declaration of a third-party stack.

use crate::{Invalid, Values};
use std::any::Any;
use std::fmt;

/// A third-party stack, which can carry flows in the packet engine and live. A family written for
/// the stack's own trait names it in [`Family::stack`](crate::Family::stack), and so adds it to a
/// catalogue.
#[derive(Clone, Copy)]
pub struct Stack {
    /// The name in a scenario file.
    pub name: &'static str,
    /// The check whether the stack can run the controller that the values describe. Its message
    /// gives the reason if not.
    pub check: fn(&Values) -> Result<(), Invalid>,
    /// The check whether runs in packets with this controller are repeatable, with equal digests.
    /// Its message gives the reason if not.
    pub repeats: fn(&Values) -> Result<(), &'static str>,
    /// The constructor of connections: a `Connector` of the crate of transports. Other crates have
    /// no use for it.
    pub maker: &'static (dyn Any + Send + Sync),
}

/// Names are unique in a catalogue.
impl PartialEq for Stack {
    fn eq(&self, other: &Stack) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Stack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stack").field(&self.name).finish()
    }
}

/// A family's code for the trait of a stack.
#[derive(Clone, Copy, Debug)]
pub struct StackCode {
    /// The forms of the stack. All of them share the constructor.
    pub stacks: &'static [&'static Stack],
    /// The constructor of the stack's controller, for use by the crate of the stack only.
    pub maker: &'static (dyn Any + Send + Sync),
}
