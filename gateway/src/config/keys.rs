//! The keys of a site file.

use super::site::{Endpoint, Loss, Mode, address, network};
use super::{Dscp, is_name};
use crate::keys::{PublicKey, is_key};
use accord_family::Signal;
use accord_form::read::{parsed, probability, string};
use accord_form::{Checked, Data, Default, Key, Problem, Value, key, quote};
use accord_units::{Bytes, Duration, Size, Words as _};
use std::net::SocketAddr;

use Default::{Nothing, Required, Value as By, Words};

pub(super) type Section = accord_form::Section<Checked>;
type Shape = accord_form::Shape<Checked>;

/// A form of texts.
const fn text(
    expected: &'static str,
    brief: &'static str,
    check: fn(&Value) -> Result<(), Problem>,
) -> Shape {
    Shape::Own(Checked { expected, brief, types: &["string"], check })
}

const FILE: Shape =
    text("the name of a file such as \"site.key\"", "file", |value| file(value).map(drop));
const LISTEN: Shape =
    text("an address and a port such as \"0.0.0.0:51820\"", "address", |v| listen(v).map(drop));
const DEVICE: Shape = text("a device's name in quotes", "name", |v| device(v).map(drop));
const ADDRESS: Shape =
    text("an address such as \"10.1.0.1/24\"", "address", |v| own_address(v).map(drop));
const TARGET: Shape = text("an amount such as \"3 pkt\"", "size", |v| target(v).map(drop));
const METRICS: Shape =
    text("an address such as \"127.0.0.1:9586\"", "address", |v| metrics(v).map(drop));
const PUBLIC: Shape = Shape::Own(Checked {
    expected: "what `accord gateway keys` prints there, in quotes, or a list of two such keys",
    brief: "key, or list of two",
    types: &["string", "array"],
    check: |value| public_keys(value).map(drop),
});
const ENDPOINT: Shape = Shape::Own(Checked {
    expected: "a host and a port such as \"192.0.2.1:51820\", or a list of addresses",
    brief: "host, or list of addresses",
    types: &["string", "array"],
    check: |value| endpoints(value).map(drop),
});
const NETWORK: Shape =
    text("a network such as \"10.2.0.0/24\"", "network", |v| other_network(v).map(drop));
const VIRTUAL: Shape = text("a time such as \"50 ms\"", "time", |v| virtual_delay(v).map(drop));
const KEEPALIVE: Shape = text("a time such as \"25 s\"", "time", |v| keepalive(v).map(drop));
const LASTING: Shape = text("a time such as \"10 s\"", "time", |v| lasting(v).map(drop));
const LIMIT: Shape = text(
    "an amount such as \"100 KB\", a time such as \"250 ms\", or \"none\"",
    "`\"none\"`, size, time",
    |v| limit(v).map(drop),
);
const REARM: Shape = text("a time such as \"60 s\"", "time", |v| rearm(v).map(drop));
const BLIND: Shape =
    text("a time such as \"60 s\", or \"never\"", "`\"never\"`, time", |v| blind(v).map(drop));
const LOST: Shape = Shape::Own(Checked {
    expected: "a share such as \"25 %\" or 0.25",
    brief: "share",
    types: &["string", "number"],
    check: |value| lost(value).map(drop),
});
const POINT: Shape = Shape::Own(Checked {
    expected: "a DSCP such as \"EF\", or a number",
    brief: "DSCP",
    types: &["string", "integer"],
    check: |value| point(value).map(drop),
});
const MTU: Shape = Shape::Own(Checked {
    expected: "\"auto\" or a whole number of bytes from 576 to 9000",
    brief: "`\"auto\"`, whole number, 576 to 9000",
    types: &["string", "integer"],
    check: |value| mtu(value).map(drop),
});
const MARK: Shape = Shape::Own(Checked {
    expected: "a whole number such as 51820",
    brief: "whole number",
    types: &["integer"],
    check: |value| mark(value).map(drop),
});

