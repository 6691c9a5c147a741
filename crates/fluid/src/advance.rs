//! A step of a window.

use crate::law::{Control, Seen, Window};
use accord_family::WindowLaw;

impl Control {
    /// Advances the window by a step of `h`, with the signals at both ends of the step.
    #[inline]
    pub(crate) fn advance(
        &self,
        state: &mut Window,
        base_rtt: f64,
        from: &Seen,
        to: &Seen,
        h: f64,
    ) {
        if matches!(self.dynamics.law, WindowLaw::Unresponsive) {
            state.window = self.dynamics.initial;
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
        state.window = self.moved(state, base_rtt, &from, to, left);
    }
}
