//! The catalogue of families.

use crate::{Family, Stack};

/// The controllers and queue disciplines that a scenario may use.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue {
    /// All controllers.
    pub controllers: &'static [&'static Family],
    /// All queue disciplines.
    pub disciplines: &'static [&'static Family],
}

impl Catalogue {
    /// Returns the third-party stacks, which have their own controllers.
    pub fn stacks(&self) -> impl Iterator<Item = &'static Stack> {
        let mut stacks: Vec<&'static Stack> = Vec::new();
        for code in self.controllers.iter().filter_map(|family| family.stack) {
            let new = code.stacks.iter().filter(|stack| !stacks.contains(stack));
            stacks.extend(new.copied().collect::<Vec<_>>());
        }
        stacks.into_iter()
    }
}
