//! Scenarios that the library writes: templates, and the text of files.
//!
//! ```
//! use accord::draft::New;
//! use accord::units::Rate;
//!
//! let new = New { rate: Rate::from_bps(8_000_000), flows: Some(2), ..New::default() };
//! let text = new.text(&accord::catalogue())?;
//! assert!(text.contains("rate = \"8 Mbps\""));
//!
//! // An error names the argument.
//! let wrong = New { limit: "10 parsecs".into(), ..New::default() };
//! let error = wrong.text(&accord::catalogue()).unwrap_err();
//! assert_eq!(error.argument, "limit");
//! # Ok::<(), accord::draft::DraftError>(())
//! ```

mod fat_tree;
mod text;

pub use text::{Draft, Line, quote};

use accord_family::{Catalogue, Family, Objective};
use accord_language::{File, TextError, suggest};
use accord_units::{Duration, Rate};
use std::fmt::Display;
use std::str::FromStr;

/// A template of scenarios.
#[derive(Debug)]
pub struct Template {
    /// The name.
    pub name: &'static str,
    /// A one-sentence description.
    pub doc: &'static str,
    /// The sizes of the template.
    pub sizes: &'static [Size],
}

/// A size of a template.
#[derive(Debug)]
pub struct Size {
    /// The name of its argument.
    pub name: &'static str,
    /// The value if it is not given.
    pub default: usize,
    /// The minimum and the maximum.
    pub range: [usize; 2],
    /// A one-sentence description.
    pub doc: &'static str,
}

const fn size(name: &'static str, default: usize, range: [usize; 2], doc: &'static str) -> Size {
    Size { name, default, range, doc }
}

/// The templates.
pub const TEMPLATES: &[Template] = &[
    Template {
        name: "dumbbell",
        doc: "One bottleneck, and flows with different round-trip times that share it.",
        sizes: &[size("flows", 10, [1, 10_000], "Flows over the bottleneck.")],
    },
    Template {
        name: "parking-lot",
        doc: "Bottlenecks in a row: some flows cross all of them, others one each.",
        sizes: &[
            size("hops", 3, [1, 1000], "Bottlenecks in the row."),
            size("flows", 1, [1, 100], "Flows over the whole row, and over each hop."),
        ],
    },
    Template {
        name: "fat-tree",
        doc: "A data centre's fat tree with hosts, and flows over core switches drawn by the seed.",
        sizes: &[
            size("pods", 4, [2, 16], "Pods, an even number k: there are k³/4 hosts."),
            size("flows", 16, [1, 10_000], "Flows, between nodes drawn by the seed."),
        ],
    },
];

/// A scenario to make from a template.
#[derive(Clone, Debug)]
pub struct New {
    /// The name of the template, one of [`TEMPLATES`].
    pub template: String,
    /// The number of flows.
    pub flows: Option<usize>,
    /// The number of consecutive bottlenecks of `parking-lot`.
    pub hops: Option<usize>,
    /// The number of pods of `fat-tree`.
    pub pods: Option<usize>,
    /// The rate of the links, or of the bottleneck of a dumbbell.
    pub rate: Rate,
    /// The propagation delay of a link. The default is 10 ms in a dumbbell, 5 ms in a parking lot and 1 ms in
    /// a fat tree.
    pub delay: Option<Duration>,
    /// The congestion controller.
    pub controller: String,
    /// The queue discipline.
    pub discipline: String,
    /// The limit of the queue, such as "1 BDP". A fat tree uses the default limit of files.
    pub limit: String,
    /// The length of the run.
    pub duration: Duration,
    /// The seed of the random parts: senders, receivers and start times.
    pub seed: u64,
}

/// Ten flows over a dumbbell with a bottleneck of 100 Mbps.
impl Default for New {
    fn default() -> New {
        New {
            template: "dumbbell".into(),
            flows: None,
            hops: None,
            pods: None,
            rate: Rate::from_bps(100_000_000),
            delay: None,
            controller: "monaco".into(),
            discipline: DROPTAIL.into(),
            limit: "1 BDP".into(),
            duration: Duration::from_secs(20),
            seed: 1,
        }
    }
}

