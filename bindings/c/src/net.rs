//! A network with its settings and results.

use crate::types::{AccordStack, AccordStatus};
use accord::report::mean_of;
use accord_net::{Error, Net, Outcome};
use std::ffi::{CString, c_char};
use std::sync::atomic::AtomicBool;

/// The place or the text of the scenario.
#[derive(Debug)]
enum Source {
    Named(String),
    Text(String),
}

/// A network with its flows, some of which are to be carried by stacks, and the results of its last run.
#[derive(Debug, Default)]
pub struct AccordNet {
    /// True during a call that may change the state. A function of a stack that calls the net then has
    /// no access to the state.
    pub(crate) is_in_use: AtomicBool,
    pub(crate) state: State,
}

/// The settings and the results of a net.
#[derive(Debug, Default)]
pub(crate) struct State {
    source: Option<Source>,
    sets: Vec<(String, String)>,
    seed: Option<u64>,
    folder: Option<String>,
    carried: Vec<(String, AccordStack)>,
    /// The status and the text of the first setting that was refused.
    refused: Option<(AccordStatus, CString)>,
    outcome: Option<Outcome>,
    message: CString,
    capture: Option<CString>,
    digests: Vec<CString>,
}

/// Text for C, which ends at a zero.
fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', " ")).unwrap_or_default()
}

impl State {
    /// Records the reason why a call failed.
    fn fail(&mut self, status: AccordStatus, why: &str) -> AccordStatus {
        self.message = c_text(why);
        status
    }

    /// Notes that a call panicked.
    pub(crate) fn panicked(&mut self) -> AccordStatus {
        self.fail(AccordStatus::Internal, "Accord panicked; standard error has the place")
    }

    /// Refuses an argument.
    fn refuse(&mut self, what: &str) -> AccordStatus {
        self.fail(AccordStatus::Argument, &format!("{what} is a null pointer or not UTF-8"))
    }

    /// Refuses the argument of a setting. A run without the setting would be another test, so runs fail.
    fn refuse_setting(&mut self, what: &str) -> AccordStatus {
        let status = self.refuse(what);
        self.refused_with(status)
    }

    /// Notes that a setting was refused with the current message.
    fn refused_with(&mut self, status: AccordStatus) -> AccordStatus {
        self.refused.get_or_insert_with(|| (status, self.message.clone()));
        status
    }

    pub(crate) fn scenario(&mut self, name: Option<&str>) -> AccordStatus {
        let Some(name) = name else {
            return self.refuse_setting("the name of the scenario");
        };
        self.source = Some(Source::Named(name.to_string()));
        AccordStatus::Ok
    }

    pub(crate) fn network(&mut self, text: Option<&str>) -> AccordStatus {
        let Some(text) = text else {
            return self.refuse_setting("the text of the scenario");
        };
        self.source = Some(Source::Text(text.to_string()));
        AccordStatus::Ok
    }

    pub(crate) fn set(&mut self, path: Option<&str>, value: Option<&str>) -> AccordStatus {
        let (Some(path), Some(value)) = (path, value) else {
            return self.refuse_setting("the path or the value");
        };
        self.sets.push((path.to_string(), value.to_string()));
        AccordStatus::Ok
    }

    pub(crate) fn seed(&mut self, seed: u64) -> AccordStatus {
        self.seed = Some(seed);
        AccordStatus::Ok
    }

    pub(crate) fn folder(&mut self, folder: Option<&str>) -> AccordStatus {
        let Some(folder) = folder else {
            return self.refuse_setting("the folder");
        };
        self.folder = Some(folder.to_string());
        AccordStatus::Ok
    }

    pub(crate) fn carry(
        &mut self,
        flow: Option<&str>,
        stack: Result<AccordStack, String>,
    ) -> AccordStatus {
        let Some(flow) = flow else {
            return self.refuse_setting("the name of the flow");
        };
        match stack {
            Ok(stack) => self.carried.push((flow.to_string(), stack)),
            Err(why) => {
                let status = self.fail(AccordStatus::Argument, &why);
                return self.refused_with(status);
            }
        }
        AccordStatus::Ok
    }

    /// The network of these settings.
    fn build(&self) -> Option<Net> {
        let net = match self.source.as_ref()? {
            Source::Named(name) => accord_net::scenario(name),
            Source::Text(text) => accord_net::network(text),
        };
        let net = self.sets.iter().fold(net, |net, (path, value)| net.set(path, value));
        let net = self.seed.into_iter().fold(net, Net::seed);
        let net = self.folder.iter().fold(net, Net::folder);
        let carried = self.carried.iter();
        Some(carried.fold(net, |net, (flow, stack)| net.carry(flow, stack.connector())))
    }

    pub(crate) fn run(&mut self) -> AccordStatus {
        (self.outcome, self.capture, self.message) = (None, None, CString::default());
        self.digests.clear();
        if let Some((status, why)) = &self.refused {
            self.message.clone_from(why);
            return *status;
        }
        let Some(net) = self.build() else {
            return self.fail(AccordStatus::Scenario, "the net has no scenario");
        };
        let verdict = net.run().and_then(|outcome| {
            let digests = outcome.runs().iter().map(|(_, run)| c_text(&run.manifest.digest));
            self.digests = digests.collect();
            self.outcome.insert(outcome).verdict()
        });
        let Err(error) = verdict else {
            return AccordStatus::Ok;
        };
        if let Error::Failed(failed) = &error {
            let path = failed.capture.as_ref().ok();
            self.capture = path.map(|path| c_text(&path.display().to_string()));
        }
        let status = match &error {
            Error::Scenario(_) | Error::NoReference(_) => AccordStatus::Scenario,
            Error::NoFlow(..) | Error::Unfit(..) => AccordStatus::Flow,
            Error::NoExpectation(..) => AccordStatus::NoExpectation,
            Error::Failed(_) => AccordStatus::Failed,
            // Of live runs only.
            Error::Late(..) => AccordStatus::Internal,
        };
        self.fail(status, &error.to_string())
    }

    pub(crate) fn message(&self) -> *const c_char {
        self.message.as_ptr()
    }

    pub(crate) fn capture(&self) -> *const c_char {
        self.capture.as_ref().map_or(std::ptr::null(), |path| path.as_ptr())
    }

    pub(crate) fn runs(&self) -> usize {
        self.digests.len()
    }

    pub(crate) fn digest(&self, run: usize) -> *const c_char {
        self.digests.get(run).map_or(std::ptr::null(), |digest| digest.as_ptr())
    }

    pub(crate) fn mean(
        &mut self,
        run: usize,
        metric: Option<&str>,
        of: Option<&str>,
        value: Option<&mut f64>,
    ) -> AccordStatus {
        let (Some(metric), Some(of), Some(value)) = (metric, of, value) else {
            return self.refuse("the metric, the name or the place of the value");
        };
        let runs = self.outcome.as_ref().map_or(&[][..], Outcome::runs);
        let Some((scenario, run)) = runs.get(run) else {
            let why = format!("there is no run {run} (there are {}, from 0)", runs.len());
            return self.fail(AccordStatus::Argument, &why);
        };
        match mean_of(scenario, run, metric, of) {
            Some(mean) => *value = mean,
            None => {
                let why = format!("the run has no \"{metric}\" of \"{of}\"");
                return self.fail(AccordStatus::Argument, &why);
            }
        }
        AccordStatus::Ok
    }
}
