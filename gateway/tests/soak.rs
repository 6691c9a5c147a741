//! An hour of two gateways and a hostile network, in simulated time: memory stays as it is, and the
//! tunnel gets the same rate at the end as at the beginning. It takes less than a minute.
//!
//! `SOAK_HOURS=24 cargo test -p accord-gateway --test soak -- --nocapture` takes longer. Sessions are
//! not rekeyed: boringtun's timers are of real time.

#[path = "common/dice.rs"]
mod dice;
#[allow(dead_code, reason = "each test uses its own part")]
#[path = "common/world.rs"]
mod world;

use accord_gateway::State;
use accord_units::{Duration, Rate};
use dice::Dice;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use world::{Link, Malice, World};

/// The allocator of the system, which counts.
struct Counting;

static HELD: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes on to the allocator of the system as it came.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        HELD.fetch_add(size, Ordering::Relaxed);
        HELD.fetch_sub(layout.size(), Ordering::Relaxed);
        unsafe { System.realloc(place, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const LINK: Link = Link {
    rate: Rate::from_bps(8_000_000),
    buffer: 50_000,
    delay: Duration::from_ms(10),
    expedites: true,
};

/// Lets hosts send for `seconds`, more than the link carries in one direction and a little in the
/// other. Flows come and go.
fn load(world: &mut World, dice: &mut Dice, seconds: u64) {
    let flow = dice.below(60_000) as u16;
    for ms in 0..1000 * seconds {
        let port = flow.wrapping_add(dice.below(20) as u16);
        for _ in 0..2 {
            world.flow_sends(0, port, 800 + dice.below(600) as usize, 2);
        }
        if ms % 20 == 0 {
            world.host_sends(1, 60, 0);
        }
        world.run(world.now + Duration::from_ms(1));
    }
}

/// A minute of a network with random faults.
fn malice(dice: &mut Dice) -> Malice {
    Malice {
        lost: dice.below(300),
        duplicated: dice.below(300),
        late: dice.below(300),
        truncated: dice.below(200),
        flipped: dice.below(200),
        replayed: dice.below(200),
        forged: dice.below(200),
        control_lost: dice.below(500),
        marked: dice.below(300),
        too_long: [0, 1000, 1300][dice.below(3) as usize],
    }
}

#[test]
fn memory_stays_flat_and_rates_do_not_drift() {
    let hours = std::env::var("SOAK_HOURS").ok();
    let hours: u64 = hours.and_then(|n| n.parse().ok()).unwrap_or(1);
    let (mut world, mut dice) = (World::new(51, LINK), Dice(51));
    // Per quiet minute: the bytes held, the rate in B/ms, and the queuing delay in seconds.
    let mut quiet = Vec::with_capacity(60 * hours as usize);
    // The edge has a queue for each hash of a flow that it has seen. All of them are there from now on.
    for port in 0..10_000 {
        for _ in 0..12 {
            world.flow_sends(0, port, 32, 0);
        }
        world.run(world.now + Duration::from_ms(2));
    }
    for minute in 0..60 * hours {
        // Of ten minutes one is hostile, and two let the tunnel and the sizes of hosts come back.
        if minute % 10 == 7 {
            world.malice = malice(&mut dice);
            load(&mut world, &mut dice, 20);
            world.malice = Malice::default();
            // Larger packets that wait from before are sent, and hosts forget the reported MTU.
            world.run(world.now + Duration::from_secs(100));
            world.told = [usize::MAX; 2];
            continue;
        }
        load(&mut world, &mut dice, 18);
        let before = world.sent[0];
        load(&mut world, &mut dice, 2);
        let rate = (world.sent[0] - before) as f64 / 2000.0;
        let sender = &world.gateways[0].peers()[0].sender;
        let queued = sender.latest.map_or(0.0, |a| f64::from(a.queued));
        let state = sender.state;
        world.run(world.now + Duration::from_secs(40));
        world.forget();
        if (2..7).contains(&(minute % 10)) {
            assert_eq!(state, State::Controlled, "minute {minute}");
            quiet.push((HELD.load(Ordering::Relaxed), rate, queued));
        }
    }
    let quarter = quiet.len() / 4;
    let most = |part: &[(usize, f64, f64)]| part.iter().map(|c| c.0).max().unwrap_or(0);
    let mean = |part: &[(usize, f64, f64)]| {
        let n = part.len() as f64;
        let (rates, queues) = (part.iter().map(|c| c.1), part.iter().map(|c| c.2));
        (rates.sum::<f64>() / n, queues.sum::<f64>() / n)
    };
    let (first, last) = (&quiet[..quarter], &quiet[3 * quarter..]);
    let (held, (began, ended)) = ((most(first), most(last)), (mean(first), mean(last)));
    eprintln!(
        "{hours} h: at most {} B held in the first quarter, {} B in the last; {:.1} and {:.1} B/ms of \
         1000; queued {:.2} and {:.2} ms; {} packets arrived",
        held.0,
        held.1,
        began.0,
        ended.0,
        began.1 * 1e3,
        ended.1 * 1e3,
        world.arrived[1],
    );
    assert!(held.1 <= held.0 + 16_384, "{held:?} B");
    for (minute, (_, rate, _)) in quiet.iter().enumerate() {
        let part = rate / began.0;
        assert!((0.9..1.1).contains(&part), "quiet minute {minute}: {rate} B/ms");
    }
    assert!((0.98..1.02).contains(&(ended.0 / began.0)), "{began:?} {ended:?}");
    assert!(began.0 > 900.0, "{began:?}");
}