const DROPTAIL: &str = "droptail";

/// An argument is wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{argument} {value}: {message}")]
pub struct DraftError {
    /// The argument.
    pub argument: &'static str,
    /// The value of the argument.
    pub value: String,
    /// The fault and the expectation.
    pub message: String,
    /// A hint at the remedy, if one is known.
    pub hint: Option<String>,
}

impl DraftError {
    fn new(argument: &'static str, value: impl Display, message: impl Display) -> DraftError {
        let (value, message) = (value.to_string(), message.to_string());
        DraftError { argument, value, message, hint: None }
    }
}

impl New {
    /// Sets an argument by its name, from text.
    ///
    /// # Errors
    /// Fails if the value is wrong or the argument unknown.
    pub fn set(&mut self, argument: &str, value: &str) -> Result<(), DraftError> {
        fn read<T: FromStr<Err: Display>>(
            argument: &'static str,
            value: &str,
        ) -> Result<T, DraftError> {
            value.parse().map_err(|e: T::Err| DraftError::new(argument, value, e))
        }
        fn whole(argument: &'static str, value: &str) -> Result<usize, DraftError> {
            let wrong = |_| DraftError::new(argument, value, "expected a whole number above zero");
            value.parse().map_err(wrong)
        }
        match argument {
            "template" => self.template = value.into(),
            "flows" => self.flows = Some(whole("flows", value)?),
            "hops" => self.hops = Some(whole("hops", value)?),
            "pods" => self.pods = Some(whole("pods", value)?),
            "rate" => self.rate = read("rate", value)?,
            "delay" => self.delay = Some(read("delay", value)?),
            "controller" => self.controller = value.into(),
            "discipline" => self.discipline = value.into(),
            "limit" => self.limit = value.into(),
            "duration" => self.duration = read("duration", value)?,
            "seed" => self.seed = read("seed", value)?,
            _ => return Err(DraftError::new("argument", argument, "unknown argument")),
        }
        Ok(())
    }

    /// Returns the text of the scenario, a file that can be read with this catalogue.
    ///
    /// # Errors
    /// Fails if an argument is wrong.
    pub fn text(&self, catalogue: &Catalogue) -> Result<String, DraftError> {
        let template = TEMPLATES.iter().find(|t| t.name == self.template).ok_or_else(|| {
            let hint = suggest(&self.template, TEMPLATES.iter().map(|t| t.name));
            DraftError { hint, ..DraftError::new("template", &self.template, "unknown template") }
        })?;
        let made = Scenario {
            new: self,
            template,
            sizes: self.sizes(template)?,
            controller: known(catalogue.controllers, "controller", &self.controller)?,
            queue: known(catalogue.disciplines, "discipline", &self.discipline)?,
        };
        let text = made.text();
        let read = File::parse("draft", &text).and_then(|file| {
            let points = file.points(catalogue, None);
            points.map(drop).map_err(|errors| errors.into_iter().next().expect("there is one"))
        });
        match read {
            Ok(()) => Ok(text),
            Err(error) => Err(self.of(&error)),
        }
    }

    /// Returns the error of the argument whose value is where the text has an error.
    fn of(&self, error: &TextError) -> DraftError {
        let there = error.origin.text.get(error.span.clone()).unwrap_or_default();
        let delay = self.delay.map(|delay| delay.to_string());
        let arguments = [
            ("duration", self.duration.to_string()),
            ("seed", self.seed.to_string()),
            ("rate", self.rate.to_string()),
            ("delay", delay.unwrap_or_default()),
            ("limit", self.limit.clone()),
            ("controller", self.controller.clone()),
            ("discipline", self.discipline.clone()),
        ];
        let bare = there.trim_matches(['"', '\'']);
        let found = arguments.into_iter().find(|(_, value)| value == bare);
        let (argument, value) = found.unwrap_or(("template", self.template.clone()));
        let hint = error.hint.clone();
        DraftError { hint, ..DraftError::new(argument, value, &error.message) }
    }

