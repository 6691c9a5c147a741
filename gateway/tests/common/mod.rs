//! Two sites in network namespaces without names: gateways, a bottleneck of the kernel, a path with
//! delay, and TCP of the kernel.
//!
//! ```text
//! a ----- wire (delay) ----- router ----- bottleneck (kernel) ----- b
//! 10.1.0.1                                                  10.2.0.1
//! ```

#![allow(clippy::disallowed_methods, reason = "real time passes here")]
#![allow(dead_code, reason = "not every test uses all of it")]

pub mod wire;

use accord_door::log::LevelFilter;
use accord_gateway::keys::{PrivateKey, PublicKey};
use accord_gateway::{Options, RENEWAL, run};
use accord_live::namespace::{Namespace, ip, join};
use nix::sys::socket::{setsockopt, sockopt};
use std::ffi::OsString;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The patience of tests. A busy machine makes things later, but only a fault makes them never.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// The addresses of the two gateways' sockets, and those of their devices.
pub const OUTER: [&str; 2] = ["192.0.2.1", "192.0.2.6"];
pub const INNER: [&str; 2] = ["10.1.0.1", "10.2.0.1"];
/// The address of b's second uplink.
pub const UPLINK: &str = "198.51.100.2";
/// The same of IPv6.
pub const OUTER_V6: [&str; 2] = ["2001:db8:1::1", "2001:db8:2::1"];
pub const INNER_V6: [&str; 2] = ["fd00:1::1", "fd00:2::1"];

/// The queue of the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// One FIFO queue.
    Fifo,
    /// Expedited packets go first (HTB), the others wait in a FIFO queue.
    Expedited,
}

/// A path between two sites.
#[derive(Clone, Copy, Debug)]
pub struct Path_ {
    /// The rate of the bottleneck in Mbit/s.
    pub mbps: u64,
    /// The buffer of the bottleneck in bytes.
    pub buffer: u64,
    /// The queue of the bottleneck.
    pub queue: Queue,
    /// The delay of the wire, one way.
    pub delay: Duration,
    /// The part of data packets that the wire loses, in thousandths.
    pub loss_permille: u64,
}

/// Two sites.
pub struct Sites {
    /// The namespaces of a and b.
    pub ends: [Arc<Namespace>; 2],
    router: Arc<Namespace>,
    /// The wire between a and the router.
    pub wire: wire::Wire,
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    /// The gateways that run, by end.
    gateways: [Option<(Arc<AtomicBool>, JoinHandle<()>)>; 2],
    keys: std::cell::RefCell<Vec<PrivateKey>>,
    /// Has gateways read their files again, by end.
    pub reload: [Arc<AtomicBool>; 2],
    /// The time after which gateways are renewed that start from now on.
    pub renewal: accord_units::Duration,
    /// The lines of their logs, by end.
    logs: [Arc<Mutex<Vec<String>>>; 2],
    pub folder: tempfile::TempDir,
}

/// Returns why sites in namespaces are not possible here.
pub fn obstacle() -> Option<String> {
    if let Some(why) = accord_live::namespace::obstacle() {
        return Some(why.to_string());
    }
    match Command::new("tc").arg("-V").output() {
        Ok(_) => None,
        Err(e) => Some(format!("the program tc cannot be run: {e}")),
    }
}

fn tc(namespace: &Namespace, arguments: &str) {
    let run = || {
        let words = arguments.split_whitespace();
        Command::new("tc").args(words).output().expect("tc runs")
    };
    let output = namespace.within(run).expect("it is entered");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "tc {arguments}: {said}");
}

