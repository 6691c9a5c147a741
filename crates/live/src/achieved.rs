//! The rate and delay at which a link's packets were handed to the kernel.

use crate::lateness::Lateness;
use accord_units::{Bytes, Duration, Rate, Time};

/// The measured rate and delay of a link: the lateness of packets that come out of it, and their
/// rate while the link is busy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Achieved {
    /// The lateness of packets at the time of their hand-over to the kernel.
    pub lateness: Lateness,
    /// The sum of the lateness.
    late: Duration,
    /// The real time between packets that left the port back to back, and their bytes.
    busy: Duration,
    busy_bytes: u64,
    /// The nominal and the real time of the last packet.
    last: Option<(Time, Time)>,
}

impl Achieved {
    /// Records a packet that was due at `nominal` and came out at `real`. The link has this rate.
    pub fn released(&mut self, nominal: Time, real: Time, size: Bytes, rate: Rate) {
        let late = real.since(nominal);
        self.lateness.add(late);
        self.late += late;
        if let Some((last_nominal, last_real)) = self.last
            // The difference may include a rounding of the service.
            && nominal.since(last_nominal) <= rate.transmission(size) + Duration::from_ns(1)
        {
            self.busy += real.since(last_real);
            self.busy_bytes += size.get();
        }
        self.last = Some((nominal, real));
    }

    /// Returns the rate while the link was busy, if that was at least `least` in total.
    pub fn rate(&self, least: Duration) -> Option<Rate> {
        let rate = self.busy_bytes as f64 * 8.0 / self.busy.as_secs_f64();
        (self.busy >= least).then(|| Rate::from_bps_f64(rate))
    }

    /// Returns the mean lateness of packets, or `None` if there were none.
    pub fn late(&self) -> Option<Duration> {
        let n = self.lateness.count();
        (n > 0).then(|| self.late.mul_f64(1.0 / n as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes at 1 Mbps take 8 ms. Two busy periods of three packets, all 1 ms late except the
    /// last of each, which are 2 ms late.
    #[test]
    fn the_achieved_rate_is_that_of_busy_periods() {
        let mut achieved = Achieved::default();
        let rate = Rate::from_bps(1_000_000);
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        for (nominal, real) in [(8, 9), (16, 17), (24, 26), (508, 509), (516, 517), (524, 526)] {
            achieved.released(ms(nominal), ms(real), Bytes::new(1000), rate);
        }
        // Four packets in 8 + 9 + 8 + 9 ms.
        let rate = Rate::from_bps_f64(32_000.0 / 0.034);
        assert_eq!(achieved.rate(Duration::from_ms(34)), Some(rate));
        assert_eq!(achieved.rate(Duration::from_ms(35)), None, "it was not busy for that time");
        assert_eq!(achieved.late(), Some(Duration::from_ps(1_333_333_333)));
    }
}
