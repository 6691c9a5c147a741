//! A connection of quinn through a bottleneck, in memory and by a clock of its own.
//!
//! Both ends are quinn's own state machines, and nothing else is: no sockets, no threads and no time
//! of the machine. So a transfer over minutes takes a moment.

use crate::Plain;
use bytes::BytesMut;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, EcnCodepoint, Endpoint, Event, StreamId,
    TransportConfig,
};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The addresses of the ends. They mean nothing.
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
pub(crate) const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 2);

/// What is added to a UDP payload on the wire: the headers of IPv4 and UDP.
const HEADERS: u64 = 28;

/// The path from the client to the server. The way back has the same delay and no bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The rate in bit/s. At 0 there is no bottleneck.
    pub rate: u64,
    /// The bytes that may wait, with the headers of IPv4 and UDP.
    pub buffer: u64,
    /// The delay of each way.
    pub delay: Duration,
}

impl Link {
    /// A path that takes no time.
    pub const WIDE: Link = Link {
        rate: 0,
        buffer: u64::MAX,
        delay: Duration::ZERO,
    };
}

/// An end of the connection.
pub(crate) struct End {
    pub endpoint: Endpoint,
    pub open: Option<(ConnectionHandle, Connection)>,
    address: SocketAddr,
    /// What is on the way to this end, in the order of its arrival.
    coming: VecDeque<(Instant, Option<EcnCodepoint>, BytesMut)>,
}

/// A client that sends to a server.
pub struct Pair {
    pub(crate) client: End,
    server: End,
    config: quinn_proto::ClientConfig,
    link: Link,
    now: Instant,
    /// The time at which the bottleneck has sent all that waits.
    free: Instant,
    stream: Option<StreamId>,
    finished: bool,
    /// The bytes that are still to be given to the stream.
    left: u64,
    received: u64,
    dropped: u64,
    /// The first packet that the client sent.
    pub(crate) first: Vec<u8>,
}

impl Pair {
    /// Creates a client and a server that are not connected, with the settings of each.
    pub fn new(client: Arc<TransportConfig>, server: Arc<TransportConfig>, link: Link) -> Pair {
        #[expect(
            clippy::disallowed_methods,
            reason = "only differences to it are ever looked at"
        )]
        let now = Instant::now();
        let mut config = Plain::client();
        config.transport_config(client);
        let mut accepting = Plain::server();
        accepting.transport_config(server);
        let end = |accepts: Option<quinn_proto::ServerConfig>, address| End {
            endpoint: Endpoint::new(
                Arc::new(Plain::endpoint()),
                accepts.map(Arc::new),
                false,
                Some([3; 32]),
            ),
            open: None,
            address,
            coming: VecDeque::new(),
        };
        Pair {
            client: end(None, CLIENT),
            server: end(Some(accepting), SERVER),
            config,
            link,
            now,
            free: now,
            stream: None,
            finished: false,
            left: 0,
            received: 0,
            dropped: 0,
            first: Vec::new(),
        }
    }

    /// The present time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The bytes of the application that the server has received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// The datagrams that found the buffer full.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The client's connection.
    ///
    /// # Panics
    /// Panics before [`Pair::connect`].
    pub fn connection(&self) -> &Connection {
        let open = self.client.open.as_ref();
        &open.expect("connect() comes first").1
    }

    /// Connects, and goes on until nothing is on the way.
    ///
    /// # Panics
    /// Panics if quinn does not connect. That is a mistake in its settings.
    pub fn connect(&mut self) {
        let connected =
            (self.client.endpoint).connect(self.now, self.config.clone(), SERVER, "accord");
        self.client.open = Some(connected.expect("the settings are sound"));
        while !(self.client.coming.is_empty() && self.server.coming.is_empty())
            || self.connection().is_handshaking()
        {
            assert!(self.step(None), "quinn does not connect");
        }
        self.flush();
    }

    /// Sends so many bytes over a stream, at most for `span` longer. Returns whether all arrived.
    ///
    /// # Panics
    /// Panics before [`Pair::connect`].
    pub fn send(&mut self, bytes: u64, span: Duration) -> bool {
        let (_, connection) = self.client.open.as_mut().expect("connect() comes first");
        self.stream = connection.streams().open(Dir::Uni);
        (self.left, self.finished) = (bytes, false);
        let end = self.now + span;
        let whole = self.received + bytes;
        while self.received < whole && self.step(Some(end)) {}
        self.received >= whole
    }

    /// Goes on to the next event before `end`. Returns whether there is one.
    fn step(&mut self, end: Option<Instant>) -> bool {
        self.flush();
        let timer = |end: &mut End| end.open.as_mut().and_then(|(_, c)| c.poll_timeout());
        let arrival = |end: &End| end.coming.front().map(|(at, ..)| *at);
        let next = [
            timer(&mut self.client),
            timer(&mut self.server),
            arrival(&self.client),
            arrival(&self.server),
        ];
        let Some(next) = next.into_iter().flatten().min() else {
            return false;
        };
        if end.is_some_and(|end| next > end) {
            return false;
        }
        self.now = self.now.max(next);
        let now = self.now;
        for end in [&mut self.client, &mut self.server] {
            if let Some((_, c)) = &mut end.open
                && c.poll_timeout().is_some_and(|at| at <= now)
            {
                c.handle_timeout(now);
            }
        }
        self.client.arrive(now);
        self.server.arrive(now);
        true
    }

    /// Sends all that both ends have to send now.
    fn flush(&mut self) {
        self.feed();
        self.received += self.server.read();
        let mut sent = Vec::new();
        self.client.transmit(self.now, &mut sent);
        for (ecn, data) in sent.drain(..) {
            if self.first.is_empty() {
                self.first.clone_from(&data);
            }
            if let Some(at) = self.forward(data.len() as u64 + HEADERS) {
                self.server
                    .coming
                    .push_back((at, ecn, data.as_slice().into()));
            }
        }
        self.server.transmit(self.now, &mut sent);
        for (ecn, data) in sent {
            let at = self.now + self.link.delay;
            self.client
                .coming
                .push_back((at, ecn, data.as_slice().into()));
        }
    }

    /// Returns when a packet of so many bytes arrives, unless it is dropped.
    fn forward(&mut self, bytes: u64) -> Option<Instant> {
        if self.link.rate == 0 {
            return Some(self.now + self.link.delay);
        }
        let busy = self.free.saturating_duration_since(self.now);
        let queued = (busy.as_secs_f64() * self.link.rate as f64 / 8.0) as u64;
        if queued + bytes > self.link.buffer {
            self.dropped += 1;
            return None;
        }
        let span = bytes as f64 * 8.0 / self.link.rate as f64;
        self.free = self.free.max(self.now) + Duration::from_secs_f64(span);
        Some(self.free + self.link.delay)
    }

    /// Gives the stream as much as it takes.
    fn feed(&mut self) {
        let (Some(stream), Some((_, connection))) = (self.stream, &mut self.client.open) else {
            return;
        };
        let zeros = [0; 1 << 16];
        let mut sending = connection.send_stream(stream);
        while self.left > 0 {
            let chunk = &zeros[..zeros.len().min(self.left as usize)];
            match sending.write(chunk) {
                Ok(n) => self.left -= n as u64,
                Err(_) => break,
            }
        }
        if self.left == 0 && !self.finished {
            self.finished = sending.finish().is_ok();
        }
    }
}

