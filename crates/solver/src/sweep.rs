//! Prices link by link, for problems whose prices differ by more orders of magnitude than numbers
//! have digits.
//!
//! With large α a cheap link may have 10⁻²² of all spending. The dual function, and with it Newton's line
//! search, then cannot resolve the price of that link, but the load of the link can. Each link in turn, the
//! dearest first, gets the price at which its load equals its capacity while the other prices are fixed (the
//! Gauss–Seidel method on R·x(p) = c). The price of a link hardly affects the loads of dearer links, so the
//! equations are nearly triangular in this order and few rounds suffice.

use crate::Problem;

/// The relative error at which a load is exact enough.
const EXACT: f64 = 1e-15;
/// The maximum number of evaluations for one link.
const TRIES: usize = 80;

/// Makes one round over all links.
pub(crate) fn sweep(problem: &Problem, users: &[Vec<u32>], prices: &mut [f64]) {
    let mut order: Vec<usize> = (0..prices.len()).collect();
    order.sort_by(|&a, &b| prices[b].total_cmp(&prices[a]));
    for link in order {
        prices[link] = settled(problem, &users[link], prices, link);
    }
}

/// Returns the flows of each link.
pub(crate) fn users(problem: &Problem) -> Vec<Vec<u32>> {
    let mut users = vec![Vec::new(); problem.routes().links()];
    for (flow, path) in problem.routes().iter().enumerate() {
        for &link in path {
            users[link as usize].push(flow as u32);
        }
    }
    users
}

/// Returns the price at which the flows of a link load it fully, or zero if they never do.
fn settled(problem: &Problem, users: &[u32], prices: &[f64], link: usize) -> f64 {
    let (capacity, limit) = (problem.capacities()[link], problem.price_limits()[link]);
    let others: Vec<f64> = (users.iter())
        .map(|&flow| {
            let path = problem.routes().path(flow as usize).iter();
            path.filter(|&&l| l as usize != link).map(|&l| prices[l as usize]).sum()
        })
        .collect();
    let demands = problem.demands();
    // The logarithm of the overload decreases with the price.
    let over = |price: f64| {
        let loads = users.iter().zip(&others);
        let load: f64 =
            loads.map(|(&flow, others)| demands[flow as usize].rate(others + price)).sum();
        libm::log(load / capacity)
    };
    if users.is_empty() || over(0.0) <= 0.0 {
        return 0.0;
    }
    // Bracket the root, in logarithms.
    let start = match prices[link] {
        p if p > 0.0 => libm::log(p),
        _ => libm::log(others.iter().copied().fold(f64::MIN_POSITIVE, f64::max)),
    };
    let at = |u: f64| over(libm::exp(u));
    let (mut low, mut high) = (start, start);
    let (mut above, mut below) = (at(low), at(high));
    let mut reach = 1e-6;
    while above <= 0.0 {
        (high, below) = (low, above);
        (low, reach) = (low - reach, 4.0 * reach);
        if low < libm::log(f64::MIN_POSITIVE) {
            return f64::MIN_POSITIVE;
        }
        above = at(low);
    }
    while below > 0.0 {
        (low, above) = (high, below);
        (high, reach) = (high + reach, 4.0 * reach);
        if high >= libm::log(limit.min(f64::MAX)) {
            return limit.min(f64::MAX);
        }
        below = at(high);
    }
    // The root is found by regula falsi. The value of an end that does not move is halved
    // (Illinois).
    let mut u = low;
    for _ in 0..TRIES {
        u = if (above - below).is_finite() {
            (low * below - high * above) / (below - above)
        } else {
            0.5 * (low + high)
        };
        let now = at(u);
        if now.abs() <= EXACT || high - low <= EXACT * u.abs() {
            break;
        }
        if now > 0.0 {
            (low, above, below) = (u, now, 0.5 * below);
        } else {
            (high, below, above) = (u, now, 0.5 * above);
        }
    }
    libm::exp(u).min(limit)
}
