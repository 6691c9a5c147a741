//! The times at which an ingress of our law sends its control pairs.

use crate::ingress::{at, ingress};
use accord_control::{Controller, Report};
use accord_transport::{Segment, tunnel};
use accord_units::{Bytes, Duration, Rate, Time};

/// A packet that was sent: data, or a pair with its number and the bytes sent before it.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sent {
    Data,
    Pair(u64, u64),
}

/// Returns the packets that the ingress sends until `until`, with times.
fn sends(i: &mut tunnel::Ingress, from: Time, until: Time) -> Vec<(Time, Sent)> {
    let (mut sent, mut now) = (Vec::new(), from);
    loop {
        match i.poll(now) {
            Ok(Segment::InBand { pair, sent_bytes, .. }) => {
                sent.push((now, Sent::Pair(pair, sent_bytes)))
            }
            Ok(Segment::Data { .. }) => sent.push((now, Sent::Data)),
            Ok(_) => {}
            Err(again) => {
                let next = again.min(i.next_wake());
                if next > until {
                    return sent;
                }
                now = next;
                i.on_wake(now);
            }
        }
    }
}

/// The pairs among the packets sent.
fn pairs(sent: &[(Time, Sent)]) -> Vec<(u64, u64)> {
    sent.iter()
        .filter_map(|(_, s)| match s {
            Sent::Pair(pair, before) => Some((*pair, *before)),
            Sent::Data => None,
        })
        .collect()
}

/// An answer to this pair, after which `received` bytes had arrived.
fn answer(i: &mut tunnel::Ingress, number: u64, received: u64, now: Time) {
    let report = Report {
        number,
        accumulation: 0.0,
        egress_rate: Rate::from_bps(100 * i.controller().cwnd().get()),
        virtual_delay: Duration::ZERO,
        lost: false,
        lost_bytes: Bytes::ZERO,
        received,
    };
    i.on_report(&report, now);
}

/// After round trips of 80 ms without a queue, until the window is 32 packets.
fn grown() -> (tunnel::Ingress, Time) {
    let (mut i, mut now) = (ingress("accord"), at(0));
    for _ in 0..40 {
        round_trip(&mut i, &mut now);
        if i.controller().cwnd() >= Bytes::new(32_000) {
            return (i, now);
        }
    }
    panic!("{}", i.controller().cwnd());
}

/// A pair is answered 80 ms after it was sent, and all before it has arrived.
fn round_trip(i: &mut tunnel::Ingress, now: &mut Time) -> Vec<(Time, Sent)> {
    let sent = sends(i, *now, *now + Duration::from_ms(20));
    let is_pair = |s: &&(Time, Sent)| matches!(s.1, Sent::Pair(..));
    let &(at, Sent::Pair(pair, before)) = sent.iter().find(is_pair).expect("a pair") else {
        unreachable!()
    };
    let end = at + Duration::from_ms(80);
    let later = sends(i, *now + Duration::from_ms(20), end);
    assert_eq!(pairs(&later), [], "none is overdue");
    answer(i, pair, before, end);
    *now = end;
    sent
}

#[test]
fn a_pair_goes_ahead_of_data_and_behind_it_by_turns() {
    let (mut i, mut now) = grown();
    for _ in 0..6 {
        let sent = round_trip(&mut i, &mut now);
        let place = sent.iter().position(|s| s.1 != Sent::Data).expect("a pair");
        let (at, Sent::Pair(pair, _)) = sent[place] else { unreachable!() };
        let neighbour = match pair % 2 {
            1 => place.checked_add(1),
            _ => place.checked_sub(1),
        };
        let neighbour = neighbour.and_then(|n| sent.get(n));
        assert_eq!(neighbour, Some(&(at, Sent::Data)), "pair {pair}: {sent:?}");
    }
}

/// The first, one when it is overdue, sixteen more at a quarter of a round trip or a
/// little more, then one in each time-out, which doubles once.
#[test]
fn a_path_that_answers_nothing_is_not_flooded() {
    let (mut i, now) = grown();
    let window = i.controller().cwnd().get();
    let before = i.sent();
    let sent = sends(&mut i, now, now + Duration::from_secs(10));
    let is_pair = |s: &&(Time, Sent)| matches!(s.1, Sent::Pair(..));
    let times: Vec<Time> = sent.iter().filter(is_pair).map(|s| s.0).collect();
    let gaps: Vec<Duration> = times.windows(2).map(|t| t[1].since(t[0])).collect();
    // From the last of the quick ones on at least twice the round trip apart.
    let (quick, slow) = gaps.split_at(17);
    let twice = Duration::from_ms(160);
    assert!(quick.iter().all(|gap| *gap < twice), "{gaps:?}");
    assert!(slow.iter().all(|gap| *gap >= twice), "{gaps:?}");
    assert!(slow.len() >= 20, "{}", slow.len());
    // Nothing is known to have arrived: no more than a window is outstanding.
    let data = i.sent() - before;
    assert!(data <= window, "{data} bytes of a window of {window}");
    assert!(i.in_flight() <= window, "{} of {window}", i.in_flight());
}

/// The report of a loss may itself be lost.
#[test]
fn a_loss_is_seen_in_what_arrived_in_all() {
    for (missing, halved) in [(0, false), (1000, true)] {
        let (mut i, mut now) = grown();
        let sent = sends(&mut i, now, now + Duration::from_ms(90));
        let (pair, before) = pairs(&sent)[0];
        let window = i.controller().cwnd().as_f64();
        now += Duration::from_ms(110);
        answer(&mut i, pair, before - missing, now);
        let smaller = i.controller().cwnd().as_f64() < 0.6 * window;
        assert_eq!(smaller, halved, "{missing} bytes missing");
    }
}
