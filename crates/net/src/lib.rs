//! Tests of a network stack in the simulated networks of Accord.
//!
//! A stack is a state machine without I/O and without a clock: a type for each end of a connection with the trait
//! [`Carried`]. A network with its other flows is a scenario of Accord, in a file or in the text of a test. The
//! packet engine runs both on one thread, in virtual time. The verdict is a value: the expectations of the scenario
//! are met, or the error says when one was not, and names a capture of the packets and the logs of the stacks.
//!
//! ```
//! use accord_net::{Carried, Datagram, Ends, Setup, Time, View};
//!
//! /// An end that sends a datagram of 100 bytes in every 10 ms. The receiving one sends nothing.
//! struct Clock(Time);
//!
//! impl Carried for Clock {
//!     fn supply(&mut self, _packets: u64, _is_transfer: bool, now: Time) {
//!         self.0 = now;
//!     }
//!     fn receive(&mut self, _payload: &[u8], _ecn: u8, _now: Time) -> bool {
//!         true
//!     }
//!     fn poll(&mut self, now: Time) -> Option<Datagram> {
//!         (self.0 <= now).then(|| {
//!             self.0 = now + accord_net::Duration::from_ms(10);
//!             Datagram { payload: vec![0; 100], ecn: 0 }
//!         })
//!     }
//!     fn next_wake(&mut self) -> Time {
//!         self.0
//!     }
//!     fn on_wake(&mut self, _now: Time) {}
//! }
//!
//! fn connect(_: &Setup<'_>) -> Result<Ends, String> {
//!     Ok([Box::new(Clock(Time::MAX)), Box::new(Clock(Time::MAX))])
//! }
//!
//! let net = accord_net::network(r#"
//!     duration = "10 s"
//!     topology.dumbbell = { rate = "10 Mbps", delay = "20 ms" }
//!     flow.mine = { from = "left", to = "right", controller = "newreno", packet = "1500 B" }
//!     flow.rival = { from = "left", to = "right", controller = "cubic", packet = "1500 B" }
//!     [[expect]]
//!     name = "mine gets what it sends"
//!     metric = "throughput"
//!     of = "mine"
//!     at_least = "100 kbps"
//! "#);
//! net.carry("mine", connect).run()?.verdict()?;
//! # Ok::<(), accord_net::Error>(())
//! ```
//!
//! Nothing is global: networks can run on several threads. Runs are repeatable as far as the stack is;
//! [`Setup::seed`] is for its random numbers.

mod capture;
mod fault;
mod logs;

pub use accord::transport::{Carried, Connect, Datagram, Ends, Log, Setup, View};
pub use accord::units::{Bytes, Duration, Rate, Time};
pub use fault::{Failed, Fault};

use accord::family::{Service, Stack, Values};
use accord::record::{Quiet, Run};
use accord::report::{checks_by, mean_of};
use accord::scenario::{Carrier, Engine, Flow, Scenario, Target};
use accord::traffic::Demand;
use accord::transport::Connector;
use accord::{File, Options, catalogue, load};
use capture::Tap;
use logs::{Kept, Logs};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::ptr;

/// The folder of captures, if no other is given.
const FOLDER: &str = "target/accord-net";

/// The reason why a test has no verdict, or a bad one.
#[derive(thiserror::Error)]
pub enum Error {
    /// The scenario is wrong, or there is none.
    #[error(transparent)]
    Scenario(#[from] accord::Error),
    /// The scenario has no flow of this name.
    #[error("the scenario has no flow \"{0}\" to carry (there are: {1})")]
    NoFlow(String, String),
    /// The stack cannot carry such a flow.
    #[error("flow {0} cannot be carried: {1}")]
    Unfit(String, &'static str),
    /// The scenario expects nothing of the engine and no stack broke, so there is no verdict.
    #[error("scenario {0} has no expectation of the {1} engine; add one: [[expect]]")]
    NoExpectation(String, Engine),
    /// An expectation compares with a live run, which a test makes only if it is live itself.
    #[error(
        "an expectation of scenario {0} equals that of the live engine, which does not run here; equals = \"theory\", \"fluid\" or \"packet\""
    )]
    NoReference(String),
    /// This machine, or a computer in between, was too busy for a live run, so its values mean nothing.
    #[error("the live run of scenario {0} has no verdict: {1}")]
    Late(String, String),
    /// An expectation is not met, or a stack broke.
    #[error(transparent)]
    Failed(#[from] Box<Failed>),
}

/// The text of the error: a failed test prints it.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A network with its flows, some of which are to be carried by stacks.
pub struct Net {
    file: Result<File, accord::Error>,
    seed: Option<u64>,
    folder: PathBuf,
    engine: Engine,
    carried: Vec<Named>,
}

/// The stack that carries the flows of a name, and the logs of its connections.
#[derive(Debug)]
struct Named {
    name: String,
    stack: &'static Stack,
    logs: Logs,
}

/// Reads a scenario from a file, or a built-in one by its id. [`Net::run`] returns any error.
pub fn scenario(name: &str) -> Net {
    Net::new(load(name))
}

/// Reads a scenario from a text. [`Net::run`] returns any error.
pub fn network(text: &str) -> Net {
    Net::new(File::parse("network.toml", text).map_err(accord::Error::from))
}

impl Net {
    fn new(file: Result<File, accord::Error>) -> Net {
        let folder = PathBuf::from(FOLDER);
        Net { file, seed: None, folder, engine: Engine::Packet, carried: Vec::new() }
    }

