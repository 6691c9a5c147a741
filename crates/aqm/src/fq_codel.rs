//! FQ-CoDel: a queue for each flow, served in turns, each with a CoDel of its own.
//!
//! Flows are spread over a number of queues by a hash. The queues that hold packets take turns
//! by deficit round robin: a queue whose credit is positive sends and pays by the byte; one
//! whose credit is used up gets a quantum more and goes to the end of the list. Queues that
//! just began to hold packets are served before the others, until their first quantum is used
//! up: a flow that sends less than its share hardly waits [RFC 8290 §4]. What does not fit
//! costs packets of the queue that holds most bytes, not the packet that came.
//!
//! The queues are the port's (`port/src/flow_queues.rs`); here is what they are told.
//!
//! Source: RFC 8290, Høiland-Jørgensen, McKenney, Täht, Gettys, Dumazet, "The Flow Queue CoDel
//! Packet Scheduler and Active Queue Management Algorithm", 2018.
//!
//! | symbol | field      | unit    | default | range    | source |
//! |--------|------------|---------|---------|----------|--------|
//! | –      | `queues`   | –       | 1024    | 1..65536 | RFC 8290 §5.2.5 |
//! | –      | `quantum`  | bytes   | 1514 B  | > 0      | RFC 8290 §5.2.4 |
//! | –      | `batch`    | packets | 64      | 1..65536 | Linux |
//! | TARGET, INTERVAL, – | `target`, `interval`, `ecn` | | as CoDel | | RFC 8290 §5.2 |
//!
//! Departures from the source. The limit of the buffer is the port's, with the packet in
//! service; the RFC's default is 10240 packets. The hash is of the flow's number and of a
//! secret that the link draws from its own random numbers.

use crate::codel::{ECN, INTERVAL, TARGET};
use crate::{AnyAqm, Maker};
use crate::{Aqm, Codel, Entropy, PacketMeta, QueueView, Structure, Verdict};
use accord_family::{Dynamics, Family, Kind, Param, Price, Role, Values};
use accord_units::{Bytes, Duration, Size, Time};

/// FQ-CoDel as the scenario language sees it.
pub static FAMILY: Family = Family {
    name: "fq-codel",
    doc: "Flow queue CoDel: a queue for each flow, served by deficit round robin, new flows \
          first, each governed by a CoDel of its own.",
    source: "[RFC 8290]",
    params: &[
        Param {
            name: "queues",
            symbol: "",
            kind: Kind::Integer {
                min: 1,
                max: 65_536,
            },
            default: "1024",
            doc: "Queues that flows are spread over.",
            source: "[RFC 8290 §5.2.5]",
        },
        Param {
            name: "quantum",
            symbol: "",
            kind: Kind::Size,
            default: "1514 B",
            doc: "What a queue may send in its turn, in bytes.",
            source: "[RFC 8290 §5.2.4]",
        },
        Param {
            name: "batch",
            symbol: "",
            kind: Kind::Integer {
                min: 1,
                max: 65_536,
            },
            default: "64",
            doc: "The most packets that are dropped at once where a packet does not fit; never \
                  more than half of what their queue holds.",
            source: "",
        },
        TARGET,
        INTERVAL,
        ECN,
    ],
    check: |values| match values.size("quantum") {
        Size::Bytes(_) => Ok(()),
        Size::Packets(_) => Err(
            "packets have all sizes, and queues pay by the byte; write quantum in bytes, such \
             as \"1514 B\""
                .into(),
        ),
    },
    role: Role::Queue(|_| Price::Loss),
    dynamics: Dynamics::Missing(
        "it gives each flow a queue of its own, and a link of the fluid has one",
    ),
    kernel: None,
    page: "models/fq-codel.md",
    maker: &Maker {
        build: |values| AnyAqm::FqCodel(FqCodel::new(values)),
    },
};

/// The parameters of the queues for flows.
#[derive(Clone, Debug)]
pub struct FqCodel {
    /// The number of queues.
    pub queues: u32,
    /// The bytes that one may send in its turn.
    pub quantum: Bytes,
    /// The most packets that are dropped at once.
    pub batch: u64,
    /// The discipline of a queue that has not held anything yet.
    pub codel: Codel,
}

impl FqCodel {
    /// Builds it from its parameters.
    pub fn new(values: &Values) -> FqCodel {
        let quantum = values.size("quantum").bytes_f64(Bytes::new(1)) as u64;
        FqCodel {
            queues: values.integer("queues") as u32,
            quantum: Bytes::new(quantum.max(1)),
            batch: values.integer("batch"),
            codel: Codel::new(values),
        }
    }
}

impl Aqm for FqCodel {
    fn structure(&self) -> Structure {
        Structure::Flows(self.clone())
    }

    #[inline]
    fn on_arrival(
        &mut self,
        _: &PacketMeta,
        _: &QueueView,
        _: Time,
        _: &mut dyn Entropy,
    ) -> Verdict {
        Verdict::Pass
    }
}

accord_family::config! {
    /// The parameters of FQ-CoDel.
    pub struct Config of FAMILY {
        /// Queues that flows are spread over.
        pub queues: u64,
        /// What a queue may send in its turn, in bytes.
        pub quantum: Size,
        /// The most packets that are dropped at once where a packet does not fit; never more than half of what their queue holds.
        pub batch: u64,
        /// The delay that a queue may keep.
        pub target: Duration,
        /// How long all packets must have waited longer than the target before one is dropped: about the longest round-trip time.
        pub interval: Duration,
        /// Marks packets that can be marked instead of dropping them.
        pub ecn: bool,
    }
}

impl Config {
    /// Makes the queue discipline.
    ///
    /// # Errors
    /// As [`Config::values`].
    pub fn build(&self) -> Result<FqCodel, String> {
        let values = self.values()?;
        Ok(FqCodel::new(&values))
    }
}
