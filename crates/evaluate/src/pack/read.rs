//! The reader of `pack.toml`. It finds all errors at once, each with its place.

use super::keys::{CASE, LEFT_OUT, MEASURE, PACK, RULE, SECTION};
use super::{Case, Figure, LeftOut, Measure, Pack, Parameter, Section};
use crate::rule::{Part, Rule, inside};
use accord::form::read::{each, flag, number, parsed, string, word};
use accord::form::{self, Checked, Errors, Problem, Problems, Source, Span, Value, fail, quote};
use accord::scenario::{Metric, MetricUnit};
use std::sync::Arc;

type Reader<'a> = form::Reader<'a, Checked>;

/// The largest number of measures and of sections.
const MOST: usize = 500;

/// Reads a pack. `text_of` returns the text of the scenario of a name.
pub(super) fn read(
    origin: Arc<Source>,
    directory: Option<String>,
    text_of: &dyn Fn(&str) -> Result<String, String>,
) -> Result<Pack, Errors> {
    let tree = form::tree(&origin, &PACK, &())?;
    let reader = Reader::new(&PACK, &tree, Span::default());
    let mut problems = Problems::default();
    let pack = problems.keep(head(&reader, &origin, directory)).map(|mut pack| {
        pack.measures(&reader, &mut problems);
        // A case of a measure that is wrong would also be wrong.
        if problems.is_empty() {
            pack.sections(&reader, text_of, &mut problems);
        }
        pack
    });
    problems.check(&[origin])?;
    Ok(pack.expect("without a problem there is one"))
}

/// Reads all but the measures and the sections.
fn head(
    reader: &Reader<'_>,
    origin: &Arc<Source>,
    directory: Option<String>,
) -> Result<Pack, Problem> {
    let name = reader.get("name", string)?;
    let parameters = reader.given("parameters").and_then(Value::table);
    let parameter = |entry: &form::Entry| Parameter {
        name: entry.key.clone(),
        value: written(origin, &entry.value),
        span: entry.span.range(),
    };
    let left_out = reader.tables("left_out", &LEFT_OUT).into_iter();
    Ok(Pack {
        standard: reader.opt("standard", string)?.unwrap_or_else(|| name.clone()),
        name,
        title: reader.get("title", string)?,
        source: reader.get("source", string)?,
        notes: reader.get("notes", string)?,
        role: reader.get("subject", word)?,
        rivals: texts(reader, "rivals")?,
        parameters: parameters.map_or(&[][..], |t| &t.entries).iter().map(parameter).collect(),
        measures: Vec::new(),
        sections: Vec::new(),
        left_out: left_out
            .map(|r| Ok(LeftOut { what: r.get("what", string)?, why: r.get("why", string)? }))
            .collect::<Result<_, Problem>>()?,
        origin: Arc::clone(origin),
        directory,
    })
}

/// Returns the texts of a list, none if it is not given.
fn texts(reader: &Reader<'_>, key: &str) -> Result<Vec<String>, Problem> {
    Ok(reader.opt(key, |list| each(list, string))?.unwrap_or_default())
}

/// Returns a value as the file has it.
fn written(origin: &Source, value: &Value) -> String {
    origin.text[value.span.range()].to_string()
}

/// Reads a section without its rules.
fn section(reader: &Reader<'_>, cases: Vec<Case>) -> Result<Section, Problem> {
    let section = Section {
        number: reader.get("number", string)?,
        title: reader.get("title", string)?,
        level: reader.get("level", string)?,
        asks: reader.get("asks", string)?,
        not_measured: reader.get("not_measured", string)?,
        cases,
        rules: Vec::new(),
    };
    if reader.given("case").is_none() && section.not_measured.is_empty() {
        let message = format!("section {} has no case", section.number);
        let hint = "say in `not_measured` why nothing is measured";
        return Err(Problem::new(reader.span, message).hint(hint));
    }
    Ok(section)
}

