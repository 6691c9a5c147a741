//! Readings of papers: the open settings of a figure, their permitted values, and the checks that
//! packets meet under them.
//!
//! A reading of a figure is a value for each open switch of its law and for each open setting of the figure.
//! [`Papers`] declares them, [`Papers::at_first_settings`] and [`Papers::others`] choose the readings to run,
//! and [`Readings`] is the record. From it [`Papers::choice`] determines the single reading of a law that
//! counts for all figures of its papers.

use crate::declared::{LAW_AXIS, OUR_LAW, Open, PaperFigure, PaperLaw, Papers, Permitted};
use crate::verdict::{Judged, Kind};
use serde::{Serialize, Serializer};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The seeds of each reading.
pub const SEEDS: [u64; 5] = [1, 2, 3, 4, 5];

/// The number of seeds under which all checks of a figure must be met.
const ENOUGH: usize = 4;

/// The number of readings of a law, of settings of a figure, and of both together, up to which all readings
/// are run.
const READINGS: usize = 8;

/// The version of the record.
const VERSION: u32 = 1;

/// The path of the record in the repository.
pub const RECORD: &str = "scenarios/readings.txt";

/// The separator between the values of a reading.
const BETWEEN: &str = "; ";

/// A value for each open switch and setting, by its place among the permitted ones.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reading {
    /// The value of [`LAW_AXIS`] that is run: the paper's scheme or [`OUR_LAW`]. It is "" for a
    /// figure without a law.
    pub scheme: String,
    /// The switches of the paper's law. The list is empty for our law.
    pub switches: Vec<usize>,
    /// The settings of the figure.
    pub settings: Vec<usize>,
}

/// A reading of a figure, and the checks that are met under it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The reading.
    pub reading: Reading,
    /// The number of checks that are met, by seed, in the order of [`SEEDS`].
    pub met: Vec<usize>,
    /// The number of checks.
    pub of: usize,
}

impl Row {
    /// Returns the number of seeds under which all checks are met.
    pub(crate) fn whole(&self) -> usize {
        self.met.iter().filter(|met| **met == self.of && self.of > 0).count()
    }

    /// Returns whether all checks are met under enough seeds.
    pub(crate) fn is_met(&self) -> bool {
        self.whole() >= ENOUGH
    }

    /// Returns the number of checks that are met under the median seed.
    pub(crate) fn median(&self) -> usize {
        let mut met = self.met.clone();
        met.sort_unstable();
        met.get(met.len() / 2).copied().unwrap_or(0)
    }

    fn sum(&self) -> usize {
        self.met.iter().sum()
    }
}

/// A check that fails under each reading and seed that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Never {
    /// The scheme, as in [`Reading::scheme`].
    pub scheme: String,
    /// The experiment.
    pub experiment: String,
    /// The settings of its point that are the same under all readings, or "".
    pub place: String,
    /// The name.
    pub name: String,
    /// The line in the record, or 0 if it was not read from one.
    pub line: usize,
}

/// The readings of a figure that were run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureReadings {
    /// The key of the paper.
    pub paper: String,
    /// The name of the figure.
    pub figure: String,
    /// The readings.
    pub rows: Vec<Row>,
    /// The checks that are never met.
    pub never: Vec<Never>,
}

/// The record of readings.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings {
    /// The readings by figure, in the order of the declarations.
    pub figures: Vec<FigureReadings>,
}

/// The reading of a law that counts for all figures of its papers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LawChoice {
    /// The law.
    pub law: String,
    /// The keys of its papers.
    pub papers: Vec<String>,
    /// The values of its switches.
    pub switches: Vec<usize>,
    /// The reading in words.
    pub reading: String,
    /// The choice in a sentence.
    pub why: String,
}

impl Serialize for LawChoice {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        use serde::ser::SerializeStruct as _;
        let mut out = to.serialize_struct("LawChoice", 4)?;
        out.serialize_field("law", &self.law)?;
        out.serialize_field("papers", &self.papers)?;
        out.serialize_field("reading", &self.reading)?;
        out.serialize_field("why", &self.why)?;
        out.end()
    }
}

/// Returns the number of combinations of values.
fn product(open: &[Open]) -> usize {
    open.iter().fold(1, |n, open| n.saturating_mul(open.values.len()))
}

