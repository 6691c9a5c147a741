//! The octet of the IP header that DSCP and ECN share.

/// The DSCP of out-of-band packets and reports: expedited forwarding [RFC 3246], shifted to its
/// position in the octet shared with ECN.
pub const EXPEDITED: u8 = 46 << 2;
/// The bits of that octet that hold the ECN codepoint [RFC 3168 §5].
pub const ECN: u8 = 0b11;
/// The codepoint ECT(0): the packet may be marked.
pub const CAPABLE: u8 = 0b10;
/// The codepoint ECT(1): the same for a flow that reacts slightly to each mark [RFC 9331 §4.1].
pub const SCALABLE: u8 = 0b01;
/// The codepoint CE: the packet is marked.
pub const MARKED: u8 = 0b11;
