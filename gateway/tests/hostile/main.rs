//! Two gateways and a hostile network as one simulation, seed by seed.
//! `GATEWAY_SEEDS=5000 cargo test -p accord-gateway --test hostile` looks further.

mod contract;
#[path = "../common/dice.rs"]
mod dice;
mod keys;
mod mtu;
mod outer;
mod uplinks;
#[path = "../common/world.rs"]
mod world;

use accord_gateway::config::Mode;
use accord_gateway::{Sessions, State};
use accord_units::{Duration, Rate};
use dice::Dice;
use world::{Link, Malice, World};

const LINK: Link = Link {
    rate: Rate::from_bps(20_000_000),
    buffer: 50_000,
    delay: Duration::from_ms(10),
    expedites: false,
};

/// Lets hosts send for `ms` milliseconds: at one end more than the link carries, a little at the other.
fn load(world: &mut World, dice: &mut Dice, ms: u64) {
    for _ in 0..ms {
        for _ in 0..3 {
            let length = 800 + dice.below(600) as usize;
            world.host_sends(0, length, 2 * dice.below(2) as u8);
        }
        if dice.below(5) == 0 {
            world.host_sends(1, 60, 0);
        }
        world.run(world.now + Duration::from_ms(1));
    }
}

fn seeds() -> u64 {
    let seeds = std::env::var("GATEWAY_SEEDS").ok();
    seeds.and_then(|n| n.parse().ok()).unwrap_or(30)
}

/// Returns the bytes per millisecond that the first gateway sent.
fn rate_of(world: &mut World, dice: &mut Dice, ms: u64) -> f64 {
    let before = world.sent[0];
    load(world, dice, ms);
    (world.sent[0] - before) as f64 / ms as f64
}

#[test]
fn whatever_the_network_does_packets_arrive_once_and_whole() {
    let mut refused = 0;
    for seed in 0..seeds() {
        let mut dice = Dice(seed ^ 0xd1ce);
        let mut world = World::new(seed, LINK);
        world.malice = Malice {
            lost: dice.below(300),
            duplicated: dice.below(300),
            late: dice.below(300),
            truncated: dice.below(200),
            flipped: dice.below(200),
            replayed: dice.below(200),
            forged: dice.below(200),
            control_lost: dice.below(500),
            marked: dice.below(300),
            too_long: 0,
        };
        // `World::handle` holds each packet that comes out against those that went in.
        let (cap, before) = (30e6 / 8e3, world.now);
        for _ in 0..15 {
            let rate = rate_of(&mut world, &mut dice, 100);
            // A millisecond more than the cap, and the packet that was begun.
            assert!(rate <= cap * 1.01 + 15.0 + 37.5, "seed {seed}: {rate} B/ms");
        }
        assert_eq!(world.now.since(before), Duration::from_ms(1500));
        for gateway in &world.gateways {
            let peer = &gateway.peers()[0];
            let waiting = peer.edge.counts()[0].waiting.1;
            assert!(waiting <= 200_000, "seed {seed}: {waiting} B wait");
            assert!(peer.sender.rate() <= Rate::from_bps(30_000_000), "seed {seed}");
            refused += gateway.dropped.refused;
            assert_eq!(gateway.dropped.wrong_message, 0, "seed {seed}");
            assert_eq!(gateway.dropped.wrong_source, 0, "seed {seed}");
        }
        // And when it is over, the tunnel works as if nothing had been. Handshakes that crossed may
        // have left two ends with other keys (seed 69): a session in which nothing arrives restarts
        // after 3 or 4 s, and 5 s after the handshake before.
        world.malice = Malice::default();
        load(&mut world, &mut dice, 7000);
        let arrived = world.arrived[1];
        let rate = rate_of(&mut world, &mut dice, 500);
        let peer = &world.gateways[0].peers()[0];
        let open = [0, 1].map(|i| world.gateways[i].sessions().is_open(0));
        let state = peer.sender.state;
        assert_eq!(state, State::Controlled, "seed {seed}, sessions {open:?}");
        assert!(world.arrived[1] > arrived + 200, "seed {seed}");
        assert!((0.75..1.1).contains(&(rate / 2500.0)), "seed {seed}: {rate} B/ms of 2500");
    }
    assert!(refused > 100 * seeds(), "{refused} datagrams were refused");
}

