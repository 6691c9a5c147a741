//! `accord new`: a first scenario file from a template.

mod example;
mod graph;
mod settings;
mod template;

use crate::draft::{Draft, Place};
use crate::fail::Failure;
use accord::Catalogue;
use accord::family::{Family, Objective};
use accord::language::suggest;
use accord::units::{Duration, Rate};
use clap::Args;
use graph::{Graph, Maker};
use std::path::PathBuf;
use template::Sizes;

pub use template::{Size, TEMPLATES, Template};

#[derive(Args)]
pub struct New {
    /// The template; `accord list templates` shows them with their sizes.
    #[arg(required_unless_present = "example")]
    pub template: Option<String>,
    /// Writes the files of an example of the book to docs/examples, the path in its commands, or to
    /// the directory of -o.
    #[arg(long, value_name = "NAME", conflicts_with = "template")]
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
    /// Number of bottlenecks in a row, of parking-lot.
    #[arg(long, value_name = "N")]
    pub hops: Option<usize>,
    /// Number of nodes, of star, ring and waxman.
    #[arg(long, value_name = "N")]
    pub nodes: Option<usize>,
    /// Number of links from the root to a leaf, of tree.
    #[arg(long, value_name = "N")]
    pub depth: Option<usize>,
    /// Number of children of each node, of tree.
    #[arg(long, value_name = "N")]
    pub branches: Option<usize>,
    /// Number of pods, of fat-tree.
    #[arg(long, value_name = "N")]
    pub pods: Option<usize>,
    /// Density of links, of waxman: the probability of a link between nodes that are close.
    #[arg(long, value_name = "A", default_value_t = 0.6)]
    pub alpha: f64,
    /// Typical length of links, of waxman, as a fraction of the diagonal.
    #[arg(long, value_name = "B", default_value_t = 0.2)]
    pub beta: f64,
    /// Rate of the links; of a dumbbell, of its bottleneck.
    #[arg(long, default_value = "100 Mbps")]
    pub rate: Rate,
    /// Propagation delay of a link; of waxman, of the diagonal.
    #[arg(long)]
    pub delay: Option<Duration>,
    /// The congestion controller; `accord list controllers` shows them.
    #[arg(long, value_name = "NAME", default_value = "monaco")]
    pub controller: String,
    /// The queue discipline, instead of droptail; `accord list disciplines` shows them.
    #[arg(long, value_name = "NAME")]
    pub queue: Option<String>,
    /// Length of the run.
    #[arg(long, value_name = "TIME", default_value = "20 s")]
    pub duration: Duration,
    /// Seed of the random parts: the network, senders and receivers, start times.
    #[arg(long, default_value_t = 1)]
    pub seed: u32,
    /// Sets a value of the scenario, such as flow.all.packet="1500 B".
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub set: Vec<String>,
}

pub fn run(args: &New, catalogue: &Catalogue) -> Result<bool, Failure> {
    if let Some(name) = &args.example {
        return example::write(name, args.output.as_deref(), args.force);
    }
    let place = Place { file: args.output.as_ref(), force: args.force };
    place.check()?;
    let name = args.template.as_deref().unwrap_or_default();
    place.write(&text(args, catalogue)?, &format!("{name}.toml"), catalogue)?;
    Ok(true)
}

/// Returns the text of the scenario.
pub fn text(args: &New, catalogue: &Catalogue) -> Result<String, Failure> {
    let name = args.template.as_deref().unwrap_or_default();
    let Some(template) = TEMPLATES.iter().find(|t| t.name == name) else {
        let failure = Failure::new(format!("unknown template \"{name}\""));
        let hint = suggest(name, TEMPLATES.iter().map(|t| t.name));
        return Err(hint.into_iter().fold(failure, Failure::hint));
    };
    let sizes = Sizes::read(
        template,
        &[
            ("flows", args.flows),
            ("hops", args.hops),
            ("nodes", args.nodes),
            ("depth", args.depth),
            ("branches", args.branches),
            ("pods", args.pods),
        ],
    )?;
    if args.rate == Rate::ZERO || args.duration.is_zero() {
        return Err(Failure::new("--rate and --duration must be more than zero"));
    }
    let share = |x: f64| x > 0.0 && x <= 1.0;
    if !share(args.alpha) || !share(args.beta) {
        let why = "--alpha and --beta must be more than 0 and at most 1";
        return Err(Failure::new(why));
    }
    if name == "fat-tree" && !sizes.of("pods").is_multiple_of(2) {
        return Err(Failure::new("--pods must be even"));
    }
    let controller = known(catalogue.controllers, &args.controller, "controller")?;
    let queue = args.queue.as_ref();
    let queue = queue.map(|name| known(catalogue.disciplines, name, "queue discipline"));
    let queue = queue.transpose()?;
    let scenario = Scenario { args, template, sizes, controller, queue };
    settings::apply(&scenario.text(), &args.set)
}

fn known(
    families: &'static [&'static Family],
    name: &str,
    what: &str,
) -> Result<&'static Family, Failure> {
    let found = families.iter().find(|f| f.name == name);
    found.copied().ok_or_else(|| {
        let failure = Failure::new(format!("unknown {what} \"{name}\""));
        let hint = suggest(name, families.iter().map(|f| f.name));
        hint.into_iter().fold(failure, Failure::hint)
    })
}

/// The inputs of the scenario's text.
struct Scenario<'a> {
    args: &'a New,
    template: &'static Template,
    sizes: Sizes,
    controller: &'static Family,
    /// The queue discipline, if it is not droptail.
    queue: Option<&'static Family>,
}

