//! The past: ring buffers on a common clock, read at a delay in constant time.
//!
//! Steps end where something happens, so they are not all alike. Where a delay leads to is
//! kept as a whole number of steps and a fraction ([`Tap`]); both are worked out anew only
//! while the steps that they span differ.

use crate::wide::WIDTH;

/// Index of the first step end; a multiple of all depths, so that the past has indices, too.
const FIRST: usize = 1 << 26;

/// The ends of steps.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    times: Vec<f64>,
    mask: usize,
    /// Index of the latest step end.
    pub now: usize,
    step: f64,
    /// One over it.
    pace: f64,
    /// The number of the latest steps that are alike.
    alike: usize,
    /// Taps need no work: everything that they span is alike, and has been before.
    pub regular: bool,
    /// Steps that the longest delay spans.
    span: usize,
}

impl Clock {
    /// A clock at zero, whose past is as regular as `step`.
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

    /// The longest delay from now on.
    pub fn reaches(&mut self, delay: f64, step: f64) {
        self.span = (delay / step) as usize + 4;
        self.alike = 0;
        self.regular = false;
    }

    pub fn time(&self, at: usize) -> f64 {
        self.times[at & self.mask]
    }

    /// The latest step.
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Returns the number of step ends that are kept.
    pub fn depth(&self) -> usize {
        self.times.len()
    }

    /// Keeps twice as many from now on; what came before is as regular as the last step.
    pub fn deepen(&mut self) {
        let (old, mask) = (std::mem::take(&mut self.times), self.mask);
        let first = self.now - mask;
        self.mask = 2 * mask + 1;
        self.times = vec![0.0; 2 * old.len()];
        for back in 0..=self.mask {
            let at = self.now - back;
            self.times[at & self.mask] = match back <= mask {
                true => old[at & mask],
                false => old[first & mask] - (back - mask) as f64 * self.step,
            };
        }
    }

    /// The oldest step end that is kept.
    pub fn oldest(&self) -> usize {
        self.now + 2 - self.times.len()
    }

    /// A step has ended.
    pub fn tick(&mut self, time: f64, step: f64) {
        self.now += 1;
        self.times[self.now & self.mask] = time;
        self.regular = self.alike > self.span;
        self.alike = if step == self.step { self.alike + 1 } else { 0 };
        self.step = step;
        self.pace = 1.0 / step;
        self.regular &= self.alike > 0;
    }

    /// The last step end but the latest of which something is true that is true of the oldest,
    /// and of none after one of which it is not; looked for first so many steps `back`.
    #[inline]
    pub fn search(&self, back: usize, is: impl Fn(usize) -> bool) -> usize {
        let (mut low, mut high) = (self.oldest(), self.now);
        // Around the guess, further and further away.
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

    /// The place of a time in the past, not before the oldest that is kept.
    #[inline]
    pub fn place(&self, time: f64) -> (usize, f64) {
        let back = ((self.time(self.now) - time) * self.pace) as usize + 1;
        // Where steps are alike it is known.
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
        Tap {
            delay,
            back: 0,
            fraction: 0.0,
        }
    }

    /// Works out where it leads to now.
    pub fn locate(&mut self, clock: &Clock) {
        let (place, fraction) = clock.place(clock.time(clock.now) - self.delay);
        self.back = (clock.now - place) as u32;
        self.fraction = fraction;
    }
}

/// Rings of equal depth, one for each of many quantities. Values of one instant lie side by
/// side, so that quantities with the same delay are read as they lie.
#[derive(Clone, Debug)]
pub(crate) struct Histories {
    /// With room behind, for groups of quantities that begin anywhere.
    values: Vec<f64>,
    rows: usize,
    mask: usize,
}

impl Histories {
    /// `rows` rings, all zero. `depth` is a power of two.
    pub fn new(rows: usize, depth: usize) -> Histories {
        Histories {
            values: vec![0.0; rows * depth + WIDTH],
            rows,
            mask: depth - 1,
        }
    }

    /// Keeps twice as many from `now` on; before that, all is as at the oldest instant kept.
    pub fn deepen(&mut self, now: usize) {
        let fresh = Histories::new(self.rows, 2 * (self.mask + 1));
        let old = std::mem::replace(self, fresh);
        for back in 0..=self.mask {
            let from = now - back.min(old.mask);
            self.of_mut(now - back).copy_from_slice(old.of(from));
        }
    }

    /// All values of an instant.
    #[inline]
    pub fn of(&self, at: usize) -> &[f64] {
        let first = (at & self.mask) * self.rows;
        &self.values[first..first + self.rows]
    }

    /// The values of an instant from a row on, in groups, and all that lies behind.
    #[inline(always)]
    pub fn from(&self, row: usize, at: usize) -> &[[f64; WIDTH]] {
        let first = (at & self.mask) * self.rows + row;
        self.values[first..].as_chunks().0
    }

    /// All values of an instant, to be written.
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
