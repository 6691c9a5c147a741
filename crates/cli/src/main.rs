//! The program `accord`.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(feature = "quic")]
    let controllers = accord_quinn::FAMILIES;
    #[cfg(not(feature = "quic"))]
    let controllers = &[];
    accord_cli::main_with(controllers, &[])
}
