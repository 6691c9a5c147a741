//! The ports that only the windows engine has. Their packets stay in the pool.

use super::ring::Ring;
use crate::gauge::{Gauge, passed};
use crate::packet::Packet;
use crate::pipe::Pipe;
use crate::pool::{Handle, Pool};
use accord_aqm::Class;
use accord_port::{Area, Count, Counters, DropReason, PortPacket as _, PortState, Priority};
use accord_units::{Bytes, Duration, Rate, Time};

/// An uncontended port with a recorded series. For packets of one size that find it idle, it
/// behaves exactly as [`Timeline`](accord_port::Timeline).
pub struct UncontendedPort {
    rate: Rate,
    size: Bytes,
    /// The transmission time of a packet.
    stay: Duration,
    /// The number of packets that have arrived.
    entered: u64,
    /// The departure of the latest packet.
    free: Time,
    /// True if the port held a packet since the last [`Gauge::take_longest`].
    used: bool,
    /// The time of the last [`Gauge::advance`].
    now: Time,
}

impl UncontendedPort {
    /// Creates an idle port for packets of `size`.
    pub fn new(rate: Rate, size: Bytes) -> UncontendedPort {
        UncontendedPort {
            rate,
            size,
            stay: rate.transmission(size),
            entered: 0,
            free: Time::ZERO,
            used: false,
            now: Time::ZERO,
        }
    }

    /// Counts packets, the last of which arrives at `at`.
    #[inline]
    pub fn enter(&mut self, packets: u64, at: Time) {
        self.entered += packets;
        // Batches of different flows are not in order of time.
        self.free = self.free.max(at + self.stay);
        self.used = true;
    }

    /// Returns true if a packet is in service.
    fn is_busy(&self) -> bool {
        self.free > self.now
    }

    fn packets(&self, packets: u64) -> Count {
        Count { packets, bytes: packets * self.size.get() }
    }

    /// Returns the packets that have left.
    fn served(&self) -> Count {
        self.packets(self.entered - u64::from(self.is_busy()))
    }
}

impl Gauge for UncontendedPort {
    fn advance(&mut self, now: Time) {
        self.now = now;
    }

    fn counters(&self) -> Counters {
        passed(self.served(), self.held())
    }

    fn held(&self) -> Count {
        self.packets(u64::from(self.is_busy()))
    }

    /// The bytes sent, including those of the packet in service.
    fn sent(&self, _now: Time) -> f64 {
        let served = self.served().bytes as f64;
        if !self.is_busy() {
            return served;
        }
        let unsent = self.free.since(self.now).as_secs_f64() * self.rate.as_bps_f64() / 8.0;
        served + (self.size.get() as f64 - unsent).max(0.0)
    }

    fn take_longest(&mut self) -> Count {
        let busy = self.is_busy();
        let used = std::mem::replace(&mut self.used, busy);
        self.packets(u64::from(used))
    }
}

/// The number of waiting packets ahead of the one that is prefetched.
const AHEAD: usize = 4;

/// The queues of out-of-band control packets and of other packets, each with a handle and a size.
#[derive(Default)]
struct PriorityQueues {
    queues: [Ring<(Handle, u16)>; 2],
    packets: usize,
}

impl PriorityQueues {
    #[inline]
    fn is_empty(&self) -> bool {
        self.packets == 0
    }

    #[inline]
    fn push(&mut self, handle: Handle, size: u16, priority: Priority) {
        self.queues[priority as usize].push((handle, size));
        self.packets += 1;
    }

    /// Prefetches a packet that is served soon.
    #[inline]
    fn prepare(&self, pool: &Pool) {
        if let Some((later, _)) = self.queues[Priority::Low as usize].get(AHEAD) {
            pool.prepare_packet(later);
        }
    }

    /// Removes the next packet to be served.
    ///
    /// # Panics
    /// Panics if no packet waits.
    #[inline]
    fn pop(&mut self) -> (Handle, Bytes, Priority) {
        let priority = if self.queues[Priority::High as usize].is_empty() {
            Priority::Low
        } else {
            Priority::High
        };
        let (handle, size) = self.queues[priority as usize].pop().expect("a packet waits");
        self.packets -= 1;
        (handle, Bytes::new(u64::from(size)), priority)
    }
}

/// Returns the priority of a packet.
#[inline]
fn priority(packet: &Packet) -> Priority {
    match packet.meta().class {
        Class::OutOfBand => Priority::High,
        Class::Data | Class::InBand => Priority::Low,
    }
}

