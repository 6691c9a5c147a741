//! The addresses, routes, rules and guards that lead packets to the device.

use crate::config::Site;
use crate::error::RunError;
use accord_host::Error as Unable;
use ipnet::IpNet;
use serde::{Serialize, Serializer};
use std::net::IpAddr;

/// The preference of the first of two rules, right before that of the kernel for its main table.
const PREFERENCE: u32 = 32_764;

/// The metric of guards. It is larger than those of other routes, so a guard applies only in their
/// absence.
const GUARD: u32 = 4_000_000_000;

/// The families of addresses, as options of iproute2.
const FAMILIES: [&str; 2] = ["-4", "-6"];

/// The end of iproute2's message about a route or a rule that is already there.
const EXISTS: &str = "File exists";

/// The number of packets that the device holds for us. Packets beyond it are dropped, so packets
/// wait at the edge.
const QUEUE: usize = 500;

/// The addresses of a device, and the networks that are reached through it.
#[derive(Clone, Debug)]
pub struct Ways {
    device: String,
    addresses: Vec<IpNet>,
    networks: Vec<IpNet>,
    mark: Option<u32>,
    guard: bool,
    /// The families of addresses (as options of iproute2) with rules for networks of all addresses.
    rules: Vec<&'static str>,
}

impl Ways {
    /// Creates the ways of a site, of which none is set.
    pub fn new(site: &Site) -> Ways {
        let interface = &site.interface;
        Ways {
            device: interface.device.clone(),
            addresses: interface.addresses.clone(),
            networks: networks(site),
            mark: interface.fwmark,
            guard: interface.guard,
            rules: Vec::new(),
        }
    }

    /// Creates the ways to these networks, as if their rules were set.
    #[cfg(test)]
    pub fn of_networks(mark: Option<u32>, networks: &[&str]) -> Ways {
        Ways {
            device: "gw0".into(),
            addresses: Vec::new(),
            networks: networks.iter().map(|n| n.parse().expect("a network")).collect(),
            mark,
            guard: false,
            rules: FAMILIES.into(),
        }
    }

    /// The networks that are reached through the device.
    pub fn all(&self) -> Vec<IpNet> {
        self.networks.clone()
    }

    /// Returns whether a route to a network in a routing table is one of these ways, or its guard.
    pub fn has_route(&self, network: IpNet, table: u32) -> bool {
        self.networks.contains(&network) && self.table(&network) == table
    }

    /// Returns whether a rule with this preference may be one of these ways.
    pub fn has_rule(&self, preference: u32) -> bool {
        !self.rules.is_empty() && (PREFERENCE..=PREFERENCE + 1).contains(&preference)
    }

    /// Sets the guards, which need no device.
    pub fn guard(&self) -> Result<(), RunError> {
        if !self.guard {
            // Version 0.2.0 has set guards without an origin.
            let old = |n: &IpNet| {
                let table = self.table(n);
                format!("route del blackhole {n} metric {GUARD} table {table}\n")
            };
            let old: String = self.networks.iter().map(old).collect();
            let _ = ip_output(&["-force", "-batch", "-"], &old);
            // Without guards there is nothing that the gateway needs.
            let _ = self.set_guards();
            return Ok(());
        }
        self.set_guards()
    }

    /// Sets the guards and the rules by which a network of all addresses has one.
    pub fn guard_alone(&mut self) -> Result<(), RunError> {
        self.guard()?;
        if self.guard {
            self.rules = set_rules(self.mark, &[], &self.networks)?;
        }
        Ok(())
    }

    /// Sets all others, and the device up.
    pub fn set(&mut self, mtu: u16) -> Result<(), RunError> {
        let device = &self.device;
        let mut commands = String::new();
        for address in &self.addresses {
            commands += &set_address(device, address);
        }
        commands += &format!("link set {device} mtu {mtu} txqueuelen {QUEUE} up\n");
        ip(&commands)?;
        set_routes(device, self.mark, &[], &self.networks)?;
        self.rules = set_rules(self.mark, &[], &self.networks)?;
        Ok(())
    }

    /// Changes the networks to those of another site file.
    pub fn change(&mut self, after: &Site) -> Result<(), RunError> {
        let (old, new) = (&self.networks, networks(after));
        set_routes(&self.device, self.mark, old, &new)?;
        let changed = Ways { networks: new, ..self.clone() };
        changed.set_guards()?;
        self.rules = set_rules(self.mark, &self.rules, &changed.networks)?;
        self.networks = changed.networks;
        Ok(())
    }

