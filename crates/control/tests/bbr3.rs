//! BBRv3's state machine, sample by sample. The transport's tests run it on a path.

use crate::common::{PACKET, path};
use accord_control::bbr3::{Config, State};
use accord_control::{Bbr3, Congestion, Controller, Delivery, Lost, PathView};
use accord_units::{Bytes, Duration, Rate, Time};

/// A path of 10 Mbps and 100 ms: 125 packets.
struct Driver {
    bbr: Bbr3,
    now: Time,
    total: u64,
}

const RATE: Rate = Rate::from_bps(10_000_000);
const BDP: u64 = 125;

impl Driver {
    fn new() -> Driver {
        let bbr = Config::default().build(Bytes::new(PACKET));
        Driver { bbr: bbr.expect("the defaults"), now: Time::ZERO, total: 0 }
    }

    /// The sample of a round trip at this rate.
    fn sample(&self, rate: Rate) -> Delivery {
        Delivery {
            total: self.total,
            acked: PACKET,
            rtt: Duration::from_ms(100),
            prior: self.total,
            delivered: BDP * PACKET,
            interval: Duration::from_ms(100),
            rate,
            app_limited: false,
            tx_in_flight: BDP * PACKET,
            lost: 0,
            in_recovery: false,
            window_limited: true,
        }
    }

    /// A round trip passes, with one acknowledgement, and `in_flight` packets in flight at its end.
    fn round(&mut self, rate: Rate, in_flight: u64) -> State {
        self.tell(Delivery { ..self.sample(rate) }, in_flight)
    }

    fn tell(&mut self, sample: Delivery, in_flight: u64) -> State {
        self.now += Duration::from_ms(100);
        let prior = self.total;
        self.total += BDP * PACKET;
        let sample = Delivery { total: self.total, prior, ..sample };
        let view = PathView { srtt: sample.rtt, ..path(in_flight) };
        self.bbr.on_delivery(&sample, &view, self.now);
        self.bbr.view().state
    }

    /// Until Drain.
    fn full(mut self) -> Driver {
        for _ in 0..4 {
            self.round(RATE, 250);
        }
        assert_eq!(self.bbr.view().state, State::Drain);
        self
    }

    fn lose(&mut self, number: u64, lost: u64) {
        let packet = Lost {
            number,
            total: self.total,
            size: PACKET,
            tx_in_flight: BDP * PACKET,
            lost: lost * PACKET,
            app_limited: false,
        };
        self.bbr.on_lost(&packet, self.now);
    }
}

#[test]
fn a4_drain_ends_after_three_round_trips() {
    let mut driver = Driver::new().full();
    // Far more in flight than the product.
    for _ in 0..3 {
        assert_eq!(driver.round(RATE, 200), State::Drain);
    }
    assert_eq!(driver.round(RATE, 200), State::ProbeBwDown);
}

#[test]
fn a9_probing_down_ends_after_its_longest_time() {
    let mut driver = Driver::new().full();
    assert_eq!(driver.round(RATE, 125), State::ProbeBwCruise);
    let mut driver = Driver::new().full();
    for _ in 0..4 {
        driver.round(RATE, 200);
    }
    // Never as little in flight as the product: DOWN goes over to REFILL after 2 to 3 s.
    let began = driver.now;
    let mut state = driver.bbr.view().state;
    while state == State::ProbeBwDown {
        state = driver.round(RATE, 200);
    }
    assert_eq!(state, State::ProbeBwRefill);
    let took = driver.now.since(began).as_secs_f64();
    assert!((2.0..3.2).contains(&took), "{took}");
}

#[test]
fn three_rounds_without_a_quarter_more_fill_the_pipe() {
    let mut driver = Driver::new();
    let mbps = |n: f64| Rate::from_bps_f64(n * 1e6);
    // The third of these rounds grows by a quarter, which restarts the count.
    for (rate, count) in [(4.0, 0), (4.9, 1), (4.9, 2), (5.0, 0), (5.0, 1), (5.0, 2)] {
        driver.round(mbps(rate), 10);
        let v = driver.bbr.view();
        assert_eq!((v.full_bw_count, v.state), (count, State::Startup), "{rate}");
    }
    // Samples that the application limited do not count.
    let limited = Delivery { app_limited: true, ..driver.sample(mbps(1.0)) };
    assert_eq!(driver.tell(limited, 300), State::Startup);
    assert_eq!(driver.bbr.view().full_bw_count, 2);
    assert_eq!(driver.round(mbps(5.0), 300), State::Drain);
    assert_eq!(driver.bbr.view().max_bw, mbps(5.0));
}

