//! Limits on the ends of third-party stacks. They prevent an end from hanging a run.

use accord_units::{Bytes, Duration, Time};

/// The number of wake-ups at one time, without a datagram, above which an end is broken.
const MOST_TURNS: u32 = 1_000;
/// The number of datagrams within a [`SPAN`] above which an end is broken: full packets of Ethernet at 240
/// Gbps.
const MOST_SENT: u32 = 20_000;
const SPAN: Duration = Duration::from_ms(1);
/// The wake-ups without a datagram in or out above which an end is broken, unless they took [`LEAST_IDLE`]: it
/// might never stop.
const MOST_IDLE: u32 = 1_000_000;
/// The least time that [`MOST_IDLE`] wake-ups of a sound end take: a microsecond each. An end may tick through a
/// long silence.
const LEAST_IDLE: Duration = Duration::from_us(MOST_IDLE as u64);
/// The bytes on the way from one end above which it is broken, because each packet takes memory.
const MOST_AWAY: Bytes = Bytes::new(1 << 30);

/// The recent actions of an end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Meter {
    /// The time of the last wake-up.
    woken: Time,
    /// The number of wake-ups at that time since the last datagram.
    turns: u32,
    /// The wake-ups since the last datagram in or out, or since the last [`MOST_IDLE`] that took their time.
    idle: u32,
    /// The time of the first of these wake-ups.
    silent: Time,
    /// The start of the current span.
    begun: Time,
    /// The number of datagrams in the current span.
    sent: u32,
    /// An upper bound of the bytes on the way: those at the last count plus those sent since.
    away: u64,
}

impl Meter {
    /// Counts a wake-up.
    pub fn wake(&mut self, now: Time) {
        if self.woken != now {
            (self.woken, self.turns) = (now, 0);
        }
        if self.idle >= MOST_IDLE {
            self.idle = 0;
        }
        if self.idle == 0 {
            self.silent = now;
        }
        self.turns += 1;
        self.idle += 1;
    }

    /// Notes that a datagram arrived.
    pub fn hear(&mut self) {
        self.idle = 0;
    }

    /// Returns the fault of an end that is woken over and over without a datagram, if this is one. `wanted` is
    /// the time of its next wake-up.
    pub fn spins(&self, wanted: Time) -> Option<String> {
        let hardly_moved = self.woken.since(self.silent) < LEAST_IDLE;
        if self.idle >= MOST_IDLE && hardly_moved && wanted < Time::MAX {
            return Some(format!("was woken {MOST_IDLE} times without a datagram in or out"));
        }
        if self.turns < MOST_TURNS || wanted > self.woken {
            return None;
        }
        let times = format!("after {MOST_TURNS} wake-ups at one time without a datagram");
        Some(if wanted < self.woken {
            format!("asks to be woken in the past, at {}, {times}", seconds(wanted))
        } else {
            format!("asks to be woken at once, {times}")
        })
    }

    /// Counts a datagram in a packet of `size`. Returns its fault, if it has one. `count` counts the bytes of
    /// the end on the way.
    pub fn send(
        &mut self,
        now: Time,
        size: Bytes,
        count: impl FnOnce() -> Bytes,
    ) -> Option<String> {
        (self.turns, self.idle) = (0, 0);
        if now.since(self.begun) >= SPAN {
            (self.begun, self.sent) = (now, 0);
        }
        self.sent += 1;
        if self.sent > MOST_SENT {
            return Some(format!("sent more than {MOST_SENT} datagrams within {SPAN}"));
        }
        self.away += size.get();
        if self.away > MOST_AWAY.get() {
            self.away = count().get();
        }
        let is_flood = self.away > MOST_AWAY.get();
        is_flood.then(|| format!("sent more than {MOST_AWAY} that has not arrived"))
    }
}

/// Returns a time as text.
pub fn seconds(at: Time) -> String {
    format!("{:.6} s", at.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A flood spread over time, which shows only in the data on the way.
    #[test]
    fn data_that_never_arrives_is_a_flood() {
        let mut meter = Meter::default();
        let at = |ms| Time::ZERO + Duration::from_ms(ms);
        let half = Bytes::new(MOST_AWAY.get() / 2);
        let count = || -> Bytes { panic!("it is not counted") };
        assert_eq!(meter.send(at(1), half, count), None);
        assert_eq!(meter.send(at(2), half, count), None);
        // The first half has arrived.
        assert_eq!(meter.send(at(3), half, || half), None);
        assert_eq!(meter.send(at(4), half, count), None);
        let said = meter.send(at(5), half, || Bytes::new(MOST_AWAY.get() + 1)).expect("a fault");
        assert!(
            said.starts_with("sent more than") && said.ends_with("that has not arrived"),
            "{said}"
        );
    }

    /// A timer that fires forever would keep a run from ending.
    #[test]
    fn wake_ups_without_datagrams_have_an_end() {
        let mut meter = Meter::default();
        let at = |ns: u32| Time::ZERO + Duration::from_ns(u64::from(ns));
        let wake = |meter: &mut Meter, ns: u32| {
            meter.wake(at(ns));
            meter.spins(at(ns + 1))
        };
        assert!((1..MOST_IDLE).all(|ns| wake(&mut meter, ns).is_none()));
        let said = wake(&mut meter.clone(), MOST_IDLE).expect("a fault");
        assert_eq!(said, "was woken 1000000 times without a datagram in or out");
        meter.hear();
        assert_eq!(wake(&mut meter, MOST_IDLE), None);
        meter.wake(at(MOST_IDLE + 1));
        assert_eq!(meter.spins(Time::MAX), None);
    }

    /// A stack may check its timers every 100 us, however long it sends nothing.
    #[test]
    fn a_slow_tick_may_last() {
        let mut meter = Meter::default();
        let tick = Duration::from_us(100);
        let mut now = Time::ZERO;
        for _ in 0..3 * MOST_IDLE {
            meter.wake(now);
            now += tick;
            assert_eq!(meter.spins(now), None);
        }
        // A loop of a nanosecond is found even then.
        assert!((0..3 * MOST_IDLE).any(|_| {
            meter.wake(now);
            now += Duration::from_ns(1);
            meter.spins(now).is_some()
        }));
    }
}
