//! The flows of a station that are connections of the kernel.

use crate::collect::Part;
use crate::connection::{Connection, Drain, Ends};
use crate::ends::Order;
use crate::packet::Packet;
use crate::site::{Site, carries_data};
use crate::station::Station;
use crate::tun::Tun;
use accord_scenario::{NodeId, Scenario};
use accord_transport::ip;
use accord_transport::wire;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::collections::BTreeMap;
use std::io::Result;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// The maximum number of packets read from a device before other devices have their turn.
const BATCH: usize = 256;
/// The maximum number of events per poll.
const EVENTS: usize = 64;

/// An event of a connection, with the index of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ready {
    /// The device of a source has a packet.
    SourceDevice(usize),
    /// The socket of a source has room.
    SourceSocket(usize),
    /// The device of a sink has a packet.
    SinkDevice(usize),
    /// The socket of a sink has something to read.
    SinkSocket(usize),
    /// A tunnel's gateway at its entry (0) or exit (1) has a datagram for the network.
    Wan(usize, usize),
    /// The gateway at a tunnel's exit has a packet for its site.
    Lan(usize),
}

impl Ready {
    fn token(self) -> u64 {
        let (i, what) = match self {
            Ready::SourceDevice(i) => (i, 0),
            Ready::SourceSocket(i) => (i, 1),
            Ready::SinkDevice(i) => (i, 2),
            Ready::SinkSocket(i) => (i, 3),
            Ready::Wan(i, end) => (i, 4 + end as u64),
            Ready::Lan(i) => (i, 6),
        };
        (i as u64) << 3 | what
    }

    fn of(token: u64) -> Ready {
        let i = (token >> 3) as usize;
        match token & 7 {
            0 => Ready::SourceDevice(i),
            1 => Ready::SourceSocket(i),
            2 => Ready::SinkDevice(i),
            3 => Ready::SinkSocket(i),
            4 => Ready::Wan(i, 0),
            5 => Ready::Wan(i, 1),
            _ => Ready::Lan(i),
        }
    }
}

/// The poller of all devices and sockets of a station's connections.
#[derive(Clone, Debug)]
pub struct Poller(Arc<Epoll>);

impl Poller {
    fn new() -> Result<Poller> {
        Ok(Poller(Arc::new(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?)))
    }

    fn listen(&self, fd: impl AsFd, flags: EpollFlags, ready: Ready) -> Result<()> {
        Ok(self.0.add(fd, EpollEvent::new(flags, ready.token()))?)
    }

    /// Returns the events that are ready now.
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

impl AsFd for Poller {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.0.as_fd()
    }
}

/// The ends of kernel connections at the nodes of a station, by flow.
#[derive(Debug)]
pub struct Kernel {
    poller: Poller,
    sources: BTreeMap<usize, Connection>,
    sinks: BTreeMap<usize, Drain>,
    /// The sites of tunnels, by flow and end, with their nodes.
    sites: BTreeMap<(usize, usize), (NodeId, Site)>,
}

impl Kernel {
    /// Takes the ends at these nodes. Returns `None` if there are none.
    pub fn of(scenario: &Scenario, nodes: &[NodeId], ends: &mut [Ends]) -> Result<Option<Kernel>> {
        let mut kernel = Kernel {
            poller: Poller::new()?,
            sources: BTreeMap::new(),
            sinks: BTreeMap::new(),
            sites: BTreeMap::new(),
        };
        for (flow, ends) in ends.iter_mut().enumerate() {
            let (source, sink) = scenario.ends(flow);
            let connection = ends.source.take_if(|_| nodes.contains(&source));
            if let Some(connection) = connection {
                (kernel.poller).listen(
                    &connection.tun,
                    EpollFlags::EPOLLIN,
                    Ready::SourceDevice(flow),
                )?;
                if let Some(socket) = connection.socket() {
                    // Edge-triggered: room becomes free rarely; usually there is room.
                    let flags = EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
                    kernel.poller.listen(socket, flags, Ready::SourceSocket(flow))?;
                }
                kernel.sources.insert(flow, connection);
            }
            if let Some(drain) = ends.sink.take_if(|_| nodes.contains(&sink)) {
                let flags = EpollFlags::EPOLLIN;
                kernel.poller.listen(&drain.tun, flags, Ready::SinkDevice(flow))?;
                kernel.poller.listen(drain.listener(), flags, Ready::SinkSocket(flow))?;
                kernel.sinks.insert(flow, drain);
            }
            for (end, site, node) in [(0, &mut ends.entry, source), (1, &mut ends.exit, sink)] {
                let Some(site) = site.take_if(|_| nodes.contains(&node)) else {
                    continue;
                };
                let (poller, flags) = (&kernel.poller, EpollFlags::EPOLLIN);
                poller.listen(&site.wan, flags, Ready::Wan(flow, end))?;
                if end == 1 {
                    poller.listen(&site.lan, flags, Ready::Lan(flow))?;
                }
                kernel.sites.insert((flow, end), (node, site));
            }
        }
        let any =
            !(kernel.sources.is_empty() && kernel.sinks.is_empty() && kernel.sites.is_empty());
        Ok(any.then_some(kernel))
    }

