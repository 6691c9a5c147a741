//! The command lines of mahimahi's shells: `mm-delay`, `mm-loss` and `mm-link`, one in the other.
//!
//! Each shell is a link, the command's first. A shell that only delays or loses packets has a rate at which none
//! waits.

use crate::fail::{Failure, unreadable};
use crate::output::note;
use accord::draft::quote;
use accord::files::read_text;
use std::ffi::OsString;
use std::path::{Component, Path};

/// The rate of a shell that has none.
const FAST: &str = "100 Gbps";
/// The period in which mahimahi's PIE computes its probability.
const PERIOD: &str = "30 ms";

/// The shells that are supported.
const SHELLS: [&str; 3] = ["mm-delay", "mm-loss", "mm-link"];

/// The options that give a path, as shells do.
const PATH: [&str; 4] = ["--rate", "--delay", "--queue", "--loss"];
/// The option that asks for help, in place of a command.
const HELP: &str = "help";

/// A direction of a shell.
#[derive(Clone, Debug, Default, PartialEq)]
struct Way {
    trace: Option<String>,
    loss: String,
    queue: String,
    arguments: String,
}

/// A shell.
#[derive(Clone, Debug, PartialEq)]
struct Shell {
    /// The word of the shell without `mm-`.
    kind: String,
    delay_ms: u64,
    /// From the command, and back to it.
    ways: [Way; 2],
    /// Options that have no effect here.
    ignored: Vec<String>,
}

/// Moves the words of mahimahi's shells, and the command that follows them, to where `accord emulate`
/// expects them.
pub fn rewritten(arguments: Vec<OsString>) -> Result<Vec<OsString>, Failure> {
    let is_emulate = arguments.get(1).is_some_and(|word| word == "emulate");
    let before = arguments.iter().take_while(|word| *word != "--");
    let first = before.skip(2).position(|word| is_shell(word.to_str())).map(|at| at + 2);
    let Some(first) = first.filter(|_| is_emulate) else {
        let path = arguments.get(2).and_then(|word| word.to_str()).filter(|_| is_emulate);
        return path.map_or(Ok(()), unsupported).map(|()| arguments);
    };
    let words: Vec<&str> = arguments[first..].iter().map_while(|word| word.to_str()).collect();
    let (_, used) = shells(&words)?;
    let (options, rest) = arguments.split_at(first);
    let (words, command) = rest.split_at(used);
    if command.first().and_then(|word| word.to_str()?.strip_prefix("--")) == Some(HELP) {
        return Ok(options.iter().cloned().chain([command[0].clone()]).collect());
    }
    let is_option = |word: &&str| word.starts_with('-') && *word != "--";
    if let Some(word) = command.first().and_then(|word| word.to_str()).filter(is_option) {
        let failure = Failure::new(format!("{word} stands behind the shells of mahimahi"));
        return Err(failure.hint(
            "options come first, and the command last: accord emulate -q mm-delay 20 -- COMMAND",
        ));
    }
    let name = |word: &OsString| Some(word.to_str()?.split('=').next()?.to_string());
    let twice = options.iter().filter_map(name).find(|name| PATH.contains(&name.as_str()));
    if let Some(option) = twice {
        let shell = words[0].display();
        let failure = Failure::new(format!("{option} and {shell} both give the path"));
        return Err(failure.hint("one shell in the other has both: mm-delay 20 mm-link UP DOWN"));
    }
    let command = match command {
        [dashes, rest @ ..] if dashes == "--" => rest,
        all => all,
    };
    let shell = || vec![std::env::var_os("SHELL").unwrap_or("sh".into())];
    let command = if command.is_empty() { shell() } else { command.to_vec() };
    let words = words.iter().flat_map(|word| ["--shell".into(), word.clone()]);
    Ok(options.iter().cloned().chain(words).chain(["--".into()]).chain(command).collect())
}

