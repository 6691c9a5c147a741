//! RACK-TLP, rule by rule [RFC 8985]: a sender, a receiver, and a script of arrivals. Each rule is
//! contrasted with that of RFC 6675.

use crate::common;

use crate::hand::*;
use accord_control::Controller;
use accord_family::Raw;
use accord_units::{Duration, Time};

const RACK: (&str, Raw) = ("rack", Raw::Flag(true));

/// A round-trip time of 100 ms, and packets that leave a millisecond apart, as a link lets them:
/// the window of ten packets has gone round once, and is 20.
fn spaced() -> Hand {
    let mut hand = Hand::new("newreno", 10, &[RACK]);
    hand.wait(100);
    let mut sent = Vec::new();
    for number in 0..10 {
        sent.extend(hand.arrive(number));
        hand.wait(1);
    }
    assert_eq!(sent, (10..30).collect::<Vec<_>>());
    hand.wait(90);
    hand
}

fn cuts(hand: &Hand) -> f64 {
    hand.window().1
}

/// §6.2 step 4: while no reordering was seen, three packets above a hole make it a loss, as in
/// RFC 6675. Before them the window is a quarter of the smallest round-trip time, and the timer of
/// step 5 finds the loss where nothing else arrives.
#[test]
fn two_packets_above_a_hole_make_it_a_loss_after_a_quarter_of_a_round_trip() {
    let mut hand = spaced();
    // 10 and 11 left together; 12 and 13 a millisecond later.
    assert!(!hand.all([11]).contains(&10));
    hand.now += Duration::from_ms(1);
    assert!(!hand.all([12]).contains(&10));
    assert_eq!(hand.sender.retransmissions(), 0);
    // 100 ms and a quarter after 10 was sent, which was 101 ms ago.
    assert_eq!(hand.sender.next_wake(), hand.now + Duration::from_ms(24));
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send()[0], 10);
    assert_eq!((hand.sender.timeouts(), hand.sender.retransmissions()), (0, 1));
    assert_eq!(cuts(&hand), 10.0, "half of the window");
}

/// The same with a third packet: at once.
#[test]
fn three_packets_above_a_hole_make_it_a_loss_at_once() {
    let mut hand = spaced();
    assert!(!hand.all([11, 12]).contains(&10));
    assert_eq!(hand.arrive(13)[0], 10);
}

/// §6.2 steps 3, 4, 5: after one reordering packets may be late by a quarter of the smallest
/// round-trip time, however many overtake them. RFC 6675 sends each again, and cuts for it
/// (`rules.rs::each_packet_that_three_others_overtake_is_taken_for_lost`).
#[test]
fn a_packet_that_others_overtake_is_not_lost_within_the_window() {
    let mut hand = spaced();
    // 10 is overtaken by two, and seen to be late.
    hand.all([11, 12, 10]);
    assert_eq!(hand.sender.retransmissions(), 0);
    hand.wait(1);
    // 13 is overtaken by ten, by 15 ms.
    hand.all(14..24);
    hand.wait(15);
    hand.arrive(13);
    assert_eq!(hand.sender.retransmissions(), 0);
    assert_eq!(cuts(&hand), f64::INFINITY, "no cut");
    // 24 is later than that: the timer takes it for lost.
    hand.all(25..30);
    assert!(hand.sender.next_wake() <= hand.now + Duration::from_ms(25));
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send()[0], 24);
    assert_eq!(hand.sender.timeouts(), 0);
}

/// The first late packet is sent again too early. Its first transmission then arrives, which the echo shows,
/// and the next packet may be as late.
#[test]
fn the_first_late_packet_teaches_the_sender() {
    let mut hand = spaced();
    let first = hand.sent[10];
    assert!(hand.all(11..14).contains(&10));
    hand.wait(5);
    hand.receive_of(10, first, false);
    assert_eq!(cuts(&hand), f64::INFINITY, "undone");
    hand.all(15..20);
    hand.wait(5);
    hand.arrive(14);
    assert_eq!(hand.sender.retransmissions(), 1);
}

/// §6.2 step 4: a packet that arrives twice was late by more than the window, which is half of a
/// round-trip time then (`rack.rs` has the further steps).
#[test]
fn a_duplicate_widens_the_window() {
    let mut hand = spaced();
    hand.all([11, 12, 10]);
    hand.wait(1);
    hand.all(14..30);
    let (first, began) = (hand.sent[13], hand.now);
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send()[0], 13);
    assert!(hand.now.since(began) <= Duration::from_ms(25));
    hand.wait(1);
    hand.receive_of(13, first, false);
    hand.wait(83);
    hand.all([13]);
    assert_eq!(hand.receiver.duplicates(), 1);
    // The packet after is late by 35 ms, beyond a quarter of the round-trip time, within a half.
    let min_rtt = hand.sender.round_trip().min();
    hand.all(31..46);
    hand.wait(35);
    hand.arrive(30);
    assert!(min_rtt.mul_f64(0.25) < Duration::from_ms(26));
    assert_eq!(hand.sender.retransmissions(), 1);
}

