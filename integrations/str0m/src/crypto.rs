//! The cryptography of str0m by packages in Rust, with all random numbers from `fastrand`, which the ends seed.
//!
//! The keys are as weak as their seed, so this is for simulations only. Lengths of signatures depend on keys,
//! and so all keys must repeat themselves for packets to do so.

use aes::cipher::BlockCipherEncrypt;
use aes::{Aes128, Aes256, Block};
use aes_gcm::aead::{Aead, KeyInit, Payload};
use aes_gcm::{Aes128Gcm, Aes256Gcm, Nonce};
use dimpl::crypto::{
    ActiveKeyExchange, Buf, NamedGroup, SecureRandom, SupportedKxGroup, rust_crypto,
};
use dimpl::{CryptoError as DtlsCryptoError, Dtls};
use hmac::{Hmac, Mac};
use p256::ecdsa::signature::Signer;
use p256::ecdsa::{DerSignature, SigningKey};
use p256::elliptic_curve::sec1::ToSec1Point;
use p256::{PublicKey, SecretKey, ecdh};
use rcgen::{CertificateParams, KeyIdMethod, PublicKeyData, SerialNumber, SignatureAlgorithm};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;
use str0m::config::CryptoProvider;
use str0m::crypto::dtls::{
    DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, ProtocolVersion,
};
use str0m::crypto::{
    AeadAes128GcmCipher, AeadAes256GcmCipher, Aes128CmSha1_80Cipher, CryptoError, Sha1HmacProvider,
    Sha1Provider, Sha256Provider, SrtpProvider, SupportedAeadAes128Gcm, SupportedAeadAes256Gcm,
    SupportedAes128CmSha1_80,
};

/// The size of a block of AES in bytes.
const BLOCK: usize = 16;

/// All functions that str0m asks for.
#[derive(Debug)]
struct Provider;

/// Returns the cryptography for an end.
pub(super) fn provider() -> CryptoProvider {
    CryptoProvider {
        srtp_provider: &Provider,
        sha1_hmac_provider: &Provider,
        sha1_provider: &Provider,
        sha256_provider: &Provider,
        dtls_provider: &Provider,
    }
}

/// Draws a private key of P-256.
fn draw() -> SecretKey {
    loop {
        let mut bytes = [0; 32];
        fastrand::fill(&mut bytes);
        // Numbers above the order of the curve are no keys, and one in 2^32 is such a number.
        if let Ok(key) = SecretKey::from_slice(&bytes) {
            return key;
        }
    }
}

/// The key of a certificate. Its signatures are deterministic [RFC 6979], in contrast to those of rcgen's keys.
struct Key {
    signing: SigningKey,
    public: Vec<u8>,
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        &self.public
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl rcgen::SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signature: DerSignature =
            self.signing.try_sign(message).map_err(|_| rcgen::Error::RemoteKeyError)?;
        Ok(signature.as_bytes().to_vec())
    }
}

/// Creates a certificate that signs itself, as browsers do.
pub(super) fn certificate() -> Result<DtlsCert, Box<dyn Error>> {
    let secret = draw();
    let public = secret.public_key().to_sec1_bytes().to_vec();
    let key = Key { signing: SigningKey::from(&secret), public };
    let mut params = CertificateParams::new(Vec::new())?;
    params.serial_number = Some(SerialNumber::from(1));
    params.key_identifier_method = KeyIdMethod::PreSpecified(vec![1]);
    let certificate = params.self_signed(&key)?.der().to_vec();
    // The shortest private key of RFC 5915: a version and the number.
    let mut private_key = vec![0x30, 37, 2, 1, 1, 4, 32];
    private_key.extend_from_slice(&secret.to_bytes());
    Ok(DtlsCert { certificate, private_key })
}

impl DtlsProvider for Provider {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        certificate().ok()
    }

    fn new_dtls(
        &self,
        certificate: &DtlsCert,
        now: Instant,
        version: DtlsVersion,
        mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        let other = |said: String| CryptoError::Other(said);
        let mut crypto = rust_crypto::default_provider();
        crypto.kx_groups = &[&P256];
        crypto.secure_random = &Random;
        // str0m's own providers do without the cookie as well: ICE has checked the address of the peer.
        let config = dimpl::Config::builder()
            .use_server_cookie(false)
            .with_crypto_provider(crypto)
            .dangerously_set_rng_seed(fastrand::u64(..));
        let config = match mtu {
            Some(mtu) => config.mtu(mtu),
            None => config,
        };
        let config = Arc::new(config.build().map_err(|e| other(e.to_string()))?);
        let certificate = certificate.clone();
        Ok(Box::new(Session(match version {
            DtlsVersion::Dtls12 => Dtls::new_12(config, certificate, now),
            DtlsVersion::Dtls13 => Dtls::new_13(config, certificate, now),
            _ => return Err(other(format!("{version} is not supported"))),
        })))
    }
}

