//! Spaces the packets of a window in time, as Linux does.
//!
//! ```text
//! rate  = gain · max(cwnd, outstanding) / srtt
//! gain  = 2 where cwnd < ssthresh / 2, else 1.2
//! ```
//!
//! The gains are those of `net.ipv4.tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio`. They are above
//! 1, so the window still decides the amount: its packets are sent within 1/1.2 of a round trip.
//! Since the window is at least one packet, no packet waits longer than that. Outstanding packets
//! are sent and not acknowledged in order, `packets_out` of Linux. So a cut slows the pace only
//! once its hole is repaired.
//!
//! Departures: Linux sends the first ten packets unspaced. Here the packets before the first sample
//! of the round-trip time (the initial window) are unspaced, since there is no rate before it.
//! Repairs are spaced like other packets. While packets wait for the pacer only, the window counts
//! as full, since it determines the rate.

use super::StreamSender;
use accord_control::Controller;
use accord_units::{Rate, Time};

/// The fraction of the smoothed round-trip time over which the packets of a window are sent.
const SPREAD: f64 = 1.0 / 1.2;
/// The same fraction for a window below half of the slow-start threshold.
const SPREAD_SLOW_START: f64 = 1.0 / 2.0;

impl<C: Controller> StreamSender<C> {
    /// Records a packet that is sent now. The next one follows at the rate of a window of `window`
    /// bytes.
    #[cold]
    pub(super) fn pace(&mut self, window: u64, now: Time) {
        let srtt = self.rtt.smoothed();
        if srtt.is_zero() {
            return;
        }
        let ssthresh = (self.controller.ssthresh()).map_or(u64::MAX, |bytes| bytes.get());
        let spread = if window < ssthresh / 2 { SPREAD_SLOW_START } else { SPREAD };
        let window = window.max((self.next - self.una) * self.packet.get());
        let seconds = srtt.as_secs_f64() * spread;
        let rate = Rate::from_bps_f64(window as f64 * 8.0 / seconds);
        self.pacer.sent(now, self.packet, rate);
    }
}
