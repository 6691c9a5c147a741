//! Contracted rates, weights and limits, as the law on a tunnel holds them.

use crate::common::{PACKET, build, text};
use accord_control::{AnyController, Controller, PathView, Report};
use accord_family::{Raw, Service};
use accord_units::{Bytes, Duration, Rate, Time};

const RTT: Duration = Duration::from_ms(100);

fn service(contract_kbps: u64, weight: f64, limit: Option<u64>) -> Service {
    Service { contract: Rate::from_bps(contract_kbps * 1000), weight, limit: limit.map(Bytes::new) }
}

/// A tunnel that sends `sent` packets in a round trip, and its reports.
struct Tunnel(AnyController);

impl Tunnel {
    fn new(service: Service, changes: &[(&str, Raw)]) -> Tunnel {
        let mut c = build("monaco", changes);
        c.set_service(&service);
        Tunnel(c)
    }

    fn hear(&mut self, accumulation: f64, egress_kbps: u64, sent: Option<u64>) {
        let rate = Rate::from_bps(egress_kbps * 1000);
        let path = PathView {
            packet: Bytes::new(PACKET),
            srtt: RTT,
            rtt: RTT,
            min_rtt: RTT,
            in_flight: self.0.cwnd(),
            sent_in_round: sent.map_or(self.0.cwnd(), |n| Bytes::new(n * PACKET)),
            had_too_little: sent.is_some(),
            delivery_rate: rate,
        };
        let report = Report {
            number: 1,
            accumulation,
            egress_rate: rate,
            virtual_delay: Duration::ZERO,
            lost: false,
            lost_bytes: Bytes::ZERO,
            received: 0,
        };
        self.0.on_report(&report, &path, Time::ZERO);
    }

    fn window(&self) -> f64 {
        self.0.cwnd().as_f64()
    }

    /// In congestion avoidance at a window of 64 packets.
    fn settled(service: Service, changes: &[(&str, Raw)]) -> Tunnel {
        let mut t = Tunnel::new(service, changes);
        while t.window() < 64e3 {
            let out = (t.window() * 0.08) as u64;
            t.hear(0.0, out, None);
        }
        let much = 100.0 * t.window();
        t.hear(much, 5000, None);
        while t.window() < 64e3 {
            // Above any contract of these tests: a packet more.
            t.hear(0.0, 20_000, None);
        }
        t
    }

    /// Returns the response of the window to this accumulation at this rate.
    fn step(&mut self, accumulation: f64, egress_kbps: u64) -> f64 {
        let before = self.window();
        self.hear(accumulation, egress_kbps, None);
        self.window() - before
    }
}

/// Of 7500 bytes queued at 5 Mbps, 3 Mbps carry 4500: 3000 are left, the target.
#[test]
fn what_carries_the_contracted_rate_does_not_count() {
    for policy in ["p", "aiad", "mw"] {
        let mut t = Tunnel::settled(service(3000, 1.0, None), &[("policy", text(policy))]);
        assert!(t.step(7500.0, 5000).abs() < 1.0, "{policy}");
        assert!(t.step(7000.0, 5000) > 0.0, "{policy}");
        assert!(t.step(8000.0, 5000) < 0.0, "{policy}");
    }
}

#[test]
fn a_weight_multiplies_the_target() {
    let mut t = Tunnel::settled(service(0, 2.5, None), &[]);
    assert!(t.step(7500.0, 5000).abs() < 1.0);
    assert!(t.step(7000.0, 5000) > 0.0);
    assert!(t.step(8000.0, 5000) < 0.0);
}

#[test]
fn below_its_contracted_rate_a_flow_grows_up_to_its_limit() {
    let policy = [("recovery", text("packet")), ("steps", text("policy"))];
    let mut t = Tunnel::settled(service(10_000, 1.0, Some(3_000_000)), &policy);
    assert!((t.step(1e6, 5000) - 1000.0).abs() < 1.0, "whatever is queued");
    let mut t = Tunnel::settled(service(10_000, 1.0, Some(40_000)), &policy);
    assert!((t.step(30_000.0, 5000) - 1000.0).abs() < 1.0);
    assert!(t.step(40_000.0, 5000).abs() < 1.0);
    // κ·(50 000 − 40 000).
    assert!((t.step(50_000.0, 5000) + 5000.0).abs() < 1.0);
}

/// A contract of 10 Mbps needs 125 packets in 100 ms. The window is 64 without it.
#[test]
fn a_contract_is_a_least_rate() {
    let held = || service(10_000, 1.0, Some(40_000));
    let mut t = Tunnel::new(held(), &[]);
    let at_once = t.0.allowance();
    assert_eq!(at_once.pacing, Some(Rate::from_bps(10_000_000)));
    assert!(at_once.window.as_f64() >= 125e3, "before any report");
    // Others halve the egress rate, and nothing is queued: the contract goes on.
    for _ in 0..20 {
        t.hear(0.0, 5000, None);
        assert!(t.window() >= 125e3, "{}", t.window());
    }
    // Twice the limit is queued where 5 Mbps are served: 2.5 Mbps have the limit queued there.
    for _ in 0..200 {
        t.hear(80_000.0, 5000, None);
    }
    assert!((t.window() - 31_250.0).abs() < 1.0, "{}", t.window());
    // It is back within 32 round trips, and more for as much as is queued.
    for _ in 0..32 {
        t.hear(10_000.0, 5000, None);
    }
    assert!(t.window() >= 120e3, "{}", t.window());
    // As printed the policy alone gets there.
    let policy = [("recovery", text("packet")), ("steps", text("policy"))];
    let mut t = Tunnel::settled(held(), &policy);
    assert!((t.step(0.0, 5000) - 1000.0).abs() < 1.0);
    assert!(t.window() < 70e3);
}

/// Nothing arrives: no rate is known, and no part of the queue is beyond the contract.
#[test]
fn a_rate_of_zero_is_below_every_contract() {
    let mut t = Tunnel::settled(service(1, 1.0, None), &[]);
    assert!(t.step(1e6, 0) > 0.0);
    let mut t = Tunnel::settled(service(0, 1.0, None), &[]);
    assert!(t.step(1e6, 0) < 0.0);
}

#[test]
fn a_flow_with_little_to_send_keeps_the_window_that_it_uses() {
    for law in ["accord", "har02"] {
        let changes = [("law", text(law)), ("recovery", text("packet"))];
        let mut t = Tunnel::settled(service(10_000, 1.0, None), &changes);
        let threshold = t.0.ssthresh();
        for _ in 0..1000 {
            t.hear(0.0, 400, Some(5));
            assert!(t.window() <= 10e3, "twice the 5 packets at most: {}", t.window());
        }
        assert_eq!(t.0.ssthresh(), threshold, "it tells of the network, not of the demand");
        // With enough to send again it doubles back to where it was, or grows by 1.9 per round trip
        // as its rate does.
        let mut rounds = 0;
        while t.window() < 64e3 {
            let out = (t.window() * 0.08) as u64;
            t.hear(0.0, out, None);
            rounds += 1;
        }
        let most = if law == "accord" { 5 } else { 4 };
        assert!(rounds <= most, "{law}: {rounds} rounds");
    }
}
