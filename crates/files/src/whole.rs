//! Files and directories that appear complete or not at all, even after a power cut.

use std::ffi::OsString;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Error, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// The number of files from which a single call syncs the whole file system, instead of one call per file.
/// Each call costs a write to the journal, a millisecond or more.
const MANY: usize = 32;
/// The number of consecutive links above which they count as a cycle.
const LINKS: usize = 40;
/// The length, in bytes, above which a name cannot be extended.
const LONG: usize = 200;

/// A file in progress. If it is dropped without [`Whole::finish`], an earlier file stays.
#[derive(Debug)]
pub struct Whole {
    target: PathBuf,
    /// The path with a temporary name, or the target itself for a pipe or a device.
    path: PathBuf,
    /// False if the target must not exist at the end.
    replaces: bool,
}

impl Whole {
    /// Begins a file that replaces one at `path`, and takes over its owner and permissions. Follows a link,
    /// and writes directly to a pipe or a device.
    ///
    /// # Errors
    /// Fails if a file there is not writable, and on an I/O error.
    pub fn replace(path: &Path) -> io::Result<Whole> {
        Whole::begin(path, true, false)
    }

    /// Begins a file that does not yet exist.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::AlreadyExists`] if it exists, and on an I/O error.
    pub fn create(path: &Path) -> io::Result<Whole> {
        Whole::begin(path, false, false)
    }

    fn begin(path: &Path, replaces: bool, secret: bool) -> io::Result<Whole> {
        if !replaces && path.symlink_metadata().is_ok() {
            return Err(taken());
        }
        // This comes before links are followed, because /dev/stdout leads to a pipe without a name.
        let there = fs::metadata(path).ok();
        if there.as_ref().is_some_and(|there| !there.is_file()) {
            return Ok(Whole { path: path.into(), target: path.into(), replaces });
        }
        let target = followed(path)?;
        if there.is_some() {
            // A file that is not writable is not replaced either.
            OpenOptions::new().write(true).open(&target)?;
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        if secret {
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        }
        #[cfg(not(unix))]
        let _ = secret;
        let (file, path) = loop {
            let path = temporary(&target, "partial")?;
            match options.open(&path) {
                // Another machine that shares the folder has a process with the same number.
                Err(e) if e.kind() == ErrorKind::AlreadyExists => continue,
                file => break (file?, path),
            }
        };
        let whole = Whole { path, target, replaces };
        if let Some(there) = there {
            take_over(&file, &there)?;
        }
        Ok(whole)
    }

    /// Opens the file for appending. The contents do not count before [`Whole::finish`].
    ///
    /// # Errors
    /// Fails on an I/O error.
    pub fn open(&self) -> io::Result<File> {
        OpenOptions::new().append(true).open(&self.path)
    }

    /// Syncs the file to disk, and gives it its name.
    ///
    /// # Errors
    /// Fails if the target exists and must not be replaced, and on an I/O error. An earlier file stays.
    pub fn finish(self) -> io::Result<()> {
        finish_all(vec![self])
    }

    fn is_direct(&self) -> bool {
        self.path == self.target
    }

    /// Gives the file its name.
    fn name(&self) -> io::Result<()> {
        if self.is_direct() {
            return Ok(());
        }
        if self.replaces {
            return fs::rename(&self.path, &self.target);
        }
        match fs::hard_link(&self.path, &self.target) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == ErrorKind::AlreadyExists => Err(e),
            // The file system has no links.
            Err(_) if self.target.symlink_metadata().is_err() => {
                fs::rename(&self.path, &self.target)
            }
            Err(_) => Err(taken()),
        }
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if !self.is_direct() {
            // It still exists after an error, or has two names.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Finishes files as [`Whole::finish`] does, with fewer waits for the disk.
///
/// # Errors
/// Fails as [`Whole::finish`] does. Some files may then have their names.
pub fn finish_all(files: Vec<Whole>) -> io::Result<()> {
    sync_files(files.iter().filter(|f| !f.is_direct()).map(|f| f.path.as_path()).collect())?;
    let mut folders: Vec<&Path> = Vec::new();
    for file in &files {
        file.name()?;
        let folder = folder(&file.target);
        if !file.is_direct() && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders.into_iter().try_for_each(sync_folder)
}

/// Writes a file whole, as [`Whole::replace`] does.
///
/// # Errors
/// Fails as [`Whole::replace`] and [`Whole::finish`] do.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill(Whole::replace(path)?, bytes)
}

/// Writes a whole new file, as [`Whole::create`] does.
///
/// # Errors
/// Fails as [`Whole::create`] and [`Whole::finish`] do.
pub fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill(Whole::create(path)?, bytes)
}

/// Writes a whole new file that only its owner can read.
///
/// # Errors
/// Fails as [`write_new`] does.
pub fn write_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    fill(Whole::begin(path, false, true)?, bytes)
}

/// Writes or replaces a whole file that only its owner can read, without waiting for the disk. After a power
/// cut the file may be empty. Use it for dispensable data, in a thread that must not wait.
///
/// # Errors
/// Fails as [`Whole::replace`] does.
pub fn write_unsynced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let whole = Whole::begin(path, true, true)?;
    whole.open()?.write_all(bytes)?;
    whole.name()
}

