//! The driver of a gateway: clock, device, socket, signals and the service manager.
//!
//! One thread handles packets. It waits until a file is ready or work is due, reads packets and
//! datagrams, calls the gateway and writes the results.

mod ask;
mod device;
mod endpoints;
mod keeper;
mod load;
mod notify;
mod refused;
mod socket;
mod watch;
mod ways;

use self::ask::{Ask, Order, Shown, parse};
use self::device::Device;
use self::endpoints::Endpoints;
use self::keeper::Keeper;
use self::load::{Lateness, Load};
use self::notify::Manager;
use self::socket::Socket;
use self::watch::Watch;
use self::ways::Ways;
pub use self::ways::{Taken, taken};
use crate::config::{Interface, Site, load};
use crate::error::RunError;
use crate::gateway::{Gateway, Output};
use crate::keys::{PrivateKey, SharedKey};
use crate::status::{ConfigStatus, OFFLOADS, PeerStatus, status};
use crate::wireguard::{PeerKeys, WireGuard};
use accord_door::log::{LevelFilter, Log, Sink};
use accord_door::{Door, Form};
use accord_host::Clock;
use accord_units::{Duration, Time};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::signal::{SigSet, Signal};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use std::fmt;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The maximum number of packets that are taken from the device before the socket has its turn.
const BATCH: usize = 128;
/// The shortest time from one look to the next if nothing arrives. At a high pace packets are sent in groups
/// of this length. It is less than the millisecond that a sender makes up, and less than a noticeable
/// latency.
const GRAIN: Duration = Duration::from_us(200);
/// The time from one look at the device and the socket to the next while packets wait or the load
/// is high. A look per packet would cost more than the packet, as would an interrupt per packet.
const REST: Duration = Duration::from_us(100);
/// The time from one look at the peers for the log to the next.
const LOOK: Duration = Duration::from_secs(1);

/// The time from the answer to one client to the next.
const TURN: Duration = Duration::from_ms(1);
/// The time from one line of the log about a flood to the next.
const FLOOD: Duration = Duration::from_secs(60);

/// The longest wait before signals and the stop flag are examined again.
const LONGEST_WAIT: Duration = Duration::from_ms(500);

/// The time after which a gateway is renewed. A [`Time`] holds 213 days of picoseconds, and everything stops at
/// its end.
pub const RENEWAL: Duration = Duration::from_secs(200 * 24 * 3600);

/// The options of a run.
pub struct Options {
    /// The site file.
    pub path: PathBuf,
    /// Ends the run when it is set.
    pub stop: Arc<AtomicBool>,
    /// Reloads the site file when it is set.
    pub reload: Arc<AtomicBool>,
    /// True if signals are handled: SIGHUP reloads the site file, and SIGINT and SIGTERM end the run. The
    /// calling thread must then be the only one.
    pub signals: bool,
    /// The time after which the gateway is renewed: its clock and its sessions begin again, and its device, its
    /// routes and its sockets stay. It is at most [`RENEWAL`].
    pub renewal: Duration,
    /// The level of the log.
    pub level: LevelFilter,
    /// The sink of its lines.
    pub log: Sink,
}

impl fmt::Debug for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options").field("path", &self.path).finish()
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The gateway was stopped by the flag or by SIGTERM.
    Stopped,
    /// Interrupted by SIGINT.
    Interrupted,
}

/// Runs a gateway until it is stopped.
///
/// # Errors
/// Fails if the site file has errors, or the system does not allow the run.
pub fn run(options: &Options) -> Result<Ended, RunError> {
    let log = Log::new(options.level, options.log.clone());
    tracing::subscriber::with_default(log.clone(), || {
        let mut driver = Driver::new(options, log, Parts::open(options)?)?;
        loop {
            if let Some(ended) = driver.run()? {
                return Ok(ended);
            }
            driver = driver.renewed()?;
        }
    })
}

/// Sets the guards of a site, as the start of its gateway does. Removes those that are not in the site file.
///
/// # Errors
/// Fails if the system does not allow it.
pub fn guard(site: &Site) -> Result<(), RunError> {
    Ways::new(site).guard_alone()
}

/// The parts of a driver that outlive its clock.
struct Parts {
    site: Site,
    private: PrivateKey,
    config: ConfigStatus,
    /// The device and the socket, by their names, if they are open already.
    kept: Vec<(String, OwnedFd)>,
    /// The sockets for clients, if they are open already.
    doors: Vec<Door<Ask>>,
    signals: Option<SignalFd>,
}

