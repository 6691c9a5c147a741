//! QUIC connections without encryption, in memory, for packets, estimators and tests.
//!
//! The handshake has the messages of TLS 1.3 in their order, with only transport parameters in them. Packets
//! are as long as with AES-GCM. Such connections must not be used on a network.

use bytes::BytesMut;
use quinn_proto::crypto::{
    AeadKey, ClientConfig, CryptoError, ExportKeyingMaterialError, HandshakeTokenKey, HeaderKey,
    HmacKey, KeyPair, Keys, PacketKey, ServerConfig, Session, UnsupportedVersion,
};
use quinn_proto::transport_parameters::TransportParameters;
use quinn_proto::{
    ConnectError, ConnectionId, ConnectionIdGenerator, EndpointConfig, Side, TransportError,
    ValidationTokenConfig,
};
use std::any::Any;
use std::sync::Arc;
use std::time::Duration;

/// The length of an authentication tag of AES-GCM.
const TAG: usize = 16;

/// Both halves of a crypto configuration that encrypts nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

impl Plain {
    /// Returns the configuration of an endpoint that draws its random numbers from this seed.
    pub fn endpoint(seed: u64) -> EndpointConfig {
        let mut config = EndpointConfig::new(Arc::new(Plain));
        config.rng_seed(Some(seeded(seed))).cid_generator(|| Box::new(Counted(0)));
        config
    }

    /// Returns the configuration of a client.
    pub fn client() -> quinn_proto::ClientConfig {
        let mut config = quinn_proto::ClientConfig::new(Arc::new(Plain));
        config.initial_dst_cid_provider(Arc::new(|| ConnectionId::new(&[1; 20])));
        config
    }

    /// Returns the configuration of a server.
    pub fn server() -> quinn_proto::ServerConfig {
        let mut config = quinn_proto::ServerConfig::new(Arc::new(Plain), Arc::new(Plain));
        config.migration(false);
        // Tokens contain the time of the computer.
        let mut tokens = ValidationTokenConfig::default();
        tokens.sent(0);
        config.validation_token_config(tokens);
        config
    }
}

/// Returns the seed of an endpoint.
pub fn seeded(seed: u64) -> [u8; 32] {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes
}

/// A generator of connection identifiers of 8 bytes, which are numbers.
struct Counted(u64);

impl ConnectionIdGenerator for Counted {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0 += 1;
        ConnectionId::new(&self.0.to_be_bytes())
    }

    fn cid_len(&self) -> usize {
        8
    }

    fn cid_lifetime(&self) -> Option<Duration> {
        None
    }
}

impl ClientConfig for Plain {
    fn start_session(
        self: Arc<Self>,
        _version: u32,
        _server_name: &str,
        params: &TransportParameters,
    ) -> Result<Box<dyn Session>, ConnectError> {
        Ok(Box::new(Handshake::new(Side::Client, params)))
    }
}

impl ServerConfig for Plain {
    fn initial_keys(&self, _: u32, _: &ConnectionId) -> Result<Keys, UnsupportedVersion> {
        Ok(keys())
    }

    fn retry_tag(&self, _: u32, _: &ConnectionId, _: &[u8]) -> [u8; 16] {
        [0; 16]
    }

    fn start_session(self: Arc<Self>, _: u32, params: &TransportParameters) -> Box<dyn Session> {
        Box::new(Handshake::new(Side::Server, params))
    }
}

/// The next message that an end sends or expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Hello,
    /// The client sends nothing here, and takes the keys of the handshake.
    Keys,
    Finished,
    Done,
}

/// A handshake. Each end sends its transport parameters and then an empty message. A length of two bytes
/// precedes each message.
struct Handshake {
    side: Side,
    parameters: Vec<u8>,
    peer: Option<TransportParameters>,
    sending: Stage,
    receiving: Stage,
    received: Vec<u8>,
}

impl Handshake {
    fn new(side: Side, params: &TransportParameters) -> Handshake {
        let mut parameters = Vec::new();
        params.write(&mut parameters);
        Handshake {
            side,
            parameters,
            peer: None,
            sending: Stage::Hello,
            receiving: Stage::Hello,
            received: Vec::new(),
        }
    }

    /// Takes a complete message out of the received bytes.
    fn message(&mut self) -> Option<Vec<u8>> {
        let length = self.received.first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length));
        if self.received.len() < 2 + length {
            return None;
        }
        let rest = self.received.split_off(2 + length);
        let message = std::mem::replace(&mut self.received, rest);
        Some(message[2..].to_vec())
    }
}