    /// Returns the poller of these connections.
    pub fn poller(&self) -> Poller {
        self.poller.clone()
    }

    /// Returns the broken connections, with the reasons.
    pub fn broken(&mut self) -> Vec<(usize, String)> {
        let sources = self.sources.iter_mut();
        let broken = sources.filter_map(|(flow, c)| Some((*flow, c.broken.take()?)));
        broken.collect()
    }

    /// Adds the state of the connections to a sample of the station.
    pub fn fill_in(&mut self, part: &mut Part) {
        for (flow, reading) in &mut part.sources {
            if let Some(connection) = self.sources.get_mut(flow) {
                reading.view = connection.view();
            }
            if let Some((_, site)) = self.sites.get(&(*flow, 0)) {
                let report = site.report.get();
                (reading.view, reading.edge) = (report.view, Some(report.edge));
            }
        }
    }

    /// Carries out the station's orders. Returns the number of packets that the kernel refused.
    pub fn obey(&mut self, station: &mut Station) -> u64 {
        let mut refused = 0;
        for order in station.orders() {
            match order {
                Order::Supply(flow, packets) => {
                    let source = self.sources.get_mut(&flow);
                    source.into_iter().for_each(|c| c.supply(packets));
                }
                Order::Stop(flow) => {
                    let source = self.sources.get_mut(&flow);
                    source.into_iter().for_each(Connection::stop);
                }
                Order::Deliver(packet) => refused += u64::from(!self.deliver(&packet, station)),
                Order::Enter(tunnel, packet) => {
                    refused += u64::from(!self.enter(tunnel, &packet));
                }
            }
        }
        for (flow, connection) in &self.sources {
            if station.awaits_kernel(*flow) && connection.is_done() {
                station.kernel_is_done(*flow);
            }
        }
        refused
    }

    /// Passes a packet to the kernel at its end. Returns false if the kernel refused it.
    fn deliver(&mut self, packet: &Packet, station: &mut Station) -> bool {
        let Ok((header, inner)) = wire::unwrap(&packet.datagram) else {
            return false;
        };
        let flow = header.flow as usize;
        let mut inner = inner.to_vec();
        let whole = ip::exit(&mut inner, packet.tos);
        let end = usize::from(!header.kind.is_reply());
        let site = self.sites.get(&(flow, end)).map(|(_, site)| &site.wan);
        let tun = site.or(match end {
            0 => self.sources.get(&flow).map(|c| &c.tun),
            _ => self.sinks.get(&flow).map(|d| &d.tun),
        });
        let taken = tun.is_some_and(|tun| whole && tun.send(&inner).unwrap_or(false));
        if end == 1 && (site.is_none() || carries_data(&inner)) {
            let numbers = ip::Ipv4Packet::new(&inner).and_then(|p| p.sequence());
            station.kernel_received(flow, header.size, numbers);
        }
        taken
    }

    /// Passes a packet to the entry of a tunnel. Returns false if the kernel refused it.
    fn enter(&mut self, tunnel: usize, packet: &Packet) -> bool {
        let Ok((_, inner)) = wire::unwrap(&packet.datagram) else {
            return false;
        };
        let mut inner = inner.to_vec();
        let whole = ip::exit(&mut inner, packet.tos);
        let site = self.sites.get(&(tunnel, 0));
        site.is_some_and(|(_, site)| whole && site.lan.send(&inner).unwrap_or(false))
    }

