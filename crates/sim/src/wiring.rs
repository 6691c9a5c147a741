//! The events that a run can do without.
//!
//! - The end of a service is known when it begins, and the packet can be sent on at once
//!   ([`Form::Port`]). This needs a link that cannot lose the packet on its wire and whose rate and
//!   delay do not change. A departure then needs an event only while another packet waits for it.
//! - A port with one FIFO queue, a discipline that judges arrivals only, and a fixed rate knows a
//!   packet's departure at the moment when the packet arrives ([`Form::Timeline`], [`Form::Pipe`]).
//!   There is one event per hop, not two.
//! - A pipe that is fed by one other link only needs no event at all. Its packets arrive in the
//!   order in which the other link sends them, and its state is not read before the end. So they
//!   are sent through it at once ([`Hop::is_shortcut`]). The same holds for a pipe that is fed by
//!   one sender's host only, which knows when it will be done with a packet.
//! - Without events of packets, the same holds for such a port with two priorities ([`Form::Lane`]).
//!   A droptail port with two priorities then needs no tickets of its packets ([`Form::Express`]).
//!   There are no events of packets at all if nothing but streams and tunnels is in the network
//!   (`windows.rs`).
//! - A receiver behind a pipe, which answers into a pipe that only it feeds, can also be told of a
//!   packet ahead of time ([`Hop::is_shortcut`]), because only the sender sees what the receiver
//!   does. What is recorded of the packet is read at the next sample after its time.
//! - Without events of packets, links on which no packet waits are passed in one step ([`Form::Calm`],
//!   `stretch.rs`).
//!
//! All of this is exact. `tests/shortcuts.rs` runs scenarios with and without it.

use crate::flow::Flow;
use crate::hop::{Came, Hop, Limits};
use crate::packet::Packet;
use crate::stretch::{self, Stretch};
use crate::windows::Windows;
use crate::wire::{Form, Wire, is_droptail};
use accord_aqm::{AnyAqm, Aqm, Structure};
use accord_scenario::{Change, Limit, Link, LinkId, Scenario};
use accord_traffic::Demand;
use accord_transport::{Receiver, Sender};
use accord_units::{Bytes, Rate, Time};
use std::collections::BTreeMap;

/// The shortcuts that a run may take. Its result is the same with any of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortcuts {
    /// All shortcuts are taken.
    All,
    /// Links are fused. Packets that reach others have their events.
    Fused,
    /// Departures are computed if they can be. Each hop has its event.
    Departures,
    /// Each departure and each arrival has its event.
    None,
}

/// The source of a link's packets.
#[derive(Clone, Copy, PartialEq)]
enum Feed {
    Nothing,
    Sender(usize),
    Receiver(usize),
    Link(LinkId),
    Several,
}

/// The paths of all flows, and the facts about the links on them.
pub struct Wiring {
    /// The form of each link's port.
    pub forms: Vec<Form>,
    /// The lists of hops, each closed by an end. Packets carry their place in it.
    pub hops: Vec<Hop>,
    /// The stretches of the paths.
    pub stretches: Vec<Stretch>,
    /// The tunnels, whose edges are behind the links.
    pub tunnels: Vec<usize>,
    /// The links that take packets before their time.
    fused: Vec<bool>,
    /// What there is instead of the events of packets, in a run that needs none, until the run takes it.
    pub windows: Option<Box<Windows>>,
}

