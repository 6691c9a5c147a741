//! Decisions of queue disciplines, without queues, I/O or a clock.
//!
//! A discipline decides for each packet whether it passes, is marked or is dropped. The `port`
//! crate holds the packets. To add a discipline, write one file here with its
//! [`accord_family::Family`], its `mod` line and one line in `registry.rs`. The engines and
//! scenarios then offer it. A discipline of another crate needs none of this: see
//! [`AnyAqm::foreign`].
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
//! # Ok::<(), accord_family::Invalid>(())
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
mod prelude;
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
    /// The aggregate of the packet: an index into the discipline's aggregates.
    pub aggregate: u8,
    /// The number of the packet's flow and direction, in place of addresses and ports. It is unique
    /// per flow.
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
    /// ECT(1): as ECT(0), and the flow responds only a little to each mark, so it may be
    /// marked often [RFC 9331].
    Scalable,
    /// CE: a link on the path has marked the packet.
    Marked,
}

impl Ecn {
    /// Returns whether the receiver understands a mark instead of a drop.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotCapable
    }
}

/// The class of a packet's contents. Ports distinguish these classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Data or acknowledgements.
    Data,
    /// A control packet that travels with the data and collects virtual delay [Xia05 §IV-B.1]: IB.
    InBand,
    /// A control packet of the high-priority queue: OB, and reports.
    OutOfBand,
}

/// The view of a queue that a discipline decides by. It excludes the packet in question: it is
/// taken before the packet joins the queue, or after it has left. It includes the packet in
/// service, and excludes the high-priority queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueView {
    /// The packets queued.
    pub packets: u64,
    /// The bytes queued.
    pub bytes: Bytes,
    /// The service rate of the port: that of its shaper if it is less than the line's, and zero in an
    /// outage.
    pub rate: Rate,
    /// The capacity of the queue in bytes, if known, for defaults that are fractions of the buffer.
    pub capacity: Option<Bytes>,
}

impl QueueView {
    /// Returns the bytes that wait, without the packet in service, which is assumed to have the
    /// mean size. The result is zero for a link without a queue.
    pub fn waiting(&self) -> f64 {
        match self.packets {
            0 => 0.0,
            n => self.bytes.as_f64() * (1.0 - 1.0 / n as f64),
        }
    }
}

/// The queues that a discipline requires.
#[derive(Clone, Debug)]
pub enum Structure {
    /// One FIFO queue. The discipline judges arrivals only.
    Fifo,
    /// One FIFO queue. The discipline also judges departures, so the port keeps arrival times.
    Stamped,
    /// One queue per flow, served in turns, optionally shared among hosts first.
    Flows(FqCodel),
    /// Two queues, one for packets of scalable flows.
    Dual(DualPi2),
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet continues unchanged.
    Pass,
    /// The packet continues with a congestion mark, which needs [`Ecn::is_capable`]. If a
    /// discipline of another crate marks an incapable packet, it is dropped [RFC 3168 §5].
    Mark,
    /// The packet is dropped.
    Drop,
}

impl Verdict {
    /// Returns the verdict of a discipline of another crate, with a drop in place of a mark that
    /// the packet cannot carry.
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

/// A queue discipline. Its parameters are checked when it is built. No call fails after that.
///
/// The port enforces the limit of the buffer. It drops a packet that does not fit without asking
/// the discipline.
pub trait Aqm {
    /// Returns the queues that the discipline requires. The value is constant.
    fn structure(&self) -> Structure {
        Structure::Fifo
    }

    /// Decides about an arrival that would fit.
    #[inline]
    fn on_arrival(
        &mut self,
        _packet: &PacketMeta,
        _queue: &QueueView,
        _now: Time,
        _entropy: &mut dyn Entropy,
    ) -> Verdict {
        Verdict::Pass
    }

    /// Returns true if the discipline passes all arrivals, does not depend on them and has no
    /// virtual delay. Ports may then skip the calls. The value is constant. The discipline may
    /// still judge departures.
    #[inline]
    fn passes_all(&self) -> bool {
        false
    }

    /// Returns true if ports may skip the calls for a packet that finds the port idle and leaves
    /// before the next arrival. The discipline passes such packets, does not depend on them and
    /// reports nothing about them. The value is constant.
    fn ignores_lone(&self) -> bool {
        false
    }

    /// Notifies the discipline of an arrival that does not fit and is dropped.
    fn on_overflow(&mut self, _packet: &PacketMeta) {}
    /// Decides about the head of the queue before its transmission, `sojourn` after its arrival.
    /// The port calls this method only if [`Aqm::structure`] requires it. If the packet is dropped,
    /// the port continues with the next one.
    fn on_departure(
        &mut self,
        _packet: &PacketMeta,
        _sojourn: Duration,
        _queue: &QueueView,
        _now: Time,
    ) -> Verdict {
        Verdict::Pass
    }

    /// Returns the virtual delay that an in-band control packet collects if it arrives now [Xia05
    /// §IV-D]. The port calls it after [`Aqm::on_arrival`].
    fn virtual_delay(&self, _now: Time) -> Duration {
        Duration::ZERO
    }

    /// Returns the price of the link, in seconds, if that is neither queuing delay nor virtual
    /// delay.
    fn price(&self) -> Option<f64> {
        None
    }

    /// Returns the state of an aggregate if the discipline distinguishes aggregates.
    fn aggregate(&self, _index: usize) -> Option<Aggregate> {
        None
    }

    /// Returns the average of the excess-bandwidth signal, from 0 to 1, if the discipline has one.
    fn excess_bandwidth(&self) -> Option<f64> {
        None
    }

    /// Returns the time of the next call of [`Aqm::on_timer`], also on an idle link. A discipline
    /// with timers returns one from the start.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// Notifies the discipline that the time of [`Aqm::next_timer`] has come.
    fn on_timer(&mut self, _queue: &QueueView, _now: Time) {}
}
