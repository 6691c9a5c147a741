//! Runs of a scenario: its phases, its steps, and the error estimate.

use crate::error::{FluidError, MOST_WORK};
use crate::integrate::Integration;
use crate::law::Control;
use crate::model::Model;
use crate::record::Recorder;
use accord_record::{Manifest, Observer, Quiet, Run, Statistics};
use accord_scenario::{Engine, LinkModel, Metric, Scenario};
use accord_units::{Duration, Time};
use std::collections::BTreeSet;

/// The maximum number of values of all series together (128 MiB), and that of samples of one series.
const BUDGET: u64 = 1 << 24;
const LONGEST: u64 = 1 << 14;
/// The number of steps in the shortest base round-trip time, for laws of order two and of order one.
const SMOOTH_STEPS: f64 = 15.0;
const SIGN_STEPS: f64 = 30.0;
/// The maximum number of starts that each end a step. Steps are common to all flows, and all are
/// kept for a round trip.
const FEW: usize = 1000;

/// Runs a scenario as a fluid, and again with twice the step. A note reports the difference as an
/// error estimate.
///
/// # Errors
/// Fails if delays require too many steps, or if the observer stops the run.
pub fn run(scenario: &Scenario, observer: &mut dyn Observer) -> Result<Run, FluidError> {
    let step = step(scenario)?;
    let (mut run, residual) = integrate(scenario, step, observer)?;
    let (coarse, _) = integrate(scenario, 2.0 * step, &mut Quiet)?;
    // This is a numerical error, so it comes last unless it is large.
    run.notes.push(difference(scenario, step, &run, &coarse));
    if residual > 1e-6 {
        run.notes.insert(0, format!(
            "fluid: the equations of the queues are solved to a relative residual of {residual:.0e} only"
        ));
    }
    Ok(run)
}

/// Runs a scenario with steps of at most `step` seconds, once.
///
/// # Errors
/// Fails as [`run`] does.
pub fn run_with_step(
    scenario: &Scenario,
    step: f64,
    observer: &mut dyn Observer,
) -> Result<Run, FluidError> {
    integrate(scenario, step, observer).map(|(run, _)| run)
}

/// Returns the step in seconds: the scenario's, or a fifteenth of the shortest base round-trip time (a
/// thirtieth for sign laws).
///
/// # Errors
/// Fails if there is no law for a controller.
pub fn step(scenario: &Scenario) -> Result<f64, FluidError> {
    if let Some(step) = scenario.fluid.step {
        return Ok(step.as_secs_f64());
    }
    let model = Model::new(scenario)?;
    // Starts and stops do not change delays.
    let changes = scenario.events.iter().map(|e| e.at);
    let shortest = std::iter::once(Time::ZERO)
        .chain(changes)
        .flat_map(|at| model.network(at).paths)
        .map(|p| p.base_rtt)
        .fold(f64::INFINITY, f64::min);
    let steps =
        if model.classes.iter().all(|k| k.control.is_smooth()) { SMOOTH_STEPS } else { SIGN_STEPS };
    Ok(shortest.min(scenario.duration.as_secs_f64()) / steps)
}

fn integrate(
    scenario: &Scenario,
    step: f64,
    observer: &mut dyn Observer,
) -> Result<(Run, f64), FluidError> {
    let model = Model::new(scenario)?;
    let cuts = cuts(scenario);
    let seconds = scenario.duration.as_secs_f64();
    let work = seconds / step * (model.classes.len() + model.queues.len()) as f64;
    if work.is_nan() || work > MOST_WORK {
        let hint = match scenario.fluid.step {
            Some(_) => "give fluid.step a larger value, or the run a shorter duration",
            None => "shorten the run, or lengthen its shortest round trip",
        };
        return Err(FluidError::TooFine { step, work, hint });
    }
    let changes: BTreeSet<Time> =
        (scenario.events.iter().map(|e| e.at)).chain([Time::ZERO]).collect();
    let longest = (changes.iter().flat_map(|&at| model.network(at).paths))
        .map(|p| p.base_rtt)
        .fold(0.0, f64::max);
    let close = most_within(&cuts, Duration::from_secs_f64(longest));
    let sample = sampling(scenario, step);
    let samples = scenario.duration.as_ps() / sample.as_ps().max(1);
    let link_model = scenario.fluid.link_model;
    let mut state = Integration::new(&model, link_model, longest, step, close)?;
    let mut recorder = Recorder::new(&model, samples as usize);
    let mut steps = 0u64;
    let mut next_sample = Time::ZERO + sample;
    let mut switches = model.switches().into_iter().peekable();
    for span in cuts.windows(2) {
        let (begin, end) = (span[0], span[1]);
        let mut due = Vec::new();
        while let Some(switch) = switches.next_if(|switch| switch.0 <= begin) {
            due.push((switch.1, switch.2));
        }
        if changes.contains(&begin) {
            let network = model.network(begin);
            recorder.enter(&network, begin.as_secs_f64());
            state.enter(network, step);
            due = model.running(begin);
        }
        // If flows only start and stop, the others continue unchanged.
        state.switch(due);
        let mut from = begin;
        while from < end {
            let to = end.min(next_sample);
            let (start, span) = (from.as_secs_f64(), to.since(from).as_secs_f64());
            let count = (span / step * (1.0 - 1e-12)).ceil().max(1.0);
            let h = span / count;
            for i in 1..=count as u64 {
                let ends = start + i as f64 * h;
                let within = |s: &(Time, usize, bool)| s.0 < to && s.0.as_secs_f64() < ends;
                while let Some((at, class, _)) = switches.next_if(within) {
                    state.start_within(class, at.as_secs_f64());
                }
                state.step(ends, h);
                if state.is_due() {
                    recorder.count(&mut state, ends);
                }
                steps += 1;
                if steps.is_multiple_of(4096) {
                    observer.progress(from)?;
                }
            }
            if to == next_sample {
                recorder.sample(&mut state, to.as_secs_f64());
                next_sample += sample;
                observer.progress(to)?;
                if observer.wants_record() {
                    let (time, series) = recorder.clone().finish(scenario, &model);
                    observer.recorded(time, series);
                }
            }
            from = to;
        }
    }
    let residual = state.residual;
    let (time, series) = recorder.finish(scenario, &model);
    let mut notes = model.notes.clone();
    let manifest = Manifest::new(Engine::Fluid, scenario, Manifest::digest(&series));
    let mut run = Run {
        statistics: Statistics { packet_hops: 0, steps },
        ..Run::new(manifest, time, series)
    };
    model.doubt(&run, &mut notes);
    run.notes = notes.finish("fluid");
    Ok((run, residual))
}

