//! The receiving half of a tunnel: it measures arrivals, answers each pair with a report, and some of the
//! data between pairs with counts.

use crate::message::{Answer, Count, Half};
use accord_control::Meter;
use accord_family::Signal;
use accord_transport::Segment;
use accord_transport::tunnel::{Egress, Queuing};
use accord_units::{Bytes, Duration, Time};

/// The most counts between two pairs: those of about 25 round trips. Half of the pairs may get lost, but a
/// sender without pairs does not use counts.
const MOST_COUNTS: u32 = 256;

/// The receiving half of a tunnel.
#[derive(Debug)]
pub struct Receiver {
    meter: Meter,
    /// The counts per round trip.
    per_round_trip: f64,
    egress: Egress,
    /// True if a count should answer data.
    count_due: bool,
    /// The counts since the latest pair.
    counted: u32,
    /// The run of the sender.
    run: Option<u32>,
    /// The sender's count less the receiver's, known from the first pair on.
    offset: Option<u64>,
    queuing: Queuing,
    /// The most virtual delay that counts.
    most_virtual: Duration,
    /// The queuing delay found by the latest pair.
    pub queued: Duration,
    /// The number of pairs that were answered.
    pub pairs: u64,
}

impl Receiver {
    /// Creates a receiver that has received nothing. `meter` and the number of `counts` per round trip are
    /// those of the controller's family. Virtual delay of a pair beyond `most_virtual` does not count.
    pub fn new(meter: Meter, counts: f64, signal: Signal, most_virtual: Duration) -> Receiver {
        Receiver {
            egress: Egress::new(meter.clone(), counts),
            meter,
            per_round_trip: counts,
            count_due: false,
            counted: 0,
            run: None,
            offset: None,
            queuing: Queuing::new(signal),
            most_virtual,
            queued: Duration::ZERO,
            pairs: 0,
        }
    }

    /// Sets the signal to use, and the most virtual delay that counts.
    pub fn set_signals(&mut self, signal: Signal, most_virtual: Duration) {
        self.queuing.set_signal(signal);
        self.most_virtual = most_virtual;
    }

    /// Takes data that arrived.
    pub fn on_data(&mut self, size: Bytes, at: Time) {
        self.count_due |= self.egress.on_data(size, 0.0, at).is_some();
    }

