//! Addresses, routes, rules and guards of gateways.

use crate::common::{INNER, INNER_V6, Queue, Sites, waited};
use crate::{CONTRACT, joined, path, possible};
use std::path::PathBuf;
use std::process::{Child, Command};

/// Runs iproute2 with these words at one end. Returns whether it succeeded, and its output.
fn attempt(sites: &Sites, end: usize, words: &str) -> (bool, String) {
    let words: Vec<&str> = ["ip"].into_iter().chain(words.split(' ')).collect();
    sites.command(end, &words).expect("iproute2")
}

/// Runs iproute2 with these words at a. Returns its output.
fn ip(sites: &Sites, words: &str) -> String {
    let (succeeded, said) = attempt(sites, 0, words);
    assert!(succeeded, "{words}: {said}");
    said
}

/// The changes of the kernel's routes or rules at one end, as `ip monitor` prints them.
struct News {
    monitor: Child,
    path: PathBuf,
    end: usize,
}

impl News {
    /// Begins to listen to changes of this kind.
    fn of(sites: &Sites, end: usize, kind: &str) -> News {
        let path = sites.folder.path().join(format!("{end}.news"));
        let file = std::fs::File::create(&path).expect("made");
        let spawn = || Command::new("ip").args(["monitor", kind]).stdout(file).spawn();
        let monitor = sites.ends[end].within(spawn).expect("it is entered").expect("ip runs");
        let news = News { monitor, path, end };
        news.reach(sites, "1000");
        news
    }

    /// Makes a rule with this preference, and waits for the news of it.
    fn reach(&self, sites: &Sites, preference: &str) {
        let rule = ["ip", "rule", "ACTION", "pref", preference, "table", "main"];
        let heard = waited(|| {
            for action in ["add", "del"] {
                sites.command(self.end, &rule.map(|w| if w == "ACTION" { action } else { w }));
            }
            self.read().contains(&format!("{preference}:"))
        });
        assert!(heard, "{}", self.read());
    }

    fn read(&self) -> String {
        std::fs::read_to_string(&self.path).expect("readable")
    }

    /// Returns the changes until now, but for those of [`News::reach`].
    fn until_now(&self, sites: &Sites) -> String {
        self.reach(sites, "1001");
        let own = |line: &&str| !line.contains("1000:") && !line.contains("1001:");
        self.read().lines().filter(own).map(|line| format!("{line}\n")).collect()
    }
}

impl Drop for News {
    fn drop(&mut self) {
        let _ = self.monitor.kill();
        let _ = self.monitor.wait();
    }
}

/// A route of the host to a network behind a peer stays as it is, and the gateway says so. One with a
/// larger metric may be there, and is there still when the gateway has ended.
#[test]
fn no_route_of_the_host_is_replaced() {
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo));
    let files = sites.write(CONTRACT);
    ip(&sites, "route add 10.2.0.0/24 dev w");
    let before = ip(&sites, "route show");
    let why = sites.refused(0, &files[0]);
    assert!(why.contains("another route to 10.2.0.0/24"), "{why}");
    assert_eq!(ip(&sites, "route show"), before);
    ip(&sites, "route del 10.2.0.0/24 dev w");
    ip(&sites, "route add blackhole 10.2.0.0/24 metric 1000");
    let before = ip(&sites, "route show");
    for (end, file) in files.iter().enumerate() {
        sites.start(end, file);
    }
    assert!(sites.wait_for(0, "controlled"));
    assert!(ip(&sites, "route get 10.2.0.1").contains("dev gw0"));
    // The network of the site itself is behind another device.
    let routes = ip(&sites, "route show dev gw0");
    assert!(routes.starts_with("10.2.0.0/24") && routes.lines().count() == 1, "{routes}");
    sites.end(0);
    // A process that another test starts just now has the device for a moment.
    let gone = waited(|| ip(&sites, "route show") == before);
    assert!(gone, "{} instead of {before}", ip(&sites, "route show"));
}