impl Parts {
    /// Takes those that the service manager has kept, and reads the site file.
    fn open(options: &Options) -> Result<Parts, RunError> {
        // The service manager starts only processes that are gateways and have no other function.
        let kept = if options.signals { notify::kept() } else { Vec::new() };
        let signals = options.signals.then(signals).transpose()?;
        let (site, private) = read(&options.path)?;
        let config = ConfigStatus { loaded_unix_s: unix_time(), error: None };
        Ok(Parts { site, private, config, kept, doors: Vec::new(), signals })
    }
}

/// Reads a site file and the key of the gateway.
fn read(path: &Path) -> Result<(Site, PrivateKey), RunError> {
    let site = load(path).map_err(RunError::Config)?;
    let private = PrivateKey::read(&site.interface.key).map_err(RunError::Wrong)?;
    site.check_own_key(&private.public()).map_err(RunError::Wrong)?;
    Ok((site, private))
}

/// Returns the keys of the peers of a site.
fn peer_keys(site: &Site) -> Result<Vec<PeerKeys>, RunError> {
    let keys = site.peers.iter().map(|peer| {
        let shared = peer.preshared_key.as_deref().map(SharedKey::read);
        Ok(PeerKeys {
            publics: peer.public_keys.clone(),
            shared: shared.transpose().map_err(RunError::Wrong)?,
            keepalive: peer.keepalive,
        })
    });
    keys.collect()
}

/// A gateway and the parts that drive it.
struct Driver<'a> {
    options: &'a Options,
    site: Site,
    clock: Clock,
    /// The repair of the ways to the device. It ends before the device does.
    keeper: Keeper,
    device: Device,
    socket: Socket,
    /// The sockets for clients: one for status and commands, and one for metrics.
    doors: Vec<Door<Ask>>,
    /// The latest metrics.
    shown: Shown,
    endpoints: Endpoints,
    manager: Manager,
    signals: Option<SignalFd>,
    gateway: Gateway<WireGuard>,
    config: ConfigStatus,
    /// The offloads in use as of the latest line of the log.
    told_offloads: Vec<&'static str>,
    /// The name and state of each peer as of the latest line of the log.
    told: Vec<(String, &'static str)>,
    next_look: Time,
    /// The number of rejected handshakes as of the latest line of the log about them, and the earliest time
    /// of the next such line.
    told_floods: (u64, Time),
    load: Load,
    log: Log,
    /// The time at which the trace of a peer ends.
    trace_ends: Time,
    lateness: Lateness,
}

impl<'a> Driver<'a> {
    fn new(options: &'a Options, log: Log, parts: Parts) -> Result<Driver<'a>, RunError> {
        let Parts { site, private, config, mut kept, mut doors, signals } = parts;
        let manager = if options.signals { Manager::connect() } else { Manager::default() };
        let sessions = WireGuard::new(&private, &peer_keys(&site)?);
        let mut seed = [0; 8];
        getrandom::fill(&mut seed).map_err(|e| RunError::Unable(format!("no randomness: {e}")))?;
        let seed = u64::from_le_bytes(seed);
        let mut gateway = Gateway::new(&site, sessions, seed)?;
        let interface = &site.interface;
        let (listen, mark, offload) = (interface.listen, interface.fwmark, interface.offload);
        let socket = Socket::bind(listen, mark, offload, &mut kept, &manager).map_err(|e| {
            let absent = e.raw_os_error() == Some(Errno::EAFNOSUPPORT as i32);
            let more = match absent && listen.is_ipv6() {
                true => "; this host has no IPv6: listen = \"0.0.0.0:51820\" is IPv4 alone",
                false => "",
            };
            RunError::Unable(format!("{listen} cannot be bound: {e}{more}"))
        })?;
        if doors.is_empty() {
            let status = interface.status.as_deref().map(|path| Door::open(path, parse));
            let metrics = interface.metrics.map(|at| Door::listen(at, Ask::read_metrics));
            doors = status.into_iter().chain(metrics).collect::<Result<_, _>>()?;
        }
        // The kernel then wakes this thread at the requested time, and not up to 50 µs later.
        let _ = nix::sys::prctl::set_timerslack(1);
        let clock = Clock::at_one_second();
        // This precedes the routes of the site, which may obstruct the resolver.
        let endpoints = Endpoints::open(&site, &mut gateway, clock.now());
        let device = Device::open(&site, &mut kept, &manager)?;
        let watch = Watch::open(&interface.device);
        if let Err(e) = watch {
            tracing::warn!(event = "routes-not-watched", reason = e.desc());
        }
        let next_look = clock.now() + LOOK;
        Ok(Driver {
            device,
            keeper: Keeper::new(watch.ok()),
            told_floods: (0, Time::ZERO),
            gateway,
            doors,
            shown: Shown::default(),
            endpoints,
            clock,
            manager,
            config,
            told_offloads: Vec::new(),
            told: Vec::new(),
            // This way, peers that answer at once are not logged as down.
            next_look,
            load: Load::default(),
            log,
            trace_ends: Time::ZERO,
            lateness: Lateness::default(),
            options,
            site,
            socket,
            signals,
        })
    }

    /// Returns a driver with the same device, socket and clients, and with a clock and sessions that begin.
    fn renewed(mut self) -> Result<Driver<'a>, RunError> {
        let private = PrivateKey::read(&self.site.interface.key).map_err(RunError::Wrong)?;
        let (device, socket) = (self.device.hand_over(), self.socket.hand_over());
        let unable = |e| RunError::Unable(format!("the gateway cannot be renewed: {e}"));
        let kept = vec![device.map_err(unable)?, socket.map_err(unable)?];
        tracing::info!(event = "renewed");
        let Driver { options, site, config, doors, signals, log, .. } = self;
        Driver::new(options, log, Parts { site, private, config, kept, doors, signals })
    }

