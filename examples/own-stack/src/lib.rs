//! A small reliable protocol over UDP: a window of datagrams with numbers, and an acknowledgement for
//! each. The window grows by a datagram per round trip, and shrinks by a half at a loss.
//!
//! Both ends are state machines without sockets and without a clock. Their owner passes them datagrams
//! and times, which count from the start of the connection.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

/// The silence after which all datagrams count as lost.
const TIMEOUT: Duration = Duration::from_millis(500);
/// The later datagrams whose acknowledgement makes one count as lost.
const REORDERED: u64 = 3;
/// The bytes of a number.
pub const NUMBER: usize = 8;

/// The sending end.
pub struct Sender {
    /// The bytes of a datagram.
    size: usize,
    /// The window in datagrams, and the one below which it grows with each acknowledgement.
    window: f64,
    threshold: f64,
    /// The datagrams not sent yet, and those to be sent again.
    unsent: u64,
    again: VecDeque<u64>,
    next: u64,
    /// The datagrams on the way, with the times at which they were sent.
    away: BTreeMap<u64, Duration>,
    /// The first datagram after the last loss that halved the window.
    recovered: u64,
    heard: Duration,
    rtt: Option<Duration>,
    lost: u64,
}

impl Sender {
    /// Creates a sender of datagrams of `size` bytes, at least [`NUMBER`].
    pub fn new(size: usize) -> Sender {
        Sender {
            size: size.max(NUMBER),
            window: 10.0,
            threshold: f64::INFINITY,
            unsent: 0,
            again: VecDeque::new(),
            next: 0,
            away: BTreeMap::new(),
            recovered: 0,
            heard: Duration::ZERO,
            rtt: None,
            lost: 0,
        }
    }

    /// Takes data to send, in datagrams. `u64::MAX` is data without an end.
    pub fn send(&mut self, datagrams: u64, now: Duration) {
        self.unsent = self.unsent.saturating_add(datagrams);
        self.heard = now;
    }

    /// Takes an acknowledgement, and returns whether it is new.
    pub fn receive(&mut self, datagram: &[u8], now: Duration) -> bool {
        let Ok(number) = datagram.try_into().map(u64::from_be_bytes) else {
            return false;
        };
        self.heard = now;
        let Some(sent) = self.away.remove(&number) else {
            return false;
        };
        self.rtt = Some(now - sent);
        self.window += if self.window < self.threshold { 1.0 } else { 1.0 / self.window };
        let passed: Vec<u64> =
            self.away.range(..number.saturating_sub(REORDERED)).map(|(n, _)| *n).collect();
        // One that was sent again is younger than its number.
        let passed = passed.into_iter().filter(|n| self.away[n] < sent).collect::<Vec<_>>();
        for number in passed {
            self.lose(number);
            if number >= self.recovered {
                self.window = (self.window / 2.0).max(2.0);
                self.threshold = self.window;
                self.recovered = self.next;
            }
        }
        true
    }

    /// Returns the next datagram that may leave now.
    pub fn poll(&mut self, now: Duration) -> Option<Vec<u8>> {
        if self.away.len() as f64 >= self.window {
            return None;
        }
        let number = match self.again.pop_front() {
            Some(number) => number,
            None if self.unsent == 0 => return None,
            None => {
                self.unsent -= u64::from(self.unsent < u64::MAX);
                self.next += 1;
                self.next - 1
            }
        };
        self.away.insert(number, now);
        let mut datagram = number.to_be_bytes().to_vec();
        datagram.resize(self.size, 0);
        Some(datagram)
    }

    /// Returns the time at which to call [`timeout`](Sender::timeout), if there is one.
    pub fn deadline(&self) -> Option<Duration> {
        (!self.away.is_empty()).then(|| self.heard + TIMEOUT)
    }

    /// Handles the timer, if it is due.
    pub fn timeout(&mut self, now: Duration) {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        let all: Vec<u64> = self.away.keys().copied().collect();
        all.into_iter().for_each(|number| self.lose(number));
        self.threshold = (self.window / 2.0).max(2.0);
        (self.window, self.recovered, self.heard) = (2.0, self.next, now);
    }

    /// Drops all data.
    pub fn close(&mut self) {
        self.unsent = 0;
        self.again.clear();
        self.away.clear();
    }

    /// Returns true if all data is acknowledged.
    pub fn is_done(&self) -> bool {
        self.unsent == 0 && self.again.is_empty() && self.away.is_empty()
    }

    /// Returns the window in datagrams.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Returns the last round-trip time.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// Returns the number of datagrams that were sent again, or will be.
    pub fn lost(&self) -> u64 {
        self.lost
    }

    fn lose(&mut self, number: u64) {
        self.away.remove(&number);
        self.again.push_back(number);
        self.lost += 1;
    }
}

/// The receiving end.
#[derive(Default)]
pub struct Receiver {
    arrived: BTreeSet<u64>,
    answers: VecDeque<u64>,
}

impl Receiver {
    /// Takes a datagram, and returns whether its number is new.
    pub fn receive(&mut self, datagram: &[u8]) -> bool {
        let Some(number) = datagram.first_chunk().map(|n| u64::from_be_bytes(*n)) else {
            return false;
        };
        self.answers.push_back(number);
        self.arrived.insert(number)
    }

    /// Returns the next acknowledgement.
    pub fn poll(&mut self) -> Option<Vec<u8>> {
        Some(self.answers.pop_front()?.to_be_bytes().to_vec())
    }
}
