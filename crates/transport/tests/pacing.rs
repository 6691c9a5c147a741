//! Streams that space the packets of their window, and the least time-out.

use crate::common::*;
use accord_control::{Acked, Allowance, Burst, Capabilities, Congestion, Controller, PathView};
use accord_family::Raw;
use accord_transport::Segment;
use accord_transport::stream::{Settings, StreamReceiver, StreamSender};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;
use std::collections::VecDeque;

const RTT: Duration = Duration::from_ms(100);
const PACED: Settings = Settings { pacing: true, ..Settings::LINUX };

/// A sender over a wire of [`RTT`] that acknowledges each packet; some are lost on it.
struct Wire {
    sender: StreamSender,
    receiver: StreamReceiver,
    now: Time,
    back: VecDeque<(Time, Segment)>,
    /// Of each packet: when it went, the window then, and the smoothed round-trip time.
    sent: Vec<(Time, f64, Duration)>,
    /// The longest time that a packet was to wait for its turn, in smoothed round trips.
    longest: f64,
    loss: f64,
    dice: Dice,
}

impl Wire {
    fn new(sender: StreamSender, loss: f64) -> Wire {
        let mut sender = sender;
        sender.supply(u64::MAX);
        Wire {
            sender,
            receiver: StreamReceiver::new(),
            now: Time::ZERO,
            back: VecDeque::new(),
            sent: Vec::new(),
            longest: 0.0,
            loss,
            dice: Dice(1),
        }
    }

    fn of(name: &str, changes: &[(&str, Raw)], settings: Settings) -> Wire {
        Wire::new(StreamSender::new(build(name, changes), PACKET, settings), 0.0)
    }

    fn run(&mut self, until: Time) {
        while self.now < until {
            let again = loop {
                let srtt = self.sender.round_trip().smoothed();
                match self.sender.poll(self.now) {
                    Ok(Segment::Data { number, sent }) => {
                        let window = self.sender.controller().allowance().window;
                        let packets = window.as_f64() / PACKET.as_f64();
                        self.sent.push((self.now, packets.max(1.0), srtt));
                        if !self.dice.chance(self.loss) {
                            let (_, ack) = self.receiver.on_data(number, sent, false);
                            self.back.push_back((self.now + RTT, ack));
                        }
                    }
                    Ok(other) => panic!("a stream sends data: {other:?}"),
                    Err(again) => {
                        if again < Time::MAX {
                            let wait = again.since(self.now).as_secs_f64();
                            self.longest = self.longest.max(wait / srtt.as_secs_f64());
                        }
                        break again;
                    }
                }
            };
            let ack = self.back.front().map_or(Time::MAX, |(at, _)| *at);
            self.now = again.min(ack).min(self.sender.next_wake());
            if ack == self.now {
                let (_, ack) = self.back.pop_front().expect("it is there");
                let Segment::Ack { next, block, block_len, echo, marked } = ack else {
                    panic!("only acknowledgements come back");
                };
                (self.sender).on_ack(next, block, block_len, echo, marked, self.now);
            } else {
                self.sender.on_wake(self.now);
            }
        }
    }

