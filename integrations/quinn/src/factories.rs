//! Factories of quinn's controllers, from parameters of Accord.

use accord_family::Values;
use accord_units::Bytes;
use quinn_proto::congestion::{BbrConfig, ControllerFactory, CubicConfig, NewRenoConfig};
use std::sync::Arc;

/// A factory of quinn's controllers.
pub type Made = Arc<dyn ControllerFactory + Send + Sync>;

/// Makes a function that returns the factory of a controller with the initial window of a family.
macro_rules! factory {
    ($name:ident: $config:ident) => {
        pub fn $name(values: &Values, packet: Bytes) -> Made {
            let mut config = $config::default();
            config.initial_window(initial_window(values, packet));
            Arc::new(config)
        }
    };
}
factory!(newreno: NewRenoConfig);
factory!(cubic: CubicConfig);
factory!(bbr: BbrConfig);

/// Returns the initial window in bytes, at least two packets.
pub fn initial_window(values: &Values, packet: Bytes) -> u64 {
    let window = values.size("initial_window").bytes_f64(packet).round() as u64;
    window.max(2 * packet.get())
}
