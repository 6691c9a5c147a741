//! Site files from files of wg-quick [wg-quick(8), wg(8)].

use super::read::ConfigError;
use super::site::address;
use crate::keys::{PrivateKey, PublicKey, SharedKey};
use accord_units::Rate;
use ipnet::IpNet;
use std::fmt::{Display, Write};
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

/// The port and the mark if a file of wg-quick has none. `wg` takes a random port then, wg-quick this mark.
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
    /// The settings that the site file does not have, each with its line.
    pub notes: Vec<String>,
}

/// A setting of a file of wg-quick.
struct Setting<'s> {
    key: &'s str,
    value: &'s str,
    line: usize,
    span: Range<usize>,
}

impl<'s> Setting<'s> {
    fn wrong(&self, expected: impl Display) -> ConfigError {
        let key = self.key;
        ConfigError::new(self.span.clone(), format!("{key} is wrong: expected {expected}"))
    }

    fn key<K: FromStr<Err = String>>(&self) -> Result<K, ConfigError> {
        self.value.parse().map_err(|e: String| ConfigError::new(self.span.clone(), e))
    }

    /// Returns the value, read as a number or as `off`, which is zero.
    fn number(&self, most: u32) -> Result<u32, ConfigError> {
        let value = self.value.to_ascii_lowercase();
        let number = match value.strip_prefix("0x") {
            Some(hex) => u32::from_str_radix(hex, 16).ok(),
            None if value == "off" => Some(0),
            None => value.parse().ok(),
        };
        let number = number.filter(|n| *n <= most);
        number.ok_or_else(|| self.wrong(format!("\"off\" or a number from 0 to {most}")))
    }

