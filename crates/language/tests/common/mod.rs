//! Small families to stand for the product's own.

use accord_family::{
    Catalogue, Family, Invalid, Kind, Meaning, Objective, Param, Price, Role, Stack, StackCode,
    Values,
};
use accord_language::{Errors, File};
use accord_scenario::Scenario;

const fn param(name: &'static str, kind: Kind, default: &'static str) -> Param {
    Param { name, symbol: "", kind, default, meaning: Meaning::Own, doc: "", source: "" }
}

const fn family(name: &'static str, params: &'static [Param], role: Role) -> Family {
    Family { params, ..Family::new(name, role) }
}

fn accumulation(values: &Values) -> Objective {
    let target = values.size("target");
    Objective::Accumulation { target }
}

fn vegas(values: &Values) -> Objective {
    let target = values.size("alpha");
    Objective::Accumulation { target }
}

fn ordered(values: &Values) -> Result<(), Invalid> {
    let bytes = |name| values.size(name).bytes_f64(accord_units::Bytes::new(1000));
    if bytes("alpha") <= bytes("beta") {
        Ok(())
    } else {
        Err("alpha must not be more than beta".into())
    }
}

static MONACO: Family = family(
    "monaco",
    &[
        param("target", Kind::Size, "3000 B"),
        param("gain", Kind::Number { min: 0.0, max: 2.0 }, "0.5"),
        param("policy", Kind::Choice(&["p", "aiad", "mw"]), "p"),
        param("estimator", Kind::Choice(&["monaco", "ideal"]), "monaco"),
        param("paced", Kind::Flag, "true"),
        param("window", Kind::Choice(&["outstanding", "open"]), "outstanding"),
    ],
    Role::Tunnel(accumulation),
);

const VEGAS_PARAMS: &[Param] = &[
    param("alpha", Kind::Size, "1 pkt"),
    param("beta", Kind::Size, "3 pkt"),
    param("gamma", Kind::Size, "1 pkt"),
    param("k", Kind::Integer { min: 0, max: 1000 }, "0"),
];

static VEGAS: Family =
    Family { check: ordered, ..family("vegas", VEGAS_PARAMS, Role::Controller(vegas)) };

static VEGAS_K: Family =
    Family { check: ordered, ..family("vegas-k", VEGAS_PARAMS, Role::Controller(vegas)) };

static RENO: Family = Family {
    stack: Some(StackCode { stacks: &[&STACK], maker: &() }),
    ..family("reno", &[], Role::Controller(|_| Objective::Loss))
};

/// A QUIC stack that runs all controllers but one.
static STACK: Stack = Stack {
    name: "stack",
    check: |values| match values.family().name {
        "multcp" => Err("multcp cannot run in it".into()),
        _ => Ok(()),
    },
    repeats: |_| Ok(()),
    maker: &(),
};

static NEWRENO: Family = Family {
    kernel: Some("reno"),
    ..family("newreno", &[], Role::Controller(|_| Objective::Loss))
};
static MULTCP: Family = family("multcp", &[], Role::Controller(|_| Objective::WeightedLoss));
static NONE: Family = family("none", &[], Role::Controller(|_| Objective::Unresponsive));

static DROPTAIL: Family = family("droptail", &[], Role::Queue(|_| Price::QueuingDelay));
static RED: Family = family(
    "red",
    &[
        param("min_threshold", Kind::Size, "5 pkt"),
        param("ecn", Kind::Flag, "false"),
        param("period", Kind::Duration, "10 ms"),
        param("reference", Kind::Rate, ""),
    ],
    Role::Queue(|_| Price::Loss),
);
static SHARES: Family = family(
    "shares",
    &[
        param("busy", Kind::Number { min: 0.0, max: 1.0 }, "0.95"),
        param(
            "aggregates",
            Kind::Aggregates(&[
                param("min", Kind::Rate, ""),
                param("weight", Kind::Number { min: 0.0, max: 9.0 }, "1"),
            ]),
            "",
        ),
    ],
    Role::Queue(|_| Price::Loss),
);
const AVQ_PARAMS: &[Param] = &[
    param("utilisation", Kind::Number { min: 0.5, max: 1.0 }, "0.98"),
    param("gain", Kind::Number { min: 0.001, max: 1.0 }, "0.15"),
];
static AVQ: Family = family("avq", AVQ_PARAMS, Role::Queue(|_| Price::Loss));
static AVD: Family = family(
    "avd",
    AVQ_PARAMS,
    Role::Queue(|values| Price::VirtualDelay { utilisation: values.number("utilisation") }),
);

pub const CATALOGUE: Catalogue = Catalogue {
    controllers: &[&RENO, &NEWRENO, &MULTCP, &VEGAS, &VEGAS_K, &MONACO, &NONE],
    disciplines: &[&DROPTAIL, &RED, &AVQ, &AVD, &SHARES],
};

/// All points of a text called "test.toml".
#[allow(dead_code, reason = "not every test binary uses all helpers")]
pub fn points(text: &str) -> Result<Vec<Scenario>, Errors> {
    File::parse("test.toml", text).map_err(Errors::from)?.points(&CATALOGUE, None)
}

/// The errors of a text that has to be refused: "line:column: message" and hints.
#[allow(dead_code, reason = "not every test binary uses all helpers")]
pub fn refused(text: &str) -> String {
    let errors = points(text).expect_err("it must be refused");
    errors.to_string().replace("test.toml:", "")
}
