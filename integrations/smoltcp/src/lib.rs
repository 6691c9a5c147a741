//! Connections of smoltcp's TCP that carry flows of Accord, by [`accord_net::Net::carry`].
//!
//! Both ends are an interface of smoltcp with one socket, on the time of the run. Their IP packets are
//! the payloads of datagrams, so each is 28 bytes longer on the links than TCP's own. smoltcp's
//! times are whole microseconds: fractions are cut off. Everything else is smoltcp's: handshake, window
//! scaling, delayed acknowledgements, Nagle's algorithm, retransmissions and congestion control.

use accord_net::{Carried, Datagram, Duration, Ends, Setup, Time, View};
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, Device, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{Socket, SocketBuffer, State};
use smoltcp::time::Instant;
use smoltcp::wire::{
    HardwareAddress, IpCidr, IpEndpoint, Ipv4Address, Ipv4Packet, TcpPacket, TcpSeqNumber,
};
use std::collections::VecDeque;

pub use smoltcp::socket::tcp::CongestionControl;

/// The headers of IP and UDP around a payload.
const OUTER: u64 = 28;
/// The headers of IP and TCP in a payload, without options.
const HEADERS: u64 = 40;
/// The bytes of the send buffer and of the receive buffer.
const BUFFER: usize = 1 << 20;
/// The addresses of the sending end and of the receiving end.
const ADDRESSES: [Ipv4Address; 2] = [Ipv4Address::new(10, 0, 0, 1), Ipv4Address::new(10, 0, 0, 2)];
const PORTS: [u16; 2] = [49152, 80];

/// Returns the function that creates connections with this congestion control, for
/// [`accord_net::Net::carry`]. It fails for packets without room for data.
pub fn with(
    control: CongestionControl,
) -> impl Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static {
    move |setup| {
        let mtu = setup.packet.get().saturating_sub(OUTER);
        let segment = mtu.checked_sub(HEADERS).filter(|segment| *segment > 0);
        let segment =
            segment.ok_or_else(|| format!("packets of {} have no room for data", setup.packet))?;
        let seed = setup.seed.unwrap_or_default();
        let end = |number: usize| End::new(number, mtu as usize, segment, seed, control);
        let mut receiver = end(1);
        let listening = receiver.sockets.get_mut::<Socket>(receiver.socket).listen(PORTS[1]);
        listening.map_err(|e| format!("smoltcp cannot listen: {e}"))?;
        Ok([Box::new(end(0)), Box::new(receiver)])
    }
}

/// An end of a connection.
struct End {
    link: Link,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
    now: Time,
    /// The data of a full packet.
    segment: u64,
    /// The bytes that smoltcp has not taken. `u64::MAX` is unlimited.
    unsent: u64,
    opened: bool,
    stopped: bool,
    failed: Option<String>,
    /// The sequence number after all data that was sent, or has arrived.
    last: Option<TcpSeqNumber>,
    again: u64,
    /// A segment that was sent once, by the number after it, and its time. Its acknowledgement gives a
    /// round-trip time.
    timed: Option<(TcpSeqNumber, Time)>,
    rtt: Option<Duration>,
    min_rtt: Option<Duration>,
}

/// The packets between an interface and Accord.
struct Link {
    mtu: usize,
    arrived: VecDeque<Vec<u8>>,
    leaving: VecDeque<Vec<u8>>,
}

/// The contents of a TCP packet: its sequence number, the one after its data, and its acknowledgement.
struct Contents {
    from: TcpSeqNumber,
    to: TcpSeqNumber,
    acknowledged: Option<TcpSeqNumber>,
}

/// Reads a packet. `None` if it is not a TCP packet.
fn read(packet: &[u8]) -> Option<Contents> {
    let ip = Ipv4Packet::new_checked(packet).ok()?;
    let tcp = TcpPacket::new_checked(ip.payload()).ok()?;
    let from = tcp.seq_number() + usize::from(tcp.syn());
    Some(Contents {
        from,
        to: from + tcp.payload().len(),
        acknowledged: tcp.ack().then(|| tcp.ack_number()),
    })
}

fn instant(time: Time) -> Instant {
    Instant::from_micros((time.as_ps() / 1_000_000) as i64)
}

impl End {
    fn new(number: usize, mtu: usize, segment: u64, seed: u64, control: CongestionControl) -> End {
        let mut link = Link { mtu, arrived: VecDeque::new(), leaving: VecDeque::new() };
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = seed.wrapping_mul(2).wrapping_add(number as u64);
        let mut interface = Interface::new(config, &mut link, Instant::ZERO);
        interface.update_ip_addrs(|all| {
            all.push(IpCidr::new(ADDRESSES[number].into(), 24)).expect("there is room for one");
        });
        let buffer = || SocketBuffer::new(vec![0; BUFFER]);
        let mut socket = Socket::new(buffer(), buffer());
        socket.set_congestion_control(control);
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        End {
            link,
            interface,
            sockets,
            socket,
            now: Time::ZERO,
            segment,
            unsent: 0,
            opened: false,
            stopped: false,
            failed: None,
            last: None,
            again: 0,
            timed: None,
            rtt: None,
            min_rtt: None,
        }
    }

