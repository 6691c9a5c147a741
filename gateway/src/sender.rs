//! The sending half of a tunnel: it decides when a packet may be sent, and when a control message
//! is sent.
//!
//! The pace is that of the controller or, without control, the cap: `docs/src/gateway/design.md` has the
//! states of the other end. In mode bypass there is no pace. A sender acts as of the time at which its work
//! was due, up to [`BURST`] ago. So a machine that wakes late keeps the rate, but sends no more than that
//! amount at once.

use crate::breaker::Breaker;
use crate::config::{Mode, PeerConfig};
use crate::message::{Answer, Count, Half, Message};
use accord_control::{AnyController, Controller, Report, Sending};
use accord_family::Service;
use accord_transport::tunnel::{Ingress, repair};
use accord_transport::{Pacer, Segment, View};
use accord_units::{Bytes, Duration, Rate, Time, words};

/// The longest delay that a sender makes up for.
pub const BURST: Duration = Duration::from_ms(1);
/// The shortest round trip for the controller. Reports that come sooner wait until then. On a path of
/// microseconds a pair per round trip would cost more than the data, and most of the measured delay would be
/// the lateness of threads.
const ROUND: Duration = Duration::from_ms(2);
/// The time from one probe to the next while the peer is unknown.
const FIRST_PROBE: Duration = Duration::from_ms(100);
/// The pause of data before each of those probes. A tunnel that sends more than the path carries keeps the
/// buffer full, and a probe that always follows a packet would always find it full.
const PAUSE: Duration = Duration::from_ms(5);
/// The time from one probe to the next while there is nothing to send, and its maximum, if the peer
/// is plain WireGuard.
const PROBE: Duration = Duration::from_secs(1);
const LONGEST_PROBE: Duration = Duration::from_secs(16);
/// The time after the first probe at which an unresponsive peer counts as plain WireGuard. By then
/// a session that does not work has been restarted.
const PLAIN: Duration = Duration::from_secs(8);
/// The time without reports after which the controller is ignored, and the same in round trips.
const BLIND: Duration = Duration::from_secs(2);
const BLIND_ROUNDS: f64 = 8.0;
/// The least fraction of its limit that a tunnel has queued while the limit holds it.
const AT_LIMIT: f64 = 0.9;

words! {
    /// The state of the other end.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum State by word {
        /// Nothing yet.
        Unknown = "unknown",
        /// No answers to probes: plain WireGuard.
        Plain = "plain",
        /// Reports arrive.
        Controlled = "controlled",
        /// Reports stopped, although data is sent.
        Blind = "blind",
    }
}

/// The next action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Send this control message.
    Message(Message),
    /// Send the next packet.
    Data,
    /// Ask again at this time, or when something arrives.
    Wait(Time),
}

/// The sending half of a tunnel.
#[derive(Debug)]
pub struct Sender {
    ingress: Ingress<AnyController>,
    /// The service: its contract and its limit.
    service: Service,
    /// True if the limit of the service held the tunnel below its contract as of the latest report.
    pub at_limit: bool,
    /// The cap of the site file.
    pub cap: Rate,
    cap_pacer: Pacer,
    /// The mode.
    pub mode: Mode,
    /// The most virtual delay that counts.
    pub most_virtual: Duration,
    /// The state of the other end.
    pub state: State,
    /// The run of this sender, by which the other end distinguishes it from earlier runs of the same
    /// gateway.
    run: u32,
    /// The time of the latest report on data.
    reported: Time,
    /// The time of the latest answer of the other end to anything that was sent from here.
    pub(crate) answered: Time,
    /// The latest report.
    pub latest: Option<Answer>,
    /// The virtual delay in the latest report in seconds, as far as it counts.
    virtual_s: f64,
    /// The number of the latest pair, and the earliest time at which its report counts.
    pair: (u64, Time),
    /// The bytes that were in flight when the latest pair was sent.
    ahead: u64,
    /// A report that came before that time.
    early: Option<Answer>,
    /// The time since which data is unreported, if any.
    unreported: Option<Time>,
    /// The time since which the sender is blind, or since the breaker was re-armed while it was.
    blind: Option<Time>,
    /// The time of the first probe, and that of the next one.
    first_probe: Option<Time>,
    next_probe: Time,
    probe_wait: Duration,
    /// True if the in-band half of a probe must follow its out-of-band half.
    in_band: bool,
    /// The due time of the next packet, which makes the sender independent of lateness.
    planned: Option<Time>,
    /// The number of pairs that reported a loss.
    pub losses: u64,
    /// The circuit breaker.
    pub breaker: Breaker,
}

