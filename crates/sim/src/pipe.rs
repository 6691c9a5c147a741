//! A port whose queue nobody looks at.

use accord_port::{Count, Service};
use accord_units::{Bytes, Rate, Time};

/// A droptail port without a limit, at a fixed rate, of which no series is recorded: all that
/// matters of it is when each packet leaves. It is the same port as
/// [`Timeline`](accord_port::Timeline), which remembers departures to know its backlog; this
/// one only needs to know, for the books, what has left by the end of the run.
pub struct Pipe {
    service: Service,
    /// What leaves by the end.
    pub served: Count,
    /// What does not; most pipes have no such thing, and should stay small.
    late: Option<Box<Count>>,
}

impl Pipe {
    /// An idle port.
    pub fn new(rate: Rate) -> Pipe {
        Pipe {
            service: Service::new(rate),
            served: Count::default(),
            late: None,
        }
    }

    /// A packet arrives at `now`, not before any packet offered earlier, in a run that ends
    /// at `end`. Gives its departure.
    #[inline]
    pub fn offer(&mut self, now: Time, size: Bytes, end: Time) -> Time {
        let departure = self.service.send(now, size);
        if departure <= end {
            self.served.add(size);
        } else {
            self.late.get_or_insert_default().add(size);
        }
        departure
    }

    /// What is still there at the end.
    pub fn held(&self) -> Count {
        self.late.as_deref().copied().unwrap_or_default()
    }
}
