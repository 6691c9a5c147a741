//! The program `accord`, for programs that have controllers and queue disciplines of their own.
//!
//! [`main_with`] is all of it. A program that registers a controller has it in scenario files,
//! in the packet engine and the live one, in theory and the fluid engine as far as its family
//! says how, in tables and on the page. `docs/src/own-controller.md` shows one.
//!
//! Data goes to stdout, everything else to stderr. Exit codes: 0 all is well, 1 an
//! expectation failed and is not known to, 2 bad usage or a bad scenario, 3 this machine cannot do it, 130
//! interrupted.

mod args;
mod bench;
mod capture;
mod check;
mod commands;
mod execute;
mod explain;
mod fail;
mod live;
mod output;
mod progress;
mod record;
mod reproduce;
mod solve;
mod source;
mod stability;

pub use accord_aqm as aqm;
pub use accord_control as control;
pub use accord_family as family;
pub use accord_family::Catalogue;
pub use accord_units as units;

use accord_family::{Family, Role};
use clap::Parser;
use std::process::ExitCode;

/// Reads the command line and does what it says, with these controllers and queue disciplines
/// beside those that come with the program. Gives the exit code.
///
/// # Panics
/// When a family is not sound, see [`catalogue`].
pub fn main_with(controllers: &[&'static Family], disciplines: &[&'static Family]) -> ExitCode {
    let catalogue = catalogue(controllers, disciplines);
    match commands::run(args::Args::parse(), &catalogue) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(e) => e.report(),
    }
}

/// The controllers and queue disciplines that come with the program, and these. They are kept
/// until the program ends.
///
/// # Panics
/// When two have one name, or one has no maker of its kind, or defaults that its own table
/// refuses: errors of its author, found before anything runs.
pub fn catalogue(controllers: &[&'static Family], disciplines: &[&'static Family]) -> Catalogue {
    let all = |own: &[&'static Family], more: &[&'static Family]| {
        let all: &'static [_] = [own, more].concat().leak();
        for (i, family) in all.iter().enumerate() {
            let twin = all[..i].iter().any(|other| other.name == family.name);
            assert!(!twin, "there are two families called {}", family.name);
            let sound = (family.check)(&family.defaults());
            assert!(sound.is_ok(), "the defaults of {}: {sound:?}", family.name);
        }
        all
    };
    let catalogue = Catalogue {
        controllers: all(control::FAMILIES, controllers),
        disciplines: all(aqm::FAMILIES, disciplines),
    };
    for family in catalogue.controllers {
        let role = matches!(family.role, Role::Controller(_) | Role::Tunnel(_));
        assert!(role, "{} is no controller", family.name);
        control::Maker::of(family);
    }
    for family in catalogue.disciplines {
        let role = matches!(family.role, Role::Queue(_));
        assert!(role, "{} is no queue discipline", family.name);
        aqm::Maker::of(family);
    }
    catalogue
}
