//! Live video after the statistical model of RFC 8593 §5.
//!
//! An encoder makes a frame per interval. The size of a frame is the target rate times the
//! interval. Both vary. The target follows the rate that congestion control allows.
//!
//! | what | law | key | default [RFC 8593 §5.3] |
//! |---|---|---|---|
//! | target rate R_v | the allowed rate, between R_min and R_max | `min`, `max` | – |
//! | reaction latency τ_v | the target changes once per τ_v at most | `latency` | 200 ms |
//! | frame interval | t_0 = 1/FPS, times 1 + a Laplace variable of scale `interval_scale` | `fps`, `interval_scale` | 30, 0.15 |
//! | frame size | B_0 = R_v·t_0/8, times 1 + a Laplace variable of scale `size_scale` | `size_scale` | 0.15 |
//! | transient | after a change by more than `change` of the target: K_d frames, the first of `burst_size`·B_0 and the others smaller, so all have the mean B_0 | `burst`, `burst_size`, `change` | 8, 3.24, 50 % |
//!
//! Departures. The size of a transient's first frame is relative to B_0, in the ratio of 13.5 KB to the 4.17
//! KB of the RFC's 1 Mbps, so a transient carries any target rate. Laplace variables are bounded by −1 and 1,
//! so no frame is negative and the means hold. Bytes are carried in whole packets, so the rest of a frame is
//! sent with the next.

use crate::draw::laplace;
use crate::random::Dice;
use accord_units::{Bytes, Duration, Rate, Time};

/// The parameters of a video source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Media {
    /// The lowest target rate.
    pub least: Rate,
    /// The highest target rate.
    pub most: Rate,
    /// The frames per second.
    pub fps: f64,
    /// The reaction latency.
    pub latency: Duration,
    /// The scale of the variation of frame sizes.
    pub size_scale: f64,
    /// The scale of the variation of frame intervals.
    pub interval_scale: f64,
    /// The number of frames of a transient. With 0 or 1 there are no transients.
    pub burst: u64,
    /// The size of the first frame of a transient, relative to the mean.
    pub burst_size: f64,
    /// The relative change of the target rate above which there is a transient.
    pub change: f64,
    /// The part of the run in which the source is silent. A transient follows.
    pub pause: Option<(Time, Time)>,
}

/// The state of an encoder.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoder {
    /// The target rate in bit/s. It is zero before the first frame.
    target: f64,
    /// The time from which the target may change again.
    settled: Time,
    /// The remaining frames of the transient.
    transient: u64,
    /// The bytes of frames that have not yet filled a packet.
    rest: f64,
}

impl Encoder {
    /// Sets the rate that congestion control allows, in bit/s. The encoder ignores it while it
    /// still reacts to an earlier one.
    pub fn allow(&mut self, media: &Media, allowed: f64, now: Time) {
        let (least, most) = (media.least.as_bps_f64(), media.most.as_bps_f64());
        let wanted = allowed.clamp(least.min(most), most);
        if now < self.settled || wanted == self.target {
            return;
        }
        if (wanted - self.target).abs() > media.change * self.target && media.burst > 1 {
            self.transient = media.burst;
        }
        self.target = wanted;
        self.settled = now + media.latency;
    }