/// A tunnel for all addresses: the gateway's own datagrams have a mark and go by the host's routes, as do
/// packets for narrower routes of the host. The host's default route stays, and rules go with the gateway.
#[test]
fn a_default_route_through_the_tunnel_is_given_back() {
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo));
    let files = sites.write(CONTRACT);
    let text = std::fs::read_to_string(&files[0]).expect("readable");
    let text = text.replace("[gateway]\n", "[gateway]\nfwmark = 51820\n");
    let all = text.replace("\"10.2.0.0/24\"", "\"0.0.0.0/0\"");
    std::fs::write(&files[0], all).expect("written");
    let before = ["route show", "rule show"].map(|words| ip(&sites, words));
    assert!(before[0].contains("default dev w"), "{before:?}");
    // Twice, the second time with the rules that a killed gateway leaves.
    for left in [false, true] {
        if left {
            ip(&sites, "rule add pref 32764 table main suppress_prefixlength 0");
            ip(&sites, "rule add pref 32765 not fwmark 51820 table 51820");
        }
        let news = left.then(|| News::of(&sites, 0, "rule"));
        for (end, file) in files.iter().enumerate() {
            sites.start(end, file);
        }
        assert!(sites.wait_for(0, "controlled"), "{}", sites.status(0));
        // Without one of the rules packets would leave in the clear for a moment.
        let news = news.map(|news| news.until_now(&sites)).unwrap_or_default();
        assert!(!news.contains("Deleted"), "{news}");
        for (to, device) in [
            ("10.2.0.1", "gw0"),
            ("198.51.100.1", "gw0"),
            ("192.0.2.2", "w"),
            ("192.0.2.6 mark 51820", "w"),
        ] {
            let route = ip(&sites, &format!("route get {to}"));
            assert!(route.contains(&format!("dev {device} ")), "{route}");
        }
        assert!(ip(&sites, "route show").contains("default dev w"));
        // The peer takes back a narrower network, and the rules go.
        std::fs::write(&files[0], &text).expect("written");
        sites.reload[0].store(true, std::sync::atomic::Ordering::Relaxed);
        let gone = waited(|| ip(&sites, "rule show") == before[1]);
        assert!(gone, "{} instead of {}", ip(&sites, "rule show"), before[1]);
        let all = text.replace("\"10.2.0.0/24\"", "\"0.0.0.0/0\"");
        std::fs::write(&files[0], all).expect("written");
        for end in 0..2 {
            sites.end(end);
        }
        let after = || ["route show", "rule show"].map(|words| ip(&sites, words));
        assert!(waited(|| after() == before), "{:?} instead of {before:?}", after());
    }
}

/// A device that was down has lost its routes. The gateway sets them again, and says so. With a guard no packet
/// of the site leaves in the clear until then, nor after the gateway.
#[test]
fn routes_that_are_lost_are_set_again_and_a_guard_stops_packets_without_one() {
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo));
    let files = sites.write(CONTRACT);
    let text = std::fs::read_to_string(&files[0]).expect("readable");
    std::fs::write(&files[0], text.replace("[gateway]\n", "[gateway]\nguard = true\n"))
        .expect("written");
    for (end, file) in files.iter().enumerate() {
        sites.start(end, file);
    }
    // The route to the other site, or none: that of a guard is an error.
    let way = |sites: &Sites, end: usize, to: &str| {
        let (found, said) = attempt(sites, end, &format!("route get {to}"));
        found.then(|| said.split_whitespace().skip_while(|w| *w != "dev").nth(1).map(String::from))
    };
    let wait_for = |sites: &Sites, end: usize, to: &str, wanted: &str| {
        let found = waited(|| way(sites, end, to) == Some(Some(wanted.into())));
        assert!(found, "{:?}", way(sites, end, to));
    };
    for end in 0..2 {
        assert!(sites.wait_for(end, "controlled"));
    }
    let other = ["10.2.0.1", "10.1.0.1"];
    for (end, leak) in [(0, None), (1, Some("v"))] {
        wait_for(&sites, end, other[end], "gw0");
        assert!(attempt(&sites, end, "link set gw0 down").0);
        // Without a guard the default route has them.
        let meanwhile = way(&sites, end, other[end]);
        let device = meanwhile.clone().flatten();
        assert_eq!(meanwhile.is_some(), leak.is_some(), "{meanwhile:?}");
        assert!(leak.is_none_or(|v| device.is_some_and(|d| d.starts_with(v))), "{meanwhile:?}");
        let missing = |count: u64| waited(|| sites.status(end)["missing_routes"] == count);
        assert!(missing(1), "{}", sites.status(end));
        assert!(attempt(&sites, end, "link set gw0 up").0);
        wait_for(&sites, end, other[end], "gw0");
        assert!(missing(0), "{}", sites.status(end));
        let told = sites.log(end);
        for event in
            ["level=error event=routes-missing count=1", "level=warn event=routes-set count="]
        {
            assert!(told.iter().any(|line| line.starts_with(event)), "{told:?}");
        }
    }
    // One that somebody has deleted.
    assert!(attempt(&sites, 0, "route del 10.2.0.0/24 dev gw0").0);
    wait_for(&sites, 0, other[0], "gw0");
    // The guard outlives the gateway, and goes with a site file without it.
    sites.end(0);
    assert_eq!(way(&sites, 0, other[0]), None);
    std::fs::write(&files[0], text).expect("written");
    sites.start(0, &files[0]);
    assert!(sites.wait_for(0, "controlled"));
    sites.end(0);
    assert_eq!(way(&sites, 0, other[0]), Some(Some("w".into())));
}

