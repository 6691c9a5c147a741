//! Any text: it is refused with an error, or it is a scenario that prints as itself.
#![no_main]

use accord_scenario::{Catalogue, File, print};
use libfuzzer_sys::fuzz_target;

const CATALOGUE: Catalogue = Catalogue {
    controllers: accord_control::FAMILIES,
    disciplines: accord_aqm::FAMILIES,
};

fuzz_target!(|text: &str| {
    let Ok(file) = File::parse("fuzz.toml", text) else {
        return;
    };
    let points = match file.points(&CATALOGUE, None) {
        Ok(points) => points,
        Err(errors) => return drop(errors.to_string()),
    };
    let scenario = &points[0];
    if scenario.flows.len() < 10_000 {
        let again = File::parse("printed.toml", &print(scenario)).expect("its print parses");
        let again = again.points(&CATALOGUE, None).expect("its print is valid");
        assert_eq!(&again[0], scenario);
    }
});
