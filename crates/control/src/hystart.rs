//! HyStart++: slow start that ends when the round-trip time begins to rise, before a packet is lost
//! [RFC 9406].
//!
//! Each round the smallest round-trip time is compared with that of the round before. If it rose by
//! a threshold, slow start goes on at a quarter of its growth (conservative slow start). Five such
//! rounds later it ends. If the round-trip time falls again before that, the rise was none, and
//! slow start goes on.

use crate::Acked;
use accord_units::Duration;

/// MIN_RTT_THRESH and MAX_RTT_THRESH, the bounds of the rise that counts [RFC 9406 §4.3].
const LEAST: Duration = Duration::from_ms(4);
const MOST: Duration = Duration::from_ms(16);
/// MIN_RTT_DIVISOR: the part of the round-trip time that the threshold is.
const PART: u64 = 8;
/// N_RTT_SAMPLE: the samples of a round before it is judged.
const SAMPLES: u32 = 8;
/// CSS_GROWTH_DIVISOR: the divisor of the growth in conservative slow start.
const SLOWER: u64 = 4;
/// CSS_ROUNDS: the rounds of conservative slow start.
const ROUNDS: u32 = 5;
/// L: the most packets that an acknowledgement grows the window by, for a sender without pacing.
const LIMIT: u64 = 8;

/// The state of the first slow start. Later ones end at the threshold that a loss set
/// [RFC 9406 §4.3].
#[derive(Clone, Debug)]
pub(crate) struct HyStart {
    /// The smallest round-trip times of the last round and of this one, `MAX` for none.
    last: Duration,
    current: Duration,
    samples: u32,
    /// The round-trip time that began conservative slow start, and the rounds of it so far.
    conservative: Option<(Duration, u32)>,
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

    fn judge(&mut self) {
        if self.samples < SAMPLES {
            return;
        }
        match self.conservative {
            None if self.last < Duration::MAX => {
                let threshold = Duration::from_ps(self.last.as_ps() / PART).max(LEAST).min(MOST);
                if self.current.saturating_sub(self.last) >= threshold {
                    self.conservative = Some((self.current, 0));
                }
            }
            Some((baseline, _)) if self.current < baseline => self.conservative = None,
            _ => {}
        }
    }
}
