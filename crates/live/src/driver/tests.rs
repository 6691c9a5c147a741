//! A station that has run live sends the same packets again when its inputs are replayed without a
//! clock. The state machines are those of the packet engine. Only the arrival times depend on the
//! computer.

use crate::driver::{Departed, Driver, Medium, Tape, leave};
use crate::fabric::Fabric;
use crate::packet::Packet;
use crate::plan::Plan;
use crate::run::crews;
use crate::socket::Socket;
use accord_host::Clock;
use accord_scenario::{NodeId, Scenario};
use accord_sim::Machine;
use accord_units::{Duration, Time};
use std::net::SocketAddrV4;
use std::sync::mpsc;

fn sockets(s: &Scenario) -> (Vec<Option<Socket>>, Vec<SocketAddrV4>) {
    let fabric = Fabric::loopback(s).expect("loopback is there");
    (fabric.sockets.into_iter().map(Some).collect(), fabric.next)
}

/// Returns the tapes of a live run, by crew.
fn live(s: &Scenario) -> Vec<Tape> {
    let (mut sockets, next) = sockets(s);
    let clock = Clock::starting_in(Duration::from_ms(50));
    let (plan, medium) = (Plan::new(s, 1, false), Medium::new(clock, next));
    let drivers: Vec<_> = (crews(s).iter())
        .map(|crew| {
            let own = crew.iter().filter_map(|&n| Some((n, sockets[n].take()?)));
            // The samples are discarded.
            let samples = mpsc::channel().0;
            let driver = Driver::new(&plan, &medium, own.collect(), &mut [], samples);
            driver.expect("no connections")
        })
        .collect();
    std::thread::scope(|scope| {
        let run = |driver: Driver<'_>| driver.run().expect("sockets work").tape;
        let threads: Vec<_> =
            (drivers.into_iter()).map(|driver| scope.spawn(move || run(driver))).collect();
        let tapes = threads.into_iter().map(|t| t.join().expect("no panic"));
        tapes.collect()
    })
}

/// Returns the packets that the station of this crew sends for these inputs.
fn replayed(s: &Scenario, crew: &[NodeId], inputs: &[(Time, NodeId, Packet)]) -> Vec<Departed> {
    let mut machine = Machine::new(s, crew);
    for (at, node, packet) in inputs {
        let (link, parcel) = packet.read(s, &machine, *node).expect("it was taken");
        machine.enter(link, parcel, *at);
    }
    machine.advance(s.end());
    std::iter::from_fn(|| leave(&mut machine, s.end(), 1)).collect()
}

#[test]
fn a_live_run_replayed_is_the_same() {
    let s = crate::tests::read(
        r#"
        id = "parity"
        duration = "1.5 s"
        [topology.parking_lot]
        bottlenecks = 2
        rate = "2 Mbps"
        delay = "5 ms"
        queue = { discipline = "red", limit = "12 pkt" }
        [link.hop2]
        loss = 0.02
        [flow.tunnel]
        from = "r0"
        to = "r2"
        access = { rate = "100 Mbps", delay = "1 ms" }
        egress = { rate = "100 Mbps", delay = "1 ms" }
        controller = "monaco"
        [flow.stream]
        from = "r0"
        to = "r2"
        access = { rate = "100 Mbps", delay = "1 ms" }
        egress = { rate = "100 Mbps", delay = "1 ms" }
        controller = "newreno"
        demand = { on_off = { burst = "20 KB", pause = "50 ms" } }
        [[event]]
        at = "0.7 s"
        link = "hop1"
        rate = "1 Mbps"
        "#,
    );
    let crews = crews(&s);
    let tapes = live(&s);
    assert_eq!(tapes.len(), 4, "three routers, and the hosts");
    for (crew, tape) in crews.iter().zip(&tapes) {
        assert!(tape.outputs.len() > 20, "{crew:?}: {}", tape.outputs.len());
        let again = replayed(&s, crew, &tape.inputs);
        assert_eq!(again, tape.outputs, "crew {crew:?}");
    }
    // Inputs matter: without the second half of them the senders receive nothing and stop.
    let hosts = crews.len() - 1;
    let inputs = &tapes[hosts].inputs;
    let other = replayed(&s, &crews[hosts], &inputs[..inputs.len() / 2]);
    assert_ne!(other, tapes[hosts].outputs);
}
