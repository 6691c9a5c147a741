//! Files of traces and steps, good and bad.

use crate::common::CATALOGUE;
use accord_language::{File, parse_trace};
use accord_scenario::{Change, Scenario, print};
use accord_units::{Duration, Rate, Time};
use std::path::{Path, PathBuf};

/// An empty folder of this test.
fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&path);
    std::fs::create_dir_all(&path).expect("it can be made");
    path
}

fn text(rate: &str) -> String {
    format!(
        "duration = \"10 s\"\n\
         topology.dumbbell = {{ rate = {rate}, delay = \"1 ms\" }}\n\
         [flow.a]\nfrom = \"left\"\nto = \"right\"\ncontroller = \"reno\"\n"
    )
}

/// The scenario of a file in `folder` whose bottleneck has this rate.
fn read(folder: &Path, rate: &str) -> Result<Scenario, String> {
    let path = folder.join("s.toml");
    std::fs::write(&path, text(rate)).expect("it can be written");
    let file = File::open(&path).map_err(|e| e.to_string())?;
    let points = file.points(&CATALOGUE, None).map_err(|e| e.to_string());
    points.map(|mut points| points.remove(0))
}

/// The first line of the error for a file with these bytes, without the place in the scenario.
fn refused(folder: &Path, key: &str, bytes: &[u8]) -> String {
    std::fs::write(folder.join("link.txt"), bytes).expect("it can be written");
    let said = read(folder, &format!("{{ {key} = \"link.txt\" }}")).expect_err("it is bad");
    let line = said.lines().next().unwrap_or_default();
    let (place, message) = line.split_once(": ").expect("a place");
    assert!(place.ends_with("s.toml:2:40"), "{place}");
    assert_eq!(said.matches("s.toml:").count(), 1, "once: {said}");
    message.to_string()
}

#[test]
fn a_trace_is_the_same_from_a_file_and_in_place() {
    let folder = folder("trace-same");
    std::fs::create_dir(folder.join("traces")).expect("it can be made");
    std::fs::write(folder.join("traces/up.trace"), "0\n2\r\n2\n10\n").expect("it can be written");
    let file = read(&folder, "{ trace = \"traces/up.trace\" }").expect("it is good");
    let parts = file.links[0].parts.as_ref().expect("it has a trace");
    let trace = parts.trace.as_ref().expect("it has a trace");
    assert_eq!(trace.times()[..], [0, 2, 2, 10]);
    // Four times 1504 bytes in 10 ms, in both directions.
    assert_eq!(file.links[0].rate, Rate::from_bps(4_812_800));
    assert_eq!(file.links[0].parts, file.links[1].parts);
    let place = read(&folder, "{ trace = [0, 2, 2, 10] }").expect("it is good");
    assert_eq!(file, place);
    // The hash is of the contents. A printed scenario needs no file.
    assert_eq!(file.hash(), place.hash());
    let other = read(&folder, "{ trace = [0, 2, 3, 10] }").expect("it is good");
    assert_ne!(file.hash(), other.hash());
    let printed = File::parse("elsewhere/s.toml", &print(&file)).expect("it is TOML");
    assert_eq!(printed.points(&CATALOGUE, None).expect("it is good")[0], file);
}

#[test]
fn steps_become_events_of_both_directions() {
    let folder = folder("steps");
    let steps = "0, 10 Mbps\n2.5,500 Kbps\n\t4 , 0 bps\r\n 6,20 Mbps\n11, 1 Mbps\n";
    std::fs::write(folder.join("link.csv"), steps).expect("it can be written");
    let s = read(&folder, "{ steps = \"link.csv\" }").expect("it is good");
    assert_eq!(s.links[0].rate, Rate::from_bps(10_000_000));
    let found: Vec<_> = (s.events.iter())
        .map(|e| match e.change {
            Change::Rate(link, rate) => (e.at, link, rate.as_bps()),
            _ => panic!("{e:?}"),
        })
        .collect();
    let at = |ms| Time::ZERO + Duration::from_ms(ms);
    // The step after the end of the run is left out.
    let expected = [(at(2500), 500_000), (at(4000), 0), (at(6000), 20_000_000)];
    let both = expected.map(|(at, bps)| [(at, 0, bps), (at, 1, bps)]);
    assert_eq!(found, both.concat());
    let again = File::parse("printed.toml", &print(&s)).expect("it is TOML");
    assert_eq!(again.points(&CATALOGUE, None).expect("it is good")[0], s);
}

