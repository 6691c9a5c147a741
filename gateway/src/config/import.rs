//! Conversion of wg-quick files to site files [wg-quick(8), wg(8)].

use super::hidden;
use super::site::address;
use crate::keys::{PrivateKey, PublicKey, SharedKey};
use accord_form::{Errors, Problem, Source, Span};
use accord_units::Rate;
use ipnet::IpNet;
use std::fmt::{Display, Write};
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

/// The port and the mark for a file of wg-quick without them. In this case `wg` takes a random port, and
/// wg-quick this mark.
const PORT: u32 = 51820;
const MARK: u32 = 51820;

/// The files of a gateway, from a file of wg-quick.
#[derive(Debug)]
pub struct Imported {
    /// The text of the site file.
    pub site: String,
    /// The private key and the name of its file.
    pub key: (String, PrivateKey),
    /// The preshared keys and the names of their files.
    pub shared: Vec<(String, SharedKey)>,
    /// The settings that are missing in the site file, each with its line.
    pub notes: Vec<String>,
}

fn wrong(span: Range<usize>, message: impl Into<String>) -> Problem {
    Problem::new(Span::new(0, span), message)
}

/// A setting of a file of wg-quick.
struct Setting<'s> {
    key: &'s str,
    value: &'s str,
    line: usize,
    span: Range<usize>,
}

impl<'s> Setting<'s> {
    fn wrong(&self, expected: impl Display) -> Problem {
        let key = self.key;
        wrong(self.span.clone(), format!("{key} is wrong: expected {expected}"))
    }

    fn key<K: FromStr<Err = String>>(&self) -> Result<K, Problem> {
        self.value.parse().map_err(|e: String| wrong(self.span.clone(), e))
    }

    /// Returns the value, read as a number or as `off`, which is zero.
    fn number(&self, most: u32) -> Result<u32, Problem> {
        let value = self.value.to_ascii_lowercase();
        let number = match value.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None if value == "off" => Some(0),
            None => value.parse().ok(),
        };
        let number = number.filter(|n| *n <= most);
        number.ok_or_else(|| self.wrong(format!("\"off\" or a number from 0 to {most}")))
    }

    /// Returns the addresses of a list. An address without a prefix has a full one. `wg` adds a network with
    /// a plus sign to the existing ones, which is the normal case in a file.
    fn networks(&self) -> Result<Vec<IpNet>, Problem> {
        let parts = self.value.split(',').map(str::trim).filter(|p| !p.is_empty());
        let read = |part: &str| {
            let part = part.strip_prefix('+').unwrap_or(part);
            let full = if part.contains(':') { 128 } else { 32 };
            if part.contains('/') { address(part) } else { address(&format!("{part}/{full}")) }
        };
        let wrong = |_| self.wrong("addresses with prefixes, such as 10.1.0.0/24, between commas");
        parts.map(|part| read(part).map_err(wrong)).collect()
    }
}

/// A section of a file of wg-quick.
struct Section<'s> {
    name: &'s str,
    /// The comment above or below the head of the section, which people use for a name.
    comment: Option<&'s str>,
    line: usize,
    span: Range<usize>,
    settings: Vec<Setting<'s>>,
}

impl<'s> Section<'s> {
    fn all(&self, key: &str) -> impl Iterator<Item = &Setting<'s>> {
        let found = move |s: &&Setting| s.key.eq_ignore_ascii_case(key);
        self.settings.iter().filter(found)
    }

    /// The last setting of this key, as in `wg`.
    fn last(&self, key: &str) -> Option<&Setting<'s>> {
        self.all(key).last()
    }

    fn need(&self, key: &str) -> Result<&Setting<'s>, Problem> {
        let message = || format!("[{}] needs {key}", self.name);
        (self.last(key)).ok_or_else(|| wrong(self.span.clone(), message()))
    }

    /// Returns the networks of all lists, with the places of the lists.
    fn networks(&self, key: &str) -> Result<Vec<(IpNet, Range<usize>)>, Problem> {
        let mut all = Vec::new();
        for setting in self.all(key) {
            all.extend(setting.networks()?.into_iter().map(|n| (n, setting.span.clone())));
        }
        Ok(all)
    }

    /// Returns the place of a setting, or that of the section if it lacks the setting.
    fn place(&self, key: &str) -> Range<usize> {
        self.last(key).map_or(self.span.clone(), |setting| setting.span.clone())
    }

    /// Rejects settings that wg-quick does not know.
    fn check(&self, known: &[&str]) -> Result<(), Problem> {
        let is_known = |s: &&Setting| known.iter().any(|k| s.key.eq_ignore_ascii_case(k));
        match self.settings.iter().find(|s| !is_known(s)) {
            None => Ok(()),
            Some(setting) => {
                let message = format!("[{}] has no key \"{}\"", self.name, setting.key);
                let hint = format!("its keys are {}", known.join(", "));
                Err(wrong(setting.span.clone(), message).hint(hint))
            }
        }
    }
}

