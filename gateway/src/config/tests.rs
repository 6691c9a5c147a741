//! Tests of the reader of site files.

use super::*;
use accord_units::Duration;

#[test]
fn a_mistake_does_not_hide_the_status_socket() {
    let path = Path::new("etc/site.toml");
    for status in ["site.sock", "/run/accord/site.sock"] {
        let right =
            format!("[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\nstatus = \"{status}\"\n");
        let site = parse("etc/site.toml", &right).expect("right");
        assert!(site.interface.status.is_some());
        for mistake in ["loss = 7\n", "[peer.berlin]\n", "[peer.berlin\ncap ="] {
            let wrong = right.clone() + mistake;
            assert!(parse("etc/site.toml", &wrong).is_err(), "{mistake}");
            let socket = status_socket(&wrong, path);
            assert_eq!(socket, site.interface.status, "{mistake}");
        }
    }
    assert_eq!(status_socket("nothing", path), None);
    assert_eq!(status_socket("[gateway]\nstatus = 7\n", path), None);
}

#[test]
fn endpoints_are_addresses_or_names() {
    for right in ["192.0.2.1:1", "[2001:db8::1]:7", "berlin:51820", "a-1.example.net.:9"] {
        let endpoint = right.parse::<Endpoint>().expect(right);
        assert_eq!(endpoint.to_string(), right);
    }
    let long = format!("{}.net:1", "a".repeat(64));
    for wrong in [
        "",
        ":1",
        "a:",
        "a:0",
        "a:65536",
        "a:+1",
        "a b:1",
        "a\"b:1",
        "1.2.3:1",
        "1.2.3.4.5:1",
        "2001:db8::1:7",
        "a..b:1",
        ".:1",
        "192.0.2.256:1",
        &long,
    ] {
        assert!(wrong.parse::<Endpoint>().is_err(), "{wrong}");
    }
}

#[test]
fn metrics_are_for_this_host() {
    for right in ["127.0.0.1:9586", "[::1]:9586", "127.1.2.3:0"] {
        let site = read(&format!("metrics = \"{right}\""), "[]", "").expect(right);
        assert_eq!(site.interface.metrics.map(|a| a.to_string()), Some(right.into()));
    }
    for wrong in ["0.0.0.0:9586", "192.0.2.1:9586", "localhost:9586", "127.0.0.1"] {
        let error = read(&format!("metrics = \"{wrong}\""), "[]", "").unwrap_err();
        assert!(error.contains("a loopback address"), "{error}");
    }
}

#[test]
fn a_network_is_at_one_site() {
    let read = |network: &str| {
        let text = format!(
            "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\naddress = [\"10.1.0.1/24\"]\n\
             fwmark = 51820\n[peer.other]\n\
             public_key = \"haf8eDD/ypezAn0CHgjRihEzTKcDnOg3N5h3n/3mUEo=\"\n\
             networks = [\"10.2.0.0/24\", \"{network}\"]\ncap = \"30 Mbps\"\n"
        );
        parse("", &text).map_err(|e| e.to_string())
    };
    let message = read("10.1.0.0/24").unwrap_err();
    assert!(message.contains("the address 10.1.0.1/24 of this gateway is in it"), "{message}");
    for other in ["10.1.1.0/24", "10.1.0.0/16", "10.1.0.0/25", "fd00::/64", "0.0.0.0/0"] {
        assert!(read(other).is_ok(), "{other}");
    }
}

/// Reads a site with an additional line for the gateway, one for a peer, and networks of that peer.
fn read(gateway: &str, networks: &str, peer: &str) -> Result<Site, String> {
    let text = format!(
        "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n{gateway}\n[peer.other]\n\
         public_key = \"haf8eDD/ypezAn0CHgjRihEzTKcDnOg3N5h3n/3mUEo=\"\n\
         networks = {networks}\ncap = \"30 Mbps\"\n{peer}\n"
    );
    parse("", &text).map_err(|e| e.to_string())
}

