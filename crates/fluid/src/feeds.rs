//! What arrives at a queue: kinds of flows, each after a delay.
//!
//! Kinds side by side whose delays end in the same step are read as they lie in the histories:
//! of the interpolation only the fraction is their own.

use crate::history::{Clock, Histories, Tap};

/// The kinds that arrive at a queue.
#[derive(Clone, Debug, Default)]
pub(crate) struct Feeds {
    pub kinds: Vec<u32>,
    /// How many flows: those of the kind, or one at a private queue.
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

    /// The sum of a quantity over all flows, as it is at the queue.
    #[inline]
    pub fn sum(&self, of: &Histories, now: usize) -> f64 {
        let mut sums = [0.0; 4];
        for s in &self.spans {
            let at = now - s.back;
            let a = &of.of(at)[s.kind..][..s.len];
            let b = &of.of(at + 1)[s.kind..][..s.len];
            let many = &self.many[s.first..][..s.len];
            let fraction = &self.fraction[s.first..][..s.len];
            let value = |i: usize| many[i] * (a[i] + fraction[i] * (b[i] - a[i]));
            let whole = s.len / 4 * 4;
            for i in (0..whole).step_by(4) {
                for (j, sum) in sums.iter_mut().enumerate() {
                    *sum += value(i + j);
                }
            }
            for i in whole..s.len {
                sums[0] += value(i);
            }
        }
        (sums[0] + sums[1]) + (sums[2] + sums[3])
    }

    /// A quantity of each kind, times the number of its flows, as it is at the queue.
    #[inline]
    pub fn gather(&self, of: &Histories, now: usize, into: &mut [f64]) {
        for s in &self.spans {
            let at = now - s.back;
            let a = &of.of(at)[s.kind..][..s.len];
            let b = &of.of(at + 1)[s.kind..][..s.len];
            let many = &self.many[s.first..][..s.len];
            let fraction = &self.fraction[s.first..][..s.len];
            let into = &mut into[s.first..][..s.len];
            for i in 0..s.len {
                into[i] = many[i] * (a[i] + fraction[i] * (b[i] - a[i]));
            }
        }
    }
}
