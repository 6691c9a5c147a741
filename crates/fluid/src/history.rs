//! Histories: ring buffers on a common clock, read at a delay in constant time.
//!
//! Steps also end at events, so their lengths differ. A delay is kept as a whole number of steps
//! and a fraction ([`Tap`]), which are recomputed only while the steps that they span differ.

use crate::wide::WIDTH;

/// The index of the first step end. It is a multiple of all depths, so the past has indices as well.
const FIRST: usize = 1 << 26;

/// The ends of steps.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    times: Vec<f64>,
    mask: usize,
    /// The index of the latest step end.
    pub now: usize,
    step: f64,
    /// The inverse of the step.
    pace: f64,
    /// The number of latest steps of equal length.
    alike: usize,
    /// True if taps need no update: the steps that they span are equal now, and were at the
    /// previous step.
    pub regular: bool,
    /// The number of steps in the longest delay.
    span: usize,
}

impl Clock {
    /// Creates a clock at zero whose past has steps of `step`.
    pub fn new(depth: usize, step: f64) -> Clock {
        let mut times = vec![0.0; depth];
        for back in 0..depth {
            times[(depth - back) & (depth - 1)] = -(back as f64) * step;
        }
        Clock {
            times,
            mask: depth - 1,
            now: FIRST,
            step,
            pace: 1.0 / step,
            alike: 0,
            regular: false,
            span: depth,
        }
    }

    /// Sets the longest delay that is read from now on.
    pub fn reaches(&mut self, delay: f64, step: f64) {
        self.span = (delay / step) as usize + 4;
        self.alike = 0;
        self.regular = false;
    }

    pub fn time(&self, at: usize) -> f64 {
        self.times[at & self.mask]
    }

    /// Returns the latest step.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Returns the number of step ends kept.
    pub fn depth(&self) -> usize {
        self.times.len()
    }

    /// Doubles the number of step ends kept. Older ones continue the oldest step.
    pub fn deepen(&mut self) {
        let (old, mask) = (std::mem::take(&mut self.times), self.mask);
        let first = self.now - mask;
        self.mask = 2 * mask + 1;
        self.times = vec![0.0; 2 * old.len()];
        for back in 0..=self.mask {
            let at = self.now - back;
            self.times[at & self.mask] = if back <= mask {
                old[at & mask]
            } else {
                old[first & mask] - (back - mask) as f64 * self.step
            };
        }
    }

    /// Returns the index of the oldest step end kept.
    pub fn oldest(&self) -> usize {
        self.now + 2 - self.times.len()
    }

    /// Ends a step.
    pub fn tick(&mut self, time: f64, step: f64) {
        self.now += 1;
        self.times[self.now & self.mask] = time;
        self.regular = self.alike > self.span;
        self.alike = if step == self.step { self.alike + 1 } else { 0 };
        self.step = step;
        self.pace = 1.0 / step;
        self.regular &= self.alike > 0;
    }

