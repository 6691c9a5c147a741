//! The loop of flows that decide once per round trip and whose windows bound the outstanding data.
//!
//! In the delay equations of this crate a window acts at once. Here report n decides the window w, from the
//! queue that its probe found a round trip earlier. The flows of the bottleneck move together, so the queue
//! is the outstanding data less the pipe. With deviations from the equilibrium in bytes, o the outstanding
//! data when a report arrives, and m the measurement of the probe sent at that time:
//!
//! ```text
//! w(n+1) = w(n) − κ·m(n)                                              [Xia05 eq. 10]
//! o(n+1) = min(w(n), min(o(n), w(n)) + w(n) − r(n))
//! m(n)   = o(n), of each second probe min(o(n), w(n)) with turns
//! r(n)   = m(n−1) at the latest round trip, r(n−1) + (m(n−1) − r(n−1))/8 at the smoothed one
//! ```
//!
//! The minimum is the window. Its second argument is the pace w/r. A sender with more outstanding data than
//! its window stops, and then sends at that pace for the rest of the round trip.
//!
//! Data packets take longer than a probe by the transmission time of a packet, so the pace exceeds the window
//! by a packet per round trip. The pace therefore does not hold back deviations within a packet. These follow
//! o(n+1) = w(n):
//!
//! ```text
//! z² − z + κ = 0
//! ```
//!
//! which is stable up to κ = 1. The whole loop is linear in each of several cones, so it also has a single
//! rate of growth, which iteration finds. If a law bounds the growth of a window by a packet per round trip,
//! deviations of many packets do not grow. For such a law, the whole loop gives a bound.

use accord_family::{Pace, Rounds};
use nalgebra::Complex;
use std::f64::consts::TAU;

/// The number of rounds over which growth is measured. The same number before them is ignored.
const ROUNDS: u32 = 2000;

/// A loop at an equilibrium.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Loop {
    /// The gain κ of the flows, without the contracted part.
    pub gain: f64,
    /// The largest stable gain.
    pub largest: f64,
    /// The frequency of the cycle at that gain, in rad/s.
    pub frequency: f64,
    /// The growth and the frequency at the flows' gain, in 1/s.
    pub root: Complex<f64>,
}

impl Loop {
    /// Returns the loop of deviations within a packet, over round trips of `rtt` seconds: z² − z +
    /// κ = 0.
    pub fn within_a_packet(gain: f64, rtt: f64) -> Loop {
        let z = (Complex::new(1.0 - 4.0 * gain, 0.0).sqrt() + 1.0) / 2.0;
        Loop { gain, largest: 1.0, frequency: TAU / 6.0 / rtt, root: z.ln() / rtt }
    }

    /// Returns the whole loop, for deviations of many packets.
    pub fn whole(rounds: Rounds, gain: f64, rtt: f64) -> Loop {
        let largest = largest(rounds);
        let (growth, frequency) = moves(rounds, gain);
        // An incomplete cycle does not count.
        let growth = if gain <= largest { growth.min(-f64::EPSILON) } else { growth.max(0.0) };
        Loop {
            gain,
            largest,
            frequency: moves(rounds, largest).1 / rtt,
            root: Complex::new(growth, frequency) / rtt,
        }
    }

    /// Returns the factor on the gain above which the loop cycles.
    pub fn factor(&self) -> f64 {
        self.largest / self.gain
    }

    /// Returns whether the loop does not grow.
    pub fn is_stable(&self) -> bool {
        self.gain <= self.largest
    }
}

/// Returns the largest gain at which deviations of any size do not grow. It is found by iteration, with
/// bisection of κ.
pub fn largest(rounds: Rounds) -> f64 {
    match (rounds.pace, rounds.turns) {
        (Pace::Latest, true) => 0.57847,
        (Pace::Latest, false) => 0.47765,
        (Pace::Smoothed, true) => 0.75733,
        (Pace::Smoothed, false) => 0.47955,
        (Pace::Least, true) => 4.0 / 3.0,
        (Pace::Least, false) => 1.0,
    }
}

/// Returns the growth per round of the whole loop, and its frequency in radians per round.
fn moves(rounds: Rounds, gain: f64) -> (f64, f64) {
    let (mut w, mut o, mut m, mut r) = (1.0f64, 1.0f64, 0.0f64, 0.0f64);
    let (mut growth, mut turns) = (0.0, 0u32);
    for n in 0..2 * ROUNDS {
        r += match rounds.pace {
            Pace::Latest => m - r,
            Pace::Smoothed => (m - r) / 8.0,
            Pace::Least => 0.0,
        };
        let before = m;
        m = if rounds.turns && n % 2 == 1 { o.min(w) } else { o };
        let paced = match rounds.pace {
            Pace::Least => w,
            Pace::Latest | Pace::Smoothed => o.min(w) + w - r,
        };
        (w, o) = (w - gain * m, paced.min(w));
        let size = [w, o, m, r].into_iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        if size < f64::MIN_POSITIVE {
            return (f64::NEG_INFINITY, 0.0);
        }
        [w, o, m, r] = [w, o, m, r].map(|v| v / size);
        if n >= ROUNDS {
            growth += size.ln();
            turns += u32::from(before <= 0.0 && m > 0.0);
        }
    }
    let per_round = |v: f64| v / f64::from(ROUNDS);
    (per_round(growth), per_round(TAU * f64::from(turns)))
}
