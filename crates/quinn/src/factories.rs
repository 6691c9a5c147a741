//! The makers of quinn's controllers, for parameters of Accord.

use accord_family::Values;
use accord_units::Bytes;
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use std::sync::Arc;

/// The names of quinn's controllers in Accord.
pub const NEWRENO: &str = "quinn-newreno";
pub const CUBIC: &str = "quinn-cubic";
pub const BBR: &str = "quinn-bbr";

/// A maker of quinn's controllers.
pub type Made = Arc<dyn ControllerFactory + Send + Sync>;

pub fn newreno(values: &Values, packet: Bytes) -> Made {
    let mut config = NewRenoConfig::default();
    config.initial_window(initial_window(values, packet));
    Arc::new(config)
}

pub fn cubic(values: &Values, packet: Bytes) -> Made {
    let mut config = CubicConfig::default();
    config.initial_window(initial_window(values, packet));
    Arc::new(config)
}

pub fn bbr(values: &Values, packet: Bytes) -> Made {
    let mut config = BbrConfig::default();
    config.initial_window(initial_window(values, packet));
    Arc::new(config)
}

/// Returns the maker of the controller of quinn's own that `values` describes, for packets of this
/// size. It is `None` if the controller is not quinn's.
pub fn own(values: &Values, packet: Bytes) -> Option<Made> {
    match values.family().name {
        NEWRENO => Some(newreno(values, packet)),
        CUBIC => Some(cubic(values, packet)),
        BBR => Some(bbr(values, packet)),
        _ => None,
    }
}

/// Returns the window at the start in bytes, which is two packets at the least.
pub fn initial_window(values: &Values, packet: Bytes) -> u64 {
    let window = values.size("initial_window").bytes_f64(packet).round() as u64;
    window.max(2 * packet.get())
}
