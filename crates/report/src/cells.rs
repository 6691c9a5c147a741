//! Tables of words for papers and pages: Markdown, LaTeX and CSV.

use accord_columns::csv_text;
use accord_units::words;

words! {
    /// The language of a table.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Markup by name {
        /// Markdown, as GitHub reads it.
        Markdown = "md",
        /// LaTeX, without packages.
        Latex = "tex",
        /// Comma-separated values.
        Csv = "csv",
    }
}

/// A table of words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cells {
    /// The heading.
    pub head: Vec<String>,
    /// The rows, each as long as the heading.
    pub rows: Vec<Vec<String>>,
    /// The number of columns of text on the left. The others are of numbers.
    pub names: usize,
}

impl Cells {
    /// Returns the table in a language.
    pub fn text(&self, markup: Markup) -> String {
        match markup {
            Markup::Markdown => self.markdown(),
            Markup::Latex => self.latex(),
            Markup::Csv => self.csv(),
        }
    }

    fn markdown(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|c| in_markdown(c)).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        let numbers = self.head.len().saturating_sub(self.names);
        let rule = format!("|{}{}\n", "---|".repeat(self.names), "---:|".repeat(numbers));
        line(&self.head) + &rule + &self.rows.iter().map(line).collect::<String>()
    }

    fn latex(&self) -> String {
        let line = |cells: &Vec<String>| {
            let cells: Vec<String> = cells.iter().map(|c| in_latex(c)).collect();
            format!("  {} \\\\\n", cells.join(" & "))
        };
        let numbers = self.head.len().saturating_sub(self.names);
        let columns = "l".repeat(self.names) + &"r".repeat(numbers);
        let (head, body) = (line(&self.head), self.rows.iter().map(line).collect::<String>());
        format!(
            "\\begin{{tabular}}{{{columns}}}\n  \\hline\n{head}  \\hline\n{body}  \\hline\n\\end{{tabular}}\n"
        )
    }

    fn csv(&self) -> String {
        let mut out = csv::Writer::from_writer(Vec::new());
        for cells in std::iter::once(&self.head).chain(&self.rows) {
            let cells = cells.iter().map(|cell| csv_text(cell));
            out.write_record(cells.map(|cell| cell.into_owned())).expect("nothing fails in memory");
        }
        let bytes = out.into_inner().expect("nothing fails in memory");
        String::from_utf8(bytes).expect("only text was written")
    }
}

/// Returns a text in which characters with a meaning in Markdown are escaped.
fn in_markdown(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if matches!(c, '|' | '\\' | '<' | '*' | '`' | '[') {
            out.push('\\');
        }
        out.push(if c == '\n' { ' ' } else { c });
    }
    out
}

/// Returns a text in which characters with a meaning in LaTeX are escaped.
fn in_latex(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => out.extend(['\\', c]),
            '\\' => out += "\\textbackslash{}",
            '~' => out += "\\textasciitilde{}",
            '^' => out += "\\textasciicircum{}",
            '<' => out += "$<$",
            '>' => out += "$>$",
            '|' => out += "$|$",
            // A row that begins with "[" would be the length of the row above.
            '[' => out += "{[}",
            '±' => out += "$\\pm$",
            '≈' => out += "$\\approx$",
            '×' => out += "$\\times$",
            'µ' => out += "$\\mu$",
            '–' => out += "--",
            '…' => out += "\\dots{}",
            '\u{2212}' => out += "$-$",
            '\n' => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signs_of_languages_are_escaped() {
        assert_eq!(in_latex("50 % a_b ± 1 µs"), "50 \\% a\\_b $\\pm$ 1 $\\mu$s");
        assert_eq!(in_latex("[≈ −1…"), "{[}$\\approx$ $-$1\\dots{}");
        let head = vec!["a|b".to_string(), "1".into()];
        let table = Cells { rows: vec![vec!["a,\"b".into(), "2 *".into()]], head, names: 1 };
        let markdown = "| a\\|b | 1 |\n|---|---:|\n| a,\"b | 2 \\* |\n";
        assert_eq!(table.text(Markup::Markdown), markdown);
        assert_eq!(table.text(Markup::Csv), "a|b,1\n\"a,\"\"b\",2 *\n");
        let latex = "\\begin{tabular}{lr}\n  \\hline\n  a$|$b & 1 \\\\\n  \\hline\n  a,\"b & 2 * \\\\\n  \\hline\n\\end{tabular}\n";
        assert_eq!(table.text(Markup::Latex), latex);
    }
}
