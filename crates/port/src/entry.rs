//! The stages ahead of the queue: a policer, and a filter of acknowledgements.

use crate::Bucket;
use accord_units::{Bytes, Time};

/// The stages ahead of the queue.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// Drops packets that it has no tokens for.
    pub policer: Option<Bucket>,
    /// True if an acknowledgement removes the waiting ones that it supersedes.
    pub thinning: bool,
}

impl Entry {
    /// Returns whether the policer lets a packet of `size` pass that arrives at `now`.
    pub fn admits(&mut self, now: Time, size: Bytes) -> bool {
        (self.policer.as_mut()).is_none_or(|policer| policer.take(now, size))
    }
}
