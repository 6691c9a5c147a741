//! The keys of the scenario language.

mod demand;
mod links;

pub(crate) use demand::*;
pub(crate) use links::*;

use super::limits;
use accord_form::{Default, key, section};
use super::shape::{Key, Section, Shape, Own};
use accord_family::Signal;
use accord_scenario::{Across, Cause, Claim, Direction, Engine, GREEDY, LinkModel, Metric, Recorded};
use accord_units::Words as _;
use Default::{Nothing, Required, Value, Words};

pub(crate) const SEED: Shape = Shape::Whole(0, i64::MAX as u64);

/// The top level of a file.
pub(crate) const FILE: Section = section("The file",
    "The run, its length, and remarks for the reader.", &[
    key("id", Shape::Name, Words("the file's name"), "Short name, such as \"xia05-fig6\"; also the name of the run directory."),
    key("title", Shape::Text, Value(""), "One line for people."),
    key("source", Shape::Text, Value(""), "Where the experiment comes from."),
    key("notes", Shape::Text, Value(""), "Remarks on the result: departures, choices."),
    key("figure", Shape::Choice(plotted), Words("`\"throughput\"`, or the first that there is"), "The metric of the first plot over time on the page of a run: the subject of the scenario."),
    key("duration", Shape::Span, Required, "Length of the run."),
    key("seed", SEED, Value("1"), "All randomness comes from here."),
    key("sample", Shape::Span, Words("a thousandth of the duration or a little less"), "Period of the recorded series. Of more than 1000 flows, each sample reads all of them, so that the default is longer if recording would take more than a tenth of the run."),
    key("inner", Shape::Flag, Value("false"), "Whether runs record the inner state of senders: the data in flight, the pace, the rate of deliveries and [the variables of their controllers](output.md#inner-state). An expectation of one of them turns it on."),
    key("steady", Shape::Pair(&Shape::Instant), Words("the second half of the run"), "The part of the run that tables average over."),
    key("fluid", Shape::Table(&FLUID), Nothing, "Settings of the fluid engine."),
    key("nodes", Shape::List(&Shape::Dotted), Words("the ends of the links, if there is no template"), "Names of routers and hosts; those of a template need not be listed."),
    key("topology", Shape::Table(&TOPOLOGY), Nothing, "Networks that are made of a few numbers."),
    key("link", Shape::Own(Own::Links(&LINK)), Nothing, "Links, by name; see [links](#links)."),
    key("flow", Shape::Named(&FLOW), Nothing, "Groups of flows, by name."),
    key("event", Shape::List(&Shape::Table(&EVENT)), Nothing, "Changes during the run."),
    key("expect", Shape::List(&Shape::Table(&EXPECT)), Nothing, "Expected values of the runs."),
    key("sweep", Shape::Named(&SWEEP), Nothing, "Values that vary from run to run, by name."),
]);

pub(crate) const FLUID: Section = section("[fluid]",
    "How the fluid engine computes; the other engines do not read it.", &[
    key("link_model", Shape::Choice(LinkModel::words), Value("ack-clocked"), "The model of queues: with `ack-clocked` windows bound the data in flight, `integrator` integrates window over round-trip time."),
    key("step", Shape::Span, Words("a fifteenth of the shortest base round-trip time, a thirtieth for laws of the sign"), "Longest time step."),
]);

const TOPOLOGY: Section = section("[topology]",
    "Templates. Their links can be changed one by one in `[link.NAME]`.", &[
    key("dumbbell", Shape::Table(&DUMBBELL), Nothing, "Routers `left` and `right`, and the link `bottleneck` between them."),
    key("parking_lot", Shape::Table(&PARKING_LOT), Nothing, "Routers `r0`, `r1`, ... in a row, and the links `hop1`, `hop2`, ... between them."),
]);

pub(crate) const DUMBBELL: Section = section("topology.dumbbell",
    "One bottleneck from `left` to `right`.", &[
    needed(RATE), needed(DELAY), QUEUE, LOSS, CONTROL_LOSS, CONTROL_PRIORITY, JITTER, REORDER, POLICER, SHAPER, ACK_AGGREGATION, ACK_THINNING,
    REVERSE_PORT,
]);

pub(crate) const PARKING_LOT: Section = section("topology.parking_lot",
    "Bottlenecks in a row, all alike.", &[
    key("bottlenecks", Shape::Whole(1, limits::LINKS as u64 / 2), Required, "How many links there are in the row."),
    needed(RATE), needed(DELAY), QUEUE, LOSS, CONTROL_LOSS, CONTROL_PRIORITY, JITTER, REORDER, POLICER, SHAPER, ACK_AGGREGATION, ACK_THINNING,
    REVERSE_PORT,
]);

