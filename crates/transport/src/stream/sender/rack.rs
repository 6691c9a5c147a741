//! Loss detection by time: the state and the conclusions of RACK-TLP [RFC 8985]. `by_time` has the
//! sender's reaction.
//!
//! ```text
//! an ACK     RACK.rtt, RACK.segment ← the packet sent last of those that it reports   [§6.2 step 2]
//!            RACK.reordering_seen ← a packet below RACK.fack that was sent once        [§6.2 step 3]
//!            RACK.reo_wnd ← min(RACK.reo_wnd_mult · RACK.min_RTT / 4, SRTT), or 0      [§6.2 step 4]
//! a packet sent before RACK.segment is lost at
//!            Segment.xmit_ts + RACK.rtt + RACK.reo_wnd                                 [§6.2 step 5]
//! no ACK     a probe after 2·SRTT                                                      [§7.2, §7.3]
//! ```
//!
//! A list orders packets by the time at which they were last sent, so detection examines each only
//! a few times, as §6.2 step 5 suggests. There is no list while each packet in flight was sent
//! once, in the order of their numbers.
//!
//! Departures. Packets sent at the same instant are ordered by transmission, which is known;
//! RACK_sent_after orders them by number. An acknowledgement has no DSACK option, but reports a
//! packet that had already arrived. It echoes the time of the transmission that caused it, so
//! transmission is never ambiguous. So a packet that arrives as it was first sent, after it was sent
//! again, counts as reordering, as in Linux. Step 3 ignores it, and an early repair would hide
//! reordering each time. Acknowledgements are not delayed, so TLP.max_ack_delay is zero.
//! An acknowledgement carries one block, not three. So if acknowledgements are lost, a packet
//! reported late may be taken for reordering. There is no handshake, so no probe is sent before the
//! first round-trip time. No probe is scheduled while §7.3 forbids sending one, so the RTO timer is
//! not put off.

use accord_units::{Duration, Time};
use std::collections::VecDeque;

/// The number of round trips without an acknowledgement after which a probe is sent [§7.2].
pub(super) const PROBE_AFTER: u64 = 2;

/// The number of packets above a hole that make it a loss while no reordering was seen [RFC 8985
/// §6.2 step 4].
const DUP_THRESH: u64 = 3;
/// The number of recoveries after which the reordering window returns to its initial value [§6.2
/// step 4].
const PERSIST: u32 = 16;
/// Half of the memory of the smallest round-trip time. Linux remembers 300 s.
const HALF_WINDOW: Duration = Duration::from_secs(150);

/// The state of a packet in flight [§5.2].
#[derive(Clone, Copy, Debug)]
struct PacketState {
    /// Segment.xmit_ts.
    sent: Time,
    /// The number of the latest transmission.
    serial: u64,
    /// Segment.retransmitted.
    again: bool,
    /// Delivered.
    arrived: bool,
    /// Segment.lost.
    lost: bool,
}

/// A loss probe in flight [§5.3]: TLP.end_seq and TLP.is_retrans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Probe {
    pub end: u64,
    pub again: bool,
}

/// The timer that runs in place of the RTO timer [§5.4].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alarm {
    /// The RACK reordering timer.
    Reordering,
    /// The TLP PTO timer.
    Probe,
}

/// The state of a connection [§5.3].
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// The packets from the first unacknowledged one on, and the number of the first.
    packets: VecDeque<PacketState>,
    first: u64,
    /// The transmissions in order of sending, each with the number of its packet. Transmissions of
    /// packets that have since arrived, been lost or been sent again are skipped. The list is empty
    /// while `is_ordered`.
    order: VecDeque<(u64, u64)>,
    /// True while no packet in flight was sent again.
    is_ordered: bool,
    /// One past the highest packet that was sent again.
    again_to: u64,
    /// The number of transmissions so far.
    serial: u64,
    /// RACK.segment: the last transmission that is known to have arrived.
    newest: Option<u64>,
    /// The last transmission among the packets reported by this acknowledgement, with its time.
    latest: Option<(u64, Time)>,
    /// RACK.rtt.
    rtt: Duration,
    min_rtt: RecentMin,
    /// RACK.fack: one past the highest packet that arrived.
    fack: u64,
    reordering_seen: bool,
    /// RACK.reo_wnd_mult, RACK.reo_wnd_persist, RACK.dsack_round.
    multiplier: u32,
    persist: u32,
    dsack_round: Option<u64>,
    /// The probe in flight. The flag is true if a round-trip time was sampled since the probe was
    /// sent.
    pub probe: Option<Probe>,
    pub sampled: bool,
    /// True if a probe must be sent now.
    pub probe_now: bool,
    /// True in fast recovery, or in recovery from a time-out.
    pub recovering: bool,
    /// The deadline of the RTO timer, and the timer that expires before it.
    pub rto: Time,
    pub alarm: Option<(Time, Alarm)>,
}

