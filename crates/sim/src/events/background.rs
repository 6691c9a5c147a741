//! Packets over a fluid: its steps, and the ways of packets through the ports that they share.

use super::engine::Engine;
use super::shared::Fate;
use super::wire::Line;
use crate::calendar::Kind;
use crate::pool::Place;
use accord_units::Time;

impl Engine<'_> {
    /// Schedules the next step of the fluid, if there is one.
    pub fn await_fluid(&mut self) {
        let Some(background) = &mut self.background else {
            return;
        };
        let at = background.fluid.next(self.core.next_sample);
        self.core.calendar.push(at, Kind::Fluid, 0);
    }

    /// Has ports know what the fluid does from now on.
    pub fn show_fluid(&mut self) {
        let Some(background) = self.background.as_deref() else {
            return;
        };
        for (queue, &link) in background.links.iter().enumerate() {
            if let Line::Shared(port) = &mut self.wires[link].line {
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
            .map(|&link| match &mut wires[link].line {
                Line::Shared(port) => port.0.end(),
                _ => (0.0, 0.0),
            });
        background.fluid.step(packets);
        self.show_fluid();
        // A sample that is due now asks for the next step itself.
        if self.core.now < self.core.next_sample {
            self.await_fluid();
        }
    }

    /// Puts a packet into a port that packets share with a fluid.
    pub fn share(&mut self, link: usize, place: Place) {
        let Line::Shared(port) = &mut self.wires[link].line else {
            return;
        };
        let (port, dice) = &mut **port;
        let packet = self.core.pool.packet(place);
        let size = packet.bytes();
        match port.offer(self.core.now, packet, dice) {
            Fate::Dropped => self.core.lost(place),
            Fate::Passes(at) => {
                let sent = port.in_order(at);
                self.leave(link, place, sent, Time::ZERO);
            }
            Fate::Waits(at) => {
                if port.waiting.is_empty() {
                    self.core.calendar.push(at, Kind::Sent, link);
                }
                port.waiting.push_back((at, place, size));
            }
        }
    }

    /// Sends the packet on whose service ends now at a port that packets share with a fluid.
    pub fn sent_shared(&mut self, link: usize) {
        let Line::Shared(port) = &mut self.wires[link].line else {
            return;
        };
        let Some((place, next)) = port.0.leave(self.core.now) else {
            return;
        };
        let sent = port.0.in_order(self.core.now);
        if let Some(at) = next {
            self.core.calendar.push(at, Kind::Sent, link);
        }
        self.leave(link, place, sent, Time::ZERO);
    }
}
