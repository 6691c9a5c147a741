//! The rows of R restricted to the links that are free to move.
//!
//! Conjugate gradients pass over these rows several dozen times, so it pays to remove the pinned links once.
//! That leaves fewer hops and fewer links, and rows of equal length are adjacent again.

use crate::dual::{Cell, Product, fill};
use crate::merge::{Rows, Visit};
use crate::parallel::{parts, scatter};
use rayon::prelude::*;

/// The number of a link that is not free.
const PINNED: u32 = u32::MAX;

/// The rows of free links, renumbered from 0 in order, with their slopes.
#[derive(Debug, Default)]
pub(crate) struct Reduced {
    rows: Rows,
    slopes: Vec<f64>,
    /// The row of the problem from which each row is made.
    made_of: Vec<u32>,
    /// The free links.
    pub free: Vec<u32>,
    /// The new number of each link.
    number: Vec<u32>,
    cells: Vec<Cell>,
    scratch: Vec<Vec<Cell>>,
}

impl Reduced {
    /// Takes the links of `rows` for which `is_free` holds. The rows must be those of the previous
    /// call.
    pub fn fill(
        &mut self,
        rows: &Rows,
        slopes: &[f64],
        links: usize,
        is_free: impl Fn(usize) -> bool,
    ) {
        let mut free = 0;
        let number = (0..links).map(|link| {
            let number = if is_free(link) { free } else { PINNED };
            free += u32::from(number != PINNED);
            number
        });
        let number: Vec<u32> = number.collect();
        if number == self.number {
            // The same links are free as before.
            for (slope, &row) in self.slopes.iter_mut().zip(&self.made_of) {
                *slope = slopes[row as usize];
            }
            return;
        }
        self.free.clear();
        let is_free = |&link: &u32| number[link as usize] != PINNED;
        self.free.extend((0..links as u32).filter(is_free));
        self.number = number;
        let (parts, number) = (parts(rows, links), &self.number);
        // The rows by their number of free links.
        let counts: Vec<Vec<usize>> = parts
            .par_iter()
            .map(|part| {
                let mut counts: Vec<usize> = Vec::new();
                part.visit(&mut |_: usize, links: &[u32]| {
                    let free = links.iter().filter(|&&l| number[l as usize] != PINNED).count();
                    if counts.len() <= free {
                        counts.resize(free + 1, 0);
                    }
                    counts[free] += 1;
                });
                counts
            })
            .collect();

        let longest = counts.iter().map(Vec::len).max().unwrap_or(0);
        let count = |part: usize, length: usize| counts[part].get(length).copied().unwrap_or(0);
        self.rows.blocks.clear();
        let (mut row, mut hop) = (0, 0);
        for length in 1..longest {
            let of_length = (0..parts.len()).map(|part| count(part, length)).sum();
            if of_length > 0 {
                self.rows.blocks.push((length, of_length));
            }
            row += of_length;
            hop += of_length * length;
        }
        self.slopes.resize(row, 0.0);
        self.made_of.resize(row, 0);
        self.rows.hops.resize(hop, 0);

        // Each part has its places among the rows of each length, in order of the parts.
        let (mut slopes_left, mut hops_left) = (&mut *self.slopes, &mut *self.rows.hops);
        let mut rows_left = &mut *self.made_of;
        let mut places: Vec<Vec<Places>> = parts.iter().map(|_| vec![Places::default()]).collect();
        for length in 1..longest {
            for (part, places) in places.iter_mut().enumerate() {
                let rows = count(part, length);
                let slopes = slopes_left.split_off_mut(..rows);
                let hops = hops_left.split_off_mut(..rows * length);
                let made_of = rows_left.split_off_mut(..rows);
                let (Some(slopes), Some(made_of), Some(hops)) = (slopes, made_of, hops) else {
                    unreachable!("all rows were counted")
                };
                places.push(Places { slopes, made_of, hops });
            }
        }
        let jobs: Vec<_> = parts.into_iter().zip(places).collect();
        jobs.into_par_iter().for_each(|(part, places)| {
            let slopes = &slopes[part.first_row..part.first_row + part.rows];
            part.visit(&mut Place { number, places, slopes, first_row: part.first_row });
        });
    }

    /// Sets out = R·diag(slopes)·Rᵀ·v, on the free links.
    pub fn multiply(&mut self, v: &[f64], out: &mut [f64]) {
        let parts = parts(&self.rows, self.free.len());
        let slopes = &self.slopes;
        self.cells.resize(v.len(), Cell::default());
        scatter(
            parts,
            &mut self.cells,
            &mut self.scratch,
            |cells| fill(cells, v),
            |part, cells| {
                let slopes = &slopes[part.first_row..part.first_row + part.rows];
                part.visit(&mut Product { slopes, cells });
            },
        );
        for (out, cell) in out.iter_mut().zip(&self.cells) {
            *out = cell.out;
        }
    }
}

/// The places for the next rows of a length.
#[derive(Default)]
struct Places<'a> {
    slopes: &'a mut [f64],
    made_of: &'a mut [u32],
    hops: &'a mut [u32],
}

/// Puts rows and slopes in their places.
struct Place<'a> {
    number: &'a [u32],
    /// The places, per length.
    places: Vec<Places<'a>>,
    slopes: &'a [f64],
    first_row: usize,
}

impl Visit for Place<'_> {
    #[inline(always)]
    fn visit(&mut self, row: usize, links: &[u32]) {
        let number = |&link: &u32| self.number[link as usize];
        let free = links.iter().filter(|link| number(link) != PINNED).count();
        if free > 0 {
            let places = &mut self.places[free];
            let slope = places.slopes.split_off_first_mut();
            let made_of = places.made_of.split_off_first_mut();
            let (Some(slope), Some(made_of), Some(hops)) =
                (slope, made_of, places.hops.split_off_mut(..free))
            else {
                unreachable!("they were counted")
            };
            *slope = self.slopes[row];
            *made_of = (self.first_row + row) as u32;
            let kept = links.iter().map(number).filter(|&number| number != PINNED);
            for (place, number) in hops.iter_mut().zip(kept) {
                *place = number;
            }
        }
    }
}
