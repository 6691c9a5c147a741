//! The formats, and their detection.

/// A format of topologies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// GraphML, as networkx and the Internet Topology Zoo write it.
    GraphMl,
    /// GML, the Graph Modelling Language.
    Gml,
    /// The native format of SNDlib.
    Sndlib,
    /// Node-link JSON, as networkx and topohub write it.
    Json,
    /// A list of links in CSV.
    Csv,
}

impl Format {
    /// The formats, with their names.
    pub const NAMES: [(&'static str, Format); 5] = [
        ("graphml", Format::GraphMl),
        ("gml", Format::Gml),
        ("sndlib", Format::Sndlib),
        ("json", Format::Json),
        ("csv", Format::Csv),
    ];

    /// Returns the format of a file by the extension of its name (`""` without one) and by its
    /// content, or `None` if neither determines it.
    pub fn guess(ending: &str, text: &str) -> Option<Format> {
        let start = text.trim_start_matches('\u{feff}').trim_start();
        let head: String = start.chars().take(4000).collect();
        match ending.to_ascii_lowercase().as_str() {
            "graphml" => return Some(Format::GraphMl),
            "gml" => return Some(Format::Gml),
            "json" => return Some(Format::Json),
            "csv" => return Some(Format::Csv),
            _ => {}
        }
        if head.starts_with("?SNDlib") {
            return Some(Format::Sndlib);
        }
        if head.starts_with('<') {
            return head.contains("<graphml").then_some(Format::GraphMl);
        }
        if head.starts_with('{') {
            return Some(Format::Json);
        }
        let has = |section: &str| text.lines().any(|l| l.trim_start().starts_with(section));
        if has("NODES") && has("LINKS") {
            return Some(Format::Sndlib);
        }
        if has("graph") && head.contains('[') {
            return Some(Format::Gml);
        }
        None
    }
}

/// Returns the format of a name.
///
/// # Errors
/// The message lists the names.
pub(crate) fn named<F: Copy>(names: &[(&str, F)], name: &str) -> Result<F, String> {
    let found = names.iter().find(|(known, _)| *known == name);
    found.map(|(_, format)| *format).ok_or_else(|| {
        let names: Vec<_> = names.iter().map(|(name, _)| *name).collect();
        format!("unknown format (known: {})", names.join(", "))
    })
}

impl std::str::FromStr for Format {
    type Err = String;

    fn from_str(s: &str) -> Result<Format, String> {
        named(&Format::NAMES, s)
    }
}
