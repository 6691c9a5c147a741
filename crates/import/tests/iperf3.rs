//! A file written by iperf3 3.12: two streams over the loopback device, `--omit 1 --interval 0.5
//! --parallel 2 --bitrate 5M`, interrupted. Its cookie, system, date and spacing were changed. The
//! result is compared with the sums that iperf3 wrote at the end.

use accord_import::measured::{Flow, Format, Measured, Quantity, read};
use serde_json::Value;

const FILE: &str = include_str!("files/iperf3/interrupted.json");

fn measured(text: &str) -> Measured {
    assert_eq!(Format::guess(text), Some(Format::Iperf3));
    read(Format::Iperf3, text).expect("iperf3 wrote it")
}

fn values(flow: &Flow, quantity: Quantity) -> Vec<(f64, f64)> {
    let samples = flow.samples.iter().filter(|s| s.quantity == quantity);
    samples.map(|s| (s.time, s.value)).collect()
}

#[test]
fn an_interrupted_run_has_what_was_measured() {
    let measured = measured(FILE);
    let file: Value = serde_json::from_str(FILE).expect("JSON");
    let ends = file["end"]["streams"].as_array().expect("its sums");
    assert_eq!((measured.flows.len(), ends.len()), (2, 2));
    for (flow, end) in measured.flows.iter().zip(ends) {
        let end = &end["sender"];
        let number = |name: &str| end[name].as_f64().expect("a number");
        assert_eq!(flow.name, format!("stream {}", end["socket"]));
        let sent = values(flow, Quantity::Sent);
        assert_eq!(sent.first(), Some(&(0.0, 0.0)));
        let (time, bytes) = *sent.last().expect("samples");
        assert_eq!(bytes, number("bytes"));
        assert!((time - number("seconds")).abs() < 1e-4, "{time}");
        let again = values(flow, Quantity::Retransmitted);
        assert_eq!(again.last().map(|(_, n)| *n), end["retransmits"].as_f64());
        // The mean includes the omitted intervals; the extremes do not.
        let rtts = values(flow, Quantity::Rtt);
        let of = |pick: fn(f64, f64) -> f64| rtts.iter().map(|r| r.1 * 1e6).reduce(pick);
        for (name, rtt) in [("max_rtt", of(f64::max)), ("min_rtt", of(f64::min))] {
            let rtt = rtt.expect("samples");
            assert!((rtt - number(name)).abs() < 1e-6, "{name}: {rtt}");
        }
    }
    let remarks = measured.remarks.join(" ");
    for part in ["ended early: \"interrupt", "(--omit)"] {
        assert!(remarks.contains(part), "{remarks}");
    }
}

/// iperf3 3.12 may give the first interval after an omitted one almost no length: its bytes belong
/// to the time since the clock restarted.
#[test]
fn the_first_interval_after_an_omission_starts_at_zero() {
    let late = FILE.replace("\"start\": 2.9e-05", "\"start\": 0.49999");
    assert_ne!(late, FILE);
    assert_eq!(measured(&late), measured(FILE));
}

#[test]
fn a_run_without_intervals_has_failed() {
    let mut file: Value = serde_json::from_str(FILE).expect("JSON");
    file["intervals"] = Value::Array(Vec::new());
    let error = read(Format::Iperf3, file.to_string()).expect_err("nothing was measured");
    assert!(error.to_string().contains("iperf3 failed"), "{error}");
}
