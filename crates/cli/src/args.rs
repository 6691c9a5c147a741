//! The command line.

use crate::import::Import;
use crate::list::List;
use crate::names;
use crate::new::New;
use crate::run_options::{RunOptions, seed};
use accord::live::Mode;
use accord::report::RECORD;
use accord::scenario::Engine;
use clap::{Args as Group, Parser, Subcommand};
use std::path::PathBuf;

/// Shows the effect of a congestion controller on its own flows and on all others: in theory, in a fluid
/// model, packet by packet and over real sockets, from one scenario file.
#[derive(Parser)]
#[command(name = "accord", version = concat!(env!("CARGO_PKG_VERSION"), " (", env!("ACCORD_COMMIT"), ")"), max_term_width = 100,
    after_help = "Exit codes: 0 success, 1 an expectation failed that is not known to fail, 2 a mistake in the usage or the scenario, 3 this machine cannot do it, 130 interrupted.")]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Writes a first scenario file from a template.
    #[command(
        after_help = "Example:\n  accord new parking-lot --hops 5 --rate \"50 Mbps\" -o lot.toml"
    )]
    New(New),
    /// Runs a scenario, compares its engines and checks its expectations.
    #[command(
        after_help = "Example:\n  accord run mine.toml --engine theory,packet --set topology.dumbbell.rate=\"20 Mbps\""
    )]
    Run(Run),
    /// Compares run directories, sweeps, or the engines of one run.
    #[command(after_help = "Example:\n  accord compare runs/before runs/after")]
    Compare(crate::compare::Args),
    /// Draws a plot for a paper from run directories.
    #[command(
        after_help = "Example:\n  accord plot runs/xia05-fig6 --metric throughput -o fig.svg"
    )]
    Plot(crate::plot::Args),
    /// Tests a controller or queue discipline against a standard.
    ///
    /// Packs of scenarios, such as rfc9743, define the measures.
    #[command(
        after_help = "Example:\n  accord evaluate --pack rfc9743 --subject vegas --against cubic,bbr3"
    )]
    Evaluate(crate::evaluate::options::Args),
    /// Checks a scenario and estimates its cost, without running it.
    #[command(after_help = "Example:\n  accord check mine.toml --print")]
    Check(Check),
    /// Opens a laboratory in the browser, with sliders and lessons.
    #[command(
        after_help = "Examples:\n  accord lab mine.toml\n  accord lab --save lab.html\n  accord lab grade handed-in/"
    )]
    Lab(Lab),
    /// Computes the stability margins of a scenario's equilibria.
    ///
    /// With --x and --y, maps them over one or two parameters.
    #[command(
        after_help = "Example:\n  accord stability mine.toml --x flow.all.controller.gain=0.1..2"
    )]
    Stability(Stability),
    /// Computes the fair rates of a large network, with a proof.
    ///
    /// Reads the network from tables of links and flows.
    #[command(after_help = "Example:\n  accord solve network/ --top 5 -o rates/")]
    Solve(Solve),
    /// Searches for settings of a scenario that break a property.
    ///
    /// Writes the failing settings as a scenario file.
    #[command(
        after_help = "Example:\n  accord attack mine.toml --property 'utilisation > 0.8' --vary link.bottleneck.delay=\"1 ms..200 ms\""
    )]
    Attack(crate::attack::options::Args),
    /// Explains why packets differ from theory, effect by effect.
    ///
    /// Removes one effect at a time, and reports the part of each gap that vanishes.
    #[command(after_help = "Example:\n  accord explain xia05-fig9 --set sweep.N.values=[5]")]
    Explain(Explain),
    /// Reproduces the plots and tables of papers, with verdicts.
    #[command(after_help = "Example:\n  accord reproduce low02-table1 xia05-fig8")]
    Reproduce(Reproduce),
    /// Runs a program behind the links of a scenario (Linux).
    #[command(
        after_help = "Examples:\n  accord emulate --rate \"20 Mbps\" --delay \"20 ms\" --queue fq-codel --server \"iperf3 -s -1\" -- iperf3 -c {server}\n  accord emulate path.toml --server ./server -- ./client {server}"
    )]
    Emulate(crate::emulate::Args),
    /// Runs a controller in the kernel's TCP (Linux 6.10 or later).
    ///
    /// Needs root, and the Debian package or a build with the feature kernel.
    #[command(after_help = "Example:\n  accord kernel run --controller copa -- iperf3 -c HOST")]
    Kernel(crate::kernel::Kernel),
    /// Joins sites by tunnels with contracted rates (Linux).
    ///
    /// The tunnels are encrypted. It needs a build with the feature gateway.
    #[command(after_help = "Example:\n  accord gateway check site.toml")]
    Gateway(crate::gateway::Gateway),
    /// Makes a scenario from a topology, or a run from measurements.
    ///
    /// Reads topologies in GraphML, GML, SNDlib, JSON and CSV.
    #[command(
        after_help = "Examples:\n  accord import abilene.graphml --scale 0.01 -o abilene.toml\n  accord import run client.sqlog -o runs/client"
    )]
    Import(Import),
    /// Writes a run in the format of another program.
    #[command(after_help = "Example:\n  accord export flent runs/mine -o mine.flent.gz")]
    Export(crate::export::Args),
    /// Lists controllers, disciplines, metrics, experiments, templates.
    #[command(after_help = "Example:\n  accord list controllers monaco")]
    List(List),
    /// Prints the JSON Schema of a kind of file or of a command's output.
    #[command(after_help = "Examples:\n  accord schema > accord.schema.json\n  accord schema pack")]
    Schema(Schema),
    /// Measures the speed of the engines on this machine.
    ///
    /// The workload `live` measures the cost of live runs.
    #[command(after_help = "Example:\n  accord bench newreno-10")]
    Bench(Bench),
    /// Prints the completions for a shell.
    #[command(
        after_help = "Example:\n  accord completions bash > ~/.local/share/bash-completion/completions/accord"
    )]
    Completions(Completions),
    /// Prints the manual page, or writes one for each command.
    #[command(after_help = "Example:\n  accord man -o ~/.local/share/man/man1")]
    Man(Man),
}

