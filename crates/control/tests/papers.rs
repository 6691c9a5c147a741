//! The laws of the papers, step by step, against sequences computed by hand from Xia05 eq. 10 and
//! Har02 algorithm 1, and their meter against Xia05 §IV-B and §IV-D. κ = 0.5, a target of 3000 bytes,
//! packets of 1000 bytes.

use crate::common::{PACKET, build, family, text, values};
use accord_control::{
    AnyController, Arrival, Controller, Estimator, Maker, Meter, PathView, Report, Transport,
};
use accord_family::{Raw, Service};
use accord_units::{Bytes, Duration, Rate, Time};

/// The round-trip times by which cwnd is divided: smoothed (Har02), latest (Xia05) and smallest.
const SRTT: Duration = Duration::from_ms(100);
const LATEST: Duration = Duration::from_ms(80);
const LEAST: Duration = Duration::from_ms(50);

struct Flow(AnyController);

impl Flow {
    fn har02(changes: &[(&str, Raw)]) -> Flow {
        let mut all = vec![("law", text("har02"))];
        all.extend_from_slice(changes);
        Flow(build("monaco", &all))
    }

    fn xia05(changes: &[(&str, Raw)]) -> Flow {
        let mut all = vec![("law", text("xia05"))];
        all.extend_from_slice(changes);
        Flow(build("monaco", &all))
    }

    /// A report of `a` bytes after `sent` bytes were sent. The receiver's rate and the virtual delay
    /// are wrong on purpose: the papers' laws do not use them.
    fn hear(&mut self, a: f64, sent: f64) -> f64 {
        self.report(a, sent, false)
    }

    fn report(&mut self, a: f64, sent: f64, lost: bool) -> f64 {
        let path = PathView {
            packet: Bytes::new(PACKET),
            srtt: SRTT,
            rtt: LATEST,
            min_rtt: LEAST,
            in_flight: Bytes::new(777),
            sent_in_round: Bytes::from_f64(sent),
            had_too_little: false,
            delivery_rate: Rate::from_bps(12_345),
        };
        let report = Report {
            number: 1,
            accumulation: a,
            egress_rate: Rate::from_bps(54_321),
            virtual_delay: Duration::from_ms(5),
            lost,
            lost_bytes: Bytes::ZERO,
            received: 0,
        };
        self.0.on_report(&report, &path, Time::ZERO);
        self.cwnd()
    }

    /// A report after all of the window was sent.
    fn full(&mut self, a: f64) -> f64 {
        self.hear(a, self.cwnd())
    }

    fn cwnd(&self) -> f64 {
        self.0.cwnd().as_f64()
    }

    fn ssthresh(&self) -> Option<f64> {
        self.0.ssthresh().map(|b| b.as_f64())
    }

    /// Bytes a second.
    fn rate(&self) -> f64 {
        let rate = self.0.allowance().pacing.expect("a tunnel is paced");
        rate.as_bps_f64() / 8.0
    }

    /// Har02, past slow start, with a window of 100 000 bytes; then with this service.
    fn at_100_kb(service: Service) -> Flow {
        let mut f = Flow::har02(&[]);
        while f.cwnd() < 128e3 {
            f.full(0.0);
        }
        // 56 000 bytes too much, of which κ is taken.
        assert_eq!(f.full(59e3), 100e3);
        f.0.set_service(&service);
        f
    }
}

fn contract(mbps: u64, limit: Option<u64>) -> Service {
    Service {
        contract: Rate::from_bps(mbps * 1_000_000),
        weight: 1.0,
        limit: limit.map(Bytes::new),
    }
}

/// Steps 5 to 8 of one flow from its start: what algorithm 1 gives line by line.
#[test]
fn algorithm_1_from_slow_start_to_the_first_loss() {
    let mut f = Flow::har02(&[]);
    assert_eq!((f.cwnd(), f.ssthresh()), (1000.0, None));
    // 5: 1000 + min(1000, 0.5·3000) = 2000; 7.2: min(2·1000, ∞) = 2000.
    assert_eq!(f.full(0.0), 2000.0);
    // 5: 3000; 7.2: 4000. And so on.
    assert_eq!(f.full(0.0), 4000.0);
    assert_eq!(f.full(2999.0), 8000.0);
    assert_eq!(f.full(3000.0), 16_000.0);
    assert_eq!(f.ssthresh(), None);
    // 5: 16 000 − 0.5·2000; 6: congestion ends slow start.
    assert_eq!(f.full(5000.0), 15_000.0);
    assert_eq!(f.ssthresh(), Some(15_000.0));
    // 5: + 0.5·1000; 7.1: all was sent, so the threshold follows; 7.2: not above it.
    assert_eq!(f.full(2000.0), 15_500.0);
    assert_eq!(f.ssthresh(), Some(15_500.0));
    // 5: + min(1000, 1500).
    assert_eq!(f.full(0.0), 16_500.0);
    // 5: − 0.5·20 000, not bounded.
    assert_eq!(f.full(23_000.0), 6500.0);
    assert_eq!(f.ssthresh(), Some(6500.0));
    // A loss halves, and sets the threshold to the result [Xia05 §IV-B.2].
    assert_eq!(f.report(0.0, 6500.0, true), 3250.0);
    assert_eq!(f.ssthresh(), Some(3250.0));
}