const NODES: Shape = Shape::List(&Shape::Dotted);
const FROM: Key = key("from", Shape::Dotted, Words("the start of `path`"), "Node where the flows enter; they take the path of least delay to `to`.");
const TO: Key = key("to", Shape::Dotted, Words("the end of `path`"), "Node where the flows leave.");
const PATH: Key = key("path", NODES, Words("the least delay from `from` to `to`"), "Nodes on the way, instead of `from` and `to`; neighbours must be linked.");
const REVERSE_PATH: Key = key("reverse_path", NODES, Words("the path backwards"), "Nodes on the way of acknowledgements and reports.");
const ACCESS: Key = key("access", Shape::Table(&ATTACHMENT), Words("the flow starts at the first node of its path"), "Attaches a source host to the start of the path.");
const EGRESS: Key = key("egress", Shape::Table(&ATTACHMENT), Words("the flow ends at the last node of its path"), "Attaches a sink host to the end of the path.");
const CONTROLLER: Key = key("controller", Shape::Own(Own::Controller), Required, "The congestion controller, by name or as a table of `name` and its parameters.");
const KERNEL: Key = key("kernel", Shape::Name, Nothing, "In the live engine the flow is a TCP connection of the operating system with this congestion control: \"cubic\", \"reno\", \"bbr\" or another of its kernel, or \"accord\" for the flow's `controller` [in the kernel](kernel.md#run-a-controller-in-a-scenario). The other engines run the flow's `controller`.");
const QUIC: Key = key("quic", Shape::Name, Nothing, "In packets and live the flow is a connection of this QUIC stack (\"quinn\", in a build with the feature `quic`), which runs the flow's `controller`. Not together with `kernel` or `through`.");
const SERVICE: Key = key("service", Shape::Table(&SERVICES), Words("a fair share"), "The share of the network that the flow is to get, if its controller keeps accumulation.");
const DEMAND: Key = key("demand", Shape::Either(&[Shape::Choice(|| vec![GREEDY]), Shape::Table(&DEMANDS)]), Value("greedy"), "The data that the application has to send.");
const TUNNEL: Key = key("tunnel", Shape::Table(&TUNNELS), Nothing, "The flow is a tunnel between two gateways: it sends the packets of the flows that ride in it; see [gateways in scenarios](gateway/scenarios.md).");
const THROUGH: Key = key("through", Shape::Dotted, Nothing, "The tunnel, further up in the file, that the data of the flow rides in. `from` and `to` are then the ends of the tunnel unless given, and acknowledgements return outside of it.");
const START: Key = key("start", Shape::Either(&[Shape::Instant, Shape::Table(&UNIFORM)]), Value("0 s"), "When it starts.");
const STOP: Key = key("stop", Shape::Instant, Nothing, "When it stops sending.");
const AGGREGATE: Key = key("aggregate", Shape::Name, Value("default"), "The kind of traffic that queue disciplines take it for, such as \"udp\".");
const SHARE: Key = key("share", Shape::Number(1e-6, 1e9), Words("the weight of its service, 1 without one"), "The share that a flow should have, relative to others: the reference of the fairness indices.");
const PACKET: Key = key("packet", Shape::Either(&[Shape::Own(Own::Packet), Shape::Table(&PACKET_SIZES)]), Value("1000 B"), "Size of a data packet, headers included; of senders without a controller, it may be random.");
const ACK: Key = key("ack", Shape::Own(Own::Packet), Value("40 B"), "Size of an acknowledgement, headers included.");
const PROCESSING: Key = key("processing", Shape::Own(Own::Processing), Value("auto"), "Before each data packet of a stream its host takes a random time, uniform between zero and this; see [processing times](#processing-times).");
const MIN_RTO: Key = key("min_rto", Shape::Own(Own::Timeout), Value("200 ms"), "Least retransmission time-out of a stream, 60 s at most; 200 ms is that of Linux, RFC 6298 asks for 1 s.");
const PACING: Key = key("pacing", Shape::Flag, Value("false"), "Spaces the packets of a stream's window over the round trip, as Linux does with `fq`; see [pacing](#pacing).");
const CONTROL: Key = key("control", Shape::Own(Own::Packet), Value("64 B"), "Size of a control packet, headers included.");

