//! The classes of verdicts: whether a claim holds, and if it does not, the cause.

use accord_scenario::Cause;
use serde::{Serialize, Serializer};

/// The class of a verdict. The worst comes last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// The claim holds.
    Met,
    /// The claim does not hold, and that is known as a finding on the paper.
    Finding,
    /// The claim does not hold, and that is known to depend on a setting that the paper leaves open.
    Open,
    /// The claim does not hold, and that is known to be a fault of ours.
    Ours,
    /// The claim does not hold and no reason is given, or the reason that is given does not hold.
    Unknown,
}

impl Class {
    /// All classes, the worst last.
    pub const ALL: [Class; 5] = [
        Class::Met,
        Class::Finding,
        Class::Open,
        Class::Ours,
        Class::Unknown,
    ];

    /// Returns the class of a known failure.
    pub const fn of(cause: Cause) -> Class {
        match cause {
            Cause::Paper => Class::Finding,
            Cause::Setting => Class::Open,
            Cause::Ours => Class::Ours,
        }
    }

    /// Returns the word.
    pub const fn word(self) -> &'static str {
        match self {
            Class::Met => "met",
            Class::Finding => "finding",
            Class::Open => "open",
            Class::Ours => "ours",
            Class::Unknown => "unknown",
        }
    }

    /// Returns the meaning of the word.
    pub const fn meaning(self) -> &'static str {
        match self {
            Class::Met => "as the claim says",
            Class::Finding => "not met, a finding on the paper",
            Class::Open => "not met, and the paper leaves the setting open",
            Class::Ours => "not met, a fault of Accord",
            Class::Unknown => "not met, and no reason is recorded",
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
            Class::Unknown => format!("{n} without a recorded reason"),
        }
    }

    /// Returns the class of that word.
    pub fn named(word: &str) -> Option<Class> {
        Class::ALL.into_iter().find(|c| c.word() == word)
    }
}

impl Serialize for Class {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.word())
    }
}
