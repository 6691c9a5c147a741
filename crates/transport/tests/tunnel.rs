//! Tunnels whose control packets are lost, delayed and doubled.

mod common;
#[path = "../../aqm/tests/common/any_values.rs"]
mod values;

use accord_control::{AnyController, Controller, Maker, Report, Transport};
use accord_family::Values;
use accord_transport::{Segment, tunnel};
use accord_units::{Bytes, Duration, Rate, Time};
use common::*;
use proptest::prelude::*;

const RATE: Rate = Rate::from_bps(10_000_000);

/// An ingress and an egress; data and in-band control packets share a line of 10 Mbps.
struct World {
    now: Time,
    ingress: tunnel::Ingress,
    egress: tunnel::Egress,
    /// Data there, control there, reports back; and whether it is a copy.
    air: [Air<(Segment, bool)>; 3],
    weather: [Weather; 3],
    dice: [Dice; 3],
    line_free: Time,
    /// Each control packet and report is followed by a copy, so much later.
    copies: Option<Duration>,
    sent: Vec<Time>,
    arrived: u64,
    /// The number of reports that came back.
    reports: u64,
}

const DATA: usize = 0;
const CONTROL: usize = 1;
const REPORT: usize = 2;

impl World {
    fn new(values: &Values, packets: u64, weather: [Weather; 3], seed: u64) -> World {
        let controller = AnyController::build(values, PACKET);
        let Transport::Tunnel { sending, meter } = Maker::of(values.family()).transport else {
            panic!("it runs on a tunnel")
        };
        let mut ingress = tunnel::Ingress::new(controller, PACKET, sending(values));
        ingress.supply(packets);
        World {
            now: Time::ZERO,
            ingress,
            egress: tunnel::Egress::new(meter(values)),
            air: [Air::new(), Air::new(), Air::new()],
            weather,
            dice: [Dice(seed), Dice(seed ^ 1), Dice(seed ^ 2)],
            line_free: Time::ZERO,
            copies: None,
            sent: Vec::new(),
            arrived: 0,
            reports: 0,
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

    fn poll(&mut self) -> Time {
        for _ in 0..1_000_000 {
            match self.ingress.poll(self.now) {
                Err(again) => {
                    assert!(again > self.now, "ask again later, not at once");
                    return again;
                }
                Ok(data @ Segment::Data { .. }) => {
                    self.sent.push(self.now);
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
            assert!(
                deadline < Time::MAX,
                "data are outstanding and no timer is pending"
            );
            let (at, way) = (0..3)
                .filter_map(|way| Some((self.air[way].next()?, way)))
                .min()
                .unwrap_or((Time::MAX, 0));
            self.now = at.min(deadline).min(again);
            let copy = at == self.now && self.arrive(way);
            if at != self.now {
                self.ingress.on_wake(self.now);
            }
            // Nobody asks because of a copy.
            if !copy {
                again = self.poll();
            }
        }
        panic!("it never ends");
    }

    /// Gives whether it was a copy.
    fn arrive(&mut self, way: usize) -> bool {
        let (segment, copy) = self.air[way].take().expect("it is there");
        match segment {
            Segment::Data { .. } => {
                self.arrived += 1;
                self.egress.on_data(PACKET, self.now);
            }
            Segment::OutOfBand { pair, sent } => self.egress.on_out_of_band(pair, sent, self.now),
            Segment::InBand {
                pair,
                sent_bytes,
                virtual_delay,
            } => {
                let (now, truth) = (self.now, Some(0.0));
                let report = self
                    .egress
                    .on_in_band(pair, sent_bytes, virtual_delay, truth, now);
                if let Some(report) = report {
                    self.send(REPORT, report);
                }
            }
            Segment::Report {
                pair,
                accumulation,
                lost,
                egress_bps,
                virtual_s,
                received,
            } => {
                self.reports += 1;
                let accumulation = f64::from(accumulation);
                assert!(
                    accumulation.is_finite() && accumulation >= 0.0,
                    "{accumulation}"
                );
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
            Segment::Ack { .. } => panic!("a tunnel does not acknowledge"),
        }
        copy
    }

    /// Delivers the packets that were on their way when all was done.
    fn late(&mut self) {
        while let Some((at, way)) = (0..3)
            .filter_map(|way| Some((self.air[way].next()?, way)))
            .min()
        {
            self.now = at;
            self.arrive(way);
        }
    }

    fn complete(&self, packets: u64) {
        assert_eq!(self.sent.len() as u64, packets);
        assert_eq!(self.ingress.sent(), packets * PACKET.get());
        assert_eq!(
            self.egress.received(),
            Bytes::new(self.arrived * PACKET.get())
        );
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

    /// A second copy of a control packet says nothing new: what is sent, and when, is as if
    /// there were none.
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
