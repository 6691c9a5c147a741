//! The packets that travel between endpoints.

use accord_units::{Duration, Time};

/// The content of a packet, as endpoints see it. Data packets of a flow all have the same
/// size and are counted, not measured in bytes; the wire format of the live engine says how
/// each is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// A data packet.
    Data {
        /// Its number, from 0.
        number: u64,
        /// When this transmission of it was sent.
        sent: Time,
    },
    /// An acknowledgement of a stream.
    Ack {
        /// All data packets with smaller numbers have arrived.
        next: u64,
        /// First packet of the block, beyond `next`, that holds the packet which caused
        /// this acknowledgement: an offset from `next`; zero if that packet is below it.
        block: u32,
        /// Length of that block; zero if there is none.
        block_len: u32,
        /// When the packet that caused it was sent.
        echo: Time,
        /// Data packets that arrived with a congestion mark so far, modulo 2³²: the
        /// accurate echo of RFC 9768, which survives lost acknowledgements.
        marked: u32,
    },
    /// OB: out-of-band half of a control pair; it overtakes queues.
    OutOfBand {
        /// Number of the pair.
        pair: u64,
        /// When the pair was sent.
        sent: Time,
    },
    /// IB: in-band half of a control pair; it waits like data.
    InBand {
        /// Number of the pair.
        pair: u64,
        /// All data bytes sent before it. The difference to the previous pair is what the
        /// paper puts here; the sum says the same and survives the loss of pairs.
        sent_bytes: u64,
        /// Sum of the virtual delays on its way.
        virtual_delay: Duration,
    },
    /// The receiver's answer to a complete pair; it travels out of band.
    Report {
        /// Number of the pair.
        pair: u64,
        /// Estimated accumulation in bytes.
        accumulation: f32,
        /// Data of the pair's period was lost.
        lost: bool,
        /// Smoothed egress rate in bit/s.
        egress_bps: f32,
        /// Virtual part of the queuing delay, in seconds.
        virtual_s: f32,
        /// All data bytes that arrived.
        received: u64,
    },
}
