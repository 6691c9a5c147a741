//! Gateways that are killed and started again, as a process each. It takes root, or it is skipped with
//! the reason.

#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "it says why it is skipped")]
#![allow(clippy::disallowed_methods, reason = "real time passes here")]

mod common;

use accord_door::log::LevelFilter;
use accord_gateway::{Options, RENEWAL, run};
use common::{INNER, Path_, Queue, Sites, is_back, obstacle, reached};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg};
use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATH: Path_ = Path_ {
    mbps: 20,
    buffer: 50_000,
    queue: Queue::Fifo,
    delay: Duration::from_millis(10),
    loss_permille: 0,
};
/// The rate in Mbit/s from which on a connection goes on. Its rate is not judged here.
const GOES_ON: f64 = 0.3;
/// The time from the end of a service to its next start, as in gateway/tools/accord-gateway@.service.
const PAUSE: Duration = Duration::from_millis(200);

/// No test: the gateway of the processes that tests start. A test that kills a gateway needs it as a
/// program of its own, and this one is at hand. The test that started the process judges it.
#[test]
#[ignore = "no test: the other tests start it as a process, with a site file"]
fn as_a_process() {
    let Some(path) = std::env::var_os("GATEWAY_SITE") else {
        return;
    };
    let options = Options {
        path: path.into(),
        stop: Arc::default(),
        reload: Arc::default(),
        signals: true,
        renewal: RENEWAL,
        level: LevelFilter::INFO,
        log: Arc::new(|line: &str| eprintln!("{line}")),
    };
    if let Err(e) = run(&options) {
        eprintln!("{e}");
    }
}

/// Plays the part of systemd for one gateway: starts it, keeps the files that it hands over, and gives
/// them to the next process.
struct Supervisor {
    site: PathBuf,
    socket: UnixDatagram,
    path: PathBuf,
    kept: Vec<(String, RawFd)>,
    child: Option<Child>,
    keeps: bool,
}

impl Supervisor {
    fn new(sites: &Sites, site: &Path, keeps: bool) -> Supervisor {
        let path = sites.folder.path().join("notify.sock");
        let socket = UnixDatagram::bind(&path).expect("bound");
        socket.set_nonblocking(true).expect("set");
        Supervisor { site: site.to_path_buf(), socket, path, kept: Vec::new(), child: None, keeps }
    }

    fn start(&mut self, sites: &Sites) {
        // By way of high numbers, since one of the files may have the number that another one gets.
        let high = (50..).zip(&self.kept);
        let files = high.map(|(n, (_, fd))| format!("{n}<&{fd} "));
        let low = (0..self.kept.len()).map(|i| format!("{}<&{} ", 3 + i, 50 + i));
        let files: String = files.chain(low).collect();
        let script = format!("export LISTEN_PID=$$; exec \"$0\" \"$@\" {files}");
        let names: Vec<&str> = self.kept.iter().map(|(name, _)| name.as_str()).collect();
        let mut command = Command::new("bash");
        command
            .args(["-c", &script])
            .arg(std::env::current_exe().expect("a program"))
            .args(["--exact", "as_a_process", "--ignored", "--nocapture"])
            .arg("--test-threads=1")
            .env("GATEWAY_SITE", &self.site);
        if self.keeps {
            command
                .env("NOTIFY_SOCKET", &self.path)
                .env("LISTEN_FDS", self.kept.len().to_string())
                .env("LISTEN_FDNAMES", names.join(":"));
        }
        let child = sites.ends[0].within(|| command.spawn());
        self.child = Some(child.expect("it is entered").expect("it runs"));
    }

