//! Files of wg-quick, accepted and rejected.

use super::super::{Endpoint, parse};
use super::*;
use proptest::prelude::*;
use std::path::Path;

const PRIVATE: &str = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
const SHARED: &str = "FpCyhws9cxwWoV4xELtfJvjJN+zQVRPISllRWgeopVE=";
const CAP: Rate = Rate::from_bps(50_000_000);

/// The public key of the private key of 32 times this byte.
fn public(byte: u8) -> String {
    PrivateKey::new([byte; 32]).public().to_string()
}

fn read(source: &str) -> Result<Imported, String> {
    import("wg0.conf", source, "wg0", CAP)
        .map_err(|e| super::super::brief(&e).replace(", column 1", ""))
}

/// A site behind NAT that joins another one, as in wg-quick(8), with a preshared key and hooks.
#[test]
fn a_site_is_imported() {
    let source = format!(
        "# the branch\n[Interface]\nPrivateKey = {PRIVATE}\nAddress = 10.200.100.8/24, fd00::8/64\n\
         DNS = 10.200.100.1 # of the head office\nListenPort = 51821\nMTU = 1380\n\
         PostUp = iptables -A FORWARD -i %i -j ACCEPT; echo {PRIVATE}\n\n\
         [Peer]\n# Name = office\nPublicKey = {}\npresharedkey={SHARED}\n\
         AllowedIPs = 10.200.100.0/24,10.9.0.7\nAllowedIPs=10.8.1.1/16\n\
         Endpoint = demo.wireguard.com:51820\nPersistentKeepalive = 25\n\r\n",
        public(1)
    );
    let imported = read(&source).expect("imported");
    let site = parse("", &imported.site).expect("a site");
    let own: Vec<String> = site.interface.addresses.iter().map(IpNet::to_string).collect();
    // The network of the first address is behind the peer.
    assert_eq!(own, ["10.200.100.8/32", "fd00::8/64"]);
    assert_eq!(site.interface.listen.to_string(), "[::]:51821");
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
    for line in ["line 5: DNS", "line 8: PostUp", "10.200.100.8/24 becomes 10.200.100.8/32"] {
        assert!(notes.contains(line), "{notes}");
    }
    let debug = format!("{imported:?}{notes}");
    assert!(!debug.contains(PRIVATE) && !debug.contains(SHARED), "{debug}");
}

/// A client that sends all traffic through its tunnel, and a server of two clients.
#[test]
fn clients_and_servers_are_imported() {
    let all = format!(
        "[Interface]\nPrivateKey = {PRIVATE}\nAddress = 10.0.0.2\n[Peer]\nPublicKey = {}\n\
         AllowedIPs = 0.0.0.0/0, ::/0\nEndpoint = 192.0.2.1:51820\n",
        public(1)
    );
    let imported = read(&all).expect("imported");
    let site = parse("", &imported.site).expect("a site");
    assert_eq!(site.interface.fwmark, Some(51820));
    assert_eq!(site.peers[0].name, "peer1");
    // In this case wg-quick also uses its own mark.
    let off = all.replacen("[Peer]", "FwMark = off\n[Peer]", 1);
    let site = parse("", &read(&off).expect("imported").site).expect("a site");
    assert_eq!(site.interface.fwmark, Some(51820));
    let marked = all.replacen("[Peer]", "FwMark = 0xca6c\n[Peer]", 1);
    let site = parse("", &read(&marked).expect("imported").site).expect("a site");
    assert_eq!(site.interface.fwmark, Some(0xca6c));
    let server = format!(
        "[Interface]\nPrivateKey = {PRIVATE}\nAddress = 10.0.0.1/24\nListenPort = 7\nSaveConfig = true\n\
         # alice\n[Peer]\nPublicKey = {}\nAllowedIPs = 10.0.0.2/32\n\
         [Peer]\n# alice\nPublicKey = {}\nAllowedIPs = 10.0.0.3/32\nPersistentKeepalive = off\n",
        public(1),
        public(2)
    );
    let imported = read(&server).expect("imported");
    let site = parse("", &imported.site).expect("a site");
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
        (
            "10.0.1.0/24",
            "192.0.2.0/24",
            "line 6: 192.0.2.0/24 is behind peer peer1, and the endpoint",
        ),
        ("10.0.1.0/24", "10.0.1.0/24\nAllowedIPs = 192.0.2.0/24", "line 7: 192.0.2.0/24"),
        ("Address", "FwMark = 254\nAddress", "line 3: fwmark has to be"),
        (
            "Endpoint",
            &format!("[Peer]\nPublicKey = {}\nEndpoint", public(1)),
            "line 8: peer peer2 has",
        ),
        (
            "Endpoint",
            &format!("[Peer]\nPublicKey = {}\nAllowedIPs = 10.0.1.0/24\nEndpoint", public(2)),
            "line 9: 10.0.1.0/24 is behind peer peer1 and peer peer2",
        ),
    ] {
        let wrong = right.replacen(old, new, 1);
        let why = read(&wrong).map(|_| ()).expect_err(&wrong);
        assert!(why.contains(wanted), "{why} in\n{wrong}");
        assert!(!why.contains(PRIVATE), "{why}");
    }
    for name in ["", "a-name-that-is-too-long", "a b", "a\"b", "../x"] {
        assert!(import("wg0.conf", &right, name, CAP).is_err(), "{name}");
    }
}

