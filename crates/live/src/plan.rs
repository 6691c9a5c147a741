//! The plan of a run.

use accord_scenario::Scenario;

/// The constant data of a run, shared by all stations.
#[derive(Debug)]
pub struct Plan<'a> {
    /// The scenario of the run.
    pub scenario: &'a Scenario,
    /// The number of the run, which distinguishes its packets from others.
    pub run: u32,
    /// True if all packets are to be captured.
    pub capture: bool,
    /// True if senders keep a log.
    pub log: bool,
}

impl<'a> Plan<'a> {
    /// Creates a plan to run `scenario`, without a log.
    pub fn new(scenario: &'a Scenario, run: u32, capture: bool) -> Plan<'a> {
        Plan { scenario, run, capture, log: false }
    }
}
