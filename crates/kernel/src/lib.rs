//! Controllers of Accord in the kernel's TCP.
//!
//! A BPF program in the kernel (`bpf/tcp.bpf.c`, a `struct tcp_congestion_ops`) reports to this
//! process on the connections that use it as their congestion control, and carries out the
//! decisions in a slot per connection: window, slow-start threshold, pace. Controllers are those of
//! the engines, unchanged. If no decision comes for four round trips and 10 ms, the BPF program
//! halves the window once and continues as Reno.
//!
//! [`Connection`] passes reports to a controller, and [`Registry`] has the connections of a
//! process. Both are independent of the kernel. `Attached`, with the feature `bpf` on Linux, is the
//! interface to it.
//!
//! ```
//! use accord_kernel::{Refused, check};
//!
//! let family = |name| accord_control::FAMILIES.iter().find(|f| f.name == name).unwrap();
//! assert!(check(&family("copa").defaults()).is_ok());
//! let refused = check(&family("monaco").defaults()).unwrap_err();
//! assert_eq!(
//!     refused.to_string(),
//!     "monaco cannot run in the kernel's TCP: it is fed by pairs of control packets, and TCP has \
//!      acknowledgements only"
//! );
//! ```

#[cfg(all(feature = "bpf", target_os = "linux"))]
mod attach;
mod connection;
#[cfg(all(feature = "bpf", target_os = "linux"))]
mod group;
mod registry;
mod report;
mod status;

#[cfg(all(feature = "bpf", target_os = "linux"))]
pub use accord_door::Error;
#[cfg(all(feature = "bpf", target_os = "linux"))]
pub use attach::{Ask, Attached, Ended, Watch};
pub use connection::Connection;
#[cfg(all(feature = "bpf", target_os = "linux"))]
pub use group::Group;
pub use registry::{Entry, Registry};
pub use report::{
    ACKNOWLEDGED, ALONE, APP_LIMITED, CLOSED, Decision, Report, SAMPLE, Slot, State, WINDOW_LIMITED,
};
pub use status::{Ages, ConnectionStatus, Facts, Status, metrics, status, table};

use accord_control::{Maker, Transport};
use accord_family::Values;
use std::fmt;

/// The longest name of a congestion control in bytes (`TCP_CA_NAME_MAX` less the end).
pub const LONGEST_NAME: usize = 15;

/// The reason why a controller cannot run in the kernel's TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The controller needs control packets.
    ControlPackets(&'static str),
    /// The controller does not respond to the network, so that it has no window.
    NoWindow(&'static str),
    /// The family is a queue discipline.
    NotAController(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, why) = match self {
            Refused::ControlPackets(name) => (
                name,
                "is fed by pairs of control packets, and TCP has acknowledgements only",
            ),
            Refused::NoWindow(name) => (
                name,
                "does not respond to the network, and TCP needs a window",
            ),
            Refused::NotAController(name) => (name, "is a queue discipline"),
        };
        write!(f, "{name} cannot run in the kernel's TCP: it {why}")
    }
}

impl std::error::Error for Refused {}

#[cfg(all(feature = "bpf", target_os = "linux"))]
impl From<Refused> for Error {
    fn from(refused: Refused) -> Error {
        Error::Wrong(refused.to_string())
    }
}

/// Checks that the controller that `values` describes can run in the kernel's TCP.
///
/// # Errors
///
/// Fails with the reason why it cannot.
pub fn check(values: &Values) -> Result<(), Refused> {
    let family = values.family();
    match family
        .maker
        .downcast_ref()
        .map(|maker: &Maker| maker.transport)
    {
        Some(Transport::Stream) => Ok(()),
        Some(Transport::Tunnel { .. }) => Err(Refused::ControlPackets(family.name)),
        Some(Transport::Open) => Err(Refused::NoWindow(family.name)),
        None => Err(Refused::NotAController(family.name)),
    }
}

/// Checks the name of a congestion control: 1 to 15 letters, digits, `_` and `-`.
///
/// # Errors
///
/// Fails with the message of the error.
pub fn check_name(name: &str) -> Result<(), String> {
    let sound = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(sound) {
        true => Ok(()),
        false => Err(format!(
            "\"{name}\" is not a valid name of a congestion control: expected 1 to {LONGEST_NAME} letters, \
             digits, _ and -"
        )),
    }
}
