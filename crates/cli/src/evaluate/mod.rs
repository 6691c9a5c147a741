//! `accord evaluate`: standard evaluations of a controller or a discipline.

mod output;
mod runs;

use crate::fail::Failure;
use crate::output::{data, json, note, prose};
use crate::results::build;
use accord::scenario::Engine;
use accord::{Catalogue, Options, live::Mode};
use accord_evaluate::pack::{SubjectRole, built_in, open};
use accord_evaluate::{
    Baseline, Changes, Dossier, Evaluation, Measurements, NoSubject, Order, Pack, PackResult, Plan,
    Subject, Tier, annotations, junit, verdicts,
};
use clap::{Args as Group, ValueEnum};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The options of `accord evaluate`.
#[derive(Group)]
pub struct Args {
    /// Packs, separated by commas: names of `accord list packs`, or directories; by default all that
    /// come with the program for such a subject.
    #[arg(short, long, value_delimiter = ',', value_name = "PACK")]
    pub pack: Vec<String>,
    /// What is evaluated: a controller or a queue discipline, with parameters if they are not the
    /// defaults: "vegas,alpha=4 pkt".
    #[arg(short, long, value_name = "NAME[,KEY=VALUE...]")]
    pub subject: String,
    /// What stands beside it, separated by commas; by default what the packs name.
    #[arg(short, long, value_name = "NAME,...")]
    pub against: Option<String>,
    /// The engine.
    #[arg(short, long, default_value = "packet")]
    pub engine: Engine,
    /// What joins the nodes of a live run: loopback or namespaces; by default namespaces where
    /// they are allowed.
    #[arg(long, value_name = "MODE")]
    pub live: Option<Mode>,
    /// How much of the packs is run: what takes two minutes on two cores, or everything.
    #[arg(short, long, default_value = "quick")]
    pub tier: TierName,
    /// Runs these cases only, separated by commas.
    #[arg(long, value_delimiter = ',', value_name = "CASE")]
    pub case: Vec<String>,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// The number of seeds, from the first up.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub reps: u64,
    /// Where the dossier goes; by default runs/evaluate-SUBJECT.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The number of runs at a time; by default one per core.
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1024))]
    pub jobs: Option<u64>,
    /// Measures everything anew, and not only what is not known yet.
    #[arg(long)]
    pub fresh: bool,
    /// Compares with an earlier evaluation: the directory that it wrote. Exits with 1 where a measure
    /// of the subject is significantly worse.
    #[arg(long, value_name = "DIR")]
    pub baseline: Option<PathBuf>,
    /// Writes the verdicts as JUnit XML, which systems of continuous integration read.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// Prints what failed as annotations for this system.
    #[arg(long, value_name = "SYSTEM", conflicts_with = "json")]
    pub annotations: Option<System>,
    /// Prints JSON in place of text.
    #[arg(long)]
    pub json: bool,
    /// No progress; only the result.
    #[arg(short, long)]
    pub quiet: bool,
}

/// The tiers, as the command line has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TierName {
    /// Two minutes on two cores per pack.
    Quick,
    /// Everything.
    Whole,
}

/// Systems that take annotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum System {
    /// GitHub Actions: workflow commands.
    Github,
}

/// Carries out the command. `Ok(false)` where something is worse than the baseline, a threshold of a standard is not met, or where runs of
/// the subject failed.
pub fn run(args: &Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    let subject = subject(&args.subject, catalogue)?;
    let packs = packs(args, &subject)?;
    let subjects = subjects(args, subject, &packs, catalogue)?;
    let order = Order {
        subjects,
        tier: match args.tier {
            TierName::Quick => Tier::Quick,
            TierName::Whole => Tier::Whole,
        },
        engine: args.engine,
        seed: args.seed,
        reps: args.reps,
        cases: args.case.clone(),
    };
    check_cases(&order, &packs)?;
    let plans: Vec<Plan> = (packs.into_iter())
        .map(|pack| Plan::of(pack, &order, catalogue))
        .collect::<Result<_, _>>()?;
    let baseline = args.baseline.as_deref().map(|dir| baseline(dir, &order));
    let baseline = baseline.transpose()?;
    let directory = output::claim(args.output.as_deref(), &order.subjects[0])?;
    let kept = Measurements::open(&directory, &build(), args.fresh)
        .map_err(|e| Failure::io(format!("{} cannot be written: {e}", directory.display()), &e))?;
    let options = Options { live: args.live };
    let measured = runs::make(&plans, &order, &options, &kept, args)?;
    let subjects = order.subjects.len();
    let packs: Vec<PackResult> = (plans.into_iter().zip(&measured))
        .map(|(plan, measured)| PackResult::of(plan, subjects, measured))
        .collect();
    let evaluation = Evaluation { order, packs };
    let changes = baseline.map(|baseline| Changes::since(&baseline, &evaluation));
    let dossier = Dossier::of(&evaluation, changes.as_ref());
    output::write(&directory, &evaluation, &dossier)?;
    let verdicts = verdicts(&evaluation, changes.as_ref());
    if let Some(path) = &args.junit {
        output::put_at(path, junit(&evaluation, &verdicts).as_bytes())?;
    }
    if args.json {
        json(&output::record(&evaluation, changes.as_ref()))?;
    } else {
        prose(output::text(&evaluation, &dossier))?;
    }
    if let Some(System::Github) = args.annotations {
        for line in annotations(&verdicts) {
            data(line)?;
        }
    }
    if !args.quiet {
        note(format_args!(
            "\ndossier: {0}/index.html, {0}/dossier.md\ndata:    {0}/evaluation.csv, {0}/evaluation.parquet",
            directory.display()
        ));
    }
    Ok(verdicts.iter().all(|v| v.failure.is_none()))
}

