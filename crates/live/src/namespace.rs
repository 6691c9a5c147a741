//! Network namespaces without names.
//!
//! A namespace is there as long as something holds it: here, an open file of this process. So
//! there is nothing to tidy up: however the process ends, `kill -9` included, the kernel removes
//! its namespaces, and with them their devices and addresses. Nothing is made or changed in the
//! namespace where the program was started, and runs beside each other do not meet.

use crate::LiveError;
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::File;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::process::{Command, Stdio};

/// A network namespace of its own, with nothing in it but a loopback device that is down.
#[derive(Debug)]
pub struct Namespace(File);

/// The thread's own namespace.
const OWN: &str = "/proc/thread-self/ns/net";

impl Namespace {
    /// A new one.
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

    /// Does something inside, on another thread; what it opens stays inside.
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

    /// Sets a variable of the kernel inside, such as `net/ipv4/tcp_ecn`.
    pub fn set(&self, variable: &str, value: &str) -> Result<(), LiveError> {
        let set = || std::fs::write(Path::new("/proc/sys").join(variable), value);
        self.within(set)?
            .map_err(|e| LiveError::system(&format!("set {variable} to \"{value}\""), e))
    }

    /// Where others find it.
    fn path(&self) -> String {
        format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd())
    }
}

/// No datagram of ours is cut into fragments.
const MTU: u32 = 65_535;

/// Joins two namespaces by a pair of virtual Ethernet devices with these addresses.
pub fn join(a: (&Namespace, Ipv4Addr), b: (&Namespace, Ipv4Addr)) -> Result<(), LiveError> {
    // Each has a name of its own in its namespace: that of its address.
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

/// Why namespaces cannot be used here; tries it.
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
