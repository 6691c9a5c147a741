//! The limits of inputs. They are far beyond published topologies, and prevent a hostile file from
//! exhausting the memory.

use crate::ImportError;

/// The maximum size of a text, in bytes.
pub const TEXT: usize = 32 << 20;
/// The maximum number of nodes.
pub const NODES: usize = 100_000;
/// The maximum number of links, with parallel ones counted separately.
pub const LINKS: usize = 400_000;
/// The maximum number of demands.
pub const DEMANDS: usize = 1_000_000;
/// The maximum nesting depth of XML and GML.
pub const DEPTH: usize = 32;
/// The maximum number of attributes of an XML element.
pub const ATTRIBUTES: usize = 100;
/// The maximum length of a name, in characters. Longer ones are truncated.
pub const NAME: usize = 60;
/// The maximum number of remarks.
pub(crate) const REMARKS: usize = 100;

/// The maximum length of the name of a measured flow, in characters. Longer ones are truncated. Two
/// IPv6 addresses with their interfaces and ports fit.
pub const FLOW_NAME: usize = 150;

/// Returns the first `most` characters of a text.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(i, _)| i);
    &text[..end]
}

/// The maximum size of a text of measurements, in bytes.
pub const MEASURED: usize = 512 << 20;

/// Rejects a text of more than `most` bytes, and drops a byte-order mark, which is not part of any format.
pub(crate) fn check(text: &str, most: usize) -> Result<&str, ImportError> {
    if text.len() > most {
        let message = format!("the text has {} bytes; at most {most} are read", text.len());
        return Err(ImportError::whole(message));
    }
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}
