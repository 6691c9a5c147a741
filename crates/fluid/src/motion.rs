//! What moves in every step, for all kinds of flows, quantity by quantity; and the common
//! case, which a compiler can make a few instructions for several kinds at once.

/// The state of all kinds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Motion {
    pub window: Vec<f64>,
    /// What the source takes for its round trip over empty queues.
    pub min_rtt: Vec<f64>,
    /// Queuing delay that the source sees.
    pub queue: Vec<f64>,
    /// Bytes per second, and all bytes sent.
    pub rate: Vec<f64>,
    pub sent: Vec<f64>,
    /// What is in flight: the window, unless less is offered.
    pub flight: Vec<f64>,
    pub base_rtt: Vec<f64>,
    /// The most that the application and links without queues let pass.
    pub most: Vec<f64>,
    /// One over the round-trip time.
    inverse: Vec<f64>,
    /// Proportional laws: gain, target and packet.
    gain: Vec<f64>,
    target: Vec<f64>,
    packet: Vec<f64>,
    /// What the source sees its only queue by: a fraction of a step.
    fraction: Vec<f64>,
}

/// Kinds side by side that glide, see the same queue and nothing else, the same number of
/// steps ago.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    pub first: usize,
    pub end: usize,
    pub queue: usize,
    pub back: usize,
}

/// As `a.min(b)`, in one instruction: neither is NaN.
#[inline]
fn least(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

#[inline]
fn most(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

impl Motion {
    pub fn new(kinds: usize) -> Motion {
        let zeros = || vec![0.0; kinds];
        Motion {
            window: zeros(),
            min_rtt: vec![f64::INFINITY; kinds],
            queue: zeros(),
            rate: zeros(),
            sent: zeros(),
            flight: zeros(),
            base_rtt: zeros(),
            most: vec![f64::INFINITY; kinds],
            inverse: zeros(),
            gain: zeros(),
            target: zeros(),
            packet: zeros(),
            fraction: zeros(),
        }
    }

    /// The law of a kind that may glide.
    pub fn proportional(&mut self, kind: usize, gain: f64, target: f64, packet: f64) {
        self.gain[kind] = gain;
        self.target[kind] = target;
        self.packet[kind] = packet;
    }

    /// By what a gliding kind reads its queue.
    pub fn reads(&mut self, kind: usize, fraction: f64) {
        self.fraction[kind] = fraction;
    }

    /// What follows from the window, the queue seen, and whether the kind runs.
    pub fn set_rate(&mut self, kind: usize, active: bool) {
        let rtt = self.base_rtt[kind] + self.queue[kind];
        self.inverse[kind] = 1.0 / rtt;
        if active {
            self.rate[kind] = (self.window[kind] / rtt).min(self.most[kind]);
            self.flight[kind] = self.window[kind].min(self.most[kind] * rtt);
        } else {
            self.rate[kind] = 0.0;
            self.flight[kind] = 0.0;
        }
    }

    /// Moves a run of proportional laws by `h`, as `Control::advance` does and then what is
    /// sent: the queuing delay was `before` and is `after` at the steps read.
    pub fn glide(&mut self, run: Run, before: f64, after: f64, h: f64) {
        let (i, n) = (run.first, run.end - run.first);
        let window = &mut self.window[i..][..n];
        let min_rtt = &mut self.min_rtt[i..][..n];
        let queue = &mut self.queue[i..][..n];
        let rate = &mut self.rate[i..][..n];
        let sent = &mut self.sent[i..][..n];
        let flight = &mut self.flight[i..][..n];
        let inverse = &mut self.inverse[i..][..n];
        let base_rtt = &self.base_rtt[i..][..n];
        let limit = &self.most[i..][..n];
        let gain = &self.gain[i..][..n];
        let target = &self.target[i..][..n];
        let packet = &self.packet[i..][..n];
        let fraction = &self.fraction[i..][..n];
        let change = after - before;
        for k in 0..n {
            let slope = |w: f64, queue: f64, inverse: f64| {
                least(gain[k] * (target[k] - w * queue * inverse), packet[k]) * inverse
            };
            let seen = before + fraction[k] * change;
            let rtt = base_rtt[k] + seen;
            let over = 1.0 / rtt;
            let least_window = 1e-3 * packet[k];
            let w = window[k];
            let first = slope(w, queue[k], inverse[k]);
            let second = slope(most(w + h * first, least_window), seen, over);
            let next = most(w + 0.5 * h * (first + second), least_window);
            let sends = least(next * over, limit[k]);
            window[k] = next;
            min_rtt[k] = least(min_rtt[k], rtt);
            queue[k] = seen;
            inverse[k] = over;
            flight[k] = least(next, limit[k] * rtt);
            sent[k] += 0.5 * h * (rate[k] + sends);
            rate[k] = sends;
        }
    }
}
