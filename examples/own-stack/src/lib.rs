//! A small reliable protocol over UDP: a window of datagrams with numbers, and an acknowledgement for
//! each. The window grows by a datagram per round trip, and shrinks by a half at a loss.

use accord_net::{Bytes, Carried, Datagram, Duration, Ends, Setup, Time, View};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The silence after which all datagrams count as lost.
const TIMEOUT: Duration = Duration::from_ms(500);
/// The later datagrams whose acknowledgement makes one count as lost.
const REORDERED: u64 = 3;

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
    away: BTreeMap<u64, Time>,
    /// The first datagram after the last loss that halved the window.
    recovered: u64,
    heard: Time,
    rtt: Option<Duration>,
    lost: u64,
}

/// The receiving end.
#[derive(Default)]
pub struct Receiver {
    arrived: BTreeSet<u64>,
    answers: VecDeque<u64>,
}

/// Creates both ends of a connection, for [`accord_net::Net::carry`].
pub fn connect(setup: &Setup<'_>) -> Result<Ends, String> {
    // The headers of IP and UDP take 28 bytes.
    let size = setup.packet.get().checked_sub(28).filter(|size| *size >= 8);
    let size =
        size.ok_or_else(|| format!("packets of {} have no room for a number", setup.packet))?;
    let sender = Sender {
        size: size as usize,
        window: 10.0,
        threshold: f64::INFINITY,
        unsent: 0,
        again: VecDeque::new(),
        next: 0,
        away: BTreeMap::new(),
        recovered: 0,
        heard: Time::ZERO,
        rtt: None,
        lost: 0,
    };
    Ok([Box::new(sender), Box::new(Receiver::default())])
}

impl Sender {
    fn lose(&mut self, number: u64) {
        self.away.remove(&number);
        self.again.push_back(number);
        self.lost += 1;
    }
}

impl Carried for Sender {
    fn supply(&mut self, packets: u64, _is_transfer: bool, now: Time) {
        self.unsent = self.unsent.saturating_add(packets);
        self.heard = now;
    }

    fn receive(&mut self, payload: &[u8], _ecn: u8, now: Time) -> bool {
        let Ok(number) = payload.try_into().map(u64::from_be_bytes) else {
            return false;
        };
        self.heard = now;
        let Some(sent) = self.away.remove(&number) else {
            return false;
        };
        self.rtt = Some(now.since(sent));
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

    fn poll(&mut self, now: Time) -> Option<Datagram> {
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
        let mut payload = number.to_be_bytes().to_vec();
        payload.resize(self.size, 0);
        Some(Datagram { payload, ecn: 0 })
    }

    fn next_wake(&mut self) -> Time {
        if self.away.is_empty() { Time::MAX } else { self.heard + TIMEOUT }
    }

    fn on_wake(&mut self, now: Time) {
        if now < self.next_wake() {
            return;
        }
        let all: Vec<u64> = self.away.keys().copied().collect();
        all.into_iter().for_each(|number| self.lose(number));
        self.threshold = (self.window / 2.0).max(2.0);
        (self.window, self.recovered, self.heard) = (2.0, self.next, now);
    }

    fn is_done(&self) -> bool {
        self.unsent == 0 && self.again.is_empty() && self.away.is_empty()
    }

    fn stop(&mut self, _now: Time) {
        self.unsent = 0;
        self.again.clear();
        self.away.clear();
    }

    fn view(&self) -> View {
        let packet = self.size as f64 + 28.0;
        View {
            cwnd: Some(Bytes::new((self.window * packet) as u64)),
            rtt: self.rtt,
            retransmissions: self.lost,
            ..View::default()
        }
    }
}

impl Carried for Receiver {
    fn receive(&mut self, payload: &[u8], _ecn: u8, _now: Time) -> bool {
        let Some(number) = payload.first_chunk().map(|n| u64::from_be_bytes(*n)) else {
            return false;
        };
        self.answers.push_back(number);
        self.arrived.insert(number)
    }

    fn poll(&mut self, _now: Time) -> Option<Datagram> {
        let number = self.answers.pop_front()?;
        Some(Datagram { payload: number.to_be_bytes().to_vec(), ecn: 0 })
    }

    fn next_wake(&mut self) -> Time {
        Time::MAX
    }

    fn on_wake(&mut self, _now: Time) {}
}