#[test]
fn a_tunnel_goes_on_at_the_cap_while_no_reports_come() {
    let mut world = World::new(7, LINK);
    let mut dice = Dice(7);
    load(&mut world, &mut dice, 2000);
    assert_eq!(world.gateways[0].peers()[0].sender.state, State::Controlled);
    let arrived = world.arrived[1];
    world.malice.control_lost = 1000;
    load(&mut world, &mut dice, 4000);
    let peer = &world.gateways[0].peers()[0];
    assert_eq!(peer.sender.state, State::Blind);
    // It never stood still for long: 4 s of 20 Mbps are 8900 packets of 1120 bytes.
    let got = world.arrived[1] - arrived;
    assert!(got > 4000, "{got} packets");
    let rate = rate_of(&mut world, &mut dice, 500);
    assert!((0.9..1.1).contains(&(rate / 3750.0)), "{rate} B/ms of 3750");
    world.malice.control_lost = 0;
    load(&mut world, &mut dice, 3000);
    assert_eq!(world.gateways[0].peers()[0].sender.state, State::Controlled);
    let rate = rate_of(&mut world, &mut dice, 1000);
    assert!((0.8..1.05).contains(&(rate / 2500.0)), "{rate} B/ms of 2500");
}

#[test]
fn the_queue_in_the_network_is_what_the_service_asks_for() {
    let mut world = World::new(3, LINK);
    let mut dice = Dice(3);
    load(&mut world, &mut dice, 5000);
    let (mut sum, mut n) = (0.0, 0.0);
    for _ in 0..40 {
        load(&mut world, &mut dice, 50);
        let peer = &world.gateways[0].peers()[0];
        sum += peer.sender.latest.map_or(0.0, |a| f64::from(a.accumulation));
        n += 1.0;
    }
    // A target of 3 packets of 1480 bytes, and what carries 5 of 20 Mbps [Har02 eq. 8].
    let expected = 3.0 * 1480.0 / (1.0 - 5.0 / 20.0);
    let mean = sum / n;
    assert!((mean / expected - 1.0).abs() < 0.15, "{mean} B of {expected}");
    let waits = world.gateways[0].peers()[0].edge.len();
    assert!(waits > 20, "the others wait at the edge: {waits}");
}

/// The signal and the rate in B/ms of the last half second.
fn seen(world: &mut World, dice: &mut Dice) -> (bool, f64) {
    let rate = rate_of(world, dice, 500);
    let latest = world.gateways[0].peers()[0].sender.latest;
    (latest.expect("a report").by_delay, rate)
}

fn is_full(rate: f64) -> bool {
    (0.85..1.05).contains(&(rate / 2500.0))
}

#[test]
fn a_network_that_stops_forwarding_ef_first_is_found_out() {
    let mut dice = Dice(11);
    let mut world = World::new(11, LINK);
    for expedites in [true, false, true] {
        world.link.expedites = expedites;
        load(&mut world, &mut dice, 4000);
        let (by_delay, rate) = seen(&mut world, &mut dice);
        assert_eq!(by_delay, !expedites, "expedites: {expedites}");
        assert!(is_full(rate), "expedites: {expedites}, {rate} B/ms of 2500");
    }
}

