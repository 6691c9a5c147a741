//! The scenarios offered by the page: lessons, and the experiments of the papers.

use serde_json::{Value, json};

macro_rules! lessons {
    ($($name:literal),* $(,)?) => {
        /// The lessons in teaching order: ids and texts.
        pub static LESSONS: &[(&str, &str)] = &[
            $(($name, include_str!(concat!("../lessons/", $name, ".toml")))),*
        ];
    };
}

lessons![
    "01-aimd",
    "02-vegas",
    "03-parking-lot",
    "04-base-rtt",
    "05-persistent-congestion",
    "06-rem",
    "07-avq",
    "08-buffers",
    "09-rtt-fairness",
    "10-contracts",
    "11-stability",
    "12-clcc",
];

/// The lesson shown at first if no file is open.
const FIRST: &str = "01-aimd";

/// Returns the entries, and the lesson that a page shows at first with its text.
pub fn gallery() -> Value {
    json!({ "entries": entries(), "first": FIRST, "text": text(FIRST) })
}

/// Returns all entries: the lessons, then the experiments.
fn entries() -> Vec<Value> {
    let entry = |lesson: bool| move |(id, text): &(&str, &str)| json!({ "id": id, "title": title(text).unwrap_or(id), "lesson": lesson });
    let lessons = LESSONS.iter().map(entry(true));
    lessons.chain(accord::BUILT_IN.iter().map(entry(false))).collect()
}

/// Returns the text of an entry.
pub fn text(id: &str) -> Option<&'static str> {
    let all = LESSONS.iter().chain(accord::BUILT_IN);
    let found = all.copied().find(|(name, _)| *name == id);
    found.map(|(_, text)| text)
}

/// Returns the title of a text, which is on one line in all entries.
fn title(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|l| l.strip_prefix("title = \""))?;
    line.strip_suffix('"')
}
