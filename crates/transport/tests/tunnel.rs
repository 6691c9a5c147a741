//! Tunnels whose control packets are lost, delayed and doubled.

use crate::common::*;
use accord_control::{AnyController, Controller, FAMILIES, Maker, Report, Transport};
use accord_family::{Raw, Values};
use accord_transport::{Segment, tunnel};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;
use std::ops::Range;

const RATE: Rate = Rate::from_bps(10_000_000);

/// An ingress and an egress; data and in-band control packets share a line of 10 Mbps.
struct World {
    now: Time,
    ingress: tunnel::Ingress,
    egress: tunnel::Egress,
    /// Data out, control out, reports back; true for a copy.
    air: [Air<(Segment, bool)>; 3],
    weather: [Weather; 3],
    dice: [Dice; 3],
    line_free: Time,
    /// The delay after which a copy of each control packet and report follows, if any does.
    copies: Option<Duration>,
    sent: Vec<Time>,
    arrived: u64,
    /// The number of reports and counts that came back.
    reports: u64,
    /// The time in which all counts are lost.
    silence: Range<Time>,
    /// The most bytes that were outstanding beyond the window when data was sent.
    most: u64,
}

const DATA: usize = 0;
const CONTROL: usize = 1;
const REPORT: usize = 2;

impl World {
    fn new(values: &Values, packets: u64, weather: [Weather; 3], seed: u64) -> World {
        let controller = AnyController::build(values, PACKET);
        let Transport::Tunnel { sending, meter, counts } = Maker::of(values.family()).transport
        else {
            panic!("it runs on a tunnel")
        };
        let mut ingress = tunnel::Ingress::new(controller, PACKET, sending(values));
        ingress.supply(packets);
        World {
            now: Time::ZERO,
            ingress,
            egress: tunnel::Egress::new(meter(values), counts(values)),
            air: [Air::new(), Air::new(), Air::new()],
            weather,
            dice: [Dice(seed), Dice(seed ^ 1), Dice(seed ^ 2)],
            line_free: Time::ZERO,
            copies: None,
            sent: Vec::new(),
            arrived: 0,
            reports: 0,
            silence: Time::ZERO..Time::ZERO,
            most: 0,
        }
    }

    fn send(&mut self, way: usize, segment: Segment) {
        let at = match segment {
            Segment::Data { .. } | Segment::InBand { .. } => {
                let queued = self.line_free.since(self.now);
                if matches!(segment, Segment::Data { .. }) {
                    self.line_free = self.now + queued + RATE.transmission(PACKET);
                }
                self.now + queued
            }
            _ => self.now,
        };
        let (weather, dice) = (self.weather[way], &mut self.dice[way]);
        self.air[way].send((segment, false), at, &weather, dice);
        if let Some(later) = self.copies.filter(|_| way != DATA) {
            self.air[way].send((segment, true), at + later, &weather, dice);
        }
    }

    /// The bytes outstanding beyond the window.
    fn over(&self) -> u64 {
        let window = self.ingress.controller().allowance().window;
        self.ingress.in_flight().saturating_sub(window.get())
    }

    fn poll(&mut self) -> Time {
        for _ in 0..1_000_000 {
            match self.ingress.poll(self.now) {
                Err(again) => {
                    assert!(again > self.now, "ask again later, not at once");
                    return again;
                }
                Ok(data @ Segment::Data { .. }) => {
                    self.sent.push(self.now);
                    self.most = self.most.max(self.over());
                    self.send(DATA, data);
                }
                Ok(control) => self.send(CONTROL, control),
            }
        }
        panic!("it never stops sending");
    }

    /// Runs until all that was to be sent has arrived or is known to be lost.
    fn run(&mut self) {
        let mut again = self.poll();
        for _ in 0..1_000_000 {
            let deadline = self.ingress.next_wake();
            let (rate, window) = (
                self.ingress.controller().allowance().pacing,
                self.ingress.controller().allowance().window,
            );
            assert!(rate != Some(Rate::ZERO) && window >= PACKET);
            if self.ingress.is_done() {
                return;
            }
            assert!(deadline < Time::MAX, "data are outstanding and no timer is pending");
            let (at, way) = (0..3)
                .filter_map(|way| Some((self.air[way].next()?, way)))
                .min()
                .unwrap_or((Time::MAX, 0));
            self.now = at.min(deadline).min(again);
            let copy = at == self.now && self.arrive(way);
            if at != self.now {
                self.ingress.on_wake(self.now);
            }
            // A copy does not cause a poll.
            if !copy {
                again = self.poll();
            }
        }
        panic!("it never ends");
    }

    /// Returns true if it was a copy.
    fn arrive(&mut self, way: usize) -> bool {
        let (segment, copy) = self.air[way].take().expect("it is there");
        match segment {
            Segment::Data { .. } => {
                self.arrived += 1;
                if let Some(count) = self.egress.on_data(PACKET, 0.0, self.now) {
                    self.send(REPORT, count);
                }
            }
            Segment::OutOfBand { pair, sent } => self.egress.on_out_of_band(pair, sent, self.now),
            Segment::InBand { pair, sent_bytes } => {
                let (now, truth) = (self.now, Some(0.0));
                let report = self.egress.on_in_band(pair, sent_bytes, Duration::ZERO, truth, now);
                if let Some(report) = report {
                    self.send(REPORT, report);
                }
            }
            Segment::Report { pair, accumulation, lost, egress_bps, virtual_s, received } => {
                self.reports += 1;
                let accumulation = f64::from(accumulation);
                assert!(accumulation.is_finite() && accumulation >= 0.0, "{accumulation}");
                let report = Report {
                    number: pair,
                    accumulation,
                    egress_rate: Rate::from_bps_f64(f64::from(egress_bps)),
                    virtual_delay: Duration::from_secs_f64(f64::from(virtual_s)),
                    lost,
                    lost_bytes: Bytes::ZERO,
                    received,
                };
                self.ingress.on_report(&report, self.now);
            }
            Segment::Missing { .. } => unreachable!("this tunnel repairs nothing"),
            Segment::Count { received, virtual_s } => {
                self.reports += 1;
                if !self.silence.contains(&self.now) {
                    self.ingress.on_count(received, f64::from(virtual_s));
                }
            }
            Segment::Ack { .. } => panic!("a tunnel has counts and reports"),
        }
        copy
    }

