//! The keys of the scenario language.

use super::{figure, limits};
use super::shape::{Default, Key, Section, Shape};
use accord_scenario::{Cause, Claim, Engine, LinkModel, Metric, Recorded};
use Default::{Nothing, Required, Value, Words};

pub(crate) const SEED: Shape = Shape::Whole(0, i64::MAX as u64);

/// The top level of a file.
pub(crate) const FILE: Section = Section {
    title: "The file",
    doc: "What runs, for how long, and what a reader should know of it.",
    one_of: false,
    keys: &[
        key("id", Shape::Name, Words("the file's name"), "Short name, such as \"xia05-fig6\"; also the name of the run directory."),
        key("title", Shape::Text, Value(""), "One line for people."),
        key("source", Shape::Text, Value(""), "Where the experiment comes from."),
        key("notes", Shape::Text, Value(""), "What to know when reading the result: departures, choices."),
        key("duration", Shape::Span, Required, "Length of the run."),
        key("seed", SEED, Value("1"), "All randomness comes from here."),
        key("sample", Shape::Span, Words("a thousandth of the duration or a little less"), "Period of the recorded series."),
        key("steady", Shape::Pair(&Shape::Instant), Words("the second half of the run"), "The part of the run that tables average over."),
        key("fluid", Shape::Table(&FLUID), Nothing, "What the fluid engine needs to know beyond the network."),
        key("nodes", Shape::List(&Shape::Dotted), Words("the ends of the links, if there is no template"), "Names of routers and hosts; those of a template need not be listed."),
        key("topology", Shape::Table(&TOPOLOGY), Nothing, "Networks that are made of a few numbers."),
        key("link", Shape::Links(&LINK), Nothing, "Links, by name; see [links](#links)."),
        key("flow", Shape::Named(&FLOW), Nothing, "Groups of flows, by name."),
        key("event", Shape::List(&Shape::Table(&EVENT)), Nothing, "What changes during the run."),
        key("expect", Shape::List(&Shape::Table(&EXPECT)), Nothing, "What should come out."),
        key("sweep", Shape::Named(&SWEEP), Nothing, "What varies from run to run, by name."),
    ],
};

pub(crate) const FLUID: Section = Section {
    title: "[fluid]",
    doc: "How the fluid engine computes; the other engines do not read it.",
    one_of: false,
    keys: &[
        key("link_model", Shape::Choice(link_models), Value("ack-clocked"), "How queues follow from windows: `ack-clocked` keeps in flight what the windows say, `integrator` integrates window over round-trip time."),
        key("step", Shape::Span, Words("a fifteenth of the shortest base round-trip time, a thirtieth for laws of the sign"), "Longest time step."),
    ],
};

const TOPOLOGY: Section = Section {
    title: "[topology]",
    doc: "Templates. Their links can be changed one by one in `[link.NAME]`.",
    one_of: false,
    keys: &[
        key("dumbbell", Shape::Table(&DUMBBELL), Nothing, "Routers `left` and `right`, and the link `bottleneck` between them."),
        key("parking_lot", Shape::Table(&PARKING_LOT), Nothing, "Routers `r0`, `r1`, ... in a row, and the links `hop1`, `hop2`, ... between them."),
    ],
};

pub(crate) const DUMBBELL: Section = Section {
    title: "topology.dumbbell",
    doc: "One bottleneck from `left` to `right`.",
    one_of: false,
    keys: &[needed(RATE), needed(DELAY), QUEUE, LOSS, CONTROL_LOSS, CONTROL_PRIORITY, JITTER, REORDER, POLICER, SHAPER, ACK_AGGREGATION, ACK_THINNING,
        REVERSE_PORT],
};

pub(crate) const PARKING_LOT: Section = Section {
    title: "topology.parking_lot",
    doc: "Bottlenecks in a row, all alike.",
    one_of: false,
    keys: &[
        key("bottlenecks", Shape::Whole(1, limits::LINKS as u64 / 2), Required, "How many links there are in the row."),
        needed(RATE), needed(DELAY), QUEUE, LOSS, CONTROL_LOSS, CONTROL_PRIORITY, JITTER, REORDER, POLICER, SHAPER, ACK_AGGREGATION, ACK_THINNING,
        REVERSE_PORT,
    ],
};