fn fill(whole: Whole, bytes: &[u8]) -> io::Result<()> {
    whole.open()?.write_all(bytes)?;
    whole.finish()
}

/// Opens a log for appending, and empties it first if `fresh`. The reader of the log must recognise truncated
/// lines.
///
/// # Errors
/// Fails on an I/O error.
pub fn open_log(path: &Path, fresh: bool) -> io::Result<File> {
    OpenOptions::new().create(true).write(true).truncate(fresh).append(!fresh).open(path)
}

/// Creates a file in a directory that [`publish`] will move into place.
///
/// # Errors
/// Fails on an I/O error.
pub fn create_within(directory: &Path, name: &str) -> io::Result<File> {
    File::create(directory.join(name))
}

/// Creates a directory and its missing parents, and syncs their names to disk.
///
/// # Errors
/// Fails on an I/O error.
pub fn create_dirs(path: &Path) -> io::Result<()> {
    let missing: Vec<&Path> = path.ancestors().take_while(|p| is_missing(p)).collect();
    let there = path.ancestors().find(|p| !p.as_os_str().is_empty() && p.exists());
    if let Some(file) = there.filter(|there| !there.is_dir()) {
        let what = if file.is_file() { "a file, not a directory" } else { "not a directory" };
        let why = format!("{} is {what}", file.display());
        return Err(Error::new(ErrorKind::NotADirectory, why));
    }
    if missing.is_empty() {
        return Ok(());
    }
    fs::create_dir_all(path)?;
    missing.into_iter().rev().try_for_each(|made| sync_folder(folder(made)))
}

fn is_missing(path: &Path) -> bool {
    !path.as_os_str().is_empty() && !path.exists()
}

/// Moves the directory `partial` to `target`, and replaces an existing one. The disk holds all files of the
/// new directory before the old one loses its name, and the new name before the old directory is removed.
///
/// # Errors
/// Fails on an I/O error. The old directory then stays.
pub fn publish(partial: &Path, target: &Path) -> io::Result<()> {
    sync(partial)?;
    if !is_missing(target) && exchange(partial, target).is_ok() {
        let synced = sync_folder(folder(target));
        remove(partial);
        return synced;
    }
    let old = temporary(target, "old")?;
    let replaced = fs::rename(target, &old).is_ok();
    let done = fs::rename(partial, target);
    if done.is_err() && replaced {
        fs::rename(&old, target)?;
    }
    done?;
    let synced = sync_folder(folder(target));
    remove(&old);
    synced
}

/// Swaps two directories atomically, so one exists at any time.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exchange(a: &Path, b: &Path) -> io::Result<()> {
    use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
    Ok(renameat2(AT_FDCWD, a, AT_FDCWD, b, RenameFlags::RENAME_EXCHANGE)?)
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

/// Syncs a file, or a directory with all its contents, to disk.
///
/// # Errors
/// Fails on an I/O error.
pub fn sync(path: &Path) -> io::Result<()> {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    collect(path, &mut files, &mut directories)?;
    sync_files(files.iter().map(PathBuf::as_path).collect())?;
    directories.iter().rev().try_for_each(|directory| sync_folder(directory))
}

fn collect(
    path: &Path,
    files: &mut Vec<PathBuf>,
    directories: &mut Vec<PathBuf>,
) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.into());
        return Ok(());
    }
    directories.push(path.into());
    let entries = match fs::read_dir(path) {
        // The owner may write to it but not read it. The system then syncs it in its own time.
        Err(e) if e.kind() == ErrorKind::PermissionDenied => return Ok(()),
        entries => entries?,
    };
    entries.into_iter().try_for_each(|entry| collect(&entry?.path(), files, directories))
}

