//! The options of `accord attack`.

use crate::names;
use accord::scenario::Engine;
use clap::Args as Group;
use std::path::PathBuf;

#[derive(Group)]
pub struct Args {
    /// The scenario: a file, or the id of one that comes with the program. Of a sweep, only
    /// the first point is searched.
    #[arg(value_parser = names::SCENARIOS, hide_possible_values = true)]
    pub scenario: String,
    /// The property: METRIC [of ENTITY] >, >=, < or <= VALUE, such as "queuing_delay < 50 ms".
    #[arg(short, long)]
    pub property: String,
    /// A range to search, such as link.bottleneck.delay="1 ms..200 ms". May be repeated; by default
    /// the rates and delays of links from a quarter to four times their values, and the start times of
    /// flows up to half of the run.
    #[arg(long, value_name = "PATH=FROM..TO")]
    pub vary: Vec<String>,
    /// Sets a value of the scenario, such as link.bottleneck.rate="5 Mbps".
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The engine.
    #[arg(short, long, default_value = "packet", value_parser = names::engine(), hide_possible_values = true)]
    pub engine: Engine,
    /// The number of runs of the search.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(2..=1_000_000))]
    pub runs: u64,
    /// The seed of the search. The scenario keeps its own.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The file for the scenario that breaks the property; by default attack-ID.toml.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Ignores the results of an interrupted search with the same output.
    #[arg(long)]
    pub fresh: bool,
    /// Prints only the result, without progress.
    #[arg(short, long)]
    pub quiet: bool,
}
