//! Whether a quantity has settled: a test by batch means.
//!
//! The readings of a window are cut into [`BATCHES`] of equal length. The means of batches are nearly
//! normal, and nearly independent if a batch holds several cycles of what the quantity does; where
//! neighbours are correlated the error is widened as for a process of first order. A straight line is
//! fitted to them. The quantity has settled if the line neither rises nor falls over the window, at 99 %
//! confidence, or by at most [`DRIFT`] of the mean; and if it does so by less than [`UNSEEN`] of the mean at
//! 99 % confidence. The second bound also says how well the mean is known: the error of the line's rise is
//! √12 times that of the mean, so that the mean is known to within 1.1 % at 95 %.
//!
//! A drift that is no chance is judged over the jump that is to follow, which may be many times as long
//! as the window: it may come to no more than [`DRIFT`] there.
//!
//! A cycle that is longer than the window looks like a drift or like correlated batches, as long as it is
//! seen at all. What comes around once in several windows is not.

/// The number of batches of a window.
const BATCHES: usize = 32;
/// The drift over a window that does not count, relative to the mean.
const DRIFT: f64 = 0.01;
/// The drift that may not go unseen.
const UNSEEN: f64 = 0.05;
/// The quantile of Student's distribution for 99 % between both ends, with two degrees of freedom less
/// than there are batches.
const STUDENT: f64 = 2.750;
/// The largest correlation of neighbours that is believed.
const CORRELATION: f64 = 0.95;

/// The number of readings before the first judgement, and the number between two.
const FIRST: usize = 4 * BATCHES;
const EVERY: usize = 2 * BATCHES;
/// The number of readings of which every other is then forgotten.
const MOST: usize = 8 * BATCHES;

/// The means of the batches of a window.
type Batches = [f64; BATCHES];

/// What is known of a quantity that adds up: its sum at each reading, from the first on. There are as many
/// readings as there are periods between them.
#[derive(Clone, Debug, Default)]
pub struct Readings(Vec<f64>);

impl Readings {
    /// Forgets all readings.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes a reading.
    pub fn add(&mut self, sum: f64) {
        self.0.push(sum);
    }

    /// Returns the number of periods between readings.
    pub fn len(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// Returns whether to judge by as many readings.
    pub fn are_enough(&self) -> bool {
        self.len() >= FIRST && self.len().is_multiple_of(EVERY)
    }

    /// Returns whether there are as many readings as are kept.
    pub fn are_full(&self) -> bool {
        self.len() == MOST
    }

    /// Forgets every other reading.
    pub fn thin_out(&mut self) {
        self.0 = self.0.iter().copied().step_by(2).collect();
    }

    /// Judges the quantity by the later half of the readings, which are `period` seconds apart. Its rate is
    /// per second. Smaller than `grain` it counts as if it were that large: readings are no finer. The
    /// jump is `longer` than the window by this factor.
    pub fn judge(&self, period: f64, grain: f64, longer: f64) -> Steadiness {
        let half = self.len() / 2;
        let step = half / BATCHES;
        let span = step as f64 * period;
        let batches = std::array::from_fn(|i| {
            let at = half + i * step;
            (self.0[at + step] - self.0[at]) / span
        });
        judge(&batches, grain, longer.max(1.0))
    }

    /// Returns what was added over the later half of the readings.
    pub fn recent(&self) -> f64 {
        self.0
            .last()
            .map_or(0.0, |last| last - self.0[self.len() / 2])
    }
}

/// What a window says of a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steadiness {
    /// It has settled at this mean.
    Settled(f64),
    /// It would drift by this part of its mean over the jump.
    Drifts(f64),
    /// It varies so much that a drift of this part of its mean may go unseen.
    Varies(f64),
}

fn judge(batches: &Batches, grain: f64, longer: f64) -> Steadiness {
    let line = Trend::through(batches);
    let size = line.mean.abs().max(grain);
    let (drift, error) = (line.rise / size, line.error / size);
    if drift.abs() > error && longer * drift.abs() > DRIFT {
        Steadiness::Drifts(longer * drift)
    } else if drift.abs() + error > UNSEEN {
        Steadiness::Varies(drift.abs() + error)
    } else {
        Steadiness::Settled(line.mean)
    }
}

/// The straight line of least squares through the means of batches.
struct Trend {
    mean: f64,
    /// Its rise from the first batch to the last.
    rise: f64,
    /// The half-width of the confidence interval of the rise.
    error: f64,
}

