//! Control messages: the form of control pairs and reports inside the tunnel.
//!
//! A message is a packet of IPv6 from a link-local address to itself, with the next header for experiments
//! [RFC 3692, RFC 4727 §3.2]. So a peer that is plain WireGuard drops it, and a decrypted message was written
//! by the peer. A site cannot send link-local addresses, because the gateway drops packets of its device that
//! have one.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 1 | version, 1 |
//! | 1 | 1 | kind: 1 out-of-band half, 2 in-band half, 3 report, 4 packet of a trial, 5 question of its counts, 6 counts, 7 probe of the path MTU, 8 its answer, 9 count of data, 10 datagrams that are missing |
//! | 2 | 2 | flags of a report: 1 if data was lost, 2 if the signal is the delay |
//! | 4 | 4 | run of the sender of the data; the session of missing datagrams, as its index of the receiver; zero of trials and probes of the path MTU |
//! | 8 | 8 | number of the pair; 0 is a probe, which the controller has no part in; number of the trial; number of the probe of the path MTU; first counter that is missing |
//! | 16 | 8 | pair, packet of a trial: when it was sent, by the sender's clock, in ps; report, count: data bytes that arrived; answer to a probe of the path MTU: the bytes of the packet that arrived; the missing ones among the next 64 counters, as bits |
//! | 24 | 8 | in-band half: data bytes sent before it; report: accumulation in bytes, egress rate in bit/s (32-bit floats); packet of a trial: its number; counts: packets that arrived (32 bits), mean delay above the least in seconds (a 32-bit float) |
//! | 32 | 4 | in-band half: the longest time in seconds that packets wait at the receiver for others of their flow that are sent again, zero if none are; report: the queuing delay in seconds, counts: the largest delay above the least; 32-bit floats |
//! | 36 | 4 | report: the virtual delay in seconds, a 32-bit float; zero without it |
//!
//! Zeros follow in a packet of a trial and in a probe of the path MTU.
//!
//! A count is a separate message: `docs/src/gateway/design.md`.

use crate::config::Dscp;
use crate::inner;
use accord_transport::ip::Packet;
use accord_transport::tunnel::repair::{Missing, Place};
use accord_transport::wire::EXPEDITED;
use etherparse::{IpNumber, Ipv6Header};
use std::net::{IpAddr, Ipv6Addr};

/// The version of the messages.
const VERSION: u8 = 1;
/// The next header for experiments [RFC 3692 §2.1].
const EXPERIMENT: IpNumber = IpNumber::EXPERIMENTAL_AND_TESTING_0;
/// The length of a message in bytes, and that of its packet.
const LENGTH: usize = 40;
/// The length of the packet of a message.
pub const PACKET: usize = Ipv6Header::LEN + LENGTH;

/// A control message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Message {
    /// The out-of-band half of a pair.
    OutOfBand(Half),
    /// The in-band half of a pair, the data bytes sent before it, and the longest time in seconds that
    /// packets wait at the receiver for others of their flow that are sent again. The time is zero if packets
    /// are not sent again.
    InBand(Half, u64, f32),
    /// The answer to a pair.
    Report(Answer),
    /// The answer to data between two pairs.
    Count(Count),
    /// A packet of a trial.
    Test(Test),
    /// The question for the counts of a trial.
    Ask(u64),
    /// The counts of a trial.
    Counts(Counts),
    /// A probe of the path MTU, of the probed length.
    MtuProbe(u64),
    /// The answer to the probe with this number: the bytes that arrived.
    MtuAnswer(u64, u16),
    /// Datagrams that did not arrive.
    Missing(Missing),
}

/// The data that has arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// The run of the sender to which the count is sent.
    pub run: u32,
    /// The data bytes that have arrived, as in a report.
    pub received: u64,
}

/// The fields of a packet of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// The number of the trial.
    pub trial: u64,
    /// The time at which it was queued, in picoseconds of the sender's clock.
    pub sent: u64,
    /// The number within the trial.
    pub index: u64,
}

/// The counts of a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counts {
    /// The number of the trial.
    pub trial: u64,
    /// The packets.
    pub packets: u32,
    /// The mean of their delays above the least, in seconds.
    pub mean: f32,
    /// The largest of their delays above the least, in seconds.
    pub most: f32,
}

