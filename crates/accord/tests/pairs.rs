//! Theory of every controller behind every discipline, one way and both ways: the rates of packets, or a
//! note that says why not.

use accord::language::File;
use accord::record::{Quiet, Run};
use accord::scenario::{Engine, Entity, Metric, Scenario};
use accord::{Options, catalogue, run};

/// The largest difference of a rate.
const WITHIN: f64 = 0.05;

fn text(controller: &str, discipline: &str, demand: &str, both: bool) -> String {
    let flow = |name: &str, from: &str, to: &str, count: usize| {
        format!(
            "[flow.{name}]\ncount = {count}\nfrom = \"{from}\"\nto = \"{to}\"\ncontroller = {controller}\n{demand}"
        )
    };
    let back = if both { flow("back", "right", "left", 2) } else { String::new() };
    format!(
        "duration = \"60 s\"\nsteady = [\"20 s\", \"60 s\"]\nsample = \"1 s\"\n[topology.dumbbell]\nrate = \"30 Mbps\"\n\
         delay = \"20 ms\"\nqueue = {{ discipline = \"{discipline}\", limit = \"200 pkt\" }}\n{}{back}",
        flow("there", "left", "right", 3)
    )
}

fn rates(s: &Scenario, run: &Run) -> Vec<Option<f64>> {
    (0..s.flows.len()).map(|f| run.mean(Metric::Throughput, Entity::Flow(f), s.steady)).collect()
}

#[test]
fn theory_has_the_rates_of_packets_or_says_why_not() {
    let (mut compared, mut plain) = (0, 0);
    let (mut silent, mut wrong) = (Vec::new(), Vec::new());
    let known = catalogue();
    let exact = [
        (
            "vegas",
            "{ name = \"vegas\", alpha = \"2 pkt\", beta = \"2 pkt\", base_rtt = \"known\" }",
        ),
        ("copa", "{ name = \"copa\", compete = false }"),
    ];
    let named = known.controllers.iter().map(|f| (f.name, format!("\"{}\"", f.name)));
    let all = named.chain(exact.map(|(name, text)| (name, text.to_string())));
    for (family, controller) in all {
        for discipline in known.disciplines {
            for both in [false, true] {
                let name = format!("{controller} behind {}, both ways: {both}", discipline.name);
                let demand = match family {
                    "none" => "demand = { constant = \"2 Mbps\" }\n",
                    _ => "",
                };
                let text = text(&controller, discipline.name, demand, both);
                let file =
                    File::parse("pair.toml", &text).unwrap_or_else(|e| panic!("{name}: {e}"));
                // Some disciplines want more than a name.
                let Ok(mut points) = file.points(&known, None) else {
                    continue;
                };
                let s = points.remove(0);
                let theory = run(&s, Engine::Theory, &Options::default(), &mut Quiet)
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
                let expected = rates(&s, &theory);
                if expected.iter().all(Option::is_none) {
                    if theory.notes.is_empty() {
                        silent.push(name);
                    }
                    continue;
                }
                let packets = run(&s, Engine::Packet, &Options::default(), &mut Quiet)
                    .unwrap_or_else(|e| panic!("{name}: {e}"));
                compared += 1;
                let pairs = expected.iter().zip(rates(&s, &packets));
                let off = pairs.map(|(e, p)| (p.unwrap_or(0.0) / e.unwrap_or(0.0) - 1.0).abs());
                let off = off.fold(0.0, f64::max);
                plain += usize::from(theory.notes.is_empty());
                if off > WITHIN && theory.notes.is_empty() {
                    wrong.push(format!("{name}: {:.1} %", 100.0 * off));
                }
            }
        }
    }
    assert!(silent.is_empty(), "no rates and no note: {silent:#?}");
    assert!(wrong.is_empty(), "of {compared}: {wrong:#?}");
    // Many of them without a word.
    assert!(compared >= 40 && plain >= 20, "{plain} of {compared}");
}
