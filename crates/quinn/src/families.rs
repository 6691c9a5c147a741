//! The controllers of quinn as families of Accord.

use crate::carried::{connect, payload};
use crate::factories::{Made, bbr, cubic, initial_window, newreno};
use crate::{Factory, Theirs};
use accord_control::{AnyController, Maker, Marks, Transport};
use accord_family::{
    Dynamics, Family, FlowFacts, Kind, Objective, Param, Role, Stack, Values, WindowDynamics,
    WindowLaw,
};
use accord_transport::Connector;
use accord_units::Bytes;
use quinn_proto::congestion::Controller;
use std::sync::Arc;
use std::time::Instant;

/// The families, for `accord_cli::main_with`.
pub static FAMILIES: &[&Family] = &[&NEWRENO, &CUBIC, &BBR];

/// quinn, for flows of the live engine.
pub static STACK: Stack = Stack {
    name: "quinn",
    check: |values| factory(values, PACKET).map(|_| ()),
    maker: &Connector(|setup| connect(setup, factory(setup.controller, payload(setup.packet))?)),
};

/// The UDP payload of the packets of Ethernet.
const PACKET: Bytes = Bytes::new(1472);

/// Returns the factory of the controller that `values` describes, for datagrams of this size.
fn factory(values: &Values, payload: Bytes) -> Result<Made, String> {
    let is = |family: &'static Family| std::ptr::eq(family, values.family());
    if is(&NEWRENO) {
        return Ok(newreno(values, payload));
    }
    if is(&CUBIC) {
        return Ok(cubic(values, payload));
    }
    if is(&BBR) {
        return Ok(bbr(values, payload));
    }
    let mut factory = Factory::new(values).map_err(|refused| refused.to_string())?;
    factory.packet(payload);
    Ok(Arc::new(factory))
}

const INITIAL_WINDOW: Param = Param {
    name: "initial_window",
    symbol: "IW",
    kind: Kind::Size,
    default: "10 pkt",
    doc: "Window at the start; at least two packets.",
    source: "[RFC 9002 §7.2]",
};

const ECN: Param = Param {
    name: "ecn",
    symbol: "",
    kind: Kind::Flag,
    default: "false",
    doc: "Lets its packets be marked instead of dropped, and takes marks for losses. quinn does.",
    source: "[RFC 9002 §7.1]",
};

/// quinn's NewReno.
pub static NEWRENO: Family = Family {
    doc: "NewReno of the QUIC stack quinn: its code, in the stream of Accord.",
    source: "[quinn]",
    params: &[INITIAL_WINDOW, ECN],
    dynamics: Dynamics::Window(reno),
    stack: Some(&STACK),
    page: "quinn.md",
    maker: &Maker {
        build: |values, packet| build(newreno(values, packet), values, packet),
        transport: Transport::Stream,
    },
    ..Family::new("quinn-newreno", Role::Controller(|_| Objective::Loss))
};

/// quinn's CUBIC.
pub static CUBIC: Family = Family {
    doc: "CUBIC of the QUIC stack quinn, its default: its code, in the stream of Accord.",
    source: "[quinn]",
    params: &[INITIAL_WINDOW, ECN],
    dynamics: Dynamics::Missing(
        "the fluid's CUBIC is that of RFC 9438, with which quinn's has not been compared there",
    ),
    stack: Some(&STACK),
    page: "quinn.md",
    maker: &Maker {
        build: |values, packet| build(cubic(values, packet), values, packet),
        transport: Transport::Stream,
    },
    ..Family::new("quinn-cubic", Role::Controller(|_| Objective::Loss))
};

/// quinn's BBR.
pub static BBR: Family = Family {
    doc: "BBR of the QUIC stack quinn, experimental there: its code, in the stream of Accord. It \
          draws random numbers that no seed reaches, so that two runs differ.",
    source: "[quinn]",
    params: &[
        Param {
            default: "200 pkt",
            doc: "Window at the start; at least four packets.",
            source: "",
            ..INITIAL_WINDOW
        },
        ECN,
    ],
    dynamics: Dynamics::Missing(
        "it steps through states by single samples, probes and timers, and no law of a window or \
         of a rate describes them together",
    ),
    stack: Some(&STACK),
    page: "quinn.md",
    maker: &Maker {
        build: |values, packet| build(bbr(values, packet), values, packet),
        transport: Transport::Stream,
    },
    ..Family::new("quinn-bbr", Role::Controller(|_| Objective::Other))
};

fn build(factory: Made, values: &Values, packet: Bytes) -> AnyController {
    let mtu = u16::try_from(packet.get()).unwrap_or(u16::MAX);
    let make = |now: Instant| -> Box<dyn Controller> { factory.build(now, mtu) };
    let marks = match values.flag("ecn") {
        true => Marks::Loss,
        false => Marks::Nothing,
    };
    AnyController::foreign(Theirs::new(make, packet, marks))
}

/// The fluid dynamics of NewReno: those of Accord's.
fn reno(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    WindowDynamics {
        law: WindowLaw::Reno,
        initial: initial_window(values, facts.packet) as f64,
        window_clocked: true,
        ecn: values.flag("ecn"),
        ..WindowDynamics::UNRESPONSIVE
    }
}
