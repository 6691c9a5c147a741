//! Flows of other stacks, whose packets have bytes: a QUIC stack as a state machine, a connection of
//! the kernel, or a tunnel of gateways that are programs.

use super::parcel::Parcel;
use accord_transport::{Carried, Datagram, ip};
use accord_units::Time;

/// An order to an end outside of the machine.
#[derive(Clone, Debug)]
pub enum Order {
    /// Supply: the application of a flow has this number of packets more to send; `u64::MAX` is
    /// unlimited.
    Supply(usize, u64),
    /// Stop: a flow stops.
    Stop(usize),
    /// Deliver: a packet has arrived at the node of its end.
    Deliver(Parcel),
    /// Enter: a packet is at the entry of this tunnel.
    Enter(usize, Parcel),
}

/// An end of a connection of a QUIC stack.
#[derive(Debug)]
pub struct CarriedEnd {
    /// The state machine.
    pub end: Box<dyn Carried>,
    /// The source address and port of its datagrams.
    pub from: ([u8; 4], u16),
    /// The destination address and port of its datagrams.
    pub to: ([u8; 4], u16),
}

impl CarriedEnd {
    /// Returns the IP packet that carries a datagram.
    pub fn wrap(&self, datagram: &Datagram) -> Vec<u8> {
        ip::wrap_udp(self.from, self.to, datagram.ecn, &datagram.payload)
    }
}

/// A flow of another stack.
#[derive(Debug)]
pub struct Other {
    /// The ends that are state machines in this machine, at the source and at the sink.
    pub ends: [Option<CarriedEnd>; 2],
    /// The times at which they want to be woken.
    pub wakes: [Time; 2],
}

impl Default for Other {
    fn default() -> Other {
        Other { ends: [None, None], wakes: [Time::MAX; 2] }
    }
}
