//! Flows of third-party stacks, whose packets have bytes. The stack is a state machine, a
//! connection of the kernel, or a tunnel between gateways that are programs.

use super::meter::{Meter, seconds};
use super::parcel::Parcel;
use crate::carrier::stack;
use crate::pool::Handle;
use accord_record::Broken;
use accord_scenario::{Flow, Scenario};
use accord_transport::wire::ECN;
use accord_transport::{Carried, Connector, Datagram, Log, Setup, View, ip};
use accord_units::{Bytes, Time};
use core::net::Ipv4Addr;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The UDP ports of senders and of receivers. Tools recognise HTTP/3, and thus QUIC, by the latter.
const PORTS: [u16; 2] = [50_000, 443];
/// The most retransmissions counted per flow: 80 years at 100 000 per second. The limit keeps sums over flows from
/// overflowing.
const MOST_COUNTED: u64 = 1 << 48;

/// An order to an end outside the machine.
#[derive(Clone, Debug)]
pub enum Order {
    /// Supply: the application of a flow has this number of further packets to send. `u64::MAX`
    /// means unlimited.
    Supply(usize, u64),
    /// Stop: a flow stops.
    Stop(usize),
    /// Deliver: a packet has arrived at the node of its end.
    Deliver(Parcel),
    /// Enter: a packet is at the entry of this tunnel.
    Enter(usize, Parcel),
}

/// An end of a connection of another stack.
pub struct CarriedEnd {
    /// The state machine.
    pub end: Box<dyn Carried>,
    /// The source address and port of its datagrams.
    pub from: ([u8; 4], u16),
    /// The destination address and port of its datagrams.
    pub to: ([u8; 4], u16),
}

impl fmt::Debug for CarriedEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CarriedEnd").field("from", &self.from).finish_non_exhaustive()
    }
}

impl CarriedEnd {
    /// Returns the IP packet that carries a datagram.
    pub fn wrap(&self, datagram: Datagram) -> Vec<u8> {
        ip::wrap_udp(self.from, self.to, datagram.ecn, datagram.payload)
    }
}

/// Returns the addresses of a flow's source and sink in the IP packets of third-party stacks. They belong to
/// the network for benchmarks [RFC 2544].
pub fn addresses(flow: usize) -> (Ipv4Addr, Ipv4Addr) {
    let first = u32::from(Ipv4Addr::new(198, 18, 0, 0)) + 2 * flow as u32;
    (Ipv4Addr::from(first), Ipv4Addr::from(first + 1))
}

/// Creates the sending and the receiving end of a flow that another stack carries. A run with packets
/// of its own clock is repeatable; one with real packets is not. The ends write to `logs`, if there are any.
///
/// # Errors
/// Fails with the reason given by the stack.
pub fn connect(
    scenario: &Scenario,
    flow: usize,
    repeatable: bool,
    logs: Option<&[Log; 2]>,
) -> Result<[CarriedEnd; 2], String> {
    let f = &scenario.flows[flow];
    let Some(stack) = stack(f) else {
        return Err("no other stack carries it".into());
    };
    let Some(Connector(connect)) = Connector::of(stack) else {
        return Err(format!("{} has no connector", stack.name));
    };
    // A mix of both numbers, so the flows of a run differ.
    let seed = scenario.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(flow as u64);
    let seed = repeatable.then_some(seed);
    let setup = Setup { controller: &f.controller, packet: f.packet, seed, logs };
    let [client, server] = guarded(|| connect(&setup)).unwrap_or_else(Err)?;
    let (here, there) = addresses(flow);
    let (here, there) = ((here.octets(), PORTS[0]), (there.octets(), PORTS[1]));
    let end = |end, from, to| CarriedEnd { end, from, to };
    Ok([end(client, here, there), end(server, there, here)])
}

/// Calls third-party code. A panic becomes an error.
pub fn guarded<T>(call: impl FnOnce() -> T) -> Result<T, String> {
    // State left behind by a panic is never used again.
    catch_unwind(AssertUnwindSafe(call)).map_err(|panic| format!("panicked: {}", text_of(&*panic)))
}

