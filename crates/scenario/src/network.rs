//! The network model: the content of a scenario file, with every name resolved.

use crate::expectation::{Expectation, Window};
use crate::metric::Metric;
use crate::parts::Parts;
use accord_family::{Role, Service, Signal, Stack, Values};
use accord_traffic::{Application, Demand, PacketSizes};
use accord_units::{Bytes, Duration, Rate, Time, words};
use std::ops::Range;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// The index of a node in [`Scenario::nodes`].
pub type NodeId = usize;
/// The index of a directed link in [`Scenario::links`].
pub type LinkId = usize;

/// One point of a scenario file: a network, its flows, its events and its expectations.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The short name, such as "xia05-fig6". It is also the name of the run directory.
    pub id: String,
    /// The title for people, one line.
    pub title: String,
    /// The source of the experiment, or "".
    pub source: String,
    /// Notes for readers of the result, such as departures and choices, or "".
    pub notes: String,
    /// The metric of the plot over time at the top of a run's page. It has a panel. The default is
    /// throughput.
    pub figure: Option<Metric>,
    /// The point of the sweep: the keys that were set and their values, as text.
    pub point: Vec<(String, String)>,
    /// The seed of all randomness.
    pub seed: u64,
    /// The length of the run.
    pub duration: Duration,
    /// The period of the recorded series.
    pub sample: Duration,
    /// True if runs record the inner state of senders: the data in flight, the pace, the rate of deliveries
    /// and the variables of their controllers.
    pub inner: bool,
    /// The part of the run over which tables average, unless an expectation names another part.
    pub steady: Window,
    /// The settings of the fluid engine.
    pub fluid: Fluid,
    /// The routers and hosts.
    pub nodes: Vec<Node>,
    /// The directed links. A duplex link of the file becomes two of them.
    pub links: Vec<Link>,
    /// The groups of flows, in file order.
    pub groups: Vec<Group>,
    /// The flows, group by group.
    pub flows: Vec<Flow>,
    /// The names of the kinds of traffic that queue disciplines distinguish, in the order of their
    /// first flows.
    pub aggregates: Vec<String>,
    /// The changes during the run, in order of time.
    pub events: Vec<Event>,
    /// The expectations.
    pub expectations: Vec<Expectation>,
}

/// The settings of the fluid engine, beyond the network itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fluid {
    /// The link model.
    pub link_model: LinkModel,
    /// The time step. The default is a thirtieth of the shortest base round-trip time.
    pub step: Option<Duration>,
}

words! {
    /// The model of a link: how its queue follows from the windows of its flows.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum LinkModel by name {
        /// A window bounds the bytes in flight. Queues hold those that do not fit on the wires.
        #[default]
        AckClocked = "ack-clocked",
        /// A window sets a rate, window over round-trip time. Queues integrate the rates.
        Integrator = "integrator",
    }
}

/// A router or host.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The name, unique in the scenario.
    pub name: String,
}

/// One direction of a link, with the output port that feeds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The name, unique in the scenario. The reverse direction of `x` is `x.reverse`.
    pub name: String,
    /// The node of the port.
    pub from: NodeId,
    /// The node at which packets come out.
    pub to: NodeId,
    /// The service rate, more than zero. It is the mean rate of a link with a trace.
    pub rate: Rate,
    /// The propagation delay.
    pub delay: Duration,
    /// The queue of the port.
    pub queue: Queue,
    /// The probability that a data or acknowledgement packet is lost on the wire.
    pub loss: f64,
    /// The probability that a control packet (OB, IB, report) is lost on the wire.
    pub control_loss: f64,
    /// True if out-of-band control packets have their own queue in the port and are served first.
    /// Otherwise there is one FIFO queue for all packets.
    pub control_priority: bool,
    /// The parts that make the link difficult, if it has any.
    pub parts: Option<Box<Parts>>,
    /// True for a link that attaches a host (`access`, `egress`) and is not named as a link of the network.
    /// Engines do not record series for it.
    pub attachment: bool,
}

/// A port's queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// The queue discipline with its parameters. The role of its family is `Queue`.
    pub discipline: Values,
    /// The limit of the queue, including the packet in service.
    pub limit: Limit,
}

/// The size of a buffer. Times and multiples of the bandwidth-delay product are resolved to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// A number of packets of any size.
    Packets(u64),
    /// A number of bytes.
    Bytes(Bytes),
    /// No limit.
    Unlimited,
}

/// Flows of the same kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// The name, unique in the scenario.
    pub name: String,
    /// The flows of the group, as indices in [`Scenario::flows`].
    pub flows: Range<usize>,
    /// The series of the group that engines record.
    pub recorded: Recorded,
}

words! {
    /// The series that engines record of a group.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Recorded by name {
        /// The series of each flow.
        #[default]
        Flows = "flows",
        /// The sums over the flows of the group, and quantiles over them.
        Group = "group",
    }
}

words! {
    /// The directions of a link that an event changes.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Direction by name {
        /// Both directions.
        Both = "both",
        /// The direction from `from` to `to`.
        Forward = "forward",
        /// The direction from `to` to `from`.
        Reverse = "reverse",
    }
}

