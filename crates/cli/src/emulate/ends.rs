//! The ends of an emulation, as the options name them.

use super::{Args, WAYS};
use crate::fail::Failure;
use accord::live::{End, Way};
use std::ffi::OsString;
use std::fs::Metadata;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Returns the ends: that of the command, the far one, and others.
pub fn of(args: &Args) -> Result<Vec<End>, Failure> {
    let usual = usual(args);
    let shell = |line: &String| ["sh", "-c", line].map(OsString::from).to_vec();
    let first = args.from.as_deref().unwrap_or(usual[0]);
    let mut ends = vec![End {
        name: first.into(),
        line: (!args.line.is_empty()).then(|| args.line.clone()),
        join: None,
    }];
    let joins = args.join.iter().map(|join| match join.split_once('=') {
        Some((node, namespace)) => (Some(node), namespace),
        None => (None, join.as_str()),
    });
    let joins: Vec<_> = joins.collect();
    let in_order: Vec<_> = joins.iter().filter(|(node, _)| node.is_none()).collect();
    if in_order.len() > 2 {
        return Err(Failure::new("--join names three namespaces without their nodes").hint(
            "--join CLIENT,SERVER for the ends of the command and of the server, --join NODE=NAMESPACE for others",
        ));
    }
    let named = || args.at.chunks(2).map(|pair| &pair[0]);
    let only_named = named().next().is_some() || joins.iter().any(|(node, _)| node.is_some());
    if args.server.is_some() || args.to.is_some() || in_order.len() == 2 || !only_named {
        let name = args.to.as_deref().unwrap_or(usual[1]).into();
        ends.push(End { name, line: args.server.as_ref().map(shell), join: None });
    }
    for pair in args.at.chunks(2) {
        let end = at(&mut ends, &pair[0]);
        if end.line.replace(shell(&pair[1])).is_some() {
            let why = format!("two programs are at the node {}", pair[0]);
            return Err(Failure::new(why).hint("one line of a shell can start both: \"a & b\""));
        }
    }
    let mut places = 0..;
    for (node, namespace) in &joins {
        let end = match node {
            Some(node) => at(&mut ends, node),
            None => {
                let place = places.next().unwrap_or_default();
                &mut ends[place]
            }
        };
        end.join = Some(path(namespace)?);
    }
    if ends.len() < 2 {
        let why = format!("the node {first} is the only end");
        return Err(Failure::new(why).hint("--to NODE, --server LINE or --at NODE LINE"));
    }
    let is_twice = |n: &usize| ends[..*n].iter().any(|other| other.name == ends[*n].name);
    if let Some(n) = (1..ends.len()).find(is_twice) {
        let why = format!("two ends are at the node {}", ends[n].name);
        return Err(Failure::new(why).hint("--from and --to name different nodes"));
    }
    Ok(ends)
}

/// The nodes of the command and of the far end, unless options name others.
pub fn usual(args: &Args) -> [&'static str; 2] {
    if args.scenario.is_none() { ["client", "server"] } else { ["left", "right"] }
}

/// Returns the end at a node, which may be a new one.
fn at<'a>(ends: &'a mut Vec<End>, node: &str) -> &'a mut End {
    let place = ends.iter().position(|end| end.name == node).unwrap_or_else(|| {
        ends.push(End { name: node.into(), ..End::default() });
        ends.len() - 1
    });
    &mut ends[place]
}

/// Returns the ways between all ends, without their flows, and the names of these.
pub fn ways(ends: &[End]) -> Vec<(String, Way)> {
    let pairs = (0..ends.len()).flat_map(|from| (0..ends.len()).map(move |to| (from, to)));
    let pairs = pairs.filter(|(from, to)| from != to);
    let name = |from: usize, to: usize| match ends.len() {
        2 => WAYS[from].into(),
        _ => format!("{}-to-{}", ends[from].name, ends[to].name),
    };
    pairs.map(|(from, to)| (name(from, to), Way { from, to, flows: Vec::new() })).collect()
}