#[test]
fn bad_traces_are_refused_with_their_line() {
    let folder = folder("trace-bad");
    let many = "1\n".repeat(10_000_001);
    for (bytes, expected) in [
        (&b""[..], "has no delivery opportunities"),
        (b"0\n0\n", "ends at 0 ms, so it has no length"),
        (b"1\n5\n-3\n", "line 3: \"-3\" is not a whole number of milliseconds up to 2592000000"),
        (b"1\n\n2\n", "line 2: \"\" is not a whole number of milliseconds up to 2592000000"),
        (b"1\n2.5\n", "line 2: \"2.5\" is not a whole number of milliseconds up to 2592000000"),
        (
            b"1\n99999999999999999999\n",
            "line 2: \"99999999999999999999\" is not a whole number of milliseconds up to 2592000000",
        ),
        (b"1\n7\n5\n", "line 3: 5 ms comes after 7 ms"),
        (b"1\n2\n\xff\xfe\x00", "line 3: it is not UTF-8 text"),
        (
            b"\x7fELF\x02\x01",
            "line 1: \"\\u{7f}ELF\\u{2}\\u{1}\" is not a whole number of milliseconds up to 2592000000",
        ),
        (many.as_bytes(), "line 10000001: a trace has at most 10000000 delivery opportunities"),
        (&vec![b'1'; 129 << 20], "cannot be read: it is larger than 128 MiB"),
    ] {
        assert_eq!(refused(&folder, "trace", bytes), format!("\"link.txt\" {expected}"));
    }
}

#[test]
fn bad_steps_are_refused_with_their_line() {
    let folder = folder("steps-bad");
    let form = "expected seconds and a rate such as \"12.5, 10 Mbps\", not";
    for (text, expected) in [
        ("", "has no steps".to_string()),
        ("1, 10 Mbps", "line 1: the first step is at 1 s, not at 0".into()),
        ("0, 0 bps", "line 1: the first rate is zero".into()),
        ("0, 1 Mbps\n2, 2 Mbps\n2, 3 Mbps", "line 3: 2 s does not come after 2 s".into()),
        ("0, 1 Mbps\n2, 5", format!("line 2: {form} \"2, 5\"")),
        ("0, 1 Mbps\n-2, 5 Mbps", format!("line 2: {form} \"-2, 5 Mbps\"")),
        ("time,rate", format!("line 1: {form} \"time,rate\"")),
        ("0, 1 Mbps\n1e300, 5 Mbps", format!("line 2: {form} \"1e300, 5 Mbps\"")),
        ("0, 999999 Tbps", "line 1: 999999 Tbps is too much".into()),
    ] {
        let said = refused(&folder, "steps", text.as_bytes());
        assert_eq!(said, format!("\"link.txt\" {expected}"));
    }
}

#[test]
fn files_elsewhere_are_not_read() {
    let folder = folder("trace-elsewhere");
    let said = |rate: &str| read(&folder, rate).expect_err("it is bad");
    for name in ["/etc/passwd", "../s.toml", "a/../../s.toml", ""] {
        let said = said(&format!("{{ trace = \"{name}\" }}"));
        assert!(said.contains("is not in the folder of the scenario or below it"), "{said}");
    }
    assert!(said("{ trace = \"none.trace\" }").contains("\"none.trace\" cannot be read"));
    std::fs::create_dir(folder.join("sub")).expect("it can be made");
    assert!(said("{ trace = \"sub\" }").contains("it is a directory"));
    assert!(said("{ trace = 5 }").contains("expected the name of a file, or a list of times"));
    assert!(said("{ trace = [5, 3] }").contains("3 ms comes after a later time"));
    assert!(said("{ trace = [] }").contains("the trace has no delivery opportunities"));
    assert!(said("{ trace = [1], steps = \"x\" }").contains("exactly one key"));
}

/// A trace has no rate that an event could change.
#[test]
fn events_do_not_change_the_rate_of_a_trace() {
    let events = "[[event]]\nat = \"1 s\"\nlink = \"bottleneck\"\nrate = \"1 Mbps\"\n";
    let file = File::parse("s.toml", &(text("{ trace = [1] }") + events)).expect("it is TOML");
    let said = file.points(&CATALOGUE, None).expect_err("it is bad").to_string();
    assert!(said.contains("\"bottleneck\" has a trace, so it has no rate to change"), "{said}");
    let slower = events.replace("rate = \"1 Mbps\"", "delay = \"1 s\"");
    let file = File::parse("s.toml", &(text("{ trace = [1] }") + &slower)).expect("it is TOML");
    assert!(file.points(&CATALOGUE, None).is_ok());
}

