//! Spurious losses: the answer is undone, by the echo [RFC 3522, RFC 4015 §3].

use crate::hand::*;
use accord_family::Raw;

const RACK: (&str, Raw) = ("rack", Raw::Flag(true));

/// Each controller that halves, in both ways of repair.
fn controllers() -> Vec<(&'static str, Vec<(&'static str, Raw)>)> {
    vec![
        ("reno", vec![]),
        ("newreno", vec![]),
        ("newreno", vec![sack(true)]),
        ("newreno", vec![RACK]),
        ("vegas", vec![]),
        ("vegas", vec![sack(true)]),
        ("cubic", vec![]),
        ("cubic", vec![RACK]),
        ("multcp", vec![]),
        ("dctcp", vec![]),
        ("dctcp", vec![RACK]),
        ("ledbat", vec![]),
        ("ledbat-pp", vec![]),
    ]
}

/// Runs until the retransmission timer has expired. Returns the packets sent until then, and at
/// once after it.
fn until_timeout(hand: &mut Hand) -> Vec<u64> {
    let (before, mut sent) = (hand.sender.timeouts(), Vec::new());
    while hand.sender.timeouts() == before {
        hand.now = hand.sender.next_wake();
        hand.sender.on_wake(hand.now);
        sent.extend(hand.send());
    }
    sent
}

/// A standstill of the path. The packets come through afterwards, as they were first sent. The
/// window and the threshold are restored, and no more packets are sent again [RFC 4015 §3.3].
#[test]
fn a_standstill_costs_one_repair_and_no_window() {
    for (name, changes) in controllers() {
        let mut hand = Hand::new(name, 20, &changes);
        let originals = hand.sent.clone();
        let before = hand.window();
        let sent = until_timeout(&mut hand);
        assert!(hand.window().0 < 2.0, "{name}");
        assert!(sent.contains(&0), "{name}: {sent:?}");
        let repairs = hand.sender.retransmissions();
        for number in 0..20 {
            hand.receive_of(number, originals[number as usize], false);
        }
        assert_eq!(hand.sender.retransmissions(), repairs, "{name}");
        assert!(hand.window().0 >= before.0, "{name}: {:?}", hand.window());
        assert!(hand.window().1 >= before.1, "{name}: {:?}", hand.window());
        // The repair arrives, too, and changes nothing.
        let window = hand.window();
        hand.arrive(0);
        assert_eq!(hand.window(), window, "{name}");
        assert!(!hand.sender.is_recovering());
    }
}

/// The same where the timer ran out three times.
#[test]
fn repeated_timeouts_are_undone_with_the_first() {
    for (name, changes) in controllers() {
        let mut hand = Hand::new(name, 20, &changes);
        let originals = hand.sent.clone();
        let before = hand.window();
        (0..3).for_each(|_| drop(until_timeout(&mut hand)));
        for number in 0..20 {
            hand.receive_of(number, originals[number as usize], false);
        }
        assert!(hand.window().0 >= before.0, "{name}: {:?}", hand.window());
        assert!(hand.window().1 >= before.1, "{name}: {:?}", hand.window());
    }
}

/// The repair causes the acknowledgement: there was a loss [RFC 3522 §3.2 step 5].
#[test]
fn a_loss_stays_a_loss() {
    for (name, changes) in controllers() {
        let mut hand = Hand::new(name, 20, &changes);
        hand.wait(50);
        hand.all(1..20);
        let cut = hand.window();
        hand.wait(50);
        hand.arrive(0);
        assert!(hand.window().0 < 20.0, "{name}: {cut:?}, {:?}", hand.window());
        let mut hand = Hand::new(name, 20, &changes);
        until_timeout(&mut hand);
        hand.wait(50);
        hand.arrive(0);
        assert!(hand.window().0 <= 3.0, "{name}: {:?}", hand.window());
    }
}

/// A packet that three others overtake: its repair is sent, then it arrives.
#[test]
fn a_packet_that_is_late_cuts_nothing() {
    for (name, changes) in controllers() {
        let mut hand = Hand::new(name, 20, &changes);
        let original = hand.sent[0];
        hand.wait(50);
        let sent = hand.all(1..4);
        assert!(sent.contains(&0), "{name}: {sent:?}");
        hand.wait(1);
        hand.receive_of(0, original, false);
        assert!(hand.window().0 >= 20.0, "{name}: {:?}", hand.window());
        assert!(!hand.sender.is_recovering(), "{name}");
        assert_eq!(hand.sender.retransmissions(), 1, "{name}");
    }
}

/// The first packet was late and the second lost: one cut, not two and not none.
#[test]
fn a_loss_among_late_packets_cuts_once() {
    for (name, changes) in
        [("newreno", vec![sack(true)]), ("newreno", vec![RACK]), ("dctcp", vec![])]
    {
        let mut hand = Hand::new(name, 20, &changes);
        let original = hand.sent[0];
        hand.wait(50);
        hand.all(2..8);
        hand.wait(1);
        hand.receive_of(0, original, false);
        hand.all(8..12);
        assert!(hand.sender.is_recovering(), "{name}");
        hand.wait(50);
        hand.arrive(1);
        let (window, threshold) = hand.window();
        assert!((9.0..=10.5).contains(&threshold), "{name}: {threshold}");
        assert!(window <= 10.5, "{name}: {window}");
    }
}

/// A mark is an answer of its own, which no echo undoes.
#[test]
fn a_mark_is_not_undone() {
    let mut hand = Hand::new("newreno", 20, &[sack(true), ECN]);
    let originals = hand.sent.clone();
    hand.time_out();
    hand.receive_of(0, originals[0], false);
    assert!(hand.window().0 >= 20.0);
    hand.receive_of(1, originals[1], true);
    assert!(hand.window().0 <= 10.0, "{:?}", hand.window());
}
