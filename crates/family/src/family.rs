//! The declaration of a controller or a queue discipline.

use crate::{
    Dynamics, FlowFacts, Inner, Invalid, Kind, Objective, Param, Price, QueueDynamics, QueueFacts,
    StackCode, Value, Values, WindowDynamics,
};
use std::any::Any;

/// The facts about a controller or a queue discipline that the other crates need.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name in a scenario file.
    pub name: &'static str,
    /// The description, one sentence.
    pub doc: &'static str,
    /// The source.
    pub source: &'static str,
    /// The parameters.
    pub params: &'static [Param],
    /// Words of older files that a parameter no longer accepts: the parameter, the old word and the current
    /// word. The error for the old word names the current one.
    pub former: &'static [(&'static str, &'static str, &'static str)],
    /// The check of relations between parameters. Its message names the fault and the remedy.
    pub check: fn(&Values) -> Result<(), Invalid>,
    /// Returns the value that the family derives from the other parameters for an absent parameter
    /// of this name, or [`Value::Absent`] if there is none.
    pub absent: fn(&Values, &str) -> Value,
    /// The objective of a controller or the price of a discipline, for theory.
    pub role: Role,
    /// The dynamics in a fluid, or the reason why there are none.
    pub dynamics: Dynamics,
    /// The variables of a controller that runs record if a scenario asks for them.
    pub inner: &'static [Inner],
    /// The kernel's congestion control that the family models, if any.
    pub kernel: Option<&'static str>,
    /// The QUIC stack whose trait the family implements, if any.
    pub stack: Option<StackCode>,
    /// The page of the book, below `docs/src`. It is "" for a family without a page in the book.
    pub page: &'static str,
    /// The constructor for the engines that move packets: a `Maker` of the crate of controllers or
    /// of the crate of disciplines. Other crates have no use for it.
    pub maker: &'static (dyn Any + Send + Sync),
}

/// The part of a [`Family`] that theory uses.
#[derive(Clone, Copy, Debug)]
pub enum Role {
    /// A controller fed by acknowledgements, with its objective for given parameters.
    Controller(fn(&Values) -> Objective),
    /// A controller fed by pairs of control packets, once per round trip, with its objective.
    Tunnel(fn(&Values) -> Objective),
    /// A queue discipline, with its price for given parameters.
    Queue(fn(&Values) -> Price),
}

impl Role {
    /// Returns a controller's objective for given parameters, or `None` for a queue discipline.
    pub fn objective(&self, values: &Values) -> Option<Objective> {
        match self {
            Role::Controller(objective) | Role::Tunnel(objective) => Some(objective(values)),
            Role::Queue(_) => None,
        }
    }
}

impl Family {
    /// Creates a family that has no parameters, no dynamics and no page.
    pub const fn new(name: &'static str, role: Role) -> Family {
        Family {
            name,
            doc: "",
            source: "",
            params: &[],
            former: &[],
            check: |_| Ok(()),
            absent: |_, _| Value::Absent,
            role,
            dynamics: Dynamics::Missing("there is none yet"),
            inner: &[],
            kernel: None,
            stack: None,
            page: "",
            maker: &(),
        }
    }

    /// Returns the dynamics of a controller's window in a fluid, or the reason why there are none.
    pub fn window_dynamics(
        &self,
    ) -> Result<fn(&Values, &FlowFacts) -> WindowDynamics, &'static str> {
        match self.dynamics {
            Dynamics::Window(of) => Ok(of),
            Dynamics::Queue(_) => Err("it is a queue discipline"),
            Dynamics::Missing(why) => Err(why),
        }
    }

    /// Returns the dynamics of a discipline's queue in a fluid, or the reason why there are none.
    pub fn queue_dynamics(
        &self,
    ) -> Result<fn(&Values, &QueueFacts) -> QueueDynamics, &'static str> {
        match self.dynamics {
            Dynamics::Queue(of) => Ok(of),
            Dynamics::Window(_) => Err("it is a controller"),
            Dynamics::Missing(why) => Err(why),
        }
    }

    /// Returns the parameters at their defaults.
    pub fn defaults(&'static self) -> Values {
        Values::defaults(self, self.params)
    }

    /// Returns the parameters of an aggregate at their defaults.
    pub fn aggregate_defaults(&'static self) -> Values {
        Values::defaults(self, self.aggregate_params())
    }

    /// Returns the parameters that each aggregate has. Most families have none.
    pub fn aggregate_params(&self) -> &'static [Param] {
        let of = |p: &Param| match p.kind {
            Kind::Aggregates(params) => Some(params),
            _ => None,
        };
        self.params.iter().find_map(of).unwrap_or_default()
    }
}
