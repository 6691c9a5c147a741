//! Files that give the rate or the delay of a link: delivery opportunities in mahimahi's format, and steps.
//!
//! A file is named relative to the scenario's own, in the same folder or below it, so a scenario from
//! elsewhere cannot read other files. [`expand`] replaces the name with the contents.

use super::limits;
use accord_form::{Data, Table, Value};
use accord_form::{Problem, Problems, quote};
use accord_scenario::Trace;
use accord_units::{Duration, Rate, Time};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, PoisonError};

/// The contents of files, by their names in the scenario.
pub(crate) type Contents = BTreeMap<String, Arc<[u8]>>;

/// The form of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// Delivery opportunities.
    Trace,
    /// Steps of a rate.
    Rates,
    /// Steps of a delay.
    Delays,
}

impl Form {
    /// Returns the form of the file named by a key in the table of a rate or a delay.
    fn of(key: &str, source: &str) -> Option<Form> {
        match (key, source) {
            ("rate", "trace") => Some(Form::Trace),
            ("rate", "steps") => Some(Form::Rates),
            ("delay", "steps") => Some(Form::Delays),
            _ => None,
        }
    }

    /// Returns some valid data of this form.
    fn any(self) -> Data {
        match self {
            Form::Trace => opportunities(parse(b"1").expect("one packet")),
            Form::Rates => steps::<Rate>([].into()),
            Form::Delays => steps::<Duration>([].into()),
        }
    }
}

/// The files that a scenario names.
pub(crate) struct Files<'a> {
    /// The folder of the scenario.
    folder: &'a Path,
    /// The contents of the files that were read, now or when the scenario was last resolved.
    contents: &'a Mutex<Contents>,
    /// The data of each file, by its name and form. An error is a message and a hint.
    parsed: BTreeMap<(String, Form), Result<Data, (String, String)>>,
}

impl<'a> Files<'a> {
    /// Creates the files of a scenario in `folder`. A file in `contents` is not read again.
    pub(crate) fn new(folder: &'a Path, contents: &'a Mutex<Contents>) -> Files<'a> {
        Files { folder, contents, parsed: BTreeMap::new() }
    }

    fn data(&mut self, name: &str, form: Form) -> &Result<Data, (String, String)> {
        let (folder, contents) = (self.folder, self.contents);
        let read = || read(name, &folder.join(name), form, contents);
        self.parsed.entry((name.to_string(), form)).or_insert_with(read)
    }
}

/// Replaces the names of files in the rates and delays of links by the contents.
pub(crate) fn expand(tree: &mut Table, files: &mut Files<'_>, problems: &mut Problems) {
    for section in tree.entries.iter_mut() {
        if ["link", "topology"].contains(&section.key.as_str())
            && let Data::Table(named) = &mut section.value.data
        {
            for entry in &mut named.entries {
                of_link(&mut entry.value, files, problems);
            }
        }
    }
}

/// Replaces names in the rate and the delay of a table and in those of its `reverse`.
fn of_link(value: &mut Value, files: &mut Files<'_>, problems: &mut Problems) {
    let Data::Table(table) = &mut value.data else {
        return;
    };
    for entry in &mut table.entries {
        match (entry.key.as_str(), &mut entry.value.data) {
            ("reverse", _) => of_link(&mut entry.value, files, problems),
            (key, Data::Table(quantity)) => {
                for source in &mut quantity.entries {
                    let form = Form::of(key, &source.key);
                    if let (Some(form), Some(name)) = (form, source.value.text()) {
                        source.value.data = match files.data(name, form) {
                            Ok(data) => data.clone(),
                            Err((message, hint)) => {
                                let problem = Problem::new(source.value.span, message.clone());
                                problems.push(problem.hint(hint.clone()));
                                // Avoids a second error for the same file.
                                form.any()
                            }
                        };
                    }
                }
            }
            _ => {}
        }
    }
}

fn opportunities(trace: Trace) -> Data {
    Data::Made("a trace", Arc::new(trace))
}

fn steps<T: Step>(steps: StepsOf<T>) -> Data {
    Data::Made("steps", Arc::new(steps))
}

/// Reads a file, unless its contents are known. An error is a message and a hint.
fn read(
    name: &str,
    path: &Path,
    form: Form,
    contents: &Mutex<Contents>,
) -> Result<Data, (String, String)> {
    let whole = |what: String| format!("{} {what}", quote(name));
    let inside = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
    if name.is_empty() || !Path::new(name).components().all(inside) {
        let message = whole("is not in the folder of the scenario or below it".into());
        return Err((message, "a path relative to the scenario, without \"..\"".into()));
    }
    let known = || contents.lock().unwrap_or_else(PoisonError::into_inner);
    let found = known().get(name).cloned();
    let bytes = match found {
        Some(bytes) => bytes,
        None => {
            let bytes: Arc<[u8]> = bytes_of(path).map_err(|e| {
                let hint = format!("the file is looked for at {}", path.display());
                (whole(format!("cannot be read: {e}")), hint)
            })?;
            known().insert(name.to_string(), bytes.clone());
            bytes
        }
    };
    let (data, hint) = match form {
        Form::Rates => (parse_steps::<Rate>(&bytes).map(steps), Rate::LINES),
        Form::Delays => (parse_steps::<Duration>(&bytes).map(steps), Duration::LINES),
        Form::Trace => (
            parse(&bytes).map(opportunities),
            "a trace has a whole number of milliseconds per line, in order, one for each 1504 bytes that the link can send",
        ),
    };
    data.map_err(|e| (whole(e), hint.into()))
}

