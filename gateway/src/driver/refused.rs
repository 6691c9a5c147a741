//! Packets that the host's own kernel did not take, which the network is not to blame for.

use accord_units::{Duration, Time};
use nix::errno::Errno;

/// The time from one line of the log to the next.
const MINUTE: Duration = Duration::from_secs(60);

/// The refused packets of a file, and the reason.
#[derive(Debug, Default)]
pub struct Refused {
    /// The number of packets.
    pub count: u64,
    /// The number as of the latest line of the log, and the time of the next.
    told: u64,
    next: Time,
    /// The first reason since then.
    why: Option<Errno>,
}

impl Refused {
    /// Counts packets that were refused for a reason.
    pub fn add(&mut self, packets: u64, why: Errno) {
        self.count += packets;
        self.why.get_or_insert(why);
    }

    /// Counts a packet that is longer than the path takes. A search for the longest finds this out, so it is not
    /// worth a line.
    pub fn add_long(&mut self) {
        self.count += 1;
    }

    /// Returns the packets since the latest line of the log and the first reason, if a line is due.
    pub fn due(&mut self, now: Time) -> Option<(u64, Errno)> {
        let why = self.why.filter(|_| now >= self.next)?;
        let packets = self.count - self.told;
        (self.told, self.next, self.why) = (self.count, now + MINUTE, None);
        Some((packets, why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first reason has a line at once, and others one per minute with the number of packets.
    #[test]
    fn a_line_per_minute_says_why() {
        let (mut refused, at) = (Refused::default(), |s| Time::ZERO + Duration::from_secs(s));
        assert_eq!(refused.due(at(1)), None);
        refused.add(2, Errno::EPERM);
        refused.add(1, Errno::ENOBUFS);
        assert_eq!(refused.due(at(1)), Some((3, Errno::EPERM)));
        refused.add(4, Errno::ENOBUFS);
        refused.add(1, Errno::EPERM);
        assert_eq!(refused.due(at(60)), None);
        assert_eq!(refused.due(at(61)), Some((5, Errno::ENOBUFS)));
        refused.add_long();
        assert_eq!((refused.due(at(200)), refused.count), (None, 9));
    }
}