    /// Sets the value at a dotted path of the scenario: `set("topology.dumbbell.rate", "5 Mbps")`.
    #[must_use]
    pub fn set(mut self, path: &str, value: &str) -> Net {
        self.file = self.file.and_then(|mut file| {
            file.set(path, value)?;
            Ok(file)
        });
        self
    }

    /// Sets the seed of random numbers, instead of the scenario's.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Net {
        self.seed = Some(seed);
        self
    }

    /// Sets the folder of captures. The default is `target/accord-net` in the current directory.
    #[must_use]
    pub fn folder(mut self, folder: impl AsRef<Path>) -> Net {
        self.folder = folder.as_ref().to_path_buf();
        self
    }

    /// Makes the network run live instead of in packets: in real time, with the stacks at both ends of a network of
    /// namespaces (Linux, as root) or, without privileges, of loopback. Then flows with `kernel` are connections of
    /// the kernel. A verdict covers the scenario's expectations of live runs. It has logs, which every live run keeps, and no
    /// capture.
    #[must_use]
    pub fn live(mut self) -> Net {
        self.engine = Engine::Live;
        self
    }

    /// Lets connections of a stack carry all flows of this name or group, one per flow and run. Their `controller`
    /// in the scenario stands for them in theory only. The function stays in memory until the program ends.
    #[must_use]
    pub fn carry(
        mut self,
        flow: &str,
        connect: impl Fn(&Setup<'_>) -> Result<Ends, String> + Send + Sync + 'static,
    ) -> Net {
        let logs = Logs::default();
        let kept = logs.clone();
        let connect = move |setup: &Setup<'_>| kept.connect(&connect, setup);
        let connector: &'static Connector =
            Box::leak(Box::new(Connector(Box::leak(Box::new(connect)))));
        let stack = Stack {
            name: String::leak(flow.to_string()),
            check: |_: &Values| Ok(()),
            repeats: |_| Ok(()),
            maker: connector,
        };
        self.carried.push(Named {
            name: flow.to_string(),
            stack: Box::leak(Box::new(stack)),
            logs,
        });
        self
    }

    /// Runs the scenario in packets, or [live](Net::live): once, or once per combination of its sweeps' values.
    ///
    /// # Errors
    /// Fails if the scenario is wrong, or if it does not have the flows to carry. An expectation that compares
    /// with another engine, such as `equals = "theory"`, also runs that engine. Fails if that engine has no
    /// result, or if it is the live one.
    pub fn run(self) -> Result<Outcome, Error> {
        let mut points = self.file?.points(&catalogue(), self.seed).map_err(accord::Error::from)?;
        for scenario in &mut points {
            for named in &self.carried {
                let flows = flows(scenario, &named.name)?;
                give(scenario, flows, named.stack)?;
            }
            scenario.check().map_err(accord::Error::Unsound)?;
        }
        let compared = points.iter().map(|scenario| compared(scenario, self.engine));
        let compared: Vec<_> = compared.collect::<Result<_, _>>()?;
        let (mut runs, mut others, mut kept) = (Vec::new(), Vec::new(), Vec::new());
        for (scenario, compared) in points.into_iter().zip(compared) {
            let run = |engine| accord::run(&scenario, engine, &Options::default(), &mut Quiet);
            // A live run cannot be repeated for its logs.
            if self.engine == Engine::Live {
                self.carried.iter().for_each(|named| named.logs.keep());
            }
            let made = run(self.engine)?;
            kept.push(self.carried.iter().map(|named| named.logs.take()).collect());
            others.push(compared.into_iter().map(run).collect::<Result<Vec<_>, _>>()?);
            runs.push((scenario, made));
        }
        Ok(Outcome {
            runs,
            others,
            kept,
            folder: self.folder,
            engine: self.engine,
            carried: self.carried,
        })
    }
}

/// Returns the flows of this name or group.
fn flows(scenario: &Scenario, name: &str) -> Result<Range<usize>, Error> {
    if let Some(group) = scenario.groups.iter().find(|group| group.name == name) {
        return Ok(group.flows.clone());
    }
    let flow = scenario.flows.iter().position(|flow| flow.name == name);
    let flow = flow.ok_or_else(|| {
        let names: Vec<_> = scenario.groups.iter().map(|g| g.name.as_str()).collect();
        Error::NoFlow(name.to_string(), names.join(", "))
    })?;
    Ok(flow..flow + 1)
}

/// Returns the engines with which the expectations of an engine compare.
fn compared(scenario: &Scenario, engine: Engine) -> Result<BTreeSet<Engine>, Error> {
    let judged = scenario.expectations.iter().filter(|expectation| expectation.engine == engine);
    let other = judged.filter_map(|expectation| match expectation.target {
        Target::Engine { engine: other, .. } => Some(other),
        Target::Value { .. } | Target::Beyond { .. } | Target::Range { .. } => None,
    });
    let others: BTreeSet<Engine> = other.collect();
    if others.contains(&Engine::Live) {
        return Err(Error::NoReference(scenario.id.clone()));
    }
    Ok(others)
}

/// Assigns flows to a stack, which carries them.
fn give(scenario: &mut Scenario, flows: Range<usize>, stack: &'static Stack) -> Result<(), Error> {
    for flow in &mut scenario.flows[flows] {
        let unfit = match () {
            () if flow.tunnel.is_some() => Some("it is a tunnel"),
            () if flow.through.is_some() => Some("it rides in a tunnel"),
            () if flow.sizes.is_some() => Some("its packets have random sizes"),
            () if !flow.controller.is_stream() => Some("its controller does not run on a stream"),
            () if flow.service != Service::default() => {
                Some("a stack can hold no service; leave out `service`")
            }
            () if matches!(flow.demand, Demand::Media(_)) => Some(
                "a stack does not report an allowed rate to the source of a flow; \
                 demand = { constant = \"1 Mbps\" }",
            ),
            () if matches!(flow.demand, Demand::Web(_)) => Some(
                "it is one connection, and a web user has one for each file; \
                 demand = { on_off = { burst = \"100 KB\", pause = \"1 s\" } }",
            ),
            () => None,
        };
        if let Some(why) = unfit {
            return Err(Error::Unfit(flow.name.clone(), why));
        }
        flow.carrier = Carrier::Quic(stack);
    }
    Ok(())
}

/// The runs of a network.
#[derive(Debug)]
pub struct Outcome {
    runs: Vec<(Scenario, Run)>,
    /// For each run those of other engines with which it is compared.
    others: Vec<Vec<Run>>,
    /// For each run the logs of its stacks, if it was live.
    kept: Vec<Vec<Kept>>,
    folder: PathBuf,
    engine: Engine,
    carried: Vec<Named>,
}

impl Outcome {
    /// The scenarios, one per combination of the sweeps' values, with their runs.
    pub fn runs(&self) -> &[(Scenario, Run)] {
        &self.runs
    }

