//! Decisions of queue disciplines, without queues, I/O or a clock.
//!
//! A discipline says of each packet whether it passes, is marked or is dropped; the
//! `port` crate holds the packets. Add a discipline: one file here with its
//! [`accord_family::Family`], its `mod` line, one line in `registry.rs`. The engines and the
//! scenario language then have it. A discipline of another crate needs none of this, see
//! [`AnyAqm::foreign`].

pub mod avd;
pub mod avq;
pub mod bat;
pub mod clcc;
pub mod codel;
mod droptail;
pub mod fq_codel;
mod maker;
pub mod pie;
pub mod red;
mod registry;
pub mod rem;
mod virtual_queue;

pub use avd::Avd;
pub use avq::Avq;
pub use bat::Bat;
pub use clcc::{Aimd, Clcc};
pub use codel::Codel;
pub use droptail::DropTail;
pub use fq_codel::FqCodel;
pub use maker::{Foreign, Maker};
pub use pie::Pie;
pub use red::Red;
pub use registry::{AnyAqm, FAMILIES};
pub use rem::Rem;

use accord_units::{Bytes, Duration, Rate, Time};

/// A discipline's view of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketMeta {
    /// Size on the wire.
    pub size: Bytes,
    /// Its contents.
    pub class: Class,
    /// Its ECN codepoint.
    pub ecn: Ecn,
    /// The kind of traffic that it belongs to: an index into the aggregates that its
    /// discipline was told of.
    pub aggregate: u8,
    /// Which flow it belongs to, and in which direction it goes: what stands for addresses
    /// and ports. Equal for no two flows.
    pub flow: u32,
}

/// Explicit congestion notification [RFC 3168 §5]: what a packet's header says of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// Not-ECT: it cannot be marked, only dropped.
    #[default]
    NotCapable,
    /// ECT: it may be marked instead of dropped.
    Capable,
    /// CE: a link on its way has marked it.
    Marked,
}

impl Ecn {
    /// A mark instead of a drop means something to its receiver.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Ecn::NotCapable
    }
}

/// The contents of a packet, as far as ports care.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Data or acknowledgements.
    Data,
    /// A control packet that travels with the data and collects virtual delay
    /// [Xia05 §IV-B.1]: IB.
    InBand,
    /// A control packet of the high-priority queue: OB, and reports.
    OutOfBand,
}

/// What a discipline may see of its queue, without the packet in question: before that one
/// joins it, or after it has left. The packet in service counts; the high-priority queue does
/// not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueView {
    /// Packets queued.
    pub packets: u64,
    /// Bytes queued.
    pub bytes: Bytes,
    /// Service rate of the port.
    pub rate: Rate,
    /// The most that fits, in bytes, as far as it is known: for disciplines whose
    /// defaults are fractions of the buffer.
    pub capacity: Option<Bytes>,
}

impl QueueView {
    /// Bytes that wait, without the packet in service, which is taken for one of mean size.
    /// It is no backlog: it is what a link without a queue looks like.
    pub fn waiting(&self) -> f64 {
        match self.packets {
            0 => 0.0,
            n => self.bytes.as_f64() * (1.0 - 1.0 / n as f64),
        }
    }
}

/// The queues that a discipline wants its packets to wait in.
#[derive(Clone, Debug)]
pub enum Structure {
    /// One, first in, first out; the discipline judges arrivals only.
    Fifo,
    /// The same, and the discipline judges departures, too: the port remembers when each
    /// packet came.
    Stamped,
    /// One for each flow, served in turns.
    Flows(FqCodel),
}

/// The fate of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on as it is.
    Pass,
    /// It goes on with a congestion mark.
    Mark,
    /// It is dropped.
    Drop,
}

/// The state of one aggregate, in a discipline that tells aggregates apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregate {
    /// Probability that its next packet joins the queue.
    pub transmit_probability: f64,
    /// Bytes that came so far.
    pub offered: u64,
    /// Bytes that joined the queue so far.
    pub admitted: u64,
    /// The decrease factor that is in force, times the rate of the link.
    pub decrease: f64,
    /// Its rate over that of those it is measured against, where something measures it.
    pub ratio: Option<f64>,
}

/// A source of randomness.
pub trait Entropy {
    /// A number uniform in [0, 1).
    fn uniform(&mut self) -> f64;
}

impl<F: FnMut() -> f64> Entropy for F {
    fn uniform(&mut self) -> f64 {
        self()
    }
}

/// A queue discipline. Parameters are checked when it is built; after that nothing fails.
///
/// The limit of the buffer is the port's: what does not fit is dropped there before the
/// discipline is asked.
pub trait Aqm {
    /// The queues that it governs; the same ones always.
    fn structure(&self) -> Structure {
        Structure::Fifo
    }

    /// A packet arrives that would fit.
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        now: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict;

    /// Returns whether it passes everything and learns nothing from arrivals, so that nobody needs
    /// to ask; the same always.
    #[inline]
    fn passes_all(&self) -> bool {
        false
    }

    /// A packet arrived that does not fit, and is dropped.
    fn on_overflow(&mut self, _packet: &PacketMeta) {}
    /// The first packet of the queue would be sent now, `sojourn` after it came; asked only
    /// where [`Aqm::structure`] says so. If it is dropped, the port asks about the next one.
    fn on_departure(
        &mut self,
        _packet: &PacketMeta,
        _sojourn: Duration,
        _queue: &QueueView,
        _now: Time,
    ) -> Verdict {
        Verdict::Pass
    }

    /// The virtual delay that an in-band control packet collects if it arrives now
    /// [Xia05 §IV-D]; asked after [`Aqm::on_arrival`].
    fn virtual_delay(&self, _now: Time) -> Duration {
        Duration::ZERO
    }

    /// The price that the link shows to flows, in seconds, where it is neither queuing
    /// delay nor virtual delay.
    fn price(&self) -> Option<f64> {
        None
    }

    /// The state of an aggregate, if the discipline tells aggregates apart.
    fn aggregate(&self, _index: usize) -> Option<Aggregate> {
        None
    }

    /// The average of the signal that bandwidth is left, from 0 to 1, where it has one.
    fn excess_bandwidth(&self) -> Option<f64> {
        None
    }

    /// When [`Aqm::on_timer`] wants to be called, also on an idle link. A discipline that has
    /// timers has one from the start.
    fn next_timer(&self) -> Option<Time> {
        None
    }

    /// The time asked for has come.
    fn on_timer(&mut self, _queue: &QueueView, _now: Time) {}
}
