//! The least rate of a flow with a contract.
//!
//! A contract is a rate of arrival that does not give way to others. So its data is sent at once after a
//! silence, regardless of the backlog of others. If a fraction p of the data is lost, the flow sends contract
//! / (1 − p), but at most [`MOST_EXTRA`] times the contract. The least rate gives way if the receiver's
//! reports show that the contract does not fit:
//!
//! - More than [`MADE_UP`] of the data was lost for [`PATIENCE`]: the additional data does not make up for
//!   the loss. The least rate is then at most the recent rate of arrival, and stays there while more than
//!   [`MOST_LOST`] is lost.
//! - More is queued than the limit of the service. The least rate is then at most the rate at which the limit
//!   is queued, by Little's law.
//!
//! With each report the least rate returns towards the contract, by [`STEP`] of the contract times the
//! fraction of the limit that is not queued. In a gateway the circuit breaker also bounds the rate.
//!
//! Losses that do not end within [`PATIENCE`] after the flow gave way are caused by others. The least rate is
//! then the contract again. It gives way only to losses of more than [`MOST_OF_OTHERS`], until there have
//! been none for [`PATIENCE`]. `docs/src/models/monaco.md` derives [`MADE_UP`] from the losses that BBR
//! makes. [`MOST_LOST`], [`MOST_OF_OTHERS`] and [`PATIENCE`] were chosen by their outcome in
//! `gateway/tools/matrix.py` and the hostile tests of the gateway.

use crate::Report;
use crate::loss::FADES;
use accord_family::Service;

/// The largest fraction of lost data that the flow makes up for.
const MADE_UP: f64 = 0.2;

/// The fraction of lost data above which a flow that has given way stays at the rate of arrival.
const MOST_LOST: f64 = 0.05;

/// The fraction of the data that may be lost if others cause the losses.
const MOST_OF_OTHERS: f64 = 1.0 / 3.0;

/// The round trips in which losses should end: four times the memory of losses, and longer than the startup
/// of BBR.
const PATIENCE: f64 = 64.0;

/// The highest rate for making up losses, as a multiple of the contract.
const MOST_EXTRA: f64 = 1.0 / (1.0 - MADE_UP);

/// The fraction of the contract by which the least rate grows per report.
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
    /// The fraction of the data that was lost recently.
    lost: f64,
    /// The recent rate of arrival in bytes per second.
    arriving: Option<f64>,
    /// The number of round trips for which too much has been lost.
    lossy: f64,
    /// The number of round trips for which at most [`MOST_LOST`] has been lost.
    clear: f64,
    /// True if others cause the losses.
    of_others: bool,
}

impl Floor {
    /// Sets the service. A new contract is presumed to fit.
    pub fn set_service(&mut self, service: &Service) {
        self.limit = service.limit.map_or(f64::INFINITY, |limit| limit.as_f64());
        let contract = service.contract.as_bps_f64() / 8.0;
        if self.contract != contract {
            (self.contract, self.rate) = (contract, contract);
        }
    }

    /// Takes a report. `lost` is the fraction of the data that was lost recently. `passed` is the time since
    /// the last report as a fraction of a round trip.
    pub fn on_report(&mut self, report: &Report, lost: f64, passed: f64) {
        let egress = report.egress_rate.as_bps_f64() / 8.0;
        let queued = report.accumulation / self.limit;
        let arriving = self.arriving.get_or_insert(egress);
        *arriving += (FADES * passed).min(1.0) * (egress - *arriving);
        self.lost = lost;
        self.clear = if lost > MOST_LOST { 0.0 } else { self.clear + passed };
        self.of_others &= self.clear < PATIENCE;
        let most = match self.rate < self.contract {
            true => MOST_LOST,
            false if self.of_others => MOST_OF_OTHERS,
            false => MADE_UP,
        };
        // A flow with little to send does not test its contract.
        let is_sending = *arriving >= 0.5 * (1.0 - lost) * self.rate;
        if lost <= most || !is_sending {
            let room = (1.0 - queued).max(0.0);
            self.rate = (self.rate + STEP * passed * room * self.contract).min(self.contract);
            self.lossy = 0.0;
        } else {
            self.lossy += passed;
            let (long, gave_way) = (self.lossy > PATIENCE, self.rate < self.contract);
            if long && gave_way {
                (self.rate, self.of_others) = (self.contract, true);
            } else if gave_way {
                self.rate = self.rate.min(egress.max(*arriving));
            } else if long {
                self.rate = self.rate.min(*arriving);
            }
            if long {
                self.lossy = 0.0;
            }
        }
        if queued > 1.0 {
            self.rate = self.rate.min(egress / queued);
        }
    }

