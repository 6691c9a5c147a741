//! The smallest and the largest sample within a span of time.

use accord_units::{Duration, Time};
use std::collections::VecDeque;

/// The samples within a span of time that may still become its extreme, in order of time. An
/// instance tracks one of the extremes only.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent(VecDeque<(Time, Duration)>);

impl Recent {
    /// Adds a sample. Returns the smallest sample of the last `span`.
    pub fn min(&mut self, sample: Duration, span: Duration, now: Time) -> Duration {
        self.push(sample, span, now, |old, new| old < new)
    }

    /// Adds a sample. Returns the largest sample of the last `span`.
    pub fn max(&mut self, sample: Duration, span: Duration, now: Time) -> Duration {
        self.push(sample, span, now, |old, new| old > new)
    }

    /// Adds a sample, and drops those that are older than `span` or less extreme.
    fn push(
        &mut self,
        sample: Duration,
        span: Duration,
        now: Time,
        beats: fn(&Duration, &Duration) -> bool,
    ) -> Duration {
        while self.0.back().is_some_and(|(_, old)| !beats(old, &sample)) {
            self.0.pop_back();
        }
        self.0.push_back((now, sample));
        while self.0.len() > 1 && self.0[0].0 + span < now {
            self.0.pop_front();
        }
        self.0[0].1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_are_the_extremes_of_the_span(
            samples in prop::collection::vec((0..50u64, 0..20u64), 1..100),
            span in 0..100u64,
        ) {
            let (mut min, mut max) = (Recent::default(), Recent::default());
            let mut all: Vec<(u64, u64)> = Vec::new();
            let mut now = 0;
            for (sample, gap) in samples {
                now += gap;
                all.push((now, sample));
                let at = Time::from_ps(now);
                let least = min.min(Duration::from_ps(sample), Duration::from_ps(span), at);
                let most = max.max(Duration::from_ps(sample), Duration::from_ps(span), at);
                let recent = all.iter().filter(|(t, _)| t + span >= now).map(|(_, s)| *s);
                prop_assert_eq!(least.as_ps(), recent.clone().min().expect("this one"));
                prop_assert_eq!(most.as_ps(), recent.max().expect("this one"));
            }
        }
    }
}
