//! Another endpoint for a silent peer.
//!
//! A peer with several endpoints in the site file has several uplinks. This end calls the next one if an
//! expected answer of the peer does not arrive: a report for data, or for a probe. Unasked messages of the
//! peer do not count, because a path may fail in one direction only. The session and the queues stay. The
//! peer answers from the address that was called, so the reverse path also uses the other uplink.

use crate::config::Mode;
use crate::peer::Peer;
use crate::sender::State;
use accord_units::{Duration, Time};
use std::net::SocketAddr;

/// The reason for a peer's new endpoint: an authentic datagram came from there.
const CALLS: &str = "it sends from there";
/// The least time without an answer of the peer while it has data to report, and that time in
/// round trips.
const SILENCE: Duration = Duration::from_secs(1);
const ROUNDS: u64 = 4;
/// The time without an answer while there is no data: two probes, one per second, and an answer. Probes may be
/// lost, so more of them follow a late answer.
const IDLE: Duration = Duration::from_ms(2500);
const LATE: Duration = Duration::from_ms(1250);

impl Peer {
    /// Takes the next endpoint of the site file if the peer is silent at this one. Returns whether it has
    /// taken one.
    pub(crate) fn fail_over(&mut self, now: Time) -> bool {
        // Plain WireGuard is silent unless it has data.
        let speaks = self.sender.state != State::Plain && self.sender.mode != Mode::Bypass;
        if self.config.spares.is_empty() || !speaks {
            return false;
        }
        let least = SILENCE.max(self.sender.round_trip() * ROUNDS);
        let asked = self.sender.unreported_for(now).is_some_and(|time| time >= least);
        let wait = if asked { least } else { IDLE.max(least) };
        // A clock that has just begun cannot measure a silence.
        let since = self.sender.answered.max(*self.called.get_or_insert(now));
        if now.since(since) < wait {
            if now.since(since) >= LATE {
                self.sender.probe_now(now);
            }
            return false;
        }
        let all: Vec<_> = self.config.endpoints().collect();
        let place = all.iter().position(|e| Some(*e) == self.endpoint);
        let next = all[place.map_or(0, |place| (place + 1) % all.len())];
        (self.called, self.left) = (Some(now), self.endpoint);
        self.set_endpoint(Some(next), "the peer is silent at the other one");
        self.sender.probe_now(now);
        self.due = Time::ZERO;
        true
    }

    /// Takes the place from which the peer sends. An endpoint that was given up does not return before the next
    /// one has had time to answer: a peer that receives nothing there may still send from there.
    pub(crate) fn on_call(&mut self, from: SocketAddr) {
        let unanswered = self.called.is_some_and(|at| self.sender.answered < at);
        if self.left != Some(from) || !unanswered {
            self.set_endpoint(Some(from), CALLS);
        }
    }
}
