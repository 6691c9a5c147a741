//! The minimum of the last k samples.

use accord_units::Duration;

/// The minimum of the last k samples, in constant time per sample (amortised) and 8·k
/// bytes.
///
/// Samples fill a block of k. When it is full, each is replaced by the minimum from it to
/// the end of the block; the next block then overwrites it sample by sample. So the first
/// entry not yet overwritten is the minimum of what the window still has of the old block.
#[derive(Clone, Debug)]
pub(crate) struct SlidingMin {
    /// Below `filled`: samples of this block. From there: minima of the previous one.
    block: Box<[Duration]>,
    filled: usize,
    /// Minimum of the samples of this block.
    newest: Duration,
}

impl SlidingMin {
    /// For the last `k` samples; one at least.
    pub fn new(k: usize) -> SlidingMin {
        SlidingMin {
            block: vec![Duration::MAX; k.max(1)].into(),
            filled: 0,
            newest: Duration::MAX,
        }
    }

    /// Adds a sample.
    #[inline]
    pub fn push(&mut self, sample: Duration) {
        if self.filled == self.block.len() {
            let mut min = Duration::MAX;
            for entry in self.block.iter_mut().rev() {
                min = min.min(*entry);
                *entry = min;
            }
            self.filled = 0;
            self.newest = Duration::MAX;
        }
        self.block[self.filled] = sample;
        self.filled += 1;
        self.newest = self.newest.min(sample);
    }

    /// The minimum; `Duration::MAX` before the first sample.
    #[inline]
    pub fn min(&self) -> Duration {
        match self.block.get(self.filled) {
            Some(&older) => older.min(self.newest),
            None => self.newest,
        }
    }
}
