//! Keys in the format of `wg`: 32 bytes as base64, a private one alone in its file.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use boringtun::x25519;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

/// The public key of a gateway, which is its name among its peers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; 32]);

/// A private key. It is never printed, and overwritten when it is dropped.
#[derive(Clone)]
pub struct PrivateKey(x25519::StaticSecret);

/// A key that both ends share, in addition to their own. It is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedKey(pub [u8; 32]);

/// The most that is read of a key file. A key has 44 characters.
const LONGEST_FILE: u64 = 4096;

/// Returns the 32 bytes that a text stands for.
fn decoded(text: &str) -> Result<[u8; 32], String> {
    let wrong = || "expected a key as `wg genkey` prints it: 44 characters of base64".to_string();
    let bytes = STANDARD.decode(text.trim()).map_err(|_| wrong())?;
    bytes.try_into().map_err(|_| wrong())
}

impl FromStr for PublicKey {
    type Err = String;

    fn from_str(text: &str) -> Result<PublicKey, String> {
        decoded(text).map(PublicKey)
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

    /// The public key that belongs to it.
    pub fn public(&self) -> PublicKey {
        PublicKey(x25519::PublicKey::from(&self.0).to_bytes())
    }

    /// The key as the library of the tunnel wants it.
    pub(crate) fn secret(&self) -> x25519::StaticSecret {
        self.0.clone()
    }

    /// Reads a key file.
    ///
    /// # Errors
    /// Fails if the file cannot be read, if others can read it, or if it holds no key.
    pub fn read(path: &Path) -> Result<PrivateKey, String> {
        secret(path).map(PrivateKey::new)
    }

    /// Writes the key into a new file that only its owner can read.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), String> {
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let text = STANDARD.encode(self.0.to_bytes()) + "\n";
        (options.open(path))
            .and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))
    }
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
}

impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SharedKey")
    }
}

/// Reads the bytes of a key file that others must not be able to read.
fn secret(path: &Path) -> Result<[u8; 32], String> {
    let name = path.display();
    let failed = |e| format!("{name} cannot be read: {e}");
    // The rights are those of the file that is read, whatever the name stands for a moment later.
    let mut file = std::fs::File::open(path).map_err(failed)?;
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
    let mut text = String::new();
    // Not all of what is no key, such as a device.
    let mut start = std::io::Read::take(&mut file, LONGEST_FILE);
    std::io::Read::read_to_string(&mut start, &mut text).map_err(failed)?;
    decoded(&text).map_err(|e| format!("{name} holds no key: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_that_of_wg() {
        // RFC 7748 section 6.1, as `wg pubkey` prints it.
        let alice = "dwdtCnMYpX08FsFyUbJmRd9ML4frwJkqsXf7pR25LCo=";
        let public = PrivateKey::new(decoded(alice).expect("a key")).public();
        assert_eq!(
            public.to_string(),
            "hSDwCYkwp1R0i33ctD73Wg2/Og0mOBr066SpjqqbTmo="
        );
        assert_eq!(public.to_string().parse(), Ok(public));
        assert!("hSDwCYkwp1R0i33ctD73Wg2".parse::<PublicKey>().is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_others_can_read_is_refused() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("site.key");
        let key = PrivateKey::random().expect("randomness");
        key.write(&path).expect("written");
        assert_eq!(
            PrivateKey::read(&path).map(|k| k.public()),
            Ok(key.public())
        );
        assert!(key.write(&path).is_err(), "a key is not overwritten");
        for mode in [0o640, 0o604, 0o620] {
            let rights = std::fs::Permissions::from_mode(mode);
            std::fs::set_permissions(&path, rights).expect("changed");
            let error = PrivateKey::read(&path).expect_err("refused");
            assert!(error.contains("chmod 600"), "{error}");
        }
    }
}
