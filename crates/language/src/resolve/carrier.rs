//! The carrier of a flow: our transport, the operating system's TCP or a QUIC stack.

use crate::family::WITH_QUIC;
use crate::read::{self, Reader};
use accord_family::{Catalogue, Values};
use accord_form::{Problem, Span, quote};
use accord_scenario::{Carrier, Congestion, FlowSettings};
use accord_traffic::Demand;
use accord_units::Bytes;

/// The longest name that the kernel allows (TCP_CA_NAME_MAX less the final zero), in bytes.
const NAME: usize = 15;
/// The least size of packets of the kernel's TCP, which every host accepts [RFC 791 §3.2].
const LEAST_TCP: Bytes = Bytes::new(576);
/// The least size of packets that carry QUIC: a datagram of 1200 bytes [RFC 9000 §14] with the
/// headers of IPv4 and UDP.
const LEAST_QUIC: Bytes = Bytes::new(1228);
/// The largest size for both. It fits into a UDP datagram with the header of the wire format.
const MOST: Bytes = Bytes::new(65_000);

/// Reads the requested carrier.
pub(super) fn read(reader: &Reader<'_>, catalogue: &Catalogue) -> Result<Carrier, Problem> {
    let kernel = kernel(reader)?;
    let quic = reader.opt("quic", |value| {
        let name = read::name(value, false)?;
        let found = catalogue.stacks().find(|stack| stack.name == name);
        found.ok_or_else(|| unknown(value.span, name, catalogue))
    })?;
    match (kernel, quic) {
        (None, None) => Ok(Carrier::Ours),
        (Some(congestion), None) => Ok(Carrier::Kernel(congestion)),
        (None, Some(stack)) => Ok(Carrier::Quic(stack)),
        (Some(_), Some(_)) => {
            let message =
                "a flow is carried by the kernel's TCP or by QUIC, and this one asks for both";
            Err(Problem::new(reader.at("quic"), message).hint("leave out `kernel` or `quic`"))
        }
    }
}

/// Reads the requested congestion control of the kernel.
fn kernel(reader: &Reader<'_>) -> Result<Option<Congestion>, Problem> {
    reader.opt("kernel", |value| match read::name(value, false)? {
        name if name.len() > NAME || !name.is_ascii() => {
            let message = format!("{} is not the name of a congestion control", quote(name));
            let hint = format!("the kernel has names of up to {NAME} bytes, such as \"cubic\"");
            Err(Problem::new(value.span, message).hint(hint))
        }
        Congestion::ACCORD => Ok(Congestion::Accord),
        name => Ok(Congestion::Named(name.to_string())),
    })
}

/// Returns the problem for a QUIC stack that this build does not have.
fn unknown(span: Span, name: &str, catalogue: &Catalogue) -> Problem {
    let names: Vec<_> = catalogue.stacks().map(|stack| stack.name).collect();
    let message = format!("this build has no QUIC stack {}", quote(name));
    if names.is_empty() {
        Problem::new(span, message).hint(WITH_QUIC)
    } else {
        Problem::new(span, message).known(name, names)
    }
}

/// Returns the model of a congestion control of the kernel. It replaces the kernel's if no other
/// controller is given.
pub(super) fn model(
    congestion: &Congestion,
    reader: &Reader<'_>,
    catalogue: &Catalogue,
) -> Result<Values, Problem> {
    let name = match congestion {
        Congestion::Named(name) => name,
        Congestion::Accord => {
            let message = "kernel = \"accord\" runs the flow's `controller` in the kernel's TCP, and \
                           `controller` is missing";
            let hint = "controller = \"copa\", or another one with a window";
            return Err(Problem::new(reader.at("kernel"), message).hint(hint));
        }
    };
    let mut known = catalogue.controllers.iter();
    let model = known.find(|family| family.kernel == Some(name.as_str()));
    model.map(|family| family.defaults()).ok_or_else(|| {
        let message =
            format!("there is no model of the kernel's {name}, so `controller` is missing");
        let hint =
            "controller = \"newreno\", or another one that engines without a kernel run in its place";
        Problem::new(reader.at("kernel"), message).hint(hint)
    })
}

/// Rejects requests that the carrier of a flow cannot fulfil.
pub(super) fn check(
    flow: &FlowSettings,
    reader: &Reader<'_>,
    catalogue: &Catalogue,
) -> Result<(), Problem> {
    let (key, who, least) = match &flow.carrier {
        Carrier::Ours => return Ok(()),
        Carrier::Kernel(congestion) => {
            if *congestion == Congestion::Accord
                && let Some(why) = flow.controller.unfit_for_tcp()
            {
                let hint =
                    "leave out `kernel`, or choose a controller with a window, such as \"vegas\"";
                return Err(Problem::new(reader.at("controller"), why).hint(hint));
            }
            ("kernel", "the kernel's TCP", LEAST_TCP)
        }
        Carrier::Quic(stack) => {
            (stack.check)(&flow.controller).map_err(|e| {
                let able = catalogue.controllers.iter();
                let able = able.filter(|family| (stack.check)(&family.defaults()).is_ok());
                let able: Vec<_> = able.map(|family| family.name).collect();
                let hint = format!("{} runs: {}", stack.name, able.join(", "));
                Problem::new(reader.at("controller"), e.to_string()).hint(hint)
            })?;
            if flow.through.is_some() {
                let message = format!(
                    "{} carries it, and the riders of a tunnel are ours or the kernel's",
                    stack.name
                );
                let hint = "leave out `quic` or `through`";
                return Err(Problem::new(reader.at("quic"), message).hint(hint));
            }
            ("quic", stack.name, LEAST_QUIC)
        }
    };
    if reader.given("service").is_some() {
        let message = format!("{who} can hold no service");
        let hint = format!("leave out `{key}` or `service`");
        return Err(Problem::new(reader.at("service"), message).hint(hint));
    }
    if matches!(flow.demand, Demand::Media(_)) {
        let message = format!("{who} does not report an allowed rate to the source of a flow");
        let hint = format!("demand = {{ constant = \"1 Mbps\" }}, or no `{key}`");
        return Err(Problem::new(reader.at("demand"), message).hint(hint));
    }
    if matches!(flow.demand, Demand::Web(_)) {
        let message =
            format!("a flow of {who} is one connection, and a web user has one for each file");
        let hint = "demand = { on_off = { burst = \"100 KB\", pause = \"1 s\" } }";
        return Err(Problem::new(reader.at("demand"), message).hint(hint));
    }
    let packet = flow.packet;
    if !(least..=MOST).contains(&packet) {
        let message = format!("{who} has packets of {least} to {MOST}, and not of {packet}");
        let hint = "packet = \"1500 B\"";
        return Err(Problem::new(reader.at("packet"), message).hint(hint));
    }
    Ok(())
}
