//! The tests of `accord-transport`, one module per subject.

#[path = "common/bottleneck.rs"]
mod bottleneck;
mod common;
#[path = "common/hand.rs"]
mod hand;
mod ingress;
#[path = "../../aqm/tests/common/any_values.rs"]
mod values;

mod acks;
mod bbr1;
mod bbr3;
mod copa;
mod counts;
mod dctcp;
mod ecn;
mod eifel;
mod fast_path;
mod outstanding;
mod pacing;
mod pairs;
mod papers;
mod pcapng;
mod prr;
mod rack;
mod rack_rules;
mod round_trip;
mod rules;
mod starts;
mod stream;
mod tunnel;
mod validated;
mod wire;
