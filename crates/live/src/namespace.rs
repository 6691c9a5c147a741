//! Network namespaces without names.
//!
//! A namespace exists as long as something holds it, which here is an open file of this process. So
//! there is nothing to clean up. However the process ends, `kill -9` included, the kernel removes
//! its namespaces, and with them their devices and addresses. Nothing is made or changed in the
//! namespace in which the program was started. Runs at the same time do not affect each other.

use crate::LiveError;
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};

/// A network namespace of its own, with only a loopback device that is down.
#[derive(Debug)]
pub struct Namespace(File);

/// The file of the thread's own namespace.
const OWN: &str = "/proc/thread-self/ns/net";

impl Namespace {
    /// Creates a namespace.
    pub fn new() -> Result<Namespace, LiveError> {
        let made = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                unshare(CloneFlags::CLONE_NEWNET)?;
                File::open(OWN)
            });
            thread
                .join()
                .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        });
        made.map(Namespace).map_err(|e| match e.raw_os_error() {
            Some(code) if Errno::from_raw(code) == Errno::EPERM => {
                LiveError::Unable(format!("making a network namespace is not allowed ({e})"))
            }
            _ => LiveError::Unable(format!("cannot make a network namespace: {e}")),
        })
    }

    /// Runs `work` inside, on another thread. Files that it opens stay inside.
    pub fn within<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, LiveError> {
        let done = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                setns(&self.0, CloneFlags::CLONE_NEWNET)?;
                Ok(work())
            });
            thread
                .join()
                .unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
        });
        done.map_err(|e| LiveError::system("enter a network namespace", e))
    }

    /// Sets a kernel variable inside, such as `net/ipv4/tcp_ecn`.
    pub fn set(&self, variable: &str, value: &str) -> Result<(), LiveError> {
        let set = || std::fs::write(Path::new("/proc/sys").join(variable), value);
        self.within(set)?
            .map_err(|e| LiveError::system(&format!("set {variable} to \"{value}\""), e))
    }

    /// Returns the path at which other processes find the namespace.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

/// The MTU of the devices in bytes, so large that no datagram of ours is cut into fragments.
const MTU: u32 = 65_535;

/// Joins two namespaces by a pair of virtual Ethernet devices with these addresses.
pub fn join(a: (&Namespace, Ipv4Addr), b: (&Namespace, Ipv4Addr)) -> Result<(), LiveError> {
    // The name of a device in its namespace is that of its address.
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
    let run = || -> io::Result<std::process::Output> {
        let mut child = Command::new("ip")
            .args(["-batch", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            input.write_all(commands.as_bytes())?;
        }
        child.wait_with_output()
    };
    match namespace.within(run)? {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let first = text.lines().next().unwrap_or("no reason given");
            Err(LiveError::Unable(format!(
                "cannot set up a virtual network: ip: {first}"
            )))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Err(LiveError::Unable(
            "there is no program \"ip\" (iproute2) to set up a virtual network with".into(),
        )),
        Err(e) => Err(LiveError::system("run the program \"ip\"", e)),
    }
}

/// Returns the reason why namespaces cannot be used here, if there is one. It tries to use them.
pub fn obstacle() -> Option<LiveError> {
    let attempt = || {
        let (a, b) = (Namespace::new()?, Namespace::new()?);
        join(
            (&a, Ipv4Addr::new(10, 0, 0, 1)),
            (&b, Ipv4Addr::new(10, 0, 0, 2)),
        )
    };
    attempt().err()
}