#[test]
fn the_way_to_a_peer_is_not_through_its_tunnel() {
    let endpoint = "endpoint = \"198.51.100.1:51820\"";
    for (network, wanted) in [
        ("198.51.100.0/24", "the endpoint 198.51.100.1:51820"),
        ("198.51.100.1/32", "the endpoint 198.51.100.1:51820"),
        ("0.0.0.0/0", "write fwmark = 51820"),
    ] {
        let error = read("", &format!("[\"{network}\"]"), endpoint).unwrap_err();
        assert!(error.contains(wanted), "{error}");
    }
    assert!(read("fwmark = 7", "[\"0.0.0.0/0\"]", endpoint).is_ok());
    assert!(read("fwmark = 7", "[\"198.51.100.0/24\"]", endpoint).is_err());
    for mark in ["0", "254", "4294967296", "\"7\""] {
        assert!(read(&format!("fwmark = {mark}"), "[]", endpoint).is_err(), "{mark}");
    }
    // A name is looked up later. A peer without an endpoint may call from anywhere.
    for endpoint in ["endpoint = \"gw.example.net:51820\"", ""] {
        assert!(read("", "[\"0.0.0.0/0\"]", endpoint).is_err(), "{endpoint}");
        assert!(read("", "[\"198.51.100.0/24\"]", endpoint).is_ok(), "{endpoint}");
    }
    assert!(read("", "[\"198.51.101.0/24\", \"::/0\"]", endpoint).is_ok());
    // Nor may it be reached through the tunnel of another peer.
    let second = |networks: &str, endpoint: &str| {
        let more = format!(
            "[peer.second]\npublic_key = \"rnv/BXF8tLbYlljVJQnTY4gMY7EqoGsskil6kc4VcnE=\"\n\
             networks = [\"{networks}\"]\ncap = \"1 Mbps\"\nendpoint = \"{endpoint}\""
        );
        read("", "[\"10.1.0.0/16\"]", &format!("{}\n{more}", "endpoint = \"198.51.100.1:1\""))
    };
    assert!(second("10.2.0.0/16", "198.51.100.2:1").is_ok());
    assert!(second("198.51.100.1/32", "198.51.100.2:1").is_err());
    assert!(second("10.2.0.0/16", "10.1.0.1:1").is_err());
}

#[test]
fn a_contract_outlives_losses_unless_the_file_says_otherwise() {
    let loss = |gateway: &str, peer: &str| {
        let site = read(gateway, "[\"10.0.0.0/8\"]", peer).expect("a site");
        site.interface.loss
    };
    let contract = "service = { contract = \"1 Mbps\" }";
    assert_eq!(loss("", contract), Loss::Contract);
    assert_eq!(loss("loss = \"window\"", contract), Loss::Window);
    assert_eq!(loss("loss = \"accumulation\"", ""), Loss::Accumulation);
}

#[test]
fn a_target_is_something() {
    for target in ["0 pkt", "0 B", "1 GB"] {
        let error = read(&format!("target = \"{target}\""), "[]", "").unwrap_err();
        assert!(error.contains("above 0"), "{target}: {error}");
    }
    assert!(read("target = \"200 pkt\"", "[]", "").is_ok());
}

#[test]
fn no_key_is_shown_of_a_file_that_is_wrong() {
    let key = "yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=";
    let wg = format!("# wg0\n[Interface]\nPrivateKey = {key}\nAddress = 10.0.0.1/24\n");
    let error = parse("", &wg).expect_err("no site");
    assert!(error.to_string().contains("file of wg-quick"), "{error}");
    let first = error.iter().next().expect("there is one");
    assert_eq!((first.line, first.column), (2, 1));
    for gateway in [
        format!("key = \"{key}\""),
        format!("listen = \"{key}\""),
        key.to_string(),
        format!("\"{key}\" = 1"),
        format!("status = \"{key}\""),
        format!("device = \"{key}\""),
        format!("loss = \"{key}\""),
    ] {
        let error = read(&gateway, "[]", "").unwrap_err();
        assert!(!error.contains(&key[..30]), "{error}");
    }
    for peer in [
        format!("preshared_key = \"{key}\""),
        format!("endpoint = \"{key}\""),
        format!("mode = \"{key}\""),
        format!("[peer.\"{key}\"]"),
    ] {
        let error = read("", &format!("[\"{key}\"]"), &peer).unwrap_err();
        assert!(!error.contains(&key[..30]), "{error}");
        let error = read("", "[]", &peer).unwrap_err();
        assert!(!error.contains(&key[..30]), "{error}");
    }
}

#[test]
fn virtual_delay_is_none_or_has_a_bound() {
    let read = |line: &str| {
        let text = format!(
            "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n[peer.other]\n\
             public_key = \"haf8eDD/ypezAn0CHgjRihEzTKcDnOg3N5h3n/3mUEo=\"\n\
             networks = [\"10.0.0.0/8\"]\ncap = \"30 Mbps\"\n{line}\n"
        );
        let site = parse("", &text);
        site.map(|site| site.peers[0].virtual_delay)
            .map_err(|e| (e.iter().next().expect("there is one").line, e.to_string()))
    };
    assert_eq!(read(""), Ok(None));
    let most = Duration::from_ms(50);
    assert_eq!(read("virtual_delay = \"50 ms\""), Ok(Some(most)));
    for wrong in ["0 s", "1.1 s"] {
        let (line, message) = read(&format!("virtual_delay = \"{wrong}\"")).unwrap_err();
        assert_eq!(line, 8);
        assert!(message.contains("above 0 and up to 1 s"), "{message}");
    }
    assert!(read("virtual_delay = true").is_err());
}

