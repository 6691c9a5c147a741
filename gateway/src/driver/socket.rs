//! The UDP socket, with the octet of DSCP and ECN of each datagram in both directions, and the time
//! of each arrival.
//!
//! Datagrams of the same size and the same way form one message to the kernel, which cuts it as late as
//! possible (`UDP_SEGMENT`). Arriving datagrams are also joined (`UDP_GRO`), but only if their octets are
//! equal.

use super::notify::Manager;
use super::refused::Refused;
use crate::peer::Way;
use accord_host::Clock;
use accord_units::{Duration, Time};
use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType,
    SockaddrStorage, getsockopt, recvmsg, sendmsg, setsockopt, sockopt,
};
use nix::sys::time::TimeSpec;
use nix::{libc, setsockopt_impl, sockopt_impl};
use std::collections::BTreeMap;
use std::io::{IoSlice, IoSliceMut, Result};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

sockopt_impl!(
    /// The treatment of datagrams that may be too large for the path.
    MtuDiscover, SetOnly, libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, i32
);
sockopt_impl!(
    /// The same of IPv6.
    MtuDiscoverV6, SetOnly, libc::IPPROTO_IPV6, libc::IPV6_MTU_DISCOVER, i32
);

/// The name by which the service manager keeps the socket.
const NAME: &str = "udp";
/// The size of the buffer for datagrams that arrive while the thread is busy, in bytes. The kernel
/// may grant less.
const BUFFER: usize = 4 << 20;
/// The longest time between the time stamp of a datagram and its reading. A longer one means that
/// the clock was set.
const APART: Duration = Duration::from_secs(1);
/// The maximum number of messages that the kernel delivers at once. Each may contain many datagrams.
const BATCH: usize = 16;
/// The longest message.
const LONGEST: usize = 1 << 16;
/// The maximum number of callers whose called address is known.
const MOST_CALLERS: usize = 4096;
/// The most datagrams and bytes in a sent message. Kernels before 6.9 accept 64, and a message must fit into
/// an IP packet.
const MOST_SEGMENTS: usize = 64;
const MOST_BYTES: usize = 65_000;

/// The socket and its buffers.
pub struct Socket {
    udp: UdpSocket,
    /// True if the kernel represents IPv4 addresses as mapped IPv6 addresses.
    maps: bool,
    room: Vec<u8>,
    /// The room for control messages of the kernel.
    told: Vec<u8>,
    /// True if datagrams arrive joined.
    pub joins: bool,
    /// The outgoing datagrams.
    pub outgoing: Outgoing,
    /// True if datagrams are sent whole or not at all.
    whole: bool,
    /// Our own address that the peer at each address has called. Answers are sent from there, and so take the
    /// same way back. An address translator accepts no others.
    called: BTreeMap<SocketAddr, IpAddr>,
}

/// Datagrams that wait to be sent.
#[derive(Default)]
pub struct Outgoing {
    bytes: Vec<u8>,
    messages: Vec<Message>,
    /// The reason, if any, why the kernel does not cut messages.
    pub declined: Option<Errno>,
    /// The datagrams that the kernel did not take.
    pub refused: Refused,
}

/// Datagrams with the same way, one after the other. All have the same size, except that the last one may be
/// shorter.
struct Message {
    way: Way,
    segment: usize,
    start: usize,
    end: usize,
}

