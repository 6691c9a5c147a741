//! Reasons to use the events engine.

use std::fmt::{self, Display, Formatter};

/// The reason why a scenario needs the events engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Because {
    /// The caller asks for events, because packets are observed or links are stalled.
    Asked,
    /// The scenario changes rates, delays, demands or routes.
    Changes,
    /// The named link has this feature, which only the events engine supports.
    Link(String, &'static str),
    /// The named flow has this feature, which only the events engine supports.
    Flow(String, &'static str),
    /// A window would hold too few packets for the number of shared links.
    Short,
}

impl Display for Because {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Because::Asked => f.write_str("each packet is observed at its event"),
            Because::Changes => f.write_str("the scenario has events"),
            Because::Link(name, what) => write!(f, "link {name} {what}"),
            Because::Flow(name, what) => write!(f, "flow {name} {what}"),
            Because::Short => {
                f.write_str("a window would hold too few packets for the number of shared links")
            }
        }
    }
}
