//! AVD against closed forms of the virtual queue. C is 10 Mbit/s = 1.25 MB/s and packets
//! have 1000 bytes throughout.

use crate::common::{DATA, Random, offer, queue, text, values};
use accord_aqm::{Aqm, Avd, Entropy, Verdict};
use accord_family::Raw;
use accord_units::{Duration, Time};

const C: f64 = 1.25e6;

fn avd(changes: &[(&str, Raw)]) -> Avd {
    Avd::new(&values("avd", changes))
}

fn delay(avd: &Avd, seconds: f64) -> f64 {
    avd.virtual_delay(Time::from_secs_f64(seconds)).as_secs_f64()
}

/// Sends evenly spaced packets at `load`·C from `start` for `seconds`. Returns the time of the last
/// arrival.
fn constant(avd: &mut Avd, load: f64, start: f64, seconds: f64) -> f64 {
    let n = (load * C * seconds / 1000.0).round();
    let mut t = start;
    for i in 0..=n as u64 {
        t = start + i as f64 * 1000.0 / (load * C);
        assert_eq!(offer(avd, t), Verdict::Pass);
    }
    t
}

/// A virtual queue of fixed capacity γ·C with Poisson arrivals is M/D/1: the mean wait is
/// ρ·S / 2(1 − ρ) (Pollaczek and Khinchine).
#[test]
fn poisson_arrivals_wait_as_in_an_m_d_1_queue() {
    let mut avd = avd(&[("gain", Raw::Number(1e-6))]);
    let mut random = Random(7);
    let (rho, service) = (0.7, 1000.0 / (0.98 * C));
    let (mut t, mut sum) = (0.0, 0.0);
    let n = 400_000;
    for _ in 0..n {
        t -= (1.0 - random.uniform()).ln() * service / rho;
        offer(&mut avd, t);
        sum += delay(&avd, t);
    }
    let expected = rho * service / (2.0 * (1.0 - rho));
    let mean = sum / f64::from(n);
    assert!((mean / expected - 1.0).abs() < 0.03, "{mean} for {expected}");
}

/// Below the desired utilisation the virtual capacity rises by α·(γ·C − λ) per second, up to C, and
/// nothing waits.
#[test]
fn underload_has_no_delay_and_earns_capacity() {
    let mut avd = avd(&[]);
    let t = constant(&mut avd, 0.95, 0.0, 3.0);
    assert_eq!(delay(&avd, t), 0.0);
    // γ·C + 3 s · 0.15/s · (0.98 − 0.95)·C = 0.9935·C
    let capacity = avd.virtual_capacity().as_bps_f64() / 8.0;
    // A packet more or less is α · 1000 bytes, 0.00012·C.
    assert!((capacity / C - 0.9935).abs() < 1.5e-4, "{capacity}");
    constant(&mut avd, 0.5, t, 10.0);
    assert_eq!(avd.virtual_capacity().as_bps(), 10_000_000);
}

/// Above it the queue grows faster and faster, though the link itself is not overloaded:
/// VQ = (λ − γ·C)·(t + α·t²/2), C̃ = γ·C − α·(λ − γ·C)·t.
#[test]
fn a_load_above_the_desired_utilisation_builds_delay() {
    let mut avd = avd(&[]);
    let t = constant(&mut avd, 1.0, 0.0, 5.0);
    let queue = 0.02 * C * (5.0 + 0.15 * 12.5);
    let capacity = 0.98 * C - 0.15 * 0.02 * C * 5.0;
    let expected = queue / capacity;
    let measured = delay(&avd, t);
    // A packet more or less is 0.6 % of this queue.
    assert!((measured / expected - 1.0).abs() < 0.01, "{measured} for {expected}");
}

#[test]
fn the_delay_drains_at_the_virtual_capacity_and_is_zero_before_any_arrival() {
    let mut avd = avd(&[("gain", Raw::Number(1e-6))]);
    assert_eq!(delay(&avd, 0.0), 0.0);
    for _ in 0..11 {
        offer(&mut avd, 0.0);
    }
    // Ten packets are ahead of the eleventh: 10 000 bytes at 0.98 · 1.25 MB/s.
    assert!((delay(&avd, 0.0) - 8.163265e-3).abs() < 1e-8);
    assert!((delay(&avd, 0.005) - 3.163265e-3).abs() < 1e-8);
    assert_eq!(delay(&avd, 0.009), 0.0);
}

