//! C4 against its draft [draft-huitema-ccwg-c4-spec-04] and its program, by hand.

use crate::common::{ACK, PACKET, path};
use accord_control::c4::{Config, State};
use accord_control::{Acked, C4, Capabilities, Congestion, Controller, Delivery, Lost, PathView};
use accord_units::{Bytes, Duration, Rate, Time};

/// The variables of [`C4::inner`] that tests read.
struct Seen {
    alpha: f64,
    /// Bytes per second.
    rate: f64,
    max_rtt: f64,
    loss: f64,
}

/// A flow whose path gives the same rate in each era.
struct Flow {
    c4: C4,
    now: Time,
    total: u64,
    rtt: Duration,
    /// Bytes per second.
    rate: u64,
    app_limited: bool,
}

impl Flow {
    fn new(rate: u64, rtt_ms: u64) -> Flow {
        Flow::with(Config::default(), rate, rtt_ms)
    }

    fn with(config: Config, rate: u64, rtt_ms: u64) -> Flow {
        Flow {
            c4: config.build(Bytes::new(PACKET)).expect("in range"),
            now: Time::ZERO + Duration::from_secs(1),
            total: 0,
            rtt: Duration::from_ms(rtt_ms),
            rate,
            app_limited: false,
        }
    }

    /// A flow that has left the initial state and cruises.
    fn cruising(rate: u64, rtt_ms: u64) -> Flow {
        let mut flow = Flow::new(rate, rtt_ms);
        flow.until(State::Cruising);
        flow
    }

    /// A cruising flow whose nominal maximum is its round-trip time.
    fn settled(rate: u64, rtt_ms: u64) -> Flow {
        let mut flow = Flow::cruising(rate, rtt_ms);
        for _ in 0..80 {
            flow.era();
        }
        flow.until(State::Recovery);
        flow.until(State::Cruising);
        flow
    }

    fn view(&self) -> PathView {
        PathView { srtt: self.rtt, rtt: self.rtt, min_rtt: self.rtt, ..path(10) }
    }

    /// The data of a round trip.
    fn data(&self) -> u64 {
        (self.rate as f64 * self.rtt.as_secs_f64()).round() as u64
    }

    /// An acknowledgement of `acked` bytes. It ends an era if `ends`.
    fn ack(&mut self, acked: u64, ends: bool) -> State {
        let data = self.data();
        let before = self.total;
        self.total += acked;
        let delivery = Delivery {
            total: self.total,
            acked,
            rtt: self.rtt,
            prior: if ends { before } else { 0 },
            // A queue of a packet: so the network limits the flow.
            delivered: data + PACKET,
            interval: self.rtt,
            rate: Rate::from_bps(self.rate * 8),
            app_limited: self.app_limited,
            tx_in_flight: data,
            lost: 0,
            in_recovery: false,
            window_limited: true,
        };
        self.c4.on_delivery(&delivery, &self.view(), self.now);
        self.c4.state()
    }

    /// An era passes.
    fn era(&mut self) -> State {
        self.now += self.rtt;
        self.ack(self.data(), true)
    }

    fn until(&mut self, state: State) -> u32 {
        for eras in 1..100 {
            if self.era() == state {
                return eras;
            }
        }
        panic!("never {state:?}");
    }

    /// Packet `number` is lost.
    fn lose(&mut self, number: u64) {
        let packet = Lost {
            number,
            total: self.total,
            size: PACKET,
            tx_in_flight: self.data(),
            lost: PACKET,
            app_limited: false,
        };
        self.c4.on_lost(&packet, self.now);
    }

    /// This many of 100 packets arrive with marks, a few at a time.
    fn mark(&mut self, percent: u64) {
        for _ in 0..10 {
            let ack = Acked { bytes: Bytes::new(10 * PACKET), marked: percent / 10, ..ACK };
            self.c4.on_ack(&ack, &self.view(), self.now);
        }
    }

    fn seen(&self) -> Seen {
        let mut v = Vec::new();
        self.c4.inner(&mut v);
        Seen { alpha: v[1], rate: v[2] / 8.0, max_rtt: v[3], loss: v[6] }
    }

    fn window(&self) -> f64 {
        self.c4.allowance().window.as_f64()
    }

    fn pace(&self) -> f64 {
        self.c4.allowance().pacing.expect("a pace").as_bps_f64() / 8.0
    }
}

/// Windows are whole bytes.
#[track_caller]
fn near_bytes(is: f64, should: f64) {
    assert!((is - should).abs() <= 1.0, "{is}, {should}");
}

#[track_caller]
fn near(is: f64, should: f64) {
    assert!((is / should - 1.0).abs() < 1e-6, "{is}, {should}");
}

/// §4.1, 4.2: ten packets and no pace at first, then at least 128 kB/s.
#[test]
fn the_initial_state_begins_with_ten_packets() {
    let mut flow = Flow::new(10_000, 100);
    assert_eq!(flow.window(), 10.0 * PACKET as f64);
    assert_eq!(flow.c4.allowance().pacing, None);
    flow.era();
    assert_eq!(flow.pace(), 131_072.0);
}

