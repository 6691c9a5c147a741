//! What a station does for the flows that are connections of the kernel.

use super::Station;
use crate::connection::Ends;
use crate::packet::Packet;
use accord_transport::ip;
use accord_transport::wire::{self, Header, Kind};
use accord_units::Bytes;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::io::Result;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// So many packets are taken from a device before others have their turn.
const BATCH: usize = 256;
/// So many things that are ready are looked at at a time.
const EVENTS: usize = 64;

/// What can be ready; the number is the station's own, of its flows' ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    /// The device of a source, or its socket has room.
    SourceDevice(usize),
    /// See above.
    SourceSocket(usize),
    /// The device of a sink, or its socket has something to read.
    SinkDevice(usize),
    /// See above.
    SinkSocket(usize),
}

impl Ready {
    fn token(self) -> u64 {
        let (i, what) = match self {
            Ready::SourceDevice(i) => (i, 0),
            Ready::SourceSocket(i) => (i, 1),
            Ready::SinkDevice(i) => (i, 2),
            Ready::SinkSocket(i) => (i, 3),
        };
        (i as u64) << 2 | what
    }

    fn of(token: u64) -> Ready {
        let i = (token >> 2) as usize;
        match token & 3 {
            0 => Ready::SourceDevice(i),
            1 => Ready::SourceSocket(i),
            2 => Ready::SinkDevice(i),
            _ => Ready::SinkSocket(i),
        }
    }
}

/// Listens to all devices and sockets of a station's connections.
#[derive(Clone, Debug)]
pub struct Ear(Arc<Epoll>);

impl Ear {
    fn new() -> Result<Ear> {
        Ok(Ear(Arc::new(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?)))
    }

    fn listen(&self, fd: impl AsFd, flags: EpollFlags, ready: Ready) -> Result<()> {
        Ok(self.0.add(fd, EpollEvent::new(flags, ready.token()))?)
    }

    /// What is ready now.
    fn ready(&self) -> Result<Vec<Ready>> {
        let mut events = [EpollEvent::empty(); EVENTS];
        let n = match self.0.wait(&mut events, EpollTimeout::ZERO) {
            Ok(n) => n,
            Err(Errno::EINTR) => 0,
            Err(e) => return Err(e.into()),
        };
        Ok(events[..n].iter().map(|e| Ready::of(e.data())).collect())
    }
}

impl AsFd for Ear {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

impl Station<'_> {
    /// Gives it the ends of connections that are at its nodes.
    pub fn attach(mut self, ends: &mut [Ends]) -> Result<Self> {
        let ear = Ear::new()?;
        let mut any = false;
        for (i, source) in self.sources.iter_mut().enumerate() {
            if let Some(connection) = ends[source.flow].source.take() {
                ear.listen(&connection.tun, EpollFlags::EPOLLIN, Ready::SourceDevice(i))?;
                if let Some(socket) = connection.socket() {
                    // Once for each time that room comes to be: most of the time there is some.
                    let flags = EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
                    ear.listen(socket, flags, Ready::SourceSocket(i))?;
                }
                source.connection = Some(connection);
                any = true;
            }
        }
        for (i, sink) in self.sinks.iter_mut().enumerate() {
            if let Some(drain) = ends[sink.flow].sink.take() {
                ear.listen(&drain.tun, EpollFlags::EPOLLIN, Ready::SinkDevice(i))?;
                ear.listen(drain.listener(), EpollFlags::EPOLLIN, Ready::SinkSocket(i))?;
                sink.drain = Some(drain);
                any = true;
            }
        }
        self.ear = any.then_some(ear);
        self.look_ahead();
        Ok(self)
    }