const RATE: Key = key("rate", Shape::Either(&[Shape::Rate, Shape::Table(&VARIABLE_RATE)]), Words("required, but for a link of a template"), "Service rate; a table has one that varies.");
const DELAY: Key = key("delay", Shape::Delay, Words("required, but for a link of a template"), "Propagation delay.");
const QUEUE: Key = key("queue", Shape::Queue, Words("droptail, \"1 BDP\""), "The queue in front of it.");
const LOSS: Key = key("loss", Shape::Probability, Value("0"), "Probability that a data packet or an acknowledgement is lost on the wire.");
const CONTROL_LOSS: Key = key("control_loss", Shape::Probability, Value("0"), "Probability that a control packet is lost on the wire.");
const CONTROL_PRIORITY: Key = key("control_priority", Shape::Flag, Value("true"), "Whether out-of-band control packets have a queue of their own and go first; with `false` one FIFO queue is for all.");
const JITTER: Key = key("jitter", Shape::Either(&[Shape::Choice(|| vec!["off"]), Shape::Table(&JITTERS)]), Value("off"), "A delay drawn anew for each packet, in addition to `delay`.");
const REORDER: Key = key("reorder", Shape::Either(&[Shape::Choice(|| vec!["off"]), Shape::Table(&REORDERING)]), Value("off"), "Packets that are held back, so that others overtake them.");
const POLICER: Key = key("policer", Shape::Either(&[Shape::Choice(|| vec!["off"]), Shape::Table(&POLICING)]), Value("off"), "A token bucket in front of the queue, which drops packets that it has no tokens for.");
const SHAPER: Key = key("shaper", Shape::Either(&[Shape::Choice(|| vec!["off"]), Shape::Table(&SHAPING)]), Value("off"), "A token bucket that the packet at the head of the queue waits for.");
const ACK_AGGREGATION: Key = key("ack_aggregation", Shape::Period, Value("off"), "Acknowledgements come out of the wire at multiples of this time only, all that are due at once.");
const ACK_THINNING: Key = key("ack_thinning", Shape::Flag, Value("false"), "Whether an acknowledgement that arrives has earlier ones of its flow dropped that still wait in the queue and tell of no gap.");
const REVERSE_PORT: Key = key("reverse", Shape::Table(&REVERSE), Nothing, "What is different in the reverse direction.");

pub(crate) const JITTERS: Section = Section {
    title: "jitter",
    doc: "A delay drawn anew for each packet, by one of the laws `normal`, `uniform` and `exponential`; see [difficult paths](paths.md#jitter).",
    one_of: false,
    keys: &[
        key("normal", Shape::Span, Nothing, "The absolute value of a normal variable with mean zero and this standard deviation [RFC 8868 §4.5.3]."),
        key("at_most", Shape::Span, Words("three times `normal`"), "The longest delay by `normal`; what is drawn beyond it becomes this."),
        key("uniform", Shape::Span, Nothing, "Uniform from zero to this."),
        key("exponential", Shape::Span, Nothing, "Exponential with this mean."),
        key("reorder", Shape::Flag, Value("false"), "Whether packets may overtake each other. Otherwise a packet comes out with the one before it at the earliest."),
    ],
};

pub(crate) const REORDERING: Section = Section {
    title: "reorder",
    doc: "Packets that are held back on the wire, so that others overtake them.",
    one_of: false,
    keys: &[
        key("share", Shape::Probability, Value("1"), "Probability that a packet which is up for it is held back."),
        key("delay", Shape::Span, Required, "The time for which it is held back."),
        key("gap", Shape::Whole(1, 1_000_000_000), Value("1"), "Every how many packets one is up for it."),
    ],
};

pub(crate) const POLICING: Section = Section {
    title: "policer",
    doc: "A token bucket that drops. It is full at the start, and a packet passes if the bucket has its bytes.",
    one_of: false,
    keys: &[BUCKET_RATE, BUCKET_BURST],
};

pub(crate) const SHAPING: Section = Section {
    title: "shaper",
    doc: "A token bucket that packets wait for. It is full at the start. The line of the link sends a packet at its own rate when the bucket has its bytes, or all that it can hold.",
    one_of: false,
    keys: &[BUCKET_RATE, BUCKET_BURST],
};