    /// Returns the sizes of a template with their values.
    fn sizes(&self, template: &Template) -> Result<Vec<(&'static str, usize)>, DraftError> {
        let given = [("flows", self.flows), ("hops", self.hops), ("pods", self.pods)];
        let own = || template.sizes.iter().map(|s| s.name);
        for (name, value) in given {
            if let Some(value) = value.filter(|_| !own().any(|own| own == name)) {
                let message = format!("{} has no {name}", template.name);
                let hint = Some(format!("it has {}", own().collect::<Vec<_>>().join(" and ")));
                return Err(DraftError { hint, ..DraftError::new(name, value, message) });
            }
        }
        let size = |size: &Size| {
            let asked = given.iter().find(|(name, _)| *name == size.name);
            let n = asked.and_then(|(_, n)| *n).unwrap_or(size.default);
            let [least, most] = size.range;
            let wrong = |message: String| Err(DraftError::new(size.name, n, message));
            match n {
                _ if !(least..=most).contains(&n) => wrong(format!("expected {least} to {most}")),
                _ if size.name == "pods" && n % 2 == 1 => wrong("expected an even number".into()),
                _ => Ok((size.name, n)),
            }
        };
        template.sizes.iter().map(size).collect()
    }
}

fn known(
    families: &'static [&'static Family],
    argument: &'static str,
    name: &str,
) -> Result<&'static Family, DraftError> {
    families.iter().copied().find(|f| f.name == name).ok_or_else(|| {
        let hint = suggest(name, families.iter().map(|f| f.name));
        DraftError { hint, ..DraftError::new(argument, name, "there is none of this name") }
    })
}

/// The inputs of the scenario's text.
struct Scenario<'a> {
    new: &'a New,
    template: &'static Template,
    sizes: Vec<(&'static str, usize)>,
    controller: &'static Family,
    queue: &'static Family,
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
        draft.text("duration", self.new.duration);
        draft.line(format_args!("seed = {}", self.new.seed));
        match self.template.name {
            "dumbbell" => self.dumbbell(&mut draft),
            "parking-lot" => self.parking_lot(&mut draft),
            _ => self.fat_tree(&mut draft),
        }
        draft.out
    }

    /// Returns the size with this name, which is one of the template's.
    fn size(&self, name: &str) -> usize {
        let found = self.sizes.iter().find(|(known, _)| *known == name);
        found.expect("the template has it").1
    }

    fn delay(&self, default: u64) -> Duration {
        self.new.delay.unwrap_or(Duration::from_ms(default))
    }

    /// Returns the rate of links that are not bottlenecks.
    fn wide(&self) -> Rate {
        Rate::from_bps(self.new.rate.as_bps().saturating_mul(10).min(100_000_000_000_000))
    }

    fn dumbbell(&self, draft: &mut Draft) {
        let (rate, delay, wide) = (self.new.rate, self.delay(10), self.wide());
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
        draft.text("rate", self.new.rate);
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
        let link = (self.new.rate, self.delay(1));
        let queue = Some(self.queue.name).filter(|name| *name != DROPTAIL);
        draft.links(&fat_tree::links(pods, link), queue);
        draft.table("flow.all");
        self.sender(draft, 1);
        draft.line("each = [");
        for path in fat_tree::paths(pods, flows, self.new.seed) {
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
        let discipline = self.queue.name;
        let limit = quote(&self.new.limit);
        draft.line(format_args!("queue = {{ discipline = \"{discipline}\", limit = {limit} }}"));
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
            let rate = Rate::from_bps(self.new.rate.as_bps() / sharing as u64);
            draft.line(format_args!("demand = {{ constant = \"{rate}\" }}"));
        }
        draft.comment("Drawn separately for each flow and seed.");
        draft.start(self.new.duration);
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
