//! Scenarios from text, and readings of their runs.
#![allow(dead_code)]

use accord_family::Catalogue;
use accord_fluid::run;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Change, Entity, Metric, Scenario, Window};
use accord_units::{Duration, Rate, Time};

pub const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

/// Returns the scenario of a text. Control packets without a length in it have none, as in values by hand.
pub fn scenario(text: &str) -> Scenario {
    let file = File::parse("test.toml", text).expect("it parses");
    let points = file.points(&CATALOGUE, None);
    let mut s = points.expect("it is valid").swap_remove(0);
    if !text.contains("control =") {
        s.flows.iter_mut().for_each(|f| f.control = accord_units::Bytes::ZERO);
    }
    s
}

pub fn fluid(text: &str) -> (Scenario, Run) {
    let s = scenario(text);
    let run = run(&s, &mut Quiet).expect("it runs");
    (s, run)
}

/// Returns the last sample.
pub fn last(run: &Run, metric: Metric, entity: Entity) -> f64 {
    let series = run.series(metric, entity).expect("it is recorded");
    *series.values.last().expect("there are samples")
}

pub fn window(from: f64, to: f64) -> Window {
    let at = |s| Time::ZERO + Duration::from_secs_f64(s);
    Window { start: at(from), end: at(to) }
}

/// Five classes of 50 flows over one link of 2.4 Gbps [Low02 §6.1.1], with a controller that
/// measures by control packets. Base round-trip times are those of data: 0.17 ms of transmissions.
pub fn five_classes(controller: &str, model: &str, seconds: u32) -> String {
    let mut text = format!(
        "duration = \"{seconds} s\"\nfluid = {{ link_model = \"{model}\" }}\n\
         [topology.dumbbell]\nrate = \"2.4 Gbps\"\ndelay = \"0 s\"\nqueue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n"
    );
    for (i, latency) in [15.0, 15.0, 20.0, 30.0, 40.0].into_iter().enumerate() {
        // Control packets and reports of 64 bytes, over two host links and the bottleneck.
        let transmissions = 4.0 * 0.00512 + 2.0 * 64.0 * 8.0 / 2.4e6;
        let delay = (latency + 0.17 - transmissions) / 4.0;
        text += &format!(
            "[flow.c{i}]\ncount = 50\nfrom = \"left\"\nto = \"right\"\ncontroller = {controller}\n\
             access = {{ rate = \"100 Mbps\", delay = \"{delay:.9} ms\" }}\negress = {{ rate = \"100 Mbps\", delay = \"{delay:.9} ms\" }}\n"
        );
    }
    text
}

/// Parses a scenario in which links of 1 bps become links with rate 0.
pub fn with_outages(text: &str) -> Scenario {
    let mut s = scenario(text);
    for event in &mut s.events {
        if let Change::Rate(_, rate) = &mut event.change
            && rate.as_bps() == 1
        {
            *rate = Rate::ZERO;
        }
    }
    s
}