/// 100 000 bytes in 100 ms are 1 MB/s. Half of that is contracted: half of 8000 bytes counts.
#[test]
fn step_2_takes_the_bytes_sent_over_the_smoothed_round_trip() {
    let mut f = Flow::at_100_kb(contract(4, None));
    // 3: 8000·(1 − 0.5) = 4000; 5: − 0.5·1000.
    assert_eq!(f.hear(8000.0, 100e3), 99_500.0);
    // 2: 80 KB in 100 ms; 3: 8000·(1 − 0.625) = 3000: at the target.
    assert_eq!(f.hear(8000.0, 80e3), 99_500.0);
}

#[test]
fn step_3_counts_nothing_below_the_contracted_rate() {
    let mut f = Flow::at_100_kb(contract(10, None));
    // 1 MB/s of 1.25: whatever is queued, a packet more.
    assert_eq!(f.hear(1e6, 100e3), 101e3);
}

#[test]
fn step_4_takes_what_is_within_a_packet_of_the_window_for_all_of_it() {
    let slow_start = |sent| {
        let mut f = Flow::har02(&[]);
        f.full(0.0);
        f.full(0.0);
        assert_eq!(f.cwnd(), 4000.0);
        f.hear(0.0, sent)
    };
    assert_eq!(slow_start(4000.0), 8000.0);
    assert_eq!(slow_start(3000.0), 8000.0);
    // 7.2: twice 2999.
    assert_eq!(slow_start(2999.0), 5998.0);
}

#[test]
fn step_5_respects_the_limit_of_what_may_be_queued() {
    let mut f = Flow::at_100_kb(contract(10, Some(40_000)));
    // Below its contract. A − a = 1000: κ of it.
    assert_eq!(f.hear(39_000.0, 100e3), 100_500.0);
    // A − a = −10 000.
    assert_eq!(f.hear(50_000.0, 100e3), 95_500.0);
}

/// The increase of eq. 10 is κ·3000 = 1500 bytes, and Har02 bounds it by a packet. Either law may have
/// the other's bound.
#[test]
fn step_5_bounds_the_increase_of_eq_10() {
    let (packet, policy) = (text("packet"), text("policy"));
    for (mut f, step) in [
        (Flow::har02(&[]), 1000.0),
        (Flow::har02(&[("increase", policy)]), 1500.0),
        (Flow::xia05(&[]), 1500.0),
        (Flow::xia05(&[("increase", packet)]), 1000.0),
    ] {
        f.full(0.0);
        f.full(4000.0);
        let before = f.cwnd();
        assert_eq!(f.full(0.0) - before, step);
    }
}

#[test]
fn step_7_doubles_back_to_the_threshold_after_little_demand() {
    let mut f = Flow::at_100_kb(Service::default());
    f.report(0.0, 100e3, true);
    f.report(0.0, 50e3, true);
    // cwnd 25 KB, and so the threshold; nothing is queued and all is sent: by packets.
    assert_eq!(f.full(0.0), 26e3);
    assert_eq!(f.ssthresh(), Some(26e3));
    // 7.1: with less sent the threshold stays.
    f.hear(0.0, 5e3);
    assert_eq!(f.ssthresh(), Some(26e3));
}

#[test]
fn step_8_is_the_window_over_the_smoothed_round_trip() {
    let mut f = Flow::har02(&[]);
    for rate in [20e3, 40e3, 80e3] {
        f.full(0.0);
        assert!((f.rate() - rate).abs() < 1.0, "{}", f.rate());
    }
    f.full(7000.0);
    // 8000 − 2000 bytes.
    assert!((f.rate() - 60e3).abs() < 1.0);
}