/// Reads an earlier evaluation. Of one run nobody knows whether it would vary, so there have to be
/// several.
fn baseline(directory: &Path, order: &Order) -> Result<Baseline, Failure> {
    if order.reps < 2 {
        let hint = "--reps 5, of this one and of the baseline";
        return Err(Failure::new("one run each cannot be compared with a baseline").hint(hint));
    }
    let path = directory.join("evaluation.parquet");
    let shown = path.display();
    let file = File::open(&path).map_err(|e| {
        let hint = "name the directory that accord evaluate -o wrote";
        Failure::new(format!("{shown} cannot be read: {e}")).hint(hint)
    })?;
    let baseline =
        Baseline::read(file).map_err(|e| Failure::new(format!("{shown} is no baseline: {e}")))?;
    let (tier, engine) = (&baseline.settings.0, &baseline.settings.1);
    if (tier.as_str(), engine.as_str()) != (order.tier.name(), order.engine.name()) {
        let message = format!(
            "the baseline is of the {tier} tier and the {engine} engine, and this is of the {} tier and the {} engine",
            order.tier.name(),
            order.engine.name()
        );
        return Err(Failure::new(message).hint("compare what was measured alike"));
    }
    if baseline.values.values().any(|values| values.len() == 1) {
        let hint = "measure the baseline again with --reps 5";
        return Err(Failure::new(format!("{shown} has measures of one run")).hint(hint));
    }
    Ok(baseline)
}

fn subject(text: &str, catalogue: &Catalogue) -> Result<Subject, Failure> {
    Subject::parse(text, catalogue).map_err(|NoSubject { message, hint }| {
        let failure = Failure::new(message);
        hint.into_iter().fold(failure, Failure::hint)
    })
}

/// Returns the packs that are asked for, or all that evaluate such a subject.
fn packs(args: &Args, subject: &Subject) -> Result<Vec<Pack>, Failure> {
    if args.pack.is_empty() {
        let all = built_in().map(|pack| open(pack.name));
        let mut all = all.collect::<Result<Vec<_>, _>>()?;
        all.retain(|pack| pack.role == subject.role);
        return Ok(all);
    }
    let mut packs: Vec<Pack> = Vec::new();
    for name in &args.pack {
        let pack = open(name)?;
        if pack.role != subject.role {
            let message = format!(
                "pack {name} evaluates a {}, and {} is a {}",
                pack.role.name(),
                subject.family,
                subject.role.name()
            );
            let others = built_in().filter_map(|b| open(b.name).ok());
            let others = others.filter(|p| p.role == subject.role);
            let names: Vec<String> = others.map(|p| p.name).collect();
            let hint = format!("packs for a {}: {}", subject.role.name(), names.join(", "));
            return Err(Failure::new(message).hint(hint));
        }
        if packs.iter().any(|known| known.name == pack.name) {
            return Err(Failure::new(format!("pack {} is named twice", pack.name)));
        }
        packs.push(pack);
    }
    Ok(packs)
}

/// Returns the subject and those beside it, each once.
fn subjects(
    args: &Args,
    subject: Subject,
    packs: &[Pack],
    catalogue: &Catalogue,
) -> Result<Vec<Subject>, Failure> {
    let named = match &args.against {
        Some(text) => listed(text),
        None => packs.iter().flat_map(|p| p.rivals.clone()).collect(),
    };
    let mut subjects = vec![subject];
    for name in &named {
        let rival = self::subject(name, catalogue)?;
        if rival.role != subjects[0].role {
            let message = format!(
                "{} is a {}, and {} is a {}",
                rival.label,
                rival.role.name(),
                subjects[0].label,
                subjects[0].role.name()
            );
            let hint = "only what has the same place in a scenario can stand beside it";
            return Err(Failure::new(message).hint(hint));
        }
        if subjects.iter().all(|known| known.label != rival.label) {
            subjects.push(rival);
        }
    }
    Ok(subjects)
}

/// Splits a list of subjects: "vegas,alpha=4 pkt,cubic" has two, as a part with "=" belongs to what
/// is before it.
fn listed(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for part in text.split(',').filter(|part| !part.trim().is_empty()) {
        match found.last_mut() {
            Some(last) if part.contains('=') => *last += &format!(",{part}"),
            _ => found.push(part.trim().to_string()),
        }
    }
    found
}

fn check_cases(order: &Order, packs: &[Pack]) -> Result<(), Failure> {
    let known = || packs.iter().flat_map(|pack| pack.cases().map(|(_, case)| case.name.as_str()));
    for name in &order.cases {
        if known().all(|case| case != name) {
            let names: Vec<&str> = packs.iter().map(|pack| pack.name.as_str()).collect();
            let message = format!("there is no case \"{name}\" in {}", names.join(", "));
            let hint = accord::language::suggest(name, known());
            let hint = hint.unwrap_or("accord list packs NAME shows the cases of a pack".into());
            return Err(Failure::new(message).hint(hint));
        }
    }
    Ok(())
}

/// The word for what a pack evaluates, as JSON has it.
pub fn role(role: SubjectRole) -> &'static str {
    match role {
        SubjectRole::Controller => "controller",
        SubjectRole::Discipline => "discipline",
    }
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn a_list_of_subjects_keeps_their_parameters() {
        assert_eq!(
            listed("vegas,alpha=4 pkt,beta=8 pkt, cubic"),
            ["vegas,alpha=4 pkt,beta=8 pkt", "cubic"]
        );
        assert!(listed("").is_empty());
    }
}