/// The fields of both halves of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    /// The run of the sender, which differs after each start.
    pub run: u32,
    /// The number of the pair, or 0.
    pub number: u64,
    /// The time at which it was sent, in picoseconds of the sender's clock.
    pub sent: u64,
}

/// The fields of a report.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The run of the sender to which the report is sent.
    pub run: u32,
    /// The number of the pair, or 0.
    pub number: u64,
    /// The data bytes that have arrived.
    pub received: u64,
    /// The accumulation in bytes.
    pub accumulation: f32,
    /// The egress rate in bit/s.
    pub egress_bps: f32,
    /// The queuing delay that the pair found, in seconds.
    pub queued: f32,
    /// The virtual delay collected by the pair, in seconds, as far as it counts.
    pub virtual_delay: f32,
    /// True if data was lost since the previous pair.
    pub lost: bool,
    /// True if the queuing delay is the delay above the minimum, and not the spacing of the pair.
    pub by_delay: bool,
}

impl Message {
    /// Returns whether the message overtakes the queues of the network.
    pub fn is_expedited(&self) -> bool {
        !matches!(self, Message::InBand(..) | Message::Test(_) | Message::MtuProbe(_))
    }
}

/// The source and destination of all messages. The tunnel identifies the gateways.
const GATEWAY: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0x6163, 0x636f, 0x7264);

/// Returns the packet of a message.
pub fn encode(message: &Message) -> [u8; PACKET] {
    let header = Ipv6Header {
        traffic_class: if message.is_expedited() { EXPEDITED } else { 0 },
        payload_length: LENGTH as u16,
        next_header: EXPERIMENT,
        // The packet goes no further.
        hop_limit: 1,
        source: GATEWAY.octets(),
        destination: GATEWAY.octets(),
        ..Ipv6Header::default()
    };
    let mut packet = [0; PACKET];
    packet[..Ipv6Header::LEN].copy_from_slice(&header.to_bytes());
    let body = &mut packet[Ipv6Header::LEN..];
    let (kind, flags, run, number, first, second, third) = match *message {
        Message::OutOfBand(half) => (1, 0, half.run, half.number, half.sent, 0, 0),
        Message::InBand(half, bytes, wait) => {
            (2, 0, half.run, half.number, half.sent, bytes, word(wait, 0.0))
        }
        Message::Report(answer) => {
            let flags = u16::from(answer.lost) | u16::from(answer.by_delay) << 1;
            let second = word(answer.accumulation, answer.egress_bps);
            let third = word(answer.queued, answer.virtual_delay);
            (3, flags, answer.run, answer.number, answer.received, second, third)
        }
        Message::Test(test) => (4, 0, 0, test.trial, test.sent, test.index, 0),
        Message::Ask(trial) => (5, 0, 0, trial, 0, 0, 0),
        Message::Counts(counts) => {
            let second = u64::from(counts.packets) << 32 | u64::from(counts.mean.to_bits());
            (6, 0, 0, counts.trial, 0, second, word(counts.most, 0.0))
        }
        Message::MtuProbe(number) => (7, 0, 0, number, 0, 0, 0),
        Message::MtuAnswer(number, size) => (8, 0, 0, number, u64::from(size), 0, 0),
        Message::Count(count) => (9, 0, count.run, 0, count.received, 0, 0),
        Message::Missing(Missing { first, behind }) => {
            (10, 0, first.session, first.counter, behind, 0, 0)
        }
    };
    body[0] = VERSION;
    body[1] = kind;
    body[2..4].copy_from_slice(&u16::to_be_bytes(flags));
    body[4..8].copy_from_slice(&run.to_be_bytes());
    body[8..16].copy_from_slice(&number.to_be_bytes());
    body[16..24].copy_from_slice(&first.to_be_bytes());
    body[24..32].copy_from_slice(&u64::to_be_bytes(second));
    body[32..40].copy_from_slice(&u64::to_be_bytes(third));
    packet
}

/// Returns two adjacent 32-bit floats.
fn word(first: f32, second: f32) -> u64 {
    u64::from(first.to_bits()) << 32 | u64::from(second.to_bits())
}

