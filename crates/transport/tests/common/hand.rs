//! A sender, a receiver, and a script that decides which packets arrive, and when.
#![allow(dead_code, reason = "each test file uses its own part")]

use super::common::*;
use accord_control::Controller;
use accord_family::Raw;
use accord_transport::{Segment, stream};
use accord_units::{Duration, Time};

/// A path by hand. Packets arrive when the test says so, and acknowledgements take no time.
pub struct Hand {
    pub sender: stream::StreamSender,
    pub receiver: stream::StreamReceiver,
    pub now: Time,
    /// When each packet was last sent.
    pub sent: Vec<Time>,
}

/// With selective acknowledgements, or without.
pub fn sack(on: bool) -> (&'static str, Raw) {
    ("sack", Raw::Flag(on))
}

pub const ECN: (&str, Raw) = ("ecn", Raw::Flag(true));

impl Hand {
    /// Creates a sender with a window of `window` packets, which are sent, and with more to send.
    pub fn new(name: &str, window: u64, changes: &[(&str, Raw)]) -> Hand {
        Hand::with(name, window, u64::MAX, changes)
    }

    /// Creates a sender with `packets` to send in all.
    pub fn with(name: &str, window: u64, packets: u64, changes: &[(&str, Raw)]) -> Hand {
        let mut changes = changes.to_vec();
        changes.push(("initial_window", Raw::Text(format!("{window} pkt"))));
        let mut sender =
            stream::StreamSender::new(build(name, &changes), PACKET, stream::Settings::LINUX);
        sender.supply(packets);
        let mut hand = Hand {
            sender,
            receiver: stream::StreamReceiver::new(),
            now: Time::ZERO,
            sent: Vec::new(),
        };
        let first: Vec<u64> = (0..window.min(packets)).collect();
        assert_eq!(hand.send(), first);
        hand
    }

    /// Sends the packets that may be sent. Returns their numbers.
    pub fn send(&mut self) -> Vec<u64> {
        let mut numbers = Vec::new();
        while let Ok(Segment::Data { number, .. }) = self.sender.poll(self.now) {
            self.sent.resize(self.sent.len().max(number as usize + 1), self.now);
            self.sent[number as usize] = self.now;
            numbers.push(number);
        }
        numbers
    }

    pub fn receive(&mut self, number: u64, marked: bool) -> Vec<u64> {
        self.receive_of(number, self.sent[number as usize], marked)
    }

    /// The same of the transmission at `sent`.
    pub fn receive_of(&mut self, number: u64, sent: Time, marked: bool) -> Vec<u64> {
        let (_, ack) = self.receiver.on_data(number, sent, marked);
        let Segment::Ack { next, block, block_len, echo, marked } = ack else {
            unreachable!("it acknowledges");
        };
        (self.sender).on_ack(next, block, block_len, echo, marked, self.now);
        self.send()
    }

    /// Delivers this packet. Returns the packets sent then.
    pub fn arrive(&mut self, number: u64) -> Vec<u64> {
        self.receive(number, false)
    }

    /// Delivers these packets, one after the other.
    pub fn all(&mut self, numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
        (numbers.into_iter()).flat_map(|n| self.arrive(n)).collect()
    }

    pub fn wait(&mut self, ms: u64) {
        self.now += Duration::from_ms(ms);
        assert!(self.now < self.sender.next_wake(), "the timer ran out");
    }

    /// Runs until the timer expires. Returns the packets sent then.
    pub fn time_out(&mut self) -> Vec<u64> {
        let before = self.sender.timeouts();
        self.now = self.sender.next_wake();
        self.sender.on_wake(self.now);
        assert_eq!(self.sender.timeouts(), before + 1);
        self.send()
    }

    /// Window and threshold in packets.
    pub fn window(&self) -> (f64, f64) {
        let c = self.sender.controller();
        let packets = |bytes: u64| bytes as f64 / PACKET.get() as f64;
        let threshold = c.ssthresh().map_or(f64::INFINITY, |b| packets(b.get()));
        (packets(c.cwnd().get()), threshold)
    }
}
