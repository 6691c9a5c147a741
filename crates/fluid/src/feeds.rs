//! Arrivals at a queue: those of kinds of flows, each after a delay.
//!
//! Kinds side by side whose delays end in the same step are read as they lie in the histories:
//! of the interpolation only the fraction is their own.

use crate::history::{Clock, Histories, Tap};
use crate::wide::wide;

/// The number of quantities that are summed side by side, two or four by an instruction.
pub(crate) const WIDTH: usize = 4;

/// The total of such sums. Not inlined: the compiler would choose which two sums share a register
/// by this expression, and then load their parts one by one.
#[inline(never)]
pub(crate) fn total(sums: &[f64; WIDTH]) -> f64 {
    (sums[0] + sums[1]) + (sums[2] + sums[3])
}

/// The kinds that arrive at a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feeds {
    pub kinds: Vec<u32>,
    /// The number of flows: those of the kind, or one at a private queue.
    many: Vec<f64>,
    taps: Vec<Tap>,
    fraction: Vec<f64>,
    spans: Vec<Span>,
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
        self.kinds.push(kind as u32);
        self.many.push(many);
        self.taps.push(Tap::new(delay));
        self.fraction.push(0.0);
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

    /// Returns the number of flows of each kind of a span, and its fraction of a step.
    #[inline(always)]
    fn weights(&self, s: &Span) -> (Wide<'_>, Wide<'_>) {
        let range = s.first..s.first + s.len;
        let (many, part) = (&self.many[range.clone()], &self.fraction[range]);
        (many.as_chunks(), part.as_chunks())
    }
}

wide! {
    /// The sum of a quantity over all flows of some feeds, as it is at the queue.
    pub(crate) fn sum(feeds: &Feeds, of: &Histories, now: usize) -> f64 {
        let mut sums = [0.0; WIDTH];
        for s in &feeds.spans {
            let ((a, rest_a), (b, rest_b)) = s.of(of, now);
            let ((many, rest_many), (part, rest_part)) = feeds.weights(s);
            for (((a, b), many), part) in a.iter().zip(b).zip(many).zip(part) {
                let value = weigh(many, part, a, b);
                sums = std::array::from_fn(|j| sums[j] + value[j]);
            }
            let rest = rest_a.iter().zip(rest_b).zip(rest_many).zip(rest_part);
            for (((a, b), many), part) in rest {
                sums[0] += many * (a + part * (b - a));
            }
        }
        total(&sums)
    }
}

wide! {
    /// The same sum, and another quantity of each kind, times the number of its flows, as it is at the
    /// queue.
    pub(crate) fn sum_and_gather(
        feeds: &Feeds,
        of: &Histories,
        other: &Histories,
        now: usize,
        into: &mut [f64],
    ) -> f64 {
        let mut sums = [0.0; WIDTH];
        for s in &feeds.spans {
            let ((a, rest_a), (b, rest_b)) = s.of(of, now);
            let ((c, rest_c), (d, rest_d)) = s.of(other, now);
            let ((many, rest_many), (part, rest_part)) = feeds.weights(s);
            let (into, rest_into) = into[s.first..][..s.len].as_chunks_mut::<WIDTH>();
            for i in 0..into.len() {
                let value = weigh(&many[i], &part[i], &a[i], &b[i]);
                sums = std::array::from_fn(|j| sums[j] + value[j]);
                into[i] = weigh(&many[i], &part[i], &c[i], &d[i]);
            }
            for i in 0..rest_into.len() {
                let value = |a: f64, b: f64| rest_many[i] * (a + rest_part[i] * (b - a));
                sums[0] += value(rest_a[i], rest_b[i]);
                rest_into[i] = value(rest_c[i], rest_d[i]);
            }
        }
        total(&sums)
    }
}

/// Values side by side, so many at once, and the rest.
type Wide<'a> = (&'a [[f64; WIDTH]], &'a [f64]);

impl Span {
    /// A quantity of its kinds at the step ends before and after.
    #[inline(always)]
    fn of<'a>(&self, of: &'a Histories, now: usize) -> (Wide<'a>, Wide<'a>) {
        let at = |at| of.of(at)[self.kind..][..self.len].as_chunks();
        (at(now - self.back), at(now - self.back + 1))
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
