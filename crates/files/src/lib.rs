//! Our own files, written whole or not at all, and foreign files, read up to a limit.
//!
//! A result survives a full disk and a power cut: [`Whole`] writes a file under another name in the
//! same folder, syncs it to disk, and then renames it. [`publish`] does the same with a directory.
//! No other crate creates files (`cli/tests/rooms.rs`).
//!
//! [`open`] and [`read`] reject pipes, devices and files above a limit before they read anything.

mod read;
mod whole;

pub use read::{open, read, read_text};
pub use whole::{
    Whole, create_dirs, create_within, finish_all, hidden, is_same, limits_are_errors, open_log,
    publish, remove, sweep_away, sync, temporary, write, write_new, write_secret, write_unsynced,
};
