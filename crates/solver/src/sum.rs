//! Sums without rounding loss, for the certificate's loads of a million flows.

/// A sum as a value and its rounding error (Knuth, Neumaier). After n additions, the error of the total is
/// within n²·2⁻¹⁰⁶ of the sum of the magnitudes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sum {
    value: f64,
    rest: f64,
}

impl Sum {
    #[inline(always)]
    pub fn add(&mut self, term: f64) {
        let sum = self.value + term;
        let part = sum - self.value;
        self.rest += (self.value - (sum - part)) + (term - part);
        self.value = sum;
    }

    pub fn value(&self) -> f64 {
        self.value + self.rest
    }

    /// Returns `from` less the sum, with an error of at most 2⁻⁵² of the difference and n²·2⁻¹⁰⁶ of
    /// the sum.
    pub fn taken_from(&self, from: f64) -> f64 {
        let difference = from - self.value;
        let part = difference - from;
        let rounded = (from - (difference - part)) - (self.value + part);
        difference + (rounded - self.rest)
    }
}

impl std::ops::AddAssign for Sum {
    fn add_assign(&mut self, other: Self) {
        self.add(other.value);
        self.rest += other.rest;
    }
}
