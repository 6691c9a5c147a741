//! Connections of noq that carry flows of Accord, by [`accord_net::Net::carry`].
//!
//! [noq](https://github.com/n0-computer/noq) is a fork of quinn, with several paths per connection and a BBRv3 of its
//! own. Both ends are its state machines, on the time of the run, with TLS 1.3 between them. Random
//! numbers of noq are of the flow's seed. Keys of TLS are random, and no length depends on them, so the sizes
//! and the times of all packets repeat themselves. Full datagrams have one size: noq does not probe the MTU of its
//! path. A run whose logs are kept has the qlog that noq writes.

use accord_net::{Bytes, Carried, Datagram, Duration, Ends, Log, Setup, Time, View};
use bytes::BytesMut;
use noq_proto::congestion::{Bbr3Config, ControllerFactory, CubicConfig, NewRenoConfig};
use noq_proto::rustls::RootCertStore;
use noq_proto::rustls::pki_types::PrivatePkcs8KeyDer;
use noq_proto::{
    ClientConfig, Connection, ConnectionError, ConnectionHandle, ConnectionId, DatagramEvent, Dir,
    EcnCodepoint, Endpoint, EndpointConfig, Event, FourTuple, PathId, QlogConfig, QlogFactory,
    ServerConfig, Side, StreamEvent, StreamId, TransportConfig, VarInt,
};
use rcgen::{CertificateParams, KeyPair};
use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Instant;

/// The address of either end for noq, which only compares it.
const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
/// The headers of IP and UDP around a datagram.
const OUTER: u64 = 28;
/// The overhead of a full datagram: the first byte, a connection identifier, a packet number and the tag
/// [RFC 9000 §17.3.1], and the header of a stream frame with the longest offset [RFC 9000 §19.8].
const OVERHEAD: u64 = 1 + 8 + 4 + 16 + 1 + 1 + 8;
/// The least datagram of an Initial packet [RFC 9000 §14.1].
const LEAST: u64 = 1200;
/// The receive window in bytes.
const WINDOW: u32 = 64 << 20;
/// The bytes of application data that noq buffers.
const WRITTEN: u64 = 16 << 20;
/// The data sent.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// The congestion control of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionControl {
    /// noq's CUBIC, its default.
    Cubic,
    /// noq's NewReno.
    NewReno,
    /// noq's BBRv3. Its random numbers have a seed that noq does not let others set, so runs
    /// differ.
    Bbr3,
}

impl CongestionControl {
    fn factory(self) -> Arc<dyn ControllerFactory + Send + Sync> {
        match self {
            CongestionControl::Cubic => Arc::new(CubicConfig::default()),
            CongestionControl::NewReno => Arc::new(NewRenoConfig::default()),
            CongestionControl::Bbr3 => Arc::new(Bbr3Config::default()),
        }
    }
}

/// Returns the function that creates connections with this congestion control, for
/// [`accord_net::Net::carry`]. It fails for packets that an Initial packet of QUIC does not fit into.
pub fn with(
    control: CongestionControl,
) -> impl Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static {
    move |setup| {
        let size = setup.packet.get().saturating_sub(OUTER);
        if size < LEAST {
            let least = LEAST + OUTER;
            return Err(format!("packets of {} are below {least} B of QUIC", setup.packet));
        }
        ends(setup, control).map_err(|e| format!("cannot make a connection of noq: {e}"))
    }
}

/// A private key of Ed25519 [RFC 8410 §7], which both ends know. Its signatures have one length, those of other keys
/// have several.
fn key() -> PrivatePkcs8KeyDer<'static> {
    let mut key = vec![0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    key.resize(48, 42);
    key.into()
}

/// Creates both ends.
fn ends(setup: &Setup<'_>, control: CongestionControl) -> Result<Ends, Box<dyn Error>> {
    let size = u16::try_from(setup.packet.get() - OUTER)?;
    let names = CertificateParams::new(["accord".to_owned()])?;
    let certificate = names.self_signed(&KeyPair::try_from(&key())?)?.der().clone();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let mut client = ClientConfig::with_root_certificates(Arc::new(roots))?;
    let mut server = ServerConfig::with_single_cert(vec![certificate], key().into())?;
    let log = |number: usize| setup.logs.map(|logs| logs[number].clone());
    let mut sending = transport(size, log(0));
    sending.congestion_controller_factory(control.factory());
    client.transport_config(Arc::new(sending));
    server.transport_config(Arc::new(transport(size, log(1))));
    let seed = setup.seed.unwrap_or_default();
    // The first identifier of a connection is of random numbers that no seed reaches.
    client.initial_dst_cid_provider(Arc::new(move || {
        ConnectionId::new(&[seed.to_be_bytes(), [1; 8]].concat())
    }));
    let end = |number: u8, server: Option<ServerConfig>, client| -> Result<End, Box<dyn Error>> {
        let mut config = EndpointConfig::default();
        let mut bytes = [number; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        config.rng_seed(Some(bytes)).max_udp_payload_size(size)?;
        let endpoint = Endpoint::new(Arc::new(config), server.map(Arc::new), true);
        Ok(End::new(endpoint, client, setup.packet.get()))
    };
    Ok([Box::new(end(0, None, Some(client))?), Box::new(end(1, Some(server), None)?)])
}

/// The settings of an end.
fn transport(size: u16, log: Option<Log>) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .initial_mtu(size)
        .min_mtu(size)
        .mtu_discovery_config(None)
        .enable_segmentation_offload(false)
        .max_idle_timeout(None)
        .stream_receive_window(VarInt::from_u32(WINDOW))
        .receive_window(VarInt::from_u32(WINDOW))
        .send_window(WRITTEN);
    if let Some(log) = log {
        config.qlog_factory(Arc::new(Qlog(log)));
    }
    config
}