impl Trend {
    fn through(batches: &Batches) -> Trend {
        let n = BATCHES as f64;
        let mean = batches.iter().sum::<f64>() / n;
        let places = || (0..BATCHES).map(|i| i as f64 - (n - 1.0) / 2.0);
        let squares: f64 = places().map(|x| x * x).sum();
        let points = || places().zip(batches.iter().map(|y| y - mean));
        let slope = points().map(|(x, y)| x * y).sum::<f64>() / squares;
        let residuals: Vec<f64> = points().map(|(x, y)| y - slope * x).collect();
        let own: f64 = residuals.iter().map(|r| r * r).sum();
        let neighbours: f64 = residuals.windows(2).map(|r| r[0] * r[1]).sum();
        let correlation = match own > 0.0 {
            true => (neighbours / own).clamp(0.0, CORRELATION),
            false => 0.0,
        };
        let variance = own / (n - 2.0) * (1.0 + correlation) / (1.0 - correlation);
        Trend {
            mean,
            rise: slope * (n - 1.0),
            error: STUDENT * (n - 1.0) * (variance / squares).sqrt(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_traffic::{Dice, Purpose};

    /// Draws of a process of first order with mean 0 and standard deviation 1.
    struct Noise {
        dice: Dice,
        correlation: f64,
        last: f64,
    }

    impl Noise {
        fn new(seed: u64, correlation: f64) -> Noise {
            let dice = Dice::new(seed, 0, Purpose::Processing);
            let mut noise = Noise {
                dice,
                correlation,
                last: 0.0,
            };
            noise.last = noise.normal();
            noise
        }

        fn normal(&mut self) -> f64 {
            (0..12).map(|_| self.dice.uniform()).sum::<f64>() - 6.0
        }

        fn draw(&mut self) -> f64 {
            let fresh = (1.0 - self.correlation.powi(2)).sqrt() * self.normal();
            self.last = self.correlation * self.last + fresh;
            self.last
        }
    }

    /// Reads a quantity as a run does, until it has settled or is over. Returns when, and the mean.
    fn settles(most: usize, mut rate: impl FnMut(usize) -> f64) -> Option<(usize, f64)> {
        let (mut readings, mut period, mut sum) = (Readings::default(), 1, 0.0);
        readings.add(0.0);
        for second in 1..=most {
            sum += rate(second);
            if second % period > 0 {
                continue;
            }
            readings.add(sum);
            if readings.are_enough()
                && let Steadiness::Settled(mean) = readings.judge(period as f64, 0.0, 1.0)
            {
                return Some((second, mean));
            }
            if readings.are_full() {
                readings.thin_out();
                period *= 2;
            }
        }
        None
    }

    const SERIES: u64 = 400;

    /// Returns the parts of many series that settle, and of those that settle with a mean off by more
    /// than this.
    fn settled(
        off: f64,
        most: usize,
        series: impl Fn(u64) -> Box<dyn FnMut(usize) -> f64>,
    ) -> (f64, f64) {
        let found: Vec<f64> = (0..SERIES)
            .filter_map(|seed| settles(most, series(seed)).map(|(_, mean)| mean))
            .collect();
        let wrong = found
            .iter()
            .filter(|mean| (*mean - 1.0).abs() > off)
            .count();
        let n = found.len().max(1);
        (found.len() as f64 / SERIES as f64, wrong as f64 / n as f64)
    }

    #[test]
    fn a_line_is_the_line() {
        let rising: Batches = std::array::from_fn(|i| 100.0 + i as f64);
        match judge(&rising, 0.0, 1.0) {
            Steadiness::Drifts(drift) => assert!((drift - 31.0 / 115.5).abs() < 1e-12, "{drift}"),
            other => panic!("{other:?}"),
        }
        assert_eq!(judge(&[3.0; BATCHES], 0.0, 1e6), Steadiness::Settled(3.0));
        assert_eq!(judge(&[0.0; BATCHES], 1.0, 1e6), Steadiness::Settled(0.0));
        // What is small beside the grain of readings is no drift.
        assert!(matches!(judge(&rising, 1e4, 1.0), Steadiness::Settled(_)));
        // 0.3 % over the window is none, and is 3 % over ten times as long.
        assert!(matches!(judge(&rising, 1e4, 10.0), Steadiness::Drifts(_)));
    }

    /// What is at rest is found to be, with the precision that the head of this file states, whether
    /// neighbours are correlated or not.
    #[test]
    fn rest_is_found() {
        for (size, correlation) in [(0.03, 0.0), (0.1, 0.0), (0.1, 0.5), (0.1, 0.9)] {
            let (found, wrong) = settled(0.011, 100_000, |seed| {
                let mut noise = Noise::new(seed, correlation);
                Box::new(move |_| 1.0 + size * noise.draw())
            });
            assert!(found > 0.95, "{size}, {correlation}: {found}");
            assert!(wrong < 0.05, "{size}, {correlation}: {wrong}");
        }
    }

    /// The rate of false alarms, over all judgements of a long series. The drift is 6 % over the later half
    /// of any number of readings: just what may not go unseen.
    #[test]
    fn a_drift_is_not_taken_for_rest() {
        for (size, correlation) in [(0.0, 0.0), (0.03, 0.0), (0.1, 0.5), (0.3, 0.9)] {
            let (found, _) = settled(1.0, 20_000, |seed| {
                let mut noise = Noise::new(seed, correlation);
                Box::new(move |t| (t as f64).powf(0.06 / 2f64.ln()) * (1.0 + size * noise.draw()))
            });
            assert!(found < 0.05, "{size}, {correlation}: {found}");
        }
    }

    /// Sawteeth from far shorter to far longer than the first window, each up from 2/3 to 4/3.
    #[test]
    fn half_a_cycle_is_not_taken_for_rest() {
        let (found, wrong) = settled(0.02, 100_000, |seed| {
            let mut dice = Dice::new(seed, 0, Purpose::Processing);
            let length = 2.0 * 500f64.powf(dice.uniform());
            let phase = dice.uniform();
            Box::new(move |t| 2.0 / 3.0 * (1.0 + (t as f64 / length + phase).fract()))
        });
        assert!(found > 0.9, "{found}");
        assert!(wrong < 0.05, "{wrong}");
    }
}
