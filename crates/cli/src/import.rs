//! `accord import`: a scenario from a topology in another format.

use crate::contents::contents;
use crate::draft::Place;
use crate::fail::Failure;
use crate::output::note;
use crate::progress::at_once;
use accord::Catalogue;
use accord::draft::{Draft, Line};
use accord::report::show::{TITLE, clean, count};
use accord::traffic::{Dice, Purpose};
use accord::units::{Duration, Rate, Words};
use accord_import::{
    Demand, Format, ImportError, Link, Topology, Units, Way, decoded, demands, limits, read,
};
use clap::{Args, Subcommand};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Import {
    #[command(subcommand)]
    pub what: Option<What>,
    /// The topology: GraphML, GML, SNDlib (native or XML), node-link JSON, or a list of links in CSV.
    #[arg(required = true)]
    pub topology: Option<PathBuf>,
    /// The file to write; by default the scenario goes to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces an existing file.
    #[arg(long)]
    pub force: bool,
    /// The format, if neither the name nor the content of the file determines it: graphml, gml,
    /// sndlib, sndlib-xml, json or csv.
    #[arg(long)]
    pub format: Option<Format>,
    /// Demands in CSV, with columns from, to and rate, instead of those of the topology.
    #[arg(long, value_name = "FILE")]
    pub demands: Option<PathBuf>,
    /// Number of flows: the largest demands or, without demands, flows between random nodes; by
    /// default all demands, or 20.
    #[arg(long, value_name = "N")]
    pub flows: Option<usize>,
    /// Rate of links without a capacity in the file.
    #[arg(long, default_value = "100 Mbps")]
    pub rate: Rate,
    /// Delay of links without a delay, a length or coordinates in the file.
    #[arg(long, default_value = "5 ms")]
    pub delay: Duration,
    /// The unit of bare numbers for capacities and demands.
    #[arg(long, default_value = "1 Mbps")]
    pub unit: Rate,
    /// The unit of bare numbers for delays, such as "1 ms". Without it, such delays are ignored.
    #[arg(long, value_name = "TIME")]
    pub delay_unit: Option<Duration>,
    /// Multiplies all rates in the file: with a thousandth of a backbone's rates, the packet engine takes a
    /// thousandth of the time.
    #[arg(long, default_value_t = 1.0)]
    pub scale: f64,
    /// The congestion controller of the flows.
    #[arg(long, value_name = "NAME", default_value = "monaco")]
    pub controller: String,
    /// Length of the run.
    #[arg(long, value_name = "TIME", default_value = "20 s")]
    pub duration: Duration,
    /// Seed of the random parts: flows without demands, and start times.
    #[arg(long, default_value_t = 1)]
    pub seed: u32,
}

/// The other imports.
#[derive(Subcommand)]
pub enum What {
    /// Writes a run directory from the measurements of other programs: qlog, `ss -tin`, iperf3 or a capture.
    #[command(
        after_help = "Examples:\n  accord import run client.sqlog -o runs/client\n  while sleep 0.1; do date +%s.%N; ss -tinH state established; done > web.ss\n  accord import run web.ss"
    )]
    Run(crate::measured::Args),
}

impl Import {
    fn topology(&self) -> &Path {
        // Without a subcommand it is required.
        self.topology.as_deref().unwrap_or(Path::new(""))
    }
}

/// The maximum length of a link's name in the language, in characters.
const NAME: usize = 100;

/// The number of flows without demands.
const FLOWS: usize = 20;

/// The maximum number of flows in a file.
const MOST_FLOWS: usize = 50_000;

/// The propagation speed in fibre, in kilometres per second.
const FIBRE: f64 = 200_000.0;

/// The lowest rate of links and demands that are kept, in bit/s.
const LEAST: f64 = 1000.0;

pub fn run(args: &Import, catalogue: &Catalogue) -> Result<bool, Failure> {
    if let Some(What::Run(args)) = &args.what {
        return crate::measured::run(args);
    }
    let place = Place { file: args.output.as_ref(), force: args.force };
    place.check()?;
    let (text, topology) = at_once(|| made(args))??;
    let id = args.topology().file_stem().unwrap_or_default();
    place.write(&text, &format!("{}.toml", id.to_string_lossy()), catalogue)?;
    for remark in args.output.iter().flat_map(|_| &topology.remarks) {
        note(clean(remark, 200));
    }
    Ok(true)
}

/// Reads the files, and returns the text of the scenario. Fails for a damaged record.
pub fn text(args: &Import) -> Result<String, Failure> {
    let (text, topology) = made(args)?;
    match topology.damaged {
        Some(e) => Err(refused(args.topology(), e)),
        None => Ok(text),
    }
}

