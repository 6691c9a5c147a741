//! The engine: advances the network part by part, without an event per packet.

use super::arrivals::{EventId, Sorter};
use super::cut_through::LinkIndex;
use super::due::Due;
use super::layout::WindowsLayout;
use super::network::{FedPipe, Feed, Network, safe_time};
use super::ring::Ring;
use crate::audit::Audit;
use crate::calendar::EventKind;
use crate::core::{Core, Ended};
use crate::memory;
use crate::pool::{Handle, Pool};
use accord_record::{Interrupted, Observer, Run};
use accord_scenario::Limit;
use accord_traffic::Demand;
use accord_transport::Sender;
use accord_units::{Duration, Time};

/// A run of the windows engine.
pub struct WindowsEngine<'a> {
    pub core: Core<'a>,
    pub net: Network,
    pub senders: Senders,
    /// The current event of a sender, which orders its packets.
    pub event: EventId,
    /// The time before which all replies to senders are known while senders advance, or zero.
    pub known: Time,
    /// The sorter of arrivals.
    pub sorter: Sorter,
}

/// The senders, which are one part of the network.
pub struct Senders {
    /// The parts that feed the senders.
    feeds: Vec<Feed>,
    /// The priority pipes that the senders feed.
    pub priority_pipes: Vec<FedPipe>,
    /// The time before which all events of senders have been handled.
    pub clock: Time,
    /// The replies on their way from the last shared link, by flow.
    pub replies: Vec<Replies>,
    /// The flows by the time of their next task.
    due: Due,
    /// The flows with a task in the current window.
    list: Vec<u32>,
    /// True for each flow whose application acts more than once or waits for a transfer, and for each flow
    /// without congestion control. The list is empty if there are none.
    acts: Vec<bool>,
    /// The transfers that end in the current window, with the key of the event.
    ended: Vec<((Time, u32), Ended)>,
}

/// The replies on their way to a sender.
pub struct Replies {
    /// The packets with their arrivals. They are not linked in the pool, so entering the queue does
    /// not touch a packet.
    pub queue: Ring<Reply>,
    /// The event that would correspond to the arrival of a reply.
    pub event: EventId,
    /// The time of the flow's entry in the slots of [`Senders::due`], or `Time::MAX`.
    due: Time,
}

/// A packet on its way to a sender, with its arrival. It takes only 12 bytes, because there are
/// many.
#[derive(Clone, Copy, Default)]
#[repr(Rust, packed(4))]
pub struct Reply {
    pub at: Time,
    pub handle: Handle,
}

/// The number of rounds between two reports of progress.
const PROGRESS: u32 = 1 << 8;

/// The largest number of packets per flow for which the pool reserves memory.
const ROOM: usize = 64;

/// All flows are visited in order if at least one flow in this many has a task.
const MOST: usize = 4;

/// The number of replies of a flow that are prefetched.
pub const REPLIES_AHEAD: usize = 3;

impl Replies {
    /// The arrival of the first reply, or `Time::MAX` if there is none.
    #[inline]
    pub fn time(&self) -> Time {
        self.queue.first().map_or(Time::MAX, |reply| reply.at)
    }

    /// Takes the first reply if it arrives before `until`.
    #[inline(always)]
    pub fn due(&mut self, until: Time) -> Option<Reply> {
        self.queue.pop_if(|Reply { at, .. }| at < until)
    }

    /// Prefetches the packet of a reply that follows soon.
    #[inline]
    pub fn prepare(&self, pool: &Pool) {
        if let Some(later) = self.queue.get(REPLIES_AHEAD - 1) {
            pool.prepare_packet(later.handle);
        }
    }

    /// Creates the empty queue of a flow.
    fn new(flow: &accord_scenario::Flow) -> Replies {
        let last = flow.reverse_path.last();
        Replies {
            queue: Ring::default(),
            event: EventId::new(EventKind::Arrive, last.copied().unwrap_or_default()),
            due: Time::MAX,
        }
    }
}

impl Senders {
    /// Adds a reply on the last part of its way to a sender.
    #[inline(always)]
    pub fn push(&mut self, flow: usize, reply: Reply) {
        let replies = &mut self.replies[flow];
        replies.queue.push(reply);
        self.due.add(&mut replies.due, flow, reply.at);
    }
}

/// Returns the number of packets for which the pool reserves memory: the data that the shared links
/// queue and carry in a round trip. Slow start may need further blocks.
fn room(core: &Core, net: &Network) -> usize {
    let flows = &core.scenario.flows;
    let size = flows.iter().map(|f| f.packet.get()).min().unwrap_or(1);
    let longest = (0..flows.len()).map(|id| core.state.base_rtt(id)).max();
    let mut links = vec![false; net.shared_links.len()];
    for &link in flows.iter().flat_map(|f| &f.path) {
        if let LinkIndex::Shared(id) = net.indices[link] {
            links[id as usize] = true;
        }
    }
    let packets = net.shared_links.iter().zip(links).filter(|(_, has_data)| *has_data);
    let packets = packets.map(|(shared_link, _)| {
        let link = &core.scenario.links[shared_link.link];
        let queued = match link.queue.limit {
            Limit::Packets(packets) => packets,
            Limit::Bytes(bytes) => bytes.get() / size,
            Limit::Unlimited => u64::MAX,
        };
        let carried = link.rate.bytes_in(longest.unwrap_or_default()).get() / size;
        queued.saturating_add(carried)
    });
    let packets = packets.fold(0, u64::saturating_add);
    packets.min((ROOM * flows.len()) as u64) as usize
}

