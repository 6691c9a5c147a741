//! Keys in the format of `wg`: 32 bytes as base64. A private key is alone in its file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use boringtun::x25519;
use std::fmt;
use std::path::Path;
use std::str::FromStr;
use zeroize::{ZeroizeOnDrop, Zeroizing};

/// The public key of a gateway, which is its name among its peers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; 32]);

/// A private key. It is never printed, and is overwritten when it is dropped.
#[derive(Clone)]
pub struct PrivateKey(x25519::StaticSecret);

/// A key that both ends share, in addition to their own. It is never printed, and is overwritten when it is
/// dropped.
#[derive(Clone, PartialEq, Eq, ZeroizeOnDrop)]
pub struct SharedKey(pub [u8; 32]);

/// Public keys whose private halves are published, so anybody can pose as such a peer: those of
/// Alice and Bob [RFC 7748 §6.1].
const IN_PRINT: [&str; 2] = [
    "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=",
    "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=",
];

/// The least number of consecutive base64 characters that may be a secret.
const SECRET: usize = 40;

/// Returns a text with stars in place of anything that may be a key or a large part of one. All other
/// characters stay in place.
pub fn redacted(text: &str) -> String {
    let is_base64 = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '/' | '=');
    let mut hidden = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let run = rest.find(|c| !is_base64(c)).unwrap_or(rest.len());
        if run >= SECRET {
            hidden.extend(std::iter::repeat_n('*', run))
        } else {
            hidden.push_str(&rest[..run])
        }
        let after = rest[run..].chars().next();
        hidden.extend(after);
        rest = &rest[run + after.map_or(0, char::len_utf8)..];
    }
    hidden
}

/// The maximum number of bytes that are read from a key file. A key has 44 characters.
const LONGEST_FILE: u64 = 4096;

/// Returns the 32 bytes that a text encodes.
fn decoded(text: &str) -> Result<[u8; 32], String> {
    let wrong = || "expected a key as `wg genkey` prints it: 44 characters of base64".to_string();
    let bytes = Zeroizing::new(STANDARD.decode(text.trim()).map_err(|_| wrong())?);
    bytes.as_slice().try_into().map_err(|_| wrong())
}

/// Returns whether a text is a key, public or not.
pub fn is_key(text: &str) -> bool {
    decoded(text).is_ok()
}

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<PublicKey, String> {
        let key = decoded(text).map(PublicKey)?;
        key.check()?;
        Ok(key)
    }
}

impl PublicKey {
    /// Checks that only one peer can have the other half of the key.
    fn check(&self) -> Result<(), String> {
        if IN_PRINT.contains(&self.to_string().as_str()) {
            return Err("its private half is published, so anybody can use it".into());
        }
        // With a point of low order everybody gets the same secret, zero [RFC 7748 §6.1].
        let any = x25519::StaticSecret::from([1; 32]);
        if any.diffie_hellman(&self.0.into()).was_contributory() {
            Ok(())
        } else {
            Err("it is not a public key: its shared secret is always zero".into())
        }
    }
}

impl fmt::Display for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl PrivateKey {
    /// Creates a key from random bytes.
    pub fn new(bytes: [u8; 32]) -> PrivateKey {
        PrivateKey(x25519::StaticSecret::from(bytes))
    }

    /// Creates a random key.
    ///
    /// # Errors
    /// Fails if the system has no randomness.
    pub fn random() -> Result<PrivateKey, String> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|e| format!("no randomness for a key: {e}"))?;
        Ok(PrivateKey::new(bytes))
    }

    /// The corresponding public key.
    pub fn public(&self) -> PublicKey {
        PublicKey(x25519::PublicKey::from(&self.0).to_bytes())
    }

    /// The key in the form of the tunnel library.
    pub(crate) fn secret(&self) -> x25519::StaticSecret {
        self.0.clone()
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, if others can read it, or if it holds no key or a published one.
    pub fn read(path: &Path) -> Result<PrivateKey, String> {
        let key = secret(path).map(PrivateKey::new)?;
        let checked = key.public().check();
        checked.map_err(|e| format!("{} holds a key that is not usable: {e}", path.display()))?;
        Ok(key)
    }

    /// Writes the key into a new file that only its owner can read.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        write_secret(&Zeroizing::new(self.0.to_bytes()), path)
    }
}

impl FromStr for PrivateKey {
    type Err = String;

    fn from_str(text: &str) -> Result<PrivateKey, String> {
        decoded(text).map(PrivateKey::new)
    }
}

/// Writes a secret into a new file that only its owner can read. A file that cannot be written completely,
/// for example on a full disk, is removed.
fn write_secret(bytes: &[u8; 32], path: &Path) -> Result<(), String> {
    let text = Zeroizing::new(STANDARD.encode(bytes) + "\n");
    accord_files::write_secret(path, text.as_bytes())
        .map_err(|e| format!("{} cannot be written: {e}", path.display()))
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey(of {})", self.public())
    }
}

