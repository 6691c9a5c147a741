//! The search for the effects that explain each gap.

use crate::effect::Effect;
use crate::figure::{Apart, Pair, Place, Values, Wanted, Which, figures};
use crate::missing::Missing;
use accord_report::Estimate;
use accord_scenario::{Engine, Expectation, MetricUnit, Scenario, Target};
use accord_units::words;
use serde::Serialize;
use std::collections::BTreeMap;

/// The least fraction of a gap that an effect must explain to be claimed.
pub const MATERIAL: f64 = 0.1;

/// A run to make.
#[derive(Clone, Debug)]
pub struct Job {
    /// The run to make.
    pub scenario: Scenario,
    /// By which engine.
    pub engine: Engine,
}

/// The reasons why a scenario's values differ.
#[derive(Clone, Debug, Serialize)]
pub struct Attribution {
    /// The scenario's id.
    pub id: String,
    /// The point of its sweep.
    pub point: Vec<(String, String)>,
    /// The engine held against.
    pub reference: &'static str,
    /// The engine in question.
    pub measured: &'static str,
    /// The factor by which packets are made smaller, and phases longer.
    pub finer: u64,
    /// The seeds.
    pub seeds: Seeds,
    /// The effects that could not be removed, with reasons.
    pub skipped: Vec<Skipped>,
    /// The changes of the reference without an effect.
    pub shifts: Vec<Shift>,
    /// The findings, in the order of the scenario.
    pub findings: Vec<Finding>,
    /// The values that are not compared, because runs lack them.
    pub missing: Vec<Missing>,
}

/// The seeds of an attribution.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// The number of consecutive seeds.
    pub count: usize,
    /// True if runs differ by their seed. Otherwise there is no estimate of the noise.
    pub differ: bool,
}

/// An effect that could not be removed.
#[derive(Clone, Debug, Serialize)]
pub struct Skipped {
    /// The effect.
    pub effect: Effect,
    /// The reason.
    pub why: &'static str,
}

/// The change of the reference values when an effect is removed.
#[derive(Clone, Debug, Serialize)]
pub struct Shift {
    /// The effect.
    pub effect: Effect,
    /// The change of the scenario that removes the effect.
    pub how: String,
    /// The largest relative change of a reference value. Values in packets do not count if the
    /// packets changed.
    pub reference: f64,
}

/// A value, its gap, and the effects that explain the gap.
#[derive(Clone, Debug, Serialize)]
pub struct Finding {
    /// The name of the expectation or of the standard value.
    pub name: String,
    /// The metric.
    pub metric: &'static str,
    /// The unit of `reference` and `measured`, and of gaps that are not relative.
    pub unit: &'static str,
    #[serde(skip)]
    pub(crate) symbol: MetricUnit,
    /// The part that counts, in seconds.
    pub during_s: (f64, f64),
    /// The reference's value, as the mean over seeds. If flows are judged one by one, it is that of
    /// the flow whose mean gap is the largest.
    pub reference: f64,
    /// The value from the engine in question.
    pub measured: f64,
    /// True if gaps are relative to the reference. They cannot be if the reference is zero.
    pub relative: bool,
    /// The gap.
    pub gap: Estimate,
    /// The tolerance, relative.
    pub tolerance: f64,
    /// The part that each effect explains, or an empty list if no value of the scenario has a gap.
    pub effects: Vec<Explained>,
    /// The part that the effects explain jointly, beyond the sum of their single parts.
    pub interaction: Option<f64>,
    /// The gap without all effects.
    pub left: Option<Estimate>,
    /// The verdict.
    pub verdict: Verdict,
    /// The effects that explain the gap.
    pub by: Vec<Effect>,
    /// The gap without that.
    pub without: Option<Estimate>,
}

/// The part of a gap that an effect explains.
#[derive(Clone, Debug, Serialize)]
pub struct Explained {
    /// The effect.
    pub effect: Effect,
    /// The part of the gap that disappears with the effect, in the unit of the gap. It has the sign
    /// of the gap if the effect explains it. `None` if the run without the effect has no such value.
    pub part: Option<Estimate>,
    /// True if the effect is claimed to explain a part of the gap.
    pub claimed: bool,
}

