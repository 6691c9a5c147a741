//! BBRv1 sample by sample, against what `net/ipv4/tcp_bbr.c` of Linux does. The transport's tests run it on a path.

use crate::common::{PACKET, path};
use accord_control::bbr1::{Config, State};
use accord_control::{Bbr1, Burst, Congestion, Controller, Delivery, Lost, PathView};
use accord_units::{Bytes, Duration, Rate, Time};

const MS: fn(u64) -> Duration = Duration::from_ms;
/// 100 Mbps and 10 ms: 125 packets.
const BDP: u64 = 125_000;
const RTT: Duration = Duration::from_ms(10);

/// A flow and the samples of its path.
struct Flow {
    bbr: Bbr1,
    now: Time,
    total: u64,
    rtt: Duration,
}

fn mbps(n: f64) -> Rate {
    Rate::from_bps_f64(n * 1e6)
}

impl Flow {
    fn new(config: Config) -> Flow {
        Flow {
            bbr: config.build(Bytes::new(PACKET)).expect("valid"),
            now: Time::ZERO,
            total: 0,
            rtt: RTT,
        }
    }

    /// At 100 Mbps, past Startup and Drain.
    fn probing() -> Flow {
        let mut flow = Flow::new(Config::default());
        flow.fill();
        assert_eq!(flow.round(100.0, 0), State::ProbeBw);
        flow
    }

    fn fill(&mut self) {
        for _ in 0..4 {
            let whole = Delivery { acked: BDP, ..self.sample(100.0) };
            self.ack(whole, RTT, 5 * BDP);
        }
        assert_eq!(self.bbr.state(), State::Drain);
    }

    /// The sample at the end of a round trip at this rate in Mbps.
    fn sample(&self, rate: f64) -> Delivery {
        Delivery {
            total: self.total + BDP,
            acked: PACKET,
            rtt: self.rtt,
            prior: self.total,
            delivered: BDP,
            interval: self.rtt,
            rate: mbps(rate),
            app_limited: false,
            tx_in_flight: BDP,
            lost: 0,
            in_recovery: false,
            window_limited: true,
        }
    }

    /// The sample of a packet within a round trip.
    fn amid(&self, rate: f64) -> Delivery {
        Delivery { total: self.total + PACKET, prior: 0, ..self.sample(rate) }
    }

    fn ack(&mut self, sample: Delivery, after: Duration, in_flight: u64) -> State {
        self.now += after;
        self.total = sample.total;
        let view = PathView {
            srtt: sample.rtt,
            rtt: sample.rtt,
            in_flight: Bytes::new(in_flight),
            ..path(0)
        };
        self.bbr.on_delivery(&sample, &view, self.now);
        self.bbr.state()
    }

    fn round(&mut self, rate: f64, in_flight: u64) -> State {
        self.ack(self.sample(rate), RTT, in_flight)
    }

    fn lose(&mut self, bytes: u64) {
        let packet = Lost {
            number: self.total / PACKET,
            total: self.total,
            size: bytes,
            tx_in_flight: BDP,
            lost: bytes,
            app_limited: false,
        };
        self.bbr.on_lost(&packet, self.now);
    }

    /// The pace over 0.99 of the bandwidth.
    fn gain(&self) -> f64 {
        let pace = self.bbr.allowance().pacing.expect("it paces").as_bps_f64();
        (pace / 0.99 / self.bbr.bandwidth().as_bps_f64() * 1e4).round() / 1e4
    }
}

