//! Arrivals at a queue: the delayed sending of each class of flows.
//!
//! Adjacent classes whose delays end in the same step are read from the histories as contiguous rows. Only
//! the fraction of the interpolation differs. Rows are read in groups of [`WIDTH`]. The last group may extend
//! beyond the span, because the next span overwrites the excess. No class therefore needs a scalar read.

use crate::history::{Clock, Histories, Tap};
use crate::wide::{WIDTH, padded, total, wide};

/// The classes that arrive at a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feeds {
    pub classes: Vec<u32>,
    /// The number of flows: those of the class, or one at a private queue. This list and the fractions of a
    /// step are [`padded`].
    many: Vec<f64>,
    fraction: Vec<f64>,
    taps: Vec<Tap>,
    spans: Vec<Span>,
    alone: Option<Alone>,
}

/// The only class that arrives at a queue, the number of its flows, and its delay.
#[derive(Clone, Copy, Debug)]
struct Alone {
    class: usize,
    many: f64,
    tap: Tap,
}

impl Alone {
    /// Returns a quantity of the flows as seen at the queue.
    #[inline]
    fn read(&self, of: &Histories, now: usize) -> f64 {
        let at = now - self.tap.back as usize;
        let (a, b) = (of.get(self.class, at), of.get(self.class, at + 1));
        self.many * (a + self.tap.fraction * (b - a))
    }
}

/// A span of adjacent classes whose delays are the same number of whole steps.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: usize,
    len: usize,
    class: usize,
    back: usize,
}

impl Feeds {
    pub fn push(&mut self, class: usize, many: f64, delay: f64) {
        self.many.truncate(self.classes.len());
        self.classes.push(class as u32);
        self.many.push(many);
        self.taps.push(Tap::new(delay));
        let padded = padded(self.classes.len());
        for array in [&mut self.many, &mut self.fraction] {
            array.resize(padded, 0.0);
        }
    }

    /// Converts the delays to steps and fractions of the current clock.
    pub fn locate(&mut self, clock: &Clock) {
        self.spans.clear();
        for (i, tap) in self.taps.iter_mut().enumerate() {
            tap.locate(clock);
            self.fraction[i] = tap.fraction;
            let (class, back) = (self.classes[i] as usize, tap.back as usize);
            match self.spans.last_mut() {
                Some(s) if s.back == back && s.class + s.len == class => s.len += 1,
                _ => self.spans.push(Span { first: i, len: 1, class, back }),
            }
        }
        self.alone = match self.classes[..] {
            [class] => Some(Alone { class: class as usize, many: self.many[0], tap: self.taps[0] }),
            _ => None,
        };
    }

    /// Returns the sum of a quantity over all flows, as seen at the queue.
    #[inline]
    pub fn sum(&self, of: &Histories, now: usize) -> f64 {
        match &self.alone {
            Some(alone) => alone.read(of, now),
            None => sum(self, of, now),
        }
    }

    /// Returns the same sum, and writes another quantity of each class, times the number of its
    /// flows, as seen at the queue.
    #[inline]
    pub fn sum_and_gather(
        &self,
        of: &Histories,
        other: &Histories,
        now: usize,
        into: &mut [f64],
    ) -> f64 {
        match &self.alone {
            Some(alone) => {
                into[0] = alone.read(other, now);
                alone.read(of, now)
            }
            None => sum_and_gather(self, of, other, now, into),
        }
    }

    /// Returns the correction of the sum for bytes sent before routes changed from `before` to
    /// these: all bytes sent so far by classes that are new here, less those of classes that left.
    pub fn beyond(&self, before: &Feeds, sent: &[f64]) -> f64 {
        if self.classes == before.classes {
            return 0.0;
        }
        let all = |feeds: &Feeds, other: &Feeds| -> f64 {
            let classes = feeds.classes.iter().zip(&feeds.many);
            let alone = classes.filter(|(k, _)| other.classes.binary_search(k).is_err());
            alone.map(|(&k, many)| many * sent[k as usize]).sum()
        };
        all(self, before) - all(before, self)
    }

    /// Returns the number of flows of each class of a span, and its fraction of a step, in groups.
    #[inline(always)]
    fn weights(&self, s: &Span) -> impl Iterator<Item = (&[f64; WIDTH], &[f64; WIDTH])> {
        let groups = s.len.div_ceil(WIDTH);
        let many = &self.many[s.first..].as_chunks().0[..groups];
        many.iter().zip(self.fraction[s.first..].as_chunks().0)
    }
}

wide! {
    /// Implements [`Feeds::sum`].
    fn sum(feeds: &Feeds, of: &Histories, now: usize) -> f64 {
        let mut sums = [0.0; WIDTH];
        for s in &feeds.spans {
            let a = of.from(s.class, now - s.back);
            let b = of.from(s.class, now - s.back + 1);
            for (i, ((many, part), (a, b))) in feeds.weights(s).zip(a.iter().zip(b)).enumerate() {
                add(&mut sums, &weigh(many, part, a, b), s.len - i * WIDTH);
            }
        }
        total(sums)
    }
}

wide! {
    /// Implements [`Feeds::sum_and_gather`].
    fn sum_and_gather(
        feeds: &Feeds,
        of: &Histories,
        other: &Histories,
        now: usize,
        into: &mut [f64],
    ) -> f64 {
        let mut sums = [0.0; WIDTH];
        for s in &feeds.spans {
            let a = of.from(s.class, now - s.back);
            let b = of.from(s.class, now - s.back + 1);
            let c = other.from(s.class, now - s.back);
            let d = other.from(s.class, now - s.back + 1);
            let read = a.iter().zip(b).zip(c.iter().zip(d));
            let (into, _) = into[s.first..].as_chunks_mut::<WIDTH>();
            let groups = feeds.weights(s).zip(read).zip(into).enumerate();
            for (i, (((many, part), ((a, b), (c, d))), into)) in groups {
                add(&mut sums, &weigh(many, part, a, b), s.len - i * WIDTH);
                *into = weigh(many, part, c, d);
            }
        }
        into[feeds.classes.len()..].fill(0.0);
        total(sums)
    }
}

/// Returns `many` times the value interpolated from `a` to `b`.
#[inline(always)]
fn weigh(
    many: &[f64; WIDTH],
    part: &[f64; WIDTH],
    a: &[f64; WIDTH],
    b: &[f64; WIDTH],
) -> [f64; WIDTH] {
    std::array::from_fn(|j| many[j] * (a[j] + part[j] * (b[j] - a[j])))
}

/// Adds a group whose first `left` entries belong to the span. Adds it as a vector if all do, and otherwise
/// one by one.
#[inline(always)]
fn add(sums: &mut [f64; WIDTH], group: &[f64; WIDTH], left: usize) {
    if left >= WIDTH {
        for j in 0..WIDTH {
            sums[j] += group[j];
        }
    } else {
        for value in &group[..left] {
            sums[0] += value;
        }
    }
}