/// Returns the text of the scenario, and the topology in it.
fn made(args: &Import) -> Result<(String, Topology), Failure> {
    if !(args.scale.is_finite() && args.scale > 0.0) || args.unit == Rate::ZERO {
        return Err(Failure::new("--scale and --unit must be more than zero"));
    }
    if args.rate == Rate::ZERO {
        return Err(Failure::new("--rate must be more than zero"));
    }
    if args.delay_unit.is_some_and(Duration::is_zero) {
        return Err(Failure::new("--delay-unit must be more than zero"));
    }
    let units =
        Units { rate: args.unit.as_bps_f64(), delay: args.delay_unit.map(Duration::as_secs_f64) };
    let text = open(args.topology())?;
    let ending = args.topology().extension().unwrap_or_default();
    let guess = || Format::guess(&ending.to_string_lossy(), &text);
    let Some(format) = args.format.or_else(guess) else {
        let path = args.topology().display();
        return Err(Failure::new(format!("the format of {path} is unknown")).hint(format!(
            "name it with --format: {}; networkx reads GEXF, Pajek, edge lists and others, and \
             accord.from_graph in Python makes a scenario of its graphs; measurements of iperf3, ss, \
             qlog and captures are for accord import run",
            Format::words().join(", ")
        )));
    };
    let mut topology = read(format, &text, &units).map_err(|e| refused(args.topology(), e))?;
    if let Some(path) = &args.demands {
        let text = open(path)?;
        topology.demands = demands(&text, &topology, &units).map_err(|e| refused(path, e))?;
    }
    if !topology.demands.is_empty() {
        choose(&mut topology, args);
        if topology.demands.is_empty() {
            return Err(Failure::new("no demand is left between connected nodes"));
        }
    }
    if topology.demands.len() > MOST_FLOWS {
        let message = format!(
            "there are {} demands; at most {MOST_FLOWS} flows are supported",
            topology.demands.len()
        );
        return Err(Failure::new(message).hint("--flows N takes the largest ones"));
    }
    Ok((scenario(args, &topology)?, topology))
}

/// Keeps the demands between connected nodes, and only the largest if their number is limited.
fn choose(topology: &mut Topology, args: &Import) {
    let parts = topology.parts();
    let retain = |topology: &mut Topology, what: &str, keep: &dyn Fn(&Demand) -> bool| {
        let before = topology.demands.len();
        topology.demands.retain(keep);
        let count = before - topology.demands.len();
        if count > 0 {
            topology.remarks.push(format!("Demands {what}, left out: {count}."));
        }
    };
    retain(topology, "between unconnected parts", &|d| parts[d.from] == parts[d.to]);
    let all = topology.demands.len();
    retain(topology, &format!("below {LEAST} bps"), &|d| d.rate * args.scale >= LEAST);
    if let Some(n) = args.flows.filter(|n| *n < topology.demands.len()) {
        let mut order: Vec<usize> = (0..topology.demands.len()).collect();
        order.sort_by(|a, b| topology.demands[*b].rate.total_cmp(&topology.demands[*a].rate));
        order.truncate(n);
        // In the order of the file.
        order.sort_unstable();
        topology.demands = order.iter().map(|&i| topology.demands[i].clone()).collect();
        topology.remarks.push(format!("The {n} largest demands of {all}."));
    }
}

fn open(path: &Path) -> Result<String, Failure> {
    let bytes = contents(path, limits::TEXT)?;
    let text = decoded(&bytes).ok_or_else(|| {
        let message = format!("{} is neither UTF-8 nor UTF-16 text", path.display());
        Failure::new(message).hint("iconv -f ISO-8859-1 -t UTF-8 FILE converts older files")
    })?;
    Ok(text.into_owned())
}

fn refused(path: &Path, e: ImportError) -> Failure {
    let place = match e.line {
        Some(line) => format!("{}:{line}", path.display()),
        None => path.display().to_string(),
    };
    Failure::new(format!("{place}: {}", e.message)).hinted(e.hint)
}

/// Returns a unique name, and adds it to `names`. It has at most the length that the language
/// allows. Names can collide for links such as those of a-b and c, and of a and b-c.
fn unused(name: &str, names: &mut BTreeSet<String>) -> String {
    let numbered = (names.len()..).map(|i| format!("__{i}"));
    let mut ends = std::iter::once(String::new()).chain(numbered);
    let found = ends.find_map(|end| {
        let unique = name.chars().take(NAME - end.len()).chain(end.chars());
        let unique: String = unique.collect();
        names.insert(unique.clone()).then_some(unique)
    });
    found.expect("there are more numbers than names")
}

