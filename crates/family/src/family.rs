//! A controller or a queue discipline as everybody else sees it.

use crate::{Kind, Objective, Param, Price, Values};

/// A controller or a queue discipline as the scenario language sees it.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub doc: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// What must hold between parameters; the message says what and how to mend it.
    pub check: fn(&Values) -> Result<(), String>,
    /// What the theory needs to know of it.
    pub role: Role,
}

/// What the theory needs to know of a [`Family`].
#[derive(Clone, Copy, Debug)]
pub enum Role {
    /// A controller fed by acknowledgements, with its objective for given parameters.
    Controller(fn(&Values) -> Objective),
    /// A controller fed by pairs of control packets, once a round trip; its objective.
    Tunnel(fn(&Values) -> Objective),
    /// A queue discipline, with its price for given parameters.
    Queue(fn(&Values) -> Price),
}

impl Role {
    /// A controller's objective for given parameters; `None` for a queue discipline.
    pub fn objective(&self, values: &Values) -> Option<Objective> {
        match self {
            Role::Controller(objective) | Role::Tunnel(objective) => Some(objective(values)),
            Role::Queue(_) => None,
        }
    }
}

impl Family {
    /// The parameters at their defaults.
    pub fn defaults(&'static self) -> Values {
        Values::defaults(self, self.params)
    }

    /// The parameters that each aggregate has; none for most families.
    pub fn aggregate_params(&self) -> &'static [Param] {
        let of = |p: &Param| match p.kind {
            Kind::Aggregates(params) => Some(params),
            _ => None,
        };
        self.params.iter().find_map(of).unwrap_or_default()
    }
}
