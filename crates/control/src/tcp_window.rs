//! The congestion window of the TCP-like controllers.

use crate::prelude::*;
use accord_family::kind::{flag, size};

/// The initial window of the TCP-like controllers whose sources are older than RFC 6928.
pub(crate) const INITIAL_WINDOW: Param = size("2 pkt")
    .symbol("IW")
    .source("[RFC 5681 §3.1]")
    .declared("initial_window", "Window at the start; at least one packet.");

/// The initial window of controllers that date from 2013 or later, or that model those of kernels.
pub(crate) const TEN_PACKETS: Param = INITIAL_WINDOW.default("10 pkt").source("[RFC 6928]");

/// The choice of selective acknowledgements, shared by the TCP-like controllers.
pub(crate) const SACK: Param = flag("false")
    .source("[RFC 6675]")
    .declared("sack", "Repairs losses by selective acknowledgements.");

/// The choice of loss detection by time, shared by controllers with [`SACK`] and by those that
/// always use selective acknowledgements.
pub(crate) const RACK: Param = flag("false").source("[RFC 8985, RFC 9937]").declared(
    "rack",
    "Finds losses by time, those of repairs too, probes for lost tails, and reduces the data \
          in flight in proportion (RACK-TLP and PRR, as kernels do), whatever sack says.",
);

/// The choice of the variant of NewReno, for repair without selective acknowledgements.
pub(crate) const IMPATIENT: Param = flag("true").source("[RFC 6582 §3.2, §4]").declared(
    "impatient",
    "Without sack: only the first partial acknowledgement of a recovery sets the \
          retransmission timer again, so a window with many losses ends in slow start; if \
          false each does, and a loss is repaired in each round trip (slow but steady).",
);

/// The choice of explicit congestion notification, shared by the TCP-like controllers.
pub(crate) const ECN: Param = flag("false")
    .source("[RFC 3168]")
    .declared("ecn", "Lets its packets be marked instead of dropped, and takes marks for losses.");

/// Returns the meaning of marks to a controller with [`ECN`].
pub(crate) fn marks(values: &Values) -> Marks {
    if values.flag("ecn") { Marks::Loss } else { Marks::Nothing }
}

/// Returns the repair of losses for a controller with [`SACK`].
pub(crate) fn recovery(values: &Values) -> Recovery {
    if values.flag("sack") { Recovery::Sack } else { Recovery::NewReno }
}

/// Returns the demands of a controller with [`RACK`]. `otherwise` is the recovery without it.
pub(crate) fn rack(values: &Values, otherwise: Recovery) -> Capabilities {
    if values.flag("rack") {
        Capabilities { recovery: Recovery::Rack, proportional: true, ..Capabilities::default() }
    } else {
        Capabilities { recovery: otherwise, ..Capabilities::default() }
    }
}

/// A window in bytes, and the threshold below which it grows fast.
///
/// The fields are in the order of their use.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct TcpWindow {
    /// The congestion window `cwnd` in bytes, at least one packet.
    pub window: u64,
    /// The slow-start threshold `ssthresh` in bytes. It is `u64::MAX` while it is not set.
    pub ssthresh: u64,
    /// The unit of windows, in bytes.
    pub packet: u64,
    /// The window and the threshold before the last response to a loss, or zero after an undo.
    before: (u64, u64),
    /// The window at the start, and the largest window after an idle time [RFC 5681 §4.1].
    initial: u64,
}

