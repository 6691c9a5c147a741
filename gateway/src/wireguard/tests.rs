//! Tests of sessions: keys that change, floods, and datagrams of before.

use super::*;
use crate::config::parse;
use crate::gateway::{Gateway, Output};

const FROM: &str = "192.0.2.9:7";

fn at(ms: u64) -> Time {
    Time::ZERO + Duration::from_ms(ms)
}

fn key(byte: u8) -> PrivateKey {
    PrivateKey::new([byte; 32])
}

fn peer(bytes: &[u8]) -> [PeerKeys; 1] {
    let publics = bytes.iter().map(|byte| key(*byte).public()).collect();
    [PeerKeys { publics, shared: None, keepalive: None }]
}

fn open(sessions: &mut WireGuard, datagram: &[u8], at: Time) -> (Opened, Vec<u8>) {
    let mut out = Vec::new();
    let opened = sessions.open(FROM.parse().expect("an address"), datagram, at, &mut out);
    (opened, out)
}

fn sealed(sessions: &mut WireGuard) -> Vec<u8> {
    let mut packet = [0; 28];
    (packet[0], packet[3]) = (0x45, 28);
    let mut out = Vec::new();
    assert!(sessions.seal(0, &packet, &mut out));
    out
}

fn initiations(sessions: &mut WireGuard) -> Vec<Vec<u8>> {
    let mut sent = Vec::new();
    sessions.greet(0, true, &mut |datagram| sent.push(datagram.to_vec()));
    sent
}

/// Ends a handshake that one end has begun. Returns the last answer of the other one.
fn joined(begins: &mut WireGuard, other: &mut WireGuard, initiation: &[u8], ms: u64) -> Opened {
    let (_, answer) = open(other, initiation, at(ms));
    let (_, confirms) = open(begins, &answer, at(ms));
    open(other, &confirms, at(ms)).0
}

fn theirs(sessions: &WireGuard) -> Option<PublicKey> {
    sessions.keys(0).map(|(_, theirs)| theirs)
}

/// Recorded datagrams, and those held up on the way, do not bring an old key back into use.
#[test]
fn old_datagrams_change_nothing_after_a_change_of_keys() {
    let mut a = WireGuard::new(&key(1), &peer(&[2]));
    let mut b = WireGuard::new(&key(2), &peer(&[3, 1]));
    let recorded = initiations(&mut a).remove(0);
    assert_eq!(joined(&mut a, &mut b, &recorded, 1000), Opened::Nothing(0));
    // The last initiation and a datagram of the old key are held up.
    let held = [initiations(&mut a).remove(0), sealed(&mut a)];
    a.set(&key(3), &peer(&[2]));
    let new = initiations(&mut a).remove(0);
    joined(&mut a, &mut b, &new, 2000);
    assert_eq!(theirs(&b), Some(key(3).public()));
    assert_eq!(open(&mut b, &held[0], at(3000)).0, Opened::Question(0));
    assert!(matches!(open(&mut b, &held[1], at(3000)).0, Opened::Packet(0)));
    assert_eq!(theirs(&b), Some(key(3).public()));
    let datagram = sealed(&mut b);
    assert_eq!(open(&mut a, &datagram, at(3000)).0, Opened::Packet(0));
    // The old session has ended, and an old initiation begins none.
    for sessions in [&mut a, &mut b] {
        sessions.tick(0, at(13_000), &mut |_| {});
    }
    assert_eq!(open(&mut b, &recorded, at(14_000)).0, Opened::Refused);
    assert_eq!(open(&mut b, &held[1], at(14_000)).0, Opened::Refused);
    assert_eq!((a.peers[0].tunnels.len(), b.peers[0].tunnels.len()), (1, 2));
    // The old key is a key still: the change can be taken back.
    a.set(&key(1), &peer(&[2]));
    let back = initiations(&mut a).remove(0);
    joined(&mut a, &mut b, &back, 20_000);
    assert_eq!(theirs(&b), Some(key(1).public()));
}

/// Another interval of packets that keep mappings open holds at once, in the same session. Handshakes
/// before the change are refused as before.
#[test]
fn a_change_of_the_keepalive_keeps_the_session() {
    let keepalive = |keepalive| [PeerKeys { keepalive, ..peer(&[2])[0].clone() }];
    let mut a = WireGuard::new(&key(1), &keepalive(None));
    let mut b = WireGuard::new(&key(2), &peer(&[1]));
    let recorded = initiations(&mut b).remove(0);
    assert_eq!(joined(&mut b, &mut a, &recorded, 1000), Opened::Nothing(0));
    let (session, datagram) = (a.peers[0].tunnels[0].slot, sealed(&mut b));
    let sent = |a: &mut WireGuard, seconds: std::ops::Range<u64>| {
        let mut sent = Vec::new();
        for s in seconds {
            a.tick(0, at(1000 * s), &mut |datagram| sent.push(datagram.to_vec()));
        }
        sent
    };
    assert_eq!(sent(&mut a, 100..200).len(), 0);
    a.set(&key(1), &keepalive(Some(5)));
    assert_eq!(a.peers[0].tunnels[0].slot, session);
    assert_eq!(open(&mut a, &datagram, at(200_000)).0, Opened::Packet(0));
    assert_eq!(open(&mut a, &recorded, at(200_000)).0, Opened::Refused);
    let kept_open = sent(&mut a, 200..300);
    assert_eq!(kept_open.len(), 20);
    assert!(kept_open.iter().all(|d| d.len() == 32 && d[0] == DATA), "{kept_open:?}");
    assert_eq!(open(&mut b, &kept_open[0], at(300_000)).0, Opened::Nothing(0));
    a.set(&key(1), &keepalive(Some(50)));
    assert_eq!(sent(&mut a, 300..400).len(), 2);
}

