//! The rules of the RFCs, one by one: a sender, a receiver, and a script of arrivals.

use crate::hand::*;
use accord_family::Raw;
use accord_units::Duration;

/// RFC 5681 §3.2 step 3, RFC 6582 §3.2, RFC 6675 §5 step 4.3: the first lost packet is sent again
/// on the third duplicate, whatever the window is cut to. RFC 3042: the first two let a new
/// packet out each.
#[test]
fn the_first_repair_goes_on_the_third_duplicate() {
    for (name, changes, cut) in [
        ("reno", vec![], 10.0),
        ("newreno", vec![], 10.0),
        ("newreno", vec![sack(true)], 10.0),
        ("vegas", vec![], 10.0),
        ("vegas", vec![sack(true)], 10.0),
        ("cubic", vec![], 14.0),
        ("cubic", vec![sack(false)], 14.0),
        ("multcp", vec![], 10.0),
        ("multcp", vec![sack(false)], 10.0),
    ] {
        let mut hand = Hand::new(name, 20, &changes);
        hand.wait(100);
        assert_eq!(hand.arrive(1), [20], "{name}");
        assert_eq!(hand.arrive(2), [21], "{name}");
        assert_eq!(hand.window().0, 20.0, "{name}: RFC 5681 §3.2 step 1");
        assert_eq!(hand.arrive(3), [0], "{name}");
        assert_eq!(hand.window(), (cut, cut), "{name}");
    }
}

/// RFC 6582 §3.2 step 3: a partial acknowledgement sends the next hole at once, and the flow
/// goes on, one hole a round trip, with half of a window and more lost.
#[test]
fn newreno_repairs_a_hole_a_round_trip() {
    let steady = [("impatient", Raw::Flag(false))];
    let mut hand = Hand::new("newreno", 20, &steady);
    hand.wait(100);
    assert_eq!(hand.all(11..14), [20, 21, 0]);
    assert_eq!(hand.all(14..20), []);
    hand.wait(100);
    assert_eq!(hand.all([20, 21]), []);
    for hole in 0..10 {
        let sent = hand.arrive(hole);
        assert_eq!(sent[0], hole + 1);
        hand.wait(100);
    }
    hand.arrive(10);
    assert_eq!(hand.sender.timeouts(), 0);
    assert_eq!(hand.sender.retransmissions(), 11);
    assert_eq!(hand.window(), (10.0, 10.0));
}

/// RFC 6582 §3.2: the timer is set again by the first partial acknowledgement only. When it runs
/// out, the window starts again. The losses are of the window that was cut already: the threshold
/// is half of the outstanding data [RFC 5681 eq. 4], not half of the half.
#[test]
fn the_impatient_newreno_sets_the_timer_on_the_first_partial_acknowledgement() {
    let mut hand = Hand::new("newreno", 20, &[]);
    hand.wait(100);
    assert_eq!(hand.all(11..20), [20, 21, 0]);
    hand.wait(100);
    assert_eq!(hand.arrive(0), [1]);
    let timer = hand.sender.next_wake();
    // The first sample: 100 ms and four times half of it [RFC 6298 §2.2].
    assert_eq!(timer, hand.now + Duration::from_ms(300));
    for hole in 1..3 {
        hand.wait(100);
        assert_eq!(hand.arrive(hole)[0], hole + 1);
        assert_eq!(hand.sender.next_wake(), timer);
    }
    assert_eq!(hand.time_out(), [3]);
    // 19 packets are out, of the 20 that were cut: half of them, in whole packets.
    assert_eq!(hand.window(), (1.0, 9.0));
    // Slow start over the holes.
    hand.wait(100);
    assert_eq!(hand.arrive(3), [4, 5]);
}

/// RFC 6582 §3.2 step 3, RFC 5681 §3.2 step 6, RFC 6675 §5: the acknowledgement that ends a
/// recovery deflates the window to the threshold, and no more.
#[test]
fn the_end_of_a_recovery_is_no_growth() {
    for (name, changes) in [
        ("reno", vec![]),
        ("newreno", vec![]),
        ("newreno", vec![sack(true)]),
        ("multcp", vec![]),
        ("cubic", vec![]),
    ] {
        let mut hand = Hand::new(name, 20, &changes);
        hand.wait(100);
        hand.all(1..20);
        let cut = hand.window();
        hand.wait(100);
        hand.arrive(0);
        assert_eq!(hand.window(), cut, "{name}");
        hand.arrive(20);
        assert!(hand.window().0 >= cut.0, "{name}");
    }
}

