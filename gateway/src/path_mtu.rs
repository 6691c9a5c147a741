//! Finds the largest packet that the path to a peer takes, with probes only [RFC 8899].
//!
//! A probe is a control message of the size in question, which must not be fragmented on its way. The peer
//! answers it. ICMP messages about sizes are not believed, because anybody on the Internet can send one. All
//! sizes are those of packets inside the tunnel.
//!
//! The search confirms the base, tries the largest size, and then halves the interval [RFC 8899 §5.3]. On
//! most paths this takes two round trips.
//!
//! Departures from the source: `docs/src/gateway/design.md`.

use accord_units::{Duration, Time};

/// BASE_PLPMTU [RFC 8899 §5.1.2], the least MTU of IPv6 inside the tunnel, which most paths take.
pub const BASE: u16 = 1280;
/// MIN_PLPMTU [RFC 8899 §5.1.2], which every IPv4 host takes. It is used if the base does not fit.
pub const LEAST: u16 = 576;
/// MAX_PROBES [RFC 8899 §5.1.2]: the number of probes that must fail before a size fails.
const PROBES: u32 = 3;
/// PROBE_TIMER [RFC 8899 §5.1.1, RFC 8085 §3.1.1]: the least wait for an answer to a probe, and the wait in
/// round trips.
const TIMER: Duration = Duration::from_secs(1);
const ROUNDS: u64 = 3;
/// CONFIRMATION_TIMER [RFC 8899 §5.1.1]: the time from one confirmation to the next.
const CONFIRM: Duration = Duration::from_secs(10);
/// The least time from one confirmation to the next if much is lost.
const SUSPECT: Duration = Duration::from_secs(1);
/// PMTU_RAISE_TIMER [RFC 8899 §5.1.1]: the time after which a larger size is tried again.
const RAISE: Duration = Duration::from_secs(600);
/// The search ends when the largest size that fits and the smallest that does not are this close.
const GRAIN: u16 = 8;

/// A probe to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The number of the probe and of its answer.
    pub number: u64,
    /// The size of the packet inside the tunnel, in bytes.
    pub size: u16,
}

/// The search for the largest packet of a path.
#[derive(Clone, Debug)]
pub struct PathMtu {
    /// The largest useful size.
    most: u16,
    /// The largest size that is known to fit, in bytes.
    pub fits: Option<u16>,
    /// All sizes from this one on are presumed not to fit.
    fails: u16,
    /// True if a size has failed since the path was new, so only sizes that are known to fit are
    /// sent.
    limited: bool,
    /// True if the base has failed.
    narrow: bool,
    /// The probe under way, and the time at which it was sent.
    probe: Option<(Probe, Time)>,
    /// The number of failed probes of this size.
    failed: u32,
    number: u64,
    /// The time at which the search ended, if it has.
    complete: Option<Time>,
    /// The time at which the size was last confirmed.
    confirmed: Time,
    /// The time of the next work for [`PathMtu::next()`].
    pub next: Time,
    /// The time at which the peer was last heard.
    heard: Time,
    /// The bytes lost and arrived when losses were last examined.
    counted: (u64, u64),
}

impl PathMtu {
    /// Creates the search of a new path, for packets of at most `most` bytes.
    pub fn new(most: u16) -> PathMtu {
        PathMtu {
            most,
            fits: None,
            fails: most + 1,
            limited: false,
            narrow: false,
            probe: None,
            failed: 0,
            number: 0,
            complete: None,
            confirmed: Time::ZERO,
            next: Time::ZERO,
            heard: Time::ZERO,
            counted: (0, 0),
        }
    }

    /// Restarts, for another path to the same peer.
    pub fn restart(&mut self) {
        *self = PathMtu { number: self.number, counted: self.counted, ..PathMtu::new(self.most) };
    }

    /// The size of the largest packet to send, in bytes.
    pub fn limit(&self) -> u16 {
        match (self.limited, self.fits) {
            (false, _) => self.most,
            (true, Some(fits)) => fits,
            (true, None) if self.narrow => LEAST.min(self.most),
            (true, None) => BASE.min(self.most),
        }
    }

