//! The ends of the protocol as Accord carries them.

use accord_net::{Bytes, Carried, Datagram, Ends, Setup, Time, View};
use own_stack::{NUMBER, Receiver, Sender};
use std::time::Duration;

/// The headers of IP and UDP.
const HEADERS: u64 = 28;

/// Creates both ends of a connection, for [`accord_net::Net::carry`].
pub fn connect(setup: &Setup<'_>) -> Result<Ends, String> {
    let size = setup.packet.get().saturating_sub(HEADERS);
    if size < NUMBER as u64 {
        return Err(format!("packets of {} have no room for a number", setup.packet));
    }
    Ok([
        Box::new(Sending(Sender::new(size as usize), size)),
        Box::new(Receiving(Receiver::default())),
    ])
}

/// Returns the time of the run as the protocol counts it.
fn time(now: Time) -> Duration {
    Duration::from_nanos(now.as_ps() / 1000)
}

/// The sender, and the bytes of its datagrams.
struct Sending(Sender, u64);

impl Carried for Sending {
    fn supply(&mut self, packets: u64, _is_transfer: bool, now: Time) {
        self.0.send(packets, time(now));
    }

    fn receive(&mut self, payload: &[u8], _ecn: u8, now: Time) -> bool {
        self.0.receive(payload, time(now))
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        self.0.poll(time(now)).map(|payload| Datagram { payload, ecn: 0 })
    }

    fn next_wake(&mut self) -> Time {
        self.0.deadline().map_or(Time::MAX, |at| Time::from_ps(1000 * at.as_nanos() as u64))
    }

    fn on_wake(&mut self, now: Time) {
        self.0.timeout(time(now));
    }

    fn is_done(&self) -> bool {
        self.0.is_done()
    }

    fn stop(&mut self, _now: Time) {
        self.0.close();
    }

    fn view(&self) -> View {
        let packet = (self.1 + HEADERS) as f64;
        View {
            cwnd: Some(Bytes::new((self.0.window() * packet) as u64)),
            rtt: self.0.rtt().map(|rtt| accord_net::Duration::from_ns(rtt.as_nanos() as u64)),
            retransmissions: self.0.lost(),
            ..View::default()
        }
    }
}

struct Receiving(Receiver);

impl Carried for Receiving {
    fn receive(&mut self, payload: &[u8], _ecn: u8, _now: Time) -> bool {
        self.0.receive(payload)
    }

    fn poll(&mut self, _now: Time) -> Option<Datagram> {
        self.0.poll().map(|payload| Datagram { payload, ecn: 0 })
    }

    fn next_wake(&mut self) -> Time {
        Time::MAX
    }

    fn on_wake(&mut self, _now: Time) {}
}
