//! A controller attached to the kernel's TCP.

use crate::ask::{Ask, Detach};
use crate::registry::Registry;
use crate::report::{Decision, Report, Slot};
use crate::status::{Ends, Status, status};
use crate::{Ended, LONGEST_NAME, Watch, check, check_name};
use accord_control::{AnyController, Controller, Marks};
use accord_door::{Door, Error};
use accord_family::Values;
use accord_units::Bytes;
use libbpf_rs::{
    ErrorKind, Link, MapCore, MapFlags, MapHandle, MapType, Object, ObjectBuilder, PrintLevel,
    RingBufferBuilder, set_print,
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::mman::{MapFlags as Mapping, ProtFlags, mmap, munmap};
use nix::time::{ClockId, clock_gettime};
use std::cell::RefCell;
use std::ffi::c_void;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Mutex;

/// The BPF program, aligned for its numbers.
#[repr(align(8))]
struct Aligned<T: ?Sized>(T);
static PROGRAM: &Aligned<[u8]> = &Aligned(*include_bytes!(concat!(env!("OUT_DIR"), "/tcp.bpf.o")));

/// The oldest kernel whose `cong_control` has the arguments of the program.
const OLDEST: (u32, u32) = (6, 10);
/// The maximum number of controlled connections, as in `tcp.bpf.c`.
const SLOTS: usize = 16_384;
/// The flags of a congestion control that every program may choose, and whose connections use ECN.
const NON_RESTRICTED: u32 = 1;
const NEEDS_ECN: u32 = 2;
/// The maximum number of reports read before clients and signals are polled.
const BATCH: usize = 512;
/// The longest wait for reports before clients and signals are polled, in milliseconds.
const PATIENCE_MS: u16 = 50;

/// The capabilities that the kernel asks for.
const NEEDED: &str = "controllers in the kernel's TCP need root, or the capabilities CAP_BPF, \
                      CAP_PERFMON and CAP_NET_ADMIN, outside of user namespaces";
/// The maximum number of lines of libbpf in a message.
const LAST_LINES: usize = 8;

/// The messages of libbpf since the last failure.
static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn keep(_: PrintLevel, message: String) {
    if let Ok(mut said) = SAID.lock() {
        said.push(message.trim().to_string());
    }
}

/// A controller in the kernel's TCP. It is detached when this value is dropped or the process ends in any
/// way, because a file of this process keeps it attached. Its connections continue as Reno.
#[derive(Debug)]
pub struct Attached {
    name: String,
    values: Values,
    object: Object,
    _link: Link,
    slots: Slots,
    since: u64,
}

impl Attached {
    /// Attaches the controller that `values` describes as a congestion control of the kernel.
    ///
    /// # Errors
    ///
    /// Fails if the controller or the name is invalid, or the machine or the user's permissions do
    /// not allow it.
    pub fn new(name: &str, values: &Values) -> Result<Attached, Error> {
        check(values).map_err(Error::Wrong)?;
        check_name(name).map_err(Error::Wrong)?;
        if let Some(why) = crate::obstacle() {
            return Err(Error::Unable(why));
        }
        if is_taken(name) {
            return Err(Error::Unable(format!(
                "the kernel has a congestion control {name} already; choose another name, or detach it"
            )));
        }
        let unable = |what: &str, e: &dyn fmt::Display| {
            let said = SAID.lock().map(|mut said| std::mem::take(&mut *said));
            let said = said.unwrap_or_default();
            // The verifier's log is long, and the reason is at its end.
            let said: Vec<&str> = said.iter().flat_map(|text| text.lines()).collect();
            let said = said[said.len().saturating_sub(LAST_LINES)..].iter();
            let said: String = said.map(|line| format!("\n  {line}")).collect();
            Error::Unable(format!("{what}: {e}{said}"))
        };
        // Messages of libbpf are shown only after a failure.
        set_print(Some((PrintLevel::Warn, keep)));
        let mut open = ObjectBuilder::default()
            .name("accord")
            .and_then(|builder| builder.open_memory(&PROGRAM.0))
            .map_err(|e| unable("the program of the kernel cannot be read", &e))?;
        let controller = AnyController::build(values, Bytes::new(1500));
        let marks = controller.capabilities().marks != Marks::Nothing;
        let mut long = [0; LONGEST_NAME + 1];
        long[..name.len()].copy_from_slice(name.as_bytes());
        for mut map in open.maps_mut() {
            let map_name = map.name().to_string_lossy().into_owned();
            let Some(initial) = map.initial_value_mut() else {
                continue;
            };
            if map_name == "ops" {
                let flags = NON_RESTRICTED | if marks { NEEDS_ECN } else { 0 };
                initial[..16].copy_from_slice(&long);
                initial[16..20].copy_from_slice(&flags.to_ne_bytes());
            } else if map_name.ends_with(".rodata") {
                let per_round = u32::from(controller.takes_rounds());
                initial[..4].copy_from_slice(&per_round.to_ne_bytes());
                initial[4..20].copy_from_slice(&long);
            }
        }
        let mut object = open.load().map_err(|e| match e.kind() {
            ErrorKind::PermissionDenied => {
                Error::Unable(format!("the kernel lets this process load no BPF program; {NEEDED}"))
            }
            _ => unable("the kernel rejects the program", &e),
        })?;
        let find = |object: &Object, name: &str| {
            let mut maps = object.maps();
            let map = maps.find(|map| map.name() == name);
            MapHandle::try_from(&map.expect("the program has it"))
        };
        let maps = [find(&object, "slots"), find(&object, "decisions")];
        let [Ok(free), Ok(decisions)] = maps else {
            return Err(Error::Unable("the maps of the kernel cannot be opened".into()));
        };
        for slot in 0..SLOTS as u32 {
            free.update(&[], &slot.to_ne_bytes(), MapFlags::ANY)
                .map_err(|e| unable("a map of the kernel cannot be filled", &e))?;
        }
        let slots = Slots::map(decisions.as_fd())
            .map_err(|e| unable("the decisions cannot be mapped", &e))?;
        let mut maps = object.maps_mut();
        let ops = maps.find(|map| map.map_type() == MapType::StructOps);
        let link = ops.expect("the program has it").attach_struct_ops();
        drop(maps);
        let link = link.map_err(|e| {
            unable(&format!("the kernel rejects the congestion control {name}"), &e)
        })?;
        Ok(Attached {
            name: name.to_string(),
            values: values.clone(),
            object,
            _link: link,
            slots,
            since: monotonic(),
        })
    }

    /// Sets the controller for the sockets of a control group that connect or listen from now on,
    /// until the link is dropped.
    ///
    /// # Errors
    /// Fails if the kernel refuses.
    pub fn choose_for(&self, group: BorrowedFd) -> Result<Link, Error> {
        use std::os::fd::AsRawFd;
        let mut programs = self.object.progs_mut();
        let choose = programs.find(|program| program.name() == "choose");
        let link = choose.expect("the program has it").attach_cgroup(group.as_raw_fd());
        link.map_err(|e| {
            Error::Unable(format!("the control group cannot use the congestion control: {e}"))
        })
    }

    /// Makes decisions until it is asked to end, and answers clients. Returns the state at the end.
    ///
    /// # Errors
    /// Fails if the kernel's reports cannot be read.
    pub fn serve(&self, doors: &[Door<Ask>], watch: Watch) -> Result<(Ended, Status), Error> {
        let registry = RefCell::new(Registry::new(self.values.clone()));
        let mut maps = self.object.maps();
        let reports = maps.find(|map| map.map_type() == MapType::RingBuf);
        let reports = reports.expect("the program has it");
        let failed = |e: &dyn fmt::Display| {
            Error::Unable(format!("the kernel's reports cannot be read: {e}"))
        };
        let mut builder = RingBufferBuilder::new();
        builder
            .add(&reports, |bytes| {
                self.hear(&mut registry.borrow_mut(), bytes);
                0
            })
            .map_err(|e| failed(&e))?;
        let ring = builder.build().map_err(|e| failed(&e))?;
        let mut looked = monotonic();
        loop {
            let heard = ring.consume_raw_n(BATCH);
            if heard < 0 {
                return Err(failed(&std::io::Error::from_raw_os_error(-heard)));
            }
            let now = monotonic();
            if heard > 0 && now.saturating_sub(looked) < u64::from(PATIENCE_MS) * 1_000_000 {
                continue;
            }
            if heard == 0 {
                let mut files = [PollFd::new(reports.as_fd(), PollFlags::POLLIN)];
                // An interrupted wait is merely shorter.
                let _ = poll(&mut files, PollTimeout::from(PATIENCE_MS));
            }
            if monotonic().saturating_sub(looked) < u64::from(PATIENCE_MS) * 1_000_000 / 2 {
                continue;
            }
            looked = monotonic();
            let state = || self.status(&registry.borrow());
            if let Some(ended) = watch() {
                return Ok((ended, state()));
            }
            while let Some(request) = doors.iter().find_map(|d| d.requests.try_recv().ok()) {
                let answer = match request.ask {
                    Ask::Show(form) => form.of(&state()),
                    Ask::Do(Detach) => String::new(),
                };
                // The client may have left.
                let _ = request.answer.send((200, answer));
                if request.ask == Ask::Do(Detach) {
                    return Ok((Ended::Stopped, state()));
                }
            }
        }
    }

    fn hear(&self, registry: &mut Registry, bytes: &[u8]) {
        let Some(report) = Report::read(bytes) else {
            return;
        };
        if let Some(decision) = registry.hear(&report) {
            self.slots.write(report.slot, &decision);
            registry.written(report.slot, monotonic().saturating_sub(report.now));
        }
    }

    fn status(&self, registry: &Registry) -> Status {
        let controller = AnyController::build(&self.values, Bytes::new(1500));
        let counts = self.counts().unwrap_or_default();
        let [lost_reports_total, refused_connections_total, silences_total] = counts;
        let base = Status {
            name: self.name.clone(),
            controller: self.values.family().name,
            per_round: controller.takes_rounds(),
            pid: std::process::id(),
            uptime_s: monotonic().saturating_sub(self.since) as f64 * 1e-9,
            lost_reports_total,
            refused_connections_total,
            silences_total,
            ..Status::default()
        };
        let peers = self.object.maps().find(|map| map.name() == "peers");
        let of = |slot: u32| {
            let value = peers.as_ref().map(|map| map.lookup(&slot.to_ne_bytes(), MapFlags::ANY));
            let value = value.and_then(|value| value.ok().flatten());
            value.and_then(|bytes| ends(&bytes)).unwrap_or_default()
        };
        status(registry, base, of)
    }

    /// Returns the counters of the BPF program: reports without room, connections without a slot,
    /// silences.
    fn counts(&self) -> Option<[u64; 3]> {
        let mut maps = self.object.maps();
        let bss = maps.find(|map| map.name().to_string_lossy().ends_with(".bss"))?;
        let bytes = bss.lookup(&0u32.to_ne_bytes(), MapFlags::ANY).ok()??;
        let (words, _) = bytes.as_chunks();
        let mut words = words.iter().map(|word| u64::from_ne_bytes(*word));
        Some([words.next()?, words.next()?, words.next()?])
    }
}

/// Returns the ends of a connection, from the value that the BPF program has written.
fn ends(bytes: &[u8]) -> Option<Ends> {
    let number = |at: usize| Some(u16::from_ne_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]));
    let (family, port, own) = (number(0)?, u16::from_be(number(2)?), number(4)?);
    let address = |at: usize| {
        let address: [u8; 16] = bytes.get(at..at + 16)?.try_into().ok()?;
        let [a, b, c, d, ..] = address;
        Some(match i32::from(family) {
            nix::libc::AF_INET => Ipv4Addr::new(a, b, c, d).into(),
            // A connection of IPv4 may have a socket of IPv6.
            _ => Ipv6Addr::from(address).to_canonical(),
        })
    };
    Some(Ends {
        peer: SocketAddr::new(address(8)?, port).to_string(),
        local: SocketAddr::new(address(24)?, own).to_string(),
        namespace: u32::from_ne_bytes(bytes.get(40..44)?.try_into().ok()?),
    })
}

