//! The parts that complicate a directed link: a trace for its rate, token buckets, jitter,
//! reordering, and acknowledgements that come in bursts or are thinned out.

use accord_traffic::Delay;
use accord_units::{Bytes, Duration, Rate};
use std::sync::Arc;

/// The bytes that leave at one delivery opportunity of a [`Trace`]: a packet of 1500 bytes and the 4 bytes
/// that mahimahi's device puts before it.
pub const OPPORTUNITY: Bytes = Bytes::new(1504);

/// The parts of a link beyond its port and its propagation delay. Most links have none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// The delivery opportunities that replace a constant rate. The rate of the link is then their
    /// mean.
    pub trace: Option<Trace>,
    /// The token bucket that drops packets before they reach the queue.
    pub policer: Option<Bucket>,
    /// The token bucket for which packets at the head of the queue wait.
    pub shaper: Option<Bucket>,
    /// The delay drawn for each packet, in addition to the propagation delay.
    pub jitter: Option<Jitter>,
    /// The packets that are held back and overtaken.
    pub reorder: Option<Reorder>,
    /// The period at whose multiples acknowledgements come out of the wire.
    pub ack_aggregation: Option<Duration>,
    /// True if an arriving acknowledgement replaces an earlier one of its flow that still waits in
    /// the queue.
    pub ack_thinning: bool,
}

impl Parts {
    /// Returns whether packets may leave the wire in a different order from that in which they
    /// entered it.
    pub fn reorders(&self) -> bool {
        let jitter = self.jitter.is_some_and(|j| j.reorder);
        jitter || self.reorder.is_some() || self.ack_aggregation.is_some()
    }

    /// Returns the rate that a line of this rate can sustain. A token bucket bounds it.
    pub fn capacity(&self, line: Rate) -> Rate {
        let buckets = [self.policer, self.shaper].into_iter().flatten();
        buckets.map(|bucket| bucket.rate).fold(line, Rate::min)
    }

    /// Returns the rate at which a line of this rate serves its queue. A shaper bounds it. A policer does
    /// not, because it drops packets ahead of the queue.
    pub fn served_rate(&self, line: Rate) -> Rate {
        self.shaper.map_or(line, |shaper| shaper.rate.min(line))
    }

    /// Returns the features that engines based on mean rates and delays omit.
    pub fn left_out(&self) -> impl Iterator<Item = &'static str> {
        let acks = self.ack_aggregation.is_some() || self.ack_thinning;
        let all = [
            (self.trace.is_some(), "its trace is taken at the mean rate"),
            (self.policer.is_some(), "its policer is taken as its rate"),
            (self.shaper.is_some(), "its shaper is taken as its rate"),
            (self.jitter.is_some(), "its jitter is left out"),
            (self.reorder.is_some(), "its reordering is left out"),
            (acks, "its effect on acknowledgements is left out"),
        ];
        let there = all.into_iter().filter(|(there, _)| *there);
        there.map(|(_, text)| text)
    }

    /// Returns whether a packet's time on the wire may differ from the propagation delay.
    pub fn delays(&self) -> bool {
        self.jitter.is_some() || self.reorders()
    }
}

/// Delivery opportunities, one after the other, in the manner of mahimahi's link shell
/// \[Netravali15\]. The trace repeats at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The times in milliseconds, in order. The last one is the length of the trace and more than zero.
    times: Arc<[u32]>,
}

impl Trace {
    /// Creates a trace of these times in milliseconds.
    ///
    /// # Errors
    /// Fails with the index of the first time that is out of order, or with the number of times if
    /// the trace has no length.
    pub fn new(times: Vec<u32>) -> Result<Trace, usize> {
        if let Some(i) = (1..times.len()).find(|&i| times[i] < times[i - 1]) {
            return Err(i);
        }
        match times.last() {
            None | Some(0) => Err(times.len()),
            Some(_) => Ok(Trace { times: times.into() }),
        }
    }

    /// The times in milliseconds.
    pub fn times(&self) -> &Arc<[u32]> {
        &self.times
    }

    /// The length of the trace.
    pub fn length(&self) -> Duration {
        Duration::from_ms(self.times.last().copied().unwrap_or(1).into())
    }

    /// Returns the number of opportunities after the start of the run and up to `time`, in seconds.
    pub fn opportunities_by(&self, time: f64) -> u64 {
        // Times are multiples of a picosecond, which a float may miss.
        let ms = time * 1e3 + 1e-6;
        let length = self.length().as_secs_f64() * 1e3;
        let rounds = (ms / length).floor();
        let rest = self.times.partition_point(|&t| f64::from(t) <= ms - rounds * length);
        let at_start = self.times.partition_point(|&t| t == 0);
        rounds as u64 * self.times.len() as u64 + rest as u64 - at_start as u64
    }

    /// The rate in the millisecond with the most opportunities.
    pub fn peak_rate(&self) -> Rate {
        let runs = self.times.chunk_by(|a, b| a == b).map(<[u32]>::len);
        let most = runs.max().unwrap_or(0) as f64;
        Rate::from_bps_f64(most * OPPORTUNITY.bits_f64() * 1e3)
    }

    /// The mean rate. It is at least 1 bit/s.
    pub fn mean_rate(&self) -> Rate {
        let bits = self.times.len() as f64 * OPPORTUNITY.bits_f64();
        let rate = Rate::from_bps_f64(bits / self.length().as_secs_f64());
        rate.max(Rate::from_bps(1))
    }
}

/// A token bucket. It is full at the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The rate at which it fills, more than zero.
    pub rate: Rate,
    /// The most that it holds.
    pub burst: Bytes,
}

/// A random delay of each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// The law of the delay.
    pub law: Delay,
    /// True if packets may overtake each other. Otherwise a packet never comes out before the
    /// previous one.
    pub reorder: bool,
}

/// The packets that are held back, for others to overtake them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reorder {
    /// The probability that an eligible packet is held back.
    pub share: f64,
    /// The time for which such a packet is held back.
    pub delay: Duration,
    /// The number of packets from one eligible packet to the next.
    pub gap: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_is_in_order_and_has_a_length() {
        assert_eq!(Trace::new(vec![]), Err(0));
        assert_eq!(Trace::new(vec![0, 0]), Err(2));
        assert_eq!(Trace::new(vec![5, 7, 6, 8]), Err(2));
        let trace = Trace::new(vec![0, 0, 4]).expect("it is one");
        assert_eq!(trace.length(), Duration::from_ms(4));
        let by = |ms: f64| trace.opportunities_by(ms / 1e3);
        assert_eq!([0.0, 3.9, 4.0, 7.0, 8.0].map(by), [0, 0, 3, 3, 6]);
        // Three times 1504 bytes in 4 ms.
        assert_eq!(trace.mean_rate(), Rate::from_bps(9_024_000));
    }
}
