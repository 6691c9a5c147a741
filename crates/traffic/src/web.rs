//! Users of the web, after Barford and Crovella's SURGE.
//!
//! A user fetches a page and reads it, forever. A page is a main file and the objects embedded in
//! it, which are fetched one after the other. Each is a transfer over a new connection.
//!
//! | what | law | defaults |
//! |---|---|---|
//! | size of a file, most of them | lognormal: ln of the bytes has mean μ, deviation σ | μ = 9.357, σ = 1.318 |
//! | size of a file, the tail | Pareto: P(more than x) = (k/x)^α | 7 % of files, k = 133 000 B, α = 1.1 |
//! | embedded objects of a page | Pareto from 1, rounded down | α = 2.43 |
//! | pause between files of a page | Weibull: P(longer than t) = exp(−(t/λ)^s) | λ = 1.46 s, s = 0.382 |
//! | pause between pages | Pareto | k = 1 s, α = 1.5 |
//!
//! Departures. Sizes and pauses are bounded, because an infinite one would not fit a clock. A draw
//! beyond the bound becomes the bound. With the defaults this affects one file in 260 000 and one
//! pause in 200 000.

use accord_units::{Bytes, Duration, Rate};
use libm::{erfc, exp, log, pow, tgamma};

/// The law of the transfers and pauses of a web user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Web {
    /// The mean of the logarithm of a file's size in bytes, μ.
    pub body_mu: f64,
    /// The standard deviation of that logarithm, σ.
    pub body_sigma: f64,
    /// The share of files that are drawn from the tail instead.
    pub tail_share: f64,
    /// The smallest file of the tail, k.
    pub tail_least: Bytes,
    /// The tail's exponent, α.
    pub tail_shape: f64,
    /// The largest file.
    pub largest: Bytes,
    /// The exponent of the number of embedded objects, more than 1.
    pub objects_shape: f64,
    /// The scale of the pause between the files of a page, λ.
    pub off_scale: Duration,
    /// The shape of that pause, s.
    pub off_shape: f64,
    /// The shortest pause between pages, k.
    pub think_least: Duration,
    /// The exponent of that pause, α.
    pub think_shape: f64,
    /// The longest pause.
    pub longest: Duration,
    /// The rate of a user, for engines without transfers.
    pub load: Option<Rate>,
}

impl Web {
    /// Returns the mean size of a file in bytes.
    pub fn mean_file(&self) -> f64 {
        let most = self.largest.as_f64();
        let (mu, sigma) = (self.body_mu, self.body_sigma);
        let body = if sigma > 0.0 {
            // E min(X, c) = exp(μ + σ²/2)·Φ((ln c − μ − σ²)/σ) + c·(1 − Φ((ln c − μ)/σ))
            let above = |z: f64| 0.5 * erfc(z / std::f64::consts::SQRT_2);
            let z = (log(most) - mu) / sigma;
            let within = above(sigma - z);
            let part = if within > 0.0 { exp(mu + sigma * sigma / 2.0) * within } else { 0.0 };
            part + most * above(z)
        } else {
            exp(mu).min(most)
        };
        let tail = mean_of_pareto(self.tail_least.as_f64(), self.tail_shape, most);
        (1.0 - self.tail_share) * body.min(most) + self.tail_share * tail
    }

    /// Returns the mean number of files of a page, the main file included.
    pub fn mean_files(&self) -> f64 {
        // The mean of the objects is the sum of P(at least m) = m^-α over m, Riemann's ζ(α). It is
        // computed from the first terms and the Euler–Maclaurin formula for the rest.
        const TERMS: u32 = 1000;
        let shape = self.objects_shape;
        let first: f64 = (1..TERMS).map(|m| pow(f64::from(m), -shape)).sum();
        let n = f64::from(TERMS);
        1.0 + first + pow(n, 1.0 - shape) / (shape - 1.0) + pow(n, -shape) / 2.0
    }

    /// Returns the rate of a user whose transfers take no time, in bytes per second. A user's mean rate does
    /// not exceed it over a time that samples the tails.
    pub fn most(&self) -> f64 {
        let longest = self.longest.as_secs_f64();
        let off = self.off_scale.as_secs_f64() * tgamma(1.0 + 1.0 / self.off_shape);
        let think = mean_of_pareto(self.think_least.as_secs_f64(), self.think_shape, longest);
        let files = self.mean_files();
        files * self.mean_file() / ((files - 1.0) * off.min(longest) + think)
    }
}

/// Returns the mean of a Pareto variable from `least`, bounded by `most`.
fn mean_of_pareto(least: f64, shape: f64, most: f64) -> f64 {
    if least >= most {
        return most;
    }
    // least + ∫ (least/x)^shape dx from least to most
    let rest = if (shape - 1.0).abs() < 1e-9 {
        log(most / least)
    } else {
        (1.0 - pow(least / most, shape - 1.0)) / (shape - 1.0)
    };
    least * (1.0 + rest)
}
