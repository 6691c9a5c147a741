//! A check of the contracts and caps of a site file against the rate of its uplink.

use crate::config::{PeerConfig, Site};
use accord_family::Service;
use accord_units::{Bytes, Duration, Rate};
use serde::Serialize;

/// The longest queue in equilibrium that is not worth a warning. A longer queue exceeds many buffers, and
/// users notice it.
const LONG: Duration = Duration::from_ms(50);

/// The queue of others that a contract must withstand: that of a common modem. A contract that withstands
/// less is worth a warning.
const COMMON: Duration = Duration::from_ms(200);

/// A contract of a site.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contract {
    /// The name of the peer.
    pub peer: String,
    /// The rate, in bits per second.
    pub contract_bps: u64,
    /// The delay of the queue from which the contract yields, in seconds. It is `None` without a
    /// limit.
    pub yields_from_s: Option<f64>,
}

/// Returns the contracts of a site, in the order of the peers.
pub fn contracts(site: &Site) -> Vec<Contract> {
    let with = site.peers.iter().filter(|peer| peer.service.contract > Rate::ZERO);
    with.map(|peer| Contract {
        peer: peer.name.clone(),
        contract_bps: peer.service.contract.as_bps(),
        yields_from_s: site.yields_from(peer).map(Duration::as_secs_f64),
    })
    .collect()
}

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The uplink, or a peer with too large a cap or too many promises to its classes.
    pub place: String,
    /// The sum of the contracts, in bits per second.
    pub contracted_bps: u64,
    /// The rate available for them, in bits per second.
    pub available_bps: u64,
    /// The fraction of each contract that is left.
    pub scale: f64,
    /// The delay of a queue in seconds: in equilibrium, if there is one, or else the delay from which a
    /// contract yields.
    pub queue_s: Option<f64>,
    /// The finding in words.
    pub message: String,
}

/// Returns the contracts that do not fit: those of the peers into the uplink, if the file has its rate, and
/// those of classes into the contract of their tunnel. Also returns contracts that fit so closely that the
/// uplink gets a long queue, contracts that yield in a common queue, and peers whose cap is above the uplink.
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
    findings.extend(site.peers.iter().filter_map(|peer| short_limit(site, peer)));
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

/// Returns a finding if the tunnels cause a long queue at the uplink.
///
/// In equilibrium a tunnel of rate x has x·q queued at a delay of q. Of this, contract·q carries its
/// contract, and weight × target its share of the rest [Har02 eq. 8]. The sum over the tunnels gives q =
/// sum(weight × target) / (rate − sum of contracts).
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

/// Returns a finding if a contract yields in the queue of a common modem.
fn short_limit(site: &Site, peer: &PeerConfig) -> Option<Finding> {
    let queue = site.yields_from(peer).filter(|queue| *queue < COMMON)?;
    let Service { contract, limit, .. } = peer.service;
    Some(Finding {
        place: format!("peer {}", peer.name),
        contracted_bps: contract.as_bps(),
        available_bps: contract.as_bps(),
        scale: 1.0,
        queue_s: Some(queue.as_secs_f64()),
        message: format!(
            "peer {}: its contract of {contract} yields where others make a queue of more than {:.0} ms, \
             since its limit is {}; modems have queues of {COMMON}: limit = \"250 ms\" holds it there",
            peer.name,
            1e3 * queue.as_secs_f64(),
            limit.unwrap_or_default(),
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

    /// A limit in bytes means a different queue for each contract. A limit in time is the same for
    /// all.
    #[test]
    fn a_contract_that_yields_in_a_common_queue_is_told() {
        let site = |limit: &str| {
            let key = crate::keys::PrivateKey::new([1; 32]).public();
            let text = format!(
                "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n[peer.p]\npublic_key = \"{key}\"\n\
                 networks = []\ncap = \"50 Mbps\"\nservice = {{ contract = \"10 Mbps\", weight = 2{limit} }}\n"
            );
            parse("", &text).expect("a site")
        };
        // 3 packets of 1480 bytes, twice, do not carry the contract.
        for (limit, bytes, yields) in [
            (", limit = \"100 KB\"", Some(100_000), Some(0.072_896)),
            (", limit = \"400 KB\"", Some(400_000), Some(0.312_896)),
            (", limit = \"150 ms\"", Some(196_380), Some(0.15)),
            ("", Some(321_380), Some(0.25)),
            (", limit = \"none\"", None, None),
        ] {
            let site = site(limit);
            assert_eq!(site.peers[0].service.limit, bytes.map(Bytes::new), "{limit}");
            let [contract] = &contracts(&site)[..] else { panic!("one contract") };
            assert_eq!(contract.yields_from_s, yields, "{limit}");
            let found = check(&site);
            assert_eq!(found.len(), usize::from(yields.is_some_and(|s| s < 0.2)), "{found:?}");
            assert!(found.iter().all(|f| f.queue_s == yields && f.message.contains("250 ms")));
        }
    }

    #[test]
    fn contracts_near_the_rate_make_a_long_queue() {
        // The trial found 142 ms: contracts of 15 on 16 Mbps, weights of 4 in total, 3 packets of 1480 B.
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
        // Contracts that take the whole rate, and contracts that do not fit.
        let found = findings("15 Mbps", &near);
        assert_eq!((found.len(), found[0].queue_s), (1, None));
        assert!(found[0].message.contains("unbounded"), "{found:?}");
        let found = findings("14 Mbps", &near);
        assert_eq!((found.len(), found[0].queue_s), (1, None));
        assert!(found[0].scale < 1.0, "{found:?}");
    }
}
