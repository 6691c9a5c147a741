//! Decisions of queue disciplines, without queues, I/O or a clock.
//!
//! A discipline decides about each packet whether it passes, is marked or is dropped. The `port`
//! crate holds the packets. A new discipline is one file here with its [`accord_family::Family`],
//! its `mod` line, and one line in `registry.rs`. The engines and the scenario language then have
//! it. A discipline of another crate needs none of this: see [`AnyAqm::foreign`].
//!
//! ```
//! use accord_aqm::{Aqm, AnyAqm, Class, Ecn, FAMILIES, PacketMeta, QueueView, Verdict};
//! use accord_units::{Bytes, Rate, Time};
//!
//! // RED, with its defaults and marks instead of drops.
//! let family = FAMILIES.iter().find(|f| f.name == "red").expect("RED is registered");
//! let mut values = family.defaults();
//! values.set("ecn", &accord_family::Raw::Flag(true))?;
//! let mut red = AnyAqm::build(&values);
//!
//! // Each packet finds 10 packets of 1000 bytes queued on a link of 10 Mbps.
//! let size = Bytes::new(1000);
//! let queue = QueueView {
//!     packets: 10,
//!     bytes: Bytes::new(10_000),
//!     rate: Rate::from_bps(10_000_000),
//!     capacity: None,
//! };
//! let packet = PacketMeta { size, class: Class::Data, ecn: Ecn::Capable, aggregate: 0, flow: 1 };
//! let mut random = || 0.5;
//! let mut verdict = || red.on_arrival(&packet, &queue, Time::ZERO, &mut random);
//! // RED judges by the average queue. So it lets a burst pass, and marks a standing queue.
//! assert!((0..100).all(|_| verdict() == Verdict::Pass));
//! assert!((0..1000).any(|_| verdict() == Verdict::Mark));
//! # Ok::<(), String>(())
//! ```

pub mod avd;
pub mod avq;
pub mod bat;
pub mod clcc;
pub mod codel;
mod droptail;
pub mod dualpi2;
pub mod fq_codel;
pub mod host_fq;
mod maker;
pub mod pie;
pub mod red;
mod registry;
pub mod rem;
pub mod step;
mod virtual_queue;

pub use avd::Avd;
pub use avq::Avq;
pub use bat::Bat;
pub use clcc::{Aimd, Clcc};
pub use codel::Codel;
pub use droptail::DropTail;
pub use dualpi2::DualPi2;
pub use fq_codel::FqCodel;
pub use maker::{Foreign, Maker};
pub use pie::Pie;
pub use red::Red;
pub use registry::{AnyAqm, FAMILIES};
pub use rem::Rem;
pub use step::Step;

use accord_units::{Bytes, Duration, Rate, Time};

/// A discipline's view of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// The size on the wire.
    pub size: Bytes,
    /// The class of the contents.
    pub class: Class,
    /// The ECN codepoint.
    pub ecn: Ecn,
    /// The aggregate of traffic that the packet belongs to: an index into the aggregates that the
    /// discipline has.
    pub aggregate: u8,
    /// The flow and the direction of the packet, in place of addresses and ports. Two flows never
    /// have the same number.
    pub flow: u32,
}

/// The ECN codepoint of a packet's header [RFC 3168 §5].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: the packet cannot be marked, only dropped.
    #[default]
    NotCapable,
    /// ECT(0): the packet may be marked instead of dropped.
    Capable,
    /// ECT(1): the same, and its flow reacts to each mark a little, so that it may be marked often
    /// [RFC 9331].
    Scalable,
    /// CE: a link on the way has marked the packet.
    Marked,
}

impl Ecn {
    /// Returns whether the receiver understands a mark instead of a drop.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotCapable
    }
}

/// The class of a packet's contents, as far as ports distinguish it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Data or acknowledgements.
    Data,
    /// A control packet that travels with the data and collects virtual delay [Xia05 §IV-B.1]: IB.
    InBand,
    /// A control packet of the high-priority queue: OB, and reports.
    OutOfBand,
}

/// The state of the queue that a discipline may see. The packet in question is not in it: the view
/// is that before the packet joins the queue, or after it has left. The packet in service is
/// included. The high-priority queue is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueView {
    /// The packets queued.
    pub packets: u64,
    /// The bytes queued.
    pub bytes: Bytes,
    /// The service rate of the port.
    pub rate: Rate,
    /// The capacity of the queue in bytes, if it is known, for disciplines whose defaults are
    /// fractions of the buffer.
    pub capacity: Option<Bytes>,
}

