//! The reports of acknowledgements from a sender to its controller: round trips and marks.

use accord_control::{Acked, Allowance, Capabilities, Congestion, Controller, Marks, PathView};
use accord_transport::Segment;
use accord_transport::stream::{Settings, StreamSender};
use accord_units::{Bytes, Duration, Time};

const PACKET: Bytes = Bytes::new(1000);

/// A window of four packets, and the reports of the sender.
#[derive(Clone, Debug, Default)]
struct Recorder {
    acks: Vec<(bool, u64)>,
    congestion: Vec<Congestion>,
}

impl Controller for Recorder {
    fn on_ack(&mut self, ack: &Acked, _: &PathView, _: Time) {
        self.acks.push((ack.round_ended, ack.marked));
    }

    fn on_congestion(&mut self, what: Congestion, _: &PathView, _: Time) {
        self.congestion.push(what);
    }

    fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new(4000), pacing: None }
    }

    fn ssthresh(&self) -> Option<Bytes> {
        None
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { marks: Marks::Price, ..Capabilities::default() }
    }
}

fn sender() -> StreamSender<Recorder> {
    let mut sender = StreamSender::new(Recorder::default(), PACKET, Settings::LINUX);
    sender.supply(u64::MAX);
    sender
}

fn send(sender: &mut StreamSender<Recorder>, now: Time) {
    while let Ok(Segment::Data { .. }) = sender.poll(now) {}
}

/// RFC 9406 §4.2, RFC 8257 §3.3: a round trip ends with the first acknowledgement of data that was sent after the one
/// before it ended.
#[test]
fn a_round_trip_ends_when_data_sent_after_the_last_one_is_acknowledged() {
    let mut sender = sender();
    send(&mut sender, Time::ZERO);
    for k in 1..=13 {
        let now = Time::ZERO + Duration::from_ms(100 + k);
        sender.on_ack(k, 0, 0, Time::ZERO, 0, now);
        send(&mut sender, now);
    }
    let ended: Vec<u64> = (1..)
        .zip(&sender.controller().acks)
        .filter_map(|(k, (ended, _))| ended.then_some(k))
        .collect();
    // Four packets are out at each end.
    assert_eq!(ended, [1, 5, 9, 13]);
}

/// The receiver counts marked packets. An acknowledgement that was overtaken has a lower count, and
/// reports none.
#[test]
fn an_overtaken_count_of_marks_is_no_news() {
    let mut sender = sender();
    send(&mut sender, Time::ZERO);
    for (k, marked) in [(1, 2), (2, 1), (3, 2), (4, 5)] {
        let now = Time::ZERO + Duration::from_ms(100 + k);
        sender.on_ack(k, 0, 0, Time::ZERO, marked, now);
    }
    let marks: Vec<u64> = sender.controller().acks.iter().map(|a| a.1).collect();
    assert_eq!(marks, [2, 0, 0, 3]);
    assert!(sender.controller().congestion.is_empty());
}