impl Socket {
    /// Creates a socket with this address, whose datagrams have a mark. `offload` says whether the kernel may
    /// join received datagrams and cut sent ones. Takes the socket from the service manager, or passes it to
    /// the manager for the next start.
    pub fn bind(
        address: SocketAddr,
        mark: Option<u32>,
        offload: bool,
        kept: &mut Vec<(String, OwnedFd)>,
        manager: &Manager,
    ) -> Result<Socket> {
        let mut found = None;
        if let Some(at) = kept.iter().position(|(name, _)| name == NAME) {
            let udp = UdpSocket::from(kept.swap_remove(at).1);
            found = udp.local_addr().is_ok_and(|own| own == address).then_some(udp);
            if found.is_none() {
                manager.forget(NAME);
            }
        }
        let udp = match found {
            Some(udp) => udp,
            None => {
                let udp = bound(address)?;
                manager.keep(NAME, udp.as_fd());
                udp
            }
        };
        udp.set_nonblocking(true)?;
        // A kept socket may have another mark.
        if mark.is_some() || getsockopt(&udp, sockopt::Mark).is_ok_and(|m| m != 0) {
            setsockopt(&udp, sockopt::Mark, &mark.unwrap_or(0))?;
        }
        if address.is_ipv6() {
            setsockopt(&udp, sockopt::Ipv6RecvTClass, &true)?
        }
        // An IPv6 socket may also carry IPv4.
        setsockopt(&udp, sockopt::IpRecvTos, &true)?;
        if address.is_ipv6() {
            setsockopt(&udp, sockopt::Ipv6RecvPacketInfo, &true)?;
        } else {
            setsockopt(&udp, sockopt::Ipv4PacketInfo, &true)?;
        }
        setsockopt(&udp, sockopt::ReceiveTimestampns, &true)?;
        // With CAP_NET_ADMIN the buffer may exceed the usual limit.
        if setsockopt(&udp, sockopt::RcvBufForce, &BUFFER).is_err() {
            setsockopt(&udp, sockopt::RcvBuf, &BUFFER)?;
        }
        if setsockopt(&udp, sockopt::SndBufForce, &BUFFER).is_err() {
            setsockopt(&udp, sockopt::SndBuf, &BUFFER)?;
        }
        // A kept socket may already have the option.
        let joins = setsockopt(&udp, sockopt::UdpGroSegment, &offload).is_ok() && offload;
        // Messages are not cut unless requested. The result here shows whether the kernel can do
        // it.
        let cuts = setsockopt(&udp, sockopt::UdpGsoSegment, &0);
        let declined = if offload { cuts.err() } else { Some(Errno::EOPNOTSUPP) };
        let whole = false;
        set_whole(&udp, whole)?;
        Ok(Socket {
            udp,
            maps: address.is_ipv6(),
            room: vec![0; LONGEST],
            told: nix::cmsg_space!(i32, i32, i32, TimeSpec, libc::in6_pktinfo),
            joins,
            outgoing: Outgoing { declined, ..Outgoing::default() },
            whole,
            called: BTreeMap::new(),
        })
    }

    /// Returns the socket and its name, for the next driver of this process.
    pub fn hand_over(&self) -> Result<(String, OwnedFd)> {
        Ok((NAME.into(), self.udp.as_fd().try_clone_to_owned()?))
    }

    /// Sends all waiting datagrams in order. Those for which the kernel has no room are lost, as they would
    /// be later in the network.
    pub fn flush(&mut self) {
        let (udp, maps, whole) = (&self.udp, self.maps, &mut self.whole);
        let called = &mut self.called;
        self.outgoing.flush(|way, segment, bytes| {
            if way.whole != *whole {
                set_whole(udp, way.whole)?;
                *whole = way.whole;
            }
            let from = called.get(&way.to).copied();
            match send(udp, maps, way, from, segment, bytes) {
                // The address is no longer one of this host.
                Err(Errno::EINVAL | Errno::EADDRNOTAVAIL | Errno::ENETUNREACH)
                    if from.is_some() =>
                {
                    let sent = send(udp, maps, way, None, segment, bytes);
                    if sent.is_ok() {
                        called.remove(&way.to);
                    }
                    sent
                }
                sent => sent,
            }
        });
    }