    /// Removes the rules. Routes disappear with the device.
    pub fn remove(&self) {
        let _ = set_rules(self.mark, &self.rules, &[]);
    }

    /// Restores the ways that were removed, such as those of a device that was down. A way that cannot be restored
    /// does not keep others from it. Routes and rules come first: without them packets of the site would leave by
    /// other routes, unencrypted.
    pub fn restore(&self) -> Restored {
        let mut restored = Restored::default();
        if self.guard {
            restored.note(self.set_guards().map(|()| false), &[]);
        }
        match routes(&self.device, self.mark) {
            Ok(own) => {
                for network in self.networks.iter().filter(|n| !own.contains(n)) {
                    let set = set_routes(&self.device, self.mark, &[], &[*network]);
                    restored.note(set.map(|()| true), &[*network]);
                }
            }
            unknown => restored.note(unknown.map(|_| false), &self.networks),
        }
        for family in &self.rules {
            let all: Vec<IpNet> =
                self.networks.iter().copied().filter(|n| is_all(n, family)).collect();
            for rule in self.mark.iter().flat_map(|mark| rules(*mark)) {
                restored.note(set_rule(family, "add", &rule), &all);
            }
        }
        let shown = ip_output(&["-o", "address", "show", "dev", &self.device], "");
        let shown = shown.unwrap_or_else(|e| {
            restored.note(Err(e), &[]);
            String::new()
        });
        let there = |own: &&IpNet| shown.split_whitespace().any(|word| word == own.to_string());
        for own in self.addresses.iter().filter(|own| !there(own)) {
            restored.note(ip(&set_address(&self.device, own)).map(|()| true), &[]);
        }
        restored
    }
}

fn networks(site: &Site) -> Vec<IpNet> {
    let networks = site.peers.iter().flat_map(|p| &p.networks);
    networks.copied().collect()
}

/// A network behind a peer to which this host already has a route through another device. A gateway does not
/// replace such a route, and does not start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Taken {
    /// The network.
    #[serde(serialize_with = "as_text")]
    pub network: IpNet,
    /// The other device.
    pub device: String,
}

fn as_text<S: Serializer>(network: &IpNet, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(network)
}

/// Returns the networks of a site that are taken.
///
/// # Errors
/// Fails if the system does not show its routes.
pub fn taken(site: &Site) -> Result<Vec<Taken>, RunError> {
    let (networks, mut taken) = (networks(site), Vec::new());
    for family in FAMILIES {
        let shown = ip_output(&[family, "route", "show"], "")?;
        taken.extend(shown.lines().filter_map(|line| {
            let network =
                destination(line).filter(|n| n.prefix_len() > 0 && networks.contains(n))?;
            let device = line.split_whitespace().skip_while(|word| *word != "dev").nth(1)?;
            (device != site.interface.device).then(|| Taken { network, device: device.into() })
        }));
    }
    Ok(taken)
}

/// The result of a repair.
#[derive(Debug, Default, PartialEq)]
pub struct Restored {
    /// The number of addresses, routes and rules that were set again.
    pub set: usize,
    /// The networks to which packets take other routes.
    pub missing: Vec<IpNet>,
    /// The reason why the last of the rest was not set. It is empty if all are there.
    pub why: String,
}

impl Restored {
    /// Notes whether a part was set again, or why it was not. Without it these networks are missing.
    fn note(&mut self, set: Result<bool, RunError>, networks: &[IpNet]) {
        match set {
            Ok(set) => self.set += usize::from(set),
            Err(why) => {
                self.why = why.to_string();
                let new = networks.iter().filter(|n| !self.missing.contains(n));
                self.missing.extend(new.copied().collect::<Vec<_>>());
            }
        }
    }
}

/// Returns whether a network is that of all addresses of a family.
fn is_all(network: &IpNet, family: &str) -> bool {
    network.prefix_len() == 0 && network.addr().is_ipv4() == (family == "-4")
}

/// Returns the command that gives a device an address. Without a route to the address's prefix: the site's own
/// network has that prefix, and is behind another device.
fn set_address(device: &str, address: &IpNet) -> String {
    format!("address replace {address} dev {device} noprefixroute\n")
}