/// A changed pre-shared key ends the session, and with it the memory of handshakes. An initiation that
/// somebody recorded is answered, but it does not reveal the place of the peer.
#[test]
fn a_recorded_initiation_does_not_move_the_peer() {
    let text = format!(
        "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n[peer.b]\npublic_key = \"{}\"\n\
         networks = []\ncap = \"1 Mbps\"\n",
        key(2).public()
    );
    let site = parse("", &text).expect("a site");
    let keys = |shared: Option<[u8; 32]>| {
        [PeerKeys { shared: shared.map(SharedKey), ..peer(&[2])[0].clone() }]
    };
    let mut gateway =
        Gateway::new(&site, WireGuard::new(&key(1), &keys(None)), 1).expect("a gateway");
    let arrives = |gateway: &mut Gateway<WireGuard>, from: &str, datagram: &[u8], ms: u64| {
        let mut sent = Vec::new();
        let from = from.parse().expect("an address");
        gateway.on_datagram(from, 0, datagram, at(ms), &mut |output| {
            if let Output::Datagram(way, bytes) = output {
                assert_eq!(way.to, from);
                sent = bytes.to_vec();
            }
        });
        sent
    };
    let place = |gateway: &Gateway<WireGuard>| gateway.peers()[0].endpoint.map(|e| e.to_string());
    let mut b = WireGuard::new(&key(2), &peer(&[1]));
    let recorded = initiations(&mut b).remove(0);
    let answer = arrives(&mut gateway, FROM, &recorded, 1000);
    assert_eq!(place(&gateway), None, "a question may be an old one");
    let (_, confirms) = open(&mut b, &answer, at(1000));
    arrives(&mut gateway, FROM, &confirms, 1000);
    assert_eq!(place(&gateway).as_deref(), Some(FROM));
    gateway
        .reconfigure(&site, |sessions| sessions.set(&key(1), &keys(Some([7; 32]))))
        .expect("a site");
    let answer = arrives(&mut gateway, "198.51.100.1:7", &recorded, 2000);
    assert_eq!((answer.len(), place(&gateway).as_deref()), (92, Some(FROM)));
}

/// Keys without a session are forgotten when they change, however often that is.
#[test]
fn keys_without_sessions_leave_nothing() {
    let mut sessions = WireGuard::new(&key(1), &peer(&[100]));
    for byte in 2..20 {
        sessions.set(&key(byte), &peer(&[100, 100 + byte]));
        assert_eq!(sessions.peers[0].tunnels.len(), 2);
        // An old key is not called with.
        let own = key(byte).public();
        assert!(sessions.peers[0].tunnels.iter().all(|tunnel| tunnel.own == own));
    }
}

/// Initiations of one address with the right cookie: 100 in a second go without it, and then five and
/// 20 per second are looked at. A peer with another address gets in all the same.
#[test]
fn a_flood_behind_the_cookie_has_the_rate_of_its_address() {
    let own = key(1);
    let mut sessions = WireGuard::new(&own, &peer(&[2]));
    let tunnel = |byte: u8| {
        let private = key(byte).secret();
        let limiter =
            Some(Arc::new(RateLimiter::new(&x25519::PublicKey::from(&private), u64::MAX)));
        Tunn::new(private, x25519::PublicKey::from(own.public().0), None, None, 1, limiter)
    };
    let (mut attacker, mut room) = (tunnel(9), vec![0; 1000]);
    let mut from = |tunn: &mut Tunn, address: &str, at: Time| {
        let made = Done::from(tunn.format_handshake_initiation(&mut room, true));
        let Done::Datagram(length) = made else { panic!("no initiation") };
        let mut out = Vec::new();
        let address = address.parse().expect("an address");
        let opened = sessions.open(address, &room[..length], at, &mut out);
        if !out.is_empty() && opened == Opened::Answer(None) {
            // The cookie, with which the next one is sent.
            let mut scratch = vec![0; 1000];
            let _ = tunn.decapsulate(None, &out, &mut scratch);
        }
        opened
    };
    let mut count = std::collections::BTreeMap::new();
    for ms in 0..900 {
        let at = Time::ZERO + Duration::from_ms(5000 + ms);
        let opened = from(&mut attacker, "192.0.2.9:7", at);
        *count.entry(format!("{opened:?}")).or_insert(0) += 1;
    }
    // 100 initiations, and from 0.1 s on five and sixteen.
    let of = |name: &str| count.get(name).copied().unwrap_or(0);
    assert_eq!(of("Answer(None)"), 1, "{count:?}");
    assert!((116..=122).contains(&of("Refused")), "{count:?}");
    assert!(of("Flood") > 770, "{count:?}");
    let mut peer = tunnel(2);
    let at = Time::ZERO + Duration::from_ms(5950);
    assert_eq!(from(&mut peer, "198.51.100.1:7", at), Opened::Answer(None));
    assert_eq!(from(&mut peer, "198.51.100.1:7", at), Opened::Question(0));
}