    /// Lets the applications of connections write and read, and sends on what the kernel has for
    /// the other ends.
    pub(super) fn serve_kernel(&mut self, buffer: &mut [u8]) -> Result<()> {
        let Some(ear) = self.ear.clone() else {
            return Ok(());
        };
        for ready in ear.ready()? {
            match ready {
                Ready::SourceSocket(i) => {
                    self.sources[i]
                        .connection
                        .iter_mut()
                        .for_each(|c| c.write());
                }
                Ready::SinkSocket(i) => {
                    if let Some(drain) = &mut self.sinks[i].drain
                        && let Some(socket) = drain.read()
                    {
                        ear.listen(socket, EpollFlags::EPOLLIN, ready)?;
                    }
                }
                Ready::SourceDevice(i) => {
                    for _ in 0..BATCH {
                        let source = &self.sources[i];
                        let Some(c) = &source.connection else { break };
                        let Some(length) = c.tun.receive(buffer)? else {
                            break;
                        };
                        let (flow, ends) = (source.flow, c.ends);
                        self.send_on(flow, 0, ends, &buffer[..length]);
                    }
                }
                Ready::SinkDevice(i) => {
                    for _ in 0..BATCH {
                        let sink = &self.sinks[i];
                        let Some(d) = &sink.drain else { break };
                        let Some(length) = d.tun.receive(buffer)? else {
                            break;
                        };
                        let (flow, ends) = (sink.flow, d.ends);
                        self.send_on(flow, 1, ends, &buffer[..length]);
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts a packet of the kernel into its first port; `way` 0 is there, 1 back.
    fn send_on(
        &mut self,
        flow: usize,
        way: usize,
        ends: (std::net::Ipv4Addr, std::net::Ipv4Addr),
        bytes: &[u8],
    ) {
        // Whatever else the kernel may want to say is not of the connection.
        let of_it = ip::Packet::new(bytes)
            .filter(|p| p.sequence().is_some() && p.ends() == (ends.0.octets(), ends.1.octets()));
        let Some(inner) = of_it else { return };
        let (plan, route) = (self.plan, self.route[flow]);
        let size = Bytes::new(bytes.len() as u64);
        let header = Header {
            kind: [Kind::Ip, Kind::IpReply][way],
            size,
            flow: flow as u32,
            run: plan.run,
            route,
        };
        let mut datagram = Vec::with_capacity(wire::LEAST + bytes.len());
        wire::wrap(&header, bytes, &mut datagram);
        let packet = Packet {
            datagram,
            header,
            tos: ip::entry(inner.tos()),
            aggregate: plan.scenario.flows[flow].aggregate as u8,
        };
        self.offer(plan.routes[flow][usize::from(route)][way][0], packet);
        if way == 0
            && let Some(i) = self.source_of[flow]
        {
            self.sources[i].count(self.now, size);
        }
    }

    /// A packet of the kernel is at its other end.
    pub(super) fn give_kernel(&mut self, flow: usize, packet: &Packet) {
        let Ok((header, inner)) = wire::unwrap(&packet.datagram) else {
            self.books.foreign += 1;
            return;
        };
        let mut inner = inner.to_vec();
        let whole = ip::exit(&mut inner, packet.tos);
        let numbers = ip::Packet::new(&inner).and_then(|p| p.sequence());
        let (source, sink) = (self.source_of[flow], self.sink_of[flow]);
        let tun = match header.kind.is_reply() {
            true => source.and_then(|i| self.sources[i].connection.as_ref().map(|c| &c.tun)),
            false => sink.and_then(|i| self.sinks[i].drain.as_ref().map(|d| &d.tun)),
        };
        let taken = tun.is_some_and(|tun| whole && tun.send(&inner).unwrap_or(false));
        self.books.refused += u64::from(!taken);
        match (header.kind.is_reply(), source, sink) {
            (true, Some(i), _) => self.pump(i),
            (false, _, Some(i)) => self.sinks[i].arrived(header.size, numbers),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_are_written() {
        for i in [0, 1, 77] {
            for ready in [
                Ready::SourceDevice(i),
                Ready::SourceSocket(i),
                Ready::SinkDevice(i),
                Ready::SinkSocket(i),
            ] {
                assert_eq!(Ready::of(ready.token()), ready);
            }
        }
    }
}
