//! The network model: what a scenario file means, with every name resolved.

use crate::expectation::{Expectation, Window};
use crate::sizes::PacketSizes;
use crate::web::Web;
use accord_family::{Service, Values};
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

impl Flow {
    /// The host's mean processing time of a data packet.
    pub fn mean_processing(&self) -> Duration {
        Duration::from_ps(self.processing.as_ps() / 2)
    }
}

/// The demand of an application.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// Always more.
    Greedy,
    /// So much, then it is done.
    Size(Bytes),
    /// A constant rate, headers included.
    Constant(Rate),
    /// Packets at random instants, with this mean rate.
    Poisson(Rate),
    /// Bursts and pauses, over one connection that lasts.
    OnOff {
        /// The rate in a burst; as fast as the controller allows where there is none.
        rate: Option<Rate>,
        /// Size of a burst.
        burst: Draw<Bytes>,
        /// Length of a pause.
        pause: Draw<Duration>,
    },
    /// The pages of a web user, a new connection for each file.
    Web(Web),
}

impl Demand {
    /// The same at another rate; as it is if it has none.
    pub fn at_rate(self, rate: Rate) -> Demand {
        match self {
            Demand::Constant(_) => Demand::Constant(rate),
            Demand::Poisson(_) => Demand::Poisson(rate),
            Demand::OnOff {
                rate: Some(_),
                burst,
                pause,
            } => Demand::OnOff {
                rate: Some(rate),
                burst,
                pause,
            },
            Demand::Greedy
            | Demand::Size(_)
            | Demand::OnOff { rate: None, .. }
            | Demand::Web(_) => self,
        }
    }

    /// What it comes to in the mean, in bit/s, if the network takes all of it; `None` for one that
    /// takes whatever it gets, and for web users of whom no load is given. A burst without a rate
    /// counts as if it took no time, so that this is the most that it comes to.
    pub fn mean_rate(&self) -> Option<f64> {
        match self {
            Demand::Constant(rate) | Demand::Poisson(rate) => Some(rate.as_bps_f64()),
            Demand::OnOff { rate, burst, pause } => {
                let bits = burst.mean().bits_f64();
                let rate = rate.map_or(f64::INFINITY, Rate::as_bps_f64);
                Some(bits / (bits / rate + pause.mean().as_secs_f64()))
            }
            Demand::Web(web) => web.load.map(Rate::as_bps_f64),
            Demand::Greedy | Demand::Size(_) => None,
        }
    }

    /// Whether it has a rate of its own.
    pub fn is_rated(&self) -> bool {
        match self {
            Demand::Constant(_) | Demand::Poisson(_) => true,
            Demand::OnOff { rate, .. } => rate.is_some(),
            Demand::Greedy | Demand::Size(_) | Demand::Web(_) => false,
        }
    }
}

/// A quantity that an application draws anew each time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Draw<T> {
    /// Always this.
    Constant(T),
    /// Exponentially distributed with this mean.
    Exponential(T),
    /// Pareto distributed.
    Pareto {
        /// The mean.
        mean: T,
        /// Of the tail; more than 1.
        shape: f64,
    },
}

impl<T: Copy> Draw<T> {
    /// The mean.
    pub fn mean(&self) -> T {
        match *self {
            Draw::Constant(x) | Draw::Exponential(x) | Draw::Pareto { mean: x, .. } => x,
        }
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

    /// Time from the first bit sent to the last bit received with empty queues, over
    /// `path`, for a packet of `size`: propagation and transmission.
    pub fn one_way(&self, path: &[LinkId], size: Bytes) -> Duration {
        path.iter().fold(Duration::ZERO, |sum, &l| {
            sum + self.links[l].delay + self.links[l].rate.transmission(size)
        })
    }

    /// Base round-trip time of a flow at the start of the run: processing, propagation and
    /// transmission of a data packet and of its acknowledgement, with empty queues.
    pub fn base_rtt(&self, flow: usize) -> Duration {
        let f = &self.flows[flow];
        let (there, back) = (
            self.one_way(&f.path, f.packet),
            self.one_way(&f.reverse_path, f.ack),
        );
        f.mean_processing() + there + back
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
