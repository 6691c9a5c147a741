//! The period of the recorded series.

use crate::limits;
use crate::read::{self, Reader};
use accord_form::{Problem, Span, fail};
use accord_scenario::{Link, Scenario, Window};
use accord_units::{Duration, Time};

/// The number of samples by default.
const SAMPLES: f64 = 1000.0;
/// The minimum number of samples by default.
const FEWEST: f64 = 10.0;
/// The readings of flows that any run may take, up to [`SAMPLES`] samples. They cost a quarter of a
/// second.
const READINGS: f64 = 1e6;
/// The number of packet-hops of a run per reading of a flow. With `sample = "1 us"`, 100 000 NewReno flows
/// take 26 s of CPU time for 1 ms, and 2 s with ten samples. A reading costs as much as 20 packet-hops, and
/// the default period may be shorter than the chosen one by a factor of 2.5.
const HOPS: f64 = 500.0;

/// Reads the period. It is zero if the file does not give one.
pub fn given(file: &Reader<'_>, duration: Duration) -> Result<Duration, Problem> {
    let Some(value) = file.given("sample") else {
        return Ok(Duration::ZERO);
    };
    let sample = read::span(value)?;
    let count = duration.as_ps() / sample.as_ps();
    if count == 0 {
        return fail(
            value.span,
            format!("{sample} is longer than the run, which takes {duration}"),
        );
    }
    if count > limits::SAMPLES {
        let message = format!("{sample} gives {count} samples of each series");
        let hint = format!("at most {} are kept", limits::SAMPLES);
        return Err(Problem::new(value.span, message).hint(hint));
    }
    Ok(sample)
}

/// Chooses the period of a scenario whose flows are known, if none was given.
///
/// # Errors
/// Fails if the means over `steady` contain no sample.
pub fn choose(file: &Reader<'_>, links: &[Link], scenario: &mut Scenario) -> Result<(), Problem> {
    let (duration, steady) = (scenario.duration, scenario.steady);
    if scenario.sample == Duration::ZERO {
        // The means contain half of the fewest samples.
        let part = steady.end.since(steady.start).as_secs_f64() / duration.as_secs_f64();
        let fewest = (FEWEST / 2.0 / part).clamp(FEWEST, SAMPLES);
        scenario.sample = default(duration, affordable(links, scenario).clamp(fewest, SAMPLES));
    }
    let value = file.given("steady").or(file.given("sample"));
    sampled(steady, scenario.sample, duration, value.map_or(file.span, |v| v.span))
}

/// Returns the number of samples whose recording takes a tenth of a run of the packet engine. Each
/// sample reads each flow.
fn affordable(links: &[Link], scenario: &Scenario) -> f64 {
    let mut flows = vec![0.0; links.len()];
    for &link in scenario.flows.iter().flat_map(|f| &f.path) {
        flows[link] += 1.0;
    }
    let seconds = scenario.duration.as_secs_f64();
    let hops = |f: &accord_scenario::Flow| {
        let share = |&l: &usize| links[l].rate.as_bps_f64() / flows[l];
        let share = f.path.iter().map(share).fold(f64::INFINITY, f64::min);
        let rate = f.demand.mean_rate().map_or(share, |rate| share.min(rate));
        let packets = rate * seconds / f.packet.bits_f64();
        // This counts data there and acknowledgements back.
        2.0 * packets * f.path.len() as f64
    };
    let hops: f64 = scenario.flows.iter().map(hops).sum();
    READINGS.max(hops / HOPS) / scenario.flows.len().max(1) as f64
}

/// Returns the largest of 1, 2, 5 × 10^n that gives at least `samples` samples.
fn default(duration: Duration, samples: f64) -> Duration {
    let most = (duration.as_ps() / samples as u64).max(1);
    let decade = 10u64.pow(most.ilog10());
    let step = match most / decade {
        1 => 1,
        2..5 => 2,
        _ => 5,
    };
    Duration::from_ps(step * decade)
}

/// Fails at `span` if a window contains no sample, because expectations over it would have no
/// value.
pub fn sampled(
    window: Window,
    sample: Duration,
    duration: Duration,
    span: Span,
) -> Result<(), Problem> {
    // Counts as `Run::within` does: a period belongs to a window if most of it lies inside.
    let period = u128::from(sample.as_ps());
    let counted = |before: Time| {
        let end = u128::from(before.as_ps()) + period / 2;
        let all = u128::from(duration.as_ps()) / period;
        all.min(end.saturating_sub(1) / period)
    };
    if counted(window.start) < counted(window.end) {
        return Ok(());
    }
    let message = format!(
        "no sample lies in {} to {}: one is taken every {sample}",
        window.start, window.end
    );
    let hint = "give `sample` a shorter time, or the window a longer one";
    Err(Problem::new(span, message).hint(hint))
}
