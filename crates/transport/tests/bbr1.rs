//! BBRv1 on a path, against Linux's source and its consequences [Cardwell16].

use crate::bottleneck::{Link, PACKET, Path};
use accord_control::bbr1::{Config, State};
use accord_control::{Bbr1, Controller};
use accord_units::{Duration, Rate, Time};

fn bbr() -> Bbr1 {
    Config::default().build(PACKET).expect("the defaults")
}

fn mbps(path: &Path<Bbr1>) -> f64 {
    path.controller().bandwidth().as_bps_f64() / 1e6
}

/// 20 Mbps and 40 ms: 66.7 packets.
fn usual(buffer: u64) -> Path<Bbr1> {
    Path::new(bbr(), Link::new(20.0, 40.0, buffer))
}

/// The pace over 99 % of the bandwidth.
fn gain(path: &Path<Bbr1>) -> f64 {
    let pace = path.controller().allowance().pacing.expect("it paces");
    pace.as_bps_f64() / path.controller().bandwidth().as_bps_f64() / 0.99
}

#[test]
fn startup_finds_the_rate_and_drain_empties_its_queue() {
    let mut path = usual(100_000);
    let bdp = path.link.bdp();
    let mut most = 0;
    path.until(2.0, "Drain", |p| {
        most = most.max(p.link.queued(p.now));
        p.controller().state() == State::Drain
    });
    assert!((mbps(&path) / 20.0 - 1.0).abs() < 0.02, "{}", mbps(&path));
    assert!((gain(&path) * 2.89 - 1.0).abs() < 1e-3);
    // A window of 2.89 products and the budget of three quanta bounds the queue.
    assert!((most as f64) < 1.89 * bdp + 16.0, "{most} of {bdp}");
    assert!((most as f64) > 1.2 * bdp, "{most} of {bdp}");
    let from = path.now;
    path.until(2.0, "ProbeBW", |p| p.controller().state() == State::ProbeBw);
    // Drained at 1 − 1/2.89 of the rate: 1.9 products in about three round trips.
    assert!(path.now.since(from) < Duration::from_ms(160));
    // The budget of three quanta is the queue that it leaves.
    assert!(path.link.queued(path.now) <= 8, "{}", path.link.queued(path.now));
}

#[test]
fn probe_bw_cycles_through_its_gains() {
    let mut path = usual(100_000);
    path.run(3.0, |_| ());
    let mut phases: Vec<(f64, Time)> = Vec::new();
    path.run(3.0, |p| {
        let now = (gain(p) * 100.0).round() / 100.0;
        if phases.last().is_none_or(|(last, _)| (last - now).abs() > 0.02) {
            phases.push((now, p.now));
        }
    });
    let ups: Vec<Time> = phases.iter().filter(|(g, _)| *g == 1.25).map(|(_, t)| *t).collect();
    assert!(ups.len() > 5, "{phases:?}");
    for pair in ups.windows(2) {
        // Eight phases of a round-trip time; that of 0.75 may be shorter, each a little longer.
        let cycle = pair[1].since(pair[0]).as_secs_f64() / 0.0406;
        assert!((7.0..9.5).contains(&cycle), "{cycle}");
    }
    let after =
        |g: f64| phases.windows(2).filter(|p| p[0].0 == g).map(|p| p[1].0).collect::<Vec<_>>();
    assert!(after(1.25).iter().all(|g| *g == 0.75), "{phases:?}");
}

#[test]
fn a_steady_flow_has_a_queue_of_a_quarter_of_the_product_at_most() {
    let mut path = usual(100_000);
    path.run(5.0, |_| ());
    let bdp = path.link.bdp();
    let (mut area, mut last, mut most) = (0.0, path.now, 0);
    let (arrived, from) = (path.arrived, path.now);
    path.run(9.0, |p| {
        let queued = p.link.queued(p.now);
        area += queued as f64 * p.now.since(last).as_secs_f64();
        (last, most) = (p.now, most.max(queued));
    });
    let seconds = path.now.since(from).as_secs_f64();
    // A phase of 1.25 raises the data in flight to 1.25 products and the budget.
    assert!((most as f64) < 0.25 * bdp + 12.0, "{most}");
    assert!(area / seconds < 0.15 * bdp, "{}", area / seconds);
    let used = (path.arrived - arrived) as f64 * PACKET.bits_f64() / seconds / 20e6;
    assert!(used > 0.97, "{used}");
}

