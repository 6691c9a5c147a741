//! The receiving half of a tunnel.

use crate::Segment;
use accord_control::{Arrival, Meter};
use accord_units::{Bytes, Duration, Time};

/// Receives data and control packets, and answers each complete pair with a report.
#[derive(Clone, Debug)]
pub struct Egress {
    meter: Meter,
    received: Bytes,
}

impl Egress {
    /// Creates an egress that has received nothing.
    pub fn new(meter: Meter) -> Egress {
        Egress {
            meter,
            received: Bytes::ZERO,
        }
    }

    /// Takes a data packet that arrived.
    #[inline]
    pub fn on_data(&mut self, size: Bytes, now: Time) {
        self.received += size;
        self.meter.on_arrival(Arrival::Data { size }, now);
    }

    /// Takes the out-of-band half of a pair that arrived.
    pub fn on_out_of_band(&mut self, pair: u64, now: Time) {
        self.meter.on_arrival(Arrival::OutOfBand { pair }, now);
    }

    /// Takes the in-band half of a pair that arrived. Returns the report to send back if the pair
    /// is complete. `truth` is the accumulation by its definition, for the ideal estimator.
    pub fn on_in_band(
        &mut self,
        pair: u64,
        sent_bytes: u64,
        virtual_delay: Duration,
        truth: Option<f64>,
        now: Time,
    ) -> Option<Segment> {
        let arrival = Arrival::InBand {
            pair,
            sent_bytes,
            virtual_delay,
            truth,
        };
        let report = self.meter.on_arrival(arrival, now)?;
        Some(Segment::Report {
            pair,
            accumulation: report.accumulation as f32,
            lost: report.lost,
            egress_bps: report.egress_rate.as_bps_f64() as f32,
            virtual_s: report.virtual_delay.as_secs_f64() as f32,
            received: self.received.get(),
        })
    }

    /// The data that has arrived since the start.
    pub fn received(&self) -> Bytes {
        self.received
    }

    /// Returns whether the estimator needs the truth.
    pub fn wants_truth(&self) -> bool {
        self.meter.wants_truth()
    }
}
