//! The time of packets on a wire with jitter, reordering or acknowledgements in bursts.

use crate::InOrder;
use accord_scenario::{Jitter, Link, LinkId, Reorder};
use accord_traffic::{Dice, Purpose};
use accord_units::{Duration, Time};

/// A wire on which packets take longer than the propagation delay.
#[derive(Clone, Debug)]
pub struct Transit {
    order: InOrder,
    jitter: Option<(Jitter, Dice)>,
    /// The exit time of the latest packet, if jitter keeps the order.
    last: Time,
    reorder: Option<(Reorder, Dice)>,
    /// The number of packets sent so far.
    count: u64,
    /// The period at whose multiples acknowledgements come out.
    period: Option<Duration>,
    /// True if packets may overtake each other.
    reorders: bool,
}

impl Transit {
    /// Creates the wire of a link if it has jitter, reordering or aggregation of acknowledgements.
    pub fn of(link: &Link, id: LinkId, seed: u64) -> Option<Transit> {
        let parts = link.parts.as_deref().filter(|parts| parts.delays())?;
        let dice = |purpose| Dice::new(seed, id, purpose);
        Some(Transit {
            order: InOrder::default(),
            jitter: parts.jitter.map(|j| (j, dice(Purpose::Jitter))),
            last: Time::ZERO,
            reorder: parts.reorder.map(|r| (r, dice(Purpose::Reorder))),
            count: 0,
            period: parts.ack_aggregation,
            reorders: parts.reorders(),
        })
    }

    /// Returns true if packets may overtake each other.
    pub fn reorders(&self) -> bool {
        self.reorders
    }

    /// Returns the exit time of a packet, with the wire's present propagation delay. Its service
    /// began at `begun` and ended at `sent`.
    pub fn arrival(&mut self, begun: Time, sent: Time, delay: Duration, is_ack: bool) -> Time {
        let mut at = match &mut self.jitter {
            None => self.order.arrival(begun, sent, delay),
            Some((jitter, dice)) => {
                let at = sent + delay + jitter.law.draw(dice);
                if jitter.reorder {
                    at
                } else {
                    self.last = self.last.max(at);
                    self.last
                }
            }
        };
        if let Some((reorder, dice)) = &mut self.reorder {
            self.count += 1;
            let is_up = self.count.is_multiple_of(reorder.gap);
            if is_up && dice.uniform() < reorder.share {
                at += reorder.delay;
            }
        }
        match self.period {
            Some(period) if is_ack => {
                let periods = at.as_ps().div_ceil(period.as_ps());
                Time::from_ps(periods.saturating_mul(period.as_ps()))
            }
            _ => at,
        }
    }
}