/// A list must contain addresses that the socket reaches, and none behind a peer.
#[test]
fn a_peer_may_have_several_endpoints() {
    let read = |list: &str| read("", "[\"10.2.0.0/24\"]", &format!("endpoint = {list}"));
    let site = read("[\"192.0.2.6:1\", \"198.51.100.6:2\"]").expect("a site");
    let found: Vec<String> = site.peers[0].endpoints().map(|e| e.to_string()).collect();
    assert_eq!(found, ["192.0.2.6:1", "198.51.100.6:2"]);
    for (list, says) in [
        ("[]", "1 to 8 addresses"),
        ("[\"192.0.2.6:1\", \"gw.example.net:1\"]", "addresses, not names"),
        ("[\"192.0.2.6:1\", \"[2001:db8::1]:1\"]", "cannot be reached"),
        ("[\"192.0.2.6:1\", \"10.2.0.9:1\"]", "the endpoint 10.2.0.9:1 of peer other is in it"),
        ("[7]", "expected"),
    ] {
        let error = read(list).expect_err(list);
        assert!(error.contains(says), "{list}: {error}");
    }
}

/// `[::]` reaches both families, and another address only its own.
#[test]
fn a_peer_is_of_a_family_that_the_socket_has() {
    let read = |listen: &str, endpoint: &str, network: &str| {
        let text = format!(
            "[gateway]\nkey = \"x\"\nlisten = \"{listen}\"\n[peer.other]\n\
             public_key = \"haf8eDD/ypezAn0CHgjRihEzTKcDnOg3N5h3n/3mUEo=\"\n\
             networks = [\"{network}\"]\ncap = \"30 Mbps\"\nendpoint = \"{endpoint}\"\n"
        );
        parse("", &text).map_err(|e| e.to_string())
    };
    let (v4, v6) = ("192.0.2.1:1", "[2001:db8::1]:1");
    for (listen, endpoint, works) in [
        ("[::]:1", v4, true),
        ("[::]:1", v6, true),
        ("0.0.0.0:1", v4, true),
        ("0.0.0.0:1", v6, false),
        ("[2001:db8::7]:1", v6, true),
        ("[2001:db8::7]:1", v4, false),
    ] {
        let site = read(listen, endpoint, "10.2.0.0/24");
        assert_eq!(site.is_ok(), works, "{listen} {endpoint}: {site:?}");
        assert!(site.err().is_none_or(|e| e.contains("[::]:51820")));
    }
    // Datagrams of either family would match a network of all addresses.
    for network in ["0.0.0.0/0", "::/0"] {
        let error = read("[::]:1", v4, network).expect_err("refused");
        assert!(error.contains("write fwmark"), "{error}");
    }
    assert!(read("0.0.0.0:1", v4, "::/0").is_ok());
}

/// A peer that changes its key has two keys, and no other peer has either of them.
#[test]
fn a_peer_has_one_key_or_two() {
    let keys = [1, 2, 3].map(|byte| crate::keys::PrivateKey::new([byte; 32]).public());
    let list = |places: &[usize]| {
        let quoted: Vec<_> = places.iter().map(|i| format!("\"{}\"", keys[*i])).collect();
        format!("[{}]", quoted.join(", "))
    };
    let read = |a: &str, b: &str| {
        let peer = |name: &str, keys: &str| {
            format!("[peer.{name}]\npublic_key = {keys}\nnetworks = []\ncap = \"1 Mbps\"\n")
        };
        let head = "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n".to_string();
        parse("", &(head + &peer("a", a) + &peer("b", b))).map_err(|e| e.to_string())
    };
    let site = read(&list(&[0, 1]), &list(&[2])).expect("a site");
    assert_eq!(
        (&site.peers[0].public_keys[..], site.peers[1].public_keys[0]),
        (&keys[..2], keys[2])
    );
    for (a, b, expected) in [
        (list(&[0, 0]), list(&[2]), "one key, or two that differ"),
        (list(&[]), list(&[2]), "one key, or two that differ"),
        (list(&[0, 1, 2]), list(&[2]), "one key, or two that differ"),
        (list(&[0, 1]), list(&[2, 1]), "peer b has the public key of peer a"),
    ] {
        let error = read(&a, &b).expect_err(expected);
        assert!(error.contains(expected), "{error}");
    }
}

