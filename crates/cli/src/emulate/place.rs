//! The options of an emulation that an error is about. The path and the flows of the programs are texts that the
//! program makes from options, and people do not know these texts.

use super::{Args, ends};
use crate::fail::Failure;
use crate::option;
use accord::form::TextError;

/// The name of the text of the path in errors.
pub const PATH: &str = "path.toml";

/// Returns the failure with the options in place of the texts made from them.
pub fn of(failure: Failure, args: &Args) -> Failure {
    let Failure::Scenario(errors) = failure else { return failure };
    if let Some(failure) = errors.iter().find_map(|e| without_end(e, args)) {
        return failure;
    }
    let known = |e: TextError| match named(&e, args) {
        Some((option, value)) => option::at(option, &value, &e),
        None => e,
    };
    Failure::Scenario(errors.map(known).first_per_place())
}

/// Returns the option that an error is about, and its value.
fn named(error: &TextError, args: &Args) -> Option<(&'static str, String)> {
    if is_of_flows(error) {
        return of_flow(error, args);
    }
    if error.origin.name != PATH {
        return None;
    }
    if !args.shell.is_empty() {
        return Some(("mahimahi", args.shell.join(" ")));
    }
    let before = &error.origin.text[..error.span.end];
    let line = before.rsplit('\n').next().unwrap_or_default();
    // The line of the way back has both keys.
    let key = [" queue =", " loss ="].into_iter().find(|key| line.contains(key));
    match key.unwrap_or(line).split_whitespace().next()? {
        "queue" => Some(("--queue", args.queue.clone())),
        "loss" => Some(("--loss", args.loss.clone())),
        "rate" => Some(("--rate", args.rate?.to_string())),
        "delay" => Some(("--delay", args.delay.to_string())),
        _ => None,
    }
}

/// Returns true if an error is in the flows that stand for the programs.
fn is_of_flows(error: &TextError) -> bool {
    error.origin.name == "--set" && error.origin.text.contains(FLOW)
}

/// The part of the text of a flow that no setting of a user has.
const FLOW: &str = " B\", count = ";

fn of_flow(error: &TextError, args: &Args) -> Option<(&'static str, String)> {
    let is_there = |node: &str| is_about(error, node);
    let end = |end: &Option<String>, option| {
        end.clone().filter(|node| is_there(node)).map(|node| (option, node))
    };
    let at = || args.at.chunks(2).find(|pair| is_there(&pair[0]));
    let join = || args.join.iter().find(|join| join.split('=').next().is_some_and(is_there));
    end(&args.from, "--from")
        .or_else(|| end(&args.to, "--to"))
        .or_else(|| at().map(|pair| ("--at", pair.join(" "))))
        .or_else(|| join().map(|join| ("--join", join.clone())))
        .or_else(|| {
            let like = args.like.as_ref().filter(|_| error.message.contains("controller"))?;
            Some(("--like", like.clone()))
        })
}

/// Returns true if an error is that this node does not exist.
fn is_about(error: &TextError, node: &str) -> bool {
    error.unknown.as_deref() == Some(node)
}

/// Returns the failure of an end that no option names: its default is not a node of the scenario.
fn without_end(error: &TextError, args: &Args) -> Option<Failure> {
    if !is_of_flows(error) || named(error, args).is_some() {
        return None;
    }
    let usual = ends::usual(args);
    let end = usual.iter().position(|node| is_about(error, node))?;
    let [option, of] = [["--from", "command"], ["--to", "server"]][end];
    let (node, scenario) = (usual[end], args.scenario.as_deref().unwrap_or("the path"));
    let why =
        format!("{scenario} has no node \"{node}\", which is the end of the {of} without {option}");
    let known = error.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
    Some(Failure::new(why).hint(format!("--from NODE and --to NODE name the ends{known}")))
}
