//! The least pace of a tunnel with a contract.
//!
//! A contract is a rate that does not give way to others. So its data goes at once after a silence, and
//! whatever others have queued, without regard of the controller's window. It stops where the receiver
//! shows that the contract does not fit: more than [`MOST_LOST`] of the data was lost recently, averaged
//! as the controller does. The least pace is then the rate at which data arrives, and goes back to the
//! contract by a [`STEP`] of it with each report, as long as less is lost. Neither is it more than the rate
//! that keeps what is queued within the limit of the service, by Little's law. The circuit breaker bounds
//! what is left: it caps the tunnel.

use accord_control::{Losses, Report};
use accord_family::Service;
use accord_units::{Bytes, Rate};

/// The part of the data whose loss shows that a contract does not fit. The controller takes it for
/// congestion, too (`loss_bound` of Monaco).
const MOST_LOST: f64 = 0.05;

/// The part of the contract by which the least pace grows with each report.
const STEP: f64 = 1.0 / 32.0;

/// The least pace of a tunnel.
#[derive(Clone, Debug, Default)]
pub struct Floor {
    contract: Rate,
    limit: Option<Bytes>,
    rate: Rate,
    losses: Losses,
}

impl Floor {
    /// Sets the service. Another contract is taken to fit.
    pub fn set_service(&mut self, service: &Service) {
        self.limit = service.limit;
        if self.contract != service.contract {
            (self.contract, self.rate) = (service.contract, service.contract);
        }
    }

    /// Takes the report of a pair, with the bytes that were lost since the one before.
    pub fn on_report(&mut self, report: &Report) {
        self.losses.observe(report);
        let next = match self.losses.part() > MOST_LOST {
            true => report.egress_rate.min(self.rate),
            false => {
                let more = self.contract.as_bps_f64() * STEP;
                Rate::from_bps_f64(self.rate.as_bps_f64() + more)
            }
        };
        self.rate = next.min(self.contract);
        let limit = self.limit.map_or(f64::INFINITY, Bytes::as_f64);
        if report.accumulation > limit {
            let part = limit / report.accumulation;
            let most = Rate::from_bps_f64(report.egress_rate.as_bps_f64() * part);
            self.rate = self.rate.min(most);
        }
    }

    /// The contract.
    pub fn contract(&self) -> Rate {
        self.contract
    }

    /// The least pace; zero without a contract.
    pub fn rate(&self) -> Rate {
        self.rate
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord_units::{Bytes, Duration};

    const CONTRACT: Rate = Rate::from_bps(10_000_000);

    /// The floor of a tunnel at whose end 7 Mbps arrive.
    struct Tunnel {
        floor: Floor,
        received: u64,
    }

    impl Tunnel {
        fn new(contract: Rate, limit: Option<Bytes>) -> Tunnel {
            let mut floor = Floor::default();
            floor.set_service(&Service {
                contract,
                limit,
                ..Service::default()
            });
            Tunnel { floor, received: 0 }
        }

        /// Reports a round trip of 100 KB at a time, of which so many of 100 bytes were lost, and what is
        /// queued. Returns the least pace in Mbps.
        fn report(&mut self, of_hundred: u64, accumulation: f64, reports: u64) -> f64 {
            for number in 0..reports {
                self.received += 1000 * (100 - of_hundred);
                self.floor.on_report(&Report {
                    number,
                    accumulation,
                    egress_rate: Rate::from_bps(7_000_000),
                    virtual_delay: Duration::ZERO,
                    lost: of_hundred > 0,
                    lost_bytes: Bytes::new(1000 * of_hundred),
                    received: self.received,
                });
            }
            self.floor.rate().as_bps_f64() / 1e6
        }
    }

    #[test]
    fn a_contract_holds_until_the_receiver_shows_that_it_does_not_fit() {
        let mut tunnel = Tunnel::new(CONTRACT, None);
        assert_eq!(tunnel.floor.rate(), CONTRACT, "it is there at once");
        assert_eq!(tunnel.report(4, 1e6, 1000), 10.0);
        assert_eq!(tunnel.report(30, 1e6, 100), 7.0, "what arrives");
        // The losses fade first, and three tenths are ten steps.
        assert_eq!(tunnel.report(0, 1e6, 100), 10.0);
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
    fn without_a_contract_there_is_no_least_pace() {
        let mut tunnel = Tunnel::new(Rate::ZERO, None);
        assert_eq!(tunnel.report(0, 0.0, 100), 0.0);
        assert_eq!(tunnel.report(30, 0.0, 100), 0.0);
    }
}
