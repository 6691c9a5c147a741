//! The reports of acknowledgements from a sender to its controller: round trips and marks.

use crate::common::*;
use crate::hand::sack;
use accord_control::{
    Acked, Allowance, Capabilities, Congestion, Controller, FAMILIES, Maker, Marks, PathView,
    Recovery, Transport,
};
use accord_transport::Segment;
use accord_transport::stream::{Settings, StreamReceiver, StreamSender};
use accord_units::{Bytes, Duration, Time};
use proptest::prelude::*;

/// A window of four packets, and the reports of the sender.
#[derive(Clone, Debug, Default)]
struct Recorder {
    acks: Vec<(bool, u64)>,
    congestion: Vec<Congestion>,
}

impl Controller for Recorder {
    fn on_ack(&mut self, ack: &Acked, _: &PathView, _: Time) {
        self.acks.push((ack.round_ended, ack.marked));
    }

    fn on_congestion(&mut self, what: Congestion, _: &PathView, _: Time) {
        self.congestion.push(what);
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new(4000), pacing: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { marks: Marks::Price, ..Capabilities::default() }
    }
}

fn sender() -> StreamSender<Recorder> {
    let mut sender = StreamSender::new(Recorder::default(), PACKET, Settings::LINUX);
    sender.supply(u64::MAX);
    sender
}

fn send(sender: &mut StreamSender<Recorder>, now: Time) {
    while let Ok(Segment::Data { .. }) = sender.poll(now) {}
}

/// RFC 9406 §4.2, RFC 8257 §3.3: a round trip ends with the first acknowledgement of data that was sent after the one
/// before it ended.
#[test]
fn a_round_trip_ends_when_data_sent_after_the_last_one_is_acknowledged() {
    let mut sender = sender();
    send(&mut sender, Time::ZERO);
    for k in 1..=13 {
        let now = Time::ZERO + Duration::from_ms(100 + k);
        sender.on_ack(k, 0, 0, Time::ZERO, 0, now);
        send(&mut sender, now);
    }
    let ended: Vec<u64> = (1..)
        .zip(&sender.controller().acks)
        .filter_map(|(k, (ended, _))| ended.then_some(k))
        .collect();
    // Four packets are out at each end.
    assert_eq!(ended, [1, 5, 9, 13]);
}

/// The receiver counts marked packets. An acknowledgement that was overtaken has a lower count, and
/// reports none.
#[test]
fn an_overtaken_count_of_marks_is_no_news() {
    let mut sender = sender();
    send(&mut sender, Time::ZERO);
    for (k, marked) in [(1, 2), (2, 1), (3, 2), (4, 5)] {
        let now = Time::ZERO + Duration::from_ms(100 + k);
        sender.on_ack(k, 0, 0, Time::ZERO, marked, now);
    }
    let marks: Vec<u64> = sender.controller().acks.iter().map(|a| a.1).collect();
    assert_eq!(marks, [2, 0, 0, 3]);
    assert!(sender.controller().congestion.is_empty());
}

/// Ten packets and more to come, and the round-trip times and bytes that the sender reports.
#[derive(Clone, Debug, Default)]
struct Samples {
    recovery: Recovery,
    acks: Vec<(Option<Duration>, u64)>,
}

impl Controller for Samples {
    fn on_ack(&mut self, ack: &Acked, path: &PathView, _: Time) {
        assert!(ack.rtt.is_none_or(|rtt| rtt == path.rtt));
        self.acks.push((ack.rtt, ack.bytes.get()));
    }

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {}

    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new(10_000), pacing: None }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { recovery: self.recovery, ..Capabilities::default() }
    }
}

const ALL: [Recovery; 5] =
    [Recovery::Reno, Recovery::NewReno, Recovery::SteadyNewReno, Recovery::Sack, Recovery::Rack];

/// A stream of ten packets sent at 0, and the samples of its acknowledgements after some milliseconds.
fn samples(recovery: Recovery, acks: &[(u64, u32, u32, u64)]) -> StreamSender<Samples> {
    let controller = Samples { recovery, ..Samples::default() };
    let mut sender = StreamSender::new(controller, PACKET, Settings::LINUX);
    sender.supply(10);
    while let Ok(Segment::Data { .. }) = sender.poll(Time::ZERO) {}
    for &(next, block, block_len, ms) in acks {
        sender.on_ack(next, block, block_len, Time::ZERO, 0, Time::ZERO + Duration::from_ms(ms));
    }
    sender
}

const MS: fn(u64) -> Option<Duration> = |ms| Some(Duration::from_ms(ms));

/// A block that reports a new packet times it, as Linux does (`tcp_sacktag_one`). Without blocks the
/// sender does not know which packet arrived, and RFC 7323 §4.1 takes no sample.
#[test]
fn a_new_block_gives_a_round_trip_time_and_a_bare_duplicate_none() {
    for recovery in ALL {
        let selective = matches!(recovery, Recovery::Sack | Recovery::Rack);
        let sender = samples(recovery, &[(1, 0, 0, 50), (1, 1, 1, 60), (1, 1, 2, 70)]);
        let expected = if selective {
            [(MS(50), 1000), (MS(60), 1000), (MS(70), 1000)]
        } else {
            [(MS(50), 1000), (None, 0), (None, 0)]
        };
        assert_eq!(sender.controller().acks, expected, "{recovery:?}");
        let latest = if selective { 70 } else { 50 };
        assert_eq!(Some(sender.round_trip().latest()), MS(latest), "{recovery:?}");
    }
}

