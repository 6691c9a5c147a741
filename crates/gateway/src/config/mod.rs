//! The site file: the gateway, its peers and their services.

mod dscp;
mod import;
mod read;
mod site;

pub use dscp::Dscp;
pub use import::{Imported, import};
pub use read::ConfigError;
pub use site::{BreakerConfig, Class, Endpoint, Interface, Loss, Mode, OVERHEAD, PeerConfig, Site};

use crate::keys::{PublicKey, is_key};
use accord_family::{Service, Signal};
use accord_units::{Bytes, Duration, Rate, Size};
use ipnet::IpNet;
use read::{Table, Value, list, nearest, parsed, text, whole};
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use toml::de::DeTable;

const TOP: &[&str] = &["gateway", "class", "peer"];
const GATEWAY: &[&str] = &[
    "key", "listen", "device", "address", "mtu", "uplink", "target", "loss", "queue", "status",
    "metrics", "fwmark", "offload", "persist", "guard",
];
const CLASS: &[&str] = &["dscp"];
const PEER: &[&str] = &[
    "public_key",
    "preshared_key",
    "endpoint",
    "networks",
    "cap",
    "service",
    "class",
    "breaker",
    "mode",
    "signal",
    "virtual_delay",
    "keepalive",
];
const BREAKER: &[&str] = &["loss", "over", "rate", "rearm", "blind"];
const SERVICE: &[&str] = &["contract", "weight", "limit"];
/// A class has no limit of its own: the limit is on the whole tunnel's queue in the network.
const SHARE: &[&str] = &["contract", "weight"];

/// The MTU of the device unless the file says it: 80 bytes less than that of Ethernet, the overhead of
/// a tunnel over IPv6.
const DEFAULT_MTU: u16 = 1420;
/// The most peers and the most classes.
const MOST_PEERS: usize = 1000;
const MOST_CLASSES: usize = 16;

/// Reads a site file. Names of files in it are relative to `folder`.
///
/// # Errors
/// Fails at the first key or value that is not as it has to be.
pub fn parse(source: &str, folder: &Path) -> Result<Site, ConfigError> {
    if let Some(at) = wg_quick(source) {
        let message = "this is a file of wg-quick, not a site file";
        let hint = "accord gateway import writes a site file and a key file from it";
        return Err(ConfigError::new(at..at, message).hint(hint));
    }
    let document = DeTable::parse(source)
        .map_err(|e| ConfigError::new(e.span().unwrap_or(0..0), e.message()))?;
    let top = Table::new("a site", document.get_ref(), 0..source.len().min(1), TOP)?;
    let example = "{ key = \"site.key\", listen = \"0.0.0.0:51820\" }";
    let interface = interface(top.need("gateway", example)?, folder)?;
    let mut classes = Vec::new();
    for (name, value) in top.tables("class")? {
        classes.push((class(&name, value, &classes)?, value.span()));
    }
    if let Some((_, span)) = classes.get(MOST_CLASSES) {
        let message = format!("there are more than {MOST_CLASSES} classes");
        return Err(ConfigError::new(span.clone(), message));
    }
    let classes: Vec<Class> = classes.into_iter().map(|(class, _)| class).collect();
    let mut peers: Vec<PeerConfig> = Vec::new();
    for (name, value) in top.tables("peer")? {
        let peer = peer(&name, value, &interface, &classes, folder)?;
        differs(&peer, &peers, &interface, value)?;
        peers.push(peer);
    }
    if peers.len() > MOST_PEERS {
        let message = format!("there are more than {MOST_PEERS} peers");
        return Err(ConfigError::new(top.span(), message));
    }
    Ok(Site { interface, classes, peers })
}

/// Returns where a file of wg-quick begins its section of the interface, if it is one.
fn wg_quick(source: &str) -> Option<usize> {
    let mut at = 0;
    source.split_inclusive('\n').find_map(|line| {
        at += line.len();
        let found = line.trim().eq_ignore_ascii_case("[interface]");
        found.then_some(at - line.len())
    })
}

