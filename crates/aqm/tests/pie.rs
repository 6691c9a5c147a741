//! PIE against steps worked out by hand from RFC 8033.

use crate::common::{DATA, Random, family, text, values};
use accord_aqm::{Aqm, Class, Ecn, PacketMeta, Pie, QueueView, Verdict};
use accord_family::Raw;
use accord_units::{Bytes, Duration, Rate, Time};

fn pie(changes: &[(&str, Raw)]) -> Pie {
    Pie::new(&values("pie", changes))
}

/// A queue of `ms` milliseconds at 8 Mbps, which is one packet of 1000 bytes per millisecond, and
/// one in service.
fn waiting(ms: u64) -> QueueView {
    QueueView {
        packets: ms + 1,
        bytes: Bytes::new(1000 * (ms + 1)),
        rate: Rate::from_bps(8_000_000),
        capacity: None,
    }
}

const IDLE: QueueView =
    QueueView { packets: 0, bytes: Bytes::ZERO, rate: Rate::from_bps(8_000_000), capacity: None };

/// Updates the probability at each delay, in milliseconds, and returns it after each.
fn updates(pie: &mut Pie, delays: &[u64]) -> Vec<f64> {
    let step = |&ms: &u64| {
        let now = pie.next_timer().expect("it has one");
        pie.on_timer(&if ms == 0 { IDLE } else { waiting(ms) }, now);
        pie.probability()
    };
    delays.iter().map(step).collect()
}

/// Returns the numbers of `n` arrivals that were passed, marked and dropped.
fn verdicts(pie: &mut Pie, packet: &PacketMeta, n: u32) -> [u32; 3] {
    let mut random = Random(7);
    let mut counts = [0; 3];
    for _ in 0..n {
        let verdict = pie.on_arrival(packet, &waiting(40), Time::ZERO, &mut random);
        counts[verdict as usize] += 1;
    }
    counts
}

/// Until the probability is at least `p`, with a queue of 40 ms.
fn raised_to(p: f64, changes: &[(&str, Raw)]) -> Pie {
    let mut pie = pie(changes);
    while pie.probability() < p {
        updates(&mut pie, &[40]);
    }
    pie
}

/// 30 ms after none: (0.125·15 ms + 1.25·30 ms)/2048 = 19.226e-6. The same again: p is below
/// 1e-4, so 0.125·15 ms/128 = 14.648e-6 more. 14 ms: (−0.125·1 ms − 1.25·16 ms)/128 takes
/// 157e-6 off, which leaves nothing.
#[test]
fn the_probability_follows_the_delay_and_its_change() {
    let got = updates(&mut pie(&[]), &[30, 30, 14]);
    let expected = [19.226e-6, 33.875e-6, 0.0];
    for (got, expected) in got.iter().zip(expected) {
        assert!((got - expected).abs() < 1e-9, "{got} {expected}");
    }
}

/// RFC 8033 §5.2: without departures the last rate counts. 5 ms after none: (−0.125·10 ms + 1.25·5 ms)/2048.
/// Then 30 ms in an outage: p is below 1e-5, so (0.125·15 ms + 1.25·25 ms)/512 more.
#[test]
fn the_last_rate_counts_in_an_outage() {
    let mut pie = pie(&[]);
    let before = updates(&mut pie, &[5])[0];
    assert!((before - 5e-3 / 2048.0).abs() < 1e-12, "{before}");
    let outage = QueueView { rate: Rate::ZERO, ..waiting(30) };
    let now = pie.next_timer().expect("it has one");
    pie.on_timer(&outage, now);
    let step = pie.probability() - before;
    assert!((step - 33.125e-3 / 512.0).abs() < 1e-12, "{step}");
    // The delay is zero before the first rate.
    let mut first = Pie::new(&values("pie", &[]));
    let now = first.next_timer().expect("it has one");
    first.on_timer(&outage, now);
    assert_eq!(first.probability(), 0.0);
}

/// At a constant delay of 40 ms a step is 0.125·25 ms = 3.125e-3 divided by the scale.
#[test]
fn steps_are_small_where_the_probability_is() {
    let mut pie = pie(&[("beta", Raw::Number(0.0))]);
    let mut before = 0.0;
    for _ in 0..500 {
        let p = updates(&mut pie, &[40])[0];
        let by: f64 = match before {
            b if b < 1e-6 => 2048.0,
            b if b < 1e-5 => 512.0,
            b if b < 1e-4 => 128.0,
            b if b < 1e-3 => 32.0,
            b if b < 1e-2 => 8.0,
            b if b < 1e-1 => 2.0,
            _ => 1.0,
        };
        assert!((p - (before + 3.125e-3 / by).min(1.0)).abs() < 1e-12);
        before = p;
    }
    assert_eq!(before, 1.0, "and no more");
}

/// A queue that grows from 40 ms to 4 s would add 4.95 at once; above 0.1 a step is 0.02.
#[test]
fn a_sudden_queue_does_not_drop_all_at_once() {
    let mut pie = raised_to(0.1, &[]);
    let before = pie.probability();
    let after = updates(&mut pie, &[4000])[0];
    assert!((after - before - 0.02).abs() < 1e-12);
}

/// 15 % of 100 000 and more, within five standard deviations of its own probability.
#[test]
fn arrivals_are_dropped_with_the_probability() {
    let mut pie = raised_to(0.15, &[]);
    let p = pie.probability();
    let [passed, marked, dropped] = verdicts(&mut pie, &DATA, 100_000);
    assert_eq!((passed + dropped, marked), (100_000, 0));
    let five = 5.0 * (1e5 * p * (1.0 - p)).sqrt();
    assert!((f64::from(dropped) - 1e5 * p).abs() < five, "{dropped} {p}");
}

