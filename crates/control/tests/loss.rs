//! Responses to a loss, in closed loop with a queue.

use crate::common::{PACKET, build, text};
use accord_control::{AnyController, Controller, PathView, Report};
use accord_family::{Raw, Service};
use accord_units::{Bytes, Duration, Rate, Time};

/// A link of 50 Mbps and 50 ms, on which four other flows keep 3000 bytes queued each, whatever the
/// flow does.
struct Path {
    flow: AnyController,
    egress: f64,
    received: f64,
    /// The state of a generator of random numbers.
    seed: u64,
    /// The accumulation and the rate of the flow, summed over reports.
    queued: f64,
    rate: f64,
    lossy: f64,
    reports: f64,
    /// The pairs find nothing queued: both halves wait in one queue.
    blind: bool,
}

const CAPACITY: f64 = 50e6 / 8.0;
const BASE: f64 = 0.05;
const OTHERS: f64 = 4.0 * 3000.0;
const TARGET: f64 = 3000.0;

impl Path {
    fn new(changes: &[(&str, Raw)], service: Service) -> Path {
        let mut changes = changes.to_vec();
        if changes.iter().all(|(name, _)| *name != "loss") {
            changes.push(("loss", text("accumulation")));
        }
        let mut flow = build("monaco", &changes);
        flow.set_service(&service);
        Path {
            flow,
            egress: 0.0,
            received: 0.0,
            seed: 1,
            queued: 0.0,
            rate: 0.0,
            lossy: 0.0,
            reports: 0.0,
            blind: false,
        }
    }

    fn random(&mut self) -> f64 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.seed >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Some round trips, in which each packet is lost with this probability.
    fn rounds(&mut self, n: u32, loss: f64) {
        (self.queued, self.rate, self.lossy, self.reports) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..n {
            let lost = (0..self.packets()).filter(|_| self.random() < loss).count();
            self.round(lost as u64);
        }
    }

    /// The rate that comes to the link, and the packets of a round trip.
    fn arrives(&self) -> f64 {
        let sent = self.flow.allowance().pacing.unwrap().as_bps_f64() / 8.0;
        sent.min(0.95 * CAPACITY)
    }

    fn packets(&self) -> u64 {
        let x = self.arrives();
        let rtt = BASE + OTHERS / (CAPACITY - x);
        (x * rtt / PACKET as f64).round() as u64
    }

    /// A round trip in which `lost` packets are lost.
    fn round(&mut self, lost: u64) {
        let (x, packets) = (self.arrives(), self.packets());
        let delay = OTHERS / (CAPACITY - x);
        let rtt = BASE + delay;
        let out = x * (1.0 - lost as f64 / packets.max(1) as f64);
        self.egress += 0.5 * (out - self.egress);
        self.received += out * rtt;
        let queued = if self.blind { 0.0 } else { self.egress * delay };
        let round = Duration::from_secs_f64(rtt);
        let path = PathView {
            packet: Bytes::new(PACKET),
            srtt: round,
            rtt: round,
            min_rtt: Duration::from_secs_f64(BASE),
            in_flight: Bytes::from_f64(x * rtt),
            sent_in_round: Bytes::from_f64(x * rtt),
            had_too_little: false,
            delivery_rate: Rate::from_bps_f64(out * 8.0),
        };
        let report = Report {
            number: 1,
            accumulation: queued,
            egress_rate: Rate::from_bps_f64(self.egress * 8.0),
            virtual_delay: Duration::ZERO,
            lost: lost > 0,
            lost_bytes: Bytes::new(lost * PACKET),
            received: self.received as u64,
        };
        self.flow.on_report(&report, &path, Time::ZERO);
        self.queued += self.egress * delay;
        self.rate += out;
        self.lossy += f64::from(u8::from(lost > 0));
        self.reports += 1.0;
    }
}

fn contract(mbps: u64) -> Service {
    Service { contract: Rate::from_bps(mbps * 1_000_000), ..Service::default() }
}

/// (1 − P)·κ·(a* − a) = P·a / 2 with κ = 0.5: a = (1 − P)·a*. P is counted, and a is measured in
/// the loop.
#[test]
fn a_lossy_link_leaves_a_flow_the_part_of_its_target_that_round_trips_without_loss_are() {
    for law in ["accord", "xia05", "har02"] {
        for loss in [0.0, 0.001, 0.003, 0.01] {
            let mut path = Path::new(&[("law", text(law))], Service::default());
            path.rounds(2000, loss);
            path.rounds(20_000, loss);
            let queued = path.queued / path.reports;
            let expected = (1.0 - path.lossy / path.reports) * TARGET;
            assert!(
                (queued / expected - 1.0).abs() < 0.02,
                "{law}, {loss}: {queued} B of {expected}"
            );
        }
    }
}

#[test]
fn a_lossy_link_takes_nothing_of_a_contract() {
    for loss in [0.001, 0.01, 0.03] {
        let mut path = Path::new(&[], contract(10));
        path.rounds(2000, loss);
        path.rounds(5000, loss);
        let rate = path.rate / path.reports * 8e-6;
        assert!(rate > 10.0, "{loss}: {rate} Mbps");
        // The papers' answer leaves less than half of it where one in a hundred is lost.
        let printed = [("loss", text("window")), ("recovery", text("packet"))];
        let mut halved = Path::new(&printed, contract(10));
        halved.rounds(2000, loss);
        halved.rounds(5000, loss);
        assert!(halved.rate < path.rate * 0.8, "{loss}");
    }
}

#[test]
fn above_the_bound_a_loss_halves_the_window() {
    let mut path = Path::new(&[], Service::default());
    path.rounds(2000, 0.0);
    let before = path.flow.cwnd().as_f64();
    // One packet of some 60, then ten times as many.
    path.round(1);
    assert!(path.flow.cwnd().as_f64() > before - TARGET);
    path.rounds(10, 0.2);
    assert!(path.flow.cwnd().as_f64() < before / 4.0);
    // A flow whose bound is higher keeps all but its accumulation.
    let mut path = Path::new(&[("loss_bound", Raw::Number(0.4))], Service::default());
    path.rounds(2000, 0.0);
    path.rounds(10, 0.2);
    assert!(path.flow.cwnd().as_f64() > before - 10.0 * TARGET / 2.0);
}

/// If the pairs see no queue, the round-trip time above its minimum stands in: at a loss such a flow
/// gives up as much as one whose pairs see the queue.
#[test]
fn a_blind_flow_gives_up_what_the_round_trip_time_shows() {
    let mut sees = Path::new(&[], Service::default());
    sees.rounds(2000, 0.0);
    let mut blind =
        Path { flow: sees.flow.clone(), blind: true, ..Path::new(&[], Service::default()) };
    blind.egress = sees.egress;
    blind.received = sees.received;
    let before = sees.flow.cwnd();
    sees.round(1);
    blind.round(1);
    assert!(blind.flow.cwnd() <= sees.flow.cwnd() && sees.flow.cwnd() < before);
    // Only losses stop it from then on: the more of them, the slower it is.
    blind.rounds(3000, 0.01);
    let few = blind.rate;
    blind.rounds(3000, 0.04);
    assert!(blind.rate < 0.8 * few, "{} of {few}", blind.rate);
}
