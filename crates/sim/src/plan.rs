//! The choice between the two engines.

use crate::because::Because;
use crate::flow::Flow;
use crate::survey::{Form, Ports, Survey};
use crate::windows::WindowsLayout;
use accord_scenario::Scenario;
use accord_units::Time;
use std::fmt::{self, Display, Formatter};

/// The engine that runs a scenario packet by packet. Both give the same run, bit for bit.
pub enum Plan {
    /// The windows engine, which does not need an event per packet.
    Windows(Box<WindowsLayout>),
    /// The events engine, for this reason.
    Events(Because),
}

impl Display for Plan {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Plan::Windows(_) => f.write_str("windows"),
            Plan::Events(because) => write!(f, "events: {because}"),
        }
    }
}

/// The shortcuts that a run may take. The result is the same with any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortcuts {
    /// All shortcuts are taken.
    All,
    /// Links are cut-through where possible. Arrivals at other links have events.
    CutThrough,
    /// Departures are computed where possible. Each hop has its event.
    Departures,
    /// Each departure and each arrival has its event.
    None,
}

/// Returns the plan of [`run`](crate::run) for a scenario, with an observer that does not want
/// packets.
pub fn plan(scenario: &Scenario) -> Plan {
    let state = scenario.at(Time::ZERO);
    let ids = 0..scenario.flows.len();
    let mut flows: Vec<Flow> = ids.map(|id| Flow::new(id, &state)).collect();
    choose(scenario, &mut flows, Shortcuts::All).0
}

/// Chooses the engine. Also returns the ports, from which the events engine derives its layout.
pub fn choose(scenario: &Scenario, flows: &mut [Flow], shortcuts: Shortcuts) -> (Plan, Ports) {
    let most = match shortcuts {
        Shortcuts::All | Shortcuts::CutThrough => Form::Pipe,
        Shortcuts::Departures => Form::Timeline,
        Shortcuts::None => Form::Stepped,
    };
    let ports = Survey::new(scenario, flows).ports(scenario, most);
    let plan = match shortcuts {
        Shortcuts::All => match WindowsLayout::new(&ports, scenario, flows) {
            Ok(layout) => Plan::Windows(Box::new(layout)),
            Err(because) => Plan::Events(because),
        },
        _ => Plan::Events(Because::Asked),
    };
    (plan, ports)
}
