//! Scenarios from text, and the roots of their equations.
#![allow(dead_code)]

use accord_family::Catalogue;
use accord_language::File;
use accord_margins::{Complex, linearise, rightmost_roots};
use accord_scenario::Scenario;
use accord_units::Time;

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

pub fn near(is: f64, should: f64, within: f64) {
    assert!((is / should - 1.0).abs() < within, "{is} {should}");
}

/// Newton's correction of the rightmost roots is nothing to `f`, which is zero at a root.
pub fn solves(s: &Scenario, f: impl Fn(Complex<f64>) -> Complex<f64>) {
    let (linear, _) = linearise(s, Time::ZERO).expect("at rest");
    let roots = rightmost_roots(&linear, 1.0);
    assert!(roots.len() > 1, "{roots:?}");
    for &root in roots.iter().take(3) {
        let h = 1e-6 * (root.norm() + 1.0);
        let slope = (f(root + h) - f(root - h)) / (2.0 * h);
        let step = (f(root) / slope).norm();
        assert!(step < 1e-5 * (root.norm() + 1.0), "{root} is off by {step}: {roots:?}");
    }
}

/// Five classes of 50 flows over one link of 2.4 Gbps [Low02 §6.1.1], with a controller that
/// measures by control packets. Base round trips are those of data: 0.17 ms for transmissions.
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
