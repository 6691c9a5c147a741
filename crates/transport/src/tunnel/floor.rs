//! The least one-way delay, from which queuing delay is counted.
//!
//! The two clocks have an unknown offset, and their rates differ by several parts per million. So a
//! raw delay is a linear function of time plus the queuing delay. Among all lines below the delays,
//! the one closest to them [Moo99] is an edge of their lower hull: the edge over the middle of the
//! window.
//!
//! A minimum counts for [`WINDOW`]. A route that gets shorter is detected at once. A longer route
//! counts as a queue until then.

use accord_units::{Duration, Time};
use std::collections::VecDeque;

/// The time for which a minimum counts.
const WINDOW: Duration = Duration::from_secs(300);
/// The length of a bucket. Only its least delay is kept.
const BUCKET: Duration = Duration::from_secs(1);
/// The time after which a slope is distinguishable from noise.
const LEAST: f64 = 60.0;
/// The largest difference of two clocks' rates. Quartz is within 100 ppm.
const SKEW: f64 = 200e-6;
/// A distance from the floor that exceeds any queue. A clock has stopped or jumped, so the floor is
/// void.
const STEP: Duration = Duration::from_secs(10);

/// The floor of raw one-way delays.
#[derive(Clone, Debug, Default)]
pub struct Floor {
    /// The least raw delay of each bucket: its time and the delay, both in seconds.
    least: VecDeque<(f64, f64)>,
    /// The start of the last bucket.
    began: Time,
    /// The floor: a delay, and its slope.
    line: Option<(f64, f64)>,
}

impl Floor {
    /// Takes a raw delay, the difference of two clocks in picoseconds. Returns the queuing delay:
    /// the part above the floor.
    pub fn observe(&mut self, raw: i64, now: Time) -> Duration {
        let (t, raw) = (now.as_secs_f64(), raw as f64 * 1e-12);
        let far = |(a, b): (f64, f64)| (raw - a - b * t).abs() > STEP.as_secs_f64();
        if self.line.is_some_and(far) {
            *self = Floor::default();
        }
        let full = now.since(self.began) >= BUCKET;
        match self.least.back_mut() {
            Some(last) if !full => {
                if raw < last.1 {
                    *last = (t, raw);
                }
            }
            _ => {
                self.least.push_back((t, raw));
                self.began = now;
                let oldest = t - WINDOW.as_secs_f64();
                while self.least.front().is_some_and(|(at, _)| *at < oldest) {
                    self.least.pop_front();
                }
                self.line = Some(self.fitted());
            }
        }
        // A new minimum counts at once.
        let (a, b) = self.line.unwrap_or((raw, 0.0));
        let a = a.min(raw - b * t);
        self.line = Some((a, b));
        Duration::from_secs_f64((raw - a - b * t).max(0.0))
    }

    /// Returns the floor of the buckets.
    fn fitted(&self) -> (f64, f64) {
        let slope = self.slope().clamp(-SKEW, SKEW);
        let rests = self.least.iter().map(|(t, raw)| raw - slope * t);
        (rests.fold(f64::INFINITY, f64::min), slope)
    }

    /// Returns the slope of the edge of the lower hull over the middle of the window.
    fn slope(&self) -> f64 {
        let (Some(first), Some(last)) = (self.least.front(), self.least.back()) else {
            return 0.0;
        };
        if last.0 - first.0 < LEAST {
            return 0.0;
        }
        let mut hull: Vec<(f64, f64)> = Vec::with_capacity(self.least.len());
        for &p in &self.least {
            while let [.., a, b] = hull[..] {
                // The turn from a over b to p is not to the left, so b is above the hull.
                if (b.0 - a.0) * (p.1 - a.1) > (b.1 - a.1) * (p.0 - a.0) {
                    break;
                }
                hull.pop();
            }
            hull.push(p);
        }
        let middle = (first.0 + last.0) / 2.0;
        let edge = hull.windows(2).find(|e| e[1].0 >= middle);
        edge.map_or(0.0, |e| (e[1].1 - e[0].1) / (e[1].0 - e[0].0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: f64 = 1e9;

    /// Observes the raw delay `raw`, a function of time in ms, every 100 ms for `seconds`. Returns
    /// the last queuing delays in ms.
    fn run(seconds: u64, raw: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut floor = Floor::default();
        let times = (0..10 * seconds).map(|i| Time::ZERO + Duration::from_ms(100 * i));
        let found: Vec<f64> = times
            .map(|now| floor.observe((raw(now.as_secs_f64()) * MS) as i64, now).as_ms_f64())
            .collect();
        found[found.len() - 200..].to_vec()
    }

    /// A queue of 0 to 20 ms that empties every 7 s.
    fn sawtooth(t: f64) -> f64 {
        20.0 * (t % 7.0) / 7.0
    }

    fn largest_error(found: &[f64], seconds: u64) -> f64 {
        let first = 10 * seconds as usize - found.len();
        let error = |(i, q): (usize, &f64)| (q - sawtooth((first + i) as f64 / 10.0)).abs();
        found.iter().enumerate().map(error).fold(0.0, f64::max)
    }

    #[test]
    fn an_offset_does_not_matter() {
        for offset in [-86_400e3, 0.0, 86_400e3] {
            let found = run(100, |t| offset + 15.0 + sawtooth(t));
            assert!(largest_error(&found, 100) < 0.1, "{offset}");
        }
    }

    #[test]
    fn skew_is_removed() {
        // 80 ppm are 24 ms in five minutes: more than the queue.
        for skew in [-80e-6, 80e-6] {
            let found = run(600, |t| 15.0 + skew * t * 1e3 + sawtooth(t));
            let error = largest_error(&found, 600);
            assert!(error < 0.5, "{error} ms");
        }
    }

    #[test]
    fn a_longer_route_is_found_out_after_the_window() {
        let route = |t: f64| if t < 100.0 { 15.0 } else { 45.0 };
        let found = run(120, |t| route(t) + sawtooth(t));
        assert!(largest_error(&found, 120) > 29.0, "it counts as queue");
        let found = run(700, |t| route(t) + sawtooth(t));
        assert!(largest_error(&found, 700) < 1.0);
    }

    #[test]
    fn a_clock_that_stood_still_is_noticed_at_once() {
        let stood = |t: f64| if t < 50.0 { 0.0 } else { 3_600e3 };
        let found = run(70, |t| stood(t) + sawtooth(t));
        assert!(largest_error(&found, 70) < 7.0);
        let found = run(90, |t| sawtooth(t) - stood(t));
        assert!(largest_error(&found, 90) < 0.1);
    }
}
