//! Properties that hold for every text and every scenario.

use crate::common::CATALOGUE;
use accord_language::File;
use accord_scenario::print;
use accord_traffic::{Purpose, stream};
use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::fmt::Write;
use std::path::Path;

/// Chances for tests.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(stream(seed, 0, Purpose::Demand))
    }

    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    fn of<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len())]
    }

    /// Sometimes a key with a value.
    fn maybe(&mut self, text: &mut String, key: &str, values: &[&str]) {
        if self.below(3) == 0 {
            writeln!(text, "{key} = {}", self.of(values)).unwrap();
        }
    }
}

const RATES: &[&str] = &["\"1 Mbps\"", "\"2.4 Gbps\"", "\"333333 bps\"", "\"1200 KB/s\""];
const DELAYS: &[&str] = &["\"0 s\"", "\"2 ms\"", "\"0.123456789 ms\"", "\"1 ps\"", "\"20 min\""];
const QUEUES: &[&str] = &[
    "\"droptail\"",
    "{ discipline = \"red\", ecn = true, period = \"3 us\", reference = \"1 Mbps\" }",
    "{ discipline = \"avd\", utilisation = 0.97, gain = 1e-2, limit = \"20 ms\" }",
    "{ discipline = \"droptail\", limit = \"0.7 BDP\" }",
    "{ random = [\"droptail\", { discipline = \"avq\", limit = \"9 pkt\" }, { random = [\"red\"] }] }",
    "{ random = [\"droptail\", \"red\"], seed = 3 }",
    "{ discipline = \"shares\", aggregates = { default = { min = \"1 Mbps\" } } }",
    "\"shares\"",
];
const REVERSES: &[&str] = &["{}", "{ rate = \"5 Kbps\" }", "{ delay = \"7 ns\", loss = 0.25 }"];
const CONTROLLERS: &[&str] = &[
    "\"reno\"",
    "{ name = \"monaco\", target = \"2.5 pkt\", gain = 1e-7, policy = \"mw\", paced = false }",
    "{ name = \"vegas-k\", alpha = \"1 KB\", beta = \"3000 B\", k = 17 }",
];
const SERVICES: &[&str] = &[
    "{}",
    "{ contract = \"0 bps\", weight = 1e-6 }",
    "{ contract = \"1.234567 Mbps\", weight = 0.3, limit = \"65535 B\" }",
];
const DEMANDS: &[&str] = &[
    "\"greedy\"",
    "{ size = \"1 GB\" }",
    "{ constant = \"5 Mbps\" }",
    "{ poisson = \"7 Mbps\" }",
    "{ on_off = { burst = { exponential = \"1 MB\" }, pause = \"1 s\" } }",
    "{ web = {} }",
    "{ web = { body_mu = 11, tail_share = 0.123456789, largest = \"1000 TB\", longest = \"71 h\", load = \"333333 bps\" } }",
    "{ on_off = { rate = \"1 Mbps\", burst = \"1 MB\", pause = \"3 h\" } }",
];
const STARTS: &[&str] = &["\"1 s\"", "{ uniform = [\"0 s\", \"70 h\"] }"];
const ATTACHMENTS: &[&str] = &[
    "{ rate = \"1 Gbps\", delay = \"1 ms\" }",
    "{ rate = [\"1 Gbps\", \"7 Mbps\"], delay = { spread = [\"1 ms\", \"1 s\"] }, reverse = { rate = \"1 Mbps\" } }",
    "{ rate = { spread = [\"1 Mbps\", \"3 bps\"] }, delay = \"1 ms\", queue = \"red\", loss = \"0.1 %\" }",
];

/// A scenario of 300 hours with something of everything.
fn generate(seed: u64) -> String {
    let dice = &mut Dice::new(seed);
    let mut text = String::from("duration = \"300 h\"\n");
    dice.maybe(&mut text, "title", &["\"\"", "'\"quoted\"'", "\"\\u0000\\t\\\\ ü\\n\\u007f\""]);
    dice.maybe(&mut text, "seed", &["0", "9223372036854775807"]);
    dice.maybe(&mut text, "sample", &["\"1 s\"", "\"123456789123 ns\""]);
    dice.maybe(&mut text, "steady", &["[\"1.000000000001 s\", \"299 h\"]"]);
    let hops = 1 + dice.below(4);
    writeln!(text, "[topology.parking_lot]\nbottlenecks = {hops}").unwrap();
    port(dice, &mut text);
    for i in 1..=hops {
        if dice.below(3) == 0 {
            writeln!(text, "[link.hop{i}]").unwrap();
            dice.maybe(&mut text, "queue", QUEUES);
            dice.maybe(&mut text, "reverse", REVERSES);
        }
    }
    let groups = 1 + dice.below(3);
    for group in 0..groups {
        writeln!(text, "[flow.g{group}]").unwrap();
        flows(dice, &mut text, hops);
    }
    for _ in 0..dice.below(3) {
        let hop = 1 + dice.below(hops);
        writeln!(text, "[[event]]\nat = \"{} h\"", dice.below(300)).unwrap();
        let direction = dice.of(&["", ".reverse"]);
        writeln!(text, "link = \"hop{hop}{direction}\"\ndelay = {}", dice.of(DELAYS)).unwrap();
        dice.maybe(&mut text, "rate", RATES);
    }
    for _ in 0..dice.below(4) {
        expectation(dice, &mut text, groups);
    }
    text
}