/// bbr_check_full_bw_reached(): three round trips without a quarter more; bbr_check_drain(): a gain of 1/2.89 until
/// no more than the product, and the budget for three bursts, is in flight.
#[test]
fn startup_ends_on_a_plateau_and_drain_at_the_product() {
    let mut flow = Flow::new(Config::default());
    // A quarter more begins a new count.
    for rate in [40.0, 49.0, 49.0, 50.0, 62.0, 62.0] {
        assert_eq!(flow.round(rate, BDP), State::Startup);
        assert_eq!(flow.gain(), 2.89, "{rate}");
    }
    // A sample that the application limited does not count, nor one within a round trip.
    let limited = Delivery { app_limited: true, ..flow.sample(62.0) };
    assert_eq!(flow.ack(limited, RTT, BDP), State::Startup);
    assert_eq!(flow.ack(flow.amid(62.0), MS(1), BDP), State::Startup);
    assert_eq!(flow.round(62.0, 5 * BDP), State::Drain);
    assert!((flow.gain() - 1.0 / 2.89).abs() < 1e-4);
    // 77.5 packets, three bursts of a millisecond at a third of that rate, rounded up to an even number.
    let pace = flow.bbr.allowance().pacing.expect("it paces").as_bps_f64() / 8.0;
    let burst = (pace / 1024.0 / 1000.0).floor();
    let budget = ((77.5 + 3.0 * burst) / 2.0).ceil() as u64 * 2 * PACKET;
    assert_eq!(flow.ack(flow.amid(62.0), MS(1), budget + 1), State::Drain);
    assert_eq!(flow.ack(flow.amid(62.0), MS(1), budget), State::ProbeBw);
}

/// bbr_update_cycle_phase(): each gain for a smallest round-trip time and longer; 1.25 until that much is in flight,
/// or a loss; 0.75 until the product is in flight, if that is sooner.
#[test]
fn the_gains_are_a_cycle_of_eight() {
    let mut flow = Flow::probing();
    // Much in flight, so 1.25 ends by its time and 0.75 does not end sooner.
    let step = |flow: &mut Flow, ms: u64, in_flight| {
        let sample = flow.amid(100.0);
        flow.ack(sample, MS(ms), in_flight);
        flow.gain()
    };
    let mut gains = Vec::new();
    for _ in 0..24 {
        let before = flow.gain();
        // Ten milliseconds are not longer than a round trip.
        assert_eq!(step(&mut flow, 10, 2 * BDP), before);
        gains.push(step(&mut flow, 1, 2 * BDP));
    }
    let first = gains.iter().position(|g| *g == 1.25).expect("a probe");
    let cycle = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    for (i, gain) in gains[first..].iter().enumerate() {
        assert_eq!(*gain, cycle[i % 8], "{i}");
    }
    let until = |flow: &mut Flow, gain| while step(flow, 11, 2 * BDP) != gain {};
    // Too little in flight for 1.25: it goes on.
    until(&mut flow, 1.25);
    for _ in 0..5 {
        assert_eq!(step(&mut flow, 11, BDP), 1.25);
    }
    assert_eq!(step(&mut flow, 1, 2 * BDP), 0.75);
    assert_eq!(step(&mut flow, 1, 2 * BDP), 0.75);
    assert_eq!(step(&mut flow, 1, BDP / 2), 1.0);
    // A loss ends it, too, but not sooner.
    until(&mut flow, 1.25);
    flow.lose(PACKET);
    assert_eq!(step(&mut flow, 1, BDP), 1.25);
    step(&mut flow, 10, BDP);
    flow.lose(PACKET);
    assert_eq!(step(&mut flow, 1, BDP), 0.75);
}

/// bbr_reset_probe_bw_mode(): any phase but that of 0.75.
#[test]
fn probing_begins_with_any_gain_but_that_which_drains() {
    let gains = (0..60).map(|start| {
        let mut flow = Flow::new(Config::default());
        flow.now += MS(17 * start);
        flow.fill();
        flow.ack(flow.amid(100.0), Duration::from_ps(1), 0);
        assert_eq!(flow.bbr.state(), State::ProbeBw);
        flow.gain()
    });
    let gains: Vec<f64> = gains.collect();
    let of = |gain| gains.iter().filter(|g| **g == gain).count();
    assert_eq!((of(0.75), of(1.25) + of(1.0)), (0, 60));
    // One of seven, to four standard deviations.
    assert!((1..=19).contains(&of(1.25)), "{}", of(1.25));
}

