//! The kernel's report on a connection (TCP_INFO).

use nix::sys::socket::getsockopt;
// The macro of nix uses these names without their path.
use nix::{getsockopt_impl, libc, sockopt_impl};
use std::io::Result;
use std::os::fd::AsFd;

/// The beginning of the kernel's `struct tcp_info`, in its layout as of Linux 4.6. A later kernel
/// has more fields, and returns the number of bytes requested. All fields are plain numbers, so
/// any bytes are a valid value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    /// The state of the connection. It is [`TcpInfo::ESTABLISHED`] when data can flow.
    pub state: u8,
    _small: [u8; 7],
    _timers: [u32; 2],
    _segment_sizes: [u32; 2],
    /// The segments sent and neither acknowledged nor declared lost.
    pub unacked: u32,
    _scoreboard: [u32; 4],
    _ages: [u32; 4],
    _path: [u32; 2],
    /// The smoothed round-trip time, in microseconds.
    pub rtt: u32,
    _rtt_variation: u32,
    /// The slow-start threshold in segments. Very large while it is not set.
    pub ssthresh: u32,
    /// The congestion window in segments.
    pub cwnd: u32,
    _more: [u32; 4],
    /// The segments retransmitted.
    pub total_retrans: u32,
    _sums: [u64; 4],
    _segments: [u32; 2],
    /// The bytes in the socket that have not been sent.
    pub notsent: u32,
    /// The smallest recent round-trip time, in microseconds. All ones while there is none.
    pub min_rtt: u32,
    _data_segments: [u32; 2],
}

/// The size of these fields in the kernel, which the macro below requests.
const _: () = assert!(size_of::<TcpInfo>() == 160);

sockopt_impl!(
    /// The socket option.
    Information, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, TcpInfo
);

impl TcpInfo {
    /// The state in which data can flow.
    pub const ESTABLISHED: u8 = 1;

    /// Reads the current state of this connection.
    pub fn read(socket: &impl AsFd) -> Result<TcpInfo> {
        Ok(getsockopt(socket, Information)?)
    }
}
