//! Connections of other QUIC stacks, as state machines without I/O and without a clock. They carry
//! flows of the live engine.

use crate::View;
use accord_family::{Stack, Values};
use accord_units::{Bytes, Time};
use std::fmt;

/// The sending end and the receiving end of a connection.
pub type Ends = [Box<dyn Carried>; 2];

/// The [`Stack::maker`] of a QUIC stack: a function that creates a connection to carry a flow. The
/// error is the reason why there is none.
#[derive(Clone, Copy, Debug)]
pub struct Connector(pub fn(&Setup<'_>) -> Result<Ends, String>);

/// The settings of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The controller of the sending end.
    pub controller: &'a Values,
    /// The size of a full IP packet.
    pub packet: Bytes,
}

/// A UDP payload that an end sends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The bytes.
    pub payload: Vec<u8>,
    /// The ECN codepoint [RFC 3168 §5].
    pub ecn: u8,
}

/// An end of a connection. The receiving end discards the data that it receives.
pub trait Carried: fmt::Debug + Send {
    /// Supplies data that fills `packets` packets, or data without end for `u64::MAX`. The first
    /// data opens the connection. The end notices when a transfer has been acknowledged.
    fn supply(&mut self, packets: u64, is_transfer: bool, now: Time);

    /// Returns true if all of the last transfer has been acknowledged.
    fn is_done(&self) -> bool;

    /// Closes the connection. Data that was not sent is never sent.
    fn stop(&mut self, now: Time);

    /// Takes a datagram that arrived with this ECN codepoint. Returns true if it carried anything
    /// new.
    fn receive(&mut self, payload: &[u8], ecn: u8, now: Time) -> bool;

    /// Returns the next datagram to send now, if there is one.
    fn poll(&mut self, now: Time) -> Option<Datagram>;

    /// The time at which the end wants to be woken. `Time::MAX` is never.
    fn next_wake(&mut self) -> Time;

    /// Runs the timers that are due.
    fn on_wake(&mut self, now: Time);

    /// Returns the state, or the last state after the end of the connection. Datagrams count as
    /// packets of their size.
    fn view(&self) -> View;

    /// Returns the reason why the connection broke, if it did.
    fn broken(&self) -> Option<String>;
}

impl Connector {
    /// Returns the connector of a stack.
    ///
    /// # Panics
    /// Panics if the stack has none.
    pub fn of(stack: &Stack) -> Connector {
        let maker = stack.maker.downcast_ref();
        *maker.unwrap_or_else(|| panic!("{} has no connector", stack.name))
    }
}
