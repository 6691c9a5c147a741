//! Files that give the rate of a link: delivery opportunities as mahimahi has them, and steps.
//!
//! A file is named relative to the scenario's own, in the same folder or below it. So a scenario
//! from elsewhere reads no other files. [`expand`] puts the contents in the place of the name.

use super::error::{Problem, Problems, quote};
use super::limits;
use super::tree::{Data, Steps, Table, Value};
use accord_scenario::Trace;
use accord_units::{Duration, Rate, Time};
use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::{Arc, Mutex, PoisonError};

/// The contents of files, by the names that the scenario has for them.
pub(crate) type Contents = BTreeMap<String, Arc<[u8]>>;

/// The files that a scenario names.
pub(crate) struct Files<'a> {
    /// The folder of the scenario.
    folder: &'a Path,
    /// The contents of the files that were read, now or when the scenario was last resolved.
    contents: &'a Mutex<Contents>,
    /// The data of each file, by its name and whether it has steps. An error is a message and a hint.
    parsed: BTreeMap<(String, bool), Result<Data, (String, String)>>,
}

impl<'a> Files<'a> {
    /// Creates the files of a scenario in `folder`. A file in `contents` is not read again.
    pub(crate) fn new(folder: &'a Path, contents: &'a Mutex<Contents>) -> Files<'a> {
        Files { folder, contents, parsed: BTreeMap::new() }
    }

    fn data(&mut self, name: &str, steps: bool) -> &Result<Data, (String, String)> {
        let (folder, contents) = (self.folder, self.contents);
        let read = || read(name, &folder.join(name), steps, contents);
        self.parsed.entry((name.to_string(), steps)).or_insert_with(read)
    }
}

/// The form of a file of steps, as messages show it.
const STEP: &str = "seconds and a rate such as \"12.5, 10 Mbps\"";

/// Replaces the names of files in the rates of links by the contents.
pub(crate) fn expand(tree: &mut Table, files: &mut Files<'_>, problems: &mut Problems) {
    for section in tree.entries.iter_mut() {
        if ["link", "topology"].contains(&section.key.as_str())
            && let Data::Table(named) = &mut section.value.data
        {
            for entry in &mut named.entries {
                rates(&mut entry.value, files, problems);
            }
        }
    }
}

/// Replaces names in the rate of a table and in that of its `reverse`.
fn rates(value: &mut Value, files: &mut Files<'_>, problems: &mut Problems) {
    let Data::Table(table) = &mut value.data else {
        return;
    };
    for entry in &mut table.entries {
        match (entry.key.as_str(), &mut entry.value.data) {
            ("reverse", _) => rates(&mut entry.value, files, problems),
            ("rate", Data::Table(rate)) => {
                for source in &mut rate.entries {
                    if let ("trace" | "steps", Some(name)) =
                        (source.key.as_str(), source.value.text())
                    {
                        let steps = source.key == "steps";
                        match files.data(name, steps) {
                            Ok(data) => source.value.data = data.clone(),
                            Err((message, hint)) => {
                                let problem = Problem::new(source.value.span, message.clone());
                                problems.push(problem.hint(hint.clone()));
                                // Anything that is read in its place, so that it is not refused twice.
                                source.value.data = if steps {
                                    Data::Steps([].into())
                                } else {
                                    Data::Trace(parse(b"1").expect("one packet"))
                                };
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
}

/// Reads a file, unless its contents are known. An error is a message and a hint.
fn read(
    name: &str,
    path: &Path,
    steps: bool,
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
    let (data, hint) = if steps {
        (
            parse_steps(&bytes).map(Data::Steps),
            "a file of steps has seconds and a rate per line, the first at 0, such as \"0, 10 Mbps\"",
        )
    } else {
        (
            parse(&bytes).map(Data::Trace),
            "a trace has a whole number of milliseconds per line, in order, one for each 1504 bytes that the link can send",
        )
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

/// Returns the reason why times in order are no trace.
pub(crate) fn no_length(count: usize) -> &'static str {
    match count {
        0 => "has no delivery opportunities",
        _ => "ends at 0 ms, so it has no length",
    }
}

/// Parses the text of steps: seconds and a rate per line, with a comma between them.
pub(crate) fn parse_steps(bytes: &[u8]) -> Result<Steps, String> {
    let mut steps: Vec<(Time, Rate)> = Vec::new();
    for (line, text) in lines(bytes)? {
        let parts = text.split_once(',').map(|(s, r)| (s.trim(), r.trim()));
        let plain = |s: &str| s.starts_with(|c: char| c.is_ascii_digit());
        let read = parts.filter(|(s, _)| plain(s)).and_then(|(seconds, rate)| {
            let at: Duration = format!("{seconds} s").parse().ok()?;
            Some((Time::ZERO + at, rate.parse::<Rate>().ok()?))
        });
        let (at, rate) = read.ok_or_else(|| {
            let found = quote(text);
            format!("line {line}: expected {STEP}, not {found}")
        })?;
        let wrong = match steps.last() {
            _ if at.since_start() > limits::SPAN => Some(format!("{at} is too late")),
            _ if rate > limits::RATE => Some(format!("{rate} is too much")),
            None if at > Time::ZERO => Some(format!("the first step is at {at}, not at 0")),
            None if rate == Rate::ZERO => Some("the first rate is zero".into()),
            Some((last, _)) if at <= *last => Some(format!("{at} does not come after {last}")),
            _ if steps.len() == limits::STEPS => {
                Some(format!("there are at most {} steps", limits::STEPS))
            }
            _ => None,
        };
        if let Some(wrong) = wrong {
            return Err(format!("line {line}: {wrong}"));
        }
        steps.push((at, rate));
    }
    if steps.is_empty() { Err("has no steps".into()) } else { Ok(steps.into()) }
}

/// Returns the lines of a file with their numbers, from one.
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
