//! Connections of other stacks, as state machines without I/O and without a clock. They carry flows
//! in packets and live.

use crate::View;
use accord_family::{Stack, Values};
use accord_units::{Bytes, Time};
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

/// The sending end and the receiving end of a connection.
pub type Ends = [Box<dyn Carried>; 2];

/// A function that creates a connection to carry a flow. The error is the reason why there is none.
pub type Connect = dyn Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync;

/// The [`Stack::maker`] of a stack.
#[derive(Clone, Copy)]
pub struct Connector(pub &'static Connect);

/// The settings of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// The controller of the sending end.
    pub controller: &'a Values,
    /// The size of a full IP packet. A datagram is at most as long as this less 28 bytes, the headers
    /// of IP and UDP.
    pub packet: Bytes,
    /// The seed of the connection's random numbers, in a run that is to be repeatable. A run with
    /// real packets has none.
    pub seed: Option<u64>,
    /// The logs of the sending and of the receiving end, in a run whose logs are kept. Writing to them
    /// must not change the behaviour of an end.
    pub logs: Option<&'a [Log; 2]>,
}

/// The size above which a log takes nothing more.
const MOST_LOGGED: usize = 256 << 20;

/// A log of an end, in memory, such as a qlog. Clones write to the same log, which ends after 256 MiB.
#[derive(Clone, Debug, Default)]
pub struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    /// Takes the contents. The log is empty then.
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
/// The calls of an end have times that never go back. After each call the engine takes datagrams by
/// [`Carried::poll`] until there is none, and then asks for the next wake-up. An end that breaks
/// these rules (a panic, a datagram that is too large, wake-ups without end) is broken from then on,
/// and the run goes on without it.
pub trait Carried: Send {
    /// Takes a datagram that arrived with this ECN codepoint. Returns true if it carried anything
    /// new.
    fn receive(&mut self, payload: &[u8], ecn: u8, now: Time) -> bool;

    /// Returns the next datagram to send now, if there is one.
    fn poll(&mut self, now: Time) -> Option<Datagram>;

    /// The time at which the end wants to be woken. `Time::MAX` is never.
    fn next_wake(&mut self) -> Time;

    /// Runs the timers that are due.
    fn on_wake(&mut self, now: Time);

    /// Supplies data that fills `packets` packets, or data without end for `u64::MAX`. The first
    /// data opens the connection. The end notices when a transfer has been acknowledged. Receiving
    /// ends are never called.
    fn supply(&mut self, _packets: u64, _is_transfer: bool, _now: Time) {}

    /// Returns true if all of the last transfer has been acknowledged. Without it, no transfer ends.
    fn is_done(&self) -> bool {
        false
    }

    /// Closes the connection. Data that was not sent is never sent.
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
