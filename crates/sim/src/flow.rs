//! A flow in the simulation: its two ends, its application, and its counts.

use crate::gateway::Gateway;
use crate::host::Host;
use crate::packet::{Packet, UNREAD};
use accord_aqm::Ecn;
use accord_elements::{Session, ends};
use accord_port::Count;
use accord_record::Delays;
use accord_scenario::State;
use accord_transport::{Receipt, Receiver, Segment, Sender, wire};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// A flow with its ends, its application and its counts.
pub struct Flow {
    /// The sending end.
    pub sender: Sender,
    /// The first hop of the path there.
    pub path: u32,
    /// The first hop of the path back.
    pub reverse_path: u32,
    /// The size of a data packet in bytes, or the mean size if the host draws sizes.
    pub packet: u16,
    /// The size of an acknowledgement, in bytes.
    pub ack: u16,
    /// The size of a control packet, in bytes.
    pub control: u16,
    /// The ECN codepoint of its data packets.
    pub ecn: Ecn,
    /// The index of its aggregate in the scenario.
    pub aggregate: u8,
    /// The receiving end.
    pub receiver: Receiver,
    /// The data packets that the receiver knows of ahead of time and that are not counted yet, in the
    /// order of their delivery.
    pending: VecDeque<PendingDelivery>,
    /// The data sent.
    pub sent: Count,
    /// The data delivered.
    pub delivered: Count,
    /// The delays of the data delivered.
    pub delays: Delays,
    /// The bytes delivered for the first time.
    pub fresh_bytes: u64,
    /// The packets of any kind that were dropped or lost on the way.
    pub losses: u64,
    /// The data that was dropped or lost on the way.
    pub data_lost: Count,
    /// The time of a data packet over the path with empty queues, the host's included.
    pub one_way: Duration,
    /// The same time for a packet of size zero.
    pub propagation: Duration,
    /// The data sent recently. It is remembered if the estimator asks for the true accumulation, or
    /// if the path changes.
    pub outgoing: Option<Box<Outgoing>>,
    /// The host, if it draws sizes or takes time for packets.
    pub host: Option<Box<Host>>,
    /// The application.
    pub session: Session,
    /// Whether samples have to read the flow.
    activity: Activity,
}

/// Whether the counts and the state of a flow can change before an event that wakes it: a start, an
/// application that acts, a reply, a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Activity {
    /// Something has happened since the last sample, or may happen.
    Awake,
    /// Nothing can happen, and the last sample was the first to read that.
    Resting,
    /// Nothing can happen, and nothing has happened between two samples. Samples pass over it.
    Asleep,
}

const _: () = assert!(size_of::<Flow>() <= 704);

/// The data that would not have arrived yet over empty queues.
#[derive(Default)]
pub struct Outgoing {
    /// The packets in the order in which they were sent.
    sent: VecDeque<NominalArrival>,
    /// The latest packet that would have arrived.
    due: NominalArrival,
}

/// The time at which a data packet would have arrived over empty queues.
#[derive(Clone, Copy, Default)]
struct NominalArrival {
    sent: Time,
    at: Time,
    /// The bytes sent up to it.
    bytes: u64,
}

/// A data packet on its way that the receiver knows of already.
struct PendingDelivery {
    /// The time of its delivery.
    at: Time,
    sent: Time,
    size: u16,
    fresh: bool,
}

impl Flow {
    /// Creates flow `id`, which has not started, in the present state of the network. Its hops are
    /// to be set.
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
            sender,
            receiver,
            session: Session::default(),
            path: 0,
            reverse_path: 0,
            packet: f.packet.get() as u16,
            ack: f.ack.get() as u16,
            control: f.control.get() as u16,
            pending: VecDeque::new(),
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

    /// Notes that something happens to the flow. Returns whether it was asleep.
    #[inline]
    pub fn wake_up(&mut self) -> bool {
        std::mem::replace(&mut self.activity, Activity::Awake) == Activity::Asleep
    }

    /// Returns whether the next sample has to read the flow, which this one has read.
    pub fn stays_awake(&mut self) -> bool {
        let idle = match &self.sender {
            Sender::Stream(_) | Sender::Datagrams(_) => self.sender.is_done(),
            // A tunnel has clocks of its own, and a log is of everything.
            Sender::Tunnel(_) | Sender::Logged(_) => false,
        };
        self.activity = match self.activity {
            _ if !idle || self.in_network() > 0 => Activity::Awake,
            Activity::Awake => Activity::Resting,
            Activity::Resting | Activity::Asleep => Activity::Asleep,
        };
        self.activity != Activity::Asleep
    }

    /// Gives a packet to the receiver.
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

    /// Counts the delivery of a data packet that was on its way for `delay`.
    #[inline]
    pub fn deliver(&mut self, fresh: bool, size: u16, delay: Duration) {
        self.delivered.add(Bytes::new(u64::from(size)));
        self.delays.add(delay, self.one_way_of(size));
        if fresh {
            self.fresh_bytes += u64::from(size);
        }
    }

    /// Returns the time of a data packet of `size` over the path with empty queues.
    #[inline]
    fn one_way_of(&self, size: u16) -> Duration {
        match size == self.packet {
            true => self.one_way,
            false => self.one_way_of_other(size),
        }
    }

    #[inline(never)]
    fn one_way_of_other(&self, size: u16) -> Duration {
        let transmission = (self.one_way - self.propagation).as_ps() as f64;
        let share = f64::from(size) / f64::from(self.packet);
        self.propagation + Duration::from_ps((transmission * share) as u64)
    }

