//! Vegas on an ideal path whose true accumulation is known: of a window w, what exceeds
//! the 1 packet/ms × base round-trip time that fit on the path is queued.

use crate::common::{ACK, Fifo, PACKET, build, family, path, text, values, window};
use accord_control::{Acked, AnyController, Congestion, Controller, Recovery};
use accord_family::{Objective, Raw, Service, Target};
use accord_units::{Bytes, Duration, Size, Time};

/// Base round-trip time of the paths below in milliseconds, so the packets that fit.
const FIT: f64 = 20.0;

fn fifo(name: &str, changes: &[(&str, Raw)]) -> Fifo {
    Fifo::new(build(name, changes), Duration::from_ms(19))
}

fn amounts(alpha: &str, beta: &str) -> Vec<(&'static str, Raw)> {
    vec![("alpha", text(alpha)), ("beta", text(beta))]
}

fn loss(c: &mut AnyController, what: Congestion, in_flight: u64, ms: u64) {
    let now = Time::ZERO + Duration::from_ms(ms);
    c.on_congestion(what, &path(in_flight), now);
}

#[test]
fn slow_start_doubles_every_second_round_trip() {
    let mut path = Fifo::new(build("vegas", &[]), Duration::from_secs(10));
    // Rounds that grow show one packet more after their first acknowledgement.
    assert_eq!(
        path.rounds(8),
        [3.0, 4.0, 5.0, 8.0, 9.0, 16.0, 17.0, 32.0],
        "a round of growth, a round of measuring"
    );
}

#[test]
fn slow_start_ends_once_more_than_gamma_is_queued_and_before_the_path_overflows() {
    let mut path = fifo("vegas", &[]);
    let mut highest = 0.0f64;
    while path.controller.ssthresh().is_none() {
        path.rounds(1);
        highest = highest.max(window(&path.controller));
    }
    assert!(highest < 2.0 * FIT, "{highest}");
    assert!(path.controller.accumulation_estimate().expect("measured") > 1000.0);
}

/// The claim of the docs on slow start: pairs sent in a doubling round queue briefly. So it ends at
/// a few √N packets, far from N, on a path that fits N.
#[test]
fn slow_start_ends_early_on_a_long_path() {
    let mut path = Fifo::new(build("vegas", &[]), Duration::from_ms(899));
    while path.controller.ssthresh().is_none() {
        path.rounds(1);
    }
    let end = window(&path.controller);
    assert!((30.0..=120.0).contains(&end), "{end} of 900");
}

#[test]
fn between_the_thresholds_the_window_stands_still() {
    let mut path = fifo("vegas", &amounts("1 pkt", "3 pkt"));
    path.rounds(100);
    let windows = path.rounds(50);
    assert!(windows.iter().all(|w| *w == windows[0]), "{windows:?}");
    let queued = windows[0] - FIT;
    assert!((1.0..=3.0).contains(&queued), "{queued}");
    let estimate = path.controller.accumulation_estimate().expect("measured");
    assert!((estimate / PACKET as f64 - queued).abs() < 0.01);
    assert_eq!(path.controller.base_rtt_estimate(), Some(Duration::from_ms(20)));
}

/// Low02 §1.1: below α the window grows, above β it shrinks, and at either it stays. At twice the base round-trip time
/// half of a window is queued.
#[test]
fn at_a_threshold_the_window_stands_still() {
    // A weight of two is two such flows.
    for (weight, packets, after) in [
        (1.0, 3, 4.0),
        (1.0, 4, 4.0),
        (1.0, 8, 8.0),
        (1.0, 9, 8.0),
        (2.0, 7, 8.0),
        (2.0, 8, 8.0),
        (2.0, 16, 16.0),
        (2.0, 17, 16.0),
    ] {
        let mut c = build("vegas", &amounts("2 pkt", "4 pkt"));
        c.set_service(&Service { weight, ..Service::default() });
        loss(&mut c, Congestion::Loss, 2 * packets, 0);
        for (ms, window_limited) in [(100, false), (200, false), (200, true)] {
            let ack = Acked {
                rtt: Some(Duration::from_ms(ms)),
                round_ended: true,
                window_limited,
                ..ACK
            };
            c.on_ack(&ack, &path(packets), Time::ZERO);
        }
        assert_eq!(window(&c), after, "{weight} {packets}");
    }
}

/// RFC 5681 §4.1: an idle time leaves the initial window at most. The threshold stays.
#[test]
fn after_an_idle_time_the_window_starts_again() {
    let mut c = build("vegas", &[]);
    loss(&mut c, Congestion::Loss, 20, 0);
    assert_eq!(window(&c), 10.0);
    c.on_idle();
    assert_eq!((window(&c), c.ssthresh()), (2.0, Some(Bytes::new(10 * PACKET))));
}

