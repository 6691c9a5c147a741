//! The templates of `accord new`, and their sizes.

use crate::fail::Failure;
use serde::Serialize;

#[derive(Serialize)]
pub struct Template {
    pub name: &'static str,
    /// A sentence that describes it.
    pub doc: &'static str,
    pub sizes: &'static [Size],
}

#[derive(Serialize)]
pub struct Size {
    /// The name of its option, without the dashes.
    pub name: &'static str,
    pub default: usize,
    /// The minimum and the maximum.
    pub range: [usize; 2],
    /// A sentence that describes it.
    pub doc: &'static str,
}

const fn size(name: &'static str, default: usize, range: [usize; 2], doc: &'static str) -> Size {
    Size { name, default, range, doc }
}

pub const TEMPLATES: &[Template] = &[
    Template {
        name: "dumbbell",
        doc: "One bottleneck, and flows with different round-trip times that share it.",
        sizes: &[size("flows", 10, [1, 10_000], "Flows over the bottleneck.")],
    },
    Template {
        name: "parking-lot",
        doc: "Bottlenecks in a row: some flows cross all of them, others one each.",
        sizes: &[
            size("hops", 3, [1, 1000], "Bottlenecks in the row."),
            size("flows", 1, [1, 100], "Flows over the whole row, and over each hop."),
        ],
    },
    Template {
        name: "fat-tree",
        doc: "A data centre's fat tree with hosts, and flows over core switches drawn by the seed.",
        sizes: &[
            size("pods", 4, [2, 16], "Pods, an even number k: there are k³/4 hosts."),
            size("flows", 16, [1, 10_000], "Flows, between nodes drawn by the seed."),
        ],
    },
];

/// Returns the sizes of a template with their values, as given by the names of their options or by
/// default.
pub fn sizes(
    template: &Template,
    given: &[(&'static str, Option<usize>)],
) -> Result<Vec<(&'static str, usize)>, Failure> {
    let own: Vec<&str> = template.sizes.iter().map(|s| s.name).collect();
    let other = |(name, value): &&(&str, Option<usize>)| value.is_some() && !own.contains(name);
    if let Some((name, _)) = given.iter().find(other) {
        let hint = format!("it has --{}", own.join(", --"));
        return Err(Failure::new(format!("{} has no --{name}", template.name)).hint(hint));
    }
    let size = |size: &Size| {
        let asked = given.iter().find(|(name, _)| *name == size.name);
        let n = asked.and_then(|(_, n)| *n).unwrap_or(size.default);
        let [least, most] = size.range;
        if (least..=most).contains(&n) {
            return Ok((size.name, n));
        }
        Err(Failure::new(format!("--{} {n}: expected {least} to {most}", size.name)))
    };
    template.sizes.iter().map(size).collect()
}
