//! The memory of a class of flows of its losses and its slow start, with losses per flow.

/// The loss state of a class of flows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    /// S: the fraction in loss repair.
    pub repairing: f64,
    /// T: the fraction that waits for a timeout, or is in slow start after it.
    pub timed_out: f64,
    /// The shortfall of the mean window due to timeouts.
    pub missing: f64,
    /// The fraction of packets lost, averaged over about a round trip.
    pub loss: f64,
    /// The losses of this round trip and its time so far; and the loss fraction of the previous
    /// one.
    round: (f64, f64),
    pub before: f64,
    /// The flows in their first slow start.
    pub starting: Starting,
}

impl Losses {
    /// Records the loss fraction `loss` for a step of `h`.
    pub fn hear(&mut self, loss: f64, rtt: f64, h: f64) {
        self.loss += (loss - self.loss) * -(-h / rtt).exp_m1();
        let (lost, time) = &mut self.round;
        *lost += loss * h;
        *time += h;
        if *time >= rtt {
            self.before = *lost / *time;
            self.round = (0.0, 0.0);
        }
    }
}

/// The flows of a class in their first slow start, if not all are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Starting {
    /// s: the fraction of the flows; 0 before the first step.
    pub part: f64,
    /// v: the window of these flows, and the mean window of the others.
    pub window: f64,
    pub others: f64,
    pub rounds: Rounds,
    pub pairs: Pairs,
}

/// The rounds of HyStart++ [RFC 9406 §4.2]. A round is a round trip, whose smallest round-trip time
/// is that at its start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    /// The time since the start of the round.
    elapsed: f64,
    /// The round-trip time at the start of the previous round; 0 if there was none.
    last: f64,
    /// Conservative slow start: the round-trip time that began it, and its rounds.
    pub careful: Option<(f64, u32)>,
}

impl Rounds {
    /// Returns true if slow start ends in a step of `h` with the round-trip time `rtt` at its end.
    /// Rounds with few samples are not judged.
    pub fn passes(&mut self, rtt: f64, judged: bool, h: f64) -> bool {
        self.elapsed += h;
        if self.elapsed < rtt {
            return false;
        }
        self.elapsed = 0.0;
        let least = (self.last / 8.0).clamp(4e-3, 16e-3);
        let risen = judged && self.last > 0.0 && rtt - self.last >= least;
        self.last = rtt;
        match &mut self.careful {
            Some((baseline, _)) if rtt < *baseline => self.careful = None,
            Some((_, rounds)) => *rounds += 1,
            None if risen => self.careful = Some((rtt, 0)),
            None => {}
        }
        self.careful.is_some_and(|(_, rounds)| rounds >= CAREFUL)
    }
}

/// The rounds of Vegas in slow start. Every second one measures the data sent in the previous one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pairs {
    /// The time since the start of the round, and the number of previous rounds.
    elapsed: f64,
    pub rounds: u32,
    /// The backlog of the window in the measuring round.
    pub queued: f64,
}

impl Pairs {
    /// Returns true if a round ends in a step of `h`.
    pub fn pass(&mut self, rtt: f64, h: f64) -> bool {
        self.elapsed += h;
        let ends = self.elapsed >= rtt;
        if ends {
            self.elapsed = 0.0;
            self.rounds += 1;
        }
        ends
    }
}

/// The number of samples per round that HyStart++ needs; the growth of conservative slow start in
/// e-folds per round trip, by a quarter of the acknowledged data; and its rounds [RFC 9406 §4.3].
pub(crate) const SAMPLES: f64 = 8.0;
pub(crate) const QUARTER: f64 = 0.223_143_551_314_209_76;
const CAREFUL: u32 = 5;
