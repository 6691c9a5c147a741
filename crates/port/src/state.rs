//! The state of a port with two priorities, without its packets.

use crate::ties::Ties;
use crate::{Area, Count, Counters, DropReason, Limit, Service};
use accord_units::{Bytes, Time};

/// The priority of a packet in a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Out-of-band control, which is served first.
    High,
    /// All other packets.
    Low,
}

/// The line, the backlog and the counters of a port with two priorities. Its owner holds the
/// packets and decides which is next. The limit applies to both priorities separately.
///
/// [`Port`](crate::Port) contains this state. By itself the state suffices for droptail.
#[derive(Clone, Debug)]
pub struct PortState {
    pub(crate) service: Service,
    pub(crate) limit: Limit,
    /// The packets waiting and in service, by priority.
    pub(crate) queued: [Count; 2],
    /// The size and the priority of the packet in service.
    pub(crate) serving: Option<(Bytes, Priority)>,
    /// The priority of the last packet that left.
    left: Priority,
    ties: Ties,
    pub(crate) counters: Counters,
    /// The integral of the packets of low priority that wait. It counts them as if they had waited
    /// since time zero.
    area: Area,
    /// The largest backlog of low priority since the last [`PortState::take_longest`].
    longest: Count,
}

const LOW: usize = Priority::Low as usize;

impl PortState {
    /// Creates the state of an empty port. `secret` decides ties of arrivals with departures: see
    /// the documentation of the crate.
    pub fn new(service: Service, limit: Limit, secret: u64) -> PortState {
        PortState {
            service,
            limit,
            queued: [Count::default(); 2],
            serving: None,
            left: Priority::Low,
            ties: Ties::new(secret),
            counters: Counters::default(),
            area: Area::default(),
            longest: Count::default(),
        }
    }

    /// Counts a packet that arrives at `now` as queued if it fits, and as dropped if not.
    ///
    /// # Errors
    /// [`DropReason::Overflow`] if the packet does not fit.
    #[inline]
    pub fn offer(&mut self, now: Time, size: Bytes, priority: Priority) -> Result<(), DropReason> {
        self.counters.offered.add(size);
        if !self.fits(now, size, priority) {
            self.counters.drop(DropReason::Overflow, size);
            return Err(DropReason::Overflow);
        }
        self.enter(now, size, priority);
        if priority == Priority::Low {
            self.raise();
        }
        Ok(())
    }

    /// Returns true if a packet that arrives at `now` fits.
    #[inline]
    pub(crate) fn fits(&self, now: Time, size: Bytes, priority: Priority) -> bool {
        let there = self.queued[priority as usize];
        (self.ties).admits(&self.limit, there, size, now, || priority == self.left)
    }

    /// Counts a packet as queued.
    #[inline]
    pub(crate) fn enter(&mut self, now: Time, size: Bytes, priority: Priority) {
        self.queued[priority as usize].add(size);
        if priority == Priority::Low {
            self.area.enter(now, size.get());
        }
    }

    /// Raises the largest backlog to the current one.
    #[inline]
    pub(crate) fn raise(&mut self) {
        self.longest.raise(self.queued[LOW]);
    }

    /// Removes a waiting packet from the backlog.
    #[inline]
    pub(crate) fn remove(&mut self, now: Time, size: Bytes, priority: Priority) {
        self.queued[priority as usize].remove(size);
        if priority == Priority::Low {
            self.area.leave(now, size.get());
        }
    }

    /// Begins the service of a queued packet at `now`. Returns the departure: the time at which its
    /// last bit is on the wire.
    #[inline]
    pub fn send(&mut self, now: Time, size: Bytes, priority: Priority) -> Time {
        if priority == Priority::Low {
            self.area.leave(now, size.get());
        }
        self.serving = Some((size, priority));
        self.service.send(now, size)
    }

    /// Ends the service of the packet in service. Returns its departure.
    ///
    /// # Panics
    /// Panics if no packet is in service.
    #[inline]
    pub fn complete(&mut self) -> Time {
        let (size, priority) = self.serving.take().expect("a packet is in service");
        let now = self.service.busy_until();
        self.queued[priority as usize].remove(size);
        self.counters.served.add(size);
        self.left = priority;
        self.ties.leave(now, size);
        now
    }

    /// Returns true if a packet is in service.
    #[inline]
    pub fn is_serving(&self) -> bool {
        self.serving.is_some()
    }

    /// Returns true if the packet in service has departed by `now`. After a change of the rate the
    /// departure may differ from the one returned when the service began.
    #[inline]
    pub fn is_sent(&self, now: Time) -> bool {
        self.serving.is_some() && self.service.busy_until() <= now
    }

    /// Returns the departure of the packet in service if others wait behind it. The next service is
    /// due then.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        let served = u64::from(self.serving.is_some());
        (self.held().packets > served).then(|| self.service.busy_until())
    }

    /// Returns the departure of the packet in service, or of the last one.
    #[inline]
    pub fn service_end(&self) -> Time {
        self.service.busy_until()
    }

    /// Returns the departure of the packet in service, if there is one.
    #[inline]
    pub fn busy_until(&self) -> Option<Time> {
        self.serving.map(|_| self.service.busy_until())
    }

    /// The packets and bytes of low priority, including the packet in service.
    pub fn backlog(&self) -> Count {
        self.queued[LOW]
    }

    /// Returns the largest [`PortState::backlog`] in packets and in bytes since the last call.
    pub fn take_longest(&mut self) -> Count {
        std::mem::replace(&mut self.longest, self.queued[LOW])
    }

    /// Returns the integral of the packets of low priority that wait, up to `now`, without the
    /// packet in service.
    pub fn area(&self, now: Time) -> Area {
        let mut waiting = self.queued[LOW];
        if let Some((size, Priority::Low)) = self.serving {
            waiting.remove(size);
        }
        self.area.with(waiting, now)
    }

    /// Returns the bytes sent by `now`, including those of the packet in service.
    pub fn sent(&self, now: Time) -> f64 {
        let served = self.counters.served.bytes as f64;
        self.serving.map_or(served, |(size, _)| {
            served + (size.as_f64() - self.service.unsent(now)).max(0.0)
        })
    }

    /// Returns the packets and bytes in the port, of both priorities.
    #[inline]
    pub fn held(&self) -> Count {
        self.queued[0] + self.queued[1]
    }

    /// The counters so far.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}
