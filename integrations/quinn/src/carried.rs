//! Transfers of quinn that carry flows in packets and live.
//!
//! Both ends are quinn's own state machines, on the time of the run, with TLS 1.3 or no encryption
//! ([`Plain`]) between them. With a seed, the sizes and times of all packets are repeatable: keys are random,
//! but no length depends on them. Each transfer of a flow is a stream, and any other demand is one stream.
//! Full datagrams have a constant size, so quinn does not probe the MTU of its path, and each is one packet
//! (no segmentation offload).

use crate::clock::Clock;
use crate::end::End;
use crate::factories::Made;
use crate::plain::{Plain, seeded};
use accord_family::{Value, Values};
use accord_transport::wire::UDP_HEADERS;
use accord_transport::{Carried, Datagram, Ends, Log, Setup, View};
use accord_units::{Bytes, Duration, Time};
use quinn_proto::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn_proto::rustls::crypto::ring;
use quinn_proto::rustls::pki_types::PrivatePkcs8KeyDer;
use quinn_proto::rustls::version::TLS13;
use quinn_proto::rustls::{self, KeyLogFile, RootCertStore};
use quinn_proto::{
    ClientConfig, ConnectionError, Dir, EcnCodepoint, Endpoint, EndpointConfig, QlogConfig,
    QlogStream, ServerConfig, StreamId, TransportConfig, VarInt,
};
use rcgen::{CertificateParams, KeyPair};
use std::error::Error;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// The addresses of the ends for quinn, which only compares them.
const PEER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 1);
/// The overhead of a full datagram in bytes: the first byte, the connection identifier, the packet
/// number and the tag [RFC 9000 §17.3.1], and the header of a stream frame with the longest offset
/// [RFC 9000 §19.8].
const OVERHEAD: u64 = 1 + 8 + 4 + 16 + 1 + 1 + 8;
/// The window of the receiver, in bytes, as for connections of the kernel.
const WINDOW: u32 = 64 << 20;
/// The bytes of application data that quinn buffers.
const WRITTEN: u64 = 16 << 20;
/// The maximum number of bytes sent between two writes. quinn searches its buffer piece by piece, so data is
/// not written in the small pieces for which acknowledgements make room.
const BETWEEN: u64 = 1 << 20;
/// The data sent.
static ZEROS: [u8; 1 << 20] = [0; 1 << 20];

/// Returns the size of the datagrams that fill packets of this size.
pub fn payload(packet: Bytes) -> Bytes {
    Bytes::new(packet.get().saturating_sub(UDP_HEADERS as u64))
}

/// Returns a function for `accord_net::Net::carry` that creates connections with TLS 1.3, whose sending ends
/// have this congestion control.
pub fn with(
    controller: Made,
) -> impl Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static {
    move |setup| connect(setup, controller.clone(), true)
}

/// Creates both ends of a connection, with TLS or without encryption. The sending end has this
/// controller.
pub fn connect(setup: &Setup<'_>, controller: Made, tls: bool) -> Result<Ends, String> {
    let payload = payload(setup.packet).get();
    let size = u16::try_from(payload).map_err(|e| format!("{}: {e}", setup.packet))?;
    let clock = Clock::default();
    let said = |e: &dyn fmt::Display| format!("cannot make a connection of quinn: {e}");
    let (mut client, mut server, mut config) = if tls {
        let (client, server) = encrypted().map_err(|e| said(&e))?;
        (client, server, EndpointConfig::default())
    } else {
        (Plain::client(), Plain::server(), Plain::endpoint(0))
    };
    config.rng_seed(setup.seed.map(seeded));
    let mut sending = transport(size);
    sending.congestion_controller_factory(controller);
    let mut receiving = transport(size);
    if let Some([sender, receiver]) = setup.logs {
        sending.qlog_stream(log(sender, "sender", clock));
        receiving.qlog_stream(log(receiver, "receiver", clock));
    }
    client.transport_config(Arc::new(sending));
    server.transport_config(Arc::new(receiving));
    config.max_udp_payload_size(size).map_err(|e| said(&e))?;
    let config = Arc::new(config);
    let end = |server: Option<ServerConfig>, client: Option<ClientConfig>| Transfer {
        clock,
        sends: client.is_some(),
        frames: 0,
        end: End::new(Endpoint::new(config.clone(), server.map(Arc::new), true, None), PEER),
        client,
        packet: setup.packet.get(),
        payload,
        asks_for_marks: marks(setup.controller),
        stream: None,
        unsent: 0,
        written: 0,
        sent: 0,
        finish: false,
        finished: 0,
        stopped: false,
        broken: None,
    };
    Ok([Box::new(end(None, Some(client))), Box::new(end(Some(server), None))])
}