words! {
    /// The verdict on a gap.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "UPPERCASE")]
    pub enum Verdict by word {
        /// Within the tolerance.
        Agree = "AGREE",
        /// Within the tolerance without named effects.
        Explained = "EXPLAINED",
        /// The mean over seeds is within the tolerance, but its 95 % confidence interval is wider than
        /// that, so the seeds do not decide.
        Unclear = "UNCLEAR",
        /// None of these.
        Divergent = "DIVERGENT",
        /// The reference is zero, so no relative tolerance says anything.
        None = "–",
    }
}

impl Attribution {
    /// Returns whether no finding is left unexplained or undecided, and no value is missing that should
    /// be there.
    pub fn pass(&self) -> bool {
        let open = |f: &Finding| matches!(f.verdict, Verdict::Divergent | Verdict::Unclear);
        !self.findings.iter().any(open) && !self.missing.iter().any(|m| m.fails)
    }
}

/// Effects by their place in [`Effect::ALL`], one bit each.
type Set = u32;

fn bit(effect: Effect) -> Set {
    let place = Effect::ALL.iter().position(|e| *e == effect);
    1 << place.expect("all are listed")
}

/// The values so far from the reference and the engine, by set of effects and seed.
struct Study<'a, E> {
    /// The scenarios by seed, with the compared values in place of the expectations.
    seeds: Vec<Scenario>,
    pair: Pair,
    finer: u64,
    applicable: Vec<Effect>,
    known: BTreeMap<Set, Vec<(Values, Values)>>,
    differ: bool,
    run: &'a mut dyn FnMut(Vec<Job>) -> Result<Vec<Values>, E>,
}

