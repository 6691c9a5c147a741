//! The site file: the gateway, its peers and their services.

mod dscp;
mod import;
mod keys;
mod site;

pub use dscp::Dscp;
pub use import::{Imported, import};
pub use site::{BreakerConfig, Class, Endpoint, Interface, Loss, Mode, OVERHEAD, PeerConfig, Site};

use crate::keys::redacted;
use accord_family::Service;
use accord_form::read::{each, flag, number, parsed, rate, string, word};
use accord_form::{Checked, Data, Errors, Problem, Problems, Source, Span, Table, fail, quote};
use accord_units::{Bytes, Rate};
use ipnet::IpNet;
use keys::{BREAKER, CLASS, GATEWAY, PEER, SERVICE, SHARE, SITE};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use toml::de::DeTable;

type Reader<'a> = accord_form::Reader<'a, Checked>;

/// The default MTU of the device: that of Ethernet less 80 bytes, the overhead of a tunnel over IPv6.
const DEFAULT_MTU: u16 = 1420;
/// The most peers and the most classes.
const MOST_PEERS: usize = 1000;
const MOST_CLASSES: usize = 16;

/// Returns the JSON Schema (2020-12) of site files. It covers only the form.
pub fn schema() -> serde_json::Value {
    accord_form::schema("Accord site", &SITE)
}

/// Reads the text of a site file. `name` is its name in errors. Names of files in it are relative to the
/// folder of `name`.
///
/// # Errors
/// Fails with all errors. A possible key is not shown.
pub fn parse(name: &str, source: &str) -> Result<Site, Errors> {
    let origin = Arc::new(Source { name: name.to_string(), text: source.to_string() });
    read(&origin).map_err(hidden)
}

/// Hides a possible key at a wrong place.
fn hidden(errors: Errors) -> Errors {
    let mut shown: Option<Arc<Source>> = None;
    errors.map(|e| {
        let Source { name, text } = &*e.origin;
        let origin = shown
            .get_or_insert_with(|| Arc::new(Source { name: name.clone(), text: redacted(text) }));
        accord_form::TextError {
            message: redacted(&e.message),
            hint: e.hint.as_deref().map(redacted),
            origin: Arc::clone(origin),
            ..e
        }
    })
}

fn read(origin: &Arc<Source>) -> Result<Site, Errors> {
    let sources = std::slice::from_ref(origin);
    if let Some(at) = wg_quick(&origin.text) {
        let message = "this is a file of wg-quick, not a site file";
        let hint = "accord gateway import writes a site file and a key file from it";
        let problem = Problem::new(Span::new(0, at..at), message).hint(hint);
        return Err(problem.locate(sources).into());
    }
    let tree = accord_form::prepared(origin, &SITE, &(), share_defaults)?;
    let top = Reader::new(&SITE, &tree, Span::default());
    let folder = Path::new(&origin.name).parent().unwrap_or(Path::new(""));
    let mut problems = Problems::default();
    let site = problems.keep(interface(&top, folder)).map(|interface| {
        let mut site = Site { interface, classes: Vec::new(), peers: Vec::new() };
        for (entry, reader) in top.named("class", &CLASS) {
            problems.keep(keys::check_name(entry));
            let class = problems.keep(class(&entry.key, &reader, &site.classes));
            if site.classes.len() == MOST_CLASSES {
                let message = format!("there are more than {MOST_CLASSES} classes");
                problems.push(Problem::new(entry.span, message));
            }
            site.classes.extend(class);
        }
        for (entry, reader) in top.named("peer", &PEER) {
            problems.keep(keys::check_name(entry));
            let peer = problems.keep(peer(&entry.key, &reader, &site, folder));
            if site.peers.len() == MOST_PEERS {
                let message = format!("there are more than {MOST_PEERS} peers");
                problems.push(Problem::new(entry.span, message));
            }
            site.peers.extend(peer);
        }
        site
    });
    problems.check(sources)?;
    Ok(site.expect("without a problem there is one"))
}

/// Gives each peer the entries of [defaults] that its own table lacks.
fn share_defaults(file: &mut Table) {
    let Some(defaults) = file.get("defaults").and_then(|value| value.table()).cloned() else {
        return;
    };
    for entry in file.entries.iter_mut().filter(|entry| entry.key == "peer") {
        let Data::Table(peers) = &mut entry.value.data else { continue };
        for peer in &mut peers.entries {
            if let Data::Table(own) = &mut peer.value.data {
                add(own, &defaults, |key| keys::DEFAULTS.key(key).is_some());
            }
        }
    }
}

