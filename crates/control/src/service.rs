//! Services by accumulation: a contracted rate and a weighted share of the rest, over FIFO queues
//! [Har02 §IV, §V].
//!
//! A flow of rate μ whose packets wait for t_q has a backlog of a = μ·t_q. The part x̂·t_q carries
//! the contracted rate x̂ and does not count. The rest carries the flow's share of the rate that is
//! not contracted. This second part is held at φ·ā:
//!
//! ```text
//! a_s = a·(1 − x̂/μ)                 [Har02 eq. 8]
//! excess = max(a_s − φ·ā, a − A)    [Har02 algorithm 1, step 5]
//! ```
//!
//! The second term bounds the whole backlog of the flow by A, regardless of the contract. A
//! controller that steers an accumulation to a target provides a service by steering this excess to
//! zero instead.

use accord_family::Service;

/// A service as a controller holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Held {
    /// The contracted rate x̂ in bytes per second.
    contract: f64,
    weight: f64,
    /// The limit A in bytes.
    limit: f64,
}

impl Held {
    pub fn new(service: &Service) -> Held {
        Held {
            contract: service.contract.as_bps_f64() / 8.0,
            weight: service.weight,
            limit: service.limit.map_or(f64::INFINITY, |limit| limit.as_f64()),
        }
    }

    /// Returns the bytes that are queued in excess of the service. `a` is the accumulation,
    /// `target` the target of a flow of weight 1, and `rate` the egress rate in bytes per second.
    /// Below the contracted rate the whole backlog carries the contract [Har02 algorithm 1, step
    /// 3].
    pub fn excess(&self, a: f64, target: f64, rate: f64) -> f64 {
        (self.shared(a, rate) - self.weight * target).max(a - self.limit)
    }

    /// Returns the part a_s of the accumulation `a` that carries no contract.
    pub fn shared(&self, a: f64, rate: f64) -> f64 {
        if self.contract < rate {
            a * (1.0 - self.contract / rate)
        } else if self.contract > 0.0 {
            0.0
        } else {
            a
        }
    }

    /// Returns the most that may be queued beyond what carries the contract, for a `target` of
    /// weight 1.
    pub fn own(&self, target: f64) -> f64 {
        (self.weight * target).min(self.limit)
    }

    /// Returns whether a rate is contracted.
    pub fn has_contract(&self) -> bool {
        self.contract > 0.0
    }

    /// Returns the rate in bytes per second that has no excess while packets wait `delay` seconds.
    /// The limit bounds it only while `delivered` is less than the contract.
    pub fn rate(&self, target: f64, delay: f64, delivered: f64) -> f64 {
        let limited = self.limit / delay;
        if delivered < self.contract {
            return limited;
        }
        limited.min(self.contract + self.weight * target / delay)
    }
}

impl Default for Held {
    fn default() -> Held {
        Held::new(&Service::default())
    }
}