    /// Takes datagrams that have arrived: source, octet, time of arrival and bytes. Answers are added to the
    /// outgoing datagrams. `take` returns whether a peer has sent a datagram. Returns the number of
    /// datagrams.
    pub fn receive(
        &mut self,
        clock: &Clock,
        mut take: impl FnMut(&mut Outgoing, SocketAddr, u8, Time, &[u8]) -> bool,
    ) -> Result<usize> {
        let (calendar, mut count) = (clock.calendar(), 0);
        // This does not use recvmmsg, because nix leaves the room for control messages as short as the last
        // message needed.
        for _ in 0..BATCH {
            let mut slices = [IoSliceMut::new(&mut self.room)];
            let (fd, told) = (self.udp.as_raw_fd(), Some(&mut self.told[..]));
            let message = match recvmsg::<SockaddrStorage>(fd, &mut slices, told, MsgFlags::empty())
            {
                Ok(message) => message,
                Err(Errno::EAGAIN) => break,
                // An error caused by a datagram sent earlier, such as an unreachable port.
                Err(Errno::EINTR | Errno::ECONNREFUSED) => continue,
                Err(e) => return Err(e.into()),
            };
            let (mut tos, mut at, mut segment) = (0, clock.now(), 0);
            let mut own = None;
            for told in message.cmsgs()? {
                match told {
                    ControlMessageOwned::Ipv4Tos(value) => tos = value,
                    ControlMessageOwned::Ipv6TClass(value) => tos = value as u8,
                    ControlMessageOwned::ScmTimestampns(stamp) => at = calendar.time(stamp, APART),
                    ControlMessageOwned::UdpGroSegments(size) => segment = size,
                    ControlMessageOwned::Ipv4PacketInfo(info) => {
                        own = Some(Ipv4Addr::from(info.ipi_addr.s_addr.to_ne_bytes()).into());
                    }
                    ControlMessageOwned::Ipv6PacketInfo(info) => {
                        own = Some(Ipv6Addr::from(info.ipi6_addr.s6_addr).to_canonical());
                    }
                    _ => {}
                }
            }
            let (Some(from), length) = (message.address.as_ref().and_then(address), message.bytes)
            else {
                continue;
            };
            let segment = match usize::try_from(segment) {
                Ok(size @ 1..) => size,
                _ => LONGEST,
            };
            let mut authentic = false;
            for datagram in self.room[..length].chunks(segment) {
                authentic |= take(&mut self.outgoing, from, tos, at, datagram);
                count += 1;
            }
            if let Some(own) = own.filter(|_| authentic)
                && self.called.get(&from) != Some(&own)
            {
                if self.called.len() >= MOST_CALLERS {
                    self.called.clear();
                }
                self.called.insert(from, own);
            }
        }
        Ok(count)
    }
}

impl Outgoing {
    /// Adds a datagram to those that [`Socket::flush`] sends.
    pub fn push(&mut self, way: Way, bytes: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        let end = self.bytes.len();
        if let Some(last) = self.messages.last_mut() {
            let length = last.end - last.start;
            if last.way == way
                && length % last.segment.max(1) == 0
                && length < last.segment * MOST_SEGMENTS
                && length + bytes.len() <= MOST_BYTES
                && bytes.len() <= last.segment
            {
                last.end = end;
                return;
            }
        }
        self.messages.push(Message { way, segment: bytes.len(), start, end });
    }

    /// Sends all datagrams with a function that sends bytes, in segments of a length if one is
    /// given.
    fn flush(&mut self, mut send: impl FnMut(&Way, Option<u16>, &[u8]) -> nix::Result<()>) {
        for Message { way, segment, start, end } in self.messages.drain(..) {
            let (bytes, segment) = (&self.bytes[start..end], segment.max(1));
            let count = bytes.len().div_ceil(segment) as u64;
            if count > 1 && self.declined.is_none() {
                match send(&way, Some(segment as u16), bytes) {
                    Ok(()) => continue,
                    // The route rejects packets of this size, but may accept shorter ones. The error is
                    // EINVAL before Linux 6.14.
                    Err(Errno::EMSGSIZE | Errno::EINVAL) => {}
                    // No device of this kind cuts messages.
                    Err(e @ (Errno::EIO | Errno::EOPNOTSUPP)) => self.declined = Some(e),
                    // For any reason, such as a missing route or a full queue, the host does not
                    // take it.
                    Err(e) => {
                        self.refused.add(count, e);
                        continue;
                    }
                }
            }
            for datagram in bytes.chunks(segment) {
                match send(&way, None, datagram) {
                    Ok(()) => {}
                    Err(Errno::EMSGSIZE) if way.whole => self.refused.add_long(),
                    Err(e) => self.refused.add(1, e),
                }
            }
        }
        self.bytes.clear();
    }
}

/// Sets whether datagrams are sent whole or not at all. Otherwise routers may cut them, and DF is not set.
/// ICMP messages about the path are believed only over IPv6, where only the kernel can cut.
fn set_whole(udp: &UdpSocket, whole: bool) -> nix::Result<()> {
    let (v4, v6) = if whole {
        (libc::IP_PMTUDISC_PROBE, libc::IPV6_PMTUDISC_PROBE)
    } else {
        (libc::IP_PMTUDISC_OMIT, libc::IPV6_PMTUDISC_WANT)
    };
    // An IPv6 socket may also carry IPv4.
    if udp.local_addr().is_ok_and(|own| own.is_ipv6()) {
        setsockopt(udp, MtuDiscoverV6, &v6)?;
    }
    setsockopt(udp, MtuDiscover, &v4)
}

