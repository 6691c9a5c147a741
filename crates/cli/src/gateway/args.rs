//! The options of the larger commands. Builds without the gateway have their help as well.

use accord::units::{Duration, Rate};
use clap::Args;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Args)]
pub struct Import {
    /// The file of wg-quick, named after the interface.
    pub file: PathBuf,
    /// The cap of each tunnel: its highest rate, and its rate while the path is unknown.
    #[arg(long, value_name = "RATE")]
    pub cap: Rate,
    /// The folder for the files.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    pub to: PathBuf,
}

#[derive(Args)]
pub struct Predict {
    /// The site file.
    pub site: PathBuf,
    /// The path to a peer: its name, the rate of its bottleneck beyond the uplink, and its
    /// round-trip time over empty queues, such as "berlin=30 Mbps, 40 ms". Rate and time are
    /// optional. May be given once per peer.
    #[arg(long, value_name = "PEER=RATE, TIME")]
    pub path: Vec<Given>,
    /// Writes the scenario to FILE.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces FILE if it exists.
    #[arg(long, requires = "output")]
    pub force: bool,
}

/// The known properties of a path.
#[cfg_attr(
    not(feature = "gateway"),
    expect(dead_code, reason = "a build without the gateway only parses it")
)]
#[derive(Clone, Debug, Default)]
pub struct Given {
    pub peer: String,
    pub rate: Option<Rate>,
    /// The round-trip time over empty queues.
    pub round_trip: Option<Duration>,
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Given, String> {
        let wrong = "expected a peer, a rate and a time, such as \"berlin=30 Mbps, 40 ms\"";
        let (peer, path) = text.split_once('=').ok_or(wrong)?;
        let mut given = Given { peer: peer.trim().into(), ..Given::default() };
        for part in path.split(',').map(str::trim) {
            match (part.parse::<Rate>(), part.parse::<Duration>()) {
                (Ok(rate), _) if rate > Rate::ZERO && given.rate.is_none() => {
                    given.rate = Some(rate);
                }
                (_, Ok(time)) if !time.is_zero() && given.round_trip.is_none() => {
                    given.round_trip = Some(time);
                }
                _ => return Err(format!("\"{part}\": {wrong}")),
            }
        }
        Ok(given)
    }
}

#[derive(Args)]
pub struct Trace {
    /// The site file of the running gateway.
    pub site: PathBuf,
    /// The name of the peer.
    pub peer: String,
    /// The length of the trace, up to an hour. A new trace replaces it.
    #[arg(long = "for", value_name = "TIME", default_value = "60 s", value_parser = length)]
    pub length: Duration,
}

/// Reads a time in bounds.
fn between(text: &str, least: Duration) -> Result<Duration, String> {
    let time: Duration = text.parse().map_err(|e| format!("{e}"))?;
    let most = Duration::from_secs(3600);
    let inside = (least..=most).contains(&time);
    inside.then_some(time).ok_or_else(|| format!("it has to be from {least} to {most}"))
}

fn length(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_ms(1))
}

fn step(text: &str) -> Result<Duration, String> {
    between(text, Duration::from_secs(1))
}

#[derive(Args)]
pub struct Accept {
    /// The site file of the running gateway.
    pub site: PathBuf,
    /// The name of the peer.
    pub peer: String,
    /// Tests only this class; by default those with a contract, and the whole tunnel's contract in
    /// the default class if that has none.
    #[arg(long)]
    pub class: Option<String>,
    /// The length of a step, from 1 s to an hour.
    #[arg(long, value_name = "TIME", default_value = "10 s", value_parser = step)]
    pub step: Duration,
    /// The maximum fraction of packets lost up to the contract.
    #[arg(long, value_name = "PART", default_value_t = 0.001)]
    pub most_lost: f64,
    /// The maximum delay variation up to the contract, such as "5 ms"; unlimited by default.
    #[arg(long, value_name = "TIME")]
    pub most_variation: Option<Duration>,
    /// Prints JSON.
    #[arg(long)]
    pub json: bool,
}