/// Without these settings the host would do the opposite of the file.
#[test]
fn what_cannot_be_left_out_is_refused() {
    let file = |more: &str| {
        format!(
            "[Interface]\nPrivateKey = {PRIVATE}\nAddress = 10.0.0.1/24\n{more}\n[Peer]\nPublicKey = {}\n\
             AllowedIPs = 0.0.0.0/0\nEndpoint = 192.0.2.1:51820\n",
            public(1)
        )
    };
    for (more, wanted) in [
        ("Table = off", "line 4: Table cannot be taken: with \"off\" wg-quick leaves"),
        ("table = 1234", "line 4: table cannot be taken: with a table of its own"),
        (
            "PostUp = iptables -I OUTPUT ! -o %i -j REJECT",
            "line 4: PostUp cannot be taken: it stops",
        ),
        ("PreUp = nft add rule ip f o drop", "guard = true"),
        ("PostUp = ip route add blackhole default metric 9", "it stops packets"),
        (
            "PostUp = wg set %i private-key /etc/key",
            "line 4: PostUp cannot be taken: it sets a key",
        ),
        ("PostUp = wg set %i peer x preshared-key <(pass y)", "it sets a key"),
        ("SaveConfig = maybe", "line 4: SaveConfig is wrong: expected true or false"),
    ] {
        let why = read(&file(more)).map(|_| ()).expect_err(more);
        assert!(why.contains(wanted), "{why}");
    }
    // Their absence has no effect, or none on the purpose of a tunnel.
    for (more, noted) in [
        ("Table = auto", false),
        ("SaveConfig = false", false),
        ("SaveConfig = true", true),
        ("DNS = 10.0.0.2", true),
        ("PostUp = iptables -t nat -A POSTROUTING -o eth0 -j MASQUERADE", true),
        ("PreDown = echo dropped", true),
    ] {
        let imported = read(&file(more)).expect(more);
        let told = imported.notes.iter().any(|note| note.starts_with("line 4: "));
        assert_eq!(told, noted, "{more}: {:?}", imported.notes);
    }
}

/// Peers of both families, a peer without networks, a mark of the file's encoding, and a plus sign.
#[test]
fn forms_of_files() {
    let source = format!(
        "\u{feff}[Interface]\r\nPrivateKey = {PRIVATE}\r\nListenPort = 7\r\n[Peer]\r\nPublicKey = {}\r\n\
         AllowedIPs = +10.1.0.0/16\r\nEndpoint = 192.0.2.1:51820\r\n[Peer]\r\n# far\r\nPublicKey = {}\r\n\
         Endpoint = [2001:db8::2]:51820\r\n",
        public(1),
        public(2)
    );
    let imported = read(&source).expect("imported");
    let site = parse("", &imported.site).expect("a site");
    assert_eq!(site.interface.listen.to_string(), "[::]:7");
    assert_eq!(site.peers[0].networks[0].to_string(), "10.1.0.0/16");
    assert_eq!(imported.notes.len(), 1, "{:?}", imported.notes);
    assert!(imported.notes[0].starts_with("line 8: peer far has no AllowedIPs"));
}