fn sync_files(files: Vec<&Path>) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if files.len() >= MANY {
        return Ok(nix::unistd::syncfs(OpenOptions::new().append(true).open(files[0])?)?);
    }
    // Some systems sync only files that are open for writing.
    files.into_iter().try_for_each(|path| OpenOptions::new().append(true).open(path)?.sync_all())
}

/// Syncs the names in a folder to disk.
#[cfg(unix)]
fn sync_folder(path: &Path) -> io::Result<()> {
    match File::open(path).and_then(|folder| folder.sync_all()) {
        // Some file systems cannot do it, and some folders are writable but not readable.
        Err(e)
            if matches!(
                e.kind(),
                ErrorKind::InvalidInput | ErrorKind::Unsupported | ErrorKind::PermissionDenied
            ) =>
        {
            Ok(())
        }
        done => done,
    }
}

/// Other systems do this by themselves.
#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// Returns the folder of a file or directory.
fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Returns the path to which links lead, whether or not a file exists there.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        match fs::read_link(&path) {
            Ok(next) => path = folder(&path).join(next),
            Err(_) => return Ok(path),
        }
    }
    Err(Error::new(ErrorKind::InvalidInput, "its symbolic links form a loop"))
}

/// Gives a new file the permissions of the one that it replaces, and its owner if that is allowed.
fn take_over(file: &File, there: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let _ = fchown(file, Some(there.uid()), Some(there.gid()));
    }
    file.set_permissions(there.permissions())
}

fn taken() -> Error {
    Error::new(ErrorKind::AlreadyExists, "it exists")
}

/// Returns the path ".NAME.what" next to NAME.
///
/// # Errors
/// Fails if the path does not end in a name, such as "..".
pub fn hidden(path: &Path, what: &str) -> io::Result<PathBuf> {
    let none = || Error::new(ErrorKind::InvalidInput, "it has no name of its own");
    let mut hidden = OsString::from(".");
    hidden.push(path.file_name().ok_or_else(none)?);
    hidden.push(format!(".{what}"));
    Ok(path.with_file_name(hidden))
}

/// Returns a unique path next to `path`: ".NAME.PROCESS-NUMBER.what". It is in the same folder,
/// since a rename cannot leave its file system.
///
/// # Errors
/// Fails as [`hidden`] does.
pub fn temporary(path: &Path, what: &str) -> io::Result<PathBuf> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let n = COUNT.fetch_add(1, Ordering::Relaxed);
    let what = format!("{}-{n}.{what}", std::process::id());
    // File systems limit the length of a name.
    match path.file_name() {
        Some(name) if name.len() > LONG => hidden(&path.with_file_name("long"), &what),
        _ => hidden(path, &what),
    }
}

/// Removes partial files and directories that are `ours`, left next to `target` by a program that was killed
/// while writing. Those of a process that is alive, or may be, stay.
pub fn sweep_away(target: &Path, ours: impl Fn(&Path) -> bool) {
    let Some(name) = target.file_name() else {
        return;
    };
    let prefix = format!(".{}.", name.display());
    let entries = fs::read_dir(folder(target)).into_iter().flatten().flatten();
    for entry in entries {
        let left = entry.file_name();
        let left = left.to_str().and_then(|left| left.strip_prefix(&prefix));
        if left.and_then(writer).is_some_and(is_gone) && ours(&entry.path()) {
            remove(&entry.path());
        }
    }
}

/// Returns the process in "1234-0.partial". An old directory, ".old", may be the only copy.
fn writer(name: &str) -> Option<u32> {
    let (process, count) = name.strip_suffix(".partial")?.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (digits(process) && digits(count)).then(|| process.parse().ok())?
}

fn is_gone(process: u32) -> bool {
    let processes = Path::new("/proc");
    processes.join("self").exists() && !processes.join(process.to_string()).exists()
}

/// Removes the file or directory at a path, if there is one. Ignores a failure, because there is no
/// remedy for it.
pub fn remove(path: &Path) {
    let _ = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
}

/// Turns a write beyond the system's limit on file size into an error, instead of a signal that ends the
/// process. This applies to this thread and to threads that it starts from now on.
///
/// # Errors
/// Fails on an I/O error.
pub fn limits_are_errors() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use nix::sys::signal::{SigSet, Signal};
        SigSet::from(Signal::SIGXFSZ).thread_block()?;
    }
    Ok(())
}

/// Returns whether an open file is the one at a path.
pub fn is_same(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |m: &Metadata| (m.dev(), m.ino());
        matches!((file.metadata(), fs::metadata(path)), (Ok(a), Ok(b)) if id(&a) == id(&b))
    }
    // On other systems an open file keeps its name.
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}
