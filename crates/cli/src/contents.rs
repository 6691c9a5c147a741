//! The contents of files that other programs wrote.

use crate::fail::{Failure, unreadable};
use accord::files::open;
use std::io::Read;
use std::path::Path;

/// The length of the beginning that shows whether a file is text, in bytes.
const HEAD: u64 = 4096;

/// Reads a file of at most `most` bytes.
pub fn contents(path: &Path, most: usize) -> Result<Vec<u8>, Failure> {
    let cannot = unreadable(path);
    let mut bytes = Vec::new();
    // A file without a size, as in /proc, is counted as it is read.
    let mut file = open(path, u64::MAX).map_err(&cannot)?;
    let head = file.by_ref().take(HEAD).read_to_end(&mut bytes);
    head.map_err(&cannot)?;
    if is_binary(&bytes) {
        return Err(Failure::new(format!("{} is not text", path.display())));
    }
    // One byte more than the limit shows that the file is too large.
    let rest = file.take(most as u64 + 1 - HEAD).read_to_end(&mut bytes);
    rest.map_err(cannot)?;
    match bytes.len() {
        0 => Err(Failure::new(format!("{} is empty", path.display()))),
        n if n > most => {
            let message = format!("{} has more than {} MiB", path.display(), most >> 20);
            Err(Failure::new(message).hint("this is the largest size that is read"))
        }
        _ => Ok(bytes),
    }
}

/// Returns true if more than an eighth of the beginning of a file are control characters. Text in
/// UTF-16 and gzip files are not binary.
fn is_binary(head: &[u8]) -> bool {
    let other = [&[0xff, 0xfe][..], &[0xfe, 0xff], &[0x1f, 0x8b]];
    if other.iter().any(|mark| head.starts_with(mark)) {
        return false;
    }
    let control = |b: &&u8| b.is_ascii_control() && !matches!(b, b'\t' | b'\n' | b'\r' | 0x1e);
    head.iter().filter(control).count() * 8 > head.len()
}
