//! Congestion control without I/O and without a clock.
//!
//! A controller is an estimator of congestion, a policy that moves the window, and a target. The
//! transport notifies it of events. The controller sets a limit for the data in flight and a
//! sending rate. The simulator and the live engine run the same code.
//!
//! To add a controller, write one file here with its [`accord_family::Family`], its `mod` line and
//! one line in `registry.rs`. The engines and the scenario language then offer it. A controller of
//! another crate needs none of this: see [`AnyController::foreign`].
//!
//! ```
//! use accord_control::{Acked, AnyController, Congestion, Controller, FAMILIES, PathView};
//! use accord_units::{Bytes, Duration, Time};
//!
//! let reno = FAMILIES.iter().find(|f| f.name == "reno").expect("Reno is registered");
//! let packet = Bytes::new(1000);
//! let mut reno = AnyController::build(&reno.defaults(), packet);
//! assert_eq!(reno.cwnd(), Bytes::new(2000));
//!
//! let rtt = Duration::from_ms(50);
//! let path = PathView {
//!     packet,
//!     srtt: rtt,
//!     rtt,
//!     min_rtt: rtt,
//!     in_flight: Bytes::new(4000),
//!     ..PathView::default()
//! };
//! let ack = Acked {
//!     bytes: packet,
//!     rtt: Some(rtt),
//!     round_ended: false,
//!     window_limited: true,
//!     in_recovery: false,
//!     marked: 0,
//! };
//! let now = Time::ZERO + rtt;
//! // Slow start adds a packet per acknowledgement. A loss halves the flight.
//! for _ in 0..4 {
//!     reno.on_ack(&ack, &path, now);
//! }
//! assert_eq!(reno.allowance().window, Bytes::new(6000));
//! reno.on_congestion(Congestion::Loss, &path, now);
//! assert_eq!(reno.ssthresh(), Some(Bytes::new(2000)));
//! ```

mod acc;
pub mod bbr1;
pub mod bbr3;
pub mod c4;
pub mod copa;
pub mod cubic;
pub mod dctcp;
mod delivery;
pub mod estimator;
mod floor;
mod hystart;
mod law;
pub mod ledbat;
pub mod ledbat_pp;
mod loss;
mod maker;
mod meter;
pub mod monaco;
pub mod multcp;
mod policy;
pub mod prague;
mod prelude;
mod rapid;
mod registry;
pub mod reno;
mod scrambled;
mod search;
mod secant;
mod service;
mod start;
mod tcp_window;
mod unresponsive;
pub mod vegas;
pub mod vegas_rem;

pub use acc::Acc;
pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use c4::C4;
pub use copa::Copa;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use delivery::{Delivery, Lost};
pub use law::{Pairs, Sending, Window};
pub use ledbat::Ledbat;
pub use ledbat_pp::LedbatPp;
pub use loss::Losses;
pub use maker::{Foreign, Maker, Transport};
pub use meter::{Arrival, Estimator, Meter};
pub use multcp::MulTcp;
pub use policy::Policy;
pub use prague::Prague;
pub use registry::{AnyController, FAMILIES, LARGEST_WINDOW};
pub use reno::Reno;
pub use unresponsive::Unresponsive;
pub use vegas::Vegas;
pub use vegas_rem::VegasRem;

use accord_family::Service;
use accord_units::{Bytes, Duration, Rate, Time};
use scrambled::scrambled;

/// The transport's knowledge of the path. It is the same for every controller.
#[derive(Clone, Copy, Debug, Default)]
pub struct PathView {
    /// The size of a data packet on the wire, which is the literature's unit of windows.
    pub packet: Bytes,
    /// The smoothed round-trip time [RFC 6298]. It is zero before the first sample.
    pub srtt: Duration,
    /// The latest round-trip time. It is zero before the first sample.
    pub rtt: Duration,
    /// The smallest round-trip time measured so far. It is `Duration::MAX` before the first sample.
    pub min_rtt: Duration,
    /// The bytes sent that are neither acknowledged nor presumed lost.
    ///
    /// In a notification of congestion this is the value before the congestion was found: the
    /// FlightSize of RFC 5681, up to the window. The timer may find losses from a window that was
    /// already cut after an earlier notification. Then this is the data in flight before that cut,
    /// so both together cost one cut.
    pub in_flight: Bytes,
    /// The bytes sent during the round trip that the current report ends. It is zero on a stream.
    pub sent_in_round: Bytes,
    /// True if there was not always data to send in that round trip. It is `false` on a stream,
    /// which has [`Acked::window_limited`] instead.
    pub had_too_little: bool,
    /// The rate at which data arrived between the last two reports. It is zero before the second
    /// report, and on a stream.
    pub delivery_rate: Rate,
}

