//! Rules of TLP and of the end of its probes [RFC 8985 §7], and of NewReno after a time-out [RFC
//! 6582 §3.2]: a sender, a receiver, and a script of arrivals.

use crate::hand::*;
use accord_family::Raw;
use accord_units::Duration;

const RACK: (&str, Raw) = ("rack", Raw::Flag(true));

fn threshold(hand: &Hand) -> f64 {
    hand.window().1
}

/// Moves on to the next timer. Returns the packets sent then.
fn wake(hand: &mut Hand) -> Vec<u64> {
    hand.now = hand.sender.next_wake();
    hand.sender.on_wake(hand.now);
    hand.send()
}

/// Ten packets of which the last one is lost, on a path of this round-trip time in milliseconds.
fn tail_lost(rtt: u64, changes: &[(&str, Raw)]) -> Hand {
    let changes = [&[RACK], changes].concat();
    let mut hand = Hand::with("newreno", 10, 10, &changes);
    hand.wait(rtt);
    hand.all(0..9);
    hand
}

/// §7.2: "If RTO_expires is earlier than PTO", the probe goes when the RTO timer would have run out. On a
/// steady path of 900 ms that is earlier than two round-trip times.
#[test]
fn a_probe_goes_no_later_than_the_timer_would_run_out() {
    let mut hand = tail_lost(900, &[]);
    // RFC 6298: nine samples of 900 ms. RTTVAR is 450 ms, and three quarters of that after each.
    let rto = 0.9 + 4.0 * 0.45 * 0.75f64.powi(8);
    let after = hand.sender.next_wake().since(hand.now).as_secs_f64();
    assert!((after - rto).abs() < 1e-9, "{after} for {rto}");
    assert_eq!(wake(&mut hand), [9]);
    assert_eq!(hand.sender.timeouts(), 0);
    // Then the RTO timer, from the probe on [§7.3].
    assert_eq!(hand.sender.next_wake(), hand.now + hand.sender.round_trip().timeout());
    assert_eq!(hand.time_out(), [9]);
}

/// §7.4.2: the loss that a probe repaired is one congestion. A mark that was answered in that round trip was
/// for it, too [RFC 3168 §6.1.2].
#[test]
fn a_repaired_tail_is_answered_once() {
    for marked in [false, true] {
        let mut hand = tail_lost(40, &[ECN]);
        assert_eq!(wake(&mut hand), [9]);
        hand.sender.supply(10);
        let more = hand.send();
        assert_eq!(more[..3], [10, 11, 12]);
        hand.wait(40);
        // The probe's own acknowledgement says nothing of the loss.
        hand.receive(9, marked);
        let cut = threshold(&hand);
        assert_eq!(cut < f64::INFINITY, marked);
        hand.arrive(10);
        if marked {
            assert_eq!(threshold(&hand), cut)
        } else {
            assert!(threshold(&hand) < f64::INFINITY)
        }
        let cut = threshold(&hand);
        hand.all(more[1..].iter().copied());
        assert_eq!(threshold(&hand), cut, "{marked}");
    }
}

/// §7.4.2: a probe that is answered for is over, so the next tail may be probed for.
#[test]
fn the_next_tail_is_probed_for_too() {
    let mut hand = tail_lost(40, &[]);
    assert_eq!(wake(&mut hand), [9]);
    hand.wait(40);
    hand.arrive(9);
    for _ in 0..3 {
        hand.sender.supply(2);
        let sent = hand.send();
        assert_eq!(sent.len(), 2);
        hand.wait(40);
        hand.arrive(sent[0]);
        assert_eq!(wake(&mut hand), [sent[1]]);
        assert_eq!(hand.sender.timeouts(), 0);
        hand.wait(40);
        hand.arrive(sent[1]);
    }
}

/// §7.3: "only one TLP probe in flight", also where a new packet is the probe; and none before a round-trip
/// time was taken since the last one.
#[test]
fn one_probe_at_a_time() {
    let mut hand = tail_lost(40, &[]);
    assert_eq!(wake(&mut hand), [9]);
    assert_eq!(hand.time_out(), [9], "no second probe");
}