/// bbr_update_bw(), minmax_subwin_update(): the largest sample of this round trip and the ten before. One that the application limited counts if it is larger.
#[test]
fn the_bandwidth_is_the_largest_of_this_round_trip_and_ten_before() {
    let mut flow = Flow::probing();
    for round in 1..=10 {
        flow.round(60.0, BDP);
        assert_eq!(flow.bbr.bandwidth(), mbps(100.0), "{round}");
    }
    flow.round(60.0, BDP);
    assert_eq!(flow.bbr.bandwidth(), mbps(60.0));
    for (rate, expected) in [(59.0, 60.0), (61.0, 61.0)] {
        let limited = Delivery { app_limited: true, ..flow.sample(rate) };
        flow.ack(limited, RTT, BDP);
        assert_eq!(flow.bbr.bandwidth(), mbps(expected));
    }
    // Eleven limited ones leave the largest of them.
    for _ in 0..10 {
        let limited = Delivery { app_limited: true, ..flow.sample(30.0) };
        flow.ack(limited, RTT, BDP);
    }
    assert_eq!(flow.bbr.bandwidth(), mbps(61.0));
}

/// bbr_update_min_rtt(): ten seconds after the last sample as small, four packets for 200 ms and a round trip after
/// no more are in flight.
#[test]
fn probe_rtt_is_four_packets_for_200_ms_and_a_round_trip() {
    let mut flow = Flow::probing();
    let before = flow.bbr.cwnd();
    // The last sample of 10 ms.
    let began = flow.now;
    flow.rtt = MS(11);
    while flow.round(100.0, BDP) != State::ProbeRtt {}
    assert_eq!(flow.now.since(began), MS(10_010));
    assert_eq!(flow.bbr.base_rtt_estimate(), Some(MS(11)));
    assert_eq!(flow.gain(), 1.0);
    assert_eq!(flow.bbr.cwnd(), Bytes::new(4 * PACKET));
    for _ in 0..50 {
        assert_eq!(flow.round(100.0, 4 * PACKET + 1), State::ProbeRtt);
    }
    flow.round(100.0, 4 * PACKET);
    for ms in (10..=200).step_by(10) {
        assert_eq!(flow.round(100.0, 4 * PACKET), State::ProbeRtt, "{ms}");
    }
    assert_eq!(flow.round(100.0, 4 * PACKET), State::ProbeBw);
    assert!(flow.bbr.cwnd().get() > before.get() / 2, "{}", flow.bbr.cwnd());
    // The next one is ten seconds later. Without a round trip it does not end.
    let ended = flow.now;
    flow.rtt = MS(12);
    while flow.round(100.0, BDP) != State::ProbeRtt {}
    assert_eq!(flow.now.since(ended), MS(10_010));
    for _ in 0..50 {
        let sample = flow.amid(100.0);
        assert_eq!(flow.ack(sample, MS(10), 0), State::ProbeRtt);
    }
    assert_eq!(flow.round(100.0, 0), State::ProbeBw);
}

/// bbr_lt_bw_sampling(): intervals of 4 to 16 round trips that begin and end with a loss. Two that lose a fifth,
/// 50/256, at rates within an eighth are a policer's, whose rate is their mean.
#[test]
fn two_intervals_with_much_loss_at_one_rate_are_a_policer() {
    // Of 4 round trips, 500 000 bytes, 97 656 are 50/256.
    for (lost, rounds, second, policed) in [
        (97_657, 4, 1.0, true),
        (97_655, 4, 1.0, false),
        (97_657, 3, 1.0, false),
        // Rates that differ by less than an eighth, and by more.
        (97_657, 4, 0.9, true),
        (97_657, 4, 0.87, false),
    ] {
        let mut flow = Flow::probing();
        // The first loss begins an interval.
        flow.lose(PACKET);
        flow.ack(flow.amid(100.0), Duration::ZERO, BDP);
        for slower in [1.0, second] {
            for round in 1..=rounds {
                if round == rounds {
                    flow.lose(lost);
                }
                let sample = flow.sample(100.0);
                flow.ack(sample, RTT.mul_f64(1.0 / slower), BDP);
            }
        }
        let case = format!("{lost} {rounds} {second}");
        assert_eq!(flow.bbr.is_policed(), policed, "{case}");
        if policed {
            let mean = 100.0 * (1.0 + second) / 2.0;
            let got = flow.bbr.bandwidth().as_bps_f64() / 1e6;
            assert!((got / mean - 1.0).abs() < 1e-6, "{case}: {got}");
            assert_eq!(flow.gain(), 1.0);
        }
    }
}

