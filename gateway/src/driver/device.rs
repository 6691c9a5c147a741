//! The TUN device, and the addresses and routes that lead to it.

use super::notify::Manager;
use super::offload::{Coalescer, HEADER, LONGEST, Splitter};
use crate::config::Site;
use crate::error::RunError;
use accord_host::Error as Unable;
use ipnet::IpNet;
use nix::errno::Errno;
use nix::unistd::{read, write};
use std::io::Error;
use std::net::IpAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use tun_rs::DeviceBuilder;

/// The number of packets that the device holds for us. Packets beyond it are dropped, so packets
/// wait at the edge.
const QUEUE: usize = 500;

/// The preference of the first of two rules, right before that of the kernel for its main table.
const PREFERENCE: u32 = 32_764;

/// The metric of guards. It is larger than those of other routes, so a guard applies only in their
/// absence.
const GUARD: u32 = 4_000_000_000;

/// The number of attempts to open a device in use, 20 ms apart.
const TRIES: u32 = 50;

accord_units::words! {
    /// The offloads of a device.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Offload by word {
        /// A read is a packet.
        None = "none",
        /// Joins and cuts packets of TCP.
        Tcp = "tcp",
        /// The same for UDP, too: Linux 6.2 and later.
        Udp = "udp",
    }
}

/// The TUN device of a gateway.
pub struct Device {
    tun: OwnedFd,
    name: String,
    offload: Offload,
    room: Vec<u8>,
    splitter: Splitter,
    coalescer: Coalescer,
    /// The families of addresses (as options of iproute2) with rules for networks of all addresses.
    rules: Vec<&'static str>,
    mark: Option<u32>,
    /// True if routes and rules stay when this value is dropped.
    stays: bool,
    /// The number of packets that the kernel did not take.
    pub refused: u64,
}

impl Device {
    /// Opens the device with the addresses of the site and the routes to its peers. Takes the device from the
    /// service manager, or passes it to the manager for the next start.
    pub fn open(
        site: &Site,
        kept: &mut Vec<(String, OwnedFd)>,
        manager: &Manager,
    ) -> Result<Device, RunError> {
        let name = &site.interface.device;
        let label = |offload: Offload| label(name, offload);
        let able: &[Offload] =
            if site.interface.offload { &[Offload::Udp, Offload::Tcp] } else { &[Offload::None] };
        let found = able.iter().find_map(|offload| {
            let at = kept.iter().position(|(there, _)| *there == label(*offload))?;
            Some((kept.swap_remove(at).1, *offload))
        });
        // Other kept devices belong to another site file.
        let mut stale = false;
        kept.retain(|(there, _)| {
            let device = there.starts_with("tun-");
            if device {
                manager.forget(there);
                stale = true;
            }
            !device
        });
        let (tun, offload) = match found {
            Some(found) => found,
            None => {
                let found = create(site, stale)?;
                manager.keep(&label(found.1), found.0.as_fd());
                found
            }
        };
        let mut commands = String::new();
        for address in &site.interface.addresses {
            commands += &format!("address replace {address} dev {name}\n");
        }
        let mtu = site.interface.mtu;
        commands += &format!("link set {name} mtu {mtu} txqueuelen {QUEUE} up\n");
        let mark = site.interface.fwmark;
        set_guards(mark, site.interface.guard, &[], &networks(site))?;
        // A device that was removed must not be handed over again.
        ip(&commands)
            .and_then(|()| set_routes(name, mark, &[], &networks(site)))
            .inspect_err(|_| manager.forget(&label(offload)))?;
        let rules = set_rules(mark, &[], &networks(site));
        // If the device or a guard stays, the rules also stay, so packets of the site take no other
        // way.
        let stays = site.interface.persist || site.interface.guard || manager.is_there();
        Ok(Device {
            tun,
            name: name.clone(),
            offload,
            room: vec![0; LONGEST],
            splitter: Splitter::default(),
            coalescer: Coalescer::new(offload != Offload::None, offload == Offload::Udp),
            rules: rules.inspect_err(|_| manager.forget(&label(offload)))?,
            mark,
            stays,
            refused: 0,
        })
    }

    /// The name by which the service manager keeps the device.
    pub fn label(&self) -> String {
        label(&self.name, self.offload)
    }

    /// Returns whether TCP and UDP packets are joined on their way to and from the device.
    pub fn joins(&self) -> (bool, bool) {
        (self.coalescer.tcp, self.coalescer.udp)
    }