const BUCKET_RATE: Key = key("rate", Shape::Rate, Required, "The rate at which the bucket fills.");
const BUCKET_BURST: Key = key("burst", Shape::Amount, Required, "The most that it holds.");

/// A rate that a file gives.
pub(crate) const VARIABLE_RATE: Section = Section {
    title: "rate of a link",
    doc: "A rate that varies, from a file beside the scenario or in a folder below; see [difficult paths](paths.md).",
    one_of: true,
    keys: &[
        key("trace", Shape::Trace, Nothing, "Delivery opportunities in the format of mahimahi: a line per opportunity to send 1504 bytes, with its time in whole milliseconds, repeated from its end; or these times in place. Theory and fluid take the mean rate."),
        key("steps", Shape::Steps, Nothing, "Steps: lines of seconds and a rate, such as `12.5, 10 Mbps`, the first at 0. They become [events](#event)."),
    ],
};

/// One direction of a link.
pub(crate) const REVERSE: Section = Section {
    title: "reverse",
    doc: "What is different in the direction from `to` to `from`; that direction is named `NAME.reverse`.",
    one_of: false,
    keys: &[
        Key { default: Words("as forward"), ..RATE },
        Key { default: Words("as forward"), ..DELAY },
        Key { default: Words("as forward"), ..QUEUE },
        Key { default: Words("as forward"), ..LOSS },
        Key { default: Words("as forward"), ..CONTROL_LOSS },
        Key { default: Words("as forward"), ..CONTROL_PRIORITY },
        Key { default: Words("as forward"), ..JITTER },
        Key { default: Words("as forward"), ..REORDER },
        Key { default: Words("as forward"), ..POLICER },
        Key { default: Words("as forward"), ..SHAPER },
        Key { default: Words("as forward"), ..ACK_AGGREGATION },
        Key { default: Words("as forward"), ..ACK_THINNING },
    ],
};

pub(crate) const LINK: Section = Section {
    title: "[link.NAME]",
    doc: "A duplex link between two nodes. Under the name of a template's link it changes the keys that it gives.",
    one_of: false,
    keys: &[
        key("from", Shape::Dotted, Words("required, but for a link of a template"), "The node that it leaves."),
        key("to", Shape::Dotted, Words("required, but for a link of a template"), "The node that it reaches."),
        RATE, DELAY, QUEUE, LOSS, CONTROL_LOSS, CONTROL_PRIORITY, JITTER, REORDER, POLICER, SHAPER, ACK_AGGREGATION, ACK_THINNING,
        REVERSE_PORT,
        key("attachment", Shape::Flag, Value("false"), "It attaches a host, as `access` and `egress` do; no series are recorded for it."),
    ],
};

const VARIED_RATE: &[Shape] = &[Shape::Rate, Shape::List(&Shape::Rate), Shape::Table(&SPREAD_RATE)];
const VARIED_DELAY: &[Shape] = &[Shape::Delay, Shape::List(&Shape::Delay), Shape::Table(&SPREAD_DELAY)];

pub(crate) const ATTACHMENT: Section = Section {
    title: "access, egress",
    doc: "A host of its own for each flow of the group, behind a duplex link of its own, or some hosts that the flows share. The links of flow `x.2` are `x.2.access` (from host `x.2.source`) and `x.2.egress` (to host `x.2.sink`); those of shared hosts are `x.access.1` (from host `x.source.1`) and `x.egress.1` (to host `x.sink.1`).",
    one_of: false,
    keys: &[
        key("hosts", Shape::Whole(1, limits::LINKS as u64 / 2), Words("one for each flow"), "Number of hosts; the flows of the group go round them."),
        key("rate", Shape::Either(VARIED_RATE), Words("required"), "Service rate; a list goes round the hosts of the group."),
        key("delay", Shape::Either(VARIED_DELAY), Words("required"), "Propagation delay; a list goes round the hosts of the group."),
        Key { default: Words("droptail, \"unlimited\""), ..QUEUE },
        LOSS, CONTROL_LOSS, CONTROL_PRIORITY, JITTER, REORDER, POLICER, SHAPER, ACK_AGGREGATION, ACK_THINNING,
        REVERSE_PORT,
    ],
};

