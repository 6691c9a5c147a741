//! Tests of network stacks in C and C++ by [`accord_net`]: the header `accord_net.h`.
//!
//! cbindgen makes the header from this file and `types.rs`. A test fails if they have changed since, and
//! has the command.

#![expect(unsafe_code, reason = "the functions are called from C")]
#![expect(clippy::missing_safety_doc, reason = "the head of the header has the rules for pointers")]

mod end;
mod net;
mod types;

pub use end::AccordLog;
pub use net::AccordNet;
use net::State;
pub use types::{
    ACCORD_NOTHING, ACCORD_UNKNOWN, AccordSetup, AccordStack, AccordStatus, AccordView,
};

use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

/// Text of C, for functions whose callers keep the rules of the header. `None` if it is a null pointer or not UTF-8.
fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the header asks for text with a zero at its end, that lives as long as the call.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// Calls a function with a net, for functions whose callers keep the rules of the header. A null pointer, a net
/// that is in use and a panic are statuses.
fn with(net: *mut AccordNet, call: impl FnOnce(&mut State) -> AccordStatus) -> AccordStatus {
    let Some(is_in_use) = in_use(net) else {
        return AccordStatus::Argument;
    };
    if is_in_use.swap(true, Ordering::AcqRel) {
        return AccordStatus::Argument;
    }
    // SAFETY: the header asks for a net of `accord_net_new`. Only this function and `look` refer to the state, and
    // neither does while `is_in_use` is true, so the reference is the only one.
    let state = unsafe { &mut (*net).state };
    // After a panic the net is freed, or a run sets it up again.
    let status =
        catch_unwind(AssertUnwindSafe(|| call(state))).unwrap_or_else(|_| state.panicked());
    is_in_use.store(false, Ordering::Release);
    status
}

/// The flag of a net, through a pointer: a reference to the whole net would include the state. `None` for a null
/// pointer.
fn in_use<'a>(net: *const AccordNet) -> Option<&'a AtomicBool> {
    if net.is_null() {
        return None;
    }
    // SAFETY: the header asks for a net of `accord_net_new`, which lives as long as the call.
    Some(unsafe { &(*net).is_in_use })
}

/// Reads from a net, for functions whose callers keep the rules of the header. Returns `none` for a null
/// pointer, and `busy` for a net that is in use.
fn look<T>(net: *const AccordNet, none: T, busy: T, read: impl FnOnce(&State) -> T) -> T {
    match in_use(net) {
        None => none,
        Some(is_in_use) if is_in_use.load(Ordering::Acquire) => busy,
        // SAFETY: the header asks for a net of `accord_net_new` that no other thread uses, and no call that could
        // change the state has begun.
        Some(_) => read(unsafe { &(*net).state }),
    }
}

/// Creates a net without a scenario. Free it with accord_net_free.
#[unsafe(no_mangle)]
pub extern "C" fn accord_net_new() -> *mut AccordNet {
    Box::into_raw(Box::default())
}

/// Frees a net and its results. A null pointer is allowed. A net that runs is left as it is.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_free(net: *mut AccordNet) {
    if in_use(net).is_some_and(|is_in_use| !is_in_use.load(Ordering::Acquire)) {
        // SAFETY: the header asks for a net of `accord_net_new` that is not used again.
        let net = unsafe { Box::from_raw(net) };
        // Nothing is left of it after a panic but memory.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(net)));
    }
}

/// Takes the network from a scenario file, or a built-in scenario by its id. The file is read by
/// accord_net_run.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_scenario(
    net: *mut AccordNet,
    name: *const c_char,
) -> AccordStatus {
    with(net, |net| net.scenario(text(name)))
}

/// Takes the network from the text of a scenario.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_network(
    net: *mut AccordNet,
    scenario: *const c_char,
) -> AccordStatus {
    with(net, |net| net.network(text(scenario)))
}

/// Sets the value at a dotted path of the scenario, such as "topology.dumbbell.rate" to "5 Mbps".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_set(
    net: *mut AccordNet,
    path: *const c_char,
    value: *const c_char,
) -> AccordStatus {
    with(net, |net| net.set(text(path), text(value)))
}

/// Sets the seed of random numbers, in place of that of the scenario.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_seed(net: *mut AccordNet, seed: u64) -> AccordStatus {
    with(net, |net| net.seed(seed))
}

/// Sets the folder of captures and logs. The default is target/accord-net in the current folder.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_folder(
    net: *mut AccordNet,
    folder: *const c_char,
) -> AccordStatus {
    with(net, |net| net.folder(text(folder)))
}

/// Has all flows of this name or group carried by connections of a stack, one per flow and run. The
/// functions are copied. `user` must live until the last run has ended.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_carry(
    net: *mut AccordNet,
    flow: *const c_char,
    stack: *const AccordStack,
) -> AccordStatus {
    with(net, |net| net.carry(text(flow), AccordStack::copied(stack)))
}

/// Runs the scenario in packets, once or once per combination of its sweeps' values. Returns
/// ACCORD_STATUS_OK if all that it expects of packets is met and no stack broke a rule. After a setting that was
/// refused every run fails, with the status and the text of the first such setting. Can be called again,
/// also with other settings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_run(net: *mut AccordNet) -> AccordStatus {
    with(net, State::run)
}

/// The text about the last status that was not ACCORD_STATUS_OK, or "". Of a failed run: the expectations with
/// their values, times and packets, and the paths of the capture and of the logs.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_message(net: *const AccordNet) -> *const c_char {
    let none = c"the net is a null pointer".as_ptr();
    look(net, none, c"the net is in use: it runs".as_ptr(), State::message)
}

/// The path of the capture of the last run if that failed, or a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_capture(net: *const AccordNet) -> *const c_char {
    look(net, std::ptr::null(), std::ptr::null(), State::capture)
}

/// The number of runs: 1, or that of the combinations of the sweeps' values; 0 before a run and after a wrong
/// scenario.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_runs(net: *const AccordNet) -> usize {
    look(net, 0, 0, State::runs)
}

/// Writes the mean of a metric over the steady part of a run, from 0: "goodput" of a flow or group, or
/// "utilisation" of a link. The units are bit/s, bytes and seconds.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_mean(
    net: *mut AccordNet,
    run: usize,
    metric: *const c_char,
    of: *const c_char,
    value: *mut f64,
) -> AccordStatus {
    // SAFETY: the header asks for a pointer to a number that is valid during the call.
    let value = unsafe { value.as_mut() };
    with(net, |net| net.mean(run, text(metric), text(of), value))
}

/// The digest of a run, from 0, or a null pointer. Two runs with the same digest sent the same packets at the same
/// times.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_net_digest(net: *const AccordNet, run: usize) -> *const c_char {
    look(net, std::ptr::null(), std::ptr::null(), |net| net.digest(run))
}

/// Appends bytes to the log of an end, if `log` is not a null pointer. A length above PTRDIFF_MAX, as
/// of a negative number, appends nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn accord_log_write(
    log: *mut AccordLog,
    bytes: *const c_void,
    length: usize,
) {
    let is_length = isize::try_from(length).is_ok();
    // SAFETY: the header asks for the log of an end that was not closed.
    let log = unsafe { log.as_mut() };
    if let Some(log) = log.filter(|_| !bytes.is_null() && is_length) {
        // SAFETY: the header asks for `length` bytes that are valid during the call, and the length fits.
        let bytes = unsafe { std::slice::from_raw_parts(bytes.cast(), length) };
        // Only the memory could run out; then the log is shorter.
        let _ = catch_unwind(AssertUnwindSafe(|| log.write(bytes)));
    }
}