impl TcpWindow {
    pub fn new(values: &Values, packet: Bytes) -> TcpWindow {
        let packet = packet.get().max(1);
        let initial = values.size("initial_window").bytes_f64(Bytes::new(packet)).round() as u64;
        let initial = initial.max(packet);
        TcpWindow { window: initial, ssthresh: u64::MAX, packet, before: (0, 0), initial }
    }

    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.window < self.ssthresh
    }

    /// Grows the window in slow start: by the acknowledged bytes, at most a packet
    /// [RFC 5681 eq. 2].
    #[inline]
    pub fn grow_slow_start(&mut self, acked: Bytes) {
        self.grow(acked.get().min(self.packet));
    }

    /// Grows the window by `step` bytes, at most to the threshold.
    #[inline]
    pub fn grow(&mut self, step: u64) {
        self.window = self.window.saturating_add(step).min(self.ssthresh);
    }

    /// Grows the window by a packet.
    #[inline]
    pub fn increment(&mut self) {
        self.window = self.window.saturating_add(self.packet);
    }

    /// Shrinks the window by a packet, but not below two. This does not lead back to slow start.
    pub fn decrement(&mut self) {
        let less = self.window.saturating_sub(self.packet);
        self.window = less.max(2 * self.packet);
        self.ssthresh = self.ssthresh.min(self.window);
    }

    /// Continues from `window` in congestion avoidance. The window is rounded to whole packets,
    /// because only those can be sent, and is at least two packets.
    pub fn continue_from(&mut self, window: u64) {
        self.window = (window - window % self.packet).max(2 * self.packet);
        self.ssthresh = self.window;
    }

    /// Saves the window before a response to a loss, for [`undo`](TcpWindow::undo).
    pub fn save(&mut self) {
        self.before = (self.window, self.ssthresh);
    }

    /// Undoes the last response to a loss that was spurious. The window and the threshold return at
    /// least to their former values [RFC 9438 §4.9].
    pub fn undo(&mut self) {
        let (window, ssthresh) = std::mem::take(&mut self.before);
        self.window = self.window.max(window);
        self.ssthresh = self.ssthresh.max(ssthresh);
    }

    /// Reacts to a loss: keeps half of the bytes in flight [RFC 5681 eq. 4].
    pub fn halve(&mut self, path: &PathView) {
        self.save();
        self.continue_from(path.in_flight.get() / 2);
    }

    /// Reacts to a loss: keeps this fraction of the bytes in flight, and at least two packets. The
    /// result is not rounded to whole packets, for laws whose steps may be much smaller than one.
    pub fn keep(&mut self, part: f64, path: &PathView) {
        self.save();
        let kept = (part * path.in_flight.as_f64()).round() as u64;
        self.settle(kept.max(2 * self.packet));
    }

    /// Continues from exactly `window` in congestion avoidance.
    pub fn settle(&mut self, window: u64) {
        self.window = window;
        self.ssthresh = window;
    }

    /// Ends slow start with a window smaller by `less` bytes, but not below the initial one.
    pub fn end_slow_start(&mut self, less: u64) {
        let least = self.window.min(self.initial);
        self.settle(self.window.saturating_sub(less).max(least));
    }

    /// The window at the start in bytes.
    pub fn initial(&self) -> u64 {
        self.initial
    }

    /// Reacts to congestion as Reno: keeps half of the bytes in flight, and starts again from one
    /// packet after a timeout.
    pub fn respond(&mut self, what: Congestion, path: &PathView) {
        if what != Congestion::RepeatedTimeout {
            self.halve(path);
        }
        self.restart_if(what);
    }

    /// Reacts to congestion by [`keep`](TcpWindow::keep), and starts again from one packet after a
    /// timeout.
    pub fn respond_by(&mut self, part: f64, what: Congestion, path: &PathView) {
        if what != Congestion::RepeatedTimeout {
            self.keep(part, path);
        }
        self.restart_if(what);
    }

    /// Reacts to a mark after [`keep`](TcpWindow::keep): the window may be a single packet, but the
    /// threshold is at least two packets [RFC 9438 §4.6].
    pub fn allow_one_packet(&mut self, part: f64, path: &PathView) {
        let kept = (part * path.in_flight.as_f64()).round() as u64;
        self.window = self.window.min(kept.max(self.packet));
    }

    /// Reacts to a timeout: slow start from one packet up to the threshold. A loss has already set
    /// the threshold [RFC 5681 §3.1].
    fn restart_if(&mut self, what: Congestion) {
        if matches!(what, Congestion::Timeout | Congestion::RepeatedTimeout) {
            self.window = self.packet;
        }
    }

    /// Grows the window by the whole bytes of `fraction`, and leaves the rest there.
    #[inline]
    pub fn grow_whole(&mut self, fraction: &mut f64) {
        let whole = *fraction as u64;
        *fraction -= whole as f64;
        self.window = self.window.saturating_add(whole);
    }

    /// Shrinks the window to the initial one after an idle time, if it is larger. The threshold
    /// stays [RFC 5681 §4.1].
    pub fn restart_idle(&mut self) {
        self.window = self.window.min(self.initial);
    }

    #[inline]
    pub fn allowance(&self) -> Allowance {
        Allowance { window: Bytes::new(self.window), pacing: None }
    }

    pub fn threshold(&self) -> Option<Bytes> {
        (self.ssthresh != u64::MAX).then_some(Bytes::new(self.ssthresh))
    }
}

/// The methods of a controller that shows its field `cwnd`, a [`TcpWindow`], and `capabilities`.
macro_rules! shows_window {
    () => {
        #[inline]
        fn allowance(&self) -> Allowance {
            self.cwnd.allowance()
        }

        $crate::tcp_window::shows_window! { threshold }
    };
    (threshold) => {
        fn ssthresh(&self) -> Option<Bytes> {
            self.cwnd.threshold()
        }

        fn capabilities(&self) -> Capabilities {
            self.capabilities
        }
    };
}

/// The methods of a controller whose window answers a spurious loss and an idle time as Reno's.
macro_rules! restores_window {
    () => {
        fn on_spurious(&mut self, _: Time) {
            self.cwnd.undo();
        }

        fn on_idle(&mut self) {
            self.cwnd.restart_idle();
        }
    };
}

pub(crate) use {restores_window, shows_window};
