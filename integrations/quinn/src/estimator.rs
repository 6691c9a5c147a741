//! quinn's estimator of round-trip times, for given samples.
//!
//! A controller of quinn receives the estimator of its connection, [`RttEstimator`]. It has no public
//! constructor, and its fields are private, but it can be copied. This module therefore has a connection of
//! quinn in memory, with a controller that copies the estimator. Each sample is a packet of this connection
//! that is acknowledged after the sample's time, on a private clock.

use crate::end::End;
use crate::plain::Plain;
use accord_units::Duration;
use bytes::BytesMut;
use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Endpoint, RttEstimator, ServerConfig,
    TransportConfig,
};
use std::any::Any;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The address of either end, which is arbitrary.
const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 2);

/// The latest copy of the estimator.
type Seen = Arc<Mutex<Option<RttEstimator>>>;

/// An estimator of round-trip times, as in a connection of quinn.
pub struct Estimator {
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    seen: Seen,
    /// The private clock of the connection.
    now: Instant,
    /// The connection identifier of the client.
    client_id: [u8; CID],
    /// The number of the last packet of each side.
    sent: Option<u64>,
    answered: u32,
    buffer: Vec<u8>,
    /// True after the first sample.
    sampled: bool,
}

/// The length of the connection identifiers that quinn makes.
const CID: usize = 8;

impl Estimator {
    /// Takes a sample. Returns the estimator before it, which a controller of quinn receives as
    /// well.
    ///
    /// # Panics
    ///
    /// Panics if quinn ignores an acknowledgement.
    pub fn sample(&mut self, rtt: Duration) -> RttEstimator {
        self.connection.ping();
        self.buffer.clear();
        let sent = (self.connection).poll_transmit(self.now, 1, &mut self.buffer);
        assert!(sent.is_some(), "nothing holds a ping back");
        let number = number(&self.buffer, self.sent);
        self.sent = Some(number);
        self.now += std::time::Duration::from(rtt);
        self.acknowledge(number);
        self.sampled = true;
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.take().expect("an acknowledgement is noticed")
    }

    /// Acknowledges a packet to the connection.
    fn acknowledge(&mut self, number: u64) {
        self.answered += 1;
        let mut packet = BytesMut::with_capacity(64);
        // A short header with a packet number of four bytes [RFC 9000 §17.3.1].
        packet.extend([0x43]);
        packet.extend(self.client_id);
        packet.extend(self.answered.to_be_bytes());
        // ACK: the largest number, no delay, no further ranges, one packet [RFC 9000 §19.3].
        packet.extend([0x02]);
        packet.extend((number | 0xc000_0000_0000_0000).to_be_bytes());
        packet.extend([0, 0, 0]);
        packet.extend([0; 16]);
        let (now, buffer) = (self.now, &mut self.buffer);
        let event = (self.endpoint).handle(now, PEER, None, None, packet, buffer);
        if let Some(DatagramEvent::ConnectionEvent(handle, event)) = event
            && handle == self.handle
        {
            self.connection.handle_event(event);
        }
        // The events are not used.
        while self.connection.poll().is_some() {}
        while let Some(event) = self.connection.poll_endpoint_events() {
            let answer = self.endpoint.handle_event(self.handle, event);
            answer.into_iter().for_each(|e| self.connection.handle_event(e));
        }
    }

    /// The smallest and the smoothed round-trip time after the last sample.
    pub fn shown(&self) -> Option<(Duration, Duration)> {
        let shown =
            || (Duration::from(self.connection.min_rtt()), Duration::from(self.connection.rtt()));
        self.sampled.then(shown)
    }
}

/// A connection cannot be copied. Two samples give a new one the same smallest and smoothed round-trip time:
/// m, and then r with (7 m + r) / 8 the smoothed one.
impl Clone for Estimator {
    fn clone(&self) -> Estimator {
        let mut copy = Estimator::default();
        if let Some((min, smoothed)) = self.shown() {
            copy.sample(min);
            let rest = 8 * smoothed.as_ps() - 7 * min.as_ps();
            copy.sample(Duration::from_ps(rest));
        }
        copy
    }
}

