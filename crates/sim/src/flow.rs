//! A flow in the simulation: its two ends, its application, and what is counted of it.

use crate::host::Host;
use crate::packet::Packet;
use accord_aqm::Ecn;
use accord_elements::{Session, ends};
use accord_port::Count;
use accord_record::Delays;
use accord_scenario::State;
use accord_transport::{Receipt, Receiver, Segment, Sender};
use accord_units::{Bytes, Duration, Time};
use std::collections::VecDeque;

/// One flow.
pub struct Flow {
    /// Its sending end.
    pub sender: Sender,
    /// A `Wake` event is pending for this time.
    pub wake: Time,
    /// First hops of the paths there and back.
    pub path: u32,
    /// See `path`.
    pub reverse_path: u32,
    /// Size of a data packet; in the mean, where its host draws sizes.
    pub packet: u16,
    /// Size of an acknowledgement.
    pub ack: u16,
    /// Size of a control packet.
    pub control: u16,
    /// Codepoint of its data packets.
    pub ecn: Ecn,
    /// Index of its aggregate in the scenario.
    pub aggregate: u8,
    /// Its receiving end.
    pub receiver: Receiver,
    /// In the order of their delivery.
    coming: VecDeque<Coming>,
    /// Data sent.
    pub sent: Count,
    /// Data delivered.
    pub delivered: Count,
    /// Of the data delivered.
    pub delays: Delays,
    /// Bytes delivered for the first time.
    pub fresh_bytes: u64,
    /// Packets of any kind that were dropped or lost on the way.
    pub losses: u64,
    /// Data that was dropped or lost on the way.
    pub data_lost: Count,
    /// Time over the path with empty queues, for a data packet, the host's included.
    pub one_way: Duration,
    /// The same for a packet without a bit.
    pub propagation: Duration,
    /// What it sends is remembered where its estimator asks for the true accumulation, or its
    /// path changes.
    pub outgoing: Option<Box<Outgoing>>,
    /// Its host, where that draws sizes or takes a time for packets.
    pub host: Option<Box<Host>>,
    /// Its application.
    pub session: Session,
}

const _: () = assert!(size_of::<Flow>() <= 768);

/// Data that would not have arrived yet, had all queues been empty.
#[derive(Default)]
pub struct Outgoing {
    /// In the order in which it was sent.
    sent: VecDeque<Due>,
    /// The latest packet that would have arrived.
    due: Due,
}

/// When a data packet would have arrived over empty queues.
#[derive(Clone, Copy, Default)]
struct Due {
    sent: Time,
    at: Time,
    /// Bytes sent up to it.
    bytes: u64,
}

/// A data packet on its way of which the receiver knows already.
struct Coming {
    /// When it is delivered.
    at: Time,
    sent: Time,
    size: u16,
    fresh: bool,
}

impl Flow {
    /// Flow `id`, not started yet, in the network as it is; its hops are to be set.
    pub fn new(id: usize, network: &State) -> Flow {
        let scenario = network.scenario;
        let f = &scenario.flows[id];
        let (sender, receiver) = ends(f, network.base_rtt(id));
        Flow {
            ecn: match sender.is_ecn_capable() {
                true => Ecn::Capable,
                false => Ecn::NotCapable,
            },
            aggregate: f.aggregate as u8,
            sender,
            receiver,
            session: Session::new(f, id, scenario.seed),
            path: 0,
            reverse_path: 0,
            packet: f.packet.get() as u16,
            ack: f.ack.get() as u16,
            control: f.control.get() as u16,
            wake: Time::MAX,
            coming: VecDeque::new(),
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
        }
    }

    /// A packet is at the receiver.
    #[inline]
    pub fn receive(&mut self, packet: &Packet, now: Time) -> Receipt {
        let truth = match packet.segment {
            Segment::InBand { .. } => self.true_accumulation(now),
            _ => None,
        };
        let marked = packet.ecn == Ecn::Marked;
        (self.receiver).on_segment(&packet.segment, packet.bytes(), marked, truth, now)
    }

    /// A data packet is delivered that was on its way for so long.
    #[inline]
    pub fn deliver(&mut self, fresh: bool, size: u16, delay: Duration) {
        self.delivered.add(Bytes::new(u64::from(size)));
        self.delays.add(delay, self.one_way_of(size));
        if fresh {
            self.fresh_bytes += u64::from(size);
        }
    }

    /// Time over the path with empty queues for a data packet of `size`.
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