/// RFC 5681 §3.2: Reno repairs the second hole after three duplicates of its own. Both were lost
/// of one window, which is cut once.
#[test]
fn reno_repairs_each_hole_by_duplicates_of_its_own() {
    let mut hand = Hand::new("reno", 20, &[]);
    hand.wait(100);
    assert_eq!(hand.all(1..4), [20, 21, 0]);
    let new = hand.all((4..20).filter(|n| *n != 5));
    assert!(new.len() >= 3);
    hand.wait(100);
    assert_eq!(hand.arrive(0), []);
    assert_eq!(hand.all([20, 21]), []);
    assert_eq!(hand.arrive(22), [5]);
    assert_eq!(hand.window(), (10.0, 10.0));
    assert_eq!(hand.sender.timeouts(), 0);
}

/// RFC 5681 §4.3: the loss of a repair is a second sign of congestion.
#[test]
fn the_loss_of_a_repair_cuts_again() {
    for (name, changes) in [("newreno", vec![]), ("newreno", vec![sack(true)])] {
        let mut hand = Hand::new(name, 20, &changes);
        hand.wait(100);
        hand.all(1..20);
        assert_eq!(hand.window(), (10.0, 10.0));
        assert_eq!(hand.time_out()[0], 0);
        assert_eq!(hand.window(), (1.0, 5.0), "{name}");
    }
}

/// RFC 5681 §3.1: the threshold is held while the timer sends the same packet again, also if a
/// late duplicate arrives in between.
#[test]
fn the_timer_cuts_once_for_one_packet() {
    let mut hand = Hand::new("newreno", 20, &[]);
    assert_eq!(hand.time_out(), [0]);
    assert_eq!(hand.window(), (1.0, 10.0));
    hand.arrive(15);
    assert_eq!(hand.time_out()[0], 0);
    assert_eq!(hand.window(), (1.0, 10.0));
}

/// RFC 3042 §2: duplicates let two packets out beyond the window. After a time-out more of them
/// may come, from packets sent in vain, and begin no recovery [RFC 6582 §3.2].
#[test]
fn after_a_timeout_duplicates_let_two_packets_out() {
    let mut hand = Hand::new("newreno", 20, &[]);
    assert_eq!(hand.time_out(), [0]);
    hand.wait(10);
    assert_eq!(hand.all(5..20), [1, 2]);
}

/// Rounds go on while the packets before a time-out are sent again: Vegas's slow start grows in every other
/// one [Brakmo 1995 §4].
#[test]
fn rounds_end_while_packets_go_again_after_a_timeout() {
    for sacks in [true, false] {
        let mut hand = Hand::new("vegas", 400, &[sack(sacks)]);
        let mut sent = hand.time_out();
        for _ in 0..8 {
            hand.wait(100);
            sent = hand.all(sent);
        }
        assert!(*sent.last().unwrap() < 400, "they go again");
        assert_eq!(hand.window().0, 16.0, "{sacks}");
    }
}

/// RFC 5681 §4.3: losses in two successive windows lower the window twice; RFC 6675 §5 begins
/// another recovery when the first is over, for packets sent after the first cut.
#[test]
fn losses_after_the_cut_cut_again() {
    for lost_after in [vec![], vec![42, 43, 44, 45]] {
        let mut hand = Hand::new("newreno", 40, &[sack(true)]);
        hand.wait(100);
        assert_eq!(hand.all(1..4), [40, 41, 0]);
        let new = hand.all(4..39);
        assert_eq!(new, (42..58).collect::<Vec<_>>(), "20 in flight");
        assert_eq!(hand.window(), (20.0, 20.0));
        hand.wait(100);
        let again = hand.all((40..58).filter(|n| !lost_after.contains(n)));
        assert!(again.contains(&39));
        assert!(lost_after.iter().all(|n| again.contains(n)));
        hand.arrive(0);
        assert_eq!(hand.window(), (20.0, 20.0), "the recovery goes on");
        hand.arrive(39);
        let expected = if lost_after.is_empty() { 20.0 } else { 10.0 };
        assert_eq!(hand.window(), (expected, expected));
    }
}

