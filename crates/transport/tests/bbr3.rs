//! BBRv3 against the test cases of its draft [draft-ietf-ccwg-bbr-06, appendix A].

use crate::common;

use crate::bottleneck::{Link, PACKET, Path};
use accord_control::Bbr3;
use accord_control::Controller;
use accord_control::bbr3::{Config, State, View};
use accord_units::{Duration, Rate, Time};

fn bbr() -> Bbr3 {
    Config::default().build(PACKET).expect("the defaults")
}

fn mbps(rate: Rate) -> f64 {
    rate.as_bps_f64() / 1e6
}

fn packets(bytes: accord_units::Bytes) -> f64 {
    bytes.as_f64() / PACKET.as_f64()
}

fn view(path: &Path<Bbr3>) -> View {
    path.controller().view()
}

fn until(path: &mut Path<Bbr3>, state: State) {
    path.until(30.0, &format!("{state:?}"), |p| view(p).state == state);
}

/// 20 Mbps and 40 ms: 66.7 packets.
fn usual(buffer: u64) -> Path<Bbr3> {
    Path::new(bbr(), Link::new(20.0, 40.0, buffer))
}

#[test]
fn a1_startup_ends_on_a_plateau_of_the_bandwidth() {
    for (rate, rtt) in [(1.0, 10.0), (20.0, 40.0), (200.0, 100.0)] {
        let link = Link::new(rate, rtt, 1_000_000);
        let bdp = link.bdp();
        let mut path = Path::new(bbr(), link);
        let mut last = view(&path);
        path.until(60.0, "Drain", |p| {
            let now = view(p);
            if now.full_bw_reached && !last.full_bw_reached {
                assert_eq!((now.full_bw_now, now.full_bw_count), (true, 3));
                assert_eq!(now.state, State::Drain);
            }
            last = now;
            now.state != State::Startup
        });
        let bw = mbps(last.max_bw);
        assert!((bw / rate - 1.0).abs() < 0.02, "{bw} of {rate}");
        // The first acknowledgement ends a round, log2(BDP) rounds find the rate, and three without
        // growth follow [§5.3.1.1, §5.3.1.2]. The initial window is ten packets.
        let doublings = bdp.max(10.0).log2();
        let rounds = last.round_count as f64;
        assert!(rounds <= doublings.ceil() + 4.0, "{rounds} rounds for {bdp}");
    }
}

#[test]
fn a1_the_queue_of_startup_is_bounded_by_the_window() {
    let mut path = usual(1_000_000);
    let bdp = path.link.bdp();
    let mut most = 0;
    path.until(10.0, "ProbeBW", |p| {
        most = most.max(p.link.queued(p.now));
        view(p).state == State::ProbeBwDown
    });
    // (cwnd_gain - 1) BDP [§5.3.1.1]. The bandwidth may be overestimated by the last doubling, and
    // extra_acked comes on top: a fifth of the product is granted for them.
    assert!((most as f64) < 1.2 * bdp, "{most} packets of {bdp}");
    assert!((most as f64) > 0.6 * bdp, "{most} packets of {bdp}");
}

#[test]
fn a2_startup_ends_on_loss_when_limited_by_the_application() {
    let link = || Link::new(100.0, 40.0, 1000);
    let rate = Rate::from_bps(20_000_000);
    let mut path = Path::limited(bbr(), link(), rate);
    path.run(2.0, |p| assert_eq!(view(p).state, State::Startup));
    path.link.loss = 0.15;
    path.until(1.0, "Drain", |p| view(p).state != State::Startup);
    let v = view(&path);
    assert!(v.full_bw_reached && v.full_bw_now);
    assert!(v.inflight_longterm.is_some());
    // Losses below LossThresh do not end it.
    let mut path = Path::limited(bbr(), link(), rate);
    path.link.loss = 0.005;
    path.run(4.5, |p| assert_eq!(view(p).state, State::Startup));
}

