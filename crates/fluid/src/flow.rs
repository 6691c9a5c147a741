//! The part of a kind of flows beside [`crate::motion::Motion`]: its signals and its memory.

use crate::history::Tap;
use crate::law::{Control, Seen};
use crate::model::Kind;
use accord_family::{BaseRtt, Reads};
use std::collections::VecDeque;

/// A kind of flows as it runs.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub active: bool,
    pub slow_start: bool,
    /// The place of its control in `Integration::controls`.
    pub control: u32,
    pub offered: f64,
    pub size: f64,
    pub many: f64,
    /// Its queues in `Integration::taps`.
    pub hops: std::ops::Range<usize>,
    /// Whether any of its queues does more than delay, or a wire loses some of it.
    pub signals: bool,
    /// The part of what it sends that wires lose.
    pub wire_loss: f64,
    marks: Marks,
    /// Few have it, and without it a flow is two lines of a cache.
    pub recent: Box<Recent>,
}

/// A queue that a source sees, after a delay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct See {
    pub queue: u32,
    pub forward: bool,
    /// The source measures by pairs of control packets, and both wait there.
    pub hidden: bool,
    pub tap: Tap,
}

/// The share of marks, the older the less: each byte counts one of the memory's, the first
/// alike.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    share: f64,
    seen: f64,
}

/// The smallest of the latest round trips.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    /// Bytes sent and the round trip then; both grow from front to back.
    samples: VecDeque<(f64, f64)>,
}

impl Recent {
    /// A round trip when so many bytes had been sent; gives the smallest of the last `span`.
    fn smallest(&mut self, sent: f64, rtt: f64, span: f64) -> f64 {
        while self.samples.back().is_some_and(|s| s.1 >= rtt) {
            self.samples.pop_back();
        }
        self.samples.push_back((sent, rtt));
        while self.samples.front().is_some_and(|s| s.0 < sent - span) {
            self.samples.pop_front();
        }
        self.samples.front().map_or(rtt, |s| s.1)
    }
}

impl Flow {
    pub fn new(kind: &Kind, control: usize) -> Flow {
        Flow {
            active: false,
            slow_start: true,
            control: control as u32,
            offered: kind.offered,
            size: kind.size,
            many: kind.members.len() as f64,
            hops: 0..0,
            signals: false,
            wire_loss: 0.0,
            marks: Marks::default(),
            recent: Box::default(),
        }
    }

    /// Starts the kind, which knows nothing.
    pub fn start(&mut self) {
        self.slow_start = true;
        self.marks = Marks::default();
        *self.recent = Recent::default();
    }

    /// Returns the signal that the source makes of the share of `marks` on the `bytes` that it hears
    /// of: a price in seconds, or a loss.
    pub fn heed(&mut self, control: &Control, seen: &mut Seen, marks: f64, bytes: f64) {
        if let Reads::Marks { ln_phi, memory } = control.dynamics.reads {
            let m = &mut self.marks;
            m.seen = (m.seen + bytes).min(memory);
            if m.seen > 0.0 {
                m.share += (bytes / m.seen).min(1.0) * (marks - m.share);
            }
            // Where all are marked the price is high, and a number.
            seen.price = 1e-3 * -(-m.share.min(1.0 - 1e-12)).ln_1p() / ln_phi;
        } else {
            seen.loss = 1.0 - (1.0 - seen.loss) * (1.0 - marks);
        }
    }

    /// Returns the base round-trip time as the source knows it.
    #[inline]
    pub fn base(
        &mut self,
        control: &Control,
        before: f64,
        base_rtt: f64,
        queue: f64,
        sent: f64,
    ) -> f64 {
        match control.dynamics.base {
            BaseRtt::Smallest => before.min(base_rtt + queue),
            BaseRtt::Known => base_rtt,
            BaseRtt::Last { bytes } => self.recent.smallest(sent, base_rtt + queue, bytes),
        }
    }
}