/// A packet that finds eleven packets queued waits for ten behind the one in service, and both halves
/// of its pair wait for that one: 8 ms of the virtual delay are physical.
#[test]
fn the_virtual_delay_contains_the_physical_one_on_request() {
    let mut pair = [false, true]
        .map(|held| avd(&[("gain", Raw::Number(1e-6)), ("holds_physical", Raw::Flag(held))]));
    for avd in &mut pair {
        for n in 0..=20 {
            avd.on_arrival(&DATA, &queue(n.min(11)), Time::ZERO, &mut Random(1));
        }
    }
    let [beside, inside] = pair.map(|avd| delay(&avd, 0.0));
    // Twenty packets at 0.98·C.
    assert!((beside - 16.32653e-3).abs() < 1e-7, "{beside}");
    assert!((beside - inside - 8e-3).abs() < 1e-9, "{inside}");
    // A virtual queue shorter than the physical one shows nothing.
    let mut short = avd(&[("holds_physical", Raw::Flag(true))]);
    offer(&mut short, 0.0);
    assert_eq!(delay(&short, 0.0), 0.0);
}

/// The virtual queue holds no more than its longest delay, so it is empty after this time.
#[test]
fn the_virtual_queue_holds_no_more_than_its_longest_delay() {
    let mut avd = avd(&[("gain", Raw::Number(1e-6)), ("max_delay", text("10 ms"))]);
    for _ in 0..100 {
        offer(&mut avd, 0.0);
    }
    assert_eq!(delay(&avd, 0.0), 0.01);
    for (t, empty) in [(0.009, false), (0.0101, true)] {
        let mut later = avd.clone();
        offer(&mut later, t);
        assert_eq!(delay(&later, t) == 0.0, empty, "{t}");
    }
}

/// Simulates sources that hold `accumulation` bytes by the delay seen `feedback` ago, offering
/// between 0.1·C and 1.5·C. Returns the mean and standard deviation of the load between 60 and 120
/// s, and the mean delay.
fn closed_loop(gain: f64, accumulation: f64, feedback: f64) -> (f64, f64, f64) {
    let mut avd = avd(&[("gain", Raw::Number(gain))]);
    let mut given = std::collections::VecDeque::from([(0.0, 0.0)]);
    let (mut t, mut n, mut load, mut square, mut delays) = (0.0, 0.0, 0.0, 0.0, 0.0);
    while t < 120.0 {
        offer(&mut avd, t);
        given.push_back((t + feedback, delay(&avd, t)));
        while given.get(1).is_some_and(|next| next.0 <= t) {
            given.pop_front();
        }
        let x = (accumulation / given[0].1 / C).clamp(0.1, 1.5);
        let gap = 1000.0 / (x * C);
        if t > 60.0 {
            // Weighted by time, not by packets.
            n += gap;
            load += x * gap;
            square += x * x * gap;
            delays += delay(&avd, t) * gap;
        }
        t += gap;
    }
    let mean = load / n;
    (mean, (square / n - mean * mean).max(0.0).sqrt(), delays / n)
}

/// In equilibrium λ = C̃ = γ·C, and the delay is accumulation / (γ·C) by Little's law.
#[test]
fn sources_that_hold_an_accumulation_settle_at_the_desired_utilisation() {
    let (load, deviation, delay) = closed_loop(0.15, 50e3, 0.0);
    assert!((load - 0.98).abs() < 0.002, "load {load}");
    assert!(deviation < 0.02, "deviation {deviation}");
    let expected = 50e3 / (0.98 * C);
    assert!((delay / expected - 1.0).abs() < 0.03, "delay {delay}");
}

/// The claim of the docs on the gain: with T = 0.1 s, α·T = 0.015 is steady and α·T = 3 oscillates.
#[test]
fn a_gain_beyond_the_feedback_delay_swings() {
    let (load, steady, _) = closed_loop(0.15, 250e3, 0.1);
    assert!((load - 0.98).abs() < 0.005, "load {load}");
    assert!(steady < 0.02, "deviation {steady}");
    let (_, swinging, _) = closed_loop(30.0, 250e3, 0.1);
    assert!(swinging > 0.2, "deviation {swinging}");
}

/// A flood reduces the virtual capacity to zero. The delay is then at its bound, and disappears
/// after the flood.
#[test]
fn a_flood_shows_the_largest_delay_and_is_forgotten() {
    let mut avd = avd(&[("max_delay", text("200 ms"))]);
    let t = constant(&mut avd, 10.0, 0.0, 1.0);
    assert_eq!(avd.virtual_capacity().as_bps(), 0);
    assert_eq!(avd.virtual_delay(Time::from_secs_f64(t)), Duration::from_ms(200));
    offer(&mut avd, t + 10.0);
    offer(&mut avd, t + 20.0);
    assert_eq!(delay(&avd, t + 20.0), 0.0);
    assert_eq!(avd.virtual_capacity().as_bps(), 10_000_000);
}