    /// Returns the mean of a metric over the steady part of a run. Runs count from 0, and names are as in scenario
    /// files: `mean(0, "goodput", "mine")` is in bit/s. `None` if there is none.
    pub fn mean(&self, run: usize, metric: &str, of: &str) -> Option<f64> {
        let (scenario, run) = self.runs.get(run)?;
        mean_of(scenario, run, metric, of)
    }

    /// Succeeds if all that the scenario expects of the engine is met, and no connection broke. Expectations of
    /// other engines do not count. Another engine runs only if a value is compared with one of its values.
    ///
    /// # Errors
    /// Fails with all faults, and a capture of the first run that has one, with the logs that stacks wrote. If
    /// nothing failed, it also fails if the scenario expects nothing, or if the machine was too busy for a live
    /// run.
    pub fn verdict(&self) -> Result<(), Error> {
        let (mut failed, mut undecided): (Option<Failed>, Option<Error>) = (None, None);
        for (((scenario, run), others), kept) in self.runs.iter().zip(&self.others).zip(&self.kept)
        {
            let faults = match faults(scenario, run, others, self.engine) {
                Ok(faults) => faults,
                Err(why) => {
                    undecided.get_or_insert(why);
                    continue;
                }
            };
            if faults.is_empty() {
                continue;
            }
            match &mut failed {
                Some(failed) => failed.faults.extend(faults),
                None => failed = Some(self.seize(scenario, run, kept, faults)),
            }
        }
        match failed {
            Some(failed) => Err(Box::new(failed).into()),
            None => undecided.map_or(Ok(()), Err),
        }
    }