fn interface(value: &Value, folder: &Path) -> Result<Interface, ConfigError> {
    let table = Table::of("gateway", value, GATEWAY)?;
    let key = file(table.need("key", "\"site.key\"")?)?;
    let listen = table.need("listen", "\"0.0.0.0:51820\"")?;
    let listen: SocketAddr = text(listen)?.parse().map_err(|_| {
        ConfigError::new(listen.span(), "expected an address and a port")
            .hint("such as \"0.0.0.0:51820\" or \"[2001:db8::1]:51820\"")
    })?;
    let device = table.read(
        "device",
        |value| Ok(Some(text(value)?).filter(|name| is_device(name)).map(str::to_string)),
        ("a device's name has 1 to 15 letters, digits, - and _", ""),
    )?;
    let mut addresses = Vec::new();
    for value in table.get("address").map(list).transpose()?.into_iter().flatten() {
        addresses.push(site::address(text(value)?).map_err(|e| at(value, e))?);
    }
    let mtu = table.read(
        "mtu",
        |value| match (whole(value), text(value)) {
            (Some(n @ 576..=9000), _) => Ok(Some(Some(n as u16))),
            (_, Ok("auto")) => Ok(Some(None)),
            _ => Ok(None),
        },
        (
            "mtu has to be \"auto\" or a whole number of bytes from 576 to 9000",
            "\"auto\" discovers the MTU of the path to each peer",
        ),
    )?;
    let mtu = mtu.flatten();
    Ok(Interface {
        key: folder.join(key),
        listen,
        device: device.unwrap_or("accord0".into()),
        addresses,
        mtu: mtu.unwrap_or(DEFAULT_MTU),
        finds_mtu: mtu.is_none(),
        uplink: above_zero(&table, "uplink")?,
        target: table
            .read(
                "target",
                |value| {
                    let target: Size = parsed(value)?;
                    let bytes = target.bytes_f64(Bytes::new(1));
                    Ok((bytes > 0.0 && bytes <= MOST_TARGET).then_some(target))
                },
                ("target has to be above 0 and up to 125 MB", "such as \"3 pkt\" or \"6 KB\""),
            )?
            .unwrap_or(Size::Packets(3.0)),
        loss: table.parsed("loss")?.unwrap_or(Loss::Contract),
        queue: above_zero(&table, "queue")?.unwrap_or(Bytes::new(1_000_000)),
        status: table.get("status").map(file).transpose()?.map(|file| folder.join(file)),
        // Others than users of this host do not reach it.
        metrics: table.read(
            "metrics",
            |value| Ok(text(value)?.parse().ok().filter(|a: &SocketAddr| a.ip().is_loopback())),
            ("metrics has to be a loopback address and a port", "such as \"127.0.0.1:9586\""),
        )?,
        // The mark is the number of a routing table, too. 253 to 255 are those of the kernel.
        fwmark: table.read(
            "fwmark",
            |value| {
                let mark = whole(value).and_then(|mark| u32::try_from(mark).ok());
                Ok(mark.filter(|mark| *mark > 0 && !(253..=255).contains(mark)))
            },
            (
                "fwmark has to be a whole number from 1 to 4294967295, but 253 to 255",
                "such as 51820, as wg-quick has it",
            ),
        )?,
        offload: table.flag("offload")?.unwrap_or(true),
        persist: table.flag("persist")?.unwrap_or(false),
        guard: table.flag("guard")?.unwrap_or(false),
    })
}

/// Returns whether a text is the name of a device. The kernel's limit is 15 bytes.
fn is_device(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (1..=15).contains(&name.len()) && name.chars().all(plain)
}

fn class(
    name: &str,
    value: &Value,
    others: &[(Class, std::ops::Range<usize>)],
) -> Result<Class, ConfigError> {
    let table = Table::of(format!("class {name}"), value, CLASS)?;
    let mut points = Vec::new();
    for value in list(table.need("dscp", "[\"EF\", \"CS5\"]")?)? {
        let point = match whole(value) {
            Some(n) => Dscp::number(n),
            None => text(value)?.parse(),
        };
        let point = point.map_err(|e| at(value, e))?;
        let taken = others.iter().find(|(other, _)| other.dscp.contains(&point));
        if let Some((other, _)) = taken {
            let message = format!("{point} is in class {} already", other.name);
            return Err(ConfigError::new(value.span(), message));
        }
        points.push(point);
    }
    if name == "default" {
        return Err(ConfigError::new(
            value.span(),
            "packets that no other class takes are in class default; it has no DSCP of its own",
        ));
    }
    Ok(Class { name: name.to_string(), dscp: points })
}