/// The keys of a site file.
pub const SITE: Section = accord_form::section(
    "The site",
    "A gateway, the classes of its packets, and its peers.",
    &[
        key("gateway", Shape::Table(&GATEWAY), Required, "The gateway itself."),
        key("class", Shape::Named(&CLASS), Nothing, "Classes of packets, by name."),
        key(
            "defaults",
            Shape::Table(&DEFAULTS),
            Nothing,
            "Keys that all peers have unless they have their own.",
        ),
        key("peer", Shape::Named(&PEER), Nothing, "Gateways of other sites, by name."),
    ],
);

#[rustfmt::skip] // a table reads better with one row per line
const GATEWAY_KEYS: &[Key<Checked>] = &[
    key("key", FILE, Required, "File of the private key, as `wg genkey` writes it, readable by its owner only."),
    key("listen", LISTEN, Required, "Address and port of the UDP socket: \"[::]:51820\" hears and reaches IPv4 and IPv6, others their own family."),
    key("device", DEVICE, By("accord0"), "Name of the TUN device."),
    key("address", Shape::List(&ADDRESS), Nothing, "Addresses of the device, with prefixes."),
    key("mtu", MTU, By("auto"), "With \"auto\" the gateway finds the largest packet that each path takes; a number is that of the device, and all packets are taken to fit."),
    key("uplink", Shape::Rate, Nothing, "Rate of the site's own uplink, for `accord gateway check`."),
    key("target", TARGET, By("3 pkt"), "Data that a tunnel of weight 1 keeps queued in the network. All gateways that share a bottleneck need the same target."),
    key("loss", Shape::Choice(Loss::words), By("contract"), "Quantity that a loss in the network halves."),
    key("queue", Shape::Amount, By("1 MB"), "The longest queue at the edge, per peer and class."),
    key("status", FILE, Nothing, "Path of the Unix socket for status, metrics and commands."),
    key("metrics", METRICS, Nothing, "Loopback address and port for metrics by TCP."),
    key("fwmark", MARK, Nothing, "Mark of the gateway's own datagrams, and number of the routing table for networks of all addresses."),
    key("offload", Shape::Flag, By("true"), "Whether the kernel joins and cuts packets, where it can."),
    key("persist", Shape::Flag, By("false"), "Whether the device keeps its addresses and routes when the gateway ends."),
    key("guard", Shape::Flag, By("false"), "Drops packets to networks of peers that have lost their route to the device."),
];

pub(super) const GATEWAY: Section =
    accord_form::section("[gateway]", "The gateway itself.", GATEWAY_KEYS);

pub(super) const CLASS: Section = accord_form::section(
    "[class.NAME]",
    "A class of packets. Packets that no class takes are in class `default`.",
    &[key("dscp", Shape::List(&POINT), Required, "Its code points: names, or numbers up to 63.")],
);

const CAP: Key<Checked> = key(
    "cap",
    Shape::Rate,
    Required,
    "The highest rate of the tunnel, and its rate while the path is unknown.",
);
const OF_TUNNEL: Key<Checked> = key(
    "service",
    Shape::Table(&SERVICE),
    Words("a fair share"),
    "The service of the tunnel in the network.",
);
const OF_CLASSES: Key<Checked> =
    key("class", Shape::Named(&SHARE), Words("weight 1"), "Services of classes within the tunnel.");
const OF_BREAKER: Key<Checked> =
    key("breaker", Shape::Table(&BREAKER), Words("its defaults"), "The circuit breaker.");
