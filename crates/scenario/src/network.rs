//! The network model: what a scenario file means, with every name resolved.

use crate::expectation::{Expectation, Window};
use accord_family::{Service, Values};
use accord_traffic::{Application, Demand, PacketSizes};
use accord_units::{Bytes, Duration, Rate, Time};
use std::ops::Range;

/// Index of a node in [`Scenario::nodes`].
pub type NodeId = usize;
/// Index of a directed link in [`Scenario::links`].
pub type LinkId = usize;

/// One point of a scenario file: a network, its flows, what happens, what is expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Short name, such as "xia05-fig6"; also the name of the run directory.
    pub id: String,
    /// One line for people.
    pub title: String,
    /// The source of the experiment, or "".
    pub source: String,
    /// Notes for readers of the result: departures, choices; or "".
    pub notes: String,
    /// The point of the sweep that this is: what was set to what, as text.
    pub point: Vec<(String, String)>,
    /// All randomness comes from here.
    pub seed: u64,
    /// The run ends here.
    pub duration: Duration,
    /// Period of the recorded series.
    pub sample: Duration,
    /// The part over which tables average, unless an expectation names its own.
    pub steady: Window,
    /// The settings of the fluid engine.
    pub fluid: Fluid,
    /// Routers and hosts.
    pub nodes: Vec<Node>,
    /// Directed links; a duplex link of the file is two of them.
    pub links: Vec<Link>,
    /// Flows that belong together, in file order.
    pub groups: Vec<Group>,
    /// All flows, group by group.
    pub flows: Vec<Flow>,
    /// Names of the kinds of traffic that queue disciplines tell apart, in the order of their
    /// first flows.
    pub aggregates: Vec<String>,
    /// Changes while the run goes on, in order of time.
    pub events: Vec<Event>,
    /// The expectations.
    pub expectations: Vec<Expectation>,
}

/// The settings of the fluid engine, beyond the network itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fluid {
    /// The link model.
    pub link_model: LinkModel,
    /// The time step; by default a thirtieth of the shortest base round-trip time.
    pub step: Option<Duration>,
}

/// A link model: how the queue of a link follows from the windows of its flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkModel {
    /// A window bounds what is in flight: queues hold what does not fit on the wires.
    #[default]
    AckClocked,
    /// A window sets a rate, window over round-trip time: queues integrate the rates.
    Integrator,
}

impl LinkModel {
    /// All of them, by name.
    pub const NAMES: [(&'static str, LinkModel); 2] = [
        ("ack-clocked", LinkModel::AckClocked),
        ("integrator", LinkModel::Integrator),
    ];

    /// The name in scenario files.
    pub fn name(self) -> &'static str {
        let found = LinkModel::NAMES.iter().find(|(_, m)| *m == self);
        found.expect("all are listed").0
    }
}

/// A router or host.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Its name, unique in the scenario.
    pub name: String,
}

/// One direction of a link, with the output port that feeds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, unique in the scenario. The reverse direction of `x` is `x.reverse`.
    pub name: String,
    /// The node of the port.
    pub from: NodeId,
    /// The node at which packets come out.
    pub to: NodeId,
    /// Service rate; more than zero.
    pub rate: Rate,
    /// Propagation delay.
    pub delay: Duration,
    /// Queue in front of it.
    pub queue: Queue,
    /// Probability that a data or acknowledgement packet is lost on the wire.
    pub loss: f64,
    /// Probability that a control packet (OB, IB, report) is lost on the wire.
    pub control_loss: f64,
    /// Out-of-band control packets have a queue of their own in the port and go first;
    /// otherwise there is one FIFO queue for all.
    pub control_priority: bool,
    /// It was made to attach a host (`access`, `egress`), not named as a link of the
    /// network; engines record no series for it.
    pub attachment: bool,
}

/// A port's queue.
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// The queue discipline with its parameters; its family's role is `Queue`.
    pub discipline: Values,
    /// The limit of the queue, the packet in service included.
    pub limit: Limit,
}

/// The size of a buffer. Times and multiples of the bandwidth-delay product are resolved
/// to bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// So many packets of any size.
    Packets(u64),
    /// So many bytes.
    Bytes(Bytes),
    /// Everything fits.
    Unlimited,
}

/// Flows of the same kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name, unique in the scenario.
    pub name: String,
    /// Its flows, in [`Scenario::flows`].
    pub flows: Range<usize>,
    /// The series that engines record of it.
    pub recorded: Recorded,
}

/// Whose series engines record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// Those of each flow.
    #[default]
    Flows,
    /// Sums over the flows of the group.
    Group,
}