fn peer(
    name: &str,
    value: &Value,
    interface: &Interface,
    classes: &[Class],
    folder: &Path,
) -> Result<PeerConfig, ConfigError> {
    let table = Table::of(format!("peer {name}"), value, PEER)?;
    let public_key: PublicKey =
        parsed(table.need("public_key", "\"(what accord gateway keys prints there)\"")?)?;
    let mut networks: Vec<IpNet> = Vec::new();
    for value in list(table.need("networks", "[\"10.2.0.0/24\"]")?)? {
        networks.push(site::network(text(value)?).map_err(|e| at(value, e))?);
    }
    table.need("cap", "\"50 Mbps\"")?;
    let cap = above_zero(&table, "cap")?.unwrap_or(Rate::ZERO);
    let service = table.get("service").map(|value| service(value, cap, interface)).transpose()?;
    let mut shares = vec![Service::default(); classes.len() + 1];
    for (class, value) in table.tables("class")? {
        let names: Vec<&str> =
            (classes.iter().map(|c| c.name.as_str())).chain(["default"]).collect();
        let Some(index) = names.iter().position(|n| *n == class) else {
            let message = format!("there is no class \"{class}\"");
            let hint = match nearest(&class, &names) {
                Some(near) => format!("did you mean \"{near}\"?"),
                None => format!("write [class.{class}] with its dscp first"),
            };
            return Err(ConfigError::new(value.span(), message).hint(hint));
        };
        let share = Table::of(format!("class {class}"), value, SHARE)?;
        shares[index].contract = share.parsed("contract")?.unwrap_or(Rate::ZERO);
        shares[index].weight = share.positive("weight")?.unwrap_or(1.0);
    }
    Ok(PeerConfig {
        name: name.to_string(),
        public_key,
        preshared_key: (table.get("preshared_key").map(file).transpose()?)
            .map(|file| folder.join(file)),
        endpoint: endpoint(&table, interface)?,
        networks,
        cap,
        service: service.unwrap_or_default(),
        shares,
        breaker: (table.get("breaker").map(|value| breaker(value, cap)).transpose()?)
            .unwrap_or(BreakerConfig::of(cap)),
        mode: table.parsed("mode")?.unwrap_or(Mode::Enforce),
        signal: table.parsed("signal")?.unwrap_or(Signal::Auto),
        virtual_delay: table.read(
            "virtual_delay",
            |value| {
                let most: Duration = parsed(value)?;
                Ok(Some(most).filter(|most| !most.is_zero() && *most <= MOST_VIRTUAL))
            },
            (
                &format!("virtual_delay has to be above 0 and up to {MOST_VIRTUAL}"),
                "it is the most that counts of what routers write; leave it out if none does",
            ),
        )?,
        keepalive: table.read(
            "keepalive",
            |value| {
                let seconds = parsed::<Duration>(value)?.as_secs_f64().round();
                Ok((1.0..=65_535.0).contains(&seconds).then_some(seconds as u16))
            },
            ("keepalive has to be from 1 s to 65535 s", ""),
        )?,
    })
}

fn endpoint(table: &Table, interface: &Interface) -> Result<Option<Endpoint>, ConfigError> {
    let Some(value) = table.get("endpoint") else {
        return Ok(None);
    };
    let endpoint: Endpoint = text(value)?.parse().map_err(|e: String| {
        ConfigError::new(value.span(), e).hint("a peer without endpoint calls first")
    })?;
    if let Endpoint::Address(address) = endpoint
        && !interface.reaches(address.ip())
    {
        let message = format!("{address} cannot be reached from {}", interface.listen);
        let hint =
            "listen = \"[::]:51820\" reaches IPv4 and IPv6; other addresses reach their own kind";
        return Err(ConfigError::new(value.span(), message).hint(hint));
    }
    Ok(Some(endpoint))
}

