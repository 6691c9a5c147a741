//! Trials of a path between two gateways, which run in their tunnel.

use super::{BATCH, Gateway, Output};
use crate::edge::wire_size;
use crate::message::{self, Message};
use crate::path_mtu::PathMtu;
use crate::sessions::Sessions;
use crate::trial::{Step, Trial, TrialStatus};
use accord_transport::ip::Packet;
use accord_units::{Duration, Rate, Time};

/// The highest rate of a trial, as a multiple of its tunnel's cap.
const MOST_TRIED: u64 = 2;

impl<S: Sessions> Gateway<S> {
    /// Begins a trial of a peer's class at a rate on the wire, in place of the previous one. Returns the
    /// number of the trial.
    ///
    /// # Errors
    /// Fails with the reason if there is no such peer or class, there is no session, a trial is not yet over,
    /// or the rate is more than twice the cap.
    pub fn begin_trial(
        &mut self,
        peer: &str,
        class: usize,
        rate: Rate,
        length: Duration,
        now: Time,
    ) -> Result<u64, String> {
        let found = self.peers.iter().position(|p| p.config.name == peer);
        let to = found.ok_or_else(|| format!("there is no peer {peer}"))?;
        if !self.sessions.is_open(to) {
            return Err(format!("there is no session with {peer}"));
        }
        let peer = &mut self.peers[to];
        let limit = peer.path_mtu.as_ref().map(PathMtu::limit);
        let packet = wire_size(limit.map_or(self.mtu, usize::from));
        if class >= peer.config.shares.len() {
            return Err(format!("there is no class {class}"));
        }
        let most = Rate::from_bps(peer.config.cap.as_bps().saturating_mul(MOST_TRIED));
        if rate > most {
            return Err(format!(
                "{rate} is more than {MOST_TRIED} times the cap of {}",
                peer.config.name
            ));
        }
        if peer.trial.as_ref().is_some_and(|t| !t.status().over) {
            return Err(format!("a trial of {} is not over yet", peer.config.name));
        }
        // The number differs from those of earlier runs of this gateway.
        self.trials += 1;
        let id = self.seed ^ self.trials;
        peer.trial = Some(Trial::new(id, class, rate, packet, length, now));
        Ok(id)
    }

    /// The state of the latest trial of a peer.
    pub fn trial(&self, peer: &str) -> Option<TrialStatus> {
        let peer = self.peers.iter().find(|p| p.config.name == peer)?;
        Some(peer.trial.as_ref()?.status())
    }

    /// Queues the due packets of a peer's trial, or asks for its counts. Returns the time of the next
    /// call.
    pub(super) fn go_on_with_trial(
        &mut self,
        to: usize,
        now: Time,
        sink: &mut dyn FnMut(Output),
    ) -> Time {
        for _ in 0..BATCH {
            let peer = &mut self.peers[to];
            let round_trip = peer.sender.view().rtt.unwrap_or(Duration::ZERO);
            let Some(trial) = &mut peer.trial else {
                return Time::MAX;
            };
            match trial.next(round_trip, now) {
                Step::Wait(until) => return until,
                Step::Ask(id) => self.tell(to, &Message::Ask(id), sink),
                Step::Packet(test) => {
                    let test = Message::Test(test);
                    let packet = message::padded(&test, trial.length());
                    if let Some(inner) = Packet::new(&packet) {
                        peer.edge.push(&packet, &inner, trial.class, now);
                        peer.due = Time::ZERO;
                    }
                }
            }
        }
        now
    }
}