/// §6.2 step 5, §9.1 example 2: a repair that is lost is found a round trip later, by packets that
/// were sent after it. It is a second congestion [RFC 5681 §4.3]. RFC 6675 waits for the timer
/// (`rules.rs::the_loss_of_a_repair_cuts_again`).
#[test]
fn a_lost_repair_is_found_within_a_round_trip() {
    let mut hand = Hand::new("newreno", 20, &[RACK]);
    hand.wait(100);
    assert_eq!(hand.all(1..4), [20, 21, 0]);
    let new: Vec<u64> = (4..20)
        .flat_map(|n| {
            hand.wait(1);
            hand.arrive(n)
        })
        .collect();
    assert!(new.iter().all(|n| *n > 21), "{new:?}");
    assert_eq!(hand.window(), (10.0, 10.0));
    hand.wait(84);
    // The repair does not arrive, but the packets sent after it do.
    assert_eq!(hand.all([20, 21]).iter().filter(|n| **n == 0).count(), 0);
    hand.wait(1);
    let sent = hand.arrive(22);
    assert!(sent.contains(&0), "{sent:?}");
    assert_eq!(hand.sender.timeouts(), 0);
    assert_eq!(hand.sender.retransmissions(), 2);
    assert_eq!(hand.window(), (5.0, 5.0), "the second cut");
    // No third one for packets that were sent before it.
    hand.all(23..new.len() as u64 + 22);
    assert_eq!(hand.window(), (5.0, 5.0));
    hand.wait(100);
    hand.arrive(0);
    assert_eq!(hand.sender.timeouts(), 0);
}

/// §7.2, §7.3, §7.4.2: the last packet is lost. It goes again after two smoothed round-trip times,
/// and costs a cut once a later packet is acknowledged, but no time-out. RFC 6298 waits 200 ms at
/// least, and starts slowly.
#[test]
fn a_lost_tail_is_probed_for() {
    let mut hand = Hand::with("newreno", 10, 10, &[RACK]);
    hand.wait(40);
    hand.all(0..9);
    let probe_at = hand.now + hand.sender.round_trip().smoothed() * 2;
    assert_eq!(hand.sender.next_wake(), probe_at);
    hand.now = probe_at;
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send(), [9]);
    assert_eq!((hand.sender.timeouts(), hand.sender.retransmissions()), (0, 1));
    // §7.3: the RTO timer then.
    assert_eq!(hand.sender.next_wake(), hand.now + Duration::from_ms(200));
    hand.wait(40);
    hand.arrive(9);
    assert!(hand.sender.is_done());
    assert_eq!(cuts(&hand), f64::INFINITY);
    hand.sender.supply(5);
    let more = hand.send();
    hand.wait(40);
    hand.arrive(more[0]);
    assert!(cuts(&hand) < 20.0, "{}", cuts(&hand));
    let cut = cuts(&hand);
    hand.all(more[1..].iter().copied());
    assert_eq!(cuts(&hand), cut, "once");
}

/// §7.2: the first packet after a pause starts the timers, too.
#[test]
fn a_probe_follows_the_first_packet_after_a_pause() {
    let mut hand = Hand::with("newreno", 10, 10, &[RACK]);
    hand.wait(40);
    hand.all(0..10);
    assert_eq!(hand.sender.next_wake(), Time::MAX);
    hand.now += Duration::from_ms(100);
    hand.sender.supply(1);
    assert_eq!(hand.send(), [10]);
    let probe_at = hand.now + hand.sender.round_trip().smoothed() * 2;
    assert_eq!(hand.sender.next_wake(), probe_at);
    hand.now = probe_at;
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send(), [10]);
    assert_eq!(hand.time_out(), [10]);
}

/// §7.4.2 cases 1 and 2: where both arrive there was no loss, and no cut.
#[test]
fn a_probe_in_vain_costs_nothing() {
    let mut hand = Hand::with("newreno", 10, 10, &[RACK]);
    hand.wait(40);
    hand.all(0..9);
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send(), [9]);
    hand.wait(10);
    hand.all([9, 9]);
    hand.sender.supply(5);
    let more = hand.send();
    hand.wait(40);
    hand.all(more);
    assert_eq!(cuts(&hand), f64::INFINITY);
}

/// §7.4.1: several lost packets at the tail. The probe's acknowledgement reveals the losses, and
/// all are repaired in a recovery, with one cut and no time-out.
#[test]
fn a_probe_tells_of_the_losses_before_it() {
    let mut hand = Hand::with("newreno", 10, 10, &[RACK]);
    hand.wait(40);
    hand.all(0..6);
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send(), [9]);
    hand.wait(40);
    let mut repairs = hand.arrive(9);
    while hand.sender.retransmissions() < 4 {
        hand.wait(40);
        let arrived = std::mem::take(&mut repairs);
        assert!(!arrived.is_empty());
        repairs = hand.all(arrived);
    }
    hand.wait(40);
    hand.all(repairs);
    assert!(hand.sender.is_done());
    assert_eq!(hand.sender.timeouts(), 0);
    assert_eq!(cuts(&hand), 2.0, "half of four in flight");
}