impl<E> Study<'_, E> {
    /// Returns the set with all that it requires: packets are compared in the longer run.
    fn close(&self, set: Set) -> Set {
        let needs = set & bit(Effect::Packets) != 0 && self.applicable.contains(&Effect::StartUp);
        set | if needs { bit(Effect::StartUp) } else { 0 }
    }

    fn without(&self, set: Set, seed: usize) -> Scenario {
        let taken = (Effect::ALL.iter()).filter(|e| set & bit(**e) != 0);
        taken.fold(self.seeds[seed].clone(), |s, e| {
            // If another effect has removed its cause, an effect changes nothing.
            e.without(&s, self.finer, self.pair.measured).unwrap_or(s)
        })
    }

    /// Makes the missing runs of these sets.
    fn need(&mut self, sets: impl IntoIterator<Item = Set>) -> Result<(), E> {
        let mut new: Vec<Set> = sets.into_iter().collect();
        new.sort_unstable();
        new.dedup();
        new.retain(|set| !self.known.contains_key(set));
        let mut jobs = Vec::new();
        for &set in &new {
            for seed in 0..self.seeds.len() {
                let scenario = self.without(set, seed);
                for engine in [self.pair.reference, self.pair.measured] {
                    let scenario = scenario.clone();
                    jobs.push(Job { scenario, engine });
                }
            }
        }
        let mut readings = (self.run)(jobs)?.into_iter();
        for set in new {
            let mut by_seed = Vec::new();
            for _ in 0..self.seeds.len() {
                let mut next = || readings.next().expect("the figures of each job");
                by_seed.push((next(), next()));
            }
            self.differ |= by_seed.iter().any(|of| *of != by_seed[0]);
            self.known.insert(set, by_seed);
        }
        Ok(())
    }

    /// A figure by seed.
    fn apart(&self, set: Set, place: Place) -> Option<Vec<Apart>> {
        let by_seed = self.known.get(&set)?.iter();
        let each = by_seed.map(|(r, m)| Apart::of(place.value(r), place.value(m), place.relative));
        each.collect()
    }

    fn gaps(&self, set: Set, place: Place) -> Option<Vec<f64>> {
        let apart = self.apart(set, place)?;
        Some(apart.iter().map(|a| a.gap).collect())
    }

    /// Returns the flow or link of a figure with the largest mean gap over the seeds. It is the same in
    /// all runs: gaps of different flows, with different signs, would cancel. Returns `None` if a
    /// value is missing.
    fn farthest(&self, figure: usize) -> Option<Place> {
        let entities = self.known.get(&0)?.first()?.0[figure].len();
        let gaps = |relative: bool| -> Option<Vec<(Place, f64)>> {
            let places = (0..entities).map(|entity| Place { figure, entity, relative });
            let gap = |place| Some((place, Estimate::of(&self.gaps(0, place)?)?.mean.abs()));
            places.map(gap).collect()
        };
        let gaps = gaps(true).or_else(|| gaps(false))?.into_iter();
        let farthest = gaps.reduce(|a, b| if b.1 > a.1 { b } else { a })?;
        Some(farthest.0)
    }

    /// Returns the mean, with an interval only if seeds make a difference.
    fn estimate(&self, values: &[f64]) -> Option<Estimate> {
        let estimate = Estimate::of(values)?;
        Some(if self.differ { estimate } else { Estimate { half_width: None, ..estimate } })
    }

    fn explained(&self, effect: Effect, place: Place, gap: f64) -> Explained {
        let with = self.close(bit(effect)) & !bit(effect);
        let part = || {
            let before = self.gaps(with, place)?;
            let after = self.gaps(with | bit(effect), place)?;
            let each: Vec<f64> = before.iter().zip(&after).map(|(b, a)| b - a).collect();
            self.estimate(&each)
        };
        let part = part();
        Explained {
            effect,
            part,
            claimed: part.is_some_and(|p| {
                let noise = p.half_width.unwrap_or(0.0);
                let same = p.mean * gap > 0.0;
                same && p.mean.abs() >= MATERIAL * gap.abs() && p.mean.abs() > noise
            }),
        }
    }

    fn finding(&self, place: Place, all: Option<Set>) -> Option<Finding> {
        let e: &Expectation = &self.seeds[0].expectations[place.figure];
        let apart = self.apart(0, place)?;
        let mean = |of: fn(&Apart) -> f64| apart.iter().map(of).sum::<f64>() / apart.len() as f64;
        let gap = self.estimate(&self.gaps(0, place)?)?;
        let tolerance = match e.target {
            Target::Engine { tolerance, .. } | Target::Value { tolerance, .. } => tolerance,
            Target::Beyond { .. } | Target::Range { .. } => return None,
        };
        let single = self.applicable.iter().filter(|_| all.is_some());
        let effects = single.map(|&e| self.explained(e, place, gap.mean));
        let effects: Vec<Explained> = effects.collect();
        let left = all.and_then(|all| self.gaps(all, place)).and_then(|gaps| self.estimate(&gaps));
        let parts: Option<Vec<f64>> = (effects.iter()).map(|e| e.part.map(|p| p.mean)).collect();
        let interaction =
            left.zip(parts).map(|(left, parts)| gap.mean - left.mean - parts.iter().sum::<f64>());
        Some(Finding {
            name: e.name.clone(),
            metric: e.metric.name(),
            unit: e.metric.unit().symbol(),
            symbol: e.metric.unit(),
            during_s: (e.during.start.as_secs_f64(), e.during.end.as_secs_f64()),
            reference: mean(|a| a.reference),
            measured: mean(|a| a.measured),
            relative: place.relative,
            gap,
            tolerance,
            effects,
            interaction,
            left,
            verdict: match place.relative {
                true if is_closed(gap, tolerance) => Verdict::Agree,
                true if gap.mean.abs() <= tolerance => Verdict::Unclear,
                true => Verdict::Divergent,
                false => Verdict::None,
            },
            by: Vec::new(),
            without: None,
        })
    }

    /// Returns the sets that may explain a finding, in the order of their trial: single effects,
    /// and then the strongest together.
    fn candidates(finding: &Finding) -> Vec<Vec<Effect>> {
        let mut claimed: Vec<&Explained> = finding.effects.iter().filter(|e| e.claimed).collect();
        let size = |e: &&Explained| e.part.map_or(0.0, |p| p.mean.abs());
        claimed.sort_by(|a, b| size(b).total_cmp(&size(a)));
        let claimed: Vec<Effect> = claimed.iter().map(|e| e.effect).collect();
        let single = claimed.iter().map(|e| vec![*e]);
        let more = (2..=claimed.len()).map(|n| claimed[..n].to_vec());
        single.chain(more).collect()
    }

    /// Tries sets until one explains each divergent finding, or there are no more. If removing all
    /// effects does not close the gap, no set explains it.
    fn search(&mut self, findings: &mut [(Place, Finding)], all: Set) -> Result<(), E> {
        let open = |f: &Finding| {
            let closed = f.left.is_some_and(|left| is_closed(left, f.tolerance));
            f.verdict == Verdict::Divergent && closed
        };
        let candidates: Vec<Vec<Vec<Effect>>> = (findings.iter())
            .map(|(_, f)| if open(f) { Self::candidates(f) } else { Vec::new() })
            .collect();
        let most = candidates.iter().map(Vec::len).max().unwrap_or(0);
        for k in 0..most {
            let mut tried = Vec::new();
            for ((place, f), candidates) in findings.iter().zip(&candidates) {
                let next = candidates.get(k).filter(|_| open(f));
                tried.push(next.map(|effects| (*place, effects.clone())));
            }
            let sets = tried.iter().flatten().map(|(_, effects)| self.closed(effects));
            let sets: Vec<Set> = sets.collect();
            self.need(sets)?;
            for ((_, f), tried) in findings.iter_mut().zip(tried) {
                if let Some((place, effects)) = tried
                    && let Some(gap) = self.within(f, place, self.closed(&effects))
                {
                    f.conclude(effects, gap);
                }
            }
        }
        self.reduce(findings, all, open)
    }

    /// Finds effects that explain only together. Starting without all of them, it restores one by
    /// one, the weakest first, those with which the gap stays closed. Each remaining effect is
    /// necessary.
    fn reduce(
        &mut self,
        findings: &mut [(Place, Finding)],
        all: Set,
        open: impl Fn(&Finding) -> bool,
    ) -> Result<(), E> {
        let mut left: Vec<Option<Set>> =
            (findings.iter()).map(|(_, f)| open(f).then_some(all)).collect();
        for k in 0..self.applicable.len() {
            let mut tried = Vec::new();
            for ((_, f), set) in findings.iter().zip(&left) {
                tried.push(set.map(|set| self.fewer(set, weakest(f)[k])));
            }
            let sets: Vec<Set> = tried.iter().flatten().copied().collect();
            self.need(sets)?;
            for (((place, f), set), tried) in findings.iter().zip(&mut left).zip(tried) {
                if let Some(tried) = tried
                    && self.within(f, *place, tried).is_some()
                {
                    *set = Some(tried);
                }
            }
        }
        for ((place, f), set) in findings.iter_mut().zip(left) {
            let Some(set) = set else { continue };
            let effects: Vec<Effect> = (self.applicable.iter().copied())
                .filter(|e| set & bit(*e) != 0)
                // The longer run may be in the set only because packets require it.
                .filter(|e| self.fewer(set, *e) != set)
                .collect();
            let necessary = effects.iter().all(|e| {
                let with = self.gaps(self.fewer(set, *e), *place);
                let without = self.gaps(set, *place);
                let change = with.zip(without).and_then(|(a, b)| {
                    let each: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                    self.estimate(&each)
                });
                change.is_some_and(|c| c.mean.abs() > c.half_width.unwrap_or(0.0))
            });
            if let Some(gap) = self.within(f, *place, set)
                && necessary
            {
                f.conclude(effects, gap);
            }
        }
        Ok(())
    }

    /// Returns the closed set of these effects.
    fn closed(&self, effects: &[Effect]) -> Set {
        self.close(effects.iter().fold(0, |s, &e| s | bit(e)))
    }

    /// Returns the closed set without an effect. It is unchanged if another effect requires this
    /// one.
    fn fewer(&self, set: Set, effect: Effect) -> Set {
        self.close(set & !bit(effect))
    }

    /// Returns the gap without a set of effects, if it is within the tolerance.
    fn within(&self, f: &Finding, place: Place, set: Set) -> Option<Estimate> {
        let gap = self.estimate(&self.gaps(set, place)?)?;
        is_closed(gap, f.tolerance).then_some(gap)
    }

    /// Returns the [`Shift`] of the reference.
    fn shift(&self, effect: Effect, figures: &[usize]) -> f64 {
        let with = self.close(bit(effect)) & !bit(effect);
        let sets = self.known.get(&with).zip(self.known.get(&(with | bit(effect))));
        let counts = |f: &usize| {
            let unit = self.seeds[0].expectations[*f].metric.unit();
            effect != Effect::Packets || unit != MetricUnit::Packets
        };
        let figures: Vec<usize> = figures.iter().copied().filter(counts).collect();
        let moved = sets.into_iter().flat_map(|(a, b)| a.iter().zip(b)).flat_map(|(a, b)| {
            let values = figures.iter().flat_map(|&f| a.0[f].iter().zip(&b.0[f]));
            values.map(|(a, b)| match (a, b) {
                (Some(a), Some(b)) if a == b => 0.0,
                (Some(a), Some(b)) => ((b - a) / a.abs()).abs(),
                (None, None) => 0.0,
                _ => f64::INFINITY,
            })
        });
        moved.fold(0.0, f64::max)
    }
}