impl Pack {
    fn measures(&mut self, reader: &Reader<'_>, problems: &mut Problems) {
        for entry in reader.tables("measure", &MEASURE) {
            let Some(measure) = problems.keep(self.measure(&entry)) else {
                continue;
            };
            if self.measures.iter().any(|known| known.name == measure.name) {
                let message = format!("there are two measures {}", quote(&measure.name));
                problems.push(Problem::new(entry.at("name"), message));
            }
            self.measures.push(measure);
        }
        if self.measures.len() > MOST {
            let message = format!("a pack has at most {MOST} measures");
            problems.push(Problem::new(reader.at("measure"), message));
        }
    }

    fn measure(&self, reader: &Reader<'_>) -> Result<Measure, Problem> {
        let name = reader.get("name", string)?;
        let metric: Option<Metric> = reader.opt("metric", parsed)?;
        let ratio = reader.opt("ratio", |pair| each(pair, |name| self.part(name)))?;
        let figure = match (metric, ratio) {
            (Some(metric), None) => {
                let entry = self.wanted(reader, metric)?;
                let reach = reader.given("reach").is_some();
                if reach { Figure::Reach(entry) } else { Figure::Value(entry) }
            }
            (None, Some(parts)) => Figure::Ratio(parts[0], parts[1]),
            _ => {
                let message = format!("measure {} needs either `metric` or `ratio`", quote(&name));
                return fail(reader.span, message);
            }
        };
        let text = |key| reader.given(key).and_then(Value::text);
        let most = match (&figure, text("across")) {
            (Figure::Value(_), Some("jain")) => Some(1.0),
            (Figure::Value(_), None) if reader.given("state").is_some() => Some(1.0),
            (Figure::Value(_), Some("sum" | "variation")) => None,
            (Figure::Value(_), _) if text("over") != Some("variation") => {
                metric.and_then(|m| m.row().most)
            }
            _ => None,
        };
        Ok(Measure {
            name,
            title: reader.get("title", string)?,
            figure,
            better: reader.get("better", word)?,
            relevant: reader.get("relevant", |value| number(value, 0.0, 10.0))?,
            most,
            span: reader.at("name").range(),
        })
    }

    /// Returns the measure that a part of a ratio names.
    fn part(&self, name: &Value) -> Result<usize, Problem> {
        let found = self.find(name, " above")?;
        match self.measures[found].figure {
            Figure::Ratio(..) => fail(name.span, "a part of a ratio is not a ratio itself"),
            _ => Ok(found),
        }
    }

    /// Returns the measure of a name. `place` says where it has to be.
    fn find(&self, name: &Value, place: &str) -> Result<usize, Problem> {
        let wanted = string(name)?;
        self.measures.iter().position(|m| m.name == wanted).ok_or_else(|| {
            Problem::new(name.span, format!("there is no measure {}{place}", quote(&wanted)))
                .known(&wanted, self.measures.iter().map(|m| m.name.as_str()))
        })
    }

    /// Returns the entry of `expect` that makes the figure. Its bound is the level to reach, or else
    /// zero.
    fn wanted(&self, reader: &Reader<'_>, metric: Metric) -> Result<String, Problem> {
        let of = reader.given("of").ok_or_else(|| reader.missing("of"))?;
        let given = |key| reader.given(key).map(|value| written(&self.origin, value));
        let is = |key, words: &[&str]| {
            reader.given(key).and_then(Value::text).is_some_and(|text| words.contains(&text))
        };
        let zero = match metric.unit() {
            _ if is("over", &["variation"]) || is("across", &["variation", "jain"]) => "0.0",
            MetricUnit::BitPerSecond => "\"0 bps\"",
            MetricUnit::Bytes => "\"0 B\"",
            MetricUnit::Seconds => "\"0 s\"",
            MetricUnit::Packets | MetricUnit::Ratio => "0.0",
        };
        let bound = given("reach").unwrap_or(zero.to_string());
        let mut entry = format!("at_least = {bound}, of = {}", written(&self.origin, of));
        for key in ["name", "metric", "over", "state", "during", "across"] {
            if let Some(value) = given(key) {
                entry += &format!(", {key} = {value}");
            }
        }
        Ok(format!("{{ {entry} }}"))
    }