    /// Bytes of data that were sent, and neither arrived nor were lost.
    pub fn in_network(&self) -> u64 {
        self.sent.bytes - self.delivered.bytes - self.data_lost.bytes
    }

    /// What the receiver sends back; it is flow `id`.
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
            size,
            ecn: Ecn::NotCapable,
            aggregate: self.aggregate,
        }
    }

    /// Counts what is delivered before `now`.
    #[inline(never)]
    pub fn deliver_until(&mut self, now: Time) {
        while let Some(c) = self.coming.pop_front_if(|c| c.at < now) {
            self.deliver(c.fresh, c.size, c.at.since(c.sent));
        }
    }

    /// Data will be delivered at `at`, not before any told of earlier. What has been delivered
    /// meanwhile is counted when there is no more room, or somebody asks.
    #[inline]
    pub fn deliver_later(&mut self, now: Time, at: Time, sent: Time, size: u16, fresh: bool) {
        if self.coming.len() == self.coming.capacity() {
            self.deliver_until(now);
        }
        self.coming.push_back(Coming {
            at,
            sent,
            size,
            fresh,
        });
    }

    /// Data of which the receiver knows already and which would have arrived by `now` over
    /// empty queues, in bytes; that is what was sent by `late`.
    pub fn coming_late(&mut self, late: Option<Time>) -> u64 {
        // A ring that once was long is passed through in full, which takes many cache lines.
        if self.coming.capacity() > 16 + 2 * self.coming.len() {
            self.coming.shrink_to(self.coming.len() * 3 / 2);
        }
        // They are in the order in which they were sent, too.
        let late = |c: &&Coming| Some(c.sent) <= late;
        let sizes = self.coming.iter().take_while(late);
        sizes.map(|c| u64::from(c.size)).sum()
    }

    /// Notes what was sent, if anybody wants to know.
    #[inline]
    pub fn remember(&mut self, now: Time) {
        if let Some(outgoing) = &mut self.outgoing {
            outgoing.sent.push_back(Due {
                sent: now,
                at: now + self.one_way,
                bytes: self.sent.bytes,
            });
        }
    }

    /// Data sent by the time that this gives would have arrived by `now` over empty queues, with
    /// the delays that it really meets. `None` if none would.
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

    /// What was sent from `first` on meets the path as it is now.
    pub fn path_changed(&mut self, first: Time) {
        let one_way = self.one_way;
        if let Some(outgoing) = &mut self.outgoing {
            let meets_it = |due: &&mut Due| due.sent >= first;
            for due in outgoing.sent.iter_mut().rev().take_while(meets_it) {
                due.at = due.sent + one_way;
            }
        }
    }

    /// What was sent at `sent` waits on a wire for what came out of the port before it, so much
    /// longer than the wire's delay.
    pub fn hold_up(&mut self, sent: Time, span: Duration) {
        let Some(outgoing) = &mut self.outgoing else {
            return;
        };
        let at = outgoing.sent.partition_point(|due| due.sent < sent);
        if let Some(due) = outgoing.sent.get_mut(at).filter(|due| due.sent == sent) {
            due.at += span;
        }
    }

    /// Accumulation by its definition: what would have arrived by now over empty queues,
    /// less what has arrived and what was lost [Xia05 eq. 1, Xia03 eqs. 1-6]. Only for flows
    /// whose estimator asks for it.
    pub fn true_accumulation(&mut self, now: Time) -> Option<f64> {
        if !self.receiver.wants_truth() {
            return None;
        }
        let outgoing = self.outgoing.as_mut()?;
        outgoing.settle(now);
        // The definition is of a fluid: the packet that is due next has come in part.
        let Due { at, bytes, .. } = outgoing.due;
        let part = outgoing.sent.front().map_or(0.0, |next| {
            let gap = next.at.since(at).as_secs_f64();
            (next.bytes - bytes) as f64 * (now.since(at).as_secs_f64() / gap.max(1e-12))
        });
        let gone = self.delivered.bytes + self.data_lost.bytes;
        Some((bytes as f64 + part - gone as f64).max(0.0))
    }
}

impl Outgoing {
    /// Forgets what would have arrived by `now`.
    fn settle(&mut self, now: Time) {
        while let Some(&next) = self.sent.front() {
            if next.at > now {
                break;
            }
            // Nothing overtakes.
            let at = next.at.max(self.due.at);
            self.due = Due { at, ..next };
            self.sent.pop_front();
        }
    }
}
