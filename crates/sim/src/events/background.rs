//! Packets over a fluid: the steps of the fluid, and the moves of packets through fluid ports.

use super::engine::EventsEngine;
use super::fluid_port::Admission;
use super::wire::EventPort;
use crate::calendar::EventKind;
use crate::pool::Handle;
use accord_units::Time;

impl EventsEngine<'_> {
    /// Schedules the next step of the fluid, if there is one.
    pub fn await_fluid(&mut self) {
        let Some(background) = &mut self.background else {
            return;
        };
        let at = background.fluid.next(self.core.next_sample);
        self.core.calendar.push(at, EventKind::Fluid, 0);
    }

    /// Passes the new state of the fluid to the fluid ports.
    pub fn show_fluid(&mut self) {
        let Some(background) = self.background.as_deref() else {
            return;
        };
        for (queue, &link) in background.links.iter().enumerate() {
            if let EventPort::Fluid(port) = &mut self.wires[link].port {
                port.0.begin(self.core.now, background.fluid.shared(queue));
            }
        }
    }

    /// Ends a step of the fluid.
    pub fn step_fluid(&mut self) {
        let Some(background) = self.background.as_deref_mut() else {
            return;
        };
        let wires = &mut self.wires;
        let packets = background
            .links
            .iter()
            .map(|&link| match &mut wires[link].port {
                EventPort::Fluid(port) => port.0.end(),
                _ => (0.0, 0.0),
            });
        background.fluid.step(packets);
        self.show_fluid();
        // A sample that is due now schedules the next step itself.
        if self.core.now < self.core.next_sample {
            self.await_fluid();
        }
    }

    /// Offers a packet to a fluid port.
    pub fn offer_fluid_port(&mut self, link: usize, handle: Handle) {
        let EventPort::Fluid(port) = &mut self.wires[link].port else {
            return;
        };
        let (port, dice) = &mut **port;
        let packet = self.core.pool.packet(handle);
        let size = packet.bytes();
        match port.offer(self.core.now, packet, dice) {
            Admission::Dropped => self.core.lost(handle),
            Admission::Expedited(at) => {
                let sent = port.in_order(at);
                self.leave(link, handle, sent, Time::ZERO);
            }
            Admission::Queued(at) => {
                if port.waiting.is_empty() {
                    self.core.calendar.push(at, EventKind::Sent, link);
                }
                port.waiting.push_back((at, handle, size));
            }
        }
    }

    /// Ends the service of a packet at a fluid port, and moves the packet on.
    pub fn sent_fluid_port(&mut self, link: usize) {
        let EventPort::Fluid(port) = &mut self.wires[link].port else {
            return;
        };
        let Some((handle, next)) = port.0.leave(self.core.now) else {
            return;
        };
        let sent = port.0.in_order(self.core.now);
        if let Some(at) = next {
            self.core.calendar.push(at, EventKind::Sent, link);
        }
        self.leave(link, handle, sent, Time::ZERO);
    }
}
