//! Ports that hold waiting packets, for both engines.

use crate::core::Core;
use crate::gauge::Gauge;
use crate::packet::Packet;
use crate::pool::Handle;
use crate::ticket::Ticket;
use accord_aqm::{AnyAqm, Aqm as _};
use accord_elements::{dice, port};
use accord_port::{Area, Count, Counters, DropReason, Port};
use accord_scenario::{LinkId, Scenario};
use accord_traffic::Dice;
use accord_units::Time;

/// A port that holds waiting packets, with the random stream of its discipline.
///
/// The engine ends the services of a *stepped* port, because a packet may be lost when it leaves, or the
/// rate may change. The services of any other port end as time passes.
pub struct BufferedPort {
    pub port: Port<Ticket>,
    dice: Dice,
    /// True if the engine ends each service.
    pub stepped: bool,
    /// The packet in service, if the port is stepped.
    serving: Option<Ticket>,
}

impl BufferedPort {
    /// Creates the idle port of a link.
    pub fn new(scenario: &Scenario, id: LinkId, stepped: bool) -> BufferedPort {
        BufferedPort {
            port: port(scenario, id),
            dice: dice(id, scenario.seed),
            stepped,
            serving: None,
        }
    }

    /// Passes a packet that arrives at `now` through an idle port, as [`Port::pass`] does.
    #[inline]
    pub fn pass(
        &mut self,
        now: Time,
        handle: Handle,
        packet: &mut Packet,
    ) -> Option<Result<Time, DropReason>> {
        if self.stepped {
            return None;
        }
        self.port.advance(now);
        if self.port.held().packets > 0 {
            return None;
        }
        let (dice, mut ticket) = (&mut self.dice, Ticket::new(handle, packet));
        let passed = (self.port).pass(now, &mut ticket, &mut || dice.uniform());
        ticket.settle(packet);
        passed
    }

    /// Returns the time at which the service in progress ends, if the engine needs it.
    #[inline]
    pub fn next_end(&self) -> Option<Time> {
        if self.stepped { self.port.busy_until() } else { self.port.next() }
    }

    /// Offers a packet that [`BufferedPort::pass`] does not take. Removes dropped packets.
    #[inline(always)]
    pub fn offer(&mut self, core: &mut Core, handle: Handle) {
        let (dice, now) = (&mut self.dice, core.now);
        let ticket = Ticket::new(handle, core.pool.packet(handle));
        self.port.offer(now, ticket, &mut || dice.uniform(), &mut |ticket, _| {
            core.lost(ticket.handle);
        });
    }

    /// Begins a service if the port is free and a packet waits. Returns the packet and the end of the
    /// service.
    #[inline(always)]
    pub fn begin(&mut self, core: &mut Core) -> Option<(Handle, Time)> {
        let now = core.now;
        let begun = (self.port).begin(now, &mut |ticket, _| core.lost(ticket.handle));
        let (ticket, end) = begun?;
        if ticket.is_changed() {
            ticket.settle(core.pool.packet(ticket.handle));
        }
        if self.stepped {
            self.serving = Some(ticket);
        }
        Some((ticket.handle, end))
    }

    /// Ends the service of a stepped port if it is over at `now`. Returns its packet.
    #[inline]
    pub fn complete(&mut self, now: Time) -> Option<Handle> {
        let ticket = self.serving.take_if(|_| self.port.is_sent(now))?;
        self.port.complete();
        Some(ticket.handle)
    }

    /// Calls the timer of the discipline.
    pub fn on_timer(&mut self, now: Time) {
        self.advance(now);
        self.port.on_timer(now);
    }

    /// Returns the time of the discipline's timer.
    pub fn next_timer(&self) -> Option<Time> {
        self.port.aqm().next_timer()
    }
}

impl Gauge for BufferedPort {
    fn advance(&mut self, now: Time) {
        if !self.stepped {
            self.port.advance(now);
        }
    }

    fn counters(&self) -> Counters {
        *self.port.counters()
    }

    fn held(&self) -> Count {
        self.port.held()
    }

    fn sent(&self, now: Time) -> f64 {
        self.port.sent(now)
    }

    fn area(&self, now: Time) -> Area {
        self.port.area(now)
    }

    fn take_longest(&mut self) -> Count {
        self.port.take_longest()
    }

    fn aqm(&self) -> Option<&AnyAqm> {
        Some(self.port.aqm())
    }
}
