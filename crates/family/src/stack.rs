//! The declaration of a stack of others.

use crate::Values;
use std::any::Any;
use std::fmt;

/// A stack of others, which can carry flows in packets and live. Families by the stack's own trait
/// name it ([`Family::stack`](crate::Family::stack)), and so bring it into a catalogue.
#[derive(Clone, Copy)]
pub struct Stack {
    /// The name in a scenario file.
    pub name: &'static str,
    /// The check whether the stack can run the controller that the values describe. Its message is
    /// the reason why not.
    pub check: fn(&Values) -> Result<(), String>,
    /// The check whether runs in packets with this controller are repeatable, so their digests are
    /// equal. Its message is the reason why not.
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

/// A family's code by the trait of a stack.
#[derive(Clone, Copy, Debug)]
pub struct StackCode {
    /// The stack, in its forms. The constructor is the same for all of them.
    pub stacks: &'static [&'static Stack],
    /// The constructor of the stack's controller, for the crate of the stack alone.
    pub maker: &'static (dyn Any + Send + Sync),
}
