//! The queuing delay of control pairs on paths whose treatment of EF is unknown.
//!
//! The queuing delay is measured in two ways. On a path that forwards EF first, it is the spacing
//! of the two halves of a pair [Xia05 §IV-B.1], which needs no clock. On a path with one queue for
//! all packets, both halves wait equally long and have no spacing. The queuing delay is then the
//! one-way delay above its floor. Packets that meet a queue distinguish the two cases: the
//! out-of-band half has waited as long as the in-band half, or it has not. Until then the one-way
//! delay is used, which is correct in both cases if the floor is known.

use super::floor::Floor;
use accord_family::Signal;
use accord_units::{Duration, Time};
use std::collections::VecDeque;

/// The number of out-of-band halves that are kept.
const MOST_OUT: usize = 64;
/// The least delay of an in-band half at which the spacing is conclusive.
const CONCLUSIVE: Duration = Duration::from_us(500);
/// The same delay in packets of the tunnel. An out-of-band half also waits for the packet in
/// service, so a common delay of one packet does not prove a common queue.
const CONCLUSIVE_PACKETS: u64 = 2;
/// The weight of earlier pairs per conclusive pair.
const MEMORY: f64 = 0.9;
/// The weighted number of pairs that is conclusive.
const ENOUGH: f64 = 3.0;
/// The bounds of the spacing of the halves as a fraction of the in-band half's delay. Above the
/// first the path forwards EF first, below the second it does not.
const OVERTAKES: f64 = 0.5;
const WAITS: f64 = 0.2;
/// The upper bound of the mean spacing of halves that wait in one queue. The spacing is longer if
/// they wait separately and the delay grew for another reason, such as a longer route.
const TOGETHER: f64 = 250e-6;

/// The evidence of recent pairs that met a queue.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    /// The sum of the spacings, in seconds.
    distance: f64,
    /// The sum of the in-band delays above the floor, in seconds.
    above: f64,
    /// The weighted number of pairs.
    pairs: f64,
}

/// An estimator of the queuing delay of control pairs, which selects its signal.
#[derive(Clone, Debug)]
pub struct Queuing {
    configured: Signal,
    by_delay: bool,
    /// The in-band delay at which a pair is conclusive.
    conclusive: Duration,
    shown: Shown,
    floor: Floor,
    /// The floor before a suspected change of route, until the change is confirmed or rejected.
    before: Option<Floor>,
    /// The out-of-band halves whose in-band half has not arrived: the number, and the times of
    /// sending and arrival.
    out: VecDeque<(u64, Time, Time)>,
}

impl Queuing {
    /// Creates an estimator without pairs.
    pub fn new(signal: Signal) -> Queuing {
        Queuing {
            configured: signal,
            by_delay: true,
            conclusive: CONCLUSIVE,
            shown: Shown::default(),
            floor: Floor::default(),
            before: None,
            out: VecDeque::new(),
        }
    }

    /// Sets the signal to use.
    pub fn set_signal(&mut self, signal: Signal) {
        self.configured = signal;
    }

    /// Sets the transmission time of a packet of the tunnel at its arrival rate. It is an upper
    /// bound of the transmission time at the bottleneck.
    pub fn set_packet_time(&mut self, time: Duration) {
        self.conclusive = CONCLUSIVE.max(time * CONCLUSIVE_PACKETS);
    }

    /// The signal in use: pairs or delay.
    pub fn signal(&self) -> Signal {
        if self.by_delay { Signal::Delay } else { Signal::Pairs }
    }

    /// Takes the out-of-band half of a pair, which was sent at `sent` by the sender's clock.
    pub fn on_out_of_band(&mut self, pair: u64, sent: Time, at: Time) {
        self.floor.observe(raw(sent, at), at);
        if self.out.len() == MOST_OUT {
            self.out.pop_front();
        }
        self.out.push_back((pair, sent, at));
    }

    /// Takes the in-band half of a pair. Returns its queuing delay. Discards the pairs up to it.
    pub fn on_in_band(&mut self, pair: u64, sent: Time, at: Time) -> Duration {
        let above = self.floor.observe(raw(sent, at), at);
        let first = self.out.iter().find(|(number, ..)| *number == pair);
        let distance = first.map(|(.., out)| at.since(*out));
        self.choose(distance, above);
        self.out.retain(|(number, ..)| *number > pair);
        match distance {
            Some(distance) if !self.by_delay => distance,
            // The other half was lost, or the spacing is not the signal.
            _ => above,
        }
    }

    /// Returns the time at which the pair was sent, if its out-of-band half has arrived.
    pub fn sent(&self, pair: u64) -> Option<Time> {
        let half = self.out.iter().find(|(number, ..)| *number == pair);
        half.map(|(_, sent, _)| *sent)
    }

    /// Discards the pairs of a sender that has restarted, and the floor of its clock.
    pub fn begin(&mut self) {
        (self.floor, self.before) = (Floor::default(), None);
        self.out.clear();
    }

