//! The part of each sample that a machine with an outside knows.

use accord_elements::read_flow;
use accord_family::InnerState;
use accord_port::Count;
use accord_record::{Delays, FlowReading, LinkReading};
use accord_scenario::{LinkId, Scenario};
use accord_transport::View;

/// The part of a sample from one machine. Sums are since the start.
#[derive(Clone, Debug)]
pub struct Part {
    /// The number of the sample, from 1.
    pub number: u64,
    /// The flows whose senders are in the machine.
    pub sources: Vec<(usize, SourceReading)>,
    /// The inner state of their senders, if the scenario asks for it. The owner of an end outside the machine
    /// fills it in.
    pub inner: Vec<(usize, InnerState)>,
    /// The flows whose receivers are in the machine.
    pub sinks: Vec<(usize, SinkReading)>,
    /// The recorded links of the machine.
    pub links: Vec<(LinkId, LinkReading)>,
    /// The losses in the machine, by flow: packets of any kind, and bytes of data.
    pub lost: Vec<Count>,
    /// The logs of its senders since the previous sample, by flow.
    pub logs: Vec<(usize, String)>,
}

/// The reading of a sending end. Sums are since the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceReading {
    /// True if the flow has started.
    pub started: bool,
    /// True if the flow has stopped.
    pub stopped: bool,
    /// The data bytes sent.
    pub sent: u64,
    /// The data bytes that would have arrived by now with empty queues.
    pub due: u64,
    /// The sender's state. The owner of an end outside the machine fills it in.
    pub view: View,
    /// The bytes that wait at the edge of a tunnel, and the packets that were dropped there.
    pub edge: Option<(u64, u64)>,
}

/// The reading of a receiving end. Sums are since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SinkReading {
    /// The data bytes that arrived.
    pub delivered: u64,
    /// The data bytes that arrived for the first time.
    pub fresh: u64,
    /// The delays of data, for flows whose packets carry their sending time.
    pub delays: Option<Delays>,
}

/// Returns the readings of all flows from the parts of a sample, one from each machine.
pub fn merge(scenario: &Scenario, parts: &[Part]) -> Vec<FlowReading> {
    let flows = scenario.flows.len();
    let mut all = vec![FlowReading::default(); flows];
    let mut ends: Vec<(Option<SourceReading>, SinkReading)> = vec![Default::default(); flows];
    let mut lost = vec![Count::default(); flows];
    for part in parts {
        for (flow, source) in &part.sources {
            ends[*flow].0 = Some(*source);
        }
        for (flow, sink) in &part.sinks {
            ends[*flow].1 = *sink;
        }
        for (sum, lost) in lost.iter_mut().zip(&part.lost) {
            *sum = *sum + *lost;
        }
    }
    for (flow, ((reading, (source, sink)), mut lost)) in
        (scenario.flows.iter()).zip(all.iter_mut().zip(ends).zip(lost))
    {
        let Some(source) = source else { continue };
        if flow.through.is_some() {
            // Routers drop datagrams of the tunnel, and only the sender knows which packets they
            // carried.
            lost.packets = source.view.retransmissions;
            lost.bytes = lost.packets * flow.packet.get();
        }
        // The accumulation is the number of bytes that would have arrived over empty queues, less
        // those that have arrived and those lost [Xia05 eq. 1].
        let queued = source.due.saturating_sub(sink.delivered + lost.bytes);
        let counted = FlowReading {
            active: source.started
                && !(source.stopped && source.sent <= sink.delivered + lost.bytes),
            sent: source.sent,
            delivered: sink.delivered,
            fresh: sink.fresh,
            delays: sink.delays,
            losses: lost.packets,
            lost: lost.bytes,
            accumulation: queued,
            edge: source.edge,
            ..FlowReading::default()
        };
        *reading = read_flow(counted, source.view);
    }
    all
}
