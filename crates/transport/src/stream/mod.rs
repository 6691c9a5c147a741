//! Streams: every packet is acknowledged, losses are repaired, and data is delivered in order [RFC
//! 5681, 6582, 6675].

mod receiver;
mod scoreboard;
mod sender;

pub use receiver::StreamReceiver;
pub use sender::{Settings, StreamSender};
