//! Prague against its equations.

use accord_control::prague::Config;
use accord_control::{Acked, Congestion, Controller, PathView, Prague};
use accord_units::{Bytes, Duration, Rate, Time};

const PACKET: Bytes = Bytes::new(1000);

/// A path by hand: a window per round trip, every 1/p-th packet marked.
struct Path {
    prague: Prague,
    rtt: Duration,
    now: Time,
    /// The accumulated share of marks.
    due: f64,
}

impl Path {
    fn new(config: Config, rtt_ms: u64) -> Path {
        Path {
            prague: config.build(PACKET).expect("in range"),
            rtt: Duration::from_ms(rtt_ms),
            now: Time::ZERO + Duration::from_secs(1),
            due: 0.0,
        }
    }

    fn view(&self) -> PathView {
        PathView {
            packet: PACKET,
            srtt: self.rtt,
            rtt: self.rtt,
            min_rtt: self.rtt,
            in_flight: self.prague.cwnd(),
            sent_in_round: Bytes::ZERO,
            had_too_little: false,
            delivery_rate: Rate::ZERO,
        }
    }

    /// A round trip: gives how many of its packets were marked.
    fn round(&mut self, share: f64) -> u64 {
        let packets = (self.prague.cwnd().as_f64() / PACKET.as_f64()).round() as u64;
        let (mut all, mut told) = (0, false);
        for i in 0..packets {
            self.now += Duration::from_ps(self.rtt.as_ps() / packets);
            self.due += share;
            let marked = u64::from(self.due >= 1.0);
            self.due -= marked as f64;
            all += marked;
            if marked > 0 && !told {
                told = true;
                self.prague.on_congestion(Congestion::Ecn, &self.view(), self.now);
            }
            let ack = Acked {
                bytes: PACKET,
                rtt: Some(self.rtt),
                round_ended: i == 0,
                window_limited: true,
                in_recovery: false,
                marked,
            };
            self.prague.on_ack(&ack, &self.view(), self.now);
        }
        all
    }

    /// The mean window in packets over some rounds.
    fn mean(&mut self, share: f64, rounds: u64) -> f64 {
        let mut sum = 0.0;
        for _ in 0..rounds {
            self.round(share);
            sum += self.prague.cwnd().as_f64() / PACKET.as_f64();
        }
        sum / rounds as f64
    }
}

/// §2.4.1 to 2.4.3: in equilibrium a round trip adds 1 − p packets and takes W·p/2. So
/// the window goes as 1/p [RFC 9332 §2.1], not as its root.
#[test]
fn the_window_is_two_over_the_share_of_marks() {
    for share in [0.2, 0.1, 0.05, 0.02] {
        let mut path = Path::new(Config::default(), 40);
        path.mean(share, 3000);
        let (mean, law) = (path.mean(share, 3000), 2.0 * (1.0 - share) / share);
        assert!((mean / law - 1.0).abs() < 0.1, "{share}: {mean} against {law}");
        let alpha = path.prague.alpha().expect("there were marks");
        assert!((alpha / share - 1.0).abs() < 0.25, "{alpha} of {share}");
    }
}

/// §2.4.4: below a virtual round-trip time of 25 ms a round trip adds (srtt / 25 ms)² packets once
/// the flow has lasted 500 round trips. Its rate is then that of a flow of 25 ms.
#[test]
fn short_round_trips_grow_as_long_ones() {
    for (rtt, factor) in [(5u64, 0.2f64), (10, 0.4), (25, 1.0), (60, 1.0)] {
        let mut path = Path::new(Config::default(), rtt);
        // No mark, then one: the end of slow start, with half of the window.
        path.round(0.0);
        path.prague.on_congestion(Congestion::Ecn, &path.view(), path.now);
        let grown = |path: &mut Path, rounds: u64| {
            let before = path.prague.cwnd().as_f64();
            (0..rounds).for_each(|_| {
                path.round(0.0);
            });
            (path.prague.cwnd().as_f64() - before) / PACKET.as_f64() / rounds as f64
        };
        let young = grown(&mut path, 400);
        assert!((young - 1.0).abs() < 0.05, "{rtt} ms: {young} at first");
        grown(&mut path, 200);
        let old = grown(&mut path, 200);
        let expected = factor * factor;
        assert!((old / expected - 1.0).abs() < 0.05, "{rtt} ms: {old}");
    }
}

/// §2.4.1: the average is set to 1 by the first mark, so slow start ends with half of the window;
/// it is updated once per virtual round trip, however short the round trips are.
#[test]
fn the_average_moves_once_per_virtual_round_trip() {
    let mut path = Path::new(Config::default(), 5);
    assert_eq!(path.prague.alpha(), None);
    path.round(0.0);
    let window = path.prague.cwnd();
    path.prague.on_congestion(Congestion::Ecn, &path.view(), path.now);
    assert_eq!(path.prague.cwnd().get(), window.get() / 2);
    let mut values = vec![path.prague.alpha().expect("a mark")];
    for _ in 0..50 {
        path.round(0.0);
        let alpha = path.prague.alpha().expect("a mark");
        if alpha != *values.last().expect("one") {
            values.push(alpha);
        }
    }
    // 250 ms are ten times 25.
    assert!((9..=11).contains(&(values.len() - 1)), "{}", values.len());
    let ratio = values[1] / values[0];
    assert!((ratio - 15.0 / 16.0).abs() < 1e-9, "{ratio}");
}

/// §2.4.6, RFC 9331 §4.3: a loss halves, whatever the average says.
#[test]
fn a_loss_is_answered_as_by_reno() {
    let mut path = Path::new(Config::default(), 40);
    path.mean(0.05, 1000);
    let view = path.view();
    path.prague.on_congestion(Congestion::Loss, &view, path.now);
    assert_eq!(path.prague.cwnd().get(), (view.in_flight.get() as f64 / 2.0).round() as u64);
    path.prague.on_congestion(Congestion::Timeout, &path.view(), path.now);
    assert_eq!(path.prague.cwnd(), PACKET);
}

/// §2.4.5: the pace is the window per smoothed round-trip time.
#[test]
fn it_paces_by_its_window() {
    let mut path = Path::new(Config::default(), 40);
    assert_eq!(path.prague.allowance().pacing, None);
    path.mean(0.05, 1000);
    let pace = path.prague.allowance().pacing.expect("a round-trip time").as_bps_f64();
    let expected = path.prague.cwnd().bits_f64() / 0.04;
    assert!((pace / expected - 1.0).abs() < 1e-6, "{pace} of {expected}");
}

/// Linux's `prague_enter_cwr`: a flow that does not depend on its round-trip time any more takes marks
/// for a cut once per 25 ms, as a flow of 25 ms does, and a young one once per round trip.
#[test]
fn marks_cut_once_per_virtual_round_trip() {
    for (transition, cuts) in [(1_000_000, 10), (0, 2)] {
        let config = Config { transition, ..Config::default() };
        let mut path = Path::new(config, 5);
        path.round(0.0);
        let mut told = 0;
        for _ in 0..10 {
            let before = path.prague.cwnd();
            (path.prague).on_congestion(Congestion::Ecn, &path.view(), path.now);
            told += u32::from(path.prague.cwnd() < before);
            path.round(0.0);
        }
        assert_eq!(told, cuts, "{transition}");
    }
}
