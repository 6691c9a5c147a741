//! The tables of parameters in the documentation, generated from the families.

use crate::{Family, Kind, Param};
use std::fmt::Write;

/// Returns the parameters of a family as a Markdown table.
pub fn markdown_table(family: &Family) -> String {
    if family.params.is_empty() {
        return format!("`{}` has no parameters.\n", family.name);
    }
    let mut table = String::from(
        "| parameter | symbol | default | value | meaning | source |\n|---|---|---|---|---|---|\n",
    );
    for p in family.params {
        row(&mut table, "", p);
        if let Kind::Aggregates(params) = p.kind {
            for of_each in params {
                row(&mut table, &format!("{}.NAME.", p.name), of_each);
            }
        }
    }
    table
}

fn row(table: &mut String, prefix: &str, p: &Param) {
    let default = match p.default {
        "" => "–".to_string(),
        default => format!("`{default}`"),
    };
    let _ = writeln!(
        table,
        "| `{prefix}{}` | {} | {default} | {} | {} | {} |",
        p.name,
        p.symbol,
        p.kind.expected(),
        p.doc,
        p.source,
    );
}

const END: &str = "<!-- end of parameters -->";

/// Returns the page with its tables of parameters rewritten. A table stands between `<!--
/// parameters of NAME -->` and `<!-- end of parameters -->`. Tables of other families stay as they
/// are.
///
/// # Panics
/// Panics if a table has no end.
pub fn fill_tables(page: &str, families: &[&Family]) -> String {
    let mut page = page.to_string();
    for family in families {
        let begin = format!("<!-- parameters of {} -->\n", family.name);
        if let Some(at) = page.find(&begin) {
            let from = at + begin.len();
            let to = page[from..].find(END).map(|n| from + n);
            let to = to.unwrap_or_else(|| panic!("the table of {} has no end", family.name));
            page.replace_range(from..to, &format!("\n{}\n", markdown_table(family)));
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind::{duration, flag};
    use crate::{Price, Role};

    const NAPTIME: Family = Family {
        params: &[
            duration("2 ms").symbol("T").source("[Nap01]").declared("length", "How long."),
            flag("").declared("deep", "How deep."),
        ],
        ..Family::new("nap", Role::Queue(|_| Price::Loss))
    };

    #[test]
    fn a_table_replaces_what_stood_between_its_marks() {
        let page = "Nap.\n<!-- parameters of nap -->\nold\n<!-- end of parameters -->\nEnd.\n";
        let expected = "Nap.\n<!-- parameters of nap -->\n\n\
            | parameter | symbol | default | value | meaning | source |\n\
            |---|---|---|---|---|---|\n\
            | `length` | T | `2 ms` | a time such as \"100 ms\" | How long. | [Nap01] |\n\
            | `deep` |  | – | true or false | How deep. |  |\n\
            \n<!-- end of parameters -->\nEnd.\n";
        assert_eq!(fill_tables(page, &[&NAPTIME]), expected);
        assert_eq!(fill_tables(expected, &[&NAPTIME]), expected);
        assert_eq!(fill_tables(page, &[]), page);
    }
}
