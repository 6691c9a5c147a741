//! RED against closed forms of its average and of the spacing of its marks.

use crate::common::{DATA, Random, family, queue, text, values};
use accord_aqm::{Aqm, Ecn, Entropy, PacketMeta, QueueView, Red, Verdict};
use accord_family::Raw;
use accord_units::{Bytes, Time};

fn red(changes: &[(&str, Raw)]) -> Red {
    Red::new(&values("red", changes))
}

fn arrive(red: &mut Red, found: &QueueView, seconds: f64) -> Verdict {
    red.on_arrival(&DATA, found, Time::from_secs_f64(seconds), &mut Random(seconds.to_bits()))
}

/// The step response: after n arrivals that find q packets, q·(1 − (1 − w)ⁿ); of 346 with
/// w = 0.002 that is half of q.
#[test]
fn the_average_follows_a_step_with_its_half_life() {
    let mut red = red(&[]);
    for i in 0..346 {
        arrive(&mut red, &queue(4), f64::from(i) * 1e-3);
    }
    assert!((red.average() - 2.0).abs() < 0.002, "{}", red.average());
}

/// FJ93 §VI: with w = 0.0042 a burst of 50 packets into an empty queue takes the average
/// just to five packets.
#[test]
fn the_average_of_a_burst_is_that_of_floyd_and_jacobson() {
    let mut red = red(&[("weight", Raw::Number(0.0042))]);
    for i in 1..=50 {
        arrive(&mut red, &queue(i), 0.0);
    }
    assert!((red.average() - 5.0).abs() < 0.05, "{}", red.average());
}

/// Each arrival leaves five packets of 0.8 ms behind, so 4 ms later the link idles; 346
/// packets of idle time after that the average has halved.
#[test]
fn the_average_decays_while_the_link_is_idle() {
    let mut red = red(&[]);
    for _ in 0..1000 {
        arrive(&mut red, &queue(4), 1.0);
    }
    let before = red.average();
    arrive(&mut red, &queue(0), 1.0 + 5.0 * 0.8e-3);
    assert!((red.average() - before).abs() < 1e-9, "still busy");
    arrive(&mut red, &queue(0), 1.0 + 5.0 * 0.8e-3 + (1.0 + 346.23) * 0.8e-3);
    assert!((red.average() / before - 0.5).abs() < 1e-4);
}

/// Dice that drop every packet that may be dropped.
struct Least;

impl Entropy for Least {
    fn uniform(&mut self) -> f64 {
        0.0
    }
}

/// The last packet must be served before the link is idle, whether it was marked, exempt or passed. A dropped
/// one need not be served.
#[test]
fn the_idle_time_begins_when_the_last_packet_has_left() {
    let capable = PacketMeta { ecn: Ecn::Capable, ..DATA };
    for (packet, spare, verdict, packets) in [
        (&capable, false, Verdict::Mark, 11.0),
        (&DATA, true, Verdict::Pass, 11.0),
        (&DATA, false, Verdict::Drop, 10.0),
    ] {
        let changes = [("ecn", Raw::Flag(true)), ("spare_short", Raw::Flag(spare))];
        let mut red = red(&changes);
        while red.average() < 9.9 {
            red.on_arrival(packet, &queue(2), Time::ZERO, &mut Random(1));
            red.on_arrival(packet, &queue(300), Time::ZERO, &mut Random(1));
        }
        red.on_arrival(packet, &queue(2), Time::ZERO, &mut Random(1));
        let got = red.on_arrival(packet, &queue(10), Time::ZERO, &mut Least);
        assert_eq!(got, verdict);
        let before = red.average();
        // 0.8 ms per packet.
        arrive(&mut red, &queue(0), packets * 0.8e-3);
        assert!((red.average() - before).abs() < 1e-9, "{verdict:?}: still busy");
        let mut later = red.clone();
        arrive(&mut later, &queue(0), (2.0 * packets + 2.0) * 0.8e-3);
        assert!(later.average() < before * 0.998, "{verdict:?}: idle");
    }
}

/// Packets from one mark to the next where the average is held at `packets`.
fn spacings(packets: u64, n: usize) -> Vec<u32> {
    let mut red = red(&[("weight", Raw::Number(1.0))]);
    let mut random = Random(11);
    let mut spacings = Vec::new();
    let mut since = 0;
    while spacings.len() < n {
        since += 1;
        if red.on_arrival(&DATA, &queue(packets), Time::ZERO, &mut random) == Verdict::Drop {
            spacings.push(since);
            since = 0;
        }
    }
    spacings
}