    /// Returns the least rate of sending in bytes per second; zero without a contract.
    pub fn rate(&self) -> f64 {
        // A rate that has given way is a rate of arrival.
        if self.rate < self.contract {
            return self.rate;
        }
        self.rate * (1.0 / (1.0 - self.lost)).min(MOST_EXTRA)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Losses;
    use accord_units::{Bytes, Duration, Rate};

    const CONTRACT: Rate = Rate::from_bps(10_000_000);

    /// The floor of a tunnel that delivers 7 Mbps.
    struct Tunnel {
        floor: Floor,
        losses: Losses,
        received: u64,
        egress: Rate,
    }

    impl Tunnel {
        fn new(contract: Rate, limit: Option<Bytes>) -> Tunnel {
            let mut floor = Floor::default();
            floor.set_service(&Service { contract, limit, ..Service::default() });
            Tunnel {
                floor,
                losses: Losses::default(),
                received: 0,
                egress: Rate::from_bps(7_000_000),
            }
        }

        /// Makes `reports` reports of round trips of 100 KB. `of_hundred` is the loss in per cent. Returns
        /// the least rate in Mbps.
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
        assert_eq!(tunnel.report(50, 1e6, 64), 12.5, "losses may end by themselves");
        assert_eq!(tunnel.report(50, 1e6, 10), 7.0, "the rate of arrival");
        // The rate returns once the losses have ended: three tenths take ten steps.
        assert_eq!(tunnel.report(0, 1e6, 20), 7.0);
        assert_eq!(tunnel.report(0, 1e6, 1000), 10.0);
    }

    #[test]
    fn a_contract_is_a_rate_of_arrival() {
        let mut tunnel = Tunnel::new(CONTRACT, None);
        assert!((tunnel.report(10, 1e6, 1000) - 10.0 / 0.9).abs() < 1e-9);
    }

    #[test]
    fn losses_that_giving_way_does_not_end_are_those_of_others() {
        let mut tunnel = Tunnel::new(CONTRACT, None);
        assert_eq!(tunnel.report(30, 1e6, 80), 7.0);
        assert_eq!(tunnel.report(30, 1e6, 80), 12.5, "a contract that makes up for losses");
        assert_eq!(tunnel.report(30, 1e6, 1000), 12.5);
        assert_eq!(tunnel.report(50, 1e6, 90), 7.0, "more than a third is lost");
    }

    /// The spacing of a single pair says little about the rate of arrival.
    #[test]
    fn one_report_does_not_end_a_contract() {
        let mut tunnel = Tunnel::new(CONTRACT, None);
        tunnel.report(50, 1e6, 70);
        tunnel.egress = Rate::from_bps(100_000);
        assert!((tunnel.report(50, 1e6, 1) - 7.0 + 6.9 / 16.0).abs() < 1e-9);
    }

    #[test]
    fn a_contract_gives_way_at_its_limit() {
        let mut tunnel = Tunnel::new(CONTRACT, Some(Bytes::new(50_000)));
        assert_eq!(tunnel.report(0, 50_000.0, 100), 10.0);
        // 100 KB wait at a link that serves 7 Mbps. At a rate of 3.5 Mbps the limit would wait
        // there.
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
