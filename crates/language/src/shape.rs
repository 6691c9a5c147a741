//! The forms of values that only scenarios have.

use accord_units::{Duration, words};

pub(crate) type Shape = accord_form::Shape<Own>;
pub(crate) type Section = accord_form::Section<Own>;
pub(crate) type Key = accord_form::Key<Own>;

words! {
    /// The longest time that a host takes for a packet.
    #[derive(Clone, Copy)]
    pub enum Processing by word {
        /// The time of `Packet` for controllers that fill queues, otherwise zero.
        Auto = "auto",
        /// The service time of a packet on the slowest link of the path.
        Packet = "packet",
        {
            /// This time.
            Time(Duration)
        }
    }
}

/// The form of a value.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Own {
    /// A period, or "off".
    Period,
    /// The delivery opportunities of a link: a file, or times in milliseconds.
    Trace,
    /// The steps of a link's rate: a file, or its lines.
    Steps,
    /// The steps of a link's delay: a file, or its lines.
    Delays,
    /// The size of one packet.
    Packet,
    /// The size of a buffer.
    Limit,
    /// The longest time that a host takes for a packet, which may be zero, or "auto".
    Processing,
    /// A least time-out.
    Timeout,
    /// A metric: one of the words, or a variable of a controller.
    Metric,
    /// The statistic of samples over time.
    Over,
    /// A value in the unit of the expectation's metric.
    Figure,
    /// The name of a controller, or a table with its name and its parameters.
    Controller,
    /// The name of a queue discipline, or a table with its name, the limit and its
    /// parameters, or several to choose from.
    Queue,
    /// A table of links by name, each a line or a table.
    Links(&'static Section),
}
