//! The queuing delay from a filtered delay and a history of base delays [RFC 6817 §2.4.2].

use accord_units::{Duration, Time};
use std::collections::VecDeque;

/// The time that an entry of the history covers.
const MINUTE: Duration = Duration::from_secs(60);

/// The smallest delays of the last minutes, and the latest samples.
#[derive(Clone, Debug)]
pub(crate) struct QueuingDelay {
    /// base_delays: the smallest delay of each minute, in order of time.
    base: VecDeque<Duration>,
    minutes: usize,
    /// The time at which the last entry of `base` began.
    rolled: Time,
    /// current_delays: the latest samples and their times, in order of time.
    current: VecDeque<(Time, Duration)>,
    samples: usize,
}

impl QueuingDelay {
    /// Creates an estimator that keeps `minutes` minutes of base delays and filters `samples`
    /// samples.
    pub fn new(minutes: usize, samples: usize) -> QueuingDelay {
        QueuingDelay {
            base: VecDeque::new(),
            minutes: minutes.max(1),
            rolled: Time::ZERO,
            current: VecDeque::new(),
            samples: samples.max(1),
        }
    }

    /// Takes a sample of the round-trip time. Returns the queuing delay.
    pub fn push(&mut self, sample: Duration, now: Time) -> Duration {
        match self.base.back_mut() {
            Some(newest) if now.since(self.rolled) < MINUTE => *newest = sample.min(*newest),
            _ => {
                self.rolled = now;
                self.base.push_back(sample);
                while self.base.len() > self.minutes {
                    self.base.pop_front();
                }
            }
        }
        self.current.push_back((now, sample));
        // No sample is older than a round-trip time [RFC 6817 §2.5].
        let is_old = |&(at, _): &(Time, Duration)| at + sample < now;
        while self.current.len() > self.samples || self.current.front().is_some_and(is_old) {
            self.current.pop_front();
        }
        let current = self.current.iter().map(|&(_, delay)| delay).min().unwrap_or(sample);
        current.saturating_sub(self.base_delay().unwrap_or(sample))
    }

    /// The time that the history covers.
    pub fn memory(&self) -> Duration {
        MINUTE * self.minutes as u64
    }

    /// The base delay, once there is a sample.
    pub fn base_delay(&self) -> Option<Duration> {
        self.base.iter().copied().min()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(n: u64) -> Duration {
        Duration::from_ms(n)
    }

    #[test]
    fn the_filter_is_the_smallest_of_the_latest_samples() {
        let mut delay = QueuingDelay::new(10, 4);
        let at = |i: u64| Time::ZERO + ms(i);
        assert_eq!(delay.push(ms(50), at(0)), ms(0));
        for i in 1..4 {
            assert_eq!(delay.push(ms(80), at(i)), ms(0), "the first is one of four");
        }
        assert_eq!(delay.push(ms(80), at(4)), ms(30));
        assert_eq!(delay.push(ms(60), at(5)), ms(10));
    }

    #[test]
    fn the_filter_forgets_a_sample_after_a_round_trip() {
        let mut delay = QueuingDelay::new(10, 4);
        let at = |i: u64| Time::ZERO + ms(i);
        assert_eq!(delay.push(ms(50), at(0)), ms(0));
        assert_eq!(delay.push(ms(80), at(80)), ms(0), "just a round trip ago");
        assert_eq!(delay.push(ms(80), at(81)), ms(30));
    }

    #[test]
    fn base_delays_are_forgotten_after_their_minutes() {
        let mut delay = QueuingDelay::new(2, 1);
        let at = |s: u64| Time::ZERO + Duration::from_secs(s);
        delay.push(ms(50), at(0));
        assert_eq!(delay.push(ms(80), at(60)), ms(30));
        assert_eq!(delay.push(ms(80), at(119)), ms(30));
        assert_eq!(delay.push(ms(80), at(120)), ms(0));
        assert_eq!(delay.base_delay(), Some(ms(80)));
    }
}
