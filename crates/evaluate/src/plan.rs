//! The runs of an evaluation: cases, subjects, points of sweeps and seeds.

use crate::measure::{entries, metrics, unit};
use crate::pack::{Case, Pack, Section, SubjectRole, Tier};
use crate::program::Instances;
use crate::subject::Subject;
use accord::form::{Errors, TextError, suggest};
use accord::language::File;
use accord::live::Mode;
use accord::margins::stability;
use accord::report::label;
use accord::scenario::{Engine, MetricUnit, Scenario};
use accord::units::Rate;
use accord::{Catalogue, set};
use std::sync::Arc;

/// The highest rate of a link in live runs, which a machine of two cores keeps up with.
const MOST_RATE: Rate = Rate::from_bps(200_000_000);
/// The largest number of flows in live runs. One of the kernel has two devices.
const MOST_FLOWS: usize = 64;

/// An order of runs: the subjects, and the part of the pack.
#[derive(Clone, Debug)]
pub struct Order {
    /// The subject, and then its rivals.
    pub subjects: Vec<Subject>,
    /// The part that is run.
    pub tier: Tier,
    /// The engine.
    pub engine: Engine,
    /// The first seed.
    pub seed: u64,
    /// The number of seeds.
    pub reps: u64,
    /// The names of the only cases, or nothing for all.
    pub cases: Vec<String>,
    /// The medium of the runs, if the engine is live.
    pub live: Option<Mode>,
    /// The command at the far end of a subject that is a command, if there is one.
    pub server: Option<String>,
}

/// A case of a pack as it is run.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The index of the section in the pack.
    pub section: usize,
    /// The index of the case in the section.
    pub case: usize,
    /// The labels of the points of its sweeps; one, which is "", without a sweep.
    pub points: Vec<String>,
    /// The units of its measures.
    pub units: Vec<MetricUnit>,
    /// By measure: the quantity that the engine does not record, in words, if there is one.
    pub unrecorded: Vec<Option<String>>,
    /// By subject: why it cannot be put into the scenario, if it cannot.
    pub impossible: Vec<Option<String>>,
    /// By subject: the margins of the equilibrium if they are asked for, or why there are none.
    pub margins: Vec<Result<Margin, String>>,
}

impl Planned {
    /// Returns the section and the case in the pack.
    pub fn within<'p>(&self, pack: &'p Pack) -> (&'p Section, &'p Case) {
        let section = &pack.sections[self.section];
        (section, &section.cases[self.case])
    }
}

/// The distance of an equilibrium from cycling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Margin {
    /// All gains times this: the loop cycles.
    pub gain: f64,
    /// Additional delay at which it cycles, in seconds.
    pub delay: f64,
    /// True if the equilibrium is stable.
    pub stable: bool,
}

/// One run.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The index of the case in [`Plan::cases`].
    pub case: usize,
    /// The index of the subject in [`Order::subjects`].
    pub subject: usize,
    /// The index of the point.
    pub point: usize,
    /// The scenario, whose expectations are the measures.
    pub scenario: Arc<Scenario>,
    /// The instances of the subject, if it is a program.
    pub programs: Option<Arc<Instances>>,
}

/// All runs of a pack.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The pack.
    pub pack: Pack,
    /// The cases.
    pub cases: Vec<Planned>,
    /// The runs.
    pub trials: Vec<Trial>,
}

