//! A queue discipline that marks, or drops, packets that find more than a threshold queued.

use accord::aqm::{AnyAqm, Aqm, Entropy, Maker, PacketMeta, QueueView, Verdict};
use accord::family::{Dynamics, Family, Price, Role, Values, kind::size};
use accord::units::{Bytes, Time};

pub static FAMILY: Family = Family {
    doc: "Marks, or drops, packets that find more than a threshold queued.",
    params: &[size("20 kB")
        .symbol("K")
        .declared("threshold", "The backlog above which packets are marked.")],
    dynamics: Dynamics::Missing("its answer jumps at the threshold, and has no slope there"),
    maker: &Maker { build: |values| AnyAqm::foreign(Marker::new(values)) },
    ..Family::new("marker", Role::Queue(|_| Price::Loss))
};

#[derive(Clone, Debug)]
struct Marker {
    threshold: Bytes,
}

impl Marker {
    fn new(values: &Values) -> Marker {
        let threshold = values.size("threshold").bytes_f64(Bytes::new(1000));
        Marker { threshold: Bytes::from_f64(threshold) }
    }
}

impl Aqm for Marker {
    fn on_arrival(
        &mut self,
        packet: &PacketMeta,
        queue: &QueueView,
        _: Time,
        _: &mut dyn Entropy,
    ) -> Verdict {
        match queue.bytes > self.threshold {
            true if packet.ecn.is_capable() => Verdict::Mark,
            true => Verdict::Drop,
            false => Verdict::Pass,
        }
    }
}