/// A private key of Ed25519 [RFC 8410 §7], which both ends know. All of its signatures have the same length,
/// unlike those of other keys.
const KEY: [u8; 48] = {
    let mut key = [42; 48];
    let head = [0x30, 0x2e, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 0x22, 4, 0x20];
    let mut i = 0;
    while i < head.len() {
        key[i] = head[i];
        i += 1;
    }
    key
};

/// Returns a client and a server with TLS 1.3 and AES-128-GCM, whose packets are as long as those
/// of other ciphers. The keys are appended to the file that `SSLKEYLOGFILE` names.
fn encrypted() -> Result<(ClientConfig, ServerConfig), Box<dyn Error>> {
    let key = PrivatePkcs8KeyDer::from(KEY.to_vec());
    let names = CertificateParams::new(["accord".to_owned()])?;
    let certificate = names.self_signed(&KeyPair::try_from(&key)?)?.der().clone();
    let mut roots = RootCertStore::empty();
    roots.add(certificate.clone())?;
    let mut provider = ring::default_provider();
    provider.cipher_suites = vec![ring::cipher_suite::TLS13_AES_128_GCM_SHA256];
    let provider = Arc::new(provider);
    let mut client = rustls::ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(&[&TLS13])?
        .with_root_certificates(roots)
        .with_no_client_auth();
    client.key_log = Arc::new(KeyLogFile::new());
    let mut server = rustls::ServerConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])?
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key.into())?;
    server.max_early_data_size = u32::MAX;
    let client = ClientConfig::new(Arc::new(QuicClientConfig::try_from(client)?));
    let server = ServerConfig::with_crypto(Arc::new(QuicServerConfig::try_from(server)?));
    Ok((client, server))
}

/// Returns the log of an end as quinn's qlog, on the time of the run.
fn log(log: &Log, end: &str, clock: Clock) -> Option<QlogStream> {
    let mut config = QlogConfig::default();
    config
        .writer(Box::new(log.clone()))
        .title(Some(format!("quinn, {end}")))
        .start_time(clock.instant(Time::ZERO));
    config.into_stream()
}

/// The settings of both ends.
fn transport(size: u16) -> TransportConfig {
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
    config
}

/// Returns true if a controller asks for marks.
fn marks(values: &Values) -> bool {
    let mut all = values.iter();
    all.any(|(param, value)| param.name == "ecn" && value == Value::Flag(true))
}

/// An end of a connection.
struct Transfer {
    clock: Clock,
    end: End,
    /// The settings of the sending end, until it connects.
    client: Option<ClientConfig>,
    /// True for the sending end.
    sends: bool,
    /// The STREAM frames that have arrived at the receiving end.
    frames: u64,
    /// The size of a full packet, and of the datagram in it.
    packet: u64,
    payload: u64,
    /// True if datagrams are ECN-capable.
    asks_for_marks: bool,
    stream: Option<StreamId>,
    /// The bytes that the application has supplied and quinn has not accepted. `u64::MAX` is
    /// unlimited.
    unsent: u64,
    /// The bytes of the last write, and those of the datagrams since.
    written: u64,
    sent: u64,
    /// True if the stream ends after the unsent bytes.
    finish: bool,
    /// The number of transfers supplied.
    finished: u64,
    stopped: bool,
    broken: Option<String>,
}

impl Transfer {
    /// Writes data until quinn accepts no more, over a stream that is opened when the peer allows
    /// it.
    fn feed(&mut self) {
        // Part of the data is not sent, or there is no room.
        if self.unsent > 0 && (self.end.is_full || self.sent < self.written.min(BETWEEN)) {
            return;
        }
        let Some(connection) = self.end.connection_mut() else {
            return;
        };
        if self.unsent > 0 && self.stream.is_none() {
            self.stream = connection.streams().open(Dir::Uni);
        }
        let Some(stream) = self.stream else { return };
        let mut sending = connection.send_stream(stream);
        let (mut written, mut is_full) = (0, false);
        while self.unsent > 0 && !is_full {
            let chunk = usize::try_from(self.unsent).map_or(ZEROS.len(), |n| n.min(ZEROS.len()));
            let mut chunk = [bytes::Bytes::from_static(&ZEROS[..chunk])];
            match sending.write_chunks(&mut chunk) {
                Ok(taken) => {
                    written += taken.bytes as u64;
                    if self.unsent < u64::MAX {
                        self.unsent -= taken.bytes as u64;
                    }
                }
                Err(_) => is_full = true,
            }
        }
        if written > 0 {
            (self.written, self.sent) = (written, 0);
        }
        let ends = self.finish && !is_full;
        if ends && sending.finish().is_ok() {
            self.finish = false;
            self.stream = None;
        }
        self.end.is_full = is_full;
    }