/// Adds the missing entries to a table, and to tables inside it.
fn add(own: &mut Table, defaults: &Table, takes: fn(&str) -> bool) {
    for entry in defaults.entries.iter().filter(|entry| takes(&entry.key)) {
        let there = own.entries.iter_mut().find(|e| e.key == entry.key);
        match (there.map(|e| &mut e.value.data), &entry.value.data) {
            (None, _) => own.entries.push(entry.clone()),
            (Some(Data::Table(own)), Data::Table(more)) => add(own, more, |_| true),
            (Some(_), _) => {}
        }
    }
}

/// Returns the place of the interface section if the text is a file of wg-quick.
fn wg_quick(source: &str) -> Option<usize> {
    let mut at = 0;
    source.split_inclusive('\n').find_map(|line| {
        at += line.len();
        let found = line.trim().eq_ignore_ascii_case("[interface]");
        found.then_some(at - line.len())
    })
}

fn interface(top: &Reader, folder: &Path) -> Result<Interface, Problem> {
    let table = top.table("gateway", &GATEWAY).ok_or_else(|| top.missing("gateway"))?;
    let mtu = table.get("mtu", keys::mtu)?;
    Ok(Interface {
        key: folder.join(table.get("key", string)?),
        listen: table.get("listen", keys::listen)?,
        device: table.get("device", string)?,
        addresses: table.opt("address", |v| each(v, keys::own_address))?.unwrap_or_default(),
        mtu: mtu.unwrap_or(DEFAULT_MTU),
        finds_mtu: mtu.is_none(),
        uplink: table.opt("uplink", rate)?,
        target: table.get("target", keys::target)?,
        loss: table.get("loss", word)?,
        queue: table.get("queue", parsed)?,
        status: table.opt("status", string)?.map(|file| folder.join(file)),
        metrics: table.opt("metrics", keys::metrics)?,
        fwmark: table.opt("fwmark", keys::mark)?,
        offload: table.get("offload", flag)?,
        persist: table.get("persist", flag)?,
        guard: table.get("guard", flag)?,
    })
}

/// Returns whether a text is the name of a device. The kernel's limit is 15 bytes.
fn is_device(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=15).contains(&name.len()) && name.chars().all(plain)
}

/// Returns whether a text is the name of a peer or a class.
fn is_name(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=40).contains(&text.len()) && text.chars().all(plain)
}

fn class(name: &str, table: &Reader, others: &[Class]) -> Result<Class, Problem> {
    let dscp = table.get("dscp", |v| {
        each(v, |value| {
            let point = keys::point(value)?;
            match others.iter().find(|other| other.dscp.contains(&point)) {
                None => Ok(point),
                Some(other) => {
                    fail(value.span, format!("{point} is in class {} already", other.name))
                }
            }
        })
    })?;
    if name == "default" {
        return fail(
            table.span,
            "packets that no other class takes are in class default; it has no DSCP of its own",
        );
    }
    Ok(Class { name: name.to_string(), dscp })
}

fn peer(name: &str, table: &Reader, site: &Site, folder: &Path) -> Result<PeerConfig, Problem> {
    let Site { interface, classes, peers } = site;
    let cap = table.get("cap", rate)?;
    let mut shares = vec![Service::default(); classes.len() + 1];
    for (entry, share) in table.named("class", &SHARE) {
        let class = entry.key.as_str();
        let names = || classes.iter().map(|c| c.name.as_str()).chain(["default"]);
        let Some(index) = names().position(|n| n == class) else {
            let message = format!("unknown class {}", quote(class));
            let hint = accord_form::suggest(class, names()).filter(|hint| hint.contains('?'));
            let hint = hint.unwrap_or(format!("write [class.{class}] with its dscp first"));
            return Err(Problem::new(entry.span, message).hint(hint));
        };
        shares[index].contract = share.get("contract", parsed)?;
        shares[index].weight = share.get("weight", weight)?;
    }
    let mut endpoints = endpoints(table, interface)?.into_iter();
    let peer = PeerConfig {
        name: name.to_string(),
        public_keys: table.get("public_key", keys::public_keys)?,
        preshared_key: table.opt("preshared_key", string)?.map(|file| folder.join(file)),
        endpoint: endpoints.next(),
        spares: endpoints.filter_map(|e| e.address()).collect(),
        networks: table.get("networks", |v| each(v, keys::other_network))?,
        cap,
        service: service(table, cap, interface)?,
        shares,
        breaker: breaker(table, cap)?,
        mode: table.get("mode", word)?,
        signal: table.get("signal", word)?,
        virtual_delay: table.opt("virtual_delay", keys::virtual_delay)?,
        keepalive: table.opt("keepalive", keys::keepalive)?,
    };
    differs(&peer, peers, interface, table)?;
    Ok(peer)
}

