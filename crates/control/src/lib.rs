//! Congestion control without I/O and without a clock.
//!
//! A controller is an estimator of congestion, a policy that says how to move, and a
//! target to move to. It is told what happened and answers how much may be in flight and
//! how fast it may be sent. What is simulated is, line for line, what sends packets.
//!
//! Add a controller: one file here with its [`accord_family::Family`], its `mod` line, one line in
//! `registry.rs`. The engines and the scenario language then have it. A controller of another
//! crate needs none of this, see [`AnyController::foreign`].

mod acc;
pub mod cubic;
pub mod estimator;
mod hystart;
mod law;
mod maker;
mod meter;
mod monaco;
pub mod multcp;
mod policy;
mod registry;
pub mod reno;
mod service;
mod tcp_window;
mod unresponsive;
pub mod vegas;
pub mod vegas_rem;

pub use acc::Acc;
pub use cubic::Cubic;
pub use law::{Pairs, Sending};
pub use maker::{Foreign, Maker, Transport};
pub use meter::{Arrival, Meter};
pub use multcp::MulTcp;
pub use policy::Policy;
pub use registry::{AnyController, FAMILIES};
pub use reno::Reno;
pub use unresponsive::Unresponsive;
pub use vegas::Vegas;
pub use vegas_rem::VegasRem;

use accord_family::Service;
use accord_units::{Bytes, Duration, Rate, Time};

/// The transport's knowledge of the path; the same view for every controller.
#[derive(Clone, Copy, Debug)]
pub struct PathView {
    /// Size of a data packet on the wire: the unit in which windows of the literature are
    /// counted.
    pub packet: Bytes,
    /// Smoothed round-trip time [RFC 6298]; zero before the first sample.
    pub srtt: Duration,
    /// Latest round-trip time; zero before the first sample.
    pub rtt: Duration,
    /// Smallest round-trip time measured so far; `Duration::MAX` before the first.
    pub min_rtt: Duration,
    /// Bytes sent and neither acknowledged nor taken for lost. Where congestion is told of, as it
    /// was before: FlightSize of RFC 5681, of which no more counts than the window. Where the
    /// timer finds losses of a window that an earlier one was answered for, the flight before
    /// that answer, so that together they cost one cut.
    pub in_flight: Bytes,
    /// Bytes sent during the round trip that the report in hand ends; zero on a stream.
    pub sent_in_round: Bytes,
    /// In that round trip there was not always something to send; `false` on a stream, where
    /// [`Acked::window_limited`] tells.
    pub had_too_little: bool,
    /// Rate at which data arrived between the last two reports; zero before the second
    /// report, and on a stream.
    pub delivery_rate: Rate,
}

/// Data was acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Acked {
    /// Bytes that this acknowledgement says arrived and no earlier one did.
    pub bytes: Bytes,
    /// A round-trip time sample, where the acknowledgement gives one.
    pub rtt: Option<Duration>,
    /// A round trip has passed: this is the first acknowledgement of data sent after the
    /// previous round trip ended.
    pub round_ended: bool,
    /// The sender used all of its window: growth is meaningful [RFC 7661].
    pub window_limited: bool,
    /// A loss is being repaired, or the round trip of a mark that was answered goes on; the
    /// window stays where that put it.
    pub in_recovery: bool,
    /// Packets that arrived with a congestion mark, told by this acknowledgement and no
    /// earlier one.
    pub marked: u64,
}

/// Something went wrong; told once for each round trip's worth of losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Congestion {
    /// A packet was lost, and later ones arrived.
    Loss,
    /// A packet was found lost by a fine-grained timer on a first or second duplicate
    /// acknowledgement, before three of them came [Low02 §1.1].
    EarlyLoss,
    /// Packets were marked [RFC 3168 §6.1.2]; told once for each round trip's worth of
    /// marks and losses, to controllers with [`Marks::Loss`].
    Ecn,
    /// The retransmission timer ran out.
    Timeout,
    /// The retransmission timer ran out again, for a packet that it had sent again already:
    /// only the window starts again, the threshold stays [RFC 5681 §3.1].
    RepeatedTimeout,
}

