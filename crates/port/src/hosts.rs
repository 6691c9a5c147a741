//! The hosts that flows run between.

use std::sync::Arc;

/// The hosts that flows run between, for disciplines that share by host.
#[derive(Clone, Debug)]
pub struct Hosts(Arc<[[u32; 2]]>);

impl Hosts {
    /// Creates the table of the source and the destination of each flow, by
    /// [`accord_aqm::PacketMeta::flow`].
    pub fn new(hosts: impl IntoIterator<Item = [u32; 2]>) -> Hosts {
        Hosts(hosts.into_iter().collect())
    }

    /// Returns the source and the destination of a flow. A flow that is not in the table has its
    /// own hosts.
    pub(crate) fn of(&self, flow: u32) -> [u32; 2] {
        let own = [u32::MAX - flow; 2];
        self.0.get(flow as usize).copied().unwrap_or(own)
    }
}