    /// Makes a frame at `now`. Returns the number of packets that it fills, and the time until the
    /// next frame. In a pause there are no packets, and the next frame comes at the end of the
    /// pause.
    pub fn frame(
        &mut self,
        media: &Media,
        packet: Bytes,
        now: Time,
        dice: &mut Dice,
    ) -> (u64, Duration) {
        if let Some((start, end)) = media.pause
            && (start..end).contains(&now)
        {
            self.transient = if media.burst > 1 { media.burst } else { 0 };
            return (0, end.since(now));
        }
        if self.target == 0.0 {
            self.target = media.least.as_bps_f64();
        }
        let mean = self.target / 8.0 / media.fps;
        let varied = |dice: &mut Dice, scale| 1.0 + laplace(dice, scale).clamp(-1.0, 1.0);
        let size = match self.transient {
            0 => mean * varied(dice, media.size_scale),
            n => {
                self.transient -= 1;
                let others = (media.burst as f64 - media.burst_size) / (media.burst - 1) as f64;
                let first = n == media.burst;
                mean * if first { media.burst_size } else { others.max(0.2) }
            }
        };
        let bytes = self.rest + size;
        let packets = (bytes / packet.as_f64()).floor();
        self.rest = bytes - packets * packet.as_f64();
        let interval = varied(dice, media.interval_scale) / media.fps;
        // An interval of zero would stop the clock.
        let interval = Duration::from_secs_f64(interval.max(1e-6));
        (packets as u64, interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    const MEDIA: Media = Media {
        least: Rate::from_bps(150_000),
        most: Rate::from_bps(1_500_000),
        fps: 30.0,
        latency: Duration::from_ms(200),
        size_scale: 0.15,
        interval_scale: 0.15,
        burst: 8,
        burst_size: 3.24,
        change: 0.5,
        pause: None,
    };

    /// Frames of one byte per packet, so the number of packets is the size.
    fn frames(encoder: &mut Encoder, media: &Media, count: usize) -> Vec<(u64, f64)> {
        let mut dice = Dice::new(1, 0, Purpose::Demand);
        let frame = |_| {
            let (bytes, interval) = encoder.frame(media, Bytes::new(1), Time::ZERO, &mut dice);
            (bytes, interval.as_secs_f64())
        };
        (0..count).map(frame).collect()
    }

    /// A Laplace variable of scale b has standard deviation √2·b. Bounds at ±1 are met with
    /// probability exp(−1/0.15) = 0.0013. Tolerances are four standard errors.
    #[test]
    fn frames_vary_about_the_target_rate() {
        let mut encoder = Encoder::default();
        encoder.allow(&MEDIA, 1e6, Time::ZERO);
        frames(&mut encoder, &MEDIA, 8);
        let n = 100_000;
        let all = frames(&mut encoder, &MEDIA, n);
        let bytes: u64 = all.iter().map(|f| f.0).sum();
        let seconds: f64 = all.iter().map(|f| f.1).sum();
        let rate = bytes as f64 * 8.0 / seconds;
        assert!((rate / 1e6 - 1.0).abs() < 0.004, "{rate}");
        let mean = 1e6 / 240.0;
        let variance = all.iter().map(|f| (f.0 as f64 / mean - 1.0).powi(2)).sum::<f64>();
        let spread = (variance / n as f64).sqrt();
        assert!((spread - 0.2121).abs() < 0.004, "{spread}");
    }

    /// Without variation: 1 Mbps is 4166.7 bytes per frame, and 3.24 of that is 13.5 KB. The other
    /// seven frames have 4.76/7 of it. All eight together have 33 333 bytes, as eight other frames.
    #[test]
    fn a_change_begins_with_a_large_frame() {
        let even = Media { size_scale: 0.0, interval_scale: 0.0, ..MEDIA };
        let mut encoder = Encoder::default();
        encoder.allow(&even, 1e6, Time::ZERO);
        let sizes: Vec<u64> = frames(&mut encoder, &even, 9).iter().map(|f| f.0).collect();
        assert_eq!(sizes[0], 13_500);
        assert!(sizes[1..8].iter().all(|s| [2833, 2834].contains(s)), "{sizes:?}");
        assert_eq!(sizes[..8].iter().sum::<u64>(), 33_333);
        assert!([4166, 4167].contains(&sizes[8]));
        // A change of 40 % causes no transient, and changes within the latency are ignored.
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        encoder.allow(&even, 3e5, at(199));
        assert!([4166, 4167].contains(&frames(&mut encoder, &even, 1)[0].0));
        encoder.allow(&even, 1.4e6, at(200));
        assert!([5833, 5834].contains(&frames(&mut encoder, &even, 1)[0].0));
        // The target stays between the bounds.
        encoder.allow(&even, 1e9, at(400));
        assert_eq!(frames(&mut encoder, &even, 1)[0].0, 6250);
        encoder.allow(&even, 0.0, at(600));
        let least = frames(&mut encoder, &even, 8).iter().map(|f| f.0).sum::<u64>();
        assert!((4999..=5001).contains(&least), "{least}");
    }
}