impl Sender {
    /// Creates a sender for packets of at most `packet` bytes. `run` differs after each start.
    pub fn new(
        controller: AnyController,
        sending: Sending,
        packet: Bytes,
        peer: &PeerConfig,
        run: u32,
    ) -> Sender {
        let mut sender = Sender {
            ingress: Ingress::new(controller, packet, sending),
            service: Service::default(),
            at_limit: false,
            cap: peer.cap,
            cap_pacer: Pacer::default(),
            mode: peer.mode,
            most_virtual: peer.most_virtual(),
            state: State::Unknown,
            run,
            reported: Time::ZERO,
            answered: Time::ZERO,
            latest: None,
            virtual_s: 0.0,
            pair: (0, Time::ZERO),
            ahead: 0,
            early: None,
            unreported: None,
            blind: None,
            first_probe: None,
            next_probe: Time::ZERO,
            probe_wait: FIRST_PROBE,
            in_band: false,
            planned: None,
            losses: 0,
            breaker: Breaker::new(peer.breaker, packet),
        };
        sender.set_service(&peer.service);
        sender
    }

    /// Changes the service of the tunnel.
    pub fn set_service(&mut self, service: &Service) {
        (self.service, self.at_limit) = (*service, false);
        self.ingress.set_service(service);
    }

