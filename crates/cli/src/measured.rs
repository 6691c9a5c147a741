//! `accord import run`: a run directory from other programs' measurements of real flows.

use crate::contents::contents;
use crate::fail::Failure;
use crate::output::{data, note};
use crate::progress::at_once;
use accord::record::{Manifest, Run, Series};
use accord::report::{GroupOutline, Outline, Places, UNNAMED, WHOLE, write_measured_dir};
use accord::scenario::{Engine, Entity, Metric};
use accord::units::{Bytes, Duration};
use accord_import::measured::{Flow, Format, Measured, Quantity, Sample, read};
use accord_import::{decoded_in_part, limits};
use flate2::read::MultiGzDecoder;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Args {
    /// The measurements: qlog, the output of `ss -ti` with times, the JSON of iperf3, or a packet capture.
    pub file: PathBuf,
    /// The run directory to write; by default runs/NAME, after the file.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The format, if the content of the file does not determine it: qlog, ss, iperf3 or pcap.
    #[arg(long)]
    pub format: Option<Format>,
    /// The name of the group of flows, which `accord compare` matches with a group of another run; optional
    /// for a run of one group.
    #[arg(long, value_name = "NAME", default_value = UNNAMED)]
    pub group: String,
    /// The size of a packet on the wire, as counted by the scenario to compare with, for the flows whose
    /// payload it holds; by default the payload and 52 bytes of IP and TCP. Amounts of payload become
    /// amounts of whole packets.
    #[arg(long, value_name = "SIZE")]
    pub packet: Option<Bytes>,
    /// The payload of a full packet; by default the maximum segment size that the file has for the flow.
    #[arg(long, value_name = "SIZE")]
    pub payload: Option<Bytes>,
    /// The approximate period of the series, rounded to divide the measured time; by default the
    /// time between samples, at least 10 ms.
    #[arg(long, value_name = "TIME")]
    pub sample: Option<Duration>,
    /// The start of the steady part, over which tables average; by default the middle.
    #[arg(long, value_name = "TIME")]
    pub from: Option<Duration>,
    /// The end of the steady part; by default the end.
    #[arg(long, value_name = "TIME")]
    pub to: Option<Duration>,
    /// Prints only the result, without hints.
    #[arg(short, long)]
    pub quiet: bool,
}

/// The shortest default period, in seconds.
const PERIOD: f64 = 0.01;
/// The maximum number of samples of a series.
const SAMPLES: f64 = 1e6;
/// The maximum number of values of all series.
const VALUES: f64 = 5e7;
/// The assumed packet size, for tables that classify small amounts.
const PACKET: f64 = 1500.0;

pub fn run(args: &Args) -> Result<bool, Failure> {
    let path = &args.file;
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let dir = (args.output.clone()).unwrap_or_else(|| Path::new("runs").join(&*stem));
    let (outline, run) = at_once(|| make(args, &stem))??;
    write_measured_dir(&dir, &outline, &run)?;
    data(dir.display())?;
    if !args.quiet {
        for remark in &run.notes {
            note(remark);
        }
        let named = args.group != UNNAMED;
        let group = if named { "" } else { ", and --group GROUP if the run has several groups" };
        note(format_args!(
            "compare it with a run: accord compare runs/NAME {}{group}",
            dir.display()
        ));
    }
    Ok(true)
}

fn make(args: &Args, id: &str) -> Result<(Outline, Run), Failure> {
    let path = &args.file;
    let bytes = contents(path, limits::MEASURED)?;
    let bytes = unzipped(bytes)
        .map_err(|e| Failure::new(format!("{} cannot be unzipped: {e}", path.display())))?;
    let Some(format) = args.format.or_else(|| Format::guess(&bytes)) else {
        let why = format!("the format of {} is unknown", path.display());
        return Err(Failure::new(why).hint(Format::advice(&decoded_in_part(&bytes))));
    };
    let measured = read(format, &bytes)
        .map_err(|e| Failure::new(format!("{}: {e}", path.display())).hinted(e.hint))?;
    convert(args, id, format, measured, &bytes)
}