/// A guard goes with its network, even if that leaves the file while no gateway runs. That of another gateway of
/// the host stays. A guard can be set without a gateway, also that of a full tunnel.
#[test]
fn guards_are_those_of_the_file() {
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo));
    let files = sites.write(CONTRACT);
    let text = std::fs::read_to_string(&files[0]).expect("readable");
    let text = text.replace("[gateway]\n", "[gateway]\nguard = true\nfwmark = 51820\n");
    let with = |network: &str| {
        let text = text.replace("\"10.2.0.0/24\"", &format!("\"{network}\""));
        std::fs::write(&files[0], text).expect("written");
    };
    let foreign = "blackhole 10.8.0.0/24 metric 4000000000 proto 199";
    // The second one was set by an earlier version.
    for guard in [foreign, "blackhole 10.2.0.0/24 metric 4000000000"] {
        ip(&sites, &format!("route add {guard}"));
    }
    let guards = |sites: &Sites| {
        let said = ip(sites, "route show type blackhole");
        said.split_whitespace().filter(|w| w.contains('/')).map(String::from).collect::<Vec<_>>()
    };
    for network in ["10.2.0.0/24", "10.9.0.0/24", "10.2.0.0/24"] {
        with(network);
        sites.start(0, &files[0]);
        sites.start(1, &files[1]);
        assert!(sites.wait_for(0, "controlled"), "{}", sites.status(0));
        (0..2).for_each(|end| sites.end(end));
        let mut expected = ["10.8.0.0/24", network];
        expected.sort_unstable();
        assert_eq!(guards(&sites), expected);
    }
    with("0.0.0.0/0");
    let site = accord_gateway::config::load(&files[0]).expect("a site");
    let alone = || accord_gateway::guard(&site).map_err(|e| e.to_string());
    for _ in 0..2 {
        sites.ends[0].within(alone).expect("it is entered").expect("it is set");
        assert_eq!(guards(&sites), ["10.8.0.0/24"]);
        assert!(!attempt(&sites, 0, "route get 198.51.100.1").0);
        assert!(ip(&sites, "route get 198.51.100.1 mark 51820").contains("dev w "));
        assert!(ip(&sites, "route get 192.0.2.2").contains("dev w "));
    }
}

/// An address of IPv6 cannot be restored while the device has no IPv6. A route is restored none the less, and
/// the address when the device has IPv6 again, although the kernel reports nothing then.
#[test]
fn an_address_that_cannot_be_set_is_retried_and_keeps_no_route_from_being_set() {
    if !possible() {
        return;
    }
    let mut sites = Sites::new(&path(Queue::Fifo));
    let files = sites.write(CONTRACT);
    let text = std::fs::read_to_string(&files[0]).expect("readable");
    let own = format!("address = [\"{}/24\"", INNER[0]);
    assert!(text.contains(&own), "{text}");
    std::fs::write(&files[0], text.replace(&own, &format!("{own}, \"{}/64\"", INNER_V6[0])))
        .expect("written");
    for (end, file) in files.iter().enumerate() {
        sites.start(end, file);
    }
    assert!(sites.wait_for(0, "controlled"), "{}", sites.status(0));
    let v6 = |sites: &Sites| ip(sites, "address show dev gw0").contains(INNER_V6[0]);
    assert!(v6(&sites));
    sites.ends[0].set("net/ipv6/conf/gw0/disable_ipv6", "1").expect("set");
    assert!(!v6(&sites));
    ip(&sites, "route del 10.2.0.0/24 dev gw0");
    let set = waited(|| ip(&sites, "route show dev gw0").contains("10.2.0.0/24"));
    assert!(set, "{:?}", sites.log(0));
    let told = || sites.log(0).iter().any(|l| l.contains("event=routes-missing count=0 reason="));
    assert!(waited(told), "{:?}", sites.log(0));
    sites.ends[0].set("net/ipv6/conf/gw0/disable_ipv6", "0").expect("set");
    assert!(waited(|| v6(&sites)), "{:?}", sites.log(0));
}

/// Packets that the host itself does not send or take are counted apart from those that the network loses.
#[test]
fn packets_that_the_host_refuses_are_told() {
    if !possible() {
        return;
    }
    let sites = joined(&path(Queue::Fifo), CONTRACT);
    let refused = |end: usize, reason: &str| -> u64 {
        let status = sites.status(end);
        let dropped = status["dropped_packets"].as_array().cloned().unwrap_or_default();
        let found = dropped.iter().find(|entry| entry[0] == reason);
        found.and_then(|entry| entry[1].as_u64()).expect("a reason")
    };
    let logged = |end: usize, event: &str| {
        sites.log(end).iter().any(|line| line.starts_with(&format!("level=warn event={event} ")))
    };
    for (end, reason, event, command) in [
        (0, "send_refused", "send-refused", "route add blackhole 192.0.2.6/32"),
        (1, "device_refused", "device-refused", "link set gw0 down"),
    ] {
        assert_eq!(refused(end, reason), 0);
        // Packets of the other site that its gateway has to write.
        let send = || {
            let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("bound");
            let _ = socket.send_to(b"a packet", (INNER[1], 9));
        };
        assert!(attempt(&sites, end, command).0, "{command}");
        let told = waited(|| {
            sites.ends[0].within(send).expect("it is entered");
            refused(end, reason) > 0 && logged(end, event)
        });
        assert!(told, "{reason}: {:?}", sites.log(end));
        attempt(&sites, 0, "route del blackhole 192.0.2.6/32");
    }
}
