//! CLCC against equations 5 to 7 of Ple03, evaluated by hand, over a scripted discipline; and over
//! an AIMD other than BAT.

use crate::common;

use crate::common::{Random, text};
use accord_aqm::{Aggregate, Aimd, Aqm, Clcc, Entropy, PacketMeta, QueueView, Verdict};
use accord_family::{Raw, Values};
use accord_units::{Bytes, Duration, Rate, Time};

/// 100 Mbit/s and nothing queued.
fn queue() -> QueueView {
    QueueView { rate: Rate::from_bps(100_000_000), ..common::queue(0) }
}

/// Parameters; aggregate i has the i-th share, and is steered or not.
fn values(shares: &[(f64, bool)], changes: &[(&str, Raw)]) -> Values {
    let mut values = common::values("bat-clcc", changes);
    for (i, (share, steered)) in shares.iter().enumerate() {
        let of = values.aggregate_mut(&format!("a{i}"));
        of.set("share", &Raw::Number(*share)).expect("in range");
        of.set("steered", &Raw::Flag(*steered)).expect("a flag");
    }
    (values.family().check)(&values).expect("consistent");
    values
}

/// Dice with a constant result.
struct Fixed(f64);

impl Entropy for Fixed {
    fn uniform(&mut self) -> f64 {
        self.0
    }
}

/// Aggregates with scripted offered and served rates.
struct Puppet {
    aggregates: Vec<Aggregate>,
    bounds: Vec<(f64, f64)>,
}

impl Puppet {
    fn new(decrease: &[f64]) -> Puppet {
        let of = |decrease: &f64| Aggregate {
            transmit_probability: 1.0,
            offered: 0,
            admitted: 0,
            decrease: *decrease,
            ratio: None,
        };
        Puppet {
            aggregates: decrease.iter().map(of).collect(),
            bounds: vec![(0.0, f64::INFINITY); decrease.len()],
        }
    }
}

impl Aqm for Puppet {
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        _: &QueueView,
        _: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        let a = &mut self.aggregates[usize::from(packet.aggregate)];
        a.offered += packet.size.get();
        if entropy.uniform() < a.transmit_probability {
            a.admitted += packet.size.get();
            return Verdict::Pass;
        }
        Verdict::Drop
    }
    fn aggregate(&self, index: usize) -> Option<Aggregate> {
        self.aggregates.get(index).copied()
    }
}

impl Aimd for Puppet {
    fn aggregates(&self) -> usize {
        self.aggregates.len()
    }
    fn bounds(&self, index: usize) -> (f64, f64) {
        self.bounds[index]
    }
    fn set_decrease(&mut self, index: usize, decrease: f64) {
        self.aggregates[index].decrease = decrease;
    }
}

/// Passes a tenth of a second, the period of samples.
fn tenth(clcc: &mut Clcc<Puppet>, now: &mut Time, rates: &[(u64, u64)]) {
    for (i, (offered, admitted)) in rates.iter().enumerate() {
        let mut pass = |passes: bool, mbps: u64| {
            let packet =
                PacketMeta { aggregate: i as u8, size: Bytes::new(mbps * 12_500), ..common::DATA };
            // The puppet admits by this draw.
            let mut dice = Fixed(if passes { 0.0 } else { 1.0 });
            clcc.on_arrival(&packet, &queue(), *now, &mut dice);
        };
        pass(true, *admitted);
        pass(false, offered - admitted);
    }
    *now += Duration::from_ms(100);
    assert_eq!(clcc.next_timer(), Some(*now));
    clcc.on_timer(&queue(), *now);
}

/// A second in which aggregate i offers and gets the i-th pair of rates, in Mbit/s.
fn second(clcc: &mut Clcc<Puppet>, now: &mut Time, rates: &[(u64, u64)]) -> Vec<f64> {
    for _ in 0..10 {
        tenth(clcc, now, rates);
    }
    let decrease = |i| clcc.aggregate(i).expect("there").decrease;
    (0..rates.len()).map(decrease).collect()
}

fn near(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9 * b.abs(), "{a} is not {b}");
}

/// TCP and UDP with r_ref = 30/70.
const TWO: [(f64, bool); 2] = [(70.0, false), (30.0, true)];

