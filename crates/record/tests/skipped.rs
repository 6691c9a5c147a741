//! Samples that stand where time was skipped.

use accord_family::{Catalogue, InnerState};
use accord_language::File;
use accord_record::{FlowReading, LinkReading, Recorder};
use accord_scenario::{Entity, Metric, Scenario};
use accord_units::Time;

fn scenario() -> Scenario {
    let catalogue =
        Catalogue { controllers: accord_control::FAMILIES, disciplines: accord_aqm::FAMILIES };
    let text = r#"
        duration = "100000 s"
        sample = "2 s"
        [topology.dumbbell]
        rate = "8 Mbps"
        delay = "20 ms"
        [flow.a]
        from = "left"
        to = "right"
        controller = "vegas"
    "#;
    let file = File::parse("small.toml", text).expect("a file");
    file.points(&catalogue, None).expect("a scenario").remove(0)
}

/// Four samples in which 100, 200, 300 and 400 KB are sent, and 10, 20, 30 and 40 KB less arrive;
/// then repetitions of the last three.
#[test]
fn a_jump_has_means_and_counts() {
    let scenario = scenario();
    let period = scenario.sample;
    let at = |samples: u64| Time::ZERO + period * samples;
    let mut recorder = Recorder::new(&scenario);
    let mut sent = 0;
    let (mut delivered, mut losses) = (0, 0);
    for sample in 1..=4 {
        sent += 100_000 * sample;
        delivered += 90_000 * sample;
        losses += 10;
        let reading =
            FlowReading { active: true, sent, delivered, losses, ..FlowReading::default() };
        recorder.sample(
            at(sample),
            [(0, reading)],
            |_| InnerState::default(),
            |_| LinkReading::default(),
        );
    }
    assert_eq!(recorder.samples_since(at(1)), 3);
    assert_eq!(recorder.samples_since(Time::from_secs_f64(2.5)), 2);
    assert_eq!(recorder.repeat(at(1), Time::from_secs_f64(9.9)), at(4));

    // So far that samples are merged on the way; a jump ends with a whole period.
    const LAST: u64 = 70_000;
    let until = at(LAST + 1) + period.mul_f64(0.5);
    assert_eq!(recorder.repeat(at(1), until), at(LAST));
    assert_eq!(recorder.period(), period + period);
    let (time, series) = recorder.finish(&scenario);
    assert!(time.windows(2).all(|pair| pair[1] - pair[0] == 4.0));
    assert_eq!(time.last(), Some(&at(LAST).as_secs_f64()));
    let of = |metric| {
        let is = |s: &&accord_record::Series| (s.metric, s.entity) == (metric, Entity::Flow(0));
        &series.iter().find(is).expect("it is recorded").values
    };
    for (metric, value) in [
        // 180, 270 and 360 KB in two seconds each.
        (Metric::Throughput, 1_080_000.0),
        // Nothing was lost. Data that was on its way is not sent again in each sample.
        (Metric::SendingRate, 1_080_000.0),
        // Ten packets in two seconds, in periods of four.
        (Metric::Losses, 20.0),
    ] {
        let values = &of(metric)[2..];
        assert!(values.iter().all(|v| (v - value).abs() < 1e-6), "{metric}: {:?}", &values[..9]);
    }
    // Observed samples stay.
    assert_eq!(of(Metric::Throughput)[..2], [540_000.0, 1_260_000.0]);
    assert_eq!(of(Metric::SendingRate)[..2], [600_000.0, 1_400_000.0]);
}