/// The content of an acknowledgement of data.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// The bytes that this acknowledgement is the first to report as arrived.
    pub bytes: Bytes,
    /// The round-trip time sample, if the acknowledgement gives one.
    pub rtt: Option<Duration>,
    /// True if a round trip has passed: this is the first acknowledgement of data sent after the
    /// previous round trip ended.
    pub round_ended: bool,
    /// True if the window may grow. At some time in the last round trip it was full, or packets waited for
    /// the pacer of the settings [RFC 9002 §7.8]. Or, in slow start, it is less than twice the largest flight
    /// since it was last cut [RFC 7661 §4.3, draft-ietf-ccwg-ratelimited-increase §3].
    pub window_limited: bool,
    /// True while a loss is being repaired, or during the rest of the round trip of a mark that was
    /// answered. The window then stays where that answer put it.
    pub in_recovery: bool,
    /// The packets that arrived with a congestion mark and that no earlier acknowledgement
    /// reported.
    pub marked: u64,
}

/// The kind of congestion. A controller is notified once per round trip with losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A packet was lost, and later ones arrived.
    Loss,
    /// A fine-grained timer found a packet lost on a first or second duplicate acknowledgement,
    /// before the third arrived [Low02 §1.1].
    EarlyLoss,
    /// Packets were marked [RFC 3168 §6.1.2]. Controllers with [`Marks::Loss`] are notified once
    /// per round trip with marks or losses.
    Ecn,
    /// The retransmission timer ran out.
    Timeout,
    /// The retransmission timer ran out again for a packet that was already retransmitted. The
    /// window starts again, but the threshold stays [RFC 5681 §3.1].
    RepeatedTimeout,
}

/// The meaning of congestion marks to a controller [RFC 3168].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// No meaning: the packets of the flow cannot be marked, only dropped.
    #[default]
    Nothing,
    /// The meaning of a loss: [`Congestion::Ecn`].
    Loss,
    /// A price, which the share of marked packets conveys: [`Acked::marked`].
    Price,
}

/// The way in which a stream repairs losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// One retransmission. Recovery ends with the next acknowledgement [RFC 5681 §3.2].
    Reno,
    /// A retransmission per partial acknowledgement [RFC 6582]. Only the first of these restarts
    /// the retransmission timer, so a recovery of many losses ends in slow start
    /// ("impatient").
    #[default]
    NewReno,
    /// A retransmission per partial acknowledgement, each of which restarts the timer. One loss is
    /// repaired per round trip, regardless of their number ("slow but steady" [RFC 6582 §4]).
    SteadyNewReno,
    /// Repair by selective acknowledgements [RFC 6675].
    Sack,
    /// Losses, including those of retransmissions, found by time, and a probe if acknowledgements
    /// stop: RACK-TLP [RFC 8985].
    Rack,
}

/// The demands of a controller on its stream. They are read once, when a connection begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The repair of losses.
    pub recovery: Recovery,
    /// True if a recovery with [`Recovery::Rack`] should reduce the data in flight in proportion to
    /// arrivals, down to the controller's window at its end: Proportional Rate Reduction [RFC
    /// 9937].
    pub proportional: bool,
    /// The meaning of congestion marks to the controller.
    pub marks: Marks,
    /// True if the controller reacts slightly to each mark. Its packets are sent as ECT(1) and may
    /// be marked often [RFC 9331]. Marks are reported once per round trip, as with [`Marks::Loss`];
    /// they neither stop growth nor count as a loss.
    pub scalable: bool,
    /// True if the transport should check the fine-grained timer of the first unacknowledged packet
    /// on a duplicate acknowledgement [Low02 §1.1].
    pub early_retransmission: bool,
    /// True if the transport should report deliveries ([`Controller::on_delivery`]), each packet
    /// that is sent ([`Controller::on_sent`]) or lost ([`Controller::on_lost`]), and restarts
    /// ([`Controller::on_restart`]). Pacing needs no request: see [`Allowance::pacing`].
    pub deliveries: bool,
}

/// The receiver's report on a complete pair of control packets [Xia05 §IV-B.1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// The number of the control pair.
    pub number: u64,
    /// The estimated accumulation in bytes.
    pub accumulation: f64,
    /// The smoothed rate at which data leaves the network.
    pub egress_rate: Rate,
    /// The part of the queuing delay that is virtual [Xia05 §IV-D].
    pub virtual_delay: Duration,
    /// True if data sent since the previous pair was lost.
    pub lost: bool,
    /// The lost bytes, as far as they are known.
    pub lost_bytes: Bytes,
    /// The data bytes that have arrived since the start.
    pub received: u64,
}

/// The amount that a sender may send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// The most data that may be in flight.
    pub window: Bytes,
    /// The highest rate at which it may be sent, or `None` if the link is the only limit.
    pub pacing: Option<Rate>,
}

