//! The command line.

use accord_scenario::Engine;
use clap::{Args as Group, Parser, Subcommand};
use std::path::PathBuf;

/// Closed-loop congestion control: one scenario, computed in theory and run packet by packet,
/// compared.
#[derive(Parser)]
#[command(version, max_term_width = 100)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Runs a scenario, compares its engines and checks what it expects.
    Run(Run),
    /// Checks a scenario without running it.
    Check(Check),
    /// Compares run directories, or the engines of one; the first is the reference.
    Compare(Compare),
    /// Reproduces experiments of the literature.
    Reproduce(Reproduce),
    /// Prints the JSON Schema of the scenario language, for editors.
    Schema,
    /// Measures the packet engine: packet-hops per CPU-second.
    Bench(Bench),
}

#[derive(Group)]
pub struct Run {
    /// The scenario: a file, or the id of one that comes with the program.
    pub scenario: String,
    #[command(flatten)]
    pub how: How,
    /// Where the results go; by default runs/<id>.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Writes the series as CSV, too.
    #[arg(long)]
    pub csv: bool,
}

/// How to run, for all commands that do.
#[derive(Group, Clone)]
pub struct How {
    /// Engines to run, separated by commas.
    #[arg(short, long, value_delimiter = ',', default_value = "theory,packet")]
    pub engine: Vec<Engine>,
    /// The seed, in place of the scenario's.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Runs with this many seeds, from the seed up, and shows means with 95 % confidence.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub reps: u64,
    /// Sets a value of the scenario, such as link.bottleneck.rate="5 Mbps".
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Prints JSON in place of tables.
    #[arg(long)]
    pub json: bool,
    /// No progress, no hints; only the result.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Group)]
pub struct Check {
    /// The scenario: a file, or the id of one that comes with the program.
    pub scenario: String,
    /// Sets a value of the scenario, such as link.bottleneck.rate="5 Mbps".
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The seed, in place of the scenario's.
    #[arg(long)]
    pub seed: Option<u64>,
    /// Prints the scenario with every default filled in.
    #[arg(long)]
    pub print: bool,
}

#[derive(Group)]
pub struct Compare {
    /// Run directories.
    #[arg(required = true, value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    /// Prints JSON in place of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Group)]
pub struct Reproduce {
    /// Ids of experiments.
    #[arg(required_unless_present_any = ["all", "list"])]
    pub id: Vec<String>,
    /// All of them.
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Lists them.
    #[arg(long, conflicts_with_all = ["id", "all"])]
    pub list: bool,
    #[command(flatten)]
    pub how: How,
    /// Where the results go: a directory for each experiment, in this one.
    #[arg(short, long, value_name = "DIR", default_value = "runs")]
    pub output: PathBuf,
}

#[derive(Group)]
pub struct Bench {
    /// The work; all of them if none is named.
    pub name: Option<String>,
    /// Prints JSON in place of a table.
    #[arg(long)]
    pub json: bool,
}
