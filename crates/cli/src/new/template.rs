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

#[derive(Clone, Copy, Serialize)]
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

/// The sizes of a template, as given or by default.
pub struct Sizes(Vec<(Size, usize)>);

impl Sizes {
    /// Reads the given sizes, by the names of their options.
    pub fn read(
        template: &Template,
        given: &[(&'static str, Option<usize>)],
    ) -> Result<Sizes, Failure> {
        let own: Vec<&str> = template.sizes.iter().map(|s| s.name).collect();
        let other = |(name, value): &&(&str, Option<usize>)| value.is_some() && !own.contains(name);
        if let Some((name, _)) = given.iter().find(other) {
            let hint = format!("it has --{}", own.join(", --"));
            return Err(Failure::new(format!("{} has no --{name}", template.name)).hint(hint));
        }
        let mut sizes = Vec::new();
        for size in template.sizes {
            let asked = given.iter().find(|(name, _)| *name == size.name);
            let n = asked.and_then(|(_, n)| *n).unwrap_or(size.default);
            let [least, most] = size.range;
            if !(least..=most).contains(&n) {
                let message = format!("--{} {n}: expected {least} to {most}", size.name);
                return Err(Failure::new(message));
            }
            sizes.push((*size, n));
        }
        Ok(Sizes(sizes))
    }

    /// The sizes with their values, in the order of the template.
    pub fn iter(&self) -> impl Iterator<Item = &(Size, usize)> {
        self.0.iter()
    }

    /// Returns the size of that name, which must be one of the template's.
    pub fn of(&self, name: &str) -> usize {
        let found = self.0.iter().find(|(size, _)| size.name == name);
        found.expect("the template has it").1
    }
}