impl Plan {
    /// Plans the runs of a pack.
    ///
    /// # Errors
    /// Fails if the pack is wrong: a scenario cannot be read, or a setting or a measure does not
    /// fit it. A subject that does not fit a case is not an error; it is recorded in
    /// [`Planned::impossible`].
    pub fn of(pack: Pack, order: &Order, catalogue: &Catalogue) -> Result<Plan, Errors> {
        check_parameters(&pack, catalogue)?;
        let (mut cases, mut trials) = (Vec::new(), Vec::new());
        for (s, section) in pack.sections.iter().enumerate() {
            for (c, case) in section.cases.iter().enumerate() {
                let named = order.cases.contains(&case.name);
                let in_tier = [order.tier, Tier::Quick].contains(&case.tier) || named;
                if !in_tier || !(order.cases.is_empty() || named) {
                    continue;
                }
                let file = scenario_of(&pack, case, order.tier)?;
                let as_it_stands = points(&pack, case, &file, order.seed, catalogue)?;
                let wanted = &case.measures;
                let first = &as_it_stands[0];
                let units = wanted.iter().map(|&m| unit(&pack.measures, wanted, first, m));
                let unrecorded = wanted.iter().map(|&m| {
                    let metrics = metrics(&pack.measures, wanted, first, m);
                    let missing =
                        metrics.into_iter().find(|m| !m.engines().contains(&order.engine));
                    missing.map(|metric| format!("{} does not record {metric}", order.engine))
                });
                let label = |s: &Scenario| label(&s.point);
                let mut planned = Planned {
                    section: s,
                    case: c,
                    points: as_it_stands.iter().map(label).collect(),
                    units: units.collect(),
                    unrecorded: unrecorded.collect(),
                    impossible: Vec::new(),
                    margins: Vec::new(),
                };
                for (i, subject) in order.subjects.iter().enumerate() {
                    match with_subject(&file, case, &pack, subject, order, catalogue) {
                        Ok(seeds) => {
                            if case.margins {
                                planned.margins.push(margin(&seeds[0][0].0));
                            }
                            for scenarios in seeds {
                                for (point, (scenario, programs)) in
                                    scenarios.into_iter().enumerate()
                                {
                                    trials.push(Trial {
                                        case: cases.len(),
                                        subject: i,
                                        point,
                                        scenario: Arc::new(scenario),
                                        programs: programs.map(Arc::new),
                                    });
                                }
                            }
                            planned.impossible.push(None);
                        }
                        Err(why) => {
                            if case.margins {
                                planned.margins.push(Err(why.clone()));
                            }
                            planned.impossible.push(Some(why));
                        }
                    }
                }
                cases.push(planned);
            }
        }
        Ok(Plan { pack, cases, trials })
    }
}

/// Checks that each parameter of a pack is one of some family that the pack evaluates.
fn check_parameters(pack: &Pack, catalogue: &Catalogue) -> Result<(), Errors> {
    let families = match pack.role {
        SubjectRole::Controller => catalogue.controllers,
        SubjectRole::Discipline => catalogue.disciplines,
    };
    let known = || families.iter().flat_map(|f| f.params).map(|p| p.name);
    for parameter in &pack.parameters {
        if !known().any(|name| name == parameter.name) {
            let message = format!("no {} has a parameter \"{}\"", pack.role.name(), parameter.name);
            let (span, hint) = (parameter.span.clone(), suggest(&parameter.name, known()));
            return Err(TextError::at(&pack.origin, span, message, hint).into());
        }
    }
    Ok(())
}

/// Returns what puts a subject into the scenario of a case.
pub(crate) fn placed<'a>(
    subject: &'a Subject,
    case: &'a Case,
    pack: &'a Pack,
) -> impl Iterator<Item = (String, String)> {
    let paths = case.subject.iter();
    paths.flat_map(|path| subject.settings(path, &pack.parameters))
}

pub(crate) fn settings(case: &Case, tier: Tier) -> impl Iterator<Item = &String> {
    let quick = case.quick.iter().filter(move |_| tier == Tier::Quick);
    case.set.iter().chain(quick)
}

/// Returns the scenario of a case with its settings and measures, and the subject as the file has
/// it.
fn scenario_of(pack: &Pack, case: &Case, tier: Tier) -> Result<File, Errors> {
    let name = format!("{}.toml", pack.path_of(case).trim_end_matches(".toml"));
    let mut file = File::parse(&name, &case.text)?;
    let settings: Vec<&String> = settings(case, tier).collect();
    set(&mut file, &settings).map_err(|e| of_case(pack, case, &e.to_string()))?;
    let entries = entries(&pack.measures, &case.measures);
    let entries: Vec<String> = entries.into_iter().map(|(_, entry)| entry).collect();
    file.set("expect", &format!("[{}]", entries.join(", ")))?;
    Ok(file)
}

