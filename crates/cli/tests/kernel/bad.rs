//! Controllers with invalid decisions.

use accord::control::{
    Acked, Allowance, AnyController, Congestion, Controller, Maker, PathView, Transport,
};
use accord::family::{Family, Objective, Role};
use accord::units::{Bytes, Rate, Time};

/// A controller with invalid decisions.
#[derive(Clone, Debug)]
struct Bad {
    kind: &'static str,
    acks: u64,
}

impl Controller for Bad {
    fn on_ack(&mut self, _: &Acked, _: &PathView, _: Time) {
        self.acks += 1;
        assert!(self.kind != "panics" || self.acks < 20, "it was to panic");
    }

    fn on_congestion(&mut self, _: Congestion, _: &PathView, _: Time) {}

    fn allowance(&self) -> Allowance {
        let window = match self.kind {
            "nothing" => Bytes::ZERO,
            "not a number" => Bytes::from_f64(f64::NAN),
            "2^63" => Bytes::new(1 << 63),
            _ => Bytes::new(30_000),
        };
        Allowance { window, pacing: (self.kind == "no pace").then_some(Rate::ZERO) }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }
}

macro_rules! bad {
    ($name:ident, $family:literal, $kind:literal) => {
        static $name: Family = Family {
            maker: &Maker {
                build: |_, _| AnyController::foreign(Bad { kind: $kind, acks: 0 }),
                transport: Transport::Stream,
            },
            ..Family::new($family, Role::Controller(|_| Objective::Other))
        };
    };
}
bad!(PANICS, "bad-panics", "panics");
bad!(NOTHING, "bad-nothing", "nothing");
bad!(NAN, "bad-nan", "not a number");
bad!(HUGE, "bad-huge", "2^63");
bad!(NO_PACE, "bad-no-pace", "no pace");
pub static BAD: &[&Family] = &[&PANICS, &NOTHING, &NAN, &HUGE, &NO_PACE];
