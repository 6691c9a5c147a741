//! Connections of QUIC stacks, for flows of a scenario that a QUIC stack carries.
//!
//! The stack's two state machines are at the nodes of the flow's ends. They have no sockets and no
//! clock: the machines call them as they call our endpoints, with the time of each event. Their
//! datagrams pass our ports as whole IP packets, as those of the kernel's connections do.

use crate::LiveError;
use accord_record::Observer;
use accord_scenario::{Carrier, Scenario};
use accord_sim::{CarriedEnd, connect};
use accord_transport::Log;

/// The logs that the sending and the receiving ends write, by flow, if they are kept.
#[derive(Debug, Default)]
pub struct Logs(Vec<[Log; 2]>);

impl Logs {
    /// Creates a log for each end of a scenario's flows.
    pub fn of(scenario: &Scenario) -> Logs {
        Logs(scenario.flows.iter().map(|_| Default::default()).collect())
    }

    /// Passes the lines since the last call to the observer.
    pub fn show(&self, observer: &mut dyn Observer) {
        for (flow, logs) in self.0.iter().enumerate() {
            for (end, log) in logs.iter().enumerate() {
                let bytes = log.take();
                if !bytes.is_empty() {
                    observer.stack_log(flow, end, &bytes);
                }
            }
        }
    }
}

/// Creates the sending and the receiving ends, by flow. Flows without a QUIC stack have none.
pub fn ends(scenario: &Scenario, logs: &Logs) -> Result<Vec<Option<[CarriedEnd; 2]>>, LiveError> {
    let flows = scenario.flows.iter().enumerate();
    flows
        .map(|(id, flow)| match &flow.carrier {
            Carrier::Ours | Carrier::Kernel(_) => Ok(None),
            Carrier::Quic(_) => {
                let said = |why| LiveError::Unable(format!("flow {}: {why}", flow.name));
                connect(scenario, id, false, logs.0.get(id)).map(Some).map_err(said)
            }
        })
        .collect()
}
