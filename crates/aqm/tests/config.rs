//! Typed configurations are the tables of the families.

use accord_aqm::{FAMILIES, avd, avq, bat, clcc, codel, dualpi2, fq_codel, host_fq};
use accord_aqm::{pie, red, rem, step};
use accord_family::{Kind, Param, differences};
use accord_units::Duration;

#[test]
fn every_family_with_parameters_has_its_configuration() {
    let configs: &[(&str, &[&str])] = &[
        ("red", red::Config::PARAMS),
        ("avq", avq::Config::PARAMS),
        ("avd", avd::Config::PARAMS),
        ("rem", rem::Config::PARAMS),
        ("bat", bat::Config::PARAMS),
        ("bat-clcc", clcc::Config::PARAMS),
        ("codel", codel::Config::PARAMS),
        ("pie", pie::Config::PARAMS),
        ("step", step::Config::PARAMS),
        ("fq-codel", fq_codel::Config::PARAMS),
        ("host-fq", host_fq::Config::PARAMS),
        ("dualpi2", dualpi2::Config::PARAMS),
    ];
    for family in FAMILIES.iter().filter(|f| !f.params.is_empty()) {
        let config = configs.iter().find(|(name, _)| *name == family.name);
        let (_, config) = config.unwrap_or_else(|| panic!("{} has none", family.name));
        let is_one = |p: &&Param| !matches!(p.kind, Kind::Aggregates(_));
        let params: Vec<Param> = family.params.iter().filter(is_one).copied().collect();
        assert_eq!(differences(&params, config), [""; 0], "{}", family.name);
    }
}

#[test]
fn aggregates_have_theirs() {
    let configs = [
        ("bat", bat::AggregateConfig::PARAMS),
        ("bat-clcc", clcc::AggregateConfig::PARAMS),
    ];
    for family in FAMILIES.iter().filter(|f| !f.aggregate_params().is_empty()) {
        let config = configs.iter().find(|(name, _)| *name == family.name);
        let (_, config) = config.unwrap_or_else(|| panic!("{} has none", family.name));
        assert_eq!(differences(family.aggregate_params(), config), [""; 0]);
    }
    assert!(clcc::AggregateConfig::default().steered);
}

#[test]
fn a_discipline_is_made_of_its_configuration() {
    let config = codel::Config {
        target: Duration::from_ms(10),
        ..codel::Config::default()
    };
    let values = config.values().expect("in range");
    assert_eq!(values.duration("target"), Duration::from_ms(10));
    assert_eq!(values.duration("interval"), Duration::from_ms(100));
    assert!(config.build().is_ok());
    let refused = red::Config {
        weight: 2.0,
        ..red::Config::default()
    };
    let why = refused.build().expect_err("a weight is at most 1");
    assert!(why.starts_with("weight: "), "{why}");
}

#[test]
fn aggregates_are_distinguished_by_name() {
    let two = |weight| {
        let first = bat::AggregateConfig {
            weight,
            ..bat::AggregateConfig::default()
        };
        let aggregates = [("voice", first), ("bulk", bat::AggregateConfig::default())];
        bat::Config::default().build(&aggregates)
    };
    assert!(two(2.0).is_ok());
    let why = two(-1.0).expect_err("a weight is more than zero");
    assert!(why.starts_with("voice: weight: "), "{why}");
}
