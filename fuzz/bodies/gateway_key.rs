//! Parses any text as a key, which is refused with a reason or printed as it was read.

use accord_gateway::keys::PublicKey;

/// Returns true if the text is a key.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    match text.parse::<PublicKey>() {
        Ok(key) => {
            assert_eq!(key.to_string(), text.trim());
            true
        }
        Err(why) => {
            assert!(!why.is_empty());
            false
        }
    }
}
