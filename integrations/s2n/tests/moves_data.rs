//! Controllers behind s2n-quic's trait move data through a bottleneck, as s2n-quic's own do. The
//! test calls the trait as a path of s2n-quic does, with s2n-quic's estimator of round-trip times.

use accord_s2n::Endpoint;
use num_rational::Ratio;
use s2n_quic_core::event::builder::{BbrState, SlowStartExitCause};
use s2n_quic_core::packet::number::PacketNumberSpace;
use s2n_quic_core::random::Generator;
use s2n_quic_core::recovery::bandwidth::{Bandwidth, RateSample};
use s2n_quic_core::recovery::bbr::BbrCongestionController;
use s2n_quic_core::recovery::congestion_controller::{CongestionController, Publisher};
use s2n_quic_core::recovery::{CubicCongestionController, RttEstimator};
use s2n_quic_core::time::{Clock, NoopClock, Timestamp};
use std::collections::VecDeque;
use std::time::Duration;

/// An event subscriber without effect.
struct Quiet;

impl Publisher for Quiet {
    fn on_slow_start_exited(&mut self, _: SlowStartExitCause, _: u32) {}
    fn on_delivery_rate_sampled(&mut self, _: RateSample) {}
    fn on_pacing_rate_updated(&mut self, _: Bandwidth, _: u32, _: Ratio<u64>) {}
    fn on_bbr_state_changed(&mut self, _: BbrState) {}
}

/// Constant random numbers.
struct Steady;

impl Generator for Steady {
    fn public_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(7);
    }
    fn private_random_fill(&mut self, dest: &mut [u8]) {
        dest.fill(7);
    }
}

/// 20 Mbit/s, 20 ms one-way, and a buffer of one bandwidth-delay product.
const RATE: f64 = 20e6;
const DELAY: f64 = 0.02;
const BUFFER: f64 = 100_000.0;
const PACKET: u16 = 1200;

struct Sent<I> {
    number: u64,
    at: Timestamp,
    info: I,
    /// The arrival time of its acknowledgement, unless it is dropped.
    acked: Option<f64>,
}

/// Returns the results of a transfer of 20 seconds: the utilisation, and the number of lost
/// packets.
fn transfer<C: CongestionController>(mut c: C) -> (f64, u64) {
    let zero = NoopClock.get_time();
    let at = |t: f64| zero.checked_add(Duration::from_secs_f64(t)).expect("soon");
    let mut rtt = RttEstimator::default();
    let mut out: VecDeque<Sent<C::PacketInfo>> = VecDeque::new();
    let (mut now, mut free, mut next) = (0.0, 0.0f64, 0);
    let (mut delivered, mut lost, mut window) = (0u64, 0, 0);
    let mut random = Steady;
    while now < 20.0 {
        let paced = |c: &C| match c.earliest_departure_time() {
            Some(time) => time.saturating_duration_since(zero).as_secs_f64(),
            None => 0.0,
        };
        while !c.is_congestion_limited() && paced(&c) <= now {
            let info = c.on_packet_sent(at(now), PACKET.into(), Some(false), &rtt, &mut Quiet);
            let queued = (free - now).max(0.0) * RATE / 8.0;
            let fits = queued + f64::from(PACKET) <= BUFFER;
            if fits {
                free = free.max(now) + f64::from(PACKET) * 8.0 / RATE;
            }
            out.push_back(Sent {
                number: next,
                at: at(now),
                info,
                acked: fits.then_some(free + 2.0 * DELAY),
            });
            next += 1;
        }
        let ack = out.iter().filter_map(|s| s.acked).fold(f64::INFINITY, f64::min);
        let pace = if c.is_congestion_limited() { f64::INFINITY } else { paced(&c) };
        now = ack.min(pace.max(now + 1e-9));
        assert!(now.is_finite(), "nothing is on the way and nothing may be sent");
        if ack > now {
            continue;
        }
        let i = out.iter().position(|s| s.acked == Some(ack)).expect("it is there");
        let sent = out.remove(i).expect("it is there");
        let sample = at(now).saturating_duration_since(sent.at);
        let space = PacketNumberSpace::ApplicationData;
        rtt.update_rtt(Duration::ZERO, sample, at(now), true, space);
        c.on_rtt_update(sent.at, at(now), &rtt, &mut Quiet);
        let bytes = usize::from(PACKET);
        c.on_ack(sent.at, bytes, sent.info, &rtt, &mut random, at(now), &mut Quiet);
        delivered += u64::from(PACKET);
        // A packet is lost three packets later [RFC 9002 §6.1.1].
        let mut burst = true;
        while out.front().is_some_and(|s| s.number + 3 <= sent.number) {
            let gone = out.pop_front().expect("it is there");
            let bytes = u32::from(PACKET);
            c.on_packet_lost(bytes, gone.info, false, burst, &mut random, at(now), &mut Quiet);
            (lost, burst) = (lost + 1, false);
        }
        window = window.max(c.congestion_window());
    }
    assert!(window > 20_000, "the window stayed at {window}");
    (delivered as f64 * 8.0 / 20.0 / RATE, lost)
}

/// s2n-quic's own controllers use the link in this test, which validates the test.
#[test]
fn its_own_use_the_link() {
    let cubic = transfer(CubicCongestionController::new(PACKET, Default::default()));
    let bbr = transfer(BbrCongestionController::new(PACKET, Default::default()));
    println!("s2n cubic {cubic:?}, s2n bbr {bbr:?}");
    assert!(cubic.0 > 0.9 && bbr.0 > 0.9, "{cubic:?} {bbr:?}");
}

/// All of ours that run on a stream use it, too, including those with a pace and samples of the
/// delivery rate.
#[test]
fn ours_use_the_link() {
    let mut carried = Vec::new();
    for family in accord_control::FAMILIES {
        let Ok(endpoint) = Endpoint::new(&family.defaults()) else {
            continue;
        };
        let (used, lost) = transfer(endpoint.controller(PACKET));
        println!("{}: {:.1} % of the rate, {lost} packets lost", family.name, 100.0 * used);
        assert!(used > 0.8, "{}: {used}", family.name);
        carried.push(family.name);
    }
    for name in ["cubic", "bbr1", "bbr3", "dctcp", "copa"] {
        assert!(carried.contains(&name), "{name}");
    }
    for name in ["monaco", "none"] {
        assert!(!carried.contains(&name), "{name}");
    }
}
