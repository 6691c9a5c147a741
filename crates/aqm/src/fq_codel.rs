//! FQ-CoDel: a queue per flow, served by deficit round robin, each with its own CoDel.
//!
//! A hash distributes the flows over a number of queues. The backlogged queues take turns by
//! deficit round robin. A queue with positive credit sends, and each byte sent costs a byte of
//! credit. A queue without credit gets another quantum and goes to the end of the list. A newly
//! backlogged queue is served before the others until its first quantum is used up. So a flow below
//! its share has almost no queuing delay [RFC 8290 §4]. If a packet does not fit, packets of the
//! longest queue in bytes are dropped instead.
//!
//! The port holds the queues (`port/src/flow_queues.rs`). This module has their parameters.
//!
//! Departures from the source: `docs/src/models/fq-codel.md`.

use crate::Codel;
use crate::codel::{ECN, INTERVAL, TARGET};
use crate::host_fq;
use crate::prelude::*;
use accord_family::Invalid;
use accord_family::kind::{integer, size};

/// The number of queues, shared by the disciplines with a queue per flow.
pub(crate) const QUEUES: Param = integer("1024", 1, 65_536)
    .source("[RFC 8290 §5.2.5]")
    .declared("queues", "Number of queues over which flows are hashed.");

/// The quantum, shared by the disciplines with a queue per flow.
pub(crate) const QUANTUM: Param = size("1514 B")
    .source("[RFC 8290 §5.2.4]")
    .declared("quantum", "Bytes that a queue may send per turn.");

/// Checks that the quantum is in bytes.
pub(crate) fn in_bytes(values: &Values) -> Result<(), Invalid> {
    match values.size("quantum") {
        Size::Bytes(_) => Ok(()),
        Size::Packets(_) => Err(
            "packets differ in size, and queues are charged by the byte; give quantum in bytes, such as \"1514 B\""
                .into(),
        ),
    }
}

accord_family::params! {
    /// The parameters of FQ-CoDel.
    pub struct Config of FAMILY => FqCodel() {
        pub queues: u64 = QUEUES,
        pub quantum: Size = QUANTUM,
        /// Maximum number of packets dropped at once when a packet does not fit; at most half of their queue.
        pub batch: u64 = integer("64", 1, 65_536),
        pub target: Duration = TARGET,
        pub interval: Duration = INTERVAL,
        pub ecn: bool = ECN,
    }
}

/// The declaration of FQ-CoDel.
pub static FAMILY: Family = Family {
    doc: "Flow queue CoDel: a queue for each flow, served by deficit round robin, new flows \
          first, each governed by a CoDel of its own.",
    source: "[RFC 8290]",
    params: Config::PARAMS,
    check: in_bytes,
    dynamics: Dynamics::Missing("it has a queue per flow, and a link of the fluid has one"),
    page: "models/fq-codel.md",
    maker: &Maker { build: |values| AnyAqm::FqCodel(FqCodel::new(values)) },
    ..Family::new("fq-codel", Role::Queue(|_| Price::Loss))
};

/// The parameters of the queues per flow.
#[derive(Clone, Debug)]
pub struct FqCodel {
    /// The number of queues.
    pub queues: u32,
    /// The bytes that a queue may send in its turn.
    pub quantum: Bytes,
    /// The maximum number of packets dropped at once.
    pub batch: u64,
    /// The initial discipline of a queue.
    pub codel: Codel,
    /// The number of queues among which a flow looks for an unused one.
    pub ways: u32,
    /// True if the flows of a host share its quantum.
    pub hosts: bool,
}

impl FqCodel {
    /// Creates the parameters of the queues from those of FQ-CoDel or of Host-FQ.
    pub fn new(values: &Values) -> FqCodel {
        let hosts = values.family().name == host_fq::FAMILY.name;
        let quantum = values.size("quantum").bytes_f64(Bytes::new(1)) as u64;
        FqCodel {
            queues: values.integer("queues") as u32,
            quantum: Bytes::new(quantum.max(1)),
            batch: if hosts { 1 } else { values.integer("batch") },
            codel: Codel::new(values),
            ways: if hosts { values.integer("ways") as u32 } else { 1 },
            hosts,
        }
    }
}

impl Aqm for FqCodel {
    fn structure(&self) -> Structure {
        Structure::Flows(self.clone())
    }

    #[inline]
    fn passes_all(&self) -> bool {
        true
    }

    fn ignores_lone(&self) -> bool {
        // CoDel judges each queue.
        true
    }
}
