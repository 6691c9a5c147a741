//! The links that each flow crosses: the routing matrix R of `[Low02 eq. 5]` and `[Xia05 eq. 13]`,
//! compressed.
//!
//! R has one row per flow, and its values are all ones, so a row is the list of its links. Indices have 32
//! bits, which halves memory traffic, the bottleneck of the solver.

use crate::ProblemError;

/// The links of each flow, `flows × links`, in compressed rows.
///
/// Links keep the order in which they were given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    links: u32,
    offsets: Vec<u32>,
    hops: Vec<u32>,
}

impl Routes {
    /// Creates a table with one path per flow, over links `0..links`.
    ///
    /// # Errors
    ///
    /// Fails without flows or links, for a path without a link, for a link that does not exist or occurs
    /// twice in a path, or for more than 2³² − 1 flows, links or hops.
    pub fn new<I>(links: usize, paths: I) -> Result<Self, ProblemError>
    where
        I: IntoIterator,
        I::Item: AsRef<[u32]>,
    {
        let mut offsets = vec![0];
        let mut hops = Vec::new();
        for path in paths {
            hops.extend_from_slice(path.as_ref());
            offsets.push(index(hops.len(), "hops")?);
        }
        Self::from_compressed(links, offsets, hops)
    }

    /// Creates a table from its stored form: flow `i` crosses `hops[offsets[i]..offsets[i + 1]]`.
    ///
    /// # Errors
    ///
    /// Fails as [`Routes::new`] does, and for offsets that do not start at 0, that decrease, or
    /// that do not end at the number of hops.
    pub fn from_compressed(
        links: usize,
        offsets: Vec<u32>,
        hops: Vec<u32>,
    ) -> Result<Self, ProblemError> {
        if links == 0 {
            return Err(ProblemError::NoLinks);
        }
        if offsets.len() < 2 {
            return Err(ProblemError::NoFlows);
        }
        index(offsets.len() - 1, "flows")?;
        let ends_fit = offsets[0] == 0 && offsets.last() == Some(&index(hops.len(), "hops")?);
        if !ends_fit || !offsets.is_sorted() {
            return Err(ProblemError::BadOffsets { hops: hops.len() });
        }
        let routes = Self { links: index(links, "links")?, offsets, hops };
        routes.check()?;
        Ok(routes)
    }

    /// Checks that every path has a link, that every link exists and that none occurs twice.
    fn check(&self) -> Result<(), ProblemError> {
        let mut last_flow = vec![u32::MAX; self.links()];
        for (flow, path) in self.iter().enumerate() {
            if path.is_empty() {
                return Err(ProblemError::EmptyRoute { flow });
            }
            for &link in path {
                let Some(last) = last_flow.get_mut(link as usize) else {
                    let links = self.links();
                    return Err(ProblemError::UnknownLink { flow, link, links });
                };
                if *last == flow as u32 {
                    return Err(ProblemError::RepeatedLink { flow, link });
                }
                *last = flow as u32;
            }
        }
        Ok(())
    }

    /// The number of flows.
    pub fn flows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The number of links.
    pub fn links(&self) -> usize {
        self.links as usize
    }

    /// The number of hops of all flows together (the ones in R).
    pub fn hops(&self) -> usize {
        self.hops.len()
    }

    /// Returns the links that `flow` crosses.
    ///
    /// # Panics
    ///
    /// Panics if there is no such flow.
    pub fn path(&self, flow: usize) -> &[u32] {
        &self.hops[self.offsets[flow] as usize..self.offsets[flow + 1] as usize]
    }

    /// Returns the path of each flow, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[u32]> {
        self.offsets.windows(2).map(|pair| &self.hops[pair[0] as usize..pair[1] as usize])
    }

    /// Returns the load of each link, y = R·x `[Low02 eq. 5]`, in the unit of `rates` (one per
    /// flow).
    pub fn loads(&self, rates: &[f64]) -> Vec<f64> {
        let mut loads = vec![0.0; self.links()];
        for (path, rate) in self.iter().zip(rates) {
            for &link in path {
                loads[link as usize] += rate;
            }
        }
        loads
    }

    /// Returns the price of each path, q = Rᵀ·p `[Low02 eq. 10]`, in the unit of `prices` (one per
    /// link).
    pub fn path_prices(&self, prices: &[f64]) -> Vec<f64> {
        self.iter().map(|path| path.iter().map(|&link| prices[link as usize]).sum()).collect()
    }
}

/// Returns a count that fits 32 bits. The largest value is kept free as a marker.
fn index(count: usize, what: &'static str) -> Result<u32, ProblemError> {
    match u32::try_from(count) {
        Ok(small) if small < u32::MAX => Ok(small),
        _ => Err(ProblemError::TooLarge { what, count }),
    }
}
