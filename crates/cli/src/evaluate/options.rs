//! The options of `accord evaluate`.

use crate::names;
use accord::live::Mode;
use accord::scenario::Engine;
use clap::{Args as Group, ValueEnum};
use std::path::PathBuf;

#[derive(Group)]
pub struct Args {
    /// Packs, separated by commas: names from `accord list packs`, or directories; by default all
    /// packs that come with the program for this type of subject.
    #[arg(short, long, value_delimiter = ',', value_name = "PACK", value_parser = names::PACKS, hide_possible_values = true)]
    pub pack: Vec<String>,
    /// The subject of the evaluation: a controller or a queue discipline, with its non-default
    /// parameters: "vegas,alpha=4 pkt". kernel:NAME is a congestion control of the kernel's TCP, and
    /// "command: LINE" is a program of yours that sends to {server}; both run in real time.
    #[arg(short, long, value_name = "NAME[,KEY=VALUE...]", value_parser = names::SUBJECTS, hide_possible_values = true, required_unless_present = "all")]
    pub subject: Option<String>,
    /// Evaluates all controllers and queue disciplines by all packs, on one page without a total score. The
    /// first line says how long it takes.
    #[arg(long, conflicts_with = "subject")]
    pub all: bool,
    /// Runs this shell command at the far end of a subject that is a command. Without it, the far end leads
    /// into the host's network.
    #[arg(long, value_name = "LINE", requires = "subject")]
    pub server: Option<String>,
    /// The rivals, separated by commas; by default those that the packs name.
    #[arg(short, long, value_name = "NAME,...", value_parser = names::SUBJECTS, hide_possible_values = true)]
    pub against: Option<String>,
    /// The engine; by default packet, and live for controllers of the kernel.
    #[arg(short, long, value_name = "ENGINE", value_parser = names::engine(), hide_possible_values = true)]
    pub engine: Option<Engine>,
    /// The medium of a live run: loopback or namespaces; by default namespaces where they are
    /// allowed.
    #[arg(long, value_name = "MODE")]
    pub live: Option<Mode>,
    /// The tier of the packs: a part that takes two minutes on two cores, or everything.
    #[arg(short, long, default_value = "quick")]
    pub tier: TierName,
    /// Runs only these cases, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "CASE")]
    pub case: Vec<String>,
    /// The first seed.
    #[arg(long, default_value_t = 1, value_parser = crate::run_options::seed, allow_negative_numbers = true)]
    pub seed: u64,
    /// The number of seeds, from the first up; by default 5, or 3 with --all.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub reps: Option<u64>,
    /// The directory for the dossier; by default runs/evaluate-SUBJECT or runs/evaluate-all, with a number
    /// behind it if another evaluation has that.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The number of concurrent runs; by default one per core.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub jobs: Option<u64>,
    /// Ignores known measurements and runs everything again.
    #[arg(long)]
    pub fresh: bool,
    /// A rule of your own, in addition to those of the packs: "rfc9743/wired: loss < 1 %". May be
    /// repeated.
    #[arg(long, value_name = "RULE")]
    pub require: Vec<String>,
    /// Fails if a count is exceeded: "worse > 0" counts measures that are worse than a rival's,
    /// "unclear > 9" comparisons that vary too much, and "inconclusive > 0" inconclusive sections.
    #[arg(long, value_name = "LIMIT")]
    pub fail_on: Vec<String>,
    /// Reads rules and limits from a file: TOML with the lists `require` and `fail_on`.
    #[arg(long, value_name = "FILE")]
    pub rules: Option<PathBuf>,
    /// Compares with an earlier evaluation, given by its directory. The exit code is 1 if a measure of
    /// the subject is significantly worse.
    #[arg(long, value_name = "DIR")]
    pub baseline: Option<PathBuf>,
    /// Writes the verdicts as JUnit XML for continuous integration.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Prints failures as annotations for this CI system.
    #[arg(long, value_name = "SYSTEM", value_parser = ["github"], conflicts_with = "json")]
    pub annotations: Option<String>,
    /// Prints the values of all cases in addition to the verdict, and the measures that are worse or better
    /// than each rival's.
    #[arg(long, conflicts_with = "json")]
    pub details: bool,
    /// Prints JSON instead of text.
    #[arg(long)]
    pub json: bool,
    /// Prints only the result, without progress.
    #[arg(short, long)]
    pub quiet: bool,
}

/// The tiers of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TierName {
    /// Two minutes on two cores per pack.
    Quick,
    /// Everything.
    Whole,
}