#[test]
fn probe_rtt_comes_every_ten_seconds_for_200_ms() {
    // A second flow would keep the queue; here the path gets longer, so the first round-trip
    // times are the smallest.
    let mut path = usual(100_000);
    path.run(1.0, |_| ());
    path.link.propagation = Duration::from_ms(45);
    let began = path.now;
    path.until(12.0, "ProbeRTT", |p| p.controller().state() == State::ProbeRtt);
    let waited = path.now.since(began).as_secs_f64();
    assert!((9.0..10.5).contains(&waited), "{waited}");
    let from = path.now;
    path.until(1.0, "four packets", |p| p.controller().cwnd().get() == 4 * PACKET.get());
    path.until(1.0, "the end", |p| p.controller().state() == State::ProbeBw);
    let lasted = path.now.since(from).as_secs_f64();
    assert!((0.2..0.4).contains(&lasted), "{lasted}");
    path.until(1.0, "the window", |p| {
        p.controller().cwnd().as_f64() > 1.9 * p.link.bdp() * PACKET.as_f64()
    });
}

/// With a buffer of less than the product BBRv1 does not back off: 25 % too much for an eighth of
/// the time, and the window of two products does not bound it.
#[test]
fn a_shallow_buffer_loses_packets_but_not_the_rate() {
    let mut path = usual(10);
    path.run(5.0, |_| ());
    let (sent, dropped) = (path.sent, path.dropped);
    let used = path.utilisation(10.0);
    let lost = (path.dropped - dropped) as f64 / (path.sent - sent) as f64;
    assert!(used > 0.9, "{used}");
    assert!((0.003..0.1).contains(&lost), "{lost}");
}

#[test]
fn a_policer_is_found() {
    let mut link = Link::new(100.0, 40.0, 1000);
    link.policer = Some((Rate::from_bps(20_000_000), 100_000.0));
    let mut path = Path::new(bbr(), link);
    path.until(20.0, "policed", |p| p.controller().is_policed());
    let rate = mbps(&path);
    assert!((rate / 20.0 - 1.0).abs() < 0.1, "{rate}");
    // It is kept for 48 round trips.
    let from = path.now;
    path.until(10.0, "free", |p| !p.controller().is_policed());
    let kept = path.now.since(from).as_secs_f64() / 0.04;
    assert!((47.0..60.0).contains(&kept), "{kept}");
}

/// bbr_min_tso_segs(), tcp_update_skb_after_send(): from 1.2 Mbps on two packets go at once and the next two
/// after the time of both, whatever acknowledgements come between.
#[test]
fn packets_go_in_pairs_from_1200_kbps_on() {
    for (rate, expected) in [(0.9, 1), (4.0, 2)] {
        let mut path = Path::new(bbr(), Link::new(rate, 40.0, 1000));
        path.run(5.0, |_| ());
        let (mut before, mut instants) = (path.sent, vec![(path.now, 0)]);
        path.run(2.0, |p| {
            if instants.last().is_some_and(|(at, _)| *at != p.now) {
                instants.push((p.now, 0));
            }
            if let Some((_, n)) = instants.last_mut() {
                *n += p.sent - before;
            }
            before = p.sent;
        });
        let together = |n| instants.iter().filter(|(_, sent)| *sent == n).count();
        let (all, units) = (together(1) + together(2), together(expected));
        assert!(instants.iter().all(|(_, n)| *n <= expected), "{rate}");
        assert!(all > 80 && units * 20 >= all * 19, "{rate}: {units} of {all}");
    }
}

#[test]
fn random_loss_costs_little() {
    let mut path = usual(100_000);
    path.link.loss = 0.01;
    path.run(10.0, |_| ());
    let used = path.utilisation(20.0);
    assert!(used > 0.85, "{used}");
}
