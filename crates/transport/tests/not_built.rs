//! What the transport does where later RFCs have rules that are not built: RACK-TLP [RFC 8985] and
//! Proportional Rate Reduction [RFC 9937]. docs/src/validation.md names these tests. A test that
//! fails here, because the rule was built, moves to rules.rs.

mod common;
#[path = "common/hand.rs"]
mod hand;
#[path = "../../aqm/tests/common/any_values.rs"]
mod values;

use accord_units::Duration;
use hand::*;

/// RFC 6675 §5: the window is cut at once, so that half a round trip of acknowledgements lets nothing
/// out, and each of the other half a packet. RFC 9937 §6.2 would let a packet out for every second
/// acknowledgement of the whole round trip.
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
/// §6.2 step 4 waits for a quarter of the smallest round-trip time once it has seen reordering, and
/// would cut once here.
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
    // It was late, too: at the same instant, so that the repair was in vain.
    hand.all([42]);
    assert_eq!(hand.receiver.duplicates(), 0);
    hand.all([42]);
    assert_eq!(hand.receiver.duplicates(), 1);
}

/// RFC 6298: the loss of the last packets waits for the timer, 300 ms after a first sample of 100 ms.
/// RFC 8985 §7.2 would send a probe after two smoothed round-trip times.
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