/// Half way between 5 and 15 packets p_b is 0.05: the spacing is uniform on 1..=20, which
/// has mean 10.5 and variance 33.25 [FJ93 §VII, method 2].
#[test]
fn marks_are_evenly_spaced() {
    let spacings = spacings(10, 20_000);
    let n = spacings.len() as f64;
    let mean = spacings.iter().map(|&s| f64::from(s)).sum::<f64>() / n;
    let variance = spacings.iter().map(|&s| (f64::from(s) - mean).powi(2)).sum::<f64>() / n;
    assert_eq!(spacings.iter().max(), Some(&20));
    assert!((mean - 10.5).abs() < 0.2, "mean {mean}");
    assert!((variance - 33.25).abs() < 1.0, "variance {variance}");
}

/// FJ93 fig. 2: packets count between marks from the lower threshold on, and no packet below it does.
#[test]
fn packets_count_from_the_lower_threshold_on() {
    // After 100 of them a packet at p_b = 0.05 is certain to be dropped for any dice.
    struct High;
    impl Entropy for High {
        fn uniform(&mut self) -> f64 {
            0.999
        }
    }
    for (packets, verdict) in [(4, Verdict::Pass), (5, Verdict::Drop)] {
        let mut red = red(&[("weight", Raw::Number(1.0))]);
        for _ in 0..100 {
            let got = red.on_arrival(&DATA, &queue(packets), Time::ZERO, &mut High);
            assert_eq!(got, Verdict::Pass);
        }
        let got = red.on_arrival(&DATA, &queue(10), Time::ZERO, &mut High);
        assert_eq!(got, verdict, "{packets}");
    }
}

/// Half way from 15 to 30 packets p_b is 0.55: the first packet goes with probability
/// 0.55, otherwise the second, which is a mean of 1.45.
#[test]
fn the_gentle_option_rises_to_one_at_twice_the_upper_threshold() {
    let held = |packets| {
        let spacings = spacings(packets, 20_000);
        spacings.iter().sum::<u32>() as f64 / spacings.len() as f64
    };
    // 22 and 23 packets, the neighbours of 22.5, have p_b 0.52 and 0.58.
    assert!((held(22) - 1.48).abs() < 0.02);
    assert!((held(23) - 1.42).abs() < 0.02);
    assert_eq!(held(30), 1.0);
    let mut classic = red(&[("weight", Raw::Number(1.0)), ("gentle", Raw::Flag(false))]);
    assert_eq!(arrive(&mut classic, &queue(15), 0.0), Verdict::Drop);
}

#[test]
fn below_the_lower_threshold_everything_passes() {
    let mut red = red(&[("weight", Raw::Number(1.0))]);
    for i in 0..10_000 {
        assert_eq!(arrive(&mut red, &queue(4), f64::from(i)), Verdict::Pass);
    }
}

#[test]
fn with_ecn_marks_replace_drops_until_everything_is_dropped() {
    let capable = PacketMeta { ecn: Ecn::Capable, ..DATA };
    let mut red = red(&[("weight", Raw::Number(1.0)), ("ecn", Raw::Flag(true))]);
    let mut random = Random(3);
    let mut seen = |packets| {
        let mut verdicts: Vec<_> = (0..200)
            .map(|_| red.on_arrival(&capable, &queue(packets), Time::ZERO, &mut random))
            .collect();
        verdicts.dedup();
        verdicts
    };
    // Packets that cannot be marked are dropped nevertheless.
    let mut plain = self::red(&[("weight", Raw::Number(1.0)), ("ecn", Raw::Flag(true))]);
    let mut others = Random(3);
    let mut verdicts: Vec<_> =
        (0..200).map(|_| plain.on_arrival(&DATA, &queue(10), Time::ZERO, &mut others)).collect();
    verdicts.dedup();
    assert!(verdicts.contains(&Verdict::Drop) && !verdicts.contains(&Verdict::Mark));
    let between = seen(10);
    assert!(between.contains(&Verdict::Mark) && !between.contains(&Verdict::Drop));
    assert_eq!(seen(30), [Verdict::Drop]);
}

#[test]
fn thresholds_in_bytes_count_bytes() {
    let mut red = red(&[
        ("weight", Raw::Number(1.0)),
        ("min_threshold", text("5 KB")),
        ("max_threshold", text("15 KB")),
        ("gentle", Raw::Flag(false)),
    ]);
    let acks = QueueView { bytes: Bytes::new(4_000), ..queue(100) };
    assert_eq!(arrive(&mut red, &acks, 0.0), Verdict::Pass);
    assert_eq!(arrive(&mut red, &queue(15), 0.0), Verdict::Drop);
}