/// A random file of wg-quick, and the peers of its site file.
fn random() -> impl Strategy<Value = (String, Vec<Expected>, u32, Option<u16>)> {
    let peer = (
        prop::collection::vec((0u8..=255, 0u8..=255, 8u8..=32), 0..4),
        prop::option::of((any::<bool>(), 1u16..)),
        any::<bool>(),
        0u32..100,
        prop::option::of("[a-z][a-z0-9]{0,8}"),
    );
    let rest = (1u32..=65_535, prop::option::of(576u16..=9000), any::<bool>());
    (prop::collection::vec(peer, 0..6), rest).prop_map(|(peers, (port, mtu, lower))| {
        let key = |name: &str| if lower { name.to_lowercase() } else { name.to_string() };
        let mut text = format!("[Interface]\n{} = {PRIVATE}\n", key("PrivateKey"));
        text += &format!("{}={port}\nAddress = 172.31.255.1/24\n", key("ListenPort"));
        text.extend(mtu.map(|mtu| format!("MTU = {mtu} # bytes\n")));
        let mut expected = Vec::new();
        for (i, (networks, endpoint, shared, keepalive, name)) in peers.into_iter().enumerate() {
            // Each peer has its own networks, and none has an endpoint.
            let networks: std::collections::BTreeSet<String> = (networks.iter())
                .map(|(a, b, bits)| {
                    let address = [10 + i as u8, *a, *b, 0].map(u32::from);
                    let whole = address.iter().fold(0, |all, byte| all << 8 | byte);
                    let masked = whole & (u32::MAX << (32 - bits));
                    format!("{}/{bits}", std::net::Ipv4Addr::from(masked))
                })
                .collect();
            let endpoint = endpoint.map(|(v6, port)| match v6 {
                true => format!("[2001:db8::{:x}]:{port}", i + 1),
                false => format!("192.0.2.{}:{port}", i + 1),
            });
            text += &format!("[Peer]\n{} = {}\n", key("PublicKey"), public(10 + i as u8));
            // A comment that is not at the head is not a name.
            text.extend(name.iter().map(|name| format!("# {name}\n")));
            // In one list and in several.
            let (one, more): (Vec<_>, Vec<_>) =
                networks.iter().cloned().enumerate().partition(|(at, _)| at % 2 == 0);
            for list in [one, more] {
                let list: Vec<String> = list.into_iter().map(|(_, network)| network).collect();
                if !list.is_empty() {
                    text += &format!("{} = {}\n", key("AllowedIPs"), list.join(" , "));
                }
            }
            text.extend(endpoint.iter().map(|e| format!("{} = {e}\n", key("Endpoint"))));
            text.extend(shared.then(|| format!("{} = {SHARED}\n", key("PresharedKey"))));
            text += &format!("{} = {keepalive}\n", key("PersistentKeepalive"));
            expected.push(Expected { networks, endpoint, shared, keepalive });
        }
        (text, expected, port, mtu)
    })
}

/// A peer of the site file.
#[derive(Clone, Debug)]
struct Expected {
    networks: std::collections::BTreeSet<String>,
    endpoint: Option<String>,
    shared: bool,
    keepalive: u32,
}

proptest! {
    /// The site file has the same tunnel to the same peers.
    #[test]
    fn what_is_imported_and_read_is_the_same((text, expected, port, mtu) in random()) {
        let imported = read(&text).map_err(TestCaseError::fail)?;
        let site = parse("", &imported.site).expect("a site");
        prop_assert_eq!(u32::from(site.interface.listen.port()), port);
        prop_assert_eq!(site.interface.addresses[0].to_string(), "172.31.255.1/24");
        prop_assert_eq!(mtu.unwrap_or(1420), site.interface.mtu);
        prop_assert_eq!(mtu.is_none(), site.interface.finds_mtu);
        prop_assert_eq!(site.peers.len(), expected.len());
        for (i, (peer, expected)) in site.peers.iter().zip(&expected).enumerate() {
            prop_assert_eq!(peer.public_keys[0].to_string(), public(10 + i as u8));
            let networks = peer.networks.iter().map(IpNet::to_string).collect();
            prop_assert_eq!(&expected.networks, &networks);
            prop_assert_eq!(&expected.endpoint, &peer.endpoint.as_ref().map(Endpoint::to_string));
            prop_assert_eq!(expected.shared, peer.preshared_key.is_some());
            prop_assert_eq!(peer.keepalive.map_or(0, u32::from), expected.keepalive);
            prop_assert_eq!(peer.cap, CAP);
        }
        let empty = expected.iter().filter(|peer| peer.networks.is_empty()).count();
        prop_assert_eq!(imported.notes.len(), empty, "{:?}", imported.notes);
    }

    /// Any file is rejected or becomes a readable site file, and no key is shown.
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
                prop_assert!(parse("", &imported.site).is_ok());
                prop_assert!(!imported.site.contains(PRIVATE) && !imported.site.contains(SHARED));
                let notes = imported.notes.concat();
                prop_assert!(!notes.contains(PRIVATE) && !notes.contains(SHARED));
            }
            Err(why) => prop_assert!(!why.contains(PRIVATE) && !why.contains(SHARED), "{}", why),
        }
    }
}
