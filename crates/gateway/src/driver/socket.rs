//! The UDP socket, with the octet of DSCP and ECN of each datagram in both directions, and the time
//! at which each one arrived.

use super::clock::Clock;
use accord_units::Time;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrStorage, recvmmsg,
    sendmmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use std::io::{IoSlice, IoSliceMut, Result};
use std::net::{SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The bytes for datagrams that arrive while the thread is busy. The kernel may give less.
const BUFFER: usize = 4 << 20;
/// The most datagrams that go to or from the kernel at once.
const BATCH: usize = 64;
/// The longest datagram. That of a peer is no longer than the MTU of the path.
const LONGEST: usize = 1 << 16;

/// The socket and its buffers.
pub struct Socket {
    udp: UdpSocket,
    incoming: MultiHeaders<SockaddrStorage>,
    outgoing: MultiHeaders<SockaddrStorage>,
    buffers: Vec<Vec<u8>>,
    /// Datagrams to send, as many as `waiting`. The others are room.
    out: Vec<(SocketAddr, u8, Vec<u8>)>,
    waiting: usize,
    /// The datagrams that the kernel did not take.
    pub refused: u64,
}

impl Socket {
    /// Creates a socket with this address.
    pub fn bind(address: SocketAddr) -> Result<Socket> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        match address.is_ipv4() {
            true => setsockopt(&udp, sockopt::IpRecvTos, &true)?,
            false => setsockopt(&udp, sockopt::Ipv6RecvTClass, &true)?,
        }
        setsockopt(&udp, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&udp, sockopt::RcvBuf, &BUFFER)?;
        setsockopt(&udp, sockopt::SndBuf, &BUFFER)?;
        let told = nix::cmsg_space!(i32, TimeSpec);
        Ok(Socket {
            udp,
            incoming: MultiHeaders::preallocate(BATCH, Some(told)),
            outgoing: MultiHeaders::preallocate(BATCH, Some(nix::cmsg_space!(i32))),
            buffers: vec![vec![0; LONGEST]; BATCH],
            out: Vec::new(),
            waiting: 0,
            refused: 0,
        })
    }

    /// Adds a datagram to those that [`Socket::flush`] sends.
    pub fn push(&mut self, to: SocketAddr, tos: u8, bytes: &[u8]) {
        if self.waiting == self.out.len() {
            self.out.push((to, tos, Vec::new()));
        }
        let place = &mut self.out[self.waiting];
        (place.0, place.1) = (to, tos);
        place.2.clear();
        place.2.extend_from_slice(bytes);
        self.waiting += 1;
    }

    /// Sends all datagrams that wait, in their order. Those that the kernel has no room for are lost,
    /// as they would be further on.
    pub fn flush(&mut self) {
        let mut first = 0;
        while first < self.waiting {
            let tos = self.out[first].1;
            let rest = &self.out[first..self.waiting];
            let alike = rest.iter().take(BATCH).take_while(|(_, t, _)| *t == tos);
            let count = alike.count();
            let sent = send(&self.udp, &mut self.outgoing, tos, &rest[..count]);
            self.refused += (count - sent) as u64;
            first += count;
        }
        self.waiting = 0;
    }

    /// Takes datagrams that have arrived: where they are from, the octet, when, and the bytes. Returns
    /// how many there were.
    pub fn receive(
        &mut self,
        clock: &Clock,
        mut take: impl FnMut(SocketAddr, u8, Time, &[u8]),
    ) -> Result<usize> {
        let buffers = self.buffers.iter_mut();
        let mut slices: Vec<[IoSliceMut; 1]> = buffers.map(|b| [IoSliceMut::new(b)]).collect();
        let (fd, slots) = (self.udp.as_raw_fd(), slices.iter_mut());
        let received = match recvmmsg(fd, &mut self.incoming, slots, MsgFlags::empty(), None) {
            Ok(received) => received,
            // An error that a datagram caused which was sent before, such as an unreachable port.
            Err(Errno::EINTR | Errno::EAGAIN | Errno::ECONNREFUSED) => return Ok(0),
            Err(e) => return Err(e.into()),
        };
        let calendar = clock.calendar();
        let mut count = 0;
        for message in received {
            let (mut tos, mut at) = (0, clock.now());
            for told in message.cmsgs()? {
                match told {
                    ControlMessageOwned::Ipv4Tos(value) => tos = value,
                    ControlMessageOwned::Ipv6TClass(value) => tos = value as u8,
                    ControlMessageOwned::ScmTimestampns(stamp) => at = calendar.time(stamp),
                    _ => {}
                }
            }
            let Some(from) = message.address.as_ref().and_then(address) else {
                continue;
            };
            take(from, tos, at, message.iovs().next().unwrap_or_default());
            count += 1;
        }
        Ok(count)
    }
}

/// Sends datagrams with the same octet. Returns how many the kernel took.
fn send(
    udp: &UdpSocket,
    outgoing: &mut MultiHeaders<SockaddrStorage>,
    tos: u8,
    datagrams: &[(SocketAddr, u8, Vec<u8>)],
) -> usize {
    let slices = datagrams.iter().map(|(_, _, bytes)| [IoSlice::new(bytes)]);
    let slices: Vec<[IoSlice; 1]> = slices.collect();
    let to = datagrams
        .iter()
        .map(|(to, _, _)| Some(SockaddrStorage::from(*to)));
    let to: Vec<Option<SockaddrStorage>> = to.collect();
    let class = i32::from(tos);
    let control = match datagrams.first() {
        Some((SocketAddr::V6(_), _, _)) => [ControlMessage::Ipv6TClass(&class)],
        _ => [ControlMessage::Ipv4Tos(&tos)],
    };
    loop {
        match sendmmsg(
            udp.as_raw_fd(),
            outgoing,
            &slices,
            &to,
            control,
            MsgFlags::empty(),
        ) {
            Ok(sent) => return sent.count(),
            Err(Errno::EINTR) => {}
            // Whatever it is, a route that is missing or a full queue: the network does not take it.
            Err(_) => return 0,
        }
    }
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    match (storage.as_sockaddr_in(), storage.as_sockaddr_in6()) {
        (Some(a), _) => Some(SocketAddrV4::from(*a).into()),
        (None, Some(a)) => Some(SocketAddrV6::from(*a).into()),
        (None, None) => None,
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.udp.as_fd()
    }
}
