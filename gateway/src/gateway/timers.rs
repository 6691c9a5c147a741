//! The timers of sessions: handshakes, and sessions that are open but silent.

use super::{Gateway, Output, handshake};
use crate::config::Mode;
use crate::sender::State;
use crate::sessions::Sessions;
use accord_units::{Duration, Time};

/// The time without a message from a gateway after which a session is restarted. Its probes, one
/// per second, should be answered. One of two gateways waits a second longer, so they do not
/// restart together. The timer of WireGuard is 15 s.
const SILENCE: Duration = Duration::from_secs(3);
/// The time from one handshake to the next, as in WireGuard.
const HANDSHAKES: Duration = Duration::from_secs(5);

impl<S: Sessions> Gateway<S> {
    /// Runs the timers of a session. Opens a session if it is not open, so sites are joined before
    /// there is traffic.
    ///
    /// Restarts a session whose ends have different keys after handshakes crossed on a bad network.
    pub(super) fn tick(&mut self, peer: usize, now: Time, sink: &mut dyn FnMut(Output)) {
        let another = self.peers[peer].fail_over(now);
        let endpoint = self.peers[peer].endpoint;
        let mut greeted = false;
        let mut send = |datagram: &[u8]| {
            if let Some(endpoint) = endpoint {
                greeted = true;
                sink(Output::Datagram(handshake(endpoint), datagram));
            }
        };
        self.sessions.tick(peer, now, &mut send);
        if endpoint.is_some() {
            if !self.sessions.is_open(peer) {
                self.sessions.greet(peer, another, &mut send);
            } else if self.is_silent(peer, now) {
                self.sessions.greet(peer, true, &mut send);
            }
        }
        if greeted {
            self.peers[peer].greeted = now;
        }
        self.note_keys(peer);
    }

    /// Logs that the keys of a peer's session have changed.
    fn note_keys(&mut self, of: usize) {
        let (keys, peer) = (self.sessions.keys(of), &mut self.peers[of]);
        if let (Some(before), Some((own, theirs))) = (peer.keys, keys)
            && before != (own, theirs)
        {
            tracing::info!(event = "keys", peer = peer.config.name, own = %own, theirs = %theirs);
        }
        peer.keys = keys.or(peer.keys);
    }

    /// Returns whether a session is open but silent, although there is or may be a gateway at its other end.
    fn is_silent(&self, of: usize, now: Time) -> bool {
        let peer = &self.peers[of];
        let Some((own, theirs)) = self.sessions.keys(of) else {
            return false;
        };
        let wait = if own < theirs { SILENCE } else { SILENCE + Duration::from_secs(1) };
        self.sessions.is_open(of)
            && peer.sender.state != State::Plain
            && peer.sender.mode != Mode::Bypass
            && now.since(peer.heard) >= wait
            && now.since(peer.greeted) >= HANDSHAKES
    }
}
