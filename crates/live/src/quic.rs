//! Connections of QUIC stacks, for flows of a scenario that a QUIC stack carries.
//!
//! The stack's two state machines are at the nodes of the flow's ends. They have no sockets and no
//! clock: the machines call them as they call our endpoints, with the time of each event. Their
//! datagrams pass our ports as whole IP packets, as those of the kernel's connections do.

use crate::LiveError;
use crate::packet::addresses;
use accord_family::Stack;
use accord_scenario::{Carrier, Flow, Scenario};
use accord_sim::CarriedEnd;
use accord_transport::{Connector, Setup};

/// The UDP ports of senders and of receivers. Tools recognise HTTP/3, and so QUIC, by the latter.
const PORTS: [u16; 2] = [50_000, 443];

/// Creates the sending and the receiving ends, by flow. Flows without a QUIC stack have none.
pub fn ends(scenario: &Scenario) -> Result<Vec<Option<[CarriedEnd; 2]>>, LiveError> {
    let flows = scenario.flows.iter().enumerate();
    flows
        .map(|(id, flow)| match &flow.carrier {
            Carrier::Ours | Carrier::Kernel(_) => Ok(None),
            Carrier::Quic(stack) => open(id, flow, stack).map(Some),
        })
        .collect()
}

/// Creates the ends of a flow.
fn open(id: usize, flow: &Flow, stack: &Stack) -> Result<[CarriedEnd; 2], LiveError> {
    let setup = Setup { controller: &flow.controller, packet: flow.packet };
    let Connector(connect) = Connector::of(stack);
    let [client, server] =
        connect(&setup).map_err(|why| LiveError::Unable(format!("flow {}: {why}", flow.name)))?;
    let (here, there) = addresses(id);
    let (here, there) = ((here.octets(), PORTS[0]), (there.octets(), PORTS[1]));
    let end = |end, from, to| CarriedEnd { end, from, to };
    Ok([end(client, here, there), end(server, there, here)])
}
