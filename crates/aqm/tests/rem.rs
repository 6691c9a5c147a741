//! REM against hand-calculated traces of its price and the binomial law of its marks.

use crate::common::{DATA, Random, family, queue, text, values};
use accord_aqm::{Aqm, Class, Ecn, PacketMeta, QueueView, Rem, Verdict};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Rate, Time};

fn rem(changes: &[(&str, Raw)]) -> Rem {
    Rem::new(&values("rem", changes))
}

const CAPABLE: PacketMeta = PacketMeta { ecn: Ecn::Capable, ..DATA };

/// Offers `n` packets. Returns the numbers of passed, marked and dropped ones.
fn verdicts(rem: &mut Rem, packet: &PacketMeta, n: u32, random: &mut Random) -> [u32; 3] {
    let mut counts = [0; 3];
    for _ in 0..n {
        let verdict = rem.on_arrival(packet, &queue(0), Time::ZERO, random);
        counts[verdict as usize] += 1;
    }
    counts
}

/// 6 packets of 1000 bytes per millisecond.
fn view(packets: u64) -> QueueView {
    QueueView { rate: Rate::from_bps(48_000_000), ..queue(packets) }
}

/// The price after each period of `trace`: packets that arrived in it, and the queue at
/// its end.
fn prices(rem: &mut Rem, trace: &[(u32, u64)]) -> Vec<f64> {
    let mut random = Random(1);
    let milliseconds = |p: Option<f64>| p.expect("it has one") * 1e3;
    trace
        .iter()
        .map(|&(arrivals, queued)| {
            verdicts(rem, &CAPABLE, arrivals, &mut random);
            let now = rem.next_timer().expect("it has one");
            rem.on_timer(&view(queued), now);
            milliseconds(rem.price())
        })
        .collect()
}

/// Packets that cannot be marked, at a price at which half of them are dropped: all of them are
/// arrivals, or those that enter the queue.
#[test]
fn dropped_packets_count_as_arrivals_or_not() {
    for (counts, expected) in [(true, 1200.0), (false, 600.0)] {
        // 301 packets too many make a price of 0.301 ms, log10(2).
        let mut rem = rem(&[
            ("phi", Raw::Number(10.0)),
            ("gain", Raw::Number(1e-3)),
            ("backlog_weight", Raw::Number(0.0)),
            ("count_dropped", Raw::Flag(counts)),
        ]);
        let before = prices(&mut rem, &[(307, 0)])[0];
        assert!((10f64.powf(-before) - 0.5).abs() < 1e-3, "{before}");
        let [passed, marked, dropped] = verdicts(&mut rem, &DATA, 1200, &mut Random(1));
        assert_eq!(marked, 0);
        let now = rem.next_timer().expect("it has one");
        rem.on_timer(&view(0), now);
        let after = rem.price().expect("it has one") * 1e3;
        let counted = (after - before) / 1e-3 + 6.0;
        let all = f64::from(passed + dropped);
        let of = if counts { all } else { f64::from(passed) };
        assert!((counted - of).abs() < 1e-6, "{counted} of {of}");
        // Five standard deviations.
        assert!((counted - expected).abs() < 87.0, "{counted}");
    }
}

/// γ = 0.005, μ = 0.5, c = 6: ten packets and none queued are four too many, a price of
/// 0.02; eight and four waiting make two and half of four; an idle link takes six off. Of
/// the queue, one packet is in service and does not wait.
#[test]
fn the_price_follows_rate_mismatch_and_backlog() {
    let mut rem = rem(&[]);
    let got = prices(&mut rem, &[(10, 0), (8, 5), (6, 1), (6, 11), (0, 0), (0, 0)]);
    let expected = [0.02, 0.04, 0.04, 0.065, 0.035, 0.005];
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-12, "{got} {expected}");
    }
    // It is never negative.
    assert_eq!(prices(&mut rem, &[(0, 0), (0, 0)]), [0.0, 0.0]);
}

#[test]
fn the_timer_comes_every_period_whatever_arrives() {
    let mut rem = rem(&[("period", text("250 us"))]);
    for k in 1..=8u64 {
        let at = Time::ZERO + Duration::from_us(250 * k);
        assert_eq!(rem.next_timer(), Some(at));
        rem.on_timer(&view(0), at);
    }
}

