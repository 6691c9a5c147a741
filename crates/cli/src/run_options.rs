//! The options of all commands that run scenarios.

use crate::names;
use crate::qlogs::QlogVersion;
use accord::form::Errors;
use accord::live::Mode;
use accord::scenario::{Engine, Metric, Scenario};
use accord::units::Bytes;
use accord::{Catalogue, File, Options};
use clap::Args as Group;
use std::path::PathBuf;

/// The options of all commands that run scenarios.
#[derive(Group, Clone, Default)]
pub struct RunOptions {
    /// The engines to run, separated by commas; by default theory, packet and those with expectations
    /// in the scenario, if this machine can run them.
    #[arg(short, long, value_delimiter = ',', value_parser = names::engine(), hide_possible_values = true)]
    pub engine: Vec<Engine>,
    /// The medium of a live run: loopback or namespaces; by default namespaces where they are
    /// allowed.
    #[arg(long, value_name = "MODE")]
    pub live: Option<Mode>,
    /// The seed, instead of the scenario's.
    #[arg(long, value_parser = seed, allow_negative_numbers = true)]
    pub seed: Option<u64>,
    /// Runs this number of seeds, from the first one up, and shows means with 95 % confidence intervals.
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub reps: u64,
    /// Sets a value of the scenario, such as link.bottleneck.rate="5 Mbps".
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Runs only one point of a sweep, given by its number from 1 or by its settings: --point 3,
    /// --point "law=xia05, packet=250 B". May be repeated.
    #[arg(long, value_name = "POINT")]
    pub point: Vec<String>,
    /// The quantities in the overview of a sweep, separated by commas, instead of the key values;
    /// `accord list metrics` lists them.
    #[arg(long, value_name = "METRIC", value_delimiter = ',', value_parser = quantity)]
    pub show: Vec<Metric>,
    /// Prints the tables of each point of a sweep in addition to the overview.
    #[arg(long)]
    pub details: bool,
    /// Keeps the samples of all runs. Without it, a sweep of more than 200 runs keeps only the means
    /// over the steady part, and the samples of its first points.
    #[arg(long)]
    pub series: bool,
    /// Writes every packet that leaves a port to FILE, in pcapng; needs exactly one packet or live
    /// run.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// Writes a log of each stream's sender to DIR, one file per flow, in qlog; needs exactly one
    /// packet or live run.
    #[arg(long, value_name = "DIR")]
    pub qlog: Option<PathBuf>,
    /// The version of qlog: that of the drafts, or 0.3, which qvis reads.
    #[arg(long, value_enum, default_value = "draft", value_name = "VERSION")]
    pub qlog_version: QlogVersion,
    /// Lets the packet engine skip time in which all flows and queues are in equilibrium. Skipped
    /// samples are the means of those before.
    #[arg(long, value_name = "WHAT", value_parser = ["steady"], conflicts_with_all = ["pcap", "qlog", "record"])]
    pub skip: Option<String>,
    /// Ignores the results of an interrupted command and starts from the beginning.
    #[arg(long)]
    pub fresh: bool,
    /// Prints JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Instead of tables, prints ready-to-paste `fails` entries for new or changed failures.
    #[arg(long, conflicts_with_all = ["json", "seed", "reps", "set"])]
    pub record: bool,
    /// The memory limit of the run, such as "8 GB", instead of the memory available. A run with a
    /// higher estimate does not start.
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<Bytes>,
    /// Prints only the result, without progress and hints.
    #[arg(short, long)]
    pub quiet: bool,
}

impl RunOptions {
    /// Returns the points of a file with each seed.
    pub fn repetitions(
        &self,
        file: &File,
        catalogue: &Catalogue,
    ) -> Result<Vec<Vec<Scenario>>, Errors> {
        let mut all = vec![file.points(catalogue, self.seed)?];
        for k in 1..self.reps {
            // After the largest seed comes 0.
            let seed = all[0][0].seed.wrapping_add(k) & LARGEST_SEED;
            all.push(file.points(catalogue, Some(seed))?);
        }
        Ok(all)
    }

    /// Returns the settings of the engines.
    pub fn engine_settings(&self) -> Options {
        Options {
            live: self.live,
            gateway: crate::gateway::program(),
            skip_steady: self.skip.is_some(),
        }
    }
}

/// The largest seed. Integers of a scenario file have a sign, and the directory of a run has the
/// seed in its scenario.
const LARGEST_SEED: u64 = i64::MAX as u64;

/// Parses a seed.
pub fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse::<u64>().ok().filter(|seed| *seed <= LARGEST_SEED);
    seed.ok_or_else(|| format!("expected a whole number from 0 to {LARGEST_SEED}"))
}

/// Parses the name of a metric. The error names the nearest one.
fn quantity(text: &str) -> Result<Metric, String> {
    crate::plot::metric(text).map_err(|_| {
        let known = Metric::known().into_iter().map(Metric::name);
        let hint = accord::form::suggest(text, known);
        let hint = hint.unwrap_or_else(|| "`accord list metrics` lists them".into());
        format!("there is no such metric; {hint}")
    })
}
