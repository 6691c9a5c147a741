//! Equilibria of flows that react to marks and losses. Theory does not cover them, since they
//! depend on queues and disciplines and not only on utilities.
//!
//! A window of Reno rests at w = packet·√(2(1 − m)/m), where m is the share of its packets that is marked or
//! lost on the way [Low02 §3.2]. Losses on wires are independent, and count as in the fluid
//! ([`Control::even_losses`](accord_fluid::Control::even_losses)). A single number per queue, its *level*,
//! determines the delay p and the share:
//!
//! ```text
//! red          p, and the share for the average that is the backlog c·p
//! rem          the price, p = 0; y = c                                 [Low02 eqs. 30, 31]
//! avq          the share, p = 0; y = γc
//! others       p up to the buffer; beyond it the share, the buffer being full
//! ```
//!
//! The arrival rate falls as the level rises. Bisection, queue by queue, finds the level at which it equals
//! the service rate, until no queue changes.

use crate::error::MarginsError;
use crate::rest::{Equilibrium, signal};
use accord_family::{QueueLaw, WindowLaw};
use accord_fluid::{Discipline, Model, Network};

/// The maximum number of rounds over all queues.
const ROUNDS: usize = 2000;
/// The residual that counts as solved, as a fraction of the capacity.
const GOOD: f64 = 1e-9;

/// The state of a queue at rest.
#[derive(Clone, Copy)]
struct Shown {
    delay: f64,
    share: f64,
}

struct Balance<'a, 'b> {
    model: &'a Model<'b>,
    network: &'a Network,
    kinds: &'a [usize],
    rules: Vec<Discipline>,
    shown: Vec<Shown>,
}

/// Returns the equilibrium of Reno flows and unresponsive flows, which are `kinds` of the model.
///
/// # Errors
/// Fails if there is no equilibrium.
pub(crate) fn balance(
    model: &Model<'_>,
    network: &Network,
    kinds: &[usize],
) -> Result<Equilibrium, MarginsError> {
    let queues = model.queues.len();
    let capacity = |q: usize| network.rate[model.queues[q]];
    let mut b = Balance {
        model,
        network,
        kinds,
        rules: (0..queues).map(|q| model.rule(q, capacity(q))).collect(),
        shown: vec![Shown { delay: 0.0, share: 0.0 }; queues],
    };
    b.check()?;
    for _ in 0..ROUNDS {
        let mut moved = 0.0f64;
        for q in 0..queues {
            let before = b.shown[q];
            b.settle(q);
            let Shown { delay, share } = b.shown[q];
            let scale = before.delay.max(delay).max(f64::MIN_POSITIVE);
            moved = moved.max((delay - before.delay).abs() / scale);
            moved = moved.max((share - before.share).abs() / share.max(f64::MIN_POSITIVE));
        }
        if moved < 1e-14 {
            break;
        }
    }
    for q in 0..queues {
        b.holds(q)?;
    }
    let mut rates = vec![f64::NAN; model.scenario.flows.len()];
    for &k in kinds {
        let rate = b.rate(k);
        model.classes[k].members.iter().for_each(|&f| rates[f] = rate);
    }
    let mut delays = vec![0.0; model.scenario.links.len()];
    for (q, shown) in b.shown.iter().enumerate() {
        delays[model.queues[q]] = shown.delay;
    }
    Ok(Equilibrium {
        rates,
        prices: delays.clone(),
        delays,
        shares: b.shown.iter().map(|s| s.share).collect(),
    })
}

impl Balance<'_, '_> {
    fn name(&self, q: usize) -> &str {
        &self.model.scenario.links[self.model.queues[q]].name
    }

    /// Checks that every window is bounded.
    fn check(&self) -> Result<(), MarginsError> {
        for (q, rule) in self.rules.iter().enumerate() {
            if let QueueLaw::Codel { .. } = rule.law {
                return Err(MarginsError::NoEquilibrium(format!(
                    "codel at {} drops ever more often or not at all, so flows do not rest there",
                    self.name(q)
                )));
            }
        }
        for &k in self.kinds {
            let (kind, path) = (&self.model.classes[k], &self.network.paths[k]);
            let bounded = path.hops[..path.forward].iter().any(|h| {
                !matches!(self.rules[h.queue].law, QueueLaw::DropTail | QueueLaw::Avd { .. })
                    || self.model.buffer(h.queue).is_finite()
            });
            let bounded = bounded || path.passes < 1.0;
            if kind.control.dynamics.law == WindowLaw::Reno && !bounded && path.peak.is_infinite() {
                return Err(MarginsError::NoEquilibrium(format!(
                    "no queue on the way of {} marks or loses a packet, so its window grows for ever",
                    self.model.group(k)
                )));
            }
        }
        Ok(())
    }

