//! The least rate of a flow with a contract.
//!
//! A contract is a rate of arrival that does not give way to others. So its data goes at once after a
//! silence, and whatever others have queued. Where a part p of the data is lost, the flow sends
//! contract / (1 − p), at most [`MOST_EXTRA`] times the contract. The least rate gives way where the
//! receiver shows that the contract does not fit:
//!
//! - More than [`MOST_LOST`] of the data was lost recently. The least rate is then at most the recent
//!   rate of arrival, averaged as losses are.
//! - More is queued than the limit of the service. The least rate is then at most the one that has the
//!   limit queued, by Little's law.
//!
//! With each report it goes back towards the contract, by a [`STEP`] of the contract times the part of
//! the limit that is not queued. In a gateway the circuit breaker bounds the rate, too.
//!
//! BBR sets the bounds of losses. It probes with 1.25 times the rate that it had, and does not answer
//! losses. With a contract of f of the link and n flows of BBR in a short buffer, each flow gets the rate
//! b = (1.25 − f) / (n + 0.25) of the link, and 1 − 1 / (f + n·b) of all data is lost: 9 % for f = 0.5 and
//! n = 1, and less than 20 % for any f and n. A tunnel that sends little loses more than that in a full
//! FIFO queue, since it keeps no place in it: 25 % in `tools/gateway/matrix.py`.

use crate::Report;
use crate::loss::FADES;
use accord_family::Service;

/// The part of the data whose loss shows that a contract does not fit.
const MOST_LOST: f64 = 1.0 / 3.0;

/// The least rate that makes up for losses, in contracts.
const MOST_EXTRA: f64 = 1.25;

/// The part of the contract by which the least rate grows with each report.
const STEP: f64 = 1.0 / 32.0;

/// The least rate of a flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Floor {
    /// The contracted rate in bytes per second.
    contract: f64,
    /// The limit of the service in bytes.
    limit: f64,
    /// The least rate of arrival in bytes per second.
    rate: f64,
    /// The part of the data that was lost recently; zero if that is too much.
    lost: f64,
    /// The recent rate of arrival in bytes per second.
    arriving: Option<f64>,
}

impl Floor {
    /// Sets the service. Another contract is taken to fit.
    pub fn set_service(&mut self, service: &Service) {
        self.limit = service.limit.map_or(f64::INFINITY, |limit| limit.as_f64());
        let contract = service.contract.as_bps_f64() / 8.0;
        if self.contract != contract {
            (self.contract, self.rate) = (contract, contract);
        }
    }

    /// Takes a report. `lost` is the part of the data that was lost recently. `passed` is the part of a
    /// round trip since the last report.
    pub fn on_report(&mut self, report: &Report, lost: f64, passed: f64) {
        let egress = report.egress_rate.as_bps_f64() / 8.0;
        let queued = report.accumulation / self.limit;
        let arriving = self.arriving.get_or_insert(egress);
        *arriving += (FADES * passed).min(1.0) * (egress - *arriving);
        if lost > MOST_LOST {
            (self.rate, self.lost) = (self.rate.min(*arriving), 0.0);
        } else {
            self.lost = lost;
            let room = (1.0 - queued).max(0.0);
            self.rate = (self.rate + STEP * passed * room * self.contract).min(self.contract);
        }
        if queued > 1.0 {
            self.rate = self.rate.min(egress / queued);
        }
    }

    /// Returns the least rate of sending in bytes per second; zero without a contract.
    pub fn rate(&self) -> f64 {
        self.rate * (1.0 / (1.0 - self.lost)).min(MOST_EXTRA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Losses;
    use accord_units::{Bytes, Duration, Rate};

    const CONTRACT: Rate = Rate::from_bps(10_000_000);

    /// The floor of a tunnel at whose end 7 Mbps arrive.
    struct Tunnel {
        floor: Floor,
        losses: Losses,
        received: u64,
        egress: Rate,
    }

    impl Tunnel {
        fn new(contract: Rate, limit: Option<Bytes>) -> Tunnel {
            let mut floor = Floor::default();
            floor.set_service(&Service {
                contract,
                limit,
                ..Service::default()
            });
            Tunnel {
                floor,
                losses: Losses::default(),
                received: 0,
                egress: Rate::from_bps(7_000_000),
            }
        }

        /// Makes `reports` reports of round trips of 100 KB. `of_hundred` is the loss in percent. Returns the
        /// least rate in Mbps.
        fn report(&mut self, of_hundred: u64, accumulation: f64, reports: u64) -> f64 {
            for number in 0..reports {
                self.received += 1000 * (100 - of_hundred);
                let report = Report {
                    number,
                    accumulation,
                    egress_rate: self.egress,
                    virtual_delay: Duration::ZERO,
                    lost: of_hundred > 0,
                    lost_bytes: Bytes::new(1000 * of_hundred),
                    received: self.received,
                };
                self.losses.observe(&report);
                self.floor.on_report(&report, self.losses.part(), 1.0);
            }
            8.0 * self.floor.rate() / 1e6
        }
    }

    #[test]
    fn a_contract_holds_until_the_receiver_shows_that_it_does_not_fit() {
        let mut tunnel = Tunnel::new(CONTRACT, None);
        assert_eq!(tunnel.report(0, 0.0, 0), 10.0, "it is there at once");
        assert_eq!(tunnel.report(50, 1e6, 100), 7.0, "the rate of arrival");
        // The losses fade first, and three tenths are ten steps.
        assert_eq!(tunnel.report(0, 1e6, 1000), 10.0);
    }

    #[test]
    fn a_contract_is_a_rate_of_arrival() {
        let mut tunnel = Tunnel::new(CONTRACT, None);
        assert!((tunnel.report(10, 1e6, 1000) - 10.0 / 0.9).abs() < 1e-9);
        assert_eq!(tunnel.report(30, 1e6, 1000), 12.5, "at most");
    }

    /// The spacing of one pair says little of the rate of arrival.
    #[test]
    fn one_report_does_not_end_a_contract() {
        let mut tunnel = Tunnel::new(CONTRACT, None);
        tunnel.report(50, 1e6, 100);
        tunnel.egress = Rate::from_bps(100_000);
        assert!((tunnel.report(50, 1e6, 1) - 7.0 + 6.9 / 16.0).abs() < 1e-9);
    }

    #[test]
    fn a_contract_gives_way_at_its_limit() {
        let mut tunnel = Tunnel::new(CONTRACT, Some(Bytes::new(50_000)));
        assert_eq!(tunnel.report(0, 50_000.0, 100), 10.0);
        // 100 KB wait where 7 Mbps are served: a rate of 3.5 Mbps has the limit waiting there.
        assert_eq!(tunnel.report(0, 100_000.0, 100), 3.5);
        assert_eq!(tunnel.report(0, 20_000.0, 100), 10.0);
    }

    #[test]
    fn without_a_contract_there_is_no_least_rate() {
        let mut tunnel = Tunnel::new(Rate::ZERO, None);
        assert_eq!(tunnel.report(0, 0.0, 100), 0.0);
        assert_eq!(tunnel.report(30, 0.0, 100), 0.0);
    }
}
