//! The view of a packet that ports need.

use accord_aqm::PacketMeta;
use accord_units::Duration;

/// A packet as seen by ports. The simulator passes it by value, a live router together with its
/// buffer.
pub trait PortPacket {
    /// Returns the size, the class and the ECN capability.
    fn meta(&self) -> PacketMeta;
    /// Returns true if the packet is an acknowledgement without information beyond that of `newer`,
    /// a later one of the same flow.
    fn is_superseded_by(&self, _newer: &Self) -> bool {
        false
    }
    /// Sets the congestion mark.
    fn mark(&mut self);
    /// Returns true if the packet collects virtual delay. Ports do not compute it for other
    /// packets.
    fn collects_virtual_delay(&self) -> bool {
        true
    }
    /// Adds to the virtual delay of the packet. Ports call it for data and in-band control packets
    /// only.
    fn add_virtual_delay(&mut self, delay: Duration);
}
