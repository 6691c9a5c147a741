//! What packets meet before they are queued: a policer, and a filter of acknowledgements.

use crate::Bucket;
use accord_units::{Bytes, Time};

/// What packets meet before they are queued.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Drops packets that it has no tokens for.
    pub policer: Option<Bucket>,
    /// Whether an acknowledgement has earlier ones that wait dropped.
    pub thinning: bool,
}

impl Entry {
    /// Returns whether the policer lets a packet of `size` pass that arrives at `now`.
    pub fn admits(&mut self, now: Time, size: Bytes) -> bool {
        (self.policer.as_mut()).is_none_or(|policer| policer.take(now, size))
    }
}