impl Scenario<'_> {
    fn text(&self) -> String {
        let mut draft = Draft::default();
        let sizes = self.sizes.iter();
        let sizes: Vec<_> = sizes.map(|(s, n)| format!("{} {n}", s.name)).collect();
        draft.comment(self.template.doc);
        draft.comment(
            "\naccord check FILE           checks this file\n\
             accord run FILE             runs it in theory and packets\n\
             accord run FILE --reps 10   with ten seeds, and confidence intervals",
        );
        draft.line("");
        draft.text("title", format!("Template {}: {}", self.template.name, sizes.join(", ")));
        draft.text("duration", self.args.duration);
        draft.line(format_args!("seed = {}", self.args.seed));
        match self.template.name {
            "dumbbell" => self.dumbbell(&mut draft),
            "parking-lot" => self.parking_lot(&mut draft),
            _ => self.graph(&mut draft),
        }
        draft.finish()
    }

    fn delay(&self, default: u64) -> Duration {
        self.args.delay.unwrap_or(Duration::from_ms(default))
    }

    /// Returns the rate of links that are not bottlenecks.
    fn wide(&self) -> Rate {
        Rate::from_bps(self.args.rate.as_bps().saturating_mul(10).min(100_000_000_000_000))
    }

    fn dumbbell(&self, draft: &mut Draft) {
        let (rate, delay, wide) = (self.args.rate, self.delay(10), self.wide());
        draft.table("topology.dumbbell");
        draft.text("rate", rate);
        draft.text("delay", delay);
        self.queue(draft);
        self.group(draft, "all", self.sizes.of("flows"));
        draft.line("from = \"left\"\nto = \"right\"");
        draft
            .comment("A host per flow: round-trip times differ by the delays of the access links.");
        draft.line(format_args!(
            "access = {{ rate = \"{wide}\", delay = {{ spread = [\"1 ms\", \"{}\"] }} }}",
            Duration::from_ms(1) + delay
        ));
        self.sender(draft, self.sizes.of("flows"));
        self.expect(draft, "bottleneck");
    }

    fn parking_lot(&self, draft: &mut Draft) {
        let (hops, flows, wide) = (self.sizes.of("hops"), self.sizes.of("flows"), self.wide());
        draft.line("");
        draft.comment("Routers r0, r1, ... in a row, and the links hop1, hop2, ... between them.");
        draft.line("[topology.parking_lot]");
        draft.line(format_args!("bottlenecks = {hops}"));
        draft.text("rate", self.args.rate);
        draft.text("delay", self.delay(5));
        self.queue(draft);
        let access = format!("access = {{ rate = \"{wide}\", delay = \"1 ms\" }}");
        self.group(draft, "long", flows);
        draft.line(format_args!("from = \"r0\"\nto = \"r{hops}\"\n{access}"));
        self.sender(draft, 2 * flows);
        self.group(draft, "short", flows);
        draft.line(format_args!("each_hop = true\n{access}"));
        self.sender(draft, 2 * flows);
        self.expect(draft, "hop1");
    }

    fn graph(&self, draft: &mut Draft) {
        let (args, sizes) = (self.args, &self.sizes);
        let delay = self.delay(match self.template.name {
            "fat-tree" => 1,
            "waxman" => 40,
            _ => 5,
        });
        let maker = Maker::new(args.rate, delay, args.seed.into());
        let Graph { links, ways } = match self.template.name {
            "star" => maker.star(sizes),
            "ring" => maker.ring(sizes),
            "tree" => maker.tree(sizes),
            "fat-tree" => maker.fat_tree(sizes),
            _ => maker.waxman(sizes, args.alpha, args.beta),
        };
        draft.links(&links, self.queue.map(|family| family.name));
        draft.table("flow.all");
        self.sender(draft, 1);
        draft.line("each = [");
        for way in &ways {
            draft.line(match &way[..] {
                [from, to] => format!("    {{ from = \"{from}\", to = \"{to}\" }},"),
                nodes => format!("    {{ path = {nodes:?} }},"),
            });
        }
        draft.line("]");
        draft.comment(
            "\nExpectations can stand here, and a run checks them:\n\n[[expect]]\n\
             metric = \"throughput\"\nof = \"all\"\nacross = \"sum\"\nequals = \"theory\"\n\
             within = \"10 %\"",
        );
    }

    fn queue(&self, draft: &mut Draft) {
        let discipline = self.queue.map_or("droptail", |family| family.name);
        draft.line(format_args!("queue = {{ discipline = \"{discipline}\", limit = \"1 BDP\" }}"));
    }

    fn group(&self, draft: &mut Draft, name: &str, count: usize) {
        draft.table(&format!("flow.{name}"));
        if count > 1 {
            draft.line(format_args!("count = {count}"));
        }
    }

    /// Writes the keys that all groups have, given the number of flows that share a link.
    fn sender(&self, draft: &mut Draft, sharing: usize) {
        draft.text("controller", self.controller.name);
        let objective = (self.controller.role).objective(&self.controller.defaults());
        if objective == Some(Objective::Unresponsive) {
            let rate = Rate::from_bps(self.args.rate.as_bps() / sharing as u64);
            draft.line(format_args!("demand = {{ constant = \"{rate}\" }}"));
        }
        let latest = Duration::from_secs(1).min(Duration::from_ps(self.args.duration.as_ps() / 10));
        draft.comment("Drawn separately for each flow and seed.");
        draft.line(format_args!("start = {{ uniform = [\"0 s\", \"{latest}\"] }}"));
    }

    fn expect(&self, draft: &mut Draft, link: &str) {
        draft.line("");
        draft.comment("Expectations. A run checks them, and its exit code reports failures.");
        draft.line("[[expect]]");
        draft.text("name", "the link is busy");
        draft.text("metric", "utilisation");
        draft.text("of", link);
        draft.text("at_least", "90 %");
    }
}
