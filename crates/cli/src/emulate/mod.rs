//! `accord emulate`: a program behind the links and queues of a scenario.

mod beside;
mod connections;
mod ends;
mod live;
pub mod mahimahi;
mod place;

use crate::capture::CaptureFile;
use crate::execute::Outcome;
use crate::fail::Failure;
use crate::output::{heading, note, style};
use crate::program::find;
use crate::progress::{Progress, interrupted, watch_gently};
use crate::results::{check_directory, write};
use crate::source::load;
use accord::draft::quote;
use accord::language::File;
use accord::live::{Programs, Way, emulate};
use accord::report::{FileError, Lock, Tally, check_place, checks, checks_table, table};
use accord::scenario::{Engine, Scenario};
use accord::units::{Duration, Rate};
use accord::{Catalogue, set};
use clap::Args as Group;
use std::ffi::{OsStr, OsString};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// The longest line that is shown of the scenario of shells, in characters.
const LONGEST_LINE: usize = 300;
/// The longest emulation.
const LONGEST: &str = "24 h";
/// The shortest period of the series that a scenario allows for the longest emulation.
const LEAST_SAMPLE: Duration = Duration::from_ms(10);
/// The period of the series of a path that options give.
const SAMPLE: &str = "100 ms";
/// The same, as a duration.
const USUAL_SAMPLE: Duration = Duration::from_ms(100);
/// The limit of a queue that words name without one: that of CoDel and PIE in Linux.
const LIMIT: &str = "1000 pkt";
/// The flows of a program with one other end: from it, and back to it.
const WAYS: [&str; 2] = ["to-server", "to-client"];

#[derive(Group)]
pub struct Args {
    /// A scenario file with the path, or one that comes with the program. Its own flows are cross traffic.
    #[arg(conflicts_with_all = ["rate", "delay", "queue", "loss"])]
    pub scenario: Option<String>,
    /// The rate of the path, the same both ways: "20 Mbps".
    #[arg(long, value_parser = rate, allow_hyphen_values = true)]
    pub rate: Option<Rate>,
    /// The delay of the path, one way.
    #[arg(long, value_parser = delay, default_value = "0 ms", allow_hyphen_values = true)]
    pub delay: Duration,
    /// The queue in front of the path, both ways, with its parameters: droptail:limit=100 or
    /// "fq-codel:target=5 ms". For `limit`, by default 1000 packets, a plain number counts packets.
    #[arg(long, default_value = "droptail:limit=1000")]
    pub queue: String,
    /// The share of the packets that the path loses, each way: "1 %" or 0.01.
    #[arg(long, default_value = "0 %", allow_hyphen_values = true)]
    pub loss: String,
    /// A word of a command line of mahimahi.
    #[arg(long, hide = true, allow_hyphen_values = true, conflicts_with_all = ["scenario", "rate", "delay", "queue", "loss"])]
    pub shell: Vec<String>,
    /// Runs this shell command as the server at the far end. COMMAND starts when the server
    /// listens, or after two seconds.
    #[arg(long, value_name = "LINE")]
    pub server: Option<String>,
    /// The node of the command; by default left, or client with --rate.
    #[arg(long, value_name = "NODE")]
    pub from: Option<String>,
    /// The node of the far end; by default right, or server with --rate.
    #[arg(long, value_name = "NODE")]
    pub to: Option<String>,
    /// Runs a shell command at one more node, such as --at b 'iperf3 -s'. May be repeated. The first such
    /// node is the far end, unless --server, --to or --join names one.
    #[arg(long, value_names = ["NODE", "LINE"], num_args = 2)]
    pub at: Vec<String>,
    /// The number of flows over which the programs' connections are spread, each way. Queues that separate
    /// flows separate these, and each has its own measurements.
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub flows: u16,
    /// Runs the packet engine for comparison with the emulation. Each flow that carried data uses this
    /// controller there, from its first packet to its last: cubic, reno or bbr as in Linux, or one of
    /// `accord list controllers`.
    #[arg(long, value_name = "CONTROLLER")]
    pub like: Option<String>,
    /// The size of the programs' largest packets, including headers.
    #[arg(long, value_name = "BYTES", default_value_t = 1500, value_parser = clap::value_parser!(u16).range(576..=9000))]
    pub mtu: u16,
    /// Sets a value of the scenario, such as link.bottleneck.rate="5 Mbps".
    #[arg(long, value_name = "PATH=VALUE")]
    pub set: Vec<String>,
    /// The directory of the run; by default runs/ID, or runs/ID-2 and so on.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Prints a line per second while it runs: the rate and the queue each way.
    #[arg(long, conflicts_with = "quiet")]
    pub live: bool,
    /// Also writes the series as CSV.
    #[arg(long)]
    pub csv: bool,
    /// Prints the scenario of the path instead of running anything.
    #[arg(long)]
    pub print: bool,
    /// Prints no tables or remarks.
    #[arg(short, long)]
    pub quiet: bool,
    /// Writes every packet that leaves a queue to FILE, in pcapng.
    #[arg(long, value_name = "FILE")]
    pub pcap: Option<PathBuf>,
    /// The network namespace of the command and, after a comma, that of the far end, instead of new ones:
    /// a name, a path such as /proc/PID/ns/net, or the number of a process. NODE=NAMESPACE sets that of any
    /// node. Each gets a device with an address and routes to the other ends until the emulation ends.
    #[arg(long, value_name = "CLIENT[,SERVER]", value_delimiter = ',')]
    pub join: Vec<String>,
    /// Routes a network, in addition to the far end, through the path from a joined namespace: 10.0.0.0/8,
    /// or default. May be repeated.
    #[arg(long, value_name = "NETWORK", requires = "join", value_parser = network)]
    pub route: Vec<String>,
    /// The command and its arguments. {server} stands for the address of the far end, which is also in
    /// ACCORD_SERVER, and {NODE} and ACCORD_NODE for that of any end. With --join the command may be
    /// left out; Ctrl-C then ends the emulation.
    #[arg(last = true, required_unless_present_any = ["print", "join"], value_name = "COMMAND")]
    pub line: Vec<OsString>,
}