/// Returns the `n`-th combination of values. The last one varies fastest.
fn combination(open: &[Open], mut n: usize) -> Vec<usize> {
    let mut picks: Vec<usize> = open
        .iter()
        .rev()
        .map(|open| {
            let values = open.values.len().max(1);
            let pick = n % values;
            n /= values;
            pick
        })
        .collect();
    picks.reverse();
    picks
}

/// Returns a key that puts combinations in a fixed order that looks random.
fn shuffled(picks: &[usize]) -> String {
    blake3::hash(format!("{picks:?}").as_bytes()).to_hex().to_string()
}

/// Returns all combinations of values if they are few. Otherwise it returns the first values, each
/// other value by itself, and some of the rest.
fn combinations(open: &[Open]) -> Vec<Vec<usize>> {
    let all = (0..product(open)).map(|n| combination(open, n));
    if product(open) <= READINGS {
        return all.collect();
    }
    let changes = |picks: &Vec<usize>| picks.iter().filter(|pick| **pick > 0).count();
    let (mut few, mut rest): (Vec<_>, Vec<_>) = all.partition(|picks| changes(picks) <= 1);
    few.sort_by_key(|picks| changes(picks));
    rest.sort_by_key(|picks| shuffled(picks));
    rest.truncate(READINGS.saturating_sub(few.len()));
    few.extend(rest);
    few
}

/// Returns the values in words, or "-" if there are none.
fn values(open: &[Open], picks: &[usize]) -> String {
    let value = |(open, pick): (&Open, &usize)| open.values[*pick].value.clone();
    let values: Vec<String> = open.iter().zip(picks).map(value).collect();
    if values.is_empty() { "-".into() } else { values.join(BETWEEN) }
}

/// Returns the values with the names of their settings: "control packets 40 B".
fn named(open: &[Open], picks: &[usize]) -> String {
    let name =
        |(open, pick): (&Open, &usize)| format!("{} {}", open.name, open.values[*pick].value);
    open.iter().zip(picks).map(name).collect::<Vec<_>>().join(", ")
}

/// Returns the values that a text names.
fn picks(open: &[Open], text: &str) -> Result<Vec<usize>, String> {
    let texts: Vec<&str> = if text == "-" { vec![] } else { text.split(BETWEEN).collect() };
    if texts.len() != open.len() {
        let names: Vec<&str> = open.iter().map(|open| open.name.as_str()).collect();
        return Err(format!("\"{text}\" needs a value for each of: {}", names.join(", ")));
    }
    let pick = |(open, text): (&Open, &str)| {
        let found = open.values.iter().position(|value| value.value == text);
        found.ok_or_else(|| {
            let known: Vec<&str> = open.values.iter().map(|v| v.value.as_str()).collect();
            let known = known.join(", ");
            format!("\"{text}\" is not declared for {}; declared are {known}", open.name)
        })
    };
    open.iter().zip(texts).map(pick).collect()
}

/// Returns the permitted values of a combination.
fn chosen<'a>(open: &'a [Open], picks: &[usize]) -> Vec<&'a Permitted> {
    open.iter().zip(picks).map(|(open, pick)| &open.values[*pick]).collect()
}

impl PaperFigure {
    /// Returns the figure's name with that of its paper.
    pub fn full_name(&self) -> String {
        format!("{} {}", self.paper, self.name)
    }

    /// Returns the settings for a reading: in the form PATH=VALUE, and the points of sweeps by axis.
    pub fn settings(&self, papers: &Papers, reading: &Reading) -> (Vec<String>, Vec<(&str, &str)>) {
        let scheme = &reading.scheme;
        let switches = chosen(papers.switches(self), &reading.switches).into_iter();
        let switches = switches.flat_map(|value| &value.set);
        let mut set: Vec<String> =
            switches.map(|set| format!("sweep.{LAW_AXIS}.values.{scheme}.{set}")).collect();
        let settings = chosen(&self.open, &reading.settings);
        set.extend(settings.iter().flat_map(|value| value.set.iter().cloned()));
        let at = settings.into_iter().flat_map(|value| &value.at).chain(&self.at);
        (set, at.map(|(axis, value)| (axis.as_str(), value.as_str())).collect())
    }