/// bbr_lt_bw_sampling(): the rate is kept for 48 round trips. An interval of more than 16, or with a sample that the
/// application limited, does not count.
#[test]
fn a_policer_is_kept_to_for_48_round_trips() {
    let found = |quiet: usize, limited: bool, with_round: bool| {
        let mut flow = Flow::probing();
        flow.lose(PACKET);
        let first = if with_round { flow.sample(100.0) } else { flow.amid(100.0) };
        flow.ack(first, Duration::ZERO, BDP);
        for _ in 0..2 {
            for i in 0..quiet {
                let sample = Delivery { app_limited: limited && i == 0, ..flow.sample(100.0) };
                flow.ack(sample, RTT, BDP);
            }
            flow.lose(1_000_000);
            flow.round(100.0, BDP);
        }
        flow
    };
    assert!(found(15, false, false).bbr.is_policed(), "16 round trips");
    assert!(!found(16, false, false).bbr.is_policed(), "17");
    // A round trip that begins with the first loss counts.
    assert!(found(14, false, true).bbr.is_policed());
    assert!(!found(15, false, true).bbr.is_policed());
    assert!(!found(5, true, false).bbr.is_policed());
    let mut flow = found(4, false, false);
    for round in 1..48 {
        flow.round(100.0, BDP);
        assert!(flow.bbr.is_policed(), "{round}");
    }
    flow.round(100.0, BDP);
    assert!(!flow.bbr.is_policed());
}

/// bbr_set_state(): a time-out is the end of a round trip, and its losses are the interval's. The acknowledgement
/// after it reports none of them.
#[test]
fn a_time_out_ends_an_interval() {
    let found = |timeouts: bool| {
        let mut flow = Flow::probing();
        flow.lose(PACKET);
        flow.ack(flow.amid(100.0), Duration::ZERO, BDP);
        for _ in 0..2 {
            for _ in 0..3 {
                flow.round(100.0, BDP);
            }
            if timeouts {
                flow.now += MS(1);
                flow.bbr.on_congestion(Congestion::Timeout, &path(125), flow.now);
            }
            flow.lose(200_000);
            flow.ack(flow.amid(100.0), Duration::ZERO, BDP);
        }
        flow
    };
    assert!(!found(false).bbr.is_policed(), "three round trips are too few");
    let flow = found(true);
    assert!(flow.bbr.is_policed());
    // An interval lasts until the last delivery: 375 KB in 30 ms, then 376 KB in 31 ms.
    let got = flow.bbr.bandwidth().as_bps_f64() / 1e6;
    let mean = 8.0 * (375.0 / 30.0 + 376.0 / 31.0) / 2.0;
    assert!((got / mean - 1.0).abs() < 1e-6, "{got} {mean}");
}

/// bbr_tso_segs_goal(): a burst is a millisecond of data, and at most 64 KiB less the headers.
#[test]
fn a_burst_is_at_most_64_kib() {
    let mut flow = Flow::new(Config::default());
    flow.round(10_000.0, BDP);
    assert_eq!(flow.bbr.burst(), Burst::Unit(Bytes::new(65 * PACKET)));
}

/// bbr_set_cwnd(): in ProbeBW two products, the data acknowledged beyond the bandwidth, and three bursts, in an even
/// number of packets.
#[test]
fn the_window_is_two_products_and_three_bursts() {
    let mut flow = Flow::probing();
    // The whole round trips of Startup are forgotten after ten.
    for _ in 0..30 {
        flow.round(100.0, 2 * BDP);
    }
    while flow.gain() != 1.0 {
        flow.round(100.0, 2 * BDP);
    }
    for _ in 0..20 {
        flow.ack(flow.amid(100.0), Duration::from_us(100), 2 * BDP);
    }
    // A burst is a millisecond of 99 Mbps: 12.375 MB/s over 1024 is 12 packets. 250 packets, 1 and 36 are 288.
    assert_eq!(flow.bbr.cwnd(), Bytes::new(288 * PACKET));
}
