//! Flows of third-party stacks in machines: whole IP packets with their bytes, ends that are state
//! machines, and ends outside.

use crate::common::*;
use accord_family::{Raw, Stack};
use accord_record::Quiet;
use accord_scenario::*;
use accord_sim::{CarriedEnd, Machine, Order, Part, Whole};
use accord_traffic::Demand;
use accord_transport::wire::{CAPABLE, ECN, EXPEDITED, MARKED};
use accord_transport::{Carried, Connector, Datagram, Ends, View, ip};
use accord_units::*;
use std::collections::BTreeSet;

/// A stack without its own controller.
static STACK: Stack = Stack {
    name: "window",
    check: |_| Ok(()),
    repeats: |_| Ok(()),
    maker: &Connector(&|_| Ok(ends())),
};

fn ends() -> Ends {
    [Box::<Client>::default(), Box::<Server>::default()]
}

/// The sending end of a connection that sends eight packets per round trip, and all again after
/// half a second of silence.
#[derive(Debug, Default)]
struct Client {
    supplied: u64,
    next: u64,
    acknowledged: u64,
    deadline: Option<Time>,
    /// The datagrams that arrived with a mark.
    marked: u64,
}

/// The receiving end, which answers each datagram with its number.
#[derive(Debug, Default)]
struct Server {
    arrived: BTreeSet<u64>,
    answers: Vec<(u64, u8)>,
}

impl Carried for Client {
    fn supply(&mut self, packets: u64, _: bool, _: Time) {
        self.supplied = self.supplied.saturating_add(packets);
    }

    fn is_done(&self) -> bool {
        self.acknowledged == self.supplied
    }

    fn stop(&mut self, _: Time) {
        self.supplied = self.next;
    }

    fn receive(&mut self, payload: &[u8], ecn: u8, _: Time) -> bool {
        self.marked += u64::from(ecn == MARKED);
        let number = u64::from_be_bytes(payload.try_into().expect("a number"));
        self.acknowledged = self.acknowledged.max(number + 1);
        self.next = self.next.max(self.acknowledged);
        true
    }

    fn poll(&mut self, now: Time) -> Option<Datagram> {
        if self.next >= self.supplied || self.next >= self.acknowledged + 8 {
            return None;
        }
        let mut payload = self.next.to_be_bytes().to_vec();
        payload.resize(900, 0);
        self.next += 1;
        self.deadline = Some(now + Duration::from_ms(500));
        Some(Datagram { payload, ecn: CAPABLE })
    }

    fn next_wake(&mut self) -> Time {
        self.deadline.filter(|_| self.next > self.acknowledged).unwrap_or(Time::MAX)
    }

    fn on_wake(&mut self, _: Time) {
        self.next = self.acknowledged;
    }

    fn view(&self) -> View {
        View { retransmissions: self.marked, ..View::default() }
    }
}

impl Carried for Server {
    fn receive(&mut self, payload: &[u8], ecn: u8, _: Time) -> bool {
        let number = u64::from_be_bytes(payload[..8].try_into().expect("a number"));
        self.answers.push((number, ecn));
        self.arrived.insert(number)
    }

    fn poll(&mut self, _: Time) -> Option<Datagram> {
        let (number, ecn) = self.answers.pop()?;
        Some(Datagram { payload: number.to_be_bytes().to_vec(), ecn })
    }

    fn next_wake(&mut self) -> Time {
        Time::MAX
    }

    fn on_wake(&mut self, _: Time) {}
}

/// Two flows of the stack and one of ours over a queue that marks and drops.
fn carried() -> Scenario {
    let queue = discipline("red", &[("ecn", Raw::Flag(true))]);
    let mut s = Dumbbell::new("2 Mbps", "5 ms", queue, Limit::Packets(20), "4 s")
        .flows("stack", 2, controller("newreno", &[]), "20 Mbps", (1000, 900), ("0 s", None), true)
        .flows("ours", 1, controller("newreno", &[]), "20 Mbps", (700, 900), ("1 s", None), true)
        .0;
    s.links[0].loss = 0.01;
    for flow in &mut s.flows[..2] {
        flow.carrier = Carrier::Quic(&STACK);
    }
    s.flows[1].demand = Demand::Size(Bytes::new(200_000));
    s
}