/// RFC 8985 §6.2 step 5: the reordering timer runs where nothing else is to be sent, too: a quarter of a round-trip
/// time after the last one that arrived.
#[test]
fn the_reordering_timer_needs_no_further_packet() {
    let mut hand = Hand::with("newreno", 10, 10, &[RACK]);
    hand.wait(100);
    hand.all([0, 1]);
    assert!(hand.arrive(3).is_empty());
    assert_eq!(hand.sender.next_wake(), hand.now + Duration::from_ms(25));
    assert_eq!(wake(&mut hand), [2]);
    assert_eq!(hand.sender.timeouts(), 0);
}

/// RFC 9937 §6.4, RFC 5681 §3.1: the recovery over, the window decides and grows by a packet per window.
#[test]
fn after_a_recovery_the_window_decides_and_grows() {
    let mut hand = Hand::new("newreno", 20, &[RACK]);
    hand.wait(100);
    hand.all(1..20);
    hand.wait(100);
    hand.all(20..22);
    hand.arrive(0);
    assert!(!hand.sender.is_recovering());
    for window in [10, 11, 12] {
        assert_eq!(hand.window().0, f64::from(window));
        let last = hand.sent.len() as u64;
        let flight = last - window as u64..last;
        hand.wait(100);
        // One for each, and one more as the window has grown by a packet.
        assert_eq!(hand.all(flight).len(), window as usize + 1);
    }
}

/// RFC 6675 §5, RFC 8985 §6.2: a recovery lasts until all that was out at its beginning is acknowledged. The window
/// does not grow in it, and its losses are one congestion.
#[test]
fn a_recovery_lasts_until_what_was_out_is_acknowledged() {
    let mut hand = Hand::new("newreno", 20, &[RACK]);
    hand.wait(100);
    hand.all((1..20).filter(|n| *n != 5));
    assert!(hand.sender.is_recovering());
    assert_eq!(hand.window(), (10.0, 10.0));
    hand.wait(100);
    // 20 and 21 were sent by limited transmit. The repair of 0 acknowledges up to 5.
    hand.all([20, 21, 0]);
    assert!(hand.sender.is_recovering());
    assert_eq!(hand.window(), (10.0, 10.0));
    hand.arrive(5);
    assert!(!hand.sender.is_recovering());
    assert_eq!(hand.window(), (10.0, 10.0));
}

/// RFC 3168 §6.1.2: a loss in the round trip of a mark that was answered is repaired in a recovery, and costs no
/// second cut.
#[test]
fn a_loss_in_the_round_trip_of_a_mark_begins_a_recovery_without_a_cut() {
    let mut hand = Hand::new("newreno", 20, &[RACK, ECN]);
    hand.wait(100);
    hand.receive(0, true);
    assert_eq!(hand.window(), (10.0, 10.0));
    assert!(!hand.sender.is_recovering());
    let sent = hand.all([2, 3, 4]);
    assert!(hand.sender.is_recovering());
    assert!(sent.contains(&1), "{sent:?}");
    assert_eq!(hand.window(), (10.0, 10.0));
}

/// RFC 8985 §6.2 step 4: a packet that arrived twice widens the reordering window to half of a round-trip time for
/// sixteen recoveries.
#[test]
fn a_duplicate_widens_the_window_for_sixteen_recoveries() {
    let mut hand = Hand::with("newreno", 10, 10, &[RACK]);
    hand.wait(100);
    hand.all((0..10).chain([9]));
    assert_eq!(hand.receiver.duplicates(), 1);
    // Sends `packets` packets of which the first is lost. Returns the time until the loss is found.
    let lose = |hand: &mut Hand, packets: u64| {
        // The window grows beyond these first.
        hand.sender.supply(20);
        let mut sent = hand.send();
        while !sent.is_empty() {
            hand.wait(100);
            sent = hand.all(sent);
        }
        hand.sender.supply(packets);
        let sent = hand.send();
        assert_eq!(sent.len() as u64, packets);
        hand.wait(100);
        let from = hand.now;
        let mut repairs = hand.all(sent[1..].iter().copied());
        if repairs.is_empty() {
            repairs = wake(hand);
        }
        assert_eq!((repairs, hand.sender.timeouts()), (vec![sent[0]], 0));
        let after = hand.now.since(from);
        hand.wait(100);
        hand.arrive(sent[0]);
        assert!(!hand.sender.is_recovering());
        after
    };
    assert_eq!(lose(&mut hand, 3), Duration::from_ms(50));
    for _ in 0..14 {
        assert_eq!(lose(&mut hand, 4), Duration::ZERO, "three above it");
    }
    assert_eq!(lose(&mut hand, 3), Duration::from_ms(50));
    assert_eq!(lose(&mut hand, 3), Duration::from_ms(25));
}