#[derive(Group)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

#[derive(Group)]
pub struct Man {
    /// Writes the pages of all commands into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Group, Clone)]
pub struct Run {
    /// The scenario: a file, or the id of one that comes with the program.
    #[arg(value_parser = names::SCENARIOS, hide_possible_values = true)]
    pub scenario: String,
    #[command(flatten)]
    pub options: RunOptions,
    /// Replaces the controller of all flows except those without control: a name, a table such as
    /// '{ name = "copa", delta = 0.25 }', or, in the program of the Python package, a class given as
    /// FILE.py:CLASS.
    #[arg(long, value_name = "CONTROLLER", value_parser = names::CONTROLLERS, hide_possible_values = true)]
    pub controller: Option<String>,
    /// The directory for the results; by default runs/ID.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Also writes the series as CSV.
    #[arg(long)]
    pub csv: bool,
    /// Writes the checks as JUnit XML for continuous integration. Known failures count as skipped.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

#[derive(Group)]
pub struct Check {
    /// The scenario: a file, or the id of one that comes with the program.
    #[arg(value_parser = names::SCENARIOS, hide_possible_values = true)]
    pub scenario: String,
    /// Sets a value of the scenario, such as link.bottleneck.rate="5 Mbps".
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The seed, instead of the scenario's.
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
    /// The engines whose cost is estimated, as in `accord run`.
    #[arg(short, long, value_delimiter = ',', value_parser = names::engine(), hide_possible_values = true)]
    pub engine: Vec<Engine>,
    /// The number of seeds whose cost is estimated, as in `accord run`.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub reps: u64,
    /// Prints the scenario with all defaults filled in.
    #[arg(long)]
    pub print: bool,
    /// Prints JSON instead of text.
    #[arg(long, conflicts_with = "print")]
    pub json: bool,
}

#[derive(Group)]
pub struct Explain {
    /// The scenario: a file, or the id of one that comes with the program.
    #[arg(value_parser = names::SCENARIOS, hide_possible_values = true)]
    pub scenario: String,
    /// The engine to explain: fluid or packet, compared with theory, or live, compared with
    /// packet.
    #[arg(short, long, default_value = "packet", value_parser = names::engine(), hide_possible_values = true)]
    pub engine: Engine,
    /// The medium of a live run: loopback or namespaces; by default namespaces where they are
    /// allowed.
    #[arg(long, value_name = "MODE")]
    pub live: Option<Mode>,
    /// The seed, instead of the scenario's.
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
    /// The number of seeds, from the first one up, that separate effects from noise.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub reps: u64,
    /// The factor by which packets are made smaller, and phases longer.
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u64).range(2..=100))]
    pub finer: u64,
    /// Explains the means of groups and links over the steady part, instead of the scenario's
    /// expectations.
    #[arg(long)]
    pub standard: bool,
    /// Sets a value of the scenario, such as link.bottleneck.rate="5 Mbps", or the values of a
    /// sweep, such as sweep.gain.values=[0.5].
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Prints JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Prints only the result, without progress.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Group)]
pub struct Reproduce {
    /// Ids of experiments; `accord list experiments` shows them.
    #[arg(required_unless_present = "all", value_parser = names::SCENARIOS, hide_possible_values = true)]
    pub id: Vec<String>,
    /// Reproduces all experiments, without their live runs unless --engine names live.
    #[arg(long, conflicts_with = "id")]
    pub all: bool,
    /// Experiments that --all leaves out, separated by commas.
    #[arg(long, value_name = "ID", requires = "all", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["id", "summary", "readings"])]
    pub except: Vec<String>,
    #[command(flatten)]
    pub options: RunOptions,
    /// The directory for the results, with a subdirectory per experiment.
    #[arg(short, long, value_name = "DIR", default_value = "runs")]
    pub output: PathBuf,
    /// Prints the verdicts on the figures and tables of the papers instead of those on experiments.
    #[arg(
        long,
        requires = "all",
        conflicts_with_all = ["engine", "seed", "reps", "set", "point", "skip", "record", "details"]
    )]
    pub summary: bool,
    /// Summarises the recorded results that come with the program, without running anything.
    #[arg(
        long,
        requires = "summary",
        conflicts_with_all = ["output", "pcap", "qlog", "fresh", "memory"]
    )]
    pub recorded: bool,
    /// Runs the figures and tables of the papers under the readings that docs/figures.toml declares,
    /// with five seeds each, records the checks that they meet in FILE, and prints the verdicts.
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = RECORD,
        conflicts_with_all = ["summary", "recorded", "output", "engine", "live", "seed", "reps", "set",
            "point", "show", "details", "pcap", "qlog", "skip", "json", "record", "memory"]
    )]
    pub readings: Option<PathBuf>,
}

