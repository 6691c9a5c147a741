//! The minimum of the last k samples.

use accord_units::Duration;

/// The minimum of the last k samples. It takes constant time per sample (amortised) and 8·k bytes.
///
/// Samples fill a block of k. When the block is full, each sample is replaced by the minimum from
/// it to the end of the block. The next block then overwrites it sample by sample. So the first
/// entry not yet overwritten is the minimum of the old block's samples that are still in the
/// window.
#[derive(Clone, Debug)]
pub(crate) struct SlidingMin {
    /// The samples of this block below `filled`, and from there the minima of the previous block.
    block: Box<[Duration]>,
    filled: usize,
    /// The minimum of the samples of this block.
    newest: Duration,
}

impl SlidingMin {
    /// Creates the minimum of the last `k` samples, or of the last one if `k` is zero.
    pub fn new(k: usize) -> SlidingMin {
        SlidingMin { block: vec![Duration::MAX; k.max(1)].into(), filled: 0, newest: Duration::MAX }
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

    /// The minimum. It is `Duration::MAX` before the first sample.
    #[inline]
    pub fn min(&self) -> Duration {
        match self.block.get(self.filled) {
            Some(&older) => older.min(self.newest),
            None => self.newest,
        }
    }
}
