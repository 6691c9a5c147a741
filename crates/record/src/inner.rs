//! The inner state of senders, which is recorded if a scenario asks for it.

use accord_family::InnerState;
use accord_scenario::{Flow, Metric};

/// The metrics that all senders have, in the order in which [`InnerState`] gives them and the recorder
/// records them.
const COMMON: [Metric; 3] = [Metric::Inflight, Metric::PacingRate, Metric::DeliveryRate];

/// The metrics of the inner state of a flow, in the order in which they are recorded.
pub(crate) fn metrics(flow: &Flow) -> impl Iterator<Item = Metric> {
    let of_family = flow.controller.family().inner.iter().map(Metric::Inner);
    COMMON.into_iter().chain(of_family)
}

/// The columns of a flow's inner state: the number of its variables, and the data acknowledged at the last
/// sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    variables: usize,
    acknowledged: u64,
}

impl Columns {
    pub fn new(flow: &Flow) -> Columns {
        Columns { variables: flow.controller.family().inner.len(), acknowledged: 0 }
    }

    /// Appends the values of [`metrics`] for the `period` seconds since the previous sample. `active` says
    /// whether the flow is active.
    pub fn record(&mut self, now: &InnerState, active: bool, period: f64, row: &mut Vec<f64>) {
        let delivered = now.acknowledged.map_or(f64::NAN, |total| {
            // A new connection counts from zero.
            let new = total.saturating_sub(self.acknowledged);
            self.acknowledged = total;
            new as f64 * 8.0 / period
        });
        if !active {
            row.extend(std::iter::repeat_n(f64::NAN, COMMON.len() + self.variables));
            return;
        }
        let in_flight = now.in_flight.map_or(f64::NAN, |bytes| bytes as f64);
        row.extend([in_flight, now.pacing.unwrap_or(f64::NAN), delivered]);
        let variables = now.variables.iter().copied().chain(std::iter::repeat(f64::NAN));
        row.extend(variables.take(self.variables));
    }
}
