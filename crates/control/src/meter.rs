//! The measurement of accumulation by the receiver [Xia05 §IV-B.1].
//!
//! The out-of-band packet of a pair overtakes all queues, and the in-band packet waits in them.
//! Their spacing at the receiver is the forward queuing delay ftt_q. By Little's law
//!
//! ```text
//! a = ftt_q · egress rate + egress rate · virtual delay       [Xia05 §IV-D]
//! ```
//!
//! The result does not depend on the reverse path or on an estimate of the propagation delay.
//!
//! Departures from the source. The number of bytes sent travels as a running sum, so a lost pair
//! neither hides nor invents a loss. With empty queues the halves of a pair are one transmission
//! time of a control packet apart. This gap is not subtracted, because the receiver does not know
//! the rates. The gap amounts to 64 bytes: 2 % of the default target for a single flow, and less on
//! a shared link.

use crate::Report;
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// A packet that arrives at a tunnel's egress.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arrival {
    /// A data packet.
    Data {
        /// The size of the packet.
        size: Bytes,
    },
    /// The out-of-band half of a pair.
    OutOfBand {
        /// The pair's number.
        pair: u64,
    },
    /// The in-band half of a pair.
    InBand {
        /// The pair's number.
        pair: u64,
        /// The data bytes sent before it since the start.
        sent_bytes: u64,
        /// The virtual delay collected on the way.
        virtual_delay: Duration,
        /// The accumulation by its definition [Xia05 eq. 1], if the engine knows it.
        truth: Option<f64>,
    },
}

/// The source of the accumulation in a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimator {
    /// The egress rate times the spacing of a pair's halves [Xia05 §IV-B.1].
    Monaco,
    /// The data that arrives between a pair's halves [Xia05 §IV-B.1].
    Counted,
    /// The accumulation by its definition [Xia05 eq. 1], which only a simulator knows.
    Ideal,
}

/// The maximum number of out-of-band halves that are remembered. More than this wait only if no pair arrives
/// complete.
const MOST_OUT: usize = 64;

/// Estimates accumulation and egress rate, and detects loss, pair by pair.
///
/// ```
/// use accord_control::{Arrival, Estimator, Meter};
/// use accord_units::{Bytes, Duration, Time};
///
/// // 1000 bytes arrive per millisecond. The halves of each pair arrive 5 ms apart.
/// let mut meter = Meter::new(1.0, Estimator::Monaco, false);
/// let mut report = None;
/// for ms in 1..=200 {
///     let now = Time::ZERO + Duration::from_ms(ms);
///     meter.on_arrival(Arrival::Data { size: Bytes::new(1000) }, now);
///     let pair = ms / 20;
///     match ms % 20 {
///         10 => {
///             meter.on_arrival(Arrival::OutOfBand { pair }, now);
///         }
///         15 => {
///             let sent_bytes = 1000 * ms;
///             let virtual_delay = Duration::ZERO;
///             let half = Arrival::InBand { pair, sent_bytes, virtual_delay, truth: None };
///             report = meter.on_arrival(half, now);
///         }
///         _ => {}
///     }
/// }
/// let report = report.expect("pairs were complete");
/// // Little's law: 5 ms of queue at 1 MB/s are 5000 bytes.
/// assert!((report.accumulation - 5000.0).abs() < 1.0);
/// assert!(!report.lost);
/// ```
#[derive(Clone, Debug)]
pub struct Meter {
    estimator: Estimator,
    /// True if the egress rate is measured as printed.
    plain: bool,
    /// The weight of a new sample of the egress rate.
    weight: f64,
    /// The out-of-band packets whose in-band half has not arrived, with their arrival times and the bytes
    /// received before them, in order. More than one can overtake a long queue.
    out_of_band: VecDeque<(u64, Time, u64)>,
    /// The number of the latest complete pair.
    answered: u64,
    /// The start of the period over which the egress rate is measured.
    since: Option<Time>,
    bytes_since: u64,
    /// The size of the latest data packet.
    packet: u64,
    /// The moving averages of the bytes that arrived in a period, and of its length. The egress
    /// rate is their quotient. The mean of the quotients would be too large if periods differ: for
    /// a packet after one pair and one after two it is 3/4 of a packet per pair, and not 2/3.
    bytes: f64,
    seconds: f64,
    received: u64,
    /// The bytes sent and not received, as of the last complete pair.
    deficit: u64,
}

impl Meter {
    /// Creates a meter that has measured nothing. `weight` in (0, 1] is the weight of a new sample
    /// of the egress rate. A `plain` meter measures the egress rate as printed.
    pub fn new(weight: f64, estimator: Estimator, plain: bool) -> Meter {
        Meter {
            estimator,
            plain,
            weight,
            out_of_band: VecDeque::new(),
            answered: 0,
            since: None,
            bytes_since: 0,
            packet: 0,
            bytes: 0.0,
            seconds: 0.0,
            received: 0,
            deficit: 0,
        }
    }