    /// Returns the settings of a point that are the same under all readings.
    pub fn place(&self, point: &[(String, String)]) -> String {
        let open: BTreeSet<&str> = self
            .open
            .iter()
            .flat_map(|o| &o.values)
            .flat_map(|v| v.at.keys())
            .map(|k| &**k)
            .collect();
        let is_own = |law: &str| law == OUR_LAW || Some(law) == self.law.as_deref();
        let same = point.iter().filter(|(axis, value)| {
            !(open.contains(axis.as_str()) || axis == LAW_AXIS && is_own(value))
        });
        let same: Vec<String> = same.map(|(axis, value)| format!("{axis} = {value}")).collect();
        same.join(", ")
    }

    /// Returns whether a check of one of its experiments may belong to the figure under some reading.
    fn may_show(&self, check: &Judged, laws: &BTreeSet<&str>) -> bool {
        let at = self.at.iter().all(|(axis, own)| check.setting(axis).is_none_or(|v| v == own));
        let permitted = self.open.iter().all(|open| {
            let mut axes = open.values.iter().flat_map(|value| value.at.keys());
            axes.all(|axis| {
                let is = |value: &Permitted, own| value.at.get(axis).is_none_or(|v| v == own);
                check.setting(axis).is_none_or(|own| open.values.iter().any(|v| is(v, own)))
            })
        });
        let own_law = check
            .setting(LAW_AXIS)
            .is_none_or(|law| !laws.contains(law) || Some(law) == self.law.as_deref());
        at && permitted && own_law && self.has_name(&check.name)
    }
}

impl Papers {
    /// Returns the law of a figure, if its switches are declared.
    fn law(&self, figure: &PaperFigure) -> Option<&PaperLaw> {
        let law = figure.law.as_ref()?;
        self.laws.iter().find(|l| l.name == *law && l.papers.contains(&figure.paper))
    }

    /// Returns the open switches of the law of a figure.
    pub fn switches(&self, figure: &PaperFigure) -> &[Open] {
        self.law(figure).map_or(&[], |law| &law.open)
    }

    /// Returns the number of readings of a figure by the paper's scheme.
    pub fn declared(&self, figure: &PaperFigure) -> usize {
        product(self.switches(figure)).saturating_mul(product(&figure.open))
    }

    /// Returns the readings of the law of a figure, at the first value of each of its settings.
    pub fn at_first_settings(&self, figure: &PaperFigure) -> Vec<Reading> {
        let scheme = figure.law.clone().unwrap_or_default();
        let settings = vec![0; figure.open.len()];
        let of =
            |switches| Reading { scheme: scheme.clone(), switches, settings: settings.clone() };
        combinations(self.switches(figure)).into_iter().map(of).collect()
    }

    /// Returns the further readings of a figure to run: all settings under the `switches` chosen for its law
    /// and under our law, and some of the rest.
    pub fn others(&self, figure: &PaperFigure, switches: &[usize]) -> Vec<Reading> {
        let scheme = figure.law.clone().unwrap_or_default();
        let mut settings = combinations(&figure.open);
        settings.truncate(figure.most.unwrap_or(settings.len()).max(1));
        let of = |settings: &Vec<usize>| Reading {
            scheme: scheme.clone(),
            switches: switches.to_vec(),
            settings: settings.clone(),
        };
        let first = self.at_first_settings(figure);
        let mut others: Vec<Reading> =
            settings.iter().map(of).filter(|reading| !first.contains(reading)).collect();
        let most = figure.most.unwrap_or(READINGS);
        let left = most.saturating_sub(first.len() + others.len());
        let open = [self.switches(figure), &figure.open].concat();
        if left > 0 {
            let all = (0..product(&open)).map(|n| combination(&open, n)).map(|picks| {
                let (switches, settings) = picks.split_at(open.len() - figure.open.len());
                let (switches, settings) = (switches.to_vec(), settings.to_vec());
                Reading { scheme: scheme.clone(), switches, settings }
            });
            let mut rest: Vec<Reading> = all
                .filter(|reading| !first.contains(reading) && !others.contains(reading))
                .collect();
            rest.sort_by_key(|r| shuffled(&[&r.switches[..], &r.settings].concat()));
            others.extend(rest.into_iter().take(left));
        }
        if figure.law.is_some() {
            others.extend(settings.into_iter().map(|settings| Reading {
                scheme: OUR_LAW.into(),
                switches: vec![],
                settings,
            }));
        }
        others
    }