impl Sites {
    /// Makes two sites without gateways.
    pub fn new(path: &Path_) -> Sites {
        let made = || Arc::new(Namespace::new().expect("a namespace"));
        let (ends, router) = ([made(), made()], made());
        let wire = wire::Wire::open(&ends[0], &router, path.delay, path.loss_permille);
        ip(
            &ends[0],
            "link set lo up\naddress add 192.0.2.1/30 dev w\nlink set w mtu 1500 txqueuelen 10000 up\n\
             route add default dev w\n",
        )
        .expect("set up");
        ip(&router, "address add 192.0.2.2/30 dev w\nlink set w mtu 1500 txqueuelen 10000 up\n")
            .expect("set up");
        let (here, there) = (Ipv4Addr::new(192, 0, 2, 5), Ipv4Addr::new(192, 0, 2, 6));
        join((&router, here), (&ends[1], there)).expect("joined");
        let name = |address: Ipv4Addr| format!("v{:x}", u32::from(address));
        // Whole packets, as on a wire, not segments joined to larger ones.
        let plain = |name: String| format!("link set {name} mtu 1500 gso_max_segs 1\n");
        ip(&router, &plain(name(here))).expect("set up");
        let route = "link set lo up\nroute add default via 192.0.2.5\n".to_string();
        ip(&ends[1], &(plain(name(there)) + &route)).expect("set up");
        router.set("net/ipv4/ip_forward", "1").expect("set");
        for end in &ends {
            end.set("net/ipv4/tcp_no_metrics_save", "1").expect("set");
        }
        let (dev, mbps, buffer) = (name(here), path.mbps, path.buffer);
        match path.queue {
            Queue::Fifo => tc(
                &router,
                &format!("qdisc add dev {dev} root tbf rate {mbps}mbit burst 3200 limit {buffer}"),
            ),
            Queue::Expedited => {
                // The class for data has hardly a rate of its own, and borrows what EF leaves.
                let most = format!("ceil {mbps}mbit burst 1600 cburst 1600");
                for rest in [
                    "qdisc add dev DEV root handle 1: htb default 2".to_string(),
                    format!("class add dev DEV parent 1: classid 1:3 htb rate {mbps}mbit {most}"),
                    format!("class add dev DEV parent 1:3 classid 1:1 htb rate {mbps}mbit {most} prio 0"),
                    format!("class add dev DEV parent 1:3 classid 1:2 htb rate 8kbit {most} prio 7"),
                    format!("qdisc add dev DEV parent 1:2 bfifo limit {buffer}"),
                    "filter add dev DEV parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:1".to_string(),
                ] {
                    tc(&router, &rest.replace("DEV", &dev));
                }
            }
        }
        Sites {
            ends,
            router,
            wire,
            stop: Arc::default(),
            threads: Vec::new(),
            gateways: [None, None],
            keys: Default::default(),
            reload: Default::default(),
            renewal: RENEWAL,
            logs: Default::default(),
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    /// Writes keys and a site file for each end, with `more` for a's peer b.
    pub fn write(&self, more: &str) -> [PathBuf; 2] {
        let inner = [INNER[0], INNER[1]].map(|a| format!("{a}/24"));
        let networks = ["10.1.0.0/24", "10.2.0.0/24"];
        self.write_of(OUTER, [&inner[0], &inner[1]], networks, more)
    }

    /// Writes keys and site files as [`Sites::write`] does, for tunnels of IPv6 over IPv6.
    pub fn write_v6(&self, more: &str) -> [PathBuf; 2] {
        let outer = OUTER_V6.map(|a| format!("[{a}]"));
        let inner = INNER_V6.map(|a| format!("{a}/64"));
        let networks = ["fd00:1::/64", "fd00:2::/64"];
        self.write_of([&outer[0], &outer[1]], [&inner[0], &inner[1]], networks, more)
    }

    fn write_of(
        &self,
        outer: [&str; 2],
        inner: [&str; 2],
        networks: [&str; 2],
        more: &str,
    ) -> [PathBuf; 2] {
        let keys = [0, 1].map(|i| {
            let key = PrivateKey::random().expect("randomness");
            let path = self.folder.path().join(format!("{i}.key"));
            key.write(&path).expect("written");
            key
        });
        let paths = [0, 1].map(|i| {
            let other = 1 - i;
            let text = format!(
                "[gateway]\nkey = \"{i}.key\"\nlisten = \"{}:51820\"\ndevice = \"gw0\"\n\
                 address = [\"{}\"]\nstatus = \"{i}.sock\"\n\
                 [peer.other]\npublic_key = \"{}\"\nendpoint = \"{}:51820\"\n\
                 networks = [\"{}\"]\n{}",
                outer[i],
                inner[i],
                keys[other].public(),
                outer[other],
                networks[other],
                if i == 0 { more } else { "cap = \"100 Mbps\"\n" },
            );
            let path = self.folder.path().join(format!("{i}.toml"));
            std::fs::write(&path, text).expect("written");
            path
        });
        *self.keys.borrow_mut() = keys.into();
        paths
    }

    /// Gives the path addresses of IPv6, too.
    pub fn with_v6(self) -> Sites {
        let dev = format!("v{:x}", u32::from(Ipv4Addr::new(192, 0, 2, 5)));
        let far = format!("v{:x}", u32::from(Ipv4Addr::new(192, 0, 2, 6)));
        self.router.set("net/ipv6/conf/all/forwarding", "1").expect("set");
        let [a, b] = OUTER_V6;
        for (namespace, commands) in [
            (&self.ends[0], format!("address add {a}/64 dev w nodad\nroute add ::/0 dev w\n")),
            (
                &self.router,
                format!(
                    "address add 2001:db8:1::ff/64 dev w nodad\n\
                     address add 2001:db8:2::ff/64 dev {dev} nodad\n"
                ),
            ),
            (
                &self.ends[1],
                format!(
                    "address add {b}/64 dev {far} nodad\n\
                     route add ::/0 via 2001:db8:2::ff\n"
                ),
            ),
        ] {
            ip(namespace, &commands).expect("set up");
        }
        self
    }

    /// Gives b a second uplink, for packets from its address. It has no bottleneck.
    pub fn with_uplink(self) -> Sites {
        let (here, there) = (Ipv4Addr::new(198, 51, 100, 1), UPLINK.parse().expect("an address"));
        join((&self.router, here), (&self.ends[1], there)).expect("joined");
        ip(
            &self.ends[1],
            "route add default via 198.51.100.1 table 7\nrule add from 198.51.100.2 table 7\n",
        )
        .expect("set up");
        self
    }

    /// Cuts the link of b's first uplink, at the router.
    pub fn cut_first_uplink(&self) {
        let dev = format!("v{:x}", u32::from(Ipv4Addr::new(192, 0, 2, 5)));
        ip(&self.router, &format!("link set {dev} down\n")).expect("cut");
    }

    /// Sets the MTU of the link between one end and the router, which cuts datagrams without DF.
    pub fn set_mtu(&self, end: usize, mtu: u64) {
        let wire = ["w", "w"].map(String::from);
        let bottleneck = [[192, 0, 2, 6], [192, 0, 2, 5]];
        let bottleneck = bottleneck.map(|a| format!("v{:x}", u32::from(Ipv4Addr::from(a))));
        let devices = [wire, bottleneck][end].clone();
        for (namespace, device) in [&self.ends[end], &self.router].into_iter().zip(devices) {
            ip(namespace, &format!("link set {device} mtu {mtu}\n")).expect("set");
        }
    }

    /// Starts a gateway at one end.
    pub fn start(&mut self, end: usize, path: &Path) {
        let (namespace, stop) = (self.ends[end].clone(), Arc::new(AtomicBool::new(false)));
        let (path, stopped) = (path.to_path_buf(), stop.clone());
        let (reload, log) = (self.reload[end].clone(), self.logs[end].clone());
        let renewal = self.renewal;
        let work = move || {
            let log = Arc::new(move |line: &str| log.lock().expect("whole").push(line.into()));
            let level = LevelFilter::INFO;
            let options =
                Options { path, stop: stopped, reload, signals: false, renewal, level, log };
            // A program that another test starts has this process's sockets until it is loaded, so the address
            // of a gateway that has ended may stay taken for a moment.
            let begun = Instant::now();
            loop {
                let ended = run(&options).map(|_| ()).map_err(|e| e.to_string());
                let taken = ended.as_ref().is_err_and(|e| e.contains("Address already in use"));
                if !taken || begun.elapsed() > PATIENCE {
                    return ended;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        };
        let thread = std::thread::spawn(move || {
            let ended = namespace.within(work).expect("it is entered");
            ended.expect("the gateway runs");
        });
        self.gateways[end] = Some((stop, thread));
    }

    /// The lines that the gateways at one end have logged.
    pub fn log(&self, end: usize) -> Vec<String> {
        self.logs[end].lock().expect("whole").clone()
    }

    /// Starts a gateway at one end that does not run. Returns why.
    pub fn refused(&self, end: usize, path: &Path) -> String {
        let ended = self.ends[end].within(|| {
            let options = Options {
                path: path.to_path_buf(),
                stop: Arc::new(AtomicBool::new(true)),
                reload: Arc::default(),
                signals: false,
                renewal: RENEWAL,
                level: LevelFilter::OFF,
                log: Arc::new(|_: &str| ()),
            };
            run(&options).map_err(|e| e.to_string())
        });
        let ended = ended.expect("it is entered");
        ended.expect_err("it does not run")
    }

    /// Ends the gateway at one end. It says nothing to its peer.
    pub fn end(&mut self, end: usize) {
        if let Some((stop, thread)) = self.gateways[end].take() {
            stop.store(true, Ordering::Relaxed);
            let ended = thread.join();
            if !std::thread::panicking() {
                ended.expect("it does not panic");
            }
        }
    }

    /// Starts wireguard-go at b, in the place of a gateway.
    pub fn start_wireguard(&self, program: &std::ffi::OsStr) -> Process {
        let device = format!("wg{}", std::process::id());
        let spawn = || Command::new(program).args(["-f", &device]).spawn();
        let child = self.ends[1].within(spawn).expect("it is entered");
        let socket = format!("/var/run/wireguard/{device}.sock");
        let process = Process(child.expect("it runs"), socket.clone());
        let until = Instant::now() + PATIENCE;
        let mut stream = loop {
            match std::os::unix::net::UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(e) if Instant::now() > until => panic!("{socket}: {e}"),
                Err(_) => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
        let path = self.folder.path().join("1.key");
        let text = std::fs::read_to_string(path).expect("a key");
        let private: PublicKey = text.trim().parse().expect("32 bytes");
        let public = self.keys.borrow()[0].public();
        let settings = format!(
            "set=1\nprivate_key={}\nlisten_port=51820\npublic_key={}\nendpoint={}:51820\n\
             allowed_ip=10.1.0.0/24\n\n",
            hex(&private.0),
            hex(&public.0),
            OUTER[0]
        );
        stream.write_all(settings.as_bytes()).expect("written");
        let mut answer = [0; 64];
        let n = stream.read(&mut answer).expect("an answer");
        assert!(answer[..n].starts_with(b"errno=0"), "{}", answer[..n].escape_ascii());
        let commands = format!(
            "address add {}/24 dev {device}\nlink set {device} mtu 1420 up\n\
             route add 10.1.0.0/24 dev {device}\n",
            INNER[1]
        );
        ip(&self.ends[1], &commands).expect("set up");
        process
    }

    /// Makes a request of the gateway at one end. Returns the head and the body of the answer.
    pub fn ask(&self, end: usize, what: &str) -> (String, String) {
        let path = self.folder.path().join(format!("{end}.sock"));
        let asked = || -> std::io::Result<String> {
            let mut stream = std::os::unix::net::UnixStream::connect(&path)?;
            write!(stream, "{what} HTTP/1.1\r\n\r\n")?;
            let mut answer = String::new();
            stream.read_to_string(&mut answer)?;
            Ok(answer)
        };
        let answer = asked().unwrap_or_default();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
        (head.to_string(), body.to_string())
    }

    /// Asks the gateway at one end for its state.
    pub fn status(&self, end: usize) -> serde_json::Value {
        serde_json::from_str(&self.ask(end, "GET /status").1).unwrap_or_default()
    }

    /// Waits until the peer of one end is in this state. Returns whether it is.
    pub fn wait_for(&self, end: usize, state: &str) -> bool {
        waited(|| {
            let status = self.status(end);
            status["peers"][0]["up"] == true && status["peers"][0]["state"] == state
        })
    }

    /// Runs a command at one end. Returns whether it succeeded, and its output.
    pub fn command(&self, end: usize, words: &[&str]) -> Option<(bool, String)> {
        let run = || Command::new(words[0]).args(&words[1..]).output();
        let output = self.ends[end].within(run).expect("it is entered").ok()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        Some((output.status.success(), said))
    }

    /// Answers requests of HTTP at b with this text, until the returned value is dropped.
    pub fn serve_http(&self, port: u16, text: &'static str) -> Server {
        let address: SocketAddr = format!("{}:{port}", INNER[1]).parse().expect("an address");
        let listener = self.ends[1].within(|| TcpListener::bind(address));
        let listener = listener.expect("it is entered").expect("it is bound");
        listener.set_nonblocking(true).expect("set");
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = stop.clone();
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                let Ok((mut stream, _)) = listener.accept() else {
                    std::thread::sleep(Duration::from_millis(20));
                    continue;
                };
                let _ = stream.read(&mut [0; 1024]);
                let length = text.len();
                let _ = write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {length}\r\n\r\n{text}");
            }
        });
        Server { stop, thread: Some(thread) }
    }

    /// Starts a TCP connection of the kernel from a to this address of b, with this congestion
    /// control, that sends all it can. Returns the bytes that arrive.
    pub fn tcp(&mut self, to: &str, port: u16, congestion: &str) -> Arc<AtomicU64> {
        let address: SocketAddr = format!("{to}:{port}").parse().expect("an address");
        let listener = self.ends[1].within(|| TcpListener::bind(address));
        let listener = listener.expect("it is entered").expect("it is bound");
        let arrived = Arc::new(AtomicU64::new(0));
        let (counter, stop) = (arrived.clone(), self.stop.clone());
        self.threads.push(std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().expect("it is called");
            let patience = Some(Duration::from_millis(200));
            stream.set_read_timeout(patience).expect("set");
            let mut room = vec![0; 1 << 16];
            while !stop.load(Ordering::Relaxed) {
                if let Ok(n) = stream.read(&mut room) {
                    counter.fetch_add(n as u64, Ordering::Relaxed);
                }
            }
        }));
        let called = self.ends[0].within(|| TcpStream::connect_timeout(&address, PATIENCE));
        let mut stream = called.expect("it is entered").expect("it is answered");
        setsockopt(&stream, sockopt::TcpCongestion, &OsString::from(congestion))
            .expect("there is it");
        stream.set_write_timeout(Some(Duration::from_millis(200))).expect("set");
        let stop = self.stop.clone();
        self.threads.push(std::thread::spawn(move || {
            let data = vec![0; 1 << 16];
            while !stop.load(Ordering::Relaxed) {
                let _ = stream.write(&data);
            }
        }));
        arrived
    }
}

