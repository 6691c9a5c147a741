//! The dynamics of windows and queues in a fluid, as data that the fluid engine integrates.
//!
//! Amounts are in bytes, times in seconds, so no law depends on the size of a packet
//! unless its source does.

use crate::Values;
use accord_units::Bytes;
use std::f64::consts::LN_2;

/// The differential equations of a [`Family`](crate::Family), for given parameters.
#[derive(Clone, Copy, Debug)]
pub enum Dynamics {
    /// The equations of a controller.
    Window(fn(&Values, &FlowFacts) -> WindowDynamics),
    /// The equations of a queue discipline.
    Queue(fn(&Values, &QueueFacts) -> QueueDynamics),
    /// No equations. The text gives users the reason, as the second half of a sentence.
    Missing(&'static str),
}

/// The facts of a flow that a controller's dynamics may depend on.
#[derive(Clone, Copy, Debug)]
pub struct FlowFacts {
    /// Size of a data packet on the wire.
    pub packet: Bytes,
    /// The weight φ, a factor of the target. The engine provides the rest of the service.
    pub weight: f64,
    /// True if the service contracts a rate.
    pub has_contract: bool,
}

/// The facts of a queue that a discipline's dynamics may depend on.
#[derive(Clone, Copy, Debug)]
pub struct QueueFacts {
    /// The size of the arriving data packets.
    pub packet: Bytes,
    /// The limit of the queue, in bytes, or infinity if there is no limit.
    pub buffer: f64,
}

/// The dynamics of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowDynamics {
    /// The law after slow start.
    pub law: WindowLaw,
    /// The sender's knowledge of its accumulation.
    pub reads: Reads,
    /// The sender's base round-trip time.
    pub base: BaseRtt,
    /// The most that the law grows the window by per round trip, in bytes. Reno and laws of the
    /// sign fix it themselves.
    pub most: f64,
    /// The window at the start, in bytes.
    pub initial: f64,
    /// Growth in slow start, in e-folds per round trip.
    pub growth: f64,
    /// The accumulation that ends slow start, in bytes.
    pub leave: f64,
    /// The fraction of the window that is kept at the end of slow start.
    pub keep: f64,
    /// True if acknowledgements clock the window. The queues of acknowledgements then delay the
    /// sender's measurements, and look like its own queue.
    pub window_clocked: bool,
    /// True if packets can be marked.
    pub ecn: bool,
    /// The reaction to a loss, or to a mark that stands for one.
    pub gives_up: GivesUp,
    /// The relation of the window to the outstanding data, for a flow that decides once per round trip and
    /// whose window bounds that data. It is `None` for windows that act at each acknowledgement.
    pub rounds: Option<Rounds>,
    /// The number of answers to data per round trip, at most one per packet. Infinity means one per packet,
    /// and zero none.
    pub answers: f64,
}

/// The relation of a window to the data outstanding, over a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// The round-trip time over which the window is paced.
    pub pace: Pace,
    /// True if every second probe of the queue is sent ahead of the next data packet. After a reduction of
    /// the window it waits until that packet may be sent, and measures the queue of the new window.
    pub turns: bool,
}

/// The round-trip time over which a window is paced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// The round-trip time of the latest report.
    Latest,
    /// The moving average of round-trip times, with a weight of 1/8 [RFC 6298 §2.3].
    Smoothed,
    /// The smallest round-trip time: the pace never holds back data that the window allows.
    Least,
}

impl WindowDynamics {
    /// A flow without a window: it sends its whole demand.
    pub const UNRESPONSIVE: WindowDynamics = WindowDynamics {
        law: WindowLaw::Unresponsive,
        reads: Reads::Delay,
        base: BaseRtt::Smallest,
        most: f64::INFINITY,
        initial: f64::INFINITY,
        growth: LN_2,
        leave: f64::INFINITY,
        keep: 1.0,
        window_clocked: false,
        ecn: false,
        gives_up: GivesUp::Window,
        rounds: None,
        answers: f64::INFINITY,
    };
}

/// The quantity that a flow halves at a loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum GivesUp {
    /// The window.
    Window,
    /// The part of its accumulation that carries no contract. The flow does not grow in a round trip with a
    /// loss.
    Accumulation {
        /// The share of the sent data that may be lost. Above it the flow halves the window.
        bound: f64,
    },
}