#[test]
fn thresholds_that_contradict_each_other_are_refused() {
    for (min, max) in [("15 pkt", "5 pkt"), ("5 pkt", "5 pkt"), ("5 pkt", "15 KB")] {
        let mut values = family("red").defaults();
        values.set("min_threshold", &text(min)).expect("a size");
        values.set("max_threshold", &text(max)).expect("a size");
        assert!((family("red").check)(&values).is_err(), "{min} {max}");
    }
    let mut values = family("red").defaults();
    values.set("packet", &text("1 pkt")).expect("a size");
    assert!((family("red").check)(&values).is_err());
}

/// The average alone decides, as in FJ93: a packet that finds a queue just emptied may be dropped.
/// With ns-2's rule a packet that finds at most two packets, including the one in service, is never
/// dropped.
#[test]
fn short_queues_are_exempt_on_request() {
    let dropped = |spare: bool, found: u64| {
        let mut red = red(&[("weight", Raw::Number(1e-6)), ("spare_short", Raw::Flag(spare))]);
        let mut random = Random(5);
        // The average comes to ten packets, and stays there.
        while red.average() < 10.0 {
            red.on_arrival(&DATA, &queue(10_000_000), Time::ZERO, &mut random);
        }
        let all = (0..2000).map(|_| red.on_arrival(&DATA, &queue(found), Time::ZERO, &mut random));
        all.filter(|v| *v == Verdict::Drop).count()
    };
    // A spacing of 10.5 packets on average.
    let usual = 170..=210;
    assert!(usual.contains(&dropped(false, 1)), "{}", dropped(false, 1));
    assert!(usual.contains(&dropped(false, 2)), "{}", dropped(false, 2));
    assert_eq!(dropped(true, 1), 0);
    assert_eq!(dropped(true, 2), 0);
    assert!(usual.contains(&dropped(true, 3)), "{}", dropped(true, 3));
}

/// ns-2: the first packet that is not exempt passes for any draw, unless all are dropped.
#[test]
fn the_first_packet_after_a_short_queue_passes() {
    let mut red = red(&[("weight", Raw::Number(1.0)), ("spare_short", Raw::Flag(true))]);
    for (found, verdict) in [
        (2, Verdict::Pass),
        (14, Verdict::Pass),
        (14, Verdict::Drop),
        (2, Verdict::Pass),
        (14, Verdict::Pass),
        (14, Verdict::Drop),
    ] {
        assert_eq!(red.on_arrival(&DATA, &queue(found), Time::ZERO, &mut Least), verdict);
    }
    assert_eq!(red.on_arrival(&DATA, &queue(2), Time::ZERO, &mut Random(1)), Verdict::Pass);
    assert_eq!(red.on_arrival(&DATA, &queue(30), Time::ZERO, &mut Random(1)), Verdict::Drop);
}

/// FJ93 §IV: in byte mode a packet is marked in proportion to its size.
#[test]
fn in_byte_mode_small_packets_are_dropped_less() {
    let dropped = |size: u64| {
        let mut red = red(&[
            ("weight", Raw::Number(1.0)),
            ("min_threshold", text("5 KB")),
            ("max_threshold", text("15 KB")),
        ]);
        let packet = PacketMeta { size: Bytes::new(size), ..DATA };
        let mut random = Random(7);
        let found = queue(10);
        let all = (0..100_000).map(|_| red.on_arrival(&packet, &found, Time::ZERO, &mut random));
        all.filter(|v| *v == Verdict::Drop).count() as f64
    };
    // Above twice the upper threshold all packets are dropped, regardless of size.
    let mut full = red(&[
        ("weight", Raw::Number(1.0)),
        ("min_threshold", text("5 KB")),
        ("max_threshold", text("15 KB")),
    ]);
    let small = PacketMeta { size: Bytes::new(40), ..DATA };
    let mut random = Random(9);
    let all = (0..100).map(|_| full.on_arrival(&small, &queue(30), Time::ZERO, &mut random));
    assert_eq!(all.filter(|v| *v == Verdict::Drop).count(), 100);
    // p is 0.05 for 1000 B and 0.0125 for 250 B: a drop in (1/p + 1)/2 packets.
    assert!((dropped(1000) / (1e5 / 10.5) - 1.0).abs() < 0.02, "{}", dropped(1000));
    assert!((dropped(250) / (1e5 / 40.5) - 1.0).abs() < 0.05, "{}", dropped(250));
}
