//! `accord new`: a first scenario file from a template.

mod example;
mod fat_tree;
mod template;

use crate::draft::{Draft, Place};
use crate::fail::Failure;
use crate::names::Offer;
use accord::Catalogue;
use accord::family::{Family, Objective};
use accord::units::{Duration, Rate};
use clap::Args;
use std::path::PathBuf;
pub use template::{Size, TEMPLATES, Template};

const TEMPLATE: Offer = Offer(|| TEMPLATES.iter().map(|template| template.name).collect());

#[derive(Args)]
pub struct New {
    /// The template; `accord list templates` shows them with their sizes.
    #[arg(required_unless_present = "example", value_parser = TEMPLATE, hide_possible_values = true)]
    pub template: Option<String>,
    /// Writes the files of an example of the book to docs/examples, where the commands of the book
    /// find them, or to the directory of -o.
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
    /// Number of pods, of fat-tree.
    #[arg(long, value_name = "N")]
    pub pods: Option<usize>,
    /// Rate of the links; of a dumbbell, of its bottleneck.
    #[arg(long, default_value = "100 Mbps")]
    pub rate: Rate,
    /// Propagation delay of a link.
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
    /// Seed of the random parts: senders and receivers, start times.
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
    place.write(&text(args, catalogue)?, &format!("{name}.toml"), catalogue)?;
    Ok(true)
}

/// Returns the text of the scenario.
pub fn text(args: &New, catalogue: &Catalogue) -> Result<String, Failure> {
    let name = args.template.as_deref().unwrap_or_default();
    let Some(template) = TEMPLATES.iter().find(|t| t.name == name) else {
        return Err(Failure::unknown("template", name, TEMPLATES.iter().map(|t| t.name)));
    };
    let given = [("flows", args.flows), ("hops", args.hops), ("pods", args.pods)];
    let sizes = template::sizes(template, &given)?;
    if args.rate == Rate::ZERO || args.duration.is_zero() {
        return Err(Failure::new("--rate and --duration must be more than zero"));
    }
    if sizes.iter().any(|(name, n)| *name == "pods" && !n.is_multiple_of(2)) {
        return Err(Failure::new("--pods must be even"));
    }
    let controller = known(catalogue.controllers, &args.controller, "controller")?;
    let queue = args.queue.as_ref();
    let queue = queue.map(|name| known(catalogue.disciplines, name, "queue discipline"));
    let queue = queue.transpose()?;
    Ok(Scenario { args, template, sizes, controller, queue }.text())
}

fn known(
    families: &'static [&'static Family],
    name: &str,
    what: &str,
) -> Result<&'static Family, Failure> {
    let found = families.iter().find(|f| f.name == name);
    found.copied().ok_or_else(|| Failure::unknown(what, name, families.iter().map(|f| f.name)))
}

/// The inputs of the scenario's text.
struct Scenario<'a> {
    args: &'a New,
    template: &'static Template,
    sizes: Vec<(&'static str, usize)>,
    controller: &'static Family,
    /// The queue discipline, if it is not droptail.
    queue: Option<&'static Family>,
}

impl Scenario<'_> {
    fn text(&self) -> String {
        let mut draft = Draft::default();
        let sizes: Vec<_> = self.sizes.iter().map(|(name, n)| format!("{name} {n}")).collect();
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
            _ => self.fat_tree(&mut draft),
        }
        draft.out
    }

    /// Returns the size of that name, which is one of the template's.
    fn size(&self, name: &str) -> usize {
        let found = self.sizes.iter().find(|(known, _)| *known == name);
        found.expect("the template has it").1
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
        self.group(draft, "all", self.size("flows"));
        draft.line("from = \"left\"\nto = \"right\"");
        draft
            .comment("A host per flow: round-trip times differ by the delays of the access links.");
        draft.line(format_args!(
            "access = {{ rate = \"{wide}\", delay = {{ spread = [\"1 ms\", \"{}\"] }} }}",
            Duration::from_ms(1) + delay
        ));
        self.sender(draft, self.size("flows"));
        self.expect(draft, "bottleneck");
    }

    fn parking_lot(&self, draft: &mut Draft) {
        let (hops, flows, wide) = (self.size("hops"), self.size("flows"), self.wide());
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

    fn fat_tree(&self, draft: &mut Draft) {
        let (pods, flows) = (self.size("pods"), self.size("flows"));
        let link = (self.args.rate, self.delay(1));
        draft.links(&fat_tree::links(pods, link), self.queue.map(|family| family.name));
        draft.table("flow.all");
        self.sender(draft, 1);
        draft.line("each = [");
        for path in fat_tree::paths(pods, flows, self.args.seed.into()) {
            draft.line(format_args!("    {{ path = {path:?} }},"));
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
        draft.comment("Drawn separately for each flow and seed.");
        draft.start(self.args.duration);
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
