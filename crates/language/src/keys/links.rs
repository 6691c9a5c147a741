//! The keys of links and of their parts, such as jitter and token buckets.

use super::{key, one_of, section};
use crate::limits;
use accord_form::Default;
use crate::shape::{Key, Section, Shape, Own};
use accord_scenario::OFF;
use Default::{Nothing, Required, Value, Words};

pub(crate) const RATE: Key = key("rate", Shape::Either(&[Shape::Rate, Shape::Table(&VARIABLE_RATE)]), Words("required, but for a link of a template"), "Service rate; a table has one that varies.");
pub(crate) const DELAY: Key = key("delay", Shape::Either(&[Shape::Delay, Shape::Table(&VARIABLE_DELAY)]), Words("required, but for a link of a template"), "Propagation delay; a table has one that varies.");
pub(crate) const QUEUE: Key = key("queue", Shape::Own(Own::Queue), Words("droptail, \"1 BDP\""), "The queue in front of it.");
pub(crate) const LOSS: Key = key("loss", Shape::Probability, Value("0"), "Probability that a data packet or an acknowledgement is lost on the wire.");
pub(crate) const CONTROL_LOSS: Key = key("control_loss", Shape::Probability, Value("0"), "Probability that a control packet is lost on the wire.");
pub(crate) const CONTROL_PRIORITY: Key = key("control_priority", Shape::Flag, Value("true"), "Out-of-band control packets have a queue of their own and go first; with `false` all packets share one FIFO queue.");
pub(crate) const JITTER: Key = key("jitter", Shape::Either(&[Shape::Choice(|| vec![OFF]), Shape::Table(&JITTERS)]), Value("off"), "A random delay for each packet, in addition to `delay`.");
pub(crate) const REORDER: Key = key("reorder", Shape::Either(&[Shape::Choice(|| vec![OFF]), Shape::Table(&REORDERING)]), Value("off"), "Packets that are held back, so others overtake them.");
pub(crate) const POLICER: Key = key("policer", Shape::Either(&[Shape::Choice(|| vec![OFF]), Shape::Table(&POLICING)]), Value("off"), "A token bucket in front of the queue, which drops packets that it has no tokens for.");
pub(crate) const SHAPER: Key = key("shaper", Shape::Either(&[Shape::Choice(|| vec![OFF]), Shape::Table(&SHAPING)]), Value("off"), "A token bucket that the packet at the head of the queue waits for.");
pub(crate) const ACK_AGGREGATION: Key = key("ack_aggregation", Shape::Own(Own::Period), Value("off"), "Acknowledgements come out of the wire at multiples of this time only, all that are due at once.");
pub(crate) const ACK_THINNING: Key = key("ack_thinning", Shape::Flag, Value("false"), "An arriving acknowledgement replaces earlier ones of its flow that still wait in the queue and report no gap.");
pub(crate) const REVERSE_PORT: Key = key("reverse", Shape::Table(&REVERSE), Nothing, "The keys of the reverse direction that differ.");

pub(crate) const JITTERS: Section = section("jitter",
    "A random delay for each packet, by one of the laws `normal`, `uniform` and `exponential`; see [difficult paths](paths.md#jitter).", &[
    key("normal", Shape::Span, Nothing, "The absolute value of a normal variable with mean zero and this standard deviation [RFC 8868 §4.5.3]."),
    key("at_most", Shape::Span, Words("three times `normal`"), "The longest delay by `normal`; longer draws become this."),
    key("uniform", Shape::Span, Nothing, "Uniform from zero to this."),
    key("exponential", Shape::Span, Nothing, "Exponential with this mean."),
    key("reorder", Shape::Flag, Value("false"), "Packets may overtake each other. Otherwise a packet comes out with the one before it at the earliest."),
]);

pub(crate) const REORDERING: Section = section("reorder",
    "Packets that are held back on the wire, so others overtake them.", &[
    key("share", Shape::Probability, Value("1"), "Probability that a packet which is up for it is held back."),
    key("delay", Shape::Span, Required, "The time for which it is held back."),
    key("gap", Shape::Whole(1, 1_000_000_000), Value("1"), "Every how many packets one is up for it."),
]);

pub(crate) const POLICING: Section = section("policer",
    "A token bucket that drops. It is full at the start, and a packet passes if the bucket has its bytes.", &[BUCKET_RATE, BUCKET_BURST]);

pub(crate) const SHAPING: Section = section("shaper",
    "A token bucket that packets wait for. It is full at the start. The line of the link sends a packet at its own rate when the bucket has its bytes, or all that it can hold.", &[BUCKET_RATE, BUCKET_BURST]);

