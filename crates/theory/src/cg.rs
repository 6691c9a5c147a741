//! Conjugate gradients with a diagonal (Jacobi) preconditioner.

/// Scratch space, kept between solves.
pub(crate) struct ConjugateGradients {
    residual: Vec<f64>,
    scaled: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
}

impl ConjugateGradients {
    pub fn new(size: usize) -> Self {
        let zeros = || vec![0.0; size];
        Self {
            residual: zeros(),
            scaled: zeros(),
            direction: zeros(),
            product: zeros(),
        }
    }

    /// Solves A·x ≈ `rhs` from x = 0 until the preconditioned residual has shrunk to `tolerance`
    /// of itself, curvature runs out, or `max_steps` are done. Returns how many were.
    ///
    /// `multiply(v, out)` sets out = A·v; `inverse_diagonal` is the preconditioner. Where that is
    /// zero, x stays zero: the unknown is taken out of the system.
    pub fn solve(
        &mut self,
        mut multiply: impl FnMut(&[f64], &mut [f64]),
        inverse_diagonal: &[f64],
        rhs: &[f64],
        x: &mut [f64],
        tolerance: f64,
        max_steps: usize,
    ) -> usize {
        x.fill(0.0);
        self.residual.copy_from_slice(rhs);
        let mut size = self.precondition(inverse_diagonal);
        self.direction.copy_from_slice(&self.scaled);
        let target = tolerance * tolerance * size;
        for step in 0..max_steps {
            if size <= target {
                return step;
            }
            multiply(&self.direction, &mut self.product);
            let curvature = dot(&self.direction, &self.product);
            // Rounding (or not a number) has eaten what there was.
            if !(curvature > 0.0 && curvature.is_finite()) {
                return step;
            }
            let length = size / curvature;
            for i in 0..x.len() {
                x[i] += length * self.direction[i];
                self.residual[i] -= length * self.product[i];
            }
            let old = size;
            size = self.precondition(inverse_diagonal);
            let turn = size / old;
            for (direction, scaled) in self.direction.iter_mut().zip(&self.scaled) {
                *direction = scaled + turn * *direction;
            }
        }
        max_steps
    }

    /// scaled = residual / diagonal; their product.
    fn precondition(&mut self, inverse_diagonal: &[f64]) -> f64 {
        for i in 0..self.scaled.len() {
            self.scaled[i] = self.residual[i] * inverse_diagonal[i];
        }
        dot(&self.scaled, &self.residual)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