/// Returns the source of a datagram in the forms of both families.
fn source(from: Option<IpAddr>) -> (libc::in_pktinfo, libc::in6_pktinfo) {
    let v4 = match from {
        Some(IpAddr::V4(v4)) => v4,
        _ => Ipv4Addr::UNSPECIFIED,
    };
    let v6 = match from {
        Some(IpAddr::V6(v6)) => v6,
        _ => v4.to_ipv6_mapped(),
    };
    let s_addr = u32::from_ne_bytes(v4.octets());
    (
        libc::in_pktinfo {
            ipi_ifindex: 0,
            ipi_spec_dst: libc::in_addr { s_addr },
            ipi_addr: libc::in_addr { s_addr: 0 },
        },
        libc::in6_pktinfo { ipi6_addr: libc::in6_addr { s6_addr: v6.octets() }, ipi6_ifindex: 0 },
    )
}

/// Sends bytes, in one datagram or in several of a length, from an address of this host if one is given.
/// `maps` is true for an IPv6 socket.
fn send(
    udp: &UdpSocket,
    maps: bool,
    way: &Way,
    from: Option<IpAddr>,
    segment: Option<u16>,
    bytes: &[u8],
) -> nix::Result<()> {
    let (class, length) = (i32::from(way.tos), segment.unwrap_or(0));
    let octet = match way.to {
        SocketAddr::V6(_) => ControlMessage::Ipv6TClass(&class),
        SocketAddr::V4(_) => ControlMessage::Ipv4Tos(&way.tos),
    };
    let (v4, v6) = source(from);
    let own = match from {
        // An IPv6 socket takes a mapped address.
        Some(IpAddr::V4(_)) if !maps => Some(ControlMessage::Ipv4PacketInfo(&v4)),
        Some(_) => Some(ControlMessage::Ipv6PacketInfo(&v6)),
        None => None,
    };
    let cut = segment.map(|_| ControlMessage::UdpGsoSegments(&length));
    let told: Vec<ControlMessage> = [Some(octet), own, cut].into_iter().flatten().collect();
    let to = match way.to {
        SocketAddr::V4(v4) if maps => SocketAddr::from((v4.ip().to_ipv6_mapped(), v4.port())),
        to => to,
    };
    let to = SockaddrStorage::from(to);
    loop {
        let slices = [IoSlice::new(bytes)];
        match sendmsg(udp.as_raw_fd(), &slices, &told, MsgFlags::empty(), Some(&to)) {
            Ok(_) => return Ok(()),
            Err(Errno::EINTR) => {}
            Err(e) => return Err(e),
        }
    }
}

/// Returns the address of a sender. A mapped address becomes an IPv4 address.
fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    match (storage.as_sockaddr_in(), storage.as_sockaddr_in6()) {
        (Some(a), _) => Some(SocketAddrV4::from(*a).into()),
        (None, Some(a)) => {
            let v6 = SocketAddrV6::from(*a);
            let v4 = v6.ip().to_ipv4_mapped();
            Some(v4.map_or(v6.into(), |v4| SocketAddr::from((v4, v6.port()))))
        }
        (None, None) => None,
    }
}