/// Runs the scenario on machines with these nodes. Returns the last parts, and the sum of digests.
fn run(s: &Scenario, crews: &[Vec<NodeId>]) -> (Vec<Part>, Vec<String>, u64) {
    let mut machines: Vec<Machine> = crews.iter().map(|nodes| Machine::new(s, nodes)).collect();
    let place = |node: NodeId| crews.iter().position(|nodes| nodes.contains(&node)).unwrap();
    for flow in 0..2 {
        let (source, sink) = s.ends(flow);
        let (here, there) = (([198, 18, 0, flow as u8], 5), ([198, 18, 1, flow as u8], 6));
        let (client, server) = (Box::<Client>::default(), Box::<Server>::default());
        let client = CarriedEnd { end: client, from: here, to: there };
        let server = CarriedEnd { end: server, from: there, to: here };
        machines[place(source)].connect(flow, 0, client);
        machines[place(sink)].connect(flow, 1, server);
    }
    let lookahead = machines.iter().map(Machine::lookahead).min().unwrap();
    let mut last = Vec::new();
    let mut now = Time::ZERO;
    while now < s.end() {
        now = (now + lookahead).min(s.end());
        machines.iter_mut().for_each(|machine| machine.advance(now));
        let parts: Vec<Part> = machines.iter_mut().flat_map(|m| m.parts().pop()).collect();
        last = if parts.is_empty() { last } else { parts };
        for i in 0..machines.len() {
            assert!(machines[i].orders().is_empty(), "no end is outside");
            while let Some(departure) = machines[i].leave(now + lookahead) {
                let to = place(s.links[departure.link].to);
                machines[to].enter(departure.link, departure.parcel, departure.at);
            }
        }
    }
    let mut digest = accord_sim::Digest::new(s.seed);
    let mut broken = Vec::new();
    let mut transfers = 0;
    for machine in machines {
        let tally = machine.finish();
        digest.merge(s.seed, tally.digest);
        broken.extend(tally.broken.into_iter().map(|b| b.text(s)));
        let done = tally.transfers.finish().0;
        transfers += done.iter().filter(|t| t.duration.is_finite()).count() as u64;
    }
    broken.push(digest.to_string());
    (last, broken, transfers)
}

#[test]
fn a_stack_in_virtual_time_is_the_same_in_one_machine_and_in_three() {
    let s = carried();
    let all = vec![(0..s.nodes.len()).collect()];
    let (parts, whole, transfers) = run(&s, &all);
    let three = [vec![0], vec![1], (2..s.nodes.len()).collect()];
    let (divided, same, _) = run(&s, &three);
    assert_eq!(whole, same, "the digest");
    let marks = |parts: &[Part]| -> u64 {
        let sources = parts.iter().flat_map(|p| &p.sources);
        sources.map(|(_, r)| r.view.retransmissions).sum()
    };
    assert!(marks(&parts) > 0, "the queue marked something, and the mark came back");
    assert_eq!(marks(&parts), marks(&divided));
    assert_eq!(transfers, 1, "the transfer of the second flow");
    let sum = |parts: &[Part], read: fn(&Part) -> u64| parts.iter().map(read).sum::<u64>();
    let reads: [fn(&Part) -> u64; 4] = [
        |p| p.sources.iter().map(|(_, r)| r.sent).sum(),
        |p| p.sinks.iter().map(|(_, r)| r.fresh).sum(),
        |p| p.sinks.iter().map(|(_, r)| r.delivered).sum(),
        |p| p.lost.iter().map(|lost| lost.packets).sum(),
    ];
    for read in reads {
        assert_eq!(sum(&parts, read), sum(&divided, read));
        assert!(sum(&parts, read) > 0);
    }
    // Packets count with their length: 28 bytes of headers and the payload. The transfer is over.
    let ((_, source), (_, sink)) = (parts[0].sources[1], parts[0].sinks[1]);
    assert!(source.sent >= 200 * 928, "200 packets");
    assert_eq!(source.sent, sink.delivered + parts[0].lost[1].bytes);
}

/// The packet engine is the machine with all nodes.
#[test]
fn a_stack_in_a_run_is_the_same_as_in_a_machine() {
    let s = carried();
    let all = vec![(0..s.nodes.len()).collect()];
    let (parts, whole, transfers) = run(&s, &all);
    let (run, ports, flows) = accord_sim::run_audited(&s, &mut Quiet).expect("it ends");
    assert_eq!(run.manifest.digest, *whole.last().expect("a digest"));
    let plan = run.manifest.plan.as_deref();
    assert_eq!(plan, Some("events: flow stack.0 is a connection of another stack"));
    for audit in ports.iter().chain(&flows) {
        assert_eq!(audit.entered, audit.left + audit.dropped + audit.held);
    }
    assert_eq!(flows[0].entered.bytes, parts[0].sources[0].1.sent);
    let done = run.transfers.iter().filter(|t| t.duration.is_finite());
    assert_eq!(done.count() as u64, transfers);
}

