//! The places of peers: names that are looked up, and addresses that a gateway has learnt and keeps in a file
//! from one start to the next.

use crate::config::{Endpoint, PeerConfig, Site};
use crate::gateway::Gateway;
use crate::keys::PublicKey;
use crate::sessions::Sessions;
use accord_files::{read_text, write_unsynced};
use accord_units::{Duration, Time};
use std::collections::BTreeMap;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};

/// The time without an authentic datagram after which the name of a peer is looked up again.
const SILENCE: Duration = Duration::from_secs(10);
/// The time from one lookup of a name to the next.
const AGAIN: Duration = Duration::from_secs(10);
/// The longest wait for names at the start. Later, routes of the site may obstruct the resolver.
const FIRST: std::time::Duration = std::time::Duration::from_secs(3);
/// The maximum number of bytes that are read from the file.
const LONGEST_FILE: u64 = 1 << 20;

type Question = (PublicKey, String, u16);
type Answer = (PublicKey, Vec<SocketAddr>);

/// The lookups of a peer's name.
#[derive(Debug, Default)]
struct Lookup {
    /// The earliest time of the next one.
    next: Time,
    /// The time of the question that is not answered yet, if there is one.
    asked: Option<Time>,
    /// The addresses that were called since the peer was last heard.
    called: Vec<SocketAddr>,
}

/// The places of the peers of a gateway.
pub struct Endpoints {
    /// The thread that looks up names, and its answers.
    resolver: Option<(Sender<Question>, Receiver<Answer>)>,
    /// The lookups of each peer with a name.
    lookups: BTreeMap<PublicKey, Lookup>,
    /// The file of learnt addresses, and its contents.
    file: Option<PathBuf>,
    kept: String,
    /// The reasons why names of peers were unusable as of the latest answers.
    unusable: BTreeMap<PublicKey, String>,
}

impl Endpoints {
    /// Creates the places of a site's peers. Sets those from the file of the last run, and those whose names
    /// the resolver knows at once.
    pub fn open(site: &Site, gateway: &mut Gateway<impl Sessions>, now: Time) -> Endpoints {
        let file = site.interface.status.as_ref();
        let mut endpoints = Endpoints {
            resolver: None,
            lookups: BTreeMap::new(),
            file: file.map(|status| status.with_extension("endpoints")),
            kept: String::new(),
            unusable: BTreeMap::new(),
        };
        let kept = endpoints.file.as_deref().map(read).unwrap_or_default();
        for (key, address) in kept {
            let fixed = (site.peers.iter()).any(|p| p.has(&key) && is_fixed(p));
            if !fixed && site.interface.reaches(address.ip()) {
                gateway.set_endpoint(&key, address, "it was there before");
            }
        }
        endpoints.ask(site, gateway, now);
        let mut asked = endpoints.lookups.values().filter(|l| l.asked.is_some()).count();
        while asked > 0 {
            let answer = match &endpoints.resolver {
                Some((_, answers)) => answers.recv_timeout(FIRST),
                None => break,
            };
            let Ok(answer) = answer else { break };
            endpoints.take(site, gateway, answer);
            asked -= 1;
        }
        endpoints
    }

    /// Looks up the names of silent peers, and saves the addresses in use. Logs unusable names, and addresses
    /// that cannot be saved.
    pub fn look(&mut self, site: &Site, gateway: &mut Gateway<impl Sessions>, now: Time) {
        while let Some(answer) =
            self.resolver.as_ref().and_then(|(_, answers)| answers.try_recv().ok())
        {
            self.take(site, gateway, answer);
        }
        self.ask(site, gateway, now);
        if let Err(why) = self.keep(gateway) {
            tracing::warn!(event = "endpoints-not-kept", reason = why);
        }
    }

