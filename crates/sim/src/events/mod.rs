//! The events engine: one event per packet that reaches a link, unless the layout can leave it out.
//!
//! The events engine runs every scenario. Its concepts, in reading order:
//!
//! 1. **Core** (`core.rs`): the state that both engines share: flows, packets, the calendar, the
//!    record.
//! 2. **Calendar** (`calendar.rs`): the pending events, in order of (time, **kind**, index).
//! 3. **Pool** and **handle** (`pool.rs`): the packets under way, and the index of one of them.
//! 4. **Survey**, **ports** and **form** (`survey.rs`): the paths of all flows, and the cheapest
//!    form of each port that its link allows.
//! 5. **Layout** (`layout.rs`): the passes that find the cut-through links and receivers, and the
//!    paths.
//! 6. **Hop** and **path** (`hop.rs`): a link or an endpoint, and the list of hops of a flow. A
//!    **cut-through** hop takes packets ahead of the clock.
//! 7. **Wire** (`wire.rs`): a link with its port, its delay and the packets in flight on it. One
//!    event is pending per wire, for the first packet.
//! 8. **Buffered port** (`buffered.rs`): a port that holds waiting packets as **tickets**
//!    (`ticket.rs`). It is **stepped** if the engine ends each service.
//! 9. **Timeline** and **pipe** (`pipe.rs`): ports whose departures are known at arrival.
//! 10. **Tunnel edge** (`tunnels.rs`): the queue at the entry of a tunnel between gateways.
//! 11. **Engine** (`engine.rs`): takes the next event from the calendar and handles it.
//! 12. **Traverse** (`forward.rs`): moves a packet over hops up to its next event.
//! 13. **Enter**, **resume** and **sent** (`ports.rs`): offer a packet to a buffered port, begin a
//!     service, and end one.
//! 14. **Depart** and **leave** (`forward.rs`): put a packet on its wire, without and with loss and
//!     stalls.
//! 15. **Arrive** (`forward.rs`): takes the first packet off a wire. **Overtake** puts the next
//!     packet of a reordering wire in order.
//! 16. **Deliver** (`ends.rs`): passes a packet to its endpoint, at its time or ahead of the clock.
//! 17. **Pump** (`ends.rs`): sends the packets of a sender that are due, and sets its timer.
//! 18. **Process** (`ends.rs`): the delay of a packet in its host.
//! 19. **Change** (`change.rs`): a new rate, delay, demand or route.
//! 20. **Machine** (`machine.rs`): the engine over some of the nodes, with an **outside**
//!     (`outside.rs`). **Parcels** (`parcel.rs`) leave and enter it (`border.rs`), and its samples are
//!     **parts** (`part.rs`).
//! 21. **Others** (`other.rs`, `stacks.rs`): flows of third-party stacks, whose packets are
//!     **whole**. A **meter** (`meter.rs`) limits what such a stack may do.
//!
//! A packet-hop is cheap for three reasons. `layout.rs` leaves out most events. Packets wait
//! without allocations in queues of the pool, behind the single event of their wire. A flow's timer
//! is set again only when an earlier deadline expires.

mod border;
mod change;
mod ends;
mod engine;
mod forward;
mod layout;
mod machine;
mod meter;
mod other;
mod outside;
mod parcel;
mod part;
mod ports;
mod stacks;
mod tunnels;
mod wire;

pub use engine::EventsEngine;
pub use machine::{Departure, Machine, Tally};
pub use other::{CarriedEnd, Order, addresses, connect};
pub use parcel::{Parcel, Whole};
pub use part::{Part, SinkReading, SourceReading, merge};