impl Rack {
    /// Creates the state of a connection that begins with packet `first`.
    pub fn new(first: u64) -> Rack {
        Rack {
            packets: VecDeque::new(),
            first,
            order: VecDeque::new(),
            is_ordered: true,
            again_to: first,
            serial: 0,
            newest: None,
            latest: None,
            rtt: Duration::ZERO,
            min_rtt: RecentMin::default(),
            fack: first,
            reordering_seen: false,
            multiplier: 1,
            persist: 0,
            dsack_round: None,
            probe: None,
            sampled: false,
            probe_now: false,
            recovering: false,
            rto: Time::MAX,
            alarm: None,
        }
    }

    /// RACK_transmit_new_data [§6.1].
    #[inline]
    pub fn send(&mut self, now: Time) {
        let number = self.first + self.packets.len() as u64;
        let packet = self.transmit(number, false, now);
        self.packets.push_back(packet);
    }

    /// RACK_retransmit_data [§6.1], of packet `i` counted from the first unacknowledged one.
    pub fn send_again(&mut self, i: usize, now: Time) {
        self.make_order();
        let number = self.first + i as u64;
        self.again_to = self.again_to.max(number + 1);
        self.packets[i] = self.transmit(number, true, now);
    }

    #[inline]
    fn transmit(&mut self, number: u64, again: bool, now: Time) -> PacketState {
        self.serial += 1;
        if !self.is_ordered {
            self.order.push_back((self.serial, number));
        }
        PacketState { sent: now, serial: self.serial, again, arrived: false, lost: false }
    }

    /// Makes the list of transmissions.
    fn make_order(&mut self) {
        if std::mem::take(&mut self.is_ordered) {
            let packets = (self.first..).zip(&self.packets);
            self.order.extend(packets.map(|(number, packet)| (packet.serial, number)));
        }
    }

    /// Returns true if [`Rack::acknowledge_next`] may handle an acknowledgement of the next packets: the
    /// packets in flight were sent once, after the last one known to have arrived, and no probe or recovery
    /// is under way. The caller knows that none of them has arrived.
    pub fn is_plain(&mut self) -> bool {
        let is_idle = self.probe.is_none() && self.sampled && !self.probe_now && !self.recovering;
        let is_ordered = self.first >= self.again_to
            && self.packets.front().is_some_and(|packet| Some(packet.serial) > self.newest);
        if is_idle && is_ordered && !self.is_ordered {
            self.is_ordered = true;
            self.order.clear();
        }
        is_idle && is_ordered
    }

    /// Returns true if the RTO timer and the PTO timer run, and expire at these times.
    pub fn has_timers(&self, rto: Time, probe: Time) -> bool {
        (self.rto, self.alarm) == (rto, Some((probe, Alarm::Probe)))
    }

    /// Takes the acknowledgement of the first `n` packets, with a sample of the round-trip time, as
    /// the steps of §6.2 do. [`Rack::is_plain`] was true, and remains true.
    #[inline]
    pub fn acknowledge_next(&mut self, n: u64, rtt: Duration, now: Time) {
        self.min_rtt.sample(rtt, now);
        for _ in 1..n {
            self.packets.pop_front();
        }
        self.first += n;
        self.fack = self.fack.max(self.first);
        if let Some(last) = self.packets.pop_front() {
            self.rtt = now.since(last.sent);
            self.newest = Some(last.serial);
        }
    }

    /// Takes an acknowledgement caused by a packet sent at `echo`: step 1 [§6.2].
    pub fn on_echo(&mut self, echo: Time, now: Time) {
        self.min_rtt.sample(now.since(echo), now);
    }

