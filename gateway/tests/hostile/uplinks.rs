//! A peer with two uplinks, one of which fails.

use crate::LINK;
use crate::dice::Dice;
use crate::load;
use crate::world::{Link, Malice, UPLINKS, World, uplink};
use accord_units::Duration;

/// Lets hosts send until packets arrive again, and returns the time that took.
fn gap(world: &mut World, dice: &mut Dice) -> Duration {
    let (began, arrived) = (world.now, world.arrived[1]);
    // Packets that were on the way already.
    load(world, dice, 50);
    let on_the_way = world.arrived[1];
    assert!(on_the_way - arrived < 200, "nothing was cut");
    while world.arrived[1] == on_the_way && world.now.since(began) < Duration::from_secs(20) {
        load(world, dice, 10);
    }
    world.now.since(began)
}

/// The other uplink is called within three seconds, with data and without, and the first one again when
/// that one fails, too.
#[test]
fn the_other_uplink_is_called_within_three_seconds() {
    let mut world = World::with(71, LINK, "", UPLINKS);
    let mut dice = Dice(71);
    load(&mut world, &mut dice, 3000);
    let first = world.home;
    let handshakes = world.gateways[0].peers()[0].handshakes;
    for (cut, other) in [(first, uplink()), (uplink(), first)] {
        world.cut = Some(cut);
        let took = gap(&mut world, &mut dice);
        assert!(took < Duration::from_ms(1500), "{took}");
        assert_eq!((world.home, world.gateways[0].peers()[0].endpoint), (other, Some(other)));
    }
    // Without data.
    world.cut = None;
    world.run(world.now + Duration::from_secs(10));
    assert_eq!(world.home, first, "it stays where it is");
    world.cut = Some(first);
    world.run(world.now + Duration::from_secs(4));
    assert_eq!(world.home, uplink());
    // The session is the same.
    let arrived = world.arrived[1];
    load(&mut world, &mut dice, 500);
    assert!(world.arrived[1] > arrived + 100);
    assert_eq!(world.gateways[0].peers()[0].handshakes, handshakes);
}

/// An uplink that fails in one direction is given up, too, although messages of the peer still arrive.
#[test]
fn an_uplink_that_fails_in_one_direction_is_given_up() {
    for cut_from in [0, 1] {
        let mut world = World::with(73, LINK, "", UPLINKS);
        let mut dice = Dice(73);
        load(&mut world, &mut dice, 3000);
        let first = world.home;
        (world.cut, world.cut_from) = (Some(first), Some(cut_from));
        load(&mut world, &mut dice, 1500);
        let called = |world: &World| world.gateways[0].peers()[0].endpoint;
        assert_eq!((world.home, called(&world)), (uplink(), Some(uplink())), "from {cut_from}");
        let arrived = world.arrived[1];
        load(&mut world, &mut dice, 500);
        assert!(world.arrived[1] > arrived + 100, "from {cut_from}");
        // Without data, at the other uplink.
        (world.cut, world.cut_from) = (None, None);
        world.run(world.now + Duration::from_secs(10));
        assert_eq!(called(&world), Some(uplink()), "it stays where it is");
        (world.cut, world.cut_from) = (Some(uplink()), Some(cut_from));
        world.run(world.now + Duration::from_secs(4));
        assert_eq!((world.home, called(&world)), (first, Some(first)), "from {cut_from}");
    }
}

/// An idle tunnel on a path that loses much stays at its uplink.
#[test]
fn lost_probes_do_not_move_an_idle_tunnel() {
    let mut world = World::with(74, LINK, "", UPLINKS);
    load(&mut world, &mut Dice(74), 1000);
    let first = world.home;
    world.malice = Malice { lost: 200, ..Malice::default() };
    for _ in 0..600 {
        world.run(world.now + Duration::from_secs(1));
        assert_eq!(world.home, first, "{}", world.now);
    }
}

/// On a long path four round trips are longer than a second.
#[test]
fn the_gap_grows_with_the_round_trip() {
    let gaps = [400, 700].map(|round_trip| {
        let delay = Duration::from_ms(round_trip / 2);
        let mut world = World::with(75, Link { delay, ..LINK }, "", UPLINKS);
        let mut dice = Dice(75);
        load(&mut world, &mut dice, 10_000);
        world.cut = Some(world.home);
        let began = world.now;
        // Packets that were on the way already.
        load(&mut world, &mut dice, 600);
        let arrived = world.arrived[1];
        while world.arrived[1] == arrived && world.now.since(began) < Duration::from_secs(20) {
            load(&mut world, &mut dice, 10);
        }
        world.now.since(began)
    });
    assert!(gaps[0] < Duration::from_secs(3) && gaps[1] > Duration::from_secs(3), "{gaps:?}");
}

/// The first uplink is dead from the start: the session begins over the other.
#[test]
fn a_session_begins_over_the_uplink_that_works() {
    let mut world = World::with(72, LINK, "", UPLINKS);
    world.cut = Some(world.home);
    let mut dice = Dice(72);
    world.run(world.now + Duration::from_secs(5));
    let arrived = world.arrived[1];
    load(&mut world, &mut dice, 1000);
    assert_eq!(world.home, uplink());
    assert!(world.arrived[1] > arrived + 100);
}
