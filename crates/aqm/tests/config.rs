//! Typed configurations are the tables of the families.

use accord_aqm::{bat, codel, red};
use accord_units::Duration;

#[test]
fn a_discipline_is_made_of_its_configuration() {
    let config = codel::Config { target: Duration::from_ms(10), ..codel::Config::default() };
    let values = config.values().expect("in range");
    assert_eq!(values.duration("target"), Duration::from_ms(10));
    assert_eq!(values.duration("interval"), Duration::from_ms(100));
    assert!(config.build().is_ok());
    let refused = red::Config { weight: 2.0, ..red::Config::default() };
    let why = refused.build().expect_err("a weight is at most 1");
    assert_eq!(why.path, ["weight"], "{why}");
}

#[test]
fn aggregates_are_distinguished_by_name() {
    let two = |weight| {
        let first = bat::AggregateConfig { weight, ..bat::AggregateConfig::default() };
        let aggregates = [("voice", first), ("bulk", bat::AggregateConfig::default())];
        bat::Config::default().build(&aggregates)
    };
    assert!(two(2.0).is_ok());
    let why = two(-1.0).expect_err("a weight is more than zero");
    assert_eq!(why.path, ["voice", "weight"], "{why}");
}
