//! Scenario files.

use super::events;
use super::family;
use super::keys;
use super::limits;
use super::line;
use super::resolve::{self, Context};
use super::shape::Shape;
use super::sweep::{self, Axis};
use super::trace;
use accord_family::{Catalogue, Values};
use accord_form::Checker;
use accord_form::{Errors, Problem, Problems, Source, Span, TextError, quote};
use accord_form::{Table, Value};
use accord_scenario::Scenario;
use std::io::Read;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The parsed text of a scenario, in which settings may have replaced values.
#[derive(Clone, Debug)]
pub struct File {
    /// The file itself and the settings, for errors to point at.
    sources: Vec<Arc<Source>>,
    tree: Table,
    /// The contents of the files that the text names. Copies share them.
    contents: Arc<Mutex<trace::Contents>>,
}

impl File {
    /// Reads the file at `path`. Rejects a file larger than 8 MiB, a pipe and a device before reading it.
    pub fn open(path: &Path) -> Result<File, TextError> {
        let name = path.display().to_string();
        match accord_files::open(path, limits::TEXT as u64) {
            Err(e) => Err(whole(&name, format!("cannot be read: {e}"))),
            Ok(file) => File::read(&name, file),
        }
    }

    /// Reads TOML from `input` to its end. `name` has the same meaning as in [`File::parse`].
    pub fn read(name: &str, input: impl Read) -> Result<File, TextError> {
        let mut bytes = Vec::new();
        // Reading one byte more than allowed detects a file that is too large, even if the file
        // system does not know its size.
        match input.take(limits::TEXT as u64 + 1).read_to_end(&mut bytes) {
            Err(e) => Err(whole(name, format!("cannot be read: {e}"))),
            Ok(_) if bytes.len() > limits::TEXT => Err(too_large(name)),
            Ok(_) => match String::from_utf8(bytes) {
                Ok(text) => File::parse(name, &text),
                Err(_) => Err(whole(name, "is not UTF-8 text".to_string())),
            },
        }
    }

    /// Parses TOML. `name` is the name of the text in errors. Its stem is the scenario's `id` if
    /// the text has none. Files named in the text are looked up in the folder of `name`.
    pub fn parse(name: &str, text: &str) -> Result<File, TextError> {
        if text.len() > limits::TEXT {
            return Err(too_large(name));
        }
        let sources = vec![Arc::new(Source { name: name.to_string(), text: text.to_string() })];
        match Table::parse(text, 0) {
            Ok(mut tree) => {
                // Settings can then change a part of a link.
                line::expand(&mut tree);
                Ok(File { sources, tree, contents: Arc::default() })
            }
            Err(problem) => Err(problem.locate(&sources)),
        }
    }

    /// Returns the original text, without settings, and its name.
    pub fn source(&self) -> &Source {
        &self.sources[0]
    }

    /// Returns the names and contents of the files that were read because the text names them. A file is read
    /// when points are first resolved.
    pub fn contents(&self) -> Vec<(String, Vec<u8>)> {
        let contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        let all = contents.iter();
        all.map(|(name, bytes)| (name.clone(), bytes.to_vec())).collect()
    }

    /// Stores the contents of a file that the text may name, so the file is not read.
    pub fn keep(&mut self, name: &str, bytes: &[u8]) {
        let mut contents = self.contents.lock().unwrap_or_else(PoisonError::into_inner);
        contents.insert(name.to_string(), bytes.into());
    }

