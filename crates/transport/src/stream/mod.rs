//! Streams: every packet acknowledged, losses repaired, in order [RFC 5681, 6582, 6675].

mod receiver;
mod scoreboard;
mod sender;

pub use receiver::StreamReceiver;
pub use sender::{Settings, StreamSender};