#[test]
fn the_step_follows_the_error() {
    let puppet = Puppet::new(&[0.1, 0.1]);
    let (mut clcc, mut now) = (Clcc::over(puppet, &values(&TWO, &[])), Time::ZERO);
    // UDP has 60, TCP 40: r = 1.5, r_ref = 3/7, x = 1 − 3.5 = −2.5. Coarse: D grows by 0.5·2.5.
    let d = second(&mut clcc, &mut now, &[(50, 40), (90, 60)]);
    near(d[0], 0.1);
    near(d[1], 0.1 * 2.25);
    near(clcc.aggregate(1).expect("there").ratio.expect("known"), 1.5);
    assert_eq!(clcc.aggregate(0).expect("there").ratio, None);
    // 35 and 65: x = 1 − (35/65)/(30/70) = −0.25641: in the middle.
    let d = second(&mut clcc, &mut now, &[(70, 65), (90, 35)]);
    near(d[1], 0.225 * (1.0 + 0.2 * (35.0 / 65.0 * 70.0 / 30.0 - 1.0)));
    let before = d[1];
    // 29 and 71: x = 0.0469, small: D falls.
    let d = second(&mut clcc, &mut now, &[(75, 71), (90, 29)]);
    near(d[1], before * (1.0 - 0.05 * (1.0 - 29.0 / 71.0 * 70.0 / 30.0)));
    // At rest.
    let before = d[1];
    let d = second(&mut clcc, &mut now, &[(75, 70), (90, 30)]);
    near(d[1], before);
}

/// Rates are averages of a second: of ten samples, neither the one before them nor one less.
#[test]
fn rates_are_averaged_over_the_last_second() {
    let (mut clcc, mut now) =
        (Clcc::over(Puppet::new(&[0.1, 0.1]), &values(&TWO, &[])), Time::ZERO);
    second(&mut clcc, &mut now, &[(90, 50), (90, 50)]);
    let mut ratio = |clcc: &mut Clcc<Puppet>, tcp, udp| {
        tenth(clcc, &mut now, &[(90, tcp), (90, udp)]);
        clcc.aggregate(1).expect("there").ratio.expect("known")
    };
    // A tenth at 10 and 90 amid tenths at 50 and 50 counts for ten samples, from its own on.
    near(ratio(&mut clcc, 10, 90), 54.0 / 46.0);
    for _ in 0..9 {
        near(ratio(&mut clcc, 50, 50), 54.0 / 46.0);
    }
    near(ratio(&mut clcc, 50, 50), 1.0);
}

#[test]
fn the_bound_is_one_over_what_is_offered() {
    for (bound, expected) in [(true, 100.0 / 250.0), (false, 0.1 * (1.0 + 0.5 * 8.0 / 1.0))] {
        let values = values(&[(0.5, false), (0.5, true)], &[("bound", Raw::Flag(bound))]);
        let (mut clcc, mut now) = (Clcc::over(Puppet::new(&[0.1, 0.1]), &values), Time::ZERO);
        // 90 against 10: r = 9, x = −8.
        let d = second(&mut clcc, &mut now, &[(50, 10), (200, 90)]);
        near(d[1], expected);
    }
}

#[test]
fn the_loop_is_suspended_while_too_little_is_offered() {
    // UDP offers 20, less than the 30 it should get: eq. 5 would lower D by 0.5·x for ever.
    let (mut clcc, mut now) =
        (Clcc::over(Puppet::new(&[0.1, 0.1]), &values(&TWO, &[])), Time::ZERO);
    let d = second(&mut clcc, &mut now, &[(90, 80), (20, 20)]);
    near(d[1], 0.09);
    let d = second(&mut clcc, &mut now, &[(90, 80), (0, 0)]);
    near(d[1], 0.081);
    let without = values(&TWO, &[("preemption", Raw::Flag(false))]);
    let (mut clcc, mut now) = (Clcc::over(Puppet::new(&[0.1, 0.1]), &without), Time::ZERO);
    let d = second(&mut clcc, &mut now, &[(90, 80), (20, 20)]);
    near(d[1], 0.1 * (1.0 - 0.2 * (1.0 - 20.0 / 80.0 * 70.0 / 30.0)));
    // UDP is below its floor, which is more than its share.
    let mut puppet = Puppet::new(&[0.1, 0.1]);
    puppet.bounds[1].0 = 50e6;
    let (mut clcc, mut now) = (Clcc::over(puppet, &values(&TWO, &[])), Time::ZERO);
    let d = second(&mut clcc, &mut now, &[(90, 50), (45, 45)]);
    near(d[1], 0.09);
    // Not below the least.
    for _ in 0..100 {
        second(&mut clcc, &mut now, &[(90, 50), (45, 45)]);
    }
    near(clcc.aggregate(1).expect("there").decrease, 0.001);
}

