//! JSON Schemas of what `--json` prints. A test of the program holds real output to them.

use crate::class::Class;
use crate::json::FORMAT_VERSION;
use crate::papers::FigureVerdict;
use accord_scenario::{Cause, Claim, Engine, MetricUnit};
use accord_units::Words as _;
use serde_json::{Map, Value, json};

/// The commands whose output has a schema.
pub const OUTPUTS: [&str; 4] = ["run", "compare", "stability", "reproduce"];

/// Returns the schema of the output of a command of [`OUTPUTS`] with `--json`.
pub fn output_schema(command: &str) -> Option<Value> {
    let body = match command {
        "run" => experiment(),
        "reproduce" => json!({ "oneOf": [experiments(), summary()] }),
        "compare" => comparison(),
        "stability" => json!({ "oneOf": [equilibria(), map()] }),
        _ => return None,
    };
    let mut schema = Map::new();
    schema.insert(
        "$schema".into(),
        "https://json-schema.org/draft/2020-12/schema".into(),
    );
    schema.insert("title".into(), format!("accord {command} --json").into());
    if let Value::Object(body) = body {
        schema.extend(body);
    }
    Some(Value::Object(schema))
}

/// An object with these keys, all of them required, and no others.
fn object(about: &str, keys: &[(&str, Value)]) -> Value {
    let properties: Map<String, Value> = keys
        .iter()
        .map(|(key, value)| (key.to_string(), value.clone()))
        .collect();
    let required: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
    json!({
        "description": about,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    })
}

/// The same, of which some keys may be left out.
fn partial(about: &str, keys: &[(&str, Value)], optional: &[&str]) -> Value {
    let mut value = object(about, keys);
    if let Some(required) = value["required"].as_array_mut() {
        required.retain(|key| !optional.iter().any(|o| key == o));
    }
    value
}

fn list(about: &str, of: Value) -> Value {
    json!({ "description": about, "type": "array", "items": of })
}

fn typed(of: &str, about: &str) -> Value {
    json!({ "description": about, "type": of })
}

/// A value that is null where there is none.
fn maybe(of: &str, about: &str) -> Value {
    json!({ "description": about, "type": [of, "null"] })
}

fn one_of(about: &str, names: &[&str]) -> Value {
    json!({ "description": about, "enum": names })
}

fn version() -> Value {
    json!({ "description": "raised when a reader of the last version would misread this one", "const": FORMAT_VERSION })
}

fn settings() -> Value {
    json!({
        "description": "the settings of the point of the sweep, by name, as the scenario names the values",
        "type": "object",
        "additionalProperties": { "type": "string" },
    })
}

