//! The effects that a model leaves out, one at a time.

use crate::flows::{is_stream, is_tunnel, responds};
use crate::resize::{resize, smaller_packets};
use crate::stretch::stretch;
use crate::timers::shorten_timers;
use accord_family::{Meaning, Price, Raw, Role, Values};
use accord_scenario::{Change, Engine, Limit, Link, Scenario};
use accord_traffic::Demand;
use accord_units::{Bytes, Rate, words};
use serde::Serialize;
use std::sync::Arc;

words! {
    /// A departure from the model that can be taken away.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Effect by name {
        /// Acknowledgements use capacity and wait on the reverse path.
        Acks = "acknowledgements",
        /// Packets are not infinitesimal.
        Packets = "packet size",
        /// Senders measure their base round-trip time.
        BaseRtt = "base RTT",
        /// Accumulation is measured by control pairs.
        Estimator = "estimator",
        /// Traffic of a given rate comes in bursts.
        Arrivals = "arrivals",
        /// Buffers are finite.
        Buffers = "buffers",
        /// Queue disciplines drop or mark packets of a queue that would fit.
        Discipline = "discipline",
        /// Wires lose packets.
        Loss = "wire loss",
        /// The start of each phase is a transient.
        StartUp = "start-up",
        /// Senders put a window on the wire in bursts.
        Bursts = "bursts of a window",
        /// Timers have a least value.
        Timers = "timers",
    }
}

/// The smallest possible packet.
const LEAST: Bytes = Bytes::new(1);

impl Effect {
    /// Describes the change of the scenario that removes the effect. `finer` is the factor by which
    /// quantities become smaller or longer.
    pub fn doc(self, finer: u64) -> String {
        match self {
            Effect::Acks => "acknowledgements of 1 B".into(),
            Effect::Packets => format!(
                "packets {finer} times smaller; targets, thresholds and buffers are kept in bytes"
            ),
            Effect::BaseRtt => "senders know the base round-trip time".into(),
            Effect::Estimator => "accumulation by its definition, not by control pairs".into(),
            Effect::Arrivals => "the mean rate, constant".into(),
            Effect::Buffers => "buffers without limit".into(),
            Effect::Discipline => "plain queues in place of disciplines that drop or mark".into(),
            Effect::Loss => "no loss on wires".into(),
            Effect::StartUp => format!("phases and the parts that count {finer} times longer"),
            Effect::Bursts => "packets of a window spaced over the round trip".into(),
            Effect::Timers => {
                "least time-outs as long as the longest round trip, if that is shorter".into()
            }
        }
    }

    /// Returns the scenario without this effect. `measured` is the engine that should run it.
    ///
    /// # Errors
    /// If the scenario does not have the effect, or it cannot be switched off.
    pub fn without(
        self,
        scenario: &Scenario,
        finer: u64,
        measured: Engine,
    ) -> Result<Scenario, &'static str> {
        let mut s = scenario.clone();
        let live = measured == Engine::Live;
        let fluid = measured == Engine::Fluid;
        let otherwise = match self {
            Effect::Acks => {
                resize(&mut s, |f| {
                    if !is_tunnel(&f.controller) && responds(f) {
                        f.ack = LEAST;
                    }
                });
                "no flow sends acknowledgements"
            }
            Effect::Packets => {
                smaller_packets(&mut s, finer);
                "packets cannot be smaller"
            }
            Effect::BaseRtt | Effect::Estimator if live => {
                return Err("the live engine does not know the true base round-trip time");
            }
            Effect::BaseRtt => {
                for f in &mut s.flows {
                    idealise(Arc::make_mut(&mut f.controller), |meaning| match meaning {
                        Meaning::BaseRtt(word) => Some(word),
                        _ => None,
                    });
                }
                "no flow estimates it, or all know it"
            }
            Effect::Estimator => {
                for f in &mut s.flows {
                    idealise(Arc::make_mut(&mut f.controller), |meaning| match meaning {
                        Meaning::Accumulation(word) => Some(word),
                        _ => None,
                    });
                }
                "no flow measures accumulation by control pairs"
            }
            Effect::Arrivals => {
                smooth(&mut s);
                "no application has a random rate with a known mean"
            }
            Effect::Buffers => {
                for l in &mut s.links {
                    l.queue.limit = Limit::Unlimited;
                }
                "no buffer has a limit"
            }
            Effect::Discipline => {
                let price = |l: &Link| {
                    let values = &l.queue.discipline;
                    match values.family().role {
                        Role::Queue(price) => Some(price(values)),
                        Role::Controller(_) | Role::Tunnel(_) => None,
                    }
                };
                let is = |l: &&Link, what| price(l) == Some(what);
                let plain = s.links.iter().find(|l| is(l, Price::QueuingDelay));
                let Some(plain) = plain.map(|l| l.queue.discipline.clone()) else {
                    return Err("no link has a plain queue, whose discipline could take its place");
                };
                for l in &mut s.links {
                    if is(&&*l, Price::Loss) {
                        l.queue.discipline = plain.clone();
                    }
                }
                "no discipline drops or marks what would fit"
            }
            Effect::Loss => {
                for l in &mut s.links {
                    (l.loss, l.control_loss) = (0.0, 0.0);
                }
                "no wire loses packets"
            }
            Effect::StartUp => return stretch(scenario, finer),
            Effect::Bursts if fluid => return Err("a fluid has no packets"),
            Effect::Bursts => {
                for f in s.flows.iter_mut().filter(|f| is_stream(f)) {
                    f.pacing = true;
                }
                "no flow sends a window in bursts, or all pace"
            }
            Effect::Timers if fluid => return Err("a fluid has no timers"),
            Effect::Timers => {
                shorten_timers(&mut s);
                "no least time-out is longer than the longest round trip of its path"
            }
        };
        if s == *scenario { Err(otherwise) } else { Ok(s) }
    }
}

/// Sets the choices that have a word for the true value.
fn idealise(values: &mut Values, word: impl Fn(Meaning) -> Option<&'static str>) {
    let params: Vec<_> = values.iter().map(|(p, _)| p).collect();
    for p in params {
        if let Some(word) = word(p.meaning) {
            values.set(p.name, &Raw::Text(word.into())).expect("a word of the choice");
        }
    }
}

/// Replaces random rates of applications by their means, as theory counts them.
fn smooth(s: &mut Scenario) {
    // An event refers to the rate of a burst, so such a flow stays unchanged.
    let moved: Vec<usize> = (s.events.iter())
        .filter_map(|e| match e.change {
            Change::Demand { flow, .. } => Some(flow),
            _ => None,
        })
        .collect();
    for (i, f) in s.flows.iter_mut().enumerate() {
        f.demand = match f.demand {
            Demand::Poisson(rate) => Demand::Constant(rate),
            Demand::OnOff { rate: Some(rate), burst, pause } if !moved.contains(&i) => {
                let peak = rate.as_bps_f64();
                let on = burst.mean().bits_f64() / peak;
                let share = on / (on + pause.mean().as_secs_f64());
                Demand::Constant(Rate::from_bps_f64(peak * share))
            }
            demand => demand,
        };
    }
}
