//! Arrivals at a queue: those of kinds of flows, each after a delay.
//!
//! Kinds side by side whose delays end in the same step are read as they lie in the histories:
//! of the interpolation only the fraction is their own. They are read in groups of [`WIDTH`], the
//! last of which may reach beyond them: what it writes there, the next ones write anew. So no
//! kind is read alone.

use crate::history::{Clock, Histories, Tap};
use crate::wide::{WIDTH, padded, total, wide};

/// The kinds that arrive at a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feeds {
    pub kinds: Vec<u32>,
    /// The number of flows: those of the kind, or one at a private queue. As the fractions of a step,
    /// in an array that is [`padded`].
    many: Vec<f64>,
    fraction: Vec<f64>,
    taps: Vec<Tap>,
    spans: Vec<Span>,
    alone: Option<Alone>,
}

/// The only kind that arrives at a queue, the number of its flows, and how far away it is.
#[derive(Clone, Copy, Debug)]
struct Alone {
    kind: usize,
    many: f64,
    tap: Tap,
}

impl Alone {
    /// Returns a quantity of the flows as it is at the queue.
    #[inline]
    fn read(&self, of: &Histories, now: usize) -> f64 {
        let at = now - self.tap.back as usize;
        let (a, b) = (of.get(self.kind, at), of.get(self.kind, at + 1));
        self.many * (a + self.tap.fraction * (b - a))
    }
}

/// Feeds side by side, of kinds side by side, the same number of steps away.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: usize,
    len: usize,
    kind: usize,
    back: usize,
}

impl Feeds {
    pub fn push(&mut self, kind: usize, many: f64, delay: f64) {
        self.many.truncate(self.kinds.len());
        self.kinds.push(kind as u32);
        self.many.push(many);
        self.taps.push(Tap::new(delay));
        let padded = padded(self.kinds.len());
        for array in [&mut self.many, &mut self.fraction] {
            array.resize(padded, 0.0);
        }
    }

    /// Works out where the delays lead to now.
    pub fn locate(&mut self, clock: &Clock) {
        self.spans.clear();
        for (i, tap) in self.taps.iter_mut().enumerate() {
            tap.locate(clock);
            self.fraction[i] = tap.fraction;
            let (kind, back) = (self.kinds[i] as usize, tap.back as usize);
            match self.spans.last_mut() {
                Some(s) if s.back == back && s.kind + s.len == kind => s.len += 1,
                _ => self.spans.push(Span {
                    first: i,
                    len: 1,
                    kind,
                    back,
                }),
            }
        }
        self.alone = match self.kinds[..] {
            [kind] => Some(Alone {
                kind: kind as usize,
                many: self.many[0],
                tap: self.taps[0],
            }),
            _ => None,
        };
    }

    /// Returns the sum of a quantity over all flows, as it is at the queue.
    #[inline]
    pub fn sum(&self, of: &Histories, now: usize) -> f64 {
        match &self.alone {
            Some(alone) => alone.read(of, now),
            None => sum(self, of, now),
        }
    }

    /// Returns the same sum, and writes another quantity of each kind, times the number of its flows, as it is
    /// at the queue.
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

    /// By how much the sum counts too much, or too little, for what was sent before routes
    /// changed from `before` to these: all that was sent till now by kinds that are new here,
    /// less that of those that are gone.
    pub fn beyond(&self, before: &Feeds, sent: &[f64]) -> f64 {
        if self.kinds == before.kinds {
            return 0.0;
        }
        let all = |feeds: &Feeds, other: &Feeds| -> f64 {
            let kinds = feeds.kinds.iter().zip(&feeds.many);
            let alone = kinds.filter(|(k, _)| other.kinds.binary_search(k).is_err());
            alone.map(|(&k, many)| many * sent[k as usize]).sum()
        };
        all(self, before) - all(before, self)
    }

    /// Returns the number of flows of each kind of a span, and its fraction of a step, in groups.
    #[inline(always)]
    fn weights(&self, s: &Span) -> impl Iterator<Item = (&[f64; WIDTH], &[f64; WIDTH])> {
        let groups = s.len.div_ceil(WIDTH);
        let many = &self.many[s.first..].as_chunks().0[..groups];
        many.iter().zip(self.fraction[s.first..].as_chunks().0)
    }
}

wide! {
    /// See [`Feeds::sum`].
    fn sum(feeds: &Feeds, of: &Histories, now: usize) -> f64 {
        let mut sums = [0.0; WIDTH];
        for s in &feeds.spans {
            let a = of.from(s.kind, now - s.back);
            let b = of.from(s.kind, now - s.back + 1);
            for (i, ((many, part), (a, b))) in feeds.weights(s).zip(a.iter().zip(b)).enumerate() {
                add(&mut sums, &weigh(many, part, a, b), s.len - i * WIDTH);
            }
        }
        total(sums)
    }
}

wide! {
    /// See [`Feeds::sum_and_gather`].
    fn sum_and_gather(
        feeds: &Feeds,
        of: &Histories,
        other: &Histories,
        now: usize,
        into: &mut [f64],
    ) -> f64 {
        let mut sums = [0.0; WIDTH];
        for s in &feeds.spans {
            let a = of.from(s.kind, now - s.back);
            let b = of.from(s.kind, now - s.back + 1);
            let c = other.from(s.kind, now - s.back);
            let d = other.from(s.kind, now - s.back + 1);
            let read = a.iter().zip(b).zip(c.iter().zip(d));
            let (into, _) = into[s.first..].as_chunks_mut::<WIDTH>();
            let groups = feeds.weights(s).zip(read).zip(into).enumerate();
            for (i, (((many, part), ((a, b), (c, d))), into)) in groups {
                add(&mut sums, &weigh(many, part, a, b), s.len - i * WIDTH);
                *into = weigh(many, part, c, d);
            }
        }
        into[feeds.kinds.len()..].fill(0.0);
        total(sums)
    }
}

/// Returns `many` times the value a part of the way from `a` to `b`.
#[inline(always)]
fn weigh(
    many: &[f64; WIDTH],
    part: &[f64; WIDTH],
    a: &[f64; WIDTH],
    b: &[f64; WIDTH],
) -> [f64; WIDTH] {
    std::array::from_fn(|j| many[j] * (a[j] + part[j] * (b[j] - a[j])))
}

/// Adds a group of which `left` are of a span: side by side if all are, or else one by one.
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