    /// Changes the routes from those of one site file to those of another.
    pub fn change(&mut self, before: &Site, after: &Site) -> Result<(), RunError> {
        let (old, new) = (networks(before), networks(after));
        set_routes(&self.name, self.mark, &old, &new)?;
        set_guards(self.mark, after.interface.guard, &old, &new)?;
        self.rules = set_rules(self.mark, &self.rules, &new)?;
        Ok(())
    }

    /// Restores the addresses, routes and rules of a site that were removed, such as those of a device that
    /// was down. Returns the number of those restored, and the routes that cannot be.
    pub fn restore(&mut self, site: &Site) -> Result<Restored, RunError> {
        let (name, mut restored) = (&self.name, Restored::default());
        let shown = ip_output(&["-o", "address", "show", "dev", name], "")?;
        let there = |own: &&IpNet| shown.split_whitespace().any(|word| word == own.to_string());
        for own in site.interface.addresses.iter().filter(|own| !there(own)) {
            ip(&format!("address replace {own} dev {name}\n"))?;
            restored.set += 1;
        }
        let all = networks(site);
        set_guards(self.mark, site.interface.guard, &all, &all)?;
        let own = routes(name, self.mark)?;
        for network in all.into_iter().filter(|n| !own.contains(n)) {
            match set_routes(name, self.mark, &[], &[network]) {
                Ok(()) => restored.set += 1,
                Err(why) => {
                    restored.missing.push(network);
                    restored.why = why.to_string();
                }
            }
        }
        for family in &self.rules {
            let preference = (PREFERENCE + 1).to_string();
            if ip_output(&[family, "rule", "show", "pref", &preference], "")?.trim().is_empty() {
                set_rules(self.mark, &[], &networks(site))?;
                restored.set += 1;
                break;
            }
        }
        Ok(restored)
    }

    /// Takes the packets that the kernel has sent. Returns their number.
    pub fn receive(&mut self, take: &mut dyn FnMut(&[u8])) -> std::io::Result<usize> {
        let length = match read(&self.tun, &mut self.room) {
            Ok(length) => length,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(0),
            Err(e) => return Err(e.into()),
        };
        if self.offload == Offload::None {
            take(&self.room[..length]);
            return Ok(1);
        }
        let mut count = 0;
        let split = self.splitter.split(&mut self.room[..length], &mut |packet| {
            count += 1;
            take(packet);
        });
        if split.is_err() {
            self.refused += 1;
        }
        Ok(count.max(1))
    }

    /// Adds a packet to those that [`Device::flush`] passes to the kernel.
    pub fn push(&mut self, packet: &[u8]) {
        if self.offload == Offload::None {
            self.refused += u64::from(write(&self.tun, packet).is_err());
            return;
        }
        if self.coalescer.is_full() {
            self.flush();
        }
        self.coalescer.push(packet);
    }