#[test]
fn the_pace_and_the_window_are_the_gains_times_the_model() {
    let mut driver = Driver::new().full();
    let pace = |d: &Driver| d.bbr.allowance().pacing.expect("it paces").as_bps_f64();
    // 0.5 and 0.99 of 10 Mbps [§5.6.2].
    assert!((pace(&driver) / (0.5 * 0.99 * 10e6) - 1.0).abs() < 1e-6);
    driver.round(RATE, 100);
    assert_eq!(driver.bbr.view().state, State::ProbeBwCruise);
    assert!((pace(&driver) / (0.99 * 10e6) - 1.0).abs() < 1e-6);
    // Twice the product, once acknowledgements have let the window grow there [§5.6.4.6].
    let mut last = 0;
    for _ in 0..30 {
        let more = Delivery { acked: 10 * PACKET, ..driver.sample(RATE) };
        // Ten packets at 10 Mbps.
        driver.now += Duration::from_ms(8);
        driver.bbr.on_delivery(&Delivery { prior: 0, ..more }, &path(100), driver.now);
        last = driver.bbr.cwnd().get();
    }
    let extra = driver.bbr.view().extra_acked.get();
    assert_eq!(last, 2 * BDP * PACKET + extra);
}

#[test]
fn rounds_with_losses_lower_the_short_term_bounds() {
    let mut driver = Driver::new().full();
    assert_eq!(driver.round(RATE, 100), State::ProbeBwCruise);
    let slow = Rate::from_bps(5_000_000);
    let window = driver.bbr.cwnd().get();
    driver.lose(7, 1);
    driver.bbr.on_congestion(Congestion::Loss, &path(100), driver.now);
    let round = |driver: &mut Driver, delivered: u64| {
        let sample =
            Delivery { delivered: delivered * PACKET, in_recovery: true, ..driver.sample(slow) };
        driver.tell(sample, 60);
        driver.bbr.view()
    };
    // The first round that ends had the full rate still: nothing sinks below the latest samples.
    let v = round(&mut driver, 60);
    assert_eq!(v.bw_shortterm, Some(RATE));
    let first = v.inflight_shortterm.expect("a bound").get();
    assert_eq!(first, (BDP * PACKET).max((0.7 * window as f64) as u64));
    // The next one sinks to the larger of Beta and the delivered data [§5.5.10.3].
    driver.lose(9, 1);
    let v = round(&mut driver, 60);
    assert_eq!(v.bw_shortterm, Some(Rate::from_bps(7_000_000)));
    assert_eq!(v.inflight_shortterm.map(Bytes::get), Some((0.7 * first as f64) as u64));
    assert_eq!(v.bw, Rate::from_bps(7_000_000));
    // Rounds without a loss leave them.
    let v = round(&mut driver, 60);
    assert_eq!(v.bw_shortterm, Some(Rate::from_bps(7_000_000)));
}

#[test]
fn losses_above_two_percent_while_probing_bound_what_is_in_flight() {
    let mut driver = Driver::new().full();
    driver.round(RATE, 100);
    while driver.bbr.view().state != State::ProbeBwUp {
        driver.round(RATE, 100);
    }
    // 2 of 125 are 1.6 %, 3 are 2.4 %.
    driver.lose(7, 2);
    assert_eq!(driver.bbr.view().inflight_longterm, None);
    driver.lose(9, 3);
    let v = driver.bbr.view();
    // 124 packets before it, 2 of them lost: (0.02·124 − 2)/0.98 = 0.49 more cross the threshold.
    let bound = v.inflight_longterm.expect("a bound").get();
    assert_eq!(bound, 124_489);
    assert_eq!(v.state, State::ProbeBwDown);
    // Once per probe.
    driver.lose(11, 100);
    assert_eq!(driver.bbr.view().inflight_longterm.map(Bytes::get), Some(bound));
    // CRUISE keeps 15 % of it free [§5.6.4.7].
    driver.round(RATE, 90);
    assert_eq!(driver.bbr.view().state, State::ProbeBwCruise);
    assert!(driver.bbr.cwnd().get() <= bound - (0.15 * bound as f64) as u64);
}

#[test]
fn a_timeout_leaves_one_packet_and_recovery_restores_the_window() {
    let mut driver = Driver::new().full();
    driver.round(RATE, 100);
    let window = driver.bbr.cwnd();
    driver.bbr.on_congestion(Congestion::Timeout, &path(100), driver.now);
    driver.lose(1, 1);
    assert_eq!(driver.bbr.cwnd(), Bytes::new(PACKET));
    let repairing = Delivery { in_recovery: true, ..driver.sample(RATE) };
    driver.tell(repairing, 1);
    assert_eq!(driver.bbr.cwnd(), Bytes::new(4 * PACKET));
    // Reno would probe after as many round trips as its window has packets, so the flow does so
    // at once [§5.3.3.8.3]: REFILL has dropped the short-term bounds, and UP follows.
    driver.round(RATE, 4);
    let v = driver.bbr.view();
    assert_eq!((v.state, v.inflight_shortterm), (State::ProbeBwUp, None));
    assert!(driver.bbr.cwnd() >= window, "{:?}", driver.bbr.cwnd());
}
