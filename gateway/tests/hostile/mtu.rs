//! Paths that take less than the device.

use crate::dice::Dice;
use crate::world::World;
use crate::{LINK, load, rate_of, seeds};
use accord_gateway::State;
use accord_units::Duration;

/// The path takes less than the device, and no router says so. Hosts get messages, and send no longer
/// packets from then on.
#[test]
fn a_path_with_a_small_mtu_is_found_out_and_hosts_are_told() {
    for takes in [1480, 1400, 1340, 1250, 1000] {
        let mut world = World::new(31, LINK);
        let mut dice = Dice(31);
        world.malice.too_long = takes - 28 + 1;
        load(&mut world, &mut dice, 30_000);
        let inside = takes - 60;
        let search = world.gateways[0].peers()[0].path_mtu.clone();
        let limit = usize::from(search.expect("a search").limit());
        assert!(limit <= inside && limit + 8 >= inside.min(1420), "{limit} B of {inside}");
        assert!(world.told[0] <= inside || inside >= 1400);
        let arrived = world.arrived[1];
        let rate = rate_of(&mut world, &mut dice, 1000);
        // Hosts with a message of 940 bytes send less than the link carries.
        assert!((1870.0..2625.0).contains(&rate), "{takes}: {rate} B/ms");
        assert!(world.arrived[1] - arrived > 1500, "{takes}");
        assert!(world.gateways[0].dropped.too_big > 0 || inside >= 1400);
    }
}

/// The path MTU is not discovered to plain WireGuard, nor to a peer in mode bypass. Routers may
/// fragment long datagrams there, and none is lost.
#[test]
fn datagrams_of_an_unprobed_path_may_be_fragmented() {
    for (peer, state) in [("", State::Plain), ("mode = \"bypass\"", State::Unknown)] {
        let mut world = World::with(37, LINK, "", peer);
        let mut dice = Dice(37);
        // The other end answers no control message.
        world.malice.control_lost = 1000;
        for _ in 0..10_000 {
            world.run(world.now + Duration::from_ms(1));
        }
        assert_eq!(world.gateways[0].peers()[0].sender.state, state);
        world.malice.too_long = 1200;
        for _ in 0..1000 {
            world.host_sends(0, 1000 + dice.below(421) as usize, 0);
            world.run(world.now + Duration::from_ms(1));
        }
        world.run(world.now + Duration::from_ms(100));
        assert_eq!((world.arrived[1], world.missing(0)), (1000, 0), "{peer}");
        assert_eq!(world.gateways[0].dropped.too_big, 0);
    }
}

/// In the middle of a transfer the route changes to one that takes less. Packets that are too long get
/// lost for some seconds, until probes of that size have failed.
#[test]
fn an_mtu_black_hole_is_found_within_seconds() {
    for seed in 0..seeds().min(6) {
        let mut world = World::new(seed, LINK);
        let mut dice = Dice(seed);
        load(&mut world, &mut dice, 4000);
        // Hosts send 800 to 1400 bytes. Only one in ten is lost at 1340, and nearly all at 860.
        let takes = [860, 1000, 1340][(seed % 3) as usize];
        world.malice.too_long = takes + 32 + 1;
        let since = world.now;
        let limit = |world: &World| {
            let search = world.gateways[0].peers()[0].path_mtu.as_ref();
            usize::from(search.expect("a search").limit())
        };
        while limit(&world) > takes {
            load(&mut world, &mut dice, 100);
            // 10 s to the confirmation, and three probes of a second for each size that fails.
            let late = world.now.since(since) > Duration::from_secs(18);
            assert!(!late, "seed {seed}: {} B of {takes}", limit(&world));
        }
        load(&mut world, &mut dice, 25_000);
        assert!(limit(&world) <= takes && limit(&world) + 8 >= takes);
        let arrived = world.arrived[1];
        let rate = rate_of(&mut world, &mut dice, 1000);
        // Hosts keep to the smallest MTU of their messages, and so send less than the link carries.
        let most = (3 * (world.told[0].min(1100) + 60)).min(2500) as f64;
        assert!(rate > 0.9 * most, "seed {seed}: {rate} B/ms of {most}");
        assert!(world.arrived[1] - arrived > 1800, "seed {seed}");
    }
}