/// A session of DTLS.
struct Session(Dtls);

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Session")
    }
}

impl DtlsInstance for Session {
    fn set_active(&mut self, active: bool) {
        self.0.set_active(active);
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        self.0.handle_packet(packet)
    }

    fn poll_output<'a>(&mut self, buffer: &'a mut [u8]) -> DtlsOutput<'a> {
        self.0.poll_output(buffer)
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.0.handle_timeout(now)
    }

    fn send_application_data(&mut self, data: &[u8]) -> Result<usize, DtlsImplError> {
        self.0.send_application_data(data)
    }

    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.0.protocol_version()
    }

    fn is_closing(&self) -> bool {
        self.0.is_closing()
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.0.close()
    }
}

/// Random numbers of DTLS.
#[derive(Debug)]
struct Random;

impl SecureRandom for Random {
    fn fill(&self, buffer: &mut [u8]) -> Result<(), DtlsCryptoError> {
        fastrand::fill(buffer);
        Ok(())
    }
}

/// Key exchange over P-256.
#[derive(Debug)]
struct P256;

/// A key exchange that waits for the key of the peer.
struct Exchange {
    secret: SecretKey,
    public: Buf,
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Exchange")
    }
}

impl SupportedKxGroup for P256 {
    fn name(&self) -> NamedGroup {
        NamedGroup::Secp256r1
    }

    fn start_exchange(
        &self,
        mut public: Buf,
    ) -> Result<Box<dyn ActiveKeyExchange>, DtlsCryptoError> {
        let secret = draw();
        public.clear();
        public.extend_from_slice(secret.public_key().to_sec1_point(false).as_bytes());
        Ok(Box::new(Exchange { secret, public }))
    }
}

impl ActiveKeyExchange for Exchange {
    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn complete(self: Box<Self>, peer: &[u8], out: &mut Buf) -> Result<(), DtlsCryptoError> {
        let peer = PublicKey::from_sec1_bytes(peer)
            .map_err(|_| DtlsCryptoError::InvalidPublicKey(NamedGroup::Secp256r1))?;
        let shared = ecdh::diffie_hellman(self.secret.to_nonzero_scalar(), peer.as_affine());
        out.clear();
        out.extend_from_slice(shared.raw_secret_bytes().as_slice());
        Ok(())
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::Secp256r1
    }
}

impl Sha1Provider for Provider {
    fn sha1(&self, data: &[u8]) -> [u8; 20] {
        Sha1::digest(data).into()
    }
}

impl Sha1HmacProvider for Provider {
    fn sha1_hmac(&self, key: &[u8], payloads: &[&[u8]]) -> [u8; 20] {
        let mut mac = Hmac::<Sha1>::new_from_slice(key).expect("a key of HMAC has any length");
        for payload in payloads {
            mac.update(payload);
        }
        mac.finalize().into_bytes().into()
    }
}

impl Sha256Provider for Provider {
    fn sha256(&self, data: &[u8]) -> [u8; 32] {
        Sha256::digest(data).into()
    }
}

impl SrtpProvider for Provider {
    fn aes_128_cm_sha1_80(&self) -> &'static dyn SupportedAes128CmSha1_80 {
        &Provider
    }

    fn aead_aes_128_gcm(&self) -> &'static dyn SupportedAeadAes128Gcm {
        &Provider
    }

    fn aead_aes_256_gcm(&self) -> &'static dyn SupportedAeadAes256Gcm {
        &Provider
    }

    fn srtp_aes_128_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        let cipher = Aes128::new_from_slice(key).expect("128 bits");
        one_block(&cipher, input, output);
    }

    fn srtp_aes_256_ecb_round(&self, key: &[u8], input: &[u8], output: &mut [u8]) {
        let cipher = Aes256::new_from_slice(key).expect("256 bits");
        one_block(&cipher, input, output);
    }
}

