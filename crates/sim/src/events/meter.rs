//! Limits on the ends of third-party stacks. They prevent an end from hanging a run.

use accord_units::{Bytes, Duration, Time};

/// The number of wake-ups at one time, without a datagram, above which an end is broken.
const MOST_TURNS: u32 = 1_000;
/// The number of datagrams within a [`SPAN`] above which an end is broken: full packets of Ethernet at 240
/// Gbps.
const MOST_SENT: u32 = 20_000;
const SPAN: Duration = Duration::from_ms(1);
/// The data of one flow in the network above which its sending end is broken, because each packet
/// takes memory.
const MOST_AWAY: Bytes = Bytes::new(1 << 30);

/// The recent actions of an end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// The time of the last wake-up.
    woken: Time,
    /// The number of wake-ups at that time since the last datagram.
    turns: u32,
    /// The start of the present span.
    begun: Time,
    /// The number of datagrams in the present span.
    sent: u32,
}

impl Meter {
    /// Counts a wake-up.
    pub fn wake(&mut self, now: Time) {
        if self.woken != now {
            (self.woken, self.turns) = (now, 0);
        }
        self.turns += 1;
    }

    /// Returns the fault of the next wake-up at `wanted`, if any.
    pub fn spins(&self, wanted: Time) -> Option<String> {
        if self.turns < MOST_TURNS || wanted > self.woken {
            return None;
        }
        let times = format!("after {MOST_TURNS} wake-ups at one time without a datagram");
        Some(if wanted < self.woken {
            format!("wants to be woken in the past, at {}, {times}", seconds(wanted))
        } else {
            format!("wants to be woken at once, {times}")
        })
    }

    /// Counts a datagram. Returns its fault, if any. `away` is the flow's data in the network.
    pub fn send(&mut self, now: Time, away: Bytes) -> Option<String> {
        self.turns = 0;
        if now.since(self.begun) >= SPAN {
            (self.begun, self.sent) = (now, 0);
        }
        self.sent += 1;
        if self.sent > MOST_SENT {
            return Some(format!("sent more than {MOST_SENT} datagrams within {SPAN}"));
        }
        (away > MOST_AWAY).then(|| format!("sent more than {MOST_AWAY} that has not arrived"))
    }
}

/// Returns a time as text.
pub fn seconds(at: Time) -> String {
    format!("{:.6} s", at.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slower than a flood at one time, so that only the data on the way tells.
    #[test]
    fn data_that_never_arrives_is_a_flood() {
        let mut meter = Meter::default();
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        assert_eq!(meter.send(at(1), MOST_AWAY), None);
        let said = meter.send(at(2), Bytes::new(MOST_AWAY.get() + 1)).expect("a fault");
        assert!(
            said.starts_with("sent more than") && said.ends_with("that has not arrived"),
            "{said}"
        );
    }
}
