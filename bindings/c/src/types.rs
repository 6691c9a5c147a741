//! The types of the header.

use crate::end::AccordLog;
use std::ffi::{c_char, c_int, c_void};

/// The result of `poll` if there is nothing to send now.
pub const ACCORD_NOTHING: isize = -1;
/// A value of a view that the stack does not know. As a time it is never.
pub const ACCORD_UNKNOWN: u64 = u64::MAX;

/// The outcome of a call.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccordStatus {
    /// Success. Of a run: all that the scenario expects is met.
    Ok = 0,
    /// An expectation is not met, or a stack broke a rule.
    Failed = 1,
    /// The scenario is wrong, or there is none.
    Scenario = 2,
    /// The scenario has no flow of this name, or a stack cannot carry it.
    Flow = 3,
    /// The scenario expects nothing of packets.
    NoExpectation = 4,
    /// An argument is a null pointer, text that is not UTF-8, or out of its range.
    Argument = 5,
    /// A fault of Accord.
    Internal = 6,
}

/// The settings of an end.
#[repr(C)]
#[derive(Debug)]
pub struct AccordSetup {
    /// 1 for the end that sends data, 0 for the one that receives it.
    pub is_sender: c_int,
    /// The size of a full IP packet in bytes.
    pub packet: usize,
    /// The largest datagram in bytes: a full packet without the headers of IP and UDP.
    pub room: usize,
    /// The seed of random numbers. Both ends of a connection have the same.
    pub seed: u64,
    /// The name of the flow's controller in the scenario. Valid during the call.
    pub controller: *const c_char,
    /// The log of the end, for accord_log_write, or a null pointer if none is kept. Valid until `close`.
    pub log: *mut AccordLog,
}

/// The state of a sending end. All values are unknown (ACCORD_UNKNOWN) when `view` is called, but
/// `retransmissions`, which is 0.
#[repr(C)]
#[derive(Debug)]
pub struct AccordView {
    /// The congestion window in bytes.
    pub cwnd: u64,
    /// The slow-start threshold in bytes.
    pub ssthresh: u64,
    /// The rate of pacing in bit/s.
    pub pacing: u64,
    /// The smoothed round-trip time in nanoseconds.
    pub rtt: u64,
    /// The smallest round-trip time in nanoseconds.
    pub min_rtt: u64,
    /// The packets sent again so far.
    pub retransmissions: u64,
}

/// The functions of a stack. Times are nanoseconds since the start of the run, and never go back. After each
/// call of an end Accord takes datagrams by `poll` until there is none, and then asks for the next wake-up.
/// Functions that are optional may be null pointers.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct AccordStack {
    /// sizeof(AccordStack).
    pub size: usize,
    /// The first argument of `open`. Accord does not read it.
    pub user: *mut c_void,
    /// Creates an end of a connection: first the sending, then the receiving one. Returns a null pointer if
    /// it cannot.
    pub open:
        Option<unsafe extern "C" fn(user: *mut c_void, setup: *const AccordSetup) -> *mut c_void>,
    /// Frees an end. Optional.
    pub close: Option<unsafe extern "C" fn(end: *mut c_void)>,
    /// Takes a datagram that arrived, with its ECN codepoint. Returns 1 if its contents are new, or 0.
    pub receive: Option<
        unsafe extern "C" fn(
            end: *mut c_void,
            payload: *const u8,
            length: usize,
            ecn: u8,
            now: u64,
        ) -> c_int,
    >,
    /// Writes the next datagram to send now, and its ECN codepoint, which is 0 before. Returns the length, or
    /// ACCORD_NOTHING.
    pub poll: Option<
        unsafe extern "C" fn(
            end: *mut c_void,
            payload: *mut u8,
            room: usize,
            ecn: *mut u8,
            now: u64,
        ) -> isize,
    >,
    /// Returns the time of the next wake-up. ACCORD_UNKNOWN is never.
    pub next_wake: Option<unsafe extern "C" fn(end: *mut c_void) -> u64>,
    /// Runs the timers that are due.
    pub on_wake: Option<unsafe extern "C" fn(end: *mut c_void, now: u64)>,
    /// Supplies data that fills `packets` full packets, or data without end for UINT64_MAX. The first data
    /// opens the connection. Only the sending end is called. Optional.
    pub supply:
        Option<unsafe extern "C" fn(end: *mut c_void, packets: u64, is_transfer: c_int, now: u64)>,
    /// Returns 1 if all of the last transfer was acknowledged, or 0. Optional; without it no transfer ends.
    pub is_done: Option<unsafe extern "C" fn(end: *mut c_void) -> c_int>,
    /// Ends the flow. Data that was not sent is never sent. Optional.
    pub stop: Option<unsafe extern "C" fn(end: *mut c_void, now: u64)>,
    /// Writes the state that is known, for series and expectations. Optional.
    pub view: Option<unsafe extern "C" fn(end: *mut c_void, view: *mut AccordView)>,
    /// Returns the reason why the connection broke, or a null pointer. Valid until the next call. Optional.
    pub broken: Option<unsafe extern "C" fn(end: *mut c_void) -> *const c_char>,
}