impl<'a> WindowsEngine<'a> {
    /// Creates a run before its start.
    pub fn new(mut core: Core<'a>, layout: WindowsLayout) -> WindowsEngine<'a> {
        // All flows send until the end of the run.
        core.pool.reserve(room(&core, &layout.network));
        core.actions = vec![Time::MAX; core.flows.len()];
        let flows = core.scenario.flows.iter().zip(&core.flows);
        let acts = flows.map(|(f, flow)| f.demand != Demand::Greedy || flow.sender.is_open());
        let acts: Vec<bool> = acts.collect();
        WindowsEngine {
            senders: Senders {
                due: Due::new(layout.window, layout.round_trip, core.flows.len()),
                list: Vec::new(),
                acts: if acts.contains(&true) { acts } else { Vec::new() },
                ended: Vec::new(),
                feeds: layout.senders,
                priority_pipes: layout.priority_pipes,
                clock: Time::ZERO,
                replies: memory::collect_in_huge_pages(
                    core.scenario.flows.iter().map(Replies::new),
                ),
            },
            net: layout.network,
            event: EventId::new(EventKind::Sample, 0),
            known: Time::ZERO,
            sorter: Sorter::default(),
            core,
        }
    }

    /// Runs the scenario to its end.
    ///
    /// # Errors
    /// Fails if the observer stops the run.
    pub fn run(&mut self, observer: &mut dyn Observer) -> Result<(), Interrupted> {
        self.core.begin_to_watch(&mut self.net);
        self.core.begin_logs(observer);
        while let Some((time, kind, index)) = self.core.calendar.pop() {
            // A flow that starts has no earlier events, and other flows meet its packets at links
            // only. Without this case each start would advance all flows.
            let is_ahead = kind == EventKind::Start;
            if !is_ahead {
                self.advance(time, observer)?;
            }
            let before = self.core.now;
            self.core.event(time);
            self.event = EventId::new(kind, index);
            match kind {
                EventKind::Start => {
                    self.core.start(index);
                    if self.core.act(index) {
                        self.pump(index);
                    }
                    self.end_transfer(index);
                    self.await_next(index);
                }
                EventKind::Stop => self.core.stop(index),
                EventKind::Watch => self.core.watch(&mut self.net),
                EventKind::Sample => {
                    self.core.sample(&mut self.net);
                    self.core.show_logs(observer);
                    self.core.end_sample(&mut self.net, observer)?;
                }
                _ => debug_assert!(false, "the layout lets no other event in"),
            }
            if is_ahead {
                self.core.now = before;
            } else {
                self.core.progress(observer)?;
            }
        }
        // The end itself is a part of the run.
        self.advance(self.core.limits.end + Duration::from_ps(1), observer)?;
        self.core.now = self.core.limits.end;
        self.core.show_logs(observer);
        Ok(())
    }

    /// Ends the run. Returns it, and the audits of ports by link and of flows.
    pub fn finish(mut self) -> (Run, Vec<Audit>, Vec<Audit>) {
        self.senders.replies = Vec::new();
        self.core.settle_end(&mut self.net);
        let end = self.core.limits.end;
        (self.net).count_pipes(self.core.scenario, &self.core.flows, end);
        self.core.finish(&mut self.net)
    }

    /// Handles everything before `end`.
    fn advance(&mut self, end: Time, observer: &mut dyn Observer) -> Result<(), Interrupted> {
        for round in 1u32.. {
            let events = self.core.events;
            let mut is_done = self.advance_senders(end);
            for id in 0..self.net.shared_links.len() {
                is_done &= self.advance_shared_link(id, end);
            }
            if is_done {
                break;
            }
            if self.core.events == events {
                self.pass_idle(end);
            }
            if round.is_multiple_of(PROGRESS) {
                observer.progress(self.core.reported(self.core.now))?;
            }
        }
        Ok(())
    }

    /// Advances the clocks of all parts to the next time at which anything happens. Windows of short links
    /// may be much shorter than the time between packets.
    fn pass_idle(&mut self, end: Time) {
        // Packets that wait in priority pipes do not have a time.
        if self.net.has_tunnels {
            return;
        }
        let links = self.net.shared_links.iter().map(|shared_link| shared_link.next());
        let next = links.fold(self.senders.due.next(), Time::min).min(end);
        self.senders.clock = self.senders.clock.max(next);
        for shared_link in &mut self.net.shared_links {
            shared_link.clock = shared_link.clock.max(next);
        }
    }

    /// Returns the safe time of a part with these feeds.
    pub fn safe_time(&self, feeds: &[Feed], end: Time) -> Time {
        let shared_links = &self.net.shared_links;
        safe_time(feeds, self.senders.clock, |id| shared_links[id].clock, end)
    }

    /// Advances the senders to their safe time. Returns true if that is `end`.
    fn advance_senders(&mut self, end: Time) -> bool {
        let until = self.safe_time(&self.senders.feeds, end);
        debug_assert!(until >= self.senders.clock, "the senders' clock goes back");
        if until > self.senders.clock {
            self.senders.clock = until;
            self.known = until;
            self.advance_due(until);
            self.known = Time::ZERO;
            for i in 0..self.senders.priority_pipes.len() {
                let pipe = self.senders.priority_pipes[i];
                self.flush(pipe.index, until + pipe.delay);
            }
        }
        until == end
    }

    /// Advances the senders with a task before `until`.
    fn advance_due(&mut self, until: Time) {
        let Senders { due, list, replies, .. } = &mut self.senders;
        due.take(until, list, replies, |replies| &mut replies.due);
        let flows = self.core.flows.len();
        let is_large = self.core.pool.is_large();
        // Most of them are visited in the order of memory.
        if self.senders.list.len() >= flows.div_ceil(MOST) {
            for id in 0..flows {
                if is_large {
                    self.fetch_senders(|after| Some(id + after).filter(|&id| id < flows), until);
                }
                self.advance_sender(id, until);
                self.await_next(id);
            }
        } else {
            let list = std::mem::take(&mut self.senders.list);
            for (i, &id) in list.iter().enumerate() {
                if is_large {
                    self.fetch_senders(|after| list.get(i + after).map(|&id| id as usize), until);
                }
                self.advance_sender(id as usize, until);
                self.await_next(id as usize);
            }
            self.senders.list = list;
        }
        self.add_transfers();
    }

    /// Enters the next time of a flow into the index.
    #[inline]
    fn await_next(&mut self, id: usize) {
        let replies = &mut self.senders.replies[id];
        let next = replies.time().min(self.core.wakes[id]).min(self.core.actions[id]);
        self.senders.due.add(&mut replies.due, id, next);
    }

    /// Handles the replies, timers and actions of a flow before `until`.
    fn advance_sender(&mut self, id: usize, until: Time) {
        if !self.senders.acts.is_empty() && self.senders.acts[id] {
            return self.advance_application(id, until);
        }
        if self.net.has_tunnels && matches!(self.core.flows[id].sender, Sender::Tunnel(_)) {
            return self.advance_tunnel(id, until);
        }
        let is_large = self.core.pool.is_large();
        loop {
            let wake = self.core.wakes[id];
            let replies = &mut self.senders.replies[id];
            // A wake-up comes before a reply of the same time.
            if let Some(Reply { at, handle }) = replies.due(wake.min(until)) {
                if is_large {
                    replies.prepare(&self.core.pool);
                }
                (self.core.now, self.event) = (at, replies.event);
                self.core.events += 1;
                self.acknowledge(handle);
            } else if wake < until {
                (self.core.now, self.event) = (wake, EventId::new(EventKind::Wake, id));
                self.core.events += 1;
                self.wake(id);
            } else {
                break;
            }
        }
    }

    /// Handles the replies and timers of a flow, and the actions of its application, before `until`.
    #[inline(never)]
    fn advance_application(&mut self, id: usize, until: Time) {
        loop {
            let (wake, action) = (self.core.wakes[id], self.core.actions[id]);
            // The sender's wake-ups may be handled at once up to the next action.
            self.known = until.min(action);
            let replies = &mut self.senders.replies[id];
            // At the same time the application acts first, and then come a wake-up and a reply.
            if let Some(Reply { at, handle }) = replies.due(wake.min(action).min(until)) {
                (self.core.now, self.event) = (at, replies.event);
                self.core.events += 1;
                match self.core.flows[id].sender {
                    Sender::Tunnel(_) => {
                        self.core.reply_to_tunnel(id, handle);
                        self.pump(id);
                    }
                    _ => self.acknowledge(handle),
                }
            } else if action <= wake && action < until {
                (self.core.now, self.event) = (action, EventId::new(EventKind::Application, id));
                self.core.events += 1;
                self.core.actions[id] = Time::MAX;
                if self.core.act(id) {
                    self.known = until.min(self.core.actions[id]);
                    self.pump(id);
                }
            } else if wake < until {
                (self.core.now, self.event) = (wake, EventId::new(EventKind::Wake, id));
                self.core.events += 1;
                self.wake(id);
            } else {
                break;
            }
            self.end_transfer(id);
        }
        self.known = until;
    }

    /// Ends the transfer of a flow, if it has one and its sender is done.
    fn end_transfer(&mut self, id: usize) {
        if let Some(ended) = self.core.take_transfer(id) {
            // The next transfer may be much smaller.
            self.senders.replies[id].queue.release();
            let now = self.core.now;
            self.senders.ended.push(((now, self.event.key(now)), ended));
        }
    }

    /// Records the transfers that have ended in a window, in the order of their ends.
    fn add_transfers(&mut self) {
        self.senders.ended.sort_unstable_by_key(|(end, _)| *end);
        for (_, ended) in self.senders.ended.drain(..) {
            self.core.add_transfer(ended);
        }
    }
}