impl Session for Handshake {
    fn initial_keys(&self, _: &ConnectionId, _: Side) -> Keys {
        keys()
    }

    fn handshake_data(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn peer_identity(&self) -> Option<Box<dyn Any>> {
        None
    }

    fn early_crypto(&self) -> Option<(Box<dyn HeaderKey>, Box<dyn PacketKey>)> {
        None
    }

    fn early_data_accepted(&self) -> Option<bool> {
        None
    }

    fn is_handshaking(&self) -> bool {
        self.receiving != Stage::Done
    }

    fn read_handshake(&mut self, buf: &[u8]) -> Result<bool, TransportError> {
        self.received.extend_from_slice(buf);
        let mut news = false;
        while let Some(message) = self.message() {
            match self.receiving {
                Stage::Hello => {
                    let peer = TransportParameters::read(self.side, &mut message.as_slice())?;
                    self.peer = Some(peer);
                    self.receiving = Stage::Finished;
                    news = true;
                }
                _ => self.receiving = Stage::Done,
            }
        }
        Ok(news)
    }

    fn transport_parameters(&self) -> Result<Option<TransportParameters>, TransportError> {
        Ok(self.peer)
    }

    fn write_handshake(&mut self, buf: &mut Vec<u8>) -> Option<Keys> {
        // A server sends after the client's message, and a client finishes after the server's last
        // message.
        let client = self.side == Side::Client;
        let (may, next) = match self.sending {
            Stage::Hello if client => (true, Stage::Keys),
            Stage::Hello | Stage::Keys => (self.peer.is_some(), Stage::Finished),
            Stage::Finished => (!client || self.receiving == Stage::Done, Stage::Done),
            Stage::Done => (false, Stage::Done),
        };
        if !may {
            return None;
        }
        let now = std::mem::replace(&mut self.sending, next);
        match now {
            Stage::Hello => {
                buf.extend((self.parameters.len() as u16).to_be_bytes());
                buf.extend(&self.parameters);
            }
            Stage::Finished => buf.extend([0, 0]),
            Stage::Keys | Stage::Done => {}
        }
        (now != Stage::Hello || !client).then(keys)
    }

    fn next_1rtt_keys(&mut self) -> Option<KeyPair<Box<dyn PacketKey>>> {
        Some(keys().packet)
    }

    fn is_valid_retry(&self, _: &ConnectionId, _: &[u8], _: &[u8]) -> bool {
        false
    }

    fn export_keying_material(
        &self,
        _: &mut [u8],
        _: &[u8],
        _: &[u8],
    ) -> Result<(), ExportKeyingMaterialError> {
        Err(ExportKeyingMaterialError)
    }
}

fn keys() -> Keys {
    Keys {
        header: KeyPair { local: Box::new(Plain), remote: Box::new(Plain) },
        packet: KeyPair { local: Box::new(Plain), remote: Box::new(Plain) },
    }
}

impl PacketKey for Plain {
    fn encrypt(&self, _: u64, _: &mut [u8], _: usize) {}

    fn decrypt(&self, _: u64, _: &[u8], payload: &mut BytesMut) -> Result<(), CryptoError> {
        let length = payload.len().checked_sub(TAG).ok_or(CryptoError)?;
        payload.truncate(length);
        Ok(())
    }

    fn tag_len(&self) -> usize {
        TAG
    }

    fn confidentiality_limit(&self) -> u64 {
        u64::MAX
    }

    fn integrity_limit(&self) -> u64 {
        u64::MAX
    }
}

impl HeaderKey for Plain {
    fn decrypt(&self, _: usize, _: &mut [u8]) {}

    fn encrypt(&self, _: usize, _: &mut [u8]) {}

    fn sample_size(&self) -> usize {
        16
    }
}

impl HmacKey for Plain {
    fn sign(&self, data: &[u8], signature: &mut [u8]) {
        for (i, out) in signature.iter_mut().enumerate() {
            *out = data.get(i).copied().unwrap_or(0);
        }
    }

    fn signature_len(&self) -> usize {
        32
    }

    fn verify(&self, _: &[u8], _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }
}

impl HandshakeTokenKey for Plain {
    fn aead_from_hkdf(&self, _: &[u8]) -> Box<dyn AeadKey> {
        Box::new(Plain)
    }
}

impl AeadKey for Plain {
    fn seal(&self, _: &mut Vec<u8>, _: &[u8]) -> Result<(), CryptoError> {
        Ok(())
    }

    fn open<'a>(&self, data: &'a mut [u8], _: &[u8]) -> Result<&'a mut [u8], CryptoError> {
        Ok(data)
    }
}
