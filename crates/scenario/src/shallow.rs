//! Queues that are too short for the packets that cross them.

use crate::{Limit, Scenario};
use accord_units::Bytes;

/// The least number of packets that a queue should hold: one in service, and two that wait.
const FEW: u64 = 3;

impl Scenario {
    /// Returns a sentence per link of the network whose queue holds fewer than three packets of a flow that
    /// crosses it. The sizes are those of the largest data packets, or their mean if they are random.
    pub fn shallow_queues(&self) -> Vec<String> {
        let mut largest = vec![Bytes::new(0); self.links.len()];
        for flow in &self.flows {
            for &link in &flow.path {
                largest[link] = largest[link].max(flow.packet);
            }
        }
        let links = self.links.iter().zip(largest);
        let crossed = links.filter(|(link, size)| !link.attachment && size.get() > 0);
        let sentences = crossed.filter_map(|(link, size)| {
            let (held, packets) = match link.queue.limit {
                Limit::Bytes(bytes) => (format!("{bytes}, "), bytes.get() / size.get()),
                Limit::Packets(packets) => (String::new(), packets),
                Limit::Unlimited => return None,
            };
            let count = match packets {
                0 => "not even one packet".to_string(),
                1 => "one packet".to_string(),
                n => format!("{n} packets"),
            };
            (packets < FEW).then(|| {
                format!(
                    "the queue of {} holds {held}{count} of {size}: it drops even short bursts; limit = \"20 pkt\" holds more",
                    link.name
                )
            })
        });
        sentences.collect()
    }
}