/// The same after a time-out, which is the recovery then [RFC 6675 §5.1].
#[test]
fn losses_after_a_timeout_cut_again() {
    let mut hand = Hand::new("newreno", 4, &[sack(true)]);
    assert_eq!(hand.time_out(), [0]);
    assert_eq!(hand.window(), (1.0, 2.0));
    hand.wait(100);
    assert_eq!(hand.arrive(0), [1, 2]);
    hand.wait(100);
    assert_eq!(hand.all([1, 2]), [3, 4, 5]);
    hand.wait(100);
    // Packet 4, sent after the time-out, is lost; 3 is on its way.
    assert_eq!(hand.arrive(5), [6]);
    assert_eq!(hand.arrive(6), [7]);
    assert_eq!(hand.arrive(7)[0], 4);
    assert_eq!(hand.window(), (3.0, 2.0));
    assert_eq!(hand.arrive(3), []);
    assert_eq!(hand.window(), (2.0, 2.0));
    assert_eq!(hand.sender.timeouts(), 1);
}

/// RFC 3168 §6.1.2: marks of packets that were sent before the window was cut for a loss are the
/// same congestion. Those of packets sent after it are not, also while the loss is repaired.
#[test]
fn marks_of_packets_sent_after_the_cut_cut_again() {
    for sacks in [true, false] {
        let mut hand = Hand::new("newreno", 20, &[sack(sacks), ECN]);
        hand.wait(100);
        assert_eq!(hand.all(1..4), [20, 21, 0]);
        hand.receive(4, true);
        assert_eq!(hand.window(), (10.0, 10.0), "sent before the cut");
        hand.wait(1);
        let new = hand.all(5..20);
        assert!(new.contains(&22), "{new:?}");
        hand.wait(100);
        hand.receive(20, true);
        assert_eq!(hand.window(), (10.0, 10.0), "sent before the cut");
        hand.receive(22, true);
        assert_eq!(hand.window(), (5.0, 5.0), "sent after the cut");
        hand.receive(23, true);
        assert_eq!(hand.window(), (5.0, 5.0), "once a round trip");
    }
}

/// RFC 6675 §4, NextSeg (3): with nothing new to send, a hole with fewer than three packets
/// beyond it is sent again, so it needs no time-out.
#[test]
fn a_doubtful_hole_is_sent_again_when_there_is_nothing_new() {
    let mut hand = Hand::with("newreno", 20, 20, &[sack(true)]);
    hand.wait(100);
    assert_eq!(hand.all(1..4), [0]);
    assert_eq!(hand.all(4..17), []);
    assert_eq!(hand.arrive(18), [17]);
    assert_eq!(hand.arrive(19), []);
    hand.wait(100);
    hand.all([0, 17]);
    assert!(hand.sender.is_done());
    assert_eq!(hand.sender.timeouts(), 0);
}

/// RFC 6675 §4, NextSeg (4): then the last packet, once in a recovery, so the loss of a tail
/// needs no time-out.
#[test]
fn the_last_packet_is_sent_again_once_when_there_is_nothing_else() {
    let mut hand = Hand::with("newreno", 20, 20, &[sack(true)]);
    hand.wait(100);
    assert_eq!(hand.all(1..18), [0]);
    hand.wait(100);
    assert_eq!(hand.arrive(0), [19]);
    hand.wait(100);
    assert_eq!(hand.arrive(19), [18]);
    hand.wait(100);
    assert_eq!(hand.arrive(18), []);
    assert!(hand.sender.is_done());
    assert_eq!(hand.sender.timeouts(), 0);
}

/// RFC 5681 §4.1: after a pause longer than the time-out the window is the initial one again.
#[test]
fn an_idle_sender_starts_again() {
    for name in ["reno", "newreno", "cubic", "vegas", "multcp"] {
        for (pause, restarts) in [(150, false), (250, true)] {
            let mut hand = Hand::with(name, 4, 60, &[]);
            let mut sent: Vec<u64> = (0..4).collect();
            while !hand.sender.is_done() {
                hand.wait(10);
                sent = hand.all(sent);
            }
            let (grown, threshold) = hand.window();
            assert!(grown > 10.0, "{name}");
            // The last packets left 10 ms ago; the time-out is the least one, 200 ms.
            hand.now += Duration::from_ms(pause - 10);
            hand.sender.supply(100);
            let burst = hand.send().len() as f64;
            let expected = if restarts { 4.0 } else { grown.floor() };
            assert_eq!(burst, expected, "{name} after {pause} ms");
            assert_eq!(hand.window().1, threshold, "{name}");
        }
    }
}