    /// Returns a reading in words.
    pub fn in_words(&self, figure: &PaperFigure, reading: &Reading) -> String {
        let switches = named(self.switches(figure), &reading.switches);
        let settings = named(&figure.open, &reading.settings);
        let parts = [reading.scheme.clone(), switches, settings];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
    }

    /// Returns the settings of a reading in words, or "" for the first ones.
    pub(crate) fn setting_in_words(&self, figure: &PaperFigure, reading: &Reading) -> String {
        let other = figure.open.iter().zip(&reading.settings).filter(|(_, pick)| **pick > 0);
        let name =
            |(open, pick): (&Open, &usize)| format!("{} {}", open.name, open.values[*pick].value);
        other.map(name).collect::<Vec<_>>().join(", ")
    }

    /// Returns the readings of all laws, chosen by the record.
    pub fn choices(&self, readings: &Readings) -> Vec<LawChoice> {
        self.laws.iter().map(|law| self.choice(law, readings)).collect()
    }

    /// Returns the chosen switches of the law of a figure.
    pub fn chosen_switches(&self, figure: &PaperFigure, readings: &Readings) -> Vec<usize> {
        self.law(figure).map_or(vec![], |law| self.choice(law, readings).switches)
    }

    /// Chooses the reading of a law, at the first settings of the figures of its papers. The figures are
    /// divided in the order of their declaration, taken alternately. The choice is the reading that meets the
    /// most checks on the first half, and of equals the first. It is confirmed if it also meets more checks
    /// than the first reading on the second half. Otherwise the first reading stays.
    fn choice(&self, law: &PaperLaw, readings: &Readings) -> LawChoice {
        let of = |figure: &&PaperFigure| {
            figure.law.as_deref() == Some(&law.name) && law.papers.contains(&figure.paper)
        };
        let figures: Vec<&PaperFigure> = self.figures.iter().filter(of).collect();
        let meets = |switches: &[usize], half: usize| {
            let figures = figures.iter().skip(half).step_by(2);
            let row = |figure: &&PaperFigure| {
                let rows = &readings.of(figure)?.rows;
                rows.iter().find(|row| {
                    row.reading.scheme == law.name
                        && row.reading.switches == switches
                        && row.reading.settings.iter().all(|pick| *pick == 0)
                })
            };
            figures.filter_map(row).map(Row::sum).sum::<usize>()
        };
        let all = combinations(&law.open);
        let own = vec![0; law.open.len()];
        let mut best = &own;
        for switches in &all {
            if meets(switches, 0) > meets(best, 0) {
                best = switches;
            }
        }
        let [a, b] = [0, 1].map(|half| (meets(best, half), meets(&own, half)));
        let confirmed = *best != own && b.0 > b.1;
        let switches = if confirmed { best.clone() } else { own.clone() };
        let names = |half: usize| {
            let figures = figures.iter().skip(half).step_by(2);
            figures.map(|figure| figure.full_name()).collect::<Vec<_>>().join(", ")
        };
        let reading = named(&law.open, &switches);
        let papers = law.papers.join(" and ");
        let name = &law.name;
        let n = all.len();
        let why = if law.open.is_empty() {
            format!("{name} of {papers} has no open switch.")
        } else if *best == own {
            format!(
                "{name} of {papers}: {reading}, as shipped, since none of {n} readings meets more \
                 than {} checks on {}.",
                a.1,
                names(0)
            )
        } else {
            let other = named(&law.open, best);
            let verdict = match confirmed {
                true => "chosen and confirmed".to_string(),
                false => format!("chosen and not confirmed: {reading} stays"),
            };
            format!(
                "{name} of {papers}, among {n} readings: {other} meets {} checks for {} as shipped on \
                 {}, and {} for {} on {}: {verdict}.",
                a.0,
                a.1,
                names(0),
                b.0,
                b.1,
                names(1)
            )
        };
        LawChoice { law: law.name.clone(), papers: law.papers.clone(), switches, reading, why }
    }