#[test]
fn a3_drain_ends_when_the_queue_is_gone() {
    let mut path = usual(1000);
    until(&mut path, State::Drain);
    assert_eq!(view(&path).gains.0, 0.5);
    let (began, from) = (view(&path).round_count, path.now);
    // The acknowledgement that ends Drain may end ProbeBW_DOWN, too.
    path.until(1.0, "ProbeBW", |p| view(p).state != State::Drain);
    let v = view(&path);
    assert!(matches!(v.state, State::ProbeBwDown | State::ProbeBwCruise), "{v:?}");
    assert!(v.round_count <= began + 1, "in a round trip");
    // The last round trip is the longest one: its packets met the queue of Startup.
    assert!(path.now.since(from) < Duration::from_ms(100));
    // The queue is the excess of the last packets in flight over the product.
    assert!(path.link.queued(path.now) <= 4, "{}", path.link.queued(path.now));
}

#[test]
fn a5_and_a7_probing_up_ends_on_a_plateau_but_not_while_limited_by_the_application() {
    let mut path = usual(1000);
    until(&mut path, State::ProbeBwUp);
    assert_eq!(view(&path).gains, (1.25, 2.25));
    until(&mut path, State::ProbeBwDown);
    let v = view(&path);
    assert!(v.full_bw_now && v.full_bw_count == 3);
    assert_eq!(path.dropped, 0);

    let mut path = usual(1000);
    until(&mut path, State::ProbeBwRefill);
    path.limit(Some(Rate::from_bps(4_000_000)));
    until(&mut path, State::ProbeBwUp);
    // Samples of the full rate are still on their way.
    path.run(0.2, |_| ());
    if view(&path).state == State::ProbeBwUp {
        // Until ProbeRTT, which is due 5 s after the last small round-trip time.
        path.until(20.0, "ProbeRTT", |p| {
            let state = view(p).state;
            assert!(matches!(state, State::ProbeBwUp | State::ProbeRtt), "{state:?}");
            state == State::ProbeRtt || p.now > Time::ZERO + Duration::from_secs(12)
        });
    } else {
        panic!("{:?}", view(&path));
    }
}

#[test]
fn a6_and_a21_probing_up_ends_on_loss() {
    for limited in [false, true] {
        let mut path = usual(1000);
        until(&mut path, State::ProbeBwRefill);
        if limited {
            path.limit(Some(Rate::from_bps(10_000_000)));
        }
        until(&mut path, State::ProbeBwUp);
        let before = view(&path).inflight_longterm;
        path.link.loss = 0.2;
        path.until(1.0, "ProbeBW_DOWN", |p| view(p).state != State::ProbeBwUp);
        let v = view(&path);
        // Little is in flight after these losses, so DOWN may end at once.
        assert!(matches!(v.state, State::ProbeBwDown | State::ProbeBwCruise), "{v:?}");
        assert!(!v.full_bw_now, "by loss, not by a plateau");
        let bdp = path.link.bdp();
        match (limited, v.inflight_longterm) {
            (false, Some(bytes)) => {
                assert_ne!(before, v.inflight_longterm);
                // At least Beta of the target in flight.
                assert!(packets(bytes) >= 0.69 * bdp, "{}", packets(bytes));
            }
            // Samples limited by the application do not bound the data in flight.
            (true, bytes) => assert_eq!(bytes, before),
            (false, None) => panic!("no bound"),
        }
    }
}

#[test]
fn a8_probing_down_ends_when_the_queue_is_gone() {
    let mut path = usual(1000);
    until(&mut path, State::ProbeBwUp);
    until(&mut path, State::ProbeBwDown);
    assert_eq!(view(&path).gains.0, 0.9);
    until(&mut path, State::ProbeBwCruise);
    assert!(path.link.queued(path.now) <= 4, "{}", path.link.queued(path.now));
    assert_eq!(view(&path).gains, (1.0, 2.0));
}

