//! The capture of a run.

use accord::files;
use accord::record::{Interrupted, Observer};
use accord::units::Time;
use std::io;
use std::path::Path;

/// The size above which a capture ends: about two million packets.
const MOST: usize = 256 << 20;
/// The type of a block with a packet [draft-ietf-opsawg-pcapng §4.3].
const PACKET: u32 = 6;

/// An observer that keeps the packets, as bytes of a pcapng file.
#[derive(Debug, Default)]
pub struct Tap {
    bytes: Vec<u8>,
}

impl Observer for Tap {
    fn progress(&mut self, _: Time) -> Result<(), Interrupted> {
        Ok(())
    }

    fn wants_packets(&self) -> bool {
        true
    }

    fn packets(&mut self, bytes: &[u8]) {
        // The engine passes whole blocks.
        if self.bytes.len() + bytes.len() <= MOST {
            self.bytes.extend(bytes);
        }
    }
}

impl Tap {
    /// Returns the number of the first packet at or after a time, from 1.
    pub fn number(&self, from: Time) -> Option<u64> {
        let from = from.as_ps() / 1_000;
        let mut rest = &self.bytes[..];
        let mut number = 0;
        while let Some(kind) = word(rest, 0) {
            let length = word(rest, 4)? as usize;
            if kind == PACKET {
                number += 1;
                let at = u64::from(word(rest, 12)?) << 32 | u64::from(word(rest, 16)?);
                if at >= from {
                    return Some(number);
                }
            }
            rest = rest.get(length.max(12)..)?;
        }
        None
    }

    /// Writes the file, and the folders that it is in.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            files::create_dirs(folder)?;
        }
        files::write(path, &self.bytes)
    }
}

/// Returns the word of four bytes at a place.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}