    /// Notes that a message of the peer has arrived: an answer to a probe or to another request.
    pub fn on_heard(&mut self, now: Time) {
        self.heard = now;
    }

    /// Takes the bytes of data lost and arrived since the start. If more is lost than arrives, the size is
    /// confirmed soon.
    pub fn on_losses(&mut self, lost: u64, arrived: u64, now: Time) {
        let before = std::mem::replace(&mut self.counted, (lost, arrived));
        let gone = lost.saturating_sub(before.0);
        let came = arrived.saturating_sub(before.1);
        if gone > came && self.complete.is_some() && self.probe.is_none() {
            self.next = self.next.min(now.max(self.confirmed + SUSPECT));
        }
    }

    /// Takes the answer to a probe.
    pub fn on_answer(&mut self, number: u64, size: u16, now: Time) {
        self.heard = now;
        let asked = |(probe, _): &(Probe, Time)| probe.number == number && probe.size == size;
        if self.probe.as_ref().is_none_or(|probe| !asked(probe)) {
            return;
        }
        (self.probe, self.failed) = (None, 0);
        self.next = match self.complete {
            None => now,
            Some(_) => now + CONFIRM,
        };
        // A search may have begun above the sizes known to fit.
        self.fits = Some(self.fits.map_or(size, |fits| fits.max(size)));
        self.confirmed = now;
        if size >= self.most {
            self.limited = false;
        }
    }

    /// Returns the probe that is due at `now`, if one is. `round_trip` is the smoothed round-trip time.
    pub fn next(&mut self, round_trip: Duration, now: Time) -> Option<Probe> {
        if now < self.next {
            return None;
        }
        if let Some((probe, sent)) = self.probe.take()
            && self.heard > sent
        {
            self.failed += 1;
            if self.failed >= PROBES {
                self.failed = 0;
                self.fail(probe.size);
            }
        }
        if let Some(at) = self.complete
            && self.failed == 0
            && (self.fits.is_none() || now.since(at) >= RAISE && self.fits < Some(self.most))
        {
            // The path may take larger packets by now.
            (self.complete, self.fails) = (None, self.most + 1);
        }
        let Some(size) = self.size(now) else {
            self.next = now + CONFIRM;
            return None;
        };
        self.number += 1;
        let probe = Probe { number: self.number, size };
        self.probe = Some((probe, now));
        self.next = now + TIMER.max(round_trip * ROUNDS);
        Some(probe)
    }

    /// A size has failed.
    fn fail(&mut self, size: u16) {
        self.limited = true;
        if self.fits.is_some_and(|fits| size <= fits) {
            // A size that used to fit no longer does: a black hole. It may also be bad luck, so the size is
            // tried again.
            (self.fits, self.complete) = (None, None);
            self.fails = self.most + 1;
            return;
        }
        self.narrow |= self.fits.is_none();
        self.fails = self.fails.min(size);
    }