fn port(dice: &mut Dice, text: &mut String) {
    writeln!(text, "rate = {}\ndelay = {}", dice.of(RATES), dice.of(DELAYS)).unwrap();
    dice.maybe(text, "queue", QUEUES);
    dice.maybe(text, "loss", &["0.1", "\"33.3 %\"", "1"]);
    dice.maybe(text, "control_loss", &["1e-9"]);
    dice.maybe(
        text,
        "jitter",
        &["\"off\"", "{ normal = \"5 ms\" }", "{ uniform = \"7 ps\", reorder = true }"],
    );
    dice.maybe(
        text,
        "reorder",
        &["{ delay = \"1 ms\" }", "{ share = \"1 %\", delay = \"1 ms\", gap = 7 }"],
    );
    dice.maybe(text, "policer", &["\"off\"", "{ rate = \"3 Mbps\", burst = \"100 KB\" }"]);
    dice.maybe(text, "ack_aggregation", &["\"off\"", "\"3 ms\""]);
    dice.maybe(text, "ack_thinning", &["true", "false"]);
    dice.maybe(text, "control_priority", &["true", "false"]);
    dice.maybe(text, "reverse", REVERSES);
}

fn flows(dice: &mut Dice, text: &mut String, hops: usize) {
    let (a, b) = (dice.below(hops + 1), dice.below(hops + 1));
    let each = match dice.below(3) {
        0 => {
            writeln!(text, "each_hop = true\ncount = {}", 1 + dice.below(3)).unwrap();
            false
        }
        _ => {
            let b = if a == b { (a + 1) % (hops + 1) } else { b };
            writeln!(text, "from = \"r{a}\"\nto = \"r{b}\"").unwrap();
            dice.below(2) == 0
        }
    };
    let controller = dice.of(CONTROLLERS);
    writeln!(text, "controller = {controller}").unwrap();
    if controller != "\"reno\"" && !each {
        dice.maybe(text, "service", SERVICES);
    }
    if controller == "\"reno\"" && !each {
        // It has neither a service nor the demand of a web user.
        dice.maybe(text, "kernel", &["\"bbr\"", "\"cubic\""]);
        dice.maybe(text, "demand", &DEMANDS[..5]);
    } else {
        dice.maybe(text, "demand", DEMANDS);
    }
    dice.maybe(text, "start", STARTS);
    dice.maybe(text, "stop", &["\"71 h\"", "\"259199.999999999999 s\""]);
    dice.maybe(text, "access", ATTACHMENTS);
    dice.maybe(text, "egress", ATTACHMENTS);
    // So that any figure of any flow can be expected.
    writeln!(text, "record = \"flows\"").unwrap();
    let sizes = ["\"1500 B\"", "\"64 KB\"", "\"65535 B\""];
    let most = if text.contains("kernel") { 2 } else { 3 };
    dice.maybe(text, "packet", &sizes[..most]);
    if each {
        let own = [
            "{}",
            "{ start = \"2 s\" }",
            "{ ack = \"1 B\", controller = \"newreno\" }",
            "{ controller = \"monaco\", service = { contract = \"3 bps\" } }",
        ];
        let members: Vec<_> = (0..1 + dice.below(4)).map(|_| *dice.of(&own.each_ref())).collect();
        writeln!(text, "each = [{}]", members.join(", ")).unwrap();
    }
}

fn expectation(dice: &mut Dice, text: &mut String, groups: usize) {
    let group = dice.below(groups);
    let of = dice.of(&["", ".1"]);
    let (metric, value) = *dice.of(&[
        &("throughput", "\"1.234567 Mbps\""),
        &("rtt", "\"0.123456789012 s\""),
        &("cwnd", "\"12345 B\""),
        &("losses", "0.3"),
    ]);
    writeln!(text, "[[expect]]\nmetric = \"{metric}\"\nof = \"g{group}{of}\"").unwrap();
    let target = match dice.below(3) {
        0 => format!("equals = {value}\nwithin = \"3.7 %\""),
        1 => format!("at_most = {value}"),
        _ => "equals = \"theory\"\nwithin = 0.1".to_string(),
    };
    writeln!(text, "{target}").unwrap();
    dice.maybe(text, "over", &["\"p99.9\"", "\"p0.1\"", "\"max\"", "\"p33.333333\""]);
    dice.maybe(text, "during", &["[\"1 s\", \"200.123456789 h\"]"]);
    if of.is_empty() {
        dice.maybe(text, "across", &["\"max\"", "\"mean\""]);
        dice.maybe(text, "engine", &["[\"packet\"]"]);
    }
}