    /// The bytes of data that were sent and have neither arrived nor been lost.
    pub fn in_network(&self) -> u64 {
        self.sent.bytes - self.delivered.bytes - self.data_lost.bytes
    }

    /// Returns the packet that carries the receiver's answer. The flow is flow `id`.
    #[inline]
    pub fn answer(&self, id: u32, segment: Segment) -> Packet {
        let size = match segment {
            Segment::Ack { .. } => self.ack,
            _ => self.control,
        };
        Packet {
            segment,
            flow: id,
            hop: self.reverse_path,
            virtual_s: UNREAD,
            size,
            ecn: Ecn::NotCapable,
            aggregate: self.aggregate,
        }
    }

    /// Counts the deliveries before `now`.
    #[inline(never)]
    pub fn deliver_until(&mut self, now: Time) {
        let mut pending = std::mem::take(&mut self.pending);
        let mut due = 0;
        for c in pending.iter().take_while(|c| c.at < now) {
            self.deliver(c.fresh, c.size, c.at.since(c.sent));
            due += 1;
        }
        pending.drain(..due);
        self.pending = pending;
    }

    /// Counts data that will be delivered at `at`, not before any added earlier. Counts are not read
    /// before `unread`, so that what is delivered before it is counted now.
    #[inline]
    pub fn deliver_later(&mut self, unread: Time, at: Time, sent: Time, size: u16, fresh: bool) {
        if at < unread {
            if !self.pending.is_empty() {
                self.deliver_until(unread);
            }
            return self.deliver(fresh, size, at.since(sent));
        }
        self.pending.push_back(PendingDelivery {
            at,
            sent,
            size,
            fresh,
        });
    }

    /// Returns the bytes of data that the receiver knows of already and that are not counted yet.
    pub fn pending_bytes(&self) -> u64 {
        self.pending.iter().map(|c| u64::from(c.size)).sum()
    }

    /// Returns the bytes of data that the receiver knows of already and that would have arrived by
    /// `now` over empty queues. They are those sent by `late`.
    pub fn pending_sent_by(&mut self, late: Option<Time>) -> u64 {
        // A ring that once was long is passed through in full, which takes many cache lines.
        if self.pending.capacity() > 16 + 2 * self.pending.len() {
            self.pending.shrink_to(self.pending.len() * 3 / 2);
        }
        // They are also in the order in which they were sent.
        let late = |c: &&PendingDelivery| Some(c.sent) <= late;
        let sizes = self.pending.iter().take_while(late);
        sizes.map(|c| u64::from(c.size)).sum()
    }

    /// Remembers what was sent, if that is needed.
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

    /// Returns the time by which data has to be sent to have arrived by `now` over empty queues,
    /// with the delays that it really meets. Returns `None` if no data would have.
    pub fn late(&mut self, now: Time) -> Option<Time> {
        match &mut self.outgoing {
            Some(outgoing) => {
                outgoing.settle(now);
                (outgoing.due.bytes > 0).then_some(outgoing.due.sent)
            }
            None => {
                let late = now.as_ps().checked_sub(self.one_way.as_ps());
                late.map(Time::from_ps)
            }
        }
    }

    /// Recomputes the due times of the data sent from `first` on, which meets the path as it is
    /// now.
    pub fn path_changed(&mut self, first: Time) {
        let one_way = self.one_way;
        if let Some(outgoing) = &mut self.outgoing {
            let meets_it = |due: &&mut NominalArrival| due.sent >= first;
            for due in outgoing.sent.iter_mut().rev().take_while(meets_it) {
                due.at = due.sent + one_way;
            }
        }
    }

    /// Adds to the delay of the data sent at `sent`. It waits on a wire for the packets that left
    /// the port before it, `span` longer than the wire's delay.
    pub fn hold_up(&mut self, sent: Time, span: Duration) {
        let Some(outgoing) = &mut self.outgoing else {
            return;
        };
        let at = outgoing.sent.partition_point(|due| due.sent < sent);
        if let Some(due) = outgoing.sent.get_mut(at).filter(|due| due.sent == sent) {
            due.at += span;
        }
    }

    /// Returns the accumulation by its definition: the bytes that would have arrived by now over
    /// empty queues, less those that have arrived and those that were lost
    /// [Xia05 eq. 1, Xia03 eqs. 1-6]. It is known only for flows whose estimator asks for it.
    pub fn true_accumulation(&mut self, now: Time) -> Option<f64> {
        if !self.receiver.wants_truth() {
            return None;
        }
        let outgoing = self.outgoing.as_mut()?;
        outgoing.settle(now);
        // The definition is of a fluid: a part of the packet that is due next has arrived.
        let NominalArrival { at, bytes, .. } = outgoing.due;
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
        self.host.as_deref()?.gateway()
    }

    /// The gateways of the flow, to be changed.
    pub fn gateway_mut(&mut self) -> Option<&mut Gateway> {
        self.host.as_deref_mut()?.gateway_mut()
    }

    /// Tells the sender of a tunnel what waits at the edge.
    pub fn offer(&mut self, now: Time) {
        let gateway = self.host.as_deref_mut().and_then(|h| h.gateway_mut());
        if let Some(gateway) = gateway {
            gateway.offer(&mut self.sender, now);
        }
    }
}

impl Outgoing {
    /// Forgets the data that would have arrived by `now`.
    fn settle(&mut self, now: Time) {
        while let Some(&next) = self.sent.front() {
            if next.at > now {
                break;
            }
            // Packets do not overtake each other.
            let at = next.at.max(self.due.at);
            self.due = NominalArrival { at, ..next };
            self.sent.pop_front();
        }
    }
}