impl SharedKey {
    /// Reads a key file, as [`PrivateKey::read`] does.
    ///
    /// # Errors
    /// Fails as [`PrivateKey::read`] does.
    pub fn read(path: &Path) -> Result<SharedKey, String> {
        secret(path).map(SharedKey)
    }

    /// Writes the key into a new file, as [`PrivateKey::write`] does.
    ///
    /// # Errors
    /// Fails as [`PrivateKey::write`] does.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        write_secret(&self.0, path)
    }
}

impl FromStr for SharedKey {
    type Err = String;

    fn from_str(text: &str) -> Result<SharedKey, String> {
        decoded(text).map(SharedKey)
    }
}

impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedKey")
    }
}

/// Reads the bytes of a key file that others must not be able to read.
fn secret(path: &Path) -> Result<[u8; 32], String> {
    let name = redacted(&path.display().to_string());
    let failed = |e| format!("{name} cannot be read: {e}");
    // The permissions are those of the file that is read, even if the name refers to another file a
    // moment later.
    let mut file = accord_files::open(path, LONGEST_FILE).map_err(failed)?;
    #[cfg(unix)]
    {
        let mode = std::os::unix::fs::MetadataExt::mode(&file.metadata().map_err(failed)?);
        if mode & 0o077 != 0 {
            return Err(format!(
                "{name} can be read by others (mode {:03o}): chmod 600 {name}",
                mode & 0o777
            ));
        }
    }
    let mut text = Zeroizing::new(String::new());
    let mut start = std::io::Read::take(&mut file, LONGEST_FILE);
    std::io::Read::read_to_string(&mut start, &mut text).map_err(failed)?;
    decoded(&text).map_err(|e| format!("{name} holds no key: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_that_of_wg() {
        // The keys of RFC 7748 section 6.1, as `wg pubkey` prints them.
        let halves = [
            (
                "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=",
                "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo=",
            ),
            (
                "XasIfmJKikt54X+Lg4AO5m87sSkmGLb9HC+LJ/+I4Os=",
                "3p7bfXt9wbTTW2HC7OQ1Nz+DQ8hbeGdNrfx+FG+IK08=",
            ),
        ];
        for (private, public) in halves {
            let key = PrivateKey::new(decoded(private).expect("a key")).public();
            assert_eq!(key.to_string(), public);
            let error = public.parse::<PublicKey>().expect_err("everybody has it");
            assert!(error.contains("published"), "{error}");
        }
        let own = PrivateKey::new([7; 32]).public();
        assert_eq!(own.to_string().parse(), Ok(own));
        assert!("hSDwCYkwp1R0i33ctD73Wg2".parse::<PublicKey>().is_err());
    }

    #[test]
    fn a_point_of_low_order_is_no_key() {
        // 0, 1, p - 1, p, p + 1, and one of order 8 [RFC 7748 §6.1; Bernstein, "Curve25519", FAQ].
        let p = |last: u8| {
            let mut bytes = [0xff; 32];
            (bytes[0], bytes[31]) = (last, 0x7f);
            bytes
        };
        let mut one = [0; 32];
        one[0] = 1;
        let eighth = decoded("4Ot6fDtBuK4WVuP68Z/EatoJjeucMrH9hmIFFl9JuAA=").expect("32 bytes");
        for bytes in [[0; 32], one, p(0xec), p(0xed), p(0xee), eighth] {
            let text = STANDARD.encode(bytes);
            let error = text.parse::<PublicKey>().expect_err("no key");
            assert!(error.contains("not a public key"), "{text}: {error}");
        }
    }

    #[test]
    fn what_may_be_a_key_is_not_shown() {
        let key = STANDARD.encode([0xa7; 32]);
        let text = format!("PrivateKey = {key}\nä \"{}\" # {}", &key[..41], &key[..20]);
        let hidden = redacted(&text);
        assert_eq!(
            hidden,
            format!("PrivateKey = {}\nä \"{}\" # {}", "*".repeat(44), "*".repeat(41), &key[..20])
        );
        let path = "/etc/accord/site.toml: line 3, column 9";
        assert_eq!(redacted(path), path);
    }

    /// Reading would wait for a pipe without a writer.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_pipe_is_refused() {
        let dir = tempfile::tempdir().expect("a folder");
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).expect("made");
        let error = PrivateKey::read(&pipe).expect_err("refused");
        assert!(error.contains("a pipe"), "{error}");
        let error = crate::config::load(&pipe).expect_err("refused").to_string();
        assert!(error.contains("a pipe"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("site.key");
        let key = PrivateKey::random().expect("randomness");
        key.write(&path).expect("written");
        assert_eq!(PrivateKey::read(&path).map(|k| k.public()), Ok(key.public()));
        assert!(key.write(&path).is_err(), "a key is not overwritten");
        for mode in [0o640, 0o604, 0o620] {
            let rights = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, rights).expect("changed");
            let error = PrivateKey::read(&path).expect_err("refused");
            assert!(error.contains("chmod 600"), "{error}");
        }
    }
}