    fn sections(
        &mut self,
        reader: &Reader<'_>,
        text_of: &dyn Fn(&str) -> Result<String, String>,
        problems: &mut Problems,
    ) {
        let sections = reader.tables("section", &SECTION);
        if sections.len() > MOST {
            let message = format!("a pack has at most {MOST} sections");
            return problems.push(Problem::new(reader.at("section"), message));
        }
        for entry in sections {
            let mut cases = Vec::new();
            for case in entry.tables("case", &CASE) {
                let Some(read) = problems.keep(self.case(&case, text_of)) else {
                    continue;
                };
                let known = self.cases().map(|(_, case)| case).chain(&cases);
                if { known }.any(|known: &Case| known.name == read.name) {
                    let message = format!("there are two cases {}", quote(&read.name));
                    problems.push(Problem::new(case.at("name"), message));
                }
                cases.push(read);
            }
            let Some(mut section) = problems.keep(section(&entry, cases)) else {
                continue;
            };
            // A rule on a case that is wrong would also be wrong.
            if section.cases.len() == entry.tables("case", &CASE).len() {
                for rule in entry.tables("rule", &RULE) {
                    section.rules.extend(problems.keep(self.rule(&section, &rule)));
                }
            }
            self.sections.push(section);
        }
    }

    fn case(
        &self,
        reader: &Reader<'_>,
        text_of: &dyn Fn(&str) -> Result<String, String>,
    ) -> Result<Case, Problem> {
        let name = reader.get("name", string)?;
        let scenario = reader.get("scenario", string)?;
        let text = text_of(&scenario).map_err(|why| {
            let message = format!("scenario \"{scenario}.toml\": {why}");
            Problem::new(reader.at("scenario"), message)
        })?;
        let subject = texts(reader, "subject")?;
        let measures = reader.get("measures", |list| each(list, |name| self.find(name, "")))?;
        if subject.is_empty() || measures.is_empty() {
            let message = format!("case {} has no subject or measures nothing", quote(&name));
            return fail(reader.at("name"), message);
        }
        let ellipse = reader.opt("ellipse", |pair| each(pair, |name| self.find(name, "")))?;
        Ok(Case {
            name,
            title: reader.get("title", string)?,
            notes: reader.get("notes", string)?,
            scenario,
            text,
            set: texts(reader, "set")?,
            quick: texts(reader, "quick")?,
            tier: reader.get("tier", word)?,
            subject,
            measures,
            ellipse: ellipse.map(|pair| [pair[0], pair[1]]),
            margins: reader.get("margins", flag)?,
            span: reader.span.range(),
        })
    }

    /// Returns a rule of a section, which is about measures of its cases.
    fn rule(&self, section: &Section, reader: &Reader<'_>) -> Result<Rule, Problem> {
        for (key, hint) in [
            ("source", "name the section of a standard, or say \"ours\""),
            ("because", "say why the bound is there, and not elsewhere"),
        ] {
            if reader.get(key, string)?.trim().is_empty() {
                let message = format!("`{key}` of a rule is empty");
                return Err(Problem::new(reader.at(key), message).hint(hint));
            }
        }
        let source = reader.get("source", string)?;
        let span = reader.get("require", |value| inside(&self.origin, value))?;
        let mut rule = Rule::parse(&self.origin, span, true, &source)?;
        rule.because = reader.get("because", string)?;
        let wrong = |part: &Part, message| Problem::new(Span::new(0, part.span.clone()), message);
        let named = |case: &&Case| rule.case.as_ref().is_none_or(|part| part.text == case.name);
        let cases: Vec<&Case> = section.cases.iter().filter(named).collect();
        if let (Some(part), true) = (&rule.case, cases.is_empty()) {
            let message = format!("section {} has no case \"{}\"", section.number, part.text);
            let known = section.cases.iter().map(|case| case.name.as_str());
            return Err(wrong(part, message).known(&part.text, known));
        }
        let here = cases.iter().flat_map(|case| &case.measures);
        let mut here: Vec<&str> = here.map(|m| self.measures[*m].name.as_str()).collect();
        if !here.contains(&rule.measure.text.as_str()) {
            let message = format!("no case here measures \"{}\"", rule.measure.text);
            here.sort_unstable();
            here.dedup();
            return Err(wrong(&rule.measure, message).known(&rule.measure.text, here));
        }
        Ok(rule)
    }
}