/// Returns the contents of a file, which may be compressed by gzip.
fn unzipped(bytes: Vec<u8>) -> std::io::Result<Vec<u8>> {
    if !bytes.starts_with(&[0x1f, 0x8b]) {
        return Ok(bytes);
    }
    // One byte more than the limit shows that the text is too large.
    let most = limits::MEASURED as u64 + 1;
    let mut contents = Vec::new();
    let read = (MultiGzDecoder::new(&bytes[..]).take(most)).read_to_end(&mut contents);
    match read {
        // A truncated file is read up to the truncation.
        Err(_) if !contents.is_empty() => Ok(contents),
        Err(e) => Err(e),
        Ok(_) => Ok(contents),
    }
}

/// Makes series of samples.
fn convert(
    args: &Args,
    id: &str,
    format: Format,
    measured: Measured,
    contents: &[u8],
) -> Result<(Outline, Run), Failure> {
    let file = args.file.file_name().unwrap_or_default().to_string_lossy();
    let title = &format!("measured: {file} ({})", format.name());
    let mut measured = measured;
    let packet = whole_packets(args, &mut measured)?;
    let counted = counted(args, format, &measured);
    let length = measured.length();
    let about = match args.sample {
        Some(period) => period.as_secs_f64(),
        None => spacing(&measured).max(PERIOD),
    };
    let count = (length / about).round().max(1.0);
    let values = count * measured.flows.len() as f64 * 8.0;
    if about <= 0.0 || count > SAMPLES || values > VALUES {
        let why = format!("{length:.3} s in periods of {about} s are too many samples");
        return Err(Failure::new(why).hint("--sample sets a longer period"));
    }
    // The last period ends with the data, so no period is covered in part.
    let period = if length > 0.0 { length / count } else { about };
    let time: Vec<f64> = (1..=count as u64).map(|i| i as f64 * period).collect();
    let mut series = Vec::new();
    for (id, flow) in measured.flows.iter().enumerate() {
        series.extend(series_of(flow, Entity::Flow(id), &time, period));
    }
    series.sort_by_key(|s| (s.entity, s.metric));
    let steady = (
        args.from.map_or(length / 2.0, Duration::as_secs_f64),
        args.to.map_or(time[time.len() - 1], Duration::as_secs_f64),
    );
    if steady.0 >= time[time.len() - 1] {
        let why = "the steady part begins after the measurements";
        return Err(Failure::new(why).hint(format!("the measurements last {length:.3} s")));
    }
    if steady.0 >= steady.1 {
        let why = "the steady part ends before it begins";
        return Err(Failure::new(why).hint(format!("the measurements last {length:.3} s")));
    }
    let of_rtt = |s: &Sample| match s.quantity {
        Quantity::MinRtt | Quantity::Rtt => Some(s.value),
        _ => None,
    };
    let all = measured.flows.iter().flat_map(|f| &f.samples);
    let base = all.filter_map(of_rtt).fold(f64::INFINITY, f64::min);
    let mut notes = vec![format!("{title}: not a run of Accord")];
    notes.extend(measured.remarks);
    notes.extend(idle(&measured.flows, &series));
    let manifest = Manifest {
        engine: Engine::Live,
        version: env!("CARGO_PKG_VERSION").into(),
        scenario_hash: blake3::hash(contents).to_hex().to_string(),
        seed: 0,
        digest: Manifest::digest(&series),
        plan: None,
    };
    let outline = Outline {
        id: id.into(),
        title: title.into(),
        source: String::new(),
        notes: String::new(),
        point: Vec::new(),
        steady_s: steady,
        groups: vec![GroupOutline {
            name: args.group.clone(),
            flows: measured.flows.iter().map(|f| f.name.clone()).collect(),
            as_one: false,
        }],
        links: Vec::new(),
        aggregates: Vec::new(),
        counted,
        places: Places::default(),
        packet_bytes: packet,
        round_trip_s: if base.is_finite() { base } else { 0.0 },
    };
    Ok((outline, Run { notes, ..Run::new(manifest, time, series) }))
}

/// The share of the largest flow's data below which a flow counts as idle, such as iperf3's control connection.
const IDLE: f64 = 0.01;

