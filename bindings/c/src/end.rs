//! A stack whose functions are of C, as the trait of [`accord_net`].

use crate::types::{ACCORD_NOTHING, ACCORD_UNKNOWN, AccordSetup, AccordStack, AccordView};
use accord_net::{Bytes, Carried, Datagram, Duration, Ends, Log, Rate, Setup, Time, View};
use std::ffi::{CStr, CString, c_int, c_void};
use std::io::Write;
use std::mem::{offset_of, size_of};

/// The number of bytes behind a datagram's buffer, which no stack may change.
const GUARD: usize = 64;
/// The contents of these bytes.
const GUARDED: u8 = 0xa5;

/// The log of an end, such as a qlog.
#[derive(Debug)]
pub struct AccordLog(Log);

impl AccordLog {
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        // It is in memory, and cannot fail.
        let _ = self.0.write(bytes);
    }
}

impl AccordStack {
    /// Copies the functions, if they are complete.
    pub(crate) fn copied(from: *const AccordStack) -> Result<AccordStack, String> {
        if from.is_null() {
            return Err("the stack is a null pointer".into());
        }
        // SAFETY: the header asks for functions that begin with their size.
        let size = unsafe { *from.cast::<usize>() };
        // A program of an older header would have fewer functions.
        if size != size_of::<AccordStack>() {
            let ours = size_of::<AccordStack>();
            return Err(format!(
                "the size of the stack is {size}, where sizeof(AccordStack) is {ours}"
            ));
        }
        const { assert!(offset_of!(AccordStack, size) == 0) };
        // SAFETY: the header asks for a stack of that size that is valid during the call.
        let stack = unsafe { *from };
        let required = [
            ("open", stack.open.is_none()),
            ("receive", stack.receive.is_none()),
            ("poll", stack.poll.is_none()),
            ("next_wake", stack.next_wake.is_none()),
            ("on_wake", stack.on_wake.is_none()),
        ];
        match required.iter().find(|(_, is_missing)| *is_missing) {
            Some((name, _)) => Err(format!("the stack has no function `{name}`")),
            None => Ok(stack),
        }
    }

    /// Returns the function that creates connections, for [`accord_net::Net::carry`].
    pub(crate) fn connector(
        self,
    ) -> impl Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static {
        let shared = Shared(self);
        move |setup| {
            // All of it, and not only a field.
            let Shared(stack) = &shared;
            let [sender, receiver] = [0, 1].map(|number| End::new(stack, setup, number));
            Ok([Box::new(sender?), Box::new(receiver?)])
        }
    }
}

/// The functions of a stack in a closure.
struct Shared(AccordStack);
// SAFETY: the functions and `user` are used in `accord_net_run`, on the thread that called it.
unsafe impl Send for Shared {}
// SAFETY: as above.
unsafe impl Sync for Shared {}

/// An end of a connection.
struct End {
    stack: AccordStack,
    /// The result of `open`.
    end: *mut c_void,
    /// The buffer of a datagram, and the bytes behind it that must stay unchanged.
    buffer: Vec<u8>,
    room: usize,
    /// The log, to which the stack has a pointer.
    log: *mut AccordLog,
    fault: Option<String>,
}

// SAFETY: an end is used in `accord_net_run`, on the thread that called it.
unsafe impl Send for End {}

impl End {
    /// Creates an end: 0 is the sending one.
    fn new(stack: &AccordStack, setup: &Setup<'_>, number: usize) -> Result<End, String> {
        let packet = usize::try_from(setup.packet.get()).unwrap_or(usize::MAX);
        // The headers of IP and UDP.
        let room = packet.saturating_sub(28);
        let log = setup.logs.map(|logs| Box::into_raw(Box::new(AccordLog(logs[number].clone()))));
        let mut end = End {
            stack: *stack,
            end: std::ptr::null_mut(),
            buffer: vec![GUARDED; room + GUARD],
            room,
            log: log.unwrap_or(std::ptr::null_mut()),
            fault: None,
        };
        let controller = CString::new(setup.controller.family().name).unwrap_or_default();
        let of_c = AccordSetup {
            is_sender: c_int::from(number == 0),
            packet,
            room,
            seed: setup.seed.unwrap_or_default(),
            controller: controller.as_ptr(),
            log: end.log,
        };
        // SAFETY: the pointers are valid during the call, and the log for as long as the end.
        end.end = end
            .stack
            .open
            .map_or(std::ptr::null_mut(), |open| unsafe { open(end.stack.user, &of_c) });
        if end.end.is_null() {
            return Err(format!("`open` returned no {} end", ["sending", "receiving"][number]));
        }
        Ok(end)
    }