#[derive(Group)]
pub struct Stability {
    /// The scenario: a file, or the id of one that comes with the program.
    #[arg(value_parser = names::SCENARIOS, hide_possible_values = true)]
    pub scenario: String,
    /// A parameter to map over, such as flow.f.controller.gain=0.1..2.
    #[arg(long, value_name = "PATH=FROM..TO")]
    pub x: Option<String>,
    /// A second parameter.
    #[arg(long, value_name = "PATH=FROM..TO", requires = "x")]
    pub y: Option<String>,
    /// The number of values of each parameter.
    #[arg(long, default_value_t = 25, value_parser = clap::value_parser!(u64).range(2..=200))]
    pub points: u64,
    /// The number of points along each axis at which to simulate packets as well.
    #[arg(long, default_value_t = 0, requires = "x")]
    pub packets: usize,
    /// Sets a value of the scenario, such as link.bottleneck.rate="5 Mbps".
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The seed, instead of the scenario's.
    #[arg(long, value_parser = seed)]
    pub seed: Option<u64>,
    /// The directory for the map; by default runs/ID-stability.
    #[arg(short, long, value_name = "DIR", requires = "x")]
    pub output: Option<PathBuf>,
    /// Also prints the map as CSV. A map over one parameter is always printed.
    #[arg(long, requires = "x")]
    pub csv: bool,
    /// Prints JSON instead of text.
    #[arg(long, conflicts_with = "csv")]
    pub json: bool,
    /// Prints only the result, without progress and hints.
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Group)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Lab {
    #[command(subcommand)]
    pub command: Option<LabCommand>,
    /// The scenario file to open and save. Without one, the laboratory shows a lesson.
    pub file: Option<PathBuf>,
    /// The port of the loopback interface; by default 4670, or any free port if it is taken.
    #[arg(long, default_value_t = 0, hide_default_value = true, value_name = "PORT")]
    pub port: u16,
    /// Writes the laboratory as one file, which browsers open without Accord or a network.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["file", "port"])]
    pub save: Option<PathBuf>,
}