#[test]
fn a_longer_route_is_no_queue_where_ef_goes_first() {
    let mut dice = Dice(12);
    let mut world = World::new(12, LINK);
    world.link.expedites = true;
    load(&mut world, &mut dice, 4000);
    world.link.delay = Duration::from_ms(40);
    // The window grows by a packet per round trip: from 55 KB to 210 KB of 80 ms, some 9 s.
    load(&mut world, &mut dice, 12_000);
    let (by_delay, rate) = seen(&mut world, &mut dice);
    assert!(!by_delay && is_full(rate), "{by_delay}, {rate} B/ms of 2500");
}

/// With one FIFO queue a longer route looks like a queue at first. The contract of 5 Mbps holds all the
/// same, and after the window of the floor so does the share.
#[test]
fn a_longer_route_is_a_queue_for_five_minutes_where_all_wait() {
    let mut dice = Dice(13);
    let mut world = World::new(13, LINK);
    load(&mut world, &mut dice, 4000);
    world.link.delay = Duration::from_ms(40);
    load(&mut world, &mut dice, 10_000);
    let (by_delay, rate) = seen(&mut world, &mut dice);
    assert!(by_delay && rate < 1500.0, "{by_delay}, {rate} B/ms of 2500");
    assert!(rate > 0.95 * 625.0, "{rate} B/ms of a contract of 625");
    // Probes go on while nothing is sent.
    world.run(world.now + Duration::from_secs(320));
    // The window grows by a packet per round trip: from 50 KB to 200 KB of 80 ms, some 8 s.
    load(&mut world, &mut dice, 12_000);
    let (_, rate) = seen(&mut world, &mut dice);
    assert!(is_full(rate), "{rate} B/ms of 2500");
}

/// On a path of microseconds a pair per round trip would be most of the traffic.
#[test]
fn on_a_short_path_pairs_are_few_and_the_queue_is_held() {
    let mut dice = Dice(14);
    let mut world = World::new(14, LINK);
    world.link.delay = Duration::from_us(20);
    load(&mut world, &mut dice, 2000);
    let pairs = |world: &World| world.gateways[1].peers()[0].receiver.pairs;
    let before = pairs(&world);
    let rate = rate_of(&mut world, &mut dice, 1000);
    // The queue of three packets is 1.8 ms, and a report counts 2 ms after its pair.
    let made = pairs(&world) - before;
    assert!((250..=500).contains(&made), "{made} pairs per second");
    assert!(is_full(rate), "{rate} B/ms of 2500");
}

/// Losses of 15 % for as long as the breaker wants trip it. The tunnel then keeps to a tenth of the cap,
/// although nothing is lost any more, until the breaker re-arms.
#[test]
fn losses_that_last_trip_the_breaker_and_a_network_without_them_rearms_it() {
    const BREAKER: &str = "breaker = { loss = 0.1, over = \"5 s\", rearm = \"6 s\" }";
    let mut world = World::with(21, LINK, "", BREAKER);
    let mut dice = Dice(21);
    load(&mut world, &mut dice, 3000);
    let tripped = |world: &World| world.gateways[0].peers()[0].sender.breaker.is_tripped();
    // Half a second without a packet is no reason.
    world.malice.lost = 1000;
    load(&mut world, &mut dice, 500);
    world.malice.lost = 0;
    load(&mut world, &mut dice, 6000);
    assert!(!tripped(&world));
    world.malice.lost = 150;
    load(&mut world, &mut dice, 10_000);
    assert!(tripped(&world));
    world.malice.lost = 0;
    // Tripped within 10 s, and for 6 s at least.
    let since = world.now;
    while tripped(&world) {
        let rate = rate_of(&mut world, &mut dice, 200);
        assert!(!tripped(&world) || rate < 375.0 * 1.05, "{rate} B/ms");
        assert!(world.now.since(since) < Duration::from_secs(8));
    }
    load(&mut world, &mut dice, 4000);
    let rate = rate_of(&mut world, &mut dice, 1000);
    assert!(is_full(rate), "{rate} B/ms of 2500");
    let breaker = &world.gateways[0].peers()[0].sender.breaker;
    assert_eq!(breaker.trips, 1);
}