impl Recorded {
    /// All of them, by name.
    pub const NAMES: [(&'static str, Recorded); 2] =
        [("flows", Recorded::Flows), ("group", Recorded::Group)];

    /// The name in scenario files.
    pub fn name(self) -> &'static str {
        let found = Recorded::NAMES.iter().find(|(_, r)| *r == self);
        found.expect("all are listed").0
    }
}

/// Least retransmission time-out of streams that are not given one: that of Linux.
pub const MIN_RTO: Duration = Duration::from_ms(200);

/// One flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// `group.index`, or just the group's name in a group of one.
    pub name: String,
    /// Index in [`Scenario::groups`].
    pub group: usize,
    /// Links from the source to the sink, in order; never empty, never a loop.
    pub path: Vec<LinkId>,
    /// Links from the sink to the source, for acknowledgements and reports.
    pub reverse_path: Vec<LinkId>,
    /// The controller with its parameters; its family's role is `Controller`.
    pub controller: Values,
    /// Congestion control of the operating system's TCP that is the flow in the live engine; the
    /// other engines run the controller in its place.
    pub kernel: Option<String>,
    /// Its service; the default but for controllers that keep accumulation.
    pub service: Service,
    /// The demand of the application.
    pub demand: Demand,
    /// When it starts.
    pub start: Time,
    /// When it stops sending, if before the end of its demand.
    pub stop: Option<Time>,
    /// Index in [`Scenario::aggregates`].
    pub aggregate: usize,
    /// The share that it should have, relative to others; the fairness indices measure against it.
    pub share: f64,
    /// Size of a data packet, headers included; in the mean, where sizes are random.
    pub packet: Bytes,
    /// The law of the sizes of data packets, where they are random.
    pub sizes: Option<PacketSizes>,
    /// Size of an acknowledgement, headers included.
    pub ack: Bytes,
    /// Size of a control packet (OB, IB, report), headers included.
    pub control: Bytes,
    /// Before each data packet the host of a stream takes a time uniform between zero and this.
    pub processing: Duration,
    /// Least retransmission time-out, of a stream.
    pub min_rto: Duration,
    /// Whether a stream spaces the packets of its window over the round trip.
    pub pacing: bool,
}

impl Link {
    /// Whether it loses packets on its wire.
    pub fn is_lossy(&self) -> bool {
        self.loss > 0.0 || self.control_loss > 0.0
    }
}

impl Flow {
    /// Its application; it is flow `id`.
    pub fn application(&self, id: usize, seed: u64) -> Application {
        Application::new(self.demand, self.packet, self.sizes.as_ref(), id, seed)
    }

    /// The host's mean processing time of a data packet.
    pub fn mean_processing(&self) -> Duration {
        Duration::from_ps(self.processing.as_ps() / 2)
    }
}

/// Something changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub at: Time,
    /// What.
    pub change: Change,
}

/// The change that an [`Event`] makes.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A directed link's propagation delay, for packets sent from now on. Those on the wire are
    /// not overtaken, and nothing comes out of it faster than the link sends.
    Delay(LinkId, Duration),
    /// A directed link's rate, for what is left of the packet in service and for those behind
    /// it; zero is an outage.
    Rate(LinkId, Rate),
    /// The rate of a flow's demand, from the next packet on.
    Demand {
        /// The flow's index.
        flow: usize,
        /// Its new rate.
        rate: Rate,
    },
    /// The way of a flow, for packets sent from now on.
    Route {
        /// The flow's index.
        flow: usize,
        /// Its new path.
        path: Vec<LinkId>,
        /// Its new reverse path.
        reverse_path: Vec<LinkId>,
    },
}

/// A part of the run during which neither the set of flows nor the network changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// From here ...
    pub start: Time,
    /// ... to here.
    pub end: Time,
    /// Indices of the flows that send.
    pub active: Vec<usize>,
}

impl Scenario {
    /// Flows that engines record one by one.
    pub fn recorded_flows(&self) -> impl Iterator<Item = usize> {
        let one_by_one = |g: &&Group| g.recorded == Recorded::Flows;
        self.groups
            .iter()
            .filter(one_by_one)
            .flat_map(|g| g.flows.clone())
    }

    /// Groups that engines record as one.
    pub fn recorded_groups(&self) -> impl Iterator<Item = usize> {
        (0..self.groups.len()).filter(|&g| self.groups[g].recorded == Recorded::Group)
    }

    /// The nodes where a flow begins and ends.
    pub fn ends(&self, flow: usize) -> (NodeId, NodeId) {
        let f = &self.flows[flow];
        let node = |path: &[LinkId]| self.links[path[0]].from;
        (node(&f.path), node(&f.reverse_path))
    }

    /// The end of the run.
    pub fn end(&self) -> Time {
        Time::ZERO + self.duration
    }

    /// The times at which flows start or stop or the network changes, and the start and the end
    /// of the run, in order.
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

    /// The run cut at its [`cuts`](Scenario::cuts), in order. Phases are never empty and cover
    /// the whole run. Each is made when it is asked for: it lists all flows that are active.
    pub fn phases(&self) -> impl DoubleEndedIterator<Item = Phase> {
        let cuts = self.cuts();
        (1..cuts.len()).map(move |i| self.phase(cuts[i - 1], cuts[i]))
    }

    /// The phase at `at`, the last one if the run is over by then.
    pub fn phase_at(&self, at: Time) -> Phase {
        let cuts = self.cuts();
        let next = cuts.partition_point(|cut| *cut <= at);
        let next = next.clamp(1, cuts.len() - 1);
        self.phase(cuts[next - 1], cuts[next])
    }

    fn phase(&self, start: Time, end: Time) -> Phase {
        let active = |f: &Flow| f.start <= start && f.stop.is_none_or(|stop| stop > start);
        Phase {
            start,
            end,
            active: (0..self.flows.len())
                .filter(|&i| active(&self.flows[i]))
                .collect(),
        }
    }
}
