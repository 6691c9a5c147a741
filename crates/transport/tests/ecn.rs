//! Congestion marks from the receiver's count to the controller's window.

use accord_control::{AnyController, Controller, FAMILIES};
use accord_family::Raw;
use accord_transport::Segment;
use accord_transport::stream::{Settings, StreamReceiver, StreamSender};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

const RTT: Duration = Duration::from_ms(100);

fn controller(name: &str) -> AnyController {
    let family = FAMILIES.iter().find(|f| f.name == name).expect("known");
    let mut values = family.defaults();
    for (param, raw) in [("ecn", Raw::Flag(true)), ("initial_window", Raw::Text("64 pkt".into()))] {
        values.set(param, &raw).expect("in range");
    }
    AnyController::build(&values, Bytes::new(1000))
}

/// The fate of the n-th packet sent.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    Arrives,
    Marked,
    Lost,
}

/// Both ends with a wire of 100 ms there and none back; the window in packets in the
/// middle of each round trip, when the acknowledgements of one have come.
fn windows(
    name: &str,
    rounds: usize,
    fate: impl Fn(u64) -> Fate,
    ack_lost: impl Fn(u64) -> bool,
) -> Vec<u64> {
    let mut sender = StreamSender::new(controller(name), Bytes::new(1000), Settings::LINUX);
    let mut receiver = StreamReceiver::new();
    sender.supply(u64::MAX);
    let mut wire: VecDeque<(Time, Segment, bool)> = VecDeque::new();
    let (mut now, mut sent, mut acks) = (Time::ZERO, 0, 0);
    let mut windows = Vec::new();
    let mut end = Time::ZERO + RTT + RTT.mul_f64(0.5);
    while windows.len() < rounds {
        while let Ok(segment) = sender.poll(now) {
            // Apart, so acknowledgements do not come in one instant.
            let arrival = now + RTT + Duration::from_us(sent);
            let what = fate(sent);
            if what != Fate::Lost {
                wire.push_back((arrival, segment, what == Fate::Marked));
            }
            sent += 1;
        }
        let (arrival, segment, marked) = wire.pop_front().expect("something is under way");
        now = arrival.max(now);
        if now > end {
            windows.push(sender.controller().cwnd().get() / 1000);
            end += RTT;
        }
        let Segment::Data { number, sent } = segment else { unreachable!("only data is sent") };
        let (_, ack) = receiver.on_data(number, sent, marked);
        acks += 1;
        if let Segment::Ack { next, block, block_len, echo, marked } = ack
            && !ack_lost(acks)
        {
            sender.on_ack(next, block, block_len, echo, marked, now);
        }
    }
    windows
}

/// Each round trip of marks halves once, however many there are; two packets are the least.
#[test]
fn marks_halve_the_window_once_a_round_trip() {
    for name in ["reno", "newreno", "vegas"] {
        let all = windows(name, 6, |_| Fate::Marked, |_| false);
        assert_eq!(all, [32, 16, 8, 4, 2, 2], "{name}");
        // The first window of 64 is marked, nothing after it.
        let first =
            windows(name, 3, |n| if n < 64 { Fate::Marked } else { Fate::Arrives }, |_| false);
        assert!(first.iter().all(|w| (32..36).contains(w)), "{name}: {first:?}");
    }
}

/// The count comes with the next acknowledgement, so a mark survives the loss of its own.
#[test]
fn a_mark_survives_the_loss_of_its_acknowledgement() {
    let third = |n| if n == 2 { Fate::Marked } else { Fate::Arrives };
    let got = windows("newreno", 2, third, |ack| ack == 3);
    assert!((32..36).contains(&got[0]), "{got:?}");
}

/// A window with a mark and, later in it, a loss is one congestion, not two
/// [RFC 3168 §6.1.2]: slow start grows from 64 to 74, then half of that is left, not a quarter.
#[test]
fn a_mark_and_a_loss_of_one_window_are_one_congestion() {
    let fate = |n| match n {
        10 => Fate::Marked,
        20 => Fate::Lost,
        _ => Fate::Arrives,
    };
    let got = windows("newreno", 3, fate, |_| false);
    assert!(got.iter().all(|w| (36..42).contains(w)), "{got:?}");
    // And the other way round.
    let fate = |n| match n {
        10 => Fate::Lost,
        20..64 => Fate::Marked,
        _ => Fate::Arrives,
    };
    let got = windows("newreno", 3, fate, |_| false);
    assert!(got.iter().all(|w| (36..42).contains(w)), "{got:?}");
}