    /// Runs until the gateway has ended. Returns `None` if it has to be renewed.
    fn run(&mut self) -> Result<Option<Ended>, RunError> {
        let interface = &self.site.interface;
        tracing::info!(
            event = "ready",
            device = interface.device,
            listen = %interface.listen,
            peers = self.site.peers.len(),
            offloads = self.offloads().join(","),
        );
        self.told_offloads = self.offloads();
        self.manager.tell("READY=1");
        let ended = loop {
            if self.options.stop.load(Ordering::Relaxed) {
                break Ended::Stopped;
            }
            if self.options.reload.swap(false, Ordering::Relaxed) {
                self.reload();
            }
            if let Some(ended) = self.heed_signals() {
                break ended;
            }
            if self.clock.now().since_start() >= self.options.renewal {
                return Ok(None);
            }
            self.take_in()?;
            let wake = self.poll();
            let answered = self.answer();
            self.keeper.look(&self.device.ways, self.clock.now());
            self.look();
            let now = self.clock.now();
            self.wait(if answered { wake.min(now + TURN) } else { wake });
            self.lateness.note(wake, self.clock.now());
        };
        self.manager.tell("STOPPING=1");
        tracing::info!(event = "stopped");
        Ok(Some(ended))
    }

    /// Waits until something has arrived or until `wake`, but at least for the time for which a
    /// look is not worth its cost.
    fn wait(&self, wake: Time) {
        let rested = self.load.at + REST;
        if self.load.is_much() {
            self.clock.wait(rested, LONGEST_WAIT, &mut []);
            return;
        }
        if self.gateway.is_waiting() {
            // Packets for a paced queue cannot be sent before those ahead of them.
            self.clock.wait(rested, LONGEST_WAIT, &mut []);
        }
        let mut files = vec![
            PollFd::new(self.device.as_fd(), PollFlags::POLLIN),
            PollFd::new(self.socket.as_fd(), PollFlags::POLLIN),
        ];
        if let Some(signals) = &self.signals {
            files.push(PollFd::new(signals.as_fd(), PollFlags::POLLIN));
        }
        let wake = if wake > self.clock.now() { wake.max(self.load.at + GRAIN) } else { wake };
        self.clock.wait(wake, LONGEST_WAIT, &mut files);
    }

