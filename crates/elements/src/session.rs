//! The application of a flow and its state.

use accord_traffic::{Application, Step, UnderWay};
use accord_transport::Sender;
use accord_units::{Rate, Time};

/// An application with its start, its stop and the transfer for which it waits.
#[derive(Clone, Debug, Default)]
pub struct Session {
    /// The application, from its start until it has no more to do. It is boxed, because most of a large
    /// number of flows are not under way at the same time.
    application: Option<Box<Application>>,
    started: bool,
    stopped: bool,
    /// True after the only transfer of the application.
    done: bool,
    /// True while the application waits for the delivery of its transfer.
    transferring: bool,
}

impl Session {
    /// Starts the application.
    pub fn start(&mut self, application: Application) {
        self.application = Some(Box::new(application));
        self.started = true;
    }

    /// Stops the application. The rest of a transfer is never sent.
    pub fn stop(&mut self) {
        self.stopped = true;
        self.transferring = false;
    }

    /// Returns whether the application has started.
    #[inline]
    pub fn is_started(&self) -> bool {
        self.started
    }

    /// Returns whether the application has stopped.
    #[inline]
    pub fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Returns whether the application has stopped, or its only transfer has been fully delivered.
    #[inline]
    pub fn has_ended(&self) -> bool {
        self.stopped || self.done
    }

    /// Returns whether the application waits for a transfer to complete.
    #[inline]
    pub fn is_transferring(&self) -> bool {
        self.transferring
    }

    /// Notifies an application that follows congestion control of the rate that its sender allows:
    /// the pacing rate or a window per round trip, whichever is less. Before the first round trip
    /// the rate is zero, so the application keeps to its minimum. A sender without a controller
    /// allows any rate.
    pub fn allow(&mut self, sender: &Sender, now: Time) {
        let application = self.application.as_mut().filter(|a| a.follows());
        let Some(application) = application else {
            return;
        };
        let view = sender.view();
        let allowed = match (view.cwnd, view.rtt) {
            (None, _) => f64::INFINITY,
            (_, None) => 0.0,
            (Some(cwnd), Some(rtt)) => {
                let pacing = view.pacing.map_or(f64::INFINITY, Rate::as_bps_f64);
                (cwnd.bits_f64() / rtt.as_secs_f64()).min(pacing)
            }
        };
        application.allow(allowed, now);
    }

    /// Returns the next step of the application, unless it has stopped or has no more to do.
    pub fn act(&mut self, now: Time) -> Option<Step> {
        if self.stopped {
            return None;
        }
        let step = self.application.as_mut()?.act(now);
        self.transferring = step.is_transfer;
        if !step.is_transfer && step.again.is_none() {
            self.application = None;
        }
        Some(step)
    }

    /// Ends the transfer under way, if there is one.
    pub fn end(&mut self) -> Option<UnderWay> {
        self.transferring = false;
        let ended = self.application.as_mut()?.end();
        if ended.is_some_and(|transfer| transfer.pause.is_none()) {
            self.done = true;
            self.application = None;
        }
        ended
    }

    /// Sets the rate of the demand from the next packet on, if the demand has a rate. A session
    /// that has not yet started uses the rate in force at its start.
    pub fn set_rate(&mut self, rate: Rate) {
        if let Some(application) = &mut self.application {
            application.set_rate(rate);
        }
    }
}