#[test]
fn low_delay_short_queues_and_control_are_exempt() {
    let mut pie = raised_to(0.15, &[]);
    let control = PacketMeta { class: Class::OutOfBand, ..DATA };
    assert_eq!(verdicts(&mut pie, &control, 1000), [1000, 0, 0]);
    // Two packets of 1024 bytes pass at any probability.
    let mut high = raised_to(0.9, &[]);
    let mut few = |bytes| {
        let view = QueueView { bytes: Bytes::new(bytes), ..waiting(1) };
        let mut random = Random(1);
        (0..1000)
            .filter(|_| high.on_arrival(&DATA, &view, Time::ZERO, &mut random) != Verdict::Pass)
            .count()
    };
    assert_eq!(few(2048), 0);
    assert!(few(2049) > 850);
    // A delay of 7 ms at the last update, below half of 15, and a probability below 0.2.
    let p = updates(&mut pie, &[7])[0];
    assert!(p > 0.05);
    assert_eq!(verdicts(&mut pie, &DATA, 1000), [1000, 0, 0]);
    updates(&mut pie, &[8]);
    assert!(verdicts(&mut pie, &DATA, 1000)[2] > 20);
    // Half of the target, 7.5 ms of one of two packets, is not below it.
    let half = QueueView { bytes: Bytes::new(15_000), packets: 2, ..IDLE };
    let now = pie.next_timer().expect("it has one");
    pie.on_timer(&half, now);
    assert!(verdicts(&mut pie, &DATA, 1000)[2] > 20);
}

/// 150 ms are ten periods. Then arrivals are dropped. When the probability is back at zero and the
/// queue is short, there is another allowance.
#[test]
fn a_burst_is_allowed_after_low_delay() {
    let mut pie = pie(&[("beta", Raw::Number(100.0))]);
    // Grows by 100 ms a period, so the probability rises at once.
    let growing: Vec<u64> = (1..=9).map(|k| 100 * k).collect();
    updates(&mut pie, &growing);
    assert!(pie.probability() > 0.3);
    assert_eq!(verdicts(&mut pie, &DATA, 1000)[2], 0);
    updates(&mut pie, &[1000]);
    assert!(verdicts(&mut pie, &DATA, 1000)[2] > 300);
    updates(&mut pie, &[0, 0, 0]);
    assert_eq!(pie.probability(), 0.0);
    updates(&mut pie, &growing);
    assert_eq!(verdicts(&mut pie, &DATA, 1000)[2], 0);
}

/// RFC 8033 §4.4: an allowance is renewed if p is 0 and both delays, the current and the previous one, are
/// below half of the target. Otherwise it is spent in 150 ms, although nothing is dropped.
#[test]
fn the_allowance_is_renewed_after_two_delays_below_half_of_the_target() {
    for (delays, exempt) in [([7, 7], true), ([8, 8], false), ([7, 8], false)] {
        let changes = [("alpha", Raw::Number(100.0)), ("beta", Raw::Number(0.0))];
        let mut pie = pie(&changes);
        for _ in 0..6 {
            updates(&mut pie, &delays);
        }
        assert_eq!(pie.probability(), 0.0);
        updates(&mut pie, &[40, 40]);
        assert!(pie.probability() > 0.2, "{}", pie.probability());
        assert_eq!(verdicts(&mut pie, &DATA, 1000)[2] == 0, exempt, "{delays:?}");
    }
}

/// Without load the probability falls by α·15 ms = 1.875e-3 times the scale and by a 50th per
/// period.
#[test]
fn an_empty_queue_forgets_exponentially() {
    let mut pie = raised_to(0.9, &[]);
    updates(&mut pie, &[0]);
    let before = pie.probability();
    let after = updates(&mut pie, &[0])[0];
    assert!((after - (before - 1.875e-3) * 0.98).abs() < 1e-12);
    updates(&mut pie, &[0; 300]);
    assert!(pie.probability() < 0.002, "{}", pie.probability());
}

#[test]
fn marks_replace_drops_up_to_the_threshold() {
    let capable = PacketMeta { ecn: Ecn::Capable, ..DATA };
    let mut low = raised_to(0.05, &[]);
    assert!(low.probability() < 0.1);
    let [_, marked, dropped] = verdicts(&mut low, &capable, 1000);
    assert!(marked > 20 && dropped == 0, "{marked} {dropped}");
    let mut high = raised_to(0.1, &[]);
    let [_, marked, dropped] = verdicts(&mut high, &capable, 1000);
    assert!(marked == 0 && dropped > 60, "{marked} {dropped}");
    let mut off = raised_to(0.05, &[("ecn", Raw::Flag(false))]);
    assert_eq!(verdicts(&mut off, &capable, 1000)[1], 0);
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    for (name, value) in [("mean_packet", "3 pkt"), ("period", "1 us")] {
        let mut values = family("pie").defaults();
        values.set(name, &text(value)).expect("of its kind");
        assert!((family("pie").check)(&values).is_err(), "{name}");
    }
    let shortest = pie(&[("period", text("10 us"))]).next_timer();
    assert_eq!(shortest, Some(Time::ZERO + Duration::from_us(10)));
    let next = pie(&[]).next_timer();
    assert_eq!(next, Some(Time::ZERO + Duration::from_ms(15)));
}
