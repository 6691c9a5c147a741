//! The time for which a control pair was queued, where it is not known how routers treat the pair.
//!
//! What is queued in the network is known in two ways. Where the path forwards EF first, it is the
//! distance of the two halves of a pair [Xia05 §IV-B.1]: no clock is needed. Where all packets wait in
//! one queue, both halves wait alike, and their distance is nothing. Then it is the one-way delay
//! above its floor. Which is the case shows whenever something is queued: the out-of-band half has
//! waited as long as the in-band half, or it has not. Until something was queued the delay is taken,
//! which is right in both cases as long as the floor is known.

use super::floor::Floor;
use accord_family::Signal;
use accord_units::{Duration, Time};
use std::collections::VecDeque;

/// The out-of-band halves that are remembered.
const MOST_OUT: usize = 64;
/// The least delay of an in-band half from which on the two halves can be told apart.
const CONCLUSIVE: Duration = Duration::from_us(500);
/// The same in packets of the tunnel. An out-of-band half waits for the packet in service, too. So
/// halves that are a packet late together do not tell that they wait in one queue.
const CONCLUSIVE_PACKETS: u64 = 2;
/// The weight of what was seen before, for each pair that tells something.
const MEMORY: f64 = 0.9;
/// The pairs, the latest counting most, that show something together.
const ENOUGH: f64 = 3.0;
/// The distance of the halves as a part of the in-band half's delay: above the first the path forwards
/// EF first, below the second it does not.
const OVERTAKES: f64 = 0.5;
const WAITS: f64 = 0.2;
/// The mean distance of halves that wait in one queue is shorter than this. It is longer where they
/// do not and the delay grew for another reason, such as a longer route.
const TOGETHER: f64 = 250e-6;

/// What pairs have shown of late that found something queued.
#[derive(Clone, Copy, Debug, Default)]
struct Shown {
    /// The seconds between their halves.
    distance: f64,
    /// The seconds above the floor of their in-band halves.
    above: f64,
    /// The number of pairs.
    pairs: f64,
}

/// Finds the queuing delay of control pairs, and which signal tells it.
#[derive(Clone, Debug)]
pub struct Queuing {
    configured: Signal,
    by_delay: bool,
    /// The delay of an in-band half from which on it is asked what the halves show.
    conclusive: Duration,
    shown: Shown,
    floor: Floor,
    /// The floor before the route is taken to have changed, until that shows.
    before: Option<Floor>,
    /// The out-of-band halves whose in-band half has not arrived: the number, and the times of
    /// sending and arrival.
    out: VecDeque<(u64, Time, Time)>,
}

impl Queuing {
    /// Creates an estimator that has seen nothing.
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

    /// Sets the signal to go by.
    pub fn set_signal(&mut self, signal: Signal) {
        self.configured = signal;
    }

    /// Sets the time that a packet of the tunnel takes at the rate at which its packets arrive. That is
    /// at least the time that a packet takes at the bottleneck.
    pub fn set_packet_time(&mut self, time: Duration) {
        self.conclusive = CONCLUSIVE.max(time * CONCLUSIVE_PACKETS);
    }

    /// The signal in use: pairs or delay.
    pub fn signal(&self) -> Signal {
        match self.by_delay {
            true => Signal::Delay,
            false => Signal::Pairs,
        }
    }

    /// Takes the out-of-band half of a pair, which was sent at `sent` by the sender's clock.
    pub fn on_out_of_band(&mut self, pair: u64, sent: Time, at: Time) {
        self.floor.observe(raw(sent, at), at);
        if self.out.len() == MOST_OUT {
            self.out.pop_front();
        }
        self.out.push_back((pair, sent, at));
    }

    /// Takes the in-band half of a pair. Returns the time for which it was queued. Forgets the pairs
    /// up to it.
    pub fn on_in_band(&mut self, pair: u64, sent: Time, at: Time) -> Duration {
        let above = self.floor.observe(raw(sent, at), at);
        let first = self.out.iter().find(|(number, ..)| *number == pair);
        let distance = first.map(|(.., out)| at.since(*out));
        self.choose(distance, above);
        self.out.retain(|(number, ..)| *number > pair);
        match distance {
            Some(distance) if !self.by_delay => distance,
            // The other half was lost, or the distance says nothing.
            _ => above,
        }
    }

    /// Returns when the pair was sent, if its out-of-band half has arrived.
    pub fn sent(&self, pair: u64) -> Option<Time> {
        let half = self.out.iter().find(|(number, ..)| *number == pair);
        half.map(|(_, sent, _)| *sent)
    }

    /// Forgets the pairs of a run of the sender that has ended, and what its clock said.
    pub fn begin(&mut self) {
        (self.floor, self.before) = (Floor::default(), None);
        self.out.clear();
    }

    /// Finds out whether the path honours EF.
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
            // The halves are late together: they wait in one queue, or the route has got longer. A new
            // floor tells: on another route the next queue is one that they are apart in.
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

    /// A path, and a tunnel that has a part of its bottleneck.
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
            Path {
                queuing,
                packet,
                pairs: 0,
            }
        }

        /// Sends a pair. Its halves wait for so many packets, and find the route so long. Returns the
        /// queuing delay that is found.
        fn pair(&mut self, out: f64, inside: f64, route: Duration) -> Duration {
            self.pairs += 1;
            let sent = Time::ZERO + Duration::from_ms(100 * self.pairs);
            let arrival = |packets: f64| sent + route + self.packet.mul_f64(packets);
            self.queuing.on_out_of_band(self.pairs, sent, arrival(out));
            (self.queuing).on_in_band(self.pairs, sent, arrival(inside))
        }
    }

    /// A part of a packet that is in service, and packets that wait behind it.
    fn waits(most: u32) -> impl Strategy<Value = Vec<(f64, u32)>> {
        prop::collection::vec((0.0..1.0, 0..=most), 300)
    }

    const SHORT: Duration = Duration::from_ms(10);
    const LONG: Duration = Duration::from_ms(40);

    proptest! {
        /// EF goes first: an out-of-band half waits for the packet in service. The path gets longer, and
        /// the tunnel, which takes it for a queue at first, has nothing else queued for a while.
        #[test]
        fn a_longer_path_does_not_seem_to_be_a_queue(
            mbps in 2..=100u64,
            part in 0.05..1.0,
            before in waits(40),
            calm in waits(0),
            after in waits(40),
        ) {
            let mut path = Path::new(Rate::from_bps(mbps * 1_000_000), part);
            let most = path.packet * 2;
            for (service, behind) in before {
                path.pair(service, service + f64::from(behind), SHORT);
            }
            prop_assume!(path.queuing.signal() == Signal::Pairs);
            for (n, (service, _)) in calm.into_iter().enumerate() {
                let found = path.pair(service, service, LONG);
                prop_assert!(n < 50 || found < most, "{found:?} after {n} pairs");
            }
            for (service, behind) in after {
                let queued = path.packet * u64::from(behind);
                let found = path.pair(service, service + f64::from(behind), LONG);
                prop_assert!(found <= queued + most, "{found:?} of {queued:?}");
            }
        }

        /// All wait in one queue from some time on, such as behind a router that bleaches EF.
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
