//! A directed link at the node that feeds it: its port, its wire, and its measured rate and delay.

use crate::lateness::Lateness;
use crate::packet::Packet;
use accord_elements::{InOrder, Loss, Transit, dice, port, read_link};
use accord_port::Port;
use accord_record::LinkReading;
use accord_scenario::{LinkId, Scenario};
use accord_traffic::Dice;
use accord_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// A directed link.
#[derive(Debug)]
pub struct Link {
    /// The index in the scenario.
    pub id: LinkId,
    /// The port.
    pub port: Port<Packet>,
    /// The packet in service, and the time at which its service began.
    pub serving: Option<(Packet, Time)>,
    /// The random numbers of the discipline.
    pub dice: Dice,
    /// The propagation delay.
    pub delay: Duration,
    loss: Option<Loss>,
    /// The packets on the wire, with their exit times.
    wire: VecDeque<(Time, Packet)>,
    order: InOrder,
    transit: Option<Transit>,
    /// The measured rate and delay.
    pub achieved: Achieved,
}

impl Link {
    /// Creates an idle link.
    pub fn new(scenario: &Scenario, id: LinkId) -> Link {
        let (link, seed) = (&scenario.links[id], scenario.seed);
        Link {
            id,
            port: port(scenario, id),
            serving: None,
            dice: dice(id, seed),
            delay: link.delay,
            loss: Loss::of(link, id, seed),
            wire: VecDeque::new(),
            order: InOrder::default(),
            transit: Transit::of(link, id, seed),
            achieved: Achieved::default(),
        }
    }

    /// Puts a packet on the wire at `sent`, whose service began at `begun`. Returns the packet if
    /// the wire loses it.
    pub fn propagate(&mut self, packet: Packet, begun: Time, sent: Time) -> Result<(), Packet> {
        let arrival = match &mut self.transit {
            None => self.order.arrival(begun, sent, self.delay),
            Some(transit) => transit.arrival(begun, sent, self.delay, packet.is_ack()),
        };
        if let Some(loss) = &mut self.loss
            && loss.takes(packet.is_control())
        {
            return Err(packet);
        }
        let behind = self.wire.iter().rev().take_while(|(at, _)| *at > arrival);
        let place = self.wire.len() - behind.count();
        self.wire.insert(place, (arrival, packet));
        Ok(())
    }

    /// The exit time of the first packet on the wire, or `Time::MAX` if there is none.
    pub fn release_at(&self) -> Time {
        self.wire.front().map_or(Time::MAX, |(at, _)| *at)
    }

    /// Takes the first packet off the wire, with its exit time.
    pub fn release(&mut self) -> Option<(Time, Packet)> {
        self.wire.pop_front()
    }

    /// Returns the reading for the recorder.
    pub fn read(&mut self, now: Time) -> LinkReading {
        let longest = self.port.take_longest();
        let (port, aqm) = (&self.port, Some(self.port.aqm()));
        read_link(port.counters(), port.sent(now), port.area(now), longest, aqm, now)
    }
}

/// The measured rate and delay of a link: the lateness of packets that come out of it, and their
/// rate while the link is busy.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Achieved {
    /// The lateness of packets at the time of their hand-over to the kernel.
    pub lateness: Lateness,
    /// The sum of the lateness.
    late: Duration,
    /// The real time between packets that left the port back to back, and their bytes.
    busy: Duration,
    busy_bytes: u64,
    /// The nominal and the real time of the last packet.
    last: Option<(Time, Time)>,
}

impl Achieved {
    /// Records a packet that was due at `nominal` and came out at `real`. The link has this rate.
    pub fn released(&mut self, nominal: Time, real: Time, size: Bytes, rate: Rate) {
        let late = real.since(nominal);
        self.lateness.add(late);
        self.late += late;
        if let Some((last_nominal, last_real)) = self.last
            // The difference may include a rounding of the service.
            && nominal.since(last_nominal) <= rate.transmission(size) + Duration::from_ns(1)
        {
            self.busy += real.since(last_real);
            self.busy_bytes += size.get();
        }
        self.last = Some((nominal, real));
    }

    /// Returns the rate while the link was busy, if that was at least `least` in total.
    pub fn rate(&self, least: Duration) -> Option<Rate> {
        let rate = self.busy_bytes as f64 * 8.0 / self.busy.as_secs_f64();
        (self.busy >= least).then(|| Rate::from_bps_f64(rate))
    }

    /// Returns the mean lateness of packets, or `None` if there were none.
    pub fn late(&self) -> Option<Duration> {
        let n = self.lateness.count();
        (n > 0).then(|| self.late.mul_f64(1.0 / n as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1000 bytes at 1 Mbps take 8 ms. Two busy periods of three packets, all 1 ms late except the
    /// last of each, which are 2 ms late.
    #[test]
    fn the_achieved_rate_is_that_of_busy_periods() {
        let mut achieved = Achieved::default();
        let rate = Rate::from_bps(1_000_000);
        let ms = |ms| Time::ZERO + Duration::from_ms(ms);
        for (nominal, real) in [(8, 9), (16, 17), (24, 26), (508, 509), (516, 517), (524, 526)] {
            achieved.released(ms(nominal), ms(real), Bytes::new(1000), rate);
        }
        // Four packets in 8 + 9 + 8 + 9 ms.
        let rate = Rate::from_bps_f64(32_000.0 / 0.034);
        assert_eq!(achieved.rate(Duration::from_ms(34)), Some(rate));
        assert_eq!(achieved.rate(Duration::from_ms(35)), None, "it was not busy for that time");
        assert_eq!(achieved.late(), Some(Duration::from_ps(1_333_333_333)));
    }
}
