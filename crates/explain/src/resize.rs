//! Changes the size of packets on the same network.

use crate::flows::{is_tunnel, responds};
use accord_family::{Kind, Meaning, Raw, Value, Values};
use accord_scenario::{Change, Flow, Limit, Scenario};
use accord_units::{Bytes, Duration, Size};
use std::sync::Arc;

/// Lets `change` give packets new sizes, none larger than before. Flows measure their round trips
/// with packets that now save transmission time. This time is added to the delay of the links, so
/// base round-trip times stay. If flows on a shared link save different times, only the common part
/// is added.
pub(crate) fn resize(s: &mut Scenario, change: impl Fn(&mut Flow)) {
    let mut saved: Vec<Option<Duration>> = vec![None; s.links.len()];
    let old = s.flows.clone();
    s.flows.iter_mut().for_each(change);
    for (i, (f, old)) in s.flows.iter().zip(&old).enumerate() {
        let routes = s.events.iter().filter_map(|e| match &e.change {
            Change::Route { flow, path, reverse_path } if *flow == i => Some((path, reverse_path)),
            _ => None,
        });
        for (path, reverse) in routes.chain([(&f.path, &f.reverse_path)]) {
            let reverse = if responds(f) { &reverse[..] } else { &[] };
            let ((old_there, old_back), (there, back)) = (probe(old), probe(f));
            let there = path.iter().map(|&l| (l, old_there, there));
            let back = reverse.iter().map(|&l| (l, old_back, back));
            // Saved processing time of the host is added to the first link.
            let mut processing = old.mean_processing() - f.mean_processing();
            for (l, old, new) in there.chain(back) {
                let rate = s.links[l].rate;
                let less = rate.transmission(old) - rate.transmission(new) + processing;
                processing = Duration::ZERO;
                saved[l] = Some(saved[l].map_or(less, |least| least.min(less)));
            }
        }
    }
    let saved = |l: usize| saved[l].unwrap_or(Duration::ZERO);
    for (l, link) in s.links.iter_mut().enumerate() {
        link.delay += saved(l);
    }
    for e in &mut s.events {
        if let Change::Delay(l, delay) = &mut e.change {
            *delay += saved(*l);
        }
    }
}

/// Returns the sizes of the packets, there and back, with which a flow measures its round trip.
fn probe(f: &Flow) -> (Bytes, Bytes) {
    if is_tunnel(&f.controller) { (f.control, f.control) } else { (f.packet, f.ack) }
}

/// Makes packets and the answers to them `finer` times smaller, so answers stay the same fraction of the
/// load. Numbers of packets, and numbers of samples with one per packet, grow by the same factor.
pub(crate) fn smaller_packets(s: &mut Scenario, finer: u64) {
    // None gets larger.
    let smaller = |size: Bytes| Bytes::new(((size.get() + finer / 2) / finer).max(1)).min(size);
    let divides = |size: Bytes| size.get() > 1;
    if !s.flows.iter().any(|f| divides(f.packet)) {
        return;
    }
    for f in &mut s.flows {
        count_more(Arc::make_mut(&mut f.controller), finer);
    }
    for link in &mut s.links {
        count_more(&mut link.queue.discipline, finer);
        if let Limit::Packets(n) = &mut link.queue.limit {
            *n = n.saturating_mul(finer);
        }
    }
    resize(s, |f| {
        (f.packet, f.ack, f.control) = (smaller(f.packet), smaller(f.ack), smaller(f.control));
        f.sizes = f.sizes.as_ref().map(|law| law.map(smaller));
        f.processing = Duration::from_ps(f.processing.as_ps() / finer);
        if let Some(tunnel) = &mut f.tunnel {
            tunnel.overhead = smaller(tunnel.overhead);
        }
    });
}

/// Makes numbers of packets `finer` times larger.
fn count_more(values: &mut Values, finer: u64) {
    let params: Vec<_> = values.iter().map(|(p, _)| p).collect();
    for p in params {
        let raw = match (p.kind, p.meaning, values.effective(p.name)) {
            (Kind::Size, _, Value::Size(Size::Packets(n))) => {
                Raw::Text(format!("{} pkt", n * finer as f64))
            }
            (Kind::Integer { max, .. }, Meaning::Packets, Value::Integer(n)) => {
                Raw::Integer(n.saturating_mul(finer).min(max) as i64)
            }
            (Kind::Number { min, .. }, Meaning::PerPacket, Value::Number(n)) => {
                Raw::Number((n / finer as f64).max(min))
            }
            _ => continue,
        };
        values.set(p.name, &raw).expect("as many times more is allowed");
    }
}
