//! `accord evaluate`: standard evaluations of a controller or a discipline.

mod all;
pub mod options;
pub mod output;
mod place;
mod runs;

pub use output::put_at;

use crate::fail::{Failure, unreadable, unwritable};
use crate::output::{data, json, note, prose};
use crate::results::build_for;
use accord::files::{open as open_file, read_text};
use accord::form::Source;
use accord::live::Mode;
use accord::report::Lock;
use accord::scenario::Engine;
use accord::{Catalogue, Options};
use accord_evaluate::pack::{SubjectRole, built_in, open};
use accord_evaluate::rule::{Asked, Limit, Requirement, resolve};
use accord_evaluate::{
    Baseline, Changes, Dossier, Evaluation, Launch, Measurements, NoSubject, Order, Pack,
    PackResult, Plan, Planned, Subject, Tier, annotations, junit, verdicts,
};
use options::{Args, TierName};
use place::Settings;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

/// The number of seeds of an evaluation of one subject.
const REPS: u64 = 5;
/// The largest table of a baseline that is read, in bytes.
const LARGEST_BASELINE: u64 = 1 << 30;
/// The largest file of rules that is read, in bytes.
const LARGEST_RULES: u64 = 1 << 20;

/// Carries out the command. Returns `Ok(false)` if a rule is not met, a limit is exceeded, a measure
/// is worse than the baseline, or runs of the subject failed.
pub fn run(args: &Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    let Some(named) = &args.subject else {
        return all::run(args, catalogue);
    };
    let subject = subject_of(named, catalogue)?;
    let packs = packs(args, &subject)?;
    let subjects = subjects(args, subject, &packs, catalogue)?;
    let engine = engine(args, &subjects)?;
    let order = Order {
        subjects,
        tier: match args.tier {
            TierName::Quick => Tier::Quick,
            TierName::Whole => Tier::Whole,
        },
        engine,
        seed: args.seed,
        reps: args.reps.unwrap_or(REPS),
        cases: args.case.clone(),
        live: (engine == Engine::Live).then(|| accord::live_mode(args.live)),
        server: args.server.clone(),
    };
    check_cases(&order, &packs)?;
    let plans: Vec<Plan> = (packs.into_iter())
        .map(|pack| Plan::of(pack, &order, catalogue))
        .collect::<Result<_, _>>()?;
    check_fit(args, &order, &plans)?;
    let (requirements, limits) = rules(args, &order, &plans, 1)?;
    let baseline = args.baseline.as_deref().map(|dir| baseline(dir, &order, &plans));
    let baseline = baseline.transpose()?;
    let settings = Settings::of(&order, plans.iter().map(|plan| &plan.pack));
    args.junit.as_deref().map_or(Ok(()), output::check_file)?;
    let directory = place::claim(args, &order.subjects[0].label, &settings)?;
    let _lock = Lock::take(&directory)?;
    let build = build_for(engine, args.live);
    let kept = Measurements::open(&directory.join(Measurements::FILE), &build, args.fresh);
    let kept = kept.map_err(unwritable(&directory))?;
    let options =
        Options { live: args.live, gateway: crate::gateway::program(), ..Options::default() };
    let launch = launch(args, &order, &directory)?;
    let measured = runs::make(&plans, &order, &options, launch.as_ref(), &kept, args, catalogue)?;
    let subjects = order.subjects.len();
    let packs: Vec<PackResult> = (plans.into_iter().zip(&measured))
        .map(|(plan, measured)| PackResult::of(plan, subjects, measured))
        .collect();
    let evaluation = Evaluation { order, packs, requirements, limits };
    let changes = baseline.map(|baseline| Changes::since(&baseline, &evaluation));
    let dossier = Dossier::of(&evaluation, changes.as_ref());
    kept.sync().map_err(unwritable(&directory))?;
    settings.write(&directory)?;
    output::write(&directory, &evaluation, &dossier)?;
    let verdicts = verdicts(&evaluation, changes.as_ref());
    if let Some(path) = &args.junit {
        let name = format!("accord evaluate {}", evaluation.order.subjects[0].label);
        output::put_at(path, junit(&name, &verdicts).as_bytes())?;
    }
    if args.json {
        json(&output::record(&evaluation, changes.as_ref()))?;
    } else {
        prose(output::text(&evaluation, &dossier, args.details))?;
    }
    if args.annotations.is_some() {
        for line in annotations(&verdicts) {
            data(line)?;
        }
    }
    if !args.quiet {
        note(format_args!(
            "\ndossier: {0}/index.html\ndata:    {0}/evaluation.csv, {0}/evaluation.parquet",
            directory.display()
        ));
    }
    Ok(verdicts.iter().all(|v| v.failure.is_none()))
}