/// Returns the networks with a route to a device: in the main table, or for all addresses in the table of the
/// mark.
fn routes(device: &str, mark: Option<u32>) -> Result<Vec<IpNet>, RunError> {
    let mut shown = String::new();
    for family in FAMILIES {
        shown += &ip_output(&[family, "route", "show", "dev", device], "")?;
        if let Some(mark) = mark {
            // The table exists only with a route in it.
            let table = mark.to_string();
            let words = [family, "route", "show", "table", &table, "dev", device];
            let all = ip_output(&words, "").unwrap_or_default();
            let all = all.lines().filter(|line| line.starts_with("default"));
            let family = if family == "-4" { "0.0.0.0/0\n" } else { "::/0\n" };
            shown.extend(all.map(|_| family));
        }
    }
    Ok(shown.lines().filter_map(destination).collect())
}

/// The guard of a network: a route that drops packets, in a routing table.
type Guard = (IpNet, u32);

/// The number of the main routing table.
const MAIN: u32 = 254;

/// Returns the number that routes of a device have as their origin (`proto` of iproute2). By it a gateway knows
/// its own guards among those of other gateways of the host. Numbers from 200 on have no meaning of their own.
fn origin(device: &str) -> u32 {
    200 + device.bytes().fold(0, |sum, byte| (31 * sum + u32::from(byte)) % 56)
}

impl Ways {
    /// Returns the routing table of a network.
    fn table(&self, network: &IpNet) -> u32 {
        self.mark.filter(|_| network.prefix_len() == 0).unwrap_or(MAIN)
    }

    /// Returns the guards of the device that are set.
    fn guards(&self) -> Result<Vec<Guard>, RunError> {
        let (origin, mut found) = (origin(&self.device).to_string(), Vec::new());
        for family in FAMILIES {
            let words = ["-N", family, "route", "show", "table", "all"];
            let words = [&words[..], &["type", "blackhole", "proto", &origin]].concat();
            let shown = ip_output(&words, "")?;
            found.extend(shown.lines().filter_map(|line| guard(line, family)));
        }
        Ok(found)
    }

    /// Sets the guards of the networks, which drop packets without another route. Removes those of networks that
    /// are gone, since when the gateway did not run as well, or all guards without `guard`.
    fn set_guards(&self) -> Result<(), RunError> {
        let networks = self.networks.iter().filter(|_| self.guard);
        let wanted: Vec<Guard> = networks.map(|n| (*n, self.table(n))).collect();
        let there = self.guards()?;
        let origin = origin(&self.device);
        let route = |verb: &str, (network, table): &Guard| {
            format!(
                "route {verb} blackhole {network} metric {GUARD} proto {origin} table {table}\n"
            )
        };
        let new = wanted.iter().filter(|guard| !there.contains(guard));
        ip(&new.map(|guard| route("replace", guard)).collect::<String>())?;
        let gone = there.iter().filter(|guard| !wanted.contains(guard));
        let gone: String = gone.map(|guard| route("del", guard)).collect();
        if !gone.is_empty() {
            // Those that are not there are none the less gone.
            let _ = ip_output(&["-force", "-batch", "-"], &gone);
        }
        Ok(())
    }
}

/// Reads a line of `ip -N route show type blackhole`: the kind, the network and pairs of words.
fn guard(line: &str, family: &str) -> Option<Guard> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let value = |name| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at + 1)?.parse::<u32>().ok()
    };
    if value("metric") != Some(GUARD) {
        return None;
    }
    let network = match *words.get(1)? {
        "default" if family == "-4" => "0.0.0.0/0",
        "default" => "::/0",
        other => other,
    };
    Some((destination(network)?, value("table").unwrap_or(MAIN)))
}

