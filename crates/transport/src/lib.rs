//! Endpoints without I/O and without a clock: sending, acknowledging, loss detection,
//! round-trip estimation, pacing, and the control packets of accumulation-based schemes.
//!
//! There are two types of transport. A *stream* ([`stream`]) acknowledges each packet and repairs
//! losses, as TCP does. Window controllers (Reno, Vegas) run on it. A *tunnel* ([`tunnel`]) carries
//! datagrams from an ingress to an egress, and measures the path once per round trip with a pair of
//! control packets [Xia05 §IV-B.1]. Monaco runs on it.
//!
//! Every endpoint is a state machine. Its driver passes arrivals and the time to it, polls it for
//! packets to send, and asks when to wake it.
//!
//! A stream without a clock on a path of 50 ms that loses the fifth packet:
//!
//! ```
//! use accord_control::FAMILIES;
//! use accord_family::Service;
//! use accord_transport::stream::Settings;
//! use accord_transport::{Segment, endpoints};
//! use accord_units::{Bytes, Duration, Time};
//!
//! let newreno = FAMILIES.iter().find(|f| f.name == "newreno").expect("NewReno is registered");
//! let rtt = Duration::from_ms(50);
//! let (values, service) = (newreno.defaults(), Service::default());
//! let (mut sender, mut receiver) =
//!     endpoints(&values, &service, Bytes::new(1000), rtt, Settings::LINUX);
//! sender.supply(20);
//!
//! let (mut now, mut sent, mut delivered) = (Time::ZERO, 0, 0);
//! while !sender.is_done() {
//!     let mut replies = Vec::new();
//!     while let Ok(segment) = sender.poll(now) {
//!         sent += 1;
//!         if sent != 5 {
//!             let receipt = receiver.on_segment(&segment, Bytes::new(1000), false, 0.0, None, now);
//!             delivered += u64::from(receipt.data == Some(true));
//!             replies.extend(receipt.reply);
//!         }
//!     }
//!     now += rtt;
//!     for reply in &replies {
//!         sender.on_reply(reply, now);
//!     }
//!     sender.on_wake(now);
//! }
//! assert_eq!((sent, delivered), (21, 20));
//! assert_eq!(sender.view().retransmissions, 1);
//! ```

mod carried;
mod endpoint;
pub mod ip;
mod pacer;
pub mod pcapng;
pub mod qlog;
mod rtt;
mod segment;
pub mod stream;
mod tos;
pub mod tunnel;
pub mod wire;

pub use carried::{Carried, Connect, Connector, Datagram, Ends, Log, Setup};
pub use endpoint::{Datagrams, Receipt, Receiver, Sender, View, endpoints};
pub use pacer::Pacer;
pub use rtt::RoundTrip;
pub use segment::Segment;
