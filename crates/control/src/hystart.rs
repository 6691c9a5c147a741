//! Slow start that ends when the round-trip time begins to rise, before a packet is lost: HyStart++
//! [RFC 9406], and HyStart as Linux has it (`tcp_cubic.c`).
//!
//! HyStart++: each round the smallest round-trip time is compared with that of the round before. If it rose by
//! a threshold, slow start continues at a quarter of its growth (conservative slow start). Five such
//! rounds later it ends. If the round-trip time falls again before that, the rise does not count,
//! and slow start resumes.
//!
//! HyStart: slow start ends at once, on a rise above the smallest round-trip time of all, or when a round's
//! acknowledgements have come one after another for half of that time.

use crate::Acked;
use accord_units::{Duration, Time};

/// MIN_RTT_THRESH and MAX_RTT_THRESH, the bounds of the rise that counts [RFC 9406 §4.3].
const LEAST: Duration = Duration::from_ms(4);
const MOST: Duration = Duration::from_ms(16);
/// MIN_RTT_DIVISOR: the ratio of the round-trip time to the threshold.
const PART: u64 = 8;
/// N_RTT_SAMPLE: the number of samples that a round needs for the comparison.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR: the divisor of the growth in conservative slow start.
const SLOWER: u64 = 4;
/// CSS_ROUNDS: the number of rounds of conservative slow start.
const ROUNDS: u32 = 5;
/// L: the most packets by which an acknowledgement grows the window of a sender without pacing.
const LIMIT: u64 = 8;

/// The state of the first slow start. Later ones end at the threshold that a loss set
/// [RFC 9406 §4.3].
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    /// The smallest round-trip times of the last round and of this one, `MAX` for none.
    last: Duration,
    current: Duration,
    samples: u32,
    /// The round-trip time that began conservative slow start, and the number of its rounds so far.
    conservative: Option<(Duration, u32)>,
}

/// The most that is taken off a train for a segment that the sender's host cuts into packets, and the data of which
/// that is the time at the pace.
const HOST: Duration = Duration::from_ms(1);
const HOST_DATA: u64 = 4 << 16;
/// `hystart_low_window`: the packets of the smallest window that is judged.
const SMALLEST: u64 = 16;
/// `hystart_ack_delta_us`: the time between two acknowledgements of a train.
const APART: Duration = Duration::from_ms(2);

/// HyStart as Linux has it.
#[derive(Clone, Debug)]
pub(crate) struct Classic {
    /// The smallest round-trip time of all.
    least: Duration,
    /// The smallest round-trip time of this round, and the samples of it.
    current: Duration,
    samples: u32,
    began: Time,
    /// The last acknowledgement of the train.
    last: Time,
}

impl Classic {
    pub fn new(now: Time) -> Classic {
        let (least, current) = (Duration::MAX, Duration::MAX);
        Classic { least, current, samples: 0, began: now, last: now }
    }

    /// Returns true if slow start is over, with a window in bytes.
    pub fn ends(
        &mut self,
        ack: &Acked,
        (window, packet): (u64, u64),
        srtt: Duration,
        now: Time,
    ) -> bool {
        let Some(rtt) = ack.rtt else {
            return false;
        };
        self.least = self.least.min(rtt);
        if ack.round_ended {
            *self = Classic { least: self.least, ..Classic::new(now) };
        }
        if window < SMALLEST * packet {
            return false;
        }
        // The pace of slow start is two windows per round trip.
        let host = srtt.mul_f64(HOST_DATA as f64 / (2 * window) as f64).min(HOST);
        let is_train = now.since(self.last) <= APART;
        if is_train {
            self.last = now;
        }
        let is_long = is_train && now.since(self.began) * 2 > self.least + host;
        self.current = self.current.min(rtt);
        let is_judged = self.samples >= SAMPLES;
        self.samples += u32::from(!is_judged);
        is_long || is_judged && self.current > self.least + threshold(self.least)
    }
}

/// Returns the rise of the round-trip time that counts.
fn threshold(rtt: Duration) -> Duration {
    Duration::from_ps(rtt.as_ps() / PART).max(LEAST).min(MOST)
}

impl HyStart {
    pub fn new() -> HyStart {
        HyStart { last: Duration::MAX, current: Duration::MAX, samples: 0, conservative: None }
    }

    /// Returns the bytes that the window grows by for an acknowledgement, or `None` when slow start
    /// is over.
    pub fn on_ack(&mut self, ack: &Acked, packet: u64) -> Option<u64> {
        if ack.round_ended {
            self.last = self.current;
            self.current = Duration::MAX;
            self.samples = 0;
            if let Some((_, rounds)) = &mut self.conservative {
                *rounds += 1;
                if *rounds >= ROUNDS {
                    return None;
                }
            }
        }
        if let Some(rtt) = ack.rtt {
            self.current = self.current.min(rtt);
            self.samples += 1;
            self.judge();
        }
        let step = ack.bytes.get().min(LIMIT * packet);
        Some(match self.conservative {
            None => step,
            Some(_) => step / SLOWER,
        })
    }

    /// Returns true in conservative slow start.
    pub fn is_conservative(&self) -> bool {
        self.conservative.is_some()
    }

    fn judge(&mut self) {
        if self.samples < SAMPLES {
            return;
        }
        match self.conservative {
            None if self.last < Duration::MAX
                && self.current.saturating_sub(self.last) >= threshold(self.last) =>
            {
                self.conservative = Some((self.current, 0));
            }
            Some((baseline, _)) if self.current < baseline => self.conservative = None,
            _ => {}
        }
    }
}