/// Refuses a shell of mahimahi that is none of those here.
fn unsupported(word: &str) -> Result<(), Failure> {
    if !word.starts_with("mm-") || Path::new(word).exists() {
        return Ok(());
    }
    let failure = Failure::new(format!("{word} of mahimahi is not supported"));
    Err(failure.hint(format!("these shells are: {}", SHELLS.join(", "))))
}

fn is_shell(word: Option<&str>) -> bool {
    SHELLS.map(Some).contains(&word)
}

/// Returns the scenario that shells stand for.
pub fn scenario(words: &[String], duration: &str, sample: &str) -> Result<String, Failure> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let (shells, _) = shells(&words)?;
    let mut text = format!(
        "id = \"emulate\"\ntitle = {}\nduration = \"{duration}\"\nsample = \"{sample}\"\n",
        quote(&words.join(" "))
    );
    let last = shells.len() - 1;
    for (n, shell) in shells.iter().rev().enumerate() {
        let node = |n: usize| match n {
            0 => "client".into(),
            n if n > last => "server".into(),
            n => format!("shell{n}"),
        };
        let [up, down] = [&shell.ways[0], &shell.ways[1]];
        text += &format!(
            "\n[link.{}{}]\nfrom = \"{}\"\nto = \"{}\"\ndelay = \"{} ms\"\n{}",
            shell.kind,
            if last == 0 { String::new() } else { (last - n + 1).to_string() },
            node(n),
            node(n + 1),
            shell.delay_ms,
            up.keys()?.join("\n"),
        );
        text += &format!("\nreverse = {{ {} }}\n", down.keys()?.join(", "));
        if !shell.ignored.is_empty() {
            let (kind, what) = (&shell.kind, shell.ignored.join(", "));
            note(format!("mm-{kind}: {what} has no effect: the run and --pcap have all of it"));
        }
    }
    Ok(text)
}

impl Way {
    /// Returns the keys of the link in this direction.
    fn keys(&self) -> Result<Vec<String>, Failure> {
        let mut keys = match &self.trace {
            Some(path) => vec![format!("rate = {{ trace = {} }}", trace(path)?)],
            None => vec![format!("rate = \"{FAST}\"")],
        };
        let loss = if self.loss.is_empty() { "0" } else { &self.loss };
        keys.push(format!("loss = {loss}"));
        keys.push(format!("queue = {}", queue(&self.queue, &self.arguments)?));
        Ok(keys)
    }
}

/// The largest trace that is read, in bytes.
const LARGEST_TRACE: u64 = 1 << 26;

/// Returns the value of a trace: its name, or its times if it is elsewhere.
fn trace(path: &str) -> Result<String, Failure> {
    let inside = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
    let file = Path::new(path);
    if file.components().all(inside) {
        return Ok(quote(path));
    }
    let text = read_text(file, LARGEST_TRACE).map_err(unreadable(file))?;
    Ok(format!("[{}]", text.split_whitespace().collect::<Vec<_>>().join(", ")))
}