/// Returns true if a word makes the program the guard of an emulation.
pub fn is_guard(word: &OsStr) -> bool {
    #[cfg(target_os = "linux")]
    return word == accord::live::GUARD;
    #[cfg(not(target_os = "linux"))]
    return false;
}

/// Runs as the guard of an emulation, if the arguments say so. Returns the exit code.
pub fn guarded(arguments: &[OsString]) -> Option<u8> {
    #[cfg(target_os = "linux")]
    if let [_, word, rest @ ..] = arguments
        && is_guard(word)
    {
        return Some(accord::live::guard(rest));
    }
    let _ = arguments;
    None
}

/// Returns the line that starts this program again.
pub fn again() -> Result<Vec<OsString>, Failure> {
    if crate::results::is_elsewhere() {
        // The words before the command are those of Python.
        return Ok(std::env::args_os().take_while(|word| word != "emulate").collect());
    }
    let own = std::env::current_exe();
    let own = own.map_err(|e| Failure::Unable(format!("the program does not find itself: {e}")))?;
    Ok(vec![own.into()])
}

/// Parses a network to which a route leads.
fn network(text: &str) -> Result<String, String> {
    let why = "expected a network such as 10.0.0.0/8, or default";
    if text == "default" {
        return Ok(text.into());
    }
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    // The bits of the address from the highest on.
    let (bits, most) = match address.parse() {
        Ok(IpAddr::V4(address)) => (u128::from(address.to_bits()) << 96, 32),
        Ok(IpAddr::V6(address)) => (address.to_bits(), 128),
        Err(_) => return Err(why.into()),
    };
    let length = length.map_or(Some(most), |length| length.parse().ok().filter(|l| *l <= most));
    let length: u32 = length.ok_or(why)?;
    match bits.checked_shl(length).unwrap_or(0) {
        0 => Ok(text.into()),
        _ => Err(format!("{address} has bits beyond its prefix of {length}")),
    }
}

fn rate(text: &str) -> Result<Rate, String> {
    text.parse().map_err(|e: accord::units::ParseError| e.to_string())
}

fn delay(text: &str) -> Result<Duration, String> {
    text.parse().map_err(|e: accord::units::ParseError| e.to_string())
}