fn pair(about: &str) -> Value {
    json!({ "description": about, "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 })
}

fn engine() -> Value {
    one_of("the engine", &Engine::words())
}

fn class() -> Value {
    one_of("the class of the verdict", &Class::words())
}

fn row() -> Value {
    let value = partial(
        "the value of a column",
        &[
            (
                "column",
                typed("string", "the engine, or the directory and the engine"),
            ),
            (
                "mean",
                typed(
                    "number",
                    "the mean, in the row's unit; left out if there is none",
                ),
            ),
            (
                "half_width",
                typed(
                    "number",
                    "half-width of the 95 % confidence interval, for repetitions",
                ),
            ),
            (
                "runs",
                typed("integer", "the number of runs that the mean is of"),
            ),
        ],
        &["mean", "half_width", "runs"],
    );
    partial(
        "a quantity of a group, link or aggregate",
        &[
            ("group", typed("string", "the group")),
            ("link", typed("string", "the link")),
            ("aggregate", typed("string", "LINK.AGGREGATE")),
            (
                "quantity",
                typed("string", "a metric, throughput_spread or estimator_bias"),
            ),
            (
                "unit",
                one_of("the unit of the means", &MetricUnit::words()),
            ),
            ("values", list("a value per column", value)),
            (
                "error",
                maybe(
                    "number",
                    "the largest relative difference from the first column",
                ),
            ),
        ],
        &["group", "link", "aggregate"],
    )
}

fn experiment() -> Value {
    let run = object(
        "a run",
        &[
            ("engine", engine()),
            ("seed", typed("integer", "the seed")),
            (
                "scenario_hash",
                typed("string", "hash of the resolved scenario"),
            ),
            ("digest", typed("string", "digest of all that happened")),
            (
                "plan",
                maybe(
                    "string",
                    "the plan of the packet engine: windows, or events and the reason",
                ),
            ),
            (
                "unfit",
                maybe("string", "why no verdict may be drawn from it"),
            ),
            (
                "skipped_s",
                typed("number", "the time that was skipped, in seconds"),
            ),
        ],
    );
    let point = object(
        "a point of the sweep",
        &[
            ("point", typed("integer", "the number, from 1")),
            (
                "label",
                typed("string", "the settings in one line, or \"\""),
            ),
            ("settings", settings()),
            ("directory", maybe("string", "where its results are")),
            (
                "series",
                maybe("string", "the file with all series, Parquet"),
            ),
            (
                "steady_s",
                pair("start and end of the part that means are over, in seconds"),
            ),
            ("runs", list("the runs, by seed and engine", run)),
            ("means", list("the means over the steady part", row())),
        ],
    );
    object(
        "an experiment",
        &[
            ("format_version", version()),
            ("id", typed("string", "the scenario's id")),
            ("title", typed("string", "the title")),
            ("pass", typed("boolean", "every expectation is met")),
            ("class", class()),
            ("directory", maybe("string", "where the results are")),
            (
                "points",
                list("the points of the sweep; one without a sweep", point),
            ),
            (
                "checks",
                list("the expectations with their verdicts", check()),
            ),
        ],
    )
}

fn experiments() -> Value {
    object(
        "experiments",
        &[
            ("format_version", version()),
            (
                "experiments",
                list("in the order in which they were asked for", experiment()),
            ),
        ],
    )
}

fn summary() -> Value {
    let checks = [
        ("met", typed("integer", "the number of checks that are met")),
        ("of", typed("integer", "the number of checks")),
    ];
    let share = || object("checks", &checks);
    let score = || {
        let verdict = one_of("the verdict", &FigureVerdict::words());
        object(
            "the verdict by one scheme, and its checks",
            &[&[("verdict", verdict)][..], &checks].concat(),
        )
    };
    let counts = |about: &str| {
        object(
            about,
            &[
                ("reproduced", typed("integer", "all checks are met")),
                (
                    "qualitatively",
                    typed("integer", "at least three quarters are met"),
                ),
                ("not", typed("integer", "fewer are met")),
            ],
        )
    };
    let figure = object(
        "a figure or table of a paper",
        &[
            ("paper", typed("string", "the key of the paper")),
            ("figure", typed("string", "the name in the paper")),
            ("title", typed("string", "the subject")),
            ("by_papers_scheme", score()),
            ("by_our_law", score()),
            (
                "fails",
                typed(
                    "string",
                    "the metrics of the checks that fail, with their number",
                ),
            ),
        ],
    );
    let rival = object(
        "checks against a paper that count for no figure",
        &[
            ("experiment", typed("string", "the scenario's id")),
            (
                "setting",
                typed("string", "the setting, or \"\" for the whole experiment"),
            ),
            ("by_papers_scheme", share()),
            ("by_our_law", share()),
        ],
    );
    let experiment = ("experiment", typed("string", "the scenario's id"));
    let own = object(
        "the checks of packets of an experiment of our own",
        &[&[experiment][..], &checks].concat(),
    );
    object(
        "the verdicts on the figures and tables of papers, with --summary",
        &[
            ("format_version", version()),
            ("figures", list("the figures and tables", figure)),
            (
                "by_papers_schemes",
                counts("the number of figures and tables by verdict, by the papers' schemes"),
            ),
            ("by_our_law", counts("the same, by our law")),
            (
                "ours_at_fault",
                typed(
                    "integer",
                    "the number of checks that fail by a fault of Accord",
                ),
            ),
            (
                "ours_at_fault_in_figures",
                typed("integer", "the number of those that are checks of a figure"),
            ),
            (
                "rivals",
                list("other settings, and claims of the text", rival),
            ),
            ("own", list("our own experiments", own)),
            (
                "checks",
                typed("string", "the counts of all checks, in words"),
            ),
        ],
    )
}

fn check() -> Value {
    let causes: Vec<_> = (Cause::words().into_iter().map(Value::from))
        .chain([Value::Null])
        .collect();
    object(
        "an expectation of an engine at a point",
        &[
            (
                "name",
                typed("string", "the name; in a sweep with the point in brackets"),
            ),
            ("point", typed("integer", "the number of the point, from 1")),
            ("engine", engine()),
            ("paper", typed("string", "the paper's claim, or \"\"")),
            ("theory", maybe("number", "the figure of theory")),
            (
                "measured",
                maybe(
                    "number",
                    "the figure that is judged: a mean over repetitions",
                ),
            ),
            (
                "half_width",
                maybe("number", "half-width of its 95 % confidence interval"),
            ),
            (
                "error",
                maybe("number", "difference from the target, relative to it"),
            ),
            (
                "tolerance",
                maybe(
                    "number",
                    "the relative error that is allowed; null for a range",
                ),
            ),
            ("allowed", typed("string", "the target, as text")),
            ("pass", typed("boolean", "the expectation is met")),
            ("reason", typed("string", "why, in words")),
            ("class", class()),
            ("claim", one_of("the author of the claim", &Claim::words())),
            (
                "why",
                json!({ "description": "the cause of a known failure", "enum": causes }),
            ),
            ("because", maybe("string", "that cause in words")),
            (
                "recorded",
                maybe("number", "the recorded figure of a known failure"),
            ),
            ("metric", typed("string", "the quantity")),
            ("of", typed("string", "the flow, group or link")),
            (
                "unit",
                one_of("of theory, measured and half_width", &MetricUnit::words()),
            ),
            (
                "during_s",
                pair("start and end of the part that counts, in seconds"),
            ),
        ],
    )
}

fn comparison() -> Value {
    let point = object(
        "the comparison at a point",
        &[
            (
                "label",
                typed("string", "the settings in one line, or \"\""),
            ),
            ("settings", settings()),
            (
                "reference",
                typed("string", "the column that errors are relative to"),
            ),
            ("rows", list("the rows", row())),
        ],
    );
    object(
        "a comparison of run directories",
        &[
            ("format_version", version()),
            (
                "points",
                list("the points that are compared; one without sweeps", point),
            ),
        ],
    )
}

fn equilibria() -> Value {
    let flows = object(
        "the flows of one kind",
        &[
            ("group", typed("string", "the group")),
            ("flows", typed("integer", "how many")),
            ("rate_bps", maybe("number", "the rate of one of them")),
            ("round_trip_s", maybe("number", "the round-trip time")),
            (
                "signal",
                maybe("number", "the share that is marked or lost"),
            ),
            (
                "halving_jitter_s",
                maybe(
                    "number",
                    "the jitter that halves the rate; null if none does",
                ),
            ),
        ],
    );
    let roots =
        json!({ "type": "array", "items": { "type": "number" }, "minItems": 2, "maxItems": 2 });
    let keys = [
        ("start_s", typed("number", "start of the phase")),
        ("end_s", typed("number", "end of the phase")),
        (
            "error",
            maybe(
                "string",
                "why there is no linearisation; the keys below are left out then",
            ),
        ),
        (
            "stable",
            typed(
                "boolean",
                "small deviations decay in all modes that are known",
            ),
        ),
        (
            "guaranteed",
            typed(
                "boolean",
                "they do so within the bound on loops that are not known to be modes, too",
            ),
        ),
        (
            "guaranteed_gain",
            maybe(
                "number",
                "the factor on all gains up to which they are guaranteed to",
            ),
        ),
        (
            "gain_margin",
            maybe(
                "number",
                "the factor on all gains that makes it cycle; null if none does",
            ),
        ),
        (
            "gain_margin_rad_per_s",
            maybe("number", "the frequency of that cycle"),
        ),
        (
            "packet_gain_margin",
            maybe(
                "number",
                "the factor at which packets behind RED cycle; null where it is not known or the same",
            ),
        ),
        (
            "delay_margin_s",
            maybe(
                "number",
                "the additional delay that makes it cycle; null if none does",
            ),
        ),
        (
            "phase_margin_degrees",
            maybe("number", "the same as an angle"),
        ),
        (
            "roots_per_s",
            list("real and imaginary parts of the rightmost roots", roots),
        ),
        ("flows", list("the flows, by kind", flows)),
    ];
    let optional: Vec<&str> = keys[3..].iter().map(|(key, _)| *key).collect();
    let point = object(
        "a point of the sweep",
        &[
            ("id", typed("string", "the scenario's id")),
            (
                "point",
                typed("string", "the settings in one line, or \"\""),
            ),
            ("settings", settings()),
            (
                "link_model",
                typed("string", "the model of links that was linearised"),
            ),
            (
                "phases",
                list("the phases", partial("a phase", &keys, &optional)),
            ),
        ],
    );
    object(
        "the equilibria of all points",
        &[
            ("format_version", version()),
            (
                "points",
                list("the points of the sweep; one without a sweep", point),
            ),
        ],
    )
}

fn map() -> Value {
    let axis = object(
        "a parameter",
        &[
            ("path", typed("string", "its path in the scenario")),
            ("unit", typed("string", "the unit of its values, or \"\"")),
        ],
    );
    let at = list("the value of each parameter", json!({ "type": "number" }));
    let cell = object(
        "a place of the map",
        &[
            ("at", at),
            (
                "gain_margin",
                maybe("number", "null if infinite or unknown"),
            ),
            (
                "delay_margin_s",
                maybe("number", "null if infinite or unknown"),
            ),
            ("growth_per_s", maybe("number", "negative if stable")),
            (
                "packet_queue_variation",
                maybe(
                    "number",
                    "coefficient of variation of the longest queue in packets, where packets were run",
                ),
            ),
            ("error", maybe("string", "why there is no result")),
        ],
    );
    object(
        "a map, with --x",
        &[
            ("format_version", version()),
            ("id", typed("string", "the scenario's id")),
            ("axes", list("one or two parameters", axis)),
            (
                "cells",
                list("a place for each combination of values", cell),
            ),
        ],
    )
}
