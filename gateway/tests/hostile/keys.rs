//! An end changes its key while hosts send.

use crate::LINK;
use crate::dice::Dice;
use crate::load;
use crate::world::{Malice, World};
use accord_gateway::Sessions;
use accord_gateway::keys::{PrivateKey, PublicKey};
use accord_units::Duration;

/// Returns the keys in use of both ends, as each of them sees them, if they agree.
fn in_use(world: &World) -> Option<(PublicKey, PublicKey)> {
    let [one, other] = [0, 1].map(|end| world.gateways[end].sessions().keys(0));
    let (own, theirs) = one?;
    (other? == (theirs, own)).then_some((own, theirs))
}

/// Lets hosts send for `ms` milliseconds, and checks that packets arrive in each 40 of them.
fn flows(world: &mut World, dice: &mut Dice, ms: u64) {
    for _ in 0..ms / 40 {
        let before = world.arrived[1];
        load(world, dice, 40);
        assert!(world.arrived[1] > before, "nothing arrives at {}", world.now);
    }
}

/// The peer lists the new key, the end changes to it, and the peer forgets the old one. No packet is
/// lost and none is held up, whoever has which address.
#[test]
fn no_packet_is_lost_while_a_key_changes() {
    for end in [0, 1] {
        let mut world = World::new(81, LINK);
        let mut dice = Dice(81);
        // More is not sent than the link carries.
        world.link.rate = accord_units::Rate::from_bps(100_000_000);
        load(&mut world, &mut dice, 2000);
        let (old, peer) = (world.key(end), world.key(1 - end));
        let new = PrivateKey::new([7; 32]);
        world.reload(1 - end, &peer, &[new.public(), old.public()]);
        flows(&mut world, &mut dice, 400);
        let before = [old.public(), peer.public()];
        let order = |keys: [PublicKey; 2]| (keys[end], keys[1 - end]);
        assert_eq!(in_use(&world), Some(order(before)));
        world.reload(end, &new, &[peer.public()]);
        flows(&mut world, &mut dice, 400);
        let after = Some(order([new.public(), peer.public()]));
        assert_eq!(in_use(&world), after);
        // The old sessions end, and the old key is forgotten.
        flows(&mut world, &mut dice, 12_000);
        world.reload(1 - end, &peer, &[new.public()]);
        flows(&mut world, &mut dice, 400);
        assert_eq!(in_use(&world), after);
        world.run(world.now + Duration::from_secs(2));
        for (end, gateway) in world.gateways.iter().enumerate() {
            let peer = &gateway.peers()[0];
            let counts = peer.edge.counts()[0];
            assert_eq!(world.missing(end) as u64, counts.late + counts.overflowed);
            assert_eq!((peer.sender.losses, gateway.dropped.refused), (0, 0), "of {end}");
        }
    }
}

/// On a bad network the new key comes into use, and so does the old one again.
#[test]
fn a_key_changes_on_a_bad_network_and_back() {
    for seed in 0..crate::seeds() {
        let mut world = World::new(seed, LINK);
        let mut dice = Dice(seed ^ 0x5eed);
        world.malice = Malice {
            lost: 200,
            duplicated: 200,
            late: 200,
            replayed: 200,
            forged: 100,
            ..Malice::default()
        };
        load(&mut world, &mut dice, 1500);
        let (old, peer) = (world.key(0), world.key(1));
        let new = PrivateKey::new([7; 32]);
        world.reload(1, &peer, &[old.public(), new.public()]);
        for own in [&new, &old] {
            world.reload(0, own, &[peer.public()]);
            let (after, mut arrived) = (Some((own.public(), peer.public())), 0);
            // Handshakes that cross cost some seconds, whether keys change or not.
            for _ in 0..200 {
                let before = world.arrived[1];
                load(&mut world, &mut dice, 50);
                arrived += if in_use(&world) == after { world.arrived[1] - before } else { 0 };
                if arrived > 50 {
                    break;
                }
            }
            assert!(arrived > 50, "seed {seed}: {arrived}");
        }
    }
}

/// A peer that does not know the new key goes on with the session of the old one. A key that the peer has
/// removed is worth nothing at once.
#[test]
fn the_old_session_lasts_until_the_peer_forgets_its_key() {
    let mut world = World::new(83, LINK);
    let mut dice = Dice(83);
    load(&mut world, &mut dice, 1000);
    let (old, peer) = (world.key(0), world.key(1));
    let new = PrivateKey::new([7; 32]);
    world.reload(0, &new, &[peer.public()]);
    flows(&mut world, &mut dice, 2000);
    assert_eq!(in_use(&world), Some((old.public(), peer.public())));
    world.reload(1, &peer, &[PrivateKey::new([8; 32]).public()]);
    let before = world.arrived[1];
    load(&mut world, &mut dice, 500);
    assert_eq!(world.arrived[1], before, "a removed key is still worth something");
    world.reload(1, &peer, &[new.public()]);
    load(&mut world, &mut dice, 6000);
    assert_eq!(in_use(&world), Some((new.public(), peer.public())));
    assert!(world.arrived[1] > before + 100);
}