    /// Repeats a run to capture its packets and the logs of stacks. Those of a live run were kept.
    fn seize(
        &self,
        scenario: &Scenario,
        run: &Run,
        kept: &[Kept],
        mut faults: Vec<Fault>,
    ) -> Failed {
        let stem = stem(scenario, run);
        if self.engine == Engine::Live {
            return Failed {
                scenario: scenario.id.clone(),
                faults,
                capture: Err("a live run is not repeatable".into()),
                logs: self.write(kept, scenario, &stem),
                capture_ends: None,
                is_repeatable: true,
            };
        }
        let mut tap = Tap::default();
        self.carried.iter().for_each(|named| named.logs.keep());
        let again = accord::sim::run(scenario, &mut tap);
        let logs: Vec<Kept> = self.carried.iter().map(|named| named.logs.take()).collect();
        let same = again.is_ok_and(|again| again.manifest.digest == run.manifest.digest);
        for fault in &mut faults {
            fault.packet = fault.at.filter(|_| same).and_then(|at| tap.number(at));
        }
        let path = self.folder.join(format!("{stem}.pcapng"));
        let capture = match tap.write(&path) {
            Ok(()) => Ok(path),
            Err(e) => Err(format!("{}: {e}", path.display())),
        };
        Failed {
            scenario: scenario.id.clone(),
            faults,
            capture,
            logs: self.write(&logs, scenario, &stem),
            capture_ends: tap.end(),
            is_repeatable: same,
        }
    }

    /// Writes the logs of a run. Returns their paths.
    fn write(
        &self,
        kept: &[Kept],
        scenario: &Scenario,
        stem: &str,
    ) -> Result<Vec<PathBuf>, String> {
        let mut paths = Vec::new();
        for (Named { name, stack, .. }, kept) in self.carried.iter().zip(kept) {
            let flows = flows(scenario, name).map_err(|e| e.to_string())?;
            // A later name may have given some of the flows to another stack.
            let its = |flow: &&Flow| matches!(flow.carrier, Carrier::Quic(s) if ptr::eq(s, *stack));
            let names = scenario.flows[flows].iter().filter(its).map(|flow| flow.name.as_str());
            paths.extend(logs::write(kept, &self.folder, stem, &names.collect::<Vec<_>>())?);
        }
        Ok(paths)
    }
}

/// Returns the prefix of the names of a run's files: the scenario, the values of sweeps and the first digits
/// of the digest, so tests that run at the same time have files of their own.
fn stem(scenario: &Scenario, run: &Run) -> String {
    let values = scenario.point.iter().map(|(_, value)| {
        let kept = value.chars().filter(|c| c.is_ascii_alphanumeric() || ".-".contains(*c));
        kept.take(20).collect::<String>()
    });
    let digest = run.manifest.digest.chars().take(8).collect();
    let parts = std::iter::once(scenario.id.clone()).chain(values).chain([digest]);
    parts.collect::<Vec<String>>().join(".")
}

/// Returns the faults of a run. Those of a late run are the connections that broke.
fn faults(
    scenario: &Scenario,
    run: &Run,
    others: &[Run],
    engine: Engine,
) -> Result<Vec<Fault>, Error> {
    let broken = run.broken.iter().map(|broken| Fault::broken(scenario, broken));
    if let Some(why) = &run.unfit {
        let broken: Vec<_> = broken.collect();
        let late = || Error::Late(scenario.id.clone(), why.clone());
        return if broken.is_empty() { Err(late()) } else { Ok(broken) };
    }
    let runs: Vec<&Run> = std::iter::once(run).chain(others).collect();
    let judged = checks_by(scenario, &runs, &[engine]);
    if judged.is_empty() && run.broken.is_empty() {
        return Err(Error::NoExpectation(scenario.id.clone(), engine));
    }
    let unmet = judged.iter().filter(|check| !check.pass);
    Ok(broken.chain(unmet.map(|check| Fault::unmet(scenario, run, check))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use accord::record::Broken;

    const SHORT: &str = r#"
        duration = "100 ms"
        topology.dumbbell = { rate = "10 Mbps", delay = "5 ms" }
        flow.mine = { from = "left", to = "right", controller = "newreno" }
    "#;

    /// A stack that panicked is a finding, not a reason to run again.
    #[test]
    fn a_late_run_hides_no_failure() -> Result<(), Error> {
        let mut outcome = network(SHORT).run()?;
        let again = network(SHORT).run()?;
        outcome.runs.extend(again.runs);
        outcome.others.extend(again.others);
        outcome.kept.extend(again.kept);
        outcome.engine = Engine::Live;
        outcome.runs[0].1.unfit = Some("the machine was too busy".into());
        assert!(matches!(outcome.verdict(), Err(Error::Late(..))));
        let why = "the sending end panicked: it has had enough".to_string();
        for broken in [1, 0] {
            outcome.runs[broken].1.broken =
                vec![Broken { flow: 0, at: Time::ZERO, why: why.clone() }];
            let Err(Error::Failed(failed)) = outcome.verdict() else {
                panic!("run {broken} failed");
            };
            assert!(failed.faults[0].text.ends_with(&why), "{failed}");
            outcome.runs[broken].1.broken.clear();
        }
        Ok(())
    }
}