const TAKEN: [&str; 5] = ["PrivateKey", "Address", "ListenPort", "FwMark", "MTU"];
/// The settings that are left out, and the reason or the remedy. [`refuse`] rejects those without which the
/// host would do the opposite.
const LEFT: [(&str, &str); 7] = [
    ("DNS", "the gateway does not set the host's resolver"),
    ("Table", "the gateway sets the routes to the networks of its peers"),
    ("PreUp", "a unit has ExecStartPre for it"),
    ("PostUp", "a unit has ExecStartPost for it"),
    ("PreDown", "a unit has ExecStop for it"),
    ("PostDown", "a unit has ExecStopPost for it"),
    ("SaveConfig", "the gateway writes no site file"),
];
/// The words in commands of iptables, nftables and iproute2 that keep packets from leaving.
const STOPS: [&str; 5] = ["drop", "reject", "blackhole", "unreachable", "prohibit"];

/// Rejects a setting of [`LEFT`] without which the host would do the opposite. Returns whether its absence
/// has no effect at all.
fn refuse(setting: &Setting) -> Result<bool, Problem> {
    let (key, value) = (setting.key, setting.value.to_ascii_lowercase());
    let refused = |why: String, hint: &str| {
        let message = format!("{key} cannot be taken: {why}");
        Err(wrong(setting.span.clone(), message).hint(hint))
    };
    match key.to_ascii_lowercase().as_str() {
        "table" if value == "auto" => Ok(true),
        "table" => refused(
            format!(
                "with {} wg-quick leaves the host's routes as they are, and the gateway sets routes to \
                 all AllowedIPs",
                match value.as_str() {
                    "off" => "\"off\"",
                    _ => "a table of its own",
                }
            ),
            "remove Table, and write those AllowedIPs that the host is to have routes to",
        ),
        "saveconfig" if value == "false" => Ok(true),
        "saveconfig" if value != "true" => Err(setting.wrong("true or false")),
        "saveconfig" | "dns" => Ok(false),
        // The hooks.
        _ => {
            let mut words = value.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
            if words.clone().any(|word| STOPS.contains(&word)) {
                return refused(
                    "it stops packets, which would leave in the clear without it".into(),
                    "remove it, and write guard = true below [gateway] of the site file",
                );
            }
            if words.any(|word| matches!(word, "private-key" | "preshared-key")) {
                return refused(
                    "it sets a key, and the tunnel would have another one".into(),
                    "remove it, and write the key as PrivateKey or PresharedKey",
                );
            }
            Ok(false)
        }
    }
}

/// The text of a site file, with the place of each part in the source.
struct Text {
    text: String,
    places: Vec<(usize, Range<usize>)>,
}

impl Text {
    /// Adds a text from a place.
    fn add(&mut self, place: &Range<usize>, text: impl Display) {
        self.places.push((self.text.len(), place.clone()));
        let _ = write!(self.text, "{text}");
    }

    fn line(&mut self, place: &Range<usize>, key: &str, value: impl Display) {
        self.add(place, format_args!("{key} = {value}\n"));
    }

    /// Adds a list with entries from places.
    fn networks(&mut self, section: &Range<usize>, key: &str, list: &[(IpNet, Range<usize>)]) {
        self.add(section, format_args!("{key} = ["));
        for (i, (network, place)) in list.iter().enumerate() {
            self.add(place, format_args!("{}\"{network}\"", if i == 0 { "" } else { ", " }));
        }
        self.add(section, "]\n");
    }

    /// Returns the place in the source of an error in the text.
    fn source(&self, e: Problem) -> Problem {
        let part = self.places.iter().rfind(|(start, _)| *start <= e.span.start as usize);
        Problem { span: Span::new(0, part.map_or(0..0, |(_, place)| place.clone())), ..e }
    }
}
const PEER: &[&str] =
    &["PublicKey", "PresharedKey", "AllowedIPs", "Endpoint", "PersistentKeepalive"];

/// Reads a file of wg-quick. `file` is its name in errors, `name` is the name of its interface, and `cap` that of each tunnel.
///
/// # Errors
/// Fails at the first line that wg-quick would reject, or for which the gateway has no equivalent.
pub fn import(file: &str, source: &str, name: &str, cap: Rate) -> Result<Imported, Errors> {
    imported(source, name, cap).map_err(|problem| {
        let origin = Source { name: file.to_string(), text: source.to_string() };
        hidden(problem.locate(&[Arc::new(origin)]).into())
    })
}

