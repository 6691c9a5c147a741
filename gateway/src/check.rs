//! The contracts and caps of a site file, against the rate of its uplink.

use crate::config::Site;
use accord_units::{Bytes, Duration, Rate};
use serde::Serialize;

/// The longest queue in equilibrium that is not worth a warning. A longer one is more than many buffers
/// hold, and than users notice.
const LONG: Duration = Duration::from_ms(50);

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The uplink, or the peer with too large a cap or too many promises to classes.
    pub place: String,
    /// The sum of the contracts, in bits per second.
    pub contracted_bps: u64,
    /// The rate that there is for them, in bits per second.
    pub available_bps: u64,
    /// The part of each contract that is left.
    pub scale: f64,
    /// The delay of the queue in equilibrium, in seconds, if there is an equilibrium.
    pub queue_s: Option<f64>,
    /// The finding in words.
    pub message: String,
}

/// Returns the contracts that do not fit: those of the peers into the uplink, if the file has its rate,
/// and those of classes into the contract of their tunnel. Contracts that fit so closely that the
/// uplink gets a long queue are returned, too, and peers whose cap is above the uplink.
pub fn check(site: &Site) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(uplink) = site.interface.uplink {
        let contracts = site.peers.iter().map(|p| p.service.contract);
        findings.extend(finding("the uplink", contracts, uplink, ""));
        findings.extend(long_queue(site, uplink));
        let above = site.peers.iter().filter(|peer| peer.cap > uplink);
        findings.extend(above.map(|peer| Finding {
            place: format!("peer {}", peer.name),
            contracted_bps: peer.service.contract.as_bps(),
            available_bps: uplink.as_bps(),
            scale: (uplink.as_bps() as f64 / peer.service.contract.as_bps() as f64).min(1.0),
            queue_s: None,
            message: format!(
                "peer {}: its cap of {} is above the uplink of {uplink}, and the tunnel sends at the \
                 cap while the path is unknown",
                peer.name, peer.cap
            ),
        }));
    }
    for peer in &site.peers {
        let place = format!("peer {}", peer.name);
        let contracts = peer.shares.iter().map(|s| s.contract);
        let contract = peer.service.contract;
        let (rate, of) = match contract {
            Rate::ZERO => (peer.cap, ", the cap of its tunnel"),
            _ => (contract, ", the contract of its tunnel"),
        };
        findings.extend(finding(&place, contracts, rate, of));
    }
    findings
}

/// Returns the finding that the tunnels make a long queue at the uplink.
///
/// In equilibrium a tunnel of rate x behind a delay q has x·q queued, of which contract·q carries its
/// contract and weight × target its share of the rest [Har02 eq. 8]. The sum over the tunnels gives
/// q = sum(weight × target) / (rate − sum of contracts).
fn long_queue(site: &Site, uplink: Rate) -> Option<Finding> {
    let services = || site.peers.iter().map(|p| &p.service);
    let contracted = services().fold(0u64, |sum, s| sum.saturating_add(s.contract.as_bps()));
    let left = uplink.as_bps().checked_sub(contracted)?;
    let weights: f64 = services().map(|s| s.weight).sum();
    let target = site.interface.target_bytes();
    let queue_s = weights * target * 8.0 / left as f64;
    if contracted == 0 || queue_s <= LONG.as_secs_f64() {
        return None;
    }
    let fitting = target * LONG.as_secs_f64() / queue_s;
    let remedy = if fitting >= site.interface.packet().as_f64() {
        format!("a target of {} keeps it at {LONG}", Bytes::new(fitting as u64))
    } else {
        "lower the contracts or use a faster uplink".to_string()
    };
    let queue = if queue_s.is_finite() {
        format!("a queue of {:.0} ms", 1e3 * queue_s)
    } else {
        "an unbounded queue".to_string()
    };
    Some(Finding {
        place: "the uplink".to_string(),
        contracted_bps: contracted,
        available_bps: uplink.as_bps(),
        scale: 1.0,
        queue_s: Some(queue_s).filter(|s| s.is_finite()),
        message: format!(
            "the uplink: contracts of {} on {uplink} make {queue}: where the buffer is \
             shorter, packets are lost and the contracts are not held; {remedy}",
            Rate::from_bps(contracted),
        ),
    })
}

fn finding(
    place: &str,
    contracts: impl Iterator<Item = Rate>,
    available: Rate,
    of: &str,
) -> Option<Finding> {
    let contracted = contracts.fold(0u64, |sum, c| sum.saturating_add(c.as_bps()));
    if contracted <= available.as_bps() {
        return None;
    }
    let scale = available.as_bps() as f64 / contracted as f64;
    Some(Finding {
        place: place.to_string(),
        contracted_bps: contracted,
        available_bps: available.as_bps(),
        scale,
        queue_s: None,
        message: format!(
            "{place}: contracts of {} on {available}{of} scale to {:.0} %",
            Rate::from_bps(contracted),
            100.0 * scale
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;

    /// Returns the findings of a site with an uplink and one peer per service.
    fn findings(uplink: &str, services: &[(&str, f64)]) -> Vec<Finding> {
        let mut text =
            format!("[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\nuplink = \"{uplink}\"\n");
        for (number, (contract, weight)) in services.iter().enumerate() {
            let key = crate::keys::PrivateKey::new([number as u8 + 1; 32]).public();
            text += &format!(
                "[peer.p{number}]\npublic_key = \"{key}\"\nnetworks = [\"10.{number}.0.0/16\"]\n\
                 cap = \"{uplink}\"\nservice = {{ contract = \"{contract}\", weight = {weight} }}\n"
            );
        }
        check(&parse("", &text).expect("a site"))
    }

    #[test]
    fn contracts_near_the_rate_make_a_long_queue() {
        // The trial found 142 ms: contracts of 15 on 16 Mbps, weights of 4 in all, 3 packets of 1480 B.
        let near = [("10 Mbps", 1.0), ("5 Mbps", 2.0), ("0 Mbps", 1.0)];
        let found = findings("16 Mbps", &near);
        let queue = found[0].queue_s.expect("a queue");
        assert!((0.1420..0.1422).contains(&queue), "{queue} s");
        let message = &found[0].message;
        assert!(
            message.contains("142 ms") && message.contains("a target of 1.562 KB"),
            "{message}"
        );
        // A third of that queue is not a finding, and neither is one without contracts.
        assert_eq!(findings("18 Mbps", &near), Vec::new());
        assert_eq!(findings("100 kbps", &[("0 Mbps", 1.0)]), Vec::new());
        // No target is small enough.
        let found = findings("15.1 Mbps", &near);
        assert!(found[0].message.contains("lower the contracts"), "{found:?}");
        // Contracts that take all, and those that do not fit.
        let found = findings("15 Mbps", &near);
        assert_eq!((found.len(), found[0].queue_s), (1, None));
        assert!(found[0].message.contains("unbounded"), "{found:?}");
        let found = findings("14 Mbps", &near);
        assert_eq!((found.len(), found[0].queue_s), (1, None));
        assert!(found[0].scale < 1.0, "{found:?}");
    }
}
