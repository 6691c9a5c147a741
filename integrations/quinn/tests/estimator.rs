//! quinn's estimator follows the samples.

use accord_quinn::Estimator;
use accord_units::Duration;

#[test]
fn it_follows_its_samples() {
    let mut estimator = Estimator::default();
    let first = estimator.sample(Duration::from_ms(50));
    // Before a sample it has quinn's initial round-trip time [RFC 9002 §6.2.2].
    assert_eq!(first.get().as_millis(), 333);
    let second = estimator.sample(Duration::from_ms(90));
    assert_eq!((second.get().as_millis(), second.min().as_millis()), (50, 50));
    let third = estimator.sample(Duration::from_ms(20));
    assert_eq!((third.get().as_millis(), third.min().as_millis()), (55, 50));
    let (min, smoothed) = estimator.shown().expect("three samples");
    assert_eq!(min, Duration::from_ms(20));
    assert_eq!(smoothed.as_ps(), (55_000_000 * 7 + 20_000_000) / 8 * 1000);
}

#[test]
fn a_copy_goes_on_as_the_original() {
    let mut estimator = Estimator::default();
    for i in 0..1000u64 {
        estimator.sample(Duration::from_us(10_000 + i * i % 977));
    }
    let mut copy = estimator.clone();
    assert_eq!(estimator.shown(), copy.shown());
    for i in 0..1000u64 {
        let rtt = Duration::from_us(9_500 + i * i % 1913);
        let (a, b) = (estimator.sample(rtt), copy.sample(rtt));
        assert_eq!((a.get(), a.min()), (b.get(), b.min()));
    }
}