    /// Returns the last step end, before the latest, for which `is` holds. `is` must hold for the oldest, and
    /// must not hold again after a step end for which it fails. The search begins `back` steps before now.
    #[inline]
    pub fn search(&self, back: usize, is: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (self.oldest(), self.now);
        // Widen the interval around the guess.
        let guess = self.now - back.clamp(1, self.now - low);
        let mut reach = 1;
        if is(guess) {
            low = guess;
            while low + reach < high {
                if !is(low + reach) {
                    high = low + reach;
                    break;
                }
                low += reach;
                reach *= 2;
            }
        } else {
            high = guess;
            while low + reach < high {
                if is(high - reach) {
                    low = high - reach;
                    break;
                }
                high -= reach;
                reach *= 2;
            }
        }
        while high - low > 1 {
            let middle = (low + high) / 2;
            if is(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Returns the index and fraction of a past time, which is no earlier than the oldest kept.
    #[inline]
    pub fn place(&self, time: f64) -> (usize, f64) {
        let back = ((self.time(self.now) - time) * self.pace) as usize + 1;
        // With equal steps the index follows by division.
        if back < self.mask {
            let low = self.now - back;
            let (a, b) = (self.time(low), self.time(low + 1));
            if a < time && time < b {
                return (low, (time - a) / (b - a));
            }
        }
        self.look_for(back, time)
    }

    #[inline(never)]
    fn look_for(&self, back: usize, time: f64) -> (usize, f64) {
        if time <= self.time(self.oldest()) {
            return (self.oldest(), 0.0);
        }
        let low = self.search(back, |at| self.time(at) <= time);
        let (a, b) = (self.time(low), self.time(low + 1));
        (low, (time - a) / (b - a))
    }
}

/// A delay, as steps back from now and a fraction of a step forward.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tap {
    pub delay: f64,
    pub back: u32,
    pub fraction: f64,
}

impl Tap {
    pub fn new(delay: f64) -> Tap {
        Tap { delay, back: 0, fraction: 0.0 }
    }

    /// Recomputes the steps and the fraction from the clock.
    pub fn locate(&mut self, clock: &Clock) {
        let (place, fraction) = clock.place(clock.time(clock.now) - self.delay);
        self.back = (clock.now - place) as u32;
        self.fraction = fraction;
    }
}

/// Rings of equal depth, one per quantity. The values of one instant are contiguous, so
/// quantities with the same delay are read as vectors.
#[derive(Clone, Debug)]
pub(crate) struct Histories {
    /// The values, padded at the end for groups that begin anywhere.
    values: Vec<f64>,
    rows: usize,
    mask: usize,
}

impl Histories {
    /// Creates `rows` rings of zeros. `depth` is a power of two.
    pub fn new(rows: usize, depth: usize) -> Histories {
        Histories { values: vec![0.0; rows * depth + WIDTH], rows, mask: depth - 1 }
    }

    /// Doubles the depth at `now`. Older values repeat those of the oldest instant.
    pub fn deepen(&mut self, now: usize) {
        let fresh = Histories::new(self.rows, 2 * (self.mask + 1));
        let old = std::mem::replace(self, fresh);
        for back in 0..=self.mask {
            let from = now - back.min(old.mask);
            self.of_mut(now - back).copy_from_slice(old.of(from));
        }
    }

    /// Returns all values of an instant.
    #[inline]
    pub fn of(&self, at: usize) -> &[f64] {
        let first = (at & self.mask) * self.rows;
        &self.values[first..first + self.rows]
    }

    /// Returns the values of an instant from a row on, in groups, with the padding.
    #[inline(always)]
    pub fn from(&self, row: usize, at: usize) -> &[[f64; WIDTH]] {
        let first = (at & self.mask) * self.rows + row;
        self.values[first..].as_chunks().0
    }

    /// Returns all values of an instant for writing.
    #[inline]
    pub fn of_mut(&mut self, at: usize) -> &mut [f64] {
        let first = (at & self.mask) * self.rows;
        &mut self.values[first..first + self.rows]
    }

    #[inline]
    pub fn get(&self, row: usize, at: usize) -> f64 {
        self.values[(at & self.mask) * self.rows + row]
    }

    /// Returns the value of a row at a place of the clock.
    #[inline]
    pub fn at(&self, row: usize, (at, part): (usize, f64)) -> f64 {
        let (a, b) = (self.get(row, at), self.get(row, at + 1));
        a + part * (b - a)
    }

    /// Returns the values of a group of rows as they are seen by a tap.
    #[inline(always)]
    pub fn read<const N: usize>(&self, group: usize, now: usize, tap: &Tap) -> [f64; N] {
        let row = |at| &self.of(at)[N * group..][..N];
        let at = now - tap.back as usize;
        let (a, b) = (row(at), row(at + 1));
        std::array::from_fn(|i| a[i] + tap.fraction * (b[i] - a[i]))
    }
}