/// Returns the engine, if it can run here. Controllers of the kernel and programs have only one.
fn engine(args: &Args, subjects: &[Subject]) -> Result<Engine, Failure> {
    if args.server.is_some() && subjects[0].command().is_none() {
        let why = "--server is for a subject that is a command";
        return Err(Failure::new(why).hint("--subject \"command: ./client {server}\""));
    }
    let outside = subjects.iter().find(|subject| subject.outside.is_some());
    let engine = match (args.engine, outside) {
        (None | Some(Engine::Live), Some(_)) => Engine::Live,
        (Some(engine), Some(Subject { label, .. })) => {
            let message = format!("{label} runs in real time, and not in the engine {engine}");
            return Err(Failure::new(message).hint("--engine live, or leave it out"));
        }
        (engine, None) => engine.unwrap_or(Engine::Packet),
    };
    let mode = accord::live_mode(args.live);
    if engine == Engine::Live
        && let Some(why) = accord::live::obstacle(mode, &[])
    {
        return Err(accord::Error::from(why).into());
    }
    if let Some(Subject { label, .. }) = outside
        && mode != Mode::Namespaces
    {
        let why = format!("{label} needs --live namespaces: root, or unshare -rn");
        return Err(Failure::Unable(why));
    }
    Ok(engine)
}

/// Returns the settings of the runs of programs, if a subject is one.
fn launch(args: &Args, order: &Order, directory: &Path) -> Result<Option<Launch>, Failure> {
    if order.subjects.iter().all(|subject| subject.command().is_none()) {
        return Ok(None);
    }
    let directory = std::path::absolute(directory);
    let directory = directory.map_err(|e| Failure::Unable(format!("no directory: {e}")))?;
    Ok(Some(Launch {
        guard: crate::emulate::again()?,
        server: args.server.clone(),
        log: directory.join("programs.log"),
    }))
}

/// Reads the rules of the packs and of the user, before anything is run. They judge the first `judged`
/// subjects of the plans.
fn rules(
    args: &Args,
    order: &Order,
    plans: &[Plan],
    judged: usize,
) -> Result<(Vec<Requirement>, Vec<Limit>), Failure> {
    let mut asked = Asked::default();
    for text in &args.require {
        asked.require("--require", text)?;
    }
    for text in &args.fail_on {
        asked.fail_on("--fail-on", text);
    }
    if let Some(path) = &args.rules {
        let text = read_text(path, LARGEST_RULES).map_err(unreadable(path))?;
        asked.file(&Arc::new(Source { name: path.display().to_string(), text }))?;
    }
    if order.reps < 2 && !asked.is_empty() {
        let hint = "--reps 5 decides most rules";
        let why = "one seed decides no rule and no limit: it has no interval";
        return Err(Failure::new(why).hint(hint));
    }
    let requirements = resolve(plans, &asked.rules, order.tier, judged)?;
    let cases = || plans.iter().flat_map(|plan| plan.cases.iter().map(move |case| (plan, case)));
    let comparisons: usize = cases().map(|(_, case)| compared(case, judged)).sum();
    let mut sections: BTreeSet<(&str, usize, usize)> = BTreeSet::new();
    for (plan, case) in cases() {
        let name = &case.within(&plan.pack).1.name;
        if requirements.iter().any(|r| r.key.pack == plan.pack.name && r.key.case == *name) {
            let subjects = 0..case.impossible.len().min(judged);
            sections.extend(subjects.map(|i| (plan.pack.name.as_str(), case.section, i)));
        }
    }
    let limits = asked.limits(comparisons, sections.len())?;
    Ok((requirements, limits))
}

/// Returns the number of comparisons of the subject with rivals that the runs of a case can decide.
fn compared(case: &Planned, judged: usize) -> usize {
    if case.impossible[0].is_some() {
        return 0;
    }
    let rivals = case.impossible.iter().skip(judged).filter(|why| why.is_none()).count();
    let measures = case.unrecorded.iter().filter(|why| why.is_none()).count();
    case.points.len() * measures * rivals
}

