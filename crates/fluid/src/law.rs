//! How windows move.
//!
//! With w the window, d the base round-trip time, q the queuing delay and v the virtual delay
//! that have come back to the source, rtt = d + q and x = w / rtt:
//!
//! ```text
//! accumulation a = x·(q + v)                                    [Xia05 §IV-B.1, Low02 eq. 18]
//! p      dw/dt = −κ/rtt · (a − a*), at most a packet per rtt    [Xia05 eq. 6, Har02 §II]
//! mw     dw/dt = −κ·d/rtt · (a − a*)/w, likewise                [Xia05 eq. 5]
//! aiad   dw/dt = −κ/rtt · sgn(a − a*)                           [Xia05 eq. 3]
//! vegas  dw/dt = packet/rtt · (1 if a < α, −1 if a > β, else 0) [Low02 eqs. 17-18]
//!        and with REM a = x·p̂, p̂ the price that marks tell     [Low02 eq. 33]
//! reno   dw/dt = packet/rtt                                     [RFC 5681]
//! any    dw/dt −= w/2 · min(losses per second, 1/rtt)           at a loss, or a mark for one
//! ```
//!
//! Smooth laws are integrated by Heun's method. The laws of the sign have a surface, the
//! window at which a equals its target; the step moves towards it and stops on it, so that a
//! flow that has reached its surface stays there as Filippov's solution does, whatever the
//! step. Slow start grows a window by the factor 2 a round trip (or two round trips, where
//! the controller does so); the instant at which it ends is located within the step.
//!
//! Departures: below one packet the window goes on shrinking (the controllers pace instead);
//! timeouts are not modelled.

/// A law with its parameters, in bytes and seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Law {
    Proportional {
        gain: f64,
        target: f64,
    },
    MoWalrand {
        gain: f64,
        target: f64,
    },
    Additive {
        gain: f64,
        target: f64,
    },
    Vegas {
        low: f64,
        high: f64,
        per_second: bool,
    },
    Reno,
    Unresponsive,
}

/// By what a source knows the accumulation a.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reads {
    /// Queuing and virtual delays of the way there: a = x·(q + v).
    Delay,
    /// Round-trip times: a = w·(1 − min rtt/rtt).
    RoundTrip,
    /// The share m of marks over so many bytes: a = x·p̂, p̂ = −ln(1 − m)/ln φ milliseconds.
    Marks { ln_phi: f64, memory: f64 },
}

/// What a source takes for its round trip over empty queues.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Base {
    /// The smallest round trip so far.
    Smallest,
    /// The smallest of the samples of the last so many bytes.
    Last { bytes: f64 },
    /// The truth.
    Known,
}

/// What of a law does not change while the flow runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Control {
    pub law: Law,
    pub reads: Reads,
    pub base: Base,
    pub packet: f64,
    /// Window at the start.
    pub initial: f64,
    /// Slow start: growth per round trip (e-folds), accumulation that ends it, and the
    /// fraction of the window that is kept then.
    pub growth: f64,
    pub leave: f64,
    pub keep: f64,
    /// Queues of acknowledgements delay what the source knows, and look like its own.
    pub window_clocked: bool,
    /// Its packets can be marked.
    pub ecn: bool,
}

impl Control {
    /// Whether Heun's method applies.
    pub fn is_smooth(&self) -> bool {
        !matches!(self.law, Law::Additive { .. } | Law::Vegas { .. })
    }
}

/// What a source sees at an instant.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// Queuing delay, that of acknowledgements included where it matters.
    pub queue: f64,
    /// What it takes for the price beside the queue, in seconds: the virtual delay, less the
    /// queuing delay that does not show in what is measured; or what marks tell.
    pub price: f64,
    /// Fraction of what was sent by which it backs off.
    pub loss: f64,
}

/// The window of a flow and what it remembers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub window: f64,
    pub slow_start: bool,
    /// What it takes for its round trip over empty queues.
    pub min_rtt: f64,
}

impl Control {
    /// Accumulation as the controller takes it, per byte of window: a / w.
    #[inline]
    fn share(&self, base_rtt: f64, min_rtt: f64, seen: &Seen) -> f64 {
        let inverse = 1.0 / (base_rtt + seen.queue);
        match self.reads {
            Reads::RoundTrip => (1.0 - min_rtt * inverse).max(0.0),
            Reads::Delay => (seen.queue + seen.price) * inverse,
            Reads::Marks { .. } => seen.price * inverse,
        }
    }

