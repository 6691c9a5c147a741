//! Tunnels and the flows in them, as far as gateways and the kernel support them.

use crate::{LiveError, Mode, Setting};
use accord_scenario::{Carrier, Congestion, Flow, Scenario};
use accord_traffic::Demand;
use accord_units::{Bytes, Duration, Time};
use std::borrow::Cow;

/// The bytes that a gateway adds to a packet over IPv4.
pub const OVERHEAD: Bytes = Bytes::new(60);
/// The sizes of packets that the device of a gateway takes.
const MTU: std::ops::RangeInclusive<u64> = 576..=9000;
/// The parameters of a tunnel's controller that a site file sets.
pub const SET: [&str; 2] = ["target", "loss"];

/// Returns the scenario with hosts that take no time for a packet: real ones have a processing time of their own.
pub fn on_real_hosts(scenario: &Scenario) -> Cow<'_, Scenario> {
    if scenario.flows.iter().all(|flow| flow.processing.is_zero()) {
        return Cow::Borrowed(scenario);
    }
    let mut real = scenario.clone();
    real.flows.iter_mut().for_each(|flow| flow.processing = Duration::ZERO);
    Cow::Owned(real)
}

/// Returns the scenario on real hosts, with flows in tunnels as connections of the kernel.
///
/// # Errors
///
/// Fails if gateways do not support a tunnel, if the kernel does not support a flow in it, or if
/// there are no gateways.
pub fn carried<'a>(
    scenario: &'a Scenario,
    setting: &Setting,
) -> Result<Cow<'a, Scenario>, LiveError> {
    let real = on_real_hosts(scenario);
    if !scenario.has_tunnels() {
        return Ok(real);
    }
    let mut carried = real.into_owned();
    for flow in &mut carried.flows {
        if flow.tunnel.is_some() {
            tunnel(flow, setting)?;
        } else if let (Some(tunnel), Carrier::Ours) = (flow.through, &flow.carrier) {
            let tunnel = &scenario.flows[tunnel].name;
            let name = congestion(flow, tunnel)?.to_string();
            flow.carrier = Carrier::Kernel(Congestion::Named(name));
        }
    }
    Ok(Cow::Owned(carried))
}

/// Rejects a tunnel that the gateways of the setting do not support.
fn tunnel(flow: &Flow, setting: &Setting) -> Result<(), LiveError> {
    let name = &flow.name;
    let Some(program) = &setting.gateway else {
        return Err(LiveError::Unable(format!(
            "flow {name} is a tunnel between gateways, which this build does not include; cargo build \
             --release --features gateway makes one that does"
        )));
    };
    if setting.mode == Mode::Loopback {
        return Err(LiveError::Unable(format!(
            "flow {name} is a tunnel, whose gateways need network namespaces: use --live namespaces, \
             which needs CAP_SYS_ADMIN and CAP_NET_ADMIN (root, or `unshare -rn accord ...`), \
             iproute2 and /dev/net/tun"
        )));
    }
    let wrong = |what: String| {
        let text = format!("flow {name}: {what}; remove the engine live, or change that");
        Err(LiveError::Scenario(text))
    };
    let family = flow.controller.family();
    if family.name != program.controller {
        let (has, controller) = (program.controller, family.name);
        return wrong(format!(
            "tunnels between gateways support the controller {has}, not {controller}"
        ));
    }
    let defaults = family.defaults();
    let mut values = flow.controller.iter();
    let other = values.find(|(p, value)| !SET.contains(&p.name) && defaults.get(p.name) != *value);
    if let Some((param, value)) = other {
        return wrong(format!(
            "gateways do not support {} = {value}, only target and loss",
            param.name
        ));
    }
    let overhead = flow.tunnel.map_or(Bytes::ZERO, |t| t.overhead);
    if overhead != OVERHEAD {
        return wrong(format!(
            "the gateways of a live run add {OVERHEAD} to each packet, not {overhead}"
        ));
    }
    let mtu = flow.packet.get().saturating_sub(overhead.get());
    if !MTU.contains(&mtu) {
        return wrong(format!(
            "gateways take packets of {} to {} bytes, and {overhead} less than {} is {mtu}",
            MTU.start(),
            MTU.end(),
            flow.packet
        ));
    }
    if flow.start > Time::ZERO {
        return wrong("gateways start with the run".into());
    }
    Ok(())
}

/// Returns the congestion control of the kernel for a flow in a tunnel.
fn congestion(flow: &Flow, tunnel: &str) -> Result<&'static str, LiveError> {
    let controller = flow.controller.family().name;
    let hint = "kernel = \"cubic\", or a controller of which the kernel has its own: cubic, newreno, \
                bbr1";
    let Some(congestion) = flow.controller.family().kernel else {
        let why = format!("the kernel has no {controller}");
        return Err(unfit(flow, tunnel, &why, hint));
    };
    let hint = "remove the engine live";
    match flow.demand {
        Demand::Web(_) => {
            let why = "a web user has a connection for each file";
            Err(unfit(flow, tunnel, why, hint))
        }
        Demand::Media(_) => {
            let why = "the kernel does not report to the source how much it may send";
            Err(unfit(flow, tunnel, why, hint))
        }
        _ if flow.packet < Bytes::new(576) => {
            let hint = "packet = \"1000 B\"";
            Err(unfit(flow, tunnel, "its packets are too small", hint))
        }
        _ => Ok(congestion),
    }
}

/// Returns the error that the kernel does not support a flow in a tunnel.
fn unfit(flow: &Flow, tunnel: &str, why: &str, hint: &str) -> LiveError {
    LiveError::Scenario(format!(
        "flow {} is in {tunnel}, where the live engine supports only connections of the kernel's TCP, \
         and {why}; {hint}",
        flow.name
    ))
}