/// The word for a part that a link does not have.
pub const OFF: &str = "off";
/// The word for the demand of a flow that always has data to send.
pub const GREEDY: &str = "greedy";
/// The word for a queue without a limit.
pub const UNLIMITED: &str = "unlimited";

/// The default of the least retransmission time-out of streams, which is that of Linux.
pub const MIN_RTO: Duration = Duration::from_ms(200);

/// The carrier of a flow. Theory and the fluid engine have no carriers, and use the flow's controller. The
/// packet engine has no kernel, and runs the controller of a kernel flow on our transport.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Carrier {
    /// The transport of Accord.
    #[default]
    Ours,
    /// The operating system's TCP, with this congestion control.
    Kernel(Congestion),
    /// Another stack, with the flow's controller.
    Quic(&'static Stack),
}

/// The congestion control of a connection of the operating system.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Congestion {
    /// The flow's controller, which the run attaches to the operating system's TCP.
    Accord,
    /// The operating system's congestion control of this name, in place of the flow's controller.
    Named(String),
}

impl Congestion {
    /// The word for [`Congestion::Accord`].
    pub const ACCORD: &'static str = "accord";

    /// Returns the word for the congestion control.
    pub fn name(&self) -> &str {
        match self {
            Congestion::Accord => Congestion::ACCORD,
            Congestion::Named(name) => name,
        }
    }
}

/// The gateways at the ends of a flow, and their treatment of the flows that it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunnel {
    /// The bytes added to each packet.
    pub overhead: Bytes,
    /// The limit of the edge queue, in bytes including the overhead.
    pub queue: Bytes,
    /// The measure of the backlog in the network.
    pub signal: Signal,
}

/// One flow. It dereferences to the settings, which the flows of its group share. A flow that writes to a
/// setting gets its own copy.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The name: `group.index`, or just the group's name in a group of one.
    pub name: String,
    /// The links from the source to the sink, in order. A path is never empty and never a loop.
    pub path: Vec<LinkId>,
    /// The links from the sink to the source, for acknowledgements and reports.
    pub reverse_path: Vec<LinkId>,
    /// The time at which the flow starts.
    pub start: Time,
    /// The longest time that the host of a stream takes before each data packet. The time is
    /// uniform between zero and this.
    pub processing: Duration,
    /// The settings.
    pub settings: Arc<FlowSettings>,
}

/// The settings of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowSettings {
    /// The index of the flow's group in [`Scenario::groups`].
    pub group: usize,
    /// The controller with its parameters. The role of its family is `Controller`.
    pub controller: Arc<Values>,
    /// The carrier of the flow.
    pub carrier: Carrier,
    /// The service. It is always the default if the controller does not keep an accumulation.
    pub service: Service,
    /// The demand of the application.
    pub demand: Demand,
    /// The time at which the flow stops sending, if that is before the end of its demand.
    pub stop: Option<Time>,
    /// The index of its aggregate in [`Scenario::aggregates`].
    pub aggregate: usize,
    /// The share that the flow should have, relative to other flows. Fairness indices divide by it.
    pub share: f64,
    /// The size of a data packet, headers included. Random sizes have this mean.
    pub packet: Bytes,
    /// The law of the sizes of data packets, if they are random.
    pub sizes: Option<PacketSizes>,
    /// The size of an acknowledgement, headers included.
    pub ack: Bytes,
    /// The size of a control packet (OB, IB, report), headers included.
    pub control: Bytes,
    /// The least retransmission time-out of a stream.
    pub min_rto: Duration,
    /// True if a stream spaces the packets of its window over the round trip.
    pub pacing: bool,
    /// The gateways at its ends, if it is a tunnel. A tunnel sends the packets of other flows, and
    /// its demand is greedy.
    pub tunnel: Option<Tunnel>,
    /// The index of the tunnel that carries the flow's data. The tunnel's path is a part of the flow's path.
    pub through: Option<usize>,
}

impl Deref for Flow {
    type Target = FlowSettings;

    fn deref(&self) -> &FlowSettings {
        &self.settings
    }
}

impl DerefMut for Flow {
    fn deref_mut(&mut self) -> &mut FlowSettings {
        Arc::make_mut(&mut self.settings)
    }
}

impl Link {
    /// Returns the rate that the link can sustain if its line has this rate.
    pub fn capacity(&self, line: Rate) -> Rate {
        let parts = self.parts.as_deref();
        parts.map_or(line, |parts| parts.capacity(line))
    }

    /// Returns the rate at which the link serves its queue if its line has this rate.
    pub fn served_rate(&self, line: Rate) -> Rate {
        let parts = self.parts.as_deref();
        parts.map_or(line, |parts| parts.served_rate(line))
    }

    /// Returns the features of the link that engines based on mean rates and delays omit.
    pub fn left_out(&self) -> Option<String> {
        let what: Vec<_> = self.parts.as_deref()?.left_out().collect();
        (!what.is_empty()).then(|| format!("{}: {}", self.name, what.join("; ")))
    }

