//! GML, the Graph Modelling Language (Himsolt 1996), as networkx and the Internet Topology Zoo write
//! it: keys with numbers, texts or lists in brackets.

use crate::Units;
use crate::builder::Builder;
use crate::error::{ImportError, quote};
use crate::limits;
use crate::topology::Topology;
use html_escape::decode_html_entities;

/// A key with its value, and its line.
struct Entry<'a> {
    key: &'a str,
    value: Value<'a>,
    line: usize,
}

enum Value<'a> {
    /// A number or a text.
    Word(&'a str),
    List(Vec<Entry<'a>>),
}

pub(crate) fn read(text: &str, units: &Units) -> Result<Topology, ImportError> {
    let (file, damage) = parse(text)?;
    let graph = file.iter().find_map(|e| match (&e.value, e.key) {
        (Value::List(list), "graph") => Some(list),
        _ => None,
    });
    let Some(graph) = graph else {
        return Err(ImportError::whole("there is no `graph [ ... ]`"));
    };
    let mut builder = Builder::new(word(graph, "directed") == Some("1"), units);
    builder.record(|_| damage.map_or(Ok(()), Err));
    if let Some(name) = ["Network", "name", "label"].iter().find_map(|k| word(graph, k)) {
        builder.name(&decode_html_entities(name));
    }
    for (list, line) in lists(graph, "node") {
        builder.record(|builder| node(builder, list, line));
    }
    for (list, line) in lists(graph, "edge") {
        builder.record(|builder| edge(builder, list, line));
    }
    builder.finish()
}

fn node(builder: &mut Builder, node: &[Entry<'_>], line: usize) -> Result<(), ImportError> {
    let id = required(node, "id", "node", line)?;
    let label = word(node, "label").or(word(node, "name")).unwrap_or(id);
    // Texts are ASCII, with entities for other characters.
    let index = builder.node(id, &decode_html_entities(label), line)?;
    // networkx writes layouts of yEd and others as `graphics [ x .. y .. ]`, which are not
    // geographic places.
    builder.attributes(index, words(node));
    Ok(())
}

fn edge(builder: &mut Builder, edge: &[Entry<'_>], line: usize) -> Result<(), ImportError> {
    let from = builder.find(required(edge, "source", "edge", line)?, line)?;
    let to = builder.find(required(edge, "target", "edge", line)?, line)?;
    let properties = builder.properties(words(edge));
    builder.link((from, to), properties, line)
}

fn words<'a>(list: &'a [Entry<'a>]) -> impl Iterator<Item = (&'a str, &'a str)> {
    list.iter().filter_map(|e| match e.value {
        Value::Word(word) => Some((e.key, word)),
        Value::List(_) => None,
    })
}

fn word<'a>(list: &'a [Entry<'a>], key: &str) -> Option<&'a str> {
    words(list).find(|(k, _)| *k == key).map(|(_, word)| word)
}

fn lists<'a>(list: &'a [Entry<'a>], key: &str) -> impl Iterator<Item = (&'a [Entry<'a>], usize)> {
    list.iter().filter_map(move |e| match &e.value {
        Value::List(inner) if e.key == key => Some((&inner[..], e.line)),
        _ => None,
    })
}

fn required<'a>(
    list: &'a [Entry<'a>],
    key: &str,
    what: &str,
    line: usize,
) -> Result<&'a str, ImportError> {
    word(list, key).ok_or_else(|| ImportError::at(line, format!("the {what} has no `{key}`")))
}

/// A token of the text.
#[derive(Clone, Copy)]
enum Token<'a> {
    Open,
    Close,
    Text(&'a str),
    Bare(&'a str),
}

/// Parses the whole text into a list. Open lists are on an explicit stack, so nesting does not
/// recurse. A truncated text has its complete part, with the error.
fn parse(text: &str) -> Result<(Vec<Entry<'_>>, Option<ImportError>), ImportError> {
    let mut open: Vec<(Vec<Entry<'_>>, &str, usize)> = Vec::new();
    let mut list = Vec::new();
    let mut key: Option<(&str, usize)> = None;
    let mut tokens = Tokens { rest: text, line: 1 };
    while let Some((token, line)) = tokens.next()? {
        match (key.take(), token) {
            (None, Token::Bare(word)) => key = Some((word, line)),
            (None, Token::Close) => {
                let Some((outer, name, start)) = open.pop() else {
                    return Err(ImportError::at(line, "`]` without its `[`"));
                };
                let inner = std::mem::replace(&mut list, outer);
                list.push(Entry { key: name, value: Value::List(inner), line: start });
            }
            (None, Token::Open) => return Err(ImportError::at(line, "`[` without a key")),
            (None, Token::Text(text)) => {
                let message = format!("expected a key, not the text {}", quote(text));
                return Err(ImportError::at(line, message));
            }
            (Some((key, start)), Token::Open) => {
                if open.len() == limits::DEPTH {
                    let message = format!("lists are nested more than {} deep", limits::DEPTH);
                    return Err(ImportError::at(line, message));
                }
                open.push((std::mem::take(&mut list), key, start));
            }
            (Some((key, line)), Token::Bare(word) | Token::Text(word)) => {
                list.push(Entry { key, value: Value::Word(word), line })
            }
            (Some((key, line)), Token::Close) => {
                return Err(no_value(key, line));
            }
        }
    }
    let Some((_, name, line)) = open.last() else {
        return match key {
            Some((key, line)) => Err(no_value(key, line)),
            None => Ok((list, None)),
        };
    };
    let name = quote(name);
    let cut = ImportError::at(*line, format!("`{}` has no end", name.trim_matches('"')));
    // The innermost list is incomplete, unless it is the graph.
    if open.len() > 1 {
        list = open.pop().map_or(list, |(outer, ..)| outer);
    }
    while let Some((outer, key, line)) = open.pop() {
        let value = Value::List(std::mem::replace(&mut list, outer));
        list.push(Entry { key, value, line });
    }
    Ok((list, Some(cut.hint("a list ends with `]`"))))
}

fn no_value(key: &str, line: usize) -> ImportError {
    ImportError::at(line, format!("{} has no value", quote(key)))
}

struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tokens<'a> {
    /// Returns the next token with its line.
    fn next(&mut self) -> Result<Option<(Token<'a>, usize)>, ImportError> {
        loop {
            let trimmed = self.rest.trim_start();
            self.pass(self.rest.len() - trimmed.len());
            if self.rest.starts_with('#') {
                self.pass(self.rest.find('\n').unwrap_or(self.rest.len()))
            } else {
                break;
            }
        }
        let line = self.line;
        let token = match self.rest.as_bytes().first() {
            None => return Ok(None),
            Some(b'[') => Token::Open,
            Some(b']') => Token::Close,
            Some(b'"') => {
                let Some(end) = self.rest[1..].find('"') else {
                    return Err(ImportError::at(line, "a text has no closing quote"));
                };
                let text = &self.rest[1..=end];
                self.pass(end + 2);
                return Ok(Some((Token::Text(text), line)));
            }
            Some(_) => {
                let stop = |c: char| c.is_whitespace() || matches!(c, '[' | ']' | '"' | '#');
                let end = self.rest.find(stop).unwrap_or(self.rest.len());
                let word = &self.rest[..end];
                self.pass(end);
                return Ok(Some((Token::Bare(word), line)));
            }
        };
        self.pass(1);
        Ok(Some((token, line)))
    }

    fn pass(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at(bytes);
        self.line += passed.matches('\n').count();
        self.rest = rest;
    }
}