/// The packets that are sent at once although the pace would space them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Burst {
    /// One packet.
    Packet,
    /// A token bucket of this size, which the pace fills: a packet is sent as soon as there are
    /// tokens for it.
    Bucket(Bytes),
    /// Such a bucket of a sender that waits until it is full once it lacks tokens, as quinn's does.
    Full(Bytes),
    /// Units of this size: the next one starts when the pace allows, and is sent at once as far as
    /// the window has room.
    Unit(Bytes),
}

/// The sender's half of congestion control. Its parameters are checked when it is built. No method
/// fails after that.
pub trait Controller {
    /// Notifies the controller that data was acknowledged.
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time);

    /// Notifies the controller as [`Controller::on_ack`] does, and returns its allowance. `path`
    /// makes the view of the path for a controller that reads it.
    #[inline(always)]
    fn acknowledge(&mut self, ack: Acked, path: impl FnOnce() -> PathView, now: Time) -> Allowance
    where
        Self: Sized,
    {
        self.on_ack(&ack, &path(), now);
        self.allowance()
    }

    /// Notifies the controller that data was lost or marked. [`PathView::in_flight`] is the value
    /// before that was found: the FlightSize of RFC 5681.
    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time);

    /// Notifies the controller that its last response to a loss or a time-out was spurious: the
    /// packet presumed lost had arrived [RFC 3522, RFC 4015 §3, RFC 9438 §4.9].
    fn on_spurious(&mut self, _now: Time) {}

    /// Notifies the controller that a packet is sent after an idle time longer than the
    /// retransmission time-out, with nothing in flight [RFC 5681 §4.1].
    fn on_idle(&mut self) {}

    /// Reports the deliveries of an acknowledgement to a controller that asks for them. The call of
    /// [`Controller::on_ack`] may come before or after. Returns whether the samples of the round trip that
    /// begins now should count as limited by the application [draft-ietf-ccwg-bbr-06 §5.3.4.3].
    fn on_delivery(&mut self, _delivery: &Delivery, _path: &PathView, _now: Time) -> bool {
        false
    }

    /// Notifies a controller that asks for deliveries that a packet is presumed lost. The call
    /// comes before [`Controller::on_congestion`] if acknowledgements revealed the loss, and after
    /// it if the timer ran out.
    fn on_lost(&mut self, _packet: &Lost, _now: Time) {}

    /// Notifies a controller that asks for deliveries that a packet of `bytes` bytes is sent, for
    /// the first time or again.
    fn on_sent(&mut self, _bytes: Bytes, _now: Time) {}

    /// Notifies a controller that asks for deliveries that a packet is sent after the application
    /// had too little to send, and nothing is in flight.
    fn on_restart(&mut self, _now: Time) {}

    /// Notifies the controller of a report of the receiver.
    fn on_report(&mut self, _report: &Report, _path: &PathView, _now: Time) {}

    /// Returns the amount that may be sent now.
    fn allowance(&self) -> Allowance;

    /// Returns the packets that are sent at once although the pace would space them.
    fn burst(&self) -> Burst {
        Burst::Packet
    }

    /// The congestion window.
    fn cwnd(&self) -> Bytes {
        self.allowance().window
    }

    /// The slow-start threshold in bytes, or `None` while it is not set.
    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    /// The controller's estimate of its flow's accumulation in bytes, if it makes one.
    fn accumulation_estimate(&self) -> Option<f64> {
        None
    }

    /// The controller's estimate of the base round-trip time, if it keeps one.
    fn base_rtt_estimate(&self) -> Option<Duration> {
        None
    }

    /// Appends the values of the variables that the controller's family declares
    /// ([`Family::inner`](accord_family::Family::inner)), in that order; NaN where there is no value. Runs
    /// that record these variables call it at each sample.
    fn inner(&self, _values: &mut Vec<f64>) {}

    /// Returns the demands on the stream below. They never change.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Returns true if a transport may pass acknowledgements on once per round trip above the slow-start
    /// threshold. Congestion is still reported at once, with the acknowledgements up to it. The engines pass
    /// on each acknowledgement.
    fn takes_rounds(&self) -> bool {
        false
    }

    /// The longest memory or timer of the controller. A run does not skip time before it has observed this
    /// span. State that changes within a few round trips, or only with a new smallest sample, does not count.
    fn memory(&self) -> Duration {
        Duration::ZERO
    }

    /// Sets the true base round-trip time, for controllers that should know it.
    fn set_base_rtt(&mut self, _base_rtt: Duration) {}

    /// Sets the service of the flow from now on. A controller that does not steer an accumulation
    /// cannot hold a contract, and the scenario language refuses it.
    fn set_service(&mut self, _service: &Service) {}
}
