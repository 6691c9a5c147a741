//! Typed configurations are the tables of the families.

use accord_control::{Controller, cubic, vegas};
use accord_units::{Bytes, Size};

#[test]
fn a_controller_is_made_of_its_configuration() {
    let config = cubic::Config { initial_window: Size::Packets(20.0), ..cubic::Config::default() };
    let cubic = config.build(Bytes::new(1000)).expect("in range");
    assert_eq!(cubic.cwnd(), Bytes::new(20_000));
}

#[test]
fn what_contradicts_itself_is_refused() {
    let config = vegas::Config {
        alpha: Some(Size::Packets(4.0)),
        beta: Some(Size::Packets(2.0)),
        ..vegas::Config::default()
    };
    assert!(config.values().is_err(), "alpha is above beta");
    let known = vegas::Config { base_rtt: vegas::BaseRttSource::Known, ..vegas::Config::default() };
    let values = known.values().expect("in range");
    assert_eq!(values.choice("base_rtt"), "known");
    assert_eq!(vegas::Config::from(&values), known);
}

/// Files of before the laws had names of papers have `law = "printed"`, which was algorithm 1 of Har02.
#[test]
fn an_old_name_of_a_law_is_refused_with_its_present_one() {
    let mut values = crate::common::family("monaco").defaults();
    let error = values.set("law", &crate::common::text("printed")).expect_err("no law of today");
    assert_eq!(
        error.to_string(),
        "law: \"printed\" is not known; expected one of accord, xia05, har02, har02-printed; \"printed\" was har02"
    );
}
