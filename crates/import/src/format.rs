//! The formats, and their detection.

use accord_units::words;

words! {
    /// A format of topologies.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Format by name {
        /// GraphML, as networkx and the Internet Topology Zoo write it.
        GraphMl = "graphml",
        /// GML, the Graph Modelling Language.
        Gml = "gml",
        /// The native format of SNDlib.
        Sndlib = "sndlib",
        /// The XML of SNDlib.
        SndlibXml = "sndlib-xml",
        /// Node-link JSON, as networkx and topohub write it.
        Json = "json",
        /// A list of links in CSV.
        Csv = "csv",
    }
}

impl Format {
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
            let tags = [("<graphml", Format::GraphMl), ("<network", Format::SndlibXml)];
            return tags.into_iter().find(|(tag, _)| head.contains(tag)).map(|(_, format)| format);
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