pub(crate) const FLOW: Section = section("[flow.NAME]",
    "A group of flows of the same kind: `NAME.1`, `NAME.2`, ..., or just `NAME` in a group of one.", &[
    key("count", Shape::Whole(1, limits::FLOWS as u64), Words("1, or the length of `each`"), "Number of flows; with `each_hop`, on each link."),
    key("each_hop", Shape::Flag, Value("false"), "Flows on each link of the parking lot, instead of a path: `NAME.1` on `hop1` and so on."),
    FROM, TO, PATH, REVERSE_PATH, ACCESS, EGRESS,
    Key { default: Words("required, here or in `each`; with `kernel` the model of it, where there is one"), ..CONTROLLER },
    KERNEL, QUIC, SERVICE, TUNNEL, THROUGH, DEMAND, START, STOP, AGGREGATE, SHARE, PACKET, ACK, CONTROL, PROCESSING,
    MIN_RTO, PACING,
    key("record", Shape::Choice(Recorded::words), Words("`group` for web users and for more than 1000 flows, else `flows`"), "The series that are recorded: those of each flow, or sums and [quantiles](output.md#quantiles-over-the-flows-of-a-group) over the group."),
    key("each", Shape::List(&Shape::Table(&EACH)), Nothing, "One table for each flow of the group, with the keys that differ from the group."),
]);

pub(crate) const EACH: Section = section("each",
    "The keys of one flow that differ from its group.", &[
    inherited(FROM), inherited(TO), inherited(PATH), inherited(REVERSE_PATH), inherited(ACCESS),
    inherited(EGRESS), inherited(CONTROLLER), inherited(KERNEL), inherited(QUIC), inherited(SERVICE),
    inherited(TUNNEL), inherited(THROUGH), inherited(DEMAND), inherited(START), inherited(STOP), inherited(AGGREGATE), inherited(SHARE), inherited(PACKET),
    inherited(ACK), inherited(CONTROL), inherited(PROCESSING), inherited(MIN_RTO), inherited(PACING),
]);

pub(crate) const SERVICES: Section = section("service",
    "A contracted rate, and a weighted share of the rate that is not contracted; see [services](services.md).", &[
    key("contract", Shape::AnyRate, Value("0 bps"), "Rate that the flow gets before anything is shared."),
    key("weight", Shape::Number(1e-6, 1e6), Value("1"), "Its part of the shared rate: multiplies the controller's target."),
    key("limit", Shape::Amount, Words("none"), "The most that the flow may have queued, whatever its contract; no less than its weight times the target."),
]);

pub(crate) const TUNNELS: Section = section("tunnel",
    "The gateways at the ends of a tunnel, which work as `accord gateway` does; see [gateways in scenarios](gateway/scenarios.md).", &[
    key("overhead", Shape::Own(Own::Packet), Value("60 B"), "Bytes that each packet gains: 20 of IPv4 (40 of IPv6), 8 of UDP and 32 of WireGuard."),
    key("queue", Shape::Amount, Value("1 MB"), "Limit of the edge queue, where packets wait for their turn in queues by flow (FQ-CoDel), overhead included."),
    key("signal", Shape::Choice(Signal::words), Value("auto"), "The measure of the backlog in the network: the distance between a control pair's halves (`pairs`), the one-way delay above its minimum (`delay`), or the first that is found to work."),
]);

pub(crate) const UNIFORM: Section = section("start = { uniform = [...] }",
    "A start drawn for each flow by the seed.", &[key("uniform", Shape::Pair(&Shape::Instant), Required, "The earliest and the latest start.")]);

pub(crate) const EVENT: Section = section("[[event]]",
    "A change of a link's delay or rate, or of a flow's path or demand.", &[
    key("at", Shape::Instant, Required, "When."),
    key("link", Shape::Dotted, Nothing, "The link that changes: both directions, or one if the name ends in `.reverse`."),
    key("direction", Shape::Choice(Direction::words), Value("both"), "Which directions of the link."),
    key("delay", Shape::Delay, Nothing, "Its propagation delay from now on, which may be zero. Packets on the wire keep theirs and are not overtaken; the packets behind them come out no faster than the link sends."),
    key("rate", Shape::AnyRate, Nothing, "Its rate from now on, for the rest of the packet in service and for those behind it. `\"0 bps\"` is an outage: packets wait, or are dropped where they do not fit, until the rate is another; packets on the wire arrive."),
    key("flow", Shape::Dotted, Nothing, "The group or flow that takes another path or sends at another rate."),
    key("demand_rate", Shape::Rate, Nothing, "Rate of its demand from now on; for a demand that has one."),
    key("path", NODES, Nothing, "Nodes of the new path; access and egress stay and need not be listed."),
    REVERSE_PATH,
]);

const FIGURES: &[Shape] = &[Shape::Own(Own::Figure), Shape::Map(&Shape::Own(Own::Figure))];
const LABELS: &[Shape] = &[Shape::Any, Shape::List(&Shape::Any)];

