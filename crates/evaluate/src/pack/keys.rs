//! The keys of `pack.toml`.

use super::{Better, SubjectRole, Tier};
use Default::{Nothing, Required, Value as By, Words};
use accord::form::{Checked, Default, Key, Problem, Shape, key, quote, read};
use accord::scenario::Metric;
use accord::units::Words as _;

pub(super) type Section = accord::form::Section<Checked>;

const fn section(title: &'static str, doc: &'static str, keys: &'static [Key<Checked>]) -> Section {
    accord::form::section(title, doc, keys)
}

const TEXTS: Shape<Checked> = Shape::List(&Shape::Text);

/// A name that can be that of a file and in a command.
const FILE: Shape<Checked> = Shape::Own(Checked {
    expected: "a name in quotes",
    brief: "name",
    types: &["string"],
    check: |value| {
        let text = read::string(value)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if !text.is_empty() && text.len() <= 60 && text.chars().all(fits) {
            return Ok(());
        }
        let message = format!("{} is not a name", quote(&text));
        Err(Problem::new(value.span, message).hint("use up to 60 letters, digits, \"-\" and \"_\""))
    },
});

/// The name of a measure.
const LINE: Shape<Checked> = Shape::Own(Checked {
    expected: "one short line in quotes",
    brief: "text",
    types: &["string"],
    check: |value| match read::string(value)? {
        name if name.is_empty() || name.chars().any(char::is_control) || name.len() > 100 => {
            Err(Problem::new(value.span, "the name of a measure is one short line"))
        }
        _ => Ok(()),
    },
});

/// The keys of `pack.toml`.
pub const PACK: Section = section("The pack", "A standard as data: its sections, the cases that answer each, and the measures of the cases.", &[
    key("name", FILE, Required, "The name on the command line and in results."),
    key("title", Shape::Text, Required, "One line for people."),
    key("source", Shape::Text, Required, "The standard."),
    key("standard", Shape::Text, Words("the name"), "The short name of the standard, before the numbers of sections."),
    key("notes", Shape::Text, By(""), "Remarks on all results."),
    key("subject", Shape::Choice(SubjectRole::words), Required, "The kind of subject."),
    key("rivals", TEXTS, Nothing, "The rivals of the subject, if the command names none."),
    key("parameters", Shape::Map(&Shape::Any), Nothing, "Parameters of subjects and rivals, for families that have them."),
    key("measure", Shape::List(&Shape::Table(&MEASURE)), Required, "The measures of the cases."),
    key("section", Shape::List(&Shape::Table(&SECTION)), Required, "The standard's sections."),
    key("left_out", Shape::List(&Shape::Table(&LEFT_OUT)), Nothing, "The parts of the standard that the pack leaves out."),
]);

pub(super) const MEASURE: Section = section("[[measure]]", "A quantity that cases measure: a figure as an expectation has it, or a ratio of two of them.", &[
    key("name", LINE, Required, "The name, unique in the pack."),
    key("title", Shape::Text, By(""), "The meaning, one line."),
    key("metric", Shape::Choice(metrics), Words("required without `ratio`"), "The metric."),
    key("of", Shape::Text, Words("required with `metric`"), "As in `[[expect]]`."),
    key("over", Shape::Any, Nothing, "As in `[[expect]]`."),
    key("state", Shape::Any, Nothing, "As in `[[expect]]`."),
    key("across", Shape::Text, Nothing, "As in `[[expect]]`."),
    key("during", Shape::Any, Nothing, "As in `[[expect]]`."),
    key("reach", Shape::Any, Nothing, "The measure is the time until the sum over flows reaches this value."),
    key("ratio", Shape::Pair(&Shape::Text), Nothing, "The measure is the quotient of these earlier ones."),
    key("better", Shape::Choice(Better::words), Required, "The direction of better values."),
    key("relevant", Shape::Number(0.0, 10.0), By("0.05"), "The least relative change that matters: 0.05 is 5 %."),
]);

pub(super) const SECTION: Section = section("[[section]]", "A section of the standard.", &[
    key("number", Shape::Text, Required, "Its number or letter."),
    key("title", Shape::Text, Required, "Its title."),
    key("level", Shape::Text, By(""), "\"MUST\", \"SHOULD\" or nothing."),
    key("asks", Shape::Text, Required, "The question, in our words."),
    key("not_measured", Shape::Text, By(""), "The reason why nothing is measured, or a question that the measurements leave open."),
    key("case", Shape::List(&Shape::Table(&CASE)), Nothing, "The cases that answer it."),
    key("rule", Shape::List(&Shape::Table(&RULE)), Nothing, "Bounds of the measures."),
]);

pub(super) const CASE: Section = section("[[section.case]]", "A scenario that answers a section.", &[
    key("name", FILE, Required, "The name, unique in the pack."),
    key("title", Shape::Text, Required, "One line for people."),
    key("notes", Shape::Text, By(""), "Remarks for its reader."),
    key("scenario", FILE, Required, "The scenario: a file of the pack, without its ending."),
    key("set", TEXTS, Nothing, "Settings in the scenario, as by `--set`."),
    key("quick", TEXTS, Nothing, "Further settings of the quick tier."),
    key("tier", Shape::Choice(Tier::words), By("quick"), "The first tier that has the case."),
    key("subject", TEXTS, Required, "The paths of controllers or queues that it replaces."),
    key("measures", TEXTS, Required, "The names of its measures."),
    key("ellipse", Shape::Pair(&Shape::Text), Nothing, "The two measures of an ellipse, delay first."),
    key("margins", Shape::Flag, By("false"), "Adds the margins of the equilibrium."),
]);

pub(super) const RULE: Section = section("[[section.rule]]", "A bound of a measure.", &[
    key("require", Shape::Text, Required, "The rule, such as \"delay: loss < 1 %\"."),
    key("source", Shape::Text, Required, "The section of a standard, or \"ours\"."),
    key("because", Shape::Text, Required, "The reason for the bound."),
]);

pub(super) const LEFT_OUT: Section = section("[[left_out]]", "A part of the standard that the pack leaves out.", &[
    key("what", Shape::Text, Required, "The part."),
    key("why", Shape::Text, Required, "The reason."),
]);

fn metrics() -> Vec<&'static str> {
    Metric::known().into_iter().map(Metric::name).collect()
}