/// A tunnel that hears nothing for long is not left at its cap: its effect on others is unknown.
#[test]
fn a_long_time_without_reports_trips_the_breaker_unless_the_file_says_never() {
    for (blind, trips) in [("12 s", 1), ("never", 0)] {
        let breaker = format!("breaker = {{ blind = \"{blind}\", rearm = \"6 s\" }}");
        let mut world = World::with(25, LINK, "", &breaker);
        let mut dice = Dice(25);
        load(&mut world, &mut dice, 2000);
        world.malice.control_lost = 1000;
        load(&mut world, &mut dice, 10_000);
        let rate = rate_of(&mut world, &mut dice, 1000);
        assert!(rate > 3000.0, "{rate} B/ms: hosts send 3480");
        load(&mut world, &mut dice, 5000);
        let breaker = world.gateways[0].peers()[0].sender.breaker.clone();
        assert_eq!((breaker.trips, breaker.is_tripped()), (trips, trips == 1));
        let rate = rate_of(&mut world, &mut dice, 1000);
        let (least, most) = if trips == 1 { (300.0, 394.0) } else { (3000.0, 3750.0) };
        assert!((least..most).contains(&rate), "{blind}: {rate} B/ms");
        // Reports re-arm it.
        world.malice.control_lost = 0;
        load(&mut world, &mut dice, 12_000);
        let breaker = &world.gateways[0].peers()[0].sender.breaker;
        assert!(!breaker.is_tripped() && breaker.trips == trips);
        let rate = rate_of(&mut world, &mut dice, 1000);
        assert!(is_full(rate), "{blind}: {rate} B/ms of 2500");
    }
}

#[test]
fn a_tripped_breaker_is_shown_in_shadow_and_rearmed_by_setting_a_mode() {
    let mut world = World::with(22, LINK, "", "breaker = { over = \"5 s\" }");
    let mut dice = Dice(22);
    assert!(world.gateways[0].set_mode("other", Mode::Shadow));
    load(&mut world, &mut dice, 2000);
    // Hosts send 3480 B/ms with the overhead of the tunnel, and the link carries 2500.
    load(&mut world, &mut dice, 8000);
    let sender = &world.gateways[0].peers()[0].sender;
    assert!(sender.breaker.is_tripped());
    let rate = rate_of(&mut world, &mut dice, 1000);
    assert!((0.95..1.02).contains(&(rate / 3480.0)), "{rate} B/ms of 3480 that hosts send");
    assert!(world.gateways[0].set_mode("other", Mode::Enforce));
    let sender = &world.gateways[0].peers()[0].sender;
    assert!(!sender.breaker.is_tripped());
    load(&mut world, &mut dice, 4000);
    let rate = rate_of(&mut world, &mut dice, 1000);
    assert!(is_full(rate), "{rate} B/ms of 2500");
}

/// One datagram in a hundred is lost, with one FIFO queue and with EF first. What halves the window
/// leaves less than half of the link, what halves the accumulation nearly all of it.
#[test]
fn a_link_that_loses_packets_is_used_if_a_loss_halves_what_is_queued() {
    for expedites in [false, true] {
        let rate = |loss: &str| {
            let link = Link { expedites, ..LINK };
            let mut world = World::with(23, link, &format!("loss = \"{loss}\""), "");
            let mut dice = Dice(23);
            world.malice.lost = 10;
            load(&mut world, &mut dice, 10_000);
            rate_of(&mut world, &mut dice, 10_000)
        };
        let (window, accumulation) = (rate("window"), rate("accumulation"));
        assert!(window < 0.6 * 2500.0, "{expedites}: {window} B/ms of 2500");
        let part = accumulation / 2500.0;
        assert!(part > 0.9, "{expedites}: {accumulation} B/ms of 2500");
    }
}

