//! Flows that run on the operating system's TCP in the live engine.

use super::super::error::{Problem, quote};
use super::super::read::{self, Reader};
use accord_family::Catalogue;
use accord_family::Values;
use accord_traffic::Demand;
use accord_units::Bytes;

/// The longest name that the kernel allows (TCP_CA_NAME_MAX less the final zero), in bytes.
const NAME: usize = 15;
/// The least and the largest size of a connection's packets: the size that every host takes
/// [RFC 791 §3.2], and the size that fits into a UDP datagram with the header of the wire format.
const PACKET: [Bytes; 2] = [Bytes::new(576), Bytes::new(65_000)];

/// Reads the congestion control that is asked for.
pub(super) fn name(reader: &Reader<'_>) -> Result<Option<String>, Problem> {
    reader.opt("kernel", |value| match read::name(value, false)? {
        name if name.len() > NAME || !name.is_ascii() => {
            let message = format!("{} is not the name of a congestion control", quote(name));
            let hint = format!("the kernel has names of up to {NAME} bytes, such as \"cubic\"");
            Err(Problem::new(value.span, message).hint(hint))
        }
        name => Ok(name.to_string()),
    })
}

/// Returns the model of a congestion control of the kernel. It stands in for the kernel's if no
/// other controller is given.
pub(super) fn model(
    name: &str,
    reader: &Reader<'_>,
    catalogue: &Catalogue,
) -> Result<Values, Problem> {
    let mut known = catalogue.controllers.iter();
    let model = known.find(|family| family.kernel == Some(name));
    model.map(|family| family.defaults()).ok_or_else(|| {
        let at = reader.given("kernel").map_or(reader.span, |v| v.span);
        let message =
            format!("there is no model of the kernel's {name}, so `controller` is missing");
        let hint =
            "controller = what the engines without a kernel run in its place, such as \"newreno\"";
        Problem::new(at, message).hint(hint)
    })
}

/// Refuses requests that a connection of the kernel cannot fulfil.
pub(super) fn check(reader: &Reader<'_>, demand: Demand, packet: Bytes) -> Result<(), Problem> {
    let at = |key| reader.given(key).map_or(reader.span, |v| v.span);
    if reader.given("service").is_some() {
        let message = "the kernel's TCP can hold no service";
        return Err(Problem::new(at("service"), message).hint("leave out `kernel` or `service`"));
    }
    if matches!(demand, Demand::Media(_)) {
        let message = "a flow of the kernel does not tell its source what it may send";
        let hint = "demand = { constant = \"1 Mbps\" }, or no `kernel`";
        return Err(Problem::new(at("demand"), message).hint(hint));
    }
    if matches!(demand, Demand::Web(_)) {
        let message =
            "a flow of the kernel is one connection, and a web user has one for each file";
        let hint = "demand = { on_off = { burst = \"100 KB\", pause = \"1 s\" } }";
        return Err(Problem::new(at("demand"), message).hint(hint));
    }
    if !(PACKET[0]..=PACKET[1]).contains(&packet) {
        let [least, most] = PACKET;
        let message = format!("the kernel's TCP has packets of {least} to {most}");
        return Err(Problem::new(at("packet"), message));
    }
    Ok(())
}
