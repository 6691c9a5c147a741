//! Ports of links, one per direction.

use super::parts;
use crate::family::DISCIPLINE;
use crate::keys;
use crate::read::{self, RawLimit, Reader};
use crate::trace::StepsOf;
use accord_family::{Catalogue, Values};
use accord_form::{Data, Value};
use accord_form::{Problem, Problems, Span};
use accord_scenario::{Limit, Link, LinkId, NodeId, Parts, Queue, Trace};
use accord_traffic::{Purpose, stream};
use accord_units::{Duration, Rate};
use rand_xoshiro::rand_core::Rng;

/// The default limit of a network link's queue.
pub(super) const LINK_LIMIT: RawLimit = RawLimit::Product(1.0);
/// The default limit of an attachment's queue.
pub(super) const ATTACHMENT_LIMIT: RawLimit = RawLimit::Unlimited;

/// The ports of one or more links, as a file describes them.
#[derive(Clone, Debug)]
pub(super) struct Ports {
    rate: Varied<Rate>,
    /// The steps of the rate after the first.
    pub steps: Option<StepsOf<Rate>>,
    delay: Varied<Duration>,
    /// The steps of the delay after the first.
    pub delays: Option<StepsOf<Duration>>,
    /// The queue, or several to draw from.
    queues: Vec<RawQueue>,
    /// The seed of the draw, in place of the scenario's. With it, the network stays the same when a run is
    /// repeated with other seeds.
    draw: Option<u64>,
    loss: f64,
    control_loss: f64,
    control_priority: bool,
    parts: Option<Box<Parts>>,
}

/// The ports of both directions.
#[derive(Clone, Debug)]
pub(super) struct Duplex {
    pub forward: Ports,
    pub reverse: Ports,
}

#[derive(Clone, Debug)]
pub(super) struct RawQueue {
    pub span: Span,
    pub discipline: Values,
    pub limit: RawLimit,
}

impl Duplex {
    /// Reads the ports of both directions, which `count` links share.
    pub fn read(
        reader: &Reader<'_>,
        default: RawLimit,
        count: usize,
        catalogue: &Catalogue,
    ) -> Result<Duplex, Problem> {
        let forward = Ports::read(reader, default, count, catalogue)?;
        let reverse = match reader.reverse() {
            Some(reverse) => Ports::read(&reverse, default, count, catalogue)?,
            None => forward.clone(),
        };
        Ok(Duplex { forward, reverse })
    }
}

impl Ports {
    fn read(
        reader: &Reader<'_>,
        default: RawLimit,
        count: usize,
        catalogue: &Catalogue,
    ) -> Result<Ports, Problem> {
        let mut queues = Vec::new();
        let usual = Value { span: reader.span, data: Data::Text("droptail".to_string()) };
        let queue = reader.given("queue").unwrap_or(&usual);
        let draw = queue.table().and_then(|t| t.get("seed")).map(seed).transpose()?;
        read_queue(queue, default, catalogue, &mut queues)?;
        let (rate, steps, trace) = reader.get("rate", |v| read_rate(v, count))?;
        let (delay, delays) = reader.get("delay", |v| read_delay(v, count))?;
        Ok(Ports {
            rate,
            steps,
            delay,
            delays,
            queues,
            draw,
            loss: reader.get("loss", read::probability)?,
            control_loss: reader.get("control_loss", read::probability)?,
            control_priority: reader.get("control_priority", read::flag)?,
            parts: parts::read(reader, trace)?,
        })
    }

    /// Returns the `i`-th link, which has the index `id` in the scenario, and its queue as given in the file.
    pub fn link(
        &self,
        i: usize,
        (name, from, to): (String, NodeId, NodeId),
        (id, seed): (LinkId, u64),
    ) -> (Link, &RawQueue) {
        let seed = self.draw.unwrap_or(seed);
        let drawn = match self.queues.len() {
            1 => 0,
            // The bias of the remainder is below 2^-40 for lists that fit a file.
            n => (stream(seed, id, Purpose::Discipline).next_u64() % n as u64) as usize,
        };
        let queue = &self.queues[drawn];
        let link = Link {
            name,
            from,
            to,
            rate: self.rate.at(i),
            delay: self.delay.at(i),
            queue: Queue { discipline: queue.discipline.clone(), limit: Limit::Unlimited },
            loss: self.loss,
            control_loss: self.control_loss,
            control_priority: self.control_priority,
            parts: self.parts.clone(),
            attachment: false,
        };
        (link, queue)
    }
}

