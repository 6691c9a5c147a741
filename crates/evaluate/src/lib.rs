//! Standard evaluations of congestion controllers and queue disciplines.
//!
//! A [`Pack`] is a standard as data: sections, the cases that answer each, and the measures. An
//! [`Order`] names the subjects, and [`Plan::of`] makes the runs of it. [`attempt`] makes one of
//! them. An [`Evaluation`] holds the results, and [`Evaluation::sections`] judges them by
//! [rules](rule). [`html`] and [`tidy`] show it, and
//! [`compare`] compares it with an earlier one.

mod command;
mod judge;
mod kept;
mod measure;
pub mod pack;
mod plan;
mod program;
pub mod rule;
mod subject;
mod trial;

pub use command::{evaluate_command, run_command};
pub use judge::{Judged, LimitVerdict, Outcome, SectionVerdict, judge, need};
pub use kept::Measurements;
pub use pack::{Pack, Tier};
pub use plan::{Margin, Order, Plan, Planned, Trial};
pub use program::{Instances, Launch};
pub use subject::{NoSubject, Outside, Subject};
pub use trial::{Measured, attempt};

mod baseline;
mod evaluation;
mod statistics;
mod tidy;

pub use baseline::{Changes, is_regression, sentence};
pub use evaluation::{
    CaseResult, Compared, Evaluation, Finding, Key, LEVEL, PackResult, Pair, Row, RunFailure,
    Sample, compare, least,
};
pub use statistics::{Difference, MOST_SEEDS, difference, holm};
pub use tidy::{Baseline, tidy};

mod dossier;
mod survey;

pub use dossier::{Dossier, Line, html};
pub use survey::{Reasons, Survey, Verdict as SurveyVerdict};

mod ci;

pub use ci::{Verdict, annotations, junit, junit_of_checks, verdicts};