/// α = β = 2.5 lies between whole windows: the flow hovers around it, where one that
/// rounds its backlog would stop short.
#[test]
fn with_a_single_threshold_the_accumulation_stays_around_it() {
    let mut path = fifo("vegas", &amounts("2.5 pkt", "2.5 pkt"));
    path.rounds(100);
    let queued: Vec<f64> = path.rounds(200).iter().map(|w| w - FIT).collect();
    let mean = queued.iter().sum::<f64>() / 200.0;
    assert!((mean - 2.5).abs() < 0.25, "mean {mean}");
    assert!(queued.iter().all(|a| (a - 2.5).abs() <= 2.5), "{queued:?}");
    assert!(queued.contains(&2.0) && queued.contains(&3.0));
}

/// 0.2 packets/ms over a base of 20 ms is 4 packets; over 50 ms it is 10.
#[test]
fn thresholds_as_rates_scale_with_the_base_round_trip_time() {
    for (propagation, fit, target) in [(19, 20.0, 4.0), (49, 50.0, 10.0)] {
        let rates = [("alpha_rate", text("200 KB/s")), ("beta_rate", text("200 KB/s"))];
        let mut path = Fifo::new(build("vegas", &rates), Duration::from_ms(propagation));
        path.rounds(200);
        let mean = path.rounds(200).iter().sum::<f64>() / 200.0 - fit;
        assert!((mean - target).abs() < 0.5, "{mean} for {target}");
    }
}

#[test]
fn the_window_follows_down_when_others_queue() {
    let mut path = fifo("vegas", &amounts("1 pkt", "3 pkt"));
    path.rounds(100);
    let before = window(&path.controller);
    for _ in 0..20 {
        path.cross = 20;
        path.rounds(1);
    }
    assert!(window(&path.controller) < before - 5.0);
}

/// Below the window that slow start ended with is still congestion avoidance.
#[test]
fn a_shrinking_window_does_not_lead_back_to_slow_start() {
    let mut path = fifo("vegas", &[]);
    while path.controller.ssthresh().is_none() {
        path.rounds(1);
    }
    path.propagation = Duration::from_ms(59);
    path.rounds(3);
    let windows = path.rounds(8);
    assert!(windows.len() > 2 && windows[0] > 4.0, "{windows:?}");
    for pair in windows.windows(2) {
        assert_eq!(pair[1], (pair[0] - 1.0).max(2.0), "{windows:?}");
    }
}

/// [Xia05 fig. 5]: the path becomes 40 ms longer. Vegas takes that for queuing and gives
/// up nearly everything; Vegas-k takes it for the new base.
#[test]
fn a_longer_route_deceives_vegas_but_not_vegas_k() {
    let longer = |name, changes: &[_]| {
        let mut path = fifo(name, changes);
        path.rounds(100);
        path.propagation = Duration::from_ms(59);
        path.rounds(400);
        (window(&path.controller), path.controller.base_rtt_estimate().expect("measured"))
    };
    let (window, base) = longer("vegas", &[]);
    assert_eq!(base, Duration::from_ms(20));
    assert!(window <= 5.0, "{window}");
    let (window, base) = longer("vegas-k", &[("k", Raw::Integer(500))]);
    assert!(base >= Duration::from_ms(60));
    assert!(window >= 60.0, "{window}");
}

/// A history of less than a round trip never sees the path empty again: the base holds the
/// flow's own queue, so only a loss would end the growth.
#[test]
fn a_short_history_takes_its_own_queue_for_the_path() {
    let mut path = fifo("vegas-k", &[("k", Raw::Integer(10))]);
    while window(&path.controller) < 10.0 * FIT {
        assert!(path.now < Time::from_secs_f64(100.0), "it stopped growing");
        path.step();
    }
    let base = path.controller.base_rtt_estimate().expect("measured");
    assert!(base > Duration::from_ms(40), "{base}");
}

#[test]
fn an_early_loss_costs_a_quarter_and_a_loss_half() {
    let ten = [("initial_window", text("16 pkt"))];
    let mut c = build("vegas", &ten);
    loss(&mut c, Congestion::EarlyLoss, 16, 1000);
    assert_eq!(window(&c), 12.0);
    assert_eq!(c.ssthresh(), Some(Bytes::new(12 * PACKET)));
    let mut c = build("vegas", &ten);
    loss(&mut c, Congestion::Loss, 14, 1000);
    assert_eq!(window(&c), 7.0);
    loss(&mut c, Congestion::Timeout, 6, 1001);
    assert_eq!(window(&c), 1.0);
    assert_eq!(c.ssthresh(), Some(Bytes::new(3 * PACKET)));
}

#[test]
fn losses_of_one_round_trip_cost_once() {
    let mut c = build("vegas", &[("initial_window", text("16 pkt"))]);
    loss(&mut c, Congestion::EarlyLoss, 16, 1000);
    loss(&mut c, Congestion::EarlyLoss, 16, 1050);
    loss(&mut c, Congestion::Loss, 16, 1099);
    assert_eq!(window(&c), 12.0);
    loss(&mut c, Congestion::EarlyLoss, 12, 1100);
    assert_eq!(window(&c), 9.0);
}

