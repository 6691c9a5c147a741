//! A port that computes departures and holds no packets.

use crate::ties::Ties;
use crate::{Area, Count, Counters, DropReason, Limit, PortPacket, Service};
use accord_aqm::{AnyAqm, Aqm, Class, Entropy, QueueView, Structure, Verdict};
use accord_units::{Bytes, Rate, Time};

/// A port with one FIFO queue and a fixed rate, as the sequence of its departures.
///
/// Packets are offered in the order of arrival, and the departure of each is known at once. The
/// backlog consists of the packets whose departure is still to come. The results equal those of
/// [`Port`](crate::Port). A queued packet takes 12 bytes, and its departure needs no event.
#[derive(Clone, Debug)]
pub struct Timeline<A = AnyAqm> {
    service: Service,
    limit: Limit,
    aqm: A,
    /// True if the discipline passes all packets.
    passes_all: bool,
    ahead: Departures,
    ties: Ties,
    /// The counters, except those of the packets offered and served.
    counters: Counters,
    /// The integral of the packets that wait. It includes the whole wait of the queued packets.
    area: Area,
    /// The largest backlog since the last [`Timeline::take_longest`].
    longest: Count,
}

impl<A: Aqm> Timeline<A> {
    /// Creates an empty port. `secret` decides ties of arrivals with departures: see the
    /// documentation of the crate.
    ///
    /// # Panics
    /// Panics if the discipline requires a structure other than one FIFO queue whose arrivals it
    /// judges.
    pub fn new(rate: Rate, limit: Limit, aqm: A, secret: u64) -> Timeline<A> {
        assert!(matches!(aqm.structure(), Structure::Fifo), "departures are not known at arrival");
        Timeline {
            service: Service::new(rate),
            limit,
            passes_all: aqm.passes_all(),
            aqm,
            ahead: Departures::default(),
            ties: Ties::new(secret),
            counters: Counters::default(),
            area: Area::default(),
            longest: Count::default(),
        }
    }

    /// Offers a packet that arrives at `now`, which is not before any earlier arrival. Returns its
    /// departure: the time at which its last bit is on the wire.
    #[inline(always)]
    pub fn offer(
        &mut self,
        now: Time,
        packet: &mut impl PortPacket,
        entropy: &mut dyn Entropy,
    ) -> Result<Time, DropReason> {
        self.advance(now);
        let size = packet.meta().size;
        if !(self.ties).admits(&self.limit, self.there(), size, now, || true) {
            return Err(self.overflow(packet));
        }
        if !self.passes_all {
            self.judge(now, packet, entropy)?;
        }
        let begin = self.service.busy_until().max(now);
        let departure = self.service.send(now, size);
        self.ahead.push(departure, size);
        self.longest.raise(self.there());
        self.area.stay(now, begin, size.get());
        Ok(departure)
    }

    /// Counts a packet for which there is no room.
    #[cold]
    fn overflow(&mut self, packet: &impl PortPacket) -> DropReason {
        let meta = packet.meta();
        self.counters.drop(DropReason::Overflow, meta.size);
        self.aqm.on_overflow(&meta);
        DropReason::Overflow
    }

    /// Asks the discipline for its verdict.
    #[inline(never)]
    fn judge(
        &mut self,
        now: Time,
        packet: &mut impl PortPacket,
        entropy: &mut dyn Entropy,
    ) -> Result<(), DropReason> {
        let (view, meta) = (self.view(), packet.meta());
        match self.aqm.on_arrival(&meta, &view, now, entropy) {
            Verdict::Pass => {}
            Verdict::Mark => {
                packet.mark();
                self.counters.marked.add(meta.size);
            }
            Verdict::Drop => {
                self.counters.drop(DropReason::Discipline, meta.size);
                return Err(DropReason::Discipline);
            }
        }
        if meta.class != Class::OutOfBand && packet.collects_virtual_delay() {
            let delay = self.aqm.virtual_delay(now);
            if !delay.is_zero() {
                packet.add_virtual_delay(delay);
            }
        }
        Ok(())
    }

    fn view(&self) -> QueueView {
        QueueView {
            packets: self.there().packets,
            bytes: Bytes::new(self.there().bytes),
            // The rate of such a port is never zero.
            rate: self.service.nominal_rate(),
            capacity: self.limit.capacity(),
        }
    }

    /// Removes the packets that have left by `now`.
    #[inline]
    pub fn advance(&mut self, now: Time) {
        if let Some((departure, size)) = self.ahead.leave_until(now) {
            self.ties.leave(departure, Bytes::new(u64::from(size)));
        }
    }

