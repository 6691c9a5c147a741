//! The readings of links and flows for the record.

use accord_aqm::{Aggregate, AnyAqm, Aqm};
use accord_port::{Area, Count, Counters};
use accord_record::{AggregateReading, FlowReading, LinkReading};
use accord_transport::View;
use accord_units::{Duration, Time};

/// Returns the reading of a link whose port has `counters`. `sent` is the number of bytes sent by
/// `now`, `area` the integral of the waiting packets, `longest` the largest backlog since the
/// previous reading, and `aqm` the queue discipline, if the port has one.
pub fn read_link(
    counters: &Counters,
    sent: f64,
    area: Area,
    longest: Count,
    aqm: Option<&AnyAqm>,
    now: Time,
) -> LinkReading {
    LinkReading {
        served: sent,
        offered: counters.offered.packets,
        drops: counters.dropped().packets,
        marks: counters.marked.packets,
        judged: counters.marked.packets + counters.refused.packets,
        longest: (longest.packets, longest.bytes),
        packet_area: area.packets,
        area: area.bytes,
        in_vain: counters.in_vain,
        owed: 0,
        price: aqm.and_then(Aqm::price),
        virtual_delay: aqm.map_or(Duration::ZERO, |aqm| aqm.virtual_delay(now)),
        excess_bandwidth: aqm.and_then(Aqm::excess_bandwidth),
        aggregates: aqm.map_or(Vec::new(), read_aggregates),
    }
}

fn read_aggregates(aqm: &AnyAqm) -> Vec<AggregateReading> {
    let known = (0..).map_while(|i| aqm.aggregate(i));
    let read = |a: Aggregate| AggregateReading {
        transmit_probability: a.transmit_probability,
        offered: a.offered,
        admitted: a.admitted,
        decrease_factor: a.decrease,
        rate_ratio: a.ratio,
    };
    known.map(read).collect()
}

/// Returns the reading of a flow, from the counts of an engine and the state of the flow's sender.
pub fn read_flow(counted: FlowReading, view: View) -> FlowReading {
    let View { cwnd, ssthresh, pacing: _, rtt, min_rtt, accumulation, retransmissions } = view;
    FlowReading {
        retransmissions,
        cwnd,
        ssthresh,
        rtt,
        min_rtt,
        accumulation_estimate: accumulation,
        ..counted
    }
}
