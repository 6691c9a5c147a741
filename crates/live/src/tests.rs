//! Scenarios for tests.
#![cfg(target_os = "linux")]

use accord_family::Catalogue;
use accord_language::File;
use accord_scenario::Scenario;

/// Returns a scenario with a bottleneck of 1 Mbps and 20 ms.
pub fn dumbbell() -> Scenario {
    read(
        r#"
        id = "small"
        duration = "1 s"
        [topology.dumbbell]
        rate = "1 Mbps"
        delay = "20 ms"
        [flow.a]
        from = "left"
        to = "right"
        controller = "monaco"
        "#,
    )
}

/// Returns the scenario of this text.
pub fn read(text: &str) -> Scenario {
    let catalogue =
        Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };
    let file = File::parse("small.toml", text).expect("it is TOML");
    file.points(&catalogue, None).expect("it is valid").remove(0)
}