/// §4.2: three eras without growth end it. Half of the window was in the path.
#[test]
fn three_eras_without_growth_end_the_initial_state() {
    let mut flow = Flow::new(1_000_000, 100);
    assert_eq!(flow.era(), State::Initial);
    assert_eq!(flow.pace(), 2e6);
    assert_eq!(flow.window(), 200_000.0);
    // The rate doubles: that is growth.
    flow.rate = 2_000_000;
    assert_eq!(flow.era(), State::Initial);
    // The bytes acknowledged count whole, then an eighth, then a sixty-fourth. Nothing of the last matters.
    for _ in 0..2 {
        assert_eq!(flow.era(), State::Initial);
    }
    let window = flow.window();
    assert_eq!(flow.era(), State::Recovery);
    let seen = flow.seen();
    assert_eq!((seen.rate, seen.alpha), (2e6, 0.9375));
    near(seen.max_rtt, (window + 200_000.0 / 64.0) / 2.0 / 2e6);
}

/// §4: recovery, two eras of cruising, an era of probing, and again, as nothing grows.
#[test]
fn a_path_that_does_not_grow_is_probed_once_in_four_eras() {
    let mut flow = Flow::cruising(1_000_000, 100);
    for _ in 0..20 {
        assert_eq!(flow.seen().alpha, 1.0);
        near_bytes(flow.window(), 1e6 * (flow.seen().max_rtt + 0.015));
        assert_eq!(flow.pace(), 1e6);
        assert_eq!(flow.era(), State::Cruising);
        assert_eq!(flow.era(), State::Probing);
        assert_eq!(flow.pace(), 1.0625e6);
        assert_eq!(flow.era(), State::Recovery);
        assert_eq!(flow.pace(), 0.9375e6);
        assert_eq!(flow.era(), State::Cruising);
    }
    // The nominal maximum comes down to the round-trip time.
    assert!((0.1..0.101).contains(&flow.seen().max_rtt));
}

/// §4.1: a short path is probed with a packet more, at least.
#[test]
fn a_probe_is_a_packet_at_least() {
    let mut flow = Flow::cruising(100_000, 20);
    flow.until(State::Probing);
    let seen = flow.seen();
    let without = 1.0625e5 * (seen.max_rtt + (seen.max_rtt / 4.0).min(0.015));
    near_bytes(flow.window(), without + PACKET as f64 - 0.0625e5 * seen.max_rtt);
}

/// §4.5: an application with too little to send is not probed for.
#[test]
fn an_application_with_too_little_to_send_cruises_on() {
    let mut flow = Flow::cruising(1_000_000, 100);
    flow.app_limited = true;
    for _ in 0..20 {
        assert_eq!(flow.era(), State::Cruising);
    }
    flow.app_limited = false;
    assert_eq!(flow.era(), State::Probing);
}

/// §4.7: a probe that made the rate grow is followed by pushes, and three of these by the initial state.
#[test]
fn growth_leads_to_pushes_and_then_to_the_initial_state() {
    let mut flow = Flow::cruising(1_000_000, 100);
    flow.until(State::Probing);
    flow.rate = 1_062_500;
    assert_eq!(flow.era(), State::Recovery);
    assert_eq!(flow.era(), State::Pushing);
    let alpha = flow.seen().alpha;
    // Growth in the push prolongs it; then it ends.
    flow.rate = (flow.rate as f64 * alpha) as u64;
    assert_eq!(flow.era(), State::Pushing);
    assert_eq!(flow.era(), State::Recovery);
    // Without growth since then the flow cruises.
    assert_eq!(flow.era(), State::Cruising);
    // Growth that is seen in recovery counts.
    flow.until(State::Probing);
    assert_eq!(flow.era(), State::Recovery);
    for expected in [State::Pushing, State::Pushing, State::Initial] {
        flow.rate = (flow.rate as f64 * alpha) as u64;
        assert_eq!(flow.era(), expected);
        if expected == State::Pushing {
            assert_eq!(flow.era(), State::Recovery);
        }
    }
}

/// §5.2: in a probe, a queue beyond the threshold ends the probe without a cut. While the flow cruises, queues
/// are others' or jitter: they lift the nominal maximum.
#[test]
fn a_queue_counts_in_probes_only() {
    let mut flow = Flow::settled(1_000_000, 100);
    flow.until(State::Probing);
    flow.rtt = Duration::from_ms(130);
    assert_eq!(flow.ack(PACKET, false), State::Recovery);
    assert_eq!(flow.seen().rate, 1e6);
    // More congestion in recovery drains the queue, once.
    assert_eq!(flow.seen().alpha, 0.9375);
    flow.ack(PACKET, false);
    assert_eq!(flow.seen().alpha, 0.875);
    flow.ack(PACKET, false);
    assert_eq!(flow.seen().alpha, 0.875);

    let mut flow = Flow::settled(1_000_000, 100);
    flow.rtt = Duration::from_ms(130);
    assert_eq!(flow.ack(PACKET, false), State::Cruising);
    flow.rate = 900_000;
    flow.era();
    assert_eq!((flow.seen().rate, flow.seen().max_rtt), (1e6, 0.13));
}