/// A route that is 20 ms longer by turns, whatever is sent: no queue where EF goes first.
#[test]
fn delay_without_load_is_no_queue_where_ef_goes_first() {
    let mut dice = Dice(14);
    let mut world = World::new(14, LINK);
    world.link.expedites = true;
    load(&mut world, &mut dice, 4000);
    let mut sent = 0.0;
    for i in 0..20 {
        world.link.delay = Duration::from_ms(if i % 2 == 0 { 30 } else { 10 });
        sent += rate_of(&mut world, &mut dice, 1000) / 20.0;
    }
    let latest = world.gateways[0].peers()[0].sender.latest;
    assert!(!latest.expect("a report").by_delay);
    // Half of the time the window is for the other round-trip time, and grows by a packet per round.
    assert!(sent > 0.6 * 2500.0, "{sent} B/ms of 2500");
    // If all packets wait, the contract is left.
    let mut world = World::new(14, LINK);
    load(&mut world, &mut dice, 4000);
    let mut sent = 0.0;
    for i in 0..20 {
        world.link.delay = Duration::from_ms(if i % 2 == 0 { 30 } else { 10 });
        sent += rate_of(&mut world, &mut dice, 1000) / 20.0;
    }
    assert!(sent > 625.0, "{sent} B/ms of a contract of 625");
}

/// A link that is never full shows no delay, and nothing holds back what hosts send.
#[test]
fn load_without_delay_is_not_held_back() {
    for expedites in [false, true] {
        let rate = Rate::from_bps(200_000_000);
        let mut world = World::new(15, Link { rate, expedites, ..LINK });
        let mut dice = Dice(15);
        load(&mut world, &mut dice, 6000);
        let rate = rate_of(&mut world, &mut dice, 1000);
        assert!((0.95..1.02).contains(&(rate / 3480.0)), "{rate} B/ms of 3480 that hosts send");
        let sender = &world.gateways[0].peers()[0].sender;
        assert_eq!(sender.state, State::Controlled);
        assert_eq!(sender.losses, 0);
        let queued = sender.latest.expect("a report").queued;
        assert!(queued < 1e-3, "{queued} s");
    }
}

/// Half of the control pairs and reports get lost, and half of all arrives twice. The contract of 5 Mbps
/// holds, and the tunnel never sends more than its cap.
#[test]
fn half_of_the_pairs_lost_and_half_repeated_leave_the_contract() {
    for expedites in [false, true] {
        let mut world = World::new(41, Link { expedites, ..LINK });
        let mut dice = Dice(41);
        load(&mut world, &mut dice, 3000);
        (world.malice.control_lost, world.malice.duplicated) = (500, 500);
        load(&mut world, &mut dice, 5000);
        for _ in 0..20 {
            let rate = rate_of(&mut world, &mut dice, 1000);
            // Each datagram that arrives twice takes the link twice: 1667 B/ms are left of 2500.
            assert!((0.95 * 625.0..3750.0 * 1.01).contains(&rate), "{rate} B/ms");
        }
        let sender = &world.gateways[0].peers()[0].sender;
        assert_eq!(sender.state, State::Controlled);
        assert_eq!(sender.breaker.trips, 0);
        world.malice = Malice::default();
        load(&mut world, &mut dice, 8000);
        let rate = rate_of(&mut world, &mut dice, 1000);
        assert!(is_full(rate), "{rate} B/ms of 2500");
    }
}

/// A machine that was suspended for an hour and goes on: its clock stood still, so all delays are
/// another hour off.
#[test]
fn a_gateway_that_was_suspended_goes_on() {
    for (end, expedites) in [(0, false), (1, false), (0, true), (1, true)] {
        let mut world = World::new(42, Link { expedites, ..LINK });
        let mut dice = Dice(42);
        load(&mut world, &mut dice, 4000);
        world.suspend(end, Duration::from_secs(3600));
        load(&mut world, &mut dice, 8000);
        let rate = rate_of(&mut world, &mut dice, 1000);
        assert!(is_full(rate), "end {end}: {rate} B/ms of 2500");
        for gateway in &world.gateways {
            let peer = &gateway.peers()[0];
            assert_eq!(peer.sender.state, State::Controlled, "end {end}");
            assert!(peer.receiver.queued < Duration::from_ms(50), "end {end}");
        }
    }
}

