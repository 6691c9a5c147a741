//! A UDP socket that tells and is told the DSCP and ECN of each packet, and when it came.

use crate::clock::Clock;
use accord_units::Time;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrIn, recvmsg, sendmsg, setsockopt,
    sockopt,
};
use nix::sys::time::TimeSpec;
use std::io::{IoSlice, IoSliceMut, Result};
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

/// Room for what comes while the thread is busy or not scheduled. The kernel gives less if it
/// has to, and what is lost for it is noticed.
const BUFFER: usize = 4 << 20;

/// A socket of a node.
#[derive(Debug)]
pub struct Socket {
    udp: UdpSocket,
}

/// What came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Received {
    /// When, by the kernel's stamp.
    pub at: Time,
    /// DSCP and ECN.
    pub tos: u8,
    /// How many bytes.
    pub len: usize,
}

impl Socket {
    /// A socket with this address; port 0 for any.
    pub fn bind(address: SocketAddrV4) -> Result<Socket> {
        let udp = UdpSocket::bind(address)?;
        udp.set_nonblocking(true)?;
        setsockopt(&udp, sockopt::IpRecvTos, &true)?;
        setsockopt(&udp, sockopt::ReceiveTimestampns, &true)?;
        setsockopt(&udp, sockopt::RcvBuf, &BUFFER)?;
        setsockopt(&udp, sockopt::SndBuf, &BUFFER)?;
        Ok(Socket { udp })
    }

    /// Room for what [`Socket::receive`] is told beside a datagram.
    pub fn control() -> Vec<u8> {
        nix::cmsg_space!(u8, TimeSpec)
    }

    /// Its port.
    pub fn port(&self) -> Result<u16> {
        Ok(self.udp.local_addr()?.port())
    }

    /// Sends a datagram; `false` if the kernel had no room for it.
    pub fn send(&self, to: SocketAddrV4, tos: u8, datagram: &[u8]) -> Result<bool> {
        let slices = [IoSlice::new(datagram)];
        let control = [ControlMessage::Ipv4Tos(&tos)];
        let to = SockaddrIn::from(to);
        let fd = self.udp.as_raw_fd();
        loop {
            match sendmsg(fd, &slices, &control, MsgFlags::empty(), Some(&to)) {
                Ok(_) => return Ok(true),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN | Errno::ENOBUFS) => return Ok(false),
                Err(e) => return Err(e.into()),
            }
        }
    }

    /// Takes a datagram, if there is one; what does not fit into `datagram` is cut off.
    pub fn receive(
        &self,
        clock: &Clock,
        control: &mut [u8],
        datagram: &mut [u8],
    ) -> Result<Option<Received>> {
        let mut slices = [IoSliceMut::new(datagram)];
        let fd = self.udp.as_raw_fd();
        let received = loop {
            let control = Some(&mut *control);
            match recvmsg::<SockaddrIn>(fd, &mut slices, control, MsgFlags::empty()) {
                Ok(received) => break received,
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return Ok(None),
                Err(e) => return Err(e.into()),
            }
        };
        let (mut tos, mut at) = (0, None);
        for message in received.cmsgs()? {
            match message {
                ControlMessageOwned::Ipv4Tos(value) => tos = value,
                ControlMessageOwned::ScmTimestampns(stamp) => at = Some(clock.of_stamp(stamp)),
                _ => {}
            }
        }
        Ok(Some(Received {
            at: at.unwrap_or_else(|| clock.now()),
            tos,
            len: received.bytes,
        }))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.udp.as_fd()
    }
}