/// Returns whether a gap is within a tolerance. A gap with a wider interval than the tolerance is not.
pub(crate) fn is_closed(gap: Estimate, tolerance: f64) -> bool {
    gap.mean.abs() <= tolerance && gap.half_width.is_none_or(|half| half <= tolerance)
}

impl Finding {
    fn conclude(&mut self, by: Vec<Effect>, without: Estimate) {
        self.verdict = Verdict::Explained;
        self.by = by;
        self.without = Some(without);
    }
}

/// Returns the effects of a finding. The one that explains least by itself is first.
fn weakest(f: &Finding) -> Vec<Effect> {
    let part = |e: &Explained| e.part.map_or(0.0, |p| p.mean * f.gap.mean.signum());
    let mut effects: Vec<&Explained> = f.effects.iter().collect();
    effects.sort_by(|a, b| part(a).total_cmp(&part(b)));
    effects.iter().map(|e| e.effect).collect()
}

/// Determines why the engines of `pair` differ in the scenarios `seeds`, which differ only in the
/// seed. `run` makes runs, and returns the [`figure_values`](accord_report::figure_values) of each,
/// in the same order.
///
/// # Errors
/// Those of `run`.
pub fn attribute<E>(
    seeds: &[Scenario],
    pair: Pair,
    which: Which,
    finer: u64,
    run: &mut dyn FnMut(Vec<Job>) -> Result<Vec<Values>, E>,
) -> Result<Attribution, E> {
    let first = &seeds[0];
    let with_figures = |s: &Scenario| {
        let expectations = figures(s, pair, which).into_iter().map(|(e, _)| e).collect();
        Scenario { expectations, ..s.clone() }
    };
    let wanted: Vec<Wanted> = figures(first, pair, which).into_iter().map(|(_, w)| w).collect();
    let (mut applicable, mut skipped) = (Vec::new(), Vec::new());
    for effect in Effect::ALL {
        match effect.without(first, finer, pair.measured) {
            Ok(_) => applicable.push(effect),
            Err(why) => skipped.push(Skipped { effect, why }),
        }
    }
    let mut study = Study {
        seeds: seeds.iter().map(with_figures).collect(),
        pair,
        finer,
        applicable,
        known: BTreeMap::new(),
        differ: false,
        run,
    };
    study.need([0])?;
    let places: Vec<Option<Place>> =
        (0..wanted.len()).map(|figure| study.farthest(figure)).collect();
    let missing = (places.iter().zip(wanted).enumerate()).filter(|(_, (place, _))| place.is_none());
    let missing = missing.filter_map(|(figure, (_, wanted))| {
        Missing::of(figure, wanted, &study.seeds, study.known.get(&0)?, pair)
    });
    let missing: Vec<Missing> = missing.collect();
    let found = |study: &Study<'_, E>, all| -> Vec<(Place, Finding)> {
        let there = places.iter().flatten();
        there.filter_map(|&place| Some((place, study.finding(place, all)?))).collect()
    };
    let mut findings = found(&study, None);
    let mut shifts = Vec::new();
    let apart = |f: &(Place, Finding)| f.1.verdict == Verdict::Divergent;
    if findings.iter().any(apart) && !study.applicable.is_empty() {
        let singles: Vec<Set> = study.applicable.iter().map(|&e| study.close(bit(e))).collect();
        let all = study.applicable.iter().fold(0, |s, &e| s | bit(e));
        study.need(singles.into_iter().chain([all]))?;
        findings = found(&study, Some(all));
        study.search(&mut findings, all)?;
        let shown: Vec<usize> = findings.iter().map(|(place, _)| place.figure).collect();
        shifts.extend(study.applicable.iter().map(|&effect| Shift {
            effect,
            how: effect.doc(finer),
            reference: study.shift(effect, &shown),
        }));
    }
    Ok(Attribution {
        id: first.id.clone(),
        point: first.point.clone(),
        reference: pair.reference.name(),
        measured: pair.measured.name(),
        finer,
        seeds: Seeds { first: first.seed, count: seeds.len(), differ: study.differ },
        skipped,
        shifts,
        findings: findings.into_iter().map(|(_, f)| f).collect(),
        missing,
    })
}