const MODE: Key<Checked> = key(
    "mode",
    Shape::Choice(Mode::words),
    By("enforce"),
    "Whether it sends as the controller says, only measures, or neither.",
);
const SIGNAL: Key<Checked> = key(
    "signal",
    Shape::Choice(Signal::words),
    By("auto"),
    "Signal of the queue for packets from this peer.",
);
const WRITTEN: Key<Checked> = key(
    "virtual_delay",
    VIRTUAL,
    Nothing,
    "Bound of the virtual delay that routers of the path write, up to 1 s. Both ends need the key.",
);
const KEPT_OPEN: Key<Checked> = key(
    "keepalive",
    KEEPALIVE,
    Nothing,
    "Time between packets that keep mappings of address translators open.",
);

/// The keys of a peer that may stand below [defaults], for all peers.
pub(super) const DEFAULTS: Section = accord_form::section(
    "[defaults]",
    "Keys that all peers have unless they have their own.",
    &[
        Key { default: Nothing, ..CAP },
        OF_TUNNEL,
        OF_CLASSES,
        OF_BREAKER,
        MODE,
        SIGNAL,
        WRITTEN,
        KEPT_OPEN,
    ],
);

#[rustfmt::skip]
const PEER_KEYS: &[Key<Checked>] = &[
    key("public_key", PUBLIC, Required, "Public key of the peer, or a list of two while the peer changes it."),
    key("preshared_key", FILE, Nothing, "File of a key that both ends share."),
    key("endpoint", ENDPOINT, Nothing, "Host and port of the peer, or a list of addresses that are tried in turn while it is silent. A peer without endpoint calls first."),
    key("networks", Shape::List(&NETWORK), Required, "Networks behind the peer: destinations of packets to it, and sources that it may send."),
    CAP, OF_TUNNEL, OF_CLASSES, OF_BREAKER, MODE, SIGNAL, WRITTEN, KEPT_OPEN,
];

pub(super) const PEER: Section =
    accord_form::section("[peer.NAME]", "A gateway at the other end of a tunnel.", PEER_KEYS);

const CONTRACT: Key<Checked> =
    key("contract", Shape::AnyRate, By("0 bps"), "Rate that it gets before anything is shared.");
const WEIGHT: Key<Checked> =
    key("weight", Shape::Number(1e-6, 1e6), By("1"), "Its part of the shared rate.");

pub(super) const SERVICE: Section = accord_form::section(
    "service",
    "A contracted rate, and a weighted share of the rate that is not contracted.",
    &[
        CONTRACT,
        WEIGHT,
        key(
            "limit",
            LIMIT,
            By("250 ms"),
            "The queue from which on the contract yields, or the most that the tunnel may have queued.",
        ),
    ],
);

/// A class has no limit, because the limit applies to the whole tunnel's queue in the network.
pub(super) const SHARE: Section =
    accord_form::section("[peer.NAME.class.NAME]", "The service of a class.", &[CONTRACT, WEIGHT]);

pub(super) const BREAKER: Section = accord_form::section(
    "breaker",
    "The thresholds of the circuit breaker.",
    &[
        key("loss", LOST, By("0.25"), "The lost part of the bytes that trips it; 1 never does."),
        key("over", LASTING, By("10 s"), "The time for which the loss has to last, 5 s at least."),
        key("rate", Shape::Rate, Words("a tenth of the cap"), "Highest rate of a tripped tunnel."),
        key("rearm", REARM, By("60 s"), "The time until it re-arms, 1 s at least."),
        key("blind", BLIND, By("60 s"), "The time without reports that trips it, 5 s at least."),
    ],
);

fn wrong<T>(value: &Value, message: &str, hint: &str) -> Result<T, Problem> {
    Err(Problem::new(value.span, message).hint(hint))
}

/// Reads the name of a file.
pub(super) fn file(value: &Value) -> Result<String, Problem> {
    let name = string(value)?;
    if name.is_empty() || is_key(&name) {
        let message = "expected the name of a file; keys are in files of their own";
        return wrong(value, message, "such as \"site.key\"");
    }
    Ok(name)
}

pub(super) fn listen(value: &Value) -> Result<SocketAddr, Problem> {
    string(value)?.parse().or_else(|_| {
        let hint = "such as \"0.0.0.0:51820\" or \"[2001:db8::1]:51820\"";
        wrong(value, "expected an address and a port", hint)
    })
}