/// Returns a note on the flows that carried hardly any data: means over the group count them.
fn idle(flows: &[Flow], series: &[Series]) -> Option<String> {
    let data = |id: usize| -> f64 {
        let of = |s: &&Series| s.entity == Entity::Flow(id) && s.metric == Metric::Throughput;
        let values = series.iter().find(of).map_or(&[][..], |s| &s.values);
        values.iter().filter(|v| !v.is_nan()).sum()
    };
    let all: Vec<f64> = (0..flows.len()).map(data).collect();
    let most = all.iter().copied().fold(0.0, f64::max);
    let idle = all.iter().enumerate().filter(|(_, sum)| **sum < IDLE * most);
    let names: Vec<&str> = idle.map(|(id, _)| flows[id].name.as_str()).collect();
    let (first, others) = names.split_first()?;
    let more =
        if others.is_empty() { String::new() } else { format!(" and {} others", others.len()) };
    Some(format!(
        "{first}{more} carried less than {:.0} % of the data of the largest flow, and count as flows in means: leave them out by a filter if they are control connections",
        100.0 * IDLE
    ))
}

/// The bytes of IP and of TCP with time stamps.
const HEADERS: f64 = 52.0;

/// Turns amounts of payload into amounts of whole packets, as in other runs, where the payload of a packet is
/// known. Returns the size of the smallest packet.
fn whole_packets(args: &Args, measured: &mut Measured) -> Result<f64, Failure> {
    let named = args.payload.map(Bytes::as_f64);
    let payloads: Vec<f64> =
        measured.flows.iter().filter_map(|flow| named.or(flow.payload)).collect();
    let Some(least) = payloads.iter().copied().reduce(f64::min) else {
        if args.packet.is_some() {
            let why = "the file does not have the payload of a packet";
            return Err(Failure::new(why).hint("--payload names it, such as --payload \"1448 B\""));
        }
        return Ok(PACKET);
    };
    let asked = args.packet.map(Bytes::as_f64);
    if least <= 0.0 || asked.is_some_and(|packet| packet < least) {
        let packet = asked.unwrap_or(least + HEADERS);
        let why = format!("a packet of {packet} B has no room for a payload of {least} B");
        return Err(Failure::new(why).hint("--packet is the size with all headers"));
    }
    // A connection over another path, such as loopback, may have larger packets.
    let packet_of = |payload: f64| match asked {
        Some(packet) if packet >= payload => packet,
        _ => payload + HEADERS,
    };
    let amounts = [Quantity::Cwnd, Quantity::Ssthresh, Quantity::Sent, Quantity::Arrived];
    for flow in &mut measured.flows {
        let Some(payload) = named.or(flow.payload) else { continue };
        let samples = flow.samples.iter_mut();
        for sample in samples.filter(|sample| amounts.contains(&sample.quantity)) {
            sample.value *= packet_of(payload) / payload;
        }
    }
    let mut sizes = payloads;
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let most = sizes.len().min(MOST_SIZES);
    let said =
        |payload: &f64| format!("{payload} B of payload are {} B on the wire", packet_of(*payload));
    let mut list: Vec<String> = sizes[..most].iter().map(said).collect();
    if sizes.len() > most {
        list.push(format!("and {} sizes more", sizes.len() - most));
    }
    measured.remarks.push(format!(
        "Rates and windows are those of whole packets: {} (--packet).",
        list.join(", ")
    ));
    Ok(sizes.into_iter().map(packet_of).fold(f64::INFINITY, f64::min))
}

/// Returns the unit of rates and windows of flows, such as payload, after [`whole_packets`].
fn counted(args: &Args, format: Format, measured: &Measured) -> String {
    let words: BTreeSet<&str> = (measured.flows.iter())
        .map(|flow| match format {
            Format::Pcap => WHOLE,
            _ if args.payload.is_some() || flow.payload.is_some() => WHOLE,
            Format::Ss | Format::Iperf3 => "payload",
            Format::Qlog if measured.bare => "QUIC packets or payload",
            Format::Qlog => "QUIC packets",
        })
        .collect();
    words.into_iter().collect::<Vec<_>>().join(" or ")
}

/// The largest number of sizes of packets that a remark lists.
const MOST_SIZES: usize = 4;

