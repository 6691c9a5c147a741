//! The connections of the programs, and the fate of their packets.

use super::ends::Connection;
use crate::lateness::Lateness;
use crate::{Conversation, Delays};
use accord_units::Duration;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// The most connections, each way, that are counted separately. The packets of later ones are counted together.
const MOST: usize = 1_000;

/// The connections of a run, each way.
#[derive(Debug, Default)]
pub struct Connections {
    all: BTreeMap<Option<Connection>, Tally>,
}

/// The packets of a connection, one way.
#[derive(Debug, Default)]
struct Tally {
    flow: usize,
    sent: (u64, u64),
    delivered: (u64, u64),
    marked: u64,
    delays: Lateness,
    /// The sum of the delays, in seconds. A `Duration` has room for half an hour of packets at a gigabit per
    /// second.
    sum: f64,
}

impl Connections {
    fn tally(&mut self, connection: Connection) -> &mut Tally {
        let key = Some(connection);
        let is_known = self.all.contains_key(&key) || self.all.len() < MOST;
        self.all.entry(key.filter(|_| is_known)).or_default()
    }

    /// Counts a packet that a program sends over a flow.
    pub fn sent(&mut self, connection: Connection, flow: usize, bytes: usize) {
        let tally = self.tally(connection);
        tally.flow = flow;
        tally.sent.0 += 1;
        tally.sent.1 += bytes as u64;
    }

    /// Counts a packet that arrives after a delay.
    pub fn delivered(
        &mut self,
        connection: Connection,
        bytes: usize,
        marked: bool,
        delay: Duration,
    ) {
        let tally = self.tally(connection);
        tally.delivered.0 += 1;
        tally.delivered.1 += bytes as u64;
        tally.marked += u64::from(marked);
        tally.delays.add(delay);
        tally.sum += delay.as_secs_f64();
    }

    /// Returns the record, the largest connections first.
    pub fn finish(self) -> Vec<Conversation> {
        let conversation = |(key, tally): (Option<Connection>, Tally)| {
            let end = |(address, port)| SocketAddr::new(address, port);
            let count = tally.delivered.0;
            let delays = (count > 0).then(|| Delays {
                mean: Duration::from_secs_f64(tally.sum / count as f64),
                p99: tally.delays.quantile(0.99),
                max: tally.delays.max(),
            });
            Conversation {
                connection: key.map(|(protocol, [from, to])| (protocol, end(from), end(to))),
                flow: tally.flow,
                sent: tally.sent,
                delivered: tally.delivered,
                marked: tally.marked,
                delays,
            }
        };
        let mut all: Vec<_> = self.all.into_iter().map(conversation).collect();
        all.sort_by_key(|conversation| std::cmp::Reverse(conversation.sent.1));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{IpAddr, Ipv4Addr};

    #[test]
    fn connections_beyond_the_most_are_counted_together() {
        let address = IpAddr::from(Ipv4Addr::LOCALHOST);
        let mut connections = Connections::default();
        for port in 0..2_000 {
            let connection = (6, [(address, port), (address, 80)]);
            connections.sent(connection, 3, 100);
            if port > 0 {
                connections.delivered(connection, 100, port == 1, Duration::from_ms(10));
            }
        }
        let all = connections.finish();
        assert_eq!(all.len(), MOST + 1);
        assert_eq!((all[0].connection, all[0].sent), (None, (1_000, 100_000)));
        assert_eq!(all.iter().map(|c| c.sent.0 - c.delivered.0).sum::<u64>(), 1);
        assert_eq!(all.iter().map(|c| c.marked).sum::<u64>(), 1);
        assert_eq!(all[0].delays.map(|d| d.mean), Some(Duration::from_ms(10)));
    }

    /// The sum of the delays is longer than a `Duration`.
    #[test]
    fn many_delays_have_their_mean() {
        let address = IpAddr::from(Ipv4Addr::LOCALHOST);
        let connection = (6, [(address, 1), (address, 2)]);
        let mut connections = Connections::default();
        for seconds in [8_000_000, 10_000_000, 12_000_000] {
            connections.delivered(connection, 100, false, Duration::from_secs(seconds));
        }
        let delays = connections.finish()[0].delays.expect("three arrived");
        assert_eq!(delays.mean, Duration::from_secs(10_000_000));
    }
}
