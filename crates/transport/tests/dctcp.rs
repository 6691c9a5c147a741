//! DCTCP over a step of marks, against the closed forms of its first paper [Alizadeh10 §3.3].

use crate::bottleneck::{Link, PACKET, Path};
use accord_control::Dctcp;
use accord_control::dctcp::Config;

/// One flow over a step at K packets, in its steady state.
struct Steady {
    /// C·RTT + K in packets, at which marks begin.
    critical: f64,
    /// The mean of alpha over time, and that at the cuts.
    alpha: f64,
    at_cuts: f64,
    /// The shortest and the longest queue, and the periods per second.
    least: f64,
    most: f64,
    cuts: f64,
    utilisation: f64,
}

fn steady(mbps: f64, rtt_ms: f64, k: u64) -> Steady {
    let mut link = Link::new(mbps, rtt_ms, 10_000);
    // The step marks what finds more than K.
    link.mark_at = k + 1;
    let critical = link.bdp() + k as f64;
    let dctcp: Dctcp = Config::default().build(PACKET).expect("the defaults");
    let mut path = Path::new(dctcp, link);
    path.run(10.0, |_| ());
    let (mut sum, mut n) = (0.0, 0.0);
    let (mut least, mut most, mut cuts) = (u64::MAX, 0, 0.0);
    let mut last = path.controller().ssthresh_bytes();
    let (mut before, mut at_cuts) = (0.0, 0.0);
    let (arrived, from) = (path.arrived, path.now);
    path.run(20.0, |p| {
        let queued = p.link.queued(p.now);
        (least, most) = (least.min(queued), most.max(queued));
        (sum, n) = (sum + p.controller().alpha(), n + 1.0);
        let now = p.controller().ssthresh_bytes();
        if now != last {
            (cuts, at_cuts) = (cuts + 1.0, at_cuts + before);
        }
        (last, before) = (now, p.controller().alpha());
    });
    let seconds = path.now.since(from).as_secs_f64();
    let bits = (path.arrived - arrived) as f64 * PACKET.bits_f64();
    Steady {
        critical,
        alpha: sum / n,
        at_cuts: at_cuts / cuts,
        least: least as f64,
        most: most as f64,
        cuts: cuts / seconds,
        utilisation: bits / seconds / (mbps * 1e6),
    }
}

trait Threshold {
    fn ssthresh_bytes(&self) -> u64;
}

impl Threshold for Dctcp {
    fn ssthresh_bytes(&self) -> u64 {
        use accord_control::Controller;
        self.ssthresh().map_or(0, |bytes| bytes.get())
    }
}

/// Eqs. 1 to 10 with one flow: W* = C·RTT + K, α ≈ √(2/W*), an amplitude of (W* + 1)·α/2, a queue
/// of K + 1 at most, and a period of as many round trips as the amplitude has packets. Here growth
/// rests for the round trip after a mark, which makes the period one longer.
#[test]
fn the_sawtooth_is_that_of_the_paper() {
    for (mbps, rtt, k) in [(100.0, 10.0, 40), (1000.0, 1.0, 65), (50.0, 40.0, 60)] {
        let s = steady(mbps, rtt, k);
        let case = format!("{mbps} Mbps, {rtt} ms, {k}");
        let alpha = (2.0 / s.critical).sqrt();
        assert!((s.alpha / alpha - 1.0).abs() < 0.15, "{case}: {} of {alpha}", s.alpha);
        // A period lasts until alpha has fallen within it: a cut is of the remaining window.
        let amplitude = (s.critical + 1.0) * s.at_cuts / 2.0;
        let swing = s.most - s.least;
        assert!((swing - amplitude).abs() < 2.0, "{case}: {swing} of {amplitude}");
        // Qmax = K + N, and the packets of the round trip in which the mark comes back.
        assert!((s.most - (k as f64 + 1.0)).abs() <= 2.0, "{case}: {}", s.most);
        let round_trip = rtt / 1e3 * (s.critical - amplitude / 2.0) / (s.critical - k as f64);
        let period = 1.0 / s.cuts / round_trip;
        assert!((period / (amplitude + 2.0) - 1.0).abs() < 0.25, "{case}: {period}");
        assert!(s.utilisation > 0.99, "{case}: {}", s.utilisation);
    }
}

/// K > C·RTT/7 keeps the link busy [Alizadeh10 eq. 13]. Far below that it does not.
#[test]
fn the_threshold_must_not_be_too_low() {
    // A product of 333 packets.
    let enough = steady(100.0, 40.0, 333 / 7 + 1);
    assert!(enough.utilisation > 0.995, "{}", enough.utilisation);
    let little = steady(100.0, 40.0, 2);
    assert!(little.utilisation < 0.985, "{}", little.utilisation);
    assert_eq!(little.least, 0.0);
}