    /// Sets the address found for a silent peer: the first one that the gateway's socket reaches and that has
    /// not been called yet. If all have been called, they are called again in turn.
    fn take(&mut self, site: &Site, gateway: &mut Gateway<impl Sessions>, (key, found): Answer) {
        let Some(lookup) = self.lookups.get_mut(&key) else {
            // The site file no longer has the name.
            return;
        };
        let asked = lookup.asked.take();
        let Some(peer) = gateway.peers().iter().find(|p| p.config.has(&key)) else {
            return;
        };
        if asked.is_none_or(|asked| peer.heard >= asked) {
            // It was heard since the question, so it is where it is.
            lookup.called.clear();
            return;
        }
        let usable: Vec<_> =
            found.iter().copied().filter(|a| site.interface.reaches(a.ip())).collect();
        let latest = peer.endpoint;
        lookup.called.extend(latest);
        let mut next = usable.iter().find(|a| !lookup.called.contains(a));
        if next.is_none() {
            lookup.called.clear();
            next = usable.iter().find(|a| Some(**a) != latest).or(usable.first());
        }
        if let Some(address) = next {
            gateway.set_endpoint(&key, *address, "the resolver says so");
            self.unusable.remove(&key);
            return;
        }
        let why = match found.first() {
            None => "the resolver finds no address".to_string(),
            Some(other) => {
                format!("{} cannot be reached from {}", other.ip(), site.interface.listen)
            }
        };
        let peer = site.peers.iter().find(|p| p.has(&key));
        if self.unusable.get(&key) != Some(&why)
            && let Some(peer) = peer
        {
            tracing::warn!(event = "name-not-usable", peer = peer.name, reason = why);
            self.unusable.insert(key, why);
        }
    }

    /// Asks for the addresses of silent peers with names.
    fn ask(&mut self, site: &Site, gateway: &Gateway<impl Sessions>, now: Time) {
        let is_named = |p: &PeerConfig| matches!(p.endpoint, Some(Endpoint::Name(..)));
        self.lookups.retain(|key, _| site.peers.iter().any(|p| p.has(key) && is_named(p)));
        for peer in gateway.peers() {
            let Some(Endpoint::Name(host, port)) = &peer.config.endpoint else {
                continue;
            };
            let lookup = self.lookups.entry(peer.key()).or_default();
            let due = now >= lookup.next && lookup.asked.is_none();
            let silent = peer.endpoint.is_none() || now.since(peer.heard) >= SILENCE;
            if !silent {
                lookup.called.clear();
            }
            if !due || !silent {
                continue;
            }
            (lookup.next, lookup.asked) = (now + AGAIN, Some(now));
            let (questions, _) = self.resolver.get_or_insert_with(resolver);
            let _ = questions.send((peer.key(), host.clone(), *port));
        }
    }

    /// Writes the addresses in use into the file if they have changed.
    fn keep(&mut self, gateway: &Gateway<impl Sessions>) -> Result<(), String> {
        let Some(path) = &self.file else {
            return Ok(());
        };
        let lines = gateway.peers().iter().filter_map(|peer| {
            let endpoint = peer.endpoint.filter(|_| !is_fixed(&peer.config))?;
            Some(format!("{} {endpoint}\n", peer.key()))
        });
        let text: String = lines.collect();
        if text == self.kept || text.is_empty() {
            return Ok(());
        }
        self.kept = text;
        // The packet thread does not wait for the disk.
        write_unsynced(path, self.kept.as_bytes())
            .map_err(|e| format!("{} cannot be written: {e}", path.display()))
    }
}

/// Returns whether the site file has the address of a peer.
fn is_fixed(peer: &PeerConfig) -> bool {
    matches!(peer.endpoint, Some(Endpoint::Address(_)))
}

/// Starts a thread that looks up names. It ends with the sender of its questions.
fn resolver() -> (Sender<Question>, Receiver<Answer>) {
    let (questions, asked) = channel::<Question>();
    let (answers, answered) = channel();
    let work = move || {
        for (key, host, port) in asked {
            let found = (host.as_str(), port).to_socket_addrs();
            let found = found.map(Iterator::collect).unwrap_or_default();
            if answers.send((key, found)).is_err() {
                return;
            }
        }
    };
    // Without the thread, names are not found.
    let _ = std::thread::Builder::new().name("names".into()).spawn(work);
    (questions, answered)
}

