//! What a site file promises, and whether its own uplink can hold it.

use crate::config::Site;
use accord_units::Rate;
use serde::Serialize;

/// A promise that does not hold.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// The uplink, or the peer whose classes were promised too much.
    pub place: String,
    /// The sum of the contracts, in bits per second.
    pub contracted_bps: u64,
    /// The rate that there is for them, in bits per second.
    pub available_bps: u64,
    /// The part of each contract that is left.
    pub scale: f64,
    /// The finding in words.
    pub message: String,
}

/// Returns the contracts that do not fit: those of the peers into the uplink, if the file tells its
/// rate, and those of classes into the contract of their tunnel.
pub fn check(site: &Site) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(uplink) = site.interface.uplink {
        let contracts = site.peers.iter().map(|p| p.service.contract);
        findings.extend(finding("the uplink", contracts, uplink, ""));
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
        message: format!(
            "{place}: floors of {} on {available}{of} scale to {:.0} %",
            Rate::from_bps(contracted),
            100.0 * scale
        ),
    })
}
