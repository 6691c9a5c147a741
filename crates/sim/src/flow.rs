//! Flows: their ends, their applications and their counts.

use crate::gateway::Gateway;
use crate::host::Host;
use crate::memory::LINE;
use crate::packet::{Packet, UNREAD};
use accord_aqm::Ecn;
use accord_elements::{Session, ends};
use accord_family::Inner;
use accord_port::Count;
use accord_record::Delays;
use accord_scenario::State;
use accord_transport::stream::StreamSender;
use accord_transport::{Datagrams, Receipt, Receiver, Segment, Sender, wire};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;
use std::mem::offset_of;
use std::ops::Range;

/// A flow with its ends, its application and its counts.
///
/// The fields are in the order of their use. So a flow outside the near caches costs two cache
/// lines for an arriving packet, and four, those of [`Flow::SENDER`], for an acknowledgement and
/// the packet that it releases.
#[repr(C, align(64))]
pub struct Flow {
    /// The receiving end.
    pub receiver: Receiver,
    /// The data delivered.
    pub delivered: Count,
    /// The delays of the data delivered.
    pub delays: Delays,
    /// The bytes delivered for the first time.
    pub fresh_bytes: u64,
    /// The one-way delay of a data packet over empty queues, including the host's.
    pub one_way: Duration,
    /// The one-way delay of a packet of size zero.
    pub propagation: Duration,
    /// The first hop of the reverse path.
    pub reverse_path: u32,
    /// The size of a data packet in bytes, or the mean size if the host draws sizes.
    pub packet: u16,
    /// The size of the receiver's answers, in bytes.
    pub answer: u16,
    /// The size of a control packet, in bytes.
    pub control: u16,
    /// True if `pending` is not empty.
    has_pending: bool,
    /// The data sent recently. It is kept if the estimator needs the true accumulation, or if the
    /// path changes.
    pub outgoing: Option<Box<Outgoing>>,
    /// The first hop of the forward path.
    pub path: u32,
    /// The virtual delay of a new packet: zero, or [`UNREAD`].
    pub virtual_s: f32,
    /// The size of a data packet. It duplicates `packet`, because the sender does not read that
    /// cache line.
    pub data: u16,
    /// The ECN codepoint of its data packets.
    pub ecn: Ecn,
    /// The index of its aggregate in the scenario.
    pub aggregate: u8,
    /// States whether samples must read the flow.
    activity: Activity,
    /// The data sent.
    pub sent: Count,
    /// The host.
    pub host: Host,
    /// The sending end.
    pub sender: Sender,
    /// The number of packets of any type that were dropped or lost.
    pub losses: u64,
    /// The data that was dropped or lost.
    pub data_lost: Count,
    /// The data packets that were delivered ahead of the clock and are not yet counted, in the
    /// order of their delivery.
    pending: VecDeque<PendingDelivery>,
    /// The application.
    pub session: Session,
}

/// States whether the counts and the state of a flow may change before an event (a start, an action
/// of the application, a reply or a loss) wakes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    /// The flow has changed since the last sample, or may change.
    Awake,
    /// The flow cannot change, and the last sample was the first to read the final state.
    Resting,
    /// The flow cannot change, and did not change between the last two samples. Samples skip it.
    Asleep,
}

#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<Flow>() <= 576);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(Flow::RECEIVER.end == 2 && Flow::SENDER.end == 6);
#[cfg(target_pointer_width = "64")]
const _: () = assert!(offset_of!(Flow, pending) == 512);

/// The data that would not yet have arrived over empty queues.
#[derive(Default)]
pub struct Outgoing {
    /// The packets in the order in which they were sent.
    sent: VecDeque<NominalArrival>,
    /// The latest packet that would have arrived by now.
    latest: NominalArrival,
}

/// The nominal arrival of a data packet: its arrival over empty queues.
#[derive(Clone, Copy, Default)]
struct NominalArrival {
    sent: Time,
    at: Time,
    /// The bytes sent up to and including the packet.
    bytes: u64,
}

