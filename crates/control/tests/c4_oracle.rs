//! C4 against its authors' program: the same events, the same windows and paces. The record has the
//! events and the answers of the program, which ran in closed loop over ten simulated paths.

use accord_control::c4::Config;
use accord_control::{Acked, C4, Controller, Delivery, Lost, PathView};
use accord_units::{Bytes, Duration, Rate, Time};

const RECORD: &str = include_str!("c4/paths.txt");
/// The packet of the record.
const PACKET: u64 = 1500;
/// The largest difference of a window or a pace.
const TOLERANCE: f64 = 0.03;

/// A flow that takes the events of the record.
struct Flow {
    c4: C4,
    total: u64,
    srtt: u64,
    min_rtt: u64,
    /// The packets that the next acknowledgement finds lost.
    lost: Vec<u64>,
    /// The acknowledgements in each state.
    states: [u64; 5],
    /// The largest difference of a window or a pace, relative.
    worst: f64,
}

impl Flow {
    fn new() -> Flow {
        Flow {
            c4: Config::default().build(Bytes::new(PACKET)).expect("the defaults"),
            total: 0,
            srtt: 0,
            min_rtt: u64::MAX,
            lost: Vec::new(),
            states: [0; 5],
            worst: 0.0,
        }
    }

    /// Takes an acknowledgement, and compares the answer with that of the program.
    fn acknowledge(&mut self, fields: &[u64], place: &str) {
        let &[at, rtt, acked, prior, settled, interval, limited, marked, window, pace, state] =
            fields
        else {
            panic!("{place}: {fields:?}");
        };
        let now = Time::ZERO + Duration::from_us(at);
        let sample = Duration::from_us(rtt);
        self.total += acked;
        self.srtt = if self.srtt == 0 { rtt } else { (7 * self.srtt + rtt) / 8 };
        self.min_rtt = self.min_rtt.min(rtt);
        let path = PathView {
            packet: Bytes::new(PACKET),
            srtt: Duration::from_us(self.srtt),
            rtt: sample,
            min_rtt: Duration::from_us(self.min_rtt),
            ..PathView::default()
        };
        let ack = Acked {
            bytes: Bytes::new(acked),
            rtt: Some(sample),
            round_ended: false,
            window_limited: true,
            in_recovery: false,
            marked,
        };
        self.c4.on_ack(&ack, &path, now);
        for number in std::mem::take(&mut self.lost) {
            let packet = Lost {
                number,
                total: self.total,
                size: PACKET,
                tx_in_flight: 0,
                lost: PACKET,
                app_limited: false,
            };
            self.c4.on_lost(&packet, now);
        }
        let delivered = self.total - prior;
        let rate = match interval {
            0 => Rate::ZERO,
            us => Rate::from_bps_f64(delivered as f64 * 8e6 / us as f64),
        };
        let delivery = Delivery {
            total: self.total,
            acked,
            rtt: sample,
            // The program counts eras by packets below the first hole, the transport by the newest one.
            prior: settled,
            delivered,
            interval: Duration::from_us(interval),
            rate,
            app_limited: limited == 1,
            tx_in_flight: 0,
            lost: 0,
            in_recovery: false,
            window_limited: true,
        };
        self.c4.on_delivery(&delivery, &path, now);
        let allowance = self.c4.allowance();
        let ours = allowance.pacing.expect("a pace after an acknowledgement").as_bps_f64() / 8.0;
        for (what, ours, theirs) in
            [("window", allowance.window.as_f64(), window as f64), ("pace", ours, pace as f64)]
        {
            let difference = (ours / theirs - 1.0).abs();
            self.worst = self.worst.max(difference);
            let is = self.c4.state();
            assert!(
                difference <= TOLERANCE,
                "{place}: {what} {ours} in {is:?}, {theirs} in {state}"
            );
        }
        self.states[state as usize] += 1;
    }
}

/// Windows and paces differ because the program counts in whole microseconds and in fractions of 1024.
#[test]
fn c4_answers_as_its_authors_program() {
    let (mut paths, mut states) = (0, [0; 5]);
    for part in RECORD.split("path ").skip(1) {
        let (name, events) = part.split_once('\n').expect("a name");
        let mut flow = Flow::new();
        for line in events.lines() {
            let (kind, rest) = line.split_once(' ').expect("a kind of event");
            let fields: Vec<u64> = rest.split(' ').map(|f| f.parse().expect("a number")).collect();
            match kind {
                "l" => flow.lost.push(fields[0]),
                _ => flow.acknowledge(&fields, &format!("{name}, {line}")),
            }
        }
        println!("{name}: {:.2} % at most, states {:?}", 100.0 * flow.worst, flow.states);
        let acks: u64 = flow.states.iter().sum();
        assert!(acks > 200, "{name}: {acks}");
        paths += 1;
        for (all, some) in states.iter_mut().zip(flow.states) {
            *all += some;
        }
    }
    assert_eq!(paths, 10);
    assert!(states.iter().all(|n| *n > 20), "{states:?}");
}
