//! Runs of scenarios in engines, one or many.

use crate::Error;
#[cfg(not(target_family = "wasm"))]
use crate::lateness::settle;
#[cfg(not(target_family = "wasm"))]
use accord_live::{Mode, Program, Setting};
use accord_record::{Observer, Quiet, Run};
use accord_scenario::{Engine, Scenario};
use rayon::prelude::*;
use std::cmp::Reverse;

/// The options of engines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    #[cfg(not(target_family = "wasm"))]
    /// The medium of live runs. The default is the best one available.
    pub live: Option<Mode>,
    #[cfg(not(target_family = "wasm"))]
    /// The program whose gateways are at the ends of tunnels in live runs. Without it, scenarios
    /// with tunnels have no live runs.
    pub gateway: Option<Program>,
    /// True if the packet engine skips time in which nothing changes, provided that theory agrees.
    pub skip_steady: bool,
}

#[cfg(not(target_family = "wasm"))]
impl Options {
    /// Returns the settings of live runs that come from their environment.
    pub fn setting(&self) -> Setting {
        Setting { mode: live_mode(self.live), gateway: self.gateway.clone() }
    }
}

#[cfg(not(target_family = "wasm"))]
/// Returns the requested medium, or the best one available.
pub fn live_mode(asked_for: Option<Mode>) -> Mode {
    asked_for.unwrap_or_else(|| match accord_live::obstacle(Mode::Namespaces, &[]) {
        None => Mode::Namespaces,
        Some(_) => Mode::Loopback,
    })
}

/// Runs a scenario in an engine.
///
/// # Errors
/// Fails if the observer stops the run, the scenario is unsound ([`Scenario::check`]), it has no
/// result in that engine, or the machine does not allow it.
pub fn run(
    scenario: &Scenario,
    engine: Engine,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Run, Error> {
    scenario.check().map_err(Error::Unsound)?;
    Ok(match engine {
        Engine::Theory => accord_theory::run(scenario, observer)?,
        Engine::Fluid => accord_fluid::run(scenario, observer)?,
        Engine::Packet if options.skip_steady => {
            // Without a result of theory, only packets decide.
            let theory = accord_theory::run(scenario, &mut Quiet).ok();
            accord_sim::run_skipping(scenario, theory.as_ref(), observer)?
        }
        Engine::Packet => accord_sim::run(scenario, observer)?,
        #[cfg(target_family = "wasm")]
        Engine::Live => {
            return Err(Error::Unable("this target has no sockets; use the program".into()));
        }
        #[cfg(not(target_family = "wasm"))]
        Engine::Live => {
            let run = accord_live::run(scenario, options.setting(), observer)?;
            settle(scenario, run, observer)?
        }
    })
}

/// A run to make.
#[derive(Clone, Copy, Debug)]
pub struct Job<'a> {
    /// The scenario to run.
    pub scenario: &'a Scenario,
    /// The engine that runs it.
    pub engine: Engine,
}

impl Job<'_> {
    /// Returns the relative work of the run. The time of a run is proportional to the packets that
    /// it moves.
    fn work(&self) -> u64 {
        let packets = self.scenario.flows.iter().map(|f| f.packet.get());
        self.scenario.duration.as_ps() / packets.min().unwrap_or(1).max(1)
    }
}

/// Makes runs on all cores, and calls `done` for each when it ends. A live run has the machine to
/// itself. The runs are returned in the order of their jobs, and do not depend on the number of
/// cores.
///
/// # Errors
/// Returns the first error of a run. `done` has been called for the runs before it.
pub fn run_all<O: Observer>(
    jobs: &[Job],
    options: &Options,
    observe: impl Fn(&Job) -> O + Sync,
    done: impl Fn(usize, &Run) + Sync,
) -> Result<Vec<Run>, Error> {
    let make = |i: usize| -> Result<(usize, Run), Error> {
        let job = &jobs[i];
        let run = run(job.scenario, job.engine, options, &mut observe(job))?;
        done(i, &run);
        Ok((i, run))
    };
    let is_live = |i: &usize| jobs[*i].engine == Engine::Live;
    let (live, mut others): (Vec<usize>, Vec<usize>) = (0..jobs.len()).partition(is_live);
    // The longest run begins first so that no run is alone at the end.
    others.sort_by_key(|i| Reverse(jobs[*i].work()));
    let made: Result<Vec<_>, Error> = (others.into_par_iter().with_max_len(1)).map(make).collect();
    let mut made = made?;
    for i in live {
        made.push(make(i)?);
    }
    made.sort_by_key(|(i, _)| *i);
    Ok(made.into_iter().map(|(_, run)| run).collect())
}
