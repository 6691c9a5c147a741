//! The contents of files that other programs wrote.

use crate::fail::{Failure, unreadable};
use accord::files::read;
use accord_import::measured::Format;
use std::path::Path;

/// The length of the beginning that shows whether a file is text, in bytes.
const HEAD: usize = 4096;

/// Reads a file of at most `most` bytes.
pub fn contents(path: &Path, most: usize) -> Result<Vec<u8>, Failure> {
    let bytes = read(path, most as u64).map_err(unreadable(path))?;
    match &bytes[..bytes.len().min(HEAD)] {
        [] => Err(Failure::new(format!("{} is empty", path.display()))),
        head if is_binary(head) => Err(Failure::new(format!("{} is not text", path.display()))),
        _ => Ok(bytes),
    }
}

/// Returns true if more than an eighth of the beginning of a file is control characters. Text in
/// UTF-16, gzip files and captures are not binary.
fn is_binary(head: &[u8]) -> bool {
    if Format::guess(head) == Some(Format::Pcap) {
        return false;
    }
    let other = [&[0xff, 0xfe][..], &[0xfe, 0xff], &[0x1f, 0x8b]];
    if other.iter().any(|mark| head.starts_with(mark)) {
        return false;
    }
    let control = |b: &&u8| b.is_ascii_control() && !matches!(b, b'\t' | b'\n' | b'\r' | 0x1e);
    head.iter().filter(control).count() * 8 > head.len()
}