fn imported(source: &str, name: &str, cap: Rate) -> Result<Imported, Problem> {
    let whole = 0..source.len().min(1);
    if !super::is_device(name) {
        let message = "the name of the file, without its end, has to be that of an interface: 1 to 15 \
                       letters, digits, - and _";
        return Err(wrong(whole, message));
    }
    let is = |section: &Section, name| section.name.eq_ignore_ascii_case(name);
    let sections = sections(source)?.into_iter();
    let (interfaces, peers): (Vec<_>, Vec<_>) = sections.partition(|s| is(s, "interface"));
    if let Some(other) = peers.iter().find(|s| !is(s, "peer")) {
        let message = format!("there is no section [{}]", other.name);
        let hint = "sections are [Interface] and [Peer]";
        return Err(wrong(other.span.clone(), message).hint(hint));
    }
    let [interface] = &interfaces[..] else {
        let message = "a file of wg-quick has one section [Interface]";
        return Err(wrong(whole, message));
    };
    interface.check(&[&TAKEN[..], &LEFT.map(|(key, _)| key)].concat())?;
    let mut notes = Vec::new();
    for setting in &interface.settings {
        let left = LEFT.iter().find(|(key, _)| setting.key.eq_ignore_ascii_case(key));
        if let Some((key, why)) = left
            && !refuse(setting)?
        {
            notes.push(format!("line {}: {key} is not taken: {why}", setting.line));
        }
    }
    let private = interface.need("PrivateKey")?.key::<PrivateKey>()?;
    let peers = peers.iter().enumerate().map(|(place, peer)| Peer::read(peer, place));
    let mut peers = peers.collect::<Result<Vec<Peer>, _>>()?;
    for place in 1..peers.len() {
        if (0..place).any(|other| peers[other].name == peers[place].name) {
            peers[place].name = format!("peer{}", place + 1);
        }
    }
    // wg-quick sets no route to a network to which an address of the device already has one.
    let mut addresses = interface.networks("Address")?;
    for (own, _) in &mut addresses {
        let full = IpNet::from(own.addr());
        let behind = |p: &Peer| p.networks.iter().any(|(n, _)| *n == own.trunc());
        if *own != full && peers.iter().any(behind) {
            notes.push(format!("the address {own} becomes {full}: its network is behind a peer"));
            *own = full;
        }
    }
    let mut port = interface.last("ListenPort").map_or(Ok(0), |s| s.number(65_535))?;
    if port == 0 {
        notes.push(format!("there is no ListenPort: the gateway listens at {PORT}"));
        port = PORT;
    }
    for peer in peers.iter().filter(|peer| peer.networks.is_empty()) {
        notes.push(format!(
            "line {}: peer {} has no AllowedIPs: no packets are for it, and none of it are taken",
            peer.section.line, peer.name
        ));
    }
    let whole_internet = peers.iter().any(|p| p.networks.iter().any(|(n, _)| n.prefix_len() == 0));
    let mark = match interface.last("FwMark").map(|setting| setting.number(u32::MAX)).transpose()? {
        // In this case wg-quick uses its own mark, whether the mark is missing or "off".
        None | Some(0) if whole_internet => MARK,
        mark => mark.unwrap_or(0),
    };
    let (head, here) = (&interface.span, |key: &str| interface.place(key));
    let mut text = Text { text: String::new(), places: Vec::new() };
    text.add(head, format_args!("# Imported from {name}.conf of wg-quick.\n[gateway]\n"));
    text.line(&here("PrivateKey"), "key", format_args!("\"{name}.key\""));
    // The gateway listens over IPv4 and IPv6, as WireGuard does.
    text.line(&here("ListenPort"), "listen", format_args!("\"[::]:{port}\""));
    text.line(head, "device", format_args!("\"{name}\""));
    text.line(head, "status", format_args!("\"/run/accord-gateway-{name}/status.sock\""));
    text.networks(head, "address", &addresses);
    if let Some(setting) = interface.last("MTU") {
        let range = || setting.wrong("a number of bytes from 576 to 9000");
        let mtu = setting.number(9000).ok().filter(|n| *n >= 576);
        text.line(&setting.span, "mtu", mtu.ok_or_else(range)?);
    }
    if mark != 0 {
        text.line(&here("FwMark"), "fwmark", mark);
    }
    let mut shared = Vec::new();
    for peer in &peers {
        let section = peer.section;
        let (head, here) = (&section.span, |key: &str| section.place(key));
        text.add(head, format_args!("\n[peer.{}]\n", peer.name));
        text.line(&here("PublicKey"), "public_key", format_args!("\"{}\"", peer.public));
        if let Some(key) = &peer.shared {
            let file = format!("{name}-{}.psk", peer.name);
            text.line(&here("PresharedKey"), "preshared_key", format_args!("\"{file}\""));
            shared.push((file, key.clone()));
        }
        if let Some(endpoint) = &peer.endpoint {
            text.line(&here("Endpoint"), "endpoint", format_args!("\"{endpoint}\""));
        }
        text.networks(head, "networks", &peer.networks);
        text.line(head, "cap", format_args!("\"{cap}\""));
        if peer.keepalive > 0 {
            let seconds = format_args!("\"{} s\"", peer.keepalive);
            text.line(&here("PersistentKeepalive"), "keepalive", seconds);
        }
    }
    // The reader of site files checks the rules between the parts.
    super::parse("", &text.text).map_err(|errors| {
        let first = errors.into_iter().next().expect("there is one");
        text.source(first.into())
    })?;
    Ok(Imported { site: text.text, key: (format!("{name}.key"), private), shared, notes })
}

