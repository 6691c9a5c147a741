//! The records of a JSON text: a sequence of values, or lists inside a single value.
//!
//! A damaged record is skipped, and reading resumes at the next one [RFC 7464 §2.3]. Between
//! records there may be white space, commas and the separators of JSON text sequences.

use serde_json::{Deserializer, Error, Value};

/// Returns true if a value is a record. The parts of a damaged record are not.
pub type Accept = fn(&Value) -> bool;

/// The maximum length of a record searched for after a damaged one, in bytes.
const RECORD: usize = 1 << 16;
/// The maximum number of searches for records after damaged ones in one text.
const ATTEMPTS: usize = 20_000;

/// The records of a text.
pub struct Records<'a> {
    text: &'a str,
    at: usize,
    accept: Accept,
    /// True if the text is read from inside a list, up to its end.
    list: bool,
    /// True if there was no record at `at`.
    lost: bool,
    attempts: usize,
}

impl<'a> Records<'a> {
    /// Creates a reader of a sequence.
    pub fn new(text: &'a str, accept: Accept) -> Records<'a> {
        Records { text, at: 0, accept, list: false, lost: false, attempts: ATTEMPTS }
    }

    /// Returns the next record after a damaged one.
    fn resume(&mut self) -> Option<(usize, Value)> {
        let first = self.text[self.at..].chars().next()?;
        let mut from = self.at + first.len_utf8();
        while let Some(found) = self.text[from..].find(['{', '[']) {
            let at = from + found;
            self.attempts = self.attempts.checked_sub(1)?;
            let end = (at + RECORD).min(self.text.len());
            let piece = &self.text[at..self.text.floor_char_boundary(end)];
            if let Some(Ok((value, length))) = value(piece)
                && (self.accept)(&value)
            {
                self.at = at + length;
                return Some((at, value));
            }
            from = at + 1;
        }
        None
    }
}

/// A record with the offset at which it begins, or the offset of a text that is not a record.
impl Iterator for Records<'_> {
    type Item = Result<(usize, Value), (usize, Error)>;

    fn next(&mut self) -> Option<Self::Item> {
        if std::mem::take(&mut self.lost) {
            let found = self.resume();
            if found.is_none() {
                self.at = self.text.len();
            }
            return found.map(Ok);
        }
        let between = |c: char| c.is_whitespace() || matches!(c, ',' | '\u{1e}');
        let rest = self.text[self.at..].trim_start_matches(between);
        self.at = self.text.len() - rest.len();
        if self.list && rest.starts_with(']') {
            self.at += 1;
            return None;
        }
        let at = self.at;
        Some(match value(rest)? {
            Ok((value, length)) => {
                self.at += length;
                Ok((at, value))
            }
            Err(e) => {
                self.lost = true;
                Err((at, e))
            }
        })
    }
}

/// Parses the value at the start of a text, and returns it with its length, or `None` for an empty
/// text.
fn value(text: &str) -> Option<Result<(Value, usize), Error>> {
    let mut values = Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?;
    Some(value.map(|value| (value, values.byte_offset())))
}

/// Reads a text that is a single value, and is truncated or has damaged records in its lists named
/// `key`. Calls `damaged` for each such record. Returns `None` if there is no such list, or if
/// other parts are also damaged.
pub fn mend(
    text: &str,
    key: &str,
    accept: Accept,
    mut damaged: impl FnMut(usize, Error),
) -> Option<Value> {
    let key = format!("\"{key}\"");
    let (mut frame, mut lists, mut at, mut end) = (String::new(), Vec::new(), 0, 0);
    while let Some(found) = text[at..].find(&key) {
        let behind = at + found + key.len();
        let rest = text[behind..].trim_start().strip_prefix(':');
        let Some(rest) = rest.and_then(|r| r.trim_start().strip_prefix('[')) else {
            frame += &text[at..behind];
            at = behind;
            continue;
        };
        let open = text.len() - rest.len();
        let mut records = Records { at: open, list: true, ..Records::new(text, accept) };
        let mut whole = Vec::new();
        for record in &mut records {
            match record {
                Ok((_, value)) => whole.push(value),
                Err((at, e)) => damaged(at, e),
            }
        }
        // The list's number replaces its records.
        frame += &format!("{}{}]", &text[at..open], lists.len());
        lists.push(whole);
        (at, end) = (records.at, frame.len());
    }
    let most = format!("{frame}{}", &text[at..]);
    let texts = [closed(&most), closed(&frame[..end])];
    let mut value: Value = texts.iter().find_map(|t| serde_json::from_str(t).ok())?;
    let key = key.trim_matches('"');
    fill(&mut value, key, &mut lists);
    (!lists.is_empty()).then_some(value)
}

/// Returns a text with its open brackets closed.
fn closed(text: &str) -> String {
    let (mut open, mut quoted, mut escaped) = (Vec::new(), false, false);
    for c in text.chars() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' => open.push('}'),
            '[' => open.push(']'),
            '}' | ']' => drop(open.pop()),
            _ => {}
        }
    }
    text.chars().chain(open.into_iter().rev()).collect()
}

/// Replaces numbers by their lists.
fn fill(value: &mut Value, key: &str, lists: &mut [Vec<Value>]) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(|v| fill(v, key, lists)),
        Value::Object(values) => {
            for (name, value) in values {
                let number = value.as_array().filter(|list| name == key && list.len() == 1);
                match number.and_then(|list| list[0].as_u64()) {
                    Some(i) => *value = std::mem::take(&mut lists[i as usize]).into(),
                    None => fill(value, key, lists),
                }
            }
        }
        _ => {}
    }
}
