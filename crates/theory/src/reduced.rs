//! The rows of R restricted to the links that are free to move.
//!
//! Conjugate gradients pass over them some dozen times, so it pays to leave the pinned links out
//! once: fewer hops, fewer links, and rows of equal length side by side again.

use crate::dual::Multiply;
use crate::merge::{Rows, Visit};
use crate::parallel::{parts, scatter};

/// The number of a link that is not free.
const PINNED: u32 = u32::MAX;

/// Rows of free links, renumbered from 0 in order, with their slopes.
#[derive(Default)]
pub(crate) struct Reduced {
    rows: Rows,
    slopes: Vec<f64>,
    /// The free links.
    pub free: Vec<u32>,
    /// The new number of each link.
    number: Vec<u32>,
    scratch: Vec<Vec<f64>>,
}

impl Reduced {
    /// Takes the links of `rows` for which `is_free`.
    pub fn fill(
        &mut self,
        rows: &Rows,
        slopes: &[f64],
        links: usize,
        is_free: impl Fn(usize) -> bool,
    ) {
        self.free.clear();
        self.number.clear();
        for link in 0..links {
            if is_free(link) {
                self.number.push(self.free.len() as u32);
                self.free.push(link as u32);
            } else {
                self.number.push(PINNED);
            }
        }
        let mut count = Count {
            number: &self.number,
            rows: Vec::new(),
        };
        rows.visit(&mut count);
        let counts = count.rows;

        // Where the next row of each length goes, as (row, hop).
        let mut next = Vec::with_capacity(counts.len());
        let (mut row, mut hop) = (0, 0);
        for (length, &count) in counts.iter().enumerate() {
            next.push((row, hop));
            if length > 0 {
                row += count;
                hop += length * count;
            }
        }
        self.slopes.resize(row, 0.0);
        self.rows.hops.resize(hop, 0);
        self.rows.blocks.clear();
        self.rows.blocks.extend(
            counts
                .into_iter()
                .enumerate()
                .skip(1)
                .filter(|&(_, count)| count > 0),
        );
        let (hops, to) = (&mut self.rows.hops, &mut self.slopes);
        rows.visit(&mut Place {
            number: &self.number,
            next,
            slopes,
            hops,
            to,
        });
    }

    /// out = R·diag(slopes)·Rᵀ·v, on the free links.
    pub fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        let parts = parts(&self.rows, self.free.len());
        let slopes = &self.slopes;
        scatter(parts, out, &mut self.scratch, |part, out| {
            let slopes = &slopes[part.first_row..part.first_row + part.rows];
            part.visit(&mut Multiply { slopes, v, out });
        });
    }
}

/// Counts rows by how many free links they have.
struct Count<'a> {
    number: &'a [u32],
    rows: Vec<usize>,
}

impl Visit for Count<'_> {
    #[inline(always)]
    fn visit(&mut self, _row: usize, links: &[u32]) {
        let free: usize = links
            .iter()
            .map(|&l| usize::from(self.number[l as usize] != PINNED))
            .sum();
        if self.rows.len() <= free {
            self.rows.resize(free + 1, 0);
        }
        self.rows[free] += 1;
    }
}

/// Puts rows and slopes in their places.
struct Place<'a> {
    number: &'a [u32],
    next: Vec<(usize, usize)>,
    slopes: &'a [f64],
    hops: &'a mut [u32],
    to: &'a mut [f64],
}

impl Visit for Place<'_> {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        let number = |&link: &u32| self.number[link as usize];
        let free = links.iter().filter(|link| number(link) != PINNED).count();
        if free > 0 {
            let (to, hop) = &mut self.next[free];
            self.to[*to] = self.slopes[row];
            let places = &mut self.hops[*hop..*hop + free];
            let kept = links.iter().map(number).filter(|&number| number != PINNED);
            for (place, number) in places.iter_mut().zip(kept) {
                *place = number;
            }
            *to += 1;
            *hop += free;
        }
    }
}