pub(super) fn device(value: &Value) -> Result<String, Problem> {
    let name = string(value)?;
    if super::is_device(&name) {
        return Ok(name);
    }
    wrong(value, "the name of a device has 1 to 15 letters, digits, - and _", "such as \"accord0\"")
}

pub(super) fn own_address(value: &Value) -> Result<ipnet::IpNet, Problem> {
    address(&string(value)?).map_err(|e| Problem::new(value.span, e))
}

pub(super) fn other_network(value: &Value) -> Result<ipnet::IpNet, Problem> {
    network(&string(value)?).map_err(|e| Problem::new(value.span, e))
}

/// Reads the MTU. Returns `None` for "auto".
pub(super) fn mtu(value: &Value) -> Result<Option<u16>, Problem> {
    match &value.data {
        Data::Whole(n @ 576..=9000) => Ok(Some(*n as u16)),
        Data::Text(text) if text == "auto" => Ok(None),
        _ => wrong(
            value,
            "mtu has to be \"auto\" or a whole number of bytes from 576 to 9000",
            "\"auto\" discovers the MTU of the path to each peer",
        ),
    }
}

pub(super) fn target(value: &Value) -> Result<Size, Problem> {
    let target: Size = parsed(value)?;
    let bytes = target.bytes_f64(Bytes::new(1));
    // A second at 1 Gbps.
    if bytes > 0.0 && bytes <= 125e6 {
        return Ok(target);
    }
    let hint = "such as \"3 pkt\" or \"6 KB\"";
    wrong(value, "target has to be above 0 and up to 125 MB", hint)
}

/// Reads the address of metrics. Only users of this host reach it.
pub(super) fn metrics(value: &Value) -> Result<SocketAddr, Problem> {
    match string(value)?.parse() {
        Ok(address) if SocketAddr::ip(&address).is_loopback() => Ok(address),
        _ => {
            let message = "metrics has to be a loopback address and a port";
            wrong(value, message, "such as \"127.0.0.1:9586\"")
        }
    }
}

/// Reads a mark, which is also the number of a routing table. The kernel uses 253 to 255.
pub(super) fn mark(value: &Value) -> Result<u32, Problem> {
    let mark = match value.data {
        Data::Whole(n) => u32::try_from(n).ok(),
        _ => None,
    };
    mark.filter(|mark| *mark > 0 && !(253..=255).contains(mark)).map_or_else(
        || {
            let message = "fwmark has to be a whole number from 1 to 4294967295, but 253 to 255";
            wrong(value, message, "such as 51820, as wg-quick has it")
        },
        Ok,
    )
}

pub(super) fn point(value: &Value) -> Result<Dscp, Problem> {
    let point = match value.data {
        Data::Whole(n) => Dscp::number(u64::try_from(n).unwrap_or(u64::MAX)),
        _ => string(value)?.parse(),
    };
    point.map_err(|e| Problem::new(value.span, e))
}

/// Reads a public key, or a list of two.
pub(super) fn public_keys(value: &Value) -> Result<Vec<PublicKey>, Problem> {
    let Some(list) = value.list() else {
        return Ok(vec![parsed(value)?]);
    };
    let keys: Vec<_> = list.iter().map(parsed).collect::<Result<_, _>>()?;
    match keys[..] {
        [_] => Ok(keys),
        [one, other] if one != other => Ok(keys),
        _ => wrong(
            value,
            "a list of public keys has one key, or two that differ",
            "two are the new one and the old one, while the peer changes its key",
        ),
    }
}

/// The maximum number of endpoints of a peer.
const MOST_ENDPOINTS: usize = 8;

