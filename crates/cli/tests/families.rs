//! Every controller and queue discipline is complete: it has a page, an entry in the reference, a
//! maker, and each engine runs it or its family has the reason why not.

use accord::Catalogue;
use accord::family::{Dynamics, Family, Objective, Price, Role, fill_tables};
use accord::fluid::FluidError;
use accord::language::File;
use accord::record::Quiet;
use accord::scenario::Scenario;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src")
}

fn all(catalogue: &Catalogue) -> Vec<&'static Family> {
    [catalogue.controllers, catalogue.disciplines].concat()
}

/// Compares a page with its generated form, or writes it with UPDATE_DOCS=1.
fn settle(page: &str, new: impl Fn(&str) -> String) {
    let path = book().join(page);
    let old = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let new = new(&old);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, new).expect("writable");
    } else {
        let command = "UPDATE_DOCS=1 cargo test -p accord-cli --test all families";
        assert!(old == new, "{} is out of date; {command}", path.display());
    }
}

#[test]
fn every_family_has_its_page_with_its_parameters() {
    let families = all(&accord::catalogue());
    let summary = fs::read_to_string(book().join("SUMMARY.md")).expect("the summary");
    for family in &families {
        let listed = summary.contains(&format!("({})", family.page));
        let Family { name, page, .. } = family;
        assert!(!page.is_empty() && listed, "{name}: the book has no {page}");
        let text = fs::read_to_string(book().join(page)).expect("the page");
        let place = format!("<!-- parameters of {name} -->");
        assert!(text.contains(&place), "{page} has no place for {name}");
    }
    for page in families.iter().map(|f| f.page).collect::<BTreeSet<_>>() {
        settle(page, |old| fill_tables(old, &families));
    }
}

/// Returns a table of families for the reference.
fn entries(families: &[&Family]) -> String {
    let mut table =
        String::from("| name | what it is | source | fluid engine |\n|---|---|---|---|\n");
    for f in families {
        let fluid = match f.dynamics {
            Dynamics::Missing(why) => format!("no: {why}"),
            Dynamics::Window(_) | Dynamics::Queue(_) => "yes".to_string(),
        };
        let (name, page, doc, source) = (f.name, f.page, f.doc, f.source);
        writeln!(table, "| [{name}]({page}) | {doc} | {source} | {fluid} |").expect("a string");
    }
    table
}

#[test]
fn every_family_has_its_entry_in_the_reference() {
    let catalogue = accord::catalogue();
    settle("scenario.md", |old| {
        let mut page = old.to_string();
        for (what, families) in
            [("controllers", catalogue.controllers), ("disciplines", catalogue.disciplines)]
        {
            let (begin, end) = (format!("<!-- {what} -->\n"), format!("<!-- end of {what} -->"));
            let from = page.find(&begin).expect("a place for them") + begin.len();
            let to = page.find(&end).expect("its end");
            page.replace_range(from..to, &format!("\n{}\n", entries(families)));
        }
        page
    });
}

fn scenario(flow: &str, queue: &str) -> Scenario {
    let text = format!(
        "id = \"whole\"\n\
         duration = \"4 s\"\n\
         topology.dumbbell = {{ rate = \"4 Mbps\", delay = \"10 ms\", queue = {queue} }}\n\
         [flow.f]\n\
         from = \"left\"\n\
         to = \"right\"\n\
         {flow}\n"
    );
    let file = File::parse("whole.toml", &text).unwrap_or_else(|e| panic!("{e}"));
    let points = file.points(&accord::catalogue(), None);
    points.unwrap_or_else(|e| panic!("{e}")).swap_remove(0)
}

/// Runs a scenario of a family in every engine without real time.
fn runs(family: &Family, s: &Scenario) {
    let name = family.name;
    let theory = accord::theory::run(s, &mut Quiet);
    assert!(theory.is_ok(), "{name}: {theory:?}");
    let packet = accord::sim::run(s, &mut Quiet).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(packet.statistics.packet_hops > 100, "{name} sends nothing");
    let fluid = accord::fluid::run(s, &mut Quiet).map(|_| ());
    match (family.dynamics, fluid) {
        (Dynamics::Window(_) | Dynamics::Queue(_), Ok(())) => {}
        (
            Dynamics::Missing(reason),
            Err(FluidError::NoLaw { why, .. } | FluidError::NoDiscipline { why, .. }),
        ) => {
            assert_eq!(why, reason, "{name}");
            assert!(why.split(' ').count() > 4, "{name}: is \"{why}\" a reason?");
        }
        (dynamics, fluid) => panic!("{name}: {dynamics:?}, and {fluid:?}"),
    }
}

#[test]
fn every_engine_runs_a_controller_or_its_family_says_why_not() {
    for family in accord::catalogue().controllers {
        let objective = family.role.objective(&family.defaults());
        let demand = match objective.expect("a controller") {
            Objective::Unresponsive => "demand = { constant = \"2 Mbps\" }",
            _ => "",
        };
        let flow = format!("controller = \"{}\"\n{demand}", family.name);
        runs(family, &scenario(&flow, "\"droptail\""));
    }
}

#[test]
fn every_engine_runs_a_discipline_or_its_family_says_why_not() {
    for family in accord::catalogue().disciplines {
        let queue = format!("{{ discipline = \"{}\", limit = \"50 pkt\" }}", family.name);
        runs(family, &scenario("controller = \"newreno\"", &queue));
    }
}

/// Returns the error of a registration.
fn refused(controllers: &[&'static Family], disciplines: &[&'static Family]) -> String {
    let made = catch_unwind(AssertUnwindSafe(|| accord::catalogue_with(controllers, disciplines)));
    let refused = made.map(|_| ()).expect_err("it has to be refused");
    *refused.downcast::<String>().expect("a message")
}

#[test]
fn what_is_not_sound_is_refused_when_it_is_registered() {
    const LOSS: Role = Role::Controller(|_| Objective::Loss);
    static NOT_MADE: Family = Family::new("not-made", LOSS);
    assert!(refused(&[&NOT_MADE], &[]).contains("not-made has no maker"));
    static NO_QUEUE: Family = Family::new("no-queue", Role::Queue(|_| Price::Loss));
    assert!(refused(&[], &[&NO_QUEUE]).contains("no-queue has no maker"));
    assert!(refused(&[&NO_QUEUE], &[]).contains("no-queue is not a controller"));
    assert!(refused(&[], &[&NOT_MADE]).contains("not-made is not a queue discipline"));
    let reno = accord::control::FAMILIES[0];
    let twice = format!("there are two families called {}", reno.name);
    assert!(refused(&[reno], &[]).contains(&twice));
    let queue = accord::aqm::FAMILIES[0];
    let mixed = Family { maker: queue.maker, ..Family::new("mixed", LOSS) };
    let mixed: &'static Family = Box::leak(Box::new(mixed));
    assert!(refused(&[mixed], &[]).contains("mixed has no maker of controllers"));
}