/// The log of an end as a writer of noq's qlog.
struct Qlog(Log);

impl QlogFactory for Qlog {
    fn for_connection(
        &self,
        _: Side,
        _: SocketAddr,
        _: ConnectionId,
        _: Instant,
    ) -> Option<QlogConfig> {
        Some(QlogConfig::new(Box::new(self.0.clone())))
    }
}

/// An end of a connection.
struct End {
    /// The instant that is the begin of the run. noq only uses differences to it.
    zero: Instant,
    endpoint: Endpoint,
    open: Option<(ConnectionHandle, Connection)>,
    /// The settings of the sending end, until it connects.
    client: Option<ClientConfig>,
    /// The size of a full packet.
    packet: u64,
    stream: Option<StreamId>,
    /// The bytes that noq has not taken. `u64::MAX` is unlimited.
    unsent: u64,
    /// True if the stream ends after the unsent bytes.
    finish: bool,
    /// The transfers supplied, and those acknowledged.
    transfers: u64,
    finished: u64,
    stopped: bool,
    view: View,
    broken: Option<String>,
    buffer: Vec<u8>,
}

impl End {
    fn new(endpoint: Endpoint, client: Option<ClientConfig>, packet: u64) -> End {
        #[expect(clippy::disallowed_methods, reason = "only differences to it are used")]
        let zero = Instant::now();
        End {
            zero,
            endpoint,
            open: None,
            client,
            packet,
            stream: None,
            unsent: 0,
            finish: false,
            transfers: 0,
            finished: 0,
            stopped: false,
            view: View::default(),
            broken: None,
            buffer: Vec::new(),
        }
    }

    /// The instant of a time. It has nanoseconds: fractions are cut off.
    fn instant(&self, time: Time) -> Instant {
        self.zero + std::time::Duration::from(time.since(Time::ZERO))
    }

    /// Opens the connection.
    fn connect(&mut self, config: ClientConfig, now: Time) {
        match self.endpoint.connect(self.instant(now), config, PEER, "accord") {
            Ok(open) => self.open = Some(open),
            Err(e) => self.broken = Some(e.to_string()),
        }
    }

    /// Writes data until noq takes no more, over a stream that is opened when the peer allows it.
    fn feed(&mut self) {
        let Some((_, connection)) = &mut self.open else {
            return;
        };
        if self.unsent > 0 && self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        let mut sending = connection.send_stream(stream);
        while self.unsent > 0 {
            let length = usize::try_from(self.unsent).map_or(ZEROS.len(), |n| n.min(ZEROS.len()));
            let mut chunk = [bytes::Bytes::from_static(&ZEROS[..length])];
            match sending.write_chunks(&mut &mut chunk[..]) {
                Ok(written) if self.unsent < u64::MAX => self.unsent -= written as u64,
                Ok(_) => {}
                // It has no room, or the connection ends.
                Err(_) => return,
            }
        }
        if self.finish && sending.finish().is_ok() {
            (self.finish, self.stream) = (false, None);
        }
    }