/// RFC 6298 §2.1, §5.5: the timer of a second, and twice as long each time that it runs out.
#[test]
fn the_timer_backs_off() {
    let mut hand = Hand::new("newreno", 10, &[sack(true)]);
    for seconds in [1, 2, 4, 8] {
        assert_eq!(hand.sender.next_wake(), hand.now + Duration::from_secs(seconds));
        assert_eq!(hand.time_out(), [0]);
    }
}

/// RFC 6298 §5: the timer is that of the first packet. Repairs of later ones do not set it again.
#[test]
fn the_repair_of_a_later_hole_does_not_set_the_timer() {
    let mut hand = Hand::new("newreno", 20, &[sack(true)]);
    hand.wait(100);
    assert_eq!(hand.all(1..4), [20, 21, 0]);
    let timer = hand.sender.next_wake();
    let mut repaired = false;
    for number in (4..20).filter(|n| *n != 5) {
        hand.wait(2);
        repaired |= hand.arrive(number).contains(&5);
        assert_eq!(hand.sender.next_wake(), timer, "{number}");
    }
    assert!(repaired);
}

/// RFC 9331 §4.3: a mark of a scalable flow stands for no loss. A loss in the same round trip is answered as ever.
#[test]
fn a_scalable_flow_answers_a_loss_in_the_round_trip_of_a_mark() {
    let mut hand = Hand::new("prague", 20, &[]);
    hand.wait(100);
    hand.receive(0, true);
    let (marked, _) = hand.window();
    hand.all([2, 3, 4]);
    assert!(hand.sender.is_recovering());
    let (lost, _) = hand.window();
    assert!(lost <= 0.71 * marked, "{lost} of {marked}");
}

/// RFC 6582 §3.2 step 3: a partial acknowledgement deflates the window by the acknowledged packets,
/// and adds a packet. At the third duplicate it is 10 and 3, and 28 after 15 more. Ten packets less
/// and one more leave 19 beyond packet 10: the hole and one new packet.
#[test]
fn a_partial_acknowledgement_deflates_the_window() {
    let mut hand = Hand::new("newreno", 20, &[sack(false)]);
    hand.wait(100);
    let sent = hand.all((1..20).filter(|n| *n != 10));
    assert_eq!(sent, [&[20, 21, 0][..], &(22..28).collect::<Vec<_>>()].concat());
    assert_eq!(hand.arrive(0), [10, 28]);
}

/// RFC 6582 §3.2, steps 2 and 4: after a time-out, duplicates begin a recovery only if more than the highest
/// packet sent before it is acknowledged. Otherwise they may come from packets sent in vain.
#[test]
fn after_a_timeout_newreno_recovers_beyond_the_highest_packet_sent_before_it() {
    // Packets 0 to 9 were sent. The ninth is the highest, "recover".
    for (hole, recovers) in [(9, false), (10, false), (11, true)] {
        let mut hand = Hand::new("newreno", 10, &[sack(false)]);
        hand.wait(100);
        assert_eq!(hand.time_out(), [0]);
        hand.wait(100);
        // Slow start sends all of them again, and new ones. All arrive up to the hole.
        let mut next = 0;
        while next < hole {
            hand.arrive(next);
            next += 1;
        }
        let repairs = hand.sender.retransmissions();
        let before = threshold(&hand);
        let sent = hand.all(hole + 1..hole + 4);
        assert_eq!(sent.contains(&hole), recovers, "{hole}: {sent:?}");
        assert_eq!(hand.sender.retransmissions() > repairs, recovers);
        assert_eq!(threshold(&hand) != before, recovers);
    }
}