    /// Returns the rate of a flow of a kind.
    fn rate(&self, k: usize) -> f64 {
        let (kind, path) = (&self.model.classes[k], &self.network.paths[k]);
        if kind.control.dynamics.law == WindowLaw::Unresponsive {
            return path.peak;
        }
        let queued: f64 = path.hops.iter().map(|h| self.shown[h.queue].delay).sum();
        let rtt = path.base_rtt + queued;
        let lost = signal(&kind.control, path, rtt, |h| self.shown[h.queue].share);
        let window = kind.control.packet * (2.0 * (1.0 - lost) / lost).max(0.0).sqrt();
        (window / rtt).min(path.peak)
    }

    /// Returns the excess of the arrival rate of a queue over its service rate, as a fraction of its
    /// capacity.
    fn excess(&self, q: usize) -> f64 {
        let mut arrives = 0.0;
        for &k in self.kinds {
            let path = &self.network.paths[k];
            if let Some(h) = path.hops[..path.forward].iter().find(|h| h.queue == q) {
                let many = if h.private { 1 } else { self.model.classes[k].members.len() };
                let before = path.hops[..path.forward].iter();
                let before = before.take_while(|h| h.queue != q);
                let kept = before.filter(|h| !self.rules[h.queue].marks);
                let kept: f64 = kept.map(|h| 1.0 - self.shown[h.queue].share).product();
                arrives += many as f64 * self.rate(k) * h.passes * kept;
            }
        }
        let Shown { share, .. } = self.shown[q];
        let (enters, serves) = match self.rules[q].law {
            // The price, or the virtual queue, depends on the arrivals.
            QueueLaw::Rem { .. } => (arrives, 1.0),
            QueueLaw::Avq { utilisation, .. } => (arrives, utilisation),
            _ if self.rules[q].marks => (arrives, 1.0),
            _ => (arrives * (1.0 - share), 1.0),
        };
        enters / self.network.rate[self.model.queues[q]] - serves
    }

    /// Returns the state of a queue at a level.
    fn at(&self, q: usize, level: f64) -> Shown {
        let capacity = self.network.rate[self.model.queues[q]];
        let rule = &self.rules[q];
        let longest = self.model.buffer(q) / capacity;
        match rule.law {
            QueueLaw::Rem { .. } => Shown { delay: 0.0, share: rule.share(level).0 },
            QueueLaw::Avq { .. } => Shown { delay: 0.0, share: -(-level).exp_m1() },
            QueueLaw::Red { .. } => Shown {
                delay: level,
                share: rule.average(level * capacity).map_or(0.0, |a| rule.share(a).0),
            },
            _ if longest.is_infinite() => Shown { delay: level, share: 0.0 },
            _ => Shown { delay: longest * level.min(1.0), share: -(1.0 - level).min(0.0).exp_m1() },
        }
    }

    /// Sets a queue's level to its equilibrium, given the other queues.
    fn settle(&mut self, q: usize) {
        let mut over = |level: f64| {
            self.shown[q] = self.at(q, level);
            self.excess(q) > 0.0
        };
        if !over(0.0) {
            return;
        }
        let (mut low, mut high) = (0.0, 1e-6);
        while over(high) && high < 1e9 {
            (low, high) = (high, 2.0 * high);
        }
        while high - low > f64::EPSILON * high {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if over(middle) { low = middle } else { high = middle }
        }
        self.shown[q] = self.at(q, high);
    }

    /// Checks that a queue is in equilibrium.
    fn holds(&self, q: usize) -> Result<(), MarginsError> {
        let (excess, shown, name) = (self.excess(q), self.shown[q], self.name(q));
        let capacity = self.network.rate[self.model.queues[q]];
        let idle = shown.delay <= 1e-12 && shown.share <= 1e-12;
        let why = if shown.share >= 1.0 {
            format!(
                "red at {name} drops too little below its last threshold and everything above, so it rests at neither"
            )
        } else if shown.delay * capacity > self.model.buffer(q) * (1.0 + 1e-9) {
            format!("the queue of {name} would be longer than its buffer before red drops enough")
        } else if excess > GOOD || (excess < -GOOD && !idle) || excess.is_nan() {
            format!("none was found; {name} would be off by {excess:.0e} of its capacity")
        } else {
            return Ok(());
        };
        Err(MarginsError::NoEquilibrium(why))
    }
}
