//! The samples of flows and links.

use crate::calendar::EventKind;
use crate::core::{Core, Limits};
use crate::flow::Flow;
use crate::gauge::Links;
use accord_elements as elements;
use accord_family::InnerState;
use accord_record::{FlowReading, Interrupted, Observer};
use accord_transport::{Segment, View};
use accord_units::{Rate, Time};

/// The largest number of flows whose data is audited at each sample.
const AUDITED: usize = 4096;

impl Core<'_> {
    /// Finds the queued bytes of each awake flow: data in flight that would have arrived by now
    /// over empty queues [Xia05 eq. 1]. Other flows have no data in flight.
    fn find_queued(&mut self) {
        let mut queued = std::mem::take(&mut self.queued);
        for &id in &self.awake {
            let (queued, late) = &mut queued[id as usize];
            let flow = &mut self.flows[id as usize];
            *late = flow.late(self.now);
            *queued = flow.pending_sent_by(*late);
        }
        // `for_each` runs the chained iterators one by one, which a loop does not.
        self.packets().for_each(|p| {
            if let Segment::Data { sent, .. } = p.segment
                && let (queued, late) = &mut queued[p.flow as usize]
                && Some(sent) <= *late
            {
                *queued += u64::from(p.size);
            }
        });
        self.queued = queued;
    }

    /// Records a sample.
    pub fn sample(&mut self, links: &mut dyn Links) {
        let now = self.now;
        let reported = self.reported(now);
        self.count_edges();
        // The order in which flows woke up has no meaning.
        self.awake.sort_unstable();
        for &id in &self.awake {
            self.flows[id as usize].deliver_until(now);
        }
        debug_assert!(self.is_conserved(), "data is lost or doubled by {now}");
        self.find_queued();
        links.settle(now);
        let (flows, queued, views) = (&self.flows, &self.queued, &self.views);
        let flow = |&id: &u32| {
            let id = id as usize;
            (id, read_flow(&flows[id], queued[id].0, views.get(&id)))
        };
        let readings = self.awake.iter().map(flow);
        let inner = |id: usize| read_inner(&flows[id], views.get(&id));
        (self.recorder).sample(reported, readings, inner, |id| links.read(id, now));
        let flows = &mut self.flows;
        self.awake.retain(|&id| flows[id as usize].stays_awake());
    }

    /// Returns true if, for each flow, all data that has neither arrived nor been lost is in
    /// flight.
    fn is_conserved(&self) -> bool {
        if self.flows.len() > AUDITED {
            return true;
        }
        let mut on_the_way: Vec<u64> = self.flows.iter().map(Flow::pending_bytes).collect();
        for packet in self.packets() {
            if let Segment::Data { .. } = packet.segment {
                on_the_way[packet.flow as usize] += u64::from(packet.size);
            }
        }
        let flows = self.flows.iter().zip(on_the_way);
        flows.into_iter().all(|(f, there)| f.in_network() == there)
    }

    /// Reports a sample, jumps over time that can be skipped, and schedules the next sample.
    ///
    /// # Errors
    /// Fails if the observer stops the run.
    pub fn end_sample(
        &mut self,
        links: &mut dyn Links,
        observer: &mut dyn Observer,
    ) -> Result<(), Interrupted> {
        let time = self.now;
        observer.progress(self.reported(time))?;
        if observer.wants_record() {
            let (time, series) = self.recorder.clone().finish(self.scenario);
            observer.recorded(time, series);
        }
        self.skip_steady(links);
        self.next_sample = time + self.recorder.period();
        self.calendar.push(self.next_sample, EventKind::Sample, 0);
        let reading = self.skip.as_ref().map_or(Time::MAX, |skip| skip.next());
        self.limits = Limits::new(self.limits.end, self.next_sample.min(reading));
        Ok(())
    }
}

/// Reads a flow. `view` is the state of its sending end, if a third-party stack carries it.
fn read_flow(f: &Flow, queued: u64, view: Option<&View>) -> FlowReading {
    let counted = FlowReading {
        active: f.session.is_started() && !(f.session.has_ended() && f.in_network() == 0),
        sent: f.sent.bytes,
        delivered: f.delivered.bytes,
        fresh: f.fresh_bytes,
        delays: Some(f.delays),
        losses: f.losses,
        lost: f.data_lost.bytes,
        accumulation: queued,
        edge: f.gateway().map(|g| (g.held().bytes, g.drops())),
        ..FlowReading::default()
    };
    elements::read_flow(counted, view.copied().unwrap_or_else(|| f.sender.view()))
}

/// Reads the inner state of a flow. For a third-party stack it is only the pace.
pub(crate) fn read_inner(f: &Flow, view: Option<&View>) -> InnerState {
    match view {
        Some(view) => {
            InnerState { pacing: view.pacing.map(Rate::as_bps_f64), ..InnerState::default() }
        }
        None => f.sender.inner(),
    }
}
