//! A flow in the simulation: its two ends, its application, and what is counted of it.

use crate::packet::Packet;
use accord_aqm::Ecn;
use accord_port::Count;
use accord_scenario::{self as scenario, Application, Scenario};
use accord_transport::{Receipt, Receiver, Segment, Sender, endpoints};
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
    /// Size of a data packet.
    pub packet: u16,
    /// Size of an acknowledgement.
    pub ack: u16,
    /// Size of a control packet.
    pub control: u16,
    /// Codepoint of its data packets.
    pub ecn: Ecn,
    /// Index of its aggregate in the scenario.
    pub aggregate: u8,
    /// It has started.
    pub started: bool,
    /// It has stopped.
    pub stopped: bool,
    /// Its receiving end.
    pub receiver: Receiver,
    /// In the order of their delivery.
    coming: VecDeque<Coming>,
    /// Data sent.
    pub sent: Count,
    /// Data delivered.
    pub delivered: Count,
    /// Bytes delivered for the first time.
    pub fresh_bytes: u64,
    /// Packets of any kind that were dropped or lost on the way.
    pub losses: u64,
    /// Data that was dropped or lost on the way.
    pub data_lost_bytes: u64,
    /// The application waits for all that it supplied to be delivered.
    pub transferring: bool,
    /// Time over the path with empty queues, for a data packet.
    pub one_way: Duration,
    /// (time, bytes sent by then), for the ideal estimator only.
    history: VecDeque<(Time, u64)>,
    /// When the latest packet would have arrived over empty queues, and bytes sent up to it.
    due: (Time, u64),
    /// Its application.
    pub application: Box<Application>,
}

const _: () = assert!(size_of::<Flow>() <= 768);

/// A data packet on its way of which the receiver knows already.
struct Coming {
    /// When it is delivered.
    at: Time,
    sent: Time,
    fresh: bool,
}

impl Flow {
    /// Flow `id`, not started yet; its paths are to be set.
    pub fn new(f: &scenario::Flow, id: usize, scenario: &Scenario) -> Flow {
        let (sender, receiver) =
            endpoints(&f.controller, &f.service, f.packet, scenario.base_rtt(id));
        Flow {
            ecn: match sender.is_ecn_capable() {
                true => Ecn::Capable,
                false => Ecn::NotCapable,
            },
            aggregate: f.aggregate as u8,
            sender,
            receiver,
            application: Box::new(Application::new(f, id, scenario.seed)),
            path: 0,
            reverse_path: 0,
            packet: f.packet.get() as u16,
            ack: f.ack.get() as u16,
            control: f.control.get() as u16,
            started: false,
            stopped: false,
            wake: Time::MAX,
            coming: VecDeque::new(),
            transferring: false,
            one_way: scenario.one_way(&f.path, f.packet),
            sent: Count::default(),
            delivered: Count::default(),
            fresh_bytes: 0,
            losses: 0,
            data_lost_bytes: 0,
            history: VecDeque::new(),
            due: (Time::ZERO, 0),
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

    /// Data is delivered.
    #[inline]
    pub fn deliver(&mut self, fresh: bool) {
        self.delivered.add(Bytes::new(u64::from(self.packet)));
        if fresh {
            self.fresh_bytes += u64::from(self.packet);
        }
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
    #[inline]
    pub fn deliver_until(&mut self, now: Time) {
        while let Some(&Coming { at, fresh, .. }) = self.coming.front()
            && at < now
        {
            self.coming.pop_front();
            self.deliver(fresh);
        }
    }

    /// Data will be delivered at `at`, not before any told of earlier.
    #[inline]
    pub fn deliver_later(&mut self, now: Time, at: Time, sent: Time, fresh: bool) {
        self.deliver_until(now);
        self.coming.push_back(Coming { at, sent, fresh });
    }

    /// Data of which the receiver knows already and which would have arrived by `now` over
    /// empty queues, in bytes.
    pub fn coming_late(&mut self, now: Time) -> u64 {
        // A ring that once was long is passed through in full, which takes many cache lines.
        if self.coming.capacity() > 16 + 2 * self.coming.len() {
            self.coming.shrink_to(self.coming.len() * 3 / 2);
        }
        // They are in the order in which they were sent, too.
        let late = |c: &&Coming| c.sent + self.one_way <= now;
        let packets = self.coming.iter().take_while(late).count() as u64;
        packets * u64::from(self.packet)
    }

    /// Notes what was sent, for the ideal estimator.
    #[inline]
    pub fn remember(&mut self, now: Time) {
        if self.receiver.wants_truth() {
            self.history.push_back((now, self.sent.bytes));
        }
    }

    /// Accumulation by its definition: what would have arrived by now over empty queues,
    /// less what has arrived and what was lost [Xia05 eq. 1, Xia03 eqs. 1-6]. Only kept for
    /// flows whose estimator asks for it.
    pub fn true_accumulation(&mut self, now: Time) -> Option<f64> {
        if !self.receiver.wants_truth() {
            return None;
        }
        while let Some(&(sent, bytes)) = self.history.front() {
            if sent + self.one_way > now {
                break;
            }
            self.due = (sent + self.one_way, bytes);
            self.history.pop_front();
        }
        // The definition is of a fluid: the packet that is due next has come in part.
        let (since, bytes) = self.due;
        let part = self.history.front().map_or(0.0, |&(sent, next)| {
            let gap = (sent + self.one_way).since(since).as_secs_f64();
            (next - bytes) as f64 * (now.since(since).as_secs_f64() / gap.max(1e-12))
        });
        let gone = self.delivered.bytes + self.data_lost_bytes;
        Some((bytes as f64 + part - gone as f64).max(0.0))
    }
}
