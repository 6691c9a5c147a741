//! Transfers: amounts of data for which an application waits as a whole, with their durations.

use accord_scenario::{Entity, Metric, Scenario, Window};
use accord_units::{Bytes, Duration, Time};

/// The maximum number of transfers of a run that are recorded (200 MB).
const MOST: usize = 1 << 22;

/// A file that an application sent: all of a `size` demand, a burst of an on-off source without a
/// rate, or a file that a web user fetched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// The index of the flow that carried the transfer.
    pub flow: usize,
    /// The index of that flow's group.
    pub group: usize,
    /// The time at which the application handed the data to the sender, in seconds.
    pub start: f64,
    /// The amount. It is carried in whole packets.
    pub size: Bytes,
    /// The time until the sender knew that all data had arrived, in seconds. It is NaN if the run ended first.
    pub duration: f64,
}

/// A metric of transfers, with its value.
type TransferMetric = (Metric, fn(&Transfer) -> f64);

/// The metrics of transfers.
pub(crate) const METRICS: [TransferMetric; 2] = [
    (Metric::CompletionTime, |transfer| transfer.duration),
    (Metric::TransferSize, |transfer| transfer.size.as_f64()),
];

impl Transfer {
    /// Returns whether the transfer ended within the window.
    pub fn ended_in(&self, window: Window) -> bool {
        let end = self.start + self.duration;
        end >= window.start.as_secs_f64() && end < window.end.as_secs_f64()
    }

    /// Returns the value of one of [`METRICS`], or NaN for another metric.
    pub(crate) fn value(&self, metric: Metric) -> f64 {
        let found = METRICS.iter().find(|(known, _)| *known == metric);
        found.map_or(f64::NAN, |(_, value)| value(self))
    }
}

/// Returns the transfers of a flow or group, out of all transfers of a run in the order of flows.
pub(crate) fn of_entity(transfers: &[Transfer], entity: Entity) -> &[Transfer] {
    let key = |t: &Transfer| match entity {
        Entity::Flow(_) => t.flow,
        _ => t.group,
    };
    let (Entity::Flow(i) | Entity::Group(i)) = entity else {
        return &[];
    };
    let from = transfers.partition_point(|t| key(t) < i);
    let to = transfers.partition_point(|t| key(t) <= i);
    &transfers[from..to]
}

/// The transfers of a run in progress.
#[derive(Clone, Debug, Default)]
pub struct Transfers {
    all: Vec<Transfer>,
    /// The number of transfers for which there was no room.
    left_out: u64,
}

impl Transfers {
    /// Adds a transfer of `flow` that began at `start` and took `duration`, if it is complete.
    pub fn add(
        &mut self,
        scenario: &Scenario,
        flow: usize,
        start: Time,
        size: Bytes,
        duration: Option<Duration>,
    ) {
        if self.all.len() >= MOST {
            self.left_out += 1;
            return;
        }
        self.all.push(Transfer {
            flow,
            group: scenario.flows[flow].group,
            start: start.as_secs_f64(),
            size,
            duration: duration.map_or(f64::NAN, Duration::as_secs_f64),
        });
    }

    /// Adds the transfers of other flows.
    pub fn merge(&mut self, other: Transfers) {
        let room = MOST.saturating_sub(self.all.len()).min(other.all.len());
        self.left_out += other.left_out + (other.all.len() - room) as u64;
        self.all.extend(other.all.into_iter().take(room));
    }

    /// Returns the transfers, by flow and start, and a note if some were left out.
    pub fn finish(mut self) -> (Vec<Transfer>, Option<String>) {
        // The transfers of a flow are added one after the other, so they are in order.
        self.all.sort_by_key(|t| t.flow);
        let note = (self.left_out > 0).then(|| {
            format!("the first {MOST} transfers are recorded; {} more are not", self.left_out)
        });
        (self.all, note)
    }
}
