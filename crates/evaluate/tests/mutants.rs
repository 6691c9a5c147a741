//! Controllers with one fault each: the pack that names the fault fails them, and the same controller
//! without a fault passes.

use accord::Options;
use accord::control::{
    Acked, Allowance, AnyController, Congestion, Controller, Maker, PathView, Transport,
};
use accord::family::{Family, Objective, Role, Values};
use accord::record::Quiet;
use accord::scenario::Engine;
use accord::units::{Bytes, Time};
use accord_evaluate::pack::open;
use accord_evaluate::rule::resolve;
use accord_evaluate::{
    Evaluation, Measured, Order, Outcome, PackResult, Plan, Subject, Tier, attempt,
};

/// The fault of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// There is none: Reno.
    None,
    /// Losses change nothing; time-outs do.
    IgnoresLoss,
    /// Time-outs change nothing; losses do.
    NeverBacksOff,
    /// The window never falls below [`LEAST`], whatever is lost.
    StarvesOthers,
    /// The window is halved twice a second.
    HalvesOnNothing,
    /// The window doubles per round trip, whatever the threshold.
    GrowsWithoutEnd,
    /// A window is sent five times a second, and a packet at a time in between.
    Bursts,
    /// A packet at a time is sent for two seconds out of four.
    Sleeps,
}

/// In packets: seven times the room of the path and its buffer.
const LEAST: f64 = 1000.0;

/// A window in bytes after RFC 5681, with a fault.
#[derive(Clone, Debug)]
struct Mutant {
    fault: Fault,
    packet: f64,
    window: f64,
    threshold: f64,
    now: f64,
    halved: f64,
}

impl Mutant {
    /// Returns whether only a packet at a time is sent now.
    fn rests(&self) -> bool {
        match self.fault {
            Fault::Bursts => self.now % 0.2 > 0.01,
            Fault::Sleeps => self.now % 4.0 > 2.0,
            _ => false,
        }
    }
}

impl Controller for Mutant {
    fn on_ack(&mut self, ack: &Acked, _: &PathView, now: Time) {
        self.now = now.as_secs_f64();
        if self.fault == Fault::HalvesOnNothing && self.now > self.halved + 0.5 {
            self.halved = self.now;
            self.window = (self.window / 2.0).max(2.0 * self.packet);
            self.threshold = self.window;
        }
        let heedless = matches!(self.fault, Fault::IgnoresLoss | Fault::GrowsWithoutEnd);
        if ack.in_recovery && !heedless || !(ack.window_limited || self.rests()) {
            return;
        }
        if self.window < self.threshold || self.fault == Fault::GrowsWithoutEnd {
            self.window += ack.bytes.as_f64();
        } else {
            self.window += self.packet * ack.bytes.as_f64() / self.window;
        }
    }

    fn on_congestion(&mut self, what: Congestion, path: &PathView, _: Time) {
        let timeout = matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout);
        let half = (path.in_flight.as_f64() / 2.0).max(2.0 * self.packet);
        match self.fault {
            Fault::NeverBacksOff if timeout => {}
            Fault::IgnoresLoss if !timeout => {}
            Fault::StarvesOthers => self.threshold = half.max(LEAST * self.packet),
            _ => self.threshold = half,
        }
        match self.fault {
            Fault::NeverBacksOff if timeout => {}
            _ if timeout && self.fault != Fault::StarvesOthers => self.window = self.packet,
            Fault::IgnoresLoss => {}
            _ => self.window = self.threshold.max(2.0 * self.packet),
        }
    }

    fn allowance(&self) -> Allowance {
        let window = if self.rests() { self.packet } else { self.window };
        Allowance { window: Bytes::from_f64(window.min(1e8)), pacing: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }
}

fn objective(_: &Values) -> Objective {
    Objective::Loss
}

macro_rules! family {
    ($name:literal, $fault:expr) => {
        Family {
            doc: "A controller with a fault.",
            maker: &Maker {
                build: |_, packet| {
                    let packet = packet.as_f64();
                    AnyController::foreign(Mutant {
                        fault: $fault,
                        packet,
                        window: 10.0 * packet,
                        threshold: 1e9,
                        now: 0.0,
                        halved: 0.0,
                    })
                },
                transport: Transport::Stream,
            },
            ..Family::new($name, Role::Controller(objective))
        }
    };
}

static FAMILIES: [Family; 8] = [
    family!("sound", Fault::None),
    family!("ignores-loss", Fault::IgnoresLoss),
    family!("never-backs-off", Fault::NeverBacksOff),
    family!("starves-others", Fault::StarvesOthers),
    family!("halves-on-nothing", Fault::HalvesOnNothing),
    family!("grows-without-end", Fault::GrowsWithoutEnd),
    family!("bursts", Fault::Bursts),
    family!("sleeps", Fault::Sleeps),
];

/// Returns the verdict on the section of a case, the measures whose rules it fails, and its line.
fn verdict(name: &str, pack: &str, case: &str) -> (Outcome, Vec<String>, String) {
    let controllers: Vec<&'static Family> = FAMILIES.iter().collect();
    let catalogue = accord::catalogue_with(&controllers, &[]);
    let order = Order {
        subjects: vec![Subject::parse(name, &catalogue).expect("a subject")],
        tier: Tier::Quick,
        engine: Engine::Packet,
        seed: 1,
        reps: 3,
        cases: vec![case.into()],
        live: None,
        server: None,
    };
    let pack = open(pack).expect("it comes with the program");
    let plan = Plan::of(pack, &order, &catalogue).expect("it fits");
    let requirements = resolve(std::slice::from_ref(&plan), &[], order.tier, 1).expect("rules");
    let run = |trial| attempt(&plan, trial, Engine::Packet, &Options::default(), None, &mut Quiet);
    let measured: Vec<Measured> =
        plan.trials.iter().map(|trial| run(trial).expect("no interruption")).collect();
    let packs = vec![PackResult::of(plan, 1, &measured)];
    let evaluation = Evaluation { order, packs, requirements, limits: Vec::new() };
    let sections = evaluation.sections();
    assert_eq!(sections.len(), 1, "{name}: {case}");
    let failed = sections[0].rules.iter().filter(|judged| judged.outcome == Outcome::Fail);
    let failed = failed.map(|judged| judged.requirement.key.measure.clone());
    (sections[0].outcome, failed.collect(), sections[0].line.clone())
}

#[test]
fn mutants_fail_the_section_that_names_their_fault() {
    for (name, pack, case, measure) in [
        ("ignores-loss", "rfc9743", "high-loss", "loss"),
        ("never-backs-off", "rfc9743", "no-feedback", "sending rate in the outage"),
        ("starves-others", "rfc9743", "existing", "subject over rival"),
        ("halves-on-nothing", "rfc9743", "wired", "utilisation"),
        ("grows-without-end", "rfc9743", "high-loss", "loss"),
        ("bursts", "buffers", "shallow-one", "utilisation"),
        ("sleeps", "rfc9743", "wired", "utilisation"),
    ] {
        let (outcome, failed, line) = verdict(name, pack, case);
        assert_eq!(outcome, Outcome::Fail, "{name}: {line}");
        assert!(failed.iter().any(|known| known == measure), "{name}: {failed:?}: {line}");
        let (outcome, _, line) = verdict("sound", pack, case);
        // Three seeds do not decide each rule.
        assert_ne!(outcome, Outcome::Fail, "{name}: {line}");
    }
}