    /// Changes the mode, and re-arms the circuit breaker.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        self.breaker.arm();
        (self.planned, self.blind) = (None, None);
    }

    /// Returns the action at `now`. `head` is the size of the next packet, and `waiting` the number of
    /// waiting packets, including this one.
    pub fn next(&mut self, head: Option<Bytes>, waiting: u64, now: Time) -> Next {
        if self.mode == Mode::Bypass {
            return match head {
                Some(size) => {
                    self.ingress.pass(size, now);
                    Next::Data
                }
                None => Next::Wait(Time::MAX),
            };
        }
        if let Some(probe) = self.probe(now) {
            return Next::Message(probe);
        }
        if self.state == State::Unknown && self.next_probe.since(now) < PAUSE {
            self.planned = None;
            return Next::Wait(self.next_probe);
        }
        if now >= self.pair.1
            && let Some(answer) = self.early.take()
        {
            self.apply(&answer, now);
        }
        self.look(now);
        let controlled = matches!(self.state, State::Controlled | State::Blind);
        // Late work counts from its due time.
        let at = match self.planned {
            Some(due) if head.is_some() => due.max(before(now)).min(now),
            _ => now,
        };
        let capped = self.cap_pacer.next() > at;
        let mut wake = self.next_probe;
        if self.early.is_some() {
            wake = wake.min(self.pair.1);
        }
        if controlled {
            self.ingress.on_wake(now);
            // If only the cap holds back data, the tunnel has too little to send from the controller's point
            // of view.
            let cap_binds = capped && self.ingress.next_data() <= at;
            let offered = if cap_binds { 0 } else { waiting };
            self.ingress.set_waiting(offered);
            let size = head.unwrap_or(Bytes::new(1));
            match self.ingress.poll_sized(size, at) {
                Ok(Segment::Data { .. }) => return self.release(size, at, true),
                Ok(Segment::OutOfBand { pair, .. }) => {
                    self.pair = (pair, now + ROUND);
                    self.ahead = self.ingress.in_flight();
                    return Next::Message(Message::OutOfBand(self.half(pair, now)));
                }
                Ok(Segment::InBand { pair, sent_bytes, .. }) => {
                    let half = self.half(pair, now);
                    return Next::Message(Message::InBand(half, sent_bytes, self.wait()));
                }
                Ok(_) => {}
                Err(again) => {
                    wake = wake.min(self.ingress.next_wake());
                    if self.is_held() && !cap_binds && head.is_some() && again > at {
                        self.planned = Some(again).filter(|t| *t < Time::MAX);
                        return match again <= now {
                            // The packet became due while this machine was late.
                            true => self.next(head, waiting, now),
                            false => Next::Wait(wake.min(again)),
                        };
                    }
                }
            }
        }
        let Some(size) = head else {
            self.planned = None;
            return Next::Wait(wake);
        };
        if capped {
            let again = self.cap_pacer.next();
            self.planned = Some(again);
            return if again <= now {
                self.next(head, waiting, now)
            } else {
                Next::Wait(wake.min(again))
            };
        }
        self.release(size, at, false)
    }

    /// Releases a packet, which the ingress may or may not have counted.
    fn release(&mut self, size: Bytes, at: Time, counted: bool) -> Next {
        if !counted {
            self.ingress.pass(size, at);
        }
        self.cap_pacer.sent(at, size, self.cap());
        self.planned = Some(at);
        self.unreported.get_or_insert(at);
        Next::Data
    }

    /// Returns whether the controller holds back packets.
    fn is_held(&self) -> bool {
        self.mode == Mode::Enforce && self.state == State::Controlled
    }

    /// Returns whether lost packets are sent again.
    pub fn repairs(&self) -> bool {
        self.mode == Mode::Enforce && self.service.contract > Rate::ZERO
    }

    /// Returns the longest time in seconds that packets wait at the other end for others of their flow that
    /// are sent again.
    fn wait(&self) -> f32 {
        let wait = repair::longest_wait(self.round_trip());
        if self.repairs() { wait.as_secs_f64() as f32 } else { 0.0 }
    }

    fn half(&self, number: u64, now: Time) -> Half {
        Half { run: self.run, number, sent: now.as_ps() }
    }

    /// Returns a half of a probe if one is due. A tunnel with its own pairs needs no probes.
    fn probe(&mut self, now: Time) -> Option<Message> {
        if std::mem::take(&mut self.in_band) {
            return Some(Message::InBand(self.half(0, now), 0, self.wait()));
        }
        if now < self.next_probe {
            return None;
        }
        let first = *self.first_probe.get_or_insert(now);
        if self.state == State::Unknown && now.since(first) >= PLAIN {
            (self.state, self.probe_wait) = (State::Plain, PROBE);
        }
        if self.state == State::Plain {
            self.probe_wait = (self.probe_wait * 2).min(LONGEST_PROBE);
        }
        self.next_probe = now + self.probe_wait;
        self.in_band = true;
        Some(Message::OutOfBand(self.half(0, now)))
    }

    /// Detects that no reports come although data is sent.
    fn look(&mut self, now: Time) {
        let round = self.ingress.round_trip().smoothed();
        let patience = BLIND.max(round.mul_f64(BLIND_ROUNDS));
        let silent = self.unreported.is_some_and(|since| now.since(since) >= patience);
        if self.state == State::Controlled && silent && now.since(self.reported) >= patience {
            self.state = State::Blind;
        }
        if self.state == State::Blind {
            let since = *self.blind.get_or_insert(now);
            self.breaker.on_silence(now.since(since), now);
        }
    }

    /// Takes a report of the other end.
    pub fn on_report(&mut self, answer: &Answer, now: Time) {
        if answer.run != self.run {
            return;
        }
        (self.first_probe, self.probe_wait) = (None, PROBE);
        self.answered = now;
        if answer.number == 0 {
            // The peer is a gateway, so pairs may be sent. They may go unanswered.
            if matches!(self.state, State::Unknown | State::Plain) {
                self.state = State::Controlled;
                self.unreported = None;
            }
            return;
        }
        self.state = State::Controlled;
        self.reported = now;
        (self.unreported, self.blind) = (None, None);
        self.next_probe = now + PROBE;
        self.losses += u64::from(answer.lost);
        self.latest = Some(*answer);
        if answer.number == self.pair.0 && now < self.pair.1 {
            self.early = Some(*answer)
        } else {
            self.apply(answer, now)
        }
    }

    /// Takes a count of the other end. Counts are cumulative, so a lost one costs only time.
    /// Ignores a count of another run, or one below an earlier count.
    pub fn on_count(&mut self, count: &Count) {
        if count.run == self.run {
            self.ingress.on_count(count.received, self.virtual_s);
        }
    }

    /// Passes a report to the controller.
    fn apply(&mut self, answer: &Answer, now: Time) {
        // The backlog cannot exceed the data that was in flight when the pair was sent or since. A delay
        // outside the network, such as that of a thread that waits for its processor, times a high rate would
        // appear to be more.
        let most = self.ahead.max(self.ingress.in_flight()) as f64;
        // The virtual delay may exceed that, up to the bound in the site file. The field is not
        // authenticated, so it does not count below the contract.
        let egress = f64::from(answer.egress_bps) / 8.0;
        let reported = f64::from(answer.virtual_delay);
        let below = egress * 8.0 < self.service.contract.as_bps_f64();
        let virtual_s = if below { 0.0 } else { reported.min(self.most_virtual.as_secs_f64()) };
        self.virtual_s = virtual_s;
        let queued = f64::from(answer.accumulation) - egress * reported;
        let report = Report {
            number: answer.number,
            accumulation: queued.clamp(0.0, most) + egress * virtual_s,
            egress_rate: Rate::from_bps_f64(f64::from(answer.egress_bps)),
            virtual_delay: Duration::from_secs_f64(virtual_s),
            lost: answer.lost,
            lost_bytes: Bytes::ZERO,
            received: answer.received,
        };
        let limit = self.service.limit.map_or(f64::INFINITY, Bytes::as_f64);
        self.at_limit = below && report.accumulation >= AT_LIMIT * limit;
        self.ingress.on_report(&report, now);
        let (lost, arrived) = (self.ingress.lost(), self.ingress.arrived());
        self.breaker.on_report(lost, arrived, now);
        // A report may release packets that were waiting.
        if self.is_held() {
            self.planned = None;
        }
    }

    /// The bytes of data known to be lost, and those known to have arrived.
    pub fn losses_and_arrivals(&self) -> (u64, u64) {
        (self.ingress.lost(), self.ingress.arrived())
    }

    /// The smoothed round-trip time, or zero before the first measurement.
    pub fn round_trip(&self) -> Duration {
        self.ingress.round_trip().smoothed()
    }

    /// The number of pairs that were not answered in time.
    pub fn timeouts(&self) -> u64 {
        self.ingress.timeouts()
    }

    /// Returns the time for which data has been unreported, if any.
    pub(crate) fn unreported_for(&self, now: Time) -> Option<Duration> {
        self.unreported.map(|since| now.since(since))
    }

    /// Sends a probe as soon as possible, because the path has changed.
    pub(crate) fn probe_now(&mut self, now: Time) {
        self.next_probe = self.next_probe.min(now);
    }

    /// The data bytes sent.
    pub fn sent(&self) -> u64 {
        self.ingress.sent()
    }

    /// The rate at which the tunnel may send: the controller's, also in mode shadow, but at most
    /// the cap.
    pub fn rate(&self) -> Rate {
        let (rate, cap) = (self.ingress.controller().allowance().pacing, self.cap());
        match self.state {
            State::Controlled => rate.unwrap_or(cap).min(cap),
            _ => cap,
        }
    }

    /// The highest rate at which the tunnel may send. In mode shadow a tripped breaker is only reported.
    fn cap(&self) -> Rate {
        if self.breaker.is_tripped() && self.mode == Mode::Enforce {
            self.breaker.config.rate.min(self.cap)
        } else {
            self.cap
        }
    }

    /// The state of the controller.
    pub fn view(&self) -> View {
        let controller = self.ingress.controller();
        View {
            cwnd: Some(controller.cwnd()),
            ssthresh: controller.ssthresh(),
            pacing: controller.allowance().pacing,
            rtt: Some(self.ingress.round_trip().smoothed()).filter(|d| !d.is_zero()),
            min_rtt: Some(self.ingress.round_trip().min()).filter(|d| *d < Duration::MAX),
            accumulation: controller.accumulation_estimate(),
            retransmissions: 0,
        }
    }
}

