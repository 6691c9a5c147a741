//! The calendar against a sorted list.

use accord_sim::{Calendar, EventKind};
use accord_units::Time;
use proptest::prelude::*;

const EVENT_KINDS: [EventKind; 4] =
    [EventKind::Sent, EventKind::Sample, EventKind::Change, EventKind::Arrive];

/// The next action of a test.
#[derive(Clone, Debug)]
enum Act {
    /// Adds an event this long after the last one taken.
    Push { after: u64, kind: usize, index: usize },
    /// Takes this number of events.
    Pop(usize),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    // Ties, the same slot, the wheel, beyond the wheel, and idle gaps of hours.
    let after = prop_oneof![
        3 => Just(0),
        3 => 0..4u64,
        3 => 0..10_000_000u64,
        3 => 0..100_000_000_000u64,
        1 => 0..10_000_000_000_000_000u64,
    ];
    let push = (after, 0..EVENT_KINDS.len(), 0..5000usize)
        .prop_map(|(after, kind, index)| Act::Push { after, kind, index });
    prop::collection::vec(prop_oneof![3 => push, 1 => (1..6usize).prop_map(Act::Pop)], 1..400)
}

/// Takes `n` events from both, or all. Returns the last time.
fn take(
    calendar: &mut Calendar,
    list: &mut Vec<(u64, EventKind, usize)>,
    n: usize,
    mut now: u64,
) -> Result<u64, TestCaseError> {
    for _ in 0..n {
        let Some((time, kind, index)) = calendar.pop() else {
            prop_assert!(list.is_empty(), "events got lost: {list:?}");
            break;
        };
        let event = (time.as_ps(), kind, index);
        let at = list.iter().position(|e| *e == event);
        let Some(at) = at else {
            return Err(TestCaseError::fail(format!("{event:?} was never added")));
        };
        list.swap_remove(at);
        prop_assert!(event.0 >= now, "time goes back");
        now = event.0;
        // The rest must not precede the taken event. Indices of the same time and kind have their
        // own order.
        let first = list.iter().map(|e| (e.0, e.1)).min();
        prop_assert!(first.is_none_or(|first| (event.0, kind) <= first));
    }
    Ok(now)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn gives_events_in_order_of_time_and_kind(acts in acts()) {
        let mut calendar = Calendar::new(Time::MAX);
        let mut list = Vec::new();
        let mut now = 0;
        for act in acts {
            match act {
                Act::Push { after, kind, index } => {
                    let (time, kind) = (now + after, EVENT_KINDS[kind]);
                    calendar.push(Time::from_ps(time), kind, index);
                    list.push((time, kind, index));
                }
                Act::Pop(n) => now = take(&mut calendar, &mut list, n, now)?,
            }
        }
        take(&mut calendar, &mut list, usize::MAX, now)?;
    }

    /// The order is a property of the events. It depends neither on the order of their addition nor
    /// on the width of slots.
    #[test]
    fn order_does_not_depend_on_when_events_were_added(
        times in prop::collection::vec(0..3u64, 2..60),
        rotation in 0..60usize,
    ) {
        let order = |rotation: usize| {
            let mut calendar = Calendar::new(Time::MAX);
            let events: Vec<_> = times.iter().enumerate().collect();
            for i in 0..events.len() {
                let (index, time) = events[(i + rotation) % events.len()];
                calendar.push(Time::from_ps(*time * 1_000_000), EventKind::Arrive, index);
            }
            std::iter::from_fn(|| calendar.pop()).collect::<Vec<_>>()
        };
        prop_assert_eq!(order(0), order(rotation));
    }
}

/// The test is long enough for several reviews of the slots' width, with changes of pace.
#[test]
fn keeps_the_order_through_changes_of_width() {
    let mut calendar = Calendar::new(Time::MAX);
    let mut x = 1u64;
    let mut random = move || {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        x >> 33
    };
    for index in 0..1000 {
        calendar.push(Time::from_ps(random() % 1_000_000), EventKind::Arrive, index);
    }
    let mut last = (Time::ZERO, [Time::ZERO; 1000]);
    for n in 0..400_000u64 {
        let (now, _, index) = calendar.pop().expect("one is added for each taken");
        assert!(now >= last.0, "event {n}");
        assert!(last.1[index] <= now);
        // Mean gaps of 1 ns, 1 ms and 1 µs.
        let mean = [1_000, 1_000_000_000, 1_000_000][(n / 100_000) as usize % 3];
        let next = Time::from_ps(now.as_ps() + random() % (2000 * mean));
        calendar.push(next, EventKind::Arrive, index);
        last.0 = now;
        last.1[index] = next;
    }
    assert_eq!(std::iter::from_fn(|| calendar.pop()).count(), 1000);
}

#[test]
fn no_index_always_wins_its_ties() {
    let mut calendar = Calendar::new(Time::MAX);
    for time in 1..=1000 {
        for index in [3, 4] {
            calendar.push(Time::from_ps(time * 8_000_000), EventKind::Arrive, index);
        }
    }
    let mut first = 0;
    while let (Some(a), Some(b)) = (calendar.pop(), calendar.pop()) {
        assert_eq!(a.0, b.0);
        first += usize::from(a.2 == 3);
    }
    // A fair coin stays within 6 deviations of 500, except once in 10^9.
    assert!((405..=595).contains(&first), "index 3 came first {first} times of 1000");
}

#[test]
fn forgets_what_is_after_the_end() {
    let mut calendar = Calendar::new(Time::from_ps(10));
    calendar.push(Time::from_ps(11), EventKind::Wake, 0);
    calendar.push(Time::MAX, EventKind::Wake, 1);
    calendar.push(Time::from_ps(10), EventKind::Wake, 2);
    assert_eq!(calendar.pop(), Some((Time::from_ps(10), EventKind::Wake, 2)));
    assert_eq!(calendar.pop(), None);
}
