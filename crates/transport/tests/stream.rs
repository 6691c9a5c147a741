//! Streams over networks that lose, delay, double and reorder.

use crate::common::*;
use accord_control::{AnyController, Controller, Recovery};
use accord_family::Raw;
use accord_transport::{Segment, stream};
use accord_units::{Bytes, Duration, Time};
use proptest::prelude::*;
use std::cell::Cell;

/// Something on its way.
#[derive(Clone, Copy)]
struct Flying {
    segment: Segment,
    /// The number of time-outs before it, or the data that caused it, was sent.
    epoch: u64,
    /// True if the data is new to the receiver, as far as is known.
    new: bool,
}

struct World {
    now: Time,
    sender: stream::StreamSender,
    receiver: stream::StreamReceiver,
    there: Air<Flying>,
    back: Air<Flying>,
    data: Weather,
    acks: Weather,
    dice: Dice,
    /// The number of times that each packet was new to the receiver.
    delivered: Vec<u32>,
    transmissions: u64,
    /// True if the latest packet is the first one of unknown fate to the sender. It goes at once,
    /// whatever the window, when a recovery begins or goes on [RFC 5681 §3.2, RFC 6582 §3.2].
    first: bool,
    /// The latest cumulative acknowledgement that the sender took.
    told: u64,
    /// The acknowledgements since the last time-out of packets that were sent before it, or
    /// unnecessarily. A sender without SACK takes each as the arrival of a useful packet.
    in_vain: u64,
    /// Numbers of transmissions that the data wire loses, counted from 0.
    accidents: Vec<u64>,
}

impl World {
    fn new(
        controller: AnyController,
        packets: u64,
        data: Weather,
        acks: Weather,
        seed: u64,
    ) -> World {
        let settings = stream::Settings { pacing: seed % 2 == 1, ..stream::Settings::LINUX };
        let mut sender = stream::StreamSender::new(controller, PACKET, settings);
        sender.supply(packets);
        World {
            now: Time::ZERO,
            sender,
            receiver: stream::StreamReceiver::new(),
            there: Air::new(),
            back: Air::new(),
            data,
            acks,
            dice: Dice(seed),
            delivered: vec![0; packets as usize],
            transmissions: 0,
            first: false,
            told: 0,
            in_vain: 0,
            accidents: Vec::new(),
        }
    }

    /// Sends all packets that may be sent. `Err` is the time at which to ask again.
    fn send(&mut self, check: &impl Fn(&World)) -> Time {
        loop {
            match self.sender.poll(self.now) {
                Err(again) => return again,
                Ok(segment) => {
                    let Segment::Data { number, sent } = segment else {
                        panic!("a stream sends data: {segment:?}");
                    };
                    assert!((number as usize) < self.delivered.len(), "{number} does not exist");
                    assert_eq!(sent, self.now);
                    let epoch = self.sender.timeouts();
                    let flying = Flying { segment, epoch, new: true };
                    if self.accidents.contains(&self.transmissions) {
                        let certain = Weather { loss: 1.0, ..self.data };
                        self.there.send(flying, self.now, &certain, &mut self.dice);
                    } else {
                        self.there.send(flying, self.now, &self.data, &mut self.dice);
                    }
                    self.first = number == self.told;
                    self.transmissions += 1;
                    check(self);
                    assert!(self.transmissions < 1_000_000, "it never stops sending");
                }
            }
        }
    }

    /// Runs until all is acknowledged; `check` looks at each transmission.
    fn run(&mut self, check: impl Fn(&World)) {
        for _ in 0..1_000_000 {
            let again = self.send(&check);
            if self.sender.is_done() {
                return;
            }
            let deadline = self.sender.next_wake();
            assert!(
                deadline.min(again) < Time::MAX,
                "data are outstanding and no timer is pending"
            );
            let arrivals = [self.there.next(), self.back.next()];
            let arrival = arrivals.into_iter().flatten().min().unwrap_or(Time::MAX);
            let next = arrival.min(deadline).min(again);
            assert!(next >= self.now, "time goes on");
            self.now = next;
            if self.there.next() == Some(next) {
                self.at_receiver();
            } else if self.back.next() == Some(next) {
                self.at_sender();
            } else {
                // A wake may also be the turn of a packet that waited for its time.
                let timeouts = self.sender.timeouts();
                self.sender.on_wake(next);
                if self.sender.timeouts() > timeouts {
                    self.in_vain = 0;
                }
            }
        }
        panic!("it never ends");
    }

