//! The engine: takes the next event from the calendar and handles it.

use super::layout::{EventsLayout, Paths, Reroute};
use super::other::Others;
use super::outside::Outside;
use super::wire::Wire;
use crate::audit::Audit;
use crate::calendar::EventKind;
use crate::carrier::stack;
use crate::core::Core;
use crate::gauge::{Gauge, Links};
use crate::survey::Ports;
use accord_record::{Interrupted, Observer, Run, Stalls};
use accord_scenario::{Event, LinkId};
use accord_transport::pcapng::Capture;

/// A run of the events engine.
pub struct EventsEngine<'a> {
    pub core: Core<'a>,
    pub wires: Vec<Wire>,
    pub paths: Paths,
    /// The coming changes, in the order of the scenario. The calendar does not keep that order
    /// among simultaneous changes, and a flow in a tunnel must be rerouted after its tunnel.
    pub changes: std::slice::Iter<'a, Event>,
    /// The stalls of links in the live run that is repeated, by link. The list is empty if there
    /// are none.
    pub stalls: Vec<Option<&'a Stalls>>,
    /// The capture of packets if the observer wants one.
    pub tap: Option<Box<Capture>>,
    /// The coming changes of routes.
    pub reroutes: std::vec::IntoIter<Reroute>,
    /// The flows of third-party stacks, if any.
    pub others: Option<Box<Others>>,
    /// The outside, if the engine simulates only some of the nodes or ends.
    pub outside: Option<Box<Outside>>,
}

/// The links, for readings.
pub struct LinkReader<'a>(&'a mut [Wire]);

impl<'a> EventsEngine<'a> {
    /// Creates a run before its start, with the ports of the links that are `here`.
    pub fn new(
        mut core: Core<'a>,
        ports: Ports,
        here: impl Fn(LinkId) -> bool,
    ) -> EventsEngine<'a> {
        let scenario = core.scenario;
        let layout = EventsLayout::new(ports, scenario, &core.tunnels, &mut core.flows);
        let links = layout.forms.iter().enumerate();
        let wires = links.map(|(id, form)| Wire::new(scenario, id, *form));
        let edges = core.tunnels.iter().map(|&flow| Wire::edge(flow));
        let mut engine = EventsEngine {
            wires: wires.chain(edges).collect(),
            paths: layout.paths,
            changes: scenario.events.iter(),
            stalls: Vec::new(),
            tap: None,
            reroutes: layout.routes.into_iter(),
            others: Others::of(scenario, |flow| stack(flow).is_some()),
            outside: None,
            core,
        };
        engine.schedule(here);
        engine
    }

    /// Schedules the changes of the scenario and the timers of disciplines.
    fn schedule(&mut self, here: impl Fn(LinkId) -> bool) {
        let calendar = &mut self.core.calendar;
        for (id, e) in self.core.scenario.events.iter().enumerate() {
            calendar.push(e.at, EventKind::Change, id);
        }
        for (id, wire) in self.wires.iter().enumerate() {
            if let Some(at) = wire.next_timer()
                && here(id)
            {
                calendar.push(at, EventKind::Discipline, id);
            }
        }
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
    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<(), Interrupted> {
        self.connect_all(observer.wants_logs());
        let (core, mut read) = self.read();
        core.begin_to_watch(&mut read);
        if observer.wants_packets() {
            let names = self.core.scenario.links.iter().map(|l| l.name.as_str());
            self.tap = Some(Box::new(Capture::new(names)));
        }
        self.core.begin_logs(observer);
        while let Some((time, kind, index)) = self.core.calendar.pop() {
            self.core.event(time);
            // The packet of the next event was last touched milliseconds ago, so it is prefetched
            // during this event.
            if self.core.pool.is_large()
                && let Some((EventKind::Arrive, link)) = self.core.calendar.peek()
            {
                self.core.pool.prepare(&self.wires[link].in_flight);
            }
            self.handle(kind, index, |engine| engine.sample(observer))?;
            self.core.progress(observer)?;
        }
        // The end itself is part of the run.
        self.core.now = self.core.limits.end;
        self.end_others();
        self.show_packets(observer);
        Ok(())
    }

    /// Handles an event. `sample` takes a sample.
    #[inline(always)]
    pub fn handle<E>(
        &mut self,
        kind: EventKind,
        index: usize,
        sample: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        match kind {
            EventKind::Arrive => self.arrive(index),
            EventKind::Overtake => self.overtake(index),
            EventKind::Wake => self.wake(index),
            EventKind::WakeOther => self.wake_other(index),
            EventKind::Processed => self.processed(index),
            EventKind::Order => self.pass_on(index),
            EventKind::Sent => self.sent(index),
            EventKind::Application => self.application(index),
            EventKind::Start => {
                self.core.start(index);
                match self.core.scenario.flows[index].tunnel {
                    Some(_) if self.outside.is_none() => self.open(index),
                    _ => self.application(index),
                }
            }
            EventKind::Stop if self.is_other(index) => self.stop_other(index),
            EventKind::Stop => self.core.stop(index),
            EventKind::Discipline => self.discipline(index),
            EventKind::Change => self.change(),
            EventKind::Watch => {
                let (core, mut read) = self.read();
                core.watch(&mut read);
            }
            EventKind::Sample => sample(self)?,
        }
        Ok(())
    }

    /// Takes a sample.
    fn sample(&mut self, observer: &mut dyn Observer) -> Result<(), Interrupted> {
        self.look();
        let (core, mut read) = self.read();
        core.sample(&mut read);
        self.show_packets(observer);
        let (core, mut read) = self.read();
        core.end_sample(&mut read, observer)
    }

    /// Passes the packets and the logs since the last call to the observer if it wants them.
    fn show_packets(&mut self, observer: &mut dyn Observer) {
        if let Some(tap) = &mut self.tap {
            observer.packets(&tap.take());
        }
        self.core.show_logs(observer);
        if let Some(others) = &self.others {
            others.show_logs(|flow, end, bytes| observer.stack_log(flow, end, bytes));
        }
    }

    /// Returns the state without the links, and the links.
    pub fn read(&mut self) -> (&mut Core<'a>, LinkReader<'_>) {
        let links = self.core.scenario.links.len();
        (&mut self.core, LinkReader(&mut self.wires[..links]))
    }

    /// Ends the run. Returns it, and the audits of ports (by link, then the edge queues of tunnels) and of
    /// flows.
    pub fn finish(mut self) -> (Run, Vec<Audit>, Vec<Audit>) {
        let (core, mut read) = self.read();
        core.settle_end(&mut read);
        let scenario = self.core.scenario;
        let (mut run, ports, flows) = self.core.finish(&mut LinkReader(&mut self.wires));
        run.broken = self.others.map_or_else(Vec::new, |others| others.broken);
        run.notes.extend(run.broken.iter().map(|broken| broken.text(scenario)));
        (run, ports, flows)
    }
}

impl Links for LinkReader<'_> {
    fn port(&mut self, link: LinkId) -> &mut dyn Gauge {
        self.0[link].gauge()
    }
}
