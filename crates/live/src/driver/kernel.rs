//! The flows of a station that are connections of the kernel.

use crate::arrived::Arrived;
use crate::connection::{Connection, Drain, Ends};
use crate::packet::whole;
use crate::site::{Site, carries_data};
use crate::tun::{Room, Tun};
use accord_family::InnerState;
use accord_scenario::{NodeId, Scenario};
use accord_sim::{Machine, Order, Parcel, Part};
use accord_transport::ip;
use accord_units::Rate;
use nix::errno::Errno;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::collections::BTreeMap;
use std::io::Result;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsFd;
use std::sync::Arc;

/// The maximum number of packets read from a device before other devices have their turn.
const BATCH: usize = 256;
/// The maximum number of events per poll.
const EVENTS: usize = 64;

/// A device or a socket of a flow that may become ready. Events name it by a number below 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum File {
    /// The device of a source has a packet.
    SourceDevice,
    /// The socket of a source has room.
    SourceSocket,
    /// The device of a sink has a packet.
    SinkDevice,
    /// The socket of a sink has something to read.
    SinkSocket,
    /// The gateway at a tunnel's entry has a datagram for the network.
    EntryWan,
    /// The gateway at a tunnel's exit has a datagram for the network.
    ExitWan,
    /// The gateway at a tunnel's exit has a packet for its site.
    Lan,
}

impl File {
    const ALL: [File; 7] = [
        File::SourceDevice,
        File::SourceSocket,
        File::SinkDevice,
        File::SinkSocket,
        File::EntryWan,
        File::ExitWan,
        File::Lan,
    ];
}

/// Adds a file of a flow to a poller.
fn listen(poller: &Epoll, fd: impl AsFd, flags: EpollFlags, flow: usize, file: File) -> Result<()> {
    let token = (flow as u64) << 3 | file as u64;
    Ok(poller.add(fd, EpollEvent::new(flags, token))?)
}

/// Returns the files that are ready now, with their flows.
fn ready(poller: &Epoll) -> Result<Vec<(usize, File)>> {
    let mut events = [EpollEvent::empty(); EVENTS];
    let n = match poller.wait(&mut events, EpollTimeout::ZERO) {
        Ok(n) => n,
        Err(Errno::EINTR) => 0,
        Err(e) => return Err(e.into()),
    };
    let event = |e: &EpollEvent| ((e.data() >> 3) as usize, File::ALL[(e.data() & 7) as usize]);
    Ok(events[..n].iter().map(event).collect())
}

/// The ends of kernel connections at the nodes of a station, by flow.
#[derive(Debug)]
pub struct Kernel<'a> {
    scenario: &'a Scenario,
    /// The poller of all devices and sockets.
    poller: Arc<Epoll>,
    sources: BTreeMap<usize, Connection>,
    sinks: BTreeMap<usize, Drain>,
    /// The sites of tunnels, by flow and end.
    sites: BTreeMap<(usize, usize), Site>,
    /// The data that has arrived, by flow.
    arrived: BTreeMap<usize, Arrived>,
}