/// An estimator without samples. Its creation panics if quinn does not connect to itself in memory.
impl Default for Estimator {
    fn default() -> Estimator {
        let seen = Seen::default();
        #[expect(clippy::disallowed_methods, reason = "only differences to it are used")]
        let now = Instant::now();
        let (client, first) = connected(Arc::new(transport(&seen)), now);
        let client_id = source(&first).expect("the first packet has a long header");
        let (endpoint, handle, mut connection) = client.into_parts().expect("it is connected");
        // The round trips of the handshake took no time. A new path resets the estimator.
        connection.path_changed(now);
        Estimator {
            endpoint,
            handle,
            connection,
            seen,
            now,
            sent: None,
            client_id,
            answered: 1 << 20,
            buffer: Vec::new(),
            sampled: false,
        }
    }
}

impl fmt::Debug for Estimator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Estimator").field("shown", &self.shown()).finish_non_exhaustive()
    }
}

/// Connects two ends without a delay between them. Returns the client and its first packet.
fn connected(transport: Arc<TransportConfig>, now: Instant) -> (End, Vec<u8>) {
    let end = |server: Option<ServerConfig>| {
        let config = Arc::new(Plain::endpoint(0));
        End::new(Endpoint::new(config, server.map(Arc::new), false, Some([3; 32])), PEER)
    };
    let (mut config, mut accepting) = (Plain::client(), Plain::server());
    config.transport_config(transport.clone());
    accepting.transport_config(transport);
    let (mut client, mut server) = (end(None), end(Some(accepting)));
    client.connect(now, config).expect("the settings are sound");
    let mut sent = Vec::new();
    // The server never hears that the client is connected: it would make it retire its identifier.
    while client.connection().is_none_or(Connection::is_handshaking) {
        let before = sent.len();
        while let Some((ecn, data)) = client.transmit(now) {
            server.arrive(now, ecn, &data);
            sent.push(data);
        }
        assert!(sent.len() > before, "quinn does not connect");
        while let Some((ecn, data)) = server.transmit(now) {
            client.arrive(now, ecn, &data);
        }
    }
    while client.transmit(now).is_some() {}
    (client, sent.swap_remove(0))
}

/// Returns the number of a packet with a short header, which contains only its last bytes. `last`
/// is the number of the previous one.
fn number(packet: &[u8], last: Option<u64>) -> u64 {
    let length = usize::from(packet[0] & 3) + 1;
    let bytes = &packet[1 + CID..][..length];
    let low = bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b));
    let span = 1 << (8 * length);
    let number = (last.unwrap_or(0) & !(span - 1)) | low;
    if Some(number) > last { number } else { number + span }
}

/// Returns the identifier of the sender of a packet with a long header [RFC 9000 §17.2].
fn source(packet: &[u8]) -> Option<[u8; CID]> {
    let destination = usize::from(*packet.get(5)?);
    let source = packet.get(6 + destination + 1..)?;
    source.first_chunk().copied()
}

/// The settings of both ends. They send nothing without a request.
fn transport(seen: &Seen) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .mtu_discovery_config(None)
        .max_idle_timeout(None)
        .allow_spin(false)
        .congestion_controller_factory(Arc::new(Witness(seen.clone())));
    config
}

/// A controller without limits that copies the estimator.
#[derive(Clone)]
struct Witness(Seen);

impl ControllerFactory for Witness {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new(Witness(self.0.clone()))
    }
}

impl Controller for Witness {
    fn on_ack(&mut self, _: Instant, _: Instant, _: u64, _: bool, rtt: &RttEstimator) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(*rtt);
    }

    fn on_congestion_event(&mut self, _: Instant, _: Instant, _: bool, _: u64) {}

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        u64::MAX / 2
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.window()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