const SPREAD_RATE: Section = Section {
    title: "{ spread = [...] } of a rate",
    doc: "Values at even steps, from the first host of the group to the last.",
    one_of: false,
    keys: &[key("spread", Shape::Pair(&Shape::Rate), Required, "The rates of the first and of the last host.")],
};

const SPREAD_DELAY: Section = Section {
    title: "{ spread = [...] } of a delay",
    doc: "Values at even steps, from the first host of the group to the last.",
    one_of: false,
    keys: &[key("spread", Shape::Pair(&Shape::Delay), Required, "The delays of the first and of the last host.")],
};

const NODES: Shape = Shape::List(&Shape::Dotted);
const FROM: Key = key("from", Shape::Dotted, Words("the start of `path`"), "Node where the flows enter; they take the path of least delay to `to`.");
const TO: Key = key("to", Shape::Dotted, Words("the end of `path`"), "Node where the flows leave.");
const PATH: Key = key("path", NODES, Words("the least delay from `from` to `to`"), "Nodes on the way, instead of `from` and `to`; neighbours must be linked.");
const REVERSE_PATH: Key = key("reverse_path", NODES, Words("the path backwards"), "Nodes on the way of acknowledgements and reports.");
const ACCESS: Key = key("access", Shape::Table(&ATTACHMENT), Words("the flow starts at the first node of its path"), "Attaches a source host to the start of the path.");
const EGRESS: Key = key("egress", Shape::Table(&ATTACHMENT), Words("the flow ends at the last node of its path"), "Attaches a sink host to the end of the path.");
const CONTROLLER: Key = key("controller", Shape::Controller, Required, "The congestion controller, by name or as a table of `name` and its parameters.");
const KERNEL: Key = key("kernel", Shape::Name, Nothing, "In the live engine the flow is a TCP connection of the operating system with this congestion control (\"cubic\", \"reno\", \"bbr\", or what else its kernel has); the other engines run the flow's `controller` in its place.");
const SERVICE: Key = key("service", Shape::Table(&SERVICES), Words("a fair share"), "What the flow is to get, where its controller keeps accumulation.");
const DEMAND: Key = key("demand", Shape::Either(&[Shape::Choice(|| vec!["greedy"]), Shape::Table(&DEMANDS)]), Value("greedy"), "What the application wants to send.");
const START: Key = key("start", Shape::Either(&[Shape::Instant, Shape::Table(&UNIFORM)]), Value("0 s"), "When it starts.");
const STOP: Key = key("stop", Shape::Instant, Nothing, "When it stops sending.");
const AGGREGATE: Key = key("aggregate", Shape::Name, Value("default"), "The kind of traffic that queue disciplines take it for, such as \"udp\".");
const SHARE: Key = key("share", Shape::Number(1e-6, 1e9), Words("the weight of its service, 1 without one"), "What a flow should have, relative to others: the fairness indices measure against it.");
const PACKET: Key = key("packet", Shape::Either(&[Shape::Packet, Shape::Table(&PACKET_SIZES)]), Value("1000 B"), "Size of a data packet, headers included; of senders without a controller, it may be random.");
const ACK: Key = key("ack", Shape::Packet, Value("40 B"), "Size of an acknowledgement, headers included.");
const PROCESSING: Key = key("processing", Shape::Processing, Value("auto"), "Before each data packet of a stream its host takes a time drawn anew, uniform between zero and this; see [processing times](#processing-times).");
const MIN_RTO: Key = key("min_rto", Shape::Timeout, Value("200 ms"), "Least retransmission time-out of a stream, 60 s at most; 200 ms is that of Linux, RFC 6298 asks for 1 s.");
const PACING: Key = key("pacing", Shape::Flag, Value("false"), "Spaces the packets of a stream's window over the round trip, as Linux does with `fq`; see [pacing](#pacing).");
const CONTROL: Key = key("control", Shape::Packet, Value("64 B"), "Size of a control packet, headers included.");

