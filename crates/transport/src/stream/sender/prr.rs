//! Proportional Rate Reduction [RFC 9937]: the sending rate of a recovery.

/// The state of an episode. Counts are in packets, which all have one size. Thresholds are in bytes.
///
/// ```text
/// begin   RecoverFS ← sent, not acknowledged in order, not reported before      [§6.1]
/// ACK     prr_delivered ← prr_delivered + DeliveredData
///         SndCnt ← ⌈prr_delivered · ssthresh / RecoverFS⌉ − prr_out             where inflight > ssthresh
///         SndCnt ← min(ssthresh − inflight, max(prr_delivered − prr_out, DeliveredData))  where not;
///                  a packet more for a SafeACK
///         SndCnt ← a packet if nothing was sent yet                             [§6.2]
/// send    prr_out ← prr_out + 1                                                 [§6.3]
/// end     cwnd ← ssthresh                                                       [§6.4]
/// ```
///
/// Departures. Because packets are counted instead of bytes, `⌈⌉` rounds up to a whole packet, as
/// in the figures of §8, and a receiver cannot split acknowledgements. Only recoveries from losses
/// are regulated, not the cuts for marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prr {
    recover_fs: u64,
    ssthresh: u64,
    packet: u64,
    delivered: u64,
    out: u64,
    /// SndCnt less the number of packets sent since.
    credit: u64,
}

impl Prr {
    /// Begins an episode with a target of `ssthresh` bytes.
    pub fn new(recover_fs: u64, ssthresh: u64, packet: u64) -> Prr {
        Prr { recover_fs: recover_fs.max(1), ssthresh, packet, delivered: 0, out: 0, credit: 0 }
    }

    /// Takes an acknowledgement of `delivered` packets that leaves `in_flight`.
    pub fn acknowledge(&mut self, delivered: u64, in_flight: u64, safe: bool) {
        if delivered == 0 {
            return;
        }
        self.delivered += delivered;
        let share = u128::from(self.delivered) * u128::from(self.ssthresh);
        let whole = u128::from(self.recover_fs * self.packet);
        self.credit = match (self.ssthresh).checked_sub(in_flight * self.packet) {
            None => (share.div_ceil(whole) as u64).saturating_sub(self.out),
            Some(room) => {
                let bound = self.delivered.saturating_sub(self.out).max(delivered);
                (bound + u64::from(safe)).min(room / self.packet)
            }
        };
        self.force();
    }

    /// Allows a packet on entry into recovery, regardless of the data in flight.
    pub fn force(&mut self) {
        if self.out == 0 {
            self.credit = self.credit.max(1);
        }
    }

    /// Returns true if a packet may be sent.
    pub fn may_send(&self) -> bool {
        self.credit > 0
    }

    /// Records a packet that was sent.
    pub fn sent(&mut self) {
        self.out += 1;
        self.credit = self.credit.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packets sent for each acknowledgement, and the packets in flight before it, if only the
    /// first packets are lost.
    fn sent(prr: &mut Prr, in_flight: &mut u64, acks: u64) -> Vec<(u64, u64)> {
        let acknowledge = |_| {
            prr.acknowledge(1, *in_flight, false);
            let before = *in_flight;
            let mut n = 0;
            while prr.may_send() {
                prr.sent();
                n += 1;
            }
            *in_flight = before + n - 1;
            (n, before)
        };
        (0..acks).map(acknowledge).collect()
    }

    /// §6.2: SafeACK adds a packet while less than the target is in flight, and never beyond it.
    #[test]
    fn a_safe_ack_adds_a_packet_up_to_the_target() {
        let mut prr = Prr::new(20, 10_000, 1000);
        let _ = sent(&mut prr, &mut 4, 3);
        prr.acknowledge(1, 4, true);
        assert_eq!(prr.credit, 2);
        prr.acknowledge(1, 9, true);
        assert_eq!(prr.credit, 1);
        prr.acknowledge(1, 10, true);
        assert_eq!(prr.credit, 0);
    }

    /// §6.2, §7 (PRR-SSRB): below the target an acknowledgement releases the packets delivered but
    /// not yet sent for, prr_delivered − prr_out, or the packets that it reports if they are more.
    #[test]
    fn below_the_target_what_was_held_back_goes() {
        for (in_flight, delivered, expected) in
            [(5, 1, 4), (8, 1, 2), (9, 1, 1), (2, 4, 7), (5, 4, 5)]
        {
            let mut prr = Prr::new(20, 10_000, 1000);
            // Six packets are delivered while more than the target is in flight. Every second one
            // releases a packet.
            let held = sent(&mut prr, &mut 19, 6);
            assert_eq!(held.iter().map(|(n, _)| n).sum::<u64>(), 3);
            prr.acknowledge(delivered, in_flight, false);
            assert_eq!(prr.credit, expected);
        }
        // As many packets were sent as delivered, so the packets that the acknowledgement reports
        // are sent.
        let mut prr = Prr::new(20, 10_000, 1000);
        let _ = sent(&mut prr, &mut 4, 5);
        prr.acknowledge(2, 4, false);
        assert_eq!(prr.credit, 2);
    }

    /// §6.2: an acknowledgement that reports nothing changes nothing.
    #[test]
    fn nothing_delivered_nothing_sent() {
        let mut prr = Prr::new(20, 10_000, 1000);
        prr.acknowledge(0, 4, true);
        assert_eq!((prr.delivered, prr.credit), (0, 0));
    }

    /// §7: packet conservation. While less than the target is in flight and no acknowledgement is
    /// safe, no more data is sent than was delivered.
    #[test]
    fn no_more_is_sent_than_delivered_below_the_target() {
        let mut prr = Prr::new(20, 10_000, 1000);
        let all = sent(&mut prr, &mut 4, 40);
        assert!(all.iter().all(|&(n, _)| n == 1), "{all:?}");
    }

    /// §7: with few losses the episode ends with the target in flight.
    #[test]
    fn it_ends_at_the_target() {
        for (fs, target) in [(20, 10), (20, 14), (37, 18), (1000, 700)] {
            let mut prr = Prr::new(fs, target * 1000, 1000);
            let mut in_flight = fs - 2;
            let all = sent(&mut prr, &mut in_flight, fs - 1);
            let total: u64 = all.iter().map(|(n, _)| n).sum();
            assert!(total.abs_diff(target) <= 1, "{total} of {target}");
        }
    }
}
