//! The two ends of a flow.

use accord_scenario::Flow;
use accord_transport::stream::Settings;
use accord_transport::{Receiver, Sender, endpoints};
use accord_units::Duration;

/// Creates both ends of a flow on a path with this base round-trip time.
pub fn ends(flow: &Flow, base_rtt: Duration) -> (Sender, Receiver) {
    let settings = Settings { min_rto: flow.min_rto, pacing: flow.pacing };
    let (mut sender, mut receiver) =
        endpoints(&flow.controller, &flow.service, flow.packet, base_rtt, settings);
    sender.set_name(&flow.name);
    if let (Some(tunnel), Receiver::Tunnel(egress)) = (&flow.tunnel, &mut receiver) {
        egress.go_by(tunnel.signal);
    }
    (sender, receiver)
}
