//! The optional per-packet state of a sender.

use super::deliveries::Deliveries;
use super::rack::{Alarm, PROBE_AFTER, Rack};
use crate::RoundTrip;
use accord_control::{Capabilities, Recovery};
use accord_units::{Bytes, Duration, Time};

/// The optional per-packet state of packets in flight, behind one pointer, so senders without it
/// need only one test.
#[derive(Clone, Debug)]
pub(super) struct Log {
    /// The data delivered before each packet was sent, for a controller that asks for samples of
    /// the delivery rate.
    pub deliveries: Option<Deliveries>,
    /// The time at which each packet was last sent, for loss detection by time.
    pub rack: Option<Rack>,
    /// The deadlines of the fast path: that of the RTO timer, and that of the PTO timer if it is earlier.
    pub rto: Time,
    pub deadline: Time,
    /// The time from the latest packet or acknowledgement to the probe.
    probe_after: Duration,
}

impl Log {
    /// Creates the log of a connection that begins with packet `first`, if its controller asks for
    /// one.
    pub fn new(asked: &Capabilities, packet: Bytes, first: u64) -> Option<Box<Log>> {
        let log = Log {
            deliveries: (asked.deliveries).then(|| Deliveries::new(packet.get())),
            rack: (asked.recovery == Recovery::Rack).then(|| Rack::new(first)),
            rto: Time::MAX,
            deadline: Time::MAX,
            probe_after: Duration::ZERO,
        };
        (log.deliveries.is_some() || log.rack.is_some()).then(|| Box::new(log))
    }

    /// Returns true if the log allows the fast path (`fast_path.rs`) from an acknowledgement at `now`
    /// on.
    pub fn is_plain(&mut self, rtt: &RoundTrip, now: Time) -> bool {
        self.restart(rtt, now);
        let (rto, deadline) = (self.rto, self.deadline);
        self.rack.as_mut().is_none_or(|rack| rack.has_timers(rto, deadline) && rack.is_plain())
    }

    /// Restarts the timers of the fast path for an acknowledgement.
    #[inline]
    pub fn restart(&mut self, rtt: &RoundTrip, now: Time) {
        self.rto = now + rtt.timeout();
        self.probe_after = rtt.smoothed() * PROBE_AFTER;
        self.put_off(now);
    }

    /// Restarts the PTO timer of the fast path.
    #[inline]
    pub fn put_off(&mut self, now: Time) {
        self.deadline = match self.rack {
            Some(_) => self.rto.min(now + self.probe_after),
            None => self.rto,
        };
    }

    /// Sets the timers of RACK-TLP to the deadlines of the fast path.
    pub fn set_timers(&mut self) {
        if let Some(rack) = &mut self.rack {
            rack.rto = self.rto;
            rack.alarm = Some((self.deadline, Alarm::Probe));
        }
    }
}