    /// Returns the rows of the record that show that a check fails under each reading and seed, one per
    /// figure and scheme.
    ///
    /// # Errors
    /// Returns the reason if the check is met somewhere, or does not belong to a figure.
    pub fn never<'a>(
        &'a self,
        readings: &'a Readings,
        id: &str,
        check: &Judged,
    ) -> Result<Vec<(&'a PaperFigure, &'a Never)>, String> {
        if check.kind != Kind::Paper {
            return Err("it does not compare packets with a paper".into());
        }
        let laws: BTreeSet<&str> = self.figures.iter().filter_map(|f| f.law.as_deref()).collect();
        let shows = |figure: &&PaperFigure| {
            figure.experiments.iter().any(|e| e == id) && figure.may_show(check, &laws)
        };
        let mut found = Vec::new();
        for figure in self.figures.iter().filter(shows) {
            let place = figure.place(&check.point);
            let own = figure.law.clone().unwrap_or_default();
            let ours = check.setting(LAW_AXIS) == Some(OUR_LAW);
            let schemes = [Some(own), ours.then(|| OUR_LAW.to_string())];
            for scheme in schemes.into_iter().flatten() {
                let rows = readings.of(figure).map_or(&[][..], |f| &f.never);
                let row = rows.iter().find(|row| {
                    (&row.scheme, &*row.experiment, &row.place, &row.name)
                        == (&scheme, id, &place, &check.name)
                });
                let by = if scheme.is_empty() { String::new() } else { format!(" by {scheme}") };
                let row = row.ok_or_else(|| {
                    format!("{}{by} meets it under some reading and seed", figure.full_name())
                })?;
                found.push((figure, row));
            }
        }
        if found.is_empty() { Err("no figure of a paper shows it".into()) } else { Ok(found) }
    }
}

impl Readings {
    /// Returns the readings of a figure that were run.
    pub fn of(&self, figure: &PaperFigure) -> Option<&FigureReadings> {
        let mut figures = self.figures.iter();
        figures.find(|f| f.paper == figure.paper && f.figure == figure.name)
    }

    /// Replaces the recorded readings of a figure.
    pub fn put(&mut self, new: FigureReadings) {
        self.figures.retain(|f| (&f.paper, &f.figure) != (&new.paper, &new.figure));
        self.figures.push(new);
    }

    /// Returns the text of the record: a block per figure with a line per reading, so the
    /// difference between two versions can be read line by line.
    pub fn text(&self, papers: &Papers) -> String {
        let seeds = SEEDS.map(|seed| seed.to_string()).join(" ");
        let mut out = format!(
            "# The checks of each figure that packets meet, by seed, under the readings that\n\
             # docs/figures.toml declares: scheme, switches of its law, settings. `never`: fails under\n\
             # each of them. Written by accord reproduce --all --readings\n\
             readings {VERSION} | seeds {seeds}\n"
        );
        for figure in &papers.figures {
            let Some(recorded) = self.of(figure) else { continue };
            let scheme = figure.law.clone().unwrap_or_default();
            let run = recorded.rows.iter().filter(|row| row.reading.scheme == scheme).count();
            let declared = papers.declared(figure);
            _ = writeln!(out, "{} | {} | {run} of {declared} readings", figure.paper, figure.name);
            let or_none = |text: &str| if text.is_empty() { "-".to_string() } else { text.into() };
            for row in &recorded.rows {
                let Reading { scheme, switches, settings } = &row.reading;
                let open = if scheme == OUR_LAW { &[][..] } else { papers.switches(figure) };
                let met: Vec<String> = row.met.iter().map(|met| met.to_string()).collect();
                _ = writeln!(
                    out,
                    "  {} | {} | {} | {} of {}",
                    or_none(scheme),
                    values(open, switches),
                    values(&figure.open, settings),
                    met.join(" "),
                    row.of
                );
            }
            for Never { scheme, experiment, place, name, .. } in &recorded.never {
                let (scheme, place) = (or_none(scheme), or_none(place));
                _ = writeln!(out, "  never | {scheme} | {experiment} | {place} | {name}");
            }
        }
        out
    }