/// "We use rate-based pacing to halve the send rate whenever the window size reaches 1 and
/// negative feedback arrives. When positive feedback arrives we react in the same way as
/// before." [Har02 §V-A]
#[test]
fn below_a_packet_per_round_trip_the_rate_halves_and_jumps_back() {
    let mut f = Flow::har02(&[]);
    for rate in [5000.0, 2500.0, 1250.0, 625.0] {
        assert_eq!(f.hear(9000.0, 1000.0), 1000.0);
        assert!((f.rate() - rate).abs() < 1.0, "{}", f.rate());
    }
    // 5: 1000 + 0.5·200 bytes over 100 ms.
    assert_eq!(f.hear(2800.0, 1000.0), 1100.0);
    assert!((f.rate() - 11e3).abs() < 1.0, "{}", f.rate());
}

/// w ← w + κ·(a* − a), at each report, and nothing else [Xia05 eq. 10].
#[test]
fn eq_10_moves_the_window_from_the_first_report_on() {
    let mut f = Flow::xia05(&[]);
    assert_eq!(f.cwnd(), 1000.0);
    // + 0.5·3000. There is no slow start, however little is queued.
    assert_eq!(f.full(0.0), 2500.0);
    assert_eq!(f.full(0.0), 4000.0);
    // + 0.5·2000.
    assert_eq!(f.full(1000.0), 5000.0);
    // At the target, above it by 1000 bytes, and far above it.
    assert_eq!(f.full(3000.0), 5000.0);
    assert_eq!(f.full(4000.0), 4500.0);
    assert_eq!(f.full(8000.0), 2000.0);
    // A window is a packet at least.
    assert_eq!(f.full(8000.0), 1000.0);
    assert_eq!(f.full(0.0), 2500.0);
    // The window does not depend on the bytes that were sent, as it does in Har02 (step 4).
    assert_eq!(f.hear(1000.0, 0.0), 3500.0);
}

/// "If the congestion feedback is decrease-due-to-loss, Monaco halves the congestion window as in TCP
/// Reno." [Xia05 §IV-B.2]
#[test]
fn a_loss_halves_the_window_of_xia05() {
    let mut f = Flow::xia05(&[("initial_window", Raw::Number(8.0))]);
    assert_eq!(f.cwnd(), 8000.0);
    assert_eq!(f.report(0.0, 8000.0, true), 4000.0);
    // The next step is that of eq. 10 again: the window does not double back.
    assert_eq!(f.full(0.0), 5500.0);
}

/// The window starts where the scenario says.
#[test]
fn the_initial_window_is_that_many_packets() {
    for (law, second) in [("xia05", 11_500.0), ("har02", 20_000.0)] {
        let mut f =
            Flow(build("monaco", &[("law", text(law)), ("initial_window", Raw::Number(10.0))]));
        assert_eq!(f.cwnd(), 10_000.0);
        assert_eq!(f.full(0.0), second, "{law}");
    }
}

/// 8000 bytes over the latest round trip of 80 ms, the smoothed one of 100 ms, and the least of 50 ms.
#[test]
fn the_rate_is_the_window_over_the_round_trip_time_that_is_asked_for() {
    for (rtt, rate) in [("latest", 100e3), ("smoothed", 80e3), ("least", 160e3)] {
        let eight = ("initial_window", Raw::Number(8.0));
        let mut f = Flow::xia05(&[eight, ("rtt", text(rtt))]);
        f.full(3000.0);
        assert!((f.rate() - rate).abs() < 1.0, "{rtt}: {}", f.rate());
    }
    // Without being asked: Xia05 the latest, Har02 the smoothed one.
    let mut f = Flow::xia05(&[]);
    f.full(1000.0);
    assert!((f.rate() - 2000.0 / 0.08).abs() < 1.0, "{}", f.rate());
    let mut f = Flow::har02(&[]);
    f.full(1000.0);
    assert!((f.rate() - 2000.0 / 0.1).abs() < 1.0, "{}", f.rate());
}

fn papers_meter(law: &str) -> Meter {
    let values = values("monaco", &[("law", text(law))]);
    match Maker::of(values.family()).transport {
        Transport::Tunnel { meter, .. } => meter(&values),
        _ => panic!("it runs on a tunnel"),
    }
}

fn at(us: u64) -> Time {
    Time::ZERO + Duration::from_us(us)
}

/// A pair whose halves arrive at these times, in microseconds.
fn pair(m: &mut Meter, pair: u64, out_of_band: u64, in_band: u64, virtual_us: u64) -> Report {
    m.on_arrival(Arrival::OutOfBand { pair }, at(out_of_band));
    let in_band_half = Arrival::InBand {
        pair,
        sent_bytes: 0,
        virtual_delay: Duration::from_us(virtual_us),
        truth: None,
    };
    m.on_arrival(in_band_half, at(in_band)).expect("complete")
}