    /// Runs the applications of connections, and puts the packets that the kernel has for the other
    /// ends into the ports of the station.
    pub fn serve(&mut self, station: &mut Station, buffer: &mut [u8]) -> Result<()> {
        for ready in self.poller.ready()? {
            match ready {
                Ready::SourceSocket(flow) => {
                    let source = self.sources.get_mut(&flow);
                    source.into_iter().for_each(Connection::write);
                }
                Ready::SinkSocket(flow) => {
                    if let Some(drain) = self.sinks.get_mut(&flow)
                        && let Some(socket) = drain.read()
                    {
                        self.poller.listen(socket, EpollFlags::EPOLLIN, ready)?;
                    }
                }
                Ready::SourceDevice(flow) => {
                    if let Some(c) = self.sources.get(&flow) {
                        send_on(station, (flow, 0), c.ends, &c.tun, buffer)?;
                    }
                }
                Ready::SinkDevice(flow) => {
                    if let Some(d) = self.sinks.get(&flow) {
                        send_on(station, (flow, 1), d.ends, &d.tun, buffer)?;
                    }
                }
                Ready::Wan(flow, end) => {
                    if let Some((_, site)) = self.sites.get(&(flow, end)) {
                        send_datagrams(station, (flow, end), site, buffer)?;
                    }
                }
                Ready::Lan(flow) => {
                    if let Some((node, site)) = self.sites.get(&(flow, 1)) {
                        leave(station, *node, site, buffer)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Puts the packets of a device into the first port of its flow's path. `way` is 0 for the forward
/// and 1 for the reverse path.
fn send_on(
    station: &mut Station,
    (flow, way): (usize, usize),
    ends: (Ipv4Addr, Ipv4Addr),
    tun: &Tun,
    buffer: &mut [u8],
) -> Result<()> {
    for _ in 0..BATCH {
        let Some(length) = tun.receive(buffer)? else {
            break;
        };
        // Other packets of the kernel do not belong to the connection.
        let of_it = ip::Ipv4Packet::new(&buffer[..length])
            .filter(|p| p.sequence().is_some() && p.ends() == (ends.0.octets(), ends.1.octets()));
        if let Some(inner) = of_it {
            let tos = ip::entry(inner.tos());
            station.send_whole(flow, way, tos, &buffer[..length]);
        }
    }
    Ok(())
}

/// Puts the datagrams of a gateway into the first port of its tunnel's path. They keep their DSCP,
/// by which a router recognises control packets.
fn send_datagrams(
    station: &mut Station,
    (tunnel, way): (usize, usize),
    site: &Site,
    buffer: &mut [u8],
) -> Result<()> {
    let ends = (site.ends.0.octets(), site.ends.1.octets());
    for _ in 0..BATCH {
        let Some(length) = site.wan.receive(buffer)? else {
            break;
        };
        let datagram = ip::Ipv4Packet::new(&buffer[..length])
            .filter(|p| p.udp().is_some() && p.ends() == ends);
        if let Some(datagram) = datagram {
            station.send_whole(tunnel, way, datagram.tos(), &buffer[..length]);
        }
    }
    Ok(())
}

/// Forwards the packets of a gateway to the flows of its site, which is at `node`.
fn leave(station: &mut Station, node: NodeId, site: &Site, buffer: &mut [u8]) -> Result<()> {
    for _ in 0..BATCH {
        let Some(length) = site.lan.receive(buffer)? else {
            break;
        };
        let of_it = ip::Ipv4Packet::new(&buffer[..length]).filter(|p| p.sequence().is_some());
        if let Some(inner) = of_it
            && let Some(flow) = site.riders.get(&Ipv4Addr::from(inner.ends().1))
        {
            let tos = ip::entry(inner.tos());
            station.leave_tunnel(*flow, node, tos, &buffer[..length]);
        }
    }
    Ok(())
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
                Ready::Wan(i, 0),
                Ready::Wan(i, 1),
                Ready::Lan(i),
            ] {
                assert_eq!(Ready::of(ready.token()), ready);
            }
        }
    }
}
