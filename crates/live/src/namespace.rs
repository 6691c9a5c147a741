//! Network namespaces without names.
//!
//! A namespace exists while something holds it, here an open file of this process. So no clean-up
//! is needed: when the process ends, even by `kill -9`, the kernel removes its namespaces, with
//! their devices and addresses. The namespace of the program itself is not changed. Concurrent runs
//! do not affect each other.

use crate::LiveError;
use accord_host::Error;
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// A private network namespace, with only a loopback device that is down.
#[derive(Debug)]
pub struct Namespace(File);

/// The file of the thread's present namespace.
const OWN: &str = "/proc/thread-self/ns/net";

impl Namespace {
    /// Creates a namespace.
    pub fn new() -> Result<Namespace, LiveError> {
        let made = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                unshare(CloneFlags::CLONE_NEWNET)?;
                File::open(OWN)
            });
            thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        });
        made.map(Namespace).map_err(|e| match e.raw_os_error() {
            Some(code) if Errno::from_raw(code) == Errno::EPERM => {
                LiveError::Unable(format!("making a network namespace is not allowed ({e})"))
            }
            _ => LiveError::Unable(format!("cannot make a network namespace: {e}")),
        })
    }

    /// Opens an existing namespace, such as `/run/netns/NAME` or `/proc/PROCESS/ns/net`.
    pub fn open(path: &Path) -> Result<Namespace, LiveError> {
        let opened = File::open(path).map(Namespace);
        opened.map_err(|e| LiveError::system(&format!("open the namespace {}", path.display()), e))
    }

    /// Opens the namespace of this thread.
    pub fn own() -> Result<Namespace, LiveError> {
        Namespace::open(Path::new(OWN))
    }

    /// Returns true if both are the same namespace.
    pub fn is(&self, other: &Namespace) -> bool {
        let identity = |file: &File| file.metadata().ok().map(|data| (data.dev(), data.ino()));
        identity(&self.0).is_some_and(|own| identity(&other.0) == Some(own))
    }

    /// Moves this thread inside, for good.
    pub fn enter(&self) -> io::Result<()> {
        Ok(setns(&self.0, CloneFlags::CLONE_NEWNET)?)
    }

    /// Runs `work` inside, on another thread. Files that it opens remain bound to the namespace.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, LiveError> {
        let done = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                self.enter()?;
                Ok(work())
            });
            thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        });
        done.map_err(|e| LiveError::system("enter a network namespace", e))
    }

    /// Sets a kernel variable inside, such as `net/ipv4/tcp_ecn`.
    pub fn set(&self, variable: &str, value: &str) -> Result<(), LiveError> {
        let set = || std::fs::write(Path::new("/proc/sys").join(variable), value);
        self.within(set)?
            .map_err(|e| LiveError::system(&format!("set {variable} to \"{value}\""), e))
    }

    /// Returns the path of the namespace for other processes.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

/// The MTU of the devices in bytes, at which none of our datagrams is fragmented.
const MTU: u32 = 65_535;

/// Joins two namespaces by a pair of virtual Ethernet devices with these addresses.
pub fn join(a: (&Namespace, Ipv4Addr), b: (&Namespace, Ipv4Addr)) -> Result<(), LiveError> {
    // The name of a device is derived from its address.
    let name = |address: Ipv4Addr| format!("v{:x}", u32::from(address));
    let (here, there) = (name(a.1), name(b.1));
    let path = b.0.path();
    let up = |name: &str, address: Ipv4Addr| {
        format!("address add {address}/30 dev {name}\nlink set {name} mtu {MTU} up\n")
    };
    let pair = format!("link add {here} type veth peer name {there} netns {path}\n");
    ip(a.0, &(pair + &up(&here, a.1)))?;
    ip(b.0, &up(&there, b.1))
}

/// Runs commands of iproute2 in a namespace.
pub fn ip(namespace: &Namespace, commands: &str) -> Result<(), LiveError> {
    match namespace.within(|| accord_host::ip(&["-batch", "-"], commands))? {
        Ok(_) => Ok(()),
        Err(Error::Refused(why)) => {
            Err(LiveError::Unable(format!("cannot set up a virtual network: ip: {why}")))
        }
        Err(Error::Missing) => Err(LiveError::Unable(
            "the program \"ip\" is missing, which sets up a virtual network; install iproute2"
                .into(),
        )),
        Err(Error::System(e)) => Err(LiveError::system("run the program \"ip\"", e)),
    }
}

/// Returns the reason why namespaces cannot be used here, if there is one. Creates one to find out.
pub fn obstacle() -> Option<LiveError> {
    let attempt = || {
        let (a, b) = (Namespace::new()?, Namespace::new()?);
        join((&a, Ipv4Addr::new(10, 0, 0, 1)), (&b, Ipv4Addr::new(10, 0, 0, 2)))
    };
    attempt().err()
}
