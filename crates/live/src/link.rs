//! A directed link at the node that feeds it: its port, its wire, and what it really achieves.

use crate::lateness::Lateness;
use crate::packet::Packet;
use accord_aqm::{Aggregate, AnyAqm, Aqm};
use accord_port::{Limit, Port};
use accord_record::{AggregateReading, LinkReading};
use accord_scenario::{self as scenario, LinkId, Scenario};
use accord_traffic::{Dice, Purpose, secret};
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// A directed link.
#[derive(Debug)]
pub struct Link {
    /// Its index in the scenario.
    pub id: LinkId,
    /// Its port.
    pub port: Port<Packet>,
    /// The packet in service, and when its service began.
    pub serving: Option<(Packet, Time)>,
    /// Randomness of its discipline.
    pub dice: Dice,
    /// Propagation delay.
    pub delay: Duration,
    loss: Loss,
    /// What is on the wire, and when it comes out.
    wire: VecDeque<(Time, Packet)>,
    /// When what was sent last comes out, or did.
    last_arrival: Time,
    /// How it does.
    pub achieved: Achieved,
}

/// Loss on a wire.
#[derive(Debug)]
struct Loss {
    data: f64,
    control: f64,
    dice: Dice,
}

impl Link {
    /// An idle link.
    pub fn new(scenario: &Scenario, id: LinkId) -> Link {
        let link = &scenario.links[id];
        let limit = match link.queue.limit {
            scenario::Limit::Packets(n) => Limit::packets(n),
            scenario::Limit::Bytes(b) => Limit::bytes(b),
            scenario::Limit::Unlimited => Limit::UNLIMITED,
        };
        let aqm = AnyAqm::build(&link.queue.discipline);
        Link {
            id,
            port: match Port::new(
                link.rate,
                limit,
                aqm,
                secret(scenario.seed, id, Purpose::Tie),
            ) {
                port if link.control_priority => port,
                port => port.without_priority(),
            },
            serving: None,
            dice: Dice::new(scenario.seed, id, Purpose::Queue),
            delay: link.delay,
            loss: Loss {
                data: link.loss,
                control: link.control_loss,
                dice: Dice::new(scenario.seed, id, Purpose::Loss),
            },
            wire: VecDeque::new(),
            last_arrival: Time::ZERO,
            achieved: Achieved::default(),
        }
    }

    /// A packet whose service began at `begun` is on the wire at `sent`, unless it is lost there:
    /// then it comes back. It does not overtake what was sent before it, and follows it in no
    /// less time than it took to be sent, even if the delay has become shorter.
    pub fn propagate(&mut self, packet: Packet, begun: Time, sent: Time) -> Result<(), Packet> {
        let follows = self.last_arrival + sent.since(begun);
        self.last_arrival = (sent + self.delay).max(follows);
        let p = match packet.is_control() {
            true => self.loss.control,
            false => self.loss.data,
        };
        if p > 0.0 && self.loss.dice.uniform() < p {
            return Err(packet);
        }
        self.wire.push_back((self.last_arrival, packet));
        Ok(())
    }

    /// When the first packet on the wire comes out; `Time::MAX` where there is none.
    pub fn release_at(&self) -> Time {
        self.wire.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// The first packet on the wire, and when it was to come out.
    pub fn release(&mut self) -> Option<(Time, Packet)> {
        self.wire.pop_front()
    }

    /// For the recorder.
    pub fn read(&mut self, now: Time) -> LinkReading {
        let area = self.port.area(now);
        let longest = self.port.take_longest();
        let c = self.port.counters();
        LinkReading {
            served: self.port.sent(now),
            offered: c.offered.packets,
            drops: c.dropped().packets,
            marks: c.marked.packets,
            judged: c.marked.packets + c.refused.packets,
            longest: (longest.packets, longest.bytes),
            packet_area: area.packets,
            area: area.bytes,
            price: self.port.aqm().price(),
            virtual_delay: self.port.aqm().virtual_delay(now),
            excess_bandwidth: self.port.aqm().excess_bandwidth(),
            aggregates: self.read_aggregates(),
        }
    }

    fn read_aggregates(&self) -> Vec<AggregateReading> {
        let known = (0..).map_while(|i| self.port.aqm().aggregate(i));
        let read = |a: Aggregate| AggregateReading {
            transmit_probability: a.transmit_probability,
            offered: a.offered,
            admitted: a.admitted,
            decrease_factor: a.decrease,
            rate_ratio: a.ratio,
        };
        known.map(read).collect()
    }
}

/// What a link really does, by the clock: how late packets come out of it, and how fast they do
/// while it is busy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Achieved {
    /// How late packets were handed to the kernel.
    pub lateness: Lateness,
    /// The sum of that.
    late: Duration,
    /// Real time between packets that left the port back to back, and their bytes.
    busy: Duration,
    busy_bytes: u64,
    /// Nominal and real time of the last packet.
    last: Option<(Time, Time)>,
}

impl Achieved {
    /// A packet that was to come out at `nominal` did at `real`; the link has this rate.
    pub fn released(&mut self, nominal: Time, real: Time, size: Bytes, rate: Rate) {
        let late = real.since(nominal);
        self.lateness.add(late);
        self.late += late;
        if let Some((last_nominal, last_real)) = self.last
            // A rounding of the service may be in between.
            && nominal.since(last_nominal) <= rate.transmission(size) + Duration::from_ns(1)
        {
            self.busy += real.since(last_real);
            self.busy_bytes += size.get();
        }
        self.last = Some((nominal, real));
    }

    /// The rate while it was busy, if that was for `least` in all.
    pub fn rate(&self, least: Duration) -> Option<Rate> {
        let rate = self.busy_bytes as f64 * 8.0 / self.busy.as_secs_f64();
        (self.busy >= least).then(|| Rate::from_bps_f64(rate))
    }

    /// How late a packet was on average; `None` where there was none.
    pub fn late(&self) -> Option<Duration> {
        let n = self.lateness.count();
        (n > 0).then(|| self.late.mul_f64(1.0 / n as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes at 1 Mbps take 8 ms. Two busy periods of three packets, all 1 ms late but the
    /// last of each, which are 2 ms late.
    #[test]
    fn the_achieved_rate_is_that_of_busy_periods() {
        let mut achieved = Achieved::default();
        let rate = Rate::from_bps(1_000_000);
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        for (nominal, real) in [
            (8, 9),
            (16, 17),
            (24, 26),
            (508, 509),
            (516, 517),
            (524, 526),
        ] {
            achieved.released(ms(nominal), ms(real), Bytes::new(1000), rate);
        }
        // Four packets in 8 + 9 + 8 + 9 ms.
        let rate = Rate::from_bps_f64(32_000.0 / 0.034);
        assert_eq!(achieved.rate(Duration::from_ms(34)), Some(rate));
        assert_eq!(
            achieved.rate(Duration::from_ms(35)),
            None,
            "it was not busy for so long"
        );
        assert_eq!(achieved.late(), Some(Duration::from_ps(1_333_333_333)));
    }
}
