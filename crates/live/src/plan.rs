//! The plan of a run.

use accord_scenario::{Change, LinkId, Scenario};

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
    /// The routes of each flow, in the order of their use.
    pub routes: Vec<Vec<Route<'a>>>,
}

/// The forward and reverse path of a flow.
pub type Route<'a> = [&'a [LinkId]; 2];

impl<'a> Plan<'a> {
    /// Creates a plan to run `scenario`, without a log.
    pub fn new(scenario: &'a Scenario, run: u32, capture: bool) -> Plan<'a> {
        let flows = scenario.flows.iter();
        let mut routes: Vec<Vec<Route>> =
            flows.map(|f| vec![[&f.path[..], &f.reverse_path[..]]]).collect();
        for event in &scenario.events {
            if let Change::Route { flow, path, reverse_path } = &event.change {
                routes[*flow].push([path, reverse_path]);
            }
        }
        Plan { scenario, run, capture, log: false, routes }
    }
}
