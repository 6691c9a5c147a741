//! Random delays, one draw per packet.

use crate::draw::{exponential, normal};
use crate::random::Dice;
use accord_units::Duration;

/// The law of a random delay, which is never negative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delay {
    /// The absolute value of a normal variable with mean zero [RFC 8868 §4.5.3].
    Normal {
        /// The standard deviation of the normal variable.
        deviation: Duration,
        /// The longest delay. Longer draws are cut to it.
        longest: Duration,
    },
    /// Uniform from zero to this value.
    Uniform(Duration),
    /// Exponential with this mean.
    Exponential(Duration),
}

impl Delay {
    /// Draws a delay.
    pub fn draw(&self, dice: &mut Dice) -> Duration {
        match *self {
            Delay::Normal { deviation, longest } => {
                deviation.mul_f64(normal(dice).abs()).min(longest)
            }
            Delay::Uniform(most) => most.mul_f64(dice.uniform()),
            Delay::Exponential(mean) => {
                Duration::from_secs_f64(exponential(dice, mean.as_secs_f64()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Purpose;

    /// The mean and the standard deviation of many draws in units of a millisecond, and the
    /// largest.
    fn moments(law: Delay) -> (f64, f64, f64) {
        let mut dice = Dice::new(1, 0, Purpose::Jitter);
        let n = 200_000;
        let draws: Vec<f64> = (0..n).map(|_| law.draw(&mut dice).as_ms_f64()).collect();
        let mean = draws.iter().sum::<f64>() / f64::from(n);
        let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / f64::from(n);
        let most = draws.iter().copied().fold(0.0, f64::max);
        (mean, variance.sqrt(), most)
    }

    /// Bounds are four standard errors of the mean and of the deviation.
    #[test]
    fn draws_have_the_moments_of_their_laws() {
        let ms = Duration::from_ms;
        let near = |is: f64, is_to_be: f64, by: f64| {
            assert!((is - is_to_be).abs() < by, "{is} and not {is_to_be}");
        };
        // A half-normal variable has the mean σ·√(2/π) and the deviation σ·√(1 − 2/π). The cut at 3
        // σ, which affects 0.27 % of the draws, reduces the mean by 2·σ·(φ(3) − 3·Q(3)) =
        // 0.00076·σ.
        let (deviation, longest) = (ms(5), ms(15));
        let (mean, spread, most) = moments(Delay::Normal { deviation, longest });
        near(mean, 5.0 * (0.797_88 - 0.000_76), 0.03);
        near(spread, 5.0 * 0.6028, 0.03);
        near(most, 15.0, 1e-9);
        let (mean, spread, most) = moments(Delay::Uniform(ms(6)));
        near(mean, 3.0, 0.02);
        near(spread, 6.0 / 12f64.sqrt(), 0.02);
        assert!(most < 6.0);
        let (mean, spread, _) = moments(Delay::Exponential(ms(2)));
        near(mean, 2.0, 0.02);
        near(spread, 2.0, 0.03);
    }
}