/// The meaning of congestion marks to a controller [RFC 3168].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marks {
    /// Nothing: its packets cannot be marked, only dropped.
    #[default]
    Nothing,
    /// The same as a loss: [`Congestion::Ecn`].
    Loss,
    /// A price, told by the share of packets that carry one: [`Acked::marked`].
    Price,
}

/// The way in which a stream repairs losses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recovery {
    /// One retransmission, then on with the next acknowledgement [RFC 5681 §3.2].
    Reno,
    /// A retransmission for each partial acknowledgement [RFC 6582]. Only the first of these
    /// sets the retransmission timer again, so that a recovery of many losses ends in slow
    /// start ("impatient").
    #[default]
    NewReno,
    /// The same, but each partial acknowledgement sets the timer again: one loss is repaired in
    /// each round trip, however many there are ("slow but steady" [RFC 6582 §4]).
    SteadyNewReno,
    /// Repair by selective acknowledgements [RFC 6675].
    Sack,
}

/// The demands of a controller on its stream; read once, when a connection begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capabilities {
    /// The repair of losses.
    pub recovery: Recovery,
    /// The meaning of congestion marks to it.
    pub marks: Marks,
    /// A duplicate acknowledgement should be followed by a look at the fine-grained timer of the
    /// first unacknowledged packet [Low02 §1.1].
    pub early_retransmission: bool,
}

/// What the receiver of control packets reports, once a pair is complete
/// [Xia05 §IV-B.1].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Report {
    /// Number of the control pair.
    pub number: u64,
    /// Estimated accumulation in bytes.
    pub accumulation: f64,
    /// Rate at which data leaves the network, smoothed.
    pub egress_rate: Rate,
    /// The part of the queuing delay that is virtual [Xia05 §IV-D].
    pub virtual_delay: Duration,
    /// Data sent since the previous pair did not all arrive.
    pub lost: bool,
    /// All data bytes that ever arrived.
    pub received: u64,
}

/// The amount that a sender may send.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Allowance {
    /// The most that may be in flight.
    pub window: Bytes,
    /// The fastest it may be sent; `None` as fast as the link takes it.
    pub pacing: Option<Rate>,
}

/// The sender's half of congestion control. Parameters are checked when it is built;
/// after that nothing fails.
pub trait Controller {
    /// Data was acknowledged.
    fn on_ack(&mut self, ack: &Acked, path: &PathView, now: Time);

    /// Data was lost or marked. What the path has in flight is as it was before that was found:
    /// the FlightSize of RFC 5681.
    fn on_congestion(&mut self, what: Congestion, path: &PathView, now: Time);

    /// Something is sent after nothing was for longer than the retransmission time-out, and
    /// nothing is in flight [RFC 5681 §4.1].
    fn on_idle(&mut self) {}

    /// A report of the receiver came back.
    fn on_report(&mut self, _report: &Report, _path: &PathView, _now: Time) {}

    /// The amount that may be sent now.
    fn allowance(&self) -> Allowance;

    /// The congestion window.
    fn cwnd(&self) -> Bytes {
        self.allowance().window
    }

    /// Slow-start threshold in bytes; `None` while it is not set.
    fn ssthresh(&self) -> Option<Bytes>;

    /// The accumulation in bytes that the controller believes its flow has, where it
    /// estimates one.
    fn accumulation_estimate(&self) -> Option<f64> {
        None
    }

    /// The controller's estimate of the base round-trip time, if it keeps one.
    fn base_rtt_estimate(&self) -> Option<Duration> {
        None
    }

    /// Its demands on the stream below; always the same.
    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }

    /// Tells the true base round-trip time, for controllers that are to know it.
    fn set_base_rtt(&mut self, _base_rtt: Duration) {}

    /// What the flow is to get from now on. A controller that does not steer an
    /// accumulation cannot hold a contract; the scenario language refuses it one.
    fn set_service(&mut self, _service: &Service) {}
}
