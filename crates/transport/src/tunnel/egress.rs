//! The receiving half of a tunnel.

use super::{CountSchedule, Queuing};
use crate::Segment;
use accord_control::{Arrival, Meter};
use accord_family::Signal;
use accord_units::{Bytes, Duration, Time};

/// Receives data and control packets. It answers each complete pair with a report, and data with
/// counts of the bytes received.
#[derive(Clone, Debug)]
pub struct Egress {
    meter: Meter,
    received: Bytes,
    /// The largest data packet.
    largest: Bytes,
    /// The transmission time of a packet of this size at the latest reported rate.
    packet_time: Duration,
    /// The schedule of counts.
    counts: CountSchedule,
    /// The estimator of the queuing delay. Without it the queuing delay is the spacing of a pair's
    /// halves.
    queuing: Option<Box<Queuing>>,
}

impl Egress {
    /// Creates an egress that has received nothing and sends `counts` counts per round trip, at most one per
    /// packet. Zero means no counts.
    pub fn new(meter: Meter, counts: f64) -> Egress {
        Egress {
            meter,
            counts: CountSchedule::new(counts),
            received: Bytes::ZERO,
            largest: Bytes::ZERO,
            packet_time: Duration::ZERO,
            queuing: None,
        }
    }

    /// Sets the signal that measures the queuing delay. Without a signal the spacing of the halves
    /// is the delay.
    pub fn go_by(&mut self, signal: Signal) {
        self.queuing = Some(Box::new(Queuing::new(signal)));
    }

    /// Takes a data packet that arrived with `virtual_delay` seconds of virtual delay. Returns the
    /// count to send back, if one is due.
    #[inline]
    pub fn on_data(&mut self, size: Bytes, virtual_delay: f64, now: Time) -> Option<Segment> {
        self.received += size;
        self.largest = self.largest.max(size);
        self.meter.on_data(size, now);
        self.counts.is_due(now).then(|| Segment::Count {
            received: self.received.get(),
            virtual_s: virtual_delay as f32,
        })
    }

    /// Takes the out-of-band half of a pair that arrived. It was sent at `sent`.
    pub fn on_out_of_band(&mut self, pair: u64, sent: Time, now: Time) {
        match &mut self.queuing {
            Some(queuing) => queuing.on_out_of_band(pair, sent, now),
            None => {
                self.meter.on_arrival(Arrival::OutOfBand { pair }, now);
            }
        }
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
        if let Some(queuing) = &mut self.queuing {
            // Both halves are sent at once.
            let sent = queuing.sent(pair)?;
            let queued = queuing.on_in_band(pair, sent, now);
            return self.on_queued(pair, sent_bytes, queued, Duration::ZERO, now);
        }
        self.complete(pair, sent_bytes, virtual_delay, truth, now)
    }

    /// Takes the in-band half of a pair whose queuing delay is `queued` and that has collected
    /// `virtual_delay`. Returns the report to send back, unless this pair or a later one was
    /// already answered.
    pub fn on_queued(
        &mut self,
        pair: u64,
        sent_bytes: u64,
        queued: Duration,
        virtual_delay: Duration,
        now: Time,
    ) -> Option<Segment> {
        // The meter takes a pair with that spacing.
        let out = Time::from_ps(now.as_ps().saturating_sub(queued.as_ps()));
        self.meter.on_arrival(Arrival::OutOfBand { pair }, out);
        self.complete(pair, sent_bytes, virtual_delay, None, now)
    }

    fn complete(
        &mut self,
        pair: u64,
        sent_bytes: u64,
        virtual_delay: Duration,
        truth: Option<f64>,
        now: Time,
    ) -> Option<Segment> {
        let arrival = Arrival::InBand { pair, sent_bytes, virtual_delay, truth };
        let report = self.meter.on_arrival(arrival, now)?;
        self.counts.on_pair(now);
        self.packet_time = report.egress_rate.transmission(self.largest);
        if let Some(queuing) = &mut self.queuing {
            queuing.set_packet_time(self.packet_time);
        }
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

    /// The transmission time of the largest data packet at the egress rate of the latest report.
    pub fn packet_time(&self) -> Duration {
        self.packet_time
    }

    /// Returns true if the estimator needs the truth.
    pub fn wants_truth(&self) -> bool {
        self.meter.wants_truth()
    }
}