fn weight(value: &accord_form::Value) -> Result<f64, Problem> {
    number(value, 1e-6, 1e6)
}

fn endpoints(table: &Reader, interface: &Interface) -> Result<Vec<Endpoint>, Problem> {
    let endpoints = table.opt("endpoint", keys::endpoints)?.unwrap_or_default();
    for (place, endpoint) in endpoints.iter().enumerate() {
        let Some(address) = endpoint.address().filter(|a| !interface.reaches(a.ip())) else {
            continue;
        };
        let message = format!("{address} cannot be reached from {}", interface.listen);
        let hint =
            "listen = \"[::]:51820\" reaches IPv4 and IPv6; other addresses reach their own kind";
        return Err(Problem::new(entry(table, "endpoint", place), message).hint(hint));
    }
    Ok(endpoints)
}

/// Returns the reader of a table inside a table. A missing table has the defaults of its keys.
fn inner<'a>(table: &Reader<'a>, key: &str, section: &'static keys::Section) -> Reader<'a> {
    static NONE: Table = Table { entries: Vec::new() };
    table.table(key, section).unwrap_or(Reader::new(section, &NONE, table.span))
}

fn breaker(peer: &Reader, cap: Rate) -> Result<BreakerConfig, Problem> {
    let table = inner(peer, "breaker", &BREAKER);
    let tripped = table.opt("rate", rate)?;
    let tripped = tripped.unwrap_or(Rate::from_bps((cap.as_bps() / 10).max(1)));
    if tripped > cap {
        let message = format!("the breaker's rate of {tripped} is above the cap of {cap}");
        return fail(table.at("rate"), message);
    }
    Ok(BreakerConfig {
        loss: table.get("loss", keys::lost)?,
        over: table.get("over", keys::lasting)?,
        rate: tripped,
        rearm: table.get("rearm", keys::rearm)?,
        blind: table.get("blind", keys::blind)?,
    })
}

fn service(peer: &Reader, cap: Rate, interface: &Interface) -> Result<Service, Problem> {
    let table = inner(peer, "service", &SERVICE);
    let contract: Rate = table.get("contract", parsed)?;
    let weight = table.get("weight", weight)?;
    if contract > cap {
        let message = format!("the contract of {contract} is above the cap of {cap}");
        let hint = "the cap is the highest rate that the tunnel ever sends at";
        return Err(Problem::new(table.span, message).hint(hint));
    }
    // The queue that the tunnel keeps beyond the data that carries its contract.
    let least = weight * interface.target_bytes();
    let limit = match table.get("limit", keys::limit)? {
        keys::Limit::Amount(limit) if limit.as_f64() < least => {
            let message = "the limit is below weight × target, which the tunnel keeps queued";
            let hint = format!("write at least \"{} B\"", least.ceil());
            return Err(Problem::new(table.span, message).hint(hint));
        }
        keys::Limit::Amount(limit) => Some(limit),
        keys::Limit::Queue(queue) if contract > Rate::ZERO => {
            let carries = contract.as_bps_f64() / 8.0 * queue.as_secs_f64();
            Some(Bytes::new((least + carries).ceil() as u64))
        }
        // Without a contract only weight × target is queued.
        keys::Limit::Queue(_) | keys::Limit::None => None,
    };
    Ok(Service { contract, weight, limit })
}

/// Returns the place of a key of a table, or of an entry of its list.
fn entry(table: &Reader, key: &str, place: usize) -> Span {
    let listed = table.given(key).and_then(|value| value.list()?.get(place));
    listed.map_or(table.at(key), |value| value.span)
}

