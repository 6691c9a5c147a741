//! Counts of checks of packets that fail, within a sentence or a cell of a Markdown page:
//!
//! ```text
//! <!-- failing: xia05-fig9; law = xia05 -->6 of 31<!-- end -->
//! <!-- failing: xia05-fig6; law = xia05; check queue, -->0 of 5<!-- end -->
//! ```
//!
//! The experiment comes first. `parameter = value` takes those points of its sweep, and `check`
//! those checks whose name begins so.

use crate::class::Class;
use crate::verdict::Judged;
use accord_scenario::Engine;

const MARKER: &str = "<!-- failing: ";
const END: &str = "<!-- end -->";

/// Puts the counts in; `of` gives the checks of an experiment, of all engines. Without any experiment only the
/// markers are looked at.
pub(crate) fn rewrite<'a>(
    page: &str,
    of: impl Fn(&str) -> Option<&'a [Judged]>,
    none: bool,
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = page;
    while let Some(at) = rest.find(MARKER) {
        let (before, marked) = rest.split_at(at);
        let open = || format!("\"{}\" has no end", marked.lines().next().unwrap_or(marked));
        let (query, after) = marked[MARKER.len()..].split_once(" -->").ok_or_else(open)?;
        let (old, after) = after.split_once(END).ok_or_else(open)?;
        if old.contains('\n') {
            return Err(open());
        }
        let new = if none { old.to_string() } else { count(query, &of)? };
        out += &format!("{before}{MARKER}{query} -->{new}{END}");
        rest = after;
    }
    Ok(out + rest)
}

fn count<'a>(query: &str, of: impl Fn(&str) -> Option<&'a [Judged]>) -> Result<String, String> {
    let wrong = |what: &str| format!("\"{MARKER}{query} -->\": {what}");
    let mut terms = query.split("; ");
    let id = terms.next().unwrap_or_default();
    let judged = of(id).ok_or_else(|| wrong("there is no such experiment"))?;
    let packets = judged.iter().filter(|j| j.engine == Engine::Packet);
    let mut judged: Vec<&Judged> = packets.collect();
    for term in terms {
        match (term.strip_prefix("check "), term.split_once(" = ")) {
            (Some(name), _) => judged.retain(|j| j.name.starts_with(name)),
            (None, Some((key, value))) => {
                judged.retain(|j| j.setting(key) == Some(value));
            }
            (None, None) => return Err(wrong("a term is `parameter = value` or `check NAME`")),
        }
    }
    if judged.is_empty() {
        return Err(wrong("no check of packets is so"));
    }
    let failing = judged.iter().filter(|j| j.class != Class::Met).count();
    Ok(format!("{failing} of {}", judged.len()))
}
