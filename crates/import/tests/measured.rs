//! Files in the forms that stacks and tools write. Those of qlog record one connection: an Initial
//! and a Handshake packet, and six others of 1200 bytes, of which the fourth is lost. The result is
//! compared with the values put into them; those of iperf3 are compared with the sums that iperf3
//! wrote.

use accord_import::measured::{Flow, Format, Measured, Quantity, read};
use serde_json::Value;
use std::path::Path;

fn file(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files");
    std::fs::read_to_string(path.join(name)).expect("the test has its file")
}

/// Reads a file, and detects its format.
fn measured(name: &str) -> Measured {
    let text = file(name);
    let format = Format::guess(&text).unwrap_or_else(|| panic!("{name}: no format"));
    read(format, &text).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn samples(flow: &Flow, quantity: Quantity) -> Vec<(f64, f64)> {
    let samples = flow.samples.iter().filter(|s| s.quantity == quantity);
    samples.map(|s| (s.time, s.value)).collect()
}

/// The last value of a quantity, or NaN.
fn last(flow: &Flow, quantity: Quantity) -> f64 {
    samples(flow, quantity).last().map_or(f64::NAN, |s| s.1)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-6 * b.abs().max(1e-3) || a.is_nan() && b.is_nan()
}

/// Checks the last values of a flow: window, threshold, round-trip times, bytes sent, bytes arrived and
/// packets lost.
fn assert_flow(name: &str, flow: &Flow, expected: [f64; 7]) {
    use Quantity::{Arrived, Cwnd, Lost, MinRtt, Rtt, Sent, Ssthresh};
    let all = [Cwnd, Ssthresh, Rtt, MinRtt, Sent, Arrived, Lost];
    let found = all.map(|quantity| last(flow, quantity));
    let equal = found.iter().zip(expected).all(|(a, b)| close(*a, b));
    assert!(equal, "{name}, {}: {found:?}, not {expected:?}", flow.name);
    // The window of 13 200 bytes came at 50 ms, and the last at 100 ms, if it is there.
    let windows = samples(flow, Cwnd);
    assert!(close(windows[1].0, 0.05), "{name}: {windows:?}");
}

const NONE: f64 = f64::NAN;
const WHOLE: [f64; 7] = [7200.0, 7200.0, 0.041, 0.04, 9200.0, 8000.0, 1.0];

/// Returns the values without a threshold, which the stack does not log.
fn without_threshold() -> [f64; 7] {
    let mut expected = WHOLE;
    expected[1] = NONE;
    expected
}

#[test]
fn a_connection_is_the_same_in_the_qlog_of_every_stack() {
    for (name, flow, expected) in [
        ("picoquic-draft-00.qlog", "backend-67", without_threshold()),
        ("quic-trace-draft-00.qlog", "server", without_threshold()),
        ("aioquic-draft-01.qlog", "aioquic", WHOLE),
        ("draft-02-delta.ndjson", "backend-67", WHOLE),
        ("aioquic-0.3.qlog", "aioquic", WHOLE),
        ("ngtcp2-0.3.sqlog", "ngtcp2", WHOLE),
        ("0.4-contained.qlog", "here", WHOLE),
        ("quic-go.sqlog", "0b4e8a5fd2c71936", without_threshold()),
        ("mvfst-contained.qlog", "mvfst qlog from single connection", WHOLE),
    ] {
        let measured = measured(&format!("qlog/{name}"));
        let names: Vec<&str> = measured.flows.iter().map(|f| &f.name[..]).collect();
        assert_eq!(names, [flow], "{name}");
        assert_flow(name, &measured.flows[0], expected);
        assert!(close(measured.length(), 0.1), "{name}");
        let said = if expected[1].is_nan() {
            vec!["Series without data in the file: ssthresh.".to_owned()]
        } else {
            vec![]
        };
        assert_eq!(measured.remarks, said, "{name}");
    }
}

/// Any damage at the beginning of a record, and consecutive damaged records.
#[test]
fn damage_between_records_is_passed_over() {
    let text = file("qlog/ngtcp2-0.3.sqlog");
    let whole = read(Format::Qlog, &text).expect("a log");
    for damage in
        ["\u{fffd}\u{fffd}é", "\0\0\0", "}", "]]", "{\"time\":1,\"data\":{\"a\":[1", "\"x"]
    {
        let broken = text.replace("\n\u{1e}", &format!("\n\u{1e}{damage}\n\u{1e}"));
        let read = read(Format::Qlog, &broken).unwrap_or_else(|e| panic!("{damage:?}: {e}"));
        assert_eq!(read.flows, whole.flows, "{damage:?}");
        let count = text.matches('\u{1e}').count() - 1;
        let said = format!("left out: {count}. ");
        assert!(read.remarks.join(" ").contains(&said), "{:?}", read.remarks);
    }
}

/// picoquic's own reference log has a record with a name without quotes. Lists of old drafts may have
/// a value more than `event_fields` names.
#[test]
fn lists_of_events_of_picoquic() {
    let event = |number: u32, trigger: &str, length: &str| {
        format!(
            "[{number}000, \"TRANSPORT\", \"PACKET_SENT\", {trigger}{{ \"packet_type\": \"1rtt\", \"header\": \
             {{ \"packet_number\": \"{number}\", \"packet_size\": 100 }}, \"frames\": [{{ \n \
             \"frame_type\": \"datagram\", {length}: 16}}]}}]"
        )
    };
    for trigger in ["", "\"default\", "] {
        let events: Vec<_> = (1..7)
            .map(|i| event(i, trigger, if i == 4 { "length" } else { "\"length\"" }))
            .collect();
        let text = format!(
            "{{ \"qlog_version\": \"draft-00\", \"traces\": [\n{{ \"vantage_point\": {{ \"name\": \"b\" }},\n\
             \"event_fields\": [\"relative_time\", \"CATEGORY\", \"EVENT_TYPE\", \"DATA\"],\n\
             \"configuration\": {{\"time_units\": \"us\"}},\n\"events\": [\n{}]}}]}}\n",
            events.join(",\n")
        );
        let measured = read(Format::Qlog, &text).expect("the other records");
        let flow = &measured.flows[0];
        assert_eq!(samples(flow, Quantity::Sent).last(), Some(&(0.005, 500.0)), "{trigger}");
        let remarks = measured.remarks.join(" ");
        assert!(remarks.contains("left out: 1. The first: line 13"), "{remarks}");
    }
}

/// In multipath QUIC each path has its own packet numbers and its own window.
#[test]
fn paths_are_flows() {
    let measured = measured("qlog/picoquic-multipath.qlog");
    let [first, second] = &measured.flows[..] else {
        panic!("{:?}", measured.flows);
    };
    assert_flow("multipath", first, without_threshold());
    assert_eq!(second.name, "backend-67, path 1");
    let half = [3600.0, NONE, 0.041, 0.04, 3600.0, 3000.0, 1.0];
    assert_flow("multipath", second, half);
}

#[test]
fn connections_of_one_trace_are_flows() {
    let measured = measured("qlog/quinn-two.sqlog");
    let [first, second] = &measured.flows[..] else {
        panic!("{:?}", measured.flows);
    };
    // quinn logs no frames, so arrivals are unknown.
    let expected = [7200.0, 7200.0, 0.041, 0.04, 9200.0, NONE, 1.0];
    assert_flow("quinn", first, expected);
    assert_eq!(first.name, "quinn trace 0b4e8a5fd2c71936");
    let half = [3600.0, 7200.0, 0.041, 0.04, 4600.0, NONE, 1.0];
    assert_flow("quinn", second, half);
    let said = "Series without data in the file: throughput and goodput.";
    assert_eq!(measured.remarks, [said]);
}

#[test]
fn a_damaged_record_of_qlog_costs_itself() {
    let cut_off = [13_200.0, NONE, 0.04, 0.04, 9200.0, 8000.0, NONE];
    for (name, expected, said) in [
        ("ngtcp2-damaged.sqlog", WHOLE, "left out: 2. The first: line 11"),
        ("mvfst-damaged.qlog", WHOLE, "left out: 1. The first: line 1"),
        ("mvfst-cut-off.qlog", cut_off, "left out: 1. The first: line 1"),
        ("picoquic-cut-off.qlog", cut_off, "left out: 1. The first: line 51"),
        ("quic-go-no-header.sqlog", without_threshold(), "There is no header"),
    ] {
        let measured = measured_as(Format::Qlog, &format!("qlog/{name}"));
        assert_eq!(measured.flows.len(), 1, "{name}");
        assert_flow(name, &measured.flows[0], expected);
        let remarks = measured.remarks.join(" ");
        assert!(remarks.contains(said), "{name}: {remarks}");
    }
}

fn measured_as(format: Format, name: &str) -> Measured {
    read(format, file(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// Returns the rates of a flow over all of its time, sent and arrived.
fn rate(flow: &Flow, quantity: Quantity) -> Option<f64> {
    let all = samples(flow, quantity);
    let (from, to) = (all.first()?, all.last()?);
    Some((to.1 - from.1) * 8.0 / (to.0 - from.0))
}

/// The sums written by iperf3 equal those of the samples, within a thousandth.
#[test]
fn rates_are_those_that_iperf3_says() {
    for (name, flows) in [
        ("two-streams.json", 2),
        ("bidir.json", 2),
        ("reverse.json", 1),
        ("udp.json", 1),
        ("udp-reverse.json", 1),
        ("server-output.json", 1),
    ] {
        let name = format!("iperf3/{name}");
        let measured = measured(&name);
        assert_eq!(measured.flows.len(), flows, "{name}");
        let text: Value = file(&name).parse().expect("JSON");
        let ends = text["end"]["streams"].as_array().expect("its sums");
        for (flow, end) in measured.flows.iter().zip(ends) {
            let sums = end.as_object().expect("sums");
            for (side, sums) in sums {
                assert_eq!(flow.name, format!("stream {}", sums["socket"]), "{name}");
                let quantity = match side.as_str() {
                    "receiver" => Quantity::Arrived,
                    "udp" if name.contains("reverse") => Quantity::Arrived,
                    _ => Quantity::Sent,
                };
                let said = sums["bits_per_second"].as_f64().expect("a rate");
                let found = rate(flow, quantity).expect("samples");
                assert!((found / said - 1.0).abs() < 1e-3, "{name}: {found}, {said}");
            }
            let lost = end.get("udp").and_then(|udp| udp["lost_packets"].as_f64());
            assert_eq!(samples(flow, Quantity::Lost).last().map(|s| s.1), lost, "{name}");
        }
    }
}

/// A sender knows the arrivals by the sums at the end only, which a remark says.
#[test]
fn sums_stand_for_the_other_end_of_iperf3() {
    let said = "Series of the other end are means over the whole test: iperf3 reports them at its end only.";
    for (name, there) in [("two-streams.json", true), ("interrupted.json", false)] {
        let measured = measured(&format!("iperf3/{name}"));
        assert_eq!(measured.remarks.iter().any(|r| r == said), there, "{name}");
    }
    // Half of the packets of UDP are lost.
    let udp = |start: &str| {
        format!(
            "{{\"intervals\":[{{\"streams\":[{{\"socket\":5,\"start\":0,\"end\":2,\"bytes\":2000,\
             \"lost_percent\":{start},\"sender\":true}}]}}],\"end\":{{\"streams\":[{{\"udp\":{{\"socket\":5,\
             \"start\":0,\"end\":2.5,\"bytes\":2500,\"lost_packets\":5,\"packets\":10}}}}]}}}}"
        )
    };
    // Old versions write numbers that JSON does not have.
    for start in ["0", "-nan", "nan", "inf"] {
        let measured = read(Format::Iperf3, udp(start)).expect("a run");
        let flow = &measured.flows[0];
        assert_eq!(samples(flow, Quantity::Arrived), [(0.0, 0.0), (2.0, 1000.0)]);
        assert_eq!(samples(flow, Quantity::Lost), [(0.0, 0.0), (2.0, 5.0)]);
        assert!(!measured.remarks.join(" ").contains("amaged"), "{:?}", measured.remarks);
    }
}

#[test]
fn events_of_iperf3_are_the_same_as_its_document() {
    let whole = measured("iperf3/two-streams.json");
    assert_eq!(measured("iperf3/json-stream.json"), whole);
    // With --json-stream-full-output the document follows the events.
    let [events, document] =
        ["json-stream", "two-streams"].map(|n| file(&format!("iperf3/{n}.json")));
    let both = read(Format::Iperf3, &(events + &document)).expect("it is one test");
    assert_eq!(both, whole);
    for (name, length, said) in [
        ("json-stream-cut-off.json", 2.0, "left out: 1. The first: line 6"),
        ("json-stream-interrupted.json", 2.0, "ended early: \"interrupt"),
        ("cut-off.json", 2.0, "truncated"),
    ] {
        let part = measured(&format!("iperf3/{name}"));
        assert_eq!(part.flows.len(), 2, "{name}");
        assert!((part.length() - length).abs() < 0.01, "{name}");
        for (flow, whole) in part.flows.iter().zip(&whole.flows) {
            // The sums at the end differ.
            let [shorter, whole] = [flow, whole].map(|flow| {
                let mut samples = flow.samples.clone();
                samples.retain(|s| s.quantity != Quantity::Arrived);
                samples
            });
            assert_eq!(shorter, whole[..shorter.len()], "{name}");
        }
        let remarks = part.remarks.join(" ");
        assert!(remarks.contains(said), "{name}: {remarks}");
    }
}

/// A server writes a document per test into one log. The tests follow on each other.
#[test]
fn tests_of_one_log_follow_on_each_other() {
    let measured = measured("iperf3/server-log.json");
    let flows: Vec<(&str, f64)> =
        (measured.flows.iter()).map(|f| (&f.name[..], f.samples[0].time.round())).collect();
    let expected = [
        ("stream 6", 0.0),
        ("stream 9", 0.0),
        ("test 2, stream 6", 3.0),
        ("test 3, stream 6", 5.0),
    ];
    assert_eq!(flows, expected);
}

#[test]
fn connections_of_ss() {
    let measured = measured("ss/two-connections.ss");
    let [first, second] = &measured.flows[..] else {
        panic!("{:?}", measured.flows);
    };
    let name = "[2001:db8:aaaa:bbbb:cccc:dddd:eeee:4%enp0s31f6]:40111 > [2001:db8:1111:2222:3333:4444:5555:9]:443";
    assert_eq!(first.name, name);
    let windows = [(0.0, 10_000.0), (1.0, 20_000.0), (2.0, 12_000.0)];
    assert_eq!(samples(first, Quantity::Cwnd), windows);
    // `ss` omits a total of zero.
    let arrived = [(0.0, 0.0), (1.0, 125_000.0), (2.0, 250_000.0)];
    assert_eq!(samples(first, Quantity::Arrived), arrived);
    let again = [(0.0, 0.0), (1.0, 2.0), (2.0, 4.0)];
    assert_eq!(samples(first, Quantity::Retransmitted), again);
    // Only the unreadable line is skipped.
    let rtts = [(0.0, 1.5e-3), (2.0, 2.5e-3)];
    assert_eq!(samples(second, Quantity::Rtt), rtts);
    let remarks = measured.remarks.join(" ");
    for said in ["left out: 2. The first: line 11", "ssthresh (1)"] {
        assert!(remarks.contains(said), "{remarks}");
    }
}

/// A connection over loopback has other segments than one over Ethernet, and a test of iperf3 than the
/// next.
#[test]
fn each_flow_has_its_own_payload() {
    let line = |port: u32, mss: u32| {
        format!("ESTAB 0 0 10.0.0.1:{port} 10.0.0.2:80 cubic rtt:2/1 mss:{mss} cwnd:10\n")
    };
    let at = |time: u32| format!("{time}\n{}{}", line(1, 1448), line(2, 65_483));
    let measured = read(Format::Ss, at(1_700_000_000) + &at(1_700_000_001)).expect("samples");
    let payloads: Vec<_> = measured.flows.iter().map(|flow| flow.payload).collect();
    assert_eq!(payloads, [Some(1448.0), Some(65_483.0)]);
    let test = |mss: u32| {
        format!(
            "{{\"start\":{{\"tcp_mss_default\":{mss},\"timestamp\":{{\"timesecs\":1}}}},\"intervals\":[{{\
             \"streams\":[{{\"socket\":5,\"start\":0,\"end\":1,\"bytes\":1000}}]}}],\"end\":{{}}}}\n"
        )
    };
    let measured = read(Format::Iperf3, test(1448) + &test(9000)).expect("samples");
    let payloads: Vec<_> = measured.flows.iter().map(|flow| flow.payload).collect();
    assert_eq!(payloads, [Some(1448.0), Some(9000.0)]);
}

/// Ports by name, as without `-n`; sockets that listen; times in other forms.
#[test]
fn forms_of_ss() {
    let at = |time: &str, cwnd: u32| {
        format!(
            "{time}\r\nNetid State Recv-Q Send-Q Local Address:Port Peer Address:Port Process\r\n\
             tcp LISTEN 0 128 *:ssh *:*\r\n\t cubic cwnd:10\r\n\
             tcp ESTAB 0 36 10.0.0.1:ssh [::ffff:10.0.0.2]:http-alt users:((\"sshd\",pid=1,fd=3))\r\n\
             \t bbr rtt:1.5/0.7 mss:1000 cwnd:{cwnd} bbr:(bw:1Mbps,mrtt:0.5,pacing_gain:2.8)\r\n"
        )
    };
    for (first, second) in [
        ("1700000000.5", "1700000001.5"),
        ("1700000000,5", "1700000001,5"),
        ("1700000000500", "1700000001500"),
        ("1700000000500000000", "1700000001500000000"),
        ("2023-11-14T22:13:20.500+00:00", "2023-11-14T22:13:21.500Z"),
        ("2023-11-14T23:13:20,500000000+01:00", "2023-11-14T23:13:21,500000000+01:00"),
    ] {
        let text = at(first, 10) + &at(second, 20);
        assert_eq!(Format::guess(&text), Some(Format::Ss), "{first}");
        let measured = read(Format::Ss, &text).expect("two samples");
        assert_eq!(measured.flows.len(), 1, "{first}");
        let flow = &measured.flows[0];
        assert_eq!(flow.name, "10.0.0.1:ssh > [::ffff:10.0.0.2]:http-alt");
        let windows = samples(flow, Quantity::Cwnd);
        assert_eq!(windows[0], (0.0, 10_000.0), "{first}");
        assert!(close(windows[1].0, 1.0) && windows[1].1 == 20_000.0, "{first}: {windows:?}");
        let remarks = measured.remarks.join(" ");
        assert!(!remarks.contains("amaged"), "{first}: {remarks}");
    }
}

#[test]
fn addresses_of_a_connection_that_is_over_may_come_again() {
    let measured = measured("ss/same-addresses.ss");
    let name = "10.0.0.1:22 > 10.0.0.2:50022";
    let arrived: Vec<_> =
        (measured.flows.iter()).map(|f| (f.name.clone(), samples(f, Quantity::Arrived))).collect();
    let first = vec![(0.0, 5000.0), (1.0, 9000.0)];
    let second = vec![(2.0, 100.0), (3.0, 2100.0)];
    let expected = [(name.to_owned(), first), (format!("{name} (2)"), second)];
    assert_eq!(arrived, expected);
}

#[test]
fn the_last_word_of_a_file_that_is_cut_off_is_none() {
    let measured = measured("ss/cut-off.ss");
    let of = |quantity| samples(&measured.flows[0], quantity);
    assert_eq!(of(Quantity::Sent), [(0.0, 1000.0), (1.0, 9000.0)]);
    assert_eq!(of(Quantity::Arrived), [(0.0, 1000.0)]);
}

/// A text of another format yields its first error.
#[test]
fn other_texts_are_refused_with_their_place() {
    for (format, text, place) in [
        (Format::Qlog, "hello", "line 1: invalid JSON"),
        (Format::Qlog, "\n\u{1e}{\"time\":1}", "line 2: an event has no `name`"),
        (Format::Iperf3, "{\"start\":{}}", "no list `intervals`"),
        (
            Format::Iperf3,
            "{\"event\":\"error\",\"data\":\"unable to connect\"}",
            "iperf3 failed: \"unable to connect\"",
        ),
        (Format::Ss, "ESTAB 0 0 a:1 b:2", "no time before"),
        (Format::Ss, "hello", "line 1: \"hello\" is neither a time"),
        (Format::Ss, "1.0\n", "no sample"),
    ] {
        let e = read(format, text).expect_err(text).to_string();
        assert!(e.contains(place), "{text}: {e}");
    }
}

/// Some stacks log the size of the payload and not that of the packet.
#[test]
fn sizes_of_payloads_are_sizes() {
    let whole = file("qlog/ngtcp2-0.3.sqlog");
    let text = whole.replace("\"length\":", "\"payload_length\":");
    assert_ne!(text, whole);
    let [with, without] = [&whole, &text].map(|text| read(Format::Qlog, text).expect("a log"));
    for quantity in [Quantity::Sent, Quantity::Arrived] {
        assert_eq!(samples(&without.flows[0], quantity), samples(&with.flows[0], quantity));
    }
    let said = without.remarks.join(" ");
    assert!(said.contains("Sizes are those of payloads"), "{said}");
}

/// `ss` through `ts`, which puts the time in front of each line.
#[test]
fn times_in_front_of_lines_are_times() {
    let plain = "1700000000.5\n0 0 10.0.0.1:22 10.0.0.2:443\n\t cubic rtt:20.5/1 mss:1000 cwnd:10 bytes_acked:500\n\
                 1700000001.5\n0 7 10.0.0.1:22 10.0.0.2:443\n\t cubic rtt:21.5/1 mss:1000 cwnd:12 bytes_acked:900\n";
    let mut time = "";
    let stamped: String = (plain.lines())
        .filter_map(|line| match line.starts_with("17") {
            true => {
                time = line;
                None
            }
            false => Some(format!("{time} {line}\n")),
        })
        .collect();
    assert_eq!(Format::guess(&stamped), Some(Format::Ss));
    let [one, two] = [plain, &stamped].map(|text| read(Format::Ss, text).expect("an output"));
    assert_eq!(one, two);
    assert_eq!(samples(&two.flows[0], Quantity::Cwnd), [(0.0, 10_000.0), (1.0, 12_000.0)]);
    let dated = stamped.replace("1700000000.5", "2023-11-14T22:13:20.5+00:00");
    let dated = dated.replace("1700000001.5", "2023-11-14T22:13:21.5+00:00");
    assert_eq!(read(Format::Ss, &dated).expect("an output").flows, one.flows);
}

/// A connection whose third segment is sent again, in every capture format.
#[test]
fn captures_have_the_connection_of_tcp() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/pcap");
    let capture = |name: &str| std::fs::read(seeds.join(name)).expect("a seed");
    let names =
        ["ethernet.pcap", "nanoseconds.pcap", "big-endian.pcap", "raw.pcapng", "loopback.pcap"];
    for name in names {
        let bytes = capture(name);
        assert_eq!(Format::guess(&bytes), Some(Format::Pcap), "{name}");
        let found = read(Format::Pcap, &bytes).expect("a capture");
        assert_eq!(found.flows.len(), 1, "{name}");
        let flow = &found.flows[0];
        assert_eq!(flow.name, "10.0.0.1:1000 > 10.0.0.2:80");
        // Five packets of 1040 bytes, of which four arrived first.
        let totals = [Quantity::Sent, Quantity::Arrived, Quantity::Retransmitted];
        assert_eq!(totals.map(|quantity| last(flow, quantity)), [5200.0, 4160.0, 1.0], "{name}");
        // The acknowledgement after the repair has no round-trip time [Karn].
        let times = samples(flow, Quantity::Rtt);
        assert!(times.len() == 1 && (times[0].1 - 0.0415).abs() < 1e-6, "{name}: {times:?}");
    }
    let quic = read(Format::Pcap, capture("quic.pcapng")).expect("a capture");
    let datagrams =
        quic.flows.iter().find(|flow| flow.name.ends_with("(UDP)")).expect("one of UDP");
    assert_eq!(last(datagrams, Quantity::Sent), 3.0 * 1228.0);
    let cut = read(Format::Pcap, capture("cut-off.pcapng")).expect("a capture");
    assert!(cut.remarks.iter().any(|r| r.contains("cut off")), "{:?}", cut.remarks);
    assert!(read(Format::Pcap, b"\xd4\xc3\xb2\xa1").is_err());
}