    /// Writes the waiting packets to the kernel. A device that is down takes none.
    pub fn flush(&mut self) {
        let (tun, refused, splitter) = (&self.tun, &mut self.refused, &mut self.splitter);
        let mut declined = false;
        self.coalescer.clear(&mut |bytes, count| match write(tun, bytes) {
            Ok(_) => {}
            // These packets were joined, and the kernel does not take them in this form.
            Err(Errno::EINVAL) if count > 1 => {
                declined = true;
                let split = splitter.split(bytes, &mut |packet| {
                    let mut bytes = vec![0; HEADER];
                    bytes.extend_from_slice(packet);
                    *refused += u64::from(write(tun, &bytes).is_err());
                });
                *refused += u64::from(split.is_err());
            }
            Err(_) => *refused += u64::from(count),
        });
        if declined {
            (self.coalescer.tcp, self.coalescer.udp) = (false, false);
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        if !self.stays {
            // Routes disappear with the device.
            let _ = set_rules(self.mark, &self.rules, &[]);
        }
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tun.as_fd()
    }
}

fn label(name: &str, offload: Offload) -> String {
    format!("tun-{name}-{}", offload.word())
}

/// Creates the device. `again` is true if the service manager may still hold it for a moment.
fn create(site: &Site, again: bool) -> Result<(OwnedFd, Offload), RunError> {
    let name = &site.interface.device;
    let open = |offload: bool| {
        let builder = DeviceBuilder::new().name(name);
        let tun = builder.with(|b| _ = b.offload(offload)).build_sync()?;
        tun.set_nonblocking(true)?;
        if site.interface.persist {
            tun.persist()?;
        }
        let offload = match (tun.tcp_gso(), tun.udp_gso()) {
            (true, true) => Offload::Udp,
            (true, false) => Offload::Tcp,
            _ => Offload::None,
        };
        Ok((tun.as_fd().try_clone_to_owned()?, offload))
    };
    let busy = |e: &Error| e.raw_os_error() == Some(Errno::EBUSY as i32);
    let mut tries = if again { TRIES } else { 0 };
    loop {
        // A kernel without offloads rejects them.
        match open(site.interface.offload).or_else(|_| open(false)) {
            Ok(opened) => return Ok(opened),
            Err(e) if tries > 0 && busy(&e) => {
                tries -= 1;
                #[allow(clippy::disallowed_methods, reason = "it waits for what another one does")]
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            Err(e) => {
                let why = match e.raw_os_error().map(Errno::from_raw) {
                    Some(Errno::EBUSY) => "; another program has it",
                    Some(Errno::EPERM | Errno::EACCES) => "; CAP_NET_ADMIN is needed",
                    Some(Errno::ENOENT | Errno::ENODEV | Errno::ENXIO) => {
                        "; the kernel module tun is needed"
                    }
                    _ => "",
                };
                let message = format!("device {name} cannot be opened: {e}{why}");
                return Err(RunError::Unable(message));
            }
        }
    }
}

fn networks(site: &Site) -> Vec<IpNet> {
    let networks = site.peers.iter().flat_map(|p| &p.networks);
    networks.copied().collect()
}

/// The addresses and routes that were removed.
#[derive(Debug, Default)]
pub struct Restored {
    /// The number of addresses, routes and rules that were set again.
    pub set: usize,
    /// The networks without a route to the device.
    pub missing: Vec<IpNet>,
    /// The reason why the last of them has none.
    pub why: String,
}

/// Returns the networks with a route to a device: in the main table, or for all addresses in the table of the
/// mark.
fn routes(device: &str, mark: Option<u32>) -> Result<Vec<IpNet>, RunError> {
    let mut shown = String::new();
    for family in ["-4", "-6"] {
        shown += &ip_output(&[family, "route", "show", "dev", device], "")?;
        if let Some(mark) = mark {
            // The table exists only with a route in it.
            let table = mark.to_string();
            let words = [family, "route", "show", "table", &table, "dev", device];
            let all = ip_output(&words, "").unwrap_or_default();
            let all = all.lines().filter(|line| line.starts_with("default"));
            let family = if family == "-4" { "0.0.0.0/0\n" } else { "::/0\n" };
            shown.extend(all.map(|_| family));
        }
    }
    Ok(shown.lines().filter_map(destination).collect())
}

/// Returns the networks with a guard.
fn guards(mark: Option<u32>) -> Result<Vec<IpNet>, RunError> {
    let metric = format!("metric {GUARD}");
    let mut found = Vec::new();
    for (family, all) in [("-4", "0.0.0.0/0"), ("-6", "::/0")] {
        let mut shown = ip_output(&[family, "route", "show", "type", "blackhole"], "")?;
        if let Some(mark) = mark {
            let words = [family, "route", "show", "table", &mark.to_string(), "type", "blackhole"];
            shown += &ip_output(&words, "").unwrap_or_default();
        }
        let lines = shown.lines().filter(|line| line.contains(&metric));
        let words = lines.filter_map(|line| line.split_whitespace().nth(1));
        found.extend(words.filter_map(|word| destination(word.replace("default", all).as_str())));
    }
    Ok(found)
}

/// Sets the guards of networks, which drop packets without another route. Removes the guards of networks that
/// are gone, or all guards if `guard` is false.
fn set_guards(
    mark: Option<u32>,
    guard: bool,
    before: &[IpNet],
    after: &[IpNet],
) -> Result<(), RunError> {
    let route = |n: &IpNet| match mark {
        Some(mark) if n.prefix_len() == 0 => {
            format!("blackhole {n} metric {GUARD} table {mark}\n")
        }
        _ => format!("blackhole {n} metric {GUARD}\n"),
    };
    let gone = (before.iter()).chain(after.iter().filter(|_| !guard));
    let gone = gone.filter(|n| !guard || !after.contains(n));
    let gone: String = gone.map(|n| format!("route del {}", route(n))).collect();
    if !gone.is_empty() {
        // Guards that do not exist count as removed.
        let _ = ip_output(&["-force", "-batch", "-"], &gone);
    }
    if !guard {
        return Ok(());
    }
    let there = guards(mark)?;
    let new = after.iter().filter(|n| !there.contains(n));
    ip(&new.map(|n| format!("route replace {}", route(n))).collect::<String>())
}

/// Replaces routes to the old networks by routes to the new ones. If the host has its own route to one of
/// them, that route stays and nothing is changed. Networks of all addresses are in the routing table of the
/// mark.
fn set_routes(
    device: &str,
    mark: Option<u32>,
    before: &[IpNet],
    after: &[IpNet],
) -> Result<(), RunError> {
    let mut new: Vec<&IpNet> = after.iter().filter(|n| !before.contains(n)).collect();
    if !new.is_empty() {
        // A device that was kept already has its routes.
        let own = ip_output(&["-4", "route", "show", "dev", device], "")?
            + &ip_output(&["-6", "route", "show", "dev", device], "")?;
        let own: Vec<IpNet> = own.lines().filter_map(destination).collect();
        new.retain(|n| !own.contains(n));
    }
    let route = |n: &IpNet| match mark {
        Some(mark) if n.prefix_len() == 0 => format!("{n} dev {device} table {mark}\n"),
        _ => format!("{n} dev {device}\n"),
    };
    // The table of the mark contains no other routes.
    let verb = |n: &IpNet| if n.prefix_len() == 0 { "replace" } else { "add" };
    let delete = |n: &IpNet| format!("route del {}", route(n));
    for (done, network) in new.iter().enumerate() {
        let added = ip(&format!("route {} {}", verb(network), route(network)));
        if let Err(e) = added {
            let undo: String = new[..done].iter().map(|n| delete(n)).collect();
            let _ = ip(&undo);
            return Err(match e {
                RunError::Unable(why) if why.ends_with("File exists") => RunError::Unable(format!(
                    "the host has another route to {network}, which is not replaced: delete it, \
                         or give it a larger metric"
                )),
                other => other,
            });
        }
    }
    let gone: String = before.iter().filter(|n| !after.contains(n)).map(delete).collect();
    if !gone.is_empty() {
        // Those that are not there are none the less gone.
        let _ = ip_output(&["-force", "-batch", "-"], &gone);
    }
    Ok(())
}

/// Sets the rules by which unmarked packets use a network of all addresses, if there is one, and marked
/// packets the host's routes. Routes of the host that are narrower than its default stay in force. Returns
/// the families that now have rules.
fn set_rules(
    mark: Option<u32>,
    before: &[&str],
    after: &[IpNet],
) -> Result<Vec<&'static str>, RunError> {
    let Some(mark) = mark else {
        return Ok(Vec::new());
    };
    let mut now = Vec::new();
    for family in ["-4", "-6"] {
        let all = |n: &IpNet| n.prefix_len() == 0 && n.addr().is_ipv4() == (family == "-4");
        let wanted = after.iter().any(all);
        if wanted {
            now.push(family);
        }
        if wanted == before.contains(&family) {
            continue;
        }
        let rules = [
            format!("pref {} not fwmark {mark} table {mark}", PREFERENCE + 1),
            format!("pref {PREFERENCE} table main suppress_prefixlength 0"),
        ];
        for rule in &rules {
            let words = |verb| {
                let words = [family, "rule", verb].into_iter().chain(rule.split(' '));
                words.collect::<Vec<&str>>()
            };
            // A killed gateway leaves behind one copy of each rule.
            let _ = ip_output(&words("del"), "");
            if wanted {
                ip_output(&words("add"), "")?;
            }
        }
        if wanted && family == "-4" {
            // With this setting a strict source filter checks an answer to a marked datagram against the
            // routes of the mark.
            let _ = std::fs::write("/proc/sys/net/ipv4/conf/all/src_valid_mark", "1");
        }
    }
    Ok(now)
}

/// Reads the destination of a line of `ip route show`.
fn destination(line: &str) -> Option<IpNet> {
    let first = line.split_whitespace().next()?;
    first.parse().or_else(|_| first.parse::<IpAddr>().map(IpNet::from)).ok()
}

/// Runs commands of iproute2.
fn ip(commands: &str) -> Result<(), RunError> {
    if commands.is_empty() { Ok(()) } else { ip_output(&["-batch", "-"], commands).map(|_| ()) }
}

/// Runs iproute2 with this input. Returns its output.
fn ip_output(arguments: &[&str], input: &str) -> Result<String, RunError> {
    accord_host::ip(arguments, input).map_err(|e| {
        RunError::Unable(match e {
            Unable::Missing => {
                "there is no program \"ip\" (iproute2) to set addresses and routes with".into()
            }
            Unable::System(e) => format!("the program \"ip\" cannot be run: {e}"),
            Unable::Refused(why) => format!("addresses and routes cannot be set: ip: {why}"),
        })
    })
}