    /// Waits until the process has ended, or ends it as kill -9 does. Reads its notifications.
    fn end(&mut self, kill: bool) {
        if let Some(mut child) = self.child.take() {
            if kill {
                child.kill().expect("killed");
            }
            child.wait().expect("waited for");
        }
        let mut text = [0; 4096];
        loop {
            let mut room = nix::cmsg_space!([RawFd; 4]);
            let mut slices = [IoSliceMut::new(&mut text)];
            let (fd, flags) = (self.socket.as_raw_fd(), MsgFlags::empty());
            let Ok(message) = recvmsg::<()>(fd, &mut slices, Some(&mut room[..]), flags) else {
                return;
            };
            let length = message.bytes;
            let files: Vec<RawFd> = (message.cmsgs().expect("whole"))
                .filter_map(|told| match told {
                    ControlMessageOwned::ScmRights(files) => Some(files),
                    _ => None,
                })
                .flatten()
                .collect();
            let said = String::from_utf8_lossy(&text[..length]).into_owned();
            let name = said.lines().find_map(|line| line.strip_prefix("FDNAME="));
            let Some(name) = name.map(String::from) else {
                assert!(files.is_empty(), "{said}");
                continue;
            };
            if said.starts_with("FDSTOREREMOVE=1") {
                let gone = |(kept, _): &mut (String, RawFd)| *kept == name;
                for (_, file) in self.kept.extract_if(.., gone) {
                    nix::unistd::close(file).expect("closed");
                }
            }
            (self.kept).extend(files.into_iter().map(|file| (name.clone(), file)));
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.end(true);
        for (_, file) in self.kept.drain(..) {
            let _ = nix::unistd::close(file);
        }
    }
}

fn possible() -> bool {
    let bash = Command::new("bash").arg("--version").output();
    let why = obstacle().or_else(|| bash.err().map(|e| format!("bash cannot be run: {e}")));
    if let Some(why) = &why {
        eprintln!("SKIPPED: {why}");
    }
    why.is_none()
}

/// Makes two sites, of which the first has its gateway in a process.
fn supervised(keeps: bool, interface: &str) -> (Sites, Supervisor) {
    let mut sites = Sites::new(&PATH);
    // Only the gateway sends on the wire.
    let _ = sites.ends[0].set("net/ipv6/conf/w/disable_ipv6", "1");
    let files = sites.write("cap = \"50 Mbps\"\n");
    let text = std::fs::read_to_string(&files[0]).expect("readable");
    let text = text.replace("[peer.other]", &format!("{interface}\n[peer.other]"));
    std::fs::write(&files[0], text).expect("written");
    let mut supervisor = Supervisor::new(&sites, &files[0], keeps);
    supervisor.start(&sites);
    sites.start(1, &files[1]);
    for end in 0..2 {
        let joined = sites.wait_for(end, "controlled");
        assert!(joined, "{}", sites.status(end));
    }
    (sites, supervisor)
}

/// Returns the packets that a has sent on the wire.
fn sent_on_the_wire(sites: &Sites) -> u64 {
    let net = sites.command(0, &["cat", "/proc/net/dev"]).expect("cat runs").1;
    let line = net.lines().find_map(|l| l.trim().strip_prefix("w:"));
    let field = line.and_then(|l| l.split_whitespace().nth(9));
    field.and_then(|n| n.parse().ok()).expect("a counter")
}

/// Sends packets from a to the network behind b, and returns how many of them went out on the wire in
/// the clear, or what else did.
fn leaked(sites: &Sites) -> u64 {
    let before = sent_on_the_wire(sites);
    let send = || {
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").expect("bound");
        for _ in 0..20 {
            let _ = socket.send_to(b"in the clear", (INNER[1], 9));
        }
    };
    sites.ends[0].within(send).expect("it is entered");
    std::thread::sleep(Duration::from_millis(50));
    sent_on_the_wire(sites) - before
}

fn way(sites: &Sites) -> String {
    let (_, said) = (sites.command(0, &["ip", "route", "get", INNER[1]])).expect("ip runs");
    said
}

/// kill -9 in the middle of a transfer, with systemd's part played by the test: data of the same
/// connection arrives again, and no packet leaves before.
#[test]
fn a_gateway_that_is_killed_is_back() {
    if !possible() {
        return;
    }
    let (mut sites, mut supervisor) = supervised(true, "");
    let tunnel = sites.tcp(INNER[1], 5001, "cubic");
    assert!(reached(&tunnel, GOES_ON) > GOES_ON, "it carries data");
    for _ in 0..2 {
        supervisor.end(true);
        let began = Instant::now();
        let mut names: Vec<&str> = supervisor.kept.iter().map(|(n, _)| n.as_str()).collect();
        names.sort_unstable();
        assert!(
            names.len() == 2 && names[0].starts_with("tun-gw0-") && names[1] == "udp",
            "{names:?}"
        );
        assert_eq!(leaked(&sites), 0, "nothing leaves while there is no gateway");
        assert!(way(&sites).contains("dev gw0"), "{}", way(&sites));
        std::thread::sleep(PAUSE.saturating_sub(began.elapsed()));
        supervisor.start(&sites);
        assert!(is_back(&tunnel, GOES_ON, "kill -9", began), "{}", sites.status(0));
        let rate = reached(&tunnel, GOES_ON);
        assert!(rate > GOES_ON, "the same connection goes on: {rate} Mbps");
    }
    // Somebody removes the device: it is not handed over again, and the next start makes another one.
    sites.command(0, &["ip", "link", "delete", "gw0"]);
    supervisor.end(false);
    assert_eq!(supervisor.kept.len(), 1, "{:?}", supervisor.kept);
    supervisor.start(&sites);
    let joined = sites.wait_for(0, "controlled");
    assert!(joined, "{}", sites.status(0));
}

/// Without systemd a device that persists keeps the routes, so nothing leaves either.
#[test]
fn a_device_that_persists_keeps_packets_from_leaving() {
    if !possible() {
        return;
    }
    for persist in [true, false] {
        let (mut sites, mut supervisor) = supervised(false, &format!("persist = {persist}"));
        // Its datagrams would be answered, that there is no socket.
        sites.end(1);
        supervisor.end(true);
        assert!(supervisor.kept.is_empty());
        if !persist {
            // So the test can fail: without the device the route is the default one.
            assert!(leaked(&sites) > 0, "{}", way(&sites));
            continue;
        }
        assert_eq!(leaked(&sites), 0, "{}", way(&sites));
        supervisor.start(&sites);
        let other = sites.folder.path().join("1.toml");
        sites.start(1, &other);
        let joined = sites.wait_for(0, "controlled");
        assert!(joined, "the device is taken again: {}", sites.status(0));
        let tunnel = sites.tcp(INNER[1], 5001, "cubic");
        assert!(reached(&tunnel, GOES_ON) > GOES_ON);
    }
}

/// Packets that are joined and cut are the same traffic: with and without offloads TCP gets through,
/// and the status says which.
#[test]
fn offloads_can_be_left_out() {
    if !possible() {
        return;
    }
    for offload in [true, false] {
        let (mut sites, _supervisor) = supervised(false, &format!("offload = {offload}"));
        let used = sites.status(0)["offloads"].to_string();
        let all = r#"["device-tcp","device-udp","send","receive"]"#;
        if offload {
            assert!(used == all, "{used}")
        } else {
            assert!(used == "[]", "{used}")
        }
        let tunnel = sites.tcp(INNER[1], 5001, "cubic");
        let rate = reached(&tunnel, GOES_ON);
        assert!(rate > GOES_ON, "offload = {offload}: {rate} Mbps");
        assert_eq!(sites.status(0)["offloads"].to_string(), used, "none was lost");
    }
}