/// Returns the median time between the samples of a flow, in seconds, in whole milliseconds.
fn spacing(measured: &Measured) -> f64 {
    let mut spans = Vec::new();
    for flow in &measured.flows {
        let mut times: Vec<f64> = flow.samples.iter().map(|s| s.time).collect();
        times.dedup();
        spans.extend(times.windows(2).map(|w| w[1] - w[0]));
    }
    spans.sort_by(f64::total_cmp);
    let median = spans.get(spans.len() / 2).copied().unwrap_or(1.0);
    (median * 1000.0).round() / 1000.0
}

/// Returns the series of a flow. It has values from its first sample to its last.
fn series_of(flow: &Flow, entity: Entity, time: &[f64], period: f64) -> Vec<Series> {
    let (grid, at) = ((time.len(), period), |s: &Sample| s.time);
    let [from, to] = [flow.samples.first(), flow.samples.last()].map(|s| s.map_or(0.0, at));
    let whole = Edges::of((from, to), grid);
    let of = |quantity: Quantity| -> Vec<(f64, f64)> {
        let samples = flow.samples.iter().filter(|s| s.quantity == quantity);
        samples.map(|s| (s.time, s.value)).collect()
    };
    let mut all = Vec::new();
    let mut add = |metrics: &[Metric], edges: &Edges, of: &dyn Fn(f64, f64) -> f64| {
        let mut values = vec![f64::NAN; time.len()];
        for (i, ends) in edges.times.windows(2).enumerate() {
            values[edges.first + i] = of(ends[0], ends[1]);
        }
        all.extend(metrics.iter().map(|&metric| Series { metric, entity, values: values.clone() }));
    };
    for (quantity, metrics) in [
        (Quantity::Cwnd, &[Metric::Cwnd][..]),
        (Quantity::Ssthresh, &[Metric::Ssthresh]),
        (Quantity::Rtt, &[Metric::Rtt]),
        (Quantity::MinRtt, &[Metric::MinRtt]),
        (Quantity::Sent, &[Metric::SendingRate]),
        (Quantity::Arrived, &[Metric::Throughput, Metric::Goodput]),
        (Quantity::Retransmitted, &[Metric::Retransmissions]),
        (Quantity::Lost, &[Metric::Losses]),
    ] {
        let samples = of(quantity);
        let more = |from, to| total(&samples, to) - total(&samples, from);
        match (quantity, &samples[..]) {
            (_, []) | (Quantity::Sent | Quantity::Arrived, [_]) => {}
            (Quantity::Sent | Quantity::Arrived, [first, .., last]) => {
                // No packet is known to be sent or to arrive after the last one.
                let own = Edges::of((first.0, last.0), grid);
                add(metrics, &own, &|from, to| more(from, to) * 8.0 / (to - from));
            }
            (Quantity::Retransmitted | Quantity::Lost, _) => add(metrics, &whole, &more),
            _ => add(metrics, &whole, &|_, end| last(&samples, end)),
        }
    }
    all
}

/// The periods of the grid that samples cover.
struct Edges {
    /// The first of the periods.
    first: usize,
    /// The boundaries of the periods. The outer two are those of the first and the last sample,
    /// which are within half a period of the grid.
    times: Vec<f64>,
}

impl Edges {
    /// Returns the periods between two times, given the number and length of periods.
    fn of((from, to): (f64, f64), (count, period): (usize, f64)) -> Edges {
        let nearest = |time: f64| (time / period).round() as usize;
        let first = nearest(from).min(count - 1);
        let last = nearest(to).clamp(first + 1, count);
        let mut times: Vec<f64> = (first..=last).map(|i| i as f64 * period).collect();
        (times[0], times[last - first]) = (from, to);
        Edges { first, times }
    }
}

/// Returns the last value by a time, or NaN.
fn last(samples: &[(f64, f64)], time: f64) -> f64 {
    let after = samples.partition_point(|(at, _)| *at <= time + 1e-9);
    (after.checked_sub(1)).map_or(f64::NAN, |i| samples[i].1)
}

/// Returns a total at a time, interpolated linearly between samples.
fn total(samples: &[(f64, f64)], time: f64) -> f64 {
    let after = samples.partition_point(|(at, _)| *at <= time);
    match (after.checked_sub(1).map(|i| samples[i]), samples.get(after)) {
        (None, _) => samples[0].1,
        (Some((_, value)), None) => value,
        (Some((from, low)), Some(&(to, high))) => low + (high - low) * (time - from) / (to - from),
    }
}