fn bytes_of(path: &Path) -> std::io::Result<Arc<[u8]>> {
    Ok(accord_files::read(path, limits::TRACE_TEXT as u64)?.into())
}

/// Parses the text of a trace: a whole number of milliseconds per line.
///
/// # Errors
/// Fails with the line and its fault.
pub fn parse(bytes: &[u8]) -> Result<Trace, String> {
    let mut times: Vec<u32> = Vec::new();
    for (line, text) in lines(bytes)? {
        let time = text.parse().ok();
        let Some(time) = time.filter(|t| *t <= limits::TRACE_LENGTH) else {
            let most = limits::TRACE_LENGTH;
            let found = quote(text);
            return Err(format!(
                "line {line}: {found} is not a whole number of milliseconds up to {most}"
            ));
        };
        if let Some(last) = times.last().filter(|last| **last > time) {
            return Err(format!("line {line}: {time} ms comes after {last} ms"));
        }
        times.push(time);
        if times.len() > limits::OPPORTUNITIES {
            let most = limits::OPPORTUNITIES;
            return Err(format!("line {line}: a trace has at most {most} delivery opportunities"));
        }
    }
    Trace::new(times).map_err(|count| no_length(count).into())
}

/// Returns the reason why ordered times are not a trace.
pub(crate) fn no_length(count: usize) -> &'static str {
    match count {
        0 => "has no delivery opportunities",
        _ => "ends at 0 ms, so it has no length",
    }
}

/// A quantity of a link that changes in steps.
pub(crate) trait Step: Copy + PartialEq + std::str::FromStr + Send + Sync + 'static {
    /// The form of a line, as shown in messages.
    const LINE: &'static str;
    /// The hint for wrong lines.
    const LINES: &'static str;

    /// Returns the fault of a value, if any.
    fn fault(self, is_first: bool) -> Option<String>;
}

impl Step for Rate {
    const LINE: &'static str = "seconds and a rate such as \"12.5, 10 Mbps\"";
    const LINES: &'static str =
        "a file of steps has seconds and a rate per line, the first at 0, such as \"0, 10 Mbps\"";

    fn fault(self, is_first: bool) -> Option<String> {
        match self {
            _ if self > limits::RATE => Some(format!("{self} is too much")),
            Rate::ZERO if is_first => Some("the first rate is zero".into()),
            _ => None,
        }
    }
}

impl Step for Duration {
    const LINE: &'static str = "seconds and a delay such as \"12.5, 40 ms\"";
    const LINES: &'static str = "a trace of delays has seconds and a delay per line, the first at 0 and each later than the one before, such as \"0, 25 ms\"";

    fn fault(self, _: bool) -> Option<String> {
        (self > limits::DELAY).then(|| format!("{self} is too much"))
    }
}

/// Steps, each with the time from which it applies.
pub(crate) type StepsOf<T> = Arc<[(Time, T)]>;

/// Parses the text of steps: seconds and a value per line, with a comma between them.
///
/// # Errors
/// Fails with the line and its fault.
pub(crate) fn parse_steps<T: Step>(bytes: &[u8]) -> Result<StepsOf<T>, String> {
    steps_of(lines(bytes)?).map_err(|(line, wrong)| match line {
        0 => wrong,
        line => format!("line {line}: {wrong}"),
    })
}

/// Reads steps from their lines, which are numbered from one.
///
/// # Errors
/// Fails with the number of a line, zero for all of them, and its fault.
pub(crate) fn steps_of<'a, T: Step>(
    lines: impl Iterator<Item = (usize, &'a str)>,
) -> Result<StepsOf<T>, (usize, String)> {
    let mut steps: Vec<(Time, T)> = Vec::new();
    for (line, text) in lines {
        let parts = text.split_once(',').map(|(s, r)| (s.trim(), r.trim()));
        let plain = |s: &str| s.starts_with(|c: char| c.is_ascii_digit());
        let read = parts.filter(|(s, _)| plain(s)).and_then(|(seconds, value)| {
            let at: Duration = format!("{seconds} s").parse().ok()?;
            Some((Time::ZERO + at, value.parse::<T>().ok()?))
        });
        let found = quote(text);
        let (at, value) =
            read.ok_or_else(|| (line, format!("expected {}, not {found}", T::LINE)))?;
        let wrong = match (steps.last(), value.fault(steps.is_empty())) {
            _ if at.since_start() > limits::SPAN => Some(format!("{at} is too late")),
            (None, _) if at > Time::ZERO => Some(format!("the first step is at {at}, not at 0")),
            (_, Some(fault)) => Some(fault),
            (Some((last, _)), _) if at <= *last => Some(format!("{at} does not come after {last}")),
            _ if steps.len() == limits::STEPS => {
                Some(format!("there are at most {} steps", limits::STEPS))
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err((line, wrong));
        }
        steps.push((at, value));
    }
    if steps.is_empty() { Err((0, "has no steps".into())) } else { Ok(steps.into()) }
}

/// Returns the lines of a file, numbered from one.
fn lines(bytes: &[u8]) -> Result<impl Iterator<Item = (usize, &str)>, String> {
    if bytes.len() > limits::TRACE_TEXT {
        return Err(format!("is larger than {} MiB", limits::TRACE_TEXT >> 20));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let before = &bytes[..e.valid_up_to()];
        let line = 1 + before.iter().filter(|b| **b == b'\n').count();
        format!("line {line}: it is not UTF-8 text")
    })?;
    Ok((1..).zip(text.lines().map(str::trim)))
}
