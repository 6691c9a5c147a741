//! Reads any bytes as a topology, which is refused with the fault or is a sound network.

use accord_import::{Format, Units, decoded, demands, read};

/// Returns true if the bytes are a topology in that format.
pub fn check(format: Format, bytes: &[u8]) -> bool {
    let Some(text) = decoded(bytes) else {
        return false;
    };
    let units = Units { delay: Some(1e-3), ..Units::default() };
    let topology = match read(format, &text, &units) {
        Ok(topology) => topology,
        Err(e) => {
            assert!(!e.message.is_empty());
            return false;
        }
    };
    let nodes = topology.nodes.len();
    assert!(nodes > 1 && !topology.links.is_empty());
    for link in &topology.links {
        assert!(link.from < nodes && link.to < nodes && link.from != link.to);
        for way in [&link.there, &link.back] {
            assert!(way.rate.is_none_or(|rate| rate > 0.0 && rate.is_finite()));
            assert!(way.delay.is_none_or(|delay| delay >= 0.0 && delay.is_finite()));
            assert!(topology.length(link, way).is_none_or(|length| length >= 0.0));
        }
        // A value of one direction only holds for both.
        assert_eq!(link.there.rate.is_some(), link.back.rate.is_some());
    }
    let sound = |rate: f64| rate > 0.0 && rate.is_finite();
    assert!(topology.demands.iter().all(|d| d.from < nodes && d.to < nodes && sound(d.rate)));
    assert!(topology.parts().iter().all(|part| *part < nodes));
    // The same bytes as demands between its nodes: an error, or sound ones.
    if let Ok(demands) = demands(&text, &topology, &units) {
        assert!(demands.iter().all(|d| d.from != d.to && sound(d.rate)));
    }
    true
}