/// A data packet that was delivered ahead of the clock. It takes only 20 bytes, because there are
/// many.
#[derive(Clone, Copy)]
#[repr(Rust, packed(4))]
struct PendingDelivery {
    /// The time of its delivery.
    at: Time,
    sent: Time,
    size: u16,
    fresh: bool,
}

impl Flow {
    /// The cache lines of the receiving end.
    pub const RECEIVER: Range<usize> = 0..offset_of!(Flow, outgoing).div_ceil(LINE);
    /// The cache lines of the sending end.
    pub const SENDER: Range<usize> = offset_of!(Flow, outgoing) / LINE
        ..(offset_of!(Flow, sender) + StreamSender::HOT).div_ceil(LINE);

    /// Creates flow `id`, which has not yet started, in the current state of the network. The
    /// layout sets its hops.
    pub fn new(id: usize, network: &State) -> Flow {
        let scenario = network.scenario;
        let f = &scenario.flows[id];
        let (sender, receiver) = ends(f, network.base_rtt(id));
        Flow {
            ecn: match sender.codepoint() {
                wire::CAPABLE => Ecn::Capable,
                wire::SCALABLE => Ecn::Scalable,
                _ => Ecn::NotCapable,
            },
            aggregate: f.aggregate as u8,
            virtual_s: match receiver {
                Receiver::Tunnel(_) => 0.0,
                Receiver::Stream(_) | Receiver::Datagrams => UNREAD,
            },
            answer: match sender {
                Sender::Tunnel(_) => f.control.get() as u16,
                _ => f.ack.get() as u16,
            },
            sender,
            receiver,
            session: Session::default(),
            path: 0,
            reverse_path: 0,
            packet: f.packet.get() as u16,
            data: f.packet.get() as u16,
            control: f.control.get() as u16,
            pending: VecDeque::new(),
            has_pending: false,
            one_way: network.one_way_of(id, f.packet),
            propagation: network.one_way_of(id, Bytes::ZERO),
            sent: Count::default(),
            delivered: Count::default(),
            delays: Delays::default(),
            fresh_bytes: 0,
            losses: 0,
            data_lost: Count::default(),
            outgoing: None,
            host: Host::new(f, id, scenario),
            activity: Activity::Asleep,
        }
    }

    /// Makes the sender keep a log, with the variables of its controller.
    pub fn keep_log(&mut self, inner: &'static [Inner]) {
        let idle = Sender::Datagrams(Datagrams::default());
        self.sender = std::mem::replace(&mut self.sender, idle).logged(inner);
    }

    /// Marks the flow as awake. Returns true if it was asleep.
    #[inline]
    pub fn wake_up(&mut self) -> bool {
        std::mem::replace(&mut self.activity, Activity::Awake) == Activity::Asleep
    }

    /// Returns true if the next sample must read the flow. The caller has read it for this sample.
    pub fn stays_awake(&mut self) -> bool {
        let idle = match &self.sender {
            Sender::Stream(_) | Sender::Datagrams(_) => self.sender.is_done(),
            // A tunnel has its own timers, and a log records everything.
            Sender::Tunnel(_) | Sender::Logged(_) => false,
        };
        self.activity = match self.activity {
            _ if !idle || self.in_network() > 0 => Activity::Awake,
            Activity::Awake => Activity::Resting,
            Activity::Resting | Activity::Asleep => Activity::Asleep,
        };
        self.activity != Activity::Asleep
    }

    /// Passes a packet to the receiver.
    #[inline]
    pub fn receive(&mut self, packet: &Packet, now: Time) -> Receipt {
        let truth = match packet.segment {
            Segment::InBand { .. } => self.true_accumulation(now),
            _ => None,
        };
        let marked = packet.ecn == Ecn::Marked;
        (self.receiver).on_segment(
            &packet.segment,
            packet.bytes(),
            marked,
            f64::from(packet.virtual_s),
            truth,
            now,
        )
    }