pub(crate) const FLOW: Section = Section {
    title: "[flow.NAME]",
    doc: "A group of flows of the same kind: `NAME.1`, `NAME.2`, ..., or just `NAME` in a group of one.",
    one_of: false,
    keys: &[
        key("count", Shape::Whole(1, limits::FLOWS as u64), Words("1, or the length of `each`"), "Number of flows; with `each_hop`, on each link."),
        key("each_hop", Shape::Flag, Value("false"), "Flows on each link of the parking lot, instead of a path: `NAME.1` on `hop1` and so on."),
        FROM, TO, PATH, REVERSE_PATH, ACCESS, EGRESS,
        Key { default: Words("required, here or in `each`; with `kernel` the model of it, where there is one"), ..CONTROLLER },
        KERNEL, SERVICE, DEMAND, START, STOP, AGGREGATE, SHARE, PACKET, ACK, CONTROL, PROCESSING,
        MIN_RTO, PACING,
        key("record", Shape::Choice(recorded), Words("`group` for web users, else `flows`"), "Whose series are recorded: each flow's, or sums over the group."),
        key("each", Shape::List(&Shape::Table(&EACH)), Nothing, "One table for each flow of the group, with what is different from the group."),
    ],
};

pub(crate) const EACH: Section = Section {
    title: "each",
    doc: "What is different for one flow of a group.",
    one_of: false,
    keys: &[
        inherited(FROM), inherited(TO), inherited(PATH), inherited(REVERSE_PATH), inherited(ACCESS),
        inherited(EGRESS), inherited(CONTROLLER), inherited(KERNEL), inherited(SERVICE),
        inherited(DEMAND), inherited(START), inherited(STOP), inherited(AGGREGATE), inherited(SHARE), inherited(PACKET),
        inherited(ACK), inherited(CONTROL), inherited(PROCESSING), inherited(MIN_RTO), inherited(PACING),
    ],
};

pub(crate) const SERVICES: Section = Section {
    title: "service",
    doc: "A contracted rate, and a weighted share of what is not contracted; see [services](services.md).",
    one_of: false,
    keys: &[
        key("contract", Shape::AnyRate, Value("0 bps"), "Rate that the flow gets before anything is shared."),
        key("weight", Shape::Number(1e-6, 1e6), Value("1"), "Its part of what is shared: multiplies the controller's target."),
        key("limit", Shape::Amount, Words("none"), "The most that the flow may have queued, whatever its contract; no less than its weight times the target."),
    ],
};

pub(crate) const DEMANDS: Section = Section {
    title: "demand",
    doc: "What the application wants to send; \"greedy\" is always more.",
    one_of: true,
    keys: &[
        key("size", Shape::Amount, Nothing, "So much, then it is done."),
        key("constant", Shape::Rate, Nothing, "A constant rate, headers included."),
        key("poisson", Shape::Rate, Nothing, "Packets at random instants, with this mean rate."),
        key("on_off", Shape::Table(&ON_OFF), Nothing, "Bursts and pauses, over one connection that lasts."),
        key("web", Shape::Table(&WEB), Nothing, "The pages of a web user, a new connection for each file; `{}` for the defaults."),
        key("media", Shape::Table(&MEDIA), Nothing, "Live video, whose rate follows what the controller allows."),
    ],
};

pub(crate) const MEDIA: Section = Section {
    title: "demand.media",
    doc: "Live video after the statistical model of RFC 8593 §5: frames whose sizes and intervals vary about those of a target rate. The target follows what the controller allows, the rate of its pacing or its window per round trip. A sender without a controller has the highest rate.",
    one_of: false,
    keys: &[
        key("min", Shape::Rate, Value("150 Kbps"), "Lowest target rate, R_min."),
        key("max", Shape::Rate, Value("1.5 Mbps"), "Highest target rate, R_max. `demand_rate` of an event changes it. The theory and fluid engines take it for the rate of the demand."),
        key("fps", Shape::Number(0.1, 10_000.0), Value("30"), "Frames per second."),
        key("latency", Shape::Delay, Value("200 ms"), "The target changes once in this time at most, τ_v."),
        key("size_scale", Shape::Number(0.0, 1.0), Value("0.15"), "Scale of the Laplace variable by which sizes of frames vary, relative to their mean."),
        key("interval_scale", Shape::Number(0.0, 1.0), Value("0.15"), "The same of their intervals."),
        key("burst", Shape::Whole(0, 1000), Value("8"), "Frames of a transient, K_d; with 0 there are none."),
        key("burst_size", Shape::Number(0.1, 1000.0), Value("3.24"), "Size of the first frame of a transient, relative to the mean. The others are smaller, so that all have the mean."),
        key("change", Shape::Number(0.0, 1000.0), Value("0.5"), "Relative change of the target above which there is a transient."),
        key("pause", Shape::Pair(&Shape::Instant), Nothing, "A part of the run in which the source is silent; a transient follows."),
    ],
};

