//! Controllers of Accord in the kernel's TCP.
//!
//! A BPF program in the kernel (`bpf/tcp.bpf.c`, a `struct tcp_congestion_ops`) reports to this process on
//! the connections that use it as their congestion control. It carries out the decisions (window, slow-start
//! threshold and pace) in the slot of each connection. Controllers are those of the engines, unchanged. If no
//! decision comes for four round trips and 10 ms, the BPF program halves the window once and continues as
//! Reno.
//!
//! [`Connection`] passes reports to a controller, and [`Registry`] has the connections of a
//! process. Both are independent of the kernel. `Attached`, with the feature `bpf` on Linux, is the
//! interface to it.
//!
//! ```
//! use accord_kernel::check;
//!
//! let family = |name| accord_control::FAMILIES.iter().find(|f| f.name == name).unwrap();
//! assert!(check(&family("copa").defaults()).is_ok());
//! assert_eq!(
//!     check(&family("monaco").defaults()).unwrap_err(),
//!     "monaco cannot run in the kernel's TCP: it needs pairs of control packets, and TCP has \
//!      acknowledgements only"
//! );
//! ```

mod ask;
#[cfg_attr(not(all(feature = "bpf", target_os = "linux")), path = "absent.rs")]
mod attach;
mod connection;
mod registry;
mod report;
mod status;
#[cfg(all(feature = "bpf", target_os = "linux"))]
#[path = "."]
mod process {
    pub mod group;
    pub mod signals;
}

pub use accord_door::Error;
pub use ask::{Ask, Detach, parse};
pub use attach::{Attached, obstacle};
pub use connection::Connection;
#[cfg(all(feature = "bpf", target_os = "linux"))]
pub use process::{group::Group, signals::Signals};
pub use registry::{Entry, Registry};
pub use report::{
    ACKNOWLEDGED, ALONE, APP_LIMITED, CLOSED, Decision, Report, SAMPLE, Slot, State, WINDOW_LIMITED,
};
pub use status::{Ages, ConnectionStatus, Status, status};

use accord_family::Values;

/// The longest name of a congestion control in bytes (`TCP_CA_NAME_MAX` less the end).
pub const LONGEST_NAME: usize = 15;

/// The word in scenarios for the controller of a flow. No congestion control may have this name.
const RESERVED: &str = "accord";

/// The reason why `Attached::serve` ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// A client, SIGTERM, or the calling program.
    Stopped,
    /// SIGINT or SIGHUP.
    Interrupted,
}

/// A callback of the calling program, called some twenty times per second. A result ends the service.
pub type Watch<'w> = &'w mut dyn FnMut() -> Option<Ended>;

/// Checks that the controller that `values` describes can run in the kernel's TCP.
///
/// # Errors
///
/// Fails with the reason why it cannot.
pub fn check(values: &Values) -> Result<(), String> {
    values.unfit_for_tcp().map_or(Ok(()), Err)
}

/// Checks the name of a congestion control: 1 to 15 letters, digits, `_` and `-`, and not "accord".
///
/// # Errors
///
/// Fails with the message of the error.
pub fn check_name(name: &str) -> Result<(), String> {
    let sound = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(sound) {
        true if name == RESERVED => Err(format!(
            "\"{name}\" is not a valid name of a congestion control: `kernel = \"{name}\"` of a scenario \
             means the controller of a flow"
        )),
        true => Ok(()),
        false => Err(format!(
            "\"{name}\" is not a valid name of a congestion control: expected 1 to {LONGEST_NAME} letters, \
             digits, _ and -"
        )),
    }
}
