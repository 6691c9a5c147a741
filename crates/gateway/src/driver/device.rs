//! The TUN device, and the addresses and routes that lead to it.

use crate::config::{Network, Site};
use crate::error::RunError;
use nix::errno::Errno;
use std::io::{Error, ErrorKind, Result, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Command, Stdio};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The packets that the device holds for us. What does not fit is dropped before it was queued, so
/// that there is little room: the edge is where packets wait.
const QUEUE: usize = 500;

/// The TUN device of a gateway.
pub struct Device {
    tun: SyncDevice,
    name: String,
    /// The packets that the kernel did not take.
    pub refused: u64,
}

impl Device {
    /// Creates the device with the addresses of the site and the routes to its peers.
    pub fn open(site: &Site) -> std::result::Result<Device, RunError> {
        let name = &site.interface.device;
        let open = || {
            let tun = DeviceBuilder::new().name(name).build_sync()?;
            tun.set_nonblocking(true)?;
            Ok(tun)
        };
        let tun = open().map_err(|e: Error| {
            RunError::Unable(format!(
                "device {name} cannot be opened: {e}; it takes CAP_NET_ADMIN and /dev/net/tun"
            ))
        })?;
        let mut commands = String::new();
        for Network { address, prefix } in &site.interface.addresses {
            commands += &format!("address replace {address}/{prefix} dev {name}\n");
        }
        let mtu = site.interface.mtu;
        commands += &format!("link set {name} mtu {mtu} txqueuelen {QUEUE} up\n");
        commands += &changes(name, &[], &networks(site));
        ip(&commands)?;
        Ok(Device {
            tun,
            name: name.clone(),
            refused: 0,
        })
    }

    /// Changes the routes from those of one site file to those of another.
    pub fn change(&self, before: &Site, after: &Site) -> std::result::Result<(), RunError> {
        let commands = changes(&self.name, &networks(before), &networks(after));
        match commands.is_empty() {
            true => Ok(()),
            false => ip(&commands),
        }
    }

    /// Takes a packet that the kernel has sent, if there is one.
    pub fn receive(&self, packet: &mut [u8]) -> Result<Option<usize>> {
        match self.tun.recv(packet) {
            Ok(length) => Ok(Some(length)),
            Err(e) if is(&e, Errno::EAGAIN) || is(&e, Errno::EINTR) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Gives a packet to the kernel. A device that is down takes none.
    pub fn send(&mut self, packet: &[u8]) {
        if self.tun.send(packet).is_err() {
            self.refused += 1;
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

fn is(e: &Error, errno: Errno) -> bool {
    e.raw_os_error() == Some(errno as i32)
}

fn networks(site: &Site) -> Vec<Network> {
    let networks = site.peers.iter().flat_map(|p| &p.networks);
    networks.copied().collect()
}

/// Returns the commands that change routes to these networks into routes to those.
fn changes(device: &str, before: &[Network], after: &[Network]) -> String {
    let gone = before.iter().filter(|n| !after.contains(n));
    let new = after.iter().filter(|n| !before.contains(n));
    let delete = gone.map(|n| format!("route del {n} dev {device}\n"));
    let add = new.map(|n| format!("route replace {n} dev {device}\n"));
    delete.chain(add).collect()
}

/// Runs commands of iproute2.
fn ip(commands: &str) -> std::result::Result<(), RunError> {
    let run = || -> Result<std::process::Output> {
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
    match run() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr);
            let first = text.lines().next().unwrap_or("no reason given");
            Err(RunError::Unable(format!(
                "addresses and routes cannot be set: ip: {first}"
            )))
        }
        Err(e) if e.kind() == ErrorKind::NotFound => Err(RunError::Unable(
            "there is no program \"ip\" (iproute2) to set addresses and routes with".into(),
        )),
        Err(e) => Err(RunError::Unable(format!(
            "the program \"ip\" cannot be run: {e}"
        ))),
    }
}