/// A sweep over files reads each of them.
#[test]
fn a_sweep_goes_over_traces() {
    let folder = folder("trace-sweep");
    for (name, times) in [("a.trace", "1\n"), ("b.trace", "1\n2\n4\n")] {
        std::fs::write(folder.join(name), times).expect("it can be written");
    }
    let sweep = "[sweep.trace]\nset = [\"topology.dumbbell.rate.trace\"]\nvalues = [\"a.trace\", \"b.trace\"]\n";
    let path = folder.join("s.toml");
    std::fs::write(&path, text("{ trace = \"a.trace\" }") + sweep).expect("it can be written");
    let points = File::open(&path).expect("it is TOML").points(&CATALOGUE, None).expect("good");
    let rates: Vec<_> = points.iter().map(|s| s.links[0].rate.as_bps()).collect();
    assert_eq!(rates, [12_032_000, 9_024_000]);
}

#[test]
fn a_trace_can_be_parsed_alone() {
    assert_eq!(parse_trace(b"1\n2\n").expect("good").times()[..], [1, 2]);
    assert!(parse_trace(b"2\n1\n").is_err());
}

/// A trace of delays becomes events of both directions, from a file or in place.
#[test]
fn delays_by_trace_become_events() {
    let folder = folder("delays");
    std::fs::write(folder.join("leo.csv"), "0, 12 ms\n15,22 ms\r\n 30, 9 ms\n").expect("written");
    let delayed = |delay: &str| {
        let text = text("\"10 Mbps\"").replace("delay = \"1 ms\"", &format!("delay = {delay}"));
        let text = text.replace("duration = \"10 s\"", "duration = \"20 s\"");
        assert!(text.contains(delay) && text.contains("20 s"), "{text}");
        let path = folder.join("s.toml");
        std::fs::write(&path, text).expect("it can be written");
        let read = File::open(&path).expect("it is TOML").points(&CATALOGUE, None);
        read.map(|mut all| all.remove(0)).map_err(|e| e.to_string())
    };
    let s = delayed("{ steps = \"leo.csv\" }").expect("it is good");
    assert_eq!(s.links[0].delay, Duration::from_ms(12));
    let (at, delay) = (Time::ZERO + Duration::from_secs(15), Duration::from_ms(22));
    let found: Vec<_> = s.events.iter().map(|e| (e.at, e.change.clone())).collect();
    assert_eq!(found, [0, 1].map(|link| (at, Change::Delay(link, delay))));
    let place = delayed("{ steps = [\"0, 12 ms\", \"15, 22 ms\"] }").expect("it is good");
    assert_eq!(s, place);
    let again = File::parse("printed.toml", &print(&s)).expect("it is TOML");
    assert_eq!(again.points(&CATALOGUE, None).expect("it is good")[0], s);
    for (lines, expected) in [
        ("[\"0, 12 ms\", \"15, 22 ms\", \"14, 9 ms\"]", "14 s does not come after 15 s"),
        ("[\"1, 12 ms\"]", "the first step is at 1 s, not at 0"),
        ("[\"0, 12 Mbps\"]", "expected seconds and a delay such as \"12.5, 40 ms\""),
        ("[\"0, -1 ms\"]", "expected seconds and a delay"),
        ("[\"0, 99999 h\"]", "expected seconds and a delay"),
        ("[]", "the list has no steps"),
        ("[5]", "expected the name of a file, or a list of lines"),
    ] {
        let said = delayed(&format!("{{ steps = {lines} }}")).expect_err(lines);
        assert!(said.contains(expected), "{lines}: {said}");
    }
    // A file has the line, and a list the place of the entry.
    std::fs::write(folder.join("leo.csv"), "0, 12 ms\n15, 22 ms\n14, 9 ms\n").expect("written");
    let said = delayed("{ steps = \"leo.csv\" }").expect_err("it goes back in time");
    assert!(said.contains("\"leo.csv\" line 3: 14 s does not come after 15 s"), "{said}");
    assert!(said.contains("each later than the one before"), "{said}");
}