    /// Parses the text of a record.
    ///
    /// # Errors
    /// Fails if a line is wrong, is of another version, or names something undeclared. The error names the
    /// line.
    pub fn parse(text: &str, papers: &Papers) -> Result<Readings, String> {
        let mut lines =
            (1..).zip(text.lines()).filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
        let seeds = SEEDS.map(|seed| seed.to_string()).join(" ");
        let head = lines.next().map_or("", |(_, line)| line);
        let version = head.strip_prefix("readings ").and_then(|rest| rest.split_once(" | "));
        match version {
            None => return Err("it is not a record of readings".into()),
            Some((version, own))
                if version != VERSION.to_string() || own != format!("seeds {seeds}") =>
            {
                return Err(format!(
                    "it is of another version: \"{head}\", not \"readings {VERSION} | seeds {seeds}\""
                ));
            }
            Some(_) => {}
        }
        let mut readings = Readings::default();
        let mut current: Option<&PaperFigure> = None;
        for (i, line) in lines {
            let wrong = |why: String| format!("line {i}: {why}");
            let unread = || wrong(format!("\"{line}\" is not a line of such a record"));
            let none = |text: &str| if text == "-" { String::new() } else { text.to_string() };
            let Some(inner) = line.strip_prefix("  ") else {
                let parts: Vec<&str> = line.split(" | ").collect();
                let [paper, name, _] = parts[..] else { return Err(unread()) };
                let found = papers.figures.iter().find(|f| f.paper == paper && f.name == name);
                let figure =
                    found.ok_or_else(|| wrong(format!("{paper} {name} is not declared")))?;
                current = Some(figure);
                let (paper, figure) = (figure.paper.clone(), figure.name.clone());
                readings.put(FigureReadings { paper, figure, rows: vec![], never: vec![] });
                continue;
            };
            let (Some(figure), Some(block)) = (current, readings.figures.last_mut()) else {
                return Err(unread());
            };
            let within = |why: String| wrong(format!("{}: {why}", figure.full_name()));
            if let Some(never) = inner.strip_prefix("never | ") {
                let parts: Vec<&str> = never.splitn(4, " | ").collect();
                let [scheme, experiment, place, name] = parts[..] else { return Err(unread()) };
                let (experiment, name) = (experiment.to_string(), name.to_string());
                let (scheme, place) = (none(scheme), none(place));
                block.never.push(Never { scheme, experiment, place, name, line: i });
                continue;
            }
            let parts: Vec<&str> = inner.split(" | ").collect();
            let [scheme, switches, settings, met] = parts[..] else { return Err(unread()) };
            let scheme = none(scheme);
            let ours = scheme == OUR_LAW && figure.law.is_some();
            if !ours && scheme != figure.law.clone().unwrap_or_default() {
                return Err(within(format!("\"{scheme}\" is not its law")));
            }
            let open = if ours { &[][..] } else { papers.switches(figure) };
            let switches = picks(open, switches).map_err(within)?;
            let settings = picks(&figure.open, settings).map_err(within)?;
            let (met, of) = met.split_once(" of ").ok_or_else(unread)?;
            let met: Result<Vec<usize>, _> = met.split(' ').map(str::parse).collect();
            let met = met.map_err(|_| unread())?;
            if met.len() != SEEDS.len() {
                return Err(within(format!("{} seeds, not {}", met.len(), SEEDS.len())));
            }
            let of = of.parse().map_err(|_| unread())?;
            block.rows.push(Row { reading: Reading { scheme, switches, settings }, met, of });
        }
        Ok(readings)
    }

    /// Checks that the readings of each figure are the required ones.
    ///
    /// # Errors
    /// Names the first figure whose readings are missing or differ.
    pub fn check(&self, papers: &Papers) -> Result<(), String> {
        for figure in &papers.figures {
            let name = figure.full_name();
            let recorded = self.of(figure).ok_or_else(|| format!("{name} is not recorded"))?;
            let mut planned = papers.at_first_settings(figure);
            planned.extend(papers.others(figure, &papers.chosen_switches(figure, self)));
            if let Some(missing) = planned
                .iter()
                .find(|reading| recorded.rows.iter().all(|row| row.reading != **reading))
            {
                let reading = papers.in_words(figure, missing);
                return Err(format!("{name} is not recorded under a reading: {reading}"));
            }
            if recorded.rows.len() != planned.len() {
                return Err(format!("{name} is recorded under other readings than are declared"));
            }
        }
        Ok(())
    }
}
