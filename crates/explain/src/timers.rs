//! Timers without a least value.

use crate::flows::{is_stream, is_tunnel, least_timeout};
use accord_family::{Raw, Value};
use accord_scenario::{Change, Limit, LinkId, Scenario};
use accord_units::{Bytes, Duration, Rate};
use std::sync::Arc;

/// Lowers the least time-out of each flow to the longest round trip of its path. Below that, timers
/// would run out for packets that are queued and not lost. Flows behind a buffer without a limit
/// keep their timers: they have no longest round trip, and lose nothing there.
pub(crate) fn shorten_timers(s: &mut Scenario) {
    let worst = worst(s);
    for flow in 0..s.flows.len() {
        let Some(longest) = longest_round_trip(s, &worst, flow) else {
            continue;
        };
        let f = &mut s.flows[flow];
        if is_stream(f) {
            f.min_rto = f.min_rto.min(longest);
        } else if is_tunnel(&f.controller) {
            // Patient pairs have no least time-out.
            let Some((p, Value::Duration(least))) = least_timeout(&f.controller) else {
                continue;
            };
            if longest < least {
                let set =
                    Arc::make_mut(&mut f.controller).set(p.name, &Raw::Text(longest.to_string()));
                set.expect("a time more than zero");
            }
        }
    }
}

/// A link at its worst.
struct Worst {
    rate: Rate,
    delay: Duration,
    /// The bytes that wait in a full buffer, or `None` without a limit.
    full: Option<Bytes>,
}

fn worst(s: &Scenario) -> Vec<Worst> {
    let mut largest = vec![Bytes::ZERO; s.links.len()];
    let mut carries = |path: &[LinkId], size: Bytes| {
        for &l in path {
            largest[l] = largest[l].max(size);
        }
    };
    for (i, f) in s.flows.iter().enumerate() {
        for (there, back) in routes(s, i) {
            carries(there, f.packet.max(f.control));
            carries(back, f.ack.max(f.control));
        }
    }
    let each = s.links.iter().zip(largest);
    let mut worst: Vec<Worst> = each
        .map(|(link, largest)| Worst {
            rate: link.rate,
            delay: link.delay,
            full: match link.queue.limit {
                Limit::Packets(n) => Some(Bytes::new(largest.get().saturating_mul(n))),
                Limit::Bytes(bytes) => Some(bytes),
                Limit::Unlimited => None,
            },
        })
        .collect();
    for e in &s.events {
        match e.change {
            Change::Delay(l, delay) => worst[l].delay = worst[l].delay.max(delay),
            // An outage does not count as a round trip.
            Change::Rate(l, rate) if rate > Rate::ZERO => {
                worst[l].rate = worst[l].rate.min(rate);
            }
            _ => {}
        }
    }
    worst
}

/// Returns all paths and reverse paths of the flow over the run.
fn routes(s: &Scenario, flow: usize) -> impl Iterator<Item = (&[LinkId], &[LinkId])> {
    let f = &s.flows[flow];
    let changed = s.events.iter().filter_map(move |e| match &e.change {
        Change::Route { flow: of, path, reverse_path } if *of == flow => {
            Some((&path[..], &reverse_path[..]))
        }
        _ => None,
    });
    changed.chain([(&f.path[..], &f.reverse_path[..])])
}

/// Returns the flow's longest round trip, with all buffers on its way full.
fn longest_round_trip(s: &Scenario, worst: &[Worst], flow: usize) -> Option<Duration> {
    let f = &s.flows[flow];
    let mut longest = Duration::ZERO;
    for (there, back) in routes(s, flow) {
        let links = there.iter().map(|&l| (l, f.packet));
        let links = links.chain(back.iter().map(|&l| (l, f.ack.max(f.control))));
        let slowest = there.iter().map(|&l| worst[l].rate).min()?;
        let mut sum = f.processing;
        for (l, size) in links {
            let Worst { rate, delay, full } = worst[l];
            let full = match full {
                Some(bytes) => bytes,
                // Only its own bursts wait in front of a host's fast link.
                None if s.links[l].attachment && rate > slowest => Bytes::ZERO,
                None => return None,
            };
            sum += delay + rate.transmission(size) + rate.transmission(full);
        }
        longest = longest.max(sum);
    }
    Some(longest)
}