    fn at_receiver(&mut self) {
        let flying = self.there.take().expect("it is there");
        let Segment::Data { number, sent } = flying.segment else {
            panic!("only data is sent there");
        };
        let (new, ack) = self.receiver.on_data(number, sent, number % 7 == 0);
        self.delivered[number as usize] += u32::from(new);
        let first_missing = self.delivered.iter().position(|n| *n == 0);
        let expected = first_missing.unwrap_or(self.delivered.len()) as u64;
        assert_eq!(self.receiver.next(), expected, "the first that is missing");
        let ack = Flying { segment: ack, new, ..flying };
        self.back.send(ack, self.now, &self.acks, &mut self.dice);
    }

    fn at_sender(&mut self) {
        let ack = self.back.take().expect("it is there");
        let Segment::Ack { next, block, block_len, echo, marked } = ack.segment else {
            panic!("only acknowledgements come back");
        };
        let of_use = ack.new && ack.epoch == self.sender.timeouts();
        let recovery = self.sender.controller().capabilities().recovery;
        let selective = matches!(recovery, Recovery::Sack | Recovery::Rack);
        self.in_vain += u64::from(!of_use && !selective);
        self.told = self.told.max(next);
        self.sender.on_ack(next, block, block_len, echo, marked, self.now);
    }

    /// All that was to be sent arrived, each packet once as far as the application sees.
    fn complete(&self) {
        assert!(self.delivered.iter().all(|n| *n == 1), "{:?}", self.delivered);
        let repeated = self.transmissions - self.delivered.len() as u64;
        assert_eq!(self.sender.retransmissions(), repeated);
    }

    /// The packets on their way, or whose acknowledgement is, among those sent since the last
    /// time-out. Packets that the receiver had already are sent unnecessarily after a time-out, and
    /// leave the sender's state with all before them, so they do not count.
    fn flying(&self) -> u64 {
        let now = self.sender.timeouts();
        let there = self.there.count(|f| match f.segment {
            Segment::Data { number, .. } => f.epoch == now && self.delivered[number as usize] == 0,
            _ => false,
        });
        there + self.back.count(|f| f.epoch == now && f.new)
    }
}

