//! XML with the lines of its elements, within limits.

use crate::error::ImportError;
use crate::limits;
use roxmltree::{Document, Node};

/// A document with the lines of its elements.
pub(crate) struct Xml<'i> {
    pub document: Document<'i>,
    /// The offsets of lines, in bytes.
    starts: Vec<usize>,
}

impl<'i> Xml<'i> {
    /// Parses XML without a DTD. Rejects inputs that are slow to parse: deeply nested elements, or
    /// elements with many attributes.
    pub fn parse(text: &'i str) -> Result<Xml<'i>, ImportError> {
        let newlines = text.match_indices('\n').map(|(i, _)| i + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(newlines).collect();
        bounded(text).map_err(|(at, message)| {
            let line = starts.partition_point(|start| *start <= at);
            ImportError::at(line, message)
        })?;
        let document = Document::parse(text).map_err(|e| {
            let error = ImportError::at(e.pos().row as usize, format!("invalid XML: {e}"));
            match e {
                roxmltree::Error::DtdDetected => error.hint("remove the <!DOCTYPE ...>"),
                _ => error,
            }
        })?;
        Ok(Xml { document, starts })
    }

    /// Returns the line of an element.
    pub fn line(&self, node: Node<'_, '_>) -> usize {
        let at = node.range().start;
        self.starts.partition_point(|start| *start <= at)
    }

    /// Returns a mandatory attribute of an element.
    pub fn required<'a>(&self, node: Node<'a, '_>, name: &str) -> Result<&'a str, ImportError> {
        node.attribute(name).ok_or_else(|| {
            let tag = node.tag_name().name();
            ImportError::at(self.line(node), format!("<{tag}> has no `{name}`"))
        })
    }
}

/// Checks the depth of elements and the number of their attributes, in one pass.
fn bounded(text: &str) -> Result<(), (usize, String)> {
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(open) = text[at..].find('<') {
        let start = at + open;
        let rest = &text[start..];
        let special = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((_, end)) = special.iter().find(|(begin, _)| rest.starts_with(begin)) {
            at = start + rest.find(end).unwrap_or(rest.len());
            continue;
        }
        let (mut quote, mut attributes, mut before, mut length) = (None, 0, '<', rest.len());
        for (i, c) in rest.char_indices().skip(1) {
            match (quote, c) {
                (Some(q), c) if c == q => quote = None,
                (Some(_), _) => {}
                (None, '"' | '\'') => quote = Some(c),
                (None, '=') => attributes += 1,
                (None, '>') => {
                    length = i;
                    break;
                }
                _ => {}
            }
            before = c;
        }
        if attributes > limits::ATTRIBUTES {
            let most = limits::ATTRIBUTES;
            return Err((start, format!("an element has more than {most} attributes")));
        }
        match rest.as_bytes().get(1) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(b'!') => {}
            _ if before == '/' => {}
            _ => depth += 1,
        }
        if depth > limits::DEPTH {
            let most = limits::DEPTH;
            return Err((start, format!("elements are nested more than {most} deep")));
        }
        at = start + length;
    }
    Ok(())
}

/// Returns the children of that name, in any namespace.
pub(crate) fn children<'a, 'i>(
    node: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(move |c| c.is_element() && c.tag_name().name() == name)
}

/// Returns the text of the first child of that name.
pub(crate) fn text<'a>(node: Node<'a, '_>, name: &'static str) -> Option<&'a str> {
    children(node, name).next()?.text().map(str::trim)
}
