//! The octet of the IP header that DSCP and ECN share.

/// DSCP of out-of-band packets and reports: expedited forwarding [RFC 3246], where IP has it, in
/// the octet that it shares with ECN.
pub const EXPEDITED: u8 = 46 << 2;
/// The bits of that octet that are the ECN codepoint [RFC 3168 §5].
pub const ECN: u8 = 0b11;
/// The codepoint ECT(0): it may be marked.
pub const CAPABLE: u8 = 0b10;
/// The codepoint CE: it is marked.
pub const MARKED: u8 = 0b11;