/// The decisions, in memory shared with the kernel.
#[derive(Debug)]
struct Slots {
    memory: NonNull<c_void>,
}

const MEMORY: usize = SLOTS * size_of::<Slot>();

impl Slots {
    fn map(file: BorrowedFd) -> nix::Result<Slots> {
        let length = NonZeroUsize::new(MEMORY).expect("there are slots");
        let rights = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
        // SAFETY: the kernel chooses the address, so no memory of this program is replaced.
        // The map has SLOTS values of the size of a Slot.
        #[expect(unsafe_code, reason = "memory that is shared with the kernel")]
        let memory = unsafe { mmap(None, length, rights, Mapping::MAP_SHARED, file, 0) }?;
        Ok(Slots { memory })
    }

    fn write(&self, slot: u32, decision: &Decision) {
        let place = slot as usize;
        if place < SLOTS {
            // SAFETY: the memory exists until this is dropped, has SLOTS slots, and begins at a
            // page. A slot consists of atomic integers, which are valid for any content and may be
            // read by the kernel concurrently.
            #[expect(unsafe_code, reason = "memory that is shared with the kernel")]
            let slot = unsafe { self.memory.cast::<Slot>().add(place).as_ref() };
            slot.write(decision);
        }
    }
}

impl Drop for Slots {
    fn drop(&mut self) {
        // SAFETY: the memory was mapped with this length, and no reference into it remains.
        #[expect(unsafe_code, reason = "memory that is shared with the kernel")]
        let _ = unsafe { munmap(self.memory, MEMORY) };
    }
}