/// Returns the path of a namespace that is joined.
fn path(name: &str) -> Result<PathBuf, Failure> {
    let wrong = |why: String| {
        let hint = "--join NAME of `ip netns`, --join PID, or --join /proc/PID/ns/net";
        Err(Failure::new(why).hint(hint))
    };
    if name.is_empty() {
        return wrong("--join has no name of a namespace".into());
    }
    let path = match name.parse::<u32>() {
        Ok(process) => format!("/proc/{process}/ns/net").into(),
        Err(_) if name.contains('/') => PathBuf::from(name),
        Err(_) => Path::new("/run/netns").join(name),
    };
    match path.metadata() {
        Ok(file) if !is_namespace(&file) => {
            wrong(format!("--join {}: that is not a namespace", path.display()))
        }
        Ok(_) => Ok(path),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            wrong(format!("the namespace {} does not exist", path.display()))
        }
        Err(e) => Err(Failure::io(format!("the namespace {}: {e}", path.display()), &e)),
    }
}

/// Returns true if a file is on the file system of namespaces.
fn is_namespace(file: &Metadata) -> bool {
    #[cfg(unix)]
    let is = Path::new("/proc/self/ns/net").metadata().is_ok_and(|own| {
        std::os::unix::fs::MetadataExt::dev(&own) == std::os::unix::fs::MetadataExt::dev(file)
    });
    #[cfg(not(unix))]
    let is = file.is_file();
    is
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: Args,
    }

    fn named(words: &[&str]) -> Result<Vec<(String, bool, bool)>, String> {
        let line = Line::try_parse_from(["emulate"].iter().chain(words));
        let line = line.map_err(|e| e.to_string())?;
        let ends = of(&line.args).map_err(|e| match e {
            Failure::Other { message, .. } | Failure::Unable(message) => message,
            _ => "another failure".into(),
        })?;
        Ok(ends.into_iter().map(|e| (e.name, e.line.is_some(), e.join.is_some())).collect())
    }

    #[test]
    fn options_name_the_ends() {
        let end = |name: &str, line, join| (name.to_string(), line, join);
        let own = "/proc/self/ns/net";
        let (both, second) = (format!("{own},{own}"), format!("b={own}"));
        for (words, ends) in [
            (&["--", "c"][..], vec![end("client", true, false), end("server", false, false)]),
            (&["p.toml", "--", "c"], vec![end("left", true, false), end("right", false, false)]),
            (
                &["p.toml", "--from", "x", "--at", "a", "s", "--at", "b", "t", "--", "c"],
                vec![end("x", true, false), end("a", true, false), end("b", true, false)],
            ),
            (
                &["p.toml", "--at", "a", "s", "--to", "b", "--", "c"],
                vec![end("left", true, false), end("b", false, false), end("a", true, false)],
            ),
            (
                &["p.toml", "--join", &both],
                vec![end("left", false, true), end("right", false, true)],
            ),
            (
                &["p.toml", "--join", &second, "--join", own, "--server", "s"],
                vec![end("left", false, true), end("right", true, false), end("b", false, true)],
            ),
        ] {
            assert_eq!(named(words), Ok(ends), "{words:?}");
        }
        for (words, what) in [
            (&["--at", "a", "s", "--at", "a", "t", "--", "c"][..], "two programs"),
            (&["--join", own, "--join", own, "--join", own], "three namespaces"),
            (&["--join", "client=/proc/self/ns/net"], "only end"),
            (&["--join", "/etc/passwd", "--", "c"], "/etc/passwd: that is not a namespace"),
            (&["--join", "/etc", "--", "c"], "is not a namespace"),
            (&["p.toml", "--from", "a", "--to", "a", "--", "c"], "two ends"),
        ] {
            let why = named(words).expect_err("it is wrong");
            assert!(why.contains(what), "{words:?}: {why}");
        }
        let ends: Vec<_> =
            ["a", "b", "c"].map(|name| End { name: name.into(), ..End::default() }).into();
        let names: Vec<_> = ways(&ends).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a-to-b", "a-to-c", "b-to-a", "b-to-c", "c-to-a", "c-to-b"]);
    }
}