pub(crate) const EXPECT: Section = section("[[expect]]",
    "A value of a run, and its target.", &[
    key("name", Shape::Text, Words("made of the other keys"), "One line for people, unique in the file."),
    key("metric", Shape::Own(Own::Metric), Required, "The quantity."),
    key("of", Shape::Dotted, Required, "A group, a flow (`NAME.2`), a link, or an aggregate at a link (`bottleneck.udp`)."),
    key("engine", Shape::Either(&[Shape::Choice(Engine::words), Shape::List(&Shape::Choice(Engine::words))]), Value("packet"), "The engine of the run that is judged; a list makes one expectation for each."),
    key("during", Shape::Pair(&Shape::Instant), Words("the steady part"), "The part of the run that counts."),
    key("over", Shape::Own(Own::Over), Value("mean"), "How the samples become one number, [a mean as the metric wants it](output.md#series); `variation` is their standard deviation over their mean."),
    key("state", Shape::Text, Nothing, "In place of `over`, of a metric that is a state: the figure is the share of the samples in the state of this name. Without a target, one sample is expected to be."),
    key("across", Shape::Choice(Across::words), Value("each"), "How the numbers of a group's flows become one; with `each`, every one of them must meet the target, with `sum` the flows are [taken as one](output.md#series)."),
    key("equals", Shape::Either(FIGURES), Nothing, "The value, or the name of the engine that gives it; with `by`, a table of values."),
    key("within", Shape::Tolerance, Words("required with `equals`, or `beyond`"), "Relative tolerance."),
    key("beyond", Shape::Tolerance, Nothing, "In place of `within`: the value is farther off than this, as a paper says that something does not come out."),
    key("at_least", Shape::Either(FIGURES), Nothing, "Lower bound; with `by`, a table of them."),
    key("at_most", Shape::Either(FIGURES), Nothing, "Upper bound; with `by`, a table of them."),
    key("by", Shape::Name, Nothing, "The sweep whose values are the keys of the tables."),
    key("when", Shape::Map(&Shape::Either(LABELS)), Nothing, "Values of sweeps: it is expected at these points only."),
    key("paper", Shape::Text, Value(""), "The claim of the paper."),
    key("claim", Shape::Choice(Claim::words), Words("`paper` where that text is given, else `theory` where another engine gives the value, else `ours`"), "The author of the claim."),
    key("fails", Shape::Either(&[Shape::Table(&FAILS), Shape::List(&Shape::Table(&FAILS))]), Nothing, "That it is known to fail, and why."),
]);

pub(crate) const FAILS: Section = section("[[expect.fails]]",
    "A failure that is known. It is strict: where the expectation is met after all, or the value differs from the recorded one, that is an error.", &[
    key("why", Shape::Choice(Cause::words), Required, "The cause: the `paper`, because its claim does not hold; a `setting` that it leaves open; or `ours`."),
    key("because", Shape::Text, Required, "The cause in words, and how it is known."),
    key("measured", Shape::Either(FIGURES), Required, "The measured value; with `by`, a table by the values of a sweep, and it fails at these values only."),
    key("band", Shape::Tolerance, Value("1 %"), "How far that may move and still be the same, relative to it."),
    key("engine", Shape::Either(&[Shape::Choice(Engine::words), Shape::List(&Shape::Choice(Engine::words))]), Words("all that are judged"), "The engines whose runs fail."),
    key("at", Shape::Map(&Shape::Either(LABELS)), Words("all points"), "Values of sweeps: it fails at these points only."),
    key("by", Shape::Name, Words("as the expectation"), "The sweep whose values are the keys of the table."),
]);

pub(crate) const SWEEP: Section = section("[sweep.NAME]",
    "One run for each value; several sweeps give all combinations.", &[
    key("set", Shape::Either(&[Shape::Text, Shape::List(&Shape::Text)]), Nothing, "The path into this file that takes the value, such as \"link.bottleneck.rate\", or a list of them; entries of lists count from 1. Without it, a value is a table from paths to values; a single value may be a label that sets nothing."),
    key("values", Shape::Either(&[Shape::List(&Shape::Any), Shape::Map(&Shape::Any)]), Required, "The values: a list, or a table that gives each a label."),
]);

/// Returns a section in which exactly one key must be given.
const fn one_of(title: &'static str, doc: &'static str, keys: &'static [Key]) -> Section {
    Section { title, doc, keys, one_of: true }
}

const fn needed(key: Key) -> Key {
    Key { default: Required, ..key }
}

const fn inherited(key: Key) -> Key {
    Key { default: Words("as the group"), ..key }
}

fn plotted() -> Vec<&'static str> {
    Metric::plotted().into_iter().map(Metric::name).collect()
}