/// Rejects a peer with a key or a network of another peer, or with a network of this site.
fn differs(
    peer: &PeerConfig,
    others: &[PeerConfig],
    interface: &Interface,
    table: &Reader,
) -> Result<(), Problem> {
    let span = |key, place| entry(table, key, place);
    for own in &interface.addresses {
        if let Some(place) = peer.networks.iter().position(|n| *n == own.trunc()) {
            let network = own.trunc();
            let message = format!(
                "{network} is behind peer {}, and the address {own} of this gateway is in it",
                peer.name
            );
            let hint = "networks are those at the peer's site; a smaller or a larger one may overlap with this site's";
            return Err(Problem::new(span("networks", place), message).hint(hint));
        }
    }
    let all = |n: &IpNet| n.prefix_len() == 0 && interface.reaches(n.addr());
    if let Some(place) = peer.networks.iter().position(all)
        && interface.fwmark.is_none()
    {
        let all = peer.networks[place];
        let message = format!(
            "{all} is behind peer {}, and the gateway's own datagrams would also go there",
            peer.name
        );
        let hint = "write fwmark = 51820 below [gateway]: marked datagrams take the host's routes";
        return Err(Problem::new(span("networks", place), message).hint(hint));
    }
    // Datagrams to a peer would be routed into a tunnel.
    for (one, two) in others.iter().chain([peer]).flat_map(|o| [(o, peer), (peer, o)]) {
        // Routes to all addresses are in a table that marked datagrams do not use.
        let holds = |n: &IpNet, e: &SocketAddr| n.prefix_len() > 0 && n.contains(&e.ip());
        let found = two.endpoints().find_map(|e| {
            let place = one.networks.iter().position(|n| holds(n, &e))?;
            Some((e, place))
        });
        if let Some((endpoint, place)) = found {
            let network = one.networks[place];
            let message = format!(
                "{network} is behind peer {}, and the endpoint {endpoint} of peer {} is in it",
                one.name, two.name
            );
            let hint =
                "its datagrams would go into the tunnel; write networks without the endpoint";
            let at =
                if one.name == peer.name { span("networks", place) } else { span("endpoint", 0) };
            return Err(Problem::new(at, message).hint(hint));
        }
    }
    for other in others {
        if let Some(place) = peer.public_keys.iter().position(|key| other.has(key)) {
            let message = format!("peer {} has the public key of peer {}", peer.name, other.name);
            return fail(span("public_key", place), message);
        }
        if let Some(place) = peer.networks.iter().position(|n| other.networks.contains(n)) {
            let both = peer.networks[place];
            let message = format!("{both} is behind peer {} and peer {}", other.name, peer.name);
            let hint = "a network is behind one peer; a smaller one inside of it may be elsewhere";
            return Err(Problem::new(span("networks", place), message).hint(hint));
        }
    }
    Ok(())
}

/// The largest size, in bytes, of a site file or a file of another program that is read.
pub const LARGEST: u64 = 16 << 20;

/// Reads the site file at this path.
///
/// # Errors
/// Fails if the file cannot be read or has errors. The text is returned together with errors in it.
pub fn load(path: &Path) -> Result<Site, LoadError> {
    let text = accord_files::read_text(path, LARGEST).map_err(LoadError::Unreadable)?;
    parse(&path.display().to_string(), &text).map_err(|errors| LoadError::Wrong { text, errors })
}

/// Returns the status socket named in the text of the site file at `path`, even if the text has errors.
pub fn status_socket(source: &str, path: &Path) -> Option<PathBuf> {
    let (document, _) = DeTable::parse_recoverable(source);
    let gateway = document.get_ref().get("gateway")?.get_ref().as_table()?;
    let socket = gateway.get("status")?.get_ref().as_str()?;
    Some(path.parent()?.join(socket))
}

/// The reason why a site file cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system does not allow reading the file.
    #[error("it cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// The file has errors.
    #[error("{}", brief(errors))]
    Wrong {
        /// The text of the file.
        text: String,
        /// The errors.
        errors: Errors,
    },
}

/// Returns the first error in one line.
fn brief(errors: &Errors) -> String {
    let mut all = errors.iter();
    let Some(first) = all.next() else {
        return String::new();
    };
    let hint = first.hint.iter().map(|hint| format!("; {hint}")).collect::<String>();
    let more = match all.count() {
        0 => String::new(),
        n => format!(" ({n} more)"),
    };
    format!("line {}, column {}: {}{hint}{more}", first.line, first.column, first.message)
}

#[cfg(test)]
mod tests;
