//! The interface to the kernel in builds without it.

use crate::{Ask, Ended, Error, Status, Watch};
use accord_door::Door;
use accord_family::Values;

/// A controller in the kernel's TCP. This build has none.
#[derive(Debug)]
pub enum Attached {}

impl Attached {
    /// Attaches a controller.
    ///
    /// # Errors
    /// Always fails in this build.
    pub fn new(_: &str, _: &Values) -> Result<Attached, Error> {
        Err(Error::Unable(obstacle().unwrap_or_default()))
    }

    /// Makes decisions until it is asked to end.
    ///
    /// # Errors
    /// Never fails, because there is no value of this type.
    pub fn serve(&self, _: &[Door<Ask>], _: Watch) -> Result<(Ended, Status), Error> {
        match *self {}
    }
}

/// Returns the reason why this build cannot attach controllers.
pub fn obstacle() -> Option<String> {
    Some(if cfg!(target_os = "linux") {
        "this build has no controllers for the kernel; the Debian package has them, and a \
             build with the feature kernel, which needs clang and libelf: cargo build --release \
             --features kernel, or for Python maturin develop --release --features kernel"
            .into()
    } else {
        "controllers in the kernel's TCP need Linux".into()
    })
}
