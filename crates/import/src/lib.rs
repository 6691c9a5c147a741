//! Readers of network topologies: GraphML, GML, SNDlib (native and XML), node-link JSON and CSV lists of
//! links; and of demand matrices in CSV. [`measured`] reads the measurements of other programs.
//!
//! A reader returns a [`Topology`], or an [`ImportError`] with the place of the error. The size of
//! texts is limited ([`limits`]). [`Topology::remarks`] lists everything that a reader leaves out.

mod attribute;
mod builder;
mod csv_lists;
mod error;
mod format;
mod gml;
mod graphml;
mod json;
pub mod limits;
pub mod measured;
mod sndlib;
mod sndlib_xml;
mod text;
mod topology;
mod xml;

pub use attribute::Units;
pub use csv_lists::demands;
pub use error::ImportError;
pub use format::Format;
pub use text::{decoded, decoded_in_part};
pub use topology::{Demand, Link, Node, Topology, Way};

/// Reads a topology.
///
/// # Errors
///
/// Fails if the text is too large or invalid in that format, or if a link or demand names an
/// unknown node.
pub fn read(format: Format, text: &str, units: &Units) -> Result<Topology, ImportError> {
    let text = limits::check(text, limits::TEXT)?;
    match format {
        Format::GraphMl => graphml::read(text, units),
        Format::Gml => gml::read(text, units),
        Format::Sndlib => sndlib::read(text, units),
        Format::SndlibXml => sndlib_xml::read(text, units),
        Format::Json => json::read(text, units),
        Format::Csv => csv_lists::read(text, units),
    }
}