impl<'a> Kernel<'a> {
    /// Takes the ends at these nodes. Returns `None` if there are none.
    pub fn of(
        scenario: &'a Scenario,
        nodes: &[NodeId],
        ends: &mut [Ends],
    ) -> Result<Option<Kernel<'a>>> {
        let mut kernel = Kernel {
            scenario,
            poller: Arc::new(Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?),
            sources: BTreeMap::new(),
            sinks: BTreeMap::new(),
            sites: BTreeMap::new(),
            arrived: BTreeMap::new(),
        };
        for (flow, ends) in ends.iter_mut().enumerate() {
            let (poller, input) = (&kernel.poller, EpollFlags::EPOLLIN);
            let (source, sink) = scenario.ends(flow);
            let connection = ends.source.take_if(|_| nodes.contains(&source));
            if let Some(connection) = connection {
                listen(poller, &connection.tun, input, flow, File::SourceDevice)?;
                if let Some(socket) = connection.socket() {
                    // Edge-triggered: room becomes free rarely; usually there is room.
                    let flags = EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
                    listen(poller, socket, flags, flow, File::SourceSocket)?;
                }
                kernel.sources.insert(flow, connection);
            }
            if let Some(drain) = ends.sink.take_if(|_| nodes.contains(&sink)) {
                listen(poller, &drain.tun, input, flow, File::SinkDevice)?;
                listen(poller, drain.listener(), input, flow, File::SinkSocket)?;
                kernel.sinks.insert(flow, drain);
            }
            for (end, site, node) in [(0, &mut ends.entry, source), (1, &mut ends.exit, sink)] {
                let Some(site) = site.take_if(|_| nodes.contains(&node)) else {
                    continue;
                };
                listen(poller, &site.wan, input, flow, [File::EntryWan, File::ExitWan][end])?;
                if end == 1 {
                    listen(poller, &site.lan, input, flow, File::Lan)?;
                }
                kernel.sites.insert((flow, end), site);
            }
        }
        let any =
            !(kernel.sources.is_empty() && kernel.sinks.is_empty() && kernel.sites.is_empty());
        Ok(any.then_some(kernel))
    }

    /// Returns the poller of these connections.
    pub fn poller(&self) -> Arc<Epoll> {
        self.poller.clone()
    }

    /// Returns the broken connections, with the reasons.
    pub fn broken(&mut self) -> Vec<(usize, String)> {
        let sources = self.sources.iter_mut();
        let broken = sources.filter_map(|(flow, c)| Some((*flow, c.broken.take()?)));
        broken.collect()
    }

    /// Adds the state of the connections to a sample.
    pub fn fill_in(&mut self, part: &mut Part) {
        for (flow, reading) in &mut part.sources {
            if let Some(connection) = self.sources.get_mut(flow) {
                reading.view = connection.view();
            }
            if let Some(site) = self.sites.get(&(*flow, 0)) {
                let report = site.report.get();
                (reading.view, reading.edge) = (report.view, Some(report.edge));
            }
            // The machine's own sender of such a flow sends nothing.
            let inner = part.inner.iter_mut().find(|(id, _)| id == flow);
            let foreign = self.sources.contains_key(flow) || self.sites.contains_key(&(*flow, 0));
            if let (Some((_, inner)), true) = (inner, foreign) {
                let pacing = reading.view.pacing.map(Rate::as_bps_f64);
                *inner = InnerState { pacing, ..InnerState::default() };
            }
        }
    }

    /// Carries out the machine's orders. Returns the number of packets that the kernel refused.
    pub fn obey(&mut self, machine: &mut Machine) -> u64 {
        let orders = machine.orders();
        let refused = orders.into_iter().map(|order| self.carry_out(order, machine)).sum();
        self.look_at_transfers(machine);
        refused
    }

    /// Carries out an order. Returns the number of packets that the kernel refused.
    pub fn carry_out(&mut self, order: Order, machine: &mut Machine) -> u64 {
        match order {
            Order::Supply(flow, packets) => {
                let source = self.sources.get_mut(&flow);
                source.into_iter().for_each(|c| c.supply(packets));
                0
            }
            Order::Stop(flow) => {
                let source = self.sources.get_mut(&flow);
                source.into_iter().for_each(Connection::stop);
                0
            }
            Order::Deliver(parcel) => u64::from(!self.deliver(&parcel, machine)),
            Order::Enter(tunnel, parcel) => u64::from(!self.enter(tunnel, &parcel)),
        }
    }

    /// Notifies the machine of transfers that have ended.
    pub fn look_at_transfers(&self, machine: &mut Machine) {
        for (flow, connection) in &self.sources {
            if machine.is_transferring(*flow) && connection.is_done() {
                machine.transferred(*flow);
            }
        }
    }

    /// Passes a packet to the kernel at its end. Returns false if the kernel refused it.
    fn deliver(&mut self, parcel: &Parcel, machine: &mut Machine) -> bool {
        let (packet, flow) = (&parcel.packet, parcel.packet.flow as usize);
        let mut inner = parcel.bytes.clone().unwrap_or_default();
        let whole = ip::exit(&mut inner, packet.tos_of_whole());
        let end = usize::from(!packet.is_answer());
        let site = self.sites.get(&(flow, end)).map(|site| &site.wan);
        let tun = site.or(match end {
            0 => self.sources.get(&flow).map(|c| &c.tun),
            _ => self.sinks.get(&flow).map(|d| &d.tun),
        });
        let taken = tun.is_some_and(|tun| whole && tun.send(&inner).unwrap_or(false));
        if end == 1 && (site.is_none() || carries_data(&inner)) {
            let numbers = ip::Packet::new(&inner).and_then(|p| p.sequence());
            let arrived = self.arrived.entry(flow).or_default();
            let fresh = numbers.is_none_or(|(first, count)| arrived.add(first, count));
            machine.taken(flow, packet.bytes(), fresh);
        }
        taken
    }

    /// Passes a packet to the entry of a tunnel. Returns false if the kernel refused it.
    fn enter(&mut self, tunnel: usize, parcel: &Parcel) -> bool {
        let mut inner = parcel.bytes.clone().unwrap_or_default();
        let whole = ip::exit(&mut inner, parcel.packet.tos_of_whole());
        let site = self.sites.get(&(tunnel, 0));
        site.is_some_and(|site| whole && site.lan.send(&inner).unwrap_or(false))
    }

    /// Runs the applications of connections, and puts the packets that the kernel has for the other
    /// ends into the ports of the machine.
    pub fn serve(&mut self, machine: &mut Machine, room: &mut Room) -> Result<()> {
        let scenario = self.scenario;
        for (flow, file) in ready(&self.poller)? {
            match file {
                File::SourceSocket => {
                    let source = self.sources.get_mut(&flow);
                    source.into_iter().for_each(Connection::write);
                }
                File::SinkSocket => {
                    if let Some(drain) = self.sinks.get_mut(&flow)
                        && let Some(socket) = drain.read()
                    {
                        listen(&self.poller, socket, EpollFlags::EPOLLIN, flow, file)?;
                    }
                }
                File::SourceDevice => {
                    if let Some(c) = self.sources.get(&flow) {
                        send_on(scenario, machine, (flow, 0), c.ends, &c.tun, room)?;
                    }
                }
                File::SinkDevice => {
                    if let Some(d) = self.sinks.get(&flow) {
                        send_on(scenario, machine, (flow, 1), d.ends, &d.tun, room)?;
                    }
                }
                File::EntryWan | File::ExitWan => {
                    let end = usize::from(file == File::ExitWan);
                    if let Some(site) = self.sites.get(&(flow, end)) {
                        send_datagrams(scenario, machine, (flow, end), site, room)?;
                    }
                }
                File::Lan => {
                    if let Some(site) = self.sites.get(&(flow, 1)) {
                        leave(scenario, machine, site, room)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// Takes the packets that a device has, up to a batch.
fn each(tun: &Tun, room: &mut Room, mut take: impl FnMut(ip::Packet, &[u8])) -> Result<()> {
    let mut count = 0;
    while count < BATCH {
        let any = tun.receive(room, |bytes| {
            count += 1;
            if let Some(packet) = ip::Packet::new(bytes) {
                take(packet, bytes);
            }
        })?;
        if !any {
            break;
        }
    }
    Ok(())
}

/// Puts the packets of a device into the first port of its flow's path. `way` is 0 for the forward
/// and 1 for the reverse path.
fn send_on(
    scenario: &Scenario,
    machine: &mut Machine,
    (flow, way): (usize, usize),
    ends: (Ipv4Addr, Ipv4Addr),
    tun: &Tun,
    room: &mut Room,
) -> Result<()> {
    let ends = (IpAddr::V4(ends.0), IpAddr::V4(ends.1));
    each(tun, room, |packet, bytes| {
        // Other packets of the kernel do not belong to the connection.
        if packet.sequence().is_some() && (packet.source, packet.destination) == ends {
            machine.send(flow, way, &whole(scenario, flow, ip::entry(packet.tos), bytes));
        }
    })
}

/// Puts the datagrams of a gateway into the first port of its tunnel's path. They keep their DSCP,
/// by which a router recognises control packets.
fn send_datagrams(
    scenario: &Scenario,
    machine: &mut Machine,
    (tunnel, way): (usize, usize),
    site: &Site,
    room: &mut Room,
) -> Result<()> {
    let ends = (IpAddr::V4(site.ends.0), IpAddr::V4(site.ends.1));
    each(&site.wan, room, |packet, bytes| {
        if packet.udp().is_some() && (packet.source, packet.destination) == ends {
            machine.send(tunnel, way, &whole(scenario, tunnel, packet.tos, bytes));
        }
    })
}

/// Forwards the packets of a gateway to the flows of its site.
fn leave(scenario: &Scenario, machine: &mut Machine, site: &Site, room: &mut Room) -> Result<()> {
    each(&site.lan, room, |packet, bytes| {
        if packet.sequence().is_some()
            && let IpAddr::V4(to) = packet.destination
            && let Some(flow) = site.riders.get(&to)
        {
            machine.leave_tunnel(*flow, &whole(scenario, *flow, ip::entry(packet.tos), bytes));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_read_as_they_are_written() {
        for (number, file) in File::ALL.into_iter().enumerate() {
            assert_eq!(file as usize, number);
        }
    }
}