/// Reads the addresses in a file. Ignores lines without an address, and a missing file.
fn read(path: &Path) -> Vec<(PublicKey, SocketAddr)> {
    let text = read_text(path, LONGEST_FILE).unwrap_or_default();
    let entry = |line: &str| {
        let (key, address) = line.split_once(' ')?;
        Some((key.parse().ok()?, address.parse().ok()?))
    };
    text.lines().filter_map(entry).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::parse;
    use crate::keys::PrivateKey;
    use crate::wireguard::{PeerKeys, WireGuard};
    use std::sync::{Arc, Mutex};

    #[test]
    fn addresses_are_read_as_they_were_written() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("status.endpoints");
        assert_eq!(read(&path), []);
        let key = |n: u8| PrivateKey::new([n; 32]).public();
        let addresses = ["192.0.2.1:51820", "[2001:db8::1]:7"];
        let text = format!("{} {}\n{} {}\n", key(1), addresses[0], key(2), addresses[1]);
        write_unsynced(&path, text.as_bytes()).expect("written");
        let kept: Vec<_> = (addresses.iter().zip([1, 2]))
            .map(|(address, n)| (key(n), address.parse().expect("an address")))
            .collect();
        assert_eq!(read(&path), kept);
        // A damaged line costs only its own address.
        let damaged = format!("no key\n{text}{}\n\u{0}", key(3));
        write_unsynced(&path, damaged.as_bytes()).expect("written");
        assert_eq!(read(&path), kept);
        std::fs::write(&path, [0xff; 100]).expect("written");
        assert_eq!(read(&path), []);
    }

    const CALLED: Time = Time::from_ps(Duration::from_secs(1).as_ps());

    /// Returns the site with a peer that has a name, and its gateway.
    fn named(listen: &str, own: &PrivateKey, peer: &PublicKey) -> (Site, Gateway<WireGuard>) {
        let text = format!(
            "[gateway]\nkey = \"x\"\nlisten = \"{listen}\"\n[peer.b]\npublic_key = \"{peer}\"\n\
             endpoint = \"peer.example.net:7\"\nnetworks = []\ncap = \"1 Mbps\"\n"
        );
        let site = parse("", &text).expect("a site");
        let keys = PeerKeys { publics: vec![*peer], shared: None, keepalive: None };
        let sessions = WireGuard::new(own, &[keys]);
        let gateway = Gateway::new(&site, sessions, 1).expect("a gateway");
        (site, gateway)
    }

    fn empty() -> Endpoints {
        Endpoints {
            resolver: None,
            lookups: BTreeMap::new(),
            file: None,
            kept: String::new(),
            unusable: BTreeMap::new(),
        }
    }

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|a| a.parse().expect("an address")).collect()
    }

    /// All addresses of a name are called in turn, in whatever order the resolver names them.
    #[test]
    fn a_silent_peer_is_called_at_all_its_addresses() {
        let (own, peer) = (PrivateKey::new([1; 32]), PrivateKey::new([2; 32]).public());
        let (site, mut gateway) = named("0.0.0.0:0", &own, &peer);
        let mut endpoints = empty();
        let mut called = Vec::new();
        for order in [
            ["192.0.2.1:7", "192.0.2.2:7", "192.0.2.3:7"],
            ["192.0.2.3:7", "192.0.2.1:7", "192.0.2.2:7"],
        ] {
            for _ in 0..2 {
                endpoints.lookups.entry(peer).or_default().asked = Some(CALLED);
                endpoints.take(&site, &mut gateway, (peer, addresses(&order)));
                called.push(gateway.peers()[0].endpoint.expect("an address").to_string());
            }
        }
        assert_eq!(called, ["192.0.2.1:7", "192.0.2.2:7", "192.0.2.3:7", "192.0.2.1:7"]);
    }

    /// One question at a time is asked. Its answer comes too late for a peer that has called since.
    #[test]
    fn a_late_answer_does_not_move_a_peer_that_was_heard() {
        let (own, peer) = (PrivateKey::new([1; 32]), PrivateKey::new([2; 32]));
        let (site, mut gateway) = named("0.0.0.0:0", &own, &peer.public());
        let (questions, asked) = channel();
        let (answers, answered) = channel();
        let mut endpoints = Endpoints { resolver: Some((questions, answered)), ..empty() };
        for s in [0, 10, 20, 30] {
            endpoints.look(&site, &mut gateway, CALLED + Duration::from_secs(s));
        }
        assert_eq!(asked.try_iter().count(), 1, "the first is not answered yet");
        // The peer calls.
        let keys = PeerKeys { publics: vec![own.public()], shared: None, keepalive: None };
        let mut calls = WireGuard::new(&peer, &[keys]);
        let home = addresses(&["192.0.2.9:7"])[0];
        let mut datagram = Vec::new();
        calls.greet(0, true, &mut |bytes| datagram = bytes.to_vec());
        let at = CALLED + Duration::from_secs(31);
        let mut answer = Vec::new();
        gateway.on_datagram(home, 0, &datagram, at, &mut |output| {
            if let crate::gateway::Output::Datagram(_, bytes) = output {
                answer = bytes.to_vec();
            }
        });
        let mut confirms = Vec::new();
        calls.open(home, &answer, at, &mut confirms);
        gateway.on_datagram(home, 0, &confirms, at, &mut |_| {});
        assert_eq!(gateway.peers()[0].endpoint, Some(home));
        let other = addresses(&["192.0.2.1:7"]);
        answers.send((peer.public(), other.clone())).expect("it waits");
        endpoints.look(&site, &mut gateway, at + Duration::from_secs(1));
        assert_eq!(gateway.peers()[0].endpoint, Some(home));
        // It is silent, and the next question is asked and answered.
        endpoints.look(&site, &mut gateway, at + Duration::from_secs(20));
        assert_eq!(asked.try_iter().count(), 1);
        answers.send((peer.public(), other.clone())).expect("it waits");
        endpoints.look(&site, &mut gateway, at + Duration::from_secs(21));
        assert_eq!(gateway.peers()[0].endpoint, Some(other[0]));
    }

    /// A name whose addresses the socket does not reach is logged once. A name with another, reachable
    /// address is used.
    #[test]
    fn a_name_of_the_other_kind_is_told() {
        let (own, peer) = (PrivateKey::new([1; 32]), PrivateKey::new([2; 32]).public());
        let answers = [&["[2001:db8::1]:7"][..], &[], &["[2001:db8::1]:7", "192.0.2.1:7"]];
        for (listen, expected) in [
            ("0.0.0.0:0", [None, None, Some("192.0.2.1:7")]),
            ("[::]:0", [Some("[2001:db8::1]:7"), Some("[2001:db8::1]:7"), Some("[2001:db8::1]:7")]),
        ] {
            let (site, mut gateway) = named(listen, &own, &peer);
            let mut endpoints = empty();
            let lines: Arc<Mutex<Vec<String>>> = Arc::default();
            let sink = lines.clone();
            let sink = Arc::new(move |line: &str| sink.lock().expect("whole").push(line.into()));
            let log = accord_door::log::Log::new(tracing::level_filters::LevelFilter::WARN, sink);
            tracing::subscriber::with_default(log, || {
                for (answer, expected) in answers.iter().zip(expected) {
                    for _ in 0..2 {
                        endpoints.lookups.entry(peer).or_default().asked = Some(CALLED);
                        endpoints.take(&site, &mut gateway, (peer, addresses(answer)));
                    }
                    let found = gateway.peers()[0].endpoint.map(|e| e.to_string());
                    assert_eq!(found.as_deref(), expected, "{listen}");
                }
            });
            let line = |why| format!("level=warn event=name-not-usable peer=b reason=\"{why}\"");
            let unknown = line("the resolver finds no address");
            let told = match listen {
                "[::]:0" => vec![unknown],
                _ => vec![line("2001:db8::1 cannot be reached from 0.0.0.0:0"), unknown],
            };
            assert_eq!(*lines.lock().expect("whole"), told);
        }
    }

    #[test]
    fn names_are_looked_up() {
        let (questions, answers) = resolver();
        let key = PrivateKey::new([1; 32]).public();
        for (host, known) in [("localhost", true), ("nowhere.invalid", false)] {
            questions.send((key, host.into(), 7)).expect("it runs");
            let (of, found) = answers.recv().expect("it answers");
            assert_eq!((of, !found.is_empty()), (key, known), "{host}");
            assert!(found.iter().all(|a| a.ip().is_loopback() && a.port() == 7), "{found:?}");
        }
    }
}