/// The same block again, a packet that arrives a second time, and an acknowledgement that later ones
/// overtook are not samples: the first two echo a packet that was timed, and the third waited on its way
/// back [RFC 9002 §5.1].
#[test]
fn what_is_no_news_gives_no_round_trip_time() {
    for recovery in [Recovery::Sack, Recovery::Rack] {
        let again = samples(recovery, &[(0, 1, 1, 50), (0, 1, 1, 60), (0, 1, 0, 70)]);
        assert_eq!(again.controller().acks, [(MS(50), 1000)], "{recovery:?}");
        assert_eq!(Some(again.round_trip().latest()), MS(50), "{recovery:?}");
        // Packets 0 and 4, then one that reports 6 and was sent before that.
        let late = samples(recovery, &[(1, 3, 1, 50), (2, 2, 1, 55), (1, 5, 1, 90)]);
        let expected = [(MS(50), 2000), (MS(55), 1000), (None, 1000)];
        assert_eq!(late.controller().acks, expected, "{recovery:?}");
        assert_eq!(Some(late.round_trip().latest()), MS(55), "{recovery:?}");
    }
}

/// RFC 6298 §2.3 and §5.7: a sample by a block counts for the time-out, and ends its back-off.
#[test]
fn a_block_counts_for_the_time_out() {
    let mut sender = samples(Recovery::Sack, &[(1, 0, 0, 100)]);
    let wake = sender.next_wake();
    sender.on_wake(wake);
    // SRTT 100 ms, RTTVAR 50 ms; doubled.
    assert_eq!(MS(600), Some(sender.round_trip().timeout()));
    sender.on_ack(1, 4, 1, wake, 0, wake + Duration::from_ms(100));
    // RTTVAR 37.5 ms.
    assert_eq!(MS(250), Some(sender.round_trip().timeout()));
}

/// Every family with blocks sees the delay of packets that arrive behind a hole, and so the base
/// round-trip time in them.
#[test]
fn every_family_with_blocks_times_packets_behind_a_hole() {
    let mut seen = Vec::new();
    for family in FAMILIES {
        let mut changes = Vec::new();
        if family.params.iter().any(|p| p.name == "sack") {
            changes.push(sack(true));
        }
        if !matches!(Maker::of(family).transport, Transport::Stream)
            || family.params.iter().all(|p| p.name != "initial_window")
        {
            continue;
        }
        let controller = build(family.name, &changes);
        let recovery = controller.capabilities().recovery;
        if !matches!(recovery, Recovery::Sack | Recovery::Rack) {
            continue;
        }
        let mut sender = StreamSender::new(controller, PACKET, Settings::LINUX);
        sender.supply(u64::MAX);
        // The first packet is lost, the second one arrives.
        let mut now = Time::ZERO;
        let mut sent = Vec::new();
        while sent.len() < 2 {
            match sender.poll(now) {
                Ok(_) => sent.push(now),
                Err(again) => now = again,
            }
        }
        let arrived = sent[1] + Duration::from_ms(50);
        sender.on_ack(0, 1, 1, sent[1], 0, arrived);
        assert_eq!(MS(50), Some(sender.round_trip().latest()), "{}", family.name);
        if let Some(base) = sender.controller().base_rtt_estimate() {
            assert_eq!(MS(50), Some(base), "{}", family.name);
            seen.push(family.name);
        }
    }
    seen.sort_unstable();
    let expected =
        ["bbr1", "bbr3", "c4", "copa", "ledbat", "ledbat-pp", "vegas", "vegas-k", "vegas-rem"];
    assert_eq!(seen, expected);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Over a path that loses data, where each packet takes its own time and acknowledgements arrive in
    /// order: an acknowledgement that reports data gives the round-trip time of the packet that caused
    /// it, and no other gives one.
    #[test]
    fn each_report_of_data_times_the_packet_that_arrived(
        recovery in prop::sample::select(vec![Recovery::Sack, Recovery::Rack]),
        data in lossy(),
        seed in any::<u64>(),
        jitter in 0..30_000u64,
    ) {
        let controller = Samples { recovery, ..Samples::default() };
        let mut sender = StreamSender::new(controller, PACKET, Settings::LINUX);
        let mut receiver = StreamReceiver::new();
        sender.supply(100);
        let (mut dice, mut air) = (Dice(seed), Air::new());
        let weather = Weather { jitter: Duration::from_us(jitter), ..data };
        let (mut now, mut expected) = (Time::ZERO, Vec::new());
        while !sender.is_done() {
            let wake = loop {
                match sender.poll(now) {
                    Ok(Segment::Data { number, sent }) => {
                        air.send((number, sent), now, &weather, &mut dice);
                    }
                    Ok(other) => panic!("{other:?}"),
                    Err(again) => break again.min(sender.next_wake()),
                }
            };
            let Some(at) = air.next().filter(|&at| at <= wake) else {
                now = wake;
                sender.on_wake(now);
                continue;
            };
            now = at;
            let (number, sent) = air.take().expect("there is one");
            let (new, ack) = receiver.on_data(number, sent, false);
            if new {
                expected.push(now.since(sent));
            }
            let Segment::Ack { next, block, block_len, echo, marked } = ack else {
                unreachable!("it acknowledges");
            };
            sender.on_ack(next, block, block_len, echo, marked, now);
        }
        let acks = &sender.controller().acks;
        let timed: Vec<Duration> = acks.iter().filter_map(|(rtt, _)| *rtt).collect();
        prop_assert_eq!(timed, expected);
        prop_assert!(acks.iter().all(|(rtt, bytes)| rtt.is_some() == (*bytes > 0)));
        prop_assert_eq!(acks.iter().map(|(_, bytes)| bytes).sum::<u64>(), 100_000);
    }
}
