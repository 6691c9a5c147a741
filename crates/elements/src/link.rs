//! Directed links: their ports, the loss on their wires, and the order of their packets.

use accord_aqm::AnyAqm;
use accord_port::{Bucket, Hosts, Limit, Port, PortPacket, PortState, Service, Timeline};
use accord_scenario::{self as scenario, Link, LinkId, OPPORTUNITY, Scenario};
use accord_traffic::{Dice, Purpose, secret};
use accord_units::{Duration, Time};

/// Creates a link's port, in the form that holds packets.
pub fn port<P: PortPacket>(scenario: &Scenario, id: LinkId) -> Port<P> {
    let (link, seed) = (&scenario.links[id], scenario.seed);
    let port = Port::with_service(service(link), limit(link), aqm(link), tie(id, seed));
    let mut port = port.with_hosts(|| hosts(scenario));
    if let Some(parts) = link.parts.as_deref() {
        let policer = parts.policer.map(|b| Bucket::new(b.rate, b.burst));
        port = port.with_entry(policer, parts.ack_thinning);
    }
    if link.control_priority { port } else { port.without_priority() }
}

/// Returns the end nodes of flows. Packets of flow `n` have the number 2n on the way out, and 2n +
/// 1 on the way back.
fn hosts(scenario: &Scenario) -> Hosts {
    let flows = 0..scenario.flows.len();
    Hosts::new(flows.flat_map(|flow| {
        let (from, to) = scenario.ends(flow);
        let (from, to) = (from as u32, to as u32);
        [[from, to], [to, from]]
    }))
}

/// Creates the line of a link.
fn service(link: &Link) -> Service {
    let parts = link.parts.as_deref();
    if let Some(trace) = parts.and_then(|parts| parts.trace.as_ref()) {
        return Service::with_trace(link.rate, trace.times().clone(), OPPORTUNITY);
    }
    match parts.and_then(|parts| parts.shaper) {
        Some(b) => Service::shaped(link.rate, Bucket::new(b.rate, b.burst)),
        None => Service::new(link.rate),
    }
}

/// Creates the state of a link's droptail port, for an owner that holds the packets.
pub fn port_state(link: &Link, id: LinkId, seed: u64) -> PortState {
    PortState::new(Service::new(link.rate), limit(link), tie(id, seed))
}

/// Creates a link's port as a timeline, which must support all features of the link.
pub fn timeline(link: &Link, id: LinkId, seed: u64) -> Timeline {
    Timeline::new(link.rate, limit(link), aqm(link), tie(id, seed))
}

/// Creates the random stream of a link's queue discipline.
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

/// The loss on a wire.
#[derive(Clone, Debug)]
pub struct Loss {
    data: f64,
    control: f64,
    dice: Dice,
}

impl Loss {
    /// Creates the loss of a link if it loses packets.
    pub fn of(link: &Link, id: LinkId, seed: u64) -> Option<Loss> {
        link.is_lossy().then(|| Loss {
            data: link.loss,
            control: link.control_loss,
            dice: Dice::new(seed, id, Purpose::Loss),
        })
    }

    /// Returns true if the next packet is lost. The control packets of tunnels have a separate loss
    /// probability.
    pub fn takes(&mut self, is_control: bool) -> bool {
        let p = if is_control { self.control } else { self.data };
        p > 0.0 && self.dice.uniform() < p
    }
}

/// Keeps a wire's packets in order when its delay changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InOrder {
    /// The time at which the last packet sent comes out.
    last: Time,
}

impl InOrder {
    /// Returns the time at which a packet comes out of a wire with this delay. Its service began at
    /// `begun` and ended at `sent`. The packet does not overtake the previous one, even if the
    /// delay has become shorter. It follows by at least its transmission time.
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
        // With the new delay alone the packet would come out at 12.
        assert_eq!(wire.arrival(at(1), at(2), ms(10)), at(52));
        assert_eq!(wire.arrival(at(100), at(101), ms(10)), at(111));
    }
}
