//! Growth of windows that the application uses in part [draft-ietf-ccwg-ratelimited-increase §3,
//! RFC 7661 §4.3].

use crate::hand::{Hand, sack};
use accord_control::{Controller, FAMILIES, Maker, Transport};

/// Ten packets are sent, acknowledged after 50 ms, 1 ms apart, and the window is asked for in bytes.
fn ten(name: &str, packets: u64) -> u64 {
    let mut hand = Hand::with(name, 10, packets, &[]);
    hand.wait(50);
    for number in 0..10 {
        hand.wait(1);
        hand.arrive(number);
    }
    hand.sender.controller().cwnd().get()
}

/// Rule 1 lets a window grow that was used whole, and the flow has nothing to do with how much there
/// is to send behind it: the acknowledgements of both are the same.
#[test]
fn ten_packets_of_ten_grow_the_window_as_those_of_an_endless_transfer() {
    let mut families = 0;
    for family in FAMILIES {
        let window = family.params.iter().any(|p| p.name == "initial_window");
        // BBR paces its first packets, and grows by the acknowledged data in any case.
        let bbr = family.name.starts_with("bbr");
        let on_stream = matches!(Maker::of(family).transport, Transport::Stream);
        if !on_stream || !window || bbr {
            continue;
        }
        let (burst, endless) = (ten(family.name, 10), ten(family.name, u64::MAX));
        assert_eq!(burst, endless, "{}", family.name);
        families += 1;
    }
    assert!(families >= 9, "{families}");
}

/// The example of §3.1: 10 packets, a pause, then 4. The window is 20 after the first, and after
/// the others.
#[test]
fn four_packets_of_twenty_leave_the_window_alone() {
    for name in ["reno", "newreno", "cubic", "dctcp", "multcp"] {
        let mut hand = Hand::with(name, 10, 10, &[]);
        hand.wait(50);
        hand.all(0..10);
        assert_eq!(hand.window().0, 20.0, "{name}");
        hand.sender.supply(4);
        assert_eq!(hand.send(), [10, 11, 12, 13]);
        hand.wait(50);
        hand.all(10..14);
        assert_eq!(hand.window().0, 20.0, "{name}");
    }
}

/// Rule 2: slow start goes on up to twice the flight.
#[test]
fn slow_start_stops_at_twice_the_flight() {
    let mut hand = Hand::with("newreno", 10, 10, &[]);
    hand.wait(50);
    hand.all(0..10);
    for burst in 0..3 {
        hand.sender.supply(13);
        let first = 10 + 13 * burst;
        assert_eq!(hand.send().len(), 13);
        hand.wait(50);
        hand.all(first..first + 13);
        assert_eq!(hand.window().0, 26.0);
    }
}

/// RFC 5681 §3.1 and Linux: congestion avoidance wants the window full, and a window that is not full
/// any more does not grow.
#[test]
fn congestion_avoidance_wants_the_window_full() {
    let mut hand = Hand::new("newreno", 10, &[sack(true)]);
    hand.wait(50);
    // Packet 0 is lost: five packets from now on.
    hand.all(1..10);
    hand.sender.stop();
    hand.wait(50);
    let out = hand.sent.len() as u64;
    hand.all(10..out);
    hand.receive(0, false);
    assert_eq!(hand.window(), (5.0, 5.0));
    let burst = |hand: &mut Hand, packets: u64| {
        let first = hand.sent.len() as u64;
        hand.sender.supply(packets);
        assert_eq!(hand.send().len() as u64, packets);
        hand.wait(50);
        hand.all(first..first + packets);
        hand.window().0
    };
    assert_eq!(burst(&mut hand, 4), 5.0);
    assert_eq!(burst(&mut hand, 5), 6.0);
    assert_eq!(burst(&mut hand, 5), 6.0);
    assert_eq!(burst(&mut hand, 3), 6.0);
}