/// A law of a window w, for an accumulation a, a round-trip time rtt and its base d.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowLaw {
    /// dw/dt = −gain/rtt · (a − target) [Xia05 eq. 6].
    Proportional {
        /// κ.
        gain: f64,
        /// a*, in bytes.
        target: f64,
    },
    /// dw/dt = −gain·d/rtt · (a − target)/w [Xia05 eq. 5].
    MoWalrand {
        /// κ, in bytes per second.
        gain: f64,
        /// a*, in bytes.
        target: f64,
    },
    /// dw/dt = −gain/rtt · sgn(a − target) [Xia05 eq. 3].
    Additive {
        /// κ, in bytes.
        gain: f64,
        /// a*, in bytes.
        target: f64,
    },
    /// A packet more per round trip below `low`, one less above `high` [Low02 eqs. 17-18].
    Vegas {
        /// α, in bytes.
        low: f64,
        /// β, in bytes.
        high: f64,
        /// True if both are in bytes per second of base round-trip time instead.
        per_second: bool,
    },
    /// A packet more per round trip [RFC 5681].
    Reno,
    /// A cubic function of the time since the last loss, or Reno's window if that is larger [RFC 9438].
    Cubic {
        /// C, in packets per cubic second.
        c: f64,
        /// β.
        beta: f64,
        /// True if slow start ends when the round-trip time rises [RFC 9406].
        hystart: bool,
    },
    /// No window.
    Unresponsive,
}

/// A sender's knowledge of its accumulation a, with x its rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reads {
    /// Queuing and virtual delays of the forward path: a = x·(q + v).
    Delay,
    /// Round-trip times: a = w·(1 − min rtt/rtt).
    RoundTrip,
    /// The share m of marks: a = x·p̂, p̂ = −ln(1 − m)/ln φ milliseconds.
    Marks {
        /// ln φ.
        ln_phi: f64,
        /// The bytes over which the share is taken.
        memory: f64,
    },
}

/// A sender's base round-trip time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BaseRtt {
    /// The smallest round-trip time so far.
    Smallest,
    /// The smallest of the samples of the last `bytes` bytes.
    Last {
        /// The bytes.
        bytes: f64,
    },
    /// The truth.
    Known,
}

/// The dynamics that a discipline adds to its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDynamics {
    /// The law.
    pub law: QueueLaw,
    /// True if the queue marks packets instead of dropping them where it can.
    pub ecn: bool,
}

/// A law of a queue: the share of the arrivals that it marks or drops, or the price that it shows
/// to flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueLaw {
    /// The queue alone.
    DropTail,
    /// Shows the delay of a virtual queue [Xia05 §IV-D].
    Avd {
        /// γ.
        utilisation: f64,
        /// α, in 1/s.
        gain: f64,
        /// The largest delay that it shows, in seconds.
        longest: f64,
        /// True if the virtual delay contains the delay of the physical queue.
        holds_physical: bool,
    },
    /// Marks or drops arrivals that overflow a virtual queue [Xia05 §IV-D].
    Avq {
        /// γ.
        utilisation: f64,
        /// α, in 1/s.
        gain: f64,
        /// The virtual buffer, in bytes.
        buffer: f64,
    },
    /// Marks or drops by a price in milliseconds [Low02 eqs. 30, 31].
    Rem {
        /// ln φ.
        ln_phi: f64,
        /// The gain of the price, in milliseconds per byte.
        gain: f64,
        /// The gain of the backlog, per second: the weight over the period.
        backlog: f64,
        /// True if dropped bytes count as arrivals.
        dropped: bool,
    },
    /// Marks or drops by an average of the queue `[FJ93]`.
    Red {
        /// The lower threshold, in units.
        min: f64,
        /// The upper one.
        max: f64,
        /// The size of a unit of the thresholds, in bytes.
        unit: f64,
        /// The size of a packet, in bytes.
        packet: f64,
        /// ln(1 − w), w the weight of a packet in the average.
        ln_keep: f64,
        /// The probability at the upper threshold.
        probability: f64,
        /// True if the probability rises to 1 at twice the upper threshold instead of jumping.
        gentle: bool,
    },
    /// Marks or drops with rising frequency while packets have waited longer than a target for more than an
    /// interval [RFC 8289].
    Codel {
        /// The longest acceptable sojourn time, in seconds.
        target: f64,
        /// The interval, in seconds.
        interval: f64,
        /// The size of a packet, in bytes.
        packet: f64,
    },
}

impl QueueDynamics {
    /// A law that marks and drops nothing.
    pub const fn plain(law: QueueLaw) -> QueueDynamics {
        QueueDynamics { law, ecn: false }
    }
}
