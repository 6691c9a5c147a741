//! A UDP socket with the DSCP and ECN of each packet, in both directions, and the time at which
//! each packet arrived. Packets go to and from the kernel in batches.

use accord_host::Clock;
use accord_units::{Duration, Time};
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, recvmmsg, sendmmsg,
    setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use std::io::{IoSlice, IoSliceMut, Result};
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// The size of a socket's buffer in bytes, for arrivals while the thread is busy or not scheduled.
/// The kernel may allow less. Losses due to that are detected.
const BUFFER: usize = 4 << 20;

/// The socket of a node.
#[derive(Debug)]
pub struct Socket {
    udp: UdpSocket,
}

/// A datagram that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received<'a> {
    /// The arrival time, by the kernel's stamp.
    pub at: Time,
    /// The octet of DSCP and ECN.
    pub tos: u8,
    /// The bytes.
    pub datagram: &'a [u8],
}

/// The maximum number of packets per system call.
pub const BATCH: usize = 64;
/// The longest datagram, in bytes.
const LONGEST: usize = 1 << 16;

/// The buffers of a thread for batches in both directions.
#[derive(Debug)]
pub struct Exchange {
    incoming: MultiHeaders<SockaddrIn>,
    outgoing: MultiHeaders<SockaddrIn>,
    buffers: Vec<Vec<u8>>,
}

impl Exchange {
    /// Creates buffers for a batch in each direction.
    pub fn new() -> Exchange {
        let control = nix::cmsg_space!(u8, TimeSpec);
        Exchange {
            incoming: MultiHeaders::preallocate(BATCH, Some(control)),
            outgoing: MultiHeaders::preallocate(BATCH, Some(nix::cmsg_space!(u8))),
            buffers: vec![vec![0; LONGEST]; BATCH],
        }
    }
}

impl Socket {
    /// Creates a socket with this address. Port 0 is any port.
    pub fn bind(address: SocketAddrV4) -> Result<Socket> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        setsockopt(&udp, sockopt::IpRecvTos, &true)?;
        setsockopt(&udp, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&udp, sockopt::RcvBuf, &BUFFER)?;
        setsockopt(&udp, sockopt::SndBuf, &BUFFER)?;
        Ok(Socket { udp })
    }

    /// Returns the port of the socket.
    pub fn port(&self) -> Result<u16> {
        Ok(self.udp.local_addr()?.port())
    }

    /// Sends datagrams with the same DSCP and ECN, up to [`BATCH`]. Returns the number that the
    /// kernel accepted, from the first on; it is smaller if the kernel had no room.
    pub fn send(
        &self,
        exchange: &mut Exchange,
        tos: u8,
        datagrams: &[(SocketAddrV4, &[u8])],
    ) -> Result<usize> {
        let slices: Vec<[IoSlice; 1]> =
            (datagrams.iter()).map(|(_, bytes)| [IoSlice::new(bytes)]).collect();
        let to: Vec<Option<SockaddrIn>> =
            (datagrams.iter()).map(|(to, _)| Some(SockaddrIn::from(*to))).collect();
        let control = [ControlMessage::Ipv4Tos(&tos)];
        let fd = self.udp.as_raw_fd();
        loop {
            let outgoing = &mut exchange.outgoing;
            match sendmmsg(fd, outgoing, &slices, &to, control, MsgFlags::empty()) {
                Ok(sent) => return Ok(sent.count()),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN | Errno::ENOBUFS) => return Ok(0),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Takes up to [`BATCH`] datagrams that have arrived, and returns their number.
    pub fn receive(
        &self,
        exchange: &mut Exchange,
        clock: &Clock,
        mut take: impl FnMut(Received),
    ) -> Result<usize> {
        let Exchange { incoming, buffers, .. } = exchange;
        let mut slices: Vec<[IoSliceMut; 1]> =
            (buffers.iter_mut()).map(|buffer| [IoSliceMut::new(buffer)]).collect();
        let fd = self.udp.as_raw_fd();
        let slots = slices.iter_mut();
        let received = match recvmmsg(fd, incoming, slots, MsgFlags::empty(), None) {
            Ok(received) => received,
            Err(Errno::EINTR | Errno::EAGAIN) => return Ok(0),
            Err(e) => return Err(e.into()),
        };
        let (calendar, now) = (clock.calendar(), clock.now());
        let mut count = 0;
        for message in received {
            let (mut tos, mut at) = (0, now);
            for control in message.cmsgs()? {
                match control {
                    ControlMessageOwned::Ipv4Tos(value) => tos = value,
                    ControlMessageOwned::ScmTimestampns(stamp) => {
                        at = calendar.time(stamp, Duration::MAX).min(now)
                    }
                    _ => {}
                }
            }
            let datagram = message.iovs().next().unwrap_or_default();
            take(Received { at, tos, datagram });
            count += 1;
        }
        Ok(count)
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.udp.as_fd()
    }
}