    /// Takes an arrival. Returns a report if it completes a pair.
    #[inline]
    pub fn on_arrival(&mut self, arrival: Arrival, now: Time) -> Option<Report> {
        match arrival {
            Arrival::Data { size } => {
                self.on_data(size, now);
                None
            }
            Arrival::OutOfBand { pair } => {
                let latest = self.out_of_band.back().map_or(self.answered, |(n, ..)| *n);
                if pair > latest {
                    if self.out_of_band.len() == MOST_OUT {
                        self.out_of_band.pop_front();
                    }
                    self.out_of_band.push_back((pair, now, self.received));
                }
                None
            }
            Arrival::InBand { pair, sent_bytes, virtual_delay, truth } => {
                self.complete(pair, sent_bytes, virtual_delay, truth, now)
            }
        }
    }

    /// Takes the arrival of a data packet, as [`Meter::on_arrival`] does.
    #[inline]
    pub fn on_data(&mut self, size: Bytes, now: Time) {
        self.since.get_or_insert(now);
        self.received += size.get();
        self.bytes_since += size.get();
        self.packet = size.get();
    }

    fn complete(
        &mut self,
        pair: u64,
        sent_bytes: u64,
        virtual_delay: Duration,
        truth: Option<f64>,
        now: Time,
    ) -> Option<Report> {
        if pair <= self.answered {
            return None;
        }
        let &(_, at, before) = self.out_of_band.iter().find(|(n, ..)| *n == pair)?;
        self.out_of_band.retain(|(n, ..)| *n > pair);
        self.answered = pair;
        let rate =
            if self.plain { self.plain_rate(now) } else { self.sample_rate(now + virtual_delay) };
        let deficit = sent_bytes.saturating_sub(self.received);
        let lost = deficit.saturating_sub(self.deficit);
        self.deficit = deficit;
        let virtual_part = rate * virtual_delay.as_secs_f64();
        let queued = match (self.estimator, truth) {
            (Estimator::Ideal, Some(truth)) => truth,
            (Estimator::Counted, _) => (self.received - before) as f64,
            _ => rate * now.since(at).as_secs_f64(),
        };
        Some(Report {
            number: pair,
            accumulation: queued + virtual_part,
            egress_rate: Rate::from_bps_f64(rate * 8.0),
            virtual_delay,
            lost: lost > 0,
            lost_bytes: Bytes::new(lost),
            received: self.received,
        })
    }

    /// Returns the egress rate at a pair that left the network at `now`, virtual delay included.
    /// This is the rate at which data leaves the virtual queues, as it would leave physical ones.
    ///
    /// A flow of less than a packet per round trip has pairs without data between them. Its rate is
    /// then measured over the whole time from packet to packet. While a packet is overdue, the rate
    /// is calculated as if it arrived now.
    fn sample_rate(&mut self, now: Time) -> f64 {
        let period = self.since.map_or(0.0, |t| now.since(t).as_secs_f64());
        if period > 0.0 {
            if self.bytes_since == 0 {
                let overdue = self.packet as f64 / period;
                self.bytes = self.bytes.min(overdue * self.seconds);
            } else {
                let weight = match self.seconds {
                    0.0 => 1.0,
                    _ => self.weight,
                };
                self.bytes += weight * (self.bytes_since as f64 - self.bytes);
                self.seconds += weight * (period - self.seconds);
                self.since = Some(now);
                self.bytes_since = 0;
            }
        }
        match self.seconds {
            0.0 => 0.0,
            seconds => self.bytes / seconds,
        }
    }

    /// Returns the egress rate as printed: an average of samples. Each sample is the rate of the
    /// data that arrived between the in-band packets of two pairs [Xia05 §IV-B.2]. The first sample
    /// begins with the first data.
    fn plain_rate(&mut self, now: Time) -> f64 {
        let period = self.since.map_or(0.0, |t| now.since(t).as_secs_f64());
        if period > 0.0 {
            let sample = self.bytes_since as f64 / period;
            let weight = match self.seconds {
                0.0 => 1.0,
                _ => self.weight,
            };
            // The averaged period is always one second, so the quotient is the average of the
            // samples.
            self.bytes += weight * (sample - self.bytes);
            self.seconds = 1.0;
            self.since = Some(now);
            self.bytes_since = 0;
        }
        self.bytes
    }

    /// Returns whether the meter reports the engine's exact accumulation.
    pub fn wants_truth(&self) -> bool {
        self.estimator == Estimator::Ideal
    }
}
