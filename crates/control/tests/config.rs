//! Typed configurations are the tables of the families.

use accord_control::{
    Controller, FAMILIES, bbr1, bbr3, copa, cubic, dctcp, ledbat, ledbat_pp, monaco, multcp,
    prague, reno, vegas, vegas_rem,
};
use accord_family::differences;
use accord_units::{Bytes, Size};

#[test]
fn every_family_with_parameters_has_its_configuration() {
    let configs: &[(&str, &[&str])] = &[
        ("vegas", vegas::Config::PARAMS),
        ("vegas-k", vegas::ConfigK::PARAMS),
        ("vegas-rem", vegas_rem::Config::PARAMS),
        ("reno", reno::RenoConfig::PARAMS),
        ("newreno", reno::NewRenoConfig::PARAMS),
        ("cubic", cubic::Config::PARAMS),
        ("bbr3", bbr3::Config::PARAMS),
        ("dctcp", dctcp::Config::PARAMS),
        ("prague", prague::Config::PARAMS),
        ("copa", copa::Config::PARAMS),
        ("bbr1", bbr1::Config::PARAMS),
        ("ledbat", ledbat::Config::PARAMS),
        ("ledbat-pp", ledbat_pp::Config::PARAMS),
        ("multcp", multcp::Config::PARAMS),
        (
            "monaco",
            &[monaco::Config::PARAMS, monaco::Config::SWITCHES].concat(),
        ),
    ];
    for family in FAMILIES.iter().filter(|f| !f.params.is_empty()) {
        let config = configs.iter().find(|(name, _)| *name == family.name);
        let (_, config) = config.unwrap_or_else(|| panic!("{} has none", family.name));
        assert_eq!(
            differences(family.params, config),
            [""; 0],
            "{}",
            family.name
        );
    }
}

#[test]
fn a_controller_is_made_of_its_configuration() {
    let config = cubic::Config {
        initial_window: Size::Packets(10.0),
        ..cubic::Config::default()
    };
    let cubic = config.build(Bytes::new(1000)).expect("in range");
    assert_eq!(cubic.cwnd(), Bytes::new(10_000));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let config = vegas::Config {
        alpha: Some(Size::Packets(4.0)),
        beta: Some(Size::Packets(2.0)),
        ..vegas::Config::default()
    };
    assert!(config.values().is_err(), "alpha is above beta");
    let known = vegas::Config {
        base_rtt: vegas::BaseRttSource::Known,
        ..vegas::Config::default()
    };
    let values = known.values().expect("in range");
    assert_eq!(values.choice("base_rtt"), "known");
    assert_eq!(vegas::Config::from(&values), known);
}