    /// Processes quinn's events. Returns the number of new bytes received.
    fn listen(&mut self) -> u64 {
        let bytes = self.end.read();
        // A peer that has stopped closes the connection.
        if let Some(lost) = self.end.lost.take()
            && !self.stopped
            && !matches!(lost, ConnectionError::ApplicationClosed(_))
        {
            self.broken.get_or_insert_with(|| lost.to_string());
        }
        bytes
    }

    /// The STREAM frames that have arrived.
    fn frames(&self) -> u64 {
        let connection = self.end.connection();
        connection.map_or(0, |c| c.stats().frame_rx.stream)
    }
}

impl Carried for Transfer {
    fn supply(&mut self, packets: u64, is_transfer: bool, now: Time) {
        let data = self.payload - OVERHEAD;
        self.unsent = self.unsent.saturating_add(packets.saturating_mul(data));
        self.finish |= is_transfer;
        self.finished += u64::from(is_transfer);
        self.written = 0;
        if let Some(config) = self.client.take() {
            let connected = self.end.connect(self.clock.instant(now), config);
            self.broken = connected.err().map(|e| e.to_string());
        }
        self.feed();
    }

    fn is_done(&self) -> bool {
        self.end.finished >= self.finished
    }

    fn stop(&mut self, now: Time) {
        (self.stopped, self.unsent, self.client) = (true, 0, None);
        let now = self.clock.instant(now);
        if let Some(connection) = self.end.connection_mut() {
            connection.close(now, VarInt::from_u32(0), bytes::Bytes::new());
        }
    }

    fn receive(&mut self, payload: &[u8], ecn: u8, now: Time) -> bool {
        let ecn = EcnCodepoint::from_bits(ecn);
        self.end.arrive(self.clock.instant(now), ecn, payload);
        let data = self.listen();
        if self.sends {
            return true;
        }
        // Packets without data, such as those of the handshake, are never copies.
        let frames = self.frames();
        let is_without = std::mem::replace(&mut self.frames, frames) == frames;
        data > 0 || is_without
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        self.feed();
        let (ecn, payload) = self.end.transmit(self.clock.instant(now))?;
        self.sent += payload.len() as u64;
        let ecn = ecn.filter(|_| self.asks_for_marks);
        Some(Datagram { payload, ecn: ecn.map_or(0, |codepoint| codepoint as u8) })
    }

    fn next_wake(&mut self) -> Time {
        let deadline = self.end.deadline();
        deadline.map_or(Time::MAX, |at| self.clock.time(at))
    }

    fn on_wake(&mut self, now: Time) {
        self.end.expire(self.clock.instant(now));
        self.listen();
    }

    fn view(&self) -> View {
        let Some(connection) = self.end.connection() else {
            return View::default();
        };
        let stats = connection.stats().path;
        let in_packets = |bytes: u64| {
            let bytes = u128::from(bytes) * u128::from(self.packet) / u128::from(self.payload);
            Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
        };
        // Before the first sample quinn shows its initial estimate.
        let sampled = !connection.is_handshaking();
        let guess = Duration::from_ms(333);
        let threshold = connection.congestion_state().metrics().ssthresh;
        View {
            pacing: None,
            cwnd: Some(in_packets(stats.cwnd)),
            ssthresh: threshold.filter(|t| *t < u64::MAX).map(in_packets),
            rtt: sampled.then(|| Duration::from(stats.rtt)),
            min_rtt: Some(Duration::from(stats.min_rtt)).filter(|min| sampled && *min < guess),
            accumulation: None,
            retransmissions: stats.lost_packets,
        }
    }

    fn broken(&self) -> Option<String> {
        self.broken.clone()
    }
}

impl fmt::Debug for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transfer")
            .field("view", &self.view())
            .field("unsent", &self.unsent)
            .finish_non_exhaustive()
    }
}
