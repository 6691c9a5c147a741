//! The events engine: each packet that reaches a link has an event, unless the layout can do without.
//!
//! It runs every scenario. The reader of it holds these concepts:
//!
//! - **Engine** (`engine.rs`): takes the next event from the calendar and carries it out. It has the links,
//!   the paths and the shared state (`Core`: flows, packets, calendar, record).
//! - **Layout** (`layout.rs`): the passes by which forms of ports and paths are found. **Paths** are lists of
//!   **hops** (`hop.rs`): a link or an end, which takes packets at their time or *early*, before it.
//! - **Wire** (`wire.rs`): a link with its port, its delay and its packets on the way (*flying*: in order;
//!   *loose*: in any order). One event is pending per wire, for the first packet on it.
//! - **Line**: the form of a port. `Held` keeps packets as **tickets**, and is *stepped* if each departure has an
//!   event. `Timeline` and `Pipe` know departures at arrival. `FluidPort` has a fluid's queue (`shared.rs`,
//!   `background.rs`). `TunnelEdge` is the queue before a tunnel (`tunnels.rs`).
//! - **Moves**: `traverse` (from a port on), `depart` and `leave` (onto a wire), `await_arrival` (to an event), `arrive`
//!   (`forward.rs`); `enter`, `sent` and `resume` at a port that holds packets (`ports.rs`).
//! - **Ends** (`ends.rs`): `pump` lets a sender send, `deliver` gives a packet to its end, `processed` is for
//!   hosts that take time.
//! - **Changes** (`change.rs`): rates, delays and routes that the scenario changes.
//!
//! Three things keep a packet-hop cheap:
//! - There are few events: `layout.rs` says which ones a run can do without.
//! - A link has one event pending, for the first packet on it. The other packets wait in a queue
//!   behind, as values. Nothing is allocated for a packet.
//! - A flow has one timer, moved lazily: it is set again only when it runs out early.

mod background;
mod change;
mod ends;
mod engine;
mod fluid_port;
mod forward;
mod layout;
mod ports;
mod tunnels;
mod wire;

pub use engine::EventsEngine;
