//! A sender that takes acknowledgements by its fast path sends the same packets at the same times, and
//! wants to be woken at the same times, as one that takes all of them by the general path.

use crate::common::{Dice, build};
use accord_control::Controller;
use accord_family::Raw;
use accord_transport::Segment;
use accord_transport::stream::{Settings, StreamReceiver, StreamSender};
use accord_units::{Bytes, Duration, Rate, Time};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;

const RACK: &[(&str, Raw)] = &[("rack", Raw::Flag(true))];
const NO_RACK: &[(&str, Raw)] = &[("rack", Raw::Flag(false))];
/// Controllers of each kind of log: none, times of sending, RACK, samples of the delivery rate, or both.
const CONTROLLERS: [(&str, &[(&str, Raw)]); 8] = [
    ("newreno", &[]),
    ("vegas", &[]),
    ("newreno", RACK),
    ("cubic", RACK),
    ("bbr3", RACK),
    ("bbr3", NO_RACK),
    ("bbr1", NO_RACK),
    ("copa", &[]),
];

/// A link and an application.
#[derive(Clone, Debug)]
struct Script {
    seed: u64,
    loss: f64,
    /// The largest extra delay, so that packets overtake.
    jitter: Duration,
    buffer: Duration,
    /// The packets that the application supplies at once, and the pause between two supplies.
    supply: u64,
    pause: Duration,
}

#[derive(Clone, Copy)]
enum Event {
    Supply,
    Arrive { number: u64, sent: Time, marked: bool },
    Ack(Segment),
}

fn scripts() -> impl Strategy<Value = Script> {
    let loss = prop_oneof![Just(0.0), 0.0..0.03f64, 0.0..0.2f64];
    let jitter = prop_oneof![3 => Just(0), 1 => 0..4_000u64];
    let supply = prop_oneof![Just(u64::MAX), 1..60u64];
    (any::<u64>(), loss, jitter, 2..60u64, supply, 1..400u64).prop_map(
        |(seed, loss, jitter, buffer, supply, pause)| Script {
            seed,
            loss,
            jitter: Duration::from_us(jitter),
            buffer: Duration::from_ms(buffer),
            supply,
            pause: Duration::from_ms(pause),
        },
    )
}

/// Sends the packets of a burst, or one by one those that are due. Returns the time at which to ask again.
fn send<C: Controller>(
    sender: &mut StreamSender<C>,
    burst: Option<Range<u64>>,
    now: Time,
    numbers: &mut Vec<u64>,
) -> Time {
    if let Some(burst) = burst {
        numbers.extend(burst);
        return Time::MAX;
    }
    loop {
        match sender.poll(now) {
            Ok(Segment::Data { number, .. }) => numbers.push(number),
            Ok(other) => panic!("{other:?}"),
            Err(again) => return again,
        }
    }
}

/// Runs both senders over one link. Returns the number of acknowledgements on the fast path.
fn both((name, changes): (&str, &[(&str, Raw)]), script: &Script) -> u64 {
    let packet = Bytes::new(1000);
    let sender = || StreamSender::new(build(name, changes), packet, Settings::LINUX);
    let (mut quick, mut slow, mut receiver) = (sender(), sender(), StreamReceiver::new());
    let mut events = BTreeMap::from([((Time::ZERO, 0u64), Event::Supply)]);
    let (mut dice, mut free, mut sequence, mut fast) = (Dice(script.seed), Time::ZERO, 0, 0);
    let (mut wake, mut supplies) = (Time::MAX, 20);
    for _ in 0..6_000 {
        let next = events.first_key_value().map_or(Time::MAX, |((at, _), _)| *at);
        let now = wake.min(next);
        if now == Time::MAX {
            break;
        }
        let mut burst = None;
        if wake <= next {
            wake = Time::MAX;
            quick.on_wake(now);
            slow.on_wake(now);
        } else if let Some((_, event)) = events.pop_first() {
            let mut add = |at: Time, event| {
                sequence += 1;
                events.insert((at, sequence), event);
            };
            match event {
                Event::Supply => {
                    quick.supply(script.supply);
                    slow.supply(script.supply);
                    supplies -= 1;
                    if script.supply < u64::MAX && supplies > 0 {
                        add(now + script.pause, Event::Supply);
                    }
                }
                Event::Arrive { number, sent, marked } => {
                    let (_, ack) = receiver.on_data(number, sent, marked);
                    add(now + Duration::from_ms(10), Event::Ack(ack));
                    continue;
                }
                Event::Ack(Segment::Ack { next, block, block_len, echo, marked }) => {
                    match quick.acknowledge(next, block, block_len, echo, marked, now) {
                        Some(allowance) => {
                            fast += 1;
                            burst = quick.next_burst(allowance, now);
                        }
                        None => quick.on_ack(next, block, block_len, echo, marked, now),
                    }
                    slow.on_ack(next, block, block_len, echo, marked, now);
                }
                Event::Ack(other) => panic!("{other:?}"),
            }
        }
        let (mut numbers, mut others) = (Vec::new(), Vec::new());
        let burst = burst.or_else(|| quick.burst(now));
        let again = send(&mut quick, burst, now, &mut numbers);
        let other = send(&mut slow, None, now, &mut others);
        assert_eq!(numbers, others, "{name} at {now}");
        assert_eq!(again, other, "{name} at {now}");
        assert_eq!(quick.next_wake(), slow.next_wake(), "{name} at {now}");
        assert_eq!(quick.controller().cwnd(), slow.controller().cwnd(), "{name} at {now}");
        wake = wake.min(again).min(quick.next_wake());
        for number in numbers {
            if dice.chance(script.loss) || free.since(now) > script.buffer {
                continue;
            }
            free = free.max(now) + Rate::from_bps(8_000_000).transmission(packet);
            let late = script.jitter.mul_f64(dice.uniform());
            let at = free + Duration::from_ms(10) + late;
            sequence += 1;
            events.insert((at, sequence), Event::Arrive { number, sent: now, marked: false });
        }
    }
    fast
}

/// Most acknowledgements of a sender without losses go by the fast path, whatever log it keeps.
#[test]
fn senders_of_all_kinds_take_it() {
    let script = Script {
        seed: 1,
        loss: 0.0,
        jitter: Duration::ZERO,
        buffer: Duration::from_secs(1),
        supply: u64::MAX,
        pause: Duration::from_ms(1),
    };
    for controller in CONTROLLERS {
        let fast = both(controller, &script);
        assert!(fast > 1_000, "{controller:?}: {fast}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_fast_path_is_the_general_path(
        controller in prop::sample::select(CONTROLLERS.to_vec()),
        script in scripts(),
    ) {
        both(controller, &script);
    }
}