fn data(m: &mut Meter, packets: u64, us: u64) {
    for _ in 0..packets {
        let size = Bytes::new(PACKET);
        m.on_arrival(Arrival::Data { size }, at(us));
    }
}

/// a = ftt_q·x + x·t_AVD, with x the exponentially weighted moving average of the egress rate
/// [Xia05 §IV-B.2, §IV-D]. The weight is a half.
#[test]
fn the_meter_is_the_product_of_delay_and_average_rate() {
    for law in ["xia05", "har02", "har02-printed"] {
        let mut m = papers_meter(law);
        data(&mut m, 10, 0);
        // 10 KB in 10 ms: 1 MB/s, for 2 ms.
        let report = pair(&mut m, 1, 8_000, 10_000, 0);
        assert!((report.accumulation - 2000.0).abs() < 1e-6);
        // 5 KB in 10 ms: 0.5·1 + 0.5·0.5 = 0.75 MB/s, for 2 ms and 4 ms virtually.
        data(&mut m, 5, 15_000);
        let report = pair(&mut m, 2, 18_000, 20_000, 4_000);
        assert!((report.accumulation - 0.75e6 * 6e-3).abs() < 1e-6);
        // Nothing in 10 ms: 0.5·0.75 MB/s, for 1 ms. Virtual delay has moved no arrival.
        let report = pair(&mut m, 3, 29_000, 30_000, 0);
        assert!((report.accumulation - 0.375e6 * 1e-3).abs() < 1e-6);
        // 20 KB in 10 ms. The report has the average.
        data(&mut m, 20, 35_000);
        let report = pair(&mut m, 4, 40_000, 40_000, 0);
        let rate = 0.5 * 0.375e6 + 0.5 * 2e6;
        assert!((report.egress_rate.as_bps_f64() / 8.0 - rate).abs() < 1.0);
    }
}

/// Data that arrives between the halves of a pair: 3 packets of 1000 bytes, whatever the rate.
#[test]
fn the_counted_estimator_counts_what_arrives_between_the_halves() {
    let mut m = Meter::new(0.25, Estimator::Counted, true);
    data(&mut m, 7, 1_000);
    m.on_arrival(Arrival::OutOfBand { pair: 1 }, at(2_000));
    data(&mut m, 3, 3_000);
    let half = Arrival::InBand {
        pair: 1,
        sent_bytes: 10_000,
        virtual_delay: Duration::ZERO,
        truth: Some(9.0),
    };
    let report = m.on_arrival(half, at(9_000)).expect("complete");
    assert!((report.accumulation - 3000.0).abs() < 1e-9);
    assert!(!report.lost);
}

/// A switch that Monaco does not have, or a word that a switch does not have, is refused. The message
/// lists the valid ones.
#[test]
fn switches_and_words_that_there_are_not_are_refused() {
    let refused = |name: &str, word: &str| {
        let mut values = family("monaco").defaults();
        values.set(name, &text(word)).expect_err("refused").to_string()
    };
    let message = refused("law", "printed");
    for law in ["accord", "xia05", "har02"] {
        assert!(message.contains(law), "{message}");
    }
    let message = refused("window", "paced");
    for word in ["outstanding", "period", "open"] {
        assert!(message.contains(word), "{message}");
    }
    refused("clocking", "egress");
    refused("slow_start", "slow");
}

/// m is a number of 1 or more, and so is the initial window in packets.
#[test]
fn a_number_of_acknowledgements_that_makes_no_sense_is_refused() {
    for name in ["counts", "initial_window"] {
        for m in [0.0, -1.0, 0.5, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut values = family("monaco").defaults();
            let message = values.set(name, &Raw::Number(m)).expect_err("refused");
            let message = message.to_string();
            assert!(message.contains('1'), "{name} = {m}: {message}");
        }
        let mut values = family("monaco").defaults();
        values.set(name, &Raw::Integer(1)).expect("the least");
    }
}

/// Counts are requested if the window bounds the outstanding data.
#[test]
fn only_a_window_of_what_is_outstanding_asks_for_counts() {
    for (window, expected) in [("outstanding", 8.0), ("period", 0.0), ("open", 0.0)] {
        let eight = ("counts", Raw::Number(8.0));
        let values = values("monaco", &[("window", text(window)), eight]);
        let Transport::Tunnel { counts, .. } = Maker::of(values.family()).transport else {
            panic!("it runs on a tunnel")
        };
        assert!((counts(&values) - expected).abs() < 1e-12, "{window}");
    }
}
