//! A control group for a command and the processes that it starts.

use nix::mount::{MntFlags, MsFlags, umount2};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// The prefix of the names of groups.
const PREFIX: &str = "accord-";

/// Returns the mount point of control groups of version 2.
fn mounted() -> Option<String> {
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    let mut mounts = mounts.lines().map(|line| line.split(' '));
    let mount = mounts.find(|words| words.clone().nth(2) == Some("cgroup2"))?;
    mount.clone().nth(1).map(String::from)
}

/// Mounts the control groups of version 2 for this process alone: the mount has no path, and ends
/// with the file.
fn mount() -> Result<File> {
    let place = std::env::temp_dir().join(format!("{PREFIX}{}", std::process::id()));
    std::fs::create_dir(&place)?;
    let none = None::<&str>;
    let root = nix::mount::mount(none, &place, Some("cgroup2"), MsFlags::empty(), none)
        .map_err(Error::from)
        .and_then(|()| {
            let root = File::open(&place);
            umount2(&place, MntFlags::MNT_DETACH)?;
            root
        });
    std::fs::remove_dir(&place)?;
    root
}

/// A control group (version 2), which is removed when this value is dropped.
#[derive(Debug)]
pub struct Group {
    /// The group of this process.
    own: PathBuf,
    path: PathBuf,
    file: File,
    _root: File,
}

impl Group {
    /// Creates a group below that of this process. Removes groups left there by killed processes.
    ///
    /// # Errors
    ///
    /// Fails if no hierarchy of version 2 is mounted, or the user lacks the permission.
    pub fn new() -> Result<Group> {
        let root = match mounted() {
            Some(path) => File::open(path)?,
            // In a program started by `ip netns exec`, which has another /sys.
            None => mount()?,
        };
        // A path that is valid in any mount namespace.
        let mount = format!("/proc/self/fd/{}", root.as_raw_fd());
        let groups = std::fs::read_to_string("/proc/self/cgroup")?;
        let group = groups.lines().find_map(|line| line.strip_prefix("0::/"));
        let own = Path::new(&mount).join(group.ok_or(ErrorKind::Unsupported)?);
        for left in std::fs::read_dir(&own)?.flatten() {
            let name = left.file_name().to_string_lossy().into_owned();
            let process = name.strip_prefix(PREFIX).and_then(|pid| pid.parse::<u32>().ok());
            if process.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists()) {
                // A group with processes stays.
                let _ = std::fs::remove_dir(left.path());
            }
        }
        let path = own.join(format!("{PREFIX}{}", std::process::id()));
        std::fs::create_dir(&path)?;
        let file = File::open(&path)?;
        Ok(Group { own, path, file, _root: root })
    }

    /// Starts a command in the group.
    ///
    /// # Errors
    ///
    /// Fails if the command cannot be started, or the user may not move processes.
    pub fn spawn(&self, command: &mut Command) -> Result<Child> {
        // A child begins in the group of its parent, so none of its sockets is missed.
        let enter = |group: &Path| {
            std::fs::write(group.join("cgroup.procs"), std::process::id().to_string())
        };
        enter(&self.path)?;
        let child = command.spawn();
        enter(&self.own)?;
        child
    }

    /// Sends SIGTERM to the processes of the group.
    pub fn terminate(&self) {
        let there = std::fs::read_to_string(self.path.join("cgroup.procs")).unwrap_or_default();
        for process in there.lines().filter_map(|line| line.parse().ok()) {
            // The process may have ended.
            let _ = kill(Pid::from_raw(process), Signal::SIGTERM);
        }
    }
}

impl AsFd for Group {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A group with processes stays, and the next start removes it.
        let _ = std::fs::remove_dir(&self.path);
    }
}
