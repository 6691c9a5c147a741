//! A connection of quinn through a bottleneck, in memory and on a private clock.
//!
//! Both ends are quinn's own state machines. There are no sockets, no threads and no time of the
//! machine, so a transfer over minutes takes a moment.

#![allow(dead_code, reason = "each test uses a part")]

#[path = "../../src/end.rs"]
mod end;

use accord_quinn::Plain;
use end::End;
use quinn_proto::{Connection, Dir, EcnCodepoint, Endpoint, StreamId, TransportConfig};
use std::collections::VecDeque;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The addresses of the ends, which are arbitrary.
const CLIENT: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
const SERVER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 2);

/// The overhead of a UDP payload on the wire: the headers of IPv4 and UDP.
const HEADERS: u64 = 28;

/// The path from the client to the server. The reverse path has the same delay and no bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The rate in bit/s.
    pub rate: u64,
    /// The size of the buffer in bytes, including the headers of IPv4 and UDP.
    pub buffer: u64,
    /// The one-way delay.
    pub delay: Duration,
}

/// An end of the connection, and the datagrams in flight to it in the order of their arrival.
struct Host {
    end: End,
    coming: VecDeque<(Instant, Option<EcnCodepoint>, Vec<u8>)>,
}

/// A client that sends to a server.
pub struct Pair {
    client: Host,
    server: Host,
    config: quinn_proto::ClientConfig,
    link: Link,
    now: Instant,
    /// The time at which the bottleneck becomes idle.
    free: Instant,
    stream: Option<StreamId>,
    finished: bool,
    /// The bytes not yet written to the stream.
    left: u64,
    received: u64,
    dropped: u64,
}

impl Pair {
    /// Creates a client and a server that are not connected, with the settings of each.
    pub fn new(client: Arc<TransportConfig>, server: Arc<TransportConfig>, link: Link) -> Pair {
        #[expect(clippy::disallowed_methods, reason = "only differences to it are used")]
        let now = Instant::now();
        let mut config = Plain::client();
        config.transport_config(client);
        let mut accepting = Plain::server();
        accepting.transport_config(server);
        let host = |accepts: Option<quinn_proto::ServerConfig>, peer| {
            let own = Arc::new(Plain::endpoint(0));
            let endpoint = Endpoint::new(own, accepts.map(Arc::new), false, Some([3; 32]));
            Host { end: End::new(endpoint, peer), coming: VecDeque::new() }
        };
        Pair {
            client: host(None, SERVER),
            server: host(Some(accepting), CLIENT),
            config,
            link,
            now,
            free: now,
            stream: None,
            finished: false,
            left: 0,
            received: 0,
            dropped: 0,
        }
    }

    /// The current time.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The bytes of the application that the server has received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// The number of datagrams dropped at the full buffer.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The client's connection.
    ///
    /// # Panics
    /// Panics before [`Pair::connect`].
    pub fn connection(&self) -> &Connection {
        let connection = self.client.end.connection();
        connection.expect("connect() comes first")
    }

    /// Connects, and runs until nothing is in flight.
    ///
    /// # Panics
    ///
    /// Panics if quinn does not connect, which is an error in its settings.
    pub fn connect(&mut self) {
        let connected = (self.client.end).connect(self.now, self.config.clone());
        connected.expect("the settings are sound");
        while !(self.client.coming.is_empty() && self.server.coming.is_empty())
            || self.connection().is_handshaking()
        {
            assert!(self.step(None), "quinn does not connect");
        }
        self.flush();
    }

    /// Sends `bytes` bytes over a stream, for at most `span`. Returns true if all arrived.
    ///
    /// # Panics
    /// Panics before [`Pair::connect`].
    pub fn send(&mut self, bytes: u64, span: Duration) -> bool {
        let connection = self.client.end.connection_mut();
        let connection = connection.expect("connect() comes first");
        self.stream = connection.streams().open(Dir::Uni);
        (self.left, self.finished) = (bytes, false);
        let end = self.now + span;
        let whole = self.received + bytes;
        while self.received < whole && self.step(Some(end)) {}
        self.received >= whole
    }

    /// Advances to the next event before `end`. Returns false if there is none.
    fn step(&mut self, end: Option<Instant>) -> bool {
        self.flush();
        let arrival = |host: &Host| host.coming.front().map(|(at, ..)| *at);
        let next = [
            self.client.end.deadline(),
            self.server.end.deadline(),
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
        for host in [&mut self.client, &mut self.server] {
            host.end.expire(now);
        }
        for host in [&mut self.client, &mut self.server] {
            while let Some((_, ecn, data)) = host.coming.pop_front_if(|(at, ..)| *at <= now) {
                host.end.arrive(now, ecn, &data);
            }
        }
        true
    }

    /// Sends all datagrams that both ends have at present.
    fn flush(&mut self) {
        self.feed();
        self.received += self.server.end.read();
        while let Some((ecn, data)) = self.client.end.transmit(self.now) {
            if let Some(at) = self.forward(data.len() as u64 + HEADERS) {
                self.server.coming.push_back((at, ecn, data));
            }
        }
        while let Some((ecn, data)) = self.server.end.transmit(self.now) {
            let at = self.now + self.link.delay;
            self.client.coming.push_back((at, ecn, data));
        }
    }

    /// Returns the arrival time of a packet of `bytes` bytes, unless it is dropped.
    fn forward(&mut self, bytes: u64) -> Option<Instant> {
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

    /// Writes data until the stream accepts no more.
    fn feed(&mut self) {
        let (Some(stream), Some(connection)) = (self.stream, self.client.end.connection_mut())
        else {
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
