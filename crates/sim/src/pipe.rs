//! Ports without a limit, whose backlog is never read.

use accord_port::{Count, Service};
use accord_units::{Bytes, Rate, Time};

/// A droptail port without a limit, at a fixed rate and without recorded series. Only departures
/// matter. They equal those of [`Timeline`](accord_port::Timeline), which keeps them to know its
/// backlog. A pipe only counts the packets that leave by the end of the run, for the audit.
pub struct Pipe {
    service: Service,
    /// The packets that leave by the end of the run.
    pub served: Count,
    /// The packets that leave after the end. This is boxed, because most pipes have none.
    late: Option<Box<Count>>,
}

impl Pipe {
    /// Creates an idle port.
    pub fn new(rate: Rate) -> Pipe {
        Pipe { service: Service::new(rate), served: Count::default(), late: None }
    }

    /// Offers a packet that arrives at `now`, in a run that ends at `end`. Packets are offered in
    /// the order of arrival. Returns its departure.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, size: Bytes, end: Time) -> Time {
        let departure = self.service.send(now, size);
        if departure <= end {
            self.served.add(size);
        } else {
            self.late.get_or_insert_default().add(size);
        }
        departure
    }

    /// Counts packets of one size. They leave by the end of the run if `served` is true.
    pub fn count(&mut self, packets: u64, size: Bytes, served: bool) {
        let count = Count { packets, bytes: packets * size.get() };
        if served {
            self.served = self.served + count
        } else {
            let late = self.late.get_or_insert_default();
            **late = **late + count;
        }
    }

    /// Returns the time at which the line is free.
    #[inline]
    pub fn busy_until(&self) -> Time {
        self.service.busy_until()
    }

    /// Returns the packets that are still in the port at the end.
    pub fn held(&self) -> Count {
        self.late.as_deref().copied().unwrap_or_default()
    }
}