    /// Returns the count to send back, if one is due: at most one for all data that arrived
    /// together. There is none before the first pair, which carries the start of the sender's
    /// count.
    pub fn count(&mut self) -> Option<Count> {
        if !std::mem::take(&mut self.count_due) || self.counted == MOST_COUNTS {
            return None;
        }
        let (run, offset) = (self.run?, self.offset?);
        self.counted += 1;
        let received = self.egress.received().get().wrapping_add(offset);
        Some(Count { run, received })
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
            // This is a probe of a tunnel that has nothing to send.
            return Some(answer);
        }
        // Losses before the first pair are not known.
        let counted = self.egress.received().get();
        let offset = *self.offset.get_or_insert(sent_bytes.wrapping_sub(counted));
        let sent = sent_bytes.wrapping_sub(offset);
        let reply = (self.egress).on_queued(half.number, sent, queued, virtual_delay, at)?;
        self.queuing.set_packet_time(self.egress.packet_time());
        let Segment::Report { accumulation, lost, egress_bps, received, .. } = reply else {
            return None;
        };
        self.pairs += 1;
        (self.count_due, self.counted) = (false, 0);
        answer.received = received.wrapping_add(offset);
        answer.accumulation = accumulation;
        answer.egress_bps = egress_bps;
        answer.lost = lost;
        Some(answer)
    }

    /// Drops the numbers of another run of the sender. The path stays the same.
    fn begin_run(&mut self, run: u32) {
        if self.run != Some(run) {
            self.run = Some(run);
            self.offset = None;
            self.egress = Egress::new(self.meter.clone(), self.per_round_trip);
            self.queuing.begin();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Site, parse};
    use crate::message::Message;
    use crate::peer::{Control, Peer};
    use crate::sender::Next;
    use accord_units::Rate;
    use std::collections::VecDeque;

    const SIZE: Bytes = Bytes::new(1480);
    const LINK: Rate = Rate::from_bps(20_000_000);
    const WAY: Duration = Duration::from_ms(10);
    const STEP: Duration = Duration::from_us(100);

    /// A packet on the path: a message, or data.
    type Sent = Option<Message>;

    /// A peer that sends and one that receives, with a FIFO link between them.
    struct Tunnel {
        ends: [Peer; 2],
        now: Time,
        free: Time,
        to: VecDeque<(Time, Sent)>,
        back: VecDeque<(Time, Message)>,
        /// True while counts are lost on the way back.
        loses_counts: bool,
        /// The data packets that arrived, the counts and the reports.
        arrived: u64,
        counts: u64,
        reports: u64,
    }

    fn site(service: &str) -> Site {
        let text = format!(
            "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n[peer.other]\n\
             public_key = \"haf8eDD/ypezAn0CHgjRihEzTKcDnOg3N5h3n/3mUEo=\"\n\
             networks = [\"10.0.0.0/8\"]\ncap = \"30 Mbps\"\n{service}\n"
        );
        parse("", &text).expect("a site")
    }

    impl Tunnel {
        fn new(service: &str) -> Tunnel {
            let site = site(service);
            let control = Control::new(&site.interface).expect("a controller");
            let peer = |run: u64| Peer::new(&site.peers[0], &site.interface, &control, run << 32);
            Tunnel {
                ends: [peer(1), peer(2)],
                now: Time::ZERO + Duration::from_secs(1),
                free: Time::ZERO,
                to: VecDeque::new(),
                back: VecDeque::new(),
                loses_counts: false,
                arrived: 0,
                counts: 0,
                reports: 0,
            }
        }

        /// Sends for `length` without any other limit. Returns the data packets that arrived.
        fn run(&mut self, length: Duration) -> u64 {
            let (until, before) = (self.now + length, self.arrived);
            while self.now < until {
                self.now += STEP;
                self.receive();
                while self.back.front().is_some_and(|(at, _)| *at <= self.now) {
                    match self.back.pop_front() {
                        Some((at, Message::Report(answer))) => {
                            self.ends[0].sender.on_report(&answer, at);
                        }
                        Some((_, Message::Count(count))) => self.ends[0].sender.on_count(&count),
                        _ => {}
                    }
                }
                self.send();
            }
            self.arrived - before
        }

        fn send(&mut self) {
            loop {
                let sent = match self.ends[0].sender.next(Some(SIZE), 1000, self.now) {
                    Next::Wait(_) => return,
                    Next::Data => None,
                    Next::Message(message) => Some(message),
                };
                let size = if sent.is_none() { SIZE } else { Bytes::ZERO };
                self.free = self.free.max(self.now) + LINK.transmission(size);
                self.to.push_back((self.free + WAY, sent));
            }
        }

        fn receive(&mut self) {
            while self.to.front().is_some_and(|(at, _)| *at <= self.now) {
                let Some((at, sent)) = self.to.pop_front() else {
                    return;
                };
                let receiver = &mut self.ends[1].receiver;
                match sent {
                    Some(Message::OutOfBand(half)) => receiver.on_out_of_band(&half, at),
                    Some(Message::InBand(half, bytes, _)) => {
                        let answer = receiver.on_in_band(&half, bytes, Duration::ZERO, at);
                        self.reports += u64::from(half.number > 0 && answer.is_some());
                        let answer = answer.map(|answer| (at + WAY, Message::Report(answer)));
                        self.back.extend(answer);
                    }
                    _ => {
                        self.arrived += 1;
                        receiver.on_data(SIZE, at);
                        if let Some(count) = receiver.count() {
                            self.counts += 1;
                            if !self.loses_counts {
                                self.back.push_back((at + WAY, Message::Count(count)));
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn data_is_counted_some_times_per_round_trip() {
        let mut tunnel = Tunnel::new("");
        tunnel.run(Duration::from_secs(5));
        let (counts, reports) = (tunnel.counts, tunnel.reports);
        tunnel.run(Duration::from_secs(5));
        let (counts, reports) = (tunnel.counts - counts, tunnel.reports - reports);
        assert!((8 * reports..=16 * reports).contains(&counts), "{counts} of {reports}");
    }

    #[test]
    fn counts_that_are_lost_for_a_second_make_the_sender_slower_and_no_more() {
        // A second of the link is 1689 packets.
        for (service, least) in [("", 200), ("service = { contract = \"10 Mbps\" }", 840)] {
            let mut tunnel = Tunnel::new(service);
            tunnel.run(Duration::from_secs(8));
            let before = tunnel.run(Duration::from_secs(1));
            assert!((1500..=1700).contains(&before), "{before} packets");
            tunnel.loses_counts = true;
            let without = tunnel.run(Duration::from_secs(1));
            assert!((least..=1700).contains(&without), "{without} packets");
            tunnel.loses_counts = false;
            tunnel.run(Duration::from_secs(2));
            let after = tunnel.run(Duration::from_secs(1));
            assert!(after >= before * 95 / 100, "{after} packets of {before}");
        }
    }

    #[test]
    fn counts_that_say_nothing_change_nothing() {
        let mut tunnels = [Tunnel::new(""), Tunnel::new("")];
        for number in 0..2000 {
            let sent = tunnels[0].ends[0].sender.sent();
            let sender = &mut tunnels[0].ends[0].sender;
            // A count of another run, and one from long before.
            let (run, received) = [(7, sent), (7, u64::MAX), (1, 0), (1, sent / 100)][number % 4];
            sender.on_count(&Count { run, received });
            let arrived = tunnels.each_mut().map(|t| t.run(Duration::from_ms(1)));
            assert_eq!(arrived[0], arrived[1], "{number}");
        }
        assert!(tunnels[0].arrived > 1000);
    }

    #[test]
    fn there_is_no_count_before_the_first_pair_and_none_for_a_sender_without_pairs() {
        let mut tunnel = Tunnel::new("");
        let receiver = &mut tunnel.ends[1].receiver;
        for ms in 0..100 {
            receiver.on_data(SIZE, Time::ZERO + Duration::from_ms(ms));
            assert_eq!(receiver.count(), None);
        }
        tunnel.run(Duration::from_secs(5));
        let receiver = &mut tunnel.ends[1].receiver;
        let at = |ms| Time::ZERO + Duration::from_secs(7) + Duration::from_ms(ms);
        let counts = (0..10_000).filter(|ms| {
            receiver.on_data(SIZE, at(*ms));
            receiver.count().is_some()
        });
        assert!((1..=256).contains(&counts.count()));
    }
}