/// Returns the packet of a trial or of a probe of the path MTU with `length` bytes, but at least those of a
/// message.
pub fn padded(message: &Message, length: usize) -> Vec<u8> {
    let mut packet = encode(message).to_vec();
    packet.resize(length.max(PACKET), 0);
    let payload = (packet.len() - Ipv6Header::LEN) as u16;
    packet[4..6].copy_from_slice(&payload.to_be_bytes());
    packet
}

/// Returns whether a packet is between link-local addresses. Packets of a site never are.
pub fn is_link_local(packet: &Packet) -> bool {
    let local = |address| matches!(address, IpAddr::V6(a) if a.is_unicast_link_local());
    local(packet.source) || local(packet.destination)
}

/// Reads the message of a packet from one gateway to another. Returns `None` for any other packet,
/// another version, or fields that no gateway writes.
pub fn decode(packet: &Packet) -> Option<Message> {
    let (body, rest) = packet.contents.split_at_checked(LENGTH)?;
    let ends = (packet.source, packet.destination);
    if packet.protocol != EXPERIMENT || ends != (GATEWAY.into(), GATEWAY.into()) {
        return None;
    }
    let word = |at: usize| Some(u64::from_be_bytes(body.get(at..at + 8)?.try_into().ok()?));
    let short = |at: usize| Some(u32::from_be_bytes(body.get(at..at + 4)?.try_into().ok()?));
    let flags = u16::from_be_bytes([body[2], body[3]]);
    let half = Half { run: short(4)?, number: word(8)?, sent: word(16)? };
    let message = match (body[0], body[1], flags) {
        (VERSION, 1, 0) => Message::OutOfBand(half),
        (VERSION, 2, 0) => Message::InBand(half, word(24)?, measured(short(32)?, MOST_DELAY)?),
        (VERSION, 3, 0..=3) => Message::Report(Answer {
            run: half.run,
            number: half.number,
            received: half.sent,
            accumulation: measured(short(24)?, MOST_QUEUED)?,
            egress_bps: measured(short(28)?, MOST_RATE)?,
            queued: measured(short(32)?, MOST_DELAY)?,
            virtual_delay: measured(short(36)?, MOST_DELAY)?,
            lost: flags & 1 != 0,
            by_delay: flags & 2 != 0,
        }),
        (VERSION, 4, 0) => {
            Message::Test(Test { trial: half.number, sent: half.sent, index: word(24)? })
        }
        (VERSION, 5, 0) => Message::Ask(half.number),
        (VERSION, 6, 0) => Message::Counts(Counts {
            trial: half.number,
            packets: short(24)?,
            mean: measured(short(28)?, MOST_DELAY)?,
            most: measured(short(32)?, MOST_DELAY)?,
        }),
        (VERSION, 7, 0) => Message::MtuProbe(half.number),
        (VERSION, 8, 0) => Message::MtuAnswer(half.number, u16::try_from(half.sent).ok()?),
        (VERSION, 9, 0) => Message::Count(Count { run: half.run, received: half.sent }),
        (VERSION, 10, 0) => Message::Missing(Missing {
            first: Place { session: half.run, counter: half.number },
            behind: half.sent,
        }),
        _ => return None,
    };
    let padded = matches!(message, Message::Test(_) | Message::MtuProbe(_));
    if !rest.is_empty() && !padded || rest.iter().any(|b| *b != 0) {
        return None;
    }
    // A message has one form, so it carries no hidden data.
    let same = encode(&message)[Ipv6Header::LEN..] == *body;
    let dscp = if message.is_expedited() { Dscp(EXPEDITED >> 2) } else { Dscp(0) };
    (same && inner::dscp(packet) == dscp).then_some(message)
}

/// The bounds of a report: the largest backlog in bytes, the largest rate in bit/s, and the longest delay in
/// seconds. A report beyond them is rejected.
const MOST_QUEUED: f32 = 1e11;
const MOST_RATE: f32 = 1e12;
const MOST_DELAY: f32 = 60.0;