    #[inline]
    fn there(&self) -> Count {
        self.ahead.there()
    }

    /// Returns the largest backlog in packets and in bytes since the last call. It is known up to
    /// the last [`Timeline::advance`].
    pub fn take_longest(&mut self) -> Count {
        let there = self.there();
        std::mem::replace(&mut self.longest, there)
    }

    /// The packets and bytes queued, as of the last [`Timeline::advance`] or offer.
    pub fn backlog(&self) -> (u64, Bytes) {
        (self.there().packets, Bytes::new(self.there().bytes))
    }

    /// Returns the integral of the packets that wait, without the packet in service, up to `now`,
    /// the time of the last [`Timeline::advance`].
    pub fn area(&self, now: Time) -> Area {
        let mut area = self.area;
        // The service of each packet begins with the departure of the one before.
        let begins = self.ahead.iter().map(|(departure, _)| departure);
        for (begin, (_, size)) in begins.zip(self.ahead.iter().skip(1)) {
            area.cut(now, begin, u64::from(size));
        }
        area
    }

    /// Returns the bytes sent by `now`, the time of the last [`Timeline::advance`], including those
    /// of the packet in service.
    pub fn sent(&self, now: Time) -> f64 {
        let served = self.ahead.left.bytes as f64;
        self.ahead.iter().next().map_or(served, |(departure, size)| {
            let unsent = departure.since(now).as_secs_f64() * self.rate().as_bps_f64() / 8.0;
            served + (f64::from(size) - unsent).max(0.0)
        })
    }

    /// The counters as of the last [`Timeline::advance`] or offer.
    pub fn counters(&self) -> Counters {
        let counted = self.counters;
        Counters {
            offered: self.ahead.entered + counted.dropped(),
            served: self.ahead.left,
            ..counted
        }
    }

    /// The queue discipline.
    pub fn aqm(&self) -> &A {
        &self.aqm
    }

    /// Calls the discipline's timer.
    pub fn on_timer(&mut self, now: Time) {
        self.advance(now);
        let view = self.view();
        self.aqm.on_timer(&view, now);
    }

    /// The service rate.
    pub fn rate(&self) -> Rate {
        self.service.rate()
    }
}

/// The departures to come.
#[derive(Clone, Debug, Default)]
struct Departures {
    /// The departure and the size of each packet that has not left yet. The index is the number of
    /// packets that entered before it, modulo the length, which is a power of two.
    ring: Box<[Departure]>,
    entered: Count,
    left: Count,
}

/// The departure and the size of a packet: 12 bytes, because a long queue has many.
#[derive(Clone, Copy, Debug, Default)]
#[repr(Rust, packed(4))]
struct Departure {
    at: Time,
    size: u32,
}

impl Departures {
    #[inline]
    fn there(&self) -> Count {
        Count {
            packets: self.entered.packets - self.left.packets,
            bytes: self.entered.bytes - self.left.bytes,
        }
    }

    #[inline]
    fn at(&self, number: u64) -> (Time, u32) {
        let Departure { at, size } = self.ring[number as usize & (self.ring.len() - 1)];
        (at, size)
    }

    fn iter(&self) -> impl Iterator<Item = (Time, u32)> {
        (self.left.packets..self.entered.packets).map(|number| self.at(number))
    }

    /// Adds a packet, which leaves after the others.
    #[inline]
    fn push(&mut self, departure: Time, size: Bytes) {
        if self.there().packets == self.ring.len() as u64 {
            self.grow();
        }
        let place = self.entered.packets as usize & (self.ring.len() - 1);
        self.ring[place] = Departure { at: departure, size: size.get() as u32 };
        self.entered.add(size);
    }

    #[cold]
    fn grow(&mut self) {
        let mut ring = vec![Departure::default(); (2 * self.ring.len()).max(8)];
        let mask = ring.len() - 1;
        for (number, (at, size)) in (self.left.packets..).zip(self.iter()) {
            ring[number as usize & mask] = Departure { at, size };
        }
        self.ring = ring.into();
    }

    /// Removes the packets that have left by `now`. Returns the last of them.
    #[inline]
    fn leave_until(&mut self, now: Time) -> Option<(Time, u32)> {
        let mut last = None;
        while self.left.packets < self.entered.packets
            && let packet = self.at(self.left.packets)
            && packet.0 <= now
        {
            self.left.add(Bytes::new(u64::from(packet.1)));
            last = Some(packet);
        }
        last
    }
}