/// Creates a socket with this address. `[::]` also covers IPv4, regardless of the host's default.
fn bound(address: SocketAddr) -> Result<UdpSocket> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let family = if address.is_ipv4() { AddressFamily::Inet } else { AddressFamily::Inet6 };
    let socket = nix::sys::socket::socket(family, SockType::Datagram, flags, None)?;
    if address.is_ipv6() {
        setsockopt(&socket, sockopt::Ipv6V6Only, &!address.ip().is_unspecified())?;
    }
    nix::sys::socket::bind(socket.as_raw_fd(), &SockaddrStorage::from(address))?;
    Ok(UdpSocket::from(socket))
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.udp.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_host::Clock;
    use proptest::prelude::*;

    fn socket(offload: bool) -> Socket {
        let any = "127.0.0.1:0".parse().expect("an address");
        Socket::bind(any, None, offload, &mut Vec::new(), &Manager::default()).expect("bound")
    }

    fn way(to: SocketAddr, tos: u8) -> Way {
        Way { to, tos, whole: true }
    }

    /// Sends datagrams at once, and returns those that arrive.
    fn across(offload: bool, joins: bool, datagrams: &[(u8, Vec<u8>)]) -> Vec<(u8, Vec<u8>)> {
        let (mut from, mut to) = (socket(offload), socket(joins));
        let (clock, address) = (Clock::at_one_second(), to.udp.local_addr().expect("bound"));
        for (tos, bytes) in datagrams {
            from.outgoing.push(way(address, *tos), bytes);
        }
        from.flush();
        assert_eq!(from.outgoing.refused.count, 0);
        assert_eq!(from.outgoing.declined.is_some(), !offload, "loopback can cut");
        let mut arrived = Vec::new();
        // A datagram on loopback has arrived when the call returns.
        loop {
            let take = |_: &mut Outgoing, _, tos, _, bytes: &[u8]| {
                arrived.push((tos, bytes.to_vec()));
                false
            };
            if to.receive(&clock, take).expect("received") == 0 {
                return arrived;
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// For any cutting and joining, the same datagrams arrive in the same order with the same
        /// octet.
        #[test]
        fn datagrams_arrive_as_they_were_sent(
            kinds in prop::collection::vec((0..4usize, 0..8u8, 0..4usize), 1..120),
        ) {
            let datagrams: Vec<(u8, Vec<u8>)> = (kinds.iter().enumerate())
                .map(|(i, (size, tos, times))| {
                    // The datagrams are mostly of one kind, so some can be joined.
                    let tos = [0, 0, 0, 0, 0, 2, 3, 0xb8][usize::from(*tos)];
                    let size = if *times > 0 { 1452 } else { [1452, 1451, 100, 60][*size] };
                    (tos, vec![i as u8; size])
                })
                .collect();
            for (offload, joins) in [(false, false), (true, false), (false, true), (true, true)] {
                prop_assert_eq!(&across(offload, joins, &datagrams), &datagrams);
            }
        }
    }

    /// A socket at `[::]` carries both families, with the octet and the address of each, whole and
    /// not.
    #[test]
    fn both_kinds_of_addresses_have_one_socket() {
        let any = "[::]:0".parse().expect("an address");
        let bind = |to| Socket::bind(to, None, true, &mut Vec::new(), &Manager::default());
        let mut both = bind(any).expect("bound");
        let port = both.udp.local_addr().expect("bound").port();
        let clock = Clock::at_one_second();
        for address in ["127.0.0.1", "::1"] {
            let address: std::net::IpAddr = address.parse().expect("an address");
            let mut one = bind((address, 0).into()).expect("bound");
            let own = one.udp.local_addr().expect("bound");
            for whole in [true, false] {
                let there = Way { to: (address, port).into(), tos: 0xb8, whole };
                one.outgoing.push(there, &[7; 99]);
                one.flush();
                let mut arrived = Vec::new();
                let echo = |out: &mut Outgoing, from, tos, _, bytes: &[u8]| {
                    arrived.push((from, tos, bytes.to_vec()));
                    out.push(Way { to: from, tos: 3, whole }, bytes);
                    false
                };
                assert_eq!(both.receive(&clock, echo).expect("received"), 1, "{address}");
                assert_eq!(arrived, [(own, 0xb8, vec![7; 99])]);
                both.flush();
                assert_eq!((one.outgoing.refused.count, both.outgoing.refused.count), (0, 0));
                let mut back = Vec::new();
                let take = |_: &mut Outgoing, from, tos, _, _: &[u8]| {
                    back.push((from, tos));
                    true
                };
                assert_eq!(one.receive(&clock, take).expect("received"), 1, "{address}");
                assert_eq!(back, [((address, port).into(), 3)]);
            }
        }
    }

    /// A peer gets answers from the address that it has called, even if the route of the host would choose
    /// another. A stranger changes nothing.
    #[test]
    fn answers_come_from_the_address_that_was_called() {
        let clock = Clock::at_one_second();
        for any in ["[::]:0", "0.0.0.0:0"] {
            let bind = |to: &str| {
                let to = to.parse().expect("an address");
                Socket::bind(to, None, true, &mut Vec::new(), &Manager::default()).expect("bound")
            };
            let (mut both, mut one) = (bind(any), bind("127.0.0.1:0"));
            let port = both.udp.local_addr().expect("bound").port();
            for (host, authentic, from) in
                [(7, true, 7), (8, false, 7), (8, true, 8), (7, false, 8), (1, true, 1)]
            {
                let to = SocketAddr::from(([127, 0, 0, host], port));
                one.outgoing.push(way(to, 0), &[7; 99]);
                one.flush();
                let echo = |out: &mut Outgoing, from, _, _, bytes: &[u8]| {
                    out.push(way(from, 0), bytes);
                    authentic
                };
                assert_eq!(both.receive(&clock, echo).expect("received"), 1, "{any}");
                both.flush();
                let mut back = Vec::new();
                let take = |_: &mut Outgoing, from: SocketAddr, _, _, _: &[u8]| {
                    back.push(from);
                    true
                };
                assert_eq!(one.receive(&clock, take).expect("received"), 1, "{any} {host}");
                assert_eq!(back, [SocketAddr::from(([127, 0, 0, from], port))], "{any} {host}");
            }
        }
    }

    #[test]
    fn what_is_alike_is_one_message() {
        let to = "192.0.2.1:1".parse().expect("an address");
        let other = "192.0.2.2:1".parse().expect("an address");
        let mut outgoing = Outgoing::default();
        let mut push = |to, tos, length| {
            outgoing.push(way(to, tos), &vec![0; length]);
            outgoing.messages.len()
        };
        assert_eq!((push(to, 0, 900), push(to, 0, 900), push(to, 0, 800)), (1, 1, 1));
        assert_eq!(push(to, 0, 800), 2, "after a shorter one comes a new message");
        assert_eq!(push(to, 0, 801), 3, "none may be longer than the first");
        assert_eq!(push(to, 2, 801), 4, "another octet");
        assert_eq!(push(other, 2, 801), 5, "another place");
        let many: Vec<usize> = (0..70).map(|_| push(other, 2, 801)).collect();
        assert_eq!(many.last(), Some(&6), "no more than 64 datagrams: {many:?}");
        let cut = Way { whole: false, ..way(other, 2) };
        outgoing.push(cut, &[0; 801]);
        assert_eq!(outgoing.messages.len(), 7, "another one that may be cut");
    }

    /// Sends ten datagrams of 1400 bytes and ten of 900 through a kernel that refuses segments of more
    /// than 1000 bytes with this error, and single datagrams of more as too long. Returns the number of
    /// datagrams in each message that it took, and the number that it refused.
    fn through(refusal: Errno) -> (Vec<usize>, u64) {
        let mut outgoing = Outgoing::default();
        let to = way("192.0.2.1:1".parse().expect("an address"), 0);
        let mut taken = Vec::new();
        for _ in 0..2 {
            for i in 0..20 {
                outgoing.push(to, &vec![0; if i < 10 { 1400 } else { 900 }]);
            }
            outgoing.flush(|_, segment, bytes| {
                let length = segment.map_or(bytes.len(), usize::from);
                match length > 1000 {
                    true if segment.is_some() => return Err(refusal),
                    true => return Err(Errno::EMSGSIZE),
                    false => taken.push(bytes.len() / length),
                }
                Ok(())
            });
        }
        (taken, outgoing.refused.count)
    }

    /// Datagrams that are too long for the route are sent singly, but others still joined. A device
    /// that cannot cut is not asked again.
    #[test]
    fn a_route_that_is_too_narrow_is_no_kernel_that_cannot_cut() {
        // The first datagram of 900 bytes is in the message of the longer ones.
        for refusal in [Errno::EMSGSIZE, Errno::EINVAL] {
            assert_eq!(through(refusal), (vec![1, 9, 1, 9], 20), "{refusal}");
        }
        for refusal in [Errno::EIO, Errno::EOPNOTSUPP] {
            assert_eq!(through(refusal), (vec![1; 20], 20), "{refusal}");
        }
        assert_eq!(through(Errno::ENETUNREACH), (vec![9, 9], 22));
    }
}