    /// Returns the fault of the result of `poll`, if it has one.
    fn fault_of(&self, length: isize, ecn: u8) -> Option<String> {
        let room = self.room;
        if self.buffer[room..].iter().any(|byte| *byte != GUARDED) {
            return Some(format!("`poll` wrote behind the room of {room} bytes"));
        }
        if usize::try_from(length).is_ok_and(|length| length > room) {
            return Some(format!(
                "`poll` returned a length of {length}, where there is room for {room}"
            ));
        }
        if length < ACCORD_NOTHING {
            return Some(format!(
                "`poll` returned {length}, which is neither a length nor ACCORD_NOTHING"
            ));
        }
        (length >= 0 && ecn > 3).then(|| format!("`poll` wrote the ECN codepoint {ecn}, of 0 to 3"))
    }
}

impl Drop for End {
    fn drop(&mut self) {
        if let Some(close) = self.stack.close
            && !self.end.is_null()
        {
            // SAFETY: the end is of `open`, and is not used again.
            unsafe { close(self.end) };
        }
        if !self.log.is_null() {
            // SAFETY: it is of a box, and the stack does not use it after `close`.
            drop(unsafe { Box::from_raw(self.log) });
        }
    }
}

/// Returns a time in whole nanoseconds: fractions are cut off.
fn nanos(time: Time) -> u64 {
    time.as_ps() / 1_000
}

/// Returns a span in nanoseconds. `None` if it is unknown, or longer than any run.
fn span(nanos: u64) -> Option<Duration> {
    nanos.checked_mul(1_000).map(Duration::from_ps)
}

/// Returns a number of a view. `None` if it is unknown.
fn known(value: u64) -> Option<u64> {
    (value != ACCORD_UNKNOWN).then_some(value)
}

impl Carried for End {
    fn receive(&mut self, payload: &[u8], ecn: u8, now: Time) -> bool {
        let (start, length) = (payload.as_ptr(), payload.len());
        // SAFETY: the end is of `open` and not closed, and the payload is valid during the call.
        let call = |receive: unsafe extern "C" fn(_, _, _, _, _) -> _| unsafe {
            receive(self.end, start, length, ecn, nanos(now))
        };
        self.stack.receive.map_or(0, call) != 0
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        let (poll, mut ecn) = (self.stack.poll?, 0);
        let start = self.buffer.as_mut_ptr();
        // SAFETY: the end is of `open` and not closed, and there is more room than the call may use.
        let length = unsafe { poll(self.end, start, self.room, &mut ecn, nanos(now)) };
        if let Some(fault) = self.fault_of(length, ecn) {
            self.fault.get_or_insert(fault);
            return None;
        }
        let length = usize::try_from(length).ok()?;
        Some(Datagram { payload: self.buffer[..length].to_vec(), ecn })
    }

    fn next_wake(&mut self) -> Time {
        // SAFETY: the end is of `open` and not closed.
        let at = self.stack.next_wake.map(|next_wake| unsafe { next_wake(self.end) });
        at.and_then(span).map_or(Time::MAX, |at| Time::ZERO + at)
    }

    fn on_wake(&mut self, now: Time) {
        if let Some(on_wake) = self.stack.on_wake {
            // SAFETY: the end is of `open` and not closed.
            unsafe { on_wake(self.end, nanos(now)) };
        }
    }

    fn supply(&mut self, packets: u64, is_transfer: bool, now: Time) {
        if let Some(supply) = self.stack.supply {
            // SAFETY: the end is of `open` and not closed.
            unsafe { supply(self.end, packets, c_int::from(is_transfer), nanos(now)) };
        }
    }

    fn is_done(&self) -> bool {
        // SAFETY: the end is of `open` and not closed.
        self.stack.is_done.is_some_and(|is_done| unsafe { is_done(self.end) } != 0)
    }

    fn stop(&mut self, now: Time) {
        if let Some(stop) = self.stack.stop {
            // SAFETY: the end is of `open` and not closed.
            unsafe { stop(self.end, nanos(now)) };
        }
    }

    fn view(&self) -> View {
        let mut view = AccordView {
            cwnd: ACCORD_UNKNOWN,
            ssthresh: ACCORD_UNKNOWN,
            pacing: ACCORD_UNKNOWN,
            rtt: ACCORD_UNKNOWN,
            min_rtt: ACCORD_UNKNOWN,
            retransmissions: 0,
        };
        if let Some(read) = self.stack.view {
            // SAFETY: the end is of `open` and not closed, and the view is valid during the call.
            unsafe { read(self.end, &mut view) };
        }
        View {
            cwnd: known(view.cwnd).map(Bytes::new),
            ssthresh: known(view.ssthresh).map(Bytes::new),
            pacing: known(view.pacing).map(Rate::from_bps),
            rtt: span(view.rtt),
            min_rtt: span(view.min_rtt),
            accumulation: None,
            retransmissions: view.retransmissions,
        }
    }

    fn broken(&self) -> Option<String> {
        if self.fault.is_some() {
            return self.fault.clone();
        }
        // SAFETY: the end is of `open` and not closed.
        let why = unsafe { self.stack.broken?(self.end) };
        // SAFETY: the header asks for text with a zero at its end, that lives until the next call.
        (!why.is_null()).then(|| unsafe { CStr::from_ptr(why) }.to_string_lossy().into_owned())
    }
}