/// The rate of one or more links: the rate itself or the mean of a trace, and its variation.
type VariedRate = (Varied<Rate>, Option<StepsOf<Rate>>, Option<Trace>);

fn read_rate(value: &Value, count: usize) -> Result<VariedRate, Problem> {
    let table = value.table().filter(|t| t.get("spread").is_none());
    let Some(table) = table else {
        return Varied::read(value, count, read::rate).map(|rate| (rate, None, None));
    };
    let reader = Reader::new(&keys::VARIABLE_RATE, table, value.span);
    if let Some(trace) = reader.opt("trace", read::trace)? {
        let rate = Varied::List(vec![trace.mean_rate()]);
        return Ok((rate, None, Some(trace)));
    }
    let steps = reader.get("steps", read::steps)?;
    Ok((Varied::List(vec![steps[0].1]), Some(steps), None))
}

/// Reads the delay of one or more links, and its steps if it has any.
fn read_delay(
    value: &Value,
    count: usize,
) -> Result<(Varied<Duration>, Option<StepsOf<Duration>>), Problem> {
    let table = value.table().filter(|t| t.get("spread").is_none());
    let Some(table) = table else {
        return Varied::read(value, count, read::delay).map(|delay| (delay, None));
    };
    let reader = Reader::new(&keys::VARIABLE_DELAY, table, value.span);
    let steps = reader.get("steps", read::delays)?;
    Ok((Varied::List(vec![steps[0].1]), Some(steps)))
}

pub(super) fn seed(value: &Value) -> Result<u64, Problem> {
    read::whole(value, 0, i64::MAX as u64)
}

/// A quantity that may differ from flow to flow.
#[derive(Clone, Debug)]
enum Varied<T> {
    /// Values that are used in turn.
    List(Vec<T>),
    /// A number of evenly spaced values from the first to the last.
    Spread(T, T, usize),
}

/// A quantity that has values between two others.
trait Between: Copy {
    /// Returns the value at `share`, from 0 to 1, of the way.
    fn between(from: Self, to: Self, share: f64) -> Self;
}

impl Between for Rate {
    fn between(from: Rate, to: Rate, share: f64) -> Rate {
        let (from, to) = (from.as_bps_f64(), to.as_bps_f64());
        Rate::from_bps_f64(from + (to - from) * share)
    }
}

impl Between for Duration {
    fn between(from: Duration, to: Duration, share: f64) -> Duration {
        let (from, to) = (from.as_ps() as f64, to.as_ps() as f64);
        Duration::from_ps((from + (to - from) * share).round() as u64)
    }
}

impl<T: Between> Varied<T> {
    fn read(
        value: &Value,
        count: usize,
        read: impl Fn(&Value) -> Result<T, Problem>,
    ) -> Result<Varied<T>, Problem> {
        match &value.data {
            Data::List(list) if list.is_empty() => {
                Err(Problem::new(value.span, "the list is empty"))
            }
            Data::List(list) => list.iter().map(read).collect::<Result<_, _>>().map(Varied::List),
            Data::Table(table) => match table.get("spread").and_then(Value::list) {
                Some([first, last]) => Ok(Varied::Spread(read(first)?, read(last)?, count)),
                _ => Err(Problem::new(value.span, "expected { spread = [first, last] }")),
            },
            _ => Ok(Varied::List(vec![read(value)?])),
        }
    }

    fn at(&self, i: usize) -> T {
        match self {
            Varied::List(list) => list[i % list.len()],
            Varied::Spread(first, last, count) => {
                let steps = count.saturating_sub(1).max(1);
                T::between(*first, *last, i as f64 / steps as f64)
            }
        }
    }
}

fn read_queue(
    value: &Value,
    default: RawLimit,
    catalogue: &Catalogue,
    queues: &mut Vec<RawQueue>,
) -> Result<(), Problem> {
    let table = value.table();
    if let Some(list) = table.and_then(|t| t.get("random")).and_then(Value::list) {
        return list.iter().try_for_each(|v| read_queue(v, default, catalogue, queues));
    }
    let mut problems = Problems::default();
    let Some(discipline) = DISCIPLINE.read(value, catalogue.disciplines, &mut problems) else {
        return Err(problems.first(value.span));
    };
    let limit = table.and_then(|t| t.get("limit"));
    queues.push(RawQueue {
        span: value.span,
        discipline,
        limit: limit.map_or(Ok(default), read::limit)?,
    });
    Ok(())
}
