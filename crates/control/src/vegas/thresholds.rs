//! The thresholds α and β: as given, as a target, and ready for comparison.

use accord_family::{Invalid, Target, Value, Values, WindowLaw};
use accord_units::{Bytes, Duration, Rate, Size};

/// The thresholds where neither amounts nor rates are given.
const DEFAULT_ALPHA: Size = Size::Packets(1.0);
const DEFAULT_BETA: Size = Size::Packets(3.0);

/// The thresholds α and β as they are given.
#[derive(Clone, Copy)]
enum Given {
    Amounts(Size, Size),
    Rates(Rate, Rate),
}

impl Given {
    fn read(values: &Values) -> Result<Given, Invalid> {
        let amounts = (values.size_opt("alpha"), values.size_opt("beta"));
        let rates = (values.rate_opt("alpha_rate"), values.rate_opt("beta_rate"));
        match (amounts, rates) {
            ((alpha, beta), (None, None)) => {
                Ok(Given::Amounts(alpha.unwrap_or(DEFAULT_ALPHA), beta.unwrap_or(DEFAULT_BETA)))
            }
            ((None, None), (Some(alpha), Some(beta))) => Ok(Given::Rates(alpha, beta)),
            ((None, None), _) => Err("alpha_rate and beta_rate go together; give both (they \
                                      may be equal)"
                .into()),
            _ => Err("alpha and beta are amounts, alpha_rate and beta_rate the same per base \
                      round-trip time; give one pair or the other"
                .into()),
        }
    }
}

/// Returns the default thresholds, which apply where no rates are given.
pub(super) fn absent(values: &Values, name: &str) -> Value {
    match (name, Given::read(values)) {
        ("alpha", Ok(Given::Amounts(alpha, _))) => Value::Size(alpha),
        ("beta", Ok(Given::Amounts(_, beta))) => Value::Size(beta),
        _ => Value::Absent,
    }
}

pub(super) fn check(values: &Values) -> Result<(), Invalid> {
    let ordered = match Given::read(values)? {
        Given::Amounts(Size::Packets(a), Size::Packets(b)) => a <= b,
        Given::Amounts(Size::Bytes(a), Size::Bytes(b)) => a <= b,
        Given::Amounts(..) => {
            return Err("alpha and beta must have the same unit; write both in packets or \
                        both in bytes (without a value they are 1 pkt and 3 pkt)"
                .into());
        }
        Given::Rates(a, b) => a <= b,
    };
    if ordered {
        Ok(())
    } else {
        Err("alpha must not be more than beta (without a value they are 1 pkt and 3 pkt); \
             for a single target give both the same"
            .into())
    }
}

/// Returns the middle of the thresholds. A flow may settle anywhere between them, depending on the
/// side from which it approaches.
pub(super) fn target(values: &Values) -> Target {
    match Given::read(values) {
        Ok(Given::Rates(a, b)) => {
            Target::PerRoundTrip(Rate::from_bps_f64((a.as_bps_f64() + b.as_bps_f64()) / 2.0))
        }
        Ok(Given::Amounts(Size::Bytes(a), Size::Bytes(b))) => {
            Target::Amount(Size::Bytes(Bytes::from_f64((a.as_f64() + b.as_f64()) / 2.0)))
        }
        Ok(Given::Amounts(Size::Packets(a), Size::Packets(b))) => {
            Target::Amount(Size::Packets((a + b) / 2.0))
        }
        _ => unreachable!("the family's check has passed"),
    }
}

/// The thresholds α and β, ready to compare with a backlog in bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Thresholds {
    /// Thresholds in bytes.
    Amounts(f64, f64),
    /// Thresholds in bytes per second of base round-trip time.
    Rates(f64, f64),
}

impl Thresholds {
    pub(super) fn new(values: &Values, packet: Bytes) -> Thresholds {
        match Given::read(values).expect("the family's check has passed") {
            Given::Amounts(a, b) => Thresholds::Amounts(a.bytes_f64(packet), b.bytes_f64(packet)),
            Given::Rates(a, b) => Thresholds::Rates(a.as_bps_f64() / 8.0, b.as_bps_f64() / 8.0),
        }
    }

    /// Returns the law of a fluid with these thresholds.
    pub(crate) fn law(self, weight: f64) -> WindowLaw {
        let (low, high, per_second) = match self {
            Thresholds::Amounts(a, b) => (a, b, false),
            Thresholds::Rates(a, b) => (a, b, true),
        };
        WindowLaw::Vegas { low: weight * low, high: weight * high, per_second }
    }

    pub(crate) fn in_bytes(self, base_rtt: Duration) -> (f64, f64) {
        match self {
            Thresholds::Amounts(a, b) => (a, b),
            Thresholds::Rates(a, b) => (a * base_rtt.as_secs_f64(), b * base_rtt.as_secs_f64()),
        }
    }
}
