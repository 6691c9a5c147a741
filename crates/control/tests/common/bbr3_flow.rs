//! A flow of BBRv3 and the samples of its path, one by one.
#![allow(dead_code, reason = "each test file uses its own part")]

use crate::common::{PACKET, path};
use accord_control::bbr3::{Config, State, View};
use accord_control::{Bbr3, Controller, Delivery, Lost, PathView};
use accord_units::{Bytes, Duration, Rate, Time};

/// The bandwidth-delay product of most tests, in bytes.
pub const BDP: u64 = 125_000;
pub const MS: fn(u64) -> Duration = Duration::from_ms;

/// A flow on a path that is not limited by anything but its rate.
pub struct Flow {
    pub bbr: Bbr3,
    pub now: Time,
    pub total: u64,
    pub rtt: Duration,
    pub bdp: u64,
}

impl Flow {
    /// A path of this round-trip time and product.
    pub fn on(rtt: Duration, bdp: u64) -> Flow {
        Flow {
            bbr: Config::default().build(Bytes::new(PACKET)).expect("the defaults"),
            now: Time::ZERO,
            total: 0,
            rtt,
            bdp,
        }
    }

    /// A path of 100 Mbps and 10 ms, once Startup is over and Drain, too.
    pub fn cruising() -> Flow {
        let mut flow = Flow::on(MS(10), BDP);
        flow.fill();
        assert_eq!(flow.round(BDP).state, State::ProbeBwCruise);
        flow
    }

    pub fn rate(&self) -> Rate {
        Rate::from_bps_f64(self.bdp as f64 * 8.0 / self.rtt.as_secs_f64())
    }

    /// The sample at the end of a round trip at the rate of the path: reported by one packet. The
    /// packets were sent with little in flight.
    pub fn sample(&self) -> Delivery {
        Delivery {
            total: self.total + self.bdp,
            acked: PACKET,
            rtt: self.rtt,
            prior: self.total,
            delivered: self.bdp,
            interval: self.rtt,
            rate: self.rate(),
            app_limited: false,
            tx_in_flight: 10 * PACKET,
            lost: 0,
            in_recovery: false,
            window_limited: true,
        }
    }

    /// An acknowledgement of `acked` bytes within a round trip.
    pub fn amid(&self, acked: u64) -> Delivery {
        Delivery { total: self.total + acked, prior: 0, acked, ..self.sample() }
    }

    pub fn ack(&mut self, sample: Delivery, after: Duration, in_flight: u64) -> View {
        self.now += after;
        self.total = sample.total;
        let view = PathView {
            srtt: sample.rtt,
            rtt: sample.rtt,
            in_flight: Bytes::new(in_flight),
            ..path(0)
        };
        self.bbr.on_delivery(&sample, &view, self.now);
        self.bbr.view()
    }

    /// A round trip passes. `in_flight` bytes are in flight at its end.
    pub fn round(&mut self, in_flight: u64) -> View {
        self.ack(self.sample(), self.rtt, in_flight)
    }

    /// Startup, to its end in Drain: each acknowledgement is of a whole round trip, so the window
    /// grows beyond the product.
    pub fn fill(&mut self) {
        for _ in 0..4 {
            let whole = Delivery { acked: self.bdp, ..self.sample() };
            self.ack(whole, self.rtt, 3 * self.bdp);
        }
        assert_eq!(self.bbr.view().state, State::Drain);
        assert!(self.bbr.cwnd().get() >= 2 * self.bdp);
    }

    /// Round trips pass until the flow is in this state. Gives how many.
    pub fn until(&mut self, state: State, in_flight: u64) -> u32 {
        for rounds in 1..200 {
            if self.round(in_flight).state == state {
                return rounds;
            }
        }
        panic!("never {state:?}: {:?}", self.bbr.view());
    }

    /// A packet is lost that made `tx_in_flight` bytes in flight, and of these `lost`.
    pub fn lose(&mut self, tx_in_flight: u64, lost: u64) -> View {
        let packet = Lost {
            number: self.total / PACKET,
            total: self.total,
            size: PACKET,
            tx_in_flight,
            lost,
            app_limited: false,
        };
        self.bbr.on_lost(&packet, self.now);
        self.bbr.view()
    }

    /// A probe has bounded the data in flight: BBR.inflight_longterm is `longterm`, which is not below
    /// Beta of the product. The flow is in DOWN.
    pub fn bounded(longterm: u64) -> Flow {
        let mut flow = Flow::cruising();
        flow.until(State::ProbeBwUp, BDP);
        let v = flow.lose(longterm + PACKET, longterm / 2);
        let bound = Some(Bytes::new(longterm));
        assert_eq!((v.state, v.inflight_longterm), (State::ProbeBwDown, bound));
        flow
    }

    /// The next probe after that begins, with as large a window as there may be.
    pub fn probing_again(longterm: u64) -> Flow {
        let mut flow = Flow::bounded(longterm);
        flow.until(State::ProbeBwRefill, 80_000);
        flow.ack(flow.amid(BDP), MS(1), 80_000);
        assert_eq!(flow.round(80_000).state, State::ProbeBwUp);
        flow
    }
}