impl QueueView {
    /// Returns the bytes that wait, without the packet in service, whose size is taken to be the
    /// mean. It is zero for a link without a queue.
    pub fn waiting(&self) -> f64 {
        match self.packets {
            0 => 0.0,
            n => self.bytes.as_f64() * (1.0 - 1.0 / n as f64),
        }
    }
}

/// The structure of queues that a discipline wants its packets to wait in.
#[derive(Clone, Debug)]
pub enum Structure {
    /// One FIFO queue. The discipline judges arrivals only.
    Fifo,
    /// One FIFO queue. The discipline judges departures, too, so the port remembers when each
    /// packet arrived.
    Stamped,
    /// One queue per flow, served in turns, and perhaps shared among hosts first.
    Flows(FqCodel),
    /// Two queues, one for packets of scalable flows.
    Dual(DualPi2),
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet goes on as it is.
    Pass,
    /// The packet goes on with a congestion mark, which needs [`Ecn::is_capable`]. A mark that a
    /// discipline of another crate gives to another packet drops it [RFC 3168 §5].
    Mark,
    /// The packet is dropped.
    Drop,
}

impl Verdict {
    /// Returns the verdict of a discipline of another crate, with a drop in place of a mark that the
    /// packet cannot carry. Its sender would not answer the mark.
    #[cold]
    #[inline(never)]
    fn on(self, packet: &PacketMeta) -> Verdict {
        match self {
            Verdict::Mark if !packet.ecn.is_capable() => Verdict::Drop,
            verdict => verdict,
        }
    }
}

/// The state of one aggregate, in a discipline that distinguishes aggregates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    /// The probability that the next packet joins the queue.
    pub transmit_probability: f64,
    /// The bytes that have arrived so far.
    pub offered: u64,
    /// The bytes that have joined the queue so far.
    pub admitted: u64,
    /// The decrease factor in force, times the rate of the link.
    pub decrease: f64,
    /// The ratio of its rate to that of the reference, if the discipline measures it.
    pub ratio: Option<f64>,
}

/// A source of randomness.
pub trait Entropy {
    /// Returns a number uniform in [0, 1).
    fn uniform(&mut self) -> f64;
}

impl<F: FnMut() -> f64> Entropy for F {
    fn uniform(&mut self) -> f64 {
        self()
    }
}

/// A queue discipline. Parameters are checked when it is built, and after that nothing fails.
///
/// The port has the limit of the buffer. It drops a packet that does not fit and does not ask the
/// discipline about it.
pub trait Aqm {
    /// Returns the structure of queues that the discipline governs. It is always the same.
    fn structure(&self) -> Structure {
        Structure::Fifo
    }

    /// Decides about a packet that arrives and would fit.
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        now: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict;

    /// Returns whether it passes all arrivals, learns nothing from them and has no virtual delay, so
    /// that nobody needs to ask; the same always. It may judge departures.
    #[inline]
    fn passes_all(&self) -> bool {
        false
    }

    /// Returns whether it passes every packet that finds the port idle and has left when the next one
    /// arrives, learns nothing from it and reports nothing, so that nobody needs to ask where no
    /// packet ever waits; the same always.
    fn ignores_lone(&self) -> bool {
        false
    }

    /// Notifies the discipline of a packet that arrives, does not fit and is dropped.
    fn on_overflow(&mut self, _packet: &PacketMeta) {}
    /// Decides about the first packet of the queue, which would be sent now, `sojourn` after it
    /// arrived. The port asks only if [`Aqm::structure`] says so. If the packet is dropped, the
    /// port asks about the next one.
    fn on_departure(
        &mut self,
        _packet: &PacketMeta,
        _sojourn: Duration,
        _queue: &QueueView,
        _now: Time,
    ) -> Verdict {
        Verdict::Pass
    }

    /// Returns the virtual delay that an in-band control packet collects if it arrives now
    /// [Xia05 §IV-D]. The port asks after [`Aqm::on_arrival`].
    fn virtual_delay(&self, _now: Time) -> Duration {
        Duration::ZERO
    }

    /// Returns the price that the link shows to flows, in seconds, if that is neither queuing delay
    /// nor virtual delay.
    fn price(&self) -> Option<f64> {
        None
    }

    /// Returns the state of an aggregate if the discipline distinguishes aggregates.
    fn aggregate(&self, _index: usize) -> Option<Aggregate> {
        None
    }

    /// Returns the average of the signal that bandwidth is left, from 0 to 1, if the discipline has
    /// one.
    fn excess_bandwidth(&self) -> Option<f64> {
        None
    }

    /// Returns the time at which [`Aqm::on_timer`] is to be called, also on an idle link. A
    /// discipline that has timers returns one from the start.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Notifies the discipline that the time of [`Aqm::next_timer`] has come.
    fn on_timer(&mut self, _queue: &QueueView, _now: Time) {}
}
