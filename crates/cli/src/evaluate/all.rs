//! `accord evaluate --all`: all packs over all families, on one page.

use super::options::{Args, TierName};
use super::place::{self, Settings};
use super::{output, runs};
use crate::fail::{Failure, unwritable};
use crate::output::{data, json, note, prose};
use crate::results::build_for;
use accord::control::{Maker, Transport};
use accord::report::{FORMAT_VERSION, Lock};
use accord::scenario::Engine;
use accord::{Catalogue, Options, RECORDED_VERDICTS};
use accord_evaluate::pack::{SubjectRole, built_in, open};
use accord_evaluate::{
    Evaluation, Measurements, Order, Pack, PackResult, Plan, Reasons, Subject, Survey, Tier,
    annotations, junit,
};
use serde_json::json;

/// The end of the name of the page's directory, if the command names none.
const ALL: &str = "all";

/// The number of seeds, which is that of the recorded reasons (`tools/verdicts/record.txt`).
const REPS: u64 = 3;

/// Carries out the command. Returns `Ok(false)` if a section fails and no reason is recorded.
pub fn run(args: &Args, catalogue: &Catalogue) -> Result<bool, Failure> {
    check_options(args)?;
    let packs = packs(args)?;
    let engine = super::engine(args, &[])?;
    let mut order = Order {
        subjects: Vec::new(),
        tier: match args.tier {
            TierName::Quick => Tier::Quick,
            TierName::Whole => Tier::Whole,
        },
        engine,
        seed: args.seed,
        reps: args.reps.unwrap_or(REPS),
        cases: args.case.clone(),
        live: (engine == Engine::Live).then(|| accord::live_mode(args.live)),
        server: None,
    };
    super::check_cases(&order, &packs)?;
    // All runs are planned before the first, so the first line has the cost of all.
    let mut plans: Vec<Plan> = Vec::new();
    let mut subjects: Vec<Vec<Subject>> = Vec::new();
    for role in [SubjectRole::Controller, SubjectRole::Discipline] {
        let own = Order { subjects: families(role, catalogue), ..order.clone() };
        for pack in packs.iter().filter(|pack| pack.role == role) {
            plans.push(Plan::of(pack.clone(), &own, catalogue)?);
            subjects.push(own.subjects.clone());
        }
        order.subjects.extend(own.subjects);
    }
    let (requirements, limits) = super::rules(args, &order, &plans, usize::MAX)?;
    // The families are those of the program.
    let settings = Settings::of(&Order { subjects: Vec::new(), ..order.clone() }, &packs);
    args.junit.as_deref().map_or(Ok(()), output::check_file)?;
    let directory = place::claim(args, ALL, &settings)?;
    let _lock = Lock::take(&directory)?;
    let build = build_for(engine, args.live);
    let kept = Measurements::open(&directory.join(Measurements::FILE), &build, args.fresh);
    let kept = kept.map_err(unwritable(&directory))?;
    let options =
        Options { live: args.live, gateway: crate::gateway::program(), ..Options::default() };
    let reasons = Reasons::read(RECORDED_VERDICTS);
    let mut survey = Survey::default();
    let measured = runs::make(&plans, &order, &options, None, &kept, args, catalogue)?;
    for ((plan, measured), subjects) in plans.iter().zip(&measured).zip(&subjects) {
        for (i, subject) in subjects.iter().enumerate() {
            let (plan, measured) = plan.alone(i, measured);
            let evaluation = Evaluation {
                order: Order { subjects: vec![subject.clone()], ..order.clone() },
                packs: vec![PackResult::of(plan, 1, &measured)],
                requirements: requirements.clone(),
                limits: Vec::new(),
            };
            survey.add(&evaluation, &reasons);
        }
    }
    kept.sync().map_err(unwritable(&directory))?;
    settings.write(&directory)?;
    output::put_at(&directory.join("index.html"), survey.html().as_bytes())?;
    let checks = survey.checks(&limits);
    let pass = checks.iter().all(|check| check.failure.is_none());
    if let Some(path) = &args.junit {
        output::put_at(path, junit("accord evaluate --all", &checks).as_bytes())?;
    }
    if args.json {
        let rows = survey.verdicts().map(|(pack, section, family, verdict)| {
            json!({
                "pack": pack,
                "section": section,
                "family": family,
                "outcome": verdict.outcome.map(|outcome| outcome.word()),
                "says": verdict.says,
                "reason": verdict.reason,
            })
        });
        let rows: Vec<_> = rows.collect();
        json(&json!({
            "format_version": FORMAT_VERSION,
            "tier": order.tier.name(),
            "engine": order.engine.name(),
            "seed": order.seed,
            "reps": order.reps,
            "pass": pass,
            "verdicts": rows,
            "limits": output::limits(&survey.limits(&limits)),
        }))?;
    } else {
        prose(survey.text())?;
        for (pack, section, family, verdict) in survey.unexplained() {
            data(format_args!(
                "no reason is recorded: {family}, {pack} {section}: {}",
                verdict.says
            ))?;
        }
        for limit in survey.limits(&limits) {
            data(limit.line)?;
        }
    }
    if args.annotations.is_some() {
        for line in annotations(&checks) {
            data(line)?;
        }
    }
    if !args.quiet {
        note(format_args!("\npage: {}/index.html", directory.display()));
    }
    Ok(pass)
}

/// Refuses options that are for one subject.
fn check_options(args: &Args) -> Result<(), Failure> {
    let refused = [
        (args.against.is_some(), "--against", "it has no rivals"),
        (args.baseline.is_some(), "--baseline", "it writes no table of values to compare with"),
        (args.details, "--details", "the values of all families fill hundreds of screens"),
    ];
    match refused.into_iter().find(|(given, ..)| *given) {
        Some((_, option, why)) => Err(Failure::new(format!("{option} is not for --all: {why}"))
            .hint("evaluate one family by --subject NAME")),
        None => Ok(()),
    }
}

/// Returns the packs that the command names, or all.
fn packs(args: &Args) -> Result<Vec<Pack>, Failure> {
    let all: Vec<&str> = match &args.pack[..] {
        [] => built_in().collect(),
        named => named.iter().map(String::as_str).collect(),
    };
    Ok(all.into_iter().map(open).collect::<Result<_, _>>()?)
}

/// Returns the families of a kind with their defaults, without those that control nothing and those of other
/// stacks.
fn families(role: SubjectRole, catalogue: &Catalogue) -> Vec<Subject> {
    match role {
        SubjectRole::Controller => (catalogue.controllers.iter())
            .filter(|family| family.stack.is_none())
            .filter(|family| !matches!(Maker::of(family).transport, Transport::Open))
            .map(|family| Subject::of(family))
            .collect(),
        SubjectRole::Discipline => {
            catalogue.disciplines.iter().map(|family| Subject::of(family)).collect()
        }
    }
}
