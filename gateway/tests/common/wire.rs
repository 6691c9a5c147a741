//! A wire with delay and loss between two namespaces: a TUN device at each end, and a thread that
//! carries packets from one to the other. Kernels without netem have no other.

use accord_live::namespace::Namespace;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use std::collections::VecDeque;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tun_rs::{DeviceBuilder, SyncDevice};

/// A wire, which is cut when it is dropped.
pub struct Wire {
    stop: Arc<AtomicBool>,
    /// The delay in microseconds.
    delay: Arc<AtomicU64>,
    /// The longest packet that it carries. It loses longer ones without a word.
    longest: Arc<AtomicU64>,
    /// True if it loses the handshakes that the first end begins.
    loses_calls: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Wire {
    /// Opens device `w` in both namespaces.
    pub fn open(a: &Namespace, b: &Namespace, delay: Duration, loss_permille: u64) -> Wire {
        let device = || -> std::io::Result<SyncDevice> {
            let tun = DeviceBuilder::new().name("w").build_sync()?;
            tun.set_nonblocking(true)?;
            Ok(tun)
        };
        let ends = [a, b].map(|n| n.within(device).expect("it is entered").expect("a device"));
        let stop = Arc::new(AtomicBool::new(false));
        let delay = Arc::new(AtomicU64::new(delay.as_micros() as u64));
        let longest = Arc::new(AtomicU64::new(u64::MAX));
        let (stopped, delayed, carried) = (stop.clone(), delay.clone(), longest.clone());
        let loses_calls = Arc::new(AtomicBool::new(false));
        let lost = loses_calls.clone();
        let is_lost = move |way: usize, packet: &[u8]| {
            way == 0 && lost.load(Ordering::Relaxed) && begins_a_handshake(packet)
        };
        let work = move || carry(&ends, &delayed, loss_permille, &carried, &is_lost, &stopped);
        Wire { stop, delay, longest, loses_calls, thread: Some(std::thread::spawn(work)) }
    }

    /// Changes the delay.
    pub fn set_delay(&self, delay: Duration) {
        let micros = delay.as_micros() as u64;
        self.delay.store(micros, Ordering::Relaxed);
    }

    /// Changes the longest packet.
    pub fn set_longest(&self, bytes: u64) {
        self.longest.store(bytes, Ordering::Relaxed);
    }

    /// Loses the handshakes that the first end begins, from now on: only the other end can call.
    pub fn lose_calls(&self) {
        self.loses_calls.store(true, Ordering::Relaxed);
    }
}

/// Returns whether a packet of IPv4 has a datagram of WireGuard that begins a handshake.
fn begins_a_handshake(packet: &[u8]) -> bool {
    // The headers of IPv4 and UDP, and the type and length of the message.
    packet.len() == 28 + 148 && packet[0] == 0x45 && packet[9] == 17 && packet[28] == 1
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn carry(
    ends: &[SyncDevice; 2],
    delay: &AtomicU64,
    loss_permille: u64,
    longest: &AtomicU64,
    is_lost: &dyn Fn(usize, &[u8]) -> bool,
    stop: &AtomicBool,
) {
    let _ = nix::sys::prctl::set_timerslack(1);
    let mut queues: [VecDeque<(Instant, Vec<u8>)>; 2] = Default::default();
    let (mut room, mut dice) = (vec![0; 1 << 16], 1u64);
    while !stop.load(Ordering::Relaxed) {
        let now = Instant::now();
        for way in 0..2 {
            for _ in 0..64 {
                let Ok(length) = ends[way].recv(&mut room) else {
                    break;
                };
                if length as u64 > longest.load(Ordering::Relaxed) || is_lost(way, &room[..length])
                {
                    continue;
                }
                // The generator of MINSTD.
                dice = dice * 48_271 % 0x7fff_ffff;
                // Only large packets are lost, so the loss is one of data.
                if way == 0 && length > 500 && dice % 1000 < loss_permille {
                    continue;
                }
                let due = now + Duration::from_micros(delay.load(Ordering::Relaxed));
                let due = queues[way].back().map_or(due, |(last, _)| due.max(*last));
                queues[way].push_back((due, room[..length].to_vec()));
            }
        }
        let now = Instant::now();
        for way in 0..2 {
            while queues[way].front().is_some_and(|(due, _)| *due <= now) {
                if let Some((_, packet)) = queues[way].pop_front() {
                    let _ = ends[1 - way].send(&packet);
                }
            }
        }
        let due = queues.iter().filter_map(|q| q.front().map(|(due, _)| *due)).min();
        let left = due.map_or(Duration::from_millis(50), |due| due.saturating_duration_since(now));
        let mut files = [0, 1].map(|i| PollFd::new(ends[i].as_fd(), PollFlags::POLLIN));
        let left = TimeSpec::from(left.min(Duration::from_millis(50)));
        let _ = ppoll(&mut files, Some(left), None);
    }
}
