//! The commands that make runs of an evaluation again.

use crate::pack::{Case, Pack};
use crate::plan::{Order, placed, settings};
use crate::subject::{COMMAND, Subject};

/// Returns the command that evaluates a case of an order again, with its rivals.
pub fn evaluate_command(pack: &Pack, case: &Case, order: &Order) -> String {
    let rivals: Vec<String> = order.subjects[1..].iter().map(named).collect();
    evaluate(pack, case, &order.subjects[0], &rivals.join(","), order)
}

/// Returns the command that runs a case alone: `accord run`, or `accord evaluate` for a program.
pub fn run_command(pack: &Pack, case: &Case, subject: &Subject, order: &Order) -> String {
    if subject.command().is_some() {
        return evaluate(pack, case, subject, "", order);
    }
    let path = word(&pack.path_of(case));
    let mut command = format!("accord run {path} --engine {}", order.engine.name());
    if let Some(live) = order.live {
        command += &format!(" --live {live}");
    }
    for setting in settings(case, order.tier) {
        command += &format!(" --set {}", quoted(setting));
    }
    for (path, value) in placed(subject, case, pack) {
        command += &format!(" --set {}", quoted(&format!("{path}={value}")));
    }
    command += &format!(" --seed {} --reps {}", order.seed, order.reps);
    command
}

/// Returns the command of an evaluation. Its dossier has a directory of its own, so it replaces no other.
fn evaluate(pack: &Pack, case: &Case, subject: &Subject, rivals: &str, order: &Order) -> String {
    let mut command = format!(
        "accord evaluate --pack {} --case {} --subject {} --against {} --tier {} --engine {}",
        word(pack.directory.as_deref().unwrap_or(&pack.name)),
        word(&case.name),
        quoted(&named(subject)),
        quoted(rivals),
        order.tier.name(),
        order.engine.name()
    );
    if let Some(live) = order.live {
        command += &format!(" --live {live}");
    }
    if let Some(server) = &order.server {
        command += &format!(" --server {}", quoted(server));
    }
    let directory = word(&format!("runs/{}-{}", pack.name, case.name));
    command + &format!(" --seed {} --reps {} -o {directory}", order.seed, order.reps)
}

/// Returns a subject as the command line names it.
fn named(subject: &Subject) -> String {
    match subject.command() {
        Some(line) => format!("{COMMAND} {line}"),
        None => subject.label.clone(),
    }
}

/// Returns a word of a shell, with quotes if it needs some.
fn word(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.into() } else { quoted(text) }
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
