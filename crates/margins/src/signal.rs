//! The response to small deviations of the share m that a queue marks or drops, for flows that react to it.
//! With the arrivals y, the queuing delay p and the capacity c:
//!
//! ```text
//! red          δm = m′·δa,    δda/dt = g·(δp − δa), a the average over c, g = −ln(1 − w)·y/packet
//! rem          δm = m′·δr,    δdr/dt = γ·δy                            [Low02 eqs. 30, 31]
//! avq          m = 1 − C̃/y,  δdC̃/dt = −α·δy
//! full buffer  m = 1 − c/y
//! ```
//!
//! REM with marks rests where its queue is just empty. That is a corner, at which there is no linearisation:
//! with more arrivals the queue adds to the price, and with fewer it does not. REM with drops, and AVQ, rest
//! with capacity to spare.

use crate::error::MarginsError;
use crate::rest::Equilibrium;
use accord_family::QueueLaw;
use accord_fluid::{Model, Network};

/// A queue that marks or drops at rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Signal {
    pub queue: usize,
    /// The share at rest.
    pub share: f64,
    /// The share of the arrivals that is dropped. Only the rest enters the queue.
    pub dropped: f64,
    /// The arrivals at rest, in bytes/s.
    pub arrives: f64,
    pub answer: Answer,
}

/// The quantity that a share follows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Answer {
    /// The average of the queuing delay: m′ per second, and the speed of the average.
    Average { slope: f64, pace: f64 },
    /// A price that integrates the arrivals: m′·γ per byte.
    Price { slope: f64 },
    /// A virtual capacity that integrates the arrivals, with −α.
    Virtual { gain: f64 },
    /// The arrivals themselves, because the buffer is full.
    Full,
}

impl Answer {
    /// Returns true if the signal is a separate unknown.
    pub fn moves(&self) -> bool {
        *self != Answer::Full
    }

    /// Returns the reason, if any, why the response of packets is unknown.
    pub fn unknown(&self) -> Option<&'static str> {
        match self {
            Answer::Average { .. } => None,
            Answer::Price { .. } => Some(
                "a swing of more than the share that rem drops at rest fills its queue, which is not linear",
            ),
            Answer::Virtual { .. } => Some(
                "the fluid takes the virtual queue of avq for full, and that of packets empties between bursts",
            ),
            Answer::Full => Some(
                "the fluid takes the buffer for full, and that of packets empties between losses",
            ),
        }
    }
}

/// Returns the queues of a network that mark or drop at rest.
///
/// # Errors
/// If a queue rests at a corner.
pub(crate) fn signals(
    model: &Model<'_>,
    network: &Network,
    at: &Equilibrium,
) -> Result<Vec<Signal>, MarginsError> {
    let of = |queue: usize| {
        let share = at.shares[queue];
        if share <= 0.0 {
            return Ok(None);
        }
        let link = model.queues[queue];
        let capacity = network.rate[link];
        let rule = model.rule(queue, capacity);
        let backlog = at.delays[link] * capacity;
        let name = || model.scenario.links[link].name.clone();
        let discipline = model.discipline(queue).family().name;
        let mut signal = Signal {
            queue,
            share,
            dropped: if rule.marks { 0.0 } else { share },
            arrives: capacity,
            answer: Answer::Full,
        };
        match rule.law {
            QueueLaw::Red { unit, packet, ln_keep, .. } => {
                signal.arrives = capacity / (1.0 - signal.dropped);
                signal.answer = Answer::Average {
                    slope: rule.share(backlog / unit).1 * capacity / unit,
                    pace: -ln_keep * signal.arrives / packet,
                };
            }
            QueueLaw::Rem { ln_phi, gain, .. } => {
                signal.answer = Answer::Price { slope: ln_phi * (1.0 - share) * gain };
            }
            QueueLaw::Avq { utilisation, gain, .. } => {
                signal.arrives = utilisation * capacity;
                signal.answer = Answer::Virtual { gain };
            }
            QueueLaw::DropTail | QueueLaw::Avd { .. } | QueueLaw::Codel { .. } => {
                signal.arrives = capacity / (1.0 - share);
            }
        }
        if let QueueLaw::Rem { dropped: false, .. } = rule.law
            && !rule.marks
        {
            return Err(MarginsError::Uncounted { link: name(), discipline });
        }
        if rule.marks && backlog == 0.0 && signal.arrives >= capacity {
            return Err(MarginsError::Corner { link: name(), discipline });
        }
        Ok(Some(signal))
    };
    (0..model.queues.len()).filter_map(|q| of(q).transpose()).collect()
}
