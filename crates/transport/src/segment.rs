//! The packets that travel between endpoints.

use accord_units::Time;

/// The content of a packet, as seen by endpoints. All data packets of a flow have the same size.
/// They are counted in packets, not in bytes. The live engine's wire format defines the encoding of
/// each kind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    /// A data packet.
    Data {
        /// The number of the packet, from 0.
        number: u64,
        /// The time at which this transmission of the packet was sent.
        sent: Time,
    },
    /// An acknowledgement of a stream.
    Ack {
        /// The number below which all data packets have arrived.
        next: u64,
        /// The block beyond `next` that holds the packet which caused this acknowledgement: the offset of its
        /// first packet from `next`. It is zero if that packet is below `next`. It is one, with a length of
        /// zero, if that packet had already arrived [RFC 2883].
        block: u32,
        /// The length of that block. It is zero if there is none.
        block_len: u32,
        /// The time at which the packet that caused the acknowledgement was sent.
        echo: Time,
        /// The number of data packets that have arrived with a congestion mark so far, modulo 2³².
        /// This is the accurate echo of RFC 9768, which survives lost acknowledgements.
        marked: u32,
    },
    /// OB: the out-of-band half of a control pair. It overtakes queues.
    OutOfBand {
        /// The number of the pair.
        pair: u64,
        /// The time at which the pair was sent.
        sent: Time,
    },
    /// IB: the in-band half of a control pair. It waits like data.
    InBand {
        /// The number of the pair.
        pair: u64,
        /// The data bytes sent before it since the start. The paper sends the difference from the
        /// previous pair instead. The sum carries the same information and survives the loss of
        /// pairs.
        sent_bytes: u64,
    },
    /// The receiver's answer to a complete pair. It travels out of band.
    Report {
        /// The number of the pair.
        pair: u64,
        /// The estimated accumulation in bytes.
        accumulation: f32,
        /// True if data of the pair's period was lost.
        lost: bool,
        /// The smoothed egress rate in bit/s.
        egress_bps: f32,
        /// The virtual part of the queuing delay, in seconds.
        virtual_s: f32,
        /// The data bytes that have arrived since the start.
        received: u64,
    },
    /// A count of the data received, between reports. It travels out of band.
    Count {
        /// The data bytes that have arrived since the start.
        received: u64,
        /// The virtual delay of the latest of these bytes, in seconds.
        virtual_s: f32,
    },
    /// Datagrams of a tunnel that did not arrive. It travels out of band.
    Missing {
        /// The number of the first missing datagram.
        first: u64,
        /// The missing datagrams among the 64 numbers after it, the least significant bit first.
        behind: u64,
    },
}
