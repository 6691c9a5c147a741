//! Connections of QUIC stacks, for flows of a scenario that a QUIC stack carries.
//!
//! The stack's two state machines are at the nodes of the flow's ends. They have no sockets and no
//! clock, so that the stations call them as they call endpoints of ours, as of the time when
//! something was due (`station/quic.rs`). Their datagrams go through our ports as whole IP packets,
//! as those of the kernel's connections do.

use crate::LiveError;
use crate::connection::Ends;
use crate::packet::addresses;
use accord_scenario::{Carrier, Scenario};
use accord_transport::ip;
use accord_transport::{Carried, Connector, Datagram, Setup};

/// The UDP port of receivers, by which tools know HTTP/3 and so QUIC, and that of senders.
const PORTS: [u16; 2] = [50_000, 443];

/// An end of a connection.
#[derive(Debug)]
pub struct Quic {
    /// The state machine.
    pub end: Box<dyn Carried>,
    /// The addresses and ports from which and to which its datagrams go.
    from: ([u8; 4], u16),
    to: ([u8; 4], u16),
}

impl Quic {
    /// Returns the IP packet that carries a datagram.
    pub fn wrap(&self, datagram: &Datagram) -> Vec<u8> {
        ip::wrap_udp(self.from, self.to, datagram.ecn, &datagram.payload)
    }
}

/// Adds the ends of all flows that a QUIC stack carries to those of the kernel's connections.
pub fn open(scenario: &Scenario, ends: &mut [Ends]) -> Result<(), LiveError> {
    for (id, flow) in scenario.flows.iter().enumerate() {
        let Carrier::Quic(stack) = &flow.carrier else {
            continue;
        };
        let setup = Setup {
            controller: &flow.controller,
            packet: flow.packet,
        };
        let (Connector(connect), (here, there)) = (Connector::of(stack), addresses(id));
        let [client, server] = connect(&setup)
            .map_err(|why| LiveError::Unable(format!("flow {}: {why}", flow.name)))?;
        let (here, there) = ((here.octets(), PORTS[0]), (there.octets(), PORTS[1]));
        ends[id].client = Some(Quic {
            end: client,
            from: here,
            to: there,
        });
        ends[id].server = Some(Quic {
            end: server,
            from: there,
            to: here,
        });
    }
    Ok(())
}