/// Returns the points of the scenario as the file has it, so an error of the file is not taken
/// for a subject that does not fit.
fn points(
    pack: &Pack,
    case: &Case,
    file: &File,
    seed: u64,
    catalogue: &Catalogue,
) -> Result<Vec<Scenario>, Errors> {
    file.points(catalogue, Some(seed)).map_err(|errors| {
        let own = errors.iter().all(|e| *e.origin == *file.source());
        match (own, errors.iter().next()) {
            // A setting or a measure does not fit: the pack is wrong.
            (false, Some(first)) => of_case(pack, case, &first.message),
            _ => errors,
        }
    })
}

/// Returns an error at the place of the case in the pack.
fn of_case(pack: &Pack, case: &Case, why: &str) -> Errors {
    let message = format!("case \"{}\": {why}", case.name);
    TextError::at(&pack.origin, case.span.clone(), message, None).into()
}

/// The scenarios of the points of a sweep, each with the instances of the subject if it is a program.
type Points = Vec<(Scenario, Option<Instances>)>;

/// Returns the scenarios by seed and point with the subject in them, or why it does not fit.
fn with_subject(
    file: &File,
    case: &Case,
    pack: &Pack,
    subject: &Subject,
    order: &Order,
    catalogue: &Catalogue,
) -> Result<Vec<Points>, String> {
    let mut file = file.clone();
    for (path, value) in placed(subject, case, pack) {
        file.set(&path, &value).map_err(|e| e.message)?;
    }
    (0..order.reps)
        .map(|k| {
            let seed = order.seed.wrapping_add(k);
            let points = file.points(catalogue, Some(seed)).map_err(|errors| {
                let first = errors.iter().next();
                first.map_or("it does not fit".into(), |e| e.message.clone())
            })?;
            let beyond = points.iter().find_map(|scenario| beyond(scenario, order.engine));
            beyond.map_or(Ok(()), Err)?;
            let with_programs = |scenario: Scenario| {
                let programs = subject.command().map(|line| {
                    let groups = case.subject.iter().filter_map(|path| group_of(path));
                    Instances::of(&scenario, &groups.collect::<Vec<_>>(), line)
                });
                programs.transpose().map(|programs| (scenario, programs))
            };
            points.into_iter().map(with_programs).collect()
        })
        .collect()
}

/// Returns the group of flows whose controller is at a path of the scenario.
fn group_of(path: &str) -> Option<&str> {
    path.strip_prefix("flow.")?.strip_suffix(".controller")
}

/// Returns why a run of a scenario in real time would be one of this machine and not of the subject.
fn beyond(scenario: &Scenario, engine: Engine) -> Option<String> {
    if engine != Engine::Live {
        return None;
    }
    let fastest = scenario.links.iter().filter(|l| !l.attachment).map(|l| l.rate).max()?;
    if fastest > MOST_RATE {
        return Some(format!(
            "its link of {fastest} is too fast for a run in real time, which has up to {MOST_RATE}"
        ));
    }
    let flows = scenario.flows.len();
    (flows > MOST_FLOWS).then(|| {
        format!(
            "its {flows} flows are too many for a run in real time, which has up to {MOST_FLOWS}"
        )
    })
}

/// Returns the margins in the phase in the middle of the steady part.
fn margin(scenario: &Scenario) -> Result<Margin, String> {
    let (start, end) = (scenario.steady.start, scenario.steady.end);
    let middle = accord::units::Time::from_ps((start.as_ps() + end.as_ps()) / 2);
    let found = stability(scenario, middle).map_err(|e| e.to_string())?;
    Ok(Margin { gain: found.margins.gain, delay: found.margins.delay, stable: found.is_stable() })
}
