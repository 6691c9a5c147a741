//! A scenario that a program made or changed is refused if it is unsound. The scenarios of the
//! language are sound.

use accord::record::Quiet;
use accord::scenario::{Change, Event, Window};
use accord::units::{Bytes, Duration, Rate, Time};
use accord::{BUILT_IN, Engine, Error, File, Options, PACK_FILES, Scenario, load, run};

const TEXT: &str = r#"
duration = "5 s"
topology.dumbbell = { rate = "10 Mbps", delay = "10 ms" }
[flow.a]
count = 2
from = "left"
to = "right"
controller = "vegas"
"#;

fn scenario() -> Scenario {
    let file = File::parse("two.toml", TEXT).expect("TOML");
    let points = file.points(&accord::catalogue(), None);
    points.expect("a scenario").remove(0)
}

/// The answers of the engines to the scenario with this change.
fn refusal(change: impl FnOnce(&mut Scenario)) -> String {
    let mut scenario = scenario();
    change(&mut scenario);
    let said = [Engine::Theory, Engine::Fluid, Engine::Packet].map(|engine| {
        match run(&scenario, engine, &Options::default(), &mut Quiet) {
            Err(Error::Unsound(why)) => why,
            other => panic!("{engine}: {other:?}"),
        }
    });
    assert!(said.iter().all(|why| *why == said[0]), "{said:?}");
    said[0].clone()
}

#[test]
fn what_does_not_hold_is_refused_with_its_place() {
    let second = Time::ZERO + Duration::from_secs(1);
    assert_eq!(refusal(|s| s.sample = Duration::ZERO), "its sampling period is zero");
    assert_eq!(refusal(|s| s.duration = Duration::ZERO), "its duration is zero");
    assert_eq!(
        refusal(|s| s.steady = Window { start: second, end: Time::ZERO }),
        "its steady part ends before it begins"
    );
    assert_eq!(refusal(|s| s.flows.clear()), "group a: its flows are not its own");
    assert_eq!(refusal(|s| s.groups.clear()), "there are flows of no group");
    assert_eq!(refusal(|s| s.links.clear()), "flow a.1: there is no link 0, of 0 from 0");
    assert_eq!(
        refusal(|s| s.links[1].rate = Rate::ZERO),
        "link bottleneck.reverse: its rate is zero"
    );
    assert_eq!(
        refusal(|s| s.links[0].loss = f64::NAN),
        "link bottleneck: a probability of loss is NaN, and goes from 0 to 1"
    );
    assert_eq!(refusal(|s| s.flows[1].path.clear()), "flow a.2: a path of it is empty");
    assert_eq!(
        refusal(|s| s.flows[1].path.push(0)),
        "flow a.2: bottleneck does not begin where bottleneck ends"
    );
    assert_eq!(
        refusal(|s| s.flows[1].path.extend([1, 0])),
        "flow a.2: a path of it comes to a node twice"
    );
    assert_eq!(
        refusal(|s| s.flows[1].reverse_path = vec![0]),
        "flow a.2: its reverse path does not lead from its sink to its source"
    );
    assert_eq!(
        refusal(|s| s.flows[0].packet = Bytes::new(1_000_000)),
        "flow a.1: packet is 1 MB; expected 1 B to 65.535 KB"
    );
    assert_eq!(
        refusal(|s| s.flows[0].aggregate = 7),
        "flow a.1: there is no aggregate 7, of 1 from 0"
    );
    assert_eq!(
        refusal(|s| s.flows[0].stop = Some(s.flows[0].start)),
        "flow a.1: it does not stop after its start"
    );
    let rate = |link, at| Event { at, change: Change::Rate(link, Rate::ZERO) };
    assert_eq!(
        refusal(|s| s.events.push(rate(99, second))),
        "the event at 1 s: there is no link 99, of 2 from 0"
    );
    assert_eq!(
        refusal(|s| s.events = vec![rate(0, second), rate(0, Time::ZERO)]),
        "its events are not in order of time"
    );
}

#[test]
fn what_the_language_makes_holds() {
    assert_eq!(scenario().check(), Ok(()));
    let catalogue = accord::catalogue();
    for (id, _) in BUILT_IN.iter().chain(PACK_FILES) {
        if id.ends_with("/pack") {
            continue;
        }
        let file = load(id).expect("it comes with Accord");
        for scenario in file.points(&catalogue, None).expect("it is valid") {
            assert_eq!(scenario.check(), Ok(()), "{id}");
        }
    }
}