#[test]
fn a10_probe_rtt_comes_every_five_seconds_for_200_ms() {
    let mut path = usual(1000);
    path.run(3.0, |_| ());
    let mut starts = Vec::new();
    for _ in 0..3 {
        until(&mut path, State::ProbeRtt);
        starts.push(path.now);
        assert_eq!(view(&path).gains, (1.0, 0.5));
        let rounds = view(&path).round_count;
        let bdp = path.link.bdp();
        path.until(1.0, "half of the product in flight", |p| {
            p.controller().cwnd().as_f64() <= 0.52 * bdp * PACKET.as_f64()
        });
        path.until(1.0, "the end", |p| view(p).state != State::ProbeRtt);
        assert_eq!(view(&path).state, State::ProbeBwCruise);
        assert!(view(&path).round_count > rounds);
        let lasted = path.now.since(*starts.last().expect("one"));
        assert!(lasted >= Duration::from_ms(200) && lasted < Duration::from_ms(400), "{lasted}");
        // The base round-trip time is seen: 40 ms and the time of a packet.
        let min_rtt = view(&path).min_rtt.as_ms_f64();
        assert!((40.0..41.3).contains(&min_rtt), "{min_rtt}");
    }
    for pair in starts.windows(2) {
        let gap = pair[1].since(pair[0]).as_secs_f64();
        assert!((5.0..6.0).contains(&gap), "{gap}");
    }
}

#[test]
fn a11_an_idle_time_takes_the_place_of_probe_rtt() {
    let mut path = usual(1000);
    until(&mut path, State::ProbeBwCruise);
    path.limit(Some(Rate::ZERO));
    path.run(7.0, |_| ());
    path.limit(None);
    let mut restarted = false;
    path.run(0.1, |p| {
        let v = view(p);
        restarted |= v.idle_restart;
        assert_ne!(v.state, State::ProbeRtt);
    });
    assert!(restarted);
    path.run(3.0, |p| assert_ne!(view(p).state, State::ProbeRtt));
}

#[test]
fn a12_and_a13_aggregated_acknowledgements_widen_the_window() {
    let mut link = Link::new(20.0, 40.0, 1000);
    link.batches = Some(Duration::from_ms(20));
    let bdp = link.bdp();
    let mut path = Path::new(bbr(), link);
    until(&mut path, State::Drain);
    // A sample may have a batch too many: 20 ms in an interval of 40 ms at least.
    let bw = mbps(view(&path).max_bw);
    assert!((1.0..1.5).contains(&(bw / 20.0)), "{bw}");
    until(&mut path, State::ProbeBwCruise);
    // A batch is half a product of 40 ms, a third of one of the round-trip time that batches give.
    let extra = packets(view(&path).extra_acked);
    assert!(extra > 0.3 * bdp, "{extra}");
    let used = path.utilisation(4.0);
    assert!(used > 0.95, "{used}");
    assert!(packets(path.controller().cwnd()) > 2.0 * bdp);
}

#[test]
fn a14_four_packets_are_the_least_window() {
    // 0.08 packets.
    let mut path = Path::new(bbr(), Link::new(0.1, 10.0, 100));
    path.run(20.0, |p| assert!(p.controller().cwnd() >= PACKET));
    path.run(20.0, |p| {
        assert!(packets(p.controller().cwnd()) >= 4.0);
    });
    let bw = mbps(view(&path).bw);
    assert!((bw / 0.1 - 1.0).abs() < 0.02, "{bw}");
    let used = path.utilisation(20.0);
    assert!(used > 0.97, "{used}");
}

#[test]
fn a15_ten_times_the_bandwidth_is_found_in_a_logarithm_of_rounds() {
    let mut path = Path::new(bbr(), Link::new(10.0, 40.0, 10_000));
    path.run(3.0, |_| ());
    until(&mut path, State::ProbeBwCruise);
    path.link.rate = Rate::from_bps(100_000_000);
    until(&mut path, State::ProbeBwUp);
    let from = path.now;
    path.until(30.0, "the whole rate", |p| mbps(view(p).max_bw) > 98.0);
    // ProbeBW_UP grows by a quarter per round: ln 10 / ln 1.25 = 10.3 rounds of 40 ms.
    let took = path.now.since(from).as_secs_f64();
    assert!(took < 1.0, "{took}");
    path.run(3.0, |_| ());
    let used = path.utilisation(10.0);
    assert!(used > 0.9, "{used}");
}

