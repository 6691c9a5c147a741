//! Connections of QUIC stacks, for flows of a scenario that a QUIC stack carries.
//!
//! The stack's two state machines are at the nodes of the flow's ends. They have no sockets and no
//! clock: the machines call them as they call our endpoints, with the time of each event. Their
//! datagrams pass our ports as whole IP packets, as those of the kernel's connections do.

use crate::LiveError;
use accord_scenario::{Carrier, Scenario};
use accord_sim::{CarriedEnd, connect};

/// Creates the sending and the receiving ends, by flow. Flows without a QUIC stack have none.
pub fn ends(scenario: &Scenario) -> Result<Vec<Option<[CarriedEnd; 2]>>, LiveError> {
    let flows = scenario.flows.iter().enumerate();
    flows
        .map(|(id, flow)| match &flow.carrier {
            Carrier::Ours | Carrier::Kernel(_) => Ok(None),
            Carrier::Quic(_) => {
                let said = |why| LiveError::Unable(format!("flow {}: {why}", flow.name));
                connect(scenario, id, false, None).map(Some).map_err(said)
            }
        })
        .collect()
}