/// Returns the table of a queue with mahimahi's arguments.
fn queue(kind: &str, arguments: &str) -> Result<String, Failure> {
    let wrong = |what: String, hint: &str| Err(Failure::new(what).hint(hint));
    let mut numbers = Vec::new();
    for part in arguments.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let number =
            part.split_once('=').and_then(|(k, v)| Some((k.trim(), v.trim().parse().ok()?)));
        let Some((key, number)) = number else {
            return wrong(
                format!("\"{part}\" is not an argument of a queue"),
                "NAME=NUMBER with the names packets, bytes, target, interval, qdelay_ref and max_burst",
            );
        };
        numbers.push((key, number));
    }
    let number = |name: &str| -> Option<u64> {
        numbers.iter().find(|(key, number)| *key == name && *number > 0).map(|(_, number)| *number)
    };
    let ms = |name: &str| number(name).map(|number| format!("\"{number} ms\""));
    let of_both = |a: &str, b: &str| match (ms(a), ms(b)) {
        (Some(a), Some(b)) => Ok((a, b)),
        _ => Err(Failure::new(format!("a queue {kind} needs {a} and {b}"))
            .hint("as mahimahi does: --uplink-queue-args=\"packets=100, ...\", in milliseconds")),
    };
    let limit = match (number("packets"), number("bytes")) {
        (Some(packets), None) => Some(format!("\"{packets} pkt\"")),
        (None, Some(bytes)) => Some(format!("\"{bytes} B\"")),
        (None, None) => None,
        (Some(_), Some(_)) => {
            return wrong("a queue with two limits is not supported".into(), "packets or bytes");
        }
    };
    let limited = |more: &str| match &limit {
        Some(limit) => Ok(format!("{{ discipline = \"{kind}\", limit = {limit}{more} }}")),
        None => wrong(format!("a queue {kind} needs a limit"), "packets=NUMBER or bytes=NUMBER"),
    };
    match kind {
        "" | "infinite" => Ok("{ discipline = \"droptail\", limit = \"unlimited\" }".into()),
        "droptail" => limited(""),
        "codel" => {
            let (target, interval) = of_both("target", "interval")?;
            limited(&format!(", target = {target}, interval = {interval}, ecn = false"))
        }
        "pie" => {
            let (target, burst) = of_both("qdelay_ref", "max_burst")?;
            limited(&format!(
                ", target = {target}, max_burst = {burst}, period = \"{PERIOD}\", ecn = false"
            ))
        }
        _ => wrong(
            format!("unknown queue {kind}"),
            "the queues are infinite, droptail, codel and pie",
        ),
    }
}

/// Parses shells up to the command. Returns them, the outermost first, and the number of their words.
fn shells(words: &[&str]) -> Result<(Vec<Shell>, usize), Failure> {
    let mut shells = Vec::new();
    let mut at = 0;
    while is_shell(words.get(at).copied()) {
        let word = words[at];
        let rest = &words[at + 1..];
        let wrong = |usage: &str| Failure::new(format!("{word}: wrong arguments")).hint(usage);
        let mut shell = Shell {
            kind: word.trim_start_matches("mm-").into(),
            delay_ms: 0,
            ways: Default::default(),
            ignored: Vec::new(),
        };
        at += 1;
        match (word, rest) {
            ("mm-delay", [delay, ..]) => {
                let usage = |_| wrong("mm-delay MILLISECONDS [COMMAND...]");
                shell.delay_ms = delay.parse().map_err(usage)?;
                at += 1;
            }
            ("mm-loss", [way @ ("uplink" | "downlink"), loss, ..])
                if loss.parse().is_ok_and(|loss: f64| (0.0..=1.0).contains(&loss)) =>
            {
                shell.ways[usize::from(*way == "downlink")].loss = loss.to_string();
                at += 2;
            }
            ("mm-link", rest) => {
                let usage = "mm-link UPLINK-TRACE DOWNLINK-TRACE [OPTION]... [COMMAND]";
                at += link(rest, &mut shell)?.ok_or_else(|| wrong(usage))?;
            }
            ("mm-loss", _) => {
                return Err(wrong("mm-loss uplink|downlink RATE [COMMAND...], a rate from 0 to 1"));
            }
            _ => return Err(wrong("mm-delay MILLISECONDS [COMMAND...]")),
        }
        shells.push(shell);
    }
    Ok((shells, at))
}