    /// Takes the acknowledgement of the first `n` packets.
    pub fn acknowledge(&mut self, n: u64, echo: Time, now: Time) {
        for number in self.first..self.first + n {
            if let Some(packet) = self.packets.pop_front() {
                self.deliver(number, packet, echo, now);
            }
        }
        self.first += n;
        self.sampled = true;
    }

    /// Takes the arrival of packets `from..to`, counted from the first unacknowledged one.
    pub fn sack(&mut self, from: u64, to: u64, echo: Time, now: Time) {
        for i in from..to {
            let packet = self.packets[i as usize];
            self.deliver(self.first + i, packet, echo, now);
            self.packets[i as usize].arrived = true;
        }
    }

    /// RACK_update and RACK_detect_reordering for one packet [§6.2 steps 2, 3]. Packets come in the
    /// order of their numbers.
    fn deliver(&mut self, number: u64, packet: PacketState, echo: Time, now: Time) {
        if packet.arrived {
            return;
        }
        let of_another =
            packet.again && (echo < packet.sent || now.since(packet.sent) < self.min_rtt.get());
        if !of_another {
            self.latest = self.latest.max(Some((packet.serial, packet.sent)));
        }
        if number >= self.fack {
            self.fack = number + 1;
        } else if !packet.again || echo < packet.sent {
            // The echo is of an earlier transmission, so the packet was late, though its repair went first.
            self.reordering_seen = true;
        }
    }

    /// Ends steps 2 and 3, after all packets of the acknowledgement.
    pub fn end_of_ack(&mut self, now: Time) {
        if let Some((serial, sent)) = self.latest.take() {
            self.rtt = now.since(sent);
            self.newest = self.newest.max(Some(serial));
        }
    }

    /// Takes the repeated arrival of a packet while packets up to `next` had been sent [§6.2 step
    /// 4].
    pub fn grow_window(&mut self, next: u64) {
        if self.dsack_round.is_some_and(|round| self.first >= round) {
            self.dsack_round = None;
        }
        if self.dsack_round.is_none() {
            self.dsack_round = Some(next);
            self.multiplier = self.multiplier.saturating_add(1);
            self.persist = PERSIST;
        }
    }

    /// Ends a recovery [§6.2 step 4].
    pub fn recovered(&mut self) {
        if !std::mem::take(&mut self.recovering) {
            return;
        }
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.multiplier = 1;
        }
    }

    /// RACK.reo_wnd [§6.2 step 4].
    pub fn window(&self, sacked: u64, in_recovery: bool, srtt: Duration) -> Duration {
        if !self.reordering_seen && (in_recovery || sacked >= DUP_THRESH) {
            return Duration::ZERO;
        }
        match self.min_rtt.get() {
            Duration::MAX => Duration::ZERO,
            min_rtt => {
                let quarter = Duration::from_ps(min_rtt.as_ps() / 4);
                let bound = if srtt.is_zero() { min_rtt } else { srtt };
                (quarter * u64::from(self.multiplier)).min(bound)
            }
        }
    }

    /// RACK_detect_loss [§6.2 step 5]: calls `lost` with each lost packet, counted from the first
    /// unacknowledged one. Returns the time at which the last of the packets that may still arrive
    /// counts as lost.
    pub fn detect(
        &mut self,
        window: Duration,
        now: Time,
        mut lost: impl FnMut(u64),
    ) -> Option<Time> {
        let newest = self.newest?;
        if self.is_ordered {
            // All packets were sent after the newest one, or there are no packets.
            if self.packets.front().is_none_or(|packet| packet.serial >= newest) {
                return None;
            }
            self.make_order();
        }
        let mut waiting = Vec::new();
        let mut last = None;
        while let Some(&(serial, number)) = self.order.front() {
            let i = number.checked_sub(self.first);
            let packet = i.and_then(|i| self.packets.get_mut(i as usize));
            // The packet is in flight, and this is its latest transmission.
            if let Some(packet) = packet.filter(|p| p.serial == serial && !p.arrived && !p.lost) {
                if serial >= newest {
                    break;
                }
                let due = packet.sent + self.rtt + window;
                if due <= now {
                    packet.lost = true;
                    lost(number - self.first);
                } else {
                    waiting.push((serial, number));
                    last = Some(due);
                }
            }
            self.order.pop_front();
        }
        for sent in waiting.into_iter().rev() {
            self.order.push_front(sent);
        }
        last
    }

    /// Unmarks all lost packets in flight.
    pub fn forgive(&mut self) {
        self.recovering = false;
        self.is_ordered = false;
        self.order.clear();
        for (number, packet) in (self.first..).zip(&mut self.packets) {
            packet.lost = false;
            if !packet.arrived {
                self.order.push_back((packet.serial, number));
            }
        }
        self.order.make_contiguous().sort_unstable();
    }

    /// RACK_mark_losses_on_RTO [§6.3].
    pub fn time_out(&mut self, window: Duration, now: Time, mut lost: impl FnMut(u64)) {
        for (i, packet) in self.packets.iter_mut().enumerate() {
            let is_due = i == 0 || packet.sent + self.rtt + window <= now;
            if is_due && !packet.arrived && !packet.lost {
                packet.lost = true;
                lost(i as u64);
            }
        }
    }

    /// Returns the time at which a packet was last sent, and whether that was a retransmission.
    pub fn last_sent(&self, i: u64) -> (Time, bool) {
        let packet = self.packets[i as usize];
        (packet.sent, packet.again)
    }
}