/// Runs the command. The exit code is that of the command, unless an expectation fails.
pub fn run(args: Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    watch_gently();
    let mut file = match (&args.scenario, args.rate) {
        (Some(name), _) => load(name, &[])?,
        (None, Some(rate)) => of_options(&path(&args, rate)?, &args)?,
        (None, None) if !args.shell.is_empty() => {
            of_options(&mahimahi::scenario(&args.shell, LONGEST, SAMPLE)?, &args)?
        }
        (None, None) => {
            let hint = "a scenario file, or --rate \"20 Mbps\" --delay \"20 ms\"";
            return Err(Failure::new("no path is given").hint(hint));
        }
    };
    let ends = ends::of(&args)?;
    let ways = ends::ways(&ends);
    let kernel = beside::default_congestion();
    let like = args.like.as_deref().or(kernel.is_known.then_some(&kernel.name));
    let like = like.map(beside::controller);
    let like = like.map_or(String::new(), |like| format!(", controller = {like}"));
    for (name, way) in &ways {
        // A record and the text of --print have them.
        if file.has_flow(name) && !file.gives_flow(name, "kernel") {
            let why = format!(
                "the scenario has a flow {name}, as the packets of the programs are called"
            );
            return Err(Failure::new(why).hint("give it another name"));
        }
        let (from, to) = (quote(&ends[way.from].name), quote(&ends[way.to].name));
        let (count, mtu) = (args.flows, args.mtu);
        file.set(
            &format!("flow.{}", quote(name)),
            &format!(
                "{{ from = {from}, to = {to}, packet = \"{mtu} B\", count = {count}, kernel = {}{like} }}",
                quote(&kernel.name)
            ),
        )?;
    }
    set(&mut file, &args.set)?;
    if args.print {
        let scenario = one(&file, catalogue).map_err(|e| place::of(e, &args))?;
        crate::output::data(accord::scenario::print(&scenario).trim_end())?;
        return Ok(true);
    }
    // The end is that of the command. The period of the series stays, unless the scenario is sound only without its
    // own end: an event may come later.
    let sample = one(&file, catalogue).map_or(USUAL_SAMPLE, |s| s.sample).max(LEAST_SAMPLE);
    file.set("sample", &format!("\"{sample}\""))?;
    file.set("duration", &format!("\"{LONGEST}\""))?;
    let mut scenario = one(&file, catalogue).map_err(|e| place::of(e, &args))?;
    if !args.shell.is_empty() && !args.quiet {
        let lines: Vec<String> = file.source().text.trim_end().lines().map(shortened).collect();
        note(lines.join("\n"));
    }
    for expectation in &mut scenario.expectations {
        if expectation.engine == Engine::Packet {
            expectation.engine = Engine::Live;
        }
    }
    scenario.expectations.retain(|e| e.engine == Engine::Live);
    let programs =
        Programs { ends, guard: again()?, routes: args.route.clone(), announce: |text| note(text) };
    // An emulation without its program would have no packets.
    args.line.first().map_or(Ok(()), |program| find(program))?;
    let (dir, _lock) = match &args.output {
        Some(dir) => {
            check_directory(dir)?;
            (dir.clone(), Lock::take(dir)?)
        }
        None => vacant(&scenario.id)?,
    };
    let ways: Vec<_> = ways
        .into_iter()
        .map(|(name, way)| {
            let group = scenario.groups.iter().find(|group| group.name == name);
            let flows = group.map_or_else(Vec::new, |group| group.flows.clone().collect());
            Way { flows, ..way }
        })
        .collect();
    let capture = args.pcap.as_deref().map(CaptureFile::create).transpose()?;
    let progress = Progress::new(Duration::ZERO, true);
    let observer = progress.observe(capture.as_ref(), None);
    let mut observer = live::Live::new(observer, &scenario, &ways, args.live);
    let emulated = emulate(&scenario, &ways, &programs, &mut observer);
    let emulated = emulated.map_err(accord::Error::from)?;
    let checks = checks(&emulated.scenario, &[&emulated.run]);
    let beside = match args.like {
        Some(_) if !emulated.interrupted => {
            Some(beside::run(&emulated, &ways, &mut progress.observe(None, None)))
        }
        _ => None,
    };
    // An emulation is not repeatable, so its record is kept whatever becomes of the packets.
    let (beside, alone) = match beside.transpose() {
        Ok(run) => (run, None),
        Err(e) => (None, Some(e)),
    };
    let runs: Vec<_> = std::iter::once(emulated.run).chain(beside).collect();
    let outcomes = [Outcome { scenario: emulated.scenario, runs, checks }];
    let written = write(&dir, &outcomes, args.csv).and_then(|page| {
        connections::write(&dir, &emulated.connections, &outcomes[0].scenario)?;
        Ok(page)
    });
    let [outcome] = &outcomes;
    let unfit = outcome.runs[0].unfit.as_ref();
    if !args.quiet {
        note(heading(&outcome.scenario));
        let runs: Vec<_> = outcome.runs.iter().rev().collect();
        note(table(&outcome.scenario, &runs, style()).trim_end());
        if !outcome.checks.is_empty() {
            note(checks_table(&outcome.checks, style()).trim_end());
        }
        crate::live::remarks(&outcome.point()).iter().for_each(note);
        if let Some(why) = unfit {
            note(format_args!("{why}: these figures are not those of the path"));
        }
        if let Ok(page) = &written {
            note(format_args!("page: {page}"));
        }
    } else {
        // The exit code alone could be that of the command.
        let failed = outcome.checks.iter().filter(|check| !check.class.passes());
        let failed: Vec<_> = failed.cloned().collect();
        if !failed.is_empty() {
            note(checks_table(&failed, style()).trim_end());
        }
    }
    let captured = capture.map_or(Ok(()), CaptureFile::finish);
    written?;
    captured?;
    let stops = args.line.is_empty();
    if !stops && (emulated.interrupted || interrupted()) {
        return Err(Failure::Exit(130));
    }
    if let Some(why) = alone {
        return Err(why.into());
    }
    Failure::of_command(emulated.status)?;
    if !outcome.checks.is_empty() {
        crate::live::fit(&outcome.runs)?;
    }
    let classes = outcome.checks.iter().map(|c| c.class);
    Ok(Tally::of(classes).worst().passes())
}

