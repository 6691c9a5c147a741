//! The mean rates of demands.

use accord_traffic::{Demand, Draw};
use accord_units::{Bytes, Duration, Rate};

/// Bursts of 100 KB at 8 Mbps take 0.1 s; with pauses of 0.3 s they are a quarter of the time.
/// Without a rate at most 100 KB come every 0.3 s.
#[test]
fn bursts_come_to_their_size_over_burst_and_pause() {
    let bursts = |rate| Demand::OnOff {
        rate,
        burst: Draw::Exponential(Bytes::new(100_000)),
        pause: Draw::Constant(Duration::from_ms(300)),
    };
    let near = |demand: Demand, bps: f64| {
        let is = demand.mean_rate().expect("it has one");
        assert!((is - bps).abs() < 1e-6, "{is} {bps}");
    };
    near(bursts(Some(Rate::from_bps(8_000_000))), 2e6);
    near(bursts(None), 8e5 / 0.3);
    near(bursts(Some(Rate::ZERO)), 0.0);
    near(Demand::Poisson(Rate::from_bps(3_000)), 3e3);
    assert_eq!(Demand::Greedy.mean_rate(), None);
    assert_eq!(Demand::Size(Bytes::new(1)).mean_rate(), None);
}