    /// Returns whether the link loses packets on its wire.
    pub fn is_lossy(&self) -> bool {
        self.loss > 0.0 || self.control_loss > 0.0
    }
}

impl Flow {
    /// Creates the application of the flow, which is flow `id`.
    pub fn application(&self, id: usize, seed: u64) -> Application {
        Application::new(self.demand, self.packet, self.sizes.as_ref(), id, seed)
    }

    /// Returns whether the flow detects a queue only from the spacing of a control pair's halves. If both
    /// halves wait equally, it detects no queue.
    pub fn goes_by_pairs(&self) -> bool {
        match self.tunnel {
            // Gateways detect whether they must use the delay.
            Some(tunnel) => tunnel.signal == Signal::Pairs,
            None => matches!(self.controller.family().role, Role::Tunnel(_)),
        }
    }

    /// Returns the host's mean processing time of a data packet.
    pub fn mean_processing(&self) -> Duration {
        Duration::from_ps(self.processing.as_ps() / 2)
    }
}

/// A change of the network or of a demand during the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The time of the change.
    pub at: Time,
    /// The change.
    pub change: Change,
}

/// The change that an [`Event`] makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// Sets a directed link's propagation delay, for packets sent from now on. They do not overtake
    /// those on the wire, and packets never come out faster than the link sends.
    Delay(LinkId, Duration),
    /// Sets a directed link's rate, for the rest of the packet in service and for later packets. A
    /// rate of zero is an outage.
    Rate(LinkId, Rate),
    /// Sets the rate of a flow's demand, from the next packet on.
    Demand {
        /// The flow's index.
        flow: usize,
        /// The new rate.
        rate: Rate,
    },
    /// Sets the paths of a flow, for packets sent from now on.
    Route {
        /// The flow's index.
        flow: usize,
        /// The new path.
        path: Vec<LinkId>,
        /// The new reverse path.
        reverse_path: Vec<LinkId>,
    },
}

/// A part of the run during which neither the set of flows nor the network changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The start of the phase.
    pub start: Time,
    /// The end of the phase.
    pub end: Time,
    /// The indices of the flows that send.
    pub active: Vec<usize>,
}

impl Scenario {
    /// Returns the flows that engines record one by one.
    pub fn recorded_flows(&self) -> impl Iterator<Item = usize> {
        let one_by_one = |g: &&Group| g.recorded == Recorded::Flows;
        self.groups.iter().filter(one_by_one).flat_map(|g| g.flows.clone())
    }

    /// Returns the groups that engines record as one.
    pub fn recorded_groups(&self) -> impl Iterator<Item = usize> {
        (0..self.groups.len()).filter(|&g| self.groups[g].recorded == Recorded::Group)
    }

    /// Returns the nodes at which a flow begins and ends.
    pub fn ends(&self, flow: usize) -> (NodeId, NodeId) {
        let f = &self.flows[flow];
        let node = |path: &[LinkId]| self.links[path[0]].from;
        (node(&f.path), node(&f.reverse_path))
    }

    /// Returns the flows that a tunnel carries.
    pub fn riders(&self, tunnel: usize) -> impl Iterator<Item = usize> {
        let rides = move |&flow: &usize| self.flows[flow].through == Some(tunnel);
        (tunnel + 1..self.flows.len()).filter(rides)
    }

    /// Returns whether any flow is a tunnel between gateways.
    pub fn has_tunnels(&self) -> bool {
        self.flows.iter().any(|f| f.tunnel.is_some())
    }

    /// The end of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// Returns the times at which flows start or stop or the network changes, with the start and
    /// the end of the run, in order.
    pub fn cuts(&self) -> Vec<Time> {
        let end = self.end();
        let mut cuts = vec![Time::ZERO, end];
        for f in &self.flows {
            cuts.push(f.start.min(end));
            cuts.extend(f.stop.map(|t| t.min(end)));
        }
        cuts.extend(self.events.iter().map(|e| e.at.min(end)));
        cuts.sort_unstable();
        cuts.dedup();
        cuts
    }

    /// Returns the phases between the [`cuts`](Scenario::cuts), in order. Phases are never empty
    /// and cover the whole run. Each phase is created on demand, because it lists all active flows.
    pub fn phases(&self) -> impl DoubleEndedIterator<Item = Phase> {
        let cuts = self.cuts();
        (1..cuts.len()).map(move |i| self.phase(cuts[i - 1], cuts[i]))
    }

    /// Returns the phase at `at`, or the last phase if the run is over by then.
    pub fn phase_at(&self, at: Time) -> Phase {
        let cuts = self.cuts();
        let next = cuts.partition_point(|cut| *cut <= at);
        let next = next.clamp(1, cuts.len() - 1);
        self.phase(cuts[next - 1], cuts[next])
    }

    /// Returns the phase between two neighbouring [`cuts`](Scenario::cuts).
    pub fn phase(&self, start: Time, end: Time) -> Phase {
        let active = |f: &Flow| f.start <= start && f.stop.is_none_or(|stop| stop > start);
        Phase {
            start,
            end,
            active: (0..self.flows.len()).filter(|&i| active(&self.flows[i])).collect(),
        }
    }
}
