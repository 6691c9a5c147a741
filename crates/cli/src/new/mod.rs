//! `accord new`: a first scenario file from a template.

mod example;

use crate::draft::Place;
use crate::fail::Failure;
use crate::names::Offer;
use accord::Catalogue;
use accord::draft::{DraftError, New as Order, TEMPLATES};
use accord::units::{Duration, Rate};
use clap::Args;
use std::path::PathBuf;

const TEMPLATE: Offer = Offer(|| TEMPLATES.iter().map(|template| template.name).collect());

#[derive(Args)]
pub struct New {
    /// The template; `accord list templates` shows them with their sizes.
    #[arg(required_unless_present = "example", value_parser = TEMPLATE, hide_possible_values = true)]
    pub template: Option<String>,
    /// Writes the files of an example from the book to docs/examples, where the book's commands find
    /// them, or to the directory given by -o.
    #[arg(
        long,
        value_name = "NAME",
        conflicts_with_all = ["template", "flows", "hops", "pods", "rate", "delay", "controller", "queue",
            "duration", "seed"]
    )]
    pub example: Option<String>,
    /// The file to write; by default the scenario goes to standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Replaces an existing file.
    #[arg(long)]
    pub force: bool,
    /// Number of flows.
    #[arg(long, value_name = "N")]
    pub flows: Option<usize>,
    /// Number of bottlenecks in a row (parking-lot).
    #[arg(long, value_name = "N")]
    pub hops: Option<usize>,
    /// Number of pods (fat-tree).
    #[arg(long, value_name = "N")]
    pub pods: Option<usize>,
    /// Rate of the links, or of the bottleneck of a dumbbell.
    #[arg(long, default_value = "100 Mbps")]
    pub rate: Rate,
    /// Propagation delay of a link.
    #[arg(long)]
    pub delay: Option<Duration>,
    /// The congestion controller; `accord list controllers` shows them.
    #[arg(long, value_name = "NAME", default_value = "monaco")]
    pub controller: String,
    /// The queue discipline; `accord list disciplines` shows them.
    #[arg(long, value_name = "NAME", default_value = "droptail")]
    pub queue: String,
    /// Length of the run.
    #[arg(long, value_name = "TIME", default_value = "20 s")]
    pub duration: Duration,
    /// Seed of the random parts: senders, receivers and start times.
    #[arg(long, default_value_t = 1)]
    pub seed: u32,
}

pub fn run(args: &New, catalogue: &Catalogue) -> Result<bool, Failure> {
    if let Some(name) = &args.example {
        return example::write(name, args.output.as_deref(), args.force);
    }
    let place = Place { file: args.output.as_ref(), force: args.force };
    place.check()?;
    let name = args.template.as_deref().unwrap_or_default();
    let order = Order {
        template: name.to_string(),
        flows: args.flows,
        hops: args.hops,
        pods: args.pods,
        rate: args.rate,
        delay: args.delay,
        controller: args.controller.clone(),
        discipline: args.queue.clone(),
        duration: args.duration,
        seed: args.seed.into(),
        ..Order::default()
    };
    place.write(&order.text(catalogue)?, &format!("{name}.toml"), catalogue)?;
    Ok(true)
}

impl From<DraftError> for Failure {
    fn from(e: DraftError) -> Failure {
        let option = match e.argument {
            // It has no option.
            "template" => String::new(),
            "discipline" => "--queue ".to_string(),
            argument => format!("--{argument} "),
        };
        Failure::new(format_args!("{option}{}: {}", e.value, e.message)).hinted(e.hint)
    }
}
