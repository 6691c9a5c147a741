//! Helpers of several tests.

/// A scenario of one flow that is the subject, for packs made by tests.
pub const SCENARIO: &str = r#"
duration = "4 s"
[topology.dumbbell]
rate = "8 Mbps"
delay = "20 ms"
[flow.subject]
from = "left"
to = "right"
controller = "newreno"
start = { uniform = ["0 s", "0.2 s"] }
"#;
