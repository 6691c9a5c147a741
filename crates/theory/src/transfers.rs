//! Transfers: flows that leave when they have sent their size.
//!
//! A transfer sends at the rates of the equilibria during its life. The other flows share its part once it
//! has ended. Its duration is therefore that of flow-level models of processor sharing: slow start and
//! convergence to an equilibrium take no time.

use accord_scenario::Scenario;
use accord_traffic::Demand;
use accord_units::Duration;

/// The remaining data of transfers.
pub(crate) struct Transfers {
    /// The bytes left, by flow. They are infinite for flows that are not transfers.
    left: Vec<f64>,
    /// The transfers that send, and their rates in bytes per second.
    sending: Vec<(usize, f64)>,
    /// Transfers that end within this time end together.
    period: Duration,
}

impl Transfers {
    /// Creates the transfers before anything is sent.
    pub fn new(scenario: &Scenario, period: Duration) -> Transfers {
        let left = scenario.flows.iter().map(|f| match f.demand {
            Demand::Size(size) => size.as_f64(),
            _ => f64::INFINITY,
        });
        Transfers { left: left.collect(), sending: Vec::new(), period }
    }

    /// Returns whether a flow has sent all of its data.
    pub fn is_done(&self, flow: usize) -> bool {
        self.left[flow] == 0.0
    }

    /// Sets the rates at which flows send from now on, in bytes per second by flow. Without rates,
    /// transfers wait, because their ends are unknown.
    pub fn set_rates(&mut self, active: &[usize], rate: Option<&[f64]>) {
        self.sending.clear();
        if let Some(rate) = rate {
            let transfers = active.iter().filter(|&&flow| self.left[flow].is_finite());
            self.sending.extend(transfers.map(|&flow| (flow, rate[flow])));
        }
    }

    /// Returns the time until a transfer ends, or until the end of the phase, `length`, whichever
    /// is earlier.
    pub fn until_done(&self, length: Duration) -> Duration {
        let times = self.sending.iter().map(|&(flow, rate)| self.left[flow] / rate);
        let first = times.fold(f64::INFINITY, f64::min);
        if first < length.as_secs_f64() {
            Duration::from_secs_f64(first).max(self.period).min(length)
        } else {
            length
        }
    }

    /// Sends for `time`.
    pub fn go_on(&mut self, time: Duration) {
        for &(flow, rate) in &self.sending {
            let left = &mut self.left[flow];
            let sent = rate * time.as_secs_f64();
            // Data worth less than a nanosecond is a rounding error.
            *left = if *left - sent > 1e-9 * rate { *left - sent } else { 0.0 };
        }
        self.sending.retain(|&(flow, _)| self.left[flow] > 0.0);
    }
}