/// Reads an endpoint, or a list of addresses.
pub(super) fn endpoints(value: &Value) -> Result<Vec<Endpoint>, Problem> {
    let one = |value: &Value| {
        let endpoint = string(value)?.parse();
        endpoint.or_else(|e: String| wrong(value, &e, "a peer without endpoint calls first"))
    };
    let Some(list) = value.list() else {
        return Ok(vec![one(value)?]);
    };
    if !(1..=MOST_ENDPOINTS).contains(&list.len()) {
        return wrong(
            value,
            &format!("a list of endpoints has 1 to {MOST_ENDPOINTS} addresses"),
            "a peer without endpoint calls first",
        );
    }
    let address = |value: &Value| match one(value)? {
        Endpoint::Name(..) => wrong(
            value,
            "a list of endpoints has addresses, not names",
            "a name may have several addresses of its own",
        ),
        address => Ok(address),
    };
    list.iter().map(address).collect()
}

/// Reads a time within bounds.
fn between(value: &Value, least: Duration, most: Duration) -> Result<Duration, Problem> {
    match parsed(value)? {
        time if (least..=most).contains(&time) => Ok(time),
        time => {
            let message = format!("{time} is out of range: it has to be from {least} to {most}");
            Err(Problem::new(value.span, message))
        }
    }
}

/// The bound on the data that a tunnel may have queued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    /// An amount.
    Amount(Bytes),
    /// The delay of the queue in which the contract is still held.
    Queue(Duration),
    /// No bound.
    None,
}

/// Reads the limit of a service.
pub(super) fn limit(value: &Value) -> Result<Limit, Problem> {
    let text = string(value)?;
    match (text.parse(), text.parse::<Duration>()) {
        _ if text == "none" => Ok(Limit::None),
        (Ok(amount), _) => Ok(Limit::Amount(amount)),
        (_, Ok(queue)) if !queue.is_zero() => Ok(Limit::Queue(queue)),
        _ => wrong(
            value,
            "limit has to be an amount, a time or \"none\"",
            "such as \"250 ms\", the longest queue in which the contract is held, or \"100 KB\"",
        ),
    }
}

const DAY: Duration = Duration::from_secs(86_400);

pub(super) fn lasting(value: &Value) -> Result<Duration, Problem> {
    between(value, Duration::from_secs(5), DAY)
}

pub(super) fn rearm(value: &Value) -> Result<Duration, Problem> {
    between(value, Duration::from_secs(1), DAY)
}

/// Reads the time without reports. Returns `None` for "never".
pub(super) fn blind(value: &Value) -> Result<Option<Duration>, Problem> {
    match value.text() {
        Some("never") => Ok(None),
        _ => lasting(value).map(Some),
    }
}

pub(super) fn keepalive(value: &Value) -> Result<u16, Problem> {
    let time = between(value, Duration::from_secs(1), Duration::from_secs(65_535))?;
    Ok(time.as_secs_f64().round() as u16)
}

/// Reads a bound of virtual delay, which bounds the effect of a hostile router.
pub(super) fn virtual_delay(value: &Value) -> Result<Duration, Problem> {
    let most = Duration::from_secs(1);
    match parsed::<Duration>(value)? {
        bound if !bound.is_zero() && bound <= most => Ok(bound),
        _ => wrong(
            value,
            &format!("virtual_delay has to be above 0 and up to {most}"),
            "it is the most that counts of what routers write; leave it out if none does",
        ),
    }
}

pub(super) fn lost(value: &Value) -> Result<f64, Problem> {
    match probability(value)? {
        0.0 => wrong(value, "a loss of 0 trips at once", "such as \"25 %\" or 0.25"),
        share => Ok(share),
    }
}

/// Checks the name of a peer or a class.
pub(super) fn check_name(entry: &accord_form::Entry) -> Result<(), Problem> {
    if is_name(&entry.key) {
        return Ok(());
    }
    let hint = "names have letters, digits, - and _, at most 40 of them";
    Err(Problem::new(entry.span, format!("{} is not a name", quote(&entry.key))).hint(hint))
}
