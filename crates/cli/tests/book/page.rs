//! A parsed page of the book: its blocks of code, its tables, and the commands in its sentences.

/// The name of a table in place of a language.
pub const TABLE: &str = "table";

/// A block between fences, or a table.
#[derive(Debug)]
pub struct Block {
    /// The language after the fence: `sh`, `toml`, `text`.
    pub language: String,
    /// True if the page runs the block in a browser: `toml,live`.
    pub live: bool,
    /// The HTML comment in the line before it, or before the empty line before it.
    pub remark: Option<String>,
    /// Lines of the page, without the fences.
    pub lines: std::ops::Range<usize>,
}

#[derive(Debug)]
pub struct Page {
    pub lines: Vec<String>,
    pub blocks: Vec<Block>,
}

impl Page {
    pub fn new(text: &str) -> Page {
        let lines: Vec<String> = text.lines().map(str::to_string).collect();
        let (mut blocks, mut remark, mut i) = (Vec::new(), None, 0);
        while i < lines.len() {
            let line = &lines[i];
            if let Some(words) = line.strip_prefix("```") {
                let (language, more) = words.split_once(',').unwrap_or((words, ""));
                let inside = lines[i + 1..].iter().position(|l| l.starts_with("```"));
                let end = i + 1 + inside.expect("a fence is closed");
                blocks.push(Block {
                    language: language.to_string(),
                    live: more == "live",
                    remark: remark.take(),
                    lines: i + 1..end,
                });
                i = end;
            } else if line.starts_with('|') {
                let rows = lines[i..].iter().take_while(|l| l.starts_with('|'));
                let end = i + rows.count();
                blocks.push(Block {
                    language: TABLE.to_string(),
                    live: false,
                    remark: remark.take(),
                    lines: i..end,
                });
                i = end - 1;
            } else if let Some(text) = line.strip_prefix("<!-- ") {
                let text = text.strip_suffix(" -->");
                remark = text.map(str::to_string);
            } else if !line.is_empty() {
                remark = None;
            }
            i += 1;
        }
        Page { lines, blocks }
    }

    pub fn text(&self, block: &Block) -> String {
        self.lines[block.lines.clone()].join("\n")
    }

    /// Returns the commands of a block: one per line, with lines joined after a backslash.
    pub fn commands(&self, block: &Block) -> Vec<String> {
        let text = self.text(block).replace("\\\n", " ");
        let lines = text.lines().map(str::trim);
        lines.filter(|l| !l.is_empty() && !l.starts_with('#')).map(ours).collect()
    }

    /// Returns the commands between backticks in sentences and tables.
    pub fn commands_in_prose(&self) -> Vec<String> {
        let code = || self.blocks.iter().filter(|b| b.language != TABLE);
        let in_block = |i: &usize| code().any(|b| b.lines.contains(i));
        let lines = (0..self.lines.len()).filter(|i| !in_block(i));
        let spans = lines.flat_map(|i| self.lines[i].split('`').skip(1).step_by(2));
        let commands = spans.map(ours).filter(|c| c.starts_with("accord "));
        commands.collect()
    }
}

/// Replaces the command of cargo that runs the program by the program's own command.
fn ours(command: &str) -> String {
    let ways = ["cargo run --release -- ", "cargo run --release --features lab -- "];
    let way = ways.iter().find_map(|way| command.strip_prefix(way));
    way.map_or(command.to_string(), |rest| format!("accord {rest}"))
}

/// Returns the words of a command, as a shell without expansions.
pub fn words(command: &str) -> Vec<String> {
    let (mut words, mut quote) = (vec![String::new()], None);
    let mut open = false;
    for c in command.chars() {
        let last = words.len() - 1;
        match quote {
            Some(q) if c == q => quote = None,
            None if c == '#' && words[last].is_empty() && !open => break,
            None if c == '\'' || c == '"' => (quote, open) = (Some(c), true),
            None if c == ' ' => {
                if open || !words[last].is_empty() {
                    words.push(String::new());
                }
                open = false;
            }
            _ => words[last].push(c),
        }
    }
    words.retain(|w| !w.is_empty());
    words
}
