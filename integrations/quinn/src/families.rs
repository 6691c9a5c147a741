//! The controllers of quinn as families of Accord.

use crate::carried::{connect, payload};
use crate::factories::{Made, bbr, cubic, initial_window, newreno};
use crate::{Factory, Theirs};
use accord_control::{AnyController, Maker, Marks, Transport};
use accord_family::{
    Dynamics, Family, FlowFacts, Objective, Param, Role, Stack, StackCode, Values, WindowDynamics,
    WindowLaw,
    kind::{flag, size},
};
use accord_transport::Connector;
use accord_units::Bytes;
use quinn_proto::congestion::{Controller, ControllerFactory};
use std::sync::Arc;
use std::time::Instant;

/// The families, for `accord_cli::main_with`.
pub static FAMILIES: &[&Family] = &[&NEWRENO, &CUBIC, &BBR];

/// quinn, for flows in packets and live. In packets it does not encrypt.
pub static STACK: Stack = Stack {
    name: "quinn",
    check: |values| Ok(factory(values, PACKET).map(|_| ())?),
    repeats,
    maker: &Connector(&|setup| {
        let controller = factory(setup.controller, payload(setup.packet))?;
        connect(setup, controller, setup.seed.is_none())
    }),
};

/// quinn with TLS 1.3, in packets as well.
pub static STACK_TLS: Stack = Stack {
    name: "quinn-tls",
    maker: &Connector(&|setup| {
        connect(setup, factory(setup.controller, payload(setup.packet))?, true)
    }),
    ..STACK
};

/// The stacks of quinn: in the clear, and with TLS.
static STACKS: &[&Stack] = &[&STACK, &STACK_TLS];

/// Fails for a controller that draws random numbers of its own.
fn repeats(values: &Values) -> Result<(), &'static str> {
    match values.family().stack.and_then(|stack| stack.maker.downcast_ref()) {
        Some(Make { is_random: true, .. }) => {
            Err("its controller draws random numbers that no seed reaches")
        }
        _ => Ok(()),
    }
}

/// The UDP payload of an Ethernet packet.
const PACKET: Bytes = Bytes::new(1472);

struct Make {
    /// The constructor of a family's factory, for datagrams of a size.
    factory: fn(&Values, Bytes) -> Made,
    /// True if the controller draws random numbers of its own.
    is_random: bool,
}

/// Returns the factory of a family by quinn's trait, for datagrams of this size.
fn own(values: &Values, payload: Bytes) -> Option<Made> {
    let Make { factory: make, .. } = values.family().stack?.maker.downcast_ref()?;
    Some(make(values, payload))
}

/// Returns the factory of the controller that `values` describes, for datagrams of this size.
fn factory(values: &Values, payload: Bytes) -> Result<Made, String> {
    if let Some(own) = own(values, payload) {
        return Ok(own);
    }
    let mut factory = Factory::new(values).map_err(|refused| refused.to_string())?;
    factory.packet(payload);
    Ok(Arc::new(factory))
}

/// The maker of families by quinn's trait.
static MAKER: Maker = Maker { build, transport: Transport::Stream };

const fn code(maker: &'static Make) -> Option<StackCode> {
    Some(StackCode { stacks: STACKS, maker })
}

const INITIAL_WINDOW: Param = size("10 pkt")
    .symbol("IW")
    .source("[RFC 9002 §7.2]")
    .declared("initial_window", "Window at the start; at least two packets.");

const ECN: Param = flag("false").source("[RFC 9002 §7.1]").declared(
    "ecn",
    "Lets its packets be marked instead of dropped, and takes marks for losses. quinn does.",
);

/// quinn's NewReno.
pub static NEWRENO: Family = Family {
    doc: "NewReno of the QUIC stack quinn: its code, in the stream of Accord.",
    source: "[quinn]",
    params: &[INITIAL_WINDOW, ECN],
    dynamics: Dynamics::Window(reno),
    stack: code(&Make { factory: newreno, is_random: false }),
    page: "quinn.md",
    maker: &MAKER,
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
    stack: code(&Make { factory: cubic, is_random: false }),
    page: "quinn.md",
    maker: &MAKER,
    ..Family::new("quinn-cubic", Role::Controller(|_| Objective::Loss))
};

/// quinn's BBR.
pub static BBR: Family = Family {
    doc: "BBR of the QUIC stack quinn, experimental there: its code, in the stream of Accord. It \
          draws random numbers that no seed reaches, so two runs differ.",
    source: "[quinn]",
    params: &[
        INITIAL_WINDOW
            .default("200 pkt")
            .doc("Window at the start; at least four packets.")
            .source(""),
        ECN,
    ],
    dynamics: Dynamics::Missing(
        "it steps through states by single samples, probes and timers, and no law of a window or \
         of a rate describes them together",
    ),
    stack: code(&Make { factory: bbr, is_random: true }),
    page: "quinn.md",
    maker: &MAKER,
    ..Family::new("quinn-bbr", Role::Controller(|_| Objective::Other))
};

/// Returns a family of controllers made by quinn's factory `F`, each from its default. A scenario
/// may set `ecn`; `F` has all other settings. Theory and the fluid engine refuse the family.
///
/// ```
/// use accord_quinn::{Family, family};
/// use quinn_proto::congestion::CubicConfig;
///
/// static MINE: Family = family::<CubicConfig>("mine");
/// assert!(!MINE.defaults().flag("ecn"));
/// ```
pub const fn family<F>(name: &'static str) -> Family
where
    F: ControllerFactory + Default + Send + Sync + 'static,
{
    Family {
        doc: "A controller of another program, by the trait of the QUIC stack quinn.",
        params: &[ECN],
        dynamics: Dynamics::Missing("a controller by quinn's trait declares none"),
        stack: code(&Make { factory: |_, _| Arc::new(F::default()), is_random: false }),
        maker: &MAKER,
        ..Family::new(name, Role::Controller(|_| Objective::Other))
    }
}

fn build(values: &Values, packet: Bytes) -> AnyController {
    let factory = own(values, packet).expect("the families of this file have one");
    let mtu = u16::try_from(packet.get()).unwrap_or(u16::MAX);
    let make = |now: Instant| -> Box<dyn Controller> { factory.build(now, mtu) };
    let marks = if values.flag("ecn") { Marks::Loss } else { Marks::Nothing };
    AnyController::foreign(Theirs::new(make, packet, marks))
}

/// The fluid dynamics of NewReno, which are those of Accord's own.
fn reno(values: &Values, facts: &FlowFacts) -> WindowDynamics {
    WindowDynamics {
        law: WindowLaw::Reno,
        initial: initial_window(values, facts.packet) as f64,
        window_clocked: true,
        ecn: values.flag("ecn"),
        ..WindowDynamics::UNRESPONSIVE
    }
}
