//! The receiving half of a tunnel: it measures what arrives, and answers each pair.

use crate::message::{Answer, Half};
use accord_control::Meter;
use accord_family::Signal;
use accord_transport::Segment;
use accord_transport::tunnel::{Egress, Queuing};
use accord_units::{Bytes, Duration, Time};

/// The receiving half of a tunnel.
#[derive(Debug)]
pub struct Receiver {
    meter: Meter,
    egress: Egress,
    /// The run of the sender.
    run: Option<u32>,
    /// What the sender counts in addition to what was counted here. It is known from the first pair on.
    offset: Option<u64>,
    queuing: Queuing,
    /// The most virtual delay that counts.
    most_virtual: Duration,
    /// The queuing delay of the latest pair.
    queued: Duration,
    pairs: u64,
}

impl Receiver {
    /// Creates a receiver that has received nothing. `meter` is that of the controller's family. More
    /// virtual delay of a pair than `most_virtual` does not count.
    pub fn new(meter: Meter, signal: Signal, most_virtual: Duration) -> Receiver {
        Receiver {
            egress: Egress::new(meter.clone(), 0.0),
            meter,
            run: None,
            offset: None,
            queuing: Queuing::new(signal),
            most_virtual,
            queued: Duration::ZERO,
            pairs: 0,
        }
    }

    /// Sets the signal to go by, and the most virtual delay that counts.
    pub fn set_signals(&mut self, signal: Signal, most_virtual: Duration) {
        self.queuing.set_signal(signal);
        self.most_virtual = most_virtual;
    }

    /// Takes data that arrived.
    pub fn on_data(&mut self, size: Bytes, at: Time) {
        self.egress.on_data(size, 0.0, at);
    }

    /// Takes the out-of-band half of a pair.
    pub fn on_out_of_band(&mut self, half: &Half, at: Time) {
        self.begin_run(half.run);
        let sent = Time::from_ps(half.sent);
        self.queuing.on_out_of_band(half.number, sent, at);
    }

    /// Takes the in-band half of a pair, which has collected `virtual_delay`. Returns the report to send
    /// back.
    pub fn on_in_band(
        &mut self,
        half: &Half,
        sent_bytes: u64,
        virtual_delay: Duration,
        at: Time,
    ) -> Option<Answer> {
        let virtual_delay = virtual_delay.min(self.most_virtual);
        self.begin_run(half.run);
        let sent = Time::from_ps(half.sent);
        let queued = self.queuing.on_in_band(half.number, sent, at);
        self.queued = queued;
        let mut answer = Answer {
            run: half.run,
            number: half.number,
            received: 0,
            accumulation: 0.0,
            egress_bps: 0.0,
            queued: queued.as_secs_f64().min(60.0) as f32,
            virtual_delay: virtual_delay.as_secs_f64() as f32,
            lost: false,
            by_delay: self.queuing.signal() == Signal::Delay,
        };
        if half.number == 0 {
            // A probe of a tunnel that has nothing to send.
            return Some(answer);
        }
        // What was lost before the first pair is not known.
        let counted = self.egress.received().get();
        let offset = *self.offset.get_or_insert(sent_bytes.wrapping_sub(counted));
        let sent = sent_bytes.wrapping_sub(offset);
        let reply = (self.egress).on_queued(half.number, sent, queued, virtual_delay, at)?;
        self.queuing.set_packet_time(self.egress.packet_time());
        let Segment::Report {
            accumulation,
            lost,
            egress_bps,
            received,
            ..
        } = reply
        else {
            return None;
        };
        self.pairs += 1;
        answer.received = received.wrapping_add(offset);
        answer.accumulation = accumulation;
        answer.egress_bps = egress_bps;
        answer.lost = lost;
        Some(answer)
    }

    /// Forgets the numbers of another run of the sender. The path is the same one.
    fn begin_run(&mut self, run: u32) {
        if self.run != Some(run) {
            self.run = Some(run);
            self.offset = None;
            self.egress = Egress::new(self.meter.clone(), 0.0);
            self.queuing.begin();
        }
    }

    /// The signal in use.
    pub fn signal(&self) -> Signal {
        self.queuing.signal()
    }

    /// The queuing delay that the latest pair found.
    pub fn queued(&self) -> Duration {
        self.queued
    }

    /// The number of pairs that were answered.
    pub fn pairs(&self) -> u64 {
        self.pairs
    }
}
