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
    /// How it moves in a fluid, or why it does not.
    pub dynamics: Dynamics,
    /// The congestion control of the kernel that it is a model of, if it is.
    pub kernel: Option<&'static str>,
    /// Its page of the book, below `docs/src`; "" for a family that the book does not know.
    pub page: &'static str,
    /// What makes one for the engines that move packets: a `Maker` of the crate that has the
    /// controllers, or of the one that has the disciplines. Other crates have no use for it.
    pub maker: &'static (dyn Any + Send + Sync),
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

    /// How a controller's window moves in a fluid, or why it does not.
    pub fn window_dynamics(
        &self,
    ) -> Result<fn(&Values, &FlowFacts) -> WindowDynamics, &'static str> {
        match self.dynamics {
            Dynamics::Window(of) => Ok(of),
            Dynamics::Queue(_) => Err("it is a queue discipline"),
            Dynamics::Missing(why) => Err(why),
        }
    }

    /// How the queue of a discipline moves in a fluid, or why it does not.
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
