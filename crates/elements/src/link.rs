//! Directed links: their ports, the loss on their wires, and the order of what they carry.

use accord_aqm::AnyAqm;
use accord_port::{Limit, Packet, Port, Timeline};
use accord_scenario::{self as scenario, Link, LinkId};
use accord_traffic::{Dice, Purpose, secret};
use accord_units::{Duration, Time};

/// The port of a link, which holds packets.
pub fn port<P: Packet>(link: &Link, id: LinkId, seed: u64) -> Port<P> {
    let port = Port::new(link.rate, limit(link), aqm(link), tie(id, seed));
    match link.control_priority {
        true => port,
        false => port.without_priority(),
    }
}

/// The port of a link as a timeline, where that can do all that the link needs.
pub fn timeline(link: &Link, id: LinkId, seed: u64) -> Timeline {
    Timeline::new(link.rate, limit(link), aqm(link), tie(id, seed))
}

/// The randomness of a link's queue discipline.
pub fn dice(id: LinkId, seed: u64) -> Dice {
    Dice::new(seed, id, Purpose::Queue)
}

fn limit(link: &Link) -> Limit {
    match link.queue.limit {
        scenario::Limit::Packets(n) => Limit::packets(n),
        scenario::Limit::Bytes(b) => Limit::bytes(b),
        scenario::Limit::Unlimited => Limit::UNLIMITED,
    }
}

fn aqm(link: &Link) -> AnyAqm {
    AnyAqm::build(&link.queue.discipline)
}

fn tie(id: LinkId, seed: u64) -> u64 {
    secret(seed, id, Purpose::Tie)
}

/// Loss on a wire.
#[derive(Clone, Debug)]
pub struct Loss {
    data: f64,
    control: f64,
    dice: Dice,
}

impl Loss {
    /// That of a link, if it loses anything.
    pub fn of(link: &Link, id: LinkId, seed: u64) -> Option<Loss> {
        link.is_lossy().then(|| Loss {
            data: link.loss,
            control: link.control_loss,
            dice: Dice::new(seed, id, Purpose::Loss),
        })
    }

    /// Whether the next packet is lost; the control packets of tunnels have a probability of
    /// their own.
    pub fn takes(&mut self, is_control: bool) -> bool {
        let p = match is_control {
            true => self.control,
            false => self.data,
        };
        p > 0.0 && self.dice.uniform() < p
    }
}

/// Keeps a wire's packets in order when its delay changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InOrder {
    /// When what was sent last comes out.
    last: Time,
}

impl InOrder {
    /// When a packet comes out of a wire of this delay whose service began at `begun` and ended at
    /// `sent`. It does not overtake what was sent before it, and follows it in no less time than
    /// it took to be sent, even if the delay has become shorter.
    pub fn arrival(&mut self, begun: Time, sent: Time, delay: Duration) -> Time {
        let follows = self.last + sent.since(begun);
        self.last = (sent + delay).max(follows);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shorter_delay_overtakes_nothing() {
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let ms = Duration::from_ms;
        let mut wire = InOrder::default();
        assert_eq!(wire.arrival(at(0), at(1), ms(50)), at(51));
        // It would come out at 12.
        assert_eq!(wire.arrival(at(1), at(2), ms(10)), at(52));
        assert_eq!(wire.arrival(at(100), at(101), ms(10)), at(111));
    }
}
