//! The border of a machine: packets that leave and enter it, and the parts of its samples.

use super::engine::EventsEngine;
use super::parcel::Parcel;
use super::part::{Part, SinkReading, SourceReading};
use crate::calendar::EventKind;
use crate::gauge::Links as _;
use crate::hop::WireExit;
use crate::pool::Handle;
use crate::sampling::read_inner;
use accord_port::Count;
use accord_scenario::LinkId;
use accord_units::Time;

impl EventsEngine<'_> {
    /// Returns true if packets from a link leave the machine.
    #[inline]
    pub fn leaves(&self, link: LinkId) -> bool {
        self.outside.as_ref().is_some_and(|outside| outside.leaves(link))
    }

    /// Puts a packet on the wire of a link, from which it leaves the machine at `at`.
    pub fn leave_machine(&mut self, link: LinkId, handle: Handle, at: Time) {
        self.core.pool.packet(handle).hop += 1;
        if let Some(outside) = &mut self.outside {
            outside.push(link, handle, at);
        }
    }

    /// Takes the next packet that leaves the machine by `to`, with its link and its time.
    pub fn next_left(&mut self, to: Time) -> Option<(LinkId, Time, Parcel)> {
        let (link, at, handle) = self.outside.as_mut()?.pop(to)?;
        Some((link, at, self.remove(handle)))
    }

    /// Takes a packet from outside, which leaves the wire of `link` at `at`.
    pub fn enter_machine(&mut self, link: LinkId, parcel: Parcel, at: Time) {
        let handle = self.insert(parcel);
        self.await_arrival(handle, WireExit { link, at });
    }

    /// Adds a packet with its bytes.
    pub fn insert(&mut self, parcel: Parcel) -> Handle {
        let handle = self.core.pool.insert(parcel.packet);
        if let (Some(others), Some(bytes)) = (&mut self.others, parcel.bytes) {
            others.keep(handle, bytes);
        }
        handle
    }

    /// Takes a packet with its bytes.
    pub fn remove(&mut self, handle: Handle) -> Parcel {
        let packet = self.core.pool.remove(handle);
        let whole = self.others.as_mut().filter(|others| others.is_other(packet.flow as usize));
        Parcel { packet, bytes: whole.and_then(|others| others.take(handle)) }
    }

    /// Takes the machine's part of a sample, and schedules the next sample.
    pub fn take_part(&mut self) {
        let part = self.read_part();
        let core = &mut self.core;
        core.next_sample = core.now + core.scenario.sample;
        core.calendar.push(core.next_sample, EventKind::Sample, 0);
        if let Some(outside) = &mut self.outside {
            outside.samples += 1;
            let number = outside.samples;
            outside.parts.push(Part { number, ..part });
        }
    }

    fn read_part(&mut self) -> Part {
        let (now, scenario) = (self.core.now, self.core.scenario);
        self.look();
        let mut part = Part {
            number: 0,
            sources: Vec::new(),
            inner: Vec::new(),
            sinks: Vec::new(),
            links: Vec::new(),
            lost: Vec::new(),
            logs: Vec::new(),
        };
        let Some(outside) = &self.outside else {
            return part;
        };
        let views = &self.core.views;
        for (id, flow) in self.core.flows.iter_mut().enumerate() {
            let (source, sink) = scenario.ends(id);
            let is_other = self.others.as_ref().is_some_and(|others| others.is_other(id));
            if outside.is_here(source) {
                let reading = SourceReading {
                    started: flow.session.is_started(),
                    stopped: flow.session.has_ended(),
                    sent: flow.sent.bytes,
                    due: flow.due(now),
                    view: views.get(&id).copied().unwrap_or_else(|| flow.sender.view()),
                    edge: None,
                };
                if scenario.inner {
                    part.inner.push((id, read_inner(flow, views.get(&id))));
                }
                part.sources.push((id, reading));
                part.logs.extend(flow.sender.take_log().map(|log| (id, log)));
            }
            if outside.is_here(sink) {
                let reading = SinkReading {
                    delivered: flow.delivered.bytes,
                    fresh: flow.fresh_bytes,
                    delays: (!is_other).then_some(flow.delays),
                };
                part.sinks.push((id, reading));
            }
            part.lost.push(Count { packets: flow.losses, bytes: flow.data_lost.bytes });
        }
        let links = scenario.links.iter().enumerate();
        let recorded = links.filter(|(_, l)| outside.is_here(l.from) && !l.attachment);
        let recorded: Vec<LinkId> = recorded.map(|(id, _)| id).collect();
        let (_, mut read) = self.read();
        part.links = recorded.into_iter().map(|id| (id, read.read(id, now))).collect();
        part
    }
}
