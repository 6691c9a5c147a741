//! The application of a flow, and what it is doing.

use accord_scenario::Flow;
use accord_traffic::{Application, Step, UnderWay};
use accord_units::{Rate, Time};

/// An application with its start, its stop, and the transfer that it waits for.
#[derive(Clone, Debug)]
pub struct Session {
    application: Box<Application>,
    started: bool,
    stopped: bool,
    /// It waits for all that it supplied to be delivered.
    transferring: bool,
}

impl Session {
    /// That of a flow, flow `id` of its scenario, which has not started.
    pub fn new(flow: &Flow, id: usize, seed: u64) -> Session {
        Session {
            application: Box::new(flow.application(id, seed)),
            started: false,
            stopped: false,
            transferring: false,
        }
    }

    /// It starts.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// It stops: what is left of a transfer is never sent.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.transferring = false;
    }

    /// Whether it has started.
    #[inline]
    pub fn is_started(&self) -> bool {
        self.started
    }

    /// Whether it has stopped.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether it waits for a transfer to be done.
    #[inline]
    pub fn is_transferring(&self) -> bool {
        self.transferring
    }

    /// It acts, unless it has stopped.
    pub fn act(&mut self, now: Time) -> Option<Step> {
        if self.stopped {
            return None;
        }
        let step = self.application.act(now);
        self.transferring = step.is_transfer;
        Some(step)
    }

    /// The transfer under way, if there is one, is over: it is done, or so is the run.
    pub fn end(&mut self) -> Option<UnderWay> {
        self.transferring = false;
        self.application.end()
    }

    /// Its demand has this rate from the next packet on, if it has one at all.
    pub fn set_rate(&mut self, rate: Rate) {
        self.application.set_rate(rate);
    }
}
