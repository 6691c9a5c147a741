//! The classes of verdicts: whether a claim holds, and if not, the cause.

use accord_scenario::Cause;
use accord_units::words;
use serde::{Serialize, Serializer};

words! {
    /// The class of a verdict. The worst comes last.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Class by word {
        /// The claim holds.
        Met = "met",
        /// The claim does not hold, and that is known as a finding on the paper.
        Finding = "finding",
        /// The claim does not hold, and that is known to depend on a setting that the paper leaves open.
        Open = "open",
        /// The claim does not hold, and that is known to be a fault of ours.
        Ours = "ours",
        /// No verdict is possible: the machine did not keep up with a live run, or its kernel did not fit.
        Unjudged = "unjudged",
        /// The claim does not hold and no reason is given, or the reason that is given does not hold.
        Failed = "FAILED",
    }
}

impl Class {
    /// Returns the class of a known failure.
    pub const fn of(cause: Cause) -> Class {
        match cause {
            Cause::Paper => Class::Finding,
            Cause::Setting => Class::Open,
            Cause::Ours => Class::Ours,
        }
    }

    /// Returns whether a command with this as its worst verdict passes.
    pub fn passes(self) -> bool {
        self < Class::Unjudged
    }

    /// Returns the meaning of the word.
    pub const fn meaning(self) -> &'static str {
        match self {
            Class::Met => "as the claim says",
            Class::Finding => "not met, a finding on the paper",
            Class::Open => "not met, and the paper leaves the setting open",
            Class::Ours => "not met, a fault of Accord",
            Class::Unjudged => "no verdict, since the live run was not as it should be",
            Class::Failed => "not met",
        }
    }

    /// Returns a number of verdicts in words: "22 findings on the paper".
    pub fn counted(self, n: usize) -> String {
        let plural = if n == 1 { "" } else { "s" };
        match self {
            Class::Met => format!("{n} met"),
            Class::Finding => format!("{n} finding{plural} on the paper"),
            Class::Open => format!("{n} open setting{plural}"),
            Class::Ours => format!("{n} fault{plural} of Accord"),
            Class::Unjudged => format!("{n} without a verdict"),
            Class::Failed => format!("{n} FAILED"),
        }
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}
