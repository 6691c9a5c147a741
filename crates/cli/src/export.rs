//! `accord export`: runs in the formats of other programs.

use crate::fail::Failure;
use crate::output::data;
use accord::record::Run;
use accord::report::{LoadedRun, load_run_dir};
use accord::scenario::{Engine, Entity, Metric};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Map, Value, json};
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    pub format: Format,
}

/// The formats.
#[derive(clap::Subcommand)]
pub enum Format {
    /// Writes a data file of flent, as its test tcp_nup does: a TCP upload per flow.
    #[command(after_help = "Example:\n  accord export flent runs/mine -o mine.flent.gz")]
    Flent(Flent),
}

#[derive(clap::Args)]
pub struct Flent {
    /// The run directory; for a sweep, the directory of a point.
    pub run: PathBuf,
    /// The file to write; by default NAME.flent.gz.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The engine of the run; by default packet, or the first available.
    #[arg(short, long, value_parser = crate::names::engine(), hide_possible_values = true)]
    pub engine: Option<Engine>,
    /// Replaces an existing file.
    #[arg(long)]
    pub force: bool,
}

/// The version of flent's files.
const VERSION: u32 = 3;
/// The start time in the file. A run has no date.
const BEGAN: &str = "1970-01-01T00:00:00.000000Z";

pub fn run(args: &Args) -> Result<bool, Failure> {
    let Format::Flent(args) = &args.format;
    if let Some(first) = first_point(&args.run) {
        let why = format!("{} is a sweep, and a file of flent has one run", args.run.display());
        let hint = format!("a point of it is a directory, such as {}", first.display());
        return Err(Failure::new(why).hint(hint));
    }
    let loaded = load_run_dir(&args.run)?;
    let run = chosen(&loaded, args.engine)?;
    let name = args.run.file_name().unwrap_or_default().to_string_lossy();
    let path = (args.output.clone()).unwrap_or_else(|| format!("{name}.flent.gz").into());
    if path.exists() && !args.force {
        let why = format!("{} already exists", path.display());
        return Err(Failure::new(why).hint("--force replaces it"));
    }
    let text = flent(&loaded, run, &name).to_string();
    let mut zipped = GzEncoder::new(Vec::new(), Compression::default());
    let zipped = zipped.write_all(text.as_bytes()).and_then(|()| zipped.finish());
    let written = zipped.and_then(|bytes| accord::files::write(&path, &bytes));
    written.map_err(|e| Failure::io(format!("cannot write {}: {e}", path.display()), &e))?;
    data(path.display())?;
    Ok(true)
}

/// Returns the run directory of the first point of a sweep, if `dir` is one.
fn first_point(dir: &Path) -> Option<PathBuf> {
    const MANIFEST: &str = "manifest.json";
    let first = dir.join("001");
    (!dir.join(MANIFEST).exists() && first.join(MANIFEST).exists()).then_some(first)
}

fn chosen(loaded: &LoadedRun, engine: Option<Engine>) -> Result<&Run, Failure> {
    let of = |engine| loaded.runs.iter().find(|r| r.manifest.engine == engine);
    let run = match engine {
        Some(engine) => of(engine),
        None => of(Engine::Packet).or_else(|| loaded.runs.first()),
    };
    if run.is_some_and(|run| run.only_over.is_some()) {
        let why = format!("{} has means only, and no samples", loaded.path.display());
        return Err(Failure::new(why).hint("run the sweep again with --series"));
    }
    run.filter(|r| !r.time.is_empty()).ok_or_else(|| {
        let names: Vec<_> = (loaded.runs.iter()).map(|r| r.manifest.engine.to_string()).collect();
        let why = format!("{} has no series of that engine", loaded.path.display());
        Failure::new(why).hint(format!("available: {}", names.join(", ")))
    })
}

/// The content of the file.
fn flent(loaded: &LoadedRun, run: &Run, name: &str) -> Value {
    let outline = &loaded.manifest.scenario;
    let flows: Vec<&String> = outline.groups.iter().flat_map(|g| &g.flows).collect();
    let mut results = Map::new();
    let mut raw = Map::new();
    let mut rates = Vec::new();
    for (id, flow) in flows.iter().enumerate() {
        let values = |metric| run.series(metric, Entity::Flow(id)).map(|s| &s.values[..]);
        let rate = [Metric::Goodput, Metric::Throughput, Metric::SendingRate];
        let Some(rate) = rate.into_iter().find_map(values) else {
            continue;
        };
        let n = rates.len() + 1;
        rates.push(rate);
        results.insert(format!("TCP upload::{n}"), scaled(rate, 1e-6));
        let packet = outline.packet_bytes.max(1.0);
        let kept = [
            ("val", Some(rate), 1e-6),
            ("tcp_rtt", values(Metric::Rtt), 1e3),
            ("tcp_cwnd", values(Metric::Cwnd), 1.0 / packet),
            ("tcp_ssthresh", values(Metric::Ssthresh), 1.0 / packet),
        ];
        let rows = run.time.iter().enumerate().map(|(i, time)| {
            let mut row = Map::from_iter([("t".into(), json!(time))]);
            for (key, values, unit) in &kept {
                if let Some(value) = values.map(|v| v[i] * unit).filter(|v| v.is_finite()) {
                    row.insert((*key).into(), json!(value));
                }
            }
            row.insert("flow".into(), json!(flow));
            Value::Object(row)
        });
        raw.insert(format!("TCP upload::{n}"), rows.collect());
    }
    // Only flows that have started. Without any there is no value, as in flent.
    let (mut sums, mut means) = (Vec::new(), Vec::new());
    for i in 0..run.time.len() {
        let there = rates.iter().map(|r| r[i]).filter(|v| v.is_finite());
        let (sum, count) = there.fold((0.0, 0), |(sum, n), v| (sum + v, n + 1));
        sums.push(if count > 0 { sum } else { f64::NAN });
        means.push(sum / f64::from(count));
    }
    results.insert("TCP upload sum".into(), scaled(&sums, 1e-6));
    results.insert("TCP upload avg".into(), scaled(&means, 1e-6));
    let period = run.time[0];
    let length = run.time[run.time.len() - 1];
    json!({
        "version": VERSION,
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": format!("{} ({})", outline.id, run.manifest.engine),
            "NOTE": format!(
                "{}. Accord {}, engine {}, digest {}. No ping was sent.",
                outline.title, run.manifest.version, run.manifest.engine, run.manifest.digest
            ),
            "TIME": BEGAN,
            "T0": BEGAN,
            "LENGTH": length.ceil() as u64,
            "TOTAL_LENGTH": length.ceil() as u64,
            "STEP_SIZE": period,
            "HOST": "accord",
            "HOSTS": ["accord"],
            "LOCAL_HOST": "accord",
            "IP_VERSION": 4,
            "FLENT_VERSION": "2.1.1",
            "TEST_PARAMETERS": { "upload_streams": rates.len().to_string() },
            "DATA_FILENAME": format!("{name}.flent.gz"),
            "BATCH_NAME": null,
            "BATCH_TIME": null,
            "BATCH_TITLE": null,
            "BATCH_UUID": null,
        },
        "x_values": run.time,
        "results": results,
        "raw_values": raw,
    })
}

/// Returns the values in another unit. JSON has no NaN.
fn scaled(values: &[f64], unit: f64) -> Value {
    let value = |v: &f64| if v.is_finite() { json!(v * unit) } else { Value::Null };
    values.iter().map(value).collect()
}