/// Returns the message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| text.to_string());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}

/// The flows of third-party stacks.
#[derive(Default)]
pub struct Others {
    /// The flows of third-party stacks, by index of the flow.
    flows: Vec<Option<Box<Other>>>,
    /// The bytes of whole packets, by handle. They outlive the packet until its handle is used again.
    bytes: Vec<Option<Box<[u8]>>>,
    /// The connections that broke, in the order of their times.
    pub broken: Vec<Broken>,
}

/// A flow of a third-party stack.
#[derive(Debug)]
pub struct Other {
    /// The ends that are state machines in this engine, at the source and at the sink.
    pub ends: [Option<CarriedEnd>; 2],
    /// The times at which the ends want to be woken.
    pub wakes: [Time; 2],
    /// The times of their next events, which may be earlier. A timer that is postponed again and again, as loss
    /// timers are, has one event.
    pub events: [Time; 2],
    /// The recent calls and datagrams of both ends.
    pub meters: [Meter; 2],
    /// The logs that both ends write, if they are kept.
    pub logs: Option<[Log; 2]>,
    /// The time from which it has had data to send.
    pub supplied: Option<Time>,
    /// The size of the last transfer, and the bytes that the flow had sent before it.
    pub transfer: Option<(Bytes, Bytes)>,
    /// True if the connection broke. Its ends are not called again.
    pub is_broken: bool,
}

impl Default for Other {
    fn default() -> Other {
        Other {
            ends: [None, None],
            wakes: [Time::MAX; 2],
            events: [Time::MAX; 2],
            meters: [Meter::default(); 2],
            logs: None,
            supplied: None,
            transfer: None,
            is_broken: false,
        }
    }
}

impl Other {
    /// Returns the fault, if any, of an end that reports its transfer as acknowledged. `sent` is the number of
    /// bytes that the flow has sent. They may be an eighth fewer than the size, because headers may be smaller than
    /// the stack assumes.
    pub fn claims(&self, sent: Bytes) -> Option<String> {
        let (size, before) = self.transfer?;
        let sent = sent.saturating_sub(before);
        let least = size.get() - size.get() / 8;
        (sent.get() < least).then(|| {
            let (sent, size) = (sent.get(), size.get());
            format!(
                "says that a transfer is acknowledged, of which {sent} of {size} bytes were sent"
            )
        })
    }

    /// Frees both ends. Returns the end whose destructor panicked, and how.
    fn close(&mut self) -> Result<(), (usize, String)> {
        let close = |end: &mut Option<CarriedEnd>| guarded(|| drop(end.take()));
        let [sending, receiving] = self.ends.each_mut().map(close);
        sending.map_err(|why| (0, why)).and(receiving.map_err(|why| (1, why)))
    }
}

/// Frees the ends of an interrupted run. A panic in a destructor does not propagate.
impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.close();
    }
}

impl Others {
    /// Creates the flows of third-party stacks that `is_other` selects, if there are any.
    pub fn of(scenario: &Scenario, is_other: impl Fn(&Flow) -> bool) -> Option<Box<Others>> {
        let flows = scenario.flows.iter();
        let flows: Vec<_> = flows.map(|f| is_other(f).then(Box::default)).collect();
        let some = flows.iter().any(Option::is_some);
        some.then(|| Box::new(Others { flows, ..Others::default() }))
    }

    /// Returns true if another stack carries a flow.
    pub fn is_other(&self, flow: usize) -> bool {
        self.flows[flow].is_some()
    }

    /// A flow of a third-party stack.
    pub fn get_mut(&mut self, flow: usize) -> Option<&mut Other> {
        self.flows[flow].as_deref_mut()
    }

    /// Calls an end of a flow: 0 is the end at the source. Returns `None` if it is elsewhere or broken. A
    /// panic breaks the connection.
    pub fn call<T>(
        &mut self,
        (flow, end): (usize, usize),
        now: Time,
        call: impl FnOnce(&mut CarriedEnd) -> T,
    ) -> Option<T> {
        let carried = self.flows[flow].as_mut()?.ends[end].as_mut()?;
        match guarded(|| call(carried)) {
            Ok(result) => Some(result),
            Err(why) => {
                self.break_off((flow, end), now, why);
                None
            }
        }
    }

