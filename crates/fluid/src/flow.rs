//! The signals and the memory of a class of flows. [`crate::motion::Motion`] has the rest of its state.

use crate::history::Tap;
use crate::law::{Control, Seen};
use crate::model::Class;
use accord_family::{BaseRtt, Reads};
use std::collections::VecDeque;

/// A running class of flows.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub active: bool,
    pub slow_start: bool,
    /// The index of its control in `Integration::controls`.
    pub control: u32,
    pub offered: f64,
    pub size: f64,
    pub many: f64,
    /// The range of its queues in `Integration::taps`.
    pub hops: std::ops::Range<usize>,
    /// True if any of its queues does more than delay, or a wire loses packets.
    pub signals: bool,
    /// The fraction of the sent bytes that wires lose.
    pub wire_loss: f64,
    marks: Marks,
    /// Boxed, since few flows use it and a flow then fits in two cache lines.
    pub recent: Box<Recent>,
}

/// A queue that a source observes, after a delay.
#[derive(Clone, Copy, Debug)]
pub(crate) struct See {
    pub queue: u32,
    pub forward: bool,
    /// True if the source measures with control packets in both directions, all of which wait in the queue.
    pub hidden: bool,
    pub tap: Tap,
}

/// The share of marks, exponentially weighted over the memory in bytes. The first bytes count equally.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    share: f64,
    seen: f64,
}

/// The smallest recent round-trip time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    /// The bytes sent, and the round-trip time at that moment. Both increase from front to back.
    samples: VecDeque<(f64, f64)>,
}

impl Recent {
    /// Records a round-trip time after `sent` bytes, and returns the smallest of the last `span`
    /// bytes.
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
    pub fn new(class: &Class, control: usize) -> Flow {
        Flow {
            active: false,
            slow_start: true,
            control: control as u32,
            offered: class.offered,
            size: class.size,
            many: class.members.len() as f64,
            hops: 0..0,
            signals: false,
            wire_loss: 0.0,
            marks: Marks::default(),
            recent: Box::default(),
        }
    }

    /// Starts the class without memory.
    pub fn start(&mut self) {
        self.slow_start = true;
        self.marks = Marks::default();
        *self.recent = Recent::default();
    }

    /// Returns the source's signal from the share of `marks` on the acknowledged `bytes`: a price
    /// in seconds, or a loss.
    pub fn signal(&mut self, control: &Control, seen: &mut Seen, marks: f64, bytes: f64) {
        if let Reads::Marks { ln_phi, memory } = control.dynamics.reads {
            let m = &mut self.marks;
            m.seen = (m.seen + bytes).min(memory);
            if m.seen > 0.0 {
                m.share += (bytes / m.seen).min(1.0) * (marks - m.share);
            }
            // If all packets are marked the price is high but finite.
            seen.price = 1e-3 * -libm::log1p(-m.share.min(1.0 - 1e-12)) / ln_phi;
        } else {
            seen.loss = 1.0 - (1.0 - seen.loss) * (1.0 - marks);
        }
    }

    /// Returns the source's estimate of the base round-trip time.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::tests::control;
    use accord_family::WindowLaw;
    use accord_units::Time;

    fn flow(control: Control) -> Flow {
        let (members, start) = (vec![0], Time::ZERO);
        let (offered, size) = (f64::INFINITY, f64::INFINITY);
        Flow::new(&Class { members, control, start, offered, size }, 0)
    }

    /// Of a memory of 200 bytes the first ones count equally, and each later one for itself. The price is that of
    /// the share [Low02 eq. 31], in milliseconds; it is finite if all is marked.
    #[test]
    fn the_share_of_marks_is_remembered_by_bytes() {
        let mut reads = control(WindowLaw::Reno);
        reads.dynamics.reads = Reads::Marks { ln_phi: 0.1, memory: 200.0 };
        let mut flow = flow(reads);
        let mut price = |marks: f64, bytes: f64| {
            let mut seen = Seen::default();
            flow.signal(&reads, &mut seen, marks, bytes);
            1.0 - f64::exp(-0.1 * seen.price * 1e3)
        };
        for (marks, share) in [(0.5, 0.5), (0.0, 0.25), (0.0, 0.125), (1.0, 0.5625)] {
            let found = price(marks, 100.0);
            assert!((found - share).abs() < 1e-12, "{found} {share}");
        }
        assert!((price(1.0, 200.0) - 1.0).abs() < 1e-9);
        let mut seen = Seen::default();
        flow.signal(&reads, &mut seen, 1.0, 200.0);
        assert!(seen.price.is_finite(), "{}", seen.price);
    }

    /// Of a half that is lost, and of the other half a half that is marked, three quarters count.
    #[test]
    fn marks_count_among_what_is_not_lost() {
        let reno = control(WindowLaw::Reno);
        let mut seen = Seen { loss: 0.5, ..Seen::default() };
        flow(reno).signal(&reno, &mut seen, 0.5, 100.0);
        assert_eq!(seen.loss, 0.75);
    }
}
