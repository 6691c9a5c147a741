//! Contracts: they are there at once, and they give way where it does not fit.

use crate::LINK;
use crate::dice::Dice;
use crate::load;
use crate::world::{Link, Malice, World};
use accord_door::State as _;
use accord_gateway::State;
use accord_gateway::config::parse;
use accord_gateway::status::{ConfigStatus, Status, status};
use accord_units::{Duration, Rate};

/// A long path, so a rate that grows by round trips takes a second to be there.
const LONG: Link = Link { delay: Duration::from_ms(100), ..LINK };

/// Nine tenths of the contract, after silences of any length, do not wait and lose nothing.
#[test]
fn a_contract_is_there_at_once_after_a_silence() {
    let mut world = World::new(51, LONG);
    // The first packets meet a peer of which nothing is known.
    for _ in 0..3000 {
        world.host_sends(0, 500, 0);
        world.run(world.now + Duration::from_ms(1));
    }
    for silence in [200, 1000, 4000, 30_000] {
        world.run(world.now + Duration::from_ms(silence));
        let arrived = world.arrived[1];
        for ms in 0..2000 {
            // 562 B of 625 per ms, 60 of which the tunnel adds to each packet.
            if ms % 2 == 0 {
                world.host_sends(0, 1065, 0);
            }
            world.run(world.now + Duration::from_ms(1));
            let waiting = world.gateways[0].peers()[0].edge.len();
            assert!(waiting <= 1, "{waiting} packets wait {ms} ms after {silence} ms");
        }
        world.run(world.now + Duration::from_ms(300));
        assert_eq!(world.arrived[1] - arrived, 1000, "after {silence} ms");
    }
}

/// A link that carries four fifths of the contract: the tunnel takes the rate of the link, and loses so
/// little that the breaker stays closed.
#[test]
fn a_contract_that_does_not_fit_gives_way() {
    for expedites in [false, true] {
        let rate = Rate::from_bps(4_000_000);
        let mut world = World::new(52, Link { rate, expedites, buffer: 20_000, ..LINK });
        let mut dice = Dice(52);
        load(&mut world, &mut dice, 5000);
        let sender = |world: &World| {
            let sender = &world.gateways[0].peers()[0].sender;
            (sender.state, sender.losses_and_arrivals(), sender.breaker.trips)
        };
        let (_, (lost_before, before), _) = sender(&world);
        load(&mut world, &mut dice, 60_000);
        let (state, (lost, arrived), trips) = sender(&world);
        let (lost, arrived) = (lost - lost_before, arrived - before);
        assert_eq!((state, trips), (State::Controlled, 0));
        let part = lost as f64 / (lost + arrived) as f64;
        assert!(part < 0.08, "{part} of the data is lost");
        // 500 B/ms in all.
        let rate = arrived as f64 / 60_000.0;
        assert!(rate > 450.0, "{rate} B/ms of 500");
    }
}

/// A trial asks for no more than twice the cap, and however much it asks for, each look at the gateway
/// ends.
#[test]
fn a_trial_does_not_stop_the_gateway() {
    let mut world = World::new(53, LINK);
    world.run(world.now + Duration::from_secs(2));
    let begin = |mbps: u64, world: &mut World| {
        let (rate, length) = (Rate::from_bps(mbps * 1_000_000), Duration::from_secs(5));
        let now = world.now;
        world.gateways[0].begin_trial("other", 0, rate, length, now)
    };
    for mbps in [61, 12_500, 1_000_000, 1_000_000_000] {
        let error = begin(mbps, &mut world).expect_err("the cap is 30 Mbps");
        assert!(error.contains("2 times the cap"), "{error}");
    }
    begin(60, &mut world).expect("it begins");
    // The machine stood still for a minute: the trial is behind by 60 Mbps for 5 s, 25 000 packets.
    let late = world.now + Duration::from_secs(60);
    let mut sent = 0;
    world.gateways[0].poll(late, &mut |_| sent += 1);
    assert!(sent < 300, "{sent} datagrams at once");
}

/// A path that loses 3 % of the data at random. Of a tunnel with a contract nearly all packets arrive, each
/// once. A tunnel without one repairs nothing.
#[test]
fn losses_of_a_contract_are_repaired() {
    let lost = [("5 Mbps", 0.0..0.003), ("0 Mbps", 0.015..1.0)].map(|(contract, range)| {
        let service = format!("service = {{ contract = \"{contract}\" }}");
        let mut world = World::with(54, LINK, "", &service);
        let send = |world: &mut World, ms: u64| {
            for ms in 0..ms {
                // 424 B of 625 per ms.
                if ms % 2 == 0 {
                    world.host_sends(0, 788, 0);
                }
                world.run(world.now + Duration::from_ms(1));
            }
        };
        send(&mut world, 3000);
        world.malice = Malice { lost: 30, ..Malice::default() };
        // Packets are kept from the first loss on.
        send(&mut world, 1000);
        let arrived = world.arrived[1];
        send(&mut world, 20_000);
        let part = 1.0 - (world.arrived[1] - arrived) as f64 / 10_000.0;
        assert!(range.contains(&part), "{contract}: {part} of the packets lost");
        world.gateways[0].peers()[0].repairs.count
    });
    assert!((200..500).contains(&lost[0]) && lost[1] == 0, "{lost:?}");
}

fn state_of(world: &World) -> Status {
    let site = parse("", "[gateway]\nkey = \"x\"\nlisten = \"192.0.2.1:1\"\n").expect("a site");
    status(&world.gateways[0], &site, &ConfigStatus::default(), Vec::new(), 1.0)
}

