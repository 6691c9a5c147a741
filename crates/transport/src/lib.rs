//! Endpoints without I/O and without a clock: sending, acknowledging, loss detection,
//! round-trip estimation, pacing, and the control packets of accumulation-based schemes.
//!
//! There are two kinds of transport. A *stream* ([`stream`]) acknowledges each packet and repairs
//! losses, as TCP does. Window controllers (Reno, Vegas) run on it. A *tunnel* ([`tunnel`]) carries
//! datagrams from an ingress to an egress, and measures the path once per round trip by a pair of
//! control packets [Xia05 §IV-B.1]. Monaco runs on it.
//!
//! Every endpoint is a state machine. Its driver tells it what arrived and what time it is. The
//! driver then polls it for packets to send, and asks when to wake it.

mod endpoint;
pub mod ip;
mod pacer;
pub mod pcapng;
mod rtt;
mod segment;
pub mod stream;
mod tos;
pub mod tunnel;
pub mod wire;

pub use endpoint::{Datagrams, Receipt, Receiver, Sender, View, endpoints};
pub use pacer::Pacer;
pub use rtt::RoundTrip;
pub use segment::Segment;
