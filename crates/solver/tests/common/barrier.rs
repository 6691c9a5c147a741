//! A second way to the same solution, for small problems: the primal problem
//! `[Xia05 eq. 13]` by a logarithmic barrier on the capacities, with dense Newton steps on the
//! rates. It knows utilities, not demands, and has no prices.

#![allow(clippy::needless_range_loop, reason = "matrices read better with indices")]

use accord_solver::{Demand, Problem};

/// The optimal rates, to about six digits. The problem must be feasible.
pub fn solve(problem: &Problem) -> Vec<f64> {
    let mut rates = interior(problem);
    let mut barrier = problem.demands().iter().map(scale).sum::<f64>();
    let last = 1e-10 * barrier;
    while barrier > last {
        barrier *= 0.3;
        centre(problem, &mut rates, barrier);
    }
    rates
}

/// The unit of a utility.
fn scale(demand: &Demand) -> f64 {
    match *demand {
        Demand::Log { weight } | Demand::Capped { weight, .. } => weight,
        Demand::Contract { weight, limit, .. } => weight.min(limit),
        Demand::AlphaFair { weight, .. } | Demand::Vegas { weight, .. } => weight,
        Demand::Reno { round_trip } => round_trip.recip(),
        _ => 0.0,
    }
}

/// Returns rates strictly within all bounds: the rates needed at any price, and the same small
/// amount for all.
fn interior(problem: &Problem) -> Vec<f64> {
    let base: Vec<f64> = problem.demands().iter().map(least).collect();
    let loads = problem.routes().loads(&base);
    let count = problem.demands().len() as f64;
    let more = problem.capacities().iter().zip(loads).map(|(c, y)| (c - y) / (2.0 * count));
    let more = more.fold(f64::INFINITY, f64::min);
    assert!(more > 0.0, "the problem is infeasible");
    let demands = problem.demands().iter().zip(base);
    demands
        .map(|(demand, base)| match *demand {
            Demand::Fixed { rate } => rate,
            Demand::Capped { cap, .. } => more.min(0.5 * cap),
            _ => base + more,
        })
        .collect()
}

fn least(demand: &Demand) -> f64 {
    match *demand {
        Demand::Contract { floor, limit, .. } if limit.is_infinite() => floor,
        Demand::Fixed { rate } => rate,
        _ => 0.0,
    }
}

/// U, U′ and U″ at a rate; minus infinity outside of its domain.
fn utility(demand: &Demand, x: f64, barrier: f64) -> (f64, f64, f64) {
    let log = |weight: f64, x: f64| (weight * x.ln(), weight / x, -weight / (x * x));
    match *demand {
        _ if x <= least(demand) && !matches!(demand, Demand::Fixed { .. }) => {
            (f64::NEG_INFINITY, 0.0, 0.0)
        }
        Demand::Log { weight } => log(weight, x),
        Demand::Capped { cap, .. } if x >= cap => (f64::NEG_INFINITY, 0.0, 0.0),
        Demand::Capped { weight, cap } => {
            let (u, slack) = (log(weight, x), cap - x);
            (u.0 + barrier * slack.ln(), u.1 - barrier / slack, u.2 - barrier / (slack * slack))
        }
        Demand::Contract { weight, floor, limit, .. } if limit.is_infinite() => {
            log(weight, x - floor)
        }
        Demand::Contract { weight, floor, limit, .. } => {
            // Marginal utility A/x up to where a share ā/(x − x̂) is worth less.
            let knee = limit * floor / (limit - weight);
            if limit <= weight || x <= knee {
                log(limit, x)
            } else {
                let (u, at_knee) = (log(weight, x - floor), (knee - floor).max(1e-300));
                let offset =
                    if floor == 0.0 { 0.0 } else { limit * knee.ln() - weight * at_knee.ln() };
                (u.0 + offset, u.1, u.2)
            }
        }
        Demand::AlphaFair { weight, alpha } => (
            weight * x.powf(1.0 - alpha) / (1.0 - alpha),
            weight * x.powf(-alpha),
            -alpha * weight * x.powf(-alpha - 1.0),
        ),
        // [Low02 eq. 24] with (1 + ε)·α·d for the weight, ε·d for the bias.
        Demand::Vegas { weight, bias } => {
            let u = log(weight, x);
            (u.0 + bias * x, u.1 + bias, u.2)
        }
        // [Low02 §3.2]
        Demand::Reno { round_trip } => {
            let window = x * round_trip / std::f64::consts::SQRT_2;
            let square = 1.0 + window * window;
            // Its utility is finite at zero, so it needs a barrier there.
            (
                std::f64::consts::SQRT_2 / round_trip * window.atan() + barrier * x.ln(),
                1.0 / square + barrier / x,
                -2.0 * window / (square * square) * round_trip / std::f64::consts::SQRT_2
                    - barrier / (x * x),
            )
        }
        Demand::Fixed { .. } => (0.0, 0.0, 0.0),
        _ => unreachable!("the barrier method does not know {demand:?}"),
    }
}

/// Utility and barrier; minus infinity outside.
fn value(problem: &Problem, rates: &[f64], barrier: f64) -> f64 {
    let loads = problem.routes().loads(rates);
    let slacks = problem.capacities().iter().zip(loads).map(|(c, y)| c - y);
    let links: f64 =
        slacks.map(|s| if s > 0.0 { barrier * s.ln() } else { f64::NEG_INFINITY }).sum();
    let flows = problem.demands().iter().zip(rates);
    flows.map(|(demand, &x)| utility(demand, x, barrier).0).sum::<f64>() + links
}

/// Newton's method for one weight of the barrier.
fn centre(problem: &Problem, rates: &mut Vec<f64>, barrier: f64) {
    for _ in 0..60 {
        let flows = rates.len();
        let loads = problem.routes().loads(rates);
        let slack: Vec<f64> = problem.capacities().iter().zip(loads).map(|(c, y)| c - y).collect();
        let mut gradient = vec![0.0; flows];
        let mut hessian = vec![vec![0.0; flows]; flows];
        for i in 0..flows {
            let (_, first, second) = utility(&problem.demands()[i], rates[i], barrier);
            let fixed = matches!(problem.demands()[i], Demand::Fixed { .. });
            hessian[i][i] = if fixed { 1.0 } else { -second };
            gradient[i] = first;
            for j in 0..flows {
                for &link in problem.routes().path(i) {
                    let slack = slack[link as usize];
                    if fixed || matches!(problem.demands()[j], Demand::Fixed { .. }) {
                        continue;
                    }
                    if i == j {
                        gradient[i] -= barrier / slack;
                    }
                    if problem.routes().path(j).contains(&link) {
                        hessian[i][j] += barrier / (slack * slack);
                    }
                }
            }
        }
        let step = eliminate(hessian, gradient.clone());
        let rise: f64 = step.iter().zip(&gradient).map(|(d, g)| d * g).sum();
        let here = value(problem, rates, barrier);
        let mut length = 1.0;
        loop {
            let next: Vec<f64> = rates.iter().zip(&step).map(|(x, d)| x + length * d).collect();
            if value(problem, &next, barrier) >= here + 1e-4 * length * rise {
                *rates = next;
                break;
            }
            length *= 0.5;
            if length < 1e-12 {
                return;
            }
        }
        if rise <= 1e-9 * barrier {
            return;
        }
    }
}

/// Gaussian elimination with pivots.
fn eliminate(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        let known: f64 = (k + 1..n).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    b
}
