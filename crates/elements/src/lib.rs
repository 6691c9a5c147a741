//! Links and ends of flows, built from a scenario for every engine that moves packets.
//!
//! The simulator and the live engine have their own clocks and their own storage of packets. They share the
//! rest: how a link treats a packet ([`port`], [`Loss`], [`InOrder`]), how an application uses a sender
//! ([`Session`]), and the readings of both for the record.
//!
//! An engine adds a clock and storage for its packets:
//!
//! ```
//! use accord_elements::{InOrder, Session, dice, timeline};
//! use accord_family::Catalogue;
//! use accord_language::File;
//! # use accord_aqm::{Class, Ecn, PacketMeta};
//! use accord_port::PortPacket;
//! use accord_units::{Bytes, Duration, Time};
//! # struct Data;
//! # impl PortPacket for Data {
//! #     fn meta(&self) -> PacketMeta {
//! #         let size = Bytes::new(1000);
//! #         PacketMeta { size, class: Class::Data, ecn: Ecn::NotCapable, aggregate: 0, flow: 0 }
//! #     }
//! #     fn mark(&mut self) {}
//! #     fn add_virtual_delay(&mut self, _: Duration) {}
//! # }
//!
//! let catalogue = Catalogue {
//!     controllers: accord_control::FAMILIES,
//!     disciplines: accord_aqm::FAMILIES,
//! };
//! let text = r#"
//!     duration = "10 s"
//!     [topology.dumbbell]
//!     rate = "8 Mbps"
//!     delay = "20 ms"
//!     [flow.a]
//!     count = 2
//!     from = "left"
//!     to = "right"
//!     controller = "vegas"
//! "#;
//! let scenario = File::parse("small.toml", text)?.points(&catalogue, None)?.remove(0);
//! let seed = scenario.seed;
//!
//! // A greedy application supplies packets without end when it starts.
//! let mut session = Session::default();
//! session.start(scenario.flows[0].application(0, seed));
//! let step = session.act(Time::ZERO).expect("it has not stopped");
//! assert_eq!(step.supply, u64::MAX);
//!
//! // A packet of 1000 bytes takes 1 ms at the port of the bottleneck, and 20 ms on its wire.
//! let id = scenario.links.iter().position(|l| l.name == "bottleneck").expect("it is there");
//! let mut port = timeline(&scenario.links[id], id, seed);
//! let mut dice = dice(id, seed);
//! let sent = port.offer(Time::ZERO, &mut Data, &mut || dice.uniform()).expect("it fits");
//! let arrival = InOrder::default().arrival(Time::ZERO, sent, scenario.links[id].delay);
//! assert_eq!(arrival, Time::ZERO + Duration::from_ms(21));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ends;
mod link;
mod reading;
mod session;
mod transit;

pub use ends::ends;
pub use link::{InOrder, Loss, dice, port, port_state, timeline};
pub use reading::{read_flow, read_link};
pub use session::Session;
pub use transit::Transit;