/// Returns the time that is [`BURST`] before `now`.
fn before(now: Time) -> Time {
    Time::from_ps(now.as_ps().saturating_sub(BURST.as_ps()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Site, parse};
    use crate::peer::{Control, Peer};
    use proptest::prelude::*;

    const CAP: f64 = 30e6;

    fn site() -> Site {
        let text = "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n[peer.other]\n\
             public_key = \"haf8eDD/ypezAn0CHgjRihEzTKcDnOg3N5h3n/3mUEo=\"\n\
             networks = [\"10.0.0.0/8\"]\ncap = \"30 Mbps\"\n\
             service = { contract = \"5 Mbps\" }\n";
        parse("", text).expect("a site")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// For any report that fits into a message (rates of 10^12, decreasing bytes and times,
        /// pairs that were never sent), the pace and the data sent are within the cap.
        #[test]
        fn nonsense_moves_the_pace_within_the_cap_only(
            lies in prop::collection::vec(
                (0..4u64, any::<u64>(), 0..4usize, 0..4usize, 0..4usize, any::<bool>()), 1..200,
            ),
        ) {
            let site = site();
            let control = Control::new(&site.interface).expect("a controller");
            let mut sender = Peer::new(&site.peers[0], &site.interface, &control, 1 << 32).sender;
            let size = Bytes::new(1480);
            let (mut now, mut sent) = (Time::ZERO + Duration::from_secs(1), 0u64);
            for (pair, received, queued, rate, delay, lost) in lies {
                let (began, before) = (now, sent);
                let latest = sender.pair.0;
                sender.on_report(
                    &Answer {
                        run: 1,
                        // The latest pair, earlier ones and those that were never sent.
                        number: (latest + 1).saturating_sub(pair),
                        received: [received, sent, sent / 2, 0][queued],
                        accumulation: [0.0, 1e11, 4440.0, 1e-30][queued],
                        egress_bps: [0.0, 1e12, 2e7, 1e-30][rate],
                        queued: [0.0, 60.0, 1e-3, 1e-30][delay],
                        virtual_delay: [0.0, 1e-3, 60.0, 1e-30][delay],
                        lost,
                        by_delay: lost,
                    },
                    now,
                );
                sender.on_count(&Count {
                    run: 1,
                    received: [received, sent, sent / 2, 0][delay],
                });
                // 50 ms in which data always waits.
                while now.since(began) < Duration::from_ms(50) {
                    match sender.next(Some(size), 1000, now) {
                        Next::Data => sent += size.get(),
                        Next::Message(_) => {}
                        Next::Wait(until) => {
                            prop_assert!(until > now, "it waits for a past time");
                            now = until.min(now + Duration::from_ms(1));
                        }
                    }
                }
                let bits = (sent - before) as f64 * 8.0;
                let burst = 2.0 * 1480.0 * 8.0 + CAP * 1e-3;
                let seconds = now.since(began).as_secs_f64();
                prop_assert!(bits <= CAP * seconds + burst, "{bits} bits in {seconds} s");
                if sender.state == State::Controlled && !sender.breaker.is_tripped() {
                    let pace = sender.rate().as_bps_f64();
                    prop_assert!((0.0..=CAP).contains(&pace), "{pace} bit/s");
                }
            }
        }
    }
}
