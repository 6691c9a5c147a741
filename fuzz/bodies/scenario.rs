//! Parses any text as a scenario, which is refused with an error or prints as itself.

use accord::Catalogue;
use accord::language::File;
use accord::scenario::print;

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord::control::FAMILIES, disciplines: accord::aqm::FAMILIES };

/// Returns true if the text is a scenario.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return false;
    };
    let points = File::parse("fuzz.toml", text)
        .map_err(|e| e.to_string())
        .and_then(|file| file.points(&CATALOGUE, None).map_err(|errors| errors.to_string()));
    let points = match points {
        Ok(points) => points,
        Err(message) => {
            assert!(!message.is_empty());
            return false;
        }
    };
    let scenario = &points[0];
    if scenario.flows.len() < 10_000 {
        let again = File::parse("printed.toml", &print(scenario)).expect("its print parses");
        let again = again.points(&CATALOGUE, None).expect("its print is valid");
        assert_eq!(&again[0], scenario);
    }
    true
}
