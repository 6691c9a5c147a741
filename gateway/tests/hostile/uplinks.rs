//! A peer with two uplinks, one of which fails.

use crate::LINK;
use crate::dice::Dice;
use crate::load;
use crate::world::{UPLINKS, World, uplink};
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