fn sack() -> [(&'static str, Raw); 1] {
    [("sack", Raw::Flag(true))]
}

/// If packets keep their order, the sender's conclusions from acknowledgements are true: it never
/// has more on the way than its window, except for a repair of the first packet.
fn keeps_its_window(controller: AnyController, w: (u64, Weather, Weather, u64)) {
    let (packets, data, acks, seed) = w;
    let mut world = World::new(controller, packets, data, acks, seed);
    world.run(|w| {
        let window = w.sender.controller().allowance().window.get() / PACKET.get();
        let (flying, most) = (w.flying(), window.max(1) + w.in_vain);
        assert!(w.first || flying <= most, "{flying} in a window of {window}");
    });
    world.complete();
}

fn any_lossy() -> impl Strategy<Value = (u64, Weather, Weather, u64)> {
    (1..300u64, lossy(), lossy(), any::<u64>())
}

proptest! {
    #[test]
    fn everything_arrives_once_whatever_the_network_does(
        values in any_controller(true),
        packets in 1..300u64,
        (data, acks, seed) in (foul(), foul(), any::<u64>()),
    ) {
        let mut world = World::new(AnyController::build(&values, PACKET), packets, data, acks, seed);
        world.run(|_| {});
        world.complete();
    }

    #[test]
    fn reno_keeps_its_window(w in any_lossy()) {
        keeps_its_window(build("reno", &[]), w);
    }

    #[test]
    fn newreno_keeps_its_window(w in any_lossy()) {
        keeps_its_window(build("newreno", &[]), w);
    }

    #[test]
    fn newreno_with_sack_keeps_its_window(w in any_lossy()) {
        keeps_its_window(build("newreno", &sack()), w);
    }

    /// A regulated recovery begins above its window and comes down to it [RFC 9937 §7], and a
    /// time-out spares the latest packets [RFC 8985 §6.3]. So the bound is the largest window so
    /// far, and one packet more: a probe, or the first repair.
    #[test]
    fn newreno_with_rack_keeps_its_largest_window((packets, data, acks, seed) in any_lossy()) {
        let controller = build("newreno", &[("rack", Raw::Flag(true))]);
        let largest = Cell::new(0);
        let mut world = World::new(controller, packets, data, acks, seed);
        world.run(|w| {
            let window = w.sender.controller().allowance().window.get() / PACKET.get();
            largest.set(window.max(largest.get()));
            let flying = w.flying();
            assert!(flying <= largest.get() + 1, "{flying} of {}", largest.get());
        });
        world.complete();
    }

    #[test]
    fn vegas_keeps_its_window(w in any_lossy()) {
        keeps_its_window(build("vegas", &[]), w);
    }

    #[test]
    fn vegas_with_sack_keeps_its_window(w in any_lossy()) {
        keeps_its_window(build("vegas", &sack()), w);
    }
}

/// A transfer of 200 packets without losses except these transmissions.
fn with_accidents(name: &str, sacks: bool, accidents: &[u64]) -> World {
    let controller = if sacks { build(name, &sack()) } else { build(name, &[]) };
    let mut world = World::new(controller, 200, Weather::FAIR, Weather::FAIR, 0);
    world.accidents = accidents.to_vec();
    world.run(|_| {});
    world.complete();
    world
}

#[test]
fn without_loss_nothing_is_sent_twice() {
    for name in ["reno", "newreno", "vegas", "vegas-k"] {
        let world = with_accidents(name, false, &[]);
        assert_eq!(world.transmissions, 200, "{name}");
        assert_eq!(world.sender.timeouts(), 0, "{name}");
    }
}

#[test]
fn one_loss_costs_one_retransmission_and_no_timeout() {
    for (name, sack) in [("reno", false), ("newreno", false), ("newreno", true)] {
        let world = with_accidents(name, sack, &[40]);
        assert_eq!(world.sender.retransmissions(), 1, "{name} {sack}");
        assert_eq!(world.sender.timeouts(), 0, "{name} {sack}");
    }
}

/// Five holes in a window: NewReno fills one a round trip, SACK all at once.
#[test]
fn several_losses_of_a_window_cost_no_timeout() {
    let holes = [40, 42, 44, 46, 48];
    let round = Duration::from_ms(40);
    for (sack, least, most) in [(false, 4, 4), (true, 0, 1)] {
        let controller = build("newreno", &[("sack", Raw::Flag(sack))]);
        let mut world = World::new(controller, 200, Weather::FAIR, Weather::FAIR, 0);
        world.accidents = holes.to_vec();
        let repairs: [Cell<Option<Time>>; 5] = Default::default();
        world.run(|w| {
            let n = w.sender.retransmissions() as usize;
            if n > 0 && repairs[n - 1].get().is_none() {
                repairs[n - 1].set(Some(w.now));
            }
        });
        world.complete();
        assert_eq!(world.sender.retransmissions(), 5);
        assert_eq!(world.sender.timeouts(), 0);
        let [first, .., last] = repairs.map(|at| at.get().expect("five repairs"));
        let took = last.since(first);
        assert!(round * least <= took && took <= round * most, "{took}");
    }
}

/// A packet is lost, and its repair, too: the timer finds that, after many packets were sent beyond
/// the hole. The window does not grow for it.
#[test]
fn what_is_sent_beyond_a_hole_does_not_widen_the_window() {
    for sack in [false, true] {
        let transfer = |accidents: &[u64], look: &dyn Fn(&World)| {
            let controller = build("newreno", &[("sack", Raw::Flag(sack))]);
            let mut world = World::new(controller, 1000, Weather::FAIR, Weather::FAIR, 0);
            world.accidents = accidents.to_vec();
            world.run(look);
            world
        };
        let repair = Cell::new(None);
        let once = transfer(&[100], &|world| {
            if world.sender.retransmissions() == 1 && repair.get().is_none() {
                repair.set(Some(world.transmissions - 1));
            }
        });
        let halved = once.sender.controller().ssthresh().expect("a loss");
        let repair = repair.get().expect("there was one");

        let after = Cell::new(None);
        let twice = transfer(&[100, repair], &|world| {
            if world.sender.timeouts() == 1 && after.get().is_none() {
                after.set(world.sender.controller().ssthresh());
            }
        });
        assert_eq!(twice.sender.timeouts(), 1);
        let after = after.get().expect("the timer ran out");
        assert!(after <= halved, "{after}, and {halved} before");
    }
}

#[test]
fn a_lost_last_packet_needs_the_timer() {
    // No later packet reveals the loss.
    let world = with_accidents("newreno", true, &[199]);
    assert_eq!(world.sender.timeouts(), 1);
    assert_eq!(world.sender.retransmissions(), 1);
}

/// Acknowledgements of packets that were never sent change nothing.
#[test]
fn impossible_acknowledgements_are_ignored() {
    let mut sender =
        stream::StreamSender::new(build("newreno", &sack()), PACKET, stream::Settings::LINUX);
    sender.supply(10);
    let now = Time::from_ps(1_000_000_000);
    assert!(sender.poll(now).is_ok());
    sender.on_ack(1_000_000, 0, 0, Time::ZERO, 0, now);
    sender.on_ack(0, 5, u32::MAX, Time::ZERO, 0, now);
    sender.on_ack(0, u32::MAX, u32::MAX, Time::ZERO, 0, now);
    sender.on_ack(1, u32::MAX, u32::MAX, Time::ZERO, 0, now);
    assert!(!sender.is_done());
    let Ok(Segment::Data { number, .. }) = sender.poll(now) else {
        panic!("a window of ten packets has room");
    };
    assert_eq!(number, 1);
    assert_eq!(sender.controller().allowance().window, Bytes::new(10_000));
}

#[test]
fn a_new_connection_starts_slowly_and_ignores_the_one_before() {
    let controller = || build("newreno", &[]);
    let mut sender = stream::StreamSender::new(controller(), PACKET, stream::Settings::LINUX);
    let mut receiver = stream::StreamReceiver::new();
    let rtt = Duration::from_ms(100);
    let mut now = Time::ZERO;
    // A round sends the packets that may be sent at once, acknowledges them a round trip later, and
    // returns their number and the last acknowledgement.
    let mut round = |sender: &mut stream::StreamSender, now: &mut Time| {
        let mut sent = Vec::new();
        while let Ok(Segment::Data { number, sent: at }) = sender.poll(*now) {
            sent.push((number, at));
        }
        *now += rtt;
        let acks: Vec<Segment> =
            (sent.iter()).map(|&(number, at)| receiver.on_data(number, at, false).1).collect();
        acks.iter().for_each(|ack| tell(sender, *ack, *now));
        (sent.len(), acks.last().copied())
    };
    sender.supply(1000);
    let first: Vec<usize> = (0..5).map(|_| round(&mut sender, &mut now).0).collect();
    while !sender.is_done() {
        round(&mut sender, &mut now);
    }
    // The connection goes on at its window ...
    sender.supply(100);
    let (burst, stale) = round(&mut sender, &mut now);
    assert_eq!(burst, 100);
    assert!(sender.is_done());
    // ... a new one starts afresh.
    now += rtt;
    sender.reconnect(controller(), now);
    sender.supply(1000);
    let again = round(&mut sender, &mut now).0;
    assert_eq!(again, first[0]);
    // Duplicates of the connection before are no sign of loss.
    let cwnd = sender.controller().cwnd();
    for _ in 0..10 {
        tell(&mut sender, stale.expect("a hundred were sent"), now);
    }
    let mut second = vec![again];
    second.extend((1..5).map(|_| round(&mut sender, &mut now).0));
    assert_eq!(second, first);
    assert!(sender.controller().cwnd() > cwnd);
    assert_eq!((sender.retransmissions(), sender.timeouts()), (0, 0));
}

fn tell(sender: &mut stream::StreamSender, ack: Segment, now: Time) {
    if let Segment::Ack { next, block, block_len, echo, marked } = ack {
        sender.on_ack(next, block, block_len, echo, marked, now);
    }
}

/// RFC 2018 §4: an acknowledgement that moves the window reports again the data beyond it, since
/// earlier reports may be lost.
#[test]
fn a_repair_is_acknowledged_with_what_waits_beyond_the_next_hole() {
    let mut receiver = stream::StreamReceiver::new();
    let mut acknowledge = |number| match receiver.on_data(number, Time::ZERO, false).1 {
        Segment::Ack { next, block, block_len, .. } => (next, block, block_len),
        other => panic!("not an acknowledgement: {other:?}"),
    };
    // Packets 0 and 3 are missing.
    for (number, told) in [(1, (0, 1, 1)), (2, (0, 1, 2)), (4, (0, 4, 1)), (5, (0, 4, 2))] {
        assert_eq!(acknowledge(number), told);
    }
    assert_eq!(acknowledge(0), (3, 1, 2));
    // It had arrived.
    assert_eq!(acknowledge(1), (3, 1, 0));
    assert_eq!(acknowledge(3), (6, 0, 0));
}