impl Wiring {
    /// Examines all paths that the scenario ever uses.
    /// Packets share the queues of the links `shared` with a fluid.
    pub fn new(
        scenario: &Scenario,
        flows: &mut [Flow],
        shared: &[LinkId],
        shortcuts: Shortcuts,
    ) -> Wiring {
        let mut feeds = vec![Feed::Nothing; scenario.links.len()];
        let mut forms: Vec<Form> = scenario.links.iter().map(form).collect();
        shared.iter().for_each(|&link| forms[link] = Form::Shared);
        let mut rerouted = vec![false; flows.len()];
        let mut changing = vec![false; scenario.links.len()];
        let parts = |l: &Link| l.parts.as_deref().cloned().unwrap_or_default();
        let loose: Vec<bool> = (scenario.links.iter())
            .map(|l| parts(l).reorders())
            .collect();
        for (link, changing) in scenario.links.iter().zip(&mut changing) {
            // What is queued is told from what is on the wire by the delays of packets.
            *changing = parts(link).delays();
        }
        let mut walk = |flow: usize, path: &[LinkId], origin: Feed, forms: &mut Vec<Form>| {
            let tunnel = matches!(flows[flow].sender, Sender::Tunnel(_));
            let mut from = origin;
            for &link in path {
                if tunnel && scenario.links[link].control_priority {
                    forms[link] = match forms[link] {
                        Form::Pipe => Form::Lane,
                        Form::Timeline if is_droptail(&scenario.links[link]) => Form::Express,
                        Form::Timeline => Form::Port,
                        other => other,
                    };
                }
                feeds[link] = match feeds[link] {
                    Feed::Nothing => from,
                    same if same == from => same,
                    _ => Feed::Several,
                };
                // A link whose packets overtake each other does not know their order when it sends.
                from = match loose[link] {
                    true => Feed::Several,
                    false => Feed::Link(link),
                };
            }
        };
        // The paths of tunnels, as events leave them.
        let mut tunnelled: BTreeMap<usize, &[LinkId]> = BTreeMap::new();
        for (id, f) in scenario.flows.iter().enumerate() {
            if f.tunnel.is_some() {
                tunnelled.insert(id, &f.path);
            }
            let (before, after) = around(&f.path, f.through.map(|t| tunnelled[&t]));
            walk(id, before, Feed::Sender(id), &mut forms);
            walk(id, after, Feed::Several, &mut forms);
            walk(id, &f.reverse_path, Feed::Receiver(id), &mut forms);
        }
        for e in &scenario.events {
            match &e.change {
                // The change applies to the packet in service and to those behind it.
                Change::Rate(link, _) | Change::Delay(link, _) => {
                    forms[*link] = Form::Stepped;
                    changing[*link] = true;
                }
                Change::Demand { .. } => {}
                Change::Route {
                    flow,
                    path,
                    reverse_path,
                } => {
                    rerouted[*flow] = true;
                    if let Some(known) = tunnelled.get_mut(flow) {
                        *known = path;
                    }
                    let through = scenario.flows[*flow].through;
                    let (before, after) = around(path, through.map(|t| tunnelled[&t]));
                    walk(*flow, before, Feed::Sender(*flow), &mut forms);
                    walk(*flow, after, Feed::Several, &mut forms);
                    walk(*flow, reverse_path, Feed::Receiver(*flow), &mut forms);
                }
            }
        }
        let most = match shortcuts {
            Shortcuts::All | Shortcuts::Fused => Form::Pipe,
            Shortcuts::Departures => Form::Timeline,
            Shortcuts::None => Form::Stepped,
        };
        for form in &mut forms {
            *form = most.min(*form);
        }
        let tunnels = 0..scenario.flows.len();
        let tunnels: Vec<usize> = tunnels
            .filter(|&id| scenario.flows[id].tunnel.is_some())
            .collect();
        let mut fused: Vec<bool> = (feeds.iter().zip(&forms))
            .map(|(feed, form)| matches!(form, Form::Pipe | Form::Lane) && *feed != Feed::Several)
            .collect();
        let suits = shortcuts == Shortcuts::All && suits_windows(scenario, flows, &forms);
        let (mut windows, mut free) = (None, vec![None; forms.len()]);
        if suits {
            let found = stretch::find(scenario, flows, &forms);
            let known = fused
                .iter()
                .zip(&found)
                .map(|(fused, free)| *fused || free.is_some());
            let known: Vec<bool> = known.collect();
            let mut long = Windows::new(scenario, &forms, &known);
            if long.are_long(scenario) {
                (windows, free, fused) = (Some(long), found, known);
            }
        }
        for (form, free) in forms.iter_mut().zip(&free) {
            if let (Form::Timeline | Form::Port, &Some(size)) = (*form, free) {
                *form = Form::Calm(size);
            }
        }
        // Lanes are for packets whose order is known, and that need no events.
        for (form, fused) in forms.iter_mut().zip(&mut fused) {
            *form = match *form {
                Form::Lane if windows.is_some() && *fused => continue,
                Form::Lane | Form::Express if windows.is_some() => Form::Express,
                Form::Lane | Form::Express => Form::Port,
                _ => continue,
            };
            *fused = false;
        }
        let pipe = |link: LinkId| forms[link] == Form::Pipe;
        let ahead = |id: usize| {
            let f = &scenario.flows[id];
            let (last, back) = (f.path[f.path.len() - 1], f.reverse_path[0]);
            // In a run with windows the arrivals at any link are sorted.
            windows.is_some()
                || !rerouted[id]
                    && f.through.is_none()
                    && pipe(last)
                    && match flows[id].receiver {
                        Receiver::Stream(_) => pipe(back) && feeds[back] == Feed::Receiver(id),
                        Receiver::Datagrams => true,
                        Receiver::Tunnel(_) => false,
                    }
        };
        let ahead: Vec<bool> = (0..flows.len()).map(ahead).collect();
        let mut wiring = Wiring {
            forms,
            hops: Vec::new(),
            stretches: Vec::new(),
            tunnels,
            fused,
            windows: windows.map(Box::new),
        };
        for (id, flow) in flows.iter_mut().enumerate() {
            let changes = rerouted[id] || scenario.flows[id].path.iter().any(|&l| changing[l]);
            flow.outgoing = (changes || flow.receiver.wants_truth()).then(Box::default);
        }
        for ((f, flow), ahead) in scenario.flows.iter().zip(&mut *flows).zip(ahead) {
            let end = if ahead { Hop::END_EARLY } else { Hop::END };
            let inside = f.through.map(|t| (t, &scenario.flows[t].path[..]));
            if wiring.windows.is_some() {
                let mut add =
                    |path, size, end| wiring.add_stretched(scenario, &free, path, size, end);
                flow.path = add(&f.path, flow.packet, end);
                flow.reverse_path = add(&f.reverse_path, flow.ack, Hop::END);
                continue;
            }
            flow.path = wiring.add(&f.path, inside, end);
            flow.reverse_path = wiring.add(&f.reverse_path, None, Hop::END);
        }
        wiring
    }

