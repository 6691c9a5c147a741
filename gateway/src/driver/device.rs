//! The TUN device.

use super::notify::Manager;
use super::refused::Refused;
use super::ways::Ways;
use crate::config::Site;
use crate::error::RunError;
use accord_host::offload::{Coalescer, LONGEST, Splitter};
use nix::errno::Errno;
use nix::unistd::{read, write};
use std::io::Error;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use tun_rs::DeviceBuilder;

/// The number of attempts to open a device in use, 20 ms apart.
const TRIES: u32 = 50;

accord_units::words! {
    /// The offloads of a device.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Offload by word {
        /// A read is a packet.
        None = "none",
        /// Coalesces and segments packets of TCP.
        Tcp = "tcp",
        /// Also those of UDP: Linux 6.2 and later.
        Udp = "udp",
    }
}

/// The TUN device of a gateway.
pub struct Device {
    tun: OwnedFd,
    name: String,
    offload: Offload,
    room: Vec<u8>,
    splitter: Splitter,
    coalescer: Coalescer,
    /// The ways that lead to the device.
    pub ways: Ways,
    /// True if routes and rules stay when this value is dropped.
    stays: bool,
    /// The packets that the kernel did not take, or that it passed in a wrong form.
    pub refused: Refused,
}

impl Device {
    /// Opens the device with the addresses of the site and the routes to its peers. Takes the device from the
    /// service manager, or passes it to the manager for the next start.
    pub fn open(
        site: &Site,
        kept: &mut Vec<(String, OwnedFd)>,
        manager: &Manager,
    ) -> Result<Device, RunError> {
        let name = &site.interface.device;
        let label = |offload: Offload| label(name, offload);
        let able: &[Offload] =
            if site.interface.offload { &[Offload::Udp, Offload::Tcp] } else { &[Offload::None] };
        let found = able.iter().find_map(|offload| {
            let at = kept.iter().position(|(there, _)| *there == label(*offload))?;
            Some((kept.swap_remove(at).1, *offload))
        });
        // Other kept devices belong to another site file.
        let mut stale = false;
        kept.retain(|(there, _)| {
            let device = there.starts_with("tun-");
            if device {
                manager.forget(there);
                stale = true;
            }
            !device
        });
        let (tun, offload) = match found {
            Some(found) => found,
            None => {
                let found = create(site, stale)?;
                manager.keep(&label(found.1), found.0.as_fd());
                found
            }
        };
        let mut ways = Ways::new(site);
        ways.guard()?;
        // A device that was removed must not be handed over again.
        ways.set(site.interface.mtu).inspect_err(|_| manager.forget(&label(offload)))?;
        // If the device or a guard stays, the rules also stay, so packets of the site take no other
        // way.
        let stays = site.interface.persist || site.interface.guard || manager.is_there();
        Ok(Device {
            tun,
            name: name.clone(),
            offload,
            room: vec![0; LONGEST],
            splitter: Splitter::default(),
            coalescer: Coalescer::new(offload != Offload::None, offload == Offload::Udp),
            ways,
            stays,
            refused: Refused::default(),
        })
    }

    /// The name by which the service manager keeps the device.
    pub fn label(&self) -> String {
        label(&self.name, self.offload)
    }

    /// Returns the device and its name, for the next driver of this process. Its routes and rules stay.
    pub fn hand_over(&mut self) -> std::io::Result<(String, OwnedFd)> {
        let tun = self.tun.try_clone()?;
        self.stays = true;
        Ok((self.label(), tun))
    }

    /// Returns whether TCP and UDP packets are joined on their way to and from the device.
    pub fn joins(&self) -> (bool, bool) {
        self.coalescer.joins()
    }

    /// Takes the packets that the kernel has sent. Returns their number.
    pub fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> std::io::Result<usize> {
        let length = match read(&self.tun, &mut self.room) {
            Ok(length) => length,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(0),
            Err(e) => return Err(e.into()),
        };
        if self.offload == Offload::None {
            take(&self.room[..length]);
            return Ok(1);
        }
        let mut count = 0;
        let split = self.splitter.split(&mut self.room[..length], &mut |packet| {
            count += 1;
            take(packet);
        });
        if split.is_err() {
            self.refused.add(1, Errno::EPROTO);
        }
        Ok(count.max(1))
    }

    /// Adds a packet to those that [`Device::flush`] passes to the kernel.
    pub fn push(&mut self, packet: &[u8]) {
        if self.offload == Offload::None {
            if let Err(e) = write(&self.tun, packet) {
                self.refused.add(1, e);
            }
            return;
        }
        if self.coalescer.is_full() {
            self.flush();
        }
        self.coalescer.push(packet);
    }

    /// Writes the waiting packets to the kernel. A device that is down takes none.
    pub fn flush(&mut self) {
        let (tun, refused) = (&self.tun, &mut self.refused);
        self.coalescer.flush(&mut |bytes| write(tun, bytes).map(drop), &mut |count, done| {
            if let Err(e) = done {
                refused.add(count.into(), e);
            }
        });
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if !self.stays {
            self.ways.remove();
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

fn label(name: &str, offload: Offload) -> String {
    format!("tun-{name}-{}", offload.word())
}

/// Creates the device. `again` is true if the service manager may still hold it for a moment.
fn create(site: &Site, again: bool) -> Result<(OwnedFd, Offload), RunError> {
    let name = &site.interface.device;
    let open = |offload: bool| {
        let builder = DeviceBuilder::new().name(name);
        let tun = builder.with(|b| _ = b.offload(offload)).build_sync()?;
        tun.set_nonblocking(true)?;
        if site.interface.persist {
            tun.persist()?;
        }
        let offload = match (tun.tcp_gso(), tun.udp_gso()) {
            (true, true) => Offload::Udp,
            (true, false) => Offload::Tcp,
            _ => Offload::None,
        };
        Ok((tun.as_fd().try_clone_to_owned()?, offload))
    };
    let busy = |e: &Error| e.raw_os_error() == Some(Errno::EBUSY as i32);
    let mut tries = if again { TRIES } else { 0 };
    loop {
        // A kernel without offloads rejects them.
        match open(site.interface.offload).or_else(|_| open(false)) {
            Ok(opened) => return Ok(opened),
            Err(e) if tries > 0 && busy(&e) => {
                tries -= 1;
                #[allow(clippy::disallowed_methods, reason = "it waits for what another one does")]
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(e) => {
                let why = match e.raw_os_error().map(Errno::from_raw) {
                    Some(Errno::EBUSY) => "; another program has it",
                    Some(Errno::EPERM | Errno::EACCES) => "; CAP_NET_ADMIN is needed",
                    Some(Errno::ENOENT | Errno::ENODEV | Errno::ENXIO) => {
                        "; the kernel module tun is needed"
                    }
                    _ => "",
                };
                let message = format!("device {name} cannot be opened: {e}{why}");
                return Err(RunError::Unable(message));
            }
        }
    }
}
