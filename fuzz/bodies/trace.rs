//! Parses any bytes as a trace, which is refused with the fault or written as it was read.

use accord::language::parse_trace;

/// Returns true if the bytes are a trace.
pub fn check(bytes: &[u8]) -> bool {
    let trace = match parse_trace(bytes) {
        Ok(trace) => trace,
        Err(message) => {
            assert!(!message.is_empty());
            return false;
        }
    };
    assert!(trace.mean_rate().as_bps() > 0);
    let lines: Vec<_> = trace.times().iter().map(|t| format!("{t}\n")).collect();
    assert_eq!(parse_trace(lines.concat().as_bytes()), Ok(trace));
    true
}