#[test]
fn a16_a_tenth_of_the_bandwidth_is_found_in_two_cycles() {
    let mut path = Path::new(bbr(), Link::new(100.0, 40.0, 333));
    path.run(4.0, |_| ());
    until(&mut path, State::ProbeBwCruise);
    path.link.rate = Rate::from_bps(10_000_000);
    path.until(2.0, "a short-term bound", |p| view(p).bw_shortterm.is_some());
    path.until(15.0, "the new rate", |p| mbps(view(p).max_bw) < 11.0);
    let used = path.utilisation(10.0);
    assert!(used > 0.9, "{used}");
}

#[test]
fn a17_a_policer_is_conformed_to() {
    let mut link = Link::new(100.0, 40.0, 1000);
    link.policer = Some((Rate::from_bps(20_000_000), 100_000.0));
    let mut path = Path::new(bbr(), link);
    path.run(10.0, |_| ());
    let (sent, dropped, arrived) = (path.sent, path.dropped, path.arrived);
    let mut bounded = false;
    path.run(20.0, |p| bounded |= view(p).bw_shortterm.is_some());
    assert!(bounded);
    let lost = (path.dropped - dropped) as f64 / (path.sent - sent) as f64;
    let goodput = (path.arrived - arrived) as f64 * PACKET.bits_f64() / 20.0 / 20e6;
    assert!(lost < 0.1, "{lost}");
    assert!(goodput > 0.8 && goodput < 1.01, "{goodput}");
}

#[test]
fn a20_probe_rtt_in_startup_returns_to_startup() {
    // The application sends too little for Startup to end.
    let rate = Rate::from_bps(2_000_000);
    let mut path = Path::limited(bbr(), Link::new(100.0, 40.0, 1000), rate);
    // The round-trip time rises, so no sample is as small as the first ones.
    path.run(1.0, |_| ());
    path.link.propagation = Duration::from_ms(50);
    path.until(7.0, "ProbeRTT", |p| view(p).state == State::ProbeRtt);
    path.until(1.0, "the end", |p| view(p).state != State::ProbeRtt);
    assert_eq!(view(&path).state, State::Startup);
}

#[test]
fn a22_samples_limited_by_the_application_do_not_lower_the_bandwidth() {
    let mut path = usual(1000);
    until(&mut path, State::ProbeBwRefill);
    let before = view(&path).max_bw;
    path.limit(Some(Rate::from_bps(1_000_000)));
    until(&mut path, State::ProbeBwUp);
    path.run(0.3, |_| ());
    let now = view(&path).max_bw;
    assert!(now >= before, "{now} of {before}");
}

#[test]
fn a_steady_flow_uses_the_link_and_keeps_a_short_queue() {
    let mut path = usual(1000);
    path.run(5.0, |_| ());
    let bdp = path.link.bdp();
    let (mut sum, mut n, mut most) = (0.0, 0.0, 0);
    let arrived = path.arrived;
    path.run(30.0, |p| {
        let queued = p.link.queued(p.now);
        (sum, n) = (sum + queued as f64, n + 1.0);
        most = most.max(queued);
    });
    // A ProbeRTT of 0.2 to 0.3 s in each 5 s at half of the rate, and a margin of 1 %.
    let used = (path.arrived - arrived) as f64 * PACKET.bits_f64() / 30.0 / 20e6;
    assert!(used > 0.95 && used < 1.0, "{used}");
    let mean: f64 = sum / n;
    assert!(mean < 0.25 * bdp, "{mean} packets of {bdp}");
    // (2.25 - 1) BDP at the very most [§5.6.4.2].
    assert!((most as f64) < 1.25 * bdp, "{most}");
    assert_eq!(path.dropped, 0);
}