    /// Ends a connection. Packets that arrive later are discarded.
    #[cold]
    pub fn break_off(&mut self, (flow, end): (usize, usize), now: Time, why: String) {
        let Some(other) = self.flows[flow].as_mut().filter(|other| !other.is_broken) else {
            return;
        };
        other.is_broken = true;
        // The first fault is kept as the reason.
        let _ = other.close();
        let who = ["sending", "receiving"][end];
        self.broken.push(Broken { flow, at: now, why: format!("the {who} end {why}") });
    }

    /// Updates the states of sending ends, except those of broken connections. A count that decreases is
    /// treated as unchanged.
    pub fn look(&mut self, now: Time, views: &mut BTreeMap<usize, View>) {
        for flow in 0..self.flows.len() {
            if let Some(mut view) = self.call((flow, 0), now, |carried| carried.end.view()) {
                let before = views.get(&flow).map_or(0, |view| view.retransmissions);
                view.retransmissions = view.retransmissions.min(MOST_COUNTED).max(before);
                views.insert(flow, view);
            }
        }
    }

    /// Passes the lines that the ends have logged since the last call to `show`, with the flow and the end.
    pub fn show_logs(&self, mut show: impl FnMut(usize, usize, &[u8])) {
        for (flow, other) in self.flows.iter().enumerate() {
            let logs = other.iter().flat_map(|other| other.logs.iter().flatten());
            for (end, log) in logs.enumerate() {
                let bytes = log.take();
                if !bytes.is_empty() {
                    show(flow, end, &bytes);
                }
            }
        }
    }

    /// Frees all ends. Breaks off connections that had data but never sent a datagram. `sent` returns true for
    /// flows that sent.
    pub fn end(&mut self, now: Time, sent: impl Fn(usize) -> bool) {
        for flow in 0..self.flows.len() {
            let other = self.flows[flow].as_ref().filter(|other| other.ends[0].is_some());
            if let Some(since) = other.and_then(|other| other.supplied)
                && !sent(flow)
            {
                let why = format!("sent nothing, though it has had data since {}", seconds(since));
                self.break_off((flow, 0), now, why);
            }
            let closed = self.flows[flow].as_mut().map_or(Ok(()), |other| other.close());
            if let Err((end, why)) = closed {
                self.break_off((flow, end), now, why);
            }
        }
    }

    /// Stores the bytes of a packet in the engine.
    pub fn keep(&mut self, handle: Handle, bytes: Box<[u8]>) {
        let place = handle.number();
        if self.bytes.len() <= place {
            self.bytes.resize(place + 1, None);
        }
        self.bytes[place] = Some(bytes);
    }

    /// The bytes of a packet, if a third-party stack carries its flow.
    pub fn bytes(&self, flow: usize, handle: Handle) -> Option<&[u8]> {
        self.flows[flow].as_ref()?;
        self.bytes.get(handle.number())?.as_deref()
    }

    /// Takes the bytes of a packet of a third-party stack.
    pub fn take(&mut self, handle: Handle) -> Option<Box<[u8]>> {
        self.bytes.get_mut(handle.number())?.take()
    }
}

/// Returns the reason, if any, why an end may not send a datagram in packets of `packet`.
pub fn unfit(datagram: &Datagram, packet: Bytes) -> Option<String> {
    let length = datagram.payload.len();
    let most = packet.get().saturating_sub(ip::UDP_HEADERS as u64);
    if length == 0 {
        return Some("sent a datagram of 0 bytes".into());
    }
    if datagram.ecn & !ECN != 0 {
        return Some(format!("sent a datagram with the ECN codepoint {}, of 0 to 3", datagram.ecn));
    }
    (length as u64 > most).then(|| {
        format!("sent a datagram of {length} bytes, where packets of {packet} take {most} at most")
    })
}