/// Mistakes of form come first, and then those between keys.
#[test]
fn all_mistakes_are_shown_at_once() {
    let mistakes = |text: &str| -> Vec<String> {
        let errors = parse("site.toml", text).expect_err("mistakes");
        errors.iter().map(|e| e.to_string()).collect()
    };
    let found =
        mistakes("[gateway]\nkye = \"site.key\"\nlisten = 7\n[peer.a]\ncap = \"50 parsecs\"\n");
    for (expected, hint) in [
        ("site.toml:2:1: unknown key \"kye\"", "did you mean \"key\"?"),
        ("site.toml:3:10: expected", ""),
        ("site.toml:5:7: unknown unit \"parsecs\"", "a rate such as"),
        ("`networks` is missing", "networks = "),
        ("`public_key` is missing", "public_key = what"),
    ] {
        let is = |e: &&String| e.contains(expected) && e.contains(hint);
        assert!(found.iter().any(|e| is(&e)), "{expected}: {found:?}");
    }
    let peer = |name: &str, key: &str, more: &str| {
        format!("[peer.{name}]\npublic_key = \"{key}\"\nnetworks = []\ncap = \"1 Mbps\"\n{more}\n")
    };
    let site = "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n".to_string()
        + &peer(
            "a",
            "haf8eDD/ypezAn0CHgjRihEzTKcDnOg3N5h3n/3mUEo=",
            "service.contract = \"2 Mbps\"",
        )
        + &peer("b", "rnv/BXF8tLbYlljVJQnTY4gMY7EqoGsskil6kc4VcnE=", "class.voice.weight = 2");
    let found = mistakes(&site);
    assert!(found[0].contains("the contract of 2 Mbps is above the cap of 1 Mbps"), "{found:?}");
    assert!(found[1].contains("unknown class \"voice\""), "{found:?}");
    assert!(found[1].contains("write [class.voice] with its dscp first"), "{found:?}");
}

/// A key of a peer takes precedence over that of the defaults, also within a table.
#[test]
fn peers_have_the_defaults_of_the_file() {
    let peer = |name: &str, byte: u8, more: &str| {
        let key = crate::keys::PrivateKey::new([byte; 32]).public();
        format!("[peer.{name}]\npublic_key = \"{key}\"\nnetworks = []\n{more}")
    };
    let site = |defaults: &str| {
        let text =
            format!("[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n[defaults]\n{defaults}\n")
                + &peer("a", 1, "")
                + &peer("b", 2, "cap = \"5 Mbps\"\nservice = { contract = \"2 Mbps\" }\n");
        parse("", &text).map_err(|e| e.to_string())
    };
    let read = site(
        "cap = \"50 Mbps\"\nservice = { contract = \"1 Mbps\", weight = 3 }\nmode = \"shadow\"\n\
         breaker.loss = 0.4",
    )
    .expect("a site");
    let found: Vec<_> = (read.peers.iter())
        .map(|p| (p.cap.as_bps(), p.service.contract.as_bps(), p.service.weight, p.breaker.loss))
        .collect();
    assert_eq!(found, [(50_000_000, 1_000_000, 3.0, 0.4), (5_000_000, 2_000_000, 3.0, 0.4)]);
    assert!(read.peers.iter().all(|p| p.mode == Mode::Shadow));
    // A mistake in the defaults is shown once, with its place. Keys of a single peer are not
    // allowed there.
    let error = site("cap = \"much\"").expect_err("wrong");
    assert_eq!((error.matches("much").count(), error.contains(":5:7")), (1, true), "{error}");
    let error = site("cap = \"1 Mbps\"\nendpoint = \"192.0.2.1:1\"").expect_err("wrong");
    assert!(error.contains("unknown key \"endpoint\""), "{error}");
    assert!(site("mode = \"enforce\"").is_err_and(|e| e.contains("`cap` is missing")));
}

#[test]
fn the_schema_has_every_key() {
    let schema = super::schema();
    for (table, key) in [("gateway", "fwmark"), ("peer_NAME", "breaker"), ("breaker", "rearm")] {
        assert!(schema["$defs"][table]["properties"][key].is_object(), "{table}: {schema}");
    }
    assert_eq!(schema["$defs"]["gateway"]["properties"]["queue"]["default"], "1 MB");
}