impl End {
    /// Takes the datagrams that have arrived.
    fn arrive(&mut self, now: Instant) {
        while let Some((_, ecn, data)) = self.coming.pop_front_if(|(at, ..)| *at <= now) {
            let peer = if self.address == CLIENT {
                SERVER
            } else {
                CLIENT
            };
            let mut answer = Vec::new();
            match (self.endpoint).handle(now, peer, None, ecn, data, &mut answer) {
                Some(DatagramEvent::ConnectionEvent(_, event)) => {
                    if let Some((_, connection)) = &mut self.open {
                        connection.handle_event(event);
                    }
                }
                Some(DatagramEvent::NewConnection(incoming)) => {
                    let accepted = (self.endpoint).accept(incoming, now, &mut answer, None);
                    self.open = accepted.ok();
                }
                Some(DatagramEvent::Response(_)) | None => {}
            }
            self.talk();
        }
    }

    /// Lets the endpoint and its connection tell each other what they have to.
    fn talk(&mut self) {
        let Some((handle, connection)) = &mut self.open else {
            return;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
    }

    /// Appends the datagrams that are to be sent now.
    fn transmit(&mut self, now: Instant, to: &mut Vec<(Option<EcnCodepoint>, Vec<u8>)>) {
        self.talk();
        let Some((_, connection)) = &mut self.open else {
            return;
        };
        let mut buffer = Vec::new();
        while let Some(transmit) = connection.poll_transmit(now, 1, &mut buffer) {
            buffer.truncate(transmit.size);
            to.push((transmit.ecn, std::mem::take(&mut buffer)));
        }
        self.talk();
    }

    /// Reads all streams. Returns how many bytes came.
    fn read(&mut self) -> u64 {
        let Some((_, connection)) = &mut self.open else {
            return 0;
        };
        let mut bytes = 0;
        let mut readable = Vec::new();
        while let Some(event) = connection.poll() {
            if let Event::Stream(quinn_proto::StreamEvent::Readable { id }) = event {
                readable.push(id);
            }
        }
        while let Some(id) = connection.streams().accept(Dir::Uni) {
            readable.push(id);
        }
        for id in readable {
            let mut stream = connection.recv_stream(id);
            let Ok(mut chunks) = stream.read(true) else {
                continue;
            };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                bytes += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
        bytes
    }
}