    /// Exchanges events between the endpoint and its connection, and reads the data that has arrived. Returns its
    /// bytes.
    fn turn(&mut self) -> u64 {
        let Some((handle, connection)) = &mut self.open else {
            return 0;
        };
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(answer) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(answer);
            }
        }
        let mut streams = Vec::new();
        while let Some(event) = connection.poll() {
            match event {
                Event::Stream(StreamEvent::Readable { id }) => streams.push(id),
                Event::Stream(StreamEvent::Finished { .. }) => self.finished += 1,
                // A peer that has stopped closes the connection.
                Event::ConnectionLost { reason: ConnectionError::ApplicationClosed(_) } => {}
                Event::ConnectionLost { reason } if !self.stopped => {
                    self.broken.get_or_insert_with(|| reason.to_string());
                }
                _ => {}
            }
        }
        while let Some(id) = connection.streams().accept(Dir::Uni) {
            streams.push(id);
        }
        let mut bytes = 0;
        for id in streams {
            let mut stream = connection.recv_stream(id);
            let Ok(mut chunks) = stream.read(false) else {
                continue;
            };
            while let Ok(Some(chunk)) = chunks.next(usize::MAX) {
                bytes += chunk.bytes.len() as u64;
            }
            let _ = chunks.finalize();
        }
        bytes
    }

    /// The STREAM frames that have arrived.
    fn frames(&mut self) -> u64 {
        self.open.as_mut().map_or(0, |(_, connection)| connection.stats().frame_rx.stream)
    }

    /// Reads the state of the first path.
    fn look(&mut self) {
        let Some((_, connection)) = &mut self.open else {
            return;
        };
        let Some(stats) = connection.path_stats(PathId::ZERO) else {
            return;
        };
        let in_packets = |bytes: u64| {
            let bytes = u128::from(bytes) * u128::from(self.packet);
            let payload = u128::from(self.packet - OUTER);
            Bytes::new(u64::try_from(bytes / payload).unwrap_or(u64::MAX))
        };
        let threshold = connection.congestion_state(PathId::ZERO);
        let threshold = threshold.and_then(|state| state.metrics().ssthresh);
        // Before the first sample noq shows its initial estimate.
        let rtt = (!connection.is_handshaking()).then(|| Duration::from(stats.rtt));
        self.view = View {
            cwnd: Some(in_packets(stats.cwnd)),
            ssthresh: threshold.filter(|bytes| *bytes < u64::MAX).map(in_packets),
            rtt,
            min_rtt: rtt.map(|rtt| self.view.min_rtt.map_or(rtt, |min| min.min(rtt))),
            retransmissions: stats.lost_packets,
            ..View::default()
        };
    }
}

impl Carried for End {
    fn supply(&mut self, packets: u64, is_transfer: bool, now: Time) {
        let data = packets.saturating_mul(self.packet - OUTER - OVERHEAD);
        self.unsent = self.unsent.saturating_add(data);
        self.finish |= is_transfer;
        self.transfers += u64::from(is_transfer);
        if let Some(config) = self.client.take() {
            self.connect(config, now);
        }
        self.feed();
    }

    fn receive(&mut self, payload: &[u8], ecn: u8, now: Time) -> bool {
        let (known, now) = (self.frames(), self.instant(now));
        let ecn = EcnCodepoint::from_bits(ecn);
        let data = BytesMut::from(payload);
        self.buffer.clear();
        let path = FourTuple::from(PEER);
        match self.endpoint.handle(now, path, ecn, data, &mut self.buffer) {
            Some(DatagramEvent::ConnectionEvent(_, event)) => {
                if let Some((_, connection)) = &mut self.open {
                    connection.handle_event(event);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                match self.endpoint.accept(incoming, now, &mut self.buffer, None) {
                    Ok(open) => self.open = Some(open),
                    Err(e) => self.broken = Some(e.cause.to_string()),
                }
            }
            // A response belongs to a datagram without a connection.
            Some(DatagramEvent::Response(_)) | None => {}
        }
        let bytes = self.turn();
        // Packets without data, such as those of the handshake, are never copies.
        bytes > 0 || self.frames() == known
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        self.turn();
        self.feed();
        let now = self.instant(now);
        let (_, connection) = self.open.as_mut()?;
        self.buffer.clear();
        let transmit = connection.poll_transmit(now, NonZeroUsize::MIN, &mut self.buffer);
        self.turn();
        let transmit = transmit?;
        let payload = self.buffer[..transmit.size].to_vec();
        Some(Datagram { payload, ecn: transmit.ecn.map_or(0, |codepoint| codepoint as u8) })
    }

    fn next_wake(&mut self) -> Time {
        self.look();
        let at = self.open.as_ref().and_then(|(_, connection)| connection.poll_timeout());
        let since = at.map(|at| at.saturating_duration_since(self.zero));
        since.map_or(Time::MAX, |since| Time::ZERO + Duration::from(since))
    }

    fn on_wake(&mut self, now: Time) {
        let now = self.instant(now);
        if let Some((_, connection)) = &mut self.open
            && connection.poll_timeout().is_some_and(|at| at <= now)
        {
            connection.handle_timeout(now);
        }
        self.turn();
    }

    fn is_done(&self) -> bool {
        self.finished >= self.transfers
    }

    fn stop(&mut self, now: Time) {
        (self.stopped, self.unsent, self.client) = (true, 0, None);
        let now = self.instant(now);
        if let Some((_, connection)) = &mut self.open {
            connection.close(now, VarInt::from_u32(0), bytes::Bytes::new());
        }
    }

    fn view(&self) -> View {
        self.view
    }

    fn broken(&self) -> Option<String> {
        self.broken.clone()
    }
}
