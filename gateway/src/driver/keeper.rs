//! The repair of addresses, routes and rules. Without them packets of the site would leave by other routes,
//! unencrypted.
//!
//! A repair runs commands of iproute2 in a thread of its own, since they take longer than packets may wait.

use super::watch::Watch;
use super::ways::{Restored, Ways};
use accord_units::{Duration, Time};
use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// The time from one look at the news of the kernel to the next.
const NEWS: Duration = Duration::from_ms(50);
/// The shortest time from the begin of one repair to that of the next. Other programs can change routes as
/// fast as they like.
const PAUSE: Duration = Duration::from_secs(1);
/// The time from a repair that has failed to the next.
const AGAIN: Duration = Duration::from_secs(5);
/// The longest time of a repair. The networks count as missing after it.
const PATIENCE: Duration = Duration::from_secs(10);

/// The longest wait for the end of a repair. It is less than the time after which the service manager ends a
/// gateway that gives no sign of life.
const SETTLED: std::time::Duration = std::time::Duration::from_secs(2);

/// The repair of the ways to a device.
pub struct Keeper {
    /// The news about the device, if the kernel provides it.
    watch: Option<Watch>,
    /// True if there was news since the latest repair began.
    heard: bool,
    /// The result of the latest repair.
    restored: Restored,
    /// The repair that runs: its begin and its result.
    under_way: Option<(Time, Receiver<Restored>)>,
    next_look: Time,
    /// The time of the next repair if there is news.
    next: Time,
    /// The time of the next repair if the latest one has failed.
    next_attempt: Time,
}

impl Keeper {
    /// Creates the repair of ways that are all set.
    pub fn new(watch: Option<Watch>) -> Keeper {
        Keeper {
            watch,
            heard: false,
            restored: Restored::default(),
            under_way: None,
            next_look: Time::ZERO,
            next: Time::ZERO,
            next_attempt: Time::ZERO,
        }
    }

    /// The number of networks of peers without a route to the device.
    pub fn missing(&self) -> u64 {
        self.restored.missing.len() as u64
    }

    /// Begins a repair if there is news, or if the latest one has failed.
    pub fn look(&mut self, ways: &Ways, now: Time) {
        if now < self.next_look {
            return;
        }
        self.next_look = now + NEWS;
        self.heard |= self.watch.as_mut().is_some_and(|watch| watch.hears(ways));
        self.take(ways, now);
        let again = !self.restored.why.is_empty() && now >= self.next_attempt;
        if self.under_way.is_some() || !(again || self.heard && now >= self.next) {
            return;
        }
        self.heard = false;
        (self.next, self.next_attempt) = (now + PAUSE, now + AGAIN);
        let (ways, (done, result)) = (ways.clone(), channel());
        let work = move || {
            let _ = done.send(ways.restore());
        };
        // Without a thread the result is that there is none.
        let _ = std::thread::Builder::new().name("routes".into()).spawn(work);
        self.under_way = Some((now, result));
    }

    /// Takes the result of the repair that runs, if there is one.
    fn take(&mut self, ways: &Ways, now: Time) {
        let Some((began, result)) = &self.under_way else {
            return;
        };
        let all = |why: &str| Restored { missing: ways.all(), why: why.into(), set: 0 };
        match result.try_recv() {
            Ok(restored) => {
                self.under_way = None;
                self.note(restored);
            }
            Err(TryRecvError::Disconnected) => {
                self.under_way = None;
                self.note(all("a repair did not run to its end"));
            }
            Err(TryRecvError::Empty) if now.since(*began) >= PATIENCE => {
                self.note(all("a repair lasts long: iproute2 does not answer"));
            }
            Err(TryRecvError::Empty) => {}
        }
    }

    /// Logs the result of a repair.
    fn note(&mut self, restored: Restored) {
        if restored.set > 0 {
            tracing::warn!(event = "routes-set", count = restored.set);
        }
        let Restored { missing, why, .. } = &restored;
        let new = *missing != self.restored.missing || *why != self.restored.why;
        if new && !why.is_empty() {
            tracing::error!(event = "routes-missing", count = missing.len(), reason = why);
        }
        self.restored = restored;
    }

    /// Waits for a running repair, which restores the current ways. Call it before the ways change. They are
    /// examined again afterwards.
    pub fn settle(&mut self) {
        if let Some((_, result)) = self.under_way.take()
            && let Ok(restored) = result.recv_timeout(SETTLED)
        {
            self.note(restored);
        }
        self.heard = true;
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.settle();
    }
}
