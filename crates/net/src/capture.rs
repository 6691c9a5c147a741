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
#[derive(Debug)]
pub struct Tap {
    bytes: Vec<u8>,
    most: usize,
    /// True after the first block that did not fit. None is kept after that.
    is_full: bool,
}

impl Default for Tap {
    fn default() -> Tap {
        Tap { bytes: Vec::new(), most: MOST, is_full: false }
    }
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
        self.is_full |= self.bytes.len() + bytes.len() > self.most;
        if !self.is_full {
            self.bytes.extend(bytes);
        }
    }
}

impl Tap {
    /// The times of the packets.
    fn times(&self) -> impl Iterator<Item = Time> {
        let mut rest = &self.bytes[..];
        let blocks = std::iter::from_fn(move || {
            let (block, kind) = (rest, word(rest, 0)?);
            let length = word(rest, 4)? as usize;
            rest = rest.get(length.max(12)..).unwrap_or_default();
            Some((kind, block))
        });
        blocks.filter(|(kind, _)| *kind == PACKET).filter_map(|(_, block)| {
            let nanos = u64::from(word(block, 12)?) << 32 | u64::from(word(block, 16)?);
            Some(Time::from_ps(nanos.saturating_mul(1_000)))
        })
    }

    /// Returns the number of the first packet at or after a time, from 1.
    pub fn number(&self, from: Time) -> Option<u64> {
        // Captures have whole nanoseconds.
        let from = Time::from_ps(from.as_ps() / 1_000 * 1_000);
        let before = self.times().position(|at| at >= from)?;
        Some(before as u64 + 1)
    }

    /// Returns the time of the last packet if the capture is full, or `None` if it has all packets.
    pub fn end(&self) -> Option<Time> {
        self.times().last().filter(|_| self.is_full)
    }

    /// Writes the file, and the folders that it is in.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        if let Some(folder) = path.parent() {
            files::create_dirs(folder)?;
        }
        files::write(path, &self.bytes)
    }
}

/// Returns the four-byte word at an offset.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let word = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(word.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A later block that would fit belongs to another time, and is not kept.
    #[test]
    fn a_capture_that_is_full_has_ended() {
        let block = |nanos: u32, length: u32| {
            let mut block = vec![0; length as usize];
            let words = [(0, PACKET), (4, length), (16, nanos)];
            for (at, word) in words {
                block[at..at + 4].copy_from_slice(&word.to_le_bytes());
            }
            block
        };
        let mut tap = Tap { most: 100, ..Tap::default() };
        tap.packets(&block(1, 40));
        tap.packets(&block(2, 40));
        let at = |nanos: u64| Time::from_ps(nanos * 1_000);
        assert_eq!((tap.end(), tap.number(at(2))), (None, Some(2)));
        tap.packets(&block(3, 40));
        tap.packets(&block(4, 20));
        assert_eq!((tap.end(), tap.number(at(1)), tap.number(at(3))), (Some(at(2)), Some(1), None));
    }
}