/// The maximum of `virtual_delay`, which bounds the effect of a hostile router.
const MOST_VIRTUAL: Duration = Duration::from_secs(1);

fn breaker(value: &Value, cap: Rate) -> Result<BreakerConfig, ConfigError> {
    let table = Table::of("breaker", value, BREAKER)?;
    let default = BreakerConfig::of(cap);
    let loss = table.positive("loss")?.unwrap_or(default.loss);
    if let Some(value) = table.get("loss").filter(|_| loss > 1.0) {
        let message = "loss has to be a fraction of the data sent, above 0 and up to 1";
        let hint = "such as 0.25, which is 25 %; 1 never trips unless all is lost";
        return Err(ConfigError::new(value.span(), message).hint(hint));
    }
    let time = |key, from: f64, default: Duration| match table.parsed::<Duration>(key)? {
        None => Ok(default),
        Some(time) if (from..=86_400.0).contains(&time.as_secs_f64()) => Ok(time),
        Some(_) => Err(ConfigError::new(
            table.get(key).map_or(table.span(), Value::span),
            format!("{key} has to be from {from} s to 86400 s"),
        )),
    };
    let blind = match table.get("blind").map(text).transpose() {
        Ok(Some("never")) => None,
        _ => Some(time("blind", 5.0, Duration::from_secs(60))?),
    };
    let rate = above_zero(&table, "rate")?.unwrap_or(default.rate);
    if let Some(value) = table.get("rate").filter(|_| rate > cap) {
        let message = format!("the breaker's rate of {rate} is above the cap of {cap}");
        return Err(ConfigError::new(value.span(), message));
    }
    Ok(BreakerConfig {
        loss,
        over: time("over", 5.0, default.over)?,
        rate,
        rearm: time("rearm", 1.0, default.rearm)?,
        blind,
    })
}

fn service(value: &Value, cap: Rate, interface: &Interface) -> Result<Service, ConfigError> {
    let table = Table::of("service", value, SERVICE)?;
    let service = Service {
        contract: table.parsed("contract")?.unwrap_or(Rate::ZERO),
        weight: table.positive("weight")?.unwrap_or(1.0),
        limit: above_zero(&table, "limit")?,
    };
    if service.contract > cap {
        let message = format!("the contract of {} is above the cap of {cap}", service.contract);
        let hint = "the cap is the highest rate that the tunnel ever sends at";
        return Err(ConfigError::new(value.span(), message).hint(hint));
    }
    let least = service.weight * interface.target_bytes();
    if service.limit.is_some_and(|limit| limit.as_f64() < least) {
        let message = "the limit is below weight × target, which the tunnel keeps queued";
        let hint = format!("write at least \"{} B\"", least.ceil());
        return Err(ConfigError::new(value.span(), message).hint(hint));
    }
    Ok(service)
}

/// Returns the place of a key of a table, or of an entry of its list.
fn entry(table: &Value, key: &str, place: usize) -> std::ops::Range<usize> {
    let found = table.get_ref().as_table().and_then(|table| table.get(key));
    let listed = found.and_then(|found| found.get_ref().as_array()?.get(place));
    listed.or(found).unwrap_or(table).span()
}

