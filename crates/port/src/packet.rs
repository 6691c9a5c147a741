//! The packet as a port needs it.

use accord_aqm::PacketMeta;
use accord_units::Duration;

/// A packet as ports see it: the simulator's by value, a live router's with its buffer.
pub trait Packet {
    /// Size, class and ECN capability.
    fn meta(&self) -> PacketMeta;
    /// Sets its congestion mark.
    fn mark(&mut self);
    /// Adds to the virtual delay that it collects; only in-band control packets are asked.
    fn add_virtual_delay(&mut self, delay: Duration);
}