/// A packet of half the size counts half.
#[test]
fn packets_count_by_their_size() {
    let mut rem = rem(&[]);
    let half = PacketMeta { size: Bytes::new(500), ..CAPABLE };
    verdicts(&mut rem, &half, 20, &mut Random(1));
    rem.on_timer(&view(0), Time::ZERO + Duration::from_ms(1));
    assert!((rem.price().expect("it has one") - 0.02e-3).abs() < 1e-15);
}

/// At a price of 10 ms and φ = 1.1 a share of 1 − 1.1^−10 = 0.6145 is marked: of 100 000
/// packets 61 446, give or take five standard deviations of 154.
#[test]
fn the_share_of_marks_is_exponential_in_the_price() {
    // γ = 1: the price is the mismatch itself.
    let mut rem = rem(&[("gain", Raw::Number(1.0))]);
    assert_eq!(prices(&mut rem, &[(16, 0)]), [10.0]);
    let [passed, marked, dropped] = verdicts(&mut rem, &CAPABLE, 100_000, &mut Random(2));
    assert!(marked.abs_diff(61_446) < 770, "{marked}");
    assert_eq!((passed + marked, dropped), (100_000, 0));
}

#[test]
fn what_is_marked_is_not_marked_again_and_what_cannot_be_is_dropped() {
    let mut rem = rem(&[("gain", Raw::Number(1.0))]);
    prices(&mut rem, &[(1006, 0)]);
    let with = |ecn| PacketMeta { ecn, ..DATA };
    let mut all = |packet| verdicts(&mut rem, &packet, 100, &mut Random(3));
    assert_eq!(all(with(Ecn::Marked)), [100, 0, 0]);
    assert_eq!(all(with(Ecn::Capable)), [0, 100, 0]);
    assert_eq!(all(with(Ecn::NotCapable)), [0, 0, 100]);
    let control = PacketMeta { class: Class::OutOfBand, ..DATA };
    assert_eq!(all(control), [100, 0, 0]);
}

#[test]
fn without_ecn_it_drops() {
    let mut rem = rem(&[("gain", Raw::Number(1.0)), ("ecn", Raw::Flag(false))]);
    prices(&mut rem, &[(1006, 0)]);
    assert_eq!(verdicts(&mut rem, &CAPABLE, 100, &mut Random(4)), [0, 0, 100]);
}

/// Two consecutive links with prices of 3 and 4 ms mark as one with 7 ms does [Low02 eq. 32].
#[test]
fn prices_add_up_along_a_path() {
    let at = |price: u32| {
        let mut rem = rem(&[("gain", Raw::Number(1.0))]);
        prices(&mut rem, &[(6 + price, 0)]);
        rem
    };
    let (mut first, mut second) = (at(3), at(4));
    let mut random = Random(5);
    let mut marked = 0u32;
    for _ in 0..100_000 {
        let mut packet = CAPABLE;
        for link in [&mut first, &mut second] {
            if link.on_arrival(&packet, &queue(0), Time::ZERO, &mut random) == Verdict::Mark {
                assert_eq!(packet.ecn, Ecn::Capable);
                packet.ecn = Ecn::Marked;
            }
        }
        marked += u32::from(packet.ecn == Ecn::Marked);
    }
    // 1 − 1.1^−7 = 0.48684; five standard deviations are 790.
    assert!(marked.abs_diff(48_684) < 790, "{marked}");
}

#[test]
fn a_packet_of_packets_is_refused() {
    let mut values = family("rem").defaults();
    values.set("packet", &text("3 pkt")).expect("a size");
    assert!((family("rem").check)(&values).is_err());
}

#[test]
fn ten_microseconds_are_the_shortest_period() {
    for (ns, works) in [(9_999, false), (10_000, true), (10_001, true)] {
        let mut values = family("rem").defaults();
        let period = text(&format!("{ns} ns"));
        values.set("period", &period).expect("a time");
        assert_eq!((family("rem").check)(&values).is_ok(), works, "{ns} ns");
    }
}
