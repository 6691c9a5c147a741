//! Names for the completions of shells.

use accord::scenario::Engine;
use accord::units::Words;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use clap::{Arg, Command, Error};
use std::ffi::OsStr;

/// Accepts any text. Completions offer these names; the command rejects unknown ones with a hint.
#[derive(Clone)]
pub struct Offer(pub fn() -> Vec<&'static str>);

impl TypedValueParser for Offer {
    type Value = String;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<String, Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new((self.0)().into_iter().map(PossibleValue::new)))
    }
}

/// The scenarios that come with the program.
pub const SCENARIOS: Offer = Offer(|| accord::BUILT_IN.iter().map(|(id, _)| *id).collect());
/// The controllers that come with the program.
pub const CONTROLLERS: Offer =
    Offer(|| accord::catalogue().controllers.iter().map(|family| family.name).collect());
/// The controllers and queue disciplines that come with the program.
pub const SUBJECTS: Offer = Offer(|| {
    let all = accord::catalogue();
    all.controllers.iter().chain(all.disciplines).map(|family| family.name).collect()
});
/// The packs of evaluations.
pub const PACKS: Offer = Offer(|| accord_evaluate::pack::built_in().collect());

/// Parses the name of an engine.
pub fn engine() -> impl TypedValueParser<Value = Engine> {
    Offer(Engine::words).try_map(|name| Engine::read_word(&name))
}