/// Both clocks go on while nothing is done, as on a host that stops its guests.
#[test]
fn a_pause_of_both_machines_makes_up_for_no_more_than_a_millisecond() {
    let mut world = World::new(43, LINK);
    let mut dice = Dice(43);
    load(&mut world, &mut dice, 4000);
    for pause in [Duration::from_ms(300), Duration::from_secs(60)] {
        world.stop(pause);
        let before = world.sent[0];
        world.run(world.now + Duration::from_us(10));
        // A millisecond of the cap, and a packet that was begun.
        let burst = world.sent[0] - before;
        assert!(burst <= 3750 + 2 * 1480, "{burst} B at once after {pause:?}");
        load(&mut world, &mut dice, 8000);
        let rate = rate_of(&mut world, &mut dice, 1000);
        assert!(is_full(rate), "{rate} B/ms of 2500 after {pause:?}");
    }
}

/// Five thousand flows of three packets each, alongside one that sends all the time. Drops at the edge are
/// counted, and the short flows get through.
#[test]
fn thousands_of_short_flows_are_accounted_for() {
    let mut world = World::new(44, LINK);
    let mut dice = Dice(44);
    load(&mut world, &mut dice, 4000);
    let dropped = |world: &World| {
        let counts = world.gateways[0].peers()[0].edge.counts()[0];
        counts.late + counts.overflowed
    };
    world.run(world.now + Duration::from_secs(5));
    let (before, arrived) = (dropped(&world), world.arrived[1]);
    let missing = world.missing(0) as u64;
    let (mut sent, mut most) = (0, 0);
    for flow in 0..5000u16 {
        for _ in 0..3 {
            world.flow_sends(0, 1000 + flow, 300, 0);
        }
        world.flow_sends(0, 7, 1400, 0);
        sent += 4;
        most = most.max(world.gateways[0].peers()[0].edge.counts()[0].waiting.1);
        world.run(world.now + Duration::from_ms(1));
    }
    world.run(world.now + Duration::from_secs(5));
    let (dropped, arrived) = (dropped(&world) - before, world.arrived[1] - arrived);
    assert_eq!(sent, arrived + dropped, "nothing is lost uncounted");
    assert_eq!(world.missing(0) as u64 - missing, dropped);
    assert!(most <= 200_000, "{most} B waited");
    // Short flows are 1080 of 2500 B/ms, so the long one alone has to wait.
    assert!(arrived >= 15_000, "{arrived} of {sent}");
}

/// A peer whose machine reads 8 Mbit/s and has room for 4 MB: the sender keeps the room nearly empty.
#[test]
fn a_peer_that_reads_slowly_is_not_sent_more_than_it_reads() {
    let link = Link { rate: Rate::from_bps(8_000_000), buffer: 4_000_000, ..LINK };
    let mut world = World::new(45, link);
    let mut dice = Dice(45);
    load(&mut world, &mut dice, 15_000);
    let mut most = Duration::ZERO;
    for _ in 0..100 {
        load(&mut world, &mut dice, 50);
        most = most.max(world.queued(1));
    }
    // The queue is 3 packets of the 3 Mbps beyond the contract: 12 ms of 8 Mbit/s.
    assert!(most < Duration::from_ms(25), "{most:?} are queued");
    let rate = rate_of(&mut world, &mut dice, 2000);
    assert!((0.85..1.05).contains(&(rate / 1000.0)), "{rate} B/ms of 1000");
}

