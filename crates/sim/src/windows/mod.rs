//! The windows engine: windows of time in which nothing that a part of the network does can reach another
//! part. No packet has an event.
//!
//! The parts are the senders, as one, and the *stations*: the links that several parts feed, or whose queue
//! matters. Other links are *fused*: they belong to the part that feeds them.
//! A packet that leaves a part meets the next one a propagation delay later at the earliest. So a
//! part whose feeders have been computed up to some times can be computed up to the least of these
//! times plus delays, on its own. It then handles all packets of that window in one go: a sender its
//! acknowledgements of a round trip, a link its arrivals in order. No calendar orders them; the
//! arrivals at a station are sorted once a window, and the ends of its services and the timer of its
//! queue discipline come in between. What a part needs stays in near caches meanwhile.
//! (This is conservative parallel simulation [Chandy and Misra 1979; Bryant 1977] on one thread.)
//!
//! It is exact. The order of the arrivals at a station is that of their events, by (time, kind,
//! index). At a sample, and at any other event of the calendar, all parts have been computed up to
//! that time and no further. `tests/shortcuts.rs` and `tests/windows.rs` compare it with the events engine.
//! Without windows `newreno-10` takes 1.41 times the CPU time, `newreno-250` 1.24 times, `vegas-250` 1.44 times
//! and `monaco-20` 2.65 times.
//!
//! It runs greedy streams and tunnels over links that never change (`layout.rs`). The reader of it holds
//! these concepts:
//!
//! - **Engine** (`engine.rs`): goes through the parts in rounds up to the next event of the calendar, which has
//!   starts, stops and samples only. It has the network, the senders and the shared state (`Core`: flows,
//!   packets, calendar, record).
//! - **Layout** (`layout.rs`): the passes by which the parts and the paths are found, or the reason for events.
//! - **Station** (`network.rs`, `shared_link.rs`): a link with its **clock**, its **feeds**, its arrivals to come and
//!   its **queue**: `Held`, `PriorityPort`, `Timeline` or `Pipe`.
//! - **Fused** link (`cut_through.rs`): a `Pipe`, or a **lane** with two priorities (`lines.rs`).
//! - **Stretch** (`uncontended.rs`): links in a row on which no packet waits. Its **calm** ports learn of packets when
//!   they are read.
//! - **Horizon**: the time up to which a part can be computed.
//! - **Arrival**, **cause**, **sorter** (`arrivals.rs`): the packets to come at a station, the events that their
//!   arrivals would be, and their order.
//! - **Paths** are lists of **hops** (`hop.rs`): a station, a fused link, a stretch or an end.
//! - **Moves** (`forward.rs`): `offer` at a station, `depart` onto its wire, `forward` through fused links and
//!   round at the receiver, `enqueue` to the next part; `flush` lets packets go that wait in a lane.
//! - **Senders** (`ends.rs`): `pump` lets one send, `deliver` gives it a reply.

mod arrivals;
mod cut_through;
mod ends;
mod engine;
mod forward;
mod layout;
mod network;
mod ports;
mod ring;
mod shared_link;
mod uncontended;

pub use engine::WindowsEngine;
pub use layout::WindowsLayout;