/// Encrypts one block. str0m reads no more of the output.
fn one_block(
    cipher: &impl BlockCipherEncrypt<BlockSize = aes::cipher::consts::U16>,
    input: &[u8],
    output: &mut [u8],
) {
    let mut block = Block::try_from(input).expect("one block");
    cipher.encrypt_block(&mut block);
    output[..BLOCK].copy_from_slice(&block);
}

impl SupportedAes128CmSha1_80 for Provider {
    fn create_cipher(&self, key: [u8; 16], _: bool) -> Box<dyn Aes128CmSha1_80Cipher> {
        Box::new(Counter(Aes128::new(&key.into())))
    }
}

impl SupportedAeadAes128Gcm for Provider {
    fn create_cipher(&self, key: [u8; 16], _: bool) -> Box<dyn AeadAes128GcmCipher> {
        Box::new(Gcm(Aes128Gcm::new(&key.into())))
    }
}

impl SupportedAeadAes256Gcm for Provider {
    fn create_cipher(&self, key: [u8; 32], _: bool) -> Box<dyn AeadAes256GcmCipher> {
        Box::new(Gcm(Aes256Gcm::new(&key.into())))
    }
}

/// AES in counter mode [RFC 3711 §4.1.1].
struct Counter(Aes128);

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Counter")
    }
}

impl Aes128CmSha1_80Cipher for Counter {
    fn encrypt(
        &mut self,
        iv: &[u8; 16],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), CryptoError> {
        let mut counter = u128::from_be_bytes(*iv);
        for (from, to) in input.chunks(BLOCK).zip(output.chunks_mut(BLOCK)) {
            let mut block = Block::from(counter.to_be_bytes());
            self.0.encrypt_block(&mut block);
            for ((to, from), key) in to.iter_mut().zip(from).zip(block) {
                *to = from ^ key;
            }
            counter = counter.wrapping_add(1);
        }
        Ok(())
    }

    fn decrypt(
        &mut self,
        iv: &[u8; 16],
        input: &[u8],
        output: &mut [u8],
    ) -> Result<(), CryptoError> {
        self.encrypt(iv, input, output)
    }
}

/// AES-GCM [RFC 7714] with keys of either length.
struct Gcm<C>(C);

impl<C> fmt::Debug for Gcm<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Gcm")
    }
}

impl<C: Aead<NonceSize = aes::cipher::consts::U12>> Gcm<C> {
    fn seal(
        &self,
        iv: &[u8; 12],
        aad: &[u8],
        msg: &[u8],
        output: &mut [u8],
    ) -> Result<(), CryptoError> {
        let sealed = self.0.encrypt(&Nonce::from(*iv), Payload { msg, aad });
        let sealed =
            sealed.map_err(|_| CryptoError::Other("AES-GCM cannot encrypt".to_string()))?;
        output[..sealed.len()].copy_from_slice(&sealed);
        Ok(())
    }

    fn open(
        &self,
        iv: &[u8; 12],
        aads: &[&[u8]],
        msg: &[u8],
        output: &mut [u8],
    ) -> Result<usize, CryptoError> {
        let aad = aads.concat();
        let opened = self.0.decrypt(&Nonce::from(*iv), Payload { msg, aad: &aad });
        let opened =
            opened.map_err(|_| CryptoError::Other("AES-GCM cannot decrypt".to_string()))?;
        output[..opened.len()].copy_from_slice(&opened);
        Ok(opened.len())
    }
}

/// The same cipher by the trait for each of its lengths.
macro_rules! gcm {
    ($cipher:ty, $as:ident) => {
        impl $as for Gcm<$cipher> {
            fn encrypt(
                &mut self,
                iv: &[u8; 12],
                aad: &[u8],
                input: &[u8],
                output: &mut [u8],
            ) -> Result<(), CryptoError> {
                self.seal(iv, aad, input, output)
            }

            fn decrypt(
                &mut self,
                iv: &[u8; 12],
                aads: &[&[u8]],
                input: &[u8],
                output: &mut [u8],
            ) -> Result<usize, CryptoError> {
                self.open(iv, aads, input, output)
            }
        }
    };
}

gcm!(Aes128Gcm, AeadAes128GcmCipher);
gcm!(Aes256Gcm, AeadAes256GcmCipher);
