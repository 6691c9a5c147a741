//! Video of str0m in simulated networks.

use accord_net::{Error, Net, network};
use accord_str0m::{Camera, with};

const ALONE: &str = include_str!("alone.toml");

fn alone() -> Net {
    network(ALONE).carry("mine", with(Camera::default()))
}

#[test]
fn the_estimate_finds_the_rate_of_a_link_and_follows_it_down() -> Result<(), Error> {
    let outcome = alone().run()?;
    let (_, run) = &outcome.runs()[0];
    for s in &run.series {
        println!(
            "{:?} {:?} {:?}",
            s.metric,
            s.entity,
            s.values.iter().step_by(10).map(|v| v.round()).collect::<Vec<_>>()
        );
    }
    outcome.verdict()
}
