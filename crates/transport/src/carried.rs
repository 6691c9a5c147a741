//! Connections of third-party stacks, as state machines without I/O and without a clock. They carry
//! flows in the packet engine and live.

use crate::View;
use accord_family::{Stack, Values};
use accord_units::{Bytes, Time};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The sending end and the receiving end of a connection.
pub type Ends = [Box<dyn Carried>; 2];

/// A function that creates a connection to carry a flow, or returns the reason why it cannot.
pub type Connect = dyn Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync;

/// The [`Stack::maker`] of a stack.
#[derive(Clone, Copy)]
pub struct Connector(pub &'static Connect);

/// The settings of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The controller of the sending end.
    pub controller: &'a Values,
    /// The size of a full IP packet. A datagram is at most 28 bytes shorter, to leave room for the headers of
    /// IP and UDP.
    pub packet: Bytes,
    /// The seed of the connection's random numbers, in a run that must be repeatable. A run with
    /// real packets has no seed.
    pub seed: Option<u64>,
    /// The logs of the sending and of the receiving end, in a run whose logs are kept. Writing to them
    /// must not change the behaviour of an end.
    pub logs: Option<&'a [Log; 2]>,
}

/// The size at which a log ends.
const MOST_LOGGED: usize = 256 << 20;

/// An end's log in memory, such as a qlog. Clones write to the same log, which ends after 256 MiB.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Takes the contents, and leaves the log empty.
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut log = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if log.len() + bytes.len() <= MOST_LOGGED {
            log.extend(bytes);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
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
///
/// The times of the calls to an end never decrease. After each call the engine takes datagrams with
/// [`Carried::poll`] until there is none, and then asks for the next wake-up. An end that misbehaves (a
/// panic, a datagram that is too large, endless wake-ups) counts as broken from then on, and the run
/// continues without it.
pub trait Carried: Send {
    /// Takes a datagram that arrived with this ECN codepoint. Returns true if it carried anything
    /// new.
    fn receive(&mut self, payload: &[u8], ecn: u8, now: Time) -> bool;

    /// Returns the next datagram to send now, if there is one.
    fn poll(&mut self, now: Time) -> Option<Datagram>;

    /// The time at which the end must be woken. `Time::MAX` means never.
    fn next_wake(&mut self) -> Time;

    /// Runs the timers that are due.
    fn on_wake(&mut self, now: Time);

    /// Supplies data that fills `packets` packets, or endless data for `u64::MAX`. The first data
    /// opens the connection. The end detects when a transfer has been acknowledged. This is never
    /// called on receiving ends.
    fn supply(&mut self, _packets: u64, _is_transfer: bool, _now: Time) {}

    /// Returns true if all of the last transfer has been acknowledged. Without this method, no transfer ends.
    fn is_done(&self) -> bool {
        false
    }

    /// Closes the connection, and drops unsent data.
    fn stop(&mut self, _now: Time) {}

    /// Returns the state, or the last state after the end of the connection. Datagrams count as
    /// packets of their size.
    fn view(&self) -> View {
        View::default()
    }

    /// Returns the reason why the connection broke, if it did.
    fn broken(&self) -> Option<String> {
        None
    }
}

impl fmt::Debug for Connector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connector")
    }
}

impl Connector {
    /// Returns the connector of a stack, if it has one.
    pub fn of(stack: &Stack) -> Option<&'static Connector> {
        stack.maker.downcast_ref()
    }
}