    /// Returns the addresses of a list. An address without a prefix has a full one.
    fn networks(&self) -> Result<Vec<IpNet>, ConfigError> {
        let parts = self.value.split(',').map(str::trim).filter(|p| !p.is_empty());
        let read = |part: &str| {
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
    /// The comment above or below its head, which people use for a name.
    comment: Option<&'s str>,
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

    fn need(&self, key: &str) -> Result<&Setting<'s>, ConfigError> {
        let message = || format!("[{}] needs {key}", self.name);
        (self.last(key)).ok_or_else(|| ConfigError::new(self.span.clone(), message()))
    }

    fn networks(&self, key: &str) -> Result<Vec<IpNet>, ConfigError> {
        let lists: Result<Vec<_>, _> = self.all(key).map(Setting::networks).collect();
        Ok(lists?.concat())
    }

    /// Refuses settings that wg-quick does not know.
    fn check(&self, known: &[&str]) -> Result<(), ConfigError> {
        let is_known = |s: &&Setting| known.iter().any(|k| s.key.eq_ignore_ascii_case(k));
        match self.settings.iter().find(|s| !is_known(s)) {
            None => Ok(()),
            Some(setting) => {
                let message = format!("[{}] has no key \"{}\"", self.name, setting.key);
                let hint = format!("its keys are {}", known.join(", "));
                Err(ConfigError::new(setting.span.clone(), message).hint(hint))
            }
        }
    }
}

const TAKEN: [&str; 5] = ["PrivateKey", "Address", "ListenPort", "FwMark", "MTU"];
/// The settings that are not taken, and the reason or the remedy.
const LEFT: [(&str, &str); 7] = [
    ("DNS", "the gateway sets no resolver of the host"),
    ("Table", "the gateway sets the routes to the networks of its peers"),
    ("PreUp", "a unit has ExecStartPre for it"),
    ("PostUp", "a unit has ExecStartPost for it"),
    ("PreDown", "a unit has ExecStop for it"),
    ("PostDown", "a unit has ExecStopPost for it"),
    ("SaveConfig", "the gateway writes no site file"),
];
const PEER: &[&str] =
    &["PublicKey", "PresharedKey", "AllowedIPs", "Endpoint", "PersistentKeepalive"];

/// Reads a file of wg-quick. `name` is the name of its interface, and `cap` that of each tunnel.
///
/// # Errors
/// Fails at the first line that wg-quick would refuse, or that the gateway has no equal of.
pub fn import(source: &str, name: &str, cap: Rate) -> Result<Imported, ConfigError> {
    let whole = 0..source.len().min(1);
    if !super::is_device(name) {
        let message = "the name of the file, without its end, has to be that of an interface: 1 to 15 \
                       letters, digits, - and _";
        return Err(ConfigError::new(whole, message));
    }
    let is = |section: &Section, name| section.name.eq_ignore_ascii_case(name);
    let sections = sections(source)?.into_iter();
    let (interfaces, peers): (Vec<_>, Vec<_>) = sections.partition(|s| is(s, "interface"));
    if let Some(other) = peers.iter().find(|s| !is(s, "peer")) {
        let message = format!("there is no section [{}]", other.name);
        let hint = "sections are [Interface] and [Peer]";
        return Err(ConfigError::new(other.span.clone(), message).hint(hint));
    }
    let [interface] = &interfaces[..] else {
        let message = "a file of wg-quick has one section [Interface]";
        return Err(ConfigError::new(whole, message));
    };
    interface.check(&[&TAKEN[..], &LEFT.map(|(key, _)| key)].concat())?;
    let mut notes = Vec::new();
    for setting in &interface.settings {
        let left = LEFT.iter().find(|(key, _)| setting.key.eq_ignore_ascii_case(key));
        if let Some((key, why)) = left {
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
    // wg-quick sets no route to a network that an address of the device has one to already.
    let mut addresses = interface.networks("Address")?;
    for own in &mut addresses {
        let full = IpNet::from(own.addr());
        if *own != full && peers.iter().any(|p| p.networks.contains(&own.trunc())) {
            notes.push(format!("the address {own} is {full}: its network is behind a peer"));
            *own = full;
        }
    }
    let mut port = interface.last("ListenPort").map_or(Ok(0), |s| s.number(65_535))?;
    if port == 0 {
        notes.push(format!("there is no ListenPort: the gateway listens at {PORT}"));
        port = PORT;
    }
    let over_v6 = peers.iter().any(|p| p.endpoint.as_ref().is_some_and(|e| e.starts_with('[')));
    let listen = if over_v6 { "[::]" } else { "0.0.0.0" };
    let whole_internet = peers.iter().any(|p| p.networks.iter().any(|n| n.prefix_len() == 0));
    let mark = match interface.last("FwMark") {
        Some(setting) => setting.number(u32::MAX)?,
        None if whole_internet => MARK,
        None => 0,
    };
    let mut text = format!(
        "# Imported from {name}.conf of wg-quick.\n[gateway]\nkey = \"{name}.key\"\nlisten = \"{listen}:{port}\"\n\
         device = \"{name}\"\nstatus = \"/run/accord-gateway-{name}/status.sock\"\n"
    );
    let line = |text: &mut String, key: &str, value: &dyn Display| {
        let _ = writeln!(text, "{key} = {value}");
    };
    line(&mut text, "address", &list(&addresses));
    if let Some(setting) = interface.last("MTU") {
        let range = || setting.wrong("a number of bytes from 576 to 9000");
        let mtu = setting.number(9000).ok().filter(|n| *n >= 576);
        line(&mut text, "mtu", &mtu.ok_or_else(range)?);
    }
    if mark != 0 {
        line(&mut text, "fwmark", &mark);
    }
    let mut shared = Vec::new();
    for peer in &peers {
        let _ = write!(text, "\n[peer.{}]\n", peer.name);
        line(&mut text, "public_key", &format!("\"{}\"", peer.public));
        if let Some(key) = &peer.shared {
            let file = format!("{name}-{}.psk", peer.name);
            line(&mut text, "preshared_key", &format!("\"{file}\""));
            shared.push((file, key.clone()));
        }
        if let Some(endpoint) = &peer.endpoint {
            line(&mut text, "endpoint", &format!("\"{endpoint}\""));
        }
        line(&mut text, "networks", &list(&peer.networks));
        line(&mut text, "cap", &format!("\"{cap}\""));
        if peer.keepalive > 0 {
            line(&mut text, "keepalive", &format!("\"{} s\"", peer.keepalive));
        }
    }
    // The rules between the parts are those of site files.
    super::parse(&text, Path::new("")).map_err(|e| ConfigError { span: whole, ..e })?;
    Ok(Imported { site: text, key: (format!("{name}.key"), private), shared, notes })
}

fn list(networks: &[IpNet]) -> String {
    let texts: Vec<String> = networks.iter().map(|n| format!("\"{n}\"")).collect();
    format!("[{}]", texts.join(", "))
}

/// A peer of a file of wg-quick.
struct Peer {
    name: String,
    public: PublicKey,
    shared: Option<SharedKey>,
    networks: Vec<IpNet>,
    endpoint: Option<String>,
    keepalive: u32,
}

impl Peer {
    fn read(section: &Section, place: usize) -> Result<Peer, ConfigError> {
        section.check(PEER)?;
        let public = section.need("PublicKey")?;
        let shared = section.last("PresharedKey").map(Setting::key);
        let endpoint = section.last("Endpoint").map(|setting| {
            let endpoint = setting.value.parse::<super::Endpoint>();
            let wrong = |_| setting.wrong("a host and a port, such as 192.0.2.1:51820");
            endpoint.map(|e| e.to_string()).map_err(wrong)
        });
        let keepalive = section.last("PersistentKeepalive");
        let mut networks = Vec::new();
        for network in section.networks("AllowedIPs")? {
            let network = network.trunc();
            if !networks.contains(&network) {
                networks.push(network);
            }
        }
        let comment = section.comment.map(|text| {
            let text = text.trim_start_matches('#').trim();
            let is_named = |(key, _): &(&str, &str)| key.trim().eq_ignore_ascii_case("name");
            text.split_once('=').filter(is_named).map_or(text, |(_, name)| name.trim())
        });
        let name = comment.filter(|name| super::read::is_name(name));
        Ok(Peer {
            name: name.map_or_else(|| format!("peer{}", place + 1), String::from),
            public: public.key()?,
            shared: shared.transpose()?,
            networks,
            endpoint: endpoint.transpose()?,
            keepalive: keepalive.map_or(Ok(0), |setting| setting.number(65_535))?,
        })
    }
}

/// Returns the sections of a file of wg-quick, in their order.
fn sections(source: &str) -> Result<Vec<Section<'_>>, ConfigError> {
    let mut sections: Vec<Section> = Vec::new();
    let (mut start, mut above) = (0, None);
    for (number, line) in source.split('\n').enumerate() {
        let span = start..start + line.len();
        start += line.len() + 1;
        let (text, comment) = match line.split_once('#') {
            Some((text, comment)) => (text.trim(), Some(comment.trim())),
            None => (line.trim(), None),
        };
        if let Some(name) = text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
            sections.push(Section {
                name: name.trim(),
                comment: comment.or(above),
                span,
                settings: Vec::new(),
            });
        } else if !text.is_empty() {
            let (Some((key, value)), Some(section)) = (text.split_once('='), sections.last_mut())
            else {
                let message = "expected a section such as [Interface], or KEY = VALUE in one";
                return Err(ConfigError::new(span, message));
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
mod tests {
    use super::super::{Endpoint, parse};
    use super::*;
    use proptest::prelude::*;

    const PRIVATE: &str = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
    const SHARED: &str = "FpCyhws9cxwWoV4xELtfJvjJN+zQVRPISllRWgeopVE=";
    const CAP: Rate = Rate::from_bps(50_000_000);

    /// The public key of the private key of 32 times this byte.
    fn public(byte: u8) -> String {
        PrivateKey::new([byte; 32]).public().to_string()
    }

    fn read(source: &str) -> Result<Imported, String> {
        import(source, "wg0", CAP).map_err(|e| {
            let (line, _) = e.position(source);
            format!("line {line}: {e}")
        })
    }

    /// A site behind NAT that joins another one, as wg-quick(8) has it, with a preshared key and hooks.
    #[test]
    fn a_site_is_imported() {
        let source = format!(
            "# the branch\n[Interface]\nPrivateKey = {PRIVATE}\nAddress = 10.200.100.8/24, fd00::8/64\n\
             DNS = 10.200.100.1 # of the head office\nListenPort = 51821\nMTU = 1380\n\
             PostUp = iptables -A FORWARD -i %i -j ACCEPT; wg set %i private-key <(pass {PRIVATE})\n\n\
             [Peer]\n# Name = office\nPublicKey = {}\npresharedkey={SHARED}\n\
             AllowedIPs = 10.200.100.0/24,10.9.0.7\nAllowedIPs=10.8.1.1/16\n\
             Endpoint = demo.wireguard.com:51820\nPersistentKeepalive = 25\n\r\n",
            public(1)
        );
        let imported = read(&source).expect("imported");
        let site = parse(&imported.site, Path::new("")).expect("a site");
        let own: Vec<String> = site.interface.addresses.iter().map(IpNet::to_string).collect();
        // The network of the first address is behind the peer.
        assert_eq!(own, ["10.200.100.8/32", "fd00::8/64"]);
        assert_eq!(site.interface.listen.to_string(), "0.0.0.0:51821");
        assert_eq!((site.interface.mtu, site.interface.finds_mtu), (1380, false));
        assert_eq!(site.interface.device, "wg0");
        let peer = &site.peers[0];
        assert_eq!((peer.name.as_str(), peer.cap), ("office", CAP));
        let name = Endpoint::Name("demo.wireguard.com".into(), 51820);
        assert_eq!((&peer.endpoint, peer.keepalive), (&Some(name), Some(25)));
        let networks: Vec<String> = peer.networks.iter().map(IpNet::to_string).collect();
        assert_eq!(networks, ["10.200.100.0/24", "10.9.0.7/32", "10.8.0.0/16"]);
        assert_eq!(peer.preshared_key.as_deref(), Some(Path::new("wg0-office.psk")));
        // Keys are in their files, and nowhere else.
        assert_eq!(imported.key.0, "wg0.key");
        assert_eq!(imported.key.1.public(), PRIVATE.parse::<PrivateKey>().expect("a key").public());
        assert_eq!(imported.shared, [("wg0-office.psk".into(), SHARED.parse().expect("a key"))]);
        let notes = imported.notes.join("\n");
        for line in ["line 5: DNS", "line 8: PostUp", "10.200.100.8/24 is 10.200.100.8/32"] {
            assert!(notes.contains(line), "{notes}");
        }
        let debug = format!("{imported:?}{notes}");
        assert!(!debug.contains(PRIVATE) && !debug.contains(SHARED), "{debug}");
    }

    /// A client that sends all through its tunnel, and a server of two clients.
    #[test]
    fn clients_and_servers_are_imported() {
        let all = format!(
            "[Interface]\nPrivateKey = {PRIVATE}\nAddress = 10.0.0.2\n[Peer]\nPublicKey = {}\n\
             AllowedIPs = 0.0.0.0/0, ::/0\nEndpoint = 192.0.2.1:51820\n",
            public(1)
        );
        let imported = read(&all).expect("imported");
        let site = parse(&imported.site, Path::new("")).expect("a site");
        assert_eq!(site.interface.fwmark, Some(51820));
        assert_eq!(site.peers[0].name, "peer1");
        let marked = all.replacen("[Peer]", "FwMark = 0xca6c\n[Peer]", 1);
        let site = parse(&read(&marked).expect("imported").site, Path::new("")).expect("a site");
        assert_eq!(site.interface.fwmark, Some(0xca6c));
        let server = format!(
            "[Interface]\nPrivateKey = {PRIVATE}\nAddress = 10.0.0.1/24\nListenPort = 7\nSaveConfig = true\n\
             # alice\n[Peer]\nPublicKey = {}\nAllowedIPs = 10.0.0.2/32\n\
             [Peer]\n# alice\nPublicKey = {}\nAllowedIPs = 10.0.0.3/32\nPersistentKeepalive = off\n",
            public(1),
            public(2)
        );
        let imported = read(&server).expect("imported");
        let site = parse(&imported.site, Path::new("")).expect("a site");
        let names: Vec<&str> = site.peers.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["alice", "peer2"]);
        assert!(site.peers.iter().all(|p| p.endpoint.is_none() && p.keepalive.is_none()));
        assert_eq!(site.interface.addresses[0].prefix_len(), 24);
    }

    #[test]
    fn a_mistake_is_named_with_its_line() {
        let right = format!(
            "[Interface]\nPrivateKey = {PRIVATE}\nAddress = 10.0.0.1/24\n[Peer]\nPublicKey = {}\n\
             AllowedIPs = 10.0.1.0/24\nEndpoint = 192.0.2.1:51820\n",
            public(1)
        );
        assert!(read(&right).is_ok());
        for (old, new, wanted) in [
            (PRIVATE, "short", "line 2: expected a key"),
            ("PrivateKey", "PrivatKey", "line 2: [Interface] has no key \"PrivatKey\""),
            ("Address", "PrivateKey", "line 3: expected a key"),
            ("10.0.0.1/24", "10.0.0.1/33", "line 3: Address is wrong"),
            ("10.0.1.0/24", "everywhere", "line 6: AllowedIPs is wrong"),
            ("192.0.2.1:51820", "192.0.2.1", "line 7: Endpoint is wrong"),
            ("192.0.2.1:51820", "a\"b:1", "line 7: Endpoint is wrong"),
            ("Endpoint = ", "Endpoint ", "line 7: expected a section"),
            ("[Peer]", "[Pear]", "line 4: there is no section [Pear]"),
            ("[Interface]", "", "line 2: expected a section"),
            ("[Peer]", "[Interface]", "one section [Interface]"),
            ("PublicKey", "# PublicKey", "line 4: [Peer] needs PublicKey"),
            ("Address", "ListenPort = 70000\nAddress", "line 3: ListenPort is wrong"),
            ("Address", "MTU = 100\nAddress", "line 3: MTU is wrong"),
            ("10.0.1.0/24", "192.0.2.0/24", "the endpoint 192.0.2.1:51820"),
        ] {
            let wrong = right.replacen(old, new, 1);
            let why = read(&wrong).map(|_| ()).expect_err(&wrong);
            assert!(why.contains(wanted), "{why} in\n{wrong}");
            assert!(!why.contains(PRIVATE), "{why}");
        }
        for name in ["", "a-name-that-is-too-long", "a b", "a\"b", "../x"] {
            assert!(import(&right, name, CAP).is_err(), "{name}");
        }
    }

    proptest! {
        /// Whatever the file says, it is refused, or becomes a site file that is read, and no key is shown.
        #[test]
        fn any_file_is_imported_or_refused(
            lines in prop::collection::vec(
                prop_oneof![
                    Just("[Interface]".to_string()),
                    Just("[Peer]".to_string()),
                    Just(format!("PrivateKey = {PRIVATE}")),
                    Just(format!("PresharedKey = {SHARED}")),
                    (1u8..5).prop_map(|n| format!("PublicKey = {}", public(n))),
                    "(Address|AllowedIPs) ?= ?[0-9a-f.:/, ]{0,30}",
                    "(Endpoint|FwMark|MTU|ListenPort|PersistentKeepalive) = [a-z0-9x.:\\[\\]]{0,20}",
                    "#? ?(Name = )?[a-z\"\\\\\u{e9}]{0,10}",
                    ".{0,60}",
                ],
                0..16,
            ),
            bytes in prop::collection::vec(any::<u8>(), 0..100),
        ) {
            let _ = read(&String::from_utf8_lossy(&bytes));
            let lines = [vec!["[Interface]".into(), format!("PrivateKey = {PRIVATE}")], lines].concat();
            match read(&lines.join("\n")) {
                Ok(imported) => {
                    prop_assert!(parse(&imported.site, Path::new("")).is_ok());
                    prop_assert!(!imported.site.contains(PRIVATE) && !imported.site.contains(SHARED));
                    let notes = imported.notes.concat();
                    prop_assert!(!notes.contains(PRIVATE) && !notes.contains(SHARED));
                }
                Err(why) => prop_assert!(!why.contains(PRIVATE) && !why.contains(SHARED), "{}", why),
            }
        }
    }
}