const BUCKET_RATE: Key = key("rate", Shape::Rate, Required, "The rate at which the bucket fills.");
const BUCKET_BURST: Key = key("burst", Shape::Amount, Required, "The most that it holds.");

/// A rate that a file gives.
pub(crate) const VARIABLE_RATE: Section = one_of("rate of a link",
    "A rate that varies, from a file in the folder of the scenario or below it; see [difficult paths](paths.md).", &[
    key("trace", Shape::Own(Own::Trace), Nothing, "Delivery opportunities in the format of mahimahi: a line per opportunity to send 1504 bytes, with its time in whole milliseconds, repeated from its end; or these times in place. Theory and fluid take the mean rate."),
    key("steps", Shape::Own(Own::Steps), Nothing, "Steps: lines of seconds and a rate, such as `12.5, 10 Mbps`, the first at 0; or these lines in place. They become [events](#event)."),
]);

/// A delay that a file gives.
pub(crate) const VARIABLE_DELAY: Section = section("delay of a link",
    "A delay that varies, from a file in the folder of the scenario or below it; see [difficult paths](paths.md).", &[
    key("steps", Shape::Own(Own::Delays), Required, "Trace of delays: lines of seconds and a delay, such as `15, 40 ms`, the first at 0; or these lines in place. They become [events](#event)."),
]);

/// One direction of a link.
pub(crate) const REVERSE: Section = section("reverse",
    "The keys that differ in the direction from `to` to `from`; that direction is named `NAME.reverse`.", &[
    as_forward(RATE), as_forward(DELAY), as_forward(QUEUE), as_forward(LOSS), as_forward(CONTROL_LOSS), as_forward(CONTROL_PRIORITY),
    as_forward(JITTER), as_forward(REORDER), as_forward(POLICER), as_forward(SHAPER), as_forward(ACK_AGGREGATION), as_forward(ACK_THINNING),
]);

pub(crate) const LINK: Section = section("[link.NAME]",
    "A duplex link between two nodes. Under the name of a template's link it changes the keys that it gives.", &[
    key("from", Shape::Dotted, Words("required, but for a link of a template"), "The node that it leaves."),
    key("to", Shape::Dotted, Words("required, but for a link of a template"), "The node that it reaches."),
    RATE, DELAY, QUEUE, LOSS, CONTROL_LOSS, CONTROL_PRIORITY, JITTER, REORDER, POLICER, SHAPER, ACK_AGGREGATION, ACK_THINNING,
    REVERSE_PORT,
    key("attachment", Shape::Flag, Value("false"), "It attaches a host, as `access` and `egress` do; no series are recorded for it."),
]);

const VARIED_RATE: &[Shape] = &[Shape::Rate, Shape::List(&Shape::Rate), Shape::Table(&SPREAD_RATE)];
const VARIED_DELAY: &[Shape] = &[Shape::Delay, Shape::List(&Shape::Delay), Shape::Table(&SPREAD_DELAY)];

pub(crate) const ATTACHMENT: Section = section("access, egress",
    "A host of its own for each flow of the group, behind a duplex link of its own, or some hosts that the flows share. The links of flow `x.2` are `x.2.access` (from host `x.2.source`) and `x.2.egress` (to host `x.2.sink`); those of shared hosts are `x.access.1` (from host `x.source.1`) and `x.egress.1` (to host `x.sink.1`).", &[
    key("hosts", Shape::Whole(1, limits::LINKS as u64 / 2), Words("one for each flow"), "Number of hosts; the flows of the group go round them."),
    key("rate", Shape::Either(VARIED_RATE), Words("required"), "Service rate; a list goes round the hosts of the group."),
    key("delay", Shape::Either(VARIED_DELAY), Words("required"), "Propagation delay; a list goes round the hosts of the group."),
    Key { default: Words("droptail, \"unlimited\""), ..QUEUE },
    LOSS, CONTROL_LOSS, CONTROL_PRIORITY, JITTER, REORDER, POLICER, SHAPER, ACK_AGGREGATION, ACK_THINNING,
    REVERSE_PORT,
]);

const SPREAD_RATE: Section = section("{ spread = [...] } of a rate",
    "Values at even steps, from the first host of the group to the last.", &[key("spread", Shape::Pair(&Shape::Rate), Required, "The rates of the first and of the last host.")]);

const SPREAD_DELAY: Section = section("{ spread = [...] } of a delay",
    "Values at even steps, from the first host of the group to the last.", &[key("spread", Shape::Pair(&Shape::Delay), Required, "The delays of the first and of the last host.")]);

const fn as_forward(key: Key) -> Key {
    Key { default: Words("as forward"), ..key }
}