/// §5.1, 5.3: a fast flow answers each loss. A flow below 50 kB/s answers none, since the smoothed ratio of
/// the program does not reach the threshold of 52 % even if all is lost.
#[test]
fn losses_cut_fast_flows_first() {
    let sensitivities = [0.0, 0.25e6 / 0.95e6 * 963.0 / 1024.0, 963.0 / 1024.0, 1.0];
    let part = |sensitivity: f64| 1.0 - 0.25 * (1.0 + sensitivity) / 2.0;
    for (rate, sensitivity, every, answers) in [
        (40_000, sensitivities[0], 1, false),
        (300_000, sensitivities[1], 2, false),
        (300_000, sensitivities[1], 1, true),
        (1_000_000, sensitivities[2], 64, true),
        (10_000_000, sensitivities[3], 64, true),
    ] {
        let mut flow = Flow::cruising(rate, 100);
        (1..=40).for_each(|i| flow.lose(1000 + i * every));
        flow.ack(PACKET, false);
        let cut = if answers { part(sensitivity) } else { 1.0 };
        // Recovery takes no samples of the rate.
        near(flow.seen().rate, rate as f64 * cut);
        let is = if answers { State::Recovery } else { State::Cruising };
        assert_eq!(flow.c4.state(), is, "{rate} {every}: {}", flow.seen().loss);
    }
}

/// §5.5: signals in a probe end it and leave the nominal rate as it is.
#[test]
fn losses_in_a_probe_leave_the_rate() {
    let mut flow = Flow::cruising(10_000_000, 100);
    flow.until(State::Probing);
    (0..3).for_each(|i| flow.lose(1000 + i));
    assert_eq!(flow.ack(PACKET, false), State::Recovery);
    assert_eq!(flow.seen().rate, 1e7);
}

/// §5.3.1: a time-out does not signal congestion. One packet at a time is sent until data arrives.
#[test]
fn a_time_out_changes_nothing_for_long() {
    let mut flow = Flow::cruising(10_000_000, 100);
    let before = (flow.window(), flow.pace());
    for what in [Congestion::Timeout, Congestion::RepeatedTimeout] {
        flow.c4.on_congestion(what, &flow.view(), flow.now);
        assert_eq!(flow.window(), PACKET as f64);
    }
    (0..50).for_each(|i| flow.lose(i));
    assert_eq!(flow.ack(PACKET, false), State::Cruising);
    assert_eq!((flow.window(), flow.pace()), before);
    // Other notices of losses come one by one.
    flow.c4.on_congestion(Congestion::Loss, &flow.view(), flow.now);
    assert_eq!((flow.window(), flow.pace()), before);
}

/// §5.4, 5.5.1: marks cut by their excess over the threshold, a quarter at most. The next probe is smaller.
#[test]
fn marks_cut_by_their_excess() {
    // At 10 MB/s the threshold is 3/32.
    for (percent, cut) in [(0, 1.0), (10, 1.0), (80, 0.75)] {
        let mut flow = Flow::cruising(10_000_000, 100);
        flow.mark(percent);
        flow.ack(PACKET, false);
        near(flow.seen().rate, 1e7 * cut);
    }
    let mut flow = Flow::cruising(10_000_000, 100);
    flow.until(State::Probing);
    flow.mark(80);
    assert_eq!(flow.c4.state(), State::Recovery);
    flow.until(State::Probing);
    assert_eq!(flow.seen().alpha, 1.03125);
}

#[test]
fn packets_are_ect_1_unless_ecn_is_off() {
    let wants = |ecn| {
        let c4 = Config { ecn, ..Config::default() }.build(Bytes::new(PACKET));
        c4.expect("in range").capabilities()
    };
    let off = wants(false);
    assert!(off.deliveries && !off.scalable && off.marks == Capabilities::default().marks);
    assert!(wants(true).scalable);
    let mut flow = Flow::with(Config { ecn: false, ..Config::default() }, 10_000_000, 100);
    flow.until(State::Cruising);
    flow.mark(100);
    assert_eq!(flow.c4.state(), State::Cruising);
}

/// §4.4.1: a slow path whose round-trip time varies begins again, once.
#[test]
fn jitter_begins_the_initial_state_again_once() {
    let mut flow = Flow::cruising(500_000, 40);
    flow.rtt = Duration::from_ms(200);
    flow.rate = 400_000;
    assert_eq!(flow.era(), State::Initial);
    flow.until(State::Cruising);
    for _ in 0..20 {
        flow.rtt = Duration::from_ms(if flow.rtt == Duration::from_ms(40) { 200 } else { 40 });
        assert_ne!(flow.era(), State::Initial);
    }
}