    /// Reads packets and datagrams.
    fn take_in(&mut self) -> Result<(), RunError> {
        let now = self.clock.now();
        let (device, gateway) = (&mut self.device, &mut self.gateway);
        let mut count = 0;
        while count < BATCH {
            let taken = device.receive(&mut |packet| gateway.on_packet(packet, now));
            match taken {
                Ok(0) => break,
                Ok(taken) => count += taken,
                Err(e) => {
                    // The device was removed, so the next start creates a new one.
                    self.manager.forget(&device.label());
                    return Err(RunError::Unable(format!("the device fails: {e}")));
                }
            }
        }
        let received = self.socket.receive(&self.clock, |out, from, tos, at, datagram| {
            gateway.on_datagram(from, tos, datagram, at, &mut |output| match output {
                Output::Packet(packet) => device.push(packet),
                Output::Datagram(way, bytes) => out.push(way, bytes),
            })
        });
        let received = received.map_err(|e| RunError::Unable(format!("the socket fails: {e}")))?;
        self.load.add(count + received, now);
        self.device.flush();
        self.socket.flush();
        Ok(())
    }

    /// Runs the due work of the gateway.
    fn poll(&mut self) -> Time {
        let (now, device, socket) = (self.clock.now(), &mut self.device, &mut self.socket);
        let wake = self.gateway.poll(now, &mut |output| match output {
            Output::Packet(packet) => device.push(packet),
            Output::Datagram(way, bytes) => socket.outgoing.push(way, bytes),
        });
        self.device.flush();
        self.socket.flush();
        self.manager.live(now);
        wake
    }

    /// Answers one client. Others wait for the next turn, after packets. Returns whether one was answered.
    fn answer(&mut self) -> bool {
        let Some(request) = (self.doors.iter()).find_map(|d| d.requests.try_recv().ok()) else {
            return false;
        };
        let answer = self.answer_to(&request.ask);
        // A client that has disconnected needs no answer.
        let _ = request.answer.send(answer);
        true
    }

    fn answer_to(&mut self, ask: &Ask) -> (u16, String) {
        match ask {
            Ask::Show(Form::Metrics) => {
                let mut shown = std::mem::take(&mut self.shown);
                let text = shown.text(self.clock.now(), || Form::Metrics.of(&self.status()));
                self.shown = shown;
                (200, text)
            }
            Ask::Show(form) => (200, form.of(&self.status())),
            Ask::Do(Order::Mode(peer, mode)) => {
                if self.gateway.set_mode(peer, *mode) {
                    tracing::info!(event = "mode", peer, mode = mode.word());
                    (200, String::new())
                } else {
                    (404, format!("there is no peer {peer}\n"))
                }
            }
            Ask::Do(Order::Try(peer, class, rate, length)) => {
                let now = self.clock.now();
                match (self.gateway).begin_trial(peer, *class, *rate, *length, now) {
                    Ok(id) => {
                        tracing::info!(event = "trial", peer, id, rate_bps = rate.as_bps());
                        (200, String::new())
                    }
                    Err(why) => (409, why + "\n"),
                }
            }
            Ask::Do(Order::Trace(peer, length)) => {
                if self.site.peers.iter().any(|p| p.name == *peer) {
                    self.log.set_traced(Some(peer));
                    self.trace_ends = self.clock.now() + *length;
                    (200, String::new())
                } else {
                    (404, format!("there is no peer {peer}\n"))
                }
            }
            Ask::Do(Order::Traced) => (200, self.log.take_trace()),
            Ask::Do(Order::Tried(peer)) => match self.gateway.trial(peer) {
                Some(trial) => (200, serde_json::to_string(&trial).unwrap_or_default() + "\n"),
                None => (404, format!("there is no trial of {peer}\n")),
            },
        }
    }

    fn status(&self) -> crate::status::Status {
        let uptime = self.clock.now().as_secs_f64() - 1.0;
        let (site, offloads) = (&self.site, self.offloads());
        let mut status = status(&self.gateway, site, &self.config, offloads, uptime);
        status.missing_routes = self.keeper.missing();
        let (sent, written) = (&self.socket.outgoing.refused, &self.device.refused);
        let refused = [("send_refused", sent.count), ("device_refused", written.count)];
        status.dropped_packets.extend(refused);
        status.lateness_s = self.lateness.most().as_secs_f64();
        status.late_s = self.lateness.lost.as_secs_f64();
        status
    }