    /// Sets the value at a dotted path, such as "link.bottleneck.rate". `value` is TOML or plain
    /// text. It is checked when the points are resolved.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), TextError> {
        let source = self.sources.len();
        self.sources
            .push(Arc::new(Source { name: "--set".to_string(), text: format!("{path}={value}") }));
        let at = Span::new(source, 0..path.len());
        let value = Value::from_argument(value, source, path.len() + 1);
        let set = crate::path::knows(&self.tree, path, at);
        let set = set.and_then(|()| crate::path::set(&mut self.tree, path, at, value));
        set.map_err(|problem| problem.locate(&self.sources))
    }

    /// Returns whether the file gives the flow of this name a value for a key.
    pub fn gives_flow(&self, name: &str, key: &str) -> bool {
        self.flow(name).and_then(Value::table).is_some_and(|flow| flow.get(key).is_some())
    }

    /// Returns whether there is a flow of this name.
    pub fn has_flow(&self, name: &str) -> bool {
        self.flow(name).is_some()
    }

    fn flow(&self, name: &str) -> Option<&Value> {
        self.tree.get("flow").and_then(Value::table)?.get(name)
    }

    /// Returns the scenarios that the file describes, one per combination of its sweeps' values.
    /// The last sweep varies fastest. `seed` replaces the file's own.
    pub fn points(
        &self,
        catalogue: &Catalogue,
        seed: Option<u64>,
    ) -> Result<Vec<Scenario>, Errors> {
        let mut problems = Problems::default();
        let scenarios = self.resolve(catalogue, seed, &mut problems);
        problems.check(&self.sources)?;
        Ok(scenarios)
    }

    /// Returns a sentence per event that has no effect at a point of the sweeps: another one sets the same value
    /// at the same time, or the run is over.
    pub fn events_without_effect(&self) -> Vec<String> {
        let axes = sweep::axes(&self.tree, &mut Problems::default());
        let (axes, points) = axes.unwrap_or_default();
        let moves = |axis: &Axis| axis.touches("event") || axis.touches("duration");
        let points = if axes.iter().any(moves) { points.min(MOST_POINTS) } else { 1 };
        let mut found = Vec::new();
        for point in 0..points {
            if let Ok(tree) = self.tree_of(&axes, &chosen(&axes, point)) {
                for text in events::without_effect(&tree) {
                    if !found.contains(&text) {
                        found.push(text);
                    }
                }
            }
        }
        found
    }

    /// Returns the controller of a file that contains only a controller, at `controller`.
    ///
    /// # Errors
    /// Fails if the controller is missing or wrong, or the file contains anything else.
    pub fn controller(&self, catalogue: &Catalogue) -> Result<Values, Errors> {
        let mut problems = Problems::default();
        for entry in self.tree.entries.iter().filter(|e| e.key != "controller") {
            let message = format!("{} is not expected", quote(&entry.key));
            let hint = "a file of a controller has the key controller only";
            problems.push(Problem::new(entry.span, message).hint(hint));
        }
        let values = match self.tree.get("controller") {
            Some(value) => family::CONTROLLER.read(value, catalogue.controllers, &mut problems),
            None => {
                let hint = "controller = \"reno\", or { name = \"reno\", ... }";
                let message = "`controller` is missing";
                problems.push(Problem::new(Span::default(), message).hint(hint));
                None
            }
        };
        problems.check(&self.sources)?;
        Ok(values.expect("without a problem there is one"))
    }

    fn resolve(
        &self,
        catalogue: &Catalogue,
        seed: Option<u64>,
        problems: &mut Problems,
    ) -> Vec<Scenario> {
        catalogue.declare();
        let mut scenarios = Vec::new();
        if let Some(sweeps) = self.tree.get(sweep::KEY) {
            let shape = Shape::Named(&keys::SWEEP);
            Checker { context: catalogue, problems }.value(sweeps, &shape);
        }
        let Some((axes, points)) = sweep::axes(&self.tree, problems) else {
            return scenarios;
        };
        for (i, setting) in self.sources.iter().enumerate().skip(1) {
            let path = setting.text.split('=').next().unwrap_or_default();
            if let Some(axis) = axes.iter().find(|axis| axis.overrides(path)) {
                let message = format!("the sweep {} sets this at every point", axis.name);
                let hint = format!("--set 'sweep.{}.values=[VALUE]' leaves one point", axis.name);
                let span = Span::new(i, 0..path.len());
                problems.push(Problem::new(span, message).hint(hint));
            }
        }
        let id = self.id();
        let folder = Path::new(&self.sources[0].name).parent();
        let mut files = trace::Files::new(folder.unwrap_or(Path::new("")), &self.contents);
        let mut size = 0;
        for point in 0..points {
            let chosen = chosen(&axes, point);
            let context = Context { catalogue, id: &id, seed, axes: &axes, chosen: &chosen };
            let Some(scenario) = self.point(&context, &mut files, problems) else {
                // The other points would mostly repeat the same problems.
                break;
            };
            size += scenario.flows.len() + scenario.links.len();
            scenarios.push(scenario);
            if size > limits::POINTS_FLOWS {
                let most = limits::POINTS_FLOWS;
                let message = format!(
                    "all points together have more than {most} flows and links, in the first {} of {points} points",
                    point + 1
                );
                let span = axes.first().map_or(Span::default(), |a| a.span);
                let hint = "give the sweep fewer values, or run parts of it with --set sweep.NAME.values=[...]";
                problems.push(Problem::new(span, message).hint(hint));
                break;
            }
        }
        scenarios
    }

    fn point(
        &self,
        context: &Context<'_>,
        files: &mut trace::Files<'_>,
        problems: &mut Problems,
    ) -> Option<Scenario> {
        let mut tree = problems.keep(self.tree_of(context.axes, context.chosen))?;
        trace::expand(&mut tree, files, problems);
        let mut checker = Checker { context: context.catalogue, problems };
        checker.table(&tree, Span::default(), &keys::FILE);
        if !problems.is_empty() {
            return None;
        }
        resolve::resolve(&tree, context, problems)
    }

    /// Returns the tree of a point, without the sweeps: they have been checked, and each point would copy all
    /// their values.
    fn tree_of(&self, axes: &[Axis], chosen: &[usize]) -> Result<Table, Problem> {
        let rest = self.tree.entries.iter().filter(|e| e.key != sweep::KEY);
        let mut tree = Table { entries: rest.cloned().collect() };
        for (axis, &i) in axes.iter().zip(chosen) {
            axis.apply(i, &mut tree)?;
        }
        // Sweeps and settings may have inserted other lines.
        line::expand(&mut tree);
        Ok(tree)
    }

    /// Returns the stem of the file's name, turned into a name of the language.
    fn id(&self) -> String {
        let stem = Path::new(&self.sources[0].name).file_stem();
        let stem = stem.map(|s| s.to_string_lossy().into_owned());
        let name: String = stem
            .unwrap_or_default()
            .chars()
            .map(|c| if c.is_alphanumeric() || c == '_' { c } else { '-' })
            .take(limits::NAME)
            .collect();
        if name.is_empty() { "scenario".to_string() } else { name }
    }
}

/// The most points whose events are looked at.
const MOST_POINTS: usize = 100;

/// Returns the index of each sweep's value in the `point`-th combination.
fn chosen(axes: &[Axis], mut point: usize) -> Vec<usize> {
    let mut chosen = vec![0; axes.len()];
    for (i, axis) in axes.iter().enumerate().rev() {
        chosen[i] = point % axis.values.len();
        point /= axis.values.len();
    }
    chosen
}

fn whole(name: &str, message: String) -> TextError {
    let source = Arc::new(Source { name: name.to_string(), text: String::new() });
    let message = format!("{} {message}", quote(name));
    Problem::new(Span::default(), message).locate(&[source])
}

fn too_large(name: &str) -> TextError {
    whole(name, format!("is larger than {} MiB", limits::TEXT >> 20))
}
