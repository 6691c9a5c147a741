//! What a station has sent live, it sends again when what came is put before it again, on no
//! clock at all: the machines are those of the packet engine, and nothing of the machine's mood
//! gets into them but the times at which packets came.

use crate::clock::Clock;
use crate::fabric::Fabric;
use crate::packet::Packet;
use crate::run::crews;
use crate::socket::Socket;
use crate::station::{Plan, Station};
use accord_scenario::{LinkId, NodeId, Scenario};
use accord_units::Time;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::sync::mpsc;

/// What came to a station, and what it sent, with the times of both.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tape {
    /// What came, at which node.
    pub inputs: Vec<(Time, NodeId, Packet)>,
    /// What came out of its links, and when it was to.
    pub outputs: Vec<(Time, LinkId, Packet)>,
}

fn station<'a>(plan: &'a Plan, crew: &[NodeId], sockets: &mut [Option<Socket>]) -> Station<'a> {
    let own = crew.iter().filter_map(|&n| Some((n, sockets[n].take()?)));
    // Nobody listens.
    Station::new(plan, own.collect(), mpsc::channel().0)
}

fn sockets(s: &Scenario) -> (Vec<Option<Socket>>, Vec<SocketAddrV4>) {
    let fabric = Fabric::loopback(s).expect("loopback is there");
    (fabric.sockets.into_iter().map(Some).collect(), fabric.next)
}

/// The tapes of a live run, by crew.
fn live(s: &Scenario) -> Vec<Tape> {
    let (mut sockets, next) = sockets(s);
    let clock = Clock::starting_in(std::time::Duration::from_millis(50));
    let plan = Plan::new(s, clock, 1, next);
    let stations: Vec<_> = (crews(s).iter())
        .map(|crew| station(&plan, crew, &mut sockets))
        .collect();
    std::thread::scope(|scope| {
        let run = |station: Station<'_>| station.run().expect("sockets work").tape;
        let threads: Vec<_> = (stations.into_iter())
            .map(|station| scope.spawn(move || run(station)))
            .collect();
        let tapes = threads.into_iter().map(|t| t.join().expect("no panic"));
        tapes.collect()
    })
}

/// What the station of this crew sends when this comes.
fn replayed(s: &Scenario, crew: &[NodeId], inputs: &[(Time, NodeId, Packet)]) -> Tape {
    let (mut sockets, next) = sockets(s);
    let nobody = Socket::bind(SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)).expect("a socket");
    let nobody = SocketAddrV4::new(Ipv4Addr::LOCALHOST, nobody.port().expect("a port"));
    let clock = Clock::starting_in(std::time::Duration::ZERO);
    let plan = Plan::new(s, clock, 1, vec![nobody; next.len()]);
    let station = station(&plan, crew, &mut sockets);
    station.replay(inputs).expect("sockets work")
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
        assert_eq!(again.outputs, tape.outputs, "crew {crew:?}");
    }
    // It is not that inputs do not matter.
    let hosts = crews.len() - 1;
    let mut fewer = tapes[hosts].inputs.clone();
    fewer.remove(fewer.len() / 2);
    let other = replayed(&s, &crews[hosts], &fewer);
    assert_ne!(other.outputs, tapes[hosts].outputs);
}