    /// Returns the offloads in use, in the order of [`OFFLOADS`].
    fn offloads(&self) -> Vec<&'static str> {
        let (tcp, udp) = self.device.joins();
        let used = [tcp, udp, self.socket.outgoing.declined.is_none(), self.socket.joins];
        let used = OFFLOADS.into_iter().zip(used).filter(|(_, used)| *used);
        used.map(|(kind, _)| kind).collect()
    }

    /// Logs changes of the peers' states.
    fn look(&mut self) {
        let now = self.clock.now();
        if now < self.next_look {
            return;
        }
        self.next_look = now + LOOK;
        if now >= self.trace_ends {
            self.log.set_traced(None);
        }
        self.endpoints.look(&self.site, &mut self.gateway, now);
        let mut told = Vec::new();
        for PeerStatus { name, up, state, endpoint, reason, .. } in self.status().peers {
            let entry = (name, if up { state } else { "down" });
            if !self.told.contains(&entry) {
                let (peer, state) = &entry;
                let endpoint = endpoint.unwrap_or_default();
                match reason {
                    Some(reason) => {
                        tracing::warn!(event = "state", peer, state, endpoint, reason);
                    }
                    None => tracing::info!(event = "state", peer, state, endpoint),
                }
            }
            told.push(entry);
        }
        self.told = told;
        let (count, next) = self.told_floods;
        let flood = self.gateway.dropped.flood;
        if flood > count && now >= next {
            let from = self.gateway.flooding.map_or(String::new(), |a| a.to_string());
            tracing::warn!(event = "flood", from, dropped = flood - count);
            self.told_floods = (flood, now + FLOOD);
        }
        // The other end counts these datagrams as lost in the network.
        if let Some((count, why)) = self.socket.outgoing.refused.due(now) {
            tracing::warn!(event = "send-refused", count, reason = why.desc());
        }
        if let Some((count, why)) = self.device.refused.due(now) {
            tracing::warn!(event = "device-refused", count, reason = why.desc());
        }
        let offloads = self.offloads();
        if offloads != self.told_offloads {
            // The kernel rejected an offload that it had accepted. Packets continue one by one.
            let reason = self.socket.outgoing.declined.map_or("", |e| e.desc());
            tracing::warn!(event = "offloads", left = offloads.join(","), reason);
            self.told_offloads = offloads;
        }
    }

    /// Handles the signals that have arrived.
    fn heed_signals(&mut self) -> Option<Ended> {
        while let Some(info) = self.signals.as_ref()?.read_signal().ok().flatten() {
            match Signal::try_from(info.ssi_signo as i32) {
                Ok(Signal::SIGHUP) => self.reload(),
                Ok(Signal::SIGINT) => return Some(Ended::Interrupted),
                _ => return Some(Ended::Stopped),
            }
        }
        None
    }

    /// Reloads the site file. A file with errors changes nothing.
    fn reload(&mut self) {
        self.manager.tell("RELOADING=1");
        match self.reloaded() {
            Ok(()) => {
                self.config = ConfigStatus { loaded_unix_s: unix_time(), error: None };
                tracing::info!(event = "reloaded", peers = self.site.peers.len());
            }
            Err(e) => {
                tracing::error!(event = "reload-failed", reason = %e);
                self.config.error = Some(e.to_string());
            }
        }
        self.manager.tell("READY=1");
    }

    fn reloaded(&mut self) -> Result<(), RunError> {
        let (site, private) = read(&self.options.path)?;
        let key = self.site.interface.key.clone();
        let interface = Interface { key, ..site.interface.clone() };
        if interface != self.site.interface || site.classes != self.site.classes {
            return Err(RunError::Wrong(
                "[gateway], but for key, and [class] are read at the start only: restart the \
                 gateway"
                    .into(),
            ));
        }
        let keys = peer_keys(&site)?;
        self.keeper.settle();
        self.device.ways.change(&site)?;
        self.gateway.reconfigure(&site, |s| s.set(&private, &keys))?;
        self.site = site;
        Ok(())
    }
}

/// Blocks the delivery of signals to the process, and returns the file from which to read them.
fn signals() -> Result<SignalFd, RunError> {
    let mut set = SigSet::empty();
    for signal in [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM] {
        set.add(signal);
    }
    let flags = SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC;
    (set.thread_block())
        .and_then(|()| SignalFd::with_flags(&set, flags))
        .map_err(|e| RunError::Unable(format!("signals cannot be taken: {e}")))
}

/// Returns the seconds since 1970.
#[allow(clippy::disallowed_methods, reason = "it says when a file was read")]
fn unix_time() -> f64 {
    let now = std::time::SystemTime::now();
    let since = now.duration_since(std::time::UNIX_EPOCH);
    since.map_or(0.0, |d| d.as_secs_f64())
}