/// A droptail port with two priorities. It behaves exactly as [`Port`](accord_port::Port), without
/// tickets. Without this port `monaco-20` takes 1.2 times the CPU time.
pub struct PriorityPort {
    /// The line, the backlog and the counters.
    state: PortState,
    waiting: PriorityQueues,
}

impl PriorityPort {
    /// Creates an empty port.
    pub fn new(state: PortState) -> PriorityPort {
        PriorityPort { state, waiting: PriorityQueues::default() }
    }

    /// Returns the end of the service in progress if packets wait for it, or `Time::MAX`.
    #[inline]
    pub fn next(&self) -> Time {
        if self.waiting.is_empty() { Time::MAX } else { self.state.service_end() }
    }

    /// Offers a packet that arrives at `now`, after the services that end by then. Returns its
    /// departure, or the reason why it is dropped, or `None` if it must wait.
    #[inline]
    pub fn offer(
        &mut self,
        now: Time,
        handle: Handle,
        packet: &Packet,
    ) -> Option<Result<Time, DropReason>> {
        let is_busy = self.state.service_end() > now;
        if !is_busy && self.state.is_serving() {
            self.state.complete();
        }
        let (size, priority) = (packet.bytes(), priority(packet));
        if let Err(reason) = self.state.offer(now, size, priority) {
            return Some(Err(reason));
        }
        if is_busy {
            self.waiting.push(handle, packet.size, priority);
            return None;
        }
        Some(Ok(self.state.send(now, size, priority)))
    }

    /// Ends the service in progress, and begins the next. Returns its packet and its departure.
    #[inline]
    pub fn follow(&mut self, pool: &Pool) -> (Handle, Time) {
        if pool.is_large() {
            self.waiting.prepare(pool);
        }
        let now = self.state.complete();
        let (handle, size, priority) = self.waiting.pop();
        (handle, self.state.send(now, size, priority))
    }
}

impl Gauge for PriorityPort {
    fn advance(&mut self, now: Time) {
        if self.state.is_sent(now) {
            self.state.complete();
        }
    }

    fn counters(&self) -> Counters {
        *self.state.counters()
    }

    fn held(&self) -> Count {
        self.state.held()
    }

    fn sent(&self, now: Time) -> f64 {
        self.state.sent(now)
    }

    fn area(&self, now: Time) -> Area {
        self.state.area(now)
    }

    fn take_longest(&mut self) -> Count {
        self.state.take_longest()
    }
}

/// A pipe that serves out-of-band control packets first. The departure of a packet that must wait
/// is not known at its arrival. It waits here until all packets that may be served before it have
/// arrived. The pipe behaves exactly as a [`Port`](accord_port::Port) without a limit.
pub struct PriorityPipe {
    /// The line, with the packets whose service has begun.
    pipe: Pipe,
    waiting: PriorityQueues,
    held: Count,
}

impl PriorityPipe {
    /// Creates an idle port.
    pub fn new(rate: Rate) -> PriorityPipe {
        PriorityPipe {
            pipe: Pipe::new(rate),
            waiting: PriorityQueues::default(),
            held: Count::default(),
        }
    }

    /// Offers a packet as [`Pipe::offer`] does. Returns `None` if the port is busy or other packets
    /// wait.
    #[inline]
    pub fn offer(&mut self, now: Time, size: Bytes, end: Time) -> Option<Time> {
        let is_free = self.waiting.is_empty() && self.pipe.busy_until() <= now;
        is_free.then(|| self.pipe.offer(now, size, end))
    }

    /// Stores a packet that must wait.
    pub fn keep(&mut self, handle: Handle, packet: &Packet) {
        self.held.add(packet.bytes());
        self.waiting.push(handle, packet.size, priority(packet));
    }

    /// Begins the next service if it begins by `until`. Returns the packet and its departure.
    pub fn begin(&mut self, until: Time, end: Time) -> Option<(Handle, Time)> {
        let now = self.pipe.busy_until();
        if self.waiting.is_empty() || now > until {
            return None;
        }
        let (handle, size, _) = self.waiting.pop();
        self.held.remove(size);
        Some((handle, self.pipe.offer(now, size, end)))
    }
}

impl Gauge for PriorityPipe {
    fn counters(&self) -> Counters {
        passed(self.pipe.served, self.held())
    }

    fn held(&self) -> Count {
        self.pipe.held() + self.held
    }

    fn sent(&self, now: Time) -> f64 {
        self.pipe.sent(now)
    }
}