/// Refuses a peer that has a key or a network of another one, or a network of this site.
fn differs(
    peer: &PeerConfig,
    others: &[PeerConfig],
    interface: &Interface,
    value: &Value,
) -> Result<(), ConfigError> {
    let span = |key, place| entry(value, key, place);
    for own in &interface.addresses {
        if let Some(place) = peer.networks.iter().position(|n| *n == own.trunc()) {
            let network = own.trunc();
            let message = format!(
                "{network} is behind peer {}, and the address {own} of this gateway is in it",
                peer.name
            );
            let hint = "networks are those at the peer's site; a smaller or a larger one may overlap with this site's";
            return Err(ConfigError::new(span("networks", place), message).hint(hint));
        }
    }
    let all = |n: &IpNet| n.prefix_len() == 0 && interface.reaches(n.addr());
    if let Some(place) = peer.networks.iter().position(all)
        && interface.fwmark.is_none()
    {
        let all = peer.networks[place];
        let message = format!(
            "{all} is behind peer {}, and the gateway's own datagrams would go there, too",
            peer.name
        );
        let hint = "write fwmark = 51820 below [gateway]: marked datagrams take the host's routes";
        return Err(ConfigError::new(span("networks", place), message).hint(hint));
    }
    // Datagrams to a peer would go into a tunnel.
    for (one, two) in others.iter().chain([peer]).flat_map(|o| [(o, peer), (peer, o)]) {
        let Some(endpoint) = two.endpoint.as_ref().and_then(Endpoint::address) else {
            continue;
        };
        // Routes of all addresses are in a table that marked datagrams do not see.
        let holds = |n: &IpNet| n.prefix_len() > 0 && n.contains(&endpoint.ip());
        if let Some(place) = one.networks.iter().position(holds) {
            let network = one.networks[place];
            let message = format!(
                "{network} is behind peer {}, and the endpoint {endpoint} of peer {} is in it",
                one.name, two.name
            );
            let hint =
                "its datagrams would go into the tunnel; write networks without the endpoint";
            let at =
                if one.name == peer.name { span("networks", place) } else { span("endpoint", 0) };
            return Err(ConfigError::new(at, message).hint(hint));
        }
    }
    for other in others {
        if other.public_key == peer.public_key {
            let message = format!("peer {} has the public key of peer {}", peer.name, other.name);
            return Err(ConfigError::new(span("public_key", 0), message));
        }
        if let Some(place) = peer.networks.iter().position(|n| other.networks.contains(n)) {
            let both = peer.networks[place];
            let message = format!("{both} is behind peer {} and peer {}", other.name, peer.name);
            let hint = "a network is behind one peer; a smaller one inside of it may be elsewhere";
            return Err(ConfigError::new(span("networks", place), message).hint(hint));
        }
    }
    Ok(())
}

/// Reads the name of a file.
fn file<'t>(value: &'t Value) -> Result<&'t str, ConfigError> {
    let name = text(value)?;
    if name.is_empty() || is_key(name) {
        let message = "expected the name of a file; keys are in files of their own";
        return Err(ConfigError::new(value.span(), message).hint("such as \"site.key\""));
    }
    Ok(name)
}

/// Reads a rate or an amount of bytes above zero.
fn above_zero<T>(table: &Table, key: &str) -> Result<Option<T>, ConfigError>
where
    T: FromStr<Err: Display> + Default + PartialEq,
{
    let read = |value: &Value| Ok(Some(parsed(value)?).filter(|x| *x != T::default()));
    table.read(key, read, (&format!("{key} has to be above 0"), ""))
}

/// The largest target: a second at 1 Gbps.
const MOST_TARGET: f64 = 125e6;

fn at(value: &Value, message: impl Display) -> ConfigError {
    ConfigError::new(value.span(), message.to_string())
}

/// The largest site file, and file of another program, that is read, in bytes.
pub const LARGEST: u64 = 16 << 20;

/// Reads the site file at this path.
///
/// # Errors
/// Fails if the file cannot be read, or is not as it has to be. The text is returned with an error in
/// it.
pub fn load(path: &Path) -> Result<Site, LoadError> {
    let text = accord_files::read_text(path, LARGEST).map_err(LoadError::Unreadable)?;
    let folder = path.parent().map(PathBuf::from).unwrap_or_default();
    parse(&text, &folder).map_err(|error| LoadError::Wrong { text, error })
}

/// Returns the status socket that the text of the site file at `path` names, whatever else is wrong in
/// it.
pub fn status_socket(source: &str, path: &Path) -> Option<PathBuf> {
    let (document, _) = DeTable::parse_recoverable(source);
    let gateway = document.get_ref().get("gateway")?.get_ref().as_table()?;
    let socket = gateway.get("status")?.get_ref().as_str()?;
    Some(path.parent()?.join(socket))
}

/// The reason why a site file is not read.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The system does not let it be read.
    #[error("it cannot be read: {0}")]
    Unreadable(std::io::Error),
    /// Something in it is wrong.
    #[error("line {}, column {}: {error}", error.position(text).0, error.position(text).1)]
    Wrong {
        /// The text of the file.
        text: String,
        /// The problem and its place.
        error: ConfigError,
    },
}

#[cfg(test)]
mod tests;