/// A packet of an end outside passes the ports, and is delivered outside with its bytes and its mark.
#[test]
fn ends_outside_get_orders_and_their_packets_keep_their_bytes() {
    let mut s = carried();
    s.flows[0].carrier = Carrier::Kernel(Congestion::Named("cubic".into()));
    let s = s;
    let all: Vec<NodeId> = (0..s.nodes.len()).collect();
    let mut machine = Machine::new(&s, &all);
    assert_eq!(machine.lookahead(), Duration::ZERO, "the kernel has its own clock");
    machine.advance(Time::ZERO);
    let supplied = machine.orders().into_iter().any(|o| matches!(o, Order::Supply(0, u64::MAX)));
    assert!(supplied);
    let bytes = ip::wrap_udp(([1; 4], 1), ([2; 4], 2), CAPABLE, vec![7; 500]);
    for tos in [CAPABLE, CAPABLE, EXPEDITED] {
        machine.send(0, 0, &Whole { tos, is_data: true, bytes: &bytes });
    }
    machine.advance(Time::ZERO + Duration::from_ms(100));
    let delivered: Vec<_> = (machine.orders().into_iter())
        .filter_map(|order| match order {
            Order::Deliver(parcel) if parcel.packet.flow == 0 => Some(parcel),
            _ => None,
        })
        .collect();
    let classes: Vec<u8> = delivered.iter().map(|p| p.packet.tos_of_whole() & !ECN).collect();
    assert_eq!(classes, [0, EXPEDITED, 0], "a control packet overtakes one that waits");
    for parcel in &delivered {
        assert!(!parcel.packet.is_answer());
        assert_eq!(parcel.bytes.as_deref(), Some(&bytes[..]));
        machine.taken(0, parcel.packet.bytes(), true);
    }
    machine.send(0, 1, &Whole { tos: 0, is_data: true, bytes: &bytes[..40] });
    machine.advance(Time::ZERO + Duration::from_ms(200));
    let answers = machine.orders().into_iter().filter(|order| match order {
        Order::Deliver(parcel) => parcel.packet.is_answer() && parcel.packet.flow == 0,
        _ => false,
    });
    assert_eq!(answers.count(), 1);
    let part = machine.parts().pop().expect("a sample");
    // Control packets are not data.
    assert_eq!(part.sources[0].1.sent, 2 * 528);
    assert_eq!(part.sinks[0].1.delivered, 3 * 528);
}

/// Riders of a tunnel whose gateways are outside: their packets are handed over at its entry and come
/// back at its exit.
#[test]
fn packets_of_riders_are_handed_over_at_the_entry_of_their_tunnel() {
    let mut s = scenario(
        r#"
        id = "riders"
        duration = "1 s"
        [link.core]
        from = "west"
        to = "hub"
        rate = "10 Mbps"
        delay = "5 ms"
        [flow.tunnel]
        from = "west"
        to = "hub"
        controller = "monaco"
        packet = "1060 B"
        tunnel = {}
        [flow.users]
        through = "tunnel"
        controller = "cubic"
        "#,
    );
    s.flows[1].carrier = Carrier::Kernel(Congestion::Named("cubic".into()));
    let s = s;
    let all: Vec<NodeId> = (0..s.nodes.len()).collect();
    let mut machine = Machine::new(&s, &all);
    let bytes = ip::wrap_udp(([1; 4], 1), ([2; 4], 2), 0, vec![7; 500]);
    let whole = Whole { tos: 0, is_data: true, bytes: &bytes };
    machine.send(1, 0, &whole);
    let entered = |machine: &mut Machine, ms: u64| {
        machine.advance(Time::ZERO + Duration::from_ms(ms));
        let orders = machine.orders().into_iter();
        let orders = orders.filter_map(|order| match order {
            Order::Enter(0, parcel) => Some(("enter", parcel)),
            Order::Deliver(parcel) => Some(("deliver", parcel)),
            _ => None,
        });
        orders.map(|(what, parcel)| (what, parcel.packet.flow, parcel.bytes)).collect::<Vec<_>>()
    };
    let same = Some(Box::from(&bytes[..]));
    assert_eq!(entered(&mut machine, 50), [("enter", 1, same.clone())]);
    machine.send(0, 0, &whole);
    assert_eq!(entered(&mut machine, 100), [("deliver", 0, same.clone())]);
    machine.leave_tunnel(1, &whole);
    assert_eq!(entered(&mut machine, 150), [("deliver", 1, same)]);
}
