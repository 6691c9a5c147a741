//! Host-FQ: FQ-CoDel with equal shares for hosts, for any number of flows per host.
//!
//! Queues take turns as in FQ-CoDel. A queue's quantum per turn is divided by the number of
//! backlogged queues of its source host, or of its destination host if that has more:
//!
//! ```text
//! credit ← credit + quantum / max(queues of the source, queues of the destination, 1)
//!                                                  [HTM18, triple isolation]
//! ```
//!
//! So a host with one flow gets as much as a host with eight. If all flows have the same hosts,
//! they get equal shares. A new queue counts as backlogged once it has used up its first quantum. A
//! flow looks among the `ways` queues of its hash for an unused one, so two flows share a queue
//! only when all of them are in use \[HTM18\].
//!
//! The port holds the queues and counts for hosts (`port/src/flow_queues.rs`). This module has
//! their parameters.
//!
//! Departures from the source: `docs/src/models/host-fq.md`.

use crate::FqCodel;
use crate::codel::{ECN, INTERVAL, TARGET};
use crate::fq_codel::{QUANTUM, QUEUES, in_bytes};
use crate::prelude::*;

accord_family::params! {
    /// The parameters of Host-FQ.
    pub struct Config of FAMILY => FqCodel() {
        pub queues: u64 = QUEUES.source("[HTM18]"),
        /// Number of queues among which a flow looks for an unused one; a divisor of `queues`.
        pub ways: u64 = integer("8", 1, 64).source("[HTM18]"),
        pub quantum: Size = QUANTUM,
        pub target: Duration = TARGET,
        pub interval: Duration = INTERVAL,
        pub ecn: bool = ECN,
    }
}

/// The declaration of Host-FQ.
pub static FAMILY: Family = Family {
    doc: "FQ-CoDel that shares among hosts first and then among the flows of each host, after the triple isolation of CAKE.",
    source: "[HTM18]",
    params: Config::PARAMS,
    check: |values| {
        let (queues, ways) = (values.integer("queues"), values.integer("ways"));
        match queues % ways {
            0 => in_bytes(values),
            _ => Err(format!(
                "queues = {queues} is not a multiple of ways = {ways}; choose ways that divide queues, such as 1"
            )
            .into()),
        }
    },
    dynamics: Dynamics::Missing("it has a queue per flow, and a link of the fluid has one"),
    page: "models/host-fq.md",
    maker: &Maker { build: |values| AnyAqm::HostFq(FqCodel::new(values)) },
    ..Family::new("host-fq", Role::Queue(|_| Price::Loss))
};