/// Returns the times at which steps must end, in order: changes of the network, stops and starts of
/// flows. If there are many starts, they share the steps in which they fall.
fn cuts(s: &Scenario) -> Vec<Time> {
    let end = s.end();
    let starts: BTreeSet<Time> = s.flows.iter().map(|f| f.start).collect();
    let mut cuts = Vec::new();
    if starts.len() <= FEW {
        cuts.extend(starts);
    }
    cuts.extend(s.flows.iter().filter_map(|f| f.stop));
    cuts.extend(s.events.iter().map(|e| e.at));
    cuts.extend([Time::ZERO, end]);
    cuts.retain(|cut| *cut <= end);
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Returns the maximum number of `times`, in order, within a window of `span`.
fn most_within(times: &[Time], span: Duration) -> usize {
    let within =
        |(i, &first): (usize, &Time)| times[i..].partition_point(|time| time.since(first) <= span);
    times.iter().enumerate().map(within).max().unwrap_or(0)
}

/// Returns the sampling period: that of the scenario, doubled until series are short enough and a period
/// contains a step.
fn sampling(scenario: &Scenario, step: f64) -> Duration {
    let columns = 9 * scenario.flows.len() as u64 + 8 * scenario.links.len() as u64;
    let most = (BUDGET / columns.max(1)).clamp(64, LONGEST);
    let mut period = scenario.sample;
    while (scenario.duration.as_ps() / period.as_ps().max(1) > most || period.as_secs_f64() < step)
        && period + period <= scenario.duration
    {
        period = period + period;
    }
    period
}

/// Returns a note on the influence of the step.
fn difference(scenario: &Scenario, step: f64, fine: &Run, coarse: &Run) -> String {
    let order = if scenario.flows.iter().all(|f| Control::of(f).is_ok_and(|c| c.is_smooth())) {
        2
    } else {
        1
    };
    let worst = |metric: Metric| {
        let scale = (fine.series.iter().filter(|s| s.metric == metric))
            .flat_map(|s| &s.values)
            .filter(|v| v.is_finite())
            .fold(0.0f64, |a, v| a.max(v.abs()));
        let mut worst = (0.0f64, 0.0f64);
        for s in fine.series.iter().filter(|s| s.metric == metric) {
            let Some(other) = coarse.series(metric, s.entity) else {
                continue;
            };
            if other.values.len() != s.values.len() || scale == 0.0 {
                continue;
            }
            let both =
                || s.values.iter().zip(&other.values).filter(|(a, b)| !(a.is_nan() || b.is_nan()));
            let sample = both().fold(0.0f64, |w, (a, b)| w.max((a - b).abs()));
            let within = fine.within(scenario.steady);
            let (mut sum, mut n) = (0.0, 0.0f64);
            for i in within {
                let d = s.values[i] - other.values[i];
                if d.is_finite() {
                    sum += d;
                    n += 1.0;
                }
            }
            worst.0 = worst.0.max(sample / scale);
            worst.1 = worst.1.max((sum / n.max(1.0)).abs() / scale);
        }
        worst
    };
    let (rate, delay) = (worst(Metric::SendingRate), worst(Metric::QueuingDelay));
    let model = match scenario.fluid.link_model {
        LinkModel::AckClocked => "ack-clocked",
        LinkModel::Integrator => "integrator",
    };
    // Twice the step has 2^order times the error.
    let share = 1.0 / (f64::from(1 << order) - 1.0);
    format!(
        "fluid ({model}): steps of {step:.3e} s; estimated error, of a sample at most {:.1e} of the largest rate and {:.1e} of the largest queuing delay, of a mean over the steady part {:.1e} and {:.1e}",
        rate.0 * share,
        delay.0 * share,
        rate.1 * share,
        delay.1 * share,
    )
}