/// Somebody who knows the gateway's public key sends handshakes as fast as he can, from thousands of
/// addresses. All but some get a cookie, which takes no public-key operation, and the peer gets through.
#[test]
fn a_flood_of_handshakes_costs_cookies_and_the_peer_gets_through() {
    let mut dice = Dice(0xf100d);
    let mut world = World::new(46, LINK);
    let mut flood = world::Flood::new(&world, &mut dice, 300);
    // Nothing else than a cookie answers a stranger, and other handshakes took a public-key operation:
    // 100 per second of real time, of which the thousand take some hundredths.
    let cookies = flood.hit(&mut world, 1000, &mut dice);
    assert!(cookies >= 800, "{cookies} cookies for 1000 handshakes");
    for _ in 0..30 {
        flood.hit(&mut world, 100, &mut dice);
        load(&mut world, &mut dice, 100);
    }
    assert!((0..2).all(|i| world.gateways[i].sessions().is_open(0)));
    load(&mut world, &mut dice, 5000);
    let rate = rate_of(&mut world, &mut dice, 1000);
    assert!(is_full(rate), "{rate} B/ms of 2500");
}

/// A trial counts what arrives: all of it below the contract, also if losses on the way are repaired, and
/// above the link's rate the rate of the link.
#[test]
fn a_trial_finds_what_its_class_gets() {
    let link = Link { expedites: true, ..LINK };
    let keys = "mtu = 1420\nloss = \"accumulation\"";
    let mut lost: Vec<f64> = (0..21)
        .map(|seed| {
            let mut world = World::with(seed, link, keys, "");
            world.run(world.now + Duration::from_secs(2));
            let mut trial = |mbps: u64, lost: u64| {
                let (rate, length) = (Rate::from_bps(mbps * 1_000_000), Duration::from_secs(5));
                world.malice.lost = lost;
                let now = world.now;
                let begun = world.gateways[0].begin_trial("other", 0, rate, length, now);
                begun.expect("it begins");
                let again = world.gateways[0].begin_trial("other", 0, rate, length, now);
                assert!(again.is_err(), "one at a time");
                world.wake[0] = world.now;
                world.run(world.now + Duration::from_secs(13));
                let found = world.gateways[0].trial("other").expect("a trial");
                assert!(found.over && found.arrived_packets.is_some(), "{found:?}");
                found
            };
            // Nothing is lost, and the queue is empty: packets of 1480 bytes at 4 Mbps for 5 s.
            let found = trial(4, 0);
            let packets = 4_000_000.0 * 5.0 / (8.0 * 1480.0);
            assert!((found.sent_packets as f64 - packets).abs() <= 1.0, "{found:?}");
            assert_eq!(found.loss_ratio, Some(0.0));
            assert!(found.delay_variation_s.is_some_and(|s| s < 2e-3), "{found:?}");
            // 25 of the 20 Mbps that the link carries: at the edge the packets wait, and are dropped.
            let found = trial(25, 0);
            let rate = found.rate_bytes_per_s.expect("a rate") * 8e-6;
            assert!((18.0..20.3).contains(&rate), "{rate} Mbps of 20");
            // 3 % are lost on the way and sent again, as those of a flow would be.
            let found = trial(4, 30);
            assert_eq!(world.arrived, [0, 0], "the other end keeps them for itself");
            found.loss_ratio.expect("counts")
        })
        .collect();
    // Of 1690 packets 51 are lost, and with three of a hundred reports of losses two repairs. At times the
    // edge drops some, too.
    lost.sort_by(f64::total_cmp);
    assert!(lost[10] < 0.005, "{lost:?} of 0.03");
}

#[test]
fn the_same_seed_gives_the_same_course() {
    let course = || {
        let mut world = World::new(5, LINK);
        let mut dice = Dice(5);
        world.malice.lost = 100;
        load(&mut world, &mut dice, 1000);
        (world.arrived, world.sent, world.now)
    };
    assert_eq!(course(), course());
}