    /// Delivers the packets that were on their way when all was done.
    fn late(&mut self) {
        while let Some((at, way)) =
            (0..3).filter_map(|way| Some((self.air[way].next()?, way))).min()
        {
            self.now = at;
            self.arrive(way);
        }
    }

    fn complete(&self, packets: u64) {
        assert_eq!(self.sent.len() as u64, packets);
        assert_eq!(self.ingress.sent(), packets * PACKET.get());
        assert_eq!(self.egress.received(), Bytes::new(self.arrived * PACKET.get()));
    }
}

/// The parameters of Monaco with some of them changed.
fn monaco(changes: &[(&str, Raw)]) -> Values {
    let family = FAMILIES.iter().find(|f| f.name == "monaco").expect("known");
    let mut values = family.defaults();
    for (name, raw) in changes {
        values.set(name, raw).expect("in range");
    }
    values
}

/// Counts are cumulative, and reports count, too. So a second without any counts costs time and no
/// data, and no more is sent than before.
#[test]
fn a_second_without_counts_makes_a_tunnel_slower_and_nothing_else() {
    for law in ["accord", "xia05", "har02"] {
        let values = monaco(&[("law", Raw::Text(law.into()))]);
        let run = |silence| {
            let mut world = World::new(&values, 10_000, [Weather::FAIR; 3], 1);
            world.silence = silence;
            world.run();
            world.complete(10_000);
            assert_eq!((world.arrived, world.most), (10_000, 0), "{law}");
            world
        };
        let second = |from| {
            let from = Time::ZERO + Duration::from_secs(from);
            from..from + Duration::from_secs(1)
        };
        let within = |world: &World, span: &Range<Time>| {
            let sent = world.sent.iter().filter(|at| span.contains(at));
            sent.count()
        };
        let (heard, silent) = (run(Time::ZERO..Time::ZERO), run(second(3)));
        // 10 Mbps are 1250 packets per second. One report per round trip lets go what arrived.
        let (all, some) = (within(&heard, &second(3)), within(&silent, &second(3)));
        assert!(all > 1200, "{law}: {all}");
        assert!((all / 4..=all).contains(&some), "{law}: {some} of {all}");
        // With counts again it is as fast as before.
        let again = within(&silent, &second(6));
        assert!(again > 1200, "{law}: {again}");
        assert!(silent.now >= heard.now, "{law}");
    }
}

proptest! {
    #[test]
    fn it_always_ends_whatever_the_network_does(
        values in any_controller(false),
        packets in 1..200u64,
        weather in [foul(), foul(), foul()],
        seed: u64,
    ) {
        let mut world = World::new(&values, packets, weather, seed);
        world.run();
        world.complete(packets);
    }

    /// Half of the control packets lost: all data is sent, and control goes on.
    #[test]
    fn half_of_the_control_packets_may_be_lost(
        values in any_controller(false),
        seed: u64,
    ) {
        let half = Weather { loss: 0.5, ..Weather::FAIR };
        let mut world = World::new(&values, 200, [Weather::FAIR, half, half], seed);
        world.run();
        world.complete(200);
        prop_assert_eq!(world.arrived, 200);
    }

    /// Whatever happens to data, pairs, reports and counts, no data is sent that makes more outstanding
    /// than the window.
    #[test]
    fn no_more_is_outstanding_than_the_window(
        law in prop::sample::select(vec!["accord", "xia05", "har02"]),
        counts in 1..40u8,
        weather in [foul(), foul(), foul()],
        seed: u64,
    ) {
        let values = monaco(&[
            ("law", Raw::Text(law.into())),
            ("counts", Raw::Integer(i64::from(counts))),
        ]);
        let mut world = World::new(&values, 200, weather, seed);
        world.run();
        world.complete(200);
        prop_assert_eq!(world.most, 0);
    }

    /// A second copy of a control packet carries no information: the packets sent, and their times,
    /// are as without it.
    #[test]
    fn copies_of_control_packets_change_nothing(
        values in any_controller(false),
        packets in 1..200u64,
        later in 0..1_000u64,
        seed: u64,
    ) {
        // Without losses, and with the first copy always on time.
        let fair = [Weather::FAIR; 3];
        let mut once = World::new(&values, packets, fair, seed);
        once.run();
        // The answers that come after the last data has been counted.
        once.late();
        let mut doubled = World::new(&values, packets, fair, seed);
        doubled.copies = Some(Duration::from_us(later));
        doubled.run();
        doubled.late();
        prop_assert_eq!(&once.sent, &doubled.sent);
        prop_assert!(doubled.reports > once.reports);
        let (a, b) = (once.ingress.controller(), doubled.ingress.controller());
        prop_assert_eq!(a.allowance(), b.allowance());
        let (a, b) = (once.ingress.round_trip(), doubled.ingress.round_trip());
        prop_assert_eq!(a.smoothed(), b.smoothed());
    }
}
