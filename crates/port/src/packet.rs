//! The packet, as ports need it.

use accord_aqm::PacketMeta;
use accord_units::Duration;

/// A packet as ports see it. The simulator passes it by value, and a live router with its buffer.
pub trait PortPacket {
    /// Returns the size, the class and the ECN capability.
    fn meta(&self) -> PacketMeta;
    /// Returns whether the packet is an acknowledgement that says nothing beyond what `newer`, a
    /// later one of the same flow, says.
    fn is_superseded_by(&self, _newer: &Self) -> bool {
        false
    }
    /// Sets the congestion mark.
    fn mark(&mut self);
    /// Returns whether the packet collects virtual delay. Ports compute none for others.
    fn collects_virtual_delay(&self) -> bool {
        true
    }
    /// Adds to the virtual delay that the packet collects. It is called for data and in-band control
    /// packets only.
    fn add_virtual_delay(&mut self, delay: Duration);
}