    /// Updates the evidence of whether the path honours EF.
    fn choose(&mut self, distance: Option<Duration>, above: Duration) {
        match self.configured {
            Signal::Delay => self.by_delay = true,
            Signal::Pairs => self.by_delay = false,
            Signal::Auto => {
                if let Some(distance) = distance.filter(|_| above >= self.conclusive) {
                    self.learn(distance, above);
                }
            }
        }
    }

    fn learn(&mut self, distance: Duration, above: Duration) {
        let shown = &mut self.shown;
        shown.distance = MEMORY * shown.distance + distance.as_secs_f64();
        shown.above = MEMORY * shown.above + above.as_secs_f64();
        shown.pairs = MEMORY * shown.pairs + 1.0;
        if shown.pairs < ENOUGH {
            return;
        }
        let part = shown.distance / shown.above;
        if part > OVERTAKES {
            (self.by_delay, self.before) = (false, None);
        } else if part < WAITS && shown.distance / shown.pairs < TOGETHER && !self.by_delay {
            // Both halves are late: they wait in one queue, or the route has become longer. A new
            // floor distinguishes the two cases, because on a longer route the next queue separates
            // the halves.
            self.shown = Shown::default();
            match self.before.take() {
                None => self.before = Some(std::mem::take(&mut self.floor)),
                Some(floor) => (self.by_delay, self.floor) = (true, floor),
            }
        }
    }
}

/// The raw one-way delay of a half: the difference of the two clocks, which have no common zero.
fn raw(sent: Time, at: Time) -> i64 {
    at.as_ps().wrapping_sub(sent.as_ps()) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_units::{Bytes, Rate};
    use proptest::prelude::*;

    const PACKET: Bytes = Bytes::new(1500);

    /// A path, and a tunnel with a share of its bottleneck.
    struct Path {
        queuing: Queuing,
        packet: Duration,
        pairs: u64,
    }

    impl Path {
        fn new(rate: Rate, part: f64) -> Path {
            let mut queuing = Queuing::new(Signal::Auto);
            let own = Rate::from_bps_f64(rate.as_bps_f64() * part);
            queuing.set_packet_time(own.transmission(PACKET));
            let packet = rate.transmission(PACKET);
            Path { queuing, packet, pairs: 0 }
        }

        /// Sends a pair. `out` and `inside` are the backlogs ahead of its halves, in packets, and
        /// `route` is the propagation delay. Returns the estimated queuing delay.
        fn pair(&mut self, out: f64, inside: f64, route: Duration) -> Duration {
            self.pairs += 1;
            let sent = Time::ZERO + Duration::from_ms(100 * self.pairs);
            let arrival = |packets: f64| sent + route + self.packet.mul_f64(packets);
            self.queuing.on_out_of_band(self.pairs, sent, arrival(out));
            (self.queuing).on_in_band(self.pairs, sent, arrival(inside))
        }
    }

    /// The remainder of the packet in service, and the packets that wait behind it.
    fn waits(most: u32) -> impl Strategy<Value = Vec<(f64, u32)>> {
        prop::collection::vec((0.0..1.0, 0..=most), 300)
    }

    const SHORT: Duration = Duration::from_ms(10);
    const LONG: Duration = Duration::from_ms(40);

    proptest! {
        /// EF is forwarded first, so an out-of-band half waits only for the packet in service. The
        /// path becomes longer. The tunnel at first takes that for a queue, and has an empty queue
        /// for a while.
        #[test]
        fn a_longer_path_does_not_seem_to_be_a_queue(
            mbps in 2..=100u64,
            part in 0.05..1.0,
            before in waits(40),
            quiet in waits(0),
            after in waits(40),
        ) {
            let mut path = Path::new(Rate::from_bps(mbps * 1_000_000), part);
            let most = path.packet * 2;
            for (service, behind) in before {
                path.pair(service, service + f64::from(behind), SHORT);
            }
            prop_assume!(path.queuing.signal() == Signal::Pairs);
            for (n, (service, _)) in quiet.into_iter().enumerate() {
                let found = path.pair(service, service, LONG);
                prop_assert!(n < 50 || found < most, "{found:?} after {n} pairs");
            }
            for (service, behind) in after {
                let queued = path.packet * u64::from(behind);
                let found = path.pair(service, service + f64::from(behind), LONG);
                prop_assert!(found <= queued + most, "{found:?} of {queued:?}");
            }
        }

        /// From some time on all packets wait in one queue, for example at a router that bleaches
        /// EF.
        #[test]
        fn one_queue_is_found_out(
            mbps in 2..=100u64,
            part in 0.2..1.0,
            before in waits(40),
            after in waits(40),
        ) {
            let mut path = Path::new(Rate::from_bps(mbps * 1_000_000), part);
            for (service, behind) in before {
                path.pair(service, service + f64::from(behind), SHORT);
            }
            prop_assume!(path.queuing.signal() == Signal::Pairs);
            for (service, behind) in after {
                let packets = service + f64::from(behind);
                path.pair(packets, packets, SHORT);
            }
            prop_assert_eq!(path.queuing.signal(), Signal::Delay);
        }
    }
}
