//! TUN devices, which exchange packets with the kernel's TCP.
//!
//! A connection of the kernel has a device at each end, in the namespace of its node. The route to
//! the other end leads through that device. The kernel passes on several segments at once, which are
//! cut here. It takes packets one by one.

use crate::LiveError;
use crate::namespace::{Namespace, ip};
use accord_host::offload::{Coalescer, HEADER, LONGEST, Splitter};
use nix::errno::Errno;
use nix::sys::uio::writev;
use nix::unistd::{read, write};
use std::io::{Error, IoSlice, Result};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use tun_rs::{DeviceBuilder, SyncDevice};

/// The maximum number of packets queued in a device. The kernel drops packets that do not fit,
/// without back-pressure on connections. With packets of 1000 bytes this is 80 ms at 1 Gbps.
const QUEUE: usize = 10_000;

/// A TUN device.
pub struct Tun {
    device: SyncDevice,
    /// True if packets have the header of offloads in front.
    offload: bool,
}

/// The room for packets that the kernel passes on.
pub struct Room {
    bytes: Vec<u8>,
    splitter: Splitter,
}

impl Room {
    /// Creates the room of a thread.
    pub fn new() -> Room {
        Room { bytes: vec![0; LONGEST], splitter: Splitter::default() }
    }
}

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
        let open = |offload: bool| {
            DeviceBuilder::new().name(name).with(|b| _ = b.offload(offload)).build_sync()
        };
        let device = namespace.within(|| {
            // A kernel without offloads rejects them.
            let device = open(true).or_else(|_| open(false))?;
            device.set_nonblocking(true)?;
            // This prevents IPv6 router solicitations. Some kernels have no IPv6.
            let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
            Ok(device)
        })?;
        let device = device.map_err(|e: Error| LiveError::system("open a TUN device", e))?;
        let offload = device.tcp_gso();
        Ok(Tun { device, offload })
    }

    /// Takes the next packets that the kernel has sent: one, or the segments of one. Returns `false` if there
    /// are none.
    pub fn receive(&self, room: &mut Room, mut take: impl FnMut(&[u8])) -> Result<bool> {
        let length = match read(&self.device, &mut room.bytes) {
            Ok(length) => length,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(false),
            Err(e) => return Err(e.into()),
        };
        let packet = &mut room.bytes[..length];
        if self.offload {
            // A program can write packets whose header is wrong. They go nowhere, as on a real link.
            let _ = room.splitter.split(packet, &mut take);
        } else {
            take(packet);
        }
        Ok(true)
    }

    /// Returns the place for packets that are given to the kernel together.
    pub fn coalescer(&self) -> Coalescer {
        Coalescer::new(self.offload, self.offload && self.device.udp_gso())
    }

    /// Gives the packets of a coalescer to the kernel, joined if there are offloads. Tells `taken` of each write
    /// whether the kernel took it.
    pub fn send_joined(&self, joined: &mut Coalescer, mut taken: impl FnMut(bool)) {
        let from = if self.offload { 0 } else { HEADER };
        let mut give = |bytes: &[u8]| write(&self.device, &bytes[from..]).map(drop);
        joined.flush(&mut give, &mut |_, done| taken(done.is_ok()));
    }

    /// Gives a packet to the kernel. Returns `false` if the kernel did not take it.
    pub fn send(&self, packet: &[u8]) -> Result<bool> {
        let header = if self.offload { &[0; HEADER][..] } else { &[] };
        match writev(&self.device, &[IoSlice::new(header), IoSlice::new(packet)]) {
            Ok(_) => Ok(true),
            Err(Errno::EAGAIN | Errno::ENOBUFS) => Ok(false),
            Err(e) => Err(e.into()),
        }
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl std::fmt::Debug for Tun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Tun").field(&self.device.as_fd()).finish()
    }
}