/// A long buffer of a link that carries less than the contract: the tunnel yields at its limit, and says
/// so. Where the link carries it again, the contract is kept, and the state is as before.
#[test]
fn a_contract_at_its_limit_says_so() {
    let link = Link { rate: Rate::from_bps(3_000_000), buffer: 500_000, ..LINK };
    let service = "service = { contract = \"5 Mbps\", limit = \"100 ms\" }";
    let mut world = World::with(57, link, "", service);
    let mut dice = Dice(57);
    load(&mut world, &mut dice, 20_000);
    let Status { peers, .. } = state_of(&world);
    let peer = &peers[0];
    assert_eq!(peer.state, "limited", "{peer:?}");
    let kept = peer.contract_kept.expect("data waited");
    assert!((0.45..0.65).contains(&kept), "{kept}");
    assert!(peer.limited_s > 5.0 && peer.busy_s > 15.0, "{peer:?}");
    assert_eq!(peer.yields_from_s, Some(0.1));
    let reason = peer.reason.as_deref().expect("a reason");
    assert!(reason.contains("longer than 100 ms"), "{reason}");
    let (table, metrics) = (state_of(&world).table(), state_of(&world).metrics());
    assert!(table.contains(reason), "{table}");
    assert!(metrics.contains("accord_gateway_state{peer=\"other\",state=\"limited\"} 1"));
    world.link = LINK;
    load(&mut world, &mut dice, 20_000);
    let Status { peers, .. } = state_of(&world);
    let peer = &peers[0];
    assert_eq!((peer.state, peer.reason.as_deref()), ("controlled", None), "{peer:?}");
    assert!(peer.contract_kept.is_some_and(|kept| kept > 1.0), "{peer:?}");
}

/// An outage breaks the contract, with much data or with little. A minute after the last data nothing is said of it.
#[test]
fn an_outage_counts_and_is_forgotten() {
    let seen = |world: &World| {
        let Status { peers, .. } = state_of(world);
        (peers[0].state, peers[0].contract_kept, peers[0].busy_s)
    };
    for per_second in [1, 1000] {
        let mut world = World::new(58, LINK);
        let mut dice = Dice(58);
        load(&mut world, &mut dice, 15_000);
        let (_, kept, before) = seen(&world);
        assert!(kept.is_some_and(|kept| kept > 1.0), "{kept:?}");
        world.cut = Some(world.home);
        for ms in 0..20_000 {
            if ms % (1000 / per_second) == 0 {
                world.host_sends(0, 1000, 0);
            }
            world.run(world.now + Duration::from_ms(1));
        }
        let (state, kept, busy) = seen(&world);
        assert_eq!((state, kept), ("blind", Some(0.0)), "{per_second} packets per second");
        assert!(busy - before > 15.0, "{} of 20 s", busy - before);
        world.cut = None;
        load(&mut world, &mut dice, 12_000);
        assert!(seen(&world).1.is_some_and(|kept| kept > 1.0), "{:?}", seen(&world));
        world.run(world.now + Duration::from_secs(70));
        assert_eq!(seen(&world).1, None);
    }
}

/// Data that waits for a session that does not come about breaks the contract, too.
#[test]
fn a_contract_without_a_session_is_not_kept() {
    let mut world = World::new(59, LINK);
    world.cut = Some(world.home);
    world.run(world.now + Duration::from_secs(5));
    assert_eq!(state_of(&world).peers[0].contract_kept, None);
    load(&mut world, &mut Dice(59), 5000);
    let Status { peers, .. } = state_of(&world);
    assert_eq!((peers[0].up, peers[0].contract_kept), (false, Some(0.0)));
}

/// The same with two connections of TCP. Their segments arrive in order, although those that are sent again are a
/// round trip late. If the other end does not repair losses, none waits.
#[test]
fn connections_see_the_repairs_in_order() {
    let overtaken = ["5 Mbps", "0 Mbps"].map(|contract| {
        let service = format!("service = {{ contract = \"{contract}\" }}");
        let mut world = World::with(55, LINK, "", &service);
        let mut next = [0, u32::MAX - 100_000];
        let mut send = |world: &mut World, ms: u64| {
            for ms in 0..ms {
                if ms % 2 == 0 {
                    let port = usize::from(ms % 4 == 0);
                    world.segment_sends(0, port as u16, next[port], 788);
                    next[port] = next[port].wrapping_add(748);
                }
                world.run(world.now + Duration::from_ms(1));
            }
        };
        send(&mut world, 3000);
        world.malice = Malice { lost: 30, ..Malice::default() };
        send(&mut world, 1000);
        world.segments.clear();
        send(&mut world, 20_000);
        let (mut latest, mut overtaken) = ([None::<u32>; 2], 0);
        for (port, number) in &world.segments {
            let latest = &mut latest[usize::from(*port)];
            let is_late = latest.is_some_and(|l| (number.wrapping_sub(l) as i32) < 0);
            overtaken += u32::from(is_late);
            *latest = Some(if is_late { latest.unwrap_or(*number) } else { *number });
        }
        (overtaken, world.segments.len())
    });
    // Three of a hundred repairs are lost, too, and as many reports.
    let [(with, arrived), (without, _)] = overtaken;
    assert!(arrived > 9000 && with < 100, "{with} of 300 repairs, {arrived} segments");
    assert_eq!(without, 0, "no packet is sent again");
}
