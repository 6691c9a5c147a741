//! Steady-state detection: a test by batch means.
//!
//! The readings of a window are divided into [`BATCHES`] batches of equal length. The means of
//! batches are nearly normal, and nearly independent if a batch holds several cycles of the
//! quantity. If neighbours are correlated, the error is widened as for a first-order process. A
//! straight line is fitted to the means. The quantity is steady under two conditions. At 99 %
//! confidence the line does not rise or fall over the window, or it does so by at most [`DRIFT`] of
//! the mean. And a rise or fall of [`UNSEEN`] of the mean is excluded at 99 % confidence. The
//! second bound also bounds the error of the mean: the error of the line's rise is √12 times that
//! of the mean, so the mean is known to within 1.1 % at 95 %.
//!
//! A significant drift is extrapolated over the jump that follows, which may be many times as long
//! as the window. It may be at most [`DRIFT`] over the jump.
//!
//! A cycle longer than the window resembles a drift or correlated batches, if it is visible in the
//! window at all. A cycle of several windows may go undetected.

/// The number of batches of a window.
const BATCHES: usize = 32;
/// The largest acceptable drift, relative to the mean.
const DRIFT: f64 = 0.01;
/// The drift that must be excluded, relative to the mean.
const UNSEEN: f64 = 0.05;
/// The quantile of Student's distribution for a two-sided interval of 99 %, with two degrees of
/// freedom fewer than there are batches.
const STUDENT: f64 = 2.750;
/// The upper bound of the estimated correlation of neighbours.
const CORRELATION: f64 = 0.95;

/// The number of readings before the first judgement, and the number between two judgements.
const FIRST: usize = 4 * BATCHES;
const EVERY: usize = 2 * BATCHES;
/// The number of readings at which every other one is discarded.
const MOST: usize = 8 * BATCHES;

/// The means of the batches of a window.
type Batches = [f64; BATCHES];

/// The values of a cumulative quantity at each reading. There is one period fewer than there are
/// values.
#[derive(Clone, Debug, Default)]
pub struct Readings(Vec<f64>);

impl Readings {
    /// Discards all readings.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a reading.
    pub fn add(&mut self, sum: f64) {
        self.0.push(sum);
    }

    /// Returns the number of periods between readings.
    pub fn len(&self) -> usize {
        self.0.len().saturating_sub(1)
    }

    /// Returns true if a judgement is due at this number of readings.
    pub fn are_enough(&self) -> bool {
        self.len() >= FIRST && self.len().is_multiple_of(EVERY)
    }

    /// Returns true if the number of readings has reached its limit.
    pub fn are_full(&self) -> bool {
        self.len() == MOST
    }

    /// Discards every other reading.
    pub fn thin_out(&mut self) {
        self.0 = self.0.iter().copied().step_by(2).collect();
    }

    /// Judges the quantity by the later half of the readings, which are `period` seconds apart.
    /// Rates are per second. `grain` is the resolution of readings: a smaller mean counts as
    /// `grain`. `longer` is the length of the jump over that of the window.
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

    /// Returns the increase over the later half of the readings.
    pub fn recent(&self) -> f64 {
        self.0.last().map_or(0.0, |last| last - self.0[self.len() / 2])
    }
}

/// The judgement on a quantity.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steadiness {
    /// The quantity is steady at this mean.
    Settled(f64),
    /// The quantity would drift by this fraction of its mean over the jump.
    Drifts(f64),
    /// The variation of the quantity is too large to exclude a drift of this fraction of its mean.
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

/// The least-squares line through the means of batches.
struct Trend {
    mean: f64,
    /// The rise from the first batch to the last.
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
        let correlation = if own > 0.0 { (neighbours / own).clamp(0.0, CORRELATION) } else { 0.0 };
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

    /// Draws from a first-order process with mean 0 and standard deviation 1.
    struct Noise {
        dice: Dice,
        correlation: f64,
        last: f64,
    }

    impl Noise {
        fn new(seed: u64, correlation: f64) -> Noise {
            let dice = Dice::new(seed, 0, Purpose::Processing);
            let mut noise = Noise { dice, correlation, last: 0.0 };
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

    /// Reads a quantity as a run does, until it is steady or the series ends. Returns the time, and
    /// the mean.
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

    /// Returns the share of many series that are judged steady, and among these the share whose
    /// mean is off by more than `off`.
    fn settled(
        off: f64,
        most: usize,
        series: impl Fn(u64) -> Box<dyn FnMut(usize) -> f64>,
    ) -> (f64, f64) {
        let found: Vec<f64> = (0..SERIES)
            .filter_map(|seed| settles(most, series(seed)).map(|(_, mean)| mean))
            .collect();
        let wrong = found.iter().filter(|mean| (*mean - 1.0).abs() > off).count();
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
        // A quantity far below the resolution of readings does not drift.
        assert!(matches!(judge(&rising, 1e4, 1.0), Steadiness::Settled(_)));
        // 0.3 % over the window does not count as a drift, but is 3 % over ten times the window.
        assert!(matches!(judge(&rising, 1e4, 10.0), Steadiness::Drifts(_)));
    }

    /// A steady quantity is judged steady, with the precision stated at the head of this file, with
    /// and without correlation of neighbours.
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

    /// The rate of false positives over all judgements of a long series. The drift is 6 % over the
    /// later half of any number of readings, which is just above the drift that must be excluded.
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