    /// Counts the delivery of a data packet after `delay`.
    #[inline]
    pub fn deliver(&mut self, fresh: bool, size: u16, delay: Duration) {
        self.delivered.add(Bytes::new(u64::from(size)));
        self.delays.add(delay, self.one_way_of(size));
        if fresh {
            self.fresh_bytes += u64::from(size);
        }
    }

    /// Returns the one-way delay of a data packet of `size` over empty queues.
    #[inline]
    fn one_way_of(&self, size: u16) -> Duration {
        if size == self.packet { self.one_way } else { self.one_way_of_other(size) }
    }

    #[inline(never)]
    fn one_way_of_other(&self, size: u16) -> Duration {
        let transmission = (self.one_way - self.propagation).as_ps() as f64;
        let share = f64::from(size) / f64::from(self.packet);
        self.propagation + Duration::from_ps((transmission * share) as u64)
    }

    /// The bytes of data that were sent and neither arrived nor were lost. It is zero in a machine that
    /// contains the end of a path but not its beginning.
    pub fn in_network(&self) -> u64 {
        self.sent.bytes.saturating_sub(self.delivered.bytes + self.data_lost.bytes)
    }

    /// Returns the packet with the receiver's answer. `id` is the flow's index, and `aggregate` is
    /// that of its packets.
    #[inline]
    pub fn answer(&self, id: u32, aggregate: u8, segment: Segment) -> Packet {
        Packet {
            segment,
            flow: id,
            hop: self.reverse_path,
            virtual_s: UNREAD,
            size: self.answer,
            ecn: Ecn::NotCapable,
            aggregate,
        }
    }

    /// Counts the deliveries before `now`.
    #[inline(never)]
    pub fn deliver_until(&mut self, now: Time) {
        let mut pending = std::mem::take(&mut self.pending);
        let mut due = 0;
        for &c in pending.iter().take_while(|c| { c.at } < now) {
            self.deliver(c.fresh, c.size, { c.at }.since(c.sent));
            due += 1;
        }
        pending.drain(..due);
        self.has_pending = !pending.is_empty();
        self.pending = pending;
    }

    /// Counts data that arrives at `at`, which is not before any added earlier. Counters are not
    /// read before `unread`, so an arrival before that is counted now.
    #[inline]
    pub fn deliver_later(&mut self, unread: Time, at: Time, sent: Time, size: u16, fresh: bool) {
        if at < unread {
            if self.has_pending {
                self.deliver_until(unread);
            }
            return self.deliver(fresh, size, at.since(sent));
        }
        self.has_pending = true;
        self.pending.push_back(PendingDelivery { at, sent, size, fresh });
    }

    /// Returns the bytes of data that were delivered ahead of the clock and are not yet counted.
    pub fn pending_bytes(&self) -> u64 {
        self.pending.iter().map(|c| u64::from(c.size)).sum()
    }

    /// Returns the bytes of [`Flow::pending_bytes`] that were sent by `late`. They would have
    /// arrived over empty queues.
    pub fn pending_sent_by(&mut self, late: Option<Time>) -> u64 {
        // Iteration over a ring that was once long touches many cache lines.
        if self.pending.capacity() > 16 + 2 * self.pending.len() {
            self.pending.shrink_to(self.pending.len() * 3 / 2);
        }
        // Deliveries are also in the order of sending.
        let late = |c: &&PendingDelivery| Some(c.sent) <= late;
        let sizes = self.pending.iter().take_while(late);
        sizes.map(|c| u64::from(c.size)).sum()
    }