    /// Writes data into the send buffer until it is full.
    fn feed(&mut self) {
        let socket = self.sockets.get_mut::<Socket>(self.socket);
        while self.unsent > 0 && socket.can_send() {
            // The buffer has zeros in it, which are the data.
            let most = usize::try_from(self.unsent).unwrap_or(usize::MAX);
            let taken = socket.send(|room| (room.len().min(most), room.len().min(most)));
            let taken = taken.unwrap_or(0);
            if self.unsent < u64::MAX {
                self.unsent -= taken as u64;
            }
            if taken == 0 {
                return;
            }
        }
    }

    /// Runs the interface, and takes the data that it has for the application. Returns the number of
    /// its bytes.
    fn run(&mut self, now: Time) -> usize {
        self.now = now;
        self.feed();
        self.interface.poll(instant(now), &mut self.link, &mut self.sockets);
        let socket = self.sockets.get_mut::<Socket>(self.socket);
        let mut bytes = 0;
        while socket.can_recv() {
            bytes += socket.recv(|data| (data.len(), data.len())).unwrap_or(0);
        }
        if self.opened && !self.stopped && socket.state() == State::Closed {
            self.failed.get_or_insert_with(|| "smoltcp closed the connection".to_string());
        }
        bytes
    }

    /// Notes a packet that leaves.
    fn left(&mut self, packet: &[u8], now: Time) {
        let Some(Contents { from, to, .. }) = read(packet).filter(|c| c.to > c.from) else {
            return;
        };
        if self.last.is_some_and(|last| from < last) {
            self.again += 1;
            // The acknowledgement may be that of either copy [RFC 6298 §3].
            self.timed = None;
        } else {
            self.timed.get_or_insert((to, now));
        }
        self.last = Some(self.last.map_or(to, |last| last.max(to)));
    }
}

impl Carried for End {
    fn supply(&mut self, packets: u64, _is_transfer: bool, now: Time) {
        self.now = now;
        let bytes = packets.saturating_mul(self.segment);
        self.unsent = self.unsent.saturating_add(bytes);
        if !self.opened {
            self.opened = true;
            let socket = self.sockets.get_mut::<Socket>(self.socket);
            let peer = IpEndpoint::new(ADDRESSES[1].into(), PORTS[1]);
            let context = self.interface.context();
            let connected = socket.connect(context, peer, PORTS[0]);
            self.failed = connected.err().map(|e| format!("smoltcp cannot connect: {e}"));
        }
    }

    fn receive(&mut self, payload: &[u8], _ecn: u8, now: Time) -> bool {
        let contents = read(payload);
        self.link.arrived.push_back(payload.to_vec());
        let bytes = self.run(now);
        let Some(contents) = contents else {
            return false;
        };
        if let Some((to, sent)) = self.timed
            && contents.acknowledged.is_some_and(|number| number >= to)
        {
            let rtt = now.since(sent);
            self.timed = None;
            self.rtt = Some(rtt);
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        if contents.to == contents.from {
            // A packet without data is never a copy.
            return true;
        }
        // Data behind a hole is kept, and data in the first hole goes to the application.
        let beyond = self.last.is_none_or(|last| contents.to > last);
        if beyond {
            self.last = Some(contents.to);
        }
        beyond || bytes > 0
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        if self.link.leaving.is_empty() {
            self.run(now);
        }
        let payload = self.link.leaving.pop_front()?;
        self.left(&payload, now);
        Some(Datagram { payload, ecn: 0 })
    }

    fn next_wake(&mut self) -> Time {
        let at = self.interface.poll_at(instant(self.now), &self.sockets);
        let micros = |at: Instant| Duration::from_us(at.total_micros().max(0) as u64);
        at.map_or(Time::MAX, |at| Time::ZERO + micros(at))
    }

    fn on_wake(&mut self, now: Time) {
        self.run(now);
    }

    fn is_done(&self) -> bool {
        self.unsent == 0 && self.sockets.get::<Socket>(self.socket).send_queue() == 0
    }

    fn stop(&mut self, now: Time) {
        (self.stopped, self.unsent) = (true, 0);
        self.sockets.get_mut::<Socket>(self.socket).abort();
        self.run(now);
    }

    fn view(&self) -> View {
        View {
            rtt: self.rtt,
            min_rtt: self.min_rtt,
            retransmissions: self.again,
            ..View::default()
        }
    }

    fn broken(&self) -> Option<String> {
        self.failed.clone()
    }
}

impl Device for Link {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut found = DeviceCapabilities::default();
        found.medium = Medium::Ip;
        found.max_transmission_unit = self.mtu;
        found
    }
}

/// A packet that arrives.
struct Arrived(Vec<u8>);

/// The place of a packet that leaves.
struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, f: F) -> R {
        f(&self.0)
    }
}

impl phy::TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, f: F) -> R {
        let mut packet = vec![0; len];
        let result = f(&mut packet);
        self.0.push_back(packet);
        result
    }
}