#[test]
fn what_is_not_used_does_not_grow_and_recovery_waits() {
    for (window_limited, in_recovery) in [(false, false), (true, true)] {
        let mut c = build("vegas", &[]);
        let ack = Acked { round_ended: true, window_limited, in_recovery, ..ACK };
        for _ in 0..100 {
            c.on_ack(&ack, &path(0), Time::ZERO);
        }
        assert_eq!(window(&c), 2.0);
    }
}

#[test]
fn the_base_of_vegas_k_is_the_minimum_of_the_last_k_samples() {
    let samples: Vec<u64> = (0..500).map(|i: u64| 10 + i * i * 7919 % 101).collect();
    for k in [1usize, 2, 7, 50] {
        let mut c = build("vegas-k", &[("k", Raw::Integer(k as i64))]);
        for (i, ms) in samples.iter().enumerate() {
            let ack = Acked { rtt: Some(Duration::from_ms(*ms)), ..ACK };
            c.on_ack(&ack, &path(0), Time::ZERO);
            let last = &samples[(i + 1).saturating_sub(k)..=i];
            let min = last.iter().min().map(|ms| Duration::from_ms(*ms));
            assert_eq!(c.base_rtt_estimate(), min, "k {k}, sample {i}");
        }
    }
}

#[test]
fn controllers_are_small_in_memory() {
    assert!(size_of::<AnyController>() <= 200);
}

#[test]
fn it_looks_for_losses_early() {
    let c = build("vegas", &[]);
    assert!(c.capabilities().early_retransmission);
    assert_eq!(c.capabilities().recovery, Recovery::NewReno);
    assert_eq!(
        build("vegas", &[("sack", Raw::Flag(true))]).capabilities().recovery,
        Recovery::Sack
    );
}

/// [Low02 §4.2]: ten packets of others queue all the time, so the smallest round-trip time
/// has 10 ms too much. Who knows the base keeps 2.5 of its own; who does not takes the ten
/// for propagation, and keeps 2.5 above them.
#[test]
fn a_queue_at_the_start_spoils_a_measured_base_but_not_a_known_one() {
    let run = |base_rtt: &str| {
        let mut changes = amounts("2.5 pkt", "2.5 pkt");
        changes.push(("base_rtt", text(base_rtt)));
        let mut path = fifo("vegas", &changes);
        path.controller.set_base_rtt(Duration::from_ms(20));
        path.standing = Duration::from_ms(10);
        path.rounds(200);
        let queued = path.rounds(200).iter().map(|w| w - FIT).sum::<f64>() / 200.0;
        (path.controller.base_rtt_estimate(), queued)
    };
    let (base, queued) = run("known");
    assert_eq!(base, Some(Duration::from_ms(20)));
    // The ten make the estimate: the flow shrinks to the least window there is.
    assert!(queued < -10.0, "{queued}");
    let (base, queued) = run("measured");
    assert_eq!(base, Some(Duration::from_ms(30)));
    // 10 packets more fit on the path as the flow estimates it.
    assert!((queued - 12.5).abs() < 0.5, "{queued}");
}

#[test]
fn the_objective_is_the_middle_of_the_thresholds() {
    let objective = |changes: &[_]| {
        let of = family("vegas").role.objective(&values("vegas", changes));
        of.expect("a controller has one")
    };
    let packets = |n| Objective::MeasuredAccumulation { target: Target::Amount(Size::Packets(n)) };
    assert_eq!(objective(&[]), packets(2.0));
    assert_eq!(objective(&amounts("3 pkt", "4 pkt")), packets(3.5));
    let rates = [("alpha_rate", text("1 Mbps")), ("beta_rate", text("2 Mbps"))];
    assert_eq!(
        objective(&rates),
        Objective::MeasuredAccumulation {
            target: Target::PerRoundTrip("1.5 Mbps".parse().expect("a rate"))
        }
    );
    assert_eq!(
        objective(&[("base_rtt", text("known"))]),
        Objective::Accumulation { target: Size::Packets(2.0) }
    );
}

#[test]
fn thresholds_that_contradict_each_other_are_refused() {
    for changes in [
        vec![("alpha", text("4 pkt"))],
        vec![("alpha", text("2000 B"))],
        vec![("alpha_rate", text("1 Mbps"))],
        vec![("beta_rate", text("1 Mbps"))],
        vec![("alpha_rate", text("2 Mbps")), ("beta_rate", text("1 Mbps"))],
        vec![
            ("beta", text("3 pkt")),
            ("alpha_rate", text("1 Mbps")),
            ("beta_rate", text("1 Mbps")),
        ],
    ] {
        for name in ["vegas", "vegas-k"] {
            let mut values = family(name).defaults();
            for (param, raw) in &changes {
                values.set(param, raw).expect("in range");
            }
            let message = (family(name).check)(&values).expect_err("contradicts").to_string();
            assert!(message.contains("give") || message.contains("write"), "{message}");
        }
    }
}