/// A kind of file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// A scenario (the default).
    #[default]
    Scenario,
    /// A pack of evaluations: `pack.toml`.
    Pack,
    /// Rules for `accord evaluate`.
    Rules,
    /// The site file of a gateway.
    #[cfg(feature = "gateway")]
    Site,
}

#[derive(Subcommand)]
pub enum LabCommand {
    /// Grades the work that students handed in, and prints a table of the class.
    ///
    /// Reads the files in a folder, finds the lines that the laboratory's button Hand in wrote, and reruns
    /// each attempt at an exercise. A signature shows whether a line was changed, not who wrote it.
    #[command(after_help = "Example:\n  accord lab grade handed-in/ --csv class.csv")]
    Grade {
        /// The folder with the files.
        folder: PathBuf,
        /// Writes the table to a file as CSV as well.
        #[arg(long, value_name = "FILE")]
        csv: Option<PathBuf>,
    },
}

#[derive(Group)]
pub struct Schema {
    /// The kind of file.
    #[arg(value_enum, default_value_t, hide_default_value = true)]
    pub file: Kind,
    /// The command whose JSON output the schema describes, instead of a file.
    #[arg(short, long, conflicts_with = "file", value_name = "COMMAND", value_parser = clap::builder::PossibleValuesParser::new(accord::report::OUTPUTS))]
    pub output: Option<String>,
}

#[derive(Group)]
pub struct Bench {
    /// The workload; by default all simulated ones. `live` moves real packets for a minute, at one
    /// rate after another.
    pub name: Option<String>,
    /// The medium of the workload `live`: loopback or namespaces.
    #[arg(long, value_name = "MODE")]
    pub live: Option<Mode>,
    /// Runs each workload in Accord and in this simulator in turn, five times, and prints the ratios
    /// of their speeds. Needs ns-2 with its program `ns`.
    #[arg(long, value_name = "SIMULATOR", value_parser = ["ns2"], conflicts_with_all = ["set", "live"])]
    pub against: Option<String>,
    /// Sets a value of the simulated workloads, such as flow.newreno.controller=reno.
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// Prints JSON instead of a table.
    #[arg(long)]
    pub json: bool,
}

#[derive(Group)]
pub struct Solve {
    /// A directory with links.csv and flows.csv (or .parquet). `accord new --example backbone` writes
    /// one.
    pub network: PathBuf,
    /// Computes max-min fair rates, by weights and caps, instead of the flows' utilities.
    #[arg(long)]
    pub max_min: bool,
    /// The number of flows and links to show.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// Writes tables of rates and prices to this directory, in the format of the table of flows.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Prints JSON instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Prints no progress.
    #[arg(short, long)]
    pub quiet: bool,
}