/// A program that is ended when this is dropped, and the socket that it would leave behind.
pub struct Process(std::process::Child, String);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
        let _ = std::fs::remove_file(&self.1);
    }
}

/// A server that is stopped when this is dropped.
pub struct Server {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let thread = self.thread.take();
        thread.map(JoinHandle::join);
    }
}

impl Drop for Sites {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        (0..2).for_each(|end| self.end(end));
        for thread in self.threads.drain(..) {
            let ended = thread.join();
            if !std::thread::panicking() {
                ended.expect("no thread panics");
            }
        }
    }
}

/// Returns the rates in Mbit/s at which these counters grow in `seconds`.
pub fn rates(counters: &[&AtomicU64], seconds: f64) -> Vec<f64> {
    let read = || -> Vec<u64> { counters.iter().map(|c| c.load(Ordering::Relaxed)).collect() };
    let (before, began) = (read(), Instant::now());
    std::thread::sleep(Duration::from_secs_f64(seconds));
    let (after, took) = (read(), began.elapsed().as_secs_f64());
    let grown = after.iter().zip(&before);
    grown.map(|(a, b)| (a - b) as f64 * 8e-6 / took).collect()
}

/// Waits until this is so. Returns whether it is after [`PATIENCE`].
pub fn waited(mut is: impl FnMut() -> bool) -> bool {
    let until = Instant::now() + PATIENCE;
    while !is() {
        if Instant::now() > until {
            return false;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    true
}

/// Waits until this counter has grown at more than `least` Mbit/s for a second. Returns the rate of the
/// last second, which is not more after [`PATIENCE`].
pub fn reached(counter: &AtomicU64, least: f64) -> f64 {
    let until = Instant::now() + PATIENCE;
    loop {
        let rate = rates(&[counter], 1.0)[0];
        if rate > least || Instant::now() > until {
            return rate;
        }
    }
}

/// Waits until this counter grows at more than `least` Mbit/s, and prints the time since an event. Returns
/// whether it does. No test judges the time, which depends on the load of the machine.
pub fn is_back(counter: &AtomicU64, least: f64, event: &str, began: Instant) -> bool {
    let back = waited(|| rates(&[counter], 0.1)[0] > least);
    eprintln!("data arrives again {:?} after {event}: {back}", began.elapsed());
    back
}