/// Parses the arguments of `mm-link`. Returns the number of their words, or `None` if a trace is missing.
fn link(words: &[&str], shell: &mut Shell) -> Result<Option<usize>, Failure> {
    let (mut traces, mut at) = (0, 0);
    while let Some(word) = words.get(at).filter(|word| **word != "--") {
        at += 1;
        let Some(option) = word.strip_prefix("--") else {
            // Options may follow the traces, and then the command begins.
            if traces == 2 {
                return Ok(Some(at - 1));
            }
            shell.ways[traces].trace = Some(word.to_string());
            traces += 1;
            continue;
        };
        let (name, value) = match option.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (option, None),
        };
        if name == HELP {
            return Ok(Some(at - 1));
        }
        if name.starts_with("meter-") {
            shell.ignored.push(format!("--{name}"));
            continue;
        }
        let (way, what) = match name.split_once('-') {
            Some(("uplink", what @ ("queue" | "queue-args" | "log"))) => (0, what),
            Some(("downlink", what @ ("queue" | "queue-args" | "log"))) => (1, what),
            _ => {
                let hint = "--uplink-queue, --downlink-queue, --uplink-queue-args, --downlink-queue-args; \
                            logs and meters have no effect, and a trace is always repeated";
                return Err(Failure::new(format!("mm-link: unknown option --{name}")).hint(hint));
            }
        };
        let value = match (value, words.get(at)) {
            (Some(value), _) => value,
            (None, Some(value)) => {
                at += 1;
                value
            }
            (None, None) => return Ok(None),
        };
        match what {
            "queue" => shell.ways[way].queue = value.into(),
            "queue-args" => shell.ways[way].arguments = value.into(),
            _ => shell.ignored.push(format!("--{name}")),
        }
    }
    Ok((traces == 2).then_some(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn words_of_shells_end_where_the_command_begins() {
        for (line, expected) in [
            (
                "accord emulate mm-delay 20 ping -c 1 x",
                "accord emulate --shell mm-delay --shell 20 -- ping -c 1 x",
            ),
            (
                "accord emulate -q mm-loss uplink 0.1 mm-delay 5 -- mm-link a b",
                "accord emulate -q --shell mm-loss --shell uplink --shell 0.1 --shell mm-delay --shell 5 -- mm-link a b",
            ),
            (
                "accord emulate mm-link a b --uplink-queue=droptail --uplink-queue-args packets=9 cat --x",
                "accord emulate --shell mm-link --shell a --shell b --shell --uplink-queue=droptail \
                 --shell --uplink-queue-args --shell packets=9 -- cat --x",
            ),
            ("accord emulate a.toml -- mm-delay 3", "accord emulate a.toml -- mm-delay 3"),
            ("accord run mm-delay", "accord run mm-delay"),
            ("accord emulate mm-link a b --help", "accord emulate --help"),
        ] {
            let found = rewritten(split(line)).unwrap_or_default();
            assert_eq!(found, split(expected), "{line}");
        }
    }

    #[test]
    fn wrong_words_are_refused() {
        for line in [
            "mm-delay",
            "mm-delay fast",
            "mm-loss sideways 0.1",
            "mm-loss uplink 2",
            "mm-link a",
            "mm-link a b --once",
            "mm-link a b --uplink-queue",
        ] {
            assert!(rewritten(split(&format!("accord emulate {line}"))).is_err(), "{line}");
        }
        for (line, what) in [
            ("mm-delay 20 --print", "--print stands behind"),
            ("--rate=9Mbps mm-delay 20 -- x", "--rate and mm-delay both"),
        ] {
            match rewritten(split(&format!("accord emulate {line}"))) {
                Err(Failure::Other { message, hint: Some(_) }) => {
                    assert!(message.contains(what), "{message}");
                }
                _ => panic!("{line} is not refused"),
            }
        }
    }

    #[test]
    fn queues_have_mahimahi_s_arguments() {
        let of = |kind, arguments| queue(kind, arguments).unwrap_or_default();
        assert_eq!(of("infinite", ""), "{ discipline = \"droptail\", limit = \"unlimited\" }");
        assert_eq!(
            of("droptail", "bytes=3000"),
            "{ discipline = \"droptail\", limit = \"3000 B\" }"
        );
        assert_eq!(
            of("codel", "packets=100, target=5,interval=100"),
            "{ discipline = \"codel\", limit = \"100 pkt\", target = \"5 ms\", interval = \"100 ms\", ecn = false }"
        );
        for (kind, arguments) in [
            ("droptail", ""),
            ("droptail", "packets=1,bytes=1"),
            ("pie", "packets=9"),
            ("drophead", "packets=9"),
        ] {
            assert_eq!(of(kind, arguments), "", "{kind} {arguments}");
        }
    }
}
