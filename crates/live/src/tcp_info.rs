//! The kernel's report on a connection (TCP_INFO).

use nix::sys::socket::getsockopt;
// What the macro of nix names without saying where it is.
use nix::{getsockopt_impl, libc, sockopt_impl};
use std::io::Result;
use std::os::fd::AsFd;

/// The beginning of the kernel's `struct tcp_info`, in its layout: what Linux 4.6 has. A later
/// kernel has more, and gives as much as is asked for. All fields are plain numbers, so any bytes
/// are a value.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    /// State of the connection; [`TcpInfo::ESTABLISHED`] when data can flow.
    pub state: u8,
    _small: [u8; 7],
    _timers: [u32; 2],
    _segment_sizes: [u32; 2],
    /// Segments sent and neither acknowledged nor given up.
    pub unacked: u32,
    _scoreboard: [u32; 4],
    _ages: [u32; 4],
    _path: [u32; 2],
    /// Smoothed round-trip time, in microseconds.
    pub rtt: u32,
    _rtt_variation: u32,
    /// Slow-start threshold in segments; very large while it is not set.
    pub ssthresh: u32,
    /// Congestion window in segments.
    pub cwnd: u32,
    _more: [u32; 4],
    /// Segments sent again.
    pub total_retrans: u32,
    _sums: [u64; 4],
    _segments: [u32; 2],
    /// Bytes that the socket holds and has not sent.
    pub notsent: u32,
    /// Least round-trip time of late, in microseconds; all ones while there is none.
    pub min_rtt: u32,
    _data_segments: [u32; 2],
}

/// The kernel's size of these fields; the macro below asks for so much.
const _: () = assert!(size_of::<TcpInfo>() == 160);

sockopt_impl!(
    /// The socket option.
    Information, GetOnly, libc::IPPROTO_TCP, libc::TCP_INFO, TcpInfo
);

impl TcpInfo {
    /// The state in which data can flow.
    pub const ESTABLISHED: u8 = 1;

    /// Of this connection, now.
    pub fn read(socket: &impl AsFd) -> Result<TcpInfo> {
        Ok(getsockopt(socket, Information)?)
    }
}
