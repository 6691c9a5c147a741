//! The outer header, as routers write it.

use crate::dice::Dice;
use crate::world::{Link, Malice, World, Writes};
use crate::{LINK, is_full, load, rate_of, seeds};
use accord_units::Duration;

const WRITTEN: &str = "virtual_delay = \"100 ms\"";

/// Routers that serve a virtual queue at 95 % of the link's rate and write its delay keep the queue of
/// the link empty, whether they forward EF first or not.
#[test]
fn virtual_delay_takes_the_place_of_a_queue() {
    for (seed, expedites) in [(41, true), (42, false)] {
        let mut world = World::with(seed, Link { expedites, ..LINK }, "", WRITTEN);
        let mut dice = Dice(seed);
        world.writes = Writes::VirtualQueue(0.95);
        load(&mut world, &mut dice, 10_000);
        let (mut rate, mut queued, mut found) = (0.0, 0.0, 0.0);
        for _ in 0..500 {
            rate += rate_of(&mut world, &mut dice, 10) / 500.0;
            queued += world.queued(1).as_ms_f64() / 500.0;
            let latest = world.gateways[0].peers()[0].sender.latest;
            found += latest.expect("a report").virtual_delay / 500.0;
        }
        assert!((2250.0..2400.0).contains(&rate), "{rate} B/ms of 2375");
        assert!(queued < 1.0, "{queued} ms wait");
        assert!((1e-3..20e-3).contains(&found), "{found} s");
    }
}

/// A hostile router can take the rate above the contract, and no more: with any numbers, and with the
/// largest one in waves of any length.
#[test]
fn whatever_is_written_the_contract_holds() {
    for seed in 0..seeds() / 3 {
        let expedites = seed % 2 == 0;
        // The larger the bound, the longer a round trip may seem, and the coarser is what holds.
        let (keys, part) = match seed % 4 {
            3 => ("virtual_delay = \"1 s\"", 0.9),
            _ => (WRITTEN, 0.99),
        };
        let mut world = World::with(seed, Link { expedites, ..LINK }, "", keys);
        let mut dice = Dice(seed ^ 0xd1ce);
        world.malice =
            Malice { truncated: 20, flipped: 20, replayed: 20, forged: 20, ..Malice::default() };
        let quiet = dice.below(2) * 2000;
        load(&mut world, &mut dice, quiet);
        let length = Duration::from_us(1000 << dice.below(13));
        world.writes = match seed % 3 {
            0 => Writes::Anything,
            1 => Writes::Waves(length),
            _ => Writes::Waves(Duration::from_secs(1000)),
        };
        load(&mut world, &mut dice, 3000);
        for second in 0..5 {
            let rate = rate_of(&mut world, &mut dice, 1000);
            assert!(
                (part * 625.0..1.05 * 2500.0).contains(&rate),
                "seed {seed}, {:?}, second {second}: {rate} B/ms",
                world.writes
            );
        }
        // When it is over, the share is back. The window grows by a packet per round trip.
        (world.malice, world.writes) = (Malice::default(), Writes::Nothing);
        load(&mut world, &mut dice, 8000);
        let rate = rate_of(&mut world, &mut dice, 1000);
        assert!(is_full(rate), "seed {seed}: {rate} B/ms of 2500");
    }
}

/// Without the key nothing has an outer header, and what routers write into one does not count.
#[test]
fn without_the_key_there_is_no_outer_header() {
    let course = |writes| {
        let mut world = World::new(43, LINK);
        let mut dice = Dice(43);
        world.writes = writes;
        load(&mut world, &mut dice, 3000);
        (world.arrived, world.sent, world.now)
    };
    assert_eq!(course(Writes::VirtualQueue(0.5)), course(Writes::Nothing));
}