    /// The same for slow start, which heeds no marks.
    fn first_share(&self, base_rtt: f64, min_rtt: f64, seen: &Seen) -> f64 {
        let reads = match self.reads {
            Reads::Marks { .. } => Reads::RoundTrip,
            reads => reads,
        };
        Control { reads, ..*self }.share(base_rtt, min_rtt, seen)
    }

    /// Accumulation as the controller takes it.
    pub fn estimate(&self, base_rtt: f64, w: &Window, seen: &Seen) -> f64 {
        w.window * self.share(base_rtt, w.min_rtt, seen)
    }

    /// dw/dt of a smooth law outside slow start.
    #[inline]
    fn slope(&self, w: f64, base_rtt: f64, seen: &Seen) -> f64 {
        let inverse = 1.0 / (base_rtt + seen.queue);
        let a = w * (seen.queue + seen.price) * inverse;
        let step = match self.law {
            Law::Proportional { gain, target } => (gain * (target - a)).min(self.packet),
            Law::MoWalrand { gain, target } => {
                (gain * base_rtt * (target - a) / w).min(self.packet)
            }
            Law::Reno => self.packet,
            _ => 0.0,
        };
        let halve = if seen.loss > 0.0 {
            0.5 * w * (w * inverse * seen.loss / self.packet).min(inverse)
        } else {
            0.0
        };
        step * inverse - halve
    }

    /// Moves the window over a step of `h`, with what is seen at both its ends.
    #[inline]
    pub fn advance(&self, state: &mut Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) {
        if matches!(self.law, Law::Unresponsive) {
            state.window = self.initial;
            return;
        }
        let mut left = h;
        let mut from = *from;
        if state.slow_start {
            let used = self.slow_start(state, base_rtt, &from, to, h);
            left = h - used;
            if left <= 0.0 {
                return;
            }
            let part = used / h;
            from.queue += part * (to.queue - from.queue);
            from.price += part * (to.price - from.price);
        }
        let w = state.window;
        let next = if self.is_smooth() {
            let first = self.slope(w, base_rtt, &from);
            let second = self.slope(self.floor(w + left * first), base_rtt, to);
            w + 0.5 * left * (first + second)
        } else {
            self.towards_surface(state, base_rtt, &from, to, left)
        };
        state.window = self.floor(next);
    }

    /// Far below any window that a packet makes.
    #[inline]
    fn floor(&self, w: f64) -> f64 {
        w.max(1e-3 * self.packet)
    }

    /// Grows the window; gives how much of the step passed until slow start ended.
    fn slow_start(&self, s: &mut Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> f64 {
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let grown = s.window * (self.growth * h / rtt).exp();
        let before = s.window * self.first_share(base_rtt, s.min_rtt, from);
        let after = grown * self.first_share(base_rtt, s.min_rtt, to);
        let lost = to.loss > 0.0;
        if after <= self.leave && !lost {
            s.window = grown;
            return h;
        }
        s.slow_start = false;
        let part = if lost || after <= before {
            0.0
        } else {
            ((self.leave - before) / (after - before)).clamp(0.0, 1.0)
        };
        s.window *= self.keep * (self.growth * part * h / rtt).exp();
        part * h
    }

    /// The laws of the sign: by at most their step towards the window at which a meets its
    /// target, and not across it.
    #[inline]
    fn towards_surface(&self, s: &Window, base_rtt: f64, from: &Seen, to: &Seen, h: f64) -> f64 {
        let share = self.share(base_rtt, s.min_rtt, to);
        let (gain, low, high) = match self.law {
            Law::Additive { gain, target } => (gain, target, target),
            Law::Vegas {
                low,
                high,
                per_second,
            } => {
                let unit = if per_second { s.min_rtt } else { 1.0 };
                (self.packet, low * unit, high * unit)
            }
            _ => return s.window,
        };
        let rtt = base_rtt + 0.5 * (from.queue + to.queue);
        let most = gain * h / rtt;
        let (low, high) = (low / share, high / share);
        let moved = if s.window < low {
            (s.window + most).min(low)
        } else if s.window > high {
            (s.window - most).max(high)
        } else {
            s.window
        };
        if to.loss > 0.0 {
            let rate = s.window / rtt * to.loss / self.packet;
            moved - 0.5 * s.window * rate.min(1.0 / rtt) * h
        } else {
            moved
        }
    }
}
