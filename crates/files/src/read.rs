//! The reader of files from any program.

use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Error, ErrorKind, Read};
use std::path::Path;

/// Opens a plain file of at most `most` bytes. Never waits for another program.
///
/// A reader should still take no more than `most` bytes, since a file can grow.
///
/// # Errors
/// Fails, without reading, for a pipe, a device, a directory or a larger file. Also fails on an I/O error.
pub fn open(path: &Path, most: u64) -> io::Result<File> {
    // Even opening a device can have an effect.
    check(&fs::metadata(path)?, most)?;
    let mut options = OpenOptions::new();
    options.read(true);
    // If the file has become a pipe by now, this does not wait for a writer.
    #[cfg(target_os = "linux")]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        nix::fcntl::OFlag::O_NONBLOCK.bits(),
    );
    let file = options.open(path)?;
    check(&file.metadata()?, most)?;
    Ok(file)
}

/// Reads a plain file of at most `most` bytes.
///
/// # Errors
/// Fails as [`open`] does.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // One byte more than the limit reveals that a file has grown or has no size, as in /proc.
    open(path, most)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large(most)) } else { Ok(bytes) }
}

/// Reads a plain file of at most `most` bytes of UTF-8.
///
/// # Errors
/// Fails as [`open`] does, and if the text is not UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let not_text = |_| Error::new(ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(read(path, most)?).map_err(not_text)
}

fn check(found: &Metadata, most: u64) -> io::Result<()> {
    if !found.is_file() {
        let message = format!("it is {}, not a plain file", kind(found.file_type()));
        return Err(Error::new(ErrorKind::InvalidInput, message));
    }
    if found.len() > most { Err(too_large(most)) } else { Ok(()) }
}

fn too_large(most: u64) -> Error {
    let (most, unit) = match most {
        n if n >= 1 << 30 => (n >> 30, "GiB"),
        n if n >= 1 << 20 => (n >> 20, "MiB"),
        n => (n, "bytes"),
    };
    Error::new(ErrorKind::InvalidInput, format!("it is larger than {most} {unit}"))
}

fn kind(of: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if of.is_fifo() {
            return "a pipe";
        }
        if of.is_char_device() || of.is_block_device() {
            return "a device";
        }
        if of.is_socket() {
            return "a socket";
        }
    }
    if of.is_dir() { "a directory" } else { "something else" }
}
