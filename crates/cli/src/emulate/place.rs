//! The options of an emulation that an error is about. The path and the flows of the programs are texts that the
//! program makes from options, and people do not know these texts.

use super::{Args, ends};
use crate::fail::Failure;
use crate::option;
use accord::form::TextError;

/// The name of the text of the path in errors.
pub const PATH: &str = "path.toml";
/// The beginning of the message about a node that does not exist.
const NODE: &str = "there is no node \"";

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
const FLOW: &str = "kernel = \"cubic\", packet = ";

fn of_flow(error: &TextError, args: &Args) -> Option<(&'static str, String)> {
    if let Some(node) = node(error) {
        let at = args.at.chunks(2).find(|pair| pair[0] == node);
        let join = args.join.iter().find(|join| join.split('=').next() == Some(node));
        let from = args.from.as_ref().filter(|from| *from == node).map(|_| "--from");
        let to = args.to.as_ref().filter(|to| *to == node).map(|_| "--to");
        return (from.or(to).map(|option| (option, node.into())))
            .or_else(|| at.map(|pair| ("--at", pair.join(" "))))
            .or_else(|| join.map(|join| ("--join", join.clone())));
    }
    let like = args.like.as_ref().filter(|_| error.message.contains("controller"));
    like.map(|like| ("--like", like.clone()))
}

/// Returns the node that does not exist, if an error is about one.
fn node(error: &TextError) -> Option<&str> {
    error.message.strip_prefix(NODE)?.split('"').next()
}

/// Returns the failure of an end that no option names: its default is not a node of the scenario.
fn without_end(error: &TextError, args: &Args) -> Option<Failure> {
    let node = node(error).filter(|_| is_of_flows(error) && named(error, args).is_none())?;
    let [option, of] = match ends::usual(args).iter().position(|name| *name == node)? {
        0 => ["--from", "command"],
        _ => ["--to", "server"],
    };
    let scenario = args.scenario.as_deref().unwrap_or("the path");
    let why =
        format!("{scenario} has no node \"{node}\", which is the end of the {of} without {option}");
    let known = error.hint.as_ref().map_or(String::new(), |hint| format!("; {hint}"));
    Some(Failure::new(why).hint(format!("--from NODE and --to NODE name the ends{known}")))
}