/// Reads a number that may be a measurement.
fn measured(bits: u32, most: f32) -> Option<f32> {
    let value = f32::from_bits(bits);
    (value.is_finite() && value.is_sign_positive() && value <= most).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer() -> impl Strategy<Value = Message> {
        let flags = (any::<bool>(), any::<bool>());
        let numbers = (any::<u32>(), any::<u64>(), any::<u64>());
        let measured = (0.0..1e11f32, 0.0..1e12f32, 0.0..60f32, 0.0..60f32);
        (numbers, measured, flags).prop_map(|((run, number, received), (a, e, q, v), (lost, d))| {
            Message::Report(Answer {
                run,
                number,
                received,
                accumulation: a,
                egress_bps: e,
                queued: q,
                virtual_delay: v,
                lost,
                by_delay: d,
            })
        })
    }

    fn message() -> impl Strategy<Value = Message> {
        let half = (any::<u32>(), any::<u64>(), any::<u64>());
        let half = half.prop_map(|(run, number, sent)| Half { run, number, sent });
        prop_oneof![
            half.clone().prop_map(Message::OutOfBand),
            (half, any::<u64>(), 0.0..60f32)
                .prop_map(|(half, bytes, wait)| Message::InBand(half, bytes, wait)),
            answer(),
            (any::<u64>(), any::<u64>(), any::<u64>())
                .prop_map(|(trial, sent, index)| { Message::Test(Test { trial, sent, index }) }),
            (any::<u32>(), any::<u64>())
                .prop_map(|(run, received)| Message::Count(Count { run, received })),
            (any::<u32>(), any::<u64>(), any::<u64>()).prop_map(|(session, counter, behind)| {
                let first = Place { session, counter };
                Message::Missing(Missing { first, behind })
            }),
            any::<u64>().prop_map(Message::Ask),
            any::<u64>().prop_map(Message::MtuProbe),
            (any::<u64>(), any::<u16>()).prop_map(|(n, size)| Message::MtuAnswer(n, size)),
            (any::<u64>(), any::<u32>(), 0.0..60f32, 0.0..60f32).prop_map(
                |(trial, packets, mean, most)| Message::Counts(Counts {
                    trial,
                    packets,
                    mean,
                    most
                })
            ),
        ]
    }

    proptest! {
        #[test]
        fn messages_are_read_as_they_are_written(message in message()) {
            let packet = encode(&message);
            let inner = Packet::new(&packet).expect("a packet");
            prop_assert!(is_link_local(&inner));
            prop_assert_eq!(decode(&inner), Some(message));
        }

        #[test]
        fn another_bit_makes_another_message_or_none(message in message(), bit in 0..8 * PACKET) {
            let mut packet = encode(&message);
            packet[bit / 8] ^= 1 << (bit % 8);
            let read = Packet::new(&packet).and_then(|inner| decode(&inner));
            // The network may change the flow label, hop limit and ECN.
            prop_assert!(read != Some(message) || matches!(bit / 8, 1..=3 | 7));
        }
    }

    #[test]
    fn a_packet_of_a_trial_has_the_length_that_it_is_to_have() {
        let test = Test { trial: 1, sent: 2, index: 3 };
        for length in [PACKET, 576, 9000] {
            let mut packet = padded(&Message::Test(test), length);
            assert_eq!(packet.len(), length);
            let read = |packet: &[u8]| {
                let inner = Packet::new(packet).expect("a packet");
                decode(&inner)
            };
            assert_eq!(read(&packet), Some(Message::Test(test)));
            packet[length - 1] = 1;
            assert_eq!(read(&packet), None, "there is nothing to hide in");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let sound = Answer {
            run: 1,
            number: 2,
            received: 3,
            accumulation: 4.0,
            egress_bps: 5.0,
            queued: 0.006,
            virtual_delay: 0.007,
            lost: false,
            by_delay: true,
        };
        let nonsense = [
            Answer { accumulation: -1.0, ..sound },
            Answer { accumulation: f32::NAN, ..sound },
            Answer { egress_bps: 1e18, ..sound },
            Answer { egress_bps: f32::INFINITY, ..sound },
            Answer { queued: -0.001, ..sound },
            Answer { queued: 61.0, ..sound },
            Answer { virtual_delay: -0.001, ..sound },
        ];
        let read = |answer| {
            let packet = encode(&Message::Report(answer));
            let inner = Packet::new(&packet).expect("a packet");
            decode(&inner)
        };
        assert_eq!(read(sound), Some(Message::Report(sound)));
        for answer in nonsense {
            assert_eq!(read(answer), None, "{answer:?}");
        }
    }
}