/// Reads an earlier evaluation. A single run has no variance estimate, so at least two are
/// required.
fn baseline(directory: &Path, order: &Order, plans: &[Plan]) -> Result<Baseline, Failure> {
    if order.reps < 2 {
        let hint = "use --reps 5 for this evaluation and for the baseline";
        return Err(
            Failure::new("a single run per case cannot be compared with a baseline").hint(hint)
        );
    }
    let path = directory.join("evaluation.parquet");
    let shown = path.display();
    let file = open_file(&path, LARGEST_BASELINE).map_err(|e| {
        let hint = "name the directory that accord evaluate -o wrote";
        Failure::new(format!("{shown} cannot be read: {e}")).hint(hint)
    })?;
    let baseline = Baseline::read(file)
        .map_err(|e| Failure::new(format!("{shown} is not a baseline: {e}")))?;
    let (tier, engine) = (&baseline.settings.0, &baseline.settings.1);
    if (tier.as_str(), engine.as_str()) != (order.tier.name(), order.engine.name()) {
        let message = format!(
            "the baseline has the {tier} tier and the {engine} engine, and this evaluation the {} tier and the {} engine",
            order.tier.name(),
            order.engine.name()
        );
        return Err(Failure::new(message).hint("compare evaluations of the same tier and engine"));
    }
    if baseline.values.values().any(|sample| sample.values.len() + sample.without == 1) {
        let hint = "measure the baseline again with --reps 5";
        return Err(Failure::new(format!("{shown} has measures of a single run")).hint(hint));
    }
    if !baseline.matches(plans) {
        let known: BTreeSet<String> =
            baseline.values.keys().map(|key| format!("{}/{}", key.pack, key.case)).collect();
        let known: Vec<String> = known.into_iter().take(5).collect();
        let hint = format!("it has {}: name them with --pack and --case", known.join(", "));
        let message = format!("{shown} has no measure of this evaluation");
        return Err(Failure::new(message).hint(hint));
    }
    Ok(baseline)
}

fn subject_of(text: &str, catalogue: &Catalogue) -> Result<Subject, Failure> {
    Subject::parse(text, catalogue)
        .map_err(|NoSubject { message, hint }| Failure::new(message).hinted(hint))
}

/// Returns the named packs, or all that evaluate such a subject.
fn packs(args: &Args, subject: &Subject) -> Result<Vec<Pack>, Failure> {
    let fitting = || {
        let all = built_in().map(open);
        let mut all = all.collect::<Result<Vec<_>, _>>()?;
        all.retain(|pack| pack.role == subject.role);
        Ok::<_, Failure>(all)
    };
    if args.pack.is_empty() {
        return fitting();
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
            let names: Vec<String> = fitting()?.into_iter().map(|p| p.name).collect();
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

/// Returns the subject and its rivals, without duplicates.
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
        let rival = subject_of(name, catalogue)?;
        if rival.role != subjects[0].role {
            let message = format!(
                "{} is a {}, and {} is a {}",
                rival.label,
                rival.role.name(),
                subjects[0].label,
                subjects[0].role.name()
            );
            let hint = "a subject can be compared only with rivals of its kind";
            return Err(Failure::new(message).hint(hint));
        }
        if subjects.iter().all(|known| known.label != rival.label) {
            subjects.push(rival);
        }
    }
    Ok(subjects)
}

/// Splits a list of subjects: "vegas,alpha=4 pkt,cubic" has two, since a part with "=" belongs to
/// the one before it.
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
            let message = format!("unknown case \"{name}\" in {}", names.join(", "));
            let hint = accord::form::suggest(name, known());
            let hint = hint.unwrap_or("accord list packs NAME shows the cases of a pack".into());
            return Err(Failure::new(message).hint(hint));
        }
    }
    Ok(())
}

/// Rejects a subject, or a named rival, that no case can run with. The evaluation would have
/// neither values nor failures of it.
fn check_fit(args: &Args, order: &Order, plans: &[Plan]) -> Result<(), Failure> {
    let named = args.against.as_ref().map_or(1, |_| order.subjects.len());
    let planned: Vec<_> =
        plans.iter().flat_map(|plan| plan.cases.iter().map(move |case| (plan, case))).collect();
    let Some((plan, first)) = planned.first() else {
        return Ok(());
    };
    for (i, subject) in order.subjects.iter().enumerate().take(named) {
        let Some(why) = &first.impossible[i] else {
            continue;
        };
        if planned.iter().any(|(_, case)| case.impossible[i].is_none()) {
            continue;
        }
        let kind = match subject.role {
            SubjectRole::Controller => "controllers",
            SubjectRole::Discipline => "disciplines",
        };
        let message = format!("no case can run with \"{}\": {why}", subject.label);
        let hint = match &subject.outside {
            Some(_) => "accord list packs NAME shows the cases of a pack".into(),
            None => format!(
                "it replaces {}; accord list {kind} {} shows its parameters",
                first.within(&plan.pack).1.subject.join(", "),
                subject.family
            ),
        };
        return Err(Failure::new(message).hint(hint));
    }
    Ok(())
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