/// Returns the time of the kernel's monotonic clock in nanoseconds.
fn monotonic() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC);
    let time = time.expect("every kernel has this clock");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Returns true if the kernel has a congestion control of this name.
fn is_taken(name: &str) -> bool {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let names = std::fs::read_to_string(path).unwrap_or_default();
    names.split_whitespace().any(|other| other == name)
}

/// Returns the reason why this machine or this user cannot attach controllers, if there is one.
pub fn obstacle() -> Option<String> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let release = release.trim();
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map(|n| n.parse().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    if version < OLDEST {
        let (major, minor) = OLDEST;
        return Some(format!(
            "the kernel is Linux {release}, and controllers in its TCP need {major}.{minor} or later"
        ));
    }
    if !Path::new("/sys/kernel/btf/vmlinux").exists() {
        return Some(
            "the kernel has no type information: /sys/kernel/btf/vmlinux is missing (CONFIG_DEBUG_INFO_BTF)"
                .into(),
        );
    }
    (!may()).then(|| NEEDED.into())
}

/// Returns true if this process has the capabilities.
fn may() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = line.and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok()).unwrap_or(0);
    const NET_ADMIN: u64 = 1 << 12;
    const SYS_ADMIN: u64 = 1 << 21;
    const PERFMON: u64 = 1 << 38;
    const BPF: u64 = 1 << 39;
    let has = |wanted: u64| set & wanted == wanted;
    has(NET_ADMIN) && (has(SYS_ADMIN) || has(BPF | PERFMON))
}