/// Reads a text all the way, whatever comes of it.
fn read(text: &str) {
    if let Ok(file) = File::parse("test.toml", text) {
        match file.points(&CATALOGUE, None) {
            Ok(points) => points.iter().for_each(|s| drop(s.hash())),
            Err(errors) => drop(errors.to_string()),
        }
    }
}

proptest! {
    #[test]
    fn a_printed_scenario_is_the_same_scenario(seed in any::<u64>()) {
        let text = generate(seed);
        let points = File::parse("a", &text).map_err(|e| e.to_string()).and_then(|file| {
            file.points(&CATALOGUE, None).map_err(|e| e.to_string())
        });
        let points = points.unwrap_or_else(|e| panic!("{text}\n{e}"));
        let printed = print(&points[0]);
        let again = File::parse("b", &printed).unwrap_or_else(|e| panic!("{printed}\n{e}"));
        let again = again.points(&CATALOGUE, None).unwrap_or_else(|e| panic!("{printed}\n{e}"));
        prop_assert_eq!(&again, &points);
        prop_assert_eq!(print(&again[0]), printed);
    }

    #[test]
    fn no_text_makes_it_panic(text in "\\PC*") {
        read(&text);
    }

    #[test]
    fn no_document_makes_it_panic(
        lines in prop::collection::vec((0usize..40, "[ -~]{0,20}", 0usize..6), 0..30),
    ) {
        let words = [
            "duration", "seed", "nodes", "topology.dumbbell", "topology.parking_lot", "link.a",
            "link.bottleneck", "flow.a", "event", "expect", "sweep.s", "from", "to", "rate", "delay",
            "queue", "reverse", "path", "count", "each", "each_hop", "access", "controller",
            "demand", "start", "stop", "metric", "of", "equals", "within", "by", "when", "set",
            "values", "at", "link", "flow", "bottlenecks", "random", "steady",
        ];
        let mut text = String::new();
        for (word, value, form) in lines {
            let word = words[word];
            let line = match form {
                0 => format!("[{word}]"),
                1 => format!("[[{word}]]"),
                2 => format!("{word} = {value:?}"),
                3 => format!("{word} = [{value:?}, {{ {word} = 1 }}]"),
                4 => format!("{word} = \"1 s\""),
                _ => format!("{word} = {}", value.len()),
            };
            text += &line;
            text.push('\n');
        }
        read(&text);
    }

    #[test]
    fn nothing_that_is_set_makes_it_panic(path in "[a-z.\"1-9]{0,20}", value in "\\PC{0,20}") {
        let mut file = File::parse("a", &generate(1)).unwrap();
        if file.set(&path, &value).is_ok() {
            let _ = file.points(&CATALOGUE, None);
        }
    }
}

/// Stands in for the fuzz target where there is no nightly compiler.
#[test]
fn mutated_scenarios_do_not_make_it_panic() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut texts: Vec<String> = std::fs::read_dir(directory)
        .expect("there is a directory of scenarios")
        .map(|e| std::fs::read_to_string(e.unwrap().path()).unwrap())
        .collect();
    texts.sort();
    texts.extend((0..8).map(generate));
    let dice = &mut Dice::new(1);
    for _ in 0..4000 {
        let mut text = texts[dice.below(texts.len())].clone().into_bytes();
        for _ in 0..1 + dice.below(4) {
            mutate(dice, &mut text);
        }
        read(&String::from_utf8_lossy(&text));
    }
}

fn mutate(dice: &mut Dice, text: &mut Vec<u8>) {
    let at = dice.below(text.len());
    let end = (at + 1 + dice.below(20)).min(text.len());
    match dice.below(6) {
        0 => text[at] ^= 1 << dice.below(8),
        1 => drop(text.drain(at..end)),
        2 => {
            let piece = text[at..end].to_vec();
            let to = dice.below(text.len());
            drop(text.splice(to..to, piece));
        }
        3 => {
            let words: &[&str] =
                &["nan", "-1", "0", "1e99", "[]", "{}", "\"\"", "true", "1_000_000"];
            let word = dice.of(words);
            drop(text.splice(at..end, word.bytes()));
        }
        4 => {
            // A value in the place of another.
            let lines: Vec<_> = text.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
            let value = lines[from].split(|b| *b == b'=').nth(1).unwrap_or_default().to_vec();
            let key = lines[to].split(|b| *b == b'=').next().unwrap_or_default().to_vec();
            let mut lines = lines;
            lines[to] = [key, value].join(&b'=');
            *text = lines.join(&b'\n');
        }
        _ => {
            let lines: Vec<_> = text.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            let mut lines = lines;
            let (from, to) = (dice.below(lines.len()), dice.below(lines.len()));
            lines.swap(from, to);
            *text = lines.join(&b'\n');
        }
    }
    if text.is_empty() {
        text.push(b'#');
    }
}
