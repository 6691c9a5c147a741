//! The upper bounds of what is read. They are far beyond published topologies, and keep a hostile
//! file from taking the machine's memory.

use crate::ImportError;

/// The largest text, in bytes.
pub const TEXT: usize = 32 << 20;
/// The most nodes.
pub const NODES: usize = 100_000;
/// The most links, parallel ones counted one by one.
pub const LINKS: usize = 400_000;
/// The most demands.
pub const DEMANDS: usize = 1_000_000;
/// The most levels of nesting of XML and GML.
pub const DEPTH: usize = 32;
/// The most attributes of an element of XML.
pub const ATTRIBUTES: usize = 100;
/// The longest name, in characters; longer ones are cut.
pub const NAME: usize = 60;
/// The most remarks.
pub(crate) const REMARKS: usize = 100;

/// The longest name of a measured flow, in characters; longer ones are cut. Two addresses of IPv6 with
/// their interfaces and ports fit.
pub const FLOW_NAME: usize = 150;

/// Returns the first characters of a text.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let end = text.char_indices().nth(most).map_or(text.len(), |(i, _)| i);
    &text[..end]
}

/// The largest text of measurements, in bytes.
pub const MEASURED: usize = 512 << 20;

/// Refuses measurements that are too large.
pub(crate) fn check_measured(text: &str) -> Result<(), ImportError> {
    if text.len() <= MEASURED {
        return Ok(());
    }
    let message = format!(
        "the text has {} bytes; at most {MEASURED} are read",
        text.len()
    );
    Err(ImportError::whole(message))
}

/// Refuses a text that is too large.
pub(crate) fn check(text: &str) -> Result<(), ImportError> {
    if text.len() <= TEXT {
        return Ok(());
    }
    let message = format!("the text has {} bytes; at most {TEXT} are read", text.len());
    Err(ImportError::whole(message))
}