    /// The most packets that went within any `span` after `from`.
    fn most_within(&self, span: Duration, from: Time) -> usize {
        let times: Vec<Time> =
            (self.sent.iter().map(|(at, ..)| *at)).filter(|at| *at >= from).collect();
        let within = |i: &usize| times[*i..].partition_point(|at| at.since(times[*i]) < span);
        (0..times.len()).map(|i| within(&i)).max().expect("packets went")
    }
}

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn window_of(packets: u64) -> [(&'static str, Raw); 1] {
    [("initial_window", Raw::Text(format!("{packets} pkt")))]
}

#[test]
fn a_window_goes_at_once_or_over_the_round_trip() {
    // A window that is full and does not grow: Vegas between its thresholds sends as acknowledged.
    let still = [
        ("initial_window", Raw::Text("48 pkt".into())),
        ("alpha", Raw::Text("1 pkt".into())),
        ("beta", Raw::Text("3 pkt".into())),
    ];
    let mut at_once = Wire::of("vegas", &still, Settings::LINUX);
    let mut paced = Wire::of("vegas", &still, PACED);
    at_once.run(at(150));
    paced.run(at(1050));
    assert!(at_once.most_within(Duration::from_us(1), at(1)) >= 48);
    // The initial window, before there is a round-trip time; afterwards never two at once, and
    // in slow start at most twice a window over a round trip: a quarter has half of it.
    assert_eq!(paced.most_within(Duration::from_us(1), Time::ZERO), 48);
    assert_eq!(paced.most_within(Duration::from_us(1), at(101)), 1);
    for pair in paced.sent.windows(2).filter(|pair| pair[0].0 > at(101)) {
        let gap = pair[1].0.since(pair[0].0).as_secs_f64();
        let (_, window, srtt) = pair[0];
        // In flight may be a few packets more, and the gap as much shorter.
        let least = srtt.as_secs_f64() / (2.0 * window + 2.0);
        assert!(gap >= 0.9 * least, "{gap} s at a window of {window}");
    }
}

#[test]
fn congestion_avoidance_sends_a_window_in_five_sixths_of_a_round_trip() {
    // A loss puts the threshold where the window is. From there it grows by a packet per round trip.
    let mut wire =
        Wire::new(StreamSender::new(build("newreno", &window_of(40)), PACKET, PACED), 0.0);
    wire.run(at(101));
    wire.loss = 1.0;
    wire.run(at(102));
    wire.loss = 0.0;
    wire.run(at(3000));
    let threshold = wire.sender.controller().ssthresh();
    assert!(threshold.is_some(), "there was a loss");
    let from = wire.sent.len();
    wire.run(at(6000));
    let mut gaps: Vec<f64> = (wire.sent[from..].windows(2))
        .map(|pair| {
            let (sent, window, srtt) = pair[0];
            pair[1].0.since(sent).as_secs_f64() * window / srtt.as_secs_f64()
        })
        .collect();
    gaps.sort_by(f64::total_cmp);
    // Five sixths at least, but where the window just grew; the window is used up in each round.
    let twentieth = gaps[gaps.len() / 20];
    assert!(twentieth > 0.80, "{twentieth}");
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    assert!((0.95..1.05).contains(&mean), "{mean} round trips per window");
}

/// `packets_out` of Linux falls only as the window moves, so packets that arrived beyond a hole count for the
/// pace of its repair.
#[test]
fn packets_beyond_a_hole_count_for_the_pace() {
    let changes = [("initial_window", Raw::Text("20 pkt".into())), ("sack", Raw::Flag(true))];
    let mut sender = StreamSender::new(build("newreno", &changes), PACKET, PACED);
    sender.supply(u64::MAX);
    while sender.poll(Time::ZERO).is_ok() {}
    // All but the first of 20 packets arrive.
    sender.on_ack(0, 1, 19, Time::ZERO, 0, at(100));
    assert_eq!(sender.controller().cwnd().get(), 10 * PACKET.get());
    assert!(sender.poll(at(100)).is_ok(), "the repair");
    let next = sender.poll(at(100)).expect_err("it waits for its turn");
    let gap = next.since(at(100)).as_secs_f64();
    assert!((gap - 0.1 / 1.2 / 20.0).abs() < 1e-4, "{gap}");
}

/// The window still decides the amount: a paced sender has as many packets acknowledged after some
/// round trips as one that is not, but for a round trip.
#[test]
fn pacing_costs_a_round_trip_at_most() {
    for name in ["newreno", "cubic", "reno"] {
        let arrived = |settings: Settings, ms: u64| {
            let mut wire = Wire::of(name, &[], settings);
            wire.run(at(ms));
            wire.receiver.next()
        };
        let (without, with, later) =
            (arrived(Settings::LINUX, 1050), arrived(PACED, 1050), arrived(PACED, 1150));
        assert!(with <= without, "{name}: {with} of {without}");
        assert!(later >= without, "{name}: {later} of {without}");
    }
}

#[test]
fn the_least_time_out_is_a_setting_and_outlives_connections() {
    for min_rto in [Duration::from_ms(200), Duration::from_secs(1), Duration::ZERO] {
        let settings = Settings { min_rto, pacing: false };
        let mut wire = Wire::of("newreno", &window_of(1), settings);
        wire.run(at(2000));
        for _ in 0..2 {
            // A steady path: the variation has gone, and the least time-out is what counts.
            let wait = wire.sender.next_wake().since(wire.now);
            let most = min_rto.max(RTT + Duration::from_ms(2));
            assert!(wait >= min_rto.max(RTT) && wait <= most, "{wait}");
            wire.sender.reconnect(build("newreno", &window_of(1)), wire.now);
            wire.sender.supply(u64::MAX);
            wire.run(wire.now + Duration::from_secs(2));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// All changes of the window and all losses.
    #[test]
    fn no_packet_waits_longer_than_a_round_trip(values in any_controller(true), loss in 0.0..0.3f64) {
        use accord_control::{AnyController, Controller, Maker, Transport};
        prop_assume!(matches!(Maker::of(values.family()).transport, Transport::Stream));
        let controller = AnyController::build(&values, PACKET);
        // One that says its own pace from the start is not spaced by the transport.
        prop_assume!(controller.allowance().pacing.is_none());
        let mut wire = Wire::new(StreamSender::new(controller, PACKET, PACED), loss);
        wire.run(at(700));
        prop_assert!(wire.longest <= 1.0, "{} round trips", wire.longest);
    }
}

/// A controller with a window that is never full, a pace of a packet per millisecond, and bursts.
#[derive(Clone, Debug)]
struct Bursty(Burst);

impl Controller for Bursty {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {}

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {}

    fn allowance(&self) -> Allowance {
        let pacing = Some(Rate::from_bps(8 * PACKET.get() * 1000));
        Allowance { window: Bytes::new(u64::MAX / 2), pacing }
    }

    fn burst(&self) -> Burst {
        self.0
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::default()
    }
}

/// A bucket refills while packets wait, so the next one goes with the next token. A sender that waits for a
/// full bucket, or sends in units, is silent until it can send as many again.
#[test]
fn bursts_differ_in_what_a_sender_waits_for() {
    let size = Bytes::new(4 * PACKET.get());
    for (burst, milliseconds) in [
        (Burst::Packet, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]),
        (Burst::Bucket(size), [0, 0, 0, 0, 1, 2, 3, 4, 5, 6]),
        (Burst::Full(size), [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]),
        (Burst::Unit(size), [0, 0, 0, 0, 4, 4, 4, 4, 8, 8]),
    ] {
        let mut sender = StreamSender::new(Bursty(burst), PACKET, Settings::LINUX);
        sender.supply(u64::MAX);
        let (mut now, mut went) = (Time::ZERO, Vec::new());
        while went.len() < milliseconds.len() {
            match sender.poll(now) {
                Ok(_) => went.push(now),
                Err(again) => now = again,
            }
        }
        assert_eq!(went, milliseconds.map(at), "{burst:?}");
    }
}
