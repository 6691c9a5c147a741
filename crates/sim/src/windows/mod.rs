//! The windows engine: conservative parallel simulation on one thread [Chandy and Misra 1979;
//! Bryant 1977], without an event per packet.
//!
//! The network is divided into *parts*. All senders together are one part. Each *shared link* is another: a
//! link that several parts feed, or one with a queue that matters. All other links are *cut-through*: they
//! belong to the part that feeds them. A packet that leaves a part reaches the next one no earlier than after
//! a propagation delay, the *lookahead*. So a part can be computed by itself up to its *safe time*, the least
//! sum of a feeding part's clock and lookahead. The part then handles all packets of that window at once: a
//! sender the replies of a round trip, a shared link its arrivals in order. The arrivals at a shared link are
//! sorted once per window. The ends of its services and the timer of its discipline come in between. The data
//! of one part stays in near caches during a window.
//!
//! The result is exact. The arrivals at a shared link are in the order of their events, (time,
//! kind, index). At a sample, and at any other event of the calendar, all parts have been computed
//! up to that time and no further. `tests/shortcuts.rs` and `tests/windows.rs` compare the runs
//! with those of the events engine. Without windows `newreno-10` takes 1.7 times the instructions,
//! `newreno-250` 1.5 times, `vegas-250` 1.3 times, `monaco-20` 3.2 times, `on-off-100` 1.4 times and
//! `web-500` 1.2 times.
//!
//! The windows engine runs flows with any application over links that never change (`layout.rs`). The next
//! action of an application is a time of its flow, like a wake-up, so it needs no event either. Its concepts,
//! in reading order:
//!
//! 1. **Core** (`core.rs`): the state that both engines share: flows, packets, the calendar, the
//!    record. The calendar holds only starts, stops and samples.
//! 2. **Pool** and **handle** (`pool.rs`): the packets under way, and the index of one of them.
//! 3. **Survey**, **ports** and **form** (`survey.rs`): the paths of all flows, and the cheapest
//!    form of each port that its link allows.
//! 4. **Layout** (`layout.rs`): the passes that find the parts and the paths, or the reason for
//!    events.
//! 5. **Network** (`network.rs`): the links by type, and the paths.
//! 6. **Shared link** (`network.rs`): a link that is a part, with its **clock** and its port:
//!    buffered, priority, timeline or pipe.
//! 7. **Feed** and **lookahead** (`network.rs`): the packets from another part, and their least
//!    delay.
//! 8. **Safe time** (`network.rs`): the lower bound on the time stamps of packets to come.
//! 9. **Cut-through link** (`cut_through.rs`): a link that takes packets ahead of the clock.
//! 10. **Priority pipe** (`ports.rs`): a cut-through pipe that serves out-of-band packets first.
//! 11. **Priority port** (`ports.rs`): a droptail port with two priorities that leaves packets in
//!     the pool.
//! 12. **Uncontended path** (`uncontended.rs`): consecutive links on which no packet waits. Its
//!     **uncontended ports** count packets in batches.
//! 13. **Hop** and **route** (`hop.rs`, `network.rs`): a shared link, a cut-through link, an
//!     uncontended path or an endpoint, and the list of hops of a flow.
//! 14. **Engine** (`engine.rs`): advances the parts in rounds up to the next event of the calendar.
//! 15. **Senders** (`engine.rs`, `ends.rs`): the part of all senders, with their **replies**,
//!     wake-ups and actions. **Due** (`due.rs`) is the index of the senders with one of these in a
//!     window.
//! 16. **Arrival** and **event id** (`arrivals.rs`): a future packet at a shared link, and the
//!     event that would correspond to its arrival.
//! 17. **Arrival queue** and **sorter** (`arrivals.rs`): the arrivals by slot of time, and their
//!     order.
//! 18. **Offer**, **serve** and **act** (`shared_link.rs`): handle an arrival, services and timers.
//!     A priority port handles the first two in `pass_all`.
//! 19. **Forward** (`forward.rs`): moves a packet through cut-through links and its receiver, up to
//!     the next part.
//! 20. **Enqueue** and **flush** (`forward.rs`): add an arrival to the next part, and send the
//!     packets that wait in a priority pipe.

mod arrivals;
mod cut_through;
mod due;
mod ends;
mod engine;
mod fetch;
mod forward;
mod layout;
mod network;
mod ports;
mod ring;
mod shared_link;
mod uncontended;

pub use engine::WindowsEngine;
pub use layout::WindowsLayout;
