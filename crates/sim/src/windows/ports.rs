//! Ports that only the windows engine has. They leave their packets in the pool.

use super::ring::Ring;
use crate::gauge::{Gauge, passed};
use crate::packet::Packet;
use crate::pipe::Pipe;
use crate::pool::{Handle, Pool};
use accord_aqm::Class;
use accord_port::{Area, Count, Counters, DropReason, PortPacket as _, PortState, Priority};
use accord_units::{Bytes, Duration, Rate, Time};

/// A port on which no packet waits, of which a series is recorded. It is the same port as
/// [`Timeline`](accord_port::Timeline), to packets of one size that find it idle.
pub struct UncontendedPort {
    rate: Rate,
    size: Bytes,
    /// The time that a packet is there.
    stay: Duration,
    /// The packets that have come.
    entered: u64,
    /// When the last of them leaves.
    free: Time,
    /// True if a packet came or was there since the longest backlog was taken.
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

    /// Counts packets, the last of which comes at `at`.
    #[inline]
    pub fn enter(&mut self, packets: u64, at: Time) {
        self.entered += packets;
        // Those of one flow are counted after those of another.
        self.free = self.free.max(at + self.stay);
        self.used = true;
    }

    /// Returns whether a packet is there.
    fn is_busy(&self) -> bool {
        self.free > self.now
    }

    fn packets(&self, packets: u64) -> Count {
        Count {
            packets,
            bytes: packets * self.size.get(),
        }
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

    /// The bytes sent. They include those of the packet in service.
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

/// The number of packets between one that is served and the one that is fetched meanwhile.
const AHEAD: usize = 4;

/// The packets of a port that wait, in the order of their service: out-of-band control packets, and
/// others. Each is a place and a size.
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

    /// Takes out the packet that is served next, and has one that is served soon fetched.
    ///
    /// # Panics
    /// Panics if no packet waits.
    #[inline]
    fn pop(&mut self, pool: &Pool) -> (Handle, Bytes, Priority) {
        let priority = match self.queues[Priority::High as usize].is_empty() {
            true => Priority::Low,
            false => Priority::High,
        };
        let queue = &mut self.queues[priority as usize];
        let (handle, size) = queue.pop().expect("a packet waits");
        self.packets -= 1;
        if let Some((later, _)) = queue.get(AHEAD) {
            pool.prepare_packet(later);
        }
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

/// A droptail port with two priorities. It is the same port as [`Port`](accord_port::Port), which keeps a
/// ticket of each packet. Without it `monaco-20` takes 1.3 times the CPU time.
pub struct PriorityPort {
    /// What is queued, in service and counted.
    state: PortState,
    waiting: PriorityQueues,
}

impl PriorityPort {
    /// Creates an empty port.
    pub fn new(state: PortState) -> PriorityPort {
        PriorityPort {
            state,
            waiting: PriorityQueues::default(),
        }
    }

    /// Returns the time at which a service ends that others wait for, or `Time::MAX`.
    #[inline]
    pub fn next(&self) -> Time {
        match self.waiting.is_empty() {
            true => Time::MAX,
            false => self.state.service_end(),
        }
    }

    /// Offers a packet that arrives at `now`. The services that end by then and that others wait for have
    /// ended. Returns its departure, or the reason why it is dropped, or `None` if it has to wait here.
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

    /// Ends a service that others wait for, and begins the next. Returns its packet and its departure.
    #[inline]
    pub fn follow(&mut self, pool: &Pool) -> (Handle, Time) {
        let now = self.state.complete();
        let (handle, size, priority) = self.waiting.pop(pool);
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

/// A pipe that serves out-of-band control packets first. So a packet that has to wait does not know its
/// departure when it arrives: packets wait here until all that may be served before them have arrived.
/// It is the same port as [`Port`](accord_port::Port), without a limit.
pub struct PriorityPipe {
    /// The packets whose service has begun.
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

    /// Returns the time at which the service of a packet that waits begins, if one does.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        (self.held.packets > 0).then(|| self.pipe.busy_until())
    }

    /// Offers a packet as [`Pipe::offer`] does. The services that begin by `now` have begun. Returns
    /// `None` if the packet has to wait.
    #[inline]
    pub fn offer(&mut self, now: Time, size: Bytes, end: Time) -> Option<Time> {
        (self.pipe.busy_until() <= now).then(|| self.pipe.offer(now, size, end))
    }

    /// Keeps a packet that has to wait.
    pub fn keep(&mut self, handle: Handle, packet: &Packet) {
        self.held.add(packet.bytes());
        self.waiting.push(handle, packet.size, priority(packet));
    }

    /// Begins the next service if it begins by `until`. Returns the packet and its departure.
    pub fn begin(&mut self, pool: &Pool, until: Time, end: Time) -> Option<(Handle, Time)> {
        let now = self.next().filter(|now| *now <= until)?;
        let (handle, size, _) = self.waiting.pop(pool);
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
