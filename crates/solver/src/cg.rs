//! Conjugate gradients with a diagonal (Jacobi) preconditioner.

/// The scratch space of conjugate gradients, kept between solves.
#[derive(Debug, Default)]
pub(crate) struct ConjugateGradients {
    residual: Vec<f64>,
    scaled: Vec<f64>,
    direction: Vec<f64>,
    product: Vec<f64>,
}

impl ConjugateGradients {
    /// Solves A·x ≈ `rhs` from x = 0 until the preconditioned residual has shrunk to `tolerance` of
    /// itself, curvature runs out, or `max_steps` are done. Returns the number of steps.
    ///
    /// `multiply(v, out)` sets out = A·v. `inverse_diagonal` is the preconditioner.
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
        self.residual.clear();
        self.residual.extend_from_slice(rhs);
        self.product.resize(rhs.len(), 0.0);
        let mut size = self.precondition(inverse_diagonal);
        self.direction.clone_from(&self.scaled);
        let target = tolerance * tolerance * size;
        for step in 0..max_steps {
            if size <= target {
                return step;
            }
            multiply(&self.direction, &mut self.product);
            let curvature = dot(&self.direction, &self.product);
            // Rounding has consumed the curvature, or it is NaN.
            if !(curvature > 0.0 && curvature.is_finite()) {
                return step;
            }
            let length = size / curvature;
            let old = size;
            size = self.advance(length, inverse_diagonal, x);
            let turn = size / old;
            for (direction, scaled) in self.direction.iter_mut().zip(&self.scaled) {
                *direction = scaled + turn * *direction;
            }
        }
        max_steps
    }

    /// Moves `x` and the residual by `length` along the direction, and then does the same as
    /// [`precondition`](Self::precondition), in one pass.
    fn advance(&mut self, length: f64, inverse_diagonal: &[f64], x: &mut [f64]) -> f64 {
        let moved = x.iter_mut().zip(&mut self.residual).zip(&mut self.scaled);
        let along = self.direction.iter().zip(&self.product);
        let mut size = 0.0;
        for ((((x, residual), scaled), inverse), (direction, product)) in
            moved.zip(inverse_diagonal).zip(along)
        {
            *x += length * direction;
            *residual += -length * product;
            *scaled = *residual * inverse;
            size += *scaled * *residual;
        }
        size
    }

    /// Sets scaled = residual / diagonal, and returns their product.
    fn precondition(&mut self, inverse_diagonal: &[f64]) -> f64 {
        let pairs = self.residual.iter().zip(inverse_diagonal);
        self.scaled.clear();
        self.scaled.extend(pairs.map(|(residual, inverse)| residual * inverse));
        dot(&self.scaled, &self.residual)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
