//! Flows that the packet engine integrates as a fluid.

use super::super::super::error::Problem;
use super::super::super::read::{self, Reader};
use accord_family::Values;
use accord_scenario::{Form, Link, LinkId};
use accord_traffic::Demand;

/// Reads whether a flow is a fluid to packets, and refuses flows that have no law.
pub(super) fn read(reader: &Reader<'_>, controller: &Values) -> Result<bool, Problem> {
    if reader.get("as", read::word::<Form>)? == Form::Packets {
        return Ok(false);
    }
    let unfit = [
        ("tunnel", "a tunnel sends packets"),
        ("through", "the data in a tunnel are packets"),
        ("kernel", "the kernel's TCP sends packets"),
        ("quic", "a QUIC stack sends packets"),
    ];
    for (key, message) in unfit {
        if let Some(value) = reader.given(key) {
            let hint = format!("leave out `{key}`, or `as`");
            return Err(Problem::new(value.span, message).hint(hint));
        }
    }
    let family = controller.family();
    if let Err(why) = family.window_dynamics() {
        let span = reader.given("as").map_or(reader.span, |v| v.span);
        let message = format!("{} has no fluid law: {why}", family.name);
        return Err(Problem::new(span, message).hint("leave out `as`: its packets are simulated"));
    }
    Ok(true)
}

/// Returns why packets cannot share a link of its path with a fluid flow, if they cannot.
pub(super) fn obstacle(links: &[Link], path: &[LinkId], demand: &Demand) -> Option<String> {
    if let Demand::Web(web) = demand
        && web.load.is_none()
    {
        return Some("web users without a `load` have no fluid".into());
    }
    let shared = path.iter().map(|&l| &links[l]).filter(|l| !l.attachment);
    shared.into_iter().find_map(|link| {
        let family = link.queue.discipline.family();
        let name = &link.name;
        match family.queue_dynamics() {
            Err(why) => Some(format!("{} on {name} has no fluid law: {why}", family.name)),
            Ok(_) if link.parts.is_some() => Some(format!("{name} is no plain link")),
            Ok(_) => None,
        }
    })
}
