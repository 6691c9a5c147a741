//! A controller or a queue discipline as everybody else sees it.

use crate::{
    Dynamics, FlowFacts, Kind, Objective, Param, Price, QueueDynamics, QueueFacts, Values,
    WindowDynamics,
};
use std::any::Any;

/// Everything that others need to know of a controller or a queue discipline.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// Its name in a scenario file.
    pub name: &'static str,
    /// A description, in a sentence.
    pub doc: &'static str,
    /// The source.
    pub source: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// Checks relations between parameters; the message says what is wrong and how to mend it.
    pub check: fn(&Values) -> Result<(), String>,
    /// The part of it that theory uses.
    pub role: Role,
    /// Its dynamics in a fluid, or the reason why it has none.
    pub dynamics: Dynamics,
    /// The congestion control of the kernel that it is a model of, if it is.
    pub kernel: Option<&'static str>,
    /// Its page of the book, below `docs/src`; "" for a family that the book does not know.
    pub page: &'static str,
    /// What makes one for the engines that move packets: a `Maker` of the crate that has the
    /// controllers, or of the one that has the disciplines. Other crates have no use for it.
    pub maker: &'static (dyn Any + Send + Sync),
}

/// The part of a [`Family`] that theory uses.
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
    /// A family without parameters, of which nothing more is known.
    pub const fn new(name: &'static str, role: Role) -> Family {
        Family {
            name,
            doc: "",
            source: "",
            params: &[],
            check: |_| Ok(()),
            role,
            dynamics: Dynamics::Missing("nobody has written one"),
            kernel: None,
            page: "",
            maker: &(),
        }
    }

    /// The dynamics of a controller's window in a fluid, or the reason why it has none.
    pub fn window_dynamics(
        &self,
    ) -> Result<fn(&Values, &FlowFacts) -> WindowDynamics, &'static str> {
        match self.dynamics {
            Dynamics::Window(of) => Ok(of),
            Dynamics::Queue(_) => Err("it is a queue discipline"),
            Dynamics::Missing(why) => Err(why),
        }
    }

    /// The dynamics of a discipline's queue in a fluid, or the reason why it has none.
    pub fn queue_dynamics(
        &self,
    ) -> Result<fn(&Values, &QueueFacts) -> QueueDynamics, &'static str> {
        match self.dynamics {
            Dynamics::Queue(of) => Ok(of),
            Dynamics::Window(_) => Err("it is a controller"),
            Dynamics::Missing(why) => Err(why),
        }
    }

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