/// The other aggregates share the rest: with 10 taken by the third, 90 are left, by 2 : 1.
#[test]
fn more_than_two_share_by_max_min_fairness() {
    let three = [(2.0, false), (1.0, true), (1.0, true)];
    let (mut clcc, mut now) =
        (Clcc::over(Puppet::new(&[0.1; 3]), &values(&three, &[])), Time::ZERO);
    let d = second(&mut clcc, &mut now, &[(80, 60), (90, 30), (10, 10)]);
    near(d[1], 0.1);
    near(d[2], 0.09);
    // All want more: 50, 25 and 25. The third has 30 of 25, against 45 of 50: x = −1/3.
    let d = second(&mut clcc, &mut now, &[(80, 45), (90, 25), (90, 30)]);
    near(d[1], 0.1 * (1.0 + 0.2 * (25.0 / 45.0 * 2.0 - 1.0)));
    near(d[2], 0.09 * (1.0 + 0.2 * (30.0 / 45.0 * 2.0 - 1.0)));
    // The first aggregate is silent: the second becomes the reference, and its factor moves a tenth
    // of the way back to its configured value.
    let before = d;
    let d = second(&mut clcc, &mut now, &[(0, 0), (90, 50), (90, 50)]);
    near(d[1], before[1] + 0.1 * (0.1 - before[1]));
    near(d[2], before[2]);
}

/// An AIMD without rates, bounds or averages: congestion reduces the probability by a factor, and
/// otherwise it grows by a step.
struct Simple {
    aggregates: Vec<Aggregate>,
    next: Time,
    queued: u64,
}

impl Aqm for Simple {
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        _: &QueueView,
        _: Time,
        entropy: &mut dyn Entropy,
    ) -> Verdict {
        let a = &mut self.aggregates[usize::from(packet.aggregate)];
        a.offered += packet.size.get();
        if entropy.uniform() < a.transmit_probability {
            a.admitted += packet.size.get();
            self.queued += 1;
            return Verdict::Pass;
        }
        Verdict::Drop
    }
    fn aggregate(&self, index: usize) -> Option<Aggregate> {
        self.aggregates.get(index).copied()
    }
    fn next_timer(&self) -> Option<Time> {
        Some(self.next)
    }
    fn on_timer(&mut self, _: &QueueView, now: Time) {
        // 10 ms of a link of 100 Mbit/s are 125 packets of 1000 bytes.
        let congested = self.queued > 125;
        self.queued = self.queued.saturating_sub(125);
        for a in &mut self.aggregates {
            a.transmit_probability = if congested {
                a.transmit_probability * (1.0 - a.decrease).max(0.0)
            } else {
                (a.transmit_probability + 0.02).min(1.0)
            };
        }
        self.next = now + Duration::from_ms(10);
    }
}

impl Aimd for Simple {
    fn aggregates(&self) -> usize {
        self.aggregates.len()
    }
    fn bounds(&self, _: usize) -> (f64, f64) {
        (0.0, f64::INFINITY)
    }
    fn set_decrease(&mut self, index: usize, decrease: f64) {
        self.aggregates[index].decrease = decrease;
    }
}

#[test]
fn it_steers_another_aimd_to_the_same_shares() {
    let three = [(50.0, false), (30.0, true), (20.0, true)];
    let simple = Simple {
        aggregates: Puppet::new(&[0.1; 3]).aggregates,
        next: Time::ZERO + Duration::from_ms(10),
        queued: 0,
    };
    let mut clcc = Clcc::over(simple, &values(&three, &[]));
    let mut random = Random(3);
    let mut counts = [0; 3];
    let admitted = |clcc: &Clcc<Simple>| [0, 1, 2].map(|i| clcc.aggregate(i).unwrap().admitted);
    let mut now = Time::ZERO;
    for tick in 0..24_000 {
        if tick == 12_000 {
            counts = admitted(&clcc);
        }
        for aggregate in 0..3 {
            let packet = PacketMeta { aggregate, ..common::DATA };
            // 100 Mbit/s each in 10 ms.
            for _ in 0..125 {
                clcc.on_arrival(&packet, &queue(), now, &mut random);
            }
        }
        now += Duration::from_ms(10);
        while clcc.next_timer().is_some_and(|at| at <= now) {
            clcc.on_timer(&queue(), now);
        }
    }
    let got = admitted(&clcc);
    let got = [0, 1, 2].map(|i| (got[i] - counts[i]) as f64);
    let sum: f64 = got.iter().sum();
    for (got, (share, _)) in got.iter().zip(three) {
        assert!((got / sum * 100.0 / share - 1.0).abs() < 0.05, "{got} of {sum}");
    }
}

#[test]
fn hostile_parameters_are_refused() {
    let refused = |changes: &[(&str, Raw)]| {
        let mut values = common::family("bat-clcc").defaults();
        for (name, raw) in changes {
            values.set(name, raw).expect("in range");
        }
        (values.family().check)(&values).expect_err("refused").reason
    };
    assert!(refused(&[("average", text("50 ms"))]).contains("at least as long"));
    assert!(refused(&[("average", text("1000 s"))]).contains("samples"));
    assert!(refused(&[("period", text("1 us"))]).contains("period"));
    let errors = [("error_fine", Raw::Number(0.6))];
    assert!(refused(&errors).contains("error_fine"));
}
