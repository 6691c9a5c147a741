//! Sums over rows, on all cores. The result does not depend on the number of cores: the division of
//! rows into parts depends only on the size of the problem, and the sums of the parts are added in
//! order.

use crate::merge::{Part, Rows};
use rayon::prelude::*;
use std::ops::AddAssign;

/// The minimum number of hops for which other cores pay off.
const LEAST_HOPS: usize = 1 << 17;
/// The minimum number of hops per link for which a part pays off. Each part has its own sums for
/// all links, which must be cleared and added.
const HOPS_PER_LINK: usize = 2;
/// The maximum number of parts.
const MOST_PARTS: usize = 16;
/// The number of links whose sums are added at a time.
const CHUNK: usize = 1 << 13;

/// Returns the number of parts for `hops` hops over `links` links.
pub(crate) fn part_count(hops: usize, links: usize) -> usize {
    if hops < LEAST_HOPS {
        return 1;
    }
    (hops / (HOPS_PER_LINK * links.max(1))).clamp(1, MOST_PARTS)
}

/// Returns the parts of `rows` over `links` links.
pub(crate) fn parts(rows: &Rows, links: usize) -> Vec<Part<'_>> {
    rows.parts(part_count(rows.hops.len(), links))
}

/// Calls `work` for each of `parts` to add to sums for all links, which `clear` initialises. Leaves
/// the total in `out`, and returns the results of `work`, in order. `scratch` is kept between
/// calls.
pub(crate) fn scatter<P, T, R>(
    parts: Vec<P>,
    out: &mut [T],
    scratch: &mut Vec<Vec<T>>,
    clear: impl Fn(&mut [T]) + Sync,
    work: impl Fn(P, &mut [T]) -> R + Sync,
) -> Vec<R>
where
    P: Send,
    T: Copy + Default + AddAssign + Send + Sync,
    R: Send,
{
    let alone = parts.len() <= 1 || rayon::current_num_threads() == 1;
    let many = match alone {
        // One part is summed at a time, so its sums stay in a near cache.
        true => parts.len().min(2),
        false => parts.len(),
    };
    scratch.resize_with(many.saturating_sub(1), Vec::new);
    for sums in scratch.iter_mut() {
        sums.resize(out.len(), T::default());
    }
    if alone {
        let mut parts = parts.into_iter();
        clear(out);
        let first = parts.next().map(|part| work(part, out));
        let mut results: Vec<R> = first.into_iter().collect();
        for part in parts {
            let sums = &mut scratch[0];
            clear(sums);
            results.push(work(part, sums));
            add(out, sums);
        }
        return results;
    }
    let sums = std::iter::once(&mut *out).chain(scratch.iter_mut().map(Vec::as_mut_slice));
    let jobs: Vec<(P, &mut [T])> = parts.into_iter().zip(sums).collect();
    let results = jobs
        .into_par_iter()
        .map(|(part, sums)| {
            clear(sums);
            work(part, sums)
        })
        .collect();
    out.par_chunks_mut(CHUNK).enumerate().for_each(|(i, out)| {
        for sums in &*scratch {
            add(out, &sums[i * CHUNK..]);
        }
    });
    results
}

fn add<T: Copy + AddAssign>(out: &mut [T], sums: &[T]) {
    for (out, sum) in out.iter_mut().zip(sums) {
        *out += *sum;
    }
}

/// Cuts a slice with one value per row in the same way as `parts`.
pub(crate) fn cut<'a, T>(parts: &[Part], mut values: &'a mut [T]) -> Vec<&'a mut [T]> {
    let mut pieces = Vec::with_capacity(parts.len());
    for part in parts {
        let (piece, rest) = values.split_at_mut(part.rows);
        pieces.push(piece);
        values = rest;
    }
    pieces
}