/// Returns the text of the scenario of a topology.
fn scenario(args: &Import, t: &Topology) -> Result<String, Failure> {
    let file = args.topology().file_name().unwrap_or_default();
    let file = file.to_string_lossy();
    let mut draft = Draft::default();
    draft.comment(&format!(
        "{} and {} of {}",
        count(t.nodes.len(), "node"),
        count(t.links.len(), "link"),
        clean(&file, TITLE)
    ));
    let links = |of: &dyn Fn(&&Link) -> bool| t.links.iter().filter(of).count();
    let (rate, delay, scale) = (args.rate, args.delay, args.scale);
    draft.comment("");
    draft.comment(&match links(&|l| l.there.rate.is_none()) {
        0 => "Rates are those of the file.".into(),
        n => format!("Rates: {rate} on {} without a rate in the file.", count(n, "link")),
    });
    if scale != 1.0 {
        draft.comment(&format!("All rates of the file are multiplied by {scale}."));
    }
    draft.comment("Delays: as in the file, or else of the length, at 200 km per ms.");
    let missing = links(&|l| time(t, l, l.there).is_none());
    if missing > 0 {
        draft.comment(&format!("Delays without either: {delay} on {}.", count(missing, "link")));
    }
    for remark in &t.remarks {
        draft.comment(&clean(remark, 200));
    }
    draft.line("");
    let name = if t.name.is_empty() { file } else { t.name.as_str().into() };
    draft.text("title", clean(&name, 100));
    draft.text("duration", args.duration);
    draft.line(format_args!("seed = {}", args.seed));
    let mut names = BTreeSet::new();
    let links: Result<Vec<Line>, Failure> = (t.links.iter())
        .map(|link| {
            let ends = [link.from, link.to].map(|node| t.nodes[node].name.clone());
            let name = unused(&ends.join("-"), &mut names);
            let of = |way: Way| -> Result<(Rate, Duration), Failure> {
                Ok((rate_of(args, way.rate, &ends)?, delay_of(args, time(t, link, way))))
            };
            let ((rate, delay), back) = (of(link.there)?, of(link.back)?);
            Ok(Line { name, rate, delay, back, ends })
        })
        .collect();
    draft.links(&links?, None);
    flows(args, t, &mut draft)?;
    Ok(draft.out)
}

/// Returns the propagation delay of a direction in seconds, if the file has it or a length.
fn time(t: &Topology, link: &Link, way: Way) -> Option<f64> {
    way.delay.or_else(|| Some(t.length(link, &way)? / FIBRE))
}

fn rate_of(args: &Import, bps: Option<f64>, ends: &[String; 2]) -> Result<Rate, Failure> {
    let Some(bps) = bps.map(|bps| bps * args.scale) else {
        return Ok(args.rate);
    };
    if (LEAST..=1e14).contains(&bps) {
        return Ok(Rate::from_bps_f64(bps));
    }
    let [a, b] = ends;
    let message = format!("the link {a} - {b} has {bps:.3e} bps; 1 Kbps to 100 Tbps are possible");
    Err(Failure::new(message).hint("--unit sets the unit of bare numbers, --scale a factor"))
}

/// Returns a delay, rounded to a microsecond.
fn delay_of(args: &Import, seconds: Option<f64>) -> Duration {
    match seconds {
        Some(s) => Duration::from_us((s.min(3600.0) * 1e6).round() as u64),
        None => args.delay,
    }
}

fn flows(args: &Import, t: &Topology, draft: &mut Draft) -> Result<(), Failure> {
    draft.line("");
    if t.demands.is_empty() {
        draft.comment("Unlimited transfers between nodes drawn by the seed.")
    } else {
        draft.comment("A flow per demand, which offers its rate on the path of least delay.")
    }
    draft.line("[flow.all]");
    draft.text("controller", &args.controller);
    draft.start(args.duration);
    draft.line("each = [");
    let mut line = |from: usize, to: usize, demand: &str| {
        let [from, to] = [from, to].map(|i| &t.nodes[i].name);
        draft.line(format_args!("    {{ from = \"{from}\", to = \"{to}\"{demand} }},"));
    };
    for d in &t.demands {
        let rate = Rate::from_bps_f64((d.rate * args.scale).min(1e14));
        line(d.from, d.to, &format!(", demand = {{ constant = \"{rate}\" }}"));
    }
    if t.demands.is_empty() {
        drawn(args, t)?.into_iter().for_each(|(from, to)| line(from, to, ""));
    }
    draft.line("]");
    Ok(())
}

/// Returns random pairs of connected nodes.
fn drawn(args: &Import, t: &Topology) -> Result<Vec<(usize, usize)>, Failure> {
    let count = args.flows.unwrap_or(FLOWS);
    if !(1..=MOST_FLOWS).contains(&count) {
        return Err(Failure::new(format!("--flows {count}: expected 1 to {MOST_FLOWS}")));
    }
    let parts = t.parts();
    let mut members = vec![Vec::new(); t.nodes.len()];
    for (node, part) in parts.iter().enumerate() {
        members[*part].push(node);
    }
    // An isolated node has no receiver. A link joins at least two nodes.
    let ends: Vec<usize> =
        (0..t.nodes.len()).filter(|&node| members[parts[node]].len() > 1).collect();
    let mut dice = Dice::new(args.seed.into(), 0, Purpose::Template);
    let mut below = |n: usize| (dice.uniform() * n as f64) as usize;
    let mut pairs = Vec::new();
    for _ in 0..count {
        let from = ends[below(ends.len())];
        let others = &members[parts[from]];
        let at = others.binary_search(&from).expect("it is of its part");
        let to = others[(at + 1 + below(others.len() - 1)) % others.len()];
        pairs.push((from, to));
    }
    Ok(pairs)
}
