//! TUN devices, which exchange packets with the kernel's TCP.
//!
//! A connection of the kernel has a device at each end, in the namespace of its node. The route to
//! the other end leads through that device. The devices have no offloads, so packets are not
//! merged into larger ones.

use crate::LiveError;
use crate::namespace::{Namespace, ip};
use nix::errno::Errno;
use std::io::{Error, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The maximum number of packets queued in a device. The kernel drops packets that do not fit,
/// without back-pressure on connections. With packets of 1000 bytes this is 80 ms at 1 Gbps.
const QUEUE: usize = 10_000;

/// A TUN device.
pub struct Tun(SyncDevice);

impl Tun {
    /// Creates a device in a namespace, with this name and for packets of up to `mtu` bytes. It has
    /// the address `here` and the route to `there`. `ecn` makes connections to `there` negotiate
    /// ECN.
    pub fn open(
        namespace: &Namespace,
        name: &str,
        (here, there): (Ipv4Addr, Ipv4Addr),
        mtu: u64,
        ecn: bool,
    ) -> std::result::Result<Tun, LiveError> {
        let tun = Tun::create(namespace, name)?;
        let ecn = if ecn { " features ecn" } else { "" };
        let commands = format!(
            "link set {name} mtu {mtu} txqueuelen {QUEUE}\n\
             address add {here}/32 dev {name}\n\
             link set {name} up\n\
             route add {there}/32 dev {name} src {here}{ecn}\n"
        );
        ip(namespace, &commands)?;
        Ok(tun)
    }

    /// Creates a device without an address, with routes to these destinations.
    pub fn open_onward(
        namespace: &Namespace,
        name: &str,
        places: &[Ipv4Addr],
        mtu: u64,
    ) -> std::result::Result<Tun, LiveError> {
        let tun = Tun::create(namespace, name)?;
        let mut commands = format!("link set {name} mtu {mtu} txqueuelen {QUEUE} up\n");
        for place in places {
            commands += &format!("route add {place}/32 dev {name}\n");
        }
        ip(namespace, &commands)?;
        Ok(tun)
    }

    fn create(namespace: &Namespace, name: &str) -> std::result::Result<Tun, LiveError> {
        let device = namespace.within(|| {
            let device = DeviceBuilder::new().name(name).build_sync()?;
            device.set_nonblocking(true)?;
            // This prevents IPv6 router solicitations. Some kernels have no IPv6.
            let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
            Ok(device)
        })?;
        let device = device.map_err(|e: Error| LiveError::system("open a TUN device", e))?;
        Ok(Tun(device))
    }

    /// Takes a packet that the kernel has sent, if there is one.
    pub fn receive(&self, packet: &mut [u8]) -> Result<Option<usize>> {
        match self.0.recv(packet) {
            Ok(length) => Ok(Some(length)),
            Err(e) if is(&e, Errno::EAGAIN) || is(&e, Errno::EINTR) => Ok(None),
            Err(e) => Err(e),
        }
    }

    /// Gives a packet to the kernel. Returns `false` if the kernel did not take it.
    pub fn send(&self, packet: &[u8]) -> Result<bool> {
        match self.0.send(packet) {
            Ok(_) => Ok(true),
            Err(e) if is(&e, Errno::EAGAIN) || is(&e, Errno::ENOBUFS) => Ok(false),
            Err(e) => Err(e),
        }
    }
}

fn is(e: &Error, errno: Errno) -> bool {
    e.raw_os_error() == Some(errno as i32)
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl std::fmt::Debug for Tun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tun").field(&self.0.as_fd()).finish()
    }
}