/// "average packet loss rates of up to 1 %" [§3.1]. A run of 30 s has 0.84 of the link with a standard
/// deviation of 0.025, by which losses fall at probes. So the mean of twelve has one of 0.007.
#[test]
fn one_percent_of_random_loss_costs_a_sixth() {
    let used = (1..=12).map(|seed| {
        let mut path = usual(1000);
        path.dice = common::Dice(seed);
        path.link.loss = 0.01;
        path.run(10.0, |_| ());
        path.utilisation(30.0)
    });
    let used: Vec<f64> = used.collect();
    let mean = used.iter().sum::<f64>() / 12.0;
    assert!(mean > 0.84 - 4.0 * 0.007, "{mean}: {used:?}");
    assert!(used.iter().all(|used| *used > 0.84 - 4.0 * 0.025), "{used:?}");
}

/// Disturbs a flow in this state so that it takes packets for lost that are not, until it detects
/// that. Returns the state then, and the number of time-outs.
fn spurious(state: State, disturb: impl Fn(&mut Path<Bbr3>)) -> (View, u64) {
    let mut path = usual(100_000);
    path.until(30.0, "the state", |p| {
        view(p).state == state && (state != State::Startup || view(p).round_count == 3)
    });
    let window = path.controller().cwnd();
    disturb(&mut path);
    path.until(2.0, "a loss", |p| p.sender.retransmissions() > 0);
    path.until(2.0, "the end of it", |p| {
        !p.sender.is_recovering() && p.controller().cwnd() >= window
    });
    assert_eq!(path.dropped, 0);
    assert!(path.sender.retransmissions() < 8);
    (view(&path), path.sender.timeouts())
}

/// The flow learns nothing from spurious losses. From each state it goes back to Startup, or to
/// ProbeBW_UP by ProbeBW_REFILL [§5.5.11.2].
fn assert_undone(before: State, after: View) {
    assert_eq!(after.bw_shortterm, None, "{before:?}");
    assert_eq!(after.inflight_shortterm, None, "{before:?}");
    assert_eq!(after.inflight_longterm, None, "{before:?}");
    let probes = matches!(after.state, State::ProbeBwRefill | State::ProbeBwUp);
    match before {
        State::ProbeBwUp => assert!(probes, "{after:?}"),
        same => assert_eq!(after.state, same),
    }
}

/// Packets that are sent within 2 ms go a longer way, and those behind overtake them.
#[test]
fn a18_spurious_fast_recovery_is_undone() {
    for state in [State::Startup, State::ProbeBwUp, State::ProbeBwCruise] {
        let (after, timeouts) = spurious(state, |path| {
            let usual = path.link.propagation;
            path.link.propagation = usual + Duration::from_ms(30);
            path.run(0.002, |_| ());
            path.link.propagation = usual;
        });
        assert_eq!(timeouts, 0);
        assert_undone(state, after);
    }
}

/// The link stands still for longer than the time-out.
#[test]
fn a19_spurious_rto_recovery_is_undone() {
    for state in [State::Startup, State::ProbeBwUp, State::ProbeBwCruise] {
        let (after, timeouts) = spurious(state, |path| {
            let link = &mut path.link;
            link.free = link.free.max(path.now) + Duration::from_ms(600);
        });
        assert!(timeouts > 0);
        assert_undone(state, after);
    }
}

/// The aggregation budget of A.13 is for acknowledgements that arrive together, not for bursts of
/// the application: 100 KB, then 50 ms without data, at 100 Mbps and 100 ms. The window is twice
/// the 100 KB [§5.6.4.2], and the data acknowledged together.
#[test]
fn pauses_do_not_widen_the_window() {
    let mut path = Path::limited(bbr(), Link::new(100.0, 100.0, 100_000), Rate::from_bps(1));
    path.limit(Some(Rate::ZERO));
    for _ in 0..200 {
        path.sender.supply(100_000 / PACKET.get());
        path.run(0.2, |_| ());
        let window = path.controller().cwnd().get();
        assert!(window < 400_000, "{window}");
    }
}