pub(crate) const WEB: Section = Section {
    title: "demand.web",
    doc: "A user of the web after Barford and Crovella's SURGE: it fetches a page (a main file, then the objects embedded in it, with a pause before each), thinks, and fetches the next. Every file takes a new connection. The first page comes after a random part of a think time, so users that start together are not in step.",
    one_of: false,
    keys: &[
        key("body_mu", Shape::Number(0.0, 40.0), Value("9.357"), "Files, lognormal: mean μ of the natural logarithm of the size in bytes."),
        key("body_sigma", Shape::Number(0.0, 10.0), Value("1.318"), "Its standard deviation σ."),
        key("tail_share", Shape::Probability, Value("7 %"), "Share of files that come from a Pareto tail instead."),
        key("tail_least", Shape::Amount, Value("133 KB"), "Smallest file of the tail, k."),
        key("tail_shape", Shape::Number(0.1, 100.0), Value("1.1"), "Exponent α of the tail: a share (k/x)^α of it is larger than x."),
        key("largest", Shape::Amount, Value("1 GB"), "No file is larger; what is drawn beyond it becomes this."),
        key("objects_shape", Shape::Number(1.05, 100.0), Value("2.43"), "Embedded objects of a page: Pareto from 1 with this exponent, rounded down."),
        key("off_scale", Shape::Span, Value("1.46 s"), "Pause before each embedded object, Weibull: scale λ."),
        key("off_shape", Shape::Number(0.1, 100.0), Value("0.382"), "Its shape s: a share exp(−(t/λ)^s) of them is longer than t."),
        key("think_least", Shape::Span, Value("1 s"), "Think time between pages, Pareto: the shortest, k."),
        key("think_shape", Shape::Number(0.1, 100.0), Value("1.5"), "Exponent α of the think time."),
        key("longest", Shape::Span, Value("1 h"), "No pause is longer; what is drawn beyond it becomes this."),
        key("load", Shape::Rate, Words("left out there"), "Mean rate of a user, as what the theory and fluid engines, which see no transfers, count it."),
    ],
};

pub(crate) const ON_OFF: Section = Section {
    title: "demand.on_off",
    doc: "Bursts and pauses, each of constant or of random size and length.",
    one_of: false,
    keys: &[
        key("rate", Shape::Rate, Words("as fast as the controller allows"), "The rate in a burst."),
        key("burst", Shape::Either(&[Shape::Amount, Shape::Table(&RANDOM_AMOUNT)]), Required, "Size of a burst; `{ exponential = \"1 MB\" }` draws each anew."),
        key("pause", Shape::Either(&[Shape::Span, Shape::Table(&RANDOM_SPAN)]), Required, "Length of a pause; `{ exponential = \"3 s\" }` draws each anew."),
    ],
};

pub(crate) const RANDOM_AMOUNT: Section = Section {
    title: "demand.on_off.burst",
    doc: "Sizes drawn anew for each burst.",
    one_of: true,
    keys: &[
        key("exponential", Shape::Amount, Nothing, "Exponentially distributed, with this mean."),
        key("pareto", Shape::Table(&PARETO_AMOUNT), Nothing, "Pareto distributed: most are small, few are huge."),
    ],
};

pub(crate) const PARETO_AMOUNT: Section = Section {
    title: "pareto of a size",
    doc: "P(more than x) = (least/x)^shape from a least value on, which follows from the mean.",
    one_of: false,
    keys: &[key("mean", Shape::Amount, Required, "The mean."), PARETO_SHAPE],
};

const PARETO_SHAPE: Key = key("shape", Shape::Number(1.01, 100.0), Required, "Of the tail; the variance is infinite up to 2.");