/// Replaces routes to the old networks by routes to the new ones. If the host has its own route to one of
/// them, that route stays and nothing is changed. Networks of all addresses are in the routing table of the
/// mark.
fn set_routes(
    device: &str,
    mark: Option<u32>,
    before: &[IpNet],
    after: &[IpNet],
) -> Result<(), RunError> {
    let mut new: Vec<&IpNet> = after.iter().filter(|n| !before.contains(n)).collect();
    if !new.is_empty() {
        // A device that was kept already has its routes.
        let own = ip_output(&["-4", "route", "show", "dev", device], "")?
            + &ip_output(&["-6", "route", "show", "dev", device], "")?;
        let own: Vec<IpNet> = own.lines().filter_map(destination).collect();
        new.retain(|n| !own.contains(n));
    }
    let route = |n: &IpNet| match mark {
        Some(mark) if n.prefix_len() == 0 => format!("{n} dev {device} table {mark}\n"),
        _ => format!("{n} dev {device}\n"),
    };
    // The table of the mark contains no other routes.
    let verb = |n: &IpNet| if n.prefix_len() == 0 { "replace" } else { "add" };
    let delete = |n: &IpNet| format!("route del {}", route(n));
    for (done, network) in new.iter().enumerate() {
        let added = ip(&format!("route {} {}", verb(network), route(network)));
        if let Err(e) = added {
            let undo: String = new[..done].iter().map(|n| delete(n)).collect();
            let _ = ip(&undo);
            return Err(match e {
                RunError::Unable(why) if why.ends_with(EXISTS) => RunError::Unable(format!(
                    "the host has another route to {network}, which is not replaced: delete it, \
                         or give it a larger metric"
                )),
                other => other,
            });
        }
    }
    let gone: String = before.iter().filter(|n| !after.contains(n)).map(delete).collect();
    if !gone.is_empty() {
        // Those that are not there are none the less gone.
        let _ = ip_output(&["-force", "-batch", "-"], &gone);
    }
    Ok(())
}

/// Returns the rules by which unmarked packets use a network of all addresses, and marked packets the host's
/// routes. Routes of the host that are narrower than its default stay in force.
fn rules(mark: u32) -> [String; 2] {
    [
        format!("pref {} not fwmark {mark} table {mark}", PREFERENCE + 1),
        format!("pref {PREFERENCE} table main suppress_prefixlength 0"),
    ]
}

/// Adds or deletes (`verb`) a rule of a family. Returns false if it was already there.
fn set_rule(family: &str, verb: &str, rule: &str) -> Result<bool, RunError> {
    let words = [family, "rule", verb].into_iter().chain(rule.split(' '));
    match ip_output(&words.collect::<Vec<&str>>(), "") {
        Ok(_) => Ok(true),
        Err(RunError::Unable(why)) if why.ends_with(EXISTS) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Sets the rules of the mark for the families with a network of all addresses, and removes those of other
/// families that had them. Returns the families that now have rules.
fn set_rules(
    mark: Option<u32>,
    before: &[&str],
    after: &[IpNet],
) -> Result<Vec<&'static str>, RunError> {
    let Some(mark) = mark else {
        return Ok(Vec::new());
    };
    let mut now = Vec::new();
    for family in FAMILIES {
        let wanted = after.iter().any(|n| is_all(n, family));
        if wanted {
            now.push(family);
        }
        if wanted == before.contains(&family) {
            continue;
        }
        for rule in rules(mark) {
            if wanted {
                // A rule that a killed gateway has left stays. Without it packets of the site would leave
                // in the clear until it is set again.
                set_rule(family, "add", &rule)?;
            } else {
                let _ = set_rule(family, "del", &rule);
            }
        }
        if wanted && family == "-4" {
            // With this setting a strict source filter checks an answer to a marked datagram against the
            // routes of the mark.
            let _ = std::fs::write("/proc/sys/net/ipv4/conf/all/src_valid_mark", "1");
        }
    }
    Ok(now)
}

/// Reads the destination of a line of `ip route show`.
fn destination(line: &str) -> Option<IpNet> {
    let first = line.split_whitespace().next()?;
    first.parse().or_else(|_| first.parse::<IpAddr>().map(IpNet::from)).ok()
}

/// Runs commands of iproute2.
fn ip(commands: &str) -> Result<(), RunError> {
    if commands.is_empty() { Ok(()) } else { ip_output(&["-batch", "-"], commands).map(|_| ()) }
}

/// Runs iproute2 with this input. Returns its output.
fn ip_output(arguments: &[&str], input: &str) -> Result<String, RunError> {
    accord_host::ip(arguments, input).map_err(|e| {
        RunError::Unable(match e {
            Unable::Missing => {
                "there is no program \"ip\" (iproute2) to set addresses and routes with".into()
            }
            Unable::System(e) => format!("the program \"ip\" cannot be run: {e}"),
            Unable::Refused(why) => format!("addresses and routes cannot be set: ip: {why}"),
        })
    })
}