    /// Records the latest data sent, if `outgoing` is kept.
    #[inline]
    pub fn remember(&mut self, now: Time) {
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.sent.push_back(NominalArrival {
                sent: now,
                at: now + self.one_way,
                bytes: self.sent.bytes,
            });
        }
    }

    /// Returns the sending time of the latest data that would have arrived before `now` over empty
    /// queues, with the delays in force on its way. Returns `None` if there is none.
    pub fn late(&mut self, now: Time) -> Option<Time> {
        let now = just_before(now);
        match &mut self.outgoing {
            Some(outgoing) => {
                outgoing.settle(now);
                (outgoing.latest.bytes > 0).then_some(outgoing.latest.sent)
            }
            None => {
                let late = now.as_ps().checked_sub(self.one_way.as_ps());
                late.map(Time::from_ps)
            }
        }
    }

    /// Begins to record the data sent, for [`Flow::due`].
    pub fn keep_outgoing(&mut self) {
        self.outgoing.get_or_insert_default();
    }

    /// Returns the bytes that would have arrived before `now` over empty queues, for a flow that records the
    /// data sent.
    pub fn due(&mut self, now: Time) -> u64 {
        self.outgoing.as_mut().map_or(0, |outgoing| {
            outgoing.settle(just_before(now));
            outgoing.latest.bytes
        })
    }

    /// Recomputes the nominal arrivals of the data sent from `first` on, which takes the current
    /// path.
    pub fn path_changed(&mut self, first: Time) {
        let one_way = self.one_way;
        if let Some(outgoing) = &mut self.outgoing {
            let meets_it = |arrival: &&mut NominalArrival| arrival.sent >= first;
            for arrival in outgoing.sent.iter_mut().rev().take_while(meets_it) {
                arrival.at = arrival.sent + one_way;
            }
        }
    }

    /// Adds `span` to the nominal arrival of the data sent at `sent`, which waits on a wire for the
    /// packets ahead of it.
    pub fn hold_up(&mut self, sent: Time, span: Duration) {
        let Some(outgoing) = &mut self.outgoing else {
            return;
        };
        let at = outgoing.sent.partition_point(|arrival| arrival.sent < sent);
        if let Some(arrival) = outgoing.sent.get_mut(at).filter(|arrival| arrival.sent == sent) {
            arrival.at += span;
        }
    }

    /// Returns the accumulation by its definition: the bytes that would have arrived by now over
    /// empty queues, less those that have arrived or were lost [Xia05 eq. 1, Xia03 eqs. 1-6].
    /// Returns `None` unless the estimator asks for it.
    pub fn true_accumulation(&mut self, now: Time) -> Option<f64> {
        if !self.receiver.wants_truth() {
            return None;
        }
        let outgoing = self.outgoing.as_mut()?;
        outgoing.settle(now);
        // The definition is for a fluid, so part of the next packet has arrived.
        let NominalArrival { at, bytes, .. } = outgoing.latest;
        let part = outgoing.sent.front().map_or(0.0, |next| {
            let gap = next.at.since(at).as_secs_f64();
            (next.bytes - bytes) as f64 * (now.since(at).as_secs_f64() / gap.max(1e-12))
        });
        let gone = self.delivered.bytes + self.data_lost.bytes;
        Some((bytes as f64 + part - gone as f64).max(0.0))
    }
}

impl Flow {
    /// The gateways of the flow, if it is a tunnel.
    pub fn gateway(&self) -> Option<&Gateway> {
        self.host.gateway()
    }

    /// The gateways of the flow, mutably.
    pub fn gateway_mut(&mut self) -> Option<&mut Gateway> {
        self.host.gateway_mut()
    }

    /// Returns whether the flow is a stream, which counts its packets.
    pub fn is_stream(&self) -> bool {
        matches!(self.receiver, Receiver::Stream(_))
    }

    /// Passes the state of the edge queue to the sender of a tunnel.
    pub fn offer(&mut self, now: Time) {
        if let Some(gateway) = self.host.gateway_mut() {
            gateway.offer(&mut self.sender, now);
        }
    }
}

/// Returns the last instant before `now`. A sample covers the time before it and counts no delivery at its
/// own instant, so data that is due at that instant is not late.
fn just_before(now: Time) -> Time {
    Time::from_ps(now.as_ps().saturating_sub(1))
}

impl Outgoing {
    /// Removes the data that would have arrived by `now`.
    fn settle(&mut self, now: Time) {
        while let Some(&next) = self.sent.front() {
            if next.at > now {
                break;
            }
            // Packets do not overtake each other.
            let at = next.at.max(self.latest.at);
            self.latest = NominalArrival { at, ..next };
            self.sent.pop_front();
        }
    }
}