/// A peer of a file of wg-quick.
struct Peer<'s> {
    name: String,
    section: &'s Section<'s>,
    public: PublicKey,
    shared: Option<SharedKey>,
    /// The networks, with the places of their lists.
    networks: Vec<(IpNet, Range<usize>)>,
    endpoint: Option<String>,
    keepalive: u32,
}

impl<'s> Peer<'s> {
    fn read(section: &'s Section<'s>, place: usize) -> Result<Peer<'s>, Problem> {
        section.check(PEER)?;
        let public = section.need("PublicKey")?;
        let shared = section.last("PresharedKey").map(Setting::key);
        let endpoint = section.last("Endpoint").map(|setting| {
            let endpoint = setting.value.parse::<super::Endpoint>();
            let wrong = |_| setting.wrong("a host and a port, such as 192.0.2.1:51820");
            endpoint.map(|e| e.to_string()).map_err(wrong)
        });
        let keepalive = section.last("PersistentKeepalive");
        let mut networks: Vec<(IpNet, Range<usize>)> = Vec::new();
        for (network, place) in section.networks("AllowedIPs")? {
            let network = network.trunc();
            if networks.iter().all(|(other, _)| *other != network) {
                networks.push((network, place));
            }
        }
        let comment = section.comment.map(|text| {
            let text = text.trim_start_matches('#').trim();
            let is_named = |(key, _): &(&str, &str)| key.trim().eq_ignore_ascii_case("name");
            text.split_once('=').filter(is_named).map_or(text, |(_, name)| name.trim())
        });
        let name = comment.filter(|name| super::is_name(name));
        Ok(Peer {
            name: name.map_or_else(|| format!("peer{}", place + 1), String::from),
            section,
            public: public.key()?,
            shared: shared.transpose()?,
            networks,
            endpoint: endpoint.transpose()?,
            keepalive: keepalive.map_or(Ok(0), |setting| setting.number(65_535))?,
        })
    }
}

/// Returns the sections of a file of wg-quick, in their order.
fn sections(source: &str) -> Result<Vec<Section<'_>>, Problem> {
    let mut sections: Vec<Section> = Vec::new();
    let (mut start, mut above) = (0, None);
    for (number, line) in source.split('\n').enumerate() {
        let span = start..start + line.len();
        start += line.len() + 1;
        // Editors on Windows begin a file with a byte order mark.
        let line = line.trim_start_matches('\u{feff}');
        let (text, comment) = match line.split_once('#') {
            Some((text, comment)) => (text.trim(), Some(comment.trim())),
            None => (line.trim(), None),
        };
        if let Some(name) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            sections.push(Section {
                name: name.trim(),
                comment: comment.or(above),
                line: number + 1,
                span,
                settings: Vec::new(),
            });
        } else if !text.is_empty() {
            let (Some((key, value)), Some(section)) = (text.split_once('='), sections.last_mut())
            else {
                let message = "expected a section such as [Interface], or KEY = VALUE in one";
                return Err(wrong(span, message));
            };
            section.settings.push(Setting {
                key: key.trim(),
                value: value.trim(),
                line: number + 1,
                span,
            });
        } else if let (Some(section), Some(comment)) = (sections.last_mut(), comment)
            && section.settings.is_empty()
        {
            section.comment.get_or_insert(comment);
        }
        above = comment.filter(|_| text.is_empty());
    }
    Ok(sections)
}

#[cfg(test)]
mod tests;
