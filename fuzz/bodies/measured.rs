//! Reads any bytes as a file of measurements, which is refused with the fault or has sound samples.

use accord_import::measured::{Format, read};

/// Returns true if the bytes are a file of that format.
pub fn check(format: Format, bytes: &[u8]) -> bool {
    let measured = match read(format, bytes) {
        Ok(measured) => measured,
        Err(e) => {
            assert!(!e.message.is_empty());
            return false;
        }
    };
    assert!(!measured.flows.is_empty());
    for flow in &measured.flows {
        assert!(!flow.samples.is_empty());
        assert!(flow.samples.is_sorted_by(|a, b| a.time <= b.time));
        for sample in &flow.samples {
            assert!(sample.time.is_finite() && sample.time >= 0.0);
            assert!(sample.value.is_finite() && sample.value >= 0.0);
        }
    }
    assert!(measured.length().is_finite());
    true
}