    /// Moves a packet that came out of the link of its hop to the next hop. Returns that hop, and whether
    /// it takes the packet before its time.
    #[inline(always)]
    pub fn step(&mut self, packet: &mut Packet, came: &mut Came, limits: Limits) -> (Hop, bool) {
        packet.hop += 1;
        self.reach(&mut packet.hop, came, limits)
    }

    /// Tells the ports in stretches of the packets that came there before `until`.
    pub fn tell(&mut self, wires: &mut [Wire], until: Time) {
        for stretch in &mut self.stretches {
            stretch.tell(wires, until);
        }
    }

    /// Returns the hop of a packet that is at this place, and whether it takes the packet before its time.
    /// A stretch is passed at once. A packet that would come out of it after the end stays there: its
    /// time is `Time::MAX`.
    #[inline(always)]
    pub fn reach(&mut self, place: &mut u32, came: &mut Came, limits: Limits) -> (Hop, bool) {
        let mut hop = self.hops[*place as usize];
        if hop.is_stretch() {
            let stretch = &mut self.stretches[hop.link()];
            let Some(there) = stretch.pass(came.at, limits) else {
                came.at = Time::MAX;
                return (hop, false);
            };
            *place = stretch.next;
            *came = Came {
                link: stretch.last as usize,
                at: there,
            };
            hop = self.hops[*place as usize];
        }
        (hop, hop.is_shortcut() && came.at <= limits.end)
    }

    /// Adds a path of a flow that changes its route. `inside` is the tunnel that the flow rides in,
    /// with its path. Returns the first hop.
    pub fn add_path(&mut self, path: &[LinkId], inside: Option<(usize, &[LinkId])>) -> u32 {
        self.add(path, inside, Hop::END)
    }

