//! What a sender remembers of each packet in flight, for controllers that ask for it.

use super::deliveries::Deliveries;
use accord_control::Capabilities;
use accord_units::Time;
use std::collections::VecDeque;

/// The packets in flight, from the first unacknowledged one on.
#[derive(Clone, Debug, Default)]
pub(super) struct Log {
    /// When each was sent last.
    pub times: VecDeque<Time>,
    /// What had been delivered when each was sent, for a controller that asks for samples.
    pub deliveries: Option<Box<Deliveries>>,
}

impl Log {
    /// The log that a controller asks for, for packets of `packet` bytes.
    pub fn new(asked: Capabilities, packet: u64) -> Option<Box<Log>> {
        let deliveries = asked.deliveries.then(|| Box::new(Deliveries::new(packet)));
        (asked.early_retransmission || asked.deliveries).then(|| {
            Box::new(Log {
                times: VecDeque::new(),
                deliveries,
            })
        })
    }

    /// Packet `i` is sent again.
    pub fn send_again(&mut self, i: usize, in_flight: u64, now: Time) {
        self.times[i] = now;
        if let Some(deliveries) = &mut self.deliveries {
            deliveries.send_again(i, in_flight, now);
        }
    }

    /// The first `n` packets are acknowledged. Gives whether samples are taken.
    #[inline]
    pub fn acknowledge(&mut self, n: u64, now: Time) -> bool {
        self.times.drain(..n as usize);
        match &mut self.deliveries {
            Some(deliveries) => {
                deliveries.acknowledge(n, now);
                true
            }
            None => false,
        }
    }
}
