//! `accord explain`: why engines differ.

use crate::args::Explain;
use crate::fail::Failure;
use crate::live;
use crate::output::{json, prose, style};
use crate::progress::Progress;
use crate::run_options::RunOptions;
use crate::source::load;
use accord::explain::{Attribution, Job, Pair, Values, Which, attribute, lead, text};
use accord::record::Run;
use accord::report::show::{quantity, visible};
use accord::report::{figure_values, table};
use accord::scenario::{Engine, Entity, Limit, Metric, MetricUnit, Scenario};
use accord::units::Duration;
use accord::{Catalogue, run_all};

/// Explains every point of a scenario. Returns `Ok(false)` if a gap is left unexplained or undecided, or
/// if a value is missing.
pub fn run(args: Explain, catalogue: &Catalogue) -> Result<bool, Failure> {
    let which = if args.standard { Which::Standard } else { Which::Expected };
    let pair = Pair {
        reference: match args.engine {
            Engine::Live => Engine::Packet,
            Engine::Fluid | Engine::Packet => Engine::Theory,
            Engine::Theory => {
                let why = "theory is the reference, and cannot be explained";
                return Err(Failure::new(why).hint("name packet, fluid or live"));
            }
        },
        measured: args.engine,
    };
    let file = load(&args.scenario, &args.set)?;
    let options = RunOptions {
        engine: vec![args.engine],
        live: args.live,
        seed: args.seed,
        reps: args.reps,
        json: args.json,
        quiet: args.quiet,
        ..RunOptions::default()
    };
    let by_seed = options.repetitions(&file, catalogue)?;
    live::possible(vec![args.engine], &options, false, &by_seed[0])?;
    let mut all = Vec::new();
    for point in 0..by_seed[0].len() {
        let seeds: Vec<Scenario> = by_seed.iter().map(|s| s[point].clone()).collect();
        let mut first = First::default();
        let mut make = |jobs| runs(jobs, &options, pair, &mut first);
        let found = attribute(&seeds, pair, which, args.finer, &mut make)?;
        if !args.json {
            prose(visible(&first.sentences(&found)))?;
            let table = text(&found);
            if !table.is_empty() {
                prose(visible(&table))?;
            }
        }
        all.push(found);
    }
    if args.json {
        json(&all)?;
    }
    Ok(all.iter().all(|a| a.pass()))
}

/// The notes of the first runs of a point, and the figures of the engine in question.
#[derive(Default)]
struct First {
    /// The notes of the reference on its model, the largest effects first.
    notes: Vec<String>,
    /// The fullest link of the engine in question, in a sentence.
    link: String,
    /// The figures of that engine, as a table.
    table: String,
}

impl First {
    /// Returns the answer in sentences, before the tables. Without a reference it is about the engine in
    /// question alone.
    fn sentences(&self, found: &Attribution) -> String {
        let mut sentences = vec![lead(found)];
        if found.findings.is_empty() {
            let (reference, measured) = (found.reference, found.measured);
            let none = match found.missing.iter().any(|missing| missing.fails) {
                true => format!("{reference} and {measured} have no value in common here"),
                false => format!("{reference} has no values here"),
            };
            sentences[0] = format!("{none}, so this is {measured} alone.");
        }
        sentences.push(self.link.clone());
        sentences.extend(self.notes.iter().take(2).map(|note| format!("{note}.")));
        if found.findings.is_empty() {
            sentences.push(format!("\n{}", self.table));
        }
        sentences.retain(|sentence| !sentence.is_empty());
        sentences.join("\n") + "\n"
    }

    /// Keeps the notes and figures of the first runs of a point.
    fn add(&mut self, job: &Job, run: &Run, pair: Pair) {
        if job.engine == pair.reference && self.notes.is_empty() {
            self.notes.clone_from(&run.notes);
        } else if job.engine == pair.measured && self.table.is_empty() {
            self.link = fullest(&job.scenario, run);
            self.table = table(&job.scenario, &[run], style());
        }
    }
}

/// Returns the use, the queue and the losses of the link that is used most, in a sentence.
fn fullest(scenario: &Scenario, run: &Run) -> String {
    let mean = |metric, link| run.mean(metric, Entity::Link(link), scenario.steady);
    let used = |link: usize| mean(Metric::Utilisation, link).unwrap_or(0.0);
    let links = (0..scenario.links.len()).filter(|link| !scenario.links[*link].attachment);
    let Some(link) = links.max_by(|a, b| used(*a).total_cmp(&used(*b))) else {
        return String::new();
    };
    let limit = match scenario.links[link].queue.limit {
        Limit::Packets(1) => "buffer holds one packet".into(),
        Limit::Packets(n) => format!("buffer holds {n} packets"),
        Limit::Bytes(b) => format!("buffer holds {b}"),
        Limit::Unlimited => "buffer has no limit".into(),
    };
    let backlog = mean(Metric::Backlog, link).unwrap_or(0.0);
    let lost = match mean(Metric::LossRatio, link) {
        Some(lost) if lost > 0.0 => {
            format!(", and {} of its packets are dropped", quantity(lost, MetricUnit::Ratio))
        }
        _ => String::new(),
    };
    format!(
        "{} is used to {}: its queue is {} on average, its {limit}{lost}.",
        scenario.links[link].name,
        quantity(used(link), MetricUnit::Ratio),
        quantity(backlog, MetricUnit::Bytes),
    )
}

/// Runs scenarios on all cores. `first` keeps the notes and figures of the first of them.
fn runs(
    jobs: Vec<Job>,
    options: &RunOptions,
    pair: Pair,
    first: &mut First,
) -> Result<Vec<Values>, Failure> {
    let total = jobs.iter().fold(Duration::ZERO, |sum, j| sum + j.scenario.duration);
    let progress = Progress::new(total, options.quiet || options.json);
    let to_do: Vec<accord::Job> = (jobs.iter())
        .map(|job| accord::Job { scenario: &job.scenario, engine: job.engine })
        .collect();
    let observe = |_: &accord::Job| progress.observe(None, None);
    let runs = run_all(&to_do, &options.engine_settings(), observe, |_, _| {})?;
    live::fit(&runs)?;
    jobs.iter().zip(&runs).for_each(|(job, run)| first.add(job, run, pair));
    Ok(jobs.iter().zip(&runs).map(|(job, run)| figure_values(&job.scenario, run)).collect())
}