/// The smallest of the round-trip times of the last 150 to 300 s, RACK.min_RTT [§6.2 step 1].
#[derive(Clone, Copy, Debug)]
struct RecentMin {
    /// The minima of the current half and of the previous one.
    now: Duration,
    before: Duration,
    since: Time,
}

impl Default for RecentMin {
    fn default() -> RecentMin {
        RecentMin { now: Duration::MAX, before: Duration::MAX, since: Time::ZERO }
    }
}

impl RecentMin {
    fn sample(&mut self, rtt: Duration, now: Time) {
        if now.since(self.since) >= HALF_WINDOW {
            self.before = self.now;
            self.now = Duration::MAX;
            self.since = now;
        }
        self.now = self.now.min(rtt);
    }

    /// Returns the smallest round-trip time, or `Duration::MAX` without a sample.
    fn get(&self) -> Duration {
        self.now.min(self.before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Duration = Duration::from_ms;

    fn at(ms: u64) -> Time {
        Time::ZERO + MS(ms)
    }

    /// Ten packets a millisecond apart. The first is acknowledged after 100 ms.
    fn rack() -> Rack {
        let mut rack = Rack::new(0);
        (0..10).for_each(|i| rack.send(at(i)));
        rack.on_echo(at(0), at(100));
        rack.acknowledge(1, at(0), at(100));
        rack.end_of_ack(at(100));
        rack
    }

    fn sack(rack: &mut Rack, i: u64, now: Time) {
        let echo = rack.packets[i as usize].sent;
        rack.on_echo(echo, now);
        rack.sack(i, i + 1, echo, now);
        rack.end_of_ack(now);
    }

    /// §6.2 step 4.
    #[test]
    fn the_window_is_a_quarter_of_the_smallest_round_trip_or_nothing() {
        let mut rack = rack();
        assert_eq!(rack.window(2, false, MS(100)), MS(25));
        assert_eq!(rack.window(3, false, MS(100)), Duration::ZERO);
        assert_eq!(rack.window(0, true, MS(100)), Duration::ZERO);
        // A packet that was sent once arrives below the highest one.
        sack(&mut rack, 4, at(105));
        sack(&mut rack, 2, at(106));
        assert_eq!(rack.window(3, true, MS(100)), MS(25));
    }

    /// §6.2 step 4: (N + 1)·min_RTT/4 after N round trips with a DSACK, at most SRTT, and the
    /// initial value after 16 recoveries without one.
    #[test]
    fn round_trips_with_duplicates_widen_the_window_for_sixteen_recoveries() {
        let mut rack = rack();
        for n in 1..=5 {
            rack.grow_window(rack.first + 5);
            rack.grow_window(rack.first + 5);
            let expected = MS(25 * (n + 1)).min(MS(110));
            assert_eq!(rack.window(0, false, MS(110)), expected, "once a round trip");
            (0..5).for_each(|_| rack.send(at(200)));
            rack.acknowledge(5, at(200), at(300));
        }
        for _ in 0..15 {
            rack.recovering = true;
            rack.recovered();
        }
        assert_eq!(rack.window(0, false, MS(500)), MS(150));
        rack.recovering = true;
        rack.recovered();
        assert_eq!(rack.window(0, false, MS(500)), MS(25));
    }

    /// §6.2 step 2: a possible acknowledgement of an earlier transmission is ignored.
    #[test]
    fn an_echo_of_the_first_transmission_is_no_sample_of_the_second() {
        let mut rack = rack();
        rack.send_again(0, at(150));
        let newest = rack.newest;
        rack.on_echo(at(1), at(151));
        rack.acknowledge(1, at(1), at(151));
        rack.end_of_ack(at(151));
        assert_eq!(rack.newest, newest);
        assert_eq!(rack.rtt, MS(100));
    }

    /// §6.2 step 3: the arrival of a retransmission below the highest packet is not reordering.
    #[test]
    fn a_repair_that_arrives_is_no_reordering() {
        for again in [true, false] {
            let mut rack = rack();
            sack(&mut rack, 4, at(105));
            if again {
                rack.send_again(2, at(110));
            }
            sack(&mut rack, 2, at(215));
            let window = rack.window(3, true, MS(100));
            assert_eq!(window == Duration::ZERO, again);
        }
    }

    /// The echo of the first transmission shows that the packet was late, although it was sent again.
    #[test]
    fn a_repair_does_not_hide_reordering() {
        let mut rack = rack();
        sack(&mut rack, 4, at(105));
        let first = rack.packets[2].sent;
        rack.send_again(2, at(110));
        rack.sack(2, 3, first, at(112));
        rack.end_of_ack(at(112));
        assert_eq!(rack.window(3, true, MS(100)), MS(25));
    }

    /// §6.2 step 2: either condition suffices: an echo from before the second transmission, or less
    /// than the smallest round-trip time since then.
    #[test]
    fn either_sign_of_the_first_transmission_is_enough() {
        for (echo, now, counts) in [(1, 300, false), (150, 249, false), (150, 250, true)] {
            let mut rack = rack();
            rack.send_again(0, at(150));
            let newest = rack.newest;
            // This omits `on_echo`, so the smallest round-trip time is 100 ms.
            rack.acknowledge(1, at(echo), at(now));
            rack.end_of_ack(at(now));
            assert_eq!(rack.newest != newest, counts, "{echo} {now}");
        }
    }

    /// §6.2 step 5: the timer is for the last packet that waits.
    #[test]
    fn packets_are_lost_a_window_after_their_round_trip() {
        let mut rack = rack();
        sack(&mut rack, 3, at(104));
        let mut lost = Vec::new();
        // Packets 1, 2 and 3 were sent after 1, 2 and 3 ms. Packet 4 arrived after 100 ms.
        let timer = rack.detect(MS(25), at(127), |i| lost.push(i));
        assert_eq!(lost, [0, 1], "packets 1 and 2");
        assert_eq!(timer, Some(at(128)));
        assert_eq!(rack.detect(MS(25), at(127), |_| panic!("reported before")), timer);
        assert_eq!(rack.detect(MS(25), at(128), |i| assert_eq!(i, 2)), None);
    }

    /// §6.3.
    #[test]
    fn a_timeout_takes_the_first_packet_and_what_is_overdue() {
        let mut rack = rack();
        sack(&mut rack, 3, at(104));
        let mut lost = Vec::new();
        rack.time_out(Duration::ZERO, at(102), |i| lost.push(i));
        assert_eq!(lost, [0, 1]);
    }

    /// §6.2 step 1: a longer path counts after 300 s.
    #[test]
    fn the_smallest_round_trip_time_is_forgotten() {
        let mut min = RecentMin::default();
        min.sample(MS(10), at(0));
        min.sample(MS(40), at(149_000));
        min.sample(MS(40), at(151_000));
        assert_eq!(min.get(), MS(10));
        min.sample(MS(40), at(302_000));
        assert_eq!(min.get(), MS(40));
    }
}