    /// Adds a path in a run without events of packets, on which the links that are `free` hold up no
    /// packet. Returns the first hop.
    fn add_stretched(
        &mut self,
        scenario: &Scenario,
        free: &[Option<u16>],
        path: &[LinkId],
        size: u16,
        end: Hop,
    ) -> u32 {
        let first = self.hops.len() as u32;
        for links in path.chunk_by(|&a, &b| free[a].is_some() == free[b].is_some()) {
            if free[links[0]].is_some() {
                let next = (self.hops.len() + 1 + links.len()) as u32;
                let size = Bytes::new(u64::from(size));
                self.hops.push(Hop::stretch(self.stretches.len()));
                let stretch = Stretch::new(scenario, &self.forms, links, size, next);
                self.stretches.push(stretch);
            }
            let hop = |&link: &LinkId| Hop::over(link, self.fused[link]);
            self.hops.extend(links.iter().map(hop));
        }
        self.hops.push(end);
        first
    }

    fn add(&mut self, path: &[LinkId], inside: Option<(usize, &[LinkId])>, end: Hop) -> u32 {
        let first = self.hops.len() as u32;
        let hop = |&link: &LinkId| Hop::over(link, self.fused[link]);
        let (before, after) = around(path, inside.map(|(_, path)| path));
        self.hops.extend(before.iter().map(hop));
        if let Some((tunnel, _)) = inside {
            // The edge of the tunnel is in the place of its path.
            let edge = self.tunnels.iter().position(|&id| id == tunnel);
            let edge = self.fused.len() + edge.expect("flows ride in tunnels");
            self.hops.push(Hop::station(edge));
        }
        self.hops.extend(after.iter().map(hop));
        self.hops.push(end);
        first
    }
}

/// Returns the parts of a path before and behind the path of a tunnel. Without a tunnel all of it is
/// before.
fn around<'a>(path: &'a [LinkId], inside: Option<&[LinkId]>) -> (&'a [LinkId], &'a [LinkId]) {
    let Some(inside) = inside else {
        return (path, &[]);
    };
    let at = path.windows(inside.len()).position(|part| part == inside);
    let at = at.expect("the path leads through the tunnel");
    (&path[..at], &path[at + inside.len()..])
}

/// Returns the cheapest form of the link's port, as far as the link alone decides.
fn form(link: &Link) -> Form {
    let aqm = AnyAqm::build(&link.queue.discipline);
    // What else a link may have needs the times of packets as they come.
    // A packet that is lost on the wire is lost when it has left the port, not before.
    if link.is_lossy() || link.parts.is_some() {
        return Form::Stepped;
    }
    if !matches!(aqm.structure(), Structure::Fifo) {
        return Form::Port;
    }
    let open = is_droptail(link) && link.queue.limit == Limit::Unlimited;
    if link.attachment && open {
        Form::Pipe
    } else {
        Form::Timeline
    }
}

/// The rate up to which no two packets come out of a link at one time.
const FASTEST: Rate = Rate::from_bps(1_000_000_000_000);

/// Returns whether a scenario can be run in windows, with ports in these forms. There must be no event but
/// those of packets and few others: each of the others ends a window. Nobody must see what receivers know
/// ahead of time.
fn suits_windows(scenario: &Scenario, flows: &[Flow], forms: &[Form]) -> bool {
    let plain = |(f, flow): (&accord_scenario::Flow, &Flow)| {
        let alone = f.tunnel.is_none() && f.through.is_none();
        let known = match flow.sender {
            Sender::Stream(_) => true,
            Sender::Tunnel(_) => alone && !flow.receiver.wants_truth(),
            Sender::Datagrams(_) | Sender::Logged(_) => false,
        };
        f.demand == Demand::Greedy && known
    };
    let orderly = |(link, form): (&Link, &Form)| {
        *form != Form::Shared && link.parts.is_none() && link.rate <= FASTEST
    };
    scenario.events.is_empty()
        && scenario.links.iter().zip(forms).all(orderly)
        && scenario.flows.iter().zip(flows).all(plain)
}