/// §7.3: a new packet is the probe where there is one, a packet beyond the window; §7.3 condition 1:
/// one probe at a time. The timer is the last resort.
#[test]
fn a_new_packet_is_the_probe_where_there_is_one() {
    let mut hand = Hand::new("newreno", 10, &[RACK]);
    hand.wait(40);
    hand.all(0..10);
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send(), [30]);
    assert_eq!((hand.sender.timeouts(), hand.sender.retransmissions()), (0, 0));
    assert_eq!(hand.time_out(), [10]);
    assert_eq!(hand.window().0, 1.0);
}

/// §7.2: no probe while packets are reported out of order, or losses are repaired.
#[test]
fn no_probe_amid_recovery() {
    let mut hand = Hand::with("newreno", 20, 20, &[RACK]);
    hand.wait(40);
    assert_eq!(hand.all(1..4), [0]);
    hand.all(4..19);
    // 0 is repaired and 19 is lost. Neither is reported, so only the timer is left.
    assert_eq!(hand.time_out(), [0]);
}

/// §6.3: when the timer runs out, packets that were sent less than a round trip ago may still
/// arrive. RFC 6675 §5.1 takes them for lost.
#[test]
fn a_timeout_spares_what_was_sent_a_moment_ago() {
    let mut hand = Hand::with("newreno", 10, 12, &[RACK]);
    hand.wait(100);
    hand.all(1..3);
    // The probe is not scheduled, since packets were reported out of order; the reordering timer
    // finds packet 0, and its repair is lost. Two new packets leave just before the timer runs out.
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send()[0], 0);
    hand.now = hand.sender.next_wake();
    let before = hand.sender.next_wake();
    assert!(before < Time::MAX);
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.sender.timeouts(), 1);
    let sent = hand.send();
    assert_eq!(sent, [0]);
    assert!(hand.sender.controller().cwnd() == common::PACKET);
}

/// RFC 6298 §5.4: the first packet is sent again when the timer runs out, although the packets that §6.3 spares
/// exceed the window of one packet.
#[test]
fn a_timeout_repairs_at_once_whatever_is_in_flight() {
    let mut hand = Hand::with("newreno", 10, 10, &[RACK]);
    hand.wait(40);
    hand.all(0..8);
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    assert_eq!(hand.send(), [9], "the probe");
    hand.wait(190);
    hand.sender.supply(2);
    assert_eq!(hand.send(), [10, 11]);
    assert_eq!(hand.time_out(), [8]);
    assert_eq!(hand.window().0, 1.0);
}

/// RFC 6675 §5: each acknowledgement with a block updates the scoreboard, though a later one has
/// overtaken it and moved the window.
#[test]
fn an_acknowledgement_that_was_overtaken_still_tells_of_its_block() {
    for changes in [vec![sack(true)], vec![RACK]] {
        let mut hand = Hand::new("newreno", 20, &changes);
        hand.wait(40);
        // Packet 5 is lost. The acknowledgement of 9, with a block of 6 to 9, comes before that of 4.
        let ack = |hand: &mut Hand, next, block, block_len, of: usize| {
            let echo = hand.sent[of];
            hand.sender.on_ack(next, block, block_len, echo, 0, hand.now);
            hand.send()
        };
        ack(&mut hand, 5, 0, 0, 4);
        let before = hand.sender.bytes_in_flight();
        // Sent when 0 to 2 had arrived, with 6 to 8 out of order.
        ack(&mut hand, 3, 3, 3, 8);
        let after = hand.sender.bytes_in_flight();
        assert!(hand.sender.is_recovering() && hand.sender.retransmissions() == 1);
        assert!(after < before, "{after} {before}");
    }
}

/// RFC 2883: only a packet that arrives a second time is a DSACK, not an acknowledgement without
/// news. Two of one instant overtake each other, and the window of RACK stays a quarter of the
/// smallest round-trip time.
#[test]
fn acknowledgements_that_overtake_each_other_are_no_duplicates() {
    let mut hand = Hand::new("newreno", 20, &[RACK]);
    let start = hand.sent[0];
    hand.wait(100);
    // The packets were sent at one instant. Packet 0 is late, and the acknowledgement of 2 comes before
    // that of 1.
    hand.sender.on_ack(0, 1, 2, start, 0, hand.now);
    hand.sender.on_ack(0, 1, 1, start, 0, hand.now);
    assert_eq!(hand.send(), [20, 21]);
    let quarter = Duration::from_ms(25);
    assert_eq!(hand.sender.next_wake(), start + Duration::from_ms(100) + quarter);
}