pub(crate) const RANDOM_SPAN: Section = Section {
    title: "demand.on_off.pause",
    doc: "Lengths drawn anew for each pause.",
    one_of: true,
    keys: &[
        key("exponential", Shape::Span, Nothing, "Exponentially distributed, with this mean."),
        key("pareto", Shape::Table(&PARETO_SPAN), Nothing, "Pareto distributed: most are short, few are very long."),
    ],
};

pub(crate) const PARETO_SPAN: Section = Section {
    title: "pareto of a time",
    doc: "P(more than x) = (least/x)^shape from a least value on, which follows from the mean.",
    one_of: false,
    keys: &[key("mean", Shape::Span, Required, "The mean."), PARETO_SHAPE],
};

pub(crate) const PACKET_SIZES: Section = Section {
    title: "packet",
    doc: "Sizes drawn anew for each packet, from 40 B to 65535 B, for senders with `controller = \"none\"`. A demand's rate holds in the mean: instants do not depend on sizes. The theory and fluid engines see the mean.",
    one_of: true,
    keys: &[
        key("exponential", Shape::Packet, Nothing, "Exponentially distributed with this mean, to the next byte; what is drawn beyond the bounds becomes the bound."),
        key("uniform", Shape::Pair(&Shape::Packet), Nothing, "Any whole number of bytes between these two alike, both included."),
        key("mix", Shape::Map(&Shape::Whole(1, 1_000_000)), Nothing, "One of these sizes, each as often as its number says: `{ \"40 B\" = 7, \"576 B\" = 4, \"1500 B\" = 1 }` is an Internet mix."),
    ],
};

pub(crate) const UNIFORM: Section = Section {
    title: "start = { uniform = [...] }",
    doc: "A start drawn for each flow by the seed.",
    one_of: false,
    keys: &[key("uniform", Shape::Pair(&Shape::Instant), Required, "The earliest and the latest start.")],
};

pub(crate) const EVENT: Section = Section {
    title: "[[event]]",
    doc: "A change of a link's delay or rate, or of a flow's path or demand.",
    one_of: false,
    keys: &[
        key("at", Shape::Instant, Required, "When."),
        key("link", Shape::Dotted, Nothing, "The link that changes: both directions, or one if the name ends in `.reverse`."),
        key("direction", Shape::Choice(|| vec!["both", "forward", "reverse"]), Value("both"), "Which directions of the link."),
        key("delay", Shape::Delay, Nothing, "Its propagation delay from now on, which may be zero. Packets on the wire keep theirs and are not overtaken; what follows them comes out no faster than the link sends."),
        key("rate", Shape::AnyRate, Nothing, "Its rate from now on, for the rest of the packet in service and for those behind it. `\"0 bps\"` is an outage: packets wait, or are dropped where they do not fit, until the rate is another; what is on the wire arrives."),
        key("flow", Shape::Dotted, Nothing, "The group or flow that takes another path or sends at another rate."),
        key("demand_rate", Shape::Rate, Nothing, "Rate of its demand from now on; for a demand that has one."),
        key("path", NODES, Nothing, "Nodes of the new path; access and egress stay and need not be listed."),
        REVERSE_PATH,
    ],
};

const FIGURES: &[Shape] = &[Shape::Figure, Shape::Map(&Shape::Figure)];
const LABELS: &[Shape] = &[Shape::Any, Shape::List(&Shape::Any)];

