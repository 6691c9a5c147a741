//! Links that change: outages, rates that flap, delays that fall.

use accord_family::Catalogue;
use accord_language::File;
use accord_record::{Quiet, Run};
use accord_scenario::{Entity, Metric, Scenario};
use accord_sim::{Audit, Shortcuts, run_with};

const CATALOGUE: Catalogue =
    Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };

/// 10 Mbps, 20 ms and one flow, in samples of 10 ms.
fn scenario(delay: &str, flow: &str, events: &str) -> Scenario {
    let text = format!(
        "duration = \"4 s\"\nsample = \"10 ms\"\n\
         topology.dumbbell = {{ rate = \"10 Mbps\", delay = \"{delay}\", queue = \"droptail\" }}\n\
         link.bottleneck.queue = {{ discipline = \"droptail\", limit = \"unlimited\" }}\n\
         [flow.f]\nfrom = \"left\"\nto = \"right\"\n{flow}\n\
         access = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n\
         egress = {{ rate = \"100 Mbps\", delay = \"1 ms\" }}\n{events}"
    );
    let file = File::parse("test", &text).unwrap_or_else(|e| panic!("{e}"));
    let points = file.points(&CATALOGUE, None);
    points.unwrap_or_else(|e| panic!("{e}")).remove(0)
}

/// Runs with all shortcuts and with none, which must agree.
fn run(s: &Scenario) -> (Run, Vec<Audit>) {
    let (all, _, flows) = run_with(s, &mut Quiet, Shortcuts::All).expect("it runs");
    let (none, ..) = run_with(s, &mut Quiet, Shortcuts::None).expect("it runs");
    assert_eq!(all.manifest.digest, none.manifest.digest);
    (all, flows)
}

fn series(run: &Run, metric: Metric) -> &[f64] {
    let series = run.series(metric, Entity::Flow(0));
    &series.expect("recorded").values
}

fn rate(at: &str, rate: &str) -> String {
    format!("[[event]]\nat = \"{at}\"\nlink = \"bottleneck\"\nrate = \"{rate}\"\n")
}

const CONSTANT: &str = "controller = \"none\"\ndemand = { constant = \"5 Mbps\" }";

/// An outage in the middle of a packet: the link sends its backlog at the full rate in the half
/// second after it, and loses nothing.
#[test]
fn an_outage_delays_and_ends_when_it_ends() {
    let events = rate("1.0001 s", "0 bps") + &rate("1.5 s", "10 Mbps");
    let (run, flows) = run(&scenario("20 ms", CONSTANT, &events));
    let got = series(&run, Metric::Throughput);
    // Packets on the wire arrive. After that none arrives until slightly more than 20 ms after the
    // end.
    assert!(got[104..151].iter().all(|x| *x == 0.0), "{:?}", &got[100..156]);
    assert!(got[154..200].iter().all(|x| (x / 1e7 - 1.0).abs() < 0.1));
    assert!(got[210..].iter().all(|x| (x / 5e6 - 1.0).abs() < 0.21));
    assert_eq!(flows[0].dropped.packets, 0);
}

/// Regression: a packet that begins at 1 Kbps took 8 s, whatever the rate was later.
#[test]
fn a_rate_that_rises_reaches_the_packet_in_service() {
    let events = rate("1.0001 s", "1 Kbps") + &rate("1.1 s", "10 Mbps");
    let (run, _) = run(&scenario("20 ms", CONSTANT, &events));
    let got = series(&run, Metric::Throughput);
    assert!(got[114..120].iter().all(|x| *x > 9e6), "{:?}", &got[100..125]);
}

/// 10 Mbps and zero alternate every millisecond: 5 Mbps, exact to the packet. A packet takes 0.8
/// ms, so every other one is cut in two.
#[test]
fn a_link_that_flaps_every_millisecond_sends_half() {
    let mut events = String::new();
    for ms in 0..4000 {
        let now = if ms % 2 == 0 { "0 bps" } else { "10 Mbps" };
        events += &rate(&format!("{ms} ms"), now);
    }
    let flow = "controller = \"none\"\ndemand = { constant = \"20 Mbps\" }";
    let (_, flows) = run(&scenario("20 ms", flow, &events));
    // From about 1 ms to 4 s less 21 ms at 5 Mbps. The last packets are in flight.
    let packets = (4.0 - 0.021) * 5e6 / 8000.0;
    let left = flows[0].left.packets as f64;
    assert!((left - packets).abs() <= 2.0, "{left} and not {packets}");
}

/// 200 ms become 20 ms, or none. Later packets come out no faster than the link sends, and do not
/// count as queued.
#[test]
fn a_delay_that_falls_empties_the_wire_at_the_rate_of_the_line() {
    for delay in ["20 ms", "0 ms"] {
        let events =
            format!("[[event]]\nat = \"2.003 s\"\nlink = \"bottleneck\"\ndelay = \"{delay}\"\n");
        let (run, flows) = run(&scenario("200 ms", CONSTANT, &events));
        let got = series(&run, Metric::Throughput);
        // 10 ms hold 12.5 packets, so 13 at most.
        let most = got.iter().copied().fold(0.0, f64::max);
        assert!(most <= 13.0 * 8000.0 / 0.01, "{most}");
        let queued = series(&run, Metric::Accumulation);
        let most = queued.iter().copied().fold(0.0, f64::max);
        assert!(most <= 2000.0, "{most} B queued");
        assert_eq!(flows[0].dropped.packets, 0);
    }
}

/// In the opposite case nothing is queued either.
#[test]
fn a_delay_that_rises_queues_nothing() {
    let events = "[[event]]\nat = \"2.0033 s\"\nlink = \"bottleneck\"\ndelay = \"200 ms\"\n";
    let (run, _) = run(&scenario("20 ms", CONSTANT, events));
    let queued = series(&run, Metric::Accumulation);
    let most = queued.iter().copied().fold(0.0, f64::max);
    assert!(most <= 2000.0, "{most} B queued");
}
