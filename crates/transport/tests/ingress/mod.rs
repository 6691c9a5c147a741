//! A tunnel's ingress under a law of Monaco, with unlimited data to send.
#![allow(dead_code, reason = "each test file uses its own part")]

use accord_control::{AnyController, FAMILIES, Maker, Transport};
use accord_family::Raw;
use accord_transport::tunnel;
use accord_units::{Bytes, Duration, Time};

pub const PACKET: Bytes = Bytes::new(1000);

pub fn ingress(law: &str) -> tunnel::Ingress {
    ingress_with(law, &[])
}

/// The same with parameters of its own.
pub fn ingress_with(law: &str, params: &[(&str, &str)]) -> tunnel::Ingress {
    let family = FAMILIES.iter().find(|f| f.name == "monaco").expect("known");
    let mut values = family.defaults();
    for (param, text) in [("law", law)].iter().chain(params) {
        let set = values.set(param, &Raw::Text((*text).into()));
        set.expect("in range");
    }
    let Transport::Tunnel { sending, .. } = Maker::of(family).transport else {
        panic!("it runs on a tunnel")
    };
    let sending = sending(&values);
    let mut ingress = tunnel::Ingress::new(AnyController::build(&values, PACKET), PACKET, sending);
    ingress.supply(u64::MAX);
    ingress
}

pub fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}
