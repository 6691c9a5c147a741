//! Numbers of twice the precision (Dekker): for tests that check the last digits of others.

/// An unevaluated sum of two numbers, the second below the last digit of the first.
#[derive(Clone, Copy)]
pub struct Double(f64, f64);

impl From<f64> for Double {
    fn from(value: f64) -> Self {
        Self(value, 0.0)
    }
}

impl Double {
    /// The nearest number of single precision.
    pub fn value(self) -> f64 {
        self.0 + self.1
    }

    fn normal(high: f64, low: f64) -> Self {
        let sum = high + low;
        Self(sum, low - (sum - high))
    }

    /// The sum.
    pub fn plus(self, other: Self) -> Self {
        let sum = self.0 + other.0;
        let part = sum - self.0;
        let rest = (self.0 - (sum - part)) + (other.0 - part);
        Self::normal(sum, rest + self.1 + other.1)
    }

    /// The difference.
    pub fn minus(self, other: Self) -> Self {
        self.plus(Self(-other.0, -other.1))
    }

    /// The product.
    pub fn times(self, other: Self) -> Self {
        let product = self.0 * other.0;
        let rest = self.0.mul_add(other.0, -product);
        Self::normal(product, rest + self.0 * other.1 + self.1 * other.0)
    }

    /// The quotient.
    pub fn over(self, other: Self) -> Self {
        let first = self.0 / other.0;
        let left = self.minus(other.times(first.into()));
        Self::normal(first, left.0 / other.0)
    }
}