    /// Returns the size to probe now. Ends the search if there is none.
    fn size(&mut self, now: Time) -> Option<u16> {
        if self.complete.is_some() {
            return self.fits;
        }
        let base = BASE.min(self.most);
        let size = match self.fits {
            None if self.fails > base => base,
            Some(_) if self.fails > self.most => self.most,
            fits => {
                let low = fits.unwrap_or(LEAST.min(self.most));
                if self.fails <= low + GRAIN { low } else { low + (self.fails - low) / 2 }
            }
        };
        if self.fits.is_some_and(|fits| size <= fits) || self.fails <= size {
            (self.complete, self.confirmed) = (Some(now), now);
            return None;
        }
        Some(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A path that takes packets of `takes` bytes, and a peer that answers after 20 ms.
    struct Path {
        search: PathMtu,
        takes: u16,
        now: Time,
        probes: u32,
        /// The answer under way, and the time of its arrival.
        answer: Option<(Time, Probe)>,
    }

    impl Path {
        fn new(most: u16, takes: u16) -> Path {
            Path {
                search: PathMtu::new(most),
                takes,
                now: Time::ZERO + Duration::from_secs(1),
                probes: 0,
                answer: None,
            }
        }

        /// Lets time pass. Each probe that `arrives` is answered. If the peer is `there`, other
        /// messages from it arrive ten times per second.
        fn run(&mut self, seconds: u64, there: bool, mut arrives: impl FnMut() -> bool) {
            let round_trip = Duration::from_ms(20);
            for ms in 0..1000 * seconds {
                self.now += Duration::from_ms(1);
                if there && ms % 100 == 0 {
                    self.search.on_heard(self.now);
                }
                if let Some((at, Probe { number, size })) = self.answer
                    && self.now >= at
                {
                    self.search.on_answer(number, size, self.now);
                    self.answer = None;
                }
                if let Some(probe) = self.search.next(round_trip, self.now) {
                    self.probes += 1;
                    if there && probe.size <= self.takes && arrives() {
                        self.answer = Some((self.now + round_trip, probe));
                    }
                }
            }
        }
    }

    #[test]
    fn a_path_that_takes_all_is_known_after_two_round_trips() {
        let mut path = Path::new(1420, 1440);
        path.run(1, true, || true);
        assert_eq!(path.search.fits, Some(1420));
        assert_eq!(path.probes, 2);
        // From then on there is a probe every 10 s.
        path.run(100, true, || true);
        assert!((11..=13).contains(&path.probes), "{} probes", path.probes);
    }

    proptest! {
        #[test]
        fn the_largest_size_is_found_and_nothing_larger_is_sent(
            most in 576..9000u16, takes in 576..9000u16,
        ) {
            let mut path = Path::new(most, takes);
            path.run(60, true, || true);
            let (limit, right) = (path.search.limit(), most.min(takes));
            prop_assert!(limit <= right && limit + GRAIN >= right, "{limit} of {right}");
        }
    }

    #[test]
    fn a_black_hole_is_found_and_left_again() {
        let mut path = Path::new(1420, 1420);
        path.run(5, true, || true);
        path.takes = 1390;
        path.run(14, true, || true);
        assert!(path.search.limit() <= 1390, "{}", path.search.limit());
        path.run(20, true, || true);
        assert!((1382..=1390).contains(&path.search.limit()));
        // This holds even for a path narrower than the base.
        path.takes = 1000;
        path.run(60, true, || true);
        assert!((992..=1000).contains(&path.search.limit()));
        path.takes = 1420;
        path.run(620, true, || true);
        assert_eq!(path.search.limit(), 1420);
    }

    #[test]
    fn losses_of_most_packets_bring_the_confirmation_forward() {
        let found_after = |tells: bool| {
            let mut path = Path::new(1420, 1420);
            path.run(3, true, || true);
            path.takes = 1300;
            let (since, mut lost) = (path.now, 0);
            while path.search.limit() == 1420 {
                path.run(1, true, || true);
                if tells {
                    lost += 100_000;
                    path.search.on_losses(lost, 10_000, path.now);
                }
            }
            path.now.since(since).as_secs_f64()
        };
        let (told, not_told) = (found_after(true), found_after(false));
        assert!(told <= 5.0 && not_told > 9.0, "{told} s and {not_told} s");
    }

    #[test]
    fn a_path_that_carries_nothing_says_nothing_of_sizes() {
        let mut path = Path::new(1420, 1420);
        path.run(5, true, || true);
        path.run(300, false, || true);
        assert_eq!(path.search.limit(), 1420);
        path.run(20, true, || true);
        assert_eq!(path.search.fits, Some(1420));
    }

    #[test]
    fn one_loss_in_ten_is_no_black_hole() {
        let mut path = Path::new(1420, 1420);
        let mut state = 1u64;
        let mut arrives = move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 33 > (1 << 31) / 10
        };
        let mut limited = 0;
        for _ in 0..3600 {
            path.run(1, true, &mut arrives);
            limited += u32::from(path.search.limit() < 1420);
        }
        // Three of three probes are lost once in a thousand times, which is every three hours.
        assert!(limited < 36, "{limited} of 3600 s");
    }

    #[test]
    fn answers_that_nobody_asked_for_change_nothing() {
        let mut path = Path::new(1420, 1300);
        path.run(1, true, || true);
        for number in 0..100 {
            path.search.on_answer(number, 9000, path.now);
        }
        path.run(30, true, || true);
        assert!((1292..=1300).contains(&path.search.limit()));
    }
}
