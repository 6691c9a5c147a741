//! The engine: takes the next event from the calendar and carries it out.

use super::fluid_port::SharedFluid;
use super::layout::{EventsLayout, Paths};
use super::wire::Wire;
use crate::SimError;
use crate::audit::Audit;
use crate::calendar::EventKind;
use crate::core::Core;
use crate::gauge::{Gauge, Links};
use crate::survey::Ports;
use accord_fluid::{Crowd, FluidError};
use accord_record::{LinkReading, Observer, Run, Stalls};
use accord_scenario::{Event, LinkId};
use accord_transport::pcapng::Capture;
use accord_units::Time;

/// A run of the events engine.
pub struct EventsEngine<'a> {
    pub core: Core<'a>,
    pub wires: Vec<Wire>,
    pub paths: Paths,
    /// The changes of the scenario to come, in the order of the scenario. The calendar does not
    /// keep that order among changes of one time, and a flow in a tunnel has to be rerouted after
    /// its tunnel.
    pub changes: std::slice::Iter<'a, Event>,
    /// The stalls of links in the live run that is repeated, by link. Empty if there are none.
    pub stalls: Vec<Option<&'a Stalls>>,
    /// The capture of packets, if the observer wants it.
    pub tap: Option<Box<Capture>>,
    /// The fluid flows.
    pub background: Option<Box<SharedFluid<'a>>>,
}

/// The links, for readings.
struct LinkReader<'a, 'b> {
    wires: &'a mut [Wire],
    background: Option<&'a SharedFluid<'b>>,
}

impl<'a> EventsEngine<'a> {
    /// Creates a run before its start. `crowd` is the fluid flows.
    ///
    /// # Errors
    /// Fails if the fluid flows cannot be integrated.
    pub fn new(
        mut core: Core<'a>,
        ports: Ports,
        crowd: Option<&'a Crowd<'a>>,
    ) -> Result<EventsEngine<'a>, FluidError> {
        let scenario = core.scenario;
        let layout = EventsLayout::new(ports, scenario, &core.tunnels, &mut core.flows);
        let links = layout.forms.iter().enumerate();
        let wires = links.map(|(id, form)| Wire::new(scenario, id, *form));
        let edges = core.tunnels.iter().map(|&flow| Wire::edge(flow));
        let background = crowd.map(|crowd| SharedFluid::new(crowd, scenario.links.len()));
        let mut engine = EventsEngine {
            wires: wires.chain(edges).collect(),
            paths: layout.paths,
            changes: scenario.events.iter(),
            stalls: Vec::new(),
            tap: None,
            background: background.transpose()?.map(Box::new),
            core,
        };
        engine.schedule();
        Ok(engine)
    }

    /// Schedules the changes of the scenario, the timers of disciplines and the fluid.
    fn schedule(&mut self) {
        let calendar = &mut self.core.calendar;
        for (id, e) in self.core.scenario.events.iter().enumerate() {
            calendar.push(e.at, EventKind::Change, id);
        }
        for (id, wire) in self.wires.iter().enumerate() {
            if let Some(at) = wire.next_timer() {
                calendar.push(at, EventKind::Discipline, id);
            }
        }
        self.show_fluid();
        self.await_fluid();
    }

    /// Sets the stalls of links.
    pub fn stall(&mut self, stalls: &'a [Stalls]) {
        self.stalls = vec![None; self.core.scenario.links.len()];
        for stalls in stalls {
            for &link in &stalls.links {
                self.stalls[link] = Some(stalls);
            }
        }
    }

    /// Runs the scenario to its end.
    ///
    /// # Errors
    /// Fails if the observer stops the run.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<(), SimError> {
        let (core, mut read) = self.read();
        core.begin_to_watch(&mut read);
        if observer.wants_packets() {
            let names = self.core.scenario.links.iter().map(|l| l.name.as_str());
            self.tap = Some(Box::new(Capture::new(names)));
        }
        self.core.begin_logs(observer);
        while let Some((time, kind, index)) = self.core.calendar.pop() {
            self.core.event(time);
            // The packet of the next event was last touched milliseconds ago. It is prefetched
            // during this event.
            if self.core.pool.is_large()
                && let Some((EventKind::Arrive, link)) = self.core.calendar.peek()
            {
                self.core.pool.prepare(&self.wires[link].in_flight);
            }
            match kind {
                EventKind::Arrive => self.arrive(index),
                EventKind::Overtake => self.overtake(index),
                EventKind::Wake => self.wake(index),
                EventKind::Processed => self.processed(index),
                EventKind::Sent => self.sent(index),
                EventKind::Application => self.application(index),
                EventKind::Start => {
                    self.core.start(index);
                    match self.core.scenario.flows[index].tunnel {
                        Some(_) => self.open(index),
                        None => self.application(index),
                    }
                }
                EventKind::Stop => self.core.stop(index),
                EventKind::Discipline => self.discipline(index),
                EventKind::Change => self.change(),
                EventKind::Fluid => self.step_fluid(),
                EventKind::Watch => {
                    let (core, mut read) = self.read();
                    core.watch(&mut read);
                }
                EventKind::Sample => self.sample(observer)?,
            }
            self.core.progress(observer)?;
        }
        // The end itself is a part of the run.
        self.core.now = self.core.limits.end;
        self.show_packets(observer);
        Ok(())
    }

    /// Takes a sample.
    fn sample(&mut self, observer: &mut dyn Observer) -> Result<(), SimError> {
        let core = &mut self.core;
        if let Some(fluid) = &mut self.background {
            fluid.sample(core.now);
            for (flows, reading) in fluid.classes() {
                core.recorder.read_alike(core.now, flows, reading);
            }
        }
        let (core, mut read) = self.read();
        core.sample(&mut read);
        self.show_packets(observer);
        let (core, mut read) = self.read();
        core.end_sample(&mut read, observer)?;
        self.await_fluid();
        Ok(())
    }

    /// Passes the packets and the logs since the last call to the observer, if it wants them.
    fn show_packets(&mut self, observer: &mut dyn Observer) {
        if let Some(tap) = &mut self.tap {
            observer.packets(&tap.take());
        }
        self.core.show_logs(observer);
    }

    fn read(&mut self) -> (&mut Core<'a>, LinkReader<'_, 'a>) {
        let links = self.core.scenario.links.len();
        let read = LinkReader {
            wires: &mut self.wires[..links],
            background: self.background.as_deref(),
        };
        (&mut self.core, read)
    }

    /// Ends the run. Returns it, and the audits of ports (by link, then the edge queues of tunnels) and of
    /// flows.
    pub fn finish(mut self) -> (Run, Vec<Audit>, Vec<Audit>) {
        let (core, mut read) = self.read();
        core.settle_end(&mut read);
        let mut notes = Vec::new();
        if let Some(fluid) = &self.background {
            notes = fluid.notes();
            self.core.digest.fluid(fluid.sent());
        }
        let mut read = LinkReader {
            wires: &mut self.wires,
            background: None,
        };
        self.core.finish(&mut read, notes)
    }
}

impl Links for LinkReader<'_, '_> {
    fn port(&mut self, link: LinkId) -> &mut dyn Gauge {
        self.wires[link].gauge()
    }

    fn read(&mut self, link: LinkId, now: Time) -> LinkReading {
        let fluid = self.background.and_then(|fluid| fluid.link(link));
        fluid.unwrap_or_else(|| self.read_port(link, now))
    }
}