pub(crate) const EXPECT: Section = Section {
    title: "[[expect]]",
    doc: "A figure of a run, and what it should be.",
    one_of: false,
    keys: &[
        key("name", Shape::Text, Words("made of the other keys"), "One line for people, unique in the file."),
        key("metric", Shape::Choice(metrics), Required, "The quantity."),
        key("of", Shape::Dotted, Required, "A group, a flow (`NAME.2`), a link, or an aggregate at a link (`bottleneck.udp`)."),
        key("engine", Shape::Either(&[Shape::Choice(engines), Shape::List(&Shape::Choice(engines))]), Value("packet"), "The engine whose run is judged; a list makes one expectation for each."),
        key("during", Shape::Pair(&Shape::Instant), Words("the steady part"), "The part of the run that counts."),
        key("over", Shape::Over, Value("mean"), "How the samples become one number, [a mean as the metric wants it](output.md#series); `variation` is their standard deviation over their mean."),
        key("across", Shape::Choice(figure::across_words), Value("each"), "How the numbers of a group's flows become one; with `each`, every one of them must meet the target, with `sum` the flows are [taken as one](output.md#series)."),
        key("equals", Shape::Either(FIGURES), Nothing, "The value, or the name of the engine that gives it; with `by`, a table of values."),
        key("within", Shape::Tolerance, Words("required with `equals`, or `beyond`"), "Relative tolerance."),
        key("beyond", Shape::Tolerance, Nothing, "In place of `within`: the figure is farther off than this, as a paper says that something does not come out."),
        key("at_least", Shape::Either(FIGURES), Nothing, "Lower bound; with `by`, a table of them."),
        key("at_most", Shape::Either(FIGURES), Nothing, "Upper bound; with `by`, a table of them."),
        key("by", Shape::Name, Nothing, "The sweep whose values are the keys of the tables."),
        key("when", Shape::Map(&Shape::Either(LABELS)), Nothing, "Values of sweeps: it is expected at these points only."),
        key("paper", Shape::Text, Value(""), "What the paper says."),
        key("claim", Shape::Choice(claims), Words("`paper` where that text is given, else `theory` where another engine gives the value, else `ours`"), "Whose claim it is."),
        key("fails", Shape::Either(&[Shape::Table(&FAILS), Shape::List(&Shape::Table(&FAILS))]), Nothing, "That it is known to fail, and why."),
    ],
};

pub(crate) const FAILS: Section = Section {
    title: "[[expect.fails]]",
    doc: "A failure that is known. It is strict: where the expectation is met after all, or the figure is another than the one recorded, that is an error.",
    one_of: false,
    keys: &[
        key("why", Shape::Choice(causes), Required, "What the cause is: the `paper`, whose claim does not hold; a `setting` that it leaves open; or it is `ours`."),
        key("because", Shape::Text, Required, "The cause in words, and how it is known."),
        key("measured", Shape::Either(FIGURES), Required, "What comes out; with `by`, a table by the values of a sweep, and it fails at these values only."),
        key("band", Shape::Tolerance, Value("1 %"), "How far that may move and still be the same, relative to it."),
        key("engine", Shape::Either(&[Shape::Choice(engines), Shape::List(&Shape::Choice(engines))]), Words("all that are judged"), "The engines whose runs fail."),
        key("at", Shape::Map(&Shape::Either(LABELS)), Words("all points"), "Values of sweeps: it fails at these points only."),
        key("by", Shape::Name, Words("as the expectation"), "The sweep whose values are the keys of the table."),
    ],
};

pub(crate) const SWEEP: Section = Section {
    title: "[sweep.NAME]",
    doc: "One run for each value; several sweeps give all combinations.",
    one_of: false,
    keys: &[
        key("set", Shape::List(&Shape::Text), Nothing, "Paths into this file that take the value, such as \"link.bottleneck.rate\"; entries of lists count from 1. Without it, a value is a table from paths to what goes there."),
        key("values", Shape::Either(&[Shape::List(&Shape::Any), Shape::Map(&Shape::Any)]), Required, "The values: a list, or a table that gives each a label."),
    ],
};

const fn key(name: &'static str, shape: Shape, default: Default, doc: &'static str) -> Key {
    Key { name, shape, default, doc }
}

const fn needed(key: Key) -> Key {
    Key { default: Required, ..key }
}

const fn inherited(key: Key) -> Key {
    Key { default: Words("as the group"), ..key }
}

fn metrics() -> Vec<&'static str> {
    Metric::ALL.iter().map(|m| m.name()).collect()
}

fn recorded() -> Vec<&'static str> {
    Recorded::NAMES.iter().map(|(name, _)| *name).collect()
}

fn claims() -> Vec<&'static str> {
    Claim::NAMES.iter().map(|(name, _)| *name).collect()
}

fn causes() -> Vec<&'static str> {
    Cause::NAMES.iter().map(|(name, _)| *name).collect()
}

fn link_models() -> Vec<&'static str> {
    LinkModel::NAMES.iter().map(|(name, _)| *name).collect()
}

fn engines() -> Vec<&'static str> {
    Engine::ALL.iter().map(|e| e.name()).collect()
}