/// Returns the file of a path that options give.
fn of_options(text: &str, args: &Args) -> Result<File, Failure> {
    File::parse(place::PATH, text).map_err(|e| place::of(e.into(), args))
}

/// Returns the scenario of a file that has one.
fn one(file: &File, catalogue: &Catalogue) -> Result<Scenario, Failure> {
    let mut points = file.points(catalogue, None)?;
    if points.len() > 1 {
        let why = format!(
            "the scenario is a sweep of {} points, and a program runs at one",
            points.len()
        );
        return Err(Failure::new(why).hint("--set sweep.NAME.values=[VALUE] leaves one"));
    }
    let scenario = points.remove(0);
    scenario.check().map_err(accord::Error::Unsound)?;
    Ok(scenario)
}

/// Returns the text of the path that words name.
fn path(args: &Args, rate: Rate) -> Result<String, Failure> {
    let Args { delay, loss, .. } = args;
    let queue = queue(&args.queue)?;
    // As in a file, a number is a share. A "1" may mean a per cent, so it needs its unit.
    let loss = match loss.trim().parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => share.to_string(),
        _ => quote(loss),
    };
    Ok(format!(
        "id = \"emulate\"\ntitle = \"A program over {rate} and {delay} one way\"\n\
         duration = \"{LONGEST}\"\nsample = \"{SAMPLE}\"\n\n\
         [link.path]\nfrom = \"client\"\nto = \"server\"\nrate = \"{rate}\"\ndelay = \"{delay}\"\n\
         loss = {loss}\nqueue = {queue}\nreverse = {{ loss = {loss}, queue = {queue} }}\n"
    ))
}

/// Returns a line without the rest of a trace that it contains.
fn shortened(line: &str) -> String {
    match line.char_indices().nth(LONGEST_LINE) {
        Some((end, _)) => format!("{} ...", &line[..end]),
        None => line.into(),
    }
}

/// Returns the table of a queue such as fq-codel:limit=100.
fn queue(text: &str) -> Result<String, Failure> {
    let mut parts = text.split(':').flat_map(|part| part.split(','));
    let name = parts.next().unwrap_or_default().trim().replace('_', "-");
    let mut table = format!("{{ discipline = {}", quote(&name));
    let mut has_limit = false;
    for part in parts {
        let Some((key, value)) = part.split_once('=') else {
            let why = format!("--queue {text}: \"{part}\" is not a parameter");
            return Err(Failure::new(why).hint("DISCIPLINE:NAME=VALUE,NAME=VALUE"));
        };
        let (key, value) = (key.trim(), value.trim());
        has_limit |= key == "limit";
        let plain = value.parse::<f64>().is_ok() || ["true", "false"].contains(&value);
        let value = match plain {
            true if key == "limit" => quote(&format!("{value} pkt")),
            true => value.into(),
            false => quote(value),
        };
        table += &format!(", {} = {value}", key.replace('-', "_"));
    }
    if !has_limit {
        // That of scenarios is one bandwidth-delay product: too little for a path without a delay.
        table += &format!(", limit = {}", quote(LIMIT));
    }
    Ok(table + " }")
}

/// Returns the first directory for a name that no run has, or is being written to, with its lock.
fn vacant(id: &str) -> Result<(PathBuf, Lock), Failure> {
    let mut number = 1_u64;
    loop {
        let name = if number == 1 { id.to_string() } else { format!("{id}-{number}") };
        let place = Path::new("runs").join(name);
        number += 1;
        if place.exists() {
            continue;
        }
        check_place(&place)?;
        match Lock::take(&place) {
            // Another emulation may have written it in the meantime.
            Ok(lock) if !place.exists() => return Ok((place, lock)),
            Ok(_) | Err(FileError::Busy { .. }) => {}
            Err(e) => return Err(e.into()),
        }
    }
}