/// Low02 §1.1: Vegas sends a packet again on the first duplicate if it is older than the
/// time-out without its floor, at the price of a quarter of the window.
#[test]
fn vegas_repairs_on_the_first_duplicate() {
    for (late, early) in [(2, false), (40, true)] {
        for sacks in [false, true] {
            let mut hand = Hand::new("vegas", 20, &[sack(sacks)]);
            hand.wait(100);
            // Ten samples of 100 ms: the variation is 50 ms · 0.75⁹ = 3.8 ms, four times which
            // makes 115 ms.
            hand.all(0..10);
            let (window, _) = hand.window();
            hand.wait(late);
            let sent = hand.arrive(11);
            assert_eq!(sent.contains(&10), early, "{sent:?}");
            let quarter = (window * 0.75).floor();
            let expected = if early { quarter } else { window };
            assert_eq!(hand.window().0, expected);
            assert_eq!(hand.sender.retransmissions(), u64::from(early));
        }
    }
}

/// RFC 6675 §5: the window is cut at once, so half a round trip of acknowledgements releases
/// no packet, and each of the other half releases one. RFC 9937 §6.2 releases a packet for every
/// second acknowledgement of the whole round trip (`prr.rs`).
#[test]
fn a_recovery_is_silent_until_the_window_has_room() {
    let mut hand = Hand::new("newreno", 20, &[sack(true)]);
    hand.wait(100);
    assert_eq!(hand.all(1..4), [20, 21, 0]);
    // 22 packets and a repair were sent, 3 arrived, 1 is lost: 19 are in flight, and 10 may be.
    assert_eq!(hand.all(4..13), []);
    for (arrives, goes) in (13..20).zip(22..) {
        assert_eq!(hand.arrive(arrives), [goes]);
    }
}

/// RFC 6675 §4: three packets beyond a hole make it a loss, however often the path reorders. RFC 8985
/// §6.2 step 4 waits for a quarter of the smallest round-trip time once it has seen reordering
/// (`rack.rs`).
#[test]
fn each_packet_that_three_others_overtake_is_taken_for_lost() {
    let mut hand = Hand::new("newreno", 40, &[sack(true)]);
    hand.wait(100);
    assert!(hand.all(1..4).contains(&0));
    assert_eq!(hand.window(), (20.0, 20.0));
    // Late, not lost. The next reordering is of a packet that was sent after the cut.
    hand.all([0]);
    hand.all(4..40);
    hand.wait(100);
    hand.all(40..42);
    assert_eq!(hand.sender.retransmissions(), 1);
    let last = hand.sent.len() as u64;
    assert!(last > 46);
    assert!(hand.all(43..46).contains(&42));
    assert_eq!(hand.sender.retransmissions(), 2);
    assert!(hand.window().0 < 12.0, "{:?}", hand.window());
    // It was late, too: at the same instant, so the repair was in vain.
    hand.all([42]);
    assert_eq!(hand.receiver.duplicates(), 0);
    hand.all([42]);
    assert_eq!(hand.receiver.duplicates(), 1);
}

/// RFC 6298: the loss of the last packets waits for the timer, 300 ms after a first sample of 100 ms.
/// RFC 8985 §7.2 sends a probe after two smoothed round-trip times (`rack.rs`).
#[test]
fn the_loss_of_a_tail_waits_for_the_timer() {
    let mut hand = Hand::with("newreno", 10, 10, &[sack(true)]);
    hand.wait(100);
    assert_eq!(hand.all(0..8), []);
    let srtt = hand.sender.round_trip().smoothed();
    assert_eq!(srtt, Duration::from_ms(100));
    // Eight samples: the variation is 50 ms·0.75⁷ = 6.7 ms; the least time-out is 200 ms.
    assert_eq!(hand.sender.next_wake(), hand.now + Duration::from_ms(200));
    assert_eq!(hand.time_out(), [8]);
    assert_eq!(hand.window().0, 1.0);
}
